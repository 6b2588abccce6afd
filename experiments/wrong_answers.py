# ruff: noqa: D103, T201
"""Which questions are worth asking if answers are wrong? ``python experiments/wrong_answers.py [--sets report]``

An oracle answers questions about pairs; 0, 10 or 20 % of its answers are wrong. After 50, 100 and 200 questions,
clusters are found by a clusterer from the answers so far, which is told the number of classes, or by the strategy
itself (in italics). The score is the adjusted Rand index; at most 400 rows of each set, standardized. Everything was
chosen on ``--sets development``, the default; ``--sets report`` is for the final table.

A finished conversation is a few lines in a CSV file; started again, the script goes on with what is missing.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from front_door import SETS, load

import cluewise as cw
from cluewise import active
from cluewise.metrics import ari

ROWS, BUDGET, CHECKPOINTS, ERRORS = 400, 200, (50, 100, 200), (0.0, 0.1, 0.2)
COLUMNS = ["set", "error", "seed", "strategy", "result", *map(str, CHECKPOINTS)]
RESULTS = Path(__file__).parent / "results"


def fit(method: type[Any]) -> Callable[..., Any]:
    return lambda strategy, state, X, k: method(k, random_state=state.seed).fit(X, clues=state.clues).labels_


def read(strategy: Any, state: active.State, X: Any, k: int) -> Any:
    return strategy.clustering(state, X)


CONVERSATIONS: dict[str, tuple[Callable[[int], active.Strategy], dict[str, Callable[..., Any]]]] = {
    "RandomPairs": (lambda k: active.RandomPairs(), {"Cluewise": fit(cw.Cluewise), "E2CP": fit(cw.E2CP)}),
    "PairsAtStake": (
        lambda k: active.PairsAtStake(),
        {"Cluewise": fit(cw.Cluewise), "E2CP": fit(cw.E2CP), "*itself*": read},
    ),
    "PairsAtStake, error rate learned": (
        lambda k: active.PairsAtStake(error_rate="learned"),
        {"Cluewise": fit(cw.Cluewise), "*itself*": read},
    ),
    "SuperInstances": (lambda k: active.SuperInstances(), {"*itself*": read}),
    "SuperInstances, error rate learned": (lambda k: active.SuperInstances(error_rate="learned"), {"*itself*": read}),
    "CluewiseQuestions": (active.CluewiseQuestions, {"*itself*": read}),
    "CluewiseQuestions, k not told": (lambda k: active.CluewiseQuestions(), {"*itself*": read}),
}


def talk(name: str, error: float, seed: int, spelled: str) -> list[dict[str, Any]]:
    """One conversation, and what its answers are worth."""
    X, y = load(name)
    X, y = X[:ROWS], np.unique(y[:ROWS], return_inverse=True)[1]
    X = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X)
    make, results = CONVERSATIONS[spelled]
    strategy, oracle = make(int(y.max()) + 1), active.SimulatedOracle(y, error_rate=error, random_state=seed)
    state = active.interview(strategy, X, oracle, budget=BUDGET, random_state=seed)
    found = []
    for result, find in results.items():
        row = {"set": name, "error": error, "seed": seed, "strategy": spelled, "result": result}
        for count in CHECKPOINTS:
            asked = np.cumsum([not answer.inferred for answer in state.answers])
            then = replace(state, answers=state.answers[: int(np.searchsorted(asked, count, side="right"))])
            row[str(count)] = round(ari(y, find(strategy, then, X, int(y.max()) + 1)), 5)
        found.append(row)
    return found


def report(rows: list[dict[str, Any]], sets: Sequence[str]) -> str:
    lines = ["# Which questions are worth asking if answers are wrong?", "", (__doc__ or "").split("\n\n")[1], ""]
    lines += [f"Mean ARI, with 0 / 10 / 20 % of the answers wrong, on {', '.join(sets)}.", ""]
    lines += ["| strategy | clusters | " + " | ".join(f"{c} questions" for c in CHECKPOINTS) + " | conversations |"]
    lines += ["|---" * (len(CHECKPOINTS) + 3) + "|"]
    for spelled, (_, results) in CONVERSATIONS.items():
        for result in results:
            mine = [r for r in rows if (r["strategy"], r["result"]) == (spelled, result) and r["set"] in sets]
            if not mine:
                continue
            cells = []
            for count in CHECKPOINTS:
                means = [[float(r[str(count)]) for r in mine if float(r["error"]) == error] for error in ERRORS]
                cells.append(" / ".join(f"{np.mean(one):.3f}" if one else "–" for one in means))
            lines.append(f"| {spelled} | {result} | " + " | ".join(cells) + f" | {len(mine)} |")
    return "\n".join(lines) + "\n"


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", choices=list(SETS), default="development")
    parser.add_argument("--only", nargs="*", default=None, help="some of these sets")
    parser.add_argument("--strategy", nargs="*", default=list(CONVERSATIONS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--csv", type=Path, default=RESULTS / "wrong_answers.csv")
    parser.add_argument("--table", type=Path, default=None, help="where to write the table; by default it is printed")
    given = parser.parse_args(words)
    names = given.only or SETS[given.sets]
    given.csv.parent.mkdir(parents=True, exist_ok=True)
    rows = list(csv.DictReader(given.csv.open(newline=""))) if given.csv.exists() else []
    done = {(row["set"], float(row["error"]), int(row["seed"]), row["strategy"]) for row in rows}
    warnings.simplefilter("ignore")
    with given.csv.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            writer.writeheader()
        for key in [(n, e, s, c) for s in range(given.seeds) for n in names for c in given.strategy for e in ERRORS]:
            if key not in done:
                found = talk(*key)
                writer.writerows(found)
                file.flush()
                rows += found
                print(*key, *(f"{row['result']} {row['100']}" for row in found), flush=True)
    text = report(rows, names)
    given.table.write_text(text) if given.table else print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
