"""What is advised when a package is missing can be typed as it stands: pip finds cluewise where it came from."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from cluewise import _extras
from cluewise._extras import install


@pytest.fixture
def came_from(tmp_path, monkeypatch):
    """``came_from(url, **more)``: what an installer has written about the origin of cluewise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))

    class Distribution:
        text: str | None = None

        def read_text(self, name):
            assert name == "direct_url.json"
            return self.text

    found = Distribution()
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: found)

    def write(url, **more):
        found.text = json.dumps({"url": url, **more})

    write.text = lambda text: setattr(found, "text", text)
    return write


PIP = f"{os.path.join('.', '.venv', 'bin', 'python')} -m pip"


def test_from_an_index(came_from):
    assert install("web") == f'{PIP} install "cluewise[web]"'


def test_from_the_checkout_that_is_the_current_folder(came_from, tmp_path):
    came_from(tmp_path.as_uri(), dir_info={"editable": True})
    assert install("web") == f'{PIP} install -e ".[web]"'


def test_from_a_checkout_elsewhere(came_from, tmp_path_factory):
    folder = tmp_path_factory.mktemp("my check out")
    came_from(folder.as_uri(), dir_info={})
    assert install("io") == f'{PIP} install "{folder}[io]"'
    assert shlex.split(install("io"))[-1] == f"{folder}[io]"


def test_from_a_wheel(came_from, tmp_path):
    wheel = tmp_path / "dist" / "cluewise-0.2.0-py3-none-any.whl"
    came_from(wheel.as_uri(), archive_info={})
    assert install("plot") == f'{PIP} install "cluewise[plot]"'  # the file is gone
    wheel.parent.mkdir()
    wheel.touch()
    assert install("plot") == f'{PIP} install "{os.path.join(".", "dist", wheel.name)}[plot]"'


def test_from_a_repository(came_from):
    came_from("https://example.org/cluewise.git", vcs_info={"vcs": "git", "commit_id": "0" * 40})
    assert install("dask") == f'{PIP} install "cluewise[dask] @ git+https://example.org/cluewise.git"'


@pytest.mark.parametrize("text", [None, "", "[]", "{}", "no json", '{"url": 3}'])
def test_whatever_is_written_there(came_from, text):
    came_from.text(text)
    assert install("web") == f'{PIP} install "cluewise[web]"'


def test_pip_alone_if_it_is_that_of_this_python(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr("shutil.which", lambda name: str(tmp_path / "bin" / name))
    monkeypatch.setattr(_extras, "_read_origin", dict)
    assert install("web") == 'pip install "cluewise[web]"'


def test_no_other_advice_is_given():
    source = Path(_extras.__file__).parent
    advice = {
        str(path.relative_to(source)) for path in source.rglob("*.py") if "pip install" in path.read_text("utf-8")
    }
    assert advice == {"_extras.py", "plots/__init__.py"}  # the latter in a docstring
