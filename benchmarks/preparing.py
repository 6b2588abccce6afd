"""P4: what does preparing a million links cost, against two Lloyd iterations of scikit-learn's KMeans?"""

from __future__ import annotations

from itertools import pairwise
from time import process_time

from measuring import Figure, one_thread, per_iteration
from workload import blobs, links, lloyd

import cluewise

FULL = {"n": 1_000_000, "d": 32, "k": 50, "pairs": 1_000_000, "few": 2, "many": 8, "repeats": 5}
TINY = {"n": 3_000, "d": 12, "k": 5, "pairs": 3_000, "few": 1, "many": 3, "repeats": 1}
STAGES = ("building Clues", "closure", "lifted graph")


def measure(n: int, d: int, k: int, pairs: int, few: int, many: int, repeats: int) -> list[Figure]:
    X = blobs(n, d, k)
    init = X[:k].copy()
    given = links(n, k, pairs)
    prepare(n, given)  # compiles or loads what is needed
    anchor, rounds = [], []
    with one_thread():
        for _ in range(repeats):
            step = per_iteration({"KMeans": lambda i: lloyd(X, init, i)}, few, many, 1)["KMeans"]
            anchor.append(2 * step.best)
            rounds.append(prepare(n, given))
    two = min(anchor)
    against = "two Lloyd iterations of scikit-learn's KMeans"
    whole = sorted(sum(stages) for stages in rounds)
    noise = whole[len(whole) // 2] / whole[0]
    figures = [Figure(f"preparing {pairs} pairs", 1e3 * whole[0], 1e3 * two, "ms", against, 1.0, noise=noise)]
    for stage, seconds in zip(STAGES, zip(*rounds)):
        figures.append(Figure(f"  of that, {stage}", 1e3 * min(seconds), 1e3 * two, "ms", against))
    return figures


def prepare(n: int, given: dict) -> list[float]:
    """Seconds of every stage."""
    clock = [process_time()]
    clues = cluewise.Clues(n, **given)
    clock.append(process_time())
    _ = clues.components
    clock.append(process_time())
    _ = clues.graph
    clock.append(process_time())
    return [after - before for before, after in pairwise(clock)]
