"""P4: what does preparing a million links cost, against two Lloyd iterations of scikit-learn's KMeans?"""

from __future__ import annotations

from itertools import pairwise
from time import process_time

from measuring import Figure, Times, one_thread, per_iteration
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
    rounds: list[list[float]] = []
    fits = {"KMeans": lambda iterations: lloyd(X, init, iterations)}
    with one_thread():
        step = per_iteration(fits, few, many, repeats, lambda: rounds.append(prepare(n, given)))["KMeans"]
    against = "two Lloyd iterations of scikit-learn's KMeans"
    whole = Times(tuple(sum(stages) for stages in rounds))
    two = 2e3 * step.best
    name = f"preparing {pairs} pairs"
    figures = [Figure(name, 1e3 * whole.best, two, "ms", against, 1.0, noise=max(whole.noise, step.noise))]
    for stage, seconds in zip(STAGES, zip(*rounds)):
        figures.append(Figure(f"  of that, {stage}", 1e3 * min(seconds), two, "ms", against))
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
