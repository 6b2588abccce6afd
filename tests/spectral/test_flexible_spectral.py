"""Flexible constrained spectral clustering: scikit-learn's without clues, and what clues do to it."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.manifold import spectral_embedding

import cluewise as cw
from cluewise import Clues
from cluewise.core.graphs.affinity import neighbor_affinity
from cluewise.exceptions import Infeasible
from cluewise.spectral import _flexible
from cluewise.spectral._flexible import FlexibleSpectral

PATTERNS = ["clusterincluster", "corners", "crescentfullmoon", "gaussians", "halfkernel", "twospirals"]
SETS = {
    "blobs": (make_blobs(150, centers=4, random_state=3), 4),
    "moons": (make_moons(200, noise=0.05, random_state=0), 2),
    "circles": (make_circles(200, factor=0.4, noise=0.04, random_state=0), 2),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("weights", ["equal", "local"])
def test_without_clues_it_is_scikit_learns(name, weights):
    (X, _), k = SETS[name]
    graph = neighbor_affinity(X, 8, weights)
    theirs = SpectralClustering(k, affinity="precomputed", random_state=0).fit(graph.toarray())
    embedding = spectral_embedding(graph.toarray(), n_components=k, drop_first=False, random_state=0)
    for given in (graph.toarray(), graph):
        ours = FlexibleSpectral(k, affinity="precomputed", random_state=0).fit(given)
        assert cw.metrics.ari(theirs.labels_, ours.labels_) == 1
        scale = np.linalg.norm(embedding, axis=0) / np.linalg.norm(ours.embedding_, axis=0)
        np.testing.assert_allclose(np.abs(ours.embedding_ * scale), np.abs(embedding), atol=1e-6 * embedding.max())
    assert ours.threshold_ == 0
    name = "nearest_neighbors" if weights == "equal" else "local"
    own = FlexibleSpectral(k, affinity=name, n_neighbors=8, random_state=0).fit(X)
    assert (own.labels_ == ours.labels_).all()


def test_rbf_is_scikit_learns():
    (X, _), k = SETS["blobs"]
    theirs = SpectralClustering(k, affinity="rbf", gamma=0.5, random_state=0).fit(X)
    ours = FlexibleSpectral(k, affinity="rbf", gamma=0.5, random_state=0).fit(X)
    assert cw.metrics.ari(theirs.labels_, ours.labels_) == 1


def two_strands(n=20):
    """Two parallel strands: the cheap cut goes across both, the links say along."""
    x = np.arange(n) / 1.0
    X = np.vstack([np.column_stack([x, np.zeros(n)]), np.column_stack([x, np.full(n, 2.0)])])
    return X, np.repeat([0, 1], n)


def test_links_turn_the_cut():
    X, y = two_strands()
    plain = FlexibleSpectral(2, n_neighbors=4, random_state=0).fit(X)
    assert cw.metrics.ari(y, plain.labels_) < 0.1
    clues = Clues.sample(y, pairs=40, random_state=0)
    told = FlexibleSpectral(2, n_neighbors=4, random_state=0).fit(X, clues=clues)
    assert cw.metrics.ari(y, told.labels_) == 1
    assert not told.broken_.kinds
    # The cut costs more than the free one, which is why links were needed.
    assert told.costs_[0] > 0
    assert told.threshold_ > 0


def test_objective_is_the_spread_in_the_embedding():
    X, y = two_strands()
    model = FlexibleSpectral(2, random_state=0).fit(X, clues=Clues.sample(y, pairs=30, random_state=0))
    own = sum(
        ((part - part.mean(axis=0)) ** 2).sum() for part in (model.embedding_[model.labels_ == h] for h in (0, 1))
    )
    assert model.objective_ == pytest.approx(own, rel=1e-6)
    assert np.bincount(model.labels_).tolist() == sorted(np.bincount(model.labels_), reverse=True)


def test_only_relative_weights_matter():
    X, y = two_strands()
    clues = Clues.sample(y, pairs=30, random_state=0)
    strong = Clues(40, must=clues.must, cannot=clues.cannot, must_weight=7.0, cannot_weight=7.0)
    a, b = (FlexibleSpectral(2, random_state=0).fit(X, clues=c) for c in (clues, strong))
    np.testing.assert_allclose(np.abs(a.embedding_), np.abs(b.embedding_), atol=1e-8)
    assert b.threshold_ == pytest.approx(7 * a.threshold_)
    # Lies of little weight change little.
    lies = Clues(40, must=[(0, 20), (19, 39), (10, 30)], must_weight=1e-6)
    c = FlexibleSpectral(2, random_state=0).fit(X, clues=clues | lies)
    np.testing.assert_allclose(np.abs(a.embedding_), np.abs(c.embedding_), atol=1e-3)


def test_clues_that_cancel_are_none():
    X, _ = two_strands()
    both = Clues(40, must=[(0, 1)], cannot=[(0, 1)])
    a, b = FlexibleSpectral(3, random_state=0).fit(X), FlexibleSpectral(3, random_state=0).fit(X, clues=both)
    np.testing.assert_array_equal(a.embedding_, b.embedding_)


def test_a_level_that_nothing_reaches():
    X, y = two_strands()
    clues = Clues.sample(y, pairs=30, random_state=0)
    with pytest.raises(Infeasible, match=r"level=3: beta=\S+ must be below \S+\. Lower level") as caught:
        FlexibleSpectral(2, level=3.0).fit(X, clues=clues)
    assert caught.value.witness == clues


def test_all_eigenvectors(monkeypatch):
    X, y = two_strands()
    clues = Clues.sample(y, pairs=40, random_state=0)
    model = FlexibleSpectral(2, n_neighbors=4, n_components=None, random_state=0).fit(X, clues=clues)
    assert cw.metrics.ari(y, model.labels_) == 1
    monkeypatch.setattr(_flexible, "ALL", 10)
    with pytest.raises(ValueError, match="n_components=None computes all eigenvectors, for at most 10 rows; X has 40"):
        FlexibleSpectral(2, n_components=None).fit(X, clues=clues)


def test_a_graph_in_pieces():
    table = np.kron(np.eye(3), np.ones((4, 4)))
    clues = Clues(12, must=[(0, 4)], cannot=[(0, 8), (4, 8)])
    for given in (table, csr_array(table)):
        model = FlexibleSpectral(2, affinity="precomputed", random_state=0).fit(given, clues=clues)
        assert model.labels_.tolist() == [0] * 8 + [1] * 4
    alone = FlexibleSpectral(3, affinity="precomputed", random_state=0).fit(table)
    assert cw.metrics.ari(np.repeat([0, 1, 2], 4), alone.labels_) == 1


@pytest.mark.parametrize("affinity", ["local", "nearest_neighbors", "rbf"])
@pytest.mark.filterwarnings("ignore:only .* clusters have rows")
def test_degenerate_rows(affinity):
    def fit(X, k, clues=None):
        return FlexibleSpectral(k, affinity=affinity, random_state=0).fit(X, clues=clues)

    assert fit([[1.0, 2.0]], 1).labels_.tolist() == [0]
    assert fit(np.ones((8, 2)), 2, Clues(8, must=[(0, 1)], cannot=[(0, 2)])).labels_.shape == (8,)
    assert sorted(fit([[0.0], [1.0], [5.0]], 3, Clues(3, must=[(0, 1)])).labels_) == [0, 1, 2]
    assert set(fit(np.random.default_rng(0).normal(size=(9, 1)), 1, Clues(9, cannot=[(0, 1)])).labels_) == {0}
    copies = np.repeat([[0.0, 0.0], [9.0, 9.0]], 30, axis=0)
    assert cw.metrics.ari(np.repeat([0, 1], 30), fit(copies, 2).labels_) == 1
    with pytest.raises(ValueError, match="n_clusters=4 is larger than the number of rows"):
        fit(np.eye(3), 4)


def test_an_interrupted_fit_leaves_the_last_state():
    class Stop:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "iteration":
                raise KeyboardInterrupt

    X, _ = two_strands()
    model = FlexibleSpectral(3, random_state=0).set_callbacks(Stop())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.labels_.shape == (40,)

    class AtOnce(Stop):
        def on_fit_task_begin(self, estimator, context):
            if context.task_name == "start":
                raise KeyboardInterrupt

    model.set_callbacks(AtOnce())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert not hasattr(model, "labels_")


@pytest.mark.needs_data
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_with_one_percent_of_the_pairs(name):
    data = cw.datasets.load(f"synth_{name}")
    n, k = len(data.X), len(np.unique(data.y))
    clues = Clues.sample(data.y, pairs=n * (n - 1) // 200, random_state=0)
    model = FlexibleSpectral(k, random_state=0).fit(data.X, clues=clues)
    assert cw.metrics.ari(data.y, model.labels_) >= 0.95
