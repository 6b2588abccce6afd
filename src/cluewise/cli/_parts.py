"""Commands for rows in parts: files that need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from cluewise._typing import Ints
    from cluewise.workspace.data import Data
    from cluewise.workspace.parts import InParts, Written

__all__ = ["fit_parts", "predict_parts", "update_parts"]

_REFUSED = ("project", "label_column", "sheet", "picture", "map_columns", "keep_ids", "raw_cells")
"""Options that need all rows in memory, or a single file."""

_PATHS = ("data", "clues", "out", "report", "save")
"""Older versions of typer keep them as text in the parameters of a context."""


def fit_parts(context: typer.Context) -> None:
    """Cluster the rows of several files, and write a folder of files with the cluster of each row."""
    from time import perf_counter

    from cluewise import tables
    from cluewise._interrupts import terminable
    from cluewise.cli import _columns, _files, _method, _saved, _show
    from cluewise.cli._options import repeat
    from cluewise.cli._summary import summarize
    from cluewise.tables.parts import new_folder
    from cluewise.workspace.data import name_rows
    from cluewise.workspace.names import split_names
    from cluewise.workspace.parts import on_scheduler, open_parts, read_clues

    given: dict[str, Any] = dict(context.params)
    given |= {name: Path(given[name]) for name in _PATHS if given[name] is not None}
    _refuse(context, given)
    path, save, report = given["data"], given["save"], given["report"]
    target = _choose_folder(path, given["out"])
    with (
        terminable(),
        _watch(given["quiet"]) as bar,
        on_scheduler(given["scheduler"], None if bar is None else bar.advance),
        new_folder(target) as folder,
        _files.open_outputs({"--report": report, "--save": save}, (given["clues"],)) as asides,
    ):
        opened = open_parts(
            path,
            id_column=given["id_column"],
            columns=given["columns"],
            ignore=split_names(given["ignore"]),
            kinds=given["kinds"],
        )
        if bar is not None:
            bar.begin(len(opened.pieces))
        data = read_clues(given["clues"], opened)
        model = _method.build(
            data.clues, given["method"], given["clusters"], given["seed"], given["penalty"], given["time_limit"]
        )
        X, rows = _method.prepare(opened, model, given["raw"])
        if given["explain"] and not given["json"]:
            _columns.show_plan(rows, ())
        began = perf_counter()
        with name_rows(data):
            model = _fit(model, X, data, given["seed"])
        written = opened.write(folder, model.labels_, data.clues.tied)
        known = _with_known_rows(model, opened.n, data.clues.tied, written)
        facts = _report(model, known, opened, data, written, perf_counter() - began, given["seed"], rows)
        if save is not None:
            names = _saved.find_clusters(known, data, None).names
            facts["names"] = {str(number): name for number, name in names.items()}
        facts["command"] = repeat(context)
        outputs = {"--out": target, "--report": report, "--save": save}
        facts["output"] = {option: str(file) for option, file in outputs.items() if file is not None}
        if report is not None:
            with tables.writing(report):
                asides["--report"].write_text(_show.as_json(facts) + "\n", encoding="utf-8")
        if save is not None:
            with tables.writing(save):
                _saved.save(asides["--save"], _without_rows(model, facts["ids"]), data, rows, opened.ids, names)
    if given["json"]:
        _show.say(_show.as_json(facts))
    elif not given["quiet"]:
        summarize(facts, data.clues, None, raw=given["raw"])
        _show.say(f"Written: {', '.join(facts['output'].values())}.")


def update_parts(
    path: Path,
    data: Path,
    clues: str | None,
    out: Path | None,
    *,
    id_column: str | None,
    scheduler: str | None,
    json: bool,
    quiet: bool,
) -> None:
    """Give a model of rows in parts the new clues of a file, and write the clusters of all rows anew."""
    from cluewise import tables
    from cluewise._interrupts import terminable
    from cluewise.cli import _files, _saved, _show
    from cluewise.exceptions import OtherRows
    from cluewise.front import name_clusters
    from cluewise.models import write
    from cluewise.rows import Rows
    from cluewise.tables.parts import new_folder
    from cluewise.workspace.data import name_rows
    from cluewise.workspace.parts import on_scheduler, open_parts, read_clues

    if clues in (None, "-"):
        raise ValueError("a model of rows in parts takes the clues of a file: --clues FILE.")
    saved, target = _open_updatable(path), _find_free(_folder_of(data)) if out is None else out
    kept, file = saved.rows or {}, Path(str(clues))
    with (
        terminable(),
        _watch(quiet or json) as bar,
        on_scheduler(scheduler, None if bar is None else bar.advance),
        new_folder(target) as folder,
        _files.open_outputs({"MODEL": path}, (file,)) as asides,
    ):
        named = kept["id_column"] if id_column is None else id_column
        opened = open_parts(data, id_column=named, columns=None, ignore=(), kinds=None)
        if bar is not None:
            bar.begin(len(opened.pieces))
        known = read_clues(file, opened)
        news = _select_new(known.clues, saved.model.clues_)
        if not news.kinds:
            raise ValueError(f"'{path}' has all clues of '{clues}' already.")
        X = opened.encode_as(Rows.from_state(kept["plan"], kept["arrays"]))
        with name_rows(known):
            try:
                model = saved.model.resume(X).update(news)
            except OtherRows as error:
                raise _saved.name_difference(saved, known.table, error) from None
        tied = model.clues_.tied
        written = opened.write(folder, model.labels_.map_blocks(_number, model.cluster_ids_, dtype="int32"), tied)
        sections = {"rows": kept, "row_names": None}
        sections["clusters"] = name_clusters(_with_own_labels(model, opened.n, written), model.clues_, saved.names)
        with tables.writing(path):
            write(asides["MODEL"], _without_rows(model, None), sections)
    sizes = {number: count for number, count in enumerate(written.counts.tolist()) if count}
    if json:
        _show.say(_show.as_json({"clues": str(news), "sizes": sizes, "output": [str(target), str(path)]}))
    elif not quiet:
        _show.say(f"{news}: rows in each cluster are now {', '.join(f'{n}: {count}' for n, count in sizes.items())}.")
        _show.say(f"Written: {target}, {path}.")


def predict_parts(
    saved: Any, data: Path, out: Path | None, *, id_column: str | None, scheduler: str | None, quiet: bool
) -> dict[str, Any]:
    """Write the clusters of the rows of several files by a saved model; returns what was found."""
    import numpy as np

    from cluewise._interrupts import terminable
    from cluewise.cli import _saved
    from cluewise.rows import Rows
    from cluewise.tables.parts import new_folder
    from cluewise.workspace.parts import on_scheduler, open_new_parts

    kept, target = _require_plan(saved), _choose_folder(data, out)
    with (
        terminable(),
        _watch(quiet) as bar,
        on_scheduler(scheduler, None if bar is None else bar.advance),
        new_folder(target) as folder,
    ):
        opened = open_new_parts(data, id_column, known=kept["id_column"])
        if bar is not None:
            bar.begin(len(opened.pieces))
        _saved.warn_of_new(opened.name, opened.parts[0].kinds, kept)
        labels = opened.label(saved.model, Rows.from_state(kept["plan"], kept["arrays"]))
        ids = np.append(saved.clusters.ids, -1)  # noise stays -1
        written = opened.write(folder, labels.map_blocks(_number, ids, dtype="int32"), np.empty(0, dtype=np.int64))
    return {
        "data": _name(opened),
        "rows": opened.n,
        "sizes": {str(number): count for number, count in enumerate(written.counts.tolist()) if count},
        "noise": written.noise,
        "output": {"--out": str(target)},
    }


def _open_updatable(path: Path) -> Any:
    """A saved `Cluewise` of the command line; others cannot be updated by rows in parts."""
    from cluewise.cli import _saved
    from cluewise.front import Cluewise

    saved = _saved.open_model(path)
    if not isinstance(saved.model, Cluewise):
        raise ValueError(f"'{path}' holds a {type(saved.model).__name__}; of rows in parts only a Cluewise is updated.")
    _require_plan(saved)
    return saved


def _require_plan(saved: Any) -> dict[str, Any]:
    """What the columns of a model are; refused if it was not saved by the command line."""
    kept: dict[str, Any] = saved.rows or {}
    if "plan" not in kept:
        raise ValueError(f"'{saved.path}' does not say how files become rows; save it by cluewise fit --save.")
    return kept


def _select_new(clues: Any, known: Any) -> Any:
    """The clues of a file that a model does not have yet: a command that is repeated changes nothing.

    A link is known if it has the same rows and the same source, such as the line of a file; one that others have
    reported before has several sources. A label is known if the row has it, a group if it is there.
    """
    import numpy as np

    from cluewise.clues.words import split_source

    def list_links(pairs: Any, sources: Any) -> list[Any]:
        return [{(*pair, one) for one in split_source(str(source))} for pair, source in zip(pairs.tolist(), sources)]

    def list_all(some: Any) -> dict[str, list[Any]]:
        rows = np.flatnonzero(some.labels >= 0)
        return {
            "must": list_links(some.must, some.must_source),
            "cannot": list_links(some.cannot, some.cannot_source),
            "labels": [{pair} for pair in zip(rows.tolist(), some.classes_[some.labels[rows]].tolist())],
        }

    seen = {kind: set().union(*entries) for kind, entries in list_all(known).items()}
    new = {kind: np.array([not e <= seen[kind] for e in entries], bool) for kind, entries in list_all(clues).items()}
    labels = np.zeros(clues.n, dtype=bool)
    labels[clues.labels >= 0] = new["labels"]
    return clues.subset(
        must=new["must"],
        cannot=new["cannot"],
        labels=labels,
        together=[np.full(len(group.weights), group not in known.together) for group in clues.together],
        apart=[np.full(len(group.weights), group not in known.apart) for group in clues.apart],
        partitions=[np.ones(clues.n, dtype=bool) for _ in clues.partitions],
        sizes=True,
        avoid=True,
    )


def _with_own_labels(model: Any, n: int, written: Written) -> Any:
    """A copy whose labels are in memory: numbers of clusters, not ids, of the rows with clues."""
    import numpy as np

    known, ids = copy(model), model.cluster_ids_
    order = np.argsort(ids)
    labels = np.full(n, -1, dtype=np.int32)
    labels[model.clues_.tied] = order[np.searchsorted(ids, written.tied, sorter=order)]
    known.__dict__["labels_"] = labels
    return known


def _number(labels: Ints, ids: Ints) -> Ints:
    """Permanent ids of clusters, where the rows are."""
    return ids[labels].astype("int32")


def _refuse(context: typer.Context, given: dict[str, Any]) -> None:
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in _REFUSED and given[name] not in (None, False):
            raise ValueError(f"{parameter.opts[0]} is not for rows in parts; leave it out.")
    if given["auto"] and given["method"] is not None:
        raise ValueError("--auto with --method is not for rows in parts; leave one of them out.")
    report = given["report"]
    if report is not None and report.suffix.lower() in (".html", ".htm"):
        raise ValueError("a page needs all rows in memory; for rows in parts, --report writes JSON.")


def _folder_of(path: Path) -> Path:
    """Where the clusters of the rows in a folder or pattern go: rows-clusters for rows-*.parquet."""
    if path.is_dir():
        place = path.resolve()
        return place.with_name(f"{place.name}-clusters")
    stem = path.stem.partition("*")[0].partition("?")[0].partition("[")[0].rstrip("-_. ")
    return path.with_name(f"{stem or 'rows'}-clusters")


def _choose_folder(path: Path, out: Path | None) -> Path:
    """The folder to write; a name that looks like that of a file is refused."""
    from cluewise import tables
    from cluewise.cli import _files

    target = _folder_of(path) if out is None else out
    if target.suffix.lower() in _files.TABLES:
        raise tables.TableError(f"--out '{target}': rows in parts are written into a folder; leave the suffix out.")
    return target


def _find_free(folder: Path) -> Path:
    """A name that is not taken: clusters from before new clues stay, as rows-clusters, rows-clusters-2, …."""
    free, number = folder, 2
    while free.exists():
        free, number = folder.with_name(f"{folder.name}-{number}"), number + 1
    return free


def _fit(model: Any, X: Any, data: Data, seed: int) -> Any:
    """The fitted method, on grains unless it looks at grains itself.

    Some methods take rows in chunks as they are, but read all files once for each iteration of each start.
    """
    from cluewise.front import Cluewise
    from cluewise.sketch import Grains

    reader = model if isinstance(model, Cluewise) else Grains(random_state=seed).then(model)
    return reader.fit(X, clues=data.clues)


def _without_rows(model: Any, ids: Any) -> Any:
    """A copy without what has an entry for each row, which refers to the files; its clusters have ids."""
    from cluewise._dask import is_dask

    def strip(estimator: Any) -> Any:
        light = copy(estimator)
        light.__dict__ = {name: value for name, value in vars(estimator).items() if not is_dask(value)}
        return light

    light = strip(model)
    if hasattr(light, "grains_"):
        light.grains_ = strip(light.grains_)
    if not hasattr(light, "cluster_ids_"):
        light.cluster_ids_ = ids
    return light


def _with_known_rows(model: Any, n: int, tied: Ints, written: Written) -> Any:
    """A copy with labels in memory; of rows without clues, which break none, they are not known."""
    import numpy as np

    known, method = copy(model), _method_of(model)
    for name in ("margin_", "label_doubt_", "parts_"):
        known.__dict__.pop(name, None)
    labels = np.zeros(n, dtype=np.int32)
    labels[tied] = written.tied
    k = max(getattr(method, "n_clusters", None) or 0, len(written.counts))
    known.__dict__.update(labels_=labels, card=method.card, n_clusters=k)
    return known


def _method_of(model: Any) -> Any:
    """The method, also if it works on grains."""
    return getattr(model, "clusterer", model)


def _name(opened: InParts) -> str:
    """What the summary calls the files."""
    count = len(opened.parts)
    return f"{opened.name} ({count} {'part' if count == 1 else 'parts'})"


def _report(
    model: Any, known: Any, opened: InParts, data: Data, written: Written, seconds: float, seed: int, rows: Any
) -> dict[str, Any]:
    """The report of the fit."""
    import numpy as np

    from cluewise.workspace.report import report

    facts = report(known, data, seconds=seconds, seed=seed, rows=rows)
    method = _method_of(model)
    return facts | {
        "method": type(method).__name__ + ("" if method is model else f" on {len(model.grains_.sizes_)} grains"),
        "parameters": method.get_params(),
        "data": _name(opened),
        "sizes": np.pad(written.counts, (0, known.n_clusters - len(written.counts))),
        "clusters": int(np.count_nonzero(written.counts)),
        "noise": written.noise,
    }


@contextmanager
def _watch(quiet: bool) -> Iterator[Any]:
    """A bar over the chunks, if somebody can see it."""
    from cluewise.cli import _show

    if quiet or not _show.is_watched():
        yield None
        return
    from cluewise.cli._progress import ChunkBar

    with ChunkBar() as bar:
        yield bar
