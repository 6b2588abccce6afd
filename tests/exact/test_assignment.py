"""The exact assignment: against enumeration, against a naive integer program, and against the clock."""

import os
import signal
import subprocess
import sys
import textwrap
from itertools import combinations, product
from time import monotonic

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise.exact import assignment, highs
from cluewise.exact import program as programs
from cluewise.exact.assignment import cheapest
from cluewise.exact.feasibility import Decision
from cluewise.exact.network import Network
from cluewise.exceptions import Infeasible, Undecided


def network(m, pairs, *sets):
    indptr = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
    members = np.array([v for s in sets for v in sorted(s)], dtype=np.int32)
    return Network.of_pairs(m, np.array(sorted(map(sorted, pairs)), dtype=np.int64).reshape(-1, 2), (indptr, members))


def enumerated(costs, pairs):
    """The least cost of valid labels (∞: there are none)."""
    m, k = costs.shape
    rows = np.arange(m)
    valid = (c for c in product(range(k), repeat=m) if all(c[a] != c[b] for a, b in pairs))
    return min((costs[rows, c].sum() for c in valid), default=np.inf)


def by_milp(costs, pairs):
    """The least cost by the textbook integer program: a row per pair and cluster."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_array

    m, k = costs.shape
    rows = lil_array((m + len(pairs) * k, m * k))
    for v in range(m):
        rows[v, v * k : (v + 1) * k] = 1
    for i, (a, b) in enumerate(pairs):
        for c in range(k):
            rows[m + i * k + c, [a * k + c, b * k + c]] = 1
    least = np.concatenate([np.ones(m), np.full(len(pairs) * k, -np.inf)])
    limits = LinearConstraint(rows.tocsr(), least, 1)
    found = milp(costs.ravel(), integrality=np.ones(m * k), bounds=Bounds(0, 1), constraints=limits)
    return found.fun if found.status == 0 else np.inf


def check(found, costs, pairs):
    rows = np.arange(len(costs))
    assert found.labels.dtype == np.int32
    assert all(found.labels[a] != found.labels[b] for a, b in pairs)
    assert found.cost == pytest.approx(costs[rows, found.labels].sum())
    assert np.isfinite(found.cost)
    assert found.bound <= found.cost
    assert found.gap == pytest.approx((found.cost - found.bound) / max(abs(found.cost), 1e-300))
    assert found.status == ("optimal" if found.gap <= 1e-6 else "feasible")


@st.composite
def problems(draw, most=7):
    m, k = draw(st.integers(1, most)), draw(st.integers(1, 4))
    nodes = st.integers(0, m - 1)
    pairs = draw(st.sets(st.tuples(nodes, nodes).filter(lambda p: p[0] < p[1]), max_size=16))
    sets = draw(st.lists(st.sets(nodes, max_size=4), max_size=2))
    price = st.one_of(st.integers(0, 3).map(float), st.floats(-2, 2, width=16), st.just(np.inf))
    row = st.lists(price, min_size=k, max_size=k)
    costs = np.array(draw(st.lists(row, min_size=m, max_size=m)), dtype=float).reshape(m, k)
    return costs, pairs, sets, pairs | {p for s in sets for p in combinations(sorted(s), 2)}


@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_it_is_optimal_or_infeasible_by_enumeration(problem):
    agrees_with_enumeration(*problem)


@pytest.mark.parametrize("merge", [-1, 20_000])
@pytest.mark.parametrize("seed", range(30))
def test_so_it_is_when_integer_programming_does_the_work(seed, merge, monkeypatch):
    monkeypatch.setattr(assignment, "BRANCHES", 1)
    monkeypatch.setattr(assignment, "ROUNDS", seed % 2)
    monkeypatch.setattr(programs, "MERGE", merge)
    rng = np.random.default_rng(seed)
    pairs = {p for p in combinations(range(7), 2) if rng.random() < 0.6}
    sets = [rng.choice(7, 3, replace=False)] if seed % 3 == 0 else []
    costs = rng.random((7, 4)) + np.arange(4) / 4
    every = pairs | {tuple(sorted(p)) for s in sets for p in combinations(s.tolist(), 2)}
    agrees_with_enumeration(costs, pairs, sets, every)


def agrees_with_enumeration(costs, pairs, sets, every):
    best = enumerated(costs, every)
    before = costs.copy()
    try:
        found = cheapest(costs, network(len(costs), pairs, *sets))
    except Infeasible as error:
        assert best == np.inf
        nodes, edges = error.witness
        named = {tuple(e) for e in edges.tolist()}
        assert named <= every
        assert enumerated(costs[nodes], {tuple(np.searchsorted(nodes, e)) for e in named}) == np.inf
    else:
        check(found, costs, every)
        assert found.cost == pytest.approx(best, abs=1e-9)
        assert found.status == "optimal"
    assert (costs == before).all()


def test_the_worked_example():
    """survey-algorithms 5.1 [cop_kmeans_failure]: the greedy pass fails, two labellings are valid."""
    x = np.array([0.0, 1, 10, 11])
    costs = (x[:, None] - np.array([0.0, 1])) ** 2
    found = cheapest(costs, network(4, [(0, 1), (0, 3), (2, 3)]))
    assert found.labels.tolist() == [0, 1, 0, 1]
    assert (found.cost, found.bound, found.gap, found.status) == (200.0, 200.0, 0.0, "optimal")


def test_nothing_to_do():
    costs = np.array([[2.0, 1, 3], [0, 4, 4]])
    assert cheapest(costs, network(2, [(0, 1)]), time_limit=0.0).labels.tolist() == [1, 0]
    empty = cheapest(np.empty((0, 3)), network(0, []))
    assert (empty.cost, empty.status) == (0.0, "optimal")


def test_witnesses():
    pairs = [*combinations([2, 4, 5, 7, 8], 2), (0, 1), (1, 2)]
    with pytest.raises(Infeasible, match="nodes 2, 4, 5, 7, 8 cannot be spread over 4 clusters") as caught:
        cheapest(np.zeros((9, 4)), network(9, pairs))
    assert caught.value.witness.nodes.tolist() == [2, 4, 5, 7, 8]
    assert len(caught.value.witness.edges) == 10
    with pytest.raises(Infeasible) as caught:
        cheapest(np.zeros((6, 2)), network(6, [(1, 2), (2, 3), (3, 4), (4, 5), (1, 5)]))
    assert caught.value.witness.edges.tolist() == [[1, 2], [1, 5], [2, 3], [3, 4], [4, 5]]
    with pytest.raises(Infeasible) as caught:
        cheapest(np.zeros((50, 3)), network(50, [], range(10, 40)))
    assert len(caught.value.witness.nodes) == 4
    with pytest.raises(Infeasible, match="node 1 is allowed in no cluster") as caught:
        cheapest(np.array([[0.0, 0], [np.inf, np.inf]]), network(2, []))
    assert caught.value.witness.nodes.tolist() == [1]
    long = nx.mycielski_graph(4).edges
    with pytest.raises(Infeasible, match="…"):
        cheapest(np.zeros((11, 3)), network(11, long))


def blobs(m, k, count, seed, spread=1.0):
    """Costs to k centres, and pairs of nodes of different blobs."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, m)
    centres = 2 * rng.standard_normal((k, 4))
    x = centres[truth] + spread * rng.standard_normal((m, 4))
    pairs = np.sort(rng.integers(0, m, (4 * count + 20, 2)), axis=1)
    pairs = np.unique(pairs[truth[pairs[:, 0]] != truth[pairs[:, 1]]], axis=0)
    pairs = pairs[rng.permutation(len(pairs))[:count]]
    return ((x[:, None] - centres) ** 2).sum(axis=2), pairs


@pytest.mark.parametrize("seed", range(8))
def test_it_agrees_with_a_naive_integer_program(seed):
    costs, pairs = blobs(40, 4, 90, seed)
    found = cheapest(costs, network(40, pairs))
    check(found, costs, pairs)
    assert found.cost == pytest.approx(by_milp(costs, pairs), rel=1e-6)
    again = cheapest(costs, network(40, pairs))
    assert again.labels.tolist() == found.labels.tolist()


@pytest.mark.parametrize(("n", "k", "seeds"), [(150, 3, 12), (178, 3, 4), (214, 6, 4), (101, 7, 4), (990, 11, 4)])
def test_planted_links_are_always_satisfied(n, k, seeds):
    """Up to n pairs drawn from a true partition, must-links contracted: the sizes of iris, wine, glass, zoo, vowel."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        costs, _ = blobs(n, k, 0, seed, spread=3.0)
        truth = rng.integers(0, k, n)  # unrelated to the costs: the links fight them
        pairs = rng.integers(0, n, (n * (seed % 4 + 1) // 4, 2))
        same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
        graph = nx.Graph(pairs[same].tolist())
        graph.add_nodes_from(range(n))
        part = np.empty(n, int)
        for i, members in enumerate(nx.connected_components(graph)):
            part[list(members)] = i
        merged = np.zeros((part.max() + 1, k))
        np.add.at(merged, part, costs)
        lifted = {tuple(sorted(p)) for p in part[pairs[~same]].tolist()}
        found = cheapest(merged, network(len(merged), lifted))
        check(found, merged, lifted)
        assert found.status == "optimal"


def test_groups_are_an_assignment_problem():
    """A clique with as many nodes as clusters: bounds are weak, the Hungarian method is not."""
    rng = np.random.default_rng(0)
    costs = np.ones((20, 20)) * np.arange(20) + 0.1 * rng.random((20, 20))
    found = cheapest(costs, network(20, [], range(20)))
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(costs)
    assert found.cost == pytest.approx(costs[rows, columns].sum())
    assert found.status == "optimal"
    assert programs._assignment(np.zeros((3, 2))).status == "infeasible"
    assert programs._assignment(np.array([[0.0, np.inf], [0.0, np.inf]])).status == "infeasible"


def test_many_photographs():
    rng = np.random.default_rng(1)
    costs = rng.random((6000, 8))
    sets = np.arange(6000).reshape(-1, 4)
    found = cheapest(costs, network(6000, [], *sets))
    assert found.status == "optimal"
    labels = found.labels[sets]
    assert all(len(set(row)) == 4 for row in labels.tolist())
    from scipy.optimize import linear_sum_assignment

    for i in range(0, 1500, 100):
        rows, columns = linear_sum_assignment(costs[sets[i]])
        assert costs[sets[i], labels[i]].sum() == pytest.approx(costs[sets[i]][rows, columns].sum())


def test_components_without_trouble_keep_their_cheapest_labels():
    costs, pairs = blobs(30_000, 10, 20_000, 3)
    found = cheapest(costs, network(30_000, pairs))
    check(found, costs, pairs)
    assert found.status == "optimal"
    graph = nx.Graph(pairs.tolist())
    least = costs.argmin(axis=1)
    for members in list(nx.connected_components(graph))[:300]:
        part = sorted(members)
        if all(least[a] != least[b] for a, b in graph.subgraph(part).edges):
            assert found.labels[part].tolist() == least[part].tolist()


HARD = 500, 11, 6000


def test_the_time_limit_is_kept_and_the_gap_told():
    costs, pairs = blobs(*HARD, 0, spread=4.0)
    graph = network(len(costs), pairs)
    start = monotonic()
    found = cheapest(costs, graph, time_limit=3.0)
    assert monotonic() - start < 3.0 + 30.0  # a busy machine; without the limit it would take hours
    check(found, costs, pairs)
    assert found.status == "feasible"
    assert 0 < found.gap < 0.5
    quick = cheapest(costs, graph, time_limit=0.0)
    check(quick, costs, pairs)
    assert found.cost <= quick.cost
    assert found.bound >= quick.bound
    loose = cheapest(costs, graph, time_limit=30.0, gap=0.9)
    assert loose.status == "optimal"
    assert loose.gap > 1e-6


def test_never_dearer_than_the_incumbent():
    costs, pairs = blobs(300, 8, 900, 1, spread=4.0)
    graph = network(len(costs), pairs)
    best = cheapest(costs, graph)
    quick = cheapest(costs, graph, time_limit=0.0)
    assert quick.cost > best.cost + 1e-3
    found = cheapest(costs, graph, time_limit=0.0, incumbent=best.labels)
    check(found, costs, pairs)
    assert found.cost == pytest.approx(best.cost)
    with pytest.raises(ValueError, match="incumbent"):
        cheapest(costs, graph, incumbent=np.zeros(len(costs), int))


def test_the_incumbent_stands_in_where_greedy_is_stuck(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 150)
    pairs = [p for p in combinations(range(150), 2) if truth[p[0]] != truth[p[1]] and rng.random() < 0.08]
    costs, graph = rng.random((150, 3)), network(150, pairs)
    check(cheapest(costs, graph), costs, pairs)  # the search finds labels by itself
    monkeypatch.setattr(assignment, "color", undecided)
    with pytest.raises(Undecided):
        cheapest(costs, graph, time_limit=0.0)
    found = cheapest(costs, graph, time_limit=0.0, incumbent=truth)
    check(found, costs, pairs)
    assert found.cost <= costs[np.arange(150), truth].sum()


def phase_transition(n=2000):
    return network(n, nx.gnm_random_graph(n, round(4.9 * n / 2), seed=0).edges), np.random.default_rng(0).random((n, 3))


def test_undecided_when_time_is_up():
    graph, costs = phase_transition()
    start = monotonic()
    with pytest.raises(Undecided, match="nodes that exclude each other over 3 clusters was found in time"):
        cheapest(costs, graph, time_limit=1.0)
    assert monotonic() - start < 30.0


def undecided(net, k, allowed, node_limit, deadline):
    return Decision("undecided", "limit")


def test_integer_programming_decides_what_the_search_leaves_open(monkeypatch):
    monkeypatch.setattr(assignment, "color", undecided)
    monkeypatch.setattr(Network, "greedy", lambda net, order, costs, labels: len(order))
    grotzsch = [tuple(sorted(e)) for e in nx.mycielski_graph(4).edges]
    with pytest.raises(Infeasible) as caught:
        cheapest(np.zeros((11, 3)), network(11, grotzsch))
    assert len(caught.value.witness.edges) == 20
    net, costs = network(11, grotzsch), np.zeros((11, 4))
    labels = assignment._require(costs, net, np.arange(11), monotonic() + 20)
    assert all(labels[a] != labels[b] for a, b in grotzsch)


def program(seed, m=30, k=4, count=80):
    costs, pairs = blobs(m, k, count, seed, spread=4.0)
    net = network(m, pairs)
    excess = costs - costs.min(axis=1, keepdims=True)
    best = cheapest(costs, network(m, pairs))
    ceiling = float(excess[np.arange(m), best.labels].sum())
    made, node, cluster = programs._program(excess, programs.cover(net), np.ones((m, k), bool), ceiling)
    return made, node, cluster, ceiling


def test_the_child_process_answers_like_this_one():
    made, _, _, least = program(0)
    here = highs.solve_here(made, 20, 1e-9)
    child = highs.solve_in_child(made, 20, 1e-9, None)
    assert here.status == child.status == "optimal"
    for answer in (here, child):
        assert made.cost @ answer.x == pytest.approx(least)
        assert answer.bound == pytest.approx(least)
    assert highs.solve(made, 20, 1e-9, None).status == "optimal"


def test_the_linear_bound_keeps_what_an_optimum_needs():
    gaps, closed = [], 0
    for seed in range(20):
        made, _, _, least = program(seed, m=20, k=3, count=45)
        bound, useful = highs.relax(made, 10.0)
        gaps.append(least - bound)
        closed += (~useful).sum()
        assert bound <= least + 1e-9
        assert highs.solve_here(made, 10, 1e-9, useful.astype(float)).bound == pytest.approx(least, abs=1e-9)
    assert max(gaps) > 0.1  # otherwise nothing was tested
    assert closed > 100
    bound, useful = highs.relax(made, 0.0)
    assert (bound, useful.all()) == (-np.inf, True)


def test_the_child_runs_as_a_script(tmp_path):
    made, _, _, least = program(2)
    np.savez(tmp_path / "problem.npz", *made, 4e9, 1e-9)
    highs.main(str(tmp_path))
    assert highs._read(tmp_path / "answer.npz").bound == pytest.approx(least)
    assert highs._read(tmp_path / "first.npz").x is None


def test_an_infeasible_program():
    net = network(4, combinations(range(4), 2))
    made, *_ = programs._program(np.zeros((4, 3)), programs.cover(net), np.ones((4, 3), bool), np.inf)
    assert len(made.indptr) == 1 + 4 + 3  # one clique, not six pairs
    assert highs.solve_here(made, 5, 1e-9) == ("infeasible", None, -np.inf)
    assert highs.solve_here(made, 0, 1e-9).status == "limit"


def test_no_child_without_an_interpreter_or_time(monkeypatch):
    made, *_ = program(1)
    assert highs.solve_in_child(made, -1, 1e-9, None).status == "limit"
    monkeypatch.setattr(sys, "executable", "")
    assert highs.solve_in_child(made, 9, 1e-9, None).status == "limit"


def test_a_child_that_fails_is_no_answer(monkeypatch):
    made, *_ = program(1)
    monkeypatch.setattr(highs, "__file__", "/nowhere/solver.py")
    assert highs.solve_in_child(made, 9, 1e-9, None) == ("limit", None, -np.inf)


INTERRUPT = """
    import subprocess, sys, time
    import numpy as np
    from cluewise.exact.assignment import cheapest
    from cluewise.exact.network import Network
    class Popen(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            if "highs.py" in str(args):  # other packages start processes too
                print("child", self.pid, flush=True)
    subprocess.Popen = Popen
    data = np.load(sys.argv[1])
    graph = Network.build((data["indptr"], data["indices"]))
    cheapest(data["costs"][:2], Network.build((np.zeros(3, int), np.zeros(0, int))))
    print("go", flush=True)
    try:
        cheapest(data["costs"], graph, time_limit=100)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


@pytest.mark.parametrize("where", ["child", "search"])
def test_ctrl_c_is_answered_at_once(tmp_path, where):
    if where == "child":
        costs, pairs = blobs(*HARD, 2, spread=4.0)
        graph = network(len(costs), pairs)
    else:
        graph, costs = phase_transition()
    np.savez(tmp_path / "problem.npz", indptr=graph.indptr, indices=graph.indices, costs=costs)
    command = [sys.executable, "-c", textwrap.dedent(INTERRUPT), str(tmp_path / "problem.npz")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "go\n"
            child = process.stdout.readline() if where == "child" else ""
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1.5)
            start = monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "stopped\n"
            assert monotonic() - start < 5  # some 0.1 s on a quiet machine; the search itself has minutes
            if where == "child":
                with pytest.raises(ProcessLookupError):
                    os.kill(int(child.split()[1]), 0)
        finally:
            process.kill()
