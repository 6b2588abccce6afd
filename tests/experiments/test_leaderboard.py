"""Places, winners and rivals say what the cells say; every clusterer is in the race."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

import cluewise
from cluewise import Clues
from cluewise.metrics import ari

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

from reproduce.cells import Problem  # noqa: E402
from reproduce.document import Grid, Picture, to_markdown  # noqa: E402
from reproduce.findings import Findings, Missing  # noqa: E402
from reproduce.report import write  # noqa: E402
from reproduce.results import COLUMNS  # noqa: E402
from reproduce.tables import leaderboard  # noqa: E402
from reproduce.tables.leaderboard import boards, runs  # noqa: E402
from reproduce.tables.leaderboard.scores import Scores, scores  # noqa: E402

sys.path.remove(str(EXPERIMENTS))


def planted(folder, score, states=lambda cell: "ok", wanted=lambda cell: cell.seed == 0):
    """Results of the cells that are wanted, as if they had been run."""
    for experiment in leaderboard.EXPERIMENTS:
        with (folder / f"{experiment.name}.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            for cell in filter(wanted, experiment.cells()):
                row = {**cell._asdict(), "status": states(cell), "why": "" if states(cell) == "ok" else "no: luck"}
                if row["status"] == "ok":
                    row |= {"ari": score(cell), "nmi": 0.5, "broken": 0.25, "seconds": 0.01}
                writer.writerow(row)
                if row["status"] == "ok" and "labels" in cell.setting:
                    writer.writerow(row | {"ari": "", "stage": runs.OTHERS, "value": score(cell)})
    return Findings(folder, {experiment.name: experiment for experiment in leaderboard.EXPERIMENTS})


def test_every_clusterer_is_in_the_race():
    raced = {cell.method for experiment in leaderboard.EXPERIMENTS for cell in experiment.cells()}
    assert raced >= set(cluewise.clusterers())
    assert len(runs.BOARD.data) == 20
    assert sum(len(names) for names in boards.GROUPS.values()) == 20
    assert {name for names in boards.GROUPS.values() for name in names} == set(runs.BOARD.data)


def test_methods_get_only_clues_that_they_take():
    fits = {(cell.setting, cell.method) for cell in runs.BOARD.cells()}
    assert ("2n pairs", "1-NN") not in fits
    assert ("2n pairs", "SeededKMeans") not in fits
    assert ("10 % labels", "SeededKMeans") in fits
    assert ("2n pairs, 20 % wrong", "KMeans") in fits
    assert {cell.method for cell in runs.SIZES.cells()} == {
        "BalancedKMeans", "PCCC", "SizedKMeans", "KMeans", "k-means-constrained"
    }  # fmt: skip


def test_clues_are_as_many_and_as_wrong_as_said():
    y = np.repeat([0, 1, 2, 3], 50)
    few, many = runs.PAIRS["n/2 pairs, 20 % wrong"](y, 0), runs.PAIRS["2n pairs"](y, 0)
    assert len(few.must) + len(few.cannot) == 100
    lies = np.count_nonzero(y[few.must[:, 0]] != y[few.must[:, 1]])
    lies += np.count_nonzero(y[few.cannot[:, 0]] == y[few.cannot[:, 1]])
    assert lies == 20
    assert len(many.must) + len(many.cannot) == 400
    assert (y[many.must[:, 0]] == y[many.must[:, 1]]).all()
    assert np.count_nonzero(runs.LABELS["10 % labels"](y, 0).labels >= 0) == 20
    assert list(runs.sizes(np.array([0, 0, 0, 1]), 0).sizes) == [1, 3]


def test_rows_with_a_label_are_not_judged():
    y = np.array([0, 0, 0, 1, 1, 1])
    clues = Clues(6, labels=[0, -1, -1, 1, -1, -1])
    X = np.array([[0.0], [1.0], [9.0], [10.0], [11.0], [12.0]])
    found = runs.nearest(Problem(X, y, 2, clues, 0))
    assert list(found[""]) == [0, 0, 1, 1, 1, 1]
    assert found[runs.OTHERS] == ari([0, 0, 1, 1], [0, 1, 1, 1])


def test_a_known_clustering_is_taken_off_the_columns():
    seen = []
    known = np.array([0.0, 1, 0, 1])
    problem = Problem(np.column_stack([np.arange(4.0), known]), np.array([0, 0, 1, 1]), 2, None, 0)
    told = runs.other(lambda p: seen.append(p) or np.array([0, 1, 0, 1]), problem)
    assert seen[0].X.shape == (4, 1)
    assert seen[0].clues.kinds == {"avoid"}
    assert told["known"] == 1.0


def test_places_and_critical_difference():
    table = Scores(["a", "b", "c"], ["x", "y"], np.array([[0.9, 0.5], [0.8, 0.5], [0.1, 0.9]]))
    assert list(table.ranks) == [(1 + 2.5) / 2, (2 + 2.5) / 2, (3 + 1) / 2]
    assert [table.methods[at] for at in table.best()] == ["a", "c", "b"]
    # Demsar 2006, p. 16: four methods on fourteen sets, CD = 1.25 at 5 %.
    four = Scores(list("abcd"), [str(at) for at in range(14)], np.zeros((4, 14)))
    assert four.difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    assert table.among(("y", "z")).data == ["y"]


def test_cells_without_a_result_count_as_chance(tmp_path):
    def states(cell):
        if cell.method == "PCCC":
            return "late" if cell.seed else "failed"
        return "failed" if cell.method == "COPKMeans" and cell.seed == 0 else "ok"

    found = planted(tmp_path, lambda cell: 0.6, states, lambda cell: cell.setting == "2n pairs")
    table = scores(found, runs.BOARD, "2n pairs")
    assert table.of("PCCC") == pytest.approx(np.zeros(20))
    assert table.of("COPKMeans") == pytest.approx(np.full(20, 0.4))
    (grid,) = [
        b for b in boards.Board("t", "f", runs.BOARD, ["2n pairs"]).blocks(found, tmp_path) if isinstance(b, Grid)
    ]
    last = grid.rows[-1]
    assert last[1] == "PCCC"
    assert last[-2:] == ["20", "40"]


def test_the_page_names_winners_and_rivals(tmp_path):
    def score(cell):
        first = {"n/2 pairs": "E2CP", "2n pairs": "COPKMeans", "10 % labels": "PenalizedGMM"}
        best = first.get(cell.setting.partition(",")[0])
        wrong = int(cell.setting.partition(", ")[2].split()[0]) if "wrong" in cell.setting else 0
        if cell.method == "1-NN":
            return 0.8 if cell.data == "iris" else 0.6
        if cell.method in runs.CLASSIFIERS:
            return 0.55
        return (0.7 if cell.method == best else 0.3 if cell.method == "KMeans" else 0.5) - wrong / 100

    planted(tmp_path, score)
    known = {experiment.name: experiment for experiment in leaderboard.EXPERIMENTS}
    text = write([leaderboard.SECTION], Findings(tmp_path, known), tmp_path / "out").read_text()
    assert text.startswith("# Leaderboard\n")
    assert "| n/2 pairs | 0 % | E2CP 0.70 | " in text
    assert "| 2n pairs | 10 % | COPKMeans 0.60 | " in text
    assert "1-NN 0.610, LabelSpreading 0.550" in text
    assert "Better than all of them on average: PenalizedGMM." in text
    assert "Better than all of them on average: none of ours." in text  # with 20 % wrong labels
    assert "Sets where none of ours beats the best of them: iris." in text
    assert "| PenalizedGMM | 0.700 | 19 of 20 | 20 of 20 | 20 of 20 | 19 of 20 | wine, glass, " in text
    assert "| few columns | 10 % labels | 0 % | PenalizedGMM 0.70, " in text
    assert "First by mean place: E2CP. " in text
    for figure in ("few_pairs", "many_pairs", "labels", "sizes", "avoid", "untold"):
        assert (tmp_path / "out" / "figures" / f"leaderboard_{figure}.svg").stat().st_size > 1000


def test_what_has_not_been_run_is_said(tmp_path):
    found = Findings(tmp_path, {experiment.name: experiment for experiment in leaderboard.EXPERIMENTS})
    with pytest.raises(Missing, match="leaderboard / 2n pairs"):
        scores(found, runs.BOARD, "2n pairs")
    for part in leaderboard.SECTION.parts:
        blocks = part.blocks(found, tmp_path)
        assert "Not run" in to_markdown(blocks)
        assert not any(isinstance(block, Picture) for block in blocks)
        assert part.verdicts(found) == []
