"""Compiled loops over must-link components (closures) and the cannot-links between them.

Nine flat arrays describe which nodes exclude each other: ``indptr, indices, weights`` are pairs (symmetric CSR);
``node_indptr, node_cliques, node_pull`` are the cliques of each node, and ``clique_indptr, members, shares`` the
members of each clique. Nodes i and j exclude each other with the sum of the weights of their pair and of
``node_pull·shares`` in every clique that holds both. All of these are positive. Cliques are never written
out, so memory is linear.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["assign_closures", "degrees", "peel_extended", "violations"]


@kernel
def _gather(i: int, net: tuple[Any, ...], met: Ints, pull: Floats) -> int:
    """Write the distinct neighbors of i into ``met`` and their weights into ``pull``, which is zero elsewhere."""
    indptr, indices, weights, node_indptr, node_cliques, node_pull, clique_indptr, members, shares = net
    found = 0
    for e in range(indptr[i], indptr[i + 1]):
        j = indices[e]
        if pull[j] == 0.0:
            met[found] = j
            found += 1
        pull[j] += weights[e]
    for e in range(node_indptr[i], node_indptr[i + 1]):
        q = node_cliques[e]
        for f in range(clique_indptr[q], clique_indptr[q + 1]):
            j = members[f]
            if j == i:
                continue
            if pull[j] == 0.0:
                met[found] = j
                found += 1
            pull[j] += node_pull[e] * shares[f]
    return found


@kernel
def degrees(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    node_indptr: Ints,
    node_cliques: Ints,
    node_pull: Floats,
    clique_indptr: Ints,
    members: Ints,
    shares: Floats,
    start: int,
    out: Ints,
) -> None:
    """Number of distinct neighbors of the nodes from ``start`` on, as many as ``out`` has room for."""
    net = (indptr, indices, weights, node_indptr, node_cliques, node_pull, clique_indptr, members, shares)
    m = indptr.shape[0] - 1
    met, pull = np.empty(m, np.int64), np.zeros(m)
    for r in range(out.shape[0]):
        found = _gather(start + r, net, met, pull)
        for c in range(found):
            pull[met[c]] = 0.0
        out[r] = found


@kernel
def _before(value: Floats, a: int, b: int) -> bool:
    return value[a] < value[b] or (value[a] == value[b] and a < b)


@kernel
def _rise(heap: Ints, position: Ints, value: Floats, at: int) -> None:
    """Move the node at place ``at`` of the heap up to where it belongs."""
    v = heap[at]
    while at > 0:
        above = (at - 1) // 2
        if not _before(value, v, heap[above]):
            break
        heap[at] = heap[above]
        position[heap[at]] = at
        at = above
    heap[at] = v
    position[v] = at


@kernel
def _sink(heap: Ints, position: Ints, value: Floats, size: int) -> None:
    """Move the node at the top of the heap down to where it belongs."""
    v = heap[0]
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _before(value, heap[below + 1], heap[below]):
            below += 1
        if not _before(value, heap[below], v):
            break
        heap[at] = heap[below]
        position[heap[at]] = at
        at = below
    heap[at] = v
    position[v] = at


@kernel
def peel_extended(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    node_indptr: Ints,
    node_cliques: Ints,
    node_pull: Floats,
    clique_indptr: Ints,
    members: Ints,
    shares: Floats,
    value: Floats,
    heap: Ints,
    position: Ints,
    order: Ints,
    state: Ints,
    budget: int,
) -> bool:
    """Remove the node of lowest value, lowest number first, and take 1 off each remaining neighbor; repeat.

    ``heap`` holds the nodes sorted by (value, number), ``position`` their places in it and −1 for all others;
    ``order`` receives the nodes as they go. ``state`` is (nodes left in the heap, nodes removed). Returns whether
    all are gone; otherwise the budget of steps is spent and the next call continues.
    """
    net = (indptr, indices, weights, node_indptr, node_cliques, node_pull, clique_indptr, members, shares)
    m = indptr.shape[0] - 1
    met, pull = np.empty(m, np.int64), np.zeros(m)
    used = 0
    while state[0] > 0 and used < budget:
        v = heap[0]
        order[state[1]] = v
        state[1] += 1
        position[v] = -1
        state[0] -= 1
        if state[0] > 0:
            heap[0] = heap[state[0]]
            _sink(heap, position, value, state[0])
        found = _gather(v, net, met, pull)
        for c in range(found):
            j = met[c]
            pull[j] = 0.0
            if position[j] >= 0:
                value[j] -= 1.0
                _rise(heap, position, value, position[j])
        used += 1 + found
    return state[0] == 0


@kernel
def violations(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    node_indptr: Ints,
    node_cliques: Ints,
    node_pull: Floats,
    clique_indptr: Ints,
    members: Ints,
    shares: Floats,
    labels: Ints,
    mass: Floats,
    start: int,
    count: Ints,
    burden: Floats,
) -> None:
    """For the nodes from ``start`` on: neighbors in the same cluster, and their summed weight times mass."""
    net = (indptr, indices, weights, node_indptr, node_cliques, node_pull, clique_indptr, members, shares)
    m = indptr.shape[0] - 1
    met, pull = np.empty(m, np.int64), np.zeros(m)
    for r in range(count.shape[0]):
        found = _gather(start + r, net, met, pull)
        count[r] = 0
        burden[r] = 0.0
        for c in range(found):
            j = met[c]
            if labels[j] >= 0 and labels[j] == labels[start + r]:
                count[r] += 1
                burden[r] += pull[j] * mass[j]
            pull[j] = 0.0


@kernel
def assign_closures(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    node_indptr: Ints,
    node_cliques: Ints,
    node_pull: Floats,
    clique_indptr: Ints,
    members: Ints,
    shares: Floats,
    costs: Floats,
    nodes: Ints,
    labels: Ints,
    mass: Floats,
    count: Ints,
    burden: Floats,
    exact: bool,
    one: bool,
    penalty: float,
) -> int:
    """Put each of ``nodes``, in turn, where costs + penalty·share is lowest; it stays where it is on ties.

    ``costs[r, h]`` is the weighted squared distance of node ``nodes[r]`` to center h. The share of a node is v·Σ over
    its violated neighbors j of weight·mass of j, where v is their number (1 when ``one``). ``exact`` adds by how much
    the shares of these neighbors rise. Neighbors without a cluster (−1) do not count. ``count`` and ``burden``, the
    two factors of the share of every node, are kept up to date. Returns the number of moves.
    """
    net = (indptr, indices, weights, node_indptr, node_cliques, node_pull, clique_indptr, members, shares)
    m, k = indptr.shape[0] - 1, costs.shape[1]
    met, pull = np.empty(m, np.int64), np.zeros(m)
    hits, load, rise, fee = np.zeros(k, np.int64), np.zeros(k), np.zeros(k), np.zeros(k)
    moved = 0
    for r in range(nodes.shape[0]):
        i = nodes[r]
        old = labels[i]
        found = _gather(i, net, met, pull)
        for c in range(found):
            j = met[c]
            h = labels[j]
            if h < 0:
                continue
            hits[h] += 1
            load[h] += pull[j] * mass[j]
            # By how much the share c·b of neighbor j (count times burden) grows when i joins it:
            # (c + 1)(b + more) − c·b = b + (c + 1)·more; where i is already in it, c·b − (c − 1)(b − more).
            more = pull[j] * mass[i]
            if one:
                rise[h] += more
            elif h == old:  # its share contains node i
                rise[h] += burden[j] + (count[j] - 1) * more
            else:
                rise[h] += burden[j] + (count[j] + 1) * more
        for c in range(found):
            h = labels[met[c]]
            if h >= 0:
                share = load[h] if one else hits[h] * load[h]
                fee[h] = penalty * (share + rise[h] if exact else share)
        # Starting from the old cluster with a strict comparison below makes a node stay on ties.
        best = old
        lowest = costs[r, old] + fee[old] if old >= 0 else np.inf
        for h in range(k):
            value = costs[r, h] + fee[h]
            if value < lowest:
                lowest = value
                best = h
        if best != old:
            moved += 1
            labels[i] = best
            count[i] = hits[best]
            burden[i] = load[best]
        for c in range(found):
            j = met[c]
            h = labels[j]
            if h >= 0:
                if best != old and h == old:
                    count[j] -= 1
                    burden[j] = burden[j] - pull[j] * mass[i] if count[j] > 0 else 0.0  # no rounding error remains
                elif best != old and h == best:
                    count[j] += 1
                    burden[j] += pull[j] * mass[i]
                # Only what this node has touched is cleared: O(degree), not O(k) or O(m).
                hits[h] = 0
                load[h] = rise[h] = fee[h] = 0.0
            pull[j] = 0.0
    return moved
