"""SCSC: do weights follow new clues at once, and labels at the speed of memory?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from measuring import Figure, Times, exponent, interleaved, one_thread

from cluewise.clues import Pairs
from cluewise.ensemble import _sequence, _votes
from cluewise.ensemble._aligned import Ensemble

FULL = {
    "n": 8_100_000,
    "sizes": (1_000, 10_000, 100_000, 1_000_000, 8_100_000),
    "m": 300,
    "r": 10,
    "pairs": 500,
    "active": (30, 100),
    "steps": (0.003, 0.01, 0.03, 0.1),
    "repeats": 3,
}
TINY = {
    "n": 4_000,
    "sizes": (1_000, 4_000),
    "m": 12,
    "r": 3,
    "pairs": 20,
    "active": (4,),
    "steps": (0.01,),
    "repeats": 1,
}
LARGEST = 3  # sizes that the exponent is fitted to
READ = "one read of the label matrix"


def measure(
    n: int,
    sizes: Sequence[int],
    m: int,
    r: int,
    pairs: int,
    active: Sequence[int],
    steps: Sequence[float],
    repeats: int,
) -> list[Figure]:
    rng = np.random.default_rng(0)
    labels, truth = ensemble(m, n, r, rng)
    same = np.tile(np.arange(r, dtype=np.uint8), (m, 1))
    whole = Ensemble(labels, same, same)
    with one_thread():
        figures = updates(whole, truth, sizes, pairs, max(5 * repeats, 1), rng)
        found, standing, seconds = votes(whole, active, repeats, rng)
        figures += found + recounts(whole, standing, seconds, steps, rng)
        figures += linear(whole, sizes, repeats)
    figures.append(all_cores(whole, standing.gamma, repeats))
    return figures


def ensemble(m: int, n: int, r: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Partitions that are right about easy rows and undecided about hard ones, and the truth."""
    truth = rng.integers(r, size=n, dtype=np.uint8)
    other = ((truth + 1 + rng.integers(r - 1, size=n, dtype=np.uint8)) % r).astype(np.uint8)
    easy = rng.integers(60, 255, size=n, dtype=np.uint8)
    labels = np.empty((m, n), dtype=np.uint8)
    for k in range(m):
        luck = np.frombuffer(rng.bytes(n), dtype=np.uint8)
        labels[k] = np.where(luck <= easy, truth, np.where(luck % 4 > 0, other, luck % r))
    return labels, truth


def updates(
    whole: Ensemble, truth: np.ndarray, sizes: Sequence[int], pairs: int, repeats: int, rng: np.random.Generator
) -> list[Figure]:
    """P5: the weight update against plain numpy, against 5 ms, and over n."""
    m = len(whole.labels)
    seconds: dict[str, list[Times]] = {}
    for size in sizes:
        part = Ensemble(whole.labels[:, :size], whole.clusters, whole.codes)
        rows = np.sort(rng.choice(size, size=(pairs, 2)), axis=1)
        same = truth[rows[:, 0]] == truth[rows[:, 1]]
        links = Pairs(rows[same], np.ones(same.sum()), rows[~same], np.ones((~same).sum()))
        contestants: dict[str, Callable[[], Any]] = {"numpy": lambda part=part, links=links: plain(part.labels, links)}
        for name, exact in (("relaxed", False), ("exact", True)):
            rule = _sequence.Rule(exact, False, 1.0, None)
            state = _sequence.begin(m, rule)._replace(seen=float(pairs))
            contestants[name] = lambda part=part, links=links, rule=rule, state=state: _sequence.step(
                state, links, part, rule
            )
        for run in contestants.values():
            run()
        for name, times in interleaved(contestants, repeats).items():
            seconds.setdefault(name, []).append(times)
    figures = []
    for name in ("relaxed", "exact"):
        last = seconds[name][-1]
        noise = last.noise
        if name == "relaxed":
            of, rival = f"weight update, {pairs} pairs", seconds["numpy"][-1].best
            figures.append(Figure(of, 1e3 * last.best, 1e3 * rival, "ms", "plain numpy", 1.0, noise=noise))
        for size, times in zip(sizes, seconds[name]):
            goal = 1.0 if name == "relaxed" else None
            figures.append(Figure(f"  {name}, n = {size}", 1e3 * times.best, 5.0, "ms", "5 ms", goal, noise=noise))
        # While the labels fit into the caches looking them up is cheaper still.
        slope = exponent(sizes[-LARGEST:], [times.best for times in seconds[name][-LARGEST:]])
        figures.append(Figure(f"  {name}, exponent in n", slope, 1.0, "", "linear growth", 0.2))
    return figures


def plain(labels: np.ndarray, links: Pairs) -> np.ndarray:
    """The relaxed update as one would write it."""
    a, b = labels[:, links.must[:, 0]], labels[:, links.must[:, 1]]
    c, d = labels[:, links.cannot[:, 0]], labels[:, links.cannot[:, 1]]
    e = (a != b).sum(axis=1) + (c == d).sum(axis=1)
    m = len(labels)
    v = np.full(m, 1 / m) - 2 / (m * len(links.must) + m * len(links.cannot)) * e
    w = np.sort(v)[::-1]
    theta = (np.cumsum(w) - 1) / np.arange(1, m + 1)
    return np.maximum(v - theta[np.flatnonzero(w > theta)[-1]], 0)


def votes(
    whole: Ensemble, active: Sequence[int], repeats: int, rng: np.random.Generator
) -> tuple[list[Figure], _votes.Standing, float]:
    """P6 and P7: the vote against one read, and with few active partitions against the full vote."""
    m = len(whole.labels)
    gamma = np.maximum(1 / m + 0.3 / m * rng.normal(size=m), 0)
    gamma /= gamma.sum()
    some = {s: np.where(rng.permutation(m) < s, gamma, 0) for s in active}
    _votes.count(Ensemble(whole.labels[:, :100], whole.clusters, whole.codes), gamma)  # compiles
    contestants: dict[Any, Callable[[], Any]] = {
        READ: lambda: read(whole.labels),
        "full": lambda: _votes.count(whole, gamma),
        **{s: (lambda part=part: _votes.count(whole, part / part.sum())) for s, part in some.items()},
    }
    times = interleaved(contestants, repeats)
    full = times["full"].best
    bytes_ = whole.labels.nbytes
    figures = [
        Figure("read bandwidth", bytes_ / times[READ].best / 1e9, 1.0, "GB/s", "1 GB/s"),
        Figure("hard partition", 1e3 * full, 1e3 * times[READ].best, "ms", READ, 12.0, 6.0, times["full"].noise),
    ]
    for s in active:
        goal = 1.3 * s / m + 0.07
        ours = times[s]
        figures.append(
            Figure(f"{s} of {m} active", 1e3 * ours.best, 1e3 * full, "ms", "all active", goal, noise=ours.noise)
        )
    standing = _votes.count(whole, gamma)
    check(whole, standing)
    return figures, standing, full


def read(labels: np.ndarray) -> int:
    """Look at every byte once, eight at a time."""
    words = labels.reshape(-1)[: labels.size // 8 * 8].view(np.uint64)
    return int(words.sum())


def check(whole: Ensemble, standing: _votes.Standing) -> None:
    """Labels are those of plain sums in double precision; looked at in blocks."""
    for start in range(0, whole.n, 2**18):
        block = slice(start, start + 2**18)
        F = np.zeros((len(standing.winner[block]), whole.r))
        for own, weight in zip(whole.labels[:, block], standing.gamma):
            for c in range(whole.r):
                F[:, c] += weight * (own == c)
        if (F.argmax(axis=1) != standing.winner[block]).any():
            raise RuntimeError("the vote differs from the plain one.")


def recounts(
    whole: Ensemble, standing: _votes.Standing, full: float, steps: Sequence[float], rng: np.random.Generator
) -> list[Figure]:
    """P8: small changes of the weights; cold, and when the labels of the doubtful rows lie side by side."""
    m, figures = len(standing.gamma), []
    for step in steps:
        now = standing
        for name in ("cold", "warm"):
            gamma = np.maximum(now.gamma + step / m * rng.normal(size=m), 0)
            gamma /= gamma.sum()
            share = float((now.lead <= _votes._drift(now.gamma, gamma)[1]).mean())
            times = interleaved({"": lambda now=now, gamma=gamma: _votes.recount(whole, now, gamma)}, 2)[""]
            now = _votes.recount(whole, now, gamma)[0]
            if (_votes.count(whole, gamma).winner != now.winner).any():
                raise RuntimeError("a recount differs from a count.")
            of, against = f"recount, step {step}, {name}", f"counting all rows ({share:.1%} can turn)"
            goal = 1.5 * share + 0.05
            figures.append(Figure(of, 1e3 * times.best, 1e3 * full, "ms", against, goal, noise=times.noise))
    return figures


def linear(whole: Ensemble, sizes: Sequence[int], repeats: int) -> list[Figure]:
    """The vote over n."""
    m = len(whole.labels)
    gamma = np.full(m, 1 / m)
    large = [size for size in sizes if size >= sizes[-1] / 100]
    parts = {size: Ensemble(whole.labels[:, :size], whole.clusters, whole.codes) for size in large}
    contestants = {size: (lambda part=part: _votes.count(part, gamma)) for size, part in parts.items()}
    times = interleaved(contestants, repeats)
    slope = exponent(large, [times[size].best for size in large])
    return [Figure("vote: exponent of n", slope, 1.0, "", "linear growth", 1.1)]


def all_cores(whole: Ensemble, gamma: np.ndarray, repeats: int) -> Figure:
    """The vote by the clock, with as many threads as there are."""
    contestants = {READ: lambda: read(whole.labels), "full": lambda: _votes.count(whole, gamma)}
    times = interleaved(contestants, repeats, perf_counter)
    ours, anchor = times["full"], times[READ]
    return Figure("hard partition, all cores", 1e3 * ours.best, 1e3 * anchor.best, "ms", READ, noise=ours.noise)
