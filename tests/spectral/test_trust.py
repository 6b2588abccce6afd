"""Wrong links and labels are found out by what the graph and the others say, and nothing is where these say nothing."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import roc_auc_score

from cluewise import Clues
from cluewise.clues import Pairs
from cluewise.core.graphs.affinity import neighbor_affinity
from cluewise.spectral import _trust as trust
from cluewise.spectral._spreading import propagators
from cluewise.spectral._trust import balance, find_labels, trust_in


def judged(X, clues, alpha=0.9, sparse=False):
    """Links among tied rows, trust in them, and the tied rows."""
    links = clues.pairs(expand=True)
    tied, ends = np.unique(links.ends, return_inverse=True)
    ends, m = ends.reshape(-1, 2), len(links.must)
    G = propagators(neighbor_affinity(X, 10), tied, alpha)[tied]
    found = Pairs(ends[:m], links.must_weight, ends[m:], links.cannot_weight)
    return found, trust_in(found, csr_array(G) if sparse else G), tied


@pytest.fixture
def blobs():
    return make_blobs(240, centers=4, cluster_std=1.5, random_state=1)


@pytest.mark.parametrize(
    "told", [{"pairs": 120, "noise": 0.2}, {"pairs": 480, "noise": 0.2}, {"labels": 0.2, "label_noise": 0.2}]
)
def test_wrong_ones_are_found_out(blobs, told):
    X, y = blobs
    links, found, tied = judged(X, Clues.sample(y, random_state=0, **told))
    a, b = y[tied][links.ends].T
    right = (a == b) == links.is_must
    assert ((found >= 0) & (found <= 1)).all()
    assert roc_auc_score(right, found) > 0.85
    assert found[right].mean() > found[~right].mean() + 0.25


@pytest.mark.parametrize("told", [{"pairs": 120}, {"labels": 0.2}])
def test_right_ones_are_trusted(blobs, told):
    X, y = blobs
    assert judged(X, Clues.sample(y, random_state=0, **told))[1].mean() > 0.9


@pytest.mark.parametrize("told", [{"pairs": 120}, {"labels": 0.2}])
def test_a_graph_that_knows_nothing_accuses_nobody(told):
    rng = np.random.default_rng(0)
    clues = Clues.sample(rng.integers(2, size=200), random_state=0, **told)
    found = judged(rng.normal(size=(200, 8)), clues)[1]
    assert found.mean() > 0.6
    assert np.quantile(found, 0.05) > 0.3


def test_sparse_is_dense(blobs):
    X, y = blobs
    for told in ({"pairs": 120, "noise": 0.2}, {"labels": 0.1}):
        clues = Clues.sample(y, random_state=0, **told)
        np.testing.assert_allclose(judged(X, clues)[1], judged(X, clues, sparse=True)[1], rtol=1e-6)


def test_a_link_is_left_out_in_closed_form(blobs):
    """What the other links spread to the pair of a link, with a new propagation without it."""
    X, y = blobs
    links, _, tied = judged(X, Clues.sample(y, pairs=30, random_state=0))
    G = propagators(neighbor_affinity(X, 10), tied, 0.8)[tied]
    table = trust._table(links, links.is_must, len(tied))
    a, b = links.must.T
    F = trust._sandwich(G, table, a, b)
    np.testing.assert_allclose(F, (G @ table.toarray() @ G)[a, b])
    for h in range(len(links.must)):
        rest = links._replace(must=np.delete(links.must, h, 0), must_weight=np.delete(links.must_weight, h))
        without = G @ trust._table(rest, rest.is_must, len(tied)).toarray() @ G
        closed = F[h] - links.must_weight[h] * (G[a[h], a[h]] * G[b[h], b[h]] + G[a[h], b[h]] ** 2)
        assert closed == pytest.approx(without[a[h], b[h]])


def test_labels_are_found_in_their_links():
    y = np.arange(40) % 3
    shown = np.where(np.arange(40) % 2, y, -1)
    more = Clues(40, labels=shown, must=[(0, 2)], cannot=[(0, 4), (0, 1)]).pairs(expand=True)
    found = find_labels(more, 40)
    np.testing.assert_array_equal(found >= 0, shown >= 0)
    for label in range(3):
        assert len(set(found[shown == label])) == 1
    assert len(set(found[shown >= 0])) == 3
    assert (find_labels(Clues.sample(y, pairs=60, random_state=0).pairs(), 40) < 0).all()
    apart = Pairs(more.must[:-1], more.must_weight[:-1], more.cannot, more.cannot_weight)
    assert (find_labels(apart, 40) < 0).all()


def test_the_only_label_of_a_class_is_trusted(blobs):
    X, y = blobs
    shown = np.where(np.arange(240) % 6, -1, y)
    shown[1] = 9
    links, found, tied = judged(X, Clues(240, labels=shown))
    lone = (tied[links.ends] == 1).any(axis=1)
    assert found[lone].mean() > 0.8


def test_balance():
    one = Pairs(np.array([[0, 1]] * 30), np.ones(30), np.array([[0, 1]] * 90), np.ones(90))
    even = balance(one)
    ratio = even.must_weight[0] / even.cannot_weight[0]
    assert ratio == pytest.approx(np.sqrt(100 / 40))
    half = balance(Pairs(one.must, one.must_weight, one.must, one.must_weight))
    assert half.must_weight[0] == half.cannot_weight[0] == 1
