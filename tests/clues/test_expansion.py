"""Labels and groups written out as pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.exceptions import ClueError


@st.composite
def weighted_clues(draw: st.DrawFn) -> Clues:
    n = draw(st.integers(2, 8))
    row = st.integers(0, n - 1)
    pairs = st.lists(st.tuples(row, row).filter(lambda p: p[0] != p[1]), max_size=n, unique_by=frozenset)
    column = st.lists(st.integers(-1, 2), min_size=n, max_size=n)
    must, cannot = draw(pairs), draw(pairs)
    weight = st.integers(0, 5)
    return Clues(
        n,
        labels=draw(column) if draw(st.booleans()) else None,
        must=must,
        cannot=cannot,
        must_weight=draw(st.lists(weight, min_size=len(must), max_size=len(must))),
        cannot_weight=draw(st.lists(weight, min_size=len(cannot), max_size=len(cannot))),
        together=draw(st.lists(column, max_size=2)),
        apart=draw(st.lists(column, max_size=2)),
        together_weight=draw(weight),
        apart_weight=draw(weight),
        source=draw(st.sampled_from(["given", "labels", "together 0"])),
    )


def brute_force(clues: Clues) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
    """Weight of every pair that any clue speaks of: links, groups and labels add up."""
    must = {(int(a), int(b)): float(w) for (a, b), w in zip(clues.must, clues.must_weight)}
    cannot = {(int(a), int(b)): float(w) for (a, b), w in zip(clues.cannot, clues.cannot_weight)}
    for pair in combinations(range(clues.n), 2):
        i, j = pair
        for links, columns in ((must, clues.together), (cannot, clues.apart)):
            for group in columns:
                if group.codes[i] == group.codes[j] >= 0:
                    links[pair] = links.get(pair, 0.0) + float(group.weights[group.codes[i]])
        if clues.labels[i] >= 0 and clues.labels[j] >= 0:
            links = must if clues.labels[i] == clues.labels[j] else cannot
            links[pair] = links.get(pair, 0.0) + 1.0
    return must, cannot


@given(weighted_clues())
def test_pairs_written_out(clues: Clues) -> None:
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    for pairs, weights, expected in zip((must, cannot), (must_weight, cannot_weight), brute_force(clues)):
        assert [tuple(pair) for pair in pairs.tolist()] == sorted(expected)
        assert weights.tolist() == [expected[pair] for pair in sorted(expected)]


@given(weighted_clues())
def test_without_expansion_only_the_links(clues: Clues) -> None:
    must, must_weight, cannot, cannot_weight = clues.pairs()
    assert must is clues.must
    assert must_weight is clues.must_weight
    assert cannot is clues.cannot
    assert cannot_weight is clues.cannot_weight


@given(weighted_clues())
def test_the_limit_is_the_number_of_links(clues: Clues) -> None:
    labelled = int((clues.labels >= 0).sum())
    total = len(clues.must) + len(clues.cannot) + labelled * (labelled - 1) // 2
    total += sum(s * (s - 1) // 2 for g in (*clues.together, *clues.apart) for s in g.sizes.tolist())
    clues.pairs(expand=True, limit=total)
    with pytest.raises(ClueError, match=f"make {total} links, more than limit={total - 1}"):
        clues.pairs(expand=True, limit=total - 1)


def test_too_many_pairs_are_refused_before_any_are_made() -> None:
    clues = Clues(10**6, labels=np.zeros(10**6, int))
    with pytest.raises(ClueError) as error:
        clues.pairs(expand=True)
    assert str(error.value) == (
        "written out as pairs, these labels and groups make 499999500000 links, more than limit=10000000; "
        "use a method that takes them as they are."
    )


def test_many_labels_and_links_at_once() -> None:
    labels = np.arange(600) % 3
    clues = Clues(600, labels=labels, must=[(0, 3), (1, 4)])
    must, weight, cannot, _ = clues.pairs(expand=True)
    assert (len(must), len(cannot)) == (3 * 200 * 199 // 2, 3 * 200 * 200)
    assert weight.sum() == len(must) + 2
