"""Pictures of rows: files in the folder of the data, and no others."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import HTTPException, Response

from cluewise.workspace.inside import LARGEST, find_inside

if TYPE_CHECKING:
    from cluewise.web._session import Session

__all__ = ["image"]

_TIFF = "image/tiff"

# What a file begins with, and its type. A file that begins otherwise is not shown, whatever its name.
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
    b"II*\0": _TIFF,
    b"MM\0*": _TIFF,
}


def image(session: Session, row: int, column: str) -> Response:
    """The picture that a row has in a column.

    Its path is relative to the folder of the data and stays in it: neither ``..`` nor a link leads out.
    """
    data = session.data
    if not 0 <= row < session.n:
        raise HTTPException(404, f"There is no row {row}; rows are numbered from 0 to {session.n - 1}.")
    if session.kinds.get(column) != "image":
        raise HTTPException(404, f"'{column}' is not a column of pictures.")
    text = str(data.table.columns[column][row]).strip()
    path = find_inside(Path(data.folder), text)
    if path is None:
        raise HTTPException(404, f"Row {data.name(row)} has no picture '{text}' in the folder of the data.")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError:
        raise HTTPException(404, f"The picture '{text}' of row {data.name(row)} cannot be read.") from None
    if len(content) > LARGEST:
        raise HTTPException(413, f"The picture '{text}' is larger than {LARGEST // 2**20} MiB.")
    kind = _type_of(content)
    if kind == _TIFF:  # browsers do not show it
        content, kind = _as_png(content), "image/png"
    if kind is None or not content:
        raise HTTPException(415, f"'{text}' of row {data.name(row)} is not a picture.")
    # Whoever opens the address of a picture sees a picture, and nothing in it can run.
    return Response(content, media_type=kind, headers={"content-security-policy": "default-src 'none'; sandbox"})


def _type_of(content: bytes) -> str | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _BEGINNINGS.items() if content.startswith(start)), None)


def _as_png(content: bytes) -> bytes:
    """A TIFF for browsers; nothing if it cannot be read."""
    try:
        from PIL import Image
    except ImportError:
        raise HTTPException(501, "TIFF pictures need Pillow, the extra 'image' of cluewise.") from None
    made = io.BytesIO()
    try:
        with Image.open(io.BytesIO(content), formats=["TIFF"]) as picture:
            picture.convert("RGB").save(made, "PNG")
    except (OSError, ValueError, Image.DecompressionBombError):
        return b""
    return made.getvalue()
