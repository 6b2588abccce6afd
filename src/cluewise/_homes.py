"""Where each public name lives; ``__all__`` of the families is read without importing them."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["FAMILIES", "ROOMS", "homes"]

FAMILIES = (
    "centroid",
    "mixture",
    "ensemble",
    "hierarchy",
    "density",
    "graph",
    "spectral",
    "margin",
    "boosting",
    "alternative",
    "metric_learning",
)
"""Packages of methods: each public name of theirs is one of cluewise, too."""

ROOMS = ("active", "adapters", "checks", "datasets", "exceptions", "metrics", "plots", "store", "web")
"""Packages that are attributes of cluewise."""

_OTHERS = {
    "cluewise.advice": ("ClueSearchCV", "check", "compare", "propagate", "suggest", "suspects"),
    "cluewise.base": ("Card",),
    "cluewise.catalogue": ("clusterers",),
    "cluewise.clues": ("Clues",),
    "cluewise.core.threads": ("threads",),
    "cluewise.explain": ("describe", "stability"),
    "cluewise.front": ("Cluewise", "keep_ids"),
    "cluewise.models": ("load", "save"),
    "cluewise.rows": ("Rows",),
    "cluewise.sketch": ("Grains",),
}


@cache
def homes() -> dict[str, str]:
    """The module of every public name of cluewise."""
    listed = {f"cluewise.{package}": _listed(f"cluewise.{package}") for package in (*FAMILIES, "exceptions")}
    return {name: home for home, names in (_OTHERS | listed).items() for name in names}


def _listed(package: str) -> tuple[str, ...]:
    """``__all__`` of a package, by its source: importing it would load every method in it."""
    loader: Any = getattr(find_spec(package), "loader", None)
    source = loader.get_source(package) if hasattr(loader, "get_source") else None
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(ast.literal_eval(node.value))
    return tuple(import_module(package).__all__)  # shipped without sources
