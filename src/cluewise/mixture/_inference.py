"""Inference of the clusters of nodes that are joined by links.

A network has a score ``unary[i, h]`` for node i in cluster h. A link of weight w multiplies the probability of labels
that put its two ends into one cluster by exp(w); −∞ keeps them apart. (Nodes that are certainly together are one node.)
Inference gives the probability of every cluster for every node, and the log of the sum over all labels, the log
partition function.

Each connected component is inferred on its own: exactly if it is a tree or elimination needs tables within the limit,
otherwise by belief propagation, mean field or Gibbs sampling. `Posterior.method` records the method.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.mixture import _loopy
from cluewise.mixture._elimination import Elimination, plan_elimination
from cluewise.mixture._loopy import LoopyNetwork, select_nodes
from cluewise.mixture._potts import exclude, log_sum, others_max

__all__ = ["METHODS", "Couplings", "Plan", "Posterior", "decode", "infer", "plan"]

METHODS = ("auto", "exact", "belief-propagation", "mean-field", "gibbs")

DENSE = 16
"""Links per node above which "auto" uses mean field instead of belief propagation."""


class Couplings(NamedTuple):
    """Nodes and the links between them, each pair of nodes once."""

    size: int
    ends: Ints  # (e, 2)
    weights: Floats  # (e,) −∞ ≤ w < ∞


class Forest(NamedTuple):
    """Components without a cycle, as rooted trees: children and parents level by level from the roots."""

    nodes: Ints  # roots first
    roots: Ints
    levels: tuple[tuple[Ints, Ints, Floats], ...]  # (children, their parents, weights)


class Plan(NamedTuple):
    """How each component of a network is inferred."""

    method: str  # as requested
    size: int
    component: Ints  # (m,) connected component of each node
    sizes: Ints  # nodes of each component
    forest: Forest
    tables: tuple[Elimination, ...]
    rest: tuple[tuple[str, LoopyNetwork], ...]  # components that are approximated, by method


class Posterior(NamedTuple):
    """Result of inference."""

    marginals: Floats  # (m, k), rows sum to 1
    value: float  # log partition function; an estimate if approximated, for mean field a lower bound
    method: Array  # (components,) "exact", "belief-propagation", "mean-field" or "gibbs"
    messages: Floats | None  # of belief propagation


def plan(net: Couplings, k: int, method: str = "auto", limit: int = 100_000) -> Plan:
    """Choose a method for each component; ``limit`` bounds the entries of a table of exact inference."""
    kept = net.weights != 0
    ends, weights = net.ends[kept].astype(np.int64), net.weights[kept]
    component, sizes = _components(net.size, ends)
    exact = method in ("auto", "exact")
    if exact and k == 2:
        ends, weights = _without_implied(net.size, ends, weights)
    links = np.bincount(component[ends[:, 0]], minlength=len(sizes))
    tree = (links == sizes - 1) if exact else (sizes == 1)
    tables = []
    open_ = ~tree
    for c, nodes, inside in _pieces(component, ends, np.flatnonzero(open_)) if exact else ():
        found = plan_elimination(nodes, ends[inside], weights[inside], k, limit)
        if found is not None:
            tables.append(found)
            open_[c] = False
        elif method == "exact":
            raise ValueError(
                f'inference="exact" needs a table of more than exact_size={limit} entries for {len(nodes)} '
                'linked components of rows; raise exact_size or use inference="auto".'
            )
    hanging = tree[component[ends[:, 0]]]
    forest = _forest(np.flatnonzero(tree[component]), net.size, ends[hanging], weights[hanging])
    field = open_ & (_dense(component, sizes, ends, weights) if method == "auto" else method == "mean-field")
    rest = []
    for name, chosen in (
        ("mean-field", field),
        ("gibbs" if method == "gibbs" else "belief-propagation", open_ & ~field),
    ):
        if chosen.any():
            inside = chosen[component[ends[:, 0]]]
            nodes = np.flatnonzero(chosen[component])
            rest.append((name, select_nodes(nodes, component, ends[inside], weights[inside])))
    return Plan(method, net.size, component, sizes, forest, tuple(tables), tuple(rest))


def infer(
    how: Plan, unary: Floats, rng: np.random.Generator | None = None, before: Posterior | None = None
) -> Posterior:
    """Marginals and log partition function; approximations resume from ``before``, ``rng`` is for Gibbs sampling."""
    k = unary.shape[1]
    marginals = np.empty((how.size, k))
    method = np.full(len(how.sizes), "exact", dtype="<U18")
    messages = None if before is None else before.messages
    value = _sum_over_forest(how.forest, unary, marginals)
    for table in how.tables:
        value += table.marginalize(unary, marginals)
    for name, net in how.rest:
        scores = np.ascontiguousarray(unary[net.nodes])
        start = None if before is None else before.marginals[net.nodes]
        method[net.components] = name
        if name == "gibbs":
            assert rng is not None
            found, parts = _loopy.gibbs(net, scores, rng)
        elif name == "mean-field":
            found, parts = _loopy.mean_field(net, scores, start)
        else:
            found, parts, converged, messages = _loopy.belief_propagation(net, scores, messages)
            if how.method == "auto" and not converged.all():
                other, bound = _loopy.mean_field(net, scores, start)
                found = np.where(converged[net.part][:, None], found, other)
                parts = np.where(converged, parts, bound)
                method[net.components[~converged]] = "mean-field"
        marginals[net.nodes] = found
        value += float(parts.sum())
    return Posterior(marginals, value, method, messages)


def decode(how: Plan, unary: Floats, marginals: Floats) -> Ints:
    """The most likely joint labels of all nodes; a heuristic for components that are not inferred exactly.

    All labels respect the links of weight −∞. See `_loopy.good_labels` for the heuristic.
    """
    labels = np.empty(how.size, dtype=np.int32)
    _best_in_forest(how.forest, unary, labels)
    for table in how.tables:
        table.maximize(unary, labels)
    for _, net in how.rest:
        scores = np.ascontiguousarray(unary[net.nodes])
        labels[net.nodes] = _loopy.good_labels(net, scores, marginals[net.nodes])
    return labels


def _components(size: int, ends: Ints) -> tuple[Ints, Ints]:
    graph = csr_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(size, size))
    component = connected_components(graph, directed=False)[1]
    return component, np.bincount(component)


def _pieces(component: Ints, ends: Ints, which: Ints) -> Iterator[tuple[int, Ints, Ints]]:
    """Some components with their nodes and their links."""
    of_links = component[ends[:, 0]]
    nodes, links = np.argsort(component, kind="stable"), np.argsort(of_links, kind="stable")
    of_nodes, of_links = component[nodes], of_links[links]
    for c in which.tolist():
        first, last = np.searchsorted(of_nodes, (c, c + 1)), np.searchsorted(of_links, (c, c + 1))
        yield c, nodes[slice(*first)], links[slice(*last)]


def _dense(component: Ints, sizes: Ints, ends: Ints, weights: Floats) -> Bools:
    """Components with many links, none of weight −∞: mean field is accurate there, and much cheaper."""
    links = np.bincount(component[ends[:, 0]], minlength=len(sizes))
    hard = np.bincount(component[ends[weights == -np.inf, 0]], minlength=len(sizes))
    return (links > DENSE * sizes) & (hard == 0)


def _without_implied(size: int, ends: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """For two clusters: of the links of weight −∞ only a spanning forest, which implies the others."""
    hard = weights == -np.inf
    _, parent, _ = _search(size, ends[hard], np.arange(size))
    keys = np.minimum(ends[:, 0], ends[:, 1]) * size + np.maximum(ends[:, 0], ends[:, 1])
    child = np.flatnonzero(parent >= 0)
    tree = np.minimum(child, parent[child]) * size + np.maximum(child, parent[child])
    kept: Bools = ~hard | np.isin(keys, tree)
    return ends[kept], weights[kept]


def _search(size: int, ends: Ints, nodes: Ints) -> tuple[Ints, Ints, Ints]:
    """Breadth-first order from the first of ``nodes`` in each component; parent (−1 for roots) and depth of all."""
    component, _ = _components(size, ends)
    roots = np.unique(component[nodes], return_index=True)[1]
    everywhere = np.concatenate([ends, np.column_stack([np.full(len(roots), size), nodes[roots]])])
    graph = csr_array(
        (np.ones(len(everywhere), np.int8), (everywhere[:, 0], everywhere[:, 1])), shape=(size + 1, size + 1)
    )
    order, parent = breadth_first_order(graph, size, directed=False)
    depth = np.full(size + 1, -1)
    for node in order[1:].tolist():
        depth[node] = depth[parent[node]] + 1
    parent = np.where((parent < 0) | (parent == size), -1, parent)
    return order[1:], parent[:-1].astype(np.int64), depth[:-1]


def _forest(nodes: Ints, size: int, ends: Ints, weights: Floats) -> Forest:
    if not len(nodes):
        return Forest(nodes, nodes, ())
    order, parent, depth = _search(size, ends, nodes)
    child = np.where(parent[ends[:, 0]] == ends[:, 1], ends[:, 0], ends[:, 1])
    weight = np.zeros(size)
    weight[child] = weights
    cuts = np.searchsorted(depth[order], np.arange(1, depth.max() + 2))
    levels = [order[start:stop] for start, stop in pairwise(cuts)]
    return Forest(order, order[: cuts[0]], tuple((level, parent[level], weight[level]) for level in levels))


def _sum_over_forest(forest: Forest, unary: Floats, marginals: Floats) -> float:
    """Sum-product: from the leaves to the roots, and back."""
    score = unary.copy()  # with the messages from below
    sent = []
    for children, parents, weights in forest.levels[::-1]:
        message = exclude(score[children], weights)
        np.add.at(score, parents, message)
        sent.append(message)
    totals = log_sum(score[forest.roots])
    # Level by level, scores become log marginals. The message that a child sent is subtracted from its parent's score,
    # so that the child does not receive its own evidence back.
    score[forest.roots] -= totals[:, None]
    for (children, parents, weights), message in zip(forest.levels, sent[::-1]):
        score[children] += exclude(score[parents] - message, weights)
    marginals[forest.nodes] = np.exp(score[forest.nodes])
    return float(totals.sum())


def _best_in_forest(forest: Forest, unary: Floats, labels: Ints) -> None:
    """Max-product; ties go to the lowest label."""
    score = unary.copy()
    for children, parents, weights in forest.levels[::-1]:
        same = score[children] + weights[:, None]
        np.add.at(score, parents, np.maximum(same, others_max(score[children])))
    labels[forest.roots] = score[forest.roots].argmax(axis=1)
    for children, parents, weights in forest.levels:
        rows = np.arange(len(children))
        final = score[children]
        final[rows, labels[parents]] += weights
        labels[children] = final.argmax(axis=1)
