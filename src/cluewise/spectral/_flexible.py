"""Flexible constrained spectral clustering: the cheapest cuts that satisfy the links well enough [Wang2010]_."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from cluewise._sklearn import Interval
from cluewise._typing import Floats
from cluewise.base import Card
from cluewise.clues import Clues
from cluewise.core.graphs.laplacian import leading
from cluewise.exceptions import Infeasible
from cluewise.spectral._base import Embedding, SpectralClusterer, embed
from cluewise.spectral._pencil import feasible_vectors

__all__ = ["FlexibleSpectral"]


class FlexibleSpectral(SpectralClusterer):
    r"""Spectral clustering restricted to cuts that satisfy the links well enough.

    Use it for clusters that are connected rather than spherical, such as curves and rings, when there are links or
    labels for some of the rows. Links are weighed against the whole graph: a few wrong links do little harm, and a
    single link has little effect. Use `E2CP` if links should act locally.

    Parameters
    ----------
    {n_clusters}
    {affinity}
    level : float, default=0.5
        How well the links must be satisfied: :math:`\beta` as a share of the largest value that leaves
        ``n_clusters`` − 1 vectors (one more if the trivial vector satisfies the links, too). Must be below 1. With many
        correct links 0.9 makes better use of them; at 0 or below links hardly matter.
    n_components : int or None, default=50
        Number of eigenvectors of the graph that solutions are combined from. The leading ones are smooth, so they
        generalize to rows without links. At most half the number of rows; None uses all eigenvectors, as the paper
        does, for up to 2,000 rows.
    {embedded_k_means}

    Attributes
    ----------
    {labels_by_size_}
    {n_clusters_}
    embedding_ : ndarray of shape (n, m)
        The points that k-means clusters.
    threshold_ : float
        :math:`\beta`, which each vector must reach; 0 without links or with one cluster.
    costs_ : ndarray
        :math:`v^T \bar L v / \mathrm{vol}` of each vector, the share of the graph that it cuts.
    {embedded_k_means_}

    See Also
    --------
    E2CP : Links change the affinity of rows near them.

    Notes
    -----
    With affinity A, degrees D of sum vol, :math:`\bar L = I - D^{-1/2} A D^{-1/2}`, links Q (weight of a must-link,
    minus weight of a cannot-link) and :math:`\bar Q = D^{-1/2} Q D^{-1/2}`, the method solves

    .. math:: \min_v v^T \bar L v \quad\text{with}\quad v^T \bar Q v \ge \beta,\; v^T v = \mathrm{vol},\;
        v \ne D^{1/2} 1.

    Its candidates solve :math:`\bar L v = \lambda (\bar Q - \frac{\beta}{\mathrm{vol}} I) v` with
    :math:`\lambda > 0`. The n_clusters − 1 of lowest cost are the columns of V, and k-means clusters the rows of
    :math:`D^{-1/2} V (I - V^T \bar L V / \mathrm{vol})`. Without links this is ordinary spectral clustering.

    =============================== =====================================
    paper                           code
    =============================== =====================================
    :math:`\beta`                   ``threshold_``, from ``level``
    :math:`V^*`                     ``embedding_``, scaled
    :math:`v^T \bar L v`            ``costs_``, divided by vol
    =============================== =====================================

    *Deviations.* The pencil is solved in the span of ``n_components`` leading eigenvectors, and the largest
    :math:`\beta` is that of this span. This excludes vectors that satisfy links by singling out the linked rows. The
    trivial vector is eliminated from the pencil in advance, which leaves a symmetric problem. Pieces of a graph of
    neighbors are connected by an edge each. Labels and groups count as the links they imply, at most ten million. Fewer
    vectors are used if fewer are feasible. With more than 500 rows, eigenvectors beyond the first few are those of a
    Krylov space and not exact.

    References
    ----------
    .. [Wang2010] X. Wang and I. Davidson, "Flexible constrained spectral clustering", KDD 2010.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.spectral import FlexibleSpectral
    >>> X = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [0, 1], [1, 1], [2, 1], [3, 1], [4, 1]]
    >>> FlexibleSpectral(2, n_neighbors=3, random_state=0).fit(X).labels_
    array([0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1], dtype=int32)
    >>> clues = Clues(11, labels=[0, None, 0, None, 0, 0, 1, None, 1, None, 1])
    >>> FlexibleSpectral(2, n_neighbors=3, random_state=0).fit(X, clues=clues).labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    """

    card = Card(
        paper="Wang2010",
        title="Spectral clustering with links to satisfy",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        predicts=False,
        sparse=False,
        weights=False,
        plain="",
        means=False,
        equation="the pencil of the Laplacian and the links, in the span of its leading eigenvectors",
        time_rows="square",
        memory="pairs",
        cost="O(n²d) for neighbors",
        aliases=("FCSC", "constrained spectral clustering"),
    )
    _parameter_constraints = SpectralClusterer._parameter_constraints | {
        "level": [Interval(Real, None, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    costs_: Floats
    threshold_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "local",
        n_neighbors: int = 10,
        gamma: float | None = None,
        level: float = 0.5,
        n_components: int | None = 50,
        n_init: int | str = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.level = level
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _embed(self, affinity: Any, clues: Clues) -> Embedding:
        n, k = affinity.shape[0], self.n_clusters
        links = clues.pairs(expand=True).to_matrix(n)
        if not links.nnz or k == 1:
            return Embedding(embed(affinity, k), {"threshold_": 0.0, "costs_": np.empty(0)})
        if self.n_components is None and n > ALL:
            raise ValueError(f"n_components=None computes all eigenvectors, for at most {ALL} rows; X has {n}.")
        m = n if self.n_components is None else max(min(self.n_components, n // 2), k)
        # The leading eigenvectors must be exact; of the others only the span matters, approximately.
        bulk = 1 - leading(affinity, k + 1, tol=1e-3).values[-1]
        spectrum = leading(affinity, m, tol=float(np.clip(0.8 * bulk**2, 1e-10, 0.06)))
        found = feasible_vectors(spectrum, links, k, self.level)
        if not len(found.costs):
            raise Infeasible(
                f"no vector satisfies the links to level={self.level:g}: beta={found.threshold:.6g} must be below "
                f"{found.highest:.6g}. Lower level or raise n_components.",
                clues,
            )
        costs = found.costs / spectrum.degrees.sum()
        points = found.vectors * (1 - costs) / np.sqrt(spectrum.degrees)[:, None]
        return Embedding(points, {"threshold_": found.threshold, "costs_": costs})


ALL = 2000
"""Maximum number of rows for which all eigenvectors are computed."""
