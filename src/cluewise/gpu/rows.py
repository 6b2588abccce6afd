"""Rows of one chunk on a device: nearest centers, sums, distances, in blocks that fit beside the rows.

Scores and sums are products of matrices, which devices are made for, in the precision of the rows, but in single
precision for rows of half precision. Sums of blocks are added up in double precision, in the order of the blocks. Sums
by scattered additions would not be the same in every run, so a row counts by a line with a single one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from cluewise._lazy import lazy
from cluewise._typing import Array, Floats, Ints
from cluewise.gpu import fused
from cluewise.gpu.arrays import as_numpy, find_precision, numpy_type

__all__ = ["Columns", "DeviceRows", "Sums", "find_distinct", "find_equal", "race", "scan_columns"]

DIRECT = 8
"""Up to this many columns distances are computed in difference form, as in memory."""

GOLDEN = -7046029254386353131
"""2⁶⁴ over the golden ratio, as a number with a sign: it mixes bits, as in SplitMix64."""

FEW = 2**15
"""Numbers that are prepared on the processor sooner than on a device, which they have to be sent to in any case."""

BLOCK_BYTES = {"cpu": 2**23, "cuda": 2**29}
"""Memory of a block with its scores, by the kind of device."""


class Sums(NamedTuple):
    """What rows add to their clusters."""

    sums: Floats  # (k, d) relative to the shift
    mass: Floats  # (k,)
    squares: Floats  # (k,) summed squared distances to the centers; of none, zeros


class Columns(NamedTuple):
    """What is in the columns."""

    mean: Floats
    squares: Floats  # summed squared distances to the mean
    low: Floats
    high: Floats
    bad: tuple[int, int, float] | None  # row, column and value of the first number that is not finite
    n_bad: int


class DeviceRows:
    """Rows on their device, relative to a shift.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> rows = DeviceRows(torch.tensor([[1.0], [2.0], [9.0]]), np.zeros(1))
    >>> rows.find_nearest(np.array([[0.0], [10.0]])).tolist()
    [0, 0, 1]
    """

    def __init__(self, x: torch.Tensor, shift: Floats) -> None:
        self.x = x
        self.n, self.d = x.shape
        self.dtype = find_precision(x)
        self.numpy_type = numpy_type(x)
        self._origin = np.asarray(shift, dtype=np.float64)
        self._moves = bool(np.any(shift))

    @lazy
    def _shift(self) -> torch.Tensor:
        return self.load(self._origin)

    def load(self, values: Any, dtype: Any = None) -> torch.Tensor:
        """A small array on the device, in the precision of the rows unless another is given."""
        if isinstance(values, torch.Tensor):
            return values.to(self.x.device, dtype or self.dtype)
        return torch.tensor(np.ascontiguousarray(values), dtype=dtype or self.dtype, device=self.x.device)

    def load_as_is(self, values: Array) -> torch.Tensor:
        """A small array on the device, in its own type."""
        return torch.tensor(np.ascontiguousarray(values), device=self.x.device)

    def load_numbers(self, values: Array) -> torch.Tensor:
        """Whole numbers on the device."""
        return self.load(values, torch.int64)

    def blocks(self, width: int, count: int | None = None) -> Iterator[slice]:
        """Slices of the rows, or of ``count`` others; beside a block there is room for ``width`` numbers a row."""
        bytes_of_row = (self.d + width) * torch.finfo(self.dtype).bits // 8
        size = max(BLOCK_BYTES[self.x.device.type] // max(bytes_of_row, 1), 64)
        n = self.n if count is None else count
        for start in range(0, n, size):
            yield slice(start, min(start + size, n))

    def take(self, block: Any) -> torch.Tensor:
        """Some rows, relative to the shift; not to be changed."""
        x = self.x[block].to(self.dtype)
        return x - self._shift if self._moves else x

    def find_nearest(self, centers: Floats | torch.Tensor) -> torch.Tensor:
        """Number of the nearest center of each row, the lowest on ties."""
        if fused.serves(self.x):
            placed = self._place(centers)
            if fused.knows(self.x, placed):
                return fused.find_nearest(self.x, placed)
        table, labels = self._prepare(centers), self.x.new_empty(self.n, dtype=torch.int32)
        for block in self.blocks(len(centers)):
            labels[block] = self._score(self.take(block), table).argmin(dim=1).to(torch.int32)
        return labels

    @classmethod
    def near(cls, x: torch.Tensor, points: Floats) -> tuple[DeviceRows, Floats]:
        """Rows and points relative to the middle of the points, for rows of which nothing is known."""
        shift = points.mean(axis=0).astype(numpy_type(x))
        return cls(x, shift), points.astype(np.float64) - shift

    def square(self, x: torch.Tensor, points: Floats) -> torch.Tensor:
        """(rows, points) squared distances of some rows, which were taken."""
        table = self._prepare(points)
        squared = 2 * self._score(x, table)
        if self.d > DIRECT:
            squared = (squared + (x * x).sum(dim=1, keepdim=True)).clamp_(min=0)
        return squared

    def lead(self, centers: Floats, labels: torch.Tensor) -> torch.Tensor:
        """How much farther the best other center of each row is: half the difference of squared distances."""
        found = self.x.new_full((self.n,), float("inf"), dtype=self.dtype)
        if len(centers) > 1:
            table = self._prepare(centers)
            for block in self.blocks(len(centers)):
                scores, own = self._score(self.take(block), table), labels[block, None].long()
                mine = scores.gather(1, own)[:, 0]
                found[block] = scores.scatter_(1, own, float("inf")).amin(dim=1) - mine
        return found

    def to_own(self, centers: Floats | torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Squared distance of each row to the center of its cluster, in double precision."""
        near, out = self.load(centers, torch.float64), self.x.new_empty(self.n, dtype=torch.float64)
        for block in self.blocks(4 * self.d):
            out[block] = ((self.take(block).double() - near[labels[block].long()]) ** 2).sum(dim=1)
        return out

    def add_up(
        self, labels: torch.Tensor, k: int, points: Floats | None = None, which: torch.Tensor | None = None
    ) -> Sums:
        """Sums, masses and squared distances to points of the rows of each cluster.

        Labels may be k, for rows that are left out; or ``which`` has the numbers of the rows that count.
        """
        near = None if points is None else self.load(points, torch.float64)
        return Sums(*map(as_numpy, self.add_on_device(labels, k, near, which)))

    def add_on_device(
        self, labels: torch.Tensor, k: int, near: torch.Tensor | None = None, which: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The same as tensors, in double precision."""
        if not fused.serves(self.x):
            return self._add_blocks(labels, k, None if near is None else near.to(self.dtype), which)
        from_points = self.x.new_zeros((k, self.d), dtype=torch.float64) if near is None else near
        sums, mass, squares = fused.add_up(self.x, labels, self._place(from_points), which)
        return sums + mass[:, None] * from_points, mass, torch.zeros_like(mass) if near is None else squares

    def _add_blocks(
        self, labels: torch.Tensor, k: int, near: torch.Tensor | None, which: torch.Tensor | None
    ) -> tuple[Any, Any, Any]:
        sums = torch.zeros((k, self.d), dtype=torch.float64, device=self.x.device)
        mass, squares = torch.zeros((2, k), dtype=torch.float64, device=self.x.device)
        numbers = torch.arange(k, device=self.x.device, dtype=labels.dtype)
        for block in self.blocks(2 * k, None if which is None else len(which)):
            some = block if which is None else which[block]
            x, own = self.take(some), labels[some]
            member = (own[:, None] == numbers).to(self.dtype)
            sums += member.T @ x
            mass += member.sum(dim=0, dtype=torch.float64)
            if near is not None:
                inside = near[own.long().clamp(max=k - 1)]
                squares += member.T @ ((x - inside) ** 2).sum(dim=1)
        return sums, mass, squares

    def step(self, centers: Floats, left_out: Ints) -> Sums:
        """Sums and masses of the clusters, with every row at its nearest center, but for some that are left out."""
        k, placed = len(centers), self._place(centers)
        if fused.steps(self.x, placed):
            mask = self._mark(left_out) if len(left_out) else None
            found = as_numpy(fused.step(self.x, placed, mask))
            return Sums(found[:, 1:] - found[:, :1] * self._origin, found[:, 0], np.zeros(k))
        near = self.find_nearest(centers)
        near[self.load_numbers(left_out)] = k
        return self.add_up(near, k)

    def _mark(self, numbers: Ints) -> torch.Tensor:
        mask = torch.zeros(self.n, dtype=torch.bool, device=self.x.device)
        mask[self.load_numbers(numbers)] = True
        return mask

    def add_up_by(self, factors: Floats) -> tuple[Floats, Floats]:
        """Sums of the columns, each row times its factor, and sums of their squares, in double precision."""
        total, squares = torch.zeros((2, self.d), dtype=torch.float64, device=self.x.device)
        for block in self.blocks(2 * self.d):
            x = self.take(block).double()
            total += self.load(factors[block], torch.float64) @ x
            squares += (x * x).sum(dim=0)
        return as_numpy(total), as_numpy(squares)

    def find_first(self, labels: torch.Tensor, k: int, start: int, none: int) -> Ints:
        """Number of the first row of each cluster, counted from ``start``; ``none`` for a cluster without rows."""
        first = torch.full((k,), none, dtype=torch.int64, device=self.x.device)
        numbers = torch.arange(start, start + self.n, device=self.x.device)
        return as_numpy(first.scatter_reduce(0, labels.long(), numbers, "amin"))

    def look_up(self, values: Array, numbers: torch.Tensor) -> torch.Tensor:
        """The value that each row has, given its number among them."""
        return self.load_as_is(values)[numbers.long()]

    def find_farthest(self, cost: torch.Tensor, count: int) -> torch.Tensor:
        """Numbers of the rows that cost most, the lower one first on ties."""
        return torch.argsort(cost, descending=True, stable=True)[:count]

    def covary(self, center: Floats) -> Floats:
        """Σ(x − center)(x − center)ᵀ, in double precision."""
        near = self.load(center, torch.float64)
        total = torch.zeros((self.d, self.d), dtype=torch.float64, device=self.x.device)
        for block in self.blocks(4 * self.d):
            rest = self.take(block).double() - near
            total += rest.T @ rest
        return as_numpy(total)

    def rotate(self, axes: Floats) -> torch.Tensor:
        """(n, axes) products of the rows with some axes."""
        columns, found = self.load(axes.T), self.x.new_empty((self.n, len(axes)), dtype=self.dtype)
        for block in self.blocks(len(axes)):
            found[block] = self.take(block) @ columns
        return found

    def as_codebook(self, points: torch.Tensor) -> Floats:
        """Points that are not relative to the shift, in memory, rounded to the precision in which rows are given."""
        given = self.x.dtype if self.x.dtype.is_floating_point else self.dtype
        return as_numpy(self._place(points).to(given).to(self.dtype))

    def _place(self, points: Floats | torch.Tensor) -> torch.Tensor:
        """Points that are not relative to the shift, in double precision; few of them stay on the processor."""
        if isinstance(points, np.ndarray) and points.size < FEW:
            return torch.from_numpy(points + self._origin)
        return self.load(points, torch.float64) + self.load(self._origin, torch.float64)

    def _prepare(self, centers: Floats | torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Centers, and half their squared lengths."""
        near = self.load(centers, torch.float64)
        return near.to(self.dtype), (0.5 * (near * near).sum(dim=1)).to(self.dtype)

    def _score(self, x: torch.Tensor, table: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """(rows, k) array of half squared distances, up to a constant of the row beyond a few columns."""
        centers, offset = table
        if self.d > DIRECT:
            return torch.addmm(offset, x, centers.T, alpha=-1)
        squared = x.new_zeros((len(x), len(centers)))
        for column in range(self.d):
            squared += (x[:, column, None] - centers[:, column]) ** 2
        return squared.mul_(0.5)


def scan_columns(x: torch.Tensor) -> Columns:
    """Look at all rows twice: for means and ranges, and for squares; kernels look once, if all numbers are finite."""
    if len(x) and fused.serves(x):
        mean, square, least, most = (as_numpy(values) for values in fused.scan(x))
        if np.isfinite(mean).all():
            return Columns(mean, square, least, most, None, 0)
    rows, (n, d) = DeviceRows(x, np.zeros(x.shape[1])), x.shape
    total, squares = torch.zeros((2, d), dtype=torch.float64, device=x.device)
    low, high = torch.full((2, d), float("inf"), dtype=torch.float64, device=x.device)
    n_finite = torch.zeros((), dtype=torch.int64, device=x.device)
    for block in rows.blocks(2 * d):
        part = rows.take(block)
        total += part.sum(dim=0, dtype=torch.float64)
        low, high = torch.minimum(low, part.amin(dim=0)), torch.minimum(high, -part.amax(dim=0))
        n_finite += torch.isfinite(part).sum()
    mean = total / max(n, 1)
    for block in rows.blocks(2 * d):
        squares += ((rows.take(block).double() - mean) ** 2).sum(dim=0)
    n_bad, bad = n * d - int(n_finite), None
    if n_bad:
        at = int((~torch.isfinite(x).all(dim=1)).to(torch.uint8).argmax())
        column = int((~torch.isfinite(x[at])).to(torch.uint8).argmax())
        bad = at, column, float(x[at, column])
    return Columns(as_numpy(mean), as_numpy(squares), as_numpy(low), as_numpy(-high), bad, n_bad)


def race(squared: torch.Tensor, seed: int, count: int, start: int) -> tuple[Floats, torch.Tensor]:
    """The smallest keys and the numbers of the rows that come first in a race, a row by its squared distance.

    Row number ``start + i`` has the same random number on every device, as it is mixed from seed and number alone.
    """
    z = torch.arange(start, start + len(squared), dtype=torch.int64, device=squared.device) + 1
    z = _mix(_mix(z * GOLDEN + seed))
    uniform = (_shift_right(z, 11)).double() * 2.0**-53
    key = -torch.log1p(-uniform) / squared.double()
    key[squared == 0] = float("inf")
    found = torch.topk(key, min(count, len(squared)), largest=False, sorted=True)
    able = torch.isfinite(found.values)
    return as_numpy(found.values[able]), found.indices[able]


def find_distinct(x: torch.Tensor, key: Ints) -> tuple[torch.Tensor, torch.Tensor]:
    """The first of every set of equal rows, in their order, and for each row its place among those."""
    hashed, order = torch.sort(_hash_rows(x, key), stable=True)
    new = torch.ones_like(hashed, dtype=torch.bool)
    new[1:] = hashed[1:] != hashed[:-1]
    first, at = torch.sort(order[new])
    code = torch.empty_like(order)
    code[order] = torch.argsort(at)[new.cumsum(0) - 1]
    return first, code.to(torch.int32)


def find_equal(x: torch.Tensor, points: torch.Tensor, key: Ints) -> torch.Tensor:
    """Number of the point that is equal to each row; there has to be one."""
    hashed, order = torch.sort(_hash_rows(points, key))
    return order[torch.searchsorted(hashed, _hash_rows(x, key))].to(torch.int32)


def _hash_rows(x: torch.Tensor, key: Ints) -> torch.Tensor:
    """64 bits for each row, the same for equal rows, in whatever precision."""
    keys = torch.as_tensor(key.astype(np.int64), device=x.device)
    out = torch.empty(len(x), dtype=torch.int64, device=x.device)
    for block in DeviceRows(x, np.zeros(x.shape[1])).blocks(6 * x.shape[1]):
        bits = (x[block].double() + 0.0).view(torch.int64)  # -0.0 becomes 0.0
        bits = (bits ^ _shift_right(bits, 32)) * (2 * keys + 1)
        out[block] = ((bits ^ _shift_right(bits, 32)) * GOLDEN).sum(dim=1)
    return out


def _shift_right(z: torch.Tensor, bits: int) -> torch.Tensor:
    """Without the sign, which torch would repeat."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _mix(z: torch.Tensor) -> torch.Tensor:
    z = (z ^ _shift_right(z, 30)) * -4658895280553007687
    z = (z ^ _shift_right(z, 27)) * -7723592293110705685
    return z ^ _shift_right(z, 31)
