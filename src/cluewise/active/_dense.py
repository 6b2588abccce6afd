"""Seeds in dense regions, far from each other [Vu2010]_."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cluewise._sklearn import Interval
from cluewise._typing import Bools, Floats, Ints
from cluewise.active._placing import Neighborhoods, PlacingStrategy
from cluewise.active._reach import reach_of, to_members
from cluewise.active._state import State
from cluewise.active._strategy import Scene, StrategyCard
from cluewise.core.graphs.neighbors import nearest_rows

__all__ = ["DenseSeeds", "local_density"]

BLOCK = 2**22
"""Maximum number of neighbors compared at a time."""


def local_density(neighbors: Ints) -> Floats:
    """The mean number of neighbors that a row shares with one of its neighbors (Eq. 71)."""
    n, k = neighbors.shape
    score = np.zeros(n)
    size = max(BLOCK // max(k**3, 1), 1)
    for start in range(0, n if k else 0, size):
        own = neighbors[start : start + size]
        theirs = neighbors[own].reshape(len(own), -1, 1)
        score[start : start + size] = (theirs == own[:, None, :]).sum(axis=(1, 2)) / k
    return score


class Ready(NamedTuple):
    """What is prepared from X."""

    dense: Bools  # (n,) which rows are dense
    first: int  # the densest row


class DenseSeeds(PlacingStrategy):
    r"""Ask about rows in dense regions that are far from each other: good seeds, soon one for each class.

    Use it to get labels for methods that start from seeds (`SeededKMeans`, `ConstrainedKMeans`), or for data with
    outliers, most of which it ignores, while `ExploreMinMax` asks about them first. It asks for labels by default.
    Classes without a dense region are found late.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors in the local density.
    threshold : float, optional
        Least local density of a dense row; the median by default, and if no row reaches the threshold.
    {questions "label"}
    sample_size : int or None, default=30000
        Maximum number of rows, drawn at random, that are compared and may be dense; None: all rows.

    See Also
    --------
    ExploreMinMax : Far rows, dense or not.

    Notes
    -----
    The local density of a row is

    .. math:: \mathrm{LDS}(x) = \frac1k \sum_{q \in NN_k(x)} \lvert NN_k(x) \cap NN_k(q) \rvert
       \qquad \text{(Eq. 71 of the survey)}

    between 0 and k − 1. It does not depend on the scale: a row in a wide group can be dense, and a row between two
    groups is not. The densest row is asked about first, then always the dense row farthest from all that were asked
    about; when no dense row is left, the other rows follow in the same order.

    ============== =========================================
    paper          here
    ============== =========================================
    k              ``n_neighbors``
    θ              ``threshold``
    ============== =========================================

    *Deviations.* The paper stops when all classes were seen; here the same order continues until the budget is spent.
    With many rows, density is measured in a sample, where neighbors are farther away by about the same factor
    everywhere.

    References
    ----------
    .. [Vu2010] Vu, Labroche & Bouchon-Meunier, "Active Learning for Semi-Supervised K-Means Clustering", ICTAI 2010.

    Examples
    --------
    >>> from cluewise.active import DenseSeeds, SimulatedOracle, interview
    >>> X = [[0.0], [0.9], [2.0], [3.2], [8.0], [9.1], [10.0], [11.2], [30.0], [50.0], [90.0]]
    >>> state = interview(DenseSeeds(4), X, SimulatedOracle(list("aaaabbbbccc")), budget=2, random_state=0)
    >>> [(answer.question.rows[0], answer.value) for answer in state.answers]
    [(0, 'a'), (7, 'b')]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="Vu2010",
        title="labels of rows in dense regions, far from each other",
        asks=frozenset({"label", "pair", "which"}),
        cost="O(nd), once the neighbors of up to 30,000 rows are found",
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PlacingStrategy._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0, None, closed="left"), None],
        "sample_size": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        threshold: float | None = None,
        questions: str = "label",
        sample_size: int | None = 30_000,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.questions = questions
        self.sample_size = sample_size

    def _prepare(self, X: Any, state: State) -> Ready:
        n, most, threshold = state.n, self.sample_size, self.threshold
        some = np.arange(n)
        if most is not None and n > most:
            some = np.sort(np.random.default_rng([state.seed, 1]).choice(n, most, replace=False))
        density = local_density(nearest_rows(X if len(some) == n else X[some], self.n_neighbors).rows)
        if threshold is None or not (density >= threshold).any():
            threshold = float(np.median(density))
        dense = np.zeros(n, dtype=bool)
        dense[some[density >= threshold]] = True
        return Ready(dense, int(some[np.argmax(density)]))

    def _first(self, scene: Scene) -> int:
        first: int = scene.ready.first
        return first

    def _pick(self, scene: Scene, hoods: Neighborhoods, taken: set[int], rng: np.random.Generator) -> int | None:
        reach = reach_of(scene, hoods, taken)
        if reach.left.any() and not taken:
            return self._first(scene)
        dense = reach.farthest(scene.ready.dense)
        return reach.farthest() if dense is None else dense

    def _distances(self, scene: Scene, hoods: Neighborhoods, row: int) -> Floats:
        return to_members(scene, hoods, row)

    def _reason(self, scene: Scene, hoods: Neighborhoods, row: int) -> tuple[str, float | None]:
        dense = "in a dense region, " if scene.ready.dense[row] else ""
        return f"a row {dense}far from all that were asked about.", None
