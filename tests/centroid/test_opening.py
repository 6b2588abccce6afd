"""Sweeps that open clusters: worked half steps, growing tables, and the cost of a cluster."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from cluewise import Clues
from cluewise.centroid._dp import opening
from cluewise.centroid._dp.divergences import EUCLIDEAN, Divergence, divergence_of, smooth
from cluewise.centroid._dp.opening import Points
from cluewise.core.views import broken_weight

TOY8 = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]], dtype=float)
LINKS = Clues(8, must=[(2, 3), (4, 6)], cannot=[(3, 5)])
EVERY = np.arange(8)


def points(X, name="sqeuclidean", weight=None):
    X = np.asarray(X, dtype=float)
    return Points(X, weight, np.zeros(X.shape[1]), divergence_of(name, X.shape[1]))


def first_sweep(p, **more):
    return opening.sweep(p, np.zeros(p.n, np.int32), opening.mean(p), order=np.arange(p.n), **more)


def test_furthest_first():
    p = points(TOY8)
    distances, chosen = opening.furthest_first(p, opening.mean(p), 3)
    np.testing.assert_allclose(distances, [21.78125, 11.78125, 2.0])
    assert chosen.tolist() == [7, 1, 2]


def test_furthest_first_under_kl():
    p = points(smooth([[4, 0, 1], [3, 1, 1], [0, 5, 0], [1, 4, 0]]), "kl")
    distances, chosen = opening.furthest_first(p, opening.mean(p), 2)
    np.testing.assert_allclose(distances, [0.449427, 0.419754], atol=1e-6)
    assert chosen.tolist() == [0, 2]


def test_furthest_first_needs_distinct_rows_that_count():
    with pytest.raises(ValueError, match="n_clusters=3 is too many: of n_samples=4 rows only 2 differ"):
        opening.furthest_first(points([[0.0], [0], [1], [1]]), np.array([[0.5]]), 3)
    weight = np.array([1.0, 1, 0])
    p = points([[0.0], [2], [9]], weight=weight)
    assert opening.mean(p).tolist() == [[1.0]]
    assert opening.furthest_first(p, opening.mean(p), 1)[0] == [1.0]


@pytest.mark.parametrize(("k", "squared"), [(1, 21.78125), (2, 13.28125), (3, 11.78125)])
def test_kth_from_the_mean(k, squared):
    p = points(TOY8)
    assert opening.kth_from_mean(p, opening.mean(p), k) == pytest.approx(squared)
    rooted = Points(TOY8, None, np.zeros(2), Divergence("euclidean", EUCLIDEAN))
    assert opening.kth_from_mean(rooted, opening.mean(p), k) == pytest.approx(squared**0.5)


@pytest.mark.parametrize(
    ("cost", "sweep", "means", "labels"),
    [
        (6.0, 23.59375, 65 / 3, [1, 1, 1, 0, 0, 0, 2, 2]),
        (2.0, 11.59375, 32 / 3, [1, 1, 1, 0, 0, 0, 2, 3]),
    ],
)
def test_half_steps_of_dp_means(cost, sweep, means, labels):
    p = points(TOY8)
    found = first_sweep(p, cluster_cost=cost)
    k = len(found.centers)
    assert found.labels.tolist() == labels
    assert found.spent + cost * k == pytest.approx(sweep)
    assert opening.distortion(p, found.centers, found.labels) + cost * k == pytest.approx(means)
    again = opening.sweep(p, found.labels, found.centers, order=EVERY, cluster_cost=cost)
    assert again.moved == 0
    assert again.labels.tolist() == labels


def test_half_steps_of_rdp_means():
    """ξ = 4 throughout: J after the sweep and after the means, twice."""
    p, labels, centers = points(TOY8), np.zeros(8, np.int32), opening.mean(points(TOY8))
    values = []
    for _ in range(3):
        found = opening.sweep(p, labels, centers, order=EVERY, cluster_cost=6.0, clues=LINKS, gain=4.0)
        labels, centers = found.labels, found.centers
        rest = 4 * (broken_weight(LINKS, labels) - 2) + 6 * len(centers)
        values.append((found.spent + rest, opening.distortion(p, centers, labels) + rest))
    np.testing.assert_allclose(values, [(27.59375, 77 / 3), (73 / 3, 22.25), (22.25, 22.25)])
    augmented = ((TOY8[3] - centers) ** 2).sum(axis=1) + 4 * np.array([1, -1, 0])
    np.testing.assert_allclose(augmented, [5.25, 0.0625, 20.5])


def test_as_many_clusters_as_rows():
    """The tables grow while a sweep runs; so does the room for counting large groups."""
    X = np.arange(100.0)[:, None]
    group = Clues(100, apart=np.zeros(100, dtype=int))
    for clues, gain in ((None, 0.0), (group, 1e-9)):
        found = first_sweep(points(X), cluster_cost=0.1, clues=clues, gain=gain)
        assert len(np.unique(found.labels)) == len(found.centers) == 100
        np.testing.assert_array_equal(found.centers[found.labels], X)


def test_a_large_group_that_repels_puts_every_row_on_its_own():
    X = np.random.default_rng(0).normal(size=(60, 2))
    found = first_sweep(points(X), cluster_cost=5.0, clues=Clues(60, apart=np.zeros(60, dtype=int)), gain=1000.0)
    assert len(found.centers) == 60


def test_order_is_the_order_of_visits():
    X = np.array([[0.0], [1.0], [10.0]])
    forth = first_sweep(points(X), cluster_cost=4.0)
    back = opening.sweep(
        points(X), np.zeros(3, np.int32), opening.mean(points(X)), order=np.array([2, 1, 0]), cluster_cost=4.0
    )
    assert forth.labels.tolist() == [0, 0, 1]
    assert back.labels.tolist() == [1, 1, 0]


def test_blocks_change_nothing(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 3))
    clues = Clues.sample(np.random.default_rng(1).integers(5, size=200), pairs=100, random_state=0)
    whole = first_sweep(points(X), cluster_cost=2.0, clues=clues, gain=0.7)
    monkeypatch.setattr(opening, "BLOCK_BYTES", 1)
    assert len(points(X).blocks(1)) > 8
    pieces = first_sweep(points(X), cluster_cost=2.0, clues=clues, gain=0.7)
    np.testing.assert_array_equal(whole.labels, pieces.labels)
    np.testing.assert_allclose(whole.centers, pieces.centers)
    sparse = first_sweep(
        Points(csr_array(X), None, np.zeros(3), divergence_of("sqeuclidean", 3)),
        cluster_cost=2.0,
        clues=clues,
        gain=0.7,
    )
    np.testing.assert_array_equal(whole.labels, sparse.labels)


def test_rows_without_weight_open_nothing_and_hold_nothing():
    X = np.array([[0.0], [1.0], [50.0], [100.0]])
    weight = np.array([1.0, 1.0, 0.0, 1.0])
    p = points(X, weight=weight)
    begin = np.array([[0.5], [51.0], [99.0]])  # the second center has only the row without weight
    found = opening.sweep(p, np.zeros(4, np.int32), begin, order=np.arange(4), cluster_cost=10.0)
    assert found.centers.tolist() == [[0.5], [100.0]]
    assert found.labels.tolist() == [0, 0, 0, 1]
    assert opening.distortion(p, found.centers, found.labels) == 0.5
    alone = first_sweep(points([[0.0], [1], [50]], weight=np.array([1.0, 1, 0])), cluster_cost=10.0)
    assert alone.labels.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("weight", "opens"), [(1.0, True), (3.0, True), (0.5, False)])
def test_a_heavy_row_opens_what_equal_rows_would(weight, opens):
    """At divergence 10 and cost 8 one row opens a cluster, half a row does not; three rows at 4 do not either."""
    p = points([[0.0], [10**0.5]], weight=np.array([1.0, weight]))
    start = np.zeros((1, 1))
    found = opening.sweep(p, np.zeros(2, np.int32), start, order=np.arange(2), cluster_cost=8.0)
    assert (len(found.centers) == 2) == opens
    near = points([[0.0], [2.0]], weight=np.array([1.0, weight]))
    assert len(opening.sweep(near, np.zeros(2, np.int32), start, order=np.arange(2), cluster_cost=8.0).centers) == 1


def test_ties_go_to_the_first_or_the_last():
    X, begin = [[-1.0], [0.0], [1.0]], np.array([[-1.0], [1.0]])
    for last, label in ((False, 0), (True, 1)):
        found = opening.sweep(points(X), np.zeros(3, np.int32), begin, order=np.arange(3), cluster_cost=9.0, last=last)
        assert found.labels[1] == label
