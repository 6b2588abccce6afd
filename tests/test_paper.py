"""The paper: what it cites is in the bibliography, and its figure shows what the experiments found."""

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
