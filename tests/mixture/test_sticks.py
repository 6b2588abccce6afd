"""Sticks: expectations by sampling, divergence by SciPy, order by trying all."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln
from scipy.stats import beta

from cluewise.mixture._tvclust.sticks import Sticks, better_order, sticks_of

masses = st.lists(st.floats(0, 50), min_size=1, max_size=5).map(np.array)


def test_posterior_of_the_specification():
    sticks = sticks_of(np.array([3.0, 2.0, 0.5]), 1.5)
    assert sticks.taken == pytest.approx([4, 3])
    assert sticks.left == pytest.approx([4, 2])


@given(masses)
def test_weights_are_a_distribution(mass):
    sticks = sticks_of(mass, 0.7)
    assert sticks.weights().sum() == pytest.approx(1)
    assert (np.exp(sticks.log_weights()) <= sticks.weights() + 1e-12).all()  # Jensen


def test_expectations_by_sampling():
    sticks = Sticks(np.array([3.0, 1.0]), np.array([2.0, 4.0]))
    rng = np.random.default_rng(0)
    v = np.column_stack([rng.beta(3, 2, 200_000), rng.beta(1, 4, 200_000), np.ones(200_000)])
    left = np.column_stack([np.ones(200_000), np.cumprod(1 - v[:, :2], axis=1)])
    assert sticks.weights() == pytest.approx((v * left).mean(axis=0), abs=0.005)
    assert sticks.log_weights() == pytest.approx(np.log(v * left).mean(axis=0), abs=0.02)


def test_divergence_by_scipy():
    sticks = Sticks(np.array([3.0, 1.5]), np.array([2.0, 4.0]))
    wanted = 0.0
    for a, b in zip(*sticks, strict=True):
        wanted += beta(a, b).expect(lambda v, a=a, b=b: beta(a, b).logpdf(v) - beta(1, 0.8).logpdf(v))
    assert sticks.divergence(0.8) == pytest.approx(wanted, rel=1e-6)
    assert sticks_of(np.zeros(3), 0.8).divergence(0.8) == pytest.approx(0, abs=1e-12)


@given(masses)
def test_order_never_loses(mass):
    def value(order):
        sticks = sticks_of(mass[list(order)], 1.0)
        return betaln(sticks.taken, sticks.left).sum()

    start = range(len(mass))
    order = better_order(mass, 1.0)
    if order is None:
        assert value(start) >= value(np.argsort(-mass, kind="stable")) - 1e-6
    else:
        assert value(order) > value(start)
        assert sorted(order) == list(start)
        assert value(order) >= np.median([value(o) for o in permutations(start)]) - 1e-9
