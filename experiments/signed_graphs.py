# ruff: noqa: D103, T201
"""How far from the best is the search of `CorrelationClusterer`? ``python experiments/signed_graphs.py [--graphs N]``

Random graphs of 6 to 12 nodes, every second one with apart groups. The best clusters are those of ``max_exact=16``. The
table goes to ``experiments/results/signed_graphs.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from cluewise import Clues, CorrelationClusterer

RESULTS = Path(__file__).parent / "results"


def draw(rng: np.random.Generator, groups: bool) -> Clues:
    """A graph of up to four clusters: weights of 1 within and −1 between them, and normal noise of up to 3."""
    n, k = int(rng.integers(6, 13)), int(rng.integers(1, 5))
    y = rng.integers(k, size=n)
    pairs = np.argwhere(np.triu(rng.random((n, n)) < rng.choice([0.3, 0.6, 1.0]), 1))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    weight = np.where(same, 1.0, -1.0) + rng.choice([1.0, 2.0, 3.0]) * rng.normal(size=len(pairs))
    must, cannot = weight > 0, weight < 0
    clues = Clues(n, must=pairs[must], must_weight=weight[must], cannot=pairs[cannot], cannot_weight=-weight[cannot])
    if groups:
        clues |= Clues(n, apart=rng.integers(-1, 3, size=n), apart_weight=rng.choice([np.inf, 0.7]))
    return clues


def report(graphs: int) -> Iterator[str]:
    rng = np.random.default_rng(0)
    best: list[float] = []
    found: dict[str, list[float]] = {"unions alone": [], "search, max_exact=0": [], "search, max_exact=6": []}
    for number in range(graphs):
        clues = draw(rng, groups=number % 2 == 1)
        exact, none, few = (CorrelationClusterer(size).fit(None, clues=clues) for size in (16, 0, 6))
        best.append(exact.objective_)
        for costs, cost in zip(found.values(), (none.trace_[0], none.objective_, few.objective_)):
            costs.append(cost)
    yield "# How far from the best is the search of `CorrelationClusterer`?\n"
    yield f"Made by `experiments/signed_graphs.py`: {graphs:,} random graphs of 6 to 12 nodes with heavy noise.\n"
    yield "| | share of graphs with the best clusters | cost of all graphs above the best |"
    yield "|---|---|---|"
    for name, costs in found.items():
        gap = np.array(costs) - best
        yield f"| {name} | {100 * np.mean(gap < 1e-9):.1f} % | {100 * gap.sum() / sum(best):.1f} % |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--graphs", type=int, default=2000)
    parser.add_argument("--table", type=Path, default=RESULTS / "signed_graphs.md")
    given = parser.parse_args(arguments)
    text = "\n".join(report(given.graphs)) + "\n"
    print(text)
    given.table.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
