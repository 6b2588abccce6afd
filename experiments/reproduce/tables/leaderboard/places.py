"""The picture of mean places, with critical differences."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ...drawing import COLORS, save
from .scores import Scores

__all__ = ["draw"]


def draw(file: Path, panels: Mapping[str, Scores], *, ours: set[str]) -> None:
    """A panel for each setting: best method on top, bars of half the critical difference to each side."""
    tallest = max(len(found.methods) for found in panels.values())
    figure = Figure(figsize=(4.2 * len(panels), 0.19 * tallest + 1.1), layout="constrained")
    for ax, (title, found) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items()):
        order, ranks, half = found.best(), found.ranks, found.difference / 2
        mine = np.array([found.methods[at] in ours for at in order])
        ax.axvspan(ranks.min() - half, ranks.min() + half, color="#dddddd", linewidth=0)
        for kind, color in ((mine, COLORS[0]), (~mine, COLORS[1])):
            x, height = ranks[order][kind], np.flatnonzero(kind)
            ax.errorbar(x, height, xerr=half, fmt="o", color=color, markersize=3.5, linewidth=0.8)
        ax.set_yticks(range(len(order)), [found.methods[at] for at in order], fontsize=7)
        for label, is_mine in zip(ax.get_yticklabels(), mine):
            label.set_color("#222222" if is_mine else COLORS[1])
        ax.invert_yaxis()
        ax.margins(y=0.02)
        ax.set_title(title, loc="left", fontsize=9)
        ax.set_xlabel("mean place (1 is best)", fontsize=8)
        ax.tick_params(labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    save(figure, file)
