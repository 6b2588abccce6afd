"""``cluewise ask``: questions at a terminal, saved one by one, taken back, resumed after any end."""

from __future__ import annotations

import io
import json
import shlex
import signal
import subprocess
import sys

import numpy as np
import pytest

from cluewise import Clues
from cluewise.active import Answer, PairsAtStake, Project, Question, RandomPairs
from cluewise.cli import _rows
from cluewise.rows.balance import standardize
from cluewise.store import Store
from cluewise.workspace import items
from cluewise.workspace.data import open_data

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
    assert "'maybe' is not an answer to this question." in result.out
    assert "3 of 3 questions answered (1 yes, 1 no, 1 don't know)." in result.out
    assert "Next: cluewise fit data.csv --ignore color --clues mine.csv\n" in result.out
    assert [answer for _, answer in standing(folder)] == [True, False, None]
    clues = Clues.read(folder / "mine.csv", ids=["rose", "lily", "iris", "oak", "elm", "fir"])
    assert (clues.must.tolist(), clues.cannot.tolist()) == ([[1, 2]], [[1, 3]])
    assert clues.must_source.tolist() == ["answer 1 (ann)"]


def test_what_differs_stands_beside_the_rows(folder, typed):
    words = [{"--ignore": "--columns", "color": "length,width"}.get(word, word) for word in ASK]
    lines = typed(["n", "q"], *words).out.splitlines()
    second = lines[next(i for i, line in enumerate(lines) if line.startswith("Question 2")) :]
    rows = {line.split()[0]: line.split()[1:] for line in second if line.strip()}
    assert rows["color"] == ["white", "green", "differs"]  # not clustered by, but a person may know more
    assert rows["width"][:2] == ["0", "9.1"]
    assert rows["width"][2:4] == ["2.0", "sd"]
    assert "id" not in rows
    ignored = typed(["n", "q"], *ASK, "--project", "other.cluewise").out
    assert "color" not in ignored.partition("Question 2")[2].partition("Answers:")[0]  # it may hold the answer


def test_a_group_is_sorted_into_piles(folder, typed, monkeypatch):
    groups = [Question("group", rows) for rows in ((0, 1, 2, 3, 4), (5, 0, 3), (2, 4, 5))]
    monkeypatch.setattr(Project, "ask", lambda self: groups[self.state.asked :][:1])
    wrong = ["1 3 / 3 4", "1 / 6", "y", "/"]
    result = typed([*wrong, "1 3 / 2 4 5", "n", "u", "2,3", "?"], *ASK, "--budget", "3", "--out", "mine.csv")
    assert (result.code, result.err) == (0, "")
    assert "Which of rose, lily, iris, oak and elm belong together?" in result.out
    assert "[3] iris" in result.out
    assert [word for word in wrong if f"{word!r} is not an answer to this question." in result.out] == wrong
    assert "Taken back: Which of fir, rose and oak belong together? " in result.out
    assert "3 of 3 questions answered (1 don't know, 2 sorted)." in result.out
    assert [answer for _, answer in standing(folder)] == [[[0, 2], [1, 3, 4]], [[0, 3]], None]
    clues = Clues.read(folder / "mine.csv", ids=["rose", "lily", "iris", "oak", "elm", "fir"])
    assert clues.must.tolist() == [[0, 2], [0, 3], [1, 3], [3, 4]]
    assert clues.cannot.tolist() == [[0, 1]]


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
        (("ask", "data.csv", "--strategy", "clever"), "there is no strategy 'clever'; the strategies are "),
        ((*ASK, "-k", "3"), "RandomPairs does not use -k; leave it out."),
        ((*ASK, "--questions", "which"), "RandomPairs does not use --questions; leave it out."),
        ((*ASK, "--out", "data.csv"), "'data.csv' is also an input; choose another name."),
        ((*ASK, "--out", "clues.doc"), "has none of the suffixes"),
        ((*ASK, "--out", "nowhere/c.csv"), "there is no folder"),
        ((*ASK, "--out", "clues.csv", "--clues", "clues.csv"), "'clues.csv' is also an input"),
        ((*ASK, "--who", "inferred"), "--who inferred is reserved for inferred answers; choose another name."),
        ((*ASK, "--who", "a\tb"), r"--who 'a\tb' is not the name of a person."),
        (("ask", "data.csv", "--ignore", "color", "-k", "7"), "-k is 7, but data.csv has only 6 rows."),
        ((*ASK, "--project", "clues.csv"), "'clues.csv' is not a cluewise project"),
        ((*ASK, "--project", "nowhere/p.cluewise"), "there is no folder"),
    ],
)
def test_bad_input_gets_one_sentence(folder, typed, words, message):
    if "strategy 'clever'" in message:
        words = (*words, "--ignore", "color")
    result = typed([], *words)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1
    assert not list(folder.glob("*.cluewise"))


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
    with Project.begin(folder / "data.cluewise", RandomPairs(), np.zeros((6, 2)), budget=3, random_state=0):
        pass
    assert "was not begun by cluewise ask" in typed([], "ask", "data.csv").err
    with Store.open(folder / "other.cluewise", create=True) as store:
        store.append("who knows what", "yes")
    assert "was not begun by cluewise ask" in typed([], "ask", "data.csv", "--project", "other.cluewise").err


@pytest.mark.parametrize("left", ["nothing", "tables", "options"])
def test_killed_while_beginning_it_begins_again(folder, typed, left):
    path = folder / "data.cluewise"
    path.touch()
    if left != "nothing":
        with Store.open(path, create=True) as store:
            if left == "options":
                store.settings["options"] = {"strategy": "DenseSeeds"}
    result = typed(["y"], *ASK, "--budget", "3")
    assert (result.code, result.err) == (0, "")
    assert "1 of 3 questions answered" in typed([], "ask", "data.csv").out
    assert [answer for _, answer in standing(folder)] == [True]


def test_options_are_saved_before_anything_has_begun(folder, typed, monkeypatch):
    """Whoever is killed right after the conversation is in the file can go on with it."""

    def killed(self, *args):
        raise KeyboardInterrupt

    monkeypatch.setattr(Project, "__init__", killed)
    typed([], *ASK, "--budget", "3")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert typed(["y"], "ask", "data.csv").code == 0


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
    assert "stopped; 1 answer is saved in data.cluewise." in result.err
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
    assert "(1 don't know, 2 labels)" in first.out
    clues = Clues.read(folder / "data-clues.csv", ids=["rose", "lily", "iris", "oak", "elm", "fir"])
    assert set(clues.classes_) == {"tree", "flower"}


def test_by_default_clusters_come_with_the_answers_and_all_kinds_of_questions_may_be_asked(folder, typed):
    first = typed(["n", "q"], "ask", "data.csv", "--ignore", "color", "-k", "2", "--questions", "pair")
    assert Project.peek(folder / "data.cluewise").strategy == "CluewiseQuestions"
    assert "add --result FILE to get the clusters" in first.out
    again = typed(["q"], "ask", "data.csv", "--result", "found.csv")
    assert (again.code, again.err) == (0, "")
    lines = (folder / "found.csv").read_text("utf-8").splitlines()
    assert lines[0].endswith("cluster")
    assert {line.split(",")[-1] for line in lines[1:]} == {"0", "1"}
    other = ("ask", "data.csv", "--ignore", "color", "--project", "other.cluewise", "--questions", "label")
    assert "Which class is " in typed(["q"], *other).out


def test_strategies_are_listed(folder, run):
    names = [line.split()[0] for line in run("list", "--strategies").out.splitlines() if line.strip()]
    assert {"RandomPairs", "ExploreMinMax", "SuperInstances"} <= set(names)
    cards = json.loads(run("list", "--strategies", "--json").out)
    assert next(card for card in cards if card["name"] == "RandomPairs")["asks"] == ["pair"]
    wrong = run("list", "--strategies", "--hard")
    assert (wrong.code, wrong.out) == (2, "")
    assert "choose among methods" in wrong.err


LABELS = ("ask", "data.csv", "--ignore", "color", "--strategy", "DenseSeeds")


@pytest.mark.parametrize("name", ["undo", "quit", "u", "q"])
def test_a_class_may_be_called_as_a_command(folder, typed, name):
    typed([f"={name}", "q"], *LABELS)
    assert [answer for _, answer in standing(folder)] == [name]


def test_a_class_name_is_printable_and_a_lone_letter_is_asked_back(folder, typed):
    result = typed(["a\tb", "n", "tree", "n", "y", "y", "y", "=no", "no"], *LABELS, "--budget", "5")
    assert r"'a\tb' is not an answer to this question." in result.out
    assert result.out.count("Is 'n' the name of a class? Type it again to say so.") == 2
    assert result.out.count("Is 'y' the name of a class?") == 1
    assert [answer for _, answer in standing(folder)] == ["tree", "y", "y", "no", "no"]  # a class by then


def test_one_label_is_not_two(folder, typed):
    assert "1 of 50 questions answered (1 label)." in typed(["tree"], *LABELS).out


def test_undo_takes_back_ones_own_answers(folder, typed):
    typed(["y"], *ASK, "--who", "ann")
    typed(["n"], *ASK, "--who", "bob")
    back = typed(["u", "u", "q"], *ASK, "--who", "ann")
    assert "Taken back: Do lily and iris belong together? yes" in back.out
    assert "There is nothing of ann to take back." in back.out
    assert [answer for _, answer in standing(folder)] == [False]
    typed(["u"], *ASK)  # without a name: the last of anybody
    assert standing(folder) == []


@pytest.mark.parametrize(
    ("question", "value", "words"),
    [
        (Question("which", (4, 0, 1)), 0, "Where does elm belong? rose"),
        (Question("which", (4, 0, 1)), 1, "Where does elm belong? lily"),
        (Question("which", (4, 0, 1)), False, "Where does elm belong? no"),
        (Question("label", (4,)), None, "Which class is elm of? don't know"),
        (Question("label", (4,)), 1, "Which class is elm of? 1"),
    ],
)
def test_answers_in_words(folder, question, value, words):
    assert items.words(Answer(question, value), open_data(folder / "data.csv", None, ignore=["color"])) == words


def test_the_clues_of_the_beginning_are_never_written_over(folder, typed, monkeypatch):
    assert typed(["y"], *ASK, "--clues", "clues.csv").code == 0
    before = (folder / "clues.csv").read_bytes()
    again = typed(["y"], "ask", "data.csv", "--out", "clues.csv")
    assert (again.code, again.out) == (2, "")
    assert "'clues.csv' is also an input" in again.err
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")  # the same file by another name
    assert "is also an input" in typed(["y"], "ask", "../data.csv", "--out", "../clues.csv").err
    assert (folder / "clues.csv").read_bytes() == before
    assert len(standing(folder)) == 1


def test_the_next_command_works(folder, typed, run):
    """Paths with blanks, a column of labels, a column whose name holds a comma."""
    rows = ['id,length,width,kind,"note, mine"', "a,0,0.1,1,x", "b,0.2,0,1,y", "c,9,9.1,2,z", "d,9.2,9,,w"]
    (folder / "my data.csv").write_text("\n".join(rows) + "\n", "utf-8")
    words = ("ask", "my data.csv", "--label-column", "kind", "--ignore", '"note, mine"')
    out = typed(["y"], *words, "--budget", "1").out
    line = next(line for line in out.splitlines() if line.startswith("Next: "))
    assert "-k" not in line  # nobody said how many
    program, *words = shlex.split(line.removeprefix("Next: "))
    assert program == "cluewise"
    assert words[words.index("--ignore") + 1] == '"note, mine",kind'
    assert run(*words).code == 0  # four rows may well be one cluster, with a warning


@pytest.mark.parametrize("said", [(), ("-k", "3")])
def test_the_next_command_says_k_only_if_somebody_did(folder, typed, said):
    out = typed(["n"], "ask", "data.csv", "--ignore", "color", "--strategy", "InformationGain", *said).out
    assert ("-k 3\n" in out) == bool(said)
    assert "-k K" not in out


def test_no_input_at_all_is_a_quit(folder, run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert run(*ASK).code == 0


def test_what_was_begun_with_may_be_said_again_in_any_spelling(folder, typed):
    first = ("ask", "data.csv", "--ignore", "color")
    assert typed(["n"], *first).code == 0
    same = typed(["n"], *first, "--strategy", "cluewise-questions", "--questions", "pair", "--seed", "0")
    assert (same.code, same.err) == (0, "")
    other = typed([], *first, "--seed", "7")
    assert (other.code, other.out) == (2, "")
    assert "--seed is 7, but 'data.cluewise' was begun with 0; leave it out" in other.err
    assert "was begun with pair" in typed([], *first, "--questions", "label").err
    assert "was begun without it" in typed([], *first, "-k", "2").err


def test_numbers_are_never_wrapped(folder, capsys):
    """A choice among many rows comes in several tables, each with the row that is asked about."""
    rng = np.random.default_rng(0)
    header = ",".join(["id", "text", *(f"column_with_a_long_name_{j}" for j in range(4))])
    lines = [",".join([f"row{i:02}", "word " * 9, *(f"{-1e6 * i - x:.6f}" for x in rng.random(4))]) for i in range(14)]
    (folder / "many.csv").write_text("\n".join([header, *lines]) + "\n", "utf-8")
    data = open_data(folder / "many.csv", None, id_column="id", columns=header.partition("text,")[2])
    spread = items.spreads(data)
    for count in range(2, 15):
        rows = range(14 - count, 14)
        _rows.show_rows(data, rows, [f"[{i}] row{i:02}" for i in rows], spread)
        shown = capsys.readouterr().out
        for j in range(4):
            numbers = data.numbers()[f"column_with_a_long_name_{j}"]
            assert set(items._numbers(numbers[rows])) <= set(shown.split())
        first = f"row{rows[0]:02}"
        assert shown.count(first) == shown.count("apart by")
        assert (shown.count(first) > 1) == (count > 4)  # a hundred and twenty letters
        assert max(map(len, shown.splitlines())) <= 120


def test_cells_are_shown_as_people_write_them(folder, typed):
    rows = ["id,kind,x,y", "a,1,1.00000001,0", "b,,1.00000002,0.5", "c,2,5,1"]
    (folder / "kinds.csv").write_text("\n".join(rows) + "\n", "utf-8")
    out = typed(["q"], "ask", "kinds.csv", "--label-column", "kind", "--strategy", "RandomPairs", "--seed", "0").out
    kind = next(line.split() for line in out.splitlines() if line.strip().startswith("kind"))
    assert set(kind[1:3]) <= {"1", "2", "–"}
    assert [items._same(texts) for texts in (["a", "a"], ["a", "b"], ["a", "–"])] == ["=", "differs", "–"]
    assert items._numbers(np.array([1.00000001, 1.00000002])) == ["1.00000001", "1.00000002"]
    assert items._numbers(np.array([0.1, 0.1 + 2**-56, 0.1])) == ["0.1", "0.10000000000000002", "0.1"]
    assert items._numbers(np.array([1.23456789, 9.0])) == ["1.23457", "9"]


def test_a_choice_is_typed_as_a_number(folder, typed):
    words = ("ask", "data.csv", "--ignore", "color", "--clues", "clues.csv", "--questions", "which", "--budget", "4")
    first = typed(["n", "0", "99", "1", "u", "n", "q"], *words)  # a choice among one row is a pair
    assert first.out.count("is not an answer to this question.") == 2
    assert "Taken back: Where does " in first.out
    assert "2 of 4 questions answered (2 no)." in first.out
    again = typed(["2", "q"], *words[:4], "--clues", "./clues.csv")
    assert "3 of 4 questions answered (1 yes, 2 no)." in again.out
    rows, value = standing(folder)[-1]
    assert value == rows[2]


def test_where_classes_are_numbers_another_is_one(folder, typed):
    rows = ["id,kind,x", "a,1,1", "b,2,9", "c,,5", "d,,20", "e,,31"]
    (folder / "kinds.csv").write_text("\n".join(rows) + "\n", "utf-8")
    typed(["2", "3", "x3"], "ask", "kinds.csv", "--label-column", "kind", "--strategy", "DenseSeeds", "--budget", "3")
    assert [answer for _, answer in standing(folder, "kinds.cluewise")] == [2, 3, "x3"]


def test_clusters_that_the_strategy_has_found(folder, typed):
    words = ("ask", "data.csv", "--ignore", "color", "--budget", "6")
    refused = typed([], *words, "--result", "out.csv", "--strategy", "RandomPairs", "--project", "r.cluewise")
    assert (refused.code, refused.out) == (2, "")
    assert "RandomPairs finds no clusters itself; leave --result out." in refused.err
    done = typed(["n", "y", "q"], *words, "--strategy", "PairsAtStake", "--result", "out.csv")
    assert "Clusters: out.csv." in done.out
    lines = [line.split(",") for line in (folder / "out.csv").read_text("utf-8").splitlines()]
    assert lines[0] == ["id", "length", "width", "color", "cluster"]
    X = standardize(np.array([[float(cell) for cell in line[1:3]] for line in lines[1:]]))
    with Project.open(folder / "data.cluewise", PairsAtStake(), X) as project:
        assert [int(line[4]) for line in lines[1:]] == project.clustering().tolist()
