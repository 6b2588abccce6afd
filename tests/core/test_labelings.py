"""Tables of partitions: codes, costs and counts, compared with loops over rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.core.partitions import labelings as module
from cluewise.core.partitions.labelings import costs_in, distinct_rows, held_by, labelings_of, lined_up
from cluewise.core.partitions.utilities import utility_of


@st.composite
def ensembles(draw):
    """B (n, m) with −1 = missing, as the specification writes it, and random clusters of the rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16), label="seed"))
    n, m, k = draw(st.integers(1, 30)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
    B = rng.integers(-1, 4, size=(n, m))
    return B, rng.random(m), rng.integers(k, size=n).astype(np.int32), k, rng


@given(ensembles(), st.sampled_from([2, 5, 2**13]))
def test_costs_and_counts_are_those_of_a_loop(case, size):
    B, weights, labels, k, rng = case
    before, module.BLOCK = module.BLOCK, size
    try:
        found = labelings_of(list(B.T), weights)
        held = held_by(found, labels, k)
        shares = [rng.dirichlet(np.ones(max(s, 1)), size=k)[:, :s] for s in found.sizes]
        utility = utility_of("category")
        costs = np.vstack(costs_in(found, utility, shares, lambda block, part: part))
    finally:
        module.BLOCK = before
    for t, column in enumerate(B.T):
        names = np.unique(column[column >= 0]).tolist()
        assert found.covered[t] == (column >= 0).sum()
        expected = [[((labels == h) & (column == name)).sum() for name in names] for h in range(k)]
        assert held[t].tolist() == np.reshape(expected, (k, len(names))).tolist()
    for i, row in enumerate(B):
        for h in range(k):
            paid = 0.0
            for t, label in enumerate(row):
                if label >= 0:
                    names = np.unique(B[:, t][B[:, t] >= 0]).tolist()
                    y = shares[t][h]
                    e = np.eye(len(y))[names.index(label)]
                    paid += weights[t] * ((e - y) ** 2).sum()
            assert costs[i, h] == pytest.approx(paid, abs=1e-12)


def test_unsigned_labels_are_not_copied():
    line = np.array([0, 1, 255, 1], dtype=np.uint8)
    found = labelings_of([line], np.ones(1))
    assert found.codes[0] is line
    assert (found.sizes, found.covered.tolist()) == ([2], [3])
    assert found.overall[0].tolist() == [1 / 3, 2 / 3]


@pytest.mark.parametrize(
    "line",
    [
        np.array([10**12, 7, -3, 7]),
        np.array([2**40, 7, 2**64 - 1, 7], dtype=np.uint64),
        np.array([200, 7, 255, 7], dtype=np.uint8),
    ],
)
def test_large_labels_become_small_codes(line):
    found = labelings_of([line], np.ones(1))
    assert found.sizes == [2]
    assert found.codes[0].dtype == np.uint8
    assert found.codes[0].tolist() == [1, 0, 255, 0]


def test_a_partition_without_a_label():
    found = labelings_of([np.array([-1, -1]), np.array([0, 1])], np.ones(2))
    assert found.sizes == [0, 2]
    assert found.covered.tolist() == [0, 2]
    assert [own.shape for own in held_by(found, np.zeros(2, dtype=np.int32), 3)] == [(3, 0), (3, 2)]


@given(ensembles())
def test_drawn_rows_differ_and_know_no_order(case):
    B, weights, _, k, rng = case
    seed, rows = int(rng.integers(2**16)), rng.permutation(len(B))

    def draw(table):
        own = np.random.default_rng(seed)
        place = lined_up(labelings_of(list(table.T), weights), own)
        return table[distinct_rows(place, k, own)]

    drawn = draw(B)
    assert drawn.tolist() == draw(B[rows]).tolist()
    kinds = len(np.unique(B, axis=0))
    assert len(np.unique(drawn, axis=0)) == min(kinds, k)


def test_every_row_is_drawn_as_often_as_any_other():
    found = labelings_of([np.arange(5)], np.ones(1))
    rng = np.random.default_rng(0)
    drawn = [distinct_rows(lined_up(found, rng), 2, rng) for _ in range(2000)]
    counts = np.bincount(np.concatenate(drawn), minlength=5)
    assert abs(counts - 800).max() < 4 * np.sqrt(800 * 0.6)  # four standard deviations
