"""The files that a command writes: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from cluewise import tables
from cluewise._interrupts import deferred
from cluewise.cli._interrupt import heard

__all__ = ["PICTURES", "TABLES", "check_outputs", "check_suffix", "check_targets", "open_outputs"]

TABLES = (".csv", ".parquet", ".npz", ".json")
PICTURES = (".png", ".pdf", ".svg", ".jpg")


@contextmanager
def open_outputs(targets: Mapping[str, Path | None], inputs: Iterable[Path | None]) -> Iterator[dict[str, Path]]:
    """Temporary files that replace their targets when the block ends well; on any error nothing has changed.

    Keys are the options that name the files. A file that is read is never written. Write into the temporary files
    inside ``tables.writing(target)``: when that fails, the error names the target.
    """
    read = {os.path.realpath(path) for path in inputs if path is not None}
    asides: dict[str, Path] = {}
    taken: dict[str, str] = {}
    with ExitStack() as ending, ExitStack() as stack:
        for option, path in targets.items():
            if path is None:
                continue
            place = os.path.realpath(path)  # unlike Path.resolve, does not fail on links that lead to themselves
            if place in read:
                raise tables.FileError(f"{option} '{path}' is also an input; choose another name.")
            if place in taken:
                raise tables.FileError(f"{option} '{path}' is also written as {taken[place]}.")
            taken[place] = option
            asides[option] = stack.enter_context(tables.atomic(path))
        try:
            yield asides
            if heard():  # Ctrl-C, and its exception was lost on the way
                raise KeyboardInterrupt
        finally:
            ending.enter_context(deferred())  # the files replace their targets, or are removed, all together


def check_suffix(path: Path | None, suffixes: Sequence[str]) -> None:
    """Refuse an output whose suffix is not a known format."""
    if path is not None and path.suffix.lower() not in suffixes:
        choice = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise tables.TableError(f"'{path}' has none of the suffixes {choice}.")


class _Enough(Exception):
    """Ends a block whose outputs are not to be written."""


def check_targets(targets: Mapping[str, Path | None], read: Iterable[Path | None]) -> None:
    """Refuse tables that could not be written at the end, before the first question."""
    for target in targets.values():
        check_suffix(target, TABLES)
    check_outputs(targets, read)


def check_outputs(targets: Mapping[str, Path | None], read: Iterable[Path | None]) -> None:
    """Refuse files that could not be written, whatever they are."""
    with suppress(_Enough), open_outputs(targets, read):
        raise _Enough
