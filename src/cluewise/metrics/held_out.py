"""Hold out clues, and score how well a clustering predicts them.

Clues are held out by rows: every clue that touches one of these rows is held out, so that the remaining clues do not
entail it. A clustering is scored by the share of held-out clues that it keeps (`kept_shares`), or by its adjusted Rand
index on the pairs of rows that the held-out clues relate (`count_pairs`, then `score_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues, Groups
from cluewise.metrics._satisfaction import broken, satisfaction, separate_noise

__all__ = [
    "Estimate",
    "count_pairs",
    "draw_splits",
    "jackknife",
    "jackknife_error",
    "kept_shares",
    "leave_out",
    "list_mentions",
    "make_folds",
    "score_pairs",
    "select_about",
    "select_demands",
]


def draw_splits(clues: Clues, n_splits: int, test_size: float, rng: np.random.Generator) -> Iterator[Bools]:
    """Draw masks of rows, each touched by about ``test_size`` of the clues.

    Rows joined by must-links are drawn together, except in components so large that most clues would go with them.
    Yields fewer masks than requested, or none, where a mask would touch every clue.
    """
    mentions = list_mentions(clues)
    if not len(mentions):
        return
    unit = _find_units(clues, mentions, test_size)
    target = max(1, round(test_size * len(mentions)))
    for _ in range(n_splits):
        rank = rng.permutation(int(unit.max()) + 1)
        # A clue is held out as soon as one of its rows is; both ends of a label are the same row.
        turn = rank[unit[mentions]].min(axis=1)
        last = np.partition(turn, target - 1)[target - 1]
        if (turn > last).any():
            yield rank[unit] <= last


def make_folds(clues: Clues, n_folds: int, rng: np.random.Generator) -> Iterator[Bools]:
    """Divide the rows that clues mention into folds, and yield the mask of each.

    Rows that go together in `draw_splits` go together here. Classes and rows with many clues are spread evenly over the
    folds. Yields fewer folds where there are fewer separate rows, and leaves out a fold that touches every clue.
    """
    mentions = list_mentions(clues)
    if not len(mentions):
        return
    unit = _find_units(clues, mentions, 1 / n_folds)
    count = int(unit.max()) + 1
    load = np.bincount(unit[mentions].ravel(), minlength=count)
    label = np.full(count, -1)
    label[unit[clues.labels >= 0]] = clues.labels[clues.labels >= 0]
    order = np.lexsort((rng.random(count), -load, label))
    order = order[load[order] > 0]
    fold = np.full(count, -1)
    fold[order] = np.arange(len(order)) % n_folds
    for number in range(min(n_folds, len(order))):
        rows = fold[unit] == number
        if not _touch(mentions, rows).all():
            yield rows


def list_mentions(clues: Clues) -> Ints:
    """List the two rows of each clue; a labeled row or a member of a group is a clue whose two rows are the same.

    A group of one row says nothing, so it is left out.
    """
    single = [np.flatnonzero(clues.labels >= 0)]
    single += [np.flatnonzero(np.append(g.sizes > 1, False)[g.codes]) for g in (*clues.together, *clues.apart)]
    single += [np.flatnonzero(clues.partition_codes(t) >= 0) for t in range(len(clues.partitions))]
    alone = np.concatenate(single)
    return np.concatenate([clues.must, clues.cannot, np.column_stack([alone, alone])])


def _find_units(clues: Clues, mentions: Ints, test_size: float) -> Ints:
    """What is held out as a whole: must-link components; single rows of components with too many clues."""
    component = clues.only(["must", "together"]).components
    first, second = component[mentions].T
    count = int(component.max()) + 1
    load = np.bincount(first, minlength=count) + np.bincount(second[second != first], minlength=count)
    large = load[component] > test_size * len(mentions)
    unit = np.where(large, count + np.arange(clues.n), component)
    return np.unique(unit, return_inverse=True)[1]


def leave_out(clues: Clues, rows: Bools) -> Clues:
    """Select the clues that do not touch these rows; bounds on sizes concern all rows and stay."""

    def shrink(group: Groups) -> Groups:
        codes = np.where(rows, -1, group.codes).astype(np.int32)
        return Groups(codes, group.weights, group.names, group.source).among(np.arange(len(codes)))

    rest = clues.subset(
        must=~_touch(clues.must, rows),
        cannot=~_touch(clues.cannot, rows),
        labels=~rows,
        partitions=[~rows for _ in clues.partitions],
        sizes=True,
        avoid=True,
    )
    return rest | Clues(clues.n, together=[*map(shrink, clues.together)], apart=[*map(shrink, clues.apart)])


def select_about(clues: Clues, rows: Bools) -> Clues:
    """Select the clues that touch these rows; a group is selected as a whole."""

    def touched(columns: tuple[Groups, ...]) -> list[Bools]:
        return [np.bincount(g.codes[rows & (g.codes >= 0)], minlength=len(g.weights)) > 0 for g in columns]

    return clues.subset(
        must=_touch(clues.must, rows),
        cannot=_touch(clues.cannot, rows),
        labels=rows,
        together=touched(clues.together),
        apart=touched(clues.apart),
        partitions=[rows for _ in clues.partitions],
    )


def select_demands(clues: Clues) -> Clues:
    """Select what is required rather than evidence: sizes, clusterings to avoid, links of infinite weight."""
    return clues.subset(
        must=np.isinf(clues.must_weight),
        cannot=np.isinf(clues.cannot_weight),
        together=[np.isinf(group.weights) for group in clues.together],
        apart=[np.isinf(group.weights) for group in clues.apart],
        sizes=True,
        avoid=True,
    )


def _touch(pairs: Ints, rows: Bools) -> Bools:
    return rows[pairs[:, 0]] | rows[pairs[:, 1]]


def kept_shares(labels: Ints, clues: Clues, rows: Bools) -> dict[str, float]:
    """Share of the clues about these rows that a clustering keeps, by kind."""
    held = select_about(clues, rows)
    shares = satisfaction(labels, held)
    if "labels" in shares:
        # Classes are matched to clusters by all labels: a handful of rows would always find a matching that fits.
        stray = broken(labels, clues.only(["labels"])).labels >= 0
        shares["labels"] = 1.0 - float(stray[held.labels >= 0].mean())
    return shares


def count_pairs(labels: Ints, clues: Clues, rows: Bools) -> Floats:
    """Count the pairs of rows that clues about ``rows`` relate, by what the clues and the clustering say.

    Returns five numbers: pairs that belong together and are together, belong together and are apart, belong apart and
    are together, belong apart and are apart; and the share of all pairs of rows that are together. A link counts its
    weight. A row with a label, a group or a partition counts as one link, spread over its pairs.
    """
    cluster = np.unique(separate_noise(labels), return_inverse=True)[1]
    largest = _largest_weight(clues)
    same, apart = np.zeros(2), np.zeros(2)  # each: together, apart in the clustering
    for pairs, weight, cells in ((clues.must, clues.must_weight, same), (clues.cannot, clues.cannot_weight, apart)):
        held = _touch(pairs, rows)
        joined = cluster[pairs[:, 0]] == cluster[pairs[:, 1]]
        finite = np.minimum(weight, largest)
        cells += finite[held & joined].sum(), finite[held & ~joined].sum()
    for columns, cells in ((clues.together, same), (clues.apart, apart)):
        for group in columns:
            within, _ = _count_grouped(group.codes, cluster, rows, np.minimum(group.weights, largest))
            cells += _weigh_as_links(group.codes, rows, within)[0]
    for codes in (clues.labels, *(clues.partition_codes(t) for t in range(len(clues.partitions)))):
        within, every = _count_grouped(codes, cluster, rows, None)
        tables = _weigh_as_links(codes, rows, within, every - within)
        same += tables[0]
        apart += tables[1]
    return np.array([*same, *apart, _pairs(np.bincount(cluster)) / max(1.0, _pairs(np.array([len(cluster)])))])


def score_pairs(tables: Floats) -> float:
    """Cohen's kappa of the summed tables of `count_pairs`: the adjusted Rand index restricted to these pairs."""
    same, apart, chance = tables[:, :2].sum(axis=0), tables[:, 2:4].sum(axis=0), float(tables[:, 4].mean())
    # Where all clues say "together", or all say "apart", pairs of any two rows stand in for the other kind. Otherwise
    # a single cluster, or a cluster for each row, would be perfect.
    typical = np.array([chance, 1 - chance])
    if not apart.any():
        apart = same.sum() * typical
    elif not same.any():
        same = apart.sum() * typical
    total = same.sum() + apart.sum()
    if total <= 0:
        return 0.0
    expected, actual = same.sum() / total, (same[0] + apart[0]) / total
    by_chance = expected * actual + (1 - expected) * (1 - actual)
    return float(((same[0] + apart[1]) / total - by_chance) / (1 - by_chance)) if by_chance < 1 else 0.0


def _largest_weight(clues: Clues) -> float:
    """The weight of a hard clue: that of the heaviest soft one."""
    groups: tuple[Groups, ...] = (*clues.together, *clues.apart)
    weights = np.concatenate([clues.must_weight, clues.cannot_weight, *(g.weights for g in groups)])
    return float(weights[np.isfinite(weights)].max(initial=0.0)) or 1.0


def _pairs(counts: Any, weight: Any = 1.0) -> float:
    return float((weight * counts * (counts - 1.0) / 2).sum())


def _count_grouped(codes: Ints, cluster: Ints, rows: Bools, weight: Floats | None) -> tuple[Floats, Floats]:
    """Pairs of known rows that touch ``rows``, (together, apart) in the clustering: within groups, and all of them."""
    within, every = np.zeros(2), np.zeros(2)
    known = codes >= 0
    # Pairs that touch ``rows`` are all pairs less those among the other rows: no pair is ever listed.
    for members, sign in ((known, 1.0), (known & ~rows, -1.0)):
        group, own = codes[members].astype(np.int64), cluster[members]
        cells, count = np.unique(group * (len(cluster) + 1) + own, return_counts=True)
        of_cell = 1.0 if weight is None else weight[cells // (len(cluster) + 1)]
        joined = _pairs(count, of_cell)
        sizes = np.bincount(group, minlength=1)
        inside = _pairs(sizes, 1.0 if weight is None else np.append(weight, 0.0)[: len(sizes)])
        within += sign * np.array([joined, inside - joined])
        together = _pairs(np.bincount(own, minlength=1))
        every += sign * np.array([together, _pairs(np.array([len(own)])) - together])
    return within, every


def _weigh_as_links(codes: Ints, rows: Bools, *tables: Floats) -> list[Floats]:
    """Scale tables so that each held-out member counts as one link."""
    total = sum(float(table.sum()) for table in tables)
    held = int(np.count_nonzero((codes >= 0) & rows))
    return [table * (held / total if total > 0 else 0.0) for table in tables]


class Estimate(NamedTuple):
    """A score over all folds, and the score with each fold left out."""

    score: float
    less: Floats  # (folds,)

    @property
    def error(self) -> float:
        """Standard error of the score."""
        return jackknife_error(self.less)


def jackknife(statistic: Callable[[Any], float], folds: Sequence[Any]) -> Estimate:
    """Compute a statistic of all folds, and of all folds but one."""
    whole = np.asarray(folds, dtype=np.float64)
    less = [statistic(np.delete(whole, i, axis=0)) for i in range(len(whole))] if len(whole) > 1 else []
    return Estimate(statistic(whole), np.array(less))


def jackknife_error(less: Floats) -> float:
    """Standard error of a score, or of the difference of two scores on the same folds; 0 for a single fold."""
    n = len(less)
    if n < 2:
        return 0.0
    variance = (n - 1) / n * float(((less - less.mean()) ** 2).sum())
    # The fits of different folds share most of their clues, so the jackknife alone is too optimistic. Nadeau and Bengio
    # (2003) replace 1/n by 1/n plus the held-out share over the kept share, which is 1/(n - 1).
    return float(np.sqrt(variance * (1 + n / (n - 1))))
