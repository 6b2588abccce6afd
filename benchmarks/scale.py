"""What do rows in files cost that do not fit into memory? A table of runs, and a model of the costs fitted to them.

``python benchmarks/scale.py --rows 1e6 1e7`` makes Parquet files, starts a dask scheduler and workers of limited
memory, runs ``cluewise fit FOLDER --clues … --scheduler …``, and measures every process. Each run is kept in
``benchmarks/results/scale.json``, so that a long one can be added later; without ``--rows`` the tables are printed.
``docs/guide/scale.md`` shows what came out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
from measuring import exponent
from scipy.optimize import nnls
from workload import links

from cluewise.workspace.parts import CHUNK, MOST, TOPIC

KEPT = Path(__file__).parent / "results" / "scale.json"
PART = 1_000_000  # rows of a file
MB, GB = 1e6, 1e9
CELL = 4  # bytes of a number in the files
MODEL_ROWS = (10**9, 10**10)
MODEL_WORKERS = (10, 100, 1000)
DISK, NETWORK = 500 * MB, 125 * MB  # bytes per second of a worker and of the driver, assumed: not measured here


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Costs of rows that do not fit into memory, and a model of them.")
    parser.add_argument("--rows", type=float, nargs="*", default=[], help="sizes to run, such as 1e6 1e7")
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="1GB", help="limit of each worker (default: 1GB)")
    parser.add_argument("--method", default="Cluewise")
    parser.add_argument("--folder", type=Path, default=None, help="where the files are made (default: a temporary one)")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where runs are kept")
    given = parser.parse_args(arguments)
    for rows in given.rows:
        found = measure(int(rows), given)
        _keep(given.kept, found)
        print(json.dumps(found), flush=True)
    runs = json.loads(given.kept.read_text()) if given.kept.exists() else []
    runs = sorted((run for run in runs if run["method"] == given.method), key=lambda run: run["rows"])
    print_runs(runs)
    if len(runs) > 1:
        print_model(runs)


def _keep(path: Path, found: dict[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    runs = json.loads(path.read_text()) if path.exists() else []
    same = ("rows", "columns", "method", "workers")
    runs = [run for run in runs if any(run[key] != found[key] for key in same)]
    path.write_text(json.dumps([*runs, found], indent=1))


# --- one run ----------------------------------------------------------------------------------------------------------


def measure(n: int, given: argparse.Namespace) -> dict[str, Any]:
    """Costs of one fit, from the files to the files."""
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        place = Path(folder)
        make_files(place / "rows", n, given.columns, given.clusters)
        make_clues(place / "clues.csv", n, given.clusters, given.pairs)
        with running_cluster(place, given.workers, given.memory) as cluster:
            read = cluster.read_once(sorted((place / "rows").iterdir()))
            idle = cluster.idle()
            before = cluster.look()
            command = [
                sys.executable, "-m", "cluewise", "fit", str(place / "rows"), "--clues", str(place / "clues.csv"),
                "-k", str(given.clusters), "--out", str(place / "out"), "--scheduler", cluster.address, "--json",
                "--method", given.method,
            ]  # fmt: skip
            began = perf_counter()
            driver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment())
            said, usage = _wait(driver)
            if driver.returncode:
                raise RuntimeError("the fit has failed; see above.")
            seconds = perf_counter() - began
            after = cluster.look()
            chunks = len(cluster.client.get_events(TOPIC))
        facts = json.loads(said)
        used = {key: after[key] - before[key] for key in ("worker_cpu", "scheduler_cpu", "tasks", "moved")}
        used["scheduler_cpu"] = max(used["scheduler_cpu"] - idle * seconds, 0.0)  # it also beats while it waits
        return {
            "rows": n,
            "columns": given.columns,
            "clusters": given.clusters,
            "pairs": given.pairs,
            "workers": given.workers,
            "memory": given.memory,
            "method": given.method,
            "ari": _agreement(place / "out", given.clusters),
            "seconds": seconds,
            "fit_seconds": facts["seconds"],
            "driver_cpu": usage.ru_utime + usage.ru_stime,
            "driver_peak": usage.ru_maxrss * 1024,
            "worker_peak": after["worker_peak"],
            "scheduler_peak": after["scheduler_peak"],
            "reads": 1 + chunks / _count_chunks(n, given.columns),  # one more is for the sample
            **used,
            **read,
        }


def _count_chunks(n: int, d: int) -> int:
    sizes = [PART] * (n // PART) + [n % PART]
    return sum(-(-size // (CHUNK // (8 * d))) for size in sizes)


def make_files(folder: Path, n: int, d: int, k: int) -> None:
    """Parquet files of blobs that overlap a little; row i belongs to blob i mod k."""
    import polars as pl

    folder.mkdir()
    centers = 2.5 * np.random.default_rng(0).standard_normal((k, d), dtype=np.float32)
    for number, start in enumerate(range(0, n, PART)):
        rows = np.arange(start, min(start + PART, n))
        X = np.random.default_rng([1, number]).standard_normal((len(rows), d), dtype=np.float32)
        X += centers[rows % k]
        frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(d)})
        frame.write_parquet(folder / f"rows-{number}.parquet")


def make_clues(path: Path, n: int, k: int, pairs: int) -> None:
    found = links(n, k, pairs)
    lines = [f"{a},{b},{kind}" for kind in ("must", "cannot") for a, b in found[kind].tolist()]
    path.write_text("\n".join(["a,b,kind", *lines]) + "\n")


def _agreement(folder: Path, k: int) -> float:
    """ARI of a million rows of all files."""
    import polars as pl

    from cluewise.metrics import ari

    files = sorted(folder.iterdir())
    some = [pl.read_parquet(file, n_rows=1_000_000 // len(files)) for file in files]
    rows, labels = (np.concatenate([part[name].to_numpy() for part in some]) for name in ("row", "cluster"))
    return float(ari(rows % k, labels))


def _wait(process: Any) -> tuple[str, Any]:
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return said, usage


def _environment() -> dict[str, str]:
    # One thread in each process, so that processor time is what one core does.
    return os.environ | {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Cluster:
    """A scheduler and workers, each a process, and what is measured of them."""

    def __init__(self, address: str, scheduler: int) -> None:
        from distributed import Client

        self.address, self.scheduler = address, scheduler
        self.client = Client(address)

    def look(self) -> dict[str, float]:
        pids = list(self.client.run(os.getpid).values())
        tasks = self.client.run(_count_tasks)
        moved = [*self.client.run(_count_bytes).values(), self.client.run_on_scheduler(_count_bytes)]
        return {
            "worker_cpu": sum(map(_cpu, pids)),
            "worker_peak": max(map(_peak, pids)),
            "scheduler_cpu": _cpu(self.scheduler),
            "scheduler_peak": _peak(self.scheduler),
            "tasks": sum(tasks.values()),
            "moved": sum(moved),
        }

    def idle(self, seconds: float = 5.0) -> float:
        """Processor seconds that the scheduler takes in a second without any work."""
        before = _cpu(self.scheduler)
        sleep(seconds)
        return (_cpu(self.scheduler) - before) / seconds

    def read_once(self, files: list[Path]) -> dict[str, float]:
        """Reading all files into arrays, once the code is loaded and the system knows the files."""
        self.client.run(_read, str(files[0]))
        for _ in range(2):
            before, began = self.look(), perf_counter()
            self.client.gather(self.client.map(_read, list(map(str, files)), pure=False))
            found = {
                "read_seconds": perf_counter() - began,
                "read_cpu": self.look()["worker_cpu"] - before["worker_cpu"],
            }
        return found


@contextmanager
def running_cluster(place: Path, count: int, memory: str) -> Any:
    """A scheduler and some workers with one thread each; the work of a worker that dies goes to another."""
    known = place / "scheduler.json"
    started = [
        _start(
            "scheduler", place, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(known)
        )
    ]
    try:
        for _ in range(600):
            if known.exists():
                break
            sleep(0.1)
        address = json.loads(known.read_text())["address"]
        options = ("--nthreads", "1", "--memory-limit", memory, "--no-dashboard", "--local-directory", str(place))
        started += [_start("worker", place, address, *options) for _ in range(count)]
        cluster = Cluster(address, started[0].pid)
        cluster.client.wait_for_workers(count)
        cluster.client.run(_install_counter)
        cluster.client.run_on_scheduler(_install_counter)
        yield cluster
        cluster.client.close()
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()


def _start(what: str, place: Path, *options: str) -> subprocess.Popen:
    with (place / f"{what}.log").open("ab") as log:
        words = [sys.executable, "-m", "dask", what, *options]
        return subprocess.Popen(words, stdout=log, stderr=log, env=_environment())


def _peak(pid: int) -> int:
    """Bytes of memory that a process had at most."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# Functions that run on the cluster are sent there by value, so each imports what it needs.


def _read(path: str) -> float:
    import polars as pl

    return float(pl.read_parquet(path).to_numpy()[-1, -1])


def _count_tasks(dask_worker: Any) -> int:
    return dask_worker.state.executed_count


def _install_counter() -> None:
    """Count the bytes that this process receives."""
    from distributed.comm import tcp

    plain = tcp.read_bytes_rw

    async def counted(stream: Any, n: int) -> Any:
        tcp.cluewise_bytes = getattr(tcp, "cluewise_bytes", 0) + n
        return await plain(stream, n)

    tcp.read_bytes_rw = counted


def _count_bytes() -> int:
    from distributed.comm import tcp

    return getattr(tcp, "cluewise_bytes", 0)


# --- tables -----------------------------------------------------------------------------------------------------------


def _show(ari: float | None) -> str:
    return "–" if ari is None else f"{ari:.3f}"


def print_runs(runs: Sequence[dict[str, Any]]) -> None:
    head = "rows, files, ARI, reads, worker CPU, one read, multiple, driver CPU, worker peak, driver peak"
    _print_head(f"{head}, scheduler peak, tasks, moved")
    for run in runs:
        size = run["rows"] * run["columns"] * CELL
        print(
            f"| {run['rows']:.0e} | {size / GB:.3g} GB | {_show(run['ari'])} | {run['reads']:.1f} "
            f"| {run['worker_cpu']:.0f} s | {run['read_cpu']:.2f} s | {run['worker_cpu'] / run['read_cpu']:.0f} "
            f"| {run['driver_cpu']:.0f} s | {run['worker_peak'] / MB:.0f} MB | {run['driver_peak'] / MB:.0f} MB "
            f"| {run['scheduler_peak'] / MB:.0f} MB | {run['tasks']} | {run['moved'] / MB:.0f} MB |"
        )


def _print_head(names: str) -> None:
    print(f"\n| {names.replace(', ', ' | ')} |")
    print("|" + "---|" * len(names.split(", ")))


class Line:
    """A straight line through runs, by least squares of relative errors; it starts and rises at 0 or above."""

    def __init__(self, runs: Sequence[dict[str, Any]], what: str, by: str) -> None:
        x, y = (np.array([run[key] for run in runs], dtype=float) for key in (by, what))
        A = np.column_stack([np.ones(len(x)), x])
        (self.base, unit), _ = nnls(A / x.max() ** np.arange(2) / y[:, None], np.ones(len(y)))
        self.slope = unit / x.max()
        self.worst = float(np.abs(A @ [self.base, self.slope] / y - 1).max())

    def at(self, x: float) -> float:
        return self.base + self.slope * x


def print_model(runs: Sequence[dict[str, Any]]) -> None:
    """The model of the costs, and what it says about sizes that were not run."""
    lines = {
        "worker CPU, s": Line(runs, "worker_cpu", "rows"),
        "driver CPU, s": Line(runs, "driver_cpu", "rows"),
        "driver peak, bytes": Line(runs, "driver_peak", "rows"),
        "tasks": Line(runs, "tasks", "rows"),
        "scheduler CPU, s": Line(runs, "scheduler_cpu", "tasks"),
        "scheduler peak, bytes": Line(runs, "scheduler_peak", "tasks"),
        "moved, bytes": Line(runs, "moved", "tasks"),
    }
    _print_head("cost, constant, for each, worst error of the fit")
    for name, line in lines.items():
        per = "task" if name.startswith(("scheduler", "moved")) else "row"
        print(f"| {name} | {line.base:.3g} | {line.slope:.3g} a {per} | {100 * line.worst:.0f} % |")
    few = [run for run in runs if run["rows"] <= 1e7]
    if len(few) > 1:
        rows = [run["rows"] for run in few]
        print()
        for what in ("worker_cpu", "driver_cpu"):
            print(f"Growth exponent of {what}, to {rows[-1]:.0e} rows: {exponent(rows, [r[what] for r in few]):.3f}")
        whole = [run["worker_cpu"] + run["driver_cpu"] for run in few]
        print(f"Growth exponent of both together: {exponent(rows, whole):.3f}")
    head = "rows, workers, workers' processors, disks, driver's processor, scheduler, network"
    _print_head(f"{head}, driver memory, first bottleneck")
    run = runs[-1]
    shared = lines["moved, bytes"].base / run["workers"]  # what every worker gets, whatever the number of chunks
    for rows in MODEL_ROWS:
        for workers in MODEL_WORKERS:
            tasks = lines["tasks"].at(rows)
            hours = {
                "the workers' processors": lines["worker CPU, s"].at(rows) / workers,
                "the disks": run["reads"] * rows * run["columns"] * CELL / DISK / workers,
                "the driver's processor": lines["driver CPU, s"].at(rows),
                "the scheduler": lines["scheduler CPU, s"].at(tasks),
                # At worst one process sends what was learned to all; sums of chunks go from worker to worker.
                "the network": (workers * shared + tasks * lines["moved, bytes"].slope / workers) / NETWORK,
            }
            first = max(hours, key=hours.__getitem__)
            if rows > MOST:
                first = f"clues number at most {MOST:,} rows; then {first}"
            cells = " | ".join(f"{seconds / 3600:.2g} h" for seconds in hours.values())
            memory = lines["driver peak, bytes"].at(rows) / GB
            print(f"| {rows:.0e} | {workers} | {cells} | {memory:.0f} GB | {first} |")


if __name__ == "__main__":
    if shutil.which("nice"):
        os.nice(5)
    main()
