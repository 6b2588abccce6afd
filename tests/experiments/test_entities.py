"""The experiment about records: its baselines do what they say, and its tables are of what was run."""

import re
from pathlib import Path

import entities
import numpy as np
import pytest
import signed_graphs

from cluewise.datasets import Entities


@pytest.fixture
def chain():
    """Records 0 to 4 of sources 0, 1, 0, 1, 2 in a chain; 2 and 3 are one person, and so are 0, 1 and 4."""
    records = Entities({}, np.array([0, 1, 0, 1, 2]), np.array([0, 0, 1, 1, 0]))
    pairs = np.array([(0, 1), (0, 4), (1, 2), (2, 3)])
    return entities.Scored(records, pairs, np.array([0.9, 0.7, 0.8, 0.95]))


def parts(labels):
    return sorted(np.flatnonzero(labels == h).tolist() for h in np.unique(labels))


def test_baselines(chain):
    def found(way, *options, **more):
        return [parts(labels) for labels in way(chain, options, **more)]

    assert found(entities.components, 0.5, 0.85) == [[[0, 1, 2, 3, 4]], [[0, 1], [2, 3], [4]]]
    assert found(entities.one_to_one, 0.5) == [[[0, 1, 4], [2, 3]]]
    assert found(entities.greedy_unions, 0.5, 0.93) == [[[0, 1, 4], [2, 3]], [[0], [1], [2, 3], [4]]]
    assert found(entities.average, 0.85, 0.3) == [[[0, 1], [2, 3], [4]], [[0, 1, 4], [2, 3]]]
    assert found(entities.average, 0.05, apart=True) == [[[0, 1, 4], [2, 3]]]
    assert found(entities.correlation, 0.0, -1.0, unscored=0.0) == [[[0, 1, 2, 3, 4]], [[0, 1, 2, 3], [4]]]
    assert found(entities.correlation, 0.0) == [[[0, 1, 4], [2, 3]]]
    assert found(entities.correlation, 0.0, apart=True) == [[[0, 1, 4], [2, 3]]]


def test_judge():
    truth = np.array([0, 0, 1, 1, 0])
    assert entities.judge(truth, truth) == (1, 1, 1, 1)
    found = entities.judge(truth, np.array([0, 0, 1, 1, 2]))
    assert found == pytest.approx((1, 0.5, 2 / 3, 2 / 5))


def test_tables_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(entities, "SETTINGS", {entities.LARGE: entities.SETTINGS[entities.LARGE]})
    monkeypatch.setattr(entities, "THRESHOLDS", [0.5, 0.9])
    file = tmp_path / "entities.md"
    entities.main(["--records", "300", "--draws", "2", "--large", "500", "--table", str(file)])
    text = file.read_text("utf-8")
    assert all(text.count(f"| {name} |") == 1 + (name in entities.MANY) for name in entities.METHODS)


def rows_of(text):
    """Cells of the rows of a table that begin with the name of a method."""
    rows = (line.strip("|").split("|") for line in text.splitlines() if line.startswith("|"))
    return [[cell.strip(" *") for cell in row] for row in rows]


def test_the_guide_tells_what_was_measured():
    root = Path(entities.__file__).parents[1]
    measured = (root / "experiments" / "results" / "entities.md").read_text("utf-8")
    section = next(part for part in measured.split("\n## ") if part.startswith(f"{entities.LARGE}, 10,000 records"))
    found = {row[0]: [re.split(" ", row[at])[0] for at in (1, 3, 4)] for row in rows_of(section)}
    page = (root / "docs" / "guide" / "graph.md").read_text("utf-8").split("### How it compares")[1]
    told = [row for row in rows_of(page) if re.match(r"0\.\d{3}$", row[1])]
    names = (
        "connected components, p ≥ 0.5",
        "connected components",
        "average linkage",
        "CorrelationClusterer",
        "greedy one-to-one links, sources",
        "greedy unions, sources",
        "average linkage, sources",
        "CorrelationClusterer, sources",
    )
    assert [row[1:] for row in told] == [found[name] for name in names]


def test_random_graphs(tmp_path, capsys):
    signed_graphs.main(["--graphs", "20", "--table", str(tmp_path / "table.md")])
    shares = re.findall(r"\| ([\d.]+) % \| (-?[\d.]+) % \|", (tmp_path / "table.md").read_text("utf-8"))
    unions, moves, exact = [float(gap) for _, gap in shares]
    assert unions >= moves >= 0
    assert exact >= 0
    assert all(float(share) > 50 for share, _ in shares)
