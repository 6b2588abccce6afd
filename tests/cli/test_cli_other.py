"""cluewise check, compare, list, datasets, and the frame around the commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cluewise import Clues, Cluewise, __version__, clusterers, tables
from cluewise.cli import _cards
from cluewise.datasets import available, load

CHECK = ("check", "data.csv", "--ignore", "color")


def test_check_says_that_all_is_well(run, folder):
    answer = run(*CHECK, "--clues", "clues.csv", "-k", 2)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(Clues.read("clues.csv", ids=tables.read("data.csv").columns["id"]).explain(2) + "\n")
    assert "can be satisfied with 2 clusters" in answer.out


def test_check_names_the_rows_of_a_contradiction(run, write):
    write("odd.csv", "rose,lily,must\nlily,iris,must\nrose,iris,cannot\n")
    answer = run(*CHECK, "--clues", "odd.csv")
    assert answer.code == 1
    assert "rows 0 and 2 must be apart (cannot-link, odd.csv:3)" in answer.out
    assert answer.out.endswith("(Row 0 is 'rose', row 1 is 'lily', row 2 is 'iris'.)\n")


def test_check_names_the_rows_that_need_more_clusters(run, write):
    write("odd.csv", "rose,lily,cannot\nlily,iris,cannot\nrose,iris,cannot\n")
    assert run(*CHECK, "--clues", "odd.csv", "-k", 3).code == 0
    assert run(*CHECK, "--clues", "odd.csv").code == 0
    answer = run(*CHECK, "--clues", "odd.csv", "-k", 2)
    assert answer.code == 1
    assert "Not satisfiable with 2 clusters" in answer.out
    assert "Row 0 is 'rose'" in answer.out


def test_check_for_machines(run, write):
    write("odd.csv", "rose,lily,must\nlily,iris,must\nrose,iris,cannot\nrose,oak,cannot\n")
    answer = run(*CHECK, "--clues", "odd.csv", "-k", 2, "--json")
    assert answer.code == 1
    told = json.loads(answer.out)
    assert told["satisfiable"] is False
    assert (told["rows"], told["must"], told["cannot"], told["components"], told["tied"]) == (6, 2, 2, 4, 4)
    assert told["contradictions"] == [
        {
            "rows": ["rose", "iris"],
            "kind": "cannot",
            "source": "odd.csv:3",
            "chain": [["rose", "lily", "must-link (odd.csv:1)"], ["lily", "iris", "must-link (odd.csv:2)"]],
        }
    ]
    write("even.csv", "rose,lily,cannot\nlily,iris,cannot\nrose,iris,cannot\n")
    told = json.loads(run(*CHECK, "--clues", "even.csv", "-k", 2, "--json").out)
    assert told["satisfiable"] is False
    assert "needs 3 clusters" in told["why"]
    assert json.loads(run(*CHECK, "--clues", "even.csv", "-k", 3, "--json").out)["satisfiable"] is True


def test_check_counts_all_kinds_for_machines(run, write):
    write("kinds.csv", "rose,1,avoid\noak,2,avoid\nlily,a,partition\n*,1..4,size\n")
    told = json.loads(run(*CHECK, "--clues", "kinds.csv", "--json").out)
    assert (told["avoid"], told["partitions"], told["sizes"]) == (1, 1, True)
    told = json.loads(run(*CHECK, "--clues", "clues.csv", "--json").out)
    assert (told["avoid"], told["partitions"], told["sizes"]) == (0, 0, False)


def test_check_names_ten_rows_at_most(run, folder):
    n = 30
    tables.write("many.csv", {"id": [f"r{i}" for i in range(n)], "x": list(range(n))})
    chain = "".join(f"r{i},r{i + 1},must\n" for i in range(n - 1)) + f"r0,r{n - 1},cannot\n"
    Path("chain.csv").write_text(chain, "utf-8")
    answer = run("check", "many.csv", "--clues", "chain.csv")
    assert answer.code == 1
    assert "row 8 is 'r8', row 29 is 'r29', …" in answer.out


def test_compare_prints_the_comparison(run, folder):
    answer = run("compare", "data.csv", "--truth", "color", "--clues", "clues.csv", "-k", 2, "--splits", 3)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Cluewise, 6 rows: 1 must-link, 1 cannot-link.\n")
    assert "ARI to the truth" in answer.out
    assert "0 of 6 rows change their cluster" in answer.out


def test_compare_for_machines(run, folder):
    words = ("compare", "data.csv", "--ignore", "color", "--clues", "clues.csv", "-k", 2, "--raw", "--json")
    told = json.loads(run(*words, "--method", "PCKMeans", "--penalty", "2").out)
    assert told["method"] == "PCKMeans"
    assert told["with"]["satisfaction"] == told["without"]["satisfaction"] == {"must": 1.0, "cannot": 1.0}
    assert told["helped"] is None
    assert (told["moved"], told["agreement"]) == (0, 1.0)
    told = json.loads(run(*words, "--splits", "0").out)
    assert (told["method"], told["gain"], told["with"]["objective"]) == ("Cluewise", None, None)


def test_list_shows_every_method(run):
    out = run("list").out
    assert [name for name in clusterers() if name not in out] == []
    assert out.splitlines()[3].startswith(" Cluewise ")


def test_list_by_kind_and_hardness(run):
    found = json.loads(run("list", "--accepts", "must,cannot", "--hard", "--json").out)
    assert [card["name"] for card in found] == list(clusterers(accepts=["must", "cannot"], hard=True))
    assert found[0]["accepts"] == sorted(found[0]["accepts"])
    soft = json.loads(run("list", "--soft", "--json").out)
    assert [card["name"] for card in soft] == ["Cluewise", *clusterers(hard=False)]
    assert run("list", "--accepts", "avoid,sizes,partitions,labels", "--hard").out == "No method matches.\n"


def test_datasets_are_listed(run):
    told = json.loads(run("datasets", "--json").out)
    assert {name: (one["n"], one["d"], one["k"]) for name, one in told.items()} == {
        name: one[:3] for name, one in available().items()
    }
    assert "digits" in run("datasets").out


def test_a_data_set_is_written_with_its_classes(run, folder):
    answer = run("datasets", "breast_cancer")
    assert (answer.code, answer.err) == (0, "")
    assert "569 rows, 30 columns, 2 classes in column 'class'" in answer.out
    table = tables.read("breast_cancer.csv")
    data = load("breast_cancer")
    assert table.columns["class"].tolist() == [data.class_names[c] for c in data.y]
    assert (table.columns[data.feature_names[3]] == data.X[:, 3]).all()
    told = json.loads(run("datasets", "breast_cancer", "--out", "b.npz", "--json").out)
    assert (told["rows"], told["class_column"], told["output"]) == (569, "class", "b.npz")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_lists_the_commands(run, words):
    answer = run(*words)
    assert (answer.code, answer.err) == (0, "")
    for command in ("fit", "check", "compare", "list", "datasets", "demo", "warmup"):
        assert f" {command} " in answer.out


def test_version(run):
    assert run("--version") == (0, f"cluewise {__version__}\n", "")


def test_the_list_is_that_of_the_cards():
    """The table is read from the sources; the classes themselves say the same, and are asked where there are none."""
    cards = {name: method.card for name, method in ({"Cluewise": Cluewise} | clusterers()).items()}
    read = _cards.read_cards()
    assert read == {name: (card.title, card.accepts, card.hard, card.cost) for name, card in cards.items()}
    assert list(read) == list(cards)
    assert _cards._load_cards() == read


def test_cards_that_cannot_be_read_are_loaded(monkeypatch):
    expected = _cards.read_cards()
    monkeypatch.setattr(_cards, "_sources", lambda package: [])
    assert _cards.read_cards() == expected


def test_the_list_imports_no_method(folder):
    code = "import sys; from cluewise.cli import app; app(['list'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert not {"sklearn", "numba", "cluewise.centroid"} & set(done.stdout.split())
