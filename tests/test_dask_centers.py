"""Methods that move centers, on dask arrays: what the same rows give in memory, from passes over chunks."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import cluewise as cw
from cluewise import Clues
from cluewise.core.chunks import read_chunks
from cluewise.core.crowd import split_rows
from cluewise.core.rows import Rows, Seats
from cluewise.exceptions import ClueError

METHODS = {
    "SeededKMeans": ["labels"],
    "ConstrainedKMeans": ["labels"],
    "PartitionKMeans": ["labels", "partitions"],
    "PCKMeans": ["labels", "must", "cannot", "together"],
}
K = 5


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def make_blobs(n=1500, d=4, seed=0):
    """Overlapping blobs far from the origin."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    return 2 * rng.normal(size=(K, d))[y] + rng.normal(size=(n, d)) + 30, y


def make_clues(y, name, noise=0.1):
    some = Clues.sample(y, pairs=120, labels=30, noise=noise, random_state=0)
    partition = np.where(np.arange(len(y)) % 40 == 0, y % 3, -1)
    groups = np.where(np.arange(len(y)) % 50 < 2, np.arange(len(y)) // 50, -1)
    return (some | Clues(len(y), partitions=[partition], together=[groups])).only(METHODS[name])


def in_chunks(X, *sizes):
    """The rows in chunks of these sizes and the rest, the first column for itself."""
    return da.from_array(X, chunks=((*sizes, len(X) - sum(sizes)), (1, X.shape[1] - 1)))


def fit_both(name, X, chunked, clues, **options):
    return [getattr(cw, name)(K, **options).fit(one, clues=clues) for one in (X, chunked)]


def compare(own, other, atol=1e-12):
    """All results of a fit in memory are those of a fit in chunks."""
    assert_array_equal(other.labels_.compute(), own.labels_)
    assert other.broken_ == own.broken_
    assert (other.n_iter_, other.n_clusters_) == (own.n_iter_, own.n_clusters_)
    assert_allclose(other.cluster_centers_, own.cluster_centers_, rtol=atol)
    assert_allclose(other.trace_, own.trace_, rtol=1e-6)
    assert_allclose(other.objective_, own.objective_, rtol=1e-6)
    assert_allclose(other.margin_.compute(), own.margin_, atol=1e3 * atol)
    assert vars(other).keys() == vars(own).keys()


# --- the same as in memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"max_iter": 2}, {"tol": 0}], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", METHODS)
def test_from_the_same_centers_all_is_as_in_memory(name, dtype, options):
    """Also if the last labels are not those of the last centers, because iterations or patience ended."""
    X, y = make_blobs()
    X = X.astype(dtype)
    chunked = in_chunks(X, 1, 0, 700, 300)
    own, other = fit_both(name, X, chunked, make_clues(y, name), init=X[:K], **options)
    compare(own, other, atol=1e-12 if dtype == np.float64 else 1e-6)
    assert other.labels_.chunks == ((1, 0, 700, 300, 499),)
    assert other.cluster_centers_.dtype == other.margin_.dtype == dtype
    assert other.n_iter_ > 1


@pytest.mark.parametrize("name", METHODS)
def test_single_precision_is_rounded_as_in_memory(name):
    """BLAS rounds a row otherwise in another place of a block, so that labels would differ after a few iterations."""
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=40_000)
    X = (3 + 0.3 * rng.normal(size=(10, 16))[y] + rng.normal(size=(40_000, 16))).astype(np.float32)
    clues = Clues.sample(y, pairs=2000, labels=300, random_state=0).only(METHODS[name])
    options = {"init": X[:10], "max_iter": 8, "tol": 0}
    own, other = (getattr(cw, name)(10, **options).fit(one, clues=clues) for one in (X, in_chunks(X, 12_345, 7, 9_999)))
    assert_array_equal(other.labels_.compute(), own.labels_)
    assert own.n_iter_ == 8  # rows still move


def test_seats_matter():
    """The scores of the same rows differ in their last digit if they stand elsewhere in a block; `Seats` undo that."""
    X = np.random.default_rng(0).normal(size=(20_000, 16)).astype(np.float32)
    centers = X[:10].astype(np.float64)
    every, some = Rows(X, None, np.zeros(16)), Rows(X[5_003:], None, np.zeros(16))
    table = every.table(centers)
    scores = np.concatenate([every.score(block, table)[1] for block in every.blocks(10)], axis=1)
    some.seats = Seats(20_000, 5_003)
    seated = np.concatenate([some.score(block, table)[1] for block in some.blocks(10)], axis=1)
    assert_array_equal(seated, scores[:, 5_003:])
    far = np.sort(np.random.default_rng(1).choice(20_000, 3_000, replace=False))
    few = Rows(X[far], None, np.zeros(16))
    few.seats = Seats(20_000, numbers=far)
    assert_array_equal(few.score(slice(0, 3_000), table)[1], scores[:, far])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", METHODS)
def test_weights(name, dtype):
    """As an array or in chunks, with rows that weigh nothing; the first rows fill clusters that are empty."""
    X, y = make_blobs()
    X, weight = X.astype(dtype), np.random.default_rng(0).integers(3, size=len(X)) / 2
    init = np.vstack([X[: K - 1], X[:1] + 1e3])
    clues, chunked = make_clues(y, name), in_chunks(X, 1, 0, 700, 300)
    own = getattr(cw, name)(K, init=init).fit(X, clues=clues, sample_weight=weight)
    cut = da.from_array(weight, 400)
    for given in (weight, cut, da.from_array(weight, chunked.chunks[0]), cut[cut >= 0], dd.from_dask_array(cut)):
        other = getattr(cw, name)(K, init=init).fit(chunked, clues=clues, sample_weight=given)
        compare(own, other, atol=1e-12 if dtype == np.float64 else 1e-6)


def test_weights_are_numbers_of_equal_rows():
    X, _ = make_blobs(600)
    count = np.random.default_rng(0).integers(4, size=600)
    repeated = np.repeat(X, count, axis=0)
    one = cw.SeededKMeans(K, random_state=0).fit(in_chunks(X, 150), sample_weight=count)
    two = cw.SeededKMeans(K, init=one.cluster_centers_).fit(in_chunks(repeated, 150))
    assert_allclose(two.objective_, one.objective_)
    assert_array_equal(two.labels_.compute(), np.repeat(one.labels_.compute(), count))
    assert split_rows(weighed(X, count), np.arange(0)).crowd.find_candidates(3, np.random.default_rng(0)).mass == sum(
        count
    )


def weighed(X, weight):
    chunks = read_chunks(in_chunks(X, 100))
    chunks.weigh(weight)
    return chunks


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(299), "sample_weight is about 299 rows, but X has 300"),
        (np.ones((300, 1)), "sample_weight must have one dimension; it has 2"),
        (-np.ones(300), "sample_weight holds -1; weights must not be negative"),
        (np.zeros(300), "sample_weight is zero for every row"),
        (np.where(np.arange(300) == 270, np.nan, 1), "sample_weight is nan in row 270; weights must be finite"),
    ],
)
def test_one_sentence_about_weights(weight, message):
    X, _ = make_blobs(300)
    for given in (weight, da.from_array(weight, chunks=100)):
        with pytest.raises(ValueError, match=message):
            cw.PCKMeans(K).fit(in_chunks(X, 100), sample_weight=given)


@pytest.mark.parametrize("name", METHODS)
def test_new_rows(name):
    X, y = make_blobs(300)
    own, other = fit_both(name, X, in_chunks(X, 80), make_clues(y, name), init=X[:K])
    assert_array_equal(other.predict(in_chunks(X, 0, 200)).compute(), own.predict(X))
    assert_allclose(other.transform(in_chunks(X, 0, 200)).compute(), own.transform(X))
    assert other.transform(in_chunks(X)).shape == (300, K)
    assert_array_equal(own.predict(in_chunks(X)).compute(), own.predict(X))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("iterations", [1, 2, 300])
def test_empty_clusters_take_the_worst_rows_of_all(name, iterations):
    """Two centers are far from all rows; if the fit ends at once, the rows that fill them have their labels."""
    X, y = make_blobs()
    init = np.vstack([X[: K - 2], X[:2] + 1e3])
    options = {"init": init, "max_iter": iterations}
    own, other = fit_both(name, X, in_chunks(X, 700, 3), make_clues(y, name), **options)
    compare(own, other)
    assert other.n_clusters_ == K


def test_a_labeled_row_may_fill_an_empty_cluster():
    """Labels of `SeededKMeans` are no more than a start, so that its labeled rows are as free as others."""
    X = np.array([[0.0], [1.0], [2.0], [50.0], [0.5], [1.5]])
    labels = [-1, -1, -1, 0, 0, -1]
    own, other = (cw.SeededKMeans(2, init=[[0.0], [1e3]]).fit(one, clues=labels) for one in (X, da.from_array(X, 2)))
    assert_array_equal(other.labels_.compute(), own.labels_)
    assert own.labels_.tolist() == [0, 0, 0, 1, 0, 0]


def test_few_distinct_rows_leave_clusters_empty():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    for one in (X, da.from_array(X, 7)):
        with pytest.warns(ConvergenceWarning, match="only 2 of 3 clusters have rows"):
            model = cw.PCKMeans(3, random_state=0).fit(one)
        assert model.n_clusters_ == 2


@pytest.mark.parametrize("sizes", [(), (900,), (1,) * 40], ids=["one huge chunk", "two", "a row each"])
@pytest.mark.parametrize("name", METHODS)
def test_without_clues(name, sizes):
    X, _ = make_blobs()
    compare(*fit_both(name, X, in_chunks(X, *sizes), None, init=X[:K]))


@pytest.mark.parametrize("name", METHODS)
def test_a_clue_about_every_row_leaves_no_crowd(name):
    X, y = make_blobs(200)
    clues = Clues(200, labels=y) if name != "PCKMeans" else Clues(200, must=np.arange(200).reshape(-1, 2))
    compare(*fit_both(name, X, in_chunks(X, 90), clues, init=X[:K]))


@pytest.mark.parametrize("order", ["random", "reversed"])
def test_orders_are_about_all_rows(order):
    X, y = make_blobs()
    order = np.arange(len(X))[::-1] if order == "reversed" else order
    clues = make_clues(y, "PCKMeans")
    own, other = fit_both("PCKMeans", X, in_chunks(X, 900), clues, init=X[:K], order=order, random_state=0)
    if isinstance(order, str):  # drawn among rows with clues, which are the same
        assert own.n_iter_ > 1
    compare(own, other)


def test_the_price_of_wide_rows():
    """Beyond 2,000 columns a sample of the rows stands for the covariance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2001)) + 5 * rng.integers(2, size=(90, 1))
    clues = Clues(90, must=[(0, 1), (4, 80)])
    own, other = (cw.PCKMeans(2, init=X[:2]).fit(one, clues=clues) for one in (X, da.from_array(X, (40, 2001))))
    assert_allclose(other.penalty_, own.penalty_)
    assert_array_equal(other.labels_.compute(), own.labels_)


# --- starts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["k-means++", "perturbed"])
@pytest.mark.parametrize("name", ["SeededKMeans", "ConstrainedKMeans"])
def test_labels_of_all_classes_start_as_in_memory(name, init):
    X, y = make_blobs()
    own, other = fit_both(name, X, in_chunks(X, 900), make_clues(y, name), init=init, random_state=0)
    compare(own, other)


def test_a_perturbed_mean_starts_as_in_memory():
    X, y = make_blobs()
    clues = np.where((y == 2) & (np.arange(len(y)) < 100), 2, -1)
    own, other = fit_both("SeededKMeans", X, in_chunks(X, 900), clues, init="perturbed", n_init=1, random_state=0)
    compare(own, other)


def test_random_rows_start_as_in_memory():
    X, _ = make_blobs()
    compare(*fit_both("PartitionKMeans", X, in_chunks(X, 900), None, init="random", n_init=2, random_state=0))


@pytest.mark.parametrize("init", ["neighborhoods", "farthest-first"])
def test_neighborhoods_start_as_in_memory(init):
    X, y = make_blobs()
    clues = Clues.sample(y, pairs=400, random_state=0)
    own, other = fit_both("PCKMeans", X, in_chunks(X, 900), clues, init=init, n_init=1, random_state=0)
    compare(own, other)


def test_a_callable_gets_the_dask_array():
    X, _ = make_blobs()

    def first(X, k, random_state):
        assert isinstance(X, da.Array)
        return X[:k].compute()

    own = cw.PCKMeans(K, init=X[:K]).fit(X)
    other = cw.PCKMeans(K, init=first, n_init=1).fit(in_chunks(X, 900))
    compare(own, other)


@pytest.mark.parametrize("name", METHODS)
def test_a_start_by_scalable_k_means_is_about_as_good(name):
    X, _ = make_blobs(3000)
    own, other = fit_both(name, X, in_chunks(X, 900), None, random_state=0)
    assert other.objective_ < 1.01 * own.objective_
    again = getattr(cw, name)(K, random_state=0).fit(in_chunks(X, 900))
    assert_array_equal(again.labels_.compute(), other.labels_.compute())


def test_candidates_weigh_as_many_rows_as_are_nearest_to_them():
    X, _ = make_blobs(2000)
    crowds = [split_rows(read_chunks(in_chunks(X, *sizes)), np.arange(0)).crowd for sizes in ((700,), (1, 0, 5, 900))]
    found = [crowd.find_candidates(3, np.random.default_rng(0)) for crowd in crowds]
    points, weight = found[0].X, found[0].weight
    assert len(points) == len(np.unique(points, axis=0)) == 1 + 5 * 6
    squared = ((X[:, None] - points) ** 2).sum(axis=2)
    assert_array_equal(weight, np.bincount(squared.argmin(axis=1), minlength=len(points)))
    assert_array_equal(found[1].X, points)  # chunks do not matter
    assert crowds[0].find_candidates(3, np.random.default_rng(1)) is found[0]


def test_candidates_are_drawn_by_their_distance():
    """A row far away from a thousand others is drawn in the first round, if it was not the first row already."""
    X = np.append(np.random.default_rng(0).normal(size=1000), 1e4)[:, None]
    chunks = read_chunks(da.from_array(X, 300))
    for seed in range(20):
        found = split_rows(chunks, np.arange(0)).crowd.find_candidates(2, np.random.default_rng(seed))
        assert 1e4 in found.X[:5]


# --- input ------------------------------------------------------------------------------------------------------


def test_frames_of_numbers():
    X, y = make_blobs(300)
    frame = pd.DataFrame(X, columns=list("abcd"))
    clues = make_clues(y, "PCKMeans")
    own, other = fit_both("PCKMeans", frame, dd.from_pandas(frame, npartitions=4), clues, init=X[:K])
    assert other.feature_names_in_.tolist() == list("abcd")
    compare(own, other)


def test_sizes_that_dask_does_not_know():
    X, _ = make_blobs()
    chunked = in_chunks(X, 600)
    some = X[:, 0] > 30
    other = cw.PCKMeans(K, init=X[:K]).fit(chunked[chunked[:, 0] > 30])
    compare(cw.PCKMeans(K, init=X[:K]).fit(X[some]), other)
    assert other.labels_.chunks[0] == (np.count_nonzero(some[:600]), np.count_nonzero(some[600:]))


@pytest.mark.parametrize("name", METHODS)
def test_one_sentence_about_what_cannot_be(name):
    X, _ = make_blobs(300)
    chunked = in_chunks(X, 100)
    model = getattr(cw, name)(K)
    with pytest.raises(ValueError, match="n_clusters=301 is larger than the number of rows, n_samples=300"):
        getattr(cw, name)(301).fit(chunked)
    with pytest.raises(ClueError, match="the clues are for 299 rows, but X has 300"):
        model.fit(chunked, clues=Clues(299))
    X[250, 2] = np.nan
    with pytest.raises(ValueError, match="NaN in row 250, column 2"):
        model.fit(in_chunks(X, 100, 100))
    assert not hasattr(model, "labels_")


def test_categories_are_not_read_from_chunks():
    X, _ = make_blobs(300)
    X[:, 0] = np.arange(300) % 3
    model = cw.PartitionKMeans(K, categorical_features=[0])
    for act in (model.fit, model.fit(X).predict):
        with pytest.raises(
            TypeError, match=r"categorical_features must be None if X is a dask array .*; encode .* Rows"
        ):
            act(in_chunks(X))


# --- the course of a fit ----------------------------------------------------------------------------------------


class Interrupt:
    """A callback that presses Ctrl-C, or stops, after some iterations of the second start."""

    def __init__(self, after, stop):
        self.left, self.stop = after, stop

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "iteration":
            self.left -= 1
        if self.left <= 0 and not self.stop:
            raise KeyboardInterrupt
        return self.left <= 0

    def teardown(self, estimator, context):
        pass


@pytest.mark.parametrize("stop", [True, False])
def test_a_fit_that_ends_early_has_the_labels_of_its_last_iteration(stop):
    X, y = make_blobs()
    clues = make_clues(y, "PCKMeans")
    models = []
    for one in (X, in_chunks(X, 900)):
        model = cw.PCKMeans(K, init=X[:K]).set_callbacks(Interrupt(3, stop))
        if stop:
            model.fit(one, clues=clues)
        else:
            with pytest.raises(KeyboardInterrupt):
                model.fit(one, clues=clues)
        models.append(model)
    assert models[1].n_iter_ == 3
    assert_array_equal(models[1].labels_.compute(), models[0].labels_)


def test_rows_are_read_once_for_each_pass():
    """One to check them, one for those with clues, one for each iteration and a last one; labels cost another."""
    X, _ = make_blobs(400)
    reads = []

    def read(block, block_id):
        reads.append(block_id[0])
        return block

    chunked = da.from_array(X, (200, 4)).map_blocks(read, dtype=float, meta=np.empty((0, 0)))
    model = cw.SeededKMeans(K, init=X[:K]).fit(chunked, clues=np.where(np.arange(400) < 3, 0, -1))
    assert len(reads) == 2 + 1 + 2 * (model.n_iter_ + 1)  # rows with clues are in the first chunk
    dask.compute(model.labels_, model.margin_)
    assert len(reads) == 2 + 1 + 2 * (model.n_iter_ + 1) + 2


def test_a_saved_model_has_no_labels(tmp_path):
    X, _ = make_blobs(300)
    model = cw.PCKMeans(K, random_state=0).fit(in_chunks(X, 100))
    cw.save(model, tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    assert not hasattr(again, "labels_")
    assert_array_equal(again.predict(X), model.predict(X))
