"""Two clusterings of the same rows, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cluewise._docs import documented
from cluewise._elsewhere import refuse_elsewhere
from cluewise._typing import ArrayLike, Ints
from cluewise.clues import Clues
from cluewise.metrics.matching import match_labels
from cluewise.plots._map import draw, make_legend, make_scene
from cluewise.plots.style import label_axes, new_figure

__all__ = ["compare", "match_colors"]


@documented
def compare(
    X: Any,
    before: ArrayLike,
    after: ArrayLike,
    clues: Clues | None = None,
    *,
    truth: ArrayLike | None = None,
    columns: Sequence[str | int] | None = None,
    titles: tuple[str, str] = ("Without clues", "With clues"),
) -> Any:
    """Draw two clusterings of the same rows side by side; matched clusters have the same color.

    Parameters
    ----------
    {plot_X}
    before, after : array-like of shape (n,)
        Cluster of each row.
    clues : Clues, optional
        What is known; drawn as in :func:`map`.
    {plot_truth}
    columns : two names or numbers of columns, optional
        The axes, as for :func:`map`.
    titles : (str, str), optional
        Titles of the two maps.

    Returns
    -------
    matplotlib Figure
        ``figure.savefig("compare.png")`` saves it.

    Examples
    --------
    >>> from cluewise import plots
    >>> X = [[0.0, 0.1], [1.0, 0.0], [4.0, 4.0], [5.0, 4.5]]
    >>> figure = plots.compare(X, [0, 1, 1, 1], [1, 1, 0, 0])
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['Without clues', 'With clues']
    """
    refuse_elsewhere(X, "plots.compare", "clusters")
    first, second = np.asarray(before), np.asarray(after)
    scenes = [make_scene(X, labels, clues, truth, columns) for labels in (match_colors(first, second), second)]
    figure = new_figure(10.5, 5.0)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, scene, title in zip(axes, scenes, titles):
        draw(ax, scene)
        label_axes(ax, scene.view.names, title)
    axes[1].set_ylabel("")
    handles = make_legend(*scenes)
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 9), fontsize=8, frameon=False)
    return figure


def match_colors(labels: Ints, reference: Ints) -> Ints:
    """Renumber clusters to match those of the reference."""
    if labels.shape != reference.shape:
        raise ValueError(f"before has {len(labels)} labels, but after has {len(reference)}.")
    return match_labels(labels, reference)
