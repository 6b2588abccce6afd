"""Pairs that come in tiers, ensembles, and the methods of seed 003 [Yi2015] that follow the tiers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from cluewise import (
    DCA,
    ITML,
    LMNN,
    RCA,
    SCSC,
    ApproxKernelKMeans,
    Clues,
    MaxMarginClusterer,
    SpectralKernelKMeans,
    XingMetric,
)
from cluewise.ensemble import partitions
from cluewise.metrics import nmi

from ...cells import Problem
from ...sets import stored

__all__ = ["INERTIA", "METHODS", "PARTITIONS", "SIZES", "TIERS", "VARIANTS", "pairs_in_tiers", "sample", "until"]

TIERS = ("t1", "t2", "t3", "t4", "t5")
SOME = (1, 3, 5)  # tiers of the methods that take long
PARTITIONS = 300
SIZES = (50, 100, 150, 200, 250, 300)  # partitions, Figure 1
INERTIA = 10.0  # λ of Eq. (11), with C = 4/m: the library's defaults, since the paper has no numbers
# The paper has two updates, Eqs. (8) and (11), and two ways to hard clusters, and does not say which were used.
VARIANTS: dict[str, dict[str, Any]] = {
    "": {"update_rule": "exact"},
    "K-means ": {"update_rule": "exact", "hard": "kmeans"},
    "relaxed ": {"update_rule": "relaxed", "inertia": INERTIA},
    "relaxed K-means ": {"update_rule": "relaxed", "inertia": INERTIA, "hard": "kmeans"},
}


@lru_cache(maxsize=2)  # the largest take half a gigabyte
def sample(name: str, rows: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Some rows of a set, the same each time, as they are in the file; all of them where nothing is said."""
    X, y = stored(name)["X"], stored(name)["y"]
    kept = slice(None) if rows is None else np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
    return X[kept].astype(np.float64), y[kept]


def pairs_in_tiers(y: np.ndarray, seed: int, *, pairs: int) -> Clues:
    """Five times so many new random pairs; the source of a link is its tier."""
    known, drawn = None, []
    for tier in range(1, 1 + len(TIERS)):
        new = Clues.sample(y, pairs=pairs, exclude=known, random_state=[seed, tier])
        known = new if known is None else known | new
        drawn.append(new)
    return Clues(
        len(y),
        must=np.concatenate([new.must for new in drawn]),
        cannot=np.concatenate([new.cannot for new in drawn]),
        must_source=np.repeat(TIERS, [len(new.must) for new in drawn]),
        cannot_source=np.repeat(TIERS, [len(new.cannot) for new in drawn]),
    )


def only(clues: Clues, tiers: Sequence[str]) -> Clues:
    """The pairs of some tiers."""
    must, cannot = (np.isin(source.astype(str), tiers) for source in (clues.must_source, clues.cannot_source))
    return Clues(clues.n, must=clues.must[must], cannot=clues.cannot[cannot])


def until(p: Problem, tier: int) -> Clues:
    """All pairs of a tier and of those before it, on which the rivals are run again."""
    return only(known(p), TIERS[:tier])


def known(p: Problem) -> Clues:
    """The pairs; every setting here has some."""
    assert p.clues is not None
    return p.clues


def kernel_ensemble(p: Problem) -> np.ndarray:
    """The offline step; number of landmarks, kernel and starts are not in the paper."""
    maker = ApproxKernelKMeans(landmarks=100, n_init=1)
    return partitions(p.X, n_partitions=PARTITIONS, n_clusters=p.k, estimator=maker, random_state=p.seed)


def scsc(p: Problem) -> dict[str, Any]:
    """Figures 1 and 2 from one ensemble: all variants over all tiers, and one tier with fewer partitions.

    Beside labels: the loss of Eq. (5) over all five tiers for the memberships of each tier; what single partitions
    are worth; and the share of pairs that they break, weighted as before and as after the first tier: of the pairs of
    that tier, and of those of the second, which the weights have not seen.
    """
    made = kernel_ensemble(p)
    new = [only(known(p), [tier]) for tier in TIERS]
    found: dict[str, Any] = {}
    for name, options in VARIANTS.items():
        model = SCSC.from_partitions(made, p.k, **options)
        found[f"{name}t0"] = model.labels_
        for tier, pairs in zip(TIERS, new):
            found[f"{name}{tier}"] = model.update(pairs).labels_
    for name in ("", "relaxed "):
        model = SCSC.from_partitions(made, p.k, **VARIANTS[name])
        found[f"{name}loss t0"] = loss(model, known(p))
        for tier, pairs in zip(TIERS, new):
            found[f"{name}loss {tier}"] = loss(model.update(pairs), known(p))
            if tier == "t1":
                for which, some in (("broken", pairs), ("unseen", new[1])):
                    broken = breaks(made, some)
                    found[f"{name}{which} before"] = float(broken.mean())
                    found[f"{name}{which} after"] = float(model.gamma_ @ broken)
        for size in SIZES:
            fewer = SCSC.from_partitions(made[:size], p.k, **VARIANTS[name])
            found[f"{name}m={size}"] = fewer.update(new[0]).labels_
    found["single"] = float(np.mean([nmi(p.y, labels) for labels in made]))
    return found


def loss(model: SCSC, clues: Clues) -> float:
    """Mean of ‖F_i − F_j‖² over must-links and ‖F_i + F_j‖² over cannot-links."""
    total = 0.0
    for pairs, sign in ((clues.must, -1), (clues.cannot, 1)):
        if len(pairs):
            rows, ends = np.unique(pairs, return_inverse=True)
            first, second = np.moveaxis(model.memberships(rows)[ends.reshape(pairs.shape)], 1, 0)
            total += float(np.square(first + sign * second).sum())
    return total / (len(clues.must) + len(clues.cannot))


def breaks(made: np.ndarray, clues: Clues) -> np.ndarray:
    """Share of the pairs that each partition breaks."""
    apart = (made[:, clues.must[:, 0]] != made[:, clues.must[:, 1]]).sum(axis=1)
    joined = (made[:, clues.cannot[:, 0]] == made[:, clues.cannot[:, 1]]).sum(axis=1)
    return (apart + joined) / (len(clues.must) + len(clues.cannot))


def scsc_default(p: Problem) -> dict[str, Any]:
    """What a user gets."""
    model = SCSC(p.k, random_state=p.seed).fit(p.X)
    found = {"t0": model.labels_}
    for tier in TIERS:
        found[tier] = model.update(only(known(p), [tier])).labels_
    return found


def kmeans(X: np.ndarray, k: int, seed: int, starts: int = 10) -> np.ndarray:
    """K-means in single precision, which is twice as fast."""
    return KMeans(k, n_init=starts, random_state=seed).fit_predict(np.asarray(X, dtype=np.float32))


def plain(p: Problem) -> np.ndarray:
    """K-means, which sees no pairs."""
    return kmeans(p.X, p.k, p.seed)


def metric(p: Problem, learner: Callable[[], Any], tiers: Sequence[int] = (1, 2, 3, 4, 5)) -> dict[str, Any]:
    """A distance from all pairs so far, then K-means; anew in each tier."""
    return {f"t{tier}": kmeans(learner().fit(p.X, clues=until(p, tier)).transform(p.X), p.k, p.seed) for tier in tiers}


def clusterer(p: Problem, method: Callable[..., Any], tiers: Sequence[int] = SOME) -> dict[str, Any]:
    """A method that clusters by itself, anew in each tier."""
    return {f"t{tier}": method(p.k, random_state=p.seed).fit(p.X, clues=until(p, tier)).labels_ for tier in tiers}


METHODS: dict[str, Callable[[Problem], Any]] = {
    "SCSC": scsc,
    "SCSC, defaults": scsc_default,
    "K-means": plain,
    "RCA": partial(metric, learner=partial(RCA, shrinkage=0.0)),
    "DCA": partial(metric, learner=partial(DCA, shrinkage=0.0)),
    "ITML": partial(metric, learner=ITML, tiers=SOME),
    "RCA, defaults": partial(metric, learner=RCA, tiers=SOME),
    "DCA, defaults": partial(metric, learner=DCA, tiers=SOME),
    "PGDM": partial(metric, learner=XingMetric, tiers=SOME),
    "LMNN": partial(metric, learner=LMNN, tiers=SOME),
    "CCSKL": partial(clusterer, method=partial(SpectralKernelKMeans, profile="published", trust=1.0)),
    "CCSKL, defaults": partial(clusterer, method=SpectralKernelKMeans),
    "PMMC": partial(clusterer, method=partial(MaxMarginClusterer, n_init=1)),
}
