"""Binary messages to the page: a header in JSON, then plain little-endian numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from cluewise._typing import Array, Floats, Ints

__all__ = ["changes_frame", "channel_frame", "labels_frame", "layout_frame"]

_SMALL, _LARGE = 255, 65535  # what stands for nothing in one byte and in two


def layout_frame(name: str, xy: Floats) -> bytes:
    """Coordinates of all rows."""
    return _pack({"type": "layout", "id": name, "rows": len(xy)}, xy.astype("<f4"))


def labels_frame(revision: int, labels: Ints) -> bytes:
    """The cluster of each row."""
    codes, dtype = _encode(labels, int(labels.max(initial=-1)))
    return _pack({"type": "labels", "revision": revision, "rows": len(labels), "dtype": dtype}, codes)


def changes_frame(revision: int, before: int, rows: Ints, labels: Ints, largest: int) -> bytes:
    """The cluster of each row that is not where it was; ``largest`` is the largest id of all clusters."""
    codes, dtype = _encode(labels, largest)
    header = {"type": "changes", "revision": revision, "from": before, "count": len(rows), "dtype": dtype}
    return _pack(header, rows.astype("<u4"), codes)


def channel_frame(name: str, values: Ints, legend: Sequence[str]) -> bytes:
    """One value per row; -1 stands for nothing."""
    codes, dtype = _encode(values, int(values.max(initial=-1)))
    return _pack({"type": "channel", "name": name, "rows": len(values), "dtype": dtype, "legend": list(legend)}, codes)


def _encode(values: Ints, largest: int) -> tuple[Array, str]:
    """Numbers in as few bytes as hold them all, negative ones as the largest number."""
    nothing, dtype, name = (_SMALL, "<u1", "u8") if largest < _SMALL else (_LARGE, "<u2", "u16")
    return np.where(values < 0, nothing, np.minimum(values, nothing)).astype(dtype), name


def _pack(header: dict[str, Any], *parts: Array) -> bytes:
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([len(text).to_bytes(4, "little"), text, *(part.tobytes() for part in parts)])
