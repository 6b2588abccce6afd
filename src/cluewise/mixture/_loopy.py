"""Approximate inference on networks with cycles: belief propagation, mean field, Gibbs sampling, and good labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from cluewise._typing import Bools, Floats, Ints
from cluewise.core.threads import pieces
from cluewise.exact.assignment import cheapest
from cluewise.exact.network import Network
from cluewise.kernels import graphs
from cluewise.kernels import inference as sweeps
from cluewise.mixture._potts import exclude, log_sum, softmax

__all__ = ["LoopyNetwork", "belief_propagation", "gibbs", "good_labels", "mean_field", "select_nodes"]

SWEEPS = 200
"""Maximum number of sweeps of belief propagation, of mean field and of moving single nodes."""

DAMPING = 0.5
UNDAMPED = 10
"""Weight of the old message in the new one, after so many undamped sweeps: most networks converge within these."""

TOLERANCE = 1e-6
"""Change of messages (belief propagation) or of probabilities (mean field) below which the sweeps have converged."""

STAND_IN = -8.0
"""Replaces weight −∞ in mean field, whose bound would otherwise be −∞."""

BURN_IN, DRAWS = 50, 200
"""Sweeps of the Gibbs sampler that are discarded, and sweeps that are averaged."""

SOME = 10_000
"""Number of links in one block."""

SLICE = 5_000_000
"""Steps of a kernel (some ten milliseconds) between two looks at Ctrl-C."""


class LoopyNetwork(NamedTuple):
    """Nodes that all have a link, and their links as symmetric CSR."""

    nodes: Ints  # (m,) numbers in the network
    components: Ints  # numbers of the connected components
    part: Ints  # (m,) index of each node's component in components
    indptr: Ints  # (m + 1,)
    neighbors: Ints  # (2e,) int32
    back: Ints  # (2e,) int64, position of the same link in the list of the neighbor
    weights: Floats  # (2e,)

    @property
    def owners(self) -> Ints:
        """The node that each entry belongs to."""
        return np.repeat(np.arange(len(self.nodes), dtype=np.int32), np.diff(self.indptr))

    def visit(self, k: int, work: Callable[[int, int], Any]) -> list[Any]:
        """``work(start, stop)`` on all nodes in short slices, so that Ctrl-C works."""
        steps = 4 * k * (1 + np.diff(self.indptr))  # most of them take logarithms
        return [work(piece.start, piece.stop) for piece in pieces(steps, SLICE)]


def select_nodes(nodes: Ints, component: Ints, ends: Ints, weights: Floats) -> LoopyNetwork:
    """The part of a network that consists of ``nodes`` and their links ``ends``."""
    place = np.full(len(component), -1)
    place[nodes] = np.arange(len(nodes))
    first, second = np.ascontiguousarray(place[ends].T)
    number = np.arange(len(ends))
    indptr, neighbors, link = graphs.adjacency(len(nodes), first, second, number)
    both = np.argsort(link, kind="stable").reshape(-1, 2)  # positions of each link in the lists of its two ends
    back = np.empty(2 * len(ends), dtype=np.int64)
    back[both[:, 0]], back[both[:, 1]] = both[:, 1], both[:, 0]
    names, part = np.unique(component[nodes], return_inverse=True)
    return LoopyNetwork(nodes, names, part, indptr, neighbors, back, weights[link])


def belief_propagation(net: LoopyNetwork, unary: Floats, start: Floats | None) -> tuple[Floats, Floats, Bools, Floats]:
    """Loopy sum-product, from the messages ``start`` if given.

    Returns marginals, Bethe's estimate of the log partition function, whether each component converged, and messages.
    """
    k = unary.shape[1]
    messages = np.zeros((len(net.neighbors), k)) if start is None else start.copy()
    change = np.zeros(len(unary))
    links = net.indptr, net.neighbors, net.back, net.weights
    for sweep in range(SWEEPS):
        # Messages that go around a cycle may oscillate; damping makes most of these networks converge.
        damping = 0.0 if sweep < UNDAMPED else DAMPING
        net.visit(k, partial(sweeps.pass_messages, *links, unary, damping, messages, change))
        if change.max() <= TOLERANCE:
            break
    belief = unary + np.add.reduceat(messages, net.indptr[:-1])
    # Bethe: log Z = Σ_links log Z_ij − Σ_nodes (links − 1) log Z_i; the scale of the messages cancels.
    degree = np.diff(net.indptr)
    value, owners = np.zeros(len(net.components)), net.owners
    np.add.at(value, net.part, (1 - degree) * log_sum(belief))
    once = np.flatnonzero(owners < net.neighbors)  # each link from one of its ends
    for at in range(0, len(once), SOME):
        p = once[at : at + SOME]
        here = belief[owners[p]] - messages[p]
        there = belief[net.neighbors[p]] - messages[net.back[p]]
        np.add.at(value, net.part[owners[p]], log_sum(here + exclude(there, net.weights[p])))
    worst = np.zeros(len(net.components))
    np.maximum.at(worst, net.part, change)
    return softmax(belief), value, worst <= TOLERANCE, messages


def mean_field(net: LoopyNetwork, unary: Floats, start: Floats | None) -> tuple[Floats, Floats]:
    """Marginals and bound by coordinate ascent from ``start`` (None: the marginals without links)."""
    q = softmax(unary) if start is None else start.copy()
    links = net.indptr, net.neighbors, _finite(net)
    for _ in range(SWEEPS):
        if max(net.visit(unary.shape[1], partial(sweeps.mean_field, *links, unary, q))) <= TOLERANCE:
            break
    return q, _bound(net, unary, q)


def _finite(net: LoopyNetwork) -> Floats:
    return np.where(net.weights == -np.inf, STAND_IN, net.weights)


def _bound(net: LoopyNetwork, unary: Floats, q: Floats) -> Floats:
    """Expected log of all factors plus entropy for independent nodes, by component."""
    around = csr_array((_finite(net), net.neighbors, net.indptr), shape=(len(q), len(q))) @ q
    entropy = -np.log(np.maximum(q, np.finfo(np.float64).tiny))
    of_nodes = (q * (unary + 0.5 * around + entropy)).sum(axis=1)  # ½: each link counts at both ends
    value = np.zeros(len(net.components))
    np.add.at(value, net.part, of_nodes)
    return value


def gibbs(net: LoopyNetwork, unary: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Marginals averaged over sweeps, and their mean-field bound.

    A sweep draws every node given its neighbors. With links of weight −∞ it then swaps pairs of clusters, because such
    links can leave single nodes no other cluster.
    """
    m, k = unary.shape
    labels = good_labels(net, unary, softmax(unary))
    seen = np.zeros((m, k))
    links = net.indptr, net.neighbors, net.weights
    owners, stuck = net.owners, bool((net.weights == -np.inf).any())
    for sweep in range(BURN_IN + DRAWS):
        if sweep == BURN_IN:
            seen[:] = 0.0
        points = rng.random(len(unary))
        net.visit(k, partial(sweeps.draw_labels, *links, unary, points, labels, seen))
        if stuck:
            _swap((owners, net.neighbors), unary, labels, rng)
    seen /= seen.sum(axis=1, keepdims=True)
    return seen, _bound(net, unary, seen)


def _swap(ends: tuple[Ints, Ints], unary: Floats, labels: Ints, rng: np.random.Generator) -> None:
    """Pair up the clusters at random and let connected sets of nodes swap the two clusters of a pair.

    The nodes of two clusters form pieces that are connected by links. Swapping the two clusters within a piece changes
    the score of no link, so only the unary scores decide whether it is accepted.
    """
    m, k = unary.shape
    half, order, partner = k // 2, rng.permutation(k), np.arange(k)
    partner[order[:half]], partner[order[half : 2 * half]] = order[half : 2 * half], order[:half]
    pair = np.minimum(np.arange(k), partner)[labels]
    joined = pair[ends[0]] == pair[ends[1]]
    graph = csr_array((joined[joined].astype(np.int8), (ends[0][joined], ends[1][joined])), shape=(m, m))
    count, piece = connected_components(graph, directed=False)
    every, other = np.arange(m), partner[labels]
    gain = np.bincount(piece, weights=unary[every, other] - unary[every, labels], minlength=count)
    accepted = np.log(rng.random(count)) < -np.logaddexp(0, -gain)
    labels[:] = np.where(accepted[piece], other, labels)


def good_labels(net: LoopyNetwork, unary: Floats, marginals: Floats) -> Ints:
    """Labels that respect all links of weight −∞, found by a heuristic.

    Soft links are replaced by their expectation under the marginals; with hard links alone the best labels can be
    searched for. Then single nodes move while that raises the true score.
    """
    m, k = unary.shape
    hard = net.weights == -np.inf
    soft = csr_array((np.where(hard, 0.0, net.weights), net.neighbors, net.indptr), shape=(m, m))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(net.owners[hard], minlength=m))])
    apart = Network.build((indptr, net.neighbors[hard]))
    labels = cheapest(-(unary + soft @ marginals), apart).labels.astype(np.int32)
    links = net.indptr, net.neighbors, net.weights
    for _ in range(SWEEPS):
        if not sum(net.visit(k, partial(sweeps.improve_labels, *links, unary, labels))):
            break
    return labels
