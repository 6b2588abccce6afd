"""Try the widget in a real notebook: run a cell in JupyterLab, answer questions in it, and look at what was stored.

    pip install jupyterlab anywidget playwright     # none of the first is in the test extra: a hundred packages
    python benchmarks/web_notebook.py --picture notebook.png

Uses the chromium on the path. Exits with 1 if the answers are not in the project, or the page of the widget failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from playwright.sync_api import Page, sync_playwright

from cluewise.store import Store

CELL = """\
import numpy as np
import cluewise as cw
from cluewise.active import CluewiseQuestions, Project

rng = np.random.default_rng(0)
X = 5 * rng.normal(size=(4, 6)).repeat(60, axis=0) + rng.normal(size=(240, 6))
project = Project.begin("rows.cluewise", CluewiseQuestions(n_clusters=4), X, budget=50, random_state=0)
cw.web.widget(project, who="ann")
"""
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
ARGUMENTS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-compositing")
ANSWERS = 4
PATIENCE = 60_000  # milliseconds until something is on the screen; the first fit may have to compile


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, default=Path("notebook.png"))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_notebook(folder / "try.ipynb")
        token = secrets.token_hex(16)
        lab = start_lab(folder, token)
        try:
            found = find_address(lab)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
                page = browser.new_page(viewport={"width": 1440, "height": 1100})
                faults: list[str] = []
                page.on("pageerror", lambda error: faults.append(str(error)))
                page.goto(f"{found}/lab/tree/try.ipynb?token={token}")
                try:
                    seconds = answer_in(page)
                finally:
                    page.screenshot(path=chosen.picture)
        finally:
            lab.terminate()
            lab.wait()
        with Store.open(folder / "rows.cluewise") as store:
            kept = [(entry.who, entry.answer) for entry in store.standing()]
    print(f"{len(kept)} of {ANSWERS} answers stored, {len(faults)} errors on the page, widget after {seconds:.1f} s")
    print("\n".join(faults))
    return int(kept != [("ann", True)] * ANSWERS or bool(faults))


def write_notebook(path: Path) -> None:
    cell = {"cell_type": "code", "id": "a", "source": CELL, "metadata": {}, "outputs": [], "execution_count": None}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(whole))


def start_lab(folder: Path, token: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"]
    more = ["--allow-root", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    place = {**os.environ, "HOME": str(folder), "JUPYTER_RUNTIME_DIR": str(folder / ".run")}
    return subprocess.Popen([*command, *more], env=place, stderr=subprocess.PIPE, text=True, encoding="utf-8")


def find_address(lab: subprocess.Popen[str]) -> str:
    assert lab.stderr is not None
    for line in lab.stderr:
        if (found := ADDRESS.search(line)) and "/lab" in line:
            return found[0]
    raise SystemExit("JupyterLab did not start.")


def answer_in(page: Page) -> float:
    """Run the cell and answer the first questions; seconds until the first one was there."""
    page.locator(".jp-CodeCell .cm-content").first.click(timeout=PATIENCE)
    page.wait_for_function("() => document.body.innerText.includes('Idle')", timeout=PATIENCE)
    begun = monotonic()
    page.keyboard.press("Shift+Enter")
    same = page.get_by_test_id("answer-same")
    same.wait_for(timeout=PATIENCE)
    seconds = monotonic() - begun
    for _ in range(ANSWERS - 1):
        same.click()
    page.keyboard.press("a")  # the widget has the focus, so that its keys work
    page.wait_for_timeout(10_000)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
