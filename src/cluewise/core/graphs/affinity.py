"""Affinities: sparse symmetric graphs of neighbors, or a dense matrix for few rows.

Weights are between 0 and 1, and the diagonal is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, triu
from scipy.sparse.csgraph import connected_components

from cluewise._typing import Floats, Ints
from cluewise.core.graphs.neighbors import Neighbors, nearest_rows

__all__ = ["connect", "dense_affinity", "given_affinity", "neighbor_affinity", "symmetrize"]

DENSE = 2**30
"""Maximum size of a dense affinity in bytes."""

PRECISE = 1e-9
"""Relative rounding error that weights may have."""

TINY = 1e-12
"""Minimum weight of an edge."""

EDGES = 2 * 10**6
"""Maximum number of edges between all copies of neighbors."""


def neighbor_affinity(X: Floats, n_neighbors: int, weights: str = "local", gamma: float | None = None) -> csr_array:
    """Sparse affinity of rows of which at least one is among the nearest of the other; the graph is connected.

    ``weights`` is "equal" (1 for mutual neighbors, ½ for others, as in scikit-learn), "local" (exp(−d²/(s t)), where
    the scale of a row is the distance to its farthest neighbor) or "global" (exp(−γ d²), γ by default one over the
    median squared distance to that neighbor). Neighbors are distinct: of equal rows, which would otherwise have no
    other neighbors, all have the neighbors of one.
    """
    distinct, copy_of = np.unique(X, axis=0, return_inverse=True)
    if len(distinct) == len(X):
        return _distinct_affinity(X, n_neighbors, weights, gamma)
    return _share_among_copies(_distinct_affinity(distinct, n_neighbors, weights, gamma), copy_of.ravel(), n_neighbors)


def _distinct_affinity(X: Floats, n_neighbors: int, weights: str, gamma: float | None) -> csr_array:
    found = nearest_rows(X, n_neighbors)
    n, k = found.rows.shape
    first = np.repeat(np.arange(n, dtype=np.int32), k)
    return connect(symmetrize(_weigh(first, found, weights, gamma)), X)


def _weigh(first: Ints, found: Neighbors, weights: str, gamma: float | None) -> coo_array:
    n, k = found.rows.shape
    if weights == "equal" or k == 0:
        value = np.ones(n * k)
    elif weights == "local":
        value = np.exp(-_ratio(found.squared, local_scales(found), found.rows)).ravel()
    else:
        value = np.exp(-(gamma if gamma is not None else _typical(found)) * found.squared).ravel()
    # Edges whose weight underflows to zero would disconnect the graph.
    return coo_array((np.maximum(value, TINY), (first, found.rows.ravel())), shape=(n, n))


def local_scales(found: Neighbors) -> Floats:
    """Distance of each row to its farthest neighbor; zeros are replaced by the smallest positive scale."""
    scale = np.sqrt(found.squared[:, -1])
    positive = scale[scale > 0]
    return np.maximum(scale, positive.min() if len(positive) else 1.0)


def _ratio(squared: Floats, scale: Floats, rows: Ints) -> Floats:
    return squared / (scale[:, None] * scale[rows])


def _typical(found: Neighbors) -> float:
    """One over the median squared distance to the farthest neighbor."""
    far = found.squared[:, -1]
    far = far[far > 0]
    return 1.0 / float(np.median(far)) if len(far) else 1.0


def _share_among_copies(graph: csr_array, copy_of: Ints, most: int) -> csr_array:
    """A graph of distinct rows as one of all rows: equal rows share the edges of the distinct row that they copy.

    Toward its neighbors each copy has about as much weight as the row would have alone, and toward the other copies a
    weight of 1, as one more neighbor: an edge between rows of a and b copies has (a + b)/2 times its weight in all. If
    each pair of copies had a weight of 1, any row with many copies would be a cluster. If there would be too many
    edges, a copy has edges to ``most`` copies of each neighbor, drawn at random: taken in order, they would form rings
    that are easy to cut.
    """
    n, count = len(copy_of), np.bincount(copy_of)
    copies, start = np.argsort(copy_of, kind="stable").astype(np.int32), np.cumsum(count) - count
    half = coo_array(triu(graph))
    swap = count[half.row] < count[half.col]
    more, fewer = np.where(swap, half.col, half.row), np.where(swap, half.row, half.col)
    own = np.flatnonzero(count > 1)
    a, b = np.concatenate([more, own]), np.concatenate([fewer, own])
    others = np.concatenate([count[fewer], count[own] - 1])
    total = np.concatenate([half.data * (count[more] + count[fewer]) / 2, count[own] / 2])
    met = others if count[a] @ others <= EDGES else np.minimum(others, most)
    edges = count[a] * met
    edge = np.repeat(np.arange(len(a)), edges)
    i, step = np.divmod(np.arange(len(edge)) - np.repeat(np.cumsum(edges) - edges, edges), met[edge])
    some = (met < others)[edge]
    step[some] = np.random.default_rng(0).integers(others[edge[some]])
    step += a[edge] == b[edge]  # not to itself
    first = copies[start[a[edge]] + i]
    second = copies[start[b[edge]] + (i + step) % count[b[edge]]]
    shared = coo_array(((total / edges)[edge], (first, second)), shape=(n, n))
    whole = csr_array(shared + shared.T)
    whole.sort_indices()
    return whole


def symmetrize(directed: Any) -> csr_array:
    """The mean of a matrix and its transpose, without diagonal."""
    half = csr_array(directed)
    graph = csr_array(0.5 * (half + half.T))
    graph.setdiag(0)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def connect(graph: csr_array, X: Floats) -> csr_array:
    """Connect the pieces of a graph by edges between close rows, with half the median weight."""
    count, piece = connected_components(graph, directed=False)
    if count == 1:
        return graph
    X = X.astype(np.float64, copy=False)
    ends = np.array([_bridge(X, piece, a, b) for a, b in _tree_of_means(X, piece, count)], dtype=np.int32)
    weight = np.full(len(ends), 0.5 * float(np.median(graph.data)) if graph.nnz else 0.5)
    bridges = coo_array((weight, (ends[:, 0], ends[:, 1])), shape=graph.shape)
    whole = csr_array(graph + bridges + bridges.T)
    whole.sort_indices()
    return whole


def _tree_of_means(X: Floats, piece: Ints, count: int) -> list[tuple[int, int]]:
    """Minimum spanning tree over the means of the pieces (Prim), which needs one row of distances at a time."""
    mass = np.bincount(piece, minlength=count)
    member = csr_array((np.ones(len(piece)), (piece, np.arange(len(piece)))), shape=(count, len(piece)))
    means = (member @ X) / mass[:, None]
    near, nearest = np.full(count, np.inf), np.zeros(count, dtype=np.int64)
    outside = np.ones(count, dtype=bool)
    edges, at = [], 0
    for _ in range(count - 1):
        outside[at] = False
        squared = ((means - means[at]) ** 2).sum(axis=1)
        closer = squared < near
        near[closer], nearest[closer] = squared[closer], at
        at = int(np.argmin(np.where(outside, near, np.inf)))
        edges.append((int(nearest[at]), at))
    return edges


def _bridge(X: Floats, piece: Ints, a: int, b: int) -> tuple[int, int]:
    """A close pair of rows of two pieces: the closer of two, one found from each piece.

    With a search from one of them only, the bridge would depend on how pieces are numbered, hence on the order of rows.
    """
    return min((_search(X, piece, a, b), _search(X, piece, b, a)))[1:]


def _search(X: Floats, piece: Ints, a: int, b: int) -> tuple[float, int, int]:
    """A close pair, found by alternating between nearest rows until neither changes, and its squared distance."""
    left, right = np.flatnonzero(piece == a), np.flatnonzero(piece == b)
    i = left[_nearest(X[left], X[right].mean(axis=0))]
    best = np.inf
    while True:
        j = right[_nearest(X[right], X[i])]
        i = left[_nearest(X[left], X[j])]
        gap = float(((X[i] - X[j]) ** 2).sum())
        if gap >= best:
            return gap, int(i), int(j)
        best = gap


def _nearest(X: Floats, x: Floats) -> int:
    return int(np.argmin(((X - x) ** 2).sum(axis=1)))


def dense_affinity(X: Floats, gamma: float | None = None) -> Floats:
    """exp(−γ d²) for all pairs; γ is by default one over the median squared distance to the seventh neighbor."""
    n = len(X)
    require_room(n, 'affinity="rbf"', 'affinity="nearest_neighbors"')
    if gamma is None:
        gamma = _typical(nearest_rows(X, 7)) if n > 1 else 1.0
    table = _squared(X.astype(np.float64, copy=False), PRECISE / gamma)
    table *= -gamma
    np.exp(table, out=table)
    table = np.maximum(table, table.T)  # exactly symmetric
    np.fill_diagonal(table, 0)
    return table


def _squared(X: Floats, slack: float) -> Floats:
    """Squared distances of all pairs of rows, with an error of at most ``slack``."""
    moved = X - X.mean(axis=0)
    norms = np.einsum("ij,ij->i", moved, moved)
    # The matrix product is fast, but its rounding error is relative to the norms: close rows far from the mean would
    # lose most digits.
    if 4 * (X.shape[1] + 8) * np.finfo(np.float64).eps * norms.max(initial=0.0) > slack:
        from scipy.spatial.distance import cdist

        return np.asarray(cdist(X, X, "sqeuclidean"))
    table: Floats = moved @ moved.T
    table *= -2
    table += norms
    table += norms[:, None]
    return np.maximum(table, 0, out=table)


def require_room(n: int, what: str, instead: str) -> None:
    """Raise an error if a matrix of all pairs is too large."""
    if 8 * n * n > DENSE:
        raise ValueError(
            f"{what} needs a matrix of all pairs, {8 * n * n / 2**30:.1f} GiB for {n} rows; the limit is "
            f"{DENSE / 2**30:.0f} GiB. Use {instead}, which stores neighbors only."
        )


def given_affinity(X: Any) -> Any:
    """A precomputed affinity: checked, made symmetric, without diagonal; dense or CSR like X."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"a precomputed affinity must be square; X has shape {X.shape}.")
    if isinstance(X, np.ndarray):
        if (X < 0).any():
            row, column = (int(i) for i in np.argwhere(X < 0)[0])
            raise ValueError(f"Negative values in data: the affinity in row {row}, column {column} is negative.")
        table = 0.5 * (X.astype(np.float64) + X.T)
        np.fill_diagonal(table, 0)
        return table
    graph = csr_array(X, dtype=np.float64)
    if graph.nnz and graph.data.min() < 0:
        raise ValueError("Negative values in data: a precomputed affinity must not have any.")
    return symmetrize(graph)
