"""Choice by held-out clues: folds that leak nothing, a score that is ARI, and a search that survives its candidates."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cluewise as cw
from cluewise import Clues, metrics, tables
from cluewise.advice import ClueSearchCV, Trial
from cluewise.advice._candidates import (
    choose_counts,
    count_needed_clusters,
    describe_demands,
    list_candidates,
    name_estimators,
)
from cluewise.advice._trials import pick, warn_of_chance
from cluewise.exceptions import ClueError
from cluewise.metric_learning import RCA
from cluewise.metrics import held_out
from cluewise.metrics.held_out import count_pairs, jackknife, jackknife_error, score_pairs
from test_advice import entailed, some_clues


@pytest.fixture(scope="module")
def blobs():
    """Four clear clusters, and labels for a third of the rows."""
    X, y = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    return X, y, Clues.sample(y, labels=40, random_state=0)


# -- folds ----------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(clues=some_clues(), seed=st.integers(0, 99), n_folds=st.integers(2, 6))
def test_nothing_outside_a_fold_entails_what_is_inside(clues, seed, n_folds):
    masks = list(held_out.make_folds(clues, n_folds, np.random.default_rng(seed)))
    assert len(masks) <= n_folds
    for rows in masks:
        kept, held = held_out.leave_out(clues, rows), held_out.select_about(clues, rows)
        assert not entailed(kept, held)
        assert not rows[kept.tied].any()
        assert held.kinds
        assert kept.kinds - {"sizes"}
    # No row is in two folds.
    assert not masks or np.sum(masks, axis=0).max() <= 1


def test_folds_hold_out_every_label_once_and_spread_the_classes():
    y = np.repeat([0, 1, 2], [40, 10, 5])
    masks = list(held_out.make_folds(Clues.from_labels(y), 5, np.random.default_rng(0)))
    assert np.sum(masks, axis=0).tolist() == [1] * 55
    assert [np.bincount(y[rows]).tolist() for rows in masks] == [[8, 2, 1]] * 5


def test_rows_joined_by_must_links_are_in_one_fold():
    chains = [(i, i + 1) for start in range(0, 60, 3) for i in (start, start + 1)]
    for rows in held_out.make_folds(Clues(60, must=chains), 5, np.random.default_rng(0)):
        assert (rows.reshape(20, 3).sum(axis=1) % 3 == 0).all()


def test_what_cannot_be_held_out_has_no_folds():
    rng = np.random.default_rng(0)
    for clues in (Clues(3), Clues(3, must=[(0, 1)]), Clues(3, sizes=(1, 2)), Clues(4, cannot=[(0, 1), (0, 2), (0, 3)])):
        assert not any(rows[0] for rows in held_out.make_folds(clues, 5, rng))
    assert list(held_out.make_folds(Clues(3, must=[(0, 1)]), 5, rng)) == []


# -- the score ------------------------------------------------------------------------------------------------


def by_pairs(labels, clues, rows):
    """The table of `count_pairs`, pair by pair."""

    def joined(i, j):
        return labels[i] == labels[j] and labels[i] >= 0

    table = np.zeros(4)
    for place, pairs, weights in ((0, clues.must, clues.must_weight), (2, clues.cannot, clues.cannot_weight)):
        for (i, j), weight in zip(pairs, weights):
            if rows[i] or rows[j]:
                table[place + (not joined(i, j))] += weight
    columns = [(g.codes, g.weights, 0, None) for g in clues.together]
    columns += [(g.codes, g.weights, 2, None) for g in clues.apart]
    columns += [(c, None, 0, 2) for c in (clues.labels, *map(clues.partition_codes, range(len(clues.partitions))))]
    for codes, weights, same, different in columns:
        own = np.zeros(4)
        for i, j in combinations(np.flatnonzero(codes >= 0), 2):
            place = same if codes[i] == codes[j] else different
            if (rows[i] or rows[j]) and place is not None:
                own[place + (not joined(i, j))] += 1 if weights is None else weights[codes[i]]
        if own.any():
            table += own * (rows & (codes >= 0)).sum() / own.sum()
    return table


@settings(max_examples=150, deadline=None)
@given(clues=some_clues(), data=st.data())
def test_the_table_of_pairs_is_that_of_all_pairs_counted_one_by_one(clues, data):
    labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=clues.n, max_size=clues.n)))
    rows = np.array(data.draw(st.lists(st.booleans(), min_size=clues.n, max_size=clues.n)))
    found = count_pairs(labels, clues, rows)
    assert found[:4] == pytest.approx(by_pairs(labels, clues, rows))
    together = np.mean([labels[i] == labels[j] >= 0 for i, j in combinations(range(clues.n), 2)])
    assert found[4] == pytest.approx(together)


@given(st.integers(2, 30).flatmap(lambda n: st.tuples(*(st.lists(st.integers(0, 3), min_size=n, max_size=n),) * 2)))
def test_on_all_labels_the_score_is_the_adjusted_rand_index(labelings):
    truth, found = map(np.array, labelings)
    if len(np.unique(truth)) > 1 and len(np.unique(truth)) < len(truth):
        table = count_pairs(found, Clues.from_labels(truth), np.ones(len(truth), bool))
        assert score_pairs(table[None]) == pytest.approx(adjusted_rand_score(truth, found))


@pytest.mark.parametrize("kind", ["must", "cannot"])
def test_one_kind_of_link_praises_neither_one_cluster_nor_a_cluster_for_each_row(kind):
    y = np.repeat([0, 1, 2], 20)
    pairs = [(i, j) for i, j in combinations(range(0, 60, 3), 2) if (y[i] == y[j]) == (kind == "must")]
    clues, rows = Clues(60, **{kind: pairs}), np.ones(60, bool)

    def score(labels):
        return score_pairs(count_pairs(labels, clues, rows)[None])

    assert score(np.zeros(60, int)) == pytest.approx(0)
    assert score(np.arange(60)) == pytest.approx(0)
    assert score(y) > score(np.repeat([0, 1], [40, 20])) > 0.1
    assert score(y) >= score(np.arange(60) % 6 // 3 + 2 * y) - (0 if kind == "must" else 0.4)


def test_hard_links_count_as_the_weightiest_soft_one():
    clues = Clues(4, must=[(0, 1), (2, 3)], must_weight=[np.inf, 0.5], cannot=[(0, 2)], cannot_weight=[2.0])
    table = count_pairs(np.array([0, 0, 1, 2]), clues, np.ones(4, bool))
    assert table[:4].tolist() == [2.0, 0.5, 0.0, 2.0]
    assert count_pairs(np.array([0, 0]), Clues(2, must=[(0, 1)], must_weight=[np.inf]), np.ones(2, bool))[0] == 1
    assert score_pairs(np.zeros((1, 5))) == 0


def test_the_error_is_that_of_a_mean_enlarged_for_overlapping_folds():
    values = [0.1, 0.5, 0.3, 0.9]
    found = jackknife(lambda folds: float(np.mean(folds)), values)
    assert found.score == pytest.approx(0.45)
    plain = np.std(values, ddof=1) / 2
    assert found.error == pytest.approx(plain * np.sqrt(1 + 4 / 3))
    assert (jackknife_error(np.zeros(0)), jackknife(np.mean, [0.5]).error) == (0, 0)


# -- candidates and choice ------------------------------------------------------------------------------------


def test_estimators_have_names():
    assert list(name_estimators(cw.PCKMeans())) == ["PCKMeans"]
    assert list(name_estimators([cw.PCKMeans(), cw.COPKMeans(), cw.PCKMeans()])) == [
        "PCKMeans",
        "COPKMeans",
        "PCKMeans-2",
    ]
    assert list(name_estimators({"a": cw.PCKMeans()})) == ["a"]


@pytest.mark.parametrize(
    ("estimators", "error", "words"),
    [
        ([], ValueError, "empty"),
        (cw.PCKMeans, TypeError, "not an instance"),
        ([3], TypeError, "holds 3"),
        (make_pipeline(StandardScaler(), cw.PCKMeans()), TypeError, "make the search the last step of a Pipeline"),
    ],
)
def test_what_is_no_estimator_is_refused(estimators, error, words):
    with pytest.raises(error, match=words):
        ClueSearchCV(estimators).fit([[0.0], [1.0]], clues=[0, 1])


def test_candidates_are_estimators_by_grids_by_numbers_of_clusters():
    def told(*words, **more):
        return [t.description for t in list_candidates(*words, **{"has_clues": True, "without": True} | more)]

    one = "PCKMeans(n_clusters=2)"
    assert told(cw.PCKMeans(), None, [2]) == [one, one + " without clues"]
    assert told(cw.PCKMeans(), None, [2], has_clues=False) == [one + " without clues"]
    assert told([cw.PCKMeans(), KMeans()], None, [2], without=False) == [one, "KMeans(n_clusters=2) without clues"]
    assert told(cw.PCKMeans(), {"penalty": [1, 2]}, None, without=False) == [
        "PCKMeans(penalty=1)",
        "PCKMeans(penalty=2)",
    ]
    grid = {"PCKMeans": [{"n_clusters": [5]}]}
    assert told([cw.PCKMeans(), cw.COPKMeans()], grid, [2, 3], without=False) == [
        "PCKMeans(n_clusters=5)",
        "COPKMeans(n_clusters=2)",
        "COPKMeans(n_clusters=3)",
    ]
    nested = "MetricThen(clusterer__n_clusters=2)"
    assert told(RCA().then(cw.PCKMeans()), None, [2], without=False) == [nested]
    assert told(cw.ConstrainedDBSCAN(), None, [2, 3], without=False) == ["ConstrainedDBSCAN()"]


def test_a_grid_for_several_estimators_names_them():
    with pytest.raises(ValueError, match=r"must map their names \(PCKMeans, COPKMeans\)"):
        ClueSearchCV([cw.PCKMeans(), cw.COPKMeans()], {"penalty": [1]}).fit([[0.0], [1.0]], clues=[0, 1])


@pytest.mark.parametrize("grid", [[], {}])
def test_a_grid_of_nothing_is_refused(grid):
    with pytest.raises(ValueError, match="nothing to try"):
        ClueSearchCV(cw.PCKMeans(2), grid).fit([[0.0], [1.0]], clues=[0, 1])


def test_the_clues_say_how_many_clusters_are_needed():
    assert count_needed_clusters(Clues(9)) == 2
    assert count_needed_clusters(Clues.from_labels([0, 1, 2, 2, -1])) == 3
    assert count_needed_clusters(Clues(9, cannot=list(combinations([1, 3, 5, 7], 2)))) == 4
    assert count_needed_clusters(Clues(9, cannot=[(0, 1), (0, 2), (1, 2)], must=[(2, 5)])) == 3
    assert count_needed_clusters(Clues(9, apart=[0, 0, 0, 0, -1, -1, 1, 1, -1])) == 4
    assert choose_counts("auto", Clues(100, labels=np.arange(100) % 3)) == list(range(3, 12))
    assert choose_counts("auto", Clues(100, labels=np.arange(100) % 10)) == list(range(10, 21))
    assert choose_counts("auto", Clues(8, labels=np.arange(8) % 2)) == [2, 3, 4]
    assert choose_counts("auto", Clues(1)) == [1]
    assert choose_counts(range(2, 4), Clues(5)) == [2, 3]
    assert choose_counts(np.int64(3), Clues(5)) == [3]
    assert choose_counts([3.0], Clues(5)) == [3]
    assert count_needed_clusters(Clues(6, apart=[0, 0, 0, 1, 1, -1], must=[(0, 1)])) == 2
    for nothing in ([], [0, 2], [2.5]):
        with pytest.raises(ValueError, match="n_clusters"):
            choose_counts(nothing, Clues(5))


def trial(name, k, score, less, clues=True):
    return Trial(name, {}, k, clues, score=score, error=0.1, seconds=1.0, less=np.array(less))


def test_the_fewest_clusters_win_among_the_tied_then_the_score_then_no_clues():
    far = trial("far", 2, 0.5, [0.5, 0.5])
    best = trial("best", 5, 0.9, [0.8, 1.0])
    noisy = trial("noisy", 4, 0.8, [0.9, 0.7])
    same = trial("same", 4, 0.8, [0.9, 0.7], clues=False)
    lower = trial("lower", 4, 0.75, [0.9, 0.6])
    out = replace(trial("out", 2, 2.0, [2.0, 2.0]), dropped="too slow")
    assert [t.name for t in pick([out, far, best, noisy, same, lower])] == [
        "same",
        "best",
        "noisy",
        "lower",
        "far",
        "out",
    ]
    assert [t.name for t in pick([far, best])] == ["best", "far"]
    assert [t.name for t in pick([out])] == ["out"]


def test_the_table_reads_well(tmp_path):
    table = pick([trial("a", 2, 0.5, []), replace(trial("b", 3, np.nan, []), dropped="ValueError: no.")])
    assert str(table).splitlines() == [
        " score  error   seconds  candidate",
        " 0.500  0.100         1  a()",
        "                         b() was dropped: ValueError: no.",
    ]
    assert table.columns["dropped"] == ["", "ValueError: no."]
    assert (len(table), [t.name for t in table]) == (2, ["a", "b"])
    tables.write(tmp_path / "trials.csv", table.columns)
    assert tables.read(tmp_path / "trials.csv").columns["n_clusters"].tolist() == [2, 3]
    assert str(pick([trial("a", 2, 0.5, []) for _ in range(30)])).endswith("… and 10 more.")


# -- the search -----------------------------------------------------------------------------------------------


def test_it_finds_the_number_of_clusters_and_fits_the_winner_with_all_clues(blobs):
    X, y, clues = blobs
    search = ClueSearchCV(cw.PCKMeans(), n_clusters=range(2, 8), random_state=0).fit(X, clues=clues)
    assert (search.n_clusters_, search.best_params_, search.best_score_) == (4, {"n_clusters": 4}, 1.0)
    assert metrics.ari(y, search.labels_) == 1
    assert (search.labels_ == search.best_estimator_.labels_).all()
    assert (search.predict(X) == search.labels_).all()
    assert search.transform(X).shape == (120, 4)
    assert (clone(search).fit_transform(X, clues=clues) == search.transform(X)).all()
    assert search.n_features_in_ == 2
    # Clues that change nothing are not used.
    assert not search.uses_clues_
    assert len(search.results_) == 12


def test_links_alone_find_the_number_of_clusters(blobs):
    X, y, _ = blobs
    for clues in (
        Clues.sample(y, pairs=150, random_state=1),
        Clues.sample(y, pairs=300, random_state=1).only(["must"]),
    ):
        assert ClueSearchCV(cw.PCKMeans(), n_clusters=range(2, 8), random_state=0).fit(X, clues=clues).n_clusters_ == 4


def test_clues_are_used_where_they_help():
    # Two long clusters, which K-means cuts across.
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200) * 8, np.repeat([0.0, 3.0], 100) + rng.normal(size=200) / 3])
    y = np.repeat([0, 1], 100)
    clues = Clues.sample(y, labels=60, random_state=0)
    methods = [cw.PCKMeans(2), cw.EquivalenceGMM(2)]
    search = ClueSearchCV(methods, random_state=0).fit(X, clues=clues)
    assert metrics.ari(y, search.labels_) > 0.95
    assert (search.best_name_, search.uses_clues_) == ("EquivalenceGMM", True)
    assert metrics.ari(y, clone(search.best_estimator_).fit(X).labels_) < 0.5


def test_labels_that_lie_are_not_used_where_other_clues_contradict_them(blobs):
    X, y, _ = blobs
    lies = np.where(np.arange(120) % 2, np.random.default_rng(0).permutation(y), -1)
    search = ClueSearchCV(cw.ConstrainedKMeans(4), random_state=0)
    told = cw.ConstrainedKMeans(4, random_state=0).fit(X, clues=lies)
    assert metrics.ari(y, told.labels_) < 0.5
    search.fit(X, clues=Clues.from_labels(lies) | Clues.sample(y, pairs=400, random_state=0))
    assert not search.uses_clues_
    assert metrics.ari(y, search.labels_) == 1
    assert len(search.broken_.must) == 0
    assert (search.broken_.labels >= 0).sum() > 20


def test_where_nothing_is_predicted_the_table_says_so(blobs):
    X, y, clues = blobs
    search = ClueSearchCV(cw.PCKMeans(4), random_state=0)
    lies = np.where(np.arange(120) % 2, np.random.default_rng(0).permutation(y), -1)
    # Lies alone may be used or not, by chance; what is certain is the warning.
    table = search.fit(X, clues=lies).results_
    assert table[0].score <= 2 * table[0].error
    assert table.warning.startswith("No method predicts held-out clues clearly better than chance")
    assert str(table).endswith(table.warning)
    assert search.fit(X, clues=clues).results_.warning == ""
    own = search.set_params(scoring=lambda labels, held: -1.0).fit(X, clues=lies)
    assert own.results_.warning == ""  # what chance gives, only the user knows
    assert warn_of_chance(trial("one", 2, np.nan, [])) == ""
    assert warn_of_chance(trial("two", 2, 0.19, [])) != ""
    assert warn_of_chance(trial("three", 2, 0.21, [])) == ""


def test_without_clues_the_demands_hold_all_the_same():
    # Two clusters of 70 and 20 rows; the demand wants them as large as each other.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (70, 2)), rng.normal([7, 0], 1, (20, 2))])
    labels = np.full(90, -1)
    labels[[0, 5, 10, 15, 70, 75, 80, 85]] = [0] * 4 + [1] * 4
    sized = Clues(90, labels=labels, sizes=(40, 50))
    search = ClueSearchCV(cw.PCCC(2), random_state=0).fit(X, clues=sized)
    assert np.bincount(search.labels_).min() >= 40
    assert {t.description for t in search.results_ if not t.clues} == {"PCCC() without clues except bounds on sizes"}
    assert all(t.dropped == "" for t in search.results_)
    odd = (0, 70)
    hard = Clues(90, labels=np.where(np.isin(np.arange(90), odd), -1, labels)) | Clues(
        90, must=[odd, (1, 71)], must_weight=np.inf
    )
    search = ClueSearchCV(cw.PCCC(2, hard="infinite"), random_state=0).fit(X, clues=hard)
    assert not search.uses_clues_
    assert search.labels_[0] == search.labels_[70]
    # Where all clues are demands there is no candidate without them.
    only = ClueSearchCV(cw.PCCC(2, hard="infinite"), random_state=0).fit(X, clues=hard.only(["must"]))
    assert [t.clues for t in only.results_] == [True]


def test_demands_in_words():
    hard = Clues(4, apart=["a", "a", None, None], apart_weight=np.inf)
    assert describe_demands(held_out.select_demands(Clues(4, must=[(0, 1)], labels=[0, 1, -1, -1]))) == ""
    assert describe_demands(held_out.select_demands(hard | Clues(4, must=[(0, 1)]))) == "hard links and groups"
    every = hard | Clues(4, sizes=(1, 3), avoid=[[0, 0, 1, 1]])
    assert (
        describe_demands(held_out.select_demands(every)) == "bounds on sizes, what to avoid and hard links and groups"
    )


def test_hard_links_in_a_fold_are_held_out_for_all(blobs):
    X, y, _ = blobs
    seen = []

    class Told(cw.PCKMeans):
        def fit(self, X, y=None, *, clues=None, sample_weight=None):
            seen.append(len(clues.must))
            return super().fit(X)

    pairs = [(i, i + 4) for i in range(0, 100, 10)]
    clues = Clues(120, must=pairs, must_weight=np.inf, labels=np.where(np.arange(120) > 105, y, -1))
    ClueSearchCV(Told(4), random_state=0).fit(X, clues=clues)
    assert len(seen) == 11  # with and without clues in five folds, and the last fit
    assert all(count < 10 for count in seen[:-1])
    assert seen[-1] == 10


def test_scores_that_are_no_numbers_are_dropped(blobs):
    X, _, clues = blobs

    def scoring(labels, held):
        return np.nan if len(np.unique(labels)) == 3 else 0.5

    search = ClueSearchCV(cw.PCKMeans(), n_clusters=[3, 4], scoring=scoring, random_state=0).fit(X, clues=clues)
    assert search.n_clusters_ == 4
    assert {t.dropped for t in search.results_ if t.n_clusters == 3} == {"its score is nan"}


def test_what_a_callback_raises_is_not_swallowed(blobs):
    X, _, clues = blobs

    class Breaks(Watch):
        def on_fit_task_end(self, estimator, context):
            if context.task_name == "iteration":
                raise RuntimeError("the callback broke")

    search = ClueSearchCV(cw.PCKMeans(), n_clusters=[3, 4], random_state=0).set_callbacks(Breaks())
    with pytest.raises(RuntimeError, match="the callback broke"):
        search.fit(X, clues=clues)


def test_groups_of_one_row_are_not_held_out(blobs):
    X, _, _ = blobs
    alone = Clues(120, together=np.arange(120))
    assert len(held_out.list_mentions(alone)) == 0
    with pytest.raises(ClueError, match="no clue relates two rows"):
        ClueSearchCV(cw.PCKMeans(), n_clusters=[2, 3]).fit(X, clues=alone)


class Fails(ClusterMixin, BaseEstimator):
    """A clusterer that cannot, or only without the last clues."""

    def __init__(self, n_clusters=2, at=0):
        self.n_clusters = n_clusters
        self.at = at

    def fit(self, X, y=None, *, clues=None):
        if clues is None or len(clues.tied) >= self.at:
            raise ArithmeticError("it does\nnot work")
        self.labels_ = KMeans(self.n_clusters, n_init=1, random_state=0).fit(X).labels_
        return self


def test_a_candidate_that_fails_is_dropped_with_the_reason(blobs):
    X, _, clues = blobs
    methods = {"bad": Fails(), "good": cw.PCKMeans(), "hard": cw.COPKMeans(), "late": Fails(4, at=40)}
    search = ClueSearchCV(methods, n_clusters=[2, 4], random_state=0).fit(X, clues=clues)
    dropped = {t.description: t.dropped for t in search.results_ if t.dropped}
    assert dropped["bad(n_clusters=2)"] == "ArithmeticError: it does not work"
    assert dropped["hard(n_clusters=2)"].startswith("Infeasible: ")
    assert "late(n_clusters=4)" not in dropped
    assert search.best_name_ in ("good", "hard")


def test_a_winner_that_fails_at_last_makes_room_for_the_next(blobs):
    X, _, clues = blobs
    # Only with all 40 labels it fails, so that it wins the search.
    methods = {"late": Fails(4, at=40), "good": cw.PCKMeans(5)}
    search = ClueSearchCV(methods, without=False, random_state=0).fit(X, clues=clues)
    assert search.best_name_ == "good"
    assert search.results_[-1].dropped == "ArithmeticError: it does not work"


class Collapses(Fails):
    """All right until it is told everything."""

    def fit(self, X, y=None, *, clues=None):
        self.labels_ = KMeans(self.n_clusters, n_init=1, random_state=0).fit(X).labels_
        if len(clues.tied) >= self.at:
            self.labels_ = np.zeros(len(X), dtype=int)
        return self


def test_a_winner_that_collapses_at_last_makes_room_for_the_next(blobs):
    X, _, clues = blobs
    methods = {"frail": Collapses(4, at=40), "good": cw.PCKMeans(5)}
    search = ClueSearchCV(methods, without=False, random_state=0).fit(X, clues=clues)
    assert search.best_name_ == "good"
    assert search.results_[-1].dropped == "with all clues it collapses: its agreement with them is only 0.000"
    # Where there is no other it is taken as it is, and own scores are not second-guessed.
    alone = {"frail": Collapses(4, at=40), "bad": Fails()}
    assert ClueSearchCV(alone, without=False, random_state=0).fit(X, clues=clues).best_name_ == "frail"
    search.set_params(scoring=lambda labels, held: metrics.satisfaction(labels, held)["labels"])
    assert search.fit(X, clues=clues).best_name_ == "frail"


def test_when_all_fail_there_is_one_clear_error(blobs):
    X, _, clues = blobs
    with pytest.raises(
        ValueError, match=r"none of the 4 candidates .*bad\(n_clusters=2\): ArithmeticError: it does not"
    ):
        ClueSearchCV({"bad": Fails()}, n_clusters=[2, 3], random_state=0).fit(X, clues=clues)


def test_a_clusterer_without_labels_is_dropped(blobs):
    X, _, clues = blobs

    class Silent(Fails):
        def fit(self, X, y=None, *, clues=None):
            return self

    search = ClueSearchCV([Silent(), cw.PCKMeans(4)], random_state=0).fit(X, clues=clues)
    assert "Silent has no labels_" in search.results_[-1].dropped


def test_without_clues_there_is_nothing_to_choose_by(blobs):
    X, _, _ = blobs
    with pytest.raises(ClueError, match="there are 2 candidates, but no clues"):
        ClueSearchCV(cw.PCKMeans(), n_clusters=[2, 3]).fit(X)
    with pytest.raises(ClueError, match="kind sizes concern all rows"):
        ClueSearchCV(cw.SizedKMeans(), n_clusters=[2, 3]).fit(X, clues=Clues(120, sizes=(1, 100)))
    with pytest.raises(ClueError, match="all connected"):
        ClueSearchCV(cw.PCKMeans(), n_clusters=[2, 3]).fit(X, clues=Clues(120, must=[(0, 1)]))
    # One candidate needs no clues, and its error is its own.
    with pytest.raises(ArithmeticError, match="it does"):
        ClueSearchCV(Fails()).fit(X)
    search = ClueSearchCV(cw.PCKMeans(4, random_state=0)).fit(X)
    assert np.isnan(search.best_score_)
    assert (search.labels_ == cw.PCKMeans(4, random_state=0).fit(X).labels_).all()


def test_the_time_limit_drops_candidates_but_not_the_search(blobs, monkeypatch):
    X, _, clues = blobs
    now = [0.0]

    class Slow(Fails):
        def fit(self, X, y=None, *, clues=None):
            now[0] += 1.0  # seconds
            self.labels_ = np.zeros(len(X), dtype=int)
            return self

    monkeypatch.setattr("cluewise.advice._runner.perf_counter", lambda: now[0])
    search = ClueSearchCV(Slow(), {"at": [1, 2, 3]}, without=False, time_limit=9.0, random_state=0)
    search.fit(X, clues=clues)
    assert [t.dropped for t in search.results_] == ["", *["a fit takes 1 s, too long for the time left"] * 2]
    assert search.results_[0].seconds == 1.0
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"no time was left|too long for the time left"):
        ClueSearchCV(cw.PCKMeans(), n_clusters=[2, 3], time_limit=1e-9, random_state=0).fit(X, clues=clues)


class Watch:
    """A callback that counts, and asks to stop after some folds."""

    def __init__(self, folds=10**9):
        self.seen, self.folds = [], folds

    def setup(self, estimator, context):
        self.seen.append("setup")

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.seen.append(context.task_name)
        return self.seen.count("iteration") >= self.folds

    def teardown(self, estimator, context):
        self.seen.append("teardown")


def test_callbacks_watch_candidates_and_folds_and_may_stop(blobs):
    X, _, clues = blobs
    search = ClueSearchCV(cw.PCKMeans(), n_clusters=[4, 5], without=False, random_state=0)
    watch = Watch()
    search.set_callbacks(watch).fit(X, clues=clues)
    assert watch.seen == ["setup", *["iteration"] * 5, "start", *["iteration"] * 5, "start", "fit", "teardown"]
    search.set_callbacks(Watch(folds=2)).fit(X, clues=clues)
    assert [t.dropped for t in search.results_] == ["", "a callback ended the search"]
    assert search.n_clusters_ == 4


def test_own_scores_seeds_weights_and_sparse_rows(blobs):
    X, _, clues = blobs
    kept = ClueSearchCV(
        cw.PCKMeans(),
        n_clusters=[2, 4],
        scoring=lambda labels, held: metrics.satisfaction(labels, held)["labels"],
        random_state=0,
    ).fit(X, clues=clues)
    assert (kept.n_clusters_, kept.best_score_) == (4, 1.0)
    search = ClueSearchCV([cw.PCKMeans(random_state=7), KMeans(n_init=2)], n_clusters=[3, 4], random_state=0)
    dense = search.fit(X, clues=clues, sample_weight=np.ones(120)).results_.columns["score"]
    assert search.best_estimator_.random_state == 7
    sparse = clone(search).fit(csr_array(X.astype(np.float32)), clues=clues)
    assert sparse.results_.columns["score"] == pytest.approx(dense)
    assert sparse.best_estimator_.cluster_centers_.dtype == np.float32


def test_seeds_decide_and_nothing_else(blobs):
    X, _, clues = blobs

    def once(seed):
        model = ClueSearchCV(cw.PCKMeans(init="random", n_init=1), n_clusters=[5, 6, 7], random_state=seed)
        return tuple(model.fit(X, clues=clues).results_.columns["score"])

    assert once(1) == once(1)
    assert len({once(seed) for seed in range(4)}) > 1


def test_it_is_an_estimator_like_others(blobs):
    X, _, clues = blobs
    search = ClueSearchCV([cw.PCKMeans(4), cw.E2CP(4)], n_splits=3, random_state=0)
    assert clone(search).get_params()["n_splits"] == 3
    assert not hasattr(search, "predict")  # E2CP has none
    assert not search.__sklearn_tags__().input_tags.sparse
    search.set_params(estimators=cw.PCKMeans(4), n_clusters=3).set_params(estimators__penalty=2.0)
    assert search.estimators.penalty == 2.0
    again = pickle.loads(pickle.dumps(search.fit(X, clues=clues)))
    assert (again.predict(X) == search.labels_).all()
    assert not hasattr(search.estimators, "labels_")
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b"])
    assert search.fit(frame, clues=clues).feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(search.fit(X, clues=clues), "feature_names_in_")
    with pytest.raises(ValueError, match="rows and columns"):
        search.fit(3, clues=clues)
    for words in ({"n_splits": 1}, {"time_limit": 0}, {"n_clusters": "many"}, {"scoring": 3}):
        with pytest.raises(ValueError, match=next(iter(words))):
            clone(search).set_params(**words).fit(X, clues=clues)


def test_kinds_that_nobody_hears_are_judged_all_the_same(blobs):
    X, y, clues = blobs
    both = clues | Clues.sample(y, pairs=30, noise=0.5, random_state=0)
    with pytest.warns(cw.exceptions.UnusedClueWarning, match="cannot, must") as seen:
        search = ClueSearchCV(cw.SeededKMeans(4), without=False, n_clusters=[4, 8], random_state=0).fit(X, clues=both)
    assert len(seen) == 1
    assert search.broken_.kinds == {"must", "cannot"}


def test_a_method_that_finds_the_number_of_clusters_counts_with_what_it_found(blobs):
    X, _, clues = blobs
    search = ClueSearchCV([cw.ConstrainedDBSCAN(eps=1.5), cw.PCKMeans(6)], random_state=0).fit(X, clues=clues)
    found = {t.name: t.n_clusters for t in search.results_}
    assert found == {"ConstrainedDBSCAN": 4, "PCKMeans": 6}
