"""What a reply means; whatever is not in the form that was asked for means nothing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from cluewise.active._language_model.prompts import Form, is_pair

__all__ = ["Nonsense", "agree", "read"]

_WORD = re.compile(r"""[\s"'`*]*(yes|no|unsure)[\s"'`*.!]*""", re.IGNORECASE)
_CHOICE = re.compile(r"""[\s"'`*]*\[\s*([0-9]{1,6}|none|unsure)\s*\][\s"'`*.!]*""", re.IGNORECASE)
_PILE = r"\[\s*[0-9]{1,6}(?:\s*,\s*[0-9]{1,6})*\s*\]"
_PILES = re.compile(rf"[\s`*]*(?:{_PILE}|\[\s*{_PILE}(?:[\s,;]*{_PILE})*\s*\])(?:[\s,;]*{_PILE})*[\s`*.]*")


class Nonsense(ValueError):
    """A reply without meaning; the argument says in one word what is wrong with it."""


def read(form: Form, text: str) -> Any:
    """The value of a reply for an `Answer`; None for "unsure"."""
    if not text.strip():
        raise Nonsense("empty")
    if form.kind == "group":
        return _piles(form, text)
    found = (_WORD if is_pair(form) else _CHOICE).fullmatch(text)
    if found is None:
        raise Nonsense("prose")
    word = found[1].lower()
    if word == "unsure":
        return None
    if is_pair(form):
        together = (word == "yes") == (form.turn == 0)
        return together if form.kind == "pair" else (form.rows[1] if together else False)
    if word == "none":
        if form.kind == "label":
            raise Nonsense("prose")
        return False
    choices = form.classes if form.kind == "label" else form.rows[1:]
    if not 1 <= int(word) <= len(choices):
        raise Nonsense("unknown")
    return choices[int(word) - 1]


def _piles(form: Form, text: str) -> Any:
    choice = _CHOICE.fullmatch(text)
    if choice is not None and choice[1].lower() == "unsure":
        return None
    if not _PILES.fullmatch(text):
        raise Nonsense("prose")
    piles = [[int(number) for number in re.findall("[0-9]+", pile)] for pile in re.findall(_PILE, text)]
    numbers = [number for pile in piles for number in pile]
    if any(not 1 <= number <= len(form.rows) for number in numbers):
        raise Nonsense("unknown")
    if len(set(numbers)) < len(numbers):
        raise Nonsense("repeated")
    return tuple(tuple(form.rows[number - 1] for number in pile) for pile in piles)


def agree(kind: str, first: Any, second: Any) -> Any:
    """What two replies to the same question agree on; None if that is nothing.

    Of groups, the most rows about which both say the same: rows of one pile in the first that are of one pile in the
    second, and of different piles that are of different piles. The others are left open.
    """
    if first is None or second is None:
        return None
    if kind != "group":
        return first if first == second and isinstance(first, bool) == isinstance(second, bool) else None
    table = np.array([[len(set(one) & set(other)) for other in second] for one in first])
    # Each pile keeps the rows that it has in common with at most one pile of the other reply.
    matched = zip(*linear_sum_assignment(table, maximize=True))
    piles = [tuple(row for row in first[i] if row in set(second[j])) for i, j in matched if table[i, j]]
    return tuple(piles) if sum(map(len, piles)) > 1 else None
