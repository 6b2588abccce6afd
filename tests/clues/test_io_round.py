"""Clues of every kind come back from a file as they were."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues, tables
from cluewise.clues import Groups, files
from cluewise.clues.files._lines import Names, spell, values_of
from cluewise.exceptions import ClueError

IDS = ["a17", "b3", "c", "d", "e", "f"]


def put(folder, content, name="clues.csv"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(folder, content, name="clues.csv", ids=IDS, n=None):
    return Clues.read(put(folder, content, name), ids=ids, n=n)


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
    arguments = files.parse(tables.from_frame(frame, "answers"), ids=IDS)
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
        monkeypatch.setattr(tables._csv, "BIG", big)
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
