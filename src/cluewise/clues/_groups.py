"""Columns that name a group, a class or a cluster for each row: reading them, and groups with weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

import numpy as np

from cluewise._texts import HALF, short
from cluewise._typing import Array, ArrayLike, Floats, Ints
from cluewise.clues.links import GIVEN
from cluewise.exceptions import ClueError

__all__ = ["Groups", "code_list", "codes_of", "columns_of", "compact", "expand", "in_order"]


@dataclass(frozen=True, eq=False)
class Groups:
    """A group column: which group each row is in, and how much each group counts.

    Examples
    --------
    >>> from cluewise import Clues
    >>> photo = Clues(4, apart=["p1", "p1", None, "p2"]).apart[0]
    >>> photo.codes.tolist(), photo.names.tolist(), photo.weights.tolist()
    ([0, 0, -1, 1], ['p1', 'p2'], [1.0, 1.0])
    """

    codes: Ints  # (n,) int32, −1 = in no group
    weights: Floats  # (g,) float64, inf = hard
    names: Array  # (g,) objects, as the user called them
    source: str = GIVEN

    def __post_init__(self) -> None:
        for name in ("codes", "weights", "names"):
            view = getattr(self, name).view()  # the caller's own array stays as it is
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)  # arrays come back from a pickle writeable
        self.__post_init__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Groups):
            return NotImplemented
        return (
            self.source == other.source
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.weights, other.weights)
            and list(self.names) == list(other.names)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def sizes(self) -> Ints:
        """Number of rows in each group."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.weights))

    def among(self, rows: Ints) -> Groups:
        """The same groups restricted to some rows, in their order."""
        return self.renumbered(self.codes[rows])

    def take(self, mask: Array) -> Groups:
        """Only the groups picked by a mask over groups."""
        return self.renumbered(np.where(np.append(mask, False)[self.codes], self.codes, -1))

    def renumbered(self, codes: Ints) -> Groups:
        """The groups of other rows, which have these codes, in the order in which they come."""
        present, first, code = np.unique(codes[codes >= 0], return_index=True, return_inverse=True)
        rank = np.empty(len(present), dtype=np.int32)
        by_first = np.argsort(first)
        rank[by_first] = np.arange(len(present))
        new = np.full(len(codes), -1, dtype=np.int32)
        new[codes >= 0] = rank[code]
        return Groups(new, self.weights[present[by_first]], self.names[present[by_first]], self.source)


def columns_of(
    kind: str, n: int, given: Any, weight: ArrayLike | None, confidence: float | None, source: str
) -> tuple[Groups, ...]:
    """Group columns from what a user gave: one column, a list of columns, or `Groups`."""
    built = []
    for column in _columns(kind, n, given):
        if isinstance(column, Groups):
            _check_groups(kind, n, column)
            built.append(column)
            continue
        codes, names = codes_of(kind, n, column, by_appearance=True)
        if confidence is not None:
            weight = 2 * confidence - 1
        try:
            weights = np.asarray(1.0 if weight is None else weight, dtype=np.float64)
        except (TypeError, ValueError):
            raise ClueError(f"{kind}_weight needs numbers; it is {weight!r}.") from None
        weights = np.full(len(names), float(weights)) if weights.ndim == 0 else weights.copy()
        if weights.shape != (len(names),):
            raise ClueError(f"{kind}_weight needs one number or one per group ({len(names)}).")
        if not (weights >= 0).all():
            raise ClueError(f"{kind}_weight holds {weights[~(weights >= 0)][0]}; weights are 0 or more.")
        built.append(Groups(codes, weights, names, source))
    return in_order(built)


def in_order(columns: Iterable[Groups]) -> tuple[Groups, ...]:
    """Columns that hold a group at all, in one canonical order: their order carries no meaning."""
    return tuple(sorted((c for c in columns if len(c.weights)), key=cmp_to_key(_compare)))


def _compare(a: Groups, b: Groups) -> int:
    """Which column comes first; names, which are slow to compare, only break ties."""
    for part in (
        lambda g: g.codes.tobytes(),
        lambda g: g.source,
        lambda g: g.weights.tobytes(),
        lambda g: repr(g.names.tolist()),
    ):
        x, y = part(a), part(b)
        if x != y:
            return -1 if x < y else 1
    return 0


def _check_groups(kind: str, n: int, groups: Groups) -> None:
    if groups.codes.shape != (n,):
        raise ClueError(f"{kind} covers {len(groups.codes)} rows, but there are {n}.")
    if groups.codes.dtype != np.int32 or groups.weights.shape != groups.names.shape:
        raise ClueError(f"{kind}: Groups need int32 codes and one weight and one name per group.")
    row = np.flatnonzero((groups.codes < -1) | (groups.codes >= len(groups.weights)))
    if len(row):
        raise ClueError(f"{kind} puts row {row[0]} into group {groups.codes[row[0]]}, which has no weight.")


def _columns(kind: str, n: int, given: Any) -> Sequence[Any]:
    """What a user gave as a list of columns: None and an empty list are none, a table has one in each column."""
    if given is None or (isinstance(given, (list, tuple)) and not len(given)):
        return ()
    if not isinstance(given, (list, tuple, Groups)) and len(getattr(given, "shape", ())) == 2:
        table = given if isinstance(given, np.ndarray) else np.asarray(given)
        if len(table) != n:
            way = "its transpose" if table.shape[1] == n else "a table of shape (n, T), or a list of columns"
            raise ClueError(f"{kind} needs one row for each of {n} rows; it has shape {table.shape}: pass {way}.")
        return list(table.T)
    nested = isinstance(given, (list, tuple)) and all(_is_column(c) for c in given)
    if nested and len(given) == n and not any(isinstance(c, Groups) or len(c) == n for c in given):
        raise ClueError(f"{kind} lists a value per column for each row; pass a list of columns, or np.asarray({kind}).")
    return given if nested else [given]


def _is_column(value: Any) -> bool:
    return isinstance(value, (Groups, list, np.ndarray)) or (
        hasattr(value, "__array__") and not isinstance(value, (str, bytes, np.generic))
    )


def codes_of(kind: str, n: int, column: Any, *, by_appearance: bool = False) -> tuple[Ints, Array]:
    """Integer codes (−1 = unknown) and the values they stand for, sorted where they can be.

    Unknown is −1, None, "" or nan.
    """
    values = _as_array(column)
    if values.ndim != 1 or len(values) != n:
        raise ClueError(f"{kind} needs one value per row ({n}); it has shape {values.shape}.")
    known = _known(values)
    codes = np.full(n, -1, dtype=np.int32)
    present = values[known]
    if values.dtype.kind == "f":
        if not np.isfinite(present).all():
            raise ClueError(f"{kind} holds an infinite value in row {np.flatnonzero(np.isinf(values))[0]}.")
        if (present == np.floor(present)).all() and (np.abs(present) < 2**53).all():
            present = present.astype(np.int64)
    if values.dtype.kind == "O":
        names, code = _object_codes(present)
    else:
        names, code = np.unique(present, return_inverse=True)
        names = names.astype(object)
    for name in names:
        if isinstance(name, str) and HALF.search(name):
            raise ClueError(f"{kind} holds half a character (a lone surrogate): {short(name)!a}.")
    if by_appearance and len(names):
        first = np.full(len(names), len(code))
        np.minimum.at(first, code, np.arange(len(code)))
        order = np.argsort(first)
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        names, code = names[order], rank[code]
    codes[known] = code
    return codes, names


def _as_array(column: Any) -> Array:
    """The column as it is, or as objects: tuples stay single values, mixed types are not turned into text."""
    if isinstance(column, np.ma.MaskedArray):
        values = column.data.astype(object)
        values[np.ma.getmaskarray(column)] = None
    elif isinstance(column, (list, tuple)):
        values = np.empty(len(column), dtype=object)
        for i, value in enumerate(column):
            values[i] = value
    else:
        values = np.asarray(column)
    if values.dtype.kind == "O" and values.ndim == 1:
        if all(isinstance(v, (int, np.integer)) and not isinstance(v, (bool, np.bool_)) for v in values):
            fits = all(-(2**63) <= v < 2**63 for v in values)  # larger numbers stay objects
            return values.astype(np.int64) if fits else values
        numbers = all(v is None or (isinstance(v, (int, float, np.number)) and not isinstance(v, bool)) for v in values)
        if numbers and any(isinstance(v, (float, np.floating)) for v in values):
            return values.astype(np.float64)  # None becomes nan
    return values


def _known(values: Array) -> Array:
    if values.dtype.kind in "iu":
        return values >= 0 if values.dtype.kind == "u" else values != -1
    if values.dtype.kind == "f":
        return ~(np.isnan(values) | (values == -1))
    if values.dtype.kind in "US":
        return values != values.dtype.type()
    if values.dtype.kind in "mM":
        return ~np.isnat(values)
    if values.dtype.kind == "b":
        return np.ones(len(values), dtype=bool)
    return np.array([not _unknown(v) for v in values], dtype=bool)


def _unknown(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value == ""):
        return True
    if isinstance(value, (float, np.floating)) and np.isnan(value):
        return True
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    # pandas' own mark for a missing value compares as neither true nor false.
    return (number and value == -1) or type(value).__name__ in {"NAType", "NaTType"}


def _object_codes(values: Array) -> tuple[Array, Ints]:
    seen: dict[Any, int] = {}
    try:
        code = np.array([seen.setdefault(v, len(seen)) for v in values], dtype=np.int64)
    except TypeError:
        raise ClueError("labels and group names must be hashable (text, numbers, tuples).") from None
    names = np.empty(len(seen), dtype=object)
    for value, c in seen.items():
        names[c] = value
    try:
        order = np.array(sorted(range(len(names)), key=lambda c: names[c]), dtype=np.int64)
    except TypeError:  # mixed types have no order: the order of appearance stays
        return names, code
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return names[order], rank[code]


def compact(codes: Ints) -> Array:
    """Codes with −1 in the smallest unsigned type; its largest value stands for missing."""
    top = int(codes.max(initial=-1))
    dtype = next(t for t in (np.uint8, np.uint16, np.uint32) if top < np.iinfo(t).max)
    stored = np.where(codes < 0, np.iinfo(dtype).max, codes).astype(dtype)
    stored.flags.writeable = False
    return stored


def expand(stored: Array) -> Ints:
    """Undo `compact`: int32 codes with −1 = missing."""
    return np.where(stored == np.iinfo(stored.dtype).max, -1, stored.astype(np.int64)).astype(np.int32)


def code_list(kind: str, n: int, given: Any) -> list[Ints]:
    """One or several columns of codes (partitions, clusterings to avoid)."""
    columns = []
    for t, column in enumerate(_columns(kind, n, given)):
        is_compact = isinstance(column, np.ndarray) and column.dtype.kind == "u"
        codes, _ = codes_of(f"{kind} {t}", n, expand(column) if is_compact else column)
        codes.flags.writeable = False
        columns.append(codes)
    return columns
