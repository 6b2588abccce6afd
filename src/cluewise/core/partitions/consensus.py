"""The consensus step: k-means on the one-hot rows of several partitions, which are never written out [Wu2015]_."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.core import assign, loop
from cluewise.core.partitions.labelings import Labelings, costs_in, held_by, labelings_of, lined_up
from cluewise.core.partitions.utilities import Utility, impurity
from cluewise.kernels.labelings import cheapest

__all__ = ["Basis", "State", "basis_of", "begin", "refill", "step"]


class Basis(NamedTuple):
    """What all starts have in common."""

    labelings: Labelings
    utility: Utility
    scale: Floats  # (m,) what the utility of each partition is multiplied with: 1 unless it is normalized
    place: Floats  # (n,) order of the rows by their labels
    known: Bools  # (n,) whether any partition covers a row


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    shares: list[Floats]  # per partition, (k, labels): label frequencies of the clusters
    held: list[Floats]  # the same as numbers of rows
    basis: Basis


def step(state: State) -> tuple[State, loop.Info]:
    """Assign every row to the cluster where its labels cost least, then take label frequencies."""
    labelings, utility, _, place, known = state.basis
    k = len(state.shares[0])
    labels, paid = np.empty(labelings.n, dtype=np.int32), np.empty(labelings.n)

    def settle(block: slice, costs: Floats) -> None:
        cheapest(costs, labels[block], paid[block])

    costs_in(labelings, utility, state.shares, settle)
    refill(labels, paid, place, known, k)
    if not known.all():
        labels[~known] = np.bincount(labels[known], minlength=k).argmax()
    held = held_by(labelings, labels, k)
    shares = [_shares(own, before) for own, before in zip(held, state.shares)]
    value = sum(weight * impurity(utility, own) for weight, own in zip(labelings.weights.tolist(), held))
    moved = int(np.count_nonzero(labels != state.labels))
    return State(labels, shares, held, state.basis), loop.Info(value, moved)


def refill(labels: Ints, paid: Floats, place: Floats, known: Bools, k: int) -> None:
    """Give each empty cluster the row that pays most, with all rows that have its labels: there they pay nothing.

    Rows with the same labels stand at the same ``place``; it also decides between rows that pay the same.
    """
    sizes = np.bincount(labels[known], minlength=k)
    vacant = np.flatnonzero(sizes == 0)
    payers = np.flatnonzero(known & (paid > 0))
    if not len(vacant) or not len(payers):
        return
    payers = payers[np.lexsort((place[payers], -paid[payers]))]
    groups = iter(np.split(payers, np.flatnonzero(np.diff(place[payers])) + 1))
    for cluster in vacant:
        for group in groups:
            old = labels[group[0]]
            if len(group) < sizes[old]:
                sizes[old] -= len(group)
                labels[group] = cluster
                break


def _shares(held: Floats, before: Floats) -> Floats:
    """Label frequencies; a cluster without a covered row keeps its old ones, which adds nothing to the objective."""
    mass = held.sum(axis=1, keepdims=True)
    return np.where(mass > 0, held / np.maximum(mass, 1), before)


def basis_of(
    lines: list[Array], weights: Floats, utility: Utility, normalized: bool, rng: np.random.Generator
) -> Basis:
    """Partitions, each with its weight; normalized, the weight is divided by the largest utility that is possible."""
    labelings = labelings_of(lines, weights)
    scale = np.ones(len(lines))
    if normalized:
        could = np.array([abs(utility.value(share)) for share in labelings.overall])
        scale = np.divide(1.0, could, out=np.zeros(len(could)), where=could > 0)
    known = np.zeros(labelings.n, dtype=bool)
    for codes, size in zip(labelings.codes, labelings.sizes):
        known |= codes < size
    priced = labelings._replace(weights=weights * scale)
    return Basis(priced, utility, scale, lined_up(labelings, rng), known)


def begin(basis: Basis, rows: Ints) -> State:
    """Clusters described by one row each; where a row has no label, by all rows together."""
    shares = []
    for codes, size, overall in zip(basis.labelings.codes, basis.labelings.sizes, basis.labelings.overall):
        table = np.vstack([np.eye(size), overall])
        shares.append(table[np.minimum(codes[rows], size)])
    return State(assign.no_labels(basis.labelings.n), shares, [], basis)
