"""Model selection by held-out clues: method, parameters, number of clusters, and whether to use clues at all."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cluewise._docs import documented
from cluewise._elsewhere import refuse_elsewhere
from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Ints
from cluewise.advice._candidates import choose_counts, describe_demands, list_candidates, name_estimators
from cluewise.advice._runner import Runner, describe_error, get_labels
from cluewise.advice._trials import Trial, Trials, pick, warn_of_chance
from cluewise.base import ClueEstimator, as_clues, generator
from cluewise.clues import Clues
from cluewise.core.loop import Progress
from cluewise.exceptions import ClueError
from cluewise.metrics import held_out

__all__ = ["ClueSearchCV"]


def _best_has(name: str) -> Any:
    """Whether the best estimator has this method; before the fit, whether all of them have it."""

    def has(self: ClueSearchCV) -> bool:
        fitted = hasattr(self, "best_estimator_")
        for estimator in [self.best_estimator_] if fitted else name_estimators(self.estimators).values():
            getattr(estimator, name)
        return True

    return has


class ClueSearchCV(MetaEstimatorMixin, ClusterMixin, ClueEstimator):
    r"""Choose method, parameters and number of clusters by how well held-out clues are predicted.

    That a method keeps the clues it was fitted with proves little. So the clues are split into folds; every candidate
    is fitted on all rows with the clues outside a fold, and its clusters are compared with the clues in the fold. The
    winner is fitted again with all clues. Every candidate also runs without clues, so that clues that predict nothing
    can be left out. Only demands always apply: bounds on sizes, clusterings to avoid, links and groups of infinite
    weight.

    Parameters
    ----------
    estimators : estimator, list of estimators or dict of str to estimator
        Instances to choose from; they are cloned. One that takes no clues, such as scikit-learn's ``KMeans``, runs
        without.
    param_grid : dict or list of dicts, optional
        Parameters to try, as `sklearn.model_selection.GridSearchCV` takes them; for several estimators a dict
        from their names (in a list, their class names) to such grids.
    n_clusters : int, array-like of int, "auto" or None, default=None
        Numbers of clusters to try. "auto": from the number that the clues need (classes with labels, rows all apart) to
        about twice that; an estimator whose own number is None, such as `Cluewise`, finds it itself. None: those of the
        estimators.
    n_splits : int, default=5
        Number of folds. Rows joined by must-links are in the same fold, and every clue that touches a row of the fold
        is held out, so that the other clues do not entail it.
    without : bool, default=True
        Whether every candidate also runs without clues (but with the demands).
    scoring : callable, optional
        ``scoring(labels, held_out)`` with the labels of all rows and the held-out `Clues`; larger is better, and scores
        are averaged over the folds. By default the adjusted Rand index on the pairs of rows that the held-out clues
        relate (see Notes).
    time_limit : float, optional
        Seconds for the search, without the final fit. Candidates that take longer are dropped.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds, and of estimators whose own ``random_state`` is None.

    Attributes
    ----------
    best_estimator_ : estimator
        The winner, fitted with all clues (or without, if that is what won).
    best_params_ : dict
        Parameters of the winner that the search has set.
    best_score_ : float
        Score of the winner; nan if there was only one candidate and nothing was held out.
    best_name_ : str
        Name of the winner.
    uses_clues_ : bool
        Whether the winner uses the clues; if not, it uses only the demands.
    results_ : Trials
        All candidates: print it, index it, or take its ``columns``. Its ``warning`` is not empty if even the winner is
        not clearly better than chance.
    {labels_}
    {n_clusters_}
    {broken_}
    {columns_}

    Notes
    -----
    Every held-out clue says that some pairs of rows belong together or apart: a link relates one pair; a label relates
    its row to all labeled rows, weighted to count as one link. These pairs are counted in a table by what the clues
    and the clusters say, summed over the folds. The score is

    .. math:: \kappa = \frac{p - p_0}{1 - p_0}

    with :math:`p` the share of pairs on which both agree and :math:`p_0` the share expected by chance. On all pairs of
    rows that is the adjusted Rand index. Both kinds of pairs are needed: with must-links alone a single cluster would
    be perfect, with cannot-links alone a cluster for each row. If clues of one kind are missing, all pairs of rows
    stand in for it.

    Errors come from the jackknife over the folds. Candidates within one standard error of the best are tied (that of
    the difference, on the same folds). Of these, the fewest clusters win, then the highest score; equal scores go to a
    candidate without clues, then to the first. That does not protect against wrong clues: in about half of the draws,
    labels drawn at random were used, because scores differ by chance. Then the best score is hardly above its error,
    and ``results_.warning`` says so.

    The final fit should keep its clues at least as well as the trials predicted held-out ones. If it clearly does not,
    it has collapsed, and the next candidate is taken.

    A candidate that fails, because clues are infeasible or time is up, is dropped with the reason. A stop requested by
    a callback takes effect after the current candidate.

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

    best_estimator_: Any
    best_name_: str
    best_params_: dict[str, Any]
    best_score_: float
    uses_clues_: bool
    results_: Trials
    labels_: Ints
    n_clusters_: int
    broken_: Clues

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
            The data, passed to the estimators as they are.
        {y}
        clues : Clues or array-like of shape (n,), optional
            What is known; an array is taken as partial labels. Without clues there must be only one candidate.
        sample_weight : array-like of shape (n,), optional
            Weight of each row, for the estimators that take it.

        Returns
        -------
        Self
            The fitted search.
        """
        refuse_elsewhere(X, "ClueSearchCV")
        self._reset(y, clues)
        n = _count_rows(X)
        known = as_clues(clues, n)
        rng = generator(self.random_state)
        demands = held_out.select_demands(known)
        trials = list(
            list_candidates(
                self.estimators,
                self.param_grid,
                choose_counts(self.n_clusters, known),
                auto=isinstance(self.n_clusters, str),
                has_clues=bool(known.kinds),
                without=self.without and demands != known,  # else both would be fitted with the same clues
                demands=describe_demands(demands),
            )
        )
        folds = list(held_out.make_folds(known, self.n_splits, rng))
        runner = Runner(X, known, folds, sample_weight, int(rng.integers(2**31)), self.scoring, self.time_limit)
        callbacks = getattr(self, "_skl_callbacks", ())
        with Progress(self, callbacks, len(trials), max(1, len(folds))) as progress:
            if len(trials) > 1:
                if not folds:
                    raise ClueError(_explain_no_folds(known, len(trials)))
                trials = runner.run(trials, progress)
            self._publish(trials, runner)
        return self

    def _publish(self, trials: list[Trial], runner: Runner) -> None:
        """Fit the winner, or the next best if that fails, and publish its results."""
        while True:
            ranked = pick(trials)
            best, last = ranked[0], len(ranked) == 1 or bool(ranked[1].dropped)
            if best.dropped:
                raise ValueError(
                    f"none of the {len(trials)} candidates could be fitted; {best.description}: {best.dropped}"
                )
            try:
                model = runner.fit(best, runner.clues, quiet=False)
                why = "" if last else runner.explain_collapse(get_labels(model), best)
            except Exception as error:
                if len(trials) == 1:
                    raise
                why = describe_error(error)
            if not why:
                break
            trials = [replace(t, dropped=why) if t is best else t for t in trials]
        self.best_estimator_ = model
        self.best_params_ = dict(best.parameters)
        self.best_score_ = best.score
        self.best_name_ = best.name
        self.uses_clues_ = best.clues
        self.results_ = ranked if self.scoring is not None else replace(ranked, warning=warn_of_chance(best))
        self.labels_ = get_labels(model)
        self.n_clusters_ = len(np.unique(self.labels_[self.labels_ >= 0]))
        self.broken_ = runner.find_broken(model, best)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
            elif hasattr(self, name):
                delattr(self, name)  # of an earlier fit

    @available_if(_best_has("predict"))
    @documented
    def predict(self, X: Any) -> Any:
        """Predict clusters with the best estimator.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_best_has("transform"))
    @documented
    def transform(self, X: Any) -> Any:
        """Transform rows with the best estimator.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray
            The transformed rows.
        """
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    @available_if(_best_has("transform"))
    @documented
    def fit_transform(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Any:
        """Fit, then transform the rows with the best estimator.

        Parameters
        ----------
        {X}
        {y}
        {clues}
        {sample_weight}

        Returns
        -------
        ndarray
            The transformed rows.
        """
        return self.fit(X, clues=clues, sample_weight=sample_weight).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super(ClueEstimator, self).__sklearn_tags__()
        tags.estimator_type = "clusterer"
        inside = [get_tags(estimator) for estimator in name_estimators(self.estimators).values()]
        tags.input_tags.sparse = all(one.input_tags.sparse for one in inside)
        tags.input_tags.positive_only = any(one.input_tags.positive_only for one in inside)
        if hasattr(self, "transform"):
            tags.transformer_tags = inside[0].transformer_tags
        return tags


def _explain_no_folds(clues: Clues, n: int) -> str:
    if not clues.kinds:
        return f"there are {n} candidates, but no clues to choose by."
    if clues.kinds <= {"sizes", "avoid"}:
        return f"clues of the kind {', '.join(sorted(clues.kinds))} concern all rows and cannot be held out."
    if not len(held_out.list_mentions(clues)):
        return "no clue relates two rows, so there is nothing to choose by."
    return "the clues are all connected, so none can be held out; give more clues about other rows."


def _count_rows(X: Any) -> int:
    """Number of rows of X, which the estimators will validate."""
    shape = X.shape if hasattr(X, "shape") else (len(X),) if hasattr(X, "__len__") else np.asarray(X).shape
    if not len(shape):
        raise ValueError(f"X must have rows and columns; it is {X!r}.")
    return int(shape[0])
