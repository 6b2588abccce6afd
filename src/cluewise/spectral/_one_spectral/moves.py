"""The objective of k clusters, and vertices that move to lower it: what splits could not undo.

The objective is what each cluster cuts, divided by its volume, plus a price for links that are broken: so high that no
cut is worth a link.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from cluewise._typing import Floats, Ints
from cluewise.core.loop import Info
from cluewise.exact.assignment import cheapest
from cluewise.exact.network import Network
from cluewise.spectral._one_spectral.splits import Graph

__all__ = ["State", "hold", "link_price", "links_broken", "move", "objective"]

LESS = 1e-12
"""Decrease of the objective, relative to it, that counts."""


class State(NamedTuple):
    """Clusters of the vertices."""

    labels: Ints


def link_price(graph: Graph, k: int) -> float:
    """A price that exceeds the cut of every partition, for the lightest link."""
    weights = np.concatenate([graph.cannot_weight, graph.must_weight])
    lightest = float(weights[weights > 0].min()) if weights.any() else 1.0
    degrees = np.asarray(graph.affinity.sum(axis=1)).ravel()
    return k * max(float((degrees / graph.volume).max(initial=0.0)), 1e-300) / lightest


def links_broken(graph: Graph, labels: Ints) -> float:
    """Weight of the links that clusters break."""
    joined = labels[graph.cannot[:, 0]] == labels[graph.cannot[:, 1]]
    split = labels[graph.must[:, 0]] != labels[graph.must[:, 1]]
    return float(graph.cannot_weight[joined].sum() + graph.must_weight[split].sum())


def cut(graph: Graph, labels: Ints, k: int) -> float:
    """What each cluster cuts, divided by its volume; clusters without vertices count for nothing."""
    half = coo_array(graph.affinity)
    across = labels[half.row] != labels[half.col]
    cuts = np.bincount(labels[half.row[across]], half.data[across], k)
    volume = np.bincount(labels, graph.volume, k)
    return float((cuts[volume > 0] / volume[volume > 0]).sum())


def objective(graph: Graph, labels: Ints, k: int, price: float) -> float:
    """The cut, and the price of the links that are broken."""
    return cut(graph, labels, k) + price * links_broken(graph, labels)


def move(state: State, *, graph: Graph, k: int, price: float) -> tuple[State, Info]:
    """Move all vertices that would gain by it alone; half as many, and so on, while the objective does not fall.

    Many at once, because a table of all gains takes as long as the moves; and not one after another in the order of
    the rows, on which the result should not depend.
    """
    old = state.labels
    value = objective(graph, old, k, price)
    gain, where = _gains(graph, old, k, price)
    order = np.argsort(-gain, kind="stable")
    some = order[: int(np.count_nonzero(gain > LESS * value))]
    while len(some):
        labels = old.copy()
        labels[some] = where[some]
        if len(np.unique(labels)) == len(np.unique(old)):
            less = objective(graph, labels, k, price)
            if less < value:
                return State(labels), Info(less, len(some))
        some = some[: len(some) // 2]
    return state, Info(value, 0)


def _gains(graph: Graph, labels: Ints, k: int, price: float) -> tuple[Floats, Ints]:
    """By how much the objective falls if a vertex moves, to which cluster it falls most."""
    n = len(labels)
    every = np.arange(n)
    inside = csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
    toward = (graph.affinity @ inside).toarray()
    degree = toward.sum(axis=1)
    volume = np.bincount(labels, graph.volume, k)
    cuts = np.bincount(labels, degree - toward[every, labels], k)
    own_volume, own_cut = volume[labels], cuts[labels]
    rest = own_volume - graph.volume
    alone = np.bincount(labels, minlength=k)[labels] == 1
    left = np.where(alone, 0.0, (own_cut - degree + 2 * toward[every, labels]) / np.where(alone, 1.0, rest))
    before = own_cut / own_volume
    new_volume = volume + graph.volume[:, None]
    joined = (cuts + degree[:, None] - 2 * toward) / new_volume
    others = np.where(volume > 0, cuts / np.where(volume > 0, volume, 1.0), 0.0)
    gain = (before - left)[:, None] + others - joined
    if len(graph.cannot) or len(graph.must):
        pull = _pull(graph, labels, k)
        gain += price * (pull[every, labels][:, None] - pull)
    gain[every, labels] = -np.inf
    gain[:, volume == 0] = -np.inf
    gain[alone] = -np.inf
    where = gain.argmax(axis=1)
    return gain[every, where], where.astype(np.int32)


def _pull(graph: Graph, labels: Ints, k: int) -> Floats:
    """Weight of the links of each vertex that it would break in each cluster, up to a constant of the vertex."""
    table = np.zeros((len(labels), k))
    for pairs, weight in ((graph.cannot, graph.cannot_weight), (graph.must, -graph.must_weight)):
        for a, b in (pairs.T, pairs.T[::-1]):
            np.add.at(table, (a, labels[b]), weight)
    return table


def hold(graph: Graph, labels: Ints, k: int) -> Ints:
    """The nearest clusters in which all cannot-links hold: a move costs the weight of the edges that it leaves behind.

    Raises `Infeasible` if there are none.
    """
    tied = np.unique(graph.cannot)
    n = len(tied)
    inside = csr_array((np.ones(len(labels)), labels, np.arange(len(labels) + 1)), shape=(len(labels), k))
    near = csr_array(graph.affinity[tied])
    toward = (near @ inside).toarray()
    degree = np.asarray(near.sum(axis=1)).ravel() + 1e-9 * graph.volume[tied]
    costs = degree[:, None] - toward
    costs[np.arange(n), labels[tied]] = 0.0
    place = np.searchsorted(tied, graph.cannot)
    found = labels.copy()
    found[tied] = cheapest(costs, Network.of_pairs(n, np.sort(place, axis=1))).labels
    return found
