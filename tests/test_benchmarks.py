"""Every benchmark runs in a toy size and prints a ratio; how things are measured is checked without a clock."""

from __future__ import annotations

import json
import math
import re
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cluewise import Clues

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
NAMES = (
    "sweep",
    "preparing",
    "memory",
    "growth",
    "digits",
    "startup",
    "threads",
    "partition",
    "linked",
    "sized",
    "mixture",
    "gibbs",
    "tvclust",
    "consensus",
    "scsc",
    "agglomerative",
    "dbscan",
    "spectral",
    "grains",
    "metric",
    "metric_growth",
    "ask",
    "columns",
    "chunks",
    "cluster",
    "correlation",
    "door",
)


@pytest.fixture
def room(monkeypatch):
    """``room(name)`` imports a file of benchmarks/; afterwards its modules are forgotten."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCHMARKS)):
            del sys.modules[name]


@pytest.mark.parametrize("name", NAMES)
def test_runs_in_a_toy_size_and_prints_a_ratio(name, room, capsys, tmp_path, monkeypatch):
    for variable in ("CLUEWISE_RIVAL_PYTHON", "CLUEWISE_METRIC_RIVAL_PYTHON", "CLUEWISE_DASK_RIVAL_PYTHON"):
        monkeypatch.delenv(variable, raising=False)
    room("run").main(["--tiny", name, "--results", str(tmp_path)])
    printed = capsys.readouterr().out
    written = json.loads(next(tmp_path.glob("*.json")).read_text())
    assert written["tiny"] is True
    assert list(written["figures"]) == [name]
    assert written["figures"][name]
    for figure in written["figures"][name]:
        assert math.isfinite(figure["ratio"])
        assert figure["ratio"] == pytest.approx(figure["ours"] / figure["anchor"])
        assert f"{figure['ratio']:8.3f}" in printed
        assert figure["name"] in printed
        assert figure["against"] in printed
    figures = [SimpleNamespace(**figure) for figure in written["figures"][name]]
    named = [of for of, figure in room("history").name_figures(figures) if figure.goal is not None]
    assert len(named) == len(set(named))
    rivals = {"agglomerative", "cluster", "digits", "metric", "sized", "spectral"}
    assert ("rival not installed" in printed) == (name in rivals)


@pytest.mark.parametrize("name", ["tvclust", "metric", "partition"])
def test_data_sets_that_are_not_here_are_left_out(name, room, capsys, tmp_path, monkeypatch):
    """With an empty folder of data sets, all but those of scikit-learn would come over the network."""
    monkeypatch.setenv("CLUEWISE_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    benchmark = room(name)
    whole = {"tvclust": {"sets": 5, "timed": "pendigits"}, "metric": {"usps": True, "sets": ("iris", "balance")}}
    benchmark.measure(**(benchmark.TINY | whole.get(name, {})))
    missing = {"tvclust": "ecoli, balance, glass, pendigits", "metric": "balance", "partition": "pendigits"}
    printed = capsys.readouterr().out
    assert f"{name}: left out, not on this machine: {missing[name]} (CLUEWISE_DATA" in printed
    assert ("metric: left out, not on this machine: usps" in printed) == (name == "metric")
    assert not list((tmp_path / "home").rglob("*.gz"))


def test_all_files_are_listed(room):
    sized = {path.stem for path in BENCHMARKS.glob("*.py") if "\nFULL = " in path.read_text(encoding="utf-8")}
    assert sized == set(NAMES) == set(room("run").NAMES)


def test_unknown_name_is_refused(room, capsys):
    with pytest.raises(SystemExit) as refused:
        room("run").main(["swep"])
    assert refused.value.code == 2
    assert "there is no benchmark 'swep'" in capsys.readouterr().err


def test_prices_of_broken_links_are_compared(room, capsys):
    room("price").main(["iris", "nowhere", "--draws", "1"])
    head, plain, *lines, sets, missing = capsys.readouterr().out.splitlines()
    assert head.split() == ["pairs", "wrong", "price", "ARI", "gain", "worst", "set"]
    before = float(plain.split()[1])
    assert len(lines) == 2 * 3 * 3
    for line in lines:
        score, gain, worst, name = line.split()[-4:]
        assert float(score) - before == pytest.approx(float(gain), abs=0.0011)
        assert (worst, name) == (gain, "iris")
    assert sets == "1 draws on each of 1 sets: iris"
    assert missing == "not on this machine: nowhere"


def test_former_price_is_half_the_mean_squared_distance_to_the_first_centers(room):
    X = np.array([[0.0, 0], [0, 2], [6, 0], [6, 4]])
    clues = Clues(4, must=[(0, 1), (2, 3)])  # first centers: (0, 1) and (6, 2)
    assert room("price").former_price(X, clues, 2, seed=0) == pytest.approx((1 + 1 + 4 + 4) / 8)


def test_boosting_is_measured_against_the_clusterer_alone(room, capsys, monkeypatch):
    boosting = room("boosting")
    monkeypatch.setattr(boosting, "PAIRS", (50,))
    monkeypatch.setattr(boosting, "CLUSTERERS", {"Ward": boosting.CLUSTERERS["Ward"]})
    boosting.main(["clusterers", "iris", "--draws", "1"])
    name, alone, boosted, gain, *_ = re.search(r"^iris .*$", capsys.readouterr().out, re.M)[0].split()
    assert name == "iris"
    assert float(boosted) - float(alone) == pytest.approx(float(gain), abs=0.0011)
    assert float(alone) == pytest.approx(0.615, abs=0.001)  # scikit-learn's Ward on standardized iris


def test_prices_need_a_set(room, capsys):
    with pytest.raises(SystemExit):
        room("price").main(["nowhere"])
    assert "none of the data sets is on this machine" in capsys.readouterr().err


def test_verdict(room):
    figure = room("measuring").Figure
    assert figure("a", 3.0, 2.0, "ms", "b").verdict == ""
    assert figure("a", 3.0, 2.0, "ms", "b", goal=1.5).verdict == "met"
    assert figure("a", 3.0, 2.0, "ms", "b", goal=1.4).verdict == "MISSED"
    assert figure("a", 3.0, 2.0, "ms", "b", goal=2.0, stretch=1.5).verdict == "stretch"
    assert figure("a", 3.0, 2.0, "ms", "b", goal=2.0, stretch=1.4).verdict == "met"


def test_contestants_take_turns(room):
    calls = []
    ticks = iter([0.0, 5.0, 10.0, 11.0, 20.0, 23.0, 30.0, 37.0])
    contestants = {"ours": lambda: calls.append("ours"), "rival": lambda: calls.append("rival")}
    times = room("measuring").interleaved(contestants, 2, lambda: next(ticks))
    assert calls == ["ours", "rival", "ours", "rival"]
    assert times["ours"].rounds == (5.0, 3.0)
    assert times["rival"].rounds == (1.0, 7.0)
    assert times["ours"].best == 3.0
    assert times["ours"].noise == pytest.approx(4 / 3)


def test_preparation_does_not_count_as_iteration(room, monkeypatch):
    measuring = room("measuring")
    now = [0.0]

    def fit(iterations):
        now[0] += 100 + 3 * iterations
        return SimpleNamespace(n_iter_=iterations)

    def interleaved(contestants, repeats):
        return whole(contestants, repeats, lambda: now[0])

    whole = measuring.interleaved
    monkeypatch.setattr(measuring, "interleaved", interleaved)
    assert measuring.per_iteration({"a": fit}, 2, 12, 3)["a"].best == pytest.approx(3)


def test_a_fit_that_converges_is_an_error(room):
    with pytest.raises(RuntimeError, match="1 iterations instead of 2"):
        room("measuring").per_iteration({"a": lambda iterations: SimpleNamespace(n_iter_=1)}, 2, 4, 1)


def test_exponent_of_a_power_law(room):
    sizes = [10.0, 100.0, 1000.0]
    assert room("measuring").exponent(sizes, [7 * s**1.5 for s in sizes]) == pytest.approx(1.5)


def test_added_time_is_what_counts_for_pairs(room):
    growth, times = room("growth"), room("measuring").Times
    rounds = [times((100 + 2.0 * m,)) for m in (1, 2, 4, 8)]
    found = growth._figures("pairs", (1, 2, 4, 8), rounds, times((100.0,)))
    assert found[0].ours == pytest.approx(1)
    assert growth._figures("pairs", (1, 2, 4, 8), rounds)[0].ours < 0.1


@pytest.mark.parametrize(("n", "k", "count"), [(1000, 5, 301), (100, 50, 500), (103, 10, 40)])
def test_links_agree_with_the_blobs(n, k, count, room):
    given = room("workload").links(n, k, count)
    must, cannot = given["must"], given["cannot"]
    assert len(must) + len(cannot) == count
    assert len(must) == count // 2
    assert (must % k == must[:, :1] % k).all()
    assert (cannot[:, 0] % k != cannot[:, 1] % k).all()
    assert not Clues(n, must=must, cannot=cannot).contradictions  # checks range and self-links as well


def test_blobs_are_what_they_are_called(room):
    X = room("workload").blobs(2_000, 3, 4)
    assert X.dtype == np.float32
    means = np.array([X[h::4].mean(axis=0) for h in range(4)])
    centers = 3 + 0.3 * _second_draw(2_000, 3, 4)
    assert np.abs(means - centers).max() < 0.2
    assert np.array_equal(X, room("workload").blobs(2_000, 3, 4))


def _second_draw(n, d, k):
    rng = np.random.default_rng(0)
    rng.standard_normal((n, d), dtype=np.float32)
    return rng.standard_normal((k, d), dtype=np.float32)


def test_peak_sees_what_was_allocated_and_freed(room):
    memory = room("memory")
    before = memory.reset_peak()
    block = np.ones(8 * 2**20)
    del block
    assert memory.peak() - before > 50


def test_rival_that_cannot_run_is_named(room, monkeypatch, tmp_path):
    digits = room("digits")
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such package >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CLUEWISE_RIVAL_PYTHON", str(broken))
    with pytest.raises(RuntimeError, match="no such package"):
        digits.rival_seconds(np.zeros((3, 2)), Clues(3, must=[(0, 1)]), 1)


def test_rival_reports_its_fastest_fit(room, monkeypatch, tmp_path):
    digits = room("digits")
    stand_in = tmp_path / "python"
    stand_in.write_text('#!/bin/sh\necho "[3.5, 2.5]"\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("CLUEWISE_RIVAL_PYTHON", str(stand_in))
    assert digits.rival_seconds(np.zeros((3, 2)), Clues(3, must=[(0, 1)]), 2) == 2.5


def test_failing_process_is_an_error(room):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        room("startup").run("1 / 0", ".")


def test_results_are_not_tracked():
    assert "benchmarks/results/" in (BENCHMARKS.parent / ".gitignore").read_text()


def test_the_model_of_scale_is_fitted_to_the_runs(room, capsys, tmp_path):
    """Made runs whose costs are straight lines: the model finds the lines, and names the bottleneck that follows."""
    runs = [
        {
            "rows": rows, "columns": 8, "method": "Cluewise", "workers": 2, "ari": 0.5, "reads": 6.0,
            "read_cpu": 1e-7 * rows, "worker_cpu": 1e-5 * rows, "worker_peak": 5e8,
            "driver_cpu": 10 + 1e-8 * rows, "driver_peak": 6e8 + 20 * rows,
            "scheduler_peak": 3e8 + 100 * rows / 1000, "scheduler_cpu": 1 + 2e-3 * rows / 1000, "tasks": rows // 1000,
            "moved": 1e8 + 1e3 * rows / 1000,
        }
        for rows in (10**6, 10**7)
    ]  # fmt: skip
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    room("scale").main(["--kept", str(tmp_path / "runs.json")])
    printed = capsys.readouterr().out
    assert "| 1e+07 | 0.32 GB | 0.500 | 6.0 | 100 s | 1.00 s | 100 |" in printed
    assert re.search(r"\| driver peak, bytes \| 6e\+08 \| 20 a row \| 0 % \|", printed)
    assert re.search(r"\| scheduler CPU, s \| 1 \| 0.002 a task \| 0 % \|", printed)
    assert "Growth exponent of worker_cpu, to 1e+07 rows: 1.000" in printed
    assert re.search(r"\| 1e\+09 \| 10 \| 0.28 h \|.*\| 21 GB \| the scheduler \|", printed)
    assert re.search(r"\| 1e\+10 \| 10 \|.*\| clues number at most 2,147,483,647 rows; then the scheduler \|", printed)
