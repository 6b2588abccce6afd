"""cluewise fit --auto --method A,B: a search among methods and numbers of clusters by held-out clues."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cluewise import tables
from cluewise.cli import _progress, _show

FIT = ("fit", "rows.csv", "--id", "id")


@pytest.fixture
def rows(write):
    """Three clusters of twelve rows, half of them labeled."""
    rng = np.random.default_rng(0)
    centers = np.repeat([[0, 0], [20, 0], [0, 20]], 12, axis=0)
    X = centers + rng.normal(size=(36, 2))
    lines = [f"r{i},{x:.3f},{y:.3f}" for i, (x, y) in enumerate(X)]
    write("rows.csv", "id,a,b\n" + "\n".join(lines) + "\n")
    told = [f"r{i},{'uvw'[i // 12]},label" for i in range(0, 36, 2)]
    return write("known.csv", "\n".join(told) + "\n")


def test_method_and_number_of_clusters_are_chosen(run, rows):
    answer = run(*FIT, "--clues", "known.csv", "--auto", "--method", "all", "--report", "r.json")
    assert (answer.code, answer.err) == (0, "")
    assert "Take Cluewise with 3 clusters" in answer.out
    assert "score" in answer.out
    assert "36 rows of rows.csv in 3 clusters" in answer.out
    found = tables.read("rows-clusters.csv").columns["cluster"]
    assert [len(set(found[i : i + 12])) for i in (0, 12, 24)] == [1, 1, 1]
    told = json.loads(Path("r.json").read_text("utf-8"))
    assert told["clusters"] == 3
    assert told["auto"]["methods"][0]["method"] == told["method"] == "Cluewise"
    assert told["auto"]["methods"][0]["score"] == 1.0
    assert told["auto"]["searched"] == 36
    assert told["auto"]["rivals"]["K-means"]["clusters"] == 3
    assert len(told["auto"]["rivals"]) == 2
    assert "K-means" in answer.out
    assert told["satisfaction"] == {"labels": 1.0}


def test_what_is_given_is_not_chosen(run, rows):
    answer = run(*FIT, "--clues", "known.csv", "--auto", "-k", 4, "--method", "cop-kmeans", "--json")
    told = json.loads(answer.out)
    assert (told["method"], told["parameters"]["n_clusters"]) == ("COPKMeans", 4)
    assert [one["method"] for one in told["auto"]["methods"]] == ["COPKMeans"]


def test_some_methods_are_compared(run, rows):
    words = ("--clues", "known.csv", "--auto", "-k", 3, "--method", "pck-means, SeededKMeans", "--time-limit", 30)
    told = json.loads(run(*FIT, *words, "--json").out)
    assert {one["method"] for one in told["auto"]["methods"]} == {"PCKMeans", "SeededKMeans"}
    assert told["choice"] is None


def test_broken_clues_are_reported_even_if_the_winner_ignores_them(run, rows, write):
    # Every second label is wrong, the others say how it is.
    lines = [f"r{i},{'uvw'[(i // 12 + i // 2 % 2) % 3]},label" for i in range(36)]
    write("lies.csv", "\n".join(lines) + "\n")
    answer = run(*FIT, "--clues", "lies.csv", "--auto", "--method", "ConstrainedKMeans", "--json")
    told = json.loads(answer.out)
    assert told["auto"]["uses_clues"] is False
    assert "without the clues" in told["auto"]["verdict"]
    assert len(told["broken"]) == round(36 * (1 - told["satisfaction"]["labels"]))
    assert len(told["broken"]) > 0


def test_it_says_when_nothing_is_predicted(run, rows, write):
    wrong = np.random.default_rng(3).integers(0, 3, 36)
    write("dice.csv", "\n".join(f"r{i},{'uvw'[wrong[i]]},label" for i in range(0, 36, 2)) + "\n")
    answer = run(*FIT, "--clues", "dice.csv", "--auto", "-k", 3, "--method", "PCKMeans")
    assert answer.code == 0
    assert "better than chance" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--penalty", "2", "--method", "all"), "--auto chooses by itself; leave --penalty out."),
        (("-k", "0"), "-k is 0; there must be at least 1 cluster."),
        (("-k", "0", "--method", "all"), "-k is 0; there must be at least 1 cluster."),
        (("--method", "PCKMeans,nothing"), "there is no clusterer 'nothing'"),
    ],
)
def test_strange_wishes_are_refused_in_one_sentence(run, rows, words, message):
    answer = run(*FIT, "--clues", "known.csv", "--auto", *words)
    assert answer.code == 2
    assert message in answer.err
    assert not Path("rows-clusters.csv").exists()


def test_without_clues_about_rows_nothing_can_be_chosen(run, rows, write):
    assert "no clues about rows" in run(*FIT, "--auto", "--method", "all").err
    write("size.csv", "*,1..20,size\n")
    answer = run(*FIT, "--clues", "size.csv", "--auto", "--method", "all")
    assert (answer.code, answer.out) == (2, "")
    assert "there are no clues about rows to choose by" in answer.err


def test_a_bar_counts_the_candidates(run, rows, monkeypatch):
    monkeypatch.setattr(_progress, "_PATIENCE", -1.0)
    monkeypatch.setattr(_show, "is_watched", lambda: True)
    seen = []
    update = _progress.SearchBar.on_fit_task_end

    def watch(self, estimator, context):
        update(self, estimator, context)
        if self.progress is not None:
            seen.append((self.progress.tasks[0].completed, self.progress.tasks[0].total))
        return False

    monkeypatch.setattr(_progress.SearchBar, "on_fit_task_end", watch)
    answer = run(*FIT, "--clues", "known.csv", "--auto", "-k", 3, "--method", "PCKMeans")
    assert answer.code == 0
    assert seen[-1] == (2, 2)
    seen.clear()
    run(*FIT, "--clues", "known.csv", "--auto", "-k", 3, "--method", "PCKMeans", "--quiet")
    assert seen == []
