"""What does an iteration of the methods that follow links cost, against one of scikit-learn's KMeans?"""

from __future__ import annotations

from functools import partial
from typing import Any

from measuring import Figure, one_thread, per_iteration
from workload import blobs, links, lloyd

import cluewise
from cluewise import Clues

FULL = {"n": 100_000, "d": 16, "k": 20, "pairs": 10_000, "few": 2, "many": 12, "repeats": 5}
TINY = {"n": 2_000, "d": 4, "k": 4, "pairs": 100, "few": 1, "many": 2, "repeats": 1}
GOAL = 3.0
METHODS: dict[str, tuple[type[Any], dict[str, Any], float | None]] = {
    "PCKMeans": (cluewise.PCKMeans, {}, None),
    "ClosurePCKMeans": (cluewise.ClosurePCKMeans, {}, GOAL),
    "CVQE": (cluewise.CVQE, {}, None),
    "LCVQE": (cluewise.LCVQE, {}, GOAL),
    "LCVQE, as published": (cluewise.LCVQE, {"profile": "published"}, GOAL),
    "PKMeans": (cluewise.PKMeans, {}, None),
    "MPCKMeans, diagonal": (cluewise.MPCKMeans, {}, GOAL),
    "MPCKMeans, full": (cluewise.MPCKMeans, {"metric": "full"}, None),
    "MPCKMeans, diagonal per cluster": (cluewise.MPCKMeans, {"per_cluster": True}, None),
}


def measure(n: int, d: int, k: int, pairs: int, few: int, many: int, repeats: int) -> list[Figure]:
    X = blobs(n, d, k)
    init = X[:k].copy()
    clues = Clues(n, **links(n, k, pairs))

    def ours(name: str, iterations: int) -> Any:
        method, more, _ = METHODS[name]
        return method(k, init=init, n_init=1, max_iter=iterations, tol=0, **more).fit(X, clues=clues)

    fits = {"KMeans": lambda iterations: lloyd(X, init, iterations)}
    fits |= {name: partial(ours, name) for name in METHODS}
    with one_thread():
        for fit in fits.values():
            fit(few)  # compiles or loads what is needed
        times = per_iteration(fits, few, many, repeats)
    anchor = times.pop("KMeans")
    against = "one Lloyd iteration of scikit-learn's KMeans"
    return [
        Figure(
            f"{name}, {n} rows, {pairs} pairs",
            1e3 * found.best,
            1e3 * anchor.best,
            "ms",
            against,
            METHODS[name][2],
            noise=max(found.noise, anchor.noise),
        )
        for name, found in times.items()
    ]
