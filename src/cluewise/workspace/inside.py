"""Files that cells name: those in the folder of the data, and no others."""

from __future__ import annotations

from pathlib import Path

__all__ = ["LARGEST", "find_inside"]

LARGEST = 2**26
"""Bytes of a picture that people see."""


def find_inside(folder: Path, text: str) -> Path | None:
    """An ordinary file in a folder; None if there is none, or its path leads out, be it by ``..`` or by a link."""
    try:
        given = Path(text)
        if given.is_absolute() or given.drive or ".." in given.parts:
            return None
        base = folder.resolve(strict=True)
        path = (base / given).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):  # missing, a zero byte, links in a circle
        return None
    return path if path.is_relative_to(base) and path.is_file() else None
