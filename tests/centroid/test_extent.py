"""Extent: boxes and diameters against all pairs; the bound holds where it is not exact."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from cluewise.centroid._hmrf import extent
from cluewise.core.rows import rows_of


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_box_of_some_rows(make):
    X = np.random.default_rng(0).normal(size=(50, 3)) * (np.arange(50) % 3 > 0)[:, None]
    low, high = extent.box(rows := rows_of(make(X)), np.arange(40))
    np.testing.assert_allclose(low + rows.shift, X[:40].min(axis=0))
    np.testing.assert_allclose(high + rows.shift, X[:40].max(axis=0))


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_the_diameter_is_that_of_all_pairs(make):
    X = np.random.default_rng(0).normal(size=(300, 4))
    assert extent.diameter(rows_of(make(X)), np.arange(300)) == pytest.approx(pdist(X).max())
    assert extent.diameter(rows_of(make(X)), np.arange(7)) == pytest.approx(pdist(X[:7]).max())


def test_beyond_the_extreme_rows_the_diameter_is_bounded(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 4))
    monkeypatch.setattr(extent, "EXTREME", 20)
    found, exact = extent.diameter(rows_of(X), np.arange(300)), pdist(X).max()
    assert exact <= found <= 1.5 * exact


@pytest.mark.parametrize("root", [None, np.array([1.0, 0.1, 3.0]), np.diag([1.0, 0.1, 3.0])[[1, 0, 2]]])
def test_the_farthest_pair_in_a_metric(root, monkeypatch):
    monkeypatch.setattr("cluewise.core.rows.BLOCK_BYTES", 2**10)  # several blocks
    X = np.random.default_rng(1).normal(size=(200, 3)) + 5
    turned = X if root is None else X * root if root.ndim == 1 else X @ root
    every = squareform(pdist(turned))
    i, j, distance = extent.farthest_pair(rows_of(X), np.arange(200), root)
    assert {i, j} == set(np.unravel_index(every.argmax(), every.shape))
    assert distance == pytest.approx(every.max())
