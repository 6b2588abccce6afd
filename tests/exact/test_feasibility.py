"""Feasibility of cannot-links and sizes: against enumeration, networkx and hand-made cases."""

from itertools import combinations, product
from time import monotonic

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise.exact import feasibility
from cluewise.exact._certificates import grow_clique, two_coloring
from cluewise.exact.feasibility import color, decide, reduce
from cluewise.exact.network import Network
from cluewise.exact.sizes import sizes_feasible


def network(m, pairs, *sets):
    indptr = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
    members = np.array([v for s in sets for v in sorted(s)], dtype=np.int32)
    return Network.of_pairs(m, np.array(sorted(map(sorted, pairs)), dtype=np.int64).reshape(-1, 2), (indptr, members))


def from_networkx(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    return network(len(graph), graph.edges)


def colorable(m, pairs, k, allowed=None):
    return any(
        all(choice[a] != choice[b] for a, b in pairs)
        and (allowed is None or all(allowed[v, c] for v, c in enumerate(choice)))
        for choice in product(range(k), repeat=m)
    )


@st.composite
def problems(draw):
    m, k = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    nodes = st.integers(0, m - 1)
    pairs = draw(st.sets(st.tuples(nodes, nodes).filter(lambda p: p[0] < p[1]), max_size=18))
    sets = draw(st.lists(st.sets(nodes, max_size=5), max_size=2))
    return m, k, pairs, sets, pairs | {p for s in sets for p in combinations(sorted(s), 2)}


def check_witness(m, every, k, found):
    """Infeasible by itself, feasible without any one node and without any one edge."""
    edges = {tuple(e) for e in found.edges.tolist()}
    assert edges <= every
    assert set(found.nodes.tolist()) == {v for e in edges for v in e}
    assert not colorable(m, edges, k)
    for edge in edges:
        assert colorable(m, edges - {edge}, k)
    for node in found.nodes.tolist():
        assert colorable(m, {e for e in edges if node not in e}, k)


@settings(max_examples=120, deadline=None)
@given(problem=problems())
def test_decide_agrees_with_enumeration(problem):
    m, k, pairs, sets, every = problem
    found = decide(network(m, pairs, *sets), k)
    assert found.status == ("feasible" if colorable(m, every, k) else "infeasible")
    if found.status == "feasible":
        assert found.nodes is None
        assert set(found.colors.tolist()) <= set(range(k))
        assert all(found.colors[a] != found.colors[b] for a, b in every)
    else:
        assert found.irreducible
        check_witness(m, every, k, found)
        assert (found.reason == "clique") == (len(found.nodes) == k + 1)


@settings(max_examples=80, deadline=None)
@given(problem=problems(), data=st.data())
def test_color_with_forbidden_clusters_agrees_with_enumeration(problem, data):
    m, k, pairs, sets, every = problem
    flags = data.draw(st.lists(st.sampled_from([True, True, False]), min_size=m * k, max_size=m * k))
    allowed = np.array(flags).reshape(m, k)
    found = color(network(m, pairs, *sets), k, allowed, 100_000, monotonic() + 20)
    assert (found.status == "feasible") == colorable(m, every, k, allowed)
    assert found.status in ("feasible", "infeasible")
    if found.colors is not None:
        assert allowed[np.arange(m), found.colors].all()
        assert all(found.colors[a] != found.colors[b] for a, b in every)


def test_a_clique_of_five_needs_five_clusters():
    graph = nx.disjoint_union(nx.gnm_random_graph(50, 60, seed=1), nx.complete_graph(5))
    graph.add_edges_from([(3, 50), (7, 52), (9, 52)])
    found = decide(from_networkx(graph), 4)
    assert found.reason == "clique"
    assert found.nodes.tolist() == [50, 51, 52, 53, 54]
    assert found.edges.tolist() == [list(p) for p in combinations(range(50, 55), 2)]
    assert decide(from_networkx(graph), 5).status == "feasible"


def test_an_odd_cycle_needs_three_clusters():
    graph = nx.path_graph(30)
    graph.add_edges_from([(3, 9), (20, 29), (9, 29)])  # 3…9 closes seven nodes, 20…29 ten
    found = decide(from_networkx(graph), 2)
    assert (found.status, found.reason, found.irreducible) == ("infeasible", "odd cycle", True)
    assert found.nodes.tolist() == [3, 4, 5, 6, 7, 8, 9]
    assert found.edges.tolist() == [[3, 4], [3, 9], [4, 5], [5, 6], [6, 7], [7, 8], [8, 9]]
    assert decide(from_networkx(graph), 3).status == "feasible"
    triangle = decide(network(3, [(0, 1), (0, 2), (1, 2)]), 2)
    assert (triangle.reason, triangle.nodes.tolist()) == ("clique", [0, 1, 2])


@pytest.mark.parametrize("seed", range(20))
def test_odd_cycles_have_no_chords(seed):
    graph = nx.gnm_random_graph(40, 60, seed=seed)
    found = decide(from_networkx(graph), 2)
    assert (found.status == "feasible") == nx.is_bipartite(graph)
    if found.nodes is not None:
        part = graph.subgraph(found.nodes.tolist())
        assert len(part) % 2 == 1
        assert {tuple(sorted(e)) for e in part.edges} == {tuple(e) for e in found.edges.tolist()}
        assert set(dict(part.degree).values()) == {2}
        assert nx.is_connected(part)


def test_one_cluster_and_no_nodes():
    found = decide(network(3, [(1, 2)]), 1)
    assert (found.status, found.reason, found.nodes.tolist()) == ("infeasible", "clique", [1, 2])
    assert decide(network(3, []), 1).colors.tolist() == [0, 0, 0]
    assert decide(network(0, []), 3).status == "feasible"


def test_a_huge_clique_is_decided_at_once():
    m = 100_000
    net = network(m, [], range(m))
    start = monotonic()
    found = decide(net, 3)
    assert found.nodes.tolist() == [0, 1, 2, 3]
    assert len(net.largest_clique()) == m
    assert reduce(net, np.arange(m), 3, 100, monotonic() + 20)[1].shape == (6, 2)
    assert monotonic() - start < 60  # 5·10⁹ pairs would take hours


def test_photographs_are_greedy_when_no_group_is_too_large():
    rng = np.random.default_rng(0)
    sets = [rng.choice(5000, 5, replace=False) for _ in range(1000)]
    found = decide(network(5000, [], *sets), 12)
    assert (found.status, found.reason) == ("feasible", "greedy")
    assert all(len(set(found.colors[s])) == 5 for s in sets)


@pytest.mark.parametrize("seed", [1, 3])
def test_harder_ones_get_a_search_of_their_own(seed):
    graph = nx.gnm_random_graph(200, 465, seed=seed)  # some ten thousand branches
    status = color(from_networkx(graph), 3, None, 100_000, monotonic() + 20).status
    assert status == ("feasible" if by_cp_sat(graph, 3) else "infeasible")


@pytest.mark.parametrize("seed", range(12))
def test_hard_three_colourings_are_decided(seed):
    """Around the threshold of three colours (mean degree 4.69); the oracle is an integer program."""
    n = 60 + 10 * (seed % 5)
    graph = nx.gnm_random_graph(n, round(4.6 * n / 2), seed=seed)
    found = decide(from_networkx(graph), 3, time_limit=20)
    assert found.status == ("feasible" if by_cp_sat(graph, 3) else "infeasible")
    if found.status == "feasible":
        assert all(found.colors[a] != found.colors[b] for a, b in graph.edges)
    else:
        assert found.irreducible
        part = nx.Graph(found.edges.tolist())
        assert not by_cp_sat(part, 3)
        edge = found.edges[seed % len(found.edges)].tolist()
        part.remove_edge(*edge)
        assert by_cp_sat(part, 3)


def by_cp_sat(graph, k):
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    colors = {v: model.new_int_var(0, k - 1, "") for v in graph}
    for a, b in graph.edges:
        model.add(colors[a] != colors[b])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)


@pytest.mark.parametrize(("size", "k"), [(4, 3), (5, 4)])
def test_graphs_without_triangles_can_need_many_clusters(size, k):
    graph = nx.mycielski_graph(size)  # chromatic number k + 1, edge-critical
    found = decide(from_networkx(graph), k)
    assert (found.status, found.reason, found.irreducible) == ("infeasible", "search", True)
    assert len(found.nodes) == len(graph)
    assert len(found.edges) == graph.number_of_edges()
    assert decide(from_networkx(graph), k + 1).status == "feasible"


def planted(n, k, degree, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    pairs = np.sort(rng.integers(0, n, (10 * n * degree, 2)), axis=1)
    pairs = np.unique(pairs[truth[pairs[:, 0]] != truth[pairs[:, 1]]], axis=0)
    pairs = pairs[rng.permutation(len(pairs))[: n * degree // 2]]
    return network(n, pairs.tolist()), pairs


@pytest.mark.parametrize(("n", "k", "degree"), [(150, 3, 2), (150, 3, 8), (990, 11, 4), (990, 11, 30), (500, 5, 11)])
def test_planted_solutions_are_found(n, k, degree):
    for seed in range(3):
        graph, pairs = planted(n, k, degree, seed)
        found = decide(graph, k, time_limit=20, node_limit=10**7)
        assert found.status == "feasible"
        assert (found.colors[pairs[:, 0]] != found.colors[pairs[:, 1]]).all()


def test_many_small_cores_are_searched_one_by_one():
    parts = [nx.mycielski_graph(4)] * 30 + [nx.complete_graph(4)] * 30
    graph = from_networkx(nx.disjoint_union_all(parts))
    assert decide(graph, 4).status == "feasible"
    assert len(decide(graph, 3).nodes) == 4  # the smallest impossible part


def test_limits_give_undecided():
    graph = nx.gnm_random_graph(1500, 3600, seed=0)
    found = decide(from_networkx(graph), 3, node_limit=3000)
    assert (found.status, found.colors, found.reason) == ("undecided", None, "limit")
    start = monotonic()
    assert decide(from_networkx(graph), 3, node_limit=10**9, time_limit=0.5).status == "undecided"
    assert monotonic() - start < 30  # without the limit it would take days


def test_no_limit_is_too_small_to_be_honest():
    graph = nx.mycielski_graph(5)
    assert decide(from_networkx(graph), 4, node_limit=0).status == "undecided"
    assert decide(from_networkx(graph), 4, time_limit=0.0).status in ("undecided", "infeasible")


def test_a_witness_says_when_it_may_be_larger_than_needed():
    graph = from_networkx(nx.gnm_random_graph(100, 250, seed=0))
    assert decide(graph, 3, time_limit=20).irreducible
    nodes, edges, complete = reduce(graph, np.arange(100), 3, 100_000, 0.0)
    assert (complete, len(edges)) == (False, 250)
    nodes, edges, complete = reduce(graph, np.arange(100), 3, 3, monotonic() + 20)
    assert not complete
    assert not by_cp_sat(nx.Graph(edges.tolist()), 3)
    nodes, edges, complete = reduce(graph, np.arange(100), 3, 100_000, monotonic() + 20)
    assert complete
    assert len(nodes) < 100


def test_a_clique_among_pairs_is_found_before_the_search(monkeypatch):
    """Even in a component that is too hard to colour."""
    monkeypatch.setattr(feasibility, "TRY", 1)
    graph = nx.gnm_random_graph(1500, 3600, seed=0)
    graph.add_edges_from(combinations(range(100, 104), 2))
    found = decide(from_networkx(graph), 3)
    assert (found.status, found.reason, found.irreducible) == ("infeasible", "clique", True)
    assert {100, 101, 102, 103} == set(found.nodes.tolist())


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_cliques_are_grown_from_pairs(problem):
    m, _, pairs, sets, every = problem
    clique = np.sort(grow_clique(network(m, pairs, *sets).plain(), m))
    assert all(p in every for p in combinations(clique.tolist(), 2))
    assert len(clique) >= (2 if every else 1)
    assert len(grow_clique(network(m, pairs, *sets).plain(), 1)) == 1


def test_a_hidden_clique_is_found():
    graph = nx.gnm_random_graph(300, 900, seed=2)
    graph.add_edges_from(combinations(range(40, 52), 2))
    assert np.sort(grow_clique(from_networkx(graph).plain(), 300)).tolist() == list(range(40, 52))


def test_two_coloring_takes_the_cheaper_way():
    net = network(5, [(0, 1), (1, 2), (3, 4)])
    costs = np.array([[0, 5], [0, 1], [0, 1], [2, 0], [0, 0.0]])
    assert two_coloring(net, net.explore(), costs).tolist() == [0, 1, 0, 1, 0]
    costs[3, 1] = costs[4, 1] = np.inf
    assert two_coloring(net, net.explore(), costs).tolist() == [0, 1, 0, -1, -1]


def packings(parts, k):
    for choice in product(range(k), repeat=len(parts)):
        yield np.bincount(choice, parts, k)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_sizes_agree_with_enumeration(data):
    k = data.draw(st.integers(1, 3))
    parts = np.array(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=6)))
    bound = st.tuples(st.integers(0, 6), st.sampled_from([1, 2, 3, 4, 6, 9, np.inf]))
    sizes = np.array(data.draw(st.one_of(bound, st.lists(bound, min_size=k, max_size=k))), dtype=float)
    lower, upper = np.broadcast_to(sizes, (k, 2)).T
    possible = any((lower <= load).all() and (load <= upper).all() for load in packings(parts, k))
    assert (sizes_feasible(sizes, k, parts.sum(), parts) is None) == possible


@pytest.mark.parametrize(
    ("sizes", "k", "parts", "words"),
    [
        ([[1, 2]], 2, [1, 1], "given for 1 clusters, but there are 2"),
        ([[0, 3], [4, 2]], 2, [1, 1, 1, 1], "cluster 1 has a lower bound on its size (4) above the upper bound (2)"),
        ([3, 9], 3, [1] * 8, "lower bounds on sizes add up to 9, but there are only 8"),
        ([0, 2], 3, [1] * 7, "upper bounds on sizes add up to 6, but there are 7"),
        ([0, 4], 3, [5, 1], "component of 5 that must stay together is larger than every upper bound on sizes (4)"),
        ([1, 9], 3, [5, 4], "3 clusters must not be empty, but there are only 2 components"),
        ([0, 5], 2, [3, 3, 3], "3 components of 3 or more must stay together, but"),
        ([[2, 2], [0, 9]], 2, [3, 3], "cannot be packed"),
        ([[3, 5], [3, 5]], 2, [2] * 4, None),
        ([3, 7], 20, [2] * 30, "all components have a multiple of 2 points"),
        ([0.0, 1.5], 2, [0.5, 0.5, 1.25], None),
        ([0.0, 1.0], 2, [0.5, 0.5, 1.25], "upper bounds on sizes add up to 2, but there are 2.25"),
    ],
)
def test_sizes_say_why(sizes, k, parts, words):
    parts = np.array(parts)
    why = sizes_feasible(np.array(sizes), k, parts.sum(), parts)
    assert why is None if words is None else words in why


def test_packing_many_components_is_left_open():
    assert sizes_feasible([0, 40], 20, 780, [3] * 260) is None
    assert "multiple of 2" in sizes_feasible([3, 9], 90, 300, [2] * 150)
    rng = np.random.default_rng(0)
    parts = rng.integers(2, 30, 40)
    bounds = np.column_stack([np.zeros(12), np.linspace(50, 80, 12)])
    assert sizes_feasible(bounds, 12, parts.sum(), parts) is None  # more states than are tried
