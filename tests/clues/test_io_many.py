"""Clue files with thousands of groupings, and files that speak of more rows than memory holds."""

import json

import numpy as np
import pytest

from cluewise import Clues
from cluewise.clues.files import _lines
from cluewise.clues.files._lines import Lines
from cluewise.exceptions import ClueError
from cluewise.tables import Table


@pytest.mark.parametrize("kind", ["together", "apart", "partition", "avoid"])
def test_many_groupings_are_those_of_the_file(tmp_path, kind):
    rng = np.random.default_rng(0)
    n, columns = 30, 400
    codes = rng.integers(-1, 3, (columns, n))
    codes[:, :2] = [0, 1]
    lines = [f"{row},c{code},{kind}:{t}" for t in range(columns) for row, code in enumerate(codes[t]) if code >= 0]
    rng.shuffle(lines)
    (tmp_path / "a.csv").write_text("\n".join(lines))
    read = Clues.read(tmp_path / "a.csv", n=n)
    spelled = [[None if code < 0 else f"c{code}" for code in column] for column in codes.tolist()]
    wanted = Clues(n, **{"partition": {"partitions": spelled}}.get(kind, {kind: spelled}))
    if kind in ("together", "apart"):
        found, given = ([g.codes.tolist() for g in getattr(clues, kind)] for clues in (read, wanted))
    elif kind == "partition":
        found, given = ([p.tolist() for p in clues.partitions] for clues in (read, wanted))
    else:
        found, given = ([a.tolist() for a in clues.avoid] for clues in (read, wanted))
    assert sorted(found) == sorted(given)


def test_each_kind_is_looked_at_a_few_times(monkeypatch):
    """Ten thousand names of columns took fifty seconds when each was compared with all others."""
    seen = 0

    class Kinds(list):
        def __iter__(self):
            nonlocal seen
            for pair in super().__iter__():
                seen += 1
                yield pair

    monkeypatch.setattr(_lines, "split_kind", lambda word: tuple(word.split(":")))
    columns = [f"together:{t}" for t in range(500)]
    lines = Lines(Table({"a": ["0"] * 500, "b": ["x"] * 500, "kind": columns}))
    lines.kinds = Kinds(lines.kinds)
    assert [at.tolist() for at in lines.columns("together")] == [[t] for t in range(500)]
    assert lines.columns("apart") == []
    assert seen <= 2 * 500


FAR = {
    "link": ("a.csv", "0,1000000000000,must\n", "a.csv is about 1000000000001 rows, more than fit in memory"),
    "rows": ("a.csv", "*,1000000000000,rows\n0,1,must\n", "a.csv line 1 is about 1000000000000 rows, more than"),
    "label": ("a.csv", "id,label\n1000000000000,red\n", "a.csv is about 1000000000001 rows, more than fit in memory"),
    "n": (
        "a.json",
        json.dumps({"n": 10**400}),
        "if there really are that many, give n or ids.",
    ),
    "digits": ("a.csv", f"*,{'9' * 5000},rows\n", "is not a number of rows."),
    "infinite": ("a.csv", "*,2,rows\n0,inf,partition\n", "a.csv line 2: row '0' is in class 'inf', which is infinite."),
}


@pytest.mark.parametrize("case", FAR)
def test_more_rows_than_memory_holds(tmp_path, case):
    name, text, sentence = FAR[case]
    (tmp_path / name).write_text(text)
    with pytest.raises(ClueError) as caught:
        Clues.read(tmp_path / name)
    assert sentence in str(caught.value)


def test_more_groupings_than_memory_holds(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("".join(f"{t},x,partition:{t}\n" for t in range(2000)))
    monkeypatch.setenv("CLUEWISE_FILE_LIMIT", "10M")
    with pytest.raises(ClueError, match=r"^a.csv names 2000 groupings of 2000 rows, more than fit in memory\.$"):
        Clues.read(tmp_path / "a.csv")
    monkeypatch.setenv("CLUEWISE_FILE_LIMIT", "1G")
    assert len(Clues.read(tmp_path / "a.csv").partitions) == 2000


def test_errors_are_one_line(tmp_path):
    (tmp_path / "a.csv").write_text('a,b,kind\nx,"y\nz",must\n')
    with pytest.raises(ClueError, match=r"^a.csv line 2: no row is called 'y z'\.$"):
        Clues.read(tmp_path / "a.csv", ids=["x"])


def test_deep_values_in_a_clue_file(tmp_path):
    for key in ("labels", "must", "n", "together", "partitions", "sizes", "size_unit"):
        deep = "[" * 600 + "]" * 600
        (tmp_path / "a.json").write_text(f'{{"{key}": {{"x": {deep}}}, "sizes": [{deep}, 1]}}')
        with pytest.raises(ValueError, match=r"a\.json") as caught:
            Clues.read(tmp_path / "a.json", ids=["x"])
        assert len(str(caught.value)) < 300
