"""Starts without clues: which of them is the default."""

import numpy as np
import pytest

from cluewise.datasets import make_pattern
from cluewise.front import _starts
from cluewise.front._ground import Ground
from cluewise.front._starts import Starts


def start(X, k, seed=0):
    return Starts(Ground(X, None, np.random.default_rng(0)), k, seed)


def test_spirals_are_cut_where_the_graph_is_thin():
    assert start(make_pattern("two_spirals", n_samples=300, random_state=0)[0], 2).default == "spectral"


def test_the_default_is_k_means_if_its_runs_agree(monkeypatch):
    rng = np.random.default_rng(0)
    starts = start(rng.normal(size=(200, 2)) + np.repeat([[0.0, 0.0], [2.5, 0.0]], 100, axis=0), 2)
    monkeypatch.setattr(_starts, "BETTER", 2.0)  # whatever the consensus cuts
    assert starts.default == "k-means"
    monkeypatch.setattr(starts, "_is_settled", False)
    assert starts.default == "consensus"


def test_runs_of_k_means_differ_where_there_are_no_clusters():
    rows = np.random.default_rng(0).normal(size=(150, 20))
    starts = start(rows, 8)
    labels = starts.plain("k-means")
    assert not starts._is_settled

    def spread(own):
        return sum(((rows[own == c] - rows[own == c].mean(axis=0)) ** 2).sum() for c in range(8))

    grain = starts._ground.place.grain
    each = [starts._fit_means(starts._ground.centers, 10, None, 8, run).labels_[grain] for run in range(3)]
    assert spread(labels[grain]) == pytest.approx(min(spread(own) for own in each))


def test_a_few_rows_apart_are_not_the_default_clustering(monkeypatch):
    """Twelve of 212 rows lie apart: cutting them off is cheap, but k-means halves the others."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(200, 2)) * [3, 1], rng.normal(size=(12, 2)) * 0.3 + [0, 6]])
    starts = start(X, 2)
    assert np.bincount(starts.plain("spectral")).min() < 20
    assert np.bincount(starts.plain("k-means")).min() > 90
    assert starts.default == "k-means"
    monkeypatch.setattr(_starts, "EVEN", 0.0)
    assert starts.default == "spectral"


def test_similar_clusters_get_the_same_numbers():
    labels = np.repeat([4, 0, 2], 40)
    other = np.array([7, 1, 9, 3, 5])[labels]
    other[:3] = other[40]  # the first grains are in another cluster
    assert np.array_equal(_starts._number(labels), np.repeat([0, 1, 2], 40))
    assert np.array_equal(_starts._number(other)[3:], np.repeat([0, 1, 2], 40)[3:])


def test_clusters_with_the_same_middle_are_numbered_as_they_appear():
    assert _starts._number(np.array([5, 3, 3, 5])).tolist() == [0, 1, 1, 0]
    assert _starts._number(np.array([3, 5, 5, 3])).tolist() == [0, 1, 1, 0]
