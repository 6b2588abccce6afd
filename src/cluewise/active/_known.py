"""What is known about which rows belong together: the closure of clues and answers, updated with each answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cluewise.active._dialog import Answer, Question
from cluewise.clues import Clues

__all__ = ["Known", "Settled", "open_pairs", "resolve"]

TRIES = 1000
"""Draws for each pair that is requested, before all open pairs are listed."""

LISTED = 1500
"""Maximum number of components whose pairs are listed."""


class Known:
    """Components of rows known to belong together, and which of them are known to be apart.

    Answers that contradict what is known are set aside in `conflicts`; the earlier one counts until the question is
    asked again. Apart from one array of components, only rows that clues or answers mention cost anything.
    """

    def __init__(self, given: Clues, answers: Iterable[Answer] = ()) -> None:
        self._component = given.components
        self._parent: dict[int, int] = {}
        self._apart: dict[int, set[int]] = {}
        self._cliques: dict[int, set[int]] = {}
        self._label: dict[int, Hashable] = {}
        self._labelled: dict[Hashable, int] = {}
        self.asked: set[tuple[str, tuple[int, ...]]] = set()  # keys of questions, answered in whatever way
        self.conflicts: list[Answer] = []
        graph, cliques = given.graph, given.cliques
        for c in np.flatnonzero(np.diff(graph.indptr)).tolist():
            # Given clues may contradict themselves: a component apart from itself stays one component.
            self._apart[c] = set(graph.indices[graph.indptr[c] : graph.indptr[c + 1]].tolist()) - {c}
        for q in range(len(cliques.weights)):
            for c in cliques.members[cliques.indptr[q] : cliques.indptr[q + 1]].tolist():
                self._cliques.setdefault(c, set()).add(q)
        rows = np.flatnonzero(given.labels >= 0)
        for row in rows[np.unique(given.labels[rows], return_index=True)[1]].tolist():
            value = given.classes_[given.labels[row]]
            value = value.item() if isinstance(value, np.generic) else value
            self._label[int(self._component[row])] = value
            self._labelled[value] = row
        for answer in answers:
            self.learn(answer)

    def root(self, row: int) -> int:
        """The component of a row."""
        c = int(self._component[row])
        path = []
        while c in self._parent:
            path.append(c)
            c = self._parent[c]
        for seen in path:
            self._parent[seen] = c
        return c

    def given(self, row: int) -> int:
        """The component of a row by the given clues alone."""
        return int(self._component[row])

    def same(self, i: int, j: int) -> bool | None:
        """Whether two rows belong together; None if that is not known."""
        a, b = self.root(i), self.root(j)
        if a == b:
            return True
        if b in self._apart.get(a, ()) or self._cliques.get(a, set()) & self._cliques.get(b, set()):
            return False
        if a in self._label and b in self._label and self._label[a] != self._label[b]:
            return False
        return None

    def label(self, row: int) -> Hashable | None:
        """The class of a row, if it is known."""
        return self._label.get(self.root(row))

    def open(self, question: Question) -> bool:
        """Whether to ask a question: it was not asked before, and its answer does not follow from others."""
        if question.key in self.asked:
            return False
        first = question.rows[0]
        if question.kind == "label":
            return self.label(first) is None
        if question.kind == "group":
            return any(self.same(i, j) is None for i, j in combinations(question.rows, 2))
        said = [self.same(first, row) for row in question.rows[1:]]
        return True not in said and None in said

    def learn(self, answer: Answer) -> None:
        """Add one answer."""
        self.asked.add(answer.question.key)
        if answer.value is None:
            if answer.question.kind == "which":
                for other in answer.question.rows[1:]:  # whoever cannot tell which is not asked about each of them
                    self.asked.add(Question("pair", (answer.question.rows[0], other)).key)
            return
        row = answer.question.rows[0]
        fits = self._name(row, answer.value) if answer.question.kind == "label" else True
        for i, j, together in answer.links():
            # Recorded as a pair whatever the kind of the question: neither "pair" nor "which" asks about it again.
            self.asked.add(("pair", (min(i, j), max(i, j))))
            known = self.same(i, j)
            if known is None:
                self._join(i, j) if together else self._part(i, j)
            fits = fits and known in (None, together)
        if not fits:
            self.conflicts.append(answer)

    def _name(self, row: int, value: Hashable) -> bool:
        """Give a row its class; False if that contradicts what is known."""
        root = self.root(row)
        if root in self._label:
            return self._label[root] == value
        other = self._labelled.get(value)
        if other is None:
            self._label[root] = value
            self._labelled[value] = row
            return True
        if self.same(row, other) is False:
            return False
        self._join(row, other)
        return True

    def _join(self, i: int, j: int) -> None:
        a, b = self.root(i), self.root(j)
        if len(self._apart.get(a, ())) < len(self._apart.get(b, ())):
            a, b = b, a  # move the smaller set of enemies
        self._parent[b] = a
        for enemy in self._apart.pop(b, set()):
            self._apart[enemy].discard(b)
            self._apart[enemy].add(a)
            self._apart.setdefault(a, set()).add(enemy)
        if b in self._cliques:
            self._cliques.setdefault(a, set()).update(self._cliques.pop(b))
        if b in self._label:
            self._label[a] = self._label.pop(b)

    def _part(self, i: int, j: int) -> None:
        a, b = self.root(i), self.root(j)
        self._apart.setdefault(a, set()).add(b)
        self._apart.setdefault(b, set()).add(a)


def resolve(answers: Iterable[Answer]) -> list[Answer]:
    """One answer per question, in the order in which they were first asked: the majority; a tie is a "don't know".

    An inferred answer counts only as long as every "no" about its row that came before still stands.
    """
    said: dict[tuple[str, tuple[int, ...]], list[Answer]] = {}
    refused: dict[int, list[tuple[str, tuple[int, ...]]]] = {}  # by row: questions that somebody answered "no"
    premises: dict[int, list[tuple[str, tuple[int, ...]]]] = {}  # by inferred answer: what it follows from
    for answer in answers:
        said.setdefault(answer.question.key, []).append(answer)
        row = answer.question.rows[0]
        if answer.inferred:
            premises[id(answer)] = list(refused.get(row, []))
        elif answer.value is False:
            refused.setdefault(row, []).append(answer.question.key)
    counted = {key: _majority([vote for vote in votes if not vote.inferred]) for key, votes in said.items()}
    for key, votes in said.items():
        if counted[key] is None:
            grounds = [counted[premise] for premise in premises[id(votes[0])]]
            if all(ground is not None and ground.value is False for ground in grounds):
                counted[key] = votes[0]
    return [answer for answer in counted.values() if answer is not None]


@dataclass(frozen=True)
class Settled(Answer):
    """What the majority says about each pair of rows, where several people sorted the same rows into other piles.

    The majorities need not be piles: of two people who agree that a and b belong together and c and d do, one may
    have put all four into one pile.
    """

    first: Answer | None = None
    pairs: tuple[tuple[int, int, bool], ...] = ()

    @classmethod
    def of(cls, votes: list[Answer]) -> Settled:
        """From answers to one question; a tie leaves a pair open."""
        lead: dict[tuple[int, int], int] = {}
        for vote in votes:
            for i, j, together in vote.entailed():
                pair = min(i, j), max(i, j)
                lead[pair] = lead.get(pair, 0) + (1 if together else -1)
        pairs = tuple((i, j, count > 0) for (i, j), count in sorted(lead.items()) if count)
        who = ", ".join(dict.fromkeys(vote.who for vote in votes if vote.who))
        return cls(votes[0].question, (), who, first=votes[0], pairs=pairs)

    def links(self) -> Iterator[tuple[int, int, bool]]:
        """The pairs that most people agree about."""
        return iter(self.pairs)

    entailed = links


def _majority(votes: list[Answer]) -> Answer | None:
    """The answer of most people who were asked; None if nobody was."""
    if len(votes) < 2:
        return votes[0] if votes else None
    counts: dict[Hashable, list[Answer]] = {}
    for vote in votes:
        if vote.value is not None:
            counts.setdefault(vote.meaning, []).append(vote)
    if votes[0].question.kind == "group" and len(counts) > 1:
        return Settled.of([vote for vote in votes if vote.value is not None])
    ranked = sorted(counts.values(), key=len, reverse=True)
    if not ranked or (len(ranked) > 1 and len(ranked[0]) == len(ranked[1])):
        return Answer(votes[0].question, None)
    return ranked[0][0]


def open_pairs(known: Known, n: int, size: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Up to ``size`` pairs drawn at random from those whose answer is not known."""
    found: dict[tuple[str, tuple[int, ...]], tuple[int, int]] = {}
    for _ in range(TRIES * size if n > 1 else 0):
        i, j = (int(row) for row in rng.choice(n, 2, replace=False))
        question = Question("pair", (i, j))
        if known.open(question):
            found[question.key] = (i, j)
            if len(found) == size:
                return list(found.values())
    return _list_open_pairs(known, n, size, rng)


def _list_open_pairs(known: Known, n: int, size: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """The same when open pairs are rare: list all of them, one for each two components."""
    first: dict[int, int] = {}
    for row in range(n):
        first.setdefault(known.root(row), row)
    if len(first) > LISTED:
        return []  # so many components, and yet nearly every pair is known or was asked in vain
    pairs = [pair for pair in combinations(first.values(), 2) if known.open(Question("pair", pair))]
    return [pairs[i] for i in rng.permutation(len(pairs))[:size]]
