"""What to use for data and clues at hand: a short list, a ranked table, and plain classifiers beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs, make_moons

import cluewise as cw
from cluewise import Clues, metrics
from cluewise.advice import _suggest, suggest
from cluewise.advice._shortlist import ClassifierClusterer, make_classifiers, make_shortlist
from cluewise.exceptions import ClueError
from cluewise.metrics.segments import count_pairs_among

FEW = ["PCKMeans", "EquivalenceGMM"]


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    return X, y, Clues.sample(y, labels=30, random_state=0)


def test_the_short_list_goes_by_the_cards():
    labels = Clues.from_labels(np.arange(60) % 3)
    chosen, left_out = make_shortlist(labels, 60, 4)
    assert {"Cluewise", "PCKMeans", "ConstrainedKMeans", "PCCC", "MPCKMeans", "EquivalenceGMM", "E2CP"} <= set(chosen)
    assert left_out == {}
    assert chosen["PCCC"].time_limit == 5.0
    links = Clues(60, must=[(0, 1)], cannot=[(2, 3)])
    chosen, left_out = make_shortlist(links, 60, 4)
    assert left_out["ConstrainedKMeans"] == "does not use clues of the kind cannot, must"
    assert "PCKMeans" in chosen
    sized = links | Clues(60, sizes=(1, 40))
    assert set(make_shortlist(sized, 60, 4)[0]) == {"Cluewise", "PCCC"}
    everything = Clues(4, must=[(0, 1)], partitions=[0, 1, 0, 1])
    assert set(make_shortlist(everything, 4, 2)[0]) == {"Cluewise"}


def test_nothing_dear_is_tried_on_many_rows():
    labels = Clues.from_labels(np.where(np.arange(20_000) < 1000, np.arange(20_000) % 3, -1))
    chosen, left_out = make_shortlist(labels, 20_000, 100)
    assert left_out["E2CP"] == "compares all of 20000 rows with each other"
    assert left_out["ConstrainedAgglomerative"] == left_out["E2CP"]
    assert left_out["EquivalenceGMM"] == "covariances of 100 columns are too expensive for 20000 rows"
    assert left_out["MPCKMeans"] == "labels and groups would make 499500 pairs"
    assert {"PCKMeans", "ConstrainedKMeans", "PCCC"} <= set(chosen)
    groups = Clues(1000, together=np.arange(1000) % 2, apart=np.arange(1000) // 2)
    assert count_pairs_among(groups, np.arange(1000)) == 2 * (500 * 499 // 2) + 500


def test_the_table_ranks_methods_and_fits_the_best(blobs):
    X, y, clues = blobs
    found = suggest(X, clues, [3, 4], methods=FEW, random_state=0)
    assert metrics.ari(y, found.best.labels_) == 1
    assert found.best_trial.n_clusters == 3
    assert [t.name for t in found.methods] == FEW
    assert found.reasons["PCKMeans"].endswith("predicts held-out clues best; no better with clues")
    assert "as good within the error" in found.reasons["EquivalenceGMM"]
    assert found.columns["method"] == FEW
    assert (found.n_searched, found.rows) == (90, 90)
    lines = str(found).splitlines()
    assert lines[0].split() == ["score", "clusters", "seconds", "method", "reason"]
    assert lines[1].startswith("1.000 ± 0.000")
    assert lines[3].split()[-5:] == ["K-means", "no", "clues,", "for", "comparison"]
    assert lines[4].endswith("a plain classifier, for comparison")
    assert found.baseline.score == 1.0
    assert lines[-1] == "Take PCKMeans with 3 clusters, without the clues, which do not help."


def test_the_number_of_clusters_may_be_given(blobs):
    X, _, clues = blobs
    assert suggest(X, clues, 4, methods=[cw.PCKMeans()], random_state=0).best.n_clusters == 4
    assert suggest(X, clues, [3, 5], methods=["pck-means"], random_state=0).best.n_clusters == 3


def test_it_says_when_a_classifier_is_better():
    # Two moons cannot be told apart by centers, but easily by neighbors.
    X, y = make_moons(300, noise=0.05, random_state=0)
    clues = Clues.sample(y, labels=0.2, random_state=0)
    found = suggest(X, clues, 2, methods=["ConstrainedKMeans", "EquivalenceGMM"], random_state=0)
    assert found.classify
    assert found.classifier.score == 1.0
    assert [t.name for t in found.classifiers] == ["LabelSpreading", "1-nearest-neighbor", "LogisticRegression"]
    assert found.verdict.endswith(
        "But a plain classifier (LabelSpreading, 1.000) predicts held-out clues better than any clusterer: use it."
    )
    # A lead that may be due to chance does not count, nor one over classes that are not all known.
    best = max(found.methods, key=lambda t: t.score)
    rival = replace(found.classifier, score=best.score + 0.1, less=best.less + 0.5 * np.eye(5)[0])
    assert not replace(found, classifiers=(rival,)).classify
    assert not replace(found, enough_labels=False).classify
    assert "classifier" not in replace(found, enough_labels=False).verdict
    links = Clues.sample(y, pairs=200, random_state=0)
    found = suggest(X, links, 2, methods=["PCKMeans"], random_state=0)
    assert (found.classifier, found.classify) == (None, False)


def test_logistic_regression_is_a_rival_on_standardized_columns():
    # Classes differ in a column of tiny numbers; a wide one, in which clusters are seen, says nothing.
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = np.column_stack([1e-4 * (y + rng.normal(scale=0.1, size=200)), 50.0 * rng.normal(size=200)])
    found = suggest(X, Clues.sample(y, labels=0.2, random_state=0), 2, methods=["PCKMeans"], random_state=0)
    assert (found.classifier.name, found.classify) == ("LogisticRegression", True)


def test_a_class_with_a_single_label_is_not_enough_for_a_classifier(blobs):
    X, _, _ = blobs
    labels = np.full(90, -1)
    labels[:8] = [0, 0, 0, 1, 1, 1, 2, 2]
    assert suggest(X, labels, 3, methods=["PCKMeans"], random_state=0).enough_labels
    assert not suggest(X, labels, 4, methods=["PCKMeans"], random_state=0).enough_labels
    labels[7] = -1
    assert not suggest(X, labels, 3, methods=["PCKMeans"], random_state=0).enough_labels


def test_cluewise_finds_the_number_of_clusters_itself(blobs):
    X, y, clues = blobs
    found = suggest(X, clues, methods=["Cluewise"], random_state=0)
    assert [(t.clues, t.n_clusters) for t in found.search.results_ if t.clues] == [(True, 3)]
    assert metrics.ari(y, found.best.labels_) == 1


def test_classifiers_see_only_labels(blobs):
    X, y, clues = blobs
    assert make_classifiers(Clues(5, labels=[0, 0, -1, -1, -1])) == {}
    for name, model in make_classifiers(clues).items():
        labels = model.fit(X, clues=clues).labels_
        assert metrics.ari(y, labels) == 1, name
        again = ClassifierClusterer(model.classifier, model.spreads, model.scales)
        assert (again.fit(csr_array(X), clues=clues).labels_ == labels).all()


def test_classifiers_that_cannot_learn_are_left_out():
    # Both labels are in one fold, and nothing is left to learn from.
    X = np.arange(60.0)[:, None]
    clues = Clues(60, labels=[0, 1, *[-1] * 58], must=[(i, i + 1) for i in range(0, 60, 2)])
    found = suggest(X, clues, 2, methods=["PCKMeans"], random_state=0)
    assert found.classifier is None
    assert found.best.labels_.shape == (60,)
    assert "classifier" not in str(found)


def test_large_data_are_searched_in_part(blobs, monkeypatch):
    monkeypatch.setattr(_suggest, "_SEARCHED", 60)
    monkeypatch.setattr(_suggest, "_TIED", 20)
    X, y, clues = blobs
    found = suggest(X.astype(np.float32), clues, methods=["PCKMeans"], random_state=0)
    assert (found.n_searched, found.rows) == (60, 90)
    assert len(found.best.labels_) == 90
    assert metrics.ari(y, found.best.labels_) == 1
    assert "Searched on 60 of 90 rows." in str(found)
    # At most so many rows of clues; the others are free.
    rows = _suggest._sample_rows(clues, np.random.default_rng(0))
    assert (len(rows), len(np.unique(rows)), (clues.labels[rows] >= 0).sum()) == (60, 60, 20)
    pairs = Clues(90, must=[(i, i + 1) for i in range(0, 80, 2)])
    kept = pairs[_suggest._sample_rows(pairs, np.random.default_rng(0))]
    assert len(kept.must) == 10


def test_a_winner_that_fails_on_all_rows_makes_room_for_the_next(blobs, monkeypatch):
    monkeypatch.setattr(_suggest, "_SEARCHED", 60)
    X, _, clues = blobs

    class Small(cw.PCKMeans):
        def fit(self, X, y=None, *, clues=None, sample_weight=None):
            if X.shape[0] > 60:
                raise ValueError("too many rows")
            return super().fit(X, clues=clues)

    found = suggest(X, clues, 3, methods=[Small(), cw.PCCC()], random_state=0)
    assert (type(found.best), found.best_trial.name) == (cw.PCCC, "PCCC")
    assert len(found.best.labels_) == 90
    with pytest.raises(ValueError, match="too many rows"):
        suggest(X, clues, 3, methods=[Small()], random_state=0)


def test_methods_that_fail_are_named(blobs):
    X, _, clues = blobs
    found = suggest(X, clues, 2, methods=["PCKMeans", "COPKMeans"], random_state=0)
    # With two clusters for three classes it runs only without clues.
    assert {t.name: t.clues for t in found.methods}["COPKMeans"] is False

    class Never(cw.PCKMeans):
        def fit(self, X, y=None, *, clues=None, sample_weight=None):
            raise ArithmeticError("never")

    found = suggest(X, clues, 3, methods=["PCKMeans", Never()], random_state=0)
    assert found.left_out == {"Never": "was dropped: ArithmeticError: never"}


@pytest.mark.parametrize("method", ["PCCC", "Cluewise"])
def test_the_time_limit_of_the_search_does_not_stay(blobs, method):
    """Also where the rows are few, so that the best is fitted by the search: updates would depend on the machine."""
    X, _, clues = blobs
    found = suggest(X, clues, 3, methods=method, random_state=0)
    assert found.best.time_limit == cw.catalogue.get(method)().time_limit
    own = suggest(X, clues, 3, methods=[cw.PCCC(time_limit=7.0)], random_state=0).best
    assert own.time_limit == 7.0


def test_the_users_own_estimators_stay_as_they_are_on_all_rows(blobs, monkeypatch):
    monkeypatch.setattr(_suggest, "_SEARCHED", 60)
    X, _, clues = blobs
    own = suggest(X, clues, 3, methods=[cw.PCCC(random_state=5, time_limit=7.0)], random_state=0).best
    assert (own.random_state, own.time_limit) == (5, 7.0)
    named = suggest(X, clues, 3, methods="PCCC", random_state=0).best
    assert named.time_limit == cw.PCCC().time_limit
    assert named.random_state is not None

    class NeedsMore(cw.PCKMeans):
        def __init__(self, n_clusters, *, random_state=None):
            super().__init__(n_clusters, random_state=random_state)

        def fit(self, X, y=None, *, clues=None, sample_weight=None):
            if X.shape[0] > 60:
                raise MemoryError("too many rows")
            return super().fit(X, clues=clues)

    found = suggest(X, clues, 3, methods=[NeedsMore(3), cw.PCCC()], random_state=0)
    assert found.best_trial.name == "PCCC"


def test_demands_are_kept_and_named(blobs, monkeypatch):
    X, _, clues = blobs
    sized = clues | Clues(90, sizes=(25, 35))
    found = suggest(X, sized, 3, methods=["PCCC"], random_state=0)
    assert found.verdict == "Take PCCC with 3 clusters, without the clues, which do not help, but with bounds on sizes."
    assert found.baseline is None  # told of the sizes it is no plain K-means
    monkeypatch.setattr(_suggest, "_SEARCHED", 80)
    tight = clues | Clues(90, sizes=(20, 31))
    best = suggest(X, tight, 3, methods=["PCCC"], random_state=0).best
    assert (np.bincount(best.labels_) <= 31).all()


def test_the_verdict_says_when_nothing_is_predicted(blobs):
    X, y, _ = blobs
    lies = np.where(np.arange(90) % 2, np.random.default_rng(1).permutation(y), -1)
    found = suggest(X, lies, 3, methods=["PCKMeans"], random_state=0)
    assert found.best_trial.score <= 2 * found.best_trial.error
    assert "No method predicts held-out clues clearly better than chance" in found.verdict


def test_classifiers_have_the_time_that_the_search_has_left(blobs, monkeypatch):
    X, _, clues = blobs
    now = iter([0.0, 60.0])
    monkeypatch.setattr(_suggest, "perf_counter", lambda: next(now))
    assert suggest(X, clues, 3, methods=["PCKMeans"], time_limit=60.0, random_state=0).classifier is None


def test_it_works_on_sparse_rows_and_all_kinds_of_clues_about_rows(blobs):
    X, y, _ = blobs
    for clues in (
        y.tolist(),
        Clues(90, together=np.where(np.arange(90) < 45, y, -1)),
        Clues(90, cannot=[(i, j) for i in range(10) for j in range(i) if y[i] != y[j]]),
    ):
        found = suggest(csr_array(X), clues, [2, 3], methods=["PCKMeans"], random_state=0)
        assert found.best.n_clusters_ >= 2


def test_without_clues_about_rows_there_is_nothing_to_say(blobs):
    X, _, _ = blobs
    for clues in (Clues(90), Clues(90, sizes=(1, 80))):
        with pytest.raises(ClueError, match="no clues about rows"):
            suggest(X, clues)
    with pytest.raises(ValueError, match="no clusterer 'nobody'"):
        suggest(X, [0, 1] * 45, methods=["nobody"])


def test_equal_seeds_give_equal_tables(blobs):
    X, _, clues = blobs

    def once():
        found = suggest(X, clues, 3, methods=FEW, random_state=3)
        return found.columns["score"], found.classifier.score

    assert once() == once()
