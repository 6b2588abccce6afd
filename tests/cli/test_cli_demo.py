"""cluewise demo and warmup."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

import pytest
from numba.core.registry import CPUDispatcher

from cluewise import tables
from cluewise._extras import install
from cluewise.cli import _demo as demo_module


@pytest.fixture
def shown(run, folder, monkeypatch):
    monkeypatch.setattr("cluewise.cli._wine.DRAWS", 2)
    answer = run("demo")
    assert (answer.code, answer.err) == (0, "")
    return answer.out


def numbers(text: str, words: str) -> list[float]:
    line = next(line for line in text.splitlines() if words in line)
    return [float(number) for number in line.split(words)[1].split()[-2:]]


def test_demo_shows_a_gain_and_writes_its_files(shown):
    before, after = numbers(shown, "agreement with the truth")
    assert after > before + 0.02
    assert numbers(shown, "the same by NMI")[1] > numbers(shown, "the same by NMI")[0]
    assert numbers(shown, "wines in the wrong cluster")[1] < numbers(shown, "wines in the wrong cluster")[0]
    assert numbers(shown, "broken clues")[1] < numbers(shown, "broken clues")[0]
    must, cannot = re.findall(r"(must|cannot)-links (\S+) % \(truth (\S+) %\)", shown)
    assert (must[0], must[2], cannot[0], cannot[2]) == ("must", "82.5", "cannot", "95.0")
    assert abs(float(must[1]) - 82.5) < 15
    assert abs(float(cannot[1]) - 95) < 10
    assert "one link in ten is wrong" in shown
    assert "With 2 other draws of clues" in shown
    assert sorted(p.name for p in Path("demo").iterdir()) == ["clues.csv", "truth.csv", "wine.csv", "wine.png"]
    kinds = tables.read("demo/clues.csv").columns["kind"].tolist()
    assert kinds.count("label") == 18
    assert kinds.count("must") + kinds.count("cannot") == 100
    assert Path("demo/wine.png").read_bytes().startswith(b"\x89PNG")


def test_demo_is_the_same_every_time(run, folder, monkeypatch):
    monkeypatch.setattr("cluewise.cli._wine.DRAWS", 1)
    texts = [run("demo", "--out", "first"), run("demo", "--out", "again")]
    assert texts[0].out.replace("first", "again") == texts[1].out
    for name in ("wine.csv", "clues.csv", "wine.png"):
        assert Path("first", name).read_bytes() == Path("again", name).read_bytes()


def test_what_to_try_next_works(run, shown, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\nq\n"))
    commands = re.findall(r"^  \S*cluewise (.*)$", shown, flags=re.M)
    codes = {words.split()[0]: run(*shlex.split(words)) for words in commands}
    assert {name: answer.code for name, answer in codes.items()} == {
        "fit": 0,
        "check": 1,
        "compare": 0,
        "ask": 0,
        "list": 0,
    }
    assert "1 of 50 questions answered (1 no)." in codes["ask"].out
    # The files give what the demo has shown.
    assert f"{int(numbers(shown, 'broken clues')[1])} clues are broken" in codes["fit"].out
    assert Path("demo/map.png").exists()


def test_quiet_demo_only_writes(run, folder):
    assert run("demo", "--quiet", "--out", "a/b") == (0, "", "")
    assert Path("a/b/wine.png").exists()


def test_demo_needs_no_matplotlib(run, folder, monkeypatch):
    """Whoever tries `pipx run cluewise demo` has only what the library itself needs."""
    monkeypatch.setattr("cluewise.cli._wine.DRAWS", 1)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "matplotlib" else pytest.fail(name))
    answer = run("demo")
    assert answer.code == 0
    assert "a picture, too, after: " + install("plot") in answer.out
    assert "--map" not in answer.out
    assert sorted(p.name for p in Path("demo").iterdir()) == ["clues.csv", "truth.csv", "wine.csv"]


@pytest.mark.parametrize(
    ("called", "on_path", "expected"),
    [
        ("bin/cluewise", None, "bin/cluewise"),
        ("bin/cluewise", "bin/cluewise", "cluewise"),
        ("/usr/bin/pytest", None, "cluewise"),
        ("lost/cluewise", None, "cluewise"),
    ],
)
def test_commands_are_shown_as_they_can_be_called(folder, monkeypatch, called, on_path, expected):
    Path("bin").mkdir()
    Path("bin/cluewise").touch()
    monkeypatch.setattr("sys.argv", [called])
    monkeypatch.setattr("shutil.which", lambda _: on_path)
    assert demo_module._program() == expected


def test_a_program_elsewhere_is_shown_by_its_whole_path(folder, monkeypatch):
    Path("cluewise").touch()
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    monkeypatch.setattr("sys.argv", [str(folder / "cluewise")])
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert demo_module._program() == str(folder / "cluewise")


def test_warmup_of_one_method(run):
    answer = run("warmup", "--method", "seededkmeans", "--method", "ConstrainedKMeans")
    assert answer.code == 0
    assert answer.out.startswith("cluewise: compiled the kernels of SeededKMeans, ConstrainedKMeans (")
    assert "did you mean PCKMeans?" in run("warmup", "--method", "PCKMean").err


def test_warmup_compiles_every_kernel(run):
    import importlib
    import pkgutil

    import cluewise.kernels

    answer = run("warmup")
    assert answer.code == 0
    assert answer.out.count("\n") == 1
    kernels = {}
    for module in pkgutil.iter_modules(cluewise.kernels.__path__):
        if module.name.startswith("_"):
            continue
        home = importlib.import_module(f"cluewise.kernels.{module.name}")
        found = {f"{k.py_func.__module__}.{n}": k for n, k in vars(home).items() if isinstance(k, CPUDispatcher)}
        kernels |= found
    # What only kernels call is compiled into them.
    inner = {name for kernel in kernels.values() for name in kernel.py_func.__code__.co_names}
    names = {name: name.rpartition(".")[2] for name, kernel in kernels.items() if not kernel.signatures}
    cold = [name for name, last in names.items() if not last.startswith("_") and last not in inner]
    assert cold == []
