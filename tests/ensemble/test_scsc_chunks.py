"""SCSC on dask arrays: from the same partitions, all that it says about rows in memory."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import cluewise as cw
from cluewise import SCSC, Clues
from cluewise.ensemble import _chunks
from cluewise.exceptions import ClueError


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def make_rows(n=1200, d=25):
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=n)
    return 1.5 * rng.normal(size=(4, d))[y] + rng.normal(size=(n, d)), y


def in_chunks(X, *sizes):
    return da.from_array(X, chunks=((*sizes, len(X) - sum(sizes)), (1, X.shape[1] - 1)))


def compare(own, other):
    assert_array_equal(other.gamma_, own.gamma_)
    assert_array_equal(other.labels_.compute(), own.labels_)
    assert_array_equal(other.changed_, own.changed_)
    assert_array_equal(other.memberships().compute(), own.memberships())
    assert_array_equal(other.memberships([3, 900, 4]), own.memberships([3, 900, 4]))
    assert_allclose(other.margin_.compute(), own.margin_, atol=1e-6)
    assert_array_equal(other.trace_, own.trace_)
    assert other.broken_ == own.broken_
    assert (other.n_clusters_, other.objective_, other.n_iter_) == (own.n_clusters_, own.objective_, own.n_iter_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{}, {"update_rule": "exact"}, {"memory": "all"}], ids=str)
def test_all_is_as_in_memory(options, dtype):
    """Up to 100,000 rows the partitions are the same, so all else is, too."""
    X, y = make_rows()
    X, clues = X.astype(dtype), [Clues.sample(y, pairs=60, labels=10, random_state=seed) for seed in range(3)]
    chunked = in_chunks(X, 1, 0, 700)
    own, other = (SCSC(4, n_partitions=30, random_state=0, **options).fit(one, clues=clues[0]) for one in (X, chunked))
    assert other.labels_.chunks == other.margin_.chunks == ((1, 0, 700, 499),)
    compare(own, other)
    moved = 0
    for more in clues[1:]:
        compare(own.update(more), other.update(more))
        moved += len(own.changed_)
    assert moved
    assert own.broken_.kinds


def test_changes_are_counted_from_the_labels_that_were_read():
    X, y = make_rows()
    clues = [Clues.sample(y, pairs=60, random_state=seed) for seed in range(3)]
    models = [SCSC(4, n_partitions=30, update_rule="exact", random_state=0).fit(one) for one in (X, in_chunks(X, 500))]
    for model in models:
        model.update(clues[0]).update(clues[1])
    assert_array_equal(*(model.changed_ for model in models))
    for model in models:
        _ = model.labels_, model.update(clues[2])
    assert_array_equal(*(model.changed_ for model in models))
    assert len(models[0].changed_)


def test_many_rows_are_learned_from_a_sample(monkeypatch):
    monkeypatch.setattr(_chunks, "N_ROWS", 300)
    X, y = make_rows()
    clues = Clues.sample(y, pairs=100, random_state=0)
    first, second = (
        SCSC(4, n_partitions=60, random_state=0).fit(in_chunks(X, *sizes), clues=clues) for sizes in ((300, 300), (7,))
    )
    assert_array_equal(first.labels_.compute(), second.labels_.compute())  # chunks do not matter
    own = SCSC(4, n_partitions=60, random_state=0).fit(X, clues=clues)
    assert cw.metrics.ari(y, first.labels_.compute()) > 0.9 * cw.metrics.ari(y, own.labels_)


def test_no_clue_is_divided_by_chunks():
    """All links go across two chunks."""
    X, _ = make_rows()
    links = Clues(1200, must=np.column_stack([np.arange(50), np.arange(1150, 1200)]))
    own, other = (SCSC(4, n_partitions=20, random_state=0).fit(one).update(links) for one in (X, in_chunks(X, 600)))
    assert_array_equal(other.gamma_, own.gamma_)
    assert len(np.unique(own.gamma_)) > 1


def test_one_sentence_about_what_cannot_be(tmp_path):
    X, _ = make_rows(60)
    chunked = in_chunks(X, 30)
    with pytest.raises(ValueError, match="partitioner must be None if X is a dask array"):
        SCSC(2, partitioner=cw.ensemble.partitions).fit(chunked)
    with pytest.raises(ValueError, match="hard='kmeans' needs all memberships in memory; for a dask array"):
        SCSC(2, hard="kmeans").fit(chunked)
    with pytest.raises(ValueError, match="n_clusters=61 is larger than the number of rows, n_samples=60"):
        SCSC(61).fit(chunked)
    model = SCSC(2, n_partitions=5, random_state=0).fit(chunked)
    with pytest.raises(ClueError, match="the clues are for 59 rows, but X has 60"):
        model.update(Clues(59))
    for save in (model.save, lambda path: cw.save(model, path)):
        with pytest.raises(ValueError, match="an SCSC of a dask array cannot be saved"):
            save(tmp_path / "model")
