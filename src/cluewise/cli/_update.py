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

__all__ = ["update"]

PAUSE = 0.2  # seconds without a line after which the lines that are there are applied

Folder = Annotated[Path, typer.Argument(metavar="STATE", help="Folder of the model; --data starts a new one.")]
NewClues = Annotated[
    str | None,
    typer.Option("--clues", metavar="FILE", help="New clues, one per line, such as a17,b3,must; - for standard input."),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE", help="Start a new model: rows to cluster.", rich_help_panel="New model"),
]
Partitions = Annotated[
    int,
    typer.Option("--partitions", metavar="M", min=1, help="Partitions of a new model.", rich_help_panel="New model"),
]
BatchSize = Annotated[int, typer.Option("--batch", metavar="N", min=1, help="Most lines to apply at once.")]
Follow = Annotated[bool, typer.Option("--follow", help="Keep waiting for new lines in FILE, until Ctrl-C.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write each row with its cluster.", rich_help_panel="Output"),
]


def update(
    state: Folder,
    clues: NewClues = None,
    batch: BatchSize = 500,
    follow: Follow = False,
    data: Data = None,
    clusters: opt.Clusters = None,
    partitions: Partitions = 300,
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
    json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Apply new clues to a saved model in batches, and report what changed.

    Each line is applied exactly once, even if the command is killed and started again. Lines that make no sense are
    reported and set aside.

    Examples: cluewise update state/ --data wine.csv -k 3; cluewise update state/ --clues answers.csv
    """
    from cluewise.cli._files import TABLES, check_suffix
    from cluewise.stream import StreamingClues

    check_suffix(out, TABLES)
    if data is not None:
        given = {"id_column": id_column, "columns": columns, "kinds": kinds, "sheet": sheet}
        _begin(state, data, clusters, partitions, seed, given, ignore, raw=raw, explain=explain and not json)
    with StreamingClues(state, batch_size=batch) as stream:
        try:
            for found in _batches(stream, clues, follow):
                _report(found, json, quiet)
        except KeyboardInterrupt:
            typer.echo(f"cluewise: stopped; {stream.n_batches} batches are applied and saved.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        if out is not None:
            _write(stream, out, raw_cells)


def _begin(
    state: Path,
    data: Path,
    clusters: int | None,
    partitions: int,
    seed: int,
    given: dict[str, str | None],
    ignore: str | None,
    *,
    raw: bool,
    explain: bool,
) -> None:
    """Cluster the rows of a file into a new model."""
    from cluewise.cli._columns import show_plan
    from cluewise.cli._files import open_data
    from cluewise.ensemble import SCSC
    from cluewise.ensemble.scsc_folder import refuse_model
    from cluewise.stream import StreamingClues

    if clusters is None:
        raise ValueError("a new model needs the number of clusters: -k.")
    refuse_model(state)  # before the work, not after it
    opened = open_data(data, None, ignore=opt.split_names(ignore), **given)
    X, rows = opened.encode(raw=raw)
    if explain:
        show_plan(rows, opened.table.notes)
    model = SCSC(clusters, n_partitions=partitions, random_state=seed).fit(X)
    StreamingClues.begin(state, model, opened.ids)


def _batches(stream: StreamingClues, clues: str | None, follow: bool) -> Iterator[Batch]:
    """Apply what an earlier run has left, then what comes in."""
    yield from stream.apply()
    if clues == "-":
        for lines in _standard_input(stream.batch_size):
            stream.append(lines)
            yield from stream.apply()
    elif clues is not None:
        from time import sleep

        waiting = stream.read(clues)
        yield from stream.apply()
        while follow:
            sleep(PAUSE)
            stream.read(clues)
            yield from stream.apply()
        if waiting.strip():
            typer.echo(f"cluewise: the last line of '{clues}' has no line break and waits for one.", err=True)


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
        typer.echo(f"cluewise: {bad} (set aside)", err=True)
    if json:
        found: dict[str, Any] = {"batch": batch.number, "lines": batch.counts, "changed": batch.changed}
        found["aside"] = [bad._asdict() for bad in batch.aside]
        _show.say(" ".join(_show.as_json(found).split()))
    elif not quiet:
        said = ", ".join(f"{count} {kind}" for kind, count in batch.counts.items()) or "no clue"
        rows = "1 row" if len(batch.changed) == 1 else f"{len(batch.changed)} rows"
        _show.say(f"batch {batch.number}: {said}; {rows} changed")


def _write(stream: StreamingClues, out: Path, raw_cells: bool) -> None:
    from cluewise import tables

    labels = stream.model.labels_
    names = list(range(len(labels))) if stream.ids is None else stream.ids
    tables.write(out, {"id": names, "cluster": labels}, raw_cells=raw_cells)
