"""Data as each paper prepared them, from the folder that CLUEWISE_DATA names, or beside the checkout."""

from __future__ import annotations

import os
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["folder", "min_max", "paper_set", "raw", "standardized", "stored"]

Pair = tuple[Any, np.ndarray]


def folder(variable: str, name: str) -> Path:
    """A folder that a variable names, by default the one beside the checkout."""
    found = Path(os.environ.get(variable) or Path(__file__).resolve().parents[3] / "shared" / name)
    if not found.is_dir():
        raise SystemExit(f"There is no folder {found}; set {variable}.")
    return found


@cache
def stored(name: str) -> dict[str, np.ndarray]:
    """All arrays of a file; they are shared, so copy before you write."""
    with np.load(folder("CLUEWISE_DATA", "data") / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def raw(name: str) -> Pair:
    """The numbers as they are in the file."""
    file = stored(name)
    X = file["X"]
    return X.copy() if X.dtype == np.float32 else X.astype(np.float64), file["y"]


def standardized(name: str) -> Pair:
    """Every column with mean 0 and variance 1; constant columns become 0."""
    X, y = raw(name)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1), y


def min_max(name: str) -> Pair:
    """Every column from 0 to 1; constant columns become 0 (seed 002)."""
    X, y = raw(name)
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    return (X - low) / np.where(span > 0, span, 1), y


def paper_set(name: str, how: Any = raw) -> Any:
    """A function without arguments that returns X and y."""
    return partial(how, name)
