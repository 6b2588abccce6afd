"""Bonds say what broken links cost, whatever is hard, soft, a pair or a group."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.centroid._pccc import bonds as module
from cluewise.centroid._pccc.anchors import find_anchors, merge_nodes
from cluewise.centroid._pccc.bonds import bonds_of, find_parts, find_violated, fold, keep_hard, price_of, set_price
from cluewise.centroid._pccc.frustration import bound_frustration
from cluewise.centroid._pccc.mixed import _bound_pulls
from cluewise.centroid._pccc.moves import node_costs
from cluewise.core.rows import Rows
from cluewise.core.views import contract


def mixture(seed, n=8, k=3):
    """Hard and soft clues of every kind about n rows; the hard ones are satisfied by the returned labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)

    def pairs(count, same=None):
        found = rng.integers(n, size=(count, 2))
        found = found[found[:, 0] != found[:, 1]]
        return found if same is None else found[(y[found[:, 0]] == y[found[:, 1]]) == same]

    column = np.full(n, -1)
    for c in range(k):
        members = np.flatnonzero(y == c)[:1]
        column[members] = rng.integers(2)
    hard = Clues(n, must=pairs(3, True), cannot=pairs(3, False), apart=column if rng.random() < 0.5 else None)
    soft = Clues(
        n,
        must=pairs(4),
        cannot=pairs(4),
        must_weight=0.7,
        cannot_weight=rng.uniform(0.1, 2),
        together=rng.integers(-1, 2, size=n),
        apart=rng.integers(-1, 2, size=n),
        together_weight=0.3,
        apart_weight=0.6,
    )
    return rng, y, hard, soft


def price_by_pairs(soft, labels):
    must, must_weight, cannot, cannot_weight = soft.pairs(expand=True)
    broken = must_weight[labels[must[:, 0]] != labels[must[:, 1]]].sum()
    return broken + cannot_weight[labels[cannot[:, 0]] == labels[cannot[:, 1]]].sum()


def built(seed, large, monkeypatch, n=8, penalty=1.3):
    """Nodes, priced bonds, and a function from labels of bound nodes to labels of rows."""
    monkeypatch.setattr(module, "LARGE", large)
    rng, _, hard, soft = mixture(seed, n)
    nodes = contract(Rows(rng.normal(size=(n, 2))), hard, soft)
    made = set_price(bonds_of(hard, soft, nodes.component[nodes.bound]), penalty)
    every = np.zeros(len(nodes.component), np.int64)

    def of_rows(labels):
        every[nodes.bound] = labels
        return np.where(nodes.of_row >= 0, every[nodes.of_row], 0)

    return rng, hard, soft, nodes, made, of_rows


@pytest.fixture
def patch():
    with pytest.MonkeyPatch.context() as found:
        yield found


@given(st.integers(0, 2**16), st.sampled_from([2, 32]))
def test_the_price_is_that_of_the_pairs_one_by_one(seed, large):
    with pytest.MonkeyPatch.context() as patch:
        rng, hard, soft, nodes, made, of_rows = built(seed, large, patch)
        k = 3
        for labels in rng.integers(k, size=(20, len(nodes.bound))).astype(np.int32):
            rows = of_rows(labels)
            _, _, apart, _ = hard.pairs(expand=True)
            valid = not (rows[apart[:, 0]] == rows[apart[:, 1]]).any()
            expected = 1.3 * price_by_pairs(soft, rows) if valid else np.inf
            assert price_of(made, labels) == pytest.approx(expected)
            costs = rng.random((len(labels), k))
            total = node_costs(costs, made, labels).sum() + made.constant
            assert total == pytest.approx(costs[np.arange(len(labels)), labels].sum() + expected)
            if not find_violated(made, labels, k).any():
                assert expected == pytest.approx(made.constant + _bound_pulls(made))


@given(st.integers(0, 2**16), st.sampled_from([2, 32]))
def test_folding_keeps_differences_of_cost(seed, large):
    with pytest.MonkeyPatch.context() as patch:
        rng, _, _, nodes, made, _ = built(seed, large, patch)
        m, k = len(nodes.bound), 3
        costs = rng.random((m, k))
        old = rng.integers(k, size=m).astype(np.int32)
        some = np.flatnonzero(rng.random(m) < 0.5)
        if not len(some):
            return
        inner, bonds = fold(made, costs, old, some)
        base = None
        for labels in rng.integers(k, size=(6, len(some))).astype(np.int32):
            whole = old.copy()
            whole[some] = labels
            outside, inside = node_costs(costs, made, whole).sum(), node_costs(inner, bonds, labels).sum()
            if np.isfinite(outside):
                difference = outside - inside
                base = difference if base is None else base
                assert difference == pytest.approx(base)


@given(st.integers(0, 2**16), st.sampled_from([2, 32]))
def test_parts_are_what_links_and_groups_connect(seed, large):
    with pytest.MonkeyPatch.context() as patch:
        _, _, _, _, made, _ = built(seed, large, patch)
        expected = list(range(made.size))
        node = np.repeat(np.arange(made.size), np.diff(made.node_indptr))
        row = np.repeat(np.arange(made.size), np.diff(made.indptr))
        links = list(zip(row, made.indices))
        links += [
            (a, b) for g in np.unique(made.groups) for a in node[made.groups == g] for b in node[made.groups == g]
        ]
        for _ in range(made.size):
            for a, b in links:
                expected[a] = expected[b] = min(expected[a], expected[b])
        found = find_parts(made)
        for a, b in itertools.combinations(range(made.size), 2):
            assert (found[a] == found[b]) == (expected[a] == expected[b])


@given(st.integers(0, 2**16), st.integers(2, 3))
def test_frustration_is_a_lower_bound(seed, k):
    with pytest.MonkeyPatch.context() as patch:
        _, _, _, _, made, _ = built(seed, 32, patch, n=5)
        least = min(
            node_costs(np.zeros((made.size, k)), made, np.array(labels)).sum()
            for labels in itertools.product(range(k), repeat=made.size)
        )
        assert bound_frustration(made, k) <= least - _bound_pulls(made) + 1e-9


def test_frustration_adds_up_triangles_that_share_weight():
    soft = Clues(4, must=[(0, 1), (0, 2), (1, 3), (2, 3)], cannot=[(0, 3)], cannot_weight=1.5)
    assert bound_frustration(bonds_of(Clues(4), soft, np.arange(4)), 4) == 1.5
    three = Clues(3, cannot=[(0, 1), (0, 2), (1, 2)], cannot_weight=[1.0, 2.0, 3.0])
    assert bound_frustration(bonds_of(Clues(3), three, np.arange(3)), 2) == 1.0
    assert bound_frustration(bonds_of(Clues(3), three, np.arange(3)), 3) == 0.0
    many = keep_hard(bonds_of(Clues(1001), Clues(1001), np.arange(1001)).net)
    assert bound_frustration(many, 2) == 0.0


def test_no_price_leaves_the_hard_links():
    hard, soft = Clues(3, cannot=[(0, 1)]), Clues(3, must=[(0, 2)], apart=[0, 0, 0])
    made = bonds_of(hard, soft, np.arange(3))
    assert set_price(made, 0.0).pull.tolist() == [np.inf, np.inf]
    assert not set_price(made, 0.0).soft
    assert set_price(made, 2.0).soft
    assert price_of(set_price(made, 0.0), np.array([0, 1, 1])) == 0


def test_links_inside_a_node_are_a_constant():
    hard, soft = Clues(3, must=[(0, 1)]), Clues(3, must=[(0, 1)], cannot=[(0, 1)], cannot_weight=0.4)
    nodes = contract(Rows(np.eye(3)), hard, soft)
    made = bonds_of(hard, soft, nodes.component[nodes.bound])
    assert made.constant == pytest.approx(0.4)
    assert not len(made.indices)


def test_merging_follows_the_stronger_evidence():
    """0–1–2 attract each other, 2–3 too but 0 and 1 repel 3 more: two groups that repel each other."""
    soft = Clues(4, must=[(0, 1), (1, 2), (0, 2), (2, 3)], cannot=[(0, 3), (1, 3)], must_weight=[2, 2, 2, 1.5])
    group, pulls = merge_nodes(bonds_of(Clues(4), soft, np.arange(4)))
    assert group[0] == group[1] == group[2] != group[3]
    assert pulls[group[0]][group[3]] == pytest.approx(0.5)


def test_anchors_are_groups_that_clues_keep_apart(patch):
    X = np.array([[0.0], [1], [10], [11], [20], [30], [31], [32]])
    labels = Clues.from_labels([0, 0, 1, 1, 2, -1, -1, -1])
    three = Clues(8, together=[-1, -1, -1, -1, -1, 0, 0, 0])
    for hard, expected in ((labels, [0.5, 10.5, 20]), (three, [31]), (labels | three, [0.5, 10.5, 20]), (Clues(8), [])):
        rows = Rows(X)
        nodes = contract(rows, hard, Clues(8))
        nodes = nodes._replace(bound=np.arange(nodes.rows.n))
        made = bonds_of(hard, Clues(8), nodes.component)
        for pairs in (100_000, 0):
            patch.setattr("cluewise.centroid._pccc.anchors.PAIRS", pairs)
            assert (find_anchors(nodes, made, 3) + rows.shift).ravel().tolist() == expected
        assert len(find_anchors(nodes, made, 0)) == 0
