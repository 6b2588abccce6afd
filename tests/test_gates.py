"""Evidence that stays fresh: the history of figures, the page that shows it, the gates for speed and quality."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"

pytestmark = pytest.mark.no_cover


@pytest.fixture
def room(monkeypatch):
    """``room(name)`` imports a file of benchmarks/; afterwards its modules are forgotten."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCHMARKS)):
            del sys.modules[name]


# --- history ------------------------------------------------------------------------------------------------------

STATE = {"commit": "0123456789", "date": "2026-11-18", "version": "0.1.0", "machine": "2 cores"}


def test_runs_of_one_commit_make_one_entry(room, tmp_path):
    history, figure = room("history"), room("measuring").Figure
    path = tmp_path / "history.json"
    first = [figure("a", 3.0, 2.0, "ms", "b", goal=2.0, noise=1.1), figure(" detail", 1.0, 1.0, "ms", "b")]
    assert history.add(STATE, {"sweep": first}, path) == 1
    history.add(STATE, {"memory": [figure("m", 1.0, 8.0, "MB", "X", goal=0.2)]}, path)
    history.add(STATE, {"sweep": [figure("a", 1.0, 2.0, "ms", "b", goal=2.0)]}, path)
    history.add(STATE | {"commit": "abcdef0123"}, {"sweep": first}, path)
    one, two = history.read(path)
    assert one["figures"]["sweep"] == {"a": {"ratio": 0.5, "goal": 2.0, "against": "b"}}
    assert one["figures"]["memory"] == {"m": {"ratio": 0.125, "goal": 0.2, "against": "X"}}
    assert two["figures"] == {"sweep": {"a": {"ratio": 1.5, "goal": 2.0, "against": "b", "noise": 1.1}}}
    assert path.read_text().count("\n") < 30  # a line for each figure
    details = [figure("ward", 1.0, 1.0, "s", "b"), figure("  no clues", 1.0, 1.0, "s", "b", goal=1.0)]
    assert [name for name, _ in history.name_figures(details)] == ["ward", "ward: no clues"]
    before = path.read_text()
    history.write(history.read(path), path)
    assert path.read_text() == before


def test_only_committed_code_has_a_state(room, monkeypatch):
    history = room("history")
    answers = {"status": "", "log": "0123456789 2026-11-18"}
    monkeypatch.setattr(history, "_ask_git", lambda word, *_: answers[word])
    state = history.measured_state()
    assert state["commit"] == "0123456789"
    assert state["date"] == "2026-11-18"
    answers["status"] = " M src/cluewise/__init__.py"
    assert history.measured_state() is None


def test_the_committed_history_holds_ratios_and_no_names_of_machines(room):
    entries = room("history").read()
    assert entries
    for entry in entries:
        assert set(entry) == {"commit", "date", "version", "machine", "figures"}
        assert "/" not in entry["machine"]
        for benchmark, figures in entry["figures"].items():
            assert benchmark in room("run").NAMES
            for figure in figures.values():
                assert figure["ratio"] > 0
                assert set(figure) <= {"ratio", "goal", "against", "noise"}


def test_toy_sizes_are_not_remembered(room, tmp_path, capsys):
    path = tmp_path / "history.json"
    room("run").main(["--tiny", "preparing", "--results", str(tmp_path), "--history", str(path)])
    assert "not added to the history: toy sizes" in capsys.readouterr().out
    assert not path.exists()


def test_the_page_shows_every_figure_and_marks_what_misses_its_goal():
    speed = runpy.run_path(str(ROOT / "docs" / "_ext" / "speed.py"))
    entries = json.loads(speed["HISTORY"].read_text("utf-8"))
    lines = list(speed["page"](entries))
    for benchmark, figures in speed["collect"](entries).items():
        assert any(line.startswith(f"**{benchmark}**: ") and len(line) > 30 for line in lines)
        for name, points in figures.items():
            (line,) = [one for one in lines if one.startswith(f"| {name}<br><small>{points[-1].against}<")]
            assert line.count("<circle") == len(points)
            assert (" ✗ " in line) == (points[-1].ratio > points[-1].goal)


def test_pictures_put_later_runs_to_the_right_and_slower_ones_higher():
    speed = runpy.run_path(str(ROOT / "docs" / "_ext" / "speed.py"))
    point = speed["Point"]
    drawn = speed["draw"]([point(0, "", 2.0, 1.0, None, ""), point(1, "", 0.5, 1.0, 1.2, "")], 2)
    places = [tuple(map(float, part.split('"')[1:4:2])) for part in drawn.split("<circle")[1:]]
    (x0, y0), (x1, y1) = places
    assert x0 < x1
    assert y0 < y1  # from above
    assert y0 < speed["_height"](1.0) < y1


# --- speed --------------------------------------------------------------------------------------------------------

FAKE = """
from contextlib import nullcontext
def threads(n): return nullcontext()
class Grains:
    def __init__(self, *args, **kwargs): pass
    def fit(self, X):
        for _ in range({steps}): pass
"""


def fake(folder: Path, text: str) -> Path:
    (folder / "cluewise").mkdir(parents=True)
    (folder / "cluewise" / "__init__.py").write_text(text)
    return folder


def test_two_versions_are_measured_in_turns(room, tmp_path):
    gate = room("gate_speed")
    base = fake(tmp_path / "base", FAKE.format(steps=400_000))
    slow = fake(tmp_path / "slow", FAKE.format(steps=2_000_000))
    assert gate.compare_once(base, slow, ["Grains"], rounds=3)["Grains"] > 1.5
    assert gate.compare_once(slow, base, ["Grains", "SCSC"], rounds=3)["SCSC"] is None  # neither has it


@pytest.mark.parametrize(
    "name", ["Clues", "PCKMeans", "PartitionKMeans", "SCSC", "E2CP", "ConstrainedAgglomerative", "Grains", "Cluewise"]
)
def test_every_call_can_be_made(room, name):
    assert name in room("gate_calls").CALLS
    assert room("gate_calls").prepare(name) is not None


def test_only_what_is_slower_every_time_is_called_slower(room):
    gate = room("gate_speed")
    said = {
        "slower": iter([1.2, 1.1, 1.3, 1.06]),
        "once": iter([1.2, 0.9]),
        "level": iter([1.0]),
        "new": iter([None]),
    }
    asked = []

    def start(names):
        asked.append(list(names))
        return {name: next(said[name]) for name in names}

    found = gate.judge(start, list(said), starts=4)
    table, slower = gate.describe(found, starts=4)
    assert slower == ["slower"]
    assert asked == [["slower", "once", "level", "new"], ["slower", "once"], ["slower"], ["slower"]]
    assert "not in both versions" in table
    assert table.count("SLOWER") == 1


def test_a_commit_is_unpacked_as_it_was(room, tmp_path, monkeypatch):
    gate = room("gate_speed")
    repository = tmp_path / "repository"
    fake(repository / "src", "then = 1\n")
    settings = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "m"]):
        subprocess.run(["git", *settings, *words], cwd=repository, check=True)
    (repository / "src" / "cluewise" / "__init__.py").write_text("now = 1\n")
    monkeypatch.setattr(gate, "ROOT", repository)
    assert (gate.unpack("HEAD", tmp_path / "base") / "cluewise" / "__init__.py").read_text() == "then = 1\n"
    with pytest.raises(SystemExit, match="nowhere"):
        gate.unpack("nowhere", tmp_path / "other")


# --- quality ------------------------------------------------------------------------------------------------------


@pytest.fixture
def gate(room):
    return room("gate_quality")


def test_the_committed_figures_are_those_of_the_panel(gate):
    cells = {str(gate.Cell(*parts)) for parts in product(gate.SETS, gate.CLUES, range(gate.SEEDS))}
    figures = json.loads(gate.FILE.read_text("utf-8"))
    assert len(cells) == 6 * 4 * 3
    assert set(figures) == cells
    assert all(-0.5 <= value <= 1 for value in figures.values())


def test_the_panel_runs(gate):
    words = []
    found = gate.run_panel(["iris"], seeds=1, show=words.append)
    assert list(found) == [str(gate.Cell("iris", kind, 0)) for kind in gate.CLUES]
    assert words == [f"iris: {np.mean(list(found.values())):.3f}"]
    assert all(0.3 < value <= 1 for value in found.values())


@pytest.mark.parametrize(
    ("shift", "spread", "worse"),
    [(0.0, 0.0, []), (-0.02, 0.005, ["all"]), (-0.005, 0.0, []), (0.05, 0.02, [])],
)
def test_a_loss_has_to_be_larger_than_noise(gate, shift, spread, worse):
    before = json.loads(gate.FILE.read_text("utf-8"))
    rng = np.random.default_rng(0)
    after = {cell: value + shift + spread * rng.normal() for cell, value in before.items()}
    found = [name for name, *_, is_loss in gate.judge(before, after) if is_loss]
    assert found[:1] == worse


def test_choices_that_tip_either_way_are_noise(gate):
    before = json.loads(gate.FILE.read_text("utf-8"))
    alarms = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        tipped = rng.random(len(before)) < 0.2
        changes = np.where(tipped, rng.normal(scale=0.1, size=len(before)), 0)
        after = {cell: value + change for (cell, value), change in zip(before.items(), changes)}
        alarms += any(is_loss for *_, is_loss in gate.judge(before, after))
    assert alarms <= 2


def test_a_loss_in_one_kind_of_clues_is_seen(gate):
    before = json.loads(gate.FILE.read_text("utf-8"))
    kind = "n/2 pairs that say nothing"
    after = {cell: value - 0.1 * (f"| {kind} |" in cell) for cell, value in before.items()}
    assert kind in [name for name, *_, is_loss in gate.judge(before, after) if is_loss]


def test_another_panel_needs_new_figures(gate):
    with pytest.raises(SystemExit, match="--renew"):
        gate.judge({"a | b | 0": 1.0}, {"a | c | 0": 1.0})
