"""RatioDCA, prices, splits and moves: each against what it promises, on graphs small enough to enumerate."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

from cluewise.exceptions import Infeasible
from cluewise.spectral._one_spectral import moves, splits
from cluewise.spectral._one_spectral.cuts import bisect, count_broken, rank, slope_of_balance, slope_of_links
from cluewise.spectral._one_spectral.descent import descend, start_inner
from cluewise.spectral._one_spectral.prices import highest_price, raise_price, sides_that_hold
from cluewise.spectral._one_spectral.splits import Graph, Starts, split

NONE = np.empty((0, 2), dtype=np.int64)


def draw_affinity(rng, n):
    """A connected graph of n vertices."""
    weight = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    weight[np.arange(n - 1), np.arange(1, n)] += 0.05
    return weight + weight.T


def draw_links(rng, n, count, side=None):
    """Distinct pairs of vertices, of two kinds: as ``side`` says, or at random; and a weight for each."""
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    pairs = pairs[rng.permutation(len(pairs))[:count]]
    together = rng.random(len(pairs)) < 0.5 if side is None else side[pairs[:, 0]] == side[pairs[:, 1]]
    weight = rng.uniform(0.5, 2, size=len(pairs))
    return pairs[together], weight[together], pairs[~together], weight[~together]


def draw_bisection(rng, n, count, side=None):
    must, must_weight, cannot, cannot_weight = draw_links(rng, n, count, side)
    weight = draw_affinity(rng, n)
    return bisect(weight, weight.sum(axis=1), cannot, cannot_weight, must, must_weight)


def draw_graph(rng, n, count, labels=None):
    must, must_weight, cannot, cannot_weight = draw_links(rng, n, count, labels)
    weight = draw_affinity(rng, n)
    size = rng.integers(1, 4, size=n)
    return Graph(csr_array(weight), weight.sum(axis=1), size, cannot, cannot_weight, must, must_weight)


def solve_independently(problem, pull):
    """Length of the shortest z of the dual, by sequential quadratic programming."""
    m, n, bound = len(problem.heads), len(pull), problem.bound
    D = np.zeros((m, n))
    D[np.arange(m), problem.heads], D[np.arange(m), problem.tails] = 1, -1
    A = np.hstack([D.T * problem.force, np.eye(n), -np.eye(n)])
    scale = (pull @ pull) ** -0.5
    parts = (slice(m, m + n), slice(m + n, m + 2 * n)) if bound else ()
    found = minimize(
        lambda x: 0.5 * ((scale * (A @ x - pull)) ** 2).sum(),
        np.concatenate([np.zeros(m), np.full(2 * n, bound / n)]),
        jac=lambda x: scale**2 * A.T @ (A @ x - pull),
        bounds=[(-1, 1)] * m + [(0, bound)] * (2 * n),
        constraints=[{"type": "eq", "fun": lambda x, part=part: x[part].sum() - bound} for part in parts],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    return np.linalg.norm(A @ found.x - pull)


def test_the_inner_problem_beside_another_solver(sweep):
    """The length of z is minus the optimum of the inner problem."""
    worst = 0.0
    for case in range(sweep(5, 50)):
        rng = np.random.default_rng(case)
        n = int(rng.integers(4, 8))
        problem = draw_bisection(rng, n, int(rng.integers(4))).at(float(rng.choice([0.0, 0.1, 1.0])))
        f = rng.normal(size=n)
        ranked = rank(problem, f)
        pull = slope_of_links(problem, f) + ranked.ratio * slope_of_balance(problem, ranked)
        inner = start_inner(problem, f)
        inner.solve(problem, pull, 20_000)
        ours, theirs = np.linalg.norm(inner.residual[0]), solve_independently(problem, pull)
        worst = max(worst, abs(ours - theirs) / np.linalg.norm(pull))
    assert worst <= 1e-5


@given(st.integers(0, 2**16), st.integers(2, 10), st.integers(0, 5), st.sampled_from([0.0, 0.2, 3.0]))
def test_the_trace_never_rises_and_ends_at_the_set(seed, n, links, price):
    rng = np.random.default_rng(seed)
    problem = draw_bisection(rng, n, links).at(price)
    for f in (rng.normal(size=n), np.eye(n)[0]):
        found = descend(problem, f, 400)
        assert (np.diff(found.trace) <= 0).all()
        assert found.trace[0] == pytest.approx(rank(problem, f).ratio)
        assert found.trace[-1] == pytest.approx(found.ratio) == rank(problem, found.side).ratio
        assert set(found.side) == {0.0, 1.0}


def test_more_iterations_find_what_few_do_not():
    """A long path, cut near its end: a few iterations are not enough to see that there is a better place."""
    n = 400
    weight = np.diag(np.ones(n - 1), 1)
    weight = weight + weight.T
    problem = bisect(csr_array(weight), weight.sum(axis=1), NONE, np.ones(0), NONE, np.ones(0))
    start = np.zeros(n)
    start[:4] = 1
    few, many = (descend(problem, start, max_iter) for max_iter in (2, 400))
    assert few.ratio == few.trace[0]
    assert many.ratio == pytest.approx(4 / (2 * n - 2)), "half of the path on either side"


@given(st.integers(0, 2**16), st.integers(3, 8))
def test_at_the_highest_price_no_cut_is_worth_a_link(seed, n):
    rng = np.random.default_rng(seed)
    side = rng.permutation(np.arange(n) % 2)
    problem = draw_bisection(rng, n, int(rng.integers(1, 6)), side)
    problem = problem.at(1.001 * highest_price(problem))
    sides = [np.array((0, *bits), dtype=float) for bits in product((0, 1), repeat=n - 1) if any(bits)]
    holds = [rank(problem, one).ratio for one in sides if count_broken(problem, one) == 0]
    breaks = [rank(problem, one).ratio for one in sides if count_broken(problem, one) > 0]
    assert max(holds) < min(breaks, default=np.inf)


@given(st.integers(0, 2**16), st.integers(3, 10))
def test_links_of_two_clusters_hold_if_they_can(seed, n):
    rng = np.random.default_rng(seed)
    problem = draw_bisection(rng, n, int(rng.integers(6)), rng.permutation(np.arange(n) % 2))
    found = list(raise_price(problem, rng.normal(size=n), 0.0, 400))
    assert min(one.broken for one in found) == 0
    for one in found:
        assert one.broken == count_broken(problem, one.side)


def test_the_nearest_cut_that_holds():
    """Vertex 1 has to leave 0 and 2, or they have to leave it; it has less volume."""
    weight = np.ones((4, 4)) - np.eye(4)
    volume = np.array([2.0, 1.0, 2.0, 2.0])
    problem = bisect(weight, volume, np.array([(0, 1), (1, 2)]), np.ones(2), NONE, np.ones(0))
    assert sides_that_hold(problem, np.array([1.0, 1, 1, 0])).tolist() == [1, 0, 1, 0]
    bound = bisect(weight, volume, np.array([(0, 1)]), np.ones(1), np.array([(1, 2)]), np.ones(1))
    assert sides_that_hold(bound, np.array([1.0, 1, 1, 0])).tolist() == [0, 1, 1, 0]
    for cannot, must in (([(0, 1), (1, 2), (0, 2)], NONE), ([(0, 1)], np.array([(0, 2), (1, 2)]))):
        odd = bisect(weight, volume, np.array(cannot), np.ones(len(cannot)), must, np.ones(len(must)))
        assert sides_that_hold(odd, np.array([1.0, 1, 1, 0])) is None


def test_splits_follow_the_plain_structure():
    """Three pairs of vertices, joined by weak edges; the pieces of a graph are splits, too."""
    weight = np.full((6, 6), 0.01)
    for a in (0, 2, 4):
        weight[a, a + 1] = weight[a + 1, a] = 1.0
    np.fill_diagonal(weight, 0)
    for table in (weight, np.where(weight > 0.1, weight, 0)):
        graph = Graph(csr_array(table), table.sum(axis=1), np.ones(6), NONE, np.ones(0), NONE, np.ones(0))
        starts = Starts(True, False, np.random.default_rng(0), {}, {})
        labels = split(graph, 3, starts, 400).labels
        assert [labels[a] == labels[a + 1] for a in (0, 2, 4)] == [True] * 3
        assert len(set(labels)) == 3
        assert len(set(split(graph, 9, starts, 400).labels)) == 6, "no more clusters than vertices"


def test_how_many_links_a_split_may_leave():
    cannot = np.array([(i, j) for i in range(5) for j in range(i)])
    graph = Graph(csr_array(np.ones((5, 5)) - np.eye(5)), np.ones(5), np.ones(5), cannot, np.ones(10), NONE, np.ones(0))
    whole = splits._part(graph, np.zeros(5, dtype=int), 0)
    assert whole.links == 10
    assert splits._allowed(whole, graph, 5) == pytest.approx(6)  # of five clusters three are still to come
    assert splits._allowed(whole, graph, 2) == 0
    half = splits._part(graph, np.array([0, 0, 1, 1, 1]), 1)
    assert half.links == 3
    assert splits._allowed(half, graph, 5) == pytest.approx(1)
    found = split(graph, 5, Starts(True, True, np.random.default_rng(0), {}, {}), 400)
    assert sorted(found.labels) == [0, 1, 2, 3, 4]


def test_regrouping_mends_an_early_split():
    """One group in two halves, which were cut apart, and two groups left together: no single vertex would gain."""
    weight = np.full((12, 12), 0.001)
    for a in (0, 4, 8):
        weight[a : a + 4, a : a + 4] = 1.0
    np.fill_diagonal(weight, 0)
    graph = Graph(csr_array(weight), weight.sum(axis=1), np.ones(12), NONE, np.ones(0), NONE, np.ones(0))
    wrong = np.array([0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2], dtype=np.int32)
    assert moves.move(moves.State(wrong), graph=graph, k=3, price=1.0)[1].moved == 0
    starts = Starts(True, False, np.random.default_rng(0), {}, {})
    found = splits.regroup(graph, wrong, 3, 1.0, starts, 400)
    assert len(set(found)) == 3
    assert all(len(set(found[a : a + 4])) == 1 for a in (0, 4, 8))
    assert splits.regroup(graph, found, 3, 1.0, starts, 400) is None
    shifted = np.array([0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2], dtype=np.int32)  # half of a group goes to its other half
    found = splits.regroup(graph, shifted, 3, 1.0, starts, 400)
    assert all(len(set(found[a : a + 4])) == 1 for a in (0, 4, 8))


@given(st.integers(0, 2**16), st.integers(4, 10), st.integers(3, 4))
def test_regrouping_lowers_the_objective(seed, n, k):
    rng = np.random.default_rng(seed)
    graph = draw_graph(rng, n, int(rng.integers(6)))
    labels = rng.permutation(np.arange(n) % k).astype(np.int32)
    starts = Starts(True, False, rng, {}, {})
    found = splits.regroup(graph, labels, k, 0.7, starts, 100)
    assert found is None or len(set(found)) == k
    now = moves.objective(graph, labels, k, 0.7)
    every = [now]  # all that a regrouping can be, one after the other
    for h in range(k):
        for one in starts.parts[np.flatnonzero(labels == h).tobytes()][1]:
            apart = labels.copy()
            apart[np.flatnonzero(labels == h)[one.side > 0]] = k
            for a, b in combinations(range(k + 1), 2):
                if (a, b) != (h, k):
                    every.append(moves.objective(graph, np.where(apart == b, a, apart), k + 1, 0.7))
    best = now if found is None else moves.objective(graph, found, k, 0.7)
    assert best == pytest.approx(min(every), abs=1e-8)


@given(st.integers(0, 2**16), st.integers(3, 9), st.integers(2, 4))
def test_costs_of_joining_are_differences_of_the_objective(seed, n, k):
    rng = np.random.default_rng(seed)
    graph = draw_graph(rng, n, int(rng.integers(6)))
    labels = rng.integers(k, size=n).astype(np.int32)
    tables = [splits._toward(table, labels, k) for table in (graph.affinity, splits._pulls(graph, 0.7))]
    edges, pulls = (splits._between(table, labels, k) for table in tables)
    costs = splits._costs_of_joining(edges, np.bincount(labels, graph.volume, k), pulls)
    now = moves.objective(graph, labels, k, 0.7)
    used = set(labels.tolist())
    for a, b in product(range(k), repeat=2):
        if a == b or a not in used or b not in used:
            assert costs[a, b] == np.inf
        else:
            joined = np.where(labels == b, a, labels)
            assert now + costs[a, b] == pytest.approx(moves.objective(graph, joined, k, 0.7))


@given(st.integers(0, 2**16), st.integers(3, 9), st.integers(2, 4))
def test_gains_are_differences_of_the_objective(seed, n, k):
    rng = np.random.default_rng(seed)
    graph = draw_graph(rng, n, int(rng.integers(6)))
    labels = rng.integers(k, size=n).astype(np.int32)
    gain, where = moves._gains(graph, labels, k, 0.7)
    now = moves.objective(graph, labels, k, 0.7)
    used = np.unique(labels)
    for i in range(n):
        if np.count_nonzero(labels == labels[i]) == 1 or len(used) == 1:
            assert gain[i] == -np.inf
            continue
        others = [h for h in used if h != labels[i]]
        values = [moves.objective(graph, np.where(np.arange(n) == i, h, labels), k, 0.7) for h in others]
        assert gain[i] == pytest.approx(now - min(values), abs=1e-9)
        assert values[others.index(where[i])] == pytest.approx(min(values), abs=1e-9)


@given(st.integers(0, 2**16), st.integers(3, 9), st.integers(2, 4))
def test_moves_end_where_no_vertex_gains(seed, n, k):
    rng = np.random.default_rng(seed)
    graph = draw_graph(rng, n, int(rng.integers(6)))
    state, price = moves.State(rng.permutation(np.arange(n) % k).astype(np.int32)), 2.0
    value = moves.objective(graph, state.labels, k, price)
    while True:
        state, info = moves.move(state, graph=graph, k=k, price=price)
        assert info.objective <= value
        assert info.objective == pytest.approx(moves.objective(graph, state.labels, k, price))
        value = info.objective
        if not info.moved:
            break
    assert len(set(state.labels)) == min(n, k), "no cluster is emptied"
    for i, h in product(range(n), range(k)):
        if np.count_nonzero(state.labels == state.labels[i]) > 1:
            moved = np.where(np.arange(n) == i, h, state.labels)
            assert moves.objective(graph, moved, k, price) >= value - 1e-9


@given(st.integers(0, 2**16), st.integers(4, 10))
def test_hold_moves_as_little_as_it_can(seed, n):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % 3)
    graph = draw_graph(rng, n, 6, truth)
    graph = graph._replace(must=NONE, must_weight=np.ones(0))
    before = rng.integers(3, size=n).astype(np.int32)
    after = moves.hold(graph, before, 3)
    assert moves.links_broken(graph, after) == 0
    if moves.links_broken(graph, before) == 0:
        assert (after == before).all()
    weight = graph.affinity.toarray()

    def left(labels):
        return sum(weight[i].sum() - weight[i, before == labels[i]].sum() for i in np.flatnonzero(labels != before))

    tied = np.unique(graph.cannot)
    for choice in product(range(3), repeat=len(tied)) if len(tied) <= 6 else ():
        other = before.copy()
        other[tied] = choice
        if moves.links_broken(graph, other) == 0:
            assert left(after) <= left(other) + 1e-6


def test_hold_says_so_if_no_clusters_hold_the_links():
    cannot = np.array([(0, 1), (0, 2), (1, 2)])
    graph = Graph(csr_array(np.ones((3, 3)) - np.eye(3)), np.ones(3), np.ones(3), cannot, np.ones(3), NONE, np.ones(0))
    with pytest.raises(Infeasible):
        moves.hold(graph, np.zeros(3, dtype=np.int32), 2)
