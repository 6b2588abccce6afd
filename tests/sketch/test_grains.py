"""`Grains`: a partition into small cells, and exact sums over them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import cluewise as cw
from cluewise import Grains

RNG = np.random.default_rng(0)
BLOBS = np.repeat(RNG.normal(size=(20, 4), scale=20), 400, axis=0) + RNG.normal(size=(8000, 4))


def nearest(X, points):
    return ((X[:, None].astype(float) - points[None].astype(float)) ** 2).sum(axis=2).argmin(axis=1)


def total_scatter(X, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    mean = np.average(X, axis=0, weights=weight)
    return float(weight @ ((X - mean) ** 2).sum(axis=1))


def check_sums(grains, X, weight=None):
    """Sizes, mean and scatter of the grains are those of the rows."""
    weight = np.ones(len(X)) if weight is None else weight
    assert_allclose(grains.sizes_.sum(), weight.sum())
    mean = np.average(X, axis=0, weights=weight)
    assert_allclose(np.average(grains.centers_, axis=0, weights=grains.sizes_), mean, atol=1e-9)
    between = grains.sizes_ @ ((grains.centers_ - mean) ** 2).sum(axis=1)
    assert_allclose(grains.scatter_.sum() + between, total_scatter(X, weight))


@pytest.mark.parametrize("n_grains", [30, 200, "auto"])
def test_statistics_are_those_of_the_rows(n_grains):
    grains = Grains(n_grains, random_state=0).fit(BLOBS)
    check_sums(grains, BLOBS)
    m = len(grains.centers_)
    assert m == (1000 if n_grains == "auto" else n_grains)
    assert_array_equal(grains.sizes_, np.bincount(grains.labels_, minlength=m))
    for g in (0, m // 2, m - 1):
        mine = BLOBS[grains.labels_ == g]
        assert_allclose(grains.centers_[g], mine.mean(axis=0))
        assert_allclose(grains.scatter_[g], ((mine - mine.mean(axis=0)) ** 2).sum(), atol=1e-9)


def test_every_row_goes_to_the_nearest_point_of_the_codebook():
    grains = Grains(200, random_state=0).fit(BLOBS)
    assert_array_equal(grains.labels_, nearest(BLOBS, grains.codebook_))
    new = RNG.normal(size=(100, 4), scale=20)
    assert_array_equal(grains.transform(new), nearest(new, grains.codebook_))
    assert grains.transform(new).dtype == np.int32


def test_two_levels_find_nearly_every_nearest_point():
    X = np.tile(BLOBS, (4, 1)) + RNG.normal(size=(32_000, 4))
    grains = Grains(200, random_state=0).fit(X)
    assert grains._cells is not None
    assert np.mean(grains.labels_ == nearest(X, grains.codebook_)) >= 0.98
    assert_array_equal(grains.transform(X), grains.labels_)


def test_noise_in_many_columns_is_searched_exactly():
    X = RNG.normal(size=(14_000, 12)).astype(np.float32)
    grains = Grains(200, random_state=0).fit(X)
    assert grains._cells is None
    assert np.mean(grains.labels_ == nearest(X, grains.codebook_)) >= 0.999  # but for rounding


def test_all_distinct_rows_are_grains_if_they_are_few():
    X = RNG.normal(size=(1500, 3))
    grains = Grains().fit(np.vstack([X, X[::-1]]))
    assert_array_equal(grains.centers_, X)
    assert_array_equal(grains.sizes_, np.full(1500, 2.0))
    assert not grains.scatter_.any()
    assert_array_equal(grains.labels_, np.concatenate([np.arange(1500), np.arange(1500)[::-1]]))
    more = Grains().fit(np.vstack([X, RNG.normal(size=(1, 3))]))
    assert len(more.centers_) == 1000


def test_few_distinct_rows_in_many_are_found():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [-0.0, 0.0], [3.0, 5.0]], dtype=np.float32)[RNG.integers(4, size=9000)]
    grains = Grains(4, random_state=0).fit(X)  # more rows than are sampled
    assert sorted(map(tuple, grains.centers_.tolist())) == [(0, 0), (0, 1), (3, 5)]
    assert_array_equal(grains.centers_[grains.labels_], X)
    check_sums(grains, X)


def test_one_row_and_constant_rows_are_one_grain():
    for X in (np.array([[1.0, 2.0]]), np.full((7, 2), 3.0), np.full((3000, 2), 3.0)):
        grains = Grains(5).fit(X)
        assert_array_equal(grains.centers_, X[:1])
        assert grains.sizes_.tolist() == [len(X)]
        assert_array_equal(grains.labels_, np.zeros(len(X)))


def test_weights_equal_repetition():
    X, weight = RNG.normal(size=(60, 2)), RNG.integers(0, 4, size=60)
    weighted = Grains(60).fit(X, sample_weight=weight)
    repeated = Grains(60).fit(np.repeat(X, weight, axis=0))
    assert_allclose(weighted.centers_, repeated.centers_)
    assert_allclose(weighted.sizes_, repeated.sizes_)
    assert_array_equal(np.repeat(weighted.labels_, weight), repeated.labels_)
    learned = Grains(10, random_state=0).fit(X, sample_weight=weight)
    check_sums(learned, X, weight.astype(float))
    again = Grains(10, random_state=0).fit(np.repeat(X, weight, axis=0))
    assert_allclose(learned.centers_, again.centers_)
    assert_allclose(learned.scatter_, again.scatter_, atol=1e-12)


def test_rows_without_weight_make_no_grains():
    X = np.vstack([BLOBS[:2000], BLOBS[:2000] + 1000])
    weight = np.repeat([1.0, 0.0], 2000)
    grains = Grains(20, random_state=0).fit(X, sample_weight=weight)
    assert grains.centers_.max() < 500
    assert (grains.sizes_ > 0).all()
    check_sums(grains, X[:2000])
    few = Grains(5000, random_state=0).fit(X, sample_weight=weight)
    assert_array_equal(few.centers_, X[:2000])
    assert_array_equal(few.labels_[2000:], nearest(X[2000:], few.centers_))


def test_heavy_rows_are_drawn():
    X = RNG.normal(size=(5000, 2))
    weight = np.ones(5000)
    weight[17] = 1e6
    grains = Grains(10, random_state=0).fit(X, sample_weight=weight)
    assert_allclose(grains.codebook_[grains.labels_[17]], X[17], atol=0.05)


@pytest.mark.parametrize("n_grains", [50, 3000])
def test_sparse_equals_dense(n_grains):
    X = np.where(RNG.random((3000, 12)) < 0.7, 0.0, RNG.integers(1, 4, size=(3000, 12))).astype(float)
    dense, sparse = (Grains(n_grains, random_state=0).fit(one) for one in (X, csr_array(X)))
    for name in ("sizes_", "labels_", "centers_", "scatter_"):
        assert_allclose(getattr(sparse, name), getattr(dense, name), atol=1e-9)
    assert isinstance(sparse.centers_, np.ndarray)
    assert_array_equal(sparse.transform(csr_array(X)), dense.transform(X))


def test_single_precision_is_close_to_double():
    single, double = (Grains(100, random_state=0).fit(BLOBS.astype(t)) for t in (np.float32, np.float64))
    assert single.centers_.dtype == np.float32
    assert np.mean(single.labels_ == double.labels_) > 0.99
    assert_allclose(single.scatter_.sum(), double.scatter_.sum(), rtol=1e-3)


def test_far_from_the_origin_nothing_is_lost():
    near, far = (Grains(100, random_state=0).fit(BLOBS + shift) for shift in (0.0, 2.0**20))
    assert_array_equal(near.labels_, far.labels_)
    assert_allclose(near.scatter_, far.scatter_, rtol=1e-6, atol=1e-6)


def test_equal_seeds_give_equal_grains_with_any_number_of_threads():
    results = []
    for n_threads in (1, 2):
        with cw.threads(n_threads):
            results.append(Grains(100, random_state=3).fit(BLOBS))
    for name in ("centers_", "labels_", "scatter_", "sizes_"):
        assert_array_equal(getattr(results[0], name), getattr(results[1], name))
    assert not np.array_equal(results[0].labels_, Grains(100, random_state=4).fit(BLOBS).labels_)


def test_merge_keeps_sums_in_any_order():
    thirds = [Grains(60, random_state=0).fit(part) for part in np.array_split(BLOBS, 3)]
    a, b, c = thirds
    for merged in (a.merge(b).merge(c), c.merge(a.merge(b)), b.merge(c.merge(a))):
        check_sums(merged, BLOBS)
        assert len(merged.centers_) <= 60
        assert merged.n_samples_seen_ == 8000
        assert_array_equal(merged.transform(BLOBS[:50]), nearest(BLOBS[:50], merged.centers_))
        assert not hasattr(merged, "labels_")
    assert a.n_samples_seen_ == 2667  # as it was


def test_merged_grains_are_nearly_as_fine_as_those_of_all_rows():
    whole = Grains(60, random_state=0).fit(BLOBS)
    merged = Grains(60, random_state=0).fit(BLOBS[::2]).merge(Grains(60, random_state=0).fit(BLOBS[1::2]))
    assert merged.scatter_.sum() < 1.5 * whole.scatter_.sum()


def test_merge_of_the_same_rows_adds_their_sizes():
    X = RNG.normal(size=(20, 2))
    merged = Grains().fit(X).merge(Grains().fit(X[:10]))
    assert_allclose(merged.centers_, X)
    assert_array_equal(merged.sizes_, np.repeat([2.0, 1.0], 10))


def test_merge_refuses_other_columns_and_unfitted_sketches():
    one, two = Grains().fit([[0.0, 1.0]]), Grains().fit([[0.0]])
    with pytest.raises(ValueError, match="2 and of 1 columns"):
        one.merge(two)
    with pytest.raises(NotFittedError):
        one.merge(Grains())


def test_partial_fit_keeps_sums():
    grains = Grains(60, random_state=0)
    weight = RNG.random(8000)
    for part in np.array_split(np.arange(8000), 7):
        grains.partial_fit(BLOBS[part], sample_weight=weight[part])
    check_sums(grains, BLOBS, weight)
    assert grains.n_samples_seen_ == 8000
    assert len(grains.centers_) == 60
    with pytest.raises(ValueError, match="features"):
        grains.partial_fit(BLOBS[:, :2])
    grains.fit(BLOBS[:100])
    assert grains.n_samples_seen_ == 100


def test_auto_grows_slowly():
    counts = [Grains()._limits(n)[1] for n in (2000, 10**5, 4 * 10**5, 10**6, 10**8)]
    assert counts == [1000, 1000, 2000, 3000, 3000]


@pytest.mark.parametrize("n_grains", [0, 2.5, "many"])
def test_parameters_are_checked(n_grains):
    with pytest.raises(ValueError, match="n_grains"):
        Grains(n_grains).fit(BLOBS)


def test_clone_and_fit_transform():
    grains = clone(Grains(7, random_state=1))
    assert grains.get_params() == {"n_grains": 7, "device": None, "random_state": 1}
    assert_array_equal(grains.fit_transform(BLOBS), grains.labels_)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_output_in_frames(kind):
    grains = Grains(7, random_state=1).set_output(transform=kind)
    frame = grains.fit_transform(BLOBS)
    assert list(frame.columns) == grains.get_feature_names_out().tolist() == ["grain"]
    assert_array_equal(np.asarray(frame["grain"]), grains.labels_)
    assert_array_equal(np.asarray(grains.transform(BLOBS[:9])["grain"]), grains.labels_[:9])
    assert grains.set_output(transform="default").transform(BLOBS[:9]).shape == (9,)


def test_names_of_columns_need_a_fit():
    with pytest.raises(NotFittedError):
        Grains().get_feature_names_out()


ORDER = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "they shuffle the rows, and grains are numbered in the order of the rows",
)


_checks = parametrize_with_checks(
    [Grains(5, random_state=0), Grains(random_state=0)], expected_failed_checks=lambda grains: ORDER
)
CHECKS = [case for case in _checks.args[1] if "array_api" not in str(getattr(case, "values", case))]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_rows_of_small_whole_numbers_are_told_apart():
    """Their leading bits alone differ, and once met only a few bits of the key of their column."""
    X = np.stack(np.meshgrid(*[np.arange(-2.0, 3.0)] * 4), axis=-1).reshape(-1, 4)
    assert len(Grains(1000, random_state=0).fit(X).centers_) == 5**4
