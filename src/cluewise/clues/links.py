"""Links: pairs of rows with a weight, a confidence and a source each, in one canonical order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cluewise._typing import Array, ArrayLike, Bools, Floats, Ints
from cluewise.exceptions import ClueError
from cluewise.kernels import graphs

__all__ = ["GIVEN", "Links", "read_pairs", "reporter_of"]

GIVEN = "given"
"""Source of a clue that came without one."""

_PLACE = re.compile(r":(\d+(-\d+)?|(must|cannot)\[\d+\]|labels(\[\d+\]|\..*))$", re.DOTALL)
"""What a file adds to its name in the source of a clue: a line, or a place in a JSON object."""


def reporter_of(source: str) -> str:
    """The person or file behind a source: lines of one file are one source, because a repeated line says nothing new.

    Examples
    --------
    >>> from cluewise.clues.links import reporter_of
    >>> reporter_of("clues.csv:12"), reporter_of("clues.json:must[3]"), reporter_of("ann")
    ('clues.csv', 'clues.json', 'ann')
    """
    return _PLACE.sub("", source)


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs with first < second, sorted, each listed once.

    The same pair may be reported more than once. Reports of one source (a person, a file) count once, with the
    largest weight; reports of different sources add up: two people who say the same weigh twice as much as one.
    """

    pairs: Ints  # (m, 2) int64
    weight: Floats  # (m,) float64, inf = hard
    confidence: Floats | None  # (m,), nan where none was given; None when none was
    source: Array | str  # one for all, or (m,) objects
    reports: Links | None = None  # one entry per pair and source, where a pair has several sources
    truisms: int = 0  # must-links of a row to itself, which were given and left out

    def __len__(self) -> int:
        return len(self.pairs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Links):
            return NotImplemented
        return (
            np.array_equal(self.pairs, other.pairs)
            and np.array_equal(self.weight, other.weight)
            and np.array_equal(self.confidences, other.confidences, equal_nan=True)
            and np.array_equal(self.sources, other.sources)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def sources(self) -> Array:
        """Source of every pair."""
        return np.full(len(self), self.source, dtype=object) if isinstance(self.source, str) else self.source

    @property
    def confidences(self) -> Floats:
        """Confidence of every pair, nan where none was given."""
        return np.full(len(self), np.nan) if self.confidence is None else self.confidence

    @classmethod
    def build(
        cls,
        kind: str,
        n: int,
        pairs: ArrayLike | None,
        weight: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        source: Any = GIVEN,
    ) -> Links:
        """Check what a user gave and bring it into canonical order."""
        rows = read_pairs(kind, n, pairs)
        m = len(rows)
        weights = _per_pair(kind, "weight", 1.0 if weight is None else weight, m)
        bad = np.flatnonzero(~(weights >= 0))
        if len(bad):
            raise ClueError(f"{kind}-link {bad[0]} has weight {weights[bad[0]]}; weights are 0 or more.")
        certain = None if confidence is None else _per_pair(kind, "confidence", confidence, m)
        if certain is not None:
            bad = np.flatnonzero(~np.isnan(certain) & ~((certain > 0.5) & (certain <= 1)))
            if len(bad):
                raise ClueError(
                    f"{kind}-link {bad[0]} has confidence {certain[bad[0]]}; a confidence is above 0.5 and at most 1."
                )
            weights = np.where(np.isnan(certain), weights, 2 * certain - 1)
        if not isinstance(source, str):
            given = source
            source = np.empty(m, dtype=object)
            if len(given) != m:
                raise ClueError(f"{len(given)} sources were given for {m} {kind}-links.")
            source[:] = [str(s) for s in given]
        links = cls(rows, weights, certain, source)
        same = rows[:, 0] == rows[:, 1]
        if not same.any():
            return links._sort(n)
        if kind == "cannot":
            p = int(np.flatnonzero(same)[0])
            raise ClueError(f"{kind}-link {p} links row {rows[p, 0]} to itself.")
        return replace(links._pick(~same)._sort(n), truisms=int(same.sum()))

    def _sort(self, n: int) -> Links:
        low = np.minimum(self.pairs[:, 0], self.pairs[:, 1])
        high = np.maximum(self.pairs[:, 0], self.pairs[:, 1])
        order = graphs.sort_pairs(low, high, n)
        rows = np.empty((len(order), 2), dtype=np.int64)
        rows[:, 0], rows[:, 1] = low[order], high[order]
        confidence = None if self.confidence is None else self.confidence[order]
        source = self.source if isinstance(self.source, str) else self.source[order]
        return Links(rows, self.weight[order], confidence, source)._merge()

    def _first_reports(self) -> Bools:
        """Which entries of a sorted list are about another pair than the one before."""
        new = np.ones(len(self), dtype=bool)
        first, second = self.pairs[:, 0], self.pairs[:, 1]
        new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        return new

    def _merge(self) -> Links:
        """One entry per pair of a sorted list: the largest weight of each source, summed over sources."""
        new = self._first_reports()
        if new.all():
            return self._freeze()
        if isinstance(self.source, str) and self.confidence is None:  # nothing to pick but the weight
            start = np.flatnonzero(new)
            weight = np.maximum.reduceat(self.weight, start)
            return Links(self.pairs[start], weight, None, self.source)._freeze()
        pair = np.cumsum(new)
        reporter = name = np.zeros(len(self), dtype=np.int64)
        if not isinstance(self.source, str):
            reporter = np.unique([reporter_of(s) for s in self.source], return_inverse=True)[1]
            name = np.unique(self.source.astype(str), return_inverse=True)[1]
        # Of lines with equal weight the first name stays, whatever the order they came in.
        order = np.lexsort((-name, self.weight, reporter, pair))
        largest = np.ones(len(self), dtype=bool)
        largest[:-1] = (np.diff(pair[order]) > 0) | (np.diff(reporter[order]) != 0)
        reports = self._pick(order[largest])
        start = np.flatnonzero(reports._first_reports())
        if len(start) == len(reports):
            return reports._freeze()
        several = np.diff(start, append=len(reports)) > 1
        merged = reports._pick(start)
        np.copyto(merged.weight, np.add.reduceat(reports.weight, start))
        for p in np.flatnonzero(several):
            end = start[p + 1] if p + 1 < len(start) else len(reports)
            merged.source[p] = " + ".join(reports.source[start[p] : end])  # type: ignore[index]
        if merged.confidence is not None:  # it stands for the weight only where a single report made it
            merged.confidence[several] = np.nan
        return replace(merged, reports=reports._freeze())._freeze()

    def _pick(self, positions: Array) -> Links:
        confidence = None if self.confidence is None else self.confidence[positions]
        source = self.source if isinstance(self.source, str) else self.source[positions]
        return Links(self.pairs[positions], self.weight[positions], confidence, source)

    def _freeze(self) -> Links:
        for array in (self.pairs, self.weight, self.confidence, self.source):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)  # arrays come back from a pickle writeable
        self._freeze()

    @property
    def by_source(self) -> Links:
        """The same with one entry per pair and source."""
        return self if self.reports is None else self.reports

    def take(self, mask: Bools) -> Links:
        """Links picked by a mask."""
        if self.reports is None:
            return self._pick(mask)._freeze()
        pair = np.cumsum(self.reports._first_reports()) - 1
        return self.reports._pick(np.flatnonzero(mask[pair]))._merge()

    def among(self, place: Callable[[Ints], Ints], n: int) -> Links:
        """Links whose two ends are among n rows; ``place`` tells where a row is among them, −1 = nowhere."""
        reports = self.by_source
        pairs = place(reports.pairs)
        stays = (pairs[:, 0] >= 0) & (pairs[:, 1] >= 0)
        return replace(reports._pick(stays), pairs=pairs[stays])._sort(n)

    def at(self, rows: Ints) -> Links:
        """Links about other rows, which are ascending: row i becomes ``rows[i]``."""
        reports = self.by_source
        return replace(reports, pairs=rows[reports.pairs])._merge()

    def join(self, other: Links, n: int) -> Links:
        """All links of both."""
        truisms = self.truisms + other.truisms
        if not len(other):
            return replace(self, truisms=truisms)
        if not len(self):
            return replace(other, truisms=truisms)
        a, b = self.by_source, other.by_source
        source: Array | str = a.source
        if not (isinstance(a.source, str) and isinstance(b.source, str) and a.source == b.source):
            source = np.concatenate([a.sources, b.sources])
        confidence = None
        if a.confidence is not None or b.confidence is not None:
            confidence = np.concatenate([a.confidences, b.confidences])
        pairs, weight = np.concatenate([a.pairs, b.pairs]), np.concatenate([a.weight, b.weight])
        return replace(Links(pairs, weight, confidence, source)._sort(n), truisms=truisms)


def read_pairs(kind: str, n: int, pairs: ArrayLike | None) -> Ints:
    """Pairs of row numbers as a user gave them, checked."""
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    try:
        rows = np.asarray(pairs if hasattr(pairs, "__array__") else list(pairs))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ClueError(f"{kind}-links are pairs of row numbers; {_odd_one(kind, pairs)}.") from None
    if rows.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        way = "; pass the transpose" if rows.ndim == 2 and len(rows) == 2 else ""
        raise ClueError(f"{kind}-links are pairs of row numbers, shape (m, 2); these have shape {rows.shape}{way}.")
    if rows.dtype.kind not in "iu":
        whole = rows.dtype.kind == "f" and bool(np.all(np.isfinite(rows) & (rows == np.floor(rows))))
        if not whole:
            raise ClueError(f"{kind}-links are pairs of row numbers; these hold {rows.dtype} values.")
    rows = rows.astype(np.int64, copy=False)
    if rows.min() < 0 or rows.max() >= n:
        p = int(np.flatnonzero(((rows < 0) | (rows >= n)).any(axis=1))[0])
        row = next(int(r) for r in rows[p] if not 0 <= r < n)
        there = f"only {n} rows (0 to {n - 1})" if n else "no rows"
        raise ClueError(f"{kind}-link {p} names row {row}, but there are {there}.")
    return rows


def _odd_one(kind: str, pairs: Any) -> str:
    """Which of ragged links is not a pair."""
    try:
        odd = next(p for p, pair in enumerate(pairs) if np.shape(pair) != (2,))
    except (TypeError, ValueError, StopIteration):
        return f"these are {type(pairs).__name__}"
    return f"{kind}-link {odd} is not a pair"


def _per_pair(kind: str, what: str, value: ArrayLike, m: int) -> Floats:
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ClueError(f"{kind}_{what} needs one number or one per link ({m}); it is {value!r}.") from None
    if values.ndim == 0:
        return np.full(m, float(values))
    if values.shape != (m,):
        raise ClueError(f"{kind}_{what} needs one number or one per link ({m}); it has shape {values.shape}.")
    return values.copy()
