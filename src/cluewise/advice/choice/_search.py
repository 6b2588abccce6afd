"""Choice by held-out clues: which method, which parameters, how many clusters, and whether to use clues at all."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise.advice.choice._candidates import candidates, likely_counts, named, wished
from cluewise.advice.choice._runner import Runner, labels_of, reason
from cluewise.advice.choice._trials import Trial, chance_warning, drop, pick
from cluewise.base import Informed, as_clues, generator
from cluewise.clues import Clues
from cluewise.core.loop import Progress
from cluewise.exceptions import ClueError
from cluewise.metrics import held_out

__all__ = ["ClueSearchCV"]


def _best_has(name: str) -> Any:
    """Whether the best estimator, or before the fit each of them, has this method."""

    def has(self: ClueSearchCV) -> bool:
        inside = [self.best_estimator_] if hasattr(self, "best_estimator_") else named(self.estimators).values()
        for estimator in inside:
            getattr(estimator, name)
        return True

    return has


class ClueSearchCV(MetaEstimatorMixin, ClusterMixin, Informed):
    r"""Choose method, parameters and number of clusters by how well held-out clues are predicted.

    That a method keeps the clues it was told proves little. So the clues are split into folds; every candidate is
    fitted on all rows with the clues outside a fold, and its clusters are compared with the clues in the fold. The
    winner is fitted again with all clues. Every candidate also runs without clues, so that clues which predict nothing
    may be left unused. Only what is demanded is told always: bounds on sizes, clusterings to avoid, links and
    groups of infinite weight.

    Parameters
    ----------
    estimators : estimator, list of estimators or dict of str to estimator
        What to choose from: instances, which are cloned. One that takes no clues, such as scikit-learn's ``KMeans``,
        runs without.
    param_grid : dict or list of dicts, optional
        Parameters to try, as `sklearn.model_selection.GridSearchCV` takes them; for several estimators a dict
        from their names (in a list, their class names) to such grids.
    n_clusters : int, array-like of int, "auto" or None, default=None
        Numbers of clusters to try. "auto": from the number that the clues need (classes seen, rows all apart) to about
        twice that. None: what the estimators say.
    n_splits : int, default=5
        Number of folds. Rows joined by must-links are in one fold, and every clue that touches a row of the fold
        is held out, so that nothing that is told entails what is asked.
    without : bool, default=True
        Whether every candidate also runs without clues (demands are told all the same).
    scoring : callable, optional
        ``scoring(labels, held_out)`` with the labels of all rows and the held-out `Clues`; larger is better, the mean
        over the folds counts. By default the adjusted Rand index on the pairs of rows that the held-out clues
        speak of (see Notes).
    time_limit : float, optional
        Seconds for the search, without the last fit. Candidates that do not fit into it are dropped.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds, and of estimators whose own ``random_state`` is None.

    Attributes
    ----------
    best_estimator_ : estimator
        The winner, fitted with all clues (or without, if that is what won).
    best_params_ : dict
        What the search has set on it.
    best_score_ : float
        Its score; nan where there was only one candidate and nothing was held out.
    best_name_ : str
        Name of the winner.
    uses_clues_ : bool
        Whether the winner was told the clues; if not, it was told only what is demanded.
    results_ : Trials
        All candidates: print it, index it, or take its ``columns``. Its ``warning`` says so where even the winner is
        not clearly better than chance.
    labels_ : ndarray of shape (n,)
        Clusters of the winner.
    n_clusters_ : int
        How many there are.
    broken_ : Clues
        The clues that the winner breaks.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where X has names.

    Notes
    -----
    Every held-out clue says of some pairs of rows that they belong together or apart: a link of one pair; a label of
    the pairs with all labelled rows, weighted to count as one link. With these pairs in a table by what clues and
    clusters say, summed over the folds, the score is

    .. math:: \kappa = \frac{p - p_0}{1 - p_0}

    with :math:`p` the share of pairs on which both agree and :math:`p_0` what chance would give. On all pairs of rows
    that is the adjusted Rand index. Both kinds of pairs count: a must-link alone would praise one cluster for all, a
    cannot-link alone a cluster for each row. Where clues of one kind are missing, all pairs of rows stand in for it.

    Errors come from the jackknife over the folds. Candidates within one standard error of the best are tied (of the
    difference to the best, on the same folds). Of those the fewest clusters win, then the score; at equal
    scores a candidate without clues, then the first. That is no guard against wrong clues: labels drawn at random were
    used in about half of the draws, because their scores differ by chance. Then the best score is hardly above its
    error, and ``results_.warning`` says so.

    The last fit should keep the clues that it was given at least as well as the fits on the way predicted those that
    they were not given. Where it clearly does not, it has collapsed, and the next candidate is taken.

    A candidate that fails, because clues are infeasible or time is up, is dropped with the reason, not the whole
    search. A stop that a callback asks for takes effect after the candidate at hand.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise import ClueSearchCV
    >>> from cluewise.datasets import load
    >>> wine = load("wine", standardize=True)
    >>> clues = cw.Clues.sample(wine.y, labels=0.1, random_state=0)
    >>> search = ClueSearchCV([cw.PCKMeans(), cw.EquivalenceGMM()], n_clusters="auto", random_state=0)
    >>> search.fit(wine.X, clues=clues).n_clusters_
    3
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": "no_validation",
        "param_grid": [None, dict, list],
        "n_clusters": [None, StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), "array-like"],
        "n_splits": [Interval(Integral, 2, None, closed="left")],
        "without": ["boolean"],
        "scoring": [None, callable],
        "time_limit": [None, Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimators: Any,
        param_grid: Any = None,
        *,
        n_clusters: Any = None,
        n_splits: int = 5,
        without: bool = True,
        scoring: Any = None,
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.param_grid = param_grid
        self.n_clusters = n_clusters
        self.n_splits = n_splits
        self.without = without
        self.scoring = scoring
        self.time_limit = time_limit
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Self:
        """Try all candidates on held-out clues, then fit the winner with all clues.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The data, handed to the estimators as they are.
        y : ignored
            Present for scikit-learn's sake.
        clues : Clues or array-like of shape (n,), optional
            What is known; an array is taken as partial labels. Without any there must be only one candidate.
        sample_weight : array-like of shape (n,), optional
            How often each row counts; for the estimators that take it.

        Returns
        -------
        Self
            The fitted search.
        """
        self._reset(y, clues)
        n = _count(X)
        known = as_clues(clues, n)
        rng = generator(self.random_state)
        counts = likely_counts(self.n_clusters, known)
        demands = held_out.select_demands(known)
        trials = list(
            candidates(
                self.estimators,
                self.param_grid,
                counts,
                told=bool(known.kinds),
                without=self.without and demands != known,  # else both would be told the same
                demands=wished(demands),
            )
        )
        folds = list(held_out.make_folds(known, self.n_splits, rng))
        runner = Runner(X, known, folds, sample_weight, int(rng.integers(2**31)), self.scoring, self.time_limit)
        callbacks = getattr(self, "_skl_callbacks", ())
        with Progress(self, callbacks, len(trials), max(1, len(folds))) as progress:
            if len(trials) > 1:
                if not folds:
                    raise ClueError(_nothing_held_out(known, len(trials)))
                trials = runner.run(trials, progress)
            self._publish(trials, runner)
        return self

    def _publish(self, trials: list[Trial], runner: Runner) -> None:
        """Fit the winner, or the next best where that fails, and hand on what it says."""
        while True:
            ranked = pick(trials)
            best, last = ranked[0], len(ranked) == 1 or bool(ranked[1].dropped)
            if best.dropped:
                raise ValueError(f"none of the {len(trials)} candidates could be fitted; {best.what}: {best.dropped}")
            try:
                model = runner.fitted(best, runner.clues, quiet=False)
                why = "" if last else runner.collapsed(labels_of(model), best)
            except Exception as error:
                if len(trials) == 1:
                    raise
                why = reason(error)
            if not why:
                break
            trials = [drop(t, why) if t is best else t for t in trials]
        self.best_estimator_ = model
        self.best_params_ = dict(best.parameters)
        self.best_score_ = best.score
        self.best_name_ = best.name
        self.uses_clues_ = best.clues
        self.results_ = ranked if self.scoring is not None else replace(ranked, warning=chance_warning(best))
        self.labels_ = labels_of(model)
        self.n_clusters_ = len(np.unique(self.labels_[self.labels_ >= 0]))
        self.broken_ = runner.broken(model, best)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
            elif hasattr(self, name):
                delattr(self, name)  # of an earlier fit

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> Any:
        """Cluster of each row of X, by the best estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows, old or new.

        Returns
        -------
        ndarray of shape (n,)
            Their clusters.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_best_has("transform"))
    def transform(self, X: Any) -> Any:
        """The rows as the best estimator sees them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows, old or new.

        Returns
        -------
        ndarray
            What its ``transform`` gives.
        """
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    @available_if(_best_has("transform"))
    def fit_transform(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and give the rows as the best estimator sees them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The data.
        y : ignored
            Present for scikit-learn's sake.
        clues : Clues or array-like of shape (n,), optional
            What is known.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        ndarray
            What ``transform`` gives.
        """
        return self.fit(X, clues=clues, sample_weight=sample_weight).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super(Informed, self).__sklearn_tags__()
        tags.estimator_type = "clusterer"
        inside = [get_tags(estimator) for estimator in named(self.estimators).values()]
        tags.input_tags.sparse = all(one.input_tags.sparse for one in inside)
        tags.input_tags.positive_only = any(one.input_tags.positive_only for one in inside)
        if hasattr(self, "transform"):
            tags.transformer_tags = inside[0].transformer_tags
        return tags


def _nothing_held_out(clues: Clues, n: int) -> str:
    if not clues.kinds:
        return f"there are {n} candidates, but no clues to choose by."
    if clues.kinds <= {"sizes", "avoid"}:
        return (
            f"clues of the kind {', '.join(sorted(clues.kinds))} speak of all rows and cannot be held out to choose by."
        )
    if not len(held_out.list_mentions(clues)):
        return "the clues speak of no two rows, so that there is nothing to choose by."
    return "the clues hang together so that none can be held out to choose by; more of them are needed."


def _count(X: Any) -> int:
    """Number of rows of anything that may be data; whether it is, the estimators will check."""
    shape = X.shape if hasattr(X, "shape") else (len(X),) if hasattr(X, "__len__") else np.asarray(X).shape
    if not len(shape):
        raise ValueError(f"X needs rows and columns; it is {X!r}.")
    return int(shape[0])
