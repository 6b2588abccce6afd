"""Finished cells on the disk."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import cluewise

from .cells import Cell

__all__ = ["COLUMNS", "Results", "commit", "gather"]

MEASURES = ("ari", "nmi", "f", "rand", "broken")
COLUMNS = (
    *Cell._fields, "stage", "status", "why", *MEASURES, "value", "clusters", "seconds", "version", "commit", "when",
)  # fmt: skip


class Results:
    """A CSV file of finished cells, one line for each stage; what is in it survives a kill."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: set[Cell] = set()
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._mend()
            with path.open(newline="", encoding="utf-8") as stream:
                self.done = {_cell(row) for row in csv.DictReader(stream)}
        else:
            path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")

    def _mend(self) -> None:
        """Cut off half a line that a kill has left."""
        data = self.path.read_bytes()
        complete = data.rfind(b"\n") + 1
        if complete < len(data):
            with self.path.open("rb+") as stream:
                stream.truncate(complete)

    def forget(self, states: Iterable[str]) -> None:
        """Drop the cells that ended in one of these states, so that they are run again."""
        with self.path.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if row["status"] not in states]
        beside = self.path.with_suffix(".new")
        beside.write_text(",".join(COLUMNS) + "\n" + _lines(rows), encoding="utf-8")
        beside.replace(self.path)
        self.done = {_cell(row) for row in rows}

    def add(self, cell: Cell, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write all stages of a cell at once, and wait until the disk has them."""
        stamp = {"version": cluewise.__version__, "commit": commit(), "when": time.strftime("%Y-%m-%dT%H:%M:%S")}
        lines = _lines({**cell._asdict(), **stamp, **row} for row in rows)
        with self.path.open("ab", buffering=0) as stream:
            stream.write(lines.encode())
            os.fsync(stream.fileno())
        self.done.add(cell)


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO(newline="")
    csv.DictWriter(text, COLUMNS, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cell(row: Mapping[str, str]) -> Cell:
    return Cell(row["experiment"], row["data"], row["setting"], row["method"], int(row["seed"]))


def gather(folder: Path) -> Path:
    """All lines of a folder as one Parquet file, whose columns have types."""
    import polars as pl

    numbers = dict.fromkeys((*MEASURES, "value", "seconds"), pl.Float64) | dict.fromkeys(("seed", "clusters"), pl.Int64)
    kinds = {column: numbers.get(column, pl.String) for column in COLUMNS}
    whole = pl.concat([pl.read_csv(path, schema=kinds) for path in sorted(folder.glob("*.csv"))])
    path, beside = folder / "cells.parquet", folder / "cells.parquet.new"
    whole.write_parquet(beside)
    return beside.replace(path)


@cache
def commit() -> str:
    """The commit that is checked out, with a + if files differ from it; nothing outside of git."""
    asked = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    return subprocess.run(asked, cwd=Path(__file__).parent, capture_output=True, text=True, check=False).stdout.strip()
