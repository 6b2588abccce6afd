"""LMNN: the loss against the specification and brute force, its gradient, descent, clues without labels, odd input."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import cluewise
from cluewise import Clues
from cluewise.exceptions import ClueError, ClueWarning, SoftClueWarning
from cluewise.metric_learning import _large_margin as large_margin
from cluewise.metric_learning import _quasi_newton as quasi_newton
from cluewise.metric_learning._lmnn import LMNN, step

TOY8 = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]], dtype=float)
CLASSES = [0, 0, 0, 1, 1, 1, 2, 2]


def brute_force(X, L, clues, k, push):
    """The loss as the paper writes it: all rows, all targets, all rows that must be apart."""
    component = clues.components
    apart = np.zeros((len(X), len(X)), dtype=bool)
    for i, j in clues.pairs(expand=True)[2]:
        lifted = np.ix_(component == component[i], component == component[j])
        apart[lifted] = apart.T[lifted] = True
    plain = ((X[:, None] - X) ** 2).sum(axis=2)
    learned = (((X[:, None] - X) @ L.T) ** 2).sum(axis=2)
    pull = pushed = 0.0
    for i in range(len(X)):
        mine = [j for j in np.flatnonzero(component == component[i]) if j != i]
        for j in sorted(mine, key=lambda j: plain[i, j])[:k]:
            pull += learned[i, j]
            pushed += sum(max(1 + learned[i, j] - learned[i, m], 0) for m in np.flatnonzero(apart[i]))
    return (1 - push) * pull + push * pushed


def random_clues(rng, n, kind):
    y = rng.integers(3, size=n)
    if kind == "labels":
        return Clues(n, labels=np.where(rng.random(n) < 0.8, y, -1))
    if kind == "pairs":
        return Clues.sample(y, pairs=n, random_state=rng)
    y[:6] = [0, 0, 1, 1, 2, 2]
    apart = np.full(n, -1)
    apart[[0, 2, 4]], apart[[1, 5]] = 0, 1
    return Clues(n, labels=np.where(rng.random(n) < 0.5, y, -1), must=[(0, 1), (2, 3)], apart=apart)


# --- the loss ---------------------------------------------------------------------------------------------------------


def test_worked_example():
    near = large_margin.neighborhoods(TOY8, Clues.from_labels(CLASSES), 1)
    np.testing.assert_array_equal(near.targets[:, 0], [1, 0, 0, 5, 5, 3, 7, 6])
    assert large_margin.loss(np.eye(2), near, 0.5)[0] == 5.0  # pull 10, push 0
    assert large_margin.loss(np.diag([0.5, 1]), near, 0.5)[0] == 3.375  # pull 6.25, push 0.5
    squeezed = large_margin.to_targets(TOY8 @ np.diag([0.5, 1]), near)
    assert squeezed.sum() == 6.25


@pytest.mark.parametrize("dense", [1, 10**9])
@given(seed=st.integers(0, 2**16), k=st.integers(1, 4), kind=st.sampled_from(["labels", "pairs", "both"]))
def test_loss_is_that_of_brute_force(dense, seed, k, kind):
    """As blocks and as lists of pairs; rows are on no grid, so that targets are unique."""
    rng = np.random.default_rng(seed)
    X, L = rng.normal(size=(14, 3)), rng.normal(size=(2, 3))
    clues = random_clues(rng, 14, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_margin, "DENSE", dense)
        patch.setattr(large_margin, "BLOCK", 40)
        patch.setattr(large_margin, "WAITING", 20)
        near = large_margin.neighborhoods(X, clues, k)
        if dense == 1 and kind == "labels":
            assert not len(near.listed)
        value, gradient = large_margin.loss(L, near, 0.3)
        np.testing.assert_allclose(value, brute_force(X, L, clues, k, 0.3), rtol=1e-10, atol=1e-12)
        slope, h = gradient(), 1e-6
    for i, j in itertools.product(range(2), range(3)):
        move = np.zeros_like(L)
        move[i, j] = h
        rise = large_margin.loss(L + move, near, 0.3)[0] - large_margin.loss(L - move, near, 0.3)[0]
        np.testing.assert_allclose(slope[i, j], rise / (2 * h), rtol=1e-3, atol=1e-3 * abs(slope).max() + 1e-6)


def test_far_from_the_origin_no_impostor_is_missed():
    """Single precision only screens: rows far away and close together give what rows at the origin give."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.integers(2, size=200)
    X[0] *= 1e4  # an outlier costs the others digits
    near = large_margin.neighborhoods(X, Clues.from_labels(y), 3)
    assert near.blocks
    np.testing.assert_allclose(
        large_margin.loss(np.eye(5), near, 0.5)[0], brute_force(X, np.eye(5), Clues.from_labels(y), 3, 0.5), rtol=1e-9
    )
    moved = large_margin.neighborhoods(X + 1e6, Clues.from_labels(y), 3)
    np.testing.assert_allclose(large_margin.loss(np.eye(5), moved, 0.5)[0], large_margin.loss(np.eye(5), near, 0.5)[0])


def test_small_classes_have_the_targets_that_there_are():
    near = large_margin.neighborhoods(TOY8, Clues.from_labels([0, 0, 0, 0, 1, 1, 2, -1]), 3)
    np.testing.assert_array_equal(near.rows, np.arange(7))  # the row without a label plays no part
    np.testing.assert_array_equal(near.has.sum(axis=1), [3, 3, 3, 3, 1, 1, 0])


def test_impostors_only_across_lifted_cannot_links():
    clues = Clues(8, must=[(0, 1), (2, 3), (4, 5)], cannot=[(1, 2)])
    near = large_margin.neighborhoods(TOY8, clues, 3)
    rows = near.rows
    listed = {frozenset(rows[pair].tolist()) for pair in near.listed}
    assert listed == {frozenset(pair) for pair in itertools.product([0, 1], [2, 3])}
    np.testing.assert_array_equal(rows, np.arange(6))


def test_too_many_components_apart(monkeypatch):
    monkeypatch.setattr(large_margin, "EDGES", 3)
    with pytest.raises(ClueError, match="keep 6 pairs of components apart"):
        large_margin.neighborhoods(TOY8, Clues(8, apart=[0, 0, 0, 0, -1, -1, -1, -1]), 3)


# --- descent ----------------------------------------------------------------------------------------------------------


def test_quasi_newton_finds_the_minimum_of_a_quadratic():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    H, b = root @ root.T + 0.1 * np.eye(6), rng.normal(size=6)

    def function(x):
        return float(0.5 * x @ H @ x - b @ x), lambda: H @ x - b

    point, values = quasi_newton.begin(np.zeros(6) + 0.1, function), []
    for _ in range(200):
        point = quasi_newton.advance(point, function)
        values.append(point.value)
    np.testing.assert_allclose(point.x, np.linalg.solve(H, b), rtol=1e-5, atol=1e-7)
    assert (np.diff(values) <= 0).all()
    at_rest = quasi_newton.begin(np.linalg.solve(H, b), lambda x: (0.0, lambda: np.zeros(6)))
    assert quasi_newton.advance(at_rest, function) is at_rest


def test_quasi_newton_forgets_what_does_not_help():
    """A memory that points nowhere is dropped for the gradient; where that fails as well, the point stays."""

    def kink(x):
        return float(abs(x).sum()), lambda: np.where(x >= 0, 1.0, -1.0)

    lost = quasi_newton.Point(np.zeros(2), 0.0, np.ones(2), (np.ones(2),), (np.ones(2),))
    assert quasi_newton.advance(lost, kink) is lost


@given(st.integers(0, 2**16), st.sampled_from(["labels", "pairs", "both"]))
def test_loss_falls_and_is_the_loss_of_the_map(seed, kind):
    rng = np.random.default_rng(seed)
    X, clues = rng.normal(size=(20, 3)), random_clues(rng, 20, kind)
    model = LMNN(n_neighbors=2).fit(X, clues=clues)
    assert (np.diff(model.trace_) <= 0).all()
    np.testing.assert_allclose(
        model.objective_, brute_force(X, model.components_, clues, 2, 0.5), rtol=1e-8, atol=1e-14
    )
    assert np.linalg.eigvalsh(model.get_mahalanobis_matrix())[0] > -1e-9
    assert model.n_targets_ > 0


def test_minimum_is_that_of_the_convex_problem():
    """The loss is convex in M = LᵀL: another start, and random moves of M, find nothing lower."""
    X, clues = TOY8, Clues.from_labels(CLASSES)
    near = large_margin.neighborhoods(X, clues, 1)
    model = LMNN(n_neighbors=1, tol=0.0, max_iter=1000).fit(X, clues=clues)

    def function(L):
        return large_margin.loss(L, near, 0.5)

    rng = np.random.default_rng(0)
    other = quasi_newton.begin(rng.normal(size=(2, 2)), function)
    for _ in range(500):
        other, _ = step(other, function=function, nothing=0.0)
    best = min(model.objective_, other.value)
    assert model.objective_ <= best + 0.01 * best
    M = model.get_mahalanobis_matrix()
    for _ in range(300):
        move = rng.normal(size=(2, 2))
        values, vectors = np.linalg.eigh(M + 10.0 ** rng.uniform(-4, 0) * (move + move.T))
        L = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
        assert function(L)[0] >= model.objective_ * (1 - 1e-2)


def test_neighbors_are_better_than_by_euclidean_distance():
    """Two columns know the class, eight loud ones know nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    X = np.column_stack([np.eye(3)[y][:, :2] * 4 + rng.normal(size=(400, 2)), 4 * rng.normal(size=(400, 8))])
    train, test = np.arange(400) < 300, np.arange(400) >= 300
    model = LMNN().fit(X[train], clues=y[train])
    plain, learned = (
        KNeighborsClassifier(3).fit(f(X[train]), y[train]).score(f(X[test]), y[test])
        for f in (lambda x: x, model.transform)
    )
    assert learned > plain + 0.15


def test_scale_and_place_do_not_matter():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    one = LMNN(max_iter=20).fit(X, clues=y)
    other = LMNN(max_iter=20).fit(1024 * X + 7, clues=y)
    np.testing.assert_allclose(one.objective_, other.objective_, rtol=1e-4)


def test_golden_number_at_any_number_of_threads():
    X, y = load_iris(return_X_y=True)
    with cluewise.threads(1):
        one = LMNN().fit(X, clues=y)
    with cluewise.threads(3):
        three = LMNN().fit(X, clues=y)
    np.testing.assert_array_equal(one.components_, three.components_)
    np.testing.assert_allclose(one.objective_, 226.839974, rtol=1e-3)


# --- odd input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clues", "message"),
    [
        (None, "no clue joins two rows"),
        (Clues(8, cannot=[(0, 3)]), "no clue joins two rows"),
        (Clues(8, must=[(0, 1)]), "no clue parts rows"),
        (Clues(8, labels=[0, 0, 0, -1, -1, -1, -1, -1]), "no clue parts rows"),
    ],
)
def test_nothing_to_learn(clues, message):
    with pytest.warns(ClueWarning, match=message):
        model = LMNN().fit(TOY8, clues=clues)
    np.testing.assert_array_equal(model.components_, np.eye(2))


def test_rows_that_are_all_equal():
    with pytest.warns(ClueWarning, match="the rows with clues are all equal; LMNN keeps Euclidean distance"):
        model = LMNN().fit(np.full((6, 2), 0.1), clues=[0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(model.components_, np.eye(2))


@pytest.mark.parametrize(
    ("X", "labels"),
    [
        (np.repeat(TOY8[[0, 3]], 3, axis=0), [0, 0, 0, 1, 1, 1]),
        (np.column_stack([TOY8, np.ones(8)]), CLASSES),
        (np.random.default_rng(0).normal(size=(6, 40)), [0, 0, 0, 1, 1, 1]),
        (TOY8[:, :1], CLASSES),
    ],
)
def test_awkward_rows_give_finite_maps(X, labels):
    model = LMNN().fit(X, clues=labels)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.trace_).all()


def test_few_components_and_single_precision():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    flat = LMNN(n_components=2).fit(X, clues=y)
    assert flat.components_.shape == (2, 13)
    assert flat.transform(X).shape == (178, 2)
    assert (np.diff(flat.trace_) <= 0).all()
    single = LMNN(max_iter=10).fit(X.astype(np.float32), clues=y)
    assert single.components_.dtype == np.float32
    np.testing.assert_allclose(single.objective_, LMNN(max_iter=10).fit(X, clues=y).objective_, rtol=1e-3)


def test_targets_in_one_place_end_the_descent():
    """Where a map can put all targets of a row in one place and keep the margin, the loss has no end but zero."""
    X = np.array([[0.0, 0.0], [0.0, 3.0], [1.0, 1.0], [1.0, 5.0]])
    model = LMNN(n_neighbors=1).fit(X, clues=[0, 0, 1, 1])
    assert model.objective_ <= 1e-6 * 4
    assert model.n_iter_ < 100
    assert np.linalg.matrix_rank(model.components_, tol=1e-9 * np.linalg.norm(model.components_)) == 2


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("n_components", [None, 1])
def test_targets_that_coincide_are_no_reason_to_do_nothing(scale, n_components):
    X = scale * np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [1.0, 2.0]])
    assert LMNN(n_components=n_components).fit(X, clues=[0, 0, 1, 1]).objective_ <= 1e-6 * 4


def test_more_targets_than_rows_cost_nothing():
    near = large_margin.neighborhoods(TOY8, Clues(8, labels=CLASSES), 10**5)
    assert near.targets.shape == near.has.shape == (8, 2)
    assert LMNN(n_neighbors=10**5).fit(TOY8, clues=CLASSES).n_targets_ == 6 + 6 + 2


def test_weights_that_differ_are_named():
    clues = Clues(8, must=[(0, 1), (2, 3)], cannot=[(0, 3)], must_weight=[1.0, 2.0])
    with pytest.warns(SoftClueWarning, match="weights"):
        LMNN().fit(TOY8, clues=clues)
