"""Features: numbers, names of rows, and one sentence for whatever cannot be clustered."""

import numpy as np
import pytest

from cluewise import tables
from cluewise.tables import Table, TableError


def put(folder, name, content):
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="")
    return path


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
