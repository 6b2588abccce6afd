"""LCVQE: worked examples with their half steps, errata, the published rule in a few lines, a brute-force optimum."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cluewise import Clues
from cluewise.centroid._lcvqe import LCVQE, State, charges_of, half_exits, relabel, settle
from cluewise.centroid._linked import Frame, two_nearest
from cluewise.checks import check_clusterer, laws_for, sample_clues
from cluewise.core.assign import others
from cluewise.core.centers import scatter, tally
from cluewise.core.rows import Rows, squared_distances
from cluewise.core.views import build_pair_graph
from cluewise.exceptions import ClueError, UnusedClueWarning
from strategies import PAIR_KINDS, cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
TOY8 = np.array([[0.0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]])
CLUES_A8 = Clues(8, must=[(3, 7)], cannot=[(0, 2)])
CLUES_TOY8 = Clues(8, must=[(2, 3)], cannot=[(4, 5)])


def value(X, centers, clues, labels, weight=1.0):
    """The objective of the monotone variant, link by link."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    squared = ((X[:, None] - centers) ** 2).sum(axis=2)
    J = 0.5 * (weight * squared[np.arange(len(X)), labels]).sum()
    for (a, b), w in zip(must, must_weight):
        if labels[a] != labels[b]:
            J += 0.25 * w * (squared[a, labels[b]] + squared[b, labels[a]])
    for (a, b), v in zip(cannot, cannot_weight):
        if labels[a] == labels[b] and len(centers) > 1:
            J += 0.5 * v * np.delete(squared[[a, b]], labels[a], axis=1).min()
    return J


class Bench:
    """Half steps of the real code."""

    def __init__(self, X, clues, start):
        self.rows, self.links = Rows(X), build_pair_graph(clues)
        order, free = np.arange(len(self.links)), others(self.links.rows, len(X))
        self.frame = Frame(self.rows, self.links, order, free, scatter(self.rows))
        self.X, self.clues = X, clues
        centers = np.asarray(start, dtype=float) - self.rows.shift
        squared = squared_distances(self.rows, centers, self.links.rows)
        labels = ((X[:, None] - start) ** 2).sum(axis=2).argmin(axis=1).astype(np.int32)
        near = two_nearest(squared)
        charges = charges_of(self.links, labels, squared, near)
        self.state = State(labels, centers, squared, near, charges, self.links)
        self.kept = None

    def assign(self, published):
        centers = self.state.centers + self.rows.shift
        labels = ((self.X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1).astype(np.int32)
        labels[self.links.rows], self.kept = relabel(self.state, self.frame, published)
        self.state = self.state._replace(labels=labels)
        return self.value()

    def center(self):
        labels = self.state.labels
        found = tally(self.rows, labels, len(self.state.centers))
        self.state, J = settle(self.state, self.frame, labels, found, self.kept)
        return J

    def value(self):
        """With recorded lists for the published rules, else of the labels."""
        centers = self.state.centers + self.rows.shift
        if self.kept is None:
            return value(self.X, centers, self.clues, self.state.labels)
        alone = value(self.X, centers, Clues(len(self.X)), self.state.labels)
        return alone + 0.5 * (self.kept * self.state.squared).sum()


A8_STEPS = [
    ([0, 0, 1, 0, 1, 1, 1, 0], 21.575, [[1.25, 1.075], [3.325, 3.525]], 15.34625),
    ([1, 0, 0, 0, 1, 1, 1, 0], 17.75875, [[1.275, 1.3], [3.3, 3.3]], 17.55375),
    ([1, 0, 0, 0, 1, 1, 1, 0], 17.55375, [[1.275, 1.3], [3.3, 3.3]], 17.55375),
]
TOY8_STEPS = 2 * [([0, 0, 0, 0, 1, 2, 2, 2], 8.0416666667, [[1, 0.25], [4, 1], [19 / 3, 1 / 3]], 8.0416666667)]
TOY8_STEPS[0] = (TOY8_STEPS[0][0], 11.0, *TOY8_STEPS[0][2:])
EXAMPLES = [(A8, CLUES_A8, A8[[0, 4]], A8_STEPS), (TOY8, CLUES_TOY8, TOY8[[0, 4, 6]], TOY8_STEPS)]


@pytest.mark.parametrize(("X", "clues", "start", "steps"), EXAMPLES)
def test_worked_examples(X, clues, start, steps):
    """[lcvqe] of the survey (whose objective rises) and lcvqe of the seed papers, half step by half step."""
    bench = Bench(X, clues, start)
    for labels, assigned, centers, updated in steps:
        assert bench.assign(published=True) == pytest.approx(assigned, abs=2e-6)
        assert bench.state.labels.tolist() == labels
        assert not bench.kept.any()
        assert bench.center() == pytest.approx(updated, abs=2e-6)
        np.testing.assert_allclose(bench.state.centers + bench.rows.shift, centers, atol=2e-6)
    model = LCVQE(len(start), profile="published", init=start).fit(X, clues=clues)
    assert model.labels_.tolist() == labels
    np.testing.assert_allclose(model.trace_, [s[3] for s in steps], atol=2e-6)
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=2e-6)
    assert model.objective_ == pytest.approx(updated, abs=2e-6)
    assert not model.broken_.kinds


def test_ties_prefer_to_repair():
    """[lcvqe_violated_ml]: all three ways cost 25 when centers are rows; both go to the first."""
    X = np.array([[0.0, 0], [1, 0], [5, 5], [6, 5]])
    bench = Bench(X, Clues(4, must=[(0, 2)]), X[[0, 2]])
    bench.assign(published=True)
    assert bench.state.labels.tolist() == [0, 0, 0, 1]
    assert not bench.kept.any()


@pytest.mark.parametrize("published", [True, False])
def test_one_update_with_a_broken_must_link(published):
    """[lcvqe_violated_ml]: each row pulls the other's center by one half (E13)."""
    X = np.array([[0.0, 0], [1, 0], [5, 5], [6, 5]])
    bench = Bench(X, Clues(4, must=[(0, 2)]), X[[0, 2]])
    bench.state = bench.state._replace(labels=np.array([0, 0, 1, 1], np.int32))
    charges = charges_of(bench.links, bench.state.labels, bench.state.squared, bench.state.near)
    assert charges.tolist() == [[0, 0.5], [0.5, 0]]
    bench.kept = charges if published else None
    assert bench.center() == pytest.approx(20.6)
    assert bench.value() == pytest.approx(20.6)
    np.testing.assert_allclose(bench.state.centers + bench.rows.shift, [[1.4, 1], [4.4, 4]])


def test_a_broken_cannot_link_lets_the_better_row_pull_the_other_center():
    """E15 with the rule of the monotone variant: row 1 is the nearer to another center, with weight v."""
    X = np.array([[0.0], [2], [10], [12]])
    clues = Clues(4, cannot=[(0, 1)], cannot_weight=0.25)
    bench = Bench(X, clues, np.array([[1.0], [11]]))
    charges = charges_of(bench.links, bench.state.labels, bench.state.squared, bench.state.near)
    assert charges.tolist() == [[0, 0], [0, 0.25]]
    bench.center()
    np.testing.assert_allclose(bench.state.centers + bench.rows.shift, [[1], [22.5 / 2.25]])


def plain_published(X, start, clues, iterations):
    """The paper's rules, with lists of the rows charged to each center; None: an empty cluster, or a tie."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    centers, k, trace = np.array(start), len(start), []
    for _ in range(iterations):
        D = ((X[:, None] - centers) ** 2).sum(axis=2)
        z = D.argmin(axis=1)
        lists = []  # (row, center, weight)
        for (a, b), w in zip(must, must_weight):
            u, v = z[a], z[b]
            if u != v:
                ways = [D[a, u] + D[b, u], D[a, v] + D[b, v], D[a, u] + D[b, v] + w / 2 * (D[a, v] + D[b, u])]
                way = int(np.argmin(ways))
                z[a], z[b] = [(u, u), (v, v), (u, v)][way]
                lists += [(a, v, w / 2), (b, u, w / 2)] if way == 2 else []
        for (a, b), v in zip(cannot, cannot_weight):
            j = z[a]
            if j == z[b]:
                if np.isclose(D[a, j], D[b, j]):  # the center is their mean: rounding decides which one is farther
                    return None, None, trace
                far = a if D[a, j] >= D[b, j] else b
                other = min((h for h in range(k) if h != j), key=lambda h: D[far, h])
                if D[far, other] <= D[far, j] + v * D[far, other]:
                    z[far] = other
                else:
                    lists.append((far, other, v))
        if len(np.unique(z)) < k:
            return None, None, trace
        sums = np.array([X[z == h].sum(axis=0) for h in range(k)])
        mass = np.bincount(z, minlength=k).astype(float)
        for row, h, w in lists:
            sums[h] += w * X[row]
            mass[h] += w
        centers = sums / mass[:, None]
        charged = sum(w * ((X[row] - centers[h]) ** 2).sum() for row, h, w in lists)
        trace.append(0.5 * ((X - centers[z]) ** 2).sum() + 0.5 * charged)
    return z, lists, trace


@given(cases(PAIR_KINDS, noise=0.3, max_rows=25), st.sampled_from([0.05, 1.0]))
def test_like_the_published_rules(case, weight):
    """With weight 1, and with light links, which may stay broken."""
    must, must_weight, cannot, cannot_weight = case.clues.pairs(expand=True)
    weights = {"must_weight": weight * must_weight, "cannot_weight": weight * cannot_weight}
    clues = Clues(case.clues.n, must=must, cannot=cannot, **weights)
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)] + 1e-3
    labels, _, trace = plain_published(case.X, start, clues, 6)
    if labels is None:
        return
    model = LCVQE(case.k, profile="published", init=start, tol=0, max_iter=6).fit(case.X, clues=clues)
    np.testing.assert_allclose(model.trace_, trace[: model.n_iter_])
    assert model.objective_ == pytest.approx(trace[model.n_iter_ - 1])
    if model.n_iter_ == 6:
        np.testing.assert_array_equal(model.labels_, labels)


@given(cases({"must", "cannot"}, noise=0.4))
def test_the_published_rules_never_keep_a_link_broken(case):
    """F1: off ties the lists stay empty, so that centers are means and links are broken only by later repairs."""
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)] + 1e-3
    bench = Bench(case.X, case.clues, start)
    for _ in range(3):
        bench.assign(published=True)
        assert not bench.kept.any()
        before = bench.value()
        assert bench.center() <= before + 1e-9 * (1 + before)


@pytest.mark.parametrize("clues", [Clues(8, must=[(0, 4)]), Clues(8, cannot=[(4, 5)])])
def test_a_single_link_is_repaired(clues):
    bench = Bench(A8, clues, A8[[1, 6]] + 0.01)
    labels = bench.state.labels
    assert labels[0] != labels[4] == labels[5]
    bench.assign(published=True)
    labels = bench.state.labels
    assert labels[0] == labels[4] if len(clues.must) else labels[4] != labels[5]


def test_a_cannot_link_is_repaired_at_the_nearest_center_but_the_current_one():
    """Row 1 was moved to cluster 1 by its must-link; the second nearest of all its centers would be 1 itself."""
    X = np.array([[10.0], [4], [11], [0], [30]])
    clues = Clues(5, must=[(0, 1)], cannot=[(1, 2)])
    model = LCVQE(3, profile="published", init=[[3.0], [10.0], [30.0]], max_iter=1).fit(X, clues=clues)
    assert model.labels_.tolist() == [1, 0, 1, 0, 2]


@pytest.mark.filterwarnings("ignore:only 2 of 3 clusters")
def test_the_published_rules_rise_and_nobody_complains():
    """The card promises descent for the default; warnings of the class NotDescending are errors in the tests."""
    rises = {"published": 0, "library": 0}
    for seed, profile in itertools.product(range(40), rises):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 2))
        clues = Clues.sample(rng.integers(3, size=20), pairs=25, random_state=seed)
        trace = LCVQE(3, profile=profile, init=X[:3], tol=0, max_iter=50).fit(X, clues=clues).trace_
        rises[profile] += bool((np.diff(trace) > 1e-9).any())
    assert rises["published"] > 5
    assert rises["library"] == 0


@given(cases(PAIR_KINDS, noise=0.4, max_rows=25))
def test_no_half_step_of_the_monotone_variant_raises_the_objective(case):
    bench = Bench(case.X, case.clues, case.X[case.rng.choice(len(case.X), case.k, replace=False)])
    before = bench.value()
    for _ in range(6):
        after = bench.assign(published=False)
        assert after <= before + 1e-9 * (1 + before)
        before = bench.center()
        assert before <= after + 1e-9 * (1 + after)
        assert before == pytest.approx(bench.value())


@pytest.mark.filterwarnings("ignore:only . of . clusters")
@given(cases(PAIR_KINDS, noise=0.4, max_rows=20))
def test_at_the_end_no_link_has_a_better_place(case):
    model = LCVQE(case.k, random_state=0, tol=0, n_init=1).fit(case.X, clues=case.clues)
    centers, labels = model.cluster_centers_, model.labels_
    assert model.objective_ == pytest.approx(value(case.X, centers, case.clues, labels))
    half = 0.5 * ((case.X - centers[labels]) ** 2).sum()
    assert model.broken_cost_ == pytest.approx(model.objective_ - half, abs=1e-9 * (1 + half))
    must, _, cannot, _ = case.clues.pairs(expand=True)
    for a, b in np.vstack([must, cannot])[:10]:
        for place in itertools.product(range(case.k), repeat=2):
            trial = labels.copy()
            trial[[a, b]] = place
            other = value(case.X, centers, case.clues, trial)
            assert other >= model.objective_ - 1e-6 * (1 + model.objective_)


def best_of_all(X, clues):
    """The optimum for two clusters: all labels, and all choices of who pulls for a broken cannot-link."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    best = np.inf
    for labels in itertools.product(range(2), repeat=len(X)):
        labels = np.array(labels)
        pulls = np.zeros((len(X), 2))
        pulls[np.arange(len(X)), labels] = 1
        for (a, b), w in zip(must, must_weight):
            if labels[a] != labels[b]:
                pulls[[a, b], [labels[b], labels[a]]] += w / 2
        joined = labels[cannot[:, 0]] == labels[cannot[:, 1]]
        for ends in itertools.product(range(2), repeat=joined.sum()):
            more = pulls.copy()
            for (a, b), v, end in zip(cannot[joined], cannot_weight[joined], ends):
                more[(a, b)[end], 1 - labels[a]] += v
            if (more.sum(axis=0) > 0).all():
                centers = (more.T @ X) / more.sum(axis=0)[:, None]
                best = min(best, value(X, centers, clues, labels))
    return best


@pytest.mark.parametrize("weight", [0.1, 1.0, 5.0])
def test_best_of_many_starts_is_the_optimum(weight):
    clues = Clues(8, must=[(3, 7), (5, 7)], cannot=[(0, 2), (1, 4)], must_weight=weight, cannot_weight=weight)
    best = best_of_all(A8, clues)
    found = [
        LCVQE(2, init="random", n_init=1, order="random", tol=0, random_state=s).fit(A8, clues=clues).objective_
        for s in range(40)
    ]
    assert min(found) == pytest.approx(best)
    assert min(found) >= best - 1e-9


def test_light_links_may_stay_broken():
    """Genuinely soft: w = ¼ leaves the must-link of two far rows broken, w = 4 does not."""
    X = np.array([[0.0], [1], [2], [10], [11], [12]])
    for weight, broken in ((0.25, True), (4.0, False)):
        clues = Clues(6, must=[(2, 3)], must_weight=weight)
        model = LCVQE(2, init=[[1.0], [11.0]]).fit(X, clues=clues)
        assert bool(model.broken_.kinds) == broken


@given(cases({"must", "cannot"}, noise=0.3))
def test_links_without_weight_are_kmeans(case):
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)] + 1e-3
    must, cannot = case.clues.must, case.clues.cannot
    light = Clues(case.clues.n, must=must, cannot=cannot, must_weight=1e-14, cannot_weight=1e-14)
    nearest = ((case.X[:, None] - start) ** 2).sum(axis=2).argmin(axis=1)
    if len(np.unique(nearest)) < case.k:
        return
    plain = KMeans(case.k, init=start, n_init=1, tol=0, algorithm="lloyd", max_iter=1000).fit(case.X)
    model = LCVQE(case.k, init=start, tol=0).fit(case.X, clues=light)
    # Both fill a cluster that empties on the way, but not always by the same row, so that names may differ.
    assert adjusted_rand_score(plain.labels_, model.labels_) == 1
    assert model.objective_ == pytest.approx(0.5 * plain.inertia_)


@pytest.mark.parametrize("profile", ["library", "published"])
def test_a_clue_in_two_halves_changes_nothing(profile):
    """T8: a duplicated constraint with halved weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    clues = Clues.sample(rng.integers(3, size=30), pairs=40, random_state=0)
    half = {"must": clues.must, "cannot": clues.cannot, "must_weight": 0.5, "cannot_weight": 0.5}
    twice = Clues(30, **half, source="first") | Clues(30, **half, source="second")
    a, b = (LCVQE(3, profile=profile, init=X[:3]).fit(X, clues=c) for c in (clues, twice))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.objective_ == pytest.approx(b.objective_)


@given(cases(PAIR_KINDS, noise=0.4), st.sampled_from([1e-6, 1.0, 1e6]))
def test_no_weight_makes_rounding_look_like_a_rise(case, weight):
    """Warnings of the class NotDescending are errors in the tests; a pair may be told to be together and apart."""
    pairs = case.rng.permutation(case.clues.n)[:6].reshape(3, 2)
    odd = Clues(case.clues.n, must=pairs, cannot=pairs, must_weight=weight, cannot_weight=0.7 * weight) | case.clues
    for X in (case.X, case.X.astype(np.float32)):
        LCVQE(case.k, order="random", random_state=0, tol=0, n_init=2).fit(X, clues=odd)


def test_weights_of_rows_multiply_the_distortion():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(30, 2)), rng.integers(0, 4, size=30).astype(float)
    clues = Clues.sample(rng.integers(3, size=30), pairs=20, random_state=0)
    model = LCVQE(3, random_state=0).fit(X, clues=clues, sample_weight=weight)
    assert model.objective_ == pytest.approx(value(X, model.cluster_centers_, clues, model.labels_, weight))


def test_rounding_does_not_decide_ties():
    """Row 1 must break a link in cluster 0 or in cluster 1, and pays ½(D₀ + D₁) either way: it stays."""
    X = np.array([[0.0], [4.3], [10.0]])
    clues = Clues(3, cannot=[(0, 1), (1, 2)])
    for scale, shift in itertools.product([1.0, 0.3, 1 / 7], [0.0, 0.1, 100 / 3]):
        start = scale * np.array([[0.01], [9.99]]) + shift
        model = LCVQE(2, init=start, max_iter=1).fit(scale * X + shift, clues=clues)
        assert model.labels_.tolist() == [0, 0, 1]
    laws = {law.__name__: law for law in laws_for(LCVQE)}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(25) % 5)
        X = rng.uniform(-10, 10, size=(5, 4))[y] + 0.5 * rng.normal(size=(25, 4))
        clues = sample_clues(y, ["must", "together", "apart"], rng, noise=0.25)
        laws["law_float32_stays_float32"](LCVQE(5), X, clues, rng)


def test_half_exits():
    for squared, expected in (([[3.0, 1, 2]], [[0.5, 1, 0.5]]), ([[3.0]], [[0]])):
        assert half_exits(np.array(squared), two_nearest(np.array(squared))).tolist() == expected


@pytest.mark.parametrize("clues", [Clues(8, cannot=[(0, 2)]), Clues(8, apart=[0, 0] + 6 * [-1]), [0, 1] + 6 * [-1]])
@pytest.mark.parametrize("profile", ["library", "published"])
def test_one_cluster_cannot_keep_anything_apart(clues, profile):
    with pytest.warns(UnusedClueWarning, match="LCVQE with one cluster"):
        model = LCVQE(1, profile=profile).fit(A8, clues=clues)
    assert not model.labels_.any()
    assert model.broken_cost_ == 0
    np.testing.assert_allclose(model.cluster_centers_[0], A8.mean(axis=0))


@pytest.mark.filterwarnings("ignore:only . of 2 clusters")
@pytest.mark.parametrize("profile", ["library", "published"])
def test_equal_rows(profile):
    model = LCVQE(2, profile=profile, random_state=0).fit(
        np.ones((4, 2)), clues=Clues(4, cannot=[(0, 1)], must=[(2, 3)])
    )
    assert model.objective_ == 0


def test_a_random_order_is_drawn_from_the_seed():
    """The paper's order matters; the canonical one does not depend on how clues are listed (a law)."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    clues = Clues.sample(rng.integers(4, size=60), pairs=80, random_state=0)
    found = [
        LCVQE(4, profile="published", init=X[:4], order="random", n_init=1, random_state=s)
        .fit(X, clues=clues)
        .objective_
        for s in [0, 0, 1, 2, 3]
    ]
    assert found[0] == found[1]
    assert len(set(found)) > 1


@pytest.mark.parametrize("order", [[0, 1, 2], "degeneracy"])
def test_a_bad_order_is_named(order):
    with pytest.raises(ValueError, match="order"):
        LCVQE(2, order=order).fit(A8, clues=CLUES_A8)


def test_too_many_links_are_refused():
    with pytest.raises(ClueError, match="more than limit=10000000"):
        LCVQE(3).fit(np.zeros((4500, 1)), clues=np.arange(4500) % 3)


def test_golden():
    X, y = load_iris(return_X_y=True)
    model = LCVQE(3, random_state=0).fit(X, clues=Clues.sample(y, pairs=100, noise=0.1, random_state=0))
    assert model.objective_ == pytest.approx(79.143744684, abs=1e-6)


@pytest.mark.parametrize("order", ["index", "random"])
def test_laws(order):
    check_clusterer(LCVQE(order=order), random_state=0)


def test_which_laws():
    names = {law.__name__ for law in laws_for(LCVQE)}
    assert "law_objective_never_rises" in names
    assert "law_centers_are_means" not in names
