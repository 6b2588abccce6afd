"""How things are measured: contestants in turn, the fastest of several rounds, a ratio to an anchor of the same run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any, TypeVar

import numpy as np

K = TypeVar("K")

SHORTEST = 1e-9  # seconds: a difference of two times is never less, or there would be no ratio


@dataclass(frozen=True)
class Figure:
    """One measured number beside its anchor."""

    name: str
    ours: float
    anchor: float
    unit: str
    against: str  # the anchor, in words
    goal: float | None = None  # largest ratio that is good enough
    stretch: float | None = None  # largest ratio that would please
    noise: float | None = None  # median of the rounds / fastest round: 1 on a quiet machine

    @property
    def ratio(self) -> float:
        return self.ours / self.anchor

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        if self.stretch is not None and self.ratio <= self.stretch:
            return "stretch"
        return "met" if self.ratio <= self.goal else "MISSED"


@dataclass(frozen=True)
class Times:
    """Seconds of every round."""

    rounds: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.rounds)

    @property
    def noise(self) -> float:
        return median(self.rounds) / self.best


def interleaved(
    contestants: dict[K, Callable[[], Any]], repeats: int, clock: Callable[[], float] = process_time
) -> dict[K, Times]:
    """Time every contestant once per round, so that a slow moment of the machine hits all of them.

    Processor seconds unless told otherwise: on one thread they equal the clock's, less what other programs took.
    """
    seconds: dict[K, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, contestant in contestants.items():
            begin = clock()
            contestant()
            seconds[name].append(clock() - begin)
    return {name: Times(tuple(rounds)) for name, rounds in seconds.items()}


def per_iteration(
    fits: dict[str, Callable[[int], Any]], few: int, many: int, repeats: int, between: Callable[[], None] | None = None
) -> dict[str, Times]:
    """Seconds per iteration: a fit of many iterations less one of few, so that preparation does not count.

    ``fits[name](iterations)`` fits and returns the estimator, which must not have stopped before. ``between`` is
    called once per round and keeps its own time.
    """

    def exactly(fit: Callable[[int], Any], iterations: int) -> Callable[[], None]:
        def run() -> None:
            done = fit(iterations).n_iter_
            if done != iterations:
                raise RuntimeError(f"{done} iterations instead of {iterations}: the fit has converged.")

        return run

    contestants = {(name, i): exactly(fit, i) for name, fit in fits.items() for i in (few, many)}
    if between is not None:
        contestants["between", 0] = between
    times = interleaved(contestants, repeats)
    # The fastest long fit less the fastest short one counts; the other rounds only tell how noisy it was.
    return {
        name: Times(
            tuple(
                max((seconds - times[name, few].best) / (many - few), SHORTEST) for seconds in times[name, many].rounds
            )
        )
        for name in fits
    }


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Slope of the straight line through the points on doubly logarithmic paper: 1 is linear growth."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for everybody: cluewise's own, BLAS and OpenMP."""
    from threadpoolctl import threadpool_limits

    import cluewise

    with threadpool_limits(1), cluewise.threads(1):
        yield
