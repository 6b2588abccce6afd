"""What should a broken link cost? Mean ARI of PCKMeans at three prices, with right and wrong links.

``python benchmarks/price.py [--draws 10] [NAME ...]`` on labelled sets that are on this machine: standardized columns,
1500 random rows at most, n/2 and 2n random pairs of which 0, 10 or 20 % say the opposite of the truth.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from cluewise import Clues, PCKMeans
from cluewise.base import Problem
from cluewise.core.seeding import neighborhood_centers
from cluewise.datasets import available, load
from cluewise.metrics import ari

SETS = (
    "iris", "wine", "glass", "ecoli6", "balance", "breast", "ionosphere", "sonar", "heart", "vowel", "zoo", "pima",
    "protein", "soybean_small", "pendigits", "satimage", "letter",
)  # fmt: skip
ROWS = 1500
SHARES = {"n/2": 0.5, "2n": 2.0}
WRONG = (0.0, 0.1, 0.2)
PRICES = ("former auto", "a third of it", "auto")


class Watched(PCKMeans):
    """PCKMeans that keeps its first centers."""

    def _solve(self, problem: Problem) -> Any:
        rows, spare = problem.rows, deepcopy(problem.rng)  # the fit draws the same centers again
        self.first = neighborhood_centers(self.init, rows, problem.clues, problem.k, spare) + rows.shift
        return super()._solve(problem)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Mean ARI of PCKMeans at several prices of a broken link.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: seventeen of UCI's)")
    parser.add_argument("--draws", type=int, default=10, help="draws of clues for every number (default: 10)")
    given = parser.parse_args(arguments)
    names, known = given.names or SETS, available()
    here = [name for name in names if name in known and known[name].origin != "OpenML"]
    if not here:
        parser.error("none of the data sets is on this machine; CLUEWISE_DATA names their folder.")
    scores = np.array([measure(name, given.draws) for name in here])
    print(table(here, scores))
    print(f"{given.draws} draws on each of {len(here)} sets: {', '.join(here)}")
    if len(here) < len(names):
        print(f"not on this machine: {', '.join(name for name in names if name not in here)}")


def measure(name: str, draws: int) -> np.ndarray:
    """Mean ARI on one set, (shares, wrong, 1 + prices); first without clues."""
    data = load(name, standardize=True)
    some = np.random.default_rng(0).permutation(len(data.y))[:ROWS]
    X, y = data.X[some], data.y[some]
    k = len(np.unique(y))
    scores = np.empty((draws, len(SHARES), len(WRONG), 1 + len(PRICES)))
    for seed in range(draws):
        scores[seed, ..., 0] = ari(y, PCKMeans(k, random_state=seed).fit_predict(X))
        for i, share in enumerate(SHARES.values()):
            for j, noise in enumerate(WRONG):
                clues = Clues.sample(y, pairs=round(share * len(y)), noise=noise, random_state=seed)
                former = former_price(X, clues, k, seed)
                for way, penalty in enumerate((former, former / 3, "auto"), start=1):
                    model = PCKMeans(k, penalty=penalty, random_state=seed).fit(X, clues=clues)
                    scores[seed, i, j, way] = ari(y, model.labels_)
    return scores.mean(axis=0)


def former_price(X: np.ndarray, clues: Clues, k: int, seed: int) -> float:
    """What "auto" once was: the mean of half the squared distance to the nearest first center."""
    first = Watched(k, n_init=1, max_iter=1, random_state=seed).fit(X, clues=clues).first
    squared = ((X**2).sum(axis=1)[:, None] - 2 * X @ first.T + (first**2).sum(axis=1)).min(axis=1)
    return float(0.5 * squared.mean()) or 1.0


def table(names: list[str], scores: np.ndarray) -> str:
    """One line for every amount of clues, share of wrong ones and price."""
    lines = [
        f"{'pairs':6}{'wrong':>6}  {'price':14}{'ARI':>6}{'gain':>8}  worst set",
        f"{'none':6}{'':6}  {'':14}{scores[..., 0].mean():6.3f}",
    ]
    gains = scores - scores[..., :1]
    for i, share in enumerate(SHARES):
        for j, noise in enumerate(WRONG):
            for way, words in enumerate(PRICES, start=1):
                mean, gain = scores[:, i, j, way].mean(), gains[:, i, j, way]
                worst = f"{gain.min():+.3f} {names[gain.argmin()]}"
                lines.append(f"{share:6}{noise:6.0%}  {words:14}{mean:6.3f}{gain.mean():+8.3f}  {worst}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
