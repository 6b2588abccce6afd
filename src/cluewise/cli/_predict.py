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
        help="Rows with their clusters; by default DATA-clusters.csv.",
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
    json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Find the clusters of the rows of a file by a saved model, and write each row with its cluster.

    Columns are chosen by name and prepared as in the fit. Clusters have the same ids and names.

    Example: cluewise predict model.cw next.csv -o next-clusters.csv
    """
    from cluewise import tables
    from cluewise.cli import _files, _saved, _show
    from cluewise.core.assign import find_margin
    from cluewise.workspace.data import add_columns, stem_of

    _files.check_suffix(out, _files.TABLES)
    saved = _saved.open_model(model)
    if not hasattr(saved.model, "predict"):
        raise ValueError(f"{type(saved.model).__name__} in '{model}' does not predict; `cluewise list` shows who does.")
    table, X = _saved.read_rows(saved, data, id_column, sheet)
    target = data.with_name(f"{stem_of(data)}-clusters.csv") if out is None else out
    with _files.open_outputs({"--out": target}, (model, data)) as asides:
        columns = saved.clusters.columns(saved.model.predict(X))
        if hasattr(saved.model, "margin_") and hasattr(saved.model, "predict_proba"):
            columns["margin"] = find_margin(saved.model.predict_proba(X))
        with tables.writing(target):
            tables.write(asides["--out"], add_columns(table, columns), raw_cells=raw_cells)
    facts = _describe(saved, table, columns["cluster"]) | {"output": {"--out": str(target)}}
    if json:
        _show.say(_show.as_json(facts))
    elif not quiet:
        _summarize(facts)


def _describe(saved: Any, table: Any, numbers: Any) -> dict[str, Any]:
    import numpy as np

    ids, sizes = np.unique(numbers[numbers >= 0], return_counts=True)
    return {
        "model": str(saved.path),
        "method": type(saved.model).__name__,
        "data": table.name,
        "rows": len(numbers),
        "sizes": dict(zip(map(str, ids.tolist()), sizes.tolist())),
        "names": {str(number): name for number, name in saved.names.items()},
        "noise": int((numbers < 0).sum()),
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
