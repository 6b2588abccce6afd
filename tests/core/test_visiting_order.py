"""Orders of visit."""

import numpy as np
import pytest

from cluewise.core.assign import others, permutation, visiting_order

ROWS = np.array([2, 5, 7, 9])


def test_by_index_at_random_and_as_told():
    rng = np.random.default_rng(0)
    assert visiting_order("index", ROWS, 10, rng).tolist() == [0, 1, 2, 3]
    drawn = [tuple(visiting_order("random", ROWS, 10, rng)) for _ in range(50)]
    assert len(set(drawn)) > 10
    assert {tuple(sorted(d)) for d in drawn} == {(0, 1, 2, 3)}
    told = [9, 0, 5, 1, 2, 3, 4, 6, 7, 8]
    assert ROWS[visiting_order(told, ROWS, 10, rng)].tolist() == [9, 5, 2, 7]


@pytest.mark.parametrize("order", [[0, 1], np.zeros(10), np.arange(10.0), [*range(9), 12], np.zeros((10, 1))])
def test_not_a_permutation(order):
    with pytest.raises(ValueError, match="order is 'index', 'random' or a permutation of the 10 row numbers"):
        visiting_order(order, ROWS, 10, np.random.default_rng(0))


def test_truth_values_are_no_row_numbers():
    with pytest.raises(ValueError, match="order is 'first' or a permutation of the 2 row numbers, as whole numbers"):
        permutation([True, False], 2, "'first'")


def test_others():
    assert np.flatnonzero(others(ROWS, 10)).tolist() == [0, 1, 3, 4, 6, 8]
    assert others(np.empty(0, np.int64), 3).all()
