"""Figure 2 as a part of a section: the patterns, colored by the best run of each method."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...cells import Experiment, Problem
from ...document import Block, Heading, Picture, Text
from ...findings import Findings, Missing, Where
from ...parts import Verdict

__all__ = ["Pictures"]


@dataclass(frozen=True)
class Pictures:
    """One row for each data set, one column for each method; the best run is done again for its labels."""

    title: str
    file: str
    about: str
    experiment: Experiment
    setting: str
    methods: tuple[str, ...]

    def blocks(self, findings: Findings, folder: Path) -> list[Block]:
        """The figure, if all of it has been run."""
        head: list[Block] = [Heading(3, self.title), Text(self.about)]
        try:
            best = {(d, m): self._best(findings, d, m) for d in self.experiment.data for m in self.methods}
        except Missing as missing:
            return [*head, Text(f"Not run: {missing}.")]
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        self._draw(best, folder / "figures" / f"{self.file}.svg")
        return [*head, Picture(f"figures/{self.file}.svg", f"{self.title}. Numbers: F.")]

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """None."""
        return []

    def _best(self, findings: Findings, data: str, method: str) -> tuple[int, float]:
        """Repetition and F of the best run."""
        found = findings.repetitions(Where(self.experiment.name, data, self.setting, method), "f")
        runs = {seed: f for seed, f in found.items() if f is not None}
        if not runs:
            raise Missing(" / ".join((self.experiment.name, data, self.setting, method)))
        best = max(runs, key=lambda seed: (runs[seed], -seed))
        return best, runs[best]

    def _labels(self, data: str, method: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows, and the labels of one run."""
        X, y = self.experiment.data[data]()
        k = self.experiment.clusters.get(data, len(np.unique(y)))
        problem = Problem(X, y, k, self.experiment.settings[self.setting](y, seed), seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return X, np.asarray(self.experiment.methods[method](problem))

    def _draw(self, best: dict[tuple[str, str], tuple[int, float]], file: Path) -> None:
        from matplotlib.figure import Figure

        from ...drawing import COLORS, save

        sets = list(self.experiment.data)
        figure = Figure(figsize=(1.7 * len(self.methods), 1.7 * len(sets)), layout="constrained", dpi=100)
        grid = figure.subplots(len(sets), len(self.methods), squeeze=False)
        for (data, method), (seed, score) in best.items():
            row, column = sets.index(data), self.methods.index(method)
            ax = grid[row, column]
            X, labels = self._labels(data, method, seed)
            order = np.argsort(-np.bincount(labels), kind="stable")  # the largest cluster has the first color
            place = np.argsort(order)[labels]
            ax.scatter(*X.T, s=2, c=[COLORS[at % len(COLORS)] for at in place], linewidths=0, rasterized=True)
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_color("#cccccc")
            ax.set_xlabel(f"{score:.2f}", fontsize=8)
            if not row:
                ax.set_title(method, fontsize=8)
            if not column:
                ax.set_ylabel(data, fontsize=8)
        save(figure, file)
