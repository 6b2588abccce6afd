"""The page of ``cluewise ask --html`` in a browser: keys, fingers, a name, a file, and nothing over the network."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cluewise.active import Question
from cluewise.workspace import offline, projects

pytestmark = pytest.mark.needs_chromium

OPTIONS = dict.fromkeys(
    ("strategy", "questions", "clues", "id", "columns", "ignore", "as", "sheet", "label_column", "clusters", "seed")
) | {"raw": False, "strategy": "RandomPairs", "columns": "length,width"}
HOSTILE = "<img src=x onerror=\"document.title='hacked'\"></script>"
QUESTIONS = [
    Question("pair", (0, 4), "because."),
    Question("pair", (0, 1)),
    Question("pair", (1, 5)),
    Question("which", (2, 5, 1, 9)),
    Question("label", (3,)),
    Question("label", (7,)),
    Question("group", (2, 3, 6, 10)),
]


@pytest.fixture
def project(tmp_path):
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 4, axis=0) + np.arange(24).reshape(12, 2) / 100
    lines = [f'r{i},{a},{b},"{HOSTILE.replace(chr(34), chr(34) * 2)}"' for i, (a, b) in enumerate(X)]
    (tmp_path / "data.csv").write_text("\n".join(["id,length,width,note", *lines]) + "\n", "utf-8")
    talk, data, rows = projects.begin(tmp_path / "data.cluewise", tmp_path / "data.csv", OPTIONS, 9)
    with talk:
        (tmp_path / "page.html").write_text(offline.write_page(talk, data, rows, QUESTIONS)[0], "utf-8")
        yield talk


def start(page, tmp_path):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    return asked


def downloaded(page, tmp_path):
    with page.expect_download() as download:
        page.click("#download")
    assert download.value.suggested_filename == "answers.json"
    download.value.save_as(tmp_path / "answers.json")
    return json.loads((tmp_path / "answers.json").read_text("utf-8"))


def test_all_questions_by_keyboard(project, new_page, tmp_path):
    page = new_page(viewport={"width": 1280, "height": 860})
    asked = start(page, tmp_path)
    assert page.inner_text("h1") == "Do r0 and r4 belong together?"
    assert page.inner_text("tbody tr:first-child td") == HOSTILE  # shown as text
    page.keyboard.press("x")
    page.keyboard.press("x")
    page.keyboard.press("Backspace")  # it was wrong
    assert page.inner_text("#count") == "1 of 7 answered"
    page.keyboard.press("a")
    page.wait_for_timeout(500)  # the browser hands its storage on a moment later, and a reload may start a new process
    page.reload()  # a phone that was switched off
    page.wait_for_selector("html[data-ready]")
    assert page.inner_text("h1") == "Do r1 and r5 belong together?"
    page.keyboard.press("Space")
    page.keyboard.press("2")
    page.fill("#class", "n")  # typed, not pressed
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    for key in ("1", "2", "p", "3", "Enter"):
        page.keyboard.press(key)
    assert page.inner_text("h1") == "Thank you: all questions are answered."
    page.fill("#who", "Ann")
    content = downloaded(page, tmp_path)
    assert [entry["value"] for entry in content["answers"]] == [False, True, None, 1, "n", "n", [[2, 3], [6]]]
    assert all(entry["seconds"] >= 0 for entry in content["answers"])
    assert page.title() == "data.csv · cluewise"
    assert {url.partition(":")[0] for url in asked} <= {"file", "blob"}
    found = offline.take_in(offline.read_answers(tmp_path / "answers.json", project), project)
    assert found == ("Ann", 7, 0, 0)
    # An answer that is changed later replaces the first, also here.
    page.get_by_role("button", name="Change: Do r0 and r4 belong together?").click()
    page.keyboard.press("y")
    downloaded(page, tmp_path)
    again = offline.take_in(offline.read_answers(tmp_path / "answers.json", project), project)
    assert again == ("Ann", 1, 1, 6)
    assert [said.value for said in project.state.answers if said.question.rows == (0, 4)] == [True]


def test_on_a_phone_in_the_dark(project, new_page, tmp_path):
    page = new_page(
        viewport={"width": 360, "height": 740},
        has_touch=True,
        is_mobile=True,
        color_scheme="dark",
        reduced_motion="reduce",
    )
    start(page, tmp_path)
    for name in ("Same", "Different", "Don't know"):
        page.get_by_role("button", name=name).tap()
    page.get_by_role("button", name="r1", exact=True).tap()
    page.get_by_label("Its class").fill("Barolo")
    page.get_by_role("button", name="OK").tap()
    page.get_by_role("button", name="Barolo").tap()
    page.get_by_role("button", name="Undo").tap()
    page.get_by_role("button", name="Barolo").tap()
    page.get_by_role("button", name="r2", exact=True).tap()
    page.get_by_role("button", name="Done").tap()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360  # nothing to scroll sideways
    content = downloaded(page, tmp_path)
    assert [entry["value"] for entry in content["answers"]] == [True, False, None, 1, "Barolo", "Barolo", [[2]]]
    assert content["who"] == ""


# The contrast of all text against what is behind it, by the formula of WCAG 2.
CONTRAST = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const color = rgb(getComputedStyle(node).backgroundColor);
      if (color[3] !== 0) return color;
    }
    return [255, 255, 255];
  };
  const nodes = [...document.querySelectorAll("body *")].filter(
    (node) => node.checkVisibility() && !node.disabled && !node.closest(":disabled, script, noscript") &&
      [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()));
  return nodes.map((node) => {
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.textContent];
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(project, new_page, tmp_path, scheme):
    page = new_page(color_scheme=scheme, reduced_motion="reduce")
    start(page, tmp_path)
    seen = page.evaluate(CONTRAST)
    page.keyboard.press("a")
    for key in ("a", "a", "1"):
        page.keyboard.press(key)
    page.click("#review")
    seen += page.evaluate(CONTRAST)
    assert len(seen) > 30
    assert min(seen)[0] >= 4.5
