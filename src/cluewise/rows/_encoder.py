"""What the encoders of all kinds of columns share: their state as plain data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from cluewise._typing import Array, Bools, Floats
from cluewise.rows._cells import Cells, Words

__all__ = ["Encoder", "as_words"]


@dataclass(frozen=True, eq=False)
class Encoder(ABC):
    """Turns the cells of one column into a block of numbers; what it has learned are its fields.

    Fields are arrays, or values that JSON holds. A block is in natural units: `Rows` balances it.
    """

    kind: ClassVar[str]
    trouble: ClassVar[str] = ""
    """What is wrong with cells that `prepare` marks as bad; they count as missing."""

    @abstractmethod
    def prepare(self, cells: Cells) -> tuple[Array, Bools, Bools]:
        """The cells as `transform` takes them, which are missing (bad ones too), and which are bad."""

    @abstractmethod
    def transform(self, prepared: Array) -> Floats:
        """The block, of shape (n, width); missing cells are filled in."""

    @abstractmethod
    def names(self, name: str) -> list[str]:
        """The names of the columns of the block."""

    @abstractmethod
    def describe(self) -> str:
        """What the column becomes, in words."""

    @abstractmethod
    def inverse(self, block: Floats) -> list[Any]:
        """Values to show for rows of a block."""

    def parts(self) -> list[tuple[int, float]]:
        """Widths of the parts of the block, and the share of the column's variance that each has."""
        return [(len(self.names("")), 1.0)]

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
