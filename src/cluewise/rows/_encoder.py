"""What the encoders of all kinds of columns share: encoded columns in compact form, and their state as plain data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.rows._cells import Cells, Words
from cluewise.rows.balance import moments

__all__ = ["Encoded", "Encoder", "Piece", "as_words"]


class Piece(NamedTuple):
    """Some columns of the encoded matrix, with a share of the variance of the column of the table.

    ``codes`` says which row of the table each row has; without it they are its rows. Means and variances of a lookup
    follow from how often each code occurs, so that a million rows of ten cities cost little.
    """

    table: Floats
    codes: Ints | None = None
    share: float = 1.0

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and variance of each column."""
        if self.codes is None:
            return moments(self.table)
        counts = np.bincount(self.codes, minlength=len(self.table))
        seen = counts > 0
        weights, rows = counts[seen] / len(self.codes), self.table[seen]
        mean = weights @ rows
        spread = rows.max(axis=0) - rows.min(axis=0)
        return mean, np.where(spread > 0, weights @ (rows - mean) ** 2, 0.0)

    def sums(self, weights: Floats) -> Floats:
        """Weighted sums of the columns."""
        if self.codes is None:
            return weights @ self.table
        return np.bincount(self.codes, weights=weights, minlength=len(self.table)) @ self.table

    def balanced(self, center: Floats, spread: Floats) -> Piece:
        """The piece less the center, divided by the spread; only a lookup is computed at once."""
        return self if self.codes is None else self._replace(table=(self.table - center) / spread)


class Encoded(NamedTuple):
    """A column of a table as pieces, which cells are missing (bad ones too), and which are bad."""

    pieces: list[Piece]
    missing: Bools
    bad: Bools


@dataclass(frozen=True, eq=False)
class Encoder(ABC):
    """Turns the cells of one column into numbers; what it has learned are its fields.

    Fields are arrays, or values that JSON holds. Pieces are in natural units: `Rows` balances them.
    """

    kind: ClassVar[str]
    trouble: ClassVar[str] = ""
    """What is wrong with cells that are bad; they count as missing."""

    @abstractmethod
    def encode(self, cells: Cells) -> Encoded:
        """The column as numbers; missing cells are filled in."""

    @abstractmethod
    def names(self, name: str) -> list[str]:
        """The names of the encoded columns."""

    @abstractmethod
    def describe(self) -> str:
        """What the column becomes, in words."""

    @abstractmethod
    def inverse(self, block: Floats) -> list[Any]:
        """Values to show for encoded rows in natural units."""

    def to_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """The fields: plain values, and arrays."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        arrays = {key: value for key, value in values.items() if isinstance(value, np.ndarray)}
        return {key: value for key, value in values.items() if key not in arrays}, arrays

    @classmethod
    def from_state(cls, values: Mapping[str, Any], arrays: Mapping[str, Array]) -> Encoder:
        """The encoder with these fields."""
        given = {**values, **arrays}
        if given.keys() != {f.name for f in fields(cls)}:
            raise ValueError(f"the state of a column of kind {cls.kind} has the fields {', '.join(sorted(given))}.")
        return cls(**given)


def as_words(cells: Cells) -> Words:
    """Cells of any kind as text; whole numbers without a decimal point."""
    if isinstance(cells, Words):
        return cells
    if cells.dtype.kind == "M":
        missing, values = np.isnat(cells), cells
        texts = np.datetime_as_string(values)
    elif cells.ndim == 2:
        missing = np.asarray(np.isnan(cells).any(axis=1))
        texts = np.array([str(row.tolist()) for row in cells])
        values = np.arange(len(cells))
    else:
        missing, values = np.isnan(cells), cells
        texts = None
    found, codes = np.unique(values[~missing], return_inverse=True)
    if texts is None:
        named = [str(int(v)) if abs(v) < 1e15 and v == int(v) else repr(v) for v in found.tolist()]
    else:
        named = texts[~missing][np.unique(codes, return_index=True)[1]].tolist()
    levels = sorted(set(named))
    index = {level: code for code, level in enumerate(levels)}
    all_codes = np.full(len(cells), -1, dtype=np.int64)
    all_codes[~missing] = np.array([index[level] for level in named], dtype=np.int64)[codes]
    return Words(levels, all_codes)
