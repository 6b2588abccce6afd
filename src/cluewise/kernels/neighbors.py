"""Compiled selection of nearest rows from blocks of scores."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["blend", "nearest_exactly", "nearest_listed", "recheck", "select_lowest"]


@kernel
def select_lowest(scores: Floats, first: int, own: int, best: Floats, who: Ints) -> None:
    """Keep the lowest scores of each line in the heap ``best``, and in ``who`` which column they come from.

    Column j of ``scores`` is row ``first + j`` of the data; line i is row ``own + i``, which is left out. A heap has
    its highest score in front.
    """
    lines, width = scores.shape
    m = best.shape[1]
    for i in range(lines):
        line, heap, names = scores[i], best[i], who[i]
        limit = heap[0]
        for start in range(0, width, 64):
            stop = min(start + 64, width)
            if stop - start == 64:
                # A count of fixed length, in integers as wide as the scores, is made for many columns at once.
                part = line[start : start + 64]
                low = np.int32(0)
                for j in range(64):
                    low = np.int32(low + np.int32(part[j] < limit))
                if low == 0:
                    continue
            for j in range(start, stop):
                score = line[j]
                if score < limit and first + j != own + i:
                    place = 0
                    while True:
                        child = 2 * place + 1
                        if child >= m:
                            break
                        if child + 1 < m and heap[child + 1] > heap[child]:
                            child += 1
                        if heap[child] <= score:
                            break
                        heap[place] = heap[child]
                        names[place] = names[child]
                        place = child
                    heap[place] = score
                    names[place] = first + j
                    limit = heap[0]


@kernel
def recheck(X: Floats, own: int, best: Floats, who: Ints, slack: float, near: Ints, squared: Floats) -> int:
    """Write the k nearest of the candidates ``who`` of each line, by exact distances; line i is row ``own + i``.

    ``best`` has computed scores ½‖y‖² − x·y, the highest in front; each is off by at most ``slack``·(‖x‖ + ‖x − y‖)²,
    and by what is too small for single precision.
    A line whose k-th neighbor might be a row outside the candidates gets ``near[i, 0] = -1``; returns how many do.
    """
    lines, k = near.shape
    m, d = who.shape[1], X.shape[1]
    doubtful = 0
    order = np.empty(m, dtype=np.int64)
    exact = np.empty(m)
    for i in range(lines):
        x = X[own + i]
        norm = 0.0
        for c in range(d):
            norm += np.float64(x[c]) * np.float64(x[c])
        count = 0
        for a in range(m):
            j = who[i, a]
            if j < 0:
                continue
            total = 0.0
            for c in range(d):
                gap = np.float64(x[c]) - np.float64(X[j, c])
                total += gap * gap
            place = count
            while place > 0 and (exact[place - 1] > total or (exact[place - 1] == total and order[place - 1] > j)):
                exact[place] = exact[place - 1]
                order[place] = order[place - 1]
                place -= 1
            exact[place] = total
            order[place] = j
            count += 1
        for a in range(k):
            near[i, a] = order[a]
            squared[i, a] = exact[a]
        reach = np.sqrt(norm) + np.sqrt(exact[k - 1])
        # Candidates that fill the heap may have pushed others out.
        if who[i, 0] >= 0 and best[i, 0] <= 0.5 * (exact[k - 1] - norm) + slack * reach * reach + 1e-36:
            near[i, 0] = -1
            doubtful += 1
    return doubtful


@kernel
def nearest_exactly(X: Floats, rows: Ints, near: Ints, squared: Floats) -> None:
    """The k nearest other rows of some rows, by distances in difference form; the lower number first on ties."""
    n, d = X.shape
    k = near.shape[1]
    for i in range(rows.shape[0]):
        x = X[rows[i]]
        names, found = near[i], squared[i]
        count = 0
        for j in range(n):
            if j == rows[i]:
                continue
            total = 0.0
            for c in range(d):
                gap = np.float64(x[c]) - np.float64(X[j, c])
                total += gap * gap
            # Rows come in ascending order, so an equal one never comes first.
            if count < k or total < found[k - 1]:
                place = min(count, k - 1)
                count += 1
                while place > 0 and found[place - 1] > total:
                    found[place] = found[place - 1]
                    names[place] = names[place - 1]
                    place -= 1
                found[place] = total
                names[place] = j


@kernel
def blend(X: Floats, own: Ints, centers: Floats, listed: Ints, near: Ints, share: Floats) -> None:
    """Find the nearest centers of each row among those listed for its own center, and weigh them by 1 / distance².

    ``near`` and ``share`` get one column for each center that is kept. A row that is a center is that one alone.
    """
    keep, width = near.shape[1], listed.shape[1]
    squared, kept = np.empty(width), np.empty(keep)  # float64, as squares of small distances vanish in single precision
    for i in range(X.shape[0]):
        candidates = listed[own[i]]
        for a in range(width):
            total = 0.0
            for c in range(X.shape[1]):
                gap = np.float64(X[i, c]) - centers[candidates[a], c]
                total += gap * gap
            squared[a] = total
        whole = 0.0
        for rank in range(keep):
            best = 0
            for a in range(1, width):
                if squared[a] < squared[best]:
                    best = a
            near[i, rank] = candidates[best]
            kept[rank] = squared[best]
            squared[best] = np.inf
        closest = kept[0]
        for rank in range(keep):
            # Relative to the closest, so that a distance of 0 divides nothing.
            kept[rank] = 1.0 if rank == 0 else (closest / kept[rank] if kept[rank] > 0 else 0.0)
            whole += kept[rank]
        for rank in range(keep):
            share[i, rank] = kept[rank] / whole


@kernel
def nearest_listed(
    X: Floats, own: Ints, centers: Floats, listed: Ints, first: Ints, columns: Floats, visits: int,
    near: Ints, squared: Floats,
) -> None:  # fmt: skip
    """Find the nearest points of each row in the cells whose centers are nearest, of those listed for its own cell.

    ``columns`` has a point in each column; those of cell a are ``first[a]`` to ``first[a + 1]``. If there are too few
    points, the nearest one is repeated.
    """
    d, keep, width = columns.shape[0], near.shape[1], listed.shape[1]
    cells = np.empty(width)
    distance = np.empty(int(np.diff(first).max()))
    for i in range(X.shape[0]):
        candidates = listed[own[i]]
        for a in range(width):
            total = 0.0
            for c in range(d):
                gap = np.float64(X[i, c]) - centers[candidates[a], c]
                total += gap * gap
            cells[a] = total
        names, found, count = near[i], squared[i], 0
        for a in np.argsort(cells)[:visits]:
            start, stop = first[candidates[a]], first[candidates[a] + 1]
            part = distance[: stop - start]
            part[:] = 0.0
            # Column after column, so that many points are compared at once.
            for c in range(d):
                x, line = np.float64(X[i, c]), columns[c, start:stop]
                for j in range(len(part)):
                    gap = x - line[j]
                    part[j] += gap * gap
            for j in range(len(part)):
                if count == keep and part[j] >= found[keep - 1]:
                    continue
                place = min(count, keep - 1)
                while place > 0 and found[place - 1] > part[j]:
                    found[place] = found[place - 1]
                    names[place] = names[place - 1]
                    place -= 1
                found[place] = part[j]
                names[place] = start + j
                count = min(count + 1, keep)
        for place in range(count, keep):
            found[place] = found[0]
            names[place] = names[0]
