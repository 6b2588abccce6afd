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
from cluewise.core.lloyd import State
from cluewise.spectral._affinity import dense_affinity
from cluewise.spectral._embedded import EmbeddedClusterer, Embedding
from cluewise.spectral._relational_kernel import Linear, Relational, association, halfway, leading

__all__ = ["RelationalSpectral"]


class RelationalSpectral(EmbeddedClusterer):
    r"""The spectral form of RDP-means: eigenvectors of a kernel and of the links, as many as exceed a price.

    Use it as a quick look at how many clusters data and links suggest: that number depends on no start and no order of
    rows. It is a relaxation: where RDP-means puts each row somewhere, this one finds directions, and k-means makes
    clusters of them. With the linear kernel, which takes any number of rows, and no links there are at most d of
    them. `RDPMeans` weighs each link where it is, `SpectralKernelKMeans` takes the number of clusters as given;
    both make more of links, which change little here.

    Parameters
    ----------
    n_clusters : int, default=3
        About how many clusters to expect. It only chooses ``cluster_cost="auto"``.
    cluster_cost : float or "auto", default="auto"
        Price of a cluster: eigenvalues above it count. "auto" is halfway between the eigenvalue of that number
        and the next, of the kernel without links: links alone then change how many clusters are found.
    link_gain : float or "auto", default="auto"
        What a link of weight 1 adds to the kernel, or takes from it. "auto" is half the price of a cluster, divided by
        the largest summed weight of the links of one row: links alone never make a cluster. Twice that follows links
        a little further; with several times that, every few linked rows become a cluster.
    affinity : {"linear", "rbf", "precomputed"}, default="linear"
        Kernel: products of rows, :math:`e^{-\gamma \lVert x - y \rVert^2}`, or X itself.
    gamma : float or None, default=None
        The :math:`\gamma` of "rbf"; None is one over the mean squared distance between rows.
    n_init : int, default=10
        Number of starts of k-means; the lowest objective wins.
    {max_iter 300}
    {tol}
    {random_state}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, the largest cluster first.
    n_clusters_ : int
        Number of clusters found.
    cluster_cost_ : float
        Price of a cluster.
    link_gain_ : float
        What a link of weight 1 was worth.
    eigenvalues_ : ndarray
        Eigenvalues above the price, the largest first.
    embedding_ : ndarray of shape (n, n_eigenvalues)
        Rows in the space of their eigenvectors, with length 1; a column of ones where there are none.
    association_ : float
        What the relaxation maximizes, for the clusters found; no partition has more than the summed
        ``eigenvalues_ - cluster_cost_``.
    objective_ : float
        Sum of squared distances to the means, in the embedding.
    trace_ : ndarray
        That sum after each iteration of k-means.
    n_iter_ : int
        Number of iterations of k-means.
    {broken_}

    Notes
    -----
    With E the weights of must-links less those of cannot-links, and Y the indicators of the clusters, each divided by
    the root of its size,

    .. math:: \operatorname{tr}\, Y^T (X X^T - \lambda I + \xi E) Y = \operatorname{tr} X X^T
        - \Big[ \sum_i \lVert x_i - \mu_{z_i} \rVert^2 + \lambda K
        - \xi \sum_k \frac1{n_k} \sum_{i, j \in k} E_{ij} \Big]

    is largest, over all Y with :math:`Y^T Y = I`, for the eigenvectors of :math:`X X^T + \xi E` whose eigenvalue
    exceeds :math:`\lambda`. Rows of these are divided by their length and clustered by k-means, with as many
    clusters. No eigenvalue above: one cluster.

    ================================ ==================================
    paper                            code
    ================================ ==================================
    :math:`\lambda`                  ``cluster_cost``
    :math:`\xi_1, \xi_2`             ``link_gain`` times weights
    ================================ ==================================

    *Deviations.* Theorem 5 of the paper says that the trace holds the sum of E inside clusters; it holds that sum
    divided by the size of each cluster, so this is no relaxation of RDP-means' own objective but of the one above.
    The paper gives no rule for the price or the gain; both "auto" are ours. X is not centered.

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
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        cluster_cost: float | str = "auto",
        link_gain: float | str = "auto",
        affinity: str = "linear",
        gamma: float | None = None,
        n_init: int = 10,
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
        """The kernel of all rows, as something that multiplies."""
        if self.affinity == "linear":
            return Linear(X.astype(np.float64, copy=False))
        if self.affinity == "rbf":
            # One over the mean squared distance between rows, if nobody says.
            kernel = dense_affinity(X, self.gamma or 0.5 / (float(X.var(axis=0, dtype=np.float64).sum()) or 1.0))
            np.fill_diagonal(kernel, 1)
            return kernel
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed kernel is square; this X has shape {X.shape}.")
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
        published = {"cluster_cost_": cost, "link_gain_": gain, "eigenvalues_": found.values[above]}
        return Embedding(points, published, operator)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        return super()._solve(problem._replace(k=problem.rows.d))

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        found = super()._state_attributes(problem, state, trace)
        worth = association(problem.shared.operator, found["labels_"], found["cluster_cost_"])
        return found | {"association_": worth}

    def _warn_of_empty_clusters(self, found: int) -> None:
        """Fewer clusters than expected are no surprise."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags
