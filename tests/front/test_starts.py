"""Starts without clues: which of them is the default."""

import numpy as np

from cluewise.front import _starts
from cluewise.front._ground import Ground
from cluewise.front._starts import Starts


def test_a_few_rows_apart_are_not_the_default_clustering(monkeypatch):
    """Fourteen of 214 rows lie apart: cutting them off is cheap, but k-means halves the others."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(200, 2)) * [3, 1], rng.normal(size=(14, 2)) * 0.3 + [0, 6]])
    starts = Starts(Ground(X, None, np.random.default_rng(0)), 2, 0)
    assert np.bincount(starts.plain("consensus")).min() < 20
    assert np.bincount(starts.plain("k-means")).min() > 90
    assert starts.default == "k-means"
    monkeypatch.setattr(_starts, "EVEN", 0.0)
    assert starts.default == "consensus"
