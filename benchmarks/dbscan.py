"""DBSCAN with clues: what do they cost beside scikit-learn's DBSCAN, and neighbors beside SciPy's tree?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from measuring import Figure, interleaved, one_thread
from scipy.spatial import cKDTree
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.datasets import make_blobs

from cluewise import Clues
from cluewise.density import ConstrainedDBSCAN, ConstrainedHDBSCAN
from cluewise.density._radius import close_pairs, neighbors_within

FULL = {"sizes": (10_000, 100_000), "trees": (5_000, 20_000), "columns": (2, 16), "repeats": 3}
TINY = {"sizes": (300,), "trees": (200,), "columns": (2, 9), "repeats": 1}
AROUND = 10  # rows within eps of the median row
PER_LINK = 50  # rows per link


def measure(sizes: Sequence[int], trees: Sequence[int], columns: Sequence[int], repeats: int) -> list[Figure]:
    figures = []
    with one_thread():
        for d in columns:
            for n in sizes:
                figures += radius(n, d, repeats if n < 50_000 else max(repeats - 1, 1))
            for n in trees:
                figures.append(tree(n, d, repeats))
    return figures


def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows around ten centers, their classes, and a radius."""
    X, y = make_blobs(n, d, centers=10, random_state=0)
    some = X[:: max(n // 200, 1)]
    return X, y, float(np.median(cKDTree(X).query(some, k=AROUND + 1)[0][:, -1]))


def radius(n: int, d: int, repeats: int) -> list[Figure]:
    """P10 and P15."""
    X, y, eps = rows(n, d)
    clues = Clues.sample(y, pairs=n // PER_LINK, random_state=0)

    def told() -> ConstrainedDBSCAN:
        # Clues remember what follows from them, so that a second fit would have it for nothing.
        return ConstrainedDBSCAN(eps).fit(X, clues=Clues(n, must=clues.must, cannot=clues.cannot))

    contestants: dict[str, Callable[[], Any]] = {
        "scikit-learn": lambda: DBSCAN(eps=eps).fit(X),
        "plain": lambda: ConstrainedDBSCAN(eps).fit(X),
        "told": told,
        "tree": lambda: cKDTree(X).query_pairs(eps, output_type="ndarray"),
        "pairs": lambda: close_pairs(X, eps),
        "graph": lambda: neighbors_within(X, eps),
    }
    if (contestants["plain"]().labels_ != contestants["scikit-learn"]().labels_).any():
        raise RuntimeError("without clues the labels differ from scikit-learn's.")
    if told().broken_.kinds:
        raise RuntimeError("a clue is broken.")
    times = interleaved(contestants, repeats)
    where = f"n = {n}, d = {d}"

    def figure(name: str, ours: str, rival: str, against: str, goal: float | None) -> Figure:
        mine = times[ours]
        return Figure(
            f"{name}, {where}", 1e3 * mine.best, 1e3 * times[rival].best, "ms", against, goal, noise=mine.noise
        )

    return [
        figure("no clues", "plain", "scikit-learn", "sklearn's DBSCAN", 1.2),
        figure(f"{n // PER_LINK} links", "told", "scikit-learn", "sklearn's DBSCAN", 1.2),
        figure("close pairs", "pairs", "tree", "cKDTree's pairs", 1.0),
        figure("  as sorted lists", "graph", "tree", "cKDTree's pairs", None),
    ]


def tree(n: int, d: int, repeats: int) -> Figure:
    """HDBSCAN, spanning tree and all."""
    X, y, _ = rows(n, d)
    clues = Clues.sample(y, pairs=n // PER_LINK, random_state=0)
    ConstrainedHDBSCAN(20).fit(X[:100], clues=clues[:100])
    contestants: dict[str, Callable[[], Any]] = {
        "ours": lambda: ConstrainedHDBSCAN(20).fit(X, clues=clues),
        "theirs": lambda: HDBSCAN(min_cluster_size=20, copy=True).fit(X),
    }
    times = interleaved(contestants, repeats)
    name = f"HDBSCAN, {n // PER_LINK} links, n = {n}, d = {d}"
    ours, theirs = times["ours"], times["theirs"]
    return Figure(name, 1e3 * ours.best, 1e3 * theirs.best, "ms", "sklearn's HDBSCAN", noise=ours.noise)
