# ruff: noqa: D103, T201
"""How much is one call worth? ``python experiments/group_questions.py [--sets report]``

Pair questions, "which" and groups of eight rows, side by side: the adjusted Rand index after a number of calls. An
oracle answers; a pair is wrong with probability 0, 0.1 or 0.2, a question "which" too, and each row of a group is put
into another pile with this probability. Strategies are told the number of classes, and clusters are their own. At most
600 rows of each set, standardized; texts are tf-idf, reduced to 50 columns. Everything was chosen on ``--sets
development``, the default; ``--sets report`` is for the final table.

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
from front_door import load
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from cluewise import active
from cluewise.metrics import ari

SETS = {
    "development": ["satimage", "letter", "vowel", "isolet1560", "mnist", "coil20", "ecoli6", "glass", "text_pcmac"],
    "report": ["digits", "pendigits", "usps", "text_tr11", "text_tr45", "text_basehock"],
}
ERRORS = (0.0, 0.1, 0.2)
FEW, MANY = (25, 50, 100), (100, 200, 500, 1000)
SHOWN = (25, 50, 100, 200)
LONG = {"digits": SHOWN}  # where more calls are tried
COLUMNS = ["set", "error", "seed", "strategy", "calls", "ari"]
RESULTS = Path(__file__).parent / "results"
CONVERSATIONS: dict[str, tuple[Callable[[int], Any], tuple[int, ...]]] = {
    "pairs": (active.CluewiseQuestions, MANY),
    "which": (lambda k: active.GroupQuestions(k, questions="which"), FEW),
    "groups": (active.GroupQuestions, FEW),
}


def prepare(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(name)
    if sparse.issparse(X):
        X = normalize(TruncatedSVD(50, random_state=0).fit_transform(X))
    return np.ascontiguousarray(X), y


def talk(name: str, error: float, seed: int, spelled: str) -> list[dict[str, Any]]:
    """One conversation, and what its answers are worth."""
    X, y = prepare(name)
    make, checkpoints = CONVERSATIONS[spelled]
    checkpoints = LONG.get(name, checkpoints) if checkpoints == FEW else checkpoints
    strategy = make(int(y.max()) + 1)
    oracle = active.SimulatedOracle(y, error_rate=error, random_state=seed)
    state = active.interview(strategy, X, oracle, budget=checkpoints[-1], random_state=seed)
    found = []
    for calls in checkpoints:
        then = replace(state, answers=state.answers[:calls])
        row = {"set": name, "error": error, "seed": seed, "strategy": spelled, "calls": calls}
        found.append({**row, "ari": round(ari(y, strategy.clustering(then, X)), 5)})
    return found


def mean(rows: list[dict[str, Any]], **wanted: Any) -> str:
    found = [float(row["ari"]) for row in rows if all(str(row[name]) == str(value) for name, value in wanted.items())]
    return f"{np.mean(found):.3f}" if found else "–"


def report(rows: list[dict[str, Any]], sets: Sequence[str]) -> str:
    lines = ["# How much is one call worth?", "", (__doc__ or "").split("\n\n")[1], ""]
    rows = [row for row in rows if row["set"] in sets]
    lines += [f"Draws: {len({row['seed'] for row in rows})}. A dash was not run.", ""]
    for error in ERRORS:
        lines += [f"ARI with {error:.0%} wrong:".replace("%", " %"), ""]
        lines += ["| questions | calls | " + " | ".join(sets) + " | mean |", "|---" * (len(sets) + 3) + "|"]
        for spelled, (_, checkpoints) in CONVERSATIONS.items():
            for calls in checkpoints if checkpoints == MANY else SHOWN:
                wanted = {"error": error, "strategy": spelled, "calls": calls}
                cells = [mean(rows, **wanted, set=name) for name in sets]
                whole = mean(rows, **wanted) if "–" not in cells else "–"
                lines.append(f"| {spelled} | {calls} | " + " | ".join(cells) + f" | {whole} |")
        lines.append("")
    return "\n".join(lines)


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", choices=list(SETS), default="development")
    parser.add_argument("--only", nargs="*", default=None, help="some of these sets")
    parser.add_argument("--strategy", nargs="*", default=list(CONVERSATIONS))
    parser.add_argument("--errors", nargs="*", type=float, default=list(ERRORS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--csv", type=Path, default=RESULTS / "group_questions.csv")
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
        keys = [(n, e, s, c) for s in range(given.seeds) for e in given.errors for n in names for c in given.strategy]
        for key in keys:
            if key not in done:
                found = talk(*key)
                writer.writerows(found)
                file.flush()
                rows += found
                print(*key, *(f"{row['calls']}: {row['ari']}" for row in found), flush=True)
    text = report(rows, names)
    given.table.write_text(text) if given.table else print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
