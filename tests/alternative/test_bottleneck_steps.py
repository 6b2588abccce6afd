"""The steps of the bottlenecks: worked examples, an independent oracle for every quantity, and what always holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cluewise.alternative._ib.annealing import Schedule, anneal, critical
from cluewise.alternative._ib.joint import joint_of, patterns_of, refuse_negative
from cluewise.alternative._ib.steps import Pull, advance, begin, lead, minus_gain, step
from cluewise.core import loop

# survey-algorithms 9.4: four rows, each 0.7 on a symbol of its own, rho = 0.2.
SYMBOLS = 0.1 + 0.6 * np.eye(4)
Z4 = np.array([0, 0, 1, 1])
Q4 = np.array([[0.6, 0.4], [0.4, 0.6], [0.45, 0.55], [0.55, 0.45]])
# lambda, mu: F before, memberships of rows 0 and 2 after one step, F after it, F at the end,
# I(C;X), I(C;Y) and I(C;Y|Z) at the end.
WORKED = {
    "ib": (1.0, 0.0, 0.001995, (0.673374, 0.410855), 0.006031, 0.057536, (0.59952, 0.17744, 0.231775)),
    "cib": (0.0, 1.0, 0.003129, (0.712354, 0.389159), 0.014415, 0.115073, (0.672168, 0.19018, 0.249507)),
    "ccib": (0.5, 1.0, 0.005383, (0.780501, 0.34727), 0.044361, 0.210918, (0.689871, 0.192439, 0.252672)),
}


@pytest.mark.parametrize("name", WORKED)
@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_worked_example(name, kind):
    lam, mu, before, (first, third), after, end, told = WORKED[name]
    joint = joint_of(kind(SYMBOLS), None, [Z4], 2, by_mass=False)
    state = begin(joint, Pull(lam, mu), 0.2, Q4)
    assert -minus_gain(state) == pytest.approx(before, abs=2e-6)
    state = advance(state)
    expected = [[first, 1 - first], [1 - first, first], [third, 1 - third], [1 - third, third]]
    np.testing.assert_allclose(state.memberships, expected, atol=2e-6)
    assert -minus_gain(state) == pytest.approx(after, abs=2e-6)
    for _ in range(500):
        state = advance(state)
    assert -minus_gain(state) == pytest.approx(end, abs=2e-6)
    assert state.information == pytest.approx(told, abs=2e-6)
    assert state.labels.tolist() == [0, 1, 1, 0]


def entropy(p):
    p = np.ravel(p)
    return -float(p[p > 0] @ np.log(p[p > 0]))


def told_by_definition(X, share, mix, q):
    """I(C;X), I(C;Y), I(C;Y|Z), I(C;Z) and I(C;Z|Y), from the whole table p(x, y, z, c)."""
    table = np.einsum("x,xy,xz,xc->xyzc", share, X / X.sum(axis=1, keepdims=True), mix, q)

    def h(*axes):
        return entropy(table.sum(axis=tuple(i for i in range(4) if i not in axes)))

    x, y, z, c = range(4)
    return (
        h(c) + h(x) - h(c, x),
        h(c) + h(y) - h(c, y),
        h(c, z) + h(y, z) - h(z) - h(c, y, z),
        h(c) + h(z) - h(c, z),
        h(c, y) + h(y, z) - h(y) - h(c, y, z),
    )


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, k = draw(st.integers(1, 9)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    X = rng.poisson(2, size=(n, d)).astype(float)
    X[:, 0] += 1
    z = rng.integers(-1, draw(st.integers(1, 3)), size=n)
    pull = Pull(*rng.choice([0.0, 0.3, 1.0], size=2))
    if pull == (0, 0):
        pull = Pull(0.0, 1.0)
    return X, rng.uniform(0.1, 1, size=n), z, rng.dirichlet(np.ones(k), size=n), pull, rng.uniform(0.01, 1.2)


def known(z, weight):
    """p(x) and p(z|x): rows in no group count for nothing, unless none is in one."""
    if (z < 0).all():
        return weight / weight.sum(), np.ones((len(z), 1))
    share = np.where(z >= 0, weight, 0)
    one_hot = (z[:, None] == np.unique(z[z >= 0])).astype(float)
    overall = share @ one_hot / share.sum()
    return share / share.sum(), np.where((z >= 0)[:, None], one_hot, overall)


@given(problems())
def test_information_is_what_its_definition_says(problem):
    X, weight, z, q, pull, rho = problem
    joint = joint_of(X, weight, [z], q.shape[1], by_mass=False)
    share, mix = known(z, weight)
    cx, cy, cyz, cz, czy = told_by_definition(X, share, mix, q)
    state = begin(joint, pull, rho, q)
    np.testing.assert_allclose(state.information, (cx, cy, cyz), atol=1e-9)
    assert minus_gain(state) == pytest.approx(rho * cx - pull.lam * cy - pull.mu * cyz, abs=1e-9)
    # What C tells never exceeds what it keeps; the chain rule behind erratum E39.
    assert cy <= cx + 1e-9
    assert cyz == pytest.approx(cy - cz + czy, abs=1e-9)


@given(problems())
def test_free_energy_never_rises_at_one_temperature(problem):
    X, weight, z, q, pull, rho = problem
    state = begin(joint_of(X, weight, [z], q.shape[1], by_mass=False), pull, rho, q)
    trace = [minus_gain(state)]
    for _ in range(15):
        state = advance(state)
        trace.append(minus_gain(state))
    assert (np.diff(trace) <= 1e-10).all()
    np.testing.assert_allclose(state.memberships.sum(axis=1), 1)
    np.testing.assert_allclose(state.shares, known(z, weight)[0] @ state.memberships)


@given(problems())
def test_a_step_is_the_self_consistent_equation(problem):
    """One step, written out with loops over x, c and z."""
    X, weight, z, q, pull, rho = problem
    share, p_zx = known(z, weight)
    p_yx = X / X.sum(axis=1, keepdims=True)
    wanted = np.zeros_like(q)
    for c in range(q.shape[1]):
        p_c = share @ q[:, c]
        p_yc = (share * q[:, c]) @ p_yx / p_c
        for i in np.flatnonzero(share):
            seen = p_yx[i] > 0
            score = pull.lam * p_yx[i][seen] @ np.log(p_yc[seen])
            for group in np.flatnonzero(p_zx[i] > 0):
                inside = share * q[:, c] * p_zx[:, group]
                score += pull.mu * p_zx[i, group] * p_yx[i][seen] @ np.log((inside @ p_yx / inside.sum())[seen])
            wanted[i, c] = np.log(p_c) + score / rho
    wanted = np.exp(wanted - wanted.max(axis=1, keepdims=True))
    wanted /= wanted.sum(axis=1, keepdims=True)
    state = advance(begin(joint_of(X, weight, [z], q.shape[1], by_mass=False), pull, rho, q))
    np.testing.assert_allclose(state.memberships[share > 0], wanted[share > 0], atol=1e-7)
    np.testing.assert_allclose(state.memberships.sum(axis=1), 1)


@given(problems())
def test_names_of_clusters_and_groups_change_nothing(problem):
    X, weight, z, q, pull, rho = problem
    state = advance(begin(joint_of(X, weight, [z], q.shape[1], by_mass=False), pull, rho, q))
    renamed = np.where(z >= 0, 10 - z, -1)
    other = advance(begin(joint_of(X, weight, [renamed], q.shape[1], by_mass=False), pull, rho, q[:, ::-1]))
    np.testing.assert_allclose(other.memberships, state.memberships[:, ::-1], atol=1e-9)


@given(problems())
def test_one_cluster_above_the_critical_temperature(problem):
    """The critical temperature is the largest eigenvalue of the update around one cluster, by finite differences."""
    X, weight, z, _, pull, _ = problem
    joint = joint_of(X, weight, [z], 2, by_mass=False)
    n, small = len(X), 1e-5
    columns = []
    for i in range(n):
        f = np.zeros(n)
        f[i] = small
        f -= joint.share @ f
        state = begin(joint, pull, 1.0, 0.5 + 0.5 * np.column_stack([f, -f]))
        columns.append((2 * advance(state).memberships[:, 0] - 1) / small)
    values = np.linalg.eigvals(np.array(columns).T)
    found = critical(joint, pull, np.random.default_rng(0).normal(size=X.shape[1]))
    assert found <= pull.lam + pull.mu + 1e-12
    assert found == pytest.approx(np.abs(values).max(), abs=0.03)
    held = begin(joint, pull, 2 * (pull.lam + pull.mu), np.random.default_rng(1).dirichlet([1, 1], size=n))
    for _ in range(200):
        held = advance(held)
    assert held.information[0] == pytest.approx(0, abs=1e-9)


def test_without_groups_to_know_all_bottlenecks_are_one():
    X = np.random.default_rng(0).poisson(3, size=(12, 5)) + 1.0
    q = np.random.default_rng(1).dirichlet([1, 1, 1], size=12)
    plain, conditional, both = (
        advance(begin(joint_of(X, None, [], 3, by_mass=False), pull, rho, q))
        for pull, rho in ((Pull(1.0, 0.0), 0.3), (Pull(0.0, 1.0), 0.3), (Pull(0.5, 1.0), 0.45))
    )
    np.testing.assert_allclose(conditional.memberships, plain.memberships)
    np.testing.assert_allclose(both.memberships, plain.memberships)


def test_patterns_of_several_clusterings():
    first, second = np.array([0, 0, 1, 1, 0, -1, -1]), np.array([0, 1, 0, 0, -1, 1, -1])
    place, mix, whole = patterns_of([first, second], np.full(7, 1 / 7))
    # Cells 00, 01 and 10, the last with two rows; a row that is known in one clustering only may be in those that fit.
    expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0.5, 0.5, 0], [0, 1, 0], [0.25, 0.25, 0.5]]
    np.testing.assert_allclose(mix.toarray()[place], expected)
    assert whole[place].tolist() == [True, True, True, True, False, False, False]


def test_patterns_without_a_row_that_all_clusterings_cover():
    place, mix, whole = patterns_of([np.array([0, 1, -1]), np.array([-1, -1, 0])], np.full(3, 1 / 3))
    assert whole.all()
    np.testing.assert_array_equal(mix.toarray(), np.eye(3))
    assert len(set(place.tolist())) == 3


def test_a_pattern_that_fits_no_cell_may_be_anywhere():
    place, mix, _ = patterns_of([np.array([0, 0, 1]), np.array([0, 1, -1])], np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(mix.toarray()[place[2]], [0.625, 0.375])


def test_row_mass_is_one_way_to_weigh():
    X = np.array([[3.0, 1.0], [1.0, 1.0]])
    assert joint_of(X, None, [], 2, by_mass=True).share.tolist() == [4 / 6, 2 / 6]
    assert joint_of(X, None, [], 2, by_mass=False).share.tolist() == [0.5, 0.5]
    assert joint_of(X, np.array([1.0, 2.0]), [], 2, by_mass=True).share.tolist() == [0.5, 0.5]


def test_a_cluster_without_mass_stays_without_and_an_empty_cell_looks_like_its_group():
    X = np.array([[4.0, 1.0, 1.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0], [4.0, 4.0, 1.0]])
    q = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]])
    state = begin(joint_of(X, None, [np.array([0, 0, 1, 1])], 3, by_mass=False), Pull(0.2, 1.0), 0.1, q)
    group = (X[:2] / X[:2].sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(np.exp(state.inside[0, 1]), group)  # cluster 1 has nobody in group 0
    new = advance(state)
    assert (new.memberships[:, 2] == 0).all()
    assert np.isfinite(new.memberships).all()
    assert minus_gain(new) <= minus_gain(state)


def test_negative_counts_are_named():
    X = np.ones((3, 4))
    X[1, 2] = -0.5
    for table in (X, np.asfortranarray(X), csr_array(X)):
        with pytest.raises(
            ValueError, match=r"Negative values in data: IB expects counts, but X has -0.5 in row 1, col"
        ):
            refuse_negative(table, "IB")


def test_many_groups_take_no_table_of_groups_by_groups():
    """A dense one would take 80 GB for these."""
    groups = 100_000
    place, mix, whole = patterns_of([np.arange(groups)], np.full(groups, 1 / groups))
    assert (place == np.arange(groups)).all()
    assert (mix.nnz, whole.all()) == (groups, True)
    X = csr_array((np.ones(groups), np.zeros(groups, dtype=int), np.arange(groups + 1)), shape=(groups, 1000))
    with pytest.raises(ValueError, match="have 100000 groups; tables of 2 clusters, 1000 columns"):
        joint_of(X, None, [np.arange(groups)], 2, by_mass=False)


def test_too_many_gaps_are_refused(monkeypatch):
    monkeypatch.setattr("cluewise.alternative._ib.joint.TABLES", 31)
    known = [np.array([0, 1, 0, 1]), np.array([0, 1, -1, -1])]
    with pytest.raises(ValueError, match="have 2 groups and 2 patterns with missing rows"):
        patterns_of(known, np.full(4, 0.25))


def test_too_many_groups_are_refused(monkeypatch):
    monkeypatch.setattr("cluewise.alternative._ib.joint.TABLES", 2**30 / 2**26)
    with pytest.raises(ValueError, match="have 4 groups; tables of 2 clusters, 3 columns"):
        joint_of(np.ones((4, 3)), None, [np.arange(4)], 2, by_mass=False)


def test_rows_of_zeros_count_for_nothing():
    X = np.array([[4.0, 0.0], [0.0, 0.0], [0.0, 4.0], [1.0, 4.0]])
    joint = joint_of(X, None, [], 2, by_mass=False)
    assert joint.share.tolist() == [1 / 3, 0, 1 / 3, 1 / 3]
    without = joint_of(X[[0, 2, 3]], None, [], 2, by_mass=False)
    q = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.3, 0.7]])
    whole, part = (
        begin(own, Pull(1.0, 0.0), 0.2, memberships) for own, memberships in ((joint, q), (without, q[[0, 2, 3]]))
    )
    assert minus_gain(advance(whole)) == pytest.approx(minus_gain(advance(part)))
    with pytest.raises(ValueError, match="only zeros"):
        joint_of(np.zeros((3, 2)), None, [], 2, by_mass=False)


def test_blocks_of_rows_add_up(monkeypatch):
    rng = np.random.default_rng(0)
    X, z, q = rng.poisson(1, size=(700, 4)) + 1.0, rng.integers(2, size=700), rng.dirichlet([1, 1], size=700)
    whole = advance(begin(joint_of(X, None, [z], 2, by_mass=False), Pull(0.3, 1.0), 0.1, q))
    monkeypatch.setattr("cluewise.alternative._ib.joint.BLOCK_BYTES", 1)
    monkeypatch.setattr("cluewise.alternative._ib.joint.SMALL", 0)
    for table in (X, csr_array(X)):
        joint = joint_of(table, None, [z], 2, by_mass=False)
        assert len(joint.parts) > 8
        cut = advance(begin(joint, Pull(0.3, 1.0), 0.1, q))
        np.testing.assert_allclose(cut.memberships, whole.memberships, atol=1e-12)
        assert minus_gain(cut) == pytest.approx(minus_gain(whole))
        np.testing.assert_allclose(lead(cut), lead(whole), atol=1e-9)
        assert critical(joint, Pull(0.3, 1.0), np.ones(4) * [1, 2, 3, 5]) == pytest.approx(
            critical(whole.joint, Pull(0.3, 1.0), np.ones(4) * [1, 2, 3, 5])
        )


def test_the_lead_is_the_log_ratio_of_memberships():
    state = begin(joint_of(SYMBOLS, None, [Z4], 2, by_mass=False), Pull(0.5, 1.0), 0.5, Q4)
    new = advance(state)
    best, worst = new.memberships.max(axis=1), new.memberships.min(axis=1)
    np.testing.assert_allclose(lead(state), 0.5 * np.log(best / worst))
    alone = begin(joint_of(SYMBOLS, None, [], 1, by_mass=False), Pull(1.0, 0.0), 0.5, np.ones((4, 1)))
    assert np.isinf(lead(alone)).all()


def test_annealing_ends_hard_and_its_trace_falls_at_each_temperature():
    rng = np.random.default_rng(0)
    X = rng.poisson(5 * np.repeat(np.eye(3) + 0.2, 20, axis=0)) + 0.1
    joint = joint_of(X, None, [], 3, by_mass=False)
    start = critical(joint, Pull(1.0, 0.0), rng.normal(size=3))
    seen = []

    def watch(state, trace):
        seen.append((state.rho, trace[-1]))
        return False

    schedule = Schedule(start, 1e-3 * start, 0.8, 100, 1e-4)
    result = anneal(joint, 3, Pull(1.0, 0.0), schedule, np.random.default_rng(1), watch)
    assert result.converged
    assert result.state.rho == schedule.last
    assert result.state.memberships.max(axis=1).min() > 0.99
    assert [value for _, value in seen] == result.trace
    rhos = np.array([rho for rho, _ in seen])
    assert (np.diff(rhos) <= 0).all()
    for rho in np.unique(rhos):
        assert (np.diff([value for own, value in seen if own == rho]) <= 1e-10).all()
    assert result.state.information[1] == pytest.approx(-minus_gain(result.state._replace(rho=0.0)))


def test_annealing_can_be_stopped():
    joint = joint_of(SYMBOLS, None, [Z4], 2, by_mass=False)
    schedule = Schedule(0.4, 1e-3, 0.8, 50, 1e-4)
    result = anneal(joint, 2, Pull(1.0, 0.0), schedule, np.random.default_rng(0), lambda state, trace: len(trace) == 7)
    assert len(result.trace) == 7
    assert not result.converged


def test_a_row_moves_when_a_membership_does():
    state = begin(joint_of(SYMBOLS, None, [Z4], 2, by_mass=False), Pull(1.0, 0.0), 0.2, Q4)
    assert step(state, tol=1e-3)[1] == loop.Info(pytest.approx(-0.006031, abs=2e-6), 4)
    assert step(state, tol=0.05)[1].moved == 2
    assert step(state, tol=0.5)[1].moved == 0
