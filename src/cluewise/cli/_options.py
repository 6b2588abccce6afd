"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "AsJson", "ClueFile", "Clusters", "Columns", "DataFile", "IdColumn", "Ignore", "LabelColumn", "Method",
    "Penalty", "Quiet", "Raw", "RawCells", "Seed",
]  # fmt: skip

_DATA, _RESULT = "Data", "Output"

DataFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="DATA", help="Rows to cluster: CSV, TSV, Parquet, NPZ, NPY or JSON.")
]
ClueFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--clues",
        metavar="FILE",
        help="What is known: CSV, Parquet or JSON, one clue per line, such as a17,b3,must.",
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
        "--columns", metavar="A,B,…", help="Columns to cluster by; the others are left out.", rich_help_panel=_DATA
    ),
]
Ignore: TypeAlias = Annotated[
    str | None,
    typer.Option("--ignore", metavar="A,B,…", help="Columns to leave out.", rich_help_panel=_DATA),
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
    typer.Option("--raw", help="Take the columns as they are, not standardized.", rich_help_panel=_DATA),
]
RawCells: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--raw-cells",
        help="Write text into CSV as it was read; otherwise text that a spreadsheet would run as a formula gets an "
        "apostrophe in front.",
        rich_help_panel=_RESULT,
    ),
]
Clusters: TypeAlias = Annotated[
    int | None,
    typer.Option("--clusters", "-k", metavar="K", help="Number of clusters; by default one per label class."),
]
Method: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="A method that `cluewise list` names; by default one that suits the kinds of clues.",
    ),
]
Penalty: TypeAlias = Annotated[
    str | None,
    typer.Option("--penalty", metavar="X", help="Price of a broken link: a number, or auto."),
]
Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of everything random.")
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Answer in JSON, for machines.", rich_help_panel=_RESULT)
]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="No summary and no progress bar.", rich_help_panel=_RESULT)
]
