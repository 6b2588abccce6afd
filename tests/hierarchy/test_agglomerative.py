"""Constrained agglomerative clustering: worked examples, brute force, SciPy, and levels that keep every clue."""

import itertools
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, dendrogram, is_valid_linkage
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.exceptions import NotFittedError

from cluewise import Clues, datasets
from cluewise.core.trees import linkage_means, linkage_pairs
from cluewise.exceptions import Contradiction, Infeasible
from cluewise.hierarchy import ConstrainedAgglomerative
from cluewise.metrics import ari
from strategies import random_case

A8 = [(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)]
EXAMPLE = Clues(8, must=[(3, 7)], cannot=[(2, 7), (1, 5)])
LINKAGES = ["single", "average", "complete", "centroid", "ward"]
BY_PAIRS = ["single", "average", "complete"]


def sets(labels):
    """A partition as a set of sets."""
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)}


def members(Z):
    """Rows of every node of a linkage matrix."""
    n = len(Z) + 1
    found = [{i} for i in range(n)]
    for a, b in Z[:, :2].astype(int):
        found.append(found[a] | found[b])
    return found


def far(linkage, X, D, a, b):
    """Distance of two clusters, by the book."""
    a, b = sorted(a), sorted(b)
    between = D[np.ix_(a, b)]
    apart = float(np.linalg.norm(X[a].mean(axis=0) - X[b].mean(axis=0)))
    return {
        "single": between.min(),
        "complete": between.max(),
        "average": between.mean(),
        "centroid": apart,
        "ward": np.sqrt(2 * len(a) * len(b) / (len(a) + len(b))) * apart,
    }[linkage]


def greedy(linkage, X, clues, most=np.inf, able=None):
    """Unions (left, right, height) and partitions of every level, by trying all pairs."""
    X = np.asarray(X, dtype=float)
    D = cdist(X, X)
    clusters = [frozenset(np.flatnonzero(clues.components == c).tolist()) for c in range(clues.n_components)]
    forbidden = {frozenset(pair) for pair in clues.pairs(expand=True)[2].tolist()}
    levels, unions = [set(clusters)], []
    while True:
        options = [
            (far(linkage, X, D, a, b), min(a), min(b), a, b)
            for a, b in itertools.combinations(sorted(clusters, key=min), 2)
            if not any(frozenset((i, j)) in forbidden for i in a for j in b)
        ]
        options = [option for option in options if option[0] <= most]
        if able is not None:
            options = [
                option
                for option in options
                if able([c for c in clusters if c not in option[3:]] + [option[3] | option[4]])
            ]
        if not options:
            return unions, levels
        height, _, _, a, b = min(options)
        clusters = [c for c in clusters if c not in (a, b)] + [a | b]
        unions.append((a, b, height))
        levels.append(set(clusters))


# --- worked examples --------------------------------------------------------------------------------------------------

WORKED = {
    "single": [
        ({0}, {2}, 0.905539),
        ({4}, {6}, 0.921954),
        ({0, 2}, {1}, 1.019804),
        ({4, 6}, {5}, 1.019804),
        ({3, 7}, {4, 5, 6}, 2.126029),
    ],
    "average": [
        ({0}, {2}, 0.905539),
        ({4}, {6}, 0.921954),
        ({4, 6}, {5}, 1.189975),
        ({0, 2}, {1}, 1.220535),
        ({3, 7}, {4, 5, 6}, 3.363933),
    ],
    "complete": [
        ({0}, {2}, 0.905539),
        ({4}, {6}, 0.921954),
        ({4, 6}, {5}, 1.360147),
        ({0, 2}, {1}, 1.421267),
        ({3, 7}, {4, 5, 6}, 4.440721),
    ],
    "centroid": [
        ({0}, {2}, 0.905539),
        ({4}, {6}, 0.921954),
        ({4, 6}, {5}, 1.11018),
        ({0, 2}, {1}, 1.151086),
        ({3, 7}, {4, 5, 6}, 3.312644),
    ],
}


@pytest.mark.parametrize("linkage", WORKED)
def test_worked_example(linkage):
    model = ConstrainedAgglomerative(2, linkage=linkage).fit(A8, clues=EXAMPLE)
    assert (model.k_max_, model.k_min_) == (7, 2)
    Z, nodes = model.linkage_, members(model.linkage_)
    assert [nodes[i] for i in Z[0, :2].astype(int)] == [{3}, {7}]
    assert Z[0, 2] == 0
    # Rows 0-1 and 4-5 are equally far apart but for rounding, so the order of their unions is open.
    found = {frozenset(frozenset(nodes[int(i)]) for i in row[:2]): row[2] for row in Z[1:6]}
    expected = {frozenset((frozenset(a), frozenset(b))): height for a, b, height in WORKED[linkage]}
    assert found == pytest.approx(expected, abs=2e-6)
    np.testing.assert_allclose(model.trace_, [height for *_, height in WORKED[linkage]], atol=2e-6)
    assert sets(model.labels_) == {frozenset({0, 1, 2}), frozenset({3, 4, 5, 6, 7})}
    assert model.objective_ == pytest.approx(WORKED[linkage][-1][2], abs=2e-6)
    assert model.n_iter_ == 5
    assert model.forbidden_.tolist() == [False] * 6 + [True]
    assert not model.broken_.kinds


def test_worked_example_with_gamma():
    """[agglomerative_gamma]: nothing farther apart than 1.5 is joined."""
    model = ConstrainedAgglomerative(None, linkage="centroid", max_distance=1.5).fit(A8, clues=EXAMPLE)
    assert model.k_min_ == model.n_clusters_ == 3
    assert sets(model.labels_) == {frozenset({0, 1, 2}), frozenset({3, 7}), frozenset({4, 5, 6})}
    np.testing.assert_allclose(model.trace_, [0.905539, 0.921954, 1.11018, 1.151086], atol=2e-6)
    assert model.forbidden_.tolist() == [False] * 5 + [True] * 2


def test_e4_the_closest_pair_that_may_be_joined():
    """As printed the loop would join the closest pair, rows 0 and 1, although they must be apart."""
    X = [[0.0], [1.0], [3.0], [9.0]]
    model = ConstrainedAgglomerative(2, linkage="single").fit(X, clues=Clues(4, cannot=[(0, 1)]))
    assert sets(model.labels_) == {frozenset({0}), frozenset({1, 2, 3})}
    assert model.trace_.tolist() == [2, 6]


def test_f5_single_linkage_needs_more_than_the_spanning_tree():
    """The tree's edges are 0-1, 1-2, 2-3; once 1-2 is refused, 3 reaches 0 and 1 only by an edge outside the tree."""
    D = squareform([1.0, 6, 5, 2, 4.5, 3])  # 01 02 03 12 13 23
    clues = Clues(4, cannot=[(1, 2), (2, 3)])
    model = ConstrainedAgglomerative(2, linkage="single", metric="precomputed").fit(D, clues=clues)
    assert model.trace_.tolist() == [1, 4.5]
    assert sets(model.labels_) == {frozenset({0, 1, 3}), frozenset({2})}


# --- brute force and SciPy --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("linkage", LINKAGES)
@given(st.integers(0, 2**20))
def test_brute_force_on_eight_rows(linkage, seed):
    X, clues = random_case(seed)
    unions, levels = greedy(linkage, X, clues)
    model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues)
    assert (model.k_max_, model.k_min_) == (len(levels[0]), len(levels[-1]))
    np.testing.assert_allclose(model.trace_, [height for *_, height in unions], rtol=1e-9)
    for level in levels:
        assert sets(model.cut(n_clusters=len(level))) == level


@pytest.mark.parametrize("linkage", LINKAGES)
@given(st.integers(0, 2**20), st.booleans())
def test_every_union_is_a_closest_one_where_distances_tie(linkage, seed, with_clues):
    """On a grid many distances are equal; whichever goes first, it joins two clusters that none are closer than."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 10))
    X = rng.integers(4, size=(n, 2)).astype(float)
    clues = Clues(n, cannot=[rng.choice(n, 2, replace=False) for _ in range(2)]) if with_clues else Clues(n)
    forbidden = {frozenset(pair) for pair in clues.pairs(expand=True)[2].tolist()}
    model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues)
    nodes, D = members(model.linkage_), cdist(X, X)
    clusters = nodes[:n]
    for (a, b, height, _), over in zip(model.linkage_, model.forbidden_):
        options = [
            far(linkage, X, D, one, other)
            for one, other in itertools.combinations(clusters, 2)
            if not any(frozenset((i, j)) in forbidden for i in one for j in other)
        ]
        if over:
            assert not options
            break
        one, other = nodes[int(a)], nodes[int(b)]
        assert np.isclose(far(linkage, X, D, one, other), min(options), atol=1e-9)
        assert np.isclose(height, min(options), atol=1e-9)
        clusters = [c for c in clusters if c not in (one, other)] + [one | other]


def test_ties_of_four_rows():
    labels = ConstrainedAgglomerative(3, linkage="single").fit([[3, 0], [3, 3], [1, 1], [2, 2]]).labels_
    assert sets(labels) in (
        {frozenset({1, 3}), frozenset({0}), frozenset({2})},
        {frozenset({2, 3}), frozenset({0}), frozenset({1})},
    )


@pytest.mark.parametrize("linkage", LINKAGES)
@given(st.integers(0, 2**20), st.floats(0.1, 2.5))
def test_max_distance_is_brute_force_that_refuses_far_clusters(linkage, seed, gamma):
    X, clues = random_case(seed, 12, groups=False)
    unions, levels = greedy(linkage, X, clues, most=gamma)
    model = ConstrainedAgglomerative(None, linkage=linkage, max_distance=gamma).fit(X, clues=clues)
    np.testing.assert_allclose(model.trace_, [height for *_, height in unions], rtol=1e-9)
    assert sets(model.labels_) == levels[-1]


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("n", [2, 3, 40, 300])
def test_without_clues_it_is_scipys_linkage(linkage, n):
    X = np.random.default_rng(n).normal(size=(n, 5)) + 1000
    expected = scipy_linkage(X, linkage)
    model = ConstrainedAgglomerative(1, linkage=linkage).fit(X)
    np.testing.assert_allclose(model.linkage_, expected, rtol=1e-9)
    assert not model.forbidden_.any()
    assert (model.k_max_, model.k_min_) == (n, 1)
    if linkage == "centroid":  # cut by SciPy, it needs heights that rise
        return
    for k in range(1, n + 1, max(n // 10, 1)):
        assert ari(cut_tree(expected, k).ravel(), model.cut(n_clusters=k)) == 1


@given(st.integers(0, 2**20))
def test_ward_of_many_columns(seed):
    """By a table where it may take memory, without one where not: the same tree, which is SciPy's without clues."""
    X, clues = random_case(seed, 20)
    X = np.hstack([X, np.random.default_rng(seed).normal(size=(20, 58))])
    table = ConstrainedAgglomerative(None).fit(X, clues=clues)
    with mock.patch.object(linkage_pairs, "table_bytes", return_value=2**60):
        means = ConstrainedAgglomerative(None).fit(X, clues=clues)
    np.testing.assert_allclose(table.linkage_, means.linkage_, rtol=1e-9)
    np.testing.assert_allclose(ConstrainedAgglomerative(1).fit(X).linkage_, scipy_linkage(X, "ward"), rtol=1e-9)


@pytest.mark.parametrize("metric", ["cityblock", "cosine", "chebyshev", "correlation"])
@pytest.mark.parametrize("linkage", BY_PAIRS)
def test_other_metrics(metric, linkage):
    X = np.random.default_rng(0).normal(size=(60, 6))
    model = ConstrainedAgglomerative(1, linkage=linkage, metric=metric).fit(X)
    np.testing.assert_allclose(model.linkage_, scipy_linkage(X, linkage, metric), rtol=1e-9)


def test_a_function_as_metric():
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = ConstrainedAgglomerative(1, linkage="average", metric=lambda a, b: np.abs(a - b).sum()).fit(X)
    np.testing.assert_allclose(model.distances_, scipy_linkage(X, "average", "cityblock")[:, 2])


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (lambda a, b: -abs(a[0] - b[0]), r"between rows 0 and 1 is -.*; distances are not negative"),
        (lambda a, b: max(a[0] - b[0], 0.0), r"between rows 0 and 1 is .*, but .* the other way round"),
    ],
)
def test_a_function_that_is_no_metric(metric, words):
    with pytest.raises(ValueError, match=words):
        ConstrainedAgglomerative(2, linkage="complete", metric=metric).fit(A8)


@pytest.mark.parametrize("linkage", BY_PAIRS)
@given(st.integers(0, 2**20))
def test_precomputed_distances(linkage, seed):
    X, clues = random_case(seed, 15)
    rows = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues)
    table = ConstrainedAgglomerative(None, linkage=linkage, metric="precomputed").fit(cdist(X, X), clues=clues)
    np.testing.assert_allclose(table.linkage_, rows.linkage_, rtol=1e-9)


@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
@given(st.integers(0, 2**20))
def test_must_links_only_are_scipys_linkage_after_contraction(linkage, seed):
    """4.1: no cannot-link, so SciPy sees distance 0 inside the components, and averages over pairs of rows."""
    X, clues = random_case(seed, 14, groups=False)
    clues = clues.only(["must"])
    m = clues.n_components
    D = cdist(X, X)
    combine = {"single": np.min, "complete": np.max, "average": np.mean}[linkage]
    of = [np.flatnonzero(clues.components == c) for c in range(m)]
    small = np.array([[combine(D[np.ix_(a, b)]) for b in of] for a in of])
    small = np.triu(small, 1) + np.triu(small, 1).T
    model = ConstrainedAgglomerative(1, linkage=linkage).fit(X, clues=clues)
    if linkage != "average":  # SciPy would count components instead of rows
        np.testing.assert_allclose(model.trace_, scipy_linkage(squareform(small), linkage)[:, 2])
    repeated = np.array([[small[clues.components[i], clues.components[j]] for j in range(14)] for i in range(14)])
    whole = scipy_linkage(squareform(repeated), linkage)
    np.testing.assert_allclose(model.distances_, whole[:, 2], rtol=1e-9, atol=1e-12)
    assert model.k_max_ == m


def test_ward_of_components_is_ward_of_their_rows():
    """Rows that lie in one place and must be together are one heavy row: as if SciPy had joined them at height 0."""
    rng = np.random.default_rng(0)
    places = rng.normal(size=(20, 3))
    row = np.repeat(np.arange(20), rng.integers(1, 5, size=20))
    model = ConstrainedAgglomerative(1).fit(places[row], clues=Clues(len(row), together=row))
    np.testing.assert_allclose(model.distances_, scipy_linkage(places[row], "ward")[:, 2], atol=1e-12)


# --- what every tree keeps --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("linkage", LINKAGES)
@given(st.integers(0, 2**20))
def test_every_level_keeps_every_clue_and_levels_are_nested(linkage, seed):
    X, clues = random_case(seed, 25)
    X = np.round(X, 1)  # ties, too
    model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues)
    must, _, cannot, _ = clues.pairs(expand=True)
    finer = None
    for k in range(model.k_max_, model.k_min_ - 1, -1):
        labels = model.cut(n_clusters=k)
        assert set(labels.tolist()) == set(range(k))
        assert (labels[must[:, 0]] == labels[must[:, 1]]).all()
        assert (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()
        sizes = np.bincount(labels)
        assert (np.diff(sizes) <= 0).all()
        if finer is not None:
            assert all(len(set(labels[finer == c])) == 1 for c in range(k + 1))
        finer = labels
    last = sets(finer)
    for a, b in itertools.combinations(last, 2):  # a dead end: any two of the clusters exclude each other
        assert any({i, j} in [set(pair) for pair in cannot.tolist()] for i in a for j in b)
    if linkage != "centroid":
        assert (np.diff(model.trace_) >= -1e-9).all()
    assert model.k_max_ == clues.n_components


@pytest.mark.parametrize("linkage", LINKAGES)
def test_scipy_can_draw_the_tree(linkage):
    X, clues = random_case(9, 30)
    model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues)
    assert model.k_min_ > 1
    assert is_valid_linkage(model.linkage_)
    drawn = dendrogram(model.linkage_, no_plot=True)
    assert sorted(drawn["leaves"]) == list(range(30))
    top = model.linkage_[model.forbidden_, 2]
    assert len(top) == model.k_min_ - 1
    assert np.unique(top).tolist() == [pytest.approx(1.25 * model.linkage_[~model.forbidden_, 2].max())]
    assert (model.children_ == model.linkage_[:, :2]).all()
    assert (model.distances_ == model.linkage_[:, 2]).all()


def test_gamma_of_infinity_and_of_any_pivot_change_nothing():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(90, 3)), rng.normal(size=(90, 3)) + 8])
    clues = Clues.sample(np.repeat([0, 1], 90), pairs=60, random_state=0)
    plain = ConstrainedAgglomerative(None, linkage="centroid").fit(X, clues=clues)
    for gamma in (1e9, 20.0):
        wide = ConstrainedAgglomerative(None, linkage="centroid", max_distance=gamma).fit(X, clues=clues)
        np.testing.assert_allclose(wide.linkage_, plain.linkage_)
    near = ConstrainedAgglomerative(None, linkage="centroid", max_distance=1.2).fit(X, clues=clues)
    below = plain.trace_[: len(near.trace_)]
    np.testing.assert_allclose(near.trace_, below)
    assert plain.trace_[len(below)] > 1.2


def test_screening_skips_the_pairs_of_the_worked_example():
    """[gamma_screen]: 14 of the 21 pairs without the pivot are skipped; of its own 7 pairs two are within 1.5."""
    from cluewise.kernels import linkage_centers as kernel

    means = np.array(A8, dtype=float).T.copy()
    pivot = np.hypot(*(means - means[:, :1]))
    np.testing.assert_allclose(pivot, [0, 1.019804, 0.905539, 2, 5.586591, 6.220129, 6.378087, 3.465545], atol=2e-6)
    order = np.argsort(pivot)
    place = np.argsort(order)
    none = linkage_means.means_of(np.array(A8, dtype=float), Clues(8))
    low, high, room = np.empty(8), np.empty(8), np.empty(8)  # blocks of one center
    at = np.array([1, 8, 8, 0, 0, 0])
    unions = np.empty(8, np.int64), np.empty(8, np.int64), np.empty(8)
    state = (means[:, order].copy(), np.ones(8), order.copy(), place, np.full(8, -1), np.full(8, np.inf))
    calls = 0
    while at[4] < 8 or calls == 0:  # one search per call
        kernel.closest_means(
            *state, none.bits, none.bound, none.owner, means[:, 0], pivot[order], low, high, room, at, *unions, 1.5, 1
        )
        calls += 1
    assert at[5] == 21 - 14 + 2


# --- levels -----------------------------------------------------------------------------------------------------------


def test_distance_threshold_is_scikit_learns():
    from sklearn.cluster import AgglomerativeClustering

    X = np.random.default_rng(1).normal(size=(50, 3))
    heights = scipy_linkage(X, "ward")[:, 2]
    for threshold in (0.0, 1.0, float(heights[-5]), 1e9):
        theirs = AgglomerativeClustering(n_clusters=None, distance_threshold=threshold).fit(X)
        ours = ConstrainedAgglomerative(None, distance_threshold=threshold).fit(X)
        assert ours.n_clusters_ == theirs.n_clusters_
        assert ari(ours.labels_, theirs.labels_) == 1
        assert (ours.cut(distance=threshold) == ours.labels_).all()


def test_threshold_of_a_tree_whose_heights_fall():
    """Three corners of a triangle: the third joins the center of the others at a lower height than they joined."""
    X = [[0.0, 0], [1, 0], [0.5, 0.9]]
    model = ConstrainedAgglomerative(None, linkage="centroid", distance_threshold=0.95).fit(X)
    assert model.distances_[1] < 0.95 < model.distances_[0]
    assert model.n_clusters_ == 3


def test_must_links_hold_below_any_threshold():
    model = ConstrainedAgglomerative(None, distance_threshold=0.0).fit(
        [[0.0], [5.0], [9.0]], clues=Clues(3, must=[(0, 2)])
    )
    assert model.labels_.tolist() == [0, 1, 0]


def test_levels_that_do_not_exist():
    with pytest.raises(NotFittedError):
        ConstrainedAgglomerative().cut(n_clusters=2)
    model = ConstrainedAgglomerative(3, linkage="average").fit(A8, clues=EXAMPLE)
    with pytest.raises(Infeasible, match=r"n_clusters=1, but the tree ends at 2 clusters \(k_min\).* dead end"):
        model.cut(n_clusters=1)
    with pytest.raises(Infeasible, match=r"n_clusters=8, but must-links leave only 7 clusters \(k_max\)"):
        model.cut(n_clusters=8)
    with pytest.raises(ValueError, match="either n_clusters or distance"):
        model.cut()
    with pytest.raises(ValueError, match="either n_clusters or distance"):
        model.cut(n_clusters=2, distance=1.0)
    with pytest.raises(Infeasible, match="must-links leave only 7"):
        ConstrainedAgglomerative(8).fit(A8, clues=EXAMPLE)


def test_a_dead_end_and_the_way_round_it():
    """Two clusters would do ({0, 3} and {1, 2}); the closest pair, 1 and 3, leads to three."""
    X = [[0.0], [4.0], [9.0], [5.0]]
    clues = Clues(4, cannot=[(0, 1), (2, 3), (0, 2)])
    plain = ConstrainedAgglomerative(None, linkage="single").fit(X, clues=clues)
    assert (plain.n_clusters_, plain.n_detours_) == (3, 0)
    with pytest.raises(Infeasible, match=r"ends at 3 clusters \(k_min\).* dead end"):
        plain.cut(n_clusters=2)
    model = ConstrainedAgglomerative(2, linkage="single").fit(X, clues=clues)
    assert (model.n_clusters_, model.n_detours_, model.k_min_) == (2, 1, 2)
    assert sets(model.labels_) == {frozenset({0, 3}), frozenset({1, 2})}
    assert model.trace_.tolist() == [5, 5]


def colorable(clusters, forbidden, k):
    """Whether clusters can be joined to k at most, by trying everything."""
    clusters = list(clusters)
    apart = [[any(frozenset((i, j)) in forbidden for i in a for j in b) for b in clusters] for a in clusters]
    return any(
        not any(apart[i][j] and color[i] == color[j] for i in range(len(clusters)) for j in range(i))
        for color in itertools.product(range(k), repeat=len(clusters))
    )


@pytest.mark.parametrize("linkage", LINKAGES)
@given(st.integers(0, 2**20))
def test_detours_are_brute_force_that_looks_ahead(linkage, seed):
    """Among all pairs that may be joined, the closest after which three clusters are possible."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(8, 2)), rng.integers(3, size=8)
    pairs = np.array(list(itertools.combinations(range(8), 2)))
    pairs = pairs[rng.random(28) < 0.7]
    clues = Clues(8, cannot=pairs[y[pairs[:, 0]] != y[pairs[:, 1]]])
    forbidden = {frozenset(pair) for pair in clues.cannot.tolist()}
    unions, levels = greedy(linkage, X, clues, able=lambda clusters: colorable(clusters, forbidden, 3))
    model = ConstrainedAgglomerative(3, linkage=linkage).fit(X, clues=clues)
    plain = ConstrainedAgglomerative(None, linkage=linkage).fit(X, clues=clues)
    assert (model.n_detours_ > 0) == (plain.k_min_ > 3)
    for found in levels[: 8 - 3 + 1]:
        assert sets(model.cut(n_clusters=len(found))) == found
    np.testing.assert_allclose(model.trace_, [height for *_, height in unions[:5]], rtol=1e-9)


def test_detours_have_an_end(monkeypatch):
    from cluewise.hierarchy import _detours as linkage_detours

    monkeypatch.setattr(linkage_detours, "MOST", 0)
    clues = Clues(4, cannot=[(0, 1), (2, 3), (0, 2)])
    with pytest.raises(Infeasible, match=r"ends at 3 clusters \(k_min\)"):
        ConstrainedAgglomerative(2, linkage="single").fit([[0.0], [4.0], [9.0], [5.0]], clues=clues)


def test_contradictions_are_refused_with_their_chain():
    clues = Clues(8, must=[(0, 1), (1, 2)], cannot=[(0, 2)])
    with pytest.raises(Contradiction, match="must-links join them: 0 - 1 - 2") as caught:
        ConstrainedAgglomerative(None).fit(A8, clues=clues)
    assert caught.value.conflicts


@pytest.mark.needs_data
@pytest.mark.parametrize(
    "name", ["clusterincluster", "corners", "crescentfullmoon", "gaussians", "halfkernel", "twospirals"]
)
def test_patterns_of_any_shape(name):
    """With 1 % of the pairs single linkage finds all six patterns."""
    data = datasets.load(f"synth_{name}", standardize=True)
    n = len(data.y)
    clues = Clues.sample(data.y, pairs=n * (n - 1) // 200, random_state=0)
    model = ConstrainedAgglomerative(len(set(data.y.tolist())), linkage="single").fit(data.X, clues=clues)
    assert ari(data.y, model.labels_) >= 0.95


def test_a_golden_number():
    """Height of the last union, pinned."""
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 3)) + 3 * y[:, None]
    clues = Clues.sample(y, pairs=80, random_state=7)
    model = ConstrainedAgglomerative(3).fit(X, clues=clues)
    assert ari(y, model.labels_) == pytest.approx(0.974893, abs=1e-6)
    assert model.objective_ == pytest.approx(7.571815, abs=1e-6)
    assert model.k_min_ == 3
