"""TVClust: a mixture that finds the number of clusters and learns how reliable the clues are [Khashabi2015]_."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats
from cluewise.base import Attributes, Card, Problem
from cluewise.clues import Clues
from cluewise.core import loop, seeding
from cluewise.core.assign import visiting_order
from cluewise.core.probability import doubt
from cluewise.core.rows import Rows
from cluewise.mixture._base import MixtureClusterer
from cluewise.mixture._documents import rounding
from cluewise.mixture._potts import softmax
from cluewise.mixture._tvclust import gibbs, results, starts, variational
from cluewise.mixture._tvclust.moves import State, begin, plain_step, step
from cluewise.mixture._tvclust.pair_evidence import Evidence, Noise, gather_evidence, of_links, reliabilities
from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart
from cluewise.mixture._tvclust.setup import Found, Setup, axes_of, beta_of, prior_of

__all__ = ["TVClust"]

ROUGH = 5e-4
"""Tolerance at which starts are compared; only the best of them continues to ``tol``."""

WARM = 20
"""Iterations of variational inference that initialize the sampler."""


class TVClust(MixtureClusterer):
    r"""Mixture that finds the number of clusters, learns how often clues are wrong, and says which ones are doubtful.

    Use it when clues come from people or programs that make mistakes at an unknown rate: must-links and cannot-links
    are noisy reports, and their error rates are learned together with the clusters. Clusters are Gaussians with full
    covariance (or distributions over words), so columns may be correlated and on different scales. It works best with
    more rows per cluster than columns. If clues are certain, use a method with hard clues.

    Parameters
    ----------
    n_clusters : int, default=15
        Maximum number of clusters (the truncation); the data decide how many are used.
    engine : {"variational", "gibbs"}, default="variational"
        "variational" is a fast deterministic approximation. "gibbs" samples from the posterior, which is slower but
        gives a better estimate of the uncertainty.
    base : {"gaussian", "multinomial"}, NormalInverseWishart or DirichletMultinomial, default="gaussian"
        Distribution of a cluster: a Gaussian, or for counts a distribution over columns. With a name, the prior is
        derived from the data; a prior of ``cluewise.mixture`` is used as given.
    concentration : float, default=1.0
        Concentration α of the Dirichlet process: larger values favor more clusters.
    must_prior : (float, float), default=(10.0, 1.0)
        Beta prior of p, the probability that a pair that is together is reported as must: times right, times wrong.
    cannot_prior : (float, float), default=(10.0, 1.0)
        Beta prior of q, the probability that a pair that is apart is reported as cannot.
    resolution : float, default=0.25
        Precision of the data, as a share of the standard deviation of each column: no cluster is narrower than that. It
        keeps nearly constant columns from deciding alone. Used by the variational engine with ``base="gaussian"``.
    n_components : int, default=16
        Data with more columns than this, or than half the rows, are first reduced to principal components of the
        standardized columns: at most this many, and one per ten rows, because more covariances cannot be learned. Only
        for ``base="gaussian"``.
    order : {"index", "random"} or permutation of the rows, default="index"
        Order in which the variational engine visits rows with clues.
    init : {"auto", "k-means", "random"}, array of shape (n_clusters, d) or callable, default="auto"
        Initialization. "auto": k-means on the rows, on the clues and on both in turn; "k-means": on the rows alone;
        "random": random centers; or given centers.
    n_init : int or "auto", default=8
        Number of starts of the variational engine; the one with the highest bound is kept.
    max_iter : int, default=300
        Maximum number of iterations of the variational engine.
    tol : float, default=1e-5
        Increase of the bound per row below which the variational engine stops.
    sweeps : int, default=200
        Number of sweeps of the sampler after burn-in.
    burn_in : int, default=200
        Number of sweeps that are discarded first.
    thin : int, default=1
        Every ``thin``-th sweep after burn-in is kept.
    collapsed : bool, default=True
        Whether the sampler integrates out the parameters of clusters or draws them.
    profile : {"library", "published"}, default="library"
        "published" uses the settings of the tables in the paper: prior m₀ = 0, κ₀ = 1, Ψ₀ = I, ν₀ = d on standardized
        columns, one random start, no merging, at most 30 iterations, tolerance 5e-5.
    {random_state}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The most likely cluster of each row; for "gibbs" the draw that is closest to all others (least squares of
        co-clustering).
    membership_ : ndarray of shape (n, k)
        Probability of each cluster for each row of the fit, clues included.
    {n_clusters_}
    n_clusters_probability_ : ndarray
        Element c is the probability that c clusters have rows.
    weights_ : ndarray of shape (k,)
        Share of each cluster.
    means_ : ndarray of shape (k, d)
        Expected mean of each cluster (of the probabilities of columns for counts).
    must_reliability_ : float
        Probability that a must-link is right: P(together | must).
    cannot_reliability_ : float
        Probability that a cannot-link is right: P(apart | cannot).
    report_rates_ : tuple of float
        Posterior means of p and q; for "variational" under the approximate posterior.
    doubt_ : ndarray
        Calibrated probability that each link is wrong, first for ``clues_.must``, then for ``clues_.cannot``. It may
        differ much from the two reliabilities, which are not calibrated.
    clues_ : Clues
        The clues of the fit.
    objective_ : float
        Minus the bound; for "gibbs" minus the log joint probability of the best draw.
    lower_bound_ : float
        The bound, or that log joint probability.
    trace_ : ndarray
        Minus the bound after each iteration; for "gibbs" minus the log joint probability after each sweep.
    n_iter_ : int
        Number of iterations or sweeps.
    {broken_}

    Notes
    -----
    .. math:: z \sim \mathrm{DP}(\alpha),\quad x_i \mid z_i = k \sim F(\theta_k),\quad \theta_k \sim G_0,\quad
       P(\mathrm{must} \mid z_i = z_j) = p,\quad P(\mathrm{cannot} \mid z_i \ne z_j) = q

    The variational engine maximizes a bound on the log evidence over :math:`q(v) q(\theta) q(z_i) q(p) q(q)`. It
    updates rows with clues one at a time, and the bound never falls. A must-link adds
    :math:`\langle\log p/(1-q)\rangle` to the log-odds that its rows are together, a cannot-link subtracts
    :math:`\langle\log q/(1-p)\rangle`.

    How reliable a clue is depends on p, q *and* the base rate: with h the share of reported pairs that are together,
    ``must_reliability_`` is :math:`\langle ph\rangle / \langle ph + (1-q)(1-h)\rangle` and ``cannot_reliability_`` is
    :math:`\langle q(1-h)\rangle / \langle q(1-h) + (1-p)h\rangle`. Means are over the posterior. For "gibbs" they are
    over the draws, each of which contributes the means of p and q given its partition. For "variational" p, q and h are
    independent, and p and q follow Beta distributions with expected counts, so the rates are overconfident where the
    partition is uncertain. The probability that a link is wrong follows in the same way from its two rows given
    everything else, with the link itself counted once; ``doubt_`` is this probability, calibrated.

    ==================== ==================================
    paper                code
    ==================== ==================================
    :math:`\alpha`       ``concentration``
    :math:`p, q`         ``report_rates_``
    :math:`E_{ij}=1, 0`  ``must``, ``cannot``
    :math:`G_0`          ``base``
    ==================== ==================================

    *Deviations.* The updates are derived anew, because the paper prints none. A clue acts on both of its rows. A clue
    of weight w counts as w independent reports; labels and groups count as the pairs they imply (at most ten million).
    The library's own prior expects clusters half as wide as the data and is stronger than the paper's (ν₀ = 2d + 2),
    data have a resolution, and clusters are sorted by size and merged where that raises the bound. ``doubt_`` is not
    the posterior of the paper's model, which is much too confident for clusters that are not Gaussian. It is calibrated
    by how well the model predicts the links, so that with few clues, or with clusters that most clues contradict,
    hardly any link is called wrong. ``report_rates_`` and the reliabilities are those of the posterior. For wide data
    ``score_samples`` is the density of the principal components; for counts it lacks the multinomial coefficient.

    References
    ----------
    .. [Khashabi2015] D. Khashabi, J. Wieting, J. Y. Liu and F. Liang, "Clustering with side information: from a
       probabilistic model to a deterministic algorithm", arXiv:1508.06235, 2015.
    .. [Blei2006] D. M. Blei and M. I. Jordan, "Variational inference for Dirichlet process mixtures", Bayesian Analysis
       1(1), 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues, TVClust
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 5]), np.repeat([0, 1], 40)
    >>> clues = Clues.sample(y, pairs=100, noise=0.2, random_state=0)
    >>> model = TVClust(random_state=0).fit(X, clues=clues)
    >>> model.n_clusters_, int((model.doubt_ > 0.5).sum())
    (2, 20)
    """

    card = Card(
        paper="Khashabi2015",
        title="Mixture that learns how far to trust the clues",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        invariant=frozenset({"shift", "scale"}),
        finds=True,
        sparse=False,
        weights=False,
        judges=True,
        plain="",
        means=False,
        equation="TVClust: Dirichlet-process mixture with noisy reports about pairs",
        time_columns="square",
        memory="pairs",
        cost="O(nkd² + pairs k); labels and groups make up to n² pairs",
        aliases=("TV-Clust", "two-view clustering"),
    )
    _parameter_constraints = MixtureClusterer._parameter_constraints | {
        "engine": [StrOptions({"variational", "gibbs"})],
        "base": [StrOptions({"gaussian", "multinomial"}), NormalInverseWishart, DirichletMultinomial],
        "concentration": [Interval(Real, 0, None, closed="neither")],
        "must_prior": [tuple, list],
        "cannot_prior": [tuple, list],
        "resolution": [Interval(Real, 0, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "order": [StrOptions({"index", "random"}), "array-like"],
        "sweeps": [Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left")],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "collapsed": ["boolean"],
        "profile": [StrOptions({"library", "published"})],
    }

    membership_: Floats
    means_: Floats
    n_clusters_probability_: Floats
    must_reliability_: float
    cannot_reliability_: float
    report_rates_: tuple[float, float]
    clues_: Clues
    doubt_: Floats

    def __init__(
        self,
        n_clusters: int = 15,
        *,
        engine: str = "variational",
        base: Any = "gaussian",
        concentration: float = 1.0,
        must_prior: tuple[float, float] = (10.0, 1.0),
        cannot_prior: tuple[float, float] = (10.0, 1.0),
        resolution: float = 0.25,
        n_components: int = 16,
        order: Any = "index",
        init: Any = "auto",
        n_init: int | str = 8,
        max_iter: int = 300,
        tol: float = 1e-5,
        sweeps: int = 200,
        burn_in: int = 200,
        thin: int = 1,
        collapsed: bool = True,
        profile: str = "library",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.engine = engine
        self.base = base
        self.concentration = concentration
        self.must_prior = must_prior
        self.cannot_prior = cannot_prior
        self.resolution = resolution
        self.n_components = n_components
        self.order = order
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.collapsed = collapsed
        self.profile = profile
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:  # type: ignore[override]  # no weights
        """Cluster the rows of X and judge the clues about them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The data; counts for ``base="multinomial"``.
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        return super().fit(X, y, clues=clues)

    def _check_count(self, n: int) -> None:
        """``n_clusters`` is a truncation, which may exceed the number of rows."""

    @property
    def _published(self) -> bool:
        return self.profile == "published"

    def _prepare(self, problem: Problem) -> Setup:
        X: Floats = np.asarray(problem.rows.X, dtype=np.float64)
        axes = None
        if self.base == "gaussian" and not self._published:
            axes = axes_of(X, self.n_components, problem.rng)
        if axes is not None:
            X = axes.onto(X)
        noise = Noise(*beta_of(self.must_prior, "must_prior"), *beta_of(self.cannot_prior, "cannot_prior"))
        pairs = gather_evidence(problem.clues)
        base = prior_of(
            self.base,
            X,
            resolution=self.resolution if self.engine == "variational" else 0.0,
            published=self._published,
        )
        model = variational.model_of(X, pairs, base, noise, float(self.concentration))
        order = visiting_order(self.order, model.tied, len(X), problem.rng)
        model = model._replace(tied=model.tied[order])
        return Setup(model, starts.views_of(X, base, pairs, problem.rng), problem.clues, axes)

    def _n_starts(self, problem: Problem) -> int:
        return 1 if self.engine == "gibbs" or self._published else super()._n_starts(problem)

    def _slack(self, problem: Problem) -> float:
        rows, model = problem.rows, problem.shared.model
        slack = 1e-9 * (1 + rows.n * rows.d + len(model.pairs))
        if isinstance(model.base, DirichletMultinomial):
            return slack + rounding(float(model.X.sum()), float(model.base.counts.min()))
        # Rounding error of a mean far from the origin, in standard deviations.
        lost = np.finfo(np.float64).eps * (np.abs(model.base.mean) / np.sqrt(np.diag(model.base.scatter))).max()
        return slack + float(rows.n * rows.d * lost**2)

    def _finish(self, problem: Problem, best: loop.Result[Any]) -> loop.Result[Any]:
        """Continue the best start, which ended at a rough tolerance."""
        left = self.max_iter - len(best.trace)
        if self.engine == "gibbs" or self._published or not best.converged or self.tol >= ROUGH:
            return best
        if left < 1:
            return best._replace(converged=False)
        setup, before = best.state.setup, best.trace
        move = partial(step, model=setup.model, tol=self.tol)
        watch = _watch_found(setup, lambda state, trace: problem.limits.watch(state, before + trace))
        slack = self._slack(problem._replace(shared=setup))
        found = loop.run(move, best.state.inner, loop.Limits(left, 0.0, watch), slack)
        return loop.Result(Found(setup, found.state), before + found.trace, found.converged)

    def _solve(self, problem: Problem) -> loop.Result[Any]:
        setup: Setup = problem.shared
        model, published = setup.model, self._published
        watch = _watch_found(setup, problem.limits.watch)
        first, slack = begin(self._start(problem)), self._slack(problem)
        if self.engine == "variational":
            tol = 5e-5 if published else max(self.tol, ROUGH)
            move: Any = partial(plain_step, model=model) if published else partial(step, model=model, tol=tol)
            most = min(self.max_iter, 30) if published else self.max_iter
            found = loop.run(move, first, loop.Limits(most, tol if published else 0.0, watch), slack)
            return loop.Result(Found(setup, found.state), found.trace, found.converged)
        move = partial(step, model=model, tol=ROUGH)
        warm = loop.run(move, first, loop.Limits(WARM, 0.0), slack)
        kept: list[float] = []

        def keep_trace(state: Any, trace: list[float]) -> bool:
            kept[:] = trace
            return watch(state, trace)

        draws = gibbs.sample(
            model.X,
            model.pairs,
            (model.base, model.noise),
            sweeps=self.sweeps,
            burn_in=self.burn_in,
            thin=self.thin,
            collapsed=self.collapsed,
            truncation=self.n_clusters,
            concentration=model.concentration,
            rng=problem.rng,
            watch=keep_trace,
            labels0=warm.state.membership.argmax(axis=1),
        )
        return loop.Result(Found(setup, draws), kept, True)

    def _start(self, problem: Problem) -> Floats:
        """(n, k) initial memberships."""
        views, rng, k = problem.shared.views, problem.rng, problem.k
        if self._published:
            centers = rng.normal(size=(k, views.X.shape[1]))
            away = ((views.by_rows(slice(None))[:, None, :] - centers) ** 2).sum(axis=2)
            return softmax(-0.5 * views.X.shape[1] * away)
        chosen = seeding.given_centers(self.init, ("auto", "k-means", "random"), problem.rows, k, rng)
        if chosen is not None or self.init == "random":
            axes = problem.shared.axes
            if chosen is None:
                given = views.X[rng.choice(len(views.X), size=k)]
            else:
                given = chosen + problem.rows.shift if axes is None else axes.onto(chosen + problem.rows.shift)
            labels = starts.nearest(views, views.scale_rows(given), rows=True, reports=False)
        else:
            labels = starts.plan_labels(views, k, problem.start, rng, rows_alone=self.init == "k-means")
        return starts.memberships(labels, k)

    def _state_attributes(self, problem: Problem, state: Found, trace: list[float]) -> Attributes:
        setup = state.setup
        model, pairs, clues = setup.model, setup.model.pairs, setup.clues
        if isinstance(state.inner, State):
            assert state.inner.beliefs is not None
            found = results.from_memberships(state.inner.membership, state.inner.names, state.inner.beliefs, model)
            lowest = trace[-1]
        else:
            found = results.from_draws(state.inner, model)
            lowest = float(min(trace))
        means = model.base.means(found.clusters)
        p, q = found.rates.T
        rates = float(p.mean()), float(q.mean())
        must, cannot = reliabilities(p, q, found.near)
        return super()._state_attributes(problem, found, trace) | {
            "objective_": lowest,
            "lower_bound_": -lowest,
            "clues_": clues,
            "membership_": found.membership,
            "weights_": found.weights,
            "means_": means if setup.axes is None else setup.axes.back(means),
            "n_clusters_probability_": found.count_probability,
            "report_rates_": rates,
            "must_reliability_": must,
            "cannot_reliability_": cannot,
            "doubt_": _doubts(found.wrong, pairs, clues, rates),
            "_clusters": found.clusters,
            "_axes": setup.axes,
            "_base": model.base,
        }

    def _log_joint(self, rows: Rows, block: Any) -> Floats:
        X: Floats = np.asarray(rows.X[block], dtype=np.float64)
        if self._axes is not None:
            X = self._axes.onto(X)
        density = self._base.log_predictive(X, self._clusters)
        return (density + np.log(self.weights_)).T


def _watch_found(setup: Setup, watch: loop.Watch) -> loop.Watch:
    """A watch that gets each state together with the setup, which is needed to publish it."""
    return lambda state, trace: watch(Found(setup, state), trace)


def _doubts(wrong: Floats, pairs: Evidence, clues: Clues, rates: tuple[float, float]) -> Floats:
    """Calibrated doubts about the links, from the posterior probabilities that the reports are wrong."""
    p, q = rates
    raw, weight = (of_links(values, pairs, clues) for values in (wrong, pairs.weight))
    odds = np.repeat([(1 - q) / p, (1 - p) / q], [len(clues.must), len(clues.cannot)])
    return doubt.calibrated(raw, odds**weight, clues, weight)
