"""What links entail: components, lifted cannot-links, cliques, contradictions with their chains."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cluewise import Clues
from cluewise.clues import Conflict


@st.composite
def some_clues(draw: st.DrawFn, most: int = 9) -> Clues:
    """Clues of every pairwise kind, contradictory ones included."""
    n = draw(st.integers(2, most))
    row = st.integers(0, n - 1)
    pairs = st.lists(st.tuples(row, row).filter(lambda p: p[0] != p[1]), max_size=n)
    column = st.lists(st.integers(-1, 2), min_size=n, max_size=n)
    return Clues(
        n,
        labels=draw(column) if draw(st.booleans()) else None,
        must=draw(pairs),
        cannot=draw(pairs),
        together=draw(st.lists(column, max_size=2)),
        apart=draw(st.lists(column, max_size=2)),
    )


def must_graph(clues: Clues) -> nx.Graph:
    """Every must-link, written out, as an independent library sees it."""
    graph = nx.empty_graph(clues.n)
    graph.add_edges_from(clues.must.tolist())
    for codes in [clues.labels, *(group.codes for group in clues.together)]:
        graph.add_edges_from(p for p in combinations(range(clues.n), 2) if codes[p[0]] == codes[p[1]] >= 0)
    return graph


def cannot_pairs(clues: Clues) -> set[tuple[int, int]]:
    pairs = {(int(a), int(b)) for a, b in clues.cannot}
    for group in clues.apart:
        pairs |= {p for p in combinations(range(clues.n), 2) if group.codes[p[0]] == group.codes[p[1]] >= 0}
    return pairs | {p for p in combinations(range(clues.n), 2) if 0 <= clues.labels[p[0]] != clues.labels[p[1]] >= 0}


def partitions(n: int) -> list[list[int]]:
    """All ways to cluster n rows."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*labels, c] for labels in found for c in range(max(labels) + 2)]
    return found


def lifted(clues: Clues) -> set[tuple[int, int]]:
    graph = clues.graph
    owner = np.repeat(np.arange(clues.n_components), np.diff(graph.indptr))
    return {(int(a), int(b)) for a, b in zip(owner, graph.indices)}


def cliques(clues: Clues) -> list[list[int]]:
    return [clues.cliques.members[a:b].tolist() for a, b in zip(clues.cliques.indptr, clues.cliques.indptr[1:])]


# --- worked examples --------------------------------------------------------------------------------------


def test_worked_example_of_the_survey(spec_folder: Path) -> None:
    example = json.loads((spec_folder / "survey-worked-examples.json").read_text("utf-8"))["examples"]["closure"]
    clues = Clues(example["n"], must=example["ML"], cannot=example["CL"])
    assert clues.components.tolist() == example["component"]
    assert lifted(clues) == {(a, b) for x, y in example["cl_component"] for a, b in ((x, y), (y, x))}
    wrong = Clues(example["n"], must=example["ML"], cannot=[*example["CL"], example["inconsistent_case"]["CL_extra"]])
    assert [[c.first, c.second] for c in wrong.contradictions] == example["inconsistent_case"]["reported"]


def test_closure_example() -> None:
    clues = Clues(8, must=[(0, 1), (1, 2), (4, 5)], cannot=[(2, 4), (3, 7)])
    assert clues.components.tolist() == [0, 0, 0, 1, 2, 2, 3, 4]
    assert clues.n_components == 5
    assert lifted(clues) == {(0, 2), (2, 0), (1, 4), (4, 1)}
    # What the lifted links stand for, between rows:
    entailed = [
        [a, b] for a, b in combinations(range(8), 2) if (clues.components[a], clues.components[b]) in lifted(clues)
    ]
    assert entailed == [[0, 4], [0, 5], [1, 4], [1, 5], [2, 4], [2, 5], [3, 7]]
    (conflict,) = Clues(8, must=clues.must, cannot=[(2, 4), (3, 7), (0, 2)]).contradictions
    assert conflict.chain == ((0, 1, "must-link"), (1, 2, "must-link"))


def test_seeds_example() -> None:
    clues = Clues(8, must=[(0, 1), (1, 2), (4, 5)], cannot=[(2, 3), (5, 6)])
    assert clues.components.tolist() == [0, 0, 0, 1, 2, 2, 3, 4]
    same = [[a, b] for a, b in combinations(range(8), 2) if clues.components[a] == clues.components[b]]
    assert same == [[0, 1], [0, 2], [1, 2], [4, 5]]
    apart = [
        [a, b] for a, b in combinations(range(8), 2) if (clues.components[a], clues.components[b]) in lifted(clues)
    ]
    assert apart == [[0, 3], [1, 3], [2, 3], [4, 6], [5, 6]]
    assert clues.contradictions == ()


# --- components -------------------------------------------------------------------------------------------


@given(some_clues())
def test_components_are_those_of_the_graph_of_all_must_links(clues: Clues) -> None:
    expected = sorted(map(sorted, nx.connected_components(must_graph(clues))))
    assert clues.n_components == len(expected)
    for number, members in enumerate(expected):  # numbered by smallest member
        assert np.flatnonzero(clues.components == number).tolist() == members


def test_components_agree_with_scipy_on_many_links() -> None:
    rng = np.random.default_rng(0)
    n, must = 20_000, rng.integers(20_000, size=(15_000, 2))
    must = must[must[:, 0] != must[:, 1]]
    matrix = coo_array((np.ones(len(must)), must.T), shape=(n, n))
    count, expected = connected_components(matrix, directed=False)
    clues = Clues(n, must=must)
    assert clues.n_components == count
    assert len(np.unique(np.stack([clues.components, expected]), axis=1).T) == count


@pytest.mark.parametrize("backwards", [False, True])
def test_a_long_chain_needs_no_recursion(backwards: bool) -> None:
    n = 100_000
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    clues = Clues(n, must=chain[::-1] if backwards else chain, cannot=[(0, n - 1)])
    assert clues.n_components == 1
    (conflict,) = clues.contradictions
    assert len(conflict.chain) == n - 1
    assert "0 - 1 - 2 - 3 - 4 - … - 99998 - 99999" in str(conflict)


def test_no_rows_and_no_clues() -> None:
    empty = Clues(0)
    assert empty.components.shape == (0,)
    assert empty.n_components == 0
    assert empty.graph.indptr.tolist() == empty.cliques.indptr.tolist() == [0]
    assert Clues(3).components.tolist() == [0, 1, 2]
    assert Clues(3).graph.indptr.tolist() == [0, 0, 0, 0]


# --- closing again, other orders, entailed pairs ----------------------------------------------------------


@given(some_clues())
def test_closing_is_idempotent(clues: Clues) -> None:
    again = Clues(
        clues.n,
        together=clues.components,
        cannot=clues.cannot,
        cannot_weight=clues.cannot_weight,
        apart=list(clues.apart),
    )
    assert again.components.tolist() == clues.components.tolist()
    assert all(np.array_equal(a, b) for a, b in zip(again.graph, clues.graph))


@given(some_clues(), st.randoms(use_true_random=False))
def test_the_order_of_pairs_and_of_their_ends_is_irrelevant(clues: Clues, random: Any) -> None:
    def shuffled(pairs: Any) -> list[list[int]]:
        turned = [random.sample(pair, 2) for pair in pairs.tolist()]
        return random.sample(turned, len(turned))

    again = Clues(clues.n, must=shuffled(clues.must), cannot=shuffled(clues.cannot))
    assert again == Clues(clues.n, must=clues.must, cannot=clues.cannot)


@given(some_clues())
def test_an_entailed_pair_changes_nothing(clues: Clues) -> None:
    same = [p for p in combinations(range(clues.n), 2) if clues.components[p[0]] == clues.components[p[1]]]
    more = clues | Clues(clues.n, must=same, source="entailed")
    assert more.components.tolist() == clues.components.tolist()
    assert lifted(more) == lifted(clues)
    assert cliques(more) == cliques(clues)
    apart = [
        p for p in combinations(range(clues.n), 2) if (clues.components[p[0]], clues.components[p[1]]) in lifted(clues)
    ]
    more = clues | Clues(clues.n, cannot=apart, source="entailed")
    assert lifted(more) == lifted(clues)


@given(some_clues(most=6))
def test_a_clustering_satisfies_the_clues_iff_it_satisfies_what_they_entail(clues: Clues) -> None:
    together, apart = set(must_graph(clues).edges), cannot_pairs(clues)
    must, _, cannot, _ = clues.pairs(expand=True)
    component = clues.components
    for labels in partitions(clues.n):
        y = np.array(labels)
        satisfied = all(y[a] == y[b] for a, b in together) and all(y[a] != y[b] for a, b in apart)
        # ... the pairs written out,
        assert satisfied == ((y[must[:, 0]] == y[must[:, 1]]).all() and (y[cannot[:, 0]] != y[cannot[:, 1]]).all())
        # ... and components, lifted links and cliques.
        of = [set(y[component == c]) for c in range(clues.n_components)]
        entailed = (
            not clues.contradictions
            and all(len(clusters) == 1 for clusters in of)
            and all(of[a].isdisjoint(of[b]) for a, b in lifted(clues))
            and all(len(set().union(*(of[c] for c in clique))) == len(clique) for clique in cliques(clues))
        )
        assert satisfied == entailed


# --- lifting ----------------------------------------------------------------------------------------------


@given(some_clues(), st.data())
def test_lifted_graph_adds_up_the_links_between_components(clues: Clues, data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(0, 9), min_size=len(clues.cannot), max_size=len(clues.cannot)))
    clues = clues | Clues(clues.n, cannot=clues.cannot, cannot_weight=weights, source="other")
    dense = np.zeros((clues.n_components, clues.n_components))
    for (a, b), w in zip(clues.components[clues.cannot], clues.cannot_weight):
        if a != b:
            dense[a, b] += w
            dense[b, a] += w
    graph = clues.graph
    built = np.zeros_like(dense)
    for c in range(clues.n_components):
        row = graph.indices[graph.indptr[c] : graph.indptr[c + 1]]
        assert (np.diff(row) > 0).all()
        built[c, row] = graph.weights[graph.indptr[c] : graph.indptr[c + 1]]
    assert np.array_equal(built, dense)
    assert (graph.indptr.dtype, graph.indices.dtype, graph.weights.dtype) == (np.int64, np.int32, np.float64)


@given(some_clues())
def test_cliques_are_the_groups_seen_between_components(clues: Clues) -> None:
    expected = []
    for group in clues.apart:
        for g, weight in enumerate(group.weights):
            expected.append((sorted({int(c) for c in clues.components[group.codes == g]}), weight))
    expected.append((sorted({int(c) for c in clues.components[clues.labels >= 0]}), 1.0))
    assert list(zip(cliques(clues), clues.cliques.weights)) == [e for e in expected if len(e[0]) > 1]


def test_weights_of_apart_groups_stay_with_their_cliques() -> None:
    clues = Clues(5, apart=["b", "b", "a", "a", "c"], apart_weight=[2, 5, 7], must=[(0, 4)])
    assert cliques(clues) == [[0, 1], [2, 3]]
    assert clues.cliques.weights.tolist() == [2, 5]


def test_a_group_of_thousands_is_not_expanded() -> None:
    clues = Clues(200_000, apart=np.zeros(200_000, int), labels=np.arange(200_000) % 7)
    assert cliques(clues) == [[0, 1, 2, 3, 4, 5, 6]] * 2  # the group, and the classes
    assert clues.contradictions[0].kind == "apart"


# --- contradictions ---------------------------------------------------------------------------------------


def verify(clues: Clues, conflict: Conflict) -> None:
    """Follow the chain link by link; every step must be a clue that was given."""
    assert (conflict.first, conflict.second) in cannot_pairs(clues) or (
        (conflict.second, conflict.first) in cannot_pairs(clues)
    )
    at = conflict.first
    for row, after, why in conflict.chain:
        assert row == at
        if why.startswith("must-link"):
            assert [min(row, after), max(row, after)] in clues.must.tolist()
        elif why.startswith("label"):
            assert clues.labels[row] == clues.labels[after] >= 0
            assert why == f"label '{clues.classes_[clues.labels[row]]}'"
        else:
            groups = [g for g in clues.together if g.codes[row] == g.codes[after] >= 0]
            assert why in [f"together group '{g.names[g.codes[row]]}'" for g in groups]
        at = after
    assert at == conflict.second


@given(some_clues())
def test_every_contradiction_is_proved_by_its_chain(clues: Clues) -> None:
    for conflict in clues.contradictions:
        verify(clues, conflict)
        assert str(conflict).startswith(f"rows {conflict.first} and {conflict.second} must be apart (")
    component = clues.components
    impossible = {p for p in cannot_pairs(clues) if component[p[0]] == component[p[1]]}
    assert bool(impossible) == bool(clues.contradictions)
    # Every contradictory cannot-link is told, and for labels and groups every component that is torn apart.
    told = {(c.first, c.second) for c in clues.contradictions if c.kind == "cannot"}
    assert told == impossible & {(int(a), int(b)) for a, b in clues.cannot}
    assert {int(component[a]) for a, _ in impossible} == {int(component[c.first]) for c in clues.contradictions}


def test_a_chain_is_a_shortest_one() -> None:
    clues = Clues(6, must=[(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (4, 5)], cannot=[(0, 4)])
    assert [step[:2] for step in clues.contradictions[0].chain] == [(0, 5), (5, 4)]


def test_chain_through_a_together_group_a_label_and_a_link() -> None:
    clues = Clues(
        6,
        labels=["x", None, None, None, None, "x"],
        together=[None, None, "g", "g", None, None],
        must=[(0, 2), (3, 4)],
        must_source=["file.csv line 3", "given"],
        cannot=[(4, 5)],
        cannot_source=["ann"],
    )
    (conflict,) = clues.contradictions
    assert conflict.chain == (
        (4, 3, "must-link"),
        (3, 2, "together group 'g'"),
        (2, 0, "must-link (file.csv line 3)"),
        (0, 5, "label 'x'"),
    )
    assert str(conflict) == (
        "rows 4 and 5 must be apart (cannot-link, ann), "
        "but the label and must-links and the together group join them: 4 - 3 - 2 - 0 - 5"
    )


def test_different_labels_joined_by_must_links() -> None:
    (conflict,) = Clues(4, labels=["a", "b", None, None], must=[(0, 2), (1, 2)]).contradictions
    assert conflict.kind == "labels"
    assert str(conflict) == "rows 0 and 1 must be apart (different labels), but must-links join them: 0 - 2 - 1"


def test_apart_rows_with_one_label() -> None:
    (conflict,) = Clues(3, labels=["a", "a", None], apart=["p", "p", "p"], source="photo 7").contradictions
    assert (conflict.kind, conflict.source) == ("apart", "photo 7")
    assert str(conflict) == "rows 0 and 1 must be apart (apart group, photo 7), but the label joins them: 0 - 1"
