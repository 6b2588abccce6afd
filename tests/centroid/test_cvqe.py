"""CVQE: worked examples with their half steps, errata, the published rule in a few lines, a brute-force optimum."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from cluewise import Clues
from cluewise.centroid._cvqe import CVQE, State, half_between, move_jointly, move_one_sided, relabel, settle
from cluewise.centroid._linked import Frame
from cluewise.checks import check_clusterer, laws_for
from cluewise.core.assign import others
from cluewise.core.centers import Tally, scatter, tally
from cluewise.core.rows import Rows, squared_distances
from cluewise.core.views import build_pair_graph
from cluewise.exceptions import ClueError, UnusedClueWarning
from strategies import PAIR_KINDS, cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
CLUES_A8 = Clues(8, must=[(3, 7)], cannot=[(0, 2)])
ML37 = Clues(8, must=[(3, 7)])


def value(X, centers, clues, labels, weight=1.0):
    """The objective, link by link."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    J = 0.5 * (weight * ((X - centers[labels]) ** 2).sum(axis=1)).sum()
    for (a, b), w in zip(must, must_weight):
        J += 0.5 * w * ((centers[labels[a]] - centers[labels[b]]) ** 2).sum()
    for (a, b), v in zip(cannot, cannot_weight):
        if labels[a] == labels[b] and len(centers) > 1:
            J += 0.5 * v * min(((centers[labels[a]] - c) ** 2).sum() for c in np.delete(centers, labels[a], axis=0))
    return J


class Bench:
    """Half steps of the real code."""

    def __init__(self, X, clues, start):
        self.rows, self.links = Rows(X), build_pair_graph(clues)
        order, free = np.arange(len(self.links)), others(self.links.rows, len(X))
        self.frame = Frame(self.rows, self.links, order, free, scatter(self.rows))
        self.X, self.clues = X, clues
        labels = ((X[:, None] - start) ** 2).sum(axis=2).argmin(axis=1).astype(np.int32)
        self.state = self.at(labels, start)

    def at(self, labels, centers):
        centers = centers - self.rows.shift
        squared = squared_distances(self.rows, centers, self.links.rows)
        return State(labels, centers, squared, self.links)

    def assign(self, published):
        centers = self.state.centers + self.rows.shift
        labels = ((self.X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1).astype(np.int32)
        labels[self.links.rows], _ = relabel(self.state, self.frame, published)
        self.state = self.state._replace(labels=labels)
        return self.value()

    def center(self, published):
        labels = self.state.labels
        found = tally(self.rows, labels, len(self.state.centers))
        self.state, J = settle(self.state, self.frame, labels, found, None, published)
        assert pytest.approx(self.value()) == J
        return J

    def value(self):
        return value(self.X, self.state.centers + self.rows.shift, self.clues, self.state.labels)


def test_worked_example_of_the_survey():
    """[cvqe]: labels, centers and objective after each half step; the second update raises the objective."""
    steps = [
        ([0, 0, 1, 0, 1, 1, 1, 0], 21.575, [[1.25, 1.075], [3.325, 3.525]], 15.34625),
        ([0, 0, 0, 0, 1, 1, 1, 0], 13.02125, [[1.404167, 1.4875], [4.4, 4.333333]], 14.342326),
        ([0, 0, 0, 0, 1, 1, 1, 0], 14.342326, [[1.583333, 1.622222], [4.4, 4.333333]], 14.191574),
        ([0, 0, 0, 0, 1, 1, 1, 0], 14.191574, [[1.583333, 1.622222], [4.4, 4.333333]], 14.191574),
    ]
    bench = Bench(A8, CLUES_A8, A8[[0, 4]])
    for labels, assigned, centers, updated in steps:
        assert bench.assign(published=True) == pytest.approx(assigned, abs=2e-6)
        assert bench.state.labels.tolist() == labels
        assert bench.center(published=True) == pytest.approx(updated, abs=2e-6)
        np.testing.assert_allclose(bench.state.centers + bench.rows.shift, centers, atol=2e-6)
    model = CVQE(2, profile="published", init=A8[[0, 4]]).fit(A8, clues=CLUES_A8)
    assert model.labels_.tolist() == labels
    np.testing.assert_allclose(model.trace_, [s[3] for s in steps], atol=2e-6)
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=2e-6)
    assert model.objective_ == pytest.approx(14.191574, abs=2e-6)
    assert model.broken_ == Clues(8, cannot=[(0, 2)])


def test_joint_update_of_the_worked_example():
    """[cvqe_joint_update]: without broken links the centers are means; then the joint variant ends lower."""
    model = CVQE(2, init=A8[[0, 4]], max_iter=1).fit(A8, clues=CLUES_A8)
    assert model.labels_.tolist() == [0, 0, 1, 0, 1, 1, 1, 0]
    np.testing.assert_allclose(model.cluster_centers_, [[1.25, 1.075], [3.325, 3.525]])
    assert model.objective_ == pytest.approx(15.34625)
    model = CVQE(2, init=A8[[0, 4]]).fit(A8, clues=CLUES_A8)
    assert model.objective_ < 14.191574
    assert model.objective_ == pytest.approx(value(A8, model.cluster_centers_, CLUES_A8, model.labels_))
    half = 0.5 * ((A8 - model.cluster_centers_[model.labels_]) ** 2).sum()
    assert model.broken_cost_ == pytest.approx(model.objective_ - half)


def test_one_update_with_a_broken_must_link():
    """[cvqe_update_violated]."""
    labels, old = np.repeat([0, 1], 4).astype(np.int32), np.array([[0.675, 0.675], [3.9, 3.925]])
    bench = Bench(A8, ML37, old)
    expected = {
        True: ([[1.32, 1.325], [3.9, 3.925]], 13.0765),
        False: ([[1.2125, 1.216667], [3.3625, 3.383333]], 11.678958),
    }
    for published, (centers, J) in expected.items():
        bench.state = bench.at(labels, old)
        assert bench.value() == pytest.approx(15.172812, abs=2e-6)
        assert bench.center(published) == pytest.approx(J, abs=2e-6)
        np.testing.assert_allclose(bench.state.centers + bench.rows.shift, centers, atol=2e-6)


def test_only_the_published_profile_asks_which_row_comes_first():
    """E11: the center of the first row is pulled; a reversed order turns all links."""
    X = np.array([[0.0], [1], [10], [11], [12]])
    clues = Clues(5, must=[(0, 2)], must_weight=0.01)
    for profile, differ in (("published", True), ("library", False)):
        found = [
            CVQE(2, profile=profile, init=[[0.5], [11.0]], order=order, max_iter=1).fit(X, clues=clues).cluster_centers_
            for order in ("index", [4, 3, 2, 1, 0])
        ]
        assert (not np.allclose(*found)) == differ
    turned = CVQE(2, profile="published", init=[[0.5], [11.0]], order=[4, 3, 2, 1, 0], max_iter=1).fit(X, clues=clues)
    np.testing.assert_allclose(turned.cluster_centers_, [[0.5], [(33 + 0.01 * 0.5) / 3.01]])


def plain_published(X, start, clues, iterations=60):
    """The paper's rules in a few lines; None when a cluster is empty."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    centers, k, trace = np.array(start), len(start), []
    for _ in range(iterations):
        between = ((centers[:, None] - centers) ** 2).sum(axis=2)
        nearest = (between + np.diag(np.full(k, np.inf))).argmin(axis=1)
        squared = ((X[:, None] - centers) ** 2).sum(axis=2)
        labels = squared.argmin(axis=1)
        for (a, b), w in zip(must, must_weight):
            cost = squared[a][:, None] + squared[b] + w * between
            labels[a], labels[b] = np.unravel_index(cost.argmin(), cost.shape)
        for (a, b), v in zip(cannot, cannot_weight):
            cost = squared[a][:, None] + squared[b] + v * np.diag(between[np.arange(k), nearest])
            labels[a], labels[b] = np.unravel_index(cost.argmin(), cost.shape)
        if len(np.unique(labels)) < k:
            return None, trace
        sums = np.array([X[labels == h].sum(axis=0) for h in range(k)])
        mass = np.bincount(labels, minlength=k).astype(float)
        for (a, b), w in zip(must, must_weight):
            if labels[a] != labels[b]:
                sums[labels[a]] += w * centers[labels[b]]
                mass[labels[a]] += w
        for (a, b), v in zip(cannot, cannot_weight):
            if labels[a] == labels[b]:
                sums[labels[a]] += v * centers[nearest[labels[a]]]
                mass[labels[a]] += v
        centers = sums / mass[:, None]
        trace.append(value(X, centers, clues, labels))
    return labels, trace


def test_the_published_rule_revisits_links_that_hold():
    """Eq. 6 takes every pair: after (0, 1) has moved row 1, the link (1, 3) holds, but its best places are others."""
    clues = Clues(4, must=[(0, 1), (1, 3)])
    model = CVQE(2, profile="published", init=[[-0.3], [9.2]], max_iter=1).fit([[9.0], [0], [3], [6]], clues=clues)
    assert model.labels_.tolist() == [1, 0, 0, 0]


@given(cases(PAIR_KINDS, noise=0.3, max_rows=25))
def test_like_the_published_rules(case):
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)] + 1e-3
    labels, trace = plain_published(case.X, start, case.clues, 6)
    if labels is None:
        return
    model = CVQE(case.k, profile="published", init=start, tol=0, max_iter=6).fit(case.X, clues=case.clues)
    np.testing.assert_allclose(model.trace_, trace[: model.n_iter_])
    if model.n_iter_ == 6:
        np.testing.assert_array_equal(model.labels_, labels)


@pytest.mark.filterwarnings("ignore:only 2 of 3 clusters")
def test_the_published_rules_rise_and_nobody_complains():
    """The card promises descent for the default; warnings of the class NotDescending are errors in the tests."""
    rises = {"published": 0, "library": 0}
    for seed, profile in itertools.product(range(40), rises):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 2))
        clues = Clues.sample(rng.integers(3, size=20), pairs=25, random_state=seed)
        trace = CVQE(3, profile=profile, init=X[:3], tol=0, max_iter=50).fit(X, clues=clues).trace_
        rises[profile] += bool((np.diff(trace) > 1e-9).any())
    assert rises["published"] > 5
    assert rises["library"] == 0


@given(cases(PAIR_KINDS, noise=0.4, max_rows=25))
def test_no_half_step_of_the_joint_variant_raises_the_objective(case):
    bench = Bench(case.X, case.clues, case.X[case.rng.choice(len(case.X), case.k, replace=False)])
    before = bench.value()
    for _ in range(6):
        for half in (bench.assign, bench.center):
            after = half(published=False)
            assert after <= before + 1e-9 * (1 + before)
            before = after


@pytest.mark.filterwarnings("ignore:only . of . clusters")
@given(cases(PAIR_KINDS, noise=0.4, max_rows=20))
def test_at_the_end_no_link_has_a_better_place(case):
    model = CVQE(case.k, random_state=0, tol=0, n_init=1).fit(case.X, clues=case.clues)
    centers, labels = model.cluster_centers_, model.labels_
    assert model.objective_ == pytest.approx(value(case.X, centers, case.clues, labels))
    must, _, cannot, _ = case.clues.pairs(expand=True)
    for a, b in np.vstack([must, cannot])[:10]:
        for place in itertools.product(range(case.k), repeat=2):
            trial = labels.copy()
            trial[[a, b]] = place
            other = value(case.X, centers, case.clues, trial)
            assert other >= model.objective_ - 1e-6 * (1 + model.objective_)


@given(st.integers(0, 999), st.integers(2, 5))
def test_joint_centers_are_where_the_gradient_vanishes(seed, k):
    rng = np.random.default_rng(seed)
    found = Tally(rng.normal(size=(k, 3)), rng.random(k))
    pull = rng.random((k, k)) * (rng.random((k, k)) < 0.5)
    np.fill_diagonal(pull, 0)
    at = move_jointly(rng.normal(size=(k, 3)), found, pull)
    edges = pull + pull.T
    gradient = found.mass[:, None] * at - found.sums + edges.sum(axis=1)[:, None] * at - edges @ at
    np.testing.assert_allclose(gradient, 0, atol=1e-9)


def test_centers_that_nothing_determines_stay():
    """Clusters 2 and 3 are empty: 3 is free, 2 is drawn to cluster 0 by a broken cannot-link."""
    old = np.array([[0.0], [10], [4], [7]])
    found = Tally(np.array([[6.0], [20], [0], [0]]), np.array([3.0, 2, 0, 0]))
    pull = np.zeros((4, 4))
    pull[0, 2] = 1
    np.testing.assert_allclose(move_jointly(old, found, pull), [[2], [10], [2], [7]])
    np.testing.assert_allclose(move_one_sided(old, found, pull), [[2.5], [10], [4], [7]])


def test_half_between():
    between, exits, other = half_between(np.array([[0.0], [2], [5]]))
    assert between.tolist() == [[0, 2, 12.5], [2, 0, 4.5], [12.5, 4.5, 0]]
    assert exits.tolist() == [2, 2, 4.5]
    assert other.tolist() == [1, 0, 1]


def best_of_all(X, clues):
    """The optimum for two clusters, where h is fixed and the centers of given labels solve a linear system."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    best = np.inf
    for labels in itertools.product(range(2), repeat=len(X)):
        labels = np.array(labels)
        broken = must_weight[labels[must[:, 0]] != labels[must[:, 1]]].sum()
        broken += cannot_weight[labels[cannot[:, 0]] == labels[cannot[:, 1]]].sum()
        mass = np.bincount(labels, minlength=2)
        sums = np.array([X[labels == h].sum(axis=0) for h in range(2)])
        matrix = np.diag(mass) + broken * np.array([[1, -1], [-1, 1]])
        best = min(best, value(X, np.linalg.pinv(matrix) @ sums, clues, labels))
    return best


@pytest.mark.parametrize("weight", [0.1, 1.0, 5.0])
def test_best_of_many_starts_is_the_optimum(weight):
    """Free rows beside the links keep both clusters filled; an empty one would be no rival anyway."""
    clues = Clues(8, must=[(3, 7), (5, 7)], cannot=[(0, 2), (1, 4)], must_weight=weight, cannot_weight=weight)
    best = best_of_all(A8, clues)
    found = [
        CVQE(2, init="random", n_init=1, order="random", tol=0, random_state=s).fit(A8, clues=clues).objective_
        for s in range(40)
    ]
    assert min(found) == pytest.approx(best)
    assert min(found) >= best - 1e-9


@given(cases({"must", "cannot"}, noise=0.3))
def test_links_without_weight_are_kmeans(case):
    """Tied rows are moved by the descent over pairs; links that weigh nothing leave them where they are nearest."""
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)] + 1e-3
    must, cannot = case.clues.must, case.clues.cannot
    light = Clues(case.clues.n, must=must, cannot=cannot, must_weight=1e-14, cannot_weight=1e-14)
    nearest = ((case.X[:, None] - start) ** 2).sum(axis=2).argmin(axis=1)
    if len(np.unique(nearest)) < case.k:
        return
    plain = KMeans(case.k, init=start, n_init=1, tol=0, algorithm="lloyd", max_iter=1000).fit(case.X)
    model = CVQE(case.k, init=start, tol=0).fit(case.X, clues=light)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.objective_ == pytest.approx(0.5 * plain.inertia_)


@pytest.mark.parametrize("profile", ["library", "published"])
def test_a_clue_in_two_halves_changes_nothing(profile):
    """T8: a duplicated constraint with halved weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    clues = Clues.sample(rng.integers(3, size=30), pairs=40, random_state=0)
    half = {"must": clues.must, "cannot": clues.cannot, "must_weight": 0.5, "cannot_weight": 0.5}
    twice = Clues(30, **half, source="first") | Clues(30, **half, source="second")
    a, b = (CVQE(3, profile=profile, init=X[:3]).fit(X, clues=c) for c in (clues, twice))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.objective_ == pytest.approx(b.objective_)


@given(cases(PAIR_KINDS, noise=0.4), st.sampled_from([1e-6, 1.0, 1e6]))
def test_no_weight_makes_rounding_look_like_a_rise(case, weight):
    """Warnings of the class NotDescending are errors in the tests; a pair may be told to be together and apart."""
    pairs = case.rng.permutation(case.clues.n)[:6].reshape(3, 2)
    odd = Clues(case.clues.n, must=pairs, cannot=pairs, must_weight=weight, cannot_weight=0.7 * weight) | case.clues
    for X in (case.X, case.X.astype(np.float32)):
        CVQE(case.k, order="random", random_state=0, tol=0, n_init=2).fit(X, clues=odd)


def test_weights_of_rows_multiply_the_distortion():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(30, 2)), rng.integers(0, 4, size=30).astype(float)
    clues = Clues.sample(rng.integers(3, size=30), pairs=20, random_state=0)
    model = CVQE(3, random_state=0).fit(X, clues=clues, sample_weight=weight)
    assert model.objective_ == pytest.approx(value(X, model.cluster_centers_, clues, model.labels_, weight))


@pytest.mark.parametrize("clues", [Clues(8, cannot=[(0, 2)]), Clues(8, apart=[0, 0] + 6 * [-1]), [0, 1] + 6 * [-1]])
@pytest.mark.parametrize("profile", ["library", "published"])
def test_one_cluster_cannot_keep_anything_apart(clues, profile):
    with pytest.warns(UnusedClueWarning, match="CVQE with one cluster"):
        model = CVQE(1, profile=profile).fit(A8, clues=clues)
    assert not model.labels_.any()
    assert model.broken_cost_ == 0
    np.testing.assert_allclose(model.cluster_centers_[0], A8.mean(axis=0))


def test_one_cluster_keeps_everything_together(recwarn):
    model = CVQE(1).fit(A8, clues=ML37)
    assert not model.broken_.kinds
    assert not recwarn.list


@pytest.mark.filterwarnings("ignore:only 1 of 2 clusters")
@pytest.mark.parametrize("profile", ["library", "published"])
def test_equal_rows(profile):
    model = CVQE(2, profile=profile, random_state=0).fit(
        np.ones((4, 2)), clues=Clues(4, cannot=[(0, 1)], must=[(2, 3)])
    )
    assert model.objective_ == 0


def test_an_empty_cluster_is_filled_unless_links_make_that_dear():
    """Row 2 alone in a cluster of its own gains; every row is tied in the second case, so nobody may move."""
    X = np.array([[0.0], [1], [9]])
    start = [[0.0], [100.0]]
    assert CVQE(2, init=start).fit(X).n_clusters_ == 2
    with pytest.warns(UserWarning, match="only 1 of 2 clusters"):
        model = CVQE(2, init=start).fit(X, clues=Clues(3, must=[(0, 1), (1, 2)]))
    assert model.labels_.tolist() == [0, 0, 0]


def test_filling_an_empty_cluster_may_cost_more_than_it_gains():
    """The empty center makes broken cannot-links cheap where it is; taken to row 4 or 5 it would make them dear."""
    X = np.array([[0.0], [0], [0], [0], [100], [101]])
    every = [(a, b) for a in range(4) for b in range(a)]
    clues = Clues(6, must=every, cannot=every, cannot_weight=0.9)
    with pytest.warns(UserWarning, match="only 2 of 3 clusters"):
        model = CVQE(3, init=[[0.0], [100.5], [-0.5]]).fit(X, clues=clues)
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 1]
    assert model.objective_ == pytest.approx(0.25)


def test_a_random_order_is_drawn_from_the_seed():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    clues = Clues.sample(rng.integers(4, size=60), pairs=80, random_state=0)
    found = [
        CVQE(4, init=X[:4], order="random", n_init=1, random_state=s).fit(X, clues=clues).objective_
        for s in [0, 0, 1, 2, 3]
    ]
    assert found[0] == found[1]
    assert len(set(found)) > 1


@pytest.mark.parametrize("order", [[0, 1, 2], "degeneracy"])
def test_a_bad_order_is_named(order):
    with pytest.raises(ValueError, match="order"):
        CVQE(2, order=order).fit(A8, clues=CLUES_A8)


def test_too_many_links_are_refused():
    with pytest.raises(ClueError, match="more than limit=10000000"):
        CVQE(3).fit(np.zeros((4500, 1)), clues=np.arange(4500) % 3)


def test_golden():
    X, y = load_iris(return_X_y=True)
    model = CVQE(3, random_state=0).fit(X, clues=Clues.sample(y, pairs=100, noise=0.1, random_state=0))
    assert model.objective_ == pytest.approx(75.235649334, abs=1e-6)


@pytest.mark.parametrize("order", ["index", "random"])
def test_laws(order):
    check_clusterer(CVQE(order=order), random_state=0)


def test_which_laws():
    names = {law.__name__ for law in laws_for(CVQE)}
    assert "law_objective_never_rises" in names
    assert "law_centers_are_means" not in names
