"""Rows in parts on the command line: the same clusters as from one file, or one sentence."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import cluewise as cw
from cluewise import _dask, tables
from cluewise._extras import install
from cluewise.cli import _progress, _show
from cluewise.tables import parts as files
from cluewise.workspace import parts


def make_rows(n=400, seed=0):
    """Three blobs of very different units, with a column of words."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = 4 * rng.normal(size=(3, 3))[y] + rng.normal(size=(n, 3))
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "a": X[:, 0],
            "b": 1000 * X[:, 1] + 7,
            "c": X[:, 2].astype(np.float32),
            "color": rng.choice(["red", "blue"], size=n),
        }
    )
    return frame, y


@pytest.fixture
def room(tmp_path, monkeypatch):
    """The rows as all.parquet and as four parts, one of them without rows; clues by name and by number."""
    monkeypatch.chdir(tmp_path)
    frame, y = make_rows()
    frame.write_parquet("all.parquet")
    for number, (start, stop) in enumerate([(0, 150), (150, 150), (150, 300), (300, 400)]):
        frame[start:stop].write_parquet(f"rows-{number}.parquet")
    clues = cw.Clues.sample(y, pairs=40, labels=6, random_state=0)
    clues.write("clues.csv", ids=frame["id"].to_list())
    clues.write("numbers.csv")
    return tmp_path


def clusters(folder):
    """All output parts, in the order of the rows."""
    found = [pl.read_parquet(file) for file in files.find_parts(folder)]
    return pl.concat([one for one in found if len(one)])


# --- the same as from one file ----------------------------------------------------------------------------------------


def test_parts_give_the_clusters_of_one_file(room, run, monkeypatch):
    monkeypatch.setattr(parts, "CHUNK", 8 * 5 * 70)  # two or three chunks in a part
    assert run("fit", "all.parquet", "--clues", "clues.csv", "-k", 3, "-q").code == 0
    answer = run("fit", "rows-*.parquet", "--clues", "clues.csv", "-k", 3, "--report", "facts.json")
    assert answer.code == 0, answer.err
    assert "Cluewise: 400 rows of rows-*.parquet (4 parts) in 3 clusters, by 4 columns standardized." in answer.out
    assert "Written: rows-clusters, facts.json." in answer.out
    own, found = pl.read_csv("all-clusters.csv"), clusters("rows-clusters")
    assert found.columns == ["id", "cluster"]
    assert found["id"].to_list() == own["id"].to_list()
    assert found["cluster"].to_list() == own["cluster"].to_list()
    assert [len(pl.read_parquet(f"rows-clusters/rows-{number}.parquet")) for number in range(4)] == [150, 0, 150, 100]
    facts = json.loads(Path("facts.json").read_text())
    assert facts["sizes"] == own["cluster"].value_counts(sort=False).sort("cluster")["count"].to_list()
    assert (facts["rows"], facts["clusters"], facts["noise"]) == (400, 3, 0)
    assert facts["command"].startswith("cluewise fit 'rows-*.parquet'")
    assert not [name for name in room.iterdir() if name.name.startswith(".")]


def test_parts_of_text_in_a_folder(room, run):
    """NaN and words in a column of numbers are filled in as in one file; rows without ids have numbers."""
    frame = make_rows()[0].drop("id").with_columns(a=pl.col("a").cast(pl.String))
    texts = frame["a"].to_list()
    texts[395:397] = "", "n/a"
    frame = frame.with_columns(a=pl.Series(texts))
    (room / "texts").mkdir()
    for number, (start, stop) in enumerate([(0, 200), (200, 400)]):
        frame[start:stop].write_csv(f"texts/part-{number + 9}.csv")
    frame.write_csv("all.csv")
    options = ("--clues", "numbers.csv", "-k", 3, "-q", "--raw", "--ignore", "color")
    assert run("fit", "all.csv", *options).code == 0
    assert run("fit", "texts/", *options, "--out", "texts/new").code == 0
    found = clusters("texts/new")
    assert found["row"].to_list() == list(range(400))
    assert found["cluster"].to_list() == tables.read("all-clusters.csv").columns["cluster"].tolist()


def test_other_methods_than_cluewise_work_on_grains(room, run):
    answer = run(
        "fit", "rows-*.parquet", "--clues", "clues.csv", "--method", "E2CP", "--columns", "a,b", "--save", "m.cw"
    )
    assert answer.code == 0, answer.err
    assert answer.out.startswith("E2CP on 400 grains: 400 rows of rows-*.parquet (4 parts) in 3 clusters, by 2 columns")
    assert run("predict", "m.cw", "all.parquet", "-q").code == 0
    found = pl.read_csv("all-clusters.csv")["cluster"].to_numpy()
    assert np.mean(found == clusters("rows-clusters")["cluster"].to_numpy()) > 0.95  # clues divide grains


def test_new_clues_for_rows_in_parts(room, run):
    frame, y = make_rows()
    cw.Clues.sample(y, pairs=30, labels=3, random_state=1).write("more.csv", ids=frame["id"].to_list())
    assert run("fit", "rows-*.parquet", "--clues", "clues.csv", "-k", 3, "--save", "model.cw", "-q").code == 0
    before = clusters("rows-clusters")["cluster"].to_list()
    answer = run("update", "model.cw", "rows-*.parquet", "--clues", "more.csv")
    assert answer.code == 0, answer.err
    assert "Written: rows-clusters-2, model.cw." in answer.out
    found = clusters("rows-clusters-2")["cluster"].to_numpy()
    assert cw.metrics.ari(before, found) > 0.9
    assert np.mean(before == found) > 0.9  # clusters keep their ids
    model, sections = cw.models.read("model.cw")
    assert len(model.clues_.must) + len(model.clues_.cannot) > 60
    assert sorted(sections["clusters"]) == [0, 1, 2]
    kept = Path("model.cw").read_bytes()
    again = run("update", "model.cw", "rows-*.parquet", "--clues", "more.csv")
    assert (again.code, again.err) == (2, "cluewise: 'model.cw' has all clues of 'more.csv' already.\n")
    frame[300:].with_columns(a=pl.col("a") + (pl.int_range(100) == 99)).write_parquet("rows-3.parquet")
    cw.Clues.sample(y, pairs=5, random_state=2).write("last.csv", ids=frame["id"].to_list())
    other = run("update", "model.cw", "rows-*.parquet", "--clues", "last.csv")
    assert (other.code, other.out) == (2, "")
    assert "is not what 'model.cw' was fitted to: column 'a' differs from that of the fit." in other.err
    assert Path("model.cw").read_bytes() == kept
    assert not Path("rows-clusters-3").exists()
    assert "--follow is not for rows in parts" in run("update", "model.cw", "rows-*.parquet", "--follow").err
    assert "takes the clues of a file: --clues FILE." in run("update", "model.cw", "rows-*.parquet").err
    assert "--scheduler is for rows in parts" in run("update", "model.cw", "all.parquet", "--scheduler", "x").err


def test_clues_that_the_model_has_from_elsewhere_count_once_more_but_only_once(room, run):
    """The rows of a link, a label and a group are also in the clues of the fit."""
    Path("first.csv").write_text("a,b,kind\nr1,r2,must\nr3,red,label\nr5,g,together\nr6,g,together\n", "utf-8")
    Path("more.csv").write_text("a,b,kind\nr1,r2,must\nr3,red,label\n", "utf-8")
    assert run("fit", "rows-*.parquet", "--clues", "first.csv", "-k", 3, "--save", "model.cw", "-q").code == 0
    update = "update", "model.cw", "rows-*.parquet", "--clues"
    assert "1 must-link" in run(*update, "more.csv").out
    for name in ("first.csv", "more.csv"):
        assert run(*update, name).err == f"cluewise: 'model.cw' has all clues of '{name}' already.\n"


def test_a_saved_model_finds_the_same_clusters(room, run):
    assert run("fit", "rows-*.parquet", "--clues", "clues.csv", "--save", "model.cw", "-q", "--columns", "c").code == 0
    assert run("predict", "model.cw", "all.parquet", "-q").code == 0
    found = pl.read_csv("all-clusters.csv")
    known = clusters("rows-clusters")["cluster"]
    assert (found["cluster"].to_numpy() == known.to_numpy()).mean() > 0.99  # rows with clues may differ
    assert "name" in found.columns
    answer = run("update", "model.cw", "all.parquet", "--clues", "clues.csv")
    said = "'model.cw' was fitted to rows in chunks, which are not here; fit again with all clues."
    assert (answer.code, answer.err) == (2, f"cluewise: {said}\n")
    answer = run("fit", "all.parquet", "--keep-ids", "model.cw")
    assert (answer.code, answer.err) == (
        2,
        "cluewise: 'model.cw' was fitted to rows in parts, so it has no rows for --keep-ids.\n",
    )


@pytest.mark.parametrize(
    ("method", "rows"),
    [
        ("Cluewise", "all.parquet"),
        ("Cluewise", "rows-*.parquet"),
        ("E2CP", "rows-*.parquet"),
        ("DPMeans", "all.parquet"),
    ],
)
def test_predictions_for_parts_are_those_for_one_file(room, run, monkeypatch, method, rows):
    """By models of one file and of parts, which read dask arrays themselves or not."""
    monkeypatch.setattr(parts, "CHUNK", 8 * 5 * 70)
    options = ("--method", method, "--ignore", "color", "--save", "model.cw", "-q")
    count = () if method == "DPMeans" else ("-k", 3)
    out = "fitted.csv" if rows == "all.parquet" else "fitted"
    assert run("fit", rows, "--clues", "clues.csv", *count, *options, "--out", out).code == 0
    answer = run("predict", "model.cw", "all.parquet", "--json")
    one = json.loads(answer.out)
    answer = run("predict", "model.cw", "rows-*.parquet", "--json")
    assert answer.code == 0, answer.err
    several = json.loads(answer.out)
    assert several.pop("data") == "rows-*.parquet (4 parts)"
    assert several.pop("output") == {"--out": "rows-clusters"}
    assert several == {key: value for key, value in one.items() if key not in ("data", "output")}
    own, found = pl.read_csv("all-clusters.csv"), clusters("rows-clusters")
    assert found.columns == ["id", "cluster"]
    assert found["id"].to_list() == own["id"].to_list()
    assert found["cluster"].to_list() == own["cluster"].to_list()
    assert [len(pl.read_parquet(f"rows-clusters/rows-{number}.parquet")) for number in range(4)] == [150, 0, 150, 100]
    assert not [name for name in room.iterdir() if name.name.startswith(".")]


@pytest.mark.parametrize(("kind", "place"), [("parquet", "row 390"), ("csv", "line 392")])
def test_a_cell_that_is_no_number_is_named_by_its_place_in_the_file(room, run, monkeypatch, kind, place):
    frame, _ = make_rows()
    assert run("fit", "all.parquet", "-k", 3, "--columns", "a,b", "--save", "model.cw", "-q").code == 0
    (room / "next").mkdir()
    odd = frame.with_columns(pl.Series("a", [*map(str, frame["a"][:390]), "oops", *map(str, frame["a"][391:])]))
    getattr(odd, f"write_{kind}")(f"next/part-0.{kind}")
    monkeypatch.setattr(parts, "CHUNK", 8 * 5 * 100)  # four chunks, if rows can be read by stretches
    answer = run("predict", "model.cw", "next", "--out", "next-clusters")
    assert f"column 'a' of part-0.{kind} ({place}: 'oops') counts as missing" in answer.err


def test_the_summary_of_a_prediction_for_parts(room, run):
    """Rows without ids have numbers; new columns are named, and ids need not be called as in the fit."""
    frame = make_rows()[0]
    assert run("fit", "all.parquet", "-k", 3, "--columns", "a,b", "--save", "model.cw", "-q").code == 0
    (room / "next").mkdir()
    for number in range(2):
        frame[:40].select("a", "b", pl.col("c").alias("new")).write_csv(f"next/part-{number}.csv")
    answer = run("predict", "model.cw", "next/", "--out", "next-clusters")
    assert answer.out.startswith("Cluewise of model.cw: 80 rows of next (2 parts).\n")
    assert answer.out.endswith("Written: next-clusters.\n")
    assert answer.err == "cluewise: warning: next has columns that the fit has not seen, which are not used: 'new'.\n"
    assert clusters("next-clusters")["row"].to_list() == list(range(80))
    frame[:40].rename({"id": "who"}).write_csv("next/part-0.csv")
    frame[40:60].rename({"id": "who"}).write_csv("next/part-1.csv")
    assert run("predict", "model.cw", "next", "--id", "who", "--out", "named", "-q").code == 0
    assert clusters("named")["who"].to_list() == frame["id"].to_list()[:60]


def test_what_predictions_for_parts_refuse(room, run):
    cw.save(cw.PCKMeans(2, random_state=0).fit(make_rows()[0].select("a", "b").to_numpy()), "python.cw")
    assert run("fit", "all.parquet", "-k", 3, "--columns", "a,b", "--save", "model.cw", "-q").code == 0
    put("other-0.parquet", a=[1.0], z=[1.0])
    before = sorted(room.iterdir())
    folder = "rows in parts are written into a folder; leave the suffix out."
    said = {
        "python.cw rows-*.parquet": "'python.cw' does not say how files become rows; save it by cluewise fit --save.",
        "model.cw other-*.parquet": "other-*.parquet has no column 'b', which the model was fitted to.",
        "model.cw rows-*.parquet --id who": "rows-*.parquet has no column 'who'.",
        "model.cw rows-*.parquet --out out.csv": f"--out 'out.csv': {folder}",
        "model.cw rows-*.parquet --sheet x": "--sheet is not for rows in parts; leave it out.",
        "model.cw rows-*.parquet --raw-cells": "--raw-cells is not for rows in parts; leave it out.",
        "model.cw all.parquet --scheduler x": BAD["a scheduler for one file"][2],
        "model.cw cols-*.parquet": "no file matches 'cols-*.parquet'.",
    }
    for words, sentence in said.items():
        answer = run("predict", *words.split())
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.splitlines()[-1] == f"cluewise: {sentence}"
        assert sorted(room.iterdir()) == before


def test_a_sample_decides_about_the_columns(room, monkeypatch):
    monkeypatch.setattr(parts, "SAMPLE", 50)
    with parts.on_scheduler(None, None):
        opened = parts.open_parts(Path("rows-*.parquet"), id_column=None, columns=None, ignore=["color"], kinds=None)
        X, rows = opened.encode(raw=False)
        assert len(opened.sample) == 50
        assert X.chunks == ((150, 150, 100), (3,))
        assert X.dtype == np.float64
        assert opened._replace(columns=["c"]).encode(raw=False)[0].dtype == np.float32
        frame = make_rows()[0].select("a", "b", "c")
        np.testing.assert_array_equal(X.compute(), rows.transform(frame))
    assert opened.sample.where(49) == f"row {opened.sample.numbers[49]}"


# --- one sentence -----------------------------------------------------------------------------------------------------


def put(name, **columns):
    pl.DataFrame(columns).write_parquet(name)


def cut(name):
    Path(name).write_bytes(Path("rows-0.parquet").read_bytes()[:-200])


BAD = {
    "nothing matches": (lambda: None, ["cols-*.parquet"], "no file matches 'cols-*.parquet'."),
    "an empty folder": (lambda: Path("sub").mkdir(), ["sub"], "the folder 'sub' holds no Parquet or CSV file."),
    "a folder in a pattern": (
        lambda: Path("rows-x").mkdir(), ["rows-*"], "'rows-x', which matches 'rows-*', is a folder, not a file."
    ),
    "another format": (
        lambda: Path("rows-9.json").touch(), ["rows-*"],
        "'rows-9.json' is not a Parquet or CSV file; rows in parts are read from these only.",
    ),
    "a column is missing": (
        lambda: put("rows-7.parquet", id=["s"], a=[1.0], b=[1.0], color=["red"]), ["rows-*.parquet"],
        "rows-7.parquet has no column 'c', which rows-0.parquet has.",
    ),
    "a column is new": (
        lambda: put("rows-7.parquet", id=["s"], a=[1.0], b=[1.0], c=[1.0], color=["red"], d=[1]), ["rows-*.parquet"],
        "rows-0.parquet has no column 'd', which rows-7.parquet has.",
    ),
    "a column of another kind": (
        lambda: put("rows-7.parquet", id=["s"], a=["x"], b=[1.0], c=[1.0], color=["red"]), ["rows-*.parquet"],
        "column 'a' is a number in rows-0.parquet, but of type String in rows-7.parquet.",
    ),
    "a broken part": (
        lambda: cut("rows-7.parquet"), ["rows-*.parquet"], "rows-7.parquet cannot be read; is it cut off or damaged?"
    ),
    "a part without a byte": (
        lambda: Path("rows-7.parquet").touch(), ["rows-*.parquet"],
        "rows-7.parquet cannot be read; is it cut off or damaged?",
    ),
    "no rows at all": (lambda: None, ["rows-1*.parquet"], "rows-1*.parquet has no rows."),
    "an id twice": (
        lambda: put("rows-7.parquet", id=["r0"], a=[1.0], b=[1.0], c=[1.0], color=["red"]), ["rows-*.parquet"],
        "rows-*.parquet row 400: id 'r0' is already the id of row 0.",
    ),
    "an unknown row": (
        lambda: Path("clues.csv").write_text("a,b,kind\nr1,r999,must\n"), ["rows-*.parquet", "--clues", "clues.csv"],
        "clues.csv line 2: no row is called 'r999'.",
    ),
    "an unknown number": (
        lambda: (put("cols-0.parquet", x=[1.0, 2.0]), Path("clues.csv").write_text("a,b,kind\n0,2,must\n")),
        ["cols-*.parquet", "--clues", "clues.csv"],
        "clues.csv line 2: there is no row 2; there are 2, counted from 0.",
    ),
    "an unknown column": (
        lambda: None, ["rows-*.parquet", "--columns", "a,colour"],
        "rows-*.parquet has no column 'colour'; did you mean 'color'?",
    ),
    "an unknown column to ignore": (
        lambda: None, ["rows-*.parquet", "--ignore", "z"], "rows-*.parquet has no column 'z'."
    ),
    "a kind of no column": (
        lambda: None, ["rows-*.parquet", "--as", "z:number"],
        "--as: 'z' is not one of the columns of rows-*.parquet to cluster by.",
    ),
    "no clues": (
        lambda: Path("clues.csv").write_text("a,b,kind\n"), ["rows-*.parquet", "--clues", "clues.csv"],
        "clues.csv holds no clues; leave --clues out to do without.",
    ),
    "a folder that exists": (
        lambda: Path("rows-clusters").mkdir(), ["rows-*.parquet"],
        "'rows-clusters' is there already; remove it, or choose another folder with --out.",
    ),
    "a file as output": (
        lambda: None, ["rows-*.parquet", "--out", "out.csv"],
        "--out 'out.csv': rows in parts are written into a folder; leave the suffix out.",
    ),
    "no place for the output": (
        lambda: None, ["rows-*.parquet", "--out", "nowhere/out"],
        "'nowhere/out' cannot be written: there is no folder 'nowhere'.",
    ),
    "a picture": (
        lambda: None, ["rows-*.parquet", "--map", "map.png"], "--map is not for rows in parts; leave it out."
    ),
    "a page": (
        lambda: None, ["rows-*.parquet", "--report", "page.html"],
        "a page needs all rows in memory; for rows in parts, --report writes JSON.",
    ),
    "a search": (
        lambda: None, ["rows-*.parquet", "--auto", "--method", "PCKMeans,E2CP"],
        "--auto with --method is not for rows in parts; leave one of them out.",
    ),
    "a scheduler for one file": (
        lambda: None, ["all.parquet", "--scheduler", "tcp://127.0.0.1:1"],
        "--scheduler is for rows in parts: a folder, or a pattern such as 'rows-*.parquet'.",
    ),
    "the same name twice": (
        lambda: Path("rows-0.csv").touch(), ["rows-0*"],
        "'rows-0.csv' and 'rows-0.parquet' would have the same name in the output.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_one_sentence_about_bad_input(case, room, run):
    prepare, words, sentence = BAD[case]
    prepare()
    before = sorted(room.iterdir())
    if case == "an id twice":
        words = [*words, "--clues", "clues.csv"]
    answer = run("fit", *words)
    assert (answer.code, answer.out, answer.err) == (2, "", f"cluewise: {sentence}\n")
    assert sorted(room.iterdir()) == before


@pytest.mark.parametrize(("command", "takes"), [("fit", True), ("check", False), ("compare", False), ("ask", False)])
def test_the_help_promises_rows_in_parts_where_they_are_taken(room, run, command, takes):
    assert ("rows-*.parquet" in run(command, "--help").out) == takes
    assert (run(command, "rows-*.parquet", "--clues", "clues.csv", "-k", 3).code == 0) == takes


def test_a_contradiction_names_rows_by_their_ids(room, run):
    Path("clues.csv").write_text("a,b,kind\nr1,r2,must\nr2,r3,must\nr1,r3,cannot\n")
    answer = run("fit", "rows-*.parquet", "--clues", "clues.csv", "--method", "COPKMeans", "-k", 2)
    assert answer.code == 2
    assert answer.err.endswith("(row 1 is 'r1', row 2 is 'r2', row 3 is 'r3').\n")
    assert not Path("rows-clusters").exists()


def test_more_rows_than_clues_can_number(room, run, monkeypatch):
    monkeypatch.setattr(parts, "MOST", 399)
    answer = run("fit", "rows-*.parquet")
    assert answer.err == "cluewise: rows-*.parquet has more than 399 rows, which is all that clues can number.\n"


def test_without_dask(room, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    answer = run("fit", "rows-*.parquet")
    assert (answer.code, answer.err) == (2, f"cluewise: rows in parts need dask: {install('dask')}.\n")


def test_an_error_at_the_end_leaves_no_output(room, run, monkeypatch):
    def fail(folder, part, *_):
        if part.name == "rows-3.parquet":
            raise tables.FileError("'rows-clusters' cannot be written: no space left on device.")

    monkeypatch.setattr(parts, "write_part", fail)
    before = sorted(room.iterdir())
    answer = run("fit", "rows-*.parquet", "--columns", "c", "--save", "model.cw", "-k", 2)
    assert answer.err == "cluewise: 'rows-clusters' cannot be written: no space left on device.\n"
    assert sorted(room.iterdir()) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
def test_a_signal_leaves_no_output(room, number):
    """While the files are read and clusters are written into a hidden folder."""
    more = make_rows(500_000)[0].with_columns(pl.format("more-{}", "id").alias("id"))
    more.write_parquet("rows-4.parquet")  # so that the fit takes some seconds
    before = sorted(room.iterdir())
    command = [sys.executable, "-m", "cluewise", "fit", "rows-*.parquet", "--save", "model.cw", "-q"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not list(room.glob(".cluewise-*")) and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.5)  # somewhere in the fit, or in the imports that it begins with
        process.send_signal(number)
        _, said = process.communicate()
    assert (process.returncode, said) == (130, "cluewise: interrupted; no file is half-written.\n")
    assert sorted(room.iterdir()) == before


def test_a_part_that_changes_while_it_is_read(room):
    part = files.look_into("rows-0.parquet")
    make_rows()[0][:10].write_parquet("rows-0.parquet")
    with pytest.raises(tables.TableError, match=r"rows-0\.parquet has changed while it was read"):
        files.read_rows(part, ["a"], 0, 150)
    make_rows()[0].write_csv("rows.csv")
    part = files.look_into("rows.csv")
    make_rows()[0][:10].write_csv("rows.csv")
    with pytest.raises(tables.TableError, match=r"rows\.csv has changed while it was read"):
        files.read_rows(part, ["a"], 0, 150)


def test_a_folder_that_comes_in_the_meantime_stays(tmp_path):
    folder = files.new_folder(tmp_path / "out")
    (folder.__enter__() / "part").touch()
    (tmp_path / "out").mkdir()
    with pytest.raises(tables.FileError, match="is there already"):
        folder.__exit__(None, None, None)
    assert [path.name for path in tmp_path.rglob("*")] == ["out"]


# --- progress, and a cluster ------------------------------------------------------------------------------------------


def test_progress_counts_chunks_and_passes(room, run, monkeypatch):
    seen = []

    class Bar(_progress.ChunkBar):
        def __exit__(self, *given):
            seen.append((self.chunks, self.seen, self.progress.tasks[0].description))
            super().__exit__(*given)

    monkeypatch.setattr(_progress, "ChunkBar", Bar)
    monkeypatch.setattr(_show, "is_watched", lambda: True)
    assert run("fit", "rows-*.parquet", "--columns", "c", "-k", 2).code == 0
    [(chunks, count, words)] = seen
    assert chunks == 3
    assert count >= 4 * chunks  # to check, to draw, to add up, to label
    assert words == f"Pass {count // 3}, chunk 3 of 3"


def test_on_a_cluster_the_clusters_are_the_same(room, run, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(parts, "CHUNK", 8 * 5 * 70)
    options = ("--clues", "clues.csv", "-k", 3, "-q")
    cw.Clues.sample(make_rows()[1], pairs=30, random_state=1).write("more.csv", ids=make_rows()[0]["id"].to_list())
    assert run("fit", "rows-*.parquet", *options, "--out", "here", "--save", "here.cw").code == 0
    updated = ("update", "here.cw", "rows-*.parquet", "--clues", "more.csv", "-q", "--out", "here-updated")
    assert run(*updated).code == 0
    assert run("predict", "here.cw", "rows-*.parquet", "-q", "--out", "here-predicted").code == 0
    watched = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        answer = run("fit", "rows-*.parquet", *options, "--out", "there", "--save", "there.cw", "--scheduler", address)
        assert (answer.code, answer.err) == (0, "")
        for words in (("update", "there.cw", "--clues", "more.csv"), ("predict", "there.cw")):
            answer = run(*words[:2], "rows-*.parquet", *words[2:], "-q", "--out", words[0], "--scheduler", address)
            assert (answer.code, answer.err) == (0, "")
        with parts.on_scheduler(address, lambda: watched.append(1)):
            opened = parts.open_parts(Path("rows-*.parquet"), id_column=None, columns="c", ignore=[], kinds=None)
            opened.encode(raw=False)[0].sum().compute()
        with Client(cluster) as client:
            assert not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
    assert clusters("there").equals(clusters("here"))
    assert clusters("update").equals(clusters("here-updated"))
    assert clusters("predict").equals(clusters("here-predicted"))
    assert len(watched) == len(opened.pieces)
    monkeypatch.setattr(parts, "PATIENCE", 0.5)
    answer = run("fit", "rows-*.parquet", "--scheduler", address)
    assert answer.code == 2
    assert answer.err.startswith(f"cluewise: no scheduler answers at '{address}' (Timed out")
    assert answer.err.count("\n") == 1


def test_a_cluster_without_workers_is_one_sentence(room, run, monkeypatch):
    """Dask would wait forever: at the first look at the files, before any pass of a fit."""
    from distributed import LocalCluster

    monkeypatch.setattr(_dask, "GLANCE", 0.1)
    monkeypatch.setattr(_dask, "PATIENCE", 0.5)
    before = sorted(room.iterdir())
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster:
        answer = run("fit", "rows-*.parquet", "--scheduler", cluster.scheduler_address)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("cluewise: the dask cluster has had no workers for 0.5 seconds; start some")
    assert answer.err.count("\n") == 1
    assert sorted(room.iterdir()) == before


def test_workers_that_die_are_one_sentence(room, run, monkeypatch):
    from distributed import LocalCluster

    class KilledWorker(Exception):
        """Of the same name as dask's."""

    def fail(client, tasks):
        raise KilledWorker

    monkeypatch.setattr(_dask, "_wait", fail)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster:
        answer = run("fit", "rows-*.parquet", "--scheduler", cluster.scheduler_address)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(
        "cluewise: several workers in a row ended while they worked on the same chunk of rows;"
    )
    assert answer.err.count("\n") == 1
