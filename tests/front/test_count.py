"""How many clusters there are: what clues demand, what they make likely, and what noise does not change."""

import numpy as np
from sklearn.datasets import make_blobs

from cluewise import Clues, Cluewise
from cluewise.front._count import CLUED, choose_count, count_apart, count_at_least
from cluewise.metrics import ari

X, Y = make_blobs(120, 2, centers=[(0, 0), (0, 6), (6, 0), (6, 6)], random_state=0)
RING = [(0, 1), (1, 2), (0, 2)]


def look_up(scores):
    """A score of each number, interpolated; and the numbers that were asked for."""
    asked = []

    def score(k):
        asked.append(k)
        return float(np.interp(k, sorted(scores), [scores[one] for one in sorted(scores)]))

    return score, asked


def test_a_sharp_peak_is_found_wherever_the_search_begins():
    for likely in (2, 9, 30):
        score, asked = look_up({2: -200, 11: 0, 30: -300})
        assert choose_count(score, 2, 30, likely, 2) == 11
        assert len(asked) == len(set(asked)) < 20


def test_among_numbers_that_are_equally_good_the_middle_is_taken_and_fewer_are_likelier():
    score, _ = look_up({2: -300, 5: 0, 10: 0, 13: -300, 30: -900})
    assert 6 <= choose_count(score, 2, 30, 2, 2) <= 7


def test_clues_that_say_nothing_leave_the_number_as_it_is():
    for gain, expected in ((0.9 * CLUED, 6), (30 * CLUED, 14)):
        score, _ = look_up({2: 0, 13: 0, 14: gain, 15: 0, 30: 0})
        assert choose_count(score, 2, 30, 6, 2) == expected


def test_the_number_is_within_its_bounds():
    score, asked = look_up({2: -300, 30: 0})
    assert choose_count(score, 4, 9, 5, 4) == 9
    assert (min(asked), max(asked)) == (4, 9)


def test_without_time_the_likely_number_is_taken():
    assert choose_count(lambda k: None, 2, 30, 7, 2) == 7


def test_clusters_fewer_than_rows_that_are_apart_need_more_evidence():
    score, _ = look_up({2: 0, 3: -2, 4: -500, 30: -900})
    assert [choose_count(score, 2, 30, 2, apart) for apart in (2, 3)] == [2, 3]


def test_only_what_has_to_hold_bounds_the_number():
    soft, hard = Clues(9, cannot=RING), Clues(9, cannot=RING, cannot_weight=np.inf)
    assert count_apart(soft) == count_apart(hard) == 3
    assert count_at_least(soft, Clues(9), 9) == 1
    assert count_at_least(hard, hard, 9) == 3
    assert count_at_least(Clues(9, labels=[0, 1, 2, 3, -1, -1, -1, -1, -1]), Clues(9), 9) == 4


def test_pairs_tell_the_number():
    model = Cluewise(random_state=0).fit(X, clues=Clues.sample(Y, pairs=60, random_state=0))
    assert model.n_clusters_ == 4
    assert ari(Y, model.labels_) > 0.95


def test_pairs_join_what_lies_apart():
    sides = Y % 2
    model = Cluewise(random_state=0).fit(X, clues=Clues.sample(sides, pairs=60, random_state=0))
    assert model.n_clusters_ == 2
    assert ari(sides, model.labels_) > 0.95


def test_noise_does_not_change_the_number(sweep):
    plain = Cluewise(random_state=0).fit(X).n_clusters_
    for seed in range(sweep(2, 20)):
        moved = np.random.default_rng(seed).permutation(Y)
        model = Cluewise(random_state=0).fit(X, clues=Clues.sample(moved, pairs=60, random_state=seed))
        assert abs(model.n_clusters_ - plain) <= 1


def test_rows_that_are_apart_bound_the_number_unless_clues_contradict_each_other():
    rows = np.arange(0, 60, 10)
    pairs = [(a, b) for a in rows for b in rows if a < b]
    apart = Clues(120, cannot=pairs)
    model = Cluewise(random_state=0)
    assert len(model.fit(X, clues=apart).predict_proba(X[:1])[0]) >= 6
    odd = apart | Clues(120, must=[(1, 2), (2, 3)], cannot=[(1, 3)]) | Clues.sample(Y, pairs=300, random_state=0)
    assert len(model.fit(X, clues=odd).predict_proba(X[:1])[0]) == 4
