"""Rows: the one way the core reads X, in blocks, so that nothing of the size of X is ever copied.

Blocks are moved close to the origin: the expanded form of a squared distance loses digits far away from it. The
shift is a coarse power-of-two grid point near the column means, so that data on a grid stay exact. Centers are
kept relative to the same shift; `base` adds it back when it publishes them.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.kernels import assignment

if TYPE_CHECKING:
    from cluewise.core.crowd import Crowd

__all__ = ["Rows", "Seats", "SparseRows", "Worst", "Table", "rows_of", "shift_of", "squared_distances"]

BLOCK_BYTES = 2**20
"""A block of rows with its scores: small enough for the caches, large enough to hide the call."""

SMALL = 2**22
"""Bytes of X up to which the rows are kept relative to the shift, instead of being moved in every pass."""

DIRECT = 8
"""Up to this many columns distances are computed in difference form, exactly."""


class Table(NamedTuple):
    """Centers prepared for scoring: ``scores[h, i] + offset[h]`` is ½·distance² up to a constant of the row."""

    centers: Floats  # (k, d) relative to the shift, in the precision of X
    offset: Floats  # (k,)
    minus: Floats  # −centers


class Seats(NamedTuple):
    """Which of all rows some rows are: ``n`` in all, from ``first`` on, or with these numbers.

    BLAS rounds single precision otherwise in one place of a block than in another. So rows are scored where they would
    stand if all were in memory, and their labels are the same.
    """

    n: int
    first: int = 0
    numbers: Ints | None = None


class Worst(NamedTuple):
    """Rows far from their centers."""

    cost: Floats  # squared distance to the center
    number: Ints  # among all rows
    label: Ints
    x: Floats  # the rows, relative to the shift
    weight: Floats


class Rows:
    """Dense rows."""

    crowd: Crowd | None = None  # rows that are not in memory
    seats: Seats | None = None  # where these rows would stand among all
    alone = False  # whether one thread works on all blocks, one after the other

    def __init__(self, X: Floats, weight: Floats | None = None, shift: Floats | None = None) -> None:
        self.X = X
        self.n, self.d = X.shape
        self.dtype = X.dtype
        self.weight = weight
        self.mass = float(self.n if weight is None else weight.sum(dtype=np.float64))  # summed weight of all rows
        self.shift = coarse_mean(X) if shift is None else shift
        self._width = self.d  # numbers per row of a block
        self._rooms: dict[str, Array] = {}
        # X relative to the shift, where that costs little memory or none. One signature per kernel: writeable arrays.
        self._moved: Floats | None = None
        if isinstance(X, np.ndarray):
            if not self.shift.any() and X.flags.c_contiguous and X.flags.writeable:
                self._moved = X
            elif X.nbytes <= SMALL:
                self._moved = np.subtract(X, self.shift, order="C")

    @property
    def placed(self) -> Any:
        """Where the rows that are not in memory are; None if there are none."""
        return None if self.crowd is None else self.crowd.placed

    @property
    def n_all(self) -> int:
        """Number of rows, those that are not in memory among them."""
        return self.n if self.crowd is None else self.crowd.n

    def number(self, which: Ints) -> Ints:
        """Numbers among all rows."""
        return which if self.crowd is None else self.crowd.numbers[which]

    def blocks(self, k: int, which: Ints | None = None) -> list[Any]:
        """Row numbers in blocks: slices for all rows, or pieces of the list ``which``."""
        size = self._block_size(k)
        if which is not None:
            return [which[start : start + size] for start in range(0, len(which), size)]
        early = self.seats.first % size if self.seats is not None else 0  # rows before the first in its block
        return [slice(max(start, 0), min(start + size, self.n)) for start in range(-early, self.n, size)]

    def _block_size(self, k: int) -> int:
        return min(max(BLOCK_BYTES // (self.dtype.itemsize * (self._width + k)), 64), 8192)

    def scratch(self, name: str, shape: tuple[int, ...], dtype: Any = None) -> Array:
        """An array for a block, in the same place for the next one if one thread works on all.

        Workers of dask give memory back to the system whenever an array is deleted, so that new ones cost much.
        """
        if not self.alone:
            return np.empty(shape, dtype=dtype or self.dtype)
        size = prod(shape)
        if name not in self._rooms or self._rooms[name].size < size:
            self._rooms[name] = np.empty(size, dtype=dtype or self.dtype)
        return self._rooms[name][:size].reshape(shape)

    def big_blocks(self) -> list[slice]:
        """Slices for a pass whose result is large: as few as the memory of `take` allows."""
        return self.blocks(1)

    def take(self, block: Any) -> Any:
        """Some rows, relative to the shift, contiguous; not to be changed."""
        if self._moved is not None:
            return self._moved[block] if isinstance(block, slice) else np.take(self._moved, block, axis=0)
        if isinstance(block, slice):
            x = self.X[block]
            return np.subtract(x, self.shift, out=self.scratch("rows", x.shape))
        x = np.take(self.X, block, axis=0)
        return np.subtract(x, self.shift, out=x)

    def dense(self, block: Any) -> Floats:
        """Some rows as a dense array, for the few places that need one."""
        return self.take(block)  # not an alias: a subclass may take rows otherwise

    def weights(self, block: Any) -> Floats:
        """Sample weights of some rows; an empty array stands for weight 1."""
        return np.empty(0) if self.weight is None else self.weight[block]

    def table(self, centers: Floats) -> Table:
        """Prepare centers (relative to the shift) for `scores`."""
        near = np.ascontiguousarray(centers, dtype=self.dtype)
        if self.d <= DIRECT:
            return Table(near, np.zeros(len(near), dtype=self.dtype), -near)
        return Table(near, (0.5 * np.einsum("hj,hj->h", centers, centers)).astype(self.dtype), -near)

    def score(self, block: slice | Ints, table: Table) -> tuple[Any, Floats]:
        """Some rows, and their `scores`."""
        x = self.take(block)
        if self.seats is None or self.d <= DIRECT or not isinstance(block, slice):
            return x, self.scores(x, table)
        k, (n, first, numbers) = len(table.centers), self.seats
        size = self._block_size(k)
        if numbers is None:
            place = (first + block.start) % size
            full = min(size, n - (first + block.start - place))
            if len(x) == full:
                return x, self.scores(x, table)
            padded = np.zeros((full, self.d), dtype=self.dtype)
            padded[place : place + len(x)] = x
            return x, np.ascontiguousarray(self.scores(padded, table)[:, place : place + len(x)])
        return x, self._score_apart(x, numbers[block], table, n, size)

    def _score_apart(self, x: Floats, numbers: Ints, table: Table, n: int, size: int) -> Floats:
        """Scores of rows that are far apart: as many at once as stand in different places of their blocks."""
        out = np.empty((len(table.centers), len(x)), dtype=self.dtype)
        short = numbers >= n - n % size  # in the last block, which has fewer rows
        for full, some in ((size, np.flatnonzero(~short)), (n % size, np.flatnonzero(short))):
            some = some[np.argsort(numbers[some] % size, kind="stable")]
            place = numbers[some] % size
            turn = np.arange(len(some)) - np.searchsorted(place, place)  # rows before it in the same place
            padded = np.zeros((full if len(some) else 0, self.d), dtype=self.dtype)
            for now in np.split(np.argsort(turn, kind="stable"), np.cumsum(np.bincount(turn))[:-1]):
                padded[place[now]] = x[some[now]]
                out[:, some[now]] = self.scores(padded, table)[:, place[now]]
        return out

    def scores(self, x: Any, table: Table) -> Floats:
        """(k, rows) array: ½·distance² up to a constant of the row, before the offset is added."""
        out = self.scratch("scores", (len(table.centers), x.shape[0]))
        if self.d <= DIRECT:
            assignment.half_distances(x, table.centers, out)
        else:
            np.matmul(table.minus, x.T, out=out)
        return out

    def squared(self, x: Any, table: Table) -> Floats:
        """(k, rows) array of squared distances."""
        squared = self.scores(x, table)
        if self.d > DIRECT:
            squared += table.offset[:, None]
        squared *= 2
        if self.d > DIRECT:
            squared += self._norms(x)
            np.maximum(squared, 0, out=squared)  # rounding may leave a little less than nothing
        return squared

    def _norms(self, x: Any) -> Floats:
        return np.einsum("ij,ij->i", x, x)

    def add(self, x: Any, block: Any, labels: Ints, sums: Floats, mass: Floats) -> None:
        """Add rows to the sums and masses of their clusters."""
        assignment.add_rows(x, self.weights(block), labels, sums, mass)

    def to_own(self, x: Any, centers: Floats, labels: Ints) -> Floats:
        """Squared distance of each row to the center of its cluster, in difference form."""
        out = np.empty(x.shape[0])
        assignment.squared_to_own(x, centers, labels, out)
        return out


class SparseRows(Rows):
    """Rows of a CSR matrix: never densified, never shifted."""

    def __init__(self, X: Any, weight: Floats | None = None) -> None:
        super().__init__(X, weight, np.zeros(X.shape[1], dtype=X.dtype))
        self._width = 1 + X.nnz // max(self.n, 1)

    def big_blocks(self) -> list[slice]:
        """One slice: taking all rows of a CSR matrix copies no more than the matrix."""
        return [slice(0, self.n)]

    def take(self, block: Any) -> Any:
        """Some rows."""
        return self.X[block]

    def dense(self, block: Any) -> Floats:
        """Some rows as a dense array."""
        return self.X[block].toarray()

    def table(self, centers: Floats) -> Table:
        """Prepare centers for `scores`."""
        near = np.ascontiguousarray(centers, dtype=self.dtype)
        # Column by column: SciPy would copy the transposed table for every block.
        minus = np.negative(near, order="F")
        return Table(near, (0.5 * np.einsum("hj,hj->h", centers, centers)).astype(self.dtype), minus)

    def scores(self, x: Any, table: Table) -> Floats:
        """(k, rows) array: ½·distance² up to a constant of the row, before the offset is added."""
        return np.ascontiguousarray((x @ table.minus.T).T)

    def squared(self, x: Any, table: Table) -> Floats:
        """(k, rows) array of squared distances."""
        squared = 2 * (self.scores(x, table) + table.offset[:, None]) + self._norms(x)
        return np.maximum(squared, 0, out=squared)

    def _norms(self, x: Any) -> Floats:
        return np.asarray(x.multiply(x).sum(axis=1)).ravel()

    def add(self, x: Any, block: Any, labels: Ints, sums: Floats, mass: Floats) -> None:
        """Add rows to the sums and masses of their clusters."""
        from scipy.sparse import csr_array

        weight = self.weights(block) if self.weight is not None else np.ones(x.shape[0])
        one_hot = csr_array((weight, labels, np.arange(len(labels) + 1)), shape=(len(labels), len(mass)))
        sums += (one_hot.T @ x).toarray()
        mass += np.bincount(labels, weights=weight, minlength=len(mass))

    def to_own(self, x: Any, centers: Floats, labels: Ints) -> Floats:
        """Squared distance of each row to the center of its cluster."""
        # Only stored numbers are touched: a block of rows of `centers` would be as large as a dense block of X.
        row = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        cross = np.bincount(row, weights=x.data * centers[labels[row], x.indices], minlength=x.shape[0])
        norms = np.einsum("hj,hj->h", centers, centers)
        return np.maximum(self._norms(x) - 2 * cross + norms[labels], 0)


def rows_of(X: Any, weight: Floats | None = None) -> Rows:
    """Rows of a dense or sparse matrix that has been checked."""
    return Rows(X, weight) if isinstance(X, np.ndarray) else SparseRows(X, weight)


def coarse_mean(X: Array) -> Floats:
    """Column means rounded to a quarter of the column's scale, itself a power of two.

    Zeros for a large matrix whose columns lie close to the origin: moving it in every pass would gain few digits.
    """
    if not len(X):  # as chunks may be
        return np.zeros(X.shape[1], dtype=X.dtype)
    mean = X.mean(axis=0, dtype=np.float64)
    if X.nbytes > SMALL and _close_to_origin(X, mean):
        return np.zeros(X.shape[1], dtype=X.dtype)
    return _round_mean(mean, X.min(axis=0), X.max(axis=0), X.dtype)


def shift_of(n: int, dtype: Any, mean: Floats, variance: Floats, low: Floats, high: Floats) -> Floats:
    """The same for n rows of which only this is known about each column."""
    if n * len(mean) * np.dtype(dtype).itemsize > SMALL and (mean**2 <= 16 * variance).all():
        return np.zeros(len(mean), dtype=dtype)
    return _round_mean(mean, low, high, dtype)


def _round_mean(mean: Floats, low: Floats, high: Floats, dtype: Any) -> Floats:
    scale = np.maximum(high - mean, mean - low)
    varies = scale > np.finfo(np.float64).tiny  # a grid for less than that would have steps of zero
    grid = np.exp2(np.floor(np.log2(np.where(varies, scale, 1.0)))) / 4
    # A constant column is moved to the origin exactly.
    shift = np.where(varies, np.round(mean / grid) * grid, mean)
    return shift.astype(dtype)


def _close_to_origin(X: Array, mean: Floats) -> bool:
    """Whether every column has a mean of at most four standard deviations: the origin then costs about a digit."""
    square = np.zeros(X.shape[1])
    for start in range(0, len(X), 8192):
        x = X[start : start + 8192]
        square += np.einsum("ij,ij->j", x, x)
    return bool((mean**2 <= 16 * (square / len(X) - mean**2)).all())


def squared_distances(rows: Rows, centers: Floats, which: Ints) -> Floats:
    """(rows, k) squared distances of some rows to the centers, in double precision throughout."""
    out = np.empty((len(which), len(centers)))
    # No rows, but the methods and the precision that the blocks need.
    nothing = rows.X[:0].astype(np.float64)
    double = SparseRows(nothing) if isinstance(rows, SparseRows) else Rows(nothing, None, np.zeros(rows.d))
    table = double.table(centers)
    start = 0
    for block in rows.blocks(2 * len(centers), which):
        x = rows.take(block).astype(np.float64, copy=False)
        here = out[start : start + len(block)]
        if isinstance(rows, SparseRows) or rows.d <= DIRECT:
            here[:] = double.squared(x, table).T
        else:
            assignment.square_scores(double.scores(x, table), table.offset, double._norms(x), here)
        start += len(block)
    return out
