"""Weights on the simplex: the worked example of the specification, its errata, and what always holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as general

from cluewise.ensemble import _weighting as weighting
from cluewise.ensemble._weighting import Ends, project

L = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1]], dtype=np.uint8)
EQUAL = np.full(4, 0.25)


def ends(pairs, labels=L, weight=None):
    rows = np.array(pairs, dtype=int).reshape(-1, 2)
    weight = np.ones(len(rows)) if weight is None else np.array(weight, dtype=float)
    return Ends(labels.T[rows[:, 0]], labels.T[rows[:, 1]], weight)


MUST, CANNOT = ends([(0, 1)]), ends([(2, 3)])
A = [[2, 2, 2, 2], [2, 4, 2, 2], [2, 2, 4, 2], [2, 2, 2, 2]]


def test_projection_by_hand():
    np.testing.assert_allclose(project(np.array([0.5, 1.2, -0.3, 0.4])), [2 / 15, 5 / 6, 0, 1 / 30], atol=1e-15)


def test_projection_keeps_the_order_of_its_argument():
    """Algorithm 1 returns max(w − θ, 0) with the sorted w, which is another point."""
    printed = [5 / 6, 2 / 15, 1 / 30, 0]
    assert not np.allclose(project(np.array([0.5, 1.2, -0.3, 0.4])), printed)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(0, 2**16))
def test_projection_is_the_nearest_point(values, seed):
    v = np.array(values)
    u = project(v)
    assert (u >= 0).all()
    assert abs(u.sum() - 1) < 1e-12
    # No point of the simplex is on the other side: (v − u)·(w − u) ≤ 0 for every w, and corners suffice.
    shifted = v - v.max()  # the same projection, and numbers of which differences can be taken
    slope = shifted - u
    assert (slope - slope @ u).max() <= 1e-9 * (1 + np.abs(slope).max())
    np.testing.assert_allclose(project(u), u, atol=1e-15)
    order = np.random.default_rng(seed).permutation(len(v))
    np.testing.assert_allclose(project(v[order]), u[order], atol=1e-12)


def test_losses_of_the_worked_example():
    np.testing.assert_array_equal(weighting.sum_losses(MUST, CANNOT), A)


def test_violations_of_the_worked_example():
    np.testing.assert_array_equal(weighting.sum_violations(MUST, CANNOT), [0, 1, 1, 0])


def test_steps_of_the_worked_example():
    """λ = 1, η = 0.05: f = 2.25, 2.205, 2.1762."""
    solved = weighting.minimize(np.array(A, float), EQUAL, 1.0, EQUAL, rate=0.05)
    np.testing.assert_allclose(solved.trace[:3], [2.25, 2.205, 2.1762], atol=1e-12)
    first = project(EQUAL - 0.05 * np.array([4.0, 5.0, 5.0, 4.0]))  # ∇f = (4, 5, 5, 4)
    np.testing.assert_allclose(first, [0.275, 0.225, 0.225, 0.275])


def test_minimum_of_the_worked_example():
    solved = weighting.minimize(np.array(A, float), EQUAL, 1.0, EQUAL)
    np.testing.assert_allclose(solved.gamma, [0.375, 0.125, 0.125, 0.375], atol=1e-12)
    assert solved.trace[-1] == pytest.approx(2.125, abs=1e-12)


def test_two_batches_together():
    """All four pairs with λ → 0: the two partitions that satisfy them share the weight."""
    total = weighting.sum_losses(ends([(0, 1), (4, 5)]), ends([(2, 3), (0, 5)]))
    solved = weighting.minimize(total, EQUAL, 1e-8, EQUAL)
    np.testing.assert_allclose(solved.gamma, [0.5, 0, 0, 0.5], atol=1e-8)


def test_losses_the_wrong_way_round_choose_the_violators():
    """Erratum: with the losses as Eqs. (4) to (6) print them all weight goes to partitions that violate the pairs."""
    swapped = weighting.sum_losses(CANNOT, MUST)
    solved = weighting.minimize(swapped, EQUAL, 1e-8, EQUAL)
    np.testing.assert_allclose(solved.gamma, [0, 0.5, 0.5, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("pair", "together"), [((0, 1), [True, True, False, True]), ((2, 3), [False, True, False, False])]
)
def test_losses_of_a_single_partition(pair, together):
    """At a corner a must-link costs 0 or 2 and a cannot-link 2 or 4, as it is satisfied or not."""
    joined = np.array(together, dtype=bool)
    np.testing.assert_array_equal(np.diag(weighting.sum_losses(ends([pair]), ends([]))), np.where(joined, 0, 2))
    np.testing.assert_array_equal(np.diag(weighting.sum_losses(ends([]), ends([pair]))), np.where(joined, 4, 2))


def test_a_contradictory_report_has_no_preference():
    """UUᵀ + VVᵀ of one pair is 2(1[a_k = a_l] + 1[b_k = b_l])."""
    both = weighting.sum_losses(ends([(1, 4)]), ends([(1, 4)]))
    a, b = L[:, 1], L[:, 4]
    np.testing.assert_array_equal(both, 2 * ((a[:, None] == a).astype(int) + (b[:, None] == b)))


@given(st.integers(0, 2**16), st.integers(1, 8), st.integers(1, 6), st.integers(2, 4))
def test_losses_are_those_of_the_memberships(seed, m, p, r):
    """γᵀAγ = Σ w‖F_i − F_j‖² + Σ w‖F_i + F_j‖²."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(r, size=(m, 7)).astype(np.uint8)
    pairs = rng.integers(7, size=(2, p, 2))
    weight = rng.choice([0.5, 1.0, 3.0], size=(2, p))
    gamma = rng.dirichlet(np.ones(m))
    F = np.einsum("k,knc->nc", gamma, np.eye(r)[labels])
    loss = weighting.sum_losses(ends(pairs[0], labels, weight[0]), ends(pairs[1], labels, weight[1]))
    expected = weight[0] @ ((F[pairs[0, :, 0]] - F[pairs[0, :, 1]]) ** 2).sum(axis=1)
    expected += weight[1] @ ((F[pairs[1, :, 0]] + F[pairs[1, :, 1]]) ** 2).sum(axis=1)
    assert gamma @ loss @ gamma == pytest.approx(expected)
    assert np.linalg.eigvalsh(loss).min() > -1e-9


@given(st.integers(0, 2**16), st.integers(1, 12), st.floats(1e-6, 50))
def test_minimum_is_one_and_the_way_descends(seed, m, inertia):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=(m, 9)).astype(np.uint8)
    loss = weighting.sum_losses(ends(rng.integers(9, size=(4, 2)), labels), ends(rng.integers(9, size=(4, 2)), labels))
    anchor = rng.dirichlet(np.ones(m))
    gamma, trace = weighting.minimize(loss, anchor, inertia, anchor)
    assert (gamma >= 0).all()
    assert abs(gamma.sum() - 1) < 1e-12
    assert (np.diff(trace) <= 1e-12 * (1 + trace[0])).all()
    slope = 2 * (loss @ gamma + inertia * (gamma - anchor))
    kept = slope[gamma > 1e-9]
    tolerance = 1e-6 * (1 + np.abs(slope).max())
    assert np.ptp(kept) <= tolerance
    assert slope.min() >= kept.min() - tolerance


def test_minimum_agrees_with_a_general_solver():
    rng = np.random.default_rng(5)
    labels = rng.integers(3, size=(7, 20)).astype(np.uint8)
    loss = weighting.sum_losses(
        ends(rng.integers(20, size=(12, 2)), labels), ends(rng.integers(20, size=(9, 2)), labels)
    )
    anchor = rng.dirichlet(np.ones(7))
    found = general(
        lambda g: weighting.evaluate(loss, anchor, 2.0, g),
        anchor,
        bounds=[(0, 1)] * 7,
        constraints={"type": "eq", "fun": lambda g: g.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    ours = weighting.minimize(loss, anchor, 2.0, anchor)
    np.testing.assert_allclose(ours.gamma, found.x, atol=1e-5)
    assert ours.trace[-1] <= found.fun + 1e-12


def test_equal_partitions_without_inertia_do_not_stop_the_search():
    """The system on the support is singular; the steps alone are enough."""
    gamma, _ = weighting.minimize(np.zeros((3, 3)), np.full(3, 1 / 3), 0.0, np.full(3, 1 / 3))
    np.testing.assert_allclose(gamma, 1 / 3)


def test_relaxed_steps_of_the_worked_example():
    """λ = 1, η = 0.05, C = 1, e = (0, 1, 1, 0): two steps of Eq. (11), and their limit."""
    e = np.array([0.0, 1, 1, 0])

    def move(gamma):
        return project((1 - 2 * 0.05) * gamma + 2 * 0.05 * EQUAL - 0.05 * e)

    np.testing.assert_allclose(move(EQUAL), [0.275, 0.225, 0.225, 0.275])
    np.testing.assert_allclose(move(move(EQUAL)), [0.2975, 0.2025, 0.2025, 0.2975])
    np.testing.assert_allclose(weighting.solve_relaxed(EQUAL, e, 0.5), [0.5, 0, 0, 0.5])


@given(st.integers(0, 2**16), st.integers(1, 10), st.floats(0.05, 1), st.floats(0.1, 5), st.floats(0.1, 2))
def test_relaxed_steps_end_in_the_closed_form(seed, m, share, inertia, charge):
    rng = np.random.default_rng(seed)
    e, anchor = rng.integers(5, size=m).astype(float), rng.dirichlet(np.ones(m))
    rate = share / (2 * inertia)
    gamma = anchor
    for _ in range(600):
        gamma = project((1 - 2 * inertia * rate) * gamma + 2 * inertia * rate * anchor - charge * rate * e)
    np.testing.assert_allclose(gamma, weighting.solve_relaxed(anchor, e, charge / (2 * inertia)), atol=1e-9)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=20), st.floats(1e-3, 1))
def test_fewer_violations_never_weigh_less(e, rate):
    gamma = weighting.solve_relaxed(np.full(len(e), 1 / len(e)), np.array(e, float), rate)
    order = np.argsort(e, kind="stable")
    assert (np.diff(gamma[order]) <= 1e-15).all()
