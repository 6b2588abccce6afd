"""Radius: which rows lie within a given distance of each other, in memory proportional to the number of such pairs.

Few columns: SciPy's k-d tree. Many columns: the rows are split into leaves of a few hundred rows that lie close
together, and leaves whose boxes are near are compared by a matrix product in single precision. The product decides only
pairs that are clearly near or far. Pairs within its rounding error are decided by the differences of their rows, so the
result does not depend on blocks, threads or the BLAS. Sparse rows are treated alike, with products in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.distances.distance_matrix import ROUNDING, require_distances, require_memory
from cluewise.core.threads import map_blocks
from cluewise.kernels import density

__all__ = [
    "Neighbors",
    "close_pairs",
    "neighbors_from_distances",
    "neighbors_within",
    "reorder",
    "require_given_distances",
]

TREE = 6
"""Number of columns up to which the k-d tree is faster."""

LEAF = 256
"""Maximum number of rows in a leaf: the product of two leaves stays in the cache."""

WIDE = 1e6
"""Range of X, in units of the radius, above which products use double precision."""

BLOCK = 2**20
"""Number of distances in a block, for given distances and sparse rows."""

DOUBTFUL = 2**14
"""Number of pairs of sparse rows whose differences are computed at once."""

PAIR = 24
"""Bytes per pair: when found, again when all are concatenated, and in the lists of both rows."""


class Neighbors(NamedTuple):
    """The other rows within the radius of each row: CSR with sorted lists."""

    indptr: Ints  # (n + 1,) int64
    indices: Ints  # int32

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    def mass(self, weight: Floats | None) -> Array:
        """Number, or total weight, of the rows in each neighborhood, counting the row itself."""
        if weight is None:
            return 1 + np.diff(self.indptr)
        from scipy.sparse import csr_array

        ones = np.ones(len(self.indices))
        graph = csr_array((ones, self.indices, self.indptr), shape=(self.n, self.n))
        around: Array = weight + graph @ weight.astype(np.float64)
        return around


def neighbors_within(X: Any, radius: float, limit: float = np.inf) -> Neighbors:
    """Euclidean neighborhoods of the rows of X, dense or sparse; a distance equal to the radius is within it.

    Raises MemoryError if the pairs need more than ``limit`` GiB.
    """
    return Neighbors(*density.neighbor_lists(X.shape[0], close_pairs(X, radius, limit)))


def neighbors_from_distances(distances: Any, radius: float, limit: float = np.inf) -> Neighbors:
    """Neighborhoods from an (n, n) matrix of distances; in a sparse matrix, missing entries are far."""
    if (distances.min() if distances.shape[0] else 0) < 0:
        raise ValueError("X contains a negative distance, which metric='precomputed' does not allow.")
    n = distances.shape[0]
    counts, lists, total = [np.zeros(1, np.int64)], [np.empty(0, np.int32)], 0
    size = max(BLOCK // max(n, 1), 1)
    for start in range(0, n, size):
        rows, columns = _stored_within(distances[start : start + size], radius)
        other = rows + start != columns
        rows, columns = rows[other], columns[other]
        counts.append(np.bincount(rows, minlength=min(size, n - start)))
        lists.append(columns.astype(np.int32))
        total += len(columns)
        _require_room(total // 2, radius, limit)
    return Neighbors(np.cumsum(np.concatenate(counts)), np.concatenate(lists))


def require_given_distances(D: Any) -> None:
    """Raise ValueError unless D is square, nonnegative and symmetric, with a zero diagonal."""
    if isinstance(D, np.ndarray):
        require_distances(D)
        return
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"metric='precomputed' needs a square matrix of distances; X has shape {D.shape}.")
    slack = ROUNDING * float(abs(D).max())
    own = np.flatnonzero(np.abs(D.diagonal()) > slack)
    for bad, why in (
        ((D < 0).nonzero(), "is negative"),
        ((abs(D - D.T) > slack).nonzero(), "differs from its mirror image"),
        ((own, own), "is the distance of a row from itself and must be zero"),
    ):
        if len(bad[0]):
            first = np.lexsort(bad[::-1])[0]
            raise ValueError(
                f"X is not a distance matrix: the entry in row {bad[0][first]}, column {bad[1][first]} {why}."
            )


def _stored_within(block: Any, radius: float) -> tuple[Ints, Ints]:
    """Rows and columns of the distances in a block that are at most the radius, sorted by row, then column."""
    if isinstance(block, np.ndarray):
        rows, columns = np.nonzero(block <= radius)
        return rows, columns
    block = block.tocsr()
    rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    near = block.data <= radius
    rows, columns = rows[near], block.indices[near]
    order = np.lexsort((columns, rows))
    return rows[order], columns[order]


def reorder(neighbors: Neighbors, order: Ints) -> Neighbors:
    """Renumber the rows: row ``order[r]`` becomes row r."""
    rank = np.empty(neighbors.n, dtype=np.int32)
    rank[order] = np.arange(neighbors.n, dtype=np.int32)
    sizes = np.diff(neighbors.indptr)
    row = np.repeat(rank, sizes)
    column = rank[neighbors.indices]
    place = np.lexsort((column, row))
    return Neighbors(np.concatenate([[0], np.cumsum(sizes[order])]), column[place])


def _require_room(pairs: int, radius: float, limit: float) -> None:
    what = f"{pairs} or more pairs of rows within eps={radius:g}"
    require_memory(PAIR * pairs, limit, what, "use a smaller eps, fewer rows or a larger memory_limit")


def close_pairs(X: Any, radius: float, limit: float = np.inf) -> Ints:
    """(m, 2) array of all pairs of rows at most the radius apart, each once, in arbitrary order."""
    n = X.shape[0]
    if not isinstance(X, np.ndarray):
        return _gather(*_sparse_search(X, radius), radius, limit)
    if X.shape[1] <= TREE or radius == 0:
        from scipy.spatial import cKDTree

        # The tree is searched only once: a balanced tree with tight boxes would take longer to build than it saves.
        tree = cKDTree(X, balanced_tree=False, compact_nodes=False)
        if PAIR * n * (n - 1) / 2 > limit * 2**30:
            _require_room(_pairs_in_tree(tree, radius, limit), radius, limit)
        pairs: Ints = tree.query_pairs(radius, output_type="ndarray")
        return pairs
    order, cuts = leaves(X)
    boxes = np.stack([extreme.reduceat(X[order], cuts[:-1]) for extreme in (np.minimum, np.maximum)], axis=1)
    wide = float((boxes[:, 1].max(axis=0) - boxes[:, 0].min(axis=0)).max()) > WIDE * radius
    dtype = np.float64 if wide else np.float32

    def work(a: int) -> Ints:
        return _pairs_of_leaf(X, radius, order, cuts, boxes, a, dtype)

    return _gather(work, range(len(cuts) - 1), radius, limit)


def _pairs_in_tree(tree: Any, radius: float, limit: float) -> int:
    """Number of pairs within the radius: estimated from a sample, and counted if they may be too many."""
    sample = np.random.default_rng(0).choice(tree.n, size=min(tree.n, 1000 + tree.n // 200), replace=False)
    around = tree.query_ball_point(tree.data[sample], radius, return_length=True)
    expected = int((float(around.mean()) - 1) * tree.n / 2)
    if PAIR * expected < limit * 2**30 / 4:  # counting takes as long as searching
        return expected
    return (int(tree.count_neighbors(tree, radius)) - tree.n) // 2


def _gather(work: Callable[[int], Ints], blocks: range, radius: float, limit: float) -> Ints:
    """Concatenate the pairs of all blocks; raise MemoryError as soon as they are too many."""
    found: list[Ints] = [np.empty((0, 2), dtype=np.int32)]
    total = 0
    for pairs in map_blocks(work, blocks):
        found.append(pairs)
        total += len(pairs)
        _require_room(total, radius, limit)
    return np.concatenate(found)


def _sparse_search(X: Any, radius: float) -> tuple[Callable[[int], Ints], range]:
    """A function that finds the close pairs of a block of sparse rows, and the first rows of the blocks."""
    from scipy.sparse import csr_array

    x = csr_array(X, dtype=np.float64)
    across = csr_array(x.T)
    norms = np.asarray(x.multiply(x).sum(axis=1)).ravel()
    unit = (int(np.diff(x.indptr).max(initial=0)) + 8) * np.finfo(np.float64).eps
    size = max(BLOCK // max(x.shape[0], 1), 1)

    def work(start: int) -> Ints:
        mine = x[start : start + size]
        both = norms[start : start + size, None] + norms
        excess = both - 2 * (mine @ across).toarray() - radius**2
        slack = unit * (both + radius**2)  # bound on the rounding error of excess
        i, j = np.nonzero(excess <= slack)
        later = i + start < j
        i, j = i[later], j[later]
        near = excess[i, j] < -slack[i, j]
        doubtful = np.flatnonzero(~near)
        for begin in range(0, len(doubtful), DOUBTFUL):
            some = doubtful[begin : begin + DOUBTFUL]
            gap = mine[i[some]] - x[j[some]]
            near[some] = np.asarray(gap.multiply(gap).sum(axis=1)).ravel() <= radius**2
        return np.column_stack([i + start, j])[near].astype(np.int32)

    return work, range(0, x.shape[0], size)


def leaves(X: Floats) -> tuple[Ints, Ints]:
    """An order of the rows and its cuts into leaves, by repeated halving along the widest column."""
    order = np.arange(len(X))
    cuts = [0]
    waiting = [(0, len(X))]
    while waiting:
        start, stop = waiting.pop()
        if stop - start <= LEAF:
            cuts.append(stop)
            continue
        rows = order[start:stop]
        x = X[rows]
        column = x[:, np.argmax(x.max(axis=0) - x.min(axis=0))]
        middle = (stop - start) // 2
        order[start:stop] = rows[np.argpartition(column, middle)]
        waiting += [(start + middle, stop), (start, start + middle)]
    return order, np.array(cuts)


def _pairs_of_leaf(X: Floats, radius: float, order: Ints, cuts: Ints, boxes: Floats, a: int, dtype: Any) -> Ints:
    """Close pairs with a first row in leaf ``a`` and a second one in it or in a later leaf."""
    low, high = boxes[a:, 0].astype(np.float64), boxes[a:, 1].astype(np.float64)
    gap = np.maximum(np.maximum(low - high[0], low[0] - high), 0)
    # Rounding errors of the boxes must not exclude a leaf.
    near = a + np.flatnonzero(np.einsum("ij,ij->i", gap, gap) <= radius**2 * (1 + 1e-9))
    middle = 0.5 * (low[0] + high[0])  # norms, and with them rounding errors, are small relative to this point
    mine = order[cuts[a] : cuts[a + 1]]
    x = X[mine]
    u, norms = _scale(x, middle, radius, dtype)
    unit = (X.shape[1] + 8) * np.finfo(dtype).eps
    found = [np.empty((0, 2), dtype=np.int32)]
    for b in near:
        yours = order[cuts[b] : cuts[b + 1]]
        y = X[yours]
        v, other_norms = (u, norms) if b == a else _scale(y, middle, radius, dtype)
        # |error| ≤ (d + 8)·ε·(‖u‖² + ‖v‖²): rounding of u and v, of the product, and of the sum.
        slack = dtype(unit * (norms.max() + other_norms.max()))
        i, j = density.near_pairs(u @ v.T, norms, other_norms, slack, x, y, radius**2, b == a)
        if len(i):
            found.append(np.column_stack([mine[i], yours[j]]).astype(np.int32))
    return np.concatenate(found)


def _scale(x: Floats, middle: Floats, radius: float, dtype: Any) -> tuple[Floats, Floats]:
    """Rows relative to a nearby point, in units of the radius, and their squared norms."""
    u = ((x - middle) / radius).astype(dtype)
    return u, np.einsum("ij,ij->i", u, u)
