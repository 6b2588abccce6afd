"""ApproxKernelKMeans: the worked example with half-steps, kernel k-means written out, k-means, brute force."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

from cluewise import Clues
from cluewise.checks import check_clusterer, laws_for
from cluewise.core import assign, centers, lloyd
from cluewise.core.rows import Rows
from cluewise.ensemble._kernel_kmeans import ApproxKernelKMeans
from cluewise.ensemble._landmarks import Kernel, KernelRows, make_landmarks, sum_kernel
from cluewise.exceptions import UnusedClueWarning
from cluewise.metrics import ari, nmi
from strategies import cases

TOY8 = np.array([[0.0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]])
START = np.array([0, 0, 1, 1, 1, 2, 2, 2], dtype=np.int32)


class Unmoved(ApproxKernelKMeans):
    """With kernels that ask where the rows are."""

    card = replace(ApproxKernelKMeans.card, invariant=frozenset({"scale"}))


def means_of(rows, labels, k):
    return centers.means(centers.tally(rows, labels, k), np.zeros((k, rows.d)))


def test_worked_example():
    rows = Rows(TOY8)
    found = make_landmarks(TOY8[[0, 3, 6]], np.zeros(2), Kernel("rbf", 0.1))
    known, total = KernelRows(rows, found), sum_kernel(rows, found)
    start = means_of(known, START, 3)
    alpha = start @ found.root.T
    assert alpha[0] == pytest.approx([0.952419, 0, 0], abs=1e-6)
    assert alpha[1] == pytest.approx([0.196839, 0.739928, 0.048179], abs=1e-6)
    assert alpha[2] == pytest.approx([-0.046133, 0.273755, 0.686840], abs=1e-6)

    def cost(state_centers):
        table = known.table(state_centers)
        return 2 * (known.scores(known.take(slice(0, 8)), table).T + table.offset)

    assert cost(start)[2] == pytest.approx([-0.816467, -0.629298, 0.292946], abs=1e-6)
    trace = [total + cost(start)[np.arange(8), START].sum()]
    state = lloyd.State(START, start)
    for _ in range(2):
        trace.append(total + cost(state.centers).min(axis=1).sum())
        state, info = lloyd.step(state, rows=known, total=total)
        trace.append(info.objective)
    assert trace == pytest.approx([2.179211335, 1.6771564755, 1.1042070127, 1.1042070127, 1.1042070127], abs=1e-9)
    assert state.labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]


def kernel_kmeans(gram, labels, k):
    """Kernel k-means by its definition: distances to the means of clusters from the full kernel matrix."""
    trace = []
    while True:
        distance = np.full((len(gram), k), np.inf)
        for h in range(k):
            own = np.flatnonzero(labels == h)
            if len(own):
                distance[:, h] = np.diagonal(gram) - 2 * gram[:, own].mean(axis=1) + gram[np.ix_(own, own)].mean()
        trace.append(distance[np.arange(len(gram)), labels].sum())
        new = distance.argmin(axis=1)
        if (new == labels).all() or len(np.unique(new)) < k:
            return labels, trace
        labels = new


@pytest.mark.parametrize("name", ["rbf", "polynomial", "linear", "cosine"])
@given(cases(kinds=frozenset(), max_columns=4))
def test_with_all_rows_as_landmarks_it_is_kernel_kmeans(name, case):
    X, k = case.X / 10, case.k
    kernel = Kernel(name, 0.5, 2, 1.0)
    gram = pairwise_kernels(X, metric=name, filter_params=True, gamma=0.5, degree=2, coef0=1.0)
    labels = case.rng.permutation(np.arange(len(X)) % k).astype(np.int32)
    rows = Rows(X)
    found = make_landmarks(X, np.zeros(X.shape[1]), kernel)
    known, total = KernelRows(rows, found), sum_kernel(rows, found)
    expected, trace = kernel_kmeans(gram, labels, k)
    state = lloyd.State(labels, means_of(known, labels, k))
    values = [centers.within(total, centers.tally(known, labels, k))]
    for _ in trace[1:]:
        state, info = lloyd.step(state, rows=known, total=total)
        values.append(info.objective)
    assert values == pytest.approx(trace, abs=1e-6 * (1 + abs(trace[0])))
    assert state.labels.tolist() == expected.tolist()


@given(cases(kinds=frozenset(), max_columns=6))
def test_linear_kernel_is_kmeans(case):
    start = case.X[case.rng.choice(len(case.X), size=case.k, replace=False)] + 1e-3
    model = ApproxKernelKMeans(case.k, kernel="linear", init=start, tol=0).fit(case.X)
    plain = KMeans(case.k, init=start, n_init=1, tol=0).fit(case.X)
    assert model.labels_.tolist() == plain.labels_.tolist()
    assert model.objective_ == pytest.approx(plain.inertia_, rel=1e-6, abs=1e-6)
    # The centers are combinations of the landmarks.
    assert model.coefficients_ @ model.landmarks_ == pytest.approx(plain.cluster_centers_, abs=1e-5)


@pytest.mark.filterwarnings("ignore:only")  # in one column there are two angles
@given(cases(kinds=frozenset()), st.integers(5, 40), st.sampled_from(["rbf", "polynomial", "cosine"]))
def test_objective_falls_and_is_a_sum_over_rows(case, m, name):
    model = ApproxKernelKMeans(case.k, kernel=name, landmarks=m, n_init=1, tol=0, random_state=case.seed)
    model.fit(case.X)
    assert np.diff(model.trace_).max(initial=0) <= 1e-7 * (1 + abs(model.trace_[0]))
    how = {"gamma": model.gamma_, "degree": 3, "coef0": 1}
    inner = pairwise_kernels(case.X, model.landmarks_, metric=name, filter_params=True, **how)
    among = pairwise_kernels(model.landmarks_, metric=name, filter_params=True, **how)
    itself = np.diagonal(pairwise_kernels(case.X, metric=name, filter_params=True, **how))
    alpha = model.coefficients_
    table = itself[:, None] - 2 * inner @ alpha.T + np.einsum("hi,ij,hj->h", alpha, among, alpha)
    paid = table[np.arange(len(table)), model.labels_]
    assert paid.sum() == pytest.approx(model.objective_, rel=1e-4, abs=1e-4 * itself.sum())
    clear = model.margin_ > 1e-6 * itself.max()
    assert model.predict(case.X)[clear].tolist() == model.labels_[clear].tolist()
    assert (model.margin_ >= -1e-6 * itself.max()).all()


def optimum(gram, k):
    def value(labels):
        inside = [np.flatnonzero(labels == h) for h in range(k)]
        return np.trace(gram) - sum(gram[np.ix_(own, own)].sum() / len(own) for own in inside if len(own))

    every = itertools.product(range(k), repeat=len(gram) - 1)
    return min(value(np.array([0, *labels])) for labels in every)


@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
def test_brute_force_optimum(gamma):
    model = ApproxKernelKMeans(3, gamma=gamma, n_init=30, random_state=0).fit(TOY8)
    assert model.objective_ == pytest.approx(optimum(pairwise_kernels(TOY8, metric="rbf", gamma=gamma), 3))


def test_landmarks_given():
    model = ApproxKernelKMeans(3, gamma=0.1, landmarks=TOY8[[0, 3, 6]], n_init=5, random_state=0).fit(TOY8)
    assert model.objective_ == pytest.approx(1.1042070127, abs=1e-9)
    assert model.landmarks_.tolist() == TOY8[[0, 3, 6]].tolist()
    assert model.coefficients_.shape == (3, 3)
    for form in (csr_array, csr_matrix):
        for landmarks in (TOY8[[0, 3, 6]], form(TOY8[[0, 3, 6]])):
            sparse = ApproxKernelKMeans(3, gamma=0.1, landmarks=landmarks, n_init=5, random_state=0).fit(form(TOY8))
            assert ari(sparse.labels_, model.labels_) == 1
    dense = ApproxKernelKMeans(3, gamma=0.1, landmarks=csr_array(TOY8[[0, 3, 6]]), random_state=0).fit(TOY8)
    assert ari(dense.labels_, model.labels_) == 1


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_few_landmarks_know_no_order_of_the_rows(init):
    X, _ = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)
    model = ApproxKernelKMeans(3, landmarks=20, init=init, random_state=1)
    before = model.fit(X).labels_
    after = ApproxKernelKMeans(3, landmarks=20, init=init, random_state=1).fit(X[rows]).labels_
    assert ari(before[rows], after) == 1


def test_far_from_the_origin():
    X, _ = load_iris(return_X_y=True)
    near, far = (ApproxKernelKMeans(3, random_state=0).fit(rows) for rows in (X, X + 1e6))
    assert ari(near.labels_, far.labels_) == 1


def test_rings_that_kmeans_cannot_tell_apart():
    X, y = make_circles(400, factor=0.3, noise=0.03, random_state=0)
    model = ApproxKernelKMeans(2, gamma=5, landmarks=100, random_state=0).fit(X)
    assert ari(y, model.labels_) == 1
    assert abs(ari(y, KMeans(2, n_init=3, random_state=0).fit(X).labels_)) < 0.1
    new, truth = make_circles(100, factor=0.3, noise=0.03, random_state=1)
    assert ari(truth, model.predict(new)) == 1


def test_golden():
    X, y = load_iris(return_X_y=True)
    model = ApproxKernelKMeans(3, landmarks=50, random_state=0).fit(X)
    assert nmi(y, model.labels_) == pytest.approx(0.7582057278194196, abs=1e-12)
    assert model.objective_ == pytest.approx(25.030037034895074, rel=1e-8)


def test_kernel_values_computed_again_give_the_same(monkeypatch):
    X, _ = load_iris(return_X_y=True)
    kept = ApproxKernelKMeans(3, landmarks=50, random_state=0).fit(X)
    monkeypatch.setattr("cluewise.ensemble._landmarks.KEPT", 0)
    again = ApproxKernelKMeans(3, landmarks=50, random_state=0).fit(X)
    assert kept.labels_.tolist() == again.labels_.tolist()
    assert kept.trace_ == pytest.approx(again.trace_)


def test_empty_clusters_take_the_farthest_rows():
    start = np.vstack([TOY8[0], TOY8[0], TOY8[6]])
    model = ApproxKernelKMeans(3, gamma=0.1, init=start).fit(TOY8)
    assert model.n_clusters_ == 3


@pytest.mark.filterwarnings("ignore:only")
@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "linear", "cosine"])
@pytest.mark.parametrize("X", [np.zeros((5, 2)), np.full((5, 2), 7.0), np.eye(5)[:, :2], 1e-50 * TOY8, 1e30 * TOY8])
def test_degenerate_rows(kernel, X):
    model = ApproxKernelKMeans(2, kernel=kernel, random_state=0).fit(X)
    assert np.isfinite(model.trace_).all()
    assert np.isfinite(model.coefficients_).all()
    assert set(model.labels_) <= {0, 1}


def test_rounding_fills_no_cluster():
    """In one column the cosine knows two kinds of rows."""
    X = np.random.default_rng(0).normal(size=(9, 1))
    with pytest.warns(ConvergenceWarning, match="only 2 of 3 clusters"):
        model = ApproxKernelKMeans(3, kernel="cosine", random_state=0).fit(X)
    assert ari(model.labels_, X[:, 0] > 0) == 1


def test_as_many_clusters_as_rows():
    model = ApproxKernelKMeans(8, gamma=1.0, n_init=20, random_state=0).fit(TOY8)
    assert sorted(model.labels_) == list(range(8))
    assert model.objective_ == pytest.approx(0, abs=1e-9)
    one = ApproxKernelKMeans(1).fit(TOY8)
    assert np.isinf(one.margin_).all()


def test_clues_are_not_used():
    with pytest.warns(UnusedClueWarning, match="does not use clues of the kind labels"):
        model = ApproxKernelKMeans(2, random_state=0).fit(TOY8, clues=Clues(8, labels=START))
    assert not model.broken_.kinds


class Impatient:
    """Presses Ctrl-C after the second iteration."""

    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "iteration" and context.task_id == 1:
            raise KeyboardInterrupt


def test_ctrl_c_leaves_the_newest_state():
    model = ApproxKernelKMeans(3, landmarks=20, random_state=0).set_callbacks(Impatient())
    X, _ = load_iris(return_X_y=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert (model.n_iter_, len(model.labels_), model.predict(X).shape) == (2, 150, (150,))
    assert not hasattr(model, "margin_")


def test_pickle_predicts():
    model = pickle.loads(pickle.dumps(ApproxKernelKMeans(3, random_state=0).fit(TOY8)))
    assert model.predict(TOY8).tolist() == model.labels_.tolist()
    labels = assign.no_labels(8)
    assert labels.dtype == model.predict(TOY8).dtype


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"landmarks": 2}, "there are 2 landmarks, fewer than n_clusters=3"),
        ({"landmarks": [[0.0, 0.0]]}, "there are 1 landmarks, fewer"),
        ({"landmarks": np.zeros((4, 3))}, "3 features"),
        ({"kernel": "sigmoid"}, "kernel"),
        ({"kernel": lambda x, y: np.zeros(3)}, "one finite number per pair"),
        ({"gamma": -1.0}, "gamma"),
        ({"init": "furthest"}, "init='furthest' is not one of"),
        ({"init": [[0.0, 1.0]]}, "init needs shape"),
    ],
)
def test_bad_input(parameters, message):
    with pytest.raises(ValueError, match=message):
        ApproxKernelKMeans(3, **parameters).fit(TOY8)


@pytest.mark.parametrize("parameters", [{"init": "random"}, {"kernel": "cosine"}])
def test_laws_with_parameters(parameters):
    check_clusterer(Unmoved(**parameters, n_init=2), random_state=1)


def test_laws_with_few_landmarks():
    """All but one: of repeated rows others are drawn."""
    for law in laws_for(ApproxKernelKMeans):
        if law.__name__ != "law_weights_are_repetitions":
            rng = np.random.default_rng(0)
            law(ApproxKernelKMeans(3, landmarks=12), rng.normal(size=(40, 3)), Clues(40), rng)
