"""The wheel that users install: built, looked into, installed aside and used in a fresh process."""

from __future__ import annotations

import ast
import gzip
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cluewise import __version__, _docs

ROOT = Path(__file__).resolve().parents[1]

# -I leaves out the current folder and the user's settings; the first lines make sure that it is the wheel.
USE = """
import sys
sys.path.insert(0, sys.argv[1])
import cluewise
assert cluewise.__file__.startswith(sys.argv[1]), cluewise.__file__
X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
clues = cluewise.Clues(6, must=[(0, 1)], cannot=[(2, 3)])
labels = cluewise.PCKMeans(2, random_state=0).fit(X, clues=clues).labels_
assert len(set(labels[:3])) == 1 and len(set(labels[3:])) == 1 and labels[0] != labels[5], labels
sys.stdout.write(cluewise.__version__)
"""


def run(*command: str) -> str:
    result = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_is_small_pure_and_complete(wheel: Path) -> None:
    assert wheel.name == f"cluewise-{__version__}-py3-none-any.whl"
    assert wheel.stat().st_size < 1_600_000
    names = zipfile.ZipFile(wheel).namelist()
    info = f"cluewise-{__version__}.dist-info"
    assert {"cluewise/__init__.py", "cluewise/py.typed", f"{info}/licenses/LICENSE"} <= set(names)
    assert {name.split("/")[0] for name in names} == {"cluewise", info}
    assert not [name for name in names if "/tests/" in name or "__pycache__" in name]
    offline = ROOT / "src" / "cluewise" / "workspace" / "offline"
    parts = [*offline.glob("*.html"), *offline.glob("*.css"), *offline.glob("*.js")]
    assert len(parts) == 3
    modules = {str(path.relative_to(ROOT / "src")) for path in [*(ROOT / "src").rglob("*.py"), *parts]}
    assert modules <= set(names)


def test_wheel_contains_the_page_which_is_light(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    page = {name.removeprefix("cluewise/web/static/"): name for name in archive.namelist() if "/web/static/" in name}
    assert {"index.html", "widget.js", "widget.css"} <= page.keys()
    assets = [name for short, name in page.items() if short.startswith("assets/")]
    assert any(name.endswith(".js") for name in assets)
    assert sum(len(gzip.compress(archive.read(name))) for name in assets) < 200_000


def test_editors_find_complete_docstrings_in_the_wheel(wheel: Path) -> None:
    """They read the source text, in which the repository has placeholders for shared entries."""
    archive = zipfile.ZipFile(wheel)
    written = 0
    for path in (ROOT / "src").rglob("*.py"):
        given = read_docstrings(path.read_text("utf-8"))
        shipped = read_docstrings(archive.read(str(path.relative_to(ROOT / "src"))).decode())
        assert shipped == [_docs.fill(text) for text in given], path
        written += shipped != given
    assert written > 50
    assert len(archive.namelist()) == len(set(archive.namelist()))


def read_docstrings(text: str) -> list[str]:
    nodes = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    return [ast.get_docstring(node, clean=False) or "" for node in nodes]


def test_wheel_says_how_to_start_it_and_what_it_needs(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    info = f"cluewise-{__version__}.dist-info"
    assert "cluewise = cluewise.cli:main" in archive.read(f"{info}/entry_points.txt").decode()
    metadata = archive.read(f"{info}/METADATA").decode()
    assert "\nLicense-Expression: BSD-3-Clause\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata


def test_wheel_works_in_a_fresh_process(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(tmp_path), str(wheel))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # whether it compiles is not the question here, and takes long
    assert run("-I", "-c", USE, str(tmp_path)) == __version__
