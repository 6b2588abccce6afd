"""Compiled loops over neighborhoods: close rows and their lists, clusters that grow along them, and density trees."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["condense", "grow", "near_pairs", "neighbor_lists", "span"]


@kernel
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
    """Places (i, j) with ‖x_i − y_j‖² ≤ ``limit``; with ``same`` only those with i < j.

    ``products`` are inner products of x and y in units of the radius, rounded; ``slack`` bounds the error of the
    squared distances that follow from them, and what lies within it is decided in difference form.
    """
    m, k = products.shape
    count = np.zeros(m, np.int64)
    total = 0
    # First count, so that the lists can be allocated once: a bound without a branch that the compiler vectorizes.
    for i in range(m):
        bound = 1 + slack - norms[i]
        found = 0
        for j in range(k):
            found += other_norms[j] - 2 * products[i, j] <= bound
        count[i] = found
        total += found
    first = np.empty(total, np.int32)
    second = np.empty(total, np.int32)
    total = 0
    for i in range(m):
        if count[i] == 0:
            continue
        for j in range(i + 1 if same else 0, k):
            squared = norms[i] + other_norms[j] - 2 * products[i, j]
            if squared > 1 + slack:
                continue
            if squared >= 1 - slack:
                exact = 0.0
                for c in range(x.shape[1]):
                    gap = np.float64(x[i, c]) - np.float64(y[j, c])
                    exact += gap * gap
                if exact > limit:
                    continue
            first[total] = i
            second[total] = j
            total += 1
    return first[:total], second[:total]


@kernel
def neighbor_lists(n: int, pairs: Ints) -> tuple[Array, Array]:
    """Symmetric CSR of pairs of rows, each list sorted: two counting sorts, the second a transposition."""
    m = pairs.shape[0]
    indptr = np.zeros(n + 1, np.int64)
    for p in range(m):
        indptr[pairs[p, 0] + 1] += 1
        indptr[pairs[p, 1] + 1] += 1
    for i in range(n):
        indptr[i + 1] += indptr[i]
    fill = indptr[:-1].copy()
    loose = np.empty(2 * m, np.int32)
    for p in range(m):
        a, b = pairs[p, 0], pairs[p, 1]
        loose[fill[a]] = b
        fill[a] += 1
        loose[fill[b]] = a
        fill[b] += 1
    indices = np.empty(2 * m, np.int32)
    fill[:] = indptr[:-1]
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            j = loose[p]
            indices[fill[j]] = i
            fill[j] += 1
    return indptr, indices


@kernel
def _add(
    c: int,
    cluster: int,
    tail: int,
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
) -> int:
    """Put component ``c`` into the cluster as a whole unless an excluded one is there; the new end of the queue."""
    if barred[c] == cluster:
        return tail
    for p in range(clique_start[c], clique_start[c + 1]):
        if taken[cliques[p]] == cluster:
            return tail
    # Marks carry the number of the cluster, so that nothing has to be cleared when the next one starts.
    for p in range(foe_start[c], foe_start[c + 1]):
        barred[foes[p]] = cluster
    for p in range(clique_start[c], clique_start[c + 1]):
        taken[cliques[p]] = cluster
    for p in range(member_start[c], member_start[c + 1]):
        labels[members[p]] = cluster
        queue[tail] = members[p]
        tail += 1
    return tail


@kernel
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
    """Grow clusters from core rows, first come first served, for about so many ``steps``.

    ``at`` holds the next row to start from, head and tail of the queue, and the last cluster; a call continues where
    the last one stopped, until the first is n and the queue is empty.
    """
    x, head, tail, cluster = at[0], at[1], at[2], at[3]
    n = labels.shape[0]
    while steps > 0 and (head < tail or x < n):
        steps -= 1
        if head < tail:
            s = queue[head]
            head += 1
            # A border row belongs to the cluster, but the cluster does not grow through it.
            if not core[s]:
                continue
            steps -= indptr[s + 1] - indptr[s]
            for p in range(indptr[s], indptr[s + 1]):
                t = indices[p]
                if labels[t] < 0:
                    tail = _add(
                        component[t],
                        cluster,
                        tail,
                        member_start,
                        members,
                        foe_start,
                        foes,
                        clique_start,
                        cliques,
                        barred,
                        taken,
                        labels,
                        queue,
                    )
            continue
        if core[x] and labels[x] < 0:
            cluster += 1
            tail = _add(
                component[x],
                cluster,
                tail,
                member_start,
                members,
                foe_start,
                foes,
                clique_start,
                cliques,
                barred,
                taken,
                labels,
                queue,
            )
        x += 1
    at[0], at[1], at[2], at[3] = x, head, tail, cluster


@kernel
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
    """Prim's algorithm under the squared mutual reachability max(core², core², distance²), ``steps`` rows more.

    The rows that are not yet in the tree stand at places 0 … ``at[0]`` − 1, the one that joined last right behind
    them; columns, ``core`` and ``rows`` (their numbers) are rearranged as rows leave. ``reach`` and ``source`` are the
    lightest edge into the tree so far.
    """
    left = at[0]
    d, n = columns.shape
    for _ in range(min(steps, left)):
        gaps[:left] = 0
        for c in range(d):
            here = columns[c, left]
            for j in range(left):
                gap = columns[c, j] - here
                gaps[j] += gap * gap
        own, me = core[left], rows[left]
        best = np.inf
        for j in range(left):
            height = max(max(gaps[j], core[j]), own)
            if height < reach[j]:
                reach[j] = height
                source[j] = me
            best = min(best, reach[j])
        place = 0
        # The loop above keeps the least value, not its place, so that it vectorizes. The first place wins ties.
        while reach[place] > best:
            place += 1
        edge = n - 1 - left
        edges[edge, 0] = source[place]
        edges[edge, 1] = rows[place]
        heights[edge] = best
        left -= 1
        # The new row moves behind the others, so that the next pass runs over one contiguous piece.
        for c in range(d):
            columns[c, place], columns[c, left] = columns[c, left], columns[c, place]
        core[place], core[left] = core[left], core[place]
        rows[place], rows[left] = rows[left], rows[place]
        reach[place] = reach[left]
        source[place] = source[left]
    at[0] = left


@kernel
def _root(parent: Ints, a: int) -> int:
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


@kernel
def condense(edges: Ints, heights: Floats, least: int, parent: Ints, born: Floats, home: Ints, left: Floats) -> int:
    """Clusters of at least ``least`` rows in a spanning tree with sorted edges, from the leaves to the root.

    Edges of the same height are handled together. Groups that they join become one cluster: a new one above the
    clusters among them when these are several, the cluster itself when there is only one, and a new leaf when there is
    none and the rows are many enough. ``parent`` and ``born`` (the height where a cluster joins its parent) are
    filled in for each cluster, ``home`` and ``left`` (the cluster that a row leaves last on the way down, and where)
    for each row; −1 stands for none. Returns the number of clusters, of which the last is the root.
    """
    n = home.shape[0]
    joined = np.arange(n)  # union-find
    size = np.ones(n, np.int64)
    cluster = np.full(n, -1, np.int64)  # of a group, by its root
    following = np.full(n, -1, np.int64)  # chains of the rows of groups that are too small
    last = np.arange(n)
    bigs = np.zeros(n, np.int64)
    target = np.full(n, -1, np.int64)
    group = np.empty(2 * n, np.int64)
    seen = np.full(n, -1, np.int64)
    count = 0
    e = 0
    while e < edges.shape[0]:
        stop = e
        while stop < edges.shape[0] and heights[stop] == heights[e]:
            stop += 1
        # The groups that meet at this height, each once, before any of them are joined.
        m = 0
        for p in range(e, stop):
            for side in range(2):
                r = _root(joined, edges[p, side])
                if seen[r] != e:
                    seen[r] = e
                    group[m] = r
                    m += 1
        for p in range(e, stop):
            a, b = _root(joined, edges[p, 0]), _root(joined, edges[p, 1])
            if size[a] < size[b]:
                a, b = b, a
            joined[b] = a
            size[a] += size[b]
        for g in range(m):
            whole = _root(joined, group[g])
            bigs[whole] = 0
            target[whole] = -1
        for g in range(m):
            whole = _root(joined, group[g])
            if cluster[group[g]] >= 0:
                bigs[whole] += 1
                target[whole] = cluster[group[g]]
        for g in range(m):
            whole = _root(joined, group[g])
            if (bigs[whole] == 0 and target[whole] < 0 and size[whole] >= least) or bigs[whole] > 1:
                target[whole] = count
                parent[count] = -1
                born[count] = np.inf
                count += 1
                bigs[whole] = -bigs[whole]  # negative: the target is new
        for g in range(m):
            r = group[g]
            whole = _root(joined, r)
            goal = target[whole]
            # Too small to be a cluster yet: remember the rows, they get a home when their group has become one.
            if goal < 0:
                if r != whole:
                    following[last[whole]] = r
                    last[whole] = last[r]
            elif cluster[r] < 0:
                i = r
                while i >= 0:
                    home[i] = goal
                    left[i] = heights[e]
                    i = following[i]
            elif bigs[whole] < 0:
                parent[cluster[r]] = goal
                born[cluster[r]] = heights[e]
        for g in range(m):
            whole = _root(joined, group[g])
            cluster[whole] = target[whole]
        e = stop
    return count
