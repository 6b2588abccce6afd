"""Nodes: must-link components as weighted points, for the methods in which must-links always hold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Ints
from cluewise.clues import Clues
from cluewise.core import seeding
from cluewise.core.assign import others, visiting_order
from cluewise.core.rows import Rows

__all__ = ["Nodes", "node_order", "nodes_of"]


class Nodes(NamedTuple):
    """Must-link components of several rows or with cannot-links, as weighted points (S4 of the specification)."""

    rows: Rows  # their means, weighted by their mass
    n: int  # number of rows, free ones included
    tied: Ints  # (t,) the rows that belong to a node
    of_tied: Ints  # (t,) node of each of them
    component: Ints  # (m,) must-link component that each node is
    bound: Ints  # nodes that cannot-links speak of
    loose: Ints  # the other nodes

    @property
    def free(self) -> Bools:
        """Mask of the rows that belong to no node."""
        return others(self.tied, self.n)

    @property
    def of_row(self) -> Ints:
        """Node of every row, −1 for free rows; made anew each time, because most rows are free."""
        node = np.full(self.n, -1, dtype=np.int32)
        node[self.tied] = self.of_tied
        return node


def nodes_of(rows: Rows, clues: Clues) -> Nodes:
    """Contract what must-links join; rows without clues stay outside."""
    conflicted = clues.graph.indptr[1:] > clues.graph.indptr[:-1]
    conflicted[clues.cliques.members] = True
    component = np.union1d(seeding.multiple(clues)[0], np.flatnonzero(conflicted))
    number = np.full(clues.n_components, -1, dtype=np.int32)
    number[component] = np.arange(len(component), dtype=np.int32)
    of_row = number[clues.components]
    means, mass = seeding.group_means(rows, of_row, len(component))
    tied = np.flatnonzero(of_row >= 0)
    return Nodes(
        Rows(means.astype(rows.dtype), mass.astype(rows.dtype), np.zeros(rows.d, dtype=rows.dtype)),
        rows.n,
        tied,
        of_row[tied],
        component,
        np.flatnonzero(conflicted[component]),
        np.flatnonzero(~conflicted[component]),
    )


def node_order(order: Any, nodes: Nodes, rng: np.random.Generator) -> Ints:
    """Positions of the bound nodes in an order of the rows; a node stands where its first row stands."""
    n = nodes.n
    first = np.full(nodes.rows.n, n, dtype=np.int64)
    if isinstance(order, str):
        np.minimum.at(first, nodes.of_tied, nodes.tied)
        return visiting_order(order, first[nodes.bound], n, rng)
    place = np.empty(n, dtype=np.int64)
    place[visiting_order(order, np.arange(n), n, rng)] = np.arange(n)
    np.minimum.at(first, nodes.of_tied, place[nodes.tied])
    return np.argsort(first[nodes.bound], kind="stable")
