"""What does a second thread bring, and does it change anything? (It must not.)"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from measuring import Figure, interleaved
from threadpoolctl import threadpool_limits
from workload import blobs, links, lloyd, pck

import cluewise

FULL = {"n": 1_000_000, "d": 32, "k": 50, "pairs": (0, 100_000), "iterations": 8, "repeats": 4}
TINY = {"n": 20_000, "d": 12, "k": 5, "pairs": (0, 1_000), "iterations": 2, "repeats": 1}


def measure(n: int, d: int, k: int, pairs: tuple[int, ...], iterations: int, repeats: int) -> list[Figure]:
    X = blobs(n, d, k)
    init = X[:k].copy()
    labels = {}

    def ours(count: int, clues: cluewise.Clues, number: int) -> None:
        with cluewise.threads(number):
            found = pck(X, init, iterations, clues).labels_
        if not np.array_equal(labels.setdefault(count, found), found):
            raise RuntimeError(f"the labels depend on the number of threads ({count} pairs).")

    def rival(number: int) -> None:
        with threadpool_limits({"openmp": number, "blas": 1}):
            lloyd(X, init, iterations)

    contestants = {("KMeans", number): lambda number=number: rival(number) for number in (1, 2)}
    for count in pairs:
        clues = cluewise.Clues(n, **links(n, k, count))
        for number in (1, 2):
            contestants[f"PCKMeans, {count} pairs", number] = lambda count=count, clues=clues, number=number: ours(
                count, clues, number
            )
    times = interleaved(contestants, repeats, perf_counter)
    figures = []
    for name in dict.fromkeys(name for name, _ in contestants):
        one, two = times[name, 1], times[name, 2]
        noise = max(one.noise, two.noise)
        against = "the same fit on one"
        figures.append(Figure(f"{name}, two threads", 1e3 * two.best, 1e3 * one.best, "ms", against, noise=noise))
    return figures
