"""Explore and MinMax: always the row that is least similar to those asked about [Mallapragada2008]_."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from cluewise._typing import Floats
from cluewise.active._placing import Neighborhoods, PlacingStrategy, first_row
from cluewise.active._reach import reach_of, to_members
from cluewise.active._state import State
from cluewise.active._strategy import Scene, StrategyCard
from cluewise.core.rows import rows_of

__all__ = ["ExploreMinMax"]

SAMPLE = 1000
"""Maximum number of rows whose distances give the width."""

SHARE = 20
"""Percentile of the distances that is the width."""


class ExploreMinMax(PlacingStrategy):
    r"""Place one row after another, always the one least similar to all rows asked about before.

    Use it when few questions have to cover all of the data: rows are spread out evenly, and small classes at the edge
    are found early. It asks about outliers first; for noisy data, take `DenseSeeds`.

    Parameters
    ----------
    n_clusters : int, optional
        Number of classes, for ``infer_last``.
    {questions "pair"}
    {infer_last}

    See Also
    --------
    ExploreConsolidate : Far rows first, then any rows.

    Notes
    -----
    The next row is

    .. math:: x^* = \arg\min_{x \notin S} \max_{z \in S} \exp\left(-\lVert x - z \rVert^2 / 2\sigma^2\right)
       \qquad \text{(Eq. 69, 70)}

    and one minus its inner maximum is the ``score`` of the question: how uncertain the place of the row is. The scores
    of successive rows never rise. σ is the 20th percentile of all distances, or of those between 1000 rows drawn at
    random. Similarity falls with distance, so x* is the row farthest from S for any σ, as in Explore; there is no
    second phase.

    ============== =========================================
    paper          here
    ============== =========================================
    S (skeleton)   rows that were asked about
    sim            Gaussian of width σ
    ============== =========================================

    *Deviations.* The paper asks one question, about x* and the nearest row of S; after a "no" the place of x* remains
    unknown. Here neighborhoods are tried in the order of their most similar member until somebody says yes (erratum E44
    of the specification). Rows that nobody could place count as asked.

    References
    ----------
    .. [Mallapragada2008] Mallapragada, Jin & Jain, "Active Query Selection for Semi-supervised Clustering", ICPR 2008.

    Examples
    --------
    >>> from cluewise.active import ExploreMinMax, SimulatedOracle, interview
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]
    >>> state = interview(ExploreMinMax(2), X, SimulatedOracle(y), budget=3, random_state=0)
    >>> [(answer.question.rows, answer.value) for answer in state.answers]
    [((3, 1), False), ((0, 1), True), ((2, 3), True)]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="Mallapragada2008",
        title="always the row farthest from all that were asked about",
        asks=frozenset({"pair", "which", "label"}),
        sparse=True,
        cost="O(nd)",
    )

    def __init__(self, n_clusters: int | None = None, *, questions: str = "pair", infer_last: bool = True) -> None:
        self.n_clusters = n_clusters
        self.questions = questions
        self.infer_last = infer_last

    def _prepare(self, X: Any, state: State) -> float:
        """The width σ of the Gaussian."""
        n = state.n
        some = np.arange(n)
        if n > SAMPLE:
            some = np.sort(np.random.default_rng([state.seed, SAMPLE]).choice(n, SAMPLE, replace=False))
        distances = euclidean_distances(rows_of(X).take(some))[np.triu_indices(len(some), 1)]
        return float(np.percentile(distances, SHARE)) if len(distances) else 0.0

    def _pick(self, scene: Scene, hoods: Neighborhoods, taken: set[int], rng: np.random.Generator) -> int | None:
        reach = reach_of(scene, hoods, taken)
        if not reach.left.any():
            return None
        row = reach.farthest() if taken else first_row(scene.state)
        scene.memo["picked"] = row, float(reach.closest()[row])
        return row

    def _distances(self, scene: Scene, hoods: Neighborhoods, row: int) -> Floats:
        return to_members(scene, hoods, row)

    def _reason(self, scene: Scene, hoods: Neighborhoods, row: int) -> tuple[str, float | None]:
        why = "the row that is least like all that were asked about."
        return why, 1 - _similarity(self._away(scene, hoods, row), scene.ready)

    def _away(self, scene: Scene, hoods: Neighborhoods, row: int) -> float:
        """Squared distance of a row to all others that were asked about, or come before it in the same batch."""
        if row not in hoods.placing:
            return float(scene.memo["picked"][1])  # `_pick` has just left it there
        asked = np.array(sorted(hoods.asked - {row}), dtype=np.int64)
        rows = scene.rows
        table = rows.table(rows.dense(np.array([row])).astype(np.float64))
        return float(rows.squared(rows.take(asked), table).min()) if len(asked) else np.inf


def _similarity(squared: float, width: float) -> float:
    """Gaussian of a distance; without a width (most rows are equal), only equal rows are similar."""
    if not width > 0:
        return float(squared == 0)
    return float(np.exp(-0.5 * squared / width**2))
