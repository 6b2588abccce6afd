"""From cells to places: how right every method is on every set, and whether differences of places mean anything."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from ...cells import Experiment
from ...findings import Findings, Missing, Where

__all__ = ["Scores", "scores"]


class Scores(NamedTuple):
    """A measure of some methods (rows) on some data sets (columns), each the mean over repetitions."""

    methods: list[str]
    data: list[str]
    values: np.ndarray

    @property
    def ranks(self) -> np.ndarray:
        """Mean place of each method over the data sets; 1 is best, equals share their places."""
        return rankdata(-np.round(self.values, 12), axis=0).mean(axis=1)

    @property
    def difference(self) -> float:
        """Nemenyi's critical difference at 5 %: mean places closer than this may be chance."""
        k, n = self.values.shape
        return float(studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n)))

    @property
    def chance(self) -> float:
        """Friedman's test: how likely such places are if all methods were equally good."""
        return float(friedmanchisquare(*self.values).pvalue)

    def of(self, method: str) -> np.ndarray:
        """One method on all data sets."""
        return self.values[self.methods.index(method)]

    def among(self, data: tuple[str, ...]) -> Scores:
        """The same for some of the data sets."""
        kept = [name for name in self.data if name in data]
        return Scores(self.methods, kept, self.values[:, [self.data.index(name) for name in kept]])

    def best(self) -> list[int]:
        """The methods, best mean place first; of equals the one with the larger mean."""
        means, ranks = self.values.mean(axis=1), self.ranks
        return sorted(range(len(self.methods)), key=lambda at: (ranks[at], -means[at]))


def scores(found: Findings, experiment: Experiment, setting: str, measure: str = "ari", stage: str = "") -> Scores:
    """All methods that take such clues; a repetition without a result counts as 0, the ARI of chance."""
    methods = [m for m in experiment.methods if experiment.only(next(iter(experiment.data)), setting, m)]
    data = list(experiment.data)
    table = np.array([[_mean(found, experiment, d, setting, m, measure, stage) for d in data] for m in methods])
    run = ~np.isnan(table).all(axis=0)  # a set on which nothing has been run yet is left out
    if not run.any() or np.isnan(table[:, run]).any():
        raise Missing(f"{experiment.name} / {setting}")
    return Scores(methods, [name for name, there in zip(data, run) if there], table[:, run])


def _mean(
    found: Findings, experiment: Experiment, data: str, setting: str, method: str, measure: str, stage: str
) -> float:
    bad = found.without(Where(experiment.name, data, setting, method))
    try:
        good = found.values(Where(experiment.name, data, setting, method, stage), measure)
    except Missing:
        return 0.0 if bad else np.nan
    return float(good.sum() / (len(good) + bad))
