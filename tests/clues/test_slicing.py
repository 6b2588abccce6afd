"""Slicing, merging and picking clues; scikit-learn's cross-validation slices them too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, cross_validate
from sklearn.utils import _safe_indexing

from cluewise import Clues
from cluewise.exceptions import ClueError


@st.composite
def some_clues(draw: st.DrawFn, n: int | None = None) -> Clues:
    n = draw(st.integers(1, 8)) if n is None else n
    row = st.integers(0, n - 1)
    pairs = st.lists(st.tuples(row, row).filter(lambda p: p[0] != p[1]), max_size=n if n > 1 else 0)
    column = st.lists(st.integers(-1, 2), min_size=n, max_size=n)
    return Clues(
        n,
        labels=draw(column) if draw(st.booleans()) else None,
        must=draw(pairs),
        cannot=draw(pairs),
        together=draw(st.lists(column, max_size=2)),
        apart=draw(st.lists(column, max_size=2)),
        partitions=draw(st.lists(column, max_size=2)),
        avoid=draw(st.lists(column, max_size=1)),
        source=draw(st.sampled_from(["ann", "bob"])),
    )


def rows_of(data: st.DataObject, n: int) -> list[int]:
    return data.draw(st.permutations(range(n)))[: data.draw(st.integers(0, n))]


# --- slicing ----------------------------------------------------------------------------------------------


@given(some_clues(), st.data())
def test_a_slice_says_about_the_rows_that_stay_what_was_said_before(clues: Clues, data: st.DataObject) -> None:
    rows = rows_of(data, clues.n)
    part = clues[rows]
    assert part.n == len(part) == len(rows)
    assert part.labels.tolist() == clues.labels[rows].tolist()
    assert part.classes_.tolist() == clues.classes_.tolist()  # class c stays class c
    for kind in ("must", "cannot"):
        inside = [sorted((rows.index(a), rows.index(b))) for a, b in getattr(clues, kind) if {a, b} <= set(rows)]
        assert getattr(part, kind).tolist() == sorted(inside)
    for kind in ("together", "apart"):
        before = [pairs_of(g.codes[rows]) for g in getattr(clues, kind) if (g.codes[rows] >= 0).any()]
        assert sorted(pairs_of(g.codes) for g in getattr(part, kind)) == sorted(before)
    for t in range(len(clues.partitions)):
        assert part.partition_codes(t).tolist() == clues.partition_codes(t)[rows].tolist()
    assert [a.tolist() for a in part.avoid] == [a[rows].tolist() for a in clues.avoid]


def pairs_of(codes: Any) -> list[tuple[int, int]]:
    n = len(codes)
    return [(i, j) for i in range(n) for j in range(i, n) if codes[i] == codes[j] >= 0]


@given(some_clues(), st.data())
def test_a_slice_of_a_slice_is_a_slice(clues: Clues, data: st.DataObject) -> None:
    rows = rows_of(data, clues.n)
    again = rows_of(data, len(rows))
    assert clues[rows][again] == clues[[rows[i] for i in again]]
    assert clues[:] == clues


@given(st.data())
def test_slicing_and_merging_commute(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    a, b = data.draw(some_clues(n)), data.draw(some_clues(n)).only(["must", "cannot", "together", "apart"])
    rows = rows_of(data, n)
    assert (a | b)[rows].pairs()[0].tolist() == (a[rows] | b[rows]).pairs()[0].tolist()
    assert (a | b)[rows].components.tolist() == (a[rows] | b[rows]).components.tolist()


@pytest.mark.parametrize(
    "rows",
    [
        [1, 3, 4],
        (np.array([1, 3, 4]), ...),
        ([1, 3, 4], ...),
        np.array([1, 3, 4], dtype=np.int32),
        [-5, -3, -2],
        [False, True, False, True, True, False],
        np.array([False, True, False, True, True, False]),
    ],
)
def test_ways_to_name_rows(rows: Any) -> None:
    clues = Clues(6, must=[(1, 3), (3, 5)], labels=[9, 8, 7, 8, 9, 7])
    part = clues[rows]
    assert part.must.tolist() == [[0, 1]]
    assert part.labels.tolist() == [1, 1, 2]


def test_slices_and_nothing() -> None:
    clues = Clues(6, must=[(1, 3), (3, 5)])
    assert clues[1:6:2].must.tolist() == [[0, 1], [1, 2]]
    assert clues[::-1].must.tolist() == [[0, 2], [2, 4]]
    assert clues[[]] == clues[np.zeros(6, bool)] == Clues(0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 2, 0], "row 0 is listed twice; a row can be picked only once, so resample rows without replacement."),
        ([2, -1], "row 2 is listed twice; a row can be picked only once, so resample rows without replacement."),
        ([0, 3], "there is no row 3: the clues are about 3 rows."),
        ([-4], "there is no row -4: the clues are about 3 rows."),
        ([True, False], "this mask has 2 entries, but the clues are about 3 rows."),
        (1, "clues are sliced by a mask, a slice or a list of row numbers."),
        ([[0, 1]], "clues are sliced by a mask, a slice or a list of row numbers."),
        ([0.5], "clues are sliced by a mask, a slice or a list of row numbers."),
        (["a"], "clues are sliced by a mask, a slice or a list of row numbers."),
        (([0, 1], [0, 1]), "clues are sliced by rows alone: clues[rows] or clues[rows, ...]."),
    ],
)
def test_bad_rows(rows: Any, message: str) -> None:
    with pytest.raises(ClueError) as error:
        Clues(3)[rows]
    assert str(error.value) == message


def test_sizes_become_what_they_entail() -> None:
    # Of 10 rows 3 are gone: a cluster of at least 5 keeps at least 2, one of at most 6 has still at most 6.
    bounds = Clues(10, sizes=(5, 6))[:7].sizes
    assert bounds is not None
    assert bounds.tolist() == [2, 6]
    bounds = Clues(10, sizes=[(5, 6), (2, None)])[:7].sizes
    assert bounds is not None
    assert bounds.tolist() == [[2, 6], [0, np.inf]]
    bounds = Clues(10, sizes=(5, 6), size_unit="weight")[:7].sizes  # the lost rows may have weighed anything
    assert bounds is not None
    assert bounds.tolist() == [0, 6]


def test_label_sources_are_sliced() -> None:
    told = Clues(3, labels=[0, 1, 2], label_source=["a", "b", "c"])[[2, 0]].label_source
    assert told is not None
    assert told.tolist() == ["c", "a"]


def test_groups_without_rows_are_gone() -> None:
    part = Clues(4, apart=[0, 0, -1, -1], together=[1, 1, 2, 2])[[2, 3]]
    assert part.kinds == {"together"}
    assert part.together[0].names.tolist() == [2]


@given(st.data())
def test_few_of_many_rows(data: st.DataObject) -> None:
    """Few rows are looked up in another way than many; both say the same."""
    near = some_links(data, 12)
    rows = np.sort(rows_of(data, 12)).astype(np.int64)
    far = Clues(1000, must=near.must * 80, cannot=near.cannot * 80)
    few, many = far[rows * 80], near[rows]
    assert few.must.tolist() == many.must.tolist()
    assert few.cannot.tolist() == many.cannot.tolist()
    assert far.tied.tolist() == (near.tied * 80).tolist()
    assert Clues(1000, labels=[0] + [-1] * 999).tied.tolist() == [0]


def some_links(data: st.DataObject, n: int) -> Clues:
    row = st.integers(0, n - 1)
    pairs = st.lists(st.tuples(row, row).filter(lambda p: p[0] != p[1]), max_size=n)
    return Clues(n, must=data.draw(pairs), cannot=data.draw(pairs))


# --- merging ----------------------------------------------------------------------------------------------


def test_merging_labels() -> None:
    a = Clues(5, labels=["b", "b", None, None, None], source="ann")
    b = Clues(5, labels=[None, "b", "a", "c", None])
    both = a | b
    assert both.labels.tolist() == [1, 1, 0, 2, -1]
    assert both.classes_.tolist() == ["a", "b", "c"]
    assert both.label_source is not None
    assert both.label_source[:4].tolist() == ["ann", "ann", "given", "given"]
    with pytest.raises(ClueError, match="row 1 is labeled 'b' in one set of clues and 'x' in the other"):
        a | Clues(5, labels=[None, "x", None, None, None])


def test_classes_left_by_slicing_keep_their_place_when_merged() -> None:
    part = Clues(4, labels=["a", "b", "c", None])[[2, 3]]
    assert part.classes_.tolist() == ["a", "b", "c"]
    both = part | Clues(2, labels=[None, "b"])
    assert both.labels.tolist() == [2, 1]


def test_merging_groups_partitions_and_clusterings_to_avoid() -> None:
    a = Clues(4, together=[0, 0, -1, -1], partitions=[0, 1, 0, 1], avoid=[0, 0, 1, 1])
    b = Clues(4, together=[-1, 0, 0, -1], partitions=[[0, 1, 0, 1], [0, 0, 0, 1]], avoid=[0, 1, 1, 1])
    both = a | b
    assert len(both.together) == len(both.partitions) == len(both.avoid) == 2
    assert both | a | b == both


def test_merging_sizes() -> None:
    def merged(a: Any, b: Any) -> Any:
        sizes = (Clues(9, sizes=a) | Clues(9, sizes=b)).sizes
        return None if sizes is None else sizes.tolist()

    assert merged((1, 5), (2, None)) == [2, 5]
    assert merged((1, 5), None) == merged(None, (1, 5)) == [1, 5]
    assert merged(None, None) is None
    assert merged((1, 4), [(0, 3), (2, 9)]) == [[1, 3], [2, 4]]
    with pytest.raises(ClueError, match="no size is left"):
        merged((1, 2), (3, 4))
    with pytest.raises(ClueError, match="different numbers of clusters"):
        merged([(1, 2)], [(1, 2), (1, 2)])
    weighed = Clues(9, sizes=(1, 5), size_unit="weight")
    assert (Clues(9) | weighed).size_unit == "weight"
    with pytest.raises(ClueError, match="one set of clues bounds the number of points, the other their weight"):
        weighed | Clues(9, sizes=(1, 5))


def test_what_cannot_be_merged() -> None:
    with pytest.raises(ClueError, match="clues about 3 rows cannot be merged with clues about 4 rows"):
        Clues(3) | Clues(4)
    with pytest.raises(TypeError, match="unsupported operand"):
        Clues(3) | [(0, 1)]


@given(some_clues())
def test_merging_with_itself_or_nothing_changes_nothing(clues: Clues) -> None:
    assert clues | clues == clues
    assert clues | Clues(clues.n) == Clues(clues.n) | clues == clues


# --- picking ----------------------------------------------------------------------------------------------


@given(some_clues())
def test_only_some_kinds(clues: Clues) -> None:
    assert clues.only(clues.kinds) == clues
    for kind in clues.kinds:
        one = clues.only([kind])
        assert one.kinds <= {kind}
        rest = clues.only(clues.kinds - {kind})
        assert rest.kinds == clues.kinds - {kind}


def test_subset() -> None:
    clues = Clues(4, must=[(0, 1), (2, 3)], labels=[0, 0, 1, 1], together=["a", "a", "b", "b"], partitions=[0, 0, 1, 1],
                  sizes=(1, 3), avoid=[0, 1, 1, 1])  # fmt: skip
    part = clues.subset(
        must=[False, True],
        labels=np.array([True, False, False, True]),
        together=[np.array([False, True])],
        partitions=[np.array([True, True, False, False])],
    )
    assert part.must.tolist() == [[2, 3]]
    assert part.labels.tolist() == [0, -1, -1, 1]
    assert part.together[0].names.tolist() == ["b"]
    assert part.together[0].codes.tolist() == [-1, -1, 0, 0]
    assert part.partition_codes(0).tolist() == [0, 0, -1, -1]
    assert part.kinds == {"must", "labels", "together", "partitions"}
    assert clues.subset(sizes=True, avoid=True).kinds == {"sizes", "avoid"}


# --- scikit-learn -----------------------------------------------------------------------------------------


class Recorder(BaseEstimator):
    """An estimator that only remembers which clues it was given."""

    __metadata_request__fit = {"clues": True}

    def fit(self, X: Any, y: Any = None, clues: Any = None) -> Recorder:
        self.n_, self.clues_ = len(X), clues
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return 0.0


LINKED = Clues(10, must=[(0, 9), (1, 2), (4, 6)], cannot=[(2, 9)], labels=[0, 1, -1, -1, -1, -1, -1, -1, 0, 1])


@pytest.mark.parametrize("rows", [[0, 9, 4], np.array([2, 1]), slice(3, 8), np.arange(10) % 2 == 0])
def test_safe_indexing(rows: Any) -> None:
    assert _safe_indexing(LINKED, rows) == LINKED[rows]


@pytest.mark.parametrize("routing", [False, True])
def test_cross_validation_slices_clues(routing: bool) -> None:
    X = np.arange(10.0)[:, None]
    folds = KFold(5)
    with sklearn.config_context(enable_metadata_routing=routing):
        fitted = cross_validate(Recorder(), X, cv=folds, params={"clues": LINKED}, return_estimator=True)
    for estimator, (train, _) in zip(fitted["estimator"], folds.split(X)):
        assert estimator.n_ == estimator.clues_.n == len(train)
        assert estimator.clues_ == LINKED[train]


def test_bare_pairs_are_not_sliced() -> None:
    """Why `Clues` is needed: scikit-learn hands the pairs of the whole data to every fold."""
    pairs = np.array([[0, 9], [1, 2]])
    fitted = cross_validate(Recorder(), np.zeros((10, 1)), cv=KFold(5), params={"clues": pairs}, return_estimator=True)
    assert all(estimator.clues_.tolist() == pairs.tolist() for estimator in fitted["estimator"])


@given(some_clues(), st.data())
def test_clues_that_were_placed_among_more_rows_are_found_there(clues: Clues, data: st.DataObject) -> None:
    n = clues.n + data.draw(st.integers(0, 5))
    rows = np.array(sorted(data.draw(st.permutations(range(n)))[: clues.n]))
    whole = clues.at(rows, n)
    assert whole.n == n
    assert set(whole.tied.tolist()) <= set(rows.tolist())
    assert whole[rows] == clues
