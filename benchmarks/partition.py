"""What does an iteration of PartitionKMeans cost, against one of scikit-learn's KMeans?"""

from __future__ import annotations

from typing import Any

import numpy as np
from measuring import Figure, one_thread, per_iteration
from workload import blobs, lloyd

from cluewise import PartitionKMeans

FULL = {"n": 1_000_000, "d": 32, "k": 50, "shares": (0.0, 0.1, 1.0), "few": 2, "many": 12, "repeats": 5}
TINY = {"n": 3_000, "d": 12, "k": 5, "shares": (0.1,), "few": 1, "many": 3, "repeats": 1}
GOALS = {0.1: 1.0}


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
    anchor = times.pop("KMeans")
    against = "one Lloyd iteration of scikit-learn's KMeans"
    return [
        Figure(
            name,
            1e3 * found.best,
            1e3 * anchor.best,
            "ms",
            against,
            GOALS.get(share),
            noise=max(found.noise, anchor.noise),
        )
        for share, (name, found) in zip(shares, times.items())
    ]


def some_labels(n: int, k: int, share: float) -> np.ndarray:
    """The blob of a share of the rows, one in ten of them wrong; −1 for the others."""
    rng = np.random.default_rng(0)
    told = np.where(rng.random(n) < 0.1, rng.integers(k, size=n), np.arange(n) % k)
    return np.where(rng.random(n) < share, told, -1)


def partition(X: np.ndarray, init: np.ndarray, iterations: int, labels: np.ndarray) -> Any:
    """PartitionKMeans for a given number of iterations; a trust of about the variance of a blob."""
    model = PartitionKMeans(len(init), trust=1.0, init=init, max_iter=iterations, tol=0)
    return model.fit(X, clues=labels)
