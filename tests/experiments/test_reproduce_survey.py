"""The survey: cells do what is said of them, and the checks can tell the survey's pattern from its contrary."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from cluewise import Clues, Infeasible, metrics
from cluewise.metrics.utility import coherence

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

from reproduce import published  # noqa: E402
from reproduce.cells import Problem  # noqa: E402
from reproduce.findings import Findings  # noqa: E402
from reproduce.parts import Claims, Table  # noqa: E402
from reproduce.results import COLUMNS  # noqa: E402
from reproduce.tables import survey  # noqa: E402
from reproduce.tables.survey import claims, others, runs  # noqa: E402

sys.path.remove(str(EXPERIMENTS))

Y = np.repeat([0, 1], 20)
X = np.random.default_rng(0).normal(size=(40, 2)) + 4 * Y[:, None]
PROBLEM = Problem(X, Y, 2, None, 0)


@pytest.fixture
def spec(spec_folder, monkeypatch):
    monkeypatch.setenv("CLUEWISE_SPEC", str(spec_folder))
    published.printed.cache_clear()
    yield
    published.printed.cache_clear()


# --- cells


def test_sets_differ_by_number_and_are_the_same_for_all():
    first, again, other = runs.drawn(Y, 3), runs.drawn(Y, 3), runs.drawn(Y, 4)
    assert first == again != other
    assert sum(map(len, first.pairs()[::2])) == 25


def test_entailed_pairs_are_added():
    clues = runs.with_entailed(Clues(6, must=[(0, 1), (1, 2), (3, 4)], cannot=[(2, 4)]))
    must, _, cannot, _ = clues.pairs()
    assert {frozenset(map(int, pair)) for pair in must} == {frozenset(p) for p in [(0, 1), (0, 2), (1, 2), (3, 4)]}
    assert {frozenset(map(int, pair)) for pair in cannot} == {frozenset((a, b)) for a in (0, 1, 2) for b in (3, 4)}


class Told(BaseEstimator):
    """Right without clues; with clues it swaps two rows in odd sets, and refuses set 2."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, clues=None):
        if clues is not None and self.number == 2:
            raise Infeasible("no")
        self.labels_ = Y.copy()
        if clues is not None and self.number % 2:
            self.labels_[[0, -1]] = self.labels_[[-1, 0]]
        return self


def test_harm_is_counted(monkeypatch):
    monkeypatch.setattr(runs, "BLOCK", 6)
    found = runs.harm(PROBLEM, method="m", make=lambda k, X, number: {"m": Told(number)})
    swapped = Told(1).fit(X, clues=runs.drawn(Y, 1)).labels_
    assert found["failed"] == pytest.approx(1 / 6)
    assert found["worse with"] == found["worse entailed"] == pytest.approx(3 / 5)  # sets 1, 3 and 5 of five
    assert found["without"] == 1
    assert found["with"] == pytest.approx((2 + 3 * metrics.rand(Y, swapped)) / 5)
    assert found["news"] == 0
    assert found["change, little news"] == pytest.approx(found["with"] - 1)
    every = runs.harm(PROBLEM, method="m", make=lambda k, X, number: {"m": Told(2)})
    assert every == {"failed": 1.0}


@pytest.mark.parametrize("make", [runs.models, runs.defaults])
def test_all_methods_run(make, monkeypatch):
    monkeypatch.setattr(runs, "BLOCK", 2)
    for method in runs.METHODS:
        found = runs.harm(PROBLEM, method=method, make=make)
        assert found["failed"] == 0
        assert all(0 <= value <= 1 for stage, value in found.items() if not stage.startswith("change"))


def test_readings_differ_from_the_profile():
    profile, near = runs.models(2, X, 5)["MKM"], runs.reading(2, X, 5, init="mean", per_cluster=True)["MKM"]
    same = {"init", "per_cluster"}
    assert {k for k, v in near.get_params().items() if k not in same and v != profile.get_params()[k]} == set()
    assert near.per_cluster
    assert np.abs(near.init - X.mean(axis=0)).max() < 0.1 * X.std()


def test_coherent_sets_are_drawn_until_there_is_one(monkeypatch):
    found = runs.among_coherent(PROBLEM, count=5, rule="exact")
    clues = Clues.sample(Y, pairs=5, random_state=[runs.SEED, 0, 5, int(found["draws"])])
    assert coherence(X, clues) == 1
    assert {*runs.METHODS, "news"} <= set(found)
    mixed = runs.among_coherent(PROBLEM, count=3, rule="exact", mixed=True)
    clues = Clues.sample(Y, pairs=3, random_state=[runs.SEED, 0, 3, int(mixed["draws"])])
    assert mixed["one kind"] == 0
    assert min(map(len, clues.pairs()[::2])) > 0
    monkeypatch.setattr(runs, "MOST", 3)
    monkeypatch.setattr(runs, "coherence", lambda X, clues, rule: 0.5)
    assert runs.among_coherent(PROBLEM, count=5, rule="exact") == {"draws": 3.0, "found": 0.0}
    assert runs.coherent_share(PROBLEM) == {"exact": 0.0, "published": 0.0}


def test_what_is_known_of_a_road_is_true():
    for seed in range(5):
        clues = others.lane_clues(others.road(seed))
        kept = metrics.satisfaction(others.LANE_OF, clues)
        assert set(kept) == {"must", "cannot"}
        assert all(share == 1 for share in kept.values())
    labels = others.lanes(Problem(others.road(0), others.LANE_OF, others.LANES, None, 0), clues=True)
    assert metrics.ari(others.LANE_OF, labels) > 0.9


# --- claims


def as_told(cell, sign):
    """What the survey says, or the contrary: figures by stage."""
    high = sign > 0
    if cell.experiment in (runs.TABLE_1.name, runs.DEFAULTS.name, runs.READINGS.name):
        if cell.method == "coherent":
            return {"exact": 0.0, "published": 0.0}
        worst = {("wine", "MKM"), ("wine", "MPKM"), ("ionosphere", "PKM"), ("ionosphere", "MPKM")}
        share = 0.8 if ((cell.data, cell.method) in worst) == high else 0.04 if high else 0.3
        rand = {"without": 0.7, "with": 0.6, "entailed": 0.6, "change, little news": -0.1 * sign}
        return rand | {"failed": 0.0, "worse with": share, "worse entailed": share if high else min(share, 0.6)}
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
    parts = [part for part in survey.SECTION.parts if isinstance(part, claims.Beside)]
    told = [verdict for part in parts for verdict in part.verdicts(planted(tmp_path, 1))]
    assert len(told) == len(published.printed("survey"))
    assert sum("copied" in verdict.why for verdict in told) == 2
    rows = {tuple(row[:2]): row[2] for row in claims.table_1(planted(tmp_path, 1)).rows}
    assert rows["wine", "MKM"] == "87"
    rows = {tuple(row[:2]): row[2] for row in claims.table_2(planted(tmp_path, 1)).rows}
    assert (rows["iris", "MKM"], rows["wine", "MKM"]) == ("92.9 / 89.2", "– / –")


def test_an_interval(tmp_path, spec):
    findings = planted(tmp_path, 1)
    assert claims.interval(findings, "glass", "PKM", "worse with") == "4.0 (1.6–9.8)"  # Wilson, 4 of 100
    assert claims.effect(findings, "iris", "CKM").gain == pytest.approx(10.1)


def test_a_cell_knows_its_sets():
    assert list(runs.numbers(PROBLEM._replace(seed=2))) == list(range(2 * runs.BLOCK, 3 * runs.BLOCK))
    assert runs.TABLE_1.seeds * runs.BLOCK == 1000
