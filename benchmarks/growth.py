"""Does time grow linearly with the rows and with the links? Exponents fitted to the larger sizes; 1 is linear."""

from __future__ import annotations

from measuring import SHORTEST, Figure, Times, exponent, interleaved, one_thread
from workload import blobs, links, pck

import cluewise

FULL = {
    "rows": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "pairs": (1_000, 10_000, 100_000, 300_000, 1_000_000),
    "d": 32,
    "k": 50,
    "iterations": 5,
    "repeats": 4,
}
TINY = {"rows": (500, 1_000, 2_000), "pairs": (500, 1_000, 2_000), "d": 12, "k": 5, "iterations": 2, "repeats": 1}
LARGEST = 3  # sizes that the exponent is fitted to, so that constants do not flatter
GOAL = 1.1


def measure(
    rows: tuple[int, ...], pairs: tuple[int, ...], d: int, k: int, iterations: int, repeats: int
) -> list[Figure]:
    X = blobs(max(rows), d, k)
    init = X[:k].copy()

    def fit(n: int, count: int) -> None:
        clues = cluewise.Clues(n, **links(n, k, count))
        pck(X[:n], init, iterations, clues)

    most = max(rows)
    by_rows = {f"{n} rows": lambda n=n: fit(n, n // 10) for n in rows}
    by_pairs = {f"{count} pairs": lambda count=count: fit(most, count) for count in (0, *pairs)}
    with one_thread():
        fit(rows[0], pairs[0])  # compiles or loads what is needed
        times = interleaved(by_rows | by_pairs, repeats)
    alone = times.pop("0 pairs")
    figures = _figures("rows", rows, [times[name] for name in by_rows])
    figures += _figures("pairs", pairs, [times[f"{count} pairs"] for count in pairs], alone)
    return figures


def _figures(what: str, sizes: tuple[int, ...], times: list[Times], alone: Times | None = None) -> list[Figure]:
    """The exponent, and below it the seconds of every size against a straight line through the largest.

    With ``alone``, the time without any clue, only what the clues add counts.
    """
    floor = 0.0 if alone is None else alone.best
    seconds = [max(t.best - floor, SHORTEST) for t in times]
    noise = max(t.noise for t in times)
    slope = exponent(sizes[-LARGEST:], seconds[-LARGEST:])
    added = "" if alone is None else " added"
    figures = [Figure(f"exponent in {what}", slope, 1.0, "", "linear growth", GOAL, noise=noise)]
    for size, spent in zip(sizes, seconds):
        straight = seconds[-1] * size / sizes[-1]
        name = f"  {size} {what}, time{added}"
        figures.append(Figure(name, 1e3 * spent, 1e3 * straight, "ms", "its share of the largest"))
    return figures
