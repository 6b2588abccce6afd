"""Does `Cluewise` find as good clusters as before? ``python benchmarks/gate_quality.py``, or ``make gate-quality``.

A panel of six sets, four kinds of clues and three draws, compared with the figures in ``quality.json``. Sets and draws
are fixed; what differs between machines is rounding, which now and then tips a choice, for better or for worse. So the
differences are judged as pairs: a loss has to be larger than what the same differences with random signs amount to.
If a change is meant to lose something, or gains, write new figures: ``make gate-quality ARGS=--renew``.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.preprocessing import scale

import cluewise as cw
from cluewise.datasets import make_pattern
from cluewise.metrics import ari

FILE = Path(__file__).with_name("quality.json")
ROWS, SEEDS = 300, 3

LOSS = 0.01
"""A smaller mean loss of ARI is none."""

CHANCE = 0.002
"""A loss that random signs reach more often than this is noise; with five questions, one false alarm in a hundred."""

FLIPS = 20_000


class Cell(NamedTuple):
    """One fit of the panel."""

    data: str
    clues: str
    seed: int

    def __str__(self) -> str:
        return f"{self.data} | {self.clues} | {self.seed}"


Clues = Callable[[np.ndarray, int], cw.Clues]


def say_nothing(y: np.ndarray, seed: int) -> cw.Clues:
    """Pairs whose answers have nothing to do with the rows, as often "same" as true ones."""
    return cw.Clues.sample(np.random.default_rng(seed).permutation(y), pairs=len(y) // 2, random_state=seed)


def add_noise(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Four more columns that say nothing."""
    return np.column_stack([scale(X), np.random.default_rng(0).normal(scale=0.5, size=(len(X), 4))]), y


SETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "half_kernel and noise": lambda: add_noise(*make_pattern("half_kernel", random_state=0)),
    "hypercube": lambda: make_classification(
        400, 10, n_informative=5, n_classes=5, n_clusters_per_class=1, random_state=2
    ),
}
CLUES: dict[str, Clues] = {
    "100 pairs": lambda y, seed: cw.Clues.sample(y, pairs=100, random_state=seed),
    "n pairs, 20 % wrong": lambda y, seed: cw.Clues.sample(y, pairs=len(y), noise=0.2, random_state=seed),
    "10 % labels": lambda y, seed: cw.Clues.sample(y, labels=0.1, random_state=seed),
    "n/2 pairs that say nothing": say_nothing,
}


def run_panel(
    sets: Sequence[str] = tuple(SETS), seeds: int = SEEDS, show: Callable[[str], object] = print
) -> dict[str, float]:
    """ARI of every cell, by its name."""
    found = {}
    for data in sets:
        X, y = load(data)
        for kind, draw in CLUES.items():
            for seed in range(seeds):
                found[str(Cell(data, kind, seed))] = score(X, y, draw(y, seed), seed)
        show(f"{data}: {np.mean([value for cell, value in found.items() if cell.startswith(data)]):.3f}")
    return found


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """At most 300 rows with standardized columns, and their classes."""
    X, y = SETS[name]()
    some = np.random.default_rng(0).permutation(len(y))[:ROWS]
    return scale(X[some]), y[some]


def score(X: np.ndarray, y: np.ndarray, clues: cw.Clues, seed: int) -> float:
    """Agreement with the classes, rounded so that rounding is no difference."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = cw.Cluewise(len(np.unique(y)), random_state=seed).fit_predict(X, clues=clues)
    return round(float(ari(y, labels)), 4)


def judge(before: dict[str, float], after: dict[str, float]) -> list[tuple[str, float, float, bool]]:
    """For all cells, and for each kind of clues: words, mean difference, how likely by chance, is it a loss?"""
    if before.keys() != after.keys():
        raise SystemExit(f"the panel is not that of {FILE.name}; write new figures: make gate-quality ARGS=--renew")
    changes = {cell: after[cell] - before[cell] for cell in before}
    kinds = dict.fromkeys(cell.split(" | ")[1] for cell in changes)
    verdicts = []
    for name, values in {
        "all": list(changes.values()),
        **{kind: [change for cell, change in changes.items() if f"| {kind} |" in cell] for kind in kinds},
    }.items():
        mean, chance = float(np.mean(values)), chance_of(np.array(values))
        verdicts.append((name, mean, chance, mean < -LOSS and chance < CHANCE))
    return verdicts


def chance_of(changes: np.ndarray) -> float:
    """How often the changes, with random signs, have a sum as low as theirs."""
    changes = changes[changes != 0]
    if not len(changes):
        return 1.0
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(FLIPS, len(changes)))
    return float(np.mean(signs @ changes <= changes.sum() + 1e-12))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Does Cluewise find as good clusters as before?")
    parser.add_argument("--renew", action="store_true", help="write the figures instead of comparing with them")
    given = parser.parse_args(arguments)
    after = run_panel()
    if given.renew:
        FILE.write_text(json.dumps(after, indent=1) + "\n", "utf-8")
        print(f"written to {FILE}: mean ARI {np.mean(list(after.values())):.3f}")
        return 0
    verdicts = judge(json.loads(FILE.read_text("utf-8")), after)
    print(f"\n{'clues':28} {'change':>7}  {'by chance':>9}")
    for name, mean, chance, is_loss in verdicts:
        print(f"{name:28} {mean:+7.3f}  {chance:9.4f}  {'WORSE' if is_loss else ''}".rstrip())
    worse = [name for name, *_, is_loss in verdicts if is_loss]
    print(f"Worse than {FILE.name}: {', '.join(worse)}." if worse else f"Not worse than {FILE.name} beyond noise.")
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
