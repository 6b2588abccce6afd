"""A model on disk: everything comes back, and an interrupted save leaves the earlier one."""

import json
import signal
import zipfile

import numpy as np
import pytest

from cluewise import Clues, tables
from cluewise.datasets import load as load_data
from cluewise.ensemble import scsc_folder
from cluewise.ensemble._scsc import SCSC
from cluewise.tables import folders
from cluewise.tables.folders import StateError

RAW = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1], [1, 1, 1, 0, 0, 0]])


def report(source, **links):
    return Clues(6, source=source, **links)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"update_rule": "exact", "memory": "all"},
        {"update_rule": "exact", "inertia": 3.5},
        {"hard": "kmeans", "trust": 0.5},
    ],
)
def test_everything_comes_back(tmp_path, parameters):
    model = SCSC.from_partitions(RAW, **parameters)
    model.update(report("ann:3", must=[(0, 1)], cannot=[(2, 3)]) | report("bob", must=[(0, 1)], must_confidence=[0.9]))
    model.update(Clues(6, labels=["x", None, None, None, None, "y"], together=[1, 1, -1, -1, -1, -1]))
    _ = model.labels_
    model.save(tmp_path / "state")
    again = SCSC.load(tmp_path / "state")
    assert again.get_params() == model.get_params()
    for name in ("gamma_", "trace_", "labels_", "margin_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert (again.n_iter_, again.objective_, again.n_clusters_) == (model.n_iter_, model.objective_, model.n_clusters_)
    assert again.broken_ == model.broken_
    assert again._log.clues() == model._log.clues()
    for one in (model, again):
        one.update(report("ann", must=[(0, 1)], cannot=[(1, 4)]))  # the first link is known, the second new
    np.testing.assert_array_equal(again.gamma_, model.gamma_)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    if model.hard == "rounding":
        np.testing.assert_array_equal(again.changed_, model.changed_)


def test_labels_of_partitions_are_written_once_and_mapped(tmp_path):
    model = SCSC.from_partitions(RAW)
    model.save(tmp_path)
    first = {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("partitions-*")}
    model.update(Clues(6, must=[(0, 1)])).save(tmp_path)
    again = SCSC.load(tmp_path)
    assert isinstance(again._election.ensemble.labels, np.memmap)
    again.update(Clues(6, must=[(1, 2)])).save(tmp_path)
    assert {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("partitions-*")} == first
    kinds = sorted(file.name.split("-")[0] for file in tmp_path.iterdir())
    assert kinds == ["partitions", "state.json", "weights"]
    assert not any(b"pickle" in file.read_bytes() for file in tmp_path.iterdir())


def test_a_model_that_is_fitted_again_writes_its_new_partitions(tmp_path):
    rng = np.random.default_rng(0)
    model = SCSC(2, n_partitions=3, random_state=0)
    for _ in range(2):
        model.fit(rng.normal(size=(20, 3))).save(tmp_path)
        again = SCSC.load(tmp_path)
        np.testing.assert_array_equal(again._election.ensemble.labels, model._election.ensemble.labels)
        np.testing.assert_array_equal(again.labels_, model.labels_)


def test_votes_are_kept_and_renewed(tmp_path):
    model = SCSC.from_partitions(RAW)
    _ = model.labels_
    model.save(tmp_path)
    first = next(tmp_path.glob("votes-*")).name
    model.update(Clues(6, must=[(0, 1)])).save(tmp_path)
    assert next(tmp_path.glob("votes-*")).name == first  # labels were not read since
    again = SCSC.load(tmp_path)
    again.save(tmp_path)
    assert next(tmp_path.glob("votes-*")).name == first
    _ = again.labels_
    again.save(tmp_path)
    assert next(tmp_path.glob("votes-*")).name != first


def test_a_fitted_model_remembers_its_columns(tmp_path):
    X = load_data("iris").X
    model = SCSC(3, n_partitions=10, random_state=0).fit(X)
    model.save(tmp_path)
    again = SCSC.load(tmp_path)
    assert again.n_features_in_ == 4
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize("moment", range(8))
def test_an_interrupted_save_leaves_the_earlier_model(tmp_path, monkeypatch, moment):
    """Whichever file is being written when it happens."""
    model = SCSC.from_partitions(RAW)
    _ = model.labels_
    model.update(np.array([0, -1, -1, 1, -1, -1])).save(tmp_path)
    before = model.gamma_.copy()
    calls = iter(range(100))

    def fails(real):
        def call(*arguments, **more):
            if next(calls) == moment:
                raise KeyboardInterrupt
            return real(*arguments, **more)

        return call

    model.update(Clues(6, must=[(0, 1)], cannot=[(2, 3)]))
    _ = model.labels_
    with monkeypatch.context() as patch:
        patch.setattr(folders, "sync", fails(folders.sync))
        patch.setattr(folders.Folder, "new_name", fails(folders.Folder.new_name))
        patch.setattr(folders.json, "dumps", fails(json.dumps))
        patch.setattr(folders.os, "fsync", fails(folders.os.fsync))
        patch.setattr(folders.np, "savez", fails(np.savez))
        with pytest.raises(KeyboardInterrupt):
            model.save(tmp_path)
    np.testing.assert_array_equal(SCSC.load(tmp_path).gamma_, before)
    model.save(tmp_path)
    np.testing.assert_array_equal(SCSC.load(tmp_path).gamma_, model.gamma_)
    assert len(list(tmp_path.iterdir())) == 5  # nothing is left of the failed one


def test_ctrl_c_when_the_new_index_is_in_its_place(tmp_path, monkeypatch):
    model = SCSC.from_partitions(RAW)
    _ = model.labels_
    model.save(tmp_path)
    real = tables._files._sync

    def sync(path):
        if path.is_dir():
            raise KeyboardInterrupt
        real(path)

    model.update(Clues(6, must=[(0, 1)], cannot=[(2, 3)]))
    _ = model.labels_
    with monkeypatch.context() as patch:
        patch.setattr(tables._files, "_sync", sync)
        with pytest.raises(KeyboardInterrupt):
            model.save(tmp_path)
    np.testing.assert_array_equal(SCSC.load(tmp_path).gamma_, model.gamma_)
    assert len(list(tmp_path.iterdir())) == 4  # nothing is left of the earlier one
    model.update(Clues(6, must=[(1, 2)])).save(tmp_path)
    np.testing.assert_array_equal(SCSC.load(tmp_path).gamma_, model.gamma_)


def test_a_failed_save_beside_an_index_that_cannot_be_read_deletes_nothing(tmp_path, monkeypatch):
    model = SCSC.from_partitions(RAW)
    model.save(tmp_path)
    before = {file.name for file in tmp_path.iterdir()}

    def fails(stream):
        (tmp_path / "state.json").write_text("{")
        raise KeyboardInterrupt

    monkeypatch.setattr(folders, "sync", fails)
    with pytest.raises(KeyboardInterrupt):
        model.save(tmp_path)
    assert before <= {file.name for file in tmp_path.iterdir()}


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: SCSC.from_partitions(RAW).save(folder),
        lambda folder: tables.write(folder / "table.npz", {"x": [1]}),
    ],
)
def test_ctrl_c_while_an_archive_is_opened(tmp_path, monkeypatch, write):
    """It is KeyboardInterrupt that the caller gets, not a ValueError about an archive that cannot be closed."""
    real, opened = zipfile.ZipFile.open, []

    def interrupted(*arguments, **more):
        opened.append(real(*arguments, **more))
        signal.raise_signal(signal.SIGINT)
        return opened[-1]

    monkeypatch.setattr(zipfile.ZipFile, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_beside_the_model_stays(tmp_path):
    model = SCSC.from_partitions(RAW)
    scsc_folder.save(model, tmp_path, {"place": 3})
    model.save(tmp_path)
    assert scsc_folder.load(tmp_path)[1] == {"place": 3}
    with pytest.raises(StateError, match="holds another model and the clues"):
        SCSC.from_partitions(RAW[:2]).save(tmp_path)
    np.testing.assert_array_equal(SCSC.load(tmp_path).gamma_, model.gamma_)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("[]", "not the state.json of a model"),
        ('{"format": "cluewise SCSC", "version": 99}', "version 99"),
        (
            '{"format": "cluewise SCSC", "version": 1}',
            r"state.json' is damaged \(it has no dtype\); 'cluewise rescue'",
        ),
    ],
)
def test_a_folder_without_a_model_is_refused(tmp_path, text, words):
    with pytest.raises(StateError, match=r"holds no state\.json"):
        SCSC.load(tmp_path)
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(StateError, match=words):
        SCSC.load(tmp_path)


def test_missing_arrays_are_named(tmp_path):
    SCSC.from_partitions(RAW).save(tmp_path)
    next(tmp_path.glob("weights-*")).unlink()
    with pytest.raises(StateError, match="weights-"):
        SCSC.load(tmp_path)
