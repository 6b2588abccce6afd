"""How useful clues are: the worked examples of the survey, its properties, and brute force."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import roc_auc_score

from cluewise import Clues
from cluewise.exceptions import ClueError
from cluewise.metrics import (
    coherence,
    informativeness,
    metric_agreement,
    overlap,
    predictability,
    redundancy,
    segments,
)
from cluewise.metrics._redundancy import find_cycle_edges

A8 = np.array([[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]])
MUST, CANNOT = [[0, 1], [3, 7], [4, 6]], [[2, 7], [3, 4], [1, 5]]
PLAIN = [0, 0, 0, 0, 1, 1, 1, 1]


def eight() -> Clues:
    return Clues(8, must=MUST, cannot=CANNOT)


def drawn(seed: int, n: int = 12, d: int = 3) -> tuple[np.ndarray, Clues]:
    rng = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(n), 2)))
    chosen = pairs[rng.permutation(len(pairs))[:14]]
    cut = int(rng.integers(3, 11))
    return rng.normal(size=(n, d)), Clues(n, must=chosen[:cut], cannot=chosen[cut:])


# --- the worked examples ----------------------------------------------------------------------------------


def test_worked_example_of_utility():
    clues = eight()
    assert informativeness(PLAIN, clues) == pytest.approx(1 / 6)  # only 3 - 7 is news
    must, cannot = A8[clues.must], A8[clues.cannot]
    # Clues sorts its links; the example has the cannot-links in the order (2, 7), (3, 4), (1, 5).
    order = [clues.cannot.tolist().index(pair) for pair in CANNOT]
    expected = [[0.110644, 0, 0], [1.399108, 1.503123, 1.48033], [0, 0, 0.57638]]
    np.testing.assert_allclose(overlap(must, cannot)[:, order], expected, atol=1e-6)
    back = [[1.019804, 0, 0], [1.526434, 1.526434, 1.526434], [0, 0, 0.021693]]
    np.testing.assert_allclose(overlap(cannot, must).T[:, order], back, atol=1e-6)
    assert coherence(A8, clues) == pytest.approx(4 / 9)


def test_worked_examples_agree_with_the_specification(spec_folder):
    told = json.loads((spec_folder / "survey-worked-examples.json").read_text("utf-8"))
    X, cases = np.array(told["A8"]), told["examples"]
    u = cases["utility"]
    clues = Clues(8, must=u["ML"], cannot=u["CL"])
    assert informativeness(u["labels_unconstrained"], clues) == pytest.approx(u["informativeness"], abs=1e-6)
    ml, cl = X[np.array(u["ML"])], X[np.array(u["CL"])]
    np.testing.assert_allclose(overlap(ml, cl), u["overlap_ml_on_cl"], atol=1e-6)
    np.testing.assert_allclose(overlap(cl, ml).T, u["overlap_cl_on_ml"], atol=1e-6)
    assert coherence(X, clues) == pytest.approx(u["coherence"], abs=1e-6)
    assert metric_agreement(X, clues) == cases["metric_agreement"]["A8"]
    r = cases["redundancy"]
    assert redundancy(Clues(r["n"], must=r["ML"], cannot=r["CL"])) == pytest.approx(r["fraction"], abs=1e-6)
    for case in cases["overlap_counterexamples"]["cases"]:
        b = cases["overlap_counterexamples"]["b"]
        assert overlap(case["a"], b)[0, 0] == case["exact"]
        assert overlap(case["a"], b, profile="published")[0, 0] == case["published"]


def test_tic_tac_toe_boards_mislead():
    boards = ["xxxxooo--", "xxoxoxo--", "ooxoxxxxo"]
    X = np.array([[float(cell == sign) for cell in board for sign in "xo-"] for board in boards])
    # One-hot rows are as far apart as twice the root of half the Hamming distance 2, 8, 8.
    assert metric_agreement(X, Clues(3, must=[(0, 2)], cannot=[(0, 1)])) == 0.0


def test_redundancy_by_hand():
    assert redundancy(Clues(8, must=[(0, 1), (1, 2), (0, 2), (4, 5)], cannot=[(2, 4), (0, 5), (3, 7)])) == 5 / 7
    # Two labels of one class and a must-link between them: any one of the three follows from the others.
    assert redundancy(Clues(3, labels=[0, 0, -1], must=[(0, 1)])) == 1.0
    assert redundancy(Clues(3, labels=[0, 1, -1])) == 0.0
    assert redundancy(Clues(3, labels=[0, 1, -1], cannot=[(0, 1)])) == pytest.approx(1 / 3)
    assert redundancy(Clues(4, together=["a", "a", "b", "b"], must=[(0, 1)])) == pytest.approx(3 / 5)
    assert redundancy(Clues(4, apart=["a", "a", "a", None], cannot=[(0, 1), (2, 3)])) == 0.5
    assert np.isnan(redundancy(Clues(4)))
    assert np.isnan(redundancy(Clues(4, sizes=(1, 3))))


# --- properties -------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_coherence_and_overlap_keep_their_properties(seed):
    X, clues = drawn(seed)
    rng = np.random.default_rng(seed + 1)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    value = coherence(X, clues)
    assert 0 <= value <= 1
    for other in (X @ turn, X + 1e3, X * 1e-5, X * 1e5, (X @ turn) * 7 + 3):
        assert coherence(other, clues) == pytest.approx(value)
    a, b = X[clues.must], X[clues.cannot]
    found = overlap(a, b)
    np.testing.assert_allclose(found, overlap(a[:, ::-1], b), atol=1e-9)
    np.testing.assert_allclose(found, overlap(a, b[:, ::-1]), atol=1e-9)
    lengths = np.linalg.norm(b[:, 1] - b[:, 0], axis=1)
    unit = (b[:, 1] - b[:, 0]) / lengths[:, None]
    projected = np.abs((a[:, 1] - a[:, 0]) @ unit.T)
    assert (found <= np.minimum(lengths, projected) + 1e-9).all()
    share = [_plain_overlap(p, q) <= 1e-12 and _plain_overlap(q, p) <= 1e-12 for p in a for q in b]
    assert value == pytest.approx(np.mean(share))


def _plain_overlap(a, b):
    """11.2, one pair of segments at a time."""
    length = np.linalg.norm(b[1] - b[0])
    if length == 0:
        return 0.0
    t = sorted((end - b[0]) @ (b[1] - b[0]) / length for end in a)
    return max(0.0, min(t[1], length) - max(t[0], 0.0))


def test_the_fourth_case_and_the_order_of_ends_of_the_published_rule():
    b = [[0.0, 0], [4, 0]]
    assert overlap([[1.0, 0], [-3, 0]], b, profile="published")[0, 0] == 1.0  # E56: D(b1, p1)
    assert overlap([[-3.0, 0], [1, 0]], b, profile="published")[0, 0] == 1.0
    assert overlap([[1.0, 0], [3, 0]], b, profile="published")[0, 0] == 2.0
    assert overlap([[4.5, 1], [6, 1]], b[::-1], profile="published")[0, 0] == 0.0  # E57: reversed, another number
    assert overlap([[1.0, 0], [1, 0]], [[2.0, 2], [2, 2]])[0, 0] == 0.0


def test_coherence_of_the_published_rule_differs():
    X = [[0.0, 0], [4, 0], [4.5, 1], [6, 1]]
    clues = Clues(4, must=[(2, 3)], cannot=[(0, 1)])
    assert coherence(X, clues) == 1.0
    assert coherence(X, clues, profile="published") == 0.0


def test_links_that_only_touch_are_coherent():
    X = np.random.default_rng(0).normal(size=(3, 5)) * 1e4
    X[2] = X[1] + (X[1] - X[0])  # in line, beyond the common end
    assert coherence(X, Clues(3, must=[(0, 1)], cannot=[(1, 2)])) == 1.0
    assert coherence(X, Clues(3, must=[(0, 2)], cannot=[(1, 2)])) == 0.0


def test_nothing_to_conflict():
    assert coherence(A8, Clues(8)) == coherence(A8, Clues(8, must=[(0, 1)])) == 1.0
    assert np.isnan(metric_agreement(A8, Clues(8, must=[(0, 1)])))
    assert np.isnan(predictability(A8, Clues(8, must=[(0, 1)], cannot=[(0, 2), (1, 4)])))
    assert np.isnan(informativeness(PLAIN, Clues(8)))
    assert np.isnan(informativeness(PLAIN, Clues(8, avoid=PLAIN)))


@given(st.integers(0, 10**6))
def test_clues_read_off_a_clustering_are_no_news(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=20)
    links = np.array(list(combinations(range(20), 2)))[rng.permutation(190)[:15]]
    same = labels[links[:, 0]] == labels[links[:, 1]]
    clues = Clues(20, must=links[same], cannot=links[~same], labels=np.where(rng.random(20) < 0.3, labels, -1))
    assert informativeness(labels, clues) == 0.0
    assert 0 <= informativeness(rng.integers(3, size=20), clues) <= 1
    assert informativeness(labels, Clues(20, must=links[~same], cannot=links[same])) == 1.0


def test_informativeness_is_weighted_and_averaged():
    clues = Clues(4, must=[(0, 1), (2, 3)], must_weight=[3.0, 1.0])
    assert informativeness([0, 1, 0, 0], clues) == 0.75
    assert informativeness([[0, 1, 0, 0], [0, 0, 0, 0]], clues) == 0.375
    hard = Clues(4, must=[(0, 1), (2, 3)], must_weight=[np.inf, 1.0])
    assert informativeness([0, 1, 0, 0], hard) == 0.5
    assert informativeness([0, 1, 0, 0], Clues(4, must=[(0, 1)], must_weight=[np.inf])) == 1.0
    both = Clues(4, labels=[0, 0, 1, 1], together=["a", "a", "b", None], apart=["a", "b", "b", "c"])
    # One label astray, the group of rows 0 and 1 is split, rows 1 and 2 are together; single rows do not count.
    assert informativeness([0, 1, 1, 1], both) == pytest.approx(3 / 6)
    assert informativeness([0, 0, 1, 1], Clues(4, partitions=[0, 1, 1, -1])) == pytest.approx(1 / 3)


# --- distances, neighbors, cycles against other ways to get them ------------------------------------------


@given(st.integers(0, 10**6))
def test_metric_agreement_is_an_area_under_the_curve(seed):
    X, clues = drawn(seed)
    X = np.round(X)  # ties
    links = np.concatenate([clues.must, clues.cannot])
    apart = np.linalg.norm(X[links[:, 0]] - X[links[:, 1]], axis=1)
    kind = np.arange(len(links)) >= len(clues.must)
    assert metric_agreement(X, clues) == pytest.approx(roc_auc_score(kind, apart))


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_predictability_by_brute_force(seed, n_neighbors):
    X, clues = drawn(seed)
    links = np.concatenate([clues.must, clues.cannot])
    is_must = np.arange(len(links)) < len(clues.must)
    right = []
    voters = min(n_neighbors, len(clues.must) - 1, len(clues.cannot) - 1)
    voters -= voters % 2 == 0
    for i, (a, b) in enumerate(X[links]):
        others = []
        for j, (c, d) in enumerate(X[links]):
            straight = ((a - c) ** 2).sum() + ((b - d) ** 2).sum()
            crossed = ((a - d) ** 2).sum() + ((b - c) ** 2).sum()
            others += [] if i == j else [(min(straight, crossed), is_must[j])]
        votes = [1 if must else -1 for _, must in sorted(others)[:voters]]
        right.append((sum(votes) > 0) == is_must[i])
    right = np.array(right)
    expected = (right[is_must].mean() + right[~is_must].mean()) / 2
    assert predictability(X, clues, n_neighbors=n_neighbors) == pytest.approx(expected)


def test_of_few_links_fewer_vote_so_that_those_of_a_kind_are_not_outvoted():
    X = [[0.0], [0.1], [0.2], [0.3], [0.4], [0.5], [9.0], [9.1], [9.2]]
    clues = Clues(9, must=[(0, 1), (2, 3), (4, 5)], cannot=[(0, 6), (1, 7), (2, 8)])
    assert predictability(X, clues) == 1.0


@given(st.integers(0, 10**6))
def test_cycles_by_leaving_out_each_edge(seed):
    rng = np.random.default_rng(seed)
    n = 9
    pairs = np.array(list(combinations(range(n), 2)))
    edges = pairs[rng.permutation(len(pairs))[: rng.integers(1, 14)]]
    for e, found in enumerate(find_cycle_edges(edges, n)):
        rest = Clues(n, must=np.delete(edges, e, axis=0)).components
        assert found == (rest[edges[e, 0]] == rest[edges[e, 1]])


@given(st.integers(0, 10**6))
def test_redundancy_by_leaving_out_each_link(seed):
    _, clues = drawn(seed, n=8)
    if clues.contradictions:
        clues = Clues(8, must=clues.must)
    entailed = 0
    for e in range(len(clues.must)):
        rest = Clues(8, must=np.delete(clues.must, e, axis=0)).components
        entailed += rest[clues.must[e, 0]] == rest[clues.must[e, 1]]
    ends = [tuple(sorted(pair)) for pair in clues.components[clues.cannot].tolist()]
    entailed += sum(ends.count(pair) > 1 for pair in ends)
    assert redundancy(clues) == pytest.approx(entailed / (len(clues.must) + len(clues.cannot)))


# --- many clues, odd data ---------------------------------------------------------------------------------


def test_labels_and_groups_count_as_their_pairs():
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(12, 2)), np.where(np.arange(12) < 8, np.arange(12) % 3, -1)
    clues = Clues(
        12, labels=labels, must=[(9, 10)], apart=["a", "a", *[None] * 9, "a"], together=[*[None] * 10, "b", "b"]
    )
    must, _, cannot, _ = clues.pairs(expand=True)
    written = Clues(12, must=must, cannot=cannot)
    assert coherence(X, clues) == coherence(X, written)
    assert metric_agreement(X, clues) == metric_agreement(X, written)
    assert predictability(X, clues) == predictability(X, written)


def test_above_the_limit_some_pairs_are_drawn():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=3000)
    clues = Clues(3000, labels=labels)
    for limit in (50, 2000):
        must, cannot = segments.sample_links(clues, limit)
        assert 0 < len(must) <= limit
        assert 0 < len(cannot) <= limit
        assert (labels[must[:, 0]] == labels[must[:, 1]]).all()
        assert (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()
        again = segments.sample_links(clues, limit)
        assert np.array_equal(must, again[0])
        assert np.array_equal(cannot, again[1])
    pairs = rng.permutation(3000).reshape(-1, 2)
    links = Clues(3000, must=pairs[:1000], cannot=pairs[1000:], together=[*"aa", *[None] * 2998])
    must, cannot = segments.sample_links(links, 100)
    assert (len(must), len(cannot)) == (100, 100)
    given = set(map(tuple, links.pairs(expand=True)[0].tolist()))
    assert set(map(tuple, must.tolist())) <= given
    X = np.column_stack([labels * 10.0, rng.normal(size=3000)])
    assert metric_agreement(X, clues, limit=500) == 1.0


def test_blocks_do_not_change_the_sum(monkeypatch):
    X, clues = drawn(5)
    whole = coherence(X, clues), coherence(X, clues, profile="published")
    monkeypatch.setattr(segments, "_BLOCK", 1)
    assert (coherence(X, clues), coherence(X, clues, profile="published")) == whole


def test_duplicates_sparse_frames_and_lists():
    clues = eight()
    assert coherence(csr_matrix(A8), clues) == coherence(A8.tolist(), clues) == coherence(A8, clues)
    assert coherence(A8.astype(np.float32), clues) == pytest.approx(4 / 9)
    same = np.zeros((8, 2))
    assert coherence(same, clues) == 1.0
    assert metric_agreement(same, clues) == 0.5
    assert 0 <= predictability(same, clues) <= 1
    frozen = A8.copy()
    frozen.flags.writeable = False
    assert metric_agreement(frozen, clues) == 1.0


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="profile is 'odd'"):
        coherence(A8, Clues(8), profile="odd")
    with pytest.raises(ValueError, match="profile is 'odd'"):
        overlap(A8[:2], A8[:2], profile="odd")
    with pytest.raises(ValueError, match="segments need shapes"):
        overlap(A8[:3], A8[:2])
    with pytest.raises(ClueError, match="8 rows"):
        coherence(A8[:5], eight())
    with pytest.raises(ValueError, match="nan or infinity"):
        coherence(np.full((8, 2), np.nan), eight())
    with pytest.raises(ValueError, match="n_neighbors is 0"):
        predictability(A8, eight(), n_neighbors=0)
