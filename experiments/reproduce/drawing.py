"""Figures: lines with error bars in panels, as SVG that is the same whenever it is drawn from the same numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["COLORS", "panels", "save"]

# Okabe and Ito's palette, which color-blind people can tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
MARKERS = "os^DvPX"

Points = Mapping[str, Mapping[float, tuple[float, float]]]


def panels(
    file: Path,
    data: Mapping[str, Points],
    levels: Mapping[str, float],
    *,
    level_name: str,
    axes: tuple[str, str],
    gain: bool,
    log: bool,
    order: Sequence[str],
) -> None:
    """One panel for each data set; a level is drawn as a dashed line, or taken off the points as their gain."""
    columns = min(len(data), 3)
    rows = -(-len(data) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.7 * rows + 0.4), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, (title, lines) in zip(grid, data.items()):
        level = levels.get(title)
        for name, points in lines.items():
            place = order.index(name)
            x = sorted(points)
            base = level if gain and level is not None else 0.0
            ax.errorbar(
                x, [points[at][0] - base for at in x], [points[at][1] for at in x],
                color=COLORS[place % len(COLORS)], marker=MARKERS[place % len(MARKERS)],
                markersize=4, linewidth=1.3, elinewidth=0.7, capsize=2, label=name,
            )  # fmt: skip
        if level is not None:
            ax.axhline(0.0 if gain else level, color="#888888", linestyle="--", linewidth=1, label=level_name)
        if log:
            ax.set_xscale("log")
        ax.set_title(title, loc="left", fontsize=10)
        ax.set_xlabel(axes[0], fontsize=8)
        ax.set_ylabel(axes[1], fontsize=8)
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in grid[len(data) :]:
        ax.set_visible(False)
    handles = {label: handle for ax in grid for handle, label in zip(*ax.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(len(handles), 6), fontsize=8)
    save(figure, file)


def save(figure: Figure, file: Path) -> None:
    """Write SVG without a date and with the same names for the same parts."""
    with mpl.rc_context({"svg.hashsalt": "cluewise", "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
