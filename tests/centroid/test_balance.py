"""Steps of balanced clustering: the size of a sample, stable matchings, exchanges that gain."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from cluewise.centroid._sized import balance
from cluewise.centroid._sized.balance import populate, refine, sample_size
from cluewise.centroid._sized.flow import Bounds, Lanes, cheapest

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])


def squared(X, centers):
    return ((X[:, None] - centers) ** 2).sum(axis=2)


def value(costs, labels):
    return costs[np.arange(len(costs)), labels].sum()


def at_least(m, n, k):
    return Bounds(np.full(k, m), np.full(k, n))


def test_worked_example_of_populating():
    """[balanced_populate]: survey 9.1, m = 3, and with places for all rows."""
    costs = squared(A8, A8[:2])
    bounds = at_least(3, 8, 2)
    assert costs.argmin(axis=1).tolist() == [0, 1, 0, 1, 1, 1, 1, 1]
    assert balance._match(costs, bounds.lower).tolist() == [0, 1, 0, 1, 0, -1, -1, 1]
    labels = populate(costs, bounds)
    assert labels.tolist() == [0, 1, 0, 1, 0, 1, 1, 1]
    assert refine(costs, labels, bounds) == 1
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert value(costs, labels) == pytest.approx(105.69)
    assert populate(costs, at_least(4, 8, 2)).tolist() == [0, 1, 0, 1, 1, 0, 0, 1]


def test_worked_example_of_the_sample_size():
    """[balanced_sample_size]: the bound holds with room to spare."""
    assert sample_size(5, members=10, smallest=0.1, failure=0.05) == 253
    assert 5 * binom.cdf(9, 253, 0.1) == pytest.approx(0.000506, abs=1e-6)


@pytest.mark.parametrize("k", [1, 2, 8, 100])
def test_sample_sizes_keep_their_promise(k):
    assert k * binom.cdf(49, sample_size(k), 1 / (2 * k)) <= 0.05


@settings(max_examples=60)
@given(st.integers(0, 2**16), st.integers(1, 40), st.integers(1, 6), st.booleans())
def test_no_blocking_pair(seed, n, k, ties):
    """No row and center that would both rather have each other; as many rows as places; m = 0 is nearest."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 5, size=(n, k)).astype(float) if ties else rng.random((n, k))
    lower = rng.multinomial(rng.integers(0, n + 1), np.full(k, 1 / k))
    core = balance._match(costs, lower)
    assert np.bincount(core[core >= 0], minlength=k).tolist() == lower.tolist()
    for i, h in product(range(n), range(k)):
        wants = core[i] < 0 or (costs[i, h], h) < (costs[i, core[i]], core[i])
        would = any((costs[i, h], i) < (costs[j, h], j) for j in np.flatnonzero(core == h))
        assert not (wants and would and lower[h]), f"row {i} and center {h} block the matching"
    labels = populate(costs, Bounds(lower, np.full(k, n)))
    rest = core < 0
    assert (labels[~rest] == core[~rest]).all()
    assert (labels[rest] == costs[rest].argmin(axis=1)).all()
    assert (populate(costs, at_least(0, n, k)) == costs.argmin(axis=1)).all()


@settings(max_examples=60)
@given(st.integers(0, 2**16), st.integers(1, 40), st.integers(1, 6), st.integers(0, 4))
def test_bounds_hold_and_refining_lowers_the_cost(seed, n, k, loose):
    rng = np.random.default_rng(seed)
    costs = rng.random((n, k)) * np.arange(1, k + 1)
    sizes = rng.multinomial(n, np.full(k, 1 / k))
    bounds = Bounds(np.maximum(sizes - loose, 0), sizes + rng.integers(0, loose + 1, size=k))
    labels = populate(costs, bounds)
    before = labels.copy()
    rounds = refine(costs, labels, bounds)
    for found in (before, labels):
        count = np.bincount(found, minlength=k)
        assert ((bounds.lower <= count) & (count <= bounds.upper)).all()
    best = value(costs, cheapest(costs, bounds).labels)
    assert value(costs, labels) >= best - 1e-12
    assert value(costs, labels) < value(costs, before) if rounds else (labels == before).all()
    if (bounds.lower == bounds.upper).all():  # without cycles that gain, sizes being fixed, it is the optimum
        assert value(costs, labels) == pytest.approx(best)


def test_how_often_it_reaches_the_optimum():
    """Survey 9.1: 88 of 100 random cases (n = 15, K = 3, m = 4)."""
    reached = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(15, 2))
        costs, bounds = squared(X, X[:3]), at_least(4, 15, 3)
        labels = populate(costs, bounds)
        refine(costs, labels, bounds)
        reached += value(costs, labels) <= value(costs, cheapest(costs, bounds).labels) + 1e-9
    assert reached >= 80


def test_lanes_are_made_anew_when_they_are_full(monkeypatch):
    calls = []
    make_room = Lanes.make_room
    monkeypatch.setattr(Lanes, "make_room", lambda self, *a: (calls.append(1), make_room(self, *a)))
    rng = np.random.default_rng(0)
    costs = rng.random((2000, 3))
    costs[:, 1] -= 0.5
    bounds = at_least(0, 2000, 3)
    labels = np.zeros(2000, np.int32)
    refine(costs, labels, bounds)
    assert (labels == costs.argmin(axis=1)).all()
    assert calls


def test_small_slices_change_nothing(monkeypatch):
    costs = np.random.default_rng(0).random((50, 4)) + np.linspace(0, 1, 4)
    bounds = Bounds(np.full(4, 10), np.full(4, 14))
    whole = populate(costs, bounds)
    refined = whole.copy()
    rounds = refine(costs, refined, bounds)
    monkeypatch.setattr(balance, "BUDGET", 1)
    sliced = populate(costs, bounds)
    np.testing.assert_array_equal(sliced, whole)
    assert refine(costs, sliced, bounds) == rounds > 1
    np.testing.assert_array_equal(sliced, refined)
