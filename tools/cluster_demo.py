"""``make cluster-demo``: cluster rows on a local dask cluster, and kill a worker on the way.

Starts a scheduler and two workers, each a process; makes rows where they are needed, so that nothing is on the disk;
draws clues, clusters with `Cluewise`, and kills one of the workers in the middle of the second pass. Dask gives its
work to the other, and the result is the same. ``ARGS="--rows 1e5 --clues 300"`` makes it smaller.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import warnings
from collections.abc import Sequence
from threading import Event, Thread
from time import perf_counter
from typing import Any

import numpy as np

TOPIC = "cluster-demo"
UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in a unit of ru_maxrss


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the demo and print what came out."""
    parser = argparse.ArgumentParser(description="Cluster rows on a scheduler and two workers, and kill a worker.")
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--clues", type=int, default=10_000)
    parser.add_argument("--chunk", type=float, default=250_000, help="rows of a chunk")
    parser.add_argument("--memory", default="2GB", help="limit of each worker")
    given = parser.parse_args(arguments)

    import dask.array as da
    from distributed import Client, LocalCluster

    import cluewise as cw

    n, d, k, chunk = int(given.rows), given.columns, given.clusters, int(given.chunk)
    sizes = tuple(min(chunk, n - start) for start in range(0, n, chunk))
    X = da.map_blocks(
        make_rows, sizes=sizes, k=k, chunks=(sizes, (d,)), dtype=np.float32, meta=np.empty((0, 0), np.float32)
    )
    y = np.arange(n) % k
    clues = cw.Clues.sample(y, pairs=given.clues, random_state=0)
    print(f"{n:.0e} rows × {d} in {len(sizes)} chunks of {chunk * d * 4 / 1e6:.0f} MB, {given.clues} pairs", flush=True)
    warnings.filterwarnings("ignore", "Sending large graph")  # once to each worker, what the fit has learned
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": given.memory, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        print(f"a scheduler at {cluster.scheduler_address}, two workers of one thread and {given.memory}", flush=True)
        killer = Killer(client, 3 * len(sizes) // 2)
        began = perf_counter()
        model = cw.Cluewise(k, random_state=0).fit(X, clues=clues)
        print(f"fitted after {perf_counter() - began:.0f} s; now all rows get their labels", flush=True)
        labels = model.labels_.compute()
        seconds = perf_counter() - began
        peaks = killer.peaks + list(client.run(find_peak).values())
    print(f"killed worker {killer.killed} after {killer.heard} chunks were read")
    print(f"ARI {cw.metrics.ari(y, labels):.4f}, {model.n_clusters_} clusters, clues broken: {count_broken(model)}")
    print(f"{seconds:.0f} s from rows to labels")
    print(f"peak memory of the workers, with all code: {max(peaks) / 1e6:.0f} MB")


class Killer:
    """Kills the first worker when so many chunks were read."""

    def __init__(self, client: Any, after: int) -> None:
        self.client, self.after = client, after
        self.heard, self.killed = 0, "none"
        self.peaks: list[int] = []
        self.pids = client.run(os.getpid)
        self.now = Event()
        client.subscribe_topic(TOPIC, self.hear)
        Thread(target=self.kill, daemon=True).start()

    def hear(self, event: Any) -> None:
        """A worker has read a chunk."""
        if not self.now.is_set():
            self.heard += 1
            if self.heard >= self.after:
                self.now.set()

    def kill(self) -> None:
        """Wait, then kill, with no chance to say goodbye."""
        self.now.wait()
        self.peaks = list(self.client.run(find_peak).values())
        address, pid = next(iter(self.pids.items()))
        os.kill(pid, signal.SIGKILL)
        self.killed = address
        print(f"killed worker {address}", flush=True)


def count_broken(model: Any) -> int:
    """How many links the labels break."""
    return len(model.broken_.must) + len(model.broken_.cannot)


# --- what runs on the workers -----------------------------------------------------------------------------------------


def make_rows(sizes: Sequence[int], k: int, block_info: Any = None) -> Any:
    """The rows of a chunk: blobs that overlap; row i belongs to blob i mod k."""
    from distributed import get_worker

    number, d = block_info[None]["chunk-location"][0], block_info[None]["chunk-shape"][1]
    centers = 1.5 * np.random.default_rng(0).standard_normal((k, d), dtype=np.float32)
    rows = np.arange(sum(sizes[:number]), sum(sizes[: number + 1]))
    X = np.random.default_rng([1, number]).standard_normal((len(rows), d), dtype=np.float32)
    X += centers[rows % k]
    get_worker().log_event(TOPIC, {})
    return X


def find_peak() -> int:
    """Bytes of memory that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


if __name__ == "__main__":
    main()
