"""Constrained 1-spectral clustering in the report: cuts are measured as they should be, and the checks can fail."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from reproduce.cells import Problem
from reproduce.findings import Findings
from reproduce.parts import Claims, Table
from reproduce.results import COLUMNS
from reproduce.tables import one_spectral

from cluewise import Clues, OneSpectral


def planted(folder, cut, lost, memory):
    """Findings of all cells, as if they had been run."""
    values = {one_spectral.CUT: cut, one_spectral.LOST: lost, "": 0.5}
    for experiment in one_spectral.EXPERIMENTS:
        with (folder / f"{experiment.name}.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            for cell in experiment.cells():
                line = {**cell._asdict(), "status": "ok", "seconds": 1.0, "ari": 0.5, "nmi": 0.5}
                if cell.method == "memory":
                    writer.writerow({**line, "stage": "", "value": memory})
                    continue
                for stage, value in values.items():
                    ours = cell.method == "OneSpectral"
                    writer.writerow({**line, "stage": stage, "value": value if ours or not stage else 1.0})
    return Findings(folder, {experiment.name: experiment for experiment in one_spectral.EXPERIMENTS})


def marks(found):
    parts = [part for part in one_spectral.SECTION.parts if isinstance(part, Claims)]
    return [verdict.ok for part in parts for verdict in part.verdicts(found)]


def test_checks_hold_and_fail(tmp_path):
    assert marks(planted(tmp_path, 0.9, 0, 400)) == [True, True, True]
    assert marks(planted(tmp_path, 1.1, 1, 1200)) == [False, False, False]


def test_the_table_of_growth_shows_time_and_memory(tmp_path):
    (part,) = (part for part in one_spectral.SECTION.parts if isinstance(part, Table) and part.title == "Growth")
    grid = part.build(planted(tmp_path, 0.9, 0, 400))
    assert [row[0] for row in grid.rows] == [f"{n:,} rows" for n in one_spectral.ROWS]
    assert grid.rows[0][1:] == ["1.0", "1.0", "1.0", "1.0", "400"]


@pytest.mark.needs_data
def test_the_table_of_digits_shows_the_cut_of_the_classes(tmp_path, data_folder, monkeypatch):
    monkeypatch.setenv("CLUEWISE_DATA", str(data_folder))
    monkeypatch.setattr(one_spectral, "MANY", one_spectral.MANY.small())
    grid = one_spectral.many(planted(tmp_path, 0.9, 0, 400))
    assert grid.rows[0][:2] == ["digits, k = 3", "53"]
    assert 0 < float(grid.rows[0][2]) < 0.1
    assert grid.rows[0][3] == "0.900 / 0 / 0.50"


def test_the_cut_is_that_of_the_estimator():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) + 3 * (np.arange(80) % 2)[:, None]
    clues = Clues.sample(np.arange(80) % 2, pairs=10, random_state=0)
    found = one_spectral.METHODS["OneSpectral"](Problem(X, np.arange(80) % 2, 2, clues, 0))
    model = OneSpectral(2, random_state=0).fit(X, clues=clues)
    assert (found[""] == model.labels_).all()
    assert found[one_spectral.CUT] == pytest.approx(model.cut_)
    assert found[one_spectral.LOST] == 0
    plain = one_spectral.METHODS["SpectralKernelKMeans"](Problem(X, np.arange(80) % 2, 2, clues, 0))
    labels = plain[""]
    pairs = clues.pairs()
    lost = (labels[pairs.must[:, 0]] != labels[pairs.must[:, 1]]).sum()
    lost += (labels[pairs.cannot[:, 0]] == labels[pairs.cannot[:, 1]]).sum()
    assert plain[one_spectral.LOST] == lost
