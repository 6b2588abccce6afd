"""PCCC: brute force on eight rows, reductions to K-means, hard clues that hold, soft ones that are paid for."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from cluewise import Clues
from cluewise.centroid._pccc import pccc as _pccc
from cluewise.centroid._pccc.pccc import PCCC
from cluewise.core.centers import LOG_ODDS
from cluewise.exceptions import ClueError, Contradiction, Infeasible, SoftClueWarning, Undecided, UnusedClueWarning
from cluewise.metrics import ari
from strategies import PAIR_KINDS, cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
TOY = np.array([[0.0], [1], [2], [10], [11], [12]])


def price(clues, labels, finite=True):
    """Weight of the broken links, one by one; those of infinite weight apart."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    split = must_weight[labels[must[:, 0]] != labels[must[:, 1]]]
    joined = cannot_weight[labels[cannot[:, 0]] == labels[cannot[:, 1]]]
    both = np.concatenate([split, joined])
    return both[np.isfinite(both)].sum() if finite else np.isinf(both).any()


def blended(seed, n=8):
    """Certain and doubtful clues of all kinds but labels about A8, which clusters {0, 1, 2} and the rest satisfy."""
    rng = np.random.default_rng(seed)
    y = (A8.sum(axis=1) > 2.5).astype(int)

    def pairs(count, same=None):
        found = rng.integers(n, size=(count, 2))
        found = found[found[:, 0] != found[:, 1]]
        return found if same is None else found[(y[found[:, 0]] == y[found[:, 1]]) == same]

    certain = Clues(n, must=pairs(1, True), cannot=pairs(1, False), must_weight=np.inf, cannot_weight=np.inf)
    certain |= Clues(n, apart=[0, None, None, None, None, 0, None, None], apart_weight=np.inf)
    doubtful = Clues(n, must=pairs(3), cannot=pairs(3), confidence=0.8)
    doubtful |= Clues(n, together=rng.integers(-1, 2, size=n), together_weight=0.2)
    doubtful |= Clues(n, apart=rng.integers(-1, 3, size=n), apart_weight=0.1)
    return certain | doubtful | Clues(n, sizes=(3, 5))


@pytest.mark.parametrize("seed", range(8))
def test_one_iteration_on_eight_rows_is_the_best_of_all_assignments(seed):
    clues, start, penalty = blended(seed), A8[[0, 5]], 2.0
    model = PCCC(2, hard="infinite", penalty=penalty, init=start, max_iter=1).fit(A8, clues=clues)
    squared = ((A8[:, None] - start) ** 2).sum(axis=2)

    def cost(labels):
        size = np.bincount(labels, minlength=2)
        if price(clues, labels, finite=False) or size.min() < 3 or size.max() > 5:
            return np.inf
        return squared[np.arange(8), labels].sum() + penalty * price(clues, labels)

    best = min((np.array(labels) for labels in itertools.product(range(2), repeat=8)), key=cost)
    assert cost(model.labels_) == pytest.approx(cost(best))
    assert model.gap_ <= 1e-6
    means = np.array([A8[model.labels_ == h].mean(axis=0) for h in range(2)])
    np.testing.assert_allclose(model.cluster_centers_, means)
    expected = ((A8 - means[model.labels_]) ** 2).sum() + penalty * price(clues, model.labels_)
    assert model.objective_ == pytest.approx(expected)
    assert model.broken_cost_ == pytest.approx(penalty * price(clues, model.labels_))


@settings(max_examples=15)
@given(cases(PAIR_KINDS | {"sizes"}, noise=0.3, max_rows=25, max_columns=4))
def test_the_objective_never_rises_and_is_what_it_says(case):
    """Every clue wrong now and then, all soft, but sizes and labels, which hold."""
    assume(len(np.unique(case.clues.components)) >= case.k)
    soft = case.clues
    try:
        model = PCCC(case.k, hard="infinite", random_state=0, n_init=2, time_limit=5).fit(case.X, clues=soft)
    except Infeasible:  # labels that lie need not agree with sizes
        return
    assert (np.diff(model.trace_) <= 1e-9 * (1 + model.trace_[0])).all()
    squared = ((case.X - model.cluster_centers_[model.labels_]) ** 2).sum()
    without = soft.only(soft.kinds - {"labels", "sizes"})
    assert model.objective_ == pytest.approx(squared + model.penalty_ * price(without, model.labels_))
    assert model.trace_[-1] == pytest.approx(model.objective_)
    assert not model.broken_.kinds & {"labels", "sizes"}


@settings(max_examples=15)
@given(cases(PAIR_KINDS | {"sizes"}, max_rows=30))
def test_hard_clues_always_hold(case):
    model = PCCC(case.k, random_state=0, n_init=2, time_limit=10).fit(case.X, clues=case.clues)
    assert not model.broken_.kinds
    assert (np.diff(model.trace_) <= 1e-9 * (1 + model.trace_[0])).all()


@pytest.mark.parametrize("clues", [None, "weight 0", "penalty 0"])
def test_without_clues_that_count_it_is_k_means(clues):
    X = np.random.default_rng(3).normal(size=(60, 3))
    start = X[:4]
    plain = KMeans(4, init=start, n_init=1, tol=0, algorithm="lloyd").fit(X)
    given, more = None, {}
    if clues is not None:
        weight = 0.0 if clues == "weight 0" else 1.0
        given = Clues(60, must=[(0, 1), (5, 9)], cannot=[(2, 3)], must_weight=weight, cannot_weight=weight)
        more = {"hard": "infinite", "penalty": 0.0} if clues == "penalty 0" else {"hard": "infinite"}
    model = PCCC(4, init=start, tol=0, **more).fit(X, clues=given)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.objective_ == pytest.approx(plain.inertia_)


def test_soft_links_give_way_to_distance_and_hard_ones_do_not():
    links = {"must": [(2, 3)], "cannot": [(0, 1)]}
    start = [[1.0], [11.0]]
    soft = PCCC(2, hard="infinite", penalty=1.0, init=start).fit(TOY, clues=Clues(6, **links))
    assert soft.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert (soft.broken_cost_, soft.objective_) == (2.0, 6.0)
    assert (len(soft.broken_.must), len(soft.broken_.cannot)) == (1, 1)
    dear = PCCC(2, hard="infinite", penalty=1000.0, init=start).fit(TOY, clues=Clues(6, **links))
    hard = PCCC(2, init=start).fit(TOY, clues=Clues(6, **links))
    np.testing.assert_array_equal(dear.labels_, hard.labels_)
    assert not hard.broken_.kinds
    mixed = Clues(6, **links, must_weight=np.inf)
    one = PCCC(2, hard="infinite", penalty=1.0, init=start).fit(TOY, clues=mixed)
    assert one.labels_[2] == one.labels_[3]
    assert one.broken_.kinds == {"cannot"}


def test_a_soft_link_inside_a_hard_component_is_paid_and_reported():
    clues = Clues(6, must=[(0, 1), (1, 2)], must_weight=np.inf, cannot=[(0, 2)], cannot_weight=0.5)
    model = PCCC(2, hard="infinite", penalty=3.0, init=[[1.0], [11.0]]).fit(TOY, clues=clues)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert model.broken_cost_ == 1.5
    assert model.trace_[-1] == pytest.approx(model.objective_)
    assert model.broken_.cannot.tolist() == [[0, 2]]


def test_labels_hold_and_carry_no_number():
    model = PCCC(2, hard="infinite", init=[[1.0], [11.0]]).fit(TOY, clues=[1, -1, -1, 0, -1, -1])
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert not model.broken_.kinds


def test_sizes_beside_links():
    clues = Clues(6, must=[(2, 3)], sizes=[(2, 2), (4, 4)])
    model = PCCC(2, init=[[1.0], [11.0]]).fit(TOY, clues=clues)
    assert model.labels_.tolist() == [0, 0, 1, 1, 1, 1]
    weights = np.array([1.0, 1, 4, 1, 1, 1])
    capacity = Clues(6, cannot=[(0, 1)], sizes=(4, 5), size_unit="weight")
    model = PCCC(2, init=[[1.0], [11.0]]).fit(TOY, clues=capacity, sample_weight=weights)
    assert sorted(np.bincount(model.labels_, weights=weights)) == [4, 5]
    assert model.labels_[0] != model.labels_[1]
    assert not model.broken_.kinds


def test_many_rows_within_bounds_and_links():
    """Flow for the free rows, prices for the nodes: more than goes into one program."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 500)
    X = rng.normal(size=(1500, 2)) + 2.5 * np.eye(3, 2)[y]
    clues = Clues.sample(y, labels=60, pairs=200, random_state=0) | Clues(1500, sizes=(500, 500))
    model = PCCC(3, random_state=0).fit(X, clues=clues)
    assert np.bincount(model.labels_).tolist() == [500, 500, 500]
    assert not model.broken_.kinds
    assert model.gap_ < 0.01


def test_an_empty_cluster_takes_a_row_that_can_be_spared():
    start = [[1.0], [11.0], [500.0]]
    assert PCCC(3, init=start).fit(TOY, clues=Clues(6, cannot=[(0, 3)])).n_clusters_ == 3
    assert PCCC(3, init=start).fit(TOY, clues=Clues(6, sizes=(0, 4))).n_clusters_ == 3
    with pytest.warns(UserWarning, match="only 2 of 3"):
        PCCC(3, init=start).fit(TOY, clues=Clues(6, sizes=[(3, 3), (3, 3), (0, 0)]))


def test_what_cannot_be_is_refused():
    certain = {"must_weight": np.inf, "cannot_weight": np.inf}
    soft = PCCC(2, hard="infinite")
    with pytest.raises(Contradiction, match="rows 0 and 2 must be apart"):
        soft.fit(TOY, clues=Clues(6, must=[(0, 1), (1, 2)], cannot=[(0, 2)], **certain))
    assert soft.fit(TOY, clues=Clues(6, must=[(0, 1), (1, 2)], cannot=[(0, 2)])).broken_.kinds
    with pytest.raises(Infeasible, match="rows 0, 1 and 2"):
        PCCC(2).fit(TOY, clues=Clues(6, apart=[0, 0, 0, None, None, None]))
    pairs = Clues(6, must=[(0, 3), (1, 4)], cannot=[(0, 1), (0, 2), (1, 5), (2, 5)], sizes=[(2, 2), (4, 4)])
    with pytest.raises(Infeasible, match="bounds on sizes"):
        PCCC(2).fit(TOY, clues=pairs)
    many = Clues(30_000, sizes=(1, None), size_unit="weight")
    with pytest.raises(ClueError, match="20000 rows times clusters"):
        PCCC(2).fit(np.zeros((30_000, 1)), clues=many, sample_weight=np.arange(30_000) + 1.0)


def test_what_a_short_check_misses_is_found_later(monkeypatch):
    """The check before the start gives up early; the search does not, and names rows all the same."""
    monkeypatch.setattr(Clues, "require", lambda *_: None)
    wheel = [(0, i) for i in range(1, 6)] + [(i, i % 5 + 1) for i in range(1, 6)]
    for clues, k, reason in (
        (Clues(6, cannot=wheel), 3, "rows 0, 1, 2, 3, 4 and 5 cannot be spread over 3 clusters"),
        (Clues(6, apart=[0, 0, 0, 0, None, None]), 3, "rows 0, 1, 2 and 3 must all be apart, which needs 4"),
    ):
        with pytest.raises(Infeasible, match=reason) as error:
            PCCC(k, random_state=0).fit(A8[:6], clues=clues)
        assert error.value.witness.kinds == clues.kinds


def test_warnings_about_weights_and_kinds():
    clues = Clues(6, must=[(0, 1), (1, 2)], must_weight=[1.0, 2.0])
    with pytest.warns(SoftClueWarning, match="takes every clue as hard"):
        PCCC(2, random_state=0).fit(TOY, clues=clues)
    with pytest.warns(UnusedClueWarning, match="partitions"):
        PCCC(2, hard="infinite", random_state=0).fit(TOY, clues=Clues(6, partitions=[0, 0, 0, 1, 1, 1]))


def test_prices():
    X = np.random.default_rng(0).normal(size=(50, 3)) + 7
    start = X[:2]
    clues = Clues(50, must=[(0, 9)])
    mean = PCCC(2, hard="infinite", penalty="mean", init=start).fit(X, clues=clues).penalty_
    assert mean == pytest.approx(((X[:, None] - start) ** 2).sum(axis=2).mean())
    near = ((X[:, None] - start) ** 2).sum(axis=2).argmin(axis=1)
    inside = X - np.array([X[near == h].mean(axis=0) for h in range(2)])[near]
    spread = np.linalg.eigvalsh(inside.T @ inside / 50)
    auto = PCCC(2, hard="infinite", init=start).fit(X, clues=clues).penalty_
    assert auto == pytest.approx(2 * LOG_ODDS * (spread**2).sum() / spread.sum())
    nothing = Clues(4, must=[(0, 1)])
    for rule in ("mean", "auto"):
        soft, hard = (PCCC(2, hard=which, penalty=rule, random_state=0) for which in ("infinite", "all"))
        with pytest.warns(UserWarning, match="only 1 of 2"):
            assert soft.fit(np.ones((4, 2)), clues=nothing).penalty_ >= 1  # nothing varies
        assert hard.fit(np.arange(4.0)[:, None], clues=nothing).penalty_ == 0


def test_a_center_of_little_use_is_put_elsewhere(monkeypatch):
    """Two centers share one group and one stands between two others: moving one of the two is better."""
    X = np.repeat([[0.0], [50.0], [60.0]], 6, axis=0) + np.tile(np.linspace(-1, 1, 6), 3)[:, None]
    clues = Clues(18, must=[(0, 1)], cannot=[(0, 6)])
    start = [[-1.0], [1.0], [55.0]]
    model = PCCC(3, init=start).fit(X, clues=clues)
    assert ari(np.repeat(np.arange(3), 6), model.labels_) == 1
    assert (np.diff(model.trace_) <= 0).all()
    monkeypatch.setattr(_pccc, "REPOSITIONS", 0)
    assert PCCC(3, init=start).fit(X, clues=clues).objective_ > 10 * model.objective_


def test_time_that_is_too_short(monkeypatch):
    """Cannot-links that no greedy pass satisfies: without time there is no answer, and it says so."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    pairs = np.array([(a, b) for a, b in itertools.combinations(range(60), 2) if y[a] != y[b]])
    clues = Clues(60, cannot=pairs[rng.random(len(pairs)) < 0.12])
    X = rng.normal(size=(60, 2))
    assert not PCCC(3, random_state=0, n_init=1).fit(X, clues=clues).broken_.kinds
    monkeypatch.setattr("cluewise.exact.assignment.color", lambda net, *_: _Open())
    monkeypatch.setattr(Clues, "require", lambda *_: None)
    with pytest.raises(Undecided):
        PCCC(3, random_state=0, n_init=2, time_limit=1e-9).fit(X, clues=clues)


class _Open:
    status, colors, nodes, edges = "undecided", None, None, None


@pytest.mark.parametrize("stop", range(1, 6))
def test_ctrl_c_keeps_the_best_so_far(stop):
    class Interrupt:
        seen = 0

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "iteration":
                self.seen += 1
                if self.seen == stop:
                    raise KeyboardInterrupt

    X = np.repeat([[0.0], [50.0], [60.0]], 6, axis=0) + np.tile(np.linspace(-1, 1, 6), 3)[:, None]
    model = PCCC(3, init=[[-1.0], [1.0], [55.0]]).set_callbacks(Interrupt())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=Clues(18, must=[(0, 1)], cannot=[(0, 6)]))
    assert model.labels_[0] == model.labels_[1] != model.labels_[6]
    assert (np.diff(model.trace_) <= 1e-9).all()


def test_golden_numbers_on_iris():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    shown = np.where(np.random.default_rng(0).random(150) < 0.1, y, -1)
    model = PCCC(3, random_state=0).fit(X, clues=shown)
    assert model.gap_ == 0
    assert model.objective_ == pytest.approx(146.5457622, rel=1e-6)
    assert ari(y, model.labels_) == pytest.approx(0.6836, abs=1e-4)
