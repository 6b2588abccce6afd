"""RelationalSpectral: the spectral relaxation of RDP-means, which also finds the number of clusters [Khashabi2015]_."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats
from cluewise.base import Attributes, Card, Problem
from cluewise.clues import Clues
from cluewise.core import loop
from cluewise.core.graphs.affinity import dense_affinity
from cluewise.core.lloyd import State
from cluewise.spectral._base import Embedding, SpectralClusterer
from cluewise.spectral._relational_kernel import Linear, Relational, association, halfway, leading

__all__ = ["RelationalSpectral"]


class RelationalSpectral(SpectralClusterer):
    r"""Spectral relaxation of RDP-means: k-means on the eigenvectors whose eigenvalues exceed the cost of a cluster.

    Use it for a quick estimate of the number of clusters that data and links suggest, which does not depend on a start
    or on the order of the rows. It is a relaxation: the eigenvectors of a kernel plus the links give directions, which
    k-means turns into clusters. With the linear kernel, which scales to any number of rows, there are at most d of them
    without links. Links have little effect here. `RDPMeans` weighs each link at its rows, and `SpectralKernelKMeans`
    has a given number of clusters; both make more of links.

    Parameters
    ----------
    n_clusters : int, default=3
        Approximate number of clusters; only used by ``cluster_cost="auto"``.
    cluster_cost : float or "auto", default="auto"
        Cost of a cluster: the number of larger eigenvalues is the number of clusters. "auto" is halfway between the
        ``n_clusters``-th eigenvalue and the next, of the kernel without links, so that only links can change the number
        of clusters.
    link_gain : float or "auto", default="auto"
        Added to the kernel for a must-link of weight 1, subtracted for a cannot-link. "auto" is half the cost of a
        cluster, divided by the largest summed weight of the links of one row, so that links alone never make a cluster.
        Twice that follows links a little more closely; with several times that, small groups of linked rows become
        clusters.
    affinity : {"linear", "rbf", "precomputed"}, default="linear"
        Kernel: inner products of rows, :math:`e^{-\gamma \lVert x - y \rVert^2}`, or X itself.
    gamma : float or None, default=None
        The :math:`\gamma` of "rbf"; by default one over the mean squared distance between rows.
    {embedded_k_means}

    Attributes
    ----------
    {labels_by_size_}
    n_clusters_ : int
        Number of clusters found.
    cluster_cost_ : float
        Cost of a cluster.
    link_gain_ : float
        Gain of a link of weight 1.
    eigenvalues_ : ndarray
        Eigenvalues above the cost, in decreasing order.
    embedding_ : ndarray of shape (n, n_eigenvalues)
        Rows of their eigenvectors, scaled to length 1; a column of ones if there are no such eigenvalues.
    association_ : float
        Value of the relaxed objective for the clusters found; it is at most the sum of
        ``eigenvalues_ - cluster_cost_``.
    {embedded_k_means_}

    Notes
    -----
    With E the weights of must-links less those of cannot-links, and Y the indicators of the clusters, each divided by
    the root of its size,

    .. math:: \operatorname{tr}\, Y^T (X X^T - \lambda I + \xi E) Y = \operatorname{tr} X X^T
        - \Big[ \sum_i \lVert x_i - \mu_{z_i} \rVert^2 + \lambda K
        - \xi \sum_k \frac1{n_k} \sum_{i, j \in k} E_{ij} \Big]

    is largest, over all Y with :math:`Y^T Y = I`, for the eigenvectors of :math:`X X^T + \xi E` whose eigenvalue
    exceeds :math:`\lambda`. Their rows are scaled to length 1 and clustered by k-means, with as many clusters as
    eigenvectors; one cluster if there are none.

    ================================ ==================================
    paper                            code
    ================================ ==================================
    :math:`\lambda`                  ``cluster_cost``
    :math:`\xi_1, \xi_2`             ``link_gain`` times weights
    ================================ ==================================

    *Deviations.* Theorem 5 of the paper says that the trace contains the sum of E within clusters. It contains that sum
    divided by the size of each cluster, so this is a relaxation of the objective above, not of that of RDP-means. The
    paper gives no rule for the cost or the gain; both "auto" are ours. X is not centered.

    References
    ----------
    .. [Khashabi2015] D. Khashabi, J. Wieting, J. Y. Liu and F. Liang, "Clustering with side information: from a
       probabilistic model to a deterministic algorithm", arXiv:1508.06235, 2015.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.spectral import RelationalSpectral
    >>> X = [[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]]
    >>> clues = Clues(8, must=[(2, 3), (4, 6)], cannot=[(3, 5)])
    >>> model = RelationalSpectral(cluster_cost=5, link_gain=4, random_state=0).fit(X, clues=clues)
    >>> model.n_clusters_, model.eigenvalues_.round(3)
    (2, array([156.992,   5.654]))
    """

    card = Card(
        paper="Khashabi2015",
        title="Eigenvectors of a kernel and links, as many as count",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        invariant=frozenset({"scale", "rotation"}),
        finds=True,
        predicts=False,
        sparse=False,
        weights=False,
        plain="",
        means=False,
        equation="the spectral form of RDP-means, section 4.7",
        time_rows="square",
        memory="square",
        cost="O(nd + pairs) per step of Lanczos; other kernels O(n²); labels and groups make up to n² pairs",
    )
    _parameter_constraints = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "cluster_cost": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "link_gain": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "affinity": [StrOptions({"linear", "rbf", "precomputed"})],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    eigenvalues_: Floats
    association_: float
    cluster_cost_: float
    link_gain_: float

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        cluster_cost: float | str = "auto",
        link_gain: float | str = "auto",
        affinity: str = "linear",
        gamma: float | None = None,
        n_init: int | str = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.cluster_cost = cluster_cost
        self.link_gain = link_gain
        self.affinity = affinity
        self.gamma = gamma
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_count(self, n: int) -> None:
        if isinstance(self.cluster_cost, str):
            super()._check_count(n)

    def _affinity_of(self, X: Any) -> Any:
        """The kernel of all rows, as a matrix or an operator."""
        if self.affinity == "linear":
            return Linear(X.astype(np.float64, copy=False))
        if self.affinity == "rbf":
            # The default is one over the mean squared distance between rows.
            kernel = dense_affinity(X, self.gamma or 0.5 / (float(X.var(axis=0, dtype=np.float64).sum()) or 1.0))
            np.fill_diagonal(kernel, 1)
            return kernel
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel must be square; X has shape {X.shape}.")
        given = X.astype(np.float64)
        return 0.5 * (given + given.T)

    def _embed(self, affinity: Any, clues: Clues) -> Embedding:
        links = clues.pairs(expand=True).to_matrix(clues.n)
        degree = float(np.asarray(abs(links).sum(axis=1)).max())
        if isinstance(self.cluster_cost, str):
            alone = leading(Relational(affinity, csr_array(links.shape), 0.0), self.n_clusters, np.inf).values
            cost = halfway(alone, self.n_clusters)
        else:
            cost = float(self.cluster_cost)
        if isinstance(self.link_gain, str):
            gain = 0.5 * cost / degree if degree else 0.0
        else:
            gain = float(self.link_gain)
        operator = Relational(affinity, links, gain)
        found = leading(operator, self.n_clusters, cost)
        above = found.values > cost
        points: Floats = np.ones((clues.n, 1))
        if above.any():
            length = np.linalg.norm(found.vectors[:, above], axis=1, keepdims=True)
            points = found.vectors[:, above] / np.where(length > 0, length, 1.0)
        results = {"cluster_cost_": cost, "link_gain_": gain, "eigenvalues_": found.values[above]}
        return Embedding(points, results, operator)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        return super()._solve(problem._replace(k=problem.rows.d))

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        found = super()._state_attributes(problem, state, trace)
        value = association(problem.shared.operator, found["labels_"], found["cluster_cost_"])
        return found | {"association_": value}

    def _warn_of_empty_clusters(self, found: int) -> None:
        """The number of clusters is found, so fewer than expected need no warning."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags
