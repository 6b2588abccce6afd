"""The cheapest labels with bounds on summed weight: enumeration, what is not found in time, what is refused."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from cluewise import Clues
from cluewise.centroid._sized import capacities
from cluewise.centroid._sized.capacities import Capacities, capacities_of, pack
from cluewise.core.rows import Rows
from cluewise.exceptions import ClueError, Infeasible, Undecided


def value(costs, labels):
    return costs[np.arange(len(costs)), labels].sum()


def weighted(weight):
    return Rows(np.zeros((len(weight), 1)), np.asarray(weight, dtype=float))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**16), st.integers(1, 7), st.integers(2, 3), st.sampled_from([1e-6, 1.0, 1e6]))
def test_enumeration(seed, n, k, scale):
    rng = np.random.default_rng(seed)
    costs, weight = scale * rng.random((n, k)), scale * rng.uniform(0.1, 3, size=n)
    room = weight.sum() / k * rng.uniform(1.0, 1.6)
    limits = Capacities(np.full(k, 0.1 * room), np.full(k, room), weight)
    valid = [np.array(z) for z in product(range(k), repeat=n) if limits.hold(np.array(z))]
    if not valid:
        with pytest.raises(Infeasible, match="summed weights"):
            pack(costs, limits, None)
        return
    best = min(value(costs, z) for z in valid)
    found = pack(costs, limits, None)
    assert limits.hold(found.labels)
    assert value(costs, found.labels) == pytest.approx(best, rel=2e-6)
    assert value(costs, found.labels) - found.gap <= best * (1 + 1e-9)
    again = pack(costs, limits, found.labels)
    np.testing.assert_array_equal(again.labels, found.labels)
    assert again.labels is not found.labels


def test_what_is_not_found_in_time(monkeypatch):
    """Labels from before are kept, with an honest gap; without any the question is open."""
    monkeypatch.setattr(capacities, "_solve_open", lambda *_: None)
    costs = np.array([[0.0, 3], [2, 0]])
    limits = Capacities(np.zeros(2), np.full(2, 9.0), np.array([1.0, 2]))
    kept = pack(costs, limits, np.array([1, 1], np.int32))
    assert kept.labels.tolist() == [1, 1]
    assert kept.gap == pytest.approx(3)
    with pytest.raises(Undecided, match="found in time"):
        pack(costs, limits, None)


def test_without_time_for_the_linear_program(monkeypatch):
    """The cheapest cluster of each row is the bound then."""
    monkeypatch.setattr(optimize, "linprog", lambda *_, **__: SimpleNamespace(status=1))
    costs = np.array([[0.0, 3], [1, 2], [0, 4]])
    found = pack(costs, Capacities(np.zeros(2), np.full(2, 4.0), np.array([2.0, 3, 1])), None)
    assert found.labels.tolist() == [0, 1, 0]
    assert found.gap == pytest.approx(1)


def test_labels_that_only_a_tolerance_allows_are_not_taken(monkeypatch):
    monkeypatch.setattr(capacities, "_solve_open", lambda *_: np.zeros(2, np.int32))
    limits = Capacities(np.zeros(2), np.array([2.9999, 9]), np.array([1.0, 2]))
    with pytest.raises(Undecided):
        pack(np.zeros((2, 2)), limits, None)


def test_more_rows_are_opened_until_they_fit(monkeypatch):
    """With one open row for each cluster the others fill the clusters too far."""
    seen = []
    settled = capacities._solve_open

    def noted(costs, limits, labels, open_):
        seen.append(len(open_))
        return settled(costs, limits, labels, open_)

    monkeypatch.setattr(capacities, "_solve_open", noted)
    monkeypatch.setattr(capacities, "MANY", 1)
    rng = np.random.default_rng(3)
    weight = rng.integers(20, 40, size=40).astype(float)
    weight[0] += weight.sum() % 2
    half = np.full(2, weight.sum() / 2)
    found = pack(rng.random((40, 2)), Capacities(half, half, weight), None)
    assert np.bincount(found.labels, weights=weight).tolist() == half.tolist()
    assert seen == sorted(seen)
    assert len(seen) > 1


def test_rows_that_fit_only_in_parts():
    """Three rows of weight 2, two places of 3: divided they would fit."""
    limits = Capacities(np.zeros(2), np.full(2, 3.0), np.full(3, 2.0))
    with pytest.raises(Infeasible, match="of these rows") as caught:
        pack(np.ones((3, 2)), limits, None)
    assert caught.value.witness is limits
    with pytest.raises(Infeasible, match="no clustering has summed weights"):
        pack(np.ones((4, 2)), Capacities(np.zeros(2), np.full(2, 3.0), np.full(4, 2.0)), None)


def test_when_it_is_needed():
    clues = Clues(4, sizes=(1, 5), size_unit="weight")
    assert capacities_of(Clues(4), 2, weighted([1, 2, 3, 1])) is None
    assert capacities_of(Clues(4, sizes=(1, 5)), 2, weighted([1, 2, 3, 1])) is None
    assert capacities_of(clues, 2, Rows(np.zeros((4, 1)))) is None
    assert capacities_of(clues, 2, weighted([2, 2, 2, 2])) is None
    found = capacities_of(clues, 2, weighted([1, 2, 3, 1]))
    assert (found.lower.tolist(), found.upper.tolist(), found.weight.tolist()) == ([1, 1], [5, 5], [1, 2, 3, 1])


def test_what_is_refused():
    with pytest.raises(Infeasible, match="upper bounds on sizes add up to 6, but there are 7 to place") as caught:
        capacities_of(Clues(4, sizes=(0, 3), size_unit="weight"), 2, weighted([1, 2, 3, 1]))
    assert caught.value.witness.sizes.tolist() == [0, 3]
    many = Clues(10_001, sizes=(0, None), size_unit="weight")
    with pytest.raises(ClueError, match=r"limited to 20000 rows times clusters; there are 10001 times 2\. Bound"):
        capacities_of(many, 2, weighted(np.arange(1.0, 10_002)))
