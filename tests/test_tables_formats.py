"""NPZ, JSON, Parquet and frames become the same kind of table; damaged files are named."""

import io
import json
import math
import os
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cluewise import tables
from cluewise._extras import install
from cluewise.tables import TableError


def put(folder, name, content):
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="")
    return path


def contents(table):
    """Columns with their types, nan made comparable."""
    return {
        name: (column.dtype.kind, [None if v != v else v for v in column.tolist()])
        for name, column in table.columns.items()
    }


def test_npz_with_features_and_columns(tmp_path):
    path = tmp_path / "a.npz"
    X = np.arange(6, dtype=np.int16).reshape(3, 2)
    np.savez(
        path,
        X=X,
        y=np.array([0, 1, 1]),
        id=np.array(["a", "b", "c"]),
        code=np.array([b"u", b"v", b"w"]),
        feature_names=np.array(["left", "right"]),
        class_names=np.array(["p", "q"]),
        missing_mask=np.zeros((3, 2), bool),
    )
    table = tables.read(path)
    assert list(table.columns) == ["left", "right", "y", "id", "code"]
    assert table.columns["code"].tolist() == ["u", "v", "w"]
    got, ids, names = tables.features(table)
    assert got.dtype == np.float64
    assert (got.tolist(), ids.tolist(), names) == (X.tolist(), ["a", "b", "c"], ["left", "right"])
    assert table.where(1) == "row 1"


def test_npy_and_npz_without_names(tmp_path):
    X = np.array([[0.5, 1.5], [2.5, 3.5]], dtype=np.float32)
    np.save(tmp_path / "a.npy", X)
    np.savez_compressed(tmp_path / "b.npz", u=[1, 2], v=["s", "t"])
    np.save(tmp_path / "c.npy", np.array([3, 1], dtype=np.uint64))
    assert tables.features(tables.read(tmp_path / "a.npy"))[0].tolist() == X.tolist()
    assert contents(tables.read(tmp_path / "b.npz")) == {"u": ("i", [1, 2]), "v": ("O", ["s", "t"])}
    assert contents(tables.read(tmp_path / "c.npy")) == {"X": ("f", [3.0, 1.0])}


def test_npz_keeps_the_feature_called_id():
    buffer = io.BytesIO()
    np.savez(buffer, X=np.ones((2, 2)), feature_names=np.array(["id", "x"]))
    table = tables._formats.parse_arrays(buffer.getvalue(), "a.npz")
    assert tables.features(table)[1] is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.ones((2, 2, 2))}, "X in a.npz has 3 dimensions; it needs rows and columns."),
        (
            {"X": np.ones((2, 2)), "feature_names": np.array(["u"])},
            "a.npz has 1 feature_names, but X has 2 columns.",
        ),
        (
            {"X": np.ones((2, 2)), "feature_names": np.array(["u", "u"])},
            "'u' appears twice in the feature_names of a.npz.",
        ),
        (
            {"X": np.ones((2, 2)), "feature_names": np.array(["y", "u"]), "y": np.ones(2)},
            "'y' in a.npz is both an array and one of the feature_names.",
        ),
        ({"Z": np.ones((2, 2))}, "column 'Z' of a.npz has 2 dimensions; a column has 1."),
        ({"u": np.ones(2), "v": np.ones(3)}, "column 'v' of a.npz has 3 rows, but column 'u' has 2."),
        (
            {"X": np.array([[1, "x"]], dtype=object)},
            "a.npz holds Python objects; save text as an array of str.",
        ),
    ],
)
def test_bad_npz_is_named(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(TableError) as caught:
        tables.read(tmp_path / "a.npz")
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["a.npz", "a.npy", "a.parquet", "a.json"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.99])
def test_files_that_end_in_the_middle(tmp_path, name, share):
    path = tmp_path / name
    rng = np.random.default_rng(0)
    if name == "a.npy":
        np.save(path, rng.random((50, 2)))
    else:
        tables.write(path, {"u": rng.random(50), "v": [f"word {i}" for i in range(50)]})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(TableError) as caught:
        tables.read(path)
    message = str(caught.value)
    assert name in message
    assert message.endswith(("is it cut off or damaged?", "the file ends in the middle."))


def test_json_as_records_and_as_columns(tmp_path):
    records = [{"u": 1, "v": "s"}, {"u": None, "v": "t", "w": True}, {"u": "inf"}]
    table = tables.read(put(tmp_path, "a.json", json.dumps(records)))
    assert contents(table) == {
        "u": ("f", [1.0, None, math.inf]),
        "v": ("O", ["s", "t", ""]),
        "w": ("O", ["", "True", ""]),
    }
    assert table.lines is None
    columns = {"u": [True, False], "v": [1, "x"], "w": [2**70, 1]}
    table = tables.read(put(tmp_path, "b.json", "\ufeff" + json.dumps(columns)))
    assert contents(table) == {
        "u": ("b", [True, False]),
        "v": ("O", ["1", "x"]),
        "w": ("O", [str(2**70), "1"]),
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"u": 1},\n 5]', "a.json row 1 is not an object with one entry per column."),
        ('{"u": 1}', "a.json holds neither a list of records nor an object of columns."),
        ("7", "a.json holds neither a list of records nor an object of columns."),
        ('{"u": [1, 2], "v": [1]}', "column 'v' of a.json has 1 rows, but column 'u' has 2."),
        ('[{"u": ["a"]}]', "column 'u' of a.json holds a list in row 0; a cell is a number or text."),
        ('[{"u": 1},\n{"u" 2}]', "a.json line 2: this is not JSON (Expecting ':' delimiter)."),
        ('[{"u": 1},\n{"u": "tw', "a.json line 2: the file ends in the middle."),
    ],
)
def test_bad_json_is_named(tmp_path, content, message):
    with pytest.raises(TableError) as caught:
        tables.read(put(tmp_path, "a.json", content))
    assert str(caught.value) == message


def test_parquet_needs_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    tables.write(path, {"u": [1]})
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(TableError, match=re.escape(f"reading a.parquet needs polars: {install('io')}")):
        tables.read(path)
    with pytest.raises(TableError, match=re.escape(install("io"))):
        tables.write(tmp_path / "b.parquet", {"u": [1]})
    assert os.listdir(tmp_path) == ["a.parquet"]


class Panic(BaseException):
    """What polars raises when it trips over a damaged file."""


@pytest.mark.parametrize(("raised", "seen"), [(Panic, TableError), (MemoryError, MemoryError)])
def test_polars_panics_are_damage_and_lack_of_memory_is_not(tmp_path, monkeypatch, raised, seen):
    path = tmp_path / "a.parquet"
    tables.write(path, {"u": [1]})

    def trip(*args, **options):
        raise raised

    monkeypatch.setattr(pl, "read_parquet", trip)
    with pytest.raises(seen):
        tables.read(path)


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_any_frame(build):
    frame = build({"u": [1, 2], "v": [0.5, None], "w": ["s", None], "b": [True, False]})
    assert contents(tables.from_frame(frame)) == {
        "u": ("i", [1, 2]),
        "v": ("f", [0.5, None]),
        "w": ("O", ["s", ""]),
        "b": ("b", [True, False]),
    }


def test_pandas_peculiarities():
    frame = pd.DataFrame(
        {
            0: pd.array([1, None], dtype="Int64"),
            1: pd.Categorical(["s", "t"]),
            "m": pd.Series([1, "x"], dtype=object),
            "f": pd.array([1, 2], dtype="float32"),
        }
    )
    assert contents(tables.from_frame(frame)) == {
        "x0": ("f", [1.0, None]),
        "x1": ("O", ["s", "t"]),
        "m": ("O", ["1", "x"]),
        "f": ("f", [1.0, 2.0]),
    }
    with pytest.raises(TableError, match="the frame is a list, not a data frame"):
        tables.from_frame([1, 2])
    with pytest.raises(TableError, match=r"^the frame cannot be used: "):
        tables.from_frame(pd.DataFrame([[1, 2]], columns=["u", "u"]))
