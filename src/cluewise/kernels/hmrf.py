"""Compiled sweep over rows whose links cost by the distance of their two rows."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["visit_linked"]


@kernel
def visit_linked(
    order: Ints,
    ends: Ints,
    must: Floats,
    cannot: Floats,
    indptr: Ints,
    incident: Ints,
    between: Floats,
    ceiling: Floats,
    alone: Floats,
    labels: Ints,
) -> int:
    """One sweep of iterated conditional modes over the tied rows in the given order; labels change in place.

    ``alone[t, h]`` is what row t costs in cluster h without its links, ``between[e, g]`` the distance of the ends of
    link e in metric g (one for all clusters, or one for each) and ``ceiling[g]`` what it is taken from in a broken
    cannot-link. A broken must-link costs the mean of the distances in the two metrics of its ends. A row stays where it
    is on ties. Returns the number of moves.
    """
    k = alone.shape[1]
    shared = between.shape[1] == 1
    cost = np.empty(k)
    moved = 0
    for o in range(order.shape[0]):
        t = order[o]
        for h in range(k):
            cost[h] = alone[t, h]
        for s in range(indptr[t], indptr[t + 1]):
            e = incident[s]
            # The sum of both ends minus this one is the other one.
            q = labels[ends[e, 0] + ends[e, 1] - t]
            if shared:
                # What a must-link costs everywhere but in q is left out everywhere.
                cost[q] += cannot[e] * (ceiling[0] - between[e, 0]) - must[e] * between[e, 0]
            else:
                if must[e] > 0:
                    for h in range(k):
                        cost[h] += 0.5 * must[e] * between[e, h]
                cost[q] += cannot[e] * (ceiling[q] - between[e, q]) - must[e] * between[e, q]
        best = labels[t]
        for h in range(k):
            if cost[h] < cost[best]:
                best = h
        if best != labels[t]:
            labels[t] = best
            moved += 1
    return moved
