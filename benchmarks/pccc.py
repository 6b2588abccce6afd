"""What PCCC makes of clues: mean ARI over all rows beside K-means, with certain pairs and with doubtful ones.

``python benchmarks/pccc.py [--draws 10] [--mnist] [NAME ...]`` on labelled sets that are on this machine, columns
standardized. Certain: all pairs among 5, 10 or 20 % of the rows, hard. Doubtful: all pairs among 20 % of the rows, each
with a confidence c drawn from (0.6, 1) and right with probability c, all soft; and the same pairs taken as hard, where
they can be. ``--mnist`` adds the time for 70 000 rows with all pairs among 5 % of them, as pairs and as labels.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from time import perf_counter

import numpy as np
from sklearn.cluster import KMeans

from cluewise import PCCC, Clues
from cluewise.datasets import available, load
from cluewise.exceptions import ClueError
from cluewise.metrics import ari

SETS = ("iris", "wine", "glass", "ecoli", "zoo", "ionosphere")
SHARES = (0.05, 0.1, 0.2)
DOUBTFUL = 0.2
CONFIDENCE = (0.6, 1.0)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Mean ARI of PCCC with certain and with doubtful pairs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"data sets (default: {', '.join(SETS)})")
    parser.add_argument("--draws", type=int, default=10, help="draws of clues for every number (default: 10)")
    parser.add_argument("--mnist", action="store_true", help="also time 70 000 rows")
    given = parser.parse_args(arguments)
    names, known = given.names or SETS, available()
    here = [name for name in names if name in known and known[name].origin != "OpenML"]
    if not here:
        parser.error("none of the data sets is on this machine; CLUEWISE_DATA names their folder.")
    columns = [
        "K-means",
        *(f"hard {share:.0%}" for share in SHARES),
        "soft 20%",
        "as hard",
        "largest gap",
        "processor s",
    ]
    print(f"{'':12}" + "".join(f"{column:>12}" for column in columns))
    scores = []
    for name in here:
        scores.append(measure(name, given.draws))
        print(line(name, scores[-1]), flush=True)
    known_ones = [[value for value in column if value == value] for column in zip(*scores)]  # nan: never feasible
    means = [float(np.mean(column)) if column else float("nan") for column in known_ones]
    print(line("mean", [*means[:-1], sum(row[-1] for row in scores)]))
    print(f"{given.draws} draws on each set; no hard link was broken; processor seconds are of all PCCC fits.")
    if given.mnist:
        print(mnist())


def line(name: str, values: list[float]) -> str:
    """One line of the table."""
    return f"{name:12}" + "".join(f"{value:12.3f}" for value in values)


def measure(name: str, draws: int) -> list[float]:
    """K-means, hard pairs among three shares, soft ones, the same as hard where feasible, largest gap, time."""
    data = load(name, standardize=True)
    X, y = data.X, data.y
    k = len(np.unique(y))
    found: list[list[float]] = [[] for _ in range(7)]
    began, beside = processor(), 0.0
    for seed in range(draws):
        other = processor()
        found[0].append(ari(y, KMeans(k, n_init=10, random_state=seed).fit(X).labels_))
        beside += processor() - other
        for column, share in enumerate(SHARES, start=1):
            clues = Clues.sample(y, pairs=1.0, among=share, random_state=seed)
            found[column].append(score(PCCC(k, random_state=seed).fit(X, clues=clues), y))
        clues = Clues.sample(y, pairs=1.0, among=DOUBTFUL, confidence=CONFIDENCE, random_state=seed)
        soft = PCCC(k, hard="infinite", random_state=seed).fit(X, clues=clues)
        found[4].append(ari(y, soft.labels_))
        found[6].append(soft.gap_)
        try:
            sure = Clues(len(y), must=clues.must, cannot=clues.cannot)
            found[5].append(score(PCCC(k, random_state=seed).fit(X, clues=sure), y))
        except ClueError:  # contradictory, as nearly always
            continue
    means = [float(np.mean(scores)) if scores else float("nan") for scores in found[:6]]
    return [*means, max(found[6]), processor() - began - beside]


def processor() -> float:
    """Processor seconds of this process and of the solvers that it has started."""
    return sum(os.times()[:4])


def score(model: PCCC, y: np.ndarray) -> float:
    """ARI of a fit that broke nothing."""
    if model.broken_.kinds:
        raise RuntimeError(f"hard clues are broken: {model.broken_}.")
    return ari(y, model.labels_)


def mnist() -> str:
    """Seconds for mnist with all pairs among 5 % of the rows, as pairs and as labels."""
    data = load("mnist")
    X, y = data.X, data.y
    rows = np.sort(np.random.default_rng(0).choice(len(y), len(y) // 20, replace=False))
    shown = np.full(len(y), -1)
    shown[rows] = y[rows]
    first, second = rows[np.array(np.triu_indices(len(rows), 1))]
    same = y[first] == y[second]
    pairs = np.column_stack([first, second])
    lines = []
    for words in ("labels", "pairs"):
        began, used = perf_counter(), processor()
        clues = Clues.from_labels(shown) if words == "labels" else Clues(len(y), must=pairs[same], cannot=pairs[~same])
        built = perf_counter() - began
        agreement = score(model := PCCC(10, random_state=0).fit(X, clues=clues), y)
        fitted = perf_counter() - began - built
        lines.append(
            f"mnist, {clues}: clues {built:.1f} s, fit {fitted:.1f} s ({processor() - used:.1f} s of processors for "
            f"both), {model.n_iter_} iterations, ARI {agreement:.3f}"
        )
    began, used = perf_counter(), processor()
    plain = KMeans(10, n_init=1, random_state=0).fit(X)
    lines.append(
        f"mnist, scikit-learn's KMeans, one start: {perf_counter() - began:.1f} s ({processor() - used:.1f} s of "
        f"processors), {plain.n_iter_} iterations, ARI {ari(y, plain.labels_):.3f}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
