"""P21: what do rows in chunks cost, against the same rows in memory, and how much memory do they need?

Every fit runs in a process of its own, from rows in a file to labels of all of them. The file is read chunk by chunk
into a dask array, or at once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from measuring import Figure, one_thread
from memory import peak, reset_peak
from workload import apart, blobs, links

METHODS = ("PCKMeans on grains", "Cluewise")
FULL = {"n": 2_000_000, "d": 32, "k": 10, "pairs": 2_000, "chunk": 50_000, "methods": METHODS}
TINY = {"n": 8_000, "d": 4, "k": 4, "pairs": 100, "chunk": 1_000, "methods": METHODS[:1]}
GOAL = 1.3  # processor time, against the same in memory


def measure(n: int, d: int, k: int, pairs: int, chunk: int, methods: tuple[str, ...]) -> list[Figure]:
    figures = []
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.bin")
        apart(n, d, k).tofile(path)
        for method in methods:
            task = {"path": path, "method": method, "n": n, "d": d, "k": k, "pairs": pairs, "chunk": chunk}
            own, chunked = (_run(task | {"chunked": chunked}) for chunked in (False, True))
            same = 100 * _share(own["labels"], chunked["labels"], path)
            figures += [
                Figure(f"{method}, dask", chunked["seconds"], own["seconds"], "s", "in memory", GOAL),
                Figure(" peak above code and clues", chunked["peak"], n * d * 4 / 2**20, "MB", "X itself"),
                Figure(" rows with the same label", same, 100, "%", "all of them"),
            ]
    return figures


def _share(own: str, chunked: str, path: str) -> float:
    return float(np.mean(np.load(path + own) == np.load(path + chunked)))


def _run(task: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(Path(__file__)), json.dumps(task)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{task['method']} failed in its process:\n{done.stderr}")
    return json.loads(done.stdout)


def fit(path: str, method: str, n: int, d: int, k: int, pairs: int, chunk: int, chunked: bool) -> dict[str, Any]:
    """Processor seconds from file to labels, and megabytes added to this process at its peak."""
    import dask
    import dask.array as da

    import cluewise

    def read(block: Any, block_id: tuple[int, int]) -> np.ndarray:
        first = block_id[0] * chunk
        count = min(chunk, n - first)
        return np.fromfile(path, np.float32, count * d, offset=first * d * 4).reshape(count, d)

    model: Any = cluewise.Cluewise(k, random_state=0)
    if method == METHODS[0]:
        model = cluewise.Grains(1000, random_state=0).then(cluewise.PCKMeans(k, random_state=0))
    clues = cluewise.Clues(n, **links(n, k, pairs))
    _ = clues.components, clues.graph
    with one_thread(), dask.config.set(scheduler="synchronous"):
        few = blobs(3_000, d, k)
        known = cluewise.Clues(3_000, **links(3_000, k, 50))
        model.fit(da.from_array(few, chunks=1_000), clues=known).labels_.compute()  # loads all code
        model.fit(few, clues=known)
        rows = np.fromfile(path, np.float32).reshape(n, d) if not chunked else None
        before, begin = reset_peak(), process_time()
        if chunked:
            empty = da.empty((n, d), chunks=(chunk, d), dtype=np.float32)
            X = empty.map_blocks(read, dtype=np.float32, meta=np.empty((0, 0), np.float32))
            labels = model.fit(X, clues=clues).labels_.compute()
        else:
            labels = model.fit(rows, clues=clues).labels_
        found = {"seconds": process_time() - begin, "peak": peak() - before, "labels": f"-{method}-{chunked}.npy"}
    np.save(path + found["labels"], labels)
    return found


if __name__ == "__main__":
    print(json.dumps(fit(**json.loads(sys.argv[1]))))
