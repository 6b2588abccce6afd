"""Warnings that point at the line of whoever called ``fit``, however deep inside they are given."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]

INSIDE = ("cluewise.", "sklearn.")


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package and of scikit-learn, which wraps ``fit``."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
