"""The same pair said more than once: one source counts once, different sources add."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.clues.links import Links

NAMES = ["ann", "bob", "list.csv:3", "list.csv:4"]  # lines of one file are one source


@st.composite
def reports(draw: st.DrawFn, n: int = 5) -> list[tuple[int, int, float, str]]:
    """Who says which pair with which weight; many pairs are said again."""
    row = st.integers(0, n - 1)
    pair = st.tuples(row, row).filter(lambda p: p[0] != p[1])
    said = draw(st.lists(st.tuples(pair, st.integers(0, 4), st.sampled_from(NAMES)), max_size=15))
    return [(a, b, float(w), who) for (a, b), w, who in said]


def clues_of(said: list[tuple[int, int, float, str]], n: int = 5) -> Clues:
    return Clues(n, must=[s[:2] for s in said], must_weight=[s[2] for s in said], must_source=[s[3] for s in said])


@given(reports())
def test_one_source_counts_once_and_different_sources_add(said: list[tuple[int, int, float, str]]) -> None:
    told: dict[tuple[int, int], dict[str, tuple[float, str]]] = {}
    for a, b, w, who in said:
        of_pair = told.setdefault((min(a, b), max(a, b)), {})
        teller = who.split(":")[0]
        # The largest weight; of lines with one weight the first is named.
        of_pair[teller] = min((-w, who), of_pair.get(teller, (1.0, "")))
    clues = clues_of(said)
    assert [tuple(pair) for pair in clues.must.tolist()] == sorted(told)
    assert clues.must_weight.tolist() == [-sum(w for w, _ in told[pair].values()) for pair in sorted(told)]
    names = [" + ".join(sorted(who for _, who in told[pair].values())) for pair in sorted(told)]
    assert clues.must_source.tolist() == names


@given(reports())
def test_a_single_source_for_all_links_is_that_source_for_each(said: list[tuple[int, int, float, str]]) -> None:
    pairs, weights = [report[:2] for report in said], [report[2] for report in said]
    for_all = Clues(5, must=pairs, must_weight=weights, source="ann")
    assert for_all == Clues(5, must=pairs, must_weight=weights, must_source=["ann"] * len(said))


@given(reports(), reports(), reports())
def test_merging_is_commutative_associative_and_idempotent(
    a: list[tuple[int, int, float, str]],
    b: list[tuple[int, int, float, str]],
    c: list[tuple[int, int, float, str]],
) -> None:
    x, y, z = map(clues_of, (a, b, c))
    assert x | y == y | x == clues_of([*a, *b])
    assert (x | y) | z == x | (y | z)
    assert x | x == x
    assert (x | y) | y == x | y  # what was said is not said again


@given(reports(), st.data())
def test_picking_and_slicing_keep_who_said_what(said: list[tuple[int, int, float, str]], data: st.DataObject) -> None:
    clues = clues_of(said)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(clues.must), max_size=len(clues.must))), dtype=bool)
    picked = {tuple(pair) for pair in clues.must[mask].tolist()}
    kept = clues_of([s for s in said if (min(s[:2]), max(s[:2])) in picked])
    assert clues.subset(must=mask) == kept
    assert clues.subset(must=mask) | kept == kept
    rows = data.draw(st.permutations(range(5)))[: data.draw(st.integers(0, 5))]
    place = {row: i for i, row in enumerate(rows)}
    inside = [(place[a], place[b], w, who) for a, b, w, who in said if a in place and b in place]
    assert clues[rows] == clues_of(inside, n=len(rows))
    assert clues[rows] | clues_of(inside, n=len(rows)) == clues[rows]


def test_a_duplicated_link_with_halved_weights_and_two_sources_changes_nothing() -> None:
    pairs, weights = [(0, 1), (2, 3), (1, 3)], np.array([1.0, 3.0, np.inf])
    once = Clues(4, must=pairs, must_weight=weights, cannot=[(0, 2)])
    half = [
        Clues(4, must=pairs, must_weight=weights / 2, cannot=[(0, 2)], cannot_weight=0.5, source=who)
        for who in ("ann", "bob")
    ]
    both = half[0] | half[1]
    assert both.must.tolist() == once.must.tolist()
    assert both.must_weight.tolist() == once.must_weight.tolist()
    assert both.cannot_weight.tolist() == once.cannot_weight.tolist()
    assert all(np.array_equal(a, b) for a, b in zip(both.graph, once.graph))
    assert both.must_source.tolist() == ["ann + bob"] * 3


def test_a_confidence_is_kept_where_it_alone_made_the_weight() -> None:
    clues = Clues(
        5,
        must=[(0, 1), (0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (3, 4)],
        must_confidence=[0.75, 1.0, 0.75, 0.75, 0.75, 0.75, np.nan],
        must_weight=[9, 9, 9, 9, 9, 9, 7],
        must_source=["ann", "ann", "ann", "bob", "ann", "ann", "ann"],
    )
    assert clues.must_weight.tolist() == [1.0, 1.0, 0.5, 7.0]
    assert np.array_equal(clues.must_confidence, [1.0, np.nan, 0.75, np.nan], equal_nan=True)
    merged = Clues(3, must=[(0, 1)], confidence=0.75) | Clues(3, must=[(1, 2)])
    assert np.array_equal(merged.must_confidence, [0.75, np.nan], equal_nan=True)


def test_must_and_cannot_do_not_cancel() -> None:
    clues = Clues(2, must=[(0, 1)], cannot=[(0, 1)])
    assert (len(clues.must), len(clues.cannot), len(clues.contradictions)) == (1, 1, 1)


def test_many_links_said_by_two_people_are_merged_quickly() -> None:
    rng = np.random.default_rng(0)
    n = 10_000
    pairs = rng.integers(n, size=(100_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    both = Clues(n, must=pairs, source="ann") | Clues(n, must=pairs, source="bob")
    assert set(both.must_weight.tolist()) == {2.0}


def test_one_source_is_stored_once() -> None:
    links = Links.build("must", 3, [(0, 1), (1, 2), (0, 1)], source="ann")
    assert isinstance(links.source, str)
    assert links.reports is None
    assert links.sources.tolist() == ["ann", "ann"]
    with pytest.raises(TypeError, match="unhashable"):
        hash(links)


def test_one_source_for_all_joins_a_source_for_each() -> None:
    each = Clues(4, must=[(0, 1), (1, 2)], must_source=["answer 1", "answer 2"])
    for both in (Clues(4, must=[(2, 3), (0, 3)], source="ann") | each, each | Clues(4, must=[(2, 3)], source="ann")):
        assert both.must_source[both.must.tolist().index([2, 3])] == "ann"
        assert both.must_source[both.must.tolist().index([1, 2])] == "answer 2"


def test_a_must_link_of_a_row_to_itself_says_nothing() -> None:
    """Pair lists made by joins hold such pairs; `explain` counts them; such a cannot-link stays an error."""
    plain = Clues(4, must=[(0, 1)], must_weight=[2.0], must_source=["ann"])
    joined = Clues(4, must=[(2, 2), (0, 1), (3, 3)], must_weight=[1, 2, 3], must_source=["bob", "ann", "bob"])
    assert joined == plain
    assert "Left out: 2 must-links of a row to itself." in joined.explain()
    assert "Left out: 3 must-links" in (joined | Clues(4, must=[(1, 1)])).explain()
    assert "Left out" not in plain.explain()
    assert Clues(60, must=[(3, 3)]) == Clues(60)
    assert Clues.from_matrix(np.eye(3)) == Clues(3)
    with pytest.raises(ValueError, match="cannot-link 0 links row 3 to itself"):
        Clues(60, cannot=[(3, 3)])


def test_a_file_may_link_a_row_to_itself(tmp_path) -> None:
    (tmp_path / "clues.csv").write_text("a,b,kind\nc,c,must\na,b,must\n")
    assert Clues.read(tmp_path / "clues.csv", ids=["a", "b", "c"]).must.tolist() == [[0, 1]]
