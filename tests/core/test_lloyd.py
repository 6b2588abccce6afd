"""One step of k-means, against a plain one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cluewise.core import assign, centers, lloyd
from cluewise.core.centers import scatter
from cluewise.core.rows import Rows


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 12))
def test_step(seed, k, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, d)) + 3
    start = X[:k]
    rows = Rows(X)
    state = lloyd.State(assign.no_labels(30), start - rows.shift)
    new, info = lloyd.step(state, rows=rows, total=scatter(rows))
    labels = cdist(X, start).argmin(axis=1)
    means = np.array([X[labels == h].mean(axis=0) for h in range(k)])
    np.testing.assert_array_equal(new.labels, labels)
    np.testing.assert_allclose(new.centers + rows.shift, means)
    assert info.objective == pytest.approx(((X - means[labels]) ** 2).sum(), rel=1e-9, abs=1e-9)
    assert info.moved == 30
    assert (state.labels == -1).all()  # the old state is as it was
    np.testing.assert_array_equal(state.centers, start - rows.shift)


def test_a_center_far_away_is_given_the_worst_row():
    X = np.array([[0.0], [1], [2], [30]])
    rows = Rows(X)
    state = lloyd.State(assign.no_labels(4), np.array([[1.0], [1000.0]]) - rows.shift)
    new, _ = lloyd.step(state, rows=rows, total=scatter(rows))
    assert new.labels.tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(new.centers + rows.shift, [[1], [30]])


def test_rounding_grows_with_the_data_and_the_precision():
    assert centers.rounding(Rows(np.zeros((1, 1))), 1.0) < 1e-12
    assert 1e-6 < centers.rounding(Rows(np.zeros((1, 1), np.float32)), 1.0) < 1e-4
    assert centers.rounding(Rows(np.zeros((1, 1))), 1e9) > centers.rounding(Rows(np.zeros((1, 1))), 1.0)
