"""clue_score as a plain function and as a scorer that scikit-learn hands the held-out clues."""

import pickle

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cluewise import E2CP, Clues
from cluewise.exceptions import ClueError
from cluewise.metrics import clue_score, satisfaction


class Recorder(ClusterMixin, BaseEstimator):
    """K-means that asks for clues, as cluewise's clusterers do, and remembers what it got."""

    __metadata_request__fit = {"clues": True}

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None, *, clues=None):
        self.clues_ = clues
        self.model_ = KMeans(self.n_clusters, n_init=2, random_state=0).fit(X)
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def blobs():
    X, y = make_blobs(90, centers=[(-8, 0), (0, 8), (8, 0)], random_state=1)
    every = [(i, j) for i in range(0, 90, 3) for j in range(i + 1, 90, 5)]
    return (
        X,
        y,
        Clues(
            90,
            must=[p for p in every if y[p[0]] == y[p[1]]],
            cannot=[p for p in every if y[p[0]] != y[p[1]]],
        ),
    )


class Fixed:
    """Predicts what it was told to."""

    def __init__(self, labels):
        self.labels = labels

    def predict(self, X):
        return np.asarray(self.labels)


def test_mean_over_kinds():
    clues = Clues(4, must=[(0, 1)], cannot=[(0, 2), (0, 3), (1, 2)])
    # must 1 of 1, cannot 2 of 3: the many cannot-links do not outvote the one must-link
    assert clue_score(Fixed([0, 0, 1, 0]), np.zeros((4, 1)), clues=clues) == pytest.approx((1 + 2 / 3) / 2)


def test_partial_labels_as_an_array():
    assert clue_score(Fixed([3, 3, 5, 5]), np.zeros((4, 1)), clues=[0, 0, 1, -1]) == 1.0
    assert clue_score(Fixed([3, 3, 5, 5]), np.zeros((4, 1)), clues=["a", "b", "b", ""]) == pytest.approx(2 / 3)


def test_bounds_on_sizes_do_not_count():
    clues = Clues(3, must=[(0, 1)], sizes=(3, 3))
    assert clue_score(Fixed([0, 0, 1]), np.zeros((3, 1)), clues=clues) == 1.0


def test_nothing_to_score():
    with pytest.raises(ClueError, match="no clue relates the held-out rows"):
        clue_score(Fixed([0, 0]), np.zeros((2, 1)), clues=Clues(2, sizes=(1, 2)))


def test_an_estimator_without_predict():
    X = np.zeros((2, 1))
    with pytest.raises(TypeError, match="DBSCAN has no predict"):
        clue_score(DBSCAN().fit(X), X, clues=Clues(2, must=[(0, 1)]))


def test_without_routing_the_message_says_what_to_do(blobs):
    X, _, clues = blobs
    with pytest.raises(TypeError, match="enable_metadata_routing=True"):
        cross_validate(Recorder(), X, scoring=clue_score, params={"clues": clues}, error_score="raise")


@pytest.mark.parametrize("refit", [True, False])
def test_a_search_without_routing_is_refused(blobs, refit):
    X, _, clues = blobs
    search = GridSearchCV(Recorder(), {"n_clusters": [2, 3]}, scoring=clue_score, cv=3, refit=refit)
    with pytest.raises(TypeError, match="enable_metadata_routing=True"):
        search.fit(X, clues=clues)


def test_a_search_among_methods_without_predict_is_refused(routing, blobs):
    X, _, clues = blobs
    search = GridSearchCV(E2CP(3), {"n_neighbors": [5, 10, 15]}, scoring=clue_score, cv=3)
    with pytest.raises(TypeError, match=r"E2CP has no predict; cluewise\.ClueSearchCV holds out clues"):
        search.fit(X, clues=clues)
    with pytest.raises(TypeError, match="E2CP has no predict"):
        cross_validate(E2CP(3), X, scoring={"clues": clue_score}, params={"clues": clues}, cv=3)


def test_a_search_with_a_fold_without_clues_is_refused(routing, blobs):
    X, _, _ = blobs
    search = GridSearchCV(Recorder(), {"n_clusters": [2, 3]}, scoring=clue_score, cv=KFold(3))
    with pytest.raises(RuntimeError, match=r"no clue relates the held-out rows, .* use fewer folds"):
        search.fit(X, clues=Clues(90, must=[(0, 1), (2, 3)], cannot=[(40, 41)]))


def test_cross_validation_scores_held_out_clues(routing, blobs):
    X, y, clues = blobs
    cv = KFold(3, shuffle=True, random_state=0)
    result = cross_validate(
        Recorder(2), X, y, scoring=clue_score, params={"clues": clues}, cv=cv, return_estimator=True
    )
    for (train, test), model, score in zip(cv.split(X), result["estimator"], result["test_score"], strict=True):
        assert model.clues_ == clues[train]
        shares = satisfaction(model.predict(X[test]), clues[test])
        assert score == pytest.approx(np.mean(list(shares.values())))
        assert score < 1  # two clusters cannot keep three blobs apart


def test_grid_search_finds_the_number_of_clusters(routing, blobs):
    X, _, clues = blobs
    search = GridSearchCV(Recorder(), {"n_clusters": [2, 3, 6]}, scoring=clue_score, cv=3, refit=True)
    search.fit(X, clues=clues)
    assert search.best_params_ == {"n_clusters": 3}
    assert search.best_score_ == 1.0
    assert search.score(X, clues=clues) == 1.0


def test_in_a_pipeline_and_beside_another_scorer(routing, blobs):
    X, y, clues = blobs
    pipe = make_pipeline(StandardScaler(), Recorder(3))
    both = {"clues": clue_score, "truth": "adjusted_rand_score"}
    result = cross_validate(pipe, X, y, scoring=both, params={"clues": clues}, cv=3)
    assert result["test_clues"].tolist() == [1.0, 1.0, 1.0]
    assert result["test_truth"].tolist() == [1.0, 1.0, 1.0]


def test_partial_labels_and_several_workers(routing, blobs):
    X, y, _ = blobs
    partial = np.where(np.arange(90) % 2, y, -1)
    with joblib.parallel_config("threading", n_jobs=2):
        scores = cross_val_score(Recorder(3), X, scoring=clue_score, params={"clues": partial}, cv=3)
    assert scores.tolist() == [1.0, 1.0, 1.0]


def test_pickle():
    assert pickle.loads(pickle.dumps(clue_score)) is clue_score
