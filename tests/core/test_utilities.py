"""Utilities of consensus clustering: their definitions, written out independently."""

from math import inf, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from cluewise.core.partitions.utilities import NAMES, impurity, information, utility_of

ALL = [*NAMES, 5, 8]

PHI = {
    "category": lambda y: sum(v * v for v in y),
    "shannon": lambda y: sum(v * log2(v) for v in y if v > 0),
    "cosine": lambda y: sqrt(sum(v * v for v in y)),
    5: lambda y: sum(v**5 for v in y) ** 0.2,
    8: lambda y: sum(v**8 for v in y) ** 0.125,
}


def by_definition(name, table):
    """Σ_k p_k φ(P_k) − φ(P) of a contingency table, cell by cell."""
    phi, n = PHI[name], sum(map(sum, table))
    told = sum(sum(line) / n * phi([v / sum(line) for v in line]) for line in table if sum(line))
    return told - phi([sum(column) / n for column in zip(*table)])


tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 9), min_size=width, max_size=width), min_size=1, max_size=5).filter(
        lambda table: any(map(any, table))
    )
)


@pytest.mark.parametrize("name", ALL)
@given(tables)
def test_information_is_the_definition(name, table):
    utility, held = utility_of(name), np.array(table, dtype=float)
    found = information(utility, held)
    assert found == pytest.approx(by_definition(name, table), abs=1e-12)
    assert found >= -1e-12  # φ is convex
    overall = float(utility.value(held.sum(axis=0) / held.sum()))
    left = held.sum() * (utility.pure - overall - found)
    assert impurity(utility, held) == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize("name", ALL)
@given(st.lists(st.floats(0.05, 1), min_size=2, max_size=6))
def test_costs_are_bregman_divergences(name, raw):
    """φ(e_j) − φ(y) − (e_j − y)·∇φ(y), the slope taken by central differences."""
    y = np.array(raw) / sum(raw)
    costs = utility_of(name).costs(y[None])[0]
    for j, e in enumerate(np.eye(len(y))):
        h = 1e-5
        slope = (PHI[name](y + h * (e - y)) - PHI[name](y - h * (e - y))) / (2 * h)
        assert costs[j] == pytest.approx(PHI[name](e) - PHI[name](y) - slope, abs=1e-6)


@pytest.mark.parametrize("name", ALL)
@given(tables)
def test_members_pay_the_impurity(name, table):
    """Summed over the members of clusters, costs at their own frequencies are what the clusters fail to tell."""
    utility, held = utility_of(name), np.array([line for line in table if any(line)], dtype=float)
    shares = held / held.sum(axis=1, keepdims=True)
    assert (held * utility.costs(shares)).sum() == pytest.approx(impurity(utility, held), abs=1e-8)


def test_shannon_is_mutual_information_in_bits():
    rng = np.random.default_rng(0)
    a, b = rng.integers(3, size=50), rng.integers(4, size=50)
    held = np.zeros((3, 4))
    np.add.at(held, (a, b), 1)
    assert information(utility_of("shannon"), held) == pytest.approx(mutual_info_score(a, b) / np.log(2))


def test_a_label_that_a_cluster_does_not_know():
    pure = np.array([[1.0, 0.0]])
    assert utility_of("shannon").costs(pure).tolist() == [[0.0, 52.0]]
    assert utility_of("category").costs(pure).tolist() == [[0.0, 2.0]]
    assert utility_of("cosine").costs(pure).tolist() == [[0.0, 1.0]]
    assert utility_of(5).costs(pure).tolist() == [[0.0, 1.0]]


def test_the_norm_of_order_two_is_the_cosine():
    y = np.random.default_rng(0).dirichlet(np.ones(4), size=6)
    for a, b in ((utility_of(2), utility_of("cosine")),):
        assert a.value(y) == pytest.approx(b.value(y))
        assert a.costs(y) == pytest.approx(b.costs(y))


def test_high_orders_do_not_vanish():
    flat = np.full((1, 1000), 1e-3)
    assert utility_of(300).value(flat)[0] == pytest.approx(1e-3 * 1000 ** (1 / 300))
    assert np.isfinite(utility_of(300).costs(flat)).all()


def test_nothing_covered_tells_nothing():
    for name in ALL:
        assert information(utility_of(name), np.zeros((2, 3))) == 0
        assert impurity(utility_of(name), np.zeros((2, 3))) == 0


@pytest.mark.parametrize(
    ("given_", "message"),
    [("gini", "'gini' is not one of 'category'"), (1.0, "number above 1"), (inf, "finite number"), (0.5, "above 1")],
)
def test_other_utilities_are_refused(given_, message):
    with pytest.raises(ValueError, match=message):
        utility_of(given_)
