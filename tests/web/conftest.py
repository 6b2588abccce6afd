"""A browser for the tests of the page, the chromium on the path, which draws in software; and a session to talk to.

Tests that use it are marked ``needs_chromium``: `pytestmark = pytest.mark.needs_chromium` at the top of a file.
"""

from __future__ import annotations

import asyncio
import os
import shutil

import numpy as np
import pytest
from fastapi.testclient import TestClient

from cluewise.web import Session, make_app
from cluewise.web._gate import Gate
from cluewise.workspace import projects
from web_site import end

ARGUMENTS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",  # only WebGL needs the software GPU, which is slow at putting pages together
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
HOME = "http://127.0.0.1:8000"
OPTIONS = dict.fromkeys(
    ("strategy", "clusters", "questions", "seed", "id", "columns", "ignore", "label_column", "as", "sheet", "clues")
)
GROUPS, EACH = 3, 20
# What the content security policy refused becomes a message that `new_page` recognizes.
REFUSED = "content security policy:"
TELL = f"""addEventListener("securitypolicyviolation",
  (event) => console.error("{REFUSED}", event.violatedDirective, event.blockedURI))"""


@pytest.fixture(scope="session")
def chromium():
    """The browser and playwright's event loop; tests use `browser`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        browser = playwright.chromium.launch(
            executable_path=shutil.which(os.environ.get("CHROMIUM", "chromium")), args=ARGUMENTS
        )
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture
def browser(chromium):
    """The browser. Playwright's loop counts as running only while such a test runs, or no other could start one."""
    browser, loop = chromium
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@pytest.fixture
def faults():
    """Uncaught errors and refusals in the pages of this test; any that is left at the end fails it."""
    found = []
    yield found
    assert not found, "\n".join(found)


@pytest.fixture
def new_page(browser, faults):
    """``new_page(**options)``: a page in a context of its own; the test fails on errors and on what CSP refuses.

    The options are those of playwright's contexts, such as ``viewport``, ``color_scheme`` or ``reduced_motion``.
    """
    contexts = []

    def hear(message):
        if message.type == "error" and message.text.startswith(REFUSED):
            faults.append(message.text)

    def new(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        context.add_init_script(TELL)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"uncaught in the page: {error}"))
        page.on("console", hear)
        # Chromium lets requests pass for a moment after the first route of a page, so tests that hold requests up later
        # would miss some: the first route comes before the first request.
        page.route("http://nowhere.test/", lambda route: route.abort())
        return page

    yield new
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_page):
    """A page of 1440 × 900 pixels."""
    return new_page(viewport={"width": 1440, "height": 900})


@pytest.fixture
def table(tmp_path):
    """Sixty rows: the group of row i is i // 20."""
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [6, 0], [0, 6]])
    xy = centers.repeat(EACH, axis=0) + rng.normal(size=(GROUPS * EACH, 2))
    lines = [f"row{i:02},{x:.4f},{y:.4f},{'abc'[i // EACH]},note <b>{i}</b>" for i, (x, y) in enumerate(xy)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["id,x,y,kind,note", *lines]))
    return path


@pytest.fixture
def start(table):
    """Open a session about the table, a new one or the one before."""
    opened = []

    def make(**given):
        path = table.with_suffix(".cluewise")
        options = {**OPTIONS, "raw": False, "id": "id", "columns": "x,y", "strategy": "random-pairs"}
        if path.exists():
            project, data, rows = projects.go_on(path, table, dict.fromkeys(OPTIONS), None)
        else:
            project, data, rows = projects.begin(path, table, options, budget=1000)
        X = data.encode(raw=False)[0]
        session = Session(project, data, X, rows, **{"n_clusters": 3, "folder": table.parent, **given})
        opened.append(session)
        return session

    yield make
    for session in opened:
        end(session)


@pytest.fixture
def session(start):
    made = start()
    made.wait()
    return made


@pytest.fixture
def gate(session):
    return Gate(session.project.store, hosts=["127.0.0.1"], port=8000, owner="ann")


@pytest.fixture
def client(session, gate):
    """The owner's page."""
    with TestClient(make_app(session, gate), base_url=HOME, raise_server_exceptions=False) as made:
        made.headers["authorization"] = f"Bearer {gate.token('ann')}"
        yield made
