"""``cluewise rescue``: save what is intact in a damaged project or stream."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from cluewise.cli import _options as opt

__all__ = ["rescue"]

Damaged = Annotated[Path, typer.Argument(metavar="PATH", help="Project file of ask, or model of update.")]
Out = Annotated[
    Path, typer.Argument(metavar="OUT", help="New file: a project, or for a model of update a file of clues (CSV).")
]


def rescue(path: Damaged, out: Out, json: opt.AsJson = False) -> None:
    """Save what is intact in a damaged project or a damaged model of update.

    A project becomes a new project with all intact answers. The clues of a model become a file of clues, for --clues
    of update or fit. The damaged original is left as it is.

    Examples: cluewise rescue wine.cluewise new.cluewise; cluewise rescue state/ clues.csv
    """
    from cluewise import stream
    from cluewise.cli import _show

    streamed = path.is_dir() or stream.has_journal(path)
    what = "clues" if streamed else "entries"
    if streamed:
        from cluewise.cli._files import TABLES, check_suffix

        check_suffix(out, TABLES)
        saved, lost = stream.rescue(path, out)
    else:
        from cluewise import store
        from cluewise.active import Project

        saved, lost = store.rescue(path, out)
        if not Project.begun(out):
            warnings.warn(f"the beginning of the conversation is lost; '{out}' holds only answers.", stacklevel=2)
    if json:
        _show.say(_show.as_json({"saved": saved, "lost": lost, "output": str(out)}))
    else:
        _show.say(f"{saved} {what} saved in {out}, {lost} lost.")
