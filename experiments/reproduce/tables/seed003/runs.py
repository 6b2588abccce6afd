"""What is run for seed 003 [Yi2015]: Figures 1 and 2, Table 1."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

from cluewise import DCA, ITML, LMNN, RCA, SCSC, MaxMarginClusterer, SpectralKernelKMeans, XingMetric
from cluewise.ensemble import partitions

from ...cells import Experiment, Problem
from ...findings import Where
from .tiers import METHODS, PARTITIONS, kmeans, known, only, pairs_in_tiers, sample, until

__all__ = ["EXPERIMENTS", "cell"]

SMALL, LARGE = ("COIL20", "USPS"), ("Covtype", "MNIST")
U = {"COIL20": "u=100", "USPS": "u=100", "Covtype": "u=500", "MNIST": "u=500"}
SETTINGS = {f"u={u}": partial(pairs_in_tiers, pairs=u) for u in (100, 500)}
SLOW = ("PGDM", "LMNN", "CCSKL", "CCSKL, defaults", "PMMC")  # not on the large sets, there or here


def fits(data: str, setting: str, method: str) -> bool:
    """Pairs as many as the set has in the paper; four rivals on the small sets only."""
    return U.get(data, "u=500") == setting and (data in SMALL or method not in SLOW)


FIGURES = Experiment(
    name="seed003_figures",
    title="Figures 1 and 2: NMI over tiers, and against the number of partitions",
    data={
        "COIL20": partial(sample, "coil20"),
        "USPS": partial(sample, "usps"),
        "Covtype": partial(sample, "covtype", 10_000),
        "MNIST": partial(sample, "mnist", 5_000),
    },
    settings=SETTINGS,
    methods=METHODS,
    seeds=10,
    only=fits,
    quick={"data": ["COIL20"], "settings": ["u=100"], "methods": ["SCSC", "CCSKL"]},
)


def fastest(work: Callable[[], tuple[float, float]]) -> dict[str, float]:
    """Seconds of the fastest of three runs, the part that learns and the whole.

    They are those of the processor: cells have one thread, and others may be running beside them.
    """
    learned, whole = zip(*(work() for _ in range(3)))
    return {"learn": min(learned), "whole": min(whole)}


def timed_scsc(p: Problem, **options: Any) -> dict[str, float]:
    """New pairs of one tier: new weights; the same with the labels of all rows.

    What the partitions are worth makes no difference to that, so they are learned from few rows, in few steps.
    """
    made = partitions(p.X, n_partitions=PARTITIONS, n_clusters=p.k, n_rows=1000, max_iter=5, random_state=p.seed)
    model = SCSC.from_partitions(made, p.k, **options)
    assert model.labels_ is not None  # the labels before the update are there already
    pairs = only(known(p), ["t1"])

    def work() -> tuple[float, float]:
        fresh = deepcopy(model)
        began = time.process_time()
        fresh.update(pairs)
        learned = time.process_time() - began
        assert len(fresh.labels_) == len(p.y)
        return learned, time.process_time() - began

    return fastest(work)


def timed_metric(p: Problem, learner: Callable[[], Any]) -> dict[str, float]:
    """All pairs of three tiers, which is what five tiers have on average: the distance; one start of K-means in it."""
    pairs = until(p, 3)

    def work() -> tuple[float, float]:
        began = time.process_time()
        model = learner().fit(p.X, clues=pairs)
        learned = time.process_time() - began
        kmeans(model.transform(p.X), p.k, p.seed, starts=1)
        return learned, time.process_time() - began

    return fastest(work)


def timed_clusterer(p: Problem, method: Callable[..., Any]) -> dict[str, float]:
    """The same for a method that clusters by itself, from one start: learning is the whole."""
    pairs = until(p, 3)

    def work() -> tuple[float, float]:
        began = time.process_time()
        method(p.k, n_init=1, random_state=p.seed).fit(p.X, clues=pairs)
        took = time.process_time() - began
        return took, took

    return fastest(work)


FAST: dict[str, Callable[[Problem], Any]] = {
    "SCSC": partial(timed_scsc, update_rule="exact"),
    "SCSC, defaults": timed_scsc,
    "ITML": partial(timed_metric, learner=ITML),
    "RCA": partial(timed_metric, learner=partial(RCA, shrinkage=0.0)),
    "DCA": partial(timed_metric, learner=partial(DCA, shrinkage=0.0)),
}
TABLE_1 = Experiment(
    name="seed003_table1",
    title="Table 1: seconds of an update, partitions made before",
    data={
        "COIL20": partial(sample, "coil20"),
        "USPS": partial(sample, "usps"),
        "Covtype": partial(sample, "covtype"),
        "MNIST": partial(sample, "mnist"),
    },
    settings=SETTINGS,
    methods=FAST
    | {
        "PGDM": partial(timed_metric, learner=XingMetric),
        "LMNN": partial(timed_metric, learner=LMNN),
        "CCSKL": partial(timed_clusterer, method=partial(SpectralKernelKMeans, profile="published", trust=1.0)),
        "PMMC": partial(timed_clusterer, method=MaxMarginClusterer),
    },
    seeds=3,
    only=fits,
    quick={"data": ["COIL20"], "settings": ["u=100"], "methods": ["SCSC", "CCSKL"]},
)
ROWS = (1_000, 100_000)
SCALING = Experiment(
    name="seed003_scaling",
    title="Seconds of an update against the number of rows",
    data={f"{rows} rows": partial(sample, "covtype", rows) for rows in ROWS},
    settings={"u=500": SETTINGS["u=500"]},
    methods=FAST,
    seeds=3,
    quick={"data": ["1000 rows"], "methods": ["SCSC", "RCA"]},
)

EXPERIMENTS = [FIGURES, TABLE_1, SCALING]


def cell(data: str, method: str, stage: str, experiment: Experiment = FIGURES) -> Where:
    """Our cells for a data set."""
    return Where(experiment.name, data, U.get(data, "u=500"), method, stage)
