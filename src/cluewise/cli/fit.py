"""``cluewise fit``: cluster the rows of a file with clues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _options as opt

if TYPE_CHECKING:
    from cluewise._typing import Floats
    from cluewise.cli._data import Data

__all__ = ["fit"]

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Rows with their clusters; by default DATA-clusters.csv.",
        rich_help_panel="Output",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Everything about the fit, as JSON.", rich_help_panel="Output"),
]
Map = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="A picture: PNG, PDF, SVG or JPG.", rich_help_panel="Output"),
]
MapColumns = Annotated[
    str | None,
    typer.Option(
        "--map-columns",
        metavar="A,B",
        help="Axes of the picture; by default two principal components.",
        rich_help_panel="Output",
    ),
]

Auto = Annotated[
    bool,
    typer.Option(
        "--auto", help="Choose the method, and -k if it is not given, by how well held-out clues are predicted."
    ),
]


def fit(
    data: opt.DataFile,
    clues: opt.ClueFile = None,
    clusters: opt.Clusters = None,
    method: opt.Method = None,
    penalty: opt.Penalty = None,
    auto: Auto = False,
    seed: opt.Seed = 0,
    id_column: opt.IdColumn = None,
    columns: opt.Columns = None,
    ignore: opt.Ignore = None,
    label_column: opt.LabelColumn = None,
    raw: opt.Raw = False,
    out: Out = None,
    report: Report = None,
    picture: Map = None,
    map_columns: MapColumns = None,
    raw_cells: opt.RawCells = False,
    json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Cluster the rows of a file, and write each row with its cluster.

    Example: cluewise fit wine.csv --clues clues.csv -k 3 --map wine.png
    """
    from time import perf_counter

    from cluewise import tables
    from cluewise.cli import _auto, _method, _outputs, _progress, _report, _show
    from cluewise.cli._data import named_rows, names_in, open_data, suited

    _outputs.table_format(out)
    _outputs.picture_format(picture)
    opened = open_data(
        data, clues, id_column=id_column, columns=columns, ignore=names_in(ignore), label_column=label_column
    )
    axes = _axes(opened, map_columns)
    model = _auto.probe(method, penalty) if auto else _method.build(opened.clues, method, clusters, seed, penalty)
    _progress.watch(model, quiet)
    target = data.with_name(f"{data.stem}-clusters.csv") if out is None else out
    wanted = {"--out": target, "--report": report, "--map": picture}
    with _outputs.reserved(wanted, (data, clues)) as files:
        X, scaled = suited(opened.X, model, raw)
        began = perf_counter()
        with named_rows(opened):
            if auto:
                found = _auto.choose(X, opened.clues, clusters, method, seed, quiet=quiet)
                model = found.best
            else:
                model.fit(X, clues=opened.clues)
        told = _report.report(model, opened, seconds=perf_counter() - began, seed=seed, scaled=scaled)
        if auto:
            told["auto"] = _auto.as_data(found)
        told["output"] = {option: str(path) for option, path in wanted.items() if path is not None}
        with files.writing("--out") as aside:
            tables.write(aside, _columns(opened, model), raw_cells=raw_cells)
        if report is not None:
            with files.writing("--report") as aside:
                aside.write_text(_outputs.as_json(told) + "\n", encoding="utf-8")
        if picture is not None:
            with files.writing("--map") as aside:
                _draw(X if axes is None else opened.X[:, axes], opened, axes, model.labels_, aside)
    if json:
        _show.say(_outputs.as_json(told))
    elif not quiet:
        if auto:
            _auto.show(found)
        _report.summary(told, opened.clues, raw=raw)
        _show.say(f"Written: {', '.join(told['output'].values())}.")


def _axes(opened: Data, value: str | None) -> list[int] | None:
    """Numbers of the two columns that the map shows."""
    from cluewise.cli._data import names_in

    names = names_in(value)
    if not names:
        return None
    for name in names:
        if name not in opened.columns:
            raise ValueError(f"--map-columns: '{name}' is none of the columns that are clustered.")
    if len(names) != 2:
        raise ValueError(f"--map-columns names {len(names)} columns; a map has two.")
    return [opened.columns.index(name) for name in names]


def _columns(opened: Data, model: Any) -> dict[str, Any]:
    """All columns of the input and two new ones."""
    from cluewise.cli._data import beside

    margin = {"margin": model.margin_} if hasattr(model, "margin_") else {}
    return beside(opened, {"cluster": model.labels_, **margin})


def _draw(X: Floats, opened: Data, axes: list[int] | None, labels: Any, path: Path) -> None:
    from cluewise import plots

    ax = plots.map(X, labels, clues=opened.clues, title=Path(opened.table.name).stem)
    names = opened.columns if axes is None else [opened.columns[j] for j in axes]
    if len(names) <= 2:
        ax.set_xlabel(names[0])
        if len(names) == 2:
            ax.set_ylabel(names[1])
    ax.figure.savefig(path)
