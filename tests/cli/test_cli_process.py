"""The command line in a process of its own."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cluewise.cli import main

HEAVY = {"numpy", "scipy", "sklearn", "numba", "matplotlib", "polars", "pandas", "narwhals", "sqlalchemy"}


def process(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cluewise.cli", *words], cwd=cwd, capture_output=True, text=True, encoding="utf-8"
    )


def test_help_imports_nothing_heavy(tmp_path):
    code = "import sys; from cluewise.cli import app; app(['--help'], standalone_mode=False); print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    loaded = set(result.stdout.split())
    assert "cluewise.cli._fit" in loaded, result.stderr
    assert loaded & HEAVY == set()


def test_a_named_method_does_not_load_the_default(tmp_path):
    (tmp_path / "data.csv").write_text("0,0\n0,1\n9,9\n9,8\n", "utf-8")
    words = ["fit", "data.csv", "-k", "2", "--method", "PCKMeans", "-q"]
    code = f"import sys; from cluewise.cli import app; app({words}, standalone_mode=False); print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not {"cluewise.front", "cluewise.sketch", "cluewise.spectral"} & set(result.stdout.split())


def test_only_a_process_of_its_own_collects_garbage_rarely(tmp_path):
    usual = gc.get_threshold()
    with pytest.raises(SystemExit):
        main(["--version"])
    assert gc.get_threshold() == usual
    code = "import gc, sys; from cluewise.cli import main\ntry: main()\nfinally: print(gc.get_threshold()[0])"
    result = subprocess.run([sys.executable, "-c", code, "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert int(result.stdout.split()[-1]) > usual[0]


def test_a_mistake_ends_with_code_2_and_one_line(tmp_path):
    (tmp_path / "data.csv").write_text("id,x\na,0\nb,0,1\n", "utf-8")
    result = process("fit", "data.csv", "-k", "2", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "cluewise: data.csv line 3 has 3 fields, but there are 2 columns.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_a_fit_from_beginning_to_end(tmp_path):
    (tmp_path / "data.csv").write_text("0,0\n0,1\n9,9\n9,8\n", "utf-8")
    (tmp_path / "clues.csv").write_text("0,1,must\n1,2,cannot\n", "utf-8")
    result = process("fit", "data.csv", "--clues", "clues.csv", "-k", "2", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "data-clusters.csv").read_text("utf-8").startswith("x0,x1,cluster,margin\n")


def test_ctrl_c_ends_a_long_fit_with_code_130_and_leaves_nothing(tmp_path):
    np.save(tmp_path / "data.npy", np.random.default_rng(0).normal(size=(60_000, 30)))
    command = [sys.executable, "-m", "cluewise.cli", "fit", "data.npy", "-k", "60"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # The fit begins when the place of the output is taken.
    while len(list(tmp_path.iterdir())) == 1 and running.poll() is None:
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "cluewise: interrupted; no file is half-written.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["data.npy"]


def shell(words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f"{sys.executable} -m cluewise.cli {words}"], cwd=cwd, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        ("--version >&-", 2, "", "cluewise: standard output is closed; send it to a file or to /dev/null.\n"),
        ("--version >/dev/full", 2, "", "cluewise: standard output cannot be written: no space left on device.\n"),
        ("list >/dev/full", 2, "", "cluewise: standard output cannot be written: no space left on device.\n"),
        ("list --wrong 2>&-", 2, "", ""),
        ("--help 2>&1 >&- | cat", 0, "cluewise: standard output is closed; send it to a file or to /dev/null.\n", ""),
        ("--help | true", 0, "", ""),
        ("list | head -n 0", 0, "", ""),
    ],
)
def test_standard_streams_that_cannot_be_used(tmp_path, words, code, out, err):
    result = shell(words, tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (code, out, err)


def test_an_output_never_takes_the_place_of_a_closed_stream(tmp_path):
    (tmp_path / "data.csv").write_text("0,0\n0,1\n9,9\n9,8\n", "utf-8")
    result = shell("fit data.csv -k 2 -q 0<&- 2>&-", tmp_path)
    assert (result.returncode, result.stdout) == (0, "")
    assert (tmp_path / "data-clusters.csv").read_text("utf-8").startswith("x0,x1,cluster,margin\n")
