"""Likelihood of clues: the compiled loops do what their twins do, and what the definition says."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from cluewise.kernels import likelihood, neighbors
from twins import likelihood as plain
from twins import neighbors as plain_neighbors


@st.composite
def problems(draw):
    """Scores of rows, and clues about them, as `charge_clues` takes them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16), label="seed"))
    n, k = draw(st.integers(2, 8), label="n"), draw(st.integers(1, 4), label="k")
    pairs, labels, anchors = (draw(st.integers(0, 6)) for _ in range(3))
    ends = np.array([rng.choice(n, 2, replace=False) for _ in range(pairs)]).reshape(-1, 2).astype(np.int64)
    given = (
        rng.choice(n, min(anchors, n), replace=False),
        rng.random((min(anchors, n), k)),
        ends,
        rng.random(pairs) < 0.5,
        rng.uniform(0.1, 3, size=pairs),
        rng.uniform(0.01, 0.5, size=pairs),
        rng.integers(n, size=labels),
        rng.integers(k, size=labels),
        rng.uniform(0.1, 3, size=labels),
        rng.uniform(0.01, 0.5, size=labels),
    )
    return rng.normal(size=(n, k)), given


def charge(module, scores, given):
    P, slope = scores.copy(), np.zeros_like(scores)
    module.softmax(P)
    return module.charge_clues(P, *given, slope), slope


@given(problems())
def test_charge_like_its_twin(problem):
    for fast, slow in zip(charge(likelihood, *problem), charge(plain, *problem)):
        np.testing.assert_allclose(fast, slow, rtol=1e-8, atol=1e-9)


@given(problems())
def test_the_slope_is_the_derivative(problem):
    scores, given_ = problem
    numeric = approx_fprime(scores.ravel(), lambda flat: charge(likelihood, flat.reshape(scores.shape), given_)[0])
    np.testing.assert_allclose(charge(likelihood, scores, given_)[1].ravel(), numeric, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("error", [0.02, 0.3])
def test_likelihood_of_three_rows_by_all_labelings(error):
    """The likelihood of one clue is its mean over all labelings, each as probable as its rows say."""
    P = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]])
    pair = lambda right: 1 - error if right else error  # noqa: E731
    said = {
        "must": lambda y: pair(y[0] == y[1]),
        "cannot": lambda y: pair(y[1] != y[2]),
        "label": lambda y: error / 2 + (1 - error) * (y[2] == 1),
    }
    expected = {
        name: sum(np.prod(P[np.arange(3), list(y)]) * likely(y) for y in itertools.product(range(2), repeat=3))
        for name, likely in said.items()
    }
    none, slope = np.empty(0, dtype=np.int64), np.zeros((3, 2))
    ends, is_must, weight = np.array([[0, 1], [1, 2]]), np.array([True, False]), np.array([1.0, 2.0])
    wrong, label = np.full(2, error), (np.array([2]), np.array([1]), np.array([3.0]), np.array([error]))
    value = likelihood.charge_clues(P, none, np.empty((0, 2)), ends, is_must, weight, wrong, *label, slope)
    log = {name: np.log(likely) for name, likely in expected.items()}
    assert value == pytest.approx(-(log["must"] + 2 * log["cannot"] + 3 * log["label"]))


@given(
    st.integers(0, 2**16), st.integers(1, 6), st.sampled_from([np.float32, np.float64]), st.sampled_from([1e-22, 1.0])
)
def test_blend_like_its_twin(seed, m, dtype, scale):
    rng = np.random.default_rng(seed)
    keep = min(3, m)
    centers = scale * rng.normal(size=(m, 2))
    X = (scale * rng.normal(size=(9, 2))).astype(dtype)
    X[0] = centers[0]
    centers[0] = X[0]  # a row that is a center
    listed = np.array([rng.permutation(m) for _ in range(m)], dtype=np.int32)
    own = rng.integers(m, size=9)
    found = []
    for module in (neighbors, plain_neighbors):
        near, share = np.empty((9, keep), dtype=np.int32), np.empty((9, keep), dtype=np.float32)
        module.blend(X, own, centers, listed, near, share)
        found.append((near, share))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found[0][1].sum(axis=1), 1, rtol=1e-5)
    assert found[0][1][0, 0] == 1
