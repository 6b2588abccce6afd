"""Every kernel of `inference` does what its plain twin does: hard links, huge scores, one cluster, some nodes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import inference
from cluewise.mixture._loopy import select_nodes
from twins import inference as reference_inference

BOTH = (inference, reference_inference)


def frozen(*arrays):
    """Read-only copies: kernels must not write into their inputs."""
    copies = [np.array(a) for a in arrays]
    for copy in copies:
        copy.flags.writeable = False
    return copies


@st.composite
def networks(draw):
    """Links in CSR form, scores, and a range of nodes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16), label="seed"))
    m, k = draw(st.integers(2, 9), label="m"), draw(st.integers(1, 4), label="k")
    pairs = np.array([(a, b) for b in range(m) for a in range(b) if a == b - 1 or rng.random() < 0.4])
    weights = 2 * rng.normal(size=len(pairs))
    if draw(st.booleans(), label="hard") and k > 1:
        weights[rng.random(len(pairs)) < 0.3] = -np.inf
    if draw(st.booleans(), label="sure"):
        weights[rng.random(len(pairs)) < 0.3] = rng.choice([40.0, 2000.0])
    net = select_nodes(np.arange(m), np.zeros(m, dtype=int), pairs, weights)
    unary = draw(st.sampled_from([1.0, 500.0]), label="scale") * rng.normal(size=(m, k))
    start = draw(st.integers(0, m - 1), label="start")
    return net, unary, (start, draw(st.integers(start, m), label="stop")), rng


@given(networks())
def test_mean_field(case):
    net, unary, nodes, rng = case
    weights = np.maximum(net.weights, -8.0)
    links = frozen(net.indptr, net.neighbors, weights, unary)
    q = rng.dirichlet(np.ones(unary.shape[1]), size=len(unary))
    found = []
    for module in BOTH:
        mine = q.copy()
        found.append((module.mean_field(*links, mine, *nodes), mine))
    (one, p), (two, r) = found
    np.testing.assert_allclose(p, r, atol=1e-12)
    np.testing.assert_allclose(one, two, atol=1e-12)


@given(networks())
def test_pass_messages(case):
    net, unary, nodes, rng = case
    links = frozen(net.indptr, net.neighbors, net.back, net.weights, unary)
    messages = -rng.exponential(size=(len(net.neighbors), unary.shape[1]))
    found = []
    for module in BOTH:
        mine, change = messages.copy(), np.zeros(len(unary))
        module.pass_messages(*links, 0.5, mine, change, *nodes)
        found.append((mine, change))
    for one, two in zip(*found):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)


@given(networks())
def test_draw_labels(case):
    net, unary, nodes, rng = case
    unary = unary / np.abs(unary).max()  # no chance so small that the two may round it to different sides of a point
    weights = np.maximum(net.weights, -30.0)
    links = frozen(net.indptr, net.neighbors, weights, unary, rng.random(len(unary)))
    labels = rng.integers(unary.shape[1], size=len(unary)).astype(np.int32)
    found = []
    for module in BOTH:
        mine, seen = labels.copy(), np.zeros(unary.shape)
        module.draw_labels(*links, mine, seen, *nodes)
        found.append((mine, seen))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12)


@given(networks())
def test_a_point_beyond_all_chances_moves_nobody(case):
    net, unary, _, rng = case
    labels = rng.integers(unary.shape[1], size=len(unary)).astype(np.int32)
    weights = np.maximum(net.weights, -30.0)
    for module in BOTH:
        mine = labels.copy()
        points = np.full(len(unary), 2.0)
        module.draw_labels(
            net.indptr, net.neighbors, weights, unary, points, mine, np.zeros(unary.shape), 0, len(unary)
        )
        np.testing.assert_array_equal(mine, labels)


@given(networks(), st.booleans())
def test_improve_labels(case, ties):
    net, unary, nodes, rng = case
    if ties:
        unary = np.round(np.clip(unary, -1, 1))
    weights = np.round(net.weights) if ties else net.weights
    links = frozen(net.indptr, net.neighbors, weights, unary)
    labels = rng.integers(unary.shape[1], size=len(unary)).astype(np.int32)
    found = []
    for module in BOTH:
        mine = labels.copy()
        found.append((module.improve_labels(*links, mine, *nodes), mine))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_links_are_found_from_both_ends():
    pairs = np.array([(0, 1), (0, 2), (1, 2), (2, 3)])
    net = select_nodes(np.arange(4), np.zeros(4, dtype=int), pairs, np.arange(4.0))
    owners = net.owners
    np.testing.assert_array_equal(owners[net.back], net.neighbors)
    np.testing.assert_array_equal(net.neighbors[net.back], owners)
    np.testing.assert_array_equal(net.weights[net.back], net.weights)
    np.testing.assert_array_equal(net.back[net.back], np.arange(8))
