"""The words are true: code on every page runs and prints what it says, tables say what the cards say."""

from __future__ import annotations

import contextlib
import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from cluewise.cli._app import app

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BUILT = {"_build", "auto_examples", "generated"}
PAGES = [ROOT / "README.md", *(p for p in sorted(DOCS.rglob("*.md")) if not BUILT & set(p.parts))]
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
CAPTION = re.compile(r":caption: *`?([\w.]+)`?\n\n?")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    body: str
    line: int  # of its first line, counted from 0


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        info = found["info"].replace("{code-block}", "").split()
        yield Block(info[0] if info else "", found["body"], text.count("\n", 0, found.start("body")))


def transcript(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what it is said to answer."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, answer = part.partition("\n")
        yield command, answer


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and scikit-learn's settings put back afterwards."""
    import sklearn

    monkeypatch.chdir(tmp_path)
    with contextlib.ExitStack() as stack:
        stack.enter_context(sklearn.config_context())
        yield tmp_path


def run_pycon(block: Block, page: Path, names: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.body, names, name_of(page), str(page), block.line)
    said: list[str] = []
    # The parser copies the names; what a block defines is there for the next one.
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not said, "".join(said)


def run_console(command: str, answer: str) -> None:
    """Run ``cluewise …`` here; of other programs only the words are checked."""
    words, _, code = command.partition("  # exit code ")
    program, *arguments = shlex.split(words)
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert set(arguments) <= set(targets), f"there is no {words}"
        if arguments == ["demo"]:
            arguments = ["demo", "--quiet"]  # what the target runs, less the words
        else:
            return
    elif program == "pip":
        assert arguments[0] == "install"
        return
    else:
        assert program == "cluewise", f"who runs {words}?"
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == int(code or 0), found.output
    if answer.strip():
        same = doctest.OutputChecker().check_output(answer, found.output, OPTIONS)
        assert same, f"{words}\nsays\n{found.output}\nand not\n{answer}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_runs(page: Path, desk: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if caption := CAPTION.match(block.body):
            (desk / caption[1]).write_text(block.body[caption.end() :], "utf-8")
        elif block.language == "pycon":
            run_pycon(block, page, names)
        elif block.language == "console":
            for command, answer in transcript(block.body):
                run_console(command, answer)
        elif block.language == "python":
            exec(compile("\n" * block.line + block.body, str(page), "exec"), names)
