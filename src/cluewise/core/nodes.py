"""Nodes: must-link components as weighted points, for the methods in which must-links always hold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Ints
from cluewise.clues import Clues
from cluewise.core import seeding
from cluewise.core.order import visiting_order
from cluewise.core.rows import Rows

__all__ = ["Nodes", "node_order", "nodes_of"]


class Nodes(NamedTuple):
    """Must-link components of several rows or with cannot-links, as weighted points (S4 of the specification)."""

    rows: Rows  # their means, weighted by their mass
    of_row: Ints  # (n,) node of each row, −1 for free rows
    component: Ints  # (m,) must-link component that each node is
    bound: Ints  # nodes that cannot-links speak of
    loose: Ints  # the other nodes

    @property
    def tied(self) -> Ints:
        """The rows that belong to a node."""
        return np.flatnonzero(self.of_row >= 0)


def nodes_of(rows: Rows, clues: Clues) -> Nodes:
    """Contract what must-links join; rows without clues stay outside."""
    conflicted = clues.graph.indptr[1:] > clues.graph.indptr[:-1]
    conflicted[clues.cliques.members] = True
    component = np.union1d(seeding.multiple(clues)[0], np.flatnonzero(conflicted))
    number = np.full(clues.n_components, -1, dtype=np.int32)
    number[component] = np.arange(len(component), dtype=np.int32)
    of_row = number[clues.components]
    means, mass = seeding.group_means(rows, of_row, len(component))
    return Nodes(
        Rows(means, mass, np.zeros(rows.d)),
        of_row,
        component,
        np.flatnonzero(conflicted[component]),
        np.flatnonzero(~conflicted[component]),
    )


def node_order(order: Any, nodes: Nodes, rng: np.random.Generator) -> Ints:
    """Positions of the bound nodes in an order of the rows; a node stands where its first row stands."""
    n = len(nodes.of_row)
    first = np.full(nodes.rows.n, n, dtype=np.int64)
    tied = nodes.tied
    if isinstance(order, str):
        np.minimum.at(first, nodes.of_row[tied], tied)
        return visiting_order(order, first[nodes.bound], n, rng)
    place = np.empty(n, dtype=np.int64)
    place[visiting_order(order, np.arange(n), n, rng)] = np.arange(n)
    np.minimum.at(first, nodes.of_row[tied], place[tied])
    return np.argsort(first[nodes.bound], kind="stable")
