"""What an experiment is made of: data, clues, methods, seeds, and the cells that these make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from cluewise import Clues

__all__ = ["Cell", "Experiment", "Problem"]


class Problem(NamedTuple):
    """What a method gets to see, and the truth, which it must not look at."""

    X: Any
    y: np.ndarray
    k: int
    clues: Clues | None
    seed: int


class Cell(NamedTuple):
    """One fit: which data, which clues, which method, which repetition."""

    experiment: str
    data: str
    setting: str
    method: str
    seed: int


@dataclass(frozen=True)
class Experiment:
    """A table or a figure, declared.

    ``data`` maps names to functions without arguments that return X and y. ``settings`` maps names to functions from y
    and a seed to clues (None: no clues). ``methods`` maps names to functions from a `Problem` to labels, or to several
    labels by stage ("t1", "t2" …), or to other figures by name. All combinations are run, unless ``only`` says no.
    """

    name: str
    title: str
    data: Mapping[str, Callable[[], tuple[Any, np.ndarray]]]
    settings: Mapping[str, Callable[[np.ndarray, int], Clues | None]]
    methods: Mapping[str, Callable[[Problem], Any]]
    seeds: int
    only: Callable[[str, str, str], bool] = lambda data, setting, method: True
    quick: Mapping[str, Any] = field(default_factory=dict)  # what a pass in CI uses instead
    limit: float = 600.0  # seconds for a cell
    clusters: Mapping[str, int] = field(default_factory=dict)  # where k is not the number of classes

    def cells(self) -> Iterator[Cell]:
        """All cells, one repetition of everything before the next."""
        for seed, data, setting, method in product(range(self.seeds), self.data, self.settings, self.methods):
            if self.only(data, setting, method):
                yield Cell(self.name, data, setting, method, seed)

    def small(self) -> Experiment:
        """The same on a scale that takes seconds."""
        kept: dict[str, Any] = {
            part: {name: getattr(self, part)[name] for name in self.quick[part]}
            for part in ("data", "settings", "methods")
            if part in self.quick
        }
        return replace(self, **kept, seeds=self.quick.get("seeds", 1))
