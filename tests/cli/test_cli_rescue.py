"""``cluewise rescue``: damaged projects and folders, and what else ``ask`` says about them."""

from __future__ import annotations

import io
import json
import sys

import pytest

from cluewise import Clues
from cluewise.workspace import projects

ASK = ("ask", "data.csv", "--ignore", "color", "--strategy", "RandomPairs")


@pytest.fixture
def project(folder, run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\nn\nn\n"))
    run(*ASK, "--budget", 5, "--seed", 7)
    return folder / "data.cluewise"


@pytest.fixture
def state(folder, run):
    run("update", "state", "--data", "data.csv", "-k", 2, "--ignore", "color", "--partitions", 10, "--method", "SCSC")
    run("update", "state", "--clues", "clues.csv")
    return folder / "state"


def test_a_damaged_project_goes_on_after_a_rescue(project, run, folder):
    data = project.read_bytes()
    project.write_bytes(data.replace(b'"kind":"pair"', b'"kind":"pear"', 1))
    refused = run("ask", "data.csv")
    assert refused.code == 2
    assert "'data.cluewise' is damaged: entry" in refused.err
    assert "'cluewise rescue' saves every answer that is whole." in refused.err
    assert run("rescue", "data.cluewise", "new.cluewise").out == "2 entries saved in new.cluewise, 1 lost.\n"
    assert "2 of 5 questions answered (2 no)." in run("ask", "data.csv", "--project", "new.cluewise").out
    again = run("rescue", "data.cluewise", "new.cluewise")
    assert (again.code, again.err) == (2, "cluewise: 'new.cluewise' is there already; choose the name of a new file.\n")


def test_a_project_without_its_beginning(project, run):
    project.write_bytes(project.read_bytes().replace(b'"format":1', b'"format":2', 1))
    saved = run("rescue", "data.cluewise", "new.cluewise", "--json")
    assert json.loads(saved.out) == {"saved": 3, "lost": 0, "output": "new.cluewise"}
    assert "1 of 3 settings are lost" in saved.err
    assert "the beginning of the conversation is lost; 'new.cluewise' holds only answers." in saved.err


@pytest.mark.parametrize("gone", ["state.json", "partitions-*", "weights-*", "ids.json", "journal.jsonl"])
def test_the_clues_of_a_damaged_folder(state, run, folder, gone):
    next(state.glob(gone)).unlink()
    if gone != "weights-*":  # which are rebuilt
        assert run("update", "state").code == 2
    assert run("rescue", "state", "saved.csv").out == "2 clues saved in saved.csv, 0 lost.\n"
    ids = ["rose", "lily", "iris", "oak", "elm", "fir"]
    clues = Clues.read(folder / "saved.csv", ids=ids)
    assert (clues.must.tolist(), clues.cannot.tolist()) == ([[0, 1]], [[2, 3]])
    assert clues.must_source.tolist() == ["clues.csv:2"]
    new = run("update", "new", "--data", "data.csv", "-k", 2, "--ignore", "color", "--clues", "saved.csv")
    assert new.out.startswith("batch 1: 1 must, 1 cannot")


def test_lost_lines_are_counted(state, run, folder):
    (folder / "more.csv").write_text("b,a,kind\nlily,rose,-1\niris,rose,ml\noak,rose,?\nfir,oak,label\n")
    run("update", "state", "--clues", "more.csv")
    (state / "state.json").unlink()
    journal = state / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"iris,rose", b"elm,rose", 1))
    assert run("rescue", "state", "saved.csv").out == "4 clues saved in saved.csv, 1 lost.\n"
    rows = (folder / "saved.csv").read_text().splitlines()
    assert rows[3:] == ["rose,lily,cannot,,,more.csv:2", "oak,fir,label,,,more.csv:5"]
    journal.write_bytes(b"")
    (folder / "saved.csv").unlink()
    assert "nothing in 'state' is whole enough to be saved" in run("rescue", "state", "saved.csv").err
    assert "has none of the suffixes" in run("rescue", "state", "saved").err
    (folder / "saved.csv").touch()
    assert "'saved.csv' is there already" in run("rescue", "state", "saved.csv").err


def test_who_begins_a_moment_too_late_hears_how_it_began(project, run, monkeypatch):
    real, looks = projects.is_begun, []

    def is_begun(path):
        looks.append(path)
        return len(looks) > 1 and real(path)  # at the first look nobody had begun

    monkeypatch.setattr(projects, "is_begun", is_begun)
    late = run(*ASK, "--budget", 9)
    assert (late.code, late.out) == (2, "")
    assert late.err == (
        "cluewise: somebody else has just begun 'data.cluewise', with RandomPairs, --seed 7 and --budget 5; "
        "start again to go on with it.\n"
    )
