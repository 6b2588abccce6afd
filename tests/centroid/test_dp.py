"""DP-means: worked examples, a plain second implementation, laws, and what happens at the edges."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from cluewise import Clues
from cluewise.centroid._dp.divergences import smooth
from cluewise.centroid._dp.dp import DPMeans
from strategies import cases

TOY8 = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]], dtype=float)
COUNTS = np.array([[4, 0, 1], [3, 1, 1], [0, 5, 0], [1, 4, 0]])
PAIRED = np.array([[1, 2], [2, 1], [8, 9], [9, 8]], dtype=float)


def plain(X, cost, order):
    """DP-means word for word: lists, one row at a time, squared distances."""
    centers, z = [X.mean(axis=0)], [0] * len(X)
    while True:
        before = list(z)
        for i in order:
            d = [((X[i] - c) ** 2).sum() for c in centers]
            if min(d) < cost:
                z[i] = int(np.argmin(d))
            else:
                centers.append(X[i])
                z[i] = len(centers) - 1
        moved = z != before
        kept = sorted(set(z))
        z = [kept.index(c) for c in z]
        centers = [X[np.array(z) == h].mean(axis=0) for h in range(len(kept))]
        if not moved:
            return z, np.array(centers)


@given(cases(()), st.floats(0.5, 400), st.booleans())
def test_it_is_the_algorithm(case, cost, shuffled):
    order = case.rng.permutation(len(case.X)) if shuffled else np.arange(len(case.X))
    z, centers = plain(case.X, cost, order)
    model = DPMeans(cluster_cost=cost, order=order if shuffled else "index").fit(case.X)
    assert model.labels_.tolist() == z
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-9)
    assert model.n_clusters_ == len(centers)


def test_worked_example():
    model = DPMeans(cluster_cost=6).fit(TOY8)
    assert model.labels_.tolist() == [1, 1, 1, 0, 0, 0, 2, 2]
    np.testing.assert_allclose(model.cluster_centers_, [(11 / 3, 1 / 3), (1 / 3, 1 / 3), (7.5, 0.5)])
    np.testing.assert_allclose(model.trace_, [65 / 3, 65 / 3])
    assert model.n_iter_ == 2
    assert model.objective_ == pytest.approx(65 / 3)
    assert model.n_clusters_ == 3


def test_worked_example_with_an_expected_number():
    """The cost is that of the third row furthest first; four clusters come of it."""
    model = DPMeans(3).fit(TOY8)
    assert model.cluster_cost_ == 2.0
    assert model.labels_.tolist() == [1, 1, 1, 0, 0, 0, 2, 3]
    assert model.objective_ == pytest.approx(32 / 3)


def test_numbers_of_the_specification(spec_folder):
    expected = json.loads((spec_folder / "seeds-worked-examples.json").read_text())
    furthest, six = expected["dp_means"]["furthest_first"], expected["dp_means"]["lam6"]
    X = np.array(expected["TOY8"])
    assert DPMeans(furthest["k"]).fit(X).cluster_cost_ == furthest["lam"]
    model = DPMeans(cluster_cost=6).fit(X)
    assert model.labels_.tolist() == six["labels"]
    np.testing.assert_allclose(model.cluster_centers_, six["centers"], atol=1e-9)
    np.testing.assert_allclose(model.trace_, [means for _, means in six["J_sweep_then_means"]], atol=1e-9)


def test_worked_example_of_kl():
    model = DPMeans(cluster_cost=0.3, divergence="kl", smoothing=0.3).fit(COUNTS)
    assert model.labels_.tolist() == [1, 0, 2, 0]
    assert model.objective_ == pytest.approx(1.176915, abs=1e-6)
    rows = smooth(COUNTS)
    by_hand = DPMeans(cluster_cost=0.3, divergence="kl").fit(rows)
    np.testing.assert_array_equal(by_hand.cluster_centers_, model.cluster_centers_)
    np.testing.assert_allclose(model.cluster_centers_[0], rows[[1, 3]].mean(axis=0))
    assert (model.predict(COUNTS) == by_hand.predict(rows)).all()
    assert (
        DPMeans(cluster_cost=0.3, divergence="kl", smoothing=0.3).fit(csr_array(COUNTS)).labels_ == model.labels_
    ).all()


@pytest.mark.parametrize(
    ("name", "labels", "value"),
    [
        ("itakura_saito", [1, 1, 0, 0], 2.242498),
        ("generalized_i", [0, 0, 1, 1], 2.398656),
    ],
)
def test_worked_examples_of_other_divergences(name, labels, value):
    model = DPMeans(cluster_cost=1.0, divergence=name).fit(PAIRED)
    assert model.labels_.tolist() == labels
    assert model.trace_[-1] == pytest.approx(value, abs=1e-6)
    np.testing.assert_allclose(model.cluster_centers_[model.labels_], [[1.5, 1.5]] * 2 + [[8.5, 8.5]] * 2)
    assert (model.predict(PAIRED) == model.labels_).all()


def test_mahalanobis_is_the_method_in_other_coordinates():
    rng = np.random.default_rng(0)
    X, root = rng.normal(size=(60, 3)), rng.normal(size=(3, 3))
    turned = DPMeans(5).fit(X @ root.T)
    model = DPMeans(cluster_cost=turned.cluster_cost_ * (1 - 1e-9), divergence=root.T @ root).fit(X)
    assert (model.labels_ == turned.labels_).all()
    np.testing.assert_allclose(model.cluster_centers_ @ root.T, turned.cluster_centers_, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), turned.transform(X @ root.T), atol=1e-9)


@given(
    st.sampled_from(["sqeuclidean", "kl", "generalized_i", "itakura_saito", "mahalanobis"]),
    st.integers(0, 2**16),
    st.integers(1, 6),
    st.booleans(),
)
def test_the_objective_never_rises(name, seed, k, weighted):
    """A rise is a warning, and the warning is an error in the tests; the trace is looked at as well."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.1, 5, size=(30, 3))
    X = X / X.sum(axis=1, keepdims=True) if name == "kl" else X
    weight = rng.uniform(0, 2, size=30) if weighted else None
    given = np.diag([1.0, 0.2, 0.0]) if name == "mahalanobis" else name
    model = DPMeans(k, divergence=given, order="random", random_state=seed).fit(X, sample_weight=weight)
    assert (np.diff(model.trace_) <= 1e-9 * model.trace_[0]).all()
    assert len(np.unique(model.labels_)) == model.n_clusters_ == len(model.cluster_centers_)


def partitions(n):
    """All ways to cluster n rows, as labels."""

    def extend(z, k):
        if len(z) == n:
            yield z
            return
        for h in range(k + 1):
            yield from extend([*z, h], max(k, h + 1))

    return extend([], 0)


@pytest.mark.parametrize(("cost", "reached"), [(0.4, True), (6.0, True), (40.0, False)])
def test_brute_force_on_eight_rows(cost, reached):
    """All 4140 partitions: no result lies below the optimum; from the mean it is reached unless clusters are dear."""
    best = np.inf
    for z in map(np.array, partitions(8)):
        spread = sum(((TOY8[z == h] - TOY8[z == h].mean(axis=0)) ** 2).sum() for h in range(z.max() + 1))
        best = min(best, spread + cost * (z.max() + 1))
    found = [DPMeans(cluster_cost=cost, order="random", random_state=s).fit(TOY8).objective_ for s in range(20)]
    assert (min(found) == pytest.approx(best)) == reached
    assert all(value >= best - 1e-9 for value in found)


def test_margin_and_transform():
    model = DPMeans(cluster_cost=6).fit(TOY8)
    squared = ((TOY8[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.transform(TOY8), np.sqrt(squared))
    own = squared[np.arange(8), model.labels_]
    squared[np.arange(8), model.labels_] = np.inf
    np.testing.assert_allclose(model.margin_, squared.min(axis=1) - own)
    assert np.isinf(DPMeans(cluster_cost=1e6).fit(TOY8).margin_).all()
    kl = DPMeans(cluster_cost=0.3, divergence="kl", smoothing=0.3).fit(COUNTS)
    assert kl.transform(COUNTS)[0, 1] == pytest.approx(0)


def test_far_from_the_origin():
    far = DPMeans(3).fit(TOY8 + 2.0**20)
    assert far.labels_.tolist() == DPMeans(3).fit(TOY8).labels_.tolist()


def test_single_precision_counts():
    X = COUNTS.astype(np.float32)
    model = DPMeans(cluster_cost=0.3, divergence="kl", smoothing=0.3).fit(X)
    assert model.cluster_centers_.dtype == np.float32
    shares = (X / 5).astype(np.float32)
    assert DPMeans(2, divergence="generalized_i").fit(shares).transform(shares).dtype == np.float32


def test_one_row_one_column_and_equal_rows():
    assert DPMeans(cluster_cost=1.0).fit([[3.0]]).labels_.tolist() == [0]
    assert DPMeans(5, cluster_cost=1.0).fit(np.ones((4, 2))).n_clusters_ == 1
    assert DPMeans(4).fit([[0.0], [1], [2], [6]]).n_clusters_ == 4
    with pytest.raises(ValueError, match="of n_samples=4 rows only 3 differ"):  # the third row is the mean
        DPMeans(4).fit([[0.0], [1], [2], [5]])
    with pytest.raises(ValueError, match="n_clusters=3 is too many: of n_samples=4 rows only 0 differ"):
        DPMeans(3).fit(np.ones((4, 2)))
    with pytest.raises(ValueError, match="n_clusters=5 is larger than the number of rows, n_samples=4"):
        DPMeans(5).fit(np.arange(8.0).reshape(4, 2))


def test_a_zero_in_all_rows_of_a_cluster_keeps_others_out():
    """Without smoothing the third row is infinitely far from the first two; with smoothing it is not."""
    counts = np.array([[5.0, 5, 0], [6, 4, 0], [4, 5, 1]])
    sharp = DPMeans(cluster_cost=5.0, divergence="kl").fit(counts / 10)
    assert sharp.n_clusters_ == 1
    start = DPMeans(cluster_cost=5.0, divergence="kl", max_iter=1).fit(counts[:2] / 10)
    assert np.isinf(start.transform(counts[2:] / 10)).all()


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({"divergence": "kl"}, COUNTS, "row 0 of X sums to 5.0"),
        ({"divergence": "itakura_saito"}, COUNTS, "0.0 in row 0, column 1"),
        ({"divergence": "generalized_i"}, -TOY8, "-1.0 in row 1, column 1"),
        ({"divergence": "cosine"}, TOY8, "divergence"),
        ({"divergence": np.eye(3)}, TOY8, r"\(2, 2\)"),
        ({"smoothing": 0.3}, TOY8, "leave it out"),
        ({"smoothing": -1.0, "divergence": "kl"}, COUNTS, "smoothing"),
        ({"cluster_cost": 0.0}, TOY8, "cluster_cost"),
        ({"cluster_cost": -1.0}, TOY8, "cluster_cost"),
        ({"cluster_cost": "cheap"}, TOY8, "cluster_cost"),
        ({"order": [0, 1]}, TOY8, "permutation of the 8"),
        ({"n_clusters": 0}, TOY8, "n_clusters"),
    ],
)
def test_bad_parameters_and_rows_are_named(parameters, X, message):
    with pytest.raises(ValueError, match=message):
        DPMeans(**parameters).fit(X)


def test_new_rows_outside_the_domain_are_named():
    model = DPMeans(cluster_cost=1.0, divergence="itakura_saito").fit(PAIRED)
    with pytest.raises(ValueError, match=r"0\.0 in row 1, column 0"):
        model.predict([[1.0, 1.0], [0.0, 1.0]])


def test_clues_are_not_used_and_that_is_said():
    with pytest.warns(UserWarning, match="does not use clues of the kind must"):
        model = DPMeans(cluster_cost=6).fit(TOY8, clues=Clues(8, must=[(0, 7)]))
    assert model.labels_.tolist() == [1, 1, 1, 0, 0, 0, 2, 2]


class Interrupt:
    """Ctrl-C after the second sweep."""

    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "iteration" and context.task_id == 1:
            raise KeyboardInterrupt


def test_an_interrupt_leaves_the_last_sweep():
    X = np.random.default_rng(0).normal(size=(300, 2)) + 5
    model = DPMeans(8).set_callbacks(Interrupt())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    two = DPMeans(8, max_iter=2).fit(X)
    np.testing.assert_array_equal(model.labels_, two.labels_)
    np.testing.assert_array_equal(model.cluster_centers_, two.cluster_centers_)


def test_golden():
    X, _ = load_iris(return_X_y=True)
    model = DPMeans(3).fit(X)
    assert (model.n_clusters_, model.n_iter_) == (3, 4)
    assert model.objective_ == pytest.approx(91.751441426, abs=1e-6)
