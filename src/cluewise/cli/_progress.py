"""A progress bar for fits that take long, on a terminal only."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Any

__all__ = ["Bar", "watch"]

_PATIENCE = 0.7  # seconds before a bar appears


class Bar:
    """A callback that shows the iterations of a fit once it has lasted a while."""

    def __init__(self) -> None:
        self.progress: Any = None
        self.task: Any = None
        self.began = 0.0

    def setup(self, estimator: Any, context: Any) -> None:
        """A fit begins."""
        self.began = monotonic()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to show yet."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Show an iteration; never asks to stop."""
        if context.task_name in ("iteration", "part") and monotonic() - self.began > _PATIENCE:
            if self.progress is None:
                self._open(context)
            done, most = context.task_id + 1, context.parent.max_subtasks
            self.progress.update(self.task, completed=done, total=most, words=_words(context, done, most))
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """The fit is over: the bar goes away."""
        if self.progress is not None:
            self.progress.stop()
            self.progress = None

    def _open(self, context: Any) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.progress = Progress(
            TextColumn(context.estimator_name),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.progress.add_task("", total=context.parent.max_subtasks, words="")
        self.progress.start()


def _words(context: Any, done: int, most: int) -> str:
    """What a bar says about an iteration, or about a part of what comes before the first."""
    if context.task_name == "part":
        return f"{context.parent.task_name}, {done} of {most}"
    start, starts = context.parent.task_id + 1, context.parent.parent.max_subtasks
    return f"iteration {done} of at most {most}, start {start} of {starts}, objective {context.objective:.6g}"


def watch(model: Any, quiet: bool) -> None:
    """Let a bar watch the fits of a model if somebody is there to see it."""
    if not quiet and _terminal():
        model.set_callbacks(Bar())


def _terminal() -> bool:
    return sys.stderr.isatty()
