"""Folders of files and an index: any format, one step from the old content to the new, damage named."""

import json

import numpy as np
import pytest

from cluewise.tables.folders import Folder, StateError


def opened(path, **other):
    return Folder(path, **({"format": "numbers", "version": 2, "kinds": ["x"], "fields": ["size"]} | other))


def saved(path, numbers, **other):
    folder = opened(path, **other)
    with folder.save() as (_, new):
        new["x"] = folder.write_arrays("x", {"numbers": np.array(numbers)})
        new["size"] = len(numbers)
    return folder


def numbers_in(folder):
    index = folder.read_index()
    assert index["size"] == len(folder.read_arrays(index, "x")["numbers"])
    return folder.read_arrays(index, "x")["numbers"].tolist()


def test_a_save_replaces_all_and_sweeps_only_its_own_files(tmp_path):
    (tmp_path / "notes-0123456789abcdef.npz").write_text("somebody else's")
    assert numbers_in(saved(tmp_path, [1, 2])) == [1, 2]
    assert numbers_in(saved(tmp_path, [3])) == [3]
    assert len(list(tmp_path.iterdir())) == 3


def test_an_error_on_the_way_leaves_the_old_content(tmp_path):
    folder = saved(tmp_path, [1, 2])

    def fail():
        with folder.save() as (old, new):
            assert old["size"] == 2
            new["x"] = folder.write_arrays("x", {"numbers": np.array([3])})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert numbers_in(folder) == [1, 2]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_full_disk_is_named(tmp_path):
    folder = opened(tmp_path / "new")
    with pytest.raises(OSError, match=r"new' cannot be written: no space left on device\."), folder.save():
        raise OSError(28, "No space left on device")


def test_formats_and_versions_are_told_apart(tmp_path):
    saved(tmp_path, [1])
    with pytest.raises(StateError, match=r"is not the state\.json of a model"):
        opened(tmp_path, format="letters").read_index()
    with pytest.raises(StateError, match="of version 2; this cluewise reads versions 1 to 1"):
        opened(tmp_path, version=1).read_index()


def test_only_versions_that_never_had_checksums_do_without(tmp_path):
    saved(tmp_path, [1], version=1)
    index = json.loads((tmp_path / "state.json").read_text())
    (tmp_path / "state.json").write_text(json.dumps({**index, "size": 5}))
    with pytest.raises(StateError, match=r"state\.json' is damaged \(its checksum differs\)"):
        opened(tmp_path).read_index()
    assert opened(tmp_path, unchecked=1).read_index()["size"] == 5
