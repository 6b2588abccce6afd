"""P19: what do grains cost, against iterations of scikit-learn's KMeans, and what does a new batch of clues?"""

from __future__ import annotations

import numpy as np
from measuring import Figure, interleaved, one_thread, per_iteration
from workload import blobs, links, lloyd

import cluewise
from cluewise.core import assign
from cluewise.core.rows import rows_of

FULL = {"n": 1_000_000, "d": 32, "k": 50, "m": 1_000, "pairs": 2_000, "few": 2, "many": 8, "repeats": 5}
TINY = {"n": 8_000, "d": 12, "k": 5, "m": 60, "pairs": 100, "few": 1, "many": 3, "repeats": 1}
SECONDS = 0.5  # for a new batch of clues


def measure(n: int, d: int, k: int, m: int, pairs: int, few: int, many: int, repeats: int) -> list[Figure]:
    overlapping = blobs(n, d, k)
    separate = overlapping + np.tile(10 * blobs(k, d, k, seed=1), (n // k, 1))
    init = overlapping[:k].copy()
    clues = cluewise.Clues(n, **links(n, k, pairs))
    grains = cluewise.Grains(m, random_state=0)
    model = grains.then(cluewise.PCKMeans(k, random_state=0))
    with one_thread():
        model.fit(separate, clues=clues)  # compiles or loads what is needed, as does the first iteration
        lloyd(overlapping, init, few)
        anchor = per_iteration({"KMeans": lambda i: lloyd(overlapping, init, i)}, few, many, repeats)["KMeans"]
        data = {"rows that cluster": separate, "rows that do not": overlapping}
        fits = {name: lambda X=X: grains.fit(X) for name, X in data.items()}
        times = interleaved(fits | {"new clues": lambda: model.refit(separate, clues=clues)}, repeats)
        hits = {name: 100 * _share_nearest(grains.fit(X), X) for name, X in data.items()}
    against = "one Lloyd iteration of scikit-learn's KMeans"
    figures = []
    for name, goal in zip(data, (12, 30)):
        found = times[name]
        noise = max(found.noise, anchor.noise)
        figures.append(Figure(name, 1e3 * found.best, 1e3 * anchor.best, "ms", against, goal, None, noise))
        figures.append(Figure(" at their nearest point", hits[name], 98, "%", "98 % of them"))
    words = f"{SECONDS} s from {pairs} pairs to labels of all rows"
    found = times["new clues"]
    return [*figures, Figure("new clues", found.best, SECONDS, "s", words, 1, None, found.noise)]


def _share_nearest(grains: cluewise.Grains, X: np.ndarray) -> float:
    """Share of the rows that are in the grain of their nearest point."""
    rows = rows_of(X)
    return float(np.mean(grains.labels_ == assign.find_nearest(rows, grains.codebook_.astype(float) - rows.shift)))
