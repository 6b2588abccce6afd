"""Plain NumPy twins of ``kernels.gibbs``: same names, same signatures, obvious code."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["choose_side", "draw", "vacancy", "visit_given"]


def draw(
    i: int,
    uniform: float,
    labels: Ints,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
    together: Floats,
    score: Floats,
) -> int:
    """Softmax of the scores, then the first place where the cumulated probabilities exceed the random number."""
    mine = slice(indptr[i], indptr[i + 1])
    slots, clues = labels[neighbor[mine]], report[mine]
    slots, clues = slots[slots >= 0], clues[slots >= 0]
    np.add.at(score, slots, pull[clues])
    score[:] = np.exp(score - score.max())
    score /= score.sum()
    np.add.at(together, clues, score[slots])
    possible = np.flatnonzero(score > 0)
    place = int(np.searchsorted(np.cumsum(score[possible]), uniform, side="right"))
    return int(possible[min(place, len(possible) - 1)])


def vacancy(counts: Ints, own: int) -> tuple[int, int]:
    """Take the row away and look."""
    left = counts.copy()
    if own >= 0:
        left[own] -= 1
    free = np.flatnonzero(left == 0)
    if own in free:
        return own, int(np.count_nonzero(left))
    return (int(free[0]) if len(free) else -1), int(np.count_nonzero(left))


def visit_given(
    known: Floats,
    fresh: Floats,
    rows: Ints,
    start: int,
    uniforms: Floats,
    labels: Ints,
    counts: Ints,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
    together: Floats,
    limit: int,
) -> int:
    """One row after the other; −∞ where there is no cluster."""
    for r in range(start, len(rows)):
        i = rows[r]
        if labels[i] >= 0:
            counts[labels[i]] -= 1
        with np.errstate(divide="ignore"):
            score = np.append(np.log(counts) + known[r], fresh[r])
        score[:-1][counts == 0] = -np.inf
        if np.count_nonzero(counts) >= limit:
            score[-1] = -np.inf
        chosen = draw(i, uniforms[r], labels, indptr, neighbor, report, pull, together, score)
        if chosen == len(counts):
            labels[i] = -1
            return r
        labels[i] = chosen
        counts[chosen] += 1
    return len(rows)


def choose_side(
    i: int,
    wanted: int,
    uniform: float,
    side: Ints,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
    score: Floats,
) -> tuple[int, float, float]:
    """Softmax of the first two scores."""
    mine = slice(indptr[i], indptr[i + 1])
    place, gain = side[neighbor[mine]], pull[report[mine]]
    score += gain[place == 0].sum(), gain[place == 1].sum(), gain[place >= 0].sum()
    chance = score[:2] - np.logaddexp(score[0], score[1])
    chosen = wanted if wanted >= 0 else int(uniform >= np.exp(chance[0]))
    return chosen, float(chance[chosen]), float(score[chosen] - score[2])
