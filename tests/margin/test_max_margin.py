"""MaxMarginClusterer: the worked example, losses by enumeration, convex problems, descent, balance, odd input."""

import itertools
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from cluewise import Clues
from cluewise.core.centers import scatter
from cluewise.core.rows import rows_of
from cluewise.datasets import load
from cluewise.exceptions import ClueError
from cluewise.margin import _margins as margin
from cluewise.margin._margins import Prices
from cluewise.margin._max_margin import MaxMarginClusterer, step
from cluewise.metrics import ari
from strategies import cases

TOY8 = np.array([(0, 0), (0, 1), (1, 0), (3, 0), (4, 1), (4, 0), (7, 0), (8, 1)], dtype=float)
PRICES = Prices(0.1, 2.0, 0.5)


def table_for(X, clues):
    rows = rows_of(np.asarray(X, dtype=float))
    return margin.table_of(rows, clues, scatter(rows))


def plain_objective(S, slope, clues, prices, weight=None):
    """The objective of a table of scores, written down as in the docstring, link by link and cluster by cluster."""
    n, k = S.shape
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    tied = {int(row) for pair in (*must, *cannot) for row in pair}
    free = [i for i in range(n) if i not in tied]
    weight = np.ones(n) if weight is None else weight
    value = prices.size / 2 * (slope**2).sum()
    lost = [max(0, 1 - (sorted(S[i])[-1] - sorted(S[i])[-2])) for i in free]
    value += np.dot(lost, weight[free]) / weight[free].sum() if free else 0
    links = [(*pair, w, 1) for pair, w in zip(must, must_weight)]
    links += [(*pair, w, -1) for pair, w in zip(cannot, cannot_weight)]
    for i, j, w, sign in links:
        same = max(S[i, c] + S[j, c] for c in range(k))
        other = max(S[i, a] + S[j, b] for a, b in itertools.permutations(range(k), 2))
        value += prices.links * w * max(0, 1 - sign * (same - other)) / len(links)
    return value


def test_worked_example():
    S = (TOY8 - TOY8.mean(axis=0)) @ np.array([(-1, 0), (0, 0), (1, 0)]).T
    assert S[[2, 3, 5]].tolist() == [[2.375, 0, -2.375], [0.375, 0, -0.375], [-0.625, 0, 0.625]]
    (same, cluster), (other, *_) = margin.together(S[[2]], S[[3]]), margin.apart(S[[2]], S[[3]])
    assert (same, cluster, other) == (2.75, 0, 2.375)
    assert 1 - (same - other) == 0.625
    (same, _), (other, one, two) = margin.together(S[[3]], S[[5]]), margin.apart(S[[3]], S[[5]])
    assert 1 - (other - same) == 0.25
    assert (one, two) == (0, 2)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_best_pairs_of_clusters_by_enumeration(seed, k):
    a, b = np.random.default_rng(seed).integers(-3, 4, size=(2, 6, k)).astype(float)
    value, one, two = margin.apart(a, b)
    assert (one != two).all()
    for i in range(6):
        assert value[i] == max(a[i, c] + b[i, e] for c, e in itertools.permutations(range(k), 2))
        assert value[i] == a[i, one[i]] + b[i, two[i]]


@given(cases(max_rows=20, max_columns=4), st.booleans())
def test_objective_is_what_the_docstring_says(case, weighted):
    rng = case.rng
    weight = rng.integers(0, 3, size=len(case.X)) + 0.5 if weighted else None
    rows = rows_of(case.X, weight)
    table = margin.table_of(rows, case.clues, scatter(rows))
    model = rng.normal(size=(case.k, case.X.shape[1] + 1))
    moved = case.X - np.average(case.X, axis=0, weights=weight)
    moved /= np.sqrt(np.average((moved**2).sum(axis=1), weights=weight))
    S = moved @ model[:, :-1].T + model[:, -1]
    evaluation = margin.evaluate(table, model, PRICES)
    assert np.isclose(evaluation.objective, plain_objective(S, model[:, :-1], case.clues, PRICES, weight))
    assert (evaluation.choice.labels == S.argmax(axis=1)).all()


@given(cases(max_rows=15, max_columns=3))
def test_smoothed_problem(case):
    """Its derivative is right; it is never below the loss, above it by little, and equal where smoothing ends."""
    rng, k, d = case.rng, case.k, case.X.shape[1]
    table = table_for(case.X, case.clues)
    model = rng.normal(size=(k, d + 1))
    value, choice = margin.evaluate(table, model, PRICES)
    for smoothing in (0.5, 0.01):
        smooth = margin.smooth_objective(table, choice, model, PRICES, smoothing)[0]
        most = smoothing * (np.log(k) + PRICES.links * np.log(1 + k**2))
        assert value - 1e-9 <= smooth <= value + most + 1e-9
    # The right clusters of other scores give an upper bound everywhere, which is what makes CCCP descend.
    elsewhere = rng.normal(size=(k, d + 1))
    assert margin.evaluate(table, elsewhere, PRICES).objective <= (
        margin.smooth_objective(table, choice, elsewhere, PRICES, 1e-6)[0] + 1e-9
    )
    fixed = partial(margin.smooth_objective, table, choice, prices=PRICES, smoothing=0.5)
    error = check_grad(
        lambda v: fixed(model=v.reshape(k, -1))[0],
        lambda v: fixed(model=v.reshape(k, -1))[1].ravel(),
        elsewhere.ravel(),
    )
    assert error < 1e-5


def test_convex_problem_is_solved():
    """Two rows at ±1 with right clusters 0 and 1: w = ±t, loss [1 − 2t]₊ + λt², least at t = min(½, 1/λ)."""
    table = table_for([[-1.0], [1.0]], Clues(2))
    choice = margin.evaluate(table, np.array([[-1.0, 0], [1, 0]]), Prices(1, 1, 0)).choice
    for size, t in ((0.1, 0.5), (4.0, 0.25)):
        found = margin.improve(table, choice, np.zeros((2, 2)), Prices(size, 1, 0), 1e-3)
        assert np.allclose(found, [[-t, 0], [t, 0]], atol=0.01)


@given(cases(max_rows=25, max_columns=4))
def test_falls_and_respects_the_balance(case):
    model = MaxMarginClusterer(case.k, balance=0.3, random_state=0, n_init=1, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(case.X, clues=case.clues)
    assert (np.diff(model.trace_) <= 0).all()
    S = model.decision_function(case.X)
    assert np.ptp(S.mean(axis=0)) <= 0.3 + 1e-8
    assert (S.argmax(axis=1) == model.labels_).all()
    ordered = np.sort(S, axis=1)
    assert np.allclose(model.margin_, ordered[:, -1] - ordered[:, -2])
    assert np.allclose(S, case.X @ model.coef_.T + model.intercept_)
    spread = np.sqrt(((case.X - case.X.mean(axis=0)) ** 2).sum() / len(case.X))
    prices = Prices(model.regularization, model.trust, model.balance)
    assert np.isclose(model.objective_, plain_objective(S, spread * model.coef_, case.clues, prices))


def test_a_step_that_does_not_fall_is_not_taken():
    model = MaxMarginClusterer(2, random_state=0, tol=0).fit(TOY8)
    table = table_for(TOY8, Clues(8))
    spread = np.column_stack([model.coef_ * table.scale, model._mean_scores])
    prices = Prices(0.01, 5.0, 0.7)
    value, choice = margin.evaluate(table, spread, prices)
    state = type("At", (), {"table": table, "choice": choice, "model": spread, "objective": -1.0, "labels": None})
    same, info = step(state, prices=prices)
    assert same is state
    assert info == (-1.0, 0)
    assert np.isclose(value, model.objective_)


def test_brute_force_on_two_clouds():
    """Of all partitions of eight rows by a boundary, the best convex problem is the one that was found."""
    X = np.array([(0, 0), (0, 1), (1, 0), (1, 1.5), (5, 5), (5, 6), (6, 5), (6.5, 6)])
    table, prices = table_for(X, Clues(8)), Prices(0.1, 1.0, 0.5)
    values = []
    for bits in itertools.product((0, 1), repeat=7):
        choice = margin.Choice(np.array((0, *bits)), [])
        found = margin.improve(table, choice, np.zeros((2, 3)), prices, 0.002)
        values.append((margin.evaluate(table, found, prices).objective, bits))
    best = min(values)
    assert best[1] == (0, 0, 0, 1, 1, 1, 1)
    model = MaxMarginClusterer(2, regularization=0.1, balance=0.5, random_state=0, tol=0).fit(X)
    assert model.objective_ <= best[0] + 1e-3
    assert (model.labels_ == model.labels_[0]).tolist() == [True] * 4 + [False] * 4


def test_three_clusters_on_a_line_need_the_intercepts():
    X = np.concatenate([c + np.linspace(-0.3, 0.3, 10) for c in (-6.0, 0.0, 6.0)])[:, None]
    y = np.repeat([0, 1, 2], 10)
    assert ari(y, MaxMarginClusterer(3, random_state=0).fit(X).labels_) == 1
    with pytest.warns(ConvergenceWarning, match="only 2 of 3"):
        assert MaxMarginClusterer(3, balance=0, random_state=0).fit(X).n_clusters_ == 2


def test_links_find_the_column_that_matters():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = np.column_stack([2 * y + 0.4 * rng.normal(size=300), *(3 * rng.normal(size=(4, 300)))])
    clues = Clues.sample(y, pairs=150, random_state=0)
    assert ari(y, MaxMarginClusterer(2, random_state=0).fit(X).labels_) < 0.2
    model = MaxMarginClusterer(2, random_state=0).fit(X, clues=clues)
    assert ari(y, model.labels_) > 0.9
    assert np.abs(model.coef_[0]).argmax() == 0


@pytest.mark.needs_data
def test_links_help_on_ionosphere():
    data = load("ionosphere", standardize=True)
    scores = [
        [
            ari(data.y, MaxMarginClusterer(2, random_state=0).fit(data.X, clues=clues).labels_)
            for clues in (None, Clues.sample(data.y, pairs=300, random_state=s))
        ]
        for s in range(3)
    ]
    without, with_clues = np.mean(scores, axis=0)
    assert with_clues > without + 0.2


def test_golden_number():
    X, y = load_wine(return_X_y=True)
    clues = Clues.sample(y, pairs=60, random_state=0)
    model = MaxMarginClusterer(3, random_state=0).fit(StandardScaler().fit_transform(X), clues=clues)
    assert np.isclose(model.objective_, 0.168881, rtol=1e-3)
    assert ari(y, model.labels_) > 0.85


def test_contradictory_links_weigh_against_each_other():
    X = np.array([[0.0], [1.0], [8.0], [9.0]])
    clues = Clues(4, must=[(1, 2)], cannot=[(1, 2)], must_weight=[0.2], cannot_weight=[1.0])
    assert len(MaxMarginClusterer(2, random_state=0).fit(X, clues=clues).broken_.must) == 1


@pytest.mark.parametrize(
    "init", ["k-means", "k-means++", "random", [[0.0, 0], [7, 1]], lambda X, k, random_state: X[:k]]
)
def test_starts(init):
    model = MaxMarginClusterer(2, init=init, random_state=1).fit(TOY8)
    assert model.n_clusters_ == 2


def test_odd_input():
    one = MaxMarginClusterer(1).fit(TOY8, clues=Clues(8, cannot=[(0, 1)]))
    assert one.objective_ == 0
    assert np.isinf(one.margin_).all()
    assert len(one.broken_.cannot) == 1
    assert (one.predict(TOY8) == 0).all()
    with pytest.warns(ConvergenceWarning):
        constant = MaxMarginClusterer(2, random_state=0).fit(np.ones((5, 2)))
    assert np.isfinite(constant.coef_).all()
    assert MaxMarginClusterer(1).fit([[3.0]]).labels_ == [0]
    tied = MaxMarginClusterer(2, random_state=0).fit(TOY8[:2], clues=Clues(2, cannot=[(0, 1)]))
    assert not tied.broken_.cannot.size
    far = MaxMarginClusterer(2, random_state=0).fit(TOY8 + 1e7, clues=Clues(8, must=[(0, 1)]))
    assert (far.predict(TOY8 + 1e7) == far.labels_).all()
    with pytest.raises(ValueError, match="init='best'"):
        MaxMarginClusterer(2, init="best").fit(TOY8)
    many = Clues.from_labels(np.zeros(2001, dtype=int))
    with pytest.raises(ClueError, match="2001000 links"):
        MaxMarginClusterer(2).fit(np.random.default_rng(0).normal(size=(2001, 1)), clues=many)


def test_sparse_rows_stay_sparse():
    X = csr_array(TOY8)
    clues = Clues(8, must=[(2, 3)], cannot=[(3, 5)])
    dense, sparse = (MaxMarginClusterer(3, init=TOY8[[0, 4, 6]]).fit(x, clues=clues) for x in (TOY8, X))
    assert np.allclose(dense.coef_, sparse.coef_, atol=1e-5)
    assert np.allclose(dense.decision_function(TOY8), sparse.decision_function(X), atol=1e-5)
