"""The gate: what users may pass, what they get back, and what they are told."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import cluewise as cw
from cluewise import (
    E2CP,
    KCC,
    RCA,
    Clues,
    Cluewise,
    ConstrainedKMeans,
    COPKMeans,
    Grains,
    PCKMeans,
    Rows,
    SeededKMeans,
    SizedKMeans,
)
from cluewise.base import CentroidClusterer, as_clues, checked_data, class_clusters, generator
from cluewise.checks._fits import copy_with
from cluewise.exceptions import ClueError, Infeasible, SoftClueWarning, UnusedClueWarning
from cluewise.tables import TableError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ([(0, 1), (2, 3)], r"an array of shape \(2, 2\)"),
        (np.zeros((30, 2), int), r"an array of shape \(30, 2\)"),
        (([(0, 1)], [(1, 2), (2, 3)]), "lists of pairs"),
        (7, r"an array of shape \(\)"),
    ],
)
def test_bare_pairs_are_refused_with_a_hint(given, hint):
    with pytest.raises(ClueError, match=hint + ".*Clues.from_pairs"):
        PCKMeans(2).fit(X, clues=given)


def test_paths_and_mappings_are_refused_with_the_call_that_reads_them():
    for path in ("a/pairs.csv", Path("a/pairs.csv")):
        with pytest.raises(ClueError, match=rf"read the file: Clues.read\('a/pairs.csv', n={len(X)}\)."):
            PCKMeans(2).fit(X, clues=path)
    with pytest.raises(ClueError, match=rf"make one of it: Clues\({len(X)}, \*\*clues\)."):
        PCKMeans(2).fit(X, clues={"must": [(0, 1)]})
    with pytest.raises(TableError, match=r"read it first: cluewise.tables.read\('rows.csv'\)."):
        Rows().fit("rows.csv")


def test_clues_about_other_rows():
    with pytest.raises(ClueError, match="the clues are for 29 rows, but X has 30"):
        PCKMeans(2).fit(X, clues=Clues(29))
    with pytest.raises(ClueError, match="the clues are for 3 rows, but X has 30"):
        SeededKMeans(2).fit(X, clues=[0, 1, -1])


def test_as_clues():
    assert as_clues(None, 4) == Clues(4)
    clues = Clues(4, must=[(0, 1)])
    assert as_clues(clues, 4) is clues
    assert as_clues(["a", None, "b", ""], 4) == Clues(4, labels=["a", None, "b", ""])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 2.5}, "n_clusters"),
        ({"n_clusters": 31}, "n_clusters=31 is larger than the number of rows, n_samples=30"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"n_init": 0}, "n_init"),
        ({"penalty": -1}, "penalty"),
        ({"penalty": "high"}, "penalty"),
        ({"random_state": "seed"}, "random_state"),
        ({"init": "best"}, "init='best' is not one of 'neighborhoods', 'farthest-first'"),
        ({"init": np.zeros((2, 3))}, r"init needs shape \(n_clusters, n_features\) = \(2, 2\); it has \(2, 3\)"),
        ({"init": [[0.0, np.nan], [1, 1]]}, "init holds nan or infinity"),
        ({"init": lambda X, k, random_state: X[:1]}, "init needs shape"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        PCKMeans(**({"n_clusters": 2} | params)).fit(X)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[0, 1], [2, np.nan]], "X holds NaN in row 1, column 1; .* numbers: 1"),
        (csr_array([[0, 1, 0], [2, 0, np.inf], [0, np.nan, 0]]), r"infinity \(inf\) in row 1, column 2; .* numbers: 2"),
        ([[0, 1], ["2", "b"]], "X holds the text 'b' in row 1, column 1"),
        (pd.DataFrame({"x": [0, 1], "color": ["red", "blue"]}), "the text 'red' in row 0, column 'color'"),
        ([[0, 1], [2]], "rows of X differ in length: row 1 has 1 values, row 0 has 2"),
        ([[0, 1], [2, {"a": 3}]], "float"),
        ([[0, 1], [2, [3, 4]]], "sequence"),
        (np.empty((0, 2)), "0 sample"),
        ([1.0, 2.0], "1D|Expected 2D"),
    ],
)
def test_bad_data(bad, message):
    with pytest.raises((TypeError, ValueError), match=message):
        PCKMeans(2).fit(bad)


def test_large_numbers_are_finite():
    """Their squares are not, in single precision."""
    big = np.array([[3e38, 3e38], [0, 0], [3e38, 3e38]], np.float32)
    with pytest.raises(ValueError, match=r"^X reaches 3e\+38, .* convert it to float64"):
        checked_data(PCKMeans(2), big, reset=True)
    double = big.astype(np.float64)
    assert checked_data(PCKMeans(2), double, reset=True) is double


def test_prediction_checks_its_rows_too():
    with pytest.raises(ValueError, match="NaN in row 0, column 1"):
        PCKMeans(2).fit(X).predict([[0, np.nan]])


def test_bad_sample_weight():
    with pytest.raises(ValueError, match=r"zero for every row|at least one non-zero"):
        PCKMeans(2).fit(X, sample_weight=np.zeros(30))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        PCKMeans(2).fit(X, sample_weight=np.full(30, -1.0))


def test_a_callable_start_sees_the_rows_and_a_seeded_state():
    seen = []

    def start(rows, k, random_state):
        seen.append((rows.shape, k, random_state.randint(1000)))
        return rows[random_state.choice(len(rows), k, replace=False)]

    first = PCKMeans(3, init=start, n_init=2, random_state=0).fit(X)
    second = PCKMeans(3, init=start, n_init=2, random_state=0).fit(X)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert seen[0][:2] == ((30, 2), 3)
    assert seen[:2] == seen[2:]
    assert seen[0][2] != seen[1][2]  # every start draws its own


@pytest.mark.parametrize("make", [lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)])
def test_random_state_of_every_kind(make):
    first = PCKMeans(4, random_state=make(), max_iter=2).fit(X)
    second = PCKMeans(4, random_state=make(), max_iter=2).fit(X)
    np.testing.assert_array_equal(first.cluster_centers_, second.cluster_centers_)


def test_without_a_seed_numpys_global_state_decides():
    state = np.random.get_state()  # noqa: NPY002
    try:
        drawn = []
        for _ in range(2):
            np.random.seed(7)  # noqa: NPY002
            drawn.append(generator(None).random())
        assert drawn[0] == drawn[1] != generator(None).random()
    finally:
        np.random.set_state(state)  # noqa: NPY002


def test_a_fit_that_max_iter_ends_warns():
    with pytest.warns(
        ConvergenceWarning, match=r"^PCKMeans has not converged in max_iter=2 iterations; increase"
    ) as told:
        PCKMeans(6, max_iter=2, random_state=0).fit(X)
    assert {warning.filename for warning in told} == {__file__}
    with pytest.warns(ConvergenceWarning, match="E2CP has not converged in max_iter=1"):
        E2CP(6, max_iter=1, n_neighbors=4, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PCKMeans(6, random_state=0).fit(X)


def test_a_fit_that_a_callback_ends_does_not_warn():
    class Stop:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            return True

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PCKMeans(6, max_iter=1, random_state=0).set_callbacks(Stop()).fit(X).n_iter_ == 1


def test_more_starts_are_never_worse():
    values = [PCKMeans(6, init="random", n_init=n, random_state=0).fit(X).objective_ for n in (1, 3, 10)]
    assert values[0] >= values[1] >= values[2]
    assert values[0] > values[2]


def test_given_centers_are_one_start():
    calls = []

    class Count:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context):
            calls.append(context.task_name)

        def on_fit_task_end(self, estimator, context): ...
        def teardown(self, estimator, context): ...

    PCKMeans(3, init=X[:3], n_init=9).set_callbacks(Count()).fit(X)
    assert calls.count("start") == 1


def test_unused_kinds_are_named_once():
    clues = Clues(30, labels=[0] + [-1] * 29, must=[(0, 1)], sizes=(1, 20))
    with pytest.warns(UnusedClueWarning, match="SeededKMeans does not use clues of the kind must, sizes; they are"):
        SeededKMeans(2, random_state=0).fit(X, clues=clues)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnusedClueWarning)
        SeededKMeans(2, random_state=0).fit(X, clues=clues.only(["labels"]))


def test_the_warning_points_at_the_call():
    with pytest.warns(UnusedClueWarning) as caught:
        SeededKMeans(2, random_state=0).fit(X, clues=Clues(30, must=[(0, 1)]))
    assert caught[0].filename == __file__


def test_weights():
    links = {"must": [(0, 1), (2, 3)], "must_weight": [1.0, 2.0]}
    with pytest.warns(
        SoftClueWarning, match="COPKMeans takes every clue as hard; the weights, which differ, are ignored"
    ):
        COPKMeans(2, random_state=0).fit(X, clues=Clues(30, **links))
    group = Clues(30, apart=np.append([0, 0], np.full(28, -1)), apart_weight=np.inf)
    with pytest.raises(ClueError, match="PCKMeans cannot mix hard and soft clues: a weight is infinite"):
        PCKMeans(2).fit(X, clues=group)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        COPKMeans(2, random_state=0).fit(X, clues=group)


@pytest.mark.parametrize("cls", [SeededKMeans, ConstrainedKMeans, PCKMeans, COPKMeans])
def test_fewer_distinct_rows_than_clusters(cls):
    with pytest.warns(ConvergenceWarning, match="only 2 of 3 clusters have rows"):
        model = cls(3, random_state=0).fit(np.repeat([[0.0], [5.0]], 4, axis=0))
    assert model.n_clusters_ == 2
    assert np.isfinite(model.cluster_centers_).all()


def test_one_cluster_and_as_many_clusters_as_rows():
    model = PCKMeans(1).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [X.mean(axis=0)])
    assert np.isposinf(model.margin_).all()
    every = COPKMeans(30, random_state=0).fit(X)
    assert sorted(every.labels_) == list(range(30))
    assert every.objective_ == pytest.approx(0, abs=1e-12)


def test_what_comes_back():
    model = PCKMeans(3, random_state=0, tol=0).fit(X)
    half = 0.5 * ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    ordered = np.sort(half, axis=1)
    np.testing.assert_allclose(model.margin_, ordered[:, 1] - ordered[:, 0], atol=1e-12)
    np.testing.assert_allclose(model.transform(X), np.sqrt(2 * half), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.labels_.dtype == np.int32
    assert model.objective_ == pytest.approx(half.min(axis=1).sum())
    assert model.trace_[-1] == pytest.approx(model.objective_)
    assert model.n_iter_ == len(model.trace_) <= 300


@pytest.mark.parametrize("method", ["predict", "transform"])
def test_new_rows(method):
    with pytest.raises(NotFittedError):
        getattr(PCKMeans(2), method)(X)
    model = PCKMeans(3, random_state=0).fit(X)
    new = 1000 + RNG.normal(size=(7, 2))  # far from everything the model has seen
    dense, sparse = getattr(model, method)(new), getattr(model, method)(csr_array(new))
    np.testing.assert_allclose(dense, sparse, rtol=1e-6)
    squared = ((new[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    expected = squared.argmin(axis=1) if method == "predict" else np.sqrt(squared)
    np.testing.assert_allclose(dense, expected)
    with pytest.raises(ValueError, match="expecting 2 features"):
        getattr(model, method)(np.zeros((3, 5)))


def test_whole_numbers_and_single_precision():
    whole = PCKMeans(2, init=[[0, 0], [9, 9]]).fit([[0, 1], [1, 0], [9, 8], [8, 9]])
    assert whole.cluster_centers_.dtype == np.float64
    single = PCKMeans(2, random_state=0).fit(X.astype(np.float32))
    assert single.cluster_centers_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32


def test_class_clusters():
    def of(labels, k):
        return class_clusters(Clues(len(labels), labels=labels), k).tolist()

    assert of([2, 0, None], 3) == [0, 2]
    assert of([7, 5, None], 3) == [0, 1]
    assert of([True, False], 2) == [0, 1]
    assert of(["b", "a"], 5) == [0, 1]
    assert of([None, None], 2) == []
    with pytest.raises(Infeasible, match="the labels have 3 classes, more than n_clusters=2"):
        of(["a", "b", "c"], 2)
    sliced = Clues(4, labels=["a", "b", "c", None])[np.array([3, 2, 0])]
    assert class_clusters(sliced, 2).tolist() == [0, -1, 1]


def test_a_subclass_must_say_how_it_solves():
    class Lazy(PCKMeans):
        _solve = CentroidClusterer._solve

    with pytest.raises(TypeError, match="Lazy does not implement _solve"):
        Lazy(2).fit(X)


@pytest.mark.parametrize("name", ["PCKMeans", "EquivalenceGMM", "MaxMarginClusterer", "RCA", "ITML"])
def test_a_failed_fit_leaves_no_mixture_of_two(name):
    """Neither before nor after a good fit does a bad one leave something that predicts or transforms."""
    rng = np.random.default_rng(0)
    X, use = rng.normal(size=(20, 3)), "predict" if hasattr(getattr(cw, name), "predict") else "transform"
    model = getattr(cw, name)()
    if "n_clusters" in model.get_params():
        model.set_params(n_clusters=2)
    with pytest.raises(ClueError):
        model.fit(X, clues=Clues(21))
    with pytest.raises(NotFittedError):
        getattr(model, use)(X)
    model.fit(X, clues=[0, 0, 1, 1] + [-1] * 16)
    assert len(getattr(model, use)(X)) == 20
    with pytest.raises(ClueError):
        model.fit(X[:, :2], clues=Clues(21))
    with pytest.raises(NotFittedError):
        getattr(model, use)(X[:, :2])


PARTIAL = {
    "-1": [0, -1, 1, 0, -1, 1],
    "nan": [0.0, np.nan, 1, 0, 1, 1],
    "None": ["a", None, "b", "a", "a", "b"],
    "{-1, 0}": [0, -1, -1, -1, -1, -1],
}
COMPLETE = {"numbers": [0, 1, 1, 0, 2, 1], "names": list("abcabc"), "±1": [1, -1, 1, -1, 1, 1]}


@pytest.mark.parametrize("y", PARTIAL.values(), ids=PARTIAL)
@pytest.mark.parametrize("call", ["fit", "fit_predict"])
def test_partial_labels_as_y_are_ignored_with_a_warning(y, call):
    X = RNG.normal(size=(6, 2))
    for model in (PCKMeans(2), E2CP(2, n_neighbors=2), RCA().then(PCKMeans(2)), KCC(2, n_partitions=3)):
        with pytest.warns(UnusedClueWarning, match=r"ignores y, .* pass them as clues=Clues.from_labels\(y\)") as heard:
            getattr(model, call)(X, y)
        assert {warning.filename for warning in heard if warning.category is UnusedClueWarning} == {__file__}


def test_clues_as_y_are_ignored_with_a_warning():
    X, clues = RNG.normal(size=(6, 2)), Clues(6, must=[(0, 1)])
    models = Cluewise(2), PCKMeans(2), SizedKMeans(2), RCA().then(PCKMeans(2)), Grains(3).then(PCKMeans(2))
    for model in models:
        with pytest.warns(UnusedClueWarning, match="ignores y, which holds clues; pass them as clues=") as heard:
            model.fit(X, clues)
        assert {warning.filename for warning in heard if warning.category is UnusedClueWarning} == {__file__}


@pytest.mark.parametrize("y", COMPLETE.values(), ids=COMPLETE)
def test_complete_labels_as_y_are_ignored_with_a_warning(y):
    X = RNG.normal(size=(6, 2))
    for call in ("fit", "fit_predict"):
        with pytest.warns(UnusedClueWarning, match=r"labels of all rows; .* pass them as clues=Clues.from_labels\(y\)"):
            getattr(PCKMeans(2), call)(X, y)


def test_y_that_holds_no_labels_is_ignored_in_silence():
    X = RNG.normal(size=(6, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnusedClueWarning)
        for y in (np.eye(6), RNG.normal(size=6), range(6)):
            PCKMeans(2).fit(X, y)
        PCKMeans(2).fit(X, COMPLETE["names"], clues=Clues(6, must=[(0, 1)]))
        PCKMeans(2).fit(X, PARTIAL["-1"], clues=Clues(6, must=[(0, 1)]))
        SizedKMeans(2).fit(X, PARTIAL["-1"])  # takes no labels


CENTERS = {name: cls for name, cls in cw.clusterers().items() if cls.__module__.startswith("cluewise.centroid")}
NEAREST = {name: cls for name, cls in CENTERS.items() if issubclass(cls, CentroidClusterer)}


@pytest.mark.parametrize("name", CENTERS)
def test_inertia_is_the_spread_around_the_centers(name):
    weight = RNG.uniform(0.5, 2, size=30)
    model = copy_with(CENTERS[name](), n_clusters=3, random_state=0).fit(X, sample_weight=weight)
    own = model.transform(X)[np.arange(30), model.labels_]
    assert model.inertia_ == pytest.approx(weight @ own**2)


@pytest.mark.parametrize("name", NEAREST)
def test_score_is_that_of_scikit_learn(name):
    model = copy_with(NEAREST[name](), n_clusters=3, random_state=0).fit(X)
    plain = KMeans(3, init=model.cluster_centers_, n_init=1, max_iter=1, tol=1e9).fit(X)
    plain.cluster_centers_ = model.cluster_centers_
    new, weight = RNG.normal(size=(12, 2)), RNG.uniform(0.5, 2, size=12)
    assert model.score(new) == pytest.approx(plain.score(new))
    assert model.score(csr_array(new), sample_weight=weight) == pytest.approx(plain.score(new, sample_weight=weight))


def test_score_of_rows_in_chunks():
    import dask.array as da

    model = PCKMeans(3, random_state=0).fit(X)
    weight = RNG.uniform(0.5, 2, size=30)
    assert model.score(da.from_array(X, chunks=(7, 2))) == pytest.approx(model.score(X))
    found = model.score(da.from_array(X, chunks=(7, 2)), sample_weight=da.from_array(weight, chunks=7))
    assert found == pytest.approx(model.score(X, sample_weight=weight))


def count_starts(model):
    """Number of starts of a fit."""
    seen = []

    class Count:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context):
            seen.append(context.task_name)

        def on_fit_task_end(self, estimator, context): ...

    model.set_callbacks(Count()).fit(X)
    return seen.count("start")


@pytest.mark.parametrize(
    ("model", "starts"),
    [
        (SeededKMeans(3, n_init="auto"), 1),
        (SeededKMeans(3, n_init="auto", init="random"), 10),
        (SeededKMeans(3, n_init="auto", init=lambda rows, k, random_state: rows[random_state.choice(30, k)]), 10),
        (SeededKMeans(3, n_init="auto", init=X[:3]), 1),
        (PCKMeans(3, n_init="auto"), 1),
        (E2CP(3, n_init="auto", n_neighbors=4), 1),
        (KCC(3, n_init="auto", n_partitions=4), 10),
    ],
)
def test_number_of_starts_as_in_scikit_learn(model, starts):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert count_starts(model.set_params(random_state=0)) == starts


def test_several_starts_from_given_centers_warn():
    with pytest.warns(RuntimeWarning, match="init holds centers, so PCKMeans makes one start instead of n_init=7"):
        assert count_starts(PCKMeans(3, init=X[:3], n_init=7)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for more in ({}, {"n_init": 1}, {"n_init": 7, "order": "random"}):
            PCKMeans(3, init=X[:3], random_state=0, **more).fit(X)


def test_a_given_graph_in_pieces_warns():
    graph = np.kron(np.eye(2), np.ones((5, 5)))
    with pytest.warns(UserWarning, match="the graph is not fully connected but in 2 pieces") as told:
        E2CP(2, affinity="precomputed").fit(graph)
    assert {warning.filename for warning in told} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        E2CP(2, affinity="precomputed").fit(graph + 0.01)
        E2CP(2, n_neighbors=2).fit(np.vstack([X[:9], X[:9] + 1000]))  # pieces are joined here


def test_masked_cells_are_refused():
    hidden = np.ma.array(X, mask=np.zeros_like(X, dtype=bool))
    PCKMeans(2).fit(hidden)  # nothing is masked
    hidden[4, 1] = np.ma.masked
    words = "X is a masked array that hides cells, 1 in all and the first in row 4, column 1; fill them in"
    for call in (PCKMeans(2).fit, Cluewise(2).fit, RCA().fit, Grains(3).fit, PCKMeans(2).fit(X).predict):
        with pytest.raises(ValueError, match=words):
            call(hidden)
    with pytest.raises(ValueError, match=r"sample_weight is a masked array that hides cells, .* the first in row 4;"):
        PCKMeans(2).fit(X, sample_weight=np.abs(hidden[:, 1]))
    with pytest.raises(ValueError, match="init is a masked array"):
        PCKMeans(2, init=hidden[4:6]).fit(X)
