"""Building `Clues`: labels of all kinds, links, groups, matrices; equality, repr, pickle, immutability."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_matrix

from cluewise import Clues
from cluewise.clues import Groups
from cluewise.exceptions import ClueError

EVERYTHING = Clues(
    6,
    labels=["b", None, "a", "b", "", "c"],
    must=[(1, 4), (3, 0)],
    cannot=[(2, 5)],
    together=["x", "x", None, None, None, None],
    apart=[[1, -1, 1, -1, -1, -1], [-1, 7, -1, -1, 7, 7]],
    partitions=[[0, 0, 1, -1, -1, -1], [5, -1, -1, 5, 9, 9]],
    sizes=(1, 4),
    avoid=[0, 0, 0, 1, 1, 1],
    must_weight=[2, 3],
    cannot_confidence=0.9,
    source="test",
)


# --- labels -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "codes", "classes"),
    [
        ([3, -1, 1, 3], [1, -1, 0, 1], [1, 3]),
        (np.array([3, -1, 1, 3], dtype=np.int8), [1, -1, 0, 1], [1, 3]),
        (np.array([3, 0, 1, 3], dtype=np.uint16), [2, 0, 1, 2], [0, 1, 3]),
        ([0.5, np.nan, -2, 0.5], [1, -1, 0, 1], [-2, 0.5]),
        (np.array([2.0, np.nan, -1.0, 0.0]), [1, -1, -1, 0], [0, 2]),
        (["b", "", "a", "b"], [1, -1, 0, 1], ["a", "b"]),
        (np.array(["b", "", "a", "b"]), [1, -1, 0, 1], ["a", "b"]),
        (np.array([b"b", b"", b"a", b"b"]), [1, -1, 0, 1], [b"a", b"b"]),
        (["b", None, "a", float("nan")], [1, -1, 0, -1], ["a", "b"]),
        ([(1, "x"), None, (0, "y"), (1, "x")], [1, -1, 0, 1], [(0, "y"), (1, "x")]),
        ([True, None, False, True], [1, -1, 0, 1], [False, True]),
        (np.array([True, False, False, True]), [1, 0, 0, 1], [False, True]),
        ([7, "seven", None, 7], [0, 1, -1, 0], [7, "seven"]),  # no order between them: as they appear
        ([2**70, None, 5, 2**70], [1, -1, 0, 1], [5, 2**70]),
        ([2**70, 6, 5, 2**70], [2, 1, 0, 2], [5, 6, 2**70]),
        ([1e300, -1.0, 1e301, 1e300], [0, -1, 1, 0], [1e300, 1e301]),
        (range(4), [0, 1, 2, 3], [0, 1, 2, 3]),
        (np.ma.array([4, 5, 6, 4], mask=[0, 1, 0, 0]), [0, -1, 1, 0], [4, 6]),
        (pd.Series([3, None, 1, 3]), [1, -1, 0, 1], [1, 3]),
        (pd.Series([3, None, 1, 3], dtype="Int64"), [1, -1, 0, 1], [1, 3]),
        (pd.Series([3, None, 1, 3], index=[9, 8, 7, 6]), [1, -1, 0, 1], [1, 3]),
        (pd.Series(["b", None, "a", "b"]), [1, -1, 0, 1], ["a", "b"]),
        (pd.Series(["b", pd.NA, "a", "b"], dtype="string"), [1, -1, 0, 1], ["a", "b"]),
        (pd.Series(["b", None, "a", "b"], dtype="category"), [1, -1, 0, 1], ["a", "b"]),
        (pd.Series([True, None, False, True], dtype="boolean"), [1, -1, 0, 1], [False, True]),
        (pl.Series([3, None, 1, 3]), [1, -1, 0, 1], [1, 3]),
        (pl.Series(["b", None, "a", "b"]), [1, -1, 0, 1], ["a", "b"]),
        (pl.Series([0.5, None, float("nan"), 0.5]), [0, -1, -1, 0], [0.5]),
        ([None, -1, "", float("nan")], [-1, -1, -1, -1], []),
    ],
)
def test_labels_of_all_kinds(labels: Any, codes: list[int], classes: list[Any]) -> None:
    clues = Clues(4, labels=labels)
    assert clues.labels.tolist() == codes
    assert clues.labels.dtype == np.int32
    assert clues.classes_.tolist() == classes
    assert all(clues.classes_[c] == v for c, v in zip(codes, list(labels)) if c >= 0)
    assert Clues.from_labels(labels) == clues


def test_dates_are_labels_too() -> None:
    days = np.array(["2026-01-02", "NaT", "2026-01-01"], dtype="M8[D]")
    assert Clues(3, labels=days).labels.tolist() == [1, -1, 0]


def test_kinds_of_clues_present() -> None:
    assert EVERYTHING.kinds == {"labels", "must", "cannot", "together", "apart", "partitions", "sizes", "avoid"}
    assert Clues(3).kinds == frozenset()
    assert Clues(3, labels=[-1, -1, -1]).kinds == frozenset()
    assert Clues(3, apart=[-1, -1, -1], together=[None] * 3).kinds == frozenset()


# --- links, groups, partitions, sizes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "pairs",
    [
        [(3, 1), (0, 2), (1, 3)],
        ((3, 1), (0, 2)),
        np.array([[3, 1], [0, 2]], dtype=np.uint8),
        np.array([[3.0, 1.0], [0.0, 2.0]]),
        pd.DataFrame({"a": [3, 0], "b": [1, 2]}),
        pl.DataFrame({"a": [3, 0], "b": [1, 2]}),
        zip([3, 0], [1, 2]),
        {(3, 1), (0, 2)},
    ],
)
def test_links_of_all_kinds(pairs: Any) -> None:
    must = Clues(4, must=pairs).must
    assert must.tolist() == [[0, 2], [1, 3]]
    assert must.dtype == np.int64


def test_groups_keep_names_weights_and_order_of_appearance() -> None:
    (group,) = Clues(5, apart=["p2", None, "p1", "p2", "p1"], apart_weight=[3, np.inf]).apart
    assert group.codes.tolist() == [0, -1, 1, 0, 1]
    assert group.names.tolist() == ["p2", "p1"]
    assert group.weights.tolist() == [3, np.inf]
    assert group.sizes.tolist() == [2, 2]


def test_several_group_columns_in_any_order() -> None:
    a, b = [0, 0, -1, 1], [-1, 5, 5, 5]
    clues = Clues(4, together=[a, b])
    assert clues == Clues(4, together=[np.array(b), pd.Series(a)])
    assert clues == Clues(4, together=Clues(4, together=a).together[0]) | Clues(4, together=b)
    assert clues.components.tolist() == [0, 0, 0, 0]


def test_nothing_at_all_may_be_said_in_many_ways() -> None:
    assert Clues(3, must=[], cannot=np.empty((0, 2)), together=[], apart=(), partitions=[], avoid=[]) == Clues(3)


def test_confidence_becomes_weight_and_is_kept() -> None:
    clues = Clues(4, must=[(0, 1)], cannot=[(1, 2), (2, 3)], together=[0, 0, 1, 1], confidence=0.75)
    assert clues.must_weight.tolist() == [0.5]
    assert clues.must_confidence.tolist() == [0.75]
    assert clues.together[0].weights.tolist() == [0.5, 0.5]
    some = Clues(4, cannot=[(1, 2), (2, 3)], cannot_confidence=[1, np.nan], cannot_weight=[9, 4])
    assert some.cannot_weight.tolist() == [1, 4]
    assert np.array_equal(some.cannot_confidence, [1, np.nan], equal_nan=True)
    assert np.isnan(Clues(4, must=[(0, 1)]).must_confidence).all()


def test_sources() -> None:
    clues = Clues(3, must=[(1, 2), (0, 1)], must_source=["line 1", "line 2"], cannot=[(0, 2)], labels=[0, 1, -1])
    assert clues.must_source.tolist() == ["line 2", "line 1"]
    assert clues.cannot_source.tolist() == ["given"]
    assert clues.label_source is None
    named = Clues(3, labels=[0, 1, -1], cannot=[(0, 2)], apart=[0, 0, 0], source="ann")
    assert named.label_source is not None
    assert named.label_source[:2].tolist() == ["ann", "ann"]
    assert named.cannot_source.tolist() == ["ann"]
    assert named.apart[0].source == "ann"
    told = Clues(2, labels=[0, 1], label_source=["p", "q"]).label_source
    assert told is not None
    assert told.tolist() == ["p", "q"]


@pytest.mark.parametrize(("classes", "dtype"), [(255, np.uint8), (256, np.uint16), (65536, np.uint32)])
def test_partitions_are_stored_compactly(classes: int, dtype: Any) -> None:
    column = np.arange(-1, classes)
    clues = Clues(classes + 1, partitions=column)
    assert clues.partitions[0].dtype == dtype
    assert clues.partitions[0][0] == np.iinfo(dtype).max
    assert clues.partition_codes(0).tolist() == column.tolist()
    assert Clues(classes + 1, partitions=clues.partitions) == clues


TABLE = np.array([[0, 4], [0, 2], [-1, 2]])


@pytest.mark.parametrize(
    "table", [TABLE, np.ma.masked_equal(TABLE, -1), pd.DataFrame(TABLE)], ids=lambda t: type(t).__name__
)
def test_tables_have_a_column_of_clues_in_each_column(table) -> None:
    clues = Clues(3, partitions=table, avoid=table)
    assert [clues.partition_codes(t).tolist() for t in range(2)] == [[0, 0, -1], [1, 0, 0]]
    assert [codes.tolist() for codes in clues.avoid] == [[0, 0, -1], [1, 0, 0]]
    assert Clues(3, together=table, apart=table) == Clues(3, together=list(TABLE.T), apart=list(TABLE.T))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((2, 5), [2, 5]),
        ((None, 5), [0, 5]),
        ((2, None), [2, np.inf]),
        ([(1, 2), (3, None)], [[1, 2], [3, np.inf]]),
        (np.array([[0.5, 1.5]]), [[0.5, 1.5]]),
    ],
)
def test_sizes(sizes: Any, expected: Any) -> None:
    bounds = Clues(4, sizes=sizes).sizes
    assert bounds is not None
    assert bounds.tolist() == expected


def test_tied_and_free_rows() -> None:
    clues = Clues(
        12,
        labels=[0] + [-1] * 11,
        must=[(1, 2)],
        cannot=[(3, 4)],
        apart=[-1] * 5 + ["p", "p", "q"] + [-1] * 4,  # a group of one row says nothing
        partitions=[-1] * 8 + [0, 0, -1, -1],
        sizes=(1, 9),
        avoid=np.zeros(12, int),
    )
    assert clues.tied.tolist() == [0, 1, 2, 3, 4, 5, 6, 8, 9]
    assert clues.free.tolist() == [7, 10, 11]


def test_from_pairs() -> None:
    assert Clues.from_pairs(4, [(0, 1)], [(1, 2)]) == Clues(4, must=[(0, 1)], cannot=[(1, 2)])
    assert Clues.from_pairs(4) == Clues(4)


# --- matrices ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.array, csr_matrix, coo_array])
def test_matrix_of_links_and_back(form: Any) -> None:
    dense = np.array([[0, 2, 0, -1], [2, 0, 0, 0], [0, 0, 0, -3.5], [-1, 0, -3.5, 0]])
    clues = Clues.from_matrix(form(dense))
    assert clues.must.tolist() == [[0, 1]]
    assert clues.must_weight.tolist() == [2]
    assert clues.cannot.tolist() == [[0, 3], [2, 3]]
    assert clues.cannot_weight.tolist() == [1, 3.5]
    assert np.array_equal(clues.to_matrix().toarray(), dense)


def test_entries_that_a_sparse_matrix_lists_twice_add_up() -> None:
    twice = coo_array(([1, 2, 3, 0], ([0, 0, 1, 1], [1, 1, 0, 2])), shape=(3, 3))
    assert Clues.from_matrix(twice).must_weight.tolist() == [3]


def test_empty_matrix() -> None:
    assert Clues.from_matrix(np.zeros((3, 3))) == Clues(3)
    assert Clues(3).to_matrix().nnz == 0


# --- the object -------------------------------------------------------------------------------------------


def test_repr_tells_what_is_there() -> None:
    assert repr(Clues(1)) == "Clues(1 row: no clues)"
    assert repr(EVERYTHING) == (
        "Clues(6 rows: 4 labels in 3 classes, 2 must-links, 1 cannot-link, 1 together group, 2 apart groups, "
        "2 partial partitions, size bounds, 1 clustering to avoid, weights 0.8 to 3)"
    )


def test_size_protocols() -> None:
    assert len(EVERYTHING) == 6
    assert EVERYTHING.shape == (6, 6)


@pytest.mark.parametrize("change", [
    {"labels": ["b", None, "a", "b", "", "d"]},
    {"labels": ["b", None, "a", "b", "c", "c"]},
    {"must": [(1, 4)]},
    {"must": [(1, 4), (3, 0)], "must_weight": [3, 2]},
    {"cannot": [(2, 4)]},
    {"cannot": [(2, 5)], "cannot_confidence": 0.8},
    {"together": ["x", "x", "x", None, None, None]},
    {"together": ["y", "y", None, None, None, None]},
    {"apart": [1, -1, 1, -1, -1, -1]},
    {"partitions": [[0, 0, 1, -1, -1, -1]]},
    {"sizes": (1, 5)},
    {"sizes": None},
    {"size_unit": "weight"},
    {"avoid": None},
    {"source": "other"},
])  # fmt: skip
def test_equality_sees_every_kind(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {
        "labels": ["b", None, "a", "b", "", "c"],
        "must": [(1, 4), (3, 0)],
        "cannot": [(2, 5)],
        "together": ["x", "x", None, None, None, None],
        "apart": [[1, -1, 1, -1, -1, -1], [-1, 7, -1, -1, 7, 7]],
        "partitions": [[0, 0, 1, -1, -1, -1], [5, -1, -1, 5, 9, 9]],
        "sizes": (1, 4),
        "avoid": [0, 0, 0, 1, 1, 1],
        "must_weight": [2, 3],
        "cannot_confidence": 0.9,
        "source": "test",
    }
    assert Clues(6, **given) == EVERYTHING
    given |= change
    if len(given["must"]) == 1:
        given["must_weight"] = 2
    assert Clues(6, **given) != EVERYTHING


def test_equality_with_strangers() -> None:
    assert Clues(2) != Clues(3)
    assert Clues(2) != "clues"
    assert Clues(2, apart=[0, 0]).apart[0] != "group"
    assert Clues(2).__dict__["_must"] != "links"
    with pytest.raises(TypeError, match="unhashable"):
        hash(EVERYTHING)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_and_pickles_are_equal_and_as_immutable(again: Any) -> None:
    EVERYTHING.components, EVERYTHING.graph, EVERYTHING.contradictions  # noqa: B018 (now they are remembered)
    other = again(EVERYTHING)
    assert other == EVERYTHING
    assert_read_only(other)
    assert other.components.tolist() == EVERYTHING.components.tolist()


def assert_read_only(clues: Clues) -> None:
    arrays = [clues.labels, clues.classes_, clues.label_source, clues.must, clues.must_weight, clues.cannot]
    arrays += [clues.cannot_weight, clues.sizes, clues.components, clues.tied, *clues.partitions, *clues.avoid]
    arrays += [*clues.graph, *clues.cliques]
    for group in (*clues.together, *clues.apart):
        arrays += [group.codes, group.weights, group.names]
    for array in arrays:
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_clues_are_immutable() -> None:
    assert_read_only(EVERYTHING)
    assert_read_only(EVERYTHING[[0, 3, 1, 2, 4]])
    with pytest.raises(AttributeError, match=r"immutable.*'labels'"):
        EVERYTHING.labels = np.zeros(6, int)
    with pytest.raises(AttributeError, match=r"immutable.*'n'"):
        del EVERYTHING.n


def test_what_the_user_gave_stays_untouched() -> None:
    arrays: dict[str, Any] = {
        "labels": np.array([0, 1, -1, -1]),
        "must": np.array([[1, 0]]),
        "must_weight": np.array([2.0]),
        "cannot": np.array([[3, 0]]),
        "together": np.array([0, 0, -1, -1], dtype=np.int32),
        "partitions": np.array([0, 0, -1, 1], dtype=np.int32),
        "sizes": np.array([1.0, 2.0]),
        "avoid": np.array([0, 0, 1, 1], dtype=np.int32),
    }
    before = {name: array.copy() for name, array in arrays.items()}
    clues = Clues(4, **arrays)
    for name, array in arrays.items():
        assert array.flags.writeable
        assert np.array_equal(array, before[name])
        array[...] = 0  # and what the user does later does not reach the clues
    assert clues == Clues(4, **before)
    codes = np.array([0, 0], dtype=np.int32)
    Groups(codes, np.ones(1), np.array(["a"], dtype=object))
    assert codes.flags.writeable
    for array in before.values():
        array.flags.writeable = False
    assert Clues(4, **before) == clues


def test_groups_made_by_hand_are_checked() -> None:
    name, one = np.array(["a"], dtype=object), np.ones(1)
    good = Groups(np.array([0, -1, 0], dtype=np.int32), one, name)
    assert Clues(3, apart=good) == Clues(3, apart=["a", None, "a"])
    with pytest.raises(ClueError, match="apart puts row 2 into group 1, which has no weight"):
        Clues(3, apart=Groups(np.array([0, -1, 1], dtype=np.int32), one, name))
    with pytest.raises(ClueError, match="together covers 2 rows, but there are 3"):
        Clues(3, together=Groups(np.array([0, -1], dtype=np.int32), one, name))
    with pytest.raises(ClueError, match="int32 codes"):
        Clues(3, together=Groups(np.array([0, -1, 0]), one, name))
    with pytest.raises(ClueError, match="one weight and one name"):
        Clues(3, together=Groups(np.array([0, -1, 0], dtype=np.int32), np.ones(2), name))
