# ruff: noqa: D103, T201
"""Which partitions does an update of SCSC favor? ``python experiments/scsc_favored.py [NAME ...]``

After five tiers of 100 pairs: NMI of single partitions, averaged by their weights; how certain memberships are (mean
of ‖F_i‖²: 1 if all partitions agree, 1/r if they are spread evenly); how many partitions count (1 / Σγ²); NMI.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from scsc_tiers import PAIRS, PARTITIONS, TIERS

from cluewise import SCSC, Clues
from cluewise.datasets import load
from cluewise.ensemble import partitions
from cluewise.metrics import nmi

SEED, ROWS, DRAWS = 2026, 20_000, 5
RULES = {"no pairs": None, "relaxed, 10": {}, "relaxed, 1": {"inertia": 1.0}, "exact, auto": {"update_rule": "exact"}}


def main(names: Sequence[str], m: int = PARTITIONS) -> None:
    for name in names:
        data = load(name)
        some = np.random.default_rng(SEED).permutation(len(data.y))[:ROWS]
        X, y = np.asarray(data.X)[some], data.y[some]
        k = len(np.unique(y))
        labels = partitions(X, n_partitions=m, n_clusters=k, random_state=[SEED, 0])
        single = np.array([nmi(y, own) for own in labels])
        low, middle, high, best = np.quantile(single, [0.1, 0.5, 0.9, 1])
        print(f"{name}: single NMI 10 % {low:.3f}, median {middle:.3f}, 90 % {high:.3f}, best {best:.3f}; r = {k}")
        for rule, options in RULES.items():
            found = np.mean([after(labels, y, k, options, single, draw) for draw in range(DRAWS)], axis=0)
            print("  {:12} single {:.3f}  certain {:.3f}  count {:3.0f}  NMI {:.3f}".format(rule, *found), flush=True)


def after(
    labels: np.ndarray, y: np.ndarray, k: int, options: dict[str, Any] | None, single: np.ndarray, draw: int
) -> list[float]:
    model = SCSC.from_partitions(labels, k, **(options or {}))
    for tier in range(TIERS if options is not None else 0):
        model.update(Clues.sample(y, pairs=PAIRS, random_state=[SEED, 0, draw, tier]))
    gamma, certain = model.gamma_, (model.memberships() ** 2).sum(axis=1).mean()
    return [gamma @ single, certain, 1 / (gamma**2).sum(), nmi(y, model.labels_)]


if __name__ == "__main__":
    main(sys.argv[1:] or ["coil20", "usps", "covtype"])
