"""What the documentation draws and checks when it is built: it follows cards and tables, and says what is true."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

import cluewise
from cluewise import Cluewise, clusterers
from cluewise.clues import KINDS

pytestmark = pytest.mark.no_cover  # what the pictures need is covered by the tests of the code

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SHOWN = ("Cluewise", "Cluewise, no clues", "E2CP", "PCKMeans", "MaxMarginClusterer")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Modules that write pages when the documentation is built."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return import_module


def drawn(picture: str) -> ElementTree.Element:
    """A picture as a tree, if it is well-formed."""
    return ElementTree.fromstring(picture)


def listed(tree: ElementTree.Element) -> list[str]:
    """The methods that a picture links to, by name."""
    found = [re.search(r"api/generated/cluewise\.(\w+)\.html#cluewise\.\1$", a.attrib["href"]) for a in tree.iter("a")]
    return [match[1] for match in found if match]


# --- the leaderboard ----------------------------------------------------------------------------------------------


def test_leaderboard_is_read_as_it_stands(made: Callable[[str], ModuleType]) -> None:
    evidence = made("evidence")
    found = evidence.leaderboard()
    text = evidence.LEADERBOARD.read_text("utf-8")
    assert sum(len(table.results) for table in found.values()) == len(re.findall(r"^\| \d+ \| ", text, re.MULTILINE))
    known = {*clusterers(), "Cluewise"}
    for table in found.values():
        assert [result.place for result in table.results.values()] == list(range(1, len(table.results) + 1))
        assert {result.method for result in table.results.values() if not result.rival} <= known
        assert table.results["KMeans"].rival
    line = re.search(r"### 2n pairs\n.*?^\| (\d+) \| COPKMeans \| ([\d.]+) ", text, re.MULTILINE | re.DOTALL)
    own = found["2n pairs"].results["COPKMeans"]
    assert (own.place, own.ari) == (int(line[1]), float(line[2]))


def test_chart_shows_the_means_of_the_table(made: Callable[[str], ModuleType]) -> None:
    evidence = made("evidence")
    tree, means = drawn(evidence.chart("index")), evidence.front_door()
    ours = [
        name
        for setting in evidence.SHOWN
        for name in sorted(means[setting], key=lambda name: -means[setting][name])
        if "," not in name and name not in evidence.OTHERS
    ]
    assert listed(tree) == ours
    assert ours.count("Cluewise") == 3
    notes = [text.text for text in tree.iter("text") if text.attrib["class"] == "note"]
    assert f"{means['n/2 pairs, 0 % wrong']['Cluewise']:.2f}" in notes
    words = (DOCS / "index.md").read_text("utf-8")
    assert "```{front-door-chart}\n```" in words
    assert "on twelve data sets" in words
    assert "\n12 sets: " in evidence.FRONT_DOOR.read_text("utf-8")
    assert "[leaderboard](guide/leaderboard.md) all other\nmethods on twenty" in words
    assert " on 20 sets, " in evidence.LEADERBOARD.read_text("utf-8")
    assert "eight [kinds of clues]" in words
    assert len(KINDS) == 8


# --- the map ------------------------------------------------------------------------------------------------------


def test_map_leads_to_every_method(made: Callable[[str], ModuleType]) -> None:
    tree = drawn(made("methodmap").draw("guide/choosing"))
    distances = {name for _, name, _ in made("generated").all_cards(clusterers=False)}
    assert set(listed(tree)) == {"Cluewise", *clusterers(), *distances}
    assert {f"{name}.html" for name in cluewise._homes.FAMILIES} <= {a.attrib["href"] for a in tree.iter("a")}
    assert "```{method-map}\n```" in (DOCS / "guide" / "choosing.md").read_text("utf-8")


def test_map_follows_cards_and_leaderboard(made: Callable[[str], ModuleType]) -> None:
    lanes = {then: chips for _, then, _, chips in made("methodmap").lanes()}
    right = lanes["all of them are right and must hold"]
    assert all((card := clusterers()[chip.name].card).hard or card.joins for chip in right)
    wrong = lanes["some of them may be wrong"]
    assert not any(clusterers()[chip.name].card.hard for chip in wrong)
    results = made("evidence").leaderboard()["n/2 pairs, 10 % wrong"].results
    places = [results[chip.name].place for chip in wrong if chip.score]
    assert places == sorted(places)
    assert wrong[0].score == f"{results[wrong[0].name].ari:.2f}"


def test_words_fit_into_the_boxes_of_the_map(made: Callable[[str], ModuleType]) -> None:
    width = made("drawing").width
    assert width("HMRFKMeans") > 85 > width("illustrate") > 0  # as many letters, but narrow ones
    for _, _, _, chips in made("methodmap").lanes():
        for chip in chips:
            assert chip.width > 16 + width(chip.name) + width(chip.score, 12.5) + 8


# --- gallery, reference and commands ------------------------------------------------------------------------------


def test_gallery_begins_with_the_simplest_and_ends_with_the_stories(made: Callable[[str], ModuleType]) -> None:
    scripts = sorted((path.name for path in (ROOT / "examples").glob("plot_*.py")), key=made("figures").reading_order)
    assert scripts[0] == "plot_why_clues.py"
    stories = [name for name in scripts if name.startswith("plot_story")]
    assert len(stories) == 3
    assert scripts[-3:] == stories


def test_pages_of_names_that_are_gone_are_removed(
    made: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reference = made("reference")
    monkeypatch.setattr(reference, "PAGE", tmp_path / "api" / "index.md")
    kept, gone = (tmp_path / "api" / "generated" / f"cluewise.{name}.rst" for name in ("ClueError", "Clew"))
    kept.parent.mkdir(parents=True)
    kept.touch()
    gone.touch()
    reference.write()
    assert list(kept.parent.iterdir()) == [kept]


def test_an_empty_default_is_not_mentioned(made: Callable[[str], ModuleType]) -> None:
    words = [words for _, _, shown in made("generated").commands() for _, words in shown]
    assert any("Default: " in line for line in words)
    assert not any("Default: ." in line for line in words)


# --- the pages of methods -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["COPKMeans", "SizedKMeans", "CondEns", "SeededKMeans", "DPMeans", "CorrelationClusterer"]
)
def test_method_page_has_a_picture_in_steps(name: str, made: Callable[[str], ModuleType]) -> None:
    tree = drawn(made("glance").picture(clusterers()[name]))
    panels = [text.text for text in tree.iter("text") if text.attrib["class"] == "title"]
    assert [panel[0] for panel in panels] == list("1234"[: len(panels)])
    dots = [dot for dot in tree.iter("circle") if not dot.attrib["class"].startswith("rim")]
    assert len(dots) == 120 * len(panels)
    notes = [text.text for text in tree.iter("text") if text.attrib["class"] == "note"]
    assert len(notes) == len(panels)
    red = sum("broken" in mark.attrib["class"] for mark in [*tree.iter("line"), *tree.iter("circle")])
    assert red == sum(int(count) for note in notes for count in re.findall(r"(\d+) broken", note))


def test_every_clusterer_has_such_a_page(made: Callable[[str], ModuleType]) -> None:
    class Config:
        autosummary_context: dict[str, list[str]] = {}

    made("glance").name_clusterers(None, Config)
    assert Config.autosummary_context["clusterers"] == ["Cluewise", *clusterers()]
    assert "{% if objname in clusterers %}\n.. glance:: {{ objname }}\n" in (
        DOCS / "_templates" / "autosummary" / "class.rst"
    ).read_text("utf-8")
    for cls in (Cluewise, *clusterers().values()):
        lines = list(made("glance").lines(cls))
        assert sum(line.startswith(":") for line in lines) >= 5
        assert any(line.startswith("   - ") for line in lines), f"{cls.__name__} has no caution"
        assert any(f"<{cls.card.paper.lower()}>`" in line for line in lines)


def test_cautions_follow_from_card_and_leaderboard(made: Callable[[str], ModuleType]) -> None:
    def said(name: str) -> str:
        return " ".join(made("glance").cautions(getattr(cluewise, name)))

    assert "it keeps every one, and raises an error" in said("COPKMeans")
    assert "it may break some" in said("PCKMeans")
    assert "those of finite weight" in said("Cluewise")
    assert "how many clusters" in said("PCKMeans")
    assert "how many clusters" not in said("Cluewise") + said("TVClust")
    assert "with their square" in said("E2CP")
    assert "no ``predict``" in said("KCC")
    for name in clusterers():
        worse = [
            setting
            for setting, table in made("evidence").leaderboard().items()
            if name in table.results and table.results[name].ari < table.plain
        ]
        words = said(name).partition("has the higher mean ARI: ")[2]
        assert words.removesuffix(".") == "; ".join(worse)


def test_method_page_shows_its_rows_of_the_leaderboard(made: Callable[[str], ModuleType]) -> None:
    header, *rows = made("glance").evidence("PCKMeans")
    table = made("evidence").leaderboard()
    assert [row[0] for row in rows] == [setting for setting in table if "PCKMeans" in table[setting].results]
    for row in rows:
        assert float(row[header.index("ARI")]) == round(table[row[0]].results["PCKMeans"].ari, 2)
    assert made("glance").evidence("CorrelationClusterer") == []


# --- pictures of ideas --------------------------------------------------------------------------------------------


def test_pictures_are_on_the_pages(made: Callable[[str], ModuleType]) -> None:
    pages = "".join(page.read_text("utf-8") for page in (DOCS / "guide").glob("*.md"))
    assert sorted(re.findall(r"^```\{picture\} (\S+)$", pages, re.MULTILINE)) == sorted(made("pictures").PICTURES)


@pytest.mark.parametrize("name", ["clues", "closure", "grains", "doubt", "trust", "no-harm"])
def test_picture_is_well_formed(name: str, made: Callable[[str], ModuleType]) -> None:
    tree = drawn(made("pictures").PICTURES[name]())
    assert tree.attrib["aria-label"]
    if name == "clues":
        assert [text.text for text in tree.iter("text") if text.attrib["class"] == "title"] == list(KINDS)
    if name == "closure":
        kinds = [mark.attrib["class"] for mark in tree.iter("line")]
        assert (kinds.count("link must"), kinds.count("link cannot")) == (3 + 4 + 1, 1 + 6)
        assert (kinds.count("link must broken"), kinds.count("link cannot broken")) == (4, 1)  # the chain


def test_doubt_and_trust_are_what_the_captions_say(made: Callable[[str], ModuleType]) -> None:
    judged = made("pictures")._judged
    model, wrong = judged(0.2)
    first = np.argsort(-model.doubt_, kind="stable")[: wrong.sum()]
    assert wrong[first].mean() > 0.8
    model, wrong = judged(0.4)
    assert model.trust_["sampled"]["all"] > 1 - wrong.mean()


def test_wrong_clues_cost_what_the_guide_says(made: Callable[[str], ModuleType]) -> None:
    found = made("evidence").front_door()
    many, few = found["2n pairs, 0 % wrong"], found["50 pairs, 30 % wrong"]
    assert all(many[name] > found["no clues"][name] for name in SHOWN if name != "Cluewise, no clues")
    assert all(few[name] < few["Cluewise"] for name in SHOWN[2:])
    for setting in ("50 pairs, 20 % wrong", "50 pairs, 30 % wrong"):
        assert abs(found[setting]["Cluewise"] - found[setting]["Cluewise, no clues"]) < 0.03
    assert found["2n pairs, 30 % wrong"]["Cluewise"] > found["2n pairs, 30 % wrong"]["Cluewise, no clues"]


# --- formulas and checks ------------------------------------------------------------------------------------------


def test_formulas_need_no_network(made: Callable[[str], ModuleType]) -> None:
    convert = made("mathml").convert
    half = ElementTree.fromstring(convert(r"\tfrac12 \lVert x \rVert^2", block=False))
    assert [node.text for node in half[0]] == ["1", "2"]
    assert "".join(half.itertext()).count("‖") == 2
    assert "<msub>" in convert(r"\bar w_{ij}", block=False)
    for cls in (Cluewise, *clusterers().values()):
        for formula in re.findall(r":math:`([^`]+)`", cls.__doc__):
            assert convert(formula, block=False).startswith("<math")
    settings = (DOCS / "conf.py").read_text("utf-8")
    assert 'html_math_renderer = "mathml"' in settings
    assert '"checked",' in settings


def test_faults_of_built_pages_are_found(made: Callable[[str], ModuleType], tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    start = '<h2 id="here"></h2><a href="guide/a.html#there"></a><a href="#here"></a><a href="https://example.org"></a>'
    (tmp_path / "index.html").write_text(start, "utf-8")
    good = '<a id="there" href="../index.html#here"></a><img src="../picture.png?v=1"/><svg><a href="a.html"/></svg>'
    (tmp_path / "guide" / "a.html").write_text(good, "utf-8")
    (tmp_path / "picture.png").write_bytes(b"")
    (tmp_path / "style.css").write_text("p { background: url(picture.png); }", "utf-8")
    faults = made("checked").faults
    names = ["index", "guide/a"]
    assert list(faults(tmp_path, names)) == []
    bad = {
        '<a href="gone.html"></a>': "leads to gone.html, which is not there.",
        '<a href="../index.html#gone"></a>': "but there is no such place",
        '<script src="https://example.org/x.js"></script>': "loads https://example.org/x.js from the network.",
        '<link rel="stylesheet" href="//example.org/x.css"/>': "loads //example.org/x.css from the network.",
        '<p style="background: url(http://example.org/x.png)"></p>': "loads http://example.org/x.png from the network.",
    }
    for tag, words in bad.items():
        (tmp_path / "guide" / "a.html").write_text(good + tag, "utf-8")
        (fault,) = faults(tmp_path, names)
        assert fault.startswith("guide/a.html ")
        assert words in fault
    (tmp_path / "guide" / "a.html").write_text(good, "utf-8")
    (tmp_path / "style.css").write_text("@import 'https://example.org/y.css';", "utf-8")
    assert list(faults(tmp_path, names)) == ["style.css loads https://example.org/y.css from the network."]


@pytest.mark.needs_chromium
def test_button_copies_what_you_would_type(tmp_path: Path) -> None:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonConsoleLexer

    typed = ">>> def double(x):\n...     return 2 * x\n>>> double(2)  # four\n4\n>>> 1\n1\n"
    page = f"""{highlight(typed, PythonConsoleLexer(), HtmlFormatter())}
    <script src="{(DOCS / "_static" / "copy.js").as_uri()}"></script><pre id="copied"></pre><script>
    const put = {{ writeText: async (text) => {{ document.querySelector("#copied").textContent = text; }} }};
    Object.defineProperty(navigator, "clipboard", {{ value: put }});
    document.addEventListener("DOMContentLoaded", () => document.querySelector("button").click());
    </script>"""
    (tmp_path / "page.html").write_text(page, "utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    command = [os.environ.get("CHROMIUM", "chromium"), *options, (tmp_path / "page.html").as_uri()]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    copied = re.search(r'<pre id="copied">(.*?)</pre>', said, re.DOTALL)
    assert copied[1] == "def double(x):\n    return 2 * x\ndouble(2)  # four\n1\n"
