"""PenalizedGMM: a Gaussian mixture with a prior that prefers labels which satisfy the links [Lu2004]_."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Problem
from cluewise.clues import Clues
from cluewise.core import loop
from cluewise.core.rows import Rows
from cluewise.core.views import build_pair_graph
from cluewise.mixture import _linked as linked
from cluewise.mixture._base import MixtureClusterer

__all__ = ["PenalizedGMM"]

RIGHT = 0.9
"""How often a link of weight 1 is taken to be right when nobody says."""

HEAVIEST = 1e8
"""The most that a soft link weighs: sums of logarithms keep half of their digits beside it."""


def weighted(clues: Clues, penalty: float) -> tuple[Ints, Floats]:
    """Pairs of rows and their weights w in g(Z): > 0 together, < 0 apart, −∞ apart for certain.

    A pair that is linked both ways is one pair with the sum. What is certainly together is so by `certain`, and only
    counts here for its other links.
    """
    links = build_pair_graph(clues)
    must, cannot = (np.where(np.isinf(w), 0.0, w) for w in (links.must, links.cannot))
    weights = np.where(np.isinf(links.cannot), -np.inf, np.clip(penalty * (must - cannot), -HEAVIEST, HEAVIEST))
    return links.rows[links.ends].astype(np.int64), weights


def certain(clues: Clues) -> Clues:
    """The clues of infinite weight."""
    return clues.subset(
        must=np.isinf(clues.must_weight),
        cannot=np.isinf(clues.cannot_weight),
        together=[np.isinf(group.weights) for group in clues.together],
        apart=[np.isinf(group.weights) for group in clues.apart],
    )


def lifted(component: Ints, pairs: Ints, weights: Floats) -> tuple[Ints, Floats, float]:
    """Pairs of components with their summed weights, and the sum of the weights inside components."""
    ends = np.sort(component[pairs].astype(np.int64).reshape(-1, 2), axis=1)
    inside = ends[:, 0] == ends[:, 1]
    constant = float(weights[inside].sum())
    ends, weights = ends[~inside], weights[~inside]
    distinct, which = np.unique(ends, axis=0, return_inverse=True)
    total = np.zeros(len(distinct))
    np.add.at(total, which.ravel(), weights)
    return distinct, total, constant


class PenalizedGMM(MixtureClusterer):
    r"""Gaussian mixture with soft links: a prior on labels that prefers those which satisfy the clues.

    Use it when clues may be wrong or contradict each other, clusters are Gaussian and memberships should be
    probabilities. The weight of a clue is how sure it is; clues of weight ``inf`` hold for certain, and both may be
    mixed. Labels and groups act like the links that they stand for, and are written out: large ones are slow.

    Parameters
    ----------
    {n_clusters}
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the clusters, as in scikit-learn's ``GaussianMixture``.
    penalty : float or "auto", default="auto"
        What multiplies the (finite) weights of the clues: a link of weight 1 multiplies the odds of its two rows being
        together by exp(penalty), or divides them by it. "auto" is log 9: a link is right nine times out of ten.
    inference : {"auto", "exact", "belief-propagation", "mean-field", "gibbs"}, default="auto"
        How connected components of links are inferred. "auto": exactly within ``exact_size``, else by belief
        propagation, and by mean field where that does not settle. "exact" refuses what is larger. The others are used
        wherever there is a link.
    exact_size : int, default=100000
        Most entries of a table of exact inference: ``n_clusters`` to the power of the treewidth (as found) plus 1.
    init : {"k-means", "k-means++", "random"}, array or callable, default="k-means"
        Start: labels of k-means in which rows that are together for certain move as one, or of the nearest of drawn
        rows or given means, of shape (n_clusters, d); or given memberships, of shape (n, n_clusters).
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
        The most likely labels of all rows together (good ones in components that are not inferred exactly).
    weights_ : ndarray of shape (n_clusters,)
        Weight of each cluster.
    means_ : ndarray of shape (n_clusters, d)
        Mean of each cluster.
    covariances_ : ndarray
        Covariances; (n_clusters, d, d), (d, d), (n_clusters, d) or (n_clusters,) as ``covariance_type`` says.
    penalty_ : float
        The penalty that was used.
    {n_clusters_}
    lower_bound_ : float
        Log-likelihood per row, the prior of the clues included, before the last M-step (an estimate or a bound where
        inference is not exact).
    objective_ : float
        Minus that.
    trace_ : ndarray
        The objective of each iteration. It never rises where inference is exact or by mean field, up to what
        ``reg_covar`` adds.
    inference_ : dict
        How many connected components of links were inferred how in the last iteration, for example
        ``{"belief-propagation": 1, "exact": 12}``; empty without links.
    {n_iter_}
    {broken_}

    Raises
    ------
    Contradiction, Infeasible
        When the clues of infinite weight cannot all hold.

    Notes
    -----
    .. math:: L(\Theta) = \log \sum_Z \prod_i \alpha_{z_i} N(x_i; \mu_{z_i}, \Sigma_{z_i})
        \prod_{i<j} e^{w_{ij} [z_i = z_j]}

    ======================= ==============================================
    paper                   code
    ======================= ==============================================
    :math:`w_{ij} > 0`      ``penalty * clues.must_weight``
    :math:`w_{ij} < 0`      ``-penalty * clues.cannot_weight``
    :math:`\alpha_l`        ``weights_[l]``
    :math:`\mu_l, \Sigma_l` ``means_[l], covariances_[l]``
    ======================= ==============================================

    If somebody is right about "together" with probability p, and two rows are together with probability s anyway (s
    = 1/k for clusters of one size), then :math:`w = \log p/(1-p) - \log s/(1-s)`: give a must-link the weight
    :math:`\log p/(1-p) + \log(k-1)` and a cannot-link :math:`\log p/(1-p) - \log(k-1)`, with ``penalty=1``.

    *Deviations.* The E-step uses the posterior given the data (erratum E20 of the survey). The prior is not normalized:
    dividing by :math:`\sum_Z P(Z) g(Z)` would need a numerical step for the weights, and leaves the other parameters
    alone. Each pair counts once, and a weight beyond 1e8 as 1e8, beside which rows still have their digits. Labels are
    the most likely ones of linked rows together instead of row by row; links of infinite weight hold in them. In mean
    field weight -8 stands for minus infinity. Gibbs sampling also swaps two clusters within connected sets of rows.
    With ``inference="auto"`` soft networks of more than 16 links per node that are too large for exact inference go to
    mean field at once; approximations make at most 200 sweeps.

    References
    ----------
    .. [Lu2004] Z. Lu and T. K. Leen, "Semi-supervised learning with penalized probabilistic clustering", NIPS 2004.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.mixture import PenalizedGMM
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(0, 2)], must_weight=[9.0])
    >>> model = PenalizedGMM(2, covariance_type="spherical", init=[X[0], X[4]]).fit(X, clues=clues)
    >>> model.broken_
    Clues(8 rows: 1 cannot-link)
    >>> bool(model.labels_[3] == model.labels_[7])
    True
    """

    card = Card(
        paper="Lu2004",
        title="Gaussian mixture with soft links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        mixes=True,
        descends=False,  # only where inference is exact, or by mean field
        invariant=frozenset({"shift", "rotation"}),  # reg_covar has a scale
        sparse=False,
        plain="",
        means=False,
        equation="EM with the weighted prior over labels (PPC)",
        time_columns="square",
        memory="pairs",
        cost="O(nkd²), tables or sweeps over links; labels and groups make up to n² pairs",
        aliases=("PPC", "Penalized Probabilistic Clustering"),
    )
    _parameter_constraints = linked.CONSTRAINTS | {
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")]
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        covariance_type: str = "full",
        penalty: float | str = "auto",
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
        self.penalty = penalty
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
        certain(known).require(self.n_clusters)
        return known

    def _prepare(self, problem: Problem) -> linked.LinkedRows:
        known = certain(problem.clues)
        ends, weights, constant = lifted(known.components, *weighted(problem.clues, self._price))
        return linked.link_nodes(self, problem, known, ends, weights, constant=constant, one_draw=False)

    @property
    def _price(self) -> float:
        return float(np.log(RIGHT / (1 - RIGHT)) if self.penalty == "auto" else self.penalty)

    def _solve(self, problem: Problem) -> loop.Result[linked.State]:
        return linked.solve(self, problem)

    def _state_attributes(self, problem: Problem, state: linked.State, trace: list[float]) -> Attributes:
        labels = linked.Labelled(linked.labels_of(state, problem.rows))
        found = super()._state_attributes(problem, labels, trace) | linked.describe(problem, state)
        return found | {"penalty_": self._price}

    def _log_joint(self, rows: Rows, block: Any) -> Floats:
        return linked.log_joint(self._mixture, rows, block)
