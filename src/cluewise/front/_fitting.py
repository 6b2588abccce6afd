"""One fit of `Cluewise`: choose a plan, fit it to all clues, and judge each clue by fits that did not see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.special import logit

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.chunks import Chunks
from cluewise.front._choice import FIRST, Choice, Fold, Search, as_it_is, divide_clues, make_folds
from cluewise.front._deadline import Deadline
from cluewise.front._evidence import Evidence
from cluewise.front._ground import Ground, Place, Scores
from cluewise.front._likelihood import Plan, Regression, soften
from cluewise.front._starts import Starts, match
from cluewise.front._trust import find_share

__all__ = [
    "Data",
    "Elsewhere",
    "Fitted",
    "compare_counts",
    "find_scores",
    "fit_again",
    "fit_anew",
    "fit_from",
    "predict",
    "predict_chunk",
]

FOLDS = 3
"""Folds for doubts."""

STEPS = 40
"""Steps of a fit that judges clues."""

SHARP = 0.01
"""Share of a start that is spread over all clusters when it judges clues; with more, trust would be too high."""

DOUBTFUL = 0.1
"""Share of wrong clues from which on the last fit heeds each clue as far as fits bear it out that did not see it. If
fewer are wrong, a clue that fits do not bear out mostly says something that they do not know."""

HEEDED = 30
"""Labels that must hold, and so are not held out to compare, from which on other rows follow them. Ten labels of twelve
development sets: .52 if they do not, .47 if they do; thirty: .55 and .56. Eight pairs: .51 and .57."""

EMBEDDED = 30
"""Clusters for which clues propagate, at least, to compare numbers of clusters."""

SOURCES = 4
"""Sources whose clues are tried alone to rate all sources."""

RATED = FIRST._replace(error=0.1)
"""What sources are compared by."""

GIVEN = FIRST._replace(start="given", error=0.2)
"""From a start that the caller gives, who may have a reason not to follow some clues: these are not believed much."""


class Elsewhere(NamedTuple):
    """Rows in chunks, and the clues about all of them."""

    chunks: Chunks
    clues: Clues


class Data(NamedTuple):
    """What does not depend on clues."""

    ground: Ground
    rows: Floats  # projected; without projection the data themselves
    weight: Floats | None
    seed: int
    starts: dict[int, Starts]  # by the number of clusters: those without clues are the same in every fit
    elsewhere: Elsewhere | None = None  # then `rows` are those that the ground keeps


class Fitted(NamedTuple):
    """What `Cluewise` has learned, and what the next update needs."""

    k: int
    choice: Choice
    chosen_for: int  # clues at the choice
    start: Ints  # cluster of each grain
    weights: Floats | None  # of the features; None if the start is the result
    right: Floats  # probability that each pair, then each label, of the evidence is right without its own say
    counted_for: int = 0  # rows with clues when k was found; 0 if it was given
    compared_by: int = 0  # clues at the choice that might be wrong: the others were not held out


def fit_anew(data: Data, evidence: Evidence, k: int, deadline: Deadline, hard: bool) -> Fitted:
    """Compare plans, and fit the one that is chosen."""
    starts, regression = _prepare(data, evidence, k)
    arranged, numbers = evidence.arrange(data.ground.grain)
    if _has_rivals(arranged):
        arranged = _rate_sources(starts, regression, arranged, data.seed)
        evidence = arranged.take(np.argsort(numbers))
    choice = _choose(starts, regression, arranged, np.random.default_rng(data.seed), deadline, hard)
    right = np.empty(evidence.total)
    plan, rng = choice.plan, np.random.default_rng(data.seed)
    right[numbers] = _cross_judge(lambda train: starts.find(plan.start, train), regression, arranged, plan, rng)
    start, weights = _finish(starts, regression, evidence, plan, right)
    return Fitted(k, choice, evidence.total, start, weights, right, compared_by=len(evidence.doubtful))


def fit_again(data: Data, evidence: Evidence, known: Clues, before: Fitted, old: Clues) -> Fitted:
    """Fit the same plan to more clues."""
    starts, regression = _prepare(data, evidence, before.k)
    right = _recall(data, evidence, known, before, old)
    if _has_rivals(evidence):
        free = _find_rated(evidence)
        evidence = _heed_sources(evidence, free, _find_shares(evidence, free, right))
    start, weights = _finish(starts, regression, evidence, before.choice.plan, right)
    return before._replace(start=start, weights=weights, right=right)


def fit_from(data: Data, evidence: Evidence, k: int, labels: Ints) -> Fitted:
    """Fit from given clusters of the rows; nothing is compared, so the next fit without a start chooses anew."""
    starts, regression = _prepare(data, evidence, k)
    grain = data.ground.grain
    weight = np.ones(len(labels)) if data.weight is None else data.weight
    member = coo_array((weight, (grain, labels)), shape=(data.ground.m, k)).toarray()
    start = match(member.argmax(axis=1), evidence, grain, k)
    plan = GIVEN if evidence.total else as_it_is(GIVEN.start, GIVEN.error)
    weights = regression.finish(start, plan, evidence) if plan.view else None
    right = np.empty(evidence.total)
    arranged, numbers = evidence.arrange(grain)
    right[numbers] = _cross_judge(lambda _: start, regression, arranged, plan, np.random.default_rng(data.seed))
    return Fitted(k, Choice(plan, starts.default, "a start was given"), 0, start, weights, right)


def compare_counts(data: Data, evidence: Evidence, folds: list[Fold], likely: int) -> Callable[[int], float]:
    """Return a function that tells how well k clusters predict held-out clues; ``likely`` is a probable number."""
    _, regression = _prepare(data, evidence, likely)
    # What depends on clues but not on k is made once, for twice as many clusters as before where they do not suffice.
    points: list[Floats] = []

    def score(k: int) -> float:
        if not points or k > points[0].shape[1]:
            most = min(max(EMBEDDED, 2 * k), data.ground.m)
            points[:] = [Starts(data.ground, most, data.seed).embed(fold.train) for fold in folds]
        starts = data.starts.setdefault(k, Starts(data.ground, k, data.seed))
        own = [starts.group(*each) for each in zip(points, (fold.train for fold in folds))]
        return Search(starts, regression.set_count(k), evidence, folds, Deadline(None)).score_count(own)

    return score


def _prepare(data: Data, evidence: Evidence, k: int) -> tuple[Starts, Regression]:
    rng = np.random.default_rng(data.seed)
    starts = data.starts.setdefault(k, Starts(data.ground, k, data.seed))
    return starts, Regression(data.ground, data.rows, evidence, starts.plain(starts.default), k, rng)


def _finish(
    starts: Starts, regression: Regression, evidence: Evidence, plan: Plan, right: Floats
) -> tuple[Ints, Floats | None]:
    """The start, and the weights of the last fit; ``right`` is the probability that each clue is right."""
    if not plan.view:
        return starts.find(plan.start, evidence), None
    error = evidence.find_errors(plan.error)
    believed = _believe(np.clip(right, 1e-6, 1.0), error)
    evidence = evidence.heed(np.where(error >= DOUBTFUL, believed, 1.0))
    start = starts.find(plan.start, evidence)
    return start, regression.finish(start, plan, evidence)


def _believe(right: Floats, error: Floats) -> Floats:
    """Probability that each clue is right, if it is wrong so often and fits say this about it."""
    return (1 - error) * right / ((1 - error) * right + error * (1 - right))


def find_scores(ground: Ground, fitted: Fitted) -> Scores:
    """What gives rows their probabilities."""
    if fitted.weights is not None:
        return ground.score(fitted.choice.plan.view, fitted.weights)
    return Scores(soften(fitted.start[ground.reference_grain], fitted.k).astype(np.float32))


def predict(ground: Ground, rows: Floats, place: Place, fitted: Fitted) -> Floats:
    """Probability of each cluster for each row."""
    return _collect(ground, rows, place, find_scores(ground, fitted))


def _collect(ground: Ground, rows: Floats, place: Place, scores: Scores) -> Floats:
    P = np.empty((len(rows), scores.k), dtype=np.float32)

    def keep(block: slice, part: Floats) -> None:
        P[block] = part

    ground.predict(rows, place, scores, keep)
    return P


def predict_chunk(chunk: Floats, ground: Ground, scores: Scores) -> Floats:
    """The same for rows of a chunk, which are not projected yet."""
    if not len(chunk):  # which scikit-learn would refuse
        return np.empty((0, scores.k), dtype=np.float32)
    rows = ground.project(chunk)
    return _collect(ground, rows, ground.locate(rows), scores)


def _choose(
    starts: Starts, regression: Regression, evidence: Evidence, rng: np.random.Generator, deadline: Deadline, hard: bool
) -> Choice:
    if not evidence.total:
        return Choice(as_it_is(starts.default, 0.1), starts.default, "there are no clues")
    able = 0 if hard else len(evidence.doubtful)
    folds = make_folds(evidence, rng) if able > 1 else []
    if not folds:
        if able == evidence.total:
            return Choice(as_it_is(starts.default, 0.1), starts.default, "one clue alone cannot be checked by others")
        plan = FIRST
        if len(evidence.labeled) > len(evidence.ends):
            few = evidence.total < HEEDED
            plan = as_it_is(starts.default, 0.1) if few else FIRST._replace(start="label spreading")
        return Choice(plan, starts.default, "clues that must hold are not held out to compare anything")
    return Search(starts, regression, evidence, folds, deadline).choose()


def _cross_judge(
    find: Callable[[Evidence], Ints],
    regression: Regression,
    evidence: Evidence,
    plan: Plan,
    rng: np.random.Generator,
    choose: Callable[[Evidence], Evidence] = lambda train: train,
) -> Floats:
    """Probability that each clue is right by fits that did not see it; 1 for what is not held out.

    ``choose`` takes what fits may see of the other clues.
    """
    right = np.ones(evidence.total)
    count = min(FOLDS, len(evidence.doubtful))
    for held in divide_clues(evidence, count, rng) if count > 1 else []:
        train = choose(evidence.leave_out(held))
        start = find(train)
        weights = regression.fit(start, plan, train, None, STEPS) if plan.view else None
        right[held] = regression.judge(plan, start, weights, evidence.take(held), SHARP)
    return right


def _has_rivals(evidence: Evidence) -> bool:
    """Tell whether several sources say something that may be wrong."""
    return len(np.unique(evidence.sources[_find_rated(evidence)])) > 1


def _rate_sources(starts: Starts, regression: Regression, evidence: Evidence, seed: int) -> Evidence:
    """The same with log-odds of being wrong for each source, as fits say that did not see its clues.

    Fits to the clues of all sources may know nothing because of one that is mostly wrong. So fits to each of the
    largest ones alone are tried, too, and those count that predict all clues best.
    """
    free = _find_rated(evidence)
    names, counts = np.unique(evidence.sources[free], return_counts=True)
    large = names[np.argsort(-counts, kind="stable")][:SOURCES]
    found = []
    for alone in (None, *large):

        def find(train: Evidence) -> Ints:
            return starts.find(RATED.start, train)

        def select(train: Evidence, source: Any = alone) -> Evidence:
            return train if source is None else train.take(np.flatnonzero(train.sources == source))

        right = _cross_judge(find, regression, evidence, RATED, np.random.default_rng(seed), select)
        shares = _find_shares(evidence, free, right)
        found.append((sum(score for _, score in shares.rated.values()), shares))
    return _heed_sources(evidence, free, max(found, key=lambda each: each[0])[1])


class _Shares(NamedTuple):
    """The share of wrong clues, of all and of each source with its log-likelihood."""

    usual: float
    rated: dict[int, tuple[float, float]]


def _find_shares(evidence: Evidence, free: Bools, right: Floats) -> _Shares:
    usual = find_share(right[free])[0]
    names = np.unique(evidence.sources[free]).tolist()
    return _Shares(usual, {name: find_share(right[free & (evidence.sources == name)], usual) for name in names})


def _heed_sources(evidence: Evidence, free: Bools, shares: _Shares) -> Evidence:
    """Give each clue the log-odds of its source, and in starts a worth."""
    odds, worth = evidence.odds.copy(), evidence.worth.copy()
    for name, (share, _) in shares.rated.items():
        own = free & (evidence.sources == name)
        odds[own] = logit(share) - logit(shares.usual)
        worth[own] = (1 - 2 * share) ** 2
    worth[free] *= free.sum() / worth[free].sum()
    return evidence._replace(odds=odds, worth=worth)


def _find_rated(evidence: Evidence) -> Bools:
    """Mask the clues by which sources are rated: those that may be wrong, and do not say themselves how probably."""
    return np.isnan(evidence.stated) & np.isin(np.arange(evidence.total), evidence.doubtful)


def _recall(data: Data, evidence: Evidence, known: Clues, before: Fitted, old: Clues) -> Floats:
    """The same after an update: old clues as they were judged, new ones by the last fit, which did not see them."""
    rows = np.unique(np.concatenate([evidence.ends.ravel(), evidence.labeled]))
    P = predict(data.ground, data.rows[rows], data.ground.look_up(rows), before)
    here = evidence.find_in(rows)
    same = np.einsum("ij,ij->i", P[here.ends[:, 0]], P[here.ends[:, 1]])
    right = np.concatenate([np.where(here.is_must, same, 1 - same), P[here.labeled, here.classes]]).astype(np.float64)
    for pairs, said, at, was in (
        (known.must, old.must, 0, 0),
        (known.cannot, old.cannot, len(known.must), len(old.must)),
    ):
        _, new, earlier = np.intersect1d(_code(pairs), _code(said), assume_unique=True, return_indices=True)
        right[at + new] = before.right[was + earlier]
    seen = np.flatnonzero(old.labels >= 0)
    _, new, earlier = np.intersect1d(evidence.labeled, seen, assume_unique=True, return_indices=True)
    right[len(evidence.ends) + new] = before.right[len(before.right) - len(seen) + earlier]
    return right


def _code(pairs: Ints) -> Ints:
    return pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1]
