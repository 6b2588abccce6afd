"""Choice: which plan predicts clues best that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cluewise._notebook import Report
from cluewise._typing import Bools, Floats, Ints
from cluewise.front._deadline import Deadline
from cluewise.front._evidence import Evidence
from cluewise.front._ground import VIEWS
from cluewise.front._likelihood import Plan, Regression
from cluewise.front._starts import AGAIN, INFORMED, LABELED, PLAIN, PROPAGATION, Starts

__all__ = ["FIRST", "PULLS", "Choice", "Fold", "Search", "as_it_is", "divide_clues", "make_folds"]

PULLS = (10.0, 1.0, 0.1, 0.01, 0.001)
ERRORS = (0.02, 0.1, 0.2, 0.3)
RIDGES = (0.03, 0.3, 3.0)
"""What is tried."""

VARIATIONS: tuple[Callable[[Plan], list[Plan]], ...] = (
    lambda plan: [plan._replace(view=view) for view in VIEWS],
    lambda plan: [plan._replace(pull=pull) for pull in PULLS],
    lambda plan: [plan._replace(error=error) for error in ERRORS],
    lambda plan: [plan._replace(ridge=ridge) for ridge in RIDGES],
)
"""Neighbors of a plan, one parameter after the other."""

FIRST = Plan(PROPAGATION, "mixed", 0.1, 0.02, 0.3)
WARY = FIRST._replace(error=0.2, ridge=3.0)
"""What is tried first, for each start: if clues are right, and if many are wrong."""

FINALISTS = 2
"""Starts for which everything is tried."""

CANDIDATES = 6
"""Starts that are fitted to the clues at all."""

ITERATIONS = 40
"""Steps of a fit during the search."""

TEMPER = 0.7
"""What the log-likelihood of a held-out clue counts against the odds below: clues overlap in what they say."""

OTHER, CLUED = 3.0, 4.0
"""Log-odds, before any clue, against another clustering without clues, and against any with clues."""

BLIND = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of the clues that may say nothing about the rows; a plan is judged by the share that suits it best."""

FEW, MANY, HUGE = 300, 1000, 20_000
"""Clues up to which there are five folds, four folds, and two of three folds; beyond, one of three is used."""


GROUPS = 4
"""Fewer groups are not held out as a whole."""

NEWS = 0.9
"""If a smaller share of the held-out clues says something new, rows are held out instead of clues."""

HELD = 0.15
"""Share of the rows that are held out."""

BY_WORTH = ("k-means", "spectral", PROPAGATION, *LABELED, "pieces", AGAIN, "Ward", "mixture", "consensus")
"""Which starts are made first, as a time limit may leave no time for others."""

AFTERWARDS_STARTS, AFTERWARDS_FITS = 4, 9
"""How many starts and, in steps, fits of the search the judgement of clues and the last fit take."""


class Fold(NamedTuple):
    """Evidence to learn from, evidence to predict, and which of the latter does not follow from the former."""

    train: Evidence
    held: Ints  # numbers of pairs, then labels
    fair: Bools


@dataclass(frozen=True, repr=False)
class Choice(Report):
    """What was tried, how well it predicted held-out clues, and what was taken.

    Attributes
    ----------
    plan : Plan
        What was taken.
    scores : dict of Plan to float
        Mean log-likelihood of held-out clues, less that of pairs and rows that might have been looked at instead.
    errors : dict of Plan to float
        Standard error of the difference to the best score.
    plain : str
        The clustering without clues that is the result if there are none.
    gain, gain_error : float
        How much better the plan predicts held-out clues than the clustering without clues, and its standard error.
    held : int
        Number of clues that were held out, each counted once.
    reason : str
        Why the plan was taken.

    Examples
    --------
    >>> import cluewise as cw
    >>> print(cw.Cluewise(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]]).choice_)
    There are no clues.
    """

    plan: Plan
    plain: str
    reason: str
    scores: dict[Plan, float] = field(default_factory=dict, repr=False)
    errors: dict[Plan, float] = field(default_factory=dict, repr=False)
    gain: float = 0.0
    gain_error: float = 0.0
    held: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether the clustering without clues was taken as it is."""
        return self.plan.start == self.plain and not self.plan.view

    @property
    def harm_unknown(self) -> str:
        """Why ``harm_`` is nan, for a fit of which it is."""
        if self.held or self.is_plain:
            return "clues that must hold moved rows afterwards"
        return self.reason

    def __str__(self) -> str:
        """The best score of each start, and the reason."""
        lines = []
        for start in dict.fromkeys(plan.start for plan in self.scores):
            best = max((plan for plan in self.scores if plan.start == start), key=self.scores.__getitem__)
            mark = "*" if start == self.plan.start else " "
            lines.append(f"{mark} {start:<18} {self.scores[best]:8.3f} ± {self.errors[best]:.3f}")
        return "\n".join([*lines, f"{self.reason[0].upper()}{self.reason[1:]}."])


def make_folds(evidence: Evidence, rng: np.random.Generator) -> list[Fold]:
    """Divide the clues that may be wrong into folds.

    A held-out pair says nothing new if it follows from the others. Where many do, because there are many pairs, all
    pairs of some rows are held out together.
    """
    total = len(evidence.doubtful)
    count = 5 if total < FEW else 4 if total < MANY else 3
    count = min(count, max(2, total // 4))
    folds = [_make_fold(evidence, held) for held in divide_clues(evidence, count, rng)]
    if np.mean([fold.fair.mean() for fold in folds]) < NEWS:
        folds = [_make_fold(evidence, held) for held in _divide_rows(evidence, count, rng)]
    used = count if total < MANY else 2 if total < HUGE else 1
    return [fold for fold in folds if fold.fair.any()][:used]


def _make_fold(evidence: Evidence, held: Ints) -> Fold:
    rest = evidence.leave_out(held)
    return Fold(rest, held, _is_news(evidence, held, rest))


def divide_clues(evidence: Evidence, count: int, rng: np.random.Generator) -> list[Ints]:
    """Numbers of the clues of each fold; every kind and class is in every fold, and a group in one of them."""
    able = evidence.doubtful
    kind = np.concatenate([evidence.is_must.astype(np.int64), 2 + evidence.classes])[able]
    _, first, own = np.unique(_find_units(evidence), return_index=True, return_inverse=True)
    # In the order of their first clue, so that numbers of units do not matter.
    order = np.argsort(first)
    fold = np.empty(len(first), dtype=np.int64)
    fold[order[np.lexsort([rng.random(len(first)), kind[first[order]]])]] = np.arange(len(first)) % count
    return [able[fold[own] == number] for number in range(min(count, len(first)))]


def _find_units(evidence: Evidence) -> Ints:
    """Number what is held out as a whole: a link, a label, a group or, if these are few, each pair of a group."""
    units = evidence.units[evidence.doubtful]
    return units if len(np.unique(units)) >= GROUPS else np.arange(len(units))


def _divide_rows(evidence: Evidence, count: int, rng: np.random.Generator) -> list[Ints]:
    """Numbers of the clues of each fold: those that touch some rows, and the others of their groups."""
    able = evidence.doubtful
    rows = np.concatenate([evidence.ends, np.column_stack([evidence.labeled] * 2)])[able]
    # Numbered as they come, so that only the order of the clues matters, not that of the rows.
    _, first, own = np.unique(rows, return_index=True, return_inverse=True)
    places = np.argsort(np.argsort(first))[own].reshape(rows.shape)
    shuffled = rng.permutation(len(first))
    size = max(1, round(HELD * len(shuffled)))
    fold = shuffled[places] // size
    units = _find_units(evidence)
    return [able[np.isin(units, units[(fold == number).any(axis=1)])] for number in range(count)]


def _is_news(evidence: Evidence, held: Ints, train: Evidence) -> Bools:
    """Which held-out pairs do not follow from the others; a label never does."""
    pairs = held[held < len(evidence.ends)]
    news = np.ones(len(held), dtype=bool)
    if not len(pairs):
        return news
    rows = np.unique(evidence.ends)  # only these, as there may be millions of others
    size, known = len(rows), np.searchsorted(rows, train.ends)
    joined = known[train.is_must]
    links = coo_array((np.ones(len(joined)), (joined[:, 0], joined[:, 1])), shape=(size, size))
    part = connected_components(links, directed=False)[1].astype(np.int64)
    apart = _code(part[known[~train.is_must]], size)
    ends = part[np.searchsorted(rows, evidence.ends[pairs])]
    entailed = np.where(evidence.is_must[pairs], ends[:, 0] == ends[:, 1], np.isin(_code(ends, size), apart))
    news[: len(pairs)] = ~entailed
    return news


def _code(pairs: Ints, size: int) -> Ints:
    return pairs.min(axis=1) * size + pairs.max(axis=1)


class Search:
    """Plans are fitted to all folds but one and predict the clues of that one."""

    def __init__(
        self, starts: Starts, regression: Regression, evidence: Evidence, folds: list[Fold], deadline: Deadline
    ) -> None:
        self._starts, self._regression, self._evidence, self._deadline = starts, regression, evidence, deadline
        self.folds = folds
        # Where rows are held out, a clue may be held out twice; it still is one clue.
        self._held = len(np.unique(np.concatenate([fold.held[fold.fair] for fold in folds])))
        self._frequency = np.concatenate([_count_frequency(evidence, fold, regression.k) for fold in folds])
        self.scores: dict[Plan, Floats] = {}  # of each held-out clue, over the background
        self._begin: dict[tuple[str, str, int], Floats] = {}
        self._made: dict[tuple[str, int], Ints] = {}
        self._slowest_start = self._slowest_fit = 0.0  # seconds for one fold

    def choose(self) -> Choice:
        """Try plans, from those that seem promising, and take the one with the best odds."""
        evidence = self._evidence
        names = [*PLAIN, *INFORMED]
        if len(evidence.labeled) > evidence.total / 2:
            names += LABELED
        names = self._select_in_time(names)
        for name in names:
            for error in ERRORS:
                self._try(as_it_is(name, error))
        hopeful = sorted(names, key=lambda name: -self._top(name))[:CANDIDATES]
        for name in hopeful:
            for plan in (FIRST, WARY):
                self._try(plan._replace(start=name))
        for name in sorted(hopeful, key=lambda name: -self._top(name))[:FINALISTS]:
            for vary in VARIATIONS:
                fitted = [one for one in self.scores if one.start == name and one.view]
                if not fitted:  # no time was left for any
                    break
                plan = self._best(fitted)
                for other in vary(plan):
                    self._try(other)
        return self._settle()

    def _select_in_time(self, names: list[str]) -> list[str]:
        """The starts that can be made in half of the time, as the rest is for fits; the default is made in any case."""
        half = self._deadline.halve()
        ready = {self._starts.default}
        for name in sorted(names, key=BY_WORTH.index):
            if name in ready or half.leaves(self._slowest_start * len(self.folds)):
                for number in range(len(self.folds)):
                    self._find_start(name, number)
                ready.add(name)
        return [name for name in names if name in ready]

    def score_count(self, starts: list[Ints]) -> float:
        """Log-likelihood of the held-out clues with this number of clusters, by plans that mostly do well.

        Propagation has led to these starts, one for each fold.
        """
        plans = [FIRST, FIRST._replace(error=0.1)]
        self._made |= {(FIRST.start, number): start for number, start in enumerate(starts)}
        for plan in plans:
            self._try(plan)
        return self._held * max(float(self.scores[plan].mean()) for plan in plans)

    def _settle(self) -> Choice:
        best, plain = self._best(self.scores), self._starts.default
        gap = {plan: self.scores[best] - found for plan, found in self.scores.items()}
        errors = {plan: float(loss.std() / np.sqrt(len(loss))) for plan, loss in gap.items()}
        worth = TEMPER * self._held
        plan = max(self.scores, key=lambda one: worth * float(self.scores[one].mean()) - _log_odds(one, plain))
        usual = self._best(one for one in self.scores if one.start == plain and not one.view)
        gain = self.scores[plan] - self.scores[usual]
        return Choice(
            plan,
            plain,
            _explain(plan, best) + (", as far as the time limit allowed to compare" if self._deadline.reached else ""),
            {one: float(found.mean()) for one, found in self.scores.items()},
            errors,
            float(gain.mean()),
            float(gain.std() / np.sqrt(len(gain))),
            self._held,
        )

    def _top(self, name: str) -> float:
        return max(float(found.mean()) for plan, found in self.scores.items() if plan.start == name)

    def _best(self, plans: Iterable[Plan]) -> Plan:
        return max(plans, key=lambda plan: float(self.scores[plan].mean()))

    def _try(self, plan: Plan) -> None:
        if plan in self.scores or (plan.view and not self._deadline.leaves(self._predict_seconds())):
            return
        k, evidence = self._regression.k, self._evidence
        found = []
        for number, fold in enumerate(self.folds):
            place = plan.start, plan.view, number
            start = self._find_start(plan.start, number)
            weights = None
            if plan.view:
                began = monotonic()
                weights = self._regression.fit(start, plan, fold.train, self._begin.get(place), ITERATIONS)
                self._slowest_fit = max(self._slowest_fit, monotonic() - began)
                self._begin.setdefault(place, weights)
            held = evidence.take(fold.held)
            right = self._regression.judge(plan, start, weights, held)
            same, apart, among = self._regression.background.measure(self._regression.expect(plan, start, weights))
            level = np.concatenate([np.where(held.is_must, same, apart), np.full(len(held.labeled), among)])
            is_pair = fold.held < len(evidence.ends)
            e, q = held.find_errors(plan.error), len(self._regression.background.named) / k
            likely = np.where(is_pair, e + (1 - 2 * e) * right, e / k + (1 - e) * right)
            usual = np.where(is_pair, e + (1 - 2 * e) * level, e * q + (1 - e) * level)
            found.append((likely / usual)[fold.fair])
        # Else what predicts nothing would be better than what predicts clues that say nothing.
        likely = np.concatenate(found) + 1e-12
        self.scores[plan] = max(
            (np.log((1 - share) * likely + share * self._frequency) for share in BLIND), key=lambda score: score.sum()
        )

    def _predict_seconds(self) -> float:
        """What one more plan takes and, after the choice, judging clues and the last fit."""
        return self._slowest_start * AFTERWARDS_STARTS + self._slowest_fit * (len(self.folds) + AFTERWARDS_FITS)

    def _find_start(self, name: str, number: int) -> Ints:
        if (name, number) not in self._made:
            first = self._find_start(PROPAGATION, number) if name == AGAIN else None
            began = monotonic()
            self._made[name, number] = self._starts.find(name, self.folds[number].train, first)
            if name not in PLAIN:  # which are made once
                self._slowest_start = max(self._slowest_start, monotonic() - began)
        return self._made[name, number]


def _count_frequency(evidence: Evidence, fold: Fold, k: int) -> Floats:
    """Find what a held-out clue counts if it says nothing: a link 1, a label how often its class occurs."""
    named = np.bincount(evidence.classes, minlength=k) > 0
    label = (np.bincount(fold.train.classes, minlength=k) + named) / max(len(fold.train.classes) + named.sum(), 1)
    pairs = np.ones(len(evidence.ends))
    return np.concatenate([pairs, label[evidence.classes]])[fold.held][fold.fair]


def as_it_is(start: str, error: float) -> Plan:
    """A start that is not fitted to the clues."""
    return Plan(start, "", np.inf, error, 0.0)


def _log_odds(plan: Plan, plain: str) -> float:
    """How much a plan has to predict clues better than the clustering without clues to be taken instead."""
    if plan.view or plan.start not in PLAIN:
        return CLUED
    return 0.0 if plan.start == plain else OTHER


def _explain(plan: Plan, best: Plan) -> str:
    if plan == best:
        return f"{_name(plan)}, predicts held-out clues best"
    return f"{_name(plan)}: {_name(best)}, predicts held-out clues better, but not by enough for clues as few as these"


def _name(plan: Plan) -> str:
    return f"{plan.start}, " + ("fitted to the clues" if plan.view else "as it is")
