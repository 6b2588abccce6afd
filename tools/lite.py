"""Build the page on which people try cluewise in the browser: ``make docs-lite``.

JupyterLite with the notebook of ``docs/lite`` and a wheel of the library, in ``docs/_build/html/lite``. Building it
needs no network; opening it does: the browser fetches Python, numpy, scipy and scikit-learn from Pyodide's servers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONTENTS = ROOT / "docs" / "lite"
SITE = ROOT / "docs" / "_build" / "html" / "lite"


def build(site: Path) -> None:
    """The whole site; what was there before is removed."""
    shutil.rmtree(site, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        command = [
            sys.executable, "-m", "jupyter", "lite", "build", "--lite-dir", folder, "--output-dir", site,
            "--contents", CONTENTS, "--piplite-wheels", wheel, "--apps", "lab",
            "--no-unused-shared-packages", "--no-sourcemaps",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"jupyter lite failed:\n{done.stdout}{done.stderr}")


def build_wheel(folder: Path) -> Path:
    """A wheel of the library, without the page of `cluewise web`: a browser cannot serve it."""
    environment = os.environ | {"CLUEWISE_WITHOUT_PAGE": "1"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


if __name__ == "__main__":
    build(SITE)
    print(f"cluewise: serve {SITE.parent} and open lite/lab/index.html?path=try.ipynb")
