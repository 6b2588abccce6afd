"""What is run for seed 002 [Zhang2008]: Table 1 and Figure 3."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from cluewise import ClosurePCKMeans, Clues, COPKMeans, PCKMeans

from ...cells import Experiment, Problem
from ...sets import min_max, paper_set

__all__ = ["EXPERIMENTS"]

# --- Table 1: five closures of 1, 2, 1, 3 and 1 rows, four cannot-links

NODES = {"A": [0], "B": [1, 2], "C": [3], "D": [4, 5, 6], "E": [7]}
EDGES = [("A", "B"), ("B", "D"), ("C", "D"), ("D", "E")]
REMOVED = "ACEBD"


def graph(y: np.ndarray, seed: int) -> Clues:
    """Figure 1 as clues."""
    must = [pair for rows in NODES.values() for pair in pairwise(rows)]
    return Clues(len(y), must=must, cannot=[(NODES[a][0], NODES[b][0]) for a, b in EDGES])


def degrees(p: Problem) -> dict[str, float]:
    """Eq. (3), then the removals that the text describes: the smallest goes, its neighbors lose 1."""
    edges = len(EDGES)
    degree = {node: sum(node in edge for edge in EDGES) for node in NODES}
    left = {n: (1 + degree[n] / edges) * (1 + len(NODES[n]) / len(p.y)) * degree[n] for n in NODES}
    table: dict[str, float] = {}
    for step in range(len(NODES)):
        table |= {f"step {step}; node {node}": left.get(node, 0.0) for node in NODES}
        first = min(left, key=lambda node: (left[node], node))
        del left[first]
        table[f"removed {step}"] = float(REMOVED[step] == first)
        left = {n: value - ((n, first) in EDGES or (first, n) in EDGES) for n, value in left.items()}
    return table


def same_as(p: Problem) -> dict[str, bool]:
    """Whether the class, on data drawn at random, does the same as when it is told the order of the closures."""
    X = np.random.default_rng(p.seed).normal(size=(len(p.y), 2))

    def clusters(order: object) -> list[int]:
        model = ClosurePCKMeans(p.k, order=order, profile="published", init=X[: p.k], max_iter=1, random_state=0)
        return list(model.fit(X, clues=p.clues).labels_)

    def written(order: str) -> bool:
        return clusters("extended-degree") == clusters(np.concatenate([NODES[node] for node in order]))

    return {"D B E C A": written("DBECA"), "E D C B A": written("EDCBA")}


FIGURE_1 = "Fig. 1 CL graph"
EXAMPLE = {FIGURE_1: lambda: (np.zeros((8, 1)), np.zeros(8, dtype=int))}
TABLE_1 = Experiment(
    name="seed002_table1",
    title="Table 1: extended degrees of the example",
    data=EXAMPLE,
    settings={"graph": graph},
    methods={"Eq. (3)": degrees},
    seeds=1,
)
ORDER = Experiment(
    name="seed002_order",
    title="Table 1: the order that follows, on random data",
    data=EXAMPLE,
    settings={"graph": graph},
    methods={"ClosurePCKMeans": same_as},
    seeds=100,
    clusters={FIGURE_1: 2},
    quick={"seeds": 10},
)

# --- Figure 3

COUNTS = (50, 100, 150, 200, 300, 400, 500)
SETS = ("iris", "wine", "glass", "protein", "balance", "pima")
FOUR = ("K-means", "COP-KMeans", "PCKmeans", "PCCK-means")


def pairs(y: np.ndarray, seed: int, *, count: int) -> Clues:
    """Pairs of rows at random, must-link or cannot-link by their classes."""
    return Clues.sample(y, pairs=count, random_state=seed)


def none(y: np.ndarray, seed: int) -> None:
    """No clues."""


def start(p: Problem) -> Any:
    """The first centers, the same for all four methods: random rows."""
    return p.X[np.random.default_rng(p.seed).choice(len(p.X), p.k, replace=False)]


def plain(p: Problem) -> Any:
    """K-means."""
    return KMeans(p.k, init=start(p), n_init=1, max_iter=800).fit_predict(p.X)


def cop(p: Problem) -> Any:
    """COP-KMeans; where the original gives up, this one searches."""
    model = COPKMeans(p.k, init=start(p), order="random", max_iter=800, time_limit=60, random_state=p.seed)
    return model.fit(p.X, clues=p.clues).labels_


def pck(p: Problem) -> Any:
    """PCKmeans with w = 1."""
    model = PCKMeans(p.k, penalty=1.0, init=start(p), order="random", max_iter=800, random_state=p.seed)
    return model.fit(p.X, clues=p.clues).labels_


def pcck(p: Problem, profile: str = "published", violations: str = "clusters") -> Any:
    """The paper's method as printed, w₁ = w₂ = 1; or another reading of it."""
    model = ClosurePCKMeans(
        p.k, profile=profile, violations=violations, init=start(p), max_iter=800, random_state=p.seed
    )
    return model.fit(p.X, clues=p.clues).labels_


def default(kind: type, p: Problem) -> Any:
    """What a user gets."""
    return kind(p.k, random_state=p.seed).fit(p.X, clues=p.clues).labels_


FIGURE_3 = Experiment(
    name="seed002_figure3",
    title="Figure 3: Rand index against the number of pairs, identical first centers",
    data={name: paper_set(name, min_max) for name in SETS},
    settings={"0": none} | {str(count): partial(pairs, count=count) for count in COUNTS},
    methods={
        "K-means": plain,
        "COP-KMeans": cop,
        "PCKmeans": pck,
        "PCCK-means": pcck,
        "PCCK-means, v at most 1": partial(pcck, violations="one"),
        "PCCK-means, whole change": partial(pcck, profile="library"),
        "COP-KMeans, defaults": partial(default, COPKMeans),
        "PCKmeans, defaults": partial(default, PCKMeans),
        "PCCK-means, defaults": partial(default, ClosurePCKMeans),
    },
    seeds=20,
    only=lambda data, setting, method: (setting == "0") == (method == "K-means"),
    limit=120,
    quick={"data": ["iris", "protein"], "settings": ["0", "50", "150"], "seeds": 2},
)

EXPERIMENTS = [TABLE_1, ORDER, FIGURE_3]
