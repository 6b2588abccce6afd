"""The cheapest labels within bounds on sizes: enumeration, OR-Tools, prices, and the clock."""

import os
import signal
import subprocess
import sys
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

from cluewise import Clues
from cluewise.centroid._sized import flow
from cluewise.centroid._sized.flow import Bounds, cheapest, costs_of
from cluewise.centroid._sized.sizes import bounds_of, refill
from cluewise.core.centers import tally
from cluewise.core.rows import Rows
from cluewise.exceptions import ClueError, Infeasible

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])


def squared(X, centers):
    return ((X[:, None] - np.asarray(centers)) ** 2).sum(axis=2)


def value(costs, labels):
    return costs[np.arange(len(costs)), labels].sum()


def by_ortools(costs, lower, upper):
    """The least cost of whole-number costs; the network of the specification, one node per row."""
    n, k = costs.shape
    whole = costs.astype(np.int64)
    assert (whole == costs).all()
    network = SimpleMinCostFlow()
    rows, clusters = np.arange(n), n + np.arange(k)
    network.add_arcs_with_capacity_and_unit_cost(
        np.repeat(rows, k), np.tile(clusters, n), np.ones(n * k, int), whole.ravel()
    )
    network.add_arcs_with_capacity_and_unit_cost(clusters, np.full(k, n + k), upper - lower, np.zeros(k, int))
    network.set_nodes_supplies(
        np.arange(n + k + 1), np.concatenate([np.ones(n, int), -lower, [lower.sum() - n]]).astype(int)
    )
    assert network.solve() == network.OPTIMAL
    return network.optimal_cost()


def random_bounds(n, k, rng, loose):
    """Bounds around sizes that are possible: equal to them, or some rows below and above, or open."""
    sizes = rng.multinomial(n, rng.dirichlet(np.ones(k)))
    lower = np.maximum(sizes - rng.integers(0, loose + 1, size=k), 0)
    upper = np.where(rng.random(k) < 0.3, 10 * n, sizes + rng.integers(0, loose + 1, size=k))
    return Bounds(lower, upper)


def check(costs, bounds, placed):
    """Bounds hold, prices prove the labels the cheapest, and the gap is within the stated bound."""
    n, k = costs.shape
    count = np.bincount(placed.labels, minlength=k)
    assert ((bounds.lower <= count) & (count <= bounds.upper)).all()
    assert placed.labels.dtype == np.int32
    price = placed.prices[:k]
    unit = 2.0**-52 * (np.abs(costs).max() + np.abs(price).max())
    stated = 4 * n * (placed.paths + 1) * unit
    left = costs - price
    own = left[np.arange(n), placed.labels]
    assert (own - left.min(axis=1)).max() <= stated
    assert placed.gap + unit * n >= 0
    assert placed.gap <= stated


@settings(max_examples=60)
@given(st.integers(0, 2**16), st.integers(1, 7), st.integers(1, 3), st.integers(0, 3), st.booleans())
def test_enumeration(seed, n, k, loose, ties):
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 5, size=(n, k)).astype(float) if ties else rng.normal(size=(n, k))
    bounds = random_bounds(n, k, rng, loose)
    placed = cheapest(costs, bounds)
    check(costs, bounds, placed)
    counts = [np.bincount(labels, minlength=k) for labels in product(range(k), repeat=n)]
    best = min(
        value(costs, np.array(labels))
        for labels, count in zip(product(range(k), repeat=n), counts)
        if ((bounds.lower <= count) & (count <= bounds.upper)).all()
    )
    assert value(costs, placed.labels) == pytest.approx(best, abs=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 2**16), st.integers(2, 6), st.integers(2, 3), st.integers(0, 3))
def test_the_gap_of_any_labels_and_prices_reaches_down_to_the_optimum(seed, n, k, loose):
    """Weak duality: whatever the prices, cost − gap is at most the least cost; and it is no idle bound."""
    rng = np.random.default_rng(seed)
    costs, bounds = rng.random((n, k)), random_bounds(n, k, rng, loose)
    upper = np.minimum(bounds.upper, n)
    best = cheapest(costs, bounds)
    for prices in (rng.normal(size=k + 1), best.prices):
        for labels in product(range(k), repeat=n):
            labels = np.array(labels, np.int32)
            count = np.bincount(labels, minlength=k)
            if ((bounds.lower <= count) & (count <= upper)).all():
                gap = flow._gap(costs, labels, prices, bounds.lower, upper)
                assert value(costs, labels) - gap <= value(costs, best.labels) + 1e-12
                if prices is best.prices:
                    assert gap == pytest.approx(value(costs, labels) - value(costs, best.labels), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**16), st.integers(5, 200), st.integers(2, 12), st.sampled_from([0, 2, 40]), st.booleans())
def test_ortools(seed, n, k, loose, ties):
    """Whole numbers, so that both are exact: from few values with many ties, and large ones."""
    rng = np.random.default_rng(seed)
    spread = 3 if ties else 10**6
    costs = rng.integers(0, spread, size=(n, k)).astype(float) + rng.integers(0, spread, size=k)
    bounds = random_bounds(n, k, rng, loose)
    placed = cheapest(costs, bounds)
    check(costs, bounds, placed)
    assert value(costs, placed.labels) == by_ortools(costs, bounds.lower, np.minimum(bounds.upper, n))
    # Prices of a similar problem, or nonsense, lead to the same cost.
    for prices in (placed.prices, rng.normal(size=k + 1) * spread):
        again = cheapest(costs, bounds, prices)
        check(costs, bounds, again)
        assert value(costs, again.labels) == value(costs, placed.labels)
    assert cheapest(costs, bounds, placed.prices).paths <= placed.paths


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**16), st.integers(20, 200), st.integers(2, 6), st.sampled_from([0, 2, 40]), st.booleans())
def test_lanes_that_leave_rows_out_change_nothing(seed, n, k, loose, ties):
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 3, size=(n, k)).astype(float) if ties else rng.random((n, k)) * rng.random(k)
    bounds = random_bounds(n, k, rng, loose)
    whole = cheapest(costs, bounds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow, "SAMPLE", 5)
        patch.setattr(flow, "DEPTH", 0)
        sparse = cheapest(costs, bounds)
    check(costs, bounds, sparse)
    np.testing.assert_array_equal(sparse.labels, whole.labels)


def test_lanes_hold_some_dozens_of_many_rows():
    costs = np.random.default_rng(0).random((20_000, 4))
    labels = costs.argmin(axis=1).astype(np.int32)
    size = np.bincount(labels)
    held = [flow.Lanes(costs, labels, size, sparse=sparse).heaps[0] for sparse in (True, False)]
    off = ~np.eye(4, dtype=bool)
    assert held[0][off].min() > flow.DEPTH
    assert held[0][off].max() < 400 < held[1][off].min()


def test_ortools_on_many_rows(sweep):
    """Distances, rounded to whole numbers for the oracle: 20 equal clusters."""
    n, k = sweep(20_000, 100_000), 20
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 16)) * np.linspace(1, 3, 16)
    costs = np.round(1000 * squared(X, X[:k]))
    size = np.full(k, n // k)
    placed = cheapest(costs, Bounds(size, size))
    check(costs, Bounds(size, size), placed)
    assert placed.paths > n // 10
    assert value(costs, placed.labels) == by_ortools(costs, size, size)


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1.0, 1e9, 1e150])
def test_no_scale_loses_anything(scale):
    """The popular peer multiplies by a thousand and rounds: small data become ties, large ones overflow."""
    rng = np.random.default_rng(3)
    costs = rng.random((60, 4)) + np.linspace(0, 0.6, 4)
    bounds = Bounds(np.full(4, 15), np.full(4, 15))
    expected = cheapest(costs, bounds)
    assert expected.paths > 10
    found = cheapest(scale * costs, bounds)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.gap <= 4 * 60 * (found.paths + 1) * 2.0**-52 * scale * 10


def test_worked_example():
    """[size_constrained_assign]: survey 9.2, τ = (5, 1)."""
    costs = squared(A8, A8[[0, 4]])
    plain = cheapest(costs, Bounds(np.array([0, 0]), np.array([8, 8])))
    assert plain.labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert (value(costs, plain.labels), plain.paths) == (pytest.approx(12.27), 0)
    placed = cheapest(costs, Bounds(np.array([5, 1]), np.array([8, 8])))
    assert placed.labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 0]
    assert value(costs, placed.labels) == pytest.approx(19.76)
    assert placed.prices[0] > placed.prices[2] == placed.prices[1]  # a place in cluster 0 is subsidized


def test_erratum_33():
    """With at most τ instead of at least τ there is no room unless the τ add up to n."""
    with pytest.raises(ValueError, match=r"from \[0, 0\] to \[5, 1\] have no room for 8 rows"):
        cheapest(squared(A8, A8[[0, 4]]), Bounds(np.array([0, 0]), np.array([5, 1])))


def test_lanes_are_made_anew_when_they_are_full(monkeypatch):
    """Rows that pass through a cluster fill its lanes; a cluster that grows beyond its room needs more of it."""
    calls = []
    lay_out, make_room = flow.Lanes.lay_out, flow.Lanes.make_room
    monkeypatch.setattr(flow.Lanes, "lay_out", lambda self, *a: (calls.append("all"), lay_out(self, *a)))
    monkeypatch.setattr(flow.Lanes, "make_room", lambda self, *a: (calls.append("one"), make_room(self, *a)))
    rng = np.random.default_rng(0)
    n = 3000
    x = np.sort(rng.random(n))
    costs = squared(x[:, None], np.linspace(0.05, 0.5, 6)[:, None])  # all surplus starts at one end of a chain
    size = np.full(6, n // 6)
    placed = cheapest(costs, Bounds(size, size))
    check(costs, Bounds(size, size), placed)
    assert (placed.labels == np.arange(n) // 500).all()
    assert calls.count("one") >= 1
    assert calls[0] == "all"


def test_small_slices_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    costs = rng.random((50, 4)) + np.linspace(0, 1, 4)
    bounds = Bounds(np.full(4, 10), np.full(4, 14))
    whole = cheapest(costs, bounds)
    monkeypatch.setattr(flow, "BUDGET", 1)
    sliced = cheapest(costs, bounds)
    np.testing.assert_array_equal(whole.labels, sliced.labels)
    np.testing.assert_array_equal(whole.prices, sliced.prices)
    assert whole.paths == sliced.paths > 1


def test_a_cluster_that_grows_beyond_its_room():
    lanes = flow.Lanes(np.zeros((200, 2)), np.zeros(200, np.int32), np.array([100, 100]))
    before = lanes.place[1].copy()
    lanes.make_room(np.ones(200, np.int32), np.array([100, 100]), 1)
    assert before[1] < 200 < lanes.place[1][1]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [2, 20])
def test_costs(d, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, d)) + 100
    weight = rng.random(300) if weighted else None
    rows = Rows(X, weight)
    expected = squared(X, X[:4]) * (1 if weight is None else weight[:, None])
    np.testing.assert_allclose(costs_of(rows, X[:4] - rows.shift), expected, atol=1e-11)


SCRIPT = """
import numpy as np
from cluewise.centroid._sized.flow import Bounds, cheapest

n, k = 1_000_000, 20
rng = np.random.default_rng(0)
costs = rng.random((n, k)) + 0.2 * np.arange(k)
cheapest(costs[:100], Bounds(np.full(k, 5), np.full(k, 5)))
print("ready", flush=True)
try:
    cheapest(costs, Bounds(np.full(k, n // k), np.full(k, n // k)))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_ctrl_c_is_answered():
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.6)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        seconds = time.monotonic() - began
    finally:
        process.kill()
        process.wait()
    assert seconds < 0.5, f"answered after {seconds:.2f} s"


def rows_of_weight(weight):
    return Rows(np.zeros((len(weight), 1)), np.asarray(weight, dtype=float))


def test_bounds_are_whole_numbers_of_rows():
    rows = Rows(np.zeros((10, 1)))
    assert bounds_of(Clues(10), 2, rows) is None
    lower, upper = bounds_of(Clues(10, sizes=(2.5, None)), 2, rows)
    assert (lower.tolist(), upper.tolist()) == ([3, 3], [10, 10])
    lower, upper = bounds_of(Clues(10, sizes=[(0, 3.9), (4, 100)]), 2, rows)
    assert (lower.tolist(), upper.tolist()) == ([0, 4], [3, 10])


def test_bounds_on_weight():
    """Of equal weights they are bounds on rows; of unequal ones they are refused, and both say why."""
    clues = Clues(10, sizes=(0.9, 1.6), size_unit="weight")
    lower, upper = bounds_of(clues, 2, rows_of_weight(np.full(10, 0.3)))
    assert (lower.tolist(), upper.tolist()) == ([3, 3], [5, 5])
    lower, upper = bounds_of(Clues(10, sizes=(4, 6), size_unit="weight"), 2, Rows(np.zeros((10, 1))))
    assert (lower.tolist(), upper.tolist()) == ([4, 4], [6, 6])
    with pytest.raises(Infeasible, match=r"from 6 to 10 rows of weight 0.3, but there are 11"):
        bounds_of(Clues(11, sizes=(0.9, 1.6), size_unit="weight"), 2, rows_of_weight(np.full(11, 0.3)))
    with pytest.raises(ClueError, match=r"row 0 has weight 1, row 4 has weight 2; bound the number of points instead"):
        bounds_of(clues, 2, rows_of_weight([1, 1, 1, 1, 2, 1, 1, 1, 1, 3]))
    points = bounds_of(Clues(3, sizes=(1, 2)), 2, rows_of_weight([1, 2, 3]))
    assert points.lower.tolist() == [1, 1]
    with pytest.raises(Infeasible, match="sizes are given for 2 clusters, but there are 3"):
        bounds_of(Clues(9, sizes=[(1, 9), (1, 9)], size_unit="weight"), 3, Rows(np.zeros((9, 1))))


@pytest.mark.parametrize(
    ("lower", "upper", "moves"),
    [([0, 0], [4, 4], True), ([4, 0], [4, 4], False), ([3, 0], [4, 1], True), ([0, 0], [4, 0], False)],
)
def test_an_empty_cluster_is_filled_only_within_the_bounds(lower, upper, moves):
    X = np.array([[0.0], [1], [2], [9]])
    labels = np.zeros(4, np.int32)
    rows = Rows(X, None, np.zeros(1))
    found = refill(
        rows, tally(rows, labels, 2), np.array([[3.0], [50]]), labels, Bounds(np.array(lower), np.array(upper))
    )
    assert labels.tolist() == ([0, 0, 0, 1] if moves else [0, 0, 0, 0])
    assert found.mass.tolist() == ([3, 1] if moves else [4, 0])
