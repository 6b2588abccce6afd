"""What the page of the leaderboard shows: places, winners, rivals, every set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...cells import Experiment
from ...document import Block, Grid, Heading, Picture, Text
from ...findings import Findings, Missing, Where
from ...parts import Verdict
from .runs import BOARD, CLASSIFIERS, NOISES, OTHERS, OURS, setting
from .scores import Scores, scores

__all__ = ["Board", "Told", "accuracy", "against_rivals", "by_data", "every_set", "winners"]

KINDS = ("n/2 pairs", "2n pairs", "10 % labels")
GROUPS = {
    "few columns": (
        "iris", "wine", "glass", "ecoli", "balance", "breast", "pima", "ionosphere", "sonar", "heart", "protein",
        "vowel", "zoo",
    ),
    "hundreds of columns": ("isolet1560", "yale_faces", "surfbow_webcam"),
    "shapes": ("shape_aggregation", "shape_compound", "shape_spiral", "shape_chainlink"),
}  # fmt: skip


def accuracy(found: Findings, experiment: Experiment, name: str) -> Scores:
    """ARI of all rows, or, where labels were given, of the others."""
    if name.startswith("10 % labels"):
        return scores(found, experiment, name, "value", OTHERS)
    return scores(found, experiment, name)


@dataclass(frozen=True)
class Told:
    """A part that is only words and tables."""

    title: str
    build: Callable[[Findings], list[Block]]

    def blocks(self, findings: Findings, folder: Path) -> list[Block]:
        """A heading, and what there is."""
        try:
            return [Heading(2, self.title), *self.build(findings)]
        except Missing as missing:
            return [Heading(2, self.title), Text(f"Not run: {missing}.")]

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """None."""
        return []


@dataclass(frozen=True)
class Board:
    """All methods for some settings: a picture of their mean places, then a table for each setting."""

    title: str
    file: str
    experiment: Experiment
    settings: Sequence[str]
    about: str = ""

    def blocks(self, findings: Findings, folder: Path) -> list[Block]:
        """The picture and the tables of what has been run."""
        from . import places

        done: dict[str, Scores] = {}
        for name in self.settings:
            try:
                done[name] = accuracy(findings, self.experiment, name)
            except Missing:
                continue
        blocks: list[Block] = [Heading(2, self.title), *([Text(self.about)] if self.about else [])]
        if not done:
            return [*blocks, Text("Not run.")]
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        places.draw(folder / "figures" / f"{self.file}.svg", done, ours=set(OURS))
        caption = (
            f"{self.title}: mean place over the data sets. Bars are half of Nemenyi's critical difference at 5 % to "
            "each side: methods whose bars do not touch differ by more than chance. Gray: the bar of the first."
        )
        blocks.append(Picture(f"figures/{self.file}.svg", caption))
        for name, found in done.items():
            blocks += [Heading(3, name), Text(_sentence(found)), self._table(findings, name, found)]
        return blocks

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """None."""
        return []

    def _table(self, findings: Findings, name: str, found: Scores) -> Grid:
        nmi, ranks = scores(findings, self.experiment, name, "nmi"), found.ranks
        cells = {m: Where(self.experiment.name, tuple(found.data), name, m) for m in found.methods}
        rows = []
        for place, at in enumerate(found.best(), 1):
            method = found.methods[at]
            seconds = _pooled(findings, cells[method], "seconds")
            broken = _pooled(findings, cells[method], "broken")
            rows.append(
                [
                    str(place), _name(method), f"{found.values[at].mean():.3f}", f"{nmi.of(method).mean():.3f}",
                    f"{ranks[at]:.1f}", f"{100 * broken.mean():.1f}" if len(broken) else "",
                    f"{np.median(seconds):.3f}" if len(seconds) else "", f"{seconds.max():.1f}" if len(seconds) else "",
                    *_without(findings, cells[method]),
                ]
            )  # fmt: skip
        header = ["", "method", "ARI", "NMI", "mean place", "broken clues (%)", "median s", "longest s"]
        return Grid([*header, "failed", "over 60 s"], rows)


def _name(method: str) -> str:
    return method if method in OURS else f"*{method}*"


def _pooled(findings: Findings, where: Where, measure: str) -> np.ndarray:
    """A measure of all cells of a method, whatever the data."""
    found = []
    for data in where.data:
        try:
            found.append(findings.values(where._replace(data=data), measure))
        except Missing:
            continue
    return np.concatenate(found) if found else np.empty(0)


def _without(findings: Findings, where: Where) -> list[str]:
    return [str(findings.without(where, state)) for state in ("failed", "late")]


def _sentence(found: Scores) -> str:
    order, ranks, difference = found.best(), found.ranks, found.difference
    near = sum(ranks[order[1:]] - ranks.min() < difference)
    return (
        f"{len(found.data)} sets, {len(found.methods)} methods; all equally good: p = {found.chance:.0e} (Friedman). "
        f"First by mean place: {_name(found.methods[order[0]])}. Critical difference: {difference:.1f} places; "
        f"{near} others are within it."
    )


# --- tables


def winners(found: Findings) -> list[Block]:
    """The first three of ours for every kind of clue and share of wrong ones."""
    rows = []
    for kind in KINDS:
        for noise in NOISES:
            table = accuracy(found, BOARD, setting(kind, noise))
            order, means = table.best(), table.values.mean(axis=1)
            mine = [at for at in order if table.methods[at] in OURS][:3]
            theirs = [at for at in order if table.methods[at] not in OURS][:1]
            top = max((at for at in order if table.methods[at] in OURS), key=lambda at: means[at])
            rows.append(
                [
                    kind, f"{noise} %",
                    *(f"{table.methods[at]} {means[at]:.2f}" for at in (*mine, top)),
                    *(f"{table.methods[at]} {means[at]:.2f} (place {order.index(at) + 1})" for at in theirs),
                    f"{table.of('KMeans').mean():.2f}",
                ]
            )  # fmt: skip
    header = ["clues", "wrong", "first by mean place", "second", "third", "largest mean", "best rival", "KMeans"]
    return [
        Text("Mean ARI over the sets behind each name; for labels, that of the rows without one."),
        Grid(header, rows),
    ]


def by_data(found: Findings) -> list[Block]:
    """The best of ours on each kind of data."""
    rows = []
    for group, names in GROUPS.items():
        for kind in KINDS:
            for noise in NOISES[::2]:
                table = accuracy(found, BOARD, setting(kind, noise)).among(names)
                if not table.data:
                    continue
                means = table.values.mean(axis=1)
                mine = sorted((at for at, m in enumerate(table.methods) if m in OURS), key=lambda at: -means[at])[:3]
                best = ", ".join(f"{table.methods[at]} {means[at]:.2f}" for at in mine)
                others = {m: table.of(m).mean() for m in ("KMeans", *CLASSIFIERS) if m in table.methods}
                rival = max(others, key=lambda m: others[m])
                rows.append([group, kind, f"{noise} %", best, f"{rival} {others[rival]:.2f}"])
    told = "; ".join(f"{group}: {', '.join(names)}" for group, names in GROUPS.items())
    return [Text(f"Largest mean ARI on {told}."), Grid(["data", "clues", "wrong", "best of ours", "best rival"], rows)]


def against_rivals(found: Findings) -> list[Block]:
    """Which of ours are better than a classifier that needs nothing but labels, and where."""
    blocks: list[Block] = []
    for noise in NOISES:
        table = accuracy(found, BOARD, setting("10 % labels", noise))
        rivals = {name: table.of(name) for name in CLASSIFIERS}
        strongest = np.max(list(rivals.values()), axis=0)
        mine = [m for m in table.methods if m in OURS]
        mine.sort(key=lambda m: (-sum(table.of(m) > strongest), -table.of(m).mean()))
        ahead = [m for m in mine if all(table.of(m).mean() > each.mean() for each in rivals.values())]
        best = np.max([table.of(m) for m in mine], axis=0)
        lost = [name for name, worse in zip(table.data, best < strongest) if worse]
        blocks += [
            Heading(3, f"{noise} % wrong"),
            Text(
                "Mean ARI of rows without a label: "
                + ", ".join(f"{name} {each.mean():.3f}" for name, each in rivals.items())
                + f". Better than all of them on average: {', '.join(ahead) or 'none of ours'}. "
                + (f"Sets where none of ours beats the best of them: {', '.join(lost)}." if lost else "")
            ),
            Grid(
                ["method", "ARI", *(f"sets better than {name}" for name in CLASSIFIERS), "than all of them", "where"],
                [
                    [
                        m, f"{table.of(m).mean():.3f}",
                        *(f"{sum(table.of(m) > each)} of {len(table.data)}" for each in rivals.values()),
                        f"{sum(table.of(m) > strongest)} of {len(table.data)}",
                        ", ".join(name for name, more in zip(table.data, table.of(m) > strongest) if more),
                    ]
                    for m in mine
                ],
            ),
        ]  # fmt: skip
    return blocks


def every_set(found: Findings) -> list[Block]:
    """ARI of every method on every set, right clues."""
    blocks: list[Block] = []
    for kind in KINDS:
        table = accuracy(found, BOARD, kind)
        top = np.round(table.values, 2) == np.round(table.values, 2).max(axis=0)
        rows = [
            [
                _name(table.methods[at]),
                *(f"**{v:.2f}**" if first else f"{v:.2f}" for v, first in zip(table.values[at], top[at])),
            ]
            for at in table.best()
        ]
        blocks += [Heading(3, kind), Grid(["method", *table.data], rows)]
    return blocks
