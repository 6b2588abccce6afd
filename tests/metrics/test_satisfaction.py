"""Broken and kept clues, against the definitions read literally."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.exceptions import ClueError
from cluewise.metrics import broken, satisfaction


def shared(labels, i, j):
    """Whether two rows are in one cluster; noise rows are each alone."""
    return labels[i] == labels[j] != -1


@st.composite
def clustering_and_clues(draw):
    n = draw(st.integers(2, 9))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    column = st.lists(st.integers(-1, 2), min_size=n, max_size=n)
    clues = Clues(
        n,
        must=draw(st.lists(pair, max_size=6)),
        cannot=draw(st.lists(pair, max_size=6)),
        together=[np.array(draw(column)), np.array(draw(column))],
        apart=np.array(draw(column)),
        partitions=[np.array(draw(column))],
        labels=draw(column),
    )
    return draw(column), clues


@settings(max_examples=80, deadline=None)
@given(clustering_and_clues())
def test_links_and_groups_by_definition(case):
    labels, clues = case
    lost = broken(labels, clues)
    assert lost.must.tolist() == [[i, j] for i, j in clues.must.tolist() if not shared(labels, i, j)]
    assert lost.cannot.tolist() == [[i, j] for i, j in clues.cannot.tolist() if shared(labels, i, j)]
    for kind, bad in (("together", False), ("apart", True)):
        expected = set()
        for column in getattr(clues, kind):
            for code in range(len(column.weights)):
                members = np.flatnonzero(column.codes == code)
                if any(shared(labels, i, j) == bad for i, j in combinations(members, 2)):
                    expected.add(tuple(members.tolist()))
        found = {
            tuple(np.flatnonzero(column.codes == code).tolist())
            for column in getattr(lost, kind)
            for code in range(len(column.weights))
        }
        assert found == expected


@settings(max_examples=60, deadline=None)
@given(clustering_and_clues())
def test_partitions_by_definition(case):
    labels, clues = case
    if not clues.partitions:
        return
    side = clues.partition_codes(0)
    expected = []
    for row in range(len(labels)):
        members = [i for i in range(len(labels)) if i == row or shared(labels, i, row)]
        votes = Counter(int(side[i]) for i in members if side[i] >= 0)
        majority = min((-count, value) for value, count in votes.items())[1] if votes else None
        if side[row] >= 0 and side[row] != majority:
            expected.append(row)
    lost = broken(labels, clues)
    found = np.flatnonzero(lost.partition_codes(0) >= 0).tolist() if lost.partitions else []
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(clustering_and_clues())
def test_labels_fit_as_well_as_any_matching(case):
    labels, clues = case
    rows = np.flatnonzero(clues.labels >= 0)
    clusters = [*range(3), 97, 98, 99]  # some nobody is in, so that a class may stay unmatched
    best = max(sum(labels[i] == home[clues.labels[i]] for i in rows) for home in permutations(clusters, 3))
    lost = broken(labels, clues)
    assert np.count_nonzero(lost.labels >= 0) == len(rows) - best
    if len(rows):
        assert satisfaction(labels, clues)["labels"] == pytest.approx(best / len(rows))


def test_broken_label_rows_are_those_outside_the_matched_cluster():
    clues = Clues.from_labels(["a", "a", "a", "b", "b", -1])
    lost = broken([1, 1, 0, 0, 0, 1], clues)
    assert np.flatnonzero(lost.labels >= 0).tolist() == [2]
    assert lost.classes_[lost.labels[2]] == "a"


def test_labels_with_a_known_matching():
    clues = Clues.from_labels([0, 0, 1, 1, -1])
    swapped = [1, 1, 0, 0, 0]
    assert broken(swapped, clues).kinds == frozenset()  # some matching fits
    lost = broken(swapped, clues, clusters_of_classes=[0, 1])
    assert np.flatnonzero(lost.labels >= 0).tolist() == [0, 1, 2, 3]
    assert satisfaction(swapped, clues, clusters_of_classes=[1, 0]) == {"labels": 1.0}
    with pytest.raises(ValueError, match=r"clusters_of_classes has shape \(3,\), but must have \(2,\)"):
        broken(swapped, clues, clusters_of_classes=[0, 1, 2])


def test_noise_rows_are_each_alone():
    noise = [-1, -1, -1]
    clues = Clues(3, must=[(0, 1)], cannot=[(0, 2)], together=["g", "g", None], apart=["h", "h", "h"])
    assert satisfaction(noise, clues) == {"must": 0.0, "cannot": 1.0, "together": 0.0, "apart": 1.0}
    assert satisfaction(noise, Clues.from_labels([0, 0, 1])) == {"labels": 0.0}
    assert satisfaction(noise, Clues(3, partitions=[0, 0, 1])) == {"partitions": 1.0}


def test_partition_ties_go_to_the_lowest_label():
    clues = Clues(4, partitions=[1, 0, 0, 1])
    assert np.flatnonzero(broken([0, 0, 0, 0], clues).partition_codes(0) >= 0).tolist() == [0, 3]


def test_broken_clues_keep_weight_and_source():
    clues = Clues(3, must=[(0, 1), (1, 2)], must_weight=[2.0, 3.0], must_source=["line 1", "line 2"])
    lost = broken([0, 0, 1], clues)
    assert lost.must.tolist() == [[1, 2]]
    assert lost.must_weight.tolist() == [3.0]
    assert lost.must_source.tolist() == ["line 2"]


def test_satisfaction_counts_what_can_be_counted():
    clues = Clues(
        6,
        labels=[0, 0, 1, -1, -1, -1],
        must=[(0, 1), (1, 2), (3, 4)],
        cannot=[(0, 2), (0, 3)],
        together=["a", "a", "b", "b", "c", None],  # c has one member and says nothing
        apart=["x", None, None, "x", "y", "y"],
        partitions=[0, 1, 1, -1, -1, -1],
        avoid=[0, 0, 0, 1, 1, 1],
    )
    shares = satisfaction([0, 0, 1, 1, 1, 2], clues)
    assert list(shares) == ["labels", "must", "cannot", "together", "apart", "partitions"]
    assert shares["labels"] == 1.0
    assert shares["must"] == pytest.approx(2 / 3)
    assert shares["cannot"] == 1.0
    assert shares["together"] == 1.0
    assert shares["apart"] == 1.0
    assert shares["partitions"] == pytest.approx(2 / 3)  # rows 0 and 1 tie in cluster 0


def test_no_clues_say_nothing():
    assert satisfaction([0, 1], Clues(2)) == {}
    assert satisfaction([0, 1], Clues(2, together=["a", "b"])) == {}
    assert broken([0, 1], Clues(2)) == Clues(2)


@pytest.mark.parametrize(
    ("labels", "share"),
    [([0, 0, 1, 1], 1.0), ([0, 0, 0, 1], 0.0), ([0, 0, 7, 7], 1.0), ([0, 0, 1, -1], 0.5)],
)
def test_one_pair_of_bounds(labels, share):
    clues = Clues(4, sizes=(2, 2))
    assert satisfaction(labels, clues) == {"sizes": share}
    assert ("sizes" in broken(labels, clues).kinds) == (share < 1)


def test_empty_clusters_break_a_lower_bound():
    clues = Clues(4, sizes=(1, 4))
    assert satisfaction([0, 0, 1, 1], clues, n_clusters=2) == {"sizes": 1.0}
    assert satisfaction([0, 0, 1, 1], clues, n_clusters=4) == {"sizes": 0.5}


def test_bounds_for_each_cluster():
    clues = Clues(4, sizes=[(3, 4), (0, 1)])
    assert satisfaction([0, 0, 0, 1], clues) == {"sizes": 1.0}
    assert satisfaction([1, 1, 1, 0], clues) == {"sizes": 0.0}
    assert satisfaction([0, 0, 0, 2], clues)["sizes"] == pytest.approx(2 / 3)  # cluster 2 was never allowed
    assert broken([0, 0, 0, 2], clues).sizes.tolist() == [[3, 4], [0, 1]]


def test_bounds_on_weight():
    clues = Clues(3, sizes=(1, 2), size_unit="weight")
    assert satisfaction([0, 0, 1], clues) == {"sizes": 1.0}  # every row weighs 1
    assert satisfaction([0, 0, 1], clues, sample_weight=[2.0, 2.0, 2.0]) == {"sizes": 0.5}
    tenths = Clues(10, sizes=(1, 1), size_unit="weight")  # ten times 0.1 is not exactly 1
    assert satisfaction(np.zeros(10, int), tenths, sample_weight=np.full(10, 0.1)) == {"sizes": 1.0}


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "the clues are about 3 rows, but there are 2 labels"),
        ([0.0, 1.0, 1.0], "labels must be integers"),
        ([[0, 1, 1]], "labels must be integers, one per row"),
    ],
)
def test_bad_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        broken(labels, Clues(3, must=[(0, 1)]))


def test_wrong_number_of_rows_is_a_clue_error():
    with pytest.raises(ClueError):
        satisfaction([0, 1], Clues(3))
