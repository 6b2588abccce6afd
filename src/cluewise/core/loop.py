"""The plain loop: repeat a step until nothing moves, the objective stalls, or somebody says stop."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from cluewise.exceptions import NotDescending

__all__ = ["Info", "Limits", "Result", "Watch", "run", "unwatched"]

S = TypeVar("S")


class Info(NamedTuple):
    """What a reader wants to know about one iteration."""

    objective: float  # after the iteration
    moved: int  # rows that changed their cluster


class Watch(Protocol):
    """Told of every complete iteration; says whether to stop."""

    def __call__(self, state: Any, trace: list[float]) -> bool:
        """True to stop here."""
        ...


def unwatched(state: Any, trace: list[float]) -> bool:
    """The watch of a run that only makes a start: no iteration that anybody waits for."""
    return False


class Limits(NamedTuple):
    """When to stop, and who watches."""

    max_iter: int
    tol: float  # relative change of the objective
    watch: Watch = unwatched


class Result(NamedTuple, Generic[S]):
    """The last state, the objective after every iteration, and whether the loop ended by itself."""

    state: S
    trace: list[float]
    converged: bool


def run(step: Callable[[S], tuple[S, Info]], state: S, limits: Limits, slack: float | None = None) -> Result[S]:
    """Call ``step`` until no row moves or the objective changes by at most ``limits.tol`` of its value.

    ``slack`` is the rise of the objective that rounding may cause; None when the method does not descend.
    """
    trace: list[float] = []
    for _ in range(limits.max_iter):
        state, info = step(state)
        before = trace[-1] if trace else None
        trace.append(info.objective)
        if before is not None and slack is not None and info.objective > before + slack:
            warnings.warn(
                f"the objective rose from {before!r} to {info.objective!r} in iteration {len(trace)}; "
                "this is a bug in cluewise, please report it.",
                NotDescending,
            )
        if limits.watch(state, trace):
            return Result(state, trace, False)
        # The first step may start from labels that were made with the very same centers, so it proves nothing.
        if before is not None and (info.moved == 0 or abs(before - info.objective) <= limits.tol * abs(before)):
            return Result(state, trace, True)
    return Result(state, trace, False)
