"""What does `Cluewise` cost at several sizes: the first fit, an update, the number of clusters, memory?

Every size is a process of its own, which first loads all code by a small fit. Seconds are of the processor, by one
thread, against what users were promised (``LIMITS``). Rows are in double precision, as most tables are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from time import process_time

from measuring import Figure, exponent, one_thread
from memory import peak, reset_peak
from sklearn.datasets import make_blobs

import cluewise

FULL = {"rows": (1_000, 10_000, 100_000, 1_000_000), "d": 32, "pairs": 2_000}
TINY = {"rows": (150, 200), "d": 4, "pairs": 40}
LIMITS = {1_000: (3.0, 0.5), 10_000: (5.0, 0.5), 100_000: (12.0, 0.5), 1_000_000: (60.0, 2.0)}
MEMORY, GROWTH = 0.3, 1.05
CLUSTERS, MORE = 10, 100


def measure(rows: tuple[int, ...], d: int, pairs: int) -> list[Figure]:
    figures, seconds = [], {}
    for n in rows:
        task = json.dumps({"n": n, "d": d, "pairs": min(pairs, n // 2)})
        done = subprocess.run([sys.executable, __file__, task], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        seconds[n] = found["first fit"]
        first, update = LIMITS.get(n, (3.0, 0.5))
        for name, limit in (("first fit", first), ("number not told", first), ("update", update)):
            figures.append(Figure(f"{name}, {n:,} rows", found[name], limit, "s", "what was promised", 1.0))
        size = n * d * 8 / 2**20
        goal = MEMORY if n == 1_000_000 else None
        figures.append(Figure(f"  peak above X, {n:,} rows", found["peak"], size, "MB", "X itself", goal))
    last = sorted(seconds)[-2:]
    grown = exponent(last, [seconds[n] for n in last])
    return [*figures, Figure("  exponent of the last two", grown, 1.0, "", "linear growth", GROWTH)]


def time_of(n: int, d: int, pairs: int) -> dict[str, float]:
    """Seconds and megabytes of fits in this process."""
    with one_thread():
        small, truth = make_blobs(min(n, 500), d, centers=CLUSTERS, cluster_std=4.0, random_state=0)
        few = cluewise.Clues.sample(truth, pairs=40, random_state=0)
        cluewise.Cluewise(random_state=0).fit(small, clues=few).update(few)
        X, y = make_blobs(n, d, centers=CLUSTERS, cluster_std=4.0, random_state=0)
        clues, more = (cluewise.Clues.sample(y, pairs=m, random_state=m) for m in (pairs, min(MORE, pairs // 4)))
        _ = clues.components, clues.graph, more.components, more.graph
        del y
        before, start = reset_peak(), process_time()
        model = cluewise.Cluewise(CLUSTERS, random_state=0).fit(X, clues=clues)
        first, most = process_time() - start, peak() - before
        start = process_time()
        model.update(more)
        update = process_time() - start
        start = process_time()
        cluewise.Cluewise(random_state=0).fit(X, clues=clues)
        return {"first fit": first, "peak": most, "update": update, "number not told": process_time() - start}


if __name__ == "__main__":
    print(json.dumps(time_of(**json.loads(sys.argv[1]))))
