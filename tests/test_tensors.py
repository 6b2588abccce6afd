"""Rows as torch tensors, on the processor: what the same rows give as NumPy arrays, and on the device of X."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import KMeans

import cluewise as cw
from cluewise import Clues
from cluewise._extras import install
from cluewise.catalogue import clusterers
from cluewise.exceptions import ClueError

pytestmark = pytest.mark.needs_torch

CENTERS = {
    "SeededKMeans": ["labels"],
    "ConstrainedKMeans": ["labels"],
    "PartitionKMeans": ["labels", "partitions"],
    "PCKMeans": ["labels", "must", "cannot", "together"],
}
K = 5
SOURCE = Path(cw.__file__).parent


def make_blobs(n=1000, d=4, seed=0):
    """Overlapping blobs far from the origin."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    return 2 * rng.normal(size=(K, d))[y] + rng.normal(size=(n, d)) + 30, y


def make_clues(y, name="PCKMeans"):
    some = Clues.sample(y, pairs=120, labels=30, noise=0.1, random_state=0)
    partition = np.where(np.arange(len(y)) % 40 == 0, y % 3, -1)
    groups = np.where(np.arange(len(y)) % 50 < 2, np.arange(len(y)) // 50, -1)
    return (some | Clues(len(y), partitions=[partition], together=[groups])).only(CENTERS[name])


def as_tensor(X):
    import torch

    return torch.from_numpy(np.array(X))


def fit_both(model, X, clues):
    return [clone(model).fit(one, clues=clues) for one in (X, as_tensor(X))]


def is_on_device(found, like):
    import torch

    return isinstance(found, torch.Tensor) and found.device == like.device and len(found) == len(like)


@pytest.fixture
def small_blocks(monkeypatch):
    """Rows are worked on in many blocks, as if they were large."""
    from cluewise.gpu import rows, votes

    for module in (rows, votes):
        monkeypatch.setattr(module, "BLOCK_BYTES", {"cpu": 2**12})


# --- the same as in memory --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("d", [4, 20], ids=["differences", "products"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CENTERS)
def test_from_the_same_centers_all_is_as_in_memory(name, dtype, d):
    X, y = make_blobs(d=d)
    X = X.astype(dtype)
    own, other = fit_both(getattr(cw, name)(K, init=X[:K]), X, make_clues(y, name))
    assert_array_equal(other.labels_.numpy(), own.labels_)
    assert other.labels_.numpy().dtype == own.labels_.dtype
    assert other.broken_ == own.broken_
    assert (other.n_iter_, other.n_clusters_) == (own.n_iter_, own.n_clusters_)
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    assert_allclose(other.cluster_centers_, own.cluster_centers_, rtol=rtol)
    assert other.cluster_centers_.dtype == dtype
    assert_allclose(other.objective_, own.objective_, rtol=1e-6)
    assert_allclose(other.margin_.numpy(), own.margin_, atol=1e2 * rtol)
    assert vars(other).keys() == vars(own).keys()
    tensor = as_tensor(X)
    assert is_on_device(other.labels_, tensor)
    assert is_on_device(other.margin_, tensor)
    assert_array_equal(other.predict(tensor).numpy(), own.predict(X))
    assert_allclose(other.transform(tensor).numpy(), own.transform(X), atol=1e2 * rtol)
    assert_allclose(other.score(tensor), own.score(X), rtol=1e2 * rtol)


@pytest.mark.parametrize("name", CENTERS)
def test_empty_clusters_take_the_worst_rows_of_all(name):
    """Two centers are far from all rows."""
    X, y = make_blobs()
    model = getattr(cw, name)(K, init=np.vstack([X[: K - 2], X[:2] + 1e3]))
    own, other = fit_both(model, X, make_clues(y, name))
    assert_array_equal(other.labels_.numpy(), own.labels_)
    assert other.n_clusters_ == K


@pytest.mark.parametrize("clues", ["none", "all"])
def test_no_row_or_every_row_has_a_clue(clues):
    X, _ = make_blobs(200)
    known = None if clues == "none" else Clues(200, must=np.arange(200).reshape(-1, 2))
    own, other = fit_both(cw.PCKMeans(K, init=X[:K]), X, known)
    assert_array_equal(other.labels_.numpy(), own.labels_)


def test_starts_are_drawn_from_rows_and_do_not_change():
    """k-means‖ on the device: as good as k-means++, and the same whenever it is run."""
    X, y = make_blobs()
    clues = make_clues(y)
    own, other = fit_both(cw.PCKMeans(K, random_state=0), X, clues)
    again = cw.PCKMeans(K, random_state=0).fit(as_tensor(X), clues=clues)
    assert_array_equal(other.labels_, again.labels_)
    assert other.objective_ < 1.01 * own.objective_


def test_candidates_are_drawn_with_probability_proportional_to_their_squared_distance():
    import torch

    from cluewise.gpu.rows import race

    squared = torch.tensor([0.0, 1.0, 2.0, 5.0])
    first = [int(race(squared, seed, 1, 0)[1]) for seed in range(0, 4000 * 2**40, 2**40)]
    assert_allclose(np.bincount(first, minlength=4) / 4000, [0, 1 / 8, 2 / 8, 5 / 8], atol=0.025)
    keys, rows = race(squared, 7, 10, 0)
    assert sorted(rows.tolist()) == [1, 2, 3]
    assert (np.diff(keys) > 0).all()
    assert not np.array_equal(race(squared, 7, 10, 1000)[0], keys)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_grains(dtype, d):
    X = make_blobs(d=d)[0].astype(dtype)
    own, other = cw.Grains(50, random_state=0).fit(X), cw.Grains(50, random_state=0).fit(as_tensor(X))
    assert is_on_device(other.labels_, as_tensor(X))
    assert_array_equal(other.labels_.numpy(), own.labels_)
    assert_array_equal(other.sizes_, own.sizes_)
    for name in ("centers_", "codebook_", "scatter_"):
        assert_allclose(getattr(other, name), getattr(own, name), rtol=1e-12 if dtype == np.float64 else 1e-4)
        assert isinstance(getattr(other, name), np.ndarray)
    assert_array_equal(other.transform(as_tensor(X[:7])).numpy(), own.transform(X[:7]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_distinct_row_is_a_grain(dtype):
    rng = np.random.default_rng(0)
    X = rng.choice([-0.0, 0.0, 1.5, 1e-3], size=(3000, 3)).astype(dtype)
    own, other = cw.Grains().fit(X), cw.Grains().fit(as_tensor(X))
    assert_array_equal(other.labels_.numpy(), own.labels_)
    assert_array_equal(other.codebook_, own.codebook_)
    assert len(own.sizes_) == 27


def test_a_large_sample_is_searched_exactly():
    """In memory, rows of many may find their grains in two levels; on a device, each finds the nearest point."""
    rng = np.random.default_rng(0)
    X = 3 * rng.normal(size=(40, 12))[rng.integers(40, size=9000)] + 0.1 * rng.normal(size=(9000, 12))
    model = cw.Grains(100, random_state=0).fit(as_tensor(X))
    squared = ((X[:, None] - model.codebook_) ** 2).sum(axis=2)
    assert_array_equal(model.labels_.numpy(), squared.argmin(axis=1))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("method", ["PCKMeans", "COPKMeans"], ids=["soft", "hard"])
def test_grains_then(method):
    X, y = make_blobs()
    clues = Clues.sample(y, pairs=120, random_state=0)
    model = cw.Grains(40, random_state=0).then(getattr(cw, method)(K, random_state=0))
    own, other = fit_both(model, X, clues)
    assert len(own.part_sizes_) > 40  # clues have divided grains
    assert_array_equal(other.labels_.numpy(), own.labels_)
    assert_array_equal(other.parts_.numpy(), own.parts_)
    assert other.broken_ == own.broken_
    assert_array_equal(other.predict(as_tensor(X)).numpy(), own.predict(X))
    assert is_on_device(other.predict(as_tensor(X)), as_tensor(X))


@pytest.mark.parametrize("method", ["PCKMeans", "COPKMeans"], ids=["soft", "hard"])
def test_other_clues_with_the_same_grains(method):
    X, y = make_blobs()
    clues = [Clues.sample(y, pairs=count, random_state=count) for count in (30, 120)]
    model = cw.Grains(40, random_state=0).then(getattr(cw, method)(K, random_state=0))
    own, other = fit_both(model, X, clues[0])
    expected = own.refit(X, clues=clues[1])
    assert_array_equal(other.refit(as_tensor(X), clues=clues[1]).labels_.numpy(), expected.labels_)
    assert other.broken_ == expected.broken_
    assert_array_equal(other.refit(as_tensor(X)).labels_.numpy(), own.refit(X).labels_)
    with pytest.raises(ValueError, match="refit needs the 1000 rows of the last fit; X has 10"):
        other.refit(as_tensor(X[:10]))


@pytest.mark.parametrize("method", ["KCC", "PartitionKMeans"])
def test_grains_break_partitions(method):
    X, _ = make_blobs(600)
    rng = np.random.default_rng(0)
    partition = np.where(rng.random(600) < 0.3, rng.integers(2, size=600), -1)
    model = cw.Grains(40, random_state=0).then(getattr(cw, method)(K, random_state=0))
    own, other = fit_both(model, X, Clues(600, partitions=[partition]))
    assert "partitions" in own.broken_.kinds
    assert other.broken_ == own.broken_


CASES = {
    "rows are grains": (300, 2, np.float64),
    "references": (2000, 5, np.float32),
    "projected": (1700, 120, np.float64),
}


@pytest.mark.parametrize("case", CASES)
def test_cluewise(case):
    n, d, dtype = CASES[case]
    X, y = make_blobs(n, d)
    X = X.astype(dtype)
    clues = Clues.sample(y, pairs=100, labels=20, random_state=0)
    own, other = fit_both(cw.Cluewise(K, random_state=0), X, clues)
    tensor = as_tensor(X)
    assert_array_equal(other.labels_.numpy(), own.labels_)
    for name in ("labels_", "margin_", "label_doubt_"):
        assert is_on_device(getattr(other, name), tensor)
        assert str(getattr(other, name).dtype).endswith(str(getattr(own, name).dtype))
        assert getattr(other, name).is_contiguous()
    assert_allclose(other.margin_.numpy(), own.margin_, atol=1e-4)
    assert_allclose(other.label_doubt_.numpy(), own.label_doubt_, atol=1e-4)
    assert_allclose(other.doubt_, own.doubt_, atol=1e-4)
    assert other.broken_ == own.broken_
    assert vars(other).keys() == vars(own).keys()
    # The model is the same, wherever rows are.
    assert_allclose(other.predict_proba(tensor).numpy(), other.predict_proba(X), atol=1e-5)
    assert is_on_device(other.predict_proba(tensor), tensor)
    assert_array_equal(other.predict(tensor[:50]).numpy(), own.predict(X[:50]))


def test_cluewise_keeps_what_must_hold_and_refuses_what_needs_all_rows():
    X, y = make_blobs(400, 2)
    tensor, clues = as_tensor(X), Clues.sample(y, pairs=60, noise=0.2, random_state=0)
    clues = Clues(400, must=clues.must[:5], must_weight=np.inf) | clues
    model = cw.Cluewise(K, random_state=0).fit(tensor, clues=clues)
    labels = model.labels_.numpy()
    assert_array_equal(labels[clues.must[:5, 0]], labels[clues.must[:5, 1]])
    with pytest.raises(ClueError, match="cannot be kept if X is a dask array or a tensor"):
        cw.Cluewise(K).fit(tensor, clues=Clues(400, sizes=(10, 200)))
    with pytest.raises(ValueError, match="sample_weight is not used if X is a tensor"):
        cw.Cluewise(K).fit(tensor, sample_weight=np.ones(400))


def test_more_clues_about_the_same_rows(tmp_path):
    X, y = make_blobs(1600, 3)
    clues = [Clues.sample(y, pairs=40, random_state=seed) for seed in range(3)]
    own, other = fit_both(cw.Cluewise(K, random_state=0), X, clues[0])
    for model in (own, other):
        model.update(clues[1])
    assert_array_equal(other.labels_.numpy(), own.labels_)
    assert is_on_device(other.labels_, as_tensor(X))
    cw.save(other, tmp_path / "model.cw")
    loaded = cw.load(tmp_path / "model.cw")
    with pytest.raises(cw.exceptions.OtherRows, match="differs from that of the fit"):
        loaded.resume(as_tensor(X[::-1].copy()))
    loaded.resume(as_tensor(X)).update(clues[2])
    assert_array_equal(loaded.labels_.numpy(), own.update(clues[2]).labels_)


def test_a_learned_metric():
    X, y = make_blobs(300)
    clues = Clues(300, together=[np.where(np.arange(300) < 60, y, -1)])
    own, other = fit_both(cw.RCA(), X, clues)
    assert_allclose(other.components_, own.components_, rtol=1e-9)
    assert_allclose(other.transform(as_tensor(X)).numpy(), own.transform(X), rtol=1e-9)
    then = cw.RCA().then(cw.PCKMeans(K, random_state=0)).fit(as_tensor(X), clues=clues)
    assert is_on_device(then.labels_, as_tensor(X))
    with pytest.raises(TypeError, match="KMeans would bring all of X, a tensor, into memory"):
        cw.RCA().then(KMeans(K)).fit(as_tensor(X), clues=clues)


def test_saved_models_leave_out_what_is_on_the_device(tmp_path):
    X = as_tensor(make_blobs(300)[0])
    for model in (cw.PCKMeans(K, random_state=0), cw.Grains(30, random_state=0).then(cw.PCKMeans(K, random_state=0))):
        cw.save(model.fit(X), tmp_path / "model.cw")
        loaded = cw.load(tmp_path / "model.cw")
        assert not hasattr(loaded, "labels_")
        assert_array_equal(loaded.predict(X), model.predict(X))
    for rows in (X, X.numpy()):
        with pytest.raises(ValueError, match="a model that was loaded has no rows to refit; fit it first"):
            loaded.refit(rows)


def test_what_needs_rows_in_memory_says_so():
    X = as_tensor(make_blobs(30)[0])
    with pytest.raises(ValueError, match="sample_weight is not used if X is a tensor"):
        cw.PCKMeans(2).fit(X, sample_weight=np.ones(30))
    clues = Clues(30, must=[(0, 1)])
    for call in (cw.suggest, cw.propagate):
        with pytest.raises(TypeError, match="does not take dask arrays and tensors"):
            call(X, clues)
    rows = cw.Rows().fit(X.numpy())
    for use in (cw.Rows().fit, cw.Rows().fit_transform, rows.transform):
        with pytest.raises(TypeError, match="Rows does not take tensors; pass X as a NumPy array"):
            use(X)
    with pytest.raises(TypeError, match="fit takes dask arrays and tensors"):
        cw.Grains().partial_fit(X)
    model = cw.Grains().then(cw.PCKMeans(2, random_state=0)).fit(X)
    with pytest.raises(TypeError, match="refit needs the X of the last fit: an array in memory"):
        model.refit(X.numpy())
    with pytest.raises(TypeError, match="categorical_features must be None if X is a dask array or a tensor"):
        cw.PartitionKMeans(2, categorical_features=[0]).fit(X)


def test_rows_with_few_points_around_repeat_the_nearest():
    """As the compiled search does; here some cells have one point, and there are fewer than are wanted."""
    from cluewise.gpu.neighbors import Around, nearest_listed
    from cluewise.gpu.rows import DeviceRows
    from cluewise.kernels import neighbors

    rng = np.random.default_rng(0)
    points, centers = rng.normal(size=(9, 2)), rng.normal(size=(3, 2))
    first, listed = np.array([0, 1, 2, 9]), np.array([[0, 1], [1, 2], [2, 0]], dtype=np.int32)
    X, own = rng.normal(size=(60, 2)), rng.integers(3, size=60).astype(np.int32)
    for visits in (1, 2):
        near, squared = np.empty((60, 4), dtype=np.int32), np.empty((60, 4))
        neighbors.nearest_listed(X, own, centers, listed, first, np.ascontiguousarray(points.T), visits, near, squared)
        around = Around(centers, listed, first, points, visits)
        found = nearest_listed(DeviceRows(as_tensor(X), np.zeros(2)), as_tensor(own), around, 4)
        assert_array_equal(found[0].numpy(), near)
        assert_allclose(found[1].numpy(), squared, rtol=1e-12)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("clusters", [None, 4], ids=["all", "fewer"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_votes_of_partitions(dtype, clusters):
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=600)
    noisy = [np.where(rng.random(600) < 0.6, y, rng.integers(4, size=600)) for _ in range(12)]
    labels = np.array([rng.permutation(4 + k % 3 // 2)[line] for k, line in enumerate(noisy)]).astype(dtype)
    clues = Clues.sample(y, pairs=40, random_state=0)
    for rule in ("relaxed", "exact"):
        models = [cw.SCSC.from_partitions(L, clusters, update_rule=rule) for L in (labels, as_tensor(labels))]
        for step in range(3):
            own, other = models
            assert_allclose(other.gamma_, own.gamma_)
            assert_array_equal(other.labels_.numpy(), own.labels_)
            assert_array_equal(other.changed_, own.changed_)
            assert_allclose(other.margin_.numpy(), own.margin_)
            assert_allclose(other.memberships().numpy(), own.memberships())
            assert_allclose(other.memberships([3, 5]).numpy(), own.memberships([3, 5]))
            assert (other.n_clusters_, other.broken_) == (own.n_clusters_, own.broken_)
            for model in models:
                model.update(Clues(600, must=clues.must[step::3], cannot=clues.cannot[step::3]))
    assert is_on_device(other.labels_, as_tensor(y))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_partitions_of_rows_on_a_device(dtype):
    X, y = make_blobs(600, 6)
    clues = Clues.sample(y, pairs=40, random_state=0)
    own, other = fit_both(cw.SCSC(K, n_partitions=15, random_state=0), X.astype(dtype), clues)
    assert_array_equal(other.labels_.numpy(), own.labels_)
    assert_allclose(other.gamma_, own.gamma_)
    assert is_on_device(other.labels_, as_tensor(X))
    for options, message in (
        ({"hard": "kmeans"}, "it is 'rounding'"),
        ({"partitioner": min}, "must be None"),
    ):
        with pytest.raises(ValueError, match=message):
            cw.SCSC(K, **options).fit(as_tensor(X))


def test_partitions_that_cannot_vote(tmp_path):
    import torch

    labels = torch.tensor([[0, 0, 1], [0, 1, 1]])
    for given, message in (
        (labels.float(), "as integers from 0, but they are torch.float32"),
        (labels[0], r"shape \(m, n\), but the shape is \(3,\)"),
        (labels - 1, r"partition 0 has no label for row 0 \(-1\)"),
    ):
        with pytest.raises(ValueError, match=message):
            cw.SCSC.from_partitions(given)
    with pytest.raises(ValueError, match="every partition has more than n_clusters=1 labels"):
        cw.SCSC.from_partitions(labels, 1)
    with pytest.raises(ValueError, match="hard='kmeans' needs partitions in memory"):
        cw.SCSC.from_partitions(labels, hard="kmeans")
    with pytest.raises(ValueError, match="whose partitions are a tensor cannot be saved"):
        cw.SCSC.from_partitions(labels).save(tmp_path / "model")


# --- what tensors may be ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "int64", "uint8"])
def test_other_numbers_count_as_the_same_in_full_precision(kind):
    import torch

    X = as_tensor(10 * make_blobs(400)[0] - 250).to(getattr(torch, kind))
    full = X.to(torch.float32 if X.is_floating_point() else torch.float64)
    one, two = (cw.PCKMeans(K, init=full[:K].numpy()).fit(rows) for rows in (X, full))
    assert_array_equal(one.labels_, two.labels_)
    assert one.cluster_centers_.dtype == full.numpy().dtype
    assert_allclose(one.cluster_centers_, two.cluster_centers_)
    grains, others = (cw.Grains(30, random_state=0).fit(rows) for rows in (X, full))
    if X.itemsize == 2:  # the points have the precision of the rows
        assert_array_equal(grains.codebook_, as_tensor(grains.codebook_).to(X.dtype).float())
        squared = ((full.numpy()[:, None] - grains.codebook_) ** 2).sum(axis=2)
        assert_array_equal(grains.labels_, squared.argmin(axis=1))
        assert cw.metrics.ari(grains.labels_, others.labels_) > 0.9
    else:
        assert_array_equal(grains.labels_, others.labels_)
        one, two = (cw.Cluewise(K, random_state=0).fit(rows) for rows in (X, full))
        assert_array_equal(one.labels_, two.labels_)
        assert_array_equal(one.label_doubt_, two.label_doubt_)


def test_gradients_and_strides_do_not_matter():
    import torch

    X = as_tensor(make_blobs(300)[0])
    model = cw.PCKMeans(K, init=X[:K].numpy()).fit(X)
    wide = torch.cat([X, X], dim=1).T.contiguous().T[:, :4]
    assert not wide.is_contiguous()
    for other in (X.clone().requires_grad_(), wide, wide.flip(0)):
        found = clone(model).fit(other)
        assert not found.labels_.requires_grad
        assert_array_equal(found.labels_ if other is not None else None, found.predict(other))
        assert np.isclose(found.objective_, model.objective_)


def test_bad_numbers_are_named():
    X = as_tensor(make_blobs(300)[0])
    model = cw.PCKMeans(K, random_state=0).fit(X)
    X[250, 2] = np.nan
    X[270, 0] = -np.inf
    for call in (cw.Cluewise(2).fit, cw.Grains().fit, model.fit, cw.Grains().then(model).fit, clone(model).fit):
        with pytest.raises(ValueError, match=r"NaN in row 250, column 2; cells that are not finite numbers: 2\."):
            call(X)
    model = cw.PCKMeans(K, random_state=0).fit(X[:200])
    with pytest.raises(ValueError, match=r"infinity \(inf\) in row 0, column 0"):
        model.predict(X[270:])


def test_what_cannot_be_rows():
    import torch

    for X, message in {
        (0, 3): "X has 0 rows; at least one row",
        (5, 0): "X has 0 columns",
        (5,): "two dimensions, rows and columns; it has 1",
        (5, 2, 2): "it has 3",
    }.items():
        with pytest.raises(ValueError, match=message):
            cw.PCKMeans(2).fit(torch.ones(message if isinstance(X, str) else X))
    for X in (torch.ones(5, 2).to_sparse(), torch.ones(5, 2, dtype=torch.complex64)):
        with pytest.raises(TypeError, match="dense tensor of real numbers"):
            cw.Grains().fit(X)
    with pytest.raises(TypeError, match="X is on the device meta; move it"):
        cw.Grains().fit(torch.ones(5, 2, device="meta"))
    with pytest.raises(ValueError, match="squares of numbers beyond"):
        cw.Grains().fit(torch.full((5, 2), 1e30))
    model = cw.PCKMeans(2, random_state=0).fit(torch.arange(10.0)[:, None])
    assert model.predict(torch.ones(0, 1)).shape == (0,)
    assert model.transform(torch.ones(0, 1)).shape == (0, 2)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(torch.ones(3, 2))


def test_other_methods_refuse_tensors_and_name_one_that_does_not():
    X = as_tensor(make_blobs(60)[0])
    refused = [cls for cls in clusterers().values() if not cls.card.chunks and cls.card.reads]
    assert len(refused) > 20
    for cls in refused:
        name = cls.__name__
        with pytest.raises(TypeError, match=rf"{name} does not take tensors; .* Grains\(\)\.then\({name}\(\.\.\.\)\)"):
            cls().fit(X)


# --- arrays of other libraries ----------------------------------------------------------------------------------


class Foreign:
    """An array that offers nothing but DLPack and a namespace, as those of CuPy and JAX do."""

    def __init__(self, values):
        self._values = values
        self.ndim, self.shape = values.ndim, values.shape

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()

    def __array_namespace__(self, api_version=None):
        return sys.modules[__name__]


class NoNamespace(Foreign):
    __array_namespace__ = property()  # as in older versions of CuPy: `hasattr` is false


def from_dlpack(found):
    return Foreign(np.from_dlpack(found))


@pytest.mark.parametrize("kind", [Foreign, NoNamespace])
def test_results_are_of_the_kind_that_came_in(kind, monkeypatch):
    monkeypatch.setattr(Foreign, "__module__", __name__)
    monkeypatch.setitem(sys.modules, Foreign.__module__.partition(".")[0], sys.modules[__name__])
    X, y = make_blobs(400, 2)
    clues = make_clues(y)
    own, other = (cw.PCKMeans(K, init=X[:K]).fit(one, clues=clues) for one in (X, kind(X)))
    for found, wanted in (
        (other.labels_, own.labels_),
        (other.predict(kind(X)), own.predict(X)),
        (other.transform(kind(X)), own.transform(X)),
        (cw.Grains(30, random_state=0).fit_transform(kind(X)), cw.Grains(30, random_state=0).fit_transform(X)),
        (cw.Cluewise(K, random_state=0).fit(kind(X)).labels_, cw.Cluewise(K, random_state=0).fit(X).labels_),
    ):
        assert type(found) is Foreign
        assert_allclose(found._values, wanted, rtol=1e-9)
    with pytest.raises(TypeError, match="does not take tensors"):
        cw.COPKMeans(2).fit(kind(X))


# --- NumPy arrays on a device -----------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [2**40, 2**16], ids=["all at once", "in parts"])
def test_a_device_for_numpy_arrays(room, monkeypatch, caplog):
    """Results are NumPy arrays, those of tensors, and rows that do not fit are moved in parts."""
    from cluewise.gpu import arrays

    monkeypatch.setattr(arrays, "find_room", lambda device: room)
    X, y = make_blobs(1700, 3)
    X.flags.writeable = False
    clues = Clues.sample(y, pairs=60, random_state=0)
    with caplog.at_level("INFO", logger="cluewise"):
        grains = cw.Grains(50, device="cpu", random_state=0).fit(X)
    assert len(caplog.records) == (room == 2**16)
    if caplog.records:
        assert caplog.messages[0].endswith("each pass moves the rows there in 3 parts.")
    plain = cw.Grains(50, random_state=0).fit(X)
    assert_array_equal(grains.labels_, plain.labels_)
    assert_allclose(grains.centers_, plain.centers_)
    assert_array_equal(grains.transform(X), plain.transform(X))
    assert type(grains.labels_) is type(grains.transform(X)) is np.ndarray
    if not caplog.records:
        return
    own, other = (cw.Cluewise(K, random_state=0, device=device).fit(X, clues=clues) for device in (None, "cpu"))
    assert_array_equal(other.labels_, own.labels_)
    assert_allclose(other.margin_, own.margin_, atol=1e-5)
    assert_allclose(other.predict_proba(X), own.predict_proba(X), atol=1e-5)
    assert_array_equal(other.predict(X[:9]), own.predict(X[:9]))
    assert type(other.labels_) is type(other.predict(X)) is type(other.predict_proba(X)) is np.ndarray


def test_rows_with_many_columns_are_projected_part_by_part(monkeypatch):
    from cluewise.gpu import arrays

    X, _ = make_blobs(300, 120)
    own = cw.Cluewise(K, random_state=0).fit(X)
    monkeypatch.setattr(arrays, "find_room", lambda device: 2**18)
    assert_array_equal(cw.Cluewise(K, random_state=0, device="cpu").fit(X).labels_, own.labels_)


def test_without_the_device_the_processor_does_the_work():
    import torch

    X, _ = make_blobs(200)
    missing = f"cuda:{torch.cuda.device_count()}"
    with pytest.warns(UserWarning, match=f"there is no device '{missing}' here; rows are worked on by the processor"):
        model = cw.Grains(20, device=missing, random_state=0).fit(X)
    assert_array_equal(model.labels_, cw.Grains(20, random_state=0).fit(X).labels_)
    for name, message in (("gpu", "not a device of torch"), ("meta", "these are cpu and cuda")):
        with pytest.raises(ValueError, match=message):
            cw.Cluewise(2, device=name).fit(X)
    with pytest.raises(TypeError, match="device='cpu' needs dense rows; X is sparse"):
        cw.Cluewise(2, device="cpu").fit(csr_array(X))
    with pytest.raises(ValueError, match="device='cpu' does not work with sample_weight"):
        cw.Grains(device="cpu").fit(X, sample_weight=np.ones(200))


def test_names_of_columns_are_kept():
    X = pd.DataFrame(make_blobs(200)[0], columns=list("abcd"))
    model = cw.Grains(20, device="cpu", random_state=0).fit(X)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X.rename(columns={"a": "z"}))


# --- how it is made ---------------------------------------------------------------------------------------------


def test_import_does_not_import_torch_and_says_what_to_install_without_it():
    code = """
import sys
class Missing:
    def find_spec(self, name, *rest):
        if name == "torch":
            raise ModuleNotFoundError(name)  # so that any import of torch would be noticed
sys.meta_path.insert(0, Missing())
import cluewise as cw
cw.PCKMeans(2).fit([[0.0], [1.0], [5.0]])
class Array:
    ndim = 2
    def __dlpack__(self): ...
try:
    cw.PCKMeans(2).fit(Array())
except ImportError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found == f"to cluster a __main__.Array you need torch: {install('torch')}\n"


def test_everything_that_looks_at_a_chunk_has_a_twin():
    """Functions are passed by name to passes over chunks; the twin has the same parameters."""
    from inspect import signature

    from cluewise.core.tensors import find_twin

    seen = set()
    for path in sorted(SOURCE.rglob("*.py")):
        package = path.relative_to(SOURCE).parts[0]
        if package not in ("core", "base", "sketch", "front", "centroid"):
            continue
        module = ".".join(("cluewise", *path.relative_to(SOURCE).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                named = [one.id for one in node.args if isinstance(one, ast.Name)]
                if (
                    node.func.attr in ("reduce", "map", "call", "keep")
                    and named
                    and "chunks" in ast.unparse(node.func.value)
                ):
                    seen.add((module, named[0]))
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "map_new_chunks":
                seen.add((module, ast.unparse(node.args[2])))
    for module, name in seen:
        function = getattr(import_module(module), name, None)
        if not callable(function):  # passed on
            continue
        wanted = signature(function).parameters
        if "weight" in wanted and wanted["weight"].default is wanted["weight"].empty:
            continue  # tensors have no weights
        assert list(signature(find_twin(function)).parameters) == [name for name in wanted if name != "weight"]
    assert len(seen) > 15
