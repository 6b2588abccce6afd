"""What do a hundred sweeps of TVClust's Gibbs sampler cost, against the same visits in plain NumPy?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Figure, interleaved, one_thread
from workload import blobs, links

from cluewise import Clues
from cluewise.mixture._tvclust.gibbs import GibbsDraws, sample
from cluewise.mixture._tvclust.gibbs_clusters import NormalClusters
from cluewise.mixture._tvclust.gibbs_draws import Rates, Record
from cluewise.mixture._tvclust.pair_evidence import Evidence, Noise, gather_evidence
from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # where the twins of the kernels live
from twins import gibbs_normal

FULL = {"n": 2_000, "d": 10, "k": 10, "pairs": 2_000, "sweeps": 100, "visits": 40, "repeats": 3}
TINY = {"n": 60, "d": 3, "k": 3, "pairs": 20, "sweeps": 3, "visits": 5, "repeats": 1}
NOISE = Noise(10.0, 1.0, 10.0, 1.0)
SECONDS = 5.0


def measure(n: int, d: int, k: int, pairs: int, sweeps: int, visits: int, repeats: int) -> list[Figure]:
    X = standardized(n, d, k)
    words = np.random.default_rng(0).poisson(np.exp(X - X.mean())).astype(float)
    known = gather_evidence(Clues(n, **links(n, k, pairs)))
    normal, counts = NormalInverseWishart(np.zeros(d), 1.0, np.eye(d), d + 2.0), DirichletMultinomial(np.full(d, 0.5))
    contestants = {
        (base, engine): lambda data=data, prior=prior, collapsed=collapsed: chain(data, known, prior, collapsed, sweeps)
        for base, data, prior in (("Gaussian", X, normal), ("counts", words, counts))
        for engine, collapsed in (("collapsed", True), ("uncollapsed", False))
    }
    with one_thread():
        for contestant in contestants.values():
            contestant()  # compiles or loads what is needed
        contestants["rival", ""] = lambda: plain(X, known, normal, np.arange(n) % k, visits)
        times = interleaved(contestants, repeats)
    rival = times.pop(("rival", ""))
    whole = rival.best * n * sweeps / visits
    against = f"{visits} visits in plain NumPy (the twin), times {n * sweeps // visits}"
    figures = []
    for (base, engine), found in times.items():
        name, noise = f"{sweeps} sweeps, {base}, {engine}", max(found.noise, rival.noise)
        figures.append(Figure(name, found.best, SECONDS, "s", f"{SECONDS:.0f} s", 1.0, noise=found.noise))
        if base == "Gaussian":
            figures.append(Figure(f" {engine}, against NumPy", found.best, whole, "s", against, noise=noise))
    return figures


def standardized(n: int, d: int, k: int) -> np.ndarray:
    """Blobs far enough apart for the sampler to find about k clusters."""
    X = blobs(n, d, k) + 1.5 * np.random.default_rng(1).normal(size=(k, d))[np.arange(n) % k]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def chain(X: np.ndarray, pairs: Evidence, base: Any, collapsed: bool, sweeps: int) -> GibbsDraws:
    """All that a fit does: the first pass, visits, splits and merges, p and q, records."""
    return sample(
        X,
        pairs,
        (base, NOISE),
        sweeps=sweeps,
        burn_in=0,
        thin=1,
        collapsed=collapsed,
        truncation=None,
        concentration=1.0,
        rng=np.random.default_rng(0),
        watch=lambda state, trace: False,
        labels0=None,
    )


def plain(X: np.ndarray, pairs: Evidence, base: NormalInverseWishart, start: np.ndarray, visits: int) -> int:
    """Some visits of the collapsed sampler by the twin of its kernel, with as many clusters as there are blobs."""
    clusters = NormalClusters(X, base, 1.0, len(X))
    labels = start.astype(np.int32)
    clusters.gather(labels)
    rng = np.random.default_rng(0)
    table = clusters.counts, clusters.means, clusters.uppers, clusters.half_log_det
    fixed = clusters.prior, float(base.degrees), clusters.height, clusters.fresh
    rows, uniforms = rng.permutation(len(X))[:visits], rng.random(visits)
    clues = Record(pairs, 1, len(X)).links(Rates(*NOISE.means())).arrays
    return gibbs_normal.visit_normal(X, rows, 0, uniforms, labels, *fixed, *table, *clues, len(X))
