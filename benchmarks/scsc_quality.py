"""Which update of SCSC raises agreement with the truth? NMI over tiers of new pairs, several rules and inertias.

``python benchmarks/scsc_quality.py [--ensembles 3] [--draws 5] [NAME ...]`` on labelled sets that are on this machine.
Each ensemble has 300 partitions; each draw gives five tiers of 100 random pairs; all rules see the same ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from cluewise import Clues
from cluewise.datasets import available, load
from cluewise.ensemble._scsc import SCSC
from cluewise.metrics import nmi

SETS = ("coil20", "usps")
ROWS = 20_000
TIERS, PAIRS, PARTITIONS = 5, 100, 300
RULES: dict[str, dict[str, Any]] = {
    "relaxed, inertia 1": {"update_rule": "relaxed", "inertia": 1.0},
    "relaxed, inertia 3": {"update_rule": "relaxed", "inertia": 3.0},
    "relaxed, auto (10)": {"update_rule": "relaxed"},
    "relaxed, inertia 30": {"update_rule": "relaxed", "inertia": 30.0},
    "relaxed, all, auto (10)": {"update_rule": "relaxed", "memory": "all"},
    "relaxed, auto, kmeans": {"update_rule": "relaxed", "hard": "kmeans"},
    "exact, auto": {"update_rule": "exact"},
    "exact, inertia 10000": {"update_rule": "exact", "inertia": 10000.0},
    "exact, all": {"update_rule": "exact", "memory": "all"},
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="NMI of SCSC over tiers of new pairs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"data sets (default: {', '.join(SETS)})")
    parser.add_argument("--ensembles", type=int, default=3, help="ensembles for each set (default: 3)")
    parser.add_argument("--draws", type=int, default=5, help="draws of pairs for each ensemble (default: 5)")
    given = parser.parse_args(arguments)
    names, known = given.names or SETS, available()
    here = [name for name in names if name in known and known[name].origin != "OpenML"]
    if not here:
        parser.error("none of the data sets is on this machine; CLUEWISE_DATA names their folder.")
    for name in here:
        begin = perf_counter()
        scores = measure(name, given.ensembles, given.draws)
        print(table(name, scores))
        print(f"({perf_counter() - begin:.0f} s)\n", flush=True)


def measure(name: str, ensembles: int, draws: int) -> np.ndarray:
    """NMI, (ensembles · draws, rules, 1 + tiers); tier 0 is before any pair."""
    data = load(name)
    some = np.random.default_rng(0).permutation(len(data.y))[:ROWS]
    X, y = np.asarray(data.X)[some], data.y[some]
    k = len(np.unique(y))
    scores = np.empty((ensembles, draws, len(RULES), 1 + TIERS))
    for e in range(ensembles):
        made = SCSC(k, n_partitions=PARTITIONS, random_state=e).fit(X)
        labels = made._ensemble.labels
        for d in range(draws):
            tiers = [Clues.sample(y, pairs=PAIRS, random_state=[e, d, t]) for t in range(TIERS)]
            for r, rule in enumerate(RULES.values()):
                model = SCSC.from_partitions(labels, k, **rule)
                scores[e, d, r, 0] = nmi(y, model.labels_)
                for t, clues in enumerate(tiers):
                    scores[e, d, r, 1 + t] = nmi(y, model.update(clues).labels_)
    return scores.reshape(-1, len(RULES), 1 + TIERS)


def table(name: str, scores: np.ndarray) -> str:
    heads = "".join(f"{f't{t}':>17}" for t in range(1 + TIERS))
    lines = [f"{name}: mean NMI ± standard deviation over {len(scores)} draws", f"{'':26}{heads}{'gain > 0':>10}"]
    for r, rule in enumerate(RULES):
        mean, spread = scores[:, r].mean(axis=0), scores[:, r].std(axis=0)
        cells = "".join(f"{f'{a:.4f} ± {b:.4f}':>17}" for a, b in zip(mean, spread))
        better = (scores[:, r, -1] > scores[:, r, 0]).mean()
        lines.append(f"{rule:26}{cells}{better:>10.0%}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
