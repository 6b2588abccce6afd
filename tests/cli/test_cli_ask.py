"""``cluewise ask``: questions at a terminal, saved one by one, taken back, gone on with after any end."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys

import pytest

from cluewise import Clues
from cluewise.active import Project
from cluewise.store import Store

ASK = ("ask", "data.csv", "--ignore", "color", "--strategy", "RandomPairs")


@pytest.fixture
def typed(run, monkeypatch):
    """Call ``cluewise`` while somebody types."""

    def call(keys, *words):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in keys)))
        return run(*words)

    return call


def standing(folder, name="data.cluewise"):
    with Store.open(folder / name) as store:
        return [(entry.question["rows"], entry.answer) for entry in store.standing()]


def test_questions_and_answers(folder, typed):
    result = typed(["y", "maybe", "n", "?"], *ASK, "--budget", "3", "--who", "ann", "--out", "mine.csv")
    assert (result.code, result.err) == (0, "")
    assert "Question 1 of 3. Do lily and iris belong together?" in result.out
    assert "'maybe' is no answer to this." in result.out
    assert "3 of 3 questions answered (1 yes, 1 no, 1 don't know)." in result.out
    assert "Next: cluewise fit data.csv --ignore color --clues mine.csv -k K" in result.out
    assert [answer for _, answer in standing(folder)] == [True, False, None]
    clues = Clues.read(folder / "mine.csv", ids=["rose", "lily", "iris", "oak", "elm", "fir"])
    assert (clues.must.tolist(), clues.cannot.tolist()) == ([[1, 2]], [[1, 3]])
    assert clues.must_source.tolist() == ["answer 1 (ann)"]


def test_what_differs_stands_beside_the_rows(folder, typed):
    lines = typed(["n", "q"], *ASK).out.splitlines()
    second = lines[next(i for i, line in enumerate(lines) if line.startswith("Question 2")) :]
    rows = {line.split()[0]: line.split()[1:] for line in second if line.strip()}
    assert rows["color"] == ["white", "green", "differs"]  # not clustered by, but a person may know more
    assert rows["width"][:2] == ["0", "9.1"]
    assert rows["width"][2:4] == ["2.0", "sd"]
    assert "id" not in rows


def test_nothing_has_to_be_said_again(folder, typed):
    typed(["y", "q"], *ASK, "--budget", "4")
    again = typed(["n"], "ask", "data.csv")
    assert "Question 2 of 4" in again.out
    assert [answer for _, answer in standing(folder)] == [True, False]
    more = typed([], "ask", "data.csv", "--budget", "9")
    assert "Question 3 of 9" in more.out


def test_undo_works_across_restarts(folder, typed):
    first = typed(["y", "n", "q"], *ASK, "--budget", "4")
    back = typed(["u", "u", "u", "q"], "ask", "data.csv")
    assert "Taken back: Do lily and oak belong together? no" in back.out
    assert "Taken back: Do lily and iris belong together? yes" in back.out
    assert "There is nothing to take back." in back.out
    assert standing(folder) == []
    question = next(line for line in first.out.splitlines() if line.startswith("Question 1"))
    assert back.out.count(question) == 2
    with Store.open(folder / "data.cluewise") as store:
        assert len(store.entries()) == 4  # what was said stays in the history


def test_the_end_of_the_input_is_a_quit(folder, typed):
    result = typed(["y"], *ASK)
    assert result.code == 0
    assert len(standing(folder)) == 1


def test_clues_that_are_known_are_not_asked_and_come_out_again(folder, typed):
    result = typed(["y"] * 9, *ASK, "--clues", "clues.csv", "--budget", "9")
    assert result.code == 0
    out = Clues.read(folder / "data-clues.csv", ids=["rose", "lily", "iris", "oak", "elm", "fir"])
    assert [0, 1] in out.must.tolist()
    assert [2, 3] in out.cannot.tolist()
    assert [0, 1] not in [sorted(rows) for rows, _ in standing(folder)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask", "data.csv", "--strategy", "clever"), "there is no strategy 'clever'; there are "),
        ((*ASK, "-k", "3"), "RandomPairs has no use for -k; leave it out."),
        ((*ASK, "--questions", "which"), "RandomPairs has no use for --questions; leave it out."),
        ((*ASK, "--out", "data.csv"), "'data.csv' is a file that is read; choose another name."),
        ((*ASK, "--out", "clues.doc"), "has none of the suffixes"),
        ((*ASK, "--project", "clues.csv"), "'clues.csv' is not a cluewise project."),
        ((*ASK, "--project", "nowhere/p.cluewise"), "there is no folder"),
    ],
)
def test_bad_input_gets_one_sentence(folder, typed, words, message):
    if "strategy 'clever'" in message:
        words = (*words, "--ignore", "color")
    result = typed([], *words)
    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1


def test_other_options_and_other_data_are_refused(folder, typed):
    typed(["y", "q"], *ASK)
    other = typed([], "ask", "data.csv", "--strategy", "ExploreMinMax")
    assert (other.code, other.out) == (2, "")
    assert "--strategy is ExploreMinMax, but 'data.cluewise' was begun with RandomPairs" in other.err
    assert "was begun without it" in typed([], "ask", "data.csv", "--raw").err
    text = (folder / "data.csv").read_text("utf-8")
    (folder / "data.csv").write_text(text.replace("9.2,9,", "9.3,9,"), "utf-8")
    assert "data.csv is not what it was when 'data.cluewise' was begun" in typed([], "ask", "data.csv").err
    (folder / "data.csv").write_text(text + "ash,1,1,green\n", "utf-8")
    assert "'data.cluewise' is about 6 rows, but data.csv has 7." in typed([], "ask", "data.csv").err
    assert len(standing(folder)) == 1


def test_a_project_of_python_is_left_to_python(folder, typed):
    with Store.open(folder / "data.cluewise", create=True):
        pass
    assert "was not begun by cluewise ask" in typed([], "ask", "data.csv").err


def test_ctrl_c_keeps_what_was_said(folder, run, monkeypatch):
    class Fingers(io.StringIO):
        def readline(self, *args):
            line = super().readline(*args)
            if not line:
                raise KeyboardInterrupt
            return line

    monkeypatch.setattr(sys, "stdin", Fingers("y\n"))
    result = run(*ASK)
    assert result.code == 130
    assert "stopped; 1 answers are saved in data.cluewise." in result.err
    assert len(standing(folder)) == 1


def test_killed_at_any_moment_no_answer_is_lost(folder):
    """Kill -9 right after an answer is typed, or once the next question stands on the screen: what was
    acknowledged by a next question is in the file, and the conversation goes on with the question that is due."""
    command = [sys.executable, "-m", "cluewise.cli", *ASK, "--budget", "12"]
    acknowledged = 0
    for keys in (1, 3, 2):
        running = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert running.stdin is not None
        assert running.stdout is not None
        shown = _until_question(running.stdout)
        assert shown == acknowledged + 1
        for _ in range(keys):
            running.stdin.write("n\n")
            running.stdin.flush()
            shown = _until_question(running.stdout)
        acknowledged = shown - 1
        running.stdin.write("n\n")  # typed, but never acknowledged: it may be there or not
        running.stdin.flush()
        running.send_signal(signal.SIGKILL)
        running.wait(timeout=60)
        saved = standing(folder)
        assert len(saved) in (acknowledged, acknowledged + 1)
        acknowledged = len(saved)
    assert Project.peek(folder / "data.cluewise").budget == 12


def _until_question(stream) -> int:
    """The number of the next question that stands on the screen."""
    for line in stream:
        if line.startswith("Question "):
            return int(line.split()[1])
    raise AssertionError("the program ended without a question")


def test_many_columns_show_those_that_differ_most(folder, typed):
    names = ",".join(f"c{j}" for j in range(40))
    lines = [",".join(str(i * (j == 33) + (j == 7) * (i % 2) / 9) for j in range(40)) for i in range(6)]
    (folder / "wide.csv").write_text("\n".join([names, *lines]) + "\n", "utf-8")
    out = typed(["q"], "ask", "wide.csv", "--strategy", "RandomPairs").out
    assert "(25 more columns, of which 0 differ less.)" in out
    shown = [line.split()[0] for line in out.splitlines() if line.startswith(" c")]
    assert len(shown) == 15
    assert shown[0] in ("c33", "c7")
    assert {"c33", "c7"} - set(shown[:2]) <= {"c7"}  # rows of one kind agree in c7


def test_labels_and_choices_are_typed(folder, typed):
    """Questions of the other kinds, by strategies that ask them."""
    first = typed(
        ["tree", "flower", "?", "=q", "u", "q"], "ask", "data.csv", "--ignore", "color", "--strategy", "DenseSeeds"
    )
    assert "Which class is " in first.out
    assert "2 classes" in first.out
    clues = Clues.read(folder / "data-clues.csv", ids=["rose", "lily", "iris", "oak", "elm", "fir"])
    assert set(clues.classes_) == {"tree", "flower"}


def test_strategies_are_listed(folder, run):
    names = [line.split()[0] for line in run("list", "--strategies").out.splitlines() if line.strip()]
    assert {"RandomPairs", "ExploreMinMax", "SuperInstances"} <= set(names)
    cards = json.loads(run("list", "--strategies", "--json").out)
    assert next(card for card in cards if card["name"] == "RandomPairs")["asks"] == ["pair"]
    wrong = run("list", "--strategies", "--hard")
    assert (wrong.code, wrong.out) == (2, "")
    assert "choose among methods" in wrong.err
