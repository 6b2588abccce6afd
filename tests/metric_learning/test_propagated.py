"""Propagated distances: worked examples, full shortest paths, and the guards against going too far."""

import itertools
import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.pipeline import make_pipeline

from cluewise import Clues
from cluewise.exceptions import ClueWarning, SoftClueWarning
from cluewise.hierarchy import ConstrainedAgglomerative
from cluewise.metric_learning._propagated import PropagatedDistances
from cluewise.metrics import ari

A8 = [(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)]
KLEIN = Clues(8, must=[(3, 7)], cannot=[(2, 7)])
BOARDS = ["xxxxooo--", "xxoxoxo--", "ooxoxxxxo"]
TIC_TAC_TOE = Clues(3, must=[(0, 2)], cannot=[(0, 1)])


def random_case(seed, n=14):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] > 0).astype(int)
    return X, y, Clues.sample(y, pairs=int(rng.integers(1, n)), random_state=seed)


def floyd(D, must):
    """Step 3 in full: all-pairs shortest paths, every row a pivot."""
    D = D.copy()
    D[must[:, 0], must[:, 1]] = D[must[:, 1], must[:, 0]] = 0
    for k in range(len(D)):
        D = np.minimum(D, D[:, k, None] + D[k])
    return D


def hamming():
    letters = np.array([list(board) for board in BOARDS])
    return (letters[:, None] != letters).sum(axis=2).astype(float)


# --- worked examples --------------------------------------------------------------------------------------------------


def test_klein():
    """[klein]: rows 0 and 3 after step 3, the entry of the cannot-link, and complete linkage on top."""
    np.testing.assert_allclose(
        cdist(A8, A8)[0], [0, 1.019804, 0.905539, 2, 5.586591, 6.220129, 6.378087, 3.465545], atol=2e-6
    )
    D = PropagatedDistances().fit_transform(A8, clues=KLEIN)
    np.testing.assert_allclose(D[0], [0, 1.019804, 0.905539, 2, 4.126029, 4.863564, 4.920616, 2], atol=2e-6)
    np.testing.assert_allclose(D[3], [2, 1.523155, 1.529706, 0, 2.126029, 2.863564, 2.920616, 0], atol=2e-6)
    assert D[2, 7] == D[7, 2] == D.max() == pytest.approx(5.920616, abs=2e-6)
    Z = linkage(squareform(D), "complete")
    np.testing.assert_allclose(Z[:, 2], [0, 0.905539, 0.921954, 1.360147, 1.421267, 2.920616, 5.920616], atol=2e-6)
    assert ari(fcluster(Z, 2, "maxclust"), [1, 1, 1, 2, 2, 2, 2, 2]) == 1
    assert ari(fcluster(Z, 3, "maxclust"), [1, 1, 1, 2, 3, 3, 3, 2]) == 1
    ours = ConstrainedAgglomerative(3, linkage="complete", metric="precomputed").fit(D)
    np.testing.assert_allclose(ours.distances_, Z[:, 2])
    assert ari(ours.labels_, [1, 1, 1, 2, 3, 3, 3, 2]) == 1


def test_tic_tac_toe():
    """[tic_tac_toe]: as published, B is dragged to C; the guard by radius and the guard of sides both prevent it."""
    D = hamming()
    assert D.tolist() == [[0, 2, 8], [2, 0, 8], [8, 8, 0]]
    published = PropagatedDistances(metric="precomputed").fit_transform(D, clues=TIC_TAC_TOE)
    assert published.tolist() == [[0, 3, 0], [3, 0, 2], [0, 2, 0]]
    model = PropagatedDistances(metric="precomputed", radius="auto")
    guarded = model.fit_transform(D, clues=TIC_TAC_TOE)
    assert model.radius_ == 0
    assert (model.agreement_ == 0).all()  # the must-link is longer than the cannot-link: a warning beforehand
    assert guarded.tolist() == [[0, 9, 0], [9, 0, 8], [0, 8, 0]]
    sides = PropagatedDistances(metric="precomputed", cross_cannot=False).fit_transform(D, clues=TIC_TAC_TOE)
    assert sides.tolist() == [[0, 9, 0], [9, 0, 8], [0, 8, 0]]


def test_e8_one_maximum_for_all_cannot_links():
    clues = Clues(8, must=[(3, 7)], cannot=[(2, 7), (1, 5), (0, 4)])
    D = PropagatedDistances().fit_transform(A8, clues=clues)
    far = D[tuple(clues.cannot.T)]
    assert len(set(far)) == 1
    assert far[0] == np.delete(np.triu(D).ravel(), np.ravel_multi_index(clues.cannot.T, D.shape)).max() + 1


# --- 4.3: shortest paths ----------------------------------------------------------------------------------------------


@given(st.integers(0, 2**20))
def test_the_contracted_form_is_the_full_run(seed):
    X, _, clues = random_case(seed)
    expected = floyd(cdist(X, X), clues.must)
    must = clues.only(["must"])
    D = PropagatedDistances().fit_transform(X, clues=must)
    np.testing.assert_allclose(D, expected, atol=1e-12)
    assert (D == D.T).all()
    assert (cdist(X, X) >= D).all()
    for i, j in itertools.combinations(range(len(X)), 2):  # a metric again
        assert D[i, j] <= (D[i] + D[j]).min() + 1e-12
    same = clues.components[:, None] == clues.components
    assert (D[same] == 0).all()
    backwards = Clues(len(X), must=clues.must[::-1, ::-1])
    np.testing.assert_array_equal(PropagatedDistances().fit_transform(X, clues=backwards), D)


@given(st.integers(0, 2**20))
def test_lazy_pairs_are_those_of_the_matrix(seed):
    X, _, clues = random_case(seed)
    n = len(X)
    i, j = np.triu_indices(n, 1)
    for params in ({}, {"radius": 0.8}, {"cross_cannot": False}):
        model = PropagatedDistances(**params)
        D = model.fit_transform(X, clues=clues)
        lazy = model.between(i, j)
        cannot = np.zeros((n, n), dtype=bool)
        cannot[tuple(clues.cannot.T)] = True
        assert (lazy[cannot[i, j]] == np.inf).all()
        np.testing.assert_allclose(lazy[~cannot[i, j]], D[i, j][~cannot[i, j]], atol=1e-12)
        np.testing.assert_allclose(model.between(j, i), lazy)


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev", "precomputed"])
def test_other_metrics(metric):
    X, _, clues = random_case(3)
    plain = cdist(X, X, "euclidean" if metric == "precomputed" else metric)
    given_ = plain if metric == "precomputed" else X
    model = PropagatedDistances(metric=metric)
    D = model.fit_transform(given_, clues=clues.only(["must"]))
    np.testing.assert_allclose(D, floyd(plain, clues.must), atol=1e-12)
    np.testing.assert_allclose(model.between([0, 1], [5, 6]), D[[0, 1], [5, 6]])


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
@pytest.mark.parametrize("radius", [0.0, np.inf])
def test_rounding_leaves_no_distance_within_a_place(metric, radius):
    """The cosine distance of a row from itself is zero but for rounding."""
    X = np.random.default_rng(0).normal(size=(30, 5))
    clues = Clues(30, must=[(0, 1), (1, 2), (3, 4), (5, 6), (7, 8), (9, 10)])
    model = PropagatedDistances(metric=metric, radius=radius)
    D = model.fit_transform(X, clues=clues)
    same = clues.components[:, None] == clues.components
    assert (D[same] == 0).all()
    assert (model.between(*np.nonzero(same)) == 0).all()


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
@pytest.mark.parametrize("cross_cannot", [False, True])
def test_no_pairs_have_no_distances(metric, cross_cannot):
    model = PropagatedDistances(metric=metric, cross_cannot=cross_cannot).fit(A8, clues=KLEIN)
    assert model.between([], []).shape == (0,)


def test_without_clues_nothing_changes():
    X, _, _ = random_case(0)
    model = PropagatedDistances()
    np.testing.assert_array_equal(model.fit_transform(X), cdist(X, X))
    np.testing.assert_array_equal(model.transform(X), cdist(X, X))
    np.testing.assert_allclose(model.between([0], [3]), cdist(X, X)[0, 3])
    assert PropagatedDistances(radius="auto").fit(X).radius_ == 0


def test_new_rows_take_the_same_ways():
    """A new row is as near to the others as if it had been there before, without clues of its own."""
    X, _, clues = random_case(8, 20)
    must = clues.only(["must"])[np.arange(15)]
    whole = PropagatedDistances().fit_transform(
        X, clues=Clues(20, must=must.must)
    )  # rows 15 to 19 are no ends of must-links
    model = PropagatedDistances().fit(X[:15], clues=must)
    np.testing.assert_allclose(model.transform(X[15:]), whole[15:, :15], atol=1e-12)
    table = PropagatedDistances(metric="precomputed").fit(cdist(X[:15], X[:15]), clues=must)
    np.testing.assert_allclose(table.transform(cdist(X[15:], X[:15])), whole[15:, :15], atol=1e-12)
    assert model.get_feature_names_out().tolist() == [f"propagateddistances{i}" for i in range(15)]


def test_labels_and_groups_are_their_pairs():
    X, y, _ = random_case(5)
    column = np.where(np.arange(14) < 4, np.arange(14) % 2, -1)
    labels = np.where(np.arange(14) % 3 == 0, y, -1)
    groups = Clues(14, labels=labels, apart=[0 if i in (1, 2) else -1 for i in range(14)], together=column)
    must, _, cannot, _ = groups.pairs(expand=True)
    pairs = Clues(14, must=must, cannot=cannot)
    for params in ({}, {"cross_cannot": False}, {"radius": "auto"}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClueWarning)
            one = PropagatedDistances(**params).fit_transform(X, clues=groups)
            other = PropagatedDistances(**params).fit_transform(X, clues=pairs)
        np.testing.assert_allclose(one, other)


# --- 12.3: guards -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**20), st.floats(0, 3), st.floats(0, 3))
def test_a_larger_radius_never_lengthens_and_klein_is_the_end(seed, one, other):
    X, _, clues = random_case(seed)
    must = clues.only(["must"])
    small, large = sorted((one, other))
    near, far, klein = (
        PropagatedDistances(radius=radius).fit_transform(X, clues=must) for radius in (small, large, np.inf)
    )
    assert (far <= near + 1e-12).all()
    assert (klein <= far + 1e-12).all()
    np.testing.assert_allclose(PropagatedDistances(radius=1e9).fit_transform(X, clues=must), klein)


@given(st.integers(0, 2**20))
def test_radius_zero_changes_nothing_but_what_the_clues_say(seed):
    X, _, clues = random_case(seed)
    D = PropagatedDistances(radius=0).fit_transform(X, clues=clues)
    same = clues.components[:, None] == clues.components
    cannot = np.zeros(D.shape, dtype=bool)
    cannot[tuple(clues.cannot.T)] = cannot[tuple(clues.cannot.T[::-1])] = True
    np.testing.assert_array_equal(D[~same & ~cannot], cdist(X, X)[~same & ~cannot])
    assert (D[same] == 0).all()


def test_one_must_link_with_a_radius():
    """D′_ij = D_ia + D_bj where both are within the radius, by the formula."""
    X, _, _ = random_case(1)
    D, r = cdist(X, X), 0.9
    a, b = 2, 9
    found = PropagatedDistances(radius=r).fit_transform(X, clues=Clues(14, must=[(a, b)]))
    for i, j in itertools.product(range(14), repeat=2):
        ways = [D[i, j]]
        for x, y in ((a, b), (b, a)):
            if D[i, x] <= r and D[y, j] <= r:
                ways.append(D[i, x] + D[y, j])
        assert found[i, j] == pytest.approx(min(ways), abs=1e-12)


@given(st.integers(0, 2**20))
def test_sides_are_never_crossed(seed):
    X, _, clues = random_case(seed)
    D = PropagatedDistances(cross_cannot=False).fit_transform(X, clues=clues)
    _, _, cannot, _ = clues.pairs(expand=True)
    apart = {frozenset(edge) for edge in clues.components[cannot].tolist()}
    direct = {frozenset(pair) for pair in cannot.tolist()}
    plain, free = cdist(X, X), PropagatedDistances().fit_transform(X, clues=clues.only(["must"]))
    for i, j in itertools.combinations(range(14), 2):
        if frozenset((i, j)) in direct:
            assert D[i, j] == D.max()
        elif frozenset(clues.components[[i, j]].tolist()) in apart:
            assert D[i, j] == plain[i, j]
        else:
            assert D[i, j] == pytest.approx(free[i, j], abs=1e-12)


def stripes(seed=0):
    """Two long stripes: what belongs together is far apart along them, and near across."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 60)
    X = np.column_stack([np.tile(np.linspace(0, 12, 60), 2), 2 * y]) + 0.1 * rng.normal(size=(120, 2))
    return X, y


def test_the_guard_propagates_where_that_helps():
    X, y = stripes()
    clues = Clues.sample(y, pairs=80, random_state=0)
    model = PropagatedDistances(radius="auto")
    D = model.fit_transform(X, clues=clues)
    assert model.radius_ > 0
    assert model.agreement_[model.radii_ == 0] < 0.6
    assert model.agreement_.max() > 0.8
    chosen = np.flatnonzero(model.radii_ == model.radius_)[0]
    assert model.agreement_[chosen] > model.agreement_[0]
    plain = ConstrainedAgglomerative(2, linkage="complete").fit(X)
    moved = ConstrainedAgglomerative(2, linkage="complete", metric="precomputed").fit(D)
    assert ari(y, plain.labels_) < 0.1
    assert ari(y, moved.labels_) > 0.9


def test_the_guard_stays_at_home_where_classes_are_mixed():
    """Classes drawn at random: must-links say nothing about neighbors."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 3)), rng.integers(2, size=200)
        clues = Clues.sample(y, pairs=150, random_state=seed)
        assert PropagatedDistances(radius="auto").fit(X, clues=clues).radius_ == 0


def test_the_guard_needs_both_kinds():
    for clues in (Clues(8, must=[(3, 7)]), Clues(8, cannot=[(2, 7)])):
        assert PropagatedDistances(radius="auto").fit(A8, clues=clues).radius_ == 0


def test_a_guard_without_a_way_to_try():
    """The only hub consists of the two rows that are tried."""
    model = PropagatedDistances(radius="auto")
    with pytest.warns(ClueWarning, match="it counts as a cannot-link"):
        model.fit(A8, clues=Clues(8, must=[(3, 7)], cannot=[(3, 7)]))
    assert model.radii_.tolist() == [0]
    assert model.agreement_.tolist() == [0.5]
    assert model.radius_ == 0


def test_the_standard_error_is_hanley_and_mcneils():
    """By hand: area 0.8, 10 and 20 cases; Q1 = 2/3, Q2 = 1.28/1.8."""
    from cluewise.metric_learning._propagation_radius import _shorter, _standard_error

    variance = (0.16 + 9 * (2 / 3 - 0.64) + 19 * (1.28 / 1.8 - 0.64)) / 200
    assert _standard_error(0.8, 10, 20) == pytest.approx(np.sqrt(variance))
    assert _standard_error(1.0, 1, 1) == 0
    assert _shorter(np.array([1.0, 2]), np.array([2.0, 3])) == (1 + 1 + 0.5 + 1) / 4


# --- conduct ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("routing", [False, True])
def test_in_a_pipeline(routing):
    X, y = stripes()
    clues = Clues.sample(y, pairs=80, random_state=0)
    pipe = make_pipeline(PropagatedDistances(), ConstrainedAgglomerative(2, linkage="complete", metric="precomputed"))
    if routing:
        with sklearn.config_context(enable_metadata_routing=True):
            pipe.fit(X, clues=clues)
    else:
        pipe.fit(X, propagateddistances__clues=clues, constrainedagglomerative__clues=clues)
    assert ari(y, pipe[-1].labels_) > 0.9
    assert not pipe[-1].broken_.kinds


def test_contradictions_are_far_apart_with_a_warning():
    clues = Clues(8, must=[(3, 7)], cannot=[(3, 7)])
    with pytest.warns(ClueWarning, match="rows 3 and 7 must be apart.*it counts as a cannot-link"):
        D = PropagatedDistances().fit_transform(A8, clues=clues)
    assert D[3, 7] == D.max()


def test_weights_are_ignored_with_a_warning():
    clues = Clues(8, must=[(3, 7), (0, 1)], must_weight=[1, 2])
    with pytest.warns(SoftClueWarning, match="weights, which differ, are ignored"):
        PropagatedDistances().fit(A8, clues=clues)


def test_slices_change_nothing(monkeypatch):
    from cluewise.metric_learning import _propagation as propagation

    X, _, clues = random_case(2)
    whole = PropagatedDistances(cross_cannot=False).fit_transform(X, clues=clues)
    monkeypatch.setattr(propagation, "BLOCK", 20)
    np.testing.assert_allclose(PropagatedDistances(cross_cannot=False).fit_transform(X, clues=clues), whole)


def test_degenerate_rows():
    assert PropagatedDistances().fit_transform([[1.0]]).tolist() == [[0.0]]
    same = PropagatedDistances().fit_transform(np.ones((3, 2)), clues=Clues(3, must=[(0, 1)], cannot=[(1, 2)]))
    assert same.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    frozen = np.array(A8, dtype=np.float32)
    frozen.flags.writeable = False
    D = PropagatedDistances().fit_transform(frozen, clues=KLEIN)
    np.testing.assert_allclose(D, PropagatedDistances().fit_transform(A8, clues=KLEIN), atol=1e-5)


def test_what_cannot_be_is_said():
    with pytest.raises(MemoryError, match=r"distances between 8 rows need .* memory_limit=1e-09 GiB"):
        PropagatedDistances(memory_limit=1e-9).fit_transform(A8)
    with pytest.raises(MemoryError, match="paths through 1 must-link components"):
        PropagatedDistances(memory_limit=1e-9).fit(A8, clues=KLEIN)
    with pytest.raises(ValueError, match="square matrix of distances"):
        PropagatedDistances(metric="precomputed").fit(A8)
    model = PropagatedDistances().fit(A8, clues=KLEIN)
    with pytest.raises(ValueError, match="there is no row 8; rows are numbered from 0 to 7"):
        model.between([0], [8])
    with pytest.raises(ValueError, match="must have the same length; got 2 and 1"):
        model.between([0, 1], [2])
    with pytest.raises(ValueError, match="expected a list of row numbers"):
        model.between([0.5], [2])
    with pytest.raises(ValueError, match="radius"):
        PropagatedDistances(radius=-1).fit(A8)
