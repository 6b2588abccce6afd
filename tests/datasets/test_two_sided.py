"""Two-sided data: two unrelated truths, the first of which a plain clusterer finds."""

from functools import partial

import numpy as np
import pytest
from sklearn.cluster import KMeans

from cluewise.datasets import DatasetError, make_pattern
from cluewise.datasets._two_sided import make_two_sided
from cluewise.metrics import nmi

KINDS = ["points", "counts", "shapes"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [(3, 3), (2, 3), (1, 2)])
def test_shapes_and_truths(kind, classes):
    X, first, second = make_two_sided(kind, n_samples=100, n_classes=classes, random_state=0)
    width = {"points": sum(1 if k <= 2 else 2 for k in classes), "counts": 40, "shapes": 432}[kind]
    assert X.shape == (100, width)
    assert np.isfinite(X).all()
    for truth, k in ((first, classes[0]), (second, classes[1])):
        sizes = np.bincount(truth)
        assert len(sizes) == k
        assert sizes.max() - sizes.min() <= 1
    if kind != "points":
        assert X.min() >= 0
    assert nmi(first, second) < 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_seeds(kind):
    one, same, other = (make_two_sided(kind, n_samples=30, random_state=seed) for seed in (0, 0, 1))
    for a, b in zip(one, same):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one[0], other[0])


@pytest.mark.parametrize(("kind", "dominance"), [("points", 3), ("counts", 3), ("shapes", 8)])
@pytest.mark.parametrize("seed", range(3))
def test_the_first_side_dominates(kind, dominance, seed):
    X, first, second = make_two_sided(kind, dominance=dominance, random_state=seed)
    labels = KMeans(3, n_init=5, random_state=0).fit(X).labels_
    assert nmi(first, labels) > 0.95
    assert nmi(second, labels) < 0.1
    for group in range(3):  # and the second is there
        inside = KMeans(3, n_init=5, random_state=0).fit(X[first == group]).labels_
        assert nmi(second[first == group], inside) > 0.3


def test_a_random_state_draws_as_it_does_elsewhere():
    """By one number of it; numpy itself takes a RandomState in some versions only."""
    drawn = np.random.RandomState(5).randint(2**31)
    for make in (partial(make_two_sided, n_samples=20), partial(make_pattern, "two_spirals")):
        np.testing.assert_array_equal(make(random_state=np.random.RandomState(5))[0], make(random_state=drawn)[0])


def test_corners_are_one_unit_apart():
    for k in (2, 3, 5):
        X, first, _ = make_two_sided("points", n_samples=4000, n_classes=(k, 1), dominance=2, random_state=0)
        means = np.stack([X[first == c].mean(axis=0) for c in range(k)])
        apart = np.linalg.norm(means[0] - means[1])
        assert apart == pytest.approx(12, abs=0.2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "faces"}, "kind is 'faces'; it must be one of points, counts, shapes"),
        ({"n_classes": (2, 0)}, "two integers"),
        ({"n_classes": (2,)}, "two integers"),
        ({"n_samples": 2}, "n_samples is 2, too few for 3 classes"),
        ({"n_samples": 50.0}, "n_samples is 50.0; it must be an integer"),
        ({"n_classes": 3}, "n_classes is 3; it must be two integers of at least 1"),
        ({"dominance": 0}, "must be positive and finite"),
        ({"dominance": np.inf}, "dominance is inf; it must be positive and finite"),
        ({"dominance": np.nan}, "must be positive and finite"),
        ({"dominance": "3"}, "must be positive and finite"),
        ({"kind": "shapes", "n_classes": (4, 2)}, "three colors"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(DatasetError, match=message):
        make_two_sided(**given)
