"""What leaves the page as a file: answers, clusters, the whole project, and a report to mail to a colleague."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from fastapi import HTTPException, Response

from cluewise import tables
from cluewise.active import Act, Answer
from cluewise.workspace import items
from cluewise.workspace.data import as_written

if TYPE_CHECKING:
    from cluewise.web._session import Session
    from cluewise.workspace.data import Data

__all__ = ["export"]

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "cluewise": "application/vnd.sqlite3",
    "html": "text/html; charset=utf-8",
}
TABLES = ("csv", "json", "parquet")
_PRIVATE = ("people",)
"""Settings that stay here: with the hash of a token nobody comes in, but nobody else needs it either."""


def export(session: Session, what: str, format: str, *, who: str | None = None) -> Response:
    """A file to save.

    Parameters
    ----------
    session : Session
        The project and its clusters.
    what : {"answers", "clusters", "project", "report"}
        What it holds. Rows have their ids.
    format : {"csv", "json", "parquet", "cluewise", "html"}
        Tables are CSV, JSON or Parquet; a project is ``cluewise``; a report is ``html``.
    who : str, optional
        Only the answers of this person.

    Returns
    -------
    Response
        It is saved, never shown in the place of the page.
    """
    with _in_words():
        if what == "clusters" and format in TABLES:
            content = _table(_clusters(session), format)
        elif what == "answers" and format in TABLES:
            content = _list_answers(session, who, format)
        elif (what, format) == ("project", "cluewise"):
            content = _project(session)
        elif (what, format) == ("report", "html"):
            content = _report(session).encode()
        else:
            raise HTTPException(404, f"There is no {what}.{format}; see the list of exports.")
    name = Path(session.data.table.name).stem if what == "project" else f"{Path(session.data.table.name).stem}-{what}"
    return Response(content, media_type=TYPES[format], headers={"content-disposition": _saved_as(f"{name}.{format}")})


@contextmanager
def _in_words() -> Iterator[None]:
    """Errors of files as responses of one sentence."""
    try:
        yield
    except tables.TableError as error:  # without polars there is no Parquet
        raise HTTPException(501, str(error)) from None
    except TimeoutError:
        raise HTTPException(503, "The clusters are still being computed; try again in a minute.") from None
    except OSError as error:
        raise HTTPException(507, f"The file cannot be made: {error.strerror or error}.") from None


def _saved_as(name: str) -> str:
    """A header that names a file, in letters that any browser reads."""
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _table(columns: dict[str, Any], format: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{format}"
        tables.write(path, columns)  # text that a spreadsheet would run is guarded
        return path.read_bytes()


def _clusters(session: Session) -> dict[str, Any]:
    session.wait()
    labels, names, data = session.labels(), session.names(), session.data
    ids = np.arange(session.n) if data.ids is None else [str(name) for name in data.ids]
    return {
        "row" if data.ids is None else "id": ids,
        "cluster": labels,
        "name": [names.get(cluster) or "" for cluster in labels.tolist()],
        "margin": as_written(session.margins()),
    }


def _list_answers(session: Session, who: str | None, format: str) -> bytes:
    """One line per answer or act; in a table, the ids of its rows and what was said are written as JSON."""
    history = session.project.history()
    lines = [_line(session.data, *entry) for entry in history if who is None or entry[1].who == who]
    if format == "json":
        return b"[\n" + b",\n".join(json.dumps(line, ensure_ascii=False).encode() for line in lines) + b"\n]\n"
    names = ("entry", "who", "when", "seconds", "kind", "words", "rows", "value", "stands")
    columns: dict[str, Any] = {name: [line[name] for line in lines] for name in names}
    for name in ("rows", "value"):
        columns[name] = [json.dumps(value, ensure_ascii=False) for value in columns[name]]
    columns["entry"] = np.array(columns["entry"], dtype=np.int64)
    columns["seconds"] = np.array([np.nan if s is None else s for s in columns["seconds"]], dtype=np.float64)
    columns["stands"] = np.array(columns["stands"], dtype=bool)
    return _table(columns, format)


def _line(data: Data, entry: int, said: Answer | Act, stands: bool) -> dict[str, Any]:
    line = {"entry": entry, "who": said.who, "when": said.when}
    if isinstance(said, Act):
        rows = list(dict.fromkeys([*chain(*said.must, *said.cannot), *(row for row, _ in said.labels)]))
        value: Any = {"cluster": said.cluster, "name": said.name}
        line |= {"seconds": None, "kind": said.kind, "words": said.shown}
    else:
        rows, value = list(said.question.rows), _with_ids(said, data)
        line |= {"seconds": said.seconds, "kind": said.question.kind, "words": items.words(said, data)}
    return line | {"rows": [data.name(row) for row in rows], "value": value, "stands": stands}


def _with_ids(said: Answer, data: Data) -> Any:
    """The value of an answer, with the names of rows in the place of their numbers."""
    value = said.value
    if said.question.kind == "group" and value is not None:
        return [[data.name(row) for row in pile] for pile in value]
    if said.question.kind == "which" and value is not None and value is not False:
        return data.name(value)
    return value


def _project(session: Session) -> bytes:
    """The project as it is at one moment, in one file, without the people's links."""
    store = session.project.store
    if "://" in store.name:
        raise HTTPException(501, "Only a project in a file can be saved as one; this one is in a database.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.cluewise"
        with (
            closing(sqlite3.connect(Path(store.name).absolute(), timeout=30)) as source,
            closing(sqlite3.connect(path)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE").close()  # one file, no log beside it
            copy.executemany("DELETE FROM settings WHERE name = ?", [(name,) for name in _PRIVATE])
            copy.commit()
            copy.execute("VACUUM").close()  # what was deleted is gone from the bytes, too
        return path.read_bytes()


def _report(session: Session) -> str:
    """The page of ``cluewise fit --report``, with the clusters and names as they are now."""
    from cluewise.workspace.clusters import describe_clusters
    from cluewise.workspace.page import write_page
    from cluewise.workspace.report import report

    session.wait()
    model = session.model
    if model is None:
        raise HTTPException(409, "There are no clusters yet; ask for the report when the first ones are there.")
    ids, data = np.asarray(model.cluster_ids_), session.data._replace(clues=session.fit.clues)
    facts = report(model, data, seconds=0.0, seed=model.random_state, rows=session.rows)
    names = {str(cluster): name for cluster, name in session.names().items() if name}
    facts |= {"ids": ids, "names": names, "command": shlex.join(["cluewise", "web", data.table.name])}
    found = describe_clusters(model, data, ids)
    labels = np.append(ids, -1)[model.labels_]
    return write_page(facts, data, session.X, labels, model.broken_, found)
