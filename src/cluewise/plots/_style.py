"""Colors that color-blind people can tell apart, and figures that need no screen."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["BROKEN", "GRAY", "INK", "dress", "look", "new_figure", "point_size", "require_matplotlib"]

# Okabe and Ito's palette, less its vermilion (too close to BROKEN) and its black (too close to INK).
_PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442", "#8C6D46")
_MARKERS = "os^DvPX<>"

INK = "#222222"
GRAY = "#9a9a9a"
BROKEN = "#d1001f"


def look(cluster: int) -> tuple[str, str]:
    """Color and marker of a cluster; noise (-1) is gray."""
    if cluster < 0:
        return "#c8c8c8", "."
    return _PALETTE[cluster % len(_PALETTE)], _MARKERS[cluster // len(_PALETTE) % len(_MARKERS)]


def point_size(n: int) -> float:
    """Area of a point, smaller the more there are."""
    return float(np.clip(30 * np.sqrt(200 / max(n, 1)), 2.5, 44))


def require_matplotlib() -> None:
    """Raise ImportError, and say what to install, unless pictures can be drawn.

    Examples
    --------
    >>> from cluewise import plots
    >>> plots.require_matplotlib()
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError('pictures need matplotlib: pip install "cluewise[plot]"') from None


def new_figure(width: float, height: float) -> Any:
    """A figure of its own: no pyplot, no screen, no state left behind."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def dress(ax: Any, names: tuple[str, str], title: str | None) -> None:
    """Quiet axes: the points speak."""
    ax.set_xlabel(names[0], color=INK, fontsize=9)
    ax.set_ylabel(names[1], color=INK, fontsize=9)
    if title:
        ax.set_title(title, loc="left", color=INK, fontsize=11, fontweight="bold")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GRAY)
    ax.tick_params(colors=GRAY, labelcolor=INK, labelsize=8)
    ax.margins(0.04)
