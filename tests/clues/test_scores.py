"""Scored pairs become links by log-odds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cluewise import Clues
from cluewise.exceptions import ClueError


def test_weights_are_log_odds():
    clues = Clues.from_scores(5, [(3, 0), (1, 2), (0, 1), (2, 4)], [0.75, 0.2, 0.5, 0.9], source="tool")
    assert clues.must.tolist() == [[0, 3], [2, 4]]
    assert clues.cannot.tolist() == [[1, 2]]
    assert_allclose(clues.must_weight, np.log([3, 9]))
    assert_allclose(clues.cannot_weight, np.log([4]))
    assert clues.must_source.tolist() == ["tool", "tool"]
    assert np.isnan(clues.must_confidence).all()


def test_certain_scores_are_bounded():
    pairs = [(0, 1), (1, 2)]
    clues = Clues.from_scores(3, pairs, [1, 0])
    assert_allclose([*clues.must_weight, *clues.cannot_weight], np.log(1e6 - 1))
    clues = Clues.from_scores(3, pairs, [1.0, 0.0001], bound=0.01)
    assert_allclose([*clues.must_weight, *clues.cannot_weight], np.log(99))


def test_confidence_is_something_else():
    assert Clues(2, must=[(0, 1)], confidence=0.9).must_weight.tolist() == pytest.approx([0.8])
    assert Clues.from_scores(2, [(0, 1)], [0.9]).must_weight.tolist() == pytest.approx([np.log(9)])


def test_evidence_of_two_sources_adds_up():
    one, two = (Clues.from_scores(2, [(0, 1)], [0.9], source=name) for name in ("names", "phones"))
    assert_allclose((one | two).must_weight, 2 * np.log(9))
    again = Clues.from_scores(2, [(0, 1), (1, 0)], [0.6, 0.9])
    assert_allclose(again.must_weight, np.log(9))


def test_nothing_scored():
    assert Clues.from_scores(3, [], []) == Clues(3)
    assert Clues.from_scores(3, np.empty((0, 2), int), np.empty(0)) == Clues(3)


BAD = {
    "scored-link 1 names row 7, but there are only 3 rows (0 to 2).": {"pairs": [(0, 1), (0, 7)]},
    "scored-link 1 links row 2 to itself.": {"pairs": [(0, 1), (2, 2)]},
    "scored-links are pairs of row numbers, shape (m, 2); these have shape (2,).": {"pairs": [0, 1]},
    "probability needs one number per pair (2); it has shape (1,).": {"probability": [0.5]},
    "probability needs one number per pair (2).": {"probability": ["high", "low"]},
    "scored-link 1 has probability 1.5; a probability is from 0 to 1.": {"probability": [0.5, 1.5]},
    "scored-link 0 has probability nan; a probability is from 0 to 1.": {"probability": [np.nan, 0.5]},
    "bound is 0; it must be above 0 and below 0.5.": {"bound": 0},
    "n is the number of rows, a whole number; it is -1.": {"n": -1},
}


@pytest.mark.parametrize(("words", "change"), BAD.items())
def test_bad_scores_are_refused_in_one_sentence(words, change):
    with pytest.raises(ClueError) as error:
        Clues.from_scores(**({"n": 3, "pairs": [(0, 1), (1, 2)], "probability": [0.9, 0.1]} | change))
    assert str(error.value) == words


def test_a_million_pairs_are_arrays():
    rng = np.random.default_rng(0)
    pairs = np.column_stack([np.arange(10**6), np.arange(1, 10**6 + 1)])
    clues = Clues.from_scores(10**6 + 1, pairs, rng.random(10**6))
    assert len(clues.must) + len(clues.cannot) == 10**6
    assert isinstance(clues._must.source, str)  # one text for all of them
