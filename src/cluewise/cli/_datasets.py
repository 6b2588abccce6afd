"""``cluewise datasets``: labeled data sets to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _options as opt

if TYPE_CHECKING:
    from cluewise.datasets import Dataset

__all__ = ["datasets", "export"]

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="The data set to write; without it, list all.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Where to write it; by default NAME.csv here.", rich_help_panel="Output"
    ),
]


def datasets(name: Name = None, out: Out = None, json: opt.AsJson = False) -> None:
    """List data sets, or write one to a file.

    The true classes are written as a column.

    Example: cluewise datasets iris --out iris.csv
    """
    from cluewise import datasets as sets
    from cluewise.cli import _show

    if name is None:
        if out is not None:
            raise ValueError("--out needs the name of a data set; `cluewise datasets` lists them.")
        found = sets.available()
        if json:
            _show.say(_show.as_json({key: listing._asdict() for key, listing in found.items()}))
            return
        _show.table(
            ["data set", "rows", "columns", "classes", "from"],
            [[key, str(one.n), str(one.d), str(one.k), one.origin] for key, one in found.items()],
        )
        return
    from cluewise.cli._files import TABLES, check_suffix

    target = Path(f"{name}.csv") if out is None else out
    check_suffix(target, TABLES)
    data = sets.load(name)
    column = export(data, target)
    facts = {
        "name": data.name, "rows": data.X.shape[0], "columns": data.X.shape[1], "classes": list(data.class_names),
        "class_column": column, "source": data.source, "output": str(target),
    }  # fmt: skip
    if json:
        _show.say(_show.as_json(facts))
    else:
        _show.say(
            f"{data.name}: {facts['rows']} rows, {facts['columns']} columns, {len(data.class_names)} classes "
            f"in column '{column}', from {data.source}. Written: {target}."
        )


def export(data: Dataset, path: Path) -> str:
    """Write points and classes; returns the name of the column of classes."""
    import numpy as np

    from cluewise import tables

    names = data.feature_names or tuple(f"x{j}" for j in range(data.X.shape[1]))
    columns: dict[str, Any] = {name: data.X[:, j] for j, name in enumerate(names)}
    column = "class" if "class" not in columns else "true class"
    columns[column] = np.array(data.class_names, dtype=object)[data.y]
    tables.write(path, columns)
    return column
