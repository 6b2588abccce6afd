"""Map, clusters and doubts on the real page: each act becomes clues in the project, and can be undone."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest

from web_site import Site, write_table

pytestmark = pytest.mark.needs_chromium

WIDE = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce", "device_scale_factor": 0.5}
MARGIN = 24  # free pixels around the points when all are in view


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Sixty rows: the group of row i is i // 20, and the first group has two halves."""
    centers = np.array([[0, -1.5], [0, 1.5], [9, 0], [9, 0], [4, 9], [4, 9]]).repeat(10, axis=0)
    xy = centers + np.random.default_rng(0).normal(size=(60, 2)) * 0.6
    rows = [(f"row{i:02}", f"{x:.3f}", f"{y:.3f}", f"{('red', 'blue')[i % 2]} {i}") for i, (x, y) in enumerate(xy)]
    table = write_table(tmp_path_factory.mktemp("clusters") / "rows.csv", ("id", "x", "y", "note"), rows)
    made = Site(table, columns="x,y")
    yield made
    made.close()


@pytest.fixture
def view(new_page, site):
    return View(site.visit(new_page(**WIDE)), site)


class View:
    """A page, and what the project knows."""

    def __init__(self, page, site):
        self.page, self.site, self.session = page, site, site.session
        page.set_default_timeout(6_000)
        page.wait_for_selector("[data-testid=map][data-ready=true]")

    @property
    def state(self):
        return self.session.project.state

    @property
    def labels(self):
        self.until(self.is_fitted, "the clusters do not take account of everything")
        return self.session.labels().tolist()

    def is_fitted(self):
        """Whether the clusters are those of all answers and acts; names need no fit."""
        now, then = (
            [(state.answers, [act for act in state.acts if act.kind != "name"])]
            for state in (self.state, self.session.fit.state)
        )
        return now == then

    def find(self, name):
        return self.page.locator(f"[data-testid={name}]")

    def until(self, condition, words):
        """Wait until something is so in Python, while the page goes on."""
        for _ in range(250):
            if condition():
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"{words}; the page says: {self.page.locator('.banner').all_inner_texts()}")

    def acted(self, kind, count=1):
        """Wait until the project has a number of acts, the last of some kind, and return it."""
        self.until(lambda: len(self.state.acts) == count, f"there is no act {kind}")
        act = self.state.acts[-1]
        assert (act.kind, act.who) == (kind, "ann")
        return act

    def undone(self, before):
        """Undo the last act by key; the clusters are again those of before."""
        self.page.keyboard.press("u")
        self.until(lambda: not self.state.acts, "the act was not undone")
        assert self.labels == before

    def select(self, *clusters):
        for one in clusters:
            self.find(f"cluster-{one}").get_by_role("checkbox").check()

    def sizes(self):
        """Size of each cluster, as the list on the page shows it."""
        read = "lines => lines.map((one) => [one.dataset.testid.slice(8), one.querySelector('.size').textContent])"
        return {int(one): int(size) for one, size in self.page.eval_on_selector_all("[data-testid^=cluster-]", read)}

    def shows(self, sizes):
        self.until(lambda: self.sizes() == sizes, f"the list is not {sizes}")

    def place(self, row):
        """Where a row is on the screen while all rows are in view."""
        box = self.find("map").bounding_box()
        xy = np.asarray(self.session.layouts["pca"], dtype=float)
        low, high = xy.min(axis=0), xy.max(axis=0)
        scale = min((box["width"] - 2 * MARGIN) / (high - low)[0], (box["height"] - 2 * MARGIN) / (high - low)[1])
        dx, dy = (xy[row] - (low + high) / 2) * scale
        return box["x"] + box["width"] / 2 + dx, box["y"] + box["height"] / 2 - dy

    def draw_around(self, rows):
        """Draw a circle around each row with Shift, all in one selection; each ends where it began."""
        mouse = self.page.mouse
        for i, row in enumerate(rows):
            x, y = self.place(row)
            self.page.keyboard.down("Shift")
            if i:
                self.page.keyboard.down("Control")
            mouse.move(x + 5, y)
            mouse.down()
            for step in range(1, 9):
                mouse.move(x + 5 * cos(step * pi / 4), y + 5 * sin(step * pi / 4))
            mouse.up()
            self.page.keyboard.up("Control")
            self.page.keyboard.up("Shift")
        self.page.wait_for_selector(f"[data-testid=lasso] >> text={len(rows)} row")


def inside(view, group):
    """Two rows of a group whose circles hold no other row."""
    places = np.array([view.place(row) for row in range(60)])
    own = [row for row in range(20 * group, 20 * group + 20)
           if (np.hypot(*(places - places[row]).T) > 14).sum() == 59]  # fmt: skip
    return own[:3]


def test_a_name_is_there_at_once_stays_and_can_be_undone(view):
    before, one = view.labels, view.labels[0]
    view.find(f"name-{one}").click()
    view.page.keyboard.press("Control+a")
    view.page.keyboard.type("ax and hen")  # letters that are keys elsewhere
    view.page.keyboard.press("Enter")
    act = view.acted("name")
    assert (act.cluster, act.name, act.must) == (one, "ax and hen", ())
    view.page.wait_for_selector(f"[data-testid=name-{one}] >> text=ax and hen")
    view.site.say([0, 1], True)
    assert view.labels == before
    view.site.say([0, 2], True)
    assert view.session.names()[one] == "ax and hen"
    view.page.wait_for_selector(f"[data-testid=name-{one}] >> text=ax and hen")
    while view.state.acts or view.state.answers:
        view.page.keyboard.press("u")
        view.page.wait_for_timeout(100)
    view.page.wait_for_selector(f"[data-testid=name-{one}] >> text=cluster {one}")


def test_lock_and_unlock(view):
    before, one = view.labels, view.labels[20]
    view.find(f"lock-{one}").click()
    act = view.acted("lock")
    assert {row for row, _ in act.labels} == set(range(20, 40))
    view.page.wait_for_selector(f"[data-testid=lock-{one}][aria-pressed=true]")
    assert {20, 39} <= set(np.ravel(view.state.clues.must).tolist())
    view.find(f"lock-{one}").click()
    view.page.wait_for_selector(f"[data-testid=lock-{one}][aria-pressed=false]")
    view.until(lambda: not any(act.kind == "lock" for act in view.state.acts), "the lock still holds")
    while view.state.acts:
        view.page.keyboard.press("u")
        view.page.wait_for_timeout(100)
    assert view.labels == before


@pytest.mark.parametrize("way", ["key", "mouse"])
def test_merge(view, way):
    before = view.labels
    a, b, c = before[0], before[20], before[40]
    view.select(a, b)
    if way == "key":
        view.page.keyboard.press("g")
    else:
        view.find("merge").click()
    act = view.acted("merge")
    assert act.change == -1
    merged = view.labels
    assert len(set(merged)) == 2
    assert set(merged[:40]) <= {a, b}
    assert set(merged[40:]) == {c}
    assert np.isinf(view.state.clues.must_weight).any()
    view.shows({merged[0]: 40, c: 20})
    view.page.wait_for_selector("[data-testid=moved] >> text=moved 20 rows")
    view.undone(before)
    view.shows({a: 20, b: 20, c: 20})


@pytest.mark.parametrize("way", ["key", "mouse"])
def test_split(view, way):
    before = view.labels
    one, others = before[0], before[20:]
    view.select(one)
    if way == "key":
        view.page.keyboard.press("k")
    else:
        view.find("split").click()
    act = view.acted("split")
    assert act.change == 1
    now = view.labels
    assert now[20:] == others
    assert len(set(now[:10])) == len(set(now[10:20])) == 1
    assert one in set(now[:20])
    assert len(set(now[:20])) == 2
    view.shows({one: 10, max(now): 10, before[20]: 20, before[40]: 20})
    view.undone(before)


def test_split_by_two_piles(view):
    before = view.labels
    first, second = inside(view, 0)[:2]
    view.draw_around([first])
    view.find("act-pile").click()
    view.draw_around([second])
    view.find("act-split").click()
    act = view.acted("split")
    assert (first, second) in act.cannot
    now = view.labels
    assert now[first] != now[second]
    assert len(set(now)) == 4
    view.find("lasso").wait_for(state="detached")
    view.undone(before)


def test_rows_that_were_drawn_around_belong_never_or_together(view):
    before = view.labels
    rows, there, here = inside(view, 0)[:2], before[20], before[0]
    view.draw_around(rows)
    view.find("lasso").get_by_label("Belongs to …").select_option(str(there))
    assert set(rows) <= set(np.ravel(view.acted("belongs").must).tolist())
    assert {view.labels[row] for row in rows} == {there}
    moved = sum(a != b for a, b in zip(before, view.labels))
    view.page.wait_for_selector(f"[data-testid=moved] >> text=moved {moved} rows")
    view.undone(before)
    view.draw_around(rows)
    view.find("lasso").get_by_label("Never in …").select_option(str(here))
    assert set(rows) <= set(np.ravel(view.acted("never").cannot).tolist())
    assert here not in {view.labels[row] for row in rows}
    view.undone(before)
    view.draw_around(rows)
    view.find("act-together").click()
    assert view.acted("together").must == (tuple(rows),)
    view.undone(before)


@pytest.mark.parametrize("way", ["keys", "drag"])
def test_rows_that_were_drawn_around_are_sorted_into_piles(view, way):
    a, b, c = *inside(view, 0)[:2], inside(view, 1)[0]
    asked = view.page.get_attribute("[data-testid=question]", "data-rows")
    view.draw_around([a, b, c])
    view.find("act-sort").click()
    view.page.wait_for_selector("[data-testid=question][data-kind=group]")
    for row, pile in ((a, 1), (b, 1), (c, 2)):
        chip = view.page.locator(f".chip[data-row='{row}']")
        if way == "keys":
            chip.focus()
            view.page.keyboard.press(str(pile))
        else:
            chip.drag_to(view.find(f"pile-{pile}"))
        view.find(f"pile-{pile}").locator(f"[data-row='{row}']").wait_for()
    if way == "keys":
        view.page.keyboard.press("Enter")  # the button that ends has the focus
    else:
        view.find("answer-done").click()
    view.until(lambda: len(view.state.answers) == 1, "there is no answer")
    assert list(view.state.answers[0].links()) == [(a, b, True), (a, c, False)]
    assert view.page.get_attribute("[data-testid=question]", "data-rows") == asked
    view.page.keyboard.press("u")
    view.until(lambda: not view.state.answers, "the answer was not undone")


def test_the_map_finds_rows_shows_them_and_is_colored_by_many_things(view):
    page, row = view.page, inside(view, 2)[0]
    page.mouse.move(*view.place(row))
    page.wait_for_selector(f".hover >> text=row{row:02}")
    page.mouse.click(*view.place(row))
    page.wait_for_selector(f"[data-testid=card] h3 >> text=row{row:02}")
    page.wait_for_function("() => document.querySelectorAll('[data-testid=card] .names li').length === 10")
    near = view.find("card").locator(".names button").first.inner_text()
    view.find("card").locator(".names button").first.click()
    page.wait_for_selector(f"[data-testid=card] h3 >> text={near}")
    page.keyboard.press("Escape")
    view.find("card").wait_for(state="detached")
    page.keyboard.press("/")
    page.keyboard.type("blue 41")
    page.wait_for_selector(".search >> text=1 row")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-testid=card] h3 >> text=row41")
    for mode, legend in (
        ("confidence", "confidence 0.5"),
        ("doubt", "doubt 1"),
        ("known", "nothing known yet"),
        ("source", "nothing known yet"),
    ):
        view.find("color-mode").select_option(mode)
        page.wait_for_selector(f".legend >> text={legend}")
        assert f"color={mode}" in page.url
    view.find("color-mode").select_option("cluster")
    view.find("links").click()
    page.wait_for_selector(".legend >> text=broken clue")
    view.find("table").click()
    page.wait_for_selector("[data-testid=rows] caption >> text=The first 60 of 60 rows")
    assert page.locator("[data-testid=rows] tbody tr").count() == 60


def test_contradictions_and_suspects_are_told_asked_again_and_dropped(view):
    for a, b in ((0, 1), (20, 21), (0, 2)):
        view.site.say([a, b], True)
    view.site.say([1, 2], False)
    view.session.wait()
    chain = view.find("contradiction").first
    chain.wait_for()
    assert chain.locator("li").count() == 3
    assert "row01 and row02 belong apart" in chain.locator("h3").inner_text()
    suspect = view.find("suspect").first
    suspect.wait_for()
    suspect.get_by_role("button", name="Ask again").click()
    page = view.page
    page.wait_for_selector("[data-testid=question] >> text=asked again")
    page.keyboard.press("a")
    view.until(lambda: all(answer.value for answer in view.state.answers), "the answer was not replaced")
    assert len(view.state.answers) == 4
    view.find("contradiction").first.wait_for(state="detached")
    view.site.say([3, 4], True)
    view.site.say([4, 5], True)
    view.site.say([3, 5], False)
    view.find("contradiction").first.wait_for()
    view.find("contradiction").first.get_by_role("button", name="Drop").first.click()
    view.find("contradiction").first.wait_for(state="detached")
    assert len(view.state.answers) == 6
    while view.state.answers:
        page.keyboard.press("u")
        page.wait_for_timeout(100)
