"""Output files: refused before the work begins, written whole or not at all."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cluewise import tables
from cluewise._interrupts import deferred
from cluewise.cli._interrupt import heard

__all__ = ["Reserved", "as_json", "picture_format", "reserved", "table_format"]

_TABLES = (".csv", ".parquet", ".npz", ".json")
_PICTURES = (".png", ".pdf", ".svg", ".jpg")


class Reserved(NamedTuple):
    """Temporary files for the options that name output files."""

    wanted: Mapping[str, Path | None]
    asides: dict[str, Path]

    @contextmanager
    def writing(self, option: str) -> Iterator[Path]:
        """The temporary file of an option; when it cannot be written, the error names the file that was asked for."""
        path = self.wanted[option]
        assert path is not None
        with tables.writing(path):
            yield self.asides[option]


@contextmanager
def reserved(wanted: Mapping[str, Path | None], inputs: Iterable[Path | None]) -> Iterator[Reserved]:
    """Temporary files that take their places when the block ends well; on any error nothing has changed.

    Keys are the options that name the files. A file that is read is never written.
    """
    read = {os.path.realpath(path) for path in inputs if path is not None}
    asides: dict[str, Path] = {}
    taken: dict[str, str] = {}
    with ExitStack() as ending, ExitStack() as stack:
        for option, path in wanted.items():
            if path is None:
                continue
            place = os.path.realpath(path)  # unlike Path.resolve, does not fail on links that lead to themselves
            if place in read:
                raise tables.FileError(f"{option} '{path}' is a file that is read; choose another name.")
            if place in taken:
                raise tables.FileError(f"{option} '{path}' is also written as {taken[place]}.")
            taken[place] = option
            asides[option] = stack.enter_context(tables.atomic(path))
        try:
            yield Reserved(wanted, asides)
            if heard():  # and lost on the way
                raise KeyboardInterrupt
        finally:
            ending.enter_context(deferred())  # the files take their places, or are removed, all together


def table_format(path: Path | None) -> None:
    """Refuse a table whose suffix says no format."""
    if path is not None:
        _known(path, _TABLES)


def picture_format(path: Path | None) -> None:
    """Refuse a picture whose suffix says no format, or that nothing can draw."""
    if path is None:
        return
    _known(path, _PICTURES)
    from cluewise.plots import require_matplotlib

    require_matplotlib()


def _known(path: Path, suffixes: tuple[str, ...]) -> None:
    if path.suffix.lower() not in suffixes:
        choice = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise tables.TableError(f"'{path}' has none of the suffixes {choice}.")


def as_json(value: Any) -> str:
    """JSON that every reader accepts: no NaN, no numpy."""
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    # Names of files need not be UTF-8; what is not becomes an escape, which JSON reads back as it was.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
