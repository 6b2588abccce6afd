"""Plain twins of `density`: the same names, the same arguments, the same results, said as obviously as possible."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from cluewise._typing import Array, Bools, Floats, Ints

__all__ = ["condense", "grow", "near_pairs", "neighbor_lists", "span"]


def near_pairs(
    products: Floats,
    norms: Floats,
    other_norms: Floats,
    slack: float,
    x: Floats,
    y: Floats,
    limit: float,
    same: bool,
) -> tuple[Array, Array]:
    """Places (i, j) with ‖x_i − y_j‖² ≤ ``limit``; with ``same`` only those with i < j."""
    gaps = x.astype(np.float64)[:, None, :] - y.astype(np.float64)[None, :, :]
    squared = np.zeros(gaps.shape[:2])
    for c in range(x.shape[1]):
        squared += gaps[:, :, c] ** 2
    near = squared <= limit
    first, second = np.nonzero(np.triu(near, 1) if same else near)
    return first.astype(np.int32), second.astype(np.int32)


def neighbor_lists(n: int, pairs: Ints) -> tuple[Array, Array]:
    """Symmetric CSR of pairs of rows, each list sorted."""
    lists: list[list[int]] = [[] for _ in range(n)]
    for a, b in pairs.tolist():
        lists[a].append(b)
        lists[b].append(a)
    indptr = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return indptr, np.array([j for found in lists for j in sorted(found)], dtype=np.int32)


def grow(
    indptr: Ints,
    indices: Ints,
    core: Bools,
    component: Ints,
    member_start: Ints,
    members: Ints,
    foe_start: Ints,
    foes: Ints,
    clique_start: Ints,
    cliques: Ints,
    barred: Ints,
    taken: Ints,
    labels: Ints,
    queue: Ints,
    at: Ints,
    steps: int,
) -> None:
    """Grow clusters from core rows, first come first served, for about so many ``steps``."""
    x, head, tail, cluster = at.tolist()

    def add(c: int, tail: int) -> int:
        groups = cliques[clique_start[c] : clique_start[c + 1]]
        if barred[c] == cluster or (taken[groups] == cluster).any():
            return tail
        barred[foes[foe_start[c] : foe_start[c + 1]]] = cluster
        taken[groups] = cluster
        mine = members[member_start[c] : member_start[c + 1]]
        labels[mine] = cluster
        queue[tail : tail + len(mine)] = mine
        return tail + len(mine)

    while steps > 0 and (head < tail or x < len(labels)):
        steps -= 1
        if head < tail:
            s = queue[head]
            head += 1
            if core[s]:
                neighbors = indices[indptr[s] : indptr[s + 1]]
                steps -= len(neighbors)
                for t in neighbors:
                    if labels[t] < 0:
                        tail = add(component[t], tail)
            continue
        if core[x] and labels[x] < 0:
            cluster += 1
            tail = add(component[x], tail)
        x += 1
    at[:] = x, head, tail, cluster


def span(
    columns: Floats,
    core: Floats,
    rows: Ints,
    reach: Floats,
    source: Ints,
    gaps: Floats,
    at: Ints,
    edges: Ints,
    heights: Floats,
    steps: int,
) -> None:
    """Prim's algorithm under the squared mutual reachability max(core², core², distance²), ``steps`` rows more."""
    n = columns.shape[1]
    for _ in range(min(steps, int(at[0]))):
        left = int(at[0])
        gaps[:left] = 0
        for column in columns:
            gaps[:left] += (column[:left] - column[left]) ** 2
        height = np.maximum(np.maximum(gaps[:left], core[:left]), core[left])
        closer = height < reach[:left]
        reach[:left][closer] = height[closer]
        source[:left][closer] = rows[left]
        place = int(np.argmin(reach[:left]))
        edges[n - 1 - left] = source[place], rows[place]
        heights[n - 1 - left] = reach[place]
        left -= 1
        swap, back = [place, left], [left, place]
        columns[:, swap], core[swap], rows[swap] = columns[:, back], core[back], rows[back]
        reach[place], source[place] = reach[left], source[left]
        at[0] = left


def condense(edges: Ints, heights: Floats, least: int, parent: Ints, born: Floats, home: Ints, left: Floats) -> int:
    """Clusters of at least ``least`` rows in a spanning tree with sorted edges, from the leaves to the root."""
    groups = {i: {i} for i in range(len(home))}  # of each row, the group it is in by now
    cluster: dict[int, int] = {}  # of a group that is large enough, by its smallest row
    count = 0
    for height, part in groupby(range(len(edges)), key=lambda e: heights[e]):
        old = dict(groups)
        touched: list[set[int]] = []
        for e in part:
            for i in edges[e].tolist():
                if old[i] not in touched:
                    touched.append(old[i])
            whole = groups[edges[e, 0]] | groups[edges[e, 1]]
            groups.update((i, whole) for i in whole)
        done: list[set[int]] = []
        for group in touched:
            whole = groups[min(group)]
            if whole in done:
                continue
            done.append(whole)
            parts = [g for g in touched if g <= whole]
            below = [cluster.pop(min(g)) for g in parts if min(g) in cluster]
            goal = below[0] if len(below) == 1 else count
            if len(below) != 1 and len(whole) < least:
                continue
            if len(below) != 1:
                parent[count], born[count] = -1, np.inf
                count += 1
                parent[below], born[below] = goal, height
            for i in whole:
                if home[i] < 0:
                    home[i], left[i] = goal, height
            cluster[min(whole)] = goal
    return count
