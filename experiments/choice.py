# ruff: noqa: D103, T201
"""Does choice by held-out clues find k and the method, and does it do no harm? ``python experiments/choice.py [PART]``

``k``       5 % labels, columns standardized: `ClueSearchCV` picks the method and k, on ten sets and on six that nobody
            looked at while it was written (``new``). Beside its ARI: that of each method offered at the same k and at
            the true k, always with clues and with its defaults.
``harm``    the rows of the quality table at the true k: true pairs, pairs of which some are wrong, labels; ARI of the
            pick, of K-means that ignores the clues, and of each method offered.
``write``   the tables, into ``experiments/results/choice.md``.

A run is kept in ``experiments/results/choice.jsonl``; what is there is not run again. ``--sets a,b`` and ``--draws 3``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import cluewise as cw
from cluewise.advice import ClueSearchCV
from cluewise.datasets import load
from cluewise.metrics import ari

SEED = 2026
TEN = ["iris", "wine", "glass", "ecoli6", "balance", "breast", "pendigits", "satimage_train", "ionosphere", "protein"]
NEW = ["zoo", "vowel", "sonar", "heart", "ecoli", "pima"]
SIX = TEN[:6]
ROWS: dict[str, dict[str, Any]] = {
    "150 pairs": {"pairs": 150},
    "300 pairs": {"pairs": 300},
    "300 pairs, 5 % wrong": {"pairs": 300, "noise": 0.05},
    "300 pairs, 10 % wrong": {"pairs": 300, "noise": 0.1},
    "300 pairs, 20 % wrong": {"pairs": 300, "noise": 0.2},
    "labels 10 %": {"labels": 0.1},
    "labels 30 %": {"labels": 0.3},
    "labels 50 %": {"labels": 0.5},
    "labels 20 %, a fifth wrong": {"labels": 0.2, "label_noise": 0.2},
}
HERE = Path(__file__).parent / "results"


def offered(n: int, labels: int) -> dict[str, Any]:
    """Methods of different kinds with their defaults; where rows are many only those of the price of K-means."""
    found: dict[str, Any] = {"PCKMeans": cw.PCKMeans(), "PCCC": cw.PCCC(time_limit=5)}
    if labels:
        found["ConstrainedKMeans"] = cw.ConstrainedKMeans()
    if n <= 5000:
        found |= {"EquivalenceGMM": cw.EquivalenceGMM(), "E2CP": cw.E2CP()}
        if labels < 300:
            found["MPCKMeans"] = cw.MPCKMeans()
    return found


def done() -> dict[str, dict[str, Any]]:
    path = HERE / "choice.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def keep(entry: dict[str, Any]) -> None:
    HERE.mkdir(exist_ok=True)
    with (HERE / "choice.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    print(entry, flush=True)


def score(model: Any, X: np.ndarray, y: np.ndarray, clues: cw.Clues | None, judged: np.ndarray) -> float:
    """ARI on the rows to judge; a fit that fails counts 0."""
    try:
        return ari(y[judged], model.fit(X, clues=clues).labels_[judged])
    except ValueError:
        return 0.0


def one(name: str, words: dict[str, Any], draw: int, find: bool) -> dict[str, Any]:
    data = load(name, standardize=True)
    X, y = np.asarray(data.X), data.y
    clues = cw.Clues.sample(y, random_state=[SEED, draw], **words)
    labelled = clues.labels >= 0
    judged = np.ones(len(y), bool) if find else ~labelled
    true_k = len(np.unique(y))
    methods = offered(len(y), int(labelled.sum()))
    began = perf_counter()
    search = ClueSearchCV(methods, n_clusters="auto" if find else true_k, random_state=draw).fit(X, clues=clues)
    seconds = perf_counter() - began
    k = int(search.results_[0].n_clusters)

    def each(k: int) -> dict[str, float]:
        ready = {n: m.__class__(**m.get_params() | {"n_clusters": k, "random_state": draw}) for n, m in methods.items()}
        return {n: score(m, X, y, clues, judged) for n, m in ready.items()}

    at_true = each(true_k)
    return {
        "set": name,
        "draw": draw,
        "seen": len(np.unique(clues.labels[labelled])),
        "true_k": true_k,
        "k": k,
        "pick": search.best_name_,
        "clues": bool(search.uses_clues_),
        "ari": ari(y[judged], search.labels_[judged]),
        "ignoring": score(cw.PCKMeans(true_k, n_init=10, random_state=draw), X, y, None, judged),
        "same_k": at_true if k == true_k else each(k),
        "at_true_k": at_true,
        "seconds": seconds,
    }


def run(part: str, sets: list[str], draws: int, words: dict[str, Any], find: bool) -> None:
    have = done()
    for draw in range(draws):
        for name in sets:
            key = f"{part}|{name}|{draw}"
            if key not in have:
                keep({"key": key, "part": part} | one(name, words, draw, find))


def mean(entries: list[dict[str, Any]], field: str) -> float:
    return float(np.mean([e[field] for e in entries]))


def singles(entries: list[dict[str, Any]], field: str) -> dict[str, float]:
    """Mean ARI of always using one method; PCKMeans stands in where a method is not offered."""
    names = sorted({name for e in entries for name in e[field]})
    return {n: float(np.mean([e[field].get(n, e[field]["PCKMeans"]) for e in entries])) for n in names}


def lines() -> Iterator[str]:
    entries = list(done().values())
    yield "# Choice by held-out clues\n"
    yield "Made by `experiments/choice.py`; seed 2026. ARI is over sets and draws, each set counting the same per draw."
    for part, title in (("k", "The ten sets of the goal"), ("new", "Sets not looked at before")):
        mine = [e for e in entries if e["part"] == part]
        if not mine:
            continue
        yield f"\n## {title}: 5 % labels, k and method found by `ClueSearchCV`\n"
        yield "| set | true k | classes seen | k found | within 1 | picks | ARI | best offered, same k | s |"
        yield "|---|---|---|---|---|---|---|---|---|"
        hits = 0
        for name in dict.fromkeys(e["set"] for e in mine):
            some = [e for e in mine if e["set"] == name]
            near = [abs(e["k"] - e["true_k"]) <= 1 for e in some]
            hits += np.mean(near) > 0.5
            best = float(np.mean([max(e["same_k"].values()) for e in some]))
            picks = ", ".join(f"{e['pick']}{'' if e['clues'] else ' (no clues)'}" for e in some)
            yield (
                f"| {name} | {some[0]['true_k']} | {' '.join(str(e['seen']) for e in some)} | "
                f"{' '.join(str(e['k']) for e in some)} | {sum(near)} of {len(near)} | {picks} | "
                f"{mean(some, 'ari'):.3f} | {best:.3f} | {mean(some, 'seconds'):.1f} |"
            )
        count = len({e["set"] for e in mine})
        best = float(np.mean([max(e["same_k"].values()) for e in mine]))
        top = float(np.mean([max(e["at_true_k"].values()) for e in mine]))
        yield f"\nTrue k within 1 in most draws: {hits} of {count} sets."
        yield f"Mean ARI of the pick {mean(mine, 'ari'):.3f}; best method per set and draw, chosen by the truth:"
        yield f"{best:.3f} at the same k, {top:.3f} at the true k."
        for field, words in (("same_k", "the k found"), ("at_true_k", "the true k")):
            told = ", ".join(f"{n} {v:.3f}" for n, v in singles(mine, field).items())
            yield f"Always one method with its defaults and {words} (PCKMeans where it is too dear): {told}."
    mine = [e for e in entries if e["part"] in ROWS]
    if mine:
        yield "\n## Rows of the quality table: six sets, true k, labels judged on the unlabelled rows\n"
        yield "| clues | pick | ignoring clues | difference | best single default | best by the truth | clues unused |"
        yield "|---|---|---|---|---|---|---|"
        for part in ROWS:
            some = [e for e in mine if e["part"] == part]
            if some:
                name, value = max(singles(some, "at_true_k").items(), key=lambda item: item[1])
                best = float(np.mean([max(e["at_true_k"].values()) for e in some]))
                difference = mean(some, "ari") - mean(some, "ignoring")
                unused = sum(not e["clues"] for e in some)
                yield (
                    f"| {part} | {mean(some, 'ari'):.3f} | {mean(some, 'ignoring'):.3f} | {difference:+.3f} | "
                    f"{name} {value:.3f} | {best:.3f} | {unused} of {len(some)} |"
                )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="?", default="all", choices=["all", "k", "new", "harm", "write"])
    parser.add_argument("--sets", default="")
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = given.sets.split(",") if given.sets else None
    if given.part in ("all", "k"):
        run("k", chosen or TEN, given.draws, {"labels": 0.05}, find=True)
    if given.part in ("all", "new"):
        run("new", chosen or NEW, given.draws, {"labels": 0.05}, find=True)
    if given.part in ("all", "harm"):
        for part, words in ROWS.items():
            run(part, chosen or SIX, given.draws, words, find=False)
    (HERE / "choice.md").write_text("\n".join(lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
