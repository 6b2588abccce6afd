"""The survey: cells do what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from reproduce.cells import Problem
from reproduce.tables.survey import others, runs
from sklearn.base import BaseEstimator

from cluewise import Clues, Infeasible, metrics
from cluewise.metrics import coherence

Y = np.repeat([0, 1], 20)
X = np.random.default_rng(0).normal(size=(40, 2)) + 4 * Y[:, None]
PROBLEM = Problem(X, Y, 2, None, 0)


def test_sets_differ_by_number_and_are_the_same_for_all():
    first, again, other = runs.drawn(Y, 3), runs.drawn(Y, 3), runs.drawn(Y, 4)
    assert first == again != other
    assert sum(map(len, first.pairs()[::2])) == 25


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
    news = iter([0.0, 0.1, 0.1, 0.3, 0.4])  # of sets 0, 1, 3, 4 and 5: those up to the median are 0, 1 and 3
    monkeypatch.setattr(runs, "informativeness", lambda labels, clues: next(news, 0.0))
    found = runs.harm(PROBLEM, method="m", make=lambda k, X, number: {"m": Told(number)})
    swapped = Told(1).fit(X, clues=runs.drawn(Y, 1)).labels_
    assert found["failed"] == pytest.approx(1 / 6)
    assert found["worse with"] == found["worse entailed"] == pytest.approx(3 / 5)  # sets 1, 3 and 5 of five
    assert found["without"] == 1
    assert found["with"] == pytest.approx((2 + 3 * metrics.rand(Y, swapped)) / 5)
    assert found["news"] == pytest.approx(0.18)
    assert found["change, little news"] == pytest.approx(2 / 3 * (metrics.rand(Y, swapped) - 1))
    every = runs.harm(PROBLEM, method="m", make=lambda k, X, number: {"m": Told(2)})
    assert every == {"failed": 1.0}


class Counted(Told):
    """One row more is wrong with every must-link."""

    def fit(self, X, clues=None):
        self.labels_ = Y.copy()
        self.labels_[: 0 if clues is None else len(clues.pairs()[0])] = 1
        return self


def test_entailed_pairs_are_those_of_entailed_stages(monkeypatch):
    monkeypatch.setattr(runs, "BLOCK", 1)
    few = Clues(40, must=[(0, 1), (1, 2)])  # a third pair follows
    monkeypatch.setattr(runs, "drawn", lambda y, number: few)
    found = runs.harm(PROBLEM, method="m", make=lambda k, X, number: {"m": Counted()})
    assert found["with"] == metrics.rand(Y, Counted().fit(X, few).labels_)
    assert found["entailed"] == metrics.rand(Y, Counted().fit(X, few.closed()).labels_) < found["with"]


def test_one_start_is_one_start():
    for number in (0, 1):
        start = runs.models(2, X, number)["CKM"].init
        for name, model in runs.same_start(2, X, number).items():
            profile = runs.models(2, X, number)[name].get_params()
            assert profile["init"] == "neighborhoods"
            assert np.array_equal(model.init, start)
            assert {**model.get_params(), "init": ""} == {**profile, "init": ""}


def test_a_mixture_is_told_what_its_name_says(monkeypatch):
    told = []
    monkeypatch.setattr(Told, "fit", lambda self, X, clues: setattr(self, "labels_", Y) or told.append(clues) or self)
    monkeypatch.setattr(others, "EquivalenceGMM", lambda k, random_state: Told())
    clues = Clues(40, must=[(0, 1)], cannot=[(0, 20), (1, 21)])
    for kind in ("must", "cannot", "nothing"):
        others.mixture(PROBLEM._replace(clues=clues), told=kind)
    assert told == [Clues(40, must=[(0, 1)]), Clues(40, cannot=[(0, 20), (1, 21)]), None]
    parts = {name: others.RIVALS.methods[f"GMM-EM, {name}"].keywords["told"] for name in ("must-links", "cannot-links")}
    assert parts == {"must-links": "must", "cannot-links": "cannot"}


@pytest.mark.parametrize("make", [runs.models, runs.defaults, runs.same_start])
def test_all_methods_run(make, monkeypatch):
    monkeypatch.setattr(runs, "BLOCK", 2)
    for method in make(2, X, 0):
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
    monkeypatch.setattr(runs, "coherence", lambda X, clues, profile: 0.5)
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


def test_a_cell_knows_its_sets():
    assert list(runs.numbers(PROBLEM._replace(seed=2))) == list(range(2 * runs.BLOCK, 3 * runs.BLOCK))
    assert runs.TABLE_1.seeds * runs.BLOCK == 1000
