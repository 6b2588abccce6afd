"""Clues that are probably wrong, as bars or on a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cluewise import advice
from cluewise._docs import documented
from cluewise.advice import Suspects, format_doubt
from cluewise.clues import Clues
from cluewise.plots._map import STYLES, draw, make_legend, make_scene
from cluewise.plots.style import BROKEN, GRAY, INK, get_axes, label_axes

__all__ = ["suspects"]


@documented
def suspects(
    model: Any,
    X: Any = None,
    *,
    n: int = 15,
    names: Sequence[Any] | None = None,
    columns: Sequence[str | int] | None = None,
    ax: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the clues that are probably wrong, the most doubtful first.

    Without X, each clue is a bar as long as its probability of being wrong. With X, the clues are lines on a map: the
    redder, the more doubtful.

    Parameters
    ----------
    model : fitted clusterer
        A model that judges its clues, as for :func:`cluewise.advice.suspects`.
    X : array-like, sparse matrix or frame of shape (n, d), optional
        The data of the fit, for a map.
    n : int, default=15
        Maximum number of clues.
    names : sequence of n_rows names, optional
        Names of the rows on the bars; their numbers by default.
    columns : two names or numbers of columns, optional
        Axes of the map, as for :func:`map`.
    {plot_ax}
    title : str, optional
        Title; by default, the expected number of wrong clues.

    Returns
    -------
    {axes}

    Examples
    --------
    >>> from cluewise import Clues, RDPMeans, plots
    >>> X = [[0.0], [1.0], [2.0], [3.0], [9.0], [10.0], [11.0], [12.0]]
    >>> model = RDPMeans(cluster_cost=6).fit(X, clues=Clues(8, must=[(0, 1), (3, 4), (5, 7)]))
    >>> ax = plots.suspects(model, n=2)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['must-link 3 – 4 (given)', 'must-link 5 – 7 (given)']
    """
    found = advice.suspects(model, n=n)
    if not len(found):
        raise ValueError(f"there are no suspects to draw: {found}")
    heading = title or f"About {found.expected:.1f} of {found.clues} clues are wrong"
    if X is not None:
        return _on_map(found, X, model.labels_, columns, ax, heading)
    return _as_bars(found, names, len(model.labels_), ax, heading)


def _as_bars(found: Suspects, names: Sequence[Any] | None, n_rows: int, ax: Any, title: str) -> Any:
    from matplotlib.patches import Patch

    row_names = list(range(n_rows)) if names is None else list(names)
    if len(row_names) != n_rows:
        raise ValueError(f"names has {len(row_names)} names, but there are {n_rows} rows.")
    axes = get_axes(ax, 7.0, 1.2 + 0.28 * len(found))
    doubt = [100 * suspect.doubt for suspect in found]
    color = [BROKEN if suspect.broken else GRAY for suspect in found]
    bars = axes.barh(np.arange(len(found)), doubt, color=color, height=0.7)
    words = [f"{s.kind}-link {row_names[s.rows[0]]} – {row_names[s.rows[1]]} ({s.source})" for s in found]
    label_axes(axes, ("probability that the clue is wrong (%)", ""), title)
    axes.bar_label(bars, labels=[format_doubt(s.doubt) for s in found], padding=3, fontsize=8, color=INK)
    axes.set_yticks(np.arange(len(found)), labels=words)
    axes.invert_yaxis()  # the most doubtful on top
    axes.set_xlim(0, 115)
    shown = {"kept by the result": GRAY, "broken by the result": BROKEN}
    handles = [Patch(color=ink, label=word) for word, ink in shown.items() if ink in color]
    axes.legend(handles=handles, fontsize=8, frameon=False, loc="lower right")
    return axes


def _on_map(found: Suspects, X: Any, labels: Any, columns: Sequence[str | int] | None, ax: Any, title: str) -> Any:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    pairs = {kind: np.array([s.rows for s in found if s.kind == kind]).reshape(-1, 2) for kind in STYLES}
    scene = make_scene(X, labels, Clues.from_pairs(len(labels), pairs["must"], pairs["cannot"]), None, columns)
    none = scene.must._replace(pairs=scene.must.pairs[:0], broken=scene.must.broken[:0], total=0, failed=0)
    scene = scene._replace(must=none, cannot=none)  # the clues are drawn below, by doubt
    axes = get_axes(ax, 7.6, 5.0)
    draw(axes, scene, faint=True)
    handles = make_legend(scene)
    for kind, style in STYLES.items():
        doubt = np.array([s.doubt for s in found if s.kind == kind])
        if not len(doubt):
            continue
        ends = np.stack([scene.view.place(pairs[kind][:, 0]), scene.view.place(pairs[kind][:, 1])], axis=1)
        alpha = 0.15 + 0.85 * doubt
        axes.add_collection(
            LineCollection(list(ends), colors=BROKEN, linewidths=1.5, linestyles=[style], alpha=alpha, zorder=4)
        )
        shown = dict.fromkeys(format_doubt(value) for value in (doubt.min(), doubt.max()))
        label = f"{kind}-link ({' to '.join(shown)} wrong)"
        handles.append(Line2D([], [], color=BROKEN, lw=1.5, ls=style, label=label))
    label_axes(axes, scene.view.names, title)
    axes.legend(handles=handles, fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes
