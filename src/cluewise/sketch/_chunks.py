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
from cluewise.sketch._cells import Cells, divide, find_grains
from cluewise.sketch._codebook import find_distinct, learn, take_rows
from cluewise.sketch._parts import Parts, Split, find_division, find_inside, follow_splits, settle_parts

__all__ = [
    "ChunkParts",
    "Places",
    "Summary",
    "count_distinct",
    "divide_in_chunks",
    "find_distinct_in_chunks",
    "find_places",
    "learn_codebook",
    "place_points",
    "summarize_chunks",
    "take_placed",
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
    sample: Any  # where the chunks are worked on
    grains: Sequence[Any]  # of the rows of each chunk, if they are kept: on a device

    @property
    def is_kept(self) -> bool:
        """Whether the grains of all rows are known."""
        return self.grains[0] is not None

    @property
    def table(self) -> tuple[Floats, Cells | None, Floats, bool]:
        """What `find_places` needs, beside the grains that are kept."""
        return self.codebook, self.cells, self.shift, self.distinct


def count_distinct(sample: Floats, weight: Floats | None) -> tuple[Ints, Ints | Floats]:
    """Numbers of the first of every set of equal rows, ascending, and how many such rows there are, or their weight."""
    first, code = find_distinct(sample)
    return first, np.bincount(code, weights=weight)


def learn_codebook(
    sample: Floats, first: Ints, mass: Ints | Floats, shift: Floats, count: int, rng: np.random.Generator, whole: bool
) -> tuple[Floats, Cells | None]:
    """Points near which the rows of a sample lie, and cells for a fast search unless the sample is all rows."""
    used = np.flatnonzero(mass)
    rows = take_rows(Rows(sample, None, shift), first[used], mass[used].astype(np.float64))
    points, labels = learn(rows, count, rng)
    cells = None if whole else divide(rows, points, labels, rng)
    return place_points(rows, points, cells)


def place_points(rows: Rows, points: Floats, cells: Cells | None) -> tuple[Floats, Cells | None]:
    """Points and cells that are not relative to the shift of the rows."""
    if cells is not None:
        cells = cells._replace(coarse=cells.coarse + rows.shift)
    # Rounded before it is used, so that `transform` finds the same grains.
    return (points + rows.shift).astype(rows.dtype), cells


def find_places(
    chunk: Floats, codebook: Floats, cells: Cells | None, shift: Floats, distinct: bool, known: Any = None
) -> Ints:
    """Grain of each row of a chunk; ``known`` if it was found before."""
    if known is not None:
        return known
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
    each = [(start, chunks.n, known) for start, known in zip(chunks.starts[:-1].tolist(), places.grains, strict=True)]
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
    known: Any,
    weight: Floats | None = None,
) -> _Sums:
    m, rows = len(codebook), Rows(chunk, weight, shift)
    labels = find_places(chunk, codebook, cells, shift, distinct, known)
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


class _Own(NamedTuple):
    """What is known about the rows of a chunk."""

    tied: Ints  # those with clues, by their numbers in the chunk
    parts: Ints  # of these
    grain: Any  # of all rows, if it is kept
    part: Any = None  # likewise


class ChunkParts(NamedTuple):
    """Parts of grains of rows in chunks."""

    parts: Parts  # ``of_row`` is about rows with clues only
    arguments: tuple[Any, ...]  # of `_look_up` for all chunks
    each: list[tuple[_Own]]  # and for each

    def spread(self, chunks: Chunks, values: Floats | Ints) -> Any:
        """The value of the part of each row, in the kind of the rows."""
        return chunks.map(_look_up, values, *self.arguments, each=self.each, dtype=values.dtype)


def divide_in_chunks(chunks: Chunks, places: Places, grains: Parts, tied: Ints, hard: Clues, soft: Clues) -> ChunkParts:
    """Divide grains of rows in chunks where clues demand it, which are about the ``tied`` rows only.

    2-means sees these rows and the sample; all others follow. ``grains.of_row`` does not matter.
    """
    count = len(grains.sizes)
    kept, rows, of_row = _keep_rows(chunks, places, tied, soft)
    mine = np.searchsorted(kept, tied)
    part, grain, splits = find_division(rows, of_row, count, hard.at(mine, len(kept)), soft.at(mine, len(kept)))
    own = part[mine]
    # Rows with clues are where the clues put them.
    cuts = np.searchsorted(tied, chunks.starts[1:-1])
    each = [(_Own(*one),) for one in zip(chunks.split(tied), np.split(own, cuts), places.grains, strict=True)]
    found = chunks.keep(_find_parts, splits, places.table, each=each)
    each = [(one._replace(part=known),) for (one,), known in zip(each, found)]
    number, parts = np.arange(len(grain), dtype=np.int32), grains._replace(of_row=own)
    if len(grain) > count:
        changed = np.zeros(count, dtype=bool)
        changed[grain[count:]] = True
        added = chunks.reduce(_tally_parts, _merge_parts, changed[grain], splits, places.table, each=each)
        held = ~changed[grain] | (added.rows > 0)
        number = np.cumsum(held, dtype=np.int32) - 1
        parts = settle_parts(grains, own, grain, changed, added.tally, held, places.shift)
    return ChunkParts(parts, (number, splits, places.table), each)


def _keep_rows(chunks: Chunks, places: Places, tied: Ints, soft: Clues) -> tuple[Ints, Rows, Ints]:
    """Rows with clues, and those of the sample in grains that clues divide: numbers, rows and grains, in memory."""
    known = chunks.gather_kept(places.grains, tied)
    _, x, grain = chunks.call(take_placed, chunks.gather(tied), None, known, *places.table)
    ends = find_inside(soft, grain, range(0))
    if not len(ends):
        return tied, Rows(x, chunks.take_weight(tied), places.shift), grain
    divided = np.zeros(len(places.codebook), dtype=bool)
    divided[grain[ends[:, 0]]] = True
    known = chunks.gather_kept(places.grains, places.drawn)
    drawn, more, of_more = chunks.call(take_placed, places.sample, divided, known, *places.table)
    kept, place = np.unique(np.concatenate([tied, places.drawn[drawn]]), return_index=True)
    rows = Rows(np.concatenate([x, more])[place], chunks.take_weight(kept), places.shift)
    return kept, rows, np.concatenate([grain, of_more])[place]


def take_placed(
    sample: Floats,
    wanted: Bools | None,
    known: Any,
    codebook: Floats,
    cells: Cells | None,
    shift: Floats,
    distinct: bool,
) -> tuple[Ints, Floats, Ints]:
    """Of some rows those in wanted grains (None: all): their numbers among these, the rows, and their grains.

    ``known`` are the grains of the rows if they were found before.
    """
    grain = find_places(sample, codebook, cells, shift, distinct, known)
    which = np.arange(len(sample)) if wanted is None else np.flatnonzero(wanted[grain])
    return which, sample[which], grain[which]


def _find_parts(chunk: Floats, splits: list[Split], table: tuple[Any, ...], own: _Own) -> Ints:
    """Part of each row."""
    if own.part is not None:
        return own.part
    codebook, cells, shift, distinct = table
    grain = find_places(chunk, codebook, cells, shift, distinct, own.grain)
    part = follow_splits(Rows(chunk, None, shift), grain, splits)
    part[own.tied] = own.parts
    return part


def _look_up(chunk: Floats, values: Any, number: Ints, splits: list[Split], table: tuple[Any, ...], own: _Own) -> Any:
    return values[number[_find_parts(chunk, splits, table, own)]]


class _PartSums(NamedTuple):
    """What a chunk adds to parts of grains that are divided."""

    tally: Tally
    rows: Ints | Floats  # of each part; they may weigh nothing


def _tally_parts(
    chunk: Floats,
    changed: Bools,
    splits: list[Split],
    table: tuple[Any, ...],
    own: _Own,
    weight: Floats | None = None,
) -> _PartSums:
    part = _find_parts(chunk, splits, table, own)
    which = np.flatnonzero(changed[part])
    found = tally_of(Rows(chunk, weight, table[2]), part, which, len(changed))
    return _PartSums(found, np.bincount(part[which], minlength=len(changed)))


def _merge_parts(parts: Sequence[_PartSums]) -> _PartSums:
    return _PartSums(add_tallies([part.tally for part in parts]), np.sum([part.rows for part in parts], axis=0))
