"""SizedKMeans with equal sizes: against the popular package where there is one, and against plain KMeans.

The package (k-means-constrained) is measured by the interpreter named in CLUEWISE_RIVAL_PYTHON, which has it installed.
Both run from the same centers for as many iterations as they want; ours is exact, and so is the comparison of what
each reaches: the sum of squared distances to the means of the clusters, by the labels alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measuring import Figure, interleaved, one_thread
from workload import blobs, lloyd

from cluewise import Clues, SizedKMeans

FULL = {"sizes": ((5_000, 16, 10), (23_000, 50, 10), (100_000, 16, 20)), "repeats": 3}
TINY = {"sizes": ((300, 4, 3),), "repeats": 1}
LIMITS = {23_000: 10.0}  # seconds
RATIOS = {100_000: 12.0}
RIVAL = "CLUEWISE_RIVAL_PYTHON"
LARGEST = 5_000  # rows that the rival is asked for: it takes a quarter of an hour for 23 000

SCRIPT = """
import json, sys, time
import numpy as np
from k_means_constrained import KMeansConstrained
given = np.load(sys.argv[1])
X, init = given["X"].astype(float), given["init"].astype(float)
low, high = (int(v) for v in given["bounds"])
seconds = []
for _ in range(int(sys.argv[2])):
    model = KMeansConstrained(len(init), size_min=low, size_max=high, init=init, n_init=1, max_iter=300, tol=0)
    begin = time.process_time()
    model.fit(X)
    seconds.append(time.process_time() - begin)
np.save(sys.argv[3], model.labels_)
print(json.dumps({"seconds": seconds, "iterations": int(model.n_iter_)}))
"""


def measure(sizes: tuple[tuple[int, int, int], ...], repeats: int) -> list[Figure]:
    figures = []
    for n, d, k in sizes:
        X = blobs(n, d, k)
        X[: n // 2] += 0.4  # uneven by nature, so that equal sizes cost something
        init = X[:k].copy()
        bounds = (n // k, -(-n // k))
        figures += one_size(X, init, bounds, repeats)
    if RIVAL not in os.environ:
        print(f"sized: rival not installed (set {RIVAL} to a Python that has k-means-constrained)")
    return figures


def one_size(X: np.ndarray, init: np.ndarray, bounds: tuple[int, int], repeats: int) -> list[Figure]:
    n, d = X.shape
    k = len(init)
    clues = Clues(n, sizes=bounds)
    fitted: dict[str, SizedKMeans] = {}

    def ours() -> None:
        fitted["ours"] = SizedKMeans(k, init=init, n_init=1, max_iter=300, tol=0).fit(X, clues=clues)

    with one_thread():
        ours()
        plain = {"ours": ours, "KMeans": lambda: lloyd(X, init, fitted["ours"].n_iter_)}
        times = interleaved(plain, repeats)
    model = fitted["ours"]
    name = f"equal sizes, {n} × {d}, k={k}"
    limit = LIMITS.get(n)
    goal = RATIOS.get(n) if limit is None else limit / times["KMeans"].best
    against = "as many iterations of KMeans" + ("" if limit is None else f" (goal: {limit:.0f} s)")
    figures = [Figure(name, times["ours"].best, times["KMeans"].best, "s", against, goal, noise=times["ours"].noise)]
    if RIVAL in os.environ and n <= LARGEST:
        seconds, labels, iterations = rival(X, init, bounds, repeats)
        against = f"k-means-constrained ({iterations} iterations, ours {model.n_iter_})"
        figures.append(Figure(f"  {name}", times["ours"].best, seconds, "s", against, 1.0))
        reached = distortion(X, model.labels_), distortion(X, labels)
        figures.append(Figure("  what is reached", *reached, "", "k-means-constrained's sum of squares"))
    return figures


def rival(X: np.ndarray, init: np.ndarray, bounds: tuple[int, int], repeats: int) -> tuple[float, np.ndarray, int]:
    """Processor seconds of its fastest fit, its labels, and its iterations."""
    python = os.environ[RIVAL]
    with tempfile.TemporaryDirectory() as folder:
        given, labels = Path(folder) / "given.npz", Path(folder) / "labels.npy"
        np.savez(given, X=X, init=init, bounds=bounds)
        command = [python, "-c", SCRIPT, str(given), str(repeats), str(labels)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{RIVAL}={python} cannot run the rival:\n{done.stderr}")
        found = json.loads(done.stdout)
        return min(found["seconds"]), np.load(labels), found["iterations"]


def distortion(X: np.ndarray, labels: np.ndarray) -> float:
    """Sum of squared distances to the means of the clusters."""
    X = X.astype(np.float64)
    return float(sum(((X[labels == h] - X[labels == h].mean(axis=0)) ** 2).sum() for h in np.unique(labels)))
