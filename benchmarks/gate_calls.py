"""The calls whose speed is guarded: ``gate_speed.py`` runs this file once for each of two versions of the library.

Reads names of calls from standard input, one a line, runs each once, and answers with its processor seconds. Only the
public interface is used, so that older versions understand it; a call that one does not know is answered with "none".
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from copy import copy
from time import process_time
from typing import Any

import numpy as np

warnings.simplefilter("ignore")  # fits that stop before they converge


def make_clues() -> Callable[[], Any]:
    """A million pairs: building clues, closure, lifted graph."""
    from workload import links

    from cluewise import Clues

    given = links(1_000_000, 50, 1_000_000)

    def run() -> Any:
        clues = Clues(1_000_000, **given)
        return clues.components, clues.graph

    return run


def make_pck() -> Callable[[], Any]:
    """Ten iterations of PCKMeans on 100,000 rows with four links each."""
    from workload import blobs, links, pck

    from cluewise import Clues

    X, clues = blobs(100_000, 8, 10), Clues(100_000, **links(100_000, 10, 200_000))
    return lambda: pck(X, X[:10], 10, clues)


def make_partition() -> Callable[[], Any]:
    """Ten iterations of PartitionKMeans on 200,000 rows, a tenth of them labeled."""
    from partition import partition, some_labels
    from workload import blobs

    X, labels = blobs(200_000, 16, 20), some_labels(200_000, 20, 0.1)
    return lambda: partition(X, X[:20], 10, labels)


def make_scsc() -> Callable[[], Any]:
    """New clues and new labels of SCSC: 500,000 rows, 100 partitions."""
    from scsc import ensemble

    from cluewise import SCSC, Clues

    labels, truth = ensemble(100, 500_000, 10, np.random.default_rng(0))
    clues = Clues.sample(truth, pairs=500, random_state=0)
    model = SCSC.from_partitions(labels)
    return lambda: copy(model).update(clues).labels_  # the model itself stays without clues


def make_e2cp() -> Callable[[], Any]:
    """E2CP on 1,500 rows with 500 pairs."""
    from cluewise import E2CP

    X, clues = _rows_and_pairs(1_500, 500)
    return lambda: E2CP(10, random_state=0).fit(X, clues=clues)


def make_ward() -> Callable[[], Any]:
    """A tree of 2,000 rows with 500 links."""
    from cluewise import ConstrainedAgglomerative

    X, clues = _rows_and_pairs(2_000, 500)
    return lambda: ConstrainedAgglomerative(10).fit(X, clues=clues)


def make_grains() -> Callable[[], Any]:
    """300 grains of 200,000 rows."""
    from workload import blobs

    from cluewise import Grains

    X = blobs(200_000, 16, 20)
    return lambda: Grains(300, random_state=0).fit(X)


def make_cluewise() -> Callable[[], Any]:
    """Cluewise on 200 rows with 60 pairs."""
    from cluewise import Cluewise

    X, clues = _rows_and_pairs(200, 60)
    return lambda: Cluewise(10, random_state=0).fit(X, clues=clues)


def _rows_and_pairs(n: int, pairs: int) -> tuple[np.ndarray, Any]:
    from cluewise import Clues

    rng = np.random.default_rng(0)
    y = rng.integers(10, size=n)
    X = 1.5 * rng.normal(size=(10, 8))[y] + rng.normal(size=(n, 8))
    return X, Clues.sample(y, pairs=pairs, random_state=0)


CALLS: dict[str, Callable[[], Callable[[], Any]]] = {
    "Clues": make_clues,
    "PCKMeans": make_pck,
    "PartitionKMeans": make_partition,
    "SCSC": make_scsc,
    "E2CP": make_e2cp,
    "ConstrainedAgglomerative": make_ward,
    "Grains": make_grains,
    "Cluewise": make_cluewise,
}


def prepare(name: str) -> Callable[[], Any] | None:
    """The call, made once already, so that compiling does not count; None if this version does not know it."""
    try:
        run = CALLS[name]()
        run()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    return run


def main() -> None:
    from measuring import one_thread

    ready: dict[str, Callable[[], Any] | None] = {}
    with one_thread():
        for line in sys.stdin:
            name = line.strip()
            if name not in ready:
                ready[name] = prepare(name)
            run = ready[name]
            if run is None:
                print("none", flush=True)
                continue
            gc.collect()
            begin = process_time()
            run()
            print(process_time() - begin, flush=True)


if __name__ == "__main__":
    main()
