"""Cannot-links lifted to closures: weights add up as the pairs of rows would, and cliques are never written out."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given

from cluewise import Clues
from cluewise.centroid import _exclusions
from cluewise.centroid._exclusions import Ledger, degrees, exclusions_of, ledger_of, masses
from cluewise.core.assign import order_nodes
from cluewise.core.rows import Rows
from cluewise.core.views import contract
from strategies import PAIR_KINDS, cases


def written_out(clues, nodes):
    """Weights between nodes from all pairs of rows, one by one."""
    _, _, cannot, weight = clues.pairs(expand=True)
    full = np.zeros((nodes.rows.n, nodes.rows.n))
    for (i, j), w in zip(cannot, weight):
        a, b = nodes.of_row[[i, j]]
        full[a, b] += w
        full[b, a] += w
    return full


@given(cases(PAIR_KINDS, noise=0.1))
def test_shares_are_those_of_the_pairs(case):
    assume(not case.clues.contradictions)
    nodes = contract(Rows(case.X, case.rng.random(len(case.X))), case.clues)
    links = exclusions_of(case.clues, nodes)
    full = written_out(case.clues, nodes)
    np.testing.assert_array_equal(degrees(links), np.count_nonzero(full, axis=1))
    labels = case.rng.integers(-1, case.k, size=nodes.rows.n).astype(np.int32)
    mass = nodes.rows.weight
    violated = full * ((labels[:, None] == labels) & (labels >= 0))
    found = ledger_of(nodes, links, labels)
    np.testing.assert_array_equal(found.violated, np.count_nonzero(violated, axis=1))
    np.testing.assert_allclose(found.burden, violated @ mass)
    assert found.total(one=True) == pytest.approx((violated @ mass).sum())
    assert found.total(one=False) == pytest.approx((np.count_nonzero(violated, axis=1) * (violated @ mass)).sum())


def test_label_classes_weigh_as_their_pairs_of_rows():
    """Classes of 2 and 3 rows stand for 6 pairs; the link on top makes 7.5."""
    clues = Clues(6, labels=["a", "a", "b", "b", "b", None], cannot=[(0, 2)], cannot_weight=1.5)
    nodes = contract(Rows(np.zeros((6, 1))), clues)
    found = ledger_of(nodes, exclusions_of(clues, nodes), np.zeros(2, np.int32))
    assert found.violated.tolist() == [1, 1]
    assert found.burden.tolist() == [7.5 * 3, 7.5 * 2]


def test_clues_of_weight_zero_say_nothing():
    clues = Clues(5, cannot=[(0, 1), (1, 2)], cannot_weight=[0.0, 1.0], apart=[1, 1, 1, 2, 2], apart_weight=[0.0, 2.0])
    links = exclusions_of(clues, contract(Rows(np.zeros((5, 1))), clues))
    assert degrees(links).tolist() == [0, 1, 1, 1, 1]


def test_small_slices_change_nothing(monkeypatch):
    clues = Clues(40, apart=np.arange(40) % 3, cannot=[(0, 1), (1, 2)])
    nodes = contract(Rows(np.zeros((40, 1))), clues)
    links, labels = exclusions_of(clues, nodes), (np.arange(40) % 4).astype(np.int32)
    whole = degrees(links), ledger_of(nodes, links, labels)
    monkeypatch.setattr(_exclusions, "SLICE", 30)
    np.testing.assert_array_equal(degrees(links), whole[0])
    np.testing.assert_array_equal(ledger_of(nodes, links, labels).burden, whole[1].burden)


def test_a_large_group_takes_linear_memory():
    n = 3000
    clues = Clues(n, apart=np.zeros(n))
    nodes = contract(Rows(np.zeros((n, 1))), clues)
    labels = np.zeros(n, np.int32)
    ledger_of(nodes, exclusions_of(clues, nodes), labels)
    tracemalloc.start()
    try:
        found = ledger_of(nodes, exclusions_of(clues, nodes), labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found.violated == n - 1).all()
    assert peak < 100 * 8 * n  # 4.5 million pairs would take 36 MB


def test_a_copied_ledger_is_another_one():
    ledger = Ledger(np.array([1]), np.array([2.0]))
    ledger.copy().burden[0] = 7
    assert ledger.burden[0] == 2


def test_a_node_stands_where_its_first_row_stands():
    clues = Clues(6, must=[(0, 5), (1, 2)], cannot=[(0, 1), (3, 4)])
    nodes = contract(Rows(np.zeros((6, 1))), clues)
    rng = np.random.default_rng(0)
    assert nodes.of_row.tolist() == [0, 1, 1, 2, 3, 0]
    assert order_nodes("index", nodes, rng).tolist() == [0, 1, 2, 3]
    assert order_nodes([5, 4, 3, 2, 1, 0], nodes, rng).tolist() == [0, 3, 2, 1]
    assert sorted(order_nodes("random", nodes, rng)) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="permutation of the 6 row numbers"):
        order_nodes([0, 1], nodes, rng)


def test_loose_nodes_and_free_rows():
    """Rows 0 and 1 are joined only, row 2 is bound, row 4 free; masses are summed weights."""
    clues = Clues(5, must=[(0, 1)], cannot=[(2, 3)])
    rows = Rows(np.arange(5.0)[:, None], np.array([1.0, 3, 1, 2, 9]))
    nodes = contract(rows, clues)
    assert [nodes.loose.tolist(), nodes.bound.tolist(), nodes.tied.tolist()] == [[0], [1, 2], [0, 1, 2, 3]]
    assert masses(nodes).tolist() == [4, 1, 2]
    assert masses(contract(Rows(np.zeros((5, 1), np.float32)), clues)).dtype == np.float64
    np.testing.assert_allclose(nodes.rows.X[:, 0] + rows.shift[0], [0.75, 2, 3])
