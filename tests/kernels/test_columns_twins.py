"""Every kernel of `columns` does what its plain twin does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import columns
from twins import columns as reference_columns


@given(st.integers(0, 2**16), st.integers(1, 50), st.integers(1, 6), st.sampled_from("fd"))
def test_scan(seed, n, d, dtype):
    x = (100 + np.random.default_rng(seed).normal(size=(n, d))).astype(dtype)
    found = []
    for home in (columns, reference_columns):
        rest = np.zeros(d), np.zeros(d), np.full(d, np.inf, dtype), np.full(d, -np.inf, dtype)
        home.scan(x, *rest)
        found.append(rest)
    for fast, plain in zip(*found):
        np.testing.assert_allclose(fast, plain, rtol=1e-10, atol=1e-9)
