# ruff: noqa: D103, T201
"""How often do clues hurt? Tables 1 and 2 of the survey again. ``python experiments/survey_tables.py [NAME ...]``

Protocol: 25 random pairs, raw columns, one start for both fits, weights 1, at most 100 iterations, the unadjusted Rand
index; CKM is COPKMeans, PKM PKMeans, MKM MKMeans, MPKM MPCKMeans with one diagonal metric and without imaginary rows.
The counterpart without clues is the same method from the same seed (for CKM from the same k rows).

Table 1: share of the sets of clues with which a method does worse, with and without the pairs that follow from those
drawn. Table 2: mean Rand index among fully coherent sets, above and below the median informativeness of K-means (PKM
without clues); 10 and 5 pairs as well, because coherent sets of 25 are hard to find. Table 3: the same
share when advice is followed: the doctor's (`cluewise.check`), whose score was fitted on other data sets (the form of
its verdict was chosen after a look at other draws from these); do no harm (use clues only if clues that were held out
come out better); and that of `ClueSearchCV` with and without clues.

Cases go into ``results/survey_<name>.csv`` as they come, the tables into ``results/survey_tables.md``; ``--report``
only writes the tables. Published values are read from ``published/survey.csv`` in the folder CLUEWISE_SPEC.
"""

from __future__ import annotations

import argparse
import csv
import os
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import binomtest, spearmanr
from sklearn.base import clone

import cluewise
from cluewise import Clues, ClueSearchCV, COPKMeans, MKMeans, MPCKMeans, PKMeans
from cluewise.datasets import load
from cluewise.metrics import rand
from cluewise.metrics.utility import coherence, informativeness, metric_agreement

DATA, METHODS = ("glass", "ionosphere", "iris", "wine"), ("CKM", "PKM", "MKM", "MPKM")
SEED, PAIRS = 7, 25
RESULTS = Path(__file__).resolve().parent / "results"


def methods(k: int, X: np.ndarray, seed: int) -> dict:
    start = X[np.random.default_rng(seed).choice(len(X), k, replace=False)]
    once = {"n_init": 1, "max_iter": 100, "random_state": seed}
    return {
        "CKM": COPKMeans(k, init=start, **once),
        "PKM": PKMeans(k, penalty=1, **once),
        "MKM": MKMeans(k, penalty=1, prior_rows=0, **once),
        "MPKM": MPCKMeans(k, penalty=1, prior_rows=0, **once),
    }


def with_entailed(clues: Clues) -> Clues:
    """The same clues with all pairs that follow from them."""
    component, graph = clues.components, clues.graph
    together = Clues(clues.n, together=component).pairs(expand=True)[0]
    members = defaultdict(list)
    for row, c in enumerate(component.tolist()):
        members[c].append(row)
    ends = np.repeat(np.arange(len(graph.indptr) - 1), np.diff(graph.indptr))
    apart = [(i, j) for a, b in zip(ends, graph.indices) if a < b for i in members[a] for j in members[int(b)]]
    return Clues(clues.n, must=together, cannot=apart)


def run(name: str, sets: int, advised: int) -> None:
    data = load(name)
    X, y = np.asarray(data.X, dtype=float), data.y
    k = len(np.unique(y))
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"survey_{name}.csv").open("w", newline="") as file:
        writer = None
        for s in range(sets):
            for pairs in (PAIRS, 10, 5):
                clues = Clues.sample(y, pairs=pairs, random_state=[SEED, s, pairs])
                exact, published = (coherence(X, clues, rule=rule) for rule in ("exact", "published"))
                if pairs != PAIRS and max(exact, published) < 1:
                    continue  # smaller sets are for Table 2 alone
                shared = {"set": s, "pairs": pairs, "coherence": exact, "published": published}
                shared["agreement"] = metric_agreement(X, clues)
                for method, model in methods(k, X, SEED * 10**6 + s).items():
                    case = shared | {"method": method} | outcome(model, X, y, clues, pairs == PAIRS)
                    if s < advised and pairs == PAIRS:
                        case |= advice(model, X, clues, s)
                    if writer is None:
                        names = [*case, "harmful", "gain", "harm", "search"]
                        writer = csv.DictWriter(file, dict.fromkeys(names), restval="")
                        writer.writeheader()
                    writer.writerow(case)
            file.flush()


def outcome(model: object, X: np.ndarray, y: np.ndarray, clues: Clues, entailed: bool) -> dict:
    plain = clone(model).fit(X).labels_
    case = {"informativeness": informativeness(plain, clues), "without": rand(y, plain), "with": "", "entailed": ""}
    for column, given in {"with": clues, "entailed": with_entailed(clues) if entailed else None}.items():
        if given is not None:
            try:
                case[column] = rand(y, clone(model).fit(X, clues=given).labels_)
            except ValueError:
                case[column] = "failed"
    return case


def advice(model: object, X: np.ndarray, clues: Clues, seed: int) -> dict:
    """What the doctor, held-out clues and the search say of this method from this start."""
    found = cluewise.check(clues, X, estimator=model, random_state=seed)
    search = ClueSearchCV([model], random_state=seed).fit(X, clues=clues)
    return {"harmful": found.harmful, "harm": found.harm, "gain": found.trial.gain, "search": search.uses_clues_}


# --- tables -----------------------------------------------------------------------------------------------


def read(name: str) -> list[dict]:
    with (RESULTS / f"survey_{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def published() -> dict:
    beside = Path(__file__).resolve().parents[2] / "shared" / "spec"
    path = Path(os.environ.get("CLUEWISE_SPEC", beside)) / "published" / "survey.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {(r["table"], r["dataset"].lower(), r["setting"].split("; ")[-1][:4], r["method"]): r["mean"] for r in rows}


def drop(cases: list[dict], column: str) -> str:
    done = [case for case in cases if case[column] not in ("", "failed")]
    failed = sum(case[column] == "failed" for case in cases)
    worse = sum(float(case[column]) < float(case["without"]) - 1e-12 for case in done)
    low, high = binomtest(worse, len(done)).proportion_ci(method="wilson")
    return f"{100 * worse / len(done):.0f} ({100 * low:.0f}–{100 * high:.0f})" + (
        f", {failed} failed" if failed else ""
    )


def table_1(cases: dict, told: dict) -> list[str]:
    lines = ["## Table 1: sets of 25 pairs with which a method does worse, in percent (95 % interval)", ""]
    lines += ["| data | method | published | ours | with entailed pairs | mean Rand without | with | with entailed |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for (name, method), rows in cases.items():
        mean = [
            100 * np.mean([float(r[c]) for r in rows if r[c] not in ("", "failed")])
            for c in ("without", "with", "entailed")
        ]
        was = told.get(("1", name, "1000", method), "–")
        shares = " | ".join(drop(rows, column) for column in ("with", "entailed"))
        lines.append(f"| {name} | {method} | {was} | {shares} | {mean[0]:.1f} | {mean[1]:.1f} | {mean[2]:.1f} |")
    return lines


def table_2(cases: dict, told: dict) -> list[str]:
    lines = ["## Table 2: mean Rand index among fully coherent sets, high / low informativeness", ""]
    lines += [
        "| data | method | published | rule | pairs | sets kept | high | low |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (name, method), rows in cases.items():
        was = " / ".join(told.get(("2", name, level, method), "–") for level in ("high", "low "))
        by_kmeans = {(r["set"], r["pairs"]): float(r["informativeness"]) for r in cases[name, "PKM"]}
        for rule in ("coherence", "published"):
            for pairs in (PAIRS, 10, 5):
                kept = [r for r in rows if r["pairs"] == str(pairs) and float(r[rule]) == 1 and r["with"] != "failed"]
                if len(kept) < 4:
                    means = "– | –"
                else:
                    news = np.array([by_kmeans[r["set"], r["pairs"]] for r in kept])
                    result = np.array([float(r["with"]) for r in kept])
                    high = news > np.median(news)
                    means = " | ".join(f"{100 * result[h].mean():.1f}" if h.any() else "–" for h in (high, ~high))
                word = "exact" if rule == "coherence" else rule
                lines.append(f"| {name} | {method} | {was} | {word} | {pairs} | {len(kept)} | {means} |")
    return lines


def correlations(cases: dict) -> list[str]:
    lines = ["## Rank correlation with the change of the Rand index, 25 pairs", ""]
    lines += ["| data | method | informativeness | coherence | agreement |", "|---|---|---|---|---|"]
    for (name, method), rows in cases.items():
        done = [r for r in rows if r["with"] != "failed"]
        change = [float(r["with"]) - float(r["without"]) for r in done]
        found = []
        for column in ("informativeness", "coherence", "agreement"):
            values = [float(r[column]) for r in done]
            flat = np.ptp(values) == 0 or np.ptp(change) == 0
            found.append("–" if flat else f"{spearmanr(values, change)[0]:+.2f}")
        lines.append(f"| {name} | {method} | {' | '.join(found)} |")
    return lines


def table_3(cases: dict) -> list[str]:
    rules = {
        "always": lambda r: True,
        "doctor": lambda r: r["harmful"] != "True",
        "held-out": lambda r: float(r["gain"]) > 0,
        "ClueSearchCV": lambda r: r["search"] == "True",
        "score alone": lambda r: float(r["harm"]) <= 0.45,
    }
    lines = ["## Table 3: harmful fits in percent, always with clues and when advice is followed", ""]
    lines += [f"| data | method | sets | {' | '.join(rules)} |", "|---|---|---|" + "---|" * len(rules)]
    total = {rule: [] for rule in rules}
    for (name, method), rows in cases.items():
        rows = [r for r in rows if r.get("gain") and r["with"] != "failed"]
        if not rows:
            continue
        shares = []
        for rule, use in rules.items():
            change = np.array([float(r["with"]) - float(r["without"]) for r in rows])
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
    told = published()
    large = {
        (name, m): [r for r in every[name] if r["method"] == m and r["pairs"] == str(PAIRS)]
        for name in names
        for m in METHODS
    }
    whole = {(name, m): [r for r in every[name] if r["method"] == m] for name in names for m in METHODS}
    counts = ", ".join(f"{name} {len(large[name, 'CKM'])}" for name in names)
    head = ["# Tables 1 and 2 of the survey, again", "", f"Sets of 25 random pairs drawn: {counts}. Seed {SEED}.", ""]
    parts = [table_1(large, told), table_2(whole, told), correlations(large), table_3(large)]
    return "\n".join([*head, *(line for part in parts for line in [*part, ""])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(DATA))
    parser.add_argument("--sets", type=int, default=1000, help="sets of clues per data set")
    parser.add_argument("--advised", type=int, default=1000, help="how many of them the doctor sees")
    parser.add_argument("--report", action="store_true", help="write the tables from the cases that are there")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in [] if given.report else given.names:
        run(name, given.sets, given.advised)
    text = report([name for name in DATA if (RESULTS / f"survey_{name}.csv").exists()])
    (RESULTS / "survey_tables.md").write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
