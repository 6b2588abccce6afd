"""Views: pairs in one order, groups and labels as forces without their pairs, components as points."""

import numpy as np
import pytest
from hypothesis import given

from cluewise import Clues
from cluewise.core.views import broken_weight, build_forces, build_pair_graph, count_members
from cluewise.exceptions import ClueError
from strategies import PAIR_KINDS, cases


def weights_of(links):
    """{(row, row): (must, cannot)} with the row that is visited first in front."""
    ends = links.rows[links.ends]
    return {tuple(pair): (w, v) for pair, w, v in zip(ends.tolist(), links.must.tolist(), links.cannot.tolist())}


@given(cases(PAIR_KINDS, noise=0.4))
def test_links_are_the_expanded_pairs(case):
    must, must_weight, cannot, cannot_weight = case.clues.pairs(expand=True)
    expected = {tuple(pair): [w, 0.0] for pair, w in zip(must.tolist(), must_weight.tolist())}
    for pair, v in zip(cannot.tolist(), cannot_weight.tolist()):
        expected.setdefault(tuple(pair), [0.0, 0.0])[1] = v
    links = build_pair_graph(case.clues)
    assert weights_of(links) == {pair: tuple(weights) for pair, weights in expected.items()}
    assert list(weights_of(links)) == sorted(expected)
    assert len(links) == len(expected)
    assert links.rows.tolist() == sorted({row for pair in expected for row in pair})
    for t in range(len(links.rows)):
        mine = links.incident[links.indptr[t] : links.indptr[t + 1]]
        assert set(mine) == set(np.flatnonzero((links.ends == t).any(axis=1)))


@given(cases(PAIR_KINDS, noise=0.4))
def test_a_rank_turns_and_sorts_links(case):
    rank = case.rng.permutation(case.clues.n)
    plain, ranked = weights_of(build_pair_graph(case.clues)), weights_of(build_pair_graph(case.clues, rank))
    assert {tuple(sorted(pair)): w for pair, w in ranked.items()} == plain
    places = [(rank[i], rank[j]) for i, j in ranked]
    assert places == sorted(places)
    assert all(i < j for i, j in places)


def test_no_clues_no_links():
    links = build_pair_graph(Clues(5))
    assert len(links) == len(links.rows) == len(links.incident) == 0


def test_together_and_apart_is_one_link():
    links = build_pair_graph(Clues(4, must=[(0, 1), (1, 2)], cannot=[(0, 1)], cannot_weight=3.0))
    assert weights_of(links) == {(0, 1): (1.0, 3.0), (1, 2): (1.0, 0.0)}


def test_too_many_links_are_refused_with_the_limit():
    with pytest.raises(ClueError, match="10122750 links, more than limit=10000000"):
        build_pair_graph(Clues(4500, labels=np.arange(4500) % 3))


def matrix(clues, k):
    """Pull between every two rows, added up from links and groups."""
    pulls = build_forces(clues, k)
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
    np.testing.assert_array_equal(build_forces(case.clues, case.k).rows, np.unique(np.vstack([must, cannot])))


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


def test_hard_groups_cost_nothing_where_they_hold():
    clues = Clues(4, together=[0, 0, -1, -1], together_weight=np.inf, apart=[0, -1, 0, 0], apart_weight=np.inf)
    assert broken_weight(clues, np.array([0, 0, 1, 2])) == 0
    assert broken_weight(clues, np.array([0, 1, 1, 2])) == np.inf


def test_large_groups_are_counted_and_small_ones_walked():
    clues = Clues(9, together=["a"] * 6 + ["b"] * 2 + [None])
    pulls = build_forces(clues, 3)
    assert pulls.group_slot.tolist() == [0, -1]
    labels = np.array([0, 0, 2, 2, 2, 1, 0, 1, 2])
    assert count_members(pulls, labels, 3).tolist() == [[2, 1, 3]]


def test_memory_is_linear_in_the_rows():
    """One apart group of 100,000 rows stands for five billion pairs."""
    n = 100_000
    pulls = build_forces(Clues(n, apart=np.zeros(n, int), labels=np.arange(n) % 3), 3)
    assert sum(a.nbytes for a in pulls) < 100 * n
    assert count_members(pulls, np.zeros(n, np.int32), 3).shape[0] <= 5


def test_no_clues():
    pulls = build_forces(Clues(4), 2)
    assert len(pulls.rows) == 0
    assert count_members(pulls, np.zeros(4, np.int32), 2).shape == (0, 2)
    assert broken_weight(Clues(4), np.zeros(4, np.int32)) == 0


def test_a_group_of_one_ties_nobody():
    clues = Clues(4, apart=["a", "b", "c", None], labels=[0, -1, -1, -1])
    assert len(build_forces(clues, 2).rows) == 0
