"""Suggest a method for given data and clues: try a short list, and fit the best."""

from __future__ import annotations

import warnings
from collections.abc import Sequence, Set
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.utils import check_array

from cluewise._docs import documented
from cluewise._elsewhere import refuse_elsewhere
from cluewise._typing import Ints
from cluewise.advice import _shortlist
from cluewise.advice._candidates import name_estimators
from cluewise.advice._runner import make_model, select_clues
from cluewise.advice._search import ClueSearchCV
from cluewise.advice._suggestion import Suggestion, explain_ranks
from cluewise.advice._trials import Trial
from cluewise.base import as_clues, generator
from cluewise.clues import Clues
from cluewise.exceptions import ClueError
from cluewise.metrics import held_out

__all__ = ["suggest"]

_SEARCHED = 3_000  # maximum number of rows in a search
_TIED = 2_000  # of these, maximum number of rows with clues


@documented
def suggest(
    X: Any,
    clues: Any,
    n_clusters: Any = None,
    *,
    methods: str | Sequence[Any] | None = None,
    time_limit: float = 60.0,
    random_state: Any = None,
    callbacks: Sequence[Any] = (),
) -> Suggestion:
    """Suggest a method and a number of clusters for these data and clues.

    `ClueSearchCV` tries a few methods of different kinds whose cards match the clues and the number of rows: the one
    that predicts held-out clues best is fitted. Each method also runs without clues. If there are labels, plain
    classifiers are tried for comparison.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        The data, scaled as the methods should see them.
    {some_clues}
    n_clusters : int or iterable of int, optional
        Numbers of clusters to try; by default from the number that the clues need to about twice that.
    methods : str, or list of str or estimators, optional
        Names from the catalogue, or instances, to try; by default a short list that matches the clues.
    time_limit : float, default=60.0
        Seconds for the search, plain classifiers included, without the final fit.
    {random_state}
    callbacks : sequence of callbacks, default=()
        Scikit-learn callbacks of the search.

    Returns
    -------
    Suggestion
        A table to print; its ``best`` is fitted.

    Notes
    -----
    With more than 3,000 rows the search uses a sample: up to 2,000 rows of randomly chosen clues, and other rows. The
    best method is fitted on all rows.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise import suggest
    >>> from cluewise.datasets import load
    >>> wine = load("wine", standardize=True)
    >>> clues = cw.Clues.sample(wine.y, pairs=100, random_state=0)
    >>> table = suggest(wine.X, clues, methods=["PCKMeans", "PCCC"], random_state=0)
    >>> table.best.n_clusters_
    3
    >>> print(table.verdict)
    Take PCKMeans with 3 clusters, without the clues, which do not help.
    """
    refuse_elsewhere(X, "suggest")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    known = as_clues(clues, n)
    if not known.kinds - {"avoid", "sizes"}:
        raise ClueError("there are no clues about rows to choose by; give labels, links or groups.")
    rng = generator(random_state)
    seed = int(rng.integers(2**31))
    rows = _sample_rows(known, rng)
    table = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    part, part_clues = (X, known) if rows is None else (table[rows], known[rows])
    own: set[str] = set()  # names of instances made by the user
    if methods is None:
        estimators, left_out = _shortlist.make_shortlist(known, *table.shape)
    else:
        requested = [methods] if isinstance(methods, str) else list(methods)
        estimators, left_out = name_estimators([_shortlist.make_method(m) for m in requested]), {}
        own = {name for name, method in zip(estimators, requested) if not isinstance(method, str)}
    counts = "auto" if n_clusters is None else n_clusters
    search = ClueSearchCV(estimators, n_clusters=counts, time_limit=time_limit, random_state=seed)
    until = perf_counter() + time_limit
    search.set_callbacks(*callbacks).fit(part, clues=part_clues)
    search.set_callbacks()
    left = until - perf_counter()
    trial, best = search.results_[0], search.best_estimator_
    if rows is not None:
        trial, best = _fit_on_all(search, X, known, seed, own)
    elif trial.name not in own:
        _lift_limit(best)
    ranked: dict[str, Trial] = {}  # the best trial of each method, in order
    for one in search.results_:
        if not one.dropped:
            ranked.setdefault(one.name, one)
    failed = {t.name: f"was dropped: {t.dropped}" for t in search.results_ if t.name not in ranked}
    return Suggestion(
        search,
        best,
        trial,
        tuple(ranked.values()),
        explain_ranks(tuple(ranked.values()), trial),
        left_out | failed,
        _find_kmeans(search.results_),
        _try_classifiers(table if rows is None else part, part_clues, seed, left),
        _has_enough_labels(known, trial),
        part_clues.n,
        n,
    )


def _sample_rows(clues: Clues, rng: np.random.Generator) -> Ints | None:
    """Rows of randomly chosen clues, and other rows; None for all rows."""
    if clues.n <= _SEARCHED:
        return None
    mentions = rng.permutation(held_out.list_mentions(clues)).ravel()
    first = np.sort(np.unique(mentions, return_index=True)[1])[:_TIED]
    tied_rows = mentions[first]
    free = np.setdiff1d(np.arange(clues.n), mentions)
    more = rng.choice(free, min(len(free), _SEARCHED - len(tied_rows)), replace=False)
    return np.sort(np.concatenate([tied_rows, more]))


def _fit_on_all(search: ClueSearchCV, X: Any, clues: Clues, seed: int, own: Set[str]) -> tuple[Trial, Any]:
    """Fit the winner on all rows, or the next best if that fails."""
    failure: Exception | None = None
    for trial in search.results_:
        if trial.dropped:
            continue
        model = make_model(trial, seed)
        if trial.name not in own:
            _lift_limit(model)
        try:
            return trial, model.fit(X, **select_clues(trial, clues))
        except Exception as error:  # as in the search
            failure = failure or error
    assert failure is not None
    raise failure


def _lift_limit(model: Any) -> None:
    """Give a model the time limit of its class: the short one was for the search, not for fits and updates to come."""
    if "time_limit" in model.get_params():
        model.set_params(time_limit=type(model)().get_params()["time_limit"])


def _find_kmeans(results: Sequence[Trial]) -> Trial | None:
    """Find the best plain K-means among the trials without clues."""

    def is_kmeans(trial: Trial) -> bool:
        card = getattr(trial.estimator, "card", None)
        return card is not None and card.plain == "k-means" and card.means

    plain = [t for t in results if not (t.clues or t.demands or t.dropped) and is_kmeans(t)]
    return replace(max(plain, key=lambda t: t.score), name="K-means") if plain else None


def _has_enough_labels(clues: Clues, best: Trial) -> bool:
    """Whether a classifier could know all classes: a single label cannot be both learned and held out."""
    counts = np.unique(clues.labels[clues.labels >= 0], return_counts=True)[1]
    return len(counts) >= (best.n_clusters or 0) and bool((counts > 1).all())


def _try_classifiers(X: Any, clues: Clues, seed: int, time_limit: float) -> tuple[Trial, ...]:
    """Try plain classifiers on the same folds, and return the best first; none without labels or if no time is left."""
    classifiers = _shortlist.make_classifiers(clues)
    if not classifiers or time_limit <= 0:
        return ()
    search = ClueSearchCV(classifiers, without=False, time_limit=time_limit, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about classes that are missing in a fold, or graphs that do not converge
        try:
            search.fit(X, clues=clues)
        except ValueError:
            return ()
    return tuple(sorted((t for t in search.results_ if not t.dropped), key=lambda t: -t.score))
