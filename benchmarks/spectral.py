"""Neighbors and spectral methods: exact kNN against faiss, and clusters with links against faiss plus eigsh.

faiss (faiss-cpu, with SciPy beside it) is measured by the interpreter named in CLUEWISE_RIVAL_PYTHON; without it
scikit-learn's brute search takes its place.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
from measuring import Figure, interleaved, one_thread
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh
from sklearn.neighbors import NearestNeighbors

from cluewise import Clues
from cluewise.core.graphs.neighbors import nearest_rows
from cluewise.core.threads import threads
from cluewise.spectral import E2CP, FlexibleSpectral

FULL = {"n": 100_000, "d": 16, "k": 10, "neighbors": 15, "pairs": 1000}
TINY = {"n": 1_000, "d": 16, "k": 3, "neighbors": 5, "pairs": 50}
RIVAL = "CLUEWISE_RIVAL_PYTHON"

SCRIPT = """
import json, sys, time
import faiss
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh
faiss.omp_set_num_threads(1)
X, k, m = np.load(sys.argv[1]).astype(np.float32), int(sys.argv[2]), int(sys.argv[3])
n = len(X)
begin = time.process_time()
index = faiss.IndexFlatL2(X.shape[1])
index.add(X)
_, near = index.search(X, m + 1)
search = time.process_time() - begin
begin = time.process_time()
A = csr_array((np.ones(n * m), near[:, 1:].ravel(), np.arange(0, n * m + 1, m)), shape=(n, n))
A = csr_array(0.5 * (A + A.T))
root = 1 / np.sqrt(A.sum(axis=1))
A.data *= np.repeat(root, np.diff(A.indptr)) * root[A.indices]
eigsh(A, k, which="LA", v0=np.ones(n))
print(json.dumps([search, time.process_time() - begin]))
"""


def measure(n: int, d: int, k: int, neighbors: int, pairs: int) -> list[Figure]:
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    X = 1.5 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))
    clues = Clues.sample(y, pairs=pairs, random_state=0)
    some = slice(0, min(n, 2000))
    ours = {
        "kNN": lambda part=slice(None): nearest_rows(X[part], neighbors),
        **{
            cls.__name__: lambda part=slice(None), cls=cls: cls(k, n_neighbors=neighbors, random_state=0).fit(
                X[part], clues=clues[np.arange(n)[part]]
            )
            for cls in (E2CP, FlexibleSpectral)
        },
    }
    with one_thread(), threads(1):
        for run in ours.values():
            run(some)  # compiles or loads what is needed
        times = interleaved(ours, 1)
        found = rival_seconds(X, k, neighbors)
        if found is None:
            print(f"spectral: rival not installed (set {RIVAL} to a Python that has faiss-cpu and scipy)")
            found = stand_in(X, k, neighbors)
    name = "scikit-learn's kNN" if not os.environ.get(RIVAL) else "faiss flat"
    search, eigen = found
    figures = [
        Figure(f"kNN-{neighbors}, n = {n}, d = {d}", times["kNN"].best, search, "s", f"{name}, one thread", 1.5, 1.0)
    ]
    for cls in ("E2CP", "FlexibleSpectral"):
        against = f"{name} + eigsh({k})"
        figures.append(Figure(f"{cls}, {pairs} pairs", times[cls].best, search + eigen, "s", against, 1.3))
    return figures


def rival_seconds(X: np.ndarray, k: int, neighbors: int) -> tuple[float, float] | None:
    """Processor seconds of faiss and of eigsh; None when faiss is not there."""
    python = os.environ.get(RIVAL)
    if not python:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "X.npy"
        np.save(given, X)
        command = [python, "-c", SCRIPT, str(given), str(k), str(neighbors)]
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | one)
    search, eigen = json.loads(done.stdout)
    return search, eigen


def stand_in(X: np.ndarray, k: int, neighbors: int) -> tuple[float, float]:
    """The same by scikit-learn."""
    begin = process_time()
    near = NearestNeighbors(n_neighbors=neighbors, algorithm="brute").fit(X).kneighbors(return_distance=False)
    search = process_time() - begin
    begin = process_time()
    n = len(X)
    graph = csr_array((np.ones(near.size), near.ravel(), np.arange(0, near.size + 1, neighbors)), shape=(n, n))
    graph = csr_array(0.5 * (graph + graph.T))
    root = 1 / np.sqrt(graph.sum(axis=1))
    graph.data *= np.repeat(root, np.diff(graph.indptr)) * root[graph.indices]
    eigsh(graph, k, which="LA", v0=np.ones(n))
    return search, process_time() - begin
