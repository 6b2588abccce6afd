"""Strategies: how long do people wait for the next question?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from measuring import Figure, interleaved, one_thread
from workload import blobs

from cluewise import active
from cluewise.core.assign import nearest
from cluewise.core.rows import rows_of

FULL = {"sizes": (10_000, 100_000, 1_000_000), "d": 16, "k": 10, "questions": 20, "names": ()}
TINY = {"sizes": (300, 600), "d": 4, "k": 3, "questions": 3, "names": ()}
PASS = "one pass of nearest centers"
SMALL = 10_000  # rows up to which a question may take 100 ms; beyond that, a second
MANY = 100_000
UP_TO_MANY = ("Committee", "NeighborhoodUncertainty", "SuperInstances")  # cost more by nature; made for so many rows


def measure(sizes: Sequence[int], d: int, k: int, questions: int, names: Sequence[str]) -> list[Figure]:
    """Figures of the strategies with these names, or of all."""
    X, y = blobs(max(sizes), d, k), np.arange(max(sizes)) % k
    figures = []
    with one_thread():
        for n in sizes:
            anchor = one_pass(X[:n], k)
            for name, make in makers(k).items():
                if (not names or name in names) and (n <= MANY or name not in UP_TO_MANY):
                    waits(make(), X[:500], y[:500], 2)  # compiles
                    figures += of(name, n, anchor, *waits(make(), X[:n], y[:n], questions))
    return figures


def makers(k: int) -> dict[str, Callable[[], Any]]:
    """Every strategy there is by name: what makes it, with k and another one if it asks."""
    found = {cls.__name__: cls for cls in (*active.strategies(), active.Confirmed)}
    wanted = {"n_clusters": k, "strategy": active.RandomPairs()}
    given = {
        name: {word: wanted[word] for word in cls._get_param_names() if word in wanted} for name, cls in found.items()
    }
    return {name: partial(found[name], **given[name]) for name in sorted(found)}


def one_pass(X: np.ndarray, k: int) -> float:
    """Seconds of the anchor."""
    rows, labels = rows_of(X), np.empty(len(X), dtype=np.int32)
    centers = rows.dense(np.arange(k)).astype(np.float64)
    nearest(rows, centers, labels)  # compiles
    return interleaved({PASS: lambda: nearest(rows, centers, labels)}, 5)[PASS].best


def waits(strategy: Any, X: np.ndarray, y: np.ndarray, questions: int) -> tuple[float, list[float]]:
    """Seconds to the first question, and from each answer to the next question."""
    oracle = active.SimulatedOracle(y)
    begin = process_time()
    state = strategy.start(X, budget=questions + 1, random_state=0)
    asked = strategy.ask(state, X)
    first = process_time() - begin
    seconds = []
    for _ in range(questions):
        answers = oracle(asked)
        if not answers:
            break  # toy data hold few questions
        begin = process_time()
        state = strategy.tell(state, answers)
        asked = strategy.ask(state, X)
        seconds.append(process_time() - begin)
    return first, seconds


def of(name: str, n: int, anchor: float, first: float, seconds: list[float]) -> list[Figure]:
    """What a strategy with n rows costs, beside the anchor and beside what people wait for gladly."""
    gladly = 0.1 if n <= SMALL else 1.0
    longest = 1e3 * max(seconds, default=0.0)  # of no wait at all where the first answer told everything
    return [
        Figure(f"{name}, n = {n}", longest, 1e3 * gladly, "ms", f"{1e3 * gladly:.0f} ms (longest wait)", 1.0),
        Figure("  median wait", 1e3 * median(seconds or [0.0]), 1e3 * anchor, "ms", PASS),
        Figure("  set-up and first question", 1e3 * first, 1e3 * anchor, "ms", PASS),
    ]
