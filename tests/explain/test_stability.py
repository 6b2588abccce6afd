"""Stability counts what comes back: Jaccard similarities by sets, clues among the rows drawn, true structure found."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClusterMixin

import cluewise as cw
from cluewise import Clues
from cluewise.explain._stability import Stability, _compare
from cluewise.metrics.matching import match_labels

labelings = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 4)), min_size=1, max_size=12)


@given(rows=labelings)
def test_similarity_is_the_best_jaccard_index(rows):
    labels, found = np.array(rows).T
    sets = [{i for i, c in enumerate(found) if c == b} for b in range(5)]
    for a, similarity in zip([0, 2, 3], _compare(np.where(labels == 1, -1, labels), found, np.array([0, 2, 3]))):
        own = {i for i, c in enumerate(labels) if c == a}
        if own:
            assert similarity == max(len(own & other) / len(own | other) for other in sets)
        else:
            assert np.isnan(similarity)


@given(rows=labelings)
def test_clusters_are_matched_by_overlap(rows):
    from itertools import permutations

    labels, reference = np.array(rows).T
    matched = match_labels(labels, reference)
    assert ((matched == -1) == (labels == -1)).all()
    size = max(labels.max(), reference.max()) + 1
    best = max(
        (sum((np.array([*p, -1])[labels] == reference) & (labels >= 0)) for p in permutations(range(size))), default=0
    )
    assert sum((matched == reference) & (labels >= 0)) == best


class Recorder(ClusterMixin, BaseEstimator):
    """Splits rows by their first column, and keeps what it was given."""

    seen: list = []

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None, clues=None):
        self.labels_ = (np.asarray(X)[:, 0] > 5).astype(int)
        self.seen.append((np.asarray(X)[:, 1].astype(int), clues, self.random_state))
        return self


def test_each_resample_has_its_rows_their_clues_and_a_seed():
    X = np.column_stack([np.repeat([0.0, 9.0], 10), np.arange(20)])
    clues = Clues(20, must=[(0, 1), (2, 15)], cannot=[(3, 19)], labels=["a", *[-1] * 18, "b"])
    Recorder.seen.clear()
    found = cw.stability(Recorder(), X, clues, n_resamples=6, share=0.5, random_state=0)
    assert len(Recorder.seen) == 7  # the first on all rows
    drawn = np.zeros(20)
    for rows, known, _ in Recorder.seen[1:]:
        assert len(set(rows.tolist())) == 10
        assert known == clues[rows]
        drawn[rows] += 1
    assert len({seed for _, _, seed in Recorder.seen}) == 7
    assert found.similarity.tolist() == [[1.0, 1.0]] * 6
    assert (found.rows[drawn > 0] == 1).all()
    assert np.isnan(found.rows[drawn == 0]).all()
    again = cw.stability(Recorder().fit(X), pd.DataFrame(X), clues, n_resamples=6, share=0.5, random_state=0)
    assert (again.similarity == found.similarity).all()


def test_a_true_cluster_comes_back_and_a_cut_through_a_cloud_does_not():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (80, 2)), rng.normal([12, 0], 1, (80, 2))])
    model = cw.PCKMeans(3, n_init=10, random_state=0).fit(X)
    found = cw.stability(model, X, n_resamples=15, random_state=0)
    whole = [
        c for c in range(3) if set(model.labels_[model.labels_ == c].tolist()) and (model.labels_ == c).sum() == 80
    ]
    assert len(whole) == 1
    assert found.recovered[whole[0]] == max(found.recovered)
    halves = [c for c in range(3) if c != whole[0]]
    assert max(found.jaccard[halves]) < found.jaccard[whole[0]]
    assert found.rows[model.labels_ == whole[0]].mean() > found.rows[model.labels_ != whole[0]].mean()


def test_the_same_seed_gives_the_same_answer_and_data_for_json():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = cw.PCKMeans(3, random_state=0).fit(X)
    one, two = (cw.stability(model, X, n_resamples=5, random_state=3) for _ in range(2))
    assert (one.similarity == two.similarity).all()
    data = json.loads(json.dumps(one.to_dict()))
    assert data["resamples"] == 5
    assert [line["recovered"] for line in data["clusters"]] == one.recovered.tolist()


def test_resamples_that_fail_are_counted():
    X = [[0.0], [1.0], [2.0], [3.0]]
    model = cw.SizedKMeans(2, random_state=0).fit(X, clues=Clues(4, sizes=(2, 2)))
    found = cw.stability(model, X, Clues(4, sizes=(2, 2)), n_resamples=3, share=0.5, random_state=0)
    assert found.failed + len(found.similarity) == 3
    lines = str(Stability(np.array([7]), np.array([[0.8], [0.2], [np.nan]]), np.ones(4), np.ones(3), 1)).splitlines()
    assert lines == [
        "Cluster 7 comes back in 1 of 2 resamples (similarity 0.50).", "1 resample could not be clustered."
    ]  # fmt: skip
    with pytest.raises(ValueError, match="none of 2 resamples could be clustered: "):
        cw.stability(cw.PCKMeans(4).fit(X), X, n_resamples=2, share=0.5, random_state=0)


class Stop:
    """A callback that asks to stop after two resamples."""

    def __init__(self):
        self.ended = 0

    def setup(self, estimator, context):
        self.expected = context.max_subtasks

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.ended += context.task_name == "start"
        return self.ended >= 2


def test_progress_and_limits():
    X = np.arange(12.0)[:, None]
    model, stop = cw.PCKMeans(2, random_state=0).fit(X), Stop()
    assert len(cw.stability(model, X, n_resamples=9, callbacks=[stop]).similarity) == 2
    assert stop.expected == 9
    assert len(cw.stability(model, X, n_resamples=9, time_limit=1e-9).similarity) == 1


def test_noise_has_no_say():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [90.0]])
    model = cw.ConstrainedDBSCAN(eps=1, min_samples=1).fit(X)
    model.labels_ = np.array([0, 0, 0, 1, 1, 1, -1])
    found = cw.stability(model, X, n_resamples=8, random_state=0)
    assert found.clusters.tolist() == [0, 1]
    assert np.isnan(found.rows[6])
    assert found.jaccard.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("wrong", [{"n_resamples": 0}, {"share": 1.0}, {"share": 0}])
def test_bad_parameters(wrong):
    with pytest.raises(ValueError, match="need n_resamples >= 1 and 0 < share < 1"):
        cw.stability(cw.PCKMeans(2), [[0.0], [1.0]], **wrong)
    with pytest.raises(ValueError, match="X has 2 rows, but the model was fitted on 3"):
        cw.stability(cw.PCKMeans(2).fit([[0.0], [1.0], [2.0]]), [[0.0], [1.0]])


def test_it_warns_if_the_clues_of_the_fit_are_not_known(recwarn):
    X = np.arange(12.0)[:, None]
    clues = Clues(12, must=[(0, 1)])
    model = cw.PCKMeans(2, random_state=0).fit(X, clues=clues)
    with pytest.warns(cw.exceptions.ClueWarning, match="PCKMeans does not keep the clues of its fit.*pass clues="):
        cw.stability(model, X, n_resamples=1)
    recwarn.clear()
    cw.stability(model, X, clues, n_resamples=1)
    cw.stability(model, X, Clues(12), n_resamples=1)
    cw.stability(cw.PCKMeans(2, random_state=0).fit(X), X, n_resamples=1)
    cw.stability(cw.PCKMeans(2, random_state=0).fit(X, clues=Clues(12)), X, n_resamples=1)
    kept = cw.Cluewise(2, random_state=0).fit(X, clues=clues)
    cw.stability(kept, X, n_resamples=1)
    assert not [warning for warning in recwarn if issubclass(warning.category, cw.exceptions.ClueWarning)]


def test_one_row_and_noise_alone_are_told():
    with pytest.raises(ValueError, match="stability needs at least 2 rows to draw from; X has 1"):
        cw.stability(cw.PCKMeans(1).fit([[0.0]]), [[0.0]])
    X = [[0.0], [50.0], [99.0]]
    with pytest.raises(ValueError, match="there are no clusters to judge: all rows are noise"):
        cw.stability(cw.ConstrainedDBSCAN(eps=1, min_samples=2).fit(X), X)


@pytest.mark.parametrize("form", ["coo", "csc", "dia", "lil"])
def test_all_sparse_formats_say_the_same(form):
    from scipy import sparse

    X = sparse.csr_array(np.repeat([[0.0, 1.0], [9.0, 0.0]], 6, axis=0))
    model = cw.PCKMeans(2, random_state=0).fit(X)
    expected = cw.stability(model, X, n_resamples=2, random_state=0)
    found = cw.stability(model, X.asformat(form), n_resamples=2, random_state=0)
    np.testing.assert_array_equal(found.rows, expected.rows)
