"""Which answers to ask for again when answers may be wrong: those that decide about many rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from cluewise.active._dialog import Answer

__all__ = ["LEARNED", "Verdict", "count_voices", "error_rate_of", "list_verdicts"]

LEARNED = "learned"
"""Instead of an error rate: learned from questions that were asked more than once."""

SUPPOSED, SEEN = 0.1, 10.0
"""Error rate before any question was asked twice, and as how many answers it counts."""

Pair = tuple[int, int]


class Verdict(NamedTuple):
    """What the answers to one question say, and what depends on it."""

    pair: Pair
    doubt: float  # probability that it is wrong
    stake: float  # pairs of rows that change sides if it is


def error_rate_of(given: float | str, answers: Iterable[Answer]) -> float:
    """The error rate as given, or as answers to the same question disagree."""
    if not isinstance(given, str):
        return given
    said: dict[object, list[bool]] = {}
    for answer in answers:
        if answer.question.kind == "pair" and answer.value is not None and not answer.inferred:
            said.setdefault(answer.question.key, []).append(answer.value)
    repeated = [values for values in said.values() if len(values) > 1]
    wrong = sum(min(sum(values), len(values) - sum(values)) for values in repeated)
    return (SUPPOSED * SEEN + wrong) / (SEEN + sum(map(len, repeated)))


def count_voices(answers: Iterable[Answer]) -> dict[Pair, tuple[int, int]]:
    """For each pair how many said no and how many yes."""
    voices: dict[Pair, tuple[int, int]] = {}
    for answer in answers:
        if not answer.inferred:
            for i, j, same in answer.links():
                pair = min(i, j), max(i, j)
                no, yes = voices.get(pair, (0, 0))
                voices[pair] = (no, yes + 1) if same else (no + 1, yes)
    return voices


def list_verdicts(voices: Mapping[Pair, float], size: Mapping[int, float]) -> list[Verdict]:
    """What was said about each pair of rows that stand for others, how likely it is wrong, and what depends on it.

    ``voices`` are the log-odds of a yes, ``size`` is the number of rows that a row stands for. A yes decides about the
    two sides that no other yes joins. A no decides about two clusters, together with all others between them.
    """
    friends: dict[int, set[int]] = {row: set() for row in size}
    voices = {pair: odds for pair, odds in voices.items() if pair[0] in size and pair[1] in size}
    for (i, j), odds in voices.items():
        if odds > 0:
            friends[i].add(j)
            friends[j].add(i)
    cluster = _number_components(friends)
    mass: dict[int, float] = {}
    for row, number in cluster.items():
        mass[number] = mass.get(number, 0.0) + size[row]
    between: dict[frozenset[int], float] = {}
    for pair, odds in voices.items():
        sides = frozenset(cluster[row] for row in pair)
        between[sides] = between.get(sides, 0.0) + odds
    found = []
    for pair, odds in voices.items():
        a, b = (cluster[row] for row in pair)
        if odds > 0:
            side = sum(size[row] for row in _reach(pair, friends))
            found.append(Verdict(pair, float(1 / (1 + np.exp(odds))), side * (mass[a] - side)))
        elif a != b:  # otherwise it is a contradiction, which is asked about in any case
            found.append(Verdict(pair, float(1 / (1 + np.exp(-between[frozenset((a, b))]))), mass[a] * mass[b]))
    return found


def _number_components(friends: Mapping[int, set[int]]) -> dict[int, int]:
    """A number for each row, the same for rows that others say belong together."""
    number: dict[int, int] = {}
    for first in friends:
        if first not in number:
            number[first], queue = first, [first]
            while queue:
                new = [row for row in friends[queue.pop()] if row not in number]
                number.update((row, first) for row in new)
                queue += new
    return number


def _reach(pair: Pair, friends: Mapping[int, set[int]]) -> set[int]:
    """Rows that the first row of a pair is joined to without the answer about this pair."""
    first, second = pair
    seen, queue = {first}, [first]
    while queue:
        row = queue.pop()
        new = friends[row] - seen - ({second} if row == first else set())
        seen |= new
        queue += new
    return seen
