"""The public surface: every public name with its signature. ``python tools/surface.py`` writes docs/surface.txt.

A test compares the file with the library, so that no name or parameter comes, goes or changes its default unnoticed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "surface.txt"


def list_surface() -> str:
    """All public names, one per line."""
    import cluewise
    from cluewise._homes import ROOMS

    lines = [line for name in cluewise.__all__ if name not in ROOMS for line in _describe(f"cluewise.{name}")]
    for room in ROOMS:
        for name in import_module(f"cluewise.{room}").__all__:
            lines += _describe(f"cluewise.{room}.{name}")
    return "\n".join(lines) + "\n"


def _describe(path: str) -> Iterator[str]:
    room, _, name = path.rpartition(".")
    value = getattr(import_module(room), name)
    yield path + _sign(value)
    if inspect.isclass(value):
        for method in sorted(vars(value)):
            made = method.startswith("set_") and method.endswith("_request")  # by scikit-learn, from what fit takes
            if not method.startswith("_") and not made and callable(getattr(value, method)):
                yield f"    .{method}{_sign(getattr(value, method))}"


def _sign(value: Any) -> str:
    """The names and defaults of parameters; annotations are for type checkers."""
    if not callable(value):
        return ""
    try:
        signature = inspect.signature(value)
    except ValueError:  # of a built-in base
        return "(...)"
    plain = [
        one.replace(annotation=inspect.Parameter.empty, default=_in_order(one.default))
        for one in signature.parameters.values()
    ]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _in_order(default: Any) -> Any:
    """A set as a sorted tuple, because a set is written in another order each time."""
    return tuple(sorted(default)) if isinstance(default, frozenset) else default


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    FILE.write_text(list_surface())
