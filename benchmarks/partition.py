"""What does PartitionKMeans cost, an iteration and a fit, against scikit-learn's KMeans?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from measuring import Figure, Times, interleaved, one_thread, per_iteration
from sklearn.cluster import KMeans
from workload import blobs, here, lloyd

from cluewise import PartitionKMeans, datasets

FULL = {"n": 1_000_000, "d": 32, "k": 50, "shares": (0.0, 0.1, 1.0), "few": 2, "many": 12, "repeats": 5}
TINY = {"n": 3_000, "d": 12, "k": 5, "shares": (0.1,), "few": 1, "many": 3, "repeats": 1}
GOALS = {0.1: 1.0}
LIMIT = 0.03  # seconds for pendigits


def measure(n: int, d: int, k: int, shares: tuple[float, ...], few: int, many: int, repeats: int) -> list[Figure]:
    X = blobs(n, d, k)
    init = X[:k].copy()
    fits = {"KMeans": lambda iterations: lloyd(X, init, iterations)}
    for share in shares:
        labels = some_labels(n, k, share)
        fits[f"PartitionKMeans, {share:.0%} labelled"] = lambda iterations, labels=labels: partition(
            X, init, iterations, labels
        )
    with one_thread():
        for fit in fits.values():
            fit(few)  # compiles or loads what is needed
        times = per_iteration(fits, few, many, repeats)
        whole = interleaved({name: partial(fit, many) for name, fit in fits.items()}, repeats)
    anchor = times.pop("KMeans")
    against = "one Lloyd iteration of scikit-learn's KMeans"
    figures = [
        Figure(name, 1e3 * found.best, 1e3 * anchor.best, "ms", against, GOALS.get(share), noise=noise(found, anchor))
        for share, (name, found) in zip(shares, times.items())
    ]
    anchor = whole.pop("KMeans")
    figures += [
        Figure(
            f"{name}, {many} iterations",
            found.best,
            anchor.best,
            "s",
            f"a fit of {many} iterations of KMeans",
            GOALS.get(share),
            noise=noise(found, anchor),
        )
        for share, (name, found) in zip(shares, whole.items())
        if share in GOALS
    ]
    return figures + pendigits(4 * repeats)


def noise(ours: Times, anchor: Times) -> float:
    return max(ours.noise, anchor.noise)


def pendigits(repeats: int) -> list[Figure]:
    """One start of each on pendigits, one tenth of its rows labelled; nothing where the data set is missing."""
    if not here("partition", ["pendigits"]):
        return []
    data = datasets.load("pendigits")
    X, y = data.X, data.y
    labels = np.where(np.random.default_rng(0).random(len(y)) < 0.1, y, -1)
    seeds = range(5)  # runs differ in length by their starts
    contestants = {
        "ours": lambda: [PartitionKMeans(10, n_init=1, random_state=seed).fit(X, clues=labels) for seed in seeds],
        "KMeans": lambda: [KMeans(10, n_init=1, random_state=seed).fit(X) for seed in seeds],
    }
    with one_thread():
        contestants["ours"]()
        times = interleaved(contestants, repeats)
    ours, anchor = (1e3 * times[name].best / len(seeds) for name in contestants)
    against = f"KMeans, one start (goal: {1e3 * LIMIT:.0f} ms as well)"
    goal = min(1.2, 1e3 * LIMIT / anchor)
    return [Figure("PartitionKMeans on pendigits, 10% labelled", ours, anchor, "ms", against, goal)]


def some_labels(n: int, k: int, share: float) -> np.ndarray:
    """The blob of a share of the rows, one in ten of them wrong; −1 for the others."""
    rng = np.random.default_rng(0)
    told = np.where(rng.random(n) < 0.1, rng.integers(k, size=n), np.arange(n) % k)
    return np.where(rng.random(n) < share, told, -1)


def partition(X: np.ndarray, init: np.ndarray, iterations: int, labels: np.ndarray) -> Any:
    """PartitionKMeans for a given number of iterations; a trust of about the variance of a blob."""
    model = PartitionKMeans(len(init), trust=1.0, init=init, max_iter=iterations, tol=0)
    return model.fit(X, clues=labels)
