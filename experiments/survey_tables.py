# ruff: noqa: D103, T201
"""Does advice help against clues that hurt? ``python experiments/survey_tables.py [NAME ...]``

The sets of clues, starts and methods are those of Table 1 of the survey, which `reproduce` tells how often clues hurt
(``reproduce/tables/survey``): 25 true pairs, one start, the unadjusted Rand index, with and without the clues. With
clues PKM and MPKM start from the groups of the must-links, without from k-means++; the others start at one place.

The last table asks what predicts the change. The others follow advice: the doctor's (`cluewise.check`), whose score
was learned in `harm.py`, where harm is an adjusted Rand index more than 0.02 lower; do no harm (use clues only if clues
that were held out come out better); and that of `ClueSearchCV` with and without clues.

Cases go into ``results/survey_<name>.csv`` as they come, the tables into ``results/survey_tables.md``; ``--report``
only writes the tables.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from reproduce.tables.survey.runs import DATA, METHODS, SEED, drawn, models
from scipy.stats import spearmanr
from sklearn.base import clone

import cluewise
from cluewise import Clues, ClueSearchCV, Infeasible, Undecided
from cluewise.datasets import load
from cluewise.metrics import coherence, informativeness, metric_agreement, rand

RESULTS = Path(__file__).resolve().parent / "results"
PREDICTORS = ("informativeness", "coherence", "agreement")
Cases: TypeAlias = dict[tuple[str, str], list[dict[str, str]]]  # by data set and method


def run(name: str, sets: int) -> None:
    data = load(name)
    X, y = np.asarray(data.X, dtype=float), data.y
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"survey_{name}.csv").open("w", newline="") as file:
        writer = None
        for s in range(sets):
            clues = drawn(y, s)
            shared = {"set": s, "coherence": coherence(X, clues), "agreement": metric_agreement(X, clues)}
            for method, model in models(len(np.unique(y)), X, s).items():
                case = shared | {"method": method} | outcome(model, X, y, clues) | advice(model, X, clues, s)
                if writer is None:
                    writer = csv.DictWriter(file, list(case))
                    writer.writeheader()
                writer.writerow(case)
            file.flush()


def outcome(model: Any, X: np.ndarray, y: np.ndarray, clues: Clues) -> dict[str, Any]:
    plain = clone(model).fit(X).labels_
    try:
        told: float | str = rand(y, clone(model).fit(X, clues=clues).labels_)
    except (Infeasible, Undecided):
        told = "failed"
    return {"informativeness": informativeness(plain, clues), "without": rand(y, plain), "with": told}


def advice(model: Any, X: np.ndarray, clues: Clues, seed: int) -> dict[str, Any]:
    """What the doctor, held-out clues and the search say of this method from this start."""
    found = cluewise.check(clues, X, estimator=model, random_state=seed)
    assert found.trial is not None  # 25 pairs are enough to hold some out
    search = ClueSearchCV([model], random_state=seed).fit(X, clues=clues)
    return {"harmful": found.harmful, "harm": found.harm, "gain": found.trial.gain, "search": search.uses_clues_}


# --- tables -----------------------------------------------------------------------------------------------


def read(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"survey_{name}.csv").open(newline="") as file:
        return [case for case in csv.DictReader(file) if case["with"] != "failed"]


def changes(cases: list[dict[str, str]]) -> np.ndarray:
    return np.array([float(case["with"]) - float(case["without"]) for case in cases])


def correlations(cases: Cases) -> list[str]:
    lines = ["## Rank correlation with the change of the Rand index", ""]
    lines += [f"| data | method | {' | '.join(PREDICTORS)} |", "|---|---|---|---|---|"]
    for (name, method), rows in cases.items():
        change, found = changes(rows), []
        for column in PREDICTORS:
            values = [float(row[column]) for row in rows]
            flat = np.ptp(values) == 0 or np.ptp(change) == 0
            found.append("–" if flat else f"{spearmanr(values, change)[0]:+.2f}")
        lines.append(f"| {name} | {method} | {' | '.join(found)} |")
    return lines


def advised(cases: Cases) -> list[str]:
    rules: dict[str, Callable[[dict[str, str]], bool]] = {
        "always": lambda r: True,
        "doctor": lambda r: r["harmful"] != "True",
        "held-out": lambda r: float(r["gain"]) > 0,
        "ClueSearchCV": lambda r: r["search"] == "True",
    }
    lines = ["## Harmful fits in percent, always with clues and when advice is followed", ""]
    lines += [f"| data | method | sets | {' | '.join(rules)} |", "|---|---|---|" + "---|" * len(rules)]
    total: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {rule: [] for rule in rules}
    for (name, method), rows in cases.items():
        change, shares = changes(rows), []
        for rule, use in rules.items():
            used = np.array([use(r) for r in rows])
            total[rule].append((change, used))
            shares.append(f"{100 * np.mean(used & (change < -1e-12)):.0f}")
        lines.append(f"| {name} | {method} | {len(rows)} | {' | '.join(shares)} |")
    lines += [
        "",
        "| | used, % | harmful fits, % | of that without advice | helpful fits kept, % | gains kept, % | mean change |",
    ]
    lines += ["|---|---|---|---|---|---|---|"]
    base = None
    for rule, parts in total.items():
        change, used = (np.concatenate(column) for column in zip(*parts))
        harm, up = np.mean(used & (change < -1e-12)), change > 1e-12
        base = harm if base is None else base
        kept, gains = used[up].mean(), change[used & up].sum() / change[up].sum()
        row = [used.mean(), harm, harm / base, kept, gains]
        lines.append(
            f"| {rule} | {' | '.join(f'{100 * v:.0f}' for v in row)} | {np.where(used, change, 0).mean():+.4f} |"
        )
    return lines


def report(names: list[str]) -> str:
    every = {name: read(name) for name in names}
    cases = {(name, m): [row for row in every[name] if row["method"] == m] for name in names for m in METHODS}
    head = ["# Does advice help against clues that hurt?", ""]
    head += [f"The first sets of 25 pairs of Table 1 of the survey (seed {SEED}), as many as the table says.", ""]
    return "\n".join([*head, *advised(cases), "", *correlations(cases), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(DATA))
    parser.add_argument("--sets", type=int, default=200, help="sets of clues per data set")
    parser.add_argument("--report", action="store_true", help="write the tables from the cases that are there")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in [] if given.report else given.names:
        run(name, given.sets)
    text = report([name for name in DATA if (RESULTS / f"survey_{name}.csv").exists()])
    (RESULTS / "survey_tables.md").write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
