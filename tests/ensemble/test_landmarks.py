"""Kernels and landmarks: scikit-learn's kernels, and coordinates whose inner products are the kernel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import pairwise_kernels

from cluewise.core import assign
from cluewise.core.rows import Rows, rows_of
from cluewise.ensemble import _landmarks as landmarks
from cluewise.ensemble._landmarks import (
    NAMES,
    Kernel,
    KernelRows,
    draw_rows,
    estimate_gamma,
    make_landmarks,
    sum_kernel,
)

X = np.random.default_rng(0).normal(size=(30, 4))
X[7] = 0.0
HOW = {"rbf": {"gamma": 0.3}, "polynomial": {"gamma": 0.3, "degree": 2, "coef0": 0.5}, "linear": {}, "cosine": {}}


def kernel_of(name):
    return Kernel(name, 0.3, 2, 0.5)


def doubled(x, y):
    return 2 * (x @ y.T) ** 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", [np.asarray, csr_array, csr_matrix])
def test_kernels_are_those_of_scikit_learn(name, form):
    x, y = form(X), form(X[3:12])
    expected = pairwise_kernels(X, X[3:12], metric=name, **HOW[name])
    assert kernel_of(name).matrix(x, y) == pytest.approx(expected)
    assert kernel_of(name).diagonal(x) == pytest.approx(np.diagonal(pairwise_kernels(X, metric=name, **HOW[name])))


def test_a_function_as_kernel():
    x = np.vstack([X] * 5)  # more rows than are looked at at once
    kernel = Kernel(doubled)
    assert kernel.matrix(x, X) == pytest.approx(doubled(x, X))
    assert kernel.diagonal(x) == pytest.approx(np.diagonal(doubled(x, x)))


@pytest.mark.parametrize("bad", [lambda x, y: 1.0, lambda x, y: np.full((len(x), len(y)), np.nan)])
def test_bad_functions_are_refused(bad):
    with pytest.raises(ValueError, match="one finite number per pair of rows"):
        Kernel(bad).matrix(X, X[:3])


@pytest.mark.parametrize("name", [*NAMES, doubled])
def test_coordinates_have_the_kernel_as_inner_product(name):
    """Of all rows with the landmarks exactly; of all rows with each other when all are landmarks."""
    kernel, rows, origin = Kernel(name, 0.3, 2, 0.5), Rows(X), np.zeros(4)
    few, every = make_landmarks(X[:5], origin, kernel), make_landmarks(X, origin, kernel)
    gram = kernel.matrix(X, X)
    known = KernelRows(rows, few)
    F = known.dense(slice(0, 30))
    assert F[:5] @ F.T == pytest.approx(gram[:5], abs=1e-8)
    G = KernelRows(rows, every).dense(slice(0, 30))
    np.testing.assert_allclose(G @ G.T, gram, atol=1e-6)
    assert sum_kernel(rows, every) == pytest.approx(np.trace(gram))
    # Rows of kernel values act like rows of coordinates.
    centers, labels = F[[2, 9, 20]], np.arange(30, dtype=np.int32) % 3
    table, x = known.table(centers), known.take(slice(0, 30))
    expected = ((F[:, None] - centers) ** 2).sum(axis=2)
    np.testing.assert_allclose(known.squared(x, table).T, expected, atol=1e-8)
    assert known.to_own(x, centers, labels) == pytest.approx(expected[np.arange(30), labels], abs=1e-8)
    sums, mass = np.zeros(centers.shape), np.zeros(3)
    known.add(x, slice(0, 30), labels, sums, mass)
    assert sums == pytest.approx(np.stack([F[labels == h].sum(axis=0) for h in range(3)]), abs=1e-8)
    assert mass.tolist() == [10, 10, 10]


def test_weights_count():
    weight = np.arange(30.0)
    rows = Rows(X, weight)
    found = make_landmarks(X[:6], np.zeros(4), kernel_of("linear"))
    assert sum_kernel(rows, found) == pytest.approx(weight @ (X**2).sum(axis=1))
    known = KernelRows(rows, found)
    sums, mass = np.zeros((1, known.d)), np.zeros(1)
    known.add(known.take(slice(0, 30)), slice(0, 30), np.zeros(30, dtype=np.int32), sums, mass)
    assert mass[0] == weight.sum()
    assert sums[0] == pytest.approx(weight @ known.dense(slice(0, 30)))


def test_kernel_values_are_kept_or_computed_again(monkeypatch):
    rows, found = Rows(X), make_landmarks(X[:6], np.zeros(4), kernel_of("rbf"))
    kept = KernelRows(rows, found)
    monkeypatch.setattr(landmarks, "KEPT", 0)
    again, never = KernelRows(rows, found), KernelRows(rows, found, keep=False)
    assert (kept._moved is None, again._moved is None, never._moved is None) == (False, True, True)
    for block in (slice(3, 9), np.array([4, 1, 20])):
        assert again.take(block) == pytest.approx(kept.take(block))
    centers, labels = kept.dense(np.array([0, 5])), (assign.no_labels(30), assign.no_labels(30))
    for some, own in zip((kept, again), labels):
        assign.nearest(some, centers, own)
    assert labels[0].tolist() == labels[1].tolist()


def test_infinite_kernels_are_refused():
    with (
        pytest.raises(ValueError, match="the kernel of some landmarks is infinite"),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        make_landmarks(1e200 * X, np.zeros(4), kernel_of("polynomial"))


def test_rounding_is_no_direction():
    """Twice the same landmarks span the same space; a kernel of zeros spans none, and nothing is divided by 0."""
    once, twice = (make_landmarks(x, np.zeros(4), kernel_of("linear")) for x in (X, np.vstack([X, X])))
    assert once.root.shape[1] == twice.root.shape[1] == 4
    nothing = make_landmarks(np.zeros((3, 2)), np.zeros(2), kernel_of("linear"))
    assert nothing.root.tolist() == [[0.0]] * 3


def test_typical_gamma():
    assert estimate_gamma(X[:6], np.zeros(4), None) == pytest.approx(1 / np.median(pdist(X[:6], "sqeuclidean")))
    assert estimate_gamma(csr_array(X[:6]), np.zeros(4), None) == pytest.approx(
        1 / np.median(pdist(X[:6], "sqeuclidean"))
    )
    weight = np.array([1, 3, 0, 2, 1, 1])
    repeated = np.repeat(X[:6], weight, axis=0)
    assert estimate_gamma(X[:6], np.zeros(4), weight) == pytest.approx(estimate_gamma(repeated, np.zeros(4), None))
    assert estimate_gamma(np.ones((5, 2)), np.zeros(2), None) == 1
    assert estimate_gamma(X[:1], np.zeros(4), None) == 1


@given(st.integers(0, 2**16), st.integers(1, 40), st.booleans())
def test_the_draw_knows_no_order_of_the_rows(seed, count, sparse):
    rng = np.random.default_rng(seed)
    order = rng.permutation(30)
    form = csr_array if sparse else np.asarray
    a = X[draw_rows(rows_of(form(X)), count, np.random.default_rng(seed))]
    b = X[order][draw_rows(rows_of(form(X[order])), count, np.random.default_rng(seed))]
    assert len(a) == min(count, 30)
    assert len(np.unique(a, axis=0)) == len(a)
    assert a.tolist() == b.tolist()


def test_rows_without_weight_are_never_drawn():
    weight = np.where(np.arange(30) % 3, 0.0, 1.0 + np.arange(30))
    for seed in range(20):
        drawn = draw_rows(Rows(X, weight), 4, np.random.default_rng(seed))
        assert (weight[drawn] > 0).all()
        assert len(drawn) == 4
    assert sorted(draw_rows(Rows(X, weight), 30, np.random.default_rng(0)).tolist()) == list(range(0, 30, 3))
