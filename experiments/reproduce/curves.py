"""Figures as parts of a section: lines over settings, one panel for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .document import Block, Heading, Picture, Text
from .findings import Findings, Missing, Where
from .parts import Verdict

__all__ = ["Curves"]


@dataclass(frozen=True)
class Curves:
    """A figure: one panel for each data set, in it one line for each name.

    ``lines`` maps names to points, and these map positions on the axis to setting and method, and stage if there is
    one. ``baseline`` is the setting and method of a baseline: drawn as a level line, or taken off all others where
    ``gain`` is set.
    """

    title: str
    file: str
    about: str
    experiment: str
    data: Sequence[str]
    lines: Mapping[str, Mapping[float, tuple[str, str] | tuple[str, str, str]]]
    measure: str = "nmi"
    factor: float = 100.0
    axes: tuple[str, str] = ("", "NMI (%)")
    baseline: tuple[str, str] | None = None
    gain: bool = False
    log: bool = False

    def blocks(self, findings: Findings, folder: Path) -> list[Block]:
        """The figure, if any of its points has been run."""
        panels = {data: self._points(findings, data) for data in self.data}
        panels = {data: points for data, points in panels.items() if points}
        if not panels:
            return [Heading(3, self.title), Text(self.about), Text("Not run.")]
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        self._draw(findings, panels, folder / "figures" / f"{self.file}.svg")
        cells = [
            Where(self.experiment, data, *tail)
            for data, points in panels.items()
            for name in points
            for x, tail in self.lines[name].items()
            if x in points[name]
        ]
        fewest = min((findings.runs(where) for where in cells), key=lambda runs: int(runs.split()[0]))
        caption = f"{self.title}. Mean and standard deviation; repetitions: {fewest}, or more."
        return [Heading(3, self.title), Text(self.about), Picture(f"figures/{self.file}.svg", caption)]

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """None."""
        return []

    def _points(self, findings: Findings, data: str) -> dict[str, dict[float, tuple[float, float]]]:
        found: dict[str, dict[float, tuple[float, float]]] = {}
        for name, points in self.lines.items():
            for x, tail in points.items():
                where = Where(self.experiment, data, *tail)
                try:
                    pair = (
                        self.factor * findings.mean(where, self.measure),
                        self.factor * findings.std(where, self.measure),
                    )
                except Missing:
                    continue
                found.setdefault(name, {})[x] = pair
        return found

    def _draw(self, findings: Findings, panels: Mapping[str, Any], file: Path) -> None:
        from . import drawing

        levels = {}
        for data in panels:
            with suppress(Missing):
                if self.baseline is not None:
                    where = Where(self.experiment, data, *self.baseline)
                    levels[data] = self.factor * findings.mean(where, self.measure)
        name = self.baseline[1] if self.baseline else ""
        look: dict[str, Any] = {"axes": self.axes, "gain": self.gain, "log": self.log, "order": list(self.lines)}
        drawing.panels(file, panels, levels, level_name=name, **look)
