"""Build what a release consists of, into dist/: wheel, source archive, their checksums, and a list of what they need.

Everything is built twice, and both have to be the same, byte for byte; then the wheel is installed into an environment
of its own and used, and type checkers see what a user's project sees of it. It needs uv.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from environments import ROOT, SMOKE, UV, install

DIST = ROOT / "dist"

# What `uv pip list --format json` does not tell.
PARTS = """
import json, sys
from importlib.metadata import distributions
parts = {}
for one in distributions():
    text = one.metadata.get("License-Expression") or one.metadata.get("License") or ""
    parts[one.metadata["Name"].lower()] = {"version": one.version, "license": text.splitlines()[0] if text else ""}
json.dump(parts, sys.stdout)
"""


def main() -> None:
    """Build, compare, check and try."""
    files = _build(DIST)
    with tempfile.TemporaryDirectory() as folder:
        again = _build(Path(folder))
    if files != again:
        sys.exit(f"two builds differ: {files} and {again}.")
    subprocess.run([UV, "tool", "run", "--quiet", "twine", "check", "--strict", *sorted(DIST.iterdir())], check=True)
    (wheel,) = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        python = install(wheel, sys.executable, Path(folder, "venv"))
        subprocess.run([python, "-I", "-c", SMOKE], cwd=folder, check=True)
        _check_types(python, Path(folder))
        parts = json.loads(subprocess.run([python, "-c", PARTS], check=True, capture_output=True, text=True).stdout)
    bill = DIST / f"{wheel.name.split('-py3')[0]}.cdx.json"
    bill.write_text(json.dumps(_bill(parts), indent=2) + "\n")
    sums = "".join(f"{digest}  {name}\n" for name, digest in sorted(files.items()))
    (DIST / "SHA256SUMS").write_text(sums)
    print(f"{sums}cluewise: dist/ is complete; both builds are the same.")


def _build(folder: Path) -> dict[str, str]:
    """Wheel and source archive in an empty folder, and the checksum of each."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Files carry the time of the last commit, not of the build.
    when = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True)
    environment = os.environ | {"SOURCE_DATE_EPOCH": when.stdout.strip()}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, env=environment, check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def _check_types(python: Path, folder: Path) -> None:
    """Run the strictest checks of mypy and pyright on a user's project, which find the library in the environment."""
    project = shutil.copy(ROOT / "tests" / "typed_project.py", folder)
    mypy = ["mypy", "--strict", "--no-error-summary", "--python-executable", python]
    for checker in (mypy, ["pyright", "--pythonpath", python]):
        subprocess.run([UV, "tool", "run", "--quiet", *checker, project], cwd=folder, check=True)


def _bill(parts: dict[str, dict[str, str]]) -> dict[str, object]:
    """A software bill of materials, as CycloneDX has it."""
    own = parts.pop("cluewise")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component("cluewise", own, "application")},
        "components": [
            *(_component(name, part, "library") for name, part in sorted(parts.items())),
            *(_component(name, part, "library", "npm") for name, part in sorted(_list_page_parts().items())),
        ],
    }


def _list_page_parts() -> dict[str, dict[str, str]]:
    """What the page of `cluewise web` contains beside our own code."""
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text("utf-8"))
    return {
        path.removeprefix("node_modules/"): {"version": part["version"], "license": part["license"]}
        for path, part in lock["packages"].items()
        if path and not part.get("dev")
    }


def _component(name: str, part: dict[str, str], kind: str, home: str = "pypi") -> dict[str, object]:
    found: dict[str, object] = {"type": kind, "name": name, "version": part["version"]}
    if part["license"]:
        found["licenses"] = [{"license": {"name": part["license"]}}]
    return found | {"purl": f"pkg:{home}/{name}@{part['version']}"}


if __name__ == "__main__":
    main()
