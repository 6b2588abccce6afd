"""The plain loop: repeat a step until nothing moves, the centers or the objective stall, or a callback says stop.

`Progress` is the watch of a whole fit: tasks and hooks of the shape of scikit-learn 1.9's callbacks, on every
supported version.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from cluewise.exceptions import NotDescending

__all__ = ["Info", "Limits", "Progress", "Result", "Task", "Watch", "run", "unwatched"]

R = TypeVar("R")
S = TypeVar("S")


class Info(NamedTuple):
    """Objective and moves of one iteration."""

    objective: float  # after the iteration
    moved: int  # rows that changed their cluster


class Watch(Protocol):
    """Called after every complete iteration; true to stop."""

    def __call__(self, state: Any, trace: list[float]) -> bool:
        """True to stop here."""
        ...


def unwatched(state: Any, trace: list[float]) -> bool:
    """The watch of a run that only makes a start: callbacks do not see its iterations."""
    return False


class Limits(NamedTuple):
    """When to stop, and who watches."""

    max_iter: int
    tol: float  # relative change of the objective; not looked at if there is a `drift`
    watch: Watch = unwatched
    drift: float | None = None  # what squared distances that centers move may sum up to, as in scikit-learn's k-means


class Result(NamedTuple, Generic[S]):
    """The last state, the objective after every iteration, and whether the loop ended by itself."""

    state: S
    trace: list[float]
    converged: bool

    def settle(self, state: S, objective: float) -> Result[S]:
        """The same with another last state, which belongs to the last iteration, and its objective."""
        return self._replace(state=state, trace=[*self.trace[:-1], objective])


def run(step: Callable[[S], tuple[S, Info]], state: S, limits: Limits, slack: float | None = None) -> Result[S]:
    """Call ``step`` until no row moves, or centers or the objective change no more than ``limits`` says.

    ``slack`` is the rise of the objective that rounding may cause; None when the method does not descend.
    """
    trace: list[float] = []
    for _ in range(limits.max_iter):
        last = state
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
        if limits.drift is not None and _has_drifted_less(last, state, limits.drift):
            return Result(state, trace, True)
        # The first step may start from labels that were made with the very same centers, so it proves nothing.
        if before is None:
            continue
        stalled = limits.drift is None and abs(before - info.objective) <= limits.tol * abs(before)
        if info.moved == 0 or stalled:
            return Result(state, trace, True)
    return Result(state, trace, False)


def _has_drifted_less(before: Any, after: Any, most: float) -> bool:
    return most > 0 and float(((after.centers - before.centers) ** 2).sum()) <= most


class Task:
    """Where in a fit we are: the whole fit, one of its starts, one iteration, or one part of what comes before it.

    Has the attributes of scikit-learn's ``CallbackContext``; an iteration also carries its ``objective``.
    """

    def __init__(self, name: str, parent: Task | None, estimator_name: str, task_id: int, max_subtasks: int) -> None:
        self.task_name = name
        self.task_id = task_id
        self.max_subtasks = max_subtasks
        self.sequential_subtasks = True
        self.estimator_name = estimator_name
        self.parent = parent
        self.root_uuid: uuid.UUID = uuid.uuid4() if parent is None else parent.root_uuid
        self.init_time = datetime.now(UTC)
        self.source_estimator_name: str | None = None
        self.source_task_name: str | None = None
        self.objective: float | None = None


class Progress:
    """Tells callbacks about a fit and keeps the best complete state, in case the user presses Ctrl-C.

    Used as a context: ``setup`` on entry, ``teardown`` on exit, whatever happens in between.
    """

    def __init__(self, estimator: Any, callbacks: Sequence[Any], n_init: int, max_iter: int) -> None:
        self.estimator = estimator
        self.callbacks = callbacks
        self.max_iter = max_iter
        self.name = type(estimator).__name__
        self.root = Task("fit", None, self.name, 0, n_init)
        self.start: Task | None = None
        self.stopped = False  # whether a callback has asked to stop
        self.ahead = False  # whether the first start has begun with what comes before its iterations
        self.last: tuple[Any, list[float]] | None = None
        self.earlier: tuple[Any, list[float]] | None = None  # the best of the starts before this one

    def __enter__(self) -> Progress:
        with ExitStack() as stack:
            for callback in self.callbacks:
                stack.callback(callback.teardown, estimator=self.estimator, context=self.root)
                callback.setup(estimator=self.estimator, context=self.root)
            self._call("on_fit_task_begin", self.root)
            self._teardown = stack.pop_all()  # from here on `__exit__` answers for it
        return self

    def __exit__(self, *exception: Any) -> None:
        with self._teardown:
            if exception[0] is None:
                self._call("on_fit_task_end", self.root)

    def begin_start(self, number: int) -> None:
        """A new start begins, unless `each` has begun it."""
        if self.ahead:
            self.ahead = False
            return
        self.earlier = self.last
        self.start = Task("start", self.root, self.name, number, self.max_iter)
        self._call("on_fit_task_begin", self.start)

    def end_start(self) -> bool:
        """A start has ended; true when a callback asks to stop."""
        assert self.start is not None
        return self._call("on_fit_task_end", self.start)

    def each(self, name: str, results: Iterable[R], count: int) -> Iterator[R]:
        """Pass on ``count`` results of work before the first iteration; callbacks see a task with a part for each.

        They cannot stop it, because there is nothing yet that could be published.
        """
        if self.start is None:
            self.begin_start(0)
            self.ahead = True
        whole = Task(name, self.start, self.name, self.max_iter, count)
        self._call("on_fit_task_begin", whole)
        for number, result in enumerate(results):
            part = Task("part", whole, self.name, number, 0)
            self._call("on_fit_task_begin", part)
            self._call("on_fit_task_end", part)
            yield result
        self._call("on_fit_task_end", whole)

    def __call__(self, state: Any, trace: list[float]) -> bool:
        """An iteration is complete; true when a callback asks to stop."""
        # The newest state of this start, unless an earlier start has ended better.
        earlier = self.earlier
        self.last = earlier if earlier is not None and earlier[1][-1] < trace[-1] else (state, trace)
        if not self.callbacks:
            return False
        task = Task("iteration", self.start, self.name, len(trace) - 1, 0)
        task.objective = trace[-1]
        self._call("on_fit_task_begin", task)
        return self._call("on_fit_task_end", task)

    def _call(self, hook: str, task: Task) -> bool:
        stop = False
        for callback in self.callbacks:
            stop |= bool(getattr(callback, hook)(estimator=self.estimator, context=task))
        self.stopped |= stop
        return stop
