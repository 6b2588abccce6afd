"""``cluewise fit --save``, ``cluewise predict``, ``cluewise fit --keep-ids``: next month's rows, the same clusters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cluewise as cw
from cluewise import models, tables
from cluewise.cli._cards import load_methods

FIT = ("fit", "data.csv", "--ignore", "color", "-k", 2)
NEXT = "color,width,id,length\npink,9.15,ash,9\nred,0.15,phlox,0.1\n"
NAMES = (
    "id,length,width,kind\nrose,0,0.1,flower\nlily,0.2,0,\niris,0.1,0.2,\noak,9,9.1,tree\nelm,9.2,9,\nfir,9.1,9.2,\n"
)


def column(path, name="cluster"):
    table = tables.read(path)
    return dict(zip(table.columns["id"].tolist(), table.columns[name].tolist()))


@pytest.mark.parametrize("method", ["Cluewise", "PCKMeans", "EquivalenceGMM"])
def test_new_rows_get_the_cluster_of_rows_like_them(run, write, method):
    write("next.csv", NEXT)
    answer = run(*FIT, "--save", "model.cw", "--method", method)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.endswith("Written: data-clusters.csv, model.cw.\n")
    answer = run("predict", "model.cw", "next.csv", "-o", "out.csv")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"{method} of model.cw: 2 rows of next.csv.\n")
    assert answer.out.endswith("Written: out.csv.\n")
    before, after = column("data-clusters.csv"), column("out.csv")
    assert (after["ash"], after["phlox"]) == (before["oak"], before["rose"])
    assert list(tables.read("out.csv").columns)[:5] == ["color", "width", "id", "length", "cluster"]


def test_the_rows_of_the_fit_get_the_same_clusters_and_margins(run, folder):
    run(*FIT, "--save", "model.cw", "--clues", "clues.csv")
    run("predict", "model.cw", "data.csv", "--out", "again.csv", "--quiet")
    assert (folder / "again.csv").read_text() == (folder / "data-clusters.csv").read_text()


def test_columns_are_prepared_as_in_the_fit(run, write):
    # Standardized by its own mean the single row would be at the origin, where clusters meet.
    write("one.csv", "id,length,width\nash,9.4,9.4\n")
    for raw in ([], ["--raw"]):
        run(*FIT, "--save", "model.cw", *raw, "--method", "PCKMeans")
        run("predict", "model.cw", "one.csv")
        assert column("one-clusters.csv")["ash"] == column("data-clusters.csv")["oak"]


def test_clusters_are_named_after_labels_and_keep_the_name(run, write):
    write("data.csv", NAMES)
    write("next.csv", "id,length,width\nash,9,9.15\n")
    out = run("fit", "data.csv", "--label-column", "kind", "--save", "model.cw").out
    assert "flower" in out
    assert column("data-clusters.csv", "name")["fir"] == "tree"
    found = json.loads(run("predict", "model.cw", "next.csv", "--json").out)
    assert column("next-clusters.csv", "name") == {"ash": "tree"}
    number = str(column("next-clusters.csv")["ash"])
    assert (found["sizes"], found["names"][number]) == ({number: 1}, "tree")
    assert (found["rows"], found["method"], found["data"]) == (1, "Cluewise", "next.csv")


def test_ids_and_names_are_kept_by_overlap_of_named_rows(run, write):
    write("data.csv", NAMES)
    run("fit", "data.csv", "--label-column", "kind", "--save", "march.cw")
    before = column("data-clusters.csv")
    # Other rows, in another order, with a third cluster, without labels, by another method.
    write(
        "april.csv",
        "id,length,width\nelm,9.2,9\nfir,9.1,9.2\nash,9,9\nlily,0.2,0\niris,0.1,0.2\nkelp,-50,90\nmoss,-51,91\n",
    )
    for method in ("PCKMeans", "ConstrainedAgglomerative", "Cluewise"):
        answer = run("fit", "april.csv", "-k", 3, "--method", method, "--keep-ids", "march.cw", "--report", "r.json")
        assert answer.code == 0
        after, names = column("april-clusters.csv"), column("april-clusters.csv", "name")
        assert after["elm"] == after["ash"] == before["oak"]
        assert after["lily"] == before["rose"]
        assert after["kelp"] == after["moss"] == 2
        assert (names["ash"], names["iris"], names["kelp"]) == ("tree", "flower", "")
        facts = json.loads(Path("r.json").read_text())
        assert sorted(facts["ids"]) == [0, 1, 2]
        assert facts["names"] == {str(before["rose"]): "flower", str(before["oak"]): "tree"}


def test_ids_are_never_used_again(run, write):
    write("data.csv", "id,x\na,0\nb,1\nc,50\nd,51\n")
    run("fit", "data.csv", "-k", 2, "--save", "m.cw", "--method", "PCKMeans")
    write("data.csv", "id,x\na,0\nb,1\ne,-90\nf,-91\n")
    run("fit", "data.csv", "-k", 2, "--save", "m.cw", "--method", "PCKMeans", "--keep-ids", "m.cw")
    second = column("data-clusters.csv")
    assert second["e"] == second["f"] == 2
    write("data.csv", "id,x\na,0\nb,1\ng,700\nh,701\n")
    run("fit", "data.csv", "-k", 2, "--save", "m.cw", "--method", "PCKMeans", "--keep-ids", "m.cw")
    third = column("data-clusters.csv")
    assert (third["a"], third["g"]) == (second["a"], 3)
    write("next.csv", "id,x\ni,699\n")
    run("predict", "m.cw", "next.csv")
    assert column("next-clusters.csv") == {"i": 3}


def test_rows_without_names_are_matched_by_position(run, write):
    write("a.csv", "x,y\n0,0\n1,0\n9,9\n9,8\n")
    write("b.csv", "x,y\n0,0\n1,0\n9,9\n9,8\n0,1\n")
    run("fit", "a.csv", "-k", 2, "--save", "a.cw")
    for seed in range(3):
        run("fit", "b.csv", "-k", 2, "--method", "PCKMeans", "--seed", seed, "--keep-ids", "a.cw")
        old, new = (tables.read(f"{name}-clusters.csv").columns["cluster"].tolist() for name in "ab")
        assert new == [*old, old[0]]


def test_it_says_when_no_row_is_known(run, write):
    run(*FIT, "--save", "model.cw")
    write("data.csv", "id,length,width\na,0,0\nb,9,9\n")
    answer = run("fit", "data.csv", "-k", 2, "--keep-ids", "model.cw")
    assert "no row is in 'model.cw' by name, so every cluster is new." in answer.err
    assert set(column("data-clusters.csv").values()) == {2, 3}


def test_a_model_that_was_saved_in_python_predicts_too(run, write):
    X = np.array([[0.0, 0.1], [0.2, 0.0], [9.0, 9.1], [9.2, 9.0]])
    model = cw.PCKMeans(2, random_state=0).fit(X)
    cw.save(model, "model.cw")
    write("next.csv", "id,length,width\nash,9,9.15\nphlox,0.1,0.1\n")
    run("predict", "model.cw", "next.csv")
    assert column("next-clusters.csv") == {"ash": model.labels_[2], "phlox": model.labels_[0]}
    write("wide.csv", "a,b,c\n1,2,3\n")
    answer = run("predict", "model.cw", "wide.csv")
    assert (answer.code, "3 features" in answer.err) == (2, True)


def test_every_method_can_be_saved_and_those_that_predict_do(run, write):
    write("data.csv", "id,a,b\n" + "".join(f"r{i},{1 + i % 7},{2 + 30 * (i % 2)}\n" for i in range(24)))
    for name in ("COPKMeans", "ConstrainedAgglomerative"):
        answer = run("fit", "data.csv", "-k", 2, "--method", name, "--save", "model.cw")
        assert answer.code == 0
        predicts = load_methods()[name].card.predicts
        warned = f"{name} does not predict: the saved model serves --keep-ids, but not `cluewise predict`."
        assert (warned in answer.err) == (not predicts)
        answer = run("predict", "model.cw", "data.csv", "-o", "out.csv")
        if predicts:
            assert column("out.csv") == column("data-clusters.csv")
        else:
            assert (answer.code, answer.out) == (2, "")
            assert answer.err == f"cluewise: {name} in 'model.cw' does not predict; `cluewise list` shows who does.\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["predict", "none.cw", "data.csv"], "there is no file 'none.cw'."),
        (["predict", "data.csv", "data.csv"], "'data.csv' is not a saved model;"),
        (["predict", "model.cw", "none.csv"], "there is no file 'none.csv'."),
        (["predict", "model.cw", "other.csv"], "other.csv has none of the columns that the model was fitted to."),
        (["predict", "model.cw", "next.csv", "-o", "next.csv"], "--out 'next.csv' is also an input"),
        (["predict", "model.cw", "next.csv", "-o", "model.cw"], "'model.cw' has none of the suffixes"),
        (["predict", "model.cw"], "Missing argument 'DATA'"),
        (["fit", "data.csv", "--ignore", "color", "--keep-ids", "clues.csv"], "'clues.csv' is not a saved model;"),
        (["fit", "data.csv", "--ignore", "color", "--save", "data.csv"], "--save 'data.csv' is also an input"),
        (["fit", "data.csv", "--ignore", "color", "--save", "nowhere/m.cw"], "there is no folder"),
    ],
)
def test_bad_input_is_answered_in_one_sentence(run, write, folder, words, sentence):
    write("next.csv", NEXT)
    write("other.csv", "id,weight\nash,1\n")
    run(*FIT, "--save", "model.cw", "--method", "PCKMeans")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    answer = run(*words)
    assert answer.code == 2
    assert sentence in answer.err
    assert answer.err.count("\n") == 1
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_fit_that_fails_leaves_the_saved_model(run, folder):
    run(*FIT, "--save", "model.cw")
    before = (folder / "model.cw").read_bytes()
    assert run("fit", "data.csv", "--ignore", "color", "-k", 99, "--save", "model.cw").code == 2
    assert (folder / "model.cw").read_bytes() == before


def test_sections_of_another_kind_are_refused(run, write):
    write("next.csv", NEXT)
    model = cw.PCKMeans(2, random_state=0).fit([[0.0, 0.0], [9.0, 9.0]])
    for sections in ({"rows": [1]}, {"row_names": "abc"}, {"clusters": None}):
        models.write("odd.cw", model, sections)
        answer = run("predict", "odd.cw", "next.csv")
        assert (answer.code, "its sections are of another kind" in answer.err) == (2, True)


def test_gaps_and_words_do_not_stop_a_prediction(run, write):
    run(*FIT, "--save", "model.cw", "--method", "PCKMeans")
    for name, text, sentence in (
        ("short.csv", "id,width\nash,9\n", "short.csv has no column 'length', which the fit used;"),
        ("words.csv", "id,length,width\nash,long,9\n", "of words.csv (line 2: 'long') counts as missing"),
    ):
        write(name, text)
        answer = run("predict", "model.cw", name)
        assert (answer.code, sentence in answer.err) == (0, True)


def test_what_is_saved_with_a_model(run, folder):
    run(*FIT, "--save", "model.cw", "--id", "id")
    sections = models.read("model.cw").sections
    assert sections["row_names"] == ["rose", "lily", "iris", "oak", "elm", "fir"]
    kept = sections["rows"]
    assert (kept["plan"]["names"], kept["id_column"]) == (["length", "width"], "id")
    assert kept["table"] == ["id", "length", "width", "color"]
    assert sections["clusters"] == {}
