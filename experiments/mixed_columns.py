# ruff: noqa: D103, T201
"""Does the column plan of `cw.Rows` help? ``python experiments/mixed_columns.py [--seeds 5]``

Tables with known classes, at most 600 rows each: data sets as they are (*numbers*); with every second column cut into
four levels without an order (*levels*) or into named ranges (*ranges*); with a tenth of the cells empty, every third
column stretched to a heavy tail, an id, a constant and a noisy word beside them (*messy*); and made tables of numbers,
cities, sizes, dates and notes in which each column knows something about the classes (*made*). Each is encoded by the
plan, by one-hot columns and numbers, all standardized (missing: the median, or a level of its own), and by its numbers
alone, and clustered by scikit-learn's KMeans with the true number of clusters. The score is the adjusted Rand index,
averaged over seeds. A run is a line of ``experiments/results/mixed_columns.csv``; what is there is not run again. The
table is written to ``mixed_columns.md``. Two minutes on one core.
"""

from __future__ import annotations

import argparse
import csv
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import cluewise as cw
from cluewise.metrics import ari
from cluewise.rows.balance import standardize

SETS = [
    "iris", "wine", "breast", "ecoli6", "glass", "heart", "ionosphere", "pima", "vowel", "sonar", "zoo", "protein",
    "soybean_small", "balance", "pendigits", "satimage", "letter", "usps", "shape_aggregation", "shape_r15",
    "shape_compound",
]  # fmt: skip
FORMS = ("numbers", "levels", "ranges", "messy")
MADE = 8
ROWS, SEED = 600, 2026
HERE = Path(__file__).parent / "results"
Columns = dict[str, list[Any]]


def tables(form: str) -> Iterator[tuple[str, Columns, Any]]:
    """Name, columns and classes of the tables of one form."""
    if form == "made":
        for seed in range(MADE):
            yield f"made {seed}", *make(seed)
        return
    for name in SETS:
        data = cw.datasets.load(name)
        rng = np.random.default_rng([SEED, zlib.crc32(name.encode())])
        rows = np.sort(rng.permutation(len(data.y))[:ROWS])
        X = np.asarray(data.X, dtype=float)[rows]
        yield name, change(X, form, rng), data.y[rows]


def change(X: Any, form: str, rng: Any) -> Columns:
    columns: Columns = {f"c{j}": X[:, j].tolist() for j in range(X.shape[1])}
    if form in ("levels", "ranges"):
        for j in range(0, X.shape[1], 2):
            columns[f"c{j}"] = cut(X[:, j], form, rng)
    if form == "messy":
        for j in range(X.shape[1]):
            values = X[:, j]
            if j % 3 == 0 and np.ptp(values) > 0:
                values = np.exp(6 * (values - values.min()) / np.ptp(values))
            columns[f"c{j}"] = np.where(rng.random(len(X)) < 0.1, np.nan, values).tolist()
        columns["id"] = [f"r{i}" for i in rng.permutation(len(X))]
        columns["constant"] = ["EUR"] * len(X)
        columns["word"] = [f"word{i}" for i in rng.integers(60, size=len(X))]
    return columns


def cut(values: Any, form: str, rng: Any) -> list[Any]:
    """Quarters of a column as levels; a column of fewer values stays as it is."""
    edges = np.unique(np.quantile(values, [0.25, 0.5, 0.75]))
    places = np.searchsorted(edges, values)
    if len(np.unique(places)) < 3:
        return list(values)
    if form == "levels":
        names = rng.permutation(["kilo", "lima", "mike", "november"])
        return [str(names[place]) for place in places]
    shifted = np.round(1000 * (edges - values.min()) / np.ptp(values)).astype(int)
    names = [f"{low}-{high}" for low, high in zip([0, *shifted], [*shifted, 1000])]
    return [names[place] for place in places]


def make(seed: int) -> tuple[Columns, Any]:
    rng = np.random.default_rng([SEED, seed])
    n, k = 300, int(rng.integers(2, 5))
    y = rng.integers(k, size=n)
    cities = ["Paris", "Lyon", "Nice", "Metz", "Brest"]
    notes = [
        "parcel came late, box broken",
        "great service thank you",
        "wrong size send it back",
        "please call me today",
    ]
    drift = rng.permutation(k)
    return {
        "customer": [f"C{i:04}" for i in rng.permutation(n)],
        "age": np.where(rng.random(n) < 0.1, np.nan, 30 + 8 * y + rng.normal(0, 6, n)).tolist(),
        "spend": rng.lognormal(3 + drift[y], 1.0).tolist(),
        "visits": rng.poisson(3, n).astype(float).tolist(),
        "city": [cities[c] if rng.random() < 0.6 else str(rng.choice(cities)) for c in y],
        "size": [("small", "medium", "large")[min(c, 2)] if rng.random() < 0.6 else "medium" for c in drift[y]],
        "joined": [str(np.datetime64("2020-01-01") + int(200 * c + rng.integers(300))) for c in y],
        "note": [f"{notes[c if rng.random() < 0.7 else rng.integers(4)]} order {rng.integers(999)}" for c in y],
    }, y


def by_plan(columns: Columns) -> Any:
    return cw.Rows().fit_transform(columns)


def by_one_hot(columns: Columns) -> Any:
    blocks = []
    for cells in columns.values():
        if isinstance(cells[0], str):
            blocks.append(np.array([[cell == level for level in sorted(set(cells))] for cell in cells], dtype=float))
        else:
            blocks.append(_filled(cells))
    return standardize(np.hstack(blocks))


def by_numbers(columns: Columns) -> Any:
    blocks = [_filled(cells) for cells in columns.values() if not isinstance(cells[0], str)]
    return standardize(np.hstack(blocks)) if blocks else None


def _filled(cells: list[Any]) -> Any:
    values = np.array(cells, dtype=float)
    return np.where(np.isnan(values), np.nanmedian(values), values)[:, None]


ENCODERS: dict[str, Callable[[Columns], Any]] = {"plan": by_plan, "one-hot": by_one_hot, "numbers only": by_numbers}
FIELDS = ["form", "table", "encoder", "seed", "ari"]


def run(seeds: int, path: Path) -> None:
    done = {tuple(line[:4]) for line in _lines(path)}
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for form in (*FORMS, "made"):
            for name, columns, y in tables(form):
                for encoder, encode in ENCODERS.items():
                    left = [seed for seed in range(seeds) if (form, name, encoder, str(seed)) not in done]
                    X = encode(columns) if left else None
                    for seed in left:
                        model = KMeans(len(set(y.tolist())), n_init=5, random_state=seed)
                        score = 0.0 if X is None else ari(y, model.fit_predict(X))
                        writer.writerow([form, name, encoder, seed, f"{score:.6f}"])
                        file.flush()


def _lines(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [line for line in csv.reader(file) if len(line) == len(FIELDS)]


def report(path: Path) -> str:
    scores: dict[tuple[str, str], dict[str, list[float]]] = {}
    for form, table, encoder, _, score in _lines(path):
        scores.setdefault((form, table), {}).setdefault(encoder, []).append(float(score))
    text = ["# Columns by a plan, one-hot, or numbers only\n", "ARI of KMeans; means over seeds.\n"]
    text += [
        f"| tables | count | {' | '.join(ENCODERS)} | plan − one-hot | plan worse by > .01 |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for form in (*FORMS, "made"):
        means = {
            name: {e: float(np.mean(v)) for e, v in found.items()} for (f, name), found in scores.items() if f == form
        }
        if not means:
            continue
        columns = [float(np.mean([m[e] for m in means.values()])) for e in ENCODERS]
        gains = [m["plan"] - m["one-hot"] for m in means.values()]
        error = np.std(gains, ddof=1) / np.sqrt(len(gains))
        worse = [
            f"{name} ({m['plan'] - m['one-hot']:+.3f})" for name, m in means.items() if m["plan"] < m["one-hot"] - 0.01
        ]
        cells = " | ".join(f"{c:.3f}" for c in columns)
        text.append(
            f"| {form} | {len(means)} | {cells} | {np.mean(gains):+.3f} ± {error:.3f} | {', '.join(worse) or '–'} |"
        )
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    HERE.mkdir(exist_ok=True)
    run(given.seeds, HERE / "mixed_columns.csv")
    table = report(HERE / "mixed_columns.csv")
    (HERE / "mixed_columns.md").write_text(table, "utf-8")
    print(table)


if __name__ == "__main__":
    main()
