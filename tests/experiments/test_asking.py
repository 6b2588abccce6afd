"""Scripts about asking: what is wrong is said before hours are spent, and different fits are never compared."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch):
    """``script(folder, name)`` imports a file; afterwards its modules are forgotten."""
    before = set(sys.modules)

    def load(folder, name):
        monkeypatch.syspath_prepend(str(ROOT / folder))
        return import_module(name)

    yield load
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith((f"{ROOT}/experiments", f"{ROOT}/benchmarks")):
            del sys.modules[name]


def words(tmp_path, *more):
    return ["--seeds", "1", "--csv", str(tmp_path / "cells.csv"), "--table", str(tmp_path / "table.md"), *more]


@pytest.mark.parametrize("name", ["Nobody", "Nobody(n_clusters=3)"])
def test_an_unknown_strategy_is_told_before_anything_is_computed(tmp_path, name, script):
    questions = script("experiments", "questions")
    with pytest.raises(ValueError, match=r"there is no strategy 'Nobody'; there are .*Committee"):
        questions.main(words(tmp_path, "--strategy", "RandomPairs", name))
    assert not (tmp_path / "cells.csv").exists()


@pytest.mark.needs_data
def test_a_file_holds_cells_of_one_kind(tmp_path, monkeypatch, script):
    questions = script("experiments", "questions")
    monkeypatch.setattr(questions, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(questions, "BUDGET", 10)
    monkeypatch.setattr(questions, "CHECKPOINTS", range(10, 11, 10))
    monkeypatch.setattr(questions, "COLUMNS", [*questions.COLUMNS[:6], "at_10", "starts", "closed"])
    monkeypatch.setattr(questions, "report", lambda rows: f"{len(rows)} cells")
    some = words(tmp_path, "--strategy", "RandomPairs", "--data", "iris")
    for _ in range(2):  # what is finished is not made again
        questions.main([*some, "--starts", "1"])
    assert (tmp_path / "table.md").read_text() == "1 cells"
    assert (tmp_path / "cells.csv").read_text().splitlines()[0].endswith("at_10,starts,closed")
    for other in (["--starts", "2"], ["--starts", "1", "--closed"]):
        with pytest.raises(ValueError, match=r"cells\.csv has cells with --starts 1 and closed=False"):
            questions.main([*some, *other])


def test_a_conversation_that_ends_at_once_has_figures(script):
    figures = script("benchmarks", "ask").of("Strategy", 2, 1.0, 0.5, [])
    assert [figure.name.strip() for figure in figures] == [
        "Strategy, n = 2",
        "median wait",
        "set-up and first question",
    ]


@pytest.mark.needs_data
def test_wrong_answers_go_on_where_they_stopped(tmp_path, monkeypatch, script):
    wrong = script("experiments", "wrong_answers")
    make, results = wrong.CONVERSATIONS["PairsAtStake"]
    monkeypatch.setattr(wrong, "CONVERSATIONS", {"PairsAtStake": (make, {"*itself*": results["*itself*"]})})
    monkeypatch.setattr(wrong, "ROWS", 60)
    table = tmp_path / "table.md"
    some = ["--only", "iris", "--strategy", "PairsAtStake", "--csv", str(tmp_path / "a.csv"), "--table", str(table)]
    wrong.main(some)
    first = table.read_text()
    monkeypatch.setattr(wrong, "talk", None)  # nothing is left to run
    wrong.main(some)
    assert table.read_text() == first
    assert "| PairsAtStake | *itself* |" in first
    assert first.rstrip().endswith("| 3 |")


@pytest.mark.needs_data
def test_group_questions_go_on_where_they_stopped(tmp_path, monkeypatch, script):
    calls = script("experiments", "group_questions")
    monkeypatch.setattr(calls, "CONVERSATIONS", {"groups": (calls.CONVERSATIONS["groups"][0], (12, 14))})
    monkeypatch.setattr(calls, "SHOWN", (12, 14))
    table = tmp_path / "table.md"
    some = ["--only", "iris", "--errors", "0.1", "--csv", str(tmp_path / "a.csv"), "--table", str(table)]
    calls.main(some)
    first = table.read_text()
    monkeypatch.setattr(calls, "talk", None)  # nothing is left to run
    calls.main(some)
    assert table.read_text() == first
    assert first.count("| groups | 14 | 0.") == 1  # of three error rates one was run
    assert first.count("| groups | 12 | ") == 3


@pytest.mark.needs_data
def test_a_person_last_goes_on_where_it_stopped(tmp_path, monkeypatch, script):
    last = script("experiments", "person_last")
    make, _ = last.STRATEGIES["groups"]
    monkeypatch.setattr(last, "STRATEGIES", {"groups": (make, 30)})
    monkeypatch.setattr(last, "SETS", ["iris"])
    table = tmp_path / "table.md"
    some = ["--strategy", "groups", "--csv", str(tmp_path / "a.csv"), "--table", str(table)]
    last.main(some)
    first = table.read_text()
    monkeypatch.setattr(last, "talk", None)  # nothing is left to run
    last.main(some)
    assert table.read_text() == first
    assert "| groups | model and person | 30 | 3 |" in first
    assert "| groups | person, half | 15 | 15 |" in first
