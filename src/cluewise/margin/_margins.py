"""Margins: linear scores per cluster, and what rows and links lose where the right cluster leads by less than 1.

Every loss is the least of several convex ones, one for each cluster (or pair of clusters) that may be the right one.
`judge` finds the right ones for given scores, `improved` lowers the convex loss that they leave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.core import centers
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks

__all__ = [
    "Chosen",
    "Judged",
    "LinkSlice",
    "Prices",
    "Table",
    "apart",
    "improved",
    "judge",
    "scores",
    "table_of",
    "together",
]

LIMIT = 2 * 10**6
"""Labels and groups that make more links than this are refused: each is looked at in each of some hundred passes."""

SLICE = 4000
"""Links that are looked at together."""

PASSES = 40
"""Most iterations of the solver for one convex problem; the next one starts where it ends."""


class Prices(NamedTuple):
    """What the terms of the objective weigh."""

    size: float  # λ of (λ/2)‖w‖²
    links: float  # C, of the mean loss of the links
    balance: float  # most that the mean scores of two clusters may differ


class LinkSlice(NamedTuple):
    """Some links of one kind."""

    must: bool
    ends: Ints  # (m, 2) places among the tied rows
    weight: Floats  # (m,) share of each in the mean
    onto: tuple[Any, Any]  # two (t, m) sparse matrices, which sum over the links of each tied row


class Table(NamedTuple):
    """Rows as the scores see them, relative to their mean and with mean square 1, and the links among them."""

    rows: Rows
    mean: Floats  # (d,) relative to the shift of the rows
    scale: float
    share: Floats  # (n,) of each row in the mean loss; 0 for rows that links speak of
    tied: Ints  # (t,) the rows that links speak of
    links: list[LinkSlice]


class Chosen(NamedTuple):
    """The right clusters."""

    labels: Ints  # (n,) of each row
    ends: list[tuple[Ints, Ints]]  # of the two ends of each link


class Judged(NamedTuple):
    """What scores amount to."""

    objective: float
    chosen: Chosen


def table_of(rows: Rows, clues: Clues, total: float) -> Table:
    """Rows and links, prepared once; ``total`` is the scatter of the rows around the shift."""
    pairs = clues.pairs(expand=True, limit=LIMIT)
    tied, place = np.unique(pairs.ends, return_inverse=True)
    ends = place.reshape(-1, 2)
    count, n_must = len(ends), len(pairs.must)
    links = [
        *_sliced(True, ends[:n_must], pairs.must_weight / max(count, 1), len(tied)),
        *_sliced(False, ends[n_must:], pairs.cannot_weight / max(count, 1), len(tied)),
    ]
    share = np.ones(rows.n) if rows.weight is None else rows.weight.astype(np.float64)
    share[tied] = 0
    share /= share.sum() or 1.0
    found = centers.tally(rows, np.zeros(rows.n, dtype=np.int32), 1)
    scale = np.sqrt(centers.within(total, found) / found.mass[0])
    return Table(rows, found.sums[0] / found.mass[0], float(scale) or 1.0, share, tied, links)


def _sliced(must: bool, ends: Ints, weight: Floats, t: int) -> list[LinkSlice]:
    slices = []
    for start in range(0, len(ends), SLICE):
        some, part = ends[start : start + SLICE], weight[start : start + SLICE]
        number, one = np.arange(len(some)), np.ones(len(some))
        first, second = (csr_array((one, (end, number)), shape=(t, len(some))) for end in some.T)
        slices.append(LinkSlice(must, some, part, (first, second)))
    return slices


def scores(table: Table, model: Floats, x: Any) -> Floats:
    """(rows, k) scores of some rows by a model, (k, d + 1): coefficients, then the mean score of each cluster."""
    slope = model[:, :-1].T / table.scale
    return np.asarray(x @ slope) - (table.mean @ slope - model[:, -1])


def _by_row(table: Table, x: Any, pushes: Floats) -> Floats:
    """(k, d + 1) derivative of a loss by the model, from that by the scores of some rows."""
    mass = pushes.sum(axis=0)
    slope = (np.asarray(x.T @ pushes).T - np.outer(mass, table.mean)) / table.scale
    return np.column_stack([slope, mass])


def together(a: Floats, b: Floats) -> tuple[Floats, Ints]:
    """The best sum of scores of two rows in one cluster, and that cluster."""
    both = a + b
    cluster = both.argmax(axis=1)
    return _at(both, cluster), cluster


def apart(a: Floats, b: Floats) -> tuple[Floats, Ints, Ints]:
    """The best sum of scores of two rows in different clusters, and these clusters."""
    (first_a, second_a), (first_b, second_b) = _two_best(a), _two_best(b)
    clash = first_a == first_b
    yields = clash & (_at(a, second_a) + _at(b, first_b) > _at(a, first_a) + _at(b, second_b))
    one = np.where(yields, second_a, first_a)
    other = np.where(clash & ~yields, second_b, first_b)
    return _at(a, one) + _at(b, other), one, other


def _at(scored: Floats, cluster: Ints) -> Floats:
    return scored[np.arange(len(scored)), cluster]


def _two_best(scored: Floats) -> tuple[Ints, Ints]:
    best = scored.argmax(axis=1)
    rest = scored.copy()
    rest[np.arange(len(rest)), best] = -np.inf
    return best, rest.argmax(axis=1)


def judge(table: Table, model: Floats, prices: Prices) -> Judged:
    """The objective of a model, exactly, and the right clusters by its scores."""
    rows, k = table.rows, len(model)

    def work(block: slice) -> tuple[float, Ints, Floats]:
        scored = scores(table, model, rows.take(block))
        best, second = _two_best(scored)
        lost = np.maximum(1 - _at(scored, best) + _at(scored, second), 0)
        mine = table.tied[slice(*np.searchsorted(table.tied, [block.start, block.stop]))]
        return float(lost @ table.share[block]), best.astype(np.int32), scored[mine - block.start]

    parts = list(map_blocks(work, rows.blocks(k)))
    scored = np.concatenate([part[2] for part in parts])
    value, ends = sum(part[0] for part in parts), []
    for links in table.links:
        a, b = scored[links.ends[:, 0]], scored[links.ends[:, 1]]
        (same, cluster), (other, one, two) = together(a, b), apart(a, b)
        lead = same - other if links.must else other - same
        value += prices.links * float(np.maximum(1 - lead, 0) @ links.weight)
        ends.append((cluster, cluster) if links.must else (one, two))
    value += prices.size / 2 * float((model[:, :-1] ** 2).sum())
    return Judged(value, Chosen(np.concatenate([part[1] for part in parts]), ends))


def improved(table: Table, chosen: Chosen, start: Floats, prices: Prices, smoothing: float) -> Floats:
    """A model that (nearly) minimizes the objective with the right clusters as they are.

    L-BFGS-B on the convex problem with its maxima smoothed (``smoothing`` times the log of a sum of exponentials),
    whose minimum is at most ``smoothing`` times log k for the rows and log(1 + k²) for the links too high.
    """
    k, d = len(start), table.rows.d

    def loss(v: Floats) -> tuple[float, Floats]:
        value, slope = smoothed(table, chosen, v.reshape(k, d + 1), prices, smoothing)
        return value, slope.ravel()

    bounds = np.full((k, d + 1), np.inf)
    bounds[:, -1] = prices.balance / 2
    limits = np.column_stack([-bounds.ravel(), bounds.ravel()])
    options = {"maxiter": PASSES, "maxcor": 20, "ftol": 1e-6, "gtol": 1e-6}
    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", bounds=limits, options=options)
    return found.x.reshape(k, d + 1)


def smoothed(table: Table, chosen: Chosen, model: Floats, prices: Prices, smoothing: float) -> tuple[float, Floats]:
    """The smoothed convex objective and its derivative, (k, d + 1)."""
    rows, k = table.rows, len(model)

    def work(block: slice) -> tuple[float, Floats, Floats]:
        x = rows.take(block)
        scored = scores(table, model, x)
        lost, pushes = _row_loss(scored, chosen.labels[block], smoothing)
        share = table.share[block]
        mine = table.tied[slice(*np.searchsorted(table.tied, [block.start, block.stop]))]
        return float(lost @ share), _by_row(table, x, pushes * share[:, None]), scored[mine - block.start]

    value, slope, tied = 0.0, np.zeros_like(model), []
    for lost, part, scored in map_blocks(work, rows.blocks(k)):
        value, slope = value + lost, slope + part
        tied.append(scored)
    if table.links:
        lost, pushes = _link_loss(np.concatenate(tied), table.links, chosen.ends, smoothing)
        value += prices.links * lost
        start = 0
        for block in rows.blocks(k, table.tied):
            slope += prices.links * _by_row(table, rows.take(block), pushes[start : start + len(block)])
            start += len(block)
    value += prices.size / 2 * float((model[:, :-1] ** 2).sum())
    slope[:, :-1] += prices.size * model[:, :-1]
    return value, slope


def _row_loss(scored: Floats, labels: Ints, smoothing: float) -> tuple[Floats, Floats]:
    """Smoothed [1 − (own − best other)]₊ of each row, and its derivative by the scores."""
    here = np.arange(len(scored))
    ahead = scored + (1 - _at(scored, labels))[:, None]
    ahead[here, labels] = 0
    ahead /= smoothing
    highest = ahead.max(axis=1, keepdims=True)
    pushes = np.exp(ahead - highest)
    total = pushes.sum(axis=1, keepdims=True)
    pushes /= total
    pushes[here, labels] -= 1
    return smoothing * (highest + np.log(total))[:, 0], pushes


def _link_loss(
    scored: Floats, links: list[LinkSlice], ends: list[tuple[Ints, Ints]], smoothing: float
) -> tuple[float, Floats]:
    """Smoothed loss of all links, and its derivative by the scores of the tied rows."""
    warm = scored / smoothing
    others = _log_others(warm)
    value, pushes = 0.0, np.zeros_like(scored)
    for some, (one, two) in zip(links, ends):
        first, second = some.ends.T
        a, b = warm[first], warm[second]
        if some.must:  # wrong: any two different clusters
            toward = (a + others[second], b + others[first])
        else:  # wrong: any one cluster
            toward = (a + b, a + b)
        wrong = _log_sum(toward[0])
        behind = 1 / smoothing + wrong - _at(a, one) - _at(b, two)
        value += smoothing * float(np.logaddexp(0, behind) @ some.weight)
        pull = some.weight * expit(behind)
        for onto, away, own in zip(some.onto, toward, (one, two)):
            push = np.exp(away - wrong[:, None])
            push[np.arange(len(push)), own] -= 1
            pushes += onto @ (push * pull[:, None])
    return value, pushes


def _log_sum(warm: Floats) -> Floats:
    highest = warm.max(axis=1)
    return highest + np.log(np.exp(warm - highest[:, None]).sum(axis=1))


def _log_others(warm: Floats) -> Floats:
    """Log of Σ exp over all clusters but each, from sums that begin at both ends: a difference would lose digits."""
    out = np.full_like(warm, -np.inf)
    np.logaddexp.accumulate(warm[:, :-1], axis=1, out=out[:, 1:])
    out[:, :-1] = np.logaddexp(out[:, :-1], np.logaddexp.accumulate(warm[:, :0:-1], axis=1)[:, ::-1])
    return out
