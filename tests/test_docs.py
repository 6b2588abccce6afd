"""The words are true: code on every page runs and prints what it says, tables say what the cards say."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
import runpy
import shlex
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from operator import attrgetter
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import cluewise
from cluewise import Clues, clusterers, metric_learning
from cluewise._homes import FAMILIES, ROOMS
from cluewise.cli._app import app
from cluewise.clues import KINDS
from cluewise.metrics import ari

pytestmark = pytest.mark.no_cover  # what the words need is covered by the tests of the code

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BUILT = {"_build", "auto_examples", "api"}
PAGES = [ROOT / "README.md", *(p for p in sorted(DOCS.rglob("*.md")) if not BUILT & set(p.parts))]
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
CAPTION = re.compile(r":caption: *`?([\w.]+)`?\n(?::language: \w+\n)?\n?")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    body: str
    line: int  # of its first line, counted from 0


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        info = found["info"].replace("{code-block}", "").split()
        if info[:1] == ["{literalinclude}"]:
            yield Block("", found["body"] + "\n" + (page.parent / info[1]).read_text("utf-8"), 0)
            continue
        yield Block(info[0] if info else "", found["body"], text.count("\n", 0, found.start("body")))


def transcript(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what it is said to answer."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, answer = part.partition("\n")
        yield command, answer


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and scikit-learn's settings put back afterwards."""
    import sklearn

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with contextlib.ExitStack() as stack:
        stack.enter_context(sklearn.config_context())
        yield tmp_path


def run_pycon(block: Block, page: Path, names: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.body, names, name_of(page), str(page), block.line)
    said: list[str] = []
    # The parser copies the names; what a block defines is there for the next one.
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not said, "".join(said)


def run_console(command: str, answer: str) -> None:
    """Run ``cluewise …`` here; of other programs only the words are checked."""
    words, _, code = command.partition("  # exit code ")
    program, *arguments = shlex.split(words)
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert set(arguments) <= set(targets), f"there is no {words}"
        if arguments == ["demo"]:
            arguments = ["demo", "--quiet"]  # what the target runs, less the words
        else:
            return
    elif program == "pip":
        assert arguments[0] == "install"
        return
    else:
        assert program == "cluewise", f"who runs {words}?"
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == int(code or 0), found.output
    if answer.strip():
        same = doctest.OutputChecker().check_output(answer, found.output, OPTIONS)
        assert same, f"{words}\nsays\n{found.output}\nand not\n{answer}"


def list_pages() -> Iterator[Any]:
    for page in PAGES:
        needs = [pytest.mark.needs_torch] if "import torch" in page.read_text("utf-8") else []
        yield pytest.param(page, id=name_of(page), marks=needs)


@pytest.mark.parametrize("page", list(list_pages()))
def test_code_runs(page: Path, desk: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if caption := CAPTION.match(block.body):
            (desk / caption[1]).write_text(block.body[caption.end() :], "utf-8")
        elif block.language == "pycon":
            run_pycon(block, page, names)
        elif block.language == "console":
            for command, answer in transcript(block.body):
                run_console(command, answer)
        elif block.language == "python":
            exec(compile("\n" * block.line + block.body, str(page), "exec"), names)


# --- tables -----------------------------------------------------------------------------------------------------


def rows_of(page: Path, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, its header line first."""
    text = page.read_text("utf-8").split(f"\n## {heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert table, f"{name_of(page)} has no table under {heading}"
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()]
    return [lines[0], *lines[2:]]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Modules that write pages when the documentation is built."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return import_module


def test_guide_lists_the_methods_and_their_clues(made: Callable[[str], ModuleType]) -> None:
    assert {"```{methods}", "```{distances}"} <= set((DOCS / "guide" / "methods.md").read_text("utf-8").splitlines())
    header, *rows = made("generated").methods()
    cards = {name: c.card for name, c in clusterers().items()}
    assert sorted(re.search(r"`(\w+)`", row[0])[1] for row in rows) == list(cards)
    for name, title, *marks, hard, _ in rows:
        card = cards[re.search(r"`(\w+)`", name)[1]]
        assert title == card.title
        assert {kind for kind, mark in zip(header[2:-2], marks) if mark} == card.accepts
        assert bool(hard) == card.hard


def test_guide_lists_the_distances(made: Callable[[str], ModuleType]) -> None:
    listed = {re.search(r"`(\w+)`", row[0])[1] for row in list(made("generated").distances())[1:]}
    assert listed == {*metric_learning.__all__, "DistBoost"}


@pytest.mark.parametrize("family", FAMILIES)
def test_guide_says_what_the_cards_promise(family: str, made: Callable[[str], ModuleType]) -> None:
    kind = "distance-promises" if family == "metric_learning" else "promises"
    assert f"```{{{kind}}} {family}\n```\n" in (DOCS / "guide" / f"{family}.md").read_text("utf-8")
    header, *rows = vars(made("generated"))[kind.replace("-", "_")](family)
    assert rows
    for row in rows:
        said = dict(zip(header, row, strict=True))
        card = getattr(cluewise, re.search(r"`(\w+)`", row[0])[1]).card
        assert said["clues it uses"] == (", ".join(sorted(card.accepts)) or "none")
        assert (said["entailed clues change nothing"] in ("✓", "yes")) == card.closes
        if kind == "promises":
            fields = (card.hard, card.named, card.closes, card.descends, card.plain, card.predicts, card.sparse)
            assert [mark == "✓" for mark in row[2:10]] == [*map(bool, fields), card.weights]
            assert set(said["labels do not depend on"].split(", ")) - {""} == card.invariant
        assert said["paper"] == f"[{card.paper}](#{card.paper.lower()})"


def test_guide_tells_the_entries_of_a_report(desk: Path) -> None:
    _, *lines = rows_of(DOCS / "guide" / "command_line.md", "Output")
    Path("rows.csv").write_text("x,y\n1,1\n2,2\n9,9\n", "utf-8")
    answer = CliRunner().invoke(app, ["fit", "rows.csv", "-k", "2", "--json"]).output
    assert {name for line in lines for name in re.findall(r"`(\w+)`", line[0])} == set(json.loads(answer))


def test_guide_lists_every_kind_of_clue() -> None:
    _, *lines = rows_of(DOCS / "guide" / "clues.md", "The kinds of clues")
    assert tuple(line[0].strip("`") for line in lines) == KINDS


def test_readme_lists_every_kind_of_clue_on_two_screens() -> None:
    _, *lines = rows_of(ROOT / "README.md", "Use")
    assert tuple(kind for line in lines for kind in re.findall(r"`(\w+)`", line[0])) == KINDS
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 80


def test_contributing_maps_the_layers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    packages = [re.findall(r"\w+", layer) for layer in layers[:-1]]  # the last one has no packages
    _, *lines = rows_of(ROOT / "CONTRIBUTING.md", "Find your way")
    mapped = [line[1].strip("`") for line in lines]
    assert sorted(mapped) == sorted(name for layer in packages for name in layer)
    level = {name: number for number, layer in enumerate(packages) for name in layer}
    assert [level[name] for name in mapped] == sorted(level[name] for name in mapped)  # from top to bottom
    planned = {line[1].strip("`") for line in lines if line[2].startswith("*planned*")}
    assert planned == {name for name in mapped if find_spec(f"cluewise.{name}") is None}


# --- numbers ----------------------------------------------------------------------------------------------------


def mean_ari(how: str, words: str, X: np.ndarray, y: np.ndarray) -> float:
    """One entry of the table of results: the mean over ten draws of the clues that the words describe."""
    k, scores = len(np.unique(y)), []
    method = re.findall(r"`(\w+)`", how)[0]
    wrong = re.search(r"(\d+) % wrong", words)
    amount = {"labels": 0.2} if "labels" in words else {"pairs": 0 if words == "none" else len(y)}
    for seed in range(10):
        clues = Clues.sample(y, **amount, noise=int(wrong[1]) / 100 if wrong else 0.0, random_state=seed)
        free = clues.labels < 0
        if method == "LogisticRegression":
            found = LogisticRegression(max_iter=1000).fit(X[~free], y[~free]).predict(X)
        elif method == "KMeans":
            found = KMeans(k, n_init=10, random_state=seed).fit_predict(X)
        else:
            model = clusterers()[method](k, random_state=seed)
            if "a third of the penalty" in how:
                model.set_params(penalty=clone(model).set_params(n_init=1).fit(X, clues=clues).penalty_ / 3)
            found = model.fit_predict(X, clues=clues)
        scores.append(ari(y[free], found[free]))
    return float(np.mean(scores))


RESULTS = rows_of(DOCS / "guide" / "centroid.md", "How well do they do?")
LOADERS = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}


@pytest.mark.parametrize("column", range(2, 5), ids=RESULTS[0][2:])
def test_numbers_in_the_guide(column: int) -> None:
    X, y = LOADERS[RESULTS[0][column]](return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for words, how, *entries in RESULTS[1:]:
        found = mean_ari(how, words, X, y)
        assert abs(found - float(entries[column - 2])) <= 0.03, f"{words}, {how}: {found:.2f}"


# --- gallery ----------------------------------------------------------------------------------------------------

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def said_by(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a script of the gallery prints."""
    monkeypatch.setattr("sys.argv", [name])
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    return out.getvalue()


def series(said: str, name: str) -> np.ndarray:
    """The numbers on the line that begins with a name."""
    line = re.search(rf"^{re.escape(name)}: (.*?)(?: \(|$)", said, re.MULTILINE)
    assert line, f"there is no line '{name}' in\n{said}"
    return np.array(line[1].split(), dtype=float)


def test_no_script_of_the_gallery_limits_time() -> None:
    """A limit in seconds would make what a script prints, and whether it ends, depend on the machine."""
    limits = {
        path.name: found
        for path in sorted((ROOT / "examples").glob("*.py"))
        if (found := re.findall(r"time_limit=(?!None)[^,)]*", path.read_text("utf-8")))
    }
    assert limits == {}


def test_gallery_why_clues(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_why_clues.py", monkeypatch)
    before, after = re.findall(r"ARI (-?[\d.]+), objective (\d+)", said)
    assert float(before[0]) < 0.1
    assert float(after[0]) > 0.9
    assert int(before[1]) < int(after[1])  # what we want is not what K-means looks for
    counts = [int(found) for found in re.findall(r"in (\d+) of 100", said)]
    assert counts == sorted(counts)
    assert counts[2] >= 80
    assert counts[-1] >= 95


def test_gallery_wrong_clues(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_wrong_clues.py", monkeypatch)
    for name, bearable in (("wine", 2), ("breast cancer", 4)):  # 10 % and 30 % wrong links
        plain = series(said, f"{name}, no clues")[0]
        soft, cautious, hard = (
            series(said, f"{name}, {method}")
            for method in ("PCKMeans", "PCKMeans, a third of the penalty", "COPKMeans")
        )
        assert hard[0] > plain + 0.03
        assert hard[0] > soft[0] - 0.03
        answers = re.search(rf"^{name}, COPKMeans: .* to 10, (\d+), (\d+),", said, re.MULTILINE)
        assert answers
        assert int(answers[2]) < 5
        assert (soft[: bearable + 1] > plain).all()
        assert (soft[bearable + 1 :] < plain - 0.02).all()
        assert cautious[0] - plain < 0.7 * (soft[0] - plain)
        assert (cautious > plain - 0.02).all()
        assert cautious[-1] >= soft[-1]
        assert np.abs(series(said, f"{name}, SeededKMeans") - plain).max() < 0.03


def test_gallery_which_clues_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_which_clues_are_wrong.py", monkeypatch)
    for name in ("TVClust", "PCCC", "RDPMeans"):
        found = series(said, name)
        assert (found[:3] > 0.9).all()  # up to three wrong links in ten
        assert found[0] > found[3]
    for kind in ("must", "cannot"):
        right, learned = map(float, re.search(rf"^{kind}-links right: (\S+), learned: (\S+)$", said, re.M).groups())
        assert abs(right - learned) < 0.05


def test_gallery_which_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_which_questions.py", monkeypatch)
    ends = {name: float(value) for name, value in re.findall(r"^(.*?) +\S+ -> (\S+)$", said, re.MULTILINE)}
    assert ends["pairs at stake"] > 0.8
    assert ends["several utilities"] > ends["pairs at random"] + 0.05


def test_gallery_mixed_clues(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_mixed_clues.py", monkeypatch)
    before, after = (
        np.array(re.search(rf"^sizes {words} clues: (.*)$", said, re.M)[1].split(), dtype=int)
        for words in ("without", "with")
    )
    assert before.sum() == after.sum() == 60
    assert before.max() > 22
    assert after.min() >= 18
    assert after.max() <= 22
    assert float(re.search(r"at most (\S+) % more expensive", said)[1]) < 1


def test_gallery_labels_or_links(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_labels_or_links.py", monkeypatch)
    two, five = "breast cancer, 2 classes", "digits 0 to 4, 5 classes"
    labels, links = "labels, ConstrainedKMeans", "links, COPKMeans"
    assert np.abs(series(said, f"{two}, {labels}") - series(said, f"{two}, {links}")).max() < 0.05
    assert (series(said, f"{five}, {labels}")[1:] - series(said, f"{five}, {links}")[1:]).min() > 0.03
    whole, free = (series(said, f"{two}, {links}{rest}") for rest in ("", ", rows without a clue"))
    assert free[-1] - free[0] < (whole[-1] - whole[0]) / 2
    whole, free = (series(said, f"{five}, {links}{rest}") for rest in ("", ", rows without a clue"))
    assert free[-1] - free[0] > (whole[-1] - whole[0]) / 2
    soft = series(said, f"{five}, links, PCKMeans")
    assert np.abs(np.concatenate([soft[:4], whole[:4]]) - soft[0]).max() < 0.03  # up to one link for ten rows
    assert soft[0] + 0.01 < soft[-1] < whole[-1]


def test_gallery_dendrogram(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0.0, 3600.0)  # a busy machine: an hour from one look at the clock to the next
    for module in ("_agglomerative", "_detours"):
        monkeypatch.setattr(f"cluewise.hierarchy.{module}.working_time", clock.__next__)
    said = said_by("plot_dendrogram.py", monkeypatch)
    before, after = (
        re.search(rf"^{words}: ARI (\S+), .* ends at (\d)$", said, re.M) for words in ("no clues", "clues")
    )
    assert float(before[1]) < 0.1
    assert float(after[1]) > 0.8
    assert (before[2], after[2]) == ("1", "3")
    assert said.count("no clues)") == 3  # nothing is broken at any level
    ward = series(said, "Ward's linkage, no clues and three draws of 20 pairs")
    assert ward[0] > ward[1:].max()


def test_gallery_alternative(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_alternative.py", monkeypatch)
    color, shape = series(said, "k-means, nothing known")
    assert color > 0.9
    assert shape < 0.1
    for method in ("CondEns", "CoordinatedConditionalIB"):
        color, shape = series(said, f"{method}, colors known")
        assert color < 0.1
        assert shape > 0.8


def test_gallery_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_patterns.py", monkeypatch)
    methods = ("ConstrainedAgglomerative", "ConstrainedHDBSCAN", "E2CP", "FlexibleSpectral")
    links = np.array([series(said, f"{method}, 1 % of the pairs") for method in methods])
    none = np.array([series(said, f"{method}, no pairs") for method in methods])
    assert (links[:3] >= 0.95).all()
    assert (links[:3].mean(axis=1) > none[:3].mean(axis=1)).all()
    assert links[3].min() < 0.9
    assert (series(said, "KMeans, no pairs") < 0.95).sum() == 5


def test_gallery_what_makes_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_what_makes_a_cluster.py", monkeypatch)
    three, four = (series(said, f"{k} clusters come back in") for k in (3, 4))
    assert three.min() >= 27  # of 30
    assert four.min() < 20
    covers = [int(share) for share in re.findall(r"rule: .* covers (\d+) %", said)]
    assert len(covers) == 3
    assert min(covers) > 70
    assert "Because of the clues, " in said


def test_gallery_how_cluewise_thinks(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_how_cluewise_thinks.py", monkeypatch)
    assert re.search(r"^\* \w+", said, re.M)  # what was taken
    estimate, truth = re.search(r"right clues, estimated: (\S+); in truth: (\S+)", said).groups()
    assert abs(float(estimate) - float(truth)) < 0.06


def test_gallery_story_customers(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_story_customers.py", monkeypatch)
    line = r"rules: sizes \[(.*)\], (\d+) of 10 households split, rivals (\w+), ARI (\S+)"
    (_, split, rivals, before), (sizes, *kept, after) = re.findall(line, said)
    assert (int(split) > 0, rivals) == (True, "together")
    assert kept == ["0", "apart"]
    assert all(40 <= int(size) <= 105 for size in sizes.split())
    assert float(before) > float(after) > 0.7
    back = [int(count) for count in re.findall(r"comes back in (\d+) of 30", said)]
    assert sorted(back)[1:] == [30, 30]
    assert back.index(min(back)) == 2  # the offices, which are the smallest cluster
    sent, left = re.search(r"right campaign: (\d+)% .*, (\d+)% of", said).groups()
    assert int(sent) > 90
    assert int(left) < 70


def test_gallery_story_tickets(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_story_tickets.py", monkeypatch)
    plain, labeled, checked = (float(found) for found in re.findall(r"ARI (\S+)", said))
    assert plain < 0.1
    assert labeled > 0.4
    assert checked > labeled + 0.2
    assert "wrong labels among these six: 4 of 4" in said
    before, after = said.split("with 40 labels:\n")
    assert all(word in before for word in ("speaker,", "kettle,", "phone,", "printer,"))
    assert all(word in after for word in ("invoice,", "broken,", "parcel,", "login,"))


def test_gallery_story_products(monkeypatch: pytest.MonkeyPatch) -> None:
    said = said_by("plot_story_products.py", monkeypatch)
    (plain, found), (precise, kept) = (
        (float(left), float(right)) for left, right in re.findall(r"precision (\S+), recall (\S+)", said)
    )
    assert plain < 0.4
    assert precise > 0.75
    assert kept >= found
    checked, accepted, rest = map(int, re.search(r"right: (\d+) of the 30 .* (\d+) of the other (\d+)", said).groups())
    assert checked < 25
    assert accepted >= rest - 1


def test_every_example_is_tried() -> None:
    tried = {f"plot_{name[13:]}.py" for name in globals() if name.startswith("test_gallery_")}
    assert {path.name for path in EXAMPLES} == tried


# --- the rest ---------------------------------------------------------------------------------------------------


def test_picture_is_there_and_small() -> None:
    shown = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert shown == ["docs/_static/why_clues.png", "docs/_static/web_answering.png"]
    assert 10_000 < (ROOT / shown[0]).stat().st_size < 150_000


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    made = {"api/index.md", "auto_examples/index", *(f"auto_examples/{path.stem}" for path in EXAMPLES)}
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text("utf-8"))):
        path, _, anchor = target.partition("#")
        if not path:
            continue  # an anchor or an object: Sphinx checks those
        found = (page.parent / path).resolve()
        if found.is_relative_to(DOCS) and str(found.relative_to(DOCS)) in made:
            continue
        assert found.exists(), f"{target} is not there"
        if anchor and found.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", found.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor in slugs, f"{target}: there is no such heading"


def test_bibliography_is_readable(made: Callable[[str], ModuleType]) -> None:
    bibliography = made("bibliography")
    entries = bibliography.entries((ROOT / "references.bib").read_text("utf-8"))
    assert len(entries) == (ROOT / "references.bib").read_text("utf-8").count("\n@")
    for entry in entries.values():
        line = f"{bibliography.authors(entry['author'])} {entry['title']} {bibliography.where(entry)}"
        assert not set("{}\\") & set(line), f"TeX is left in {line}"
    assert bibliography.authors("Basu, Sugato and Mooney, Raymond J.") == "Sugato Basu and Raymond J. Mooney"
    cited = {key for page in PAGES for key in re.findall(r"\[\w+\d{4}\w?\]\(#(\w+)\)", page.read_text("utf-8"))}
    assert cited <= {key.lower() for key in entries}


def test_reference_lists_every_public_name(made: Callable[[str], ModuleType]) -> None:
    page = made("reference").page()
    listed = re.findall(r"^   ([\w.]+)$", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(cluewise.__all__) - {*ROOMS, "__version__"} <= set(listed)
    for room in ROOMS:
        home = import_module(f"cluewise.{room}")
        callables = {name for name in home.__all__ if isinstance(getattr(home, name), type | FunctionType)}
        assert {f"{room}.{name}" for name in callables} - set(listed) <= {
            *(f"{room}.{name}" for name in cluewise.__all__),  # at home in both
            "plots.require_matplotlib",
        }
    for name in listed:
        assert attrgetter(name)(cluewise)


def test_reference_is_written_where_it_changed(made: Callable[[str], ModuleType], tmp_path: Path) -> None:
    reference = made("reference")
    reference.PAGE = tmp_path / "api" / "index.md"
    reference.write()
    assert reference.PAGE.read_text("utf-8") == reference.page()
    before = reference.PAGE.stat().st_mtime_ns
    reference.write()
    assert reference.PAGE.stat().st_mtime_ns == before
