"""EquivalenceGMM: a Gaussian mixture that sums only over labels that satisfy every link [Shental2003]_."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._sklearn import StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Problem
from cluewise.clues import Clues
from cluewise.core import loop
from cluewise.core.rows import Rows
from cluewise.exact.network import Network, busy
from cluewise.mixture import _linked as linked
from cluewise.mixture._base import MixtureClusterer

__all__ = ["EquivalenceGMM"]


def exclusions(clues: Clues) -> Ints:
    """Pairs of must-link components that exclude each other, those of apart groups and label classes written out."""
    names, net = busy(clues.graph, clues.cliques)
    # No clique has more members than there are clusters: `Clues.require` has seen to it.
    return names[Network.build(net.plain()).edges].reshape(-1, 2)


class EquivalenceGMM(MixtureClusterer):
    r"""Gaussian mixture in which every clue holds: the E-step averages over the labels that satisfy all of them.

    Use it when clues are certain and clusters are Gaussian (also long ones, of different size or density), or when
    memberships should be probabilities. Rows that must be together share one membership (a *chunklet*), which costs
    nothing. Cannot-links make a network of chunklets: inferred exactly on trees, for two clusters and on components of
    small treewidth, approximately elsewhere.

    Parameters
    ----------
    {n_clusters}
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the clusters, as in scikit-learn's ``GaussianMixture``.
    prior : {"chunklet", "point"}, default="chunklet"
        Whether a chunklet is one draw from the cluster weights (as published: large chunklets do not make their
        cluster large), or as many as it has rows.
    inference : {"auto", "exact", "belief-propagation", "mean-field", "gibbs"}, default="auto"
        How components of cannot-links are inferred. "auto": exactly within ``exact_size``, else by belief propagation,
        and by mean field where that does not settle. "exact" refuses what is larger. The others are used wherever
        there is a cannot-link.
    exact_size : int, default=100000
        Most entries of a table of exact inference: ``n_clusters`` to the power of the treewidth (as found) plus 1.
    init : {"k-means", "k-means++", "random"}, array or callable, default="k-means"
        Start: labels of k-means in which chunklets move as one, or of the nearest of drawn rows or given means, of
        shape (n_clusters, d); or given memberships, of shape (n, n_clusters).
    reg_covar : float, default=1e-6
        Added to the diagonal of covariances.
    n_init : int, default=1
        Number of starts; the highest likelihood wins. More starts also find more spurious solutions, in which a cluster
        has collapsed on a few rows.
    {max_iter 100}
    tol : float, default=1e-3
        Stop when the log-likelihood per row changes by less than this.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start and of Gibbs sampling.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The most likely labels of all rows together, which satisfy all clues.
    weights_ : ndarray of shape (n_clusters,)
        Weight of each cluster.
    means_ : ndarray of shape (n_clusters, d)
        Mean of each cluster.
    covariances_ : ndarray
        Covariances; (n_clusters, d, d), (d, d), (n_clusters, d) or (n_clusters,) as ``covariance_type`` says.
    {n_clusters_}
    lower_bound_ : float
        Log-likelihood per row of data and clues before the last M-step (an estimate or a bound where inference is
        not exact).
    objective_ : float
        Minus that.
    trace_ : ndarray
        The objective of each iteration. It never rises where inference is exact, up to what ``reg_covar`` adds.
    inference_ : dict
        How many connected components of cannot-links were inferred how in the last iteration, for example
        ``{"belief-propagation": 1, "exact": 12}``; empty without cannot-links.
    {n_iter_}
    broken_ : Clues
        Always empty: clues are hard.

    Raises
    ------
    Contradiction
        When rows must be together and apart; the chain that proves it is in the message.
    Infeasible
        When the clues need more clusters; ``witness`` holds clues that prove it.
    Undecided
        When half a minute of search found no labels that satisfy all clues, nor a proof that there are none.

    Notes
    -----
    .. math:: L(\Theta) = \log \sum_{Y \in \Omega} \prod_j \alpha_{y_j}
        \prod_{i \in X_j} N(x_i; \mu_{y_j}, \Sigma_{y_j})

    where :math:`X_j` are the chunklets and :math:`\Omega` the labels of chunklets that break no cannot-link.

    ======================= ====================================
    paper                   code
    ======================= ====================================
    :math:`X_j`             ``clues.components``
    :math:`\alpha_l`        ``weights_[l]``
    :math:`\mu_l, \Sigma_l` ``means_[l], covariances_[l]``
    :math:`\Omega`          ``clues.graph``, ``clues.cliques``
    ======================= ====================================

    *Deviations.* The objective is the joint likelihood of data and clues, for which the M-step is closed; dividing by
    :math:`P(\Omega)` would need a numerical step for the weights. Labels are the most likely ones of all linked rows
    together instead of row by row, so that they satisfy the clues; for components beyond ``exact_size`` they are found
    by branch and bound, which is exact too. In mean field weight -8 stands for cannot-links. Gibbs sampling also swaps
    two clusters within connected sets of rows, because no single row can move where cannot-links leave no choice.

    References
    ----------
    .. [Shental2003] N. Shental, A. Bar-Hillel, T. Hertz and D. Weinshall, "Computing Gaussian mixture models with
       EM using equivalence constraints", NIPS 2003.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.mixture import EquivalenceGMM
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(2, 3)])
    >>> model = EquivalenceGMM(2, covariance_type="spherical", init=[X[0], X[4]]).fit(X, clues=clues)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    >>> model.inference_
    {'exact': 1}
    """

    card = Card(
        paper="Shental2003",
        title="Gaussian mixture with hard links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        hard=True,
        closes=True,
        descends=False,  # only where inference is exact
        invariant=frozenset({"shift", "rotation"}),  # reg_covar has a scale
        sparse=False,
        plain="",
        means=False,
        equation="EM over the labels that satisfy all links",
        time_columns="square",
        cost="O(nkd²), tables or sweeps over cannot-links",
        aliases=("Constrained GMM", "Constrained EM", "GMM with equivalence constraints"),
    )
    _parameter_constraints = linked.CONSTRAINTS | {"prior": [StrOptions({"chunklet", "point"})]}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        covariance_type: str = "full",
        prior: str = "chunklet",
        inference: str = "auto",
        exact_size: int = 100_000,
        init: Any = "k-means",
        reg_covar: float = 1e-6,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.covariance_type = covariance_type
        self.prior = prior
        self.inference = inference
        self.exact_size = exact_size
        self.init = init
        self.reg_covar = reg_covar
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        known.require(self.n_clusters)
        return known

    def _prepare(self, problem: Problem) -> linked.LinkedRows:
        ends = exclusions(problem.clues)
        never = np.full(len(ends), -np.inf)
        one_draw = self.prior == "chunklet"
        return linked.link_nodes(self, problem, problem.clues, ends, never, constant=0.0, one_draw=one_draw)

    def _solve(self, problem: Problem) -> loop.Result[linked.State]:
        return linked.solve(self, problem)

    def _state_attributes(self, problem: Problem, state: linked.State, trace: list[float]) -> Attributes:
        labels = linked.Labelled(linked.labels_of(state, problem.rows))
        return super()._state_attributes(problem, labels, trace) | linked.describe(problem, state)

    def _log_joint(self, rows: Rows, block: Any) -> Floats:
        return linked.log_joint(self._mixture, rows, block)
