"""Plain Python twins of ``kernels.coloring``: same names, same signatures, obvious code.

They do all the work in one call: ``budget`` is not looked at.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Floats, Ints

__all__ = ["explore", "fold", "greedy", "kempe", "peel", "tabu"]

SHIFT = 32
MASK = (1 << SHIFT) - 1


def _around(
    indptr: Ints,
    indices: Ints,
    clique_indptr: Ints,
    clique_members: Ints,
    node_indptr: Ints,
    node_cliques: Ints,
    v: int,
) -> list[int]:
    """Everyone that v excludes, in the order of pairs, then cliques; someone may occur several times."""
    found = indices[indptr[v] : indptr[v + 1]].tolist()
    for q in node_cliques[node_indptr[v] : node_indptr[v + 1]]:
        found += [u for u in clique_members[clique_indptr[q] : clique_indptr[q + 1]].tolist() if u != v]
    return found


def peel(
    indptr: Ints,
    indices: Ints,
    clique_indptr: Ints,
    clique_members: Ints,
    node_indptr: Ints,
    node_cliques: Ints,
    alive: Ints,
    heap: Ints,
    position: Ints,
    order: Ints,
    state: Ints,
    cap: int,
    floor: int,
    budget: int,
) -> bool:
    """Remove the node of smallest degree, lowest number first, while that degree is below ``floor``."""
    extra = np.empty(len(position), np.int64)
    for key in heap.tolist():  # what the degrees contain beyond neighbours, e.g. forbidden clusters
        v = key & MASK
        extra[v] = (key >> SHIFT) - (indptr[v + 1] - indptr[v])
        for q in node_cliques[node_indptr[v] : node_indptr[v + 1]]:
            extra[v] -= min(alive[q] - 1, cap)
    left = set(range(len(position)))

    def degree(v: int) -> int:
        pairs = sum(u in left for u in indices[indptr[v] : indptr[v + 1]].tolist())
        mine = node_cliques[node_indptr[v] : node_indptr[v + 1]]
        return int(extra[v] + pairs + sum(min(alive[q] - 1, cap) for q in mine))

    while left:
        v = min(left, key=lambda u: (degree(u), u))
        if degree(v) >= floor:
            break
        state[2] = max(state[2], degree(v))
        order[state[1]] = v
        state[0] -= 1
        state[1] += 1
        position[v] = -1
        left.remove(v)
        alive[node_cliques[node_indptr[v] : node_indptr[v + 1]]] -= 1
    return True


def explore(
    indptr: Ints,
    indices: Ints,
    clique_indptr: Ints,
    clique_members: Ints,
    node_indptr: Ints,
    node_cliques: Ints,
    component: Ints,
    depth: Ints,
    parent: Ints,
    queue: Ints,
    opened: Bools,
    state: Ints,
    budget: int,
) -> bool:
    """Breadth-first search from the lowest node of each component."""
    net = indptr, indices, clique_indptr, clique_members, node_indptr, node_cliques
    for root in range(len(component)):
        if component[root] >= 0:
            continue
        component[root], depth[root], parent[root] = state[3], 0, -1
        waiting = [root]
        while waiting:
            v = waiting.pop(0)
            for u in _around(*net, v):
                if component[u] < 0:
                    component[u], depth[u], parent[u] = state[3], depth[v] + 1, v
                    waiting.append(u)
        state[3] += 1
    return True


def greedy(
    indptr: Ints,
    indices: Ints,
    clique_indptr: Ints,
    clique_members: Ints,
    node_indptr: Ints,
    node_cliques: Ints,
    order: Ints,
    start: int,
    stop: int,
    costs: Floats,
    labels: Ints,
    mark: Ints,
) -> int:
    """The cheapest cluster that nobody around has, one node after the other; how many found none."""
    net = indptr, indices, clique_indptr, clique_members, node_indptr, node_cliques
    stuck = 0
    for v in order[start:stop].tolist():
        price = costs[v].copy()
        price[[labels[u] for u in _around(*net, v) if labels[u] >= 0]] = np.inf
        labels[v] = price.argmin() if price.min() < np.inf else -1
        stuck += labels[v] < 0
    return int(stuck)


def fold(indptr: Ints, indices: Ints, order: Ints, start: int, stop: int, costs: Floats, removed: Bools) -> None:
    """Add to the one neighbour that is left what each leaf costs, given the neighbour's cluster."""
    for v in order[start:stop].tolist():
        removed[v] = True
        for u in indices[indptr[v] : indptr[v + 1]].tolist():
            if not removed[u]:
                for c in range(costs.shape[1]):
                    costs[u, c] += np.delete(costs[v], c).min(initial=np.inf)
                break


def kempe(
    indptr: Ints,
    indices: Ints,
    costs: Floats,
    labels: Ints,
    start: int,
    longest: int,
    tolerance: float,
    queue: Ints,
    mark: Ints,
    state: Ints,
    budget: int,
) -> int:
    """Swap two clusters along the chain of each node wherever that is cheaper."""
    for v in range(start, len(costs)):
        for c in range(costs.shape[1]):
            a = labels[v]
            if costs[v, c] >= costs[v, a]:
                continue
            chain = [v]
            for u in chain:
                around = indices[indptr[u] : indptr[u + 1]].tolist()
                chain += [w for w in around if labels[w] in (a, c) and w not in chain]
            swapped = [c if labels[u] == a else a for u in chain]
            change = costs[chain, swapped].sum() - costs[chain, labels[chain]].sum()
            if len(chain) <= longest and change < -tolerance:
                labels[chain] = swapped
                state[1] += 1
    return len(costs)


def tabu(
    indptr: Ints,
    indices: Ints,
    costs: Floats,
    labels: Ints,
    near: Ints,
    until: Ints,
    wrong: Ints,
    place: Ints,
    state: Ints,
    budget: int,
) -> bool:
    """Make the move that leaves fewest broken pairs, again and again, not undoing recent ones."""

    def lottery() -> int:
        state[3] = state[3] * 48271 % 2147483647
        return int(state[3] >> 8)

    def around(v: int) -> Ints:
        return indices[indptr[v] : indptr[v + 1]]

    listed = wrong[: state[4]].tolist()
    while state[1] > 0:
        state[0] += 1
        node, move, best, ties = -1, -1, 2 * state[1] + 2, 0
        for v in listed:
            for c in np.flatnonzero(np.isfinite(costs[v])).tolist():
                change = (labels[around(v)] == c).sum() - (labels[around(v)] == labels[v]).sum()
                free = until[v, c] < state[0] or state[1] + change < state[2]
                if c == labels[v] or change > best or not free:
                    continue
                ties = 1 if change < best else ties + 1
                if ties == 1 or lottery() % ties == 0:
                    node, move, best = v, c, change
        if node < 0:
            continue
        until[node, labels[node]] = state[0] + len(listed) * 3 // 5 + lottery() % 10
        labels[node] = move
        state[1] += best
        state[2] = min(state[2], state[1])
        for u in [*around(node).tolist(), node]:
            bad = bool((labels[around(u)] == labels[u]).any())
            if bad and u not in listed:
                listed.append(u)
            elif not bad and u in listed:
                listed[listed.index(u)] = listed[-1]  # the order decides ties
                listed.pop()
    return True
