"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "As", "AsJson", "ClueFile", "Clusters", "Columns", "DataFile", "Explain", "IdColumn", "Ignore", "LabelColumn",
    "Method", "Penalty", "ProjectFile", "ProjectOrDataFile", "ProjectOrDataFiles", "Quiet", "Raw", "RawCells",
    "Scheduler", "Seed", "Sheet", "repeat",
]  # fmt: skip

_DATA, _RESULT = "Data", "Output"
_ROWS = "Rows to cluster: CSV, TSV, XLSX, Parquet, NPZ, NPY or JSON; also .gz, .zip."
_MOVED = "With --project only if the file has moved."

DataFile: TypeAlias = Annotated[Path, typer.Argument(metavar="DATA", help=_ROWS)]
ProjectOrDataFile: TypeAlias = Annotated[
    Path | None,
    typer.Argument(metavar="[DATA]", show_default=False, help=f"{_ROWS} {_MOVED}"),
]
ProjectOrDataFiles: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DATA]",
        show_default=False,
        help=f"{_ROWS} A folder, or a pattern such as 'rows-*.parquet', for rows that do not fit into memory. {_MOVED}",
    ),
]
ProjectFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="FILE",
        help="A project of `cluewise ask`: its data, the options it was begun with, and all answers as clues.",
        rich_help_panel=_DATA,
    ),
]
ClueFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--clues",
        metavar="FILE",
        help="The clues: CSV, Parquet or JSON, one clue per line, such as a17,b3,must.",
        rich_help_panel=_DATA,
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column with the names of the rows.", rich_help_panel=_DATA),
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns", metavar="A,B,…", help="Columns to cluster by; other columns are ignored.", rich_help_panel=_DATA
    ),
]
Ignore: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ignore",
        metavar="A,B,…",
        help="Columns to ignore; questions do not show them either.",
        rich_help_panel=_DATA,
    ),
]
As: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="A:KIND,…",
        help="Kinds of columns that are not as they look: number, category, ordered, date, text, vector or image; "
        "S<M<L for an order.",
        rich_help_panel=_DATA,
    ),
]
Explain: TypeAlias = Annotated[
    bool,
    typer.Option("--explain-columns", help="Show what each column was taken for.", rich_help_panel=_DATA),
]
Sheet: TypeAlias = Annotated[
    str | None,
    typer.Option("--sheet", metavar="NAME", help="Sheet of an XLSX file.", rich_help_panel=_DATA),
]
LabelColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--label-column",
        metavar="COLUMN",
        help="Column of DATA with known labels; empty where unknown.",
        rich_help_panel=_DATA,
    ),
]
Raw: TypeAlias = Annotated[
    bool,
    typer.Option("--raw", help="Use the columns as they are, without standardizing them.", rich_help_panel=_DATA),
]
RawCells: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--raw-cells",
        help="Write text to CSV as it was read; otherwise text that a spreadsheet would run as a formula gets "
        "a leading apostrophe.",
        rich_help_panel=_RESULT,
    ),
]
Clusters: TypeAlias = Annotated[
    int | None,
    typer.Option("--clusters", "-k", metavar="K", help="Number of clusters; without it, Cluewise finds it."),
]
Method: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="A method from `cluewise list`; by default Cluewise.",
    ),
]
Penalty: TypeAlias = Annotated[
    str | None,
    typer.Option("--penalty", metavar="X", help="Cost of a broken link: a number, or auto."),
]
Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of the random numbers.")
]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="A running dask scheduler, such as tcp://10.0.0.1:8786, for rows in parts; by default, threads here.",
    ),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, for other programs.", rich_help_panel=_RESULT)
]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="No summary and no progress bar.", rich_help_panel=_RESULT)
]


def repeat(context: typer.Context) -> str:
    """The command that repeats this one: its arguments, and options that are not at their defaults."""
    import shlex

    words = ["cluewise", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if value is None or value is False or value == parameter.default:
            continue
        words += [parameter.opts[0]] if parameter.param_type_name == "option" else []
        words += [] if value is True else [str(value)]
    return shlex.join(words)
