"""Every kernel of `assignment` does what its plain twin does: ties, one row, empty clusters, both precisions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.core.views import build_forces, count_members
from cluewise.kernels import assignment
from strategies import PAIR_KINDS, blocks, cases
from twins import assignment as reference_assignment


def frozen(*arrays):
    """Read-only copies: kernels must not write into their inputs."""
    copies = [np.array(a) for a in arrays]
    for copy in copies:
        copy.flags.writeable = False
    return copies


def both(name, inputs, *outputs):
    """Run kernel and twin on the same input; return what each wrote and returned."""
    found = []
    for module in (assignment, reference_assignment):
        out = [np.array(o) for o in outputs]
        returned = getattr(module, name)(*frozen(*inputs), *out)
        found.append((*out, returned))
    return found


@given(blocks())
def test_half_distances(block):
    x, centers, _, _ = block
    fast, plain = both("half_distances", (x, centers), np.empty((len(centers), len(x)), x.dtype))
    np.testing.assert_allclose(fast[0], plain[0], rtol=2e-6 if x.dtype == np.float32 else 1e-14)


@given(blocks())
def test_square_scores(block):
    x, centers = (np.asarray(a, np.float64) for a in block[:2])
    offset, norms = (centers**2).sum(axis=1) / 2, (x**2).sum(axis=1)
    fast, plain = both("square_scores", (-centers @ x.T, offset, norms), np.empty((len(x), len(centers))))
    np.testing.assert_array_equal(fast[0], plain[0])
    np.testing.assert_allclose(fast[0], ((x[:, None] - centers) ** 2).sum(axis=2), atol=1e-9 * (1 + norms.max()))


@given(blocks(), st.booleans())
def test_assign_nearest(block, with_offset):
    x, centers, labels, _ = block
    scores = np.empty((len(centers), len(x)), x.dtype)
    reference_assignment.half_distances(x, centers, scores)
    offset = centers[:, 0] * with_offset
    fast, plain = both("assign_nearest", (scores, offset), np.empty(len(x), x.dtype), labels)
    np.testing.assert_array_equal(fast[0], plain[0])
    np.testing.assert_array_equal(fast[1], plain[1])


def test_ties_go_to_the_lowest_index():
    labels = np.full(2, -1, np.int32)
    assignment.assign_nearest(np.array([[3.0, 1], [1, 1], [1, 1]]), np.zeros(3), np.empty(2), labels)
    assert labels.tolist() == [1, 0]


@given(blocks(), st.booleans())
def test_add_rows(block, weighted):
    x, centers, labels, rng = block
    weight = rng.random(len(x)).astype(x.dtype) if weighted else np.empty(0)
    k, d = centers.shape
    fast, plain = both("add_rows", (x, weight, labels), np.ones((k, d)), np.ones(k))
    np.testing.assert_allclose(fast[0], plain[0], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(fast[1], plain[1], rtol=1e-13)


def test_sums_of_float32_rows_are_exact():
    """0.1 · 0.1 in float32, a million times over, would be off in the third digit if it were rounded first."""
    tenth = np.float32(0.1)
    sums, mass = np.zeros((1, 1)), np.zeros(1)
    rows = 1000
    assignment.add_rows(np.full((rows, 1), tenth), np.full(rows, tenth), np.zeros(rows, np.int32), sums, mass)
    assert sums[0, 0] == pytest.approx(rows * float(tenth) ** 2, rel=1e-12)
    assert mass[0] == pytest.approx(rows * float(tenth), rel=1e-12)


@given(blocks())
def test_margins(block):
    x, centers, labels, _ = block
    scores = np.empty((len(centers), len(x)), x.dtype)
    reference_assignment.half_distances(x, centers, scores)
    offset = np.arange(len(centers)).astype(x.dtype)
    fast, plain = both("margins", (scores, offset, labels), np.empty(len(x), x.dtype))
    np.testing.assert_array_equal(fast[0], plain[0])


@given(blocks())
def test_squared_to_own(block):
    x, centers, labels, _ = block
    fast, plain = both("squared_to_own", (x, centers.astype(np.float64), labels), np.empty(len(x)))
    np.testing.assert_allclose(fast[0], plain[0], rtol=1e-13)


@given(blocks(), st.integers(0, 5), st.integers(0, 9))
def test_read_ahead(block, first, count):
    _, _, labels, rng = block
    neighbors = rng.integers(len(labels), size=first + count).astype(np.int32)
    found = assignment.read_ahead(labels, neighbors, first, first + count)
    assert found == reference_assignment.read_ahead(labels, neighbors, first, first + count)


@given(
    cases(PAIR_KINDS, noise=0.3, max_columns=3),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 20.0]),
    st.sampled_from([np.float32, np.float64]),
)
def test_assign_penalized(case, weighted, penalty, dtype):
    """The sweep over all tied rows, in random order, with groups that are counted and groups that are walked."""
    rng, k = case.rng, case.k
    pulls = build_forces(case.clues, k)
    labels = rng.integers(k, size=case.clues.n).astype(np.int32)
    places = rng.permutation(len(pulls.rows))
    rows = pulls.rows[places]
    scores = rng.integers(0, 9, size=(k, len(rows))).astype(dtype)  # whole numbers: ties, and exact sums
    offset = rng.integers(0, 3, size=k).astype(dtype)
    nearest = (scores + offset[:, None]).argmin(axis=0).astype(np.int32)
    weight = rng.integers(0, 4, size=len(rows)).astype(dtype) if weighted else np.empty(0)
    counts = count_members(pulls, labels, k)
    found = []
    for module in (assignment, reference_assignment):
        new, table = labels.copy(), counts.copy()
        read_only = frozen(scores, offset, nearest, weight, np.arange(len(rows)), rows, places)
        result = module.assign_penalized(*read_only, new, *pulls.arrays, table, penalty)
        np.testing.assert_array_equal(table, count_members(pulls, new, k))  # the table was kept up to date
        found.append((new, result))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == pytest.approx(found[1][1])
