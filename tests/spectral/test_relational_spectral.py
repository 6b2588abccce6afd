"""RelationalSpectral: the trace identities, the corrected theorem, the bound of the relaxation, counts, odd input."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array

from cluewise import Clues
from cluewise.metrics import ari
from cluewise.spectral import _relational_kernel as relational
from cluewise.spectral._relational import RelationalSpectral
from cluewise.spectral._relational_kernel import Linear, Relational, association, halfway, leading
from strategies import cases

TOY8 = np.array([(0, 0), (0, 1), (1, 0), (3, 0), (4, 1), (4, 0), (7, 0), (8, 1)], dtype=float)
CLUES = Clues(8, must=[(2, 3), (4, 6)], cannot=[(3, 5)])
Z = np.array([0, 0, 0, 1, 1, 1, 2, 2])


def linked(clues):
    return clues.pairs(expand=True).to_matrix(clues.n)


def distortion(X, z):
    return sum(((X[z == h] - X[z == h].mean(axis=0)) ** 2).sum() for h in np.unique(z))


def test_worked_example():
    E = linked(CLUES)
    M = Relational(Linear(TOY8), E, 0.0)
    assert np.trace(M.times(np.eye(8))) == 158
    assert np.isclose(association(M, Z, 6.0), 136.333333)
    assert np.isclose(distortion(TOY8, Z) + 6 * 3, 158 - 136.333333)
    nothing = Linear(np.zeros((8, 1)))
    assert np.isclose(association(Relational(nothing, E, 1.0), Z, 0.0), -0.666667)
    assert sum(E.toarray()[np.ix_(h == Z, h == Z)].sum() for h in range(3)) == -2
    assert np.allclose(leading(M, 8, np.inf).values[:2], [155.941536, 2.058464])
    four = leading(Relational(Linear(TOY8), E, 4.0), 8, np.inf).values
    assert np.allclose(
        four[np.abs(four) > 1e-9], [156.991860, 5.653709, 2.270573, 1.391061, -3.154545, -5.152657], atol=1e-6
    )


@pytest.mark.parametrize(("cost", "count"), [(5, 2), (6, 1), (1000, 1), (2, 3)])
def test_clusters_are_eigenvalues_above_the_price(cost, count):
    model = RelationalSpectral(cluster_cost=cost, link_gain=4, random_state=0).fit(TOY8, clues=CLUES)
    assert len(model.eigenvalues_) == (0 if cost == 1000 else count)
    assert model.n_clusters_ == count


@given(cases(max_rows=20, max_columns=4))
def test_trace_identity(case):
    """tr Yᵀ(XXᵀ − λI + ξE)Y = tr XXᵀ − distortion − λK + ξ Σ_k (sum of E inside k)/n_k, for any partition."""
    E, z = linked(case.clues).toarray(), case.y
    M = Relational(Linear(case.X), linked(case.clues), 0.7)
    inside = sum(E[np.ix_(z == h, z == h)].sum() / (z == h).sum() for h in np.unique(z))
    expected = (case.X**2).sum() - distortion(case.X, z) - 3.0 * len(np.unique(z)) + 0.7 * inside
    assert np.isclose(association(M, z, 3.0), expected)


def test_no_partition_beats_the_relaxation():
    model = RelationalSpectral(cluster_cost=2, link_gain=4, random_state=0).fit(TOY8, clues=CLUES)
    M = Relational(Linear(TOY8), linked(CLUES), 4.0)
    bound = (model.eigenvalues_ - 2).sum()
    assert np.isclose(model.association_, association(M, model.labels_, 2.0))
    best = max(association(M, np.array(z), 2.0) for z in itertools.product(range(3), repeat=8))
    assert model.association_ <= best <= bound


@given(cases(max_columns=6))
def test_automatic_price_and_gain(case):
    """Without links as many as expected, or as many as there are; links alone make no cluster (Weyl)."""
    rank = np.linalg.matrix_rank(case.X)
    plain = RelationalSpectral(case.k, random_state=0).fit(case.X)
    assert len(plain.eigenvalues_) == min(case.k, rank)
    told = RelationalSpectral(case.k, random_state=0).fit(case.X, clues=case.clues)
    assert told.cluster_cost_ == plain.cluster_cost_
    E = np.linalg.eigvalsh(told.link_gain_ * linked(case.clues).toarray())
    assert E.max() <= told.cluster_cost_ / 2 + 1e-9
    assert len(told.eigenvalues_) <= (np.linalg.eigvalsh(case.X @ case.X.T) > told.cluster_cost_ / 2 - 1e-9).sum()


def test_all_ways_to_eigenvectors_agree(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=1100)
    X = 4 * np.eye(6)[y] + rng.normal(size=(1100, 6))
    clues = Clues.sample(y, pairs=100, random_state=0)
    E = linked(clues)
    kernel = X @ X.T
    everything = np.linalg.eigvalsh(kernel + 20 * E.toarray())[::-1]
    assert (np.abs(everything - 20) < 1e-9).sum() > 10  # links between pairs of rows
    found = leading(Relational(Linear(X), E, 20.0), 1, 15.0)
    assert np.allclose(found.values, everything[everything > 15])
    assert np.allclose(found.vectors.T @ found.vectors, np.eye(len(found.values)))
    assert np.allclose(kernel @ found.vectors + 20 * (E @ found.vectors), found.vectors * found.values)
    few = leading(Relational(Linear(X), E, 20.0), 3, 1000.0)
    for M in (Relational(kernel, E, 20.0), Relational(Linear(X), E, 20.0)):
        with monkeypatch.context() as changed:
            changed.setattr(relational, "REDUCED", 0)  # so that Lanczos iteration finds them
            again = leading(M, 1, 1000.0)
        assert np.allclose(few.values[: len(again.values)], again.values)
        assert np.allclose(few.vectors[:, : len(again.values)], again.vectors, atol=1e-6)
    monkeypatch.setattr(relational, "MOST", 4)
    with pytest.raises(ValueError, match=r"4 or more eigenvalues exceed cluster_cost=1\.0"):
        leading(Relational(kernel, E, 20.0), 3, 1.0)
    model = RelationalSpectral(4, random_state=0).fit(X, clues=clues)
    assert model.n_clusters_ == 4
    assert ari(y, model.labels_) > 0.9


def test_many_rows_and_many_clusters(monkeypatch):
    """Lanczos iteration is asked for as many eigenvalues as clusters are expected, however many these are."""
    monkeypatch.setattr(relational, "SMALL", 50)
    monkeypatch.setattr(relational, "MOST", 10)
    kernel = np.exp(-0.5 * ((np.arange(60)[:, None] - np.arange(60)) / 3.0) ** 2)
    everything = np.linalg.eigvalsh(kernel)[::-1]
    M = Relational(kernel, csr_array((60, 60)), 0.0)
    for least, above in ((9, np.inf), (20, np.inf), (20, everything[2]), (59, np.inf), (70, 1.0)):
        np.testing.assert_allclose(leading(M, least, above).values, everything[: least + 1], atol=1e-9)
    with pytest.raises(ValueError, match="21 or more eigenvalues"):
        leading(M, 20, everything[30])


@pytest.mark.parametrize("cost", ["auto", 0.5])
def test_many_rows_and_a_kernel_of_nothing(cost, monkeypatch):
    monkeypatch.setattr(relational, "SMALL", 10)
    model = RelationalSpectral(2, affinity="precomputed", cluster_cost=cost, random_state=0)
    assert model.fit(np.zeros((30, 30))).n_clusters_ == 1
    assert model.fit(np.ones((30, 30))).n_clusters_ == 1


def test_halfway():
    assert halfway(np.array([9.0, 5.0, 1.0, 0.5]), 2) == 3
    assert halfway(np.array([9.0, 5.0, 1e-14, -3.0]), 3) == 2.5
    assert halfway(np.zeros(3), 2) == 1


def test_links_change_a_rbf_kernel():
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 2 * np.pi, size=200)
    y = np.arange(200) % 2
    X = (1 + 3 * y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    model = RelationalSpectral(2, affinity="rbf", random_state=0).fit(
        X, clues=Clues.sample(y, pairs=100, random_state=0)
    )
    kernel = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * X.var(axis=0).sum()))
    again = RelationalSpectral(2, affinity="precomputed", random_state=0)
    same = again.fit(kernel, clues=Clues.sample(y, pairs=100, random_state=0))
    assert np.allclose(model.eigenvalues_, same.eigenvalues_)
    assert (model.labels_ == same.labels_).all()
    by_gamma = RelationalSpectral(2, affinity="rbf", gamma=0.5 / X.var(axis=0).sum(), random_state=0).fit(X)
    assert np.isclose(by_gamma.cluster_cost_, model.cluster_cost_)


def test_a_failed_fit_leaves_nothing(monkeypatch):
    model = RelationalSpectral(2, affinity="precomputed", random_state=0).fit(TOY8 @ TOY8.T, clues=CLUES)

    def failing(*_):
        raise np.linalg.LinAlgError("no convergence")

    monkeypatch.setattr(np.linalg, "eigh", failing)
    for cost in ("auto", 5.0):
        with pytest.raises(np.linalg.LinAlgError):
            model.set_params(cluster_cost=cost).fit(TOY8 @ TOY8.T, clues=CLUES)
        left = set(vars(model)) - set(model.get_params()) - {"n_features_in_", "_had_clues"}
        assert not left


def test_odd_input():
    assert RelationalSpectral(1).fit([[3.0]]).labels_ == [0]
    zeros = RelationalSpectral(2).fit(np.zeros((4, 2)))
    assert zeros.n_clusters_ == 1
    assert (zeros.embedding_ == 1).all()
    twins = RelationalSpectral(2, random_state=0).fit(np.repeat(np.eye(2), 3, axis=0), clues=Clues(6, must=[(0, 1)]))
    assert twins.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    with pytest.raises(ValueError, match="square"):
        RelationalSpectral(2, affinity="precomputed").fit(TOY8)
    with pytest.raises(ValueError, match="n_clusters=9"):
        RelationalSpectral(9).fit(TOY8)
    assert RelationalSpectral(9, cluster_cost=1.0, random_state=0).fit(TOY8).n_clusters_ == 2
    sparse = RelationalSpectral(2, affinity="precomputed", random_state=0).fit(csr_array(TOY8 @ TOY8.T))
    assert np.allclose(sparse.eigenvalues_, [155.941536, 2.058464])
