"""Large margins: targets, impostors, and the loss of a linear map.

Rows of one must-link component are a class. Of all rows that a row must be apart from, only impostors within the margin
of its targets count. Candidates are found in blocks by matrix products in single precision, with a margin for rounding,
and then measured in double precision, so the result does not depend on the block size or on rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.threads import map_blocks
from cluewise.exceptions import ClueError

__all__ = ["Neighborhoods", "loss", "neighborhoods", "to_targets"]

MARGIN = 1.0

EDGES = 10**7
"""Maximum number of pairs of components that must be apart."""

DENSE = 1024
"""Number of pairs of rows from which a matrix product is faster than a list."""

BLOCK = 2**19
"""Number of distances in memory at once, per thread."""


WAITING = 2**21
"""Number of pairs whose forces are added up at once."""


class Neighborhoods(NamedTuple):
    """Targets of the rows with clues, and the rows that they must be apart from."""

    rows: Ints  # (t,) their numbers in X
    X: Floats  # (t, d) float64, relative to their mean
    targets: Ints  # (t, k) indices of the targets; the index of the row itself where there are fewer than k
    has: Bools  # (t, k) whether there is a target
    listed: Ints  # (m, 2) indices of rows that must be apart
    blocks: list[tuple[Ints, Ints]]  # indices of rows, and of those that they all must be apart from


def neighborhoods(X: Floats, clues: Clues, k: int) -> Neighborhoods:
    """Targets by Euclidean distance, and rows that must be apart; other rows are left out."""
    component, count = clues.components, clues.n_components
    sizes = np.bincount(component, minlength=count)
    low, high = _edges(clues)
    bound = (sizes[low] > 1) | (sizes[high] > 1)  # two single rows have no targets, so they are no impostors
    low, high = low[bound], high[bound]
    concerned = sizes > 1
    concerned[low] = concerned[high] = True
    rows = np.flatnonzero(concerned[component])
    rows = rows[np.argsort(component[rows], kind="stable")]
    number = np.cumsum(concerned) - 1
    sizes, low, high = sizes[concerned], number[low], number[high]
    begin = np.cumsum(sizes) - sizes
    x = X[rows].astype(np.float64)
    x -= x.mean(axis=0) if len(x) else 0.0
    most = max(int(sizes.max(initial=0)) - 1, 1)  # maximum number of targets of a row
    targets, has = _targets(x, sizes, begin, min(k, most))
    return Neighborhoods(rows, x, targets, has, *_foes(low, high, sizes, begin))


def _edges(clues: Clues) -> tuple[Ints, Ints]:
    """Pairs of components that must be apart, first number < second number, sorted."""
    graph, cliques = clues.graph, clues.cliques
    first = np.repeat(np.arange(clues.n_components), np.diff(graph.indptr))
    once = first < graph.indices
    lows, highs = [first[once]], [graph.indices[once].astype(np.int64)]
    sizes = np.diff(cliques.indptr)
    total = len(lows[0]) + int((sizes * (sizes - 1) // 2).sum())
    if total > EDGES:
        raise ClueError(f"the clues keep {total} pairs of components apart; the maximum is {EDGES}.")
    for start, end in zip(cliques.indptr, cliques.indptr[1:]):
        members = cliques.members[start:end].astype(np.int64)
        i, j = np.triu_indices(len(members), 1)
        lows.append(members[i])
        highs.append(members[j])
    codes = np.unique(np.concatenate(lows) * clues.n_components + np.concatenate(highs))
    low, high = np.divmod(codes, max(clues.n_components, 1))
    return low, high


def _targets(x: Floats, sizes: Ints, begin: Ints, k: int) -> tuple[Ints, Bools]:
    """The k nearest rows of the same component, or all if there are fewer; ties go to the first."""
    targets = np.repeat(np.arange(len(x))[:, None], k, axis=1)
    has = np.zeros((len(x), k), dtype=bool)
    norms = np.einsum("ij,ij->i", x, x)
    for size, start in zip(sizes[sizes > 1].tolist(), begin[sizes > 1].tolist()):
        own = slice(start, start + size)
        kept = min(k, size - 1)
        step = max(BLOCK // size, 1)
        for first in range(start, start + size, step):
            some = slice(first, min(first + step, start + size))
            squared = norms[some, None] + norms[own] - 2 * (x[some] @ x[own].T)
            squared[np.arange(some.stop - first), np.arange(first, some.stop) - start] = np.inf
            near = np.argsort(squared, axis=1, kind="stable")[:, :kept]
            targets[some, :kept] = start + near
        has[own, :kept] = True
    return targets, has


def _foes(low: Ints, high: Ints, sizes: Ints, begin: Ints) -> tuple[Ints, list[tuple[Ints, Ints]]]:
    """Rows of components that must be apart: as a list of pairs, or as blocks for components with many pairs."""
    pairs = sizes[low] * sizes[high]
    many = np.bincount(low, weights=pairs, minlength=len(sizes)) >= DENSE
    blocks = []
    for c in np.flatnonzero(many):
        foes = _ranges(begin[high[low == c]], sizes[high[low == c]])
        step = max(BLOCK // len(foes), 16)
        own = begin[c] + np.arange(sizes[c])
        blocks += [(own[start : start + step], foes) for start in range(0, len(own), step)]
    few = ~many[low]
    low, high, pairs = low[few], high[few], pairs[few]
    edge = np.repeat(np.arange(len(low)), pairs)
    i, j = np.divmod(_ranges(np.zeros_like(pairs), pairs), sizes[high][edge])
    return np.column_stack([begin[low][edge] + i, begin[high][edge] + j]), blocks


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """Concatenation of several ranges of integers."""
    ends = np.cumsum(lengths)
    return np.arange(int(lengths.sum())) + np.repeat(starts - (ends - lengths), lengths)


def loss(L: Floats, near: Neighborhoods, push: float) -> tuple[float, Callable[[], Floats]]:
    """(1 − μ) Σ d²(i, target) + μ Σ [1 + d²(i, target) − d²(i, impostor)]₊ for the map L, and its gradient."""
    z = near.X @ L.T
    squares = to_targets(z, near)
    reach = squares.max(axis=1, initial=-np.inf) + MARGIN  # impostors of a row are nearer than this
    total = 0.0
    active = np.zeros(near.targets.shape)  # impostors between a row and each of its targets
    forces = _Forces(z)
    for first, second in _close(z, near, reach):
        squared = _squared(z, first, second)
        for owner, other in ((first, second), (second, first)):
            excess = squares[owner] + (MARGIN - squared)[:, None]
            over = excess > 0
            total += float(excess[over].sum())
            for j in range(over.shape[1]):
                active[:, j] += np.bincount(owner[over[:, j]], minlength=len(z))
            count = over.sum(axis=1)
            some = np.flatnonzero(count)
            forces.add(owner[some], other[some], -push * count[some])
    rows, places = np.nonzero(near.has)
    forces.add(rows, near.targets[rows, places], (1 - push) + push * active[rows, places])
    value = (1 - push) * float(squares[near.has].sum()) + push * total
    return value, lambda: 2 * forces.all().T @ near.X


class _Forces:
    """Σ w (z_i − z_j) of every row i over its pairs; the gradient is 2 Σ w (z_i − z_j)(x_i − x_j)ᵀ = 2 (forces)ᵀ X.

    Pairs are collected before they are added up, because one large sparse product is faster than many small ones.
    """

    def __init__(self, z: Floats) -> None:
        self.z = z
        self.sums = np.zeros_like(z)
        self.waiting: list[tuple[Ints, Ints, Floats]] = []
        self.count = 0

    def add(self, first: Ints, second: Ints, weight: Floats) -> None:
        self.waiting.append((first, second, weight))
        self.count += len(first)
        if self.count > WAITING:
            self.all()

    def all(self) -> Floats:
        from scipy.sparse import csr_array

        if self.waiting:
            first, second, weight = (np.concatenate(part) for part in zip(*self.waiting))
            one_way = csr_array((weight, (first, second)), shape=(len(self.z), len(self.z)))
            both = one_way + one_way.T
            self.sums += both.sum(axis=1)[:, None] * self.z - both @ self.z
            self.waiting, self.count = [], 0
        return self.sums


def to_targets(z: Floats, near: Neighborhoods) -> Floats:
    """(t, k) squared distances of rows from their targets; minus infinity without a target."""
    return np.where(near.has, _squared(z, np.arange(len(z))[:, None], near.targets), -np.inf)


def _squared(z: Floats, first: Ints, second: Ints) -> Floats:
    off = z[first] - z[second]
    return np.einsum("...j,...j->...", off, off)


def _close(z: Floats, near: Neighborhoods, reach: Floats) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of rows that must be apart and of which one may be within reach of the other."""
    small = z.astype(np.float32)
    norms = np.einsum("ij,ij->i", z, z)
    # The error of a dot product of r terms in single precision is below r·ε·‖a‖‖b‖ ≤ r·ε·(‖a‖² + ‖b‖²) / 2. Reducing
    # the norms accordingly makes the result a lower bound of the squared distance, so no impostor is missed.
    least = ((1 - (z.shape[1] + 8) * np.finfo(np.float32).eps) * norms).astype(np.float32)
    limit = np.nextafter(reach.astype(np.float32), np.float32(np.inf))

    def work(block: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        rows, foes = block
        squared = (-2 * small[rows]) @ small[foes].T
        squared += least[rows, None]
        squared += least[foes]
        i, j = np.nonzero(squared <= np.maximum(limit[rows, None], limit[foes]))
        return rows[i], foes[j]

    yield from map_blocks(work, near.blocks)
    for start in range(0, len(near.listed), BLOCK):
        some = near.listed[start : start + BLOCK]
        yield some[:, 0], some[:, 1]
