"""Pieces: the best way to put them together, and votes that wrong clues cannot turn."""

from itertools import product

import numpy as np
import pytest

from cluewise import Clues
from cluewise.front._evidence import gather
from cluewise.front._ground import Ground
from cluewise.front._starts import Starts
from cluewise.kernels.pieces import assign_pieces
from cluewise.metrics import ari


def gain_of(pairs, votes, labels):
    same = labels[:, None] == labels
    return np.triu(pairs * same, 1).sum() + votes[np.arange(len(labels)), labels].sum()


@pytest.mark.parametrize("seed", range(10))
def test_descent_ends_where_no_single_piece_gains_by_moving(seed):
    rng = np.random.default_rng(seed)
    q, k = 7, 3
    pairs = rng.normal(size=(q, q))
    pairs += pairs.T
    votes = rng.normal(size=(q, k))
    best = -np.inf
    for _ in range(100):
        labels = rng.integers(k, size=q)
        begin = gain_of(pairs, votes, labels)
        gain = assign_pieces(pairs, votes, rng.permutation(q), 50, labels)
        assert gain == pytest.approx(gain_of(pairs, votes, labels))
        assert gain >= begin - 1e-9
        for a, c in product(range(q), range(k)):
            moved = labels.copy()
            moved[a] = c
            assert gain_of(pairs, votes, moved) <= gain + 1e-6
        best = max(best, gain)
    every = max(gain_of(pairs, votes, np.array(labels)) for labels in product(range(k), repeat=q))
    assert best == pytest.approx(every)


def start(y, X, **clues):
    ground = Ground(X, None, np.random.default_rng(0))
    evidence = gather(Clues(len(y), **clues), 2, ground.place.grain)
    return Starts(ground, 2, 0).find("pieces", evidence)[ground.place.grain]


def test_many_clues_decide_against_the_graph():
    """Four blobs, of which the clues join those farthest apart; a fifth of the clues is wrong."""
    rng = np.random.default_rng(0)
    blob = np.arange(400) % 4
    X = np.array([(0.0, 0.0), (0.0, 6.0), (9.0, 0.0), (9.0, 6.0)])[blob] + rng.normal(size=(400, 2))
    y = np.isin(blob, [0, 3]).astype(int)
    clues = Clues.sample(y, pairs=400, noise=0.2, random_state=0)
    assert ari(y, start(y, X, must=clues.must, cannot=clues.cannot)) > 0.95


def test_labels_name_the_clusters():
    y = np.arange(100) % 2
    X = (6.0 * y + np.random.default_rng(0).normal(size=100))[:, None]
    labels = np.where(np.arange(100) < 10, y, -1)
    np.testing.assert_array_equal(start(y, X, labels=labels), y)
