# ruff: noqa: D101, D102, D103, T201
"""Do scored pairs become the right groups? ``python experiments/entities.py [--records N] [--draws N] [--large N]``

Records of `make_entities`. Scores are learned on one set, thresholds are chosen on a second one by pairwise F, and all
numbers are of a third one. ``--large`` adds one draw of that many records, whose thresholds are those of a small set.
The tables go to ``experiments/results/entities.md``. Seconds are of CPU, without making and scoring the pairs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from cluewise import Clues, CorrelationClusterer
from cluewise.datasets import Entities, make_entities

SETTINGS = {
    "3 sources, 10 % typos, 5 % missing": {"n_sources": 3, "typos": 0.1, "missing": 0.05},
    "4 sources, 15 % typos, 8 % missing": {"n_sources": 4, "typos": 0.15, "missing": 0.08},
    "5 sources, 20 % typos, 10 % missing": {"n_sources": 5, "typos": 0.2, "missing": 0.1},
}
LARGE = "4 sources, 15 % typos, 8 % missing"
THRESHOLDS = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995)
SHIFTS = (-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0)
FAR = 1e6  # distance of two records that must not be in one group
RESULTS = Path(__file__).parent / "results"


class Scored(NamedTuple):
    """Records, and the probability that each pair of them is about one person."""

    records: Entities
    pairs: np.ndarray
    probability: np.ndarray

    @property
    def n(self) -> int:
        return len(self.records.truth)


def score(n: int, seed: int, training: Entities, setting: dict[str, float]) -> Scored:
    records = make_entities(n, random_state=seed, **setting)  # type: ignore[arg-type]
    pairs = records.block()
    return Scored(records, pairs, records.score(pairs, training))


# --- ways from scores to groups: labels for each of some thresholds, of which one is chosen on other data


def components(data: Scored, thresholds: Sequence[float]) -> Iterator[np.ndarray]:
    """Everything that pairs at or above the threshold connect."""
    for threshold in thresholds:
        yield connect(data.n, data.pairs[data.probability >= threshold])


def connect(n: int, pairs: np.ndarray) -> np.ndarray:
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return connected_components(graph.tocsr(), directed=False)[1]


def one_to_one(data: Scored, thresholds: Sequence[float]) -> Iterator[np.ndarray]:
    """The best pairs first; a record gets at most one partner in each other source, and none in its own."""
    source = data.records.source
    for threshold in thresholds:
        taken: set[tuple[int, int]] = set()
        kept = []
        for p in best_first(data, threshold):
            i, j = data.pairs[p].tolist()
            ends = (i, int(source[j])), (j, int(source[i]))
            if source[i] != source[j] and not taken & set(ends):
                taken.update(ends)
                kept.append(p)
        yield connect(data.n, data.pairs[kept])


def greedy_unions(data: Scored, thresholds: Sequence[float]) -> Iterator[np.ndarray]:
    """The best pairs first; two groups are united unless both have a record of one source."""
    for threshold in thresholds:
        group = list(range(data.n))
        members = [[i] for i in range(data.n)]
        sources = [{s} for s in data.records.source.tolist()]
        for p in best_first(data, threshold):
            a, b = (group[i] for i in data.pairs[p].tolist())
            if a == b or sources[a] & sources[b]:
                continue
            for i in members[b]:
                group[i] = a
            members[a] += members[b]
            sources[a] |= sources[b]
        yield np.unique(group, return_inverse=True)[1]


def best_first(data: Scored, threshold: float) -> np.ndarray:
    some = np.flatnonzero(data.probability >= threshold)
    return some[np.argsort(-data.probability[some], kind="stable")]


def average(data: Scored, thresholds: Sequence[float], apart: bool = False) -> Iterator[np.ndarray]:
    """Average linkage of 1 − p within connected components; a pair without a score counts as p = 0."""
    trees = list(plant(data, apart))
    for threshold in thresholds:
        labels = np.arange(data.n)
        for rows, tree in trees:
            cut = fcluster(tree, 1 - threshold, "distance")
            labels[rows] = rows[np.unique(cut, return_index=True)[1]][cut - 1]
        yield np.unique(labels, return_inverse=True)[1]


def plant(data: Scored, apart: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The records of each component of two or more, and their tree."""
    low = data.probability >= min(THRESHOLDS)
    pairs, far = data.pairs[low], 1 - data.probability[low]
    piece = connect(data.n, pairs)
    order, size = np.argsort(piece, kind="stable"), np.bincount(piece)
    of_pair = piece[pairs[:, 0]]
    by_piece = np.argsort(of_pair, kind="stable")
    edges = np.searchsorted(of_pair[by_piece], np.arange(len(size) + 1))
    start, place = np.cumsum(size) - size, np.empty(data.n, dtype=np.int64)
    for c in np.flatnonzero(size > 1):
        rows = order[start[c] : start[c] + size[c]]
        place[rows] = np.arange(len(rows))
        inside = by_piece[edges[c] : edges[c + 1]]
        table = np.ones((len(rows), len(rows)))
        a, b = place[pairs[inside]].T
        table[a, b] = table[b, a] = far[inside]
        if apart:
            source = data.records.source[rows]
            table[source[:, None] == source[None, :]] = FAR
        np.fill_diagonal(table, 0)
        yield rows, linkage(squareform(table, checks=False), "average")


def correlation(
    data: Scored, shifts: Sequence[float], apart: bool = False, unscored: float = 0.5
) -> Iterator[np.ndarray]:
    """`CorrelationClusterer`, with a constant added to all log-odds."""
    odds = data.probability / (1 - np.minimum(data.probability, 1 - 1e-12))
    for shift in shifts:
        clues = Clues.from_scores(data.n, data.pairs, odds / (odds + np.exp(-shift)))
        if apart:
            clues |= Clues(data.n, apart=data.records.source, apart_weight=np.inf)
        yield CorrelationClusterer(unscored=unscored).fit(None, clues=clues).labels_


Method = tuple[Callable[..., Iterator[np.ndarray]], Sequence[float]]
METHODS: dict[str, Method] = {
    "connected components, p ≥ 0.5": (components, [0.5]),
    "connected components": (components, THRESHOLDS),
    "average linkage": (average, THRESHOLDS),
    "CorrelationClusterer": (correlation, [0.0]),
    "CorrelationClusterer, pairs without a score are free": (partial(correlation, unscored=0.0), [0.0]),
    "CorrelationClusterer, shift chosen": (correlation, SHIFTS),
    "greedy one-to-one links, sources": (one_to_one, THRESHOLDS),
    "greedy unions, sources": (greedy_unions, THRESHOLDS),
    "average linkage, sources": (partial(average, apart=True), THRESHOLDS),
    "CorrelationClusterer, sources": (partial(correlation, apart=True), [0.0]),
    "CorrelationClusterer, sources, pairs without a score are free": (
        partial(correlation, apart=True, unscored=0.0),
        [0.0],
    ),
    "CorrelationClusterer, sources, shift chosen": (partial(correlation, apart=True), SHIFTS),
}
MANY = [name for name in METHODS if "average" not in name]  # tables of large components take too long


# --- judging


class Judged(NamedTuple):
    precision: float
    recall: float
    f: float
    clusters: float  # F of clusters that are exactly a person's records
    seconds: float
    chosen: float


def judge(truth: np.ndarray, labels: np.ndarray) -> tuple[float, float, float, float]:
    def pairs(codes: np.ndarray) -> float:
        size = np.unique(codes, return_counts=True)[1]
        return float((size * (size - 1) // 2).sum())

    both = labels.astype(np.int64) * (int(truth.max()) + 1) + truth
    right, found, there = pairs(both), pairs(labels), pairs(truth)
    _, inverse, count = np.unique(both, return_inverse=True, return_counts=True)
    whole = (count[inverse] == np.bincount(truth)[truth]) & (count[inverse] == np.bincount(labels)[labels])
    exact = len(np.unique(both[whole]))
    clusters = 2 * exact / (len(np.unique(labels)) + len(np.unique(truth)))
    return right / max(found, 1), right / max(there, 1), 2 * right / max(found + there, 1), clusters


def choose(method: Method, data: Scored) -> float:
    """The parameter with the largest pairwise F."""
    work, options = method
    if len(options) == 1:
        return float(options[0])
    f = [judge(data.records.truth, labels)[2] for labels in work(data, options)]
    return float(options[int(np.argmax(f))])


def run(method: Method, choosing: Scored, data: Scored) -> Judged:
    chosen = choose(method, choosing)
    start = time.process_time()
    (labels,) = method[0](data, [chosen])
    return Judged(*judge(data.records.truth, labels), time.process_time() - start, chosen)


def run_setting(setting: dict[str, float], n: int, draws: int) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {name: [] for name in METHODS}
    for draw in range(draws):
        training = make_entities(n, random_state=1000 + draw, **setting)  # type: ignore[arg-type]
        choosing, data = (score(n, seed + draw, training, setting) for seed in (2000, 3000))
        for name, method in METHODS.items():
            found[name].append(run(method, choosing, data))
    return found


# --- tables


def table(found: dict[str, list[Judged]]) -> Iterator[str]:
    yield "| method | precision | recall | pairwise F | cluster F | seconds | chosen |"
    yield "|---|---|---|---|---|---|---|"
    for name, runs in found.items():
        values = np.array([judged[:5] for judged in runs])
        cells = [
            f"{v.mean():.3f} ({v.min():.3f}, {v.max():.3f})" if len(v) > 1 else f"{v[0]:.3f}" for v in values.T[:4]
        ]
        chosen = ", ".join(dict.fromkeys(f"{judged.chosen:g}" for judged in runs))
        yield f"| {name} | {' | '.join(cells)} | {values[:, 4].mean():.1f} | {chosen} |"


def report(n: int, draws: int, large: int) -> Iterator[str]:
    yield "# Do scored pairs become the right groups?\n"
    yield (
        "Made by `experiments/entities.py`: records of people by `make_entities`, candidate pairs by its blocking, "
        "scores by naive Bayes, learned on one set; thresholds and shifts (of log-odds) with the largest pairwise F on "
        "a second set; measured on a third. Pairwise precision, recall and F over all pairs of records, also those "
        "that blocking misses; cluster F counts clusters that are exactly the records of a person. Methods with "
        "*sources* know that a source lists nobody twice. Means (least, largest) of the draws. Seconds are of CPU on "
        "one core.\n"
    )
    for name, setting in SETTINGS.items():
        yield f"## {name}, {n:,} records, {draws} draws\n"
        yield from table(run_setting(setting, n, draws))
        yield ""
    if large:
        setting = SETTINGS[LARGE]
        training = make_entities(n, random_state=1000, **setting)  # type: ignore[arg-type]
        choosing, data = score(n, 2000, training, setting), score(large, 3000, training, setting)
        yield f"## {LARGE}, {large:,} records, {len(data.pairs):,} pairs, one draw\n"
        yield f"Scores, thresholds and shifts are those of {n:,} records.\n"
        yield from table({name: [run(METHODS[name], choosing, data)] for name in MANY})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--large", type=int, default=0, help="records of one more, large set")
    parser.add_argument("--table", type=Path, default=RESULTS / "entities.md")
    given = parser.parse_args(arguments)
    lines = []
    for line in report(given.records, given.draws, given.large):
        print(line, flush=True)
        lines.append(line)
    given.table.write_text("\n".join(lines).rstrip() + "\n", "utf-8")


if __name__ == "__main__":
    main()
