"""DistBoost: a distance from Gaussian mixtures that vote, each fitted to what the others got wrong [Hertz2004]_."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, ClueEstimator, MetricThen, checked_data, generator
from cluewise.boosting import _rounds as boosting
from cluewise.boosting._rounds import SignedPairs, Weights
from cluewise.clues import Clues
from cluewise.core import loop
from cluewise.core.loop import Progress
from cluewise.core.probability import gaussians
from cluewise.core.threads import one_blas_thread
from cluewise.core.views import build_pair_graph
from cluewise.exceptions import ClueError, SoftClueWarning
from cluewise.mixture import EquivalenceGMM

__all__ = ["DistBoost"]

TRIES = 3
"""Number of seeds of the mixture tried in a round before boosting ends."""

MEMORY = 2**31
"""Maximum size of a table of distances, in bytes."""


class Round(NamedTuple):
    """A weak distance and its weight."""

    alpha: float
    mixture: EquivalenceGMM
    labels: Ints  # (n,) most likely cluster of each fitted row
    strengths: Floats  # (n,) its probability


class State(NamedTuple):
    """What the next round needs."""

    weights: Weights
    rounds: list[Round]
    votes: Floats  # (m,) Σ α h on the linked pairs


class Task(NamedTuple):
    """What all rounds have in common."""

    X: Floats
    pairs: SignedPairs
    first: Floats  # (m,) initial weights of the pairs, which sum to 1
    known: Clues  # for the mixtures
    mixture: EquivalenceGMM
    decay: float
    rng: np.random.Generator


def step(state: State, *, task: Task) -> tuple[State, loop.Info]:
    """One round: a mixture of the weighted rows, its edge on the pairs, and new weights of the pairs."""
    weights, pairs = state.weights, task.pairs
    row_weights = boosting.row_weights(pairs, weights)
    first, second = pairs.rows[pairs.ends].T
    for _ in range(TRIES):
        mixture = EquivalenceGMM(**task.mixture.get_params())
        mixture.set_params(random_state=int(task.rng.integers(2**31 - 1)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a weak learner may have empty clusters
            warnings.simplefilter("ignore", SoftClueWarning)  # the edge counts weights that the mixture ignores
            mixture.fit(task.X, clues=task.known, sample_weight=row_weights)
        labels, strengths = boosting.strength(mixture.predict_proba(task.X))
        found = boosting.weak_similarity((labels[first], strengths[first]), (labels[second], strengths[second]))
        edge = min(boosting.edge(pairs, weights, found), boosting.CLIP)
        if edge > boosting.ROUNDING * boosting.mass_of(weights):
            alpha = float(np.arctanh(edge))  # ½ log((1 + r) / (1 − r))
            new = State(
                boosting.reweight(pairs, weights, found, alpha, task.decay),
                [*state.rounds, Round(alpha, mixture, labels, strengths)],
                state.votes + alpha * found,
            )
            return new, loop.Info(boosting.pair_loss(pairs, task.first, new.votes), pairs.n)
    return state, loop.Info(boosting.pair_loss(pairs, task.first, state.votes), 0)


class DistBoost(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClueEstimator):
    r"""Learn a distance from pairs: Gaussian mixtures vote on whether two rows belong together.

    Use it before a method that takes a matrix of distances, such as average linkage or spectral clustering, when
    clusters have different shapes and sizes, so that no single linear metric (such as `RCA`) suits all of them. Each
    round fits a mixture with links to rows weighted by how wrong their pairs still are. Distances of new rows are
    available, too. Classes that are curved or consist of several clusters remain difficult.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters of each mixture, ideally the number of classes: if a class is split, its parts are far apart.
    n_rounds : int, default=20
        Maximum number of rounds.
    decay : float, default=10.0
        How much faster pairs without a link lose weight than linked pairs that the mixtures get right.
    links : {"all", "must"}, default="all"
        Which clues the mixtures use: all, or only which rows are together. With "all", clues that contradict each
        other, or that need more clusters, raise an error; use "must" if clues may be wrong.
    {covariance_type}
    reg_covar : float, default=0.01
        Added to the diagonal of covariances, as a share of the mean variance of a column.
    {random_state}

    Attributes
    ----------
    mixtures_ : list of EquivalenceGMM
        Mixtures of the rounds that lowered the objective.
    weights_ : ndarray of shape (n_mixtures,)
        Their weights.
    pair_weights_ : ndarray of shape (n_pairs,)
        Final weight of each pair, must-links first; large for pairs that most mixtures get wrong.
    objective_ : float
        Mean exponential loss of the pairs, 1 before the first round.
    trace_ : ndarray
        The objective after each round; it never increases.
    n_iter_ : int
        Number of rounds; the last one may not have helped.

    See Also
    --------
    BoostCluster : Boosts a clusterer instead of a distance.

    Notes
    -----
    With the probability :math:`c_t` of the most likely cluster of a row under mixture t, a weak similarity is
    :math:`h_t(i, j) = \pm c_t(i) c_t(j)`, positive if the clusters agree. The learned similarity and distance are

    .. math:: f(i, j) = \frac{\sum_t \alpha_t h_t(i, j)}{\sum_t \alpha_t} \in [-1, 1], \qquad
        D(i, j) = \tfrac12 (1 - f(i, j)),

    where with pairs labeled :math:`y_{ij} = \pm 1` and weights :math:`W_{ij}` of all ordered pairs of rows

    .. math:: r_t = \sum_{labeled} W_{ij} y_{ij} h_t(i, j), \qquad \alpha_t = \tfrac12 \log\frac{1 + r_t}{1 - r_t},

    and W is multiplied by :math:`e^{-\alpha_t y h_t}` on labeled pairs, by :math:`e^{-\lambda \alpha_t}` elsewhere.
    As the total weight of labeled pairs is at most 1, :math:`\alpha_t` is at most the best step, and the loss
    :math:`\sum e^{-y \sum_t \alpha_t h_t}` never increases.

    ========================= ================================================
    paper                     code
    ========================= ================================================
    :math:`W_{ij}`            ``pair_weights_`` and one number for other pairs
    :math:`\lambda`           ``decay``
    :math:`\alpha_t`          ``weights_[t]``
    :math:`f`, :math:`D`      ``similarity``, ``pair_distance``
    ========================= ================================================

    D is not a metric: rows between clusters have a positive distance from themselves.

    *Deviations.* The edge includes the labels of the pairs, and the distance is based on 1 minus the similarity; the
    survey omits both. Rows have weights :math:`n \sum_j W_{ij}` instead of that many copies. All pairs start with
    weight :math:`1/n^2`, times the weights of clues. A mixture with :math:`r \le 0` is drawn again, up to three times,
    then boosting ends.

    References
    ----------
    .. [Hertz2004] T. Hertz, A. Bar-Hillel and D. Weinshall, "Boosting margin based distance functions for clustering",
       ICML 2004.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from cluewise import Clues, datasets
    >>> from cluewise.boosting import DistBoost
    >>> from cluewise.metrics import ari
    >>> iris = datasets.load("iris", standardize=True)
    >>> clues = Clues.sample(iris.y, pairs=200, random_state=0)
    >>> metric = DistBoost(3, random_state=0)
    >>> D = metric.fit_transform(iris.X, clues=clues)
    >>> linkage = AgglomerativeClustering(3, metric="precomputed", linkage="average")
    >>> ari(iris.y, linkage.fit_predict(D)) > 0.8
    True
    >>> near, far = metric.similarity(iris.X[[0, 0]], iris.X[[1, 100]])  # two of one class, two of different ones
    >>> bool(near > 0.9 > -0.9 > far)
    True
    """

    card: ClassVar[Card] = Card(
        paper="Hertz2004",
        title="Distance voted by boosted mixtures",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        invariant=frozenset({"shift", "scale"}),
        predicts=False,
        sparse=False,
        weights=False,
        plain="",
        means=False,
        equation="exponential loss of labeled pairs",
        time_columns="square",
        memory="pairs",
        cost="O(nkd² + m) per iteration of a mixture; labels and groups make up to n² pairs",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "decay": [Interval(Real, 0, None, closed="left")],
        "links": [StrOptions({"must", "all"})],
        "covariance_type": [StrOptions(set(gaussians.KINDS))],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    mixtures_: list[EquivalenceGMM]
    weights_: Floats
    pair_weights_: Floats
    n_iter_: int
    trace_: Floats
    objective_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_rounds: int = 20,
        decay: float = 10.0,
        links: str = "all",
        covariance_type: str = "full",
        reg_covar: float = 0.01,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_rounds = n_rounds
        self.decay = decay
        self.links = links
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:
        """Learn a distance for the rows of X from what is known about pairs of them.

        Parameters
        ----------
        {X_dense}
        {y}
        {some_clues}
            Labels and groups count as the pairs that they imply.

        Returns
        -------
        {self}
        """
        self._reset(y, clues)
        X = checked_data(self, X, reset=True, sparse=False)
        if self.n_clusters > len(X):
            raise ValueError(f"n_clusters={self.n_clusters} is larger than the number of rows, n_samples={len(X)}.")
        known = self._check_clues(clues, len(X))
        links = build_pair_graph(known)
        if not len(links):
            raise ClueError(
                f"DistBoost learns from pairs, but the clues about n_samples={len(X)} rows imply none; "
                "give links, groups or labels."
            )
        if not links.must.any() and not links.cannot.any():
            raise ClueError("DistBoost learns from pairs by their weights, but the weights of all clues are 0.")
        pairs = boosting.sign_pairs(links, len(X))
        weight = np.concatenate([links.must[links.must > 0], links.cannot[links.cannot > 0]])
        unit = float(X.var(axis=0, dtype=np.float64).mean()) or 1.0
        task = Task(
            X,
            pairs,
            weight / weight.sum(),
            known if self.links == "all" else _together(known),
            EquivalenceGMM(self.n_clusters, covariance_type=self.covariance_type, reg_covar=self.reg_covar * unit),
            self.decay,
            generator(self.random_state),
        )
        start = State(boosting.begin(pairs, weight), [], np.zeros(len(weight)))
        callbacks = getattr(self, "_skl_callbacks", ())
        with one_blas_thread(), Progress(self, callbacks, 1, self.n_rounds) as progress:
            progress.begin_start(0)
            try:
                move = partial(step, task=task)
                found = loop.run(move, start, loop.Limits(self.n_rounds, 0.0, progress), slack=1e-9)
            except KeyboardInterrupt:
                if progress.last is not None:
                    self._write(_results(*progress.last))
                raise
            progress.end_start()
        if not found.state.rounds:
            raise ClueError(
                f"no mixture of n_clusters={self.n_clusters} gets more of the {len(pairs.sign)} pairs right than "
                "wrong; do the clues contradict each other?"
            )
        self._write(_results(found.state, found.trace))
        return self

    def similarity(self, A: Any, B: Any) -> Floats:
        """Learned similarity of each row of A to the row of B at the same position.

        Parameters
        ----------
        A, B : array-like of shape (m, d)
            First and second rows of the pairs.

        Returns
        -------
        ndarray of shape (m,)
            Between -1 (certainly apart) and 1 (certainly together).
        """
        check_is_fitted(self)
        A, B = (checked_data(self, rows, reset=False, sparse=False) for rows in (A, B))
        if len(A) != len(B):
            raise ValueError(f"A and B must have the same number of rows; A has {len(A)} rows and B has {len(B)}.")
        total = np.zeros(len(A))
        for alpha, mixture, _, _ in self._rounds:
            ends = (boosting.strength(mixture.predict_proba(rows)) for rows in (A, B))
            total += alpha * boosting.weak_similarity(*ends)
        return np.clip(total / self.weights_.sum(), -1, 1)  # rounding may exceed the bounds

    def pair_distance(self, A: Any, B: Any) -> Floats:
        """Learned distance of each row of A from the row of B at the same position.

        Parameters
        ----------
        A, B : array-like of shape (m, d)
            First and second rows of the pairs, for example ``X[i]`` and ``X[j]`` with arrays of row numbers i and j.

        Returns
        -------
        ndarray of shape (m,)
            Between 0 and 1.
        """
        return (1 - self.similarity(A, B)) / 2

    def transform(self, X: Any) -> Floats:
        """Learned distances of rows from all fitted rows.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Fitted or new rows.

        Returns
        -------
        ndarray of shape (m, n)
            Between 0 and 1. More than 2 GiB raise an error.
        """
        check_is_fitted(self)
        X = checked_data(self, X, reset=False, sparse=False)
        n = len(self._rounds[0].labels)
        size = 8 * len(X) * n
        if size > MEMORY:
            raise ValueError(
                f"the distances of {len(X)} rows from {n} take {size / 2**30:.1f} GiB, more than {MEMORY / 2**30:.0f}; "
                "transform fewer rows at a time, or use pair_distance for pairs."
            )
        out = np.zeros((len(X), n))
        for alpha, mixture, labels, strengths in self._rounds:
            mine, strong = boosting.strength(mixture.predict_proba(X))
            for start in range(0, len(X), 512):  # keeps temporary arrays small
                rows = slice(start, start + 512)
                some = mine[rows, None], strong[rows, None]
                out[rows] += alpha * boosting.weak_similarity(some, (labels, strengths))
        out /= -2 * self.weights_.sum()
        out += 0.5
        return np.clip(out, 0, 1, out=out)  # rounding may exceed the bounds, and many methods reject negative distances

    def then(self, clusterer: Any, random_state: Any = None) -> MetricThen:
        """Chain this estimator with a clusterer that takes distances.

        Parameters
        ----------
        clusterer : estimator
            A clusterer that takes a square matrix of distances, for example ``DBSCAN(metric="precomputed")``.
        random_state : int, numpy Generator or RandomState, default=None
            Seed from which those of both steps are drawn. None: each step uses its own ``random_state``.

        Returns
        -------
        MetricThen
            A clusterer with the parameters ``metric``, ``clusterer`` and ``random_state``; ``fit(X, clues=...)`` fits
            clones of both.
        """
        return MetricThen(self, clusterer, random_state)

    @property
    def _n_features_out(self) -> int:
        return len(self._rounds[0].labels)


def _together(clues: Clues) -> Clues:
    """Keep only which rows are together, by links, groups or labels."""
    component = clues.components
    return Clues(clues.n, together=np.where(np.bincount(component)[component] > 1, component, -1))


def _results(state: State, trace: list[float]) -> Attributes:
    """Fitted attributes, also after an interrupted fit."""
    return {
        "_rounds": state.rounds,
        "mixtures_": [one.mixture for one in state.rounds],
        "weights_": np.array([one.alpha for one in state.rounds]),
        "pair_weights_": state.weights.linked,
        "trace_": np.array(trace),
        "objective_": trace[-1],
        "n_iter_": len(trace),
    }
