"""Rows in chunks: dask arrays give what the same rows give in memory, and who does not take them says so."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cluewise as cw
from cluewise import Clues, Grains
from cluewise.catalogue import clusterers
from cluewise.core.chunks import read_chunks
from cluewise.core.rows import rows_of
from cluewise.exceptions import ClueError, ClueWarning, OtherRows
from cluewise.front._signature import sign, sign_chunks


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def make_rings(n=4000, seed=0):
    """Three rings, which centers cannot describe, far from the origin."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    angle = rng.uniform(0, 2 * np.pi, size=n)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + y)[:, None] + 50
    return X + 0.1 * rng.normal(size=X.shape), y


def in_chunks(X, *sizes):
    """The rows in chunks of these sizes and the rest, each column for itself."""
    return da.from_array(X, chunks=((*sizes, len(X) - sum(sizes)), 1))


# --- chunks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(), (1, 1, 1), (0, 30, 0, 50), tuple(range(20))], ids=str)
def test_a_scan_knows_what_memory_knows(sizes):
    X = make_rings(200)[0]
    chunks = read_chunks(in_chunks(X, *sizes))
    found = chunks.scan()
    assert (found.n, found.bad, chunks.n) == (200, None, 200)
    assert_allclose(found.mean, X.mean(axis=0))
    assert_allclose(found.squares, 200 * X.var(axis=0))
    assert_array_equal(chunks.shift, rows_of(X).shift)
    rows = np.array([199, 0, 31, 31, 1])
    assert_array_equal(chunks.take(rows), X[rows])


def test_sizes_that_dask_does_not_know_are_counted():
    X = make_rings(200)[0]
    some = X[:, 0] > 50
    chunked = in_chunks(X, 60, 60)
    chunked = chunked[chunked[:, 0] > 50]
    assert np.isnan(chunked.shape[0])
    model = Grains(random_state=0).fit(chunked)
    assert model.n_samples_seen_ == np.count_nonzero(some)
    assert_array_equal(model.labels_.compute(), Grains(random_state=0).fit(X[some]).labels_)
    assert model.labels_.shape == (np.count_nonzero(some),)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (da.ones((0, 2)), "X has 0 rows in 1 chunks"),
        (da.ones(5), "X must have two dimensions, rows and columns; it has 1"),
        (da.ones((5, 2), dtype=complex), "chunks of X must be NumPy arrays of numbers; they are ndarray of complex"),
        (dd.from_pandas(pd.DataFrame({"a": [1.0], "b": ["x"]}), npartitions=1), "column 'b' of X does not hold"),
        (dd.from_pandas(pd.DataFrame({"a": pd.Categorical(["x"])}), npartitions=1), "column 'a' of X does not hold"),
        (dask.bag.from_sequence([1, 2]), "X is a Bag; of dask's collections, cluewise takes .* .use X.to_"),
        (dd.from_pandas(pd.Series([1.0]), npartitions=1), r"X is a Series; of dask's .* .use X.to_frame\(\)"),
        (dask.delayed(np.ones((2, 2))), "X is a Delayed; of dask's .* .use dask.array.from_delayed"),
        (dask.delayed(np.ones)((2, 2)), "X is a Delayed; of dask's .* .use dask.array.from_delayed"),
        (da.full((5, 2), 1e70), "X reaches 1e+70"),
    ],
)  # fmt: skip
def test_one_sentence_about_what_cannot_be_clustered(X, words):
    with pytest.raises((TypeError, ValueError), match=words.replace("+", r"\+")):
        Grains().fit(X)


def make_kinds(n=200):
    """A plain data frame, and the same numbers in columns of other kinds."""
    rng = np.random.default_rng(0)
    plain = pd.DataFrame({"a": rng.normal(size=n).astype(np.float32), "b": rng.integers(9, size=n)})
    plain["c"] = plain["a"] > 0
    arrow = {"a": "float[pyarrow]", "b": "int64[pyarrow]", "c": "bool[pyarrow]"}
    return plain.astype(float), {
        "bool": plain,
        "only bool": plain[["c"]],
        "pandas": plain.astype({"a": "Float32", "b": "Int64", "c": "boolean"}),
        "pyarrow": plain.astype(arrow),
        "single": plain[["a"]].astype("Float32"),
        "a name twice": plain.astype("Float64").set_axis(["a", "a", "c"], axis=1),
    }


@pytest.mark.parametrize("kind", make_kinds()[1])
def test_columns_of_all_kinds_of_numbers(kind):
    plain, other = make_kinds()[0], make_kinds()[1][kind]
    own = read_chunks(dd.from_pandas(other, npartitions=3))
    assert own.dtype == (np.float32 if kind == "single" else np.float64)
    expected = plain[["c"] if kind == "only bool" else ["a"] if kind == "single" else ["a", "b", "c"]].to_numpy()
    assert_array_equal(own.array.compute(), expected)
    if kind != "a name twice":
        model = Grains(random_state=0).fit(dd.from_pandas(other, npartitions=3))
        assert_array_equal(model.labels_.compute(), Grains(random_state=0).fit(expected.astype(own.dtype)).labels_)
        assert model.feature_names_in_.tolist() == other.columns.tolist()


def test_missing_values_of_all_kinds_are_nan():
    frame = make_kinds()[1]["pandas"]
    frame.loc[150, "b"] = pd.NA
    with pytest.raises(ValueError, match="NaN in row 150, column 1; cells that are not finite numbers: 1"):
        Grains().fit(dd.from_pandas(frame, npartitions=3))


def test_nan_in_the_last_chunk_is_named_by_its_row():
    X = make_rings(200)[0]
    new = X.copy()
    new[[190, 197], 1] = np.nan, np.inf
    with pytest.raises(ValueError, match="NaN in row 190, column 1; cells that are not finite numbers: 2"):
        Grains().fit(in_chunks(new, 60, 60, 60))
    model = Grains(random_state=0).fit(in_chunks(X, 60))
    late = model.transform(in_chunks(new, 60, 60, 60))
    with pytest.raises(ValueError, match="NaN in row 190, column 1"):
        late.compute()
    lost = in_chunks(new, 60, 60, 60)
    with pytest.raises(ValueError, match="NaN in row 10 of chunk 3, column 1"):
        model.transform(lost[lost[:, 0] > 0]).compute()


def test_reading_a_chunk_may_fail():
    def fail(block, block_id):
        if block_id[0] == 2:
            raise OSError("disk on fire")
        return block

    with pytest.raises(OSError, match="disk on fire"):
        Grains().fit(da.ones((40, 2), chunks=(10, 2)).map_blocks(fail, dtype=float, meta=np.empty((0, 0))))


def test_dask_is_not_imported_without_need():
    code = "import cluewise as cw, sys; cw.Grains(2).fit([[0.0], [1.0], [2.0]]); assert 'dask' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- who takes them ---------------------------------------------------------------------------------------------


def test_cards_say_who_takes_dask_arrays():
    takers = {name: method for name, method in clusterers().items() if method.card.chunks}
    assert takers.keys() == {"ConstrainedKMeans", "PCKMeans", "PartitionKMeans", "SCSC", "SeededKMeans"}
    for method in (*takers.values(), cw.Cluewise):
        assert method.card.chunks
        X = np.random.default_rng(0).normal(size=(20, 2))
        model = method(2, random_state=0).fit(da.from_array(X, 6))
        assert model.labels_.chunks == ((6, 6, 6, 2),)
        assert model.fit_predict(da.from_array(X, 6)).compute().shape == (20,)


@pytest.mark.parametrize("name", sorted(name for name, method in clusterers().items() if not method.card.chunks))
def test_who_does_not_take_dask_arrays_says_so(name):
    model = clusterers()[name]()
    with pytest.raises(TypeError, match=rf"^{name} does not take dask arrays; cluster .* Grains\(\)\.then\({name}"):
        model.fit(da.ones((20, 2)))


@pytest.mark.parametrize("name", ["DCA", "DistBoost", "ITML", "LMNN", "XingMetric"])
def test_a_metric_that_does_not_take_dask_arrays_names_what_does(name):
    """Grains are clustered, so that a metric needs a clusterer after it."""
    learner = getattr(cw, name)()
    with pytest.raises(
        TypeError, match=rf"^{name} does not .* Grains\(\)\.then\({name}\(\.\.\.\)\.then\(clusterer\)\)"
    ):
        learner.fit(da.ones((20, 2)), clues=Clues(20, must=[(0, 1)], cannot=[(2, 3)]))


def test_what_works_instead_of_a_metric_on_dask_arrays():
    X, y = make_rings(300)
    clues = Clues(300, labels=np.where(np.arange(300) < 50, y, -1))
    chain = Grains(50, random_state=0).then(cw.ITML().then(cw.PCKMeans(3, random_state=0)))
    assert chain.fit(in_chunks(X, 100), clues=clues).labels_.compute().shape == (300,)
    with pytest.raises(TypeError, match=r"^PropagatedDistances does not take dask arrays; pass X\.compute\(\) if"):
        cw.PropagatedDistances().fit(in_chunks(X), clues=clues)


# --- odd chunks and failures, for all that takes dask arrays -----------------------------------------------------

TAKERS = {
    "Cluewise": cw.Cluewise(3, random_state=0),
    "ConstrainedKMeans": cw.ConstrainedKMeans(3, init="random", random_state=0),
    "Grains": Grains(20, random_state=0),
    "GrainsThen": Grains(20, random_state=0).then(cw.E2CP(3, random_state=0)),
    "PCKMeans": cw.PCKMeans(3, init="random", random_state=0),
    "PartitionKMeans": cw.PartitionKMeans(3, init="random", random_state=0),
    "RCA": cw.RCA(),
    "Rows": cw.Rows(),
    "SCSC": cw.SCSC(3, n_partitions=20, random_state=0),
    "SeededKMeans": cw.SeededKMeans(3, init="random", random_state=0),
}


def use(name, X, y):
    """What one of them makes of each row: fitted with labels of a few rows, if it takes clues."""
    model, few = clone(TAKERS[name]), Clues(len(y), labels=np.where(np.arange(len(y)) % 20 == 0, y, -1))
    model.fit(X) if name in ("Grains", "Rows") else model.fit(X, clues=few)
    return model.transform(X) if name in ("RCA", "Rows") else model.labels_


def in_odd_chunks(X):
    """One huge chunk; each column for itself; chunks of unknown sizes, one of them empty."""
    yield da.from_array(X, chunks=X.shape)
    yield in_chunks(X, 1, 0, 150)
    chunked = in_chunks(X, 150)
    yield da.concatenate([part[part[:, 0] > low] for part, low in ((chunked, 0), (chunked, 1e9))])


@pytest.mark.parametrize("name", TAKERS)
def test_odd_chunks(name):
    X, y = make_rings(300)
    expected = use(name, X, y)
    for chunked in in_odd_chunks(X):
        assert_allclose(use(name, chunked, y).compute(), expected, rtol=1e-9)


@pytest.mark.parametrize("name", TAKERS)
def test_new_rows_may_have_empty_chunks(name):
    X, y = make_rings(300)
    model = clone(TAKERS[name]).fit(in_chunks(X, 150), **({"clues": y} if name not in ("Grains", "Rows") else {}))
    for act in ("predict", "predict_proba", "transform"):
        if hasattr(model, act):
            expected = getattr(model, act)(X)
            assert_allclose(getattr(model, act)(in_chunks(X, 0, 100)).compute(), expected, rtol=1e-9)
            assert getattr(model, act)(in_chunks(X, 100)[:0]).compute().shape == (0, *expected.shape[1:])


@pytest.mark.parametrize("name", sorted(TAKERS.keys() - {"Rows"}))  # which fills them in
def test_nan_in_the_last_of_odd_chunks(name):
    X, y = make_rings(300)
    X[299, 1] = np.nan
    for chunked in in_odd_chunks(X):
        with pytest.raises(ValueError, match="NaN in row 299, column 1"):
            use(name, chunked, y)


@pytest.mark.parametrize("name", TAKERS)
def test_reading_may_fail_in_the_fit_or_later(name):
    """The error is that of the reader; what is computed later can be computed again."""
    (X, y), broken = make_rings(300), [True]

    def read(block, block_id):
        if broken and block_id[0] == 2:
            raise OSError("disk on fire")
        return block

    chunked = da.from_array(X, (100, 2)).map_blocks(read, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(OSError, match="disk on fire"):
        use(name, chunked, y)
    broken.clear()
    found = use(name, chunked, y)
    broken.append(True)
    with pytest.raises(OSError, match="disk on fire"):
        found.compute()
    broken.clear()
    assert_allclose(found.compute(), use(name, X, y), rtol=1e-9)


NEED_MEMORY = {
    "suggest": lambda X, y, clues: cw.suggest(X, clues),
    "propagate": lambda X, y, clues: cw.propagate(X, clues),
    "check": lambda X, y, clues: cw.check(clues, X),
    "compare": lambda X, y, clues: cw.compare(cw.PCKMeans(2), X, clues),
    "ClueSearchCV": lambda X, y, clues: cw.ClueSearchCV(cw.PCKMeans(2)).fit(X, clues=clues),
    "stability": lambda X, y, clues: cw.stability(cw.PCKMeans(2), X),
    "describe": lambda X, y, clues: cw.describe(y, X),
    "a map": lambda X, y, clues: cw.plots.map(X, y),
    "plots.compare": lambda X, y, clues: cw.plots.compare(X, y, y),
    "plots.silhouettes": lambda X, y, clues: cw.plots.silhouettes(X, y),
}


@pytest.mark.parametrize("who", NEED_MEMORY)
@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
def test_what_needs_all_rows_reads_none_of_a_dask_array(who, frame):
    """Neither of X nor of the labels."""

    def read(block):
        raise AssertionError

    X = da.ones((30, 2), chunks=(10, 2)).map_blocks(read, dtype=float, meta=np.empty((0, 0)))
    y = X[:, 0].astype(int)
    X = dd.from_dask_array(X) if frame else X
    end = "; pass a sample of the rows with their (clues|clusters)"
    with pytest.raises(TypeError, match=rf"^{who} does not take dask arrays and tensors{end}\.$"):
        NEED_MEMORY[who](X, y, Clues(30, must=[(0, 1)]))


# --- columns and metrics ----------------------------------------------------------------------------------------


def make_table(n=400):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(500, size=n), "D")
    return pd.DataFrame({"age": rng.normal(size=n), "city": rng.choice(["Rome", "Oslo", "Bonn"], n), "day": days})


def test_rows_encode_a_dask_frame_as_in_memory():
    table = make_table()
    chunked = dd.from_pandas(table, npartitions=3)
    own, other = cw.Rows(), cw.Rows()
    assert_array_equal(other.fit_transform(chunked).compute(), own.fit_transform(table))
    assert other.plan_ == own.plan_
    assert_array_equal(cw.Rows().fit(chunked).transform(chunked).compute(), own.transform(table))
    few = chunked[chunked["age"] > 2.5]
    assert 0 in few.map_partitions(len).compute().tolist()
    assert_array_equal(other.transform(few).compute(), own.transform(table[table["age"] > 2.5]))


@pytest.mark.parametrize("known", [True, False])
def test_rows_encode_a_dask_array_as_in_memory(known):
    X = make_rings(300)[0] * [1, 100]
    chunked = in_chunks(X, 1, 0, 200)
    chunked = chunked if known else chunked[chunked[:, 0] < 1e6]
    assert_array_equal(cw.Rows().fit_transform(chunked).compute(), cw.Rows().fit_transform(X))


@pytest.mark.parametrize("frame", [True, False])
def test_rows_learn_from_some_of_many_rows(frame, monkeypatch):
    monkeypatch.setattr("cluewise.rows._chunks.DRAWN", 1000)
    X = make_rings(4000)[0] * [1, 100]
    chunked = dd.from_pandas(pd.DataFrame(X), npartitions=5) if frame else in_chunks(X, 1000)
    encoded = cw.Rows().fit_transform(chunked).compute()
    assert_allclose(encoded.mean(axis=0), 0, atol=0.2)
    assert_allclose(encoded.var(axis=0), 1, atol=0.2)
    assert (encoded.var(axis=0) != 1).all()
    assert_array_equal(encoded, cw.Rows().fit_transform(chunked).compute())


def test_rows_do_not_take_other_collections():
    with pytest.raises(TypeError, match="X is a Bag; of dask's collections, Rows takes data frames and arrays"):
        cw.Rows().fit(dask.bag.from_sequence([1, 2]))
    with pytest.raises(TypeError, match="X is a Delayed; of dask's collections, Rows takes data frames and arrays"):
        cw.Rows().fit(dask.delayed(np.ones((2, 2))))
    with pytest.raises(ValueError, match="X must have two dimensions, rows and columns; it has 1"):
        cw.Rows().fit(da.ones(3))


def test_rows_begin_a_pipeline():
    """As scikit-learn's scalers bring a dask array into memory."""
    table, clues = make_table(), Clues(400, must=[(0, 1), (2, 3)])
    labels = []
    for one in (table, dd.from_pandas(table, npartitions=3)):
        model = make_pipeline(cw.Rows(), cw.PCKMeans(3, init="random", n_init=1, random_state=0))
        labels.append(np.asarray(model.fit(one, pckmeans__clues=clues)[-1].labels_))
    assert_array_equal(labels[0], labels[1])
    scaled = StandardScaler(copy=False).fit_transform(da.from_array(np.arange(6.0).reshape(3, 2)))
    assert isinstance(scaled, np.ndarray)


@pytest.mark.parametrize("count", [None, 1])
@pytest.mark.parametrize("clued", [True, False])
def test_rca_is_that_of_memory(count, clued):
    X, y = make_rings(300)
    X = X * [1, 100]
    clues = Clues(300, labels=np.where(np.arange(300) < 50, y, -1)) if clued else None
    models = []
    for one in (X, in_chunks(X, 1, 0, 120)):
        with nullcontext() if clued else pytest.warns(ClueWarning, match="no clue joins two rows"):
            models.append(cw.RCA(count).fit(one, clues=clues))
    own, other = models
    assert_allclose(other.components_, own.components_, atol=1e-12)
    chunked = in_chunks(X, 0, 200)
    assert_allclose(other.transform(chunked).compute(), own.transform(X))
    assert other.transform(chunked).chunks == ((0, 200, 100), (count or 2,))


def test_a_metric_then_a_clusterer():
    X, y = make_rings(300)
    clues = Clues(300, labels=np.where(np.arange(300) < 50, y, -1), must=[(60, 61)])
    model = cw.RCA().then(cw.ConstrainedKMeans(3, random_state=0))
    own, other = (clone(model).fit(one, clues=clues) for one in (X, in_chunks(X, 100)[in_chunks(X, 100)[:, 0] > 0]))
    assert_array_equal(other.labels_.compute(), own.labels_)
    assert other.broken_ == own.broken_
    with pytest.raises(TypeError, match="KMeans would bring all of X, a dask array, into memory; it does not take one"):
        cw.RCA().then(KMeans(3)).fit(in_chunks(X))
    with pytest.raises(TypeError, match="DCA does not take dask arrays"):
        cw.DCA().fit(in_chunks(X), clues=clues)


# --- grains -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_grains_are_those_of_memory(dtype):
    X = make_rings(70_000)[0].astype(dtype)
    own, other = (Grains(300, random_state=0).fit(one) for one in (X, in_chunks(X, 1, 0, 20_000, 20_000)))
    assert_array_equal(other.codebook_, own.codebook_)
    assert_array_equal(other.sizes_, own.sizes_)
    assert_allclose(other.centers_, own.centers_, rtol=1e-6)
    assert_allclose(other.scatter_, own.scatter_, rtol=1e-6)
    assert other.labels_.chunks == ((1, 0, 20_000, 20_000, 29_999),)
    assert_array_equal(other.labels_.compute(), own.labels_)
    assert_array_equal(other.transform(in_chunks(X, 7)).compute(), own.labels_)


def test_few_distinct_rows_are_grains_of_their_own():
    X = np.random.default_rng(0).integers(3, size=(2000, 3)).astype(np.float64)
    own, other = (Grains(random_state=0).fit(one) for one in (X, in_chunks(X, 1, 999)))
    assert_array_equal(other.codebook_, own.codebook_)
    assert_array_equal(other.labels_.compute(), own.labels_)


@pytest.mark.parametrize("method", [cw.PCKMeans(3, random_state=0), cw.COPKMeans(3, random_state=0)], ids=str)
def test_grains_then_is_that_of_memory(method):
    """With 64 rows for each grain all of them are in the sample; clues divide grains, and the method follows."""
    X, y = make_rings(1500)
    clues = Clues.sample(y, pairs=300, labels=20, random_state=0)
    own, other = (Grains(24, random_state=0).then(method).fit(one, clues=clues) for one in (X, in_chunks(X, 5, 900)))
    assert len(own.part_sizes_) > 24
    assert_allclose(other.part_centers_, own.part_centers_)
    for name in ("must", "cannot", "labels"):
        assert_array_equal(getattr(other.part_clues_, name), getattr(own.part_clues_, name))
    assert other.broken_ == own.broken_
    for name in ("parts_", "labels_"):
        assert_array_equal(getattr(other, name).compute(), getattr(own, name))
    assert_array_equal(other.predict(in_chunks(X, 70)).compute(), own.predict(X))


def test_other_clues_with_the_same_grains_and_other_chunks():
    X, y = make_rings(1500)
    clues = [Clues.sample(y, pairs=count, random_state=count) for count in (100, 300)]
    model = Grains(24, random_state=0).then(cw.PCKMeans(3, random_state=0))
    own, other = (clone(model).fit(one, clues=clues[0]) for one in (X, in_chunks(X, 700)))
    for chunked in (in_chunks(X, 700), in_chunks(X, 5, 900), in_chunks(X)):
        for more in (clues[1], None):
            assert_array_equal(other.refit(chunked, clues=more).labels_.compute(), own.refit(X, clues=more).labels_)


def test_grains_then_follows_clues_about_a_few_of_many_rows():
    """Beyond the sample, rows without clues follow the splits of those in memory."""
    X, y = make_rings(80_000)
    clues = Clues.sample(y, pairs=300, random_state=0)
    model = Grains(500, random_state=0).then(cw.E2CP(3, random_state=0)).fit(in_chunks(X, 30_000), clues=clues)
    assert cw.metrics.ari(y, model.labels_.compute()) > 0.95
    assert_allclose(model.part_sizes_, np.bincount(model.parts_.compute(), minlength=len(model.part_sizes_)))


def test_frames_of_numbers():
    X, _ = make_rings(300)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = Grains(20, random_state=0).fit(dd.from_pandas(frame, npartitions=4))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert_array_equal(model.labels_.compute(), Grains(20, random_state=0).fit(frame).labels_)


def test_what_grains_of_dask_arrays_cannot_do():
    X = in_chunks(make_rings(300)[0])
    model = Grains(20).then(cw.PCKMeans(2))
    with pytest.raises(TypeError, match="refit needs the X of the last fit: an array in memory"):
        model.fit(X).refit(np.ones((300, 2)))
    with pytest.raises(TypeError, match="partial_fit takes one chunk after the other; fit takes dask arrays"):
        Grains().partial_fit(X)
    with pytest.raises(ClueError, match="bounds on sizes cannot be kept if X is a dask array"):
        Grains(20).then(cw.SizedKMeans(2)).fit(X, clues=Clues(300, sizes=(10, 290)))


def make_weights(n):
    """Every other row weighs nothing, one, or more."""
    return np.random.default_rng(5).integers(3, size=n) / 2


def test_grains_of_weighted_rows_are_those_of_memory():
    X, weight = make_rings(70_000)[0], make_weights(70_000)
    own = Grains(300, random_state=0).fit(X, sample_weight=weight)
    for given in (weight, da.from_array(weight, 9_000)):
        other = Grains(300, random_state=0).fit(in_chunks(X, 1, 0, 20_000), sample_weight=given)
        assert_array_equal(other.codebook_, own.codebook_)
        assert_allclose(other.sizes_, own.sizes_)
        assert_allclose(other.centers_, own.centers_, rtol=1e-6)
        assert_allclose(other.scatter_, own.scatter_, rtol=1e-6)
        assert_array_equal(other.labels_.compute(), own.labels_)


def test_distinct_rows_that_weigh_nothing_are_no_grains():
    X = np.random.default_rng(0).integers(4, size=(2000, 2)).astype(np.float64)
    weight = (X[:, 0] < 3).astype(np.float64)
    own, other = (Grains(random_state=0).fit(one, sample_weight=weight) for one in (X, in_chunks(X, 1, 999)))
    assert len(own.codebook_) == 12
    order, others = np.lexsort(own.codebook_.T), np.lexsort(other.codebook_.T)
    assert_array_equal(other.codebook_[others], own.codebook_[order])
    assert_array_equal(other.sizes_[others], own.sizes_[order])
    assert_array_equal(other.codebook_[other.labels_.compute()], own.codebook_[own.labels_])


def test_grains_of_weighted_rows_are_those_of_equal_rows():
    X, count = make_rings(1500)[0], np.random.default_rng(0).integers(1, 4, size=1500)
    one = Grains(2000, random_state=0).fit(in_chunks(X, 900), sample_weight=count)
    two = Grains(2000, random_state=0).fit(in_chunks(np.repeat(X, count, axis=0), 900))
    assert_allclose(one.sizes_, two.sizes_)
    assert_allclose(one.centers_, two.centers_)


def test_grains_then_of_weighted_rows_is_that_of_memory():
    """Clues divide grains, and some parts have no rows with weight."""
    X, y = make_rings(1500)
    clues, weight = Clues.sample(y, pairs=300, labels=20, random_state=0), make_weights(1500)
    model = Grains(24, random_state=0).then(cw.PCKMeans(3, random_state=0))
    own, other = (clone(model).fit(one, clues=clues, sample_weight=weight) for one in (X, in_chunks(X, 5, 900)))
    assert len(own.part_sizes_) > 24
    assert_allclose(other.part_centers_, own.part_centers_)
    assert_allclose(other.part_sizes_, own.part_sizes_)
    for name in ("parts_", "labels_"):
        assert_array_equal(getattr(other, name).compute(), getattr(own, name))


def test_a_model_on_grains_of_chunks_is_saved_without_labels(tmp_path):
    X = make_rings(2000)[0]
    model = Grains(50, random_state=0).then(cw.PCKMeans(2, random_state=0)).fit(in_chunks(X, 900))
    cw.save(model, tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    assert not hasattr(again, "labels_")
    assert_array_equal(again.predict(X), model.labels_.compute())


# --- Cluewise ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [2, 120])
def test_cluewise_is_that_of_memory(columns, monkeypatch):
    monkeypatch.setattr("cluewise.front._chunks.MANY", 1000)  # rows are looked at in parts
    X, y = make_rings(3000)
    X = X @ np.random.default_rng(0).normal(size=(2, columns)) if columns > 2 else X
    clues = Clues.sample(y, pairs=150, labels=20, noise=0.1, random_state=0)
    own, other = (cw.Cluewise(3, random_state=0).fit(one, clues=clues) for one in (X, in_chunks(X, 1, 0, 1700)))
    assert other.labels_.chunks == ((1, 0, 1700, 1299),)
    assert np.mean(other.labels_.compute() == own.labels_) > 0.999
    assert_allclose(other.margin_.compute(), own.margin_, atol=0.05)
    assert_allclose(other.doubt_, own.doubt_, atol=0.05)
    assert_allclose(other.label_doubt_.compute(), own.label_doubt_, atol=0.05)
    assert other.clues_ == clues
    assert other.broken_ == own.broken_
    assert np.mean(other.predict(in_chunks(X, 900)).compute() == own.predict(X)) > 0.999
    assert_allclose(other.predict_proba(in_chunks(X, 900)).sum(axis=1).compute(), 1, rtol=1e-5)


@pytest.mark.parametrize("columns", [2, 120])
def test_cluewise_of_weighted_rows_is_that_of_memory(columns, tmp_path):
    X, y = make_rings(1500)
    X = X @ np.random.default_rng(0).normal(size=(2, columns)) if columns > 2 else X
    clues, more = (Clues.sample(y, pairs=100, random_state=seed) for seed in range(2))
    weight, rows = make_weights(1500), in_chunks(X, 1, 0, 700)
    own, other = (
        cw.Cluewise(3, random_state=0).fit(one, clues=clues, sample_weight=given)
        for one, given in ((X, weight), (rows, da.from_array(weight, 400)))
    )
    assert np.mean(other.labels_.compute() == own.labels_) > 0.999
    assert_allclose(other.doubt_, own.doubt_, atol=0.05)
    assert_allclose(other._data.ground.sizes, own._data.ground.sizes)
    cw.save(other, tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    for changed in (None, weight[::-1]):
        with pytest.raises(OtherRows, match="the model was fitted with another sample_weight"):
            again.resume(rows, sample_weight=changed)
    expected = own.update(more).labels_
    for model in (other, again.resume(rows, sample_weight=weight)):
        assert np.mean(model.update(more).labels_.compute() == expected) > 0.999


def test_cluewise_takes_fewer_rows_than_columns():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 150)) + y[:, None]
    own, other = (cw.Cluewise(2, random_state=0).fit(one) for one in (X, da.from_array(X, (20, 50))))
    assert_array_equal(other.labels_.compute(), own.labels_)
    assert_array_equal(other.predict(da.from_array(X, ((0, 60), 150))).compute(), own.predict(X))


def test_cluewise_keeps_hard_clues_of_rows_in_chunks():
    X, y = make_rings(3000)
    pairs = np.column_stack([np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]])
    wrong = Clues(3000, must=pairs, must_weight=np.inf)
    model = cw.Cluewise(3, random_state=0).fit(in_chunks(X, 1000), clues=wrong)
    labels = model.labels_.compute()
    assert (labels[wrong.must[:, 0]] == labels[wrong.must[:, 1]]).all()
    assert not model.broken_.kinds


def test_cluewise_learns_more_clues_about_rows_in_chunks():
    """New clues mention rows that were not in memory; ids stay with the clusters."""
    X, y = make_rings(1500)
    X = X @ np.random.default_rng(0).normal(size=(2, 120))  # is projected
    clues = [Clues.sample(y, pairs=60, labels=20, random_state=seed) for seed in range(3)]
    own, other = (cw.Cluewise(3, random_state=0).fit(one, clues=clues[0]) for one in (X, in_chunks(X, 1, 0, 700)))
    for act in (lambda model: model.update(clues[1]), lambda model: model.refit(clues[2])):
        act(own), act(other)
        assert np.mean(other.labels_.compute() == own.labels_) > 0.999
        assert_allclose(other.doubt_, own.doubt_, atol=0.05)
        assert_array_equal(other.cluster_ids_, own.cluster_ids_)
        assert other.clues_ == own.clues_
        assert other.broken_ == own.broken_
    start = y % 3
    expected = own.refit(clues[2], start=start).labels_
    chunked = da.from_array(start, 700)
    for given in (chunked, chunked[chunked >= 0], dd.from_dask_array(chunked), list(start)):
        assert np.mean(other.refit(clues[2], start=given).labels_.compute() == expected) > 0.999


def test_a_saved_cluewise_goes_on_with_the_same_chunks(tmp_path):
    X, y = make_rings(1500)
    first, more = (Clues.sample(y, pairs=60, random_state=seed) for seed in range(2))
    rows = in_chunks(X, 999, 1)
    model = cw.Cluewise(3, random_state=0).fit(rows, clues=first)
    cw.save(model, tmp_path / "model.cw")
    expected = model.update(more).labels_.compute()
    again = cw.load(tmp_path / "model.cw")
    with pytest.raises(ValueError, match=r"a loaded model does not hold its rows; pass them to resume\(X\)"):
        again.update(more)
    with pytest.raises(ValueError, match="column 1 of X differs from that of the fit"):
        again.resume(in_chunks(X + np.array([0, 1]), 100))
    with pytest.raises(ValueError, match="X has 1499 rows, but the model was fitted to 1500"):
        again.resume(rows[1:])
    assert np.mean(again.resume(rows.rechunk((701, 2))).update(more).labels_.compute() == expected) > 0.999
    in_memory = cw.load(tmp_path / "model.cw").resume(X).update(more)  # rows that have come into memory since
    assert np.mean(in_memory.labels_ == expected) > 0.999
    cw.save(in_memory, tmp_path / "other.cw")
    with pytest.raises(ValueError, match="the model was fitted to rows in memory; pass them to resume as an array"):
        cw.load(tmp_path / "other.cw").resume(rows)


def test_the_signature_of_chunks_is_that_of_rows():
    X = np.random.default_rng(0).normal(size=(101, 3))
    own = sign(X, np.ones(101))
    for sizes in ((40,), (1, 0, 33), (7, 7)):
        other = sign_chunks(read_chunks(in_chunks(X, *sizes)))
        assert_allclose(other.rows, own.rows)
        assert_allclose(other.length, own.length)
    rng = np.random.default_rng(101)
    assert_allclose(
        own.rows, rng.uniform(1.0, 2.0, 101) * rng.choice([-1.0, 1.0], 101) @ X
    )  # as saved by older versions


def test_what_cluewise_cannot_do_with_dask_arrays(tmp_path):
    X = in_chunks(make_rings(300)[0], 100)
    model = cw.Cluewise(2, random_state=0).fit(X)
    for act in (model.update, model.refit, lambda clues: model.fit(X, clues=clues)):
        with pytest.raises(ClueError, match="bounds on sizes cannot be kept if X is a dask array"):
            act(Clues(300, sizes=(10, 290)))
    model.fit(X)
    with pytest.raises(ValueError, match="start must have an integer for each of the 300 rows"):
        model.refit(Clues(300), start=np.zeros(299, dtype=int))
    for wrong in (da.zeros(299, dtype=int), da.zeros(300), da.zeros((300, 1), dtype=int)):
        with pytest.raises(ValueError, match="start must have an integer for each of the 300 rows"):
            model.refit(Clues(300), start=wrong)
    model.fit(X)
    cw.save(model, tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    assert_array_equal(again.predict(X).compute(), model.labels_.compute())
