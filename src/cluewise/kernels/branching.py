"""Branch and bound for the cheapest labels that keep neighbors apart: DSATUR with forward checking.

Every node carries a ``pick``: the cheapest cluster that no assigned neighbor has. The sum of the picks' costs bounds
the branch from below, and where no two neighbors have the same pick the picks *are* its best labels: whole
parts of the network without clashes are never branched on. No recursion; the search is a few arrays, so that it
can be left after ``budget`` steps and entered again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["branch"]

FRESH, DESCEND, NEXT, BACK = 0, 1, 2, 3  # what to do when the search is entered again


@kernel
def _cheapest(costs: Floats, blocked: Ints, v: int) -> int:
    best = -1
    least = np.inf
    for c in range(costs.shape[1]):
        if blocked[v, c] == 0 and costs[v, c] < least:
            best, least = c, costs[v, c]
    return best


@kernel
def _repick(indptr: Ints, indices: Ints, pick: Ints, clash: Ints, v: int, new: int) -> None:
    """Change the pick of v and keep count, for v and its neighbors, of neighbors with the same pick."""
    old = pick[v]
    for e in range(indptr[v], indptr[v + 1]):
        u = indices[e]
        if pick[u] < 0:
            continue
        if pick[u] == old:
            clash[u] -= 1
            clash[v] -= 1
        elif pick[u] == new:
            clash[u] += 1
            clash[v] += 1
    pick[v] = new


@kernel
def _begin(lo: int, hi: int, search: tuple[Any, ...]) -> float:
    """Set up nodes lo…hi−1, none assigned; the sum of their least costs (∞ when one has no cluster at all)."""
    indptr, indices, costs, labels, pick, blocked, left, clash = search
    total = 0.0
    for v in range(lo, hi):
        labels[v] = -1
        left[v] = 0
        clash[v] = 0
        for c in range(costs.shape[1]):
            blocked[v, c] = 1 if costs[v, c] == np.inf else 0
            left[v] += 1 - blocked[v, c]
        pick[v] = _cheapest(costs, blocked, v)
        total += costs[v, pick[v]] if pick[v] >= 0 else np.inf
    for v in range(lo, hi):
        for e in range(indptr[v], indptr[v + 1]):
            if pick[indices[e]] == pick[v]:
                clash[v] += 1
    return total


@kernel
def _assign(v: int, c: int, search: tuple[Any, ...]) -> float:
    """Put v into cluster c, which its neighbors lose; by how much the bound rises (∞: one has no cluster left)."""
    indptr, indices, costs, labels, pick, blocked, left, clash = search
    rise = costs[v, c] - costs[v, pick[v]]
    labels[v] = c
    if pick[v] != c:
        _repick(indptr, indices, pick, clash, v, c)
    for e in range(indptr[v], indptr[v + 1]):
        u = indices[e]
        blocked[u, c] += 1
        # Another neighbor has blocked it before; the count says when the last of them has gone.
        if blocked[u, c] > 1:
            continue
        left[u] -= 1
        if pick[u] == c and labels[u] < 0:
            new = _cheapest(costs, blocked, u)
            rise += costs[u, new] - costs[u, c] if new >= 0 else np.inf
            _repick(indptr, indices, pick, clash, u, new)
    return rise


@kernel
def _release(v: int, search: tuple[Any, ...]) -> None:
    """Undo ``_assign``: a pick is a function of what is blocked, so no trail is needed."""
    indptr, indices, costs, labels, pick, blocked, left, clash = search
    c = labels[v]
    labels[v] = -1
    for e in range(indptr[v], indptr[v + 1]):
        u = indices[e]
        blocked[u, c] -= 1
        if blocked[u, c] > 0:
            continue
        left[u] += 1
        if labels[u] < 0:
            # The cluster that is open again is the new pick if it is cheaper; ties go to the lower number, as in
            # `_cheapest`.
            p = pick[u]
            if p < 0 or costs[u, c] < costs[u, p] or (costs[u, c] == costs[u, p] and c < p):
                _repick(indptr, indices, pick, clash, u, c)
    new = _cheapest(costs, blocked, v)
    if new != pick[v]:
        _repick(indptr, indices, pick, clash, v, new)


@kernel
def _choose(lo: int, hi: int, labels: Ints, left: Ints, clash: Ints) -> int:
    """The unassigned node with fewest clusters left, then most clashes; −1 when no two picks clash."""
    best = -1
    any_clash = False
    for v in range(lo, hi):
        # A node without a clash can keep its pick. One that has a single cluster left may be assigned at once:
        # this adds no branch, and its neighbors lose the cluster earlier.
        if labels[v] >= 0 or (clash[v] == 0 and left[v] > 1):
            continue
        any_clash = any_clash or clash[v] > 0
        if best < 0 or left[v] < left[best] or (left[v] == left[best] and clash[v] > clash[best]):
            best = v
    return best if any_clash else -1


@kernel
def _next(costs: Floats, blocked: Ints, v: int, last: int, colors: int) -> int:
    """The cheapest open cluster below ``colors`` that comes after ``last`` in order of cost (ties: lowest)."""
    best = -1
    for c in range(colors):
        if blocked[v, c] > 0:
            continue
        if last >= 0 and (costs[v, c] < costs[v, last] or (costs[v, c] == costs[v, last] and c <= last)):
            continue
        if best < 0 or costs[v, c] < costs[v, best]:
            best = c
    return best


@kernel
def branch(
    indptr: Ints,
    indices: Ints,
    costs: Floats,
    starts: Ints,
    symmetric: bool,
    tolerance: float,
    limit: Ints,
    labels: Ints,
    pick: Ints,
    blocked: Ints,
    left: Ints,
    clash: Ints,
    stack: Ints,
    tried: Ints,
    used: Ints,
    bounds: Floats,
    best: Ints,
    value: Floats,
    lower: Floats,
    nodes: Ints,
    state: Ints,
    budget: int,
) -> bool:
    """Solve the components ``starts[i]:starts[i+1]`` of a network one after the other; False when the budget ended.

    In and out: ``best`` labels of cost ``value[i]`` (∞: none known); only labels cheaper by more than
    ``tolerance`` replace them. Out: ``nodes[i]``, branches visited, negative when ``limit[i]`` stopped the
    search, and ``lower[i]``, the value when the search ended, else the bound at its root. ``symmetric`` says that
    clusters are interchangeable, so only one unused cluster is tried. ``state``: component, what to do, depth;
    the rest is scratch.
    """
    k = costs.shape[1]
    search = (indptr, indices, costs, labels, pick, blocked, left, clash)
    while state[0] < starts.shape[0] - 1:
        i = state[0]
        lo, hi = starts[i], starts[i + 1]
        if state[1] == FRESH:
            lower[i] = bounds[lo] = _begin(lo, hi, search)
            used[lo] = 0
            nodes[i] = 0
            state[1], state[2] = DESCEND, 0
            budget -= (hi - lo) * k
        depth = state[2]
        while depth >= 0 and nodes[i] < limit[i] and budget > 0:
            at = lo + depth
            if state[1] == DESCEND:
                nodes[i] += 1
                budget -= hi - lo
                state[1] = BACK
                if bounds[at] >= value[i] - tolerance:
                    continue  # nothing below this branch is better than what is known
                v = _choose(lo, hi, labels, left, clash)
                if v >= 0:
                    stack[at] = v
                    tried[at] = -1
                    state[1] = NEXT
                else:  # no two picks clash: they are the cheapest labels of this branch
                    value[i] = bounds[at]
                    best[lo:hi] = pick[lo:hi]
            elif state[1] == NEXT:
                v = stack[at]
                # Unused clusters are equivalent when clusters are interchangeable: one of them is enough.
                c = _next(costs, blocked, v, tried[at], min(k, used[at] + 1) if symmetric else k)
                state[1] = BACK
                if c < 0 or bounds[at] + costs[v, c] - costs[v, pick[v]] >= value[i] - tolerance:
                    continue
                tried[at] = c
                rise = _assign(v, c, search)
                budget -= 2 * (indptr[v + 1] - indptr[v])
                depth += 1
                bounds[at + 1] = bounds[at] + rise
                used[at + 1] = max(used[at], c + 1)
                state[1] = DESCEND
            else:
                depth -= 1
                if depth >= 0:
                    _release(stack[lo + depth], search)
                    state[1] = NEXT
        # Searched to the end: nothing better is left, so the best value is also the bound.
        if depth < 0:
            lower[i] = value[i]
        elif nodes[i] >= limit[i]:
            nodes[i] = -nodes[i]
        else:
            state[2] = depth
            return False
        state[0] += 1
        state[1] = FRESH
    return True
