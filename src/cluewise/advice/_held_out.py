"""Clues held out, so that nothing that is kept entails them, and how many of them a clustering keeps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cluewise._typing import Bools, Ints
from cluewise.clues import Clues, Groups
from cluewise.metrics import broken, satisfaction

__all__ = ["about", "demands", "folds", "kept_shares", "mentions", "splits", "without"]


def splits(clues: Clues, n_splits: int, test_size: float, rng: np.random.Generator) -> Iterator[Bools]:
    """Masks of rows to be silent about, each with about ``test_size`` of the clues touching those rows.

    Every clue that touches such a row is held out, so that no chain of kept clues leads there. Rows that
    must-links join go together, except in components so large that most clues would go with them. Where few
    clues hang on one row, fewer masks come than were asked for, or none.
    """
    touched = mentions(clues)
    if not len(touched):
        return
    unit = _units(clues, touched, test_size)
    target = max(1, round(test_size * len(touched)))
    for _ in range(n_splits):
        rank = rng.permutation(int(unit.max()) + 1)
        # A clue is held out as soon as one of its rows is; both ends of a label are the same row.
        turn = rank[unit[touched]].min(axis=1)
        last = np.partition(turn, target - 1)[target - 1]
        if (turn > last).any():
            yield rank[unit] <= last


def folds(clues: Clues, n_folds: int, rng: np.random.Generator) -> Iterator[Bools]:
    """Masks of rows to be silent about, such that every row a clue speaks of is in one of them.

    What goes together in `splits` goes together here. Classes and rows with many clues are spread evenly over the
    folds. Fewer folds come than were asked for where there are not so many rows apart, and none where a fold would
    take every clue.
    """
    touched = mentions(clues)
    if not len(touched):
        return
    unit = _units(clues, touched, 1 / n_folds)
    count = int(unit.max()) + 1
    held = np.bincount(unit[touched].ravel(), minlength=count)
    named = np.full(count, -1)
    named[unit[clues.labels >= 0]] = clues.labels[clues.labels >= 0]
    order = np.lexsort((rng.random(count), -held, named))
    order = order[held[order] > 0]
    fold = np.full(count, -1)
    fold[order] = np.arange(len(order)) % n_folds
    for number in range(min(n_folds, len(order))):
        rows = fold[unit] == number
        if not _touching(touched, rows).all():
            yield rows


def mentions(clues: Clues) -> Ints:
    """The rows that each clue speaks of, two per clue; members of groups and labelled rows count each.

    A group of one row says nothing, so it is not counted.
    """
    single = [np.flatnonzero(clues.labels >= 0)]
    single += [np.flatnonzero(np.append(g.sizes > 1, False)[g.codes]) for g in (*clues.together, *clues.apart)]
    single += [np.flatnonzero(clues.partition_codes(t) >= 0) for t in range(len(clues.partitions))]
    alone = np.concatenate(single)
    return np.concatenate([clues.must, clues.cannot, np.column_stack([alone, alone])])


def _units(clues: Clues, touched: Ints, test_size: float) -> Ints:
    """What is held out as a whole: must-link components; single rows of those that hold too many clues."""
    component = clues.only(["must", "together"]).components
    first, second = component[touched].T
    count = int(component.max()) + 1
    held = np.bincount(first, minlength=count) + np.bincount(second[second != first], minlength=count)
    large = held[component] > test_size * len(touched)
    unit = np.where(large, count + np.arange(clues.n), component)
    return np.unique(unit, return_inverse=True)[1]


def without(clues: Clues, rows: Bools) -> Clues:
    """The clues that do not touch these rows; bounds on sizes speak of all rows and stay."""
    names = {"together": clues.together, "apart": clues.apart}
    groups = {kind: [_silent(group, rows) for group in columns] for kind, columns in names.items()}
    rest = clues.subset(
        must=~_touching(clues.must, rows),
        cannot=~_touching(clues.cannot, rows),
        labels=~rows,
        partitions=[~rows for _ in clues.partitions],
        sizes=True,
        avoid=True,
    )
    return rest | Clues(clues.n, together=groups["together"], apart=groups["apart"])


def demands(clues: Clues) -> Clues:
    """What is asked for, not evidence: bounds on sizes, clusterings to avoid, links and groups of infinite weight."""
    return clues.subset(
        must=np.isinf(clues.must_weight),
        cannot=np.isinf(clues.cannot_weight),
        together=[np.isinf(group.weights) for group in clues.together],
        apart=[np.isinf(group.weights) for group in clues.apart],
        sizes=True,
        avoid=True,
    )


def _touching(pairs: Ints, rows: Bools) -> Bools:
    return rows[pairs[:, 0]] | rows[pairs[:, 1]]


def _silent(group: Groups, rows: Bools) -> Groups:
    codes = np.where(rows, -1, group.codes).astype(np.int32)
    return Groups(codes, group.weights, group.names, group.source).among(np.arange(len(codes)))


def about(clues: Clues, rows: Bools) -> Clues:
    """The clues that touch these rows; a group that does is there as a whole."""

    def met(columns: tuple[Groups, ...]) -> list[Bools]:
        return [np.bincount(g.codes[rows & (g.codes >= 0)], minlength=len(g.weights)) > 0 for g in columns]

    return clues.subset(
        must=_touching(clues.must, rows),
        cannot=_touching(clues.cannot, rows),
        labels=rows,
        together=met(clues.together),
        apart=met(clues.apart),
        partitions=[rows for _ in clues.partitions],
    )


def kept_shares(labels: Ints, clues: Clues, rows: Bools) -> dict[str, float]:
    """Share of the clues about these rows that a clustering keeps, by kind.

    Which cluster belongs to which class is decided by all labels: a handful of rows would always find some
    matching that suits them.
    """
    held = about(clues, rows)
    shares = satisfaction(labels, held)
    if "labels" in shares:
        astray = broken(labels, clues.only(["labels"])).labels >= 0
        shares["labels"] = 1.0 - float(astray[held.labels >= 0].mean())
    return shares
