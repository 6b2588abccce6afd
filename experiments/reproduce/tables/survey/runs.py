"""What is run for Tables 1 and 2 of the survey, which are those of Davidson, Wagstaff and Basu (2006)."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from cluewise import Clues, COPKMeans, Infeasible, MKMeans, MPCKMeans, PKMeans, Undecided
from cluewise.metrics import coherence, informativeness, rand

from ...cells import Experiment, Problem
from ...sets import paper_set

__all__ = ["DATA", "METHODS", "SEED", "drawn", "models"]

DATA = ("glass", "ionosphere", "iris", "wine")
METHODS = ("CKM", "PKM", "MKM", "MPKM")
STARTED = ("PKM", "MPKM")  # their start depends on the clues
RULES = ("exact", "published")
SEED, PAIRS = 7, 25
BLOCK = 25  # sets of clues in a cell of Table 1: a fit takes milliseconds, and a line for each would be 100 000 lines
ROUNDING = 1e-12  # smaller differences of the Rand index are neither harm nor gain
MOST = 5000  # draws after which the search for one coherent set ends


def drawn(y: np.ndarray, number: int, *, count: int = PAIRS) -> Clues:
    """A set of clues: pairs at random, must-link or cannot-link by class; the same ones for every method."""
    return Clues.sample(y, pairs=count, random_state=[SEED, number, count])


def none(y: np.ndarray, seed: int) -> None:
    """No clues: a cell draws several sets by itself, or needs the rows to draw one."""


def random_rows(k: int, X: np.ndarray, number: int) -> np.ndarray:
    """A start that depends on the number of the set alone."""
    return X[np.random.default_rng(SEED * 10**6 + number).choice(len(X), k, replace=False)]


def models(k: int, X: np.ndarray, number: int) -> dict[str, Any]:
    """The four methods, each from one start that depends on the number of the set.

    CKM and MKM start at the same place with clues and without: random rows, k-means++. PKM and MPKM do not: with clues
    they start from the groups of the must-links, as the authors' code does, without from k-means++.
    """
    seed = SEED * 10**6 + number
    start = random_rows(k, X, number)
    once: dict[str, Any] = {"n_init": 1, "max_iter": 100, "random_state": seed}
    return {
        "CKM": COPKMeans(k, init=start, **once),
        "PKM": PKMeans(k, penalty=1, **once),
        "MKM": MKMeans(k, penalty=1, prior_rows=0, **once),
        "MPKM": MPCKMeans(k, penalty=1, prior_rows=0, **once),
    }


def defaults(k: int, X: np.ndarray, number: int) -> dict[str, Any]:
    """What a user gets."""
    kinds = {"CKM": COPKMeans, "PKM": PKMeans, "MKM": MKMeans, "MPKM": MPCKMeans}
    return {name: kind(k, random_state=SEED * 10**6 + number) for name, kind in kinds.items()}


def same_start(k: int, X: np.ndarray, number: int) -> dict[str, Any]:
    """PKM and MPKM from random rows with clues and without, so that nothing but the penalties differs."""
    made, start = models(k, X, number), random_rows(k, X, number)
    return {name: made[name].set_params(init=start) for name in STARTED}


def reading(
    k: int, X: np.ndarray, number: int, *, init: str = "k-means++", per_cluster: bool = False
) -> dict[str, Any]:
    """MKM as it may have been meant: another start, a metric for each cluster."""
    model = models(k, X, number)["MKM"]
    noise = np.random.default_rng(SEED * 10**6 + number).normal(size=(k, X.shape[1]))
    start = X.mean(axis=0) + 0.01 * X.std(axis=0) * noise if init == "mean" else init
    return {"MKM": model.set_params(init=start, per_cluster=per_cluster)}


def numbers(p: Problem) -> range:
    """Which sets a cell is about."""
    return range(p.seed * BLOCK, (p.seed + 1) * BLOCK)


def harm(p: Problem, *, method: str, make: Any = models) -> dict[str, float]:
    """Table 1: in which share of the sets a method does worse than without clues, and how well it does."""
    found: dict[str, list[float]] = defaultdict(list)
    for number in numbers(p):
        clues, model = drawn(p.y, number), make(p.k, p.X, number)[method]
        try:
            fits = {"with": rand(p.y, clone(model).fit(p.X, clues=clues).labels_)}
            # The authors' code adds all pairs that follow from those drawn.
            fits["entailed"] = rand(p.y, clone(model).fit(p.X, clues=clues.closed()).labels_)
        except (Infeasible, Undecided):
            found["failed"].append(1.0)
            continue
        found["failed"].append(0.0)
        plain = clone(model).fit(p.X).labels_
        fits |= {"without": rand(p.y, plain), "news": informativeness(plain, clues)}
        for stage, value in fits.items():
            found[stage].append(value)
        for stage in ("with", "entailed"):
            found[f"worse {stage}"].append(float(fits[stage] < fits["without"] - ROUNDING))
    means = {stage: float(np.mean(values)) for stage, values in found.items()}
    if found["news"]:
        low = np.array(found["news"]) <= np.median(found["news"])
        means["change, little news"] = float((np.array(found["with"]) - found["without"])[low].mean())
    return means


def coherent_share(p: Problem) -> dict[str, float]:
    """How many of the sets of Table 1 are fully coherent."""
    return {rule: float(np.mean([_coherent(p.X, drawn(p.y, n), rule) for n in numbers(p)])) for rule in RULES}


def _coherent(X: np.ndarray, clues: Clues, rule: str) -> bool:
    return coherence(X, clues, profile="library" if rule == "exact" else rule) == 1


def among_coherent(p: Problem, *, count: int, rule: str, mixed: bool = False) -> dict[str, float]:
    """Table 2: sets are drawn until one is fully coherent; how informative it is, and how well the methods do.

    Informative for K-means, which is PKM without clues. Coherence is about a must-link and a cannot-link, so sets of
    one kind are coherent whatever they say; ``mixed`` leaves them out.
    """
    for draws in range(1, MOST + 1):
        clues = Clues.sample(p.y, pairs=count, random_state=[SEED, p.seed, count, draws])
        one_kind = min(map(len, clues.pairs()[::2])) == 0
        if not (mixed and one_kind) and _coherent(p.X, clues, rule):
            break
    else:
        return {"draws": float(MOST), "found": 0.0}
    result = {"draws": float(draws), "found": 1.0, "one kind": float(one_kind)}
    for name, model in models(p.k, p.X, p.seed).items():
        plain = clone(model).fit(p.X).labels_
        if name == "PKM":
            result["news"] = informativeness(plain, clues)
        result[name] = rand(p.y, clone(model).fit(p.X, clues=clues).labels_)
        result[f"{name} better"] = float(result[name] > rand(p.y, plain) + ROUNDING)
    return result


RAW = {name: paper_set(name) for name in DATA}
TABLE_1 = Experiment(
    name="survey_table1",
    title=f"Table 1: how often {PAIRS} true pairs hurt; a cell is {BLOCK} sets of pairs",
    data=RAW,
    settings={f"{PAIRS} pairs": none},
    methods={name: partial(harm, method=name) for name in METHODS} | {"coherent": coherent_share},
    seeds=1000 // BLOCK,
    quick={"data": ["iris"], "seeds": 1},
)
DEFAULTS = Experiment(
    name="survey_defaults",
    title="Table 1 with the library's defaults, the first quarter of the sets",
    data=RAW,
    settings={f"{PAIRS} pairs": none},
    methods={name: partial(harm, method=name, make=defaults) for name in METHODS},
    seeds=250 // BLOCK,
    quick={"data": ["iris"], "methods": ["CKM", "MPKM"], "seeds": 1},
)
READINGS = Experiment(
    name="survey_readings",
    title="Table 1, MKM: other readings, the first fifth of the sets",
    data=RAW,
    settings={f"{PAIRS} pairs": none},
    methods={
        name: partial(harm, method="MKM", make=make)
        for name, make in {
            "start at random rows": partial(reading, init="random"),
            "start near the mean": partial(reading, init="mean"),
            "a metric for each cluster": partial(reading, per_cluster=True),
            "start near the mean, a metric for each cluster": partial(reading, init="mean", per_cluster=True),
        }.items()
    },
    seeds=200 // BLOCK,
    quick={"data": ["iris"], "methods": ["start near the mean"], "seeds": 1},
)
SAME_START = Experiment(
    name="survey_start",
    title="Table 1, PKM and MPKM: one start with pairs and without, the first fifth of the sets",
    data=RAW,
    settings={f"{PAIRS} pairs": none},
    methods={name: partial(harm, method=name, make=same_start) for name in STARTED},
    seeds=200 // BLOCK,
    quick={"data": ["iris"], "methods": ["PKM"], "seeds": 1},
)
COUNTS = (10, 5)
MIXED = "5 pairs of both kinds, exact"
VARIANTS = {
    f"{count} pairs, {rule}": partial(among_coherent, count=count, rule=rule) for count in COUNTS for rule in RULES
}
VARIANTS[MIXED] = partial(among_coherent, count=5, rule="exact", mixed=True)
TABLE_2 = Experiment(
    name="survey_table2",
    title="Table 2: fully coherent sets; a cell is one set, given to all four methods",
    data=RAW,
    settings={"coherent": none},
    methods=VARIANTS,
    seeds=200,
    only=lambda data, setting, method: method != MIXED or data in ("iris", "wine"),  # elsewhere there are next to none
    quick={"data": ["iris"], "methods": ["10 pairs, exact", MIXED], "seeds": 8},
)
