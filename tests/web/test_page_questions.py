"""The question panel on the real page: every kind of question by keys and by mouse, and what can be taken back."""

from __future__ import annotations

from time import sleep

import pytest

from web_site import Site, write_table

pytestmark = pytest.mark.needs_chromium

WIDE = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce", "device_scale_factor": 0.5}
HEADER = ("id", "x", "y", "note")
GUESS = "[data-testid=guess]"


def write_rows(folder):
    """Sixty rows in three groups: that of row i is i // 20."""
    centers = [(0, 0), (9, 0), (0, 9)]
    rows = [
        (f"row{i:02}", centers[i // 20][0] + i % 5 / 3, centers[i // 20][1] + i % 7 / 4, f"note of {i}")
        for i in range(60)
    ]
    return write_table(folder / "rows.csv", HEADER, rows)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = Site(write_rows(tmp_path_factory.mktemp("pairs")), columns="x,y")
    yield made
    made.close()


@pytest.fixture
def open_page(new_page):
    return lambda site: Panel(site.visit(new_page(**WIDE)), site)


@pytest.fixture
def panel(open_page, site):
    return open_page(site)


class Panel:
    """The question on a page."""

    def __init__(self, page, site):
        self.page, self.site = page, site

    @property
    def rows(self):
        return [int(row) for row in self.page.get_attribute("[data-testid=question]", "data-rows").split()]

    def find(self, name):
        return self.page.locator(f"[data-testid={name}]")

    def press(self, key):
        self.page.keyboard.press(key)

    def shows(self, rows):
        self.page.wait_for_selector(f"[data-testid=question][data-rows='{' '.join(map(str, rows))}']")

    def settle(self, stored):
        """Wait until the server has so many answers, and the page nothing to send."""
        self.page.wait_for_function(
            "() => !Object.keys(localStorage).some((name) => name.startsWith('cluewise.kept.'))"
        )
        assert len(self.site.standing()) == stored

    @property
    def last(self):
        answer = self.site.standing()[-1]
        return list(answer.question.rows), answer.value

    def answer(self, way, value):
        """Answer a pair by a key, or by a button where ``way`` is the name of one."""
        rows, before = self.rows, len(self.site.standing())
        self.find(way).click() if way.startswith("answer-") else self.press(way)
        assert self.rows != rows  # at once
        self.settle(before + 1)
        assert self.last == (rows, value)
        return rows


def hold_answers(page):
    """Hold up the answers that the page sends; call what is returned to let them through."""
    held, free = [], []
    page.route("**/api/answers", lambda route: route.continue_() if free else held.append(route))

    def let_through():
        while not held:
            page.wait_for_timeout(10)
        free.append(True)
        held[0].continue_()

    return let_through


def test_pairs_by_keys_and_by_mouse(panel):
    for way, value in (("a", True), ("y", True), ("x", False), ("n", False), (" ", None), ("?", None)):
        panel.answer("Space" if way == " " else way, value)
    for way, value in (("answer-same", True), ("answer-different", False), ("answer-unsure", None)):
        panel.answer(way, value)
    assert panel.page.evaluate("document.activeElement.tagName") != "BUTTON"  # Space is "don't know" again
    panel.answer("Space", None)


def test_the_next_question_does_not_wait_for_the_server_and_the_guess_waits_for_the_answer(panel):
    page, let_through = panel.page, hold_answers(panel.page)
    first, before = panel.rows, len(panel.site.standing())
    assert panel.find("guess").inner_text() == ""
    assert page.locator(".why").inner_text().startswith("Why this question: ")
    panel.press("a")
    second = panel.rows
    assert second != first
    panel.press("x")
    assert panel.rows not in (first, second)
    assert panel.find("guess").inner_text() == "You said: different."
    assert len(panel.site.standing()) == before
    let_through()
    panel.settle(before + 2)
    page.wait_for_function(
        "() => document.querySelector('[data-testid=guess]').textContent.includes('would have said')"
    )
    assert "%" in panel.find("guess").inner_text()
    assert [(list(one.question.rows), one.value) for one in panel.site.standing()[-2:]] == [
        (first, True),
        (second, False),
    ]


@pytest.mark.parametrize("key", ["u", "Backspace"])
def test_undo_shows_the_question_again_and_redo_answers_it(panel, key):
    rows, count = panel.answer("a", True), len(panel.site.standing())
    panel.press(key)
    panel.shows(rows)
    panel.settle(count - 1)
    assert "Taken back" in panel.find("banner").inner_text()
    panel.press("r")
    panel.page.wait_for_function(
        "rows => document.querySelector('[data-testid=question]').dataset.rows !== rows", arg=" ".join(map(str, rows))
    )
    panel.settle(count)
    panel.find("answer-undo").click()
    panel.shows(rows)
    panel.find("banner").get_by_role("button", name="Redo").click()
    panel.page.wait_for_function(
        "rows => document.querySelector('[data-testid=question]').dataset.rows !== rows", arg=" ".join(map(str, rows))
    )
    panel.settle(count)


def test_an_answer_that_is_not_sent_yet_is_taken_back_in_the_page(panel):
    let_through = hold_answers(panel.page)
    before = len(panel.site.standing())
    panel.press("a")
    second = panel.rows
    panel.press("a")
    panel.press("u")
    assert panel.rows == second
    assert panel.find("banner").inner_text().startswith("Taken back before it was sent.")
    let_through()
    panel.settle(before + 1)


def test_the_last_ten_answers_are_there_and_can_be_changed_and_dropped(panel):
    for _ in range(11 - min(11, len(panel.site.standing()))):
        panel.answer("a", True)
    panel.answer("a", True)
    count, rows = len(panel.site.standing()), panel.last[0]
    panel.page.get_by_role("button", name="Last answers: show and change them").click()
    lines = panel.find("last-answers").locator("li")
    panel.page.wait_for_function("() => document.querySelectorAll('[data-testid=last-answers] li').length === 10")
    lines.first.get_by_role("button", name="different").click()
    panel.page.wait_for_selector("text=The answer was changed.")
    panel.settle(count)
    assert panel.last == (rows, False)
    lines.first.locator("[aria-label=different][aria-pressed=true]").wait_for()
    lines.first.get_by_role("button", name="Take back").click()
    panel.page.wait_for_selector("text=The answer was dropped.")
    panel.settle(count - 1)
    lines.first.locator("text=taken back").wait_for()


def test_keys_do_nothing_while_somebody_types_and_h_lists_them(panel):
    rows = panel.rows
    panel.press("/")
    panel.page.keyboard.type("an h, ? ")
    assert panel.page.input_value("[data-testid=search]") == "an h, ? "
    assert panel.rows == rows
    panel.press("Escape")
    panel.press("Escape")
    panel.press("h")
    assert "same: they belong together" in panel.find("keys").inner_text()
    panel.press("Escape")
    panel.find("keys").wait_for(state="detached")
    assert panel.rows == rows


def test_classes_by_name_and_by_number(open_page, tmp_path):
    site = Site(write_rows(tmp_path), columns="x,y", strategy=None, questions="label")
    try:
        while not site.session.questions._ready:  # until then the page asks about pairs
            sleep(0.05)
        panel = open_page(site)
        panel.page.wait_for_selector("[data-testid=question][data-kind=label]")
        for count, name in enumerate(("axes", "nuts")):
            rows = panel.rows
            panel.find("class").fill(name)
            panel.press("Enter")
            panel.settle(count + 1)
            assert panel.last == (rows, name)
        site.session.wait()
        panel.page.reload()  # classes of the questions that were loaded before are those of before
        panel.page.wait_for_selector("[data-testid=choice-2]")
        rows, chosen = panel.rows, panel.find("choice-2").locator("span").inner_text()
        panel.press("2")
        panel.settle(3)
        assert panel.last == (rows, chosen)
        rows = panel.rows
        panel.press("Space")
        panel.settle(4)
        assert panel.last == (rows, None)
    finally:
        site.close()


def test_which_of_these_by_number_and_by_mouse(open_page, tmp_path):
    site = Site(write_rows(tmp_path), columns="x,y", strategy="explore-consolidate", questions="which")
    try:
        panel, stored = open_page(site), 0
        for way in ("1", "choice-1", "0", "answer-none", "Space"):
            while panel.page.get_attribute("[data-testid=question]", "data-kind") != "which":
                panel.press("x")
                stored += 1
                panel.settle(stored)
            rows = panel.rows
            panel.find(way).click() if "-" in way else panel.press(way)
            stored += 1
            panel.settle(stored)
            assert panel.last == (rows, {"1": rows[1], "choice-1": rows[1], "Space": None}.get(way, False))
    finally:
        site.close()
