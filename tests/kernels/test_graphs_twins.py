"""Compiled graph kernels against their plain NumPy twins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import graphs
from twins import graphs as reference_graphs

DTYPES = st.sampled_from([np.int32, np.int64])


@st.composite
def edges(draw: st.DrawFn) -> tuple[int, Any, Any]:
    """A number of nodes and two columns of nodes; empty, repeated and self pairs included."""
    n = draw(st.integers(1, 12))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
    first, second = np.array(pairs, dtype=draw(DTYPES)).reshape(-1, 2).T.copy()
    if draw(st.booleans()):
        first.flags.writeable = second.flags.writeable = False
    return n, first, second


def both(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return getattr(graphs, name), getattr(reference_graphs, name)


def test_every_kernel_has_a_twin() -> None:
    assert graphs.__all__ == reference_graphs.__all__


@given(edges())
def test_sort_pairs(case: tuple[int, Any, Any]) -> None:
    n, first, second = case
    compiled, plain = both("sort_pairs")
    order = compiled(first, second, n)
    assert order.tolist() == plain(first, second, n).tolist()  # equal pairs too: both are stable
    keys = list(zip(first[order].tolist(), second[order].tolist()))
    assert keys == sorted(keys)


@given(edges(), st.sampled_from([np.float64, np.float32, np.int64]))
def test_adjacency(case: tuple[int, Any, Any], dtype: Any) -> None:
    n, first, second = case
    value = np.arange(len(first)).astype(dtype)
    compiled, plain = both("adjacency")
    for ours, twin in zip(compiled(n, first, second, value), plain(n, first, second, value)):
        assert ours.tolist() == twin.tolist()
        assert ours.dtype == twin.dtype


@given(edges())
def test_adjacency_of_sorted_edges_has_sorted_rows(case: tuple[int, Any, Any]) -> None:
    n, first, second = case
    pairs = np.unique(np.sort(np.column_stack([first, second]), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    indptr, indices, _ = graphs.adjacency(n, pairs[:, 0].copy(), pairs[:, 1].copy(), np.ones(len(pairs)))
    for v in range(n):
        row = indices[indptr[v] : indptr[v + 1]].tolist()
        assert row == sorted(set(pairs[pairs[:, 1] == v, 0]) | set(pairs[pairs[:, 0] == v, 1]))


def roots(parent: Any) -> list[int]:
    found = []
    for i in range(len(parent)):
        while parent[i] != i:
            i = parent[i]
        found.append(int(i))
    return found


@given(edges())
def test_join_pairs(case: tuple[int, Any, Any]) -> None:
    n, first, second = case
    parents = [np.arange(n), np.arange(n)]
    for kernel, parent in zip(both("join_pairs"), parents):
        kernel(parent, first, second)
        assert (parent <= np.arange(n)).all()  # the smallest member is the root
    assert roots(parents[0]) == roots(parents[1])


@given(st.lists(st.integers(-1, 3), max_size=12), DTYPES, st.booleans())
def test_join_groups(codes: list[int], dtype: Any, read_only: bool) -> None:
    column = np.array(codes, dtype=dtype)
    column.flags.writeable = not read_only
    parents = [np.arange(len(codes)), np.arange(len(codes))]
    for kernel, parent in zip(both("join_groups"), parents):
        kernel(parent, column, 4)
    assert roots(parents[0]) == roots(parents[1])
    first = {g: codes.index(g) for g in codes}
    assert roots(parents[0]) == [i if g < 0 else first[g] for i, g in enumerate(codes)]


@given(edges())
def test_number_roots(case: tuple[int, Any, Any]) -> None:
    n, first, second = case
    parents = [np.arange(n), np.arange(n)]
    answers = []
    for kernel, parent in zip(both("number_roots"), parents):
        graphs.join_pairs(parent, first, second)
        component, count = kernel(parent)
        assert component.dtype == np.int32
        answers.append((component.tolist(), int(count)))
    assert answers[0] == answers[1]
    assert parents[0].tolist() == parents[1].tolist()  # both leave every row at its root
    firsts = [answers[0][0].index(c) for c in range(answers[0][1])]
    assert firsts == sorted(firsts)  # numbered by smallest member


@pytest.mark.parametrize("module", [graphs, reference_graphs])
def test_no_rows(module: Any) -> None:
    none = np.empty(0, dtype=np.int64)
    assert module.sort_pairs(none, none, 0).tolist() == []
    assert [a.tolist() for a in module.adjacency(0, none, none, np.empty(0))] == [[0], [], []]
    module.join_pairs(none, none, none)
    module.join_groups(none, none, 0)
    component, count = module.number_roots(none)
    assert (component.tolist(), count) == ([], 0)
