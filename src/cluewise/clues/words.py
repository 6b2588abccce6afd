"""Words about clues: the kinds there are, how many of each, and which rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise.clues.links import reporter_of

if TYPE_CHECKING:
    from cluewise.clues._record import Record

__all__ = ["KINDS", "find_origin", "in_words", "inventory", "list_clues", "plural", "split_source", "tell_clues"]

_ANSWER = re.compile(r"(?:answer|act) \d+(?: \((.*)\))?$", re.DOTALL)  # the source of a clue from a conversation

_JOINT = re.compile(r" \+ (?![^()]*\))")  # between two sources, but not within the name of a person

KINDS = ("labels", "must", "cannot", "together", "apart", "partitions", "sizes", "avoid")


def inventory(clues: Record) -> str:
    """Numbers of rows and of clues by kind, in words."""
    return f"{plural(clues.n, 'row')}: {tell_clues(clues)}"


def tell_clues(clues: Record) -> str:
    """Numbers of clues by kind, in one line."""
    return ", ".join(list_clues(clues))


def list_clues(clues: Record) -> list[str]:
    """Numbers of clues by kind, in words."""
    parts = []
    labelled = int((clues.labels >= 0).sum())
    if labelled:
        classes = len(np.unique(clues.labels[clues.labels >= 0]))
        parts.append(f"{plural(labelled, 'label')} in {plural(classes, 'class', 'classes')}")
    for kind, links in (("must", clues.must), ("cannot", clues.cannot)):
        if len(links):
            parts.append(plural(len(links), f"{kind}-link"))
    for kind, columns in (("together", clues.together), ("apart", clues.apart)):
        if columns:
            parts.append(plural(sum(len(g.weights) for g in columns), f"{kind} group"))
    if clues.partitions:
        parts.append(plural(len(clues.partitions), "partial partition"))
    if clues.sizes is not None:
        parts.append("size bounds")
    if clues.avoid:
        parts.append(plural(len(clues.avoid), "clustering") + " to avoid")
    weights = np.concatenate(
        [clues.must_weight, clues.cannot_weight, *(g.weights for g in (*clues.together, *clues.apart))]
    )
    if len(np.unique(weights)) > 1:
        parts.append(f"weights {weights.min():g} to {weights.max():g}")
    return parts or ["no clues"]


def plural(count: int, one: str, many: str | None = None) -> str:
    """A number and its noun: "1 row", "2 rows"."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def in_words(rows: Any) -> str:
    """Row numbers in words: "3, 5 and 8"."""
    shown = [str(int(r)) for r in rows]
    if len(shown) > 12:
        shown = [*shown[:10], f"{len(shown) - 10} more"]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def find_origin(source: str) -> str:
    """Where a clue comes from: lines of a file are one source, and so are the answers of a person.

    Examples
    --------
    >>> find_origin("pairs.csv:12"), find_origin("answer 3 (ann)"), find_origin("survey")
    ('pairs.csv', 'answers of ann', 'survey')
    >>> find_origin("pairs.csv:12 + answer 3 (ann)")
    'pairs.csv + answers of ann'
    """
    return " + ".join(dict.fromkeys(map(_find_one_origin, split_source(source))))


def split_source(source: str) -> list[str]:
    """The sources that reported the same pair, which `Clues` joins.

    Examples
    --------
    >>> split_source("pairs.csv:12 + answer 3 (ann + bob)")
    ['pairs.csv:12', 'answer 3 (ann + bob)']
    """
    return _JOINT.split(source)


def _find_one_origin(source: str) -> str:
    answer = _ANSWER.match(source)
    if answer is None:
        return reporter_of(source)
    return f"answers of {answer[1]}" if answer[1] else "answers"
