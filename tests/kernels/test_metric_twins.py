"""Every kernel of `metric` does what its plain twin does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import metric
from twins import metric as reference_metric


@given(st.integers(0, 2**16), st.integers(1, 20), st.integers(1, 9), st.sampled_from([0.0, 0.3, 1.0, 10.0]))
def test_project_pairs(seed, m, d, give):
    rng = np.random.default_rng(seed)
    off = rng.normal(size=(m, d))
    off[rng.random(m) < 0.2] = 0  # duplicates
    sign = rng.choice([1.0, -1.0], size=m)
    gives = np.full(m, give)
    low = rng.normal(size=(d, d))
    start = low @ low.T + 0.1 * np.eye(d)
    bound = np.where(sign > 0, 0.5, 3.0)
    for array in (off, sign, gives):
        array.flags.writeable = False
    states = []
    for kernel in (metric.project_pairs, reference_metric.project_pairs):
        A, multiplier, bounds, turned = start.copy(), np.zeros(m), bound.copy(), np.empty(d)
        moved = [kernel(off, sign, gives, A, multiplier, bounds, turned) for _ in range(3)]
        states.append((moved, A, multiplier, bounds))
    for fast, plain in zip(*states):
        np.testing.assert_allclose(fast, plain, rtol=1e-7, atol=1e-9)
    fast = states[0][1]
    np.testing.assert_array_equal(fast, fast.T)
    assert np.linalg.eigvalsh(fast)[0] > 0


def test_projected_pair_meets_its_bound():
    """The worked example of the specification: a pair gets the distance that its bound has become."""
    off, sign = np.array([[2.0, 0.0]]), np.array([-1.0])
    A, multiplier, bound = np.eye(2), np.zeros(1), np.array([9.0])
    moved = metric.project_pairs(off, sign, np.ones(1), A, multiplier, bound, np.empty(2))
    np.testing.assert_allclose([moved, multiplier[0], bound[0]], [0.0694444, 0.0694444, 5.538462], rtol=1e-5)
    np.testing.assert_allclose(A, np.diag([1.384615, 1.0]), rtol=1e-6)
    np.testing.assert_allclose(off[0] @ A @ off[0], bound[0])
