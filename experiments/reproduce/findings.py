"""What our runs have found, read from the files of the runner."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .cells import Experiment

__all__ = ["Findings", "Missing", "Where"]

Key = tuple[str, str, str, str, str]


class Missing(LookupError):
    """Nothing has been run there, or nothing came out."""


class Where(NamedTuple):
    """Which of our cells; several data sets or settings are averaged, each counting the same."""

    experiment: str
    data: str | tuple[str, ...]
    setting: str | tuple[str, ...]
    method: str
    stage: str = ""

    def keys(self) -> list[Key]:
        """One for each data set and setting."""
        data = (self.data,) if isinstance(self.data, str) else self.data
        settings = (self.setting,) if isinstance(self.setting, str) else self.setting
        return [(self.experiment, d, s, self.method, self.stage) for d, s in product(data, settings)]


class Findings:
    """All finished cells of some experiments."""

    def __init__(self, folder: Path, experiments: Mapping[str, Experiment]) -> None:
        self.experiments = experiments
        self.rows: list[dict[str, str]] = []
        self._good: dict[Key, list[dict[str, str]]] = {}
        self._bad: dict[Key, list[dict[str, str]]] = {}
        for name in experiments:
            path = folder / f"{name}.csv"
            if path.exists():
                with path.open(newline="", encoding="utf-8") as stream:
                    self.rows += csv.DictReader(stream)
        for row in self.rows:
            key = (row["experiment"], row["data"], row["setting"], row["method"], row["stage"])
            (self._good if row["status"] == "ok" else self._bad).setdefault(key, []).append(row)

    def values(self, where: Where, measure: str) -> np.ndarray:
        """One number for each repetition, of one data set and setting; by number of the repetition."""
        (key,) = where.keys()
        return self._values(key, measure)

    def _values(self, key: Key, measure: str) -> np.ndarray:
        rows = sorted(self._good.get(key, ()), key=lambda row: int(row["seed"]))
        found = np.array([float(row[measure]) for row in rows if row[measure] != ""])
        if not len(found):
            raise Missing(" / ".join(filter(None, key)))
        return found

    def mean(self, where: Where, measure: str) -> float:
        """Mean over repetitions, then over data sets and settings."""
        return float(np.mean([self._values(key, measure).mean() for key in where.keys()]))  # noqa: SIM118

    def std(self, where: Where, measure: str) -> float:
        """Standard deviation over repetitions, then the mean of these."""
        return float(np.mean([self._values(key, measure).std() for key in where.keys()]))  # noqa: SIM118

    def runs(self, where: Where) -> str:
        """How many repetitions of how many: those of the data set and setting that has the fewest."""
        done = min(len(self._good.get(key, ())) for key in where.keys())  # noqa: SIM118
        return f"{done} of {self.experiments[where.experiment].seeds}"

    def repetitions(self, where: Where, measure: str) -> dict[int, float | None]:
        """What came out of each repetition that was run, of one data set and setting; None: nothing did."""
        (key,) = where.keys()
        found: dict[int, float | None] = {int(row["seed"]): None for row in self._bad.get((*key[:4], ""), ())}
        good = self._good.get(key, ())
        return found | {int(row["seed"]): float(row[measure]) for row in good if row[measure] != ""}

    def without(self, where: Where, state: str) -> int:
        """How many cells were run and have no result, because they "failed" or were "late"."""
        rows = [row for key in where.keys() for row in self._bad.get(key, ())]  # noqa: SIM118
        return sum(row["status"] == state for row in rows)

    def states(self, name: str) -> Counter[str]:
        """How many cells of an experiment ended how: ok, failed, late."""
        rows = [row for row in self.rows if row["experiment"] == name]
        return Counter({_cell(row): row["status"] for row in rows}.values())

    def bad(self) -> dict[tuple[str, str, str], list[str]]:
        """Why cells have no result, by experiment, method and kind of trouble."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for row in self.rows:
            if row["status"] != "ok":
                kind = f"{row['status']}: {row['why'].partition(':')[0]}"
                found.setdefault((row["experiment"], row["method"], kind), []).append(row["why"])
        return found

    def origin(self) -> list[str]:
        """Versions and commits that the cells were run with."""
        return sorted({f"{row['version']} ({row['commit']})" if row["commit"] else row["version"] for row in self.rows})


def _cell(row: Mapping[str, str]) -> tuple[str, ...]:
    return row["data"], row["setting"], row["method"], row["seed"]
