"""cluewise fit: rows in, clusters out."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from cluewise import Clues, Cluewise, PCKMeans, __version__, tables
from cluewise.cli import _progress, _show
from cluewise.core.probability import doubt
from cluewise.front._trust import rate_sources
from cluewise.kernels._compilation import begin, end
from cluewise.kernels._jit import kernel
from cluewise.rows.balance import standardize

FIT = ("fit", "data.csv", "--ignore", "color")


def clusters(path: str | Path) -> list[int]:
    return tables.read(path).columns["cluster"].tolist()


def test_every_row_comes_back_with_its_cluster_and_margin(run, folder):
    answer = run(*FIT, "--clues", "clues.csv", "-k", 2)
    assert (answer.code, answer.err) == (0, "")
    table = tables.read("data-clusters.csv")
    assert list(table.columns) == ["id", "length", "width", "color", "cluster", "margin"]
    assert table.columns["color"].tolist() == ["red", "white", "blue", "green", "green", "green"]
    first, *_, last = table.columns["cluster"].tolist()
    assert table.columns["cluster"].tolist() == [first] * 3 + [last] * 3
    assert {first, last} == {0, 1}
    assert (table.columns["margin"] > 0).all()
    cells = [line.rpartition(",")[2] for line in Path("data-clusters.csv").read_text().splitlines()[1:]]
    assert max(map(len, cells)) <= 8  # six digits


def test_summary_names_method_sizes_clues_and_files(run, folder):
    out = run(*FIT, "--clues", "clues.csv", "-k", 2).out
    assert out.startswith("Cluewise: 6 rows of data.csv in 2 clusters, by 2 columns standardized.\n")
    assert "50.0 %" in out
    assert [line.split() for line in out.splitlines() if "links  " in line] == [
        ["must-links", "1", "100.0", "%"],
        ["cannot-links", "1", "100.0", "%"],
    ]
    assert "seed 0" in out
    assert out.endswith("Written: data-clusters.csv.\n")


def test_broken_clues_are_named_with_their_line_dearest_first(run, write):
    write("wrong.csv", "a,b,kind,weight\nrose,oak,must,0.001\nlily,elm,must,0.002\niris,rose,must,1\n")
    out = run(*FIT, "--clues", "wrong.csv", "-k", 2, "--method", "PCKMeans").out
    assert "2 clues are broken:\n  must-link lily – elm (wrong.csv:3)\n  must-link rose – oak (wrong.csv:2)\n" in out


def test_report_tells_everything(run, write):
    write("wrong.csv", "rose,oak,must\niris,oak,cannot\nrose,red,label\nelm,tree,label\n")
    answer = run(
        *FIT,
        "--method",
        "PCKMeans",
        "--clues",
        "wrong.csv",
        "-k",
        2,
        "--penalty",
        0.25,
        "--seed",
        7,
        "--report",
        "r.json",
        "--out",
        "o.csv",
    )
    assert answer.code == 0
    told = json.loads(Path("r.json").read_text("utf-8"))
    assert told["cluewise"] == __version__
    assert (told["method"], told["rows"], told["clusters"], told["seed"]) == ("PCKMeans", 6, 2, 7)
    assert told["columns"] == ["length", "width"]
    assert told["standardized"] is True
    assert told["parameters"]["penalty"] == told["penalty"] == 0.25
    assert told["parameters"]["random_state"] == 7
    assert told["sizes"] == [3, 3]
    assert sorted(map(sorted, told["classes"])) == [["red"], ["tree"]]
    assert told["satisfaction"] == {"labels": 1.0, "must": 0.0, "cannot": 1.0}
    assert told["broken"] == [
        {"kind": "must", "rows": ["rose", "oak"], "weight": 1.0, "source": "wrong.csv:1", "cost": 0.25}
    ]
    assert told["output"] == {"--out": "o.csv", "--report": "r.json"}
    assert told["iterations"] >= 1
    assert told["seconds"] >= 0
    assert len(told["unsure"]) == 5


def test_suspects_are_reported_by_methods_that_judge_their_clues(run, write, monkeypatch):
    right = "lily,iris,must\noak,elm,must\nrose,elm,cannot\niris,elm,cannot\nlily,fir,cannot\niris,oak,cannot\n"
    write("doubt.csv", "a,b,kind\nrose,lily,must\nrose,oak,must\nelm,fir,must\n" + right)
    words = (*FIT, "--clues", "doubt.csv", "-k", 2, "--report", "r.json")
    answer = run(*words, "--method", "RDPMeans")
    (suspect,) = json.loads(Path("r.json").read_text("utf-8"))["suspects"]
    assert suspect.pop("doubt") > 0.5
    assert suspect == {"kind": "must", "rows": ["rose", "oak"], "source": "doubt.csv:3"}
    assert "): must-link rose – oak (doubt.csv:3).\n" in answer.out
    assert "Probably wrong (" in answer.out
    assert "Probably wrong" not in run(*words, "--method", "PCKMeans").out
    assert json.loads(Path("r.json").read_text("utf-8"))["suspects"] == []
    monkeypatch.setattr(doubt, "calibrated", lambda raw, odds, clues: np.ones(len(raw)))
    assert "Probably wrong (over 99 %): must-link rose – oak" in run(*words, "--method", "RDPMeans").out


def test_broken_labels_and_groups_and_unused_kinds_are_reported(run, write):
    write(
        "mixed.csv",
        "rose,f,label\nlily,f,label\niris,t,label\noak,t,label\nelm,t,label\n"
        "rose,g,together\nfir,g,together\niris,h,apart\nlily,h,apart\n*,1..2,size\nrose,p,partition\nlily,q,partition\n",
    )
    answer = run(*FIT, "--clues", "mixed.csv", "-k", 2, "--method", "SeededKMeans", "--json")
    told = json.loads(answer.out)
    assert answer.err.count("cluewise: warning: SeededKMeans does not use clues of the kind") == 1
    assert told["satisfaction"]["labels"] == pytest.approx(0.8)
    kinds = {entry["kind"]: entry for entry in told["broken"]}
    assert set(kinds) == {"label", "together", "apart", "partition", "size"}
    assert kinds["label"] == {"kind": "label", "rows": ["iris"], "label": "t", "source": "mixed.csv:3"}
    assert kinds["together"]["group"] == "g"
    assert kinds["apart"]["source"] == "mixed.csv:8-9"
    text = run(*FIT, "--clues", "mixed.csv", "-k", 2, "--method", "SeededKMeans").out
    for words in (
        "label t of iris (mixed.csv:3)",
        "together group g (mixed.csv:6-7)",
        "apart group h",
        "partition: 1 rows",
        "the bounds on cluster sizes",
    ):
        assert words in text


@pytest.mark.parametrize("method", ["Cluewise", "ConstrainedKMeans"])
def test_labels_alone_tell_the_number_of_clusters(run, write, method):
    write("labels.csv", "id,label\nrose,flower\noak,tree\n")
    told = json.loads(run(*FIT, "--clues", "labels.csv", "--method", method, "--json").out)
    assert (told["method"], told["clusters"]) == (method, 2)
    assert told["classes"] == [{"flower": 1}, {"tree": 1}]


@pytest.mark.parametrize(
    "lines",
    [
        "*,3..3,size",
        "rose,wild,partition",
        "rose,red,label\nrose,lily,must",
        "rose,oak,must\noak,1,apart\n*,1..4,size",
        "rose,1,together\nlily,1,together",
    ],
)
def test_the_default_takes_every_kind_of_clue(run, write, lines):
    write("clues.csv", f"a,b,kind\n{lines}\n")
    answer = run(*FIT, "--clues", "clues.csv", "-k", "2", "--json")
    assert (answer.code, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert (told["method"], told["parameters"]["n_clusters"], sum(told["sizes"])) == ("Cluewise", 2, 6)


@pytest.fixture
def groups(write):
    """Three groups of 20 rows, 60 links, and the same with two that are wrong and two labels."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = np.array([[0, 0], [9, 0], [0, 9]])[y] + rng.normal(size=(60, 2))
    write("rows.csv", "id,a,b\n" + "".join(f"r{i},{a:.4f},{b:.4f}\n" for i, (a, b) in enumerate(X)))
    lines = [f"r{i},r{i + 1},must" for i in range(0, 60, 2)]
    lines += [f"r{i},r{(i + 25) % 60},cannot" for i in range(1, 60, 2)]
    write("right.csv", "\n".join(lines) + "\n")
    lines[0], lines[30] = "r0,r1,cannot", "r1,r26,must"
    write("links.csv", "\n".join([*lines, "r0,north,label", "r59,west,label"]) + "\n")
    return y


def test_the_default_finds_the_number_of_clusters(run, groups):
    told = json.loads(run("fit", "rows.csv", "--clues", "right.csv", "--json").out)
    assert (told["parameters"]["n_clusters"], told["clusters"], told["sizes"]) == (None, 3, [20, 20, 20])


def test_the_default_tells_what_it_thinks(run, groups):
    answer = run("fit", "rows.csv", "--clues", "links.csv", "-k", 3, "--report", "r.json")
    assert (answer.code, answer.err) == (0, "")
    assert adjusted_rand_score(groups, clusters("rows-clusters.csv")) == 1
    told = json.loads(Path("r.json").read_text("utf-8"))
    assert (told["objective"], told["iterations"]) == (None, None)
    assert len(told["broken"]) == 2
    assert list(told["trust"]) == ["links.csv"]
    assert told["trust"]["links.csv"].keys() == {"must", "cannot", "labels", "all"}
    assert 0.8 < told["trust"]["links.csv"]["all"] < 1
    assert 0 <= told["harm"] <= 0.5
    tried = told["choice"]["tried"]
    assert tried[0]["score"] == max(one["score"] for one in tried)
    assert told["choice"]["taken"]["start"] in {one["start"] for one in tried}
    assert f"Chosen: {told['choice']['reason']}. {len(tried)} settings were compared on held-out clues.\n" in answer.out
    assert "\nTrust in links.csv: " in answer.out
    assert "\nProbability that the clues made the result worse: " in answer.out
    assert "2 clues are broken:\n" in answer.out
    assert "Objective" not in answer.out


def test_auto_is_the_default(run, groups):
    words = ("fit", "rows.csv", "--clues", "links.csv", "-k", 3, "--json")
    usual, auto = (json.loads(run(*words, *more).out) for more in ((), ("--auto",)))
    for told in (usual, auto):
        del told["seconds"], told["command"]
    assert usual == auto


def test_trust_is_told_by_source_the_lines_of_a_file_being_one():
    clues = Clues(
        6,
        labels=[0, 1, -1, -1, -1, -1],
        label_source=["a.csv:1", "a.csv:2", "", "", "", ""],
        must=[(0, 2), (1, 3), (2, 4)],
        must_source=["a.csv:3", "Ann", "Ann"],
    )
    unknown = np.full(3, 0.5)  # fits that know nothing leave the mean doubt as it is
    found = rate_sources(clues, np.array([0.1, 0.2, 0.4]), unknown, label_doubt=np.array([0.5, 0.0]))
    assert found == {
        "a.csv": {"labels": 0.75, "must": pytest.approx(0.9, abs=0.03), "all": pytest.approx(0.8, abs=0.02)},
        "Ann": {"must": pytest.approx(0.7, abs=0.02), "all": pytest.approx(0.7, abs=0.02)},
    }


def test_labels_are_suspects_as_well(run, groups, monkeypatch):
    def doubt(self, *args, **kwargs):
        learn(self, *args, **kwargs)
        self.label_doubt_[0] = 0.75

    learn = Cluewise._learn
    monkeypatch.setattr(Cluewise, "_learn", doubt)
    answer = run("fit", "rows.csv", "--clues", "links.csv", "-k", 3)
    assert "Probably wrong (75.0 %): label north of r0 (links.csv:61).\n" in answer.out


def test_a_time_limit_reaches_the_methods_that_have_one(run, folder):
    told = json.loads(run(*FIT, "--clues", "clues.csv", "-k", 2, "--time-limit", 60, "--json").out)
    assert told["parameters"]["time_limit"] == 60
    told = json.loads(run(*FIT, "-k", 2, "--time-limit", 2.5, "--method", "PCCC", "--json").out)
    assert told["parameters"]["time_limit"] == 2.5


def test_a_report_without_an_estimate_of_harm_says_so(run, folder):
    (folder / "hard.csv").write_text("a,b,kind,weight\nrose,lily,must,inf\nrose,oak,must,inf\n", "utf-8")
    why = "clues that must hold are not held out to compare anything"
    words = f"Whether the clues made the result worse was not estimated: {why}."
    call = ("fit", "data.csv", "--ignore", "id", "--ignore", "color", "--clues", "hard.csv", "-k", 2)
    answer = run(*call, "--report", "r.json", "--save", "model.cw")
    assert (answer.code, f"{words}\n" in answer.out) == (0, True)
    told = json.loads(Path("r.json").read_text("utf-8"))
    assert (told["harm"], told["harm_unknown"]) == (None, why)
    run(*call, "--report", "r.html")
    assert f"<p>{words}</p>" in Path("r.html").read_text("utf-8")
    assert run("predict", "model.cw", "data.csv").code == 0


def test_rows_that_are_all_equally_sure_are_not_listed(run, write):
    write("twins.csv", "x\n1\n1\n5\n5\n")
    answer = run("fit", "twins.csv", "-k", 2, "--report", "r.json")
    assert json.loads(Path("r.json").read_text("utf-8"))["unsure"] == []
    assert "Least sure" not in answer.out
    assert "Chosen: k-means; there are no clues.\n" in answer.out


def test_clusters_are_counted_where_the_method_finds_them(run, write):
    write("more.csv", "x,y\n0,0\n1,0.5\n0.2,1\n8,8\n9,8.5\n8.5,9\n0.5,0.7\n8.2,8.4\n")
    told = json.loads(run("fit", "more.csv", "--raw", "--method", "DPMeans", "-k", "2", "--json").out)
    assert told["clusters"] == len(told["sizes"]) == 3  # n_clusters is what it expects, not a bound
    assert sum(told["sizes"]) == 8


def test_labels_in_a_column_of_the_data(run, write):
    write("some.csv", "x,kind\n0,low\n1,\n9,high\n8,\n")
    told = json.loads(run("fit", "some.csv", "--label-column", "kind", "--json").out)
    assert told["columns"] == ["x"]
    assert told["classes"] == [{"high": 1}, {"low": 1}]
    assert clusters("some-clusters.csv") == [1, 1, 0, 0]


def test_labels_in_a_column_join_the_clues_in_a_file(run, write):
    write("some.csv", "x,kind\n0,low\n1,\n9,high\n8,\n")
    write("more.csv", "0,2,cannot\n")
    told = json.loads(run("fit", "some.csv", "--label-column", "kind", "--clues", "more.csv", "--json").out)
    assert told["satisfaction"] == {"labels": 1.0, "cannot": 1.0}


def test_standardizing_can_be_switched_off(run, write):
    # Two groups by the small column; the large one is noise that decides when taken as it is.
    rng = np.random.default_rng(0)
    rows = [f"{i // 10 * 0.1 + rng.normal() * 0.001},{rng.normal() * 1000}" for i in range(20)]
    write("scales.csv", "small,large\n" + "\n".join(rows) + "\n")
    told = json.loads(run("fit", "scales.csv", "-k", 2, "--raw", "--json").out)
    raw = clusters("scales-clusters.csv")
    assert told["standardized"] is False
    run("fit", "scales.csv", "-k", 2)
    scaled = clusters("scales-clusters.csv")
    truth = [0] * 10 + [1] * 10
    assert scaled in (truth, [1 - t for t in truth])
    assert raw not in (truth, [1 - t for t in truth])


def test_the_seed_decides_and_nothing_else(run, folder):
    rng = np.random.default_rng(0)
    tables.write("cloud.csv", {"x": rng.normal(size=60), "y": rng.normal(size=60)})
    found = []
    for seed in (1, 1, 2, 3, 4):
        assert run("fit", "cloud.csv", "-k", 9, "--seed", seed, "--quiet").code == 0
        found.append(tuple(clusters("cloud-clusters.csv")))
    assert found[0] == found[1]
    assert len(set(found)) > 1


def test_quiet_says_nothing_and_json_is_json(run, folder):
    assert run(*FIT, "-k", 2, "--quiet") == (0, "", "")
    assert json.loads(run(*FIT, "-k", 2, "--quiet", "--json").out)["rows"] == 6


@pytest.mark.parametrize("name", ["data.parquet", "data.npz", "data.json"])
def test_other_formats_go_in_and_out(run, folder, name):
    table = tables.read("data.csv")
    tables.write(name, table)
    answer = run("fit", name, "--id", "id", "--columns", "length,width", "-k", 2, "--out", f"out-{name}")
    assert answer.code == 0, answer.err
    found = tables.read(f"out-{name}").columns
    assert list(found)[-2:] == ["cluster", "margin"]
    assert len(set(found["cluster"][:3])) == len(set(found["cluster"][3:])) == 1


def test_columns_called_cluster_are_not_lost(run, write):
    write("old.csv", "x,cluster,cluster_2\n0,5,1\n1,5,1\n9,6,2\n8,6,2\n")
    assert run("fit", "old.csv", "--columns", "x", "-k", 2).code == 0
    table = tables.read("old-clusters.csv")
    assert list(table.columns) == ["x", "cluster", "cluster_2", "cluster_3", "margin"]
    assert table.columns["cluster"].tolist() == [5, 5, 6, 6]


def test_map_is_a_picture(run, folder):
    assert run(*FIT, "--clues", "clues.csv", "-k", 2, "--map", "map.png", "--map-columns", "width,length").code == 0
    assert Path("map.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert run("fit", "data.csv", "--columns", "width", "-k", 2, "--map", "map.svg").code == 0
    assert "<!-- width -->" in Path("map.svg").read_text("utf-8")  # the name of an axis


def test_one_cluster_has_no_unsure_rows(run, folder):
    told = json.loads(run(*FIT, "-k", 1, "--json").out)
    assert (told["sizes"], told["unsure"]) == ([6], [])


@pytest.fixture
def bar(monkeypatch):
    """A bar that appears at once, on a terminal that there is not."""
    monkeypatch.setattr(_progress, "_PATIENCE", -1.0)
    monkeypatch.setattr(_show, "is_watched", lambda: True)


def test_long_fits_show_a_bar_on_a_terminal(run, folder, bar, monkeypatch):
    seen = []
    monkeypatch.setattr(_progress.Bar, "_open", lambda self, title, total: seen.append(title) or fake(self))

    class Quiet:
        def update(self, task, *, completed, total, words):
            seen.append((completed, words))

        def stop(self):
            seen.append("stop")

    def fake(self):
        self.progress = Quiet()

    assert run(*FIT, "-k", 2, "--method", "PCKMeans").code == 0
    assert seen[0] == "PCKMeans"
    assert seen[1][0] == 1
    assert seen[1][1].startswith("iteration 1 of at most 300, start 1 of 5, objective ")
    assert seen[-1] == "stop"


def test_the_bar_is_drawn_on_standard_error_and_goes_away(run, folder, bar, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    answer = run(*FIT, "-k", 2, "--method", "PCKMeans")
    assert answer.code == 0
    assert "iteration" in answer.err
    assert "of at most 300, start" in answer.err
    assert "of at most" not in answer.out


def test_the_default_shows_that_it_is_at_work(run, folder, bar, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    answer = run(*FIT, "-k", 2)
    assert "Comparing clusterings …" in answer.err
    assert "Comparing" not in answer.out


@pytest.mark.parametrize("method", ["Cluewise", "PCKMeans"])
def test_quiet_and_pipes_have_no_bar(run, folder, bar, monkeypatch, method):
    def refuse(self):
        raise AssertionError("no bar was wanted")

    monkeypatch.setattr(_progress.Bar, "__init__", refuse)
    monkeypatch.setattr(_progress, "show_status", refuse)
    words = (*FIT, "-k", 2, "--method", method)
    assert run(*words, "--quiet").code == 0
    monkeypatch.setattr(_show, "is_watched", lambda: False)
    assert run(*words).code == 0


@pytest.fixture
def cold(monkeypatch):
    """A fit that compiles two kernels, as after installation."""
    dispatcher = SimpleNamespace(py_func=kernel)
    whole = PCKMeans.fit

    def fit(self, *given, **more):
        for event in (begin, end, begin, end):
            event(SimpleNamespace(data={"dispatcher": dispatcher}))
        return whole(self, *given, **more)

    monkeypatch.setattr(PCKMeans, "fit", fit)


COMPILING = "cluewise: compiling what this needs; this takes some seconds, once after installation …"


def test_a_person_at_a_terminal_is_told_once_that_it_compiles(run, folder, cold, monkeypatch):
    monkeypatch.setattr(_show, "is_watched", lambda: True)
    answer = run(*FIT, "-k", 2, "--method", "PCKMeans")
    assert answer.code == 0
    assert answer.err.splitlines().count(COMPILING) == 1
    assert "compiling" not in answer.out


def test_quiet_and_pipes_are_not_told(run, folder, cold, monkeypatch):
    assert COMPILING not in run(*FIT, "-k", 2, "--method", "PCKMeans").err
    monkeypatch.setattr(_show, "is_watched", lambda: True)
    assert COMPILING not in run(*FIT, "-k", 2, "--method", "PCKMeans", "--quiet").err


def test_the_price_may_be_left_to_the_method(run, folder):
    told = json.loads(
        run(*FIT, "--clues", "clues.csv", "-k", 2, "--method", "PCKMeans", "--penalty", "auto", "--json").out
    )
    assert told["parameters"]["penalty"] == "auto"
    assert told["penalty"] > 0


def test_a_method_that_finds_the_number_of_clusters_is_not_asked_for_it(run, folder):
    answer = run(*FIT, "--clues", "clues.csv", "--method", "ConstrainedDBSCAN")
    assert (answer.code, answer.err) == (0, "")
    assert len(clusters("data-clusters.csv")) == 6
    answer = run(*FIT, "--clues", "clues.csv", "--method", "ConstrainedDBSCAN", "-k", 2)
    assert answer.code == 2
    assert "ConstrainedDBSCAN finds the number of clusters itself; leave -k out." in answer.err


def test_a_clustering_to_avoid_is_avoided(run, write):
    write("known.csv", "rose,1,avoid\nlily,1,avoid\niris,1,avoid\noak,2,avoid\nelm,2,avoid\nfir,2,avoid\n")
    answer = run(*FIT, "--clues", "known.csv", "-k", 2)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("CondEns: 6 rows of data.csv in 2 clusters")
    found = clusters("data-clusters.csv")
    assert set(found[:3]) == set(found[3:]) == {0, 1}


def test_other_clues_beside_a_clustering_to_avoid_need_a_method(run, write):
    write("both.csv", "rose,1,avoid\noak,2,avoid\nrose,lily,must\n")
    answer = run(*FIT, "--clues", "both.csv", "-k", 2)
    assert (answer.code, answer.out) == (2, "")
    assert "`cluewise list --accepts avoid` shows them" in answer.err
    assert run(*FIT, "--clues", "both.csv", "-k", 2, "--method", "PCKMeans", "-q").code == 0


def test_how_far_a_result_is_from_what_it_avoids_is_reported(run, write):
    write("known.csv", "rose,1,avoid\nlily,1,avoid\niris,1,avoid\noak,2,avoid\nelm,2,avoid\nfir,2,avoid\n")
    answer = run(*FIT, "--clues", "known.csv", "-k", 2, "--report", "r.json")
    (apart,) = json.loads(Path("r.json").read_text("utf-8"))["variation"]
    assert apart == pytest.approx(2 * np.log(2), rel=0.1)
    assert f"Variation of information with the clustering to avoid: {apart:.3g} nats (0: the same)." in answer.out
    ignored = run(*FIT, "--clues", "known.csv", "-k", 2, "--method", "PCKMeans", "--json")
    assert json.loads(ignored.out)["variation"] == pytest.approx([0], abs=1e-12)
    assert json.loads(run(*FIT, "-k", 2, "--json").out)["variation"] == []


def test_noise_is_counted(run, write):
    write("points.csv", "x,y\n0,0\n0.1,0\n0,0.1\n0.1,0.1\n0.05,0.05\n9,9\n")
    words = ("fit", "points.csv", "--method", "ConstrainedDBSCAN", "--report", "r.json")
    out = run(*words).out
    assert out.startswith(
        "ConstrainedDBSCAN: 6 rows of points.csv in 1 cluster and noise, by 2 columns standardized.\n"
    )
    assert ["noise", "1", "16.7", "%"] in [line.split() for line in out.splitlines()]
    told = json.loads(Path("r.json").read_text("utf-8"))
    assert (told["clusters"], told["sizes"], told["noise"]) == (1, [5], 1)
    quiet = json.loads(run("fit", "points.csv", "-k", 2, "--json").out)
    assert quiet["noise"] == 0


def test_clusters_that_were_found_are_counted_not_those_asked_for(run, write):
    write("twins.csv", "x\n1\n1\n5\n5\n")
    answer = run("fit", "twins.csv", "-k", 3, "--method", "PCKMeans", "--report", "r.json")
    assert answer.out.startswith("PCKMeans: 4 rows of twins.csv in 2 clusters")
    told = json.loads(Path("r.json").read_text("utf-8"))
    assert (told["clusters"], sorted(told["sizes"])) == (2, [0, 2, 2])


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_counts_are_not_standardized(run, write, command):
    write("words.csv", "id,a,b,c,d\nr,9,1,5,1\ns,9,2,1,5\nt,1,9,5,1\nu,2,9,1,5\n")
    write("topics.csv", "r,1,avoid\ns,1,avoid\nt,2,avoid\nu,2,avoid\n")
    words = (command, "words.csv", "--clues", "topics.csv", "-k", 2, "--method", "ConditionalIB")
    answer = run(*words)
    assert answer.code == 0, answer.err
    if command == "fit":
        assert "in 2 clusters, by 4 columns as they are (counts are not standardized).\n" in answer.out
        assert json.loads(run(*words, "--json").out)["standardized"] is False
        assert "by 4 columns as they are.\n" in run(*words, "--raw").out


@pytest.mark.parametrize("shift", [0.0, 1e8, 1e150])
def test_standardizing_is_that_of_scikit_learn(shift):
    X = np.random.default_rng(0).normal(size=(50, 4)) * [1.0, 1e-9, 1e6, 0.0] + shift
    X[:, 3] = 0.1  # constant, and not a sum of powers of two
    assert np.array_equal(standardize(X), StandardScaler().fit_transform(X))
