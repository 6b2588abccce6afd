"""Small files that unpack to much: each is refused, or takes no more memory than the limit for one file allows.

The whole of it: CLUEWISE_SLOW=1 pytest tests/attack/test_bombs.py.
"""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import warnings
import zipfile
from itertools import product

import numpy as np
import pytest

from cluewise import Clues, tables
from cluewise.exceptions import ClueError

LIMIT = 2**20
ROOM = 16 * LIMIT  # what a file may take while it is read, and what is loaded meanwhile
BIG = 2**25  # what a bomb holds
METHODS = {"stored": 0, "deflate": 8, "bzip2": 12, "lzma": 14}
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


@pytest.fixture(autouse=True)
def limit(monkeypatch):
    monkeypatch.setenv("CLUEWISE_FILE_LIMIT", str(LIMIT))


def archive(members, method=8):
    """A ZIP file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return buffer.getvalue()


def declare(data, size):
    """The archive, with another size for its last member in the directory."""
    place = data.rfind(b"PK\x01\x02") + 24
    return data if size is None else data[:place] + struct.pack("<I", size) + data[place + 4 :]


def book(sheet, shared="", kind=b""):
    """An Excel file with one sheet, given as the XML inside of its element."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{KIND}.worksheet+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{KIND}.sharedStrings+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}">{shared}</sst>',
        "xl/worksheets/sheet1.xml": kind + f'<worksheet xmlns="{SHEET}">{sheet}</worksheet>'.encode(),
    }
    return archive(parts)


def rows(*inside):
    """The rows of a sheet; a small one comes first."""
    return '<sheetData><row r="1"><c r="A1" t="str"><v>a</v></c></row>' + "".join(inside) + "</sheetData>"


def saved(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def zips():
    """Members that hold more than their archive declares, or than the limit allows, by every method."""
    for (name, method), size in product(METHODS.items(), (BIG, 2**14)):
        text = archive({"a.csv": b"1\n" * (size // 2)}, method)
        array = archive({"X.npy": saved(np.zeros(size, bool))}, method)
        for declared in (None, 0, 10, 200, LIMIT):
            yield f"{name} {size} as {declared}.zip", declare(text, declared)
            yield f"{name} {size} as {declared}.npz", declare(array, declared)


def books():
    """Sheets with few cells, far away or in strange places."""
    far = (f'<row r="{i}"><c r="XFD{i}"><v>1</v></c></row>' for i in range(2, 2000))
    yield "far column.xlsx", book(rows(*far))
    yield "diagonal.xlsx", book(rows(*(f'<row><c r="{letters(j)}1"><v>1</v></c></row>' for j in range(1, 1000))))
    yield "endless.xlsx", book(rows('<row r="1000000000000"><c><v>1</v></c></row>'))
    yield "endless number.xlsx", book(rows('<row r="1e15"><c><v>1</v></c></row>'))
    yield "dimension.xlsx", book('<dimension ref="A1:XFD1048576"/>' + rows())
    yield "wide dimension.xlsx", book('<dimension ref="A1:XFD9"/>' + rows(*['<row><c r="A1"/></row>'] * 2000))
    yield "long row.xlsx", book(rows("<row>" + "<c/>" * 200_000 + "</row>"))
    yield "no rows.xlsx", book("<a/>" * 200_000 + rows())
    yield "rows in rows.xlsx", book(rows("<row>" + "<c/><row/>" * 90_000 + "</row>"))
    yield "attributes.xlsx", book(rows("<row " + " ".join(f'a{i}=""' for i in range(80_000)) + "/>"))
    yield "runs.xlsx", book(rows(), "<si>" + "<r/>" * 200_000 + "</si>")
    laughs = b'<!DOCTYPE x [<!ENTITY a "%s">%s]>' % (b"ha" * 50, b'<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">')
    yield "laughs.xlsx", book(rows("<row><c><v>&b;</v></c></row>"), kind=laughs)
    for declared in (0, 10, 2000):
        for name, method in METHODS.items():
            yield f"{name} as {declared}.xlsx", declare(archive({"[Content_Types].xml": b" " * BIG}, method), declared)


def letters(number):
    """The name of a column of a spreadsheet."""
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


def others():
    """Records that share no key."""
    yield "keys.json", json.dumps([{f"k{i}": 1} for i in range(2000)]).encode()


def attempt(read, path):
    """Read a file: what became of it, and the most memory that it took."""
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(path)
        found = "read"
    except (tables.TableError, ClueError) as error:
        said = str(error)
        named = path.name in said or "a.csv" in said
        found = "refused" if named and "\n" not in said else f"unclear: {said}"
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found, peak


def test_bombs_are_refused_or_read_within_the_limit(tmp_path, sweep, record_property):
    tables.read(_written(tmp_path, "good.xlsx", book(rows())))  # what readers load counts for none of them
    tried = {"read": 0, "refused": 0}
    every = [*zips(), *books(), *others()]
    for number, (name, data) in enumerate(every):
        if number % sweep(2, 1) and name.endswith(("zip", "npz")):
            continue
        path = _written(tmp_path, name, data)
        for read in (tables.read, lambda path: Clues.read(path, ids=["a", "b"])):
            found, peak = attempt(read, path)
            tried[found] += 1
            assert peak < ROOM, f"{name} takes {peak / 2**20:.0f} MB"
        path.unlink()
    assert tried["refused"] > 40
    record_property("bombs", tried)


def _written(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("suffix", [".zip", ".npz", ".xlsx"])
@pytest.mark.parametrize("method", ["bzip2", "lzma"])
def test_members_are_stored_or_deflated(tmp_path, suffix, method):
    path = _written(tmp_path, f"data{suffix}", archive({"data.csv": b"x\n1\n2\n"}, METHODS[method]))
    with pytest.raises(tables.TableError, match=rf"data{suffix} is packed by a method other than deflate; pack it"):
        tables.read(path)


@pytest.mark.parametrize("method", ["stored", "deflate"])
def test_what_is_sound_is_read_as_ever(tmp_path, method):
    text = "".join(f"{i},{i % 7}\n" for i in range(1000))
    path = _written(tmp_path, "data.zip", archive({"data.csv": text}, METHODS[method]))
    assert tables.read(path).columns["x0"].tolist() == list(range(1000))
    X = np.random.default_rng(0).normal(size=(300, 5))
    path = _written(tmp_path, "data.npz", archive({"X.npy": saved(X)}, METHODS[method]))
    assert np.array_equal(tables.read(path).columns["x3"], X[:, 3])


@pytest.mark.filterwarnings("ignore::cluewise.exceptions.ColumnWarning")
def test_a_sheet_with_a_cell_far_away_is_read(tmp_path):
    cells = '<row r="7"><c r="C7"><v>2</v></c><c r="XFD7"><v>3</v></c></row><row r="1048576"><c><v>4</v></c></row>'
    table = tables.read(_written(tmp_path, "data.xlsx", book('<dimension ref="A1:A1"/>' + rows(cells))))
    found = {name: column.tolist() for name, column in table.columns.items()}
    assert table.lines.tolist() == [7, 1048576]
    assert list(found) == ["a", "column_2", "column_3"]
    assert found["a"][1] == 4
    assert (found["column_2"][0], found["column_3"][0]) == (2, 3)
    for row in ("1048577", "1e9"):
        path = _written(tmp_path, "data.xlsx", book(rows(f'<row r="{row}"><c><v>4</v></c></row>')))
        with pytest.raises(tables.TableError, match=r"data.xlsx has a row .*, more than the 1048576 that a sheet has"):
            tables.read(path)


class Counting(str):
    """A name that counts how often names are compared."""

    compared = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counting.compared += 1
        return str.__eq__(self, other)


def test_a_header_with_many_columns_takes_time_in_proportion(monkeypatch, tmp_path):
    """Names are looked up, not searched for, and a name that comes again is numbered from where the last one ended."""
    from cluewise.tables import _csv

    names = [Counting(f"c{i}") for i in range(500)]
    monkeypatch.setattr(_csv, "_header", lambda *_: (names, 1))
    path = _written(tmp_path, "clues.csv", (",".join(names) + "\n" + ",".join("1" * 500)).encode())
    tables.read(path, text=names)
    assert Counting.compared < 20 * len(names)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fields = [Counting("x")] * 500
        Counting.compared = 0
        found = _csv.name_columns(fields, "data.csv line 1")
    assert found == ["x", *(f"x_{i}" for i in range(2, 501))]
    assert Counting.compared < 20 * len(fields)
