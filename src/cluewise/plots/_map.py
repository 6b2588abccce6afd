"""Maps: rows are points, clusters are colors, clues are lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cluewise._docs import documented
from cluewise._elsewhere import refuse_elsewhere
from cluewise._typing import ArrayLike, Bools, Ints
from cluewise.clues import Clues, Groups
from cluewise.metrics import broken
from cluewise.plots.style import BROKEN, INK, get_axes, get_style, label_axes, point_size
from cluewise.plots.view import View, make_view

__all__ = ["LIMIT", "STYLES", "Scene", "draw", "links", "make_legend", "make_scene", "map", "select_lines"]

LIMIT = 300
"""Maximum number of lines of each kind in a plot."""

STYLES: dict[str, Any] = {"must": "solid", "cannot": (0, (4, 3))}
"""Line styles of the two kinds of links."""

_LISTED = 12  # maximum number of clusters in a legend


class Lines(NamedTuple):
    """Links of one kind to draw."""

    pairs: Ints  # (m, 2) rows
    broken: Bools  # (m,)
    total: int  # links of this kind in all
    failed: int  # broken links in all

    @property
    def words(self) -> str:
        """The number of links, for the legend."""
        drawn = len(self.pairs)
        return f"{drawn}" if drawn == self.total else f"{drawn} of {self.total} drawn"


class Scene(NamedTuple):
    """Everything that a map shows, computed before anything is drawn."""

    view: View
    labels: Ints  # (n,)
    must: Lines
    cannot: Lines
    labelled: Bools  # (n,) rows whose class is known
    stray: Bools  # (n,) labeled rows outside the cluster of their class
    wrong: Bools  # (n,) rows outside the cluster of their true class


@documented
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
    """Draw the rows as points in the colors of their clusters, with the clues about them.

    Parameters
    ----------
    {plot_X}
    {clusters}
    clues : Clues, optional
        Rows with a label get a black edge; must-links are solid lines, cannot-links dashed ones; broken clues are red.
        At most 300 lines of each kind are drawn, broken ones first.
    {plot_truth}
    columns : two names or numbers of columns, optional
        The axes; by default the first two principal components, or the columns if there are only two.
    {plot_ax}
    title : str, optional
        Title of the map.

    Returns
    -------
    {axes}

    Notes
    -----
    Of more than 20,000 rows, a random sample of 20,000 is drawn, and the title says so.

    Examples
    --------
    >>> from cluewise import Clues, plots
    >>> X = [[0.0, 0.1], [1.0, 0.0], [4.0, 4.0], [5.0, 4.5]]
    >>> ax = plots.map(X, [0, 0, 1, 1], clues=Clues(4, must=[(0, 1)], cannot=[(1, 2)]), title="Four rows")
    >>> ax.get_title(loc="left")
    'Four rows'
    """
    return _draw_map(make_scene(X, labels, clues, truth, columns), ax, title, faint=False)


@documented
def links(
    X: Any,
    labels: ArrayLike,
    clues: Clues,
    *,
    columns: Sequence[str | int] | None = None,
    ax: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the clues, with faint rows behind them.

    Parameters
    ----------
    {plot_X}
    {clusters}
    clues : Clues
        What is known; kept links are dark, broken ones red.
    columns, ax, title
        As for :func:`map`.

    Returns
    -------
    {axes}

    Examples
    --------
    >>> from cluewise import Clues, plots
    >>> X = [[0.0, 0.1], [1.0, 0.0], [4.0, 4.0], [5.0, 4.5]]
    >>> ax = plots.links(X, [0, 0, 1, 1], Clues(4, must=[(0, 1), (1, 2)]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['cluster 0 (2 rows)', 'cluster 1 (2 rows)', 'must-link (2)', 'broken (1)']
    """
    return _draw_map(make_scene(X, labels, clues, None, columns), ax, title, faint=True)


def make_scene(
    X: Any,
    labels: ArrayLike,
    clues: Clues | None,
    truth: ArrayLike | None,
    columns: Sequence[str | int] | None,
) -> Scene:
    """Compute what a map shows."""
    refuse_elsewhere(X, "a map", "clusters")
    found = np.asarray(labels)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(f"labels must be integers, one per row; they are {found.dtype} in shape {found.shape}.")
    known = Clues(len(found)) if clues is None else clues
    stray = broken(found, known.only(["labels"])).labels >= 0  # also checks the number of rows
    wrong = np.zeros(len(found), dtype=bool)
    if truth is not None:
        wrong = broken(found, Clues.from_labels(truth)).labels >= 0
    must, cannot = select_lines(known, found)
    view = make_view(X, columns, np.concatenate([must.pairs, cannot.pairs]).ravel())
    if view.n != len(found):
        raise ValueError(f"X has {view.n} rows, but there are {len(found)} labels.")
    return Scene(view, found, must, cannot, known.labels >= 0, stray, wrong)


def select_lines(clues: Clues, labels: Ints) -> tuple[Lines, Lines]:
    """Select the must-links and cannot-links to draw: broken ones first, and a chain through each group."""
    must = np.concatenate([clues.must, *(_chain(group) for group in clues.together)])
    cannot = np.concatenate([clues.cannot, *(_chain(group) for group in clues.apart)])
    return _sample(must, ~_share_cluster(labels, must)), _sample(cannot, _share_cluster(labels, cannot))


def _share_cluster(labels: Ints, pairs: Ints) -> Bools:
    first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
    return (first == second) & (first >= 0)  # each noise row is alone


def _chain(group: Groups) -> Ints:
    rows = np.flatnonzero(group.codes >= 0)
    rows = rows[np.argsort(group.codes[rows], kind="stable")]
    pairs = np.column_stack([rows[:-1], rows[1:]])
    return pairs[group.codes[pairs[:, 0]] == group.codes[pairs[:, 1]]]


def _sample(pairs: Ints, broken: Bools) -> Lines:
    chosen = np.arange(len(pairs))
    if len(pairs) > LIMIT:
        shuffled = np.random.default_rng(0).permutation(len(pairs))
        chosen = np.sort(shuffled[np.argsort(~broken[shuffled], kind="stable")][:LIMIT])
    return Lines(pairs[chosen], broken[chosen], len(pairs), int(broken.sum()))


def _draw_map(scene: Scene, ax: Any, title: str | None, *, faint: bool) -> Any:
    axes = get_axes(ax, 7.6, 5.0)
    draw(axes, scene, faint=faint)
    label_axes(axes, scene.view.names, _mention_sample(title, scene.view))
    # The legend is beside the map, where it hides no row: matplotlib's search for a free corner is slow.
    axes.legend(handles=make_legend(scene), fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def _mention_sample(title: str | None, view: View) -> str | None:
    if len(view.rows) == view.n:
        return title
    part = f"{len(view.rows):,} of {view.n:,} rows drawn"
    return f"{title} ({part})" if title else part.capitalize()


def draw(ax: Any, scene: Scene, *, faint: bool = False) -> None:
    """Draw kept links, points, broken links, edges and crosses, from back to front; ``faint`` fades the points."""
    view, labels = scene.view, scene.labels
    size = point_size(len(view.rows))
    width, alpha, depth = (0.9, 0.6, 3) if faint else (0.6, 0.3, 1)
    kinds = ((scene.must, STYLES["must"]), (scene.cannot, STYLES["cannot"]))
    for lines, style in kinds:
        _add_lines(ax, view, lines.pairs[~lines.broken], style, INK, width, alpha, depth)
    drawn = labels[view.rows]
    for cluster in np.unique(drawn).tolist():
        color, marker = get_style(cluster)
        at = view.xy[drawn == cluster]
        rim = {"edgecolors": "white", "linewidths": 0.4 if size > 10 else 0}
        ax.scatter(*at.T, s=size, c=color, marker=marker, alpha=0.3 if faint else 0.9, zorder=2, **rim)
    for lines, style in kinds:
        _add_lines(ax, view, lines.pairs[lines.broken], style, BROKEN, 1.3, 0.9, 4)
    for mask, ink in ((scene.labelled & ~scene.stray, INK), (scene.stray, BROKEN)):
        _add_edges(ax, view, labels, mask, ink, size)
    crossed = view.xy[scene.wrong[view.rows]]
    ax.scatter(*crossed.T, s=size * 2.2, c=INK, marker="x", linewidths=1.3, zorder=6)


def _add_lines(ax: Any, view: View, pairs: Ints, style: Any, color: str, width: float, alpha: float, z: int) -> None:
    from matplotlib.collections import LineCollection

    ends = np.stack([view.place(pairs[:, 0]), view.place(pairs[:, 1])], axis=1)
    lines = LineCollection(list(ends), colors=color, linewidths=width, linestyles=[style], alpha=alpha, zorder=z)
    ax.add_collection(lines)


def _add_edges(ax: Any, view: View, labels: Ints, mask: Bools, rim: str, size: float) -> None:
    rows = view.rows[mask[view.rows]]
    for cluster in np.unique(labels[rows]).tolist():
        color, marker = get_style(cluster)
        at = view.place(rows[labels[rows] == cluster])
        ax.scatter(*at.T, s=max(size * 1.5, 22), c=color, marker=marker, edgecolors=rim, linewidths=1.2, zorder=5)


def make_legend(*scenes: Scene) -> list[Any]:
    """Make one handle for each thing that the scenes show."""
    from matplotlib.lines import Line2D

    def dot(label: str, color: str, marker: str = "o", rim: str = "none") -> Any:
        return Line2D([], [], ls="", marker=marker, mfc=color, mec=rim, ms=6, label=label)

    first, one = scenes[0], len(scenes) == 1
    handles = []
    clusters, counts = _clusters(scenes)
    for cluster, count in zip(clusters, counts):
        color, marker = get_style(cluster)
        name = f"cluster {cluster}" if cluster >= 0 else "noise"
        handles.append(dot(f"{name} ({count} rows)" if one else name, color, "o" if marker == "." else marker))
    if any(scene.labelled.any() for scene in scenes):
        handles.append(dot("label known", "white", rim=INK))
    for lines, kind in ((first.must, "must"), (first.cannot, "cannot")):
        if lines.total:
            label = f"{kind}-link ({lines.words})"
            handles.append(Line2D([], [], color=INK, lw=1, ls=STYLES[kind], alpha=0.7, label=label))
    failed = [scene.must.failed + scene.cannot.failed for scene in scenes]
    if any(failed):
        label = f"broken ({failed[0]})" if one else "broken"
        handles.append(Line2D([], [], color=BROKEN, lw=1.6, label=label))
    stray = [int(scene.stray.sum()) for scene in scenes]
    if any(stray):
        handles.append(dot(f"label broken ({stray[0]})" if one else "label broken", "white", rim=BROKEN))
    if any(scene.wrong.any() for scene in scenes):
        label = f"wrong cluster ({int(first.wrong.sum())})" if one else "wrong cluster"
        handles.append(Line2D([], [], ls="", marker="x", color=INK, ms=6, label=label))
    return handles


def _clusters(scenes: Sequence[Scene]) -> tuple[list[int], list[int]]:
    found, counts = np.unique(np.concatenate([scene.labels for scene in scenes]), return_counts=True)
    return ([], []) if len(found) > _LISTED else (found.tolist(), counts.tolist())
