"""Exclusions: cannot-links between nodes, which cost the mass of the nodes that share a cluster despite them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.core import assign
from cluewise.core.threads import pieces
from cluewise.core.views import Nodes
from cluewise.kernels import closures

__all__ = ["Exclusions", "Ledger", "degrees", "exclusions_of", "ledger_of", "masses", "sweep"]

SLICE = 5_000_000
"""Neighbors visited (about ten milliseconds) between two checks for Ctrl-C."""


class Exclusions(NamedTuple):
    """Which nodes exclude each other, and with which weight, in the order of the kernels.

    Parallel links are one edge of their summed weight. A group stays a clique: it excludes nodes i and j by its weight
    times the number of its rows in i times that in j, as its pairs of rows would.
    """

    indptr: Ints  # (m + 1,) pairs of nodes, symmetric CSR
    indices: Ints
    weights: Floats
    node_indptr: Ints  # (m + 1,) cliques of each node
    node_cliques: Ints
    node_pull: Floats  # weight of the clique times its rows in the node
    clique_indptr: Ints  # (cliques + 1,)
    members: Ints
    shares: Floats  # rows of the clique in the member

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def work(self) -> Ints:
        """Number of neighbors that a kernel visits at each node, counting those in several cliques several times."""
        met = np.concatenate([[0], np.cumsum(np.diff(self.clique_indptr)[self.node_cliques])])
        return 1 + np.diff(self.indptr) + np.diff(met[self.node_indptr])


class Ledger(NamedTuple):
    """Cost of each node: the number of ``violated`` neighbors and the ``burden``, the sum of weight times mass."""

    violated: Ints  # (m,) int64
    burden: Floats  # (m,) float64

    def copy(self) -> Ledger:
        """A copy that can be changed."""
        return Ledger(self.violated.copy(), self.burden.copy())

    def total(self, one: bool) -> float:
        """Σ v·burden, where v is the number of violated neighbors, or 1 if ``one``."""
        return float(self.burden.sum() if one else self.violated @ self.burden)


def exclusions_of(clues: Clues, nodes: Nodes) -> Exclusions:
    """Cannot-links, apart groups and label classes between the nodes; clues of weight 0 are left out."""
    m = len(nodes.component)
    number = np.full(clues.n_components, -1, dtype=np.int32)
    number[nodes.component] = np.arange(m)
    graph = clues.graph
    kept = graph.weights > 0
    source = np.repeat(number, np.diff(graph.indptr))[kept]
    members, clique, shares, weights = _memberships(clues, number)
    by_node = np.argsort(members, kind="stable")
    return Exclusions(
        _pointers(source, m),
        number[graph.indices[kept]],
        graph.weights[kept],
        _pointers(members, m),
        clique[by_node],
        (weights[clique] * shares)[by_node],
        _pointers(clique, len(weights)),
        members,
        shares,
    )


def _memberships(clues: Clues, number: Ints) -> tuple[Ints, Ints, Floats, Floats]:
    """Node, clique and number of rows for every membership, and the weight of every clique."""
    cliques = clues.cliques
    size = np.diff(cliques.indptr)
    shares = np.ones(len(cliques.members))  # two rows of an apart group in one component are a contradiction
    labelled = np.bincount(clues.components[clues.labels >= 0], minlength=clues.n_components)
    if np.count_nonzero(labelled) > 1:  # then the last clique is that of the label classes
        classes = cliques.members[cliques.indptr[-2] :]
        shares[cliques.indptr[-2] :] = labelled[classes]
    kept = cliques.weights > 0
    inside = np.repeat(kept, size)
    clique = np.repeat(np.arange(np.count_nonzero(kept)), size[kept])
    return number[cliques.members[inside]], clique, shares[inside], cliques.weights[kept]


def _pointers(sorted_or_not: Ints, count: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_or_not, minlength=count))]).astype(np.int64)


def degrees(exclusions: Exclusions) -> Ints:
    """Number of nodes that each node excludes."""
    out = np.zeros(exclusions.size, dtype=np.int64)
    for piece in pieces(exclusions.work, SLICE):
        closures.degrees(*exclusions, piece.start, out[piece])
    return out


def masses(nodes: Nodes) -> Floats:
    """Summed sample weight of each node."""
    return nodes.rows.weights(slice(None)).astype(np.float64)


def ledger_of(nodes: Nodes, exclusions: Exclusions, labels: Ints) -> Ledger:
    """Compute the cost of each node for given labels from scratch."""
    mass = masses(nodes)
    ledger = Ledger(np.zeros(exclusions.size, dtype=np.int64), np.zeros(exclusions.size))
    for piece in pieces(exclusions.work, SLICE):
        closures.violations(*exclusions, labels, mass, piece.start, ledger.violated[piece], ledger.burden[piece])
    return ledger


def sweep(
    nodes: Nodes,
    exclusions: Exclusions,
    centers: Floats,
    labels: Ints,
    ledger: Ledger,
    order: Ints,
    *,
    exact: bool,
    one: bool,
    penalty: float,
) -> None:
    """Assign the nodes of ``order``, one by one, to their cheapest clusters; labels and ledger change in place."""
    mass = masses(nodes)
    work = exclusions.work
    for block in nodes.rows.blocks(len(centers), order):
        costs = assign.costs(nodes.rows, centers, block)
        for piece in pieces(work[block], SLICE):
            closures.assign_closures(
                *exclusions, costs[piece], block[piece], labels, mass, *ledger, exact, one, penalty
            )
