"""The cheapest labels under hard clues: as good as all labelings that keep them."""

import itertools

import numpy as np
import pytest

from cluewise import Clues
from cluewise.centroid.assignment import cheapest_labels
from cluewise.exceptions import Infeasible
from cluewise.metrics import broken


def draw_case(seed):
    """Costs of at most seven rows, and clues that some labels keep."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 8)), int(rng.integers(2, 4))
    y = rng.integers(k, size=n)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(rng.integers(1, 6))])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    weight = rng.integers(1, 4, size=n).astype(float)
    rows, mass = np.bincount(y, minlength=k), np.bincount(y, weights=weight, minlength=k)
    sizes = [
        {},
        {"sizes": (rows.min(), rows.max())},
        {"sizes": [(s, s) for s in rows]},
        {"sizes": (mass.min(), mass.max()), "size_unit": "weight"},
    ]
    clues = Clues(n, must=pairs[same], cannot=pairs[~same], **sizes[seed % 4])
    return 10 * rng.random((n, k)) ** 3, clues, weight


@pytest.mark.parametrize("seed", range(60))
def test_no_other_labels_are_cheaper(seed):
    costs, clues, weight = draw_case(seed)
    n, k = costs.shape

    def is_kept(labels):
        return not broken(labels, clues, n_clusters=k, sample_weight=weight).kinds

    every = (np.array(labels) for labels in itertools.product(range(k), repeat=n))
    best = min(costs[np.arange(n), labels].sum() for labels in every if is_kept(labels))
    labels = cheapest_labels(costs, clues, weight)
    assert is_kept(labels)
    assert costs[np.arange(n), labels].sum() == pytest.approx(best)


def test_clusters_may_stay_empty():
    costs = np.array([[0.0, 1.0, 5.0], [0.0, 1.0, 5.0], [0.0, 1.0, 5.0]])
    assert cheapest_labels(costs, Clues(3, must=[(0, 1)])).tolist() == [0, 0, 0]


def test_links_and_sizes_that_disagree_are_infeasible():
    clues = Clues(4, must=[(0, 1), (2, 3)], sizes=[(1, 1), (3, 3)])
    with pytest.raises(Infeasible):
        cheapest_labels(np.zeros((4, 2)), clues)
