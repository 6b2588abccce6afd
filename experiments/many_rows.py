# ruff: noqa: D103, T201
"""Does `Cluewise` listen on many rows? ``python experiments/many_rows.py [run | report]``

MNIST, 60,000 training rows in 50 principal components, the number of clusters given, random pairs of which some say the
opposite of the truth, five draws. A run is a line in ``experiments/results/many_rows.csv``; what is there is not run
again. Seconds are of CPU; set OMP_NUM_THREADS=1. ``--rows`` takes fewer rows, to try the script.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

import cluewise as cw

SETTINGS = [(1000, 0), (5000, 0), (10_000, 0), (5000, 10), (5000, 20)]
METHODS: dict[str, Callable[[int], Any]] = {
    "KMeans": lambda seed: KMeans(10, n_init=3, random_state=seed),
    "PCKMeans": lambda seed: cw.PCKMeans(10, random_state=seed),
    "Cluewise": lambda seed: cw.Cluewise(10, n_jobs=1, random_state=seed),
}
KEY = ("method", "pairs", "wrong", "draw")
RESULTS = Path(__file__).parent / "results"


def load(rows: int) -> tuple[np.ndarray, np.ndarray]:
    data = cw.datasets.load("mnist")
    X, y = np.asarray(data.X[:rows], dtype=np.float32), np.asarray(data.y[:rows])
    return PCA(50, random_state=0).fit_transform(X), y


def run(path: Path, rows: int, draws: int) -> None:
    done = {tuple(row[name] for name in KEY) for row in read(path)}
    X, y = load(rows)
    for draw in range(draws):
        for pairs, wrong in SETTINGS:
            clues = cw.Clues.sample(y, pairs=pairs, noise=wrong / 100, random_state=draw)
            for name, make in METHODS.items():
                key = (name, str(pairs), str(wrong), str(draw))
                if key in done:
                    continue
                start = time.process_time()
                model = make(draw)
                model.fit(X) if name == "KMeans" else model.fit(X, clues=clues)
                seconds = time.process_time() - start
                found = [*key, f"{cw.metrics.ari(y, model.labels_):.4f}", f"{seconds:.1f}"]
                new = not path.exists()
                with path.open("a", encoding="utf-8", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows([[*KEY, "ari", "seconds"]] * new + [found])
                print(*found, sep=" | ", flush=True)


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def report(rows: list[dict[str, str]]) -> Iterator[str]:
    yield "# Does `Cluewise` listen on many rows?\n"
    yield "Made by `experiments/many_rows.py`: MNIST, 60,000 rows, mean ARI (least, largest), CPU seconds.\n"
    yield f"| pairs, wrong | {' | '.join(METHODS)} |"
    yield f"|---|{'---|' * len(METHODS)}"
    for pairs, wrong in SETTINGS:
        cells = []
        for name in METHODS:
            here = [r for r in rows if (r["method"], r["pairs"], r["wrong"]) == (name, str(pairs), str(wrong))]
            ari, seconds = (np.array([float(r[column]) for r in here]) for column in ("ari", "seconds"))
            cells.append(
                f"{ari.mean():.3f} ({ari.min():.3f}, {ari.max():.3f}), {seconds.mean():.0f} s" if len(here) else ""
            )
        yield f"| {pairs}, {wrong} % | {' | '.join(cells)} |"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", default="run", choices=["run", "report"])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--csv", type=Path, default=RESULTS / "many_rows.csv", help="where runs are kept")
    given = parser.parse_args(words)
    warnings.simplefilter("ignore")
    if given.part == "run":
        run(given.csv, given.rows, given.draws)
    else:
        print("\n".join(report(read(given.csv))))


if __name__ == "__main__":
    main()
