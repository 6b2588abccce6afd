"""Information-theoretic metric learning: close to a prior, must-links short and cannot-links long [Davis2007]_."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cluewise._sklearn import Interval
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, MetricLearner, generator
from cluewise.clues import Clues
from cluewise.core import loop
from cluewise.core.distances import metric
from cluewise.kernels.metric import project_pairs
from cluewise.metric_learning._pairs import any_pairs, sample_pairs, squared_lengths

__all__ = ["ITML"]

SAMPLE = 100_000
"""Number of pairs of rows in the sample from which the default bounds are computed."""

DUPLICATE = 1e-20
"""Share of the largest squared distance below which rows are duplicates, which no metric can separate."""

MISSED = 0.1
"""Relative violation of a bound without slack that gives a warning."""

KEPT = 2**24
"""Maximum number of entries for which the differences of all pairs are kept in memory."""

SLICE = 2**17
"""Entries of the differences in one call of the kernel, so that they fit in the cache and Ctrl-C works."""


class State(NamedTuple):
    """What the next sweep needs."""

    A: Floats  # (d, d) the metric
    multiplier: Floats  # (m,) λ
    bound: Floats  # (m,) ξ, the bounds including slack


class Bounds(NamedTuple):
    """Bounds on the squared distances of pairs."""

    pairs: Ints  # (m, 2) rows
    sign: Floats  # (m,) δ, +1: at most the bound, −1: at least
    give: Floats  # (m,) 1 / γ, 0 for a bound without slack
    bound: Floats  # (m,) ξ₀, the initial bounds
    off: Floats | None  # (m, d) the differences, if they are kept


def step(state: State, *, X: Floats, bounds: Bounds, tol: float) -> tuple[State, loop.Info]:
    """Project onto the bound of every pair in turn: one sweep of the algorithm of [Davis2007]_."""
    A, multiplier, bound = (part.copy() for part in state)
    d, m, moved = len(A), len(bound), 0.0
    size = max(min(SLICE // d, 2**7 * SLICE // d**2), 1)
    for start in range(0, m, size):
        part = slice(start, start + size)
        off = metric.differences(X, bounds.pairs[part]) if bounds.off is None else bounds.off[part]
        moved += project_pairs(off, bounds.sign[part], bounds.give[part], A, multiplier[part], bound[part], np.empty(d))
    new = State(A, multiplier, bound)
    return new, loop.Info(minus_dual(new, bounds), 0 if moved <= tol * np.linalg.norm(multiplier) else m)


def minus_dual(state: State, bounds: Bounds) -> float:
    """Minus the dual objective, log det A + Σ γ log(ξ/ξ₀); every projection minimizes it in one coordinate."""
    soft = bounds.give > 0
    slack = np.log(state.bound[soft] / bounds.bound[soft]) / bounds.give[soft]
    hard = (bounds.sign * state.multiplier * bounds.bound)[~soft]  # the limit for γ → ∞
    return float(np.linalg.slogdet(state.A)[1] + slack.sum() + hard.sum())


class ITML(MetricLearner):
    r"""Learn the metric closest to a prior one in which must-links are short and cannot-links long.

    Use it when there are must-links and cannot-links, some of which may be wrong: every bound has slack, the matrix
    stays positive definite without an eigendecomposition in each iteration, and the prior decides directions about
    which the pairs say nothing. A sweep takes O(d²) operations per pair.

    Parameters
    ----------
    trust : float, default=0.1
        Cost of slack in a bound, times the weight of the link (the paper's γ). If infinite, or for a link of infinite
        weight, bounds are hard. The default was the best power of ten, on average, for k-means on four small data sets
        with 10 % labels; raise it if links are many and correct.
    bounds : (float, float) or None, default=None
        Maximum squared distance of must-links and minimum squared distance of cannot-links. None: the 5th and the 95th
        percentile of squared distances between rows that differ, in the prior metric.
    prior : array-like of shape (d, d), optional
        Positive definite matrix of the prior metric; Euclidean by default.
    max_pairs : int, default=10000
        Approximate maximum number of pairs, including given links. If labels and groups imply more, pairs are drawn
        from them, half of them together and half apart. Links that are given as pairs are always used.
    n_components : int, optional
        Number of directions to keep, those of the largest eigenvalues.
    max_iter : int, default=1000
        Maximum number of sweeps.
    tol : float, default=1e-3
        Relative change of the multipliers in a sweep below which the sweeps stop.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the pairs that are drawn from labels and for the percentiles.

    Attributes
    ----------
    {components_}
    bounds_ : tuple of float
        Bounds on squared distances that were used.
    n_pairs_ : int
        Number of pairs that were used.
    n_iter_ : int
        Number of sweeps.
    objective_, trace_ : float, ndarray
        Minus the dual objective, at the end and after every sweep.
    {columns_}

    Raises
    ------
    Contradiction
        If links and groups of infinite weight contradict each other.

    Notes
    -----
    Minimized over positive definite matrices and bounds:

    .. math::

        D(A, A_0) + \gamma \sum_c w_c \left(\frac{\xi_c}{\xi_{0c}} - \log\frac{\xi_c}{\xi_{0c}} - 1\right)
        \quad\text{where}\quad \delta_c\,(x_i - x_j)^\top A\,(x_i - x_j) \le \delta_c\,\xi_c,

    :math:`D(A, A_0) = \operatorname{tr} A A_0^{-1} - \log\det A A_0^{-1} - d`. Projecting onto one pair at a time is
    coordinate ascent on the dual, so ``trace_``, which is minus the dual objective (up to :math:`\log\det A_0`), never
    rises.

    ============================ ==================================
    paper                        here
    ============================ ==================================
    γ                            ``trust``
    u, l                         ``bounds``
    A₀                           ``prior``
    λ, ξ                         ``State.multiplier``, ``State.bound``
    ============================ ==================================

    *Deviations.* The step is the exact projection for any γ; the printed one, δ/2·(1/p − γ/ξ), agrees with it only for
    γ = 1. Percentiles are of squared distances, like the bounds, of distinct rows, and of a sample of 100,000 pairs if
    there are more. Pairs of duplicates are ignored, because no metric can separate them. Slack for a link of weight w
    costs w times as much; a link of weight 0 is ignored. Links of infinite weight that contradict each other raise an
    error, and a bound without slack that is violated by 10 % after the last sweep gives a warning.

    References
    ----------
    .. [Davis2007] J. V. Davis, B. Kulis, P. Jain, S. Sra, I. S. Dhillon. Information-theoretic metric learning.
       ICML 2007.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metric_learning import ITML
    >>> X = [[0.0, 0.0], [0.0, 4.0], [1.0, 0.0], [1.0, 4.0]]
    >>> clues = Clues(4, must=[(0, 1), (2, 3)], cannot=[(0, 2)])
    >>> M = ITML(bounds=(1, 9)).fit(X, clues=clues).get_mahalanobis_matrix()
    >>> bool(M[0, 0] > 1 > M[1, 1])
    True
    """

    card = Card(
        paper="Davis2007",
        title="Metric close to a prior that keeps links short or long",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        mixes=True,
        descends=True,
        predicts=False,
        sparse=False,
        weights=False,
        plain="",
        means=False,
        time_columns="square",
        cost="O(md²)",
        aliases=("information-theoretic metric learning",),
    )
    _parameter_constraints = MetricLearner._parameter_constraints | {
        "trust": [Interval(Real, 0, None, closed="right")],
        "bounds": ["array-like", None],
        "prior": ["array-like", None],
        "max_pairs": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    bounds_: tuple[float, float]
    n_pairs_: int
    n_iter_: int
    trace_: Floats
    objective_: float

    def __init__(
        self,
        *,
        trust: float = 0.1,
        bounds: Any = None,
        prior: Any = None,
        max_pairs: int = 10_000,
        n_components: int | None = None,
        max_iter: int = 1000,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.trust = trust
        self.bounds = bounds
        self.prior = prior
        self.max_pairs = max_pairs
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, X: Floats, clues: Clues) -> Attributes:
        # Labels have weight 1 here, and clues with slack may contradict each other.
        clues.only(clues.kinds - {"labels"}).divide()[0].require(clues.n)
        A = self._first_matrix(X.shape[1])
        rng = generator(self.random_state)
        links = sample_pairs(clues, self.max_pairs, rng)
        ends, weight = links.ends, links.weight
        lengths = squared_lengths(X, ends, A)
        useful = (lengths > DUPLICATE * lengths.max(initial=0)) & (weight > 0)
        pairs, price = ends[useful], self.trust * weight[useful]
        sign = np.where(links.is_must[useful], 1.0, -1.0)
        limits = self._choose_bounds(X, A, rng)
        chosen: Attributes = {"n_pairs_": len(pairs), "bounds_": limits}
        if not len(pairs) and self.prior is None:
            return chosen | self._plain(X, "no clue joins or parts two rows that differ")
        small = len(pairs) * X.shape[1] <= KEPT
        bound = np.where(sign > 0, *limits)
        bounds = Bounds(pairs, sign, 1 / price, bound, metric.differences(X, pairs) if small else None)
        slack = 1e-9 * (1 + X.shape[1] + price[np.isfinite(price)].sum())  # each term is of this order
        move = partial(step, X=X, bounds=bounds, tol=self.tol)
        # `step` decides by the multipliers when to stop, not by the objective.
        found = self._run(move, State(A, np.zeros(len(pairs)), bound), X.dtype, slack, tol=0.0)
        self._warn_of_missed(X, bounds, found.state.A, len(found.trace))
        return chosen | self._from_state(found.state, found.trace, X.dtype)

    def _warn_of_missed(self, X: Floats, bounds: Bounds, A: Floats, n_iter: int) -> None:
        """Warn if a pair without slack is far from its bound; its multiplier may grow forever."""
        hard = np.flatnonzero(bounds.give == 0)
        ratio = squared_lengths(X, bounds.pairs[hard], A) / bounds.bound[hard]
        missed = hard[bounds.sign[hard] * (ratio - 1) > MISSED]
        if len(missed):
            kind = "must-link" if bounds.sign[missed[0]] > 0 else "cannot-link"
            i, j = bounds.pairs[missed[0]]
            warnings.warn(
                f"the {kind} of rows {i} and {j}, which has no slack, misses its bound after {n_iter} sweeps; "
                "either no metric meets all such bounds, or max_iter is too small.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _metric_of(self, state: State, dtype: Any) -> Attributes:
        try:
            # A is positive definite, so it has full rank, however much units differ.
            return self._from_root(np.linalg.cholesky(state.A).T, dtype)
        except np.linalg.LinAlgError:  # not positive definite due to rounding
            return self._from_matrix(state.A, dtype)

    def _first_matrix(self, d: int) -> Floats:
        """A₀."""
        if self.prior is None:
            return np.eye(d)
        given = _numbers(self.prior)
        if given is None or given.shape != (d, d) or not np.isfinite(given).all() or not np.allclose(given, given.T):
            raise ValueError(f"prior must be a symmetric matrix of shape ({d}, {d}) without nan or infinity.")
        if np.linalg.eigvalsh(given)[0] <= 0:
            raise ValueError("prior is not positive definite.")
        return (given + given.T) / 2

    def _choose_bounds(self, X: Floats, A: Floats, rng: np.random.Generator) -> tuple[float, float]:
        """Bounds for must-links and for cannot-links."""
        if self.bounds is not None:
            given = _numbers(self.bounds)
            if given is None or given.shape != (2,) or not ((given > 0) & np.isfinite(given)).all():
                raise ValueError(f"bounds must be two positive numbers (must, cannot); got {self.bounds!r}.")
            return float(given[0]), float(given[1])
        sample = squared_lengths(X, any_pairs(len(X), SAMPLE, rng), A)
        sample = sample[sample > 0]
        low, high = np.percentile(sample, [5, 95]) if len(sample) else (1.0, 1.0)
        return float(low), float(high)


def _numbers(given: Any) -> Floats | None:
    """An array of floats; None if that is not possible, as for text or rows of different length."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
