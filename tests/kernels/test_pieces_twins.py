"""Pieces are assigned as by their twin."""

import numpy as np
import pytest

from cluewise.kernels import pieces as kernels
from twins import pieces as twins


@pytest.mark.parametrize("seed", range(8))
def test_assign_pieces_like_its_twin(seed):
    rng = np.random.default_rng(seed)
    q, k = 12, 3
    pairs = rng.normal(size=(q, q))
    pairs += pairs.T
    votes, order, start = rng.normal(size=(q, k)), rng.permutation(q), rng.integers(k, size=q)
    found = []
    for module in (kernels, twins):
        labels = start.copy()
        found.append((module.assign_pieces(pairs, votes, order, 50, labels), labels))
    assert found[0][0] == pytest.approx(found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
