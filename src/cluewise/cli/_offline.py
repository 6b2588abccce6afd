"""Questions of ``cluewise ask`` as a page for somebody else, and the answers that come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cluewise import tables
from cluewise.cli import _files, _show

if TYPE_CHECKING:
    from cluewise.active import Project
    from cluewise.rows import Rows
    from cluewise.workspace.data import Data

__all__ = ["check_page", "hand_out", "take_in"]


def check_page(page: Path, out: Path | None, result: Path | None, read: Iterable[Path | None]) -> None:
    """Refuse a page that could not be written, and files that are not written beside it."""
    for option, path in {"--out": out, "--result": result}.items():
        if path is not None:
            raise ValueError(f"--html writes a page of questions only; leave {option} out.")
    _files.check_suffix(page, (".html", ".htm"))
    _files.check_outputs({"--html": page}, read)


def hand_out(
    talk: Project,
    data: Data,
    rows: Rows,
    page: Path,
    count: int | None,
    who: str,
    read: Iterable[Path | None],
) -> None:
    """Write the next questions as a page: so many, or as many as are left."""
    from cluewise.workspace.offline import write_page
    from cluewise.workspace.offline.questions import look_ahead
    from cluewise.workspace.projects import OPTIONS

    state = talk.state
    wanted = state.left if count is None else count
    if count == 0:
        raise ValueError("--budget is 0; a page has at least 1 question.")
    if not wanted:
        raise ValueError(f"all {state.budget} questions are answered; say how many more with --budget.")
    X, _ = data.encode(raw=talk.store.settings[OPTIONS]["raw"])
    questions = look_ahead(talk.strategy, state, X, wanted)
    if not questions:
        raise ValueError("nothing is left to ask: the answer to every question follows from what is known.")
    talk.grow(max(state.budget, state.asked + len(questions)))
    text, notes = write_page(talk, data, rows, questions, who)
    with _files.open_outputs({"--html": page}, read) as asides, tables.writing(page):
        asides["--html"].write_text(text, encoding="utf-8")
    size = len(text.encode()) / 1000
    what = "1 question" if len(questions) == 1 else f"{len(questions)} questions"
    _show.say(f"Written: {page}, a page with {what} ({size:,.0f} kB) that works without a network.")
    for note in notes:
        _show.say(f"({note})")
    _show.say("Send it to the person who knows. What comes back, answers.json, is for --answers.")


def take_in(talk: Project, paths: Sequence[Path], who: str) -> None:
    """Take in files of answers: all of them, or none if one is refused."""
    from cluewise.workspace import offline

    files = [offline.read_answers(path, talk, who) for path in paths]
    for path, answers in zip(paths, files):
        found = offline.take_in(answers, talk)
        name = f" of {found.who}" if found.who else ""
        words = [f"{found.new} new"]
        words += [f"of which {found.changed} replace earlier ones"] if found.changed else []
        words += [f"{found.known} known already"] if found.known else []
        _show.say(f"Answers{name} from {path}: {', '.join(words)}.")
