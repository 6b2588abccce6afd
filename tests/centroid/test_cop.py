"""COPKMeans: every clue holds, or an exception says why none can; never a broken link, never for ever."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine

from cluewise import Clues, Contradiction, COPKMeans, Infeasible, Undecided
from cluewise.centroid._cop import conflicts
from cluewise.datasets import load
from strategies import PAIR_KINDS, cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
TOY8 = np.array([[0.0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]])
LINE = np.array([[0.0], [1], [10], [11]])


def holds(clues, labels):
    must, _, cannot, _ = clues.pairs(expand=True)
    together = (labels[must[:, 0]] == labels[must[:, 1]]).all()
    return together and (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()


def test_worked_example_of_the_survey():
    """[cop_kmeans]."""
    clues = Clues(8, must=[(3, 7)], cannot=[(2, 3)])
    model = COPKMeans(2, init=A8[[0, 4]], order="index").fit(A8, clues=clues)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    np.testing.assert_allclose(model.cluster_centers_, [[0.366667, 0.433333], [3.44, 3.42]], atol=2e-6)
    np.testing.assert_allclose(model.trace_, [16.873333, 16.873333], atol=2e-6)
    first = ((A8 - A8[[0, 4]][model.labels_]) ** 2).sum()
    assert first == pytest.approx(21.32)  # the half-step before the means
    assert model.gap_ == 0
    assert not model.broken_.kinds


def test_worked_example_of_the_seed_paper():
    clues = Clues(8, must=[(2, 3)], cannot=[(3, 4), (0, 1)])
    model = COPKMeans(3, init=TOY8[[0, 4, 6]], order="index").fit(TOY8, clues=clues)
    assert model.labels_.tolist() == [0, 1, 0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(model.cluster_centers_, [[4 / 3, 0], [8 / 3, 2 / 3], [7.5, 0.5]])


def greedy(X, centers, clues):
    """The published pass, in index order, row by row: labels, or the row where it fails (E9: placed rows only)."""
    labels = np.full(len(X), -1)
    for i in range(len(X)):
        for h in ((X[i] - centers) ** 2).sum(axis=1).argsort(kind="stable"):
            must = [labels[a + b - i] for a, b in clues.must.tolist() if i in (a, b)]
            cannot = [labels[a + b - i] for a, b in clues.cannot.tolist() if i in (a, b)]
            if all(m in (-1, h) for m in must) and h not in cannot:
                labels[i] = h
                break
        else:
            return i
    return labels.tolist()


def test_a_dead_end_is_searched():
    """[cop_kmeans_failure]: the published pass fails at row 3 although two labelings would do."""
    clues = Clues(4, cannot=[(0, 1), (0, 3), (2, 3)])
    assert greedy(LINE, LINE[:2], clues) == 3
    feasible = [labels for labels in itertools.product(range(2), repeat=4) if holds(clues, np.array(labels))]
    assert feasible == [(0, 1, 0, 1), (1, 0, 1, 0)]
    for order in ("index", "degeneracy", "random", [3, 2, 0, 1]):
        model = COPKMeans(2, init=LINE[:2], order=order, random_state=0).fit(LINE, clues=clues)
        assert model.labels_.tolist() == [0, 1, 0, 1]


def test_e9_rows_that_are_not_placed_yet_forbid_nothing():
    """Read as printed, the first row of every must-link could never be placed."""
    clues = Clues(4, must=[(0, 1), (2, 3)])
    assert COPKMeans(2, init=LINE[[0, 2]]).fit(LINE, clues=clues).labels_.tolist() == [0, 0, 1, 1]
    assert greedy(LINE, LINE[[0, 2]], clues) == [0, 0, 1, 1]


def test_links_into_cluster_0_hold():
    """A public port asks ``label > 0`` for "placed" and so forgets must-links into cluster 0."""
    X = np.vstack([np.random.default_rng(0).normal(size=(20, 2)), np.random.default_rng(1).normal(size=(20, 2)) + 9])
    clues = Clues(40, must=[(0, 20), (1, 21), (2, 22)])
    for seed in range(20):
        assert not COPKMeans(2, random_state=seed).fit(X, clues=clues).broken_.kinds


@given(cases(PAIR_KINDS))
def test_hard_is_hard(case):
    model = COPKMeans(case.k, random_state=0).fit(case.X, clues=case.clues)
    assert holds(case.clues, model.labels_)
    assert (np.diff(model.trace_) <= 1e-9 * (1 + model.trace_[0])).all()


@given(cases(PAIR_KINDS), st.sampled_from(["index", "random", "degeneracy"]))
def test_zero_weights_break_nothing(case, order):
    weight = case.rng.integers(0, 2, size=len(case.X)).astype(float)
    weight[0] = 1
    model = COPKMeans(case.k, order=order, random_state=0).fit(case.X, clues=case.clues, sample_weight=weight)
    assert holds(case.clues, model.labels_)


@given(cases({"must", "together"}))
def test_must_links_alone_are_weighted_kmeans_on_components(case):
    """Collapse = no collapse: an oracle that knows nothing of clues."""
    component = case.clues.components
    size = np.bincount(component)
    means = np.array([case.X[component == c].mean(axis=0) for c in range(len(size))])
    start = means[case.rng.choice(len(means), min(case.k, len(means)), replace=False)]
    plain = KMeans(len(start), init=start, n_init=1, tol=0, algorithm="lloyd").fit(means, sample_weight=size)
    if len(np.unique(plain.labels_)) == len(start):
        model = COPKMeans(len(start), init=start, tol=0).fit(case.X, clues=case.clues)
        np.testing.assert_array_equal(model.labels_, plain.labels_[component])


@given(cases({"must", "cannot"}))
def test_two_clusters_are_exact(case):
    """Each connected set of cannot-links has two options, and the cheaper one is taken."""
    y = case.y % 2
    pairs = np.vstack([case.clues.must, case.clues.cannot])
    apart = y[pairs[:, 0]] != y[pairs[:, 1]]
    clues = Clues(len(y), must=pairs[~apart], cannot=pairs[apart])
    model = COPKMeans(2, init=case.X[:2], max_iter=1).fit(case.X, clues=clues)
    squared = ((case.X[:, None] - case.X[:2]) ** 2).sum(axis=2)
    tied = clues.tied  # the others are assigned once more, to centers that have moved
    cost = squared[tied, model.labels_[tied]].sum()
    from scipy.sparse.csgraph import connected_components

    matrix = np.zeros((len(y), len(y)))
    matrix[pairs[:, 0], pairs[:, 1]] = 1
    part = connected_components(matrix, directed=False)[1]
    best = 0.0
    for p in np.unique(part[tied]):
        mine = np.flatnonzero(part == p)
        best += min(squared[mine, y[mine]].sum(), squared[mine, 1 - y[mine]].sum())
    if model.n_clusters_ == 2:
        assert cost == pytest.approx(best)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_more_clusters_than_links_per_row_never_need_a_search(seed):
    """K ≥ maxdegree + 1: the default order cannot fail, so nothing is searched."""
    rng = np.random.default_rng(seed)
    n = 40
    pairs = np.unique(np.sort(rng.integers(n, size=(50, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    k = max(3, int(np.bincount(pairs.ravel()).max()) + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conflicts, "cheapest", None)
        model = COPKMeans(k, random_state=0).fit(rng.normal(size=(n, 2)), clues=Clues(n, cannot=pairs))
    assert not model.broken_.kinds


def hidden_coloring(n, k, links, rng):
    """Cannot-links that some random labeling, unrelated to the data, satisfies."""
    y = rng.integers(k, size=n)
    pairs = rng.integers(n, size=(4 * links, 2))
    return Clues(n, cannot=pairs[y[pairs[:, 0]] != y[pairs[:, 1]]][:links])


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_satisfiable_pairs_are_satisfied(name, sweep):
    X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
    run_satisfiable(X, y, sweep(40, 200))


@pytest.mark.needs_data
@pytest.mark.parametrize("name", ["glass", "zoo", "vowel"])
def test_satisfiable_pairs_are_satisfied_on_more_sets(name, sweep):
    found = load(name)
    run_satisfiable(found.X, found.y, sweep(40, 200))


def run_satisfiable(X, y, count):
    """Up to n pairs, half of them drawn from the true classes and half from labels that have nothing to do with X."""
    n, k = len(X), len(np.unique(y))
    for seed in range(count):
        rng = np.random.default_rng(seed)
        truth = y if seed % 2 else rng.permutation(y)
        clues = Clues.sample(truth, pairs=int(rng.integers(1, n + 1)), random_state=seed)
        model = COPKMeans(k, random_state=seed, n_init=1 + seed % 3).fit(X, clues=clues)
        assert holds(clues, model.labels_)
        assert not model.broken_.kinds


@pytest.mark.parametrize("seed", range(8))
def test_hard_colorings_are_found(seed):
    """Three clusters, 2.2 cannot-links per row: close to where random graphs stop being colorable."""
    rng = np.random.default_rng(seed)
    clues = hidden_coloring(80, 3, 176, rng)
    model = COPKMeans(3, random_state=0, n_init=1, time_limit=10).fit(rng.normal(size=(80, 2)), clues=clues)
    assert holds(clues, model.labels_)


def optimum(X, clues, k):
    best = np.inf
    for labels in itertools.product(range(k), repeat=len(X)):
        labels = np.array(labels)
        if holds(clues, labels):
            means = {h: X[labels == h].mean(axis=0) for h in set(labels)}
            best = min(best, sum(((x - means[h]) ** 2).sum() for x, h in zip(X, labels)))
    return best


@pytest.mark.parametrize("clues", [Clues(8, must=[(3, 7)], cannot=[(2, 3), (0, 1), (4, 6)]), Clues(8, cannot=[(0, 2)])])
def test_best_of_many_starts_is_the_optimum(clues):
    best = optimum(A8, clues, 3)
    values = [
        COPKMeans(3, init="random", n_init=1, order="random", random_state=s).fit(A8, clues=clues).objective_
        for s in range(60)
    ]
    assert min(values) == pytest.approx(best)
    assert all(v >= best - 1e-9 for v in values)


def test_contradiction():
    clues = Clues(8, must=[(0, 1), (1, 2), (5, 6)], cannot=[(0, 2)])
    with pytest.raises(
        Contradiction, match=r"rows 0 and 2 must be apart .* but must-links join them: 0 - 1 - 2"
    ) as caught:
        COPKMeans(3).fit(A8, clues=clues)
    assert len(caught.value.conflicts) == 1


def test_a_clique_larger_than_k():
    every = [(a, b) for a in range(4) for b in range(a)]
    with pytest.raises(Infeasible, match="rows 0, 1, 2 and 3 must all be apart, which needs 4 clusters"):
        COPKMeans(3).fit(TOY8, clues=Clues(8, cannot=every))


WHEEL = [(0, i) for i in range(1, 6)] + [(1, 2), (2, 3), (3, 4), (4, 5), (1, 5)]


def test_infeasible_without_a_clique_has_an_irreducible_witness():
    """A hub and a ring of five need four clusters, though no four rows exclude each other."""
    rng = np.random.default_rng(0)
    extra = [(6 + i, 6 + j) for i in range(10) for j in range(i) if rng.random() < 0.15]
    clues = Clues(20, cannot=[*WHEEL, *extra, (2, 9), (4, 12)], must=[(17, 18), (5, 19)])
    X = rng.normal(size=(20, 2))
    with pytest.raises(Infeasible) as caught:
        COPKMeans(3).fit(X, clues=clues)
    witness = caught.value.witness
    assert sorted(map(tuple, witness.cannot.tolist())) == sorted(WHEEL)
    assert witness.feasible(3) is False
    for out in range(len(witness.cannot)):
        fewer = witness.subset(cannot=np.arange(len(witness.cannot)) != out, must=np.ones(len(witness.must), bool))
        assert fewer.feasible(3)
    assert COPKMeans(4).fit(X, clues=clues).n_clusters_ == 4


def test_infeasible_found_by_the_long_search(monkeypatch):
    """Where the short search before the fit could not tell, the long one names rows and clues just the same."""
    monkeypatch.setattr(Clues, "require", lambda self, k: None)
    clues = Clues(9, cannot=[*WHEEL, (6, 7)], must=[(5, 8)])
    with pytest.raises(Infeasible, match="rows 0, 1, 2, 3, 4 and 5 cannot be spread over 3 clusters") as caught:
        COPKMeans(3, random_state=0).fit(np.random.default_rng(0).normal(size=(9, 2)), clues=clues)
    assert sorted(map(tuple, caught.value.witness.cannot.tolist())) == sorted(WHEEL)


def test_the_time_limit_is_kept():
    """At the threshold where a proof is hardest: an answer or `Undecided`, soon after the limit."""
    rng = np.random.default_rng(5)
    n = 400
    pairs = rng.integers(n, size=(950, 2))
    clues = Clues(n, cannot=pairs[pairs[:, 0] != pairs[:, 1]])
    began = time.monotonic()
    try:
        model = COPKMeans(3, time_limit=1.0, random_state=0).fit(rng.normal(size=(n, 2)), clues=clues)
    except (Infeasible, Undecided):
        pass
    else:
        assert holds(clues, model.labels_)
    assert time.monotonic() - began < 60  # a busy machine


@pytest.mark.parametrize("tired", [{0}, {1, 2}, {0, 1, 2}])
def test_undecided_only_when_no_start_found_anything(monkeypatch, tired):
    """A start that runs out of time is no reason to throw away what another one found."""
    calls = []

    def sometimes(*args, incumbent, **kwargs):
        calls.append(incumbent is None)
        if incumbent is None and sum(calls) - 1 in tired:
            raise Undecided("no answer in time.")
        return cheapest(*args, incumbent=incumbent, **kwargs)

    cheapest = conflicts.cheapest
    monkeypatch.setattr(conflicts, "cheapest", sometimes)
    clues = Clues(4, cannot=[(0, 1), (0, 3), (2, 3)])
    model = COPKMeans(2, n_init=3, random_state=0)
    if len(tired) == 3:
        with pytest.raises(Undecided, match="no answer in time"):
            model.fit(LINE, clues=clues)
    else:
        assert holds(clues, model.fit(LINE, clues=clues).labels_)
    assert sum(calls) == 3


def test_one_given_start_has_the_whole_time(monkeypatch):
    """``n_init`` starts share the limit, but given centers are one start whatever n_init says."""
    seconds = []

    def spy(*args, time_limit, **kwargs):
        seconds.append(time_limit)
        return cheapest(*args, time_limit=time_limit, **kwargs)

    cheapest = conflicts.cheapest
    monkeypatch.setattr(conflicts, "cheapest", spy)
    clues = Clues(4, cannot=[(0, 1), (0, 3), (2, 3)])
    COPKMeans(2, init=LINE[:2], n_init=5, time_limit=20.0).fit(LINE, clues=clues)
    assert seconds[0] == 20.0


def test_labels_and_groups_are_hard_too():
    clues = Clues(
        8, labels=[0, -1, -1, -1, -1, -1, 0, -1], apart=[0, 0, 0, -1, -1, -1, -1, -1], together=[-1] * 6 + [3, 3]
    )
    model = COPKMeans(3, random_state=0).fit(A8, clues=clues)
    labels = model.labels_
    assert labels[0] == labels[6] == labels[7]
    assert len(set(labels[:3])) == 3


def test_margin_is_negative_where_only_a_clue_holds_a_row():
    model = COPKMeans(2, init=LINE[[0, 3]]).fit(LINE, clues=Clues(4, cannot=[(0, 1)]))
    assert model.labels_.tolist() in ([0, 1, 1, 1], [1, 0, 1, 1])
    assert (model.margin_ < 0).sum() == 1


@pytest.mark.parametrize("order", [[0, 1, 2], "sideways", [0, 0, 1, 2]])
def test_a_bad_order_is_named(order):
    with pytest.raises(ValueError, match="order"):
        COPKMeans(2, order=order).fit(LINE, clues=Clues(4, cannot=[(0, 1)]))


def test_the_order_decides_who_comes_first():
    """Rows 1 and 2 both want cluster 1; whoever is placed first gets it."""
    X = np.array([[0.0], [10], [10.2], [30]])
    clues = Clues(4, cannot=[(1, 2)])
    start = [[0.0], [10.1], [30]]
    first = COPKMeans(3, init=start, order=[1, 2, 0, 3], max_iter=1).fit(X, clues=clues)
    second = COPKMeans(3, init=start, order=[2, 1, 0, 3], max_iter=1).fit(X, clues=clues)
    assert first.labels_.tolist() == [0, 1, 0, 2]
    assert second.labels_.tolist() == [0, 0, 1, 2]


def test_golden():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = COPKMeans(3, random_state=0).fit(X, clues=Clues.sample(y, pairs=100, random_state=0))
    assert model.objective_ == pytest.approx(1279.966152775, abs=1e-6)
