"""Fits on a local cluster, in each of which a worker is killed at a random moment: how many hang or are wrong?

``python benchmarks/kills.py 300`` makes 300 fits of `PCKMeans` to labels of all rows, on two workers. A fit that takes
more than a minute counts as a hang; what the scheduler knows is printed then.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from threading import Thread, Timer
from time import monotonic, sleep
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import cluewise as cw

N, D, K, CHUNK = 100_000, 8, 5, 5_000
LONG = 60  # seconds after which a fit hangs


def make_rows(block: Any, block_id: tuple[int, int]) -> np.ndarray:
    rng = np.random.default_rng(block_id[0])
    centers = 3 * np.random.default_rng(99).normal(size=(K, D))
    return centers[rng.integers(K, size=CHUNK)] + rng.normal(size=(CHUNK, D))


def fit() -> np.ndarray:
    X = da.empty((N, D), chunks=(CHUNK, D)).map_blocks(make_rows, dtype=float, meta=np.empty((0, 0)))
    pairs = np.random.default_rng(0).choice(N, size=(2, 100, 2), replace=False)
    clues = cw.Clues(N, must=pairs[0], cannot=pairs[1])
    return cw.PCKMeans(K, random_state=0, n_init=1).fit(X, clues=clues).labels_.compute()


def describe(client: Client) -> Any:
    """What the scheduler is waiting for."""

    def look(dask_scheduler: Any) -> Any:
        tasks = [(key, task.state, str(task.processing_on)) for key, task in dask_scheduler.tasks.items()]
        workers = [(name, str(worker.status)) for name, worker in dask_scheduler.workers.items()]
        return workers, [task for task in tasks if task[1] not in ("memory", "released", "forgotten")][:20], len(tasks)

    return client.run_on_scheduler(look)


def kill_later(client: Client, rng: np.random.Generator, seconds: float) -> Thread:
    """End one of the workers, whose numbers were read before the fit."""
    pids = list(client.run(os.getpid).values())
    moment, pid = rng.uniform(0, seconds), int(rng.choice(pids))

    def end() -> None:
        sleep(moment)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    thread = Thread(target=end, daemon=True)
    thread.start()
    return thread


def hang(client: Client) -> None:
    print("hangs:", describe(client), flush=True)
    os.kill(os.getpid(), signal.SIGINT)


class Counts(NamedTuple):
    fits: int = 0
    hangs: int = 0
    wrong: int = 0
    lost: int = 0  # workers that their nannies have not replaced in time


def measure(count: int) -> Counts:
    rng, done = np.random.default_rng(0), Counts()
    with dask.config.set(scheduler="synchronous"):
        expected = fit()
    while done.fits < count:
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            done = _measure(client, count, rng, expected, done)
    return done


def _measure(client: Client, count: int, rng: np.random.Generator, expected: np.ndarray, done: Counts) -> Counts:
    """Fits until there are enough, one hangs, or a worker does not come back."""
    fit()  # loads all code
    begin = monotonic()
    fit()
    seconds = monotonic() - begin
    while done.fits < count:
        killer, timer = kill_later(client, rng, seconds), Timer(LONG, hang, [client])
        timer.start()
        try:
            bad = not np.array_equal(fit(), expected)
        except KeyboardInterrupt:
            return done._replace(fits=done.fits + 1, hangs=done.hangs + 1)
        finally:
            timer.cancel()
        killer.join()
        done = done._replace(fits=done.fits + 1, wrong=done.wrong + bad)
        print(done, flush=True)
        sleep(2)  # until the cluster knows that a worker has ended
        try:
            client.wait_for_workers(2, timeout=LONG / 2)
        except TimeoutError:
            return done._replace(lost=done.lost + 1)
        sleep(0.5)  # a nanny does not replace a worker that ends while it starts
    return done


if __name__ == "__main__":
    print(measure(int(sys.argv[1])))
