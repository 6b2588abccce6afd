"""Text files: what comes in is what is there, and what is wrong is named with its line."""

import csv
import io
import math
import sys

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import tables
from cluewise.exceptions import ColumnWarning
from cluewise.tables import Table, TableError, _csv


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
    assert contents(Table({"c": _csv.typed_series(pl.Series(cells))})) == contents(Table({"c": column}))


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
    monkeypatch.setattr(_csv, "BIG", 0)
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
        patch.setattr(_csv, "BIG", 0)
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
    ('x,y\n1,"a"b\n', "a.csv line 2: the quotes are malformed (',' expected after '\"')."),
    (
        'x,y\n1,"' + "z" * 140000 + "\n",
        "a.csv line 2: a quote is opened here and never closed; does the file end in the middle?",
    ),
    ("", "a.csv is empty."),
    ("\n\n", "a.csv is empty."),
    ("a17,1.5,2\nb3,2.5,3\n", "a.csv line 1: '1.5' is not a column name; the first line names the columns."),
    (b"x,y\n1,\x00\n", "a.csv is not a text file (it holds a zero byte)."),
    (b"\xff\xfex\x00,\x00", "a.csv is not a text file (it holds a zero byte)."),
]


@pytest.mark.parametrize(("content", "message"), BAD_TEXT)
@pytest.mark.parametrize(("big", "polars"), [(5_000_000, True), (-1, True), (-1, False)])
def test_bad_text_is_named(tmp_path, monkeypatch, content, message, big, polars):
    monkeypatch.setattr(_csv, "BIG", big)
    if not polars:
        monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(TableError) as caught:
        tables.read(put(tmp_path, "a.csv", content))
    assert str(caught.value) == message


NAMED = [
    (
        "x,x,x_2\n1,2,3\n",
        ["x", "x_3", "x_2"],
        "a.csv line 1: column name 'x' appears twice; the second is called 'x_3'.",
    ),
    (",,y\n1,2,3\n", ["row", "column_2", "y"], "a.csv line 1: column 2 has no name; it is called 'column_2'."),
    (
        b"x,y\n1,M\xfcller\n",
        ["x", "y"],
        "a.csv line 2: the text is not UTF-8, so the file is read as Latin-1.",
    ),
]


@pytest.mark.parametrize(("content", "names", "message"), NAMED)
@pytest.mark.parametrize("big", [5_000_000, -1])
def test_what_was_done_instead_is_said(tmp_path, monkeypatch, content, names, message, big):
    monkeypatch.setattr(_csv, "BIG", big)
    with pytest.warns(ColumnWarning) as caught:
        table = tables.read(put(tmp_path, "a.csv", content))
    assert (list(table.columns), {str(warning.message) for warning in caught}) == (names, {message})
    if isinstance(content, bytes):
        assert table.columns["y"].tolist() == ["Müller"]


def test_fast_reader_leaves_what_polars_refuses_to_the_careful_one(tmp_path, monkeypatch):
    path = put(tmp_path, "a.csv", "x,y\n1,2\n")
    careful = tables.read(path)
    monkeypatch.setattr(_csv, "BIG", 0)

    def refuse(*args, **options):
        raise pl.exceptions.ComputeError("no")

    monkeypatch.setattr(pl, "read_csv", refuse)
    assert same(tables.read(path), careful)
    monkeypatch.setattr(pl, "read_csv", lambda *args, **options: pl.DataFrame({"c0": ["1"] * 9, "c1": ["2"] * 9}))
    assert same(tables.read(path), careful)
    with pytest.raises(TableError, match="line 1 has 2 fields, but there are 1 columns"):
        tables.read(path, header=["x"])
