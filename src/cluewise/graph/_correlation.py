"""Correlation clustering: the groups that agree best with scored pairs, whatever their number [Bansal2004]_."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Ints
from cluewise.base import Attributes, Card, Clusterer, count_rows
from cluewise.clues import Clues
from cluewise.core.assign import permutation
from cluewise.core.loop import Progress
from cluewise.core.views import broken_weight
from cluewise.graph._search import cluster
from cluewise.graph._signed import build_signed, hard_part
from cluewise.metrics import broken

__all__ = ["CorrelationClusterer"]


class CorrelationClusterer(Clusterer):
    r"""Groups that agree best with weighted links, found without a table of rows.

    Use it when all that you have are scored pairs, as in record linkage: `Clues.from_scores` makes links of them. It
    finds the number of clusters. A pair that no clue mentions costs ``unscored``, so rows without must-links stay
    alone, chains of pairs do not grow long, and two groups that one wrong score connects are kept apart if the other
    scores between them say so. Links of infinite weight hold, and so do ``apart`` groups of infinite weight: at most
    one record of each source in a cluster.

    Parameters
    ----------
    max_exact : int, default=10
        Pieces with at most this many nodes are solved exactly, in time that triples with each node; larger ones by a
        search. At most 16.
    unscored : float, default=0.5
        What two rows in one cluster cost if no clue mentions the pair, on the scale of the weights: with those of
        `Clues.from_scores`, pairs that were not worth scoring count as if they had the probability 0.38. With 0 they
        say nothing, and rows may be joined by a chain of links.
    order : "index" or permutation of the rows, default="index"
        Order of the rows, which decides where clusterings are equally good, and numbers the clusters.

    Attributes
    ----------
    {labels_}
        Clusters are numbered in the order of their first rows.
    n_clusters_ : int
        Number of clusters, rows that are alone included.
    objective_ : float
        Total weight of the broken links, and ``unscored`` for each pair that no clue mentions; links of labels and
        groups count pair by pair. Rows that hard clues join count as one.
    trace_ : ndarray
        The objective after the first unions, and after each round of the search.
    n_iter_ : int
        Number of these rounds.
    broken_ : Clues
        The clues that the result breaks; none of infinite weight.

    Raises
    ------
    Contradiction
        When clues of infinite weight keep rows both together and apart; the chain that proves it is in the message.

    See Also
    --------
    Clues.from_scores : Links from pairs with probabilities.

    Notes
    -----
    The clusters minimize the weight of the broken links and u = ``unscored`` for the pairs between which there is none,

    .. math:: J = \sum_{MC} w_{ij} [y_i \ne y_j] + \sum_{CL} w_{ij} [y_i = y_j] + u \sum_{\text{no link}} [y_i = y_j]

    which, if weights are log-odds of independent scores, is the most probable clustering when each is equally probable
    beforehand. A label counts as a link of weight 1 to each other row with a label, a probability of 0.73 on the scale
    of log-odds; rows of which you are certain need a ``together`` column of infinite weight.

    Rows that must be together are one node. Links with a positive sum connect nodes to pieces; clusters are never
    larger than that. In a piece with at most ``max_exact`` nodes, dynamic programming over subsets finds the best
    clusters. In larger ones, the two clusters whose union gains most are united, again and again. Then single nodes
    move to the cluster where they gain most, or out of all; clusters are united; and two neighboring clusters of at
    most ``max_exact`` nodes are partitioned anew, exactly; until none of this gains anything. The problem is NP-hard,
    so that need not be the best. Apart groups of any size are counted, never written out as pairs; labels and together
    groups of finite weight are.

    X is not looked at, except for its number of rows; without X and clues there is nothing to do. If you want a given
    number of clusters, or if rows without links should join others by their distance, use another method.

    ================================ ==========================================
    paper                            code
    ================================ ==========================================
    :math:`+` and :math:`-` edges    ``clues.must``, ``clues.cannot``
    disagreements                    ``objective_``, ``broken_``
    ================================ ==========================================

    *Deviations.* Graphs are sparse and weighted, pairs without an edge have a price, and clues may be hard. The unions
    are the greedy additive edge contraction of [Keuper2015]_, with counts of groups; its search by sequences of
    Kernighan-Lin moves is replaced by moves of single nodes, unions and exact partitions, as clusters of records are
    small. The pivot algorithm of [Ailon2008]_, whose guarantee needs a score for every pair, is not used.

    References
    ----------
    .. [Bansal2004] N. Bansal, A. Blum and S. Chawla, "Correlation clustering", Machine Learning 56, 2004.
    .. [Ailon2008] N. Ailon, M. Charikar and A. Newman, "Aggregating inconsistent information: ranking and
       clustering", Journal of the ACM 55, 2008.
    .. [Keuper2015] M. Keuper, E. Levinkov, N. Bonneel, G. Lavoué, T. Brox and B. Andres, "Efficient decomposition of
       image and mesh graphs by lifted multicuts", ICCV 2015.

    Examples
    --------
    Two people with three records each, and one score that is wrong:

    >>> import numpy as np
    >>> from cluewise import Clues, CorrelationClusterer
    >>> pairs = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3), (1, 3), (2, 4)]
    >>> probability = [0.99, 0.9, 0.95, 0.9, 0.95, 0.99, 0.97, 0.1, 0.05]
    >>> scores = Clues.from_scores(6, pairs, probability)
    >>> model = CorrelationClusterer().fit(None, clues=scores)
    >>> model.labels_, model.broken_.must.tolist()
    (array([0, 0, 0, 1, 1, 1], dtype=int32), [[2, 3]])

    At most one record of each source in a cluster:

    >>> source = Clues(6, apart=["a", "b", "b", "a", "b", "c"], apart_weight=np.inf)
    >>> CorrelationClusterer().fit(None, clues=scores | source).labels_
    array([0, 0, 1, 2, 2, 2], dtype=int32)
    """

    card = Card(
        paper="Bansal2004",
        title="Correlation clustering of scored pairs, without X",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        mixes=True,
        finds=True,
        reads=False,
        predicts=False,
        weights=False,
        deterministic=True,
        plain="",
        means=False,
        memory="pairs",
        equation="minimizing disagreements (Section 3)",
        cost="O(m log m) for m links, and 3^max_exact per small piece",
        aliases=("correlation clustering", "multicut", "GAEC"),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "unscored": [Interval(Real, 0, None, closed="left")],
        "max_exact": [Interval(Integral, 0, 16, closed="both")],
        "order": [StrOptions({"index"}), "array-like"],
    }

    def __init__(self, max_exact: int = 10, *, unscored: float = 0.5, order: Any = "index") -> None:
        self.max_exact = max_exact
        self.unscored = unscored
        self.order = order

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any = None, y: Any = None, *, clues: Any = None) -> Self:  # type: ignore[override]  # no weights
        """Cluster rows by the clues about them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d), optional
            Not used, except for its number of rows; None if there is none.
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        self._reset(y, clues)
        n = count_rows(self, X, clues)
        known = self._check_clues(clues, n)
        order = None if isinstance(self.order, str) else permutation(self.order, n, "'index'")
        hard = hard_part(known)
        if hard.contradictions:
            hard.require(n)  # raises the error; without contradictions n clusters are always enough
        with Progress(self, getattr(self, "_skl_callbacks", ()), 1, 1) as progress:
            progress.begin_start(0)
            try:
                found = self._cluster(known, hard, order, progress)
            except KeyboardInterrupt:
                if progress.last is not None:
                    self._write(progress.last[0])
                raise
            self._write(found | {"broken_": broken(found["labels_"], known)})
            progress.end_start()
        return self

    def _cluster(self, known: Clues, hard: Clues, order: Ints | None, progress: Progress) -> Attributes:
        if order is not None:
            known, hard = known[order], hard[order]
        node = hard.components
        alone = broken_weight(known, node)  # the objective if each node is a cluster

        def publish(of_node: Ints, gains: list[float]) -> Attributes:
            labels = _number(of_node[node])
            trace = alone - np.array(gains)
            if order is not None:
                labels[order] = labels.copy()
            return {
                "labels_": labels,
                "n_clusters_": int(labels.max(initial=-1)) + 1,
                "n_iter_": len(trace),
                "trace_": trace,
                "objective_": float(trace[-1]),
            }

        def watch(of_node: Ints, gains: list[float]) -> bool:
            found = publish(of_node, gains)
            return progress(found, list(found["trace_"]))

        return publish(*cluster(build_signed(known, node, float(self.unscored)), int(self.max_exact), watch))


def _number(labels: Ints) -> Ints:
    """Clusters numbered by their first row."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[codes]
