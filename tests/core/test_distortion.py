"""The objective, evaluated by code of its own."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from cluewise import threads
from cluewise.core.centers import distortion
from cluewise.core.rows import rows_of


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_distortion(sparse, weighted):
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(20000, 3)), rng.normal(size=(5, 3))
    labels = rng.integers(5, size=20000).astype(np.int32)
    weight = rng.random(20000) if weighted else None
    rows = rows_of(csr_array(X) if sparse else X, weight)
    squared = ((X - centers[labels]) ** 2).sum(axis=1)
    expected = squared.sum() if weight is None else weight @ squared
    values = set()
    for n in (1, 3):
        with threads(n):
            values.add(distortion(rows, centers - rows.shift, labels))
    assert len(values) == 1
    assert values.pop() == pytest.approx(expected)
