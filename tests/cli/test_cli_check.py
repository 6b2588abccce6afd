"""cluewise check: the doctor's page."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from cluewise import Clues, PCKMeans, tables
from cluewise.advice import check
from cluewise.datasets import load
from cluewise.rows.balance import standardize


@pytest.fixture
def wine(folder):
    """wine.csv, pairs.csv with 60 pairs; the rows."""
    data = load("wine")
    tables.write("wine.csv", {f"c{j}": data.X[:, j].tolist() for j in range(data.X.shape[1])})
    clues = Clues.sample(data.y, pairs=60, random_state=0)
    lines = [f"{a},{b},{kind}" for kind in ("must", "cannot") for a, b in getattr(clues, kind)]
    (folder / "pairs.csv").write_text("\n".join(lines), "utf-8")
    return np.asarray(data.X)


def test_the_page_is_that_of_the_library(run, wine):
    X = wine
    answer = run("check", "wine.csv", "--clues", "pairs.csv", "-k", 3, "--method", "PCKMeans", "--seed", 5)
    assert (answer.code, answer.err) == (0, "")
    read = Clues.read("pairs.csv", n=178)
    assert answer.out == f"{check(read, standardize(X), estimator=PCKMeans(3, random_state=5), random_state=5)}\n"
    assert "PCKMeans was tried. The clusters hardly change in this trial." in answer.out
    raw = run("check", "wine.csv", "--clues", "pairs.csv", "-k", 3, "--method", "PCKMeans", "--seed", 5, "--raw")
    assert raw.out == f"{check(read, X, estimator=PCKMeans(3, random_state=5), random_state=5)}\n"
    assert raw.out != answer.out


def test_the_page_for_machines(run, wine):
    told = json.loads(run("check", "wine.csv", "--clues", "pairs.csv", "-k", 3, "--method", "COPKMeans", "--json").out)
    assert told["method"] == "COPKMeans"
    assert 0 <= told["harm"] <= 1
    assert told["harmful"] in (True, False)
    assert told["recommendation"] in ("use", "soften", "leave", "ask")
    assert told["trial"]["splits"] == 10
    assert told["clashes"][0]["sources"][0].startswith("pairs.csv:")
    assert len(told["clashes"][0]["must"]) == 2
    assert told["component_sizes"]["2"] > 0
    assert {"coverage", "redundancy", "degeneracy", "informativeness", "coherence", "agreement"} <= set(told)


def test_without_a_number_of_clusters_it_is_found(run, wine):
    told = json.loads(run("check", "wine.csv", "--clues", "pairs.csv", "--json").out)
    assert (told["clusters"], told["method"]) == (None, "Cluewise")
    assert told["trial"]["rows"] == 178
    assert 0.5 < told["trust"] == told["trial"]["trust"] <= 1
    assert told["coherence"] is not None


def test_labels_tell_the_number_of_clusters(run, folder):
    answer = run("check", "data.csv", "--label-column", "color", "--id", "id")
    assert answer.code == 0
    told = json.loads(run("check", "data.csv", "--label-column", "color", "--json").out)
    assert (told["clusters"], told["method"]) == (4, "Cluewise")


def test_rows_of_clashes_and_repairs_are_named(run, write):
    rows = [f"r{i},{i % 2 * 9 + i / 100},{i / 50}" for i in range(40)]
    write("named.csv", "id,a,b\n" + "\n".join(rows) + "\n")
    lies = [f"r{i},r{i + 1},must" for i in range(0, 20, 2)] + [f"r{i},r{i + 4},cannot" for i in range(16)]
    write("lies.csv", "\n".join(lies) + "\n")
    out = run("check", "named.csv", "--clues", "lies.csv", "-k", 2, "--id", "id").out
    shown = out.split("Clues that clash most:\n")[1].split("\n\n")[0]
    told = out.splitlines()[-1]
    for row in {int(row) for row in re.findall(r"\b(\d+) – ", shown) + re.findall(r" – (\d+)", shown)}:
        assert f"ow {row} is 'r{row}'" in told
    write("odd.csv", "\n".join(f"r{i},r{i + 1},{kind}" for i in range(0, 30, 2) for kind in ("must", "cannot")))
    told = run("check", "named.csv", "--clues", "odd.csv", "--id", "id").out.splitlines()[-1]
    assert told.startswith("(Row 0 is 'r0', row 1 is 'r1', row 2 is 'r2'")


def test_one_class_says_nothing_about_the_number_of_clusters(run, folder, write):
    write("one.csv", "rose,x,label\nlily,x,label\n")
    answer = run("check", "data.csv", "--ignore", "color", "--clues", "one.csv")
    assert answer.code == 0
    assert "Cluewise was tried." in answer.out


def test_exit_codes(run, write):
    write("odd.csv", "rose,lily,must\nlily,iris,must\nrose,iris,cannot\n")
    odd = run("check", "data.csv", "--ignore", "color", "--clues", "odd.csv", "-k", 2)
    assert odd.code == 1
    assert "repair the 1 link named above first" in odd.out
    write("triangle.csv", "rose,lily,cannot\nlily,iris,cannot\nrose,iris,cannot\n")
    assert run("check", "data.csv", "--ignore", "color", "--clues", "triangle.csv").code == 0
    assert run("check", "data.csv", "--ignore", "color", "--clues", "triangle.csv", "-k", 2).code == 1
    assert run("check", "data.csv", "--ignore", "color", "--clues", "triangle.csv", "-k", 100).code == 0
    nothing = run("check", "data.csv", "--ignore", "color")
    assert nothing.code == 0
    assert "--label-column" in nothing.out
    assert run("check", "data.csv", "--ignore", "color", "--clues", "odd.csv", "--method", "Nobody").code == 2
