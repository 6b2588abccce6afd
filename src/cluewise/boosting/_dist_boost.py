"""DistBoost: a distance voted by Gaussian mixtures, each fitted where the others got pairs wrong [Hertz2004]_."""

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
"""Seeds of the mixture that are tried in a round before boosting ends."""

MEMORY = 2**31
"""Bytes of a table of distances above which it is refused."""


class Round(NamedTuple):
    """A weak distance and its weight."""

    alpha: float
    mixture: EquivalenceGMM
    labels: Ints  # (n,) likeliest cluster of the rows that were fitted
    strengths: Floats  # (n,) how likely it is


class State(NamedTuple):
    """What the next round needs."""

    weights: Weights
    rounds: list[Round]
    votes: Floats  # (m,) Σ α h on the linked pairs


class Task(NamedTuple):
    """What all rounds have in common."""

    X: Floats
    pairs: SignedPairs
    first: Floats  # (m,) weights of the pairs at the start, which sum to 1
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
            warnings.simplefilter("ignore", ConvergenceWarning)  # an empty cluster of a weak learner is no harm
            warnings.simplefilter("ignore", SoftClueWarning)  # weights that a mixture ignores count in its edge
            mixture.fit(task.X, clues=task.known, sample_weight=row_weights)
        labels, strengths = boosting.strength(mixture.predict_proba(task.X))
        found = boosting.paired((labels[first], strengths[first]), (labels[second], strengths[second]))
        edge = min(boosting.edge(pairs, weights, found), boosting.CLIP)
        if edge > boosting.ROUNDING * boosting.mass_of(weights):
            alpha = float(np.arctanh(edge))  # ½ log((1 + r) / (1 − r))
            new = State(
                boosting.reweighted(pairs, weights, found, alpha, task.decay),
                [*state.rounds, Round(alpha, mixture, labels, strengths)],
                state.votes + alpha * found,
            )
            return new, loop.Info(boosting.pair_loss(pairs, task.first, new.votes), pairs.n)
    return state, loop.Info(boosting.pair_loss(pairs, task.first, state.votes), 0)


class DistBoost(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClueEstimator):
    r"""Learn a distance from pairs: Gaussian mixtures vote on whether two rows belong together.

    Use it in front of a method that takes a table of distances, such as average linkage or spectral clustering, when
    clusters are lumps of different shape and size, so that no one weighting of columns (`RCA` and its like) suits all
    of them. Each round fits a mixture with these links to rows weighted by how wrong their pairs still are.
    New rows have distances, too. Classes that are bent or fall into several lumps stay a problem.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters of each mixture, best the number of classes: clusters of one class are apart, too.
    n_rounds : int, default=20
        Most rounds.
    decay : float, default=10.0
        How much faster than pairs that come out right the pairs lose weight about which nothing is known.
    links : {"all", "must"}, default="all"
        What the mixtures use: which rows are together and which apart, or only which are together. Clues that
        contradict each other, or that need more clusters, are an error with "all"; so "must" is for wrong clues.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the clusters of a mixture.
    reg_covar : float, default=0.01
        Added to the diagonal of covariances, as a share of the mean variance of a column.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the mixtures.

    Attributes
    ----------
    mixtures_ : list of EquivalenceGMM
        The mixture of each round that helped.
    weights_ : ndarray of shape (n_mixtures,)
        Their weights.
    pair_weights_ : ndarray of shape (n_pairs,)
        Weight of each pair at the end, must-links first; large where no mixture is right.
    objective_ : float
        Mean exponential loss of the pairs, 1 before the first round.
    trace_ : ndarray
        The objective after each round; it never rises.
    n_iter_ : int
        Number of rounds, the last of which may have found nothing.

    See Also
    --------
    BoostCluster : Boosts a clusterer instead of a distance.

    Notes
    -----
    With the likeliest cluster of a row under mixture t and its probability :math:`c_t`, a weak similarity is
    :math:`h_t(i, j) = \pm c_t(i) c_t(j)`, positive where the clusters agree. What is learned is

    .. math:: f(i, j) = \frac{\sum_t \alpha_t h_t(i, j)}{\sum_t \alpha_t} \in [-1, 1], \qquad
        D(i, j) = \tfrac12 (1 - f(i, j)),

    where with pairs labelled :math:`y_{ij} = \pm 1` and weights :math:`W_{ij}` of all ordered pairs of rows

    .. math:: r_t = \sum_{labelled} W_{ij} y_{ij} h_t(i, j), \qquad \alpha_t = \tfrac12 \log\frac{1 + r_t}{1 - r_t},

    and W is multiplied by :math:`e^{-\alpha_t y h_t}` on labelled pairs, by :math:`e^{-\lambda \alpha_t}` elsewhere.
    As the labelled weight is at most 1, :math:`\alpha_t` is at most the best step, and the loss
    :math:`\sum e^{-y \sum_t \alpha_t h_t}` never rises.

    ========================= ================================================
    paper                     code
    ========================= ================================================
    :math:`W_{ij}`            ``pair_weights_`` and one number for other pairs
    :math:`\lambda`           ``decay``
    :math:`\alpha_t`          ``weights_[t]``
    :math:`f`, :math:`D`      ``similarity``, ``pair_distance``
    ========================= ================================================

    D is no metric: rows that are between clusters have a distance from themselves.

    *Deviations.* The edge has the labels of the pairs and the distance is 1 minus the similarity, both of which the
    survey's text lacks. Rows have weights :math:`n \sum_j W_{ij}` instead of that many copies. All pairs begin with
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
        equation="exponential loss of labelled pairs",
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
        clues : Clues or array-like of shape (n,)
            What is known; an array is taken as partial labels. Labels and groups count as their pairs.

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
                f"DistBoost learns from pairs, and the clues about n_samples={len(X)} rows make none: "
                "give links, groups or labels."
            )
        if not links.must.any() and not links.cannot.any():
            raise ClueError("DistBoost learns from pairs by their weights, and the weights of all clues are 0.")
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
                f"no mixture of n_clusters={self.n_clusters} puts more of the {len(pairs.sign)} pairs right than "
                "wrong; do the clues contradict each other?"
            )
        self._write(_results(found.state, found.trace))
        return self

    def similarity(self, A: Any, B: Any) -> Floats:
        """Learned similarity of pairs of rows: of each row of A to the row of B in the same place.

        Parameters
        ----------
        A, B : array-like of shape (m, d)
            First and second rows of the pairs.

        Returns
        -------
        ndarray of shape (m,)
            Between -1 (apart for certain) and 1 (together for certain).
        """
        check_is_fitted(self)
        A, B = (checked_data(self, rows, reset=False, sparse=False) for rows in (A, B))
        if len(A) != len(B):
            raise ValueError(f"pairs need as many first as second rows; A has {len(A)} rows and B has {len(B)}.")
        total = np.zeros(len(A))
        for alpha, mixture, _, _ in self._rounds:
            ends = (boosting.strength(mixture.predict_proba(rows)) for rows in (A, B))
            total += alpha * boosting.paired(*ends)
        return np.clip(total / self.weights_.sum(), -1, 1)  # rounding would go beyond

    def pair_distance(self, A: Any, B: Any) -> Floats:
        """Learned distances of pairs of rows: of each row of A from the row of B in the same place.

        Parameters
        ----------
        A, B : array-like of shape (m, d)
            First and second rows of the pairs; for pairs of rows of X: ``pair_distance(X[i], X[j])``.

        Returns
        -------
        ndarray of shape (m,)
            Between 0 and 1.
        """
        return (1 - self.similarity(A, B)) / 2

    def transform(self, X: Any) -> Floats:
        """Learned distances of rows from all rows that were fitted.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Rows, old or new.

        Returns
        -------
        ndarray of shape (m, n)
            Between 0 and 1; tables of more than 2 GiB are refused.
        """
        check_is_fitted(self)
        X = checked_data(self, X, reset=False, sparse=False)
        n = len(self._rounds[0].labels)
        size = 8 * len(X) * n
        if size > MEMORY:
            raise ValueError(
                f"the distances of {len(X)} rows from {n} take {size / 2**30:.1f} GiB, more than {MEMORY / 2**30:.0f}; "
                "transform fewer rows at a time, or ask for pairs by pair_distance."
            )
        out = np.zeros((len(X), n))
        for alpha, mixture, labels, strengths in self._rounds:
            mine, strong = boosting.strength(mixture.predict_proba(X))
            for start in range(0, len(X), 512):  # what is made beside `out` stays small
                rows = slice(start, start + 512)
                out[rows] += alpha * boosting.paired((mine[rows, None], strong[rows, None]), (labels, strengths))
        out /= -2 * self.weights_.sum()
        out += 0.5
        return np.clip(out, 0, 1, out=out)  # rounding would go beyond, and who takes distances refuses negative ones

    def then(self, clusterer: Any) -> MetricThen:
        """Learn the distance, then cluster by it with a clusterer that takes a table, as one estimator.

        Parameters
        ----------
        clusterer : estimator
            One that takes a square table of distances, for example ``DBSCAN(metric="precomputed")``.

        Returns
        -------
        MetricThen
            A clusterer with the parameters ``metric`` and ``clusterer``; ``fit(X, clues=...)`` fits copies of both.
        """
        return MetricThen(self, clusterer)

    @property
    def _n_features_out(self) -> int:
        return len(self._rounds[0].labels)


def _together(clues: Clues) -> Clues:
    """Only which rows are together, by links, groups or labels."""
    component = clues.components
    return Clues(clues.n, together=np.where(np.bincount(component)[component] > 1, component, -1))


def _results(state: State, trace: list[float]) -> Attributes:
    """Results, also of an interrupted fit."""
    return {
        "_rounds": state.rounds,
        "mixtures_": [one.mixture for one in state.rounds],
        "weights_": np.array([one.alpha for one in state.rounds]),
        "pair_weights_": state.weights.linked,
        "trace_": np.array(trace),
        "objective_": trace[-1],
        "n_iter_": len(trace),
    }
