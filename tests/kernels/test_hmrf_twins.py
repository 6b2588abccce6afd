"""The sweep over linked rows does what its plain twin does, with one metric and with one per cluster."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.core.views import build_pair_graph
from cluewise.kernels import hmrf
from twins import hmrf as reference_hmrf


@given(st.integers(0, 2**16), st.integers(1, 4), st.integers(1, 12), st.booleans())
def test_visit_linked(seed, k, m, shared):
    """Whole numbers, so that ties are frequent and sums exact."""
    rng = np.random.default_rng(seed)
    ends = np.sort([rng.choice(9, 2, replace=False) for _ in range(m)], axis=1)
    kind = rng.random(m) < 0.5
    clues = Clues(
        9,
        must=np.vstack([ends[kind], ends[:1]]),  # one link is told both ways
        cannot=np.vstack([ends[~kind], ends[:1]]),
        must_weight=2.0 * rng.integers(1, 4, size=kind.sum() + 1),
        cannot_weight=2.0 * rng.integers(1, 4, size=(~kind).sum() + 1),
    )
    links = build_pair_graph(clues)
    t, g = len(links.rows), 1 if shared else k
    between = rng.integers(0, 4, size=(len(links), g)).astype(float)
    ceiling = 3.0 + rng.integers(0, 3, size=g)
    alone = rng.integers(0, 8, size=(t, k)).astype(float)
    labels = rng.integers(k, size=t).astype(np.int32)
    order = rng.permutation(t)
    given = order, links.ends, links.must, links.cannot, links.indptr, links.incident, between, ceiling, alone
    for array in given:
        array.flags.writeable = False
    found = []
    for module in (hmrf, reference_hmrf):
        mine = labels.copy()
        found.append((module.visit_linked(*given, mine), mine.tolist()))
    assert found[0] == found[1]
