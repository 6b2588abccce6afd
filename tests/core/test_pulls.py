"""Clues as forces: groups and labels act like the pairs they stand for, without being written out."""

import numpy as np
import pytest
from hypothesis import given

from cluewise import Clues
from cluewise.core.pulls import broken_weight, count_members, pulls_of
from strategies import PAIR_KINDS, cases


def matrix(clues, k):
    """Pull between every two rows, added up from links and groups."""
    pulls = pulls_of(clues, k)
    found = np.zeros((clues.n, clues.n))
    for t, i in enumerate(pulls.rows):
        for e in range(pulls.indptr[t], pulls.indptr[t + 1]):
            found[i, pulls.neighbors[e]] += pulls.pull[e]
        for e in range(pulls.group_indptr[t], pulls.group_indptr[t + 1]):
            g = pulls.groups[e]
            for m in pulls.members[pulls.member_indptr[g] : pulls.member_indptr[g + 1]]:
                found[i, m] += pulls.group_pull[g] * (m != i)
    return found


@given(cases(PAIR_KINDS, noise=0.3))
def test_pulls_are_the_written_out_pairs(case):
    must, must_weight, cannot, cannot_weight = case.clues.pairs(expand=True)
    expected = np.zeros((case.clues.n, case.clues.n))
    for pairs, weight in ((must, -must_weight), (cannot, cannot_weight)):
        np.add.at(expected, (pairs[:, 0], pairs[:, 1]), weight)
        np.add.at(expected, (pairs[:, 1], pairs[:, 0]), weight)
    np.testing.assert_allclose(matrix(case.clues, case.k), expected)
    np.testing.assert_array_equal(pulls_of(case.clues, case.k).rows, np.unique(np.vstack([must, cannot])))


@given(cases(PAIR_KINDS, noise=0.3))
def test_broken_weight(case):
    labels = case.rng.integers(case.k, size=case.clues.n).astype(np.int32)
    must, must_weight, cannot, cannot_weight = case.clues.pairs(expand=True)
    expected = must_weight[labels[must[:, 0]] != labels[must[:, 1]]].sum()
    expected += cannot_weight[labels[cannot[:, 0]] == labels[cannot[:, 1]]].sum()
    assert broken_weight(case.clues, labels) == pytest.approx(expected)


def test_weights_of_links_and_groups():
    clues = Clues(
        5,
        must=[(0, 1)],
        must_weight=2.0,
        cannot=[(0, 1), (1, 2)],
        cannot_weight=[0.5, 3.0],
        together=["a", "a", "a", None, None],
        together_weight=0.25,
        apart=[None, None, "b", "b", "b"],
        apart_weight=7.0,
    )
    pull = matrix(clues, 2)
    assert pull[0, 1] == pull[1, 0] == -2 + 0.5 - 0.25
    assert pull[1, 2] == 3 - 0.25
    assert pull[2, 3] == pull[3, 4] == 7
    assert broken_weight(clues, np.array([0, 1, 1, 1, 0])) == 2 + 3 + 2 * 0.25 + 7


def test_large_groups_are_counted_and_small_ones_walked():
    clues = Clues(9, together=["a"] * 6 + ["b"] * 2 + [None])
    pulls = pulls_of(clues, 3)
    assert pulls.group_slot.tolist() == [0, -1]
    labels = np.array([0, 0, 2, 2, 2, 1, 0, 1, 2])
    assert count_members(pulls, labels, 3).tolist() == [[2, 1, 3]]


def test_memory_is_linear_in_the_rows():
    """One apart group of 100,000 rows stands for five billion pairs."""
    n = 100_000
    pulls = pulls_of(Clues(n, apart=np.zeros(n, int), labels=np.arange(n) % 3), 3)
    assert sum(a.nbytes for a in pulls) < 100 * n
    assert count_members(pulls, np.zeros(n, np.int32), 3).shape[0] <= 5


def test_no_clues():
    pulls = pulls_of(Clues(4), 2)
    assert len(pulls.rows) == 0
    assert count_members(pulls, np.zeros(4, np.int32), 2).shape == (0, 2)
    assert broken_weight(Clues(4), np.zeros(4, np.int32)) == 0


def test_a_group_of_one_ties_nobody():
    clues = Clues(4, apart=["a", "b", "c", None], labels=[0, -1, -1, -1])
    assert len(pulls_of(clues, 2).rows) == 0
