"""What is run for seed 001 [Khashabi2015]: Tables 1 to 3, Figures 2 and 3."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.cluster import KMeans

from cluewise import LCVQE, Clues, DPMeans, MPCKMeans, OneSpectral, RDPMeans, TVClust

from ...cells import Experiment, Problem
from ...sets import paper_set, raw, stored

__all__ = ["DEFAULTS", "DEVIATED", "PATTERNS", "UCI"]


def glass() -> tuple[np.ndarray, np.ndarray]:
    """With the row number as a feature, as the printed numbers have it."""
    X, y = raw("glass")
    return np.column_stack([stored("glass")["row_id"], X]), y


SETS = ("iris", "wine", "ecoli", "glass", "balance")
CLUSTERS = {"iris": 3, "wine": 3, "ecoli": 8, "glass": 7, "balance": 3}
RIGHT = (1, 0.95, 0.9, 0.8)
RATES = (0.01, 0.03, 0.05)


def pairs(y: np.ndarray, seed: int, *, right: float, rate: float) -> Clues:
    """Ordered pairs at random, as many as a share of n², each told right with a probability; the last word counts."""
    rng = np.random.default_rng([seed, round(1e4 * rate), round(100 * right)])
    return Clues.sample(y, pairs=rate, noise=1 - right, profile="ordered", random_state=rng)


def none(y: np.ndarray, seed: int) -> Clues:
    """No clues."""
    return Clues(len(y))


def named(right: float, rate: float) -> str:
    """A setting as the published files call it."""
    return f"p={right:g}; r={rate:g}"


GRID = {named(right, rate): partial(pairs, right=right, rate=rate) for right in RIGHT for rate in RATES}


def drawn(p: Problem) -> int:
    """A seed that differs between lists of pairs, so that K-means is not run twelve times from the same start."""
    return crc32(b"" if p.clues is None else p.clues.cannot.tobytes(), p.seed)


# --- the published profile


def boxed(p: Problem) -> Any:
    """The paper's K-means: centers uniform in the bounding box, 50 iterations, empty clusters drawn again."""
    X, rng = p.X, np.random.default_rng(drawn(p))
    low, high = X.min(axis=0), X.max(axis=0)
    centers = rng.uniform(low, high, size=(p.k, X.shape[1]))
    for _ in range(50):
        z = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        old = centers
        centers = np.array([X[z == h].mean(axis=0) if (z == h).any() else rng.uniform(low, high) for h in range(p.k)])
        if (centers == old).all():
            break
    return z


def dp(p: Problem) -> Any:
    """RDP-means without pairs; rows in random order, which fits all five sets (that of the file fits three)."""
    return RDPMeans(p.k, profile="published", max_iter=100, random_state=drawn(p)).fit(p.X).labels_


def rdp(p: Problem) -> Any:
    """Unsquared distances, λ from the distances to the mean, a start in the bounding box."""
    return RDPMeans(p.k, profile="published", random_state=drawn(p)).fit(p.X, clues=p.clues).labels_


def tv(p: Problem) -> Any:
    """15 components whatever k is, standardized columns, one random start, the public code's Beta(1, 10) prior of p.

    In that code a pair acts on one of its rows only. Pairs of weight ½ on both of them are the nearest to that here.
    """
    told = Clues(len(p.y)) if p.clues is None else p.clues
    half = Clues(told.n, must=told.must, cannot=told.cannot, must_weight=0.5, cannot_weight=0.5)
    return TVClust(profile="published", must_prior=(1, 10), random_state=drawn(p)).fit(p.X, clues=half).labels_


def mpck(p: Problem) -> Any:
    """One start at w = 1; must-links with all that follow from them, which the Java original adds by default."""
    clues = Clues(len(p.y), together=p.clues.components, cannot=p.clues.cannot) if p.clues is not None else None
    model = MPCKMeans(p.k, profile="published", n_init=1, random_state=drawn(p))
    return model.fit(p.X, clues=clues).labels_


def lcvqe(p: Problem) -> Any:
    """One start from random rows, pairs in the order of the matrix."""
    model = LCVQE(p.k, profile="published", init="random", order="index", n_init=1, random_state=drawn(p))
    return model.fit(p.X, clues=p.clues).labels_


def other_k(fit: Any, deviation: int, p: Problem) -> Any:
    """The same, told another number of clusters."""
    return fit(p._replace(k=p.k - deviation))


PROFILE: dict[str, Callable[[Problem], Any]] = {
    "K-means": boxed, "DP-means": dp, "TVClust(variational)": tv,
    "RDP-means": rdp, "MPCKMeans": mpck, "LCVQE": lcvqe,
}  # fmt: skip

# --- what a user gets


def default(kind: Any, p: Problem) -> Any:
    """Told the number of clusters, and nothing else."""
    return kind(p.k, random_state=p.seed).fit(p.X, clues=p.clues).labels_


def default_plain(p: Problem) -> Any:
    """Ten starts of scikit-learn's K-means."""
    return KMeans(p.k, n_init=10, random_state=p.seed).fit_predict(p.X)


def default_dp(p: Problem) -> Any:
    """Squared distances, rows in the order of the file."""
    return DPMeans(p.k).fit(p.X).labels_


def default_tv(p: Problem) -> Any:
    """It is told nothing at all."""
    return TVClust(random_state=p.seed).fit(p.X, clues=p.clues).labels_


def default_c1sc(p: Problem) -> Any:
    """All pairs hold where they can; where wrong ones contradict others, as few as possible are broken."""
    hard = p.clues is None or p.clues.feasible(p.k) is True
    return OneSpectral(p.k, hard=hard, random_state=p.seed).fit(p.X, clues=p.clues).labels_


USUAL: dict[str, Callable[[Problem], Any]] = {
    "K-means": default_plain, "DP-means": default_dp, "TVClust(variational)": default_tv,
    "RDP-means": partial(default, RDPMeans), "MPCKMeans": partial(default, MPCKMeans), "LCVQE": partial(default, LCVQE),
    "C1-SC": default_c1sc,
}  # fmt: skip

UCI = Experiment(
    name="seed001_uci",
    title="Tables 1 to 3: five UCI sets, published profile",
    data={name: glass if name == "glass" else paper_set(name) for name in SETS},
    settings=GRID,
    methods=PROFILE,
    seeds=5,
    clusters=CLUSTERS,
    quick={"data": ["iris", "glass"], "settings": ["p=1; r=0.03", "p=0.8; r=0.03"], "seeds": 1},
)
DEFAULTS = Experiment(
    name="seed001_defaults",
    title="The grid of Tables 1 to 3 with the library's defaults, glass without its row number",
    data={name: paper_set(name) for name in SETS},
    settings=GRID,
    methods=USUAL,
    seeds=5,
    quick={"data": ["iris"], "settings": ["p=0.9; r=0.03"], "seeds": 1},
)

# --- Figure 3: a wrong number of clusters

DEVIATIONS = (-3, -2, -1, 0, 1, 2, 3)
DEVIATION_SETTING = named(1, 0.03)
TOLD = tuple(name for name in PROFILE if name != "TVClust(variational)")  # which is told no number


def possible(data: str, setting: str, method: str) -> bool:
    """At least one cluster; two for LCVQE, as in the paper."""
    name, _, deviation = method.rpartition(" ")
    return not name or CLUSTERS[data] - int(deviation) >= (2 if name == "LCVQE" else 1)


DEVIATED = Experiment(
    name="seed001_figure3",
    title="Figure 3: told k − deviation clusters",
    data=UCI.data,
    settings={DEVIATION_SETTING: GRID[DEVIATION_SETTING]},
    methods={
        "TVClust(variational)": tv,
        **{f"{name} {by:+d}": partial(other_k, PROFILE[name], by) for name in TOLD for by in DEVIATIONS},
    },
    seeds=5,
    only=possible,
    clusters=CLUSTERS,
    quick={"data": ["iris"], "methods": [f"{name} {by:+d}" for name in TOLD for by in (-1, 1)], "seeds": 1},
)

# --- Figure 2: patterns

SHAPES = {
    "two Gaussians": "synth_gaussians", "two spirals": "synth_twospirals",
    "cluster in cluster": "synth_clusterincluster", "corners": "synth_corners",
    "half kernel": "synth_halfkernel", "crescent and full moon": "synth_crescentfullmoon",
}  # fmt: skip
PATTERN_SETTING = named(1, 0.01)
PATTERNS = Experiment(
    name="seed001_figure2",
    title="Figure 2: six patterns, the best of five runs",
    data={name: paper_set(file) for name, file in SHAPES.items()},
    settings={PATTERN_SETTING: GRID[PATTERN_SETTING]},
    methods={**PROFILE, **{f"{name}, defaults": fit for name, fit in USUAL.items()}},
    seeds=5,
    quick={"data": ["two Gaussians"], "seeds": 1},
)
