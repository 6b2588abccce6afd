"""The kernel of `bonds` does what its plain twin does, with hard links, large groups, and ties on purpose."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import bonds
from twins import bonds as reference_bonds


@given(st.integers(0, 2**16), st.booleans(), st.booleans())
def test_relax(seed, ties, grouped):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    table = np.triu(rng.integers(-2, 3, size=(m, m)) if ties else rng.normal(size=(m, m)), 1).astype(float)
    table[rng.random((m, m)) < 0.5] = 0
    labels = rng.integers(k, size=m).astype(np.int32)
    table[(rng.random((m, m)) < 0.2) & (labels[:, None] != labels)] = np.inf  # hard links hold at the start
    table = np.triu(table, 1) + np.triu(table, 1).T
    row, column = np.nonzero(table)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m))])
    member = rng.random((m, 2)) < (0.6 if grouped else 0.0)
    owner, groups = np.nonzero(member)
    shares = rng.integers(1, 4, size=len(groups)).astype(float)
    node_indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=m))])
    counts = np.zeros((2, k))
    np.add.at(counts, (groups, labels[owner]), shares)
    costs = rng.integers(0, 3, size=(m, k)).astype(float) if ties else rng.random((m, k))
    given_ = (indptr, column.astype(np.int32), table[row, column], node_indptr, groups, shares, rng.normal(size=2))
    order = rng.permutation(m)
    found = []
    for module in (bonds, reference_bonds):
        own, tally = labels.copy(), counts.copy()
        moved = module.relax(*given_, costs, order, m // 3, m, 1e-12, own, tally)
        found.append((moved, own, tally))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[0][2], found[1][2])
    same = found[0][1][row] == found[0][1][column]
    assert not np.isinf(table[row, column][same]).any()


def test_a_node_follows_the_stronger_pull_and_never_breaks_a_hard_link():
    """Node 0 would rather be in cluster 0; node 1, there, attracts it by 2; node 2, there, forbids it."""
    indptr, indices = np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32)
    none = np.zeros(4, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0)
    costs = np.array([[0.0, 1.0], [0.0, 9.0], [0.0, 9.0]])
    for pull, expected in (([-2.0, 5.0], 1), ([-2.0, 0.5], 0), ([-9.0, np.inf], 1)):
        labels = np.array([1, 0, 0], np.int32)
        both = np.array([*pull, *pull])
        bonds.relax(indptr, indices, both, *none, costs, np.arange(3), 0, 1, 0.0, labels, np.zeros((0, 2)))
        assert labels[0] == expected
