"""Clue files and files of labels: every kind is read as it is meant."""

import json

import numpy as np
import pandas as pd
import pytest

from cluewise import Clues, tables
from cluewise.exceptions import ClueError

IDS = ["a17", "b3", "c", "d", "e", "f"]


def put(folder, content, name="clues.csv"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(folder, content, name="clues.csv", ids=IDS, n=None):
    return Clues.read(put(folder, content, name), ids=ids, n=n)


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


def test_minus_one_is_no_group(tmp_path):
    assert read(tmp_path, "a17,-1,apart\nb3,-1,apart\n").apart == ()
    (group,) = read(tmp_path, "a17,-1,apart\nb3,5,apart\nc,5,apart\nd,-1,apart\n").apart
    assert (group.codes.tolist(), group.names.tolist()) == ([-1, 0, 0, -1, -1, -1], [5])
    assert group.source == "clues.csv:2-3"
