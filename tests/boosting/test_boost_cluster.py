"""BoostCluster: the example worked by hand, the loss of every round, the same by tables of rows by rows, odd bases."""

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans, MeanShift
from sklearn.datasets import load_wine
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cluewise import Clues
from cluewise.boosting import _rounds as boosting
from cluewise.boosting._boost_cluster import BoostCluster
from cluewise.checks._examples import blobs
from cluewise.core.rows import rows_of
from cluewise.core.views import build_pair_graph
from cluewise.metrics import ari

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
MUST, CANNOT = [(0, 1), (3, 7), (4, 5)], [(2, 3), (1, 6), (3, 4)]


def shares_of(links, kernel):
    return boosting.shares(links.must, -kernel)[0], boosting.shares(links.cannot, kernel)[0]


def same_cluster(links, labels):
    first, second = np.asarray(labels)[links.rows[links.ends]].T
    return first == second


def problem(seed, n=30, d=3, k=3, pairs=25, noise=8):
    """Rows whose classes are seen in the first columns only, and random pairs."""
    rng = np.random.default_rng(seed)
    X, y = blobs(n, d, k, rng)
    return np.column_stack([X, noise * rng.normal(size=(n, 2))]), y, Clues.sample(y, pairs=pairs, random_state=seed)


def same_partition(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


# ---- one round ----------------------------------------------------------------------------------------------------


def test_worked_round():
    """The example [boostcluster_round]: rows as they are, not centered, labels given."""
    links = build_pair_graph(Clues(8, must=MUST, cannot=CANNOT))
    kernel = np.zeros(6)
    p, q = shares_of(links, kernel)
    assert p.sum() == pytest.approx(1)
    assert q.sum() == pytest.approx(1)
    seen = A8[links.rows]
    both = boosting.directions(seen, links.ends, p - q, None)
    np.testing.assert_allclose(both @ both.T, [[4.36, 4.153333], [4.153333, 4.163333]], atol=2e-6)
    np.testing.assert_allclose((both**2).sum(axis=0), [8.416164, 0.107169], atol=2e-6)
    one = boosting.directions(seen, links.ends, p - q, 1)
    np.testing.assert_allclose(np.abs(one), [[2.075496], [2.026939]], atol=2e-6)
    together = same_cluster(links, [0, 0, 0, 0, 1, 1, 1, 1])
    assert p[together].sum() == pytest.approx(0.666667, abs=2e-6)
    assert q[together].sum() == pytest.approx(0.333333, abs=2e-6)
    alpha = boosting.step_size(links, p, q, together, at_random=0.5)
    assert alpha == pytest.approx(0.693147, abs=2e-6)
    assert np.exp(boosting.losses(links, kernel, 0)) == pytest.approx(36)
    kernel = kernel + alpha * together
    assert np.exp(boosting.losses(links, kernel, 0)) == pytest.approx(32)
    # [boostcluster_round2]
    p, q = shares_of(links, kernel)
    together = same_cluster(links, [0, 1, 0, 1, 1, 1, 0, 1])
    assert p[together].sum() == pytest.approx(0.75, abs=2e-6)
    assert q[together].sum() == pytest.approx(0.25, abs=2e-6)
    alpha = boosting.step_size(links, p, q, together, at_random=0.5)
    assert alpha == pytest.approx(1.098612, abs=2e-6)
    assert np.exp(boosting.losses(links, kernel + alpha * together, 0)) == pytest.approx(24)


FINALS = ("best", "votes")
KINDS = st.sampled_from([("must", "cannot"), ("must",), ("cannot",)])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), KINDS)
def test_loss_falls_by_the_stated_ratio(seed, kinds):
    rng = np.random.default_rng(seed)
    n = 12
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    pairs = rng.permutation(pairs)[:16]
    clues = Clues(n, must=pairs[:8], cannot=pairs[8:], must_weight=rng.uniform(0.2, 3, 8)).only(kinds)
    links, labels = build_pair_graph(clues), rng.integers(3, size=n)
    kernel, mean = rng.normal(size=len(links)), rng.normal()
    p, q = shares_of(links, kernel)
    together, at_random = same_cluster(links, labels), boosting.chance(labels)
    alpha = boosting.step_size(links, p, q, together, at_random)
    p1 = p[together].sum() if "must" in kinds else at_random
    q1 = q[together].sum() if "cannot" in kinds else at_random
    before = boosting.losses(links, kernel, mean)

    def after(step):
        return boosting.losses(links, kernel + step * together, mean + step * at_random)

    if alpha <= 0:
        assert p1 <= q1 + 1e-12 or p1 > 0.99 or q1 < 0.1
        return
    assert p1 > q1
    assert after(alpha) <= before + 1e-12
    bounded = max(p1 / max(1 - p1, 1e-9), (1 - q1) / max(q1, 1e-9)) >= 17
    if bounded:  # a shorter step than the best one
        return
    if len(kinds) == 2:
        assert np.exp(after(alpha) - before) == pytest.approx((np.sqrt((1 - p1) * (1 - q1)) + np.sqrt(p1 * q1)) ** 2)
    best = minimize_scalar(after, bracket=(0, alpha + 1e-3)).x
    assert alpha == pytest.approx(best, abs=1e-4)


def test_faultless_partition_has_a_finite_weight():
    links = build_pair_graph(Clues(8, must=MUST, cannot=CANNOT))
    p, q = shares_of(links, np.zeros(6))
    right = links.must > 0
    assert boosting.step_size(links, p, q, right, 0.5) == pytest.approx(np.log(7))  # ½ log(7 · 7)
    assert boosting.step_size(links, p, q, ~right, 0.5) == 0
    assert boosting.step_size(links, p, q, np.ones(6, bool), 1.0) == 0  # one cluster
    assert boosting.step_size(links, p, q, np.zeros(6, bool), 0.1) == 0  # every row alone


def test_share_of_pairs_in_one_cluster():
    labels = np.array([0, 0, 1, -1, -1])
    assert boosting.chance(labels) == pytest.approx((4 + 1 + 1 + 1) / 25)


# ---- directions and eigenvectors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("generalized", [False, True])
def test_projection_is_that_of_the_whole_problem(d, generalized):
    """With more columns than linked rows a smaller problem is solved; what the rows look like is the same."""
    rng = np.random.default_rng(d)
    n = 30
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, size=d) + 5
    links = build_pair_graph(Clues(n, must=[(0, 1), (2, 3), (4, 6)], cannot=[(0, 5), (7, 8)]))
    force = links.must / 3 - links.cannot / 2
    rows = rows_of(X)
    mean = boosting.mean_of(rows)
    back = boosting.whitening(rows, mean) if generalized else None
    seen, axes = boosting.frame(rows.dense(links.rows) - mean, back)
    assert seen.shape[1] <= len(links.rows)
    found = boosting.directions(seen, links.ends, force, 2)
    view = boosting.project(rows, mean, found if axes is None else axes @ found)
    centered = X - X.mean(axis=0)
    T = np.zeros((n, n))
    T[tuple(links.rows[links.ends].T)] = force
    B = centered.T @ (T + T.T) @ centered / 2
    scatter = centered.T @ centered / n
    metric = scatter + boosting.RIDGE * np.trace(scatter) / d * np.eye(d) if generalized else np.eye(d)
    values, vectors = eigh(B, metric)
    wanted = centered @ (vectors[:, :-3:-1] * np.sqrt(values[:-3:-1]))
    np.testing.assert_allclose(view @ view.T, wanted @ wanted.T, atol=1e-8 * np.abs(wanted).max() ** 2)


@pytest.mark.parametrize("dense", [2000, 1])
def test_eigenvectors_of_the_kernel(dense, monkeypatch):
    monkeypatch.setattr(boosting, "DENSE", dense)
    rng = np.random.default_rng(3)
    partitions = [rng.integers(3, size=25).astype(np.int32) for _ in range(4)]
    partitions[2][:5] = -1  # noise
    alphas = np.array([0.5, 1.5, 0.2, 0.9])
    kernel = sum(a * ((z[:, None] == z) & (z[:, None] >= 0)) for a, z in zip(alphas, partitions))
    values, vectors = np.linalg.eigh(kernel)
    wanted = vectors[:, :-5:-1] * np.sqrt(values[:-5:-1])
    votes = boosting.embedding(partitions, alphas, 4)
    np.testing.assert_allclose(votes @ votes.T, wanted @ wanted.T, atol=1e-10)


def test_all_eigenvectors_make_the_kernel():
    partitions = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 1, 0], np.int32)]
    votes = boosting.embedding(partitions, np.array([2.0, 1.0]), 99)
    np.testing.assert_allclose(votes @ votes.T, [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]], atol=1e-12)


# ---- whole fits ---------------------------------------------------------------------------------------------------


def by_tables(X, clues, base, k, rounds):
    """BoostCluster as printed, with tables of rows by rows, for a clusterer without a seed."""
    n = len(X)
    X = X - X.mean(axis=0)
    must, cannot = np.zeros((n, n)), np.zeros((n, n))
    for i, j in clues.must:
        must[i, j] = must[j, i] = 1
    for i, j in clues.cannot:
        cannot[i, j] = cannot[j, i] = 1
    kernel, alphas, trace = np.zeros((n, n)), [], []
    for _ in range(rounds):
        p, q = must * np.exp(-kernel), cannot * np.exp(kernel)
        p, q = p / p.sum(), q / q.sum()
        values, vectors = np.linalg.eigh(X.T @ (p - q) @ X)
        kept = values > 1e-9
        P = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1][:, :k]
        labels = clone(base).fit_predict(X @ P)
        together = labels[:, None] == labels
        p0, q1 = p[~together].sum(), q[together].sum()
        for_must = min((1 - p0) / p0 if p0 > 1e-12 else np.inf, 2 * len(clues.must) + 1)
        for_cannot = min((1 - q1) / q1 if q1 > 1e-12 else np.inf, 2 * len(clues.cannot) + 1)
        alpha = 0.5 * np.log(max(for_must * for_cannot, 1e-300))
        if alpha < 1e-9:
            return None, alphas, trace
        alphas.append(alpha)
        kernel += alphas[-1] * together
        trace.append(np.log((must * np.exp(-kernel)).sum() * (cannot * np.exp(kernel)).sum()))
    values, vectors = np.linalg.eigh(kernel)
    return clone(base).fit_predict((vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1][:, : k + 1]), alphas, trace


@pytest.mark.parametrize("seed", range(5))
def test_fit_is_the_algorithm_of_the_paper(seed):
    X, _, clues = problem(seed)
    base = AgglomerativeClustering(3)
    _, alphas, trace = by_tables(X, clues, base, 3, rounds=20)
    rounds = len(alphas)
    assert rounds > 1
    labels, _, _ = by_tables(X, clues, base, 3, rounds)
    model = BoostCluster(clusterer=base, final="votes", random_state=0).fit(X, clues=clues)
    np.testing.assert_allclose(model.weights_, alphas, rtol=1e-6)
    np.testing.assert_allclose(model.trace_[:rounds], trace, rtol=1e-6)
    assert (model.trace_[rounds:] == model.trace_[-1]).all()
    assert same_partition(model.labels_, labels)


@pytest.mark.parametrize("seed", range(4))
def test_links_choose_the_partition(seed):
    X, _, clues = problem(seed, pairs=40)
    base = AgglomerativeClustering(3)
    best, votes = (BoostCluster(clusterer=base, final=final, random_state=0).fit(X, clues=clues) for final in FINALS)
    np.testing.assert_array_equal(best.partitions_, votes.partitions_)

    def kept(labels):
        must, cannot = (labels[links[:, 0]] == labels[links[:, 1]] for links in (clues.must, clues.cannot))
        return must.mean() - cannot.mean()

    others = [kept(labels) for labels in (votes.labels_, base.fit_predict(X), *best.partitions_)]
    assert kept(best.labels_) == pytest.approx(max(others))


def test_golden_fit():
    X, y = load_wine(return_X_y=True)  # the same with and without a folder of data
    X = StandardScaler().fit_transform(X)
    clues = Clues.sample(y, pairs=150, random_state=3)
    base = AgglomerativeClustering(3)
    model = BoostCluster(clusterer=base, random_state=0).fit(X, clues=clues)
    assert ari(y, base.fit_predict(X)) == pytest.approx(0.7899, abs=1e-4)
    assert ari(y, model.labels_) == pytest.approx(0.9669, abs=1e-4)
    assert model.objective_ == pytest.approx(-5.8620, abs=1e-3)
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("base", [KMeans(n_init=4), GaussianMixture(reg_covar=1e-3), AgglomerativeClustering()])
def test_boosting_improves_on_the_clusterer(base):
    """Columns that mean nothing mislead the clusterer, and 60 pairs show it where to look."""
    gains = []
    for seed in range(4):
        X, y, clues = problem(seed, n=120, pairs=120)
        plain = clone(base).set_params(**{"n_components" if hasattr(base, "n_components") else "n_clusters": 3})
        model = BoostCluster(3, clusterer=base, random_state=seed).fit(X, clues=clues)
        gains.append(ari(y, model.labels_) - ari(y, plain.fit_predict(X)))
    assert np.mean(gains) > 0.15


@pytest.mark.parametrize("kinds", [["must"], ["cannot"]])
def test_links_of_one_kind(kinds):
    X, y, clues = problem(1, n=100, pairs=200, noise=4)
    model = BoostCluster(3, random_state=0).fit(X, clues=clues.only(kinds))
    assert len(model.partitions_) > 0
    assert (np.diff(model.trace_) <= 1e-9).all()
    assert np.isfinite(model.trace_).all()
    assert ari(y, model.labels_) > ari(y, KMeans(3, n_init=10, random_state=0).fit_predict(X))


def test_without_links_it_is_the_clusterer():
    X, _, _ = problem(0)
    base = AgglomerativeClustering(4)
    model = BoostCluster(clusterer=base, random_state=0).fit(X)
    assert same_partition(model.labels_, base.fit_predict(X))
    assert model.partitions_.shape == (0, 30)
    assert (model.objective_, model.n_iter_) == (0.0, 1)


def test_when_nothing_helps_it_is_the_clusterer():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    clues = Clues(4, must=[(0, 2)], cannot=[(0, 2)])  # what helps one clue harms the other
    model = BoostCluster(2, random_state=0).fit(X, clues=clues)
    assert same_partition(model.labels_, [0, 0, 1, 1])
    assert len(model.partitions_) == 0
    assert len(model.broken_.must) == 1


def test_no_direction_is_left():
    """Rows 0 and 1 must be together, but lie on opposite sides in the only column."""
    model = BoostCluster(2, random_state=0).fit([[-1.0], [1.0], [0.0]], clues=Clues(3, must=[(0, 1)]))
    assert len(model.partitions_) == 0
    assert model.n_clusters_ == 2


def test_weights_of_links_are_relative():
    X, _, clues = problem(2)
    must, cannot = clues.must, clues.cannot
    wide = Clues(30, must=must, cannot=cannot, must_weight=np.full(len(must), 3), cannot_weight=np.full(len(cannot), 5))
    one, other = (BoostCluster(3, random_state=0).fit(X, clues=told) for told in (clues, wide))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(other.trace_ - one.trace_, np.log(15))


def test_rows_have_to_differ_for_directions():
    X = np.ones((6, 2))
    model = BoostCluster(1, random_state=0).fit(X, clues=Clues(6, must=[(0, 1)], cannot=[(2, 3)]))
    assert model.labels_.tolist() == [0] * 6


@pytest.mark.parametrize("projection", ["plain", "generalized"])
def test_constant_columns_and_repeated_rows(projection):
    X, _y, clues = problem(5)
    X = np.column_stack([X, np.full(30, 7.0)])
    X[10:20] = X[:10]
    model = BoostCluster(3, projection=projection, random_state=0).fit(X, clues=clues)
    assert np.isfinite(model.trace_).all()
    assert set(model.labels_) <= {0, 1, 2}


# ---- clusterers of all kinds --------------------------------------------------------------------------------------


class Watched(ClusterMixin, BaseEstimator):
    """K-means that tells what it was shown; ``mood`` 1 puts all rows into one cluster."""

    views = []

    def __init__(self, n_clusters=2, mood=0, random_state=None):
        self.n_clusters, self.mood, self.random_state = n_clusters, mood, random_state

    def fit(self, X, y=None):
        self.views.append((X, self.random_state))
        labels = KMeans(self.n_clusters, n_init=2, random_state=self.random_state).fit_predict(X)
        self.labels_ = 0 * labels if self.mood == 1 else labels
        return self


@pytest.fixture
def watched():
    Watched.views = []
    return Watched


def test_what_the_clusterer_is_shown(watched):
    X, _, clues = problem(4)
    model = BoostCluster(3, clusterer=watched(), n_components=2, n_rounds=3, random_state=0).fit(X, clues=clues)
    *rounds, votes, own = [view for view, _ in watched.views]
    total = ((X - X.mean(axis=0)) ** 2).sum()
    for view in rounds:
        assert view.shape == (30, 2)
        assert (view**2).sum() == pytest.approx(total)
    assert votes.shape == (30, 3)  # one more than there are directions
    np.testing.assert_array_equal(np.sort(own, axis=0), np.sort(X, axis=0))
    seeds = [seed for _, seed in watched.views]
    assert len(set(seeds)) == len(seeds)
    assert model.n_clusters_ == 3
    assert not hasattr(model.clusterer, "labels_")


def test_useless_partitions_are_drawn_three_times(watched):
    X, _, clues = problem(4)
    model = BoostCluster(clusterer=watched(mood=1), random_state=0).fit(X, clues=clues)
    assert len(model.partitions_) == 0
    assert len(watched.views) == 3 + 3 + 1  # the loop never ends after one round
    assert watched.views[-1][0].shape == X.shape


def test_number_of_clusters_is_handed_on(watched):
    X, _, clues = problem(6)
    assert BoostCluster(random_state=0).fit(X).n_clusters_ == 8
    assert BoostCluster(4, clusterer=GaussianMixture(), random_state=0).fit(X).n_clusters_ == 4
    assert BoostCluster(clusterer=KMeans(5), random_state=0).fit(X).n_clusters_ == 5
    assert BoostCluster(4, clusterer=KMeans(5), random_state=0).fit(X).n_clusters_ == 4
    pipe = make_pipeline(StandardScaler(), watched(3))
    assert BoostCluster(clusterer=pipe, random_state=0).fit(X, clues=clues).n_clusters_ == 3
    assert all(seed is not None for _, seed in watched.views)
    with pytest.raises(ValueError, match="DBSCAN has neither n_clusters nor n_components"):
        BoostCluster(2, clusterer=DBSCAN()).fit(X)
    with pytest.raises(TypeError, match="has no fit_predict"):
        BoostCluster(2, clusterer=StandardScaler()).fit(X)


def test_noise_stays_noise():
    X, _y, clues = problem(7, n=60, pairs=100)
    model = BoostCluster(clusterer=DBSCAN(eps=4.0, min_samples=4), random_state=0).fit(X, clues=clues)
    assert (model.partitions_ == -1).any()
    assert model.n_clusters_ == len(set(model.labels_) - {-1})


class Named(ClusterMixin, BaseEstimator):
    """K-means whose clusters have other names."""

    def __init__(self, names, random_state=None):
        self.names, self.random_state = names, random_state

    def fit_predict(self, X, y=None):
        names = np.array(self.names)
        return names[KMeans(len(names), n_init=2, random_state=self.random_state).fit_predict(X)]


@pytest.mark.parametrize("names", [[8, 3, 40], [10**12, -7, 5], ["b", "a", "c"], [2.5, -2.0, 9.0]])
def test_labels_are_numbered_whatever_the_clusterer_calls_them(names):
    X, _, clues = problem(3)
    model = BoostCluster(clusterer=Named(names), n_components=3, random_state=0).fit(X, clues=clues)
    plain = BoostCluster(clusterer=Named([0, 1, 2]), n_components=3, random_state=0).fit(X, clues=clues)
    assert set(model.labels_) == {0, 1, 2}
    assert set(model.partitions_.ravel()) == {0, 1, 2}
    assert same_partition(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.trace_, plain.trace_)


def test_noise_among_other_names():
    X, _, clues = problem(3)
    model = BoostCluster(clusterer=Named([8, -1, 3]), random_state=0).fit(X, clues=clues)
    assert set(model.partitions_.ravel()) <= {-1, 0, 1}


def test_labels_that_are_none():
    X, _, clues = problem(3)
    with pytest.raises(ValueError, match=r"Named returned nan as the label of row \d+"):
        BoostCluster(clusterer=Named([0, np.nan]), random_state=0).fit(X, clues=clues)

    class Short(Named):
        def fit_predict(self, X, y=None):
            return super().fit_predict(X)[1:]

    with pytest.raises(ValueError, match=r"Short returned labels of shape \(29,\) for 30 rows"):
        BoostCluster(clusterer=Short([0, 1]), random_state=0).fit(X, clues=clues)


def test_a_clusterer_that_refuses_the_votes():
    """All rows of a partition vote alike, so that mean shift estimates a bandwidth of nothing."""
    X, _, clues = problem(5, n=60, pairs=100)
    model = BoostCluster(clusterer=MeanShift(), random_state=0).fit(X, clues=clues)
    assert len(model.partitions_)
    with pytest.raises(ValueError, match="bandwidth"):
        BoostCluster(clusterer=MeanShift(), final="votes", random_state=0).fit(X, clues=clues)


def test_a_number_of_clusters_that_is_a_clusterer():
    X, y, clues = problem(6, n=60, pairs=100)
    model = BoostCluster(clusterer=Birch(n_clusters=AgglomerativeClustering(3)), random_state=0).fit(X, clues=clues)
    assert model.n_clusters_ == 3
    assert ari(y, model.labels_) > 0.3


def test_search_over_parameters_of_the_clusterer():
    X, _, clues = problem(8, n=60, pairs=150)
    search = GridSearchCV(
        BoostCluster(3, clusterer=AgglomerativeClustering(), random_state=0),
        {"clusterer__linkage": ["ward", "average", "single"]},
        scoring=lambda model, X, y=None: -model.objective_,
        cv=2,
    )
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, clues=clues)
    assert search.best_params_["clusterer__linkage"] in {"ward", "average", "single"}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


class Hook:
    def __init__(self, act):
        self.act = act

    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        return self.act(context)


def test_callbacks_stop_after_a_round():
    X, _, clues = problem(9)
    model = BoostCluster(3, random_state=0).set_callbacks(Hook(lambda context: context.task_name == "iteration"))
    assert model.fit(X, clues=clues).n_iter_ == 1
    assert len(model.partitions_) == 1


def test_interrupt_leaves_the_last_round():
    def interrupt(context):
        if context.task_name == "iteration" and context.task_id == 1:
            raise KeyboardInterrupt

    X, _, clues = problem(9)
    model = BoostCluster(3, random_state=0).set_callbacks(Hook(interrupt))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=clues)
    assert model.n_iter_ == len(model.trace_) == 2
    np.testing.assert_array_equal(model.labels_, model.partitions_[-1])
    assert not hasattr(model, "broken_")


def test_interrupt_before_the_first_round_leaves_nothing(watched, monkeypatch):
    def interrupt(self, X, y=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(watched, "fit", interrupt)
    X, _, clues = problem(9)
    model = BoostCluster(3, clusterer=watched(), random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=clues)
    assert not hasattr(model, "labels_")
