"""What answers say about pairs of rows, and the clusters that contradict them least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from cluewise._typing import Ints
from cluewise.active._dialog import Answer

__all__ = ["Ballot", "ballots_of", "count_misplaced", "find_clusters", "weigh"]

SUREST = 1e-3
"""Minimum error rate, so that an answer has a finite weight."""

SWEEPS = 20
"""Maximum number of sweeps of single moves; most converge after a few."""

OFTEN = 3
"""How often a row must have been sorted to tell whether it was misplaced."""

LEAST = 1e-9
"""Minimum gain of a move, so that rounding errors do not move anything."""

Piles = tuple[tuple[int, ...], ...]


class Ballot(NamedTuple):
    """Piles of rows: those in one pile belong together, those in different piles do not; and who says so."""

    piles: Piles
    who: str = ""


def ballots_of(answers: Iterable[Answer]) -> list[Ballot]:
    """All answers as piles of rows."""
    found: list[Ballot] = []
    first: dict[object, int] = {}  # of each class that was named
    for answer in answers:
        if answer.value is not None and not answer.inferred:
            found += [Ballot(piles, answer.who) for piles in _piles(answer, first)]
    return found


def _piles(answer: Answer, first: dict[object, int]) -> list[Piles]:
    rows, value, kind = answer.question.rows, answer.value, answer.question.kind
    if kind == "group":
        return [value]
    if kind == "pair":
        return [(rows,) if value else ((rows[0],), (rows[1],))]
    if kind == "which":
        # Nobody was asked to compare the choices with each other.
        chosen = None if value is False else value  # False equals row 0
        return [((rows[0], row),) if row == chosen else ((rows[0],), (row,)) for row in rows[1:]]
    # A row is with the first of its class, and apart from the first ones of the others.
    mine = {first.setdefault(value, rows[0]), rows[0]}
    return [(tuple(sorted(mine)), *((row,) for row in first.values() if row not in mine))]


def weigh(ballots: Iterable[Ballot], vertex: Mapping[int, int], rates: Mapping[str, float]) -> sparse.csr_array:
    """Log-odds that two vertices belong together, as the votes say; a symmetric matrix.

    A row is misplaced with a probability, not each of its pairs. So the weights of the pairs of a row with one pile are
    those of one vote, however many rows the pile has. ``rates`` is the error rate of each source.
    """
    m = max(vertex.values(), default=-1) + 1
    cells: dict[tuple[int, int], float] = {}
    for piles, who in ballots:
        e = max(rates[who], SUREST)
        vote = float(np.log((1 - e) * max(len(piles) - 1, 1) / e))
        for a, b, share in _pairs(piles):
            i, j = vertex[a], vertex[b]
            if i != j:
                cells[i, j] = cells.get((i, j), 0.0) + vote * share
    if not cells:
        return sparse.csr_array((m, m))
    half = sparse.coo_array((list(cells.values()), tuple(np.array(list(cells)).T)), shape=(m, m))
    return sparse.csr_array(half + half.T)


def _pairs(piles: Piles) -> Iterator[tuple[int, int, float]]:
    """Each two rows, and the share of a vote that they have; negative if they are apart."""
    for p, pile in enumerate(piles):
        for x, a in enumerate(pile):
            yield from ((a, b, 1.0 / (len(pile) - 1)) for b in pile[x + 1 :])
            for other in piles[p + 1 :]:
                yield from ((a, b, -1.0 / max(len(pile), len(other))) for b in other)


def find_clusters(weights: sparse.csr_array) -> Ints:
    """Clusters with a large sum of weights within them, by moves of single vertices and of whole clusters."""
    labels = np.arange(weights.shape[0])
    while True:
        labels = _move(weights, labels)
        m, count = len(labels), int(labels.max(initial=-1)) + 1
        onto = sparse.csr_array((np.ones(m), (np.arange(m), labels)), shape=(m, count))
        joined = _move(sparse.csr_array(onto.T @ weights @ onto), np.arange(count))
        if int(joined.max(initial=-1)) + 1 == count:
            return labels
        labels = joined[labels]


def _move(weights: sparse.csr_array, labels: Ints) -> Ints:
    """Move one vertex after another to the cluster with the largest sum of weights, or to a new one."""
    mine = labels.tolist()
    free = max(mine, default=-1) + 1
    starts, columns, values = weights.indptr.tolist(), weights.indices.tolist(), weights.data.tolist()
    for _ in range(SWEEPS):
        moved = False
        for v in range(len(mine)):
            sums = {mine[v]: 0.0}
            for x in range(starts[v], starts[v + 1]):
                if columns[x] != v:
                    sums[mine[columns[x]]] = sums.get(mine[columns[x]], 0.0) + values[x]
            best = max(sums, key=lambda c: (sums[c], -c))
            target, gain = (best, sums[best]) if sums[best] >= 0 else (free, 0.0)
            if gain > sums[mine[v]] + LEAST:
                mine[v], moved = target, True
                free += target == free
        if not moved:
            break
    return np.unique(mine, return_inverse=True)[1].reshape(-1)


def count_misplaced(ballots: Sequence[Ballot], cluster: Mapping[int, int]) -> dict[str, tuple[int, int]]:
    """How often a source has put rows into another pile than that of their cluster, and how often into piles at all.

    Each pile is that of one cluster, and each cluster has one pile, by the number of rows they share. Only rows that
    were sorted at least `OFTEN` times count: a row that was sorted once is in the cluster of its pile, right or wrong.
    """
    times = Counter(row for piles, _ in ballots for pile in piles for row in pile)
    found: dict[str, tuple[int, int]] = {}
    for piles, who in ballots:
        shared: dict[tuple[int, int], list[int]] = {}
        for p, pile in enumerate(piles):
            for row in pile:
                shared.setdefault((p, cluster[row]), []).append(row)
        matched_piles: set[int] = set()
        matched_clusters: set[int] = set()
        for (p, c), rows in sorted(shared.items(), key=lambda one: (-len(one[1]), one[0])):
            often = sum(times[row] >= OFTEN for row in rows)
            misplaced = p in matched_piles or c in matched_clusters
            wrong, total = found.get(who, (0, 0))
            found[who] = wrong + often * misplaced, total + often
            if not misplaced:
                matched_piles.add(p)
                matched_clusters.add(c)
    return found
