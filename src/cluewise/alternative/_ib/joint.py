"""Counts as a joint distribution of rows, columns and known groups, for the information bottlenecks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array, vstack

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.core.rows import BLOCK_BYTES, SMALL
from cluewise.core.threads import map_blocks

__all__ = [
    "FLOOR", "Counts", "Joint", "Part", "conditional", "counts_of", "joint_of", "log", "moderate", "patterns_of",
    "multiply", "refuse_negative", "sum_tables",
]  # fmt: skip

R = TypeVar("R")

FLOOR = 1e-300
"""Smallest probability in logarithms: a column that a cluster has never seen costs 690 nats, not infinity."""

TABLES = 2**30
"""Maximum size in bytes of the tables of clusters by columns by groups."""

FILLED = 0.1
"""Share of nonzero cells above which dense products are faster than sparse ones."""


class Counts(NamedTuple):
    """Counts as dense or sparse blocks, depending on the share of nonzero cells.

    Sums of dense and sparse blocks have different rounding errors, which annealing can amplify to different clusters.
    Results must not depend on the type of the matrix, so the number of nonzero cells decides.
    """

    X: Any  # (n, d), dense or CSR
    dense: bool  # whether blocks are dense
    width: int  # mean number of stored cells per row

    def block(self, rows: Any) -> Any:
        """Some rows, dense or CSR."""
        some = self.X[rows]
        return np.ascontiguousarray(some.toarray() if hasattr(some, "toarray") else some) if self.dense else some

    def blocks(self) -> list[slice]:
        """Slices of rows that fit in the cache."""
        n = self.X.shape[0]
        size = min(max(BLOCK_BYTES // (8 * self.width), 64), 8192)
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def totals(self) -> Floats:
        """Sum of each row."""
        sums = [np.asarray(self.block(rows).sum(axis=1, dtype=np.float64)).ravel() for rows in self.blocks()]
        return np.concatenate(sums)


def counts_of(X: Any) -> Counts:
    """Counts from a dense or CSR matrix; copied only to change the form."""
    given_dense = isinstance(X, np.ndarray)
    if not given_dense and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    n, d = X.shape
    filled = int(np.count_nonzero(X if given_dense else X.data))
    if filled >= FILLED * n * d:
        return Counts(X, True, d)
    return Counts(csr_array(X) if given_dense else X, False, 1 + filled // n)


def multiply(x: Any, table: Floats) -> Floats:
    """(k, rows) product of a (k, d) table with a block of rows, contiguous along the rows."""
    return np.asarray(table @ x.T) if isinstance(x, np.ndarray) else np.ascontiguousarray((x @ table.T).T)


class Part(NamedTuple):
    """Some rows with the same pattern, that is, in the same clusters of the known clusterings."""

    number: int
    pattern: int
    rows: Any  # slice, or row numbers
    piece: Any  # these rows of X if X is small, else None


class Joint(NamedTuple):
    """p(x, y, z)."""

    counts: Counts
    share: Floats  # (n,) p(x); 0 for rows without counts or in no known group, which are only labeled
    scale: Floats  # (n,) 1 / sum of the row, so that p(y|x) = scale X
    mix: Any  # (patterns, groups) CSR: p(z|x), the same for all rows of one pattern
    parts: list[Part]
    rest: tuple[float, float]  # H(Y) and H(Y|Z)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.share)

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.counts.X.shape[1])

    @property
    def patterns(self) -> int:
        """Number of distinct combinations of known clusters."""
        return int(self.mix.shape[0])

    def each(self, work: Callable[[Part, Any], R]) -> Iterator[tuple[Part, R]]:
        """``work`` on every part and its rows of X, in threads; results in the order of the parts."""

        def on(part: Part) -> R:
            return work(part, self.counts.block(part.rows) if part.piece is None else part.piece)

        return zip(self.parts, map_blocks(on, self.parts))

    def cells(self, tables: Floats) -> Floats:
        """Tables of groups, as sums over patterns."""
        return tables if self.patterns == 1 else _mix(self.mix.T, tables)

    def spread(self, cells: Floats) -> Floats:
        """(patterns, k, d) means over the groups of each pattern."""
        return cells if self.patterns == 1 else _mix(self.mix, cells)


def _mix(mix: Any, tables: Floats) -> Floats:
    return np.asarray(mix @ tables.reshape(len(tables), -1)).reshape(-1, *tables.shape[1:])


def refuse_negative(X: Any, name: str) -> None:
    """Raise an error that names the first negative count."""
    values = X if isinstance(X, np.ndarray) else X.data
    if not values.size or values.min() >= 0:
        return
    place = int(np.flatnonzero(values < 0)[0])
    if isinstance(X, np.ndarray):
        row, column = divmod(place, X.shape[1])
    else:
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    raise ValueError(
        f"Negative values in data: {name} expects counts, but X has {float(X[row, column])!r} in row {row}, "
        f"column {column}."
    )


def moderate(X: Any) -> Any:
    """Counts divided by the largest if their sums would overflow or underflow, else unchanged."""
    largest = float(X.max())
    if largest == 0 or 1e-290 < largest < 1e290:
        return X
    values = (X if isinstance(X, np.ndarray) else X.data) / largest
    return values if isinstance(X, np.ndarray) else type(X)((values, X.indices, X.indptr), shape=X.shape)


def patterns_of(known: Sequence[Array], share: Floats) -> tuple[Ints, Any, Bools]:
    """Pattern of each row in the known clusterings, p(z|pattern) for the cells z of their product, complete patterns.

    A row that is missing (negative) in some of them may be in any cell that fits the others, in proportion to the mass
    of these cells. If no pattern is complete, missing entries count as a cluster of their own.
    """
    if not known:
        return np.zeros(len(share), dtype=np.intp), _identity(1), np.ones(1, dtype=bool)
    distinct, place = np.unique(np.column_stack(known), axis=0, return_inverse=True)
    place = place.ravel()
    whole = np.asarray((distinct >= 0).all(axis=1))
    if not whole.any():
        return place, _identity(len(distinct)), ~whole
    mass = np.bincount(place, weights=share, minlength=len(distinct))[whole] + FLOOR
    gaps = np.flatnonzero(~whole)
    if len(gaps) * len(mass) * 8 > TABLES:
        raise ValueError(
            f"the clusterings to avoid have {len(mass)} groups and {len(gaps)} patterns with missing rows; a table of "
            f"both would take more than {TABLES / 2**30:.0f} GiB."
        )
    lines = np.zeros((len(gaps), len(mass)))
    for own, line in zip(distinct[gaps], lines):
        fits = ((distinct[whole] == own) | (own < 0)).all(axis=1)
        line[:] = mass * fits if fits.any() else mass
    lines /= lines.sum(axis=1, keepdims=True)
    mix = vstack([_identity(len(mass)), csr_array(lines)], format="csr")
    return place, mix[np.argsort(np.concatenate([np.flatnonzero(whole), gaps]))], whole


def _identity(size: int) -> Any:
    return csr_array((np.ones(size), np.arange(size), np.arange(size + 1)), shape=(size, size))


def joint_of(X: Any, weight: Floats | None, known: Sequence[Array], k: int, by_mass: bool) -> Joint:
    """The joint distribution of rows, columns and known groups, for k clusters."""
    counts = counts_of(X)
    n, d = X.shape
    total = counts.totals()
    total[total < 1 / np.finfo(np.float64).max] = 0.0  # the inverse would overflow
    share = np.where(total > 0, 1.0 if weight is None else weight, 0.0) * (total if by_mass else 1.0)
    scale = np.divide(1.0, total, out=np.zeros(n), where=total > 0)
    place, mix, whole = patterns_of(known, share)
    share[~whole[place]] = 0.0  # information given Z is unknown for rows without a known group
    if not share.sum() > 0:
        raise ValueError("X has only zeros in the rows that have a weight and a known group.")
    share /= share.sum()
    if mix.shape[0] * k * d * 8 > TABLES:
        raise ValueError(
            f"the clusterings to avoid have {mix.shape[0]} groups; tables of {k} clusters, {d} columns and as many "
            f"groups would take more than {TABLES / 2**30:.0f} GiB."
        )
    joint = Joint(counts, share, scale, mix, _parts(counts, place, mix.shape[0], k), (0.0, 0.0))
    everything = sum_tables(joint, lambda part: share[None, part.rows])
    both, inside = everything.sum(axis=0), joint.cells(everything)
    entropies = (-float((both * log(both)).sum()), -float((inside * conditional(inside)).sum()))
    return joint._replace(rest=entropies)


def _parts(counts: Counts, place: Ints, patterns: int, k: int) -> list[Part]:
    """The rows, pattern by pattern, in blocks that fit in the cache."""
    n = len(place)
    size = min(max(BLOCK_BYTES // (8 * (counts.width + 4 * k)), 64), 8192)
    small = 8 * n * counts.width <= SMALL
    order = np.argsort(place, kind="stable")
    parts: list[Part] = []
    for pattern, members in enumerate(np.split(order, np.cumsum(np.bincount(place, minlength=patterns))[:-1])):
        for start in range(0, len(members), size):
            rows: Any = slice(start, min(start + size, n)) if patterns == 1 else members[start : start + size]
            parts.append(Part(len(parts), pattern, rows, counts.block(rows) if small else None))
    return parts


def sum_tables(joint: Joint, values: Callable[[Part], Floats]) -> Floats:
    """(patterns, k, d) table of sums over rows of value times p(y|x); ``values`` gives (k, rows)."""

    def work(part: Part, x: Any) -> Floats:
        return np.asarray((values(part) * joint.scale[part.rows]) @ x)

    tables: dict[int, Floats] = {}
    for part, table in joint.each(work):
        tables[part.pattern] = tables[part.pattern] + table if part.pattern in tables else table
    return np.stack([tables[pattern] for pattern in range(joint.patterns)])


def log(p: Floats) -> Floats:
    """Natural logarithm of p, or of `FLOOR` if that is larger."""
    return np.log(np.maximum(p, FLOOR))


def conditional(cells: Floats) -> Floats:
    """Logarithms of p(y|c,z) from p(c,y,z); a cluster without mass in a group has the profile of the group."""
    mass = cells.sum(axis=2, keepdims=True)
    if mass.all():
        return log(cells / mass)
    group = cells.sum(axis=1, keepdims=True)
    filled = np.where(mass > 0, cells, group)
    return log(filled / np.maximum(filled.sum(axis=2, keepdims=True), FLOOR))
