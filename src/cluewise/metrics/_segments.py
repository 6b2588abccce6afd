"""Links as segments between the rows that they speak of, and how far segments overlap.

Labels and groups are written out as pairs. Above ``limit`` pairs of a kind some are drawn: given links first, as many
as there is room for; what labels and groups add is then taken among fewer and fewer rows, each time a random half of
them, until it fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cluewise._squares import largest, require_squares
from cluewise._typing import Floats, Ints
from cluewise.exceptions import ClueError

if TYPE_CHECKING:
    from cluewise.clues import Clues

__all__ = ["Segments", "linked_rows", "overlap", "overlaps", "rows_of", "segments"]

_BLOCK = 1 << 18  # pairs of segments that are looked at together


class Segments(NamedTuple):
    """Links as segments between rows: ends of shape (links, 2, d), and the rows."""

    must: Floats
    cannot: Floats
    must_rows: Ints
    cannot_rows: Ints
    middle: Floats  # (d,), of all these rows
    spread: float  # largest coordinate from there


def segments(X: Any, clues: Clues, limit: int = 10_000, random_state: Any = 0) -> Segments:
    """The rows of must-links and of cannot-links, those of labels and groups included, at most ``limit`` of each."""
    must, cannot = linked_rows(clues, limit, random_state)
    rows, place = np.unique(np.concatenate([must, cannot]), return_inverse=True)
    points = rows_of(X, rows, clues.n)
    middle = points.mean(axis=0) if len(points) else np.zeros(points.shape[1])
    spread = float(np.abs(points - middle).max(initial=0.0))
    ends = points[place.reshape(-1, 2)]
    return Segments(ends[: len(must)], ends[len(must) :], must, cannot, middle, spread)


def linked_rows(clues: Clues, limit: int, random_state: Any = 0) -> tuple[Ints, Ints]:
    """Must-links and cannot-links with those of labels and groups, by the rule of the module."""
    rng = np.random.default_rng(random_state)
    told = clues.only(["labels", "together", "apart"])
    must, cannot = (_some(links, limit, rng) for links in (clues.must, clues.cannot))
    if not told.kinds:
        return must, cannot
    rows = told.tied
    room = max(limit - max(len(must), len(cannot)), limit // 2)
    while _pairs_among(told, rows) > room and len(rows) > 2:
        rows = np.sort(rng.permutation(rows)[: max(2, len(rows) // 2)])
    more = told[rows].pairs(expand=True)
    joined = (np.concatenate([given, rows[pairs]]) for given, pairs in ((must, more[0]), (cannot, more[2])))
    must, cannot = (_some(np.unique(links, axis=0), limit, rng) for links in joined)
    return must, cannot


def _some(links: Ints, limit: int, rng: np.random.Generator) -> Ints:
    if len(links) <= limit:
        return links
    return links[np.sort(rng.choice(len(links), limit, replace=False))]


def _pairs_among(clues: Clues, rows: Ints) -> int:
    """How many pairs labels and groups make among these rows."""
    labelled = int(np.count_nonzero(clues.labels[rows] >= 0))
    total = labelled * (labelled - 1) // 2
    for group in (*clues.together, *clues.apart):
        codes = group.codes[rows]
        size = np.bincount(codes[codes >= 0])
        total += int((size * (size - 1) // 2).sum())
    return total


def rows_of(X: Any, rows: Ints, n: int) -> Floats:
    """Some rows of the data as double-precision numbers, from whatever holds them."""
    if not hasattr(X, "tocsr"):
        X = np.asarray(X)
    if X.ndim != 2 or X.shape[0] != n:
        raise ClueError(f"the clues speak of {n} rows, but X has shape {X.shape}.")
    part = X.tocsr()[rows].toarray() if hasattr(X, "tocsr") else X[rows]
    points: Floats = np.asarray(part, dtype=np.float64)
    if not np.isfinite(points).all():
        first = int(rows[np.flatnonzero(~np.isfinite(points).all(axis=1))[0]])
        raise ValueError(f"X holds nan or infinite numbers in row {first}; fill them in or leave that row out.")
    require_squares(largest(points), points.dtype, "X")
    return points


def overlap(a: Floats, b: Floats, profile: str) -> Floats:
    """Eq. 95-96 with errata: ends of a as places on the lines through b, which run from 0 to the length of b."""
    along = b[:, 1] - b[:, 0]
    length = np.sqrt((along**2).sum(axis=1))
    unit = along / np.where(length > 0, length, 1.0)[:, None]
    start = (b[:, 0] * unit).sum(axis=1)
    first, second = a[:, 0] @ unit.T - start, a[:, 1] @ unit.T - start
    if profile == "library":
        low, high = np.minimum(first, second), np.maximum(first, second)
        found = np.minimum(high, length) - np.maximum(low, 0.0)
        return np.where(length > 0, np.maximum(found, 0.0), 0.0)
    near_first, near_second = np.abs(length - first) < length, np.abs(length - second) < length
    both = np.where(near_first & near_second, np.abs(first - second), 0.0)
    one = np.where(near_first & ~near_second, np.abs(first), 0.0)
    return both + one + np.where(near_second & ~near_first, np.abs(second), 0.0)


def overlaps(found: Segments, profile: str = "library") -> Iterator[tuple[int, Floats, Floats]]:
    """Blocks of must-links: the first one's number, their overlap on all cannot-links, and the other way round."""
    size = max(1, _BLOCK // max(1, len(found.cannot)))
    cannot = found.cannot - found.middle  # far from the origin places on lines would lose digits
    for start in range(0, len(found.must), size):
        must = found.must[start : start + size] - found.middle
        yield start, overlap(must, cannot, profile), overlap(cannot, must, profile).T
