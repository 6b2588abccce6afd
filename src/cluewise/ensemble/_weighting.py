"""Weights of partitions on the simplex, moved by pairs of rows that belong together or do not [Yi2015]_."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats
from cluewise.core.threads import map_blocks
from cluewise.ensemble._simplex import project
from cluewise.kernels import consensus

__all__ = ["Ends", "Solved", "closed_form", "losses", "minimize", "violations"]

MAX_STEPS = 1000
SMALLEST_STEP = 1e-10
LINES, PAIRS = 32, 4096
"""Lines of a matrix, and pairs, that are counted at once."""

CALM = 5
"""Steps without a change of the support after which the minimum on it is tried."""


class Ends(NamedTuple):
    """Clusters of the two ends of pairs in every partition, and the weights of the pairs."""

    first: Array  # (p, m)
    second: Array  # (p, m)
    weight: Floats  # (p,)


class Solved(NamedTuple):
    """Weights, and the objective after every step, the start included."""

    gamma: Floats
    trace: list[float]


def violations(must: Ends, cannot: Ends) -> Floats:
    """E of Eq. (11): the weight of the pairs that each partition violates."""
    split = must.weight @ (must.first != must.second)
    joined = cannot.weight @ (cannot.first == cannot.second)
    return np.asarray(split + joined, dtype=np.float64)


def losses(must: Ends, cannot: Ends) -> Floats:
    """A = Σ UUᵀ over must-links + Σ VVᵀ over cannot-links, (m, m): γᵀAγ is the loss of the pairs (Eq. 8).

    Eqs. (4)–(6) of the paper print the two losses the wrong way round: ‖F_i − F_j‖² belongs to must-links.
    """
    m = must.first.shape[1]
    total = np.zeros((m, m))
    for ends, sign in ((must, -1), (cannot, 1)):
        # Pairs of one weight are counted in whole numbers.
        for weight in np.unique(ends.weight):
            mine = ends.weight == weight
            total += weight * _agreements(ends.first[mine], ends.second[mine], sign)
    return total


def _agreements(first: Array, second: Array, sign: int) -> Floats:
    """The sum of the matrices of some pairs: the part right of the diagonal is counted, the rest mirrored."""
    m = first.shape[1]
    counts = np.zeros((m, m))
    typed: Any = np.int32(sign)

    def work(start: int) -> None:
        a, b = (np.ascontiguousarray(side[:, start:]) for side in (first, second))
        some = np.zeros((min(LINES, m - start), m - start), dtype=np.int32)
        for p in range(0, len(a), PAIRS):  # Ctrl-C is heard between two calls
            consensus.add_agreements(a[p : p + PAIRS], b[p : p + PAIRS], typed, some)
        counts[start : start + LINES, start:] = some

    for _ in map_blocks(work, range(0, m, LINES)):
        continue
    right = np.triu(counts, 1)
    return right + right.T + np.diag(np.diag(counts))


def closed_form(anchor: Floats, violated: Floats, rate: float) -> Floats:
    """The relaxed update: Proj(anchor − C / (2λ) e), the limit of the steps of Eq. (11); ``rate`` is C / (2λ)."""
    return project(anchor - rate * violated)


def minimize(loss: Floats, anchor: Floats, inertia: float, start: Floats, rate: float | None = None) -> Solved:
    """The weights with the least γᵀAγ + λ‖γ − anchor‖² (Eq. 8), by projected gradient steps from ``start``.

    A step goes against ∇f = 2(Aγ + λ(γ − anchor)) by ``rate``; 1/L by default, for which f never rises. Once the
    support stands still its own minimum is tried: it is taken if f falls, and ends the search if nothing else
    wants a weight.
    """
    if rate is None:
        rate = 1 / max(_curvature(loss, inertia), np.finfo(np.float64).tiny)
        steps = MAX_STEPS
    else:
        steps = CALM  # a rate of one's own is for looking at single steps
    gamma, trace, calm = start, [value(loss, anchor, inertia, start)], 0
    for _ in range(steps):
        new = project(gamma - rate * _slope(loss, anchor, inertia, gamma))
        calm = calm + 1 if ((new > 0) == (gamma > 0)).all() else 0
        moved = np.abs(new - gamma).max()
        gamma = new
        trace.append(value(loss, anchor, inertia, gamma))
        if calm == CALM or moved < SMALLEST_STEP:
            calm = 0
            better = _on_support(loss, anchor, inertia, gamma)
            lower = value(loss, anchor, inertia, better)
            if lower < trace[-1]:
                moved = np.abs(better - gamma).max()
                gamma = better
                trace.append(lower)
            if moved < SMALLEST_STEP or _optimal(loss, anchor, inertia, gamma):
                break
    return Solved(gamma, trace)


def value(loss: Floats, anchor: Floats, inertia: float, gamma: Floats) -> float:
    """The objective of Eq. (8)."""
    return float(gamma @ loss @ gamma + inertia * np.square(gamma - anchor).sum())


def _slope(loss: Floats, anchor: Floats, inertia: float, gamma: Floats) -> Floats:
    return 2 * (loss @ gamma + inertia * (gamma - anchor))


def _curvature(loss: Floats, inertia: float) -> float:
    """L: an upper bound of the curvature along the simplex, where the part of A that is constant plays no role."""
    rows = loss.mean(axis=1)
    centered = loss - rows[:, None] - rows + rows.mean()
    return float(2 * (min(np.abs(centered).sum(axis=1).max(), np.linalg.norm(centered)) + inertia))


def _on_support(loss: Floats, anchor: Floats, inertia: float, gamma: Floats) -> Floats:
    """The minimum among weights with the same support and sum 1, brought back to the simplex."""
    mine = np.flatnonzero(gamma > 0)
    size = len(mine)
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = 2 * (loss[np.ix_(mine, mine)] + inertia * np.eye(size))
    system[size, :size] = system[:size, size] = 1
    try:
        found = np.linalg.solve(system, np.append(2 * inertia * anchor[mine], 1.0))[:size]
    except np.linalg.LinAlgError:
        return gamma
    new = np.zeros_like(gamma)
    new[mine] = found
    return project(new) if np.isfinite(found).all() else gamma


def _optimal(loss: Floats, anchor: Floats, inertia: float, gamma: Floats) -> bool:
    """The conditions of a minimum: the slope is equal on the support and nowhere smaller."""
    slope = _slope(loss, anchor, inertia, gamma)
    mine = slope[gamma > 0]
    tolerance = 1e-9 * (1 + np.abs(slope).max())
    return bool(mine.max() - mine.min() <= tolerance and slope.min() >= mine.min() - tolerance)
