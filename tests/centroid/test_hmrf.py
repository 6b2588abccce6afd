"""HMRFKMeans: worked examples with half steps, reductions, brute force, the published profile, degenerate data."""

import itertools
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from cluewise import Clues, PCKMeans
from cluewise.centroid._hmrf import fields
from cluewise.centroid._hmrf.hmrf import HMRFKMeans, step
from cluewise.core import loop
from cluewise.exceptions import ClueError
from strategies import PAIR_KINDS, cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
TOY8 = np.array([[0.0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]])
CLUES_A8 = Clues(8, must=[(3, 7)], cannot=[(0, 2)])
EUCLIDEAN = [(None, False), ("diagonal", False), ("full", False), ("diagonal", True), ("full", True)]
ALL = [("sqeuclidean", *kind) for kind in EUCLIDEAN]
ALL += [(name, kind, False) for name in ("cosine", "generalized_i") for kind in (None, "diagonal")]


class Recorder(HMRFKMeans):
    """Keeps the states of the first iterations."""

    def _solve(self, problem):
        def run(move, state, limits, slack):
            self.states, trace = [state], []
            for _ in range(limits.max_iter):
                state, info = move(state)
                self.states.append(state)
                trace.append(info.objective)
            return loop.Result(state, trace, False)

        with patch.object(loop, "run", run):
            return super()._solve(problem)


def matrices(weights, k):
    """(k, d, d) matrices from the weights of a metric, (g, d) or (g, d, d)."""
    weights = np.asarray(weights, dtype=float)
    full = weights if weights.ndim == 3 else weights[..., None] * np.eye(weights.shape[-1])
    return np.broadcast_to(full, (k, *full.shape[1:]))


def mahalanobis(X, labels, centers, A, clues, R, weight=1.0):
    """The objective of section 7.2, pair by pair; A and R are (k, d, d)."""
    total = 0.0
    for i, h in enumerate(labels):
        off = X[i] - centers[h]
        total += off @ A[h] @ off - np.linalg.slogdet(A[h])[1]
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    for (i, j), w in zip(must, must_weight):
        if labels[i] != labels[j]:
            off = X[i] - X[j]
            total += weight * w * 0.5 * (off @ A[labels[i]] @ off + off @ A[labels[j]] @ off)
    for (i, j), v in zip(cannot, cannot_weight):
        if labels[i] == labels[j]:
            off, h = X[i] - X[j], labels[i]
            total += weight * v * ((A[h] * R[h]).sum() - off @ A[h] @ off)
    return total


def states_of(X, clues, iterations=1, **params):
    model = Recorder(prior_rows=0.0, max_iter=iterations, **params)
    return model.fit(X, clues=clues).states


HALF_STEPS = {
    "diagonal": (np.diag([25.0, 25.0]), [63.78, 45.81, 34.072667, 23.718723]),
    "full": (40.68 * np.eye(2), [95.14, 45.81, 34.072667, 13.084766]),
}
METRICS = {
    "diagonal": [np.diag([2.054795, 1.553063]), np.diag([0.311565, 0.341693])],
    "full": [[[2.379063, -0.763599], [-0.763599, 1.798153]], [[2.393428, -2.337653], [-2.337653, 2.624871]]],
}


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_worked_example_with_half_steps(kind):
    """[mpck_one_iter_diag], [mpck_one_iter_full]: J after start, E, M1 and M2."""
    reference, expected = HALF_STEPS[kind]
    params = {"n_clusters": 2, "metric": kind, "per_cluster": True, "penalty": 1.0, "init": A8[[0, 4]]}
    before, after = states_of(A8, CLUES_A8, **params)
    R, shift = np.broadcast_to(reference, (2, 2, 2)), after.rules.distortion.rows.shift
    start, end = matrices([[1, 1]], 2), matrices(after.metric.weights, 2)
    old, new = before.centers + shift, after.centers + shift
    found = [
        mahalanobis(A8, before.labels, old, start, CLUES_A8, R),
        mahalanobis(A8, after.labels, old, start, CLUES_A8, R),
        mahalanobis(A8, after.labels, new, start, CLUES_A8, R),
        mahalanobis(A8, after.labels, new, end, CLUES_A8, R),
    ]
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert before.labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert after.labels.tolist() == [1, 0, 0, 0, 1, 1, 1, 1]
    np.testing.assert_allclose(new, [[0.9, 0.833333], [3.12, 3.18]], atol=2e-6)
    np.testing.assert_allclose(end, METRICS[kind], atol=2e-6)
    model = HMRFKMeans(prior_rows=0, max_iter=1, **params).fit(A8, clues=CLUES_A8)
    assert model.objective_ == pytest.approx(expected[-1], abs=2e-6)
    assert model.trace_.tolist() == pytest.approx(expected[-1:], abs=2e-6)


def test_worked_example_with_a_single_metric():
    """[mpck_single_diag]."""
    _, after = states_of(A8, CLUES_A8, n_clusters=2, metric="diagonal", penalty=1.0, init=A8[[0, 4]])
    np.testing.assert_allclose(after.metric.weights[0], [0.456934, 0.482956], atol=2e-6)


SEED_EXAMPLES = [
    ("full", False, [[0.2629482072, -1.219123506], [-1.219123506, 10.015936255]], 14.899939672),
    ("diagonal", False, [0.1145584726, 4.3636363636], 21.5469133672),
    ("diagonal", True, [[1.125, 4.5], [0.045, 4.5], [4.0, 4.0]], 10.3802874355),
]


def toy_state(kind, per_cluster):
    """The state of the seed paper's example: given labels, A = I, the farthest pair as reference."""
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2], dtype=np.int32)
    means = np.array([TOY8[labels == h].mean(axis=0) for h in range(3)])
    clues = Clues(8, must=[(2, 3)], cannot=[(4, 5)])
    model = Recorder(3, metric=kind, per_cluster=per_cluster, profile="published", init=means, max_iter=1)
    state = model.fit(TOY8, clues=clues).states[0]
    return state._replace(labels=labels), labels, clues, means


@pytest.mark.parametrize(("kind", "per_cluster", "metric", "value"), SEED_EXAMPLES)
def test_worked_example_of_the_seed_paper(kind, per_cluster, metric, value):
    """The metric for given labels, measured against the farthest pair (0, 7), as published."""
    state, labels, clues, means = toy_state(kind, per_cluster)
    given, k = state.rules.distortion, 3
    reference = given.far_reference(state.metric)
    off = TOY8[0] - TOY8[7]
    far = np.outer(off, off)
    np.testing.assert_allclose(matrices(reference, k), [far if kind == "full" else np.diag(off**2)] * k)
    R = np.broadcast_to(far, (k, 2, 2))
    assert mahalanobis(TOY8, labels, means, matrices([[1, 1]], k), clues, R) == pytest.approx(71.6666666667)
    every = fields.gather(given, state.metric, labels, np.arange(8), k)
    broken = state.rules.field.broken(labels, k)
    settled = given.settle(labels, every, state.centers, state.metric, broken, reference)
    found = settled.metric.weights if per_cluster else settled.metric.weights[0]
    np.testing.assert_allclose(found, metric, atol=1e-9)
    assert settled.value == pytest.approx(value, abs=1e-9)
    if (kind, per_cluster) == ("diagonal", False):
        # What points 3 and 4 cost in each cluster in that metric, everybody else staying.
        A, target = [found], {3: [1.992851, 1.687361, 4.562316], 4: [4.172933, 9.977229, 3.187615]}
        for i, costs in target.items():
            tries = []
            for h in range(3):
                other = labels.copy()
                other[i] = h
                tries.append(mahalanobis(TOY8, other, means, matrices(A, 3), clues, R))
            differences = np.array(costs) - costs[labels[i]]
            np.testing.assert_allclose(np.array(tries) - tries[labels[i]], differences, atol=3e-6)


def drawn(seed, distortion="sqeuclidean", n=8, k=3, d=2, links=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 2 * rng.integers(2, size=(n, 1))
    if distortion == "generalized_i":
        X = np.abs(X)
    ends = np.array([rng.choice(n, 2, replace=False) for _ in range(links)])
    kind = rng.random(links) < 0.5
    weights = rng.uniform(0.5, 2, size=links)
    clues = Clues(n, must=ends[kind], cannot=ends[~kind], must_weight=weights[kind], cannot_weight=weights[~kind])
    return X, clues, X[rng.choice(n, k, replace=False)]


def value_of(state, **changes):
    """The objective by code of its own: row by row and link by link."""
    state = state._replace(**changes)
    given, metric = state.rules.distortion, state.metric
    value = fields.total_cost(given, state.centers, metric, state.labels)
    value += state.rules.field.cost(given, metric, state.reference, state.labels)
    return value + given.prior_cost(metric, state.centers)


@pytest.mark.parametrize("link_cost", ["distance", "constant"])
@pytest.mark.parametrize(("distortion", "metric", "per_cluster"), ALL)
def test_a_sweep_is_what_brute_force_gives(distortion, metric, per_cluster, link_cost):
    """Row after row, all clusters are tried and the whole objective is computed anew for each."""
    for seed in range(12):
        X, clues, start = drawn(seed, distortion)
        model = Recorder(
            3,
            distortion=distortion,
            metric=metric,
            per_cluster=per_cluster,
            link_cost=link_cost,
            penalty=0.3,
            init=start,
            max_iter=2,
        )
        _, first, second = model.fit(X, clues=clues).states
        labels = first.labels.copy()
        tied = set(first.rules.field.rows.tolist())
        for i in [i for i in range(8) if i not in tied] + sorted(tied):
            values = []
            for h in range(3):
                labels[i] = h
                values.append(value_of(first, labels=labels))
            best = int(np.argmin(values))
            labels[i] = best if values[best] < values[first.labels[i]] - 1e-9 or i not in tied else first.labels[i]
        if len(np.unique(labels)) == 3:  # what becomes of an empty cluster is a story of its own
            np.testing.assert_array_equal(second.labels, labels)


@pytest.mark.parametrize(("metric", "per_cluster"), EUCLIDEAN)
@given(case=cases(PAIR_KINDS, noise=0.3, max_rows=20, max_columns=4))
@settings(max_examples=15)
def test_the_objective_is_the_formula(metric, per_cluster, case):
    """E21 to E23: each pair once, one normalizer per row, the right indices."""
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)]
    params = {"metric": metric, "per_cluster": per_cluster, "penalty": 0.7, "prior_rows": 0.0, "init": start}
    model = HMRFKMeans(case.k, max_iter=2, **params).fit(case.X, clues=case.clues)
    d = case.X.shape[1]
    if metric == "diagonal":
        R = np.diag((case.X.max(axis=0) - case.X.min(axis=0)) ** 2)
    else:
        squared = ((case.X[:, None] - case.X) ** 2).sum(axis=2).max()
        R = squared * np.eye(d) / (1 if metric == "full" else d)
    A = getattr(model, "metric_", np.ones(d))
    A = A if metric == "full" else A[..., None] * np.eye(d)
    A, R = (np.broadcast_to(part, (case.k, d, d)) for part in (A, R))
    expected = mahalanobis(case.X, model.labels_, model.cluster_centers_, A, case.clues, R, 0.7)
    assert model.objective_ == pytest.approx(expected, rel=1e-7, abs=1e-7)
    assert model.trace_[-1] == pytest.approx(expected, rel=1e-7, abs=1e-7)


@given(cases(PAIR_KINDS, noise=0.3), st.sampled_from([0.2, 2.0, 30.0]))
@settings(max_examples=30)
def test_constant_costs_of_twice_the_weight_without_a_metric_are_pckmeans(case, penalty):
    """J has whole squared distances where PCK-Means has half of them."""
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)]
    order = case.rng.permutation(len(case.X))
    more = {"init": start, "order": order, "tol": 0}
    ours = HMRFKMeans(case.k, metric=None, link_cost="constant", penalty=2 * penalty, **more)
    theirs = PCKMeans(case.k, penalty=penalty, **more)
    ours.fit(case.X, clues=case.clues)
    theirs.fit(case.X, clues=case.clues)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    np.testing.assert_allclose(ours.trace_, 2 * theirs.trace_, rtol=1e-9, atol=1e-9)


def test_the_automatic_price_of_constant_costs_is_twice_that_of_pckmeans():
    X, y = load_iris(return_X_y=True)
    clues = Clues.sample(y, pairs=40, random_state=0)
    ours = HMRFKMeans(3, metric=None, link_cost="constant", random_state=0).fit(X, clues=clues)
    theirs = PCKMeans(3, random_state=0).fit(X, clues=clues)
    np.testing.assert_allclose(ours.penalty_, 2 * theirs.penalty_)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)


@given(cases(frozenset()))
@settings(max_examples=15)
def test_without_clues_and_metric_it_is_kmeans(case):
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)]
    plain = KMeans(case.k, init=start, n_init=1, tol=0, algorithm="lloyd").fit(case.X)
    model = HMRFKMeans(case.k, metric=None, init=start, tol=0).fit(case.X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.objective_ == pytest.approx(plain.inertia_)
    np.testing.assert_allclose(model.transform(case.X), plain.transform(case.X), atol=1e-6)


@pytest.mark.parametrize(("metric", "per_cluster"), [(None, False), ("diagonal", False), ("diagonal", True)])
def test_best_of_many_starts_is_the_optimum(metric, per_cluster):
    """All 2⁸ labellings, each with its best centers and metric."""
    params = {"metric": metric, "per_cluster": per_cluster, "penalty": 0.2}
    model = Recorder(2, max_iter=1, init=A8[[0, 4]], **params).fit(A8, clues=CLUES_A8)
    rules = model.states[0].rules
    given, first = rules.distortion, rules.distortion.first_metric()
    best = np.inf
    for labels in itertools.product(range(2), repeat=8):
        labels = np.array(labels, dtype=np.int32)
        every = fields.gather(given, first, labels, np.arange(8), 2)
        if (every.tally.mass > 0).all():
            broken = rules.field.broken(labels, 2)
            best = min(best, given.settle(labels, every, np.zeros((2, 2)), first, broken, given.reference).value)
    values = [
        HMRFKMeans(2, init="random", order="random", n_init=1, random_state=s, **params)
        .fit(A8, clues=CLUES_A8)
        .objective_
        for s in range(40)
    ]
    assert min(values) == pytest.approx(best)
    assert all(v >= best - 1e-9 for v in values)


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_the_published_reference_breaks_the_descent_and_ours_does_not(kind):
    """F3 of the specification: the farthest pair changes with the metric."""
    rises = {"published": 0, "library": 0}
    for seed in range(150):
        X, clues, start = drawn(seed, n=15, links=12)
        for profile in rises:
            params = {"profile": profile, "penalty": 1.0, "prior_rows": 0.0, "per_cluster": True, "init": start}
            trace = HMRFKMeans(3, metric=kind, tol=0, max_iter=10, **params).fit(X, clues=clues).trace_
            rises[profile] += bool((np.diff(trace) > 1e-9).any())
    assert rises["published"] > 0
    assert rises["library"] == 0


def test_the_published_profile_starts_near_the_mean_and_takes_weights_as_they_are():
    X, y = load_iris(return_X_y=True)
    model = HMRFKMeans(3, profile="published", random_state=0, n_init=2).fit(
        X, clues=Clues.sample(y, pairs=60, random_state=0)
    )
    assert model.penalty_.tolist() == [1, 1]
    clues = Clues(150, must=[(0, 1)])
    starts = [
        Recorder(3, profile="published", random_state=s, n_init=1, max_iter=1).fit(X, clues=clues) for s in (0, 1)
    ]
    for start in starts:
        centers = start.states[0].centers + start.states[0].rules.distortion.rows.shift
        np.testing.assert_allclose(centers[0], X[:2].mean(axis=0))
        assert (np.abs(centers[1:] - X.mean(axis=0)) <= 0.36 * X.std(axis=0)).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"distortion": "cosine", "metric": "full"},
            "distortion='cosine' requires metric=None or one metric='",
        ),
        (
            {"distortion": "generalized_i", "per_cluster": True},
            "distortion='generalized_i' requires metric=None",
        ),
        ({"distortion": "cosine", "profile": "published"}, "profile='published' requires"),
        ({"link_cost": "constant", "use_clues": "metric"}, "require link_cost='distance'"),
    ],
)
def test_what_does_not_exist_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        HMRFKMeans(2, **params).fit(A8, clues=CLUES_A8)


def test_too_many_pairs_are_refused_unless_they_cost_the_same():
    labels = np.arange(6000) % 2
    X = np.random.default_rng(0).normal(size=(6000, 2)) + 9 * labels[:, None]
    with pytest.raises(ClueError, match="more than limit=10000000"):
        HMRFKMeans(2).fit(X, clues=labels)
    model = HMRFKMeans(2, link_cost="constant", random_state=0).fit(X, clues=labels)
    assert not model.broken_.kinds


@pytest.mark.parametrize(("metric", "per_cluster"), EUCLIDEAN)
def test_constant_columns_and_more_columns_than_rows(metric, per_cluster):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 6)
    X = np.hstack([rng.normal(size=(12, 20)) + 6 * y[:, None], np.full((12, 3), 7.0)])
    clues = Clues.sample(y, pairs=10, random_state=0)
    model = HMRFKMeans(2, metric=metric, per_cluster=per_cluster, random_state=0).fit(X, clues=clues)
    assert not model.broken_.kinds
    assert np.isfinite(model.objective_)
    assert np.isfinite(getattr(model, "metric_", 0)).all()
    if metric == "full":
        assert (np.linalg.eigvalsh(model.metric_) > 0).all()
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize(("metric", "per_cluster"), EUCLIDEAN)
def test_clusters_of_one_row(metric, per_cluster):
    X = np.array([[0.0, 0], [0.1, 0], [5, 5], [90, -40]])
    params = {"metric": metric, "per_cluster": per_cluster, "prior_rows": 0.0, "init": X[[0, 2, 3]]}
    model = HMRFKMeans(3, **params).fit(X, clues=Clues(4, cannot=[(2, 3)]))
    assert model.labels_.tolist() == [0, 0, 1, 2]
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_imaginary_rows_have_the_spread_of_all_rows(metric):
    """A cluster of one row with one imaginary row: a scatter of one covariance, shared by two; without rows, one."""
    X = np.array([[0.0, 0], [0.1, 0], [5, 5], [9, -4], [7, 2]])
    model = Recorder(4, metric=metric, per_cluster=True, max_iter=1, init=X[[0, 2, 3, 4]]).fit(X)
    state = model.states[0]
    labels = np.array([0, 0, 1, 2, 2], dtype=np.int32)
    given = state.rules.distortion
    every = fields.gather(given, state.metric, labels, np.arange(5), 4)
    broken = state.rules.field.broken(labels, 4)
    settled = given.settle(labels, every, state.centers, state.metric, broken, given.reference)
    spread = np.cov(X.T, bias=True)
    target = np.linalg.inv(spread) if metric == "full" else 1 / np.diag(spread)
    np.testing.assert_allclose(settled.metric.weights[1], 2 * target, rtol=1e-4)
    np.testing.assert_allclose(settled.metric.weights[3], target, rtol=1e-4)
    assert settled.value == pytest.approx(
        value_of(state, labels=labels, centers=settled.centers, metric=settled.metric)
    )


@pytest.mark.parametrize(("distortion", "metric", "per_cluster"), ALL)
def test_an_empty_cluster_takes_the_worst_free_row(distortion, metric, per_cluster):
    X = np.array([[1.0, 1], [1, 1.1], [1.1, 1], [1, 9], [1.1, 9], [9, 1]])
    clues = Clues(6, must=[(0, 1)])
    far = [[1.0, 1.0], [1.0, 9.0], [1.0, 1.0]]  # the third is no row's nearest
    model = HMRFKMeans(3, distortion=distortion, metric=metric, per_cluster=per_cluster, init=far).fit(X, clues=clues)
    assert model.n_clusters_ == 3
    assert model.labels_[5] not in model.labels_[:5]


@pytest.mark.parametrize(("distortion", "metric", "per_cluster"), ALL)
@pytest.mark.filterwarnings("ignore:only 1 of 2 clusters")
def test_equal_rows(distortion, metric, per_cluster):
    clues = Clues(5, must=[(0, 1)])
    model = HMRFKMeans(2, distortion=distortion, metric=metric, per_cluster=per_cluster).fit(
        np.ones((5, 3)), clues=clues
    )
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.cluster_centers_).all()


@pytest.mark.parametrize(("distortion", "metric", "per_cluster"), ALL)
def test_one_cluster(distortion, metric, per_cluster):
    """Nobody has a choice; all rows share the first center."""
    X = np.abs(A8)
    model = HMRFKMeans(1, distortion=distortion, metric=metric, per_cluster=per_cluster).fit(X, clues=CLUES_A8)
    assert not model.labels_.any()
    assert np.isinf(model.margin_).all()
    assert model.broken_ == Clues(8, cannot=[(0, 2)])


def test_negative_counts_are_refused_with_row_and_column():
    X = np.abs(A8)
    X[5, 1] = -2.5
    for rows in (X, csr_array(X)):
        with pytest.raises(ValueError, match=r"requires non-negative numbers, but X holds -2.5 in row 5, column 1\."):
            HMRFKMeans(2, distortion="generalized_i").fit(rows)
    model = HMRFKMeans(2, distortion="generalized_i").fit(np.abs(A8))
    with pytest.raises(ValueError, match="row 5, column 1"):
        model.predict(X)
    with pytest.raises(ValueError, match="init holds a negative one"):
        HMRFKMeans(2, distortion="generalized_i", init=-A8[:2]).fit(np.abs(A8))


@pytest.mark.parametrize(("distortion", "metric", "per_cluster"), ALL)
def test_sparse_rows_give_what_dense_rows_give(distortion, metric, per_cluster):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.poisson(0.4 + 3 * np.eye(3, 12)[y]).astype(float)
    X[0, 0] += 1
    clues = Clues.sample(y, pairs=40, noise=0.1, random_state=0)
    params = {"distortion": distortion, "metric": metric, "per_cluster": per_cluster, "init": X[[0, 1, 2]]}
    dense = HMRFKMeans(3, **params).fit(X, clues=clues)
    sparse = HMRFKMeans(3, **params).fit(csr_array(X), clues=clues)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    np.testing.assert_allclose(sparse.trace_, dense.trace_)
    np.testing.assert_allclose(sparse.transform(csr_array(X)), dense.transform(X), atol=1e-9)
    np.testing.assert_allclose(sparse.margin_, dense.margin_, atol=1e-9)
    assert sparse.objective_ == pytest.approx(dense.objective_)


def test_links_tell_which_column_matters():
    """The second column is wide and says nothing; k-means follows it, links across it make it count less."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = np.column_stack([2.5 * y + 0.5 * rng.normal(size=120), 4 * rng.normal(size=120)])
    clues = Clues.sample(y, pairs=60, random_state=0)
    model = HMRFKMeans(2, random_state=0).fit(X, clues=clues)
    assert len(set(zip(model.labels_.tolist(), y.tolist()))) == 2
    assert model.metric_[0] > 20 * model.metric_[1]
    plain = KMeans(2, n_init=5, random_state=0).fit(X)
    assert len(set(zip(plain.labels_.tolist(), y.tolist()))) == 4


def test_a_step_leaves_its_state_alone():
    (state, *_) = states_of(A8, CLUES_A8, n_clusters=2, penalty=1.0, init=A8[[0, 4]])
    kept = state.labels.copy(), state.centers.copy(), state.metric.weights.copy()
    step(state)
    for old, now in zip(kept, (state.labels, state.centers, state.metric.weights)):
        np.testing.assert_array_equal(old, now)


@pytest.mark.parametrize(
    ("distortion", "value"),
    [("sqeuclidean", -194.285480170), ("cosine", 0.606697124203), ("generalized_i", -503.556065190)],
)
def test_golden(distortion, value):
    X, y = load_iris(return_X_y=True)
    clues = Clues.sample(y, pairs=100, noise=0.1, random_state=0)
    model = HMRFKMeans(3, distortion=distortion, random_state=0).fit(X, clues=clues)
    assert model.objective_ == pytest.approx(value, abs=1e-6)
