"""From cells to places: how right every method is on every set, and whether differences of places mean anything."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from ...cells import Experiment
from ...findings import Findings, Missing, Where

__all__ = ["Scores", "scores"]


class Scores(NamedTuple):
    """A measure of some methods (rows) on some data sets (columns), each the mean over draws of clues."""

    methods: list[str]
    data: list[str]
    values: np.ndarray
    draws: int = 1  # on the set that has the fewest

    @property
    def ranks(self) -> np.ndarray:
        """Mean place of each method over the data sets; 1 is best, equals share their places."""
        return rankdata(-np.round(self.values, 12), axis=0).mean(axis=1)

    @property
    def tested(self) -> bool:
        """Whether there are sets, methods and differences enough for the two tests below."""
        return len(self.data) >= 5 and len(self.methods) >= 3 and len(set(self.ranks)) > 1

    @property
    def difference(self) -> float:
        """Nemenyi's critical difference at 5 %: mean places closer than this may be chance."""
        k, n = self.values.shape
        return float(studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n)))

    @property
    def chance(self) -> float:
        """Friedman's test: how likely such places are if all methods were equally good."""
        return float(friedmanchisquare(*np.round(self.values, 12)).pvalue)

    def of(self, method: str) -> np.ndarray:
        """One method on all data sets."""
        return self.values[self.methods.index(method)]

    def among(self, data: tuple[str, ...]) -> Scores:
        """The same for some of the data sets."""
        kept = [name for name in self.data if name in data]
        return self._replace(data=kept, values=self.values[:, [self.data.index(name) for name in kept]])

    def best(self) -> list[int]:
        """The methods, best mean place first; of equals the one with the larger mean."""
        means, ranks = self.values.mean(axis=1), self.ranks
        return sorted(range(len(self.methods)), key=lambda at: (ranks[at], -means[at]))


def scores(found: Findings, experiment: Experiment, setting: str, measure: str = "ari", stage: str = "") -> Scores:
    """All methods that have been run; a draw without a result counts as 0, the ARI of chance.

    Only draws that all methods have seen count, and sets that have such draws.
    """
    runs = {
        (m, d): found.repetitions(Where(experiment.name, d, setting, m, stage), measure)
        for m in experiment.methods
        for d in experiment.data
    }
    methods = [m for m in experiment.methods if any(runs[m, d] for d in experiment.data)]
    seen = {d: set.intersection(*(set(runs[m, d]) for m in methods)) if methods else set() for d in experiment.data}
    data = [d for d in experiment.data if seen[d]]
    if not data:
        raise Missing(f"{experiment.name} / {setting}")
    values = np.array([[np.mean([runs[m, d][draw] or 0.0 for draw in seen[d]]) for d in data] for m in methods])
    return Scores(methods, data, values, min(len(seen[d]) for d in data))
