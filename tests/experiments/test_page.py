"""The experiment about the page: answers by keys are the true ones, what was run is kept, what is missing is said."""

from __future__ import annotations

import shutil

import page as experiment
import pytest


@pytest.mark.needs_chromium
def test_a_person_answers_on_the_page_and_the_answers_are_true(tmp_path):
    task = experiment.make_wine(tmp_path)
    with experiment.open_browser() as browser:
        found = experiment.talk_on_page(browser, task, 0, experiment.WAITS, (0, 3))
    assert found["question_median"] > 0
    assert found["stored_median"] < found["labels_high"]
    X = experiment.encode(task)
    project = experiment.active.Project.open(tmp_path / "data.cluewise", experiment.active.CluewiseQuestions(3), X)
    with project:
        answers = project.state.answers
    assert len(answers) == 3
    assert all(same == (task.y[i] == task.y[j]) for answer in answers for i, j, same in answer.links())
    assert set(experiment.fit_anew(task, 0, (0, 3))) == {"0", "3"}


@pytest.mark.parametrize(
    ("kind", "rows", "key"),
    [("pair", [0, 2], "a"), ("pair", [0, 1], "x"), ("which", [3, 0, 1], "2"), ("which", [4, 0, 1], "0")],
)
def test_keys_follow_the_truth(kind, rows, key):
    assert experiment.choose_key(kind, rows, [0, 1, 0, 1, 2]) == key


def test_what_was_run_is_kept_and_in_the_table(tmp_path, monkeypatch):
    line = {"data": "wine", "seed": "0", "0": "0.5", "25": "0.75", "question_median": "30", "question_high": "90"}
    monkeypatch.setattr(experiment, "open_browser", lambda: memoryview(b""))  # any context
    monkeypatch.setattr(experiment, "run", lambda browser, name, seed, way, some: iter([{**line, "way": way}]))
    words = ["--data", "wine", "--csv", str(tmp_path / "page.csv"), "--table", str(tmp_path / "page.md")]
    experiment.main(words)
    first = (tmp_path / "page.md").read_text("utf-8")
    monkeypatch.setattr(experiment, "run", None)  # nothing is left to run
    experiment.main(words)
    assert (tmp_path / "page.md").read_text("utf-8") == first
    assert "| wine | API | 0.500 | 0.750 | – | – |" in first
    assert "| wine | page, waits | 30 / 90 | – | – | – | – |" in first


def test_without_chromium_one_sentence_says_so(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with (
        pytest.raises(SystemExit, match=r"^this experiment opens the page in chromium, which is not on the path; "),
        experiment.open_browser(),
    ):
        pass
