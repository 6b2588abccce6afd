"""Compiled loops over networks of nodes of which some must not share a cluster: peeling, greedy, repair.

A network is six flat arrays. ``indptr, indices``: pairs of nodes that exclude each other, symmetric CSR.
``clique_indptr, clique_members``: sets of which no two members may share a cluster, and ``node_indptr,
node_cliques``: the cliques of each node. ``peel``, ``explore`` and ``greedy`` work on whole inputs and never
expand a clique; the others work on hard cores, where no clique has more than k members, and take plain pairs.

A cost of infinity forbids a cluster. Calls that may be long stop after ``budget`` steps (10⁶ take some
10 ms) and carry on from their ``state`` when called again; they return True when nothing is left to do.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["explore", "fold", "greedy", "kempe", "peel", "tabu"]


# A heap entry is degree · 2³² + node: one comparison, smaller degree first, then lower number.
SHIFT = 32
MASK = (1 << SHIFT) - 1


@kernel
def _up(heap: Ints, position: Ints, i: int, key: int) -> None:
    """Let ``key`` rise from place ``i`` of the heap."""
    while i > 0:
        above = (i - 1) >> 1
        if heap[above] < key:
            break
        heap[i] = heap[above]
        position[heap[i] & MASK] = i
        i = above
    heap[i] = key
    position[key & MASK] = i


@kernel
def _down(heap: Ints, position: Ints, size: int, key: int) -> None:
    """Let ``key`` sink from the top of the heap."""
    i = 0
    while 2 * i + 1 < size:
        below = 2 * i + 1
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if key < heap[below]:
            break
        heap[i] = heap[below]
        position[heap[i] & MASK] = i
        i = below
    heap[i] = key
    position[key & MASK] = i


@kernel
def peel(
    indptr: Ints,
    indices: Ints,
    clique_indptr: Ints,
    clique_members: Ints,
    node_indptr: Ints,
    node_cliques: Ints,
    alive: Ints,
    heap: Ints,
    position: Ints,
    order: Ints,
    state: Ints,
    cap: int,
    floor: int,
    budget: int,
) -> bool:
    """Remove nodes, smallest degree first (then lowest number), while that degree is below ``floor``.

    A clique adds min(members left − 1, ``cap``) to the degree of its members, so only its last ``cap``
    removals cost a pass over it: O((pairs + cap · Σ|clique|) log nodes). ``heap`` holds degree · 2³² + node,
    sorted; ``position`` the place of each node in it (−1: removed); ``alive`` the sizes of the cliques; ``order``
    receives the removed nodes. ``state``: nodes left, nodes removed, largest degree met at a removal.
    """
    size, removed = state[0], state[1]
    finished = True
    while size > 0 and heap[0] >> SHIFT < floor:
        if budget <= 0:
            finished = False
            break
        v = heap[0] & MASK
        state[2] = max(state[2], heap[0] >> SHIFT)
        size -= 1
        if size > 0:
            _down(heap, position, size, heap[size])
        position[v] = -1
        order[removed] = v
        removed += 1
        budget -= 16 + indptr[v + 1] - indptr[v]
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if position[u] >= 0:
                _up(heap, position, position[u], heap[position[u]] - (1 << SHIFT))
        for e in range(node_indptr[v], node_indptr[v + 1]):
            q = node_cliques[e]
            alive[q] -= 1
            # The clique still counts for `cap` at every member: no degree changes, so no member is visited.
            if alive[q] > cap:
                continue
            budget -= clique_indptr[q + 1] - clique_indptr[q]
            for j in range(clique_indptr[q], clique_indptr[q + 1]):
                u = clique_members[j]
                if position[u] >= 0:
                    _up(heap, position, position[u], heap[position[u]] - (1 << SHIFT))
    state[0], state[1] = size, removed
    return finished


@kernel
def explore(
    indptr: Ints,
    indices: Ints,
    clique_indptr: Ints,
    clique_members: Ints,
    node_indptr: Ints,
    node_cliques: Ints,
    component: Ints,
    depth: Ints,
    parent: Ints,
    queue: Ints,
    opened: Bools,
    state: Ints,
    budget: int,
) -> bool:
    """Breadth-first search from the lowest node of each component: component, depth and parent of every node.

    ``component`` starts as −1, ``opened`` (per clique) as False. ``state``: head and tail of the queue, the node
    from which to look for the next root, components found.
    """
    m = component.shape[0]
    head, tail, root = state[0], state[1], state[2]
    while budget > 0:
        if head == tail:
            while root < m and component[root] >= 0:
                root += 1
            if root == m:
                break
            component[root] = state[3]
            state[3] += 1
            depth[root] = 0
            parent[root] = -1
            queue[tail] = root
            tail += 1
        v = queue[head]
        head += 1
        budget -= 4 + indptr[v + 1] - indptr[v]
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if component[u] < 0:
                component[u], depth[u], parent[u] = component[v], depth[v] + 1, v
                queue[tail] = u
                tail += 1
        for e in range(node_indptr[v], node_indptr[v + 1]):
            q = node_cliques[e]
            # The first member that is visited reaches all others: a clique costs its size, not its square.
            if opened[q]:
                continue
            opened[q] = True
            budget -= clique_indptr[q + 1] - clique_indptr[q]
            for j in range(clique_indptr[q], clique_indptr[q + 1]):
                u = clique_members[j]
                if component[u] < 0:
                    component[u], depth[u], parent[u] = component[v], depth[v] + 1, v
                    queue[tail] = u
                    tail += 1
    state[0], state[1], state[2] = head, tail, root
    return root == m


@kernel
def greedy(
    indptr: Ints,
    indices: Ints,
    clique_indptr: Ints,
    clique_members: Ints,
    node_indptr: Ints,
    node_cliques: Ints,
    order: Ints,
    start: int,
    stop: int,
    costs: Floats,
    labels: Ints,
    mark: Ints,
) -> int:
    """Give ``order[start:stop]`` the cheapest cluster that no labelled node they exclude has (ties: lowest).

    Nodes without one keep −1; their number is returned. In reverse order of ``peel`` there is none when k
    exceeds the degeneracy. ``mark`` is scratch of length k, −1 at first.
    """
    stuck = 0
    k = costs.shape[1]
    for i in range(start, stop):
        v = order[i]
        for e in range(indptr[v], indptr[v + 1]):
            if labels[indices[e]] >= 0:
                mark[labels[indices[e]]] = v
        for e in range(node_indptr[v], node_indptr[v + 1]):
            q = node_cliques[e]
            for j in range(clique_indptr[q], clique_indptr[q + 1]):
                u = clique_members[j]
                if u != v and labels[u] >= 0:
                    mark[labels[u]] = v
        best = -1
        least = np.inf
        for c in range(k):
            if mark[c] != v and costs[v, c] < least:
                best, least = c, costs[v, c]
        labels[v] = best
        if best < 0:
            stuck += 1
    return stuck


@kernel
def fold(indptr: Ints, indices: Ints, order: Ints, start: int, stop: int, costs: Floats, removed: Bools) -> None:
    """Settle ``order[start:stop]``, each with at most one neighbor left, by adding their cost to that neighbor.

    Whatever the neighbor chooses, the leaf takes its cheapest cluster, or its second when that is taken: so the
    costs of the rest describe the whole problem, exactly.
    """
    k = costs.shape[1]
    for i in range(start, stop):
        v = order[i]
        removed[v] = True
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if removed[u]:
                continue
            first = second = np.inf
            where = -1
            # The two cheapest clusters of the leaf are all that can matter to its neighbor.
            for c in range(k):
                if costs[v, c] < first:
                    first, second, where = costs[v, c], first, c
                elif costs[v, c] < second:
                    second = costs[v, c]
            for c in range(k):
                costs[u, c] += second if c == where else first
            break


@kernel
def kempe(
    indptr: Ints,
    indices: Ints,
    costs: Floats,
    labels: Ints,
    start: int,
    longest: int,
    tolerance: float,
    queue: Ints,
    mark: Ints,
    state: Ints,
    budget: int,
) -> int:
    """Swap two clusters along chains that exclude each other wherever that is cheaper; valid labels stay valid.

    Goes through the nodes from ``start`` and returns the node where the budget ended (or their number). A chain
    of one node is a plain move; chains longer than ``longest`` are left alone. ``mark`` is scratch (0 at first);
    ``state``: last mark used, swaps made.
    """
    m, k = costs.shape
    for v in range(start, m):
        if budget <= 0:
            return v
        budget -= k
        for c in range(k):
            # A Kempe chain: the nodes of clusters a and c that v reaches through nodes of a and c. Swapping a and c on
            # all of it keeps every pair apart, because each neighbor outside of the chain is in neither of the two.
            # Only starts that gain themselves are tried; a chain that gains has such a node somewhere.
            a = labels[v]
            if costs[v, c] >= costs[v, a]:
                continue
            state[0] += 1
            mark[v] = state[0]
            queue[0] = v
            head, tail = 0, 1
            change = 0.0
            while head < tail and tail <= longest and change < np.inf:
                u = queue[head]
                head += 1
                change += costs[u, c if labels[u] == a else a] - costs[u, labels[u]]
                budget -= 1 + indptr[u + 1] - indptr[u]
                for e in range(indptr[u], indptr[u + 1]):
                    w = indices[e]
                    if mark[w] != state[0] and (labels[w] == a or labels[w] == c):
                        mark[w] = state[0]
                        queue[tail] = w
                        tail += 1
            # head < tail: the chain was cut short, and swapping a part of it would break a pair.
            if head == tail and change < -tolerance:
                state[1] += 1
                for i in range(tail):
                    u = queue[i]
                    labels[u] = c if labels[u] == a else a
    return m


@kernel
def _lottery(state: Ints) -> int:
    """Next of a fixed sequence of scattered numbers (Park and Miller's generator)."""
    state[3] = state[3] * 48271 % 2147483647
    return state[3] >> 8


@kernel
def tabu(
    indptr: Ints,
    indices: Ints,
    costs: Floats,
    labels: Ints,
    near: Ints,
    until: Ints,
    wrong: Ints,
    place: Ints,
    state: Ints,
    budget: int,
) -> bool:
    """Repair ``labels`` by the move that leaves fewest broken pairs, not undoing recent ones (TabuCol).

    ``near[v, c]``: neighbors of v in cluster c; ``until[v, c]``: step before which v may not return to c;
    ``wrong[:state[4]]``: the nodes with a broken pair, ``place`` where they stand in it (−1: nowhere). ``state``: step,
    broken pairs, fewest so far, last number of the lottery that breaks ties, nodes with a broken pair. True when
    there are none.
    """
    k = costs.shape[1]
    while state[1] > 0 and budget > 0:
        state[0] += 1
        step = state[0]
        node, move, best, ties = -1, -1, 2 * state[1] + 2, 0
        for i in range(state[4]):
            v = wrong[i]
            for c in range(k):
                change = near[v, c] - near[v, labels[v]]
                if c == labels[v] or change > best or costs[v, c] == np.inf:
                    continue
                # Aspiration: a forbidden move is allowed when it leads to fewer broken pairs than ever before.
                if until[v, c] < step or state[1] + change < state[2]:
                    ties = 1 if change < best else ties + 1
                    if ties == 1 or _lottery(state) % ties == 0:
                        node, move, best = v, c, change
        budget -= state[4] * k
        if node < 0:
            continue
        old = labels[node]
        labels[node] = move
        # 0.6 · (nodes in trouble) + a number below 10: the tenure that Galinier and Hao found to work for TabuCol.
        # It has to grow with the trouble, or the search runs in circles among many equal moves.
        until[node, old] = step + state[4] * 3 // 5 + _lottery(state) % 10
        state[1] += best
        state[2] = min(state[2], state[1])
        budget -= indptr[node + 1] - indptr[node]
        for e in range(indptr[node], indptr[node + 1]):
            u = indices[e]
            near[u, old] -= 1
            near[u, move] += 1
            _enlist(wrong, place, state, u, near[u, labels[u]] > 0)
        _enlist(wrong, place, state, node, near[node, move] > 0)
    return state[1] == 0


@kernel
def _enlist(wrong: Ints, place: Ints, state: Ints, v: int, listed: bool) -> None:
    """Put v on the list of nodes with a broken pair, or take it off."""
    if listed and place[v] < 0:
        place[v] = state[4]
        wrong[state[4]] = v
        state[4] += 1
    # The last entry takes the place of v, so that both ways take constant time.
    elif not listed and place[v] >= 0:
        state[4] -= 1
        last = wrong[state[4]]
        wrong[place[v]] = last
        place[last] = place[v]
        place[v] = -1
