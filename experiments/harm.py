# ruff: noqa: D103, T201
"""When do clues do harm? Fits the score behind `cluewise.check`. ``python experiments/harm.py [NAME ...]``

From each labelled set clues are drawn, right ones and partly wrong ones; four methods with their published settings are
fitted with and without them from the same seed; `check` says what it sees, without the truth. Harm is a Rand index to
the truth that is lower with clues. A logistic regression on ``features`` gives the weights; data sets count alike. How
well it does is measured on data sets that it did not see (one left out at a time). The sets of the survey's tables
(glass, ionosphere, iris, wine) are left for `survey_tables.py`.

``--table FILE`` keeps the cases, so that they can be gathered in several runs; ``--fit`` only fits what is there.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

import cluewise
from cluewise import Clues, COPKMeans, MKMeans, MPCKMeans, PKMeans
from cluewise.datasets import load
from cluewise.metrics import rand

SETS = [
    "balance", "breast", "digits", "ecoli", "heart", "pendigits", "pima", "protein", "satimage_train",
    "shape_aggregation", "shape_compound", "shape_flame", "shape_jain", "shape_pathbased", "sonar", "soybean_small",
    "vowel", "zoo",
]  # fmt: skip
ROWS, SEED = 600, 2026
SCORE = ("evidence", "strain")
SHOWN = ("informativeness", "coherence", "agreement", "coverage", "difficulty")
COLUMNS = ("data", "scaled", "pairs", "noise", "method", *SCORE, *SHOWN, "gain", "moved", "harm", "harmful", "change")


def methods(k: int, X: np.ndarray, seed: int) -> dict:
    """The four methods of the survey's tables with weights 1, from one start; CKM from k rows."""
    start = X[np.random.default_rng(seed).choice(len(X), k, replace=False)]
    once = {"n_init": 1, "max_iter": 100}
    return {
        "CKM": COPKMeans(k, init=start, random_state=seed, **once),
        "PKM": PKMeans(k, penalty=1, random_state=seed, **once),
        "MKM": MKMeans(k, penalty=1, prior_rows=0, random_state=seed, **once),
        "MPKM": MPCKMeans(k, penalty=1, prior_rows=0, random_state=seed, **once),
    }


def cases(name: str, sets: int) -> list[dict]:
    rows = []
    for scaled in (False, True):
        data = load(name, standardize=scaled)
        some = np.random.default_rng(SEED).permutation(len(data.y))[:ROWS]
        X, y = np.asarray(data.X, dtype=float)[some], data.y[some]
        k = len(np.unique(y))
        for pairs, noise in ((25, 0.0), (25, 0.15), (60, 0.0), (60, 0.15)):
            for s in range(sets):
                clues = Clues.sample(y, pairs=pairs, noise=noise, random_state=[SEED, s, pairs])
                for method, model in methods(k, X, SEED + s).items():
                    plain = clone(model).fit(X).labels_
                    try:
                        told = clone(model).fit(X, clues=clues).labels_
                    except ValueError:  # contradictory or too much for k clusters: no result, so no harm
                        continue
                    found = cluewise.check(clues, X, estimator=model, random_state=s)
                    case = seen(found) | {"change": rand(y, told) - rand(y, plain)}
                    case |= {"data": name, "scaled": scaled, "pairs": pairs, "noise": noise, "method": method}
                    rows.append(case)
    return rows


def seen(found: object) -> dict:
    shown = {"difficulty": found.degeneracy / found.n_clusters} | {n: getattr(found, n) for n in SHOWN[:-1]}
    extra = {"gain": found.trial.gain, "moved": found.trial.moved, "harm": found.harm, "harmful": found.harmful}
    return {name: found.features[name] for name in SCORE} | shown | extra


def fit(table: list[dict]) -> None:
    table = [case for case in table if float(case["moved"]) > 0]  # what does not move does no harm
    names = np.array([case["data"] for case in table])
    y = np.array([float(case["change"]) for case in table]) < 0
    weight = 1 / np.unique(names, return_inverse=True, return_counts=True)[2][np.unique(names, return_inverse=True)[1]]
    weight *= len(weight) / weight.sum()
    print(f"{len(table)} cases of {len(set(names))} data sets, harm in {y.mean():.3f} of them")
    for columns in (SCORE, SHOWN, SCORE + SHOWN):
        F = np.array([[float(case[name]) for name in columns] for case in table])
        F = np.where(np.isnan(F), np.nanmean(F, axis=0), F)
        unseen = np.zeros(len(y))
        for name in set(names):
            here = names == name
            unseen[here] = model_of(F[~here], y[~here], weight[~here]).predict_proba(F[here])[:, 1]
        print(f"{' '.join(columns)}\n  on sets left out: AUC {roc_auc_score(y, unseen):.3f}, ", end="")
        print(f"Brier {brier_score_loss(y, unseen):.3f} (base rate alone {y.mean() * (1 - y.mean()):.3f})")
        if columns == SCORE:
            for low in np.arange(0.2, 0.8, 0.1):
                bin_ = (unseen >= low) & (unseen < low + 0.1)
                if bin_.any():
                    print(f"    said {low:.1f} to {low + 0.1:.1f}: {bin_.sum():5d} cases, harm in {y[bin_].mean():.2f}")
            verdict(table, unseen)
            model = model_of(F, y, weight)
            weights = ", ".join(f'"{n}": {w:.2f}' for n, w in zip(columns, model.coef_[0]))
            print(f"WEIGHTS = {{{weights}}}\nINTERCEPT = {model.intercept_[0]:.2f}")


def model_of(F: np.ndarray, y: np.ndarray, weight: np.ndarray) -> LogisticRegression:
    return LogisticRegression(C=10.0, max_iter=1000).fit(F, y, sample_weight=weight)


def verdict(table: list[dict], unseen: np.ndarray, likely: float = 0.45) -> None:
    change = np.array([float(case["change"]) for case in table])
    gain = np.array([float(case["gain"]) for case in table])
    gain = np.nan_to_num(gain)
    for name, used in {
        "all": np.ones(len(gain), bool),
        "held-out clues better": gain > 0,
        "the doctor (weights of other sets)": (gain > 0) | ((gain == 0) & (unseen <= likely)),
        "the score alone": unseen <= likely,
    }.items():
        harm, kept = np.mean((change < 0) & used), change[used & (change > 0)].sum() / change[change > 0].sum()
        print(f"    use by {name}: used {used.mean():.3f}, harmful fits {harm:.3f}, gains kept {kept:.2f}, ", end="")
        print(f"mean change {np.where(used, change, 0).mean():+.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=SETS)
    parser.add_argument("--sets", type=int, default=3, help="draws of clues per setting")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    table: list[dict] = []
    if given.table and given.table.exists():
        with given.table.open(newline="") as file:
            table = list(csv.DictReader(file))
    for name in [] if given.fit else given.names:
        table = [case for case in table if case["data"] != name] + cases(name, given.sets)
        print(name, flush=True)
        if given.table:
            with given.table.open("w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS)
                writer.writeheader()
                writer.writerows(table)
    fit(table)


if __name__ == "__main__":
    main()
