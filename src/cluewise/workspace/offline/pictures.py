"""Pictures inside a page, small enough for a mail."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cluewise.rows import Rows
from cluewise.workspace.data import Data
from cluewise.workspace.inside import LARGEST, find_inside

__all__ = ["Pictures"]

SIDE = 480
"""Pixels of the longer side."""

MOST = 12_000_000
"""Bytes of all pictures of a page together."""

_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")  # for some others Pillow starts another program
_LARGE = 50_000  # bytes of a PNG from which on it is a photo, which JPEG packs better


class Pictures:
    """The pictures of a page, each of them once.

    ``uris`` are in the order in which they were first wanted; ``unread`` and ``too_many`` count those left out.
    Pictures come from the folder of the data only, as on the page of the server. They are drawn anew, so that nothing
    but pixels gets into the page.
    """

    def __init__(self, data: Data, rows: Rows) -> None:
        self.uris: list[str] = []
        self.unread = self.too_many = 0
        self._data = data
        self._columns = [plan.name for plan in rows.plan_ if plan.kind == "image"]
        self._place: dict[str, int] = {}
        self._bytes = 0

    def of(self, rows: Iterable[int]) -> list[int | None] | None:
        """The number of the picture of each row, -1 where it is left out, None where there is none."""
        if not self._columns:
            return None
        return [self._of(self._data.table.columns[self._columns[0]][row]) for row in rows]

    @property
    def columns(self) -> list[str]:
        """The columns that are shown as pictures, not as paths."""
        return self._columns[:1]

    def _of(self, cell: Any) -> int | None:
        if not isinstance(cell, str) or not cell.strip():
            return None
        if cell not in self._place:
            self._place[cell] = self._add(cell)
        return self._place[cell]

    def _add(self, path: str) -> int:
        file = find_inside(Path(self._data.folder), path.strip())
        drawn = None if file is None else _draw(file)
        if drawn is None:
            self.unread += 1
            return -1
        if self._bytes + len(drawn) > MOST:
            self.too_many += 1
            return -1
        self._bytes += len(drawn)
        kind = "png" if drawn.startswith(b"\x89PNG") else "jpeg"
        self.uris.append(f"data:image/{kind};base64,{base64.b64encode(drawn).decode()}")
        return len(self.uris) - 1


def _draw(path: Path) -> bytes | None:
    """A picture in small, as PNG or JPEG; None if it cannot be read."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    drawn = io.BytesIO()
    try:
        if path.stat().st_size > LARGEST:
            return None
        with Image.open(path, formats=_FORMATS) as image:
            image.draft("RGB", (SIDE, SIDE))  # decodes a JPEG no larger than needed
            small = ImageOps.exif_transpose(image).convert("RGB")
        small.thumbnail((SIDE, SIDE))
        small.save(drawn, "PNG", optimize=True)
        if drawn.tell() > _LARGE:
            drawn = io.BytesIO()
            small.save(drawn, "JPEG", quality=85)
    except (OSError, UnidentifiedImageError, ValueError, Image.DecompressionBombError):
        return None
    return drawn.getvalue()
