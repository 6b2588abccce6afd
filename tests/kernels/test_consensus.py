"""Every kernel of `consensus` does what its plain twin does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import consensus
from twins import consensus as reference_consensus


def ensemble(seed, m, n, r, dtype="u1"):
    rng = np.random.default_rng(seed)
    labels = rng.integers(r, size=(m, n)).astype(dtype)
    labels.flags.writeable = False
    active = np.sort(rng.choice(m, size=int(rng.integers(1, m + 1)), replace=False))
    return rng, labels, active


SIZES = (st.integers(0, 2**16), st.integers(1, 9), st.integers(1, 40), st.integers(1, 5))


@given(*SIZES, st.sampled_from(["u1", "u2"]))
def test_quick_vote(seed, m, n, r, dtype):
    rng, labels, active = ensemble(seed, m, n, r, dtype)
    start = int(rng.integers(n))
    count = int(rng.integers(1, n - start + 1))
    spelled = np.array([rng.permutation(r) for _ in active]).astype(dtype)
    shares = rng.integers(0, 65535 // len(active), size=len(active)).astype(np.uint16)
    found = []
    for module in (consensus, reference_consensus):
        board = np.empty((r + 2, count + int(rng.integers(3))), dtype=np.uint16)
        winner, lead = np.empty(count, dtype=np.uint8), np.empty(count, dtype=np.float32)
        unit, slack = np.float32(0.37), np.float32(1.5)
        module.quick_vote(labels, active, spelled, shares, start, unit, slack, board, winner, lead)
        found.append((winner, lead))
    np.testing.assert_array_equal(*(winner for winner, _ in found))
    np.testing.assert_allclose(*(lead for _, lead in found), rtol=1e-6, atol=1e-6)


def test_quick_vote_by_hand():
    """Five partitions, three rows: 3 votes to 2, a tie that the lowest wins, and all for one."""
    labels = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 1], [1, 0, 1], [0, 2, 1]], dtype=np.uint8)
    spelled = np.tile(np.arange(3, dtype=np.uint8), (5, 1))
    winner, lead = np.empty(3, dtype=np.uint8), np.empty(3, dtype=np.float32)
    board, shares = np.empty((5, 3), dtype=np.uint16), np.full(5, 10, np.uint16)
    unit, slack = np.float32(0.5), np.float32(1)
    consensus.quick_vote(labels, np.arange(5), spelled, shares, 0, unit, slack, board, winner, lead)
    assert winner.tolist() == [0, 0, 1]
    assert lead.tolist() == [4, -1, 24]


@given(*SIZES)
def test_add_votes(seed, m, n, r):
    rng, labels, active = ensemble(seed, m, n, r)
    clusters = np.array([rng.permutation(r) for _ in active]).astype(np.uint8)
    weights, rows = rng.random(len(active)), rng.integers(n, size=int(rng.integers(1, 20)))
    fast = np.zeros((len(rows), r))
    plain = np.zeros((len(rows), r))
    consensus.add_votes(labels, active, clusters, weights, rows, fast)
    reference_consensus.add_votes(labels, active, clusters, weights, rows, plain)
    np.testing.assert_array_equal(fast, plain)
    np.testing.assert_allclose(fast.sum(axis=1), weights.sum())


@given(*SIZES, st.sampled_from(["u1", "u2", "u4"]))
def test_pick(seed, m, n, r, dtype):
    rng, labels, active = ensemble(seed, m, n, r, dtype)
    rows = rng.integers(n, size=int(rng.integers(0, 20)))
    at = seed % 3
    fast, plain = np.full((2, len(active), len(rows) + 3), 7, dtype=dtype)
    consensus.pick(labels, active, rows, fast, at)
    reference_consensus.pick(labels, active, rows, plain, at)
    np.testing.assert_array_equal(fast, plain)
    np.testing.assert_array_equal(fast[:, at : at + len(rows)], labels[np.ix_(active, rows)])
    assert (fast[:, :at] == 7).all()
    assert (fast[:, at + len(rows) :] == 7).all()


@given(*SIZES)
def test_count_pairs(seed, m, n, r):
    labels = ensemble(seed, 2, n, r)[1]
    fast, plain = np.zeros((2, r, r), dtype=np.int64)
    consensus.count_pairs(labels[0], labels[1], fast)
    reference_consensus.count_pairs(labels[0], labels[1], plain)
    np.testing.assert_array_equal(fast, plain)
    assert fast.sum() == n


@given(*SIZES, st.sampled_from([-1, 1]))
def test_add_agreements(seed, m, p, r, sign):
    rng, first, _ = ensemble(seed, p, m, r)
    second = rng.integers(r, size=(p, m)).astype(np.uint8)
    rows = int(rng.integers(1, m + 1))
    fast, plain = np.zeros((2, rows, m), dtype=np.int32)
    consensus.add_agreements(first, second, np.int32(sign), fast)
    reference_consensus.add_agreements(first, second, np.int32(sign), plain)
    np.testing.assert_array_equal(fast, plain)
    one_hot = np.eye(r)[first] + sign * np.eye(r)[second]  # (p, m, r): the definition
    np.testing.assert_array_equal(fast, np.einsum("pkc,plc->kl", one_hot, one_hot)[:rows])


@given(st.integers(0, 2**16), st.integers(0, 60), st.floats(0, 1), st.floats(0.1, 3))
def test_sift(seed, n, drift, alpha):
    lead = np.random.default_rng(seed).choice([0.0, drift, 0.3, 0.7, 1.0], size=n).astype(np.float32)
    found = []
    for module in (consensus, reference_consensus):
        lower, rows = np.empty(n, dtype=np.float32), np.empty(n + 1, dtype=np.int64)
        count = module.sift(lead, drift, alpha, lower, rows)
        found.append((lower, rows[:count]))
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-6, atol=0)
    assert (found[0][0].astype(float) <= alpha * np.maximum(lead.astype(float) - drift, 0)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.integers(0, 2**16), st.integers(1, 30), st.integers(1, 4), st.integers(1, 4))
def test_to_nearest(dtype, seed, n, d, k):
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, size=(n, d + 1)).astype(dtype)  # a grid, so that there are ties
    columns = np.sort(rng.choice(d + 1, size=d, replace=False))
    centers = rng.integers(-3, 4, size=(d, k)).astype(float)
    old = rng.integers(k, size=n).astype(np.uint8)
    found = []
    for module in (consensus, reference_consensus):
        labels, sums, mass = old.copy(), np.zeros((d, k)), np.zeros(k)
        moved = module.to_nearest(x, columns, centers, labels, sums, mass)
        found.append((moved, labels, sums, mass))
    assert found[0][0] == found[1][0] == (found[0][1] != old).sum()
    for fast, plain in zip(found[0][1:], found[1][1:]):
        np.testing.assert_array_equal(fast, plain)
