"""P21: ten iterations of PCKMeans on dask arrays, on two local workers, against the same rows in memory.

Rows are in a file. In memory they are read before; the workers read them in every pass, or hold them in memory. The
first pass, which checks the rows, the evaluation and the labels of all rows count, too; the start of workers does not.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, process_time, sleep
from typing import Any

import numpy as np
from measuring import Figure, one_thread
from memory import peak, reset_peak
from workload import blobs, links, pck

FULL = {"sizes": (1_000_000, 10_000_000), "d": 16, "k": 10, "pairs": 10_000, "chunk": 1_000_000, "workers": 2}
TINY = {"sizes": (8_000,), "d": 4, "k": 4, "pairs": 100, "chunk": 1_000, "workers": 0}
GOAL, CHUNKS = 1.3, 3
ITERATIONS = 10
WAIT = 5  # seconds in which an idle cluster is watched
WAYS = ("memory", "file", "persisted")


def measure(sizes: tuple[int, ...], d: int, k: int, pairs: int, chunk: int, workers: int) -> list[Figure]:
    figures = []
    for n in sizes:
        with TemporaryDirectory() as folder:
            path = str(Path(folder) / "rows.bin")
            blobs(n, d, k).tofile(path)
            task = {"path": path, "n": n, "d": d, "k": k, "pairs": pairs, "chunk": chunk, "workers": workers}
            own, *others = (_run(task | {"way": way}) for way in WAYS)
            for way, other in zip(WAYS[1:], others):
                seconds = other["seconds"], own["seconds"]
                figures.append(Figure(f"PCKMeans, {n:.0e} rows, {way}", *seconds, "s", "in memory", GOAL))
                busy = other["seconds"] - other["idle"]
                figures.append(Figure(" less what an idle cluster uses", busy, own["seconds"], "s", "in memory", GOAL))
                same = np.mean(np.load(path + "-memory.npy") == np.load(path + f"-{way}.npy"))
                figures.append(Figure(" rows with the same label", 100 * float(same), 100, "%", "all of them"))
            size = chunk * d * 4 / 2**20
            figures.append(Figure(" peak of a worker, file", others[0]["peak"], size, "MB", "a chunk", CHUNKS))
    return figures


def _run(task: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(Path(__file__)), json.dumps(task)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{task['way']} failed in its process:\n{done.stderr}")
    return json.loads(done.stdout)


@contextmanager
def start(workers: int) -> Iterator[Callable[[Callable[[], float]], list[float]]]:
    """Start a cluster; yields a way to ask every worker, or this process if there are none."""
    import dask

    if not workers:
        with dask.config.set(scheduler="synchronous"):
            yield lambda function: [function()]
        return
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield lambda function: list(client.run(function).values())


def cost(work: Callable[[], None], ask: Any, workers: int) -> tuple[float, float]:
    """Processor seconds of all processes, and seconds by the clock."""
    busy, begin, clock = sum(ask(process_time)), process_time(), monotonic()
    work()
    clock = monotonic() - clock
    return process_time() - begin + (sum(ask(process_time)) - busy if workers else 0), clock


def read(block: Any, path: str, n: int, d: int, chunk: int, block_id: tuple[int, int] = (0, 0)) -> np.ndarray:
    first = block_id[0] * chunk
    count = min(chunk, n - first)
    return np.fromfile(path, np.float32, count * d, offset=first * d * 4).reshape(count, d)


def fit(path: str, n: int, d: int, k: int, pairs: int, chunk: int, workers: int, way: str) -> dict[str, Any]:
    """Processor seconds from rows to labels in all processes, and megabytes added to a worker at its peak."""
    import dask.array as da

    import cluewise

    clues = cluewise.Clues(n, **links(n, k, pairs))
    _ = clues.components, clues.graph
    init = np.fromfile(path, np.float32, k * d).reshape(k, d)
    few, known = blobs(3_000, d, k), cluewise.Clues(3_000, **links(3_000, k, 50))
    with one_thread(), start(workers if way != "memory" else 0) as ask:
        if way == "memory":
            X: Any = np.fromfile(path, np.float32).reshape(n, d)
            pck(few, init, 2, known)  # loads all code
            begin = process_time()
            labels = pck(X, init, ITERATIONS, clues).labels_
            found = {"seconds": process_time() - begin}
        else:
            empty = da.empty((n, d), chunks=(chunk, d), dtype=np.float32)
            work = partial(read, path=path, n=n, d=d, chunk=chunk)
            X = empty.map_blocks(work, dtype=np.float32, meta=np.empty((0, 0), np.float32))
            X = X.persist() if way == "persisted" else X
            for _ in range(3):  # loads all code, on each worker
                pck(da.from_array(few, chunks=(300, d)), init, 2, known).labels_.compute()
            before = ask(reset_peak)
            idle, wait = cost(partial(sleep, WAIT if workers else 0), ask, workers)
            made: list[Any] = []
            seconds, clock = cost(lambda: made.append(pck(X, init, ITERATIONS, clues).labels_.compute()), ask, workers)
            labels = made[0]
            found = {"seconds": seconds, "peak": max(late - early for late, early in zip(ask(peak), before))}
            # Processes of a cluster talk to each other all the time, which is much if others use the processors.
            found["idle"] = idle / wait * clock if workers else 0.0
    np.save(f"{path}-{way}.npy", labels)
    return found


if __name__ == "__main__":
    print(json.dumps(fit(**json.loads(sys.argv[1]))))
