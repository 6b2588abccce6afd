"""The data and the clues that are measured on; the same numbers for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def blobs(n: int, d: int, k: int, seed: int = 0) -> np.ndarray:
    """Rows of k blobs that overlap, so that k-means goes on for many iterations; row i belongs to blob i mod k.

    Not centered, as raw data are. Made in place: whoever measures memory wants no peak before the fit.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32)
    centers = 3 + 0.3 * rng.standard_normal((k, d), dtype=np.float32)
    for h in range(k):
        X[h::k] += centers[h]
    return X


def apart(n: int, d: int, k: int) -> np.ndarray:
    """The same rows with blobs that are so far apart that they can be found."""
    X, centers = blobs(n, d, k), blobs(k, d, k, seed=1)
    for h in range(k):
        X[h::k] += centers[h]
    return X


def links(n: int, k: int, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Random pairs, one half must-links inside the blobs and one half cannot-links across them."""
    rng = np.random.default_rng(seed)
    size = n // k  # rows of every blob, or one fewer
    blob, other = rng.integers(k, size=(2, count))
    first, second = rng.integers(size, size=(2, count))
    half = count // 2
    second[:half] += second[:half] == first[:half]  # nobody is linked to himself
    second[:half] %= size
    other = np.where(other == blob, (other + 1) % k, other)
    must = np.column_stack([first[:half] * k + blob[:half], second[:half] * k + blob[:half]])
    cannot = np.column_stack([first[half:] * k + blob[half:], second[half:] * k + other[half:]])
    return {"must": must, "cannot": cannot}


def lloyd(X: np.ndarray, init: np.ndarray, iterations: int) -> Any:
    """scikit-learn's KMeans for a given number of iterations."""
    from sklearn.cluster import KMeans

    model = KMeans(len(init), init=init, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd", copy_x=False)
    return quietly(model.fit, X)


def pck(X: np.ndarray, init: np.ndarray, iterations: int, clues: Any = None) -> Any:
    """PCKMeans for a given number of iterations."""
    from cluewise import PCKMeans

    return PCKMeans(len(init), init=init, n_init=1, max_iter=iterations, tol=0).fit(X, clues=clues)


def quietly(fit: Any, X: np.ndarray) -> Any:
    """Fit without the warning that the iterations were too few: they are meant to be."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(X)


def here(benchmark: str, names: Sequence[str]) -> list[str]:
    """List the data sets that can be read without the network, and print which others are left out."""
    from cluewise.datasets import available

    known = available()
    missing = [name for name in names if name not in known or known[name].origin == "OpenML"]
    if missing:
        print(f"{benchmark}: left out, not on this machine: {', '.join(missing)} (CLUEWISE_DATA names their folder)")
    return [name for name in names if name not in missing]
