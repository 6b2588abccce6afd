# ruff: noqa: D103, T201
"""Is answering on the page as good as asking through the API? ``python experiments/page.py [--quick]``

A simulated person answers 100 questions on the page of `cluewise web`, in chromium: reads which rows the question on
the screen is about, and presses the key that is right by the true classes, which are not in the file. One person waits
after each answer until the new clusters have arrived, another answers as soon as the next question is on the screen;
people are between them. Beside it the same budget through the API: `cw.active.interview` with the strategy of the
project, one question at a time, and its `clustering`. All are told the number of classes. The score is the adjusted
Rand index.

Data: wine; the first 600 digits of scikit-learn as pictures of 8 × 8 pixels, in a column of paths; 400 support tickets,
a column of text, made as in `examples/plot_story_tickets.py`; and, for times, 100 000 made rows of 16 numbers.
A finished conversation is a line in a CSV file; started again, the script goes on with what is missing.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cluewise as cw
from cluewise import active, tables
from cluewise.metrics import ari

RESULTS, SOURCE = Path(__file__).parent / "results", Path(__file__).resolve().parents[1] / "src"
CHECKPOINTS, LARGE, BLOBS = (0, 25, 50, 100), 100_000, 8
ADDRESS = re.compile(r"(http://\S+)/\?token=(\S+)")
BROWSER = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-compositing")
STILL_FITTING = 503  # what the server says after a minute
WAITS, HURRIES, API, ANEW = "page, waits", "page, at once", "API", "API, answers of the page"
TIMES = ("question", "stored", "labels")
COLUMNS = ["data", "seed", "way", *map(str, CHECKPOINTS), "server", "ready"]
COLUMNS += [f"{what}_{part}" for what in TIMES for part in ("median", "high")]

ABOUT_TIMES = """From a key to the first frame with the next question, until the answer is stored, and to the first
frame after new labels, in milliseconds: median / 95 %. Seconds until the server has told its link, and from there to
the first question on the page. The browser draws in software, and other programs used the same machine"""

# Milliseconds from the key to the first frame with the next question, to the reply to the answer, and to the first
# frame after new labels have arrived.
WATCH = """(() => {
  const shown = () => {
    const one = document.querySelector("[data-testid=question][data-rows]");
    // A question may be asked again at once; then only its number differs.
    return one === null ? "" : `${one.dataset.rows} ${one.querySelector(".eyebrow")?.textContent}`;
  };
  let begun = 0, before = "", known = 0, revision = 0, times = {}, missing = [], done = () => {};
  const note = (what) => {
    times[what] ??= performance.now() - begun;
    if (missing.every((one) => one in times)) done(times);
  };
  const draw = (what) => requestAnimationFrame(() => setTimeout(() => note(what)));
  new MutationObserver(() => {
    if (shown() && shown() !== before && !("question" in times)) draw("question");
  }).observe(document, { subtree: true, childList: true, attributeFilter: ["data-rows"] });
  const ask = window.fetch;
  window.fetch = async (path, options) => {
    const reply = await ask(path, options);
    if (options?.method === "POST" && String(path).includes("api/answers")) note("stored");
    return reply;
  };
  window.WebSocket = class extends WebSocket {
    constructor(...where) {
      super(...where);
      this.addEventListener("message", ({ data }) => {
        if (!(data instanceof ArrayBuffer)) return;
        const length = new DataView(data).getUint32(0, true);
        revision = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))).revision;
        if (revision > known) draw("labels");
      });
    }
  };
  addEventListener("keydown", () => (begun = performance.now()), true);
  window.watch = {
    expect(what) {
      [before, known, times, missing] = [shown(), revision, {}, what];
      watch.seen = new Promise((resolve) => (done = resolve));
    },
  };
})()"""


class Task(NamedTuple):
    """Rows in a file, and what the person knows about them."""

    file: Path
    y: Any
    k: int


def make_wine(folder: Path) -> Task:
    data = cw.datasets.load("wine")
    return write(folder, dict(zip(data.feature_names, np.asarray(data.X).T)), data.y)


def make_digits(folder: Path) -> Task:
    from PIL import Image
    from sklearn.datasets import load_digits

    pixels, y = load_digits(return_X_y=True)
    names = [f"{i}.png" for i in range(600)]
    for name, picture in zip(names, pixels):
        Image.fromarray((picture.reshape(8, 8) * 255 / 16).astype(np.uint8)).save(folder / name)
    return write(folder, {"picture": names}, y[:600])


def make_tickets(folder: Path) -> Task:
    rng = np.random.default_rng(0)
    queue = rng.choice(4, size=400, p=[0.35, 0.3, 0.2, 0.15])
    subjects = [
        "invoice charged refund payment twice card bill amount",
        "password login account locked reset code email sign",
        "parcel courier late address tracking arrived delivery door",
        "broken screen battery noise stopped crack button charge",
    ]
    products = (
        "phone Nova 5 black",
        "printer Inka office paper",
        "kettle Pico kitchen steel",
        "speaker Bombo bass music",
    )
    filler = "hello please help again since yesterday thanks still cannot today need asap order regards team my the for"

    def mistype(word: str) -> str:
        at = rng.integers(len(word))
        return word[:at] + word[at + 1 :] if rng.random() < 0.2 and len(word) > 3 else word

    def write_ticket(q: int) -> str:
        words = [
            *rng.choice(subjects[q].split(), 3, replace=False),
            *rng.choice(products).split(),
            *rng.choice(filler.split(), rng.integers(4, 9)),
        ]
        return " ".join(mistype(str(word)) for word in rng.permutation(words))

    return write(folder, {"ticket": [write_ticket(q) for q in queue]}, queue)


def make_large(folder: Path) -> Task:
    rng = np.random.default_rng(0)
    y = rng.integers(BLOBS, size=LARGE)
    X = rng.normal(size=(BLOBS, 16))[y] * 2 + rng.normal(size=(LARGE, 16))
    return write(folder, {f"x{j}": X[:, j].round(4) for j in range(16)}, y)


def write(folder: Path, columns: dict[str, Any], y: Any) -> Task:
    tables.write(folder / "data.csv", columns)
    codes = np.unique(y, return_inverse=True)[1]
    return Task(folder / "data.csv", codes, int(codes.max()) + 1)


TASKS: dict[str, Callable[[Path], Task]] = {"wine": make_wine, "digits": make_digits, "tickets": make_tickets}


class Server:
    """`cluewise web` in a process of its own."""

    def __init__(self, task: Task, seed: int) -> None:
        command = [sys.executable, "-m", "cluewise.cli", "web", task.file.name, "--no-browser", "--port", "0"]
        command += ["-k", str(task.k), "--seed", str(seed), "--project", "data.cluewise", "--who", "simulated"]
        paths = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
        begun = time.monotonic()
        self.process = subprocess.Popen(
            command, cwd=task.file.parent, env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        found = ADDRESS.search(self.process.stdout.readline())
        if found is None:
            raise SystemExit(f"the server did not start: {self.process.stderr.read()}")
        self.seconds = time.monotonic() - begun
        self.home, self.token = found[1], found[2]
        self.link = found[0]

    def clusters(self) -> list[str]:
        """The clusters that take account of all answers, as the page exports them."""
        path = f"{self.home}/api/export/clusters.csv"
        request = urllib.request.Request(path, headers={"Authorization": f"Bearer {self.token}"})
        while True:
            try:
                with urllib.request.urlopen(request, timeout=120) as reply:
                    return [line["cluster"] for line in csv.DictReader(io.StringIO(reply.read().decode("utf-8-sig")))]
            except urllib.error.HTTPError as error:
                if error.code != STILL_FITTING:
                    raise

    def end(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.communicate(timeout=60)


def talk_on_page(browser: Any, task: Task, seed: int, way: str, checkpoints: Sequence[int]) -> dict[str, Any]:
    """One conversation on the page."""
    server, found, times = Server(task, seed), {}, []
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    try:
        page.add_init_script(WATCH)
        begun = time.monotonic()
        page.goto(server.link)
        page.wait_for_selector("[data-testid=question][data-rows]")
        ready = time.monotonic() - begun
        page.click("[data-testid=tour-skip]")
        expected = TIMES if way == WAITS else TIMES[:2]
        for asked in range(max(checkpoints) + 1):
            if asked in checkpoints:
                found[str(asked)] = round(ari(task.y, server.clusters()), 5)
                page.wait_for_timeout(1000)  # the labels arrive in the page, too
            if asked == max(checkpoints):
                break
            question = page.locator("[data-testid=question][data-rows]").evaluate("one => ({ ...one.dataset })")
            page.evaluate("what => watch.expect(what)", expected)
            page.keyboard.press(choose_key(question["kind"], [int(row) for row in question["rows"].split()], task.y))
            times.append(page.evaluate("() => watch.seen"))
    finally:
        page.context.close()
        server.end()
    for what in expected:
        found[f"{what}_median"], found[f"{what}_high"] = (
            round(float(np.quantile([one[what] for one in times], share))) for share in (0.5, 0.95)
        )
    return {**found, "server": round(server.seconds, 2), "ready": round(ready, 2)}


def choose_key(kind: str, rows: Sequence[int], y: Any) -> str:
    """The key for the true answer."""
    same = [number for number, row in enumerate(rows[1:], 1) if y[row] == y[rows[0]]]
    return {"pair": "a" if same else "x", "which": str(same[0]) if same else "0"}[kind]


def talk_to_api(task: Task, seed: int, checkpoints: Sequence[int]) -> dict[str, Any]:
    """The same budget, one question at a time."""
    X, found = encode(task), {}
    strategy = active.CluewiseQuestions(task.k)

    def watch(state: active.State) -> None:
        if state.asked in checkpoints:
            found[str(state.asked)] = round(ari(task.y, strategy.clustering(state, X)), 5)

    watch(strategy.start(X, budget=max(checkpoints), random_state=seed))
    oracle = active.SimulatedOracle(task.y, random_state=seed)
    active.interview(strategy, X, oracle, budget=max(checkpoints), watch=watch, random_state=seed)
    return found


def fit_anew(task: Task, seed: int, checkpoints: Sequence[int]) -> dict[str, Any]:
    """What the answers given on the page are worth to a model that has not seen them one by one."""
    X, found = encode(task), {}
    with active.Project.open(task.file.with_name("data.cluewise"), active.CluewiseQuestions(task.k), X) as project:
        state = project.state
    asked = np.cumsum([not answer.inferred for answer in state.answers])
    for count in checkpoints:
        answers = state.answers[: int(np.searchsorted(asked, count, side="right"))]
        found[str(count)] = fit(X, task, replace(state, answers=answers), seed)
    return found


def encode(task: Task) -> Any:
    return cw.Rows(folder=str(task.file.parent)).fit_transform(tables.read(task.file))


def fit(X: Any, task: Task, state: active.State, seed: int) -> float:
    return round(ari(task.y, cw.Cluewise(task.k, random_state=seed).fit(X, clues=state.clues).labels_), 5)


@contextmanager
def open_browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise SystemExit("this experiment opens the page in chromium through playwright; install playwright.") from None
    found = shutil.which("chromium")
    if found is None:
        raise SystemExit("this experiment opens the page in chromium, which is not on the path; install it.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=BROWSER)
        yield browser
        browser.close()


def run(browser: Any, name: str, seed: int, way: str, checkpoints: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The lines of one conversation."""
    make = make_large if name == "large" else TASKS[name]
    with tempfile.TemporaryDirectory() as folder:
        task = make(Path(folder))
        if way == API:
            yield {"data": name, "seed": seed, "way": way, **talk_to_api(task, seed, checkpoints)}
            return
        yield {"data": name, "seed": seed, "way": way, **talk_on_page(browser, task, seed, way, checkpoints)}
        if way == WAITS and name != "large":
            yield {"data": name, "seed": seed, "way": ANEW, **fit_anew(task, seed, checkpoints)}


def report(rows: list[dict[str, Any]]) -> str:
    lines = ["# Is answering on the page as good as asking through the API?", "", *(__doc__ or "").split("\n\n")[1:2]]
    lines += ["", (__doc__ or "").split("\n\n")[2].partition("A finished")[0], "## Adjusted Rand index", ""]
    seeds = len({row["seed"] for row in rows})
    lines += [f"Mean of {seeds} seeds." if seeds > 1 else "One seed."]
    if any(row["way"] == ANEW for row in rows):
        lines += [f"“{ANEW}”: a new `Cluewise(k).fit` with the answers of the person who waits."]
    lines += [""]
    lines += ["| data | way | " + " | ".join(f"{c} answers" for c in CHECKPOINTS) + " |", "|---" * 6 + "|"]
    for name, way in [(name, way) for name in TASKS for way in (WAITS, HURRIES, API, ANEW)]:
        mine = [row for row in rows if (row["data"], row["way"]) == (name, way)]
        if mine:
            cells = [mean(mine, str(count), ".3f") for count in CHECKPOINTS]
            lines.append(f"| {name} | {way} | " + " | ".join(cells) + " |")
    lines += ["", "## Times", "", textwrap.fill(f"{ABOUT_TIMES} of {os.cpu_count()} cores.", 120), ""]
    lines += ["| data | way | next question | stored | new labels | server | page |", "|---" * 7 + "|"]
    for name, way in [(name, way) for name in [*TASKS, "large"] for way in (WAITS, HURRIES)]:
        mine = [row for row in rows if (row["data"], row["way"]) == (name, way)]
        if mine:
            cells = [" / ".join(mean(mine, f"{what}_{part}", ".0f") for part in ("median", "high")) for what in TIMES]
            cells += [mean(mine, part, ".1f") for part in ("server", "ready")]
            lines.append(f"| {name} | {way} | " + " | ".join(cell.replace("– / –", "–") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def mean(rows: list[dict[str, Any]], column: str, shape: str) -> str:
    known = [float(row[column]) for row in rows if row.get(column) not in (None, "")]
    return format(np.mean(known), shape) if known else "–"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=[*TASKS, "large"], default=[*TASKS, "large"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="25 answers about wine")
    parser.add_argument("--csv", type=Path, default=RESULTS / "page.csv", help="where conversations are kept")
    parser.add_argument("--table", type=Path, help="where to write the table; by default it is printed")
    given = parser.parse_args(words)
    warnings.simplefilter("ignore")
    names, rows = given.data, []
    checkpoints: Sequence[int] = CHECKPOINTS
    if given.quick:
        checkpoints, names, given.csv = (0, 25), ["wine"], Path(os.devnull)
    elif given.csv.exists():
        rows = list(csv.DictReader(given.csv.open(newline="")))
    done = {(row["data"], int(row["seed"]), row["way"]) for row in rows}
    todo = [(name, seed, way) for seed in range(given.seeds) for name in names for way in (WAITS, HURRIES, API)]
    todo = [one for one in todo if one not in done and (one[0] != "large" or one[1:] == (0, WAITS))]
    given.csv.parent.mkdir(parents=True, exist_ok=True)
    with open_browser() as browser, given.csv.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not rows:
            writer.writeheader()
        for name, seed, way in todo:
            for row in run(browser, name, seed, way, (0, 10) if name == "large" else checkpoints):
                writer.writerow({column: row.get(column) for column in COLUMNS})
                file.flush()
                rows.append(row)
                print(*row.values(), flush=True)
    text = report(rows)
    given.table.write_text(text, encoding="utf-8") if given.table else print(text)


if __name__ == "__main__":
    main()
