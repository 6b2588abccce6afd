"""Information-theoretic metric learning: the metric closest to a prior that keeps pairs near or far [Davis2007]_."""

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
from cluewise.clues.certainty import divide
from cluewise.core import loop
from cluewise.core.distances import metric
from cluewise.kernels.metric import project_pairs
from cluewise.metric_learning._pairs import any_pairs, sample_pairs, squared_lengths

__all__ = ["ITML"]

SAMPLE = 100_000
"""Pairs of rows whose distances stand for those of all pairs when the bounds are chosen."""

DUPLICATE = 1e-20
"""Rows whose squared distance is below this share of the largest one count as duplicates: no metric parts them."""

MISSED = 0.1
"""Share by which a pair without slack may miss its bound before a warning says so."""

KEPT = 2**24
"""Numbers up to which the differences of all pairs are kept, instead of being made anew in every sweep."""

SLICE = 2**17
"""Numbers in the differences of the pairs of one call of the kernel: they fit into the caches, and Ctrl-C is heard."""


class State(NamedTuple):
    """What the next sweep needs."""

    A: Floats  # (d, d) the metric
    multiplier: Floats  # (m,) λ
    bound: Floats  # (m,) ξ, the bounds with the slack that they have taken


class Asked(NamedTuple):
    """What the pairs ask for."""

    pairs: Ints  # (m, 2) rows
    sign: Floats  # (m,) δ, +1: at most the bound, −1: at least
    give: Floats  # (m,) 1 / γ, 0 for a bound without slack
    bound: Floats  # (m,) ξ₀, the bounds to begin with
    off: Floats | None  # (m, d) the differences, where they are kept


def step(state: State, *, X: Floats, asked: Asked, tol: float) -> tuple[State, loop.Info]:
    """One projection for every pair in turn: a sweep of the algorithm of [Davis2007]_."""
    A, multiplier, bound = (part.copy() for part in state)
    d, m, moved = len(A), len(bound), 0.0
    size = max(min(SLICE // d, 2**7 * SLICE // d**2), 1)
    for start in range(0, m, size):
        part = slice(start, start + size)
        off = metric.differences(X, asked.pairs[part]) if asked.off is None else asked.off[part]
        moved += project_pairs(off, asked.sign[part], asked.give[part], A, multiplier[part], bound[part], np.empty(d))
    new = State(A, multiplier, bound)
    return new, loop.Info(minus_dual(new, asked), 0 if moved <= tol * np.linalg.norm(multiplier) else m)


def minus_dual(state: State, asked: Asked) -> float:
    """Minus the dual objective, log det A + Σ γ log(ξ/ξ₀): every projection lowers it as far as its pair can."""
    soft = asked.give > 0
    slack = np.log(state.bound[soft] / asked.bound[soft]) / asked.give[soft]
    hard = (asked.sign * state.multiplier * asked.bound)[~soft]  # the limit for γ → ∞
    return float(np.linalg.slogdet(state.A)[1] + slack.sum() + hard.sum())


class ITML(MetricLearner):
    r"""Learn the metric closest to a prior one in which must-links are short and cannot-links long.

    Use it when there are pairs of both kinds, some of which may be wrong: every bound has slack, the matrix stays
    positive definite without an eigendecomposition in the loop, and a direction that no pair speaks of keeps what the
    prior says. A sweep costs as many operations as there are pairs times d².

    Parameters
    ----------
    trust : float, default=0.1
        How far links are believed: price of slack in a bound, times the weight of the link (the paper's γ). With
        infinity, or for a link of infinite weight, bounds are hard. The default was the best power of ten, on average,
        for k-means on four small sets with 10 % labels; raise it when links are many and right.
    bounds : (float, float) or None, default=None
        Squared distance that a must-link may have at most, and a cannot-link should have at least. None: the 5th and
        the 95th percentile of squared distances between rows that differ, in the prior metric.
    prior : array-like of shape (d, d), optional
        Positive definite matrix of the metric to stay close to; the Euclidean one if there is none.
    max_pairs : int, default=10000
        Labels and groups that stand for more pairs (given links included) are thinned to about this number: pairs are
        drawn from them, as many that belong together as apart. Links that were given as pairs always count.
    n_components : int, optional
        Keep only so many directions, those of the largest eigenvalues.
    max_iter : int, default=1000
        Most sweeps.
    tol : float, default=1e-3
        Stop when a sweep changes the multipliers by at most this share of their norm.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the pairs that are drawn: from labels, and for the percentiles.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, d)
        Root of the metric: ``transform(X)`` is ``X @ components_.T``.
    n_components_ : int
        Number of directions.
    bounds_ : tuple of float
        Bounds on squared distances that were asked for.
    n_pairs_ : int
        Pairs of rows that were used.
    n_iter_ : int
        Number of sweeps.
    objective_, trace_ : float, ndarray
        Minus the dual objective, at the end and after every sweep.
    n_features_in_, feature_names_in_ : int, ndarray
        What the columns were.

    Raises
    ------
    Contradiction
        If links and groups of infinite weight tell two rows to be together and apart.

    Notes
    -----
    Minimized over positive definite matrices and bounds:

    .. math::

        D(A, A_0) + \gamma \sum_c w_c \left(\frac{\xi_c}{\xi_{0c}} - \log\frac{\xi_c}{\xi_{0c}} - 1\right)
        \quad\text{where}\quad \delta_c\,(x_i - x_j)^\top A\,(x_i - x_j) \le \delta_c\,\xi_c,

    :math:`D(A, A_0) = \operatorname{tr} A A_0^{-1} - \log\det A A_0^{-1} - d`. Projecting onto one pair after the
    other climbs the dual coordinate by coordinate, so ``trace_``, which is minus the dual objective (up to
    :math:`\log\det A_0`), never rises.

    ============================ ==================================
    paper                        here
    ============================ ==================================
    γ                            ``trust``
    u, l                         ``bounds``
    A₀                           ``prior``
    λ, ξ                         ``State.multiplier``, ``State.bound``
    ============================ ==================================

    *Deviations.* The step is the projection for any γ; the printed one, δ/2·(1/p − γ/ξ), agrees with it for γ = 1 only.
    Percentiles are of squared distances, as the bounds are, of distinct rows, and of a sample of 100,000 pairs where
    there are more. A pair of duplicates is left out: no metric parts them. A link of weight w has slack at w times the
    price; a link of weight 0 says nothing. Links of infinite weight that contradict each other are refused, and where a
    bound without slack is missed by a tenth after the last sweep, a warning says so.

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
        # Labels have weight 1 here, and clues that have slack may contradict each other.
        divide(clues.only(clues.kinds - {"labels"}), every=False)[0].require(clues.n)
        A = self._first_matrix(X.shape[1])
        rng = generator(self.random_state)
        links = sample_pairs(clues, self.max_pairs, rng)
        ends, weight = links.ends, links.weight
        lengths = squared_lengths(X, ends, A)
        useful = (lengths > DUPLICATE * lengths.max(initial=0)) & (weight > 0)
        pairs, price = ends[useful], self.trust * weight[useful]
        sign = np.where(links.is_must[useful], 1.0, -1.0)
        bounds = self._chosen_bounds(X, A, rng)
        chosen: Attributes = {"n_pairs_": len(pairs), "bounds_": bounds}
        if not len(pairs) and self.prior is None:
            return chosen | self._plain(X, "no clue joins or parts two rows that differ")
        small = len(pairs) * X.shape[1] <= KEPT
        bound = np.where(sign > 0, *bounds)
        asked = Asked(pairs, sign, 1 / price, bound, metric.differences(X, pairs) if small else None)
        slack = 1e-9 * (1 + X.shape[1] + price[np.isfinite(price)].sum())  # each term is of this order
        move = partial(step, X=X, asked=asked, tol=self.tol)
        # The multipliers say when to stop, in `step`, and not the objective.
        found = self._run(move, State(A, np.zeros(len(pairs)), bound), X.dtype, slack, tol=0.0)
        self._name_missed(X, asked, found.state.A, len(found.trace))
        return chosen | self._from_state(found.state, found.trace, X.dtype)

    def _name_missed(self, X: Floats, asked: Asked, A: Floats, n_iter: int) -> None:
        """Warn if a pair without slack is far from its bound: its multiplier would grow for ever."""
        hard = np.flatnonzero(asked.give == 0)
        ratio = squared_lengths(X, asked.pairs[hard], A) / asked.bound[hard]
        missed = hard[asked.sign[hard] * (ratio - 1) > MISSED]
        if len(missed):
            kind = "must-link" if asked.sign[missed[0]] > 0 else "cannot-link"
            i, j = asked.pairs[missed[0]]
            warnings.warn(
                f"the {kind} of rows {i} and {j}, which has no slack, misses its bound after {n_iter} sweeps; "
                "perhaps no metric meets all such bounds, or max_iter is too small.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _metric_of(self, state: State, dtype: Any) -> Attributes:
        try:
            # A is positive definite, so that no direction counts as none, however much units differ.
            return self._from_root(np.linalg.cholesky(state.A).T, dtype)
        except np.linalg.LinAlgError:  # but for rounding
            return self._from_matrix(state.A, dtype)

    def _first_matrix(self, d: int) -> Floats:
        """A₀."""
        if self.prior is None:
            return np.eye(d)
        given = _numbers(self.prior)
        if given is None or given.shape != (d, d) or not np.isfinite(given).all() or not np.allclose(given, given.T):
            raise ValueError(f"prior needs a symmetric matrix of shape ({d}, {d}) without nan or infinity.")
        if np.linalg.eigvalsh(given)[0] <= 0:
            raise ValueError("prior is not positive definite.")
        return (given + given.T) / 2

    def _chosen_bounds(self, X: Floats, A: Floats, rng: np.random.Generator) -> tuple[float, float]:
        """Bounds for must-links and for cannot-links."""
        if self.bounds is not None:
            given = _numbers(self.bounds)
            if given is None or given.shape != (2,) or not ((given > 0) & np.isfinite(given)).all():
                raise ValueError(
                    f"bounds needs two positive numbers (must-links, cannot-links); it is {self.bounds!r}."
                )
            return float(given[0]), float(given[1])
        sample = squared_lengths(X, any_pairs(len(X), SAMPLE, rng), A)
        sample = sample[sample > 0]
        low, high = np.percentile(sample, [5, 95]) if len(sample) else (1.0, 1.0)
        return float(low), float(high)


def _numbers(given: Any) -> Floats | None:
    """A table of numbers; None for what is none, such as text or rows of different length."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
