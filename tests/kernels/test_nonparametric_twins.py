"""Every kernel of `nonparametric` does what its plain twin does: ties, infinities, full tables, groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.core.views import build_forces, count_members
from cluewise.kernels import nonparametric
from strategies import PAIR_KINDS, cases
from twins import nonparametric as reference_nonparametric

BOTH = (nonparametric, reference_nonparametric)


def frozen(*arrays):
    """Read-only copies: kernels must not write into their inputs."""
    copies = [np.array(a) for a in arrays]
    for copy in copies:
        copy.flags.writeable = False
    return copies


@st.composite
def tables(draw):
    """Rows, centers, labels and a code; zeros where the divergence allows them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    n, k, d = draw(st.integers(1, 20)), draw(st.integers(1, 5)), draw(st.integers(1, 5))
    code = draw(st.integers(0, 4))
    x = rng.integers(0, 4, size=(n + k, d)) + rng.choice([0.0, 0.5])
    if code == 3:
        x = x + 1.0
    return x[:n].astype(float), x[n:].astype(float), rng.integers(k, size=n).astype(np.int32), code


@given(tables())
def test_divergences(table):
    x, centers, labels, code = table
    every, own = [], []
    for module in BOTH:
        out, mine = np.empty((len(centers), len(x))), np.empty(len(x))
        module.divergences(*frozen(x, centers), code, out)
        module.divergences_to_own(*frozen(x, centers, labels), code, mine)
        every.append(out)
        own.append(mine)
    np.testing.assert_allclose(every[0], every[1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(own[0], own[1], rtol=1e-12, atol=1e-12)


@given(tables())
def test_one_number_one_rounding(table):
    """Blocks, single rows and own centers give the same bits: costs read off the data are met again exactly."""
    x, centers, labels, code = table
    every, own = np.empty((len(centers), len(x))), np.empty(len(x))
    nonparametric.divergences(x / 3, centers / 3, code, every)
    nonparametric.divergences_to_own(x / 3, centers / 3, labels, code, own)
    np.testing.assert_array_equal(every[labels, np.arange(len(x))], own)


@given(
    cases(PAIR_KINDS, noise=0.3, max_columns=3),
    st.sampled_from([0, 4]),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 20.0]),
    st.sampled_from([1.0, 6.0, 1e9]),
    st.booleans(),
)
def test_sweep(case, code, weighted, gain, cluster_cost, last):
    """All rows in random order, with room for two new clusters; groups that are counted and groups that are walked."""
    rng, k, n = case.rng, case.k, len(case.X)
    room = k + 2
    pulls = build_forces(case.clues, room)
    x = np.round(case.X)[rng.permutation(n)]  # whole numbers: ties, and exact sums
    begin = x[rng.choice(n, size=k, replace=False)]
    known = np.empty((k, n))
    nonparametric.divergences(x, begin, code, known)
    near = (k - 1 - known[::-1].argmin(axis=0) if last else known.argmin(axis=0)).astype(np.int32)
    weight = rng.integers(0, 4, size=n).astype(float) if weighted else np.empty(0)
    places = np.full(n, -1)
    places[pulls.rows] = np.arange(len(pulls.rows))
    labels, rows = rng.integers(k, size=n).astype(np.int32), rng.permutation(n)
    start = int(rng.integers(n))
    found = []
    for module in BOTH:
        new, centers = labels.copy(), np.vstack([begin, np.zeros((2, x.shape[1]))])
        table = count_members(pulls, labels, room)
        read_only = frozen(
            x[rows], known[:, rows], near[rows], weight[rows] if weighted else weight, rows, places[rows]
        )
        result = module.sweep(*read_only, start, new, centers, k, code, *pulls.arrays, table, gain, cluster_cost, last)
        np.testing.assert_array_equal(table, count_members(pulls, new, room))  # the table was kept up to date
        found.append((new, centers, result))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert found[0][2] == pytest.approx(found[1][2])
