"""The loop counts, stops and warns; it knows nothing of clustering."""

import warnings

import pytest

from cluewise.core.loop import Info, Limits, Result, run
from cluewise.exceptions import NotDescending


def never(state, trace):
    return False


def script(*infos):
    """A step that replays infos; the state counts the steps."""
    queue = list(infos)

    def step(state):
        return state + 1, Info(*queue.pop(0))

    return step


def test_stops_when_nothing_moves():
    result = run(script((9.0, 3), (5.0, 1), (5.0, 0), (1.0, 1)), 0, Limits(10, 0.0, never))
    assert result == Result(3, [9.0, 5.0, 5.0], True)


def test_the_first_step_never_ends_it():
    """A start may come with labels that were made from the very same centers: no move proves nothing."""
    result = run(script((9.0, 0), (5.0, 2), (5.0, 0)), 0, Limits(10, 0.0, never))
    assert result.state == 3


def test_stops_when_the_objective_changes_little():
    steps = ((100.0, 9), (99.0, 9), (98.0, 9))
    assert run(script(*steps), 0, Limits(3, 0.02, never)) == Result(2, [100.0, 99.0], True)
    assert run(script(*steps), 0, Limits(3, 0.005, never)) == Result(3, [100.0, 99.0, 98.0], False)


def test_tolerance_is_a_share_of_the_value_before():
    assert run(script((-100.0, 9), (-101.0, 9)), 0, Limits(9, 0.01, never)).converged


def test_stops_after_max_iter():
    result = run(script((3.0, 1), (2.0, 1), (1.0, 1)), 0, Limits(2, 0.0, never))
    assert result == Result(2, [3.0, 2.0], False)


def test_somebody_says_stop():
    seen = []

    def watch(state, trace):
        seen.append((state, list(trace)))
        return len(trace) == 2

    result = run(script((3.0, 1), (2.0, 1), (1.0, 1)), 0, Limits(9, 0.0, watch))
    assert result == Result(2, [3.0, 2.0], False)
    assert seen == [(1, [3.0]), (2, [3.0, 2.0])]


def test_a_rise_is_reported():
    with pytest.warns(NotDescending, match=r"rose from 2.0 to 2.5 in iteration 2"):
        run(script((2.0, 1), (2.5, 0)), 0, Limits(9, 0.0, never), slack=0.0)


@pytest.mark.parametrize("slack", [0.5, None])
def test_rounding_or_a_method_that_does_not_descend_may_rise(slack):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run(script((2.0, 1), (2.5, 0)), 0, Limits(9, 0.0, never), slack=slack)
    assert result.trace == [2.0, 2.5]
