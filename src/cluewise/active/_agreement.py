"""How often people agree who answered the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import Any

from cluewise.active._dialog import Answer

__all__ = ["agreement"]


def agreement(answers: Iterable[Answer]) -> list[tuple[str, str, int, int]]:
    """How often each two people agree, over all that both of them answered.

    What counts is each label, and each pair of rows that an answer decides: "which" and "group" decide several. Of
    several answers of one person the last counts. "Don't know", inferred answers and answers without a name are left
    out.

    Parameters
    ----------
    answers : iterable of Answer
        Answers of several people, in order; ``state.answers`` for example.

    Returns
    -------
    list of (str, str, int, int)
        Two names, how much both answered, and in how much of it they agree. People who have no answer in common are
        left out.

    Examples
    --------
    >>> from cluewise.active import Answer, Question, agreement
    >>> group, pair = Question("group", (3, 5, 8)), Question("pair", (5, 3))
    >>> agreement([Answer(group, [[3, 5], [8]], who="ann"), Answer(pair, False, who="bob")])
    [('ann', 'bob', 1, 0)]
    """
    said: dict[str, dict[Hashable, Any]] = {}
    for answer in answers:
        if answer.value is None or answer.inferred or not answer.who:
            continue
        own = said.setdefault(answer.who, {})
        if answer.question.kind == "label":
            own[answer.question.rows] = answer.value
        own.update({(min(i, j), max(i, j)): together for i, j, together in answer.entailed()})
    found = []
    for a, b in combinations(sorted(said), 2):
        both = said[a].keys() & said[b].keys()
        if both:
            found.append((a, b, len(both), sum(said[a][what] == said[b][what] for what in both)))
    return found
