# ruff: noqa: D103, T201
"""When do clues do harm? Learns and judges the probability of `cluewise.check`. ``python experiments/harm.py [PART]``

``run``     Up to 200 rows of each set below, standardized (50 principal components where there are more columns). Clues
            are drawn: n/2 and 2n pairs, labels for 5 and 20 % of the rows, none to 30 % of them wrong. A method with
            its defaults is fitted with and without them from one seed, and tried as `check` does. Harm is an adjusted
            Rand index to the truth that is more than 0.02 lower with clues than without. In a round each set meets
            half of the sixteen kinds of clues, with four methods in turn; in the next round the other half.
``write``   A logistic regression on what the trial shows, learned on one half of the sets and judged on the other, into
            ``experiments/results/harm.md``; its weights are those in ``cluewise.advice.harm``. Nothing was
            chosen by a look at the other half. Sets from one source are in the same half.

A case is kept in ``experiments/results/harm.jsonl``; what is there is not run again. ``--rounds 2``.
"""

from __future__ import annotations

import argparse
import json
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as generated
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.preprocessing import StandardScaler

import cluewise as cw
from cluewise.advice.harm import LIKELY, SMALL, Tryout, extract_features, is_conclusive, try_out
from cluewise.metrics import ari

SOURCES = [
    "balance", "breast", "coil20", "covtype", "ecoli", "glass", "heart", "ionosphere", "iris", "isolet1560", "letter",
    "mnist", "orl_faces", "pendigits", "pima", "protein", "satimage", "sonar", "soybean_small",
    "surfbow_dslr surfbow_amazon", "text_pcmac text_basehock", "text_tr11 text_tr45", "tic_tac_toe", "usps", "vowel",
    "wine", "yale_faces", "zoo", "shape_aggregation", "shape_atom", "shape_chainlink", "shape_compound", "shape_d31",
    "shape_flame", "shape_jain", "shape_lsun", "shape_pathbased", "shape_r15", "shape_spiral", "shape_target",
    "shape_twodiamonds", "shape_wingnut", "synth_clusterincluster", "synth_corners", "synth_crescentfullmoon",
    "synth_gaussians", "synth_halfkernel", "synth_outlier", "synth_twospirals", *(f"made_{i}" for i in range(16)),
]  # fmt: skip
LEARN, UNSEEN = ([name for source in SOURCES[half::2] for name in source.split()] for half in (0, 1))
METHODS = {"PCKMeans": cw.PCKMeans, "E2CP": cw.E2CP, "MPCKMeans": cw.MPCKMeans, "FlexibleSpectral": cw.FlexibleSpectral}
ROWS, SEED = 200, 2026
RESULTS = Path(__file__).parent / "results"


def settings(n: int) -> list[dict[str, Any]]:
    wrong = (0.0, 0.1, 0.2, 0.3)
    pairs = [{"pairs": m, "noise": share} for m in (n // 2, 2 * n) for share in wrong]
    return pairs + [{"labels": part, "label_noise": share} for part in (0.05, 0.2) for share in wrong]


def made(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Blobs, moons and rings, scikit-learn's classification problems, and mixtures of Gaussians of any shape."""
    kind, which = divmod(number, 4)
    rng = np.random.default_rng([SEED, number])
    k, d = (2, 3, 4, 6)[which], (2, 4, 8, 12)[(number + kind) % 4]
    if kind == 0:
        X, y = generated.make_blobs(ROWS, d, centers=k, cluster_std=rng.uniform(1.5, 4.5), random_state=number)
    elif kind == 1 and which < 2:
        X, y = generated.make_moons(ROWS, noise=(0.1, 0.25)[which], random_state=number)
    elif kind == 1:
        X, y = generated.make_circles(ROWS, noise=(0.05, 0.12)[which - 2], factor=0.5, random_state=number)
    elif kind == 2:
        shape: dict[str, Any] = {"n_features": d + 4, "n_informative": min(d + 2, 8), "n_redundant": 1, "flip_y": 0}
        shape |= {"n_classes": k, "n_clusters_per_class": 1 + which % 2, "class_sep": rng.uniform(0.8, 1.8)}
        X, y = generated.make_classification(ROWS, **shape, random_state=number)
    else:
        y = rng.choice(k, ROWS, p=rng.dirichlet(np.full(k, 3.0)))
        shapes = 0.6 * rng.normal(size=(k, d, d)) * np.exp(rng.normal(scale=0.6, size=(k, 1, d)))
        X = rng.normal(scale=2.0, size=(k, d))[y] + np.einsum("nd,nde->ne", rng.normal(size=(ROWS, d)), shapes[y])
    return X, y


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name.startswith("made_"):
        X, y = made(int(name[5:]))
    else:
        data = cw.datasets.load(name)
        some = np.random.default_rng(SEED).permutation(len(data.y))[:ROWS]
        X, y = data.X[some], np.asarray(data.y)[some]
    X = StandardScaler().fit_transform(X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float))
    return PCA(50, random_state=0).fit_transform(X) if X.shape[1] > 50 else X, y


def run(rounds: int) -> None:
    RESULTS.mkdir(exist_ok=True)
    have = {case["key"] for case in done()}
    for number in range(rounds):
        for place, name in enumerate(LEARN + UNSEEN):
            X, y = rows_of(name)
            for which, words in enumerate(settings(len(y))):
                method = list(METHODS)[(which // 2 + which // 8 + place + number // 2) % len(METHODS)]
                key = f"{name}|{json.dumps(words)}|{method}"
                if (which + which // 4 + number) % 2 == 0 and key not in have:
                    with (RESULTS / "harm.jsonl").open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"key": key} | one(name, X, y, words, method)) + "\n")
            print(number, name, flush=True)


def one(name: str, X: np.ndarray, y: np.ndarray, words: dict[str, Any], method: str) -> dict[str, Any]:
    seed = zlib.crc32(f"{name}{words}".encode()) % 2**31
    clues = cw.Clues.sample(y, random_state=seed, **words)
    model = METHODS[method](len(np.unique(y)), random_state=seed)
    case = {"set": name, "method": method, "kind": next(iter(words)), "wrong": list(words.values())[1]}
    try:
        told, plain = (clone(model).fit(X, clues=given).labels_ for given in (clues, None))
    except ValueError as error:
        return case | {"failed": str(error)}
    trial = try_out(model, X, clues, np.random.default_rng(seed))
    return case | {"change": ari(y, told) - ari(y, plain)} | trial._asdict()


def done() -> list[dict[str, Any]]:
    path = RESULTS / "harm.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def trial_of(case: dict[str, Any]) -> Tryout:
    return Tryout(**{name: case[name] for name in Tryout._fields})


def fitted(cases: list[dict[str, Any]]) -> LogisticRegression:
    seen = np.array([list(extract_features(trial_of(case)).values()) for case in cases])
    return LogisticRegression(C=100.0).fit(seen, [case["change"] < -SMALL for case in cases])


def predicted(model: LogisticRegression, cases: list[dict[str, Any]]) -> np.ndarray:
    """What `check` would say: 0 where hardly a row moves."""
    seen = np.array([list(extract_features(trial_of(case)).values()) for case in cases])
    moved = np.array([case["moved"] > SMALL for case in cases])
    return np.where(moved, model.predict_proba(seen)[:, 1], 0.0)


def measured(p: np.ndarray, harm: np.ndarray) -> str:
    share = harm.mean()
    auc = f"{roc_auc_score(harm, p):.2f}" if 0 < share < 1 else "–"
    brier = f"{brier_score_loss(harm, p):.3f} | {share * (1 - share):.3f}"
    return f"{len(p)} | {100 * p.mean():.0f} | {100 * share:.0f} | {auc} | {brier} |"


def lines() -> Iterator[str]:
    every = [case for case in done() if "failed" not in case]
    able = [case for case in every if is_conclusive(trial_of(case))]
    learn, unseen = ([case for case in able if case["set"] in half] for half in (LEARN, UNSEEN))
    model = fitted([case for case in learn if case["moved"] > SMALL])
    yield "# When do clues do harm?\n"
    yield f"Made by `experiments/harm.py`; seed {SEED}. Harm: ARI more than {SMALL} lower with clues than without."
    yield f"{len(every)} cases; in {len(every) - len(able)} of them too few clues could be held out to tell."
    yield f"Learned on {len(learn)} cases of {len({case['set'] for case in learn})} sets, judged on {len(unseen)} cases"
    yield f"of {len({case['set'] for case in unseen})} other sets, by which nothing was chosen.\n"
    yield "| feature | weight |\n|---|---|"
    for name, weight in zip(extract_features(trial_of(able[0])), model.coef_[0]):
        yield f"| {name} | {weight:.2f} |"
    yield f"| intercept | {model.intercept_[0]:.2f} |"
    yield "\n## On sets that were not used\n"
    yield "| cases | number | mean prediction, % | harm, % | AUC | Brier | Brier of that share |"
    yield "|---|---|---|---|---|---|---|"
    p, harm = predicted(model, unseen), np.array([case["change"] < -SMALL for case in unseen])
    yield f"| all | {measured(p, harm)}"
    moved = np.array([case["moved"] > SMALL for case in unseen])
    yield f"| more than a few rows move | {measured(p[moved], harm[moved])}"
    for field in ("method", "kind", "wrong"):
        for value in sorted({case[field] for case in unseen}):
            some = np.array([case[field] == value for case in unseen])
            yield f"| {field} {value} | {measured(p[some], harm[some])}"
    yield "\n## Predicted and observed, in fifths of the predictions\n"
    yield "| sets | fifth | cases | predicted, % | harm, % | difference |\n|---|---|---|---|---|---|"
    for title, cases in (("learned on", learn), ("not used", unseen)):
        p, harm = predicted(model, cases), np.array([case["change"] < -SMALL for case in cases])
        for number, fifth in enumerate(np.array_split(np.argsort(p, kind="stable"), 5)):
            said, was = 100 * p[fifth].mean(), 100 * harm[fifth].mean()
            yield f"| {title} | {number + 1} | {len(fifth)} | {said:.0f} | {was:.0f} | {said - was:+.0f} |"
    yield "\n## What advice is worth, on sets that were not used\n"
    yield "| used | share of cases, % | harmful fits, % | gains kept, % | mean change of ARI |\n|---|---|---|---|---|"
    change = np.array([case["change"] for case in unseen])
    gain = np.array([case["gain"] for case in unseen])
    p = predicted(model, unseen)
    for title, use in (
        ("always", p >= 0),
        (f"probability of harm at most {LIKELY}", p <= LIKELY),
        ("held-out clues not worse", gain >= 0),
        ("held-out clues better", gain > 0),
    ):
        kept = change[use & (change > 0)].sum() / change[change > 0].sum()
        shares = f"{100 * use.mean():.0f} | {100 * np.mean(use & (change < -SMALL)):.0f} | {100 * kept:.0f}"
        yield f"| {title} | {shares} | {np.where(use, change, 0.0).mean():+.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", default="all", choices=["all", "run", "write"])
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.part != "write":
        run(given.rounds)
    if given.part != "run":
        (RESULTS / "harm.md").write_text("\n".join(lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
