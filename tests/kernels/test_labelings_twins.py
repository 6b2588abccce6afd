"""Every kernel of `labelings` does what its plain twin does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import labelings
from twins import labelings as reference_labelings

TYPES = st.sampled_from([np.uint8, np.uint16, np.uint32])


@given(st.integers(0, 2**16), st.integers(1, 30), st.integers(1, 12), TYPES)
def test_add_four_prices(seed, n, k, dtype):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 5, size=4)
    starts = np.concatenate([[0], np.cumsum(sizes[:3] + 1)])
    prices = rng.random((int((sizes + 1).sum()), k))
    missing = np.iinfo(dtype).max
    codes = [np.where(rng.random(n) < 0.7, rng.integers(0, s + 2, size=n), missing).astype(dtype) for s in sizes]
    scores = rng.normal(size=(n, k))
    fast, plain = scores.copy(), scores.copy()
    for array in (*codes, prices, starts, sizes):
        array.flags.writeable = False
    labelings.add_four_prices(fast, *codes, prices, starts, sizes)
    reference_labelings.add_four_prices(plain, *codes, prices, starts, sizes)
    np.testing.assert_array_equal(fast, plain)


@given(st.integers(0, 2**16), st.integers(1, 30), st.integers(1, 12))
def test_cheapest(seed, n, k):
    scores = np.random.default_rng(seed).integers(0, 4, size=(n, k)).astype(np.float64)  # with ties
    found = [(np.empty(n, dtype=np.int32), np.empty(n)) for _ in range(2)]
    for module, (labels, paid) in zip((labelings, reference_labelings), found):
        module.cheapest(scores, labels, paid)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@given(st.integers(0, 2**16), st.integers(1, 40), st.integers(1, 5), st.integers(0, 5), TYPES)
def test_count_codes(seed, n, k, size, dtype):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n).astype(np.int32)
    codes = np.where(rng.random(n) < 0.7, rng.integers(0, size + 1, size=n), np.iinfo(dtype).max).astype(dtype)
    fast, plain = np.ones((k, size)), np.ones((k, size))
    labelings.count_codes(labels, codes, fast)
    reference_labelings.count_codes(labels, codes, plain)
    np.testing.assert_array_equal(fast, plain)
    assert fast.sum() == k * size + (codes < size).sum()
