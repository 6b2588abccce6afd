"""CondEns: the worked example with its half-steps, errata, two-sided points, other clusterers, and odd inputs."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, MeanShift
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cluewise import Clues
from cluewise.alternative._cond_ens import CondEns
from cluewise.alternative._local import codes_of, groups_of, local_clustering
from cluewise.alternative.avoid import difference, variation
from cluewise.datasets._two_sided import make_two_sided
from cluewise.exceptions import ClueWarning
from cluewise.metrics import ari, nmi, variation_of_information

# survey-algorithms 9.3
X8 = np.array([[0, 0], [0.2, 4], [6, 0.1], [6.1, 4.2], [0.3, 0.2], [0.1, 4.1], [5.9, 0.3], [6.2, 3.9]])
Z8 = np.array([0, 0, 1, 1, 0, 0, 1, 1])
LOW_HIGH = np.array([0, 1] * 4)


def fit(model, X, avoid=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ClueWarning)
        n = X.shape[0]
        return model.fit(X, clues=None if avoid is None else Clues(n, avoid=avoid))


@pytest.mark.parametrize("combine", ["kmeans", "select"])
@pytest.mark.parametrize("make", [np.array, csr_array])
def test_worked_example(make, combine):
    model = fit(CondEns(2, combine=combine, random_state=0), make(X8), Z8)
    assert model.local_labels_.shape == (2, 8)
    for extended in model.local_labels_:
        assert ari(extended, LOW_HIGH) == 1
    assert ari(model.labels_, LOW_HIGH) == 1
    assert model.variation_ == pytest.approx([1.386294], abs=2e-6)
    means = [X8[::2].mean(axis=0), X8[1::2].mean(axis=0)]
    assert model.inertia_ == pytest.approx(((X8[::2] - means[0]) ** 2).sum() + ((X8[1::2] - means[1]) ** 2).sum())
    assert model.objective_ == pytest.approx(0 if combine == "kmeans" else model.inertia_, abs=1e-12)
    np.testing.assert_array_equal(model.predict(make(X8)), model.labels_)


def test_other_rows_join_the_local_clusters_of_the_group_that_is_extended():
    """E36: by the rule of the group's own clusterer; E37: into as many clusters as it has."""
    local = local_clustering(KMeans(n_init=10), X8, np.array([0, 1, 4, 5]), 3, seed=0)
    assert local.size == 4
    assert len(local.names) == 3
    np.testing.assert_array_equal(local.labels, local.estimator.predict(X8))
    assert local.estimator.cluster_centers_.shape == (3, 2)
    assert local.estimator.cluster_centers_[:, 0].max() < 1  # it has seen the left group only
    few = local_clustering(KMeans(n_init=10), X8, np.array([0, 1]), 5, seed=0)
    assert len(few.names) == 2  # as many clusters as rows


def squared_error(one_hot, labels, k):
    return sum(
        ((one_hot[labels == h] - one_hot[labels == h].mean(axis=0)) ** 2).sum() for h in range(k) if (labels == h).any()
    )


@given(st.integers(0, 2**32 - 1))
def test_the_objective_is_the_squared_error_of_centered_one_hot_columns(seed):
    """And n (1 - sum p_j^2) - n U of each local clustering, weighted by the sizes of the groups."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 20))
    X, z = rng.normal(size=(n, 2)), rng.integers(3, size=n)
    model = fit(CondEns(3, estimator=KMeans(n_init=1), n_init=2, random_state=0), X, z)
    groups = groups_of([z], X @ np.ones(2), 3) or [np.arange(n)]
    sizes = sorted(len(rows) for rows in groups)
    shares = np.array([len(rows) for rows in groups]) / sum(sizes)
    local = model.local_labels_
    # groups stand in another order here; each size belongs to the clusterer that saw so many rows
    seen = np.array([len(own.labels_) for own in model.estimators_])
    weights = seen / seen.sum()
    assert sorted(weights) == pytest.approx(sorted(shares))
    wanted = told = 0.0
    for weight, codes in zip(weights, local):
        one_hot = np.eye(codes.max() + 1)[codes]
        wanted += weight * squared_error(one_hot - one_hot.mean(axis=0), model.labels_, 3)
        overall = one_hot.mean(axis=0)
        utility = -(overall**2).sum()
        for h in np.unique(model.labels_):
            mine = model.labels_ == h
            utility += mine.mean() * (one_hot[mine].mean(axis=0) ** 2).sum()
        told += weight * n * (1 - (overall**2).sum() - utility)
    if len(local) > 1:
        assert model.objective_ == pytest.approx(wanted, abs=1e-9)
    assert told == pytest.approx(wanted, abs=1e-9)
    assert (np.diff(model.trace_) <= 1e-9).all()


@pytest.mark.parametrize("dominance", [1.5, 4.0])
@pytest.mark.parametrize(("kind", "classes"), [("points", (3, 3)), ("points", (2, 4)), ("shapes", (3, 3))])
@pytest.mark.parametrize("seed", range(3))
def test_the_other_side_of_two_sided_data(kind, classes, seed, dominance):
    """Issue 7: NMI below 0.1 with what is avoided, above 0.8 with the other truth, whichever side is avoided."""
    X, first, second = make_two_sided(kind, n_classes=classes, dominance=dominance, random_state=seed)
    for avoid, other, k in ((first, second, classes[1]), (second, first, classes[0])):
        model = fit(CondEns(k, random_state=seed), X, avoid)
        assert nmi(avoid, model.labels_) < 0.1
        assert nmi(other, model.labels_) > 0.8


def test_kmeans_finds_the_side_that_dominates():
    for seed in range(3):
        X, first, second = make_two_sided("points", random_state=seed)
        plain = fit(CondEns(3, random_state=seed), X)
        assert nmi(first, plain.labels_) > 0.95
        assert nmi(second, plain.labels_) < 0.1


def test_nothing_to_avoid_is_the_clusterer_itself():
    X, *_ = make_two_sided("points", random_state=0)
    for avoid in (None, np.zeros(300, dtype=int), np.full(300, -1)):
        model = fit(CondEns(3, random_state=0), X, avoid)
        assert ari(model.labels_, KMeans(3, n_init=10, random_state=0).fit(X).labels_) == 1
        np.testing.assert_array_equal(model.labels_, model.local_labels_[0])
        np.testing.assert_array_equal(model.labels_, model.predict(X))
        assert model.objective_ == 0
        assert model.n_iter_ == 1


@pytest.mark.parametrize(
    "estimator", [GaussianMixture(covariance_type="tied"), AgglomerativeClustering(), DBSCAN(eps=2, min_samples=3)]
)
def test_any_clusterer_will_do(estimator):
    X, first, second = make_two_sided("points", dominance=1, random_state=0)
    model = fit(CondEns(3, estimator=estimator, random_state=0), X, first)
    assert nmi(first, model.labels_) < 0.1
    assert nmi(second, model.labels_) > 0.8
    assert not hasattr(estimator, "n_features_in_")  # a clone was fitted
    new, _, truth = make_two_sided("points", dominance=1, random_state=1)
    assert nmi(truth, model.predict(new)) > 0.8


def test_a_clusterer_inside_another_estimator_is_refused_but_seeded_where_it_finds_the_number():
    X, first, _ = make_two_sided("points", n_samples=60, random_state=0)
    with pytest.raises(ValueError, match="Pipeline has neither n_clusters nor n_components of its own, only kmeans__n"):
        fit(CondEns(3, estimator=make_pipeline(StandardScaler(), KMeans(5))), X, first)
    model = fit(CondEns(3, estimator=make_pipeline(PCA(2), MeanShift()), random_state=0), X, first)
    assert all(isinstance(own.named_steps["pca"].random_state, int) for own in model.estimators_)
    with pytest.raises(TypeError, match="has neither predict nor labels_"):
        fit(CondEns(3, estimator=make_pipeline(PCA(2), DBSCAN(eps=3))), X, first)


def test_rows_that_no_rule_labels_go_to_the_largest_cluster():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [50.0]])
    model = fit(CondEns(2, estimator=DBSCAN(eps=1, min_samples=2), random_state=0), X)
    assert model.local_labels_[0, 7] == -1
    assert model.labels_[7] == model.labels_[0] != model.labels_[4]
    assert codes_of([3, -1, 5, 9], np.array([3, 5])).tolist() == [0, -1, 1, -1]
    assert codes_of([3], np.array([], dtype=int)).tolist() == [-1]


def test_noise_everywhere_is_one_cluster():
    model = fit(CondEns(2, estimator=DBSCAN(eps=0.1, min_samples=3), random_state=0), X8)
    assert model.n_clusters_ == 1
    assert set(model.predict(X8)) == set(model.labels_)


def test_several_clusterings_to_avoid_are_their_product():
    """Avoiding them one by one would let each bring back the other."""
    rng = np.random.default_rng(0)
    sides = [rng.permutation(np.arange(400) % 2) for _ in range(3)]
    X = np.column_stack([20 * sides[0], 12 * sides[1], 6 * sides[2]]) + rng.normal(size=(400, 3))
    one = fit(CondEns(2, random_state=0), X, sides[0])
    assert nmi(sides[1], one.labels_) > 0.95
    both = CondEns(2, random_state=0).fit(X, clues=Clues(400, avoid=sides[:2]))
    assert nmi(sides[2], both.labels_) > 0.8
    assert len(both.estimators_) == 4
    assert both.variation_ == pytest.approx([variation_of_information(z, both.labels_) for z in sides[:2]])


def test_rows_that_no_group_holds_are_only_labeled():
    X, first, second = make_two_sided("points", random_state=0)
    hidden = np.random.default_rng(0).random(300) < 0.3
    model = fit(CondEns(3, random_state=0), X, np.where(hidden, -1, first))
    assert sum(len(own.labels_) for own in model.estimators_) == (~hidden).sum()
    assert nmi(second[hidden], model.labels_[hidden]) > 0.8
    assert model.variation_[0] == pytest.approx(variation_of_information(first[~hidden], model.labels_[~hidden]))


@pytest.mark.parametrize("covered", [1, 2])
def test_too_few_known_rows_leave_the_plain_clusterer_and_a_warning(covered):
    X, *_ = make_two_sided("points", n_samples=60, random_state=0)
    with pytest.warns(ClueWarning, match="have fewer than n_clusters=3 rows, so all rows are clustered") as said:
        model = CondEns(3, random_state=0).fit(X, clues=Clues(60, avoid=np.where(np.arange(60) < covered, 0, -1)))
    assert said[0].filename == __file__
    np.testing.assert_array_equal(model.labels_, CondEns(3, random_state=0).fit(X).labels_)


def test_clusterings_that_never_meet_or_say_nothing_are_told():
    X, first, second = make_two_sided("points", n_samples=60, random_state=0)
    half = np.arange(60) < 30
    apart = [np.where(half, first, -1), np.where(half, -1, second)]
    with pytest.warns(ClueWarning, match="no row is in all 2 clusterings to avoid") as said:
        CondEns(3, random_state=0).fit(X, clues=Clues(60, avoid=apart))
    assert said[0].filename == __file__
    with pytest.warns(ClueWarning, match=r"avoid\[1\] covers no row"):
        model = CondEns(3, random_state=0).fit(X, clues=Clues(60, avoid=[first, np.full(60, -1)]))
    np.testing.assert_array_equal(model.labels_, fit(CondEns(3, random_state=0), X, first).labels_)


def test_groups():
    key = np.array([5.0, 1, 4, 0, 3, 2])
    assert [rows.tolist() for rows in groups_of([], key)] == [[3, 1, 5, 4, 2, 0]]
    codes = np.array([7, 7, 2, 2, -1, 7])
    assert [rows.tolist() for rows in groups_of([codes], key)] == [[3, 2], [1, 5, 0]]
    # a row alone has nothing to cluster
    assert [rows.tolist() for rows in groups_of([np.array([0, 1, 2, 0, 3, 4])], key)] == [[3, 0]]
    assert groups_of([np.arange(6)], key) == []
    assert groups_of([np.array([0, 0, -1, -1, -1, -1])], key, 3) == []
    assert len(groups_of([np.array([0, 0, 1, 1, -1, -1])], key, 3)) == 2
    # no row is covered by both
    halves = groups_of([np.array([0, 0, 0, -1, -1, -1]), np.array([-1, -1, -1, 0, 0, 0])], key)
    assert sorted(sorted(rows.tolist()) for rows in halves) == [[0, 1, 2], [3, 4, 5]]


@given(st.integers(0, 2**32 - 1))
def test_names_of_known_groups_change_nothing(seed):
    rng = np.random.default_rng(seed)
    X, z = rng.normal(size=(20, 2)), rng.integers(3, size=20)
    model = CondEns(2, estimator=KMeans(n_init=1), n_init=2, random_state=0)
    before = fit(model, X, z).labels_
    np.testing.assert_array_equal(before, fit(model, X, np.array([5, 9, 1])[z]).labels_)


def test_selection_takes_the_best_that_differs_enough():
    """Group 0 splits along the known clustering's own axis, group 1 along the other one."""
    rng = np.random.default_rng(0)
    wide = np.column_stack([rng.choice([-3.0, 3.0], size=40), rng.choice([-0.5, 0.5], size=40)])
    high = np.column_stack([np.full(40, 30.0), rng.choice([-2.0, 2.0], size=40)])
    X = np.vstack([wide, high]) + 0.1 * rng.normal(size=(80, 2))
    z = np.repeat([0, 1], 40)
    strict = fit(CondEns(2, combine="select", random_state=0), X, z)
    assert ari(strict.labels_, X[:, 1] > 0) > 0.95
    # With no claim on difference the better fit is the one that splits left from right, right next to what is known.
    loose = fit(CondEns(2, combine="select", difference=0.0, random_state=0), X, z)
    assert loose.objective_ < strict.objective_
    assert loose.variation_[0] < strict.variation_[0]
    np.testing.assert_array_equal(loose.predict(X), loose.labels_)
    with pytest.raises(ValueError, match="at most n_clusters=2 clusters"):
        fit(CondEns(2, n_local=4, combine="select", random_state=0), X, z)


def test_difference_is_a_share_of_the_largest_variation():
    z = np.array([0, 0, 1, 1])
    assert difference(z, Clues(4, avoid=z)) == 0
    assert difference(np.array([0, 1, 0, 1]), Clues(4, avoid=z)) == pytest.approx(1)
    assert difference(z, Clues(4)) == 1
    assert difference(np.zeros(4, dtype=int), Clues(4, avoid=np.zeros(4, dtype=int))) == 1
    assert difference(z, Clues(4, avoid=[np.array([0, 1, 0, 1]), z])) == 0
    assert variation(z, Clues(4, avoid=np.full(4, -1))).tolist() == [0]


def test_local_clusterings_may_be_finer():
    X, first, second = make_two_sided("points", n_classes=(3, 3), dominance=2, random_state=0)
    model = fit(CondEns(3, n_local=5, random_state=0), X, first)
    assert model.local_labels_.max() == 4
    assert nmi(second, model.labels_) > 0.8


@pytest.mark.parametrize(
    "X", [np.ones((4, 2)), [[1.0]], np.arange(3.0)[:, None], np.eye(5, dtype=np.float32), np.zeros((6, 1))]
)
def test_data_at_the_edge(X):
    n = len(X)
    k = min(n, 2)
    model = fit(CondEns(k, random_state=0), np.asarray(X), np.arange(n) % 2)
    assert set(model.labels_) <= set(range(k))
    assert np.isfinite(model.objective_)
    assert (model.predict(X) < k).all()


def test_pinned():
    X, first, _ = make_two_sided("points", n_samples=60, dominance=6, random_state=0)
    model = fit(CondEns(3, random_state=0), X, first)
    assert model.objective_ == pytest.approx(13.081537176, rel=1e-6)
