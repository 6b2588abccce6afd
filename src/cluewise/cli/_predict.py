"""``cluewise predict``: clusters of new rows, by a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cluewise.cli import _options as opt

__all__ = ["predict"]

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model saved by `cluewise fit --save`.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Rows with their clusters; by default DATA-clusters.csv. A new folder if DATA is one or a pattern.",
        rich_help_panel="Output",
    ),
]


def predict(
    model: Model,
    data: opt.DataFile,
    id_column: opt.IdColumn = None,
    sheet: opt.Sheet = None,
    out: Out = None,
    raw_cells: opt.RawCells = False,
    scheduler: opt.Scheduler = None,
    json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Find the clusters of the rows of a file by a saved model, and write each row with its cluster.

    Columns are chosen by name and prepared as in the fit. Clusters have the same ids and names. Rows in parts (a
    folder, or a pattern such as 'rows-*.parquet') need not fit into memory; their clusters are written into a new
    folder.

    Example: cluewise predict model.cw next.csv -o next-clusters.csv
    """
    from cluewise.cli import _show
    from cluewise.tables.parts import is_in_parts

    if is_in_parts(data):
        from cluewise.cli._parts import predict_parts

        for option, asked in (("--sheet", sheet is not None), ("--raw-cells", raw_cells)):
            if asked:
                raise ValueError(f"{option} is not for rows in parts; leave it out.")
        saved = _open(model)
        facts = predict_parts(saved, data, out, id_column=id_column, scheduler=scheduler, quiet=quiet or json)
    elif scheduler is not None:
        raise ValueError("--scheduler is for rows in parts: a folder, or a pattern such as 'rows-*.parquet'.")
    else:
        saved, facts = _predict_file(model, data, id_column, sheet, out, raw_cells=raw_cells)
    facts = {"model": str(saved.path), "method": type(saved.model).__name__} | facts
    facts["names"] = {str(number): name for number, name in saved.names.items()}
    if json:
        _show.say(_show.as_json(facts))
    elif not quiet:
        _summarize(facts)


def _open(path: Path) -> Any:
    """A saved model that predicts."""
    from cluewise.cli import _saved

    saved = _saved.open_model(path)
    if not hasattr(saved.model, "predict"):
        raise ValueError(f"{type(saved.model).__name__} in '{path}' does not predict; `cluewise list` shows who does.")
    return saved


def _predict_file(
    model: Path, data: Path, id_column: str | None, sheet: str | None, out: Path | None, *, raw_cells: bool
) -> tuple[Any, dict[str, Any]]:
    """Write the rows of a single file with their clusters; the model, and what was found."""
    import numpy as np

    from cluewise import tables
    from cluewise.cli import _files, _saved
    from cluewise.core.assign import find_margin
    from cluewise.workspace.data import add_columns, stem_of

    _files.check_suffix(out, _files.TABLES)
    saved = _open(model)
    table, X = _saved.read_rows(saved, data, id_column, sheet)
    target = data.with_name(f"{stem_of(data)}-clusters.csv") if out is None else out
    with _files.open_outputs({"--out": target}, (model, data)) as asides:
        columns = saved.clusters.columns(saved.model.predict(X))
        if hasattr(saved.model, "margin_") and hasattr(saved.model, "predict_proba"):
            columns["margin"] = find_margin(saved.model.predict_proba(X))
        with tables.writing(target):
            tables.write(asides["--out"], add_columns(table, columns), raw_cells=raw_cells)
    numbers = columns["cluster"]
    ids, sizes = np.unique(numbers[numbers >= 0], return_counts=True)
    return saved, {
        "data": table.name,
        "rows": len(numbers),
        "sizes": dict(zip(map(str, ids.tolist()), sizes.tolist())),
        "noise": int((numbers < 0).sum()),
        "output": {"--out": str(target)},
    }


def _summarize(facts: dict[str, Any]) -> None:
    from cluewise.cli import _show
    from cluewise.workspace.report import percent

    rows, names = facts["rows"], facts["names"]
    _show.say(f"{facts['method']} of {facts['model']}: {rows} {'row' if rows == 1 else 'rows'} of {facts['data']}.")
    sizes = facts["sizes"] | ({"noise": facts["noise"]} if facts["noise"] else {})
    lines = [[number, names.get(number, ""), str(size), percent(size / rows)] for number, size in sizes.items()]
    header = ["cluster", "name", "rows", "share"]
    if not names:
        header, lines = [header[0], *header[2:]], [[line[0], *line[2:]] for line in lines]
    _show.table(header, lines)
    _show.say(f"Written: {facts['output']['--out']}.")
