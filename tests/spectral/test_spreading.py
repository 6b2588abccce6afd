"""Links spread as the formula for all pairs says, exactly for few rows and nearly so for many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cluewise.clues import Pairs
from cluewise.core.graphs.affinity import neighbor_affinity
from cluewise.spectral import _spreading as spreading
from cluewise.spectral._spreading import choose_spread, propagators, scale_to_one, spread_links, spread_votes


def by_the_formula(W, Z, alpha):
    """Lu & Ip, with inverses written out."""
    root = np.sqrt(W.sum(axis=1))
    G = np.linalg.inv(np.eye(len(W)) - alpha * W / root / root[:, None])
    F = (1 - alpha) ** 2 * G @ Z @ G
    F /= np.abs(F).max()
    new = np.where(F >= 0, 1 - (1 - F) * (1 - W), (1 + F) * W)
    np.fill_diagonal(new, 0)
    return new


def problem(seed, n, links):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(links)])
    weight = rng.uniform(0.5, 2, size=links)
    half = links // 2
    return neighbor_affinity(X, 6), Pairs(pairs[:half], weight[:half], pairs[half:], weight[half:]).to_matrix(n)


@settings(max_examples=25)
@given(st.integers(0, 2**16), st.integers(1, 12), st.sampled_from([0.0, 0.5, 0.8, 0.99]))
def test_few_rows_exactly(seed, links, alpha):
    W, Z = problem(seed, 30, links)
    expected = by_the_formula(W.toarray(), Z.toarray(), alpha)
    np.testing.assert_allclose(spread_links(W, Z, alpha), expected, atol=1e-10)
    np.testing.assert_allclose(spread_links(W.toarray(), Z, alpha), expected, atol=1e-10)


def test_worked_by_hand():
    """Two rows with one edge: N = [[0, 1], [1, 0]], so G = [[1, α], [α, 1]] / (1 − α²) and F ~ [[2α, 1 + α²], ...]."""
    W = np.array([[0.0, 0.4], [0.4, 0.0]])
    told = 1.0  # 1 + α² is the largest entry
    must = Pairs(np.array([[0, 1]]), np.ones(1), np.empty((0, 2), dtype=int), np.empty(0)).to_matrix(2)
    assert spread_links(W, must, 0.5)[0, 1] == pytest.approx(1 - (1 - told) * (1 - 0.4))
    assert spread_links(W, -must, 0.5)[0, 1] == pytest.approx((1 - told) * 0.4)


@pytest.mark.parametrize("links", [3, 60])
def test_many_rows_nearly(links, monkeypatch):
    W, Z = problem(1, 400, links)
    expected = by_the_formula(W.toarray(), Z.toarray(), 0.8)
    monkeypatch.setattr(spreading, "EXACT", 0)
    found = spread_links(W, Z, 0.8).toarray()
    near = W.toarray() > 0
    assert np.abs(found - expected)[near].max() < 0.02
    # Other pairs have what the formula gives them, or nothing where that is little.
    kept = (found > 0) & ~near
    assert kept.sum() >= 2
    assert np.abs(found - expected)[kept].max() < 0.02
    assert expected[~kept & ~near].max() < 0.03
    # And with waves that never end, exactly what the formula says.
    monkeypatch.setattr(spreading, "DROP", 1e-12)
    monkeypatch.setattr(spreading, "KEEP", 0.0)
    exact = spread_links(W, Z, 0.8).toarray()
    np.testing.assert_allclose(exact, expected, atol=1e-7)


def test_work_is_bounded(monkeypatch):
    """Where products would be too many, links still act on neighbors and on their own ends."""
    W, Z = problem(2, 400, 60)
    monkeypatch.setattr(spreading, "EXACT", 0)
    free = spread_links(W, Z, 0.8).toarray()
    monkeypatch.setattr(spreading, "WORK", 2000)
    bound = spread_links(W, Z, 0.8)
    near = W.toarray() > 0
    np.testing.assert_allclose(bound.toarray()[near], free[near], rtol=0.05)
    assert near.sum() < bound.nnz < np.count_nonzero(free)


def votes_by_the_formula(W, must, cannot, alpha):
    root = np.sqrt(W.sum(axis=1))
    G = np.linalg.inv(np.eye(len(W)) - alpha * W / root / root[:, None])
    M, C = G @ must @ G, G @ cannot @ G
    F = (M - C) / (M + C + 0.5)
    new = np.where(F >= 0, 1 - (1 - F) * (1 - W), (1 + F) * W)
    np.fill_diagonal(new, 0)
    return new


def votes(W, Z, alpha):
    tied = np.flatnonzero(np.diff(Z.indptr))
    Z = Z[tied][:, tied]
    must, cannot = (csr_array(sign * Z.multiply(sign * Z.toarray() > 0)) for sign in (1, -1))
    return spread_votes(W, propagators(W, tied, alpha), must, cannot)


@settings(max_examples=25)
@given(st.integers(0, 2**16), st.integers(1, 12), st.sampled_from([0.0, 0.5, 0.9]))
def test_votes_of_few_rows_exactly(seed, links, alpha):
    W, Z = problem(seed, 30, links)
    table = Z.toarray()
    expected = votes_by_the_formula(W.toarray(), np.maximum(table, 0), np.maximum(-table, 0), alpha)
    np.testing.assert_allclose(votes(W, Z, alpha), expected, atol=1e-10)
    np.testing.assert_allclose(votes(W.toarray(), Z, alpha), expected, atol=1e-10)
    assert (expected[W.toarray() > 0] > 0).all()  # no edge is cut altogether


@pytest.mark.parametrize("links", [3, 60])
def test_votes_of_many_rows_nearly(links, monkeypatch):
    W, Z = problem(1, 400, links)
    table = Z.toarray()
    expected = votes_by_the_formula(W.toarray(), np.maximum(table, 0), np.maximum(-table, 0), 0.8)
    monkeypatch.setattr(spreading, "EXACT", 0)
    found = votes(W, Z, 0.8).toarray()
    near = W.toarray() > 0
    off = np.abs(found - expected)  # a vote is a ratio, of which a little more gets lost
    assert off[near].mean() < 0.01
    assert off.max() < 0.1
    monkeypatch.setattr(spreading, "DROP", 1e-12)
    monkeypatch.setattr(spreading, "KEEP", 0.0)
    np.testing.assert_allclose(votes(W, Z, 0.8).toarray(), expected, atol=1e-7)


def test_more_links_of_one_opinion_do_not_weaken_others():
    """The published F at a pair sinks as links gather elsewhere; its vote does not."""
    W, _ = problem(3, 60, 1)
    lone, crowd = [(0, 1)], [(i, j) for i in range(30, 45) for j in range(i) if j >= 30]
    F = {}
    for name, must in (("alone", lone), ("crowd", lone + crowd)):
        pairs = Pairs(np.array(must), np.ones(len(must)), np.empty((0, 2), dtype=int), np.empty(0))
        Z = pairs.to_matrix(60)
        F[name] = spread_links(W, Z, 0.8)[0, 1], votes(W, Z, 0.8)[0, 1]
    assert F["crowd"][0] < 0.9 * F["alone"][0]
    assert F["crowd"][1] >= F["alone"][1]


def test_spread_by_the_number_of_links():
    assert choose_spread(100, 100) == pytest.approx(1 - 2 * np.sqrt(0.02))
    assert choose_spread(9, 10**6) == 0.75
    assert [choose_spread(m, n) for m, n in ((1, 10**6), (1000, 10**6), (45, 10))] == [0.5, 0.9, 0.5]


def test_links_that_cancel_and_no_links():
    W, _ = problem(0, 20, 2)
    pair = np.array([[0, 1]])
    none = Pairs(pair, np.ones(1), pair, np.ones(1)).to_matrix(20)
    assert none.nnz == 0
    assert spread_links(W, none, 0.8) is W


def test_scale_to_one():
    table = np.array([[0.0, 4.0], [4.0, 0.0]])
    assert scale_to_one(table).max() == 1
    np.testing.assert_array_equal(scale_to_one(table / 8), scale_to_one(table))
    assert scale_to_one(np.zeros((2, 2))).max() == 0
