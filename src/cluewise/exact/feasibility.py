"""Decide whether k clusters are enough, with a witness as small as can be when they are not."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import Bools, Ints
from cluewise.exact.coloring import Decision, color
from cluewise.exact.network import Network

__all__ = ["Decision", "Witness", "decide", "reduce"]


class Witness(NamedTuple):
    """Nodes that cannot be spread over the clusters because of ``edges`` between them."""

    nodes: Ints
    edges: Ints


def decide(net: Network, k: int, *, node_limit: int = 100_000, time_limit: float = 2.0) -> Decision:
    """Decide, and say why.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = Network.of_pairs(3, np.array([[0, 1], [0, 2], [1, 2]]))
    >>> decide(triangle, 3).colors.tolist()
    [2, 1, 0]
    >>> decide(triangle, 2).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    deadline = monotonic() + time_limit
    found = color(net, k, None, node_limit, deadline)
    if found.status == "infeasible" and found.edges is None:
        assert found.nodes is not None
        nodes, edges, complete = reduce(net, found.nodes, k, node_limit, deadline)
        reason = "clique" if len(nodes) == k + 1 else found.reason
        return Decision("infeasible", reason, nodes=nodes, edges=edges, irreducible=complete)
    return found


def reduce(
    net: Network, nodes: Ints, k: int, node_limit: int, deadline: float, allowed: Bools | None = None
) -> tuple[Ints, Ints, bool]:
    """Nodes and edges of an infeasible part of ``nodes`` that is feasible without any one of them.

    A deletion filter: leave out nodes in ever smaller lots, then single edges, as long as the rest stays infeasible.
    The third value says whether every step was decided within the limits; otherwise the part is infeasible but may be
    larger than needed.
    """
    part = net.restrict(nodes)
    largest = part.largest_clique()
    if len(largest) > k:
        # More members than this are never needed, and there may be too many to expand into pairs.
        nodes = nodes[largest[: k + 1]]
        part = net.restrict(nodes)
    pairs = Network.build(part.plain()).edges
    filter_ = _Filter(k, node_limit, deadline, None if allowed is None else allowed[nodes])
    lot = max(1, len(nodes) // 2)
    while True:
        remaining = np.unique(pairs)
        for start in range(0, len(remaining), lot):
            first, second = np.isin(pairs, remaining[start : start + lot]).T
            pairs = filter_.without(pairs, first | second)
        if lot == 1:
            break
        lot = max(1, min(lot, len(np.unique(pairs))) // 2)
    for pair in pairs.copy():
        first, second = np.equal(pairs, pair).T
        pairs = filter_.without(pairs, first & second)
    edges = np.sort(nodes[pairs], axis=1)
    edges = edges[np.lexsort(edges.T[::-1])]
    return np.unique(edges), edges, filter_.complete


class _Filter:
    """Leaves pairs out as long as the rest is provably infeasible."""

    def __init__(self, k: int, node_limit: int, deadline: float, allowed: Bools | None) -> None:
        self.k, self.node_limit, self.deadline, self.allowed = k, node_limit, deadline, allowed
        self.complete = True

    def without(self, pairs: Ints, gone: Bools) -> Ints:
        """An infeasible part of the other pairs, or all of ``pairs`` when there is none (or no proof)."""
        if not gone.any():
            return pairs
        if monotonic() > self.deadline:
            self.complete = False
            return pairs
        rest = pairs[~gone]
        names, local = np.unique(rest, return_inverse=True)
        net = Network.of_pairs(len(names), local.reshape(-1, 2))
        allowed = None if self.allowed is None else self.allowed[names]
        found = color(net, self.k, allowed, self.node_limit, self.deadline)
        if found.status != "infeasible":
            self.complete &= found.status == "feasible"
            return pairs
        return rest[np.isin(rest, names[found.nodes]).all(axis=1)]
