"""What the papers have printed, typed out, from the folder that CLUEWISE_SPEC names, or beside the checkout."""

from __future__ import annotations

import csv
from functools import cache
from typing import NamedTuple

from .sets import folder

__all__ = ["Printed", "max_of", "printed"]


class Printed(NamedTuple):
    """One printed number."""

    table: str
    data: str
    setting: str
    method: str
    metric: str
    mean: float | None  # None: it cannot be read
    std: float | None
    flag: str  # what is wrong with it, or nothing

    @property
    def sound(self) -> bool:
        """Whether it may be compared with anything."""
        return self.mean is not None and not self.flag.startswith(("damaged", "misprint", "N/A"))


@cache
def printed(name: str) -> list[Printed]:
    """All numbers of one file, flagged ones included."""
    with (folder("CLUEWISE_SPEC", "spec") / "published" / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
        return [
            Printed(
                row["table"], row["dataset"], row["setting"], row["method"], row["metric"],
                _number(row["mean"]), _number(row["std"]), row.get("flag") or "",
            )
            for row in csv.DictReader(stream)
        ]  # fmt: skip


def _number(text: str | None) -> float | None:
    return float(text) if text else None


def max_of(points: float, number: Printed) -> float:
    """The tolerance max(points, one printed standard deviation)."""
    return max(points, number.std or 0.0)
