"""Compiled kernels of correlation clustering against their plain twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import correlation, graphs
from twins import correlation as plain

NAMES = ("count_overlap", "join_clusters", "move_nodes", "partition_exactly")


@st.composite
def signed_graphs(draw, most=9):
    """Nodes with distinct signed edges, some forbidden, and counts of groups, some of them hard; maybe with ties."""
    n = draw(st.integers(1, most), label="n")
    rng = np.random.default_rng(draw(st.integers(0, 2**16), label="seed"))
    pairs = np.argwhere(np.triu(rng.random((n, n)) < draw(st.sampled_from([0.2, 0.5, 1.0])), 1))
    ties = draw(st.booleans(), label="ties")
    weight = rng.integers(-3, 4, len(pairs)).astype(float) if ties else rng.normal(size=len(pairs))
    weight[rng.random(len(pairs)) < 0.1] = -np.inf
    g = draw(st.integers(0, 3), label="groups")
    member = rng.random((n, g)) < 0.4
    counts = np.where(member, rng.integers(1, 3, (n, g)), 0)
    group_weight = np.where(rng.random(g) < 0.5, np.inf, 0.5 if ties else rng.random(g))
    indptr = np.append(0, np.cumsum(member.sum(axis=1)))
    groups = (indptr, np.nonzero(member)[1].astype(np.int32), counts[member].astype(float), group_weight)
    return n, pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int32), weight, groups


def test_every_kernel_has_a_twin():
    assert tuple(correlation.__all__) == tuple(plain.__all__) == NAMES


def gain(case, labels):
    n, first, second, weight, groups = case
    table = plain._gains(n, first, second, weight, *groups)
    return sum(table[a, b] for a in range(n) for b in range(a) if labels[a] == labels[b])


def named(labels):
    """Clusters by their first member."""
    return [list(labels).index(h) for h in labels]


@given(signed_graphs())
def test_count_overlap(case):
    _, first, second, _, groups = case
    ours, twin = (module.count_overlap(first, second, *groups) for module in (correlation, plain))
    np.testing.assert_allclose(ours, twin)


@given(signed_graphs(most=6), signed_graphs(most=6), st.booleans())
def test_partition_exactly(one, other, alone):
    """Two pieces at once; where partitions tie, only the gain is compared."""
    (n, first, second, weight, groups), (n2, first2, second2, weight2, _) = one, other
    empty = np.full(n2, groups[0][-1])
    start, edges = np.array([0, n, n + n2]), np.array([0, len(first), len(first) + len(first2)])
    both = (np.append(first, first2 + n), np.append(second, second2 + n), np.append(weight, weight2))
    more = (np.append(groups[0], empty), *groups[1:])
    whole = (n + n2, *both, more)
    labels = correlation.join_clusters(n + n2, *both, np.arange(edges[-1]), *more, 0 if alone else 3)[0]
    found = [np.array(named(labels), np.int32) for _ in range(2)]
    changed = [
        module.partition_exactly(start, edges, *both, *more, labels, 1e-9)
        for module, labels in zip((correlation, plain), found)
    ]
    assert changed[0] == changed[1]
    assert gain(whole, found[0]) == pytest.approx(gain(whole, found[1]))
    assert named(found[0]) == found[0].tolist()
    assert (found[0][n:] >= n).all()


@given(signed_graphs(most=16))
def test_join_clusters(case):
    n, first, second, weight, groups = case
    tie = first.astype(np.int64) * n + second
    found = [module.join_clusters(n, first, second, weight, tie, *groups, 10**6) for module in (correlation, plain)]
    assert found[0][1]
    assert named(found[0][0]) == named(found[1][0])


@pytest.mark.parametrize("seed", range(5))
def test_join_clusters_of_many_edges(seed):
    """A heap of two hundred edges: small ones hide an entry that is out of place."""
    rng, n = np.random.default_rng(seed), 25
    first, second = (side.astype(np.int32) for side in np.triu_indices(n, 1))
    weight = rng.normal(0.3, 1, size=len(first))
    member = rng.integers(3, size=n).astype(np.int32)
    groups = (np.arange(n + 1), member, np.ones(n), np.array([0.5, 0.1, np.inf]))
    args = (n, first, second, weight, np.arange(len(first)), *groups, 10**6)
    assert named(correlation.join_clusters(*args)[0]) == named(plain.join_clusters(*args)[0])


@given(signed_graphs())
def test_join_clusters_stops_early(case):
    n, first, second, weight, groups = case
    root, done = correlation.join_clusters(n, first, second, weight, np.arange(len(first)), *groups, 1)
    assert len(set(root.tolist())) >= n - 1
    assert done or (weight > 0).any()


@given(signed_graphs(), st.integers(0, 2**16))
def test_move_nodes(case, seed):
    n, first, second, weight, groups = case
    near = graphs.adjacency(n, first, second, weight)
    rng = np.random.default_rng(seed)
    labels = correlation.join_clusters(n, first, second, weight, rng.permutation(len(first)), *groups, 3)[0]
    other = labels.copy()
    start = int(rng.integers(n))
    for _ in range(3):
        moved = [m.move_nodes(*near, *groups, x, start, n, 1e-9) for m, x in ((correlation, labels), (plain, other))]
        assert moved[0] == moved[1]
        assert labels.tolist() == other.tolist()
