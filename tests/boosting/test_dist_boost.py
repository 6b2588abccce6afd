"""DistBoost: the round worked by hand, weights against a table of rows by rows, promises, and what it is good for."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.exceptions import SkipTestWarning
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from cluewise import Clues
from cluewise.boosting import _dist_boost
from cluewise.boosting import _rounds as boosting
from cluewise.boosting._dist_boost import DistBoost
from cluewise.checks._examples import blobs, sample_clues
from cluewise.core.views import build_pair_graph
from cluewise.datasets import load
from cluewise.exceptions import ClueError, Contradiction
from cluewise.metrics import ari
from cluewise.mixture import EquivalenceGMM

POSTERIORS = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.05, 0.95]])
MUST, CANNOT = [(0, 1), (2, 3), (1, 2)], [(0, 3)]


def table(pairs, weights):
    """W as a table of rows by rows."""
    W = np.full((pairs.n, pairs.n), weights.other)
    ends = pairs.rows[pairs.ends]
    W[ends[:, 0], ends[:, 1]] = W[ends[:, 1], ends[:, 0]] = 0
    for (i, j), weight in zip(ends, weights.linked, strict=True):
        W[i, j] += weight
        W[j, i] += weight
    return W


def problem(seed=0, n=60, pairs=60):
    rng = np.random.default_rng(seed)
    X, y = blobs(n, 3, 3, rng)
    return X, y, Clues.sample(y, pairs=pairs, random_state=seed)


# ---- one round ----------------------------------------------------------------------------------------------------


def test_worked_round():
    """The example [distboost_round], with the label of a pair in the edge (erratum E26)."""
    links = build_pair_graph(Clues(4, must=MUST, cannot=CANNOT))
    pairs = boosting.sign_pairs(links, 4)
    weights = boosting.begin(pairs, np.ones(4))
    np.testing.assert_allclose(table(pairs, weights), 1 / 16)
    labels, strengths = boosting.strength(POSTERIORS)
    everybody = boosting.weak_similarity((labels[:, None], strengths[:, None]), (labels, strengths))
    np.testing.assert_allclose(
        everybody,
        [
            [0.81, 0.72, -0.63, -0.855],
            [0.72, 0.64, -0.56, -0.76],
            [-0.63, -0.56, 0.49, 0.665],
            [-0.855, -0.76, 0.665, 0.9025],
        ],
        atol=1e-12,
    )
    found = everybody[tuple(pairs.rows[pairs.ends].T)]
    edge = boosting.edge(pairs, weights, found)
    assert edge == pytest.approx(0.21, abs=2e-6)
    alpha = np.arctanh(edge)
    assert alpha == pytest.approx(0.213171, abs=2e-6)
    new = boosting.reweight(pairs, weights, found, alpha, 10.0)
    wanted = [
        [0.014258, 0.103084, 0.014258, 0.10016],
        [0.103084, 0.014258, 0.135424, 0.014258],
        [0.014258, 0.135424, 0.014258, 0.1043],
        [0.10016, 0.014258, 0.1043, 0.014258],
    ]
    np.testing.assert_allclose(table(pairs, new), wanted, atol=2e-6)
    np.testing.assert_allclose(boosting.row_weights(pairs, new) / 4, [0.23176, 0.267024, 0.26824, 0.232976], atol=2e-6)
    np.testing.assert_allclose((1 - everybody)[0] / 2, [0.095, 0.14, 0.815, 0.9275], atol=2e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_weights_are_those_of_all_pairs(seed):
    """Sums, rows, edge and loss against a table; a pair may be told both ways."""
    rng = np.random.default_rng(seed)
    n = 7
    every = rng.permutation([(i, j) for i in range(n) for j in range(i)])
    clues = Clues(n, must=every[:4], cannot=every[3:7], must_weight=rng.uniform(0.1, 3, 4))
    links = build_pair_graph(clues)
    pairs = boosting.sign_pairs(links, n)
    first = np.concatenate([links.must[links.must > 0], links.cannot[links.cannot > 0]])
    weights, votes = boosting.begin(pairs, first), np.zeros(8)
    loss = first.sum()
    for _ in range(4):
        W = table(pairs, weights)
        assert W.sum() == pytest.approx(1)
        np.testing.assert_allclose(boosting.row_weights(pairs, weights), n * W.sum(axis=1))
        labels, strengths = rng.integers(2, size=n), rng.uniform(0.5, 1, size=n)
        i, j = pairs.rows[pairs.ends].T
        found = boosting.weak_similarity((labels[i], strengths[i]), (labels[j], strengths[j]))
        edge = boosting.edge(pairs, weights, found)
        assert abs(edge) <= 1
        if edge <= 0:
            continue
        alpha = np.arctanh(min(edge, boosting.CLIP))
        new = boosting.reweight(pairs, weights, found, alpha, 10.0)
        right = pairs.sign * found > 0
        if right.any() and not right.all():  # wrong pairs gain on right ones
            gain = new.linked / weights.linked
            assert gain[~right].min() > gain[right].max()
        votes, weights = votes + alpha * found, new
        lower = first @ np.exp(-pairs.sign * votes)
        assert lower <= loss + 1e-12
        loss = lower


# ---- whole fits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("links", ["must", "all"])
def test_fit_is_the_algorithm_with_a_table_of_all_pairs(links):
    X, _, clues = problem(pairs=80)
    n = len(X)
    model = DistBoost(3, n_rounds=6, links=links, random_state=0).fit(X, clues=clues)
    W, y = np.full((n, n), 1 / n**2), np.zeros((n, n))
    for ends, sign in ((clues.must, 1), (clues.cannot, -1)):
        y[ends[:, 0], ends[:, 1]] = y[ends[:, 1], ends[:, 0]] = sign
    votes = np.zeros((n, n))
    for t, mixture in enumerate(model.mixtures_):
        again = EquivalenceGMM(**mixture.get_params())
        again.fit(X, clues=clues if links == "all" else clues.only(["must"]), sample_weight=n * W.sum(axis=1))
        posterior = again.predict_proba(X)
        label, strength = posterior.argmax(axis=1), posterior.max(axis=1)
        h = np.where(label[:, None] == label, 1, -1) * np.outer(strength, strength)
        r = (W * y * h).sum()
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        assert model.weights_[t] == pytest.approx(alpha, rel=1e-6)
        votes += alpha * h
        assert model.trace_[t] == pytest.approx(np.exp(-y * votes)[y != 0].mean(), rel=1e-6)
        W *= np.where(y == 0, np.exp(-10 * alpha), np.exp(-alpha * y * h))
        W /= W.sum()
    np.testing.assert_allclose(model.transform(X), (1 - votes / model.weights_.sum()) / 2, atol=1e-8)
    ends = np.vstack([clues.must, clues.cannot])
    np.testing.assert_allclose(np.sort(model.pair_weights_), np.sort(W[ends[:, 0], ends[:, 1]]), rtol=1e-6)


@pytest.mark.parametrize("links", ["must", "all"])
def test_promises(links):
    X, y, clues = problem(1)
    model = DistBoost(3, links=links, random_state=0).fit(X[:50], clues=clues[:50])
    assert (np.diff(model.trace_) <= 1e-12).all()
    assert model.trace_[0] < 1
    assert model.objective_ == model.trace_[-1]
    assert len(model.trace_) == model.n_iter_ <= 20
    assert (model.weights_ > 0).all()
    D = model.transform(X)  # ten rows are new
    assert D.shape == (60, 50)
    assert D.min() >= -1e-12
    assert D.max() <= 1 + 1e-12
    np.testing.assert_allclose(D[:50], D[:50].T, atol=1e-12)
    i, j = np.random.default_rng(0).integers([60, 50], size=(30, 2)).T
    f = model.similarity(X[i], X[j])
    np.testing.assert_allclose(f, model.similarity(X[j], X[i]), atol=1e-12)
    np.testing.assert_allclose(model.pair_distance(X[i], X[j]), D[i, j], atol=1e-12)
    np.testing.assert_allclose(1 - 2 * D[i, j], f, atol=1e-12)
    same = y[:, None] == y[:50]
    assert D[same].mean() < D[~same].mean() - 0.3
    assert model.get_feature_names_out().shape == (50,)


def test_average_linkage_gains():
    """On iris Euclidean average linkage joins two of the species."""
    iris = load("iris", standardize=True)
    linkage = AgglomerativeClustering(3, metric="precomputed", linkage="average")
    plain = ari(iris.y, linkage.fit_predict(pairwise_distances(iris.X)))
    assert plain == pytest.approx(0.562, abs=1e-3)
    found = []
    for seed in range(3):
        clues = Clues.sample(iris.y, pairs=100, random_state=seed)
        model = DistBoost(3, random_state=seed).then(linkage).fit(iris.X, clues=clues)
        found.append(ari(iris.y, model.labels_))
    assert np.mean(found) > 0.85


@pytest.mark.parametrize("kind", ["must", "cannot", "labels", "together", "apart"])
def test_clues_of_one_kind(kind):
    X, y, _ = problem()
    clues = sample_clues(y, [kind], np.random.default_rng(0))
    model = DistBoost(3, n_rounds=4, random_state=0).fit(X, clues=clues)
    assert np.isfinite(model.transform(X)).all()
    assert model.objective_ < 1


def test_labels_are_their_pairs():
    X, y, _ = problem()
    labels = np.where(np.arange(60) % 6 == 0, y, -1)
    whole = Clues.from_labels(labels)
    must, _, cannot, _ = whole.pairs(expand=True)
    one, other = (
        DistBoost(3, n_rounds=3, random_state=0).fit(X, clues=told).transform(X)
        for told in (whole, Clues(60, must=must, cannot=cannot))
    )
    np.testing.assert_allclose(one, other)


def test_a_pipeline_takes_the_table():
    X, y, clues = problem(2)
    linkage = AgglomerativeClustering(3, metric="precomputed", linkage="average")
    pipe = make_pipeline(DistBoost(3, random_state=0), linkage).fit(X, distboost__clues=clues)
    assert ari(y, pipe[-1].labels_) > 0.7


@pytest.mark.parametrize("seed", [3, 5, 11])
def test_rounding_makes_no_negative_distance(seed):
    X, _, clues = problem(seed)
    model = DistBoost(3, random_state=seed).fit(X, clues=clues)
    D = model.transform(X)
    assert D.min() == 0
    assert D.max() <= 1
    assert np.abs(model.similarity(X[:-1], X[1:])).max() <= 1
    assert model.pair_distance(X[:-1], X[1:]).min() == 0
    DBSCAN(metric="precomputed").fit(D)


def test_weights_that_differ_are_used_without_a_warning():
    X, _, clues = problem()
    weights = np.linspace(1, 2, len(clues.must))
    told = Clues(60, must=clues.must, cannot=clues.cannot, must_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DistBoost(3, n_rounds=2, random_state=0).fit(X, clues=told)
    assert model.objective_ != DistBoost(3, n_rounds=2, random_state=0).fit(X, clues=clues).objective_


# ---- what goes wrong ----------------------------------------------------------------------------------------------


def test_pairs_are_needed():
    X, _, _ = problem()
    for nothing in (None, np.full(60, -1), Clues(60, labels=[1] + [-1] * 59)):
        with pytest.raises(ClueError, match="the clues about n_samples=60 rows imply none"):
            DistBoost(3).fit(X, clues=nothing)


def test_pairs_need_some_weight():
    X, _, _ = problem()
    with pytest.raises(ClueError, match="the weights of all clues are 0"):
        DistBoost(3).fit(X, clues=Clues(60, must=[(0, 1)], must_weight=[0.0]))


def test_pairs_that_cancel_out():
    X, _, _ = problem()
    with pytest.raises(ClueError, match="gets more of the 2 pairs right than wrong"):
        DistBoost(3, links="must", random_state=0).fit(X, clues=Clues(60, must=[(0, 1)], cannot=[(0, 1)]))


def test_contradictions_are_not_for_mixtures_that_are_told_everything():
    X, _, clues = problem()
    told = clues | Clues(60, must=[(0, 1), (1, 2)], cannot=[(0, 2)])
    assert DistBoost(3, n_rounds=3, links="must", random_state=0).fit(X, clues=told).objective_ < 1
    with pytest.raises(Contradiction):
        DistBoost(3, random_state=0).fit(X, clues=told)


def test_a_large_table_is_refused(monkeypatch):
    X, _, clues = problem()
    model = DistBoost(3, n_rounds=2, random_state=0).fit(X, clues=clues)
    monkeypatch.setattr(_dist_boost, "MEMORY", 8 * 60 * 30)
    assert model.transform(X[:30]).shape == (30, 60)
    with pytest.raises(ValueError, match=r"the distances of 31 rows from 60 take .* GiB"):
        model.transform(X[:31])


def test_pairs_have_two_ends():
    X, _, clues = problem()
    model = DistBoost(3, n_rounds=2, random_state=0).fit(X, clues=clues)
    with pytest.raises(ValueError, match="A has 3 rows and B has 2"):
        model.similarity(X[:3], X[:2])


def test_too_many_clusters():
    with pytest.raises(ValueError, match="n_clusters=4 is larger than the number of rows"):
        DistBoost(4).fit([[0.0], [1.0], [2.0]], clues=[0, 0, 1])


def test_rows_without_variance():
    X = np.ones((6, 2))
    model = DistBoost(2, random_state=0).fit(X, clues=Clues(6, must=[(0, 1)]))
    assert np.ptp(model.transform(X)) == 0


def test_mixture_that_is_no_use_is_drawn_again(monkeypatch):
    """The first two mixtures put all rows into one cluster, which breaks the only link."""
    drawn = []

    class Moody(EquivalenceGMM):
        def predict_proba(self, X):
            drawn.append(self.random_state)
            found = super().predict_proba(X)
            return found if len(drawn) > 2 else np.ones_like(found)

    monkeypatch.setattr(_dist_boost, "EquivalenceGMM", Moody)
    X, y, _ = problem()
    far = [(int(np.flatnonzero(y == 0)[0]), int(np.flatnonzero(y == 1)[0]))]
    model = DistBoost(3, n_rounds=1, random_state=0).fit(X, clues=Clues(60, cannot=far))
    assert len(set(drawn)) == 3
    assert len(model.mixtures_) == 1


class Hook:
    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "iteration" and context.task_id == 1:
            raise KeyboardInterrupt


def test_interrupt_leaves_the_last_round(monkeypatch):
    X, _, clues = problem()
    model = DistBoost(3, random_state=0).set_callbacks(Hook())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=clues)
    assert model.transform(X).shape == (60, 60)
    assert len(model.mixtures_) == 2

    def interrupt(self, X, clues=None, sample_weight=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(_dist_boost.EquivalenceGMM, "fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=clues)
    assert not hasattr(model, "mixtures_")


class Told(DistBoost):
    """Is told of one pair when scikit-learn's checks tell it nothing."""

    def _check_clues(self, clues, n):
        return Clues(n, must=[(0, 1)]) if clues is None and n > 1 else super()._check_clues(clues, n)


def test_scikit_learn_checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # newer versions check array_api, and say that it is off
        check_estimator(Told(1, n_rounds=2, random_state=0))
