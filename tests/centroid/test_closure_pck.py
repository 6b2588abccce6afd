"""ClosurePCKMeans: the worked example, a plain implementation to compare with, reductions, laws."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from cluewise import Clues
from cluewise.centroid._closure import ClosurePCKMeans, Rule, State, inside, step
from cluewise.centroid._exclusions import Ledger, exclusions_of
from cluewise.centroid._ranking import rank
from cluewise.checks import check_clusterer, laws_for
from cluewise.core import assign, centers
from cluewise.core.centers import scatter
from cluewise.core.rows import Rows
from cluewise.core.views import contract
from cluewise.exceptions import ClueError, Contradiction, SoftClueWarning
from strategies import PAIR_KINDS, cases

TOY8 = np.array([[0.0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]])
CLUES8 = Clues(8, must=[(0, 1), (4, 5), (6, 7)], cannot=[(1, 2), (2, 3), (3, 4), (5, 6)])
START8 = TOY8[[0, 4, 6]]
RULES = [("library", "clusters"), ("library", "one"), ("published", "clusters"), ("published", "one")]


class Plain:
    """The method written down as in the paper, with every pair of closures in a matrix."""

    def __init__(self, X, clues, weight=None, penalty=1.0, violations="clusters"):
        weight = np.ones(len(X)) if weight is None else weight
        self.of_row, m = clues.components, clues.n_components
        self.mass = np.bincount(self.of_row, weights=weight, minlength=m)
        self.means = np.array(
            [np.average(X[self.of_row == c], axis=0, weights=weight[self.of_row == c]) for c in range(m)]
        )
        self.edge = np.zeros((m, m))
        _, _, cannot, cannot_weight = clues.pairs(expand=True)
        for (i, j), w in zip(self.of_row[cannot], cannot_weight):
            self.edge[[i, j], [j, i]] += w
        self.penalty, self.one = penalty, violations == "one"
        self.emptied = False  # the library refills a cluster that has lost its rows

    def distances(self, centers):
        return self.mass[:, None] * ((self.means[:, None] - centers) ** 2).sum(axis=2)

    def shares(self, z):
        violated = self.edge * ((z[:, None] == z) & (z >= 0))
        v = np.count_nonzero(violated, axis=1)
        return self.penalty * (np.minimum(v, 1) if self.one else v) * (violated @ self.mass)

    def value(self, z, centers):
        return 0.5 * self.distances(centers)[np.arange(len(z)), z].sum() + 0.5 * self.shares(z).sum()

    def run(self, centers, order, profile, iterations):
        """Labels of the closures, and J after each half-step."""
        z, trace = np.full(len(self.mass), -1), []
        for _ in range(iterations):
            far = self.distances(centers)
            for i in order:
                values = []
                for h in range(len(centers)):
                    tried = z.copy()
                    tried[i] = h
                    share = self.shares(tried)
                    values.append(far[i, h] + (share.sum() if profile == "library" else share[i]))
                z[i] = int(np.argmin(values))
            trace.append(self.value(z, centers))
            full = [h for h in range(len(centers)) if self.mass[z == h].sum() > 0]
            centers = centers.copy()
            self.emptied |= len(full) < len(centers)
            for h in full:
                centers[h] = np.average(self.means[z == h], axis=0, weights=self.mass[z == h])
            trace.append(self.value(z, centers))
        return z, trace


def model(k, **params):
    return ClosurePCKMeans(k, **{"tol": 0, "n_init": 1, "random_state": 0} | params)


def usable(case):
    assume(not case.clues.contradictions)
    return case.X, case.clues


@pytest.mark.parametrize("profile", ["published", "library"])
def test_worked_example(profile):
    """[pcck_means] of the specification: 5.5 = 2.5 + 3 after the sweep, 3.833333 after the means, twice."""
    plain = Plain(TOY8, CLUES8)
    assert plain.of_row.tolist() == [0, 0, 1, 2, 3, 3, 4, 4]
    assert plain.mass.tolist() == [2, 1, 1, 2, 2]
    assert plain.means.tolist() == [[0, 0.5], [1, 0], [3, 0], [4, 0.5], [7.5, 0.5]]
    z, trace = plain.run(START8, [3, 2, 1, 4, 0], profile, 2)
    assert z.tolist() == [0, 0, 1, 1, 2]
    assert trace == pytest.approx([5.5, 3.8333333333, 3.8333333333, 3.8333333333])
    fitted = model(3, profile=profile, init=START8).fit(TOY8, clues=CLUES8)
    assert fitted.labels_.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert fitted.trace_ == pytest.approx(trace[1::2])
    assert fitted.objective_ == pytest.approx(3.8333333333)
    assert fitted.broken_cost_ == pytest.approx(3.0)
    assert fitted.broken_ == Clues(8, cannot=[(1, 2), (3, 4)])  # the pairs as they were given


@pytest.mark.parametrize("exact", [False, True])
def test_half_steps_of_the_worked_example(exact):
    rows = Rows(TOY8)
    nodes = contract(rows, CLUES8)
    links = exclusions_of(CLUES8, nodes)
    ranking = rank(links, nodes.rows.weight, 8.0)
    state = State(assign.no_labels(8), START8 - rows.shift, assign.no_labels(5), Ledger(np.zeros(5, int), np.zeros(5)))
    more = {"rows": rows, "nodes": nodes, "links": links, "free": nodes.free, "ranking": ranking}
    more |= {"rule": Rule(exact, False, 1.0), "total": scatter(rows) - inside(rows, nodes), "rng": None}
    assert inside(rows, nodes) == pytest.approx(3 * 0.5 + 0.5)
    trace = []
    for moved in (8, 0):
        new, info = step(state, **more)
        assert info.moved == moved
        distance = nodes.rows.weight @ ((nodes.rows.X - state.centers[new.nodes]) ** 2).sum(axis=1)
        trace += [0.5 * distance + 0.5 * new.ledger.total(one=False), info.objective]
        state = new
    assert trace == pytest.approx([5.5, 3.8333333333, 3.8333333333, 3.8333333333])
    assert state.nodes.tolist() == [0, 0, 1, 1, 2]


def test_own_share_and_whole_change_differ():
    """Row 4 pays 4 to be with four rows, and moving away would cost it more; but it makes them pay 1, too."""
    X = np.array([[0.0], [0.1], [0.2], [0.3], [1.0], [3.2]])
    clues = Clues(6, must=[(0, 1), (1, 2), (2, 3)], cannot=[(0, 4)])
    start = np.array([[0.15], [3.2]])
    plain = Plain(X, clues)
    paper, exact = plain.run(start, [0, 1, 2], "published", 1), plain.run(start, [0, 1, 2], "library", 1)
    assert [paper[0].tolist(), exact[0].tolist()] == [[0, 0, 1], [0, 1, 1]]
    assert exact[1][0] < paper[1][0]
    for profile, (z, _) in (("published", paper), ("library", exact)):
        fitted = model(2, profile=profile, init=start, max_iter=1).fit(X, clues=clues)
        np.testing.assert_array_equal(fitted.labels_, z[plain.of_row])


@settings(max_examples=40)
@given(
    cases(PAIR_KINDS, noise=0.1, max_rows=25, max_columns=4),
    st.sampled_from(RULES),
    st.sampled_from([0.0, 0.3, 5.0]),
    st.booleans(),
)
def test_the_plain_method_agrees(case, rule, penalty, weighted):
    """Half-step by half-step, with labels, groups, weights; in the order of the rows, as no closure is free there."""
    X, clues = usable(case)
    profile, violations = rule
    weight = case.rng.uniform(0.5, 2, size=len(X)) if weighted else None
    plain = Plain(X, clues, weight, penalty, violations)
    start = X[: case.k] + 0.01 * case.rng.normal(size=(case.k, X.shape[1]))
    first = np.array([np.flatnonzero(clues.components == c)[0] for c in range(clues.n_components)])
    z, trace = plain.run(start, np.argsort(first), profile, 3)
    assume(not plain.emptied)
    fitted = model(
        case.k, profile=profile, violations=violations, penalty=penalty, order="index", init=start, max_iter=3
    ).fit(X, clues=clues, sample_weight=weight)
    for row in clues.free:  # in the end, rows without clues are assigned once more
        z[plain.of_row[row]] = ((X[row] - fitted.cluster_centers_) ** 2).sum(axis=1).argmin()
    np.testing.assert_array_equal(fitted.labels_, z[plain.of_row])
    np.testing.assert_allclose(fitted.trace_[:-1], trace[1::2][: fitted.n_iter_ - 1], rtol=1e-7, atol=1e-7)
    assert fitted.objective_ == pytest.approx(plain.value(z, fitted.cluster_centers_), rel=1e-7, abs=1e-7)
    assert fitted.broken_cost_ == pytest.approx(0.5 * plain.shares(z).sum())


def rises(profile, violations, seeds):
    """In how many random runs the objective rises, from one iteration to the next."""
    count = 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.random((30, 2))
        pairs = rng.integers(30, size=(60, 2))
        clues = Clues(30, must=[(0, 1), (1, 2), (3, 4)], cannot=pairs[pairs[:, 0] != pairs[:, 1]])
        if clues.contradictions:
            continue
        found = model(3, profile=profile, violations=violations, penalty=0.05, init=X[5:8]).fit(X, clues=clues)
        count += bool((np.diff(found.trace_) > 1e-9).any())
    return count


@pytest.mark.parametrize("violations", ["clusters", "one"])
def test_the_exact_rule_descends_where_the_paper_rule_rises(violations, sweep):
    seeds = sweep(60, 400)
    assert rises("library", violations, seeds) == 0
    assert rises("published", "clusters", seeds) > 0


@settings(max_examples=40)
@given(
    cases(PAIR_KINDS, noise=0.1),
    st.sampled_from(["clusters", "one"]),
    st.sampled_from([1e-9, 1.0, 1e6, 1e12]),
    st.sampled_from([np.float32, np.float64]),
)
def test_the_exact_rule_never_rises_at_any_price(case, violations, penalty, dtype):
    """A rise beyond rounding is the warning NotDescending, which is an error in the tests."""
    X, clues = usable(case)
    odd = Clues(clues.n, cannot=clues.cannot, cannot_weight=0.7) | clues
    found = model(case.k, violations=violations, penalty=penalty, order="random").fit(X.astype(dtype), clues=odd)
    assert found.objective_ == pytest.approx(found.trace_[-1], rel=1e-4 if dtype == np.float32 else 1e-8, abs=1e-6)


@given(cases(PAIR_KINDS, noise=0.1), st.sampled_from(RULES), st.sampled_from(["extended-degree", "random"]))
def test_must_links_always_hold(case, rule, order):
    X, clues = usable(case)
    found = model(case.k, profile=rule[0], violations=rule[1], order=order, threshold="mean").fit(X, clues=clues)
    for c in range(clues.n_components):
        assert len(set(found.labels_[clues.components == c])) == 1
    assert not found.broken_.kinds & {"must", "together"}


@given(cases({"must", "together"}))
def test_without_cannot_links_it_is_kmeans_on_weighted_closures(case):
    plain = Plain(case.X, case.clues)
    assume(len(plain.mass) > case.k)
    start = plain.means[: case.k] + 1e-3
    z, _ = plain.run(start, range(len(plain.mass)), "library", 30)
    assume(not plain.emptied)
    sklearn = KMeans(case.k, init=start, n_init=1, tol=0, algorithm="lloyd").fit(plain.means, sample_weight=plain.mass)
    found = model(case.k, init=start).fit(case.X, clues=case.clues)
    np.testing.assert_array_equal(found.labels_, sklearn.labels_[plain.of_row])
    np.testing.assert_array_equal(found.labels_, z[plain.of_row])
    assert found.objective_ == pytest.approx(0.5 * sklearn.inertia_)


@given(cases(()))
def test_without_clues_it_is_kmeans(case):
    start = case.X[: case.k]
    plain = KMeans(case.k, init=start, n_init=1, tol=0, algorithm="lloyd").fit(case.X)
    found = model(case.k, init=start).fit(case.X)
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    assert found.objective_ == pytest.approx(0.5 * plain.inertia_)
    assert found.broken_cost_ == 0


@given(cases({"cannot", "apart"}, noise=0.2))
def test_a_price_of_zero_is_kmeans(case):
    start = case.X[: case.k]
    plain = Plain(case.X, case.clues, penalty=0.0)
    plain.run(start, range(len(case.X)), "library", 30)
    assume(not plain.emptied)
    sklearn = KMeans(case.k, init=start, n_init=1, tol=0, algorithm="lloyd").fit(case.X)
    found = model(case.k, penalty=0.0, init=start).fit(case.X, clues=case.clues)
    np.testing.assert_array_equal(found.labels_, sklearn.labels_)
    assert found.objective_ == pytest.approx(0.5 * sklearn.inertia_)


@given(cases({"must", "cannot"}, noise=0.1), st.floats(0.1, 10), st.sampled_from(RULES))
def test_weights_of_cannot_links_multiply_the_price(case, weight, rule):
    X, clues = usable(case)
    heavy = Clues(clues.n, must=clues.must, cannot=clues.cannot, cannot_weight=weight)
    more = {"profile": rule[0], "violations": rule[1], "init": X[: case.k]}
    a = model(case.k, penalty=0.5, **more).fit(X, clues=heavy)
    b = model(case.k, penalty=0.5 * weight, **more).fit(X, clues=clues)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.objective_ == pytest.approx(b.objective_)


def test_parallel_links_are_one_edge_of_their_summed_weight():
    """Two links of weight 1 between two closures, or one of weight 2; v stays 1."""
    X = np.array([[0.0], [0.2], [0.4], [0.6], [5.0]])
    must = [(0, 1), (2, 3)]
    two = Clues(5, must=must, cannot=[(0, 2), (1, 3)])
    one = Clues(5, must=must, cannot=[(0, 3)], cannot_weight=2.0)
    fits = [model(2, init=[[0.3], [5.0]], penalty=0.01).fit(X, clues=clues) for clues in (two, one)]
    assert [f.broken_cost_ for f in fits] == pytest.approx([0.01 * 0.5 * (2 * 2 + 2 * 2)] * 2)
    assert not ClosurePCKMeans.card.closes  # so an entailed cannot-link is not without effect


@given(cases({"must", "cannot"}, noise=0.1), st.sampled_from(RULES))
def test_a_weight_is_a_closure_of_copies(case, rule):
    """N_i is the summed sample weight: a row of weight 3 is three rows that must be together."""
    X, clues = usable(case)
    times = case.rng.integers(1, 4, size=len(X))
    rows = np.repeat(np.arange(len(X)), times)
    first = np.cumsum(times) - times
    copies = np.column_stack([first[rows], np.arange(len(rows))])
    must = np.vstack([first[clues.must], copies[copies[:, 0] != copies[:, 1]]])
    more = {"profile": rule[0], "violations": rule[1], "init": X[: case.k] + 1e-3, "max_iter": 5}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # empty clusters stay empty: they are refilled by free rows, of which b has fewer
        patch.setattr(centers, "refill", lambda rows, found, *_: (found, 0))
        a = model(case.k, **more).fit(X, clues=clues, sample_weight=times.astype(float))
        b = model(case.k, **more).fit(X[rows], clues=Clues(len(rows), must=must, cannot=first[clues.cannot]))
    np.testing.assert_array_equal(a.labels_[rows], b.labels_)
    assert a.objective_ == pytest.approx(b.objective_)


@pytest.mark.filterwarnings("ignore:only 2 of 3 clusters")
@pytest.mark.parametrize("violations", ["clusters", "one"])
def test_best_of_many_starts_is_the_optimum(violations):
    plain = Plain(TOY8, CLUES8, penalty=0.7, violations=violations)
    best = np.inf
    for z in itertools.product(range(3), repeat=5):
        z = np.array(z)
        means = [plain.mass[z == h] @ plain.means[z == h] / max(plain.mass[z == h].sum(), 1) for h in range(3)]
        best = min(best, plain.value(z, np.array(means)))
    values = [
        model(3, violations=violations, penalty=0.7, init="random", order="random", random_state=s)
        .fit(TOY8, clues=CLUES8)
        .objective_
        for s in range(60)
    ]
    assert min(values) == pytest.approx(best)
    assert all(v >= best - 1e-9 for v in values)


def test_the_order_is_the_ranking_unless_told_otherwise():
    """The most bound closure is placed first, where it is nearest, whatever the order of the rows."""
    X = np.array([[0.0], [0.1], [0.2], [0.3], [1.0], [1.1]])
    clues = Clues(6, cannot=[(5, 0), (5, 1), (5, 2), (5, 3), (5, 4)])
    start = [[0.5], [20.0]]
    ranked = model(2, init=start, max_iter=1, penalty=1e5).fit(X, clues=clues)
    assert ranked.labels_.tolist() == [1, 1, 1, 1, 1, 0]
    by_index = model(2, init=start, max_iter=1, penalty=1e5, order="index").fit(X, clues=clues)
    assert by_index.labels_.tolist() == [0, 0, 0, 0, 0, 1]
    by_rows = model(2, init=start, max_iter=1, penalty=1e5, order=[5, 0, 1, 2, 3, 4]).fit(X, clues=clues)
    np.testing.assert_array_equal(by_rows.labels_, ranked.labels_)
    tail = {
        tuple(model(2, init=start, max_iter=1, penalty=1e5, threshold=99.0, random_state=s).fit(X, clues=clues).labels_)
        for s in range(8)
    }
    assert len(tail) > 1  # all below the threshold: the order is drawn


def test_contradictions_are_refused_before_any_work():
    def never(*_, **__):
        raise AssertionError("a start was made")

    clues = Clues(8, must=[(0, 1), (1, 2)], cannot=[(0, 2)])
    with pytest.raises(Contradiction, match="must-links join them: 0 - 1 - 2") as caught:
        ClosurePCKMeans(2, init=never).fit(TOY8, clues=clues)
    assert caught.value.conflicts
    with pytest.raises(Contradiction):
        ClosurePCKMeans(2).fit(TOY8, clues=Clues(8, labels=[0, 1] + [-1] * 6, together=[1, 1] + [None] * 6))


def test_too_many_exclusions_are_allowed():
    """Cannot-links are soft: one cluster breaks them all, three mutual ones do not fit into two."""
    clues = Clues(8, cannot=[(0, 1), (1, 2), (0, 2)])
    assert len(model(1).fit(TOY8, clues=clues).broken_.cannot) == 3
    assert len(model(2, penalty=1e3).fit(TOY8, clues=clues).broken_.cannot) == 1
    everybody = model(3, penalty=1e3).fit(TOY8, clues=Clues(8, apart=np.zeros(8)))
    assert sorted(np.bincount(everybody.labels_)) == [2, 3, 3]


def test_different_weights_of_must_links_are_ignored_with_a_warning():
    must = [(0, 1), (4, 5)]
    with pytest.warns(SoftClueWarning, match="takes every must-link as hard; their weights, which differ"):
        odd = model(3, init=START8).fit(TOY8, clues=Clues(8, must=must, must_weight=[0.1, 3.0]))
    with pytest.warns(SoftClueWarning):
        model(3, init=START8).fit(TOY8, clues=Clues(8, together=[0, 0, 1, 1] + [-1] * 4, together_weight=[1.0, 2.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        even = model(3, init=START8).fit(TOY8, clues=Clues(8, must=must, must_weight=3.0))
        model(3, init=START8).fit(TOY8, clues=Clues(8, cannot=must, cannot_weight=[0.1, 3.0]))
    np.testing.assert_array_equal(odd.labels_, even.labels_)


def test_infinite_weights_are_refused():
    with pytest.raises(ClueError, match="infinite"):
        ClosurePCKMeans(2).fit(TOY8, clues=Clues(8, cannot=[(0, 1)], cannot_weight=np.inf))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("profile", "own"),
        ("penalty", -1.0),
        ("penalty", "auto"),
        ("degree_weight", -1.0),
        ("size_weight", -0.1),
        ("threshold", "median"),
        ("violations", "closures"),
        ("order", "degeneracy"),
        ("order", [0, 1]),
        ("init", "perturbed"),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        ClosurePCKMeans(2, **{name: value}).fit(TOY8, clues=CLUES8)


def test_degenerate_data():
    one = Clues(8, must=[(i, i + 1) for i in range(7)])
    with pytest.warns(UserWarning, match="only 1 of 2 clusters"):
        found = model(2).fit(TOY8, clues=one)
    assert found.objective_ == pytest.approx(0, abs=1e-9)
    each = model(8, init=TOY8).fit(TOY8, clues=Clues(8, apart=np.zeros(8)))
    assert each.n_clusters_ == 8
    assert each.objective_ == 0
    weight = np.array([0.0, 0, 1, 1, 1, 1, 1, 1])
    found = model(3, init=START8).fit(TOY8, clues=CLUES8, sample_weight=weight)  # a closure without mass
    assert np.isfinite(found.objective_)
    assert found.labels_[0] == found.labels_[1]


@pytest.mark.parametrize("init", ["neighborhoods", "farthest-first", "k-means++", "random"])
def test_starts(init):
    y = np.repeat([0, 1, 2], 20)
    X = np.random.default_rng(0).normal(size=(60, 2)) + 10 * np.column_stack([y, y == 1])
    clues = Clues.sample(y, pairs=40, random_state=1)
    found = ClosurePCKMeans(3, init=init, n_init=10, random_state=0).fit(X, clues=clues)
    assert not found.broken_.kinds
    assert found.predict(X).tolist() == found.labels_.tolist()


def test_golden():
    X, y = load_iris(return_X_y=True)
    found = ClosurePCKMeans(3, random_state=0).fit(X, clues=Clues.sample(y, pairs=100, random_state=0))
    assert found.objective_ == pytest.approx(32.0021377626, abs=1e-6)


# Laws that fit large data or many times over see fewer examples.


@pytest.mark.parametrize("params", [{"violations": "one", "penalty": 3.7}, {"threshold": "mean"}, {"order": "random"}])
def test_laws_with_other_parameters(params):
    check_clusterer(ClosurePCKMeans(**params), random_state=1)


def test_laws_of_the_paper_rule():
    """All but the one that it cannot obey."""
    estimator = ClosurePCKMeans(3, profile="published")
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(40) % 3)
    X = 5 * np.column_stack([y, y == 1]) + rng.normal(size=(40, 2))
    clues = Clues.sample(y, pairs=30, random_state=0)
    for law in laws_for(estimator):
        if law.__name__ != "law_objective_never_rises":
            law(estimator, X, clues, np.random.default_rng(1))
