"""Laws about clues: hard clues hold, entailed clues change nothing, bad clues are refused with a reason."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from cluewise._typing import Floats, Ints
from cluewise.checks._examples import sample_clues
from cluewise.checks._fits import Rng, assert_same, copy_with, fit, fix_start, select_clues
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


def law_hard_is_hard(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A hard method breaks no clue."""
    known = select_clues(estimator, clues)
    for model in (fix_start(estimator, X, rng), copy_with(estimator, random_state=0)):
        labels = fit(model, X, known).labels_
        must, _, cannot, _ = known.pairs(expand=True)
        split = must[labels[must[:, 0]] != labels[must[:, 1]]]
        joined = cannot[(labels[cannot[:, 0]] == labels[cannot[:, 1]]) & (labels[cannot[:, 0]] >= 0)]  # noise is apart
        assert not len(split), f"must-link {split[0]} is broken."
        assert not len(joined), f"cannot-link {joined[0]} is broken."
        assert not model.broken_.kinds, f"broken_ names {model.broken_}, but the method is hard."


def law_broken_names_what_is_broken(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """``broken_`` holds exactly the clues that the labels break."""
    known = select_clues(estimator, clues)
    model = fit(fix_start(estimator, X, rng), X, known)
    if not estimator.card.named:  # there `broken_` compares with the clusters named after the classes
        expected = broken(model.labels_, known)
        assert model.broken_ == expected, f"broken_ is {model.broken_}; the labels break {expected}."
    extra = model.broken_.kinds - known.kinds
    assert not extra, f"broken_ names {', '.join(extra)}, which were not given."


def law_entailed_clues_change_nothing(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Adding a pair that follows from the clues changes nothing."""
    known = select_clues(estimator, clues)
    first, second = rng.integers(known.n, size=(2, 50))
    kept = first != second
    pairs = np.column_stack([first, second])[kept]
    ends = known.components[pairs]
    must = pairs[ends[:, 0] == ends[:, 1]]
    _, _, cannot, _ = known.pairs(expand=True)
    apart = {frozenset(edge) for edge in known.components[cannot].tolist()}
    cannot = pairs[[frozenset(edge) in apart for edge in ends.tolist()]]
    model = fix_start(estimator, X, rng)
    before = fit(model, X, known)
    after = fit(clone(model), X, known | Clues(known.n, must=must, cannot=cannot))
    assert_same(before, after, "an entailed clue")


def law_order_of_clues_is_irrelevant(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """The order of links and groups, and of the two ends of a link, changes nothing."""
    known = select_clues(estimator, clues)
    model = fix_start(estimator, X, rng)
    shuffled = _shuffle(known, rng)
    assert_same(fit(model, X, known), fit(clone(model), X, shuffled), "another order of the clues")


def _shuffle(clues: Clues, rng: Rng) -> Clues:
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
    """Labels and groups have the effect of the links that they imply."""
    known = select_clues(estimator, clues)
    must, must_weight, cannot, cannot_weight = known.pairs(expand=True)
    pairs = Clues(known.n, must=must, cannot=cannot, must_weight=must_weight, cannot_weight=cannot_weight)
    kept = {"sizes"} | ({"labels"} if estimator.card.noise and estimator.card.hard else set())
    pairs |= known.only(known.kinds & kept)  # no pair can say that a labeled row is not noise
    model = fix_start(estimator, X, rng, order="index")
    with warnings.catch_warnings():  # a pair in two groups weighs 2, and a hard method warns of that
        warnings.simplefilter("ignore", SoftClueWarning)
        assert_same(fit(model, X, known), fit(clone(model), X, pairs), "writing groups out as pairs")


def law_contradiction_raises_first(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Contradictory clues raise `Contradiction`, with the chain that proves it, before any start."""
    a, b, c = rng.choice(len(X), size=3, replace=False)
    error = _catch_refusal(estimator, X, Clues(len(X), must=[(a, b), (b, c)], cannot=[(a, c)]), Contradiction)
    assert error.conflicts, "the exception has no conflict."
    rows = {row for conflict in error.conflicts for link in conflict.chain for row in link[:2]}
    assert rows == {a, b, c}, f"the chain names rows {sorted(rows)} instead of {sorted({a, b, c})}."


def law_infeasible_raises_first(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """More classes or mutual cannot-links than clusters raise `Infeasible`, with a witness, before any start."""
    k, accepts = estimator.n_clusters, estimator.card.accepts
    rows = rng.choice(len(X), size=k + 1, replace=False)
    column = np.full(len(X), -1)
    column[rows] = np.arange(k + 1)
    pairs = [(a, b) for a in rows for b in rows if a < b]
    bad: dict[str, Any] = {"labels": column, "cannot": pairs, "apart": np.where(column >= 0, 0, -1)}
    for kind in accepts & bad.keys():
        error = _catch_refusal(estimator, X, Clues(len(X), **{kind: bad[kind]}), Infeasible)
        assert error.witness is not None, "the exception has no witness."


def _catch_refusal(estimator: Any, X: Floats, clues: Clues, expected: type[ClueError]) -> Any:
    """The exception that fit raises; it must come before any start."""

    def never(*_: Any, **__: Any) -> Floats:
        raise AssertionError(f"a start was made before {expected.__name__} was raised.")

    model = copy_with(estimator, init=never)
    error = _catch_error(model, X, clues)
    assert isinstance(error, expected), f"{clues} gave {error!r}; expected {expected.__name__}."
    assert not hasattr(model, "labels_"), f"{expected.__name__} was raised, but the model has labels."
    return error


def _catch_error(model: Any, X: Floats, clues: Any) -> ClueError | None:
    try:
        fit(model, X, clues)
    except ClueError as error:
        return error
    return None


def law_unused_kinds_warn(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A warning or a refusal names each kind of clue that is not used, and no other; unused clues change nothing."""
    accepts = estimator.card.accepts
    some = np.arange(len(X)) % getattr(estimator, "n_clusters", 3)
    model = fix_start(estimator, X, rng)
    refused = set()
    for kind in KINDS:
        given = sample_clues(some, [kind], rng)
        if kind not in given.kinds:
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            error = _catch_error(clone(model), X, given)
        if error is not None:
            assert kind not in accepts, f"{kind} is accepted, but fit raises {error!r}"
            assert kind in str(error), f"{kind} is refused, but {error!r} does not say so."
            refused.add(kind)
            continue
        unused = [str(w.message) for w in caught if issubclass(w.category, UnusedClueWarning)]
        if kind in accepts:
            assert not unused, f"{kind} is accepted, but fit warns: {unused[0]}"
            continue
        assert any(kind in message for message in unused), f"{kind} is not used, and fit does not warn."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedClueWarning)
        odd = sample_clues(some, set(KINDS) - accepts - refused, rng)
        assert_same(fit(model, X), fit(clone(model), X, odd), "clues of kinds that are not used")


def law_infinite_weight_is_refused(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A soft method refuses infinite weights."""
    for given in _make_weighted(estimator, len(X), np.inf, rng):
        error = _catch_error(fix_start(estimator, X, rng), X, given)
        assert "infinite" in str(error), f"an infinite weight in {given} gave {error!r} in a soft method."


def law_infinite_weight_is_hard(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """If hard and soft clues mix, links of infinite weight hold, and contradictions among them are refused."""
    known = select_clues(estimator, clues).only(["must", "cannot"])
    sure = Clues(len(X), must=rng.choice(len(X), size=(2, 2), replace=False), must_weight=np.inf)
    model = fit(fix_start(estimator, X, rng), X, known | sure)
    split = sure.must[model.labels_[sure.must[:, 0]] != model.labels_[sure.must[:, 1]]]
    assert not len(split), f"must-link {split[0]} of infinite weight is broken."
    a, b = sure.must[0]
    both = Clues(len(X), must=[(a, b)], cannot=[(a, b)], must_weight=np.inf, cannot_weight=np.inf)
    assert isinstance(_catch_error(clone(model), X, both), Contradiction), "a hard contradiction was not refused."


def law_unequal_weights_warn(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A hard method warns that it ignores unequal weights, and ignores them."""
    model = fix_start(estimator, X, rng)
    for given in _make_weighted(estimator, len(X), 5.0, rng):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            weighted = fit(clone(model), X, given)
        assert any(issubclass(w.category, SoftClueWarning) for w in caught), f"no SoftClueWarning for {given}."
        equal = Clues(len(X), must=given.must, cannot=given.cannot)
        assert_same(fit(clone(model), X, equal), weighted, "the weights of clues")


def _make_weighted(estimator: Any, n: int, weight: float, rng: Rng) -> list[Clues]:
    """Clues with two links, of weight 1 and ``weight``, for each kind of link that is accepted."""
    rows: Ints = rng.choice(n, size=(2, 2), replace=False)
    given: list[dict[str, Any]] = [{kind: rows, f"{kind}_weight": [1.0, weight]} for kind in ("must", "cannot")]
    return [Clues(n, **links) for links in given if estimator.card.accepts & links.keys()]


def law_bare_pairs_are_refused(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Pairs that are not in a `Clues`, and clues about another number of rows, are refused."""
    n = len(X)
    for given, hint in (([(0, 1), (1, 2)], "Clues"), (([(0, 1)], []), "Clues"), (Clues(n + 1), f"{n + 1} rows")):
        error = _catch_error(fix_start(estimator, X, rng), X, given)
        refused = error is not None and hint in str(error)
        assert refused, f"clues={given} gave {error!r}; expected a ClueError that mentions {hint!r}."
