"""The kernels of the flow do what their plain twins do: ties, empty clusters, small budgets, lanes without room."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import flow
from twins import flow as reference_flow


@st.composite
def problems(draw):
    """Costs, bounds with room for all rows, and the cheapest labels without bounds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16), label="seed"))
    n, k = draw(st.integers(1, 25), label="n"), draw(st.integers(1, 5), label="k")
    ties = draw(st.booleans(), label="ties")
    costs = rng.integers(0, 6, size=(n, k)).astype(float) if ties else rng.random((n, k)) * np.arange(1, k + 1)
    sizes = np.bincount(rng.integers(k, size=n), minlength=k)  # these are possible
    lower = np.maximum(sizes - rng.integers(0, 4, size=k), 0)
    upper = np.minimum(sizes + rng.integers(0, 4, size=k), n)
    return costs, lower, upper, costs.argmin(axis=1).astype(np.int32)


def lanes(costs, labels, room, limit):
    """Empty lanes with room for so many more rows than there are, and who is in which cluster."""
    k = costs.shape[1]
    count = np.bincount(labels, minlength=k)
    capacity = count + room
    start = np.append(0, np.cumsum(k * capacity))
    heaps = (
        np.zeros((k, k), np.int64),
        np.full(start[-1], np.nan),
        np.full(start[-1], -1, np.int32),
        np.zeros((k, k)),
        limit,
    )
    indptr = np.append(0, np.cumsum(count))
    return (start[:k], capacity), heaps, (np.arange(k), indptr, labels.argsort(kind="stable"))


def no_limit(costs):
    return np.full((costs.shape[1], costs.shape[1]), np.inf)


def filled(module, costs, labels, room, budget, limit):
    place, heaps, who = lanes(costs, labels, room, limit)
    state = np.zeros(2, np.int64)
    calls = 1
    while not module.fill(costs, *who, *place, *heaps, state, budget):
        calls += 1
    return place, heaps, calls


@given(problems(), st.sampled_from([1, 10, 10_000]), st.sampled_from([0.0, 0.5, 2.0, np.inf]))
def test_fill(problem, budget, most):
    """With and without rows that are left out because their keys are too large."""
    costs, _, _, labels = problem
    k = costs.shape[1]
    limit = no_limit(costs) if np.isinf(most) else most * np.arange(k * k).reshape(k, k) / k
    (start, capacity), fast, calls = filled(flow, costs, labels, 2, budget, limit)
    _, plain, _ = filled(reference_flow, costs, labels, 2, budget, limit)
    np.testing.assert_array_equal(fast[0], plain[0])
    np.testing.assert_array_equal(fast[3], plain[3])
    for a in range(k):
        for b in range(k):
            at = start[a] + b * capacity[a]
            lane = slice(at, at + fast[0][a, b])
            assert sorted(zip(fast[1][lane], fast[2][lane])) == list(zip(plain[1][lane], plain[2][lane]))
            heap = list(zip(fast[1][lane], fast[2][lane]))
            assert all(heap[(i - 1) // 2] < heap[i] for i in range(1, len(heap)))
    assert budget > 1 or calls >= len(labels)  # one row at a time


@given(problems())
def test_choose_and_regret(problem):
    costs, lower, upper, _ = problem
    price = (upper - lower) / 2.0
    found = np.empty((2, len(costs)), np.int32)
    flow.choose(costs, price, found[0])
    reference_flow.choose(costs, price, found[1])
    np.testing.assert_array_equal(*found)
    assert flow.sum_regret(costs, price, found[0]) == reference_flow.sum_regret(costs, price, found[0]) == 0
    anywhere = np.arange(len(costs), dtype=np.int32) % costs.shape[1]
    assert flow.sum_regret(costs, price, anywhere) == pytest.approx(reference_flow.sum_regret(costs, price, anywhere))


def solved(module, problem, room, budget, most=np.inf):
    costs, lower, upper, labels = problem
    n, k = costs.shape
    labels = labels.copy()
    count = np.bincount(labels, minlength=k)
    size = np.clip(count, lower, upper)
    excess = np.append(count - size, size.sum() - n)
    price, state = np.zeros(k + 1), np.zeros(2, np.int64)
    told, calls, limit = flow.FULL, 0, no_limit(costs) if np.isinf(most) else np.full((k, k), most)
    while told not in (flow.DONE, flow.STUCK):
        if told == flow.THIN:
            assert not np.isinf(limit[state[0]]).any()
            limit[state[0]] = np.inf
        if told in (flow.FULL, flow.THIN):
            place, heaps, _ = filled(module, costs, labels, room, 10_000, limit)
        told = module.augment(costs, labels, lower, upper, size, excess, price, *place, *heaps, state, budget)
        calls += 1
    return told, labels, size, excess, price, state[1], calls


@given(problems(), st.sampled_from([(1, 10_000), (30, 1), (30, 10_000), (30, 10_000, 0.1), (1, 10_000, 1.0)]))
def test_augment(problem, limits):
    """Path by path, with lanes that have to be made anew for every row, and all at once."""
    fast = solved(flow, problem, *limits)
    plain = solved(reference_flow, problem, *limits)
    for place, (one, other) in enumerate(zip(fast[:-1], plain[:-1])):
        # A path that waits for room in a lane is looked for twice, so that prices are added up in two parts.
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 if place == 4 else 0)
    told, labels, size, excess, _, paths, calls = fast
    _, lower, upper, _ = problem
    assert told == flow.DONE
    assert not excess.any()
    assert (np.bincount(labels, minlength=len(lower)) == size).all()
    assert ((lower <= size) & (size <= upper)).all()
    assert limits[1] > 1 or calls >= paths


@pytest.mark.parametrize("module", [flow, reference_flow])
def test_no_way_out(module):
    """Three rows, room for two: what is left over stays where it is."""
    problem = np.zeros((3, 2)), np.array([0, 0]), np.array([1, 1]), np.zeros(3, np.int32)
    told, _, _, excess, _, paths, _ = solved(module, problem, 5, 100)
    assert told == flow.STUCK
    assert (excess.tolist(), paths) == ([1, 0, -1], 1)
