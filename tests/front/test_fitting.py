"""The last fit: clues that others do not bear out count less, if clues are taken to be wrong at all."""

import numpy as np
import pytest

from cluewise import Clues
from cluewise.front._choice import FIRST, Choice
from cluewise.front._evidence import gather
from cluewise.front._fitting import Data, Fitted, _finish, _prepare, predict
from cluewise.front._ground import Ground

Y = np.arange(60) % 2
X = np.random.default_rng(0).normal(size=(60, 2)) + 5.0 * Y[:, None]
WRONG = 11


def fit(plan, right):
    """Probabilities after labels of twenty rows, one of them wrong."""
    labels = np.where(np.arange(60) < 20, Y, -1)
    labels[WRONG] = 1 - Y[WRONG]
    data = Data(Ground(X, None, np.random.default_rng(0)), X, None, 0, {})
    evidence = gather(Clues(60, labels=labels), 2, data.ground.place.grain)
    starts, regression = _prepare(data, evidence, 2)
    start, weights = _finish(starts, regression, evidence, plan, right)
    fitted = Fitted(2, Choice(plan, plan.start, ""), 20, start, weights, right)
    return predict(data.ground, X, data.ground.place, fitted)


@pytest.mark.parametrize(("error", "heeds"), [(0.02, False), (0.1, True), (0.3, True)])
def test_what_others_do_not_bear_out_counts_less(error, heeds):
    plan = FIRST._replace(start="k-means", error=error, ridge=0.03)
    right = np.ones(20)
    trusting = fit(plan, right)
    right[WRONG] = 0.01
    wary = fit(plan, right)
    if not heeds:
        np.testing.assert_array_equal(wary, trusting)
    else:
        assert wary[WRONG, Y[WRONG]] > trusting[WRONG, Y[WRONG]] + 0.02
