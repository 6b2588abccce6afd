"""The kernels of balanced clustering do what their plain twins do: ties, no places, small budgets, full lanes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import exchange, flow
from twins import exchange as reference_exchange


@st.composite
def tables(draw):
    """Costs with or without ties, and labels that use some of the clusters."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16), label="seed"))
    n, k = draw(st.integers(1, 25), label="n"), draw(st.integers(1, 5), label="k")
    ties = draw(st.booleans(), label="ties")
    costs = rng.integers(0, 6, size=(n, k)).astype(float) if ties else rng.random((n, k)) * np.arange(1, k + 1)
    return costs, rng.integers(draw(st.integers(1, k), label="used"), size=n).astype(np.int32), rng


def matched(module, costs, quota, budget):
    """Rows that each center holds, after proposals in slices."""
    n, k = costs.shape
    start = np.append(0, np.cumsum(quota))
    held, size = np.full(start[-1], -1, np.int32), np.zeros(k, np.int64)
    waiting, asked, state = np.arange(n, dtype=np.int32), np.full(n, -1, np.int32), np.array([n])
    calls = 1
    while not module.propose(costs, quota, start, held, size, waiting, asked, state, budget):
        calls += 1
    return [sorted(held[start[h] : start[h] + size[h]].tolist()) for h in range(k)], calls


@given(tables(), st.sampled_from([1, 40, 10_000]))
def test_propose(table, budget):
    costs, _, rng = table
    n, k = costs.shape
    quota = rng.integers(0, 1 + 2 * n // k, size=k)
    fast, calls = matched(exchange, costs, quota, budget)
    plain, _ = matched(reference_exchange, costs, quota, budget)
    assert fast == plain
    assert sum(map(len, fast)) == min(n, quota.sum())
    assert budget > 1 or calls >= n


def test_a_twin_carries_on_where_it_was():
    """Row 1 has asked center 0 and is held; row 0 is nearer."""
    costs = np.array([[0.0, 5], [1, 5]])
    found = []
    for module in (exchange, reference_exchange):
        held, size, state = np.array([1, -1], np.int32), np.array([1, 0]), np.array([1])
        asked, waiting = np.array([-1, 0], np.int32), np.array([0, 0], np.int32)
        quota = np.array([1, 1])
        assert module.propose(costs, quota, np.array([0, 1, 2]), held, size, waiting, asked, state, 1000)
        found.append((held.tolist(), asked.tolist()))
    assert found[0] == found[1] == ([0, 1], [0, 1])


def filled(costs, labels, room):
    k = costs.shape[1]
    count = np.bincount(labels, minlength=k)
    capacity = count + room
    start = np.append(0, np.cumsum(k * capacity))
    heaps = np.zeros((k, k), np.int64), np.zeros(start[-1]), np.zeros(start[-1], np.int32), np.zeros((k, k))
    heaps += (np.full((k, k), np.inf),)
    members, indptr = labels.argsort(kind="stable"), np.append(0, np.cumsum(count))
    place = start[:k], capacity
    assert flow.fill(costs, np.arange(k), indptr, members, *place, *heaps, np.zeros(2, np.int64), 10**6)
    return *place, *heaps


def traded(module, costs, labels, lower, upper, room, budget):
    labels, state = labels.copy(), np.zeros(2, np.int64)
    count = np.bincount(labels, minlength=costs.shape[1])
    told = flow.FULL
    while told != flow.DONE:
        if told == flow.FULL:
            lanes = filled(costs, labels, room)
        told = module.exchange(costs, labels, lower, upper, count, 1e-12, *lanes, state, budget)
    assert (count == np.bincount(labels, minlength=len(count))).all()
    return labels.tolist(), count.tolist(), state[1]


@given(tables(), st.sampled_from([(1, 10_000), (30, 1), (30, 10_000)]), st.integers(0, 3))
def test_exchange(table, limits, loose):
    costs, labels, rng = table
    n, k = costs.shape
    count = np.bincount(labels, minlength=k)
    lower = np.maximum(count - rng.integers(0, loose + 1, size=k), 0)
    upper = count + rng.integers(0, loose + 1, size=k)
    fast = traded(exchange, costs, labels, lower, upper, *limits)
    plain = traded(reference_exchange, costs, labels, lower, upper, *limits)
    assert fast == plain
    new, sizes, rounds = fast
    assert ((lower <= sizes) & (sizes <= upper)).all()
    gain = costs[np.arange(n), labels].sum() - costs[np.arange(n), new].sum()
    assert gain > 0 if rounds else (new == labels).all()


def test_cycles_of_three():
    """Every row wants the next cluster and nobody would swap: only all three together gain."""
    costs = np.array([[1.0, 0, 9], [9, 1, 0], [0, 9, 1]])
    labels = np.arange(3, dtype=np.int32)
    one = np.ones(3, np.int64)
    for module in (exchange, reference_exchange):
        assert traded(module, costs, labels, one, one, 5, 1000) == ([1, 2, 0], [1, 1, 1], 1)
