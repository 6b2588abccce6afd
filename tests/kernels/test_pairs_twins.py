"""Every kernel of `pairs` does what its plain twin does: ties, one cluster, links with two weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.centroid._linked import two_nearest
from cluewise.core.views import build_pair_graph
from cluewise.kernels import pairs
from twins import pairs as reference_pairs


class Drawn:
    """Whole numbers everywhere, so that ties are frequent and sums exact."""

    def __init__(self, seed, k, m):
        rng = self.rng = np.random.default_rng(seed)
        n = 9
        ends = np.sort([rng.choice(n, 2, replace=False) for _ in range(m)], axis=1)
        kind = rng.random(m) < 0.5
        again = ends[:2]  # told to be together and apart
        self.links = build_pair_graph(
            Clues(
                n,
                must=np.vstack([ends[kind], again]),
                cannot=np.vstack([ends[~kind], again]),
                must_weight=4.0 * rng.integers(1, 4, size=kind.sum() + len(again)),
                cannot_weight=2.0 * rng.integers(1, 4, size=(~kind).sum() + len(again)),
            )
        )
        t = len(self.links.rows)
        self.squared = 4.0 * rng.integers(0, 9, size=(t, k))
        self.alone = self.squared * rng.integers(0, 3, size=(t, 1)) / 2
        between = rng.integers(0, 6, size=(k, k)).astype(float)
        self.between = np.triu(between, 1) + np.triu(between, 1).T
        self.exits = rng.integers(0, 6, size=(t, k)).astype(float)
        self.labels = rng.integers(k, size=t).astype(np.int32)
        self.order = rng.permutation(len(self.links))
        self.of_links = self.links.ends, self.links.must, self.links.cannot


@st.composite
def draws(draw):
    return Drawn(draw(st.integers(0, 2**16)), draw(st.integers(1, 4)), draw(st.integers(1, 12)))


def both(name, inputs, *outputs):
    """Run kernel and twin on the same read-only input; what each wrote must be the same."""
    frozen = [np.array(a) for a in inputs]
    for copy in frozen:
        copy.flags.writeable = False
    found = []
    for module in (pairs, reference_pairs):
        out = [np.array(o) for o in outputs]
        assert getattr(module, name)(*frozen, *out) is None
        found.append(out)
    for fast, plain in zip(*found):
        np.testing.assert_allclose(fast, plain, rtol=1e-12, atol=1e-9)
    return found[0]


@given(draws())
def test_link_costs(case):
    both("link_costs", (*case.of_links, case.between, case.squared / 4, case.exits, case.labels), case.alone)


@given(draws(), st.booleans(), st.sampled_from([1.0, 50.0]))
def test_relax_links(case, reaching, stiffness):
    """Half the time without reach; with large unary costs most links are passed over."""
    reach = case.squared / 4 * reaching
    costs = stiffness * case.alone
    reference_pairs.link_costs(*case.of_links, case.between, reach, case.exits, case.labels, costs)
    graph = case.links.indptr, case.links.incident
    both(
        "relax_links",
        (case.order, *case.of_links, *graph, case.between, reach, case.exits),
        case.labels,
        costs,
    )


@given(draws())
def test_repair_all(case):
    exits = case.between.max(axis=1)
    both("repair_all", (case.order, *case.of_links, case.alone, case.between, exits), case.labels)


@given(draws(), st.sampled_from([1.0, 1 / 64]))
def test_repair_few(case, weight):
    """Light links are kept broken and charged."""
    ends, must, cannot = case.of_links
    near = two_nearest(case.squared)
    inputs = (case.order, ends, weight * must, weight * cannot, case.alone, case.squared, *near)
    both("repair_few", inputs, case.labels, np.zeros_like(case.squared))


def test_light_links_are_charged_to_both_sides():
    """ML (0, 1) kept: each end pulls the other's center by w/2; CL (2, 3) kept: the farther end pulls by its weight."""
    squared = np.array([[0.0, 9, 30], [9, 0, 30], [1, 5, 7], [2, 6, 5]])
    ends = np.array([[0, 1], [2, 3]], np.int32)
    labels, charges = squared.argmin(axis=1).astype(np.int32), np.zeros((4, 3))
    weights = np.array([0.5, 0]), np.array([0, 0.25])
    pairs.repair_few(np.arange(2), ends, *weights, squared / 2, squared, *two_nearest(squared), labels, charges)
    assert labels.tolist() == [0, 1, 0, 0]
    assert charges.tolist() == [[0, 0.25, 0], [0.25, 0, 0], [0, 0, 0], [0, 0, 0.25]]


@given(draws())
def test_two_nearest(case):
    both("two_nearest", (case.squared,), case.labels, case.labels)


@given(draws(), st.booleans())
def test_half_prices(case, weighted):
    which = np.flatnonzero(np.arange(len(case.squared)) % 3 > 0)
    weight = np.linspace(0, 2, len(which)) if weighted else np.empty(0)
    room = np.empty((len(which), case.squared.shape[1]))
    alone, reach, exits = both(
        "half_prices", (case.squared, *two_nearest(case.squared), weight, which), room, room, room
    )
    np.testing.assert_allclose(2 * reach, case.squared[which] / 2)
    if not weighted:
        np.testing.assert_allclose(alone, case.squared[which] / 2)
    assert (exits >= 0).all()


@given(draws())
def test_charge_rows(case):
    near = two_nearest(case.squared)
    both("charge_rows", (*case.of_links, case.squared, *near, case.labels), np.zeros_like(case.squared))


@given(draws())
def test_count_broken(case):
    k = len(case.between)
    split, joined = both("count_broken", (*case.of_links, case.labels), np.zeros((k, k)), np.zeros(k))
    first, second = case.labels[case.links.ends].T
    assert split.sum() == pytest.approx(case.links.must[first != second].sum())
    assert joined.sum() == pytest.approx(case.links.cannot[first == second].sum())
    assert not split.diagonal().any()
