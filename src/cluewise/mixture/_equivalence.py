"""EquivalenceGMM: a Gaussian mixture whose E-step sums over the labels that satisfy every link [Shental2003]_."""

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
from cluewise.mixture import _gaussian_em as em
from cluewise.mixture._base import MixtureClusterer

__all__ = ["EquivalenceGMM"]


def find_exclusions(clues: Clues) -> Ints:
    """Pairs of must-link components that must be apart, including those of apart groups and label classes."""
    names, net = busy(clues.graph, clues.cliques)
    # Cliques are small: `Clues.require` refuses those with more members than clusters.
    return names[Network.build(net.plain()).edges].reshape(-1, 2)


class EquivalenceGMM(MixtureClusterer):
    r"""Gaussian mixture in which every clue holds: the E-step averages over the labels that satisfy all of them.

    Use it when clues are certain and clusters are Gaussian (of any shape, size or density), or when you need membership
    probabilities. Rows that must be together form a *chunklet*, which has a single membership. Cannot-links make a
    network of chunklets. Inference is exact for trees, for two clusters and for components of small treewidth, and
    approximate for others.

    Parameters
    ----------
    {n_clusters}
    {covariance_type}
    prior : {"chunklet", "point"}, default="chunklet"
        Whether a chunklet counts as one draw from the cluster weights, as in the paper, or as one draw per row. With
        "chunklet" a large chunklet does not increase the weight of its cluster.
    {gaussian_em}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The most likely joint labeling of all rows; it satisfies all clues.
    {gaussians_}
    {n_clusters_}
    {likelihood_}
    trace_ : ndarray
        The objective of each iteration. It never rises where inference is exact, up to what ``reg_covar`` adds.
    {n_iter_}
    broken_ : Clues
        Always empty: clues are hard.

    Raises
    ------
    Contradiction
        If rows must be both together and apart; the message shows the chain of clues that proves it.
    Infeasible
        If the clues need more clusters; ``witness`` holds clues that prove it.
    Undecided
        If a search of half a minute finds neither labels that satisfy all clues nor a proof that there are none.

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

    *Deviations.* The objective is the joint likelihood of data and clues, for which the M-step has a closed form;
    dividing by :math:`P(\Omega)` would need a numerical step for the weights. Labels maximize the joint probability of
    all linked rows, not of each row, so that they satisfy the clues; for components beyond ``exact_size`` they are
    found by branch and bound, which is also exact. Mean field gives cannot-links the weight -8 instead of minus
    infinity. Gibbs sampling also swaps two clusters within connected sets of rows, because cannot-links may leave
    single rows no choice.

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
    _parameter_constraints = em.CONSTRAINTS | {"prior": [StrOptions({"chunklet", "point"})]}

    means_: Floats
    covariances_: Floats
    inference_: dict[str, int]

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
        n_init: int | str = 1,
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

    def _prepare(self, problem: Problem) -> em.TiedRows:
        ends = find_exclusions(problem.clues)
        never = np.full(len(ends), -np.inf)
        one_draw = self.prior == "chunklet"
        return em.link_nodes(self, problem, problem.clues, ends, never, constant=0.0, one_draw=one_draw)

    def _solve(self, problem: Problem) -> loop.Result[em.State]:
        return em.solve(self, problem)

    def _state_attributes(self, problem: Problem, state: em.State, trace: list[float]) -> Attributes:
        labels = em.labels_of(state, problem.rows)
        return super()._state_attributes(problem, labels, trace) | em.describe(problem, state)

    def _log_joint(self, rows: Rows, block: Any) -> Floats:
        return em.log_joint(self._mixture, rows, block)
