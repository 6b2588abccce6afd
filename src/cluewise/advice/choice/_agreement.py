"""How well a clustering predicts clues that it was not told: the adjusted Rand index on their pairs of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.clues import Clues, Groups

__all__ = ["Agreement", "agreement", "evidence", "jackknife", "noise_of"]


class Agreement(NamedTuple):
    """A score, and what it is with each fold left out."""

    score: float
    less: Floats  # (folds,)

    @property
    def error(self) -> float:
        """Standard error of the score."""
        return noise_of(self.less)


def jackknife(statistic: Callable[[Any], float], folds: Sequence[Any]) -> Agreement:
    """A statistic of all folds, and of all folds but one."""
    whole = np.asarray(folds, dtype=np.float64)
    less = [statistic(np.delete(whole, i, axis=0)) for i in range(len(whole))] if len(whole) > 1 else []
    return Agreement(statistic(whole), np.array(less))


def noise_of(less: Floats) -> float:
    """Standard error by the jackknife: of a score, or of the difference of two on the same folds; 0 for one fold.

    Folds are fitted with mostly the same clues, so the variance is enlarged as Nadeau and Bengio (2003) propose, by
    held-out share over kept share.
    """
    n = len(less)
    if n < 2:
        return 0.0
    variance = (n - 1) / n * float(((less - less.mean()) ** 2).sum())
    return float(np.sqrt(variance * (1 + n / (n - 1))))


def evidence(labels: Ints, clues: Clues, rows: Bools) -> Floats:
    """Pairs of rows of which clues about ``rows`` say something, by what the clues and the clustering say.

    Five numbers: belong together and are together, belong together and are apart, belong apart and are together,
    belong apart and are apart; and the share of all pairs of rows that are together. A link counts its weight. A row
    that a label, a group or a partition speaks of counts as one link, spread over its pairs.
    """
    cluster = _each_noise_row_alone(labels)
    largest = _largest_weight(clues)
    same, apart = np.zeros(2), np.zeros(2)  # together, apart in the clustering
    for pairs, weight, cells in (
        (clues.must, clues.must_weight, same),
        (clues.cannot, clues.cannot_weight, apart),
    ):
        held = rows[pairs[:, 0]] | rows[pairs[:, 1]]
        joined = cluster[pairs[:, 0]] == cluster[pairs[:, 1]]
        finite = np.minimum(weight, largest)
        cells += finite[held & joined].sum(), finite[held & ~joined].sum()
    for columns, cells in ((clues.together, same), (clues.apart, apart)):
        for group in columns:
            within, _ = _grouped(group.codes, cluster, rows, np.minimum(group.weights, largest))
            cells += _as_links(group.codes, rows, within)[0]
    for codes in (clues.labels, *(clues.partition_codes(t) for t in range(len(clues.partitions)))):
        within, every = _grouped(codes, cluster, rows, None)
        found = _as_links(codes, rows, within, every - within)
        same += found[0]
        apart += found[1]
    return np.array([*same, *apart, _pairs(np.bincount(cluster)) / max(1.0, _pairs(np.array([len(cluster)])))])


def agreement(tables: Floats) -> float:
    """Cohen's kappa of the summed table of pairs, which is the adjusted Rand index restricted to these pairs.

    Where all clues say "together", or all say "apart", any two rows stand in for the other kind: else one cluster for
    all, or a cluster for each row, would be perfect.
    """
    same, apart, chance = tables[:, :2].sum(axis=0), tables[:, 2:4].sum(axis=0), float(tables[:, 4].mean())
    anyone = np.array([chance, 1 - chance])
    if not apart.any():
        apart = same.sum() * anyone
    elif not same.any():
        same = apart.sum() * anyone
    total = same.sum() + apart.sum()
    if total <= 0:
        return 0.0
    should, does = same.sum() / total, (same[0] + apart[0]) / total
    by_chance = should * does + (1 - should) * (1 - does)
    return float(((same[0] + apart[1]) / total - by_chance) / (1 - by_chance)) if by_chance < 1 else 0.0


def _each_noise_row_alone(labels: Ints) -> Ints:
    found, codes = np.unique(labels, return_inverse=True)
    noise = labels == UNASSIGNED
    codes[noise] = len(found) + np.arange(np.count_nonzero(noise))
    return np.unique(codes, return_inverse=True)[1]


def _largest_weight(clues: Clues) -> float:
    """What a hard clue counts: as much as the weightiest soft one."""
    groups: tuple[Groups, ...] = (*clues.together, *clues.apart)
    weights = np.concatenate([clues.must_weight, clues.cannot_weight, *(g.weights for g in groups)])
    finite = weights[np.isfinite(weights)]
    return float(finite.max()) if len(finite) and finite.max() > 0 else 1.0


def _pairs(counts: Any, weight: Any = 1.0) -> float:
    return float((weight * counts * (counts - 1.0) / 2).sum())


def _grouped(codes: Ints, cluster: Ints, rows: Bools, weight: Floats | None) -> tuple[Floats, Floats]:
    """Pairs of known rows that touch ``rows``, (together, apart) in the clustering: within groups, and all of them."""
    within, every = np.zeros(2), np.zeros(2)
    known = codes >= 0
    for members, sign in ((known, 1.0), (known & ~rows, -1.0)):
        group, own = codes[members].astype(np.int64), cluster[members]
        cells, count = np.unique(group * (len(cluster) + 1) + own, return_counts=True)
        of_cell = 1.0 if weight is None else weight[cells // (len(cluster) + 1)]
        joined = _pairs(count, of_cell)
        sizes = np.bincount(group, minlength=1)
        inside = _pairs(sizes, 1.0 if weight is None else np.append(weight, 0.0)[: len(sizes)])
        within += sign * np.array([joined, inside - joined])
        met = _pairs(np.bincount(own, minlength=1))
        every += sign * np.array([met, _pairs(np.array([len(own)])) - met])
    return within, every


def _as_links(codes: Ints, rows: Bools, *tables: Floats) -> list[Floats]:
    """Tables scaled so that each held-out member counts as one link."""
    total = sum(float(table.sum()) for table in tables)
    held = int(np.count_nonzero((codes >= 0) & rows))
    return [table * (held / total if total > 0 else 0.0) for table in tables]
