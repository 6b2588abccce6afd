"""Colors that are safe for color-blind readers, and figures without a display."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._extras import install

__all__ = ["BROKEN", "GRAY", "INK", "get_axes", "get_style", "label_axes", "new_figure", "point_size"]
__all__ += ["require_matplotlib"]

# Okabe and Ito's palette, without vermilion (too close to BROKEN) and black (too close to INK).
_PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442", "#8C6D46")
_MARKERS = "os^DvPX<>"

INK = "#222222"
GRAY = "#9a9a9a"
BROKEN = "#d1001f"


def get_style(cluster: int) -> tuple[str, str]:
    """Color and marker of a cluster; noise (-1) is gray."""
    if cluster < 0:
        return "#c8c8c8", "."
    return _PALETTE[cluster % len(_PALETTE)], _MARKERS[cluster // len(_PALETTE) % len(_MARKERS)]


def point_size(n: int) -> float:
    """Area of a point: smaller if there are many."""
    return float(np.clip(30 * np.sqrt(200 / max(n, 1)), 2.5, 44))


def require_matplotlib() -> None:
    """Raise ImportError, with the extra to install, if matplotlib is missing.

    Examples
    --------
    >>> from cluewise import plots
    >>> plots.require_matplotlib()
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError(f"plots need matplotlib: {install('plot')}") from None


def new_figure(width: float, height: float) -> Any:
    """Make a figure without pyplot, so that it needs no display and leaves no global state."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def get_axes(ax: Any, width: float, height: float) -> Any:
    """The axes to draw into: those given, or those of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def label_axes(ax: Any, names: tuple[str, str], title: str | None) -> None:
    """Set labels and title, and keep the frame unobtrusive."""
    ax.set_xlabel(names[0], color=INK, fontsize=9)
    ax.set_ylabel(names[1], color=INK, fontsize=9)
    if title:
        ax.set_title(title, loc="left", color=INK, fontsize=11, fontweight="bold")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GRAY)
    ax.tick_params(colors=GRAY, labelcolor=INK, labelsize=8)
    ax.margins(0.04)
