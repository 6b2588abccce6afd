# ruff: noqa: D103, T201
"""Does agreement with the truth rise while clues come? NMI of SCSC over tiers of new pairs, for several rules.

``python experiments/scsc_tiers.py [NAME ...]`` on labelled sets that are on this machine. Each ensemble has 300
partitions; each draw gives five tiers of 100 random pairs; all rules see the same ones.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from cluewise import SCSC, ApproxKernelKMeans, Clues
from cluewise.datasets import available, load
from cluewise.ensemble import partitions
from cluewise.metrics import nmi

SETS = ("coil20", "usps", "mnist", "covtype")
TIERS, PAIRS, PARTITIONS = 5, 100, 300
DEFAULT = "relaxed, 10 (default)"
RULES: dict[str, dict[str, Any]] = {
    "relaxed, 1": {"inertia": 1.0},
    "relaxed, 3": {"inertia": 3.0},
    DEFAULT: {},
    "relaxed, 30": {"inertia": 30.0},
    "relaxed, 100": {"inertia": 100.0},
    "relaxed, 10, all clues": {"memory": "all"},
    "relaxed, 10, k-means": {"hard": "kmeans"},
    "exact, auto": {"update_rule": "exact"},
    "exact, 100": {"update_rule": "exact", "inertia": 100.0},
    "exact, 1000": {"update_rule": "exact", "inertia": 1000.0},
    "exact, 10000": {"update_rule": "exact", "inertia": 10_000.0},
    "exact, auto, all clues": {"update_rule": "exact", "memory": "all"},
}


class Row(NamedTuple):
    """One line of the table that is written."""

    data: str
    rows: int
    ensemble: int
    draw: int
    rule: str
    tier: int  # 0: before any pair
    nmi: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="NMI of SCSC over tiers of new pairs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"data sets (default: {', '.join(SETS)})")
    parser.add_argument("--ensembles", type=int, default=2, help="ensembles for each set (default: 2)")
    parser.add_argument("--draws", type=int, default=5, help="draws of pairs for each ensemble (default: 5)")
    parser.add_argument("--rows", type=int, default=20_000, help="rows drawn from each set, 0: all (default: 20000)")
    parser.add_argument("--partitions", type=int, default=PARTITIONS, help="partitions (default: 300)")
    parser.add_argument("--kernel", action="store_true", help="ensembles of approximate kernel k-means")
    parser.add_argument("--default", action="store_true", help="only the default rule")
    parser.add_argument("--seed", type=int, default=2026, help="seed of rows, ensembles and pairs (default: 2026)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder for results")
    given = parser.parse_args(arguments)
    known = available()
    here = [name for name in given.names or SETS if name in known and known[name].origin != "OpenML"]
    if not here:
        parser.error("none of the data sets is on this machine; CLUEWISE_DATA names their folder.")
    rules = {DEFAULT: RULES[DEFAULT]} if given.default else RULES
    given.out.mkdir(parents=True, exist_ok=True)
    for name in here:
        found = list(measure(name, rules, given))
        write(given.out / f"scsc_tiers_{name}{'_kernel' * given.kernel}_{found[0].rows}.csv", found)
        print(table(found), flush=True)
    curves(given.out)


def measure(name: str, rules: dict[str, dict[str, Any]], given: argparse.Namespace) -> Iterator[Row]:
    data = load(name)
    some = np.random.default_rng(given.seed).permutation(len(data.y))[: given.rows or None]
    X, y = (np.asarray(data.X), data.y) if len(some) == len(data.y) else (np.asarray(data.X)[some], data.y[some])
    k = len(np.unique(y))
    for e in range(given.ensembles):
        begin = perf_counter()
        maker = ApproxKernelKMeans(landmarks=100, n_init=1) if given.kernel else None
        labels = partitions(
            X, n_partitions=given.partitions, n_clusters=k, estimator=maker, random_state=[given.seed, e]
        )
        made = perf_counter()
        for d in range(given.draws):
            tiers = [Clues.sample(y, pairs=PAIRS, random_state=[given.seed, e, d, t]) for t in range(TIERS)]
            for rule, options in rules.items():
                model = SCSC.from_partitions(labels, k, **options)
                yield Row(name, len(y), e, d, rule, 0, nmi(y, model.labels_))
                for t, clues in enumerate(tiers):
                    yield Row(name, len(y), e, d, rule, 1 + t, nmi(y, model.update(clues).labels_))
        print(
            f"{name}, {len(y)} rows: partitions {made - begin:.1f} s, tiers {perf_counter() - made:.1f} s", flush=True
        )


def write(path: Path, found: Sequence[Row]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Row._fields)
        writer.writerows(found)


def table(found: Sequence[Row]) -> str:
    scores = by_rule(found)
    draws = len(next(iter(scores.values())))
    heads = "".join(f"{f't{t}':>17}" for t in range(1 + TIERS))
    lines = [
        f"{found[0].data}, {found[0].rows} rows: mean NMI ± standard deviation over {draws} draws",
        f"{'':26}{heads}{'gain':>10}{'gain > 0':>10}",
    ]
    for rule, each in scores.items():
        cells = "".join(f"{f'{a:.4f} ± {b:.4f}':>17}" for a, b in zip(each.mean(axis=0), each.std(axis=0)))
        gain = each[:, -1] - each[:, 0]
        lines.append(f"{rule:26}{cells}{gain.mean():>+10.4f}{(gain > 0).mean():>10.0%}")
    return "\n".join(lines) + "\n"


def by_rule(found: Sequence[Row]) -> dict[str, np.ndarray]:
    """NMI (draws, 1 + tiers) of each rule, in the order in which they come."""
    rules = dict.fromkeys(row.rule for row in found)
    return {rule: np.reshape([row.nmi for row in found if row.rule == rule], (-1, 1 + TIERS)) for rule in rules}


def curves(folder: Path) -> None:
    """One picture for all tables in a folder: mean gain over the tiers, and its standard deviation as a band."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("matplotlib is not installed: no curves.")
        return
    tables = [read(path) for path in sorted(folder.glob("scsc_tiers_*.csv"))]
    figure = Figure(figsize=(4 * len(tables), 4), layout="constrained")
    for axes, found in zip(figure.subplots(1, len(tables), squeeze=False)[0], tables):
        for rule, each in by_rule(found).items():
            gain = each - each[:, :1]
            mean, spread = gain.mean(axis=0), gain.std(axis=0)
            own = rule == DEFAULT
            (line,) = axes.plot(
                mean, label=rule, linewidth=2.5 if own else 1, linestyle="--" if "exact" in rule else "-"
            )
            if own:
                axes.fill_between(range(1 + TIERS), mean - spread, mean + spread, color=line.get_color(), alpha=0.2)
        axes.axhline(0, color="0.7", linewidth=0.8, zorder=0)
        axes.set(
            title=f"{found[0].data} ({found[0].rows} rows)", xlabel=f"tiers of {PAIRS} pairs", ylabel="gain in NMI"
        )
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize="small")
    figure.savefig(folder / "scsc_tiers.png", dpi=80)


def read(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    return [Row(a, int(n), int(e), int(d), rule, int(t), float(v)) for a, n, e, d, rule, t, v in lines]


if __name__ == "__main__":
    main()
