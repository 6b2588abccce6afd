"""cluewise update: a model in a folder, clues from a file or from standard input."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cluewise.cli import _update as module

DATA = ("--data", "data.csv", "--id", "id", "--ignore", "color")


@pytest.fixture
def state(folder, run):
    answer = run(
        "update", "state", "--data", "data.csv", "-k", 2, "--id", "id", "--ignore", "color", "--partitions", 20
    )
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    return folder / "state"


def feed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_a_file_of_clues(state, run, folder):
    answer = run("update", "state", "--clues", "clues.csv", "--out", "labels.csv")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "batch 1: 1 must, 1 cannot; 0 rows changed\n"
    head, *lines = (folder / "labels.csv").read_text().splitlines()
    assert head == "id,cluster"
    clusters = dict(line.split(",") for line in lines)
    assert clusters["rose"] == clusters["lily"] == clusters["iris"] != clusters["oak"]
    assert clusters["oak"] == clusters["elm"] == clusters["fir"]
    again = run("update", "state", "--clues", "clues.csv")
    assert (again.code, again.out) == (0, "")  # nothing new


def test_standard_input(state, run, monkeypatch):
    feed(monkeypatch, "rose,lily,must\nrose,tulip,must\niris,oak,cannot\n")
    answer = run("update", "state", "--clues", "-")
    assert answer.code == 0
    assert answer.out == "batch 1: 1 must, 1 cannot; 0 rows changed\n"
    assert answer.err == "cluewise: stdin line 2: no row is called 'tulip'. (set aside)\n"


def test_batches_of_standard_input(state, run, monkeypatch):
    feed(monkeypatch, "rose,lily,must\noak,elm,must\niris,oak,cannot\n")
    answer = run("update", "state", "--clues", "-", "--batch", 2, "--json")
    found = [json.loads(line) for line in answer.out.splitlines()]
    assert [one["batch"] for one in found] == [1, 2]
    assert found[0] == {"batch": 1, "lines": {"must": 2}, "changed": [], "aside": []}


def test_quiet(state, run, monkeypatch):
    feed(monkeypatch, "rose,lily,must\nrose,lily,perhaps\n")
    answer = run("update", "state", "--clues", "-", "--quiet")
    assert answer.out == ""
    assert "line 2: 'perhaps' is not a kind of clue" in answer.err


def test_a_line_without_end_waits(state, run, folder):
    (folder / "new.csv").write_text("rose,lily,must\nrose,iris,mu")
    answer = run("update", "state", "--clues", "new.csv")
    assert answer.out.startswith("batch 1: 1 must")
    assert "the last line of 'new.csv' has no line break and waits for one" in answer.err
    (folder / "new.csv").write_text("rose,lily,must\nrose,iris,must\n")
    assert run("update", "state", "--clues", "new.csv").out.startswith("batch 2: 1 must")


def test_following_ends_with_ctrl_c(state, run, folder, monkeypatch):
    """The file grows while the command waits; Ctrl-C comes at the second look."""
    looks = []

    def pause(seconds):
        looks.append(seconds)
        if len(looks) == 2:
            raise KeyboardInterrupt
        with (folder / "clues.csv").open("a") as more:
            more.write("oak,elm,must\n")

    monkeypatch.setattr(time, "sleep", pause)
    answer = run("update", "state", "--clues", "clues.csv", "--follow")
    assert answer.code == 130
    assert answer.out.splitlines()[1].startswith("batch 2: 1 must")
    assert "stopped; 2 batches are applied and saved" in answer.err
    assert looks == [module.PAUSE, module.PAUSE]


def test_mistakes_are_one_sentence(folder, run, state):
    for words, sentence in (
        (("update", "nowhere", "--clues", "clues.csv"), "there is no folder 'nowhere'"),
        (("update", "state", "--clues", "no.csv"), "there is no file 'no.csv'"),
        (("update", "state", "--clues", "/dev/zero"), "'/dev/zero' is a pipe, a socket or a device"),
        (("update", "new", "--data", "data.csv"), "a new model needs the number of clusters: -k"),
        (
            ("update", "state", "--data", "data.csv", "-k", 2, "--id", "id", "--ignore", "color"),
            "holds a model already",
        ),
        (("update", "state", "--out", "labels.doc"), "none of the suffixes"),
    ):
        answer = run(*words)
        assert answer.code == 2, words
        assert sentence in answer.err
        assert len(answer.err.splitlines()) == 1
    assert run("update", "state").code == 0


def test_rows_without_names(folder, run, monkeypatch):
    (folder / "plain.csv").write_text("x,y\n0,0\n0,1\n9,9\n9,8\n")
    feed(monkeypatch, "0,1,must\n1,2,cannot\n")
    answer = run(
        "update", "s", "--data", "plain.csv", "-k", 2, "--partitions", 10, "--raw", "--clues", "-", "--out", "l.csv"
    )
    assert answer.out.startswith("batch 1: 1 must, 1 cannot")
    assert (folder / "l.csv").read_text().splitlines()[0] == "id,cluster"


def test_answers_come_while_the_input_is_open(state):
    """A pause in the input is enough; the process is then killed, and the next one knows what was applied."""
    command = [sys.executable, "-m", "cluewise.cli", "update", str(state), "--clues", "-"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    )
    process.stdin.write("rose,lily,must\n")
    process.stdin.flush()
    assert process.stdout.readline() == "batch 1: 1 must; 0 rows changed\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = subprocess.run(command, input="oak,elm,must\n", capture_output=True, text=True, check=True)
    assert done.stdout == "batch 2: 1 must; 0 rows changed\n"
