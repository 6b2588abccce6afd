"""Run cells: several at once, each in a process of its own, finished ones never again, none beyond its time."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from cluewise import metrics

from .cells import Cell, Experiment, Problem
from .results import Results

__all__ = ["Watch", "run"]

Watch = Callable[[int, int, Cell, str], None]


def measured(experiment: Experiment, cell: Cell) -> list[dict[str, Any]]:
    """Run one cell: a line for each stage, with everything that can be said about it."""
    X, y = experiment.data[cell.data]()
    clues = experiment.settings[cell.setting](y, cell.seed)
    k = experiment.clusters.get(cell.data, len(np.unique(y)))
    problem = Problem(X, y, k, clues, cell.seed)
    began = time.process_time()  # a cell has one thread, and others may be running beside it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = experiment.methods[cell.method](problem)
    seconds = time.process_time() - began
    stages = found if isinstance(found, Mapping) else {"": found}
    return [_line(stage, value, problem, seconds) for stage, value in stages.items()]


def _line(stage: str, found: Any, problem: Problem, seconds: float) -> dict[str, Any]:
    line: dict[str, Any] = {"stage": stage, "status": "ok", "seconds": round(seconds, 6)}
    if np.ndim(found) == 0:
        return {**line, "value": float(found)}
    labels, y = np.asarray(found), problem.y
    line |= {
        "ari": metrics.ari(y, labels),
        "nmi": metrics.nmi(y, labels),
        "f": metrics.pairwise_f(y, labels),
        "rand": metrics.rand(y, labels),
        "clusters": len(np.unique(labels[labels >= 0])),
    }
    if problem.clues is not None and problem.clues.kinds:
        kept = metrics.satisfaction(labels, problem.clues)
        line["broken"] = 1 - float(np.mean(list(kept.values()))) if kept else ""
    return line


class Worker:
    """A process that runs one cell after another; one that takes too long is killed, and another takes its place."""

    def __init__(self, experiments: Mapping[str, Experiment]) -> None:
        context = get_context("fork")  # the libraries are imported once
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(experiments, theirs, os.getpid()), daemon=True)
        self._process.start()
        theirs.close()
        self.cell: Cell | None = None
        self.began = 0.0

    def give(self, cell: Cell) -> None:
        """Begin a cell."""
        self.cell, self.began = cell, time.monotonic()
        self.pipe.send(cell)

    def take(self) -> list[dict[str, Any]]:
        """What came out of the cell."""
        self.cell = None
        try:
            found: list[dict[str, Any]] = self.pipe.recv()
            return found
        except (EOFError, ConnectionResetError):
            self._process.join()
            return [{"status": "failed", "why": f"the process ended with {self._process.exitcode}"}]

    @property
    def alive(self) -> bool:
        """Whether it can take another cell."""
        return self._process.is_alive()

    @property
    def ends(self) -> tuple[Any, int]:
        """What becomes ready when there is an answer, or when there will be none."""
        return self.pipe, self._process.sentinel

    def kill(self) -> None:
        """Stop it, whatever it does."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _serve(experiments: Mapping[str, Experiment], pipe: Connection, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then kills this process
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    while True:
        cell: Cell = pipe.recv()
        try:
            pipe.send(measured(experiments[cell.experiment], cell))
        except Exception as error:  # a cell that fails is a result
            why = f"{type(error).__name__}: {' '.join(str(error).split())}"
            pipe.send([{"status": "failed", "why": why[:300]}])


def _follow(parent: int) -> None:
    """End with the parent, even one that was killed and could say nothing."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@contextmanager
def _alone(folder: Path, names: Iterable[str]) -> Iterator[None]:
    """Let no other run write the same files; the system gives the locks back when this process ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for name in names:
            stream = stack.enter_context((folder / f".{name}.lock").open("w"))
            try:
                fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise SystemExit(f"Another run is writing {folder / name}.csv.") from None
        yield


def run(
    experiments: Iterable[Experiment],
    folder: Path,
    *,
    jobs: int = 1,
    repeats: int | None = None,
    again: Iterable[str] = (),
    watch: Watch | None = None,
) -> None:
    """Run all cells that are not finished, and those that are in a state named in ``again`` once more.

    ``repeats`` stops at so many repetitions of everything. ``watch`` hears of each cell: how many are done, of how
    many, which, how it ended.
    """
    known = {experiment.name: experiment for experiment in experiments}
    with _alone(folder, known):
        books = {name: Results(folder / f"{name}.csv") for name in known}
        if again:
            for book in books.values():
                book.forget(set(again))
        waiting = [
            cell
            for experiment in known.values()
            for cell in experiment.cells()
            if cell not in books[experiment.name].done and (repeats is None or cell.seed < repeats)
        ]
        _work(known, waiting, books, jobs, watch)


def _work(
    known: Mapping[str, Experiment], cells: list[Cell], books: Mapping[str, Results], jobs: int, watch: Watch | None
) -> None:
    waiting, total, done = cells[::-1], len(cells), 0
    workers = [Worker(known) for _ in range(min(jobs, total))]
    try:
        while done < total:
            for worker in workers:
                if worker.cell is None and waiting:
                    worker.give(waiting.pop())
            busy = [worker for worker in workers if worker.cell is not None]
            ready = set(wait([end for worker in busy for end in worker.ends], timeout=0.2))
            for worker in busy:
                cell = worker.cell
                assert cell is not None  # it is busy
                limit = known[cell.experiment].limit
                answered = not ready.isdisjoint(worker.ends)
                if not answered and time.monotonic() - worker.began <= limit:
                    continue
                over = [{"status": "late", "why": f"more than {limit:g} s", "seconds": limit}]
                rows = worker.take() if answered else over
                if not answered or not worker.alive:
                    worker.kill()
                    workers[workers.index(worker)] = Worker(known)
                books[cell.experiment].add(cell, rows)
                done += 1
                if watch is not None:
                    watch(done, total, cell, str(rows[0]["status"]))
    finally:
        for worker in workers:
            worker.kill()
