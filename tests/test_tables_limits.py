"""Files that declare more than they hold, or that are no files: refused before they are read."""

import io
import os
import pickle
import socket
import subprocess
import sys
import zipfile
from contextlib import suppress

import numpy as np
import polars as pl
import pytest

from cluewise import tables
from cluewise.tables import FileError, TableError, _limits


def refused(path, sentence):
    with pytest.raises(TableError) as caught:
        tables.read(path)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_a_file_is_refused_before_it_is_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "endless.csv").symlink_to("/dev/zero")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "socket.csv"))
    for name in ("pipe.csv", "endless.csv", "socket.csv"):
        refused(
            tmp_path / name, f"{name}' is a pipe, a socket or a device; copy its content into a file and read that."
        )
    refused(tmp_path / "loop.csv", "loop.csv' cannot be read: too many levels of symbolic links.")
    with pytest.raises(FileError, match=r"'a\\x00.csv' is not the name of a file\."):
        tables.read("a\0.csv")
    with pytest.raises(FileError, match=r"loop.csv' is a link that leads back to itself\.$"):
        tables.write(tmp_path / "loop.csv", {"u": [1]})


def npy(path, header, content=b""):
    text = header.encode("latin-1").ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content)


HEADERS = {
    "no rows": ("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1000000000), }", "a.npy has no rows."),
    "no columns": ("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 0), }", "a.npy has no columns."),
    "too long": ("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }", "is it cut off or damaged?"),
    "overflow": ("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "damaged?"),
    "nothing each": ("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000,), }", "damaged?"),
    "negative": ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }", "damaged?"),
    "cut": ("{'descr': '<f8', 'fortran_order': False, 'shape': (3, ", "damaged?"),
    "brackets": ("(" * 110, "damaged?"),
    "minus": ("-" * 110, "damaged?"),
    "word": ("{'descr': 'zz', 'fortran_order': False, 'shape': (), }", "damaged?"),
    "Python 2": ("{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 2L), }", "damaged?"),
    "objects": ("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "a.npy holds Python objects"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", HEADERS)
def test_headers_of_arrays_are_checked_before_they_are_believed(tmp_path, case):
    header, sentence = HEADERS[case]
    npy(tmp_path / "a.npy", header)
    refused(tmp_path / "a.npy", sentence)


@pytest.mark.filterwarnings("error")
def test_arrays_that_python_2_wrote_are_read(tmp_path):
    npy(
        tmp_path / "a.npy",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 1L), }",
        np.array([1.5, 2]).tobytes(),
    )
    assert tables.read(tmp_path / "a.npy").columns["x0"].tolist() == [1.5, 2.0]


def test_errors_are_one_line_and_survive_a_pickle(tmp_path):
    (tmp_path / "a.csv").write_text('id,x\na,"1\n2"\nb,3\n')
    with pytest.raises(TableError) as caught:
        tables.features(tables.read(tmp_path / "a.csv"))
    assert str(caught.value) == "column 'x' of a.csv holds something that is not a number (line 2: '1 2')."
    for error in (caught.value, FileError("'a' cannot be written: no.", "no")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))


def test_errors_survive_a_pickle_after_dask_replaced_how_errors_are_pickled():
    # In a process of its own: what tblib replaces stays replaced.
    code = """
import pickle
from cluewise.tables import FileError, TableError
from tblib import pickling_support
pickling_support.install()
for error in (TableError("no"), FileError("'a' cannot be written: no.", "no")):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error)), again
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_records_are_no_cells(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3, dtype=[("u", float)]))
    refused(tmp_path / "a.npy", "column 'X' of a.npy holds records; a cell is a number or text.")


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "<i2", "|u1", "|b1", "<U3", "|S4", "<M8[D]"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_good_arrays_are_read_as_numpy_reads_them(tmp_path, dtype, order):
    X = np.asarray(np.arange(6).reshape(3, 2).astype(dtype), order=order)
    np.save(tmp_path / "a.npy", X)
    np.savez_compressed(tmp_path / "a.npz", X=X)
    for name in ("a.npy", "a.npz"):
        columns = tables.read(tmp_path / name).columns
        wanted = tables.Table({"x0": X[:, 0], "x1": X[:, 1]}).columns
        assert {key: column.tolist() for key, column in columns.items()} == {k: c.tolist() for k, c in wanted.items()}


def test_archives_with_other_things_in_them(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "not an array")
    refused(path, "'notes.txt' in a.npz is not an array.")
    np.savez(path, X=np.ones((2, 2)))
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(mark) + place] |= 1
    path.write_bytes(data)
    refused(path, "a.npz is encrypted; save it without a password.")


def test_what_unpacks_to_more_than_the_limit_is_refused_and_the_way_out_works(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((80_000, 2)))
    pl.DataFrame({"x": np.zeros(100_000, np.int8), "y": np.zeros(100_000, np.int8)}).write_parquet(
        tmp_path / "a.parquet"
    )
    pl.DataFrame({"x": ["z" * 100_000] * 20}).write_parquet(tmp_path / "b.parquet")
    (tmp_path / "a.csv").write_bytes(b"x,y\n" + b"1,2\n" * 300_000)
    names = ("a.npz", "a.parquet", "b.parquet", "a.csv")
    for name in names:
        monkeypatch.setenv("CLUEWISE_FILE_LIMIT", "1M")
        refused(tmp_path / name, "takes more than 1 MB of memory, the limit for one file; to read it anyway, set")
        monkeypatch.setenv("CLUEWISE_FILE_LIMIT", "1 gb")
        assert len(tables.read(tmp_path / name)) > 0
    monkeypatch.setenv("CLUEWISE_FILE_LIMIT", "much")
    refused(tmp_path / "a.npz", "CLUEWISE_FILE_LIMIT is 'much'; write a number of bytes, such as 8G.")


def test_the_limit_is_a_quarter_of_the_memory(monkeypatch):
    monkeypatch.delenv("CLUEWISE_FILE_LIMIT", raising=False)
    monkeypatch.setattr(_limits, "_memory", lambda: 4 * 2**30)
    assert tables.limit() == 2**30
    monkeypatch.undo()
    assert 2**20 < tables.limit() < 2**50


def test_a_member_never_unpacks_to_more_than_it_declares(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((1000, 2)))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.find(mark) + place
        data[at : at + 4] = (1128).to_bytes(4, "little")
    (tmp_path / "a.npz").write_bytes(data)
    refused(tmp_path / "a.npz", "a.npz cannot be read; is it cut off or damaged?")


def test_panics_of_polars_are_not_shown(tmp_path, capfd):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"u": [1.5, 2.5], "v": ["s", "t"]}).write_parquet(path, compression="uncompressed")
    whole = path.read_bytes()
    for place in range(4, len(whole), 7):
        path.write_bytes(whole[:place] + b"\xff\x7f" + whole[place + 2 :])
        with suppress(TableError):
            tables.read(path)
    assert capfd.readouterr().err == ""


def test_what_others_say_meanwhile_is_not_lost(capfd):
    with tables._formats._quiet_panics():
        os.write(2, b"hello\n")
    assert capfd.readouterr().err == "hello\n"


def test_parquet_with_cells_that_numpy_does_not_have(tmp_path):
    if hasattr(pl, "Int128"):  # since polars 1.18
        buffer = io.BytesIO()
        pl.DataFrame(
            {"u": pl.Series([1, 2**100], dtype=pl.Int128), "v": pl.Series([3, 4], dtype=pl.Int128)}
        ).write_parquet(buffer)
        (tmp_path / "a.parquet").write_bytes(buffer.getvalue())
        table = tables.read(tmp_path / "a.parquet")
        assert [column.tolist() for column in table.columns.values()] == [["1", str(2**100)], [3, 4]]
    pl.DataFrame({"u": [[1, 0.5], [2]]}, strict=False).write_parquet(tmp_path / "a.parquet")
    assert tables.read(tmp_path / "a.parquet").columns["u"].tolist() == ["[1.0, 0.5]", "[2.0]"]
    for column in ([["a"], ["b"]], [{"a": 1}, {"a": 2}]):
        pl.DataFrame({"u": column}).write_parquet(tmp_path / "a.parquet")
        refused(tmp_path / "a.parquet", "column 'u' of a.parquet holds lists or records; a cell is a number or text.")


JSON = {
    "deep": ('{"u": ' + "[" * 100_000, "a.json is nested too deeply for a table."),
    "long": ('{"u": [' + "9" * 5000 + "]}", "a.json holds a number with too many digits."),
    "half": (
        '{"u": ["x", "\\ud800"]}',
        "column 'u' of a.json holds half a character (a lone surrogate) in row 1: '\\ud800'.",
    ),
    "half a name": ('{"\\ud800": [1]}', "the name of column '\\ud800' of a.json holds half a character"),
}


@pytest.mark.parametrize("case", JSON)
def test_json_that_python_cannot_hold(tmp_path, case):
    text, sentence = JSON[case]
    (tmp_path / "a.json").write_text(text)
    refused(tmp_path / "a.json", sentence)


def test_large_whole_numbers_among_others_stay_as_they_are_written(tmp_path):
    (tmp_path / "a.json").write_text('{"u": [1.5, %s]}' % ("9" * 400))
    assert tables.read(tmp_path / "a.json").columns["u"].tolist() == ["1.5", "9" * 400]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ".json"])
def test_half_a_character_is_refused_by_every_writer(tmp_path, suffix):
    with pytest.raises(TableError, match=r"column 'u' of a\.\w+ holds half a character \(a lone surrogate\) in row 0"):
        tables.write(tmp_path / f"a{suffix}", {"u": ["\ud800"]})
    assert not list(tmp_path.iterdir())


def test_half_a_character_in_an_array_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", u=np.array(["\udc80"]))
    refused(tmp_path / "a.npz", "column 'u' of a.npz holds half a character (a lone surrogate) in row 0")


def test_numbers_that_stand_for_no_character_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", u=np.array([0x110000], dtype="<u4").view("<U1"))
    refused(tmp_path / "a.npz", "column 'u' of a.npz holds text that is not Unicode.")


def test_an_unknown_error_of_a_parser_names_the_file(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.ones(2))

    def fail(*_):
        raise LookupError("what nobody expected")

    monkeypatch.setitem(tables._formats._HEADERS, (1, 0), fail)
    with pytest.raises(TableError, match=r"^a\.npy cannot be read; is it cut off or damaged\?$") as caught:
        tables.read(tmp_path / "a.npy")
    assert isinstance(caught.value.__cause__, LookupError)


def test_parquet_without_a_place_for_temporary_files(tmp_path, monkeypatch):
    tables.write(tmp_path / "a.parquet", {"x": [1.0, 2.0]})
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: (_ for _ in ()).throw(FileNotFoundError(2, "no folder")))
    assert tables.read(tmp_path / "a.parquet").columns["x"].tolist() == [1.0, 2.0]


def test_columns_of_arrays_can_be_changed(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((2, 2)))
    tables.read(tmp_path / "a.npz").columns["x0"][0] = 5
