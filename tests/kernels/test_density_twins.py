"""Every kernel of `density` does what its plain twin does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import density
from twins import density as reference_density

seeds = st.integers(0, 2**16)


def both(name, *arrays_and_numbers):
    """The arguments after a call of the kernel and of its twin, and what each returned."""
    made = []
    for module in (density, reference_density):
        given_ = [a.copy() if isinstance(a, np.ndarray) else a for a in arrays_and_numbers]
        made.append((getattr(module, name)(*given_), given_))
    return made


def equal(fast, plain):
    for a, b in zip(fast, plain, strict=True):
        np.testing.assert_array_equal(a, b)


@given(seeds, st.integers(1, 30), st.integers(1, 30), st.integers(1, 12), st.sampled_from("fd"), st.booleans())
def test_near_pairs(seed, m, k, d, dtype, grid):
    """The twin does not look at the products: with any slack that covers their error the kernel finds the same."""
    rng = np.random.default_rng(seed)
    draw = (lambda size: rng.integers(0, 4, size=size)) if grid else (lambda size: rng.normal(size=size))
    x, y = draw((m, d)).astype(dtype), draw((k, d)).astype(dtype)
    same = bool(rng.integers(2))
    y = x if same else y
    radius = float(rng.choice([0.5, 1.0, np.sqrt(d), 2.0]))
    u, v = (x / radius).astype(np.float32), (y / radius).astype(np.float32)
    norms, other_norms = (u * u).sum(axis=1), (v * v).sum(axis=1)
    slack = np.float32((d + 8) * np.finfo(np.float32).eps * (norms.max() + other_norms.max()))
    arguments = u @ v.T, norms, other_norms, slack, x, y, radius**2, same
    for array in (*arguments[:3], x, y):
        array.flags.writeable = False
    equal(density.near_pairs(*arguments), reference_density.near_pairs(*arguments))


def test_near_pairs_decides_doubtful_ones_in_difference_form():
    """Products that are off by less than the slack change nothing: 3, 4 → 5 is within 5, just below is not."""
    x, y = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    one = np.ones(1, dtype=np.float32)
    for error in (-0.01, 0.0, 0.01):
        products = np.array([[0.5 + error]], dtype=np.float32)
        found = [len(density.near_pairs(products, one, one, np.float32(1.1), x, y, r**2, False)[0]) for r in (5, 4.999)]
        assert found == [1, 0]


@given(seeds, st.integers(1, 20), st.sampled_from([np.int32, np.int64]))
def test_neighbor_lists(seed, n, dtype):
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(np.column_stack(np.triu_indices(n, 1)))[: rng.integers(0, n * n)]
    pairs = rng.permuted(chosen, axis=1).astype(dtype)
    (fast, _), (plain, _) = both("neighbor_lists", n, pairs)
    equal(fast, plain)


@given(seeds, st.integers(1, 25), st.sampled_from([1, 7, 10**6]))
def test_grow(seed, n, steps):
    """Called again and again with few steps, or once with many: the same clusters, as the twin has them."""
    rng = np.random.default_rng(seed)
    linked = np.triu(rng.random((n, n)) < rng.choice([0.05, 0.2]), 1)
    indptr, indices = reference_density.neighbor_lists(n, np.argwhere(linked))
    core = rng.random(n) < 0.7
    component = np.unique(rng.integers(0, n, size=n), return_inverse=True)[1].astype(np.int32)
    count = component.max() + 1
    members = np.argsort(component, kind="stable").astype(np.int32)
    member_start = np.append(0, np.cumsum(np.bincount(component)))
    foe_start, foes = reference_density.neighbor_lists(count, np.argwhere(np.triu(rng.random((count, count)) < 0.2, 1)))
    inside = rng.random((count, 3)) < 0.2
    clique_start, cliques = np.append(0, np.cumsum(inside.sum(axis=1))), np.nonzero(inside)[1].astype(np.int32)
    results = []
    for module in (density, reference_density):
        barred, taken, labels = (np.full(size, -1, dtype=np.int32) for size in (count, 3, n))
        at, queue = np.array([0, 0, 0, -1]), np.zeros(n, dtype=np.int32)
        of_clues = component, member_start, members, foe_start, foes, clique_start, cliques
        calls = 0
        while at[0] < n or at[1] < at[2]:
            module.grow(indptr, indices, core, *of_clues, barred, taken, labels, queue, at, steps)
            calls += 1
        results.append((labels, queue[: at[2]], barred, taken, at, np.array(calls)))
    equal(*results)
    assert (results[0][-1] == 1) if steps > 10**5 else True


@given(seeds, st.integers(1, 20), st.integers(1, 3), st.sampled_from([1, 3, 100]), st.booleans())
def test_span(seed, n, d, steps, grid):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 4, size=(d, n)).astype(float) if grid else rng.normal(size=(d, n))
    core = rng.random(n)
    results = []
    for module in (density, reference_density):
        at = np.array([n - 1])
        state = [columns.copy(), core.copy(), np.arange(n), np.full(n, np.inf), np.zeros(n, np.int64), np.zeros(n), at]
        edges, heights = np.zeros((n - 1, 2), dtype=np.int64), np.zeros(n - 1)
        while at[0]:
            module.span(*state, edges, heights, steps)
        results.append((edges, heights, *state[:3]))
    equal(*results)


@given(seeds, st.integers(1, 25), st.integers(2, 6), st.integers(1, 8))
def test_condense(seed, n, least, levels):
    """Random trees with few different heights, so that many edges act at once; clusters may be numbered otherwise."""
    rng = np.random.default_rng(seed)
    grown = np.array([(rng.integers(i), i) for i in range(1, n)], dtype=np.int64).reshape(-1, 2)
    edges = rng.permuted(rng.permutation(grown), axis=1)  # parts grow everywhere, then meet
    heights = np.sort(rng.integers(1, levels + 1, size=n - 1)).astype(float)
    results = []
    for module in (density, reference_density):
        parent, born = np.zeros(n, dtype=np.int64), np.zeros(n)
        home, left = np.full(n, -1, dtype=np.int64), np.full(n, np.inf)
        m = module.condense(edges, heights, least, parent, born, home, left)
        assert (parent[:m] > np.arange(m))[:-1].all(), "a child has a higher number than its parent"
        inside = {c: {i for i in range(n) if c in path(parent, home[i])} for c in range(m)}
        clusters = {(frozenset(inside[c]), born[c], frozenset(inside.get(parent[c], ()))) for c in range(m)}
        assert len(clusters) == m
        results.append((clusters, [(frozenset(inside.get(h, ())), at) for h, at in zip(home, left)]))
    assert results[0] == results[1]


def path(parent, c):
    """A cluster and all clusters above it."""
    found = []
    while c >= 0:
        found.append(c)
        c = parent[c]
    return found
