"""The file of answers that a page gives its reader: read as something that anybody may have written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from cluewise.workspace.items import class_of
from cluewise.workspace.offline.page import FORMAT, KEY
from cluewise.workspace.projects import check_who

if TYPE_CHECKING:
    from cluewise.active import Answer, Project

__all__ = ["Returned", "read_answers", "take_in"]

BYTES = 64_000_000
"""Size of a file of answers; no page makes one as large."""

NAME, CLASS = 100, 200
"""Letters of the name of a person, and of a class, as on the page."""

_NONCE = re.compile(r"[0-9a-z-]{1,64}\.[0-9]{1,9}", re.ASCII)  # the question in one copy of a page, and the attempt


class Returned(NamedTuple):
    """What a file brought."""

    who: str
    new: int
    changed: int  # of the new ones, those that replace an earlier answer on the same page
    known: int


def read_answers(path: Path, talk: Project, who: str = "") -> list[Answer]:
    """The answers in a file; refused unless every entry makes sense and belongs to this project.

    ``who`` is the name of a person who left it out.
    """
    content = _read(path)
    if not isinstance(content, dict) or content.get("cluewise") != "answers":
        raise ValueError(f"'{path}' is not a file of answers from a page of cluewise ask --html.")
    if content.get("format") != FORMAT:
        raise ValueError(f"'{path}' is of format {content.get('format')!r}; this version of cluewise reads {FORMAT}.")
    if content.get("project") != talk.store.settings.get(KEY):
        raise ValueError(f"the answers in '{path}' are about another project than '{talk.store.name}'.")
    entries, name = content.get("answers"), content.get("who")
    if not isinstance(entries, list) or not isinstance(name, str) or len(name) > NAME:
        raise ValueError(f"'{path}' is damaged: there are no answers in it, or it does not say whose they are.")
    try:
        check_who(name)
    except ValueError:
        raise ValueError(f"'{path}' says that {name!r} answered, which is not the name of a person.") from None
    answers: list[Answer] = []
    seen: set[str] = set()
    for number, entry in enumerate(entries, 1):
        try:
            answer = _answer(entry, name.strip() or who, talk)
            if answer.nonce in seen:
                raise ValueError("its nonce is that of an entry before.")
        except ValueError as error:
            raise ValueError(f"entry {number} of '{path}': {error}") from None
        seen.add(answer.nonce)
        answers.append(answer)
    return answers


def take_in(answers: Sequence[Answer], talk: Project) -> Returned:
    """Store the answers of one file; those that are stored already change nothing, however often they come.

    An answer that was changed on the page replaces the one that came before.
    """
    from cluewise.active import Answer

    who = answers[0].who if answers else ""
    every = [(id, one, stands) for id, one, stands in talk.history() if isinstance(one, Answer) and one.who == who]
    said = [(id, one.nonce, stands) for id, one, stands in every if one.nonce]  # nobody takes back what others said
    newest: dict[str, int] = {}
    for _, nonce, _ in said:
        place, attempt = _split(nonce)
        newest[place] = max(attempt, newest.get(place, 0))
    new = [answer for answer in answers if _split(answer.nonce)[1] > newest.get(_split(answer.nonce)[0], 0)]
    talk.tell(new)
    # Also where the answers came in before, and whoever took them in was killed at this point.
    now = dict(_split(answer.nonce) for answer in answers)
    for id, nonce, stands in said:
        place, attempt = _split(nonce)
        if stands and attempt < max(now.get(place, 0), newest[place]):
            talk.undo(id)
    changed = sum(_split(answer.nonce)[0] in newest for answer in new)
    return Returned(who, len(new), changed, len(answers) - len(new))


def _split(nonce: str) -> tuple[str, int]:
    """The question in one copy of a page, and how often it was answered there."""
    place, _, attempt = nonce.rpartition(".")
    return (place, int(attempt)) if _NONCE.fullmatch(nonce) else (nonce, 1)


def _read(path: Path) -> Any:
    with path.open("rb") as file:
        raw = file.read(BYTES + 1)
    if len(raw) > BYTES:
        raise ValueError(f"'{path}' is too large for a file of answers.")
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise ValueError(f"'{path}' is not a file of answers: it is not JSON, or not all of it is there.") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice.")
    return found


def _answer(entry: Any, who: str, talk: Project) -> Answer:
    """An entry as an answer; every value in it is checked."""
    from cluewise.active import Answer, Question

    if not isinstance(entry, dict) or not isinstance(asked := entry.get("question"), dict) or "value" not in entry:
        raise ValueError("there is no question, or no answer.")
    kind, rows, value = asked.get("kind"), asked.get("rows"), entry["value"]
    if not isinstance(kind, str) or not isinstance(rows, list) or not rows:
        raise ValueError("the question has no kind, or no rows.")
    question = Question(kind, tuple(rows))
    state = talk.state
    if max(question.rows) >= state.n:
        raise ValueError(f"it is about row {max(question.rows)}, but there are {state.n} rows.")
    nonce, seconds = entry.get("nonce"), entry.get("seconds")
    if not isinstance(nonce, str) or not _NONCE.fullmatch(nonce):
        raise ValueError(f"its nonce is {_shown(nonce)}, which no page makes.")
    if kind == "label" and value is not None:
        if not isinstance(value, str) or len(value) > CLASS or not value.isprintable():
            raise ValueError(f"{_shown(value)} is not the name of a class.")
        value = class_of(value, state.clues)
    return Answer(question, value, who=who, seconds=seconds, nonce=nonce)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
