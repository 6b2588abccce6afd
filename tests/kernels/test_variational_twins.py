"""Kernels of variational inference against their plain twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.kernels import variational
from cluewise.mixture._tvclust.pair_evidence import gather_evidence
from twins import variational as reference_variational


@given(seed=st.integers(0, 99))
def test_kernels_are_their_twins(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    clues = Clues.sample(rng.integers(2, size=n), pairs=min(6, n * (n - 1) // 2), random_state=seed)
    pairs = gather_evidence(clues)
    r = rng.dirichlet(np.ones(k), size=n)
    scores, pull = rng.normal(size=(n, k)) * 5, rng.normal(size=len(pairs))
    rows = rng.permutation(n)
    results, products = [], []
    for module in (variational, reference_variational):
        mine, out = r.copy(), np.empty(len(pairs))
        module.update_rows(rows, scores, pairs.indptr, pairs.neighbor, pairs.report, pull, mine)
        module.pair_products(pairs.first, pairs.second, r, out)
        results.append(mine)
        products.append(out)
    assert results[0] == pytest.approx(results[1], abs=1e-12)
    assert products[0] == pytest.approx(products[1], abs=1e-12)
