# ruff: noqa: D103, T201
"""Which questions are worth asking? ``python experiments/questions.py [--data iris wine] [--strategy Committee] …``

Each strategy asks a truthful oracle; after every 10 questions `PCKMeans` (true number of clusters, ``penalty="auto"``)
is fitted to the answers so far. The area under the curve is the mean adjusted Rand index over these checkpoints. A
question about a class, or about several rows at once, counts as the questions about pairs that it replaces: the row
compared with the classes seen so far, the nearest first, until somebody says yes.

Every finished cell (data, strategy, seed) is a line of a CSV file; started again, the script goes on with what is
missing. A strategy may be given with parameters, ``--strategy "ExploreConsolidate(questions='which')"``, and one that
finds clusters itself may be judged by these, ``--strategy "PairsAtStake: itself"``.
"""

from __future__ import annotations

import argparse
import ast
import csv
import inspect
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cluewise import PCKMeans
from cluewise.active import Answer, SimulatedOracle, Strategy, strategies
from cluewise.datasets import load

DATA = ["iris", "wine", "ecoli", "glass", "digits", "pendigits"]
SEED, BUDGET, EVERY = 2026, 200, 10
CHECKPOINTS = range(EVERY, BUDGET + 1, EVERY)
CURVE = [f"at_{c}" for c in CHECKPOINTS]
COLUMNS = ["data", "strategy", "seed", "area", "asked", "seconds", *CURVE, "starts", "closed"]
ITSELF = ": itself"
RESULTS = Path(__file__).parent / "results"


def made(spelled: str, k: int) -> Strategy:
    """The strategy that a text such as ``Name(parameter=value)`` describes; it is told k if it wants to know."""
    call = ast.parse(spelled, mode="eval").body
    name = call.func if isinstance(call, ast.Call) else call
    if not isinstance(name, ast.Name):
        raise ValueError(f"{spelled!r} is not the name of a strategy.")
    words = call.keywords if isinstance(call, ast.Call) else []
    given = {word.arg: ast.literal_eval(word.value) for word in words if word.arg}
    known = {one.__name__: one for one in strategies()}
    if name.id not in known:
        raise ValueError(f"there is no strategy {name.id!r}; there are {', '.join(sorted(known))}.")
    cls = known[name.id]
    wanted: dict[str, Any] = {"n_clusters": k} if "n_clusters" in inspect.signature(cls).parameters else {}
    return cls(**{**wanted, **given})


def cell(data: str, spelled: str, seed: int, starts: int, closed: bool) -> dict[str, Any]:
    """One conversation, and the curve of what its answers are worth."""
    X, y = table(data)
    k = len(np.unique(y))
    strategy, oracle, start = made(spelled.removesuffix(ITSELF), k), SimulatedOracle(y), time.perf_counter()
    state = strategy.start(X, budget=BUDGET, random_state=SEED + seed)
    paid: list[tuple[int, int]] = [(0, 0)]  # pairs paid for, and answers had for that
    seen: dict[object, list[int]] = {}
    while paid[-1][0] < BUDGET and (questions := strategy.ask(state, X)):
        answers = oracle(questions)
        cost = sum(price(X, answer, seen) for answer in answers)
        state = strategy.tell(state, answers)
        paid.append((paid[-1][0] + cost, len(state.answers)))
    seconds = time.perf_counter() - start
    curve = []
    for checkpoint in CHECKPOINTS:
        had = max(answers for cost, answers in paid if cost <= checkpoint)
        then = replace(state, answers=state.answers[:had])
        if spelled.endswith(ITSELF):
            labels = strategy.clustering(then, X)
        else:
            clues = then.clues.closed() if closed else then.clues
            labels = PCKMeans(k, penalty="auto", n_init=starts, random_state=SEED + seed).fit(X, clues=clues).labels_
        curve.append(adjusted_rand_score(y, labels))
    row = [data, spelled, seed, np.mean(curve), state.asked, seconds, *curve, starts, closed]
    return {name: f"{v:.5f}" if isinstance(v, float) else v for name, v in zip(COLUMNS, row, strict=True)}


def table(data: str) -> tuple[np.ndarray, np.ndarray]:
    found = load(data, standardize=True)
    return np.ascontiguousarray(found.X, dtype=float), np.asarray(found.y)


def price(X: np.ndarray, answer: Answer, seen: dict[object, list[int]]) -> int:
    """How many questions about pairs an answer replaces; ``seen`` collects the rows of each class."""
    row, *others = answer.question.rows
    if answer.question.kind == "pair":
        return 1
    if answer.question.kind == "which":
        near = sorted(others, key=lambda other: float(np.sum((X[row] - X[other]) ** 2)))
        return near.index(answer.value) + 1 if answer.value in near and answer.value is not False else len(near)
    away = {name: float(np.sum((X[row] - X[rows].mean(axis=0)) ** 2)) for name, rows in seen.items()}
    order = sorted(away, key=lambda name: away[name])
    cost = order.index(answer.value) + 1 if answer.value in away else len(order)
    seen.setdefault(answer.value, []).append(row)
    return cost


def report(rows: list[dict[str, Any]]) -> str:
    """Mean areas with standard errors, and what they are above random questions on the same seeds."""
    area: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        area.setdefault((row["data"], row["strategy"]), {})[int(row["seed"])] = float(row["area"])
    names = sorted({name for _, name in area})
    lines = ["# Which questions are worth asking?", "", (__doc__ or "").split("\n\n")[1], ""]
    for title, base in (("Mean area", None), ("Difference to RandomPairs, same seeds", "RandomPairs")):
        lines += [f"## {title} ± standard error", "", "| strategy | " + " | ".join(DATA) + " | mean |"]
        lines += ["|---" * (len(DATA) + 2) + "|"]
        for name in names:
            cells, means = [], []
            for data in DATA:
                own, other = area.get((data, name), {}), area.get((data, base or name), {})
                both = sorted(set(own) & set(other))
                values = np.array([own[s] - (other[s] if base else 0) for s in both])
                error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
                sign = "+" if base else ""
                cells.append(f"{values.mean():{sign}.3f} ± {error:.3f} ({len(both)})" if both else "")
                means += [values.mean()] if both else []
            mean = f"{np.mean(means):.3f}" if len(means) == len(DATA) else ""
            lines.append(f"| {name} | " + " | ".join(cells) + f" | {mean} |")
        lines.append("")
    at = [50, 100, 200]
    lines += [
        "## Mean ARI after " + " / ".join(map(str, at)) + " questions",
        "",
        "| strategy | " + " | ".join(DATA) + " |",
    ]
    lines += ["|---" * (len(DATA) + 1) + "|"]
    for name in names:
        cells = []
        for data in DATA:
            mine = [row for row in rows if (row["data"], row["strategy"]) == (data, name)]
            cells.append(
                " / ".join(f"{np.mean([float(row[f'at_{c}']) for row in mine]):.3f}" for c in at) if mine else ""
            )
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def finished(path: Path, starts: int, closed: bool) -> list[dict[str, Any]]:
    """The cells in a file, which all have to be of one kind: curves of different fits are no comparison."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        found, wanted = (row.get("starts"), row.get("closed")), (str(starts), str(closed))
        if found != wanted:
            raise ValueError(
                f"{path.name} has cells with --starts {found[0]} and closed={found[1]}, "
                f"not {wanted[0]} and {wanted[1]}; give another --csv."
            )
    return rows


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=DATA)
    parser.add_argument("--strategy", nargs="*", default=None, help="all of them by default")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--starts", type=int, default=5, help="of PCKMeans; 1 starts from the answers alone; one CSV each"
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--closed", action="store_true", help="write out what follows from the answers; one CSV each")
    parser.add_argument("--csv", type=Path, default=RESULTS / "questions.csv", help="where finished cells are kept")
    parser.add_argument("--table", type=Path, default=RESULTS / "questions.md", help="where the table is written")
    given = parser.parse_args(words)
    given.csv.parent.mkdir(parents=True, exist_ok=True)
    kind = given.starts, given.closed
    done = {(row["data"], row["strategy"], int(row["seed"])) for row in finished(given.csv, *kind)}
    names = given.strategy if given.strategy is not None else [one.__name__ for one in strategies()]
    for name in names:
        made(name.removesuffix(ITSELF), 2)  # a wrong name is told before anything is computed
    # Seeds outermost: stopped at any time, all strategies have been tried about equally often.
    seeds = range(given.first, given.first + given.seeds)
    wanted = [(data, name, seed) for seed in seeds for data in given.data for name in names]
    with ProcessPoolExecutor(given.jobs) as pool, given.csv.open("a", newline="") as file:
        if not file.tell():
            csv.writer(file).writerow(COLUMNS)
        left = [pool.submit(cell, *key, *kind) for key in wanted if key not in done]
        for future in as_completed(left):
            row = future.result()
            csv.writer(file).writerow([row[name] for name in COLUMNS])
            file.flush()
            print(
                f"{row['data']:10} {row['strategy']:24} seed {row['seed']:3}  area {row['area']}  {row['seconds']} s",
                flush=True,
            )
    given.table.write_text(report(finished(given.csv, *kind)))


if __name__ == "__main__":
    main(sys.argv[1:])
