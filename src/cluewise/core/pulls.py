"""Pulls: clues as forces between rows, ready for a sweep. Negative attracts, positive repels.

Moving row i into cluster h costs Σ pull over the rows of h that it is linked or grouped with, up to a constant. A
label class attracts its members by −2 and repels all labelled rows by +1, which together is −1 inside and +1
across classes, without any pair being written out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.kernels import graphs

__all__ = ["Pulls", "broken_weight", "count_members", "pulls_of"]


class Pulls(NamedTuple):
    """CSR arrays over the tied rows: links to other rows, and groups with their members."""

    rows: Ints  # (t,) the tied rows
    indptr: Ints  # (t + 1,) links of each tied row
    neighbors: Ints
    pull: Floats
    group_indptr: Ints  # (t + 1,) groups of each tied row
    groups: Ints
    group_pull: Floats  # (g,)
    group_slot: Ints  # (g,) row in the table of counts; −1 = members are read one by one
    member_indptr: Ints  # (g + 1,)
    members: Ints

    @property
    def arrays(self) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any]:
        """Everything but the rows, in the order of the kernel."""
        return self[1:]


def pulls_of(clues: Clues, k: int) -> Pulls:
    """Links and groups of the clues. Groups with more than k members get a row of counts, so memory is O(n)."""
    pairs = np.concatenate([clues.must, clues.cannot])
    pull = np.concatenate([-clues.must_weight, clues.cannot_weight])
    row, group, group_pull = _incidence(clues)
    mentioned = np.zeros(clues.n, dtype=bool)
    mentioned[pairs.ravel()] = True
    mentioned[row] = True
    tied = np.flatnonzero(mentioned)
    place = np.empty(clues.n, dtype=np.int32)  # of the tied rows; the others are never looked up
    place[tied] = np.arange(len(tied), dtype=np.int32)
    indptr, neighbors, pull = graphs.adjacency(len(tied), place[pairs[:, 0]], place[pairs[:, 1]], pull)
    size = np.bincount(group, minlength=len(group_pull))
    order = np.argsort(group, kind="stable")
    member_indptr = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    members = row[order].astype(np.int32)
    by_row = np.argsort(row, kind="stable")
    group_indptr = np.concatenate([[0], np.cumsum(np.bincount(place[row], minlength=len(tied)))]).astype(np.int64)
    slot = np.full(len(size), -1, dtype=np.int64)
    slot[size > k] = np.arange(np.count_nonzero(size > k))
    return Pulls(
        tied,
        indptr,
        tied.astype(np.int32)[neighbors],
        pull,
        group_indptr,
        group[by_row].astype(np.int32),
        group_pull,
        slot,
        member_indptr,
        members,
    )


def _incidence(clues: Clues) -> tuple[Ints, Ints, Floats]:
    """(row, group) for every membership in a group of two or more, and the pull of every group."""
    columns = [(g.codes, -g.weights) for g in clues.together] + [(g.codes, g.weights) for g in clues.apart]
    if len(clues.classes_):
        everybody = np.where(clues.labels >= 0, 0, -1)
        columns += [(clues.labels, np.full(len(clues.classes_), -2.0)), (everybody, np.ones(1))]
    rows, groups, start = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    pulls: list[Floats] = [np.empty(0)]
    for codes, pull in columns:
        row = np.flatnonzero(codes >= 0)
        size = np.bincount(codes[row], minlength=len(pull))
        row = row[size[codes[row]] > 1]
        rows.append(row)
        groups.append(start + codes[row].astype(np.int64))
        pulls.append(pull)
        start += len(pull)
    return np.concatenate(rows), np.concatenate(groups), np.concatenate(pulls)


def count_members(pulls: Pulls, labels: Ints, k: int) -> Ints:
    """Table of members per cluster for the groups that have a slot."""
    counts = np.zeros((int(pulls.group_slot.max(initial=-1)) + 1, k), dtype=np.int64)
    for g in np.flatnonzero(pulls.group_slot >= 0):
        members = pulls.members[pulls.member_indptr[g] : pulls.member_indptr[g + 1]]
        counts[pulls.group_slot[g]] = np.bincount(labels[members], minlength=k)
    return counts


def broken_weight(clues: Clues, labels: Ints) -> float:
    """Summed weight of the broken links, those of labels and groups counted pair by pair but not written out."""
    total = float(clues.must_weight[labels[clues.must[:, 0]] != labels[clues.must[:, 1]]].sum())
    total += float(clues.cannot_weight[labels[clues.cannot[:, 0]] == labels[clues.cannot[:, 1]]].sum())
    for group in clues.together:
        total += float(group.weights @ (_pairs(group.sizes) - _pairs_inside(group.codes, labels, len(group.weights))))
    for group in clues.apart:
        total += float(group.weights @ _pairs_inside(group.codes, labels, len(group.weights)))
    if len(clues.classes_):
        known = clues.labels >= 0
        same = _pairs_inside(clues.labels, labels, len(clues.classes_)).sum()
        in_class = _pairs(np.bincount(clues.labels[known])).sum()
        in_cluster = _pairs(np.bincount(labels[known])).sum()
        total += float(in_class - same) + float(in_cluster - same)
    return total


def _pairs(size: Ints) -> Ints:
    return size * (size - 1) // 2


def _pairs_inside(codes: Ints, labels: Ints, n_groups: int) -> Ints:
    """For each group, the number of its pairs that share a cluster."""
    known = codes >= 0
    k = int(labels.max(initial=0)) + 1
    cell, size = np.unique(codes[known].astype(np.int64) * k + labels[known], return_counts=True)
    return np.bincount(cell // k, weights=_pairs(size), minlength=n_groups)
