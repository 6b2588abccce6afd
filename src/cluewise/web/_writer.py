"""One thread writes to the project: answers that wait are stored together, and acknowledged when they are on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, NamedTuple, cast

from cluewise.active import Answer, Project

__all__ = ["Writer"]


class _Job(NamedTuple):
    """An answer to store, or anything else to do between transactions."""

    work: Answer | Callable[[], Any]
    done: Future[Any]
    quiet: bool = False


class Writer:
    """Stores answers of many people, in the order in which they came.

    Parameters
    ----------
    project : Project
        Where answers go.
    stored : callable
        Called without arguments after each transaction, from the writer's thread.
    """

    def __init__(self, project: Project, stored: Callable[[], None]) -> None:
        self._project, self._stored = project, stored
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="cluewise-writer", daemon=True)
        self._thread.start()

    def tell(self, answer: Answer) -> Future[int]:
        """Store an answer; the result is the id of its entry."""
        return self.do(answer)

    def do(self, work: Answer | Callable[[], Any], *, quiet: bool = False) -> Future[Any]:
        """Do something that writes, after everything that came before; ``quiet``: it changes no answer."""
        done: Future[Any] = Future()
        done.set_running_or_notify_cancel()  # from here on nobody can cancel it: who has gone is stored all the same
        self._jobs.put(_Job(work, done, quiet))
        return done

    def close(self) -> None:
        """Write what waits, and stop."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            waiting: list[_Job | None] = [job]
            while not self._jobs.empty():
                waiting.append(self._jobs.get())
            group: list[_Job] = []
            for one in waiting:
                if one is not None and isinstance(one.work, Answer):
                    group.append(one)
                    continue
                self._commit(group)
                group = []
                if one is None:
                    return
                self._finish(one)
            self._commit(group)

    def _commit(self, group: list[_Job]) -> None:
        if not group:
            return
        try:
            entries = self._project.tell(cast("list[Answer]", [job.work for job in group]))
        except Exception as error:
            # One invalid answer must not cost the others theirs.
            if len(group) > 1:
                for job in group:
                    self._commit([job])
            else:
                group[0].done.set_exception(error)
            return
        self._stored()
        for job, entry in zip(group, entries):
            job.done.set_result(entry)

    def _finish(self, job: _Job) -> None:
        try:
            found = cast("Callable[[], Any]", job.work)()
        except BaseException as error:
            job.done.set_exception(error)
            return
        if not job.quiet:
            self._stored()
        job.done.set_result(found)
