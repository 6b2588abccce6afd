"""A time limit, with a clock that only starts and fits move forward."""

import numpy as np
import pytest

from cluewise import Clues, Cluewise
from cluewise.front import _choice, _deadline
from cluewise.front._likelihood import Regression
from cluewise.front._starts import PLAIN, Starts

CENTERS = np.array([(-3.0, 0.0), (0.0, 3.0), (3.0, 0.0), (0.0, -3.0)])
Y = np.arange(120) % 4
X = CENTERS[Y] + np.random.default_rng(0).normal(size=(120, 2))
PAIRS = Clues.sample(Y, pairs=150, random_state=0)

START, FIT, STEPS = 0.5, 0.1, 40
"""Seconds that a start with clues takes, and a fit of so many steps."""

LEAST = 13 * START + 12 * FIT
"""A start with clues for each of the folds, one fit of it, and what has to follow the choice; roughly."""


class Clock:
    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(_deadline, "monotonic", lambda: self.now)
        monkeypatch.setattr(_choice, "monotonic", lambda: self.now)
        find, fit = Starts.find, Regression.fit

        def find_slowly(starts, name, *given):
            self.now += 0.0 if name in PLAIN else START
            return find(starts, name, *given)

        def fit_slowly(regression, start, plan, evidence, first, max_iter):
            self.now += FIT * max_iter / STEPS
            return fit(regression, start, plan, evidence, first, max_iter)

        monkeypatch.setattr(Starts, "find", find_slowly)
        monkeypatch.setattr(Regression, "fit", fit_slowly)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def fit(k, time_limit=None):
    return Cluewise(k, time_limit=time_limit, random_state=0).fit(X, clues=PAIRS)


@pytest.mark.parametrize("k", [4, None])
@pytest.mark.parametrize("limit", [LEAST, 12.0, 20.0])
def test_a_time_limit_is_kept(clock, k, limit):
    model = fit(k, limit)
    assert clock.now <= 1.2 * limit
    assert model.choice_.reason.endswith("as far as the time limit allowed to compare")


@pytest.mark.parametrize("k", [4, None])
def test_time_is_used(clock, k):
    fit(k, 20.0)
    assert clock.now >= 10.0


@pytest.mark.parametrize("k", [4, None])
def test_a_limit_that_is_not_reached_changes_nothing(clock, k):
    free = fit(k)
    limited = fit(k, 2.5 * clock.now)
    np.testing.assert_array_equal(limited.labels_, free.labels_)
    assert str(limited.choice_) == str(free.choice_)


def test_what_is_worth_most_is_compared_first(clock):
    few, some = (len(fit(4, limit).choice_.scores) for limit in (LEAST, 20.0))
    assert few < some
    assert {plan.start for plan in fit(4, LEAST).choice_.scores} >= {"k-means", "spectral"}


def test_half_of_the_time_is_left_when_the_number_of_clusters_is_known(clock):
    deadline = _deadline.Deadline(8.0)
    half = deadline.halve()
    clock.now = 3.0
    assert half.leaves(1.0)
    assert not deadline.reached
    assert not half.leaves(1.5)
    assert deadline.reached
    assert deadline.leaves(5.0)
