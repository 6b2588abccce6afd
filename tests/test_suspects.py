"""Which clues are probably wrong: the table, and who can make one."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cluewise import Clues, PCKMeans, RDPMeans, clusterers, tables
from cluewise.advice import Suspect, Suspects, suspects

CLUES = Clues(
    6,
    must=[(0, 1), (0, 5), (3, 4)],
    cannot=[(1, 2), (2, 3)],
    must_source=["a.csv:2", "a.csv:3", "Ann"],
    cannot_source=["Ben", "Ben"],
)
LABELS = np.array([0, 0, 0, 1, 1, 1])


def model(doubt=(0.02, 0.9, 0.1, 0.7, 0.1), labels=LABELS, clues=CLUES):
    """Whatever has labels, clues and doubts about them."""
    return SimpleNamespace(labels_=np.asarray(labels), clues_=clues, doubt_=np.asarray(doubt))


def test_most_doubtful_first_with_kind_rows_source_and_fate():
    table = suspects(model())
    assert list(table) == [
        Suspect(0.9, "must", (0, 5), "a.csv:3", True),
        Suspect(0.7, "cannot", (1, 2), "Ben", True),
        Suspect(0.1, "must", (3, 4), "Ann", False),  # of equal doubts the must-link first
        Suspect(0.1, "cannot", (2, 3), "Ben", False),
        Suspect(0.02, "must", (0, 1), "a.csv:2", False),
    ]
    assert (table.method, table.clues, table.expected) == ("SimpleNamespace", 5, pytest.approx(1.82))
    assert table[0] is table.suspects[0]
    assert table[1:2] == (table[1],)
    assert table[0] in table


def test_fewer_on_request_but_the_expected_number_is_of_all():
    assert [s.doubt for s in suspects(model(), n=2)] == [0.9, 0.7]
    assert [s.doubt for s in suspects(model(), above=0.5)] == [0.9, 0.7]
    assert [s.doubt for s in suspects(model(), n=1, above=0.5)] == [0.9]
    assert suspects(model(), n=2).expected == pytest.approx(1.82)
    assert len(suspects(model(), n=np.int64(0))) == 0


@pytest.mark.parametrize("n", [-1, 1.5, True, "3"])
def test_bad_n(n):
    with pytest.raises(ValueError, match=r"n is .*integer"):
        suspects(model(), n=n)


@pytest.mark.parametrize("above", [-0.1, 1.1, np.nan])
def test_bad_above(above):
    with pytest.raises(ValueError, match=r"above is .*probability"):
        suspects(model(), above=above)


def test_text_reads_well():
    assert str(suspects(model(), n=2)).splitlines() == [
        "SimpleNamespace judged 5 links; about 1.8 of them are wrong.",
        "    wrong  clue                       result",
        "   90.0 %  must-link 0 – 5 (a.csv:3)  broken",
        "   70.0 %  cannot-link 1 – 2 (Ben)    broken",
    ]
    assert str(suspects(model(), n=0)) == "SimpleNamespace judged 5 links; about 1.8 of them are wrong."
    assert "judged 1 link;" in str(suspects(model([1.0], clues=Clues(6, must=[(0, 1)]))))
    assert str(suspects(model([], clues=Clues(6)))) == "SimpleNamespace had no links to judge."


def test_nothing_is_said_to_be_certain():
    text = str(suspects(model([1.0, 0.9999, 0.99, 0.01, 0.0])))
    assert [line[:9].strip() for line in text.splitlines()[2:]] == [
        "over 99 %",
        "over 99 %",
        "99.0 %",
        "1.0 %",
        "under 1 %",
    ]


def test_long_tables_are_cut_in_the_text():
    clues = Clues(30, must=[(i, i + 1) for i in range(25)])
    text = str(suspects(model(np.linspace(0, 1, 25), np.zeros(30, int), clues)))
    assert len(text.splitlines()) == 13
    assert text.endswith("… and 15 more; loop over the result to see all.")


def test_columns_make_frames_and_files(tmp_path):
    table = suspects(model(), n=2)
    frame = pd.DataFrame(table.columns)
    assert frame.to_dict("records")[0] == {
        "doubt": 0.9,
        "kind": "must",
        "a": 0,
        "b": 5,
        "source": "a.csv:3",
        "broken": True,
    }
    tables.write(tmp_path / "suspects.csv", {name: np.array(column) for name, column in table.columns.items()})
    assert tables.read(tmp_path / "suspects.csv").columns["b"].tolist() == [5, 2]


def test_noise_rows_are_alone():
    found = suspects(model([0.5, 0.4], [-1, -1, 0, 0], Clues(4, must=[(0, 1)], cannot=[(0, 1)])))
    assert [s.broken for s in found] == [True, False]


def test_table_is_a_value():
    table = suspects(model())
    assert pickle.loads(pickle.dumps(table)) == table
    assert isinstance(table, Suspects)
    with pytest.raises(AttributeError):
        table.suspects = ()


def test_who_cannot_judge_says_who_can():
    with pytest.raises(ValueError, match=r"PCKMeans does not judge its clues; these methods do: .*RDPMeans"):
        suspects(PCKMeans(2).fit([[0.0], [1.0], [9.0]]))
    with pytest.raises(ValueError, match=r"this RDPMeans has no doubts yet; fit it with clues first\."):
        suspects(RDPMeans(2))


JUDGES = sorted(name for name, cls in clusterers().items() if cls.card.judges)


@pytest.mark.parametrize("name", JUDGES)
def test_every_judge_finds_two_wrong_clues(name):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = np.array([[0, 0], [9, 0], [0, 9]])[y] + rng.normal(size=(90, 2))
    right = Clues.sample(y, pairs=60, random_state=0)
    clues = right | Clues(90, must=[(3, 40)], cannot=[(62, 70)], source="Zoe")
    fitted = clusterers()[name](3)
    if "random_state" in fitted.get_params():
        fitted.set_params(random_state=0)
    fitted.fit(X, clues=clues)
    assert fitted.clues_ == clues
    assert fitted.doubt_.shape == (len(clues.must) + len(clues.cannot),)
    table = suspects(fitted)
    assert {s.rows for s in table[:3]} >= {(3, 40), (62, 70)}
    assert table[0].source == "Zoe"
    assert table[0].doubt > 0.5 > table[2].doubt
