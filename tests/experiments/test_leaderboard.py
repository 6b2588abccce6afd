"""Places, winners and rivals say what the cells say; every clusterer is in the race."""

from __future__ import annotations

import csv
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from reproduce.cells import Problem
from reproduce.document import Grid, Picture, Text, to_markdown
from reproduce.findings import Findings, Missing
from reproduce.report import write
from reproduce.results import COLUMNS
from reproduce.tables import leaderboard
from reproduce.tables.leaderboard import boards, places, runs, summaries
from reproduce.tables.leaderboard.scores import Scores, scores
from sklearn.cluster import KMeans
from sklearn.semi_supervised import LabelSpreading

import cluewise
from cluewise import Clues
from cluewise.metrics import ari


def planted(folder, score, states=lambda cell: "ok", wanted=lambda cell: cell.seed == 0):
    """Results of the cells that are wanted, as if they had been run; every column has numbers of its own."""
    for experiment in leaderboard.EXPERIMENTS:
        with (folder / f"{experiment.name}.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            for cell in filter(wanted, experiment.cells()):
                row = {**cell._asdict(), "status": states(cell), "why": "" if states(cell) == "ok" else "no: luck"}
                if row["status"] == "ok":
                    seconds = 3.0 if cell.data == "wine" else 0.01
                    row |= {"ari": score(cell), "nmi": 0.55, "broken": 0.25, "seconds": seconds}
                    if "labels" in cell.setting:
                        row["ari"] = 0.99  # with the rows that have one; nobody should look at it
                writer.writerow(row)
                more = {"ari": "", "nmi": "", "broken": ""}
                if row["status"] == "ok" and "labels" in cell.setting:
                    writer.writerow(row | more | {"stage": runs.OTHERS, "value": score(cell)})
                if row["status"] == "ok" and cell.setting == "avoid":
                    writer.writerow(row | more | {"stage": runs.KNOWN, "value": 0.125})
    return Findings(folder, {experiment.name: experiment for experiment in leaderboard.EXPERIMENTS})


def iris():
    data = cluewise.datasets.load("iris", standardize=True)
    return data.X, data.y


def only_many_pairs(cell):
    return cell.setting == "2n pairs"


def many_pairs(found, folder):
    """Text and table of one board."""
    blocks = boards.Board("t", "f", runs.BOARD, ["2n pairs"]).blocks(found, folder)
    (grid,) = [block for block in blocks if isinstance(block, Grid)]
    (text,) = [block for block in blocks if isinstance(block, Text)]
    return text.text, grid


# --- what is run


def test_every_clusterer_is_in_the_race():
    raced = {cell.method for experiment in leaderboard.EXPERIMENTS for cell in experiment.cells()}
    assert raced | set(runs.TWINS) >= {name for name, cls in cluewise.clusterers().items() if cls.card.reads}
    assert len(runs.BOARD.data) == 20
    assert sorted(name for names in summaries.GROUPS.values() for name in names) == sorted(runs.BOARD.data)
    assert all(experiment.limit == 60 for experiment in leaderboard.EXPERIMENTS)


def test_twins_are_the_same_method():
    X, y = iris()
    clues = Clues.sample(y, pairs=50, random_state=0)
    for one, other in runs.TWINS.items():
        first, second = (cluewise.clusterers()[name](3, random_state=0).fit(X, clues=clues) for name in (one, other))
        assert (first.labels_ == second.labels_).all()
        assert first.objective_ == second.objective_


def test_methods_get_only_clues_that_they_take(monkeypatch):
    fits = {(cell.setting, cell.method) for cell in runs.BOARD.cells()}
    assert ("2n pairs", "1-NN") not in fits
    assert ("2n pairs", "SeededKMeans") not in fits
    assert ("10 % labels", "SeededKMeans") in fits
    assert ("2n pairs, 20 % wrong", "KMeans") in fits
    ours = {"BalancedKMeans", "PCCC", "SizedKMeans", "KMeans"}
    for there, wanted in ((None, ours), (object(), ours | {"k-means-constrained"})):
        monkeypatch.setattr(runs, "find_spec", lambda name, there=there: there)
        assert {cell.method for cell in runs.SIZES.cells()} == wanted


def test_clues_are_as_many_and_as_wrong_as_said():
    y = np.repeat([0, 1, 2, 3], 50)
    few, many = runs.PAIRS["n/2 pairs, 20 % wrong"](y, 0), runs.PAIRS["2n pairs"](y, 0)
    assert len(few.must) + len(few.cannot) == 100
    lies = np.count_nonzero(y[few.must[:, 0]] != y[few.must[:, 1]])
    lies += np.count_nonzero(y[few.cannot[:, 0]] == y[few.cannot[:, 1]])
    assert lies == 20
    assert len(many.must) + len(many.cannot) == 400
    assert (y[many.must[:, 0]] == y[many.must[:, 1]]).all()
    right, redrawn = (runs.LABELS[name](y, 0).labels for name in ("10 % labels", "10 % labels, 20 % redrawn"))
    assert np.count_nonzero(right >= 0) == np.count_nonzero(redrawn >= 0) == 20
    assert (right[right >= 0] == y[right >= 0]).all()
    assert 1 <= np.count_nonzero(redrawn[redrawn >= 0] != y[redrawn >= 0]) <= 4
    assert list(runs.sizes(np.array([0, 0, 0, 1]), 0).sizes) == [1, 3]


def test_our_methods_are_told_k_and_seed_and_see_counts_where_they_need_them():
    class Watching:
        seen: list = []

        def __init__(self, n_clusters=8, random_state=None):
            self.told = n_clusters, random_state

        def fit(self, X, clues=None):
            self.seen.append((*self.told, X, clues))
            self.labels_ = np.zeros(len(X), int)
            return self

    problem = Problem(np.array([[-1.0], [3.0]]), np.array([0, 1]), 5, Clues(2, must=[(0, 1)]), 7)
    assert list(runs.ours(Watching, problem)) == [0, 0]
    Counting = type("FeedbackNaiveBayes", (Watching,), {})
    runs.ours(Counting, problem)
    (k, seed, plain, clues), (_, _, shifted, _) = Watching.seen
    assert (k, seed, clues) == (5, 7, problem.clues)
    assert plain.ravel().tolist() == [-1, 3]
    assert shifted.ravel().tolist() == [0, 4]


def test_rows_with_a_label_are_not_judged():
    y = np.array([0, 0, 0, 1, 1, 1])
    clues = Clues(6, labels=[0, -1, -1, 1, -1, -1])
    X = np.array([[0.0], [1.0], [9.0], [10.0], [11.0], [12.0]])
    found = runs.nearest(Problem(X, y, 2, clues, 0))
    assert list(found[""]) == [0, 0, 1, 1, 1, 1]
    assert found[runs.OTHERS] == ari([0, 0, 1, 1], [0, 1, 1, 1])


def test_rivals_are_those_that_are_named(monkeypatch):
    X, y = iris()
    p = Problem(X, y, 3, Clues.sample(y, labels=0.1, random_state=0), 0)
    for name, options in (
        ("LabelSpreading", {}),
        ("LabelSpreading, knn", {"kernel": "knn"}),
        ("LabelSpreading, wide", {"gamma": 0.25}),
    ):
        wanted = LabelSpreading(max_iter=1000, **options).fit(X, p.clues.labels).transduction_
        assert (runs.METHODS[name](p)[""] == wanted).all()
    assert (runs.k_means(p)[""] == KMeans(3, n_init=10, random_state=0).fit_predict(X)).all()

    def rival(k, size_min, size_max, random_state):
        told = np.array([k, size_min, size_max, random_state])
        return SimpleNamespace(fit_predict=lambda X: told)

    monkeypatch.setitem(sys.modules, "k_means_constrained", SimpleNamespace(KMeansConstrained=rival))
    sized = Problem(X, y, 3, Clues(150, sizes=(40, 60)), 9)
    assert list(runs.sized_rival(sized)) == [3, 40, 60, 9]


def test_two_sets_are_glued_and_the_known_clustering_is_taken_off(monkeypatch):
    first = (np.arange(6.0).reshape(3, 2), np.array([0, 1, 2]))
    second = (10 * np.arange(1.0, 5)[:, None], np.array([5, 6, 7, 8]))
    monkeypatch.setattr(runs, "standardized", {"a": first, "b": second}.__getitem__)
    X, y = runs.glued("a", "b")
    assert X.shape == (3, 4)
    assert (X[:, 0] == 2 * X[:, 3]).all(), "the last column is the class in the first set"
    assert (X[:, 2] == 10 * (y - 4)).all(), "y is the class in the second"
    seen = []
    told = runs.other(lambda p: seen.append(p) or p.X[:, 0].astype(int), Problem(X, y, 3, None, 0))
    assert seen[0].X.shape == (3, 3)
    assert seen[0].clues.kinds == {"avoid"}
    assert told[runs.KNOWN] == 1.0


# --- places


def test_places_and_critical_difference():
    table = Scores(["a", "b", "c"], ["x", "y"], np.array([[0.9, 0.5], [0.8, 0.5], [0.1, 0.9]]))
    assert list(table.ranks) == [(1 + 2.5) / 2, (2 + 2.5) / 2, (3 + 1) / 2]
    assert [table.methods[at] for at in table.best()] == ["a", "c", "b"]
    assert not table.tested
    # Demsar 2006, p. 16: four methods on fourteen sets, CD = 1.25 at 5 %.
    four = Scores(list("abcd"), [str(at) for at in range(14)], np.zeros((4, 14)))
    assert four.difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    assert table.among(("y", "z")).data == ["y"]
    # Three methods in the same order on ten sets: the statistic is n (k - 1) = 20, and chi-square has 2 degrees.
    ordered = Scores(list("abc"), [str(at) for at in range(10)], np.outer([3, 2, 1], np.ones(10)))
    assert ordered.chance == pytest.approx(np.exp(-20 / 2))


def test_a_picture_has_the_best_on_top_and_bars_of_the_critical_difference(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(places, "save", lambda figure, file: drawn.append(figure))
    table = Scores(["a", "rival", "c"], [str(at) for at in range(10)], np.outer([3, 1, 2], np.ones(10)))
    places.draw(tmp_path / "x.svg", {"t": table}, ours={"a", "c"})
    (ax,) = drawn[0].axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "c", "rival"]
    assert ax.yaxis_inverted()
    ends = [bar.get_segments() for bar in ax.collections]
    (first, _), (rival,) = ends
    assert first[:, 0] == pytest.approx([1 - table.difference / 2, 1 + table.difference / 2])
    assert rival[:, 0] == pytest.approx([3 - table.difference / 2, 3 + table.difference / 2])
    assert rival[0, 1] == 2


def test_cells_without_a_result_count_as_chance(tmp_path):
    def states(cell):
        if cell.method == "PCCC":
            return "late" if cell.seed else "failed"
        return "failed" if cell.method == "COPKMeans" and cell.seed == 0 else "ok"

    found = planted(tmp_path, lambda cell: 0.6, states, only_many_pairs)
    table = scores(found, runs.BOARD, "2n pairs")
    assert table.draws == 3
    assert table.of("PCCC") == pytest.approx(np.zeros(20))
    assert table.of("COPKMeans") == pytest.approx(np.full(20, 0.4))
    _, grid = many_pairs(found, tmp_path)
    places = (len(table.methods) - 1) / 2  # of all but the last two
    last = str(len(table.methods))
    assert grid.rows[-1] == [last, "PCCC", "0.000", "0.000", f"{last}.0", "", "", "", "20", "40"]
    assert grid.rows[0][2:] == ["0.600", "0.550", f"{places:.1f}", "25.0", "0.010", "0.16", "0", "0"]
    assert list(grid.header)[-3:] == ["95 % within s", "failed", "over 60 s"]


def test_only_draws_that_all_have_seen_count(tmp_path):
    def wanted(cell):
        if cell.setting != "2n pairs" or (cell.method, cell.data) == ("E2CP", "wine"):
            return False
        return cell.seed == 0 or (cell.seed == 1 and (cell.method == "E2CP" or cell.data == "iris"))

    found = planted(tmp_path, lambda cell: 0.9 if cell.seed else 0.3, wanted=wanted)
    table = scores(found, runs.BOARD, "2n pairs")
    assert table.draws == 1
    assert "wine" not in table.data
    assert len(table.data) == 19
    assert table.of("E2CP")[:2] == pytest.approx([0.6, 0.3])  # iris has two draws, glass one for all
    text, _ = many_pairs(found, tmp_path)
    assert "on 19 sets, at least 1 draws of clues on each. " in text


def test_the_words_above_a_board(tmp_path):
    found = planted(tmp_path, lambda cell: 0.5 + 0.1 * (cell.method == "E2CP") - 0.1 * (cell.method == "CVQE"))
    text, grid = many_pairs(found, tmp_path)
    count = len(grid.rows)
    assert text.startswith(f"{count} methods on 20 sets, at least 1 draws of clues on each. ")
    assert "First by mean place: E2CP. " in text
    table = scores(found, runs.BOARD, "2n pairs")
    assert (count + 1) / 2 - 1 > table.difference, "so all others are beyond it"
    assert "0 others are within it" in text
    assert f"p = {table.chance:.0e} (Friedman)" in text


# --- the page


def test_the_page_names_winners_and_rivals(tmp_path):
    def score(cell):
        first = {"n/2 pairs": "E2CP", "2n pairs": "COPKMeans", "10 % labels": "PenalizedGMM"}
        best = first.get(cell.setting.partition(",")[0])
        wrong = int(cell.setting.partition(", ")[2].split()[0]) if "," in cell.setting else 0
        if cell.method == "1-NN":
            return 0.8 if cell.data == "iris" else 0.6
        if cell.method in runs.CLASSIFIERS:
            return 0.55
        return (0.7 if cell.method == best else 0.3 if cell.method == "KMeans" else 0.5) - wrong / 100

    planted(tmp_path, score)
    known = {experiment.name: experiment for experiment in leaderboard.EXPERIMENTS}
    text = write([leaderboard.SECTION], Findings(tmp_path, known), tmp_path / "out").read_text()
    assert text.startswith("# Leaderboard\n")
    assert "HMRFKMeans is left out: with its defaults it is MPCKMeans." in text
    assert "| n/2 pairs | none | E2CP 0.70 | " in text
    assert "| 2n pairs | 10 % wrong | COPKMeans 0.60 | " in text
    assert "| E2CP 0.70 | KMeans 0.30 (place " in text
    assert "| none | 1-NN 0.610, LabelSpreading 0.550, LabelSpreading, wide 0.550, LabelSpreading, knn 0.550 | " in text
    assert "| PenalizedGMM 0.70 | PenalizedGMM | iris |" in text
    assert "| 20 % redrawn | 1-NN 0.610, " in text
    assert " | none | none | iris, wine, " in text  # with 20 % drawn anew
    assert "| PenalizedGMM | 0.700 | 19 | 20 | 20 | 20 | 19 | wine, glass, " in text
    assert "| few columns | 10 % labels | none | PenalizedGMM 0.70, " in text
    row = next(line for line in text.partition("ARI on every set")[2].splitlines() if line.startswith("| *1-NN*"))
    assert row.split(" | ")[1:3] == ["**0.80**", "0.60"]
    assert "ARI with the known one | mean place" in text
    assert "| 0.500 | 0.550 | 0.125 | " in text
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


def test_a_page_of_a_few_cells(tmp_path):
    """As after a quick pass: one set, some settings."""
    found = planted(
        tmp_path,
        lambda cell: 0.5,
        wanted=lambda cell: cell.seed == 0 and cell.data in ("iris", "iris + wine") and "1" not in cell.setting,
    )
    text = to_markdown([b for part in leaderboard.SECTION.parts for b in part.blocks(found, tmp_path)])
    assert "| 2n pairs | none | " in text
    assert "Too few to tell chance from merit." in text
    assert "Not run: leaderboard / 10 % labels." in text
    assert "nan" not in text
