"""Everything wrong with a clue file is named with its line."""

import json

import pytest

from cluewise import Clues
from cluewise.clues import files
from cluewise.exceptions import ClueError
from cluewise.tables import TableError

IDS = ["a17", "b3", "c", "d", "e", "f"]


def put(folder, content, name="clues.csv"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(folder, content, name="clues.csv", ids=IDS, n=None):
    return Clues.read(put(folder, content, name), ids=ids, n=n)


HEAD = "a,b,kind,weight,confidence\n"
BAD = [
    ("a17,b33,must\n", "clues.csv line 1: no row is called 'b33'; did you mean 'b3'?"),
    ("a17,b3,must\n\nzzzzz,b3,must\n", "clues.csv line 3: no row is called 'zzzzz'."),
    ("a17,b3,must\n,b3,must\n", "clues.csv line 2: a row is missing."),
    ("a17,a17,cannot\n", "clues.csv line 1: row 'a17' is linked to itself."),
    ("a17,b3,0\n", "clues.csv line 1: kind 0 is ambiguous ('cannot' in some files, 'unknown' in others); write"),
    ("a,b,kind\na17,b3,maybe\n", "clues.csv line 2: 'maybe' is not a kind of clue; use must, cannot, label, together,"),
    ("a,b,kind\na17,b3,must\na17,b3,must:x\n", "clues.csv line 3: 'must:x' is not a kind of clue"),
    ("a,b,kind\na17,b3,size:kg\n", "clues.csv line 2: 'size:kg' is not a kind of clue"),
    ("a,b,kind\na17,b3,\n", "clues.csv line 2: '' is not a kind of clue"),
    ("a,b,kind,heft\na17,b3,must,1\n", "clues.csv has a column 'heft'; clues have a, b, kind, weight, confidence,"),
    ("a,kind\na17,must\n", "clues.csv has a column kind, but no column b."),
    ("x,y\na17,must\n", "clues.csv has neither the columns a, b and kind nor a column label."),
    (HEAD + "a17,b3,must,,\na17,c,must,-2,\n", "clues.csv line 3: weight -2 is negative."),
    (HEAD + "a17,b3,must,nan,\n", "clues.csv line 2: weight 'nan' is not a number."),
    (HEAD + "a17,b3,must,1,\na17,c,must,much,\n", "clues.csv line 3: weight 'much' is not a number."),
    (HEAD + "a17,b3,must,,0.5\n", "clues.csv line 2: confidence 0.5 is not in (0.5, 1]."),
    (HEAD + "a17,b3,must,,1.5\n", "clues.csv line 2: confidence 1.5 is not in (0.5, 1]."),
    (HEAD + "a17,b3,must,1,0.75\n", "clues.csv line 2: weight 1 is not 2 * confidence - 1; give one of the two."),
    (HEAD + "a17,g,apart,,0.75\n", "clues.csv line 2: confidence 0.75 is only for must and cannot."),
    (HEAD + "a17,red,label,2,\n", "clues.csv line 2: weight 2 is only for links and groups."),
    ("a17,red,label\nb3,red,label\na17,blue,label\n", "clues.csv line 3: row 'a17' is labeled 'blue', but label"),
    ("a17,g,together\na17,h,together\n", "clues.csv line 2: row 'a17' is in group 'h', but in group 'g' in line 1."),
    ("a17,x,partition\na17,y,partition\n", "clues.csv line 2: row 'a17' is in class 'y', but in class 'x' in line 1."),
    ("a17,x,avoid\na17,y,avoid\n", "clues.csv line 2: row 'a17' is in cluster 'y', but in cluster 'x' in line 1."),
    ("a17,,apart\n", "clues.csv line 1: column b is empty."),
    (HEAD + "a17,g,apart,2,\nb3,g,apart,,\n", "clues.csv line 3: group 'g' has weight 1 here and 2 before."),
    ("*,3-20,size\n", "clues.csv line 1: '3-20' is not a pair of bounds; write 3..20, 3.. or ..20."),
    ("*,20..3,size\n", "clues.csv line 1: the lower bound 20 is above the upper bound 3."),
    ("*,1..2,size\n*,1..3,size\n", "clues.csv line 2: cluster '*' already has bounds."),
    ("*,1..2,size\n0,1..3,size\n", "clues.csv line 1: sizes need a line for every cluster from 0 on"),
    ("0,1..2,size\n2,1..3,size\n", "clues.csv line 2: sizes need a line for every cluster from 0 on"),
    ("*,1..2,size\n*,1..2,size:weight\n", "clues.csv line 2: sizes are of points or of weight, not of both."),
    ("*,5,rows\n0,1,must\n", "clues.csv line 1 is about 5 rows, but there are 6."),
    ("*,many,rows\n", "clues.csv line 1: 'many' is not a number of rows."),
    ("label\nred\nblue\n", "clues.csv has 2 labels, but there are 6 rows and no ids."),
    ("id,label\na17,red\nzzz,\n", "clues.csv line 3: no row is called 'zzz'."),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD)
def test_bad_lines_are_named(tmp_path, content, message):
    with pytest.raises(ClueError) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0,7,must\n", "clues.csv line 1: there is no row 7; there are 6, counted from 0."),
        ("0,1,must\n-1,2,must\n", "clues.csv line 2: there is no row -1; there are 6, counted from 0."),
        ("0,b3,must\n", "clues.csv line 1: 'b3' is not a row number; rows that have names need ids."),
        ("0,,must\n", "clues.csv line 1: a row is missing."),
        ("0,1.5,must\n", "clues.csv line 1: '1.5' is not a row number; rows that have names need ids."),
    ],
)
def test_bad_row_numbers_are_named(tmp_path, content, message):
    with pytest.raises(ClueError) as caught:
        read(tmp_path, content, ids=None, n=6)
    assert str(caught.value) == message


def test_negative_rows_are_bad_without_n_too(tmp_path):
    with pytest.raises(ClueError, match=r"line 1: there is no row -3\.$"):
        read(tmp_path, "0,-3,must\n", ids=None)


def test_bad_ids():
    with pytest.raises(ClueError, match="id 'a' is the name of row 0 and of row 2; ids must differ"):
        files.parse([], ids=["a", "b", "a"])
    with pytest.raises(ClueError, match="the id of row 1 is empty"):
        files.parse([], ids=["a", " "])
    with pytest.raises(ClueError, match="there are 2 ids for 3 rows"):
        files.parse([], ids=["a", "b"], n=3)


def test_files_that_are_no_tables(tmp_path):
    with pytest.raises(TableError, match=r"^clues.csv line 2 has 2 fields, but there are 3 columns; does the file end"):
        read(tmp_path, "a17,b3,must\na17,b")
    with pytest.raises(TableError, match=r"^clues.csv is empty\.$"):
        read(tmp_path, "")
    with pytest.raises(TableError, match=r"^clues.json line 1: the file ends in the middle\.$"):
        read(tmp_path, '{"must": [["a17"', "clues.json")
    with pytest.raises(TableError, match="there is no file"):
        Clues.read(tmp_path / "no.csv")
    with pytest.raises(TableError, match="is a folder"):
        Clues.read(tmp_path)
