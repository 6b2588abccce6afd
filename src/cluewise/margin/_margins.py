"""Margins: a linear score per cluster, and hinge losses of rows and links whose best choice leads by less than 1.

Each loss is the minimum of several convex losses, one for each choice of a cluster (or a pair of clusters).
`evaluate` finds the best choice for given scores; `improve` lowers the convex loss for a fixed choice.
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
    "Choice",
    "Evaluation",
    "LinkSlice",
    "Prices",
    "Table",
    "apart",
    "evaluate",
    "improve",
    "scores",
    "smooth_objective",
    "table_of",
    "together",
]

LIMIT = 2 * 10**6
"""Maximum number of links, labels and groups expanded: every link is visited in each of some hundred passes."""

SLICE = 4000
"""Number of links in a slice."""

PASSES = 40
"""Maximum number of iterations of the solver for one convex problem; the next problem starts where it stopped."""


class Prices(NamedTuple):
    """Weights of the terms of the objective, and the bound on the mean scores."""

    size: float  # λ of (λ/2)‖w‖²
    links: float  # C, the weight of the mean loss of the links
    balance: float  # maximum difference of the mean scores of two clusters


class LinkSlice(NamedTuple):
    """Some links of one kind."""

    must: bool
    ends: Ints  # (m, 2) positions among the tied rows
    weight: Floats  # (m,) weight in the mean loss of the links
    onto: tuple[
        Any, Any
    ]  # two (t, m) sparse matrices that sum over the links of each tied row, by first and by second end


class Table(NamedTuple):
    """The rows, centered and scaled to mean square 1 when scored, and the links among them."""

    rows: Rows
    mean: Floats  # (d,) relative to the shift of the rows
    scale: float
    share: Floats  # (n,) weight in the mean loss of the rows; 0 for tied rows
    tied: Ints  # (t,) sorted rows that have links
    links: list[LinkSlice]


class Choice(NamedTuple):
    """The clusters that count as right, for rows and for links."""

    labels: Ints  # (n,) of each row
    ends: list[tuple[Ints, Ints]]  # of the two ends of each link


class Evaluation(NamedTuple):
    """The objective of a model, and the best choice by its scores."""

    objective: float
    choice: Choice


def table_of(rows: Rows, clues: Clues, total: float) -> Table:
    """Prepare rows and links; ``total`` is the scatter of the rows around the shift."""
    pairs = clues.pairs(expand=True, limit=LIMIT)
    tied, place = np.unique(pairs.ends, return_inverse=True)
    ends = place.reshape(-1, 2)
    count, n_must = len(ends), len(pairs.must)
    links = [
        *_slice_links(True, ends[:n_must], pairs.must_weight / max(count, 1), len(tied)),
        *_slice_links(False, ends[n_must:], pairs.cannot_weight / max(count, 1), len(tied)),
    ]
    share = np.ones(rows.n) if rows.weight is None else rows.weight.astype(np.float64)
    share[tied] = 0
    share /= share.sum() or 1.0
    found = centers.tally(rows, np.zeros(rows.n, dtype=np.int32), 1)
    scale = np.sqrt(centers.within(total, found) / found.mass[0])
    return Table(rows, found.sums[0] / found.mass[0], float(scale) or 1.0, share, tied, links)


def _slice_links(must: bool, ends: Ints, weight: Floats, t: int) -> list[LinkSlice]:
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


def _model_gradient(table: Table, x: Any, pushes: Floats) -> Floats:
    """(k, d + 1) gradient of a loss by the model, from its gradient by the scores of some rows."""
    mass = pushes.sum(axis=0)
    slope = (np.asarray(x.T @ pushes).T - np.outer(mass, table.mean)) / table.scale
    return np.column_stack([slope, mass])


def together(a: Floats, b: Floats) -> tuple[Floats, Ints]:
    """The largest sum of scores of two rows in the same cluster, and that cluster."""
    both = a + b
    cluster = both.argmax(axis=1)
    return _at(both, cluster), cluster


def apart(a: Floats, b: Floats) -> tuple[Floats, Ints, Ints]:
    """The largest sum of scores of two rows in different clusters, and these clusters."""
    (first_a, second_a), (first_b, second_b) = _two_best(a), _two_best(b)
    # If both prefer the same cluster, the row that loses less takes its second best.
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


def evaluate(table: Table, model: Floats, prices: Prices) -> Evaluation:
    """The exact objective of a model, and the best choice by its scores."""
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
    return Evaluation(value, Choice(np.concatenate([part[1] for part in parts]), ends))


def improve(table: Table, choice: Choice, start: Floats, prices: Prices, smoothing: float) -> Floats:
    """A model that approximately minimizes the objective for a fixed choice.

    L-BFGS-B solves the convex problem with each maximum replaced by a log-sum-exp times ``smoothing``. This raises the
    loss of a row by at most ``smoothing`` times log k, and that of a link by at most ``smoothing`` times log(1 + k²).
    """
    k, d = len(start), table.rows.d

    def loss(v: Floats) -> tuple[float, Floats]:
        value, slope = smooth_objective(table, choice, v.reshape(k, d + 1), prices, smoothing)
        return value, slope.ravel()

    # Mean scores within ± balance / 2 differ by at most the balance; only differences of scores matter.
    bounds = np.full((k, d + 1), np.inf)
    bounds[:, -1] = prices.balance / 2
    limits = np.column_stack([-bounds.ravel(), bounds.ravel()])
    options = {"maxiter": PASSES, "maxcor": 20, "ftol": 1e-6, "gtol": 1e-6}
    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", bounds=limits, options=options)
    return found.x.reshape(k, d + 1)


def smooth_objective(
    table: Table, choice: Choice, model: Floats, prices: Prices, smoothing: float
) -> tuple[float, Floats]:
    """The smoothed convex objective and its (k, d + 1) gradient."""
    rows, k = table.rows, len(model)

    def work(block: slice) -> tuple[float, Floats, Floats]:
        x = rows.take(block)
        scored = scores(table, model, x)
        lost, pushes = _row_loss(scored, choice.labels[block], smoothing)
        share = table.share[block]
        mine = table.tied[slice(*np.searchsorted(table.tied, [block.start, block.stop]))]
        return float(lost @ share), _model_gradient(table, x, pushes * share[:, None]), scored[mine - block.start]

    value, slope, tied = 0.0, np.zeros_like(model), []
    for lost, part, scored in map_blocks(work, rows.blocks(k)):
        value, slope = value + lost, slope + part
        tied.append(scored)
    if table.links:
        lost, pushes = _link_loss(np.concatenate(tied), table.links, choice.ends, smoothing)
        value += prices.links * lost
        start = 0
        for block in rows.blocks(k, table.tied):
            slope += prices.links * _model_gradient(table, rows.take(block), pushes[start : start + len(block)])
            start += len(block)
    value += prices.size / 2 * float((model[:, :-1] ** 2).sum())
    slope[:, :-1] += prices.size * model[:, :-1]
    return value, slope


def _row_loss(scored: Floats, labels: Ints, smoothing: float) -> tuple[Floats, Floats]:
    """Smoothed [1 − (own − best other)]₊ of each row, and its gradient by the scores."""
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
    """Smoothed loss of all links, and its gradient by the scores of the tied rows."""
    warm = scored / smoothing
    others = _log_others(warm)
    value, pushes = 0.0, np.zeros_like(scored)
    for some, (one, two) in zip(links, ends):
        first, second = some.ends.T
        a, b = warm[first], warm[second]
        if some.must:  # broken by any two different clusters
            toward = (a + others[second], b + others[first])
        else:  # broken by any common cluster
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
    """For each cluster, log Σ exp over the others, from prefix and suffix sums: subtracting would lose digits."""
    out = np.full_like(warm, -np.inf)
    np.logaddexp.accumulate(warm[:, :-1], axis=1, out=out[:, 1:])
    out[:, :-1] = np.logaddexp(out[:, :-1], np.logaddexp.accumulate(warm[:, :0:-1], axis=1)[:, ::-1])
    return out
