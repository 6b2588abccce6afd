"""Inference on networks of links: enumeration of all labels is the judge."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cluewise.mixture import _loopy
from cluewise.mixture._elimination import plan_elimination
from cluewise.mixture._inference import Couplings, decode, infer, plan
from cluewise.mixture._potts import exclude

NEVER = -np.inf


def enumerated(net, unary):
    """Marginals, log partition, best labels and their score, by listing all labels."""
    m, k = unary.shape
    table = np.array(list(itertools.product(range(k), repeat=m)))
    score = unary[np.arange(m), table].sum(axis=1)
    for (a, b), w in zip(net.ends, net.weights):
        score = score + np.where(table[:, a] == table[:, b], w, 0.0)
    top = score.max()
    weight = np.exp(score - top)
    marginals = np.array([[weight[table[:, i] == h].sum() for h in range(k)] for i in range(m)])
    return marginals / weight.sum(), top + np.log(weight.sum()), table[score.argmax()], top


def energy(net, unary, labels):
    same = labels[net.ends[:, 0]] == labels[net.ends[:, 1]]
    return unary[np.arange(len(labels)), labels].sum() + net.weights[same].sum()


def network(m, links):
    ends = np.array([pair for pair, _ in links], dtype=int).reshape(-1, 2)
    return Couplings(m, ends, np.array([w for _, w in links], dtype=float))


def cycle(m, weight):
    return network(m, [((i, (i + 1) % m), weight) for i in range(m)])


@st.composite
def networks(draw, tree=False, hard=True, max_nodes=7):
    """A network with scores; hard links agree with some labels, so that there is an answer."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16), label="seed"))
    k = draw(st.integers(1, 4), label="k")
    m = draw(st.integers(1, max_nodes if k < 4 else 6), label="m")
    scale = draw(st.sampled_from([0.5, 3.0, 400.0]), label="scale")
    pairs = list(itertools.combinations(range(m), 2))
    if tree:
        chosen = [(int(rng.integers(i)), i) for i in range(1, m) if rng.random() < 0.8]
    else:
        chosen = [pair for pair in pairs if rng.random() < draw(st.sampled_from([0.3, 0.6, 1.0]), label="density")]
    truth = rng.integers(k, size=m)
    links = [
        (pair, NEVER if hard and truth[pair[0]] != truth[pair[1]] and rng.random() < 0.6 else 2 * rng.normal())
        for pair in chosen
    ]
    return network(m, links), scale * rng.normal(size=(m, k))


@given(networks())
def test_exact_inference_is_enumeration(case):
    net, unary = case
    how = plan(net, unary.shape[1], "exact", 10**7)
    found = infer(how, unary)
    marginals, value, _, best = enumerated(net, unary)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-9)
    assert found.value == pytest.approx(value, rel=1e-12, abs=1e-9)
    assert set(found.method) <= {"exact"}
    labels = decode(how, unary, found.marginals)
    assert energy(net, unary, labels) == pytest.approx(best, rel=1e-12, abs=1e-9)


@given(networks(tree=True))
def test_belief_propagation_is_exact_on_trees(case):
    net, unary = case
    how = plan(net, unary.shape[1], "belief-propagation")
    found = infer(how, unary)
    marginals, value, _, _ = enumerated(net, unary)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-4)
    assert found.value == pytest.approx(value, rel=1e-6, abs=1e-4)


@given(networks(hard=False))
def test_mean_field_is_a_lower_bound(case):
    net, unary = case
    found = infer(plan(net, unary.shape[1], "mean-field"), unary)
    assert found.value <= enumerated(net, unary)[1] + 1e-9 * (1 + abs(found.value))
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1)


@given(networks())
def test_mean_field_bounds_the_network_with_the_stand_in(case):
    """Links of weight −∞ count as −8 there; the bound is one for that network."""
    net, unary = case
    softened = net._replace(weights=np.maximum(net.weights, _loopy.STAND_IN))
    found = infer(plan(net, unary.shape[1], "mean-field"), unary)
    assert found.value <= enumerated(softened, unary)[1] + 1e-9 * (1 + abs(found.value))


@given(networks(hard=False))
def test_mean_field_goes_on_from_where_it_was(case):
    net, unary = case
    how = plan(net, unary.shape[1], "mean-field")
    start = np.random.default_rng(0).dirichlet(np.ones(unary.shape[1]), size=net.size)
    assume(how.rest)
    ((_, rest),) = how.rest
    before = _loopy._bound(rest, unary[rest.nodes], start[rest.nodes]).sum()
    after = _loopy.mean_field(rest, unary[rest.nodes], start[rest.nodes])[1].sum()
    assert after >= before - 1e-9 * (1 + abs(before))


@given(networks())
def test_labels_never_break_a_hard_link(case):
    """However the marginals were approximated."""
    net, unary = case
    hard = net.ends[net.weights == NEVER]
    for method in ("belief-propagation", "mean-field"):
        how = plan(net, unary.shape[1], method)
        labels = decode(how, unary, infer(how, unary).marginals)
        assert (labels[hard[:, 0]] != labels[hard[:, 1]]).all()


@given(networks(max_nodes=5))
def test_approximations_sum_to_one(case):
    net, unary = case
    for method in ("belief-propagation", "mean-field", "gibbs"):
        found = infer(plan(net, unary.shape[1], method), unary, np.random.default_rng(0))
        assert np.isfinite(found.marginals).all()
        assert np.isfinite(found.value)
        np.testing.assert_allclose(found.marginals.sum(axis=1), 1)


MIXED = network(6, [((0, 1), 1.5), ((1, 2), NEVER), ((2, 3), -1.0), ((3, 0), 0.7), ((3, 4), NEVER), ((4, 5), 2.0)])


@pytest.mark.parametrize(
    ("net", "k"),
    [(MIXED, 3), (cycle(5, -1.0), 3), (network(2, [((0, 1), NEVER)]), 2), (cycle(6, NEVER), 2), (cycle(5, NEVER), 3)],
)
def test_gibbs_is_near_the_exact_marginals(net, k, monkeypatch):
    """2000 draws; neighboring ones depend on each other, so count them as 400: 5 · √(¼ / 400) = 0.125 at most.

    Two clusters and links of weight −∞ leave two ways to label a component, which no single node can change.
    """
    monkeypatch.setattr(_loopy, "DRAWS", 2000)
    unary = np.random.default_rng(3).normal(size=(net.size, k))
    found = infer(plan(net, k, "gibbs"), unary, np.random.default_rng(0))
    assert set(found.method) == {"gibbs"}
    marginals = enumerated(net, unary)[0]
    spread = np.sqrt(marginals * (1 - marginals) / 400)
    assert (np.abs(found.marginals - marginals) <= 5 * spread + 1e-12).all()


def test_gibbs_draws_what_the_generator_says():
    unary = np.random.default_rng(3).normal(size=(6, 3))
    how = plan(MIXED, 3, "gibbs")
    first, again, other = (infer(how, unary, np.random.default_rng(seed)).marginals for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_one_cannot_link_is_the_product_of_the_others():
    """Case 2 of section 6.1: p(y₁ = l) ∝ P_l (1 − Q_l), also where 1 − Q_l is far below rounding."""
    unary = np.array([[0.0, -50.0, -60.0], [0.0, -70.0, -55.0]])
    found = infer(plan(network(2, [((0, 1), NEVER)]), 3), unary)
    # Both in cluster 0 is forbidden; who leaves it is decided by exp(−50) (first to 1) against exp(−55) (second to 2).
    np.testing.assert_allclose(found.marginals[0, 0] / found.marginals[0, 1], np.exp(-55 + 50), rtol=1e-3)
    assert found.value == pytest.approx(-50 + np.log1p(np.exp(-5.0)), rel=1e-6)


def test_two_clusters_need_no_tables():
    """A component of hard links has two labelings however many cycles it has (case 3 of section 6.1)."""
    left, right = range(20), range(20, 40)
    net = network(40, [((a, b), NEVER) for a in left for b in right])
    unary = np.random.default_rng(0).normal(size=(40, 2))
    how = plan(net, 2, "auto", limit=8)
    assert not how.rest
    assert not how.tables
    one = unary[:20, 0].sum() + unary[20:, 1].sum()
    two = unary[:20, 1].sum() + unary[20:, 0].sum()
    found = infer(how, unary)
    assert found.value == pytest.approx(np.logaddexp(one, two))
    np.testing.assert_allclose(found.marginals[:20, 0], 1 / (1 + np.exp(two - one)))
    labels = decode(how, unary, found.marginals)
    assert energy(net, unary, labels) == pytest.approx(max(one, two))


def test_long_chain_against_transfer_matrices():
    m, k = 300, 3
    rng = np.random.default_rng(0)
    unary, weights = rng.normal(size=(m, k)), rng.normal(size=m - 1)
    net = network(m, [((i, i + 1), w) for i, w in enumerate(weights)])
    ahead = unary[0]
    for w, u in zip(weights, unary[1:]):
        ahead = u + np.logaddexp.reduce(ahead[:, None] + w * np.eye(k), axis=0)
    found = infer(plan(net, k), unary)
    assert found.value == pytest.approx(np.logaddexp.reduce(ahead), rel=1e-12)
    np.testing.assert_allclose(found.marginals[-1], np.exp(ahead - np.logaddexp.reduce(ahead)))
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1)


def test_what_was_used_is_said_per_component():
    rng = np.random.default_rng(1)
    clique = [((a, b), 0.3) for a, b in itertools.combinations(range(3, 12), 2)]
    triangle = [((a, b), NEVER) for a, b in itertools.combinations(range(12, 15), 2)]
    net = network(16, [((0, 1), NEVER), *clique, *triangle])
    unary = rng.normal(size=(16, 3))
    how = plan(net, 3, "auto", limit=100)
    found = infer(how, unary)
    of = dict(zip(how.component.tolist(), found.method[how.component].tolist()))
    assert of[how.component[0]] == of[how.component[2]] == of[how.component[12]] == "exact"
    assert of[how.component[5]] == "belief-propagation"
    exact = infer(plan(net, 3, "exact"), unary)
    np.testing.assert_allclose(found.marginals[:3], exact.marginals[:3])
    np.testing.assert_allclose(found.marginals[3:12], exact.marginals[3:12], atol=0.05)
    with pytest.raises(ValueError, match="exact_size=100 entries for 9 linked"):
        plan(net, 3, "exact", limit=100)


def test_mean_field_steps_in_where_belief_propagation_does_not_settle(monkeypatch):
    monkeypatch.setattr(_loopy, "SWEEPS", 3)
    unary = np.random.default_rng(1).normal(size=(10, 2))
    net = network(10, [((a, b), -3.0) for a, b in itertools.combinations(range(7), 2)] + [((8, 9), 0.1)])
    how = plan(net, 2, "auto", limit=4)
    found = infer(how, unary)
    assert found.method[how.component[0]] == "mean-field"
    only = infer(plan(net, 2, "mean-field"), unary)
    np.testing.assert_allclose(found.marginals[:7], only.marginals[:7])
    forced = infer(plan(net, 2, "belief-propagation"), unary)
    assert set(forced.method[how.sizes > 1]) == {"belief-propagation"}


def test_good_labels_are_improved_node_by_node():
    """Links decide against the scores of single nodes; no single change helps any more."""
    rng = np.random.default_rng(5)
    net = network(30, [((a, b), 2 * rng.normal()) for a, b in itertools.combinations(range(30), 2)])
    unary = rng.normal(size=(30, 4))
    how = plan(net, 4)
    assert how.rest
    labels = decode(how, unary, infer(how, unary).marginals)
    best = energy(net, unary, labels)
    for i, h in itertools.product(range(30), range(4)):
        other = labels.copy()
        other[i] = h
        assert energy(net, unary, other) <= best + 1e-9


def test_links_of_weight_zero_say_nothing():
    unary = np.random.default_rng(1).normal(size=(3, 2))
    found = infer(plan(network(3, [((0, 1), 0.0), ((1, 2), 0.0)]), 2), unary)
    assert len(found.method) == 3
    np.testing.assert_allclose(found.marginals, np.exp(unary) / np.exp(unary).sum(axis=1, keepdims=True))


def test_nothing_at_all():
    found = infer(plan(network(0, []), 3), np.empty((0, 3)))
    assert found.value == 0
    assert found.marginals.shape == (0, 3)


def test_one_cluster_has_one_labeling():
    net = network(3, [((0, 1), 1.5), ((1, 2), -2.0), ((0, 2), 0.25)])
    unary = np.array([[1.0], [2.0], [4.0]])
    for method in ("auto", "belief-propagation", "mean-field", "gibbs"):
        found = infer(plan(net, 1, method), unary, np.random.default_rng(0))
        np.testing.assert_allclose(found.marginals, 1)
        assert found.value == pytest.approx(6.75)


def test_no_table_has_more_axes_than_numpy_allows():
    ends = np.array(list(itertools.combinations(range(30), 2)))
    assert plan_elimination(np.arange(30), ends, np.ones(len(ends)), 1, 10**9) is None


@given(st.integers(0, 2**16), st.integers(1, 5))
def test_message_is_the_sum_over_the_other_end(seed, k):
    rng = np.random.default_rng(seed)
    score = rng.choice([1.0, 30.0]) * rng.normal(size=(4, k))
    weights = np.array([NEVER, 0.0, 2.0, -40.0])
    found = exclude(score, weights)
    for row, w, got in zip(score, weights, found):
        for h in range(k):
            want = np.logaddexp.reduce([row[g] + (w if g == h else 0.0) for g in range(k)])
            assert got[h] == pytest.approx(want, rel=1e-12, abs=1e-12)
