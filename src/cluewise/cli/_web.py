"""``cluewise web``: the questions, and a map of all rows, on a page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _options as opt
from cluewise.cli._ask import Kind, ProjectFile, Seed, Strategy
from cluewise.cli._interrupt import INTERRUPTED

if TYPE_CHECKING:
    from cluewise.active import Project
    from cluewise.workspace.data import Data

__all__ = ["web"]

BUDGET = 100_000
"""Questions that may be asked: as many as people like."""

_LOCAL = "127.0.0.1"
_PAGE = "Page"

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Where to listen. By default only this machine can open the page; 0.0.0.0 opens it to the network.",
        rich_help_panel=_PAGE,
    ),
]
Port = Annotated[
    int,
    typer.Option(
        "--port",
        metavar="N",
        min=0,
        max=65535,
        help="Port; by default the one of last time, or any that is free.",
        rich_help_panel=_PAGE,
    ),
]
NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Print the address, but do not open it.", rich_help_panel=_PAGE)
]
KeepLinks = Annotated[
    bool,
    typer.Option(
        "--keep-links",
        help="Keep the links in a project that was copied or handed over: who had one, its owner too, comes in.",
        rich_help_panel=_PAGE,
    ),
]
Who = Annotated[
    str | None,
    typer.Option("--who", metavar="NAME", help="Your name, kept with each of your answers.", rich_help_panel=_PAGE),
]
Layout = Annotated[
    str | None,
    typer.Option("--layout", metavar="A,B", help="Two columns of numbers for the map.", rich_help_panel=_PAGE),
]
RemoteImages = Annotated[
    bool,
    typer.Option(
        "--remote-images",
        help="Let the page load pictures from the addresses in a column; their servers see who looks.",
        rich_help_panel=_PAGE,
    ),
]


def web(
    data: opt.DataFile,
    strategy: Strategy = None,
    questions: Kind = None,
    clusters: opt.Clusters = None,
    project: ProjectFile = None,
    seed: Seed = None,
    clues: opt.ClueFile = None,
    id_column: opt.IdColumn = None,
    columns: opt.Columns = None,
    ignore: opt.Ignore = None,
    kinds: opt.As = None,
    sheet: opt.Sheet = None,
    label_column: opt.LabelColumn = None,
    raw: opt.Raw = False,
    explain: opt.Explain = False,
    host: Host = _LOCAL,
    port: Port = 0,
    no_browser: NoBrowser = False,
    who: Who = None,
    layout: Layout = None,
    remote_images: RemoteImages = False,
    keep_links: KeepLinks = False,
) -> None:
    """Answer questions on a page in the browser, and watch the clusters change.

    Answers are kept in the same project as those of cluewise ask, each before the next question. Ctrl-C stops the
    page; run the command again to continue.

    Example: cluewise web wine.csv -k 3 --ignore class
    """
    from cluewise.cli import _show
    from cluewise.cli._columns import show_plan
    from cluewise.web import Session, serve
    from cluewise.web.page import check_page, check_server
    from cluewise.workspace import projects

    check_server()
    check_page()
    projects.check_who(who or "")
    place = data.with_suffix(".cluewise") if project is None else project
    options = {
        "strategy": strategy,
        "questions": questions,
        "clues": None if clues is None else str(clues),
        "id": id_column,
        "columns": columns,
        "ignore": ignore,
        "as": kinds,
        "sheet": sheet,
        "label_column": label_column,
        "raw": raw,
        "clusters": clusters,
        "seed": seed,
    }
    talk, opened, rows = _open(place, data, options)
    with talk:
        if explain:
            show_plan(rows, opened.table.notes)
        kept = talk.store.settings[projects.OPTIONS]
        session = Session(
            talk,
            opened,
            talk.X,
            rows,
            n_clusters=kept["clusters"],
            folder=data.parent,
            remote_images=remote_images,
            layout=layout,
            seed=kept["seed"],
        )
        if host not in (_LOCAL, "localhost", "::1"):
            _show.warn(
                f"cluewise: the page is open to every machine that can reach {host}: whoever has a link can answer, "
                "and what goes over the network is not encrypted."
            )
        try:
            serve(
                session,
                host=host,
                port=port,
                who=who,
                open_browser=not no_browser,
                keep_links=keep_links,
                say=lambda address: _show.say(f"cluewise: {address} (Ctrl-C stops; answers are kept in {place})"),
            )
        except KeyboardInterrupt:
            _show.warn(f"\ncluewise: stopped; every answer is saved in {place}.")
            raise typer.Exit(INTERRUPTED) from None
        finally:
            session.close()


def _open(place: Path, data: Path, options: dict[str, Any]) -> tuple[Project, Data, Any]:
    """The project of ``cluewise ask``, begun or continued; people stop when they like."""
    from cluewise.workspace import projects

    if not projects.is_begun(place):
        return projects.begin(place, data, options, BUDGET)
    talk, opened, rows = projects.go_on(place, data, options, None)
    if talk.state.budget < BUDGET:
        talk.grow(BUDGET)
    return talk, opened, rows
