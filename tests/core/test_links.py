"""Links: clues written out as pairs in one order, and the sums that pair methods need."""

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from cluewise import Clues
from cluewise.core.centers import scatter, tally
from cluewise.core.links import links_of, pulled, spread, squared_distances, two_nearest
from cluewise.core.rows import rows_of
from cluewise.exceptions import ClueError
from strategies import PAIR_KINDS, cases


def told(links):
    """{(row, row): (must, cannot)} with the row that is visited first in front."""
    ends = links.rows[links.ends]
    return {tuple(pair): (w, v) for pair, w, v in zip(ends.tolist(), links.must.tolist(), links.cannot.tolist())}


@given(cases(PAIR_KINDS, noise=0.4))
def test_links_are_the_expanded_pairs(case):
    must, must_weight, cannot, cannot_weight = case.clues.pairs(expand=True)
    expected = {tuple(pair): [w, 0.0] for pair, w in zip(must.tolist(), must_weight.tolist())}
    for pair, v in zip(cannot.tolist(), cannot_weight.tolist()):
        expected.setdefault(tuple(pair), [0.0, 0.0])[1] = v
    links = links_of(case.clues)
    assert told(links) == {pair: tuple(weights) for pair, weights in expected.items()}
    assert list(told(links)) == sorted(expected)
    assert len(links) == len(expected)
    assert links.rows.tolist() == sorted({row for pair in expected for row in pair})
    for t in range(len(links.rows)):
        mine = links.incident[links.indptr[t] : links.indptr[t + 1]]
        assert set(mine) == set(np.flatnonzero((links.ends == t).any(axis=1)))


@given(cases(PAIR_KINDS, noise=0.4))
def test_a_rank_turns_and_sorts_links(case):
    rank = case.rng.permutation(case.clues.n)
    plain, ranked = told(links_of(case.clues)), told(links_of(case.clues, rank))
    assert {tuple(sorted(pair)): w for pair, w in ranked.items()} == plain
    places = [(rank[i], rank[j]) for i, j in ranked]
    assert places == sorted(places)
    assert all(i < j for i, j in places)


def test_no_clues_no_links():
    links = links_of(Clues(5))
    assert len(links) == len(links.rows) == len(links.incident) == 0


def test_together_and_apart_is_one_link():
    links = links_of(Clues(4, must=[(0, 1), (1, 2)], cannot=[(0, 1)], cannot_weight=3.0))
    assert told(links) == {(0, 1): (1.0, 3.0), (1, 2): (1.0, 0.0)}


def test_too_many_links_are_refused_with_the_limit():
    with pytest.raises(ClueError, match="10122750 links, more than limit=10000000"):
        links_of(Clues(4500, labels=np.arange(4500) % 3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("sparse", [False, True])
def test_distances_are_double_whatever_the_rows(dtype, columns, sparse):
    rng = np.random.default_rng(0)
    X = (100 + rng.normal(size=(300, columns))).astype(dtype)
    rows = rows_of(csr_array(X) if sparse else X)
    centers, which = rng.normal(size=(4, columns)), rng.permutation(300)[:100]
    found = squared_distances(rows, centers, which)
    expected = cdist((X.astype(float) - rows.shift)[which], centers, "sqeuclidean")
    # Rows are moved to the origin in their own precision; sparse ones stay where they are.
    np.testing.assert_allclose(found, expected, rtol=1e-9 if sparse or dtype == np.float64 else 1e-4)
    assert found.dtype == np.float64


def test_two_nearest():
    first, second = two_nearest(np.array([[3.0, 1, 2], [1, 1, 1], [5, 9, 5]]))
    assert first.tolist() == [1, 0, 0]
    assert second.tolist() == [2, 1, 2]
    assert [a.tolist() for a in two_nearest(np.ones((2, 1)))] == [[0, 0], [0, 0]]


@pytest.mark.parametrize("sparse", [False, True])
def test_pulled_and_spread(sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    weight = rng.random(50)
    rows = rows_of(csr_array(X) if sparse else X, weight)
    moved = X - rows.shift
    which, charges = rng.permutation(50)[:20], rng.random((20, 4)) * (rng.random((20, 1)) < 0.5)
    found = pulled(rows, which, charges)
    np.testing.assert_allclose(found.sums, charges.T @ moved[which])
    np.testing.assert_allclose(found.mass, charges.sum(axis=0))
    labels, centers = rng.integers(4, size=50).astype(np.int32), rng.normal(size=(4, 3))
    expected = weight @ ((moved - centers[labels]) ** 2).sum(axis=1)
    assert spread(scatter(rows), tally(rows, labels, 4), centers) == pytest.approx(expected)
