"""What strangers find: the public surface is what the list says, workflows call Make targets, files are there."""

from __future__ import annotations

import csv
import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml

from cluewise import __version__
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
    assert len(re.findall(r"\brun:", text)) == len(re.findall(r"- run: make ", text))
    used = re.findall(r"uses: (.*)$", text, re.MULTILINE)
    assert used
    # A tag can be moved to other code, a commit cannot; the comment says which version it is.
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*", action)] == []


def test_workflows_cover_tests_floors_documentation_and_release():
    called = {path.stem: re.findall(r"run: make (.*)$", path.read_text("utf-8"), re.MULTILINE) for path in WORKFLOWS}
    gates = ["gate-speed", "gate-quality"]
    assert called == {
        "codeql": [], "docs": ["docs"], "floors": ["test-floors"], "gates": gates, "release": ["dist"], "test": ["test"]
    }  # fmt: skip
    release = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]["publish"]
    assert release["permissions"] == {"id-token": "write"}  # trusted publishing: there is no password to lose
    assert release["if"] == "startsWith(github.ref, 'refs/tags/v')"
    updated = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text("utf-8"))["updates"]
    assert {one["package-ecosystem"] for one in updated} == {"github-actions", "npm", "pip"}


def test_the_matrix_has_the_pythons_that_are_promised():
    promised = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))
    assert matrix["jobs"]["test"]["strategy"]["matrix"]["python"] == promised
    tried = csv.DictReader((ROOT / "docs" / "environments.csv").open(newline=""))
    passed = {row["Python"].rpartition(".")[0] for row in tried if row["smoke test"] == "passed"}
    assert set(promised) <= passed


def test_the_recipe_for_conda_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text("utf-8"))
    assert recipe["context"] == {"version": __version__, "python_min": project["requires-python"].removeprefix(">=")}
    python, *needed = recipe["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    # Markers are for pip: conda-forge has no packages for the browser.
    assert [one.replace(" ", "") for one in needed] == [one.split(";")[0] for one in project["dependencies"]]
    name, target = next(iter(project["scripts"].items()))
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {target}"]
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license"] == project["license"]
    assert recipe["package"]["name"] == project["name"]


def test_the_files_that_people_look_for_are_there():
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "SUPPORT.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE"):
        assert (ROOT / name).stat().st_size > 300, name
    assert len(WORKFLOWS) == 6
    assert len(list((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))) == 3


def test_language_models_find_every_page_of_the_guide():
    listed = (ROOT / "docs" / "llms.txt").read_text("utf-8")
    pages = {path.stem for path in (ROOT / "docs" / "guide").glob("*.md")} - {"index"}
    assert set(re.findall(r"\(guide/(\w+)\.html\)", listed)) == pages


def test_the_bill_of_materials_names_what_is_needed_and_what_is_inside(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = runpy.run_path(str(ROOT / "tools" / "dist.py"))
    parts = {"cluewise": {"version": "1", "license": "BSD"}, "numpy": {"version": "2.4", "license": ""}}
    bill = tool["_bill"](parts)
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/cluewise@1"
    purls = [one["purl"] for one in bill["components"]]
    assert purls[0] == "pkg:pypi/numpy@2.4"
    assert [purl.rpartition("@")[0] for purl in purls[1:]] == ["pkg:npm/preact"]
