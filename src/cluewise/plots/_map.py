"""Maps: rows as points, clusters as colors, clues as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import ArrayLike, Bools, Ints
from cluewise.clues import Clues
from cluewise.metrics import broken
from cluewise.plots._lines import Lines, lines_of
from cluewise.plots._style import BROKEN, INK, dress, look, new_figure, point_size
from cluewise.plots._view import View, look_at

__all__ = ["Scene", "draw", "legend", "links", "map", "prepare"]

_LISTED = 12  # clusters that a legend lists
_SOLID, _DASHED = "solid", (0, (4, 3))


class Scene(NamedTuple):
    """Everything that a map shows, worked out before anything is drawn."""

    view: View
    labels: Ints  # (n,)
    must: Lines
    cannot: Lines
    labelled: Bools  # (n,) rows whose class is known
    astray: Bools  # (n,) labelled rows that are not in the cluster of their class
    wrong: Bools  # (n,) rows that are not in the cluster of their true class


def map(
    X: Any,
    labels: ArrayLike,
    *,
    clues: Clues | None = None,
    truth: ArrayLike | None = None,
    columns: Sequence[str | int] | None = None,
    ax: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the rows as points in the colors of their clusters, with what is known about them.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n, d)
        The data.
    labels : array-like of shape (n,)
        Cluster of each row, -1 = noise.
    clues : Clues, optional
        Rows with a label get a black rim, must-links are solid lines and cannot-links dashed ones; what the
        clustering breaks is red. At most 300 lines of each kind are drawn, broken ones first.
    truth : array-like of shape (n,), optional
        True classes; rows in the wrong cluster get a cross.
    columns : two names or numbers of columns, optional
        The axes; by default the two columns there are, or the first two principal components.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    title : str, optional
        Title of the map.

    Returns
    -------
    matplotlib Axes
        ``ax.figure`` is the figure, ``ax.figure.savefig("map.png")`` saves it.

    Notes
    -----
    Of more than 20 000 rows a random 20 000 are drawn, and the title says so.

    Examples
    --------
    >>> from cluewise import Clues, plots
    >>> X = [[0.0, 0.1], [1.0, 0.0], [4.0, 4.0], [5.0, 4.5]]
    >>> ax = plots.map(X, [0, 0, 1, 1], clues=Clues(4, must=[(0, 1)], cannot=[(1, 2)]), title="Four rows")
    >>> ax.get_title(loc="left")
    'Four rows'
    """
    scene = prepare(X, labels, clues, truth, columns)
    return _finished(scene, ax, title, faint=False)


def links(
    X: Any,
    labels: ArrayLike,
    clues: Clues,
    *,
    columns: Sequence[str | int] | None = None,
    ax: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the clues, with the rows behind them only hinted at.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n, d)
        The data.
    labels : array-like of shape (n,)
        Cluster of each row, -1 = noise.
    clues : Clues
        What is known; kept links are dark, broken ones red.
    columns, ax, title
        As for :func:`map`.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from cluewise import Clues, plots
    >>> X = [[0.0, 0.1], [1.0, 0.0], [4.0, 4.0], [5.0, 4.5]]
    >>> ax = plots.links(X, [0, 0, 1, 1], Clues(4, must=[(0, 1), (1, 2)]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['cluster 0 (2 rows)', 'cluster 1 (2 rows)', 'must-link (2)', 'broken (1)']
    """
    scene = prepare(X, labels, clues, None, columns)
    return _finished(scene, ax, title, faint=True)


def prepare(
    X: Any,
    labels: ArrayLike,
    clues: Clues | None,
    truth: ArrayLike | None,
    columns: Sequence[str | int] | None,
) -> Scene:
    """Work out what a map will show."""
    found = np.asarray(labels)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(f"labels must be whole numbers, one per row; they are {found.dtype} in shape {found.shape}.")
    known = Clues(len(found)) if clues is None else clues
    astray = broken(found, known.only(["labels"])).labels >= 0  # also checks that there are as many rows
    wrong = np.zeros(len(found), dtype=bool)
    if truth is not None:
        wrong = broken(found, Clues.from_labels(truth)).labels >= 0
    must, cannot = lines_of(known, found)
    view = look_at(X, columns, np.concatenate([must.pairs, cannot.pairs]).ravel())
    if view.n != len(found):
        raise ValueError(f"X has {view.n} rows, but there are {len(found)} labels.")
    return Scene(view, found, must, cannot, known.labels >= 0, astray, wrong)


def _finished(scene: Scene, ax: Any, title: str | None, *, faint: bool) -> Any:
    axes = new_figure(7.6, 5.0).add_subplot() if ax is None else ax
    draw(axes, scene, faint=faint)
    dress(axes, scene.view.names, _titled(title, scene.view))
    # Beside the map: no legend hides a row, and nobody searches a free corner among thousands of points.
    axes.legend(handles=legend(scene), fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def _titled(title: str | None, view: View) -> str | None:
    if len(view.rows) == view.n:
        return title
    part = f"{len(view.rows):,} of {view.n:,} rows drawn".replace(",", " ")
    return f"{title} ({part})" if title else part.capitalize()


def draw(ax: Any, scene: Scene, *, faint: bool = False) -> None:
    """Kept links, points, broken links, rims and crosses, from back to front; ``faint`` hints at the points."""
    view, labels = scene.view, scene.labels
    size = point_size(len(view.rows))
    width, alpha, depth = (0.9, 0.6, 3) if faint else (0.6, 0.3, 1)
    kinds = ((scene.must, _SOLID), (scene.cannot, _DASHED))
    for lines, style in kinds:
        _add_lines(ax, view, lines.pairs[~lines.broken], style, INK, width, alpha, depth)
    drawn = labels[view.rows]
    for cluster in np.unique(drawn).tolist():
        color, marker = look(cluster)
        at = view.xy[drawn == cluster]
        rim = {"edgecolors": "white", "linewidths": 0.4 if size > 10 else 0}
        ax.scatter(*at.T, s=size, c=color, marker=marker, alpha=0.3 if faint else 0.9, zorder=2, **rim)
    for lines, style in kinds:
        _add_lines(ax, view, lines.pairs[lines.broken], style, BROKEN, 1.3, 0.9, 4)
    for mask, ink in ((scene.labelled & ~scene.astray, INK), (scene.astray, BROKEN)):
        _add_rims(ax, view, labels, mask, ink, size)
    crossed = view.xy[scene.wrong[view.rows]]
    ax.scatter(*crossed.T, s=size * 2.2, c=INK, marker="x", linewidths=1.3, zorder=6)


def _add_lines(ax: Any, view: View, pairs: Ints, style: Any, color: str, width: float, alpha: float, z: int) -> None:
    from matplotlib.collections import LineCollection

    ends = np.stack([view.place(pairs[:, 0]), view.place(pairs[:, 1])], axis=1)
    lines = LineCollection(list(ends), colors=color, linewidths=width, linestyles=[style], alpha=alpha, zorder=z)
    ax.add_collection(lines)


def _add_rims(ax: Any, view: View, labels: Ints, mask: Bools, rim: str, size: float) -> None:
    rows = view.rows[mask[view.rows]]
    for cluster in np.unique(labels[rows]).tolist():
        color, marker = look(cluster)
        at = view.place(rows[labels[rows] == cluster])
        ax.scatter(*at.T, s=max(size * 1.5, 22), c=color, marker=marker, edgecolors=rim, linewidths=1.2, zorder=5)


def legend(*scenes: Scene) -> list[Any]:
    """One handle for each thing that the scenes show."""
    from matplotlib.lines import Line2D

    def dot(label: str, color: str, marker: str = "o", rim: str = "none") -> Any:
        return Line2D([], [], ls="", marker=marker, mfc=color, mec=rim, ms=6, label=label)

    first, one = scenes[0], len(scenes) == 1
    handles = []
    clusters, counts = _clusters(scenes)
    for cluster, count in zip(clusters, counts):
        color, marker = look(cluster)
        name = f"cluster {cluster}" if cluster >= 0 else "noise"
        handles.append(dot(f"{name} ({count} rows)" if one else name, color, "o" if marker == "." else marker))
    if any(scene.labelled.any() for scene in scenes):
        handles.append(dot("label known", "white", rim=INK))
    for lines, kind, style in ((first.must, "must-link", _SOLID), (first.cannot, "cannot-link", _DASHED)):
        if lines.total:
            handles.append(Line2D([], [], color=INK, lw=1, ls=style, alpha=0.7, label=f"{kind} ({lines.words})"))
    failed = [s.must.failed + s.cannot.failed + int(s.astray.sum()) for s in scenes]
    if any(failed):
        label = f"broken ({failed[0]})" if one else "broken"
        handles.append(Line2D([], [], color=BROKEN, lw=1.6, label=label))
    if any(scene.wrong.any() for scene in scenes):
        label = f"wrong cluster ({int(first.wrong.sum())})" if one else "wrong cluster"
        handles.append(Line2D([], [], ls="", marker="x", color=INK, ms=6, label=label))
    return handles


def _clusters(scenes: Sequence[Scene]) -> tuple[list[int], list[int]]:
    found, counts = np.unique(np.concatenate([scene.labels for scene in scenes]), return_counts=True)
    return ([], []) if len(found) > _LISTED else (found.tolist(), counts.tolist())
