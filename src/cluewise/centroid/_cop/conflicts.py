"""Conflicts between must-link components, and a pass that assigns clusters without breaking any."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.clues import Clues
from cluewise.clues.diagnosis import infeasible
from cluewise.exact.assignment import cheapest
from cluewise.exact.network import Network, network_of
from cluewise.exact.searches import keep_cheaper
from cluewise.exceptions import Infeasible

__all__ = ["Conflicts", "Placement", "conflicts_of", "place"]


class Conflicts(NamedTuple):
    """Which nodes exclude each other."""

    net: Network
    component: Ints  # must-link component of each node
    part: Ints  # connected part of the network that each node is in
    order: Ints  # smallest-last order: each node comes after at most `degeneracy` of its neighbors


class Placement(NamedTuple):
    """The cluster of every node, and the optimality gap of their cost (0 without a search)."""

    labels: Ints
    gap: float


def conflicts_of(clues: Clues, component: Ints) -> Conflicts:
    """Conflicts between must-link components that each have at least one."""
    net = _without_doubles(network_of(clues.graph, clues.cliques, component))
    return Conflicts(net, component, net.explore().component, net.smallest_last(net.size))


def _without_doubles(net: Network) -> Network:
    """Drop links within a clique: they are redundant, and would change degrees and with them the order."""
    pairs = net.edges
    if not len(pairs) or not len(net.clique_members):
        return net
    from scipy.sparse import csr_array

    ones = np.ones(len(net.node_cliques), dtype=np.int32)
    inside = csr_array((ones, net.node_cliques, net.node_indptr), shape=(net.size, len(net.clique_indptr) - 1))
    shared = inside[pairs[:, 0]].multiply(inside[pairs[:, 1]]).sum(axis=1)
    return Network.of_pairs(net.size, pairs[shared == 0], net.cliques)


def place(costs: Floats, conflicts: Conflicts, order: Ints, previous: Ints, seconds: float, clues: Clues) -> Placement:
    """Assign each node, in order, to its cheapest allowed cluster; search if that reaches a dead end.

    A connected part keeps its ``previous`` clusters unless the new ones are cheaper, so the cost never rises.
    """
    net = conflicts.net
    labels = np.full(len(costs), UNASSIGNED, dtype=np.int32)
    gap = 0.0
    if costs.shape[1] == 2 or net.greedy(order, costs, labels):
        known = None if (previous == UNASSIGNED).any() else previous
        try:
            found = cheapest(costs, net, incumbent=known, time_limit=seconds)
        except Infeasible as error:
            nodes, edges = (conflicts.component[part] for part in error.witness)
            raise infeasible(clues, costs.shape[1], nodes, edges) from None
        labels, gap = found.labels.astype(np.int32), found.gap
    if (previous == UNASSIGNED).any():
        return Placement(labels, gap)
    return Placement(keep_cheaper(costs, conflicts.part, previous, labels), gap)
