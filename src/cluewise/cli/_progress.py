"""What a terminal shows while a fit takes long."""

from __future__ import annotations

from contextlib import AbstractContextManager
from threading import Lock
from time import monotonic
from typing import Any, Self

__all__ = ["Bar", "ChunkBar", "SearchBar", "show_status"]

_PATIENCE = 0.7  # seconds before a bar appears


def show_status(words: str) -> AbstractContextManager[Any]:
    """A line that is there as long as the block lasts."""
    from rich.console import Console

    return Console(stderr=True).status(words)


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
            self._show(context, context.estimator_name, _words(context))
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """The fit is over: the bar goes away."""
        if self.progress is not None:
            self.progress.stop()
            self.progress = None

    def _show(self, context: Any, title: str, words: str) -> None:
        total = context.parent.max_subtasks
        if self.progress is None:
            self._open(title, total)
        self.progress.update(self.task, completed=context.task_id + 1, total=total, words=words)

    def _open(self, title: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.progress = Progress(
            TextColumn(title),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.progress.add_task("", total=total, words="")
        self.progress.start()


def _words(context: Any) -> str:
    """Text beside the bar: the iteration, or the part of what comes before the first."""
    done, most = context.task_id + 1, context.parent.max_subtasks
    if context.task_name == "part":
        return f"{context.parent.task_name}, {done} of {most}"
    start, starts = context.parent.task_id + 1, context.parent.parent.max_subtasks
    return f"iteration {done} of at most {most}, start {start} of {starts}, objective {context.objective:.6g}"


class SearchBar(Bar):
    """A bar over the candidates of a search."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Show a candidate; never asks to stop."""
        if context.task_name == "start" and monotonic() - self.began > _PATIENCE:
            self._show(context, "Choosing", f"candidate {context.task_id + 1} of {context.parent.max_subtasks}")
        return False


class ChunkBar:
    """A bar over passes through rows in chunks; how many passes there will be, nobody knows."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.progress.add_task("Looking at the files", total=None)
        self.chunks = self.seen = 0
        self.lock = Lock()

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def begin(self, chunks: int) -> None:
        """The number of chunks is known."""
        self.chunks = chunks
        self.progress.update(self.task, description=f"Looking at {chunks} chunks", total=chunks)

    def advance(self) -> None:
        """A chunk was read; threads call this."""
        with self.lock:
            self.seen += 1
            done, total = self.seen, max(self.chunks, 1)
        passes, now = divmod(done - 1, total)
        words = f"Pass {passes + 1}, chunk {now + 1} of {total}"
        self.progress.update(self.task, description=words, completed=now + 1)
