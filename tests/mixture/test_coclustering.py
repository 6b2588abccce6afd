"""Co-clustering: least squares against the full matrix of pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.mixture._tvclust import results


@given(st.integers(0, 999), st.integers(1, 8), st.integers(1, 12))
def test_losses_are_those_of_the_full_matrix(seed, count, n):
    draws = np.random.default_rng(seed).integers(4, size=(count, n)).astype(np.int32)
    together = (draws[:, :, None] == draws[:, None, :]).astype(float)
    wanted = ((together - together.mean(axis=0)) ** 2).sum(axis=(1, 2))
    loss = results.squared_losses(draws)
    assert loss - loss[0] == pytest.approx(wanted - wanted[0], abs=1e-9)
    best = results.find_central(draws, np.arange(count) * 1.0)
    assert wanted[best] == pytest.approx(wanted.min(), abs=1e-9)


def test_among_equals_the_most_probable():
    draws = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 1], [1, 1, 0]], dtype=np.int32)
    assert results.find_central(draws, np.array([-3.0, 0.0, -1.0, -2.0])) == 2


def test_many_draws_are_thinned(monkeypatch):
    monkeypatch.setattr(results, "MOST", 3)
    draws = np.array([[0, 0], [0, 1], [0, 1], [0, 1], [0, 0]], dtype=np.int32)
    assert results.find_central(draws, np.zeros(5)) in (0, 4)


def test_shares_do_not_depend_on_names():
    labels = np.array([0, 0, 1, 1])
    draws = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], dtype=np.int32)
    assert results.align(draws, labels) == pytest.approx(np.array([[3, 0], [3, 0], [1, 2], [0, 3]]) / 3)
