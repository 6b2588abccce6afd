"""What strangers find: the public surface is what the list says, workflows call Make targets, files are there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from cluewise._homes import ROOMS

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

pytestmark = pytest.mark.no_cover


def test_the_public_surface_is_what_the_list_says():
    """Run `make surface` if the change is meant; then it is a line for the changelog, too."""
    tool = runpy.run_path(str(ROOT / "tools" / "surface.py"))
    assert tool["list_surface"]() == tool["FILE"].read_text("utf-8")


def test_the_policy_names_all_public_packages():
    words = (ROOT / "docs" / "stability.md").read_text("utf-8")
    assert [room for room in ROOMS if f"`{room}`" not in words and f"`cluewise.{room}`" not in words] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_only_call_make_targets(path):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    text = path.read_text("utf-8")
    for command in re.findall(r"^\s*- run: (.*)$", text, re.MULTILINE):
        program, *names = command.split()
        assert program == "make"
        assert set(names) <= set(targets)
    assert "permissions:" in text
    assert not re.search(r"run: \|", text)


def test_the_files_that_people_look_for_are_there():
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "SUPPORT.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE"):
        assert (ROOT / name).stat().st_size > 300, name
    assert len(WORKFLOWS) == 5
    assert len(list((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))) == 3


def test_language_models_find_every_page_of_the_guide():
    listed = (ROOT / "docs" / "llms.txt").read_text("utf-8")
    pages = {path.stem for path in (ROOT / "docs" / "guide").glob("*.md")} - {"index"}
    assert set(re.findall(r"\(guide/(\w+)\.html\)", listed)) == pages
