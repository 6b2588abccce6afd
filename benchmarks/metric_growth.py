"""Metrics in closed form: linear in rows and in links? And the full metric of Xing et al. on many columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from measuring import SHORTEST, Figure, Times, exponent, interleaved, one_thread

from cluewise import Clues
from cluewise.metric_learning import DCA, RCA, XingMetric

FULL = {
    "rows": (30_000, 100_000, 300_000, 1_000_000),
    "pairs": (30_000, 100_000, 300_000, 1_000_000),
    "few": 300,
    "d": 32,
    "wide": 100,
    "links": 10_000,
    "repeats": 3,
}
TINY = {"rows": (500, 1_000), "pairs": (500, 1_000), "few": 20, "d": 4, "wide": 10, "links": 200, "repeats": 1}
LARGEST = 3  # sizes that the exponent is fitted to, so that constants do not flatter
GOAL = 1.1
SECONDS = 20.0  # that the full metric may take


def measure(
    rows: Sequence[int], pairs: Sequence[int], few: int, d: int, wide: int, links: int, repeats: int
) -> list[Figure]:
    rng = np.random.default_rng(0)
    X, y = problem(max(rows), d, rng)
    contestants: dict[str, Callable[[], Any]] = {}
    for metric in (RCA(), DCA()):
        name, kinds = type(metric).__name__, metric.card.accepts
        for n in rows:
            contestants[f"{name}, {n} rows"] = partial(fit, metric, X[:n], told(y[:n], n // 10, kinds, rng))
        for count in (few, *pairs):
            contestants[f"{name}, {count} links"] = partial(fit, metric, X, told(y, count, kinds, rng))
    with one_thread():
        fit(DCA(), X[:100], told(y[:100], 10, DCA.card.accepts, rng))  # compiles or loads what is needed
        times = interleaved(contestants, repeats)
        figures = []
        for name in ("RCA", "DCA"):
            figures += growth(name, "rows", rows, [times[f"{name}, {n} rows"] for n in rows])
            alone = times[f"{name}, {few} links"]
            figures += growth(name, "links", pairs, [times[f"{name}, {n} links"] for n in pairs], alone)
        return figures + many_columns(wide, links, rng)


def fit(metric: Any, X: Any, links: dict[str, Any]) -> None:
    """Clues are made anew: they remember their closure, and it belongs to the time of a fit."""
    metric.fit(X, clues=Clues(len(X), **links))


def problem(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Rows around ten centers, in columns of different scatter, and their classes."""
    y = rng.integers(10, size=n)
    return 2 * rng.normal(size=(10, d))[y] + rng.normal(size=(n, d)) * rng.uniform(0.3, 3, size=d), y


def told(y: Any, count: int, kinds: frozenset[str], rng: np.random.Generator) -> dict[str, Any]:
    """Links of these kinds that are true: half of ``count`` must-links, in chunklets of a few rows, and half cannot."""
    n = len(y)
    by_class = np.argsort(y, kind="stable")
    place = rng.integers(n - 1, size=count // 2)
    must = np.column_stack([by_class[place], by_class[place + 1]])
    ends = rng.integers(n, size=(count - count // 2, 2))
    links = {"must": must[y[must[:, 0]] == y[must[:, 1]]], "cannot": ends[y[ends[:, 0]] != y[ends[:, 1]]]}
    return {kind: pairs for kind, pairs in links.items() if kind in kinds}


def growth(name: str, what: str, sizes: Sequence[int], times: list[Times], alone: Times | None = None) -> list[Figure]:
    """The exponent, and the seconds of every size against a straight line through the largest.

    With ``alone``, the time with hardly any link, only what the links add counts: passes over all rows do not flatter.
    """
    floor = 0.0 if alone is None else alone.best
    seconds = [max(t.best - floor, SHORTEST) for t in times]
    slope = exponent(sizes[-LARGEST:], seconds[-LARGEST:])
    noise = max(t.noise for t in times)
    figures = [Figure(f"{name}: exponent in {what}", slope, 1.0, "", "linear growth", GOAL, noise=noise)]
    added = "" if alone is None else ", time added"
    for size, spent in zip(sizes, seconds, strict=True):
        straight = seconds[-1] * size / sizes[-1]
        name_of_size = f"  {name}, {size} {what}{added}"
        figures.append(Figure(name_of_size, 1e3 * spent, 1e3 * straight, "ms", "its share of the largest"))
    return figures


def many_columns(d: int, links: int, rng: np.random.Generator) -> list[Figure]:
    """The full metric with as many must- as cannot-links, to the default tolerance."""
    X, y = problem(2_000, d, rng)
    ends = rng.integers(len(X), size=(40 * links, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    same = y[ends[:, 0]] == y[ends[:, 1]]
    clues = Clues(len(X), must=ends[same][:links], cannot=ends[~same][:links])
    model = XingMetric()
    spent = interleaved({"fit": partial(model.fit, X, clues=clues)}, 1)["fit"].best
    name = f"Xing, full: {d} columns, {len(clues.must)} + {len(clues.cannot)} links, {model.n_iter_} steps"
    return [Figure(name, spent, SECONDS, "s", "what it may take", 1.0)]
