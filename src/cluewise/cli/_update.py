"""``cluewise update``: new clues for a saved model, as they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _options as opt
from cluewise.cli._interrupt import INTERRUPTED

if TYPE_CHECKING:
    from cluewise.stream import Batch, StreamingClues
    from cluewise.tables import Table

__all__ = ["update"]

PAUSE = 0.2  # seconds without a line after which the lines that are there are applied

NEW = "New model"

Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A Cluewise saved by `cluewise fit --save`, or the folder of a model.")
]
Data = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DATA]", help="Rows of the model; an SCSC holds them. If there is no model yet, of a new one."
    ),
]
NewClues = Annotated[
    str | None,
    typer.Option("--clues", metavar="FILE", help="New clues, one per line, such as a17,b3,must; - for standard input."),
]
DataOption = Annotated[Path | None, typer.Option("--data", metavar="FILE", help="The same as DATA.", hidden=True)]
Method = Annotated[
    str | None,
    typer.Option("--method", metavar="NAME", help="Cluewise (default), or SCSC.", rich_help_panel=NEW),
]
Partitions = Annotated[
    int | None,
    typer.Option(
        "--partitions", metavar="M", min=1, help="Partitions of an SCSC; by default 300.", rich_help_panel=NEW
    ),
]
BatchSize = Annotated[int, typer.Option("--batch", metavar="N", min=1, help="Most lines to apply at once.")]
Follow = Annotated[bool, typer.Option("--follow", help="Keep waiting for new lines in FILE, until Ctrl-C.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Rows with their clusters; by default DATA-clusters.csv for a Cluewise.",
        rich_help_panel="Output",
    ),
]


def update(
    model: Model,
    data: Data = None,
    clues: NewClues = None,
    batch: BatchSize = 500,
    follow: Follow = False,
    data_option: DataOption = None,
    method: Method = None,
    clusters: opt.Clusters = None,
    partitions: Partitions = None,
    seed: opt.Seed = 0,
    id_column: opt.IdColumn = None,
    columns: opt.Columns = None,
    ignore: opt.Ignore = None,
    kinds: opt.As = None,
    sheet: opt.Sheet = None,
    raw: opt.Raw = False,
    explain: opt.Explain = False,
    out: Out = None,
    raw_cells: opt.RawCells = False,
    scheduler: opt.Scheduler = None,
    json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Apply new clues to a saved model in batches, and report what changed.

    Clusters keep their ids. Each line is applied exactly once, even if the command is killed and started again. Lines
    that make no sense are reported and set aside. Rows in parts (a folder, or a pattern such as 'rows-*.parquet') take
    the clues of a file at once, and their clusters are written into a new folder.

    Examples: cluewise update wine.cw wine.csv --clues answers.csv; cluewise update state/ wine.csv -k 3 --method SCSC
    """
    from cluewise.cli import _show
    from cluewise.cli._files import check_targets
    from cluewise.cli._parts import update_parts
    from cluewise.stream import StreamingClues, has_model
    from cluewise.tables.parts import is_in_parts
    from cluewise.workspace.data import stem_of

    data = data_option if data is None else data
    if data is not None and is_in_parts(data):
        if follow:
            raise ValueError("--follow is not for rows in parts; leave it out.")
        update_parts(model, data, clues, out, id_column=id_column, scheduler=scheduler, json=json, quiet=quiet)
        return
    if scheduler is not None:
        raise ValueError("--scheduler is for rows in parts: a folder, or a pattern such as 'rows-*.parquet'.")
    check_targets({"--out": out}, (data,))
    if has_model(model):
        new = {"-k": clusters, "--method": method, "--partitions": partitions, "--columns": columns}
        new |= {"--ignore": ignore, "--as": kinds, "--raw": raw or None}
        for option, value in new.items():
            if value is not None:
                raise ValueError(f"'{model}' holds a model already; leave {option} out, or choose another name.")
    elif data is not None:
        given = {"id_column": id_column, "columns": columns, "kinds": kinds, "sheet": sheet}
        _begin(model, data, method, clusters, partitions, seed, given, ignore, raw=raw, explain=explain and not json)
        data = None if _names_scsc(method) else data
    with StreamingClues(model, batch_size=batch) as stream:
        table = _resume(stream, model, data, id_column, sheet)
        try:
            for found in _batches(stream, clues, follow):
                _report(found, json, quiet)
        except KeyboardInterrupt:
            _show.warn(f"cluewise: stopped; {stream.n_batches} batches are applied and saved.")
            raise typer.Exit(INTERRUPTED) from None
        if data is not None and out is None:
            out = data.with_name(f"{stem_of(data)}-clusters.csv")
        if out is not None:
            _write(stream, table, out, raw_cells)
            if table is not None and not (json or quiet):
                _show.say(f"Written: {out}, {model}.")


def _begin(
    path: Path,
    data: Path,
    method: str | None,
    clusters: int | None,
    partitions: int | None,
    seed: int,
    given: dict[str, str | None],
    ignore: str | None,
    *,
    raw: bool,
    explain: bool,
) -> None:
    """Cluster the rows of a file into a new model."""
    from cluewise.cli import _saved
    from cluewise.cli._columns import show_plan
    from cluewise.ensemble import SCSC
    from cluewise.front import Cluewise
    from cluewise.stream import StreamingClues
    from cluewise.workspace.data import open_data
    from cluewise.workspace.names import split_names

    scsc = _names_scsc(method)
    if partitions is not None and not scsc:
        raise ValueError("--partitions is for --method SCSC; leave it out.")
    if scsc and clusters is None:
        raise ValueError("a new SCSC needs the number of clusters: -k.")
    opened = open_data(data, None, ignore=split_names(ignore), **given)
    X, rows = opened.encode(raw=raw)
    if explain:
        show_plan(rows, opened.table.notes)
    if scsc and clusters is not None:
        model = SCSC(clusters, n_partitions=partitions or 300, random_state=seed).fit(X)
        StreamingClues.begin(path, model, opened.ids)
    else:
        found = Cluewise(clusters, random_state=seed).fit(X)
        StreamingClues.begin(path, found, opened.ids, _saved.list_sections(opened, rows, given["id_column"], {}))


def _names_scsc(method: str | None) -> bool:
    """Whether a new model is an SCSC; a method that is not updated is refused."""
    if method is None:
        return False
    from cluewise import catalogue

    name = catalogue.get(method).__name__
    if name not in ("Cluewise", "SCSC"):
        raise ValueError(f"{name} takes no further clues after its fit; --method is Cluewise or SCSC here.")
    return name == "SCSC"


def _resume(
    stream: StreamingClues, path: Path, data: Path | None, id_column: str | None, sheet: str | None
) -> Table | None:
    """Give the model its rows, if it needs them; their table."""
    from cluewise.cli import _saved
    from cluewise.exceptions import OtherRows
    from cluewise.front import Cluewise

    if not isinstance(stream.model, Cluewise):
        if data is not None:
            raise ValueError(
                f"'{path}' holds a model already, with its rows; leave DATA out, or choose another folder."
            )
        return None
    if data is None:
        raise ValueError(f"the model in '{path}' does not hold its rows; give them too: cluewise update {path} DATA.")
    saved = _saved.as_earlier(path, stream.model, stream.sections)
    table, X = _saved.read_same_rows(saved, data, id_column, sheet)
    try:
        stream.resume(X)
    except OtherRows as error:
        raise _saved.name_difference(saved, table, error) from None
    return table


def _batches(stream: StreamingClues, clues: str | None, follow: bool) -> Iterator[Batch]:
    """Apply what an earlier run has left, then what comes in."""
    yield from stream.apply()
    if clues == "-":
        for lines in _standard_input(stream.batch_size):
            stream.append(lines)
            yield from stream.apply()
    elif clues is not None:
        from time import sleep

        from cluewise.cli import _show

        waiting = stream.read(clues)
        yield from stream.apply()
        while follow:
            sleep(PAUSE)
            stream.read(clues)
            yield from stream.apply()
        if waiting.strip():
            _show.warn(f"cluewise: the last line of '{clues}' has no line break and waits for one.")


def _standard_input(size: int) -> Iterator[list[str]]:
    """Lines as they come: when there are enough of them, or when no more come for a moment."""
    import sys
    from queue import Empty, Queue
    from threading import Thread

    lines: Queue[str | None] = Queue(10 * size)

    def listen() -> None:
        for line in sys.stdin:
            lines.put(line)
        lines.put(None)

    Thread(target=listen, daemon=True).start()
    waiting: list[str] = []
    while True:
        try:
            line = lines.get(timeout=PAUSE if waiting else None)
        except Empty:
            line = ""
        if line:
            waiting.append(line)
        if waiting and (not line or len(waiting) == size):
            yield waiting
            waiting = []
        if line is None:
            return


def _report(batch: Batch, json: bool, quiet: bool) -> None:
    from cluewise.cli import _show

    for bad in batch.aside:
        _show.warn(f"cluewise: {bad} (set aside)")
    if json:
        found: dict[str, Any] = {"batch": batch.number, "lines": batch.counts, "changed": batch.changed}
        found["aside"] = [bad._asdict() for bad in batch.aside]
        _show.say(" ".join(_show.as_json(found).split()))
    elif not quiet:
        said = ", ".join(f"{count} {kind}" for kind, count in batch.counts.items()) or "no clue"
        rows = "1 row" if len(batch.changed) == 1 else f"{len(batch.changed)} rows"
        _show.say(f"batch {batch.number}: {said}; {rows} changed")


def _write(stream: StreamingClues, table: Table | None, out: Path, raw_cells: bool) -> None:
    from cluewise import tables
    from cluewise.cli import _saved
    from cluewise.workspace.data import add_columns

    model = stream.model
    if table is None:
        names = list(range(len(model.labels_))) if stream.ids is None else stream.ids
        tables.write(out, {"id": names, "cluster": model.labels_}, raw_cells=raw_cells)
    else:
        saved = _saved.as_earlier(out, model, stream.sections)
        columns = saved.clusters.columns(model.labels_) | {"margin": model.margin_}
        tables.write(out, add_columns(table, columns), raw_cells=raw_cells)
