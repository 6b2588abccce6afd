"""Plain Python twins of ``kernels.closures``: same names, same signatures, obvious code.

They do all the work in one call: ``budget`` is not looked at.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["assign_closures", "degrees", "peel_extended", "violations"]


def _matrix(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    node_indptr: Ints,
    node_cliques: Ints,
    node_pull: Floats,
    clique_indptr: Ints,
    members: Ints,
    shares: Floats,
) -> Floats:
    """Weights between all nodes, written out."""
    m = len(indptr) - 1
    full = np.zeros((m, m))
    for i in range(m):
        links = slice(indptr[i], indptr[i + 1])
        full[i, indices[links]] += weights[links]
        for e in range(node_indptr[i], node_indptr[i + 1]):
            group = slice(clique_indptr[node_cliques[e]], clique_indptr[node_cliques[e] + 1])
            full[i, members[group]] += node_pull[e] * shares[group]
        full[i, i] = 0
    return full


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
    """Entries of the matrix that are not zero."""
    full = _matrix(indptr, indices, weights, node_indptr, node_cliques, node_pull, clique_indptr, members, shares)
    out[:] = np.count_nonzero(full, axis=1)[start : start + len(out)]


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
    """Remove the node of lowest value and take 1 off each neighbor that is left, until none is."""
    full = _matrix(indptr, indices, weights, node_indptr, node_cliques, node_pull, clique_indptr, members, shares)
    left = sorted(heap[: state[0]].tolist())
    while left:
        v = min(left, key=lambda u: (value[u], u))
        left.remove(v)
        order[state[1]] = v
        state += (-1, 1)
        position[v] = -1
        for u in left:
            if full[v, u] > 0:
                value[u] -= 1
    return True


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
    """Keep the entries between nodes of one cluster, and count or sum them."""
    full = _matrix(indptr, indices, weights, node_indptr, node_cliques, node_pull, clique_indptr, members, shares)
    violated = full * ((labels[:, None] == labels) & (labels >= 0))
    some = slice(start, start + len(count))
    count[:] = np.count_nonzero(violated, axis=1)[some]
    burden[:] = (violated @ mass)[some]


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
    """Try every cluster for each node in turn, and work out all shares (``exact``) or its own from scratch."""
    net = (indptr, indices, weights, node_indptr, node_cliques, node_pull, clique_indptr, members, shares)
    full = _matrix(*net)

    def shares_of(tried: Ints) -> Floats:
        violated = full * ((tried[:, None] == tried) & (tried >= 0))
        v = np.count_nonzero(violated, axis=1)
        return (np.minimum(v, 1) if one else v) * (violated @ mass)

    moved = 0
    for r, i in enumerate(nodes):
        old, values = int(labels[i]), np.empty(costs.shape[1])
        for h in range(len(values)):
            tried = labels.copy()
            tried[i] = h
            values[h] = costs[r, h] + penalty * (shares_of(tried).sum() if exact else shares_of(tried)[i])
        best = int(values.argmin())
        if old < 0 or values[best] < values[old]:
            moved += 1
            labels[i] = best
    violations(*net, labels, mass, 0, count, burden)
    return moved
