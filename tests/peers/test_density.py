"""What scikit-learn documents of its DBSCAN and HDBSCAN, asked of the constrained ones without clues."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors, radius_neighbors_graph

from cluewise.density import ConstrainedDBSCAN, ConstrainedHDBSCAN
from cluewise.metrics import ari

X, Y = make_blobs(240, 2, centers=4, cluster_std=0.6, random_state=1)


def as_graph(kind, mode):
    """Distances within a radius as scikit-learn makes them, with 64-bit indices."""
    if kind == "function":
        graph = radius_neighbors_graph(X, 0.9, mode=mode, include_self=False)
    else:
        graph = NearestNeighbors(radius=0.9).fit(X).radius_neighbors_graph(X, mode=mode)
    graph.indices, graph.indptr = graph.indices.astype(np.int64), graph.indptr.astype(np.int64)
    return graph


@pytest.mark.parametrize("kind", ["function", "estimator"])
@pytest.mark.parametrize("eps", [0.3, 0.6, 0.9])
def test_dbscan_of_a_graph_with_wide_indices(kind, eps):
    graph = as_graph(kind, "distance")
    ours = ConstrainedDBSCAN(eps, min_samples=6, metric="precomputed").fit(graph).labels_
    theirs = DBSCAN(eps=eps, min_samples=6).fit(X).labels_
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(ours, ConstrainedDBSCAN(eps, min_samples=6).fit(X).labels_)
    assert graph.indices.dtype == np.int64


def test_dbscan_of_sparse_rows_with_wide_indices():
    rows = csr_array(np.where(np.abs(X) < 1, 0.0, X))
    wide = rows.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    labels = [ConstrainedDBSCAN(0.7).fit(some).labels_ for some in (rows, wide, rows.toarray())]
    np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[0], labels[2])


def test_dbscan_without_neighbors_is_noise():
    assert (ConstrainedDBSCAN(1e-3, min_samples=2).fit(X).labels_ == -1).all()
    assert (ConstrainedDBSCAN(1e3, min_samples=2).fit(X).labels_ == 0).all()


def test_hdbscan_finds_the_groups():
    labels = ConstrainedHDBSCAN(10).fit(X).labels_
    assert len(set(labels) - {-1}) == 4
    assert ari(Y[labels >= 0], labels[labels >= 0]) > 0.95


@pytest.mark.parametrize("seed", range(20))
def test_hdbscan_with_a_single_cluster(seed):
    """One group: its dense rows are the cluster, the others noise; without the permission all rows are noise."""
    rows = np.random.default_rng(seed).normal(size=(100, 2))
    settings = {"min_cluster_size": 51, "min_samples": 1, "allow_single_cluster": True}
    theirs = HDBSCAN(copy=True, **settings).fit(rows).labels_
    ours = ConstrainedHDBSCAN(**settings).fit(rows).labels_
    assert set(ours) == {-1, 0}
    np.testing.assert_array_equal(ours, theirs)
    alone = ConstrainedHDBSCAN(**settings | {"allow_single_cluster": False}).fit(rows).labels_
    np.testing.assert_array_equal(alone, np.full(100, -1))


def test_hdbscan_prefers_several_clusters_where_there_are_some():
    ours = ConstrainedHDBSCAN(10, allow_single_cluster=True).fit(X).labels_
    np.testing.assert_array_equal(ours, ConstrainedHDBSCAN(10).fit(X).labels_)


def test_hdbscan_needs_as_many_rows_as_samples():
    for model in (HDBSCAN(min_cluster_size=3, min_samples=9, copy=True), ConstrainedHDBSCAN(3, min_samples=9)):
        with pytest.raises(ValueError, match="min_samples"):
            model.fit(X[:8])
