"""Whether k clusters can satisfy the clues, and saying why not."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.clues.diagnosis import infeasible
from cluewise.clues.words import in_words
from cluewise.exceptions import ClueError, Contradiction, Infeasible


@st.composite
def some_clues(draw: st.DrawFn, sizes: bool = False) -> Clues:
    n = draw(st.integers(2, 6))
    row = st.integers(0, n - 1)
    pairs = st.lists(st.tuples(row, row).filter(lambda p: p[0] != p[1]), max_size=n)
    column = st.lists(st.integers(-1, 2), min_size=n, max_size=n)
    bounds = st.tuples(st.integers(0, 3), st.integers(1, 6)).filter(lambda b: b[0] <= b[1])
    return Clues(
        n,
        labels=draw(column) if draw(st.booleans()) else None,
        must=draw(pairs) if draw(st.booleans()) else None,
        cannot=draw(pairs),
        together=draw(st.lists(column, max_size=1)),
        apart=draw(st.lists(column, max_size=2)),
        sizes=draw(bounds) if sizes else None,
    )


def satisfiable(clues: Clues, k: int) -> bool:
    """Try every clustering."""
    must, _, cannot, _ = clues.pairs(expand=True)
    for labels in product(range(k), repeat=clues.n):
        y = np.array(labels)
        if (y[must[:, 0]] != y[must[:, 1]]).any() or (y[cannot[:, 0]] == y[cannot[:, 1]]).any():
            continue
        counts = np.bincount(y, minlength=k)
        if clues.sizes is None or ((clues.sizes[..., 0] <= counts) & (counts <= clues.sizes[..., 1])).all():
            return True
    return False


@given(some_clues(), st.integers(1, 4))
def test_feasible_agrees_with_trying_everything(clues: Clues, k: int) -> None:
    expected = satisfiable(clues, k)
    assert clues.feasible(k) is expected
    if expected:
        clues.require(k)
    else:
        with pytest.raises((Contradiction, Infeasible)):
            clues.require(k)


@given(some_clues(sizes=True), st.integers(1, 3))
def test_with_sizes_the_answer_is_right_or_open(clues: Clues, k: int) -> None:
    assert clues.feasible(k) in {satisfiable(clues, k), None}


@given(some_clues(), st.integers(1, 3))
def test_the_witness_is_itself_infeasible(clues: Clues, k: int) -> None:
    if clues.contradictions or satisfiable(clues, k):
        return
    with pytest.raises(Infeasible) as error:
        clues.require(k)
    witness = error.value.witness
    assert not satisfiable(witness, k)
    assert witness.kinds <= clues.kinds
    for said, known in zip(witness.pairs(expand=True)[::2], clues.pairs(expand=True)[::2]):
        assert {*map(tuple, said.tolist())} <= {*map(tuple, known.tolist())}  # nothing that was not said
    assert str(error.value).startswith("rows ")


def test_sizes_and_links_that_only_together_are_too_much() -> None:
    star = Clues(4, cannot=[(0, 1), (0, 2), (0, 3)], sizes=(2, 2))
    assert not satisfiable(star, 2)
    assert star.feasible(2) is None  # each alone can be satisfied
    assert Clues(4, cannot=[(0, 1)], sizes=(2, 2)).feasible(2) is True
    assert Clues(5, cannot=[(0, 1)], sizes=(2, 2)).feasible(2) is False
    assert Clues(4, must=[(0, 1), (1, 2)], sizes=(2, 2)).feasible(2) is False
    assert Clues(4, must=[(0, 1)], sizes=(2, 2)).feasible(2) is True


def test_sizes_in_weight_are_not_decided_without_the_weights() -> None:
    assert Clues(4, sizes=(9, 9), size_unit="weight").feasible(2) is None


def test_more_classes_than_clusters() -> None:
    clues = Clues(7, labels=[None, "a", "b", "b", "c", None, "d"], must=[(0, 4)])
    assert clues.feasible(3) is False
    assert clues.feasible(4) is True
    with pytest.raises(Infeasible) as error:
        clues.require(2)
    assert str(error.value) == ("rows 0, 1 and 2 must all be apart, which needs 3 clusters, but there are only 2.")
    assert error.value.witness.kinds == {"labels", "must"}


def test_odd_cycle_of_cannot_links() -> None:
    cycle = Clues(6, cannot=[(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (0, 5)])
    assert cycle.feasible(3) is True
    with pytest.raises(Infeasible) as error:
        cycle.require(2)
    assert str(error.value) == (
        "rows 0, 1, 2, 3 and 4 cannot be spread over 2 clusters: "
        "the clues keep too many of them apart (5 cannot-links)."
    )
    assert error.value.witness.cannot.tolist() == [[0, 1], [0, 4], [1, 2], [2, 3], [3, 4]]


def test_only_links_along_the_edges_are_the_witness() -> None:
    clues = Clues(6, must=[(3, 4)], cannot=[(0, 1), (1, 2), (2, 4), (0, 3), (0, 5)])
    error = infeasible(clues, 1, np.array([0, 1, 2, 3]), np.array([[0, 1], [1, 2], [3, 2]]))
    assert error.witness.cannot.tolist() == [[0, 1], [1, 2], [2, 4]]


def test_a_contradiction_comes_first() -> None:
    clues = Clues(4, must=[(0, 1), (1, 2)], cannot=[(0, 2), (0, 1), (0, 3)])
    assert clues.feasible(10) is False
    with pytest.raises(Contradiction) as error:
        clues.require(10)
    assert str(error.value) == (
        "rows 0 and 1 must be apart (cannot-link), but must-links join them: 0 - 1 (1 more like this)."
    )
    assert len(error.value.conflicts) == 2
    again = pickle.loads(pickle.dumps(error.value))
    assert str(again) == str(error.value)
    assert again.conflicts[1].chain == error.value.conflicts[1].chain


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", True])
def test_bad_number_of_clusters(k: Any) -> None:
    for call in (Clues(3).feasible, Clues(3).require, Clues(3).explain):
        with pytest.raises(ClueError, match="k is the number of clusters, a whole number above 0"):
            call(k)


# --- in words ---------------------------------------------------------------------------------------------


def test_explain_nothing() -> None:
    assert Clues(0).explain() == "0 rows: no clues.\nNo contradictions."
    assert Clues(3).explain(2) == ("3 rows: no clues.\nNo contradictions.\nThe clues can be satisfied with 2 clusters.")


def test_explain_clues() -> None:
    clues = Clues(
        20,
        labels=[0, 0, 1] + [-1] * 17,
        must=[(2, 3), (3, 4)],
        together=[-1] * 10 + ["x"] * 5 + [-1] * 5,
        cannot=[(0, 19)],
    )
    assert clues.explain(3).splitlines() == [
        "20 rows: 3 labels in 2 classes, 2 must-links, 1 cannot-link, 1 together group.",
        "11 of 20 rows are tied by a clue (55 %), 9 are free.",
        "Must-links and together groups and labels join the rows into 13 components, the largest of 5 rows.",
        "No contradictions.",
        "The clues can be satisfied with 3 clusters.",
    ]
    assert clues.explain() == "\n".join(clues.explain(3).splitlines()[:-1])
    assert clues.explain(1).splitlines()[-1] == (
        "Not satisfiable with 1 cluster: rows 0 and 2 must all be apart, which needs 2 clusters, but there are only 1."
    )


def test_explain_contradictions() -> None:
    clues = Clues(9, must=[(i, i + 1) for i in range(7)], cannot=[(0, i) for i in range(1, 8)])
    lines = clues.explain(2).splitlines()
    assert lines[3] == "7 contradictions:"
    assert lines[4] == "  rows 0 and 1 must be apart (cannot-link), but must-links join them: 0 - 1."
    assert lines[-1] == "  … and 2 more."
    assert len(lines) == 10
    few = Clues(2, must=[(0, 1)], cannot=[(0, 1)]).explain()
    assert few.splitlines()[3:] == [
        "1 contradiction:",
        "  rows 0 and 1 must be apart (cannot-link), but must-links join them: 0 - 1.",
    ]


def test_explain_what_stays_open() -> None:
    star = Clues(4, cannot=[(0, 1), (0, 2), (0, 3)], sizes=(2, 2))
    assert star.explain(2).splitlines()[-1] == (
        "A short search could not decide whether 2 clusters can satisfy the clues."
    )
    assert Clues(3, sizes=(2, 3)).explain(2).splitlines()[-1].startswith("Not satisfiable with 2 clusters: the lower")


def test_rows_in_words() -> None:
    assert in_words([3]) == "3"
    assert in_words([3, 5]) == "3 and 5"
    assert in_words(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 11"
    assert in_words(range(15)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 5 more"
