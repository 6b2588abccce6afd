"""Which method for data and clues at hand: a short list is tried, and the best of it fitted."""

from __future__ import annotations

import warnings
from collections.abc import Sequence, Set
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from cluewise._typing import Ints
from cluewise.advice.choice import _shortlist
from cluewise.advice.choice._candidates import named
from cluewise.advice.choice._search import ClueSearchCV
from cluewise.advice.choice._suggestion import Suggestion, reasons
from cluewise.advice.choice._trials import Trial
from cluewise.base import as_clues, generator
from cluewise.clues import Clues
from cluewise.exceptions import ClueError
from cluewise.metrics import held_out

__all__ = ["suggest", "watched"]

_SEARCHED = 3_000  # rows that a search looks at
_TIED = 2_000  # of those, rows that clues speak of


def suggest(
    X: Any,
    clues: Any,
    n_clusters: Any = None,
    *,
    methods: str | Sequence[Any] | None = None,
    time_limit: float = 60.0,
    random_state: Any = None,
) -> Suggestion:
    """Say which method to use for these data and clues, and with how many clusters.

    A few methods of different kinds, those whose cards suit the clues and the number of rows, are tried by
    `ClueSearchCV`: some clues are held out, and who predicts them best is taken. Each method also runs without
    clues. Where there are labels, plain classifiers are asked as well.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        The data, scaled as the methods should see them.
    clues : Clues or array-like of shape (n,)
        What is known; an array is taken as partial labels.
    n_clusters : int or iterable of int, optional
        Numbers of clusters to try; by default from what the clues need to about twice that.
    methods : str, or list of str or estimators, optional
        Names of the catalogue, or instances, to try; by default a short list that suits the clues.
    time_limit : float, default=60.0
        Seconds for the search, plain classifiers included, without the last fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything random.

    Returns
    -------
    Suggestion
        A table to print; its ``best`` is fitted.

    Notes
    -----
    Of more than 3,000 rows the search looks at some: rows of randomly chosen clues, at most 2,000, and others. The best
    method is fitted on all.

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
    return watched(
        X, clues, n_clusters, methods=methods, time_limit=time_limit, random_state=random_state, callbacks=()
    )


def watched(
    X: Any,
    clues: Any,
    n_clusters: Any,
    *,
    methods: str | Sequence[Any] | None,
    time_limit: float,
    random_state: Any,
    callbacks: Sequence[Any],
) -> Suggestion:
    """`suggest`, with callbacks for the search."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    known = as_clues(clues, n)
    if not known.kinds - {"avoid", "sizes"}:
        raise ClueError("there are no clues about rows to choose by; give labels, links or groups.")
    rng = generator(random_state)
    seed = int(rng.integers(2**31))
    rows = _some(known, rng)
    table = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    part, told = (X, known) if rows is None else (table[rows], known[rows])
    own: set[str] = set()  # names of instances that the user has made
    if methods is None:
        estimators, left_out = _shortlist.shortlist(known, *table.shape)
    else:
        wanted = [methods] if isinstance(methods, str) else list(methods)
        estimators, left_out = named([_shortlist.method_of(m) for m in wanted]), {}
        own = {name for name, method in zip(estimators, wanted) if not isinstance(method, str)}
    counts = "auto" if n_clusters is None else n_clusters
    search = ClueSearchCV(estimators, n_clusters=counts, time_limit=time_limit, random_state=seed)
    until = perf_counter() + time_limit
    search.set_callbacks(*callbacks).fit(part, clues=told)
    search.set_callbacks()
    left = until - perf_counter()
    trial, best = search.results_[0], search.best_estimator_
    if rows is not None:
        trial, best = _on_all(search, X, known, seed, own)
    ranked = _best_of_each(search.results_)
    failed = {t.name: f"was dropped: {t.dropped}" for t in search.results_ if t.name not in {r.name for r in ranked}}
    return Suggestion(
        search,
        best,
        trial,
        ranked,
        reasons(ranked, trial),
        left_out | failed,
        _kmeans(search.results_),
        _classifier(table if rows is None else part, told, seed, left),
        told.n,
        n,
    )


def _some(clues: Clues, rng: np.random.Generator) -> Ints | None:
    """Rows for the search: those of randomly chosen clues, and others; None for all."""
    if clues.n <= _SEARCHED:
        return None
    touched = rng.permutation(held_out.list_mentions(clues)).ravel()
    first = np.sort(np.unique(touched, return_index=True)[1])[:_TIED]
    tied_rows = touched[first]
    free = np.setdiff1d(np.arange(clues.n), touched)
    more = rng.choice(free, min(len(free), _SEARCHED - len(tied_rows)), replace=False)
    return np.sort(np.concatenate([tied_rows, more]))


def _on_all(search: ClueSearchCV, X: Any, clues: Clues, seed: int, own: Set[str]) -> tuple[Trial, Any]:
    """The winner fitted on all rows; the next best where that fails.

    A method made from its name gets the time that its class allows. Those named in ``own`` stay as the user made them.
    """
    failed: Exception | None = None
    for trial in search.results_:
        if trial.dropped:
            continue
        model = clone(trial.estimator)
        parameters = model.get_params()
        if "random_state" in parameters and parameters["random_state"] is None:
            model.set_params(random_state=seed)
        if trial.name not in own and "time_limit" in parameters:
            model.set_params(time_limit=type(model)().get_params()["time_limit"])
        told = clues if trial.clues else held_out.select_demands(clues) if trial.demands else None
        try:
            return trial, model.fit(X, **({} if told is None else {"clues": told}))
        except Exception as error:  # as in the search
            failed = failed or error
    assert failed is not None
    raise failed


def _kmeans(results: Sequence[Trial]) -> Trial | None:
    """The best plain K-means among the trials without clues."""
    plain = [t for t in results if not (t.clues or t.demands or t.dropped) and _is_kmeans(t.estimator)]
    return replace(max(plain, key=lambda t: t.score), name="K-means") if plain else None


def _is_kmeans(estimator: Any) -> bool:
    card = getattr(estimator, "card", None)
    return card is not None and card.plain == "k-means" and card.means


def _best_of_each(results: Sequence[Trial]) -> tuple[Trial, ...]:
    """The first trial of each method, in order."""
    found: dict[str, Trial] = {}
    for trial in results:
        if not trial.dropped:
            found.setdefault(trial.name, trial)
    return tuple(found.values())


def _classifier(X: Any, clues: Clues, seed: int, time_limit: float) -> Trial | None:
    """The better one of the plain classifiers on the same folds; None where none can be judged in the time left."""
    able = _shortlist.classifiers(clues)
    if not able or time_limit <= 0:
        return None
    search = ClueSearchCV(able, without=False, time_limit=time_limit, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that a fold has lost, graphs that do not converge
        try:
            search.fit(X, clues=clues)
        except ValueError:
            return None
    return max((t for t in search.results_ if not t.dropped), key=lambda t: t.score)
