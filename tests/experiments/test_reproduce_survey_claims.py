"""The survey: the checks can tell its pattern from the contrary."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from reproduce import published
from reproduce.findings import Findings
from reproduce.parts import Beside, Claims, Table
from reproduce.results import COLUMNS
from reproduce.tables import survey
from reproduce.tables.survey import claims, coherent_claims, other_claims, others, runs


def as_told(cell, sign):
    """What the survey says, or the contrary: figures by stage."""
    high = sign > 0
    if cell.experiment in (runs.TABLE_1.name, runs.DEFAULTS.name, runs.READINGS.name, runs.SAME_START.name):
        if cell.method == "coherent":
            return {"exact": 0.0, "published": 0.0}
        worst = {("wine", "MKM"), ("wine", "MPKM"), ("ionosphere", "PKM"), ("ionosphere", "MPKM")}
        share = 0.8 if ((cell.data, cell.method) in worst) == high else 0.04 if high else 0.3
        rand = {"without": 0.7, "with": 0.6, "entailed": 0.5, "change, little news": -0.1 * sign}
        return rand | {"failed": 0.0, "worse with": share / 2, "worse entailed": share if high else min(share, 0.6)}
    if cell.experiment == runs.TABLE_2.name:
        much = cell.seed % 2
        effect = 0.1 * much * ((cell.data == "iris") == high)
        fits = dict.fromkeys(runs.METHODS, 0.6 + effect + 0.001 * (cell.seed % 4))
        better = {f"{method} better": float(much and high) for method in runs.METHODS}
        return {"draws": 9.0, "found": 1.0, "one kind": 0.0, "news": 0.1 + 0.3 * much, **fits, **better}
    if cell.experiment == others.UNLIKE.name:
        ensemble = cell.method.startswith("CondEns")
        return {"seconds": 0.1 if ensemble == high else 1.0, "ari": 0.2 if ensemble and not high else 0.9}
    return {}


def labelled(cell, sign):
    """The same where a cell has labels."""
    if cell.experiment == others.LANE.name:
        return {"rand": 0.99 if (cell.method == "COP-KMEANS") == (sign > 0) else 0.6}
    if cell.experiment == others.RIVALS.name:
        order = ["GMM-EM, no links", "COP-KMEANS", "Xing", "HMRF-KMEANS", "GMM-EM, cannot-links", "GMM-EM, must-links"]
        order += ["GMM-EM", *others.BOOSTED, "DistBoost"]
        return {"ari": 0.5 + sign * 0.04 * order.index(cell.method)}
    return {}


def planted(folder, sign):
    """Findings as if all had been run, four times."""
    for experiment in survey.EXPERIMENTS:
        with (folder / f"{experiment.name}.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            for cell in replace(experiment, seeds=4).cells():
                lines = [{"stage": stage, "value": value} for stage, value in as_told(cell, sign).items()]
                for line in lines or [labelled(cell, sign)]:
                    writer.writerow({**cell._asdict(), "status": "ok", **line})
    return Findings(folder, {experiment.name: experiment for experiment in survey.EXPERIMENTS})


def test_claims_hold_and_fail(tmp_path, spec):
    for sign in (1, -1):
        findings = planted(tmp_path, sign)
        parts = [part for part in survey.SECTION.parts if isinstance(part, Claims)]
        verdicts = {v.what: v.ok for part in parts for v in part.verdicts(findings)}
        assert [what for what, ok in verdicts.items() if ok is not (sign > 0)] == []
        for part in survey.SECTION.parts:
            if isinstance(part, Table):
                assert part.build(findings).rows


def test_nothing_is_said_where_nothing_was_run(tmp_path, spec):
    findings = Findings(tmp_path, {experiment.name: experiment for experiment in survey.EXPERIMENTS})
    for part in survey.SECTION.parts:
        assert all(verdict.ok is None for verdict in part.verdicts(findings))
        assert part.blocks(findings, tmp_path)


def test_all_printed_numbers_are_told(tmp_path, spec):
    parts = [part for part in survey.SECTION.parts if isinstance(part, Beside)]
    told = [verdict for part in parts for verdict in part.verdicts(planted(tmp_path, 1))]
    assert len(told) == len(published.printed("survey"))
    assert sum("copied" in verdict.why for verdict in told) == 2
    rows = {tuple(row[:2]): row[2] for row in coherent_claims.table_2(planted(tmp_path, 1)).rows}
    assert (rows["iris", "MKM"], rows["wine", "MKM"]) == ("92.9 / 89.2", "– / –")


def test_columns_of_table_1(tmp_path, spec):
    grid = claims.table_1(planted(tmp_path, 1))
    rows = {tuple(row[:2]): dict(zip(grid.header, row)) for row in grid.rows}
    row = rows["wine", "MKM"]
    assert (row["published"], row["Rand without"]) == ("87", "70.0")
    assert (row["with, entailed"], row["with, as drawn"]) == ("50.0", "60.0")
    assert row["ours, entailed pairs added"].startswith("80.0 ")
    assert row["ours, pairs as drawn"].startswith("40.0 ")


def test_what_is_high_in_print_is_the_only_thing_that_may_be_high(tmp_path, spec):
    assert claims.no_others(planted(tmp_path, 1))[1].startswith("above half here, not in print: none; ")
    ok, words = claims.no_others(planted(tmp_path, -1))
    assert not ok
    assert "glass CKM 60.0 % (28)" in words
    assert "wine MKM" not in words


def test_cells_that_lack_a_result_are_left_out(tmp_path, spec):
    findings = planted(tmp_path, 1)
    key = (others.UNLIKE.name, "documents", "avoid", "CCIB, 3", "seconds")
    findings._good[key].pop()
    assert other_claims.quicker(findings)[0]
    key = (others.RIVALS.name, "wine", "100 pairs", "GMM-EM", "")
    findings._good[key].pop(1)
    assert other_claims.paired(findings, ["GMM-EM", "Xing"]).shape == (2, 3)


def test_an_interval(tmp_path, spec):
    findings = planted(tmp_path, 1)
    assert claims.interval(findings, "glass", "PKM", "worse entailed") == "4.0 (1.6–9.8)"  # Wilson, 4 of 100
    assert coherent_claims.effect(findings, "iris", "CKM").gain == pytest.approx(10.1)


@pytest.mark.parametrize(("cannot", "holds"), [([0.0, 0.1, 0.0, 0.1], True), ([0.0, 0.3, 0.0, 0.3], False)])
def test_must_links_are_ahead_by_more_than_noise(cannot, holds, monkeypatch):
    plain, every, must = np.zeros(4), np.full(4, 0.3), np.array([0.2, 0.2, 0.2, 0.2])
    monkeypatch.setattr(other_claims, "paired", lambda found, methods: np.array([plain, every, must, cannot]))
    assert other_claims.mostly_must(None)[0] == holds
