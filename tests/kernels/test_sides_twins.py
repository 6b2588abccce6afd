"""Every kernel of `sides` does what its plain twin does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import sides
from twins import sides as reference_sides


@given(st.integers(0, 2**16), st.integers(1, 30), st.integers(1, 6), st.integers(1, 5), st.sampled_from("fd"))
def test_add_prices(seed, n, k, size, dtype):
    rng = np.random.default_rng(seed)
    start = int(rng.integers(1000))
    rows = start + np.flatnonzero(rng.random(n) < 0.5)
    codes = rng.integers(size, size=len(rows)).astype(np.int32)
    prices, scores = rng.random((k, size)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
    fast, plain = scores.copy(), scores.copy()
    for array in (rows, codes, prices):
        array.flags.writeable = False
    sides.add_prices(fast, rows, start, codes, prices)
    reference_sides.add_prices(plain, rows, start, codes, prices)
    np.testing.assert_array_equal(fast, plain)
    untouched = np.setdiff1d(np.arange(n), rows - start)
    np.testing.assert_array_equal(fast[:, untouched], scores[:, untouched])
