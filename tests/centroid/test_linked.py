"""Steps over links: two nearest centers, and sums with the rows of broken links."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from cluewise.centroid._linked import spread, sum_pulls, two_nearest
from cluewise.core.centers import scatter, tally
from cluewise.core.rows import rows_of


def test_two_nearest():
    first, second = two_nearest(np.array([[3.0, 1, 2], [1, 1, 1], [5, 9, 5]]))
    assert first.tolist() == [1, 0, 0]
    assert second.tolist() == [2, 1, 2]
    assert [a.tolist() for a in two_nearest(np.ones((2, 1)))] == [[0, 0], [0, 0]]


@pytest.mark.parametrize("sparse", [False, True])
def test_pulled_and_spread(sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    weight = rng.random(50)
    rows = rows_of(csr_array(X) if sparse else X, weight)
    moved = X - rows.shift
    which, charges = rng.permutation(50)[:20], rng.random((20, 4)) * (rng.random((20, 1)) < 0.5)
    found = sum_pulls(rows, which, charges)
    np.testing.assert_allclose(found.sums, charges.T @ moved[which])
    np.testing.assert_allclose(found.mass, charges.sum(axis=0))
    labels, centers = rng.integers(4, size=50).astype(np.int32), rng.normal(size=(4, 3))
    expected = weight @ ((moved - centers[labels]) ** 2).sum(axis=1)
    assert spread(scatter(rows), tally(rows, labels, 4), centers) == pytest.approx(expected)
