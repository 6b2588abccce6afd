"""DCA: worked example, closed forms against sums over pairs, the role of cannot-links, and poor input."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.checks import sample_clues
from cluewise.core.rows import Rows
from cluewise.exceptions import ClueError, ClueWarning, Contradiction
from cluewise.metric_learning import _dca
from cluewise.metric_learning._dca import DCA, between

TOY8 = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]], dtype=float)
MUST = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7)]
CLUES = Clues(8, must=MUST, cannot=[(0, 3), (5, 6)])


def by_pairs(X, clues):
    """C_b, the obvious way: over the distinct pairs of components that some clue tells apart."""
    component = clues.components
    means = np.array([X[component == c].mean(axis=0) for c in range(clues.n_components)])
    told = {tuple(sorted(p)) for p in component[clues.cannot].tolist()}
    columns = [g.codes for g in clues.apart]
    for codes in columns:
        for code in set(codes[codes >= 0]):
            told |= {tuple(sorted(p)) for p in combinations(set(component[codes == code].tolist()), 2)}
    told |= {tuple(sorted(p)) for p in combinations(set(component[clues.labels >= 0].tolist()), 2)}
    off = np.array([means[a] - means[b] for a, b in told if a != b])
    return off.T @ off / len(off) if len(off) else np.zeros((X.shape[1],) * 2)


def test_worked_example():
    Cb = between(Rows(TOY8), CLUES)
    np.testing.assert_allclose(Cb, [[12.9027777778, 0.3194444444], [0.3194444444, 0.0138888889]], atol=1e-9)
    model = DCA(shrinkage=0).fit(TOY8, clues=CLUES)
    M = [[4.9632352941, -1.7867647059], [-1.7867647059, 4.9632352941]]
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), M, atol=1e-9)
    one = DCA(1, shrinkage=0).fit(TOY8, clues=CLUES)
    np.testing.assert_allclose(one.get_mahalanobis_matrix(), [[4.960576, -1.678645], [-1.678645, 0.568049]], atol=2e-6)
    assert one.n_components_ == 1


def test_with_all_directions_it_is_the_inverse_of_the_mean_scatter():
    """Every chunklet counts once in C_w, whatever its size; cannot-links do not matter then."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1, 2, 3, 4], [4, 8, 10, 18, 20])
    within = np.mean([np.cov(X[y == c].T, bias=True) for c in range(5)], axis=0)
    M = DCA(shrinkage=0).fit(X, clues=y).get_mahalanobis_matrix()
    np.testing.assert_allclose(M, np.linalg.inv(within), rtol=1e-9)
    alone = DCA(shrinkage=0).fit(X, clues=Clues(60, together=y)).get_mahalanobis_matrix()
    np.testing.assert_allclose(alone, M, rtol=1e-9)


@settings(max_examples=40)
@given(st.integers(0, 2**16), st.sets(st.sampled_from(["labels", "must", "cannot", "together", "apart"])))
def test_between_is_the_mean_over_distinct_pairs(seed, kinds):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=25)
    X = rng.normal(size=(25, 3))
    clues = sample_clues(y, kinds, rng)
    np.testing.assert_allclose(between(Rows(X), clues), by_pairs(X, clues), atol=1e-12)


def test_groups_that_overlap():
    """Components 0 and 2 meet in two groups: their pair counts once."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    clues = Clues(6, must=[(0, 1), (2, 3)], apart=["a", "b", "a", "b", "b", None])
    np.testing.assert_allclose(between(Rows(X), clues), by_pairs(X, clues), atol=1e-12)


def test_too_many_pairs_of_overlapping_groups(monkeypatch):
    monkeypatch.setattr(_dca, "LIMIT", 2)
    clues = Clues(6, must=[(0, 1), (2, 3)], apart=["a", "b", "a", "b", "b", None])
    with pytest.raises(ClueError, match="overlapping apart groups imply more than 2 pairs"):
        DCA().fit(np.eye(6), clues=clues)


def test_labels_of_k_classes_leave_less_than_k_directions():
    """Those in which the class means differ, and there the scatter within classes is one."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 30)
    X = 4 * rng.normal(size=(3, 6))[y] + rng.normal(size=(90, 6)) @ rng.normal(size=(6, 6))
    model = DCA(shrinkage=0).fit(X, clues=y)
    assert model.n_components_ == 2
    seen = model.transform(X)
    within = sum(np.cov(seen[y == c].T, bias=True) for c in range(3)) / 3
    np.testing.assert_allclose(within, np.eye(2), atol=1e-9)
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    span = np.linalg.qr((means[1:] - means[0]).T / X.std(axis=0)[:, None])[0]
    L = model.components_.T * X.std(axis=0)[:, None]  # in standard columns
    np.testing.assert_allclose(span @ (span.T @ L), L, atol=1e-9)


def test_columns_of_noise_are_left_out():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = np.column_stack([10.0 * y + rng.normal(size=40), 100 * rng.normal(size=(40, 3))])
    M = DCA().fit(X, clues=np.where(np.arange(40) % 4, -1, y)).get_mahalanobis_matrix()
    assert M[0, 0] > 100 * np.diag(M)[1:].max()


def test_only_cannot_links_keep_their_directions():
    X = np.array([[0, 0, 0], [3, 0, 0], [0, 2, 0], [0, 1, 9.0]])
    model = DCA().fit(X, clues=Clues(4, cannot=[(0, 1), (0, 2)]))
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), np.diag([1, 1, 0]), atol=1e-12)
    one = DCA(1).fit(X, clues=Clues(4, cannot=[(0, 1), (0, 2)]))
    np.testing.assert_allclose(one.get_mahalanobis_matrix(), np.diag([1, 0, 0]), atol=1e-12)


def test_only_must_links_divide_by_their_scatter():
    clues = Clues(8, must=MUST)
    M = [[4.9632352941, -1.7867647059], [-1.7867647059, 4.9632352941]]
    np.testing.assert_allclose(DCA(shrinkage=0).fit(TOY8, clues=clues).get_mahalanobis_matrix(), M, atol=1e-9)


def test_nothing_to_learn_is_euclidean_distance():
    with pytest.warns(ClueWarning, match="no clue joins or parts two rows that differ; DCA keeps"):
        np.testing.assert_array_equal(DCA().fit(TOY8).components_, np.eye(2))
    with pytest.warns(ClueWarning, match="no clue joins or parts"):
        DCA().fit(np.ones((4, 2)), clues=[0, 0, 1, 1])


@pytest.mark.parametrize("count", [3, 6, 7, 20_000])
def test_the_mean_of_equal_rows_neither_joins_nor_parts(count):
    """It is off by rounding, which is no reason to divide by it."""
    X = np.array([[0.1, 1.1]] * count + [[5, 2], [6.3, 4.4], [1.7, 9.1], [0.1, 1.1]])
    with pytest.warns(ClueWarning, match="no clue joins or parts two rows that differ"):
        same = DCA().fit(X, clues=[0] * count + [-1, -1, -1, 1])
    np.testing.assert_array_equal(same.components_, np.eye(2))
    parted = DCA().fit(X, clues=[0] * count + [1, -1, -1, -1])
    assert parted.n_components_ == 1
    assert np.abs(parted.components_).max() < 10


def test_rows_that_are_equal_but_told_apart():
    """No direction parts them, so all directions are kept."""
    X = np.vstack([TOY8, TOY8[:1]])
    clues = Clues(9, must=MUST, cannot=[(8, 7)])
    assert DCA().fit(X, clues=clues).n_components_ == 1
    equal = Clues(9, must=[(3, 4), (6, 7)], cannot=[(0, 8)])
    assert DCA().fit(X, clues=equal).n_components_ == 2


def test_contradictions_are_refused():
    with pytest.raises(Contradiction, match="0 - 1 - 2"):
        DCA().fit(TOY8, clues=Clues(8, must=MUST, cannot=[(0, 2)]))


def test_singular_scatter():
    """One must-link in five columns: with shrinkage all directions of the cannot-links stay."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 5))
    clues = Clues(12, must=[(0, 1)], cannot=[(0, 2), (3, 4), (5, 6)])
    assert DCA().fit(X, clues=clues).n_components_ == 3
    assert DCA(shrinkage=0).fit(X, clues=clues).n_components_ == 1


def test_many_blocks_are_one(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(3, size=300)
    clues = Clues.sample(y, pairs=200, random_state=0)
    whole = DCA(2).fit(X, clues=clues).get_mahalanobis_matrix()
    monkeypatch.setattr(_dca.metric, "BLOCK_BYTES", 8)
    np.testing.assert_allclose(DCA(2).fit(X, clues=clues).get_mahalanobis_matrix(), whole, rtol=1e-9)
