"""All methods for one kind of clue: a picture of their mean places, then a table for each share of wrong clues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...cells import Experiment
from ...document import Block, Grid, Heading, Picture, Text
from ...findings import Findings, Missing, Where
from ...parts import Verdict
from .runs import KINDS, OTHERS, OURS
from .scores import Scores, scores

__all__ = ["Board", "accuracy", "shown"]


def accuracy(found: Findings, experiment: Experiment, name: str) -> Scores:
    """ARI of all rows, or, where labels were given, of the others."""
    if name.startswith(KINDS[-1]):
        return scores(found, experiment, name, "value", OTHERS)
    return scores(found, experiment, name)


def shown(method: str) -> str:
    """Rivals in italics."""
    return method if method in OURS else f"*{method}*"


@dataclass(frozen=True)
class Board:
    """All methods for some settings; ``extra`` is the head of one more column, and the stage that it shows."""

    title: str
    file: str
    experiment: Experiment
    settings: Sequence[str]
    about: str = ""
    extra: tuple[str, str] | None = None

    def blocks(self, findings: Findings, folder: Path) -> list[Block]:
        """The picture and the tables of what has been run."""
        blocks: list[Block] = [Heading(2, self.title), *([Text(self.about)] if self.about else [])]
        tables: list[Block] = []
        tested: dict[str, Scores] = {}
        for name in self.settings:
            try:
                found = accuracy(findings, self.experiment, name)
            except Missing as missing:
                tables += [Heading(3, name), Text(f"Not run: {missing}.")]
                continue
            tables += [Heading(3, name), Text(_sentence(found)), self._table(findings, name, found)]
            if found.tested:
                tested[name] = found
        return [*blocks, *self._picture(tested, folder), *tables]

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """None."""
        return []

    def _picture(self, tested: dict[str, Scores], folder: Path) -> list[Block]:
        if not tested:
            return []
        from . import places  # matplotlib takes a second to import

        (folder / "figures").mkdir(parents=True, exist_ok=True)
        places.draw(folder / "figures" / f"{self.file}.svg", tested, ours=set(OURS))
        caption = (
            f"{self.title}: mean place over the data sets. Bars are half of Nemenyi's critical difference at 5 % to "
            "each side: methods whose bars do not touch differ by more than chance. Gray: as far as the bar of the "
            "first method goes."
        )
        return [Picture(f"figures/{self.file}.svg", caption)]

    def _table(self, findings: Findings, name: str, found: Scores) -> Grid:
        nmi, ranks = scores(findings, self.experiment, name, "nmi"), found.ranks
        more = [scores(findings, self.experiment, name, "value", self.extra[1])] if self.extra else []
        rows = []
        for place, at in enumerate(found.best(), 1):
            method = found.methods[at]
            cells = Where(self.experiment.name, tuple(found.data), name, method)
            seconds, broken = (_pooled(findings, cells, measure) for measure in ("seconds", "broken"))
            rows.append(
                [
                    str(place), shown(method), f"{found.values[at].mean():.3f}", f"{nmi.of(method).mean():.3f}",
                    *(f"{scored.of(method).mean():.3f}" for scored in more), f"{ranks[at]:.1f}",
                    f"{100 * broken.mean():.1f}" if len(broken) else "",
                    f"{np.median(seconds):.3f}" if len(seconds) else "",
                    f"{np.quantile(seconds, 0.95):.2f}" if len(seconds) else "",
                    *(str(findings.without(cells, state)) for state in ("failed", "late")),
                ]
            )  # fmt: skip
        header = ["", "method", "ARI", "NMI (all rows)", *([self.extra[0]] if self.extra else []), "mean place"]
        header += ["broken (%)", "median s", "95 % within s", "failed", f"over {self.experiment.limit:g} s"]
        return Grid(header, rows)


def _pooled(findings: Findings, where: Where, measure: str) -> np.ndarray:
    """A measure of all cells of a method that have a result, whatever the data."""
    runs = [findings.repetitions(where._replace(data=data), measure).values() for data in where.data]
    return np.array([value for values in runs for value in values if value is not None])


def _sentence(found: Scores) -> str:
    order, ranks = found.best(), found.ranks
    words = f"{len(found.methods)} methods on {len(found.data)} sets, at least {found.draws} draws of clues on each. "
    if not found.tested:
        return f"{words}Too few to tell chance from merit."
    near = sum(ranks[order[1:]] - ranks.min() < found.difference)
    return (
        f"{words}If all were equally good, such places would have p = {found.chance:.0e} (Friedman). First by mean "
        f"place: {shown(found.methods[order[0]])}. Critical difference: {found.difference:.1f} places; {near} others "
        "are within it."
    )
