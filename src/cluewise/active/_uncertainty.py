"""Neighborhood-based uncertainty: ask about the row with the most uncertainty per question [Xiong2014]_."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import ExtraTreeClassifier

from cluewise._sklearn import Interval
from cluewise._typing import Array, Floats, Ints
from cluewise.active._placing import Neighborhoods, PlacingStrategy
from cluewise.active._reach import reach_of
from cluewise.active._state import State
from cluewise.active._strategy import Scene, StrategyCard
from cluewise.centroid import PCKMeans
from cluewise.clues import Clues
from cluewise.core.partitions.base_clusterer import clone_with

__all__ = ["NeighborhoodUncertainty"]

SAMPLE, PER_TREE = 2000, 500
"""Maximum number of rows that the forest learns from, and that one tree does."""

SLACK = 1e-9
"""Scores with a smaller relative difference are ties, broken at random."""


class _Forest:
    """The leaves of a forest: M(x, y) is the share of the trees in which x and y fall into the same leaf.

    It depends on the seed and on the partition of the rows that it learns from, not on the numbers of clusters.
    """

    def __init__(self, X: Floats, rows: Ints, labels: Ints, n_trees: int, seed: int) -> None:
        self.labels = labels
        rng = np.random.default_rng(seed)
        trees = []
        with config_context(skip_parameter_validation=True, assume_finite=True):  # half of the time of a small fit
            for _ in range(n_trees):
                drawn = rng.integers(len(rows), size=min(len(rows), PER_TREE))
                tree = ExtraTreeClassifier(max_features="sqrt", random_state=int(rng.integers(2**31)))
                trees.append(tree.fit(X[rows[drawn]], labels[drawn], check_input=False).tree_)
        first = np.cumsum([0, *(tree.node_count for tree in trees)])  # the leaves of all trees have different numbers
        self.leaves = np.stack([tree.apply(X) + start for tree, start in zip(trees, first)])  # (trees, n)
        self.count = int(first[-1])

    def shares(self, sets: list[list[int]]) -> Floats:
        """(sets, n): the mean similarity of each row to the rows of each set, by counts of leaves."""
        found = [np.bincount(self.leaves[:, rows].ravel(), minlength=self.count) / len(rows) for rows in sets]
        counts = np.stack(found, axis=1)
        total = np.zeros((self.leaves.shape[1], len(sets)))
        for leaf in self.leaves:
            total += counts[leaf]
        return total.T / len(self.leaves)

    def to(self, rows: list[int]) -> Floats:
        """Largest similarity of each row to one of some rows."""
        return np.max([(self.leaves == self.leaves[:, row, None]).mean(axis=0) for row in rows], axis=0)


class _Ready:
    """What is prepared from X: the columns that trees compare, the rows that the forest learns from, and a seed."""

    def __init__(self, X: Floats, seed: int) -> None:
        self.narrow = _narrow(X)
        rng = np.random.default_rng([seed, 2**31])
        self.seed = int(rng.integers(2**31))
        n = len(X)
        self.sample = np.sort(rng.choice(n, SAMPLE, replace=False)) if n > SAMPLE else np.arange(n)


class _Fit:
    """What a clustering with some neighborhoods says about all rows."""

    def __init__(self, sets: list[list[int]], forest: _Forest, whole: bool) -> None:
        self.sets = [members.copy() for members in sets]
        self.forest = forest
        shares = forest.shares(sets)
        self.p = membership(shares)
        entropy, questions = uncertainty(self.p)
        self.score = 1 - shares[0] if len(sets) == 1 else entropy if whole else entropy / questions


class NeighborhoodUncertainty(PlacingStrategy):
    r"""Ask about the row whose neighborhood is least certain, relative to the questions that it takes to find it.

    When a row is placed, the data are clustered with all clues, and a random forest fitted to the clusters says how
    similar rows are: it uses the columns that separate clusters, so that answers change what is similar. Use it when
    clues change the clustering much, and a fraction of a second per question does not matter.

    Parameters
    ----------
    n_clusters : int, optional
        Number of classes. By default as many clusters as there are neighborhoods, at least 2.
    estimator : clusterer, optional
        Clusters the data: anything whose ``fit`` takes ``clues``. By default ``PCKMeans(penalty="auto", n_init=1)``.
        The number of clusters and a seed are set in a copy.
    n_trees : int, default=25
        Number of trees.
    {questions "pair"}
    {infer_last}

    See Also
    --------
    Committee : Rows on which many clusterings disagree.
    ExploreConsolidate : Looks for rows of every class first.

    Notes
    -----
    With M(x, y) the share of the trees where x and y fall into the same leaf, and neighborhoods :math:`N_1 … N_l`,

    .. math:: p(x \in N_i) \propto \frac{1}{|N_i|} \sum_{y \in N_i} M(x, y), \qquad
        \max_x \frac{H(x)}{E(x)}, \quad H(x) = -\sum_i p_i \log p_i, \quad E(x) = \sum_r r \, p_{(r)}

    with :math:`p_{(1)} \ge p_{(2)} \ge …`: E is the number of questions that it takes to place x, asked in this order;
    with "which" and "label" it is 1.

    ============================ ===========================================
    paper                        code
    ============================ ===========================================
    :math:`M(x, y)`              ``_Forest``
    :math:`p(x \in N_i)`         ``membership``
    :math:`H, E`                 ``uncertainty``
    ============================ ===========================================

    *Deviations.* The clustering uses neighborhoods (as labels) and the given links, not the "no" about a row that is
    not placed yet: so it is repeated only when a row is placed, and the order of the questions about one row does not
    change in between. A row that is similar to no neighborhood is equally likely in all of them. With a single
    neighborhood all rows are equally uncertain, and the one least similar to it is asked about. Ties are broken at
    random; in a batch, the score falls with the similarity to rows picked before. The trees draw thresholds as well as
    columns (extremely randomized trees), which takes a third of the time; each learns from at most 500 rows, drawn with
    replacement from at most 2000.

    References
    ----------
    .. [Xiong2014] S. Xiong, J. Azimi and X. Z. Fern, "Active learning of constraints for semi-supervised clustering",
       IEEE Transactions on Knowledge and Data Engineering 26 (1), 2014.

    Examples
    --------
    >>> from cluewise.active import NeighborhoodUncertainty, SimulatedOracle, interview
    >>> X, y = [[0.0], [1.0], [2.0], [4.6], [7.0], [8.0], [9.0]], [0, 0, 0, 0, 1, 1, 1]
    >>> state = interview(NeighborhoodUncertainty(2), X, SimulatedOracle(y), budget=3, random_state=0)
    >>> state.asked
    3
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="Xiong2014",
        title="rows of uncertain neighborhood, per question to place them",
        asks=frozenset({"pair", "which", "label"}),
        cost="a clustering and O(n trees (log n + l)) after each row that is placed",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PlacingStrategy._parameter_constraints,
        "estimator": [None, object],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        estimator: Any = None,
        n_trees: int = 25,
        questions: str = "pair",
        infer_last: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.n_trees = n_trees
        self.questions = questions
        self.infer_last = infer_last

    def _prepare(self, X: Any, state: State) -> _Ready:
        return _Ready(X, state.seed)

    def _fit(self, scene: Scene, hoods: Neighborhoods) -> _Fit:
        """A clustering with the neighborhoods, its forest, and p; computed again only when the neighborhoods change."""
        kept: _Fit | None = scene.memo.get("fit")
        if kept is not None and kept.sets == hoods.sets:
            return kept
        ready: _Ready = scene.ready
        base = PCKMeans(penalty="auto", n_init=1) if self.estimator is None else self.estimator
        k = max(self.n_clusters or 2, len(hoods.sets))
        model = clone_with(base, min(k, scene.n), ready.seed)
        with catch_warnings():  # people who answer questions can do nothing about an empty cluster
            simplefilter("ignore", ConvergenceWarning)
            model.fit(scene.X, clues=_clues(scene, hoods))
        labels = _renumber(np.asarray(model.labels_)[ready.sample])
        forest = None if kept is None else kept.forest
        if forest is None or not np.array_equal(forest.labels, labels):
            forest = _Forest(ready.narrow, ready.sample, labels, self.n_trees, ready.seed)
        scene.memo["fit"] = fit = _Fit(hoods.sets, forest, self.questions != "pair")
        return fit

    def _pick(self, scene: Scene, hoods: Neighborhoods, taken: set[int], rng: np.random.Generator) -> int | None:
        left = reach_of(scene, hoods, taken).left
        if not left.any():
            return None
        if not hoods.sets:
            return int(rng.choice(np.flatnonzero(left)))
        fit = self._fit(scene, hoods)
        ahead = taken - hoods.asked
        score = fit.score * (1 - fit.forest.to(sorted(ahead))) if ahead else fit.score
        best = score[left].max()
        return int(rng.choice(np.flatnonzero(left & (score >= best - SLACK * abs(best)))))

    def _distances(self, scene: Scene, hoods: Neighborhoods, row: int) -> Floats:
        return -self._fit(scene, hoods).p[:, row]

    def _reason(self, scene: Scene, hoods: Neighborhoods, row: int) -> tuple[str, float | None]:
        if not hoods.sets:
            return "a row drawn at random, to begin with.", None
        score = float(self._fit(scene, hoods).score[row])
        if len(hoods.sets) == 1:
            return "a row unlike those that are placed.", score
        return "a row that may belong to several neighborhoods.", score


def _clues(scene: Scene, hoods: Neighborhoods) -> Clues:
    """The clues of the clustering: neighborhoods, and the given links with weight 1."""
    given, n = scene.firm, scene.n
    labels = np.full(n, -1)
    labels[list(hoods.placed)] = list(hoods.placed.values())
    joined: Array | None = None
    if given.n_components < n:
        shared = np.bincount(given.components)[given.components] > 1
        joined = np.where(shared, given.components, -1)
    return Clues(n, labels=labels, together=joined, cannot=given.cannot if len(given.cannot) else None)


def _narrow(X: Floats) -> Any:
    """X for the trees, which compare in single precision: centered and scaled first, so that few digits are lost."""
    x = X.astype(np.float64) - X[0]
    x -= x.mean(axis=0)
    largest = np.abs(x).max(axis=0)
    x /= np.where(largest > 0, largest, 1)
    return np.ascontiguousarray(x, dtype=np.float32)


def _renumber(labels: Ints) -> Ints:
    """Labels renumbered by the order of their first rows."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])


def membership(shares: Floats) -> Floats:
    """p(x ∈ N_i) of each column: proportional to the shares; equal where all are zero."""
    total = shares.sum(axis=0)
    return np.where(total > 0, shares / np.where(total > 0, total, 1), 1 / len(shares))


def uncertainty(p: Floats) -> tuple[Floats, Floats]:
    """Entropy H of each column, and the questions E = Σ r·p_(r) that it takes to find its place."""
    entropy = -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=0)
    falling = -np.sort(-p, axis=0)
    return np.asarray(entropy), np.asarray(np.arange(1, len(p) + 1) @ falling)
