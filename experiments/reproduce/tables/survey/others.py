"""What is run for other sentences of the survey: lanes, boosting, mixtures, alternative clusterings."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering

from cluewise import (
    BoostCluster,
    Clues,
    CondEns,
    CoordinatedConditionalIB,
    COPKMeans,
    DistBoost,
    EquivalenceGMM,
    HMRFKMeans,
    XingMetric,
)
from cluewise.datasets import make_two_sided
from cluewise.metrics import ari

from ...cells import Experiment, Problem
from ...sets import paper_set, standardized
from .runs import DATA, none

# --- Lanes: cars on a road of a kilometer. Each keeps to its lane, and tells where it is 20 times.

LANES, CARS, POINTS = 4, 6, 20
WIDTH, LENGTH, NOISE = 3.6, 1000.0, 0.3  # meters
FARTHEST = 4.0  # meters: rows that are farther apart across the road are not in one lane, says Wagstaff's rule
LANE_OF = np.repeat(np.arange(LANES), CARS * POINTS)
CAR_OF = np.repeat(np.arange(LANES * CARS), POINTS)


def road(seed: int) -> np.ndarray:
    """Where the cars are: along the road, and across it."""
    rng = np.random.default_rng(seed)
    habit = rng.normal(0, NOISE, LANES * CARS)  # some drivers keep to the left
    across = WIDTH * LANE_OF + habit[CAR_OF] + rng.normal(0, NOISE, len(CAR_OF))
    return np.column_stack([rng.uniform(0, LENGTH, len(CAR_OF)), across])


def lane_clues(X: np.ndarray) -> Clues:
    """What is known without a look at the lanes: who drove where, and that a lane is not wider than four meters."""
    must = [(i, i + 1) for i in range(len(CAR_OF) - 1) if CAR_OF[i] == CAR_OF[i + 1]]
    cannot = []
    for one in range(LANES * CARS):
        for other in range(one):
            here, there = (np.flatnonzero(np.isin(CAR_OF, car)) for car in (one, other))
            gaps = np.abs(X[here, 1][:, None] - X[there, 1])
            i, j = np.unravel_index(gaps.argmax(), gaps.shape)
            if gaps[i, j] > FARTHEST:
                cannot.append((here[i], there[j]))
    return Clues(len(X), must=must, cannot=cannot)


def lanes(p: Problem, *, clues: bool) -> Any:
    """COP-KMEANS with its defaults; or K-means, from as many starts."""
    X = road(p.seed)
    if clues:
        return COPKMeans(p.k, random_state=p.seed).fit(X, clues=lane_clues(X)).labels_
    return KMeans(p.k, n_init=5, random_state=p.seed).fit_predict(X)


GPS = "GPS lane finding"
LANE = Experiment(
    name="survey_lanes",
    title="Lane finding on made-up roads, a new one in each repetition",
    data={GPS: lambda: (road(0), LANE_OF)},
    settings={"no constraints": none, "with constraints": none},
    methods={"KMEANS": partial(lanes, clues=False), "COP-KMEANS": partial(lanes, clues=True)},
    seeds=20,
    only=lambda data, setting, method: (setting == "no constraints") == (method == "KMEANS"),
    quick={"seeds": 2},
)

# --- Rivals on the data of Tables 1 and 2


def hundred(y: np.ndarray, seed: int) -> Clues:
    """A hundred pairs at random."""
    return Clues.sample(y, pairs=100, random_state=seed)


def boosted_distance(p: Problem) -> Any:
    """DistBoost, then average linkage."""
    D = DistBoost(p.k, random_state=p.seed).fit_transform(p.X, clues=p.clues)
    return AgglomerativeClustering(p.k, metric="precomputed", linkage="average").fit_predict(D)


def xing(p: Problem) -> Any:
    """The metric of Xing et al., then K-means."""
    return KMeans(p.k, n_init=10, random_state=p.seed).fit_predict(XingMetric().fit_transform(p.X, clues=p.clues))


def boosted(p: Problem, *, clusterer: Any = None) -> Any:
    """BoostCluster around a clusterer."""
    return BoostCluster(p.k, clusterer=clusterer, random_state=p.seed).fit(p.X, clues=p.clues).labels_


def default(p: Problem, *, kind: Any) -> Any:
    """A method with the library's defaults."""
    return kind(p.k, random_state=p.seed).fit(p.X, clues=p.clues).labels_


def mixture(p: Problem, *, told: str) -> Any:
    """Constrained GMM-EM that is told pairs of one kind, or none."""
    assert p.clues is not None  # all settings have some
    must, _, cannot, _ = p.clues.pairs()
    clues = {"must": Clues(len(p.X), must=must), "cannot": Clues(len(p.X), cannot=cannot), "nothing": None}[told]
    return EquivalenceGMM(p.k, random_state=p.seed).fit(p.X, clues=clues).labels_


BOOSTED: dict[str, Callable[[Problem], Any]] = {
    "BoostCluster, KMEANS": boosted,
    "BoostCluster, single link": partial(boosted, clusterer=AgglomerativeClustering(linkage="single")),
    "BoostCluster, spectral": partial(boosted, clusterer=SpectralClustering()),
}
RIVALS = Experiment(
    name="survey_rivals",
    title="Other sentences: 100 pairs, columns of variance 1",
    data={name: paper_set(name, standardized) for name in DATA},
    settings={"100 pairs": hundred},
    methods={
        "DistBoost": boosted_distance,
        "Xing": xing,
        "GMM-EM": partial(default, kind=EquivalenceGMM),
        "COP-KMEANS": partial(default, kind=COPKMeans),
        "HMRF-KMEANS": partial(default, kind=HMRFKMeans),
        **BOOSTED,
        "GMM-EM, must-links": partial(mixture, told="must"),
        "GMM-EM, cannot-links": partial(mixture, told="cannot"),
        "GMM-EM, no links": partial(mixture, told="nothing"),
    },
    seeds=20,
    quick={"data": ["iris"], "seeds": 1},
)

# --- A clustering unlike a known one

STRENGTHS = (3, 6)  # how much stronger the known side is


def other_side(p: Problem, *, kind: Any, strength: float, prepare: Any = np.asarray) -> dict[str, float]:
    """Documents that can be sorted by two things, the stronger of which is known: is the other one found, how soon?

    Seconds are those of the clock on the wall, as a user waits for them.
    """
    X, known, wanted = make_two_sided("counts", n_samples=1000, dominance=strength, random_state=p.seed)
    X, model, seconds = prepare(X), kind(3, random_state=p.seed), []
    for _ in range(3):  # the fastest counts: other work on the machine only ever makes a fit slower
        began = time.perf_counter()
        model.fit(X, clues=Clues(len(X), avoid=known))
        seconds.append(time.perf_counter() - began)
    return {"seconds": min(seconds), "ari": ari(wanted, model.labels_)}


UNLIKE = Experiment(
    name="survey_unlike",
    title="A clustering unlike a known one: made-up documents, new ones in each repetition",
    data={"documents": lambda: (np.zeros((1, 1)), np.zeros(1, dtype=int))},  # a cell draws its own
    settings={"avoid": none},
    methods={
        f"{name}, {strength}": partial(method, strength=strength)
        for strength in STRENGTHS
        for name, method in {
            "CondEns": partial(other_side, kind=CondEns),
            "CondEns on roots": partial(other_side, kind=CondEns, prepare=np.sqrt),
            "CCIB": partial(other_side, kind=CoordinatedConditionalIB),
        }.items()
    },
    seeds=20,
    quick={"seeds": 1},
)
