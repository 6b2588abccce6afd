"""PartitionKMeans with columns of categories: frames, arrays, lists, sparse matrices, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from cluewise import Clues
from cluewise.centroid._partition import PartitionKMeans

TOY8 = np.array([[0.0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]])
START = TOY8[[0, 4, 6]]
SIDE = np.array([0, -1, 0, 0, -1, 1, 1, -1])
SECOND = np.array([-1, 0, -1, 1, 1, -1, -1, 2])

COLUMNS = {
    "length": TOY8[:, 0],
    "color": ["red", None, "red", "red", "", "blue", "blue", None],
    "width": TOY8[:, 1],
}
MIXED = pd.DataFrame(COLUMNS)


def test_a_categorical_column_is_one_more_labeling():
    expected = PartitionKMeans(3, trust=20.0, init=START).fit(TOY8, clues=SIDE)
    for table in (MIXED, pl.DataFrame(COLUMNS)):
        for columns in (["color"], [1], [-2], [False, True, False], np.array([False, True, False])):
            model = PartitionKMeans(3, categorical_features=columns, categorical_weight=20.0, init=START).fit(table)
            assert model.labels_.tolist() == expected.labels_.tolist()
            assert model.objective_ == pytest.approx(expected.objective_)
            np.testing.assert_allclose(model.label_shares_[0], expected.label_shares_[0][:, ::-1])
            assert model.categories_[0].tolist() == ["blue", "red"]
            assert model.n_features_in_ == 3
            assert model.feature_names_in_.tolist() == ["length", "color", "width"]
            assert not model.broken_.kinds


@pytest.mark.parametrize("make", [np.asarray, csr_array, np.ndarray.tolist])
def test_categories_as_numbers(make):
    codes = np.array([3, -1, 3, 3, -1, 7, 7, -1.0])
    table = make(np.column_stack([codes, TOY8]))
    model = PartitionKMeans(3, categorical_features=[0], categorical_weight=20.0, init=START).fit(table)
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 2, 2, 2]
    assert model.categories_[0].tolist() == [3, 7]
    plain = PartitionKMeans(3, init=model.cluster_centers_, max_iter=1).fit(TOY8)
    np.testing.assert_array_equal(model.predict(table), plain.labels_)
    assert model.transform(table).shape == (8, 3)


def test_categories_in_lists_with_text():
    table = [[0.0, "a"], [1.0, "a"], [9.0, "b"], [10.0, ""]]
    model = PartitionKMeans(2, categorical_features=[1], random_state=0).fit(table)
    assert model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    assert model.predict([[0.2, "b"]]) == model.labels_[:1]  # numbers only


def test_categories_beside_clues():
    """Order of the labelings: labels, partitions, categorical columns; trust speaks of clues only."""
    clues = Clues(8, labels=SIDE, partitions=[SECOND])
    model = PartitionKMeans(
        3, trust=[2.0, 3.0], categorical_features=["color"], categorical_weight=0.5, init=START, tol=0
    ).fit(MIXED, clues=clues)
    assert [share.shape[1] for share in model.label_shares_] == [2, 3, 2]
    color = np.array([1, -1, 1, 1, -1, 0, 0, -1])
    expected = PartitionKMeans(3, trust=[2.0, 3.0, 0.5], init=START, tol=0).fit(
        TOY8, clues=Clues(8, labels=SIDE, partitions=[SECOND, color])
    )
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.objective_ == pytest.approx(expected.objective_)
    assert model.broken_.kinds <= {"labels", "partitions"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["size"], "names the column 'size', which X does not have"),
        ([3], "holds the position 3, but X has 3 columns"),
        ([-4], "holds the position -4"),
        ([True], r"a mask of shape \(1,\), but X has 3 columns"),
        ([0.5], "must be a mask, names or positions of columns"),
        ([0, 1, 2], "covers every column of X"),
    ],
)
def test_bad_columns_are_named(columns, message):
    with pytest.raises(ValueError, match=message):
        PartitionKMeans(2, categorical_features=columns).fit(MIXED)


def test_names_need_a_frame():
    with pytest.raises(ValueError, match="X is not a data frame with named columns"):
        PartitionKMeans(2, categorical_features=["color"]).fit(TOY8)
    with pytest.raises(ValueError, match="X must have two dimensions"):
        PartitionKMeans(2, categorical_features=[0]).fit(TOY8[:, 0])


def test_no_categorical_column_is_none():
    a = PartitionKMeans(3, categorical_features=[], init=START).fit(TOY8, clues=SIDE)
    b = PartitionKMeans(3, init=START).fit(TOY8, clues=SIDE)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.categories_ == b.categories_ == []


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_new_rows_have_the_columns_of_the_old():
    model = PartitionKMeans(3, categorical_features=["color"], init=START).fit(MIXED)
    assert model.predict(MIXED).tolist() == model.predict(MIXED.assign(color="green")).tolist()
    with pytest.raises(ValueError, match="2 features, but PartitionKMeans is expecting 3"):
        model.predict(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(MIXED.rename(columns={"color": "hue"}))
    again = clone(model).fit(MIXED)
    assert "color" not in str(vars(again).get("_columns"))  # nothing as long as X is kept
    np.testing.assert_array_equal(again.labels_, model.labels_)
