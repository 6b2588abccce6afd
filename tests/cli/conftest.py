"""The command line in this process, and small files to use it on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from cluewise.cli import main


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Answer]

FLOWERS = """id,length,width,color
rose,0,0.1,red
lily,0.2,0,white
iris,0.1,0.2,blue
oak,9,9.1,green
elm,9.2,9,green
fir,9.1,9.2,green
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call ``cluewise`` with some words; the exit code and what it said."""

    def call(*words: object) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in words])
        code = end.value.code
        return Answer(0 if code is None else int(code), *capsys.readouterr())

    return call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one, with data.csv (six rows in two clusters) in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(FLOWERS, "utf-8")
    (tmp_path / "clues.csv").write_text("a,b,kind\nrose,lily,must\niris,oak,cannot\n", "utf-8")
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Callable[[str, str], Path]:
    """Write a file into the folder."""

    def put(name: str, text: str) -> Path:
        path = folder / name
        path.write_text(text, "utf-8")
        return path

    return put
