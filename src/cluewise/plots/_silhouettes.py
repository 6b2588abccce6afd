"""How well each row fits its cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._docs import documented
from cluewise._elsewhere import refuse_elsewhere
from cluewise._typing import ArrayLike, Bools
from cluewise.clues import Clues
from cluewise.metrics import broken
from cluewise.plots.style import BROKEN, GRAY, INK, get_axes, get_style, label_axes
from cluewise.plots.view import get_matrix

__all__ = ["silhouettes"]

DRAWN = 2000
"""Maximum number of rows; silhouettes take the square of it."""


@documented
def silhouettes(
    X: Any, labels: ArrayLike, *, clues: Clues | None = None, ax: Any = None, title: str | None = None
) -> Any:
    """Draw the silhouette of each row, cluster by cluster, and mark rows that are tied by clues.

    A silhouette near 1 means that the row is much nearer to its own cluster than to the next; below 0, it is nearer to
    another one, and perhaps only clues keep it where it is.

    Parameters
    ----------
    {plot_X}
    {clusters}
    clues : Clues, optional
        What is known; tied rows get a dot, a red one if a clue about them is broken.
    {plot_ax}
    title : str, optional
        Title; by default, the mean silhouette.

    Returns
    -------
    {axes}

    Notes
    -----
    Of more than 2,000 rows, a random sample is drawn, and the title says so. Noise is left out.

    Examples
    --------
    >>> from cluewise import Clues, plots
    >>> X = [[0.0, 0.1], [1.0, 0.0], [4.0, 4.0], [5.0, 4.5]]
    >>> ax = plots.silhouettes(X, [0, 0, 1, 1], clues=Clues(4, must=[(0, 1)]))
    >>> ax.get_title(loc="left")
    'Mean silhouette 0.82'
    """
    from sklearn.metrics import silhouette_samples

    refuse_elsewhere(X, "plots.silhouettes", "clusters")
    matrix, _ = get_matrix(X)
    found = np.asarray(labels)
    if matrix.shape[0] != len(found):
        raise ValueError(f"X has {matrix.shape[0]} rows, but there are {len(found)} labels.")
    tied, failed = _mark_tied(found, clues)
    inside = np.flatnonzero(found >= 0)
    rows = inside
    if len(rows) > DRAWN:
        rows = np.sort(np.random.default_rng(0).choice(rows, DRAWN, replace=False))
    clusters = np.unique(found[rows])
    if not 2 <= len(clusters) < len(rows):
        raise ValueError(f"there are no silhouettes of {len(clusters)} clusters in {len(rows)} rows.")
    width = silhouette_samples(matrix[rows], found[rows])
    axes = get_axes(ax, 6.4, 5.0)
    gap, base, ticks = max(1.0, 0.02 * len(rows)), 0.0, []
    for cluster in clusters.tolist():
        own = np.flatnonzero(found[rows] == cluster)
        own = own[np.argsort(-width[own], kind="stable")]
        place = base + np.arange(len(own)) + 0.5
        axes.barh(place, width[own], height=1.0, color=get_style(cluster)[0], alpha=0.8, linewidth=0)
        for mask, color, order in ((tied & ~failed, INK, 3), (failed, BROKEN, 4)):
            marked = mask[rows[own]]
            axes.scatter(width[own][marked], place[marked], s=14, c=color, zorder=order, linewidths=0)
        ticks.append((base + len(own) / 2, f"cluster {cluster}\n{np.mean(width[own]):.2f}"))
        base += len(own) + gap
    mean = float(np.mean(width))
    part = f" ({len(rows)} of {len(inside)} rows drawn)" if len(rows) < len(inside) else ""
    label_axes(axes, ("silhouette", ""), (title or f"Mean silhouette {mean:.2f}") + part)
    axes.axvline(mean, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.axvline(0, color=GRAY, linewidth=0.9)
    axes.set_ylim(base - gap, 0)  # the first cluster on top
    axes.set_yticks([place for place, _ in ticks], labels=[words for _, words in ticks])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    _add_legend(axes, tied & ~failed, failed)
    return axes


def _mark_tied(labels: Any, clues: Clues | None) -> tuple[Bools, Bools]:
    """Rows that are tied by clues, and rows of broken ones."""
    marks = []
    for some in (Clues(len(labels)) if clues is None else clues, None if clues is None else broken(labels, clues)):
        mask = np.zeros(len(labels), dtype=bool)
        if some is not None:
            mask[some.tied] = True
        marks.append(mask)
    return marks[0], marks[1]


def _add_legend(ax: Any, kept: Bools, failed: Bools) -> None:
    from matplotlib.lines import Line2D

    entries = [(kept, INK, "tied by a clue"), (failed, BROKEN, "clue broken")]
    handles = [Line2D([], [], ls="", marker="o", ms=4, color=c, label=w) for mask, c, w in entries if mask.any()]
    if handles:
        ax.legend(handles=handles, fontsize=8, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
