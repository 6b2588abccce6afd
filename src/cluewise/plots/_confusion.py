"""Known classes against clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._docs import documented
from cluewise._typing import ArrayLike
from cluewise.clues import Clues
from cluewise.metrics.matching import match_labels
from cluewise.plots.style import INK, get_axes, label_axes

__all__ = ["confusion"]

_CELLS = 40  # sides with more cells show no numbers


@documented
def confusion(truth: Any, labels: ArrayLike, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw how many rows of each class are in each cluster.

    Clusters are in the order of the classes that they match best. The darker a cell, the larger the share of its
    class.

    Parameters
    ----------
    truth : Clues or array-like of shape (n,)
        Class of each row; of clues, the labels that are known.
    {clusters}
    {plot_ax}
    title : str, optional
        Title; by default, the share of rows in the cluster that matches their class.

    Returns
    -------
    {axes}

    Examples
    --------
    >>> from cluewise import plots
    >>> ax = plots.confusion(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    >>> ax.get_title(loc="left"), [text.get_text() for text in ax.get_xticklabels()]
    ('75 % of 4 rows match', ['1', '0'])
    """
    known = truth if isinstance(truth, Clues) else Clues.from_labels(truth)
    found = np.asarray(labels)
    if len(found) != known.n:
        raise ValueError(f"truth has {known.n} rows, but there are {len(found)} labels.")
    rows = known.labels >= 0
    if not rows.any():
        raise ValueError("there are no known classes to compare with.")
    classes, clusters = known.labels[rows].astype(np.int64), found[rows].astype(np.int64)
    present = np.unique(classes)
    place = np.searchsorted(present, classes)
    matched = match_labels(clusters, place)
    # Columns in the order of the matched classes, noise last.
    order = sorted(set(zip(matched.tolist(), clusters.tolist())), key=lambda pair: (pair[0] < 0, pair[0]))
    column = {cluster: j for j, (_, cluster) in enumerate(order)}
    table = np.zeros((len(present), len(order)), dtype=np.int64)
    np.add.at(table, (place, np.array([column[cluster] for cluster in clusters.tolist()])), 1)
    share = table / table.sum(axis=1, keepdims=True)
    axes = get_axes(ax, 1.8 + 0.62 * len(order), 1.3 + 0.45 * len(present))
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1.15, aspect="auto")
    if max(table.shape) <= _CELLS:
        for (i, j), count in np.ndenumerate(table):
            if count:
                color = "white" if share[i, j] > 0.6 else INK
                axes.text(j, i, str(count), ha="center", va="center", fontsize=9, color=color)
    hits = float((matched == place).mean())
    label_axes(axes, ("cluster", "class"), title or f"{100 * hits:.0f} % of {len(place)} rows match")
    axes.set_xticks(range(len(order)), labels=["noise" if c < 0 else str(c) for _, c in order])
    axes.set_yticks(range(len(present)), labels=[str(known.classes_[c]) for c in present])
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    return axes
