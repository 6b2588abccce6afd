"""ConstrainedAgglomerative: whole trees with and without clues, against SciPy's and fastcluster's without any.

The package fastcluster is measured by the interpreter named in CLUEWISE_RIVAL_PYTHON, which has it installed, on the
same rows; SciPy takes turns with us. Theirs know no clues. Nobody stops early: every tree is built to its last union.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measuring import Figure, interleaved, one_thread
from workload import blobs, links

from cluewise import Clues
from cluewise.hierarchy import ConstrainedAgglomerative

FULL = {"n": 10_000, "d": 16, "k": 10, "pairs": 2_000, "repeats": 3}
TINY = {"n": 120, "d": 3, "k": 3, "pairs": 20, "repeats": 1}
LINKAGES = ("ward", "single", "complete", "average", "centroid")
GOALS = {"ward": 1.0}  # times SciPy; the others: 2
WITHOUT_DISTANCES = ("ward", "single", "centroid")  # linkages of fastcluster that keep no table of distances
RIVAL = "CLUEWISE_RIVAL_PYTHON"

SCRIPT = """
import json, sys, time
import numpy as np
import fastcluster
X = np.load(sys.argv[1])
found = {}
for _ in range(int(sys.argv[2])):
    for name in sys.argv[3].split():
        for kind in ("linkage", "linkage_vector"):
            if kind == "linkage_vector" and name not in sys.argv[4].split():
                continue
            begin = time.process_time()
            getattr(fastcluster, kind)(X, name)
            found.setdefault(kind + " " + name, []).append(time.process_time() - begin)
print(json.dumps({name: min(seconds) for name, seconds in found.items()}))
"""


def measure(n: int, d: int, k: int, pairs: int, repeats: int) -> list[Figure]:
    from scipy.cluster.hierarchy import linkage as scipys

    X = blobs(n, d, k).astype(np.float64)
    clues = Clues(n, **links(n, k, pairs))
    figures = []
    rivals = rival(X, repeats) if RIVAL in os.environ else {}
    for name in LINKAGES:
        with one_thread():
            contestants = {
                "clues": lambda name=name: ConstrainedAgglomerative(None, linkage=name).fit(X, clues=clues),
                "none": lambda name=name: ConstrainedAgglomerative(None, linkage=name).fit(X),
                "scipy": lambda name=name: scipys(X, name),
            }
            ConstrainedAgglomerative(None, linkage=name).fit(X[:50])  # compiled code is loaded
            times = interleaved(contestants, repeats)
        told, plain, theirs = (times[which] for which in ("clues", "none", "scipy"))
        goal = GOALS.get(name, 2.0)
        what = f"{name}, {n} × {d}, {pairs} links"
        figures.append(Figure(what, told.best, theirs.best, "s", "SciPy, no clues", goal, noise=told.noise))
        figures.append(Figure("  no clues", plain.best, theirs.best, "s", "SciPy", goal, noise=plain.noise))
        for kind, words in (("linkage", "fastcluster"), ("linkage_vector", "fastcluster, from rows")):
            if f"{kind} {name}" in rivals:
                stretch = 1.5 if (kind, name) == ("linkage_vector", "ward") else None
                seconds = rivals[f"{kind} {name}"]
                figures.append(Figure("  with links", told.best, seconds, "s", words, stretch, noise=told.noise))
    if not rivals:
        print(f"agglomerative: rival not installed (set {RIVAL} to a Python that has fastcluster)")
    return figures


def rival(X: np.ndarray, repeats: int) -> dict[str, float]:
    """Processor seconds of the fastest tree of each kind."""
    python = os.environ[RIVAL]
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "rows.npy"
        np.save(given, X)
        words = " ".join(LINKAGES), " ".join(WITHOUT_DISTANCES)
        command = [python, "-c", SCRIPT, str(given), str(repeats), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{RIVAL}={python} cannot run the rival:\n{done.stderr}")
        return json.loads(done.stdout)
