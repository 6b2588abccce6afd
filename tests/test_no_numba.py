"""Without numba, as in the browser: kernels are plain Python, results are the same, and the notebook runs."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from cluewise import Clues, PCKMeans

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs" / "lite" / "try.ipynb"

pytestmark = pytest.mark.no_cover

# What Python in the browser is like: no numba, no threads.
BROWSER = """
import sys, threading, warnings
sys.modules["numba"] = None
def refuse(thread):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
warnings.simplefilter("error", UserWarning)
platform, sys.platform = sys.platform, "emscripten"
import cluewise.kernels._jit
sys.platform = platform  # other libraries look for compiled parts by it
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def problem() -> tuple[np.ndarray, Clues]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 3)) + 2 * y[:, None], Clues.sample(y, pairs=60, random_state=0)


def test_labels_are_those_of_compiled_code():
    found = run(
        BROWSER
        + """
import numpy as np
from cluewise import Clues, PCKMeans
rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 40)
X, clues = rng.normal(size=(120, 3)) + 2 * y[:, None], Clues.sample(y, pairs=60, random_state=0)
print(*PCKMeans(3, random_state=0).fit(X, clues=clues).labels_)
assert sys.modules["numba"] is None
"""
    )
    X, clues = problem()
    assert found.split() == [str(label) for label in PCKMeans(3, random_state=0).fit(X, clues=clues).labels_]


def test_the_notebook_of_the_browser_runs_there():
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    install, *others = ["".join(cell["source"]) for cell in cells]
    assert install == "%pip install -q cluewise"
    assert all(not cell["outputs"] for cell in cells)
    plain, ours, *doubts = run(BROWSER + "\n".join(others)).splitlines()
    assert plain.startswith("K-means ")
    assert float(plain.split()[-1]) < 0.2
    assert float(ours.split()[-1]) > 0.9
    assert len(doubts) == 5


def test_elsewhere_people_are_told():
    code = "import sys; sys.modules['numba'] = None; import warnings; warnings.simplefilter('error')\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "import cluewise.kernels.graphs"], capture_output=True, text=True
    )
    assert "numba is not installed: cluewise works without it, but many times slower." in done.stderr


def test_a_broken_numba_is_an_error(tmp_path):
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text("import a_part_of_numba_that_is_missing\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import cluewise.kernels.graphs"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "a_part_of_numba_that_is_missing" in done.stderr


def test_only_the_browser_does_without_numba():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (numba,) = [one for one in map(Requirement, project["dependencies"]) if one.name == "numba"]
    assert numba.marker is not None
    for platform in ("linux", "darwin", "win32"):
        assert numba.marker.evaluate({"sys_platform": platform})
    assert not numba.marker.evaluate({"sys_platform": "emscripten"})
