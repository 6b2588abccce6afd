"""Everything that follows from clues, written out: against all clusterings that satisfy them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.exceptions import ClueError

N = 6


def clusterings(n):
    """All ways to give clusters 0…k-1 to rows, numbered by first use."""
    if not n:
        return [[]]
    return [[*rest, c] for rest in clusterings(n - 1) for c in range(max(rest, default=-1) + 2)]


ALL = np.array(clusterings(N))


@st.composite
def consistent(draw):
    """Clues of several kinds that one truth satisfies."""
    truth = draw(st.lists(st.integers(0, 2), min_size=N, max_size=N))
    pairs = draw(st.lists(st.sampled_from(list(combinations(range(N), 2))), max_size=6, unique=True))
    some = st.lists(st.booleans(), min_size=N, max_size=N)
    first = [truth.index(truth[i]) == i for i in range(N)]
    return Clues(
        N,
        labels=[truth[i] if shown else -1 for i, shown in enumerate(draw(some))] if draw(st.booleans()) else None,
        must=[p for p in pairs if truth[p[0]] == truth[p[1]]] or None,
        cannot=[p for p in pairs if truth[p[0]] != truth[p[1]]] or None,
        together=[truth[i] if shown else -1 for i, shown in enumerate(draw(some))] if draw(st.booleans()) else None,
        apart=["g" if new else None for new in first] if draw(st.booleans()) else None,
    )


def said(clues):
    """What clues say of each pair, groups and labels included."""
    must, _, cannot, _ = clues.pairs(expand=True)
    return {tuple(p): True for p in must.tolist()} | {tuple(p): False for p in cannot.tolist()}


@settings(max_examples=80, deadline=None)
@given(consistent())
def test_what_holds_in_every_clustering_is_said(clues):
    keep = np.ones(len(ALL), dtype=bool)
    for (i, j), together in said(clues).items():
        keep &= (ALL[:, i] == ALL[:, j]) == together
    closed = said(clues.closed())
    for i, j in combinations(range(N), 2):
        share = (ALL[keep][:, i] == ALL[keep][:, j]).mean()
        assert closed.get((i, j)) is {0.0: False, 1.0: True}.get(share)


@settings(max_examples=40, deadline=None)
@given(consistent())
def test_closing_twice_is_closing_once_and_keeps_what_was_given(clues):
    closed = clues.closed()
    assert closed.closed() == closed
    assert closed.components.tolist() == clues.components.tolist()
    given = {tuple(p): w for p, w in zip(clues.must.tolist(), clues.must_weight)}
    after = {tuple(p): w for p, w in zip(closed.must.tolist(), closed.must_weight)}
    assert given.items() <= after.items()


def test_a_chain_is_as_strong_as_its_weakest_link():
    clues = Clues(4, must=[(0, 1), (1, 2)], must_weight=[2.0, 0.5], cannot=[(2, 3)], cannot_weight=[3.0])
    closed = clues.closed()
    assert dict(zip(map(tuple, closed.must.tolist()), closed.must_weight)) == {(0, 1): 2.0, (0, 2): 0.5, (1, 2): 0.5}
    assert dict(zip(map(tuple, closed.cannot.tolist()), closed.cannot_weight)) == {
        (0, 3): 0.5,
        (1, 3): 0.5,
        (2, 3): 3.0,
    }
    assert closed.must_source[closed.must.tolist().index([0, 2])] == "entailed"


def test_labels_spread_to_whom_they_must_be_with():
    closed = Clues(4, labels=["a", None, None, "b"], must=[(0, 1)]).closed()
    assert [closed.classes_[c] if c >= 0 else None for c in closed.labels] == ["a", "a", None, "b"]


def test_contradictions_entail_nothing():
    clues = Clues(4, must=[(0, 1), (1, 2)], cannot=[(0, 2)])
    closed = clues.closed()
    assert closed.cannot.tolist() == [[0, 2]]
    assert closed.must.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_too_many_are_refused():
    with pytest.raises(ClueError, match="4950 links follow from the clues, more than the limit of 100"):
        Clues(100, must=[(0, i) for i in range(1, 100)]).closed(limit=100)
    assert Clues(3).closed() == Clues(3)
