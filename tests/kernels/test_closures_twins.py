"""Every kernel of `closures` does what its plain twin does, on pairs and overlapping cliques with ties."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cluewise.centroid._exclusions import exclusions_of
from cluewise.core.rows import Rows
from cluewise.core.views import contract
from cluewise.kernels import closures
from strategies import PAIR_KINDS, cases
from twins import closures as reference_closures

BOTH = (closures, reference_closures)


def problem(case):
    assume(not case.clues.contradictions)
    nodes = contract(Rows(case.X), case.clues)
    net = exclusions_of(case.clues, nodes)
    for array in net:
        array.flags.writeable = False
    return net, case.rng, nodes.bound


@given(cases(PAIR_KINDS, noise=0.1))
def test_degrees(case):
    net, _, _ = problem(case)
    start = net.size // 2
    found = [np.full(net.size - start, -1) for _ in BOTH]
    for module, out in zip(BOTH, found):
        module.degrees(*net, start, out)
    np.testing.assert_array_equal(*found)


@given(cases(PAIR_KINDS, noise=0.1), st.sampled_from([1, 10, 10**6]))
def test_peel_extended(case, budget):
    """In slices of any size; equal values on purpose."""
    net, rng, bound = problem(case)
    value = rng.integers(0, 4, size=net.size) * 0.5
    heap = bound[np.lexsort((bound, value[bound]))]
    position = np.full(net.size, -1)
    position[heap] = np.arange(len(heap))
    found = []
    for module in BOTH:
        left, places, order = value.copy(), position.copy(), np.full(len(heap), -1)
        arrays = (left, heap.copy(), places, order, np.array([len(heap), 0]))
        calls = 1
        while not module.peel_extended(*net, *arrays, budget):
            calls += 1
            assert calls <= len(heap) + 1
        found.append((order, left, places))
    for fast, plain in zip(*found):
        np.testing.assert_array_equal(fast, plain)
    assert sorted(found[0][0]) == sorted(bound)


@given(cases(PAIR_KINDS, noise=0.1))
def test_violations(case):
    net, rng, _ = problem(case)
    labels = rng.integers(-1, 3, size=net.size).astype(np.int32)
    mass = rng.integers(0, 4, size=net.size).astype(float)
    start = net.size // 3
    found = []
    for module in BOTH:
        out = np.full(net.size - start, -1), np.full(net.size - start, np.nan)
        module.violations(*net, labels, mass, start, *out)
        found.append(out)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1])


@given(
    cases(PAIR_KINDS, noise=0.1),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 20.0]),
)
def test_assign_closures(case, fresh, exact, one, penalty):
    """The twin works out every share from scratch; whole numbers make ties, and sums exact."""
    net, rng, bound = problem(case)
    k = case.k
    labels = rng.integers(k, size=net.size).astype(np.int32)
    if fresh:
        labels[bound] = -1
    mass = rng.integers(0, 4, size=net.size).astype(float)
    order = rng.permutation(bound)
    costs = rng.integers(0, 30, size=(len(order), k)).astype(float)
    violated, burden = np.zeros(net.size, np.int64), np.zeros(net.size)
    reference_closures.violations(*net, labels, mass, 0, violated, burden)
    found = []
    for module in BOTH:
        out = labels.copy(), mass, violated.copy(), burden.copy()
        moved = module.assign_closures(*net, costs, order, *out, exact, one, penalty)
        found.append((*out, moved))
    for fast, plain in zip(*found):
        np.testing.assert_allclose(fast, plain)


def test_a_node_stays_on_ties_and_takes_the_lowest_number_when_it_is_new():
    nothing = np.zeros(3, np.int64), np.empty(0, np.int32), np.empty(0)
    net = (*nothing, *nothing, np.zeros(1, np.int64), *nothing[1:])
    for module in BOTH:
        labels = np.array([1, -1], np.int32)
        ledger = np.zeros(2, np.int64), np.zeros(2)
        module.assign_closures(*net, np.zeros((2, 3)), np.arange(2), labels, np.ones(2), *ledger, True, False, 1.0)
        assert labels.tolist() == [1, 0]


def test_no_dust_of_rounding_is_left():
    """0.1 + 0.7 − 0.7 − 0.1 is not 0."""
    indptr, indices = np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32)
    none = np.zeros(4, np.int64), np.empty(0, np.int32), np.empty(0)
    net = (indptr, indices, np.array([0.1, 0.7, 0.1, 0.7]), *none, np.zeros(1, np.int64), *none[1:])
    labels, mass = np.zeros(3, np.int32), np.ones(3)
    violated, burden = np.array([2, 1, 1]), np.array([0.1 + 0.7, 0.1, 0.7])
    costs = np.array([[0.0, 9.0], [0.0, 9.0]])
    moved = closures.assign_closures(
        *net, costs[:, ::-1].copy(), np.array([1, 2]), labels, mass, violated, burden, True, True, 1.0
    )
    assert moved == 2
    assert burden.tolist() == [0, 0, 0]
    assert violated.tolist() == [0, 0, 0]
    assert labels.tolist() == [0, 1, 1]


def test_cliques_that_share_two_nodes_count_them_once():
    clique_indptr, members = np.array([0, 3, 5]), np.array([0, 1, 2, 0, 1], np.int32)
    node_indptr, node_cliques = np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 0], np.int32)
    pull = np.array([1.0, 2, 1, 2, 1])
    net = (np.zeros(4, np.int64), np.empty(0, np.int32), np.empty(0), node_indptr, node_cliques, pull)
    net = (*net, clique_indptr, members, np.ones(5))
    for module in BOTH:
        out = np.empty(3, np.int64)
        module.degrees(*net, 0, out)
        assert out.tolist() == [2, 2, 2]
        violated, burden = np.empty(3, np.int64), np.empty(3)
        module.violations(*net, np.zeros(3, np.int32), np.array([1.0, 10, 100]), 0, violated, burden)
        assert violated.tolist() == [2, 2, 2]
        assert burden == pytest.approx([130, 103, 11])
