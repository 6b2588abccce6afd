"""TVClust: a mixture that finds its number of clusters and learns how far to trust the clues [Khashabi2015]_."""

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
from cluewise.mixture._tvclust import gibbs, results, starts, variational
from cluewise.mixture._tvclust.moves import State, begin, plain_step, step
from cluewise.mixture._tvclust.pair_evidence import Evidence, Noise, gather_evidence, of_links, reliabilities
from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart
from cluewise.mixture._tvclust.setup import Found, Setup, axes_of, beta_of, kept, prior_of, watched

__all__ = ["TVClust"]

ROUGH = 5e-4
"""Tolerance at which starts are compared; only the best of them goes on to ``tol``."""

WARM = 20
"""Iterations of variational inference that make the first state of a sampler."""


class TVClust(MixtureClusterer):
    r"""Mixture that finds its number of clusters, learns how often the clues are wrong, and names the doubtful ones.

    Use it when clues come from people or programs that err, at a rate that nobody knows: must-links and cannot-links
    are taken as noisy reports, and their error rates are learnt with the clusters. Clusters are Gaussians with any
    covariance (or distributions over words), so columns may be on any scale and correlated; it needs more rows per
    cluster than columns to be at its best. Where clues are certain, use a method with hard clues.

    Parameters
    ----------
    n_clusters : int, default=15
        Most clusters that are considered (the truncation); as many as the data ask for are used.
    engine : {"variational", "gibbs"}, default="variational"
        Deterministic approximation, fast; or sampling from the posterior, slower, with honest uncertainty.
    base : {"gaussian", "multinomial"}, NormalInverseWishart or DirichletMultinomial, default="gaussian"
        What a cluster is: a Gaussian, or for counts a distribution over columns. A name takes the prior from the data,
        a prior of ``cluewise.mixture`` is taken as it is.
    concentration : float, default=1.0
        Of the Dirichlet process (α): larger values like more clusters.
    must_prior : (float, float), default=(10.0, 1.0)
        Beta prior of p, the probability that a pair that is together is reported as must: times right, times wrong.
    cannot_prior : (float, float), default=(10.0, 1.0)
        Beta prior of q, the probability that a pair that is apart is reported as cannot.
    resolution : float, default=0.25
        How exactly numbers are known, as a share of the standard deviation of their column: no cluster is taken to be
        narrower than that. It keeps columns that are all but constant from deciding alone. Used by the variational
        engine with ``base="gaussian"``.
    n_components : int, default=16
        Wider data (more columns than this, or than half the rows) are first reduced to principal components of the
        standardized columns, at most so many and one for ten rows: covariances of more cannot be learnt. Only for
        ``base="gaussian"``.
    order : {"index", "random"} or permutation of the rows, default="index"
        Order in which the variational engine visits rows with clues.
    init : {"auto", "k-means", "random"}, array of shape (n_clusters, d) or callable, default="auto"
        Start: k-means on the rows, on the clues and on both in turn; on the rows alone; random centers; or centers.
    n_init : int, default=8
        Starts of the variational engine, of which the one with the highest bound is kept.
    max_iter : int, default=300
        Most iterations of the variational engine.
    tol : float, default=1e-5
        The variational engine stops when an iteration raises the bound by no more than this per row.
    sweeps : int, default=200
        Sweeps of the sampler after the first ones.
    burn_in : int, default=200
        First sweeps, which are forgotten.
    thin : int, default=1
        Of the other sweeps every ``thin``-th is kept.
    collapsed : bool, default=True
        Whether the sampler integrates the parameters of clusters out, or draws them as well.
    profile : {"library", "published"}, default="library"
        "published" does what the printed tables of the paper were made with: prior m₀ = 0, κ₀ = 1, Ψ₀ = I, ν₀ = d on
        standardized columns, one random start, no merging, at most 30 iterations, tolerance 5e-5.
    {random_state}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The likeliest cluster of each row; for "gibbs" the draw that is closest to all others (least squares of
        co-clustering).
    membership_ : ndarray of shape (n, k)
        Probability of each cluster for each row of the fit, clues included.
    n_clusters_ : int
        Number of clusters with rows.
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
        Posterior means of p and q, for "variational" under its approximation of the posterior.
    doubt_ : ndarray
        Probability that each link is wrong, calibrated, for ``clues_.must``, then ``clues_.cannot``. It may be far
        from what the two reliabilities say, which are those of the model.
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

    The variational engine maximizes a bound of the log evidence over :math:`q(v) q(\theta) q(z_i) q(p) q(q)`, rows with
    clues one at a time; the bound never falls. A must adds :math:`\langle\log p/(1-q)\rangle` to the log-odds that its
    rows are together, a cannot takes :math:`\langle\log q/(1-p)\rangle` away.

    A clue can be trusted as far as p, q *and* the base rate say: with h the share of reported pairs that are together,
    ``must_reliability_`` is :math:`\langle ph\rangle / \langle ph + (1-q)(1-h)\rangle` and ``cannot_reliability_`` is
    :math:`\langle q(1-h)\rangle / \langle q(1-h) + (1-p)h\rangle`. Means are over the posterior: for "gibbs" over the
    draws, each of which contributes the means of p and q given its partition; for "variational" p, q and h are
    independent and p and q follow Beta distributions with expected counts, so that where the partition itself is
    uncertain the rates are too confident. That a link is wrong follows likewise from its two rows given everything
    else, the link itself included once; ``doubt_`` is that probability, calibrated.

    ==================== ==================================
    paper                code
    ==================== ==================================
    :math:`\alpha`       ``concentration``
    :math:`p, q`         ``report_rates_``
    :math:`E_{ij}=1, 0`  ``must``, ``cannot``
    :math:`G_0`          ``base``
    ==================== ==================================

    *Deviations.* The updates are derived anew; the paper prints none. A clue acts on both of its rows. A clue of weight
    w counts as w independent reports; labels and groups count as the pairs that they stand for (at most ten million).
    The library's own prior expects clusters half as wide as the data and is stronger than the paper's (ν₀ = 2d + 2),
    numbers have a resolution, and clusters are put in order of size and merged wherever that raises the bound.
    ``doubt_`` is not the posterior of the paper's model, which is far too sure where clusters are not Gaussians: it is
    calibrated by how well the model predicts the links, so that few clues, or clusters that most clues contradict, call
    hardly any link wrong. ``report_rates_`` and the reliabilities are the posterior's.
    ``score_samples`` is the density of the principal components for wide data, and lacks the multinomial coefficient
    for counts.

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
        n_init: int = 8,
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

    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:
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
        """``n_clusters`` is a truncation: there may be more than rows."""

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
        # What far from the origin rounds off a mean, in standard deviations.
        lost = np.finfo(np.float64).eps * (np.abs(model.base.mean) / np.sqrt(np.diag(model.base.scatter))).max()
        return slack + float(rows.n * rows.d * lost**2)

    def _best_start(self, problem: Problem, progress: Any) -> loop.Result[Any]:
        """All starts roughly, then the best of them to the end."""
        best = super()._best_start(problem, progress)
        left = self.max_iter - len(best.trace)
        if self.engine == "gibbs" or self._published or not best.converged or self.tol >= ROUGH or left < 1:
            return best
        setup, before = best.state.setup, best.trace
        move = partial(step, model=setup.model, tol=self.tol)
        watch = partial(watched, setup=setup, watch=lambda state, trace: problem.limits.watch(state, before + trace))
        slack = self._slack(problem._replace(shared=setup))
        found = loop.run(move, best.state.inner, loop.Limits(left, 0.0, watch), slack)
        return loop.Result(Found(setup, found.state), before + found.trace, found.converged)

    def _solve(self, problem: Problem) -> loop.Result[Any]:
        setup: Setup = problem.shared
        model, published = setup.model, self._published
        watch = partial(watched, setup=setup, watch=problem.limits.watch)
        first, slack = begin(self._start(problem)), self._slack(problem)
        if self.engine == "variational":
            tol = 5e-5 if published else max(self.tol, ROUGH)
            move: Any = partial(plain_step, model=model) if published else partial(step, model=model, tol=tol)
            most = min(self.max_iter, 30) if published else self.max_iter
            found = loop.run(move, first, loop.Limits(most, tol if published else 0.0, watch), slack)
            return loop.Result(Found(setup, found.state), found.trace, found.converged)
        move = partial(step, model=model, tol=ROUGH)
        warm = loop.run(move, first, loop.Limits(WARM, 0.0), slack)
        trace: list[float] = []
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
            watch=partial(kept, into=trace, watch=watch),
            labels0=warm.state.membership.argmax(axis=1),
        )
        return loop.Result(Found(setup, draws), trace, True)

    def _start(self, problem: Problem) -> Floats:
        """(n, k) memberships to begin with."""
        views, rng, k = problem.shared.views, problem.rng, problem.k
        if self._published:
            centers = rng.normal(size=(k, views.X.shape[1]))
            away = ((views.by_rows(slice(None))[:, None, :] - centers) ** 2).sum(axis=2)
            return variational.softmax(-0.5 * views.X.shape[1] * away)
        chosen = seeding.given_centers(self.init, ("auto", "k-means", "random"), problem.rows, k, rng)
        if chosen is not None or self.init == "random":
            axes = problem.shared.axes
            if chosen is None:
                given = views.X[rng.choice(len(views.X), size=k)]
            else:
                given = chosen + problem.rows.shift if axes is None else axes.onto(chosen + problem.rows.shift)
            labels = starts.nearest(views, views.scaled(given), rows=True, reports=False)
        else:
            labels = starts.planned(views, k, problem.start, rng, rows_alone=self.init == "k-means")
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


def _doubts(wrong: Floats, pairs: Evidence, clues: Clues, rates: tuple[float, float]) -> Floats:
    """Doubts about the links from the posterior probabilities that the reports are wrong."""
    p, q = rates
    raw, weight = (of_links(values, pairs, clues) for values in (wrong, pairs.weight))
    odds = np.repeat([(1 - q) / p, (1 - p) / q], [len(clues.must), len(clues.cannot)])
    return doubt.calibrated(raw, odds**weight, clues, weight)
