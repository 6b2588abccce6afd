"""Does boosting help? ARI and NMI of clusterers alone and boosted, and of linkage on learned and Euclidean distances.

``python benchmarks/boosting.py [clusterers | distances] [--draws 5] [--projection plain] [NAME ...]`` on labelled sets
that are on this machine: standardized columns, 50 to 500 random pairs, none of them wrong. A gain is printed with its
standard error: over draws for one set, over sets for a mean.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import pairwise_distances
from sklearn.mixture import GaussianMixture

from cluewise import Clues
from cluewise.boosting import BoostCluster, DistBoost
from cluewise.datasets import available, load
from cluewise.metrics import ari, nmi
from cluewise.mixture import EquivalenceGMM

PAPER = ("iris", "wine", "ecoli", "glass", "balance")  # the sets of the TVClust paper
SETS = (
    *PAPER, "breast", "heart", "ionosphere", "pima", "protein", "sonar", "soybean_small", "vowel", "zoo",
)  # fmt: skip
PAIRS = (50, 100, 200, 500)
CLUSTERERS: dict[str, Callable[[int, int], Any]] = {
    "KMeans": lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    "GaussianMixture": lambda k, seed: GaussianMixture(k, reg_covar=1e-3, random_state=seed),
    "Ward": lambda k, seed: AgglomerativeClustering(k),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What boosting adds to clusterers and to distances.")
    parser.add_argument("what", nargs="?", choices=["clusterers", "distances", "both"], default="both")
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: fourteen of UCI's)")
    parser.add_argument("--draws", type=int, default=5, help="draws of clues for every number (default: 5)")
    parser.add_argument("--projection", choices=["plain", "generalized"], default="plain")
    given = parser.parse_args(arguments)
    names, known = given.names or SETS, available()
    here = [name for name in names if name in known and known[name].origin != "OpenML"]
    if not here:
        parser.error("none of the data sets is on this machine; CLUEWISE_DATA names their folder.")
    if given.what != "distances":
        for base in CLUSTERERS:
            found = [clusterers(name, base, given.projection, given.draws) for name in here]
            print_table(f"BoostCluster({base}), projection={given.projection!r}", base, "boosted", here, found)
    if given.what != "clusterers":
        both = [list(distances(name, given.draws)) for name in here]
        for i, against in enumerate(("average linkage, Euclidean", "spectral, Euclidean", "EquivalenceGMM")):
            shown = ("average linkage", "spectral", "average linkage")[i]
            print_table(f"{shown} on DistBoost", against, "DistBoost", here, [found[i] for found in both])
    print(f"{given.draws} draws of {', '.join(map(str, PAIRS))} pairs on each of {len(here)} sets")


def clusterers(name: str, base: str, projection: str, draws: int) -> np.ndarray:
    """(draws, pairs, base and boosted, ARI and NMI) on one set."""
    X, y, k = data(name)
    out = np.empty((draws, len(PAIRS), 2, 2))
    for seed in range(draws):
        make = CLUSTERERS[base]
        out[seed, :, 0] = scores(y, make(k, seed).fit_predict(X))
        for j, pairs in enumerate(PAIRS):
            model = BoostCluster(clusterer=make(k, seed), projection=projection, random_state=seed)
            out[seed, j, 1] = scores(y, model.fit(X, clues=drawn(y, pairs, seed)).labels_)
    return out


def distances(name: str, draws: int) -> Iterator[np.ndarray]:
    """The same for average linkage and spectral clustering, and for one mixture that keeps all links."""
    X, y, k = data(name)
    out = np.empty((3, draws, len(PAIRS), 2, 2))
    euclidean = [scores(y, labels) for labels in by_distances(pairwise_distances(X), k)]
    for seed in range(draws):
        for j, pairs in enumerate(PAIRS):
            clues = drawn(y, pairs, seed)
            learned = DistBoost(k, random_state=seed).fit(X, clues=clues).transform(X)
            ours = [scores(y, labels) for labels in by_distances(learned, k)]
            mixture = EquivalenceGMM(k, reg_covar=1e-2, random_state=seed).fit(X, clues=clues)
            out[:, seed, j, 0] = [*euclidean, scores(y, mixture.labels_)]
            out[:, seed, j, 1] = [*ours, ours[0]]
    yield from out


def by_distances(D: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels by average linkage and by spectral clustering, with the median distance as width."""
    linkage = AgglomerativeClustering(k, metric="precomputed", linkage="average").fit_predict(D)
    width = np.median(D[D > 0]) if (D > 0).any() else 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parts of a graph without a path between them are what is wanted here
        graph = SpectralClustering(k, affinity="precomputed", random_state=0).fit_predict(np.exp(-((D / width) ** 2)))
    return linkage, graph


def data(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    found = load(name, standardize=True)
    return np.asarray(found.X, dtype=np.float64), found.y, len(np.unique(found.y))


def drawn(y: np.ndarray, pairs: int, seed: int) -> Clues:
    return Clues.sample(y, pairs=pairs, random_state=1000 * seed + pairs)


def scores(y: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    return ari(y, labels), nmi(y, labels)


def print_table(title: str, base: str, ours: str, names: Sequence[str], found: Sequence[np.ndarray]) -> None:
    """One line per set and means; the gain by number of pairs below."""
    print(f"\n{title}\n{'set':14s}    {base} ARI  {ours} ARI   gain ± se       gain of NMI ± se")
    for name, own in zip(names, found, strict=True):
        by_draw = own.mean(axis=1)  # over numbers of pairs
        print(line(name, by_draw[:, :, 0].mean(axis=0), by_draw[:, 1] - by_draw[:, 0]))
    every = np.array([own.mean(axis=(0, 1)) for own in found])  # (sets, 2, 2)
    groups = {"all sets": np.ones(len(names), bool), "TVClust's sets": np.isin(names, PAPER)}
    for words, mine in groups.items():
        if mine.any():
            print(line(words, every[mine, :, 0].mean(axis=0), every[mine, 1] - every[mine, 0]))
    gains = np.mean([own[:, :, 1, 0] - own[:, :, 0, 0] for own in found], axis=(0, 1))
    print("mean gain of ARI by pairs:", ", ".join(f"{m}: {gain:+.3f}" for m, gain in zip(PAIRS, gains, strict=True)))


def line(name: str, means: np.ndarray, gains: np.ndarray) -> str:
    error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.full(2, np.nan)
    told = "   ".join(f"{gain:+.3f} ± {se:.3f}" for gain, se in zip(gains.mean(axis=0), error, strict=True))
    return f"{name:14s}  {means[0]:8.3f}  {means[1]:8.3f}      {told}"


if __name__ == "__main__":
    main()
