"""The map of `cluewise web`: milliseconds of script for 10⁵ and 10⁶ points, beside the goals.

``python benchmarks/web_map.py [POINTS ...]`` builds a page with nothing but the map and opens it in chromium. The
graphics card does the drawing; here chromium does it in software, which says nothing about a card. So script times
count, and the first draw in software stands beside them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]

# What is measured, and the largest number of milliseconds that is good enough.
GOALS = {
    "points": ("setPoints, up to the end of the first frame's script", 2000),
    "values": ("setValues, new values and colors of all rows", 100),
    "change": ("changeValues, 1,000 rows", 100),
    "frame": ("script of one frame while the view moves, median", 2),
    "hover": ("finding the row under the pointer, median", 2),
    "lasso": ("lasso around half of the rows", None),
    "drawn": ("first draw on the screen, in software", None),
}
SCRIPT = """async (count) => {
  const { xy, values } = harness.blobs(count, 9);
  const other = values.map((value) => (value + 1) % 9);
  const looks = Array.from({ length: 9 }, (_, i) => ({ color: [25 * i, 100, 200 - 20 * i], shape: "disc" }));
  const host = document.getElementById("host");
  const [points, above] = host.querySelectorAll("canvas");
  const nextFrame = async () => {
    const frame = host.dataset.frame;
    while (host.dataset.frame === frame) await new Promise((done) => setTimeout(done));
  };
  // Reading a pixel waits until everything is drawn, so that no step waits for the one before it.
  const drawn = () => {
    const gl = points.getContext("webgl2");
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  };
  const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
  const found = {};
  let begin = performance.now();
  harness.map.setPoints(xy);
  harness.map.setValues(values, looks);
  found.points = performance.now() - begin;
  await nextFrame();
  found.points += harness.map.stats().frame_ms;
  drawn();
  found.drawn = performance.now() - begin;
  harness.map.setOptions({ reducedMotion: true, dark: false });
  harness.map.setValues(other, looks);
  found.values = harness.map.stats().values_ms;
  await nextFrame();
  drawn();
  const rows = Uint32Array.from({ length: 1000 }, (_, i) => Math.floor((i * count) / 1000));
  harness.map.changeValues(rows, new Uint8Array(1000));
  found.change = harness.map.stats().values_ms;
  const frames = [];
  for (let i = 0; i < 5; i++) {
    harness.map.pan(0.01, 0);
    await nextFrame();
    frames.push(harness.map.stats().frame_ms);
    drawn();
  }
  found.frame = median(frames);
  const hovers = [];
  for (let i = 0; i < 300; i++) {
    const place = { clientX: (i * 97) % 800, clientY: (i * 61) % 600, pointerType: "mouse" };
    begin = performance.now();
    above.dispatchEvent(new PointerEvent("pointermove", place));
    hovers.push(performance.now() - begin);
  }
  found.hover = median(hovers);
  addEventListener("pointerup", () => (harness.begin = performance.now()), true);
  harness.selections.push = () => (harness.lasso = performance.now() - harness.begin);
  return found;
}"""


def main(sizes: list[int]) -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        subprocess.run([sys.executable, ROOT / "tools" / "page.py", folder], check=True)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        found = {size: measure(browser, Path(folder), size) for size in sizes}
        browser.close()
    print(f"{'milliseconds':55} {'goal':>8}" + "".join(f"{size:>12,}" for size in sizes))
    for name, (words, goal) in GOALS.items():
        print(f"{words:55} {goal or '':>8}" + "".join(f"{found[size][name]:12.1f}" for size in sizes))


def measure(browser: Any, folder: Path, size: int) -> dict[str, float]:
    page = browser.new_page(viewport={"width": 800, "height": 600})
    page.set_default_timeout(120_000)
    page.route("http://map.test/**", lambda route: serve(route, folder))
    page.goto("http://map.test/index.html")
    page.evaluate("harness.open()")
    found = page.evaluate(SCRIPT, size)
    page.keyboard.down("Shift")
    page.mouse.move(0, 0)
    page.mouse.down()
    for x, y in ((400, 0), (420, 200), (380, 400), (400, 600), (0, 600)):
        page.mouse.move(x, y)
    page.mouse.up()
    found["lasso"] = page.evaluate("harness.lasso")
    page.close()
    return found


def serve(route: Any, folder: Path) -> None:
    path = folder / route.request.url.removeprefix("http://map.test/")
    if path.is_file():
        route.fulfill(body=path.read_bytes(), headers={"content-type": KINDS[path.suffix]})
    else:
        route.fulfill(status=404)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [100_000, 1_000_000])
