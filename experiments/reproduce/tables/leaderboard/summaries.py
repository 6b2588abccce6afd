"""What the boards come to: winners, the best on each kind of data, clusterers against classifiers, every set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...document import Block, Grid, Heading, Text
from ...findings import Findings, Missing
from ...parts import Verdict
from .boards import accuracy, shown
from .runs import BOARD, CLASSIFIERS, KINDS, NOISES, OURS, setting
from .scores import Scores

__all__ = ["GROUPS", "Told", "against_classifiers", "by_data", "every_set", "winners"]

GROUPS = {
    "few columns": (
        "iris", "wine", "glass", "ecoli", "balance", "breast", "pima", "ionosphere", "sonar", "heart", "protein",
        "vowel", "zoo",
    ),
    "hundreds of columns": ("isolet1560", "yale_faces", "surfbow_webcam"),
    "shapes": ("shape_aggregation", "shape_compound", "shape_spiral", "shape_chainlink"),
}  # fmt: skip


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


def finished(
    found: Findings, kinds: Sequence[str] = KINDS, noises: Sequence[int] = NOISES
) -> Iterator[tuple[str, str, Scores]]:
    """Kind, share of wrong clues and scores of all that has been run."""
    nothing = True
    for kind in kinds:
        for noise in noises:
            try:
                table = accuracy(found, BOARD, setting(kind, noise))
            except Missing:
                continue
            nothing = False
            yield kind, setting(kind, noise).removeprefix(kind).removeprefix(", ") or "none", table
    if nothing:
        raise Missing(BOARD.name)


def means(table: Scores, wanted: Callable[[str], bool]) -> list[tuple[str, float]]:
    """Some methods and their means, the largest first."""
    every = zip(table.methods, table.values.mean(axis=1))
    return sorted(((name, mean) for name, mean in every if wanted(name)), key=lambda pair: -pair[1])


def said(pairs: Sequence[tuple[str, float]]) -> str:
    """Names and numbers."""
    return ", ".join(f"{name} {mean:.2f}" for name, mean in pairs)


def winners(found: Findings) -> list[Block]:
    """The first of ours for every kind of clue and share of wrong ones, and how many are as good for all we know."""
    rows = []
    for kind, wrong, table in finished(found):
        order = [table.methods[at] for at in table.best()]
        mean = dict(means(table, lambda name: True))
        first = [(name, mean[name]) for name in order if name in OURS][:3]
        near = sum(table.ranks - table.ranks.min() < table.difference) - 1 if table.tested else "–"
        rival = max((name for name in order if name not in OURS), key=lambda name: mean[name])
        rows.append(
            [
                kind, wrong, *(said([pair]) for pair in first), str(near), said(means(table, OURS.__contains__)[:1]),
                f"{said([(rival, mean[rival])])} (place {order.index(rival) + 1} of {len(order)})",
                f"{mean['KMeans']:.2f}",
            ]
        )  # fmt: skip
    header = ["clues", "wrong", "first by mean place", "second", "third", "others within the critical difference"]
    header += ["largest mean", "best rival", "KMeans"]
    words = (
        "Behind each name its mean ARI over the sets, for labels that of the rows without one. Places within the "
        "critical difference of the first may be chance."
    )
    return [Text(words), Grid(header, rows)]


def by_data(found: Findings) -> list[Block]:
    """The best of ours on each kind of data."""
    rows = []
    for group, names in GROUPS.items():
        for kind, wrong, whole in finished(found, noises=(NOISES[0], NOISES[-1])):
            table = whole.among(names)
            if table.data:
                rival = means(table, lambda name: name not in OURS)[:1]
                rows.append([group, kind, wrong, said(means(table, OURS.__contains__)[:3]), said(rival)])
    told = "; ".join(f"{group}: {', '.join(names)}" for group, names in GROUPS.items())
    words = f"Largest mean ARI. These are few sets of each kind, so small differences mean nothing. {told}."
    return [Text(words), Grid(["data", "clues", "wrong", "best of ours", "best rival"], rows)]


def against_classifiers(found: Findings) -> list[Block]:
    """Which of ours are better than a classifier that needs nothing but labels, and where."""
    summary: list[list[str]] = []
    blocks: list[Block] = []
    for _, wrong, table in finished(found, kinds=KINDS[-1:]):
        rivals = {name: table.of(name) for name in CLASSIFIERS if name in table.methods}
        strongest = np.max(list(rivals.values()), axis=0)
        mine = sorted(filter(OURS.__contains__, table.methods), key=lambda m: -table.of(m).mean())
        ahead = [m for m in mine if all(table.of(m).mean() > each.mean() for each in rivals.values())]
        most = [m for m in mine if 2 * sum(table.of(m) > strongest) > len(table.data)]
        lost = [d for d, worse in zip(table.data, np.max([table.of(m) for m in mine], axis=0) < strongest) if worse]
        summary.append(
            [
                wrong, ", ".join(f"{name} {each.mean():.3f}" for name, each in rivals.items()),
                said([(m, table.of(m).mean()) for m in ahead]) or "none", ", ".join(most) or "none",
                ", ".join(lost) or "none",
            ]
        )  # fmt: skip
        rows = [
            [
                m, f"{table.of(m).mean():.3f}", *(str(sum(table.of(m) > each)) for each in rivals.values()),
                str(sum(table.of(m) > strongest)),
                ", ".join(name for name, more in zip(table.data, table.of(m) > strongest) if more),
            ]
            for m in mine
        ]  # fmt: skip
        header = ["method", "ARI", *(f"better than {name}" for name in rivals), "better than all of them", "where"]
        blocks += [Heading(3, f"Labels {wrong}" if wrong != "none" else "Right labels"), Grid(header, rows)]
    header = ["wrong", "classifiers", "ours with a larger mean than all of these", "ours better on most sets"]
    words = (
        "ARI of the rows without a label; “better” counts sets, of {} in all. A classifier cannot name a class that "
    )
    words += "has no label among those drawn; a clusterer is told the number of classes."
    return [Text(words.format(len(table.data))), Grid([*header, "sets where none of ours is better"], summary), *blocks]


def every_set(found: Findings) -> list[Block]:
    """ARI of every method on every set, right clues."""
    blocks: list[Block] = []
    for kind, _, table in finished(found, noises=NOISES[:1]):
        rounded = np.round(table.values, 2)
        top = rounded == rounded.max(axis=0)
        rows = [
            [
                shown(table.methods[at]),
                *(f"**{v:.2f}**" if best else f"{v:.2f}" for v, best in zip(rounded[at], top[at])),
            ]
            for at in table.best()
        ]
        blocks += [Heading(3, kind), Grid(["method", *table.data], rows)]
    return blocks
