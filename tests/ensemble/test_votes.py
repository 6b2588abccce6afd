"""The weighted vote: alignment, exact labels, and recounts that equal a full count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise.core.threads import threads
from cluewise.ensemble import _votes
from cluewise.ensemble._aligned import Ensemble, align, check_partitions, unsigned
from cluewise.ensemble._near import SHARES
from cluewise.ensemble._votes import LARGEST, Ballot, count, recount, sum_votes

RAW = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1], [1, 1, 1, 0, 0, 0]], dtype=np.uint8)


def in_words(ensemble):
    """The labels after translation."""
    return np.array([table[own] for table, own in zip(ensemble.clusters, ensemble.labels)])


def reference(ensemble, gamma):
    """The plain vote in double precision, partition after partition."""
    F = np.zeros((ensemble.n, ensemble.r))
    for own, weight in zip(in_words(ensemble), gamma):
        F[np.arange(ensemble.n), own] += weight
    return F


def noisy(seed, m, n, r, accuracy=0.6, dtype=np.uint8):
    rng = np.random.default_rng(seed)
    truth = rng.integers(r, size=n)
    labels = np.where(rng.random((m, n)) < accuracy, truth, rng.integers(r, size=(m, n)))
    return rng, align(labels.astype(dtype), r)


def weights(rng, m, share=1.0):
    gamma = rng.dirichlet(np.ones(m)) * (rng.random(m) < share)
    return gamma / gamma.sum() if gamma.any() else np.full(m, 1 / m)


# --- alignment ---------------------------------------------------------------------------------------------------


def test_alignment_of_the_worked_example():
    found = align(RAW, 2)
    np.testing.assert_array_equal(in_words(found), [*RAW[:3].tolist(), [0, 0, 0, 1, 1, 1]])
    assert found.labels is RAW


@given(st.integers(0, 2**16))
def test_renaming_changes_nothing_but_ties(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=60)
    labels = np.array([np.where(rng.random(60) < 0.8, truth, rng.integers(3, size=60)) for _ in range(4)])
    renamed = labels.copy()
    k = int(rng.integers(1, 4))
    renamed[k] = rng.permutation(3)[labels[k]]
    first, second = (align(own.astype(np.uint8), 3) for own in (labels, renamed))
    np.testing.assert_array_equal(in_words(first)[0], labels[0])
    agree = (in_words(first) == labels[0]).sum(axis=1)
    np.testing.assert_array_equal(agree, (in_words(second) == labels[0]).sum(axis=1))
    assert (agree >= (labels == labels[0]).sum(axis=1)).all()


def test_partitions_with_more_clusters_join_the_nearest():
    many = np.array([[0, 0, 0, 1, 1, 1], [3, 3, 2, 0, 1, 1]], dtype=np.uint8)
    found = align(many, 2)
    np.testing.assert_array_equal(in_words(found), [[0, 0, 0, 1, 1, 1]] * 2)
    assert many[1].tolist() == [3, 3, 2, 0, 1, 1]


def test_the_reference_is_the_first_partition_that_is_small_enough():
    found = align(np.array([[0, 1, 2, 2], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=np.uint8), 2)
    np.testing.assert_array_equal(in_words(found)[1:], [[1, 1, 0, 0]] * 2)


def test_a_partition_may_lack_clusters():
    found = align(np.array([[0, 1, 2, 3], [0, 0, 1, 1]], dtype=np.uint8), 5)
    assert found.r == 5
    assert count(found, np.array([0.4, 0.6])).winner.tolist() == in_words(found)[1].tolist()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([0, 1], "shape"),
        (np.zeros((2, 0), int), "shape"),
        ([[0.5, 1.0]], "integers from 0"),
        ([[0, 1], [2, -1]], "partition 1 has no label for row 1"),
    ],
)
def test_bad_partitions_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        check_partitions(given)


def test_all_partitions_too_large_is_an_error():
    with pytest.raises(ValueError, match="more than n_clusters=2 labels"):
        align(np.array([[0, 1, 2]], dtype=np.uint8), 2)


def test_types_are_small_and_not_copied():
    assert check_partitions(RAW) is RAW
    assert check_partitions(RAW.tolist()).dtype == np.uint8
    assert [unsigned(c).itemsize for c in (1, 255, 256, 65536)] == [1, 1, 2, 4]


# --- the vote ----------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.integers(0, 2**16), st.integers(1, 40), st.sampled_from([1, 2, 3, 10, 40]), st.floats(0.1, 1))
def test_labels_are_those_of_double_precision(seed, m, r, share):
    rng, ensemble = noisy(seed, m, 300, r, dtype=np.uint16 if seed % 2 else np.uint8)
    for gamma in (weights(rng, m, share), np.full(m, 1 / m)):
        F = reference(ensemble, gamma)
        standing = count(ensemble, gamma)
        np.testing.assert_array_equal(standing.winner, F.argmax(axis=1))
        ranked = np.sort(np.hstack([F, np.zeros((300, 1))]), axis=1)
        assert (standing.lead <= ranked[:, -1] - ranked[:, -2] + 1e-15).all()
        assert (standing.lead >= ranked[:, -1] - ranked[:, -2] - 0.02).all()
        np.testing.assert_array_equal(sum_votes(ensemble, gamma, np.arange(300)), F)


def test_near_ties_are_decided_in_double_precision():
    """Two partitions against two, with weights that differ by less than one whole vote."""
    labels = np.array([[0] * 4, [0] * 4, [1] * 4, [1] * 4], dtype=np.uint8)
    same = np.tile(np.arange(2, dtype=np.uint8), (4, 1))
    tiny = 1e-13
    for gamma in ([0.25, 0.25, 0.25, 0.25], [0.25, 0.25 - tiny, 0.25, 0.25 + tiny], [0.25 + tiny, 0.25, 0.25, 0.25]):
        ensemble = Ensemble(labels, same, same)
        weight = np.array(gamma)
        expected = reference(ensemble, weight).argmax(axis=1)
        np.testing.assert_array_equal(count(ensemble, weight).winner, expected)
    assert count(ensemble, np.array([0.25, 0.25 - tiny, 0.25, 0.25 + tiny])).winner[0] == 1


def test_more_partitions_than_whole_votes_are_counted_exactly():
    """70,000 votes against 60,000 would be 4,464 against 60,000 in 16 bits."""
    labels = np.repeat(np.array([[0, 1], [1, 0]], dtype=np.uint8), [70_000, 60_000], axis=0)
    same = np.tile(np.arange(2, dtype=np.uint8), (len(labels), 1))
    ensemble, gamma = Ensemble(labels, same, same), np.full(len(labels), 1 / len(labels))
    standing = count(ensemble, gamma)
    assert standing.winner.tolist() == [0, 1]
    assert standing.lead == pytest.approx([1 / 13, 1 / 13], rel=1e-4)
    turned = np.repeat([0.5 / 70_000, 0.7 / 60_000], [70_000, 60_000]) / 1.2
    assert recount(ensemble, standing, turned)[0].winner.tolist() == [1, 0]


@given(st.integers(0, 2**16), st.integers(1, 400))
def test_whole_votes_differ_from_the_weights_by_the_slack(seed, m):
    rng, ensemble = noisy(seed, m, 5, 2)
    gamma = weights(rng, m)
    ballot = Ballot.of(ensemble, gamma)
    assert ballot.shares.astype(np.int64).sum() <= LARGEST
    assert np.abs(ballot.shares * ballot.unit - ballot.weights).sum() <= ballot.slack
    equal = Ballot.of(ensemble, np.full(m, 1 / m))
    assert equal.slack < 1e-11


@settings(max_examples=30)
@given(
    st.integers(0, 2**16),
    st.integers(1, 30),
    st.sampled_from([1, 2, 5, 40]),
    st.lists(st.sampled_from([1e-4, 1e-3, 0.01, 0.1, 1.0]), min_size=1, max_size=6),
)
def test_a_recount_is_a_count(seed, m, r, steps):
    """After any sequence of small and large changes, labels and changed rows are those of counting anew."""
    rng, ensemble = noisy(seed, m, 400, r)
    gamma = weights(rng, m)
    standing = count(ensemble, gamma)
    for size in steps:
        gamma = (1 - size) * gamma + size * weights(rng, m, 0.5)
        before = standing.winner.copy()
        standing, changed = recount(ensemble, standing, gamma)
        plain = reference(ensemble, gamma)
        np.testing.assert_array_equal(standing.winner, plain.argmax(axis=1))
        np.testing.assert_array_equal(changed, np.flatnonzero(standing.winner != before))
        ranked = np.sort(np.hstack([plain, np.zeros((400, 1))]), axis=1)
        assert (standing.lead <= ranked[:, -1] - ranked[:, -2] + 1e-15).all()


def test_few_doubtful_rows_are_counted_alone(monkeypatch):
    """A small change touches few rows, and the second one finds their labels side by side."""
    rng, ensemble = noisy(3, 60, 20_000, 4, accuracy=0.4)
    gamma = weights(rng, 60)
    standing = count(ensemble, gamma)
    counted = []
    settle = _votes._settle

    def watched(labels, ballot, start, winner, lead):
        counted.append(len(winner))
        settle(labels, ballot, start, winner, lead)

    monkeypatch.setattr(_votes, "_settle", watched)

    for _ in range(3):
        gamma = 0.995 * gamma + 0.005 * weights(rng, 60)
        standing, _ = recount(ensemble, standing, gamma)
        np.testing.assert_array_equal(standing.winner, reference(ensemble, gamma).argmax(axis=1))
    assert 0 < sum(counted) < 20_000
    assert standing.near is not None
    first = standing.near
    same, changed = recount(ensemble, standing, gamma)
    assert same is standing
    assert not len(changed)
    gamma = 0.999 * gamma + 0.001 * weights(rng, 60)
    standing, _ = recount(ensemble, standing, gamma)
    assert standing.near is first


def test_near_rows_are_those_with_small_leads():
    """Three shells, each row in the one that its lead belongs to, with the labels of the matrix."""
    rng, ensemble = noisy(5, 40, 2 * _votes.BLOCK + 500, 3, accuracy=0.4)
    standing = count(ensemble, weights(rng, 40, 0.5))
    near = standing.near
    largest = -np.inf
    for number, share in enumerate(SHARES):
        kept = [near.shells(block)[number] for block in range(3)]
        rows = np.concatenate([inside for _, _, inside in kept])
        assert standing.lead[rows].min() >= largest
        largest = standing.lead[rows].max()
        assert np.count_nonzero(standing.lead <= largest) / ensemble.n == pytest.approx(share, rel=0.3)
        for labels, first, inside in kept:
            expected = ensemble.labels[near.active][:, inside]
            np.testing.assert_array_equal(labels[:, first : first + len(inside)], expected)
    assert near.kept.sum() > 0.1 * ensemble.n


def test_a_partition_that_had_no_weight_is_looked_up_in_the_matrix():
    rng, ensemble = noisy(8, 12, 3_000, 3)
    gamma = weights(rng, 12)
    gamma[4] = 0
    gamma /= gamma.sum()
    standing = count(ensemble, gamma)
    gamma[4] = 1e-4
    gamma /= gamma.sum()
    standing, _ = recount(ensemble, standing, gamma)
    np.testing.assert_array_equal(standing.winner, reference(ensemble, gamma).argmax(axis=1))


def test_most_rows_in_doubt_are_counted_all():
    ensemble = noisy(4, 9, 500, 3)[1]
    new = np.zeros(9)
    new[2] = 1
    standing, changed = recount(ensemble, count(ensemble, np.eye(9)[0]), new)
    np.testing.assert_array_equal(standing.winner, in_words(ensemble)[2])
    np.testing.assert_array_equal(changed, np.flatnonzero(in_words(ensemble)[0] != in_words(ensemble)[2]))


@given(st.integers(0, 2**16), st.integers(1, 12))
def test_drift_bounds_every_loss_of_lead(seed, m):
    rng = np.random.default_rng(seed)
    old, new = weights(rng, m, 0.7), weights(rng, m, 0.7)
    alpha, drift = _votes._drift(old, new)
    for _ in range(20):
        votes = rng.integers(-1, 2, size=m)  # for the first of two clusters, for the second, for a third
        lead = votes @ old
        if lead > drift:
            assert votes @ new >= alpha * (lead - drift) - 1e-12
            assert votes @ new > 0


@pytest.mark.parametrize("n", [1, 3])
def test_threads_change_nothing(n):
    rng, ensemble = noisy(6, 6, 9 * _votes.BLOCK + 17, 3)
    gamma = weights(rng, 6)
    with threads(n):
        standing = count(ensemble, gamma)
    F = reference(ensemble, gamma)
    np.testing.assert_array_equal(standing.winner, F.argmax(axis=1))
