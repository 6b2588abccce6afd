"""Reports: clues written out as pairs, in order, and beliefs about their noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from cluewise import Clues
from cluewise.mixture._tvclust.pair_evidence import Noise, gather_evidence, of_links, reliabilities
from strategies import PAIR_KINDS, cases


def test_reports_are_sorted_and_keep_both_sides_of_a_contradiction():
    clues = Clues(5, must=[(3, 1), (0, 4)], cannot=[(1, 3)], must_weight=[2.0, 1.0])
    pairs = gather_evidence(clues)
    assert len(pairs) == 3
    assert pairs.first.tolist() == [0, 1, 1]
    assert pairs.second.tolist() == [4, 3, 3]
    assert pairs.is_must.tolist() == [True, True, False]
    assert pairs.weight.tolist() == [1.0, 2.0, 1.0]
    assert pairs.indptr.tolist() == [0, 1, 3, 3, 5, 6]
    assert pairs.neighbor.tolist() == [4, 3, 3, 1, 1, 0]
    assert pairs.report.tolist() == [0, 1, 2, 1, 2, 0]


def test_no_clues_no_reports():
    pairs = gather_evidence(Clues(3))
    assert len(pairs) == 0
    assert pairs.indptr.tolist() == [0, 0, 0, 0]
    assert of_links(np.empty(0), pairs, Clues(3)).shape == (0,)


@given(cases(PAIR_KINDS, noise=0.3))
def test_values_find_their_links(case):
    """Whatever labels and groups add, the value of a link is that of its own report."""
    pairs = gather_evidence(case.clues)
    values = np.arange(len(pairs)) + 0.5
    mine = of_links(values, pairs, case.clues)
    told = {(a, b, m): v for a, b, m, v in zip(*(x.tolist() for x in pairs[:3]), values, strict=True)}
    links = [(*sorted(p), True) for p in case.clues.must.tolist()]
    links += [(*sorted(p), False) for p in case.clues.cannot.tolist()]
    assert mine.tolist() == [told[link] for link in links]


def test_counts_of_the_specification():
    """Example 1 of the sampler: z = [0, 0, 1, 1] has n_11 = 2, n_00 = 1 and no report that is wrong."""
    pairs = gather_evidence(Clues(4, must=[(0, 1), (2, 3)], cannot=[(1, 2)]))
    z = np.array([0, 0, 1, 1])
    assert Noise(0, 0, 0, 0).update(pairs, (z[pairs.first] == z[pairs.second]) * 1.0) == (2, 0, 1, 0)


counts = st.floats(0.5, 40)


@given(counts, counts, counts, counts)
def test_beliefs_are_those_of_scipy(a, b, c, e):
    noise, prior = Noise(a, b, c, e), Noise(10, 1, 3, 2)
    p, q = beta(a, b), beta(c, e)
    assert noise.means() == pytest.approx((p.mean(), q.mean()))
    assert noise.divergence(noise) == pytest.approx(0, abs=1e-9)
    assert noise.divergence(prior) >= -1e-9


def test_logarithms_and_divergence_by_integration():
    noise, prior = Noise(4, 2, 3, 5), Noise(10, 1, 3, 2)
    p, q = beta(4, 2), beta(3, 5)
    wanted = [p.expect(np.log), p.expect(lambda v: np.log(1 - v))]
    wanted += [q.expect(np.log), q.expect(lambda v: np.log(1 - v))]
    assert noise.logs() == pytest.approx(wanted, rel=1e-6)
    divergence = p.expect(lambda v: p.logpdf(v) - beta(10, 1).logpdf(v))
    divergence += q.expect(lambda v: q.logpdf(v) - beta(3, 2).logpdf(v))
    assert noise.divergence(prior) == pytest.approx(divergence, rel=1e-6)


def test_reliability_is_bayes_rule():
    """30 of 100 pairs are together; p = .8, q = .9: 24 right and 7 wrong must, 63 right and 6 wrong cannot."""
    must, cannot = reliabilities(np.array([0.8]), np.array([0.9]), np.array([0.3]))
    assert must == pytest.approx(24 / 31)
    assert cannot == pytest.approx(63 / 69)


def test_reliability_counts_the_reports_of_all_draws():
    """As likely: 90 of 100 pairs are together, p = .8, q = .5, or 10 of 100, p = .2, q = .9."""
    must, cannot = reliabilities(np.array([0.8, 0.2]), np.array([0.5, 0.9]), np.array([0.9, 0.1]))
    assert must == pytest.approx((72 + 2) / (72 + 2 + 5 + 9))
    assert cannot == pytest.approx((5 + 81) / (5 + 81 + 18 + 8))
