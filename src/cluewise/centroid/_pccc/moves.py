"""Local search for cheaper labels of nodes under hard and soft links, by moves that break no hard link.

Single nodes move first. A node that a cannot-link keeps from moving is swapped along a Kempe chain. Nodes that attract
each other, and would raise the cost by moving one by one, move together: they are contracted, and the same descent runs
on the contracted problem. Contracting a random part of the attractions (as Swendsen and Wang do) escapes local optima.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.centroid._pccc.bonds import Bonds, find_parts
from cluewise.exact.searches import improve, rounding
from cluewise.kernels import bonds as kernel
from cluewise.kernels import working_time

__all__ = ["Moves", "move_costs", "node_costs"]

SLICE = 1_000_000  # neighbors and clusters visited (a few milliseconds) between two checks of the clock and of Ctrl-C
SWEEPS = 100
JOINS = (1.0, 0.5, 0.25)  # probability that an attraction is contracted in a shake
NOISE = (0.1, 0.3, 0.6)  # noise on the costs of a node, in units of its mean excess over its cheapest cluster


def node_costs(costs: Floats, bonds: Bonds, labels: Ints) -> Floats:
    """Cost of each node: its distance and half of its pulls; infinite if a hard link is broken."""
    m, k = costs.shape
    row = np.repeat(np.arange(m), np.diff(bonds.indptr))
    same = labels[row] == labels[bonds.indices]
    out = costs[np.arange(m), labels] + 0.5 * np.bincount(row[same], weights=bonds.pull[same], minlength=m)
    if len(bonds.groups):
        node = np.repeat(np.arange(m), np.diff(bonds.node_indptr))
        around = bonds.counts(labels, k)[bonds.groups, labels[node]] - bonds.shares
        pull = bonds.group_pull[bonds.groups] * bonds.shares * around
        out += 0.5 * np.bincount(node, weights=pull, minlength=m)
    return out


def move_costs(costs: Floats, bonds: Bonds, labels: Ints) -> Floats:
    """(m, k) cost of each node in each cluster, with soft pulls, if all others stay."""
    m, k = costs.shape
    row = np.repeat(np.arange(m), np.diff(bonds.indptr))
    soft = np.isfinite(bonds.pull)
    out = costs.copy()
    np.add.at(out, (row[soft], labels[bonds.indices[soft]]), bonds.pull[soft])
    if len(bonds.groups):
        node = np.repeat(np.arange(m), np.diff(bonds.node_indptr))
        counts = bonds.counts(labels, k)[bonds.groups]
        counts[np.arange(len(node)), labels[node]] -= bonds.shares
        np.add.at(out, node, (bonds.group_pull[bonds.groups] * bonds.shares)[:, None] * counts)
    return out


class Moves:
    """The best labels so far, which are always valid, and moves that improve them."""

    def __init__(self, costs: Floats, bonds: Bonds, labels: Ints, deadline: float) -> None:
        self.costs, self.bonds, self.deadline = costs, bonds, deadline
        self.labels = labels.astype(np.int32)
        self.part = find_parts(bonds)
        self._value = self._by_part(self.labels)
        self._tolerance = rounding(costs) + 1e-12 * float(np.abs(bonds.pull[np.isfinite(bonds.pull)]).max(initial=0.0))
        self._rng = np.random.default_rng(0)
        self._turns = 0
        excess = costs - costs.min(axis=1, keepdims=True)
        self._spread = np.where(np.isfinite(excess), excess, 0.0).mean(axis=1, keepdims=True)

    @property
    def late(self) -> bool:
        """Whether the deadline has passed."""
        return working_time() > self.deadline

    @property
    def cost(self) -> float:
        """Cost of the best labels."""
        return float(self._value.sum())

    def offer(self, labels: Ints) -> bool:
        """Adopt other labels in the connected parts where they cost less; true if there are any."""
        value = self._by_part(labels)
        better = value < self._value - self._tolerance
        if better.any():
            self.labels = np.where(better[self.part], labels, self.labels).astype(np.int32)
            self._value = np.where(better, value, self._value)
        return bool(better.any())

    def descend(self, start: Ints | None = None) -> bool:
        """Descend from the best labels (or others) to a local optimum; true if the best labels have improved."""
        labels = (self.labels if start is None else start).copy()
        self._relax(self.bonds[:7], self.costs, labels)
        gained = self.offer(labels)
        while not self.late:
            again = self.offer(self._chains())
            again |= self.offer(self._jointly(self.labels, 1.0, 0.0))
            if not again:
                return gained
            gained = True
            labels = self.labels.copy()
            self._relax(self.bonds[:7], self.costs, labels)
            self.offer(labels)
        return gained

    def shake(self, times: int, patience: int) -> None:
        """Try to leave a local optimum, up to ``times`` or until ``patience`` attempts in a row fail."""
        vain = 0
        for _ in range(times):
            if self.late or vain >= patience:
                return
            chance, noise = JOINS[self._turns % len(JOINS)], NOISE[self._turns // len(JOINS) % len(NOISE)]
            self._turns += 1
            labels = self._jointly(self.labels, chance, noise)
            vain = 0 if self.descend(labels) else vain + 1

    def _by_part(self, labels: Ints) -> Floats:
        return np.bincount(self.part, weights=node_costs(self.costs, self.bonds, labels)).astype(np.float64)

    def _relax(self, forces: tuple[Any, ...], costs: Floats, labels: Ints) -> None:
        """Sweep over all nodes, those with the largest lead first, until none moves; labels change in place."""
        indptr, indices, pull, node_indptr, groups, shares, group_pull = forces
        k = costs.shape[1]
        order = np.argsort(-self._lead(costs), kind="stable")
        work = np.cumsum((np.diff(indptr) + k * (1 + np.diff(node_indptr)))[order])
        cuts = [*np.unique(np.searchsorted(work, np.arange(0, work[-1], SLICE))).tolist(), len(order)]
        counts = np.zeros((len(group_pull), k))
        np.add.at(counts, (groups, labels[np.repeat(np.arange(len(labels)), np.diff(node_indptr))]), shares)
        for _ in range(SWEEPS):
            moved = 0
            for start, stop in pairwise(cuts):
                moved += kernel.relax(
                    indptr, indices, pull, node_indptr, groups, shares, group_pull,
                    costs, order, start, stop, self._tolerance, labels, counts,
                )  # fmt: skip
                if self.late:
                    return
            if not moved:
                return

    @staticmethod
    def _lead(costs: Floats) -> Floats:
        if costs.shape[1] == 1:
            return np.zeros(len(costs))
        two = np.partition(costs, 1, axis=1)[:, :2]
        return np.where(np.isinf(two[:, 1]), np.inf, two[:, 1] - two[:, 0])

    def _chains(self) -> Ints:
        """Swap labels along Kempe chains, with soft pulls priced as if the neighbors stayed."""
        net = self.bonds.net
        if not (len(net.indices) or len(net.clique_members)):
            return self.labels
        m = len(self.costs)
        row = np.repeat(np.arange(m), np.diff(self.bonds.indptr))
        hard = np.isinf(self.bonds.pull)
        csr = np.concatenate([[0], np.cumsum(np.bincount(row[hard], minlength=m))]), self.bonds.indices[hard]
        return improve(move_costs(self.costs, self.bonds, self.labels), csr, self.labels, self.deadline)

    def _jointly(self, labels: Ints, chance: float, noise: float) -> Ints:
        """Move whole sets of nodes that attract each other and share a cluster."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        bonds, m = self.bonds, len(labels)
        row = np.repeat(np.arange(m), np.diff(bonds.indptr))
        holds: Bools = (bonds.pull < 0) & (labels[row] == labels[bonds.indices])
        if chance < 1:
            holds &= self._rng.random(len(holds)) < chance
        links = csr_array((np.ones(holds.sum(), np.int8), (row[holds], bonds.indices[holds])), shape=(m, m))
        count, joint = connected_components(links, directed=False)
        costs = self.costs
        if noise:
            costs = costs + noise * self._spread * self._rng.standard_normal(costs.shape)
        elif count == m:
            return labels
        # Contract: with the membership matrix J, pulls become JᵀPJ and costs Jᵀc.
        into = csr_array((np.ones(m), joint, np.arange(m + 1)), shape=(m, count))
        pulls = (into.T @ csr_array((bonds.pull, bonds.indices, bonds.indptr), shape=(m, m)) @ into).tocoo()
        apart = pulls.row != pulls.col
        pulls = csr_array((pulls.data[apart], (pulls.row[apart], pulls.col[apart])), shape=(count, count))
        g = len(bonds.group_pull)
        shared = csr_array((bonds.shares, bonds.groups, bonds.node_indptr), shape=(m, g))
        shared = (into.T @ shared).tocsr()
        forces = (
            pulls.indptr.astype(np.int64), pulls.indices.astype(np.int32), pulls.data,
            shared.indptr.astype(np.int64), shared.indices.astype(np.int64), shared.data, bonds.group_pull,
        )  # fmt: skip
        of_joint = np.empty(count, np.int32)
        of_joint[joint] = labels
        self._relax(forces, np.require(into.T @ costs, requirements=["C"]), of_joint)
        return of_joint[joint]
