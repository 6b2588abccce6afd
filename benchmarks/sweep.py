"""P3: what does an iteration of PCKMeans cost, against one of scikit-learn's KMeans?"""

from __future__ import annotations

from measuring import Figure, one_thread, per_iteration
from workload import blobs, links, lloyd, pck

import cluewise

FULL = {"n": 1_000_000, "d": 32, "k": 50, "pairs": (100_000, 1_000_000), "few": 2, "many": 12, "repeats": 5}
TINY = {"n": 3_000, "d": 12, "k": 5, "pairs": (300, 3_000), "few": 1, "many": 3, "repeats": 1}
GOALS = {100_000: (1.3, 1.0), 1_000_000: (2.0, 1.3)}


def measure(n: int, d: int, k: int, pairs: tuple[int, ...], few: int, many: int, repeats: int) -> list[Figure]:
    X = blobs(n, d, k)
    init = X[:k].copy()
    fits = {"KMeans": lambda iterations: lloyd(X, init, iterations)}
    for count in (0, *pairs):
        clues = cluewise.Clues(n, **links(n, k, count))
        fits[f"PCKMeans, {count} pairs"] = lambda iterations, clues=clues: pck(X, init, iterations, clues)
    with one_thread():
        for fit in fits.values():
            fit(few)  # compiles or loads what is needed
        times = per_iteration(fits, few, many, repeats)
    anchor = times.pop("KMeans")
    figures = []
    for count, (name, found) in zip((0, *pairs), times.items()):
        goal, stretch = GOALS.get(count, (None, None))
        against = "one Lloyd iteration of scikit-learn's KMeans"
        noise = max(found.noise, anchor.noise)
        figures.append(Figure(name, 1e3 * found.best, 1e3 * anchor.best, "ms", against, goal, stretch, noise))
    return figures
