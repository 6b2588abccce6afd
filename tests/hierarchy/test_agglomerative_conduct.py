"""Constrained agglomerative clustering: odd input, memory, refits that fail, watching and stopping."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from cluewise import Clues
from cluewise.core.trees import linkage_means, linkage_pairs
from cluewise.density import ConstrainedHDBSCAN
from cluewise.exceptions import Contradiction, Infeasible, Undecided
from cluewise.hierarchy import ConstrainedAgglomerative
from strategies import random_case

A8 = [(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)]
EXAMPLE = Clues(8, must=[(3, 7)], cannot=[(2, 7), (1, 5)])
LINKAGES = ["single", "average", "complete", "centroid", "ward"]
BY_PAIRS = ["single", "average", "complete"]


# --- degenerate input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("linkage", LINKAGES)
def test_small_and_equal_rows(linkage):
    one = ConstrainedAgglomerative(1, linkage=linkage).fit([[3.0, 1.0]])
    assert one.labels_.tolist() == [0]
    assert one.linkage_.shape == (0, 4)
    assert (one.objective_, one.n_iter_, one.k_max_, one.k_min_) == (0.0, 0, 1, 1)
    same = ConstrainedAgglomerative(2, linkage=linkage).fit(np.ones((5, 2)), clues=Clues(5, cannot=[(0, 4)]))
    assert same.labels_[0] != same.labels_[4]
    assert (same.linkage_[~same.forbidden_, 2] == 0).all()
    assert same.linkage_[-1, 2] == 1.0  # a forbidden union can be seen even where all heights are zero
    together = ConstrainedAgglomerative(1, linkage=linkage).fit(A8, clues=Clues(8, together=np.zeros(8)))
    assert (together.k_max_, together.k_min_) == (1, 1)
    apart = ConstrainedAgglomerative(8, linkage=linkage).fit(A8, clues=Clues(8, apart=np.zeros(8)))
    assert (apart.k_max_, apart.k_min_) == (8, 8)
    assert sorted(apart.labels_) == list(range(8))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_rows_far_from_the_origin(linkage):
    X, clues = random_case(5, 30)
    X = np.round(X * 64) / 64 + np.random.default_rng(0).integers(0, 2**12, size=X.shape) / 2**20
    here = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues)
    there = ConstrainedAgglomerative(None, linkage=linkage).fit(X + 2.0**20, clues=clues)
    np.testing.assert_allclose(there.linkage_, here.linkage_, rtol=1e-7)


@pytest.mark.parametrize(
    ("params", "X", "words"),
    [
        ({"n_clusters": 2, "distance_threshold": 1.0}, A8, "cannot both be set"),
        ({"metric": "cityblock"}, A8, "linkage='ward' works on means and needs metric='euclidean', not 'cityblock'"),
        ({"linkage": "centroid", "metric": "precomputed"}, np.zeros((3, 3)), "needs metric='euclidean'"),
        ({"n_clusters": 9}, A8, "larger than the number of rows, n_samples=8"),
        ({"linkage": "single", "metric": "precomputed"}, A8, r"square matrix of distances; X has shape \(8, 2\)"),
        ({"linkage": "single", "metric": "precomputed"}, [[0, 1], [2, 0]], "row 0, column 1 differs from its mirror"),
        ({"linkage": "single", "metric": "precomputed"}, [[0, -1], [-1, 0]], "row 0, column 1 is negative"),
        ({"linkage": "single", "metric": "precomputed"}, [[0, 1], [1, 4]], "row 1, column 1 is the distance of a row"),
        ({"linkage": "average", "metric": "cosine"}, [[1.0, 1], [0, 0]], "rows 0 and 1 is nan; metric='cosine'"),
        ({"linkage": "median"}, A8, "linkage"),
    ],
)
def test_parameters_are_checked(params, X, words):
    with pytest.raises(ValueError, match=words):
        ConstrainedAgglomerative(**params).fit(X)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_too_much_memory_is_refused(linkage):
    X = np.zeros((300, 2))
    with pytest.raises(MemoryError, match=r"need .* GiB, more than memory_limit=1e-06 GiB allows"):
        ConstrainedAgglomerative(1, linkage=linkage, memory_limit=1e-6).fit(X)


@pytest.mark.parametrize("linkage", BY_PAIRS)
def test_large_components_take_no_more_memory_than_small_ones(linkage, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    clues = Clues(60, together=np.where(np.arange(60) % 3, 0, -1), must=[(0, 3), (6, 9)])
    whole = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues).linkage_
    most = 0

    def noted(*args):
        distance = linkage_pairs_pairwise(*args)

        def watched(some, others):
            nonlocal most
            most = max(most, len(some) * len(others))
            return distance(some, others)

        return watched

    linkage_pairs_pairwise = linkage_pairs.pairwise
    monkeypatch.setattr(linkage_pairs, "BLOCK", 300)
    monkeypatch.setattr(linkage_pairs, "pairwise", noted)
    split = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues).linkage_
    np.testing.assert_allclose(split, whole, rtol=1e-12)
    assert 200 < most <= 300


def test_a_failed_fit_leaves_nothing_to_cut():
    model = ConstrainedAgglomerative(2)
    with pytest.raises(Contradiction):
        model.fit(A8, clues=Clues(8, must=[(0, 1)], cannot=[(0, 1)]))
    with pytest.raises(NotFittedError):
        model.cut(n_clusters=2)
    model.fit(A8)
    with pytest.raises(Infeasible):
        model.set_params(n_clusters=1).fit(A8, clues=EXAMPLE)
    with pytest.raises(NotFittedError):
        model.cut(n_clusters=2)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"n_clusters": 2.5}, "n_clusters must be a whole number, not 2.5"),
        ({"n_clusters": True}, "n_clusters must be a whole number, not True"),
        ({"distance": np.nan}, "distance must be a number, not nan"),
        ({"distance": "far"}, "distance must be a number, not 'far'"),
        ({"n_clusters": 2, "distance": 1.0}, "either n_clusters or distance"),
    ],
)
def test_arguments_of_cut_are_checked(asked, words):
    with pytest.raises(ValueError, match=words):
        ConstrainedAgglomerative(2).fit(A8).cut(**asked)


def test_a_tree_that_max_distance_ends_says_so():
    model = ConstrainedAgglomerative(None, max_distance=0.5).fit(A8)
    for attempt in (lambda: model.cut(n_clusters=2), lambda: model.set_params(n_clusters=2).fit(A8)):
        with pytest.raises(Infeasible, match=r"ends at 8 clusters .* at most max_distance=0\.5 apart"):
            attempt()


# --- watching, stopping -----------------------------------------------------------------------------------------------


class Callback:
    """Counts the slices of a fit; stops or interrupts in the first of them if told to."""

    def __init__(self, act=None):
        self.act, self.seen = act, 0

    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def teardown(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if context.task_name != "iteration":
            return False
        self.seen += 1
        if self.act == "interrupt":
            raise KeyboardInterrupt
        return self.act == "stop"


@pytest.mark.parametrize("linkage", LINKAGES)
def test_slices_change_nothing_and_can_be_stopped(linkage, monkeypatch):
    X, clues = random_case(11, 60)
    whole = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues)
    monkeypatch.setattr(linkage_means, "BUDGET", 600)
    monkeypatch.setattr(linkage_pairs, "BUDGET", 100)
    monkeypatch.setattr(linkage_pairs, "BLOCK", 200)
    watched = Callback()
    sliced = ConstrainedAgglomerative(None, linkage=linkage).set_callbacks(watched).fit(X, clues=clues)
    assert watched.seen > 3
    np.testing.assert_array_equal(sliced.linkage_, whole.linkage_)
    stopped = ConstrainedAgglomerative(3, linkage=linkage).set_callbacks(Callback("stop")).fit(X, clues=clues)
    assert whole.k_min_ < stopped.k_min_ == stopped.n_clusters_ <= whole.k_max_
    must, _, cannot, _ = clues.pairs(expand=True)
    assert (stopped.labels_[must[:, 0]] == stopped.labels_[must[:, 1]]).all()
    assert (stopped.labels_[cannot[:, 0]] != stopped.labels_[cannot[:, 1]]).all()
    cut_off = ConstrainedAgglomerative(3, linkage=linkage).set_callbacks(Callback("interrupt"))
    with pytest.raises(KeyboardInterrupt):
        cut_off.fit(X, clues=clues)
    np.testing.assert_array_equal(cut_off.linkage_, stopped.linkage_)


# --- time -------------------------------------------------------------------------------------------------------------


def test_a_search_for_detours_ends_with_its_time():
    """Rows 0 and 1 are closest, and joining them leaves three groups that must be apart."""
    X = np.array([[0.0], [0.1], [1.0], [3.0]])
    clues = Clues(4, cannot=[(0, 2), (1, 3), (2, 3)])
    reached = ConstrainedAgglomerative(2).fit(X, clues=clues)
    assert reached.n_detours_ > 0
    with pytest.raises(Undecided, match=r"n_clusters=2 was not reached within time_limit=1e-09 seconds and 0 detours"):
        ConstrainedAgglomerative(2, time_limit=1e-9).fit(X, clues=clues)
    assert ConstrainedAgglomerative(None, time_limit=1e-9).fit(X, clues=clues).n_clusters_ == 3


@pytest.mark.parametrize(
    ("model", "other"),
    [(ConstrainedAgglomerative(2), "COPKMeans"), (ConstrainedHDBSCAN(), "ConstrainedDBSCAN")],
)
def test_a_long_fit_is_announced(model, other, monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X)
    monkeypatch.setattr("cluewise.core.distances.distance_matrix.PER_SECOND", 90)  # 5,400 coordinates: a minute
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X)
    monkeypatch.setattr("cluewise.core.distances.distance_matrix.PER_SECOND", 30)
    with pytest.warns(UserWarning, match=f"all pairs of 30 rows, .* about 3.0 minutes on one core; {other}") as heard:
        model.fit(X)
    assert heard[0].filename == __file__


def test_given_distances_are_not_counted_as_columns(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 2))
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    model = ConstrainedAgglomerative(2, linkage="single", metric="precomputed")
    monkeypatch.setattr("cluewise.core.distances.distance_matrix.PER_SECOND", 60)  # 30² × 4 numbers: a minute
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(distances)
    monkeypatch.setattr("cluewise.core.distances.distance_matrix.PER_SECOND", 30)
    with pytest.warns(UserWarning, match="about 2.0 minutes on one core; use fewer rows"):
        model.fit(distances)
