"""Wide tables, long cells, old line ends; and cells that a spreadsheet would take for formulas."""

import csv
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cluewise import Clues, tables
from cluewise.exceptions import ColumnWarning
from cluewise.tables import TableError, _csv


@pytest.fixture(autouse=True)
def usual_limit():
    """The limit of the csv module, as a process begins with it."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


@pytest.mark.parametrize("big", [0, 10**9])
@pytest.mark.parametrize("polars", [True, False])
def test_headers_and_cells_of_any_length(tmp_path, monkeypatch, big, polars):
    monkeypatch.setattr(_csv, "BIG", big)
    if not polars:
        monkeypatch.setitem(sys.modules, "polars", None)
    names = [f"{'gene' * 20}{j:05d}" for j in range(2000)]  # more letters than the csv module takes at first
    path = tmp_path / "a.csv"
    path.write_text(",".join(names) + "\n" + ",".join("1" * 2000) + "\n")
    X, _, found = tables.features(tables.read(path))
    assert (X.shape, found) == ((1, 2000), names)
    long = "z" * 300_000
    path.write_text(f'x,note\n1,{long}\n2,"{long}"\n')
    assert tables.read(path).columns["note"].tolist() == [long, long]
    path.write_text("x" * 200_000 + "\n1\n2\n")
    assert tables.features(tables.read(path))[0].tolist() == [[1], [2]]


class Counted(str):
    """A name that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


def test_names_are_compared_a_few_times_each():
    names = [Counted(f"g{j}") for j in range(3000)]
    Counted.compared = 0
    assert _csv._header(list(names), "a.csv", 1, None)[0] == names
    assert Counted.compared < 20 * len(names)
    with pytest.warns(ColumnWarning, match="'g7' appears twice"):
        assert _csv._header(["g7", "u", "g7"], "a.csv", 1, None)[0] == ["g7", "u", "g7_2"]


@pytest.mark.parametrize("big", [0, 10**9])
def test_line_ends_of_old_macs(tmp_path, monkeypatch, big):
    monkeypatch.setattr(_csv, "BIG", big)
    path = tmp_path / "a.csv"
    path.write_bytes(b"id;x\rr1;1\rr2;2.5\r")
    table = tables.read(path)
    assert table.columns["x"].tolist() == [1.0, 2.5]
    assert table.lines.tolist() == [2, 3]
    path.write_bytes(b"id,label\ra17,red\r")
    assert Clues.read(path, ids=["a17"]).classes_.tolist() == ["red"]
    path.write_bytes(b"x,y\r1,2\r3,\xff\r")
    with pytest.warns(ColumnWarning, match="line 3: the text is not UTF-8"):
        assert tables.read(path).columns["y"].tolist() == ["2", "ÿ"]


FORMULAS = [
    "=1+1",
    "+x",
    "-x",
    "@sum",
    "\tx",
    "\rx",
    "'=x",
    "''@x",
    "=",
    "-",
    "--1",
    "+1-2",
    "-1_0",
    '=HYPERLINK("u","v")',
]
HARMLESS = ["-1", "+1.5", "-inf", "+nan", "-1e9", "x=1", "'x", "'", "", " =x", "'-1", "1-2"]


def test_formulas_get_an_apostrophe_and_numbers_do_not(tmp_path):
    path = tmp_path / "a.csv"
    cells = FORMULAS + HARMLESS
    tables.write(path, {"=name": cells, "v": [-1.5] * len(cells), "n": [-1] * len(cells)})
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["'=name", "v", "n"]
    assert [row[0] for row in rows] == [f"'{cell}" for cell in FORMULAS] + HARMLESS
    assert {(row[1], row[2]) for row in rows} == {("-1.5", "-1")}
    back = tables.read(path, text=["=name"]).columns
    assert back["=name"].tolist() == cells
    assert back["v"].tolist() == [-1.5] * len(cells)


def test_raw_cells_are_written_as_they_are(tmp_path):
    tables.write(tmp_path / "a.csv", {"=u": ["=1+1"]}, raw_cells=True)
    assert (tmp_path / "a.csv").read_text() == "=u\n=1+1\n"
    Clues(2, must=[(0, 1)]).write(tmp_path / "b.csv", ids=["=a", "@b"], raw_cells=True)
    assert "=a,@b,must" in (tmp_path / "b.csv").read_text()


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".json"])
def test_only_csv_needs_apostrophes(tmp_path, suffix):
    tables.write(tmp_path / f"a{suffix}", {"u": ["=1+1", "'=x"]})
    assert tables.read(tmp_path / f"a{suffix}").columns["u"].tolist() == ["=1+1", "'=x"]


@settings(max_examples=60, deadline=None)
@given(cells=st.lists(st.text("'=+-@\t1x.e", max_size=5), min_size=1, max_size=6))
@example(cells=["'=x", "''=x", "=x", "-1", "'-1", "-x"])
def test_guarded_cells_come_back(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("guard") / "a.csv"
    tables.write(path, {"u": cells})
    for big in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_csv, "BIG", big)
            assert tables.read(path, text=["u"]).columns["u"].tolist() == cells


def test_clues_about_rows_with_such_names_come_back(tmp_path):
    ids = ["=a", "@b", "-c", "'=d"]
    clues = Clues(4, must=[(0, 1)], labels=["=red", "-1x", None, "+y"], together=["=g", "=g", None, None])
    clues.write(tmp_path / "a.csv", ids=ids)
    text = (tmp_path / "a.csv").read_text()
    assert "\n'=a,'@b,must" in text
    back = Clues.read(tmp_path / "a.csv", ids=ids)
    assert back.must.tolist() == [[0, 1]]
    assert back.classes_.tolist() == clues.classes_.tolist()
    assert back.together[0].names.tolist() == ["=g"]


def test_a_column_counts_once():
    table = tables.Table({"x": [1, 2], "y": [3, 4]}, "a.csv")
    with pytest.raises(TableError, match=r"^column 'x' of a.csv is named more than once; it can count only once\.$"):
        tables.features(table, columns=["x", "y", "x"])


@pytest.mark.parametrize("big", [0, 10**9])
def test_a_file_of_a_million_columns_is_refused_at_once(tmp_path, monkeypatch, big):
    monkeypatch.setattr(_csv, "BIG", big)
    path = tmp_path / "a.csv"
    path.write_text(",".join(["x"] * 10**6) + "\n")
    with pytest.raises(TableError, match=r"a\.csv has 1000000 columns, more than 200000; are its rows"):
        tables.read(path)
