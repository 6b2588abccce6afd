"""Compiled loops over links, pair by pair, for objectives that charge a broken link by distances.

Rows with links are numbered by their place among the tied rows; ``ends[e]`` are the two places of link e, with a
weight as must-link and one as cannot-link (mostly one of them is 0). What a link costs with one end in cluster h
and the other in q: ``must · (between[h, q] + reach[end, q] + reach[other, h])`` when h ≠ q, else ``cannot`` times
the lower of the two ``exits`` in h.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

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


TILE = 128
"""Rows that a loop turns around at once, so that they stay in the cache."""


@kernel
def _price(
    e: int,
    t: int,
    h: int,
    r: int,
    q: int,
    must: Floats,
    cannot: Floats,
    between: Floats,
    reach: Floats,
    exits: Floats,
) -> float:
    """Cost of link e with its end t in cluster h and its other end r in cluster q."""
    if h == q:
        return cannot[e] * min(exits[t, h], exits[r, h])
    return must[e] * (between[h, q] + reach[t, q] + reach[r, h])


@kernel
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
    """Add to ``costs[t, h]`` what the links of row t cost with t in cluster h, the other rows being where they are."""
    for e in range(ends.shape[0]):
        a, b = ends[e, 0], ends[e, 1]
        p, q = labels[a], labels[b]
        if must[e] == 0:
            costs[a, q] += cannot[e] * min(exits[a, q], exits[b, q])
            costs[b, p] += cannot[e] * min(exits[a, p], exits[b, p])
            continue
        at_a = costs[a, q] + cannot[e] * min(exits[a, q], exits[b, q])
        at_b = costs[b, p] + cannot[e] * min(exits[a, p], exits[b, p])
        for h in range(costs.shape[1]):
            costs[a, h] += must[e] * (between[h, q] + reach[a, q] + reach[b, h])
            costs[b, h] += must[e] * (between[h, p] + reach[b, p] + reach[a, h])
        costs[a, q], costs[b, p] = at_a, at_b


@kernel
def _move(
    t: int,
    new: int,
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
    lead: Floats,
) -> None:
    """Put row t into cluster ``new`` and update the costs of linked rows; their leads are no longer known."""
    old = labels[t]
    if new == old:
        return
    labels[t] = new
    lead[t] = np.nan
    for s in range(indptr[t], indptr[t + 1]):
        e = incident[s]
        r = ends[e, 0] + ends[e, 1] - t
        lead[r] = np.nan
        if must[e] == 0:
            costs[r, old] -= cannot[e] * min(exits[r, old], exits[t, old])
            costs[r, new] += cannot[e] * min(exits[r, new], exits[t, new])
            continue
        for h in range(costs.shape[1]):
            costs[r, h] += _price(e, r, h, t, new, must, cannot, between, reach, exits)
            costs[r, h] -= _price(e, r, h, t, old, must, cannot, between, reach, exits)


@kernel
def _lead(t: int, own: int, costs: Floats) -> float:
    """How much more than in its own cluster row t would cost in the best other one."""
    other = np.inf
    for h in range(costs.shape[1]):
        if costs[t, h] < other and h != own:
            other = costs[t, h]
    return other - float(costs[t, own])


@kernel
def _gain_together(a: int, b: int, p: int, w: float, between: Floats, reach: Floats, costs: Floats) -> float:
    """The most that two rows of cluster p gain by a common move, if a must-link of weight w ties them."""
    most = -np.inf
    for h in range(costs.shape[1]):
        saved = w * (2 * between[h, p] + reach[a, p] + reach[b, h] + reach[b, p] + reach[a, h])
        gain = saved - (costs[a, h] + costs[b, h])
        if gain > most and h != p:
            most = gain
    return most + costs[a, p] + costs[b, p]


@kernel
def _without(
    e: int,
    t: int,
    r: int,
    q: int,
    must: Floats,
    cannot: Floats,
    between: Floats,
    reach: Floats,
    exits: Floats,
    costs: Floats,
    out: Floats,
) -> None:
    """What row t costs in every cluster when its link e to row r, which is in cluster q, is left out."""
    w = must[e]
    here = costs[t, q] - cannot[e] * min(exits[t, q], exits[r, q])
    if w == 0:
        out[:] = costs[t]
    else:
        for h in range(out.shape[0]):
            out[h] = costs[t, h] - w * (between[h, q] + reach[t, q] + reach[r, h])
    out[q] = here


@kernel
def _largest(t: int, values: Floats) -> float:
    most = 0.0
    for h in range(values.shape[1]):
        if values[t, h] > most:
            most = values[t, h]
    return most


@kernel
def _stay(
    a: int,
    b: int,
    p: int,
    q: int,
    w: float,
    v: float,
    lead: Floats,
    widest: float,
    between: Floats,
    reach: Floats,
    exits: Floats,
    costs: Floats,
) -> bool:
    """Whether it is certain that two linked rows gain nothing by moving both, when neither gains by moving alone."""
    if w == 0 and p != q:
        # A cannot-link that holds matters only to an end that goes where the other one is.
        there = costs[a, q] - costs[a, p] - v * min(exits[a, q], exits[b, q])
        back = costs[b, p] - costs[b, q] - v * min(exits[a, p], exits[b, p])
        if there + lead[b] >= 0 and back + lead[a] >= 0 and there + back >= 0:
            return True
    # A must-link that holds: ends that go to two other clusters break it once, and each lead has that in it.
    kept = w > 0 and v == 0 and p == q and lead[a] + lead[b] >= w * (2 * widest + reach[a, p] + reach[b, p])
    if kept and _gain_together(a, b, p, w, between, reach, costs) <= 0:
        return True
    # Otherwise both together gain at most what the link costs with one moved, twice.
    loose = w * (widest + _largest(a, reach) + _largest(b, reach)) if w > 0 else 0.0
    tight = v * min(_largest(a, exits), _largest(b, exits)) if v > 0 else 0.0
    return lead[a] + lead[b] >= 2 * max(loose, tight)


@kernel
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
    """Visit links in the given order and put both ends where the whole objective is lowest, all else being fixed.

    ``costs[t, h]`` is what row t costs in cluster h, its links (`link_costs`) included; it is kept up to date, as are
    ``labels``. On ties the ends stay; then one common cluster comes before two, low numbers first.
    """
    k = costs.shape[1]
    lead = np.full(labels.shape[0], np.nan)  # nan: not known
    first, second = np.empty(k), np.empty(k)  # cost of each end in every cluster, this link left out
    widest = between.max()
    for o in range(order.shape[0]):
        e = order[o]
        a, b = ends[e, 0], ends[e, 1]
        w, v = must[e], cannot[e]
        if np.isnan(lead[a]):
            lead[a] = _lead(a, labels[a], costs)
        if np.isnan(lead[b]):
            lead[b] = _lead(b, labels[b], costs)
        p, q = labels[a], labels[b]
        if min(lead[a], lead[b]) >= 0 and _stay(a, b, p, q, w, v, lead, widest, between, reach, exits, costs):
            continue
        _without(e, a, b, q, must, cannot, between, reach, exits, costs, first)
        _without(e, b, a, p, must, cannot, between, reach, exits, costs, second)
        lowest = first[p] + second[q] + _price(e, a, p, b, q, must, cannot, between, reach, exits)
        # With equal weights exact ties are common: a row that must break one of two links may pay the same for both.
        # Rounding must not decide them.
        eps = 1e-12 * abs(lowest)
        i, j = p, q
        for h in range(k):
            value = first[h] + second[h] + v * min(exits[a, h], exits[b, h])
            if value < lowest - eps:
                lowest, i, j = value, h, h
        # Now the ends in different clusters. What does not depend on the pair of clusters goes into first and second,
        # and a lower bound of the second spares most of the k² combinations.
        least = np.inf
        for h in range(k):
            first[h] += w * reach[b, h]
            second[h] += w * reach[a, h]
            least = min(least, second[h])
        for h in range(k):
            if first[h] + least >= lowest - eps:  # no partner can make up for it
                continue
            for g in range(k):
                value = first[h] + second[g] + w * between[h, g]
                if g != h and value < lowest - eps:
                    lowest, i, j = value, h, g
        _move(a, i, ends, must, cannot, indptr, incident, between, reach, exits, labels, costs, lead)
        _move(b, j, ends, must, cannot, indptr, incident, between, reach, exits, labels, costs, lead)


@kernel
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
    """Visit every must-link, then every cannot-link, and choose the best of all k² places for its two ends.

    Each link is handled alone, so a later link may undo an earlier one; ``exits[h]`` is the cost of a broken
    cannot-link in cluster h. Ties go to the lower cluster number.
    """
    k = between.shape[0]
    for kind in range(2):
        for o in range(order.shape[0]):
            e = order[o]
            a, b = ends[e, 0], ends[e, 1]
            if (must[e] if kind == 0 else cannot[e]) == 0:
                continue
            least = alone[b].min()
            lowest = np.inf
            for h in range(k):
                if alone[a, h] + least >= lowest:
                    continue
                for g in range(k):
                    value = alone[a, h] + alone[b, g]
                    if kind == 0:
                        value += must[e] * between[h, g]
                    elif h == g:
                        value += cannot[e] * exits[h]
                    if value < lowest:
                        lowest = value
                        labels[a], labels[b] = h, g


@kernel
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
    """Visit broken must-links, then broken cannot-links, and choose the best of two or three ways out.

    Must-link: both where the first is, both where the second is, or keep. Cannot-link: move the end that is farther
    from the center to the nearest other one, or keep. What is kept is charged: ``charges[t, h]`` is the weight with
    which row t will pull center h. ``nearest`` and ``runner_up`` are the two nearest centers of each row.
    """
    for o in range(order.shape[0]):
        e = order[o]
        a, b = ends[e, 0], ends[e, 1]
        u, v = labels[a], labels[b]
        if must[e] == 0 or u == v:
            continue
        keep = alone[a, u] + alone[b, v] + 0.25 * must[e] * (squared[a, v] + squared[b, u])
        at_first = alone[a, u] + alone[b, u]
        at_second = alone[a, v] + alone[b, v]
        if at_first <= at_second and at_first <= keep:
            labels[b] = u
        elif at_second <= keep:
            labels[a] = v
        else:
            charges[a, v] += 0.5 * must[e]
            charges[b, u] += 0.5 * must[e]
    if alone.shape[1] == 1:
        return
    for o in range(order.shape[0]):
        e = order[o]
        a, b = ends[e, 0], ends[e, 1]
        h = labels[a]
        if cannot[e] == 0 or h != labels[b]:
            continue
        far = a if squared[a, h] >= squared[b, h] else b
        other = nearest[far] if nearest[far] != h else runner_up[far]
        keep = alone[far, h] + 0.5 * cannot[e] * squared[far, other]
        if alone[far, other] <= keep:
            labels[far] = other
        else:
            charges[far, other] += cannot[e]


@kernel
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
    """Add to ``charges[t, h]`` the weight with which broken links let row t pull center h.

    A broken must-link: each end pulls the other's center, by half its weight. A broken cannot-link: the end that is
    nearest to any other center pulls that one; the first end on ties.
    """
    for e in range(ends.shape[0]):
        a, b = ends[e, 0], ends[e, 1]
        p, q = labels[a], labels[b]
        if p != q:
            charges[a, q] += 0.5 * must[e]
            charges[b, p] += 0.5 * must[e]
        elif cannot[e] > 0 and charges.shape[1] > 1:
            at_first = nearest[a] if nearest[a] != p else runner_up[a]
            at_second = nearest[b] if nearest[b] != p else runner_up[b]
            if squared[a, at_first] <= squared[b, at_second]:
                charges[a, at_first] += cannot[e]
            else:
                charges[b, at_second] += cannot[e]


@kernel
def count_broken(ends: Ints, must: Floats, cannot: Floats, labels: Ints, split: Floats, joined: Floats) -> None:
    """Add broken must-links to ``split[cluster of first end, of second end]``, cannot-links to ``joined[cluster]``."""
    for e in range(ends.shape[0]):
        p, q = labels[ends[e, 0]], labels[ends[e, 1]]
        if p == q:
            joined[p] += cannot[e]
        else:
            split[p, q] += must[e]


@kernel
def two_nearest(squared: Floats, nearest: Ints, runner_up: Ints) -> None:
    """The nearest and the second nearest center of each row; the lower number on ties, 0 when there is only one."""
    k = squared.shape[1]
    column = np.empty((k, TILE))
    least, next_least = np.empty(TILE), np.empty(TILE)
    first, second = np.empty(TILE, np.int32), np.empty(TILE, np.int32)
    for start in range(0, squared.shape[0], TILE):
        m = min(TILE, squared.shape[0] - start)
        for i in range(m):
            for h in range(k):
                column[h, i] = squared[start + i, h]
        # Clusters come first in the tile, so that the loop over rows vectorizes.
        for i in range(m):
            least[i], next_least[i] = column[0, i], np.inf
            first[i] = second[i] = 0
        for h in range(1, k):
            for i in range(m):
                value = column[h, i]
                better, good = value < least[i], value < next_least[i]
                next_least[i] = least[i] if better else (value if good else next_least[i])
                second[i] = first[i] if better else (h if good else second[i])
                least[i] = value if better else least[i]
                first[i] = h if better else first[i]
        nearest[start : start + m] = first[:m]
        runner_up[start : start + m] = second[:m]


@kernel
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
    """Fill in for the rows ``which`` what they cost alone, to reach another's center, and to leave their cluster.

    Half of weight times squared distance (an empty ``weight`` stands for 1), a quarter of the squared distance, and
    half of that to the nearest other center, for every cluster; 0 if there is no other.
    """
    k = squared.shape[1]
    for i in range(which.shape[0]):
        t = which[i]
        w = 0.5 * weight[i] if weight.shape[0] > 0 else 0.5
        out = 0.5 * squared[t, nearest[t]] if k > 1 else 0.0
        for h in range(k):
            alone[i, h] = w * squared[t, h]
            reach[i, h] = 0.25 * squared[t, h]
            exits[i, h] = out
        if k > 1:
            exits[i, nearest[t]] = 0.5 * squared[t, runner_up[t]]
