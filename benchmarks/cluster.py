"""P21: `PCKMeans` and `Cluewise` on dask arrays, on two local workers, against the same rows in memory.

Rows are in a file. In memory they are read before; the workers read them in every pass, or hold them in memory. The
first pass, which checks the rows, the evaluation and the labels of all rows count, too; the start of workers does not.
PCKMeans makes ten iterations on blobs that overlap, `Cluewise` a fit to blobs that can be found.

An iteration of PCKMeans, with its clues, is compared to one of dask-ml's KMeans, measured on the same rows in the
memory of as many workers by the interpreter named in CLUEWISE_DASK_RIVAL_PYTHON, which needs dask-ml and distributed.
"""

from __future__ import annotations

import json
import os
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
from workload import apart, blobs, links, pck

METHODS = ("PCKMeans", "Cluewise")
FULL = {"sizes": (1_000_000, 10_000_000), "d": 16, "k": 10, "pairs": 10_000, "chunk": 1_000_000, "workers": 2}
TINY = {"sizes": (8_000,), "d": 4, "k": 4, "pairs": 100, "chunk": 1_000, "workers": 0}
GOAL, CHUNKS = 1.3, 3
ITERATIONS, FEW = 10, 2  # and iterations of the fit that is taken from the other, for the time of one
WAIT = 5  # seconds in which an idle cluster is watched
WAYS = ("memory", "file", "persisted")
RIVAL = "CLUEWISE_DASK_RIVAL_PYTHON"


def measure(sizes: tuple[int, ...], d: int, k: int, pairs: int, chunk: int, workers: int) -> list[Figure]:
    figures = []
    if RIVAL not in os.environ:
        print(f"cluster: rival not installed (set {RIVAL} to a Python that has dask-ml and distributed)")
    for n in sizes:
        with TemporaryDirectory() as folder:
            path = str(Path(folder) / "rows.bin")
            task = {"path": path, "n": n, "d": d, "k": k, "pairs": pairs, "chunk": chunk, "workers": workers}
            for method, make in zip(METHODS, (blobs, apart)):
                make(n, d, k).tofile(path)
                figures += _compare(task | {"method": method})
                if method == METHODS[0] and RIVAL in os.environ:
                    ours = _run(task | {"method": method, "way": "iterations"})["seconds"]
                    theirs = _run(task | {"method": "KMeans", "way": "iterations"}, os.environ[RIVAL])["seconds"]
                    figures.append(Figure(f"an iteration, {n:.0e} rows", ours, theirs, "s", "dask-ml's KMeans", 1.0))
    return figures


def _compare(task: dict[str, Any]) -> list[Figure]:
    from cluewise.metrics.matching import match_labels  # not in the environment of the rival

    own, *others = (_run(task | {"way": way}) for way in WAYS)
    path, figures = task["path"], []
    for way, other in zip(WAYS[1:], others):
        name, seconds = f"{task['method']}, {task['n']:.0e} rows, {way}", (other["seconds"], own["seconds"])
        figures.append(Figure(name, *seconds, "s", "in memory", GOAL))
        busy = other["seconds"] - other["idle"]
        figures.append(Figure(" less what an idle cluster uses", busy, own["seconds"], "s", "in memory", GOAL))
        labels, expected = np.load(path + f"-{way}.npy"), np.load(path + "-memory.npy")
        for words, found in (("with the same label", labels), ("in the same cluster", match_labels(labels, expected))):
            same = 100 * float(np.mean(found == expected))
            figures.append(Figure(f" rows {words}", same, 100, "%", "all of them"))
    size = task["chunk"] * task["d"] * 4 / 2**20
    return [*figures, Figure(" peak of a worker, file", others[0]["peak"], size, "MB", "a chunk", CHUNKS)]


def _run(task: dict[str, Any], python: str = sys.executable) -> dict[str, Any]:
    done = subprocess.run([python, str(Path(__file__)), json.dumps(task)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{task['method']} ({task['way']}) failed in its process:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


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


def read_file(path: str, n: int, d: int, chunk: int, count: int | None = None) -> Any:
    """The rows of the file, or the first of them, as a dask array."""
    import dask.array as da

    empty = da.empty((n if count is None else count, d), chunks=(chunk, d), dtype=np.float32)
    work = partial(read, path=path, n=n, d=d, chunk=chunk)
    return empty.map_blocks(work, dtype=np.float32, meta=np.empty((0, 0), np.float32))


def fit(path: str, n: int, d: int, k: int, pairs: int, chunk: int, workers: int, method: str, way: str) -> Any:
    """Processor seconds from rows to labels in all processes, and megabytes added to a worker at its peak."""
    import dask.array as da

    import cluewise

    clues = cluewise.Clues(n, **links(n, k, pairs))
    _ = clues.components, clues.graph
    init = np.fromfile(path, np.float32, k * d).reshape(k, d)
    few, known = blobs(3_000, d, k), cluewise.Clues(3_000, **links(3_000, k, 50))

    def cluster(X: Any, clues: Any, iterations: int = ITERATIONS) -> Any:
        if method == METHODS[0]:
            return pck(X, init, iterations, clues)
        return cluewise.Cluewise(k, random_state=0).fit(X, clues=clues)

    with one_thread(), start(workers if way != "memory" else 0) as ask:
        if way == "memory":
            X: Any = np.fromfile(path, np.float32).reshape(n, d)
            cluster(few, known)  # loads all code
            begin = process_time()
            labels = cluster(X, clues).labels_
            found = {"seconds": process_time() - begin}
        else:
            X = read_file(path, n, d, chunk)
            X = X if way == "file" else X.persist()
            for _ in range(3):  # loads all code, on each worker
                cluster(da.from_array(few, chunks=(300, d)), known).labels_.compute()
            if way == "iterations":
                return {"seconds": time_iteration(lambda count: cluster(X, clues, count), ask, workers)}
            before = ask(reset_peak)
            idle, wait = cost(partial(sleep, WAIT if workers else 0), ask, workers)
            made: list[Any] = []
            seconds, clock = cost(lambda: made.append(cluster(X, clues).labels_.compute()), ask, workers)
            labels = made[0]
            found = {"seconds": seconds, "peak": max(late - early for late, early in zip(ask(peak), before))}
            # Processes of a cluster talk to each other all the time, which is much if others use the processors.
            found["idle"] = idle / wait * clock if workers else 0.0
    np.save(f"{path}-{way}.npy", labels)
    return found


def time_iteration(work: Callable[[int], Any], ask: Any, workers: int) -> float:
    """Processor seconds of all processes for an iteration, without what comes before the first and after the last."""
    seconds = {count: cost(partial(work, count), ask, workers)[0] for count in (FEW, ITERATIONS)}
    return (seconds[ITERATIONS] - seconds[FEW]) / (ITERATIONS - FEW)


def fit_rival(path: str, n: int, d: int, k: int, chunk: int, workers: int, **_: Any) -> dict[str, float]:
    """The same of dask-ml's KMeans, in an environment without cluewise."""
    from dask_ml.cluster import KMeans

    init = np.fromfile(path, np.float32, k * d).reshape(k, d)

    def cluster(X: Any, count: int) -> None:
        done = KMeans(k, init=init, max_iter=count, tol=0).fit(X).n_iter_
        if done != count:
            raise RuntimeError(f"{done} iterations instead of {count}: the fit has converged.")

    with start(workers) as ask:
        X = read_file(path, n, d, chunk).persist()
        cluster(read_file(path, n, d, chunk, chunk), FEW)  # loads all code
        return {"seconds": time_iteration(partial(cluster, X), ask, workers)}


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps((fit if given["method"] in METHODS else fit_rival)(**given)))
