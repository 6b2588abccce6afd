"""The map in a real browser: what is drawn where, what the pointer finds, how values change."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.needs_chromium

ROOT = Path(__file__).resolve().parents[2]
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
NO_WEBGL = """const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind === "webgl2" ? null : get.call(this, kind, ...rest);
};"""

# The map has 800 × 600 pixels and leaves a margin of 24: rows that fill this box are drawn pixel by unit.
WIDTH, HEIGHT, MARGIN = 752, 552, 24
CORNERS = [[0, 0], [WIDTH, HEIGHT]]
BLUE, ORANGE, GREEN, WHITE, GRAY, INK = (
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (255,) * 3,
    (160, 165, 172),
    (28, 32, 38),
)
FEW_PIXELS = {"device_scale_factor": 0.25}  # for tests that do not look at them: drawing in software takes its time
DISCS = [{"color": color, "shape": "disc"} for color in (BLUE, ORANGE, GREEN)]


@pytest.fixture(scope="session")
def harness(tmp_path_factory):
    """A folder with a page that holds the map and nothing else."""
    folder = tmp_path_factory.mktemp("harness")
    subprocess.run([sys.executable, ROOT / "tools" / "page.py", folder], check=True)
    return folder


@pytest.fixture
def open_map(new_page, harness):
    """``open_map(points, values, looks)``: a map of points given in units of a pixel, up from the lower left."""

    def opened(points, values=None, looks=DISCS, webgl=True, clock=False, options=None, **context):
        page = new_page(viewport={"width": 810, "height": 610}, **context)
        if not webgl:
            page.add_init_script(NO_WEBGL)
        if clock:
            page.clock.install(time="2026-01-01T00:00:00")
        page.route("http://map.test/**", lambda route: serve(route, harness))
        page.goto("http://map.test/index.html")
        if clock:
            page.clock.pause_at("2026-01-01T00:10:00")
        page.evaluate("options => harness.open(options)", options or {})
        drawn = Map(page, points)
        drawn.call("setPoints(new Float32Array(given))", np.ravel(points).tolist())
        if values is not None:
            drawn.set_values(values, looks)
        if clock:
            page.clock.run_for(50)
        page.wait_for_selector("#host[data-ready=true]", state="attached")
        return drawn

    return opened


def serve(route, folder):
    path = folder / route.request.url.removeprefix("http://map.test/")
    if path.is_file():
        headers = {"content-type": KINDS[path.suffix], "content-security-policy": POLICY}
        route.fulfill(body=path.read_bytes(), headers=headers)
    else:
        route.fulfill(status=404)


class Map:
    """The map of a page, and where its rows are on the screen until somebody moves the view."""

    def __init__(self, page, points):
        self.page = page
        self.at = np.column_stack([MARGIN + np.asarray(points)[:, 0], MARGIN + HEIGHT - np.asarray(points)[:, 1]])

    def call(self, expression, given=None):
        return self.page.evaluate(f"given => harness.map.{expression}", given)

    def set_values(self, values, looks=DISCS):
        given = [np.asarray(values).tolist(), looks]
        self.call("setValues(Uint8Array.from(given[0]), given[1])", given)

    def change(self, rows, values):
        given = [rows, values]
        self.call("changeValues(Uint32Array.from(given[0]), Uint8Array.from(given[1]))", given)

    def backend(self):
        return self.call("stats().backend")

    def rest(self):
        """Wait until everything asked for is drawn."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, left=0, top=0, width=800, height=600):
        """Colors by device pixel: rows from above, columns, red, green, blue."""
        from PIL import Image

        png = self.page.screenshot(clip={"x": left, "y": top, "width": width, "height": height})
        return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)

    def look(self, top=0, height=600):
        """``color(row, dx, dy)``: what is drawn now so many pixels to the right of a row and below it."""
        picture = self.picture(0, top, 800, height)
        ratio = picture.shape[1] // 800

        def color(row, dx=0.0, dy=0.0):
            x, y = np.floor(self.at[row])
            return picture[int((y + dy - top) * ratio), int((x + dx) * ratio)]

        return color

    def under(self, x, y):
        """What the map reports under the pointer."""
        self.page.mouse.move(float(x), float(y))
        reported = self.page.evaluate("harness.hovers.at(-1)")
        return reported and reported[0]


def scattered(count, seed=0):
    """Points that fill the box, corners included."""
    rng = np.random.default_rng(seed)
    return np.vstack([CORNERS, rng.uniform([0, 0], [WIDTH, HEIGHT], (count - 2, 2))]).astype(np.float32).astype(float)


def near(color, expected, tolerance=12):
    return np.abs(np.asarray(color) - expected).max() <= tolerance


def nearest(at, x, y):
    """Rows nearest to a pixel, of those that the pointer can reach."""
    away = np.hypot(*(at - [x, y]).T)
    return set(np.flatnonzero(away < away.min() + 1e-3)) if away.min() <= 8 else {None}


def inside(at, corners):
    """Rows inside a polygon: an odd number of edges to the right."""
    odd = np.zeros(len(at), bool)
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, 1, axis=0), strict=True):
        if y1 != y2:
            odd ^= ((y1 > at[:, 1]) != (y2 > at[:, 1])) & (at[:, 0] < (x2 - x1) * (at[:, 1] - y1) / (y2 - y1) + x1)
    return np.flatnonzero(odd).tolist()


def draw_lasso(page, corners, *keys):
    for key in ("Shift", *keys):
        page.keyboard.down(key)
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner)
    page.mouse.up()
    for key in ("Shift", *keys):
        page.keyboard.up(key)
    return page.evaluate("Array.from(harness.selections.at(-1))")


@pytest.mark.parametrize("webgl", [True, False])
def test_colors_and_shapes_of_values(webgl, open_map):
    shapes = {"disc": "b  b", "square": "bb  ", "triangle": "b b ", "diamond": "b bb", "ring": "   b"}
    points = [*CORNERS, *([100 + 100 * i, 300] for i in range(7)), [np.nan, 1], [1, np.inf]]
    looks = [{"color": BLUE, "shape": shape} for shape in shapes]
    drawn = open_map(points, [0, 0, 0, 1, 2, 3, 4, 5, 255, 0, 0], looks, webgl=webgl, device_scale_factor=3)
    assert drawn.backend() == ("webgl2" if webgl else "canvas")
    color = drawn.look(top=250, height=60)
    for row, (shape, pattern) in enumerate(shapes.items(), 2):
        assert near(color(row, -15, -15), WHITE, 0)
        colors = [color(row, *offset) for offset in ((0, 0), (4, 4), (0, -6), (0, 5))]
        assert "".join("b" if near(c, BLUE) else " " if near(c, WHITE) else "?" for c in colors) == pattern, shape
    for row in (7, 8):  # values without a look
        assert near(color(row), GRAY)


@pytest.mark.parametrize("webgl", [True, False])
def test_rims_marks_and_links(webgl, open_map):
    points = [*CORNERS, *([100 + 100 * i, 300] for i in range(5)), [100, 100], [600, 100]]
    drawn = open_map(points, [0] * len(points), webgl=webgl)
    drawn.call("setRims(Uint8Array.of(0, 0, 1, 0), Uint8Array.of(0, 0, 0, 1))")
    drawn.call("setMarks('question', [4])")
    drawn.call("setMarks('found', [5])")
    links = [{"a": 7, "b": 8, "must": True, "broken": True}, {"a": 2, "b": 7, "must": False, "broken": False}]
    drawn.call("setLinks(given)", links)
    drawn.rest()
    color = drawn.look()
    known, doubted, asked, found, plain = range(2, 7)
    assert near(color(known, 2, -2), BLUE)
    assert near(color(known, -4.5, 0), INK, 40)
    assert near(color(doubted, 0, 0), WHITE, 40)
    assert near(color(doubted, -4.5, 0), BLUE, 40)
    assert near(color(plain, -4.5, 0), BLUE, 40)
    assert near(color(asked, -11, 0), (11, 92, 173), 40)
    assert near(color(found, -8.5, 0), (196, 64, 0), 60)
    assert near(color(plain, -9, 0), WHITE)
    # A broken link is a solid red line; a cannot-link has gaps.
    picture = drawn.picture()
    y, left, right = int(drawn.at[7][1]), int(drawn.at[7][0]) + 10, int(drawn.at[8][0]) - 10
    assert (picture[y - 1 : y + 1, left:right].min(axis=0)[:, 1] < 90).all()
    x, top, bottom = int(drawn.at[2][0]), int(drawn.at[2][1]) + 10, int(drawn.at[7][1]) - 10
    darkness = picture[top:bottom, x - 1 : x + 1].min(axis=(1, 2))
    assert 0.4 < (darkness < 200).mean() < 0.7


@pytest.mark.parametrize("outlier", [False, True])
def test_the_pointer_finds_the_nearest_row(outlier, open_map):
    points = scattered(3000)
    if outlier:  # nearly all rows share a corner of the map
        points[2:] /= 40
    drawn = open_map(points)
    places = np.random.default_rng(1).uniform(20, 780, (20, 2)) * (1, 0.75)
    if outlier:
        places = drawn.at[2:22] + np.random.default_rng(1).normal(0, 2, (20, 2))
    for x, y in places.round():
        assert drawn.under(x, y) in nearest(drawn.at, x, y)
    x, y = drawn.at[7].round().tolist()
    drawn.page.mouse.move(x, y)
    frame = drawn.page.get_attribute("#host", "data-frame")
    drawn.page.mouse.wheel(0, -1000)
    drawn.page.wait_for_selector(f"#host:not([data-frame='{frame}'])")
    at = [x, y] + (drawn.at - [x, y]) * np.exp(1.5)
    seen = np.flatnonzero((np.abs(at - [400, 300]) < [390, 290]).all(axis=1))
    for row in seen[:8]:
        assert drawn.under(*at[row]) in nearest(at, *at[row])
    drawn.page.mouse.move(805, 605)
    assert drawn.page.evaluate("harness.hovers.at(-1)[0]") is None


def test_clicks_and_drags_are_told_apart(open_map):
    drawn = open_map([*CORNERS, [300, 300], [330, 200]], **FEW_PIXELS)
    page = drawn.page
    page.mouse.click(*(drawn.at[2] + 5).tolist())
    page.mouse.click(600, 500)
    page.mouse.move(600, 500)
    page.mouse.down()
    page.mouse.move(650, 480, steps=3)
    page.mouse.up()
    assert page.evaluate("harness.clicks") == [2, None]
    assert page.evaluate("harness.selections") == []
    page.mouse.click(*(drawn.at[2] + [50, -20]).tolist())
    assert page.evaluate("harness.clicks.at(-1)") == 2


@pytest.mark.parametrize("outlier", [False, True])
def test_the_lasso_selects_what_it_surrounds(outlier, open_map):
    points = scattered(1500, seed=2)
    if outlier:
        points[2:] = points[2:] / 4 + 100
        points[-1] = points[-2]  # two rows in one place
    drawn = open_map(points, **FEW_PIXELS)
    star = np.array([[100, 80], [420, 300], [760, 60], [600, 340], [780, 560], [430, 400], [90, 590], [250, 330]])
    square = np.array([[200, 200], [700, 200], [700, 500], [200, 500]])
    chosen = draw_lasso(drawn.page, star.tolist())
    assert chosen == inside(drawn.at, star)
    assert 50 < len(chosen) < 1000
    more = draw_lasso(drawn.page, square.tolist(), "Control")
    assert more == sorted(set(chosen) | set(inside(drawn.at, square)))
    less = draw_lasso(drawn.page, star.tolist(), "Alt")
    assert less == sorted(set(more) - set(chosen))
    assert less
    drawn.call("setMarks('selected', [])")
    assert draw_lasso(drawn.page, square.tolist(), "Meta") == inside(drawn.at, square)


def test_fingers_pan_zoom_and_tap(open_map):
    drawn = open_map([*CORNERS, [376, 276], [476, 276]], has_touch=True, **FEW_PIXELS)
    page = drawn.page
    fingers = page.context.new_cdp_session(page)

    def touch(kind, *places):
        touches = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    touch("touchStart", (400, 400))
    touch("touchMove", (400, 350))
    touch("touchMove", (400, 300))
    touch("touchEnd")
    page.touchscreen.tap(400, 205)
    assert page.evaluate("harness.clicks") == [2]
    touch("touchStart", (350, 200), (450, 200))
    touch("touchMove", (300, 200), (500, 200))
    touch("touchEnd")
    page.touchscreen.tap(600, 205)
    assert page.evaluate("harness.clicks.at(-1)") == 3


def test_keys_and_searches_move_the_view(open_map):
    drawn = open_map([*CORNERS, [376, 276], [476, 276]], options={"reducedMotion": True}, **FEW_PIXELS)
    drawn.call("zoom(2)")
    assert drawn.under(600, 300) == 3
    drawn.call("pan(0.25, 0.5)")  # a quarter of the view to the right, half of it down
    assert drawn.under(400, 0) == 3
    drawn.call("show([1])")
    assert drawn.under(400, 300) == 1
    drawn.call("show([1])")
    assert drawn.under(401, 300) == 1
    drawn.call("fit()")
    assert drawn.under(*drawn.at[3]) == 3
    drawn.call("zoom(2)")
    drawn.call("setPoints(Float32Array.of(0, 0, 752, 552, 376, 276, 426, 276), true)")
    assert drawn.under(500, 300) == 3
    drawn.call("fit()")
    drawn.page.evaluate("document.getElementById('host').style.width = '400px'")
    drawn.rest()
    assert drawn.under(200, 300) == 2


def test_new_values_change_colors_in_steps(open_map):
    drawn = open_map([*CORNERS, [300, 300], [400, 300]], [0, 0, 0, 0], clock=True)
    assert near(drawn.look()(2), BLUE)
    drawn.set_values([1, 1, 1, 1])
    drawn.page.clock.run_for(125)
    assert near(drawn.look()(2), np.mean([BLUE, ORANGE], axis=0), 30)
    drawn.page.clock.run_for(150)
    color = drawn.look()
    assert near(color(2), ORANGE)
    assert near(color(2, 8), WHITE)
    drawn.change([2, 99], [2, 0])
    drawn.page.clock.run_for(300)
    color = drawn.look()
    assert near(color(2), GREEN, 30)
    assert not near(color(2, 8), WHITE, 30)  # it glows
    assert near(color(3, 8), WHITE)
    drawn.page.clock.run_for(600)
    assert near(drawn.look()(2, 8), WHITE)
    frame = drawn.page.get_attribute("#host", "data-frame")
    drawn.page.clock.run_for(1000)
    assert drawn.page.get_attribute("#host", "data-frame") == frame  # nothing moves, so nothing is drawn


@pytest.mark.parametrize("webgl", [True, False])
def test_with_reduced_motion_changed_rows_have_a_ring_until_the_next_change(webgl, open_map):
    options = {"reducedMotion": True}
    drawn = open_map([*CORNERS, [300, 300], [400, 300]], [0, 0, 0, 0], webgl=webgl, clock=True, options=options)
    drawn.change([2], [1])
    drawn.page.clock.run_for(20)
    color = drawn.look()
    assert near(color(2), ORANGE)
    assert near(color(2, -8.5), INK, 60)
    drawn.page.clock.run_for(2000)
    assert near(drawn.look()(2, -8.5), INK, 60)
    drawn.change([3], [2])
    drawn.page.clock.run_for(20)
    color = drawn.look()
    assert near(color(2, -8.5), WHITE)
    assert near(color(3, -8.5), INK, 60)


def test_a_lost_context_comes_back(open_map):
    drawn = open_map([*CORNERS, [300, 300]], [0, 0, 1])
    drawn.page.evaluate("""async () => {
      const canvas = document.querySelector("canvas");
      const lose = canvas.getContext("webgl2").getExtension("WEBGL_lose_context");
      const hear = (name) => new Promise((done) => canvas.addEventListener(name, () => setTimeout(done)));
      const lost = hear("webglcontextlost");
      lose.loseContext();
      await lost;
      harness.map.setValues(Uint8Array.of(0, 0, 2), [0, 1, 2].map(() => ({ color: [0, 158, 115], shape: "disc" })));
      const restored = hear("webglcontextrestored");
      lose.restoreContext();
      await restored;
    }""")
    drawn.page.wait_for_timeout(300)
    assert near(drawn.look()(2), GREEN)


def test_without_webgl_a_large_map_is_left_to_the_table(open_map):
    drawn = open_map(CORNERS, webgl=False)
    drawn.call("setPoints(harness.blobs(50_000, 3).xy)")
    assert drawn.backend() == "none"
    assert drawn.under(400, 300) is None
    drawn.call("setPoints(Float32Array.of(0, 0, 752, 552, 376, 276))")
    drawn.set_values([0, 0, 0])
    drawn.rest()
    assert drawn.backend() == "canvas"
    assert near(drawn.picture()[300, 400], BLUE)


def test_nothing_is_left_of_a_destroyed_map(open_map):
    drawn = open_map([*CORNERS, [376, 276]], [0, 0, 0])
    left = drawn.page.evaluate("""() => {
      const host = document.getElementById("host");
      // More than the contexts that a browser keeps, while the first map stays.
      for (let i = 0; i < 20; i++) {
        const first = harness.map;
        harness.open();
        harness.map.setPoints(Float32Array.of(0, 0, 1, 1));
        harness.map.destroy();
        harness.map = first;
      }
      return host.children.length;
    }""")
    assert left == 2
    drawn.call("zoom(1)")
    drawn.rest()
    assert near(drawn.picture()[300, 400], BLUE)
    drawn.call("destroy()")
    assert drawn.under(400, 300) is None
    drawn.rest()
    assert drawn.page.evaluate("document.getElementById('host').outerHTML").count("<") == 2
    assert drawn.page.get_attribute("#host", "data-frame") is None


def test_a_hundred_thousand_points(open_map, capsys):
    drawn = open_map([*CORNERS])
    spent = drawn.page.evaluate("""async () => {
      const { xy, values } = harness.blobs(100_000, 3);
      const looks = [[0, 114, 178], [213, 94, 0], [0, 158, 115]].map((color) => ({ color, shape: "disc" }));
      const begin = performance.now();
      harness.map.setPoints(xy);
      const set = performance.now() - begin;
      harness.map.setValues(values, looks);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      return { set, ...harness.map.stats() };
    }""")
    assert spent["points"] == 100_000
    picture = drawn.picture().reshape(-1, 3)
    assert all((np.abs(picture - color).max(axis=1) < 12).sum() > 5000 for color in (BLUE, ORANGE, GREEN))
    with capsys.disabled():
        times = ", ".join(f"{name} {spent[name]:.1f} ms" for name in ("set", "values_ms", "frame_ms"))
        sys.stdout.write(f"\nmap of 100,000 points, script time: {times}\n")
