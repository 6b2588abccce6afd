# ruff: noqa: D103, T201
"""Is a model with a person for every tenth question as good as the person alone? ``python experiments/person_last.py``

A model answers first; one in ten of its answers is wrong (in groups: of the rows). A person, who is never wrong, gets a
tenth of the questions (`PersonLast`), or answers alone, half as many questions. The score is the adjusted Rand index
of the clusters of the strategy, which is told the number of classes, with at most 600 rows of each set.

A finished conversation is a line in a CSV file; started again, the script goes on with what is missing.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from group_questions import RESULTS, prepare

from cluewise import active
from cluewise.metrics import ari

SETS = ["digits", "usps", "text_tr45"]
STRATEGIES: dict[str, tuple[Callable[[int], Any], int]] = {
    "groups": (active.GroupQuestions, 60),
    "pairs": (active.CluewiseQuestions, 200),
}
WHO = ["model", "model and person", "person, half", "person"]
COLUMNS = ["set", "strategy", "who", "seed", "calls", "person", "ari"]


def talk(name: str, spelled: str, who: str, seed: int) -> dict[str, Any]:
    X, y = prepare(name)
    make, calls = STRATEGIES[spelled]
    strategy = make(int(y.max()) + 1)
    model = active.SimulatedOracle(y, error_rate=0.1, random_state=seed, who="model")
    person = active.SimulatedOracle(y, who="person")
    share = {"model": 0.0, "model and person": 0.1}.get(who, 1.0)
    oracle = active.PersonLast(model, person, share=share) if share < 1 else person
    calls = calls // 2 if who == "person, half" else calls
    state = active.interview(strategy, X, oracle, budget=calls, random_state=seed)
    asked = sum(answer.who == "person" for answer in state.answers)
    found = {"set": name, "strategy": spelled, "who": who, "seed": seed, "calls": calls, "person": asked}
    return {**found, "ari": round(ari(y, strategy.clustering(state, X)), 5)}


def report(rows: list[dict[str, Any]]) -> str:
    lines = ["# A model first, a person last", "", (__doc__ or "").split("\n\n")[1], ""]
    lines += [
        "| questions | who | calls | of the person | " + " | ".join(SETS) + " | mean |",
        "|---" * (len(SETS) + 5) + "|",
    ]
    for spelled in STRATEGIES:
        for who in WHO:
            mine = [row for row in rows if (row["strategy"], row["who"]) == (spelled, who)]
            values = [[float(row["ari"]) for row in mine if row["set"] == name] for name in SETS]
            if all(values):
                cells = [f"{np.mean(one):.3f}" for one in [*values, [value for some in values for value in some]]]
                asked = np.mean([int(row["person"]) for row in mine])
                lines.append(f"| {spelled} | {who} | {mine[0]['calls']} | {asked:.0f} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strategy", nargs="*", default=list(STRATEGIES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--csv", type=Path, default=RESULTS / "person_last.csv")
    parser.add_argument("--table", type=Path, default=None, help="where to write the table; by default it is printed")
    given = parser.parse_args(words)
    given.csv.parent.mkdir(parents=True, exist_ok=True)
    rows = list(csv.DictReader(given.csv.open(newline=""))) if given.csv.exists() else []
    done = {(row["set"], row["strategy"], row["who"], int(row["seed"])) for row in rows}
    warnings.simplefilter("ignore")
    with given.csv.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        for key in [(n, c, w, s) for s in range(given.seeds) for c in given.strategy for n in SETS for w in WHO]:
            if key not in done:
                rows.append(talk(*key))
                writer.writerow(rows[-1])
                file.flush()
                print(*rows[-1].values(), flush=True)
    text = report(rows)
    given.table.write_text(text) if given.table else print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
