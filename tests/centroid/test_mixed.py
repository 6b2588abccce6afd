"""The cheapest labels under mixtures of hard and soft clues and sizes, against brute force; large ones stay valid."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.centroid._pccc import bonds as bonds_module
from cluewise.centroid._pccc import filling, mixed, soft_program
from cluewise.centroid._pccc.bonds import bonds_of, set_price
from cluewise.centroid._pccc.filling import Items, Limits, fill, items_of, limits_of
from cluewise.centroid._pccc.mixed import settle
from cluewise.centroid._pccc.moves import Moves, node_costs
from cluewise.centroid._pccc.soft_program import Room
from cluewise.core.rows import Rows
from cluewise.core.views import contract
from cluewise.exact import highs
from cluewise.exceptions import Infeasible, Undecided
from cluewise.kernels import working_time


def mixture(seed, n=7, k=3, large=32):
    """Costs of nodes, bonds with hard and soft links and groups, and labels that keep the hard ones."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)

    def pairs(count, same=None):
        found = rng.integers(n, size=(count, 2))
        found = found[found[:, 0] != found[:, 1]]
        return found if same is None else found[(y[found[:, 0]] == y[found[:, 1]]) == same]

    hard = Clues(n, must=pairs(1, True), cannot=pairs(4, False))
    soft = Clues(
        n,
        must=pairs(5),
        cannot=pairs(5),
        cannot_weight=0.4,
        apart=rng.integers(-1, 2, size=n),
        together=rng.integers(-1, 2, size=n),
        apart_weight=0.3,
        together_weight=0.2,
    )
    nodes = contract(Rows(rng.normal(size=(n, 2))), hard, soft)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bonds_module, "LARGE", large)
        bonds = set_price(bonds_of(hard, soft, nodes.component[nodes.bound]), 1.2)
    mass = np.bincount(nodes.of_tied, minlength=nodes.rows.n)[nodes.bound].astype(float)
    valid = y[np.array([np.flatnonzero(hard.components == c)[0] for c in nodes.component[nodes.bound]], dtype=int)]
    return rng, rng.random((len(mass), k)) * 2, bonds, mass, valid.astype(np.int32)


def cheapest_of_all(costs, bonds, allowed=lambda labels: True):
    """Value of the best labels, by brute force."""
    m, k = costs.shape
    every = (np.array(labels, np.int32) for labels in itertools.product(range(k), repeat=m))
    return min((node_costs(costs, bonds, labels).sum() for labels in every if allowed(labels)), default=np.inf)


@settings(max_examples=20)
@given(st.integers(0, 2**16), st.sampled_from([2, 32]), st.integers(2, 3), st.booleans())
def test_settled_in_earnest_is_the_cheapest_of_all(seed, large, k, known):
    _, costs, bonds, _, valid = mixture(seed, k=k, large=large)
    least = cheapest_of_all(costs, bonds)
    found = settle(costs, bonds, valid if known else None, working_time() + 120, True)
    assert found.cost == pytest.approx(least)
    assert found.bound == pytest.approx(least, abs=1e-5)
    assert node_costs(costs, bonds, found.labels).sum() == pytest.approx(found.cost)
    quick = settle(costs, bonds, valid if known else None, working_time() + 120, False)
    assert quick.cost >= least - 1e-9
    assert quick.bound <= least + 1e-9
    if known:
        assert quick.cost <= node_costs(costs, bonds, valid).sum() + 1e-9


@settings(max_examples=15)
@given(st.integers(0, 2**16), st.integers(0, 3))
def test_filled_in_earnest_is_the_cheapest_of_all(seed, free):
    """Nodes of several rows, free rows, and bounds on sizes; one cluster may take little."""
    rng, costs, bonds, mass, _ = mixture(seed, n=6)
    k = costs.shape[1]
    rows = rng.random((free, k))
    total = mass.sum() + free
    upper = rng.integers(max(1, total // k), total + 1, size=k).astype(float)
    lower = np.minimum(rng.integers(0, 3, size=k), upper).astype(float)
    items = Items(costs, bonds, mass, rows)
    wide = filling._with_isolated(bonds, free)
    whole = np.vstack([costs, rows])

    def allowed(labels):
        load = np.bincount(labels, weights=np.append(mass, np.ones(free)), minlength=k)
        return bool(((load >= lower) & (load <= upper)).all())

    least = cheapest_of_all(whole, wide, allowed)
    if np.isinf(least):
        with pytest.raises(Infeasible, match="bounds on sizes together"):
            fill(items, Limits(lower, upper, None), None, working_time() + 120, True)
        return
    found = fill(items, Limits(lower, upper, None), None, working_time() + 120, True)
    both = np.concatenate([found.nodes, found.free])
    assert allowed(both)
    assert found.cost == pytest.approx(least)
    assert node_costs(whole, wide, both).sum() == pytest.approx(least)
    assert found.bound <= least + 1e-9
    again = fill(items, Limits(lower, upper, None), (found.nodes, found.free), working_time() + 120, False)
    assert again.cost == pytest.approx(least)


def big(seed, m=400, k=4, hard=150, soft=1500):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=m)

    def pairs(count):
        found = rng.integers(m, size=(count, 2))
        return found[found[:, 0] != found[:, 1]]

    forbidden, links = pairs(hard), pairs(soft)
    forbidden = forbidden[y[forbidden[:, 0]] != y[forbidden[:, 1]]]
    same = (y[links[:, 0]] == y[links[:, 1]]) ^ (rng.random(len(links)) < 0.2)
    made = bonds_of(Clues(m, cannot=forbidden), Clues(m, must=links[same], cannot=links[~same]), np.arange(m))
    costs = rng.random((m, k)) + 0.5 * (y[:, None] != np.arange(k))
    return costs, set_price(made, 0.3), y.astype(np.int32)


def test_large_parts_get_cheaper_with_effort_and_stay_valid():
    costs, bonds, y = big(0)
    before = node_costs(costs, bonds, y).sum()
    quick = settle(costs, bonds, y, working_time() + 120, False)
    thorough = settle(costs, bonds, quick.labels, working_time() + 120, True)
    assert before > quick.cost >= thorough.cost > thorough.bound
    assert thorough.bound > quick.bound
    assert not bonds.net.broken(thorough.labels).any()
    late = settle(costs, bonds, y, working_time() - 1, True)
    assert late.cost <= before
    first = settle(costs, bonds, None, working_time() + 120, False)
    assert not bonds.net.broken(first.labels).any()


def test_many_hard_links_in_passing():
    """More nodes than are settled exactly: greedy where that works, the known labels where it does not."""
    costs, bonds, y = big(1, k=3, hard=1500, soft=0)
    for known in (y, None):
        found = settle(costs, bonds, known, working_time() + 120, False)
        assert not bonds.net.broken(found.labels).any()
    exact = settle(costs, bonds, y, working_time() + 120, True)
    assert exact.cost <= settle(costs, bonds, y, working_time() + 120, False).cost + 1e-9
    assert exact.cost <= node_costs(costs, bonds, y).sum()


def test_programs_on_a_few_nodes_leave_a_local_optimum(monkeypatch):
    """With no shakes at all, reopening a part is what is left to improve it."""
    costs, bonds, y = big(2, m=120, soft=700)
    moves = Moves(costs, bonds, y, working_time() + 120)
    moves.descend()
    before = moves.cost
    monkeypatch.setattr(mixed, "WHOLE", 0)
    mixed._improve_large_parts(moves)
    assert moves.cost < before
    calm = Moves(costs, set_price(bonds, 0.0), costs.argmin(axis=1), working_time() + 120)
    assert mixed._improve_large_parts(calm) is None


def test_infeasible_says_which_nodes():
    triangle = Clues(5, cannot=[(1, 2), (2, 4), (1, 4)])
    bonds = bonds_of(triangle, Clues(5), np.arange(5))
    with pytest.raises(Infeasible) as error:
        settle(np.zeros((5, 2)), bonds, None, working_time() + 9, False)
    assert error.value.witness.nodes.tolist() == [1, 2, 4]
    assert soft_program.solve(np.full((1, 2), np.inf), _alone(1), None, working_time() + 9, 0.0).status == "infeasible"


def _alone(m):
    return bonds_of(Clues(m), Clues(m), np.arange(m))


def test_links_and_sizes_that_do_not_agree():
    """Three nodes of two rows each in two clusters of three rows."""
    items = Items(np.zeros((3, 2)), _alone(3), np.full(3, 2.0), np.zeros((0, 2)))
    limits = Limits(np.full(2, 3.0), np.full(2, 3.0), None)
    with pytest.raises(Infeasible, match="bounds on sizes together"):
        fill(items, limits, None, working_time() + 9, False)
    with pytest.raises(Undecided, match="found in time"):
        fill(items, limits, None, working_time() - 1, False)


def test_rows_of_unequal_weight_become_nodes():
    costs, free = np.array([[0.0, 1.0]]), np.array([[0.0, 5.0], [0.0, 1.0]])
    items = items_of(costs, _alone(1), np.array([2.0]), free, np.array([2.0, 1.5]))
    found = fill(items, Limits(np.zeros(2), np.full(2, 3.7), np.ones(3)), None, working_time() + 9, True)
    assert found.nodes.tolist() == [1, 0, 0] or found.nodes.tolist() == [0, 1, 1]
    assert found.cost == pytest.approx(1.0)
    assert limits_of(Clues(3), 2, Rows(np.eye(3))) is None
    assert limits_of(Clues(3, sizes=(1, 2)), 2, Rows(np.eye(3))).upper.tolist() == [2, 2]
    weighted = Clues(3, sizes=(1, 4), size_unit="weight")
    assert limits_of(weighted, 2, Rows(np.eye(3), np.array([1.0, 2, 3]))).mass.tolist() == [1, 2, 3]


def test_the_child_process_solves_programs_of_this_kind_too():
    _, costs, bonds, mass, _ = mixture(3)
    room = Room(mass, np.zeros(3), np.full(3, mass.sum()), 1.0)
    pairs, pull = soft_program._pairs(bonds)
    program = soft_program._build(costs, np.ones(costs.shape, bool), bonds, pairs, pull, room, 99.0)
    here = highs.solve_here(program, 20, 1e-9)
    child = highs.solve_in_child(program, 20, 1e-9, None)
    assert here.status == child.status == "optimal"
    for answer in (here, child):
        assert program.cost @ answer.x == pytest.approx(here.bound, abs=1e-6)
    bound, useful = highs.relax(program, 20.0)
    assert bound <= here.bound + 1e-9
    assert useful.any()


def test_room():
    room = Room(np.array([2.0, 1.0]), np.array([2.0, 2.0]), np.array([3.0, 4.0]), 2.0)
    assert room.holds(np.array([0, 1]))
    assert room.holds(np.array([1, 1]))
    assert not Room(np.array([2.0, 2.0]), np.zeros(2), np.array([3.0, 4.0]), 2.0).holds(np.array([0, 0]))
    assert not room._replace(loose=9.0).holds(np.array([0, 1]))
    assert room.without(np.array([0, 1]), np.array([1])).upper.tolist() == [1.0, 4.0]
