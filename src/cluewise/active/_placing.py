"""Neighborhoods: rows known to belong together, each set known apart from the others, and rows on the way into one."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from cluewise.active._dialog import INFERRED, Answer, Question
from cluewise.active._known import Known, resolved
from cluewise.active._state import State
from cluewise.active._strategy import Scene, Strategy
from cluewise.base import generator
from cluewise.clues import Clues

__all__ = ["Neighborhoods", "PlacingStrategy", "classes", "neighborhoods"]


class Neighborhoods:
    """What answers say, in the order in which it was said.

    ``sets`` are the neighborhoods, each with the row that founded it first; ``placed`` maps a row to its set. Rows of
    ``placing`` were asked about and have neighborhoods left to be compared with; those of ``lost`` were compared with
    all of them and belong nowhere, because somebody did not know.
    """

    def __init__(self, sets: list[list[int]]) -> None:
        self.sets = sets
        self.placed = {row: t for t, members in enumerate(sets) for row in members}
        self.placing: list[int] = []
        self.lost: list[int] = []


def neighborhoods(known: Known, given: Clues, answers: list[Answer], first: int | None) -> Neighborhoods:
    """Neighborhoods from clues and answers; ``first`` founds one where the clues found none."""
    founded = _founded(known, given)
    hoods = Neighborhoods(founded or ([] if first is None else [[first]]))
    rows = dict.fromkeys(row for answer in answers for row in reversed(answer.question.rows))
    waiting = [row for row in rows if row not in hoods.placed]
    moved = True
    while moved:  # a row may wait for a neighborhood that another row founds
        moved, rest = False, []
        for row in waiting:
            said = [known.same(row, members[0]) for members in hoods.sets]
            if None in said and True not in said:
                rest.append(row)
                continue
            t = said.index(True) if True in said else len(hoods.sets)
            if t == len(hoods.sets):
                hoods.sets.append([])
            hoods.sets[t].append(row)
            hoods.placed[row] = t
            moved = True
        waiting = rest
    for row in waiting:
        left = any(known.open(Question("pair", (row, members[0]))) for members in hoods.sets)
        (hoods.placing if left else hoods.lost).append(row)
    return hoods


def _founded(known: Known, given: Clues) -> list[list[int]]:
    """Components of the given clues that are all apart, the largest first."""
    tied = given.tied
    component = given.components[tied]
    found, start, counts = np.unique(component, return_index=True, return_counts=True)
    labelled = np.zeros(given.n_components, dtype=bool)
    labelled[given.components[given.labels >= 0]] = True
    # A single row founds a neighborhood only if it is labelled: others may have nothing but enemies.
    chosen = [c for c in np.argsort(-counts, kind="stable") if counts[c] > 1 or labelled[found[c]]]
    sets: list[list[int]] = []
    for c in chosen:
        row = int(tied[start[c]])
        if all(known.same(row, members[0]) is False for members in sets):
            sets.append([int(i) for i in tied[component == found[c]]])
    return sets


def classes(scene: Scene) -> Neighborhoods:
    """Neighborhoods where labels are asked for: the rows of each class; no row founds one without a label."""
    known, labels = scene.known, scene.state.given.labels
    sets: dict[Any, list[int]] = {}
    for code in np.unique(labels[labels >= 0]):
        rows = np.flatnonzero(labels == code).tolist()
        sets.setdefault(known.label(rows[0]), []).extend(rows)
    seen = dict.fromkeys(row for members in sets.values() for row in members)
    lost = []
    for answer in scene.answers:
        for row in answer.question.rows:
            label = known.label(row)
            if label is not None and row not in seen:
                sets.setdefault(label, []).append(row)
                seen[row] = None
            elif label is None and answer.question.kind == "label":
                lost.append(row)  # somebody did not know
    hoods = Neighborhoods(list(sets.values()))
    hoods.placed = {row: hoods.placed[row] for row in seen}  # in the order in which it was said
    hoods.lost = lost
    return hoods


class PlacingStrategy(Strategy):
    """Base of strategies that put one row after another into a neighborhood.

    A subclass picks rows and says in which order neighborhoods are tried; `questions` says how people are asked: "pair"
    compares the row with one neighborhood after another until somebody says yes, "which" shows a row of each, "label"
    asks for its class. With ``infer_last`` and ``n_clusters`` known, a row that belongs to none but the last of them
    belongs to the last without being asked.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    n_clusters: int | None
    questions: str
    infer_last: bool

    @abstractmethod
    def _pick(self, scene: Scene, hoods: Neighborhoods, taken: set[int], rng: np.random.Generator) -> int | None:
        """The row to be placed next, none of those ``taken``; None when no row is left."""

    @abstractmethod
    def _order(self, scene: Scene, hoods: Neighborhoods, row: int) -> list[int]:
        """The neighborhoods in the order in which the row is compared with them."""

    def _member(self, scene: Scene, hoods: Neighborhoods, t: int, row: int) -> int:
        """The member of a neighborhood that is shown."""
        return hoods.sets[t][0]

    def _first(self, scene: Scene) -> int:
        """The row that founds the first neighborhood where the clues found none."""
        return first_row(scene.state)

    def _founder(self, scene: Scene, hoods: Neighborhoods, taken: set[int], rng: np.random.Generator) -> int | None:
        """The row whose class is asked while none is known; None when no row is left."""
        first = self._first(scene)
        if first not in taken:
            return first
        left = np.setdiff1d(np.arange(scene.n), list(taken))
        return int(rng.choice(left)) if len(left) else None

    def _hoods(self, scene: Scene) -> Neighborhoods:
        if self.questions == "label":
            return classes(scene)
        return neighborhoods(scene.known, scene.state.given, scene.answers, self._first(scene))

    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        hoods = self._hoods(scene)
        questions: list[Question] = []
        taken = {*hoods.placed, *hoods.placing, *hoods.lost}
        for row in hoods.placing:
            questions += self._next(scene, hoods, row)
            if len(questions) == size:
                return questions
        founding = self.questions == "label" and not hoods.sets
        while len(questions) < size:
            picked = (self._founder if founding else self._pick)(scene, hoods, taken, rng)
            if picked is None:
                return questions
            taken.add(picked)
            questions += (self._opening if founding else self._next)(scene, hoods, picked)
        return questions

    def _next(self, scene: Scene, hoods: Neighborhoods, row: int) -> list[Question]:
        """The next question about a row; none if there is none."""
        if self.questions == "label":
            question = Question("label", (row,), self._why(scene, row))
            return [question] if scene.known.open(question) else []
        members = [self._member(scene, hoods, t, row) for t in self._order(scene, hoods, row)]
        pairs = [Question("pair", (row, member), self._why(scene, row)) for member in members]
        left = [pair for pair in pairs if scene.known.open(pair)]
        if self.questions == "which" and len(left) > 1:
            which = Question("which", (row, *(pair.rows[1] for pair in left)), self._why(scene, row))
            left = [which] if scene.known.open(which) else []
        return left[:1]

    def _opening(self, scene: Scene, hoods: Neighborhoods, row: int) -> list[Question]:
        """The question about a row while no class is known: there are no neighborhoods to reason with."""
        question = Question("label", (row,), "no class is known yet.")
        return [question] if scene.known.open(question) else []

    def _why(self, scene: Scene, row: int) -> str:
        return ""

    def _infer(self, state: State) -> list[Answer]:
        """A row apart from all but one of all neighborhoods belongs to that one (10.2 of the specification)."""
        said = state.answers[-1]
        if not self.infer_last or self.n_clusters is None or said.value is not False:
            return []
        known = Known(state.given)
        answers = resolved(state.answers)
        for answer in answers:
            known.learn(answer)
        # The founder is the row that was shown first, whichever `_first` chose: it comes first without being named.
        hoods = neighborhoods(known, state.given, answers, None)
        row = said.question.rows[0]
        if row in hoods.placed or len(hoods.sets) != self.n_clusters:
            return []
        left = [members[0] for members in hoods.sets if known.same(row, members[0]) is None]
        question = Question("pair", (row, left[0]), "all other neighborhoods are ruled out.")
        return [Answer(question, True, who=INFERRED)] if len(left) == 1 and known.open(question) else []


def first_row(state: State) -> int:
    """A row drawn at random, the same in every call."""
    return int(generator([state.seed, 2**31]).integers(state.n))
