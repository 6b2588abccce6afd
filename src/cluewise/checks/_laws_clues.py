"""Laws about clues: hard ones hold, entailed ones change nothing, bad ones are refused with a reason."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.checks._examples import sample_clues
from cluewise.checks._fits import accepted, changed, fit, given_start, same
from cluewise.clues import KINDS, Clues
from cluewise.exceptions import ClueError, Contradiction, Infeasible, SoftClueWarning, UnusedClueWarning
from cluewise.metrics import broken

__all__ = [
    "law_bare_pairs_are_refused",
    "law_broken_names_what_is_broken",
    "law_contradiction_raises_first",
    "law_entailed_clues_change_nothing",
    "law_groups_are_their_pairs",
    "law_hard_is_hard",
    "law_infeasible_raises_first",
    "law_infinite_weight_is_hard",
    "law_infinite_weight_is_refused",
    "law_order_of_clues_is_irrelevant",
    "law_unequal_weights_warn",
    "law_unused_kinds_warn",
]

Rng = np.random.Generator


def law_hard_is_hard(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """No clue is broken."""
    known = accepted(estimator, clues)
    for model in (given_start(estimator, X, rng), changed(estimator, random_state=0)):
        labels = fit(model, X, known).labels_
        must, _, cannot, _ = known.pairs(expand=True)
        split = must[labels[must[:, 0]] != labels[must[:, 1]]]
        joined = cannot[(labels[cannot[:, 0]] == labels[cannot[:, 1]]) & (labels[cannot[:, 0]] >= 0)]  # noise is apart
        assert not len(split), f"must-link {split[0]} is broken."
        assert not len(joined), f"cannot-link {joined[0]} is broken."
        assert not model.broken_.kinds, f"broken_ names {model.broken_}, but clues are hard."


def law_broken_names_what_is_broken(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """``broken_`` is what the labels break."""
    known = accepted(estimator, clues)
    model = fit(given_start(estimator, X, rng), X, known)
    if not estimator.card.named:  # there the classes have clusters of their own
        expected = broken(model.labels_, known)
        assert model.broken_ == expected, f"broken_ is {model.broken_}; the labels break {expected}."
    extra = model.broken_.kinds - known.kinds
    assert not extra, f"broken_ names {', '.join(extra)}, which nobody gave."


def law_entailed_clues_change_nothing(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A pair that follows from the clues may be added."""
    known = accepted(estimator, clues)
    first, second = rng.integers(known.n, size=(2, 50))
    kept = first != second
    pairs = np.column_stack([first, second])[kept]
    ends = known.components[pairs]
    must = pairs[ends[:, 0] == ends[:, 1]]
    _, _, cannot, _ = known.pairs(expand=True)
    apart = {frozenset(edge) for edge in known.components[cannot].tolist()}
    cannot = pairs[[frozenset(edge) in apart for edge in ends.tolist()]]
    model = given_start(estimator, X, rng)
    before = fit(model, X, known)
    after = fit(changed(model), X, known | Clues(known.n, must=must, cannot=cannot))
    same(before, after, "an entailed clue")


def law_order_of_clues_is_irrelevant(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Neither the order of links and groups nor that of the two ends of a link matters."""
    known = accepted(estimator, clues)
    model = given_start(estimator, X, rng)
    shuffled = _shuffled(known, rng)
    same(fit(model, X, known), fit(changed(model), X, shuffled), "another order of the clues")


def _shuffled(clues: Clues, rng: Rng) -> Clues:
    must, cannot = rng.permutation(len(clues.must)), rng.permutation(len(clues.cannot))
    given: dict[str, Any] = {
        "must": clues.must[must][:, ::-1],
        "cannot": clues.cannot[cannot][:, ::-1],
        "must_weight": clues.must_weight[must],
        "cannot_weight": clues.cannot_weight[cannot],
        "together": list(clues.together)[::-1],
        "apart": list(clues.apart)[::-1],
    }
    return clues.only(clues.kinds - {"must", "cannot", "together", "apart"}) | Clues(clues.n, **given)


def law_groups_are_their_pairs(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Labels and groups act like the links that they stand for."""
    known = accepted(estimator, clues)
    must, must_weight, cannot, cannot_weight = known.pairs(expand=True)
    pairs = Clues(known.n, must=must, cannot=cannot, must_weight=must_weight, cannot_weight=cannot_weight)
    kept = {"sizes"} | ({"labels"} if estimator.card.noise and estimator.card.hard else set())
    pairs |= known.only(known.kinds & kept)  # no pair says that a labelled row is not noise
    model = given_start(estimator, X, rng, order="index")
    with warnings.catch_warnings():  # a pair in two groups weighs 2, which a hard method remarks upon
        warnings.simplefilter("ignore", SoftClueWarning)
        same(fit(model, X, known), fit(changed(model), X, pairs), "writing groups out as pairs")


def law_contradiction_raises_first(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Together and apart at once: `Contradiction`, with the chain that proves it."""
    a, b, c = rng.choice(len(X), size=3, replace=False)
    error = _refused(estimator, X, Clues(len(X), must=[(a, b), (b, c)], cannot=[(a, c)]), Contradiction)
    assert error.conflicts, "the exception holds no conflict."
    rows = {row for conflict in error.conflicts for link in conflict.chain for row in link[:2]}
    assert rows == {a, b, c}, f"the chain speaks of rows {sorted(rows)} instead of {sorted({a, b, c})}."


def law_infeasible_raises_first(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """One class or mutual cannot-link more than there are clusters: `Infeasible`, with a witness."""
    k, accepts = estimator.n_clusters, estimator.card.accepts
    rows = rng.choice(len(X), size=k + 1, replace=False)
    column = np.full(len(X), -1)
    column[rows] = np.arange(k + 1)
    pairs = [(a, b) for a in rows for b in rows if a < b]
    bad: dict[str, Any] = {"labels": column, "cannot": pairs, "apart": np.where(column >= 0, 0, -1)}
    for kind in accepts & bad.keys():
        error = _refused(estimator, X, Clues(len(X), **{kind: bad[kind]}), Infeasible)
        assert error.witness is not None, "the exception holds no witness."


def _refused(estimator: Any, X: Floats, clues: Clues, expected: type[ClueError]) -> Any:
    """The exception that fit raises, before it even makes a start."""

    def never(*_: Any, **__: Any) -> Floats:
        raise AssertionError(f"a start was made before {expected.__name__} was raised.")

    model = changed(estimator, init=never)
    error = _error(model, X, clues)
    assert isinstance(error, expected), f"{clues} gave {error!r}; expected {expected.__name__}."
    assert not hasattr(model, "labels_"), f"{expected.__name__} was raised, but there are labels."
    return error


def _error(model: Any, X: Floats, clues: Any) -> ClueError | None:
    try:
        fit(model, X, clues)
    except ClueError as error:
        return error
    return None


def law_unused_kinds_warn(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Clues of a kind that is not used are named in a warning, and change nothing; the others are not named."""
    accepts = estimator.card.accepts
    some = np.arange(len(X)) % getattr(estimator, "n_clusters", 3)
    model = given_start(estimator, X, rng)
    for kind in KINDS:
        given = sample_clues(some, [kind], rng)
        if kind not in given.kinds:
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit(changed(model), X, given)
        unused = [str(w.message) for w in caught if issubclass(w.category, UnusedClueWarning)]
        if kind in accepts:
            assert not unused, f"{kind} is accepted, but fit warns: {unused[0]}"
            continue
        assert any(kind in message for message in unused), f"{kind} is not used, and fit does not say so."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedClueWarning)
        odd = sample_clues(some, set(KINDS) - accepts, rng)
        same(fit(model, X), fit(changed(model), X, odd), "clues of kinds that are not used")


def law_infinite_weight_is_refused(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A soft method takes no infinite weight."""
    for given in _weighted(estimator, len(X), np.inf, rng):
        error = _error(given_start(estimator, X, rng), X, given)
        assert "infinite" in str(error), f"an infinite weight in {given} gave {error!r} in a soft method."


def law_infinite_weight_is_hard(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Where hard and soft clues mix, links of infinite weight hold, and contradictions among them are refused."""
    known = accepted(estimator, clues).only(["must", "cannot"])
    sure = Clues(len(X), must=rng.choice(len(X), size=(2, 2), replace=False), must_weight=np.inf)
    model = fit(given_start(estimator, X, rng), X, known | sure)
    split = sure.must[model.labels_[sure.must[:, 0]] != model.labels_[sure.must[:, 1]]]
    assert not len(split), f"must-link {split[0]} of infinite weight is broken."
    a, b = sure.must[0]
    both = Clues(len(X), must=[(a, b)], cannot=[(a, b)], must_weight=np.inf, cannot_weight=np.inf)
    assert isinstance(_error(changed(model), X, both), Contradiction), "a hard contradiction was not refused."


def law_unequal_weights_warn(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A hard method says that it does not look at weights, and does not."""
    model = given_start(estimator, X, rng)
    for given in _weighted(estimator, len(X), 5.0, rng):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            weighted = fit(changed(model), X, given)
        assert any(issubclass(w.category, SoftClueWarning) for w in caught), f"no SoftClueWarning for {given}."
        equal = Clues(len(X), must=given.must, cannot=given.cannot)
        same(fit(changed(model), X, equal), weighted, "the weights of clues")


def _weighted(estimator: Any, n: int, weight: float, rng: Rng) -> list[Clues]:
    """Two links of weight 1 and ``weight``, for each kind of link that is accepted."""
    rows: Ints = rng.choice(n, size=(2, 2), replace=False)
    given: list[dict[str, Any]] = [{kind: rows, f"{kind}_weight": [1.0, weight]} for kind in ("must", "cannot")]
    return [Clues(n, **links) for links in given if estimator.card.accepts & links.keys()]


def law_bare_pairs_are_refused(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Pairs without a `Clues` around them would not follow their rows; clues about other rows are refused too."""
    n = len(X)
    for given, hint in (([(0, 1), (1, 2)], "Clues"), (([(0, 1)], []), "Clues"), (Clues(n + 1), f"{n + 1} rows")):
        error = _error(given_start(estimator, X, rng), X, given)
        assert hint in str(error), f"clues={given} gave {error!r}, without a hint at {hint!r}."
