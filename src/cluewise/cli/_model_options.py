"""Options of a language model that answers the questions of ``cluewise ask``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

__all__ = ["Wish"]

_PANEL = "Language model"

Model = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="A language model answers; its name.", rich_help_panel=_PANEL),
]
Answerers = Annotated[
    str | None,
    typer.Option(
        "--answerers",
        metavar="NAMES",
        help="Who answers: me, llm (with --model), or llm,me: the model first, and you where it does not know or where "
        "much depends on the answer.",
        rich_help_panel=_PANEL,
    ),
]
Share = Annotated[
    float,
    typer.Option(
        "--share",
        metavar="X",
        min=0,
        max=1,
        help="With llm,me, the share of questions for you.",
        rich_help_panel=_PANEL,
    ),
]
Task = Annotated[
    str | None,
    typer.Option("--task", metavar="TEXT", help="What belongs together, in a sentence.", rich_help_panel=_PANEL),
]
Base = Annotated[
    str,
    typer.Option(
        "--base",
        metavar="URL",
        help="Server that speaks /v1/chat/completions.",
        rich_help_panel=_PANEL,
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="VARIABLE",
        help="Name of the environment variable that holds the key; the key itself is kept nowhere.",
        rich_help_panel=_PANEL,
    ),
]
Show = Annotated[
    str | None,
    typer.Option(
        "--show",
        metavar="A,B,…",
        help="Columns that the model sees; by default those to cluster by.",
        rich_help_panel=_PANEL,
    ),
]
Images = Annotated[
    str | None,
    typer.Option(
        "--images",
        metavar="A,B,…",
        help="Columns with addresses of images, for models that see.",
        rich_help_panel=_PANEL,
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes",
        metavar="A,B,…",
        help="Classes to choose from when asked for a label; by default those of the known labels.",
        rich_help_panel=_PANEL,
    ),
]
Examples = Annotated[
    int,
    typer.Option(
        "--examples",
        metavar="N",
        min=0,
        help="Show the model the first N answers that people gave in this project.",
        rich_help_panel=_PANEL,
    ),
]
Calls = Annotated[
    int | None,
    typer.Option(
        "--calls",
        metavar="N",
        min=0,
        help="Calls that may be sent, those of earlier runs and failed ones included; a question takes two. By default "
        "three for each question that is left.",
        rich_help_panel=_PANEL,
    ),
]
PriceList = Annotated[
    str | None,
    typer.Option(
        "--prices",
        metavar="IN,OUT",
        help="Prices of a million tokens sent and received.",
        rich_help_panel=_PANEL,
    ),
]
Money = Annotated[
    float | None,
    typer.Option(
        "--money", metavar="X", min=0, help="What all calls may cost; needs --prices.", rich_help_panel=_PANEL
    ),
]
InFlight = Annotated[
    int,
    typer.Option("--in-flight", metavar="N", min=1, max=64, help="Calls at the same time.", rich_help_panel=_PANEL),
]
Body = Annotated[
    str | None,
    typer.Option(
        "--body",
        metavar="JSON",
        help='More fields of each request, instead of {"max_tokens": 256}.',
        rich_help_panel=_PANEL,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Send without asking for confirmation.", rich_help_panel=_PANEL)]
Export = Annotated[
    Path | None,
    typer.Option(
        "--export-batch",
        metavar="FILE",
        help="Write the next questions as requests for a batch service (JSONL); send nothing.",
        rich_help_panel=_PANEL,
    ),
]
Import = Annotated[
    Path | None,
    typer.Option(
        "--import-batch",
        metavar="FILE",
        help="Take in the replies that a batch service gave.",
        rich_help_panel=_PANEL,
    ),
]


class Wish(NamedTuple):
    """The options of a language model, as they were given."""

    model: str | None
    task: str | None
    base: str
    key: str | None
    show: str | None
    images: str | None
    classes: str | None
    examples: int
    calls: int | None
    prices: str | None
    money: float | None
    in_flight: int
    body: str | None
    yes: bool
    who: str  # name of the model in the project; its own if empty
