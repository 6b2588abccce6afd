"""The columns that distinguish clusters, as small multiples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cluewise._docs import documented
from cluewise._typing import Floats, Ints
from cluewise.explain import Description, Difference, describe
from cluewise.explain.columns import Column, read_columns
from cluewise.plots.style import GRAY, INK, get_style, label_axes, new_figure

__all__ = ["profiles"]

_HEAVY = 20  # a positive column whose upper percentile is so many medians has a logarithmic axis
_NAMED = 18  # letters of a name beside a cluster


@documented
def profiles(
    model: Any,
    table: Any,
    *,
    columns: Sequence[str] | None = None,
    n: int = 6,
    ax: Any = None,
) -> Any:
    """Draw the columns that distinguish the clusters most, a small plot for each.

    Numbers and dates: a dot at the median, a thick line from quartile to quartile and a thin one from the 5th to the
    95th percentile. Categories and texts: the share of rows with the level or the word that differs most.

    Parameters
    ----------
    model : fitted clusterer or array-like of shape (n,)
        As for :func:`cluewise.describe`.
    table : data frame, dict of columns, `cluewise.tables.Table` or array of shape (n, d)
        As for :func:`cluewise.describe`.
    columns : sequence of str, optional
        Columns to choose from; for an array, the names of its columns.
    n : int, default=6
        Maximum number of plots.
    ax : sequence of matplotlib Axes, optional
        Where to draw, one for each plot; a new figure by default.

    Returns
    -------
    list of matplotlib Axes
        One for each column, the one that distinguishes most first.

    Examples
    --------
    >>> from cluewise import plots
    >>> table = {"spend": [40.0, 44.0, 10.0, 11.0], "city": ["Rome", "Rome", "Rome", "Oslo"]}
    >>> [ax.get_title(loc="left") for ax in plots.profiles([0, 0, 1, 1], table)]
    ['spend', 'city: Rome']
    """
    found = describe(model, table, columns=columns)
    best = _select(found)[: n if ax is None else min(n, len(np.ravel(ax)))]
    if not best:
        raise ValueError("there are no differences to draw: no column distinguishes a cluster.")
    read = {column.name: column for column in read_columns(table, columns).columns}
    labels = np.asarray(getattr(model, "labels_", model))
    axes = _new_axes(len(best), len(found)) if ax is None else list(np.ravel(ax))[: len(best)]
    for axis, difference in zip(axes, best):
        column = read[difference.column]
        if difference.kind in ("median", "mean", "date"):
            _draw_ranges(axis, column, labels, found)
        else:
            _draw_shares(axis, _mark(column, difference), labels, found)
        label_axes(axis, ("", ""), _title(difference))
        axis.set_yticks(range(len(found)), labels=[_short(p.cluster, p.name) for p in found])
        axis.set_ylim(len(found) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="x", color=GRAY, alpha=0.25, linewidth=0.6)
        axis.spines["left"].set_visible(False)
    return axes


def _select(found: Description) -> list[Difference]:
    """The largest difference of each column, the largest first."""
    best: dict[str, Difference] = {}
    for difference in sorted((d for p in found for d in p.differences), key=lambda d: -abs(d.effect)):
        best.setdefault(difference.column, difference)
    return list(best.values())


def _new_axes(count: int, k: int) -> list[Any]:
    wide = min(count, 3)
    high = -(-count // wide)
    figure = new_figure(3.4 * wide + 0.8, high * (0.9 + 0.3 * k))
    grid = figure.subplots(high, wide, squeeze=False, sharey=True)
    for spare in grid.ravel()[count:]:
        spare.remove()
    return list(grid.ravel()[:count])


def _title(difference: Difference) -> str:
    match difference.kind:
        case "level":
            return f"{difference.column}: {difference.value}"
        case "word":
            return f"{difference.column}: “{difference.value}”"
        case "empty":
            return f"{difference.column}: empty"
    return difference.column


def _short(cluster: int, name: str) -> str:
    first = name.split(", ")[0]
    first = first if len(first) <= _NAMED else first[: _NAMED - 1] + "…"
    return f"{first}  {cluster}"


def _draw_ranges(ax: Any, column: Column, labels: Ints, found: Description) -> None:
    values = column.values
    held = values[~np.isnan(values)]
    if column.kind == "date":
        values = np.array(
            [np.datetime64(0, "s") if np.isnan(v) else np.datetime64(round(v * 86400), "s") for v in values]
        )
    elif held.min() > 0 and np.percentile(held, 99) > _HEAVY * np.median(held):
        ax.set_xscale("log")
    for place, profile in enumerate(found):
        own = values[(labels == profile.cluster) & ~np.isnan(column.values)]
        if not len(own):
            continue
        low, first, middle, third, high = _quantiles(own)
        color = get_style(profile.cluster)[0]
        ax.plot([low, high], [place, place], color=color, linewidth=1.2, alpha=0.7, solid_capstyle="butt")
        ax.plot([first, third], [place, place], color=color, linewidth=6, alpha=0.75, solid_capstyle="butt")
        ax.plot(
            [middle], [place], "o", markersize=6, color=color, markeredgecolor="white", markeredgewidth=1.2, zorder=3
        )
    if column.kind == "date":
        from matplotlib import dates

        locator: Any = dates.AutoDateLocator(minticks=3, maxticks=6)  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _quantiles(values: Any) -> list[Any]:
    """Values at five quantiles; of dates, too, which cannot be interpolated."""
    ordered = np.sort(values)
    return [ordered[round(q * (len(ordered) - 1))] for q in (0.05, 0.25, 0.5, 0.75, 0.95)]


def _mark(column: Column, difference: Difference) -> Floats:
    """1 for rows that have it, 0 for others, nan where the cell is empty."""
    if difference.kind == "empty":
        return column.missing.astype(np.float64)
    if difference.kind == "word":
        pattern = str(difference.value)
        found = np.array([pattern in _words(text) for text in column.texts], dtype=np.float64)
    else:
        found = (column.values == column.levels.index(str(difference.value))).astype(np.float64)
    return np.where(column.missing, np.nan, found)


def _words(text: str) -> set[str]:
    import re

    return set(re.findall(r"(?u)\b\w\w+\b", text.lower()))


def _draw_shares(ax: Any, marks: Floats, labels: Ints, found: Description) -> None:
    for place, profile in enumerate(found):
        own = marks[labels == profile.cluster]
        own = own[~np.isnan(own)]
        share = 100 * own.mean() if len(own) else 0.0
        ax.barh(place, share, height=0.55, color=get_style(profile.cluster)[0], alpha=0.85)
        ax.text(share + 2, place, f"{share:.0f} %", va="center", fontsize=8, color=INK)
    ax.set_xlim(0, 118)
    ax.set_xticks([0, 50, 100], labels=["0", "50", "100 %"])
