"""Ids of clusters: worked examples."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from cluewise import Cluewise, PCKMeans, keep_ids
from cluewise.front._ids import follow


class Result(BaseEstimator):
    """A fitted clusterer, as far as `keep_ids` looks at it."""

    def fit(self):
        return self


def made(labels, **more):
    result = Result()
    vars(result).update(labels_=np.array(labels), **more)
    return result


def test_by_position():
    """Cluster 0 has three of the rows of old cluster 1, cluster 1 has the row of old cluster 0, cluster 2 is new."""
    new = keep_ids(made([0, 0, 0, 1, 1, 2, 2]), made([1, 1, 1, 0, 1]))
    assert new.cluster_ids_.tolist() == [1, 0, 2]


def test_by_name():
    old = made([0, 0, 1, 1], cluster_ids_=np.array([4, 7]))
    new = keep_ids(made([1, 1, 0, 2]), old, names=["c", "d", "a", "x"], previous_names=["a", "b", "c", "d"])
    assert new.cluster_ids_.tolist() == [4, 7, 8]


def test_the_largest_overlap_comes_first_and_ties_go_to_the_lower_id():
    labels, before = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert follow(labels, before, np.array([5, 3]), 2, 6, {})[0].tolist() == [3, 5]
    labels, before = np.array([0, 0, 1, 1, 1]), np.zeros(5, dtype=int)
    assert follow(labels, before, np.array([0]), 2, 1, {})[0].tolist() == [1, 0]


def test_named_clusters_take_the_id_of_their_class():
    labels, before = np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1])
    ids, fresh = follow(labels, before, np.array([8, 9]), 2, 10, {0: 1})
    assert ids.tolist() == [9, 10]
    assert fresh == 11


def test_noise_and_new_rows_belong_to_no_cluster():
    new = keep_ids(made([-1, 0, 0, 1]), made([0, -1, 1]))
    assert new.cluster_ids_.tolist() == [1, 2]


def test_an_id_is_never_used_again():
    first = made([0, 0, 1, 1])
    second = keep_ids(made([0, 0, 0, 0]), first)  # cluster 1 is gone
    assert second.cluster_ids_.tolist() == [0]
    third = keep_ids(made([0, 0, 1, 2]), second)
    assert third.cluster_ids_.tolist() == [0, 2, 3]
    assert keep_ids(made([0, 1, 2, 3]), third).cluster_ids_.tolist() == [0, 4, 2, 3]


def test_names_are_given_for_both_or_none():
    with pytest.raises(ValueError, match="both fits, or of neither"):
        keep_ids(made([0]), made([0]), names=["a"])
    with pytest.raises(ValueError, match="names has 2 entries, but that fit has 1 rows"):
        keep_ids(made([0]), made([0]), names=["a", "b"], previous_names=["a"])
    with pytest.raises(NotFittedError):
        keep_ids(Cluewise(), made([0]))


@pytest.mark.parametrize("names", [["a", "b", "b", "c"], np.array(["a", "b", "c", "b"])])
def test_a_name_stands_for_one_row(names):
    """The last row of a name would be taken for all of them."""
    model, unique = made([0, 0, 1, 1]), ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match=r"^names has 'b' more than once; a name has to tell its row from all others"):
        keep_ids(model, made([0, 0, 1, 1]), names=names, previous_names=unique)
    with pytest.raises(ValueError, match=r"^previous_names has 'b' more than once"):
        keep_ids(model, made([0, 0, 1, 1]), names=unique, previous_names=names)


def test_fits_of_real_clusterers():
    X = np.array([[0.0], [1.0], [20.0], [21.0], [50.0], [51.0]])
    old = Cluewise(2, random_state=0).fit(X[:4])
    new = keep_ids(Cluewise(3, random_state=1).fit(X), old)
    assert (new.cluster_ids_[new.labels_][:4] == old.labels_).all()
    assert set(new.cluster_ids_[new.labels_][4:]) == {2}
    plain = keep_ids(PCKMeans(3, random_state=2).fit(X), new)
    assert (plain.cluster_ids_[plain.labels_] == new.cluster_ids_[new.labels_]).all()


def test_the_cluster_of_a_class_keeps_its_id_although_it_shares_more_rows_with_another():
    X = np.array([[0.0], [1.0], [8.0], [9.0]])
    old = Cluewise(2, random_state=0).fit(X, clues=["low", None, None, "high"])
    new = Cluewise(2, random_state=0).fit(X, clues=["high", None, None, "low"])
    ids = {name: old.cluster_ids_[old.labels_[row]] for name, row in (("low", 0), ("high", 3))}
    keep_ids(new, old)
    assert {name: new.cluster_ids_[new.labels_[row]] for name, row in (("high", 0), ("low", 3))} == ids
