"""Clues written by hand as a JSON object."""

import json

import numpy as np
import pytest

from cluewise import Clues
from cluewise.exceptions import ClueError

IDS = ["a17", "b3", "c", "d", "e", "f"]


def put(folder, content, name="clues.csv"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(folder, content, name="clues.csv", ids=IDS, n=None):
    return Clues.read(put(folder, content, name), ids=ids, n=n)


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


def test_a_link_that_an_object_repeats_counts_once(tmp_path):
    """A file is one source, whatever its format."""
    clues = read(tmp_path, {"n": 3, "must": [[0, 1], [1, 0]], "cannot": [[1, 2], [1, 2, 0.5]]}, "clues.json", ids=None)
    assert (clues.must_weight.tolist(), clues.cannot_weight.tolist()) == ([1.0], [1.0])


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
        ({"n": 5}, "clues.json is about 5 rows, but there are 6."),
        ({"must": {"a17": "b3"}}, "clues.json must: links are a list of pairs."),
        ({"must": [["a17"]]}, "clues.json must[0]: a link is [row, row] or [row, row, weight]."),
        ({"must": [{"a": "a17"}]}, "clues.json must[0]: a link is [row, row] or [row, row, weight]."),
        ({"cannot": [["a17", "b3"], ["c", "c"]]}, "clues.json cannot[1]: row 'c' is linked to itself."),
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
