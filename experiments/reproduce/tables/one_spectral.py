"""Constrained 1-spectral clustering beside other methods: curves over links, many clusters, cuts, growth."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons

from cluewise import E2CP, Clues, COPKMeans, FlexibleSpectral, OneSpectral, SpectralKernelKMeans
from cluewise.metrics import broken

from ..cells import Experiment, Problem
from ..curves import Curves
from ..document import Grid
from ..findings import Findings, Missing, Where
from ..parts import Claim, Claims, Section, Table
from ..sets import paper_set, raw

__all__ = ["EXPERIMENTS", "SECTION"]

CUT, LOST = "cut", "broken links"
NEIGHBORS = 10


# --- the graph that all cuts are measured on


def graph_of(X: np.ndarray) -> csr_array:
    """Ten nearest neighbors, with the weights of the library's local affinity."""
    from cluewise.core.graphs.affinity import neighbor_affinity

    return neighbor_affinity(np.asarray(X, dtype=np.float64), NEIGHBORS)


def normalized_cut(graph: Any, labels: np.ndarray) -> float:
    """What each cluster cuts, divided by the summed weights of its rows."""
    edges = coo_array(graph)
    across = labels[edges.row] != labels[edges.col]
    cuts = np.bincount(labels[edges.row[across]], edges.data[across], labels.max() + 1)
    volume = np.bincount(labels, np.asarray(graph.sum(axis=1)).ravel())
    return float((cuts[volume > 0] / volume[volume > 0]).sum())


def judged(p: Problem, labels: np.ndarray) -> dict[str, Any]:
    """The clusters, their cut, and how many links they break."""
    lost = 0 if p.clues is None else len((names := broken(labels, p.clues)).must) + len(names.cannot)
    return {"": labels, CUT: normalized_cut(graph_of(p.X), labels), LOST: lost}


def ours(kind: Any, p: Problem, **options: Any) -> dict[str, Any]:
    """A clusterer with its defaults."""
    return judged(p, kind(p.k, random_state=p.seed, **options).fit(p.X, clues=p.clues).labels_)


METHODS: dict[str, Callable[[Problem], Any]] = {
    kind.__name__: partial(ours, kind)
    for kind in (OneSpectral, E2CP, FlexibleSpectral, SpectralKernelKMeans, COPKMeans)
}


def links(y: np.ndarray, seed: int, count: int) -> Clues:
    """Random pairs, all right."""
    return Clues.sample(y, pairs=count, random_state=seed) if count else Clues(len(y))


# --- curves

COUNTS = (0, 10, 25, 50, 100, 200)


def moons() -> tuple[np.ndarray, np.ndarray]:
    """Two moons that touch."""
    X, y = make_moons(300, noise=0.2, random_state=0)
    return X, y


CURVES = Experiment(
    name="one_spectral_curves",
    title="Two moons and two spirals by number of links",
    data={"two moons": moons, "two spirals": paper_set("synth_twospirals")},
    settings={f"{count} links": partial(links, count=count) for count in COUNTS},
    methods=METHODS,
    seeds=5,
    limit=120,
    quick={"data": ["two moons"], "settings": ["0 links", "50 links"], "seeds": 1},
)

# --- many clusters


@cache
def digits(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Images of handwritten digits."""
    if name == "usps":
        X, y = raw("usps")
        return X.astype(np.float64), np.unique(y, return_inverse=True)[1]
    X, y = load_digits(return_X_y=True)
    return X, y


def first_classes(name: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The first k digits."""
    X, y = digits(name)
    return X[y < k], y[y < k]


def in_proportion(y: np.ndarray, seed: int) -> Clues:
    """A pair for every ten rows."""
    return links(y, seed, len(y) // 10)


MANY = Experiment(
    name="one_spectral_many",
    title="Three to ten clusters of digits",
    data={f"{name}, k = {k}": partial(first_classes, name, k) for name in ("digits", "usps") for k in range(3, 11)},
    settings={"n/10 pairs": in_proportion},
    methods=METHODS,
    seeds=1,
    limit=300,
    quick={"data": ["digits, k = 3"], "seeds": 1},
)

# --- cuts without links


def twenty(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of some shape; the classes only say how many clusters are asked for."""
    rng = np.random.default_rng(seed)
    shapes: dict[str, Callable[[], tuple[np.ndarray, int]]] = {
        "moons": lambda: (make_moons(300, noise=0.1 + 0.05 * seed, random_state=seed)[0], 2),
        "blobs": lambda: (make_blobs(300, centers=3 + seed, cluster_std=2.0, random_state=seed)[0], 3 + seed),
        "circles": lambda: (make_circles(300, factor=0.5, noise=0.1, random_state=seed)[0], 2 + seed),
        "square": lambda: (rng.random((300, 2)), 2 + seed),
        "Gaussian": lambda: (rng.normal(size=(300, 5)), 3 + seed),
    }
    X, k = shapes[kind]()
    return X, np.arange(len(X)) % k


def theirs(p: Problem) -> dict[str, Any]:
    """scikit-learn's spectral clustering of the same graph."""
    model = SpectralClustering(p.k, affinity="precomputed", random_state=p.seed)
    return judged(p, model.fit(graph_of(p.X).toarray()).labels_)


SHAPES = ("moons", "blobs", "circles", "square", "Gaussian")
SKLEARN = "scikit-learn's spectral clustering"
CUTS = Experiment(
    name="one_spectral_cuts",
    title="Cuts of twenty graphs without links",
    data={f"{kind} {seed}": partial(twenty, kind, seed) for kind in SHAPES for seed in range(4)},
    settings={"no clues": partial(links, count=0)},
    methods={"OneSpectral": METHODS["OneSpectral"], SKLEARN: theirs},
    seeds=1,
    limit=120,
    quick={"data": ["moons 0", "blobs 1"], "seeds": 1},
)

# --- growth

ROWS = (1_000, 3_000, 10_000, 30_000, 70_000)


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Eight groups that overlap; four of them are the first class."""
    X, y = make_blobs(n, centers=8, n_features=6, cluster_std=2.5, random_state=0)
    return X, (y > 3).astype(np.int64)


def once(p: Problem) -> dict[str, Any]:
    """A single start."""
    return ours(OneSpectral, p, n_init=1)


def sparse_memory(p: Problem) -> float:
    """The largest memory beyond the graph, in MB, by what Python has asked for."""
    import tracemalloc

    graph = graph_of(p.X)
    tracemalloc.start()
    try:
        OneSpectral(p.k, affinity="precomputed", n_init=1, random_state=p.seed).fit(graph, clues=p.clues)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


GROWTH = Experiment(
    name="one_spectral_growth",
    title="Time from a thousand to seventy thousand rows",
    data={f"{n:,} rows": partial(rows, n) for n in ROWS},
    settings={"no links": partial(links, count=0), "100 links": partial(links, count=100)},
    methods={"one start": once, "ten starts": METHODS["OneSpectral"], "memory": sparse_memory},
    seeds=1,
    limit=900,
    quick={"data": ["1,000 rows"], "seeds": 1},
)


# --- what is told


def by_count(name: str, stage: str = "") -> dict[float, tuple[str, str] | tuple[str, str, str]]:
    """A line of the curves."""
    return {count: (f"{count} links", name, stage) for count in COUNTS}


def curve(title: str, file: str, measure: str, stage: str, axis: str, about: str) -> Curves:
    """A panel for the moons and one for the spirals."""
    lines = {name: by_count(name, stage) for name in METHODS}
    options: dict[str, Any] = {"measure": measure, "factor": 1.0, "axes": ("links", axis)}
    return Curves(title, f"one_spectral_{file}", about, CURVES.name, tuple(CURVES.data), lines, **options)


def many(found: Findings) -> Grid:
    """Cut, broken links and ARI by number of clusters."""
    table = []
    for data in MANY.data:
        X, y = MANY.data[data]()
        line = [data, str(len(in_proportion(y, 0).pairs().weight)), f"{normalized_cut(graph_of(X), y):.3f}"]
        for name in MANY.methods:
            where = Where(MANY.name, data, "n/10 pairs", name)
            try:
                cut, lost = (found.mean(where._replace(stage=stage), "value") for stage in (CUT, LOST))
                line.append(f"{cut:.3f} / {lost:.0f} / {found.mean(where, 'ari'):.2f}")
            except Missing:
                line.append("–")
        table.append(line)
    return Grid(["data", "links", "cut of the classes", *MANY.methods], table)


def growth(found: Findings) -> Grid:
    """Seconds and memory by number of rows."""
    table = []
    for data in GROWTH.data:
        line = [data]
        for method in ("one start", "ten starts"):
            for setting in GROWTH.settings:
                try:
                    line.append(f"{found.mean(Where(GROWTH.name, data, setting, method), 'seconds'):.1f}")
                except Missing:
                    line.append("–")
        try:
            line.append(f"{found.mean(Where(GROWTH.name, data, '100 links', 'memory'), 'value'):.0f}")
        except Missing:
            line.append("–")
        table.append(line)
    head = [f"{method}, {setting}: s" for method in ("one start", "ten starts") for setting in GROWTH.settings]
    return Grid(["data", *head, "memory beyond the graph (MB)"], table)


def cuts_are_low(found: Findings) -> tuple[bool, str]:
    """In at least nine of ten graphs."""
    cuts = {
        name: [found.mean(Where(CUTS.name, data, "no clues", name, CUT), "value") for data in CUTS.data]
        for name in CUTS.methods
    }
    low = sum(a <= b * (1 + 1e-9) for a, b in zip(cuts["OneSpectral"], cuts[SKLEARN]))
    ratio = np.mean(np.array(cuts["OneSpectral"]) / np.array(cuts[SKLEARN]))
    return low >= 0.9 * len(CUTS.data), f"{low} of {len(CUTS.data)}; mean quotient of the cuts {ratio:.2f}"


def links_hold(found: Findings) -> tuple[bool, str]:
    """In every cell of the curves and of the digits."""
    cells = [
        Where(experiment.name, data, setting, "OneSpectral", LOST)
        for experiment in (CURVES, MANY)
        for data in experiment.data
        for setting in experiment.settings
    ]
    lost = [found.mean(where, "value") for where in cells]
    return max(lost) == 0, f"{sum(value == 0 for value in lost)} of {len(lost)} settings without a broken link"


def memory_is_low(found: Findings) -> tuple[bool, str]:
    """70,000 rows in less than 1 GB."""
    value = found.mean(Where(GROWTH.name, "70,000 rows", "100 links", "memory"), "value")
    return value < 1000, f"{value:.0f} MB beyond the graph"


EXPERIMENTS = [CURVES, MANY, CUTS, GROWTH]
SECTION = Section(
    page="one_spectral",
    title="Constrained 1-spectral clustering",
    about="`OneSpectral` beside other methods that accept links, all with their defaults and told k. Links are random "
    "pairs and all right. Cuts are normalized cuts of the graph of ten neighbors with the library's local affinity, "
    "whatever the method looked at. The paper of the method was not at hand, so there are no numbers to compare with.",
    parts=[
        curve("ARI by number of links", "ari", "ari", "", "ARI", "Two moons that touch, two spirals."),
        curve("Links broken", "broken", "value", LOST, "links broken", "`OneSpectral` and `COPKMeans` hold all."),
        curve("Normalized cut", "cut", "value", CUT, "normalized cut", "Links cost cut; the lower one is better."),
        Table(
            "Three to ten clusters",
            "Normalized cut / links broken / ARI; the true classes hold all links, too, so their cut is a bound.",
            many,
        ),
        Table(
            "Growth",
            "Seconds of one processor, the search of neighbors in six columns included. Memory is what Python has "
            "asked for during a fit with a single start, the graph aside.",
            growth,
        ),
        Claims(
            "Checks",
            [
                Claim(
                    "Without links the cut is at most that of spectral clustering, in 90 % of 20 graphs", cuts_are_low
                ),
                Claim("All links hold, with any number of clusters", links_hold),
                Claim("70,000 rows with ten neighbors need less than 1 GB", memory_is_low),
            ],
            kind="check",
        ),
    ],
)
