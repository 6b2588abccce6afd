"""The project around the library: no machines or addresses in tracked files, lists that agree."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cluewise import __version__

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CONSTRAINTS = (ROOT / "constraints.txt").read_text("utf-8").splitlines()

# Written in pieces, so that this file does not contain what it looks for.
MACHINES = re.compile(r"/(?:work|root|farm)/|/tmp/[a-z]|\.\./" + "shared")
REGISTRIES = re.compile("py" + r"pi\.org|pythonhosted\." + r"org|npm" + r"js\.(?:org|com)|yarn" + r"pkg\.com", re.I)


def tracked() -> list[Path]:
    """Text files that git knows or would add; in an unpacked archive, the folders of the project."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listing.returncode == 0:
        found = [ROOT / name for name in listing.stdout.split("\0") if name]
    else:
        found = [path for folder in ("src", "tests", "docs", "tools") for path in (ROOT / folder).rglob("*")]
        found += ROOT.glob("*")
    suffixes = {
        ".py",
        ".md",
        ".rst",
        ".toml",
        ".txt",
        ".yaml",
        ".yml",
        ".cff",
        ".bib",
        ".sh",
        ".json",
        ".svg",
        "",
    }
    return [path for path in found if path.is_file() and path.suffix in suffixes]


@pytest.mark.parametrize("pattern", [MACHINES, REGISTRIES], ids=["machines", "registries"])
def test_no_tracked_file_names_a_machine_or_a_registry(pattern: re.Pattern[str]) -> None:
    files = tracked()
    assert ROOT / "pyproject.toml" in files
    hits = [f"{path.relative_to(ROOT)}: {hit}" for path in files for hit in pattern.findall(path.read_text("utf-8"))]
    assert hits == []


def test_the_patterns_find_what_they_look_for() -> None:
    for text in ["/wo" + "rk/main", "/tm" + "p/x", ".." + "/shared/data"]:
        assert MACHINES.search(text)
    assert REGISTRIES.search("https://files." + "pythonhosted" + ".org/packages")


def test_tests_stay_on_this_machine() -> None:
    with socket.socket() as one, pytest.raises(ConnectionRefusedError, match=r"no network.*192\.0\.2\.1"):
        one.connect(("192.0.2.1", 80))  # an address for documentation, which nobody has


def test_constraints_pin_versions_and_nothing_else() -> None:
    for line in CONSTRAINTS:
        pin = Requirement(line)
        assert pin.url is None, line
        assert [clause.operator for clause in pin.specifier] == ["=="], line
    assert "://" not in "\n".join(CONSTRAINTS)


def test_the_documentation_installs_what_its_packages_need() -> None:
    """`make docs` imports every documented package in an environment with the extra `docs` only."""
    extras = PROJECT["optional-dependencies"]
    asked = next(Requirement(line).extras for line in extras["docs"] if Requirement(line).name == PROJECT["name"])
    documented = re.search(r"^AFTER = \((.*?)\)", (ROOT / "docs/_ext/reference.py").read_text("utf-8"), re.M | re.S)
    assert documented is not None
    names = {name.removesuffix("s") for name in re.findall(r'"(\w+)"', documented[1])}
    assert asked >= names & set(extras) == {"plot", "web"}


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_every_dependency_is_pinned_within_its_bounds(python: str) -> None:
    machine = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux"}
    pins = [Requirement(line) for line in CONSTRAINTS]
    here = {
        canonicalize_name(pin.name): next(iter(pin.specifier)).version
        for pin in pins
        if pin.marker is None or pin.marker.evaluate(machine)
    }
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(line for name in extras if name != "torch" for line in extras[name])]
    for requirement in map(Requirement, wanted):
        if requirement.name != PROJECT["name"]:  # cluewise[io] inside an extra
            assert here[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_bibliography_has_unique_complete_entries_in_order() -> None:
    text = (ROOT / "references.bib").read_text("utf-8")
    entries = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", text, flags=re.M | re.S)
    keys = [key for key, _ in entries]
    assert len(entries) == text.count("\n@")
    assert keys == sorted(set(keys))
    for key, body in entries:
        fields = dict(re.findall(r"^\s+(\w+)\s+= \{(.*)\},$", body, flags=re.M))
        assert {"author", "title", "year"} <= set(fields), key
        author = fields["author"].split(",")[0]
        assert key.startswith(
            re.sub(r"\{\\u\{a\}\}", "a", author).replace("-", "").replace(" ", "") + fields["year"]
        ), key


def test_version_is_the_same_everywhere() -> None:
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_make_help_lists_every_target() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"^([a-z][a-z-]*):", text, flags=re.M)
    explained = re.findall(r"^([a-z][a-z-]*):.* ## \w", text, flags=re.M)
    phony = re.search(r"^\.PHONY: (.*)$", text, flags=re.M)
    assert phony is not None
    assert sorted(targets) == sorted(explained) == sorted(phony.group(1).split())


def test_ci_runs_the_commands_of_the_readme_and_pre_commit_fetches_nothing() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    commands = re.findall(r"^make (\w+)", script.read_text("utf-8"), flags=re.M)
    assert commands == ["test", "docs"]
    for command in commands:
        assert f"make {command}" in (ROOT / "README.md").read_text("utf-8")
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert set(re.findall(r"repo: *(\S+)", hooks)) == {"local"}


def words(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(ROOT / "tools" / "words.py"), str(root)], capture_output=True, text=True)


def test_public_words_are_spelled_one_way() -> None:
    result = words(ROOT)
    assert result.returncode == 0, result.stderr


PLANTED = {
    "src/cluewise/__init__.py": '__all__ = ["Blend", "colour_map"]\n',
    "src/cluewise/_blend.py": (
        "class Blend:\n"
        "    def __init__(self, normalise=True):\n"
        "        self.normalise = normalise\n"
        "    def fit(self, X):\n"
        "        self.cluster_centres_ = X\n"
        "    def _inner(self, centres):\n"
        "        neighbours = centres\n"
        "def colour_map(): ...\n"
        "def centre_of_nothing_public(): ...\n"
    ),
    "src/cluewise/utils.py": "ml = 1\nhtml = must = 2\n",
    "src/cluewise/core/centres.py": "def neighbours(must_links): ...\n",
    "src/cluewise/cli/run.py": "def run(colour): ...\n",
    "docs/page.md": "A can't-link is a must_link, said ClueWise.\nMust-links and cannot-links are fine.\n",
}


def test_planted_words_are_found_and_nothing_else(tmp_path: Path) -> None:
    for name, text in PLANTED.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    result = words(tmp_path)
    found = sorted(line.rsplit(":", 1)[0] if "drawer" not in line else "drawer" for line in result.stderr.splitlines())
    assert result.returncode == 1
    assert found == [
        "docs/page.md:1: ClueWise",
        "docs/page.md:1: can't-link",
        "docs/page.md:1: must_link",
        "drawer",
        "src/cluewise/_blend.py:2: normalise",
        "src/cluewise/_blend.py:5: cluster_centres_",
        "src/cluewise/_blend.py:8: colour_map",
        "src/cluewise/cli/run.py:1: colour",
        "src/cluewise/core/centres.py:1: must_links",
        "src/cluewise/utils.py:1: ml",
    ]


TINY = "import pytest\n@pytest.mark.needs_data\ndef test_tiny(): {}\n"


@pytest.mark.parametrize(
    ("body", "data", "summary", "code"),
    [
        ("pass", None, "needs_data: 0 ran, 1 skipped", 0),
        ("pass", "data", "needs_data: 1 ran, 0 skipped", 0),
        ("pytest.skip('no wish')", "data", "needs_data: it is there, so no test may be skipped", 1),
    ],
    ids=["without-data", "with-data", "skipped-in-spite-of-data"],
)
def test_needs_data_is_skipped_only_without_data(
    tmp_path: Path, body: str, data: str | None, summary: str, code: int
) -> None:
    folder = tmp_path / "checkout" / "tests"
    folder.mkdir(parents=True)
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text("utf-8"), "utf-8")
    (folder / "test_tiny.py").write_text(TINY.format(body), "utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CLUEWISE", "PYTEST"))}
    if data is not None:
        (tmp_path / "shared" / data).mkdir(parents=True)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "ignore", "tests"],
        cwd=folder.parent,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert summary in result.stdout
    assert result.returncode == code
