"""Exhaustive and efficient constraint propagation: links spread along the graph and change it [Lu2010]_."""

from __future__ import annotations

from numbers import Real
from typing import Any

from cluewise._sklearn import Interval
from cluewise.base import Card
from cluewise.clues import Clues
from cluewise.spectral._embedded import EmbeddedClusterer, Embedding, embedded
from cluewise.spectral._spreading import scaled_to_one, spread_links

__all__ = ["E2CP"]


class E2CP(EmbeddedClusterer):
    r"""Let links spread to the rows near their ends, strengthen or weaken the graph there, and cut it spectrally.

    Use it for clusters that are connected rather than round, such as curves and rings, when there are links for a good
    part of the rows. Each acts on the rows near its ends, where right ones outvote wrong ones. With few links for many
    rows `FlexibleSpectral` gets more out of them.

    Parameters
    ----------
    {n_clusters}
    affinity : {"local", "nearest_neighbors", "rbf", "precomputed"}, default="local"
        How alike two rows are. "local": :math:`\exp(-d^2 / (s_i s_j))` for near rows, each with the distance to its
        farthest neighbor as its scale s. "nearest_neighbors": 1 for rows that are near both ways, ½ one way, as
        scikit-learn has it. "rbf": :math:`\exp(-\gamma d^2)` for all pairs, refused for more than about 11,000 rows.
        "precomputed": X is the affinity, dense or sparse, without negative numbers; its diagonal is not looked at.
    n_neighbors : int, default=10
        Number of other rows that are near a row, for the first two.
    gamma : float, default=None
        For "rbf"; by default one over the median squared distance to the seventh neighbor.
    spread : float, default=0.8
        :math:`\alpha`, how far links spread: 0 is not at all, close to 1 is over the whole graph.
    n_init : int, default=10
        Number of starts of k-means; the first from rows far apart, which no chance decides, the others by k-means++.
    {max_iter 300}
    {tol}
    {random_state}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row; cluster 0 is the largest.
    {n_clusters_}
    embedding_ : ndarray of shape (n, m)
        The points that k-means has seen.
    affinity_matrix_ : ndarray or sparse array of shape (n, n)
        The affinity after the links have changed it.
    objective_ : float
        Sum of squared distances in the embedding to the means of the clusters.
    {trace_}
    {n_iter_}
    broken_ : Clues
        The clues that the clusters break.

    See Also
    --------
    FlexibleSpectral : The affinity stays, and cuts have to satisfy the links.

    Notes
    -----
    With affinity W between 0 and 1, degrees D, :math:`\bar L = D^{-1/2} W D^{-1/2}` and Z the links (weight of a
    must-link, minus weight of a cannot-link), pairs receive

    .. math:: F = (1 - \alpha)^2 (I - \alpha \bar L)^{-1} Z (I - \alpha \bar L)^{-1},

    divided by the largest size in it, and their affinity becomes :math:`1 - (1 - F_{ij})(1 - W_{ij})` where
    :math:`F_{ij} \ge 0` and :math:`(1 + F_{ij}) W_{ij}` elsewhere. The rows of :math:`D^{-1/2} V`, with V the leading
    eigenvectors of the new normalized affinity, are clustered by k-means. Without links this is ordinary spectral
    clustering.

    =============================== =====================================
    paper                           code
    =============================== =====================================
    :math:`\alpha`                  ``spread``
    :math:`\tilde W`                ``affinity_matrix_``
    =============================== =====================================

    *Deviations.* For more than 1,500 rows of a sparse affinity nothing of size n × n is made: the inverse is a sum over
    hops in which what falls below 0.001 of a link is dropped, F is known for neighbors, and beside these for pairs that
    receive at least 0.01 of its largest size (of links nearer to them where there are very many). A precomputed
    affinity is divided by its largest entry. Pieces of a graph of near rows are joined by an edge each. Labels and
    groups count as the links that they stand for, at most ten million.

    References
    ----------
    .. [Lu2010] Z. Lu and H. H. S. Ip, "Constrained spectral clustering via exhaustive and efficient constraint
       propagation", ECCV 2010.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.spectral import E2CP
    >>> X = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [0, 1], [1, 1], [2, 1], [3, 1], [4, 1]]
    >>> E2CP(2, n_neighbors=3, random_state=0).fit(X).labels_
    array([0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1], dtype=int32)
    >>> clues = Clues(11, must=[(0, 3), (3, 5), (6, 9), (9, 10)], cannot=[(0, 6), (3, 9), (5, 10)])
    >>> E2CP(2, n_neighbors=3, random_state=0).fit(X, clues=clues).labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    """

    card = Card(
        paper="Lu2010",
        title="Spectral clustering of a graph that links have changed",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        predicts=False,
        sparse=False,
        weights=False,
        plain="",
        means=False,
        equation="links spread by the inverse of I minus alpha times the normalized affinity, on both sides",
        time_rows="square",
        memory="pairs",
        cost="O(n²d) for neighbors",
        aliases=("exhaustive and efficient constraint propagation",),
    )
    _parameter_constraints = EmbeddedClusterer._parameter_constraints | {
        "spread": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "local",
        n_neighbors: int = 10,
        gamma: float | None = None,
        spread: float = 0.8,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.spread = spread
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _embed(self, affinity: Any, clues: Clues) -> Embedding:
        links = clues.pairs(expand=True).to_matrix(affinity.shape[0])
        if self.affinity == "precomputed":  # all others are between 0 and 1 as they are
            affinity = scaled_to_one(affinity)
        spread = spread_links(affinity, links, self.spread)
        return Embedding(embedded(spread, self.n_clusters), {"affinity_matrix_": spread})
