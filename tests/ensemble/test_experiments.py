"""The experiments run in a small form, write what they promise, and go on after a kill."""

import csv
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from cluewise import ApproxKernelKMeans

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
SMALL = ["--data", "digits", "--rows", "2000", "--partitions", "4", "--learn", "300", "--landmarks", "20"]
SMALL += ["--block", "300", "--pairs", "40", "--tiers", "2"]

KILLED = """
import os, signal, sys
import scsc_8m
note = scsc_8m.note
def third(mark, done):
    if done == 3:
        os.kill(os.getpid(), signal.SIGKILL)  # its labels are written, but nothing says so yet
    note(mark, done)
scsc_8m.note = third
scsc_8m.main(sys.argv[1:])
"""


@pytest.fixture
def script(monkeypatch):
    """``script(name)`` imports a file of experiments/; afterwards it is forgotten."""
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    yield import_module
    for name in ("scsc_8m", "scsc_tiers", "scsc_favored"):
        sys.modules.pop(name, None)


def test_a_killed_run_goes_on_and_gives_the_same_labels(script, tmp_path, capsys):
    whole = script("scsc_8m")
    whole.main([str(tmp_path / "whole"), *SMALL])
    assert "labelled 2000 of 2000 rows in this run" in capsys.readouterr().out

    env = os.environ | {"PYTHONPATH": str(EXPERIMENTS)}
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "killed"), *SMALL], env=env, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "killed" / "blocks").read_text() == "2"
    whole.main([str(tmp_path / "killed"), *SMALL])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("labelled 1400 of 2000 rows in this run")
    first, second = (np.load(tmp_path / name / "labels.npy") for name in ("whole", "killed"))
    assert first.shape == (4, 2000)
    assert first.dtype == np.uint8
    assert min(len(np.unique(labels)) for labels in first) > 1
    np.testing.assert_array_equal(first, second)
    assert [line.split(":")[0] for line in lines[4:6]] == ["tier 1", "tier 2"]

    whole.main([str(tmp_path / "killed"), *SMALL])
    assert "labelled 0 of 2000 rows in this run" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        whole.main([str(tmp_path / "killed"), *SMALL, "--seed", "1"])
    assert "was begun with other arguments" in capsys.readouterr().err


def test_labels_are_those_of_kernel_kmeans(script, tmp_path):
    module = script("scsc_8m")
    rng = np.random.default_rng(0)
    images = module.deformed(rng.random((500, 64), dtype=np.float32), rng)
    given = type("Given", (), {"folder": tmp_path, "seed": 0, "landmarks": 30})
    own = module.model(images, 5, 2, given)
    x = np.ascontiguousarray(images[:, own.columns])
    alone = ApproxKernelKMeans(5, landmarks=30, n_init=1, max_iter=30, random_state=2).fit(x)
    same = module.nearest(np.ascontiguousarray(images.T), own) == alone.predict(x)
    assert same.mean() > 0.99  # single precision may decide a tie otherwise


def test_deformations_are_small_and_seeded(script):
    module = script("scsc_8m")
    images = np.zeros((40, 64), dtype=np.float32).reshape(40, 8, 8)
    images[:, 2:6, 2:6] = 1.0
    images = images.reshape(40, 64)
    first, again = (module.deformed(images, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.min() >= 0
    assert first.max() <= 1
    moved = np.abs(first - images).mean(axis=1)
    assert (moved > 0).all()
    assert moved.max() < 0.5 * images.mean()
    assert len(np.unique(first, axis=0)) == 40


def test_tiers_are_written_as_a_table_and_as_curves(script, tmp_path, capsys):
    module = script("scsc_tiers")
    arguments = ["--ensembles", "1", "--draws", "2", "--partitions", "15", "--rows", "120", "--out", str(tmp_path)]
    module.main(["iris", "nowhere", *arguments])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "iris, 120 rows: mean NMI ± standard deviation over 2 draws"
    assert [line[:26].strip() for line in lines[3 : 3 + len(module.RULES)]] == list(module.RULES)
    with (tmp_path / "scsc_tiers_iris_120.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(module.RULES) * 6
    starts = {(row["draw"], row["nmi"]) for row in rows if row["tier"] == "0" and "k-means" not in row["rule"]}
    assert len({nmi for _, nmi in starts}) == 1
    assert (tmp_path / "scsc_tiers.png").stat().st_size > 1000


def test_what_is_favored_is_printed_for_every_rule(script, capsys):
    module = script("scsc_favored")
    module.main(["iris"], m=15)
    title, *lines = capsys.readouterr().out.splitlines()
    assert title.startswith("iris: single NMI")
    assert [line[:14].strip() for line in lines] == list(module.RULES)
    assert "count  15" in lines[0]


def test_no_set_is_an_error(script, capsys):
    with pytest.raises(SystemExit):
        script("scsc_tiers").main(["nowhere"])
    assert "none of the data sets is on this machine" in capsys.readouterr().err
