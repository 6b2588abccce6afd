"""How likely a link is wrong: against enumeration, against Bayes' rule by hand, and on data with wrong links."""

from __future__ import annotations

from itertools import product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import roc_auc_score

from cluewise import PCCC, Clues, RDPMeans, TVClust
from cluewise.core.centers import effective_dimension
from cluewise.core.probability import doubt as module
from cluewise.core.probability.doubt import doubts, doubts_by, linked_rows
from cluewise.core.rows import rows_of
from cluewise.datasets import load


def blobs(seed, n=300):
    return make_blobs(n, centers=4, cluster_std=1.3, n_features=3, random_state=seed)


def judged(X, labels, clues, weight=None):
    """Doubts of the links at the means of the labels."""
    rows = rows_of(np.asarray(X, dtype=float), weight)
    w = np.ones(len(labels)) if weight is None else weight
    centers = np.array([np.average(X[labels == h], axis=0, weights=w[labels == h]) for h in range(labels.max() + 1)])
    return doubts(rows, centers - rows.shift, labels, clues)


def before(*args):
    """Doubts before calibration."""
    with mock.patch.object(module, "calibrated", lambda raw, odds, clues: raw):
        return judged(*args)


def is_wrong(y, clues):
    def together(pairs):
        return y[pairs[:, 0]] == y[pairs[:, 1]]

    return np.concatenate([~together(clues.must), together(clues.cannot)])


# --- one link at a time -------------------------------------------------------------------------------------


def test_one_link_by_hand_leaving_its_rows_out_of_their_clusters():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(6, 2)), rng.normal((2.5, 0), size=(9, 2))])
    labels = np.array([0] * 6 + [1] * 9)
    clues = Clues(15, must=[(2, 11)], must_confidence=[0.8])  # the share of wrong links is told, so nothing is learnt
    rows = rows_of(X)
    means = np.array([X[labels == h].mean(axis=0) for h in (0, 1)])
    within = sum(((X[labels == h] - means[h]) ** 2).sum() for h in (0, 1)) / (15 - 2)
    variance = within / effective_dimension(rows, means - rows.shift, labels)
    chance = []
    for i in (2, 11):
        rest = np.arange(15) != i
        size = np.array([(rest & (labels == h)).sum() for h in (0, 1)])
        center = np.array([X[rest & (labels == h)].mean(axis=0) for h in (0, 1)])
        p = size * np.exp(-((X[i] - center) ** 2).sum(axis=1) / (2 * variance))
        chance.append(p / p.sum())
    together = chance[0] @ chance[1]
    prior = (6 / 15) ** 2 + (9 / 15) ** 2
    r = 0.2 / 0.8 * prior / (1 - prior)
    expected = r * (1 - together) / (r * (1 - together) + together)
    np.testing.assert_allclose(before(X, labels, clues), [expected], rtol=1e-10)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4), leaves=st.integers(1, 4))
def test_links_of_one_row_are_judged_as_enumeration_judges_them(seed, k, leaves):
    rng = np.random.default_rng(seed)
    alone = rng.dirichlet(np.ones(k), size=leaves + 1)
    is_must = rng.random(leaves) < 0.5
    odds = rng.uniform(0.01, 1, leaves)
    ends = np.zeros(leaves, int), np.arange(1, leaves + 1)
    expected = []
    for left_out in range(leaves):
        total = np.zeros(2)
        for z in product(range(k), repeat=leaves + 1):
            p = np.prod(alone[np.arange(leaves + 1), z])
            for j in range(leaves):
                right = (z[0] == z[j + 1]) == is_must[j]
                p *= 1 if j == left_out or right else odds[j]
            total[int(z[0] == z[left_out + 1])] += p
        expected.append(total[1] / total.sum())
    np.testing.assert_allclose(module._together(alone, *ends, is_must, odds), expected, rtol=1e-9)


def test_shares_of_wrong_links_are_those_of_the_doubts():
    X, y = blobs(0)
    clues = Clues.sample(y, pairs=2000, noise=0.2, random_state=0)
    doubt, wrong = before(X, y, clues), is_wrong(y, clues)
    for part in (slice(0, len(clues.must)), slice(len(clues.must), None)):
        assert doubt[part].mean() == pytest.approx(wrong[part].mean(), abs=0.02)


# --- on data with wrong links -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["blobs", "iris", "wine"])
@pytest.mark.parametrize("noise", [0.1, 0.2])
def test_wrong_links_are_found_and_counted(name, noise):
    area, off = [], []
    for seed in range(6):
        data = None if name == "blobs" else load(name, standardize=True)
        X, y = blobs(seed) if data is None else (data.X, data.y)
        clues = Clues.sample(y, pairs=len(y), noise=noise, random_state=seed)
        model = RDPMeans(len(np.unique(y))).fit(X, clues=clues)
        assert model.clues_ == clues
        wrong = is_wrong(y, clues)
        area.append(roc_auc_score(wrong, model.doubt_))
        off.append(model.doubt_.mean() - wrong.mean())
    assert np.mean(area) > 0.92
    assert min(area) > 0.85
    assert np.abs(off).max() < 0.1


def test_doubts_of_true_clusters_are_calibrated():
    doubt, wrong = [], []
    for seed in range(8):
        X, y = make_blobs(300, centers=3, cluster_std=2.5, n_features=2, random_state=seed)
        clues = Clues.sample(y, pairs=600, noise=0.15, random_state=seed)
        doubt.append(before(X, y, clues))
        wrong.append(is_wrong(y, clues))
    doubt, wrong = np.concatenate(doubt), np.concatenate(wrong)
    for low, high in ((0, 0.05), (0.05, 0.3), (0.3, 0.7), (0.7, 0.95), (0.95, 1.01)):
        inside = (doubt >= low) & (doubt < high)
        assert inside.sum() > 50
        assert wrong[inside].mean() == pytest.approx(doubt[inside].mean(), abs=0.1)


def test_right_links_are_hardly_doubted():
    X, y = blobs(1)
    assert judged(X, y, Clues.sample(y, pairs=300, random_state=1)).mean() < 0.02


def test_other_links_speak_for_a_link():
    """Two rows midway between clusters: what they are linked to besides decides."""
    X = np.array([[0.0], [0.5], [1.0], [9.0], [9.5], [10.0], [4.9], [5.1]])
    labels = np.array([0, 0, 0, 1, 1, 1, 0, 1])
    alone = before(X, labels, Clues(8, must=[(6, 7)]))
    apart = before(X, labels, Clues(8, must=[(6, 7), (0, 6), (1, 6), (3, 7), (4, 7)]))[-1]
    joined = before(X, labels, Clues(8, must=[(6, 7), (0, 6), (1, 6), (0, 7), (1, 7)]))[-1]
    assert joined < alone[0] < apart


# --- calibration --------------------------------------------------------------------------------------------


def test_calibration_by_hand(monkeypatch):
    """Two links and one with a confidence; two shares of wrong reports, two of pairs that a model is blind to."""
    monkeypatch.setattr(module, "WRONG", np.array([0.1, 0.3]))
    monkeypatch.setattr(module, "BLIND", np.array([0.01, 0.5]))
    clues = Clues(6, must=[(0, 1), (2, 3)], cannot=[(4, 5)], cannot_confidence=[0.8])
    raw, odds = np.array([0.9, 0.2, 0.6]), np.array([0.2, 0.2, 0.4])
    weight = np.array([1.0, 2.0, 1.0])
    logits, likely = [], []
    for w, e in product((0.1, 0.3), (0.01, 0.5)):
        together = np.clip((3 / 5 - w) / (1 - 2 * w), 0.01, 0.99)
        told = 0.2 / 0.8 * (1 - together) / together
        each, joint = [], 1.0
        for i, (base, r) in enumerate(
            [(together, w / (1 - w)), (together, (w / (1 - w)) ** 2), (1 - together, min(told, 1))]
        ):
            right = odds[i] * (1 - raw[i]) / (odds[i] * (1 - raw[i]) + raw[i])
            held = (1 - e) * right + e * base
            each.append(np.log(r * (1 - held) / held))
            joint *= (held + r * (1 - held)) / (1 + r)
        logits.append(each)
        likely.append(joint**module.WORTH)
    expected = module.CAUTION * np.average(logits, axis=0, weights=likely)
    np.testing.assert_allclose(module.calibrated(raw, odds, clues, weight), 1 / (1 + np.exp(-expected)), rtol=1e-9)


def test_certain_models_and_great_weights_are_calibrated():
    clues = Clues(6, must=[(0, 1), (2, 3)], cannot=[(4, 5)])
    for odds, weight in ((1.0, None), (0.0, np.full(3, 1e6))):
        doubt = module.calibrated(np.array([0.0, 1.0, 0.0]), np.full(3, odds), clues, weight)
        assert np.isfinite(doubt).all()
        assert ((doubt >= 0) & (doubt < 1)).all()


JUDGES = [
    lambda k: PCCC(k, hard="infinite", n_init=1, time_limit=0.2, random_state=0),
    RDPMeans,
    lambda k: TVClust(n_init=2, random_state=0),
]


@pytest.mark.parametrize("judge", JUDGES, ids=["PCCC", "RDPMeans", "TVClust"])
def test_right_links_that_contradict_the_clusters_are_not_called_wrong(judge):
    """Four clusters that nobody can mistake, and classes that have nothing to do with them."""
    X, _ = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    y = np.random.default_rng(0).integers(0, 4, size=120)
    doubt = judge(4).fit(X, clues=Clues.sample(y, pairs=120, random_state=0)).doubt_
    assert doubt.max() < 0.9


@pytest.mark.parametrize("judge", JUDGES, ids=["PCCC", "RDPMeans", "TVClust"])
def test_links_that_are_called_wrong_are(judge):
    """Clusters that are the classes, that are half of them, and that are others, with and without wrong links."""
    doubt, wrong = [], []
    for seed, noise in enumerate((0, 0.1, 0.2, 0.3)):
        X, blob = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=seed)
        for y in (blob, blob // 2, np.where(X[:, 0] > 0, blob, blob % 2)):
            clues = Clues.sample(y, pairs=240, noise=noise, random_state=seed)
            doubt.append(judge(len(np.unique(y))).fit(X, clues=clues).doubt_)
            wrong.append(is_wrong(y, clues))
    doubt, wrong = np.concatenate(doubt), np.concatenate(wrong)
    assert (doubt >= 0.9).sum() > 20
    assert wrong[doubt >= 0.9].mean() > 0.85
    assert 0 < doubt.min() < doubt.max() < 1


# --- what must not matter -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def case():
    X, y = blobs(2, n=80)
    return X, y, Clues.sample(y, pairs=120, noise=0.2, random_state=2)


def test_moving_scaling_and_turning_changes_nothing(case):
    X, y, clues = case
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    np.testing.assert_allclose(judged(1e3 * X @ turn + 77, y, clues), judged(X, y, clues), atol=1e-7)


def test_permuting_rows_permutes_doubts(case):
    X, y, clues = case
    order = np.random.default_rng(0).permutation(len(y))
    a, b = judged(X, y, clues), judged(X[order], y[order], clues[order])
    there = {frozenset(order[pair].tolist()): d for pair, d in zip(np.concatenate(clues[order].pairs()[::2]), b)}
    here = {frozenset(pair.tolist()): d for pair, d in zip(np.concatenate(clues.pairs()[::2]), a)}
    assert there.keys() == here.keys()
    np.testing.assert_allclose([there[key] for key in here], list(here.values()), atol=1e-9)


def test_weights_count_rows(case):
    X, y, clues = case
    once = judged(X, y, clues)
    np.testing.assert_allclose(judged(X, y, clues, np.full(len(y), 0.01)), once, atol=1e-9)
    # A row without weight says nothing, wherever it is.
    more = np.concatenate([X, [[1e3, 0, 0]]])
    weight = np.append(np.ones(len(y)), 0.0)
    clues = Clues(len(y) + 1, must=clues.must, cannot=clues.cannot)
    np.testing.assert_allclose(judged(more, np.append(y, 0), clues, weight), once, atol=2e-2)


def test_blocks_do_not_matter(case, monkeypatch):
    X, y, clues = case
    whole = judged(X, y, clues)
    monkeypatch.setattr(module, "BLOCK", 20)
    np.testing.assert_allclose(judged(X, y, clues), whole, rtol=1e-12)


def test_sparse_rows_and_single_precision(case):
    X, _, clues = case
    whole = RDPMeans(4).fit(X, clues=clues)
    for other in (csr_array(X), X.astype(np.float32)):
        model = RDPMeans(4).fit(other, clues=clues)
        assert model.doubt_.dtype == np.float64
        np.testing.assert_allclose(model.doubt_, whole.doubt_, atol=1e-3)


# --- nothing to go by ---------------------------------------------------------------------------------------


def test_one_cluster_leaves_what_was_believed_before():
    clues = Clues(4, must=[(0, 1), (1, 2)], cannot=[(2, 3)], must_confidence=[0.7, np.nan])
    doubt = doubts_by(np.ones((4, 1)), 1.0, np.zeros(4, dtype=int), clues)
    np.testing.assert_allclose(doubt, [0.3, 0.1, 0.1])


def test_without_links_there_are_no_doubts():
    model = RDPMeans(2).fit([[0.0], [1.0], [9.0]], clues=[0, -1, 1])
    assert model.doubt_.shape == (0,)
    assert linked_rows(model.clues_).shape == (0,)


@pytest.mark.parametrize(
    "links",
    [
        {"must": [(0, 1), (2, 3), (0, 5)]},
        {"cannot": [(0, 1), (2, 3), (0, 5)]},
        {"must": [(0, 1), (0, 4)], "cannot": [(0, 1), (4, 5)]},
    ],
)
@pytest.mark.parametrize(
    ("X", "labels"),
    [
        (np.zeros((6, 2)), [0, 0, 0, 1, 1, 1]),  # everything in one place
        (np.repeat([[0.0], [5.0]], 3, axis=0), [0, 0, 0, 1, 1, 1]),  # clusters without spread
        (np.arange(6.0)[:, None], [0, 1, 2, 3, 4, 5]),  # every row alone
        (np.array([[0.0], [0.0], [1.0], [1.0], [7.0], [8.0]]), [0, 0, 1, 1, 2, 3]),
        (1e70 * np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]),
        (np.random.default_rng(0).normal(size=(6, 40)), [0, 0, 0, 1, 1, 1]),  # d > n
    ],
)
def test_degenerate_results_give_probabilities(X, labels, links):
    doubt = judged(X, np.array(labels), Clues(6, **links))
    assert np.isfinite(doubt).all()
    assert ((doubt >= 0) & (doubt <= 1)).all()


def test_all_links_wrong():
    X, y = blobs(3)
    rng = np.random.default_rng(3)
    pairs = rng.choice(300, size=(200, 2))
    pairs = pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]
    doubt = before(X, y, Clues(300, must=pairs))
    assert doubt.mean() > 0.9


def test_rows_infinitely_far_from_every_center_decide_nothing():
    table = np.full((2, 3), np.inf)
    doubt = doubts_by(table, 1.0, np.array([0, 1, 2, 2]), Clues(4, must=[(0, 1)]))
    assert 0 < doubt[0] < 1


@pytest.mark.parametrize(
    "how",
    [
        {"divergence": "kl", "smoothing": 0.3},
        {"divergence": "generalized_i"},
        {"divergence": "itakura_saito"},
        {"divergence": np.diag([1.0, 2.0, 0.5])},
        {"profile": "published"},
    ],
)
def test_other_divergences(how):
    """Profiles of three columns, two kinds; one must-link and one cannot-link are wrong."""
    rng = np.random.default_rng(0)
    X = 1 + rng.gamma(30 * np.repeat([[8, 1, 1], [1, 1, 8]], 20, axis=0)) / 30
    clues = Clues(40, must=[(0, 1), (2, 3), (5, 33), (21, 30), (24, 39)], cannot=[(4, 25), (6, 29), (10, 12), (9, 35)])
    model = RDPMeans(2, random_state=0, **how).fit(X, clues=clues)
    assert model.doubt_.shape == (9,)
    assert np.isfinite(model.doubt_).all()
    assert set(np.argsort(-model.doubt_)[:2]) == {2, 8}
    assert RDPMeans(2, random_state=0, **how).fit(X).doubt_.shape == (0,)
