"""Tables: what comes in is what is there, what is wrong is named, what is written is whole."""

import csv
import io
import json
import math
import os
import stat
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import tables
from cluewise.tables import FileError, Table, TableError, _text


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


def same(a, b):
    lines_equal = (a.lines is None) == (b.lines is None) and (a.lines is None or (a.lines == b.lines).all())
    return contents(a) == contents(b) and list(a.columns) == list(b.columns) and lines_equal


# --- reading text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "who,x,y\na17,1,2.5\nb3,-2,\n"),
        ("a.csv", "who;x;y\na17;1;2.5\nb3;-2;\n"),
        ("a.txt", "who\tx\ty\na17\t1\t2.5\nb3\t-2\t\n"),
        ("a.tsv", "who\tx\ty\r\na17\t1\t2.5\r\nb3\t-2\t"),
        ("a.CSV", "\ufeffwho, x, y\r\n\r\na17, 1, 2.5\n\nb3, -2,\n\n"),
        ("a.csv", '"who","x","y"\n"a17","1","2.5"\n"b3","-2",""\n'),
    ],
)
def test_text_files_of_any_dialect_give_the_same_columns(tmp_path, name, content):
    table = tables.read(put(tmp_path, name, content))
    assert contents(table) == {
        "who": ("O", ["a17", "b3"]),
        "x": ("i", [1, -2]),
        "y": ("f", [2.5, None]),
    }
    assert table.name == name


def test_lines_are_those_of_the_file(tmp_path):
    path = put(tmp_path, "a.csv", 'x,note\n\n1,"two\nlines"\n2,b\n\n\n3,"c ""quoted"", yes"\n')
    table = tables.read(path)
    assert table.lines.tolist() == [3, 5, 8]
    assert table.columns["note"].tolist() == ["two\nlines", "b", 'c "quoted", yes']
    assert table.where(2) == "line 8"
    assert table.sources() == ["a.csv:3", "a.csv:5", "a.csv:8"]


def test_a_first_line_of_numbers_is_data(tmp_path):
    table = tables.read(put(tmp_path, "a.csv", "1,2.5\n3,4\n"))
    assert contents(table) == {"x0": ("i", [1, 3]), "x1": ("f", [2.5, 4.0])}
    assert table.lines.tolist() == [1, 2]


def test_header_given_by_the_caller(tmp_path):
    path = put(tmp_path, "a.csv", "a17,b3,must\n")
    assert tables.peek(path, 5) == [["a17", "b3", "must"]]
    table = tables.read(path, header=["a", "b", "kind"])
    assert [c.tolist() for c in table.columns.values()] == [["a17"], ["b3"], ["must"]]


def test_pandas_index_becomes_the_column_row(tmp_path):
    frame = pd.DataFrame({"x": [1.5, 2.5]}, index=["a17", "b3"])
    frame.to_csv(tmp_path / "a.csv")
    X, ids, names = tables.features(tables.read(tmp_path / "a.csv"))
    assert (X.tolist(), ids.tolist(), names) == ([[1.5], [2.5]], ["a17", "b3"], ["x"])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-20", "0"], "i"),
        (["9223372036854775807", "-9223372036854775808"], "i"),
        (["9223372036854775808", "1"], "O"),  # one more than int64 holds: an exact id, not a rounded number
        (["1", ""], "f"),
        (["+1", "2"], "f"),
        (["1e3", ".5", "5.", "inf", "-Infinity", "NaN"], "f"),
        (["-0", "1"], "f"),
        (["007", "1"], "O"),
        (["00.5", "1"], "O"),
        (["0.5", "0"], "f"),
        (["1_000", "2"], "O"),
        (["1", "x"], "O"),
        (["٣", "1"], "O"),
        (["٣.5", "1"], "O"),
        (["", ""], "O"),
        (["9" * 5000, "1"], "O"),
        (["1e999", "1"], "O"),
    ],
)
def test_numbers_are_made_only_where_nothing_is_lost(cells, kind):
    column = tables.typed(cells)
    assert column.dtype.kind == kind
    for cell, value in zip(cells, column.tolist()):
        if kind == "O":
            assert value == cell
        elif kind == "i":
            assert value == int(cell)
        elif not cell:
            assert math.isnan(value)
        else:
            assert value == float(cell) or (math.isnan(value) and cell.lower() == "nan")
    assert contents(Table({"c": _text._fast.typed_series(pl.Series(cells))})) == contents(Table({"c": column}))


def test_names_of_rows_stay_text(tmp_path):
    path = put(tmp_path, "a.csv", "ID,ver,x\n1.10,1.10,1\n1.1,1.1,2\n")
    table = tables.read(path, text=["ver"])
    assert table.columns["ID"].tolist() == table.columns["ver"].tolist() == ["1.10", "1.1"]


PLAIN = "id,n,x,t,code,h\n" + "".join(f"r{i},{i},{i / 7!r},w{i % 3},0{i},{'' if i % 5 else i}\n" for i in range(50))


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.removesuffix("\n"),
        PLAIN.replace(",", ";"),
        PLAIN.replace("w1", "è€\u4e2d"),
        PLAIN.replace("w1", '"w1"'),
        PLAIN.replace(",w1", ", w1"),
        PLAIN.replace("\nr7", "\n\nr7"),
        "\ufeff" + PLAIN,
        "1,2\n3,4\n5,6\n",
        "x\n1\n2\n",
        "x\n1\n\n2\n",
        "1\n",
        " a,b\n1,2\n",
        "a,b\n 1,2\n",
        "y\n+1\n5.\n.5\nInfinity\n",
        "y\n1\n2 \n",
        "y,z\n\x0b1,1\n2,\x0b\n",
    ],
)
@pytest.mark.parametrize("polars", [True, False])
def test_the_fast_reader_gives_the_same_table(tmp_path, monkeypatch, content, polars):
    path = put(tmp_path, "a.csv", content)
    careful = tables.read(path)
    if not polars:
        monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setattr(_text, "BIG", 0)
    assert same(tables.read(path), careful)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.text("01 .-eE_xé,;\"'", max_size=4), st.sampled_from(["1", "2.5", "", "nan", "x"])),
        min_size=1,
        max_size=6,
    )
)
def test_the_fast_reader_gives_the_same_table_on_anything(tmp_path_factory, rows):
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([("u", "v"), *rows])
    path = put(tmp_path_factory.mktemp("fast"), "a.csv", buffer.getvalue())
    careful = tables.read(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_text, "BIG", 0)
        assert same(tables.read(path), careful)
        patch.setitem(sys.modules, "polars", None)
        assert same(tables.read(path), careful)


BAD_TEXT = [
    ("x,y\n1,2\n3\n", "a.csv line 3 has 1 field, but there are 2 columns."),
    ("x,y\n1,2\n3,4,5\n6,7\n", "a.csv line 3 has 3 fields, but there are 2 columns."),
    (
        "x,y,z\n1,2,3\n4,5",
        "a.csv line 3 has 2 fields, but there are 3 columns; does the file end in the middle?",
    ),
    ("x,y\n1,2\n\n3,4\n5\n", "a.csv line 5 has 1 field, but there are 2 columns."),
    (
        'x,y\n1,"two\n3,4\n',
        "a.csv line 2: a quote is opened here and never closed; does the file end in the middle?",
    ),
    ('x,y\n1,"a"b\n', "a.csv line 2: the quotes are not as they should be (',' expected after '\"')."),
    (
        'x,y\n1,"' + "z" * 140000 + "\n",
        "a.csv line 2: a field is longer than 131072 characters; is a quote left open?",
    ),
    ("", "a.csv is empty."),
    ("\n\n", "a.csv is empty."),
    ("x,x\n1,2\n", "a.csv line 1: column name 'x' is there twice."),
    ("x,,y\n1,2,3\n", "a.csv line 1: column 2 has no name."),
    ("a17,1.5,2\nb3,2.5,3\n", "a.csv line 1: '1.5' is no column name; the first line names the columns."),
    (b"x,y\n1,caf\xe9\n", "a.csv line 2: the text is not UTF-8; save the file as UTF-8."),
    (b"x,y\n1,\x00\n", "a.csv is not a text file (it holds a zero byte)."),
    (b"\xff\xfex\x00,\x00", "a.csv is not a text file (it holds a zero byte)."),
]


@pytest.mark.parametrize(("content", "message"), BAD_TEXT)
@pytest.mark.parametrize(("big", "polars"), [(5_000_000, True), (-1, True), (-1, False)])
def test_bad_text_is_named(tmp_path, monkeypatch, content, message, big, polars):
    monkeypatch.setattr(_text, "BIG", big)
    if not polars:
        monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(TableError) as caught:
        tables.read(put(tmp_path, "a.csv", content))
    assert str(caught.value) == message


def test_fast_reader_leaves_what_polars_refuses_to_the_careful_one(tmp_path, monkeypatch):
    path = put(tmp_path, "a.csv", "x,y\n1,2\n")
    careful = tables.read(path)
    monkeypatch.setattr(_text, "BIG", 0)

    def refuse(*args, **options):
        raise pl.exceptions.ComputeError("no")

    monkeypatch.setattr(pl, "read_csv", refuse)
    assert same(tables.read(path), careful)
    monkeypatch.setattr(pl, "read_csv", lambda *args, **options: pl.DataFrame({"c0": ["1"] * 9, "c1": ["2"] * 9}))
    assert same(tables.read(path), careful)
    with pytest.raises(TableError, match="line 1 has 2 fields, but there are 1 columns"):
        tables.read(path, header=["x"])


# --- reading the other formats ------------------------------------------------------------------------------


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
            "'u' is there twice in the feature_names of a.npz.",
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
        ('[{"u": [1]}]', "column 'u' of a.json holds a list in row 0; a cell is a number or text."),
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
    with pytest.raises(TableError, match=r'reading a.parquet needs polars: pip install "cluewise\[io\]"'):
        tables.read(path)
    with pytest.raises(TableError, match=r'pip install "cluewise\[io\]"'):
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


# --- frames -------------------------------------------------------------------------------------------------


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


# --- features -----------------------------------------------------------------------------------------------


def data(**columns):
    n = len(next(iter(columns.values()))) if columns else 0
    return Table(columns, "data.csv", np.arange(2, n + 2))


def test_features_without_ids():
    X, ids, names = tables.features(data(u=[1, 2], v=[True, False]))
    assert X.dtype == np.float64
    assert (X.tolist(), ids, names) == ([[1, 1], [2, 0]], None, ["u", "v"])


def test_features_leave_out_ids_and_labels():
    table = data(who=["a", "b"], u=[1, 2], kind=["red", "blue"], v=[3, 4])
    X, ids, names = tables.features(table, id_column="who", label_column="kind")
    assert (X.tolist(), ids.tolist(), names) == ([[1, 3], [2, 4]], ["a", "b"], ["u", "v"])
    assert tables.features(table, columns=["v", "u"])[0].tolist() == [[3, 1], [4, 2]]


@pytest.mark.parametrize(
    ("columns", "ids", "names"),
    [
        ({"Name": ["a", "b"], "u": [1, 2]}, ["a", "b"], ["u"]),
        ({"name": [7, 9], "u": [1, 2]}, ["7", "9"], ["u"]),
        ({"id": [1.0, 2.0], "u": [1, 2]}, ["1", "2"], ["u"]),
        ({"id": [1.5, 2.0], "u": [1, 2]}, ["1.5", "2"], ["u"]),
        ({"row": [1, 1], "u": [1, 2]}, None, ["row", "u"]),  # not unique: a feature like any other
        ({"index": ["1.5", "2.5"], "u": [1, 2]}, None, ["index", "u"]),  # measured, not counted
        ({"key": ["x", "y"], "row": [1, 2]}, ["x", "y"], ["row"]),
    ],
)
def test_the_id_column_is_found_by_its_name(columns, ids, names):
    _, found, left = tables.features(data(**columns))
    assert (None if found is None else found.tolist(), left) == (ids, names)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"color": ["red", "blue"], "u": [1, 2]},
            {},
            "column 'color' of data.csv is text (line 2: 'red'); name it with --id or leave it out with --columns.",
        ),
        ({"u": ["1", "?"]}, {}, "column 'u' of data.csv holds something that is not a number (line 3: '?')."),
        ({"u": [1, np.nan]}, {}, "column 'u' of data.csv is empty in line 3."),
        ({"u": ["1", ""]}, {}, "column 'u' of data.csv is empty in line 3."),
        ({"u": ["1", "nan"]}, {}, "column 'u' of data.csv is empty in line 3."),
        ({"u": [-np.inf, 1]}, {}, "column 'u' of data.csv is infinite in line 2."),
        ({"u": ["1", "inf"]}, {}, "column 'u' of data.csv is infinite in line 3."),
        ({"id": ["a", "a"], "u": [1, 2]}, {}, "data.csv line 3: id 'a' is already the id of line 2."),
        (
            {"who": ["a", " "], "u": [1, 2]},
            {"id_column": "who"},
            "data.csv line 3: the id in column 'who' is empty.",
        ),
        (
            {"color": [1], "u": [1]},
            {"columns": ["colour"]},
            "data.csv has no column 'colour'; did you mean 'color'?",
        ),
        ({"u": [1]}, {"id_column": "zzz"}, "data.csv has no column 'zzz'."),
        ({"u": [1]}, {"label_column": "u"}, "data.csv has no column left to cluster by."),
        ({"u": []}, {}, "data.csv has no rows."),
        ({}, {}, "data.csv has no rows."),
    ],
)
def test_bad_data_is_named(columns, options, message):
    with pytest.raises(TableError) as caught:
        tables.features(data(**columns), **options)
    assert str(caught.value) == message


def test_numbers_written_as_codes_are_still_numbers_to_cluster_by(tmp_path):
    path = put(tmp_path, "a.csv", "hour,id\n00,1\n07,2\n")
    X, ids, _ = tables.features(tables.read(path))
    assert (X.tolist(), ids.tolist()) == ([[0], [7]], ["1", "2"])


# --- writing ------------------------------------------------------------------------------------------------

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
COLUMNS = st.integers(0, 5).flatmap(
    lambda n: st.dictionaries(
        WORDS.filter(lambda w: w.strip() and w == w.strip() and not tables._numbers.is_number(w)).filter(
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


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = put(tmp_path, "a.csv", "old")
    for error in (KeyboardInterrupt, RuntimeError):
        with pytest.raises(error):
            _break_off(path, error)
    with pytest.raises(TableError, match=r"column 'v' of a.csv has 1 rows"):
        tables.write(path, {"u": [1, 2], "v": [1]})

    def full(aside, columns):
        aside.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(tables._files._WRITERS, ".csv", full)
    with pytest.raises(FileError, match=r"a.csv' cannot be written: no space left on device\.$"):
        tables.write(path, {"u": [1]})
    monkeypatch.setattr(os, "replace", lambda *a: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"), tables.atomic(path) as aside:
        aside.write_text("new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


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
    with pytest.raises(TableError, match=r"'.xlsx' is not a format that cluewise reads; use .csv, .tsv"):
        tables.read(put(tmp_path, "a.xlsx", "x"))
    with pytest.raises(TableError, match="a name without suffix is not a format"):
        tables.read(put(tmp_path, "a", "x"))

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(tmp_path), "read_bytes", denied)
    with pytest.raises(FileError, match=r"cannot be read: permission denied\.$"):
        tables.read(tmp_path / "a")
