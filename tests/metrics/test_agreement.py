"""Agreement measures against the worked example, brute force over pairs, and scikit-learn."""

from itertools import combinations, permutations
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from cluewise.metrics import accuracy, ari, b_cubed, nmi, pairwise_f, rand, variation_of_information
from cluewise.metrics._contingency import best_matching, contingency

TRUTH = [0, 0, 0, 1, 1, 1, 2, 2]
FOUND = [0, 0, 1, 1, 1, 1, 2, 0]
LEFT_OUT = [(0, 1), (3, 4), (2, 3)]


@st.composite
def two_labellings(draw, max_size=12):
    n = draw(st.integers(1, max_size))
    labels = st.lists(st.integers(-1, 3), min_size=n, max_size=n)
    return draw(labels), draw(labels)


def brute_pairs(truth, found, left_out=()):
    """Counts (both, only truth, only found, neither) by looking at every pair."""
    skipped = {tuple(sorted(p)) for p in left_out}
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for i, j in combinations(range(len(truth)), 2):
        if (i, j) not in skipped:
            counts[truth[i] == truth[j], found[i] == found[j]] += 1
    return counts


@pytest.mark.parametrize(
    ("normalization", "expected"),
    [("geometric", 0.547637), ("arithmetic", 0.546883), ("min", 0.577160), ("max", 0.519624)],
)
def test_nmi_worked_example(normalization, expected):
    assert nmi(TRUTH, FOUND, normalization) == pytest.approx(expected, abs=5e-7)


def test_pair_measures_worked_example():
    counts = brute_pairs(TRUTH, FOUND)
    assert counts[True, True] == 4  # as the specification counts them
    assert counts[True, True] + counts[True, False] == 7
    assert counts[True, True] + counts[False, True] == 9
    assert pairwise_f(TRUTH, FOUND) == 0.5
    assert rand(TRUTH, FOUND) == pytest.approx(0.714286, abs=5e-7)
    assert ari(TRUTH, FOUND) == pytest.approx(0.304348, abs=5e-7)


def test_pairs_can_be_left_out():
    assert pairwise_f(TRUTH, FOUND, exclude_pairs=LEFT_OUT) == pytest.approx(0.363636, abs=5e-7)
    assert rand(TRUTH, FOUND, exclude_pairs=LEFT_OUT) == pytest.approx(0.72)


def test_a_pair_left_out_twice_counts_once():
    doubled = [*LEFT_OUT, (1, 0), (3, 2), (3, 4)]
    assert pairwise_f(TRUTH, FOUND, exclude_pairs=doubled) == pairwise_f(TRUTH, FOUND, exclude_pairs=LEFT_OUT)
    assert rand(TRUTH, FOUND, exclude_pairs=[]) == rand(TRUTH, FOUND)


@pytest.mark.parametrize("normalization", ["geometric", "arithmetic", "min", "max"])
def test_nmi_without_entropy(normalization):
    assert nmi([0, 0, 0], [5, 5, 5], normalization) == 1.0
    assert nmi([0, 0, 1], [5, 5, 5], normalization) == 0.0
    assert nmi([0, 0, 0], [5, 4, 5], normalization) == 0.0


def test_no_pair_together():
    assert pairwise_f([0, 1, 2], [2, 1, 0]) == 1.0  # neither has a pair together
    assert pairwise_f([0, 0, 2], [2, 1, 0]) == 0.0  # tp = 0
    assert rand([3], [4]) == 1.0  # no pair at all
    assert rand([0, 0], [0, 1], exclude_pairs=[(0, 1)]) == 1.0


@settings(max_examples=60, deadline=None)
@given(two_labellings(), st.data())
def test_pair_measures_against_every_pair(labellings, data):
    truth, found = labellings
    every = list(combinations(range(len(truth)), 2))
    left_out = data.draw(st.lists(st.sampled_from(every), max_size=6)) if every else []
    c = brute_pairs(truth, found, left_out)
    agreeing, total = c[True, True] + c[False, False], sum(c.values())
    together = 2 * c[True, True] + c[True, False] + c[False, True]
    assert rand(truth, found, left_out) == pytest.approx(agreeing / total if total else 1.0)
    assert pairwise_f(truth, found, left_out) == pytest.approx(2 * c[True, True] / together if together else 1.0)


@settings(max_examples=40, deadline=None)
@given(two_labellings())
def test_b_cubed_against_every_row(labellings):
    truth, found = map(np.asarray, labellings)
    rows = range(len(truth))
    precision = np.mean([np.mean(truth[found == found[i]] == truth[i]) for i in rows])
    recall = np.mean([np.mean(found[truth == truth[i]] == found[i]) for i in rows])
    assert b_cubed(truth, found) == pytest.approx(2 * precision * recall / (precision + recall))


@settings(max_examples=40, deadline=None)
@given(two_labellings())
def test_same_as_scikit_learn(labellings):
    truth, found = labellings
    assert ari(truth, found) == pytest.approx(sk.adjusted_rand_score(truth, found))
    assert rand(truth, found) == pytest.approx(sk.rand_score(truth, found))
    mutual = sk.mutual_info_score(truth, found)
    entropies = [sk.mutual_info_score(labels, labels) for labels in (truth, found)]
    expected = max(sum(entropies) - 2 * mutual, 0.0)
    assert variation_of_information(truth, found) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(two_labellings(max_size=9))
def test_accuracy_is_the_best_over_all_matchings(labellings):
    truth, found = np.array(labellings[0]), np.array(labellings[1])
    classes = list(np.unique(truth))
    clusters = list(np.unique(found))
    width = max(len(classes), len(clusters))
    clusters += [99] * (width - len(clusters))  # empty clusters, so that every class has a partner
    best = max(
        sum(np.sum((truth == a) & (found == b)) for a, b in zip(classes, order, strict=False))
        for order in permutations(clusters)
    )
    assert accuracy(truth, found) == pytest.approx(best / len(truth))


def test_accuracy_with_unequal_numbers_of_clusters():
    assert accuracy([0, 0, 1, 1], [0, 0, 0, 0]) == 0.5
    assert accuracy([0, 0, 0, 0], [0, 0, 1, 2]) == 0.5


def test_matching_gives_up_the_locally_best_cell():
    # Class 0 likes cluster 0 best (3 against 2), but class 1 can only use cluster 0.
    truth = np.array([0] * 5 + [1] * 2)
    found = np.array([0, 0, 0, 1, 1, 0, 0])
    assert best_matching(contingency(truth, found)).tolist() == [1, 0]
    assert accuracy(truth, found) == pytest.approx(4 / 7)


def test_variation_of_information_is_a_metric():
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(4, size=(3, 60))
    assert variation_of_information(a, a + 7) == 0.0
    assert variation_of_information(a, b) == pytest.approx(variation_of_information(b, a))
    assert variation_of_information(a, c) <= variation_of_information(a, b) + variation_of_information(b, c)
    assert variation_of_information([0] * 8, list(range(8))) == pytest.approx(log(8))


MEASURES = [nmi, ari, rand, pairwise_f, b_cubed, accuracy, variation_of_information]


@pytest.mark.parametrize("measure", MEASURES)
def test_names_of_labels_do_not_matter(measure):
    names = np.array(["bee", "ant", "cat"])
    assert measure(names[TRUTH], np.array([7, -1, 3])[FOUND]) == pytest.approx(measure(TRUTH, FOUND))


@pytest.mark.parametrize("measure", MEASURES)
def test_noise_is_a_label_like_any_other(measure):
    noisy = [-1 if label == 2 else label for label in FOUND]
    assert measure(TRUTH, noisy) == pytest.approx(measure(TRUTH, FOUND))


def test_many_rows_do_not_overflow():
    n = 200_000  # about 2e10 pairs, more than 32 bits hold
    truth = np.zeros(n, dtype=np.int32)
    found = np.zeros(n, dtype=np.int32)
    found[0] = 1
    pairs = n * (n - 1) // 2
    assert rand(truth, found) == pytest.approx(1 - (n - 1) / pairs)
    assert pairwise_f(truth, found) == pytest.approx(2 * (pairs - n + 1) / (2 * (pairs - n + 1) + n - 1))
    assert accuracy(truth, np.arange(n)) == pytest.approx(1 / n)
    assert accuracy(np.arange(n), truth) == pytest.approx(1 / n)


@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        ([0, 1], [0], "y_true has 2 labels, but y_pred has 1"),
        ([], [], "no labels to compare"),
        ([[0, 1]], [0, 1], "y_true needs one label per row, but has 2 dimensions"),
        ([0.0, float("nan")], [0, 1], "y_true has no label .NaN. in row 1"),
        ([0, 1], np.array([1, "a"], dtype=object), "y_pred mixes labels"),
    ],
)
@pytest.mark.parametrize("measure", MEASURES)
def test_bad_labels(measure, truth, found, message):
    with pytest.raises(ValueError, match=message):
        measure(truth, found)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (2, 8)], "names row 8 .pair 1., but there are only 8 rows"),
        ([(-1, 1)], "names row -1 .pair 0."),
        ([(0, 1), (3, 3)], "links row 3 with itself .pair 1."),
        ([0, 1, 2], "two columns"),
        ([(0.0, 1.0)], "integers"),
    ],
)
def test_bad_pairs_to_leave_out(pairs, message):
    with pytest.raises(ValueError, match=message):
        rand(TRUTH, FOUND, exclude_pairs=pairs)


def test_unknown_normalization():
    with pytest.raises(ValueError, match="normalization is 'mean', but must be one of"):
        nmi(TRUTH, FOUND, "mean")
