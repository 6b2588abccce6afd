# ruff: noqa: D103, T201
"""Is ``doubt_`` the probability that a clue is wrong? ``python experiments/doubt.py [run | write]``

From each labelled set, at most 240 of its rows with columns standardized, pairs are drawn of which none or some are
wrong, and every method that judges its clues is fitted. What its model says about each link before calibration is kept
in ``experiments/results/doubt/``, a file for each set and setting; what is there is not run again. The two constants of
the calibration (``WORTH`` and ``CAUTION`` of `cluewise.core.probability.doubt`) are chosen on half of the sets: a low
log loss, and of links with a doubt of at least .9 at least 85 % wrong at every share of wrong links. The tables in
``experiments/results/doubt.md`` are of the other half, which is not quite unseen: a caution of .85 was preferred to .9
after a look at it. 20 minutes on one core.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

import cluewise as cw
from cluewise.core.probability import doubt
from cluewise.datasets import available, load

ROWS, SEED = 240, 2026
HERE = Path(__file__).parent / "results"
METHODS = ("PCCC", "RDPMeans", "TVClust")
WORTHS, CAUTIONS = (0.1, 0.3, 0.5, 1.0), (1.0, 0.9, 0.85, 0.8, 0.7)
SAME = {"ecoli6": "ecoli", "satimage_train": "satimage"}  # rows of the same data stay in one half
EDGES = (0, 0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1)


class Setting(NamedTuple):
    """How clues are drawn."""

    pairs: float  # per row
    wrong: float  # share of the pairs
    labels: float = 0.0  # share of rows with right labels, which are not judged
    kinds: str = "both"  # or "must", "cannot": only links of this kind are wrong

    def __str__(self) -> str:
        return "-".join(map(str, self))


SHARES = (0.0, 0.1, 0.2, 0.3)
MAIN = [Setting(p, w) for w in (0.2, 0.1, 0.3, 0.0) for p in (1, 0.5, 2)]
BESIDE = [Setting(1, 0.2, labels=0.1), Setting(1, 0.2, kinds="must"), Setting(1, 0.2, kinds="cannot")]


class Links(NamedTuple):
    """What a model says about links, and the truth."""

    raw: np.ndarray
    odds: np.ndarray
    is_must: np.ndarray
    wrong: np.ndarray


def sets() -> list[str]:
    return sorted(name for name, listing in available().items() if listing.origin == "folder")


def seen(name: str) -> bool:
    """Whether the set is in the half on which the constants are chosen."""
    families = sorted({SAME.get(other, other) for other in sets()})
    first = np.random.default_rng(SEED).permutation(len(families))[: len(families) // 2]
    return families.index(SAME.get(name, name)) in first


@cache
def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    given = load(name)
    some = np.random.default_rng([SEED, sets().index(name)]).permutation(len(given.y))[:ROWS]
    X = given.X[some]
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    X = (X - X.mean(axis=0))[:, X.std(axis=0) > 0]
    return X / X.std(axis=0), np.unique(np.asarray(given.y)[some], return_inverse=True)[1]


def is_wrong(y: np.ndarray, clues: cw.Clues) -> np.ndarray:
    must, cannot = (y[pairs[:, 0]] == y[pairs[:, 1]] for pairs in (clues.must, clues.cannot))
    return np.concatenate([~must, cannot])


def draw(y: np.ndarray, setting: Setting, seed: list[int]) -> cw.Clues:
    words: dict[str, Any] = {"pairs": int(setting.pairs * len(y)), "labels": setting.labels, "random_state": seed}
    clues = cw.Clues.sample(y, noise=setting.wrong, **words)
    if setting.kinds == "both":
        return clues
    bad = is_wrong(y, clues)
    must, cannot = bad[: len(clues.must)], bad[len(clues.must) :]
    kept = {"must": clues.must, "cannot": clues.cannot[~cannot]}
    if setting.kinds == "cannot":
        kept = {"must": clues.must[~must], "cannot": clues.cannot}
    return cw.Clues(len(y), **kept)


def cell(name: str, setting: Setting) -> dict[str, Links]:
    X, y = data(name)
    k = len(np.unique(y))
    clues = draw(y, setting, [7, 0, sets().index(name), int(2 * setting.pairs), int(10 * setting.wrong)])
    models = [
        cw.PCCC(k, hard="infinite", n_init=2, time_limit=1, random_state=0),
        cw.RDPMeans(k),
        cw.TVClust(random_state=0),
    ]
    found, is_must = {}, np.arange(len(clues.must) + len(clues.cannot)) < len(clues.must)
    for model in models:
        with mock.patch.object(doubt, "calibrated", wraps=doubt.calibrated) as spy:
            model.fit(X, clues=clues)
        assert spy.call_args is not None, f"{model} found one cluster, so there is nothing to calibrate."
        raw, odds = spy.call_args.args[:2]
        found[type(model).__name__] = Links(raw, odds, is_must, is_wrong(y, clues))
    return found


def run() -> None:
    (HERE / "doubt").mkdir(parents=True, exist_ok=True)
    for setting in MAIN + BESIDE:
        for name in sets():
            path = HERE / "doubt" / f"{name}-{setting}.npz"
            if not path.exists():
                found = cell(name, setting)
                arrays = {
                    f"{method}-{field}": a for method, links in found.items() for field, a in links._asdict().items()
                }
                np.savez_compressed(path, **arrays)
        print(setting, flush=True)


def kept(settings: list[Setting], half: bool, method: str) -> dict[tuple[str, Setting], Links]:
    found = {}
    for setting in settings:
        for name in sets():
            path = HERE / "doubt" / f"{name}-{setting}.npz"
            if seen(name) == half and path.exists():
                with np.load(path) as file:
                    found[name, setting] = Links(*(file[f"{method}-{field}"] for field in Links._fields))
    return found


def after(links: Links, worth: float = doubt.WORTH, caution: float = doubt.CAUTION) -> np.ndarray:
    must = links.is_must.sum()
    nothing = np.full(len(links.raw), np.nan)
    clues: Any = SimpleNamespace(must=nothing[:must], must_confidence=nothing[:must], cannot_confidence=nothing[must:])
    with mock.patch.multiple(doubt, WORTH=worth, CAUTION=caution):
        return doubt.calibrated(links.raw, links.odds, clues)


def choices(method: str) -> Iterator[str]:
    """A line for each choice of the constants: log loss, and how many of the most doubtful links are wrong."""
    cells = list(kept(MAIN, True, method).items())
    plain = {worth: [logit(after(c, worth, 1.0)) for _, c in cells] for worth in WORTHS}
    for worth, caution in product(WORTHS, CAUTIONS):
        doubts = [expit(caution * each) for each in plain[worth]]
        value = -np.mean([np.log(np.where(c.wrong, d, 1 - d)).mean() for (_, c), d in zip(cells, doubts)])
        words = []
        for share in SHARES:
            here = [(c.wrong[d >= 0.9]) for ((_, setting), c), d in zip(cells, doubts) if setting.wrong == share]
            words.append(share_of(np.concatenate(here)) if here else "–")
        yield f"| {method} | {worth} | {caution} | {value:.4f} | {' | '.join(words)} |"


def share_of(wrong: np.ndarray) -> str:
    return f"{wrong.mean():.2f} ({len(wrong)})" if len(wrong) else "–"


def figures(cells: list[Links], doubts: list[np.ndarray]) -> str:
    """Share of links with doubt of at least .9, how many of these are wrong, mean doubt, mean AUC."""
    d, wrong = np.concatenate(doubts), np.concatenate([c.wrong for c in cells])
    areas = [roc_auc_score(c.wrong, each) for c, each in zip(cells, doubts) if 0 < c.wrong.mean() < 1]
    sure = d >= 0.9
    return f"{sure.mean():.3f} | {share_of(wrong[sure])} | {d.mean():.2f} | {f'{np.mean(areas):.2f}' if areas else '–'}"


def reliability(cells: list[Links], doubts: list[np.ndarray]) -> Iterator[str]:
    d, wrong = np.concatenate(doubts), np.concatenate([c.wrong for c in cells])
    place = np.clip(np.searchsorted(EDGES, d, side="right") - 1, 0, len(EDGES) - 2)
    for i in range(len(EDGES) - 1):
        here = place == i
        yield f"{d[here].mean():.2f} → {wrong[here].mean():.2f} ({here.mean():.3f})" if here.any() else "–"


def lines() -> Iterator[str]:
    first, second = [n for n in sets() if seen(n)], [n for n in sets() if not seen(n)]
    yield "# Is `doubt_` the probability that a clue is wrong?\n"
    yield f"Made by `experiments/doubt.py`; seed {SEED}, at most {ROWS} rows of each set, n/2, n and 2n pairs.\n"
    yield f"Chosen on {len(first)} sets: {', '.join(first)}.\n"
    yield f"All tables but the first are of the {len(second)} others, which are not quite unseen (a caution of .85 was "
    yield f"preferred to .9 after a look at them): {', '.join(second)}.\n"
    yield "## The constants, on the sets of choice\n"
    yield "Mean log loss; of links with doubt ≥ .9 the share that is wrong (of how many), by how many are wrong.\n"
    yield f"| method | `WORTH` | `CAUTION` | log loss | {' | '.join(f'{100 * s:.0f} % wrong' for s in SHARES)} |"
    yield f"|{'---|' * 8}"
    for method in METHODS:
        yield from choices(method)
    for title, settings in {"The other half of the sets": MAIN, "Other clues, the other half, n pairs": BESIDE}.items():
        yield f"\n## {title}\n"
        yield "Share of links with doubt ≥ .9, how many of those are wrong (of how many), mean doubt, AUC.\n"
        yield "| method | clues | links wrong | before: ≥ .9 | wrong | mean | AUC | after: ≥ .9 | wrong | mean | AUC |"
        yield f"|{'---|' * 11}"
        for method in METHODS:
            for name, some in groups(settings).items():
                cells = list(kept(some, False, method).values())
                if cells:
                    share = np.concatenate([c.wrong for c in cells]).mean()
                    old, new = figures(cells, [c.raw for c in cells]), figures(cells, [after(c) for c in cells])
                    yield f"| {method} | {name} | {share:.2f} | {old} | {new} |"
    yield "\n## Reliability, the other half, all settings with pairs alone\n"
    yield "Mean doubt → share that is wrong (share of all links), by doubt.\n"
    yield f"| method | | {' | '.join(f'{a:g} to {b:g}' for a, b in pairwise(EDGES))} |"
    yield f"|{'---|' * (len(EDGES) + 1)}"
    for method in METHODS:
        cells = list(kept(MAIN, False, method).values())
        for word, doubts in {"before": [c.raw for c in cells], "after": [after(c) for c in cells]}.items():
            yield f"| {method} | {word} | {' | '.join(reliability(cells, doubts))} |"


def groups(settings: list[Setting]) -> dict[str, list[Setting]]:
    """Settings of one line of a table."""
    if settings is BESIDE:
        words = ("and labels of a tenth of the rows", "only must-links wrong", "only cannot-links wrong")
        return {word: [setting] for word, setting in zip(words, settings)}
    return {f"{100 * share:.0f} % wrong": [s for s in settings if s.wrong == share] for share in SHARES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", default="all", choices=["all", "run", "write"])
    part = parser.parse_args().part
    warnings.simplefilter("ignore")
    if part != "write":
        run()
    if part != "run":
        (HERE / "doubt.md").write_text("\n".join(lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
