"""Places where little is allowed: nothing to write to, a plain locale, every warning an error, files from Windows."""

from __future__ import annotations

import logging
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import cluewise as cw
from cluewise import tables
from cluewise.kernels import _jit

SOURCE = Path(cw.__file__).parent

JOIN = "import cluewise; assert cluewise.Clues(4, must=[(0, 1)]).components.tolist() == [0, 0, 1, 2]"


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [sys.executable, *command], env=os.environ | environment, capture_output=True, text=True, encoding="utf-8"
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


@pytest.fixture
def sealed(tmp_path: Path) -> dict[str, str]:
    """The library where numba may write neither beside the kernels nor at home, not even as root."""
    package = tmp_path / "lib" / "cluewise"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__", "static"))
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file where a folder should be")
    return {"PYTHONPATH": str(tmp_path / "lib"), "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/cache"}


def test_without_a_home_compiled_code_is_kept_in_a_temporary_folder(sealed, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    sealed |= {"TMPDIR": str(temporary), "NUMBA_CACHE_DIR": ""}
    (line,) = run("-c", JOIN, **sealed).stderr.splitlines()
    (folder,) = temporary.iterdir()
    assert line == f"cluewise keeps compiled code in {folder}; NUMBA_CACHE_DIR chooses another folder."
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}
    assert kept
    run("-c", JOIN, **sealed)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")} == kept


def test_a_folder_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    """Numba runs what it finds in its cache, so a folder that others can write to would run their code."""
    monkeypatch.setattr(_jit.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(_jit.tempfile, "tempdir", str(tmp_path))
    own = _jit._make_folder()
    assert own == _jit._make_folder() == str(tmp_path / f"cluewise-{os.getuid()}")
    os.chmod(own, 0o777)
    assert _jit._make_folder() != own
    shutil.rmtree(own)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    os.symlink(tmp_path / "elsewhere", own)
    assert _jit._make_folder() != own


def test_where_nothing_can_be_written_the_log_says_so(monkeypatch, caplog):
    def refuse():
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr(_jit, "_make_folder", refuse)
    with caplog.at_level(logging.WARNING, "cluewise"):
        assert _jit._find_temporary.__wrapped__() == ""
    assert "every process compiles it again" in caplog.text


def test_other_errors_of_numba_are_not_hidden(monkeypatch):
    def fail(**options):
        raise RuntimeError("something else")

    monkeypatch.setattr(_jit, "njit", fail)
    with pytest.raises(RuntimeError, match="something else"):
        _jit.kernel(len)


CLUES = cw.Clues(6, labels=["ä", "ä", "b", None, None, None], must=[(2, 3)], cannot=[(3, 4)], source="Zoë")


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
@pytest.mark.parametrize("name", ["clues.csv", "clues.json", r"C:\Users\Zoë\my clues.csv"])
def test_clue_files_from_windows(tmp_path, name, mark):
    path = tmp_path / name
    CLUES.write(path)
    text = path.read_text("utf-8")
    path.write_bytes((mark + text.replace("\n", "\r\n")).encode())
    assert cw.Clues.read(path) == CLUES


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["unix", "windows", "old mac"])
def test_data_files_from_anywhere(tmp_path, mark, end):
    path = tmp_path / r"C:\rows.csv"
    path.write_bytes((mark + f'naïve,"two{end}lines"{end}1.5,x{end}2.5,y{end}').encode())
    table = tables.read(path)
    assert [name.split() for name in table.columns] == [["naïve"], ["two", "lines"]]
    assert len(table) == 2


PLAIN = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}


def test_a_plain_locale_reads_and_writes_all_letters(tmp_path):
    """Python takes ASCII for everything in such a locale unless it is told otherwise."""
    rows, clues, out = tmp_path / "rows.csv", tmp_path / "clues.csv", tmp_path / "out.csv"
    rows.write_text("name,x\nZoë,0\nÅsa,1\nВера,8\n李,9\n", "utf-8")
    clues.write_text("a,b,kind\nZoë,Åsa,must\nВера,李,must\n", "utf-8")
    command = ("fit", str(rows), "--id", "name", "--clues", str(clues), "-k", "2", "--out", str(out))
    run("-m", "cluewise", *command, **PLAIN, NUMBA_DISABLE_JIT="1")
    lines = out.read_text("utf-8").splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ["Zoë", "Åsa", "Вера", "李"]


def test_no_warning_where_every_warning_is_an_error():
    """`python -W error` stops at the first warning, be it of a dependency at its import."""
    run("-W", "error", "-c", JOIN)
    run("-W", "error", "-m", "cluewise", "list", "--json")
