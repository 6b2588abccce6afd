"""Explore and Consolidate: one row of each class by farthest first, then more rows of each [Basu2004]_."""

from __future__ import annotations

from itertools import takewhile
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.active._placing import Neighborhoods, PlacingStrategy, first_row
from cluewise.active._reach import Reach, centers_of, reach_of, squared_to
from cluewise.active._strategy import Scene, StrategyCard

__all__ = ["ExploreConsolidate"]

TRIES = 100
"""Draws before the rows that are left are listed."""


class ExploreConsolidate(PlacingStrategy):
    r"""Find one row of each class by farthest first, then place one row after another beside them.

    Use it when questions are about pairs and the classes are not too unequal in size: after *Explore*
    every class has a neighborhood, and from then on each row costs few questions, because the likeliest neighborhood is
    tried first.

    Parameters
    ----------
    n_clusters : int, optional
        Number of classes: Explore ends when so many neighborhoods are found.
    order : {"random", "index", "smallest"}, default="random"
        The next row of Consolidate: drawn at random, the next in order, or the one nearest to the center of the
        smallest neighborhood.
    patience : float or None, default=1.0
        Explore pauses when ``patience`` × (number of neighborhoods) rows in succession joined a known neighborhood; it
        resumes when Consolidate finds a new class. None: it never pauses, as in the paper, so that without
        ``n_clusters`` there is no Consolidate.
    {questions "pair"}
    {infer_last}

    See Also
    --------
    ExploreMinMax : Always the farthest row.
    DenseSeeds : Far rows in dense regions, one label each.

    Notes
    -----
    Explore takes the row :math:`\arg\max_x \min_{z \in N} \lVert x - z \rVert`, N being all rows in neighborhoods.
    Where the smallest distance between classes exceeds the largest one inside, it needs at most k(k − 1)/2 pairs.
    Consolidate needs at most k − 1 for each row. In both, neighborhoods are tried in the order of the distance to their
    centers, and the row that founded them is shown.

    ============== ================================
    paper          here
    ============== ================================
    N_p            ``Neighborhoods.sets``
    K              ``n_clusters``
    Q              budget
    ============== ================================

    *Deviations.* A row is always compared with the founder of a neighborhood, where the survey takes a random member:
    people see a row that they know already, and a question depends on the answers alone. Rows that nobody could place
    count as asked: the next row is far from them, too. The number of classes may be unknown, and Explore does not spend
    the whole budget on classes of a few rows (``patience``): a new class that is as frequent among far rows as each of
    the k known ones is missed in k draws with probability (k/(k + 1))^k, 0.37 to 0.5. Consolidate can still find it.
    Distances to a component of the given clues are those to 64 of its members.

    References
    ----------
    .. [Basu2004] Basu, Banerjee & Mooney, "Active Semi-Supervision for Pairwise Constrained Clustering", SDM 2004,
       Algorithms 1 (Explore) and 2 (Consolidate).

    Examples
    --------
    >>> from cluewise.active import ExploreConsolidate, SimulatedOracle, interview
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]
    >>> state = interview(ExploreConsolidate(2), X, SimulatedOracle(y), budget=3, random_state=0)
    >>> [(answer.question.rows, answer.value) for answer in state.answers]
    [((3, 1), False), ((0, 1), True), ((2, 3), True)]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="Basu2004",
        title="far rows until each class has one, then any rows",
        asks=frozenset({"pair", "which", "label"}),
        sparse=True,
        cost="O(nd) in Explore, O(kd) in Consolidate",
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PlacingStrategy._parameter_constraints,
        "order": [StrOptions({"random", "index", "smallest"})],
        "patience": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        order: str = "random",
        patience: float | None = 1.0,
        questions: str = "pair",
        infer_last: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.order = order
        self.patience = patience
        self.questions = questions
        self.infer_last = infer_last

    def _pick(self, scene: Scene, hoods: Neighborhoods, taken: set[int], rng: np.random.Generator) -> int | None:
        reach = reach_of(scene, hoods, taken)
        if not reach.left.any():
            return None
        if not taken:
            return first_row(scene.state)
        if self._exploring(scene, hoods):
            return reach.farthest()
        if self.order == "index":
            return int(np.argmax(reach.left))
        if self.order == "random":
            return _draw(reach, rng)
        ahead = len(taken) - len(hoods.placed) - len(hoods.placing) - len(hoods.lost)
        return _nearest_to_smallest(scene, hoods, reach, ahead)

    def _exploring(self, scene: Scene, hoods: Neighborhoods) -> bool:
        """Whether there may be classes without a neighborhood, and patience to look for them."""
        if self.n_clusters is not None and len(hoods.sets) >= self.n_clusters:
            return False
        if self.patience is None or not hoods.sets:
            return True
        founders = {members[0] for members in hoods.sets}
        asked = {row for answer in scene.answers for row in answer.question.rows}
        since = sum(row in asked for row in takewhile(lambda row: row not in founders, reversed(hoods.placed)))
        return since < self.patience * len(hoods.sets)

    def _distances(self, scene: Scene, hoods: Neighborhoods, row: int) -> Floats:
        x = scene.rows.dense(np.array([row]))[0].astype(np.float64)
        return np.asarray(((centers_of(scene, hoods) - x) ** 2).sum(axis=1))

    def _reason(self, scene: Scene, hoods: Neighborhoods, row: int) -> tuple[str, float | None]:
        if self._exploring(scene, hoods):
            return "the row farthest from all that were asked about, perhaps of a new class.", None
        texts = {"random": "drawn at random", "index": "that comes next", "smallest": "nearest to a small neighborhood"}
        return f"the row {texts[self.order]}, to be placed beside the most likely others.", None


def _draw(reach: Reach, rng: np.random.Generator) -> int:
    """A row drawn at random from those that are left."""
    tries: Ints = rng.integers(len(reach.left), size=TRIES)
    found = tries[reach.left[tries]]
    return int(found[0] if len(found) else rng.choice(np.flatnonzero(reach.left)))


def _nearest_to_smallest(scene: Scene, hoods: Neighborhoods, reach: Reach, ahead: int) -> int:
    """The row nearest to the center of the smallest neighborhood; later rows of a batch go to the next smallest."""
    order = sorted(range(len(hoods.sets)), key=lambda t: len(hoods.sets[t]))
    t = order[ahead % len(order)]
    squared = np.concatenate([found[0] for _, found in squared_to(scene.rows, centers_of(scene, hoods)[t : t + 1])])
    return int(np.argmin(np.where(reach.left, squared, np.inf)))
