"""Plain NumPy twins of ``kernels.neighbors``: same names, same signatures, obvious code."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["blend", "nearest_exactly", "nearest_listed", "recheck", "select_lowest"]


def select_lowest(scores: Floats, first: int, own: int, best: Floats, who: Ints) -> None:
    """The lowest of the old and the new scores; sorted, the highest in front, which makes a heap."""
    m = best.shape[1]
    for i, line in enumerate(scores):
        names = np.append(who[i], first + np.arange(len(line)))
        values = np.append(best[i], line)
        values[names == own + i] = np.inf
        chosen = np.argsort(values, kind="stable")[:m][::-1]
        best[i], who[i] = values[chosen], np.where(np.isinf(values[chosen]), -1, names[chosen])


def recheck(X: Floats, own: int, best: Floats, who: Ints, slack: float, near: Ints, squared: Floats) -> int:
    """Sort the candidates of each line by exact distance, then ask whether another row could be as near."""
    k = near.shape[1]
    doubtful = 0
    for i in range(len(near)):
        x = X[own + i].astype(np.float64)
        names = who[i][who[i] >= 0]
        exact = ((x - X[names].astype(np.float64)) ** 2).sum(axis=1)
        order = np.lexsort([names, exact])[:k]
        near[i], squared[i] = names[order], exact[order]
        last = exact[order[-1]]
        reach = np.linalg.norm(x) + np.sqrt(last)
        if who[i, 0] >= 0 and best[i, 0] <= 0.5 * (last - x @ x) + slack * reach**2 + 1e-36:
            near[i, 0] = -1
            doubtful += 1
    return doubtful


def nearest_exactly(X: Floats, rows: Ints, near: Ints, squared: Floats) -> None:
    """Sort all rows by distance."""
    k = near.shape[1]
    for i, row in enumerate(rows):
        exact = ((X[row].astype(np.float64) - X.astype(np.float64)) ** 2).sum(axis=1)
        order = np.argsort(exact, kind="stable")
        order = order[order != row][:k]
        near[i], squared[i] = order, exact[order]


def blend(X: Floats, own: Ints, centers: Floats, listed: Ints, near: Ints, share: Floats) -> None:
    """Sort the listed centers by distance; weigh the first ones by 1 / distance², or one alone at a distance of 0."""
    for i, x in enumerate(X.astype(np.float64)):
        squared = ((x - centers[listed[own[i]]]) ** 2).sum(axis=1)
        order = np.argsort(squared, kind="stable")[: near.shape[1]]
        near[i] = listed[own[i]][order]
        if squared[order[0]] == 0:
            share[i] = np.arange(len(order)) == 0
        else:
            weight = squared[order[0]] / squared[order]
            share[i] = weight / weight.sum()


def nearest_listed(
    X: Floats, own: Ints, centers: Floats, listed: Ints, first: Ints, columns: Floats, visits: int,
    near: Ints, squared: Floats,
) -> None:  # fmt: skip
    """Sort the points of the nearest cells by distance."""
    for i, x in enumerate(X.astype(np.float64)):
        cells = listed[own[i]]
        cells = cells[np.argsort(((x - centers[cells]) ** 2).sum(axis=1))[:visits]]
        points = np.concatenate([np.arange(first[cell], first[cell + 1]) for cell in cells])
        exact = ((x[:, None] - columns[:, points]) ** 2).sum(axis=0)
        order = np.argsort(exact, kind="stable")[: near.shape[1]]
        near[i], squared[i] = points[order[0]], exact[order[0]]
        near[i, : len(order)], squared[i, : len(order)] = points[order], exact[order]
