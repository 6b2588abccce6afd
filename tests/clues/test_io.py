"""Clue files: every kind comes back as it was, and everything wrong is named with its line."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues, tables
from cluewise.clues import Groups, _io
from cluewise.clues._io_values import Names, spell, values_of
from cluewise.exceptions import ClueError
from cluewise.tables import TableError

IDS = ["a17", "b3", "c", "d", "e", "f"]


def put(folder, content, name="clues.csv"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(folder, content, name="clues.csv", ids=IDS, n=None):
    return Clues.read(put(folder, content, name), ids=ids, n=n)


# --- reading -------------------------------------------------------------------------------------------------


def test_every_kind_in_one_file(tmp_path):
    clues = read(
        tmp_path,
        "a,b,kind,weight\n"
        "b3,a17,must,2\n"
        "c,d,cannot,\n"
        "a17,red,label,\n"
        "c,blue,label,1\n"
        "e,g1,together,inf\n"
        "f,g1,together,inf\n"
        "a17,p,apart:photo,\n"
        "b3,p,apart:photo,\n"
        "a17,q,apart:street,0.5\n"
        "c,q,apart:street,0.5\n"
        "a17,x,partition,\n"
        "d,y,partition,\n"
        "a17,2,avoid,\n"
        "b3,0,avoid,\n"
        "*,1..4,size,\n",
    )
    assert clues.n == 6
    assert clues.must.tolist() == [[0, 1]]
    assert clues.must_weight.tolist() == [2]
    assert clues.must_source.tolist() == ["clues.csv:2"]
    assert clues.cannot.tolist() == [[2, 3]]
    assert clues.cannot_weight.tolist() == [1]
    assert clues.classes_.tolist() == ["blue", "red"]
    assert clues.labels.tolist() == [1, -1, 0, -1, -1, -1]
    assert clues.label_source[[0, 2]].tolist() == ["clues.csv:4", "clues.csv:5"]
    (together,) = clues.together
    assert together.codes.tolist() == [-1, -1, -1, -1, 0, 0]
    assert (together.names.tolist(), together.weights.tolist()) == (["g1"], [np.inf])
    assert together.source == "clues.csv:6-7"
    found = {(g.source, tuple(g.codes), g.weights[0]) for g in clues.apart}
    assert found == {
        ("clues.csv:8-9", (0, 0, -1, -1, -1, -1), 1.0),
        ("clues.csv:10-11", (0, -1, 0, -1, -1, -1), 0.5),
    }
    assert clues.partition_codes(0).tolist() == [0, -1, -1, 1, -1, -1]
    assert clues.avoid[0].tolist() == [1, 0, -1, -1, -1, -1]
    assert clues.sizes.tolist() == [1, 4]
    assert clues.size_unit == "points"


@pytest.mark.parametrize(
    ("word", "kind"),
    [(w, "must") for w in ("must", "ML", "Must-Link", "must_link", "mustlink", "1", "+1", " must ")]
    + [(w, "cannot") for w in ("cannot", "CL", "cannot-link", "Cannot_Link", "cannotlink", "-1")],
)
@pytest.mark.parametrize("header", ["", "a,b,kind\n", "A, B, Kind\n", "kind;b;a\n"])
def test_spellings_of_links_with_and_without_header(tmp_path, word, kind, header):
    line = f"{word};b3;c\n" if header.startswith("kind") else f"c,b3,{word}\n"
    clues = read(tmp_path, header + line)
    assert getattr(clues, kind).tolist() == [[1, 2]]
    assert getattr(clues, f"{kind}_source").tolist() == [f"clues.csv:{2 if header else 1}"]
    assert clues.kinds == {kind}


def test_a_file_without_header_may_have_all_columns(tmp_path):
    clues = read(tmp_path, "a17,b3,must,0.5,,ann\na17,c,cannot,,0.9,\n")
    assert (clues.must_weight[0], clues.must_source[0]) == (0.5, "ann")
    assert (clues.cannot_confidence[0], clues.cannot_source[0]) == (0.9, "clues.csv:2")
    assert clues.cannot_weight[0] == pytest.approx(0.8)


def test_names_are_text(tmp_path):
    clues = read(tmp_path, "a,b,kind\n007,1.10,must\n7,1.1,cannot\n", ids=["7", "007", "1.1", "1.10"])
    assert (clues.must.tolist(), clues.cannot.tolist()) == ([[1, 3]], [[0, 2]])
    clues = read(tmp_path, "a,b,kind\n30,10,must\n", ids=np.array([10.0, 20.0, 30.0]))
    assert clues.must.tolist() == [[0, 2]]
    clues = read(tmp_path, "a,b,kind\n30,10,must\n", ids=pd.Series([10, 20, 30]))
    assert clues.must.tolist() == [[0, 2]]


def test_row_numbers(tmp_path):
    lines = "0,4,must\n2,1,cannot\n"
    assert read(tmp_path, lines, ids=None, n=9).n == 9
    clues = read(tmp_path, lines, ids=None)
    assert clues.n == 5
    assert clues.must.tolist() == [[0, 4]]
    assert read(tmp_path, "*,7,rows\n" + lines, ids=None).n == 7
    assert read(tmp_path, "6,red,label\n", ids=None).n == 7
    assert read(tmp_path, "6,g,apart\n5,g,apart\n", ids=None).n == 7


def test_a_file_that_counts_its_rows_means_numbers_even_if_rows_have_names(tmp_path):
    clues = read(tmp_path, "*,3,rows\n0,2,must\n", ids=["2", "1", "0"])
    assert clues.must.tolist() == [[0, 2]]
    assert read(tmp_path, "*,3,rows\n0,1,must\n", ids=["2", "1", "0"]).must.tolist() == [[0, 1]]


def test_several_partitions_and_clusterings_to_avoid(tmp_path):
    clues = read(
        tmp_path,
        "a17,0,partition:p\nb3,1,partition:p\na17,5,partition:q\nc,3,partition:q\n"
        "a17,u,avoid:p\nb3,v,avoid:p\nc,u,avoid:q\n",
    )
    assert [clues.partition_codes(t).tolist() for t in (0, 1)] == [[0, 1, -1, -1, -1, -1], [1, -1, 0, -1, -1, -1]]
    assert [a.tolist() for a in clues.avoid] == [[0, 1, -1, -1, -1, -1], [-1, -1, 0, -1, -1, -1]]


@pytest.mark.parametrize(
    ("lines", "sizes", "unit"),
    [
        ("*,3..20,size", [3, 20], "points"),
        ("*,3..,size", [3, np.inf], "points"),
        ("*,..20,size", [0, 20], "points"),
        ("*, 2.5 .. 20.25 ,size:weight", [2.5, 20.25], "weight"),
        ("1,..9,size\n0,3..20,size", [[3, 20], [0, 9]], "points"),
    ],
)
def test_sizes(tmp_path, lines, sizes, unit):
    clues = read(tmp_path, lines + "\n")
    assert clues.sizes.tolist() == sizes
    assert clues.size_unit == unit


def test_repeated_lines_that_agree(tmp_path):
    clues = read(tmp_path, "a17,red,label\na17,red,label\nb3,g,apart\nb3,g,apart\nc,g,apart\n")
    assert clues.labels.tolist() == [0, -1, -1, -1, -1, -1]
    assert clues.label_source[0] == "clues.csv:1"
    assert clues.apart[0].codes.tolist() == [-1, 0, 0, -1, -1, -1]


# --- files of labels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["id,label", "Name,Label", "who,labels", "row,label,x"])
def test_a_file_of_labels_with_ids(tmp_path, header):
    extra = ",1" if header.endswith("x") else ""
    clues = read(tmp_path, f"{header}\nc,red{extra}\na17,{extra}\nb3,blue{extra}\n")
    assert clues.labels.tolist() == [-1, 0, 1, -1, -1, -1]
    assert clues.classes_.tolist() == ["blue", "red"]
    assert clues.label_source[1] == "clues.csv:4"


@pytest.mark.parametrize("header", ["id,x,label", "id,label,size", "x,id,label", "id,x,must,label"])
@pytest.mark.parametrize("values", [("1", "2"), ("red", "blue")])
def test_a_header_that_looks_like_a_clue(tmp_path, header, values):
    lines = [header]
    for row, value in zip(("c", "a17"), values):
        lines.append(",".join({"id": row, "label": value}.get(field, "1") for field in header.split(",")))
    clues = read(tmp_path, "\n".join(lines))
    assert [str(clues.classes_[clues.labels[row]]) for row in (2, 0)] == list(values)


def test_a_first_clue_with_a_misspelled_row_is_no_header(tmp_path):
    with pytest.raises(ClueError, match="line 1: no row is called 'a171'; did you mean 'a17'"):
        read(tmp_path, "a171,red,label\nb3,c,must\n")
    with pytest.raises(ClueError, match="line 1: no row is called 'a171'; did you mean 'a17'"):
        read(tmp_path, "a171,b3,1\n")


def test_a_file_of_labels_in_the_order_of_the_rows(tmp_path):
    clues = read(tmp_path, 'label\n1\n""\n2\n', ids=None)
    assert (clues.labels.tolist(), clues.classes_.tolist()) == ([0, -1, 1], [1, 2])
    assert read(tmp_path, "x,y,label\n0.5,1,1\n0.25,1,\n1,1,2\n", ids=["u", "v", "w"]).labels.tolist() == [0, -1, 1]
    clues = read(tmp_path, "row,label\n4,1\n0,\n7,\n", ids=None)
    assert clues.labels.tolist() == [-1, -1, -1, -1, 0, -1, -1, -1]


def test_labels_from_parquet_and_json(tmp_path):
    path = tmp_path / "labels.parquet"
    tables.write(path, {"id": ["c", "a17"], "label": [1.0, np.nan]})
    clues = Clues.read(path, ids=IDS)
    assert (clues.labels.tolist(), clues.classes_.tolist()) == ([-1, -1, 0, -1, -1, -1], [1])
    assert clues.label_source[2] == "labels.parquet:0"
    clues = read(tmp_path, {"id": ["c", "a17"], "label": ["x", None]}, "labels.json")
    assert clues.labels.tolist() == [-1, -1, 0, -1, -1, -1]
    clues = read(tmp_path, {"label": ["x", None]}, "labels.json", ids=None)
    assert clues.labels.tolist() == [0, -1]


def test_minus_one_is_unknown_in_a_column_of_codes(tmp_path):
    assert read(tmp_path, "label\n-1\n0\n2\n", ids=None).labels.tolist() == [-1, 0, 1]


# --- JSON by hand --------------------------------------------------------------------------------------------


def test_json_by_hand(tmp_path):
    clues = read(
        tmp_path,
        {
            "n": 6,
            "labels": {"a17": "red", "c": None, "d": "blue"},
            "must": [["a17", "b3"], ["c", "d", 2], {"a": "e", "b": "f", "confidence": 0.75, "source": "ann"}],
            "cannot": [["a17", "c"]],
            "together": {"g1": ["a17", "b3"], "g2": ["c", "d"]},
            "apart": [{"p": ["a17", "c"]}, {"q": ["b3", "c"]}],
            "partitions": [{"a17": 0, "b3": 1}, [0, 0, 1, None, -1, ""]],
            "avoid": {"a17": "u", "c": "v"},
            "sizes": [1, None],
            "size_unit": "weight",
        },
        "clues.json",
    )
    assert clues.must.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert clues.must_weight.tolist() == [1, 2, 0.5]
    assert clues.must_source.tolist() == ["clues.json:must[0]", "clues.json:must[1]", "ann"]
    assert clues.cannot.tolist() == [[0, 2]]
    assert clues.labels.tolist() == [1, -1, -1, 0, -1, -1]
    assert clues.label_source[0] == "clues.json:labels.a17"
    assert clues.together[0].codes.tolist() == [0, 0, 1, 1, -1, -1]
    assert sorted(g.codes.tolist() for g in clues.apart) == [[-1, 0, 0, -1, -1, -1], [0, -1, 0, -1, -1, -1]]
    assert clues.partition_codes(0).tolist() == [0, 1, -1, -1, -1, -1]
    assert clues.partition_codes(1).tolist() == [0, 0, 1, -1, -1, -1]
    assert clues.avoid[0].tolist() == [0, -1, 1, -1, -1, -1]
    assert (clues.sizes.tolist(), clues.size_unit) == ([1, np.inf], "weight")


def test_json_by_hand_with_row_numbers(tmp_path):
    clues = read(
        tmp_path,
        {
            "labels": [1, None, 2],
            "must": [[0, 2]],
            "apart": [[0, 1], [2]],
            "sizes": [[0, 2], [1, 3]],
            "avoid": [0, 1, 1],
        },
        "clues.json",
        ids=None,
    )
    assert clues.n == 3
    assert (clues.labels.tolist(), clues.classes_.tolist()) == ([0, -1, 1], [1, 2])
    assert clues.apart[0].codes.tolist() == [0, 0, 1]
    assert clues.sizes.tolist() == [[0, 2], [1, 3]]
    assert clues.avoid[0].tolist() == [0, 1, 1]
    assert read(tmp_path, {"n": 4, "sizes": [1, 3]}, "clues.json", ids=None).n == 4
    infinite = put(tmp_path, '{"n": 4, "sizes": [1, Infinity]}', "clues.json")
    assert Clues.read(infinite).sizes.tolist() == [1, np.inf]


def test_json_as_a_table(tmp_path):
    records = [{"a": "a17", "b": "b3", "kind": "must", "weight": "inf"}, {"a": "c", "b": "x", "kind": "label"}]
    columns = {"a": [3, 1], "b": [0, 2], "kind": [1, -1]}
    clues = read(tmp_path, records, "clues.json")
    assert clues.must_weight.tolist() == [np.inf]
    assert clues.label_source[2] == "clues.json:1"
    clues = read(tmp_path, columns, "clues.json", ids=None)
    assert (clues.must.tolist(), clues.cannot.tolist()) == ([[0, 3]], [[1, 2]])
    assert read(tmp_path, [], "clues.json").kinds == frozenset()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (7, "clues.json holds neither a table of clues nor an object with labels, must, cannot, ..."),
        ({"mast": []}, "clues.json has an entry 'mast'; did you mean 'must'."),
        ({"zzz": []}, "clues.json has an entry 'zzz'; use n, labels, must, cannot, together, apart, partitions,"),
        ({"n": "six"}, "clues.json n: 'six' is not a number of rows."),
        ({"n": 5}, "clues.json speaks of 5 rows, but there are 6."),
        ({"must": {"a17": "b3"}}, "clues.json must: links are a list of pairs."),
        ({"must": [["a17"]]}, "clues.json must[0]: a link is [row, row] or [row, row, weight]."),
        ({"must": [{"a": "a17"}]}, "clues.json must[0]: a link is [row, row] or [row, row, weight]."),
        ({"must": [["a17", "b3"], ["c", "c"]]}, "clues.json must[1]: row 'c' is linked to itself."),
        ({"cannot": [["a17", "b33"]]}, "clues.json cannot[0]: no row is called 'b33'; did you mean 'b3'?"),
        ({"cannot": [["a17", None]]}, "clues.json cannot[0]: a row is missing."),
        ({"cannot": [["a17", "b3", -1]]}, "clues.json cannot[0]: weight -1 is negative."),
        ({"labels": "red"}, "clues.json labels: write an object from row to value, or a list with a value for"),
        ({"labels": ["red"]}, "clues.json labels has 1 entries, but there are 6 rows."),
        ({"labels": {"a17": ["red"]}}, "clues.json labels.a17: ['red'] is neither text nor a number."),
        ({"labels": {"zzz": "red"}}, "clues.json labels.zzz: no row is called 'zzz'."),
        ({"together": {"g": "a17"}}, "clues.json together: groups are an object from the name of a group to the"),
        (
            {"apart": {"g": ["a17"], "h": ["a17"]}},
            "clues.json apart.h[0]: row 'a17' is in group 'h', but in group 'g' in",
        ),
        ({"sizes": 5}, "clues.json sizes: sizes are [lower, upper], or one such pair for each cluster."),
        ({"sizes": [1, 2], "size_unit": "kg"}, "clues.json size_unit: 'kg' is neither 'points' nor 'weight'."),
        ({"sizes": [[1, 2], [3, 1]]}, "clues.json sizes[1]: the lower bound 3 is above the upper bound 1."),
    ],
)
def test_bad_json_is_named(tmp_path, content, message):
    with pytest.raises(ClueError) as caught:
        read(tmp_path, content, "clues.json")
    assert str(caught.value).startswith(message)


# --- bad files -----------------------------------------------------------------------------------------------

HEAD = "a,b,kind,weight,confidence\n"
BAD = [
    ("a17,b33,must\n", "clues.csv line 1: no row is called 'b33'; did you mean 'b3'?"),
    ("a17,b3,must\n\nzzzzz,b3,must\n", "clues.csv line 3: no row is called 'zzzzz'."),
    ("a17,b3,must\n,b3,must\n", "clues.csv line 2: a row is missing."),
    ("a17,a17,must\n", "clues.csv line 1: row 'a17' is linked to itself."),
    ("a17,a17,cannot\n", "clues.csv line 1: row 'a17' is linked to itself."),
    ("a17,b3,0\n", "clues.csv line 1: kind 0 is 'cannot' to some and 'nothing known' to others; write cannot (or -1)."),
    ("a,b,kind\na17,b3,maybe\n", "clues.csv line 2: 'maybe' is no kind of clue; use must, cannot, label, together,"),
    ("a,b,kind\na17,b3,must\na17,b3,must:x\n", "clues.csv line 3: 'must:x' is no kind of clue"),
    ("a,b,kind\na17,b3,size:kg\n", "clues.csv line 2: 'size:kg' is no kind of clue"),
    ("a,b,kind\na17,b3,\n", "clues.csv line 2: '' is no kind of clue"),
    ("a,b,kind,wieght\na17,b3,must,1\n", "clues.csv has a column 'wieght'; clues have a, b, kind, weight, confidence,"),
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
    ("a17,red,label\nb3,red,label\na17,blue,label\n", "clues.csv line 3: row 'a17' is labelled 'blue', but label"),
    ("a17,g,together\na17,h,together\n", "clues.csv line 2: row 'a17' is in group 'h', but in group 'g' in line 1."),
    ("a17,x,partition\na17,y,partition\n", "clues.csv line 2: row 'a17' is in class 'y', but in class 'x' in line 1."),
    ("a17,x,avoid\na17,y,avoid\n", "clues.csv line 2: row 'a17' is in cluster 'y', but in cluster 'x' in line 1."),
    ("a17,,apart\n", "clues.csv line 1: column b is empty."),
    (HEAD + "a17,g,apart,2,\nb3,g,apart,,\n", "clues.csv line 3: group 'g' has weight 1 here and 2 before."),
    ("*,3-20,size\n", "clues.csv line 1: '3-20' is no pair of bounds; write 3..20, 3.. or ..20."),
    ("*,20..3,size\n", "clues.csv line 1: the lower bound 20 is above the upper bound 3."),
    ("*,1..2,size\n*,1..3,size\n", "clues.csv line 2: cluster '*' already has bounds."),
    ("*,1..2,size\n0,1..3,size\n", "clues.csv line 1: sizes need a line for every cluster from 0 on"),
    ("0,1..2,size\n2,1..3,size\n", "clues.csv line 2: sizes need a line for every cluster from 0 on"),
    ("*,1..2,size\n*,1..2,size:weight\n", "clues.csv line 2: sizes are of points or of weight, not of both."),
    ("*,5,rows\n0,1,must\n", "clues.csv line 1 speaks of 5 rows, but there are 6."),
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
        _io.parse([], ids=["a", "b", "a"])
    with pytest.raises(ClueError, match="the id of row 1 is empty"):
        _io.parse([], ids=["a", " "])
    with pytest.raises(ClueError, match="there are 2 ids for 3 rows"):
        _io.parse([], ids=["a", "b"], n=3)


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


# --- round trips ---------------------------------------------------------------------------------------------


def columns_of(n):
    return st.lists(st.integers(-1, 3), min_size=n, max_size=n)


def some_values():
    return st.one_of(
        st.lists(st.integers(0, 50), min_size=4, max_size=4),
        st.lists(st.floats(allow_nan=False, allow_infinity=False).filter(lambda v: v != -1), min_size=4, max_size=4),
        st.lists(
            st.sampled_from(["red", "1", "2.5", "True", '"q"', " pad", "nan", "é,;", "0", "007"]),
            min_size=4,
            max_size=4,
        ),
        st.just([True, False, True, False]),
    )


@st.composite
def some_clues(draw):
    n = draw(st.integers(2, 7))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    arguments = {}
    for kind in ("must", "cannot"):
        pairs = draw(st.lists(pair, max_size=4, unique_by=lambda p: (min(p), max(p))))
        m = len(pairs)
        arguments[kind] = pairs or None
        arguments[f"{kind}_weight"] = draw(
            st.lists(st.sampled_from([1.0, 0.0, 0.1, 2.5, np.inf]), min_size=m, max_size=m)
        )
        arguments[f"{kind}_confidence"] = draw(
            st.lists(st.sampled_from([np.nan, 0.6, 0.75, 1.0]), min_size=m, max_size=m)
        )
        arguments[f"{kind}_source"] = draw(
            st.lists(st.sampled_from(["given", "ann, bob", "x.csv:3"]), min_size=m, max_size=m)
        )
    values = draw(some_values())
    codes = draw(columns_of(n))
    if draw(st.booleans()):
        arguments["labels"] = [None if c < 0 else values[c] for c in codes]
        arguments["label_source"] = [f"who {i}" for i in range(n)] if draw(st.booleans()) else None
    for kind in ("together", "apart"):
        columns = draw(st.lists(columns_of(n), max_size=2))
        names = draw(some_values())
        weights = draw(st.lists(st.sampled_from([1.0, 0.5, np.inf]), min_size=4, max_size=4))
        arguments[kind] = [_groups(column, names, weights, f"{kind} {t}") for t, column in enumerate(columns)] or None
    for kind in ("partitions", "avoid"):
        # A partition that knows nothing leaves no line.
        arguments[kind] = draw(st.lists(columns_of(n).filter(lambda c: max(c) >= 0), max_size=2)) or None
    bound = st.tuples(st.sampled_from([0, 1, 2.5]), st.sampled_from([3, 4.25, np.inf]))
    arguments["sizes"] = draw(st.one_of(st.none(), bound, st.lists(bound, min_size=1, max_size=3)))
    if arguments["sizes"] is not None:
        arguments["size_unit"] = draw(st.sampled_from(["points", "weight"]))
    return Clues(n, **arguments)


def _groups(codes, names, weights, source):
    plain = Clues(len(codes), together=[None if c < 0 else names[c] for c in codes]).together
    if not plain:
        return [None] * len(codes)
    (group,) = plain
    return Groups(group.codes, np.array(weights[: len(group.weights)]), group.names, source)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
@pytest.mark.parametrize("named", [False, True])
@settings(max_examples=25, deadline=None)
@given(clues=some_clues())
def test_what_is_written_comes_back(tmp_path_factory, suffix, named, clues):
    path = tmp_path_factory.mktemp("round") / f"clues{suffix}"
    ids = [f"row, {i}" for i in range(clues.n)] if named else None
    clues.write(path, ids=ids)
    back = Clues.read(path, ids=ids)
    assert back == clues
    for mine, theirs in zip([*clues.classes_], [*back.classes_]):
        assert type(mine) is type(theirs)


def test_the_file_as_it_looks(tmp_path):
    path = tmp_path / "clues.csv"
    clues = Clues(
        4, labels=["red", None, "1", None], must=[(0, 1)], must_weight=[np.inf], cannot=[(1, 2)], confidence=0.75,
        apart=[0, 0, -1, 1], sizes=(1, np.inf),
    )  # fmt: skip
    clues.write(path)
    assert path.read_text().splitlines() == [
        "a,b,kind,weight,confidence,source",
        "*,4,rows,,,",
        "0,1,must,,0.75,given",
        "1,2,cannot,,0.75,given",
        "0,red,label,,,given",
        '2,"""1""",label,,,given',
        "0,0,apart,0.5,,given",
        "1,0,apart,0.5,,given",
        "3,1,apart,0.5,,given",
        "*,1..,size,,,",
    ]


def test_nothing_known_is_written_too(tmp_path):
    for name in ("clues.csv", "clues.json", "clues.parquet"):
        empty = Clues(3)
        empty.write(tmp_path / name)
        assert Clues.read(tmp_path / name) == empty
        empty.write(tmp_path / name, ids=["u", "v", "w"])
        assert Clues.read(tmp_path / name, ids=["u", "v", "w"]) == empty


def test_writing_refuses_what_reading_would_not_give_back(tmp_path):
    path = tmp_path / "clues.csv"
    with pytest.raises(ClueError, match="a class or group of type tuple cannot be written to a file"):
        Clues(2, labels=[(1, 2), None]).write(path)
    with pytest.raises(ClueError, match="there are 3 ids for 2 rows"):
        Clues(2).write(path, ids=["a", "b", "c"])
    with pytest.raises(ClueError, match="id 'a' is the name of row 0 and of row 1"):
        Clues(2).write(path, ids=["a", "a"])
    assert not path.exists()


@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        [1, "red"],
        ["1", "red"],
        [True, False],
        [True, 3],
        [True, "True"],
        [1.5, 2],
        [0.5, "0.5", True],
        [np.int64(3)],
    ],
)
def test_values_of_mixed_types_come_back(values):
    assert values_of(spell(values)).tolist() == values


def test_numbers_written_by_hand_are_text_if_one_of_them_is():
    assert values_of(["1", "2", "x"]).tolist() == ["1", "2", "x"]
    assert values_of(["1", "2"]).tolist() == [1, 2]
    assert values_of([]).tolist() == []


def test_tables_may_come_from_frames():
    frame = pd.DataFrame({"a": ["a17"], "b": ["b3"], "kind": ["must"]})
    arguments = _io.parse(tables.from_frame(frame, "answers"), ids=IDS)
    assert Clues(**arguments).must_source.tolist() == ["answers:0"]


def test_groups_with_several_sources(tmp_path):
    clues = read(tmp_path, "a,b,kind,source\na17,g,apart,ann\nb3,g,apart,bob\nc,g,apart,ann\n")
    assert clues.apart[0].source == "ann + bob"
    assert read(tmp_path, "a17,g,apart\n").apart[0].source == "clues.csv:1"


def test_a_hundred_thousand_lines_by_either_reader(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    n = 20_000
    first = rng.integers(0, n, 100_000)
    second = (first + rng.integers(1, n, len(first))) % n
    names = [f"row {i}" for i in range(n)]
    kinds = np.where(first % 2, "must", "cannot").tolist()
    lines = [f"row {a},row {b},{kind}" for a, b, kind in zip(first.tolist(), second.tolist(), kinds)]
    path = put(tmp_path, "\n".join(lines))
    wanted = {
        kind: {(min(p), max(p)) for p, k in zip(zip(first.tolist(), second.tolist()), kinds) if k == kind}
        for kind in ("must", "cannot")
    }
    for big, polars in ((10**9, True), (0, True), (0, False)):
        monkeypatch.setattr(tables._text, "BIG", big)
        if not polars:
            monkeypatch.setitem(sys.modules, "polars", None)
        clues = Clues.read(path, ids=names)
        for kind, pairs in wanted.items():
            assert {tuple(p) for p in getattr(clues, kind).tolist()} == pairs


def test_closest_name_is_searched_in_a_bounded_number():
    many = Names([f"row {i}" for i in range(20_000)])
    table = tables.Table({"a": ["row 19999x"]}, "clues.csv")
    with pytest.raises(ClueError, match=r"^clues.csv row 0: no row is called 'row 19999x'"):
        many.rows(["row 19999x"], table, np.array([0]))
