"""Writing: whole or not at all, and read back as it was."""

import math
import os
import resource
import stat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import tables
from cluewise.tables import FileError, Table, TableError


def put(folder, name, content):
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="")
    return path


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
COLUMNS = st.integers(0, 5).flatmap(
    lambda n: st.dictionaries(
        WORDS.filter(lambda w: w.strip() and w == w.strip() and not tables._columns.is_number(w)).filter(
            lambda w: w.lower() not in tables.ID_NAMES and w.isprintable() and "/" not in w and w != "X"
        ),
        st.one_of(
            st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n),
            st.lists(
                st.floats().filter(lambda v: v != int(v) if math.isfinite(v) else True),
                min_size=n,
                max_size=n,
            ),
            st.lists(WORDS.filter(lambda w: "\r" not in w), min_size=n, max_size=n).map(lambda c: [*c]),
        ),
        min_size=1,
        max_size=4,
    )
)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ".json"])
@settings(max_examples=60, deadline=None)
@given(columns=COLUMNS)
def test_what_is_written_comes_back(tmp_path_factory, suffix, columns):
    path = tmp_path_factory.mktemp("round") / f"a{suffix}"
    wanted = Table({name: _typed_list(values) for name, values in columns.items()})
    tables.write(path, wanted)
    text = [name for name, column in wanted.columns.items() if column.dtype.kind == "O"]
    back = tables.read(path, text=text)
    assert list(back.columns) == list(wanted.columns) or (suffix == ".json" and len(wanted) == 0)
    for name, column in back.columns.items():
        if len(wanted) and not (column.dtype.kind == "O" and wanted.columns[name].dtype.kind == "f"):
            np.testing.assert_array_equal(column, wanted.columns[name])
        elif len(wanted):  # a column of nothing but missing numbers has no type in a text file
            assert set(column.tolist()) == {""}
            assert np.isnan(wanted.columns[name]).all()


def _typed_list(values):
    if values and isinstance(values[0], str):
        return values
    return np.array(values) if values else np.empty(0, dtype=object)


def test_csv_as_it_looks(tmp_path):
    path = tmp_path / "a.csv"
    tables.write(
        path,
        {"a,b": ["x", 'say "y"', " z", ""], "v": [1.0, np.nan, np.inf, 0.1], "w": [True] * 4, "n": range(4)},
    )
    assert path.read_text() == ('"a,b",v,w,n\nx,1.0,True,0\n"say ""y""",,True,1\n" z",inf,True,2\n,0.1,True,3\n')
    tables.write(path, {"v": ["", "x"]})
    assert path.read_text() == 'v\n""\nx\n'
    assert tables.read(path).columns["v"].tolist() == ["", "x"]


def test_json_as_it_looks(tmp_path):
    path = tmp_path / "a.json"
    tables.write(path, {"v": [1.0, np.nan, -np.inf], "w": ["é", "b", "c"]})
    assert path.read_text() == '[\n{"v": 1.0, "w": "é"},\n{"v": null, "w": "b"},\n{"v": "-inf", "w": "c"}\n]\n'


def test_npz_takes_any_column_name(tmp_path):
    path = tmp_path / "a.npz"
    tables.write(path, {"file": [1], "allow_pickle": [2]})
    assert list(tables.read(path).columns) == ["file", "allow_pickle"]


def _break_off(path, error):
    with tables.atomic(path) as aside:
        aside.write_text("half")
        raise error


def test_ctrl_c_right_after_the_file_was_made_leaves_nothing(tmp_path, monkeypatch):
    def press(handle):
        close(handle)
        raise KeyboardInterrupt

    close = os.close
    monkeypatch.setattr(os, "close", press)
    with pytest.raises(KeyboardInterrupt), tables.atomic(tmp_path / "a.csv"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = put(tmp_path, "a.csv", "old")
    for error in (KeyboardInterrupt, RuntimeError):
        with pytest.raises(error):
            _break_off(path, error)
    with pytest.raises(TableError, match=r"column 'v' of a.csv has 1 rows"):
        tables.write(path, {"u": [1, 2], "v": [1]})

    def full(aside, columns, *, raw_cells):
        aside.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tables._csv, "write_csv", full)
    with pytest.raises(FileError, match=r"a.csv' cannot be written: no space left on device\.$"):
        tables.write(path, {"u": [1]})
    monkeypatch.setattr(os, "replace", lambda *a: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"), tables.atomic(path) as aside:
        aside.write_text("new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ".json"])
def test_a_disk_that_gets_full_is_named_by_the_file_that_was_asked_for(tmp_path, suffix):
    path = put(tmp_path, f"a{suffix}", "old")
    columns = {"u": np.random.default_rng(0).random(20_000), "v": [f"word {i}" for i in range(20_000)]}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(FileError) as caught:
            tables.write(path, columns)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(caught.value) == f"'{path}' cannot be written: file too large."
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


def test_the_new_file_is_complete_before_the_old_one_goes(tmp_path):
    path = put(tmp_path, "a.json", "old")
    with tables.atomic(path) as aside:
        assert aside.parent == tmp_path
        assert aside.suffix == ".json"
        aside.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.json"]


def test_permissions_and_links_are_kept(tmp_path):
    path = put(tmp_path, "a.csv", "old")
    path.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(path)
    tables.write(tmp_path / "link.csv", {"u": [1]})
    assert (tmp_path / "link.csv").is_symlink()
    assert path.read_text() == "u\n1\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        tables.write(tmp_path / "new.csv", {"u": [1]})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o640


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    def refused(path, message):
        with pytest.raises(FileError, match=message):
            tables.write(path, {"u": [1]})

    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path / "folder.csv", r"folder.csv' is a folder, not a file\.$")
    refused(tmp_path / "no" / "a.csv", r"there is no folder '.*no'\.$")
    os.mkfifo(tmp_path / "pipe.csv")
    refused(tmp_path / "pipe.csv", r"pipe.csv' is not an ordinary file\.$")
    put(tmp_path, "old.csv", "old")
    monkeypatch.setattr(os, "access", lambda *a: False)  # root may write everywhere
    refused(tmp_path / "old.csv", r"old.csv' is write-protected\.$")
    monkeypatch.undo()

    def denied(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    refused(tmp_path / "a.csv", r"a.csv' cannot be written: permission denied\.$")
    monkeypatch.undo()
    with pytest.raises(TableError, match=r"'.*a.xlsx': '.xlsx' is not a format that cluewise writes; use .csv, .parq"):
        tables.write(tmp_path / "a.xlsx", {"u": [1]})
    assert sorted(os.listdir(tmp_path)) == ["folder.csv", "old.csv", "pipe.csv"]


def test_places_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(FileError, match=r"is a folder, not a file\.$"):
        tables.read(tmp_path)
    with pytest.raises(OSError, match=r"there is no file '.*a.csv'\.$"):
        tables.read(tmp_path / "a.csv")
    with pytest.raises(TableError, match=r"'.docx' is not a format that cluewise reads; use .csv, .tsv"):
        tables.read(put(tmp_path, "a.docx", "x"))
    with pytest.raises(TableError, match="a name without suffix is not a format"):
        tables.read(put(tmp_path, "a", "x"))

    def denied(self, *mode, **more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(tmp_path), "open", denied)
    with pytest.raises(FileError, match=r"cannot be read: permission denied\.$"):
        tables.read(tmp_path / "a")
