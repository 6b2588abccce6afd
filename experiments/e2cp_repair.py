# ruff: noqa: D103
"""Is E2CP better with votes and trust than as published? ``python experiments/e2cp_repair.py [PART]``

``run``     Up to 500 or 600 rows of each set below, standardized (50 principal components where there are more
            columns), with 50, n/2 and 2n pairs or labels for 5, 20 and 50 % of the rows, none or a fifth of them wrong.
            "Before" is the published profile on a graph in which equal rows are each other's neighbors, as it was.
``write``   Mean adjusted Rand index by setting and by set, and harm: how often it is more than 0.02 below the same
            method without clues; into ``experiments/results/e2cp_repair.md``. Constants were chosen on one half.

A case is kept in ``experiments/results/e2cp_repair.jsonl``; what is there is not run again. ``--seeds 3``.
"""

from __future__ import annotations

import argparse
import json
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import cluewise as cw
from cluewise.core.graphs.affinity import _distinct_affinity

CHOOSE = [
    "iris", "glass", "balance", "zoo", "ecoli", "shape_aggregation", "shape_spiral", "vowel", "sonar", "text_tr11",
]  # fmt: skip
REPORT = [
    "wine", "breast", "ionosphere", "soybean_small", "heart", "shape_compound", "shape_jain", "satimage", "pendigits",
    "usps", "tic_tac_toe", "pima",
]  # fmt: skip
RESULTS = Path(__file__).parent / "results"
CASES = RESULTS / "e2cp_repair.jsonl"
NONE = "no clues"


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = cw.datasets.load(name)
    X, y = data.X, data.y
    rows = 500 if name in CHOOSE else 600
    if len(X) > rows:
        some = np.sort(np.random.default_rng(zlib.crc32(name.encode())).permutation(len(X))[:rows])
        X, y = X[some], y[some]
    X = StandardScaler().fit_transform(X)
    return (PCA(50, random_state=0).fit_transform(X) if X.shape[1] > 50 else X), np.unique(y, return_inverse=True)[1]


def settings(n: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {NONE: {}}
    for wrong in (0.0, 0.2):
        said = f", {wrong:.0%} wrong"
        found |= {
            f"{title} pairs{said}": {"pairs": m, "noise": wrong}
            for title, m in (("50", 50), ("n/2", n // 2), ("2n", 2 * n))
        }
        found |= {f"labels of {part:.0%}{said}": {"labels": part, "label_noise": wrong} for part in (0.05, 0.2, 0.5)}
    return found


def scores(X: np.ndarray, y: np.ndarray, clues: Any) -> dict[str, float]:
    k = int(y.max()) + 1
    after = cw.E2CP(k, random_state=0).fit(X, clues=clues).labels_
    plain = lambda X, n_neighbors, weights: _distinct_affinity(X, n_neighbors, weights, None)  # noqa: E731
    with mock.patch("cluewise.spectral._base.neighbor_affinity", plain):
        before = cw.E2CP(k, profile="published", random_state=0).fit(X, clues=clues).labels_
    return {"before": float(cw.metrics.ari(y, before)), "after": float(cw.metrics.ari(y, after))}


def done() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text().splitlines()] if CASES.exists() else []


def run(seeds: int) -> None:
    known = {(case["set"], case["setting"], case["seed"]) for case in done()}
    with CASES.open("a") as file:
        for name in CHOOSE + REPORT:
            X, y = load(name)
            for setting, how in settings(len(X)).items():
                for seed in range(seeds if how else 1):
                    if (name, setting, seed) not in known:
                        clues = cw.Clues.sample(y, random_state=seed, **how) if how else None
                        case = {"set": name, "setting": setting, "seed": seed, **scores(X, y, clues)}
                        file.write(json.dumps(case) + "\n")
                        file.flush()


def table(cases: list[dict[str, Any]], by: str) -> Iterator[str]:
    plain = {(case["set"], way): case[way] for case in cases if case["setting"] == NONE for way in ("before", "after")}
    yield f"| {by} | without clues, before | after | with clues, before | after | harm before, % | after |"
    yield "|---|---|---|---|---|---|---|"
    fitted = [case for case in cases if case["setting"] != NONE]
    for value in [*dict.fromkeys(case[by] for case in fitted), "all"]:
        some = [case for case in fitted if value in ("all", case[by])]
        means, harms, bases = [], [], []
        for way in ("before", "after"):
            got, base = (np.array(v) for v in zip(*((case[way], plain[case["set"], way]) for case in some)))
            means.append(f"{got.mean():.3f}")
            harms.append(f"{100 * np.mean(got < base - 0.02):.0f}")
            bases.append(f"{base.mean():.3f}")
        yield f"| {value} | {' | '.join(bases + means + harms)} |"


def lines() -> Iterator[str]:
    yield "# E2CP as published, and with votes and trust\n"
    yield "Made by `experiments/e2cp_repair.py`. Mean adjusted Rand index; harm: more than 0.02 below the same method"
    yield "without clues."
    for title, names in (("Sets on which constants were chosen", CHOOSE), ("Other sets", REPORT)):
        cases = [case for case in done() if case["set"] in names]
        for by in ("setting", "set"):
            yield f"\n## {title}, by {by}\n"
            yield from table(cases, by)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", default="all", choices=["all", "run", "write"])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.part != "write":
        run(given.seeds)
    if given.part != "run":
        (RESULTS / "e2cp_repair.md").write_text("\n".join(lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
