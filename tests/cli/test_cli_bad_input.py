"""What a user may get wrong: one sentence, exit code 2, nothing half-written."""

from __future__ import annotations

import builtins
import json
import os
from pathlib import Path

import pytest

from cluewise import plots
from cluewise._extras import install
from cluewise.front import Cluewise

DATA = "id,x,y\na,0,0\nb,0,1\nc,9,9\nd,9,8\n"

BAD_DATA = {
    "nothing to compare": ("id,x\na,1\nb,1\n", "bad.csv has no column left to cluster by ('x': it is constant)"),
    "one row": ("id,x\na,1\n", "bad.csv has 1 sample"),
    "empty columns": ("id,x,y\na,,\nb,,\n", "('x': it is empty; 'y': it is empty)"),
    "ragged": ("id,x,y\na,0,0\nb,0\nc,1,1\n", "bad.csv line 3 has 2 fields, but there are 3 columns."),
    "cut": ("id,x,y\na,0,0\nb,0", "does the file end in the middle?"),
    "empty": ("", "bad.csv is empty."),
    "no rows": ("id,x,y\n", "bad.csv has no rows."),
    "duplicate ids": ("id,x\na,0\nb,1\na,2\n", "bad.csv line 4: id 'a' is already the id of line 2."),
}

BAD_CLUES = {
    "unknown id": ("a,b,kind\na,zebra,must\n", "bad.csv line 2: no row is called 'zebra'."),
    "self-link": ("a,b,kind\na,b,must\nc,c,cannot\n", "bad.csv line 3: row 'c' is linked to itself."),
    "no kind": ("a,b,kind\na,b,maybe\n", "bad.csv line 2: 'maybe' is not a kind of clue"),
    "empty": ("", "bad.csv is empty."),
    "no clues": ("a,b,kind\n", "bad.csv holds no clues; leave --clues out to do without."),
    "cut": ('a,b,kind\na,b,must\nb,"c', "bad.csv line 3: a quote is opened here and never closed"),
    "two labels": ("a,red,label\na,blue,label\n", "bad.csv line 2: row 'a' is labeled 'blue', but"),
    "ragged": ("a,b,kind\na,b\nb,c,must\n", "bad.csv line 2 has 2 fields, but there are 3 columns."),
}


@pytest.fixture
def refused(run, folder):
    """Run a command that must be refused: its one sentence, after looking for anything that changed."""
    Path("ok.csv").write_text(DATA, "utf-8")
    Path("loop.csv").symlink_to("loop.csv")
    os.mkfifo("pipe.csv")

    def look() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}

    def check(*words):
        before = look()
        answer = run(*words)
        assert look() == before
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith("cluewise: ")
        assert answer.err.count("\n") == 1
        assert "Traceback" not in answer.err
        return answer.err

    return check


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(refused, write, case):
    text, sentence = BAD_DATA[case]
    write("bad.csv", text)
    assert sentence in refused("fit", "bad.csv", "-k", 2)


@pytest.mark.parametrize("case", BAD_CLUES)
def test_bad_clues(refused, write, case):
    text, sentence = BAD_CLUES[case]
    write("bad.csv", text)
    assert sentence in refused("fit", "ok.csv", "--clues", "bad.csv", "-k", 2)


def test_names_of_rows_are_no_labels(refused, write):
    write("names.csv", "\n".join(["kind,x", *(f"k{i},{i}" for i in range(12))]) + "\n")
    words = refused("fit", "names.csv", "--label-column", "kind")
    assert "column 'kind' of names.csv: all 12 values differ, so they cannot be classes." in words


def test_a_row_with_two_labels_is_named_with_both_places(refused, write):
    write("kinds.csv", "id,x,kind\na,0,red\nb,1,\nc,9,blue\n")
    write("bad.csv", "a,b,kind\nb,blue,label\nc,red,label\n")
    words = refused("fit", "kinds.csv", "--label-column", "kind", "--clues", "bad.csv")
    assert words == "cluewise: row 'c' is labeled 'blue' (kinds.csv:4) and 'red' (bad.csv:3).\n"


def test_rows_out_of_range(refused, write):
    write("numbers.csv", "0,0\n0,1\n9,9\n")
    write("bad.csv", "0,1,must\n1,7,cannot\n")
    sentence = refused("fit", "numbers.csv", "--clues", "bad.csv", "-k", 2)
    assert "bad.csv line 2: there is no row 7; there are 3, counted from 0." in sentence


def test_contradictory_links_for_a_hard_method_show_the_chain_by_name(refused, write):
    write("bad.csv", "a,b,must\nb,c,must\na,c,cannot\n")
    sentence = refused("fit", "ok.csv", "--clues", "bad.csv", "-k", 2, "--method", "COPKMeans")
    assert "must-links join them: 0 - 1 - 2" in sentence
    assert "(row 0 is 'a', row 1 is 'b', row 2 is 'c')." in sentence
    assert "bad.csv:3" in sentence


def test_rows_without_names_need_no_names(refused, write):
    write("numbers.csv", "0,0\n0,1\n9,9\n")
    write("bad.csv", "0,1,must\n0,1,cannot\n")
    sentence = refused("fit", "numbers.csv", "--clues", "bad.csv", "-k", 2, "--method", "COPKMeans")
    assert sentence.rstrip().endswith("must-links join them: 0 - 1.")


def test_cliques_larger_than_k(refused, write):
    write("bad.csv", "a,b,cannot\nb,c,cannot\na,c,cannot\n")
    sentence = refused("fit", "ok.csv", "--clues", "bad.csv", "-k", 2, "--method", "COPKMeans")
    assert "rows 0, 1 and 2 must all be apart, which needs 3 clusters, but there are only 2" in sentence
    assert "(row 0 is 'a'" in sentence


def test_soft_methods_take_contradictions(run, folder, write):
    write("ok.csv", DATA)
    write("odd.csv", "a,b,must\nb,c,must\na,c,cannot\n")
    assert run("fit", "ok.csv", "--clues", "odd.csv", "-k", 2).code == 0


REFUSED = {
    "k > n": (["-k", "5"], "n_clusters=5 is larger than the number of rows, n_samples=4."),
    "k = 0": (["-k", "0"], "-k is 0; there must be at least 1 cluster."),
    "no k": (["--method", "PCKMeans"], "give the number of clusters with -k; there are no labels to take it from."),
    "k no number": (["-k", "two"], "'--clusters' / '-k'"),
    "seed": (["-k", "2", "--seed", "-1"], "'--seed'"),
    "method": (["-k", "2", "--method", "PCKMaens"], "there is no clusterer 'PCKMaens'; did you mean PCKMeans?"),
    "penalty": (
        ["-k", "2", "--method", "PCKMeans", "--penalty", "much"],
        "--penalty is 'much'; it must be a number of at least 0, or auto.",
    ),
    "penalty < 0": (["-k", "2", "--method", "PCKMeans", "--penalty", "-1"], "--penalty is '-1'"),
    "default penalty": (["--penalty", "1"], "Cluewise has no penalty; leave --penalty out, or use --method PCKMeans."),
    "time limit": (["--time-limit", "0"], "--time-limit is 0; it must be a number of seconds above 0."),
    "no time limit": (
        ["-k", "2", "--method", "PCKMeans", "--time-limit", "9"],
        "PCKMeans has no time limit; leave --time-limit out.",
    ),
    "auto time limit": (["--auto", "--method", "all", "--time-limit", "nan"], "--time-limit is nan; it must be"),
    "no penalty": (["-k", "2", "--penalty", "1", "--method", "SeededKMeans"], "SeededKMeans has no penalty"),
    "columns": (["-k", "2", "--columns", "x,z"], "ok.csv has no column 'z'."),
    "no columns": (["-k", "2", "--columns", "x,,y"], "'x,,y' is not a list of columns"),
    "ignore": (["-k", "2", "--ignore", "z"], "ok.csv has no column 'z'."),
    "all ignored": (["-k", "2", "--ignore", "x,y"], "ok.csv has no column left to cluster by."),
    "id": (["-k", "2", "--id", "name"], "ok.csv has no column 'name'."),
    "label column": (["-k", "2", "--label-column", "kind"], "ok.csv has no column 'kind'"),
    "ignore like": (["-k", "2", "--ignore", "xx"], "ok.csv has no column 'xx'; did you mean 'x'?"),
    "option": (["--clustres", "2"], "No such option"),
    "map columns": (["-k", "2", "--map-columns", "x,z"], "--map-columns: 'z' is not one of the columns"),
    "one map column": (["-k", "2", "--map-columns", "x"], "--map-columns names 1 columns; a map has two."),
    "map format": (["-k", "2", "--map", "map.txt"], "'map.txt' has none of the suffixes .png, .pdf, .svg or .jpg."),
    "out format": (["-k", "2", "--out", "out"], "'out' has none of the suffixes .csv, .parquet, .npz or .json."),
    "out folder": (["-k", "2", "--out", "no/out.csv"], "'no/out.csv' cannot be written: there is no folder"),
    "out below a file": (["-k", "2", "--out", "ok.csv/out.csv"], "'ok.csv/out.csv' cannot be written"),
    "out is a folder": (["-k", "2", "--report", "."], "'.' is a folder, not a file."),
    "out is the data": (["-k", "2", "--out", "ok.csv"], "--out 'ok.csv' is also an input"),
    "out twice": (["-k", "2", "--out", "a.json", "--report", "a.json"], "--report 'a.json' is also written as --out."),
    "clues are a folder": (["-k", "2", "--clues", "."], "'.' is a folder, not a file."),
    "out is a loop": (["-k", "2", "--out", "loop.csv"], "'loop.csv' is a link that leads back to itself."),
    "clues are a loop": (["-k", "2", "--clues", "loop.csv"], "'loop.csv' cannot be read: too many levels of symbolic"),
    "clues are a pipe": (["-k", "2", "--clues", "pipe.csv"], "'pipe.csv' is a pipe, a socket or a device; copy its"),
    "column twice": (["-k", "2", "--columns", "x,x"], "'x,x' names column 'x' more than once."),
    "ignored twice": (["-k", "2", "--ignore", "x, x"], "'x, x' names column 'x' more than once."),
    "map column twice": (["-k", "2", "--map-columns", "y,y"], "'y,y' names column 'y' more than once."),
    "line break": (["-k", "2", "--columns", "x\ny"], "'x y' is not a list of columns; separate their names by commas."),
    "no clue file": (["-k", "2", "--clues", "lost.csv"], "there is no file 'lost.csv'."),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_options(refused, case):
    words, sentence = REFUSED[case]
    assert sentence in refused("fit", "ok.csv", *words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fit", ".", "-k", "2"], "'loop.csv' is not an ordinary file."),
        (["check", ".", "-k", "2"], "'.' is a folder, not a file."),
        (["fit", "lost.csv", "-k", "2"], "there is no file 'lost.csv'."),
        (["fit", "pipe.csv", "-k", "2"], "'pipe.csv' is a pipe, a socket or a device; copy its content into a file"),
        (["fit", "/dev/zero", "-k", "2"], "'/dev/zero' is a pipe, a socket or a device; copy its content into a file"),
        (["ask", "ok.csv", "--out", "loop.csv"], "'loop.csv' is a link that leads back to itself."),
        (["fit", "data.xlsx", "-k", "2"], "there is no file 'data.xlsx'."),
        (["fit"], "Missing argument 'DATA'. See cluewise fit --help."),
        (["fti"], "No such command 'fti'"),
        (["check", "ok.csv", "-k", "0"], "-k is 0"),
        (["compare", "ok.csv", "-k", "2"], "there are no clues that Cluewise uses, so nothing can be compared."),
        (["compare", "ok.csv", "-k", "2", "--truth", "z"], "ok.csv has no column 'z'."),
        (["compare", "ok.csv", "--truth", "z", "--label-column", "z"], "--truth and --label-column both name 'z'"),
        (["list", "--accepts", "friends"], "--accepts: 'friends' is not a kind of clue; the kinds are labels, must"),
        (["datasets", "wien", "--out", "w.csv"], "there is no data set 'wien'; did you mean 'wine'?"),
        (["datasets", "--out", "w.csv"], "--out needs the name of a data set"),
        (["datasets", "iris", "--out", "iris.xls"], "'iris.xls' has none of the suffixes"),
        (["demo", "--out", "ok.csv"], "'ok.csv' cannot be made a folder."),
    ],
)
def test_other_refusals(refused, words, sentence):
    assert sentence in refused(*words)


def test_missing_extra_is_named(refused, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert install("plot") in refused("fit", "ok.csv", "-k", "2", "--map", "m.png")


@pytest.mark.parametrize("output", ["--out", "--report", "--map"])
def test_a_failure_while_writing_keeps_the_old_files(run, folder, monkeypatch, output):
    Path("ok.csv").write_text(DATA, "utf-8")
    old = {"--out": "o.csv", "--report": "r.json", "--map": "m.png"}
    for name in old.values():
        Path(name).write_text("old", "utf-8")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    if output == "--map":
        monkeypatch.setattr(plots, "map", full)
    else:
        monkeypatch.setattr({"--out": "cluewise.tables.write", "--report": "pathlib.Path.write_text"}[output], full)
    answer = run("fit", "ok.csv", "-k", 2, *(word for pair in old.items() for word in pair))
    monkeypatch.undo()
    assert answer.code == 2
    assert answer.err == f"cluewise: '{old[output]}' cannot be written: no space left on device.\n"
    os.chdir(folder)
    assert [Path(name).read_text("utf-8") for name in old.values()] == ["old"] * 3
    assert sorted(p.name for p in folder.iterdir()) == ["clues.csv", "data.csv", "m.png", "o.csv", "ok.csv", "r.json"]


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "cluewise: interrupted; no file is half-written.\n"),
        (MemoryError(), 2, "cluewise: there is not enough memory for this.\n"),
        (ValueError("two\nlines"), 2, "cluewise: two lines\n"),
    ],
)
def test_what_happens_during_a_fit(run, write, monkeypatch, error, code, words):
    write("ok.csv", DATA)

    def fit(*_, **__):
        raise error

    monkeypatch.setattr(Cluewise, "fit", fit)
    assert run("fit", "ok.csv", "-k", 2) == (code, "", words)
    assert not Path("ok-clusters.csv").exists()


def test_our_own_mistakes_keep_their_traceback(write, monkeypatch):
    from cluewise.cli import main

    write("ok.csv", DATA)
    monkeypatch.setattr(Cluewise, "fit", lambda *_, **__: [][0])
    with pytest.raises(IndexError):
        main(["fit", "ok.csv", "-k", "2"])


def test_a_closed_pipe_is_no_mistake(run, folder, monkeypatch):
    def closed(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("cluewise.cli._show.table", closed)
    answer = run("list")
    assert (answer.code, answer.err) == (1, "")


def test_long_and_odd_names_make_one_short_line(refused, write):
    write("bad.csv", f"a,b,kind\na,{'z' * 10_000}\x1b[2J,must\n")
    sentence = refused("fit", "ok.csv", "--clues", "bad.csv", "-k", 2)
    assert len(sentence) < 2100
    assert "\x1b" not in sentence


def test_an_infinite_label_names_the_file(refused, write):
    write("bad.csv", "id,x,kind\na,0,1\nb,1,inf\n")
    sentence = refused("fit", "bad.csv", "--label-column", "kind")
    assert sentence == "cluewise: column 'kind' of bad.csv: labels holds an infinite value in row 1.\n"


def test_formulas_of_the_input_are_guarded_in_the_output(run, write):
    write("in.csv", 'id,x,y,note\n=a,0,0,"=HYPERLINK(""u"")"\n@b,0,1,-1\nc,9,9,x\nd,9,8,-x\n')
    words = ["fit", "in.csv", "-k", 2, "--columns", "x,y", "-q", "--out", "out.csv"]
    assert run(*words).code == 0
    lines = Path("out.csv").read_text("utf-8").splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ["'=a", "'@b", "c", "d"]
    assert [line.split(",")[3] for line in lines[1:]] == ['"\'=HYPERLINK(""u"")"', "-1", "x", "'-x"]
    again = run("fit", "out.csv", "-k", 2, "--columns", "x,y", "-q", "--out", "raw.csv", "--raw-cells")
    assert again.code == 0
    assert [line.split(",")[0] for line in Path("raw.csv").read_text("utf-8").splitlines()[1:]] == [
        "=a",
        "@b",
        "c",
        "d",
    ]


def test_reports_name_files_whose_names_are_not_utf_8(run, write):
    write("ok.csv", DATA)
    odd = Path(os.fsdecode(b"o\xff.csv"))
    assert run("fit", "ok.csv", "-k", 2, "-q", "--out", odd, "--report", "r.json").code == 0
    assert json.loads(Path("r.json").read_text("utf-8"))["output"]["--out"] == str(odd)
