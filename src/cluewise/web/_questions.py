"""Questions that wait for people: chosen ahead, each handed to one person, so that answering never waits."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from time import monotonic
from typing import Any, TypeAlias

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.active import Project, Question, State
from cluewise.web._fits import Fit

__all__ = ["Questions", "doubtful_pairs"]

AHEAD = 6
"""Questions that wait beyond those that people have."""

MOST = 64
"""Questions that a strategy is asked for at once."""

GONE = 600.0
"""Seconds after which the questions of somebody who does not answer go to others."""

SPARE = 200
"""Doubtful rows that questions are about when the strategy has none."""

_Key: TypeAlias = tuple[str, tuple[int, ...]]


class Questions:
    """Hands out questions; any thread may use it.

    Parameters
    ----------
    project : Project
        Its strategy chooses.
    X : ndarray of shape (n, d)
        The encoded rows.
    handed : mapping of str to list of dict
        Questions that people have not answered yet, from an earlier session.
    """

    def __init__(self, project: Project, X: Floats, handed: Mapping[str, list[dict[str, Any]]]) -> None:
        self._project, self._X = project, X
        self._lock, self._asking = threading.Lock(), threading.Lock()  # of the questions; of the strategy
        self._answered: dict[_Key, set[str]] = {}
        self._asked: dict[_Key, Question] = {}
        for answer in project.state.answers:
            self._note(answer.question, answer.who)
        read = {who: [Question.from_json(one) for one in some] for who, some in handed.items()}
        if any(max(question.rows) >= len(X) for some in read.values() for question in some):
            raise IndexError("there is no such row")
        self._handed = {
            who: {question.key: question for question in some if who not in self._answered.get(question.key, ())}
            for who, some in read.items()
        }
        self._seen = dict.fromkeys(self._handed, monotonic())
        self._shares: dict[str, list[int]] = {}  # how many questions each person got, and how many of them shared
        self._ready: list[Question] = []
        self._spare: list[Question] = []
        self._rng = np.random.default_rng(project.state.seed)
        # Who wants to be asked for labels, or to sort, is not asked about pairs before the strategy has spoken.
        self._waits = getattr(project.strategy, "questions", "pair") != "pair"
        self.exhausted = False
        self.overlap = 0.0

    def hand(self, who: str, count: int) -> list[tuple[Question, bool]]:
        """The questions of a person, filled up to so many, each with whether somebody was asked before."""
        with self._lock:
            self._seen[who] = monotonic()
            mine = self._handed.setdefault(who, {})
            while len(mine) < count:
                question = self._choose(who, mine)
                if question is None:
                    break
                mine[question.key] = question
            return [(question, key in self._answered) for key, question in list(mine.items())[:count]]

    def correct(self, state: State, labels: Ints, n_clusters: int) -> Ints | None:
        """Better clusters of the strategy, or None; waits while it chooses questions."""
        with self._asking:
            return self._project.correct(state, labels, n_clusters)

    def hear(self, question: Question, who: str) -> None:
        """Somebody has answered."""
        with self._lock:
            self._note(question, who)
            for mine in self._handed.values() if self.overlap == 0 else (self._handed.get(who, {}),):
                mine.pop(question.key, None)
            self._ready = [one for one in self._ready if one.key != question.key]

    def forget(self, who: str) -> None:
        """Nothing is known any more of what a person was asked."""
        with self._lock:
            self._handed.pop(who, None)
            for people in self._answered.values():
                people.discard(who)
            self._answered = {key: people for key, people in self._answered.items() if people}

    def refill(self) -> bool:
        """Let the strategy choose by all answers so far; return whether there are more questions than before."""
        state = self._project.state
        with self._lock:
            out = sum(len(mine) for mine in self._handed.values())
        try:
            with self._asking:
                found = self._project.strategy.ask(state, self._X, size=min(out + AHEAD, MOST))
        finally:
            self._waits = False
        answered = {answer.question.key for answer in state.answers}
        with self._lock:
            # Somebody may have answered since; a question that the strategy repeats was answered in the state, too.
            late = self._answered.keys() - answered
            before = len(self._ready)
            self._ready = [one for one in found if one.key not in late and not self._is_out(one.key)]
            self.exhausted = not found
            return len(self._ready) > before

    def set_spare(self, spare: list[Question]) -> None:
        """Questions for when the strategy has none, the best first."""
        with self._lock:
            self._spare = spare

    def to_json(self) -> dict[str, list[dict[str, Any]]]:
        """Who has which questions."""
        with self._lock:
            return {who: [one.to_json() for one in mine.values()] for who, mine in self._handed.items() if mine}

    @property
    def few(self) -> bool:
        """Whether hardly any question waits."""
        return len(self._ready) < AHEAD // 2

    def _note(self, question: Question, who: str) -> None:
        self._answered.setdefault(question.key, set()).add(who)
        self._asked[question.key] = question

    def _choose(self, who: str, mine: Mapping[_Key, Question]) -> Question | None:
        got = self._shares.setdefault(who, [0, 0])
        got[0] += 1
        if got[1] + 1 <= self.overlap * got[0]:
            for key in reversed(self._answered):
                people = self._answered[key]
                if key not in mine and who not in people and people - {""}:
                    got[1] += 1
                    old = self._asked[key]
                    return Question(old.kind, old.rows, "somebody else was asked, too, to see whether you agree.")
        while self._ready:
            question = self._ready.pop(0)
            if not self._is_out(question.key) and question.key not in mine:
                return question
        while self._spare:
            question = self._spare.pop(0)
            if question.key not in self._answered and not self._is_out(question.key):
                return question
        if self._waits:
            return None
        for _ in range(50):
            a, b = sorted(self._rng.choice(len(self._X), 2, replace=False).tolist()) if len(self._X) > 1 else (0, 0)
            question = Question("pair", (a, b), "a pair drawn at random, because nothing better is known yet.")
            if question.key not in self._answered and not self._is_out(question.key):
                return question
        return None

    def _is_out(self, key: _Key) -> bool:
        now = monotonic()
        return any(key in mine and now - self._seen.get(who, 0) < GONE for who, mine in self._handed.items())


def doubtful_pairs(fit: Fit, X: Floats, anchors: Mapping[int, list[int]]) -> list[Question]:
    """The least sure rows, each with the medoid of the nearest cluster that it is not in."""
    if len(fit.ids) < 2:
        return []
    count = min(SPARE, len(X))
    rows = np.argpartition(fit.margins, count - 1)[:count]
    rows = rows[np.argsort(fit.margins[rows], kind="stable")]
    medoids = np.array([anchors[one][0] for one in fit.ids])
    away = ((X[rows][:, None, :] - X[medoids][None]) ** 2).sum(axis=2)
    away[fit.labels[rows][:, None] == np.array(fit.ids)[None]] = np.inf
    other = medoids[away.argmin(axis=1)]
    component = fit.clues.components
    why = "its cluster is least sure; the other row is the center of the cluster next to it."
    return [
        Question("pair", (int(a), int(b)), why) for a, b in zip(rows, other) if a != b and component[a] != component[b]
    ]
