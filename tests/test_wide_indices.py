"""Sparse matrices with 64-bit indices, as graphs of neighbors and some files have them, are taken like any others."""

from __future__ import annotations

import io

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.cluster import DBSCAN
from sklearn.datasets import dump_svmlight_file, load_svmlight_file, make_blobs
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from cluewise import PCCC, Cluewise, Grains, PCKMeans
from cluewise.base import _input
from cluewise.density import ConstrainedDBSCAN
from cluewise.spectral import E2CP

X, Y = make_blobs(80, 3, centers=3, cluster_std=0.5, random_state=0)
NARROW = csr_array(np.where(np.abs(X) < 0.5, 0.0, X))


def widened(matrix, kind):
    """The same matrix with 64-bit indices."""
    wide = kind(matrix)
    if wide.format == "coo":
        wide.coords = tuple(part.astype(np.int64) for part in wide.coords)
        return wide
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return wide


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, coo_array, lambda m: csr_array(m).tocsc()])
@pytest.mark.parametrize("method", [PCKMeans(3), PCCC(3), Cluewise(3), ConstrainedDBSCAN(1.5)])
def test_labels_are_those_of_narrow_indices(method, kind):
    if "random_state" in method.get_params():
        method.set_params(random_state=0)
    wide = widened(NARROW, kind)
    labels = method.fit(wide).labels_
    np.testing.assert_array_equal(labels, method.fit(NARROW).labels_)
    parts = wide.coords if wide.format == "coo" else (wide.indices, wide.indptr)
    assert {part.dtype for part in parts} == {np.dtype(np.int64)}  # the caller's matrix stays as it is


def test_a_graph_of_neighbors():
    graph = radius_neighbors_graph(X, 1.0, mode="distance")
    graph.indices, graph.indptr = graph.indices.astype(np.int64), graph.indptr.astype(np.int64)
    ours = ConstrainedDBSCAN(1.0, metric="precomputed").fit(graph).labels_
    theirs = DBSCAN(eps=1.0, metric="precomputed").fit(graph).labels_
    np.testing.assert_array_equal(ours, theirs)


def test_a_graph_as_affinity():
    graph = kneighbors_graph(X, 8)
    graph = csr_array(graph + graph.T)
    narrow, wide = (E2CP(3, affinity="precomputed", random_state=0).fit(g) for g in (graph, widened(graph, csr_array)))
    np.testing.assert_array_equal(narrow.labels_, wide.labels_)


def test_a_file_of_svmlight():
    file = io.BytesIO()
    dump_svmlight_file(NARROW, Y, file)
    file.seek(0)
    rows, _ = load_svmlight_file(file)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    assert len(Grains(20, random_state=0).fit(rows).labels_) == len(Y)


def test_indices_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(_input, "_MOST_INDEX", 10)
    with pytest.raises(ValueError, match="indices"):
        PCKMeans(3).fit(widened(NARROW, csr_array))
