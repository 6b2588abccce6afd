"""Digits (1797 × 64) with 500 pairs: PCKMeans against KMeans, and against the public package where there is one.

The package (active-semi-supervised-clustering) is measured by the interpreter named in CLUEWISE_RIVAL_PYTHON, which has
it installed; cluewise itself does not need it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measuring import Figure, interleaved, one_thread
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from cluewise import Clues, PCKMeans

FULL = {"rows": 1797, "pairs": 500, "repeats": 20, "rival_repeats": 3}
TINY = {"rows": 300, "pairs": 50, "repeats": 1, "rival_repeats": 1}
LIMIT = 0.1  # seconds
RIVAL = "CLUEWISE_RIVAL_PYTHON"

SCRIPT = """
import json, sys, time
import numpy as np
from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans
given = np.load(sys.argv[1])
links = {kind: [tuple(map(int, pair)) for pair in given[kind]] for kind in ("must", "cannot")}
seconds = []
for seed in range(int(sys.argv[2])):
    np.random.seed(seed)
    begin = time.perf_counter()
    PCKMeans(n_clusters=10, max_iter=300).fit(given["X"], ml=links["must"], cl=links["cannot"])
    seconds.append(time.perf_counter() - begin)
print(json.dumps(seconds))
"""


def measure(rows: int, pairs: int, repeats: int, rival_repeats: int) -> list[Figure]:
    X, y = load_digits(return_X_y=True)
    X, y = X[:rows], y[:rows]
    clues = Clues.sample(y, pairs=pairs, random_state=0)
    contestants = {
        "ours": lambda: PCKMeans(10, random_state=0).fit(X, clues=clues),
        "ours, as published": lambda: PCKMeans(10, penalty=1.0, n_init=1, random_state=0).fit(X, clues=clues),
        "KMeans": lambda: KMeans(10, n_init=1, random_state=0).fit(X),
    }
    with one_thread():
        for contestant in contestants.values():
            contestant()  # compiles or loads what is needed
        times = interleaved(contestants, repeats)
    ours, published, anchor = times["ours"], times["ours, as published"], times["KMeans"]
    against = f"scikit-learn's KMeans (goal: {LIMIT:g} s)"
    name = f"PCKMeans on digits, {pairs} pairs"
    figures = [
        Figure(name, 1e3 * ours.best, 1e3 * anchor.best, "ms", against, LIMIT / anchor.best, noise=ours.noise),
        Figure("  one start, penalty=1", 1e3 * published.best, 1e3 * anchor.best, "ms", against, noise=published.noise),
    ]
    rival = rival_seconds(X, clues, rival_repeats)
    if rival is None:
        print(f"digits: rival not installed (set {RIVAL} to a Python that has active-semi-supervised-clustering)")
    else:
        against = "the public package's PCKMeans"
        figures.append(Figure("  one start, penalty=1", 1e3 * published.best, 1e3 * rival, "ms", against))
    return figures


def rival_seconds(X: np.ndarray, clues: Clues, repeats: int) -> float | None:
    """Seconds of the fastest fit of the public package; None when it is not there."""
    python = os.environ.get(RIVAL)
    if not python:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.npz"
        np.savez(given, X=X, must=clues.must, cannot=clues.cannot)
        command = [python, "-c", SCRIPT, str(given), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{RIVAL}={python} cannot run the rival:\n{done.stderr}")
    return min(json.loads(done.stdout))
