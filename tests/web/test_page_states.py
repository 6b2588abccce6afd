"""The page in its states: small, dark and still, read only, shared, cut off, with hostile data, without WebGL.

With CLUEWISE_SCREENSHOTS=FOLDER the pictures of the guide are written there.
"""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import event

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from web_kill import Server, write_data

from web_site import NO_TOUR, Site, write_table

pytestmark = pytest.mark.needs_chromium

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
WIDE = {"viewport": {"width": 1440, "height": 900}}
TABLET = {"viewport": {"width": 800, "height": 1000}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
CALM = {"reduced_motion": "reduce"}
DARK = {"color_scheme": "dark"}
NO_WEBGL = """const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind === "webgl2" ? null : get.call(this, kind, ...rest);
};"""
SHOOTING = os.environ.get("CLUEWISE_SCREENSHOTS")
LARGEST = 150_000  # bytes of a picture


@pytest.fixture
def open_site():
    """``open_site(data, **options)``: a server about a table."""
    opened = []

    def made(data, **options):
        opened.append(Site(data, **options))
        return opened[-1]

    yield made
    for site in opened:
        site.close()


@pytest.fixture
def site(open_site, table):
    """A server about sixty rows; the group of row i is i // 20."""
    return open_site(table, columns="x,y")


@pytest.fixture
def wine(open_site, tmp_path):
    """A server about wines, and the classes of its rows."""
    from sklearn.datasets import load_wine

    data = load_wine()
    names = [name.replace("/", " ").replace("_", " ") for name in data.feature_names]
    lines = [[f"wine{i + 1:03}", *map(float, row)] for i, row in enumerate(data.data)]
    return open_site(write_table(tmp_path / "wine.csv", ["id", *names], lines), strategy=None), data.target


def shoot(page, name):
    """Keep a picture of the page for the guide, if somebody asks for them."""
    if not SHOOTING:
        return
    from PIL import Image

    page.wait_for_timeout(2500)  # nothing glows any more, and all reports are in
    page.get_by_test_id("fitting").wait_for(state="detached")
    path = Path(SHOOTING) / name
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def asked(page):
    """The rows of the question on the page."""
    return tuple(map(int, page.get_by_test_id("question").get_attribute("data-rows").split()))


def wait_until(page, holds):
    """Wait for something that the page does not show."""
    for _ in range(200):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not happen within ten seconds.")


def serious(page):
    """What axe-core finds that would keep people from using the page."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def swipe(page, dx, dy=0):
    """Drag the question with a finger."""
    touch = page.context.new_cdp_session(page)
    box = page.locator(".asked:not(.ghost) h2").bounding_box()
    x, y = box["x"] + 150, box["y"] + box["height"] / 2
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 6):
        at = {"x": x + dx * step / 5, "y": y + dy * step / 5}
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [at]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


# --- small, dark, still, by keyboard --------------------------------------------------------------------------------


def test_a_phone_shows_a_strip_of_the_map_and_takes_swipes(site, new_page):
    page = site.visit(new_page(**PHONE))
    strip, question = (page.locator(f".panel.{one}").bounding_box() for one in ("map", "question"))
    assert 100 < strip["height"] < 200
    assert strip["y"] + strip["height"] <= question["y"] + 1
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    said = []
    for dx, dy, value in [(140, 0, True), (-140, 0, False), (0, -140, None)]:
        said.append((asked(page), value))
        swipe(page, dx, dy)
        wait_until(page, lambda: len(site.standing()) == len(said))
    swipe(page, 30)  # a finger that trembles
    page.wait_for_timeout(200)
    assert [(one.question.rows, one.value) for one in site.standing()] == said


def test_tabs_show_one_panel_at_a_time_on_a_tablet(site, new_page):
    page = site.visit(new_page(**TABLET))
    for tab, panel in [("map", ".map"), ("clusters", ".clusters"), ("people", ".side"), ("question", ".question")]:
        page.get_by_test_id(f"panel-{tab}").click()
        shown = page.locator(".panel:visible")
        assert shown.count() == 1
        assert shown.evaluate("(panel, kind) => panel.matches(kind)", panel)
    page.keyboard.press("a")
    wait_until(page, lambda: len(site.standing()) == 1)


def test_dark_and_light_follow_the_system_at_once(site, new_page):
    page = site.visit(new_page(**WIDE, **DARK))
    colors = "() => ['.panel.question', '.asked h2'].map((one) => getComputedStyle(document.querySelector(one)))\
      .map((style, i) => i ? style.color : style.backgroundColor).map((color) => Number(color.match(/\\d+/)[0]))"
    paper, ink = page.evaluate(colors)
    assert paper < 60
    assert ink > 200
    page.emulate_media(color_scheme="light")
    paper, ink = page.evaluate(colors)
    assert paper > 240
    assert ink < 60


def test_reduced_motion_leaves_nothing_that_moves(site, new_page):
    page = site.visit(new_page(**WIDE, **CALM))
    page.evaluate("""() => {
      window.ghosts = 0;
      new MutationObserver(() => (window.ghosts += document.querySelectorAll(".ghost").length))
        .observe(document.body, {childList: true, subtree: true});
    }""")
    page.keyboard.press("a")
    assert page.evaluate("document.getAnimations().length") == 0
    wait_until(page, lambda: len(site.standing()) == 1)
    page.keyboard.press("x")
    wait_until(page, lambda: len(site.standing()) == 2)
    assert page.evaluate("window.ghosts") == 0


@pytest.mark.parametrize("kind", [WIDE, {**WIDE, **DARK}, PHONE], ids=["light", "dark", "phone"])
def test_axe_finds_no_serious_fault(site, new_page, kind):
    for rows, value in [((0, 1), True), ((1, 2), True), ((0, 2), False), ((0, 25), False)]:
        site.say(rows, value)
    page = new_page(**kind, **CALM)
    page.goto(site.link())  # with the tour
    page.wait_for_selector("html[data-ready]")
    page.get_by_test_id("contradiction").first.wait_for(state="attached")
    found = serious(page)
    page.get_by_test_id("tour-skip").click()
    if kind is PHONE:
        for tab in ("map", "clusters", "doubts"):
            page.get_by_test_id(f"panel-{tab}").click()
            found += serious(page)
    else:
        page.get_by_test_id("tab-answers").click()
        page.get_by_test_id("cluster-0").locator(".about").click()
        page.get_by_test_id("table").click()
        page.get_by_test_id("export").click()
        found += serious(page)
        page.keyboard.press("Escape")
        page.get_by_test_id("tab-people").click()
        page.get_by_test_id("rows").get_by_role("button").first.click()
        page.get_by_role("button", name="Keys and help").click()
        found += serious(page)
    assert not found, "\n".join(found)


def test_tab_reaches_every_control_and_an_answer_keeps_the_focus(site, new_page):
    page = site.visit(new_page(**WIDE))
    wanted = page.evaluate("""() => {
      const all = document.querySelectorAll("button, select, input, [tabindex='0']");
      const shown = [...all].filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility());
      shown.forEach((one, i) => (one.dataset.at = i));
      return shown.length;
    }""")
    reached = {}
    for _ in range(wanted + 2):  # at the end the focus passes the browser itself
        page.keyboard.press("Tab")
        at, outline = page.evaluate(
            "[document.activeElement.dataset.at ?? null, getComputedStyle(document.activeElement).outlineStyle]"
        )
        reached[at] = outline
    reached.pop(None, None)
    assert wanted > 20
    assert reached == {str(i): "solid" for i in range(wanted)}

    page.get_by_test_id("answer-different").focus()
    for count in (1, 2, 3):
        page.keyboard.press("Enter")
        wait_until(page, lambda count=count: len(site.standing()) == count)
        assert page.evaluate("document.activeElement.dataset.testid") == "answer-different"
    assert [one.value for one in site.standing()] == [False] * 3
    page.keyboard.press("Backspace")
    page.get_by_test_id("banner").get_by_text("Taken back").wait_for()
    page.keyboard.press("h")
    page.keyboard.press("Escape")
    wait_until(page, lambda: page.evaluate("document.activeElement !== document.body"))


# --- people ---------------------------------------------------------------------------------------------------------


def test_a_link_that_reads_has_nothing_to_answer_with(site, new_page):
    page = site.visit(new_page(**WIDE), "eve", "reads")
    page.get_by_text("You are watching").wait_for()
    page.get_by_text("read only").wait_for()
    assert page.locator(".answer, [data-testid=merge], [data-testid=split], .lock").count() == 0
    for key in ("a", "x", " ", "u"):
        page.keyboard.press(key)
    page.get_by_test_id("tab-answers").click()
    site.say((0, 1), True)
    page.get_by_test_id("last-answers").get_by_role("listitem").wait_for()
    assert page.get_by_role("button", name="Take back").count() == 0
    assert len(site.standing()) == 1


def test_two_people_see_each_other_agree_and_one_is_forgotten(site, new_page):
    ann = site.visit(new_page(**WIDE, permissions=["clipboard-read", "clipboard-write"]))
    ann.get_by_test_id("tab-people").click()
    ann.get_by_test_id("invite-name").fill("bob")
    ann.get_by_test_id("invite").click()
    ann.get_by_role("button", name="Copy link of bob").click()
    ann.get_by_test_id("banner").get_by_text("The link of bob was copied.").wait_for()
    bob = new_page(**WIDE)
    bob.add_init_script(NO_TOUR)
    bob.goto(ann.evaluate("navigator.clipboard.readText()"))
    bob.wait_for_selector("html[data-ready]")
    bob.get_by_test_id("tab-answers").click()
    ann.get_by_label("2 people online").wait_for()

    rows = asked(bob)
    bob.keyboard.press("x")
    wait_until(bob, lambda: [(one.question.rows, one.who) for one in site.standing()] == [(rows, "bob")])
    for rows, value in [((0, 1), True), ((0, 30), False)]:
        site.say(rows, True, who="bob")
        site.say(rows, value)
    bob.get_by_test_id("last-answers").get_by_role("listitem").nth(4).wait_for()
    ann.get_by_test_id("people").get_by_text("50 %").wait_for()
    ann.get_by_test_id("tab-answers").click()
    ann.get_by_test_id("last-answers").get_by_role("listitem").filter(has_text="bob").nth(2).wait_for()
    ann.get_by_label("Where the project stands").get_by_text("5 answers").wait_for()

    ann.get_by_test_id("tab-people").click()
    ann.get_by_test_id("person-bob").locator(".meta").get_by_text("3 answers").wait_for()
    ann.get_by_role("button", name="Delete the answers of bob").click()
    ann.get_by_role("button", name="Keep them").click()
    assert len(site.standing()) == 5
    ann.get_by_role("button", name="Delete the answers of bob").click()
    ann.locator("dialog[open]").get_by_test_id("delete-answers").click()
    ann.get_by_label("Where the project stands").get_by_text("2 answers").wait_for()
    assert {one.who for one in site.standing()} == {"ann"}
    bob.get_by_label("Where the project stands").get_by_text("2 answers").wait_for()


# --- cut off --------------------------------------------------------------------------------------------------------


def test_a_killed_server_comes_back_and_gets_what_was_answered_meanwhile(tmp_path, new_page):
    write_data(tmp_path)
    server = Server(tmp_path, "--strategy", "RandomPairs")
    page = new_page(**WIDE)
    page.add_init_script(NO_TOUR)
    page.goto(f"{server.address}/?token={server.token}")
    page.wait_for_selector("html[data-ready]")
    page.get_by_test_id("cluster-0").locator(".about").click()
    said = []

    def answer(key):
        said.append([list(asked(page)), key == "a"])
        page.keyboard.press(key)

    answer("a")
    page.get_by_label("Where the project stands").get_by_text("1 answer").wait_for()
    page.get_by_test_id("banner").wait_for(state="detached")
    server.end(signal.SIGKILL)
    page.get_by_test_id("banner").get_by_text("No connection to cluewise.").wait_for()
    answer("x")
    answer("a")
    page.get_by_test_id("banner").get_by_text("2 answers kept in this browser and sent when it is back").wait_for()
    shown = asked(page)

    twin = page.context.new_page()  # with the same unsent answers, once the server is back
    server = Server(tmp_path)
    try:
        twin.goto(f"{server.address}/?token={server.token}")
        page.get_by_label("Where the project stands").get_by_text("3 answers").wait_for()
        twin.wait_for_selector("html[data-ready]")
        page.get_by_test_id("banner").wait_for(state="detached")
        assert asked(page) == shown
        assert page.locator(".clusters li[data-selected=true]").count() == 1
        answer("x")
        page.get_by_label("Where the project stands").get_by_text("4 answers").wait_for()
        entries = server.call("GET", "/api/answers?last=100")
        assert [[one["rows"], one["value"]] for one in reversed(entries)] == said
        # The news that an answer is stored may come before the reply to the answer itself.
        kept = "Object.keys(localStorage).filter((name) => name.startsWith('cluewise.kept')).length"
        wait_until(page, lambda: page.evaluate(kept) == 0)
    finally:
        server.end(signal.SIGINT)


def test_a_line_cut_at_any_moment_is_told_by_the_banner_and_loses_nothing(site, new_page):
    page = new_page(**WIDE)
    cut = {"layouts", "labels"}  # while the page loads
    page.route(
        re.compile("/api/(layouts|labels|clusters)"),
        lambda route: route.abort() if any(f"/api/{name}" in route.request.url for name in cut) else route.continue_(),
    )
    page.add_init_script(NO_TOUR)
    page.goto(site.link())
    page.get_by_test_id("question").wait_for()
    assert page.locator("html[data-ready]").count() == 0
    cut.clear()
    page.context.set_offline(True)
    page.get_by_test_id("banner").get_by_text("No connection to cluewise.").wait_for()
    page.context.set_offline(False)
    page.wait_for_selector("html[data-ready]")  # the points came with the connection

    page.evaluate("""() => {
      const ask = window.fetch;
      window.cuts = 0;
      window.fetch = async (address, options) => {
        const response = await ask(address, options);
        if (options?.method === "POST" && window.cuts++ === 0) response.json = () => Promise.reject(new TypeError());
        return response;
      };
    }""")  # the first answer is stored, but the line is cut while the server says so
    page.keyboard.press("a")
    page.get_by_label("Where the project stands").get_by_text("1 answer").wait_for()
    page.keyboard.press("x")
    page.get_by_label("Where the project stands").get_by_text("2 answers").wait_for()
    page.get_by_test_id("banner").wait_for(state="detached")
    assert page.evaluate("window.cuts") == 3  # the first was sent twice and stored once

    site.session.wait()
    page.wait_for_timeout(500)  # the page has asked for all that the answers changed
    cut.add("clusters")
    with page.expect_event("requestfailed", lambda request: "/api/clusters" in request.url):
        site.session.hub.push({"type": "profiles", "revision": 0})
    page.wait_for_timeout(50)
    assert [one.value for one in site.standing()] == [True, False]


def test_what_cannot_be_stored_or_sent_is_kept_and_another_tab_asks_nothing_twice(site, new_page):
    page = site.visit(new_page(**WIDE))
    banner, stands = page.get_by_test_id("banner"), page.get_by_label("Where the project stands")
    engine = site.session.project.store._live()

    def protect(connection, record):
        connection.execute("PRAGMA query_only=ON")

    event.listen(engine, "connect", protect)
    engine.dispose()
    page.keyboard.press("a")
    banner.get_by_text("is write-protected").wait_for()
    banner.get_by_text("1 answer kept in this browser and sent again.").wait_for()
    event.remove(engine, "connect", protect)
    engine.dispose()
    stands.get_by_text("1 answer").wait_for()
    banner.wait_for(state="detached")

    page.context.set_offline(True)  # a lost network, a laptop that sleeps
    page.keyboard.press("x")
    banner.get_by_text("No connection to cluewise.").wait_for()
    assert len(site.standing()) == 1
    page.context.set_offline(False)
    stands.get_by_text("2 answers").wait_for()
    banner.wait_for(state="detached")

    twin = site.visit(page.context.new_page())
    assert asked(twin) == asked(page)
    rows = asked(page)
    page.keyboard.press("a")
    twin.get_by_label("Where the project stands").get_by_text("3 answers").wait_for()
    wait_until(twin, lambda: asked(twin) != rows)
    assert [one.value for one in site.standing()] == [True, False, True]


# --- first visit and the address ------------------------------------------------------------------------------------


def test_the_tour_is_shown_once_and_can_be_skipped(site, new_page):
    page = new_page(**WIDE)
    page.goto(site.link())
    tour = page.get_by_test_id("tour")
    tour.get_by_text("1 of 3").wait_for()
    page.get_by_test_id("tour-next").click()
    tour.get_by_text("2 of 3").wait_for()
    page.get_by_test_id("tour-skip").click()
    tour.wait_for(state="detached")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert tour.count() == 0
    page.keyboard.press("h")
    page.get_by_role("button", name="Show the tour").click()
    tour.get_by_text("1 of 3").wait_for()
    page.keyboard.press("Escape")
    tour.wait_for(state="detached")


def test_the_address_holds_the_state_and_never_the_token(site, new_page):
    page = site.visit(new_page(**WIDE))
    token = site.gate.token("ann")
    assert token not in page.url
    page.get_by_test_id("cluster-1").locator(".about").click()
    page.get_by_test_id("color-mode").select_option("confidence")
    page.wait_for_function("() => location.hash === '#clusters=1&color=confidence'")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.get_by_test_id("color-mode").input_value() == "confidence"
    assert page.get_by_test_id("cluster-1").get_attribute("data-selected") == "true"
    assert token not in page.url
    stranger = new_page(**WIDE)
    stranger.goto(page.url)
    stranger.get_by_text("ask whoever sent it for a new one").wait_for()


# --- data -----------------------------------------------------------------------------------------------------------


def test_hostile_text_is_text_and_a_missing_image_is_a_sentence(open_site, new_page, tmp_path):
    texts = ['<img src=x onerror="window.hacked = 1"><script>window.hacked = 2</script>', "שלום עולם", "🙂🙃"]
    texts = [f"{texts[i % 3]} {i}" for i in range(30)]
    lines = [[text, i % 3 * 9 + i / 100, i % 3, f"note {text}", "gone.png"] for i, text in enumerate(texts)]
    data = write_table(tmp_path / "<b>rows.csv", ["id", "x<script>", "y", "note", "picture"], lines)
    site = open_site(data, columns="x<script>,y")
    page = site.visit(new_page(**WIDE))
    for row in (0, 1, 2):
        page.get_by_test_id("search").fill(texts[row])
        page.locator(".search .sheet li button").filter(has_text=texts[row]).first.click()
        card = page.get_by_test_id("card")
        card.get_by_role("heading", name=texts[row], exact=True).wait_for()
        card.get_by_text(f"note {texts[row]}", exact=True).wait_for()
        card.get_by_text("is missing.").wait_for()
    page.get_by_test_id("question").get_by_text("is missing.").nth(1).wait_for()
    for count in (1, 2, 3, 4):
        page.keyboard.press("a")
        wait_until(page, lambda count=count: len(site.standing()) == count)
    assert page.title() == "<b>rows.csv · cluewise"
    assert page.locator("script").count() == 1  # ours
    assert page.evaluate("window.hacked ?? null") is None


def test_without_webgl_the_map_is_drawn_and_answers(site, new_page):
    page = new_page(**WIDE)
    page.add_init_script(NO_WEBGL)
    site.visit(page)
    page.keyboard.press("a")
    wait_until(page, lambda: len(site.standing()) == 1)
    drawn = page.evaluate("""() => {
      const canvas = document.querySelector("[data-testid=map] canvas");
      const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    }""")
    assert drawn > 3  # the colors of three clusters, and the ground
    box = page.get_by_test_id("map").bounding_box()
    left, right = box["x"] + 4, box["x"] + box["width"] / 2
    top, bottom = box["y"] + 4, box["y"] + box["height"] - 4
    page.keyboard.down("Shift")
    page.mouse.move(left, top)
    page.mouse.down()
    for to in [(right, top), (right, bottom), (left, bottom)]:
        page.mouse.move(*to, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.get_by_test_id("lasso").get_by_text(re.compile(r"\d+ rows selected")).wait_for()


# --- pictures for the guide -----------------------------------------------------------------------------------------


def test_wines_are_answered_on_a_page_and_on_a_phone_and_contradictions_can_be_dropped(wine, new_page):
    site, truth = wine
    site.answer(25 if SHOOTING else 5, truth)
    site.session.do({"act": "name", "cluster": site.session.fit.ids[0], "name": "Barolo"}, "ann").result(30)
    page = site.visit(new_page(**WIDE))
    page.keyboard.press("a" if len(set(truth[list(asked(page))])) == 1 else "x")
    page.get_by_test_id("guess").get_by_text("cluewise would have said").wait_for()
    shoot(page, "web_answering.png")

    phone = site.visit(new_page(**PHONE, device_scale_factor=2 if SHOOTING else 1))
    box = phone.get_by_test_id("answer-same").bounding_box()
    assert box["height"] >= 44
    assert box["y"] + box["height"] < PHONE["viewport"]["height"] - 48  # above the tabs
    shoot(phone, "web_phone.png")

    barolo = np.flatnonzero(truth == 0)[-3:].tolist()
    for a, b, value in [(0, 1, True), (1, 2, True), (0, 2, False)]:
        site.say((barolo[a], barolo[b]), value)
    chain = page.get_by_test_id("contradiction")
    chain.first.wait_for()
    assert chain.first.get_by_role("listitem").count() == 3
    page.get_by_test_id("links").click()
    shoot(page, "web_doubts.png")
    chain.first.get_by_role("button", name=re.compile("^Drop")).first.click()
    page.get_by_test_id("banner").get_by_text("The answer was dropped.").wait_for()
    chain.first.wait_for(state="detached")


def test_pictures_are_shown_large_in_the_dark(open_site, new_page, tmp_path):
    from PIL import Image
    from sklearn.datasets import load_digits

    digits = load_digits(n_class=5)
    for i in range(200):
        pixels = np.pad(255 - digits.images[i] * 15.9, 1, constant_values=255).astype(np.uint8)
        Image.fromarray(pixels).resize((160, 160), Image.Resampling.BICUBIC).save(tmp_path / f"{i}.png")
    lines = [[f"digit{i:03}", f"{i}.png", *digits.data[i].astype(int)] for i in range(200)]
    header = ["id", "image", *(f"pixel {row + 1}, {column + 1}" for row in range(8) for column in range(8))]
    site = open_site(write_table(tmp_path / "digits.csv", header, lines), n_clusters=5)
    for a, b in np.random.default_rng(0).choice(200, (20, 2), replace=False).tolist():
        site.say((a, b), bool(digits.target[a] == digits.target[b]))
    page = site.visit(new_page(**WIDE, **DARK))
    images = page.get_by_test_id("question").locator("img.picture")
    images.nth(1).wait_for()
    assert all(images.nth(i).bounding_box()["height"] > 150 for i in (0, 1))
    shoot(page, "web_images.png")


def test_three_people_and_how_far_they_agree(wine, new_page):
    site, truth = wine
    rng = np.random.default_rng(0)
    for _ in range(12):
        rows = rng.choice(len(truth), 2, replace=False).tolist()
        right = bool(truth[rows[0]] == truth[rows[1]])
        for who, wrong in [("ann", 0.0), ("bob", 0.1), ("chiara", 0.3)]:
            site.say(rows, right != bool(rng.random() < wrong), who, 2 + 3 * rng.random())
    for name in ("bob", "chiara"):
        site.link(name)
    page = site.visit(new_page(**WIDE))
    for name in ("bob", "chiara"):
        site.visit(new_page(**WIDE), name)
    page.get_by_test_id("tab-people").click()
    page.get_by_label("3 people online").wait_for()
    page.get_by_test_id("people").get_by_text("of 12 questions").nth(2).wait_for()
    page.get_by_test_id("overlap").scroll_into_view_if_needed()
    shoot(page, "web_people.png")
