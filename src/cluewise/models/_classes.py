"""Which classes a model may consist of. Their names are looked up; no file decides what is imported."""

from __future__ import annotations

import sys
from importlib import import_module

from cluewise._homes import FAMILIES, homes

__all__ = ["UnknownClass", "find_class", "name_class"]

OURS = frozenset({*FAMILIES, "advice", "base", "clues", "core", "front", "sketch"})
"""Packages whose classes may be part of a model."""

THEIRS = {
    "AgglomerativeClustering": "cluster",
    "GaussianMixture": "mixture",
    "KMeans": "cluster",
    "MaxAbsScaler": "preprocessing",
    "MiniBatchKMeans": "cluster",
    "MinMaxScaler": "preprocessing",
    "Normalizer": "preprocessing",
    "PCA": "decomposition",
    "RobustScaler": "preprocessing",
    "SpectralClustering": "cluster",
    "StandardScaler": "preprocessing",
    "TruncatedSVD": "decomposition",
}
"""Estimators of scikit-learn that may be part of a model, and their packages: they hold nothing but arrays."""


class UnknownClass(ValueError):
    """A class that is none of those a model may consist of."""


def name_class(cls: type) -> str:
    """The name of a class in a file."""
    name = cls.__name__
    if name in homes() and _get_public(name) is cls:
        return name
    if name in THEIRS and _get_theirs(name) is cls:
        return f"sklearn.{name}"
    if _is_ours(cls):
        return f"{cls.__module__}.{cls.__qualname__}"
    raise UnknownClass(f"{cls.__module__}.{cls.__qualname__}")


def find_class(name: str) -> type:
    """The class that `name_class` has named so.

    Only packages of `OURS`, and the modules of public classes, are imported. Everything else that a model consists of
    has been imported with its class.
    """
    found: object = None
    if name in homes():
        found = _get_public(name)
    elif name.startswith("sklearn."):
        known = name.removeprefix("sklearn.")
        found = _get_theirs(known) if known in THEIRS else None
    else:
        module, _, own = name.rpartition(".")
        top, package = [*module.split("."), ""][:2]
        if top == "cluewise" and package in OURS:
            import_module(f"cluewise.{package}")
        there = getattr(sys.modules.get(module), own, None)
        found = there if isinstance(there, type) and there.__module__ == module and _is_ours(there) else None
    if not isinstance(found, type) or issubclass(found, BaseException):
        raise UnknownClass(name)
    return found


def _get_public(name: str) -> object:
    return getattr(import_module(homes()[name]), name)


def _get_theirs(name: str) -> object:
    return getattr(import_module(f"sklearn.{THEIRS[name]}"), name)


def _is_ours(cls: type) -> bool:
    """Whether a class is defined at the top of a module of these packages."""
    top, _, rest = cls.__module__.partition(".")
    at_top = getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls
    return top == "cluewise" and rest.partition(".")[0] in OURS and at_top
