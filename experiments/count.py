# ruff: noqa: D103, T201
"""Does `Cluewise` find the number of clusters? ``python experiments/count.py [run | report]``

At most 600 rows of each set, and clues drawn as by ``front_door.py``. `Cluewise` is fitted without and with the number
of classes; `cw.suggest` only if it is named, as it is slow: ``--methods "*"``. One setting has pairs that say nothing:
drawn as those of n/2, but about rows in another order. Everything is chosen on ``--sets development``, the default;
``--sets report`` is for the final report. A run is a line in ``experiments/results/count.csv``; what is there is not
run again. Seconds are of CPU; set OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from front_door import SEED, SETS, SETTINGS, densify, draw, load, match, table

import cluewise as cw

NOISE = "n/2 pairs, nothing but noise"
CHOSEN = [
    *(f"{amount} pairs, {wrong} % wrong" for amount, wrong in (("n/2", 0), ("n/2", 10), ("n/2", 20), ("2n", 0))),
    "5 % labels, 0 % wrong",
    NOISE,
]
METHODS: dict[str, Callable[[Any, Any, int, int], Any]] = {
    "Cluewise": lambda X, clues, k, seed: cw.Cluewise(n_jobs=1, random_state=seed).fit(X, clues=clues),
    "Cluewise, k told": lambda X, clues, k, seed: cw.Cluewise(k, n_jobs=1, random_state=seed).fit(X, clues=clues),
    "suggest": lambda X, clues, k, seed: cw.suggest(densify(X), clues, random_state=seed).best,
}
TOLD = "Cluewise, k told"
USUAL = ["Cluewise", TOLD]
KEY = ("set", "setting", "method", "seed")
COLUMNS = (*KEY, "classes", "found", "ari", "seconds")
RESULTS = Path(__file__).parent / "results"


def draw_clues(name: str, y: np.ndarray, setting: str, seed: int) -> tuple[Any, np.ndarray]:
    """Clues, and the rows that are judged."""
    if setting == NOISE:
        moved = np.random.default_rng([SEED, seed]).permutation(y)
        return draw(name, moved, SETTINGS["n/2 pairs, 0 % wrong"], seed).clues, np.ones(len(y), dtype=bool)
    given = draw(name, y, SETTINGS[setting], seed)
    return given.clues, given.judged


def run(path: Path, sets: Sequence[str], settings: Sequence[str], methods: Sequence[str], seeds: int) -> None:
    done = {tuple(row[name] for name in KEY) for row in read(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    for seed in range(seeds):
        for name in sets:
            X, y = load(name)
            k = int(y.max()) + 1
            for setting in settings:
                clues, judged = draw_clues(name, y, setting, seed)
                for method in methods:
                    key = (name, setting, method, str(seed))
                    if key in done:
                        continue
                    start = time.process_time()
                    model = METHODS[method](X, clues, k, seed)
                    seconds = time.process_time() - start
                    found = len(np.unique(model.labels_))
                    score = cw.metrics.ari(y[judged], model.labels_[judged])
                    line = [*key, str(k), str(found), f"{score:.4f}", f"{seconds:.2f}"]
                    with path.open("a", encoding="utf-8", newline="") as file:
                        csv.writer(file, lineterminator="\n").writerow(line)
                    print(*line, sep=" | ", flush=True)


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def report(rows: list[dict[str, str]]) -> Iterator[str]:
    sets = list(dict.fromkeys(row["set"] for row in rows))
    seeds = len({row["seed"] for row in rows})
    yield "# Does `Cluewise` find the number of clusters?\n"
    yield f"Made by `experiments/count.py`: at most 600 rows of each set, draws: up to {seeds}."
    yield f"{len(sets)} sets: {', '.join(sets)}.\n"
    told = {tuple(row[name] for name in ("set", "setting", "seed")): row for row in rows if row["method"] == TOLD}
    lines = []
    for setting in CHOSEN:
        for method in (name for name in METHODS if name != TOLD):
            here = [row for row in rows if (row["setting"], row["method"]) == (setting, method)]
            if not here:
                continue
            off = np.array([int(row["found"]) - int(row["classes"]) for row in here])
            pairs = [(row, told.get((row["set"], row["setting"], row["seed"]))) for row in here]
            both = np.array([(float(a["ari"]), float(b["ari"])) for a, b in pairs if b]).reshape(-1, 2)
            seconds = np.array([float(row["seconds"]) for row in here])
            share = [f"{100 * np.mean(np.abs(off) <= most):.0f} %" for most in (0, 1)]
            count = f"{np.mean([int(row['found']) for row in here]):.1f}"
            means = [f"{value:.3f}" for value in both.mean(axis=0)]
            lines.append([setting, method, str(len(here)), *share, count, *means, f"{np.median(seconds):.1f}"])
    head = ["clues", "method", "runs", "exact", "within one", "mean number", "mean ARI", "number told", "median s"]
    yield from table(head, lines)
    yield "\n## Numbers found, in all draws\n"
    ours = [row for row in rows if row["method"] == "Cluewise"]
    settings = [setting for setting in CHOSEN if any(row["setting"] == setting for row in ours)]
    lines = []
    for name in sets:
        own = [row for row in ours if row["set"] == name]
        found = [", ".join(row["found"] for row in own if row["setting"] == setting) for setting in settings]
        lines.append([name, own[0]["classes"], *found])
    yield from table(["set", "classes", *settings], lines)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", default="run", choices=["run", "report"])
    parser.add_argument("--sets", nargs="+", default=["development"], help="development, report, or names of sets")
    parser.add_argument("--settings", nargs="+", default=["*"], help="names or patterns")
    parser.add_argument("--methods", nargs="+", default=USUAL, help="names or patterns")
    parser.add_argument("--seeds", type=int, default=3, help="how many")
    parser.add_argument("--csv", type=Path, default=RESULTS / "count.csv", help="where runs are kept")
    parser.add_argument("--table", type=Path, help="where the report is written as well")
    given = parser.parse_args(words)
    named = [name for group in given.sets for name in SETS.get(group, [group])]
    settings, methods = match(given.settings, CHOSEN, "setting"), match(given.methods, METHODS, "method")
    warnings.simplefilter("ignore")
    if given.part == "run":
        run(given.csv, named, settings, methods, given.seeds)
        return
    rows = [r for r in read(given.csv) if r["set"] in named and r["setting"] in settings]
    rows = [r for r in rows if int(r["seed"]) < given.seeds and (r["method"] in methods or given.methods == USUAL)]
    if not any(row["method"] == "Cluewise" for row in rows):
        raise SystemExit(f"nothing of this was run; {given.csv} has {len(read(given.csv))} other runs.")
    page = "\n".join(report(rows)) + "\n"
    print(page, end="")
    if given.table:
        given.table.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
