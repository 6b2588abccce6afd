"""Drawing clues from known labels: counts, shares, errors, and that everything has an equal chance."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from cluewise import Clues
from cluewise.clues._sampling import _distinct, from_rank, rank_of
from cluewise.exceptions import ClueError

Y = np.array([0, 0, 1, 1, 1, 2, 2])
BIG = np.arange(1000) % 4
UNLIKELY = 1e-4  # seeds are fixed, so a test that passes once passes always


def pairs_of(clues: Clues) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in np.concatenate([clues.must, clues.cannot])]


def wrong(clues: Clues, y: Any) -> int:
    """How many links contradict the truth."""
    must, cannot = y[clues.must], y[clues.cannot]
    return int((must[:, 0] != must[:, 1]).sum() + (cannot[:, 0] == cannot[:, 1]).sum())


# --- ranks of pairs ---------------------------------------------------------------------------------------


def test_ranks_list_all_pairs_in_order() -> None:
    low, high = from_rank(np.arange(45))
    assert set(zip(low.tolist(), high.tolist())) == set(combinations(range(10), 2))
    assert rank_of(low, high).tolist() == list(range(45))


@given(st.integers(0, 2**60 - 1), st.integers(0, 2**30))
def test_ranks_are_exact_however_large(rank: int, m: int) -> None:
    # Right at and beside the first pair of a row of the triangle, where a rounded square root goes wrong.
    ranks = np.array([rank, *(max(0, m * (m - 1) // 2 + step) for step in (-1, 0, 1))])
    low, high = from_rank(ranks)
    assert (low >= 0).all()
    assert (low < high).all()
    assert [h * (h - 1) // 2 + i for i, h in zip(low.tolist(), high.tolist())] == ranks.tolist()


@pytest.mark.parametrize(("total", "m"), [(20, 20), (20, 3), (11_000, 10_000), (10**15, 5000), (30_000, 7_000)])
def test_distinct_numbers(total: int, m: int) -> None:
    drawn = _distinct(total, m, np.random.default_rng(0))
    assert len(set(drawn.tolist())) == m
    assert drawn.min() >= 0
    assert drawn.max() < total


def test_distinct_numbers_by_rejection_are_uniform_in_any_order() -> None:
    rng = np.random.default_rng(1)
    draws = np.array([_distinct(10_001, 2500, rng) for _ in range(40)])
    counts = np.bincount(draws.ravel() * 20 // 10_001, minlength=20)
    assert chisquare(counts, np.bincount(np.arange(10_001) * 20 // 10_001) * 40 * 2500 / 10_001).pvalue > UNLIKELY
    assert chisquare(np.bincount(draws[:, 0] * 4 // 10_001, minlength=4)).pvalue > UNLIKELY
    assert (np.diff(draws[0]) < 0).any()  # not sorted


# --- pairs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "count"), [(0, 0), (1, 1), (1.0, 21), (0.5, 10), (21, 21), (0.0, 0), (np.int64(4), 4)]
)
def test_int_is_a_count_and_float_a_share(pairs: Any, count: int) -> None:
    clues = Clues.sample(Y, pairs=pairs, random_state=0)
    assert len(pairs_of(clues)) == len(set(pairs_of(clues))) == count
    assert wrong(clues, Y) == 0


def test_every_pair_has_an_equal_chance() -> None:
    counts: Counter[tuple[int, int]] = Counter()
    for seed in range(2000):
        counts.update(pairs_of(Clues.sample(Y, pairs=5, random_state=seed)))
    assert set(counts) == set(combinations(range(7), 2))
    assert chisquare(list(counts.values())).pvalue > UNLIKELY


def test_every_set_of_pairs_has_an_equal_chance() -> None:
    sets = Counter(frozenset(pairs_of(Clues.sample([0, 1, 1, 0], pairs=2, random_state=s))) for s in range(3000))
    assert len(sets) == 15
    assert chisquare(list(sets.values())).pvalue > UNLIKELY


def test_many_rows_need_no_quadratic_memory() -> None:
    y = np.arange(3_000_000) % 5
    clues = Clues.sample(y, pairs=2000, random_state=0)
    assert len(pairs_of(clues)) == 2000
    assert wrong(clues, y) == 0
    rows = np.concatenate([clues.must, clues.cannot])
    assert chisquare(np.bincount(rows.ravel() // 300_000, minlength=10)).pvalue > UNLIKELY


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.25, 1.0])
def test_exactly_the_asked_share_is_wrong(noise: float) -> None:
    clues = Clues.sample(BIG, pairs=333, noise=noise, random_state=5)
    assert len(pairs_of(clues)) == 333
    assert wrong(clues, BIG) == round(noise * 333)


def test_every_pair_has_an_equal_chance_to_be_wrong() -> None:
    counts: Counter[tuple[int, int]] = Counter()
    for seed in range(2000):
        clues = Clues.sample(Y, pairs=1.0, noise=4 / 21, random_state=seed)
        counts.update((int(a), int(b)) for a, b in clues.must if Y[a] != Y[b])
        counts.update((int(a), int(b)) for a, b in clues.cannot if Y[a] == Y[b])
    assert len(counts) == 21
    assert chisquare(list(counts.values())).pvalue > UNLIKELY


def test_pairs_among_some_rows() -> None:
    rows: Counter[int] = Counter()
    for seed in range(1000):
        clues = Clues.sample(Y, pairs=3, among=3, random_state=seed)
        assert len(pairs_of(clues)) == 3  # all pairs of three rows
        seen = {row for pair in pairs_of(clues) for row in pair}
        assert len(seen) == 3
        rows.update(seen)
    assert chisquare([rows[r] for r in range(7)]).pvalue > UNLIKELY
    share = Clues.sample(BIG, pairs=0.5, among=0.1, random_state=0)
    assert len(pairs_of(share)) == round(0.5 * 100 * 99 / 2)
    assert len(set(np.ravel(pairs_of(share)).tolist())) == 100


def test_sequential_tiers_never_repeat_a_pair() -> None:
    everything, seen = Clues(7), set()
    for seed in range(7):
        tier = Clues.sample(Y, pairs=3, exclude=everything, random_state=seed)
        assert not seen & set(pairs_of(tier))
        seen |= set(pairs_of(tier))
        everything = everything | tier
    assert len(seen) == 21
    with pytest.raises(ClueError, match="pairs asks for 1 pairs, but 7 rows have only 21, of which 21 are excluded"):
        Clues.sample(Y, pairs=1, exclude=everything)


@pytest.mark.parametrize("profile", ["clean", "ordered"])
def test_pairs_that_are_not_excluded_have_an_equal_chance(profile: str) -> None:
    taken = Clues(7, must=[(0, 1), (5, 6)], cannot=[(2, 3), (0, 6), (1, 5)])
    counts: Counter[tuple[int, int]] = Counter()
    for seed in range(2000):
        counts.update(pairs_of(Clues.sample(Y, pairs=3, exclude=taken, profile=profile, random_state=seed)))
    assert set(counts) == set(combinations(range(7), 2)) - set(pairs_of(taken))
    assert chisquare(list(counts.values())).pvalue > UNLIKELY


def test_excluded_pairs_outside_the_chosen_rows_do_not_count() -> None:
    taken = Clues(7, must=[(0, 1)])
    for seed in range(40):
        rows = {r for pair in pairs_of(Clues.sample(Y, pairs=1.0, among=2, random_state=seed)) for r in pair}
        if rows == {0, 1}:
            with pytest.raises(ClueError, match="of which 1 are excluded"):
                Clues.sample(Y, pairs=1.0, among=2, exclude=taken, random_state=seed)
        else:
            assert len(pairs_of(Clues.sample(Y, pairs=1.0, among=2, exclude=taken, random_state=seed))) == 1


# --- confidences ------------------------------------------------------------------------------------------


def test_a_pair_is_right_as_often_as_its_confidence_says() -> None:
    clues = Clues.sample(BIG, pairs=40_000, confidence=(0.6, 1.0), random_state=0)
    sure = np.concatenate([clues.must_confidence, clues.cannot_confidence])
    right = np.concatenate(
        [
            BIG[clues.must[:, 0]] == BIG[clues.must[:, 1]],
            BIG[clues.cannot[:, 0]] != BIG[clues.cannot[:, 1]],
        ]
    )
    assert np.allclose(np.concatenate([clues.must_weight, clues.cannot_weight]), 2 * sure - 1)
    assert sure.min() > 0.6
    assert sure.max() <= 1.0
    assert chisquare(np.histogram(sure, bins=10, range=(0.6, 1.0))[0]).pvalue > UNLIKELY
    for low in (0.6, 0.7, 0.8, 0.9):
        inside = (sure > low) & (sure <= low + 0.1)
        expected = sure[inside].mean()
        assert binomtest(int(right[inside].sum()), int(inside.sum()), expected).pvalue > UNLIKELY
    assert abs((~right).mean() - 0.2) < 0.01  # U(0.6, 1): one in five is wrong


def test_confidence_of_exactly_one_number() -> None:
    clues = Clues.sample(Y, pairs=9, confidence=(1.0, 1.0), random_state=0)
    assert wrong(clues, Y) == 0
    assert set(clues.must_confidence) | set(clues.cannot_confidence) == {1.0}


# --- labels -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("labels", "count"), [(0, 0), (1, 1), (1.0, 7), (0.3, 2), (7, 7)])
def test_labels_by_count_or_share(labels: Any, count: int) -> None:
    clues = Clues.sample(Y, labels=labels, random_state=3)
    known = clues.labels >= 0
    assert known.sum() == count
    assert [clues.classes_[c] for c in clues.labels[known]] == Y[known].tolist()


def test_every_row_has_an_equal_chance_of_a_label() -> None:
    counts = sum((Clues.sample(Y, labels=3, random_state=s).labels >= 0).astype(int) for s in range(2000))
    assert chisquare(counts).pvalue > UNLIKELY


def test_label_noise_redraws_from_all_classes() -> None:
    y = np.repeat([10, 20, 30, 40], 2500)
    clues = Clues.sample(y, labels=0.8, label_noise=0.5, random_state=1)
    known = np.flatnonzero(clues.labels >= 0)
    told = clues.classes_[clues.labels[known]].astype(int)
    assert len(known) == 8000
    # 4000 labels were redrawn, a quarter of them to what they were.
    changed = told != y[known]
    assert binomtest(int(changed.sum()), 4000, 0.75).pvalue > UNLIKELY
    for truth in (10, 20, 30, 40):
        elsewhere = told[changed & (y[known] == truth)]
        assert chisquare([(elsewhere == c).sum() for c in (10, 20, 30, 40) if c != truth]).pvalue > UNLIKELY
    assert chisquare([(changed & (y[known] == c)).sum() for c in (10, 20, 30, 40)]).pvalue > UNLIKELY
    assert len(Clues.sample(y, labels=100, label_noise=1.0, random_state=0).classes_) == 4


@pytest.mark.parametrize("y", [["b", "a", "b", "c"], pd.Series([3.5, 2, 3.5, 1]), [(0, 1), (1, 0), (0, 1), (2, 2)]])
def test_labels_keep_their_names(y: Any) -> None:
    clues = Clues.sample(y, labels=1.0, pairs=1.0, random_state=0)
    assert [clues.classes_[c] for c in clues.labels] == list(y)
    assert clues.must.tolist() == [[0, 2]]
    assert clues.contradictions == ()


# --- the ordered profile ----------------------------------------------------------------------------------


def reference_ordered(y: Any, count: int, noise: float, rng: np.random.Generator) -> Any:
    """The drawing as published, one pair at a time."""
    n, drawn, E = len(y), set(), np.zeros((len(y), len(y)))
    while len(drawn) < count:
        i, j = rng.integers(n, size=2).tolist()
        if i == j or (i, j) in drawn:
            continue
        drawn.add((i, j))
        E[i, j] = E[j, i] = (1 if y[i] == y[j] else -1) * (-1 if rng.random() < noise else 1)
    return E


def test_ordered_profile_is_distributed_as_published() -> None:
    y, count, noise, runs = np.array([0, 0, 1]), 4, 0.3, 3000
    rng = np.random.default_rng(0)
    ours: Counter[tuple[float, ...]] = Counter()
    theirs: Counter[tuple[float, ...]] = Counter()
    upper = np.triu_indices(3, 1)
    for seed in range(runs):
        clues = Clues.sample(y, pairs=count, noise=noise, profile="ordered", random_state=seed)
        ours[tuple(clues.to_matrix().toarray()[upper])] += 1
        theirs[tuple(reference_ordered(y, count, noise, rng)[upper])] += 1
    for outcome in set(ours) | set(theirs):
        a, b = ours[outcome], theirs[outcome]
        assert binomtest(a, a + b, 0.5).pvalue > UNLIKELY, outcome


def test_ordered_profile_covers_2r_minus_r_squared() -> None:
    for r in (0.01, 0.03, 0.05, 0.5):
        clues = Clues.sample(BIG, pairs=r, profile="ordered", random_state=0)
        share = 2 * len(pairs_of(clues)) / 1000**2
        assert abs(share - (2 * r - r * r)) < 0.002
        assert wrong(clues, BIG) == 0
    noisy = Clues.sample(BIG, pairs=0.05, noise=0.2, profile="ordered", random_state=0)
    assert binomtest(wrong(noisy, BIG), len(pairs_of(noisy)), 0.2).pvalue > UNLIKELY


def test_ordered_profile_counts_draws() -> None:
    assert len(pairs_of(Clues.sample(Y, pairs=42, profile="ordered", random_state=0))) == 21
    sure = Clues.sample(Y, pairs=42, profile="ordered", confidence=(0.7, 0.8), random_state=0)
    assert len(sure.must_confidence) + len(sure.cannot_confidence) == 21
    with pytest.raises(ClueError, match="pairs asks for 49 ordered pairs, but 7 rows have only 42"):
        Clues.sample(Y, pairs=1.0, profile="ordered")


# --- seeds and bad requests -------------------------------------------------------------------------------


def test_seeds() -> None:
    def sample(seed: Any) -> Clues:
        return Clues.sample(BIG, pairs=30, labels=30, noise=0.1, label_noise=0.1, random_state=seed)

    assert sample(1) == sample(1) == sample(np.random.default_rng(1))
    assert sample(1) != sample(2)
    assert sample(None) != sample(None)
    assert sample(np.random.RandomState(1)) == sample(np.random.RandomState(1))
    assert set(sample(1).must_source) == {"sampled"}


def test_nothing_is_drawn_unless_asked_for() -> None:
    assert Clues.sample(Y) == Clues(7)
    assert Clues.sample([]) == Clues(0)
    assert Clues.sample(Y, labels=1.0, random_state=0).kinds == {"labels"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pairs": 22}, "pairs asks for 22 pairs, but 7 rows have only 21."),
        ({"pairs": 2, "among": 2}, "pairs asks for 2 pairs, but 2 rows have only 1."),
        ({"pairs": -1}, "pairs is -1; it must be 0 or more."),
        ({"pairs": 1.5}, "pairs is 1.5; it must be a count (int) or a share between 0 and 1 (float)."),
        ({"pairs": -0.1}, "pairs is -0.1; it must be a count (int) or a share between 0 and 1 (float)."),
        ({"pairs": float("nan")}, "pairs is nan; it must be a count (int) or a share between 0 and 1 (float)."),
        ({"pairs": True}, "pairs is True; it must be a count (int) or a share between 0 and 1 (float)."),
        ({"pairs": "3"}, "pairs is '3'; it must be a count (int) or a share between 0 and 1 (float)."),
        ({"labels": 8}, "labels asks for 8 rows, but there are only 7."),
        ({"labels": 1.01}, "labels is 1.01; it must be a count (int) or a share between 0 and 1 (float)."),
        ({"among": 8}, "among asks for 8 rows, but there are only 7."),
        ({"noise": 1.2}, "noise is 1.2; it must be a share between 0 and 1."),
        ({"noise": float("nan")}, "noise is nan; it must be a share between 0 and 1."),
        ({"label_noise": -0.1}, "label_noise is -0.1; it must be a share between 0 and 1."),
        ({"label_noise": "x"}, "label_noise is 'x'; it must be a share between 0 and 1."),
        ({"profile": "messy"}, "profile is 'messy'; it must be 'clean' or 'ordered'."),
        ({"confidence": 0.9}, "confidence is 0.9; it must be a range (low, high)."),
        ({"confidence": (0.4, 1)}, "confidence is (0.4, 1); it must lie between 0.5 and 1, low before high."),
        ({"confidence": (0.9, 0.8)}, "confidence is (0.9, 0.8); it must lie between 0.5 and 1, low before high."),
        ({"confidence": (0.5, 0.5)}, "confidence is (0.5, 0.5); it must lie between 0.5 and 1, low before high."),
        ({"random_state": "x"}, "random_state is 'x'; it must be an int, a Generator or None."),
        ({"random_state": -1}, "random_state is -1; it must be an int, a Generator or None."),
        ({"pairs": 1, "exclude": Clues(9, must=[(0, 8)])}, "exclude mentions row 8, but y_true has only 7 rows."),
    ],
)
def test_impossible_requests(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ClueError) as error:
        Clues.sample(Y, **arguments)
    assert str(error.value) == message


def test_noise_and_confidence_exclude_each_other() -> None:
    with pytest.raises(ClueError, match="give noise or confidence, not both"):
        Clues.sample(Y, pairs=3, noise=0.1, confidence=(0.6, 1))


@pytest.mark.parametrize("y", [[0, float("nan"), 1], [0, -1, 1], ["a", None, "b"], ["a", "", "b"]])
def test_truth_must_be_known(y: Any) -> None:
    with pytest.raises(ClueError, match="row 1 of y_true has no class"):
        Clues.sample(y, pairs=1)


def test_truth_must_be_a_column() -> None:
    with pytest.raises(ClueError, match="y_true needs one class per row; it is a single value"):
        Clues.sample(5, pairs=1)
    with pytest.raises(ClueError, match=r"y_true needs one value per row \(2\); it has shape \(2, 2\)"):
        Clues.sample(np.zeros((2, 2)), pairs=1)
