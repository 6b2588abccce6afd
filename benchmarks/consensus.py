"""What do KCC and kernel k-means cost against the same thing in two steps of scikit-learn?"""

from __future__ import annotations

from typing import Any

import numpy as np
from measuring import Figure, interleaved, one_thread, per_iteration
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem
from workload import blobs

from cluewise.ensemble._kcc import KCC
from cluewise.ensemble._kernel_kmeans import ApproxKernelKMeans

FULL = {"n": 200_000, "m": 50, "labels": 20, "k": 10, "d": 32, "landmarks": 100, "few": 1, "many": 11, "repeats": 5}
TINY = {"n": 4_000, "m": 5, "labels": 6, "k": 3, "d": 4, "landmarks": 20, "few": 1, "many": 3, "repeats": 1}


def measure(
    n: int, m: int, labels: int, k: int, d: int, landmarks: int, few: int, many: int, repeats: int
) -> list[Figure]:
    views = some_partitions(n, m, labels)
    return [
        *consensus(views, labels, k, few, many, repeats),
        *kernel(blobs(n, d, k).astype(np.float64), k, landmarks, many, repeats),
    ]


def some_partitions(n: int, m: int, labels: int) -> np.ndarray:
    """Partitions that agree on few rows, so that the consensus takes many iterations."""
    rng = np.random.default_rng(0)
    truth = rng.integers(labels, size=n)
    noise = rng.integers(labels, size=(m, n))
    return np.where(rng.random((m, n)) < 0.1, truth, noise).astype(np.uint8)


def consensus(views: np.ndarray, labels: int, k: int, few: int, many: int, repeats: int) -> list[Figure]:
    m, n = views.shape
    columns = (views + labels * np.arange(m)[:, None]).T.ravel()
    one_hot = csr_matrix((np.full(m * n, m**-0.5), columns, np.arange(0, m * n + 1, m)), shape=(n, m * labels))
    start = one_hot[:k].toarray()

    def ours(utility: str) -> Any:
        return lambda iterations: KCC(
            k, utility=utility, partitions=views, n_init=1, max_iter=iterations, tol=0, random_state=0
        ).fit(one_hot[:, :1])

    fits = {
        "KMeans": lambda iterations: KMeans(k, init=start, n_init=1, max_iter=iterations, tol=0).fit(one_hot),
        "KCC, category": ours("category"),
        "KCC, shannon": ours("shannon"),
    }
    with one_thread():
        for fit in fits.values():
            fit(few)  # compiles or loads what is needed
        times = per_iteration(fits, few, many, repeats)
    anchor = times.pop("KMeans")
    against = f"an iteration of scikit-learn's KMeans on {m} one-hot partitions, sparse"
    return [Figure(name, 1e3 * t.best, 1e3 * anchor.best, "ms", against, noise=t.noise) for name, t in times.items()]


def kernel(X: np.ndarray, k: int, landmarks: int, iterations: int, repeats: int) -> list[Figure]:
    init = X[:k].copy()

    def two_steps() -> Any:
        near = Nystroem(gamma=0.1, n_components=landmarks, random_state=0).fit(X)
        start = near.transform(init)
        return KMeans(k, init=start, n_init=1, max_iter=iterations, tol=0).fit(near.transform(X))

    def ours() -> Any:
        return ApproxKernelKMeans(
            k, gamma=0.1, landmarks=landmarks, init=init, max_iter=iterations, tol=0, random_state=0
        ).fit(X)

    with one_thread():
        ours()
        times = interleaved({"ours": ours, "two": two_steps}, repeats)
    against = f"scikit-learn's Nystroem and KMeans, double precision, {iterations} iterations"
    found, anchor = times["ours"], times["two"]
    return [
        Figure(f"ApproxKernelKMeans, {landmarks} landmarks", found.best, anchor.best, "s", against, noise=found.noise)
    ]
