"""Saved models: they predict as before, bit for bit, and are the same in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.cluster import KMeans

import cluewise as cw
from cluewise import models
from cluewise.checks import sample_clues
from cluewise.cli._cards import load_methods
from cluewise.models._classes import THEIRS, find_class
from cluewise.models._values import Decoder, Encoder

METHODS = load_methods()
KINDS = {"labels", "must", "cannot"}


def make_rows(dtype=np.float64):
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    return (10 + 3 * rng.normal(size=(3, 4))[y] + rng.normal(scale=0.3, size=(45, 4))).round(2).astype(dtype), y


def fit(name, dtype):
    X, y = make_rows(dtype)
    cls = METHODS[name]
    kinds = cls.card.accepts & KINDS or cls.card.accepts - {"sizes"}
    model = cls()
    known = model.get_params()
    model.set_params(**{key: value for key, value in (("n_clusters", 3), ("random_state", 0)) if key in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, clues=sample_clues(y, kinds, np.random.default_rng(1)))


def same(a, b):
    """Whether two values are equal, bit for bit, however deep."""
    if isinstance(a, np.ndarray):
        return (
            type(b) is np.ndarray
            and a.dtype == b.dtype
            and a.shape == b.shape
            and (same(a.tolist(), b.tolist()) if a.dtype == object else a.tobytes() == b.tobytes())
        )
    if isinstance(a, dict):
        return type(a) is type(b) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if sparse.issparse(a):
        return type(a) is type(b) and a.shape == b.shape and same(a.toarray(), b.toarray())
    if isinstance(a, np.random.Generator):
        return same(a.bit_generator.state, b.bit_generator.state)
    return type(a) is type(b) and (a == b or (a != a and b != b) or repr(a) == repr(b))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_the_catalogue_is_the_same_after_it_was_loaded(name, folder):
    dtype = np.float32 if METHODS[name].card.single else np.float64
    model = fit(name, dtype)
    path = folder / f"{name}.cw"
    cw.save(model, path)
    again = cw.load(path)
    assert type(again) is type(model)
    assert same(again.get_params(), model.get_params())
    public = [key for key in vars(model) if key.endswith("_") and not key.startswith("_")]
    assert [key for key in public if not same(getattr(again, key), getattr(model, key))] == []
    rows = make_rows(dtype)[0] + dtype(0.25)
    assert hasattr(again, "predict") == model.card.predicts
    expected = {}
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(model, method):
            expected[method] = getattr(model, method)(rows)
            assert same(getattr(again, method)(rows), expected[method])
    np.savez(folder / f"{name}.npz", rows=rows, **expected)


LOAD_ALL = """
import sys, pathlib, numpy as np
from cluewise import models
for path in map(pathlib.Path, sys.argv[1:]):
    model = models.load(path)
    with np.load(path.with_suffix(".npz")) as expected:
        for method in set(expected.files) - {"rows"}:
            found = getattr(model, method)(expected["rows"])
            assert found.tobytes() == expected[method].tobytes(), (path.stem, method)
    print(path.stem)
"""


def test_models_inside_models_are_saved(folder):
    X, y = make_rows()
    clues = cw.Clues.sample(y, pairs=40, random_state=0).only(["must"])
    for model in (
        cw.RCA().then(KMeans(3, n_init=1, random_state=0)),
        cw.Grains(10, random_state=0).then(cw.PCKMeans(3, random_state=0)),
        cw.ClueSearchCV([cw.PCKMeans(), cw.E2CP()], n_clusters=[2, 3], random_state=0),
    ):
        model.fit(X, clues=clues)
        path = folder / f"{type(model).__name__}.cw"
        cw.save(model, path)
        again = cw.load(path)
        assert repr(again) == repr(model)
        assert same(again.labels_, model.labels_)
        assert same(again.predict(X), model.predict(X))
        np.savez(path.with_suffix(".npz"), rows=X, predict=model.predict(X))


def test_another_process_predicts_the_same(folder):
    saved = sorted(folder.glob("*.cw"))  # by the tests above
    found = subprocess.run([sys.executable, "-c", LOAD_ALL, *map(str, saved)], capture_output=True, text=True)
    assert found.stderr == ""
    assert found.stdout.split() == [path.stem for path in saved]
    # Alone, so that no other model has imported what it needs.
    for name in ("MetricThen", "GrainsThen"):
        alone = subprocess.run([sys.executable, "-c", LOAD_ALL, str(folder / f"{name}.cw")], capture_output=True)
        assert alone.stderr == b""


@pytest.mark.parametrize("name", THEIRS)
def test_estimators_of_scikit_learn_hold_nothing_but_arrays(name):
    model: Any = find_class(f"sklearn.{name}")()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    X = make_rows()[0]
    model.fit(X)
    encoder = Encoder()
    again = Decoder(encoder.arrays).decode(json.loads(json.dumps(encoder.encode(model, "model"))))
    for method in ("predict", "transform"):
        if hasattr(model, method):
            assert same(getattr(again, method)(X), getattr(model, method)(X))
    assert same(getattr(again, "labels_", None), getattr(model, "labels_", None))


def test_wide_rows_are_projected_as_before(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 120))
    model = cw.Cluewise(2, random_state=0).fit(X)
    cw.save(model, tmp_path / "model.cw")
    assert same(cw.load(tmp_path / "model.cw").predict_proba(X), model.predict_proba(X))


def test_a_cluewise_is_saved_with_no_rows_but_its_references_and_keeps_its_ids(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=2000)
    X = rng.normal(size=(2000, 3)) + 6 * rng.normal(size=(3, 3))[y]
    model = cw.Cluewise(3, random_state=0).fit(X, clues=cw.Clues.sample(y, labels=30, random_state=0))
    model.cluster_ids_ = np.array([7, 2, 9])
    cw.save(model, tmp_path / "model.cw")
    with np.load(tmp_path / "model.cw") as archive:  # an NPZ but for its index
        arrays = [archive[name] for name in archive.files if name.startswith("arrays/")]
    assert [array.shape for array in arrays].count((3, 2000)) == 1  # a column for each reference: up to 60,000 rows
    tables = [array for array in arrays if array.ndim == 2 and 2000 in array.shape and array.shape != (3, 2000)]
    assert [table.shape for table in tables] == [model._data.ground._along.shape]
    again = cw.load(tmp_path / "model.cw")
    assert again.cluster_ids_.tolist() == [7, 2, 9]
    assert str(again.choice_) == str(model.choice_)
    with pytest.raises(ValueError, match=r"a loaded model does not hold its rows; pass them to resume\(X\)"):
        again.update(cw.Clues(2000, must=[(0, 1)]))
    cw.save(again, tmp_path / "again.cw")
    assert (tmp_path / "again.cw").read_bytes() == (tmp_path / "model.cw").read_bytes()
    again.resume(X)
    more = cw.Clues.sample(y, pairs=40, random_state=1)
    model.update(more)  # saving has taken nothing from it
    assert same(again.update(more).margin_, model.margin_)
    assert same(again.cluster_ids_, model.cluster_ids_)


def test_a_model_whose_harm_is_unknown_is_saved_as_json_that_every_reader_accepts(tmp_path):
    X, y = make_rows()
    model = cw.Cluewise(3, hard=True, random_state=0).fit(X, clues=cw.Clues.sample(y, pairs=20, random_state=0))
    cw.save(model, tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    assert np.isnan(model.harm_)
    assert np.isnan(again.harm_)
    assert again.choice_.harm_unknown == model.choice_.harm_unknown
    assert np.isnan(again.resume(X).update(cw.Clues(45, must=[(0, 3)])).harm_)


def test_a_loaded_cluewise_is_resumed_with_its_own_rows_only(tmp_path):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 3)), rng.uniform(1, 2, 60)
    cw.save(cw.Cluewise(2, random_state=0).fit(X), tmp_path / "model.cw")
    cw.save(cw.Cluewise(2, random_state=0).fit(X, sample_weight=weight), tmp_path / "weighted.cw")
    plain, weighted = cw.load(tmp_path / "model.cw"), cw.load(tmp_path / "weighted.cw")
    changed, swapped = X.copy(), X.copy()
    changed[7, 1] += 0.01
    swapped[[3, 4], 2] = X[[4, 3], 2]
    for model, taken, words in (
        (plain, {"X": X[:59]}, "X has 59 rows, but the model was fitted to 60"),
        (plain, {"X": changed}, "column 1 of X differs from that of the fit"),
        (plain, {"X": swapped}, "column 2 of X differs from that of the fit"),
        (plain, {"X": X, "sample_weight": weight}, "fitted without sample_weight"),
        (weighted, {"X": X}, "fitted with another sample_weight"),
        (weighted, {"X": X, "sample_weight": weight[::-1]}, "fitted with another sample_weight"),
    ):
        with pytest.raises(cw.exceptions.OtherRows, match=words):
            model.resume(**taken)
    clues = cw.Clues(60, must=[(0, 1)])
    assert plain.resume(X.astype(np.float32)).update(clues).clues_ == clues
    assert weighted.resume(X, sample_weight=weight).update(clues).clues_ == clues


def test_parameters_of_every_type_come_back(tmp_path):
    X, _ = make_rows()
    for start in (X[:3], X[:3].tolist(), "k-means++"):
        for seed in (None, 3, np.int64(3), np.random.default_rng(5), np.random.RandomState(5)):
            model = cw.PCKMeans(3, init=start, random_state=seed, n_init=1).fit(X)
            cw.save(model, tmp_path / "model.cw")
            again = cw.load(tmp_path / "model.cw").get_params()
            assert same(again["init"], start)
            if hasattr(seed, "normal"):
                assert again["random_state"].normal() == seed.normal()
            else:
                assert same(again["random_state"], seed)


SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
ARRAYS = hnp.arrays(
    st.sampled_from(["f8", "f4", "i8", "u1", "?", "U3", ">i4", "M8[s]"]), hnp.array_shapes(min_dims=0, min_side=0)
)
VALUES = st.recursive(
    SIMPLE | ARRAYS | ARRAYS.map(np.asfortranarray) | st.floats().map(np.float64) | st.frozensets(st.integers()),
    lambda inside: (
        st.lists(inside)
        | st.lists(inside).map(tuple)
        | st.dictionaries(st.integers() | st.text() | st.none() | st.tuples(st.text()), inside)
    ),
    max_leaves=8,
)


def pass_through(value):
    encoder = Encoder()
    tree = json.loads(json.dumps(encoder.encode(value, "value")))
    return Decoder(encoder.arrays).decode(tree)


@given(VALUES)
def test_values_come_back(value):
    assert same(pass_through(value), value)


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix", "coo_matrix"])
def test_sparse_matrices_come_back(kind):
    for dense in (np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]), np.zeros((0, 3)), np.zeros((3, 0))):
        value = getattr(sparse, kind)(dense)
        assert same(pass_through(value), value)


@pytest.mark.parametrize("value", [np.str_(""), np.bytes_(b""), np.str_("a"), np.datetime64("2020-01-01"), np.True_])
def test_scalars_come_back(value):
    assert same(pass_through(value), value)


@pytest.mark.parametrize(
    "value", [np.dtype([("a", "f4"), ("b", "i4")]), np.dtype(("f8", 2)), sparse.lil_array((2, 2))], ids=str
)
def test_values_that_would_come_back_as_others_are_refused(value):
    with pytest.raises(ValueError, match=r"^value is a .*, which a saved model cannot hold\.$"):
        Encoder().encode(value, "value")


@given(ARRAYS)
def test_arrays_come_back_in_their_order(array):
    import io

    from cluewise.models._files import _pack, _unpack

    for some in (array, np.asfortranarray(array)):
        stream = io.BytesIO()
        _pack(stream, b'{"format": "cluewise model", "version": 1, "arrays": 1}', [some])
        (again,) = _unpack(stream.getvalue(), "model.cw")[1]
        assert same(again, some)
        assert again.flags.f_contiguous == some.flags.f_contiguous
        assert again.flags.writeable


def test_fields_that_models_of_older_versions_do_not_know_have_their_defaults():
    """Tuples with names are stored without the names of their fields."""
    X, y = make_rows()
    model = cw.Cluewise(random_state=0).fit(X, clues=y)
    assert model._fitted.counted_for == len(X)
    encoder = Encoder()
    tree = encoder.encode(model._fitted, "value")
    del tree["fields"][model._fitted._fields.index("counted_for") :]
    again = Decoder(encoder.arrays).decode(tree)
    assert again.counted_for == 0
    assert same(again.right, model._fitted.right)


def test_a_shared_array_is_stored_once_and_stays_shared():
    shared = np.arange(3)
    encoder = Encoder()
    tree = encoder.encode([shared, {"again": shared}], "value")
    assert len(encoder.arrays) == 1
    first, second = Decoder(encoder.arrays).decode(tree)
    assert first is second["again"]


def test_equal_models_make_equal_files(tmp_path):
    for name in ("a.cw", "b.cw"):
        cw.save(fit("PCKMeans", np.float64), tmp_path / name)
    assert (tmp_path / "a.cw").read_bytes() == (tmp_path / "b.cw").read_bytes()


def test_what_a_model_cannot_hold_is_named(tmp_path):
    X, _ = make_rows()
    path = tmp_path / "model.cw"
    with pytest.raises(ValueError, match="This PCKMeans instance is not fitted yet"):
        cw.save(cw.PCKMeans(), path)
    start = lambda X, n_clusters, random_state: X[:n_clusters]  # noqa: E731
    with pytest.raises(ValueError, match=r"PCKMeans.init is the function .*, which a saved model cannot hold"):
        cw.save(cw.PCKMeans(3, init=start).fit(X), path)

    class Own(cw.PCKMeans):
        pass

    with pytest.raises(ValueError, match=r"Own is a .*Own, which a saved model cannot hold"):
        cw.save(Own(3).fit(X), path)
    endless = cw.PCKMeans(3, random_state=0).fit(X)
    endless.more_ = [endless]
    with pytest.raises(ValueError, match="PCKMeans is nested too deeply, or holds itself, and cannot be saved"):
        cw.save(endless, path)
    assert not list(tmp_path.iterdir())


def test_sections_are_saved_with_the_model(tmp_path):
    model = fit("PCKMeans", np.float64)
    sections = {"rows": {"mean": np.arange(3.0), "columns": ["a", "b"]}, "names": {3: "Paris", -1: None}}
    models.write(tmp_path / "model.cw", model, sections)
    assert same(models.read(tmp_path / "model.cw").sections, sections)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("moment", ["arrays", "checksum", "rename"])
def test_a_process_that_is_killed_during_a_save_leaves_the_old_model(tmp_path, moment):
    path = tmp_path / "model.cw"
    cw.save(fit("PCKMeans", np.float64), path)
    before = path.read_bytes()
    model = fit("E2CP", np.float64)
    child = os.fork()
    if child == 0:
        place, name = {
            "arrays": (np.lib.format, "write_array"),
            "checksum": (models._files, "_seal"),
            "rename": (os, "replace"),
        }[moment]
        setattr(place, name, lambda *args, **more: os._exit(9))
        cw.save(model, path)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert path.read_bytes() == before
    assert type(cw.load(path)) is cw.PCKMeans


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_save_that_fails_leaves_the_old_model_and_nothing_else(tmp_path, monkeypatch, error):
    path = tmp_path / "model.cw"
    model = fit("PCKMeans", np.float64)
    cw.save(model, path)
    before = path.read_bytes()

    def fail(*args, **more):
        raise error

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises((KeyboardInterrupt, OSError)) as caught:
        cw.save(model, path)
    if isinstance(error, OSError):
        assert str(caught.value) == f"'{path}' cannot be written: no space left on device."
    assert [file.name for file in tmp_path.iterdir()] == ["model.cw"]
    assert path.read_bytes() == before
