"""One declarative file or folder for each paper: ``EXPERIMENTS``, what to run, and ``SECTION``, what is told of it."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__all__ = ["modules"]


def modules() -> list[ModuleType]:
    """All files of this folder, by name."""
    return [import_module(f"{__name__}.{found.name}") for found in sorted(iter_modules(__path__), key=lambda m: m.name)]
