"""The ratio of constrained 1-spectral clustering: the worked example, and the ratio of a vector beside that of sets."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.spectral._one_spectral.cuts import Bisection, bisect, count_broken, rank, slope_of_balance, slope_of_links

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
NONE = np.empty((0, 2), dtype=np.int64)


def worked(must=(), cannot=(), price=0.0):
    """The eight rows of the worked example; must-links are priced like cannot-links."""
    weight = np.exp(-((A8[:, None] - A8) ** 2).sum(axis=2) / 2)
    np.fill_diagonal(weight, 0)
    weight[weight < 1e-6] = 0
    pairs = [np.array(links, dtype=np.int64).reshape(-1, 2) for links in (must, cannot)]
    return bisect(weight, weight.sum(axis=1), pairs[1], np.ones(len(cannot)), pairs[0], np.ones(len(must))).at(price)


def subsets(n):
    """Indicators of all sets with row 0 on side 0, the whole set left out."""
    return [np.array((0, *bits), dtype=float) for bits in product((0, 1), repeat=n - 1) if any(bits)]


def test_volumes():
    problem = worked()
    found = [1.395972, 1.282032, 1.357984, 1.072765, 1.354115, 1.00776, 1.064405, 0.47891]
    np.testing.assert_allclose(problem.volume, found, atol=2e-6)
    assert problem.volume.sum() == pytest.approx(9.013944, abs=2e-6)


@pytest.mark.parametrize(
    ("must", "cannot", "price", "ratio", "best", "broken", "second"),
    [
        ([], [], 0.0, 0.064333, "00001110", 0, 0.156145),
        ([], [(0, 3)], 0.5, 0.299746, "00001110", 1, 0.354981),
        ([], [(0, 3)], 5.0, 0.354981, "00011111", 0, 0.535214),
        ([(0, 7)], [(1, 3)], 0.05, 0.087874, "00001110", 1, 0.201326),
        ([(0, 7)], [(1, 3)], 5.0, 0.535214, "00011110", 0, 0.630801),
        ([(2, 6)], [(4, 5)], 5.0, 1.037905, "00010101", 0, 1.051420),
    ],
)
def test_worked_example(must, cannot, price, ratio, best, broken, second):
    problem = worked(must, cannot, price)
    every = sorted((rank(problem, side).ratio, tuple(side)) for side in subsets(8))
    assert len(every) == 127
    assert [every[0][0], every[1][0]] == pytest.approx([ratio, second], abs=2e-6)
    assert "".join(str(int(bit)) for bit in every[0][1]) == best
    assert count_broken(problem, np.array(every[0][1])) == broken


def test_ratio_of_a_vector():
    problem = worked([(0, 7)], [(1, 3)], 0.5)
    found = rank(problem, np.array([0.9, 0.7, 1.1, 0.2, -0.8, -1, -0.6, 0.1]))
    assert found.gap @ found.cost == pytest.approx(2.718857, abs=2e-6)
    assert found.gap @ found.balance == pytest.approx(3.963326, abs=2e-6)
    assert found.ratio == pytest.approx(0.686004, abs=2e-6)


def draw(rng, n):
    """A graph with links, all weights at random."""
    weight = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    some = rng.permutation(len(pairs))[: rng.integers(5)]
    kind = rng.random(len(some)) < 0.5
    q = rng.uniform(0.5, 2, size=len(some))
    return bisect(
        weight + weight.T, rng.uniform(0.5, 2, n), pairs[some[kind]], q[kind], pairs[some[~kind]], q[~kind]
    ).at(float(rng.choice([0.0, 0.3, 4.0])))


def plainly(problem: Bisection, f):
    """Numerator and denominator of the ratio, as they are written."""
    i, j, a, b = problem.heads, problem.tails, problem.first, problem.second
    variation = ((problem.weight + problem.price * problem.bond) * abs(f[i] - f[j])).sum()
    links = problem.link.sum() * np.ptp(f) - (problem.link * abs(f[a] - f[b])).sum()
    order = np.argsort(f, kind="stable")
    total, balance = problem.volume.sum(), 0.0
    for k in range(len(f) - 1):
        above = problem.volume[order[k + 1 :]].sum()
        balance += (f[order[k + 1]] - f[order[k]]) * above * (total - above) / total
    return variation + problem.price * links, balance


@given(st.integers(0, 2**16), st.integers(2, 9), st.booleans())
def test_rank_is_the_ratio_and_no_threshold_set_is_worse_than_all(seed, n, ties):
    rng = np.random.default_rng(seed)
    problem = draw(rng, n)
    f = rng.integers(3, size=n).astype(float) if ties else rng.normal(size=n)
    if np.ptp(f) == 0:
        f[0] += 1
    found = rank(problem, f)
    numerator, balance = plainly(problem, f)
    assert found.gap @ found.cost == pytest.approx(numerator, abs=1e-9)
    assert found.gap @ found.balance == pytest.approx(balance)
    side = found.best()
    assert set(side) == {0.0, 1.0}
    assert rank(problem, side).ratio <= found.ratio + 1e-9
    thresholds = [rank(problem, (f > value).astype(float)).ratio for value in np.unique(f)[:-1]]
    assert rank(problem, side).ratio == pytest.approx(min(thresholds))


@given(st.integers(0, 2**16), st.integers(2, 9))
def test_slopes_support_what_is_subtracted(seed, n):
    """⟨s, g⟩ ≤ V(g) and ⟨r, g⟩ ≤ the links that g parts, with equality at f."""
    rng = np.random.default_rng(seed)
    problem = draw(rng, n)
    f, g = rng.normal(size=(2, n))
    s, r = slope_of_balance(problem, rank(problem, f)), slope_of_links(problem, f)

    def parted(x):
        return problem.price * (problem.link * abs(x[problem.first] - x[problem.second])).sum()

    assert s @ f == pytest.approx(plainly(problem, f)[1])
    assert s @ g <= plainly(problem, g)[1] + 1e-9
    assert r @ f == pytest.approx(parted(f))
    assert r @ g <= parted(g) + 1e-9
    assert [s.sum(), r.sum()] == pytest.approx([0, 0], abs=1e-9)
