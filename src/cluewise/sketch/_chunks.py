"""Grains of rows in chunks: what is added up in a pass, and how a chunk finds its grains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.centers import Tally, add_tallies, means, tally, tally_of
from cluewise.core.chunks import Chunks
from cluewise.core.rows import Rows
from cluewise.sketch._cells import Cells, find_grains
from cluewise.sketch._codebook import find_distinct
from cluewise.sketch._parts import Parts, Split, find_division, follow_splits, settle_parts

__all__ = [
    "ChunkParts",
    "Places",
    "Summary",
    "divide_in_chunks",
    "find_distinct_in_chunks",
    "find_places",
    "summarize_chunks",
]


class Summary(NamedTuple):
    """What is known about the grains."""

    n: int
    centers: Floats
    sizes: Floats
    scatter: Floats
    codebook: Floats


class Places(NamedTuple):
    """Where the grains are, and the rows from which this was learned."""

    codebook: Floats
    cells: Cells | None
    shift: Floats
    distinct: bool  # whether each distinct row is a grain
    drawn: Ints  # numbers of the rows in the sample, ascending
    sample: Floats

    @property
    def table(self) -> tuple[Floats, Cells | None, Floats, bool]:
        """What `find_places` needs."""
        return self.codebook, self.cells, self.shift, self.distinct


def find_places(chunk: Floats, codebook: Floats, cells: Cells | None, shift: Floats, distinct: bool) -> Ints:
    """Grain of each row of a chunk."""
    if not distinct:
        return find_grains(Rows(chunk, None, shift), codebook, cells)
    # Rows that are equal to a point, even if they are close to others.
    found = find_distinct(np.concatenate([codebook, chunk]))[1][len(codebook) :]
    others = np.flatnonzero(found >= len(codebook))  # which weigh nothing
    found[others] = find_grains(Rows(chunk[others], None, shift), codebook, None)
    return found


class _Distinct(NamedTuple):
    """Distinct rows in the order in which they come, up to one more than is wanted."""

    rows: Floats
    most: int


def find_distinct_in_chunks(chunks: Chunks, most: int) -> Floats | None:
    """The distinct rows with weight; None if there are more than ``most``."""
    found = chunks.reduce(_list_distinct, _merge_distinct, most)
    return found.rows if len(found.rows) <= most else None


def _list_distinct(chunk: Floats, most: int, weight: Floats | None = None) -> _Distinct:
    chunk = chunk if weight is None else chunk[weight > 0]
    return _Distinct(chunk[find_distinct(chunk)[0][: most + 1]], most)


def _merge_distinct(parts: Sequence[_Distinct]) -> _Distinct:
    return _list_distinct(np.concatenate([part.rows for part in parts]), parts[0].most)


class _Sums(NamedTuple):
    """What a chunk adds to its grains."""

    tally: Tally
    squares: Floats  # summed squared distances to the points of the codebook
    first: Ints  # the first row of each grain


def summarize_chunks(chunks: Chunks, places: Places) -> tuple[Summary, Ints]:
    """Means, sizes and scatter of the grains, and the first row of each, in one pass."""
    each = [(start, chunks.n) for start in chunks.starts[:-1].tolist()]
    found = chunks.reduce(_sum_chunk, _merge_sums, *places.table, each=each)
    points = places.codebook.astype(np.float64) - places.shift
    centers = means(found.tally, points)
    # The points are so close to the means that the difference loses few digits.
    scatter = np.maximum(found.squares - found.tally.mass * ((centers - points) ** 2).sum(axis=1), 0.0)
    centers = (centers + places.shift).astype(chunks.dtype)
    return Summary(chunks.n, centers, found.tally.mass, scatter, places.codebook), found.first


def _sum_chunk(
    chunk: Floats,
    codebook: Floats,
    cells: Cells | None,
    shift: Floats,
    distinct: bool,
    start: int,
    n: int,
    weight: Floats | None = None,
) -> _Sums:
    m, rows = len(codebook), Rows(chunk, weight, shift)
    labels = find_places(chunk, codebook, cells, shift, distinct)
    points = codebook.astype(np.float64) - shift
    squares = np.zeros(m)
    for block in rows.blocks(1):
        own = rows.to_own(rows.take(block), points, labels[block])
        own = own if weight is None else own * weight[block]
        squares += np.bincount(labels[block], weights=own, minlength=m)
    first = np.full(m, n, dtype=np.int64)
    first[labels[::-1]] = start + np.arange(rows.n)[::-1]  # the last one that is written stays
    return _Sums(tally(rows, labels, m), squares, first)


def _merge_sums(parts: Sequence[_Sums]) -> _Sums:
    total = parts[0]
    for part in parts[1:]:
        first = np.minimum(total.first, part.first)
        total = _Sums(total.tally.plus(part.tally), total.squares + part.squares, first)
    return total


class ChunkParts(NamedTuple):
    """Parts of grains of rows in chunks."""

    known: Parts  # ``of_row`` is about the rows in ``kept`` only
    kept: Ints  # rows that are in memory: those with clues, and a sample
    arguments: tuple[Any, ...]  # of `_look_up` for all chunks
    each: list[tuple[Ints, Ints]]  # and for each

    def spread(self, chunks: Chunks, values: Floats | Ints) -> Any:
        """The value of the part of each row, as a dask array."""
        return chunks.map(_look_up, values, *self.arguments, each=self.each, dtype=values.dtype)


def divide_in_chunks(chunks: Chunks, places: Places, grains: Parts, tied: Ints, hard: Clues, soft: Clues) -> ChunkParts:
    """Divide grains of rows in chunks where clues demand it; ``tied`` rows have clues.

    2-means sees the rows with clues and the sample; all others follow. ``grains.of_row`` does not matter.
    """
    more = np.setdiff1d(tied, places.drawn)
    kept, place = np.unique(np.concatenate([places.drawn, more]), return_index=True)
    sample = np.concatenate([places.sample, chunks.take(more)])[place]
    rows = Rows(sample, chunks.take_weight(kept), places.shift)
    of_row = find_places(rows.X, *places.table)
    count = len(grains.sizes)
    part, grain, splits = find_division(rows, of_row, count, hard[kept], soft[kept])
    own = part[np.searchsorted(kept, tied)]
    # Rows with clues are where the clues put them.
    each = list(zip(chunks.split(tied), np.split(own, np.searchsorted(tied, chunks.starts[1:-1]))))
    number = np.arange(len(grain), dtype=np.int32)
    found = grains._replace(of_row=part)
    if len(grain) > count:
        changed = np.zeros(count, dtype=bool)
        changed[grain[count:]] = True
        added = chunks.reduce(_tally_parts, _merge_parts, changed, len(grain), splits, *places.table, each=each)
        held = ~changed[grain] | (added.rows > 0)
        number = np.cumsum(held, dtype=np.int32) - 1
        found = settle_parts(grains, part, grain, changed, added.tally, held, places.shift)
    return ChunkParts(found, kept, (number, splits, *places.table), each)


def _find_parts(chunk: Floats, splits: list[Split], table: tuple[Any, ...], tied: Ints, own: Ints) -> tuple[Ints, Ints]:
    """Grain and part of each row."""
    grain = find_places(chunk, *table)
    part = follow_splits(Rows(chunk, None, table[2]), grain, splits)
    part[tied] = own
    return grain, part


def _look_up(chunk: Floats, values: Any, number: Ints, splits: list[Split], *rest: Any) -> Any:
    *table, tied, own = rest
    return values[number[_find_parts(chunk, splits, tuple(table), tied, own)[1]]]


class _PartSums(NamedTuple):
    """What a chunk adds to parts of grains that are divided."""

    tally: Tally
    rows: Ints | Floats  # of each part; they may weigh nothing


def _tally_parts(
    chunk: Floats, changed: Bools, count: int, splits: list[Split], *rest: Any, weight: Floats | None = None
) -> _PartSums:
    *table, tied, own = rest
    grain, part = _find_parts(chunk, splits, tuple(table), tied, own)
    which = np.flatnonzero(changed[grain])
    found = tally_of(Rows(chunk, weight, table[2]), part, which, count)
    return _PartSums(found, np.bincount(part[which], minlength=count))


def _merge_parts(parts: Sequence[_PartSums]) -> _PartSums:
    return _PartSums(add_tallies([part.tally for part in parts]), np.sum([part.rows for part in parts], axis=0))
