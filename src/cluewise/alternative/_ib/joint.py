"""Counts as a joint distribution of rows, columns and groups that are known, for the information bottlenecks."""

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
    "refuse_negative", "scored", "summed",
]  # fmt: skip

R = TypeVar("R")

FLOOR = 1e-300
"""Smallest probability whose logarithm is taken: what a cluster has never seen costs 690 nats, not infinity."""

TABLES = 2**30
"""Bytes that one set of tables of clusters by columns by groups may take."""

FILLED = 0.1
"""Share of cells that are not zero above which products of dense blocks are faster than those of sparse ones."""


class Counts(NamedTuple):
    """Counts in the form that suits them, whether they were given dense or sparse.

    Sums of dense and sparse blocks are rounded differently, and annealing makes other clusters of that. So the
    number of cells that are not zero decides how to compute, and not the type of the matrix.
    """

    X: Any  # (n, d), dense or CSR
    dense: bool  # whether blocks are dense
    width: int  # mean number of cells that a row of a block holds

    def block(self, rows: Any) -> Any:
        """Some rows, dense or CSR."""
        some = self.X[rows]
        return np.ascontiguousarray(some.toarray() if hasattr(some, "toarray") else some) if self.dense else some

    def blocks(self) -> list[slice]:
        """Runs of rows that fit into the caches."""
        n = self.X.shape[0]
        size = min(max(BLOCK_BYTES // (8 * self.width), 64), 8192)
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def totals(self) -> Floats:
        """Sum of each row."""
        sums = [np.asarray(self.block(rows).sum(axis=1, dtype=np.float64)).ravel() for rows in self.blocks()]
        return np.concatenate(sums)


def counts_of(X: Any) -> Counts:
    """Counts from a dense or CSR matrix; copied only where a matrix is not in the form that suits it."""
    given_dense = isinstance(X, np.ndarray)
    if not given_dense and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    n, d = X.shape
    filled = int(np.count_nonzero(X if given_dense else X.data))
    if filled >= FILLED * n * d:
        return Counts(X, True, d)
    return Counts(csr_array(X) if given_dense else X, False, 1 + filled // n)


def scored(x: Any, table: Floats) -> Floats:
    """(k, rows) product of a (k, d) table with a block of rows; clusters first, as all that follows runs over rows."""
    return np.asarray(table @ x.T) if isinstance(x, np.ndarray) else np.ascontiguousarray((x @ table.T).T)


class Part(NamedTuple):
    """Some rows that the known clusterings do not tell apart."""

    number: int
    pattern: int
    rows: Any  # slice, or row numbers
    piece: Any  # these rows of X, where keeping them costs little


class Joint(NamedTuple):
    """p(x, y, z)."""

    counts: Counts
    share: Floats  # (n,) p(x); 0 for a row without counts, or in no known group: they are only labeled
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
        """Number of ways in which the known clusterings speak of a row."""
        return int(self.mix.shape[0])

    def each(self, work: Callable[[Part, Any], R]) -> Iterator[tuple[Part, R]]:
        """``work`` on every part and its rows of X, in threads; results in the order of the parts."""

        def on(part: Part) -> R:
            return work(part, self.counts.block(part.rows) if part.piece is None else part.piece)

        return zip(self.parts, map_blocks(on, self.parts))

    def cells(self, tables: Floats) -> Floats:
        """Tables of groups from those of patterns, which add up."""
        return tables if self.patterns == 1 else _mixed(self.mix.T, tables)

    def spread(self, cells: Floats) -> Floats:
        """Means of what groups say, (patterns, k, d), for each pattern."""
        return cells if self.patterns == 1 else _mixed(self.mix, cells)


def _mixed(mix: Any, tables: Floats) -> Floats:
    return np.asarray(mix @ tables.reshape(len(tables), -1)).reshape(-1, *tables.shape[1:])


def refuse_negative(X: Any, name: str) -> None:
    """Counts are never negative."""
    values = X if isinstance(X, np.ndarray) else X.data
    if not values.size or values.min() >= 0:
        return
    place = int(np.flatnonzero(values < 0)[0])
    if isinstance(X, np.ndarray):
        row, column = divmod(place, X.shape[1])
    else:
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    raise ValueError(
        f"Negative values in data: {name} takes counts, but X holds {float(X[row, column])!r} in row {row}, "
        f"column {column}."
    )


def moderate(X: Any) -> Any:
    """The same counts in units of the largest, where their sums would leave the range of numbers."""
    largest = float(X.max())
    if largest == 0 or 1e-290 < largest < 1e290:
        return X
    values = (X if isinstance(X, np.ndarray) else X.data) / largest
    return values if isinstance(X, np.ndarray) else type(X)((values, X.indices, X.indptr), shape=X.shape)


def patterns_of(known: Sequence[Array], share: Floats) -> tuple[Ints, Any, Bools]:
    """Pattern of each row in the known clusterings, p(z|pattern) for the cells z of their product, and which cover.

    A row that is missing (negative) in some of them may be in any cell that fits the others, as likely as these are.
    The last are patterns without such a gap; where there are none, a gap is as good as any other entry.
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
            f"the clusterings to avoid make {len(mass)} groups, and leave gaps in {len(gaps)} ways; a table of both "
            f"would take more than {TABLES / 2**30:.0f} GiB."
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
    total[total < 1 / np.finfo(np.float64).max] = 0.0  # has no inverse; as good as a row of zeros
    share = np.where(total > 0, 1.0 if weight is None else weight, 0.0) * (total if by_mass else 1.0)
    scale = np.divide(1.0, total, out=np.zeros(n), where=total > 0)
    place, mix, whole = patterns_of(known, share)
    share[~whole[place]] = 0.0  # what they tell beside the known clusterings is not known
    if not share.sum() > 0:
        raise ValueError("X holds nothing but zeros in the rows that count, so that there is nothing to tell.")
    share /= share.sum()
    if mix.shape[0] * k * d * 8 > TABLES:
        raise ValueError(
            f"the clusterings to avoid make {mix.shape[0]} groups; tables of {k} clusters, {d} columns and so many "
            f"groups would take more than {TABLES / 2**30:.0f} GiB."
        )
    joint = Joint(counts, share, scale, mix, _parts(counts, place, mix.shape[0], k), (0.0, 0.0))
    everything = summed(joint, lambda part: share[None, part.rows])
    both, inside = everything.sum(axis=0), joint.cells(everything)
    entropies = (-float((both * log(both)).sum()), -float((inside * conditional(inside)).sum()))
    return joint._replace(rest=entropies)


def _parts(counts: Counts, place: Ints, patterns: int, k: int) -> list[Part]:
    """The rows, pattern by pattern, in blocks that fit into the caches."""
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


def summed(joint: Joint, values: Callable[[Part], Floats]) -> Floats:
    """(patterns, k, d) table of sums over rows of value times p(y|x); ``values`` gives (k, rows)."""

    def work(part: Part, x: Any) -> Floats:
        return np.asarray((values(part) * joint.scale[part.rows]) @ x)

    tables: dict[int, Floats] = {}
    for part, table in joint.each(work):
        tables[part.pattern] = tables[part.pattern] + table if part.pattern in tables else table
    return np.stack([tables[pattern] for pattern in range(joint.patterns)])


def log(p: Floats) -> Floats:
    """Natural logarithm, of `FLOOR` at least."""
    return np.log(np.maximum(p, FLOOR))


def conditional(cells: Floats) -> Floats:
    """Logarithms of p(y|c,z) from p(c,y,z); a cluster without mass in a group looks there like the whole group."""
    mass = cells.sum(axis=2, keepdims=True)
    if mass.all():
        return log(cells / mass)
    group = cells.sum(axis=1, keepdims=True)
    filled = np.where(mass > 0, cells, group)
    return log(filled / np.maximum(filled.sum(axis=2, keepdims=True), FLOOR))
