"""Files that leave the page: what is in them, and what is not."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from fastapi import HTTPException

from cluewise import tables
from cluewise.active import Act, Answer, Project, Question, RandomPairs
from cluewise.web import _export
from cluewise.web._export import export
from web_room import IDS, open_room


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    made = open_room(tmp_path_factory.mktemp("room"))
    project = made.session.project
    project.tell(
        [
            Answer(Question("pair", (0, 1)), True, who="=ann", seconds=2.5),
            Answer(Question("label", (2,)), "-red", who="bob"),
            Answer(Question("which", (3, 4, 5)), 4, who="bob"),
            Answer(Question("group", (6, 7, 8, 9)), ((6, 7), (8, 9)), who="bob"),
            Answer(Question("pair", (10, 11)), None, who="bob"),
        ]
    )
    project.undo(who="bob")
    project.act(Act("together", "+Together: k and l", must=((10, 11),), who="ann"))
    yield made
    made.close()


def rows_of(response):
    return list(csv.reader(io.StringIO(response.body.decode(), newline="")))


def test_answers_with_ids_who_when_and_how_long(room):
    lines = json.loads(export(room.session, "answers", "json").body)
    said = [(line["kind"], line["rows"], line["value"], line["who"], line["seconds"], line["stands"]) for line in lines]
    assert said == [
        ("pair", ["=1+1", "-5"], True, "=ann", 2.5, True),
        ("label", ["@sum(A1)"], "-red", "bob", None, True),
        ("which", ["+x", "-x", "tab"], "-x", "bob", None, True),
        ("group", ["plain", "<script>", "שלום", "🙂"], [["plain", "<script>"], ["שלום", "🙂"]], "bob", None, True),
        ("pair", ["k", "l"], None, "bob", None, False),
        ("together", ["k", "l"], {"cluster": None, "name": None}, "ann", None, True),
    ]
    assert lines[1]["words"] == "Which class is @sum(A1) of? -red"
    assert all(line["when"] for line in lines)


def test_the_answers_of_one_person(room):
    lines = json.loads(export(room.session, "answers", "json", who="bob").body)
    assert {line["who"] for line in lines} == {"bob"}
    assert len(lines) == 4
    assert rows_of(export(room.session, "answers", "csv", who="nobody"))[1:] == []


def test_text_that_a_spreadsheet_would_run_is_text_and_numbers_are_numbers(room):
    header, *lines = rows_of(export(room.session, "answers", "csv"))
    assert header == ["entry", "who", "when", "seconds", "kind", "words", "rows", "value", "stands"]
    assert (lines[0][1], lines[0][3]) == ("'=ann", "2.5")
    assert lines[-1][5] == "'+Together: k and l"
    found = rows_of(export(room.session, "clusters", "csv"))
    assert found[0] == ["id", "cluster", "name", "margin"]
    assert [line[0] for line in found[1:6]] == ["'=1+1", "-5", "'@sum(A1)", "'+x", "'-x"]
    risky = {cell for line in (*lines, *found) for cell in line if cell.startswith(tuple("=+-@\t\r"))}
    assert risky == {"-5"}


def test_clusters_in_every_format_are_those_of_the_page(room, tmp_path):
    for form in ("csv", "json", "parquet"):
        path = tmp_path / f"clusters.{form}"
        path.write_bytes(export(room.session, "clusters", form).body)
        table = tables.read(path, text=("id",)).columns
        assert table["id"].tolist() == [name.strip() for name in IDS]
        assert table["cluster"].tolist() == room.session.labels().tolist()
        np.testing.assert_allclose(table["margin"], room.session.margins(), rtol=1e-6)


def test_the_project_as_one_file_goes_on_where_it_was(room, tmp_path):
    response = export(room.session, "project", "cluewise")
    path = tmp_path / "copy.cluewise"
    path.write_bytes(response.body)
    assert 'filename="rows.cluewise"' in response.headers["content-disposition"]
    with Project.open(path, RandomPairs(), room.session.X) as copy:
        assert copy.state.answers == room.session.project.state.answers
        assert copy.state.acts == room.session.project.state.acts
        assert "people" not in copy.store.settings
    assert "people" in room.session.project.store.settings


def test_the_report_shows_names_and_clusters_of_the_page(room):
    room.session.wait()
    cluster = int(room.session.labels()[0])
    room.session.project.act(Act("name", "Named", cluster=cluster, name="Barolo & Co", anchors=(0,), who="ann"))
    response = export(room.session, "report", "html")
    page = response.body.decode()
    assert "Barolo &amp; Co" in page
    assert "12 rows in 3 clusters" in page
    assert "-report.html" in response.headers["content-disposition"]


@pytest.mark.parametrize(("what", "form"), [("answers", "html"), ("project", "csv"), ("report", "json"), ("x", "csv")])
def test_what_there_is_not(room, what, form):
    with pytest.raises(HTTPException, match="404"):
        export(room.session, what, form)


def test_a_full_disk_and_a_slow_fit_are_one_sentence(room, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    def late():
        raise TimeoutError

    monkeypatch.setattr(_export.tables, "write", full)
    with pytest.raises(HTTPException, match="507: The file cannot be made: No space left on device"):
        export(room.session, "answers", "csv")
    monkeypatch.setattr(room.session, "wait", late)
    with pytest.raises(HTTPException, match="503: The clusters are still being computed"):
        export(room.session, "clusters", "csv")


def test_a_name_of_a_file_in_any_letters():
    header = _export._saved_as('a"b\r\nü.csv')
    assert header == "attachment; filename=\"a_b___.csv\"; filename*=UTF-8''a%22b%0D%0A%C3%BC.csv"
