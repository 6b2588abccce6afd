"""PenalizedGMM: a Gaussian mixture with a prior that favors labels that satisfy the links [Lu2004]_."""

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
from cluewise.mixture import _gaussian_em as em
from cluewise.mixture._base import MixtureClusterer

__all__ = ["PenalizedGMM"]

RIGHT = 0.9
"""Default probability that a link of weight 1 is right."""

HEAVIEST = 1e8
"""Largest weight of a soft link: sums of logarithms keep half of their digits beside it."""


def weigh_pairs(clues: Clues, penalty: float) -> tuple[Ints, Floats]:
    """Pairs of rows and their weights w in g(Z): > 0 together, < 0 apart, −∞ certainly apart.

    The weights of several links between the same rows are added. Must-links of infinite weight count as 0: they make
    the components of `keep_certain`.
    """
    links = build_pair_graph(clues)
    must, cannot = (np.where(np.isinf(w), 0.0, w) for w in (links.must, links.cannot))
    weights = np.where(np.isinf(links.cannot), -np.inf, np.clip(penalty * (must - cannot), -HEAVIEST, HEAVIEST))
    return links.rows[links.ends].astype(np.int64), weights


def keep_certain(clues: Clues) -> Clues:
    """The clues of infinite weight."""
    return clues.subset(
        must=np.isinf(clues.must_weight),
        cannot=np.isinf(clues.cannot_weight),
        together=[np.isinf(group.weights) for group in clues.together],
        apart=[np.isinf(group.weights) for group in clues.apart],
    )


def lift_pairs(component: Ints, pairs: Ints, weights: Floats) -> tuple[Ints, Floats, float]:
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
    r"""Gaussian mixture with soft links: a prior on labels that favors those that satisfy the clues.

    Use it when clues may be wrong or contradict each other, clusters are Gaussian and you need membership
    probabilities. The weight of a clue says how reliable it is. Clues of weight ``inf`` always hold; both kinds can be
    mixed. Labels and groups act as the links they imply, which are listed one by one, so large ones are slow.

    Parameters
    ----------
    {n_clusters}
    {covariance_type}
    penalty : float or "auto", default="auto"
        Factor of the finite weights of the clues: a must-link of weight 1 multiplies the odds that its two rows are
        together by exp(penalty), a cannot-link divides them by it. "auto" is log 9: a link is right nine times out of
        ten.
    {gaussian_em}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The most likely joint labeling of all rows; a heuristic in components that are not inferred exactly.
    {gaussians_}
    penalty_ : float
        The penalty that was used.
    {n_clusters_}
    {likelihood_}
    trace_ : ndarray
        The objective of each iteration. It never rises where inference is exact or by mean field, up to what
        ``reg_covar`` adds.
    {n_iter_}
    {broken_}

    Raises
    ------
    Contradiction, Infeasible
        If the clues of infinite weight cannot all hold.

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

    If "together" is right with probability p, and the prior probability that two rows are together is s (s = 1/k for
    clusters of equal size), then :math:`w = \log p/(1-p) - \log s/(1-s)`. Give a must-link the weight
    :math:`\log p/(1-p) + \log(k-1)` and a cannot-link :math:`\log p/(1-p) - \log(k-1)`, with ``penalty=1``.

    *Deviations.* The E-step uses the posterior given the data (erratum E20 of the survey). The prior is not normalized:
    dividing by :math:`\sum_Z P(Z) g(Z)` would need a numerical step for the weights and would not change the other
    parameters. Each pair counts once, and weights are limited to 1e8 for numerical precision. Labels maximize the joint
    probability of linked rows, not of each row; they satisfy links of infinite weight. Mean field uses weight -8
    instead of minus infinity. Gibbs sampling also swaps two clusters within connected sets of rows. With
    ``inference="auto"``, soft networks of more than 16 links per node that are too large for exact inference use mean
    field at once. Approximate methods make at most 200 sweeps.

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
    _parameter_constraints = em.CONSTRAINTS | {
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")]
    }

    means_: Floats
    covariances_: Floats
    inference_: dict[str, int]
    penalty_: float

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
        n_init: int | str = 1,
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
        keep_certain(known).require(self.n_clusters)
        return known

    def _prepare(self, problem: Problem) -> em.TiedRows:
        known = keep_certain(problem.clues)
        ends, weights, constant = lift_pairs(known.components, *weigh_pairs(problem.clues, self._price))
        return em.link_nodes(self, problem, known, ends, weights, constant=constant, one_draw=False)

    @property
    def _price(self) -> float:
        return float(np.log(RIGHT / (1 - RIGHT)) if self.penalty == "auto" else self.penalty)

    def _solve(self, problem: Problem) -> loop.Result[em.State]:
        return em.solve(self, problem)

    def _state_attributes(self, problem: Problem, state: em.State, trace: list[float]) -> Attributes:
        labels = em.labels_of(state, problem.rows)
        found = super()._state_attributes(problem, labels, trace) | em.describe(problem, state)
        return found | {"penalty_": self._price}

    def _log_joint(self, rows: Rows, block: Any) -> Floats:
        return em.log_joint(self._mixture, rows, block)
