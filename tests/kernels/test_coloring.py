"""Kernels of the colouring search against their plain twins and against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise.exact import searches
from cluewise.exact.network import Network
from cluewise.kernels import branching, coloring
from twins import branching as reference_branching
from twins import coloring as reference_coloring

NONE = (np.zeros(1, np.int64), np.empty(0, np.int32))


def pairs_to_csr(m, pairs):
    return Network.of_pairs(m, np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2))[:2]


@st.composite
def networks(draw, most=9, cliques=True):
    m = draw(st.integers(1, most))
    nodes = st.integers(0, m - 1)
    pairs = draw(st.sets(st.tuples(nodes, nodes).filter(lambda p: p[0] < p[1]), max_size=3 * m))
    groups = draw(st.lists(st.sets(nodes, max_size=5).map(sorted), max_size=3 if cliques else 0))
    indptr = np.concatenate([[0], np.cumsum([len(g) for g in groups], dtype=np.int64)]).astype(np.int64)
    return Network.build(pairs_to_csr(m, pairs), (indptr, np.array([v for g in groups for v in g], dtype=np.int32)))


def prices(draw, m, k):
    """Whole numbers (so that sums are exact) and some forbidden clusters."""
    values = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0, np.inf]), min_size=m * k, max_size=m * k))
    return np.array(values).reshape(m, k)


def graph_of(net):
    graph = nx.Graph()
    graph.add_nodes_from(range(net.size))
    indptr, indices = net.plain()
    graph.add_edges_from((v, u) for v in range(net.size) for u in indices[indptr[v] : indptr[v + 1]])
    return graph


def all_the_way(kernel, *arguments, budget):
    calls = 1
    while not kernel(*arguments, budget):
        calls += 1
        assert calls < 100_000
    return calls


def start_peeling(net, cap, extra):
    alive = np.diff(net.clique_indptr)
    degree = np.diff(net.indptr) + extra
    for v in range(net.size):
        mine = net.node_cliques[net.node_indptr[v] : net.node_indptr[v + 1]]
        degree[v] += np.minimum(alive[mine] - 1, cap).sum()
    heap = np.sort((degree.astype(np.int64) << coloring.SHIFT) + np.arange(net.size))
    position = np.empty(net.size, np.int32)
    position[heap & coloring.MASK] = np.arange(net.size)
    order = np.full(net.size, -7, np.int32)
    return alive, heap, position, order, np.array([net.size, 0, 0], dtype=np.int64)


@settings(max_examples=60, deadline=None)
@given(
    net=networks(), cap=st.integers(1, 5), floor=st.sampled_from([1, 2, 3, 99]), budget=st.sampled_from([1, 40, 10**6])
)
def test_peel_is_its_twin(net, cap, floor, budget):
    ours, plain = start_peeling(net, cap, 0), start_peeling(net, cap, 0)
    all_the_way(coloring.peel, *net, *ours, cap, floor, budget=budget)
    assert reference_coloring.peel(*net, *plain, cap, floor, 0)
    for mine, theirs in zip((ours[0], ours[3], ours[4]), (plain[0], plain[3], plain[4])):
        assert mine.tolist() == theirs.tolist()
    assert ((ours[2] < 0) == (plain[2] < 0)).all()


@pytest.mark.parametrize("seed", range(6))
def test_smallest_last_order_and_cores_agree_with_networkx(seed):
    graph = nx.gnm_random_graph(200, 500, seed=seed)
    net = Network.build(pairs_to_csr(200, [tuple(sorted(e)) for e in graph.edges]), NONE)
    order, degeneracy = net.peel(floor=10**6, cap=10**6)
    cores = nx.core_number(graph)
    assert degeneracy == max(cores.values())
    later = set(range(200))
    for v in order.tolist():
        assert len(later & set(graph[v])) == min(len(later & set(graph[u])) for u in later)
        later.remove(v)
    for k in (1, 2, 3, 4):
        removed, _ = net.peel(floor=k, cap=k)
        assert set(range(200)) - set(removed.tolist()) == {v for v, core in cores.items() if core >= k}


def test_order_of_the_worked_example():
    """survey-algorithms 5.1 [cop_kmeans_failure]: degeneracy order 3, 2, 0, 1 and labels 0, 1, 0, 1."""
    net = Network.build(pairs_to_csr(4, [(0, 1), (0, 3), (2, 3)]), NONE)
    order, degeneracy = net.peel(floor=99, cap=99)
    assert order[::-1].tolist() == [3, 2, 0, 1]
    assert degeneracy == 1
    x, centres = np.array([0.0, 1, 10, 11]), np.array([0.0, 1])
    costs = (x[:, None] - centres) ** 2
    labels = np.full(4, -1, np.int32)
    assert net.greedy(order[::-1].copy(), costs, labels) == 0
    assert labels.tolist() == [0, 1, 0, 1]
    labels = np.full(4, -1, np.int32)
    assert net.greedy(np.arange(4, dtype=np.int32), costs, labels) == 1  # index order fails at point 3
    assert labels[3] == -1


def test_a_clique_counts_without_being_expanded():
    m = 100_000
    empty = np.zeros(m + 1, np.int64), np.empty(0, np.int32)
    net = Network.build(empty, (np.array([0, m]), np.arange(m)))
    order, degree = net.peel(floor=10, cap=10)
    assert len(order) == 0
    order, degree = net.peel(floor=m, cap=10)
    assert len(order) == m
    assert degree == 10


@settings(max_examples=60, deadline=None)
@given(net=networks(), budget=st.sampled_from([1, 30, 10**6]))
def test_explore_is_its_twin_and_finds_the_components(net, budget):
    def fresh():
        m = net.size
        arrays = np.full(m, -1, np.int32), *(np.full(m, -9, np.int32) for _ in range(3))
        return *arrays, np.zeros(len(net.clique_indptr) - 1, bool), np.zeros(4, np.int64)

    ours, plain = fresh(), fresh()
    all_the_way(coloring.explore, *net, *ours, budget=budget)
    assert reference_coloring.explore(*net, *plain, 0)
    for i in (0, 1, 2):
        assert ours[i].tolist() == plain[i].tolist()
    graph = graph_of(net)
    component, depth, parent = ours[:3]
    assert ours[5][3] == nx.number_connected_components(graph)
    for v in range(net.size):
        root = min(u for u in range(net.size) if component[u] == component[v])
        assert depth[v] == nx.shortest_path_length(graph, root, v)
        assert parent[v] == -1 if v == root else graph.has_edge(v, parent[v])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_greedy_is_its_twin(data):
    net = data.draw(networks())
    k = data.draw(st.integers(1, 4))
    costs = prices(data.draw, net.size, k)
    order = np.array(data.draw(st.permutations(range(net.size))), dtype=np.int32)
    found = []
    for kernels in (coloring, reference_coloring):
        labels, mark = np.full(net.size, -1, np.int32), np.full(k, -1, np.int32)
        found.append((kernels.greedy(*net, order, 0, net.size, costs, labels, mark), labels.tolist()))
    assert found[0] == found[1]
    assert not net.broken(np.array(found[0][1])).any()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_fold_is_its_twin(data):
    net = data.draw(networks(cliques=False))
    costs = prices(data.draw, net.size, data.draw(st.integers(1, 4)))
    order, _ = net.peel(floor=2, cap=2)
    found = []
    for kernels in (coloring, reference_coloring):
        mine, removed = costs.copy(), np.zeros(net.size, bool)
        kernels.fold(net.indptr, net.indices, order, 0, len(order), mine, removed)
        found.append((mine.tolist(), removed.tolist()))
    assert found[0] == found[1]


def test_fold_settles_a_tree():
    graph = nx.random_labeled_tree(12, seed=3)
    net = Network.build(pairs_to_csr(12, [tuple(sorted(e)) for e in graph.edges]), NONE)
    costs = np.random.default_rng(0).random((12, 3))
    order, _ = net.peel(floor=2, cap=2)
    assert len(order) == 12
    folded, removed = costs.copy(), np.zeros(12, bool)
    coloring.fold(net.indptr, net.indices, order, 0, 12, folded, removed)
    labels = np.full(12, -1, np.int32)
    net.greedy(order[::-1].copy(), folded, labels)
    best = min(
        sum(costs[v, c] for v, c in enumerate(choice))
        for choice in np.ndindex(*[3] * 12)
        if all(choice[a] != choice[b] for a, b in graph.edges)
    )
    assert costs[np.arange(12), labels].sum() == pytest.approx(best, abs=1e-12)
    assert folded[order[-1]].min() == pytest.approx(best, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_kempe_is_its_twin_and_keeps_labels_valid(data):
    net = data.draw(networks(cliques=False))
    k = data.draw(st.integers(2, 4))
    costs = np.where(np.isinf(prices(data.draw, net.size, k)), 9.0, 1.0) * np.arange(1, k + 1)
    order, _ = net.peel(floor=99, cap=99)
    labels = np.full(net.size, -1, np.int32)
    if net.greedy(order[::-1].copy(), costs[:, ::-1].copy(), labels):
        return
    longest, small = data.draw(st.sampled_from([1, 2, 99])), data.draw(st.sampled_from([1, 10**6]))
    found = []
    for kernels, budget in ((coloring, small), (reference_coloring, 0)):
        mine, mark, state = labels.copy(), np.zeros(net.size, np.int64), np.zeros(2, np.int64)
        queue = np.empty(net.size, np.int32)
        at = 0
        while at < net.size:
            at = kernels.kempe(net.indptr, net.indices, costs, mine, at, longest, 1e-9, queue, mark, state, budget)
        found.append((mine.tolist(), int(state[1])))
    assert found[0] == found[1]
    after = np.array(found[0][0])
    rows = np.arange(net.size)
    assert not net.broken(after).any()
    if found[0][1]:
        assert costs[rows, after].sum() < costs[rows, labels].sum()


def test_kempe_swaps_where_no_single_move_helps():
    net = Network.build(pairs_to_csr(2, [(0, 1)]), NONE)
    costs = np.array([[5.0, 0.0, 9.0], [0.0, 1.0, 9.0]])
    labels, mark, state = np.array([0, 1], dtype=np.int32), np.zeros(2, np.int64), np.zeros(2, np.int64)
    queue = np.empty(2, np.int32)
    coloring.kempe(net.indptr, net.indices, costs, labels, 0, 1, 1e-9, queue, mark, state, 100)
    assert labels.tolist() == [0, 1]  # the chain of two is too long
    coloring.kempe(net.indptr, net.indices, costs, labels, 0, 2, 1e-9, queue, mark, state, 100)
    assert labels.tolist() == [1, 0]


@pytest.mark.parametrize("budget", [1, 10**6])
@pytest.mark.parametrize("seed", range(5))
def test_tabu_is_its_twin_and_repairs(seed, budget):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 30)
    pairs = {(a, b) for a in range(30) for b in range(a) if truth[a] != truth[b] and rng.random() < 0.15}
    csr = pairs_to_csr(30, pairs)
    costs = np.zeros((30, 3))
    costs[0, (truth[0] + 1) % 3] = np.inf
    begin = rng.integers(0, 3, 30)
    begin[0] = truth[0]
    ours, plain = (searches.start_repair(csr, costs, begin) for _ in range(2))
    all_the_way(coloring.tabu, *ours, budget=budget)
    assert reference_coloring.tabu(*plain, 0)
    assert ours.labels.tolist() == plain.labels.tolist()
    assert ours.until.tolist() == plain.until.tolist()
    assert ours.state[:4].tolist() == plain.state[:4].tolist()
    assert all(ours.labels[a] != ours.labels[b] for a, b in pairs)
    assert ours.labels[0] != (truth[0] + 1) % 3
    near = np.zeros((30, 3), int)
    for a, b in pairs:
        near[a, ours.labels[b]] += 1
        near[b, ours.labels[a]] += 1
    assert ours.near.tolist() == near.tolist()


def test_tabu_goes_on_when_every_move_is_forbidden():
    csr = pairs_to_csr(3, [(0, 1), (0, 2), (1, 2)])
    repair = searches.start_repair(csr, np.zeros((3, 2)), np.array([0, 0, 1]))
    assert not repair.mend(3000)  # a triangle has no two colours
    assert repair.state[0] > 100
    assert repair.state[1] == repair.state[2] == 1


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_branch_is_its_twin(data):
    net = data.draw(networks(cliques=False))
    _, starts, net = net.blocks()
    k = data.draw(st.integers(1, 4))
    symmetric = data.draw(st.booleans())
    costs = np.zeros((net.size, k)) if symmetric else prices(data.draw, net.size, k)
    limit = data.draw(st.sampled_from([1, 3, 10**6]))
    csr = net.indptr, net.indices
    ours, plain = (searches.plant(csr, costs, starts, symmetric=symmetric, limit=limit) for _ in range(2))
    all_the_way(branching.branch, *ours, budget=data.draw(st.sampled_from([1, 20, 10**6])))
    assert reference_branching.branch(*plain, 0)
    for name in ("best", "value", "lower", "nodes"):
        assert getattr(ours, name).tolist() == getattr(plain, name).tolist()
    assert ours.state[0] == len(starts) - 1


def test_branch_starts_from_what_is_known():
    net = Network.build(pairs_to_csr(2, [(0, 1)]), NONE)
    costs = np.array([[0.0, 2.0], [0.0, 1.0]])
    csr, starts = (net.indptr, net.indices), np.array([0, 2])
    better = searches.plant(csr, costs, starts, best=np.array([1, 0]), value=np.array([2.0]))
    assert better.grow(1000)
    assert better.best.tolist() == [0, 1]
    assert better.value.tolist() == better.lower.tolist() == [1.0]
    kept = searches.plant(csr, costs, starts, best=np.array([1, 0]), value=np.array([2.0]), tolerance=1.5)
    assert kept.grow(1000)
    assert kept.best.tolist() == [1, 0]
