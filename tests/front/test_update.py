"""`update`: more clues, the same ground; ids of clusters stay."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from cluewise import Clues, Cluewise
from cluewise.exceptions import ClueError
from cluewise.front import _cluewise, _starts
from cluewise.metrics import ari

Y = np.arange(90) % 3
X = np.array([(-3.0, 0.0), (0.0, 3.0), (3.0, 0.0)])[Y] + np.random.default_rng(0).normal(size=(90, 2))
FIRST, SECOND, THIRD = (Clues.sample(Y, pairs=count, random_state=seed) for seed, count in enumerate((60, 15, 90)))


def fit(clues=None, k=3):
    return Cluewise(k, random_state=0).fit(X, clues=clues)


def test_update_before_fit():
    with pytest.raises(NotFittedError):
        Cluewise().update(FIRST)


def test_update_adds_clues_and_looks_at_no_data(monkeypatch):
    model = fit(FIRST)
    monkeypatch.setattr(_cluewise, "Ground", None)
    assert model.update(SECOND) is model
    assert model.clues_ == FIRST | SECOND
    assert len(model.doubt_) == len(model.clues_.must) + len(model.clues_.cannot)


def test_the_choice_is_kept_until_clues_have_grown_by_half():
    model = fit(FIRST)
    choice = model.choice_
    assert model.update(SECOND).choice_ is choice
    assert model.update(THIRD).choice_ is not choice


def test_the_choice_is_made_again_where_there_was_nothing_to_choose_by():
    """Without clues, or with clues that all had to hold; then doubts had no fit that did not see the clue, either."""
    model = fit().update(Clues(90, must=[(0, 3)]))
    assert str(model.choice_) == str(fit(model.clues_).choice_) == "One clue alone cannot be checked by others."
    strict = Cluewise(3, hard=True, random_state=0).fit(X, clues=FIRST)
    soft = strict.set_params(hard=False).update(None)
    assert np.array_equal(soft.doubt_, fit(FIRST).doubt_)
    assert np.isnan(soft.set_params(hard=True).update(None).harm_)


def test_an_update_is_close_to_a_fresh_fit():
    model = fit(FIRST).update(SECOND)
    assert ari(model.labels_, fit(FIRST | SECOND).labels_) > 0.9
    again = model.update(THIRD)
    assert (again.labels_ == fit(FIRST | SECOND | THIRD).labels_).all()  # everything is compared again


def test_old_clues_keep_their_doubt_and_new_ones_get_their_own():
    """Must-links that come after cannot-links move these to other places."""
    model = fit(FIRST.only(["cannot"]))
    before = dict(zip(map(tuple, model.clues_.cannot.tolist()), model._fitted.right))
    more = Clues(90, must=[(0, 3), (1, 4)])
    model.update(more)
    after = dict(zip(map(tuple, model.clues_.cannot.tolist()), model._fitted.right[2:]))
    assert before == after
    labeled = fit(np.where(np.arange(90) < 30, Y, -1))
    old = labeled._fitted.right[-30:]
    assert (labeled.update(Clues(90, must=[(40, 43)]))._fitted.right[-30:] == old).all()
    assert np.isfinite(labeled.label_doubt_[:30]).all()


def test_clusters_keep_their_ids():
    model = fit()
    ids = model.cluster_ids_[model.labels_]
    # Labels renumber the clusters: class c is cluster c.
    model.update(np.where(np.arange(90) < 24, (Y + 1) % 3, -1))
    assert (model.labels_[:24] == (Y[:24] + 1) % 3).all()
    assert (model.cluster_ids_[model.labels_] == ids).mean() > 0.9


def test_a_class_keeps_its_id_when_other_classes_come_before_it():
    names = np.array(["b", "c"])
    model = fit([names[Y[i] - 1] if i < 30 and Y[i] > 0 else None for i in range(90)])
    of_b = model.cluster_ids_[model.labels_[1]]
    model.update(["a" if i < 30 and Y[i] == 0 else None for i in range(90)])
    assert model.labels_[1] == 1  # the second class now
    assert model.cluster_ids_[1] == of_b


def test_the_number_of_clusters_grows_when_clues_require_it():
    model = fit(k=None)
    assert model.n_clusters_ == 3
    model.update(Clues(90, apart=np.where(np.arange(90) < 5, 0, -1)))
    assert len(model.cluster_ids_) >= 5
    assert len(set(model.cluster_ids_)) == len(model.cluster_ids_)


def test_the_number_of_clusters_changes_when_sizes_require_it():
    for sizes, k in (([(15, 20)] * 5, 5), ((35, 55), 2)):
        model = fit(FIRST, k=None)
        assert model.n_clusters_ == 3
        model.update(Clues(90, sizes=sizes))
        assert model.n_clusters_ == k
        assert "sizes" not in model.broken_.kinds


def test_the_number_of_clusters_is_found_again_when_clues_have_grown_by_half_in_whatever_steps(monkeypatch):
    found = []
    monkeypatch.setattr(Cluewise, "_count_anew", lambda model, data, known, *_: found.append(len(known.tied)) or 3)
    model = fit(np.where(np.arange(90) < 20, Y, -1), k=None)
    for count in (24, 28, 32, 36):
        model.update(np.where(np.arange(90) < count, Y, -1))
    assert found == [20, 32]
    model.set_params(n_clusters=3).update(None)
    assert found == [20, 32]
    model.set_params(n_clusters=None).update(None)
    assert found == [20, 32, 36]  # a given number was not found


def test_labels_that_change_are_refused_and_change_nothing():
    model = fit(np.where(np.arange(90) < 10, Y, -1))
    before = model.labels_
    with pytest.raises(ClueError, match="labeled"):
        model.update(np.where(np.arange(90) < 10, (Y + 1) % 3, -1))
    assert model.labels_ is before


def test_clues_that_are_taken_back_leave_no_trace(monkeypatch):
    model = fit(FIRST)
    labels, doubt, ids = model.labels_, model.doubt_, model.cluster_ids_
    monkeypatch.setattr(_cluewise, "Ground", None)
    assert model.update(SECOND).refit(FIRST) is model
    assert model.clues_ == FIRST
    assert (model.labels_ == labels).all()
    assert np.array_equal(model.doubt_, doubt)
    assert np.array_equal(model.cluster_ids_, ids)


def test_without_any_clues_left_the_clusters_are_those_without_clues():
    assert ari(fit(FIRST).refit(None).labels_, fit().labels_) == 1


def test_another_number_of_clusters_keeps_the_other_ids():
    model = fit()
    before = model.cluster_ids_[model.labels_]
    after = model.set_params(n_clusters=4).refit(None).cluster_ids_[model.labels_]
    assert set(after) == {0, 1, 2, 3}
    assert (after == before).mean() > 0.7


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_clusters": 91}, "n_clusters=91 is larger than the number of rows"),
        ({"n_clusters": 0}, "The 'n_clusters' parameter of Cluewise must be"),
        ({"time_limit": -1}, "The 'time_limit' parameter of Cluewise must be"),
    ],
)
def test_parameters_that_were_set_after_the_fit_are_checked(params, words):
    model = fit().set_params(**params)
    before = model.labels_
    with pytest.raises(ValueError, match=words):
        model.update(FIRST)
    assert model.labels_ is before


def test_a_fit_from_a_given_start_keeps_it_where_no_clue_speaks():
    """Without clues the result is the start; a clue moves its rows; the next fit without a start compares again."""
    model = fit(FIRST)
    other = (X[:, 1] > np.median(X[:, 1])).astype(int)
    assert (model.refit(Clues(90), start=other).labels_ == other).all()
    assert "start was given" in str(model.choice_)
    away = int(np.flatnonzero(other)[0])
    demand = Clues(90, must=[(away, int(np.flatnonzero(other == 0)[0]))], must_weight=[np.inf])
    model.refit(demand, start=other)
    assert ((model.labels_ == other) == (np.arange(90) != away)).mean() > 0.95
    assert not model.broken_.kinds
    assert (model.refit(FIRST).labels_ == fit(FIRST).labels_).all()


def test_a_start_is_numbered_as_labels_say():
    labels = np.where(np.arange(90) < 30, Y, -1)
    model = fit().refit(labels, start=(Y + 1) % 3)
    assert ari(model.labels_, Y) > 0.8
    assert (model.labels_[:30] == Y[:30]).mean() > 0.9


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (np.zeros(4, dtype=int), "start must have an integer for each of the 90 rows"),
        (np.zeros(90), "start must have an integer for each of the 90 rows"),
        (np.where(np.arange(90) == 7, 3, 0), "start puts row 7 into cluster 3; clusters are 0 to 2"),
        (np.where(np.arange(90) == 8, -1, 0), "start puts row 8 into cluster -1"),
    ],
)
def test_one_sentence_about_a_bad_start(start, words):
    model = fit()
    before = model.labels_
    with pytest.raises(ValueError, match=words):
        model.refit(FIRST, start=start)
    assert model.labels_ is before


def test_clusterings_without_clues_are_made_once(monkeypatch):
    model = fit(FIRST)
    monkeypatch.setattr(_starts.Starts, "_run_ward", None)
    model.update(THIRD)
    assert set(model._data.starts) == {3}
