"""Exhaustive and efficient constraint propagation: links spread along the graph and change it [Lu2010]_."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise.base import Card
from cluewise.clues import Clues, Pairs
from cluewise.spectral._base import Embedding, SpectralClusterer, embed
from cluewise.spectral._spreading import choose_spread, propagators, scale_to_one, spread_links, spread_votes
from cluewise.spectral._trust import balance, trust_in

__all__ = ["E2CP"]


class E2CP(SpectralClusterer):
    r"""Spectral clustering of a graph in which links spread to neighbors and change the affinity there.

    Use it for clusters that are connected rather than spherical, such as curves and rings, with links or labels for any
    part of the rows. A link also acts on the rows near its ends, where links vote. Links that the graph and the other
    links contradict count less.

    Parameters
    ----------
    {n_clusters}
    {affinity}
    spread : float or None, default=None
        :math:`\alpha`, how far links spread: with 0 not at all, close to 1 over the whole graph. By default between 0.5
        and 0.9: far with some dozens of links, less with many or very few (published: 0.8).
    profile : {"library", "published"}, default="library"
        "published" trusts all links, divides what they spread by the largest value instead of counting votes, and does
        not divide the rows of the embedding by their length.
    {embedded_k_means}

    Attributes
    ----------
    {labels_by_size_}
    {n_clusters_}
    embedding_ : ndarray of shape (n, m)
        The points that k-means clusters.
    affinity_matrix_ : ndarray or sparse array of shape (n, n)
        The affinity as changed by the links.
    spread_ : float
        The :math:`\alpha` that was used.
    {embedded_k_means_}

    See Also
    --------
    FlexibleSpectral : Keeps the affinity and requires cuts to satisfy the links.

    Notes
    -----
    With affinity W between 0 and 1, degrees D, :math:`\bar L = D^{-1/2} W D^{-1/2}` and Z the links (weight of a
    must-link, minus weight of a cannot-link), the propagated links are

    .. math:: F = (1 - \alpha)^2 (I - \alpha \bar L)^{-1} Z (I - \alpha \bar L)^{-1},

    divided by the largest absolute value. The new affinity is :math:`1 - (1 - F_{ij})(1 - W_{ij})` where
    :math:`F_{ij} \ge 0` and :math:`(1 + F_{ij}) W_{ij}` elsewhere. K-means clusters the rows of :math:`D^{-1/2} V`,
    where V are the leading eigenvectors of the new normalized affinity. Without links this is ordinary spectral
    clustering.

    =============================== =====================================
    paper                           code
    =============================== =====================================
    :math:`\alpha`                  ``spread``
    :math:`\tilde W`                ``affinity_matrix_``
    =============================== =====================================

    *Deviations.* In the library's profile (decision 0014 says why):

    - F is a vote. With M and C what must-links and cannot-links spread, without the factor :math:`(1 - \alpha)^2`,
      :math:`F = (M - C) / (M + C + 1/2)`. The weights of the rarer kind of links are raised and those of the other
      kind lowered, by the square root of what would make both sums equal. Only ratios of weights matter.
    - Links are multiplied by the probability that they are right. What the other links spread to the pair of a link,
      and how close its rows are in the graph, predict its kind; how often this comes true tells how far to believe it,
      and how many must-links and cannot-links are wrong. Links that follow from labels are judged label by label.
    - Rows of the embedding are divided by their length, with and without links.
    - :math:`\alpha` is the smaller one of :math:`1 - 2 \sqrt\rho` and :math:`\sqrt m / (1 + \sqrt m)`, between 0.5 and
      0.9, for m links, a share :math:`\rho` of all pairs.

    In both profiles, a sparse affinity of more than 1,500 rows stays sparse: the inverse is a sum over hops that drops
    what falls below 0.001 of a link, and F is computed for neighbors and for other pairs where it is at least 0.01
    (published: 0.01 of the largest value), over fewer hops if there are very many links. A precomputed affinity is
    divided by its largest entry. Pieces of a graph of neighbors are connected by an edge each, and equal rows share
    their neighbors. Labels and groups count as the links they imply, at most ten million.

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
    _parameter_constraints = SpectralClusterer._parameter_constraints | {
        "spread": [Interval(Real, 0, 1, closed="left"), None],
        "profile": [StrOptions({"library", "published"})],
    }

    affinity_matrix_: Any
    spread_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "local",
        n_neighbors: int = 10,
        gamma: float | None = None,
        spread: float | None = None,
        profile: str = "library",
        n_init: int | str = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.spread = spread
        self.profile = profile
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _embed(self, affinity: Any, clues: Clues) -> Embedding:
        if self.affinity == "precomputed":  # the others are between 0 and 1 already
            affinity = scale_to_one(affinity)
        links = clues.pairs(expand=True)
        if self.profile == "published":
            spread = 0.8 if self.spread is None else float(self.spread)
            changed = spread_links(affinity, links.to_matrix(clues.n), spread)
            points = embed(changed, self.n_clusters)
        else:
            spread = choose_spread(len(links.ends), clues.n) if self.spread is None else float(self.spread)
            changed = _spread_trusted(affinity, links, spread)
            points = embed(changed, self.n_clusters)
            length = np.linalg.norm(points, axis=1, keepdims=True)
            points = points / np.where(length > 0, length, 1.0)
        return Embedding(points, {"affinity_matrix_": changed, "spread_": spread})


def _spread_trusted(affinity: Any, links: Pairs, alpha: float) -> Any:
    """The affinity as changed by votes of the links, each weighted by how likely it is right."""
    tied, ends = np.unique(links.ends, return_inverse=True)
    if not len(tied):
        return affinity
    m, ends = len(links.must), ends.reshape(-1, 2)
    weight = links.weight / links.weight.mean()  # in any unit
    links = Pairs(ends[:m], weight[:m], ends[m:], weight[m:])
    G = propagators(affinity, tied, alpha)
    weight = weight * trust_in(links, G[tied])
    links = balance(links._replace(must_weight=weight[:m], cannot_weight=weight[m:]))
    none, nothing = np.empty((0, 2), dtype=ends.dtype), np.empty(0)
    must = links._replace(cannot=none, cannot_weight=nothing).to_matrix(len(tied))
    cannot = Pairs(links.cannot, links.cannot_weight, none, nothing).to_matrix(len(tied))
    return spread_votes(affinity, G, must, cannot)
