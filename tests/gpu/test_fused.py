"""Kernels for rows of half precision and for votes, in Triton's interpreter, beside their plain counterparts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = [pytest.mark.needs_torch, pytest.mark.needs_triton]


@pytest.fixture
def both(monkeypatch):
    """What a call returns in plain torch, and with kernels that Triton interprets."""
    from cluewise.gpu import fused

    def call(function):
        found = []
        for kinds in ((), ("cpu",)):
            monkeypatch.setattr(fused, "KINDS", kinds)
            found.append(function())
        return found

    return call


def make_rows(n, d, seed=0):
    import torch

    from cluewise.gpu.rows import DeviceRows

    rng = np.random.default_rng(seed)
    x = torch.tensor(rng.normal(size=(n, d)) + 5).half()
    return rng, DeviceRows(x, np.full(d, 5.0))


@pytest.mark.parametrize(("n", "d", "k"), [(301, 80, 5), (130, 16, 70), (65, 100, 3)])
def test_nearest_centers_and_sums(both, n, d, k):
    """Centers of single precision, which are two parts in half precision, and rows, which are one."""
    rng, rows = make_rows(n, d)
    for centers in (rng.normal(size=(k, d)), rows.x[:k].double().numpy() - 5):
        labels, fused = both(lambda centers=centers: rows.find_nearest(centers))
        assert_array_equal(fused, labels)
        assert fused.dtype == labels.dtype
        some = rows.load_numbers(np.flatnonzero(np.arange(n) % 3 > 0))
        for given in ((centers,), (None, some), (centers, some[:0])):
            plain, fused = both(lambda given=given, labels=labels: rows.add_up(labels, k, *given))
            for one, two in zip(fused, plain):
                assert_allclose(one, two, rtol=1e-4, atol=1e-3)
        for left_out in (np.arange(7), np.arange(0)):
            plain, fused = both(lambda out=left_out, centers=centers: rows.step(centers, out))
            assert_allclose(fused.sums, plain.sums, rtol=1e-4, atol=1e-3)
            assert_array_equal(fused.mass, plain.mass)
            assert plain.mass.sum() == n - len(left_out)


def test_clusters_of_many_rows_and_of_none(both, monkeypatch):
    from cluewise.gpu import fused as module

    monkeypatch.setattr(module, "PIECE", 32)
    rng, rows = make_rows(300, 20)
    labels = rows.load_as_is(np.where(np.arange(300) < 280, 1, 3).astype(np.int32))
    points = rng.normal(size=(5, 20))
    plain, fused = both(lambda: rows.add_up(labels, 5, points))
    assert_array_equal(fused.mass, [0, 280, 0, 20, 0])
    for one, two in zip(fused, plain):
        assert_allclose(one, two, rtol=1e-4, atol=1e-3)


def test_centers_that_half_precision_cannot_hold(both):
    _, rows = make_rows(20, 16)
    centers = np.array([[1e5] * 16, [-2e5] * 16])
    for found in both(lambda: rows.find_nearest(centers)):
        assert_array_equal(found, 0)
    for found in both(lambda: rows.step(centers, np.arange(3))):
        assert_array_equal(found.mass, [17, 0])


def test_equally_near_centers(both):
    """The first one wins, also among those that are compared later; whole numbers, so that nothing is rounded."""
    _, rows = make_rows(40, 16)
    rows.x.round_()
    centers = np.repeat(rows.x[:3].double().numpy() - 5, 100, axis=0)
    plain, fused = both(lambda: rows.find_nearest(centers))
    assert_array_equal(fused, plain)
    assert set(np.unique(fused)) <= {0, 100, 200}


@pytest.mark.parametrize("n", [1, 16, 200])
def test_columns(both, n):
    from cluewise.gpu.rows import scan_columns

    _, rows = make_rows(n, 150)
    plain, fused = both(lambda: scan_columns(rows.x))
    for name in ("mean", "low", "high"):
        assert_allclose(getattr(fused, name), getattr(plain, name), rtol=1e-6)
    assert_allclose(fused.squares, plain.squares, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_found(both, bad):
    from cluewise.gpu.rows import scan_columns

    _, rows = make_rows(50, 20)
    rows.x[30, 7] = bad
    plain, fused = both(lambda: scan_columns(rows.x))
    assert_array_equal(fused.bad, plain.bad)
    assert fused.bad[:2] == (30, 7)


@pytest.mark.parametrize(("r", "m"), [(1, 3), (3, 25), (10, 22), (17, 9)])
@pytest.mark.parametrize("weights", ["equal", "random", "few"])
def test_votes(both, r, m, weights):
    """Words of 64 bits count whole numbers; rows with a small lead are counted again."""
    import torch

    from cluewise.gpu.votes import find_winners

    rng = np.random.default_rng(0)
    labels = torch.tensor(rng.integers(r, size=(m, 700)), dtype=torch.uint8)
    clusters = np.stack([rng.permutation(r) for _ in range(m)])
    gamma = {"equal": np.full(m, 1 / m), "random": rng.random(m), "few": rng.random(m) * (np.arange(m) % 3 == 0)}
    plain, fused = both(lambda: find_winners(labels, clusters, gamma[weights], r))
    assert_array_equal(fused, plain)
    assert fused.dtype == plain.dtype


def test_no_votes(both):
    import torch

    from cluewise.gpu.votes import find_winners

    plain, fused = both(lambda: find_winners(torch.zeros((2, 5), dtype=torch.uint8), np.zeros((2, 1)), np.zeros(2), 1))
    assert_array_equal(fused, plain)


def test_a_lead_is_trusted_only_if_rounding_cannot_change_it():
    from cluewise.gpu.fused import _round

    rng = np.random.default_rng(0)
    for gamma in (rng.random(300), np.full(300, 1 / 300), np.array([1.0]), np.array([1e-9, 1.0])):
        votes, slack = _round(gamma, 4095)
        assert votes.sum() <= 4095
        scale = 4095 / gamma.sum()
        scales = scale * np.linspace(0.2, 1.0, 2001)
        assert (np.abs(scales[:, None] * gamma - votes).sum(axis=1)).min() <= slack + 0.5
    assert _round(np.full(300, 1 / 300), 4095)[1] == 1  # equal weights have no rounding error


def test_grains_and_k_means_with_kernels(both):
    """What people call: the same labels as in plain torch."""
    import torch

    import cluewise as cw

    rng = np.random.default_rng(0)
    y = rng.integers(4, size=600)
    X = torch.tensor(3 * rng.normal(size=(4, 24))[y] + rng.normal(size=(600, 24))).half()
    clues = cw.Clues.sample(y, pairs=40, random_state=0)
    models = (
        cw.PCKMeans(4, init=X[:4].float().numpy()),
        cw.Grains(30, random_state=0).then(cw.PCKMeans(4, random_state=0)),
    )
    for model in models:
        plain, fused = both(lambda model=model: model.fit(X, clues=clues).labels_)
        assert_array_equal(fused, plain)
