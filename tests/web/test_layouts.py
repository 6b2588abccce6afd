"""Layouts of the map: at once, and those that come later."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from cluewise.tables import Table
from cluewise.web import _layouts
from cluewise.web._layouts import Layouts
from cluewise.workspace.data import Data


@pytest.fixture
def rows():
    """Four groups in three directions."""
    rng = np.random.default_rng(0)
    return 9 * np.vstack([np.zeros(3), np.eye(3)]).repeat(15, axis=0) + rng.normal(size=(60, 3))


@pytest.fixture
def make(rows):
    """Layouts of the rows, and what is announced."""

    def layouts(X=rows):
        said, came = [], threading.Event()

        def announce(layout):
            said.append(layout)
            came.set()

        data = Data(Table({"x": X[:, 0]}), None, ["x"], None, {}, ".")
        return Layouts(X, data, None, announce), said, came

    return layouts


@pytest.fixture
def umap(monkeypatch):
    """A stand-in for umap-learn: whatever `place` returns."""
    module = SimpleNamespace(place=lambda X: X[:, 1:3])
    module.UMAP = lambda random_state: SimpleNamespace(fit_transform=lambda X: module.place(X))
    monkeypatch.setattr(_layouts, "find_spec", lambda name: name == "umap")
    monkeypatch.setitem(sys.modules, "umap", module)
    return module


def test_t_sne_comes_later_and_keeps_neighbors(make, rows, monkeypatch):
    monkeypatch.setattr(_layouts, "find_spec", lambda name: None)
    layouts, said, came = make()
    assert "pca" in layouts
    assert came.wait(60)
    assert said == [{"id": "tsne", "title": "t-SNE", "ready": True}]
    assert layouts.list()[1] == said[0]
    assert layouts["tsne"].dtype == np.float32
    assert trustworthiness(rows, layouts["tsne"], n_neighbors=5) > 0.9


def test_umap_is_used_where_it_is_installed(make, rows, umap):
    go_on = threading.Event()
    umap.place = lambda X: go_on.wait(30) and X[:, 1:3]
    layouts, said, came = make()
    assert layouts.list()[1] == {"id": "umap", "title": "UMAP (being computed)", "ready": False}
    go_on.set()
    assert came.wait(30)
    assert said == [{"id": "umap", "title": "UMAP", "ready": True}]
    np.testing.assert_array_equal(layouts["umap"], rows[:, 1:3].astype(np.float32))


@pytest.mark.parametrize("place", [lambda X: 1 / 0, lambda X: np.full((len(X), 2), np.nan)])
def test_a_layout_that_fails_is_told_and_the_others_stay(make, umap, place):
    umap.place = place
    layouts, said, came = make()
    assert came.wait(30)
    assert said == [{"id": "umap", "title": "UMAP (did not work)", "ready": False}]
    assert "umap" not in layouts
    assert "pca" in layouts


def test_few_or_plane_or_too_many_rows_have_no_other_layout(make, rows, umap):
    for X in (rows[:10], rows[:, :2], np.zeros((_layouts.MOST["umap"] + 1, 3), dtype=np.float32)):
        assert [one["id"] for one in make(X)[0].list()] == ["pca"]
