"""Columns of vectors: lists of numbers in the cells, embeddings, and pictures as small thumbnails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cluewise._extras import install
from cluewise._typing import Array, Floats
from cluewise.rows._cells import Cells, Words
from cluewise.rows._encoder import Encoded, Encoder, Piece, as_words
from cluewise.rows.parse import parse_vectors

__all__ = ["IMAGES", "Images", "Vectors"]

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")
_SIDE = 16  # pixels of a thumbnail
_COLORS = 3


@dataclass(frozen=True, eq=False)
class Vectors(Encoder):
    """The vectors as they are; their lengths and angles keep their meaning."""

    kind: ClassVar[str] = "vector"
    trouble: ClassVar[str] = "not vectors of the usual length"

    center: Array

    @classmethod
    def fit(cls, cells: Cells) -> Vectors | None:
        matrix = _matrix(cells)
        if matrix is None or np.isnan(matrix).all():
            return None
        return cls(np.nanmean(matrix, axis=0))

    def encode(self, cells: Cells) -> Encoded:
        matrix = _matrix(cells)
        empty = cells.codes < 0 if isinstance(cells, Words) else np.zeros(len(cells), dtype=bool)
        if matrix is None or matrix.shape[1] != len(self.center):
            matrix = np.full((len(cells), len(self.center)), np.nan)
        missing = np.asarray(np.isnan(matrix).any(axis=1))
        bad = missing & ~empty & isinstance(cells, Words)
        return Encoded([Piece(np.where(missing[:, None], self.center, matrix))], missing, bad)

    def names(self, name: str) -> list[str]:
        return [f"{name} {j}" for j in range(len(self.center))]

    def describe(self) -> str:
        return f"vector of {len(self.center)} numbers"

    def inverse(self, block: Floats) -> list[Any]:
        return block.tolist()


def _matrix(cells: Cells) -> Array | None:
    if isinstance(cells, Words):
        parsed = parse_vectors(cells.levels) if cells.levels else None
        return None if parsed is None else np.vstack([parsed, np.full(parsed.shape[1], np.nan)])[cells.codes]
    return cells if cells.ndim == 2 else None


@dataclass(frozen=True, eq=False)
class Images(Encoder):
    """Principal components of thumbnails."""

    kind: ClassVar[str] = "image"
    trouble: ClassVar[str] = "not pictures that can be read"

    folder: str
    center: Array  # of the pixels
    components: Array

    @classmethod
    def fit(cls, cells: Words, *, folder: str, n_components: int) -> Images | None:
        pixels = read_thumbnails(cells.levels, folder)
        seen = np.asarray(~np.isnan(pixels).any(axis=1))
        weight = cells.counts * seen
        if not seen.any():
            return None
        center = weight @ np.where(seen[:, None], pixels, 0.0) / weight.sum()
        away = np.where(seen[:, None], pixels - center, 0.0)
        values, vectors = np.linalg.eigh((away.T * weight) @ away)
        size = max(min(n_components, int((values > values[-1] * 1e-9).sum())), 1)
        found = vectors[:, ::-1][:, :size].T
        # An eigenvector has no sign of its own: its largest entry is positive.
        signs = np.sign(found[np.arange(size), np.abs(found).argmax(axis=1)])
        return cls(folder, center, found * signs[:, None])

    def encode(self, cells: Cells) -> Encoded:
        words = as_words(cells)
        scores = (read_thumbnails(words.levels, self.folder) - self.center) @ self.components.T
        unread = np.append(np.isnan(scores).any(axis=1), True)  # the last row is for missing paths
        table = np.where(unread[:, None], 0.0, np.vstack([scores, np.zeros(len(self.components))]))
        codes = np.where(words.codes < 0, len(scores), words.codes).astype(np.int32)
        missing = unread[codes]
        return Encoded([Piece(table, codes)], missing, missing & (words.codes >= 0))

    def names(self, name: str) -> list[str]:
        return [f"{name} {j}" for j in range(len(self.components))]

    def describe(self) -> str:
        return f"pictures: thumbnails in {len(self.components)} principal components"

    def inverse(self, block: Floats) -> list[Any]:
        return ["a picture"] * len(block)


def read_thumbnails(paths: Sequence[str], folder: str) -> Floats:
    """Pictures as rows of pixels between 0 and 1; nan where a file cannot be read."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise ImportError(f"pictures need Pillow: {install('image')}.") from None
    pixels = np.full((len(paths), _SIDE * _SIDE * _COLORS), np.nan)
    for i, path in enumerate(paths):
        try:
            with Image.open(Path(folder) / path) as image:
                image.draft("RGB", (_SIDE, _SIDE))  # decodes a JPEG no larger than needed
                small = image.convert("RGB").resize((_SIDE, _SIDE))
            pixels[i] = np.asarray(small, dtype=np.float64).ravel() / 255
        except (OSError, UnidentifiedImageError, ValueError, Image.DecompressionBombError):
            continue
    return pixels
