"""When to stop asking: the answers bring nothing new (12.2 of the specification)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from cluewise._docs import documented
from cluewise.active._dialog import Answer
from cluewise.active._state import State, clues_of
from cluewise.clues import Clues

__all__ = ["settled"]


@documented
def settled(
    estimator: Any,
    X: Any,
    *,
    last: int = 20,
    probability: float = 0.9,
    n_fits: int = 10,
    every: int = 5,
) -> Callable[[State], bool]:
    """A rule that ends an `interview` when the last answers were all expected.

    Use it when questions cost more than computing: every few answers, the clusterer is fitted to earlier answers only,
    and the conversation ends if it would have predicted each of the last ones.

    Parameters
    ----------
    estimator : clusterer
        The clusterer that the clues are for.
    {X}
    last : int, default=20
        Number of answers that have to be predicted.
    probability : float, default=0.9
        Least probability with which each of them has to be predicted.
    n_fits : int, default=10
        Number of fits that vote, each with a random start and four fifths of the earlier answers. If v of n fits
        predict an answer, its probability is (v + 1) / (n + 2), so that 10 fits have to agree for 0.9.
    every : int, default=5
        Number of answers between two checks; there may be more where answers come in batches.

    Returns
    -------
    callable
        For the parameter ``watch`` of `interview`: takes a state, returns whether to stop.

    See Also
    --------
    interview : Takes it as ``watch``.

    Notes
    -----
    A strategy that asks what is hardest to predict continues for long. One that asks at random stops soon, because most
    random pairs are obviously apart, whatever else is left to learn. "Don't know" and inferred answers do not count. A
    class that appears for the first time was not expected.

    Examples
    --------
    >>> from cluewise import PCKMeans
    >>> from cluewise.active import RandomPairs, SimulatedOracle, interview, settled
    >>> X, y = [[0.0], [0.5], [1.0], [8.0], [8.5], [9.0]], [0, 0, 0, 1, 1, 1]
    >>> stop = settled(PCKMeans(2), X, last=3, every=1)
    >>> interview(RandomPairs(), X, SimulatedOracle(y), budget=15, random_state=0, watch=stop).asked
    3
    """
    for name, value in (("last", last), ("n_fits", n_fits), ("every", every)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name}={value!r}; it is a whole number, at least 1.")
        if value < 1:
            raise ValueError(f"{name}={value}; it is at least 1.")
    if not 0 < probability < 1:
        raise ValueError(f"probability={probability}; it lies between 0 and 1.")
    if (n_fits + 1) / (n_fits + 2) < probability:
        raise ValueError(f"n_fits={n_fits} votes cannot give a probability of {probability}; take more fits.")

    if not has_fit_parameter(estimator, "clues"):
        raise TypeError(f"estimator={estimator!r} does not take clues; it is a clusterer whose fit does.")
    before: tuple[Any, int, int] = None, 0, 0  # which conversation was seen last, and after how many questions

    def watch(state: State) -> bool:
        nonlocal before
        this = state.seed, state.fingerprint, state.budget
        since = 0
        if before[0] == this and before[2] <= state.asked:
            since = before[2] if before[2] < state.asked else before[1]
        before = this, since, state.asked
        said = [answer for answer in state.answers if not answer.inferred and answer.value is not None]
        if len(said) < last or state.asked // every == since // every:
            return False
        earlier, recent = said[:-last], said[-last:]
        pairs = _pairs(state.firm, earlier, recent)
        if pairs is None:
            return False
        rng = np.random.default_rng([state.seed, len(state.answers), 14])
        votes = np.zeros(len(pairs))
        for _ in range(n_fits):
            kept = [answer for answer in earlier if rng.random() < 0.8]
            labels = _labels(estimator, X, state, kept, int(rng.integers(2**31)))
            votes += [(labels[i] == labels[j]) == together for i, j, together in pairs]
        return bool(((votes + 1) / (n_fits + 2) >= probability).all())

    return watch


def _pairs(given: Clues, earlier: list[Answer], recent: list[Answer]) -> list[tuple[int, int, bool]] | None:
    """The pairs that recent answers decide; for a label, with an earlier row of its class. None if a class is new."""
    rows = np.flatnonzero(given.labels >= 0)
    first = rows[np.unique(given.labels[rows], return_index=True)[1]].tolist()
    known: dict[Any, int] = dict(zip(given.classes_[given.labels[first]].tolist(), first)) if first else {}
    known.update((a.value, a.question.rows[0]) for a in earlier if a.question.kind == "label")
    pairs = [link for answer in recent for link in answer.links()]
    for answer in recent:
        if answer.question.kind == "label":
            if answer.value not in known:
                return None
            pairs.append((answer.question.rows[0], known[answer.value], True))
    return pairs


def _labels(estimator: Any, X: Any, state: State, answers: list[Answer], seed: int) -> Any:
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # every fit would warn of clues that the clusterer cannot use
        return model.fit(X, clues=state.firm | clues_of(answers, state.n, state.firm)).labels_
