"""P13: how much memory does a fit need above X and the clues, as a share of X?

Every fit runs in a process of its own, which first makes X and the clues, loads all code by a small fit, and then
watches its own peak.
"""

from __future__ import annotations

import ctypes
import json
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from measuring import Figure, one_thread
from workload import blobs, links, quietly

METHODS = ("PCKMeans", "COPKMeans", "SeededKMeans", "ConstrainedKMeans", "KMeans", "KMeans, copy_x=False")
FULL = {"n": 1_000_000, "d": 32, "k": 50, "pairs": 10_000, "methods": METHODS}
TINY = {"n": 20_000, "d": 12, "k": 5, "pairs": 1_000, "methods": ("PCKMeans", "KMeans")}
GOAL = 0.2


def measure(n: int, d: int, k: int, pairs: int, methods: tuple[str, ...]) -> list[Figure]:
    X = n * d * 4 / 2**20
    figures = []
    for method in methods:
        task = json.dumps({"method": method, "n": n, "d": d, "k": k, "pairs": pairs})
        done = subprocess.run([sys.executable, str(Path(__file__)), task], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{method} failed in its process:\n{done.stderr}")
        goal = None if method.startswith("KMeans") else GOAL
        figures.append(Figure(f"{method}, peak above X", float(done.stdout), X, "MB", "X itself", goal))
    return figures


def peak_of(method: str, n: int, d: int, k: int, pairs: int) -> float:
    """Megabytes that a fit adds to this process at its peak."""
    with one_thread():
        small = blobs(50 * k, d, k)
        fit(method, small, k, clues_for(method, 50 * k, k, 10))
        X = blobs(n, d, k)
        clues = clues_for(method, n, k, pairs)
        _ = clues.components, clues.graph  # what clues remember belongs to the clues
        before = reset_peak()
        fit(method, X, k, clues)
        return peak() - before


def clues_for(method: str, n: int, k: int, pairs: int) -> Any:
    """Links, or as many labels for the methods that take labels."""
    import numpy as np

    from cluewise import Clues

    if method not in ("SeededKMeans", "ConstrainedKMeans"):
        return Clues(n, **links(n, k, pairs))
    labels = np.full(n, -1)
    labels[:pairs] = np.arange(pairs) % k
    return Clues(n, labels=labels)


def fit(method: str, X: Any, k: int, clues: Any) -> None:
    import cluewise

    if method.startswith("KMeans"):
        from sklearn.cluster import KMeans

        copies = "copy_x=False" not in method
        quietly(KMeans(k, init=X[:k].copy(), n_init=1, max_iter=3, copy_x=copies).fit, X)
    else:
        getattr(cluewise, method)(k, n_init=2, max_iter=3, random_state=0).fit(X, clues=clues)


def reset_peak() -> float:
    """Forget the peak so far; megabytes in use now (or the peak so far, where the system cannot forget it)."""
    with suppress(AttributeError, OSError):
        # Memory that was freed but not given back would be used again by the fit, and not be seen.
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return peak()


def peak() -> float:
    """Most megabytes that this process has held."""
    try:
        return _status("VmHWM")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {field}.")


if __name__ == "__main__":
    print(peak_of(**json.loads(sys.argv[1])))
