"""Plain Python twins of ``kernels.pairs``: same names, same signatures, obvious code."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = [
    "charge_rows",
    "count_broken",
    "half_prices",
    "link_costs",
    "relax_links",
    "repair_all",
    "repair_few",
    "two_nearest",
]


def _table(e: int, ends: Ints, must: Floats, cannot: Floats, between: Floats, reach: Floats, exits: Floats) -> Floats:
    """(k, k) cost of link e for every place of its two ends."""
    a, b = ends[e]
    table = must[e] * (between + reach[a][None, :] + reach[b][:, None])
    np.fill_diagonal(table, cannot[e] * np.minimum(exits[a], exits[b]))
    return table


def link_costs(
    ends: Ints,
    must: Floats,
    cannot: Floats,
    between: Floats,
    reach: Floats,
    exits: Floats,
    labels: Ints,
    costs: Floats,
) -> None:
    """For each link, a column of its table for the first end and a row of it for the second."""
    for e, (a, b) in enumerate(ends):
        table = _table(e, ends, must, cannot, between, reach, exits)
        costs[a] += table[:, labels[b]]
        costs[b] += table[labels[a]]


def relax_links(
    order: Ints,
    ends: Ints,
    must: Floats,
    cannot: Floats,
    indptr: Ints,
    incident: Ints,
    between: Floats,
    reach: Floats,
    exits: Floats,
    labels: Ints,
    costs: Floats,
) -> None:
    """Try all k² places of every link in the whole objective, written out; ``costs`` is made anew at the end."""
    k = costs.shape[1]
    every = np.zeros_like(costs)
    link_costs(ends, must, cannot, between, reach, exits, labels, every)
    alone = costs - every
    tables = [_table(e, ends, must, cannot, between, reach, exits) for e in range(len(ends))]
    same = [(h, h) for h in range(k)]
    candidates = same + [(h, g) for h in range(k) for g in range(k) if h != g]

    def total(trial: Ints) -> float:
        links = sum(float(t[trial[a], trial[b]]) for t, (a, b) in zip(tables, ends))
        return float(alone[np.arange(len(trial)), trial].sum()) + links

    for e in order:
        a, b = ends[e]
        found = labels.copy()
        lowest = total(labels)
        eps = 1e-12 * abs(lowest)
        for place in candidates:
            trial = labels.copy()
            trial[[a, b]] = place
            if total(trial) < lowest - eps:
                lowest, found = total(trial), trial
        labels[:] = found
    costs[:] = alone
    link_costs(ends, must, cannot, between, reach, exits, labels, costs)


def repair_all(
    order: Ints,
    ends: Ints,
    must: Floats,
    cannot: Floats,
    alone: Floats,
    between: Floats,
    exits: Floats,
    labels: Ints,
) -> None:
    """Eq. 6 for every must-link, then Eq. 7 for every cannot-link."""
    for weight, price in ((must, between), (cannot, np.diag(exits))):
        for e in order:
            a, b = ends[e]
            if weight[e] > 0:
                value = alone[a][:, None] + alone[b][None, :] + weight[e] * price
                labels[[a, b]] = np.unravel_index(value.argmin(), value.shape)


def repair_few(
    order: Ints,
    ends: Ints,
    must: Floats,
    cannot: Floats,
    alone: Floats,
    squared: Floats,
    nearest: Ints,
    runner_up: Ints,
    labels: Ints,
    charges: Floats,
) -> None:
    """Eq. 12 for the broken must-links, then Eq. 13 with its second candidate for the broken cannot-links."""
    for e in order:
        a, b = ends[e]
        u, v = labels[a], labels[b]
        if must[e] > 0 and u != v:
            both_u, both_v = alone[a, u] + alone[b, u], alone[a, v] + alone[b, v]
            keep = alone[a, u] + alone[b, v] + 0.25 * must[e] * (squared[a, v] + squared[b, u])
            choice = int(np.argmin([both_u, both_v, keep]))
            labels[[a, b]] = [(u, u), (v, v), (u, v)][choice]
            if choice == 2:
                charges[[a, b], [v, u]] += must[e] / 2
    for e in order:
        a, b = ends[e]
        h = labels[a]
        if cannot[e] > 0 and h == labels[b] and alone.shape[1] > 1:
            far = max(a, b, key=lambda t: (squared[t, h], t == a))
            other = nearest[far] if nearest[far] != h else runner_up[far]
            move, keep = alone[far, other], alone[far, h] + 0.5 * cannot[e] * squared[far, other]
            if move <= keep:
                labels[far] = other
            else:
                charges[far, other] += cannot[e]


def charge_rows(
    ends: Ints,
    must: Floats,
    cannot: Floats,
    squared: Floats,
    nearest: Ints,
    runner_up: Ints,
    labels: Ints,
    charges: Floats,
) -> None:
    """Half a must-link to both centers; a cannot-link to the other center that is nearest to either end."""
    k = squared.shape[1]
    for (a, b), w, v in zip(ends, must, cannot):
        p, q = labels[a], labels[b]
        if p != q:
            charges[[a, b], [q, p]] += w / 2
        elif k > 1:
            away = squared[[a, b]].copy()
            away[:, p] = np.inf
            end, other = np.unravel_index(away.argmin(), away.shape)
            charges[(a, b)[end], other] += v


def count_broken(ends: Ints, must: Floats, cannot: Floats, labels: Ints, split: Floats, joined: Floats) -> None:
    """Sum the weights by the clusters of the two ends."""
    p, q = labels[ends].T
    np.add.at(split, (p[p != q], q[p != q]), must[p != q])
    np.add.at(joined, p[p == q], cannot[p == q])


def two_nearest(squared: Floats, nearest: Ints, runner_up: Ints) -> None:
    """The first two in a stable order by distance."""
    order = np.argsort(squared, axis=1, kind="stable")
    nearest[:] = order[:, 0]
    runner_up[:] = order[:, min(1, squared.shape[1] - 1)]


def half_prices(
    squared: Floats,
    nearest: Ints,
    runner_up: Ints,
    weight: Floats,
    which: Ints,
    alone: Floats,
    reach: Floats,
    exits: Floats,
) -> None:
    """Costs of some rows, of reaching other centers, and of leaving a cluster."""
    own = squared[which]
    alone[:] = 0.5 * own if not len(weight) else 0.5 * weight[:, None] * own
    reach[:] = 0.25 * own
    for i, t in enumerate(which):
        for h in range(squared.shape[1]):
            others = [squared[t, g] for g in (nearest[t], runner_up[t]) if g != h]
            exits[i, h] = 0.5 * min(others) if others else 0.0
