"""The paper: what it cites is in the bibliography, its figure and numbers are those of the committed tables."""

import re
from pathlib import Path
from runpy import run_path

import pytest

PAPER = Path(__file__).resolve().parents[1] / "paper"
TEXT = (PAPER / "paper.md").read_text("utf-8")


def test_every_citation_is_in_the_bibliography():
    bibliography = (PAPER.parent / "references.bib").read_text("utf-8")
    cited = set(re.findall(r"@(\w+\d{4})", TEXT))
    assert len(cited) > 5
    assert {key for key in cited if f"{{{key}," not in bibliography} == set()


def test_the_figure_is_drawn_from_the_table(tmp_path):
    script = run_path(str(PAPER / "figures.py"))
    settings, means = script["read_means"](script["TABLE"].read_text("utf-8"))
    assert set(means) == set(script["SHOWN"])
    first = settings.index("50 pairs, 0 % wrong")
    row = next(line for line in script["TABLE"].read_text("utf-8").splitlines() if line.startswith("| 50 pairs, 0 %"))
    assert means["Cluewise"][first] == pytest.approx(float(row.split("|")[2]))
    script["draw"](tmp_path / "quality.png")
    assert (tmp_path / "quality.png").read_bytes()[:4] == b"\x89PNG"
    assert "](quality.png)" in TEXT
    assert (PAPER / "quality.png").exists()


def test_tables_are_those_of_the_experiments():
    """Run `python paper/figures.py` if an experiment was repeated."""
    script = run_path(str(PAPER / "figures.py"))
    assert script["fill"](TEXT) == TEXT
    stale = TEXT.replace("| pairs, all right |", "| pairs, all wrong |")
    assert stale != TEXT
    assert script["fill"](stale) == TEXT


def test_lines_of_the_table_are_means_over_settings():
    script = run_path(str(PAPER / "figures.py"))
    text = "## Mean ARI\n\n| setting | " + " | ".join(script["COMPARED"]) + " |\n|---|\n"
    for setting, score in (("50 pairs, 0 % wrong", 0.5), ("2n pairs, 0 % wrong", 0.9)):
        cells = [f"{score + 0.1 * (name == 'E2CP')}" if "L" not in name else "" for name in script["COMPARED"]]
        text += f"| {setting} | " + " | ".join(cells) + " |\n"
    script["compare"].__globals__["GROUPS"] = {"pairs, all right": "pairs, 0 % wrong"}
    line = script["compare"](text).splitlines()[-1]
    assert line == "| pairs, all right | 0.70 | **0.80** | 0.70 | 0.70 | 0.70 |  |  | 0.70 |"


def test_counts_in_words_are_about_right():
    from cluewise import clusterers

    assert "some forty clusterers" in TEXT
    assert 36 <= len(list(clusterers())) <= 45


def test_who_is_ahead_is_as_the_paper_says():
    script = run_path(str(PAPER / "figures.py"))
    settings, means = script["read_means"](script["TABLE"].read_text("utf-8"))
    behind = [one for i, one in enumerate(settings) if means["E2CP"][i] > means["Cluewise"][i]]
    assert any("pairs" in one for one in behind)  # "ahead in some panels"
    for share in (10, 20):  # "level"
        where = [i for i, one in enumerate(settings) if f"pairs, {share} % wrong" in one]
        ours, others = (sum(means[name][i] for i in where) / len(where) for name in ("Cluewise", "E2CP"))
        assert abs(ours - others) < 0.02
