"""What do groups from scored pairs cost, against one pass of connected components?

The peak of memory is that of a process of its own, above the records, the pairs and the clues.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from measuring import Figure, interleaved, one_thread
from memory import peak, reset_peak
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cluewise import Clues, CorrelationClusterer
from cluewise.datasets import make_entities

FULL = {"n": 1_000_000, "repeats": 2}
TINY = {"n": 2_000, "repeats": 1}
LIMIT = 60.0  # seconds for a million records and ten million pairs
MADE = {"n_sources": 4, "typos": 0.15, "missing": 0.08}


def measure(n: int, repeats: int) -> list[Figure]:
    pairs, probability, source = scored(n)
    clues = {"scores alone": Clues.from_scores(n, pairs, probability)}
    clues["one per source"] = clues["scores alone"] | Clues(n, apart=source, apart_weight=np.inf)
    contestants = {
        "components": lambda: connect(n, pairs[probability > 0.5]),
        "from_scores": lambda: Clues.from_scores(n, pairs, probability),
        **{name: lambda given=given: fit(given) for name, given in clues.items()},
    }
    with one_thread():
        contestants["one per source"]()  # loads what is compiled
        times = interleaved(contestants, repeats)
    anchor = times.pop("components")
    against = f"connected_components of SciPy, {len(pairs):,} pairs"
    figures = []
    for name, found in times.items():
        title = f"CorrelationClusterer, {name}" if name in clues else "  Clues.from_scores"
        goal = LIMIT / anchor.best if name in clues else None
        noise = max(found.noise, anchor.noise)
        figures.append(Figure(title, found.best, anchor.best, "s", against, goal, noise=noise))
    done = subprocess.run([sys.executable, __file__, str(n)], capture_output=True, text=True, check=True)
    size = pairs.nbytes / 2**20
    return [*figures, Figure("  peak of a fit above the clues", float(done.stdout), size, "MB", "the pairs themselves")]


def scored(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Candidate pairs of n records, their scores, and the sources of the records."""
    records = make_entities(n, random_state=0, **MADE)
    pairs = records.block()
    return pairs, records.score(pairs, make_entities(min(n, 20_000), random_state=1, **MADE)), records.source


def connect(n: int, pairs: np.ndarray) -> np.ndarray:
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return connected_components(graph.tocsr(), directed=False)[1]


def fit(clues: Clues) -> CorrelationClusterer:
    return CorrelationClusterer().fit(None, clues=clues)


def peak_of(n: int) -> float:
    """Megabytes that a fit adds to this process at its peak."""
    pairs, probability, source = scored(n)
    clues = Clues.from_scores(n, pairs, probability) | Clues(n, apart=source, apart_weight=np.inf)
    fit(clues[np.arange(min(n, 1000))])
    before = reset_peak()
    fit(clues)
    return peak() - before


if __name__ == "__main__":
    print(peak_of(int(sys.argv[1])))
