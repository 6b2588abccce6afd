# ruff: noqa: D102, D103, T201
"""What are clues worth as people give them? ``python experiments/people.py [run | report | drop]``

``front_door.py`` draws pairs and rows at random. People label the classes they know, put together what belongs
together, correct what they see, or look at pairs that are hard. Each setting is such a habit; all methods see the same
clues about the same rows (at most 500 of each set) and are told the number of classes unless the setting says
otherwise. The score is the adjusted Rand index of all rows, with labels of the rows without one.

Everything in `Cluewise` is chosen on ``--sets development``, the default; ``--sets report`` is for the final report.
A run is a line in ``experiments/results/people.csv``; what is there is not run again, and several processes may run at
once on different sets. Set OMP_NUM_THREADS=1: seconds are those of all threads.
"""

from __future__ import annotations

import argparse
import csv
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from front_door import (
    BASE,
    METHODS,
    OURS,
    PLAIN,
    SEED,
    SETS,
    SMALL,
    Draw,
    Fit,
    Problem,
    densify,
    drop,
    judge,
    load,
    match,
    read,
    table,
    try_method,
)
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

import cluewise as cw
from cluewise.active import PairsAtStake, SimulatedOracle, interview

ROWS = 500
NEAR = 10  # neighbors of a row, one of which is the other end of a near pair
USUAL = [OURS, PLAIN, BASE, "E2CP", "PCKMeans"]
RESULTS = Path(__file__).parent / "results"
KEY = ("set", "setting", "method", "seed")
COLUMNS = (*KEY, "ari", "seconds", "trust", "right", "sure", "sure_wrong", "harm", "failed", "found")


class Task(NamedTuple):
    """Rows, their classes, and the chance that clues are drawn by."""

    X: np.ndarray
    y: np.ndarray
    rng: np.random.Generator

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def k(self) -> int:
        return int(self.y.max()) + 1


# --- what people look at, and what they say


def answer(task: Task, ends: np.ndarray, wrong: float = 0.0, **options: Any) -> Draw:
    """Say of each pair whether it is in one class, for a share of the pairs the opposite."""
    ends = drop_repeated(ends)
    said = (task.y[ends[:, 0]] == task.y[ends[:, 1]]) ^ (task.rng.permutation(len(ends)) < round(wrong * len(ends)))
    return grade(task, cw.Clues(task.n, must=ends[said], cannot=ends[~said], **options))


def drop_repeated(ends: np.ndarray) -> np.ndarray:
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    return ends[ends[:, 0] != ends[:, 1]]


def grade(task: Task, clues: cw.Clues) -> Draw:
    """See which links are wrong."""
    wrong = [task.y[pairs[:, 0]] == task.y[pairs[:, 1]] for pairs in (clues.must, clues.cannot)]
    bad = np.concatenate([~wrong[0], wrong[1]])
    return Draw(clues, np.ones(task.n, dtype=bool), bad, 1 - float(bad.mean()) if len(bad) else 1.0)


def name(task: Task, rows: np.ndarray, said: np.ndarray) -> Draw:
    """Give rows labels."""
    labels = np.full(task.n, -1)
    labels[rows] = said
    right = np.mean(task.y[rows] == said) if len(rows) else 1.0
    return Draw(cw.Clues(task.n, labels=labels), labels < 0, np.zeros(0, dtype=bool), float(right))


def label_some_classes(task: Task, classes: float, share: float) -> Draw:
    """Label a share of the rows of some classes; of the others nothing is said."""
    count = max(1, round(classes * task.k))
    known = task.rng.permutation(task.k)[:count]
    each = [np.flatnonzero(task.y == c) for c in known]
    rows = np.concatenate([task.rng.permutation(own)[: max(1, round(share * len(own)))] for own in each])
    return name(task, rows, task.y[rows])


def label_all(task: Task, share: float) -> np.ndarray:
    order = task.rng.permutation(task.n)
    firsts = np.unique(task.y[order], return_index=True)[1]  # a row of each class
    order = np.concatenate([order[firsts], np.delete(order, firsts)])
    return order[: max(round(share * task.n), len(firsts))]


def confuse_labels(task: Task, share: float, wrong: float) -> Draw:
    """Label rows of all classes, and take some for the class that looks most alike."""
    rows = label_all(task, share)
    said = task.y[rows].copy()
    bad = task.rng.permutation(len(rows)) < round(wrong * len(rows))
    said[bad] = look_alike(task)[said[bad]]
    return name(task, rows, said)


def label_coarsely(task: Task, share: float) -> Draw:
    """Label rows by pairs of classes that look alike: coarser than the truth."""
    coarse = np.full(task.k, -1)
    for c, other in enumerate(look_alike(task)):
        if coarse[c] < 0:
            coarse[c] = coarse[other] if coarse[other] >= 0 else coarse.max() + 1
    rows = label_all(task, share)
    return name(task, rows, coarse[task.y[rows]])


def look_alike(task: Task) -> np.ndarray:
    """For each class the one with the nearest mean."""
    means = np.array([task.X[task.y == c].mean(axis=0) for c in range(task.k)])
    far = ((means[:, None] - means) ** 2).sum(axis=2)
    np.fill_diagonal(far, np.inf)
    return far.argmin(axis=1)


def draw_pairs(task: Task, count: int, rows: np.ndarray | None = None) -> np.ndarray:
    rows = np.arange(task.n) if rows is None else rows
    return rows[task.rng.integers(len(rows), size=(count, 2))]


def draw_until(task: Task, same: bool, count: int) -> np.ndarray:
    """Random pairs of one class, or of two."""
    found = np.empty((0, 2), dtype=int)
    while len(found) < count:
        more = draw_pairs(task, 4 * count)
        keep = (task.y[more[:, 0]] == task.y[more[:, 1]]) == same
        found = np.concatenate([found, more[keep & (more[:, 0] != more[:, 1])]])
    return found[:count]


def draw_near(task: Task, count: int) -> np.ndarray:
    near = NearestNeighbors(n_neighbors=min(NEAR + 1, task.n)).fit(task.X).kneighbors(return_distance=False)
    first = task.rng.integers(task.n, size=count)
    return np.column_stack([first, near[first, task.rng.integers(near.shape[1], size=count)]])


def group_rows(task: Task, groups: int, size: int) -> Draw:
    """Put rows of one class together, some at a time; no row is in two groups."""
    codes = np.full(task.n, -1)
    for number in range(groups):
        free = np.flatnonzero(codes < 0)
        if not len(free):
            break
        own = free[task.y[free] == task.y[task.rng.choice(free)]]
        codes[task.rng.permutation(own)[:size]] = number
    return Draw(cw.Clues(task.n, together=codes), np.ones(task.n, dtype=bool), np.zeros(0, dtype=bool), 1.0)


def draw_corrections(task: Task, count: int) -> np.ndarray:
    """Pairs that k-means gets wrong."""
    labels = KMeans(task.k, n_init=10, random_state=0).fit_predict(task.X)
    pairs = draw_pairs(task, 200 * count)
    i, j = pairs.T
    pairs = pairs[((labels[i] == labels[j]) != (task.y[i] == task.y[j])) & (i != j)]
    return pairs[:count]


def draw_border(task: Task, count: int) -> np.ndarray:
    """Pairs of rows that are about as near to a second center as to the first."""
    far = np.sort(KMeans(task.k, n_init=10, random_state=0).fit(task.X).transform(task.X), axis=1)
    rows = np.argsort(far[:, 1] - far[:, 0])[: max(task.n // 5, 4)]
    return draw_pairs(task, count, rows)


def draw_alike(task: Task, count: int) -> np.ndarray:
    """Pairs of the rows of two classes that look most alike."""
    means = np.array([task.X[task.y == c].mean(axis=0) for c in range(task.k)])
    far = ((means[:, None] - means) ** 2).sum(axis=2) + np.diag(np.full(task.k, np.inf))
    return draw_pairs(task, count, np.flatnonzero(np.isin(task.y, np.unravel_index(far.argmin(), far.shape))))


def pair_all(task: Task, count: int) -> np.ndarray:
    """All pairs among some rows."""
    rows = task.rng.permutation(task.n)[:count]
    return np.column_stack([rows[side] for side in np.triu_indices(len(rows), 1)])


def answer_questions(task: Task, budget: int, wrong: float) -> Draw:
    """Answers to questions that a strategy chose."""
    oracle = SimulatedOracle(task.y, error_rate=wrong, random_state=int(task.rng.integers(2**31)))
    state = interview(PairsAtStake(), task.X, oracle, budget=budget, random_state=0)
    return grade(task, state.clues)


def ask_two(task: Task) -> Draw:
    """n/2 pairs by one person, who is right, and n by another, of whose answers 40 % are wrong."""
    ann = answer(task, draw_pairs(task, task.n // 2), source="ann").clues
    bob = answer(task, draw_pairs(task, task.n), 0.4, source="bob").clues
    assert ann is not None
    assert bob is not None
    return grade(task, ann | bob)


def answer_unsure(task: Task, told: bool) -> Draw:
    """Say of n pairs, of which half are right with probability .98, half with .6, how sure the answers are, or not."""
    ends = drop_repeated(draw_pairs(task, task.n))
    sure = np.where(task.rng.random(len(ends)) < 0.5, 0.98, 0.6)
    bad = task.rng.random(len(ends)) > sure
    said = (task.y[ends[:, 0]] == task.y[ends[:, 1]]) ^ bad
    certain = {"must_confidence": sure[said], "cannot_confidence": sure[~said]} if told else {}
    return grade(task, cw.Clues(task.n, must=ends[said], cannot=ends[~said], **certain))


def center_labels(task: Task, count: int) -> Draw:
    """Label the rows nearest to the centers of as many k-means cells, as a person who is shown typical rows."""
    cells = KMeans(min(count, task.n), n_init=1, random_state=0).fit(task.X)
    rows = np.unique(cells.transform(task.X).argmin(axis=0))
    return name(task, rows, task.y[rows])


class Habit(NamedTuple):
    """How a person gives clues."""

    draw: Callable[[Task], Draw]
    told: bool = True  # whether methods are told the number of classes


HABITS: dict[str, Habit] = {
    "15 % labels of half of the classes": Habit(lambda t: label_some_classes(t, 1 / 2, 0.15)),
    "15 % labels of a third of the classes": Habit(lambda t: label_some_classes(t, 1 / 3, 0.15)),
    "20 % labels of one class": Habit(lambda t: label_some_classes(t, 0, 0.2)),
    "15 % labels of half of the classes, k not told": Habit(lambda t: label_some_classes(t, 1 / 2, 0.15), False),
    "15 % labels, a fifth in the look-alike class": Habit(lambda t: confuse_labels(t, 0.15, 0.2)),
    "15 % labels, coarser than the truth": Habit(lambda t: label_coarsely(t, 0.15)),
    "labels of 30 typical rows": Habit(lambda t: center_labels(t, 30)),
    "n/2 must-links": Habit(lambda t: answer(t, draw_until(t, True, t.n // 2))),
    "n/2 cannot-links": Habit(lambda t: answer(t, draw_until(t, False, t.n // 2))),
    "ten groups of eight": Habit(lambda t: group_rows(t, 10, 8)),
    "n/2 near pairs": Habit(lambda t: answer(t, draw_near(t, t.n // 2))),
    "n/2 near pairs, 20 % wrong": Habit(lambda t: answer(t, draw_near(t, t.n // 2), 0.2)),
    "n/10 corrections": Habit(lambda t: answer(t, draw_corrections(t, t.n // 10))),
    "n/10 corrections, 20 % wrong": Habit(lambda t: answer(t, draw_corrections(t, t.n // 10), 0.2)),
    "n/2 pairs of two look-alike classes": Habit(lambda t: answer(t, draw_alike(t, t.n // 2))),
    "all pairs of 20 rows": Habit(lambda t: answer(t, pair_all(t, 20))),
    "n/2 pairs near a border": Habit(lambda t: answer(t, draw_border(t, t.n // 2))),
    "50 answers to PairsAtStake": Habit(lambda t: answer_questions(t, 50, 0.0)),
    "n/2 right, and n of which 40 % are wrong": Habit(ask_two),
    "n pairs, half of them unsure, told": Habit(lambda t: answer_unsure(t, True)),
    "n pairs, half of them unsure, not told": Habit(lambda t: answer_unsure(t, False)),
    "n/2 random pairs": Habit(lambda t: answer(t, draw_pairs(t, t.n // 2))),
    "n/2 random pairs, 20 % wrong": Habit(lambda t: answer(t, draw_pairs(t, t.n // 2), 0.2)),
    "n/2 random pairs, k not told": Habit(lambda t: answer(t, draw_pairs(t, t.n // 2)), False),
}


# --- runs


@cache
def read_task(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(name, ROWS)
    return densify(X), np.unique(y, return_inverse=True)[1]


def draw(name: str, setting: str, seed: int) -> tuple[Task, Draw]:
    X, y = read_task(name)
    task = Task(X, y, np.random.default_rng([SEED, zlib.crc32(f"{name} {setting}".encode()), seed]))
    return task, HABITS[setting].draw(task)


def run(path: Path, sets: Iterable[str], settings: Sequence[str], methods: Sequence[str], seeds: int) -> None:
    done = {tuple(row[name] for name in KEY) for row in read(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    for seed, name in ((seed, name) for seed in range(seeds) for name in sets):
        plain: dict[str, Fit] = {}
        for setting in settings:
            keys = [(name, setting, method, str(seed)) for method in methods]
            for key, row in try_all([key for key in keys if key not in done], plain):
                with path.open("a", encoding="utf-8", newline="") as file:
                    csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(dict(zip(KEY, key)) | row)
                print(*key, row.get("ari", row.get("failed")), row["seconds"], sep=" | ", flush=True)


def try_all(
    keys: Sequence[tuple[str, str, str, str]], plain: dict[str, Fit]
) -> Iterator[tuple[tuple[str, str, str, str], dict[str, str]]]:
    """Runs with the same clues; a method that sees no clues is fitted once."""
    if not keys:
        return
    name, setting, _, seed = keys[0]
    task, given = draw(name, setting, int(seed))
    for key in keys:
        method = key[2]
        if method in (BASE, PLAIN):
            if method not in plain:
                plain[method] = try_method(
                    OURS if method == PLAIN else method, Problem(task.X, task.k, None, int(seed))
                )
            found = plain[method]
        else:
            told: Any = task.k if HABITS[setting].told or method != OURS else None
            found = try_method(method, Problem(task.X, told, given.clues, int(seed)))
        row = judge(found, task.y, given)
        if not found.failed:
            row["found"] = str(len(np.unique(found.model.labels_)))
        yield key, row


# --- report


def report(rows: list[dict[str, str]]) -> Iterator[str]:
    sets, methods = (list(dict.fromkeys(row[name] for row in rows)) for name in ("set", "method"))
    settings = [setting for setting in HABITS if any(row["setting"] == setting for row in rows)]
    score = {tuple(row[name] for name in KEY): float(row["ari"] or 0) for row in rows}
    yield "# What are clues worth as people give them?\n"
    yield f"Made by `experiments/people.py`: {len(rows)} runs, at most {ROWS} rows of each set."
    yield f"{len(sets)} sets: {', '.join(sets)}. Mean ARI.\n"
    lines = []
    for setting in settings:
        means = [
            np.mean([score[key] for key in score if key[1:3] == (setting, method)] or [np.nan]) for method in methods
        ]
        both = [
            (value, score[key[0], setting, PLAIN, key[3]], row)
            for row in rows
            if (key := tuple(row[name] for name in KEY))[1:3] == (setting, OURS)
            and (key[0], setting, PLAIN, key[3]) in score
            for value in [score[key]]
        ]
        worse = np.mean([value < plain - SMALL for value, plain, _ in both]) if both else np.nan
        harm, trust, right = (
            np.mean([float(row[name]) for *_, row in both if row[name]] or [np.nan])
            for name in ("harm", "trust", "right")
        )
        lines.append(
            [
                setting,
                *(f"{mean:.3f}" for mean in means),
                f"{100 * worse:.0f}",
                f"{harm:.2f}",
                f"{trust:.2f}, {right:.2f}",
            ]
        )
    yield from table(["clues", *methods, "worse than without, %", "harm_", "trust, truth"], lines)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", nargs="?", default="run", choices=["run", "report", "drop"])
    parser.add_argument("--sets", nargs="+", default=["development"], help="development, report, or names of sets")
    parser.add_argument("--settings", nargs="+", default=["*"], help="names or patterns")
    parser.add_argument("--methods", nargs="+", default=USUAL, help="names or patterns")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--csv", type=Path, default=RESULTS / "people.csv", help="where runs are kept")
    parser.add_argument("--table", type=Path, help="where the report is written as well")
    given = parser.parse_args(words)
    sets = [one for group in given.sets for one in SETS.get(group, [group])]
    settings, methods = match(given.settings, HABITS, "setting"), match(given.methods, METHODS, "method")
    warnings.simplefilter("ignore")
    if given.part == "run":
        run(given.csv, sets, settings, methods, given.seeds)
        return
    if given.part == "drop":
        drop(given.csv, sets, settings, methods)
        return
    rows = [r for r in read(given.csv) if r["set"] in sets and r["setting"] in settings and r["method"] in methods]
    rows = [row for row in rows if int(row["seed"]) < given.seeds]
    if not rows:
        raise SystemExit(f"nothing of this was run; {given.csv} has {len(read(given.csv))} other runs.")
    page = "\n".join(report(rows)) + "\n"
    print(page, end="")
    if given.table:
        given.table.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
