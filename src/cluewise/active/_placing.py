"""Neighborhoods (rows known to belong together, each set known apart from the others), and how rows get into one."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats
from cluewise.active._dialog import Answer, Question
from cluewise.active._known import Known, resolve
from cluewise.active._state import State
from cluewise.active._strategy import Scene, Strategy
from cluewise.base import generator
from cluewise.clues import Clues

__all__ = ["Neighborhoods", "PlacingStrategy", "first_row", "neighborhoods"]


class Neighborhoods:
    """What the answers say about neighborhoods, in the order in which it was said.

    ``sets`` are the neighborhoods, each with its founder first; ``placed`` maps a row to the number of its set. Rows in
    ``placing`` were asked about and can still be compared with some neighborhoods. Rows in ``lost`` were compared with
    all of them and belong to none, because somebody did not know.
    """

    def __init__(self, sets: list[list[int]]) -> None:
        self.sets = sets
        self.placed = {row: t for t, members in enumerate(sets) for row in members}
        self.placing: list[int] = []
        self.lost: list[int] = []

    @property
    def asked(self) -> set[int]:
        """All rows that have a place or were asked about."""
        return {*self.placed, *self.placing, *self.lost}


def neighborhoods(known: Known, given: Clues, answers: list[Answer], first: int | None) -> Neighborhoods:
    """Neighborhoods from clues and answers; the row ``first`` founds one if the clues found none."""
    hoods = Neighborhoods(_founded_by(given, known) or ([] if first is None else [[first]]))
    rows = dict.fromkeys(row for answer in answers for row in reversed(answer.question.rows))
    waiting = [row for row in rows if row not in hoods.placed]
    moved = True
    while moved:  # a row may have to wait for a neighborhood that a later row founds
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


def _founded_by(given: Clues, known: Known) -> list[list[int]]:
    """Components of the given clues that are known apart from each other, the largest first."""
    tied = given.tied
    component = given.components[tied]
    found, start, counts = np.unique(component, return_index=True, return_counts=True)
    labelled = np.zeros(given.n_components, dtype=bool)
    labelled[given.components[given.labels >= 0]] = True
    # A single row founds a neighborhood only if it has a label: others may have nothing but cannot-links.
    chosen = [c for c in np.argsort(-counts, kind="stable") if counts[c] > 1 or labelled[found[c]]]
    sets: list[list[int]] = []
    for c in chosen:
        row = int(tied[start[c]])
        if all(known.same(row, members[0]) is False for members in sets):
            sets.append([int(i) for i in tied[component == found[c]]])
    return sets


def _classes(scene: Scene) -> Neighborhoods:
    """Neighborhoods where people are asked for labels: the rows of each class."""
    known, labels = scene.known, scene.firm.labels
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
    hoods.placed = {row: hoods.placed[row] for row in seen}  # in the order in which they were named
    hoods.lost = lost
    return hoods


class PlacingStrategy(Strategy):
    """Base of strategies that put one row after another into a neighborhood.

    A subclass picks the rows and says how far each neighborhood is from a row. ``questions`` says what people are
    asked: "pair" compares the row with one neighborhood after another until somebody says yes, "which" shows one row
    of each, "label" asks for its class. With ``infer_last`` and ``n_clusters``, a row that is apart from all
    neighborhoods but one joins that one without a question.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "questions": [StrOptions({"pair", "which", "label"})],
        "infer_last": ["boolean"],
    }

    # For strategies without these two parameters: nothing follows where the number of classes is unknown.
    n_clusters: int | None = None
    infer_last: bool = False
    questions: str

    @abstractmethod
    def _pick(self, scene: Scene, hoods: Neighborhoods, taken: set[int], rng: np.random.Generator) -> int | None:
        """The next row to place, none of those ``taken``; None when no row is left."""

    @abstractmethod
    def _distances(self, scene: Scene, hoods: Neighborhoods, row: int) -> Floats:
        """How far each neighborhood is from a row, on any scale; the nearest is tried first."""

    @abstractmethod
    def _reason(self, scene: Scene, hoods: Neighborhoods, row: int) -> tuple[str, float | None]:
        """Why a row is asked about, and the score of the question."""

    def _first(self, scene: Scene) -> int:
        """The founder of the first neighborhood where the clues found none."""
        return first_row(scene.state)

    def _hoods(self, scene: Scene) -> Neighborhoods:
        if self.questions == "label":
            return _classes(scene)
        return neighborhoods(scene.known, scene.firm, scene.answers, self._first(scene))

    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        hoods = self._hoods(scene)
        questions: list[Question] = []
        for row in hoods.placing:
            questions += self._next(scene, hoods, row)
            if len(questions) == size:
                return questions
        taken = hoods.asked
        while len(questions) < size:
            picked = self._pick(scene, hoods, taken, rng)
            if picked is None:
                return questions
            taken.add(picked)
            questions += self._next(scene, hoods, picked)
        return questions

    def _next(self, scene: Scene, hoods: Neighborhoods, row: int) -> list[Question]:
        """The next question about a row, or none."""
        why, score = self._reason(scene, hoods, row)
        if self.questions == "label":
            asked = [Question("label", (row,), why, score)]
            return list(filter(scene.known.open, asked))
        founders = [hoods.sets[t][0] for t in np.argsort(self._distances(scene, hoods, row), kind="stable")]
        asked = [Question("pair", (row, founder), why, score) for founder in founders]
        asked = list(filter(scene.known.open, asked))
        if self.questions == "which" and len(asked) > 1:
            which = Question("which", (row, *(pair.rows[1] for pair in asked)), why, score)
            return list(filter(scene.known.open, [which]))
        return asked[:1]

    def _infer(self, state: State) -> list[Answer]:
        """A row apart from all but one of all neighborhoods belongs to that one (10.2 of the specification)."""
        last = state.answers[-1]
        if not self.infer_last or self.n_clusters is None or last.value is not False:
            return []
        answers = resolve(state.answers)
        known = Known(state.firm, answers)
        # No founder is named, because `tell` has no X to find it by: it was in the first question, so it comes first.
        hoods = neighborhoods(known, state.firm, answers, None)
        row = last.question.rows[0]
        if row in hoods.placed or len(hoods.sets) != self.n_clusters:
            return []
        left = [members[0] for members in hoods.sets if known.same(row, members[0]) is None]
        question = Question("pair", (row, left[0]), "all other neighborhoods are ruled out.")
        return [Answer(question, True, who=Answer.INFERRED)] if len(left) == 1 and known.open(question) else []


def first_row(state: State) -> int:
    """A row drawn at random, the same in every call."""
    return int(generator([state.seed, 2**31]).integers(state.n))
