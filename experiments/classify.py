# ruff: noqa: D103, T201
"""Is `cw.suggest` right when it says "classify"? ``python experiments/classify.py [run|report]``

``run``     The sets and clues of ``front_door.py``: at most 600 rows, labels of 5 and 20 % of the rows, of which 0 or
            20 % are wrong, the number of classes told. `cw.suggest` tries its short list and the classifiers.
``report``  Tables for several rules, into ``experiments/results/classify.md``. A rule says "classify" if the classifier
            predicts more held-out labels than the suggested method by so many standard errors, and every class has so
            many labels. It is right if the classifier, trained on all labels, has the higher ARI on the rows without a
            label.

The rule is chosen on the development sets of ``front_door.py``, and reported on its report sets. A run is a line in
``experiments/results/classify.jsonl``; what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from front_door import SETS, SETTINGS, draw, load
from sklearn.base import clone

import cluewise as cw
from cluewise.metrics import ari
from cluewise.metrics.held_out import jackknife_error

CHOSEN = [f"{share} % labels, {wrong} % wrong" for share in (5, 20) for wrong in (0, 20)]
RESULTS = Path(__file__).parent / "results"


def done() -> dict[str, dict[str, Any]]:
    path = RESULTS / "classify.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def try_one(name: str, setting: str, seed: int) -> dict[str, Any]:
    X, y = load(name)
    drawn = draw(name, y, SETTINGS[setting], seed)
    clues, k, judged = drawn.clues, len(np.unique(y)), drawn.judged
    assert clues is not None
    began = time.process_time()
    found = cw.suggest(X, clues, k, random_state=seed)
    seconds = time.process_time() - began
    fitted = {"suggested": found.best.labels_}
    if found.best_trial.name != "Cluewise":
        fitted["Cluewise"] = cw.Cluewise(k, random_state=seed, n_jobs=1).fit(X, clues=clues).labels_
    fitted |= {t.name: clone(t.estimator).fit(X, clues=clues).labels_ for t in found.classifiers}
    trials = {t.name: t for t in (*found.methods, *found.classifiers)}
    return {
        "suggested": found.best_trial.name,
        "seconds": seconds,
        "fewest": int(np.bincount(clues.labels[clues.labels >= 0]).min()),
        "score": {t: trial.score for t, trial in trials.items()},
        "less": {t: trial.less.tolist() for t, trial in trials.items()},
        "ari": {t: ari(y[judged], labels[judged]) for t, labels in fitted.items()},
    }


def run(sets: list[str], seeds: int) -> None:
    have = done()
    for seed, setting, name in product(range(seeds), CHOSEN, sets):
        key = f"{name}|{setting}|{seed}"
        if key not in have:
            entry = {"key": key, "set": name, "setting": setting} | try_one(name, setting, seed)
            with (RESULTS / "classify.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
            print(key, entry["suggested"], f"{entry['seconds']:.1f} s", flush=True)


CLASSIFIERS = ["LogisticRegression", "LabelSpreading", "1-nearest-neighbor"]
RULES: dict[str, tuple[list[str], float, int]] = {  # classifiers, standard errors, labels of each class
    "as it was: the other two, any lead, any number of labels": (CLASSIFIERS[1:], 0.0, 1),
    **{f"logistic regression, lead > {z:g} errors": (CLASSIFIERS[:1], z, 2) for z in (0.0, 1.0, 1.5, 2.0)},
    **{f"the best of three, lead > {z:g} errors": (CLASSIFIERS, z, 2) for z in (0.0, 1.0, 1.5, 2.0)},
}


def name_classifier(entry: dict[str, Any], names: list[str], errors: float, labels: int) -> str | None:
    """The classifier that a rule says to use; None for a clusterer."""
    score, less = entry["score"], entry["less"]
    rivals = [name for name in names if name in score]
    if not rivals or entry["fewest"] < labels:
        return None
    rival = max(rivals, key=score.__getitem__)
    best = max((name for name in score if name not in CLASSIFIERS), key=score.__getitem__)
    error = jackknife_error(np.array(less[rival]) - np.array(less[best]))
    return rival if score[rival] - score[best] > errors * error else None


def lines() -> Iterator[str]:
    yield "# When is a classifier better?\n"
    yield "Made by `experiments/classify.py`: labels of 5 and 20 % of the rows, 0 and 20 % of them wrong; one draw."
    yield "The rule of `cw.suggest`: the best of three, a lead > 1.5 standard errors, two labels of each class."
    yield "*Right*: the classifier named has the higher ARI on the rows without a label than the method suggested."
    for half, sets in SETS.items():
        mine = [entry for entry in done().values() if entry["set"] in sets]
        if not mine:
            continue
        leads = np.array([e["ari"].get("LogisticRegression", -1.0) - e["ari"]["suggested"] for e in mine])
        means = {
            name: np.mean([e["ari"].get(name, e["ari"]["suggested"]) for e in mine])
            for name in ("suggested", "Cluewise")
        }
        means |= {name: np.mean([e["ari"].get(name, 0.0) for e in mine]) for name in CLASSIFIERS}
        seconds = np.mean([e["seconds"] for e in mine])
        yield f"\n## {half.capitalize()} sets: {len(mine)} runs of {seconds:.1f} CPU seconds each\n"
        yield f"Mean ARI: {', '.join(f'{name} {mean:.3f}' for name, mean in means.items())}."
        better = f"{(leads > 0).sum()} runs, by more than .02 in {(leads > 0.02).sum()}"
        yield f"Logistic regression is better than the method suggested in {better}.\n"
        yield '| rule | says "classify" | right | mean gain in ARI |'
        yield "|---|---|---|---|"
        for words, rule in RULES.items():
            said = [(e, name) for e in mine if (name := name_classifier(e, *rule)) is not None]
            gains = [e["ari"][name] - e["ari"]["suggested"] for e, name in said]
            gain = f"{np.mean(gains):+.3f}" if gains else ""
            yield f"| {words} | {len(said)} | {sum(g > 0 for g in gains)} | {gain} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["run", "report"])
    parser.add_argument("--sets", default="development", choices=SETS)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.part == "run":
        run(SETS[given.sets], given.seeds)
    (RESULTS / "classify.md").write_text("\n".join(lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
