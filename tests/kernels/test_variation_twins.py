"""The kernel of `variation` does what its plain twin does, and its dual reaches the primal value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import variation
from twins import variation as reference_variation


def draw(rng, n, bound):
    """A connected graph, a linear term that sums to 0, and a start."""
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    kept = pairs[(rng.random(len(pairs)) < 0.5) | (pairs[:, 0] == pairs[:, 1] + 1)]
    heads, tails = kept.T.astype(np.int32)
    weight = rng.uniform(0.1, 2, size=len(heads))
    degree = np.bincount(heads, weight, n) + np.bincount(tails, weight, n)
    step = (0.5 if bound else 1.0) / (degree[heads] + degree[tails])
    pull = rng.normal(size=n) * rng.choice([0.3, 3.0])
    pull -= pull.mean()
    alpha = np.tile(rng.uniform(-1, 1, size=len(heads)), (2, 1))
    ends = np.empty((2, 2, n))
    ends[:] = bound * rng.dirichlet(np.ones(n), size=2)[:, None]
    return (heads, tails, weight, step, bound, pull), [alpha, ends, np.zeros((2, n)), np.array([1.0, np.inf])]


@given(st.integers(0, 2**16), st.integers(2, 9), st.sampled_from([0.0, 0.2, 5.0]), st.integers(0, 40))
def test_shorten(seed, n, bound, iterations):
    given_, fast = draw(np.random.default_rng(seed), n, bound)
    plain = [part.copy() for part in fast]
    for array in given_:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    for _ in range(2):  # the second call goes on from the first
        done = variation.shorten(*given_, *fast, iterations, 1e-9)
        assert done == reference_variation.shorten(*given_, *plain, iterations, 1e-9)
    for one, other in zip(fast, plain):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


@given(st.integers(0, 2**16), st.integers(2, 9), st.sampled_from([0.0, 0.2, 5.0]))
def test_no_vector_is_better_than_the_dual_says(seed, n, bound):
    rng = np.random.default_rng(seed)
    (heads, tails, weight, step, _, pull), state = draw(rng, n, bound)
    closed = variation.shorten(heads, tails, weight, step, bound, pull, *state, 3000, 1e-8)
    z = state[2][0]
    least = -np.linalg.norm(z)

    def primal(g):
        return weight @ abs(g[heads] - g[tails]) + bound * np.ptp(g) - pull @ g

    for g in rng.normal(size=(20, n)):
        assert primal(g / np.linalg.norm(g)) >= least - 1e-9
    assert closed or -least < 1e-5  # the gap is relative to the optimum, which may be 0
    if -least > 1e-5:
        assert primal(-z / -least) == pytest.approx(least, rel=1e-6)
