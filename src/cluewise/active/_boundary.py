"""Active-Selecting-DBSCAN: core rows far from each other, each with the border rows close to it [Zhao2011]_."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.active._dialog import Question
from cluewise.active._placing import Neighborhoods, PlacingStrategy
from cluewise.active._state import State
from cluewise.active._strategy import Scene, StrategyCard
from cluewise.core.graphs.neighbors import nearest_rows

__all__ = ["BoundaryDBSCAN"]

SAMPLE = 20_000
"""Size of the sample that is used for more rows: finding core rows takes the neighbors of all rows."""


class Regions(NamedTuple):
    """Rows in dense regions, and the other rows."""

    core: Ints
    border: Ints
    eps: float


def regions(X: Floats, rows: Ints, eps: float | None, min_samples: int) -> Regions:
    """Core rows have ``min_samples`` rows within ``eps``, themselves included; None takes eps from the k-distances."""
    count = min(min_samples, len(rows))
    x = X if len(rows) == len(X) else X[rows]
    # If the last of the nearest rows that are needed is within eps, so are the others.
    away = np.sqrt(nearest_rows(x, count - 1).squared[:, -1]) if count > 1 else np.zeros(len(rows))
    radius = knee(away) if eps is None else eps
    return Regions(rows[away <= radius], rows[away > radius], radius)


def knee(distances: Floats) -> float:
    """The value at which the sorted distances turn upward: where they are farthest below their chord."""
    curve = np.sort(distances)
    chord = np.linspace(curve[0], curve[-1], len(curve))
    gap = chord - curve
    return float(curve[np.argmax(gap)] if gap.max() > 1e-12 * curve[-1] else curve[-1])


class BoundaryDBSCAN(PlacingStrategy):
    r"""Ask about core rows far from each other, and about border rows near each of them.

    Use it when clusters are dense regions of any shape and their number is unknown, above all before
    `ConstrainedDBSCAN`. Each step takes the core row farthest from those taken so far, compares it with one row of
    each known neighborhood, the nearest first, until somebody says yes, and asks whether two border rows beside it
    belong to it. Rows in sparse regions are never taken, so that outliers cost no questions.

    Parameters
    ----------
    eps : float or "auto", default="auto"
        Maximum distance of neighbors. "auto" is the knee of the sorted distances to the neighbor number
        ``min_samples - 1``.
    min_samples : int or "auto", default="auto"
        Number of rows in the neighborhood of a core row, including itself. "auto" is twice the number of columns, at
        most a tenth of the rows and at least 4.
    second : {"next", "farthest"}, default="next"
        The second border row of a core row: the second nearest, or the farthest within ``eps``.
    {questions "pair"}

    See Also
    --------
    ExploreConsolidate : Farthest rows of any kind.
    ConstrainedDBSCAN : The clusterer that this strategy was designed for.

    Notes
    -----
    .. math:: x^* = \arg\max_{x \in CS \setminus SCS} \min_{z \in SCS} \lVert x - z \rVert

    ===================== =======================================
    survey, Algorithm 19  code
    ===================== =======================================
    :math:`CS`            ``Regions.core``
    :math:`BS`            ``Regions.border``
    :math:`SCS`           core rows that were asked about
    :math:`x_1, x_2`      the two border rows
    ===================== =======================================

    *Deviations.* A core row is compared with one row of each neighborhood, not with all core rows taken before: the
    other answers follow. As printed, :math:`x_1 = x_2` (erratum E50); ``second`` offers both readings. The budget is
    checked before each question (E51). Given clues found neighborhoods from the start, and a core row of each is asked
    about its border. With more than 20,000 rows, only a sample of this size is used. Core rows equal to one that was
    taken are left out. When no core row is left, questions are drawn at random.

    References
    ----------
    .. [Zhao2011] W. Zhao, Q. He, H. Ma and Z. Shi, "Effective semi-supervised document clustering via active learning
       with instance-level constraints", Knowledge and Information Systems, 2011.

    Examples
    --------
    >>> from cluewise.active import BoundaryDBSCAN, SimulatedOracle, interview
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> oracle = SimulatedOracle([0, 0, 0, 1, 2, 2, 2, 1])
    >>> strategy = BoundaryDBSCAN(eps=1.3, min_samples=3)
    >>> state = interview(strategy, X, oracle, budget=5, clues=[0, *[-1] * 7], random_state=0)
    >>> [(*answer.question.rows, answer.value) for answer in state.answers]
    [(0, 2, True), (0, 1, True), (4, 0, False), (4, 6, True), (4, 5, True)]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="Zhao2011",
        title="core rows far apart, and their borders",
        asks=frozenset({"pair", "which", "label"}),
        cost="O(min(n, 20000) d) a question; once the nearest rows of so many rows",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PlacingStrategy._parameter_constraints,
        "eps": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "min_samples": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "second": [StrOptions({"next", "farthest"})],
    }

    def __init__(
        self,
        *,
        eps: float | str = "auto",
        min_samples: int | str = "auto",
        second: str = "next",
        questions: str = "pair",
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.second = second
        self.questions = questions

    def _prepare(self, X: Any, state: State) -> Regions:
        rows = np.arange(len(X))
        if len(X) > SAMPLE:
            rng = np.random.default_rng([state.seed, 1])
            rows = np.sort(rng.choice(len(X), SAMPLE, replace=False, shuffle=False))
        count = max(min(2 * X.shape[1], len(rows) // 10), 4) if self.min_samples == "auto" else int(self.min_samples)
        found = regions(X, rows, None if self.eps == "auto" else float(self.eps), count)
        if not len(found.core):
            warnings.warn(
                f"no row has {count} rows within eps={found.eps:g}; questions are drawn at random.",
                UserWarning,
                stacklevel=4,
            )
        return found

    def _first(self, scene: Scene) -> int:
        """A core row drawn at random, the same in every call."""
        core = scene.ready.core
        return int(core[np.random.default_rng([scene.state.seed, 2]).integers(len(core))])

    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        if not len(scene.ready.core):
            return []
        hoods = self._hoods(scene)
        core = set(scene.ready.core.tolist())
        founders = [row for members in hoods.sets for row in [*filter(core.__contains__, members)][:1]]
        asked = [answer.question.rows[0] for answer in scene.answers]
        taken = dict.fromkeys(row for row in [*founders, *asked] if row in core)
        questions: dict[Any, Question] = {}
        for row in taken:
            questions.update({question.key: question for question in self._about(scene, hoods, row)})
        placed = core & hoods.asked
        while len(questions) < size:
            picked = self._pick(scene, hoods, {*taken, *placed}, rng)
            if picked is None:
                break
            taken[picked] = None
            questions.update({question.key: question for question in self._about(scene, hoods, picked)})
        return list(questions.values())[:size]

    def _about(self, scene: Scene, hoods: Neighborhoods, row: int) -> list[Question]:
        """The open questions about a core row: its neighborhood, then its border."""
        place = [] if row in hoods.placed else self._next(scene, hoods, row)
        why = f"a row on the border beside the dense row {row}."
        kind = "label" if self.questions == "label" else "pair"
        border = [Question(kind, (row, z) if kind == "pair" else (z,), why) for z in self._beside(scene, row)]
        return place + [question for question in border if scene.known.open(question)]

    def _pick(self, scene: Scene, hoods: Neighborhoods, taken: set[int], rng: np.random.Generator) -> int | None:
        """The core row farthest from those taken; the first is drawn at random."""
        core = scene.ready.core
        if not taken:
            return self._first(scene)
        near, counted = scene.memo.get("near", (np.full(len(core), np.inf), set()))
        if not counted <= taken:  # answers were taken back
            near, counted = np.full(len(core), np.inf), set()
        for row in sorted(taken - counted):
            near = np.minimum(near, _squared(scene.X, core, row))
        scene.memo["near"] = near, set(taken)
        best = int(np.argmax(near))
        return int(core[best]) if near[best] > 0 else None

    def _distances(self, scene: Scene, hoods: Neighborhoods, row: int) -> Floats:
        return _squared(scene.X, np.array([members[0] for members in hoods.sets]), row)

    def _beside(self, scene: Scene, row: int) -> list[int]:
        """The two border rows of a core row."""
        kept = scene.memo.setdefault("beside", {})
        if row not in kept:
            border: Ints = scene.ready.border
            away = _squared(scene.X, border, row)
            order = np.argsort(away, kind="stable")
            if self.second == "farthest":
                inside = order[away[order] <= scene.ready.eps**2]
                order = np.concatenate([order[:1], inside[1:][-1:]])
            kept[row] = [int(z) for z in border[order[:2]]]
        return list(kept[row])

    def _reason(self, scene: Scene, hoods: Neighborhoods, row: int) -> tuple[str, float | None]:
        return "the dense row farthest from those asked about.", None


def _squared(X: Floats, rows: Ints, row: int) -> Floats:
    """Squared distances of some rows to one, from differences: expanded squares would lose digits."""
    gap = X[rows].astype(np.float64) - X[row]
    return np.einsum("ij,ij->i", gap, gap)
