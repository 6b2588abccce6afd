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
    answer = run("update", "state", *DATA, "-k", 2, "--partitions", 20, "--method", "scsc")
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
        (("update", "new", *DATA, "--method", "SCSC"), "a new SCSC needs the number of clusters: -k"),
        (("update", "new", *DATA, "--method", "PCKMeans"), "PCKMeans takes no further clues after its fit"),
        (("update", "new", *DATA, "--partitions", 9), "--partitions is for --method SCSC"),
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
        "update",
        "s",
        "plain.csv",
        "--method",
        "SCSC",
        "-k",
        2,
        "--partitions",
        10,
        "--raw",
        "--clues",
        "-",
        "--out",
        "l.csv",
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


@pytest.fixture
def saved(folder, run):
    fit = run("fit", "data.csv", "--ignore", "color", "-k", 2, "--clues", "clues.csv", "--save", "model.cw", "--quiet")
    assert (fit.code, fit.err) == (0, "")
    (folder / "data-clusters.csv").unlink()
    return folder / "model.cw"


def test_a_model_of_fit_takes_new_clues(saved, run, folder):
    before = run("predict", "model.cw", "data.csv", "--json").out
    (folder / "new.csv").write_text("a,b,kind\noak,elm,must\nrose,flower,label\niris,flower,label\n")
    answer = run("update", "model.cw", "data.csv", "--clues", "new.csv")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "batch 1: 1 must, 2 label; 0 rows changed\nWritten: data-clusters.csv, model.cw.\n"
    head, *lines = (folder / "data-clusters.csv").read_text().splitlines()
    assert head == "id,length,width,color,cluster,name,margin"
    assert [line.split(",")[5] for line in lines] == ["flower"] * 3 + [""] * 3
    after = json.loads(run("predict", "model.cw", "data.csv", "--json").out)
    assert after["sizes"] == json.loads(before)["sizes"]
    assert list(after["names"].values()) == ["flower"]
    again = run("update", "model.cw", "data.csv", "--clues", "new.csv", "--quiet", "--out", "labels.csv")
    assert (again.code, again.out) == (0, "")  # nothing new
    assert (folder / "labels.csv").read_text() == (folder / "data-clusters.csv").read_text()
    assert run("rescue", "model.cw", "saved.csv").out == "5 clues saved in saved.csv, 0 lost.\n"


def test_other_data_are_refused_with_what_differs(saved, run, write):
    flowers = (saved.parent / "data.csv").read_text()
    for text, words in (
        (flowers.rsplit("fir", 1)[0], "other.csv has 5 rows, but 'model.cw' was fitted to 6."),
        (flowers.replace("elm", "ash"), "other.csv line 6 is 'ash', but 'model.cw' has 'elm' there."),
        (
            flowers.replace("9.1,9.2", "9.1,9.4"),
            "is not what 'model.cw' was fitted to: column 'width' differs",
        ),
        (flowers.replace("width", "depth"), "other.csv has no column 'width'"),
    ):
        write("other.csv", text)
        answer = run("update", "model.cw", "other.csv", "--clues", "clues.csv")
        assert answer.code == 2, words
        assert words in answer.err
    without = run("update", "model.cw", "--clues", "clues.csv")
    assert without.code == 2
    assert without.err == (
        "cluewise: the model in 'model.cw' does not hold its rows; give them too: cluewise update model.cw DATA.\n"
    )
    assert "holds a model already; leave -k out" in run("update", "model.cw", "data.csv", "-k", 3).err


def test_a_new_model_is_a_cluewise(folder, run):
    started = run("update", "state", "data.csv", "--ignore", "color", "-k", 2, "--clues", "clues.csv", "--batch", 1)
    assert (started.code, started.err) == (0, "")
    assert started.out.splitlines()[2] == "batch 3: 1 cannot; 0 rows changed"  # the first line is the header
    (folder / "clues.csv").write_text("a,b,kind\nrose,lily,must\niris,oak,cannot\noak,elm,must\n")
    again = run("update", "state", "data.csv", "--clues", "clues.csv")
    assert again.out == "batch 4: 1 must; 0 rows changed\nWritten: data-clusters.csv, state.\n"
