"""SpectralKernelKMeans: the worked example, its quadratic program by another solver, ordinary spectral clustering."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from cluewise import Clues
from cluewise.core.graphs.affinity import neighbor_affinity
from cluewise.core.graphs.laplacian import leading
from cluewise.datasets import load, make_pattern
from cluewise.metrics import ari
from cluewise.spectral._base import embed
from cluewise.spectral._spectral_kernel import SLICE, SpectralKernelKMeans, has_cannot_links, spectral_weights
from strategies import cases

TOY8 = np.array([(0, 0), (0, 1), (1, 0), (3, 0), (4, 1), (4, 0), (7, 0), (8, 1)], dtype=float)
CLUES = Clues(8, must=[(2, 3)], cannot=[(3, 5)])


def published(**more):
    return SpectralKernelKMeans(
        3, n_components=4, trust=1, affinity="rbf", gamma=0.1, profile="published", random_state=0, **more
    )


def loss(vectors, beta, clues, trust):
    """The objective of the docstring, with the kernel written out."""
    K = vectors @ np.diag(beta) @ vectors.T
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    value = ((np.diag(K) - 1) ** 2).sum()
    value += trust * (must_weight * (K[must[:, 0], must[:, 1]] - 1) ** 2).sum()
    return value + trust * (cannot_weight * K[cannot[:, 0], cannot[:, 1]] ** 2).sum()


def test_worked_example():
    model = published().fit(TOY8, clues=CLUES)
    assert np.allclose(model.eigenvalues_, [0, 0.416479, 0.829699, 1.257060], atol=1e-6)
    assert np.allclose(model.eigenvector_weights_, [3.4829727564, 2.4047475856, 0.8960445518, 0.8960445518], atol=1e-9)
    assert np.isclose(model.kernel_loss_, 0.6044072409, atol=1e-9)
    d2 = ((TOY8[:, None] - TOY8) ** 2).sum(axis=2)
    W = np.exp(-0.1 * d2) - np.eye(8)
    F = np.linalg.eigh(np.eye(8) - W / np.sqrt(np.outer(W.sum(0), W.sum(0)))).eigenvectors
    assert np.allclose(
        model.embedding_ @ model.embedding_.T, F[:, :4] @ np.diag(model.eigenvector_weights_) @ F[:, :4].T
    )
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]


@pytest.mark.needs_data
def test_worked_example_of_the_specification(spec_folder):
    told = json.loads((spec_folder / "seeds-worked-examples.json").read_text())["ccskl"]
    clues = Clues(8, must=told["ML"], cannot=told["CL"])
    model = published(max_iter=50).set_params(gamma=told["gamma"], n_components=told["m"]).fit(TOY8, clues=clues)
    assert np.allclose(model.eigenvector_weights_, told["beta"], atol=1e-9)
    assert np.isclose(model.kernel_loss_, told["objective"], atol=1e-9)


@given(cases(max_rows=15, max_columns=3), st.sampled_from([0.1, 1.0, 30.0]))
def test_weights_are_those_of_another_solver(case, trust):
    n = len(case.X)
    m = min(5, n)
    vectors = np.linalg.qr(case.rng.normal(size=(n, m)))[0]
    found = spectral_weights(vectors, case.clues, trust)
    assert (np.diff(found.weights) <= 1e-12).all()
    assert found.weights[-1] >= 0
    assert np.isclose(found.loss, loss(vectors, found.weights, case.clues, trust))
    falls = {"type": "ineq", "fun": lambda beta: np.append(beta[:-1] - beta[1:], beta[-1])}
    other = minimize(
        lambda beta: loss(vectors, beta, case.clues, trust), np.ones(m), constraints=falls, method="SLSQP", tol=1e-10
    )
    assert found.loss <= other.fun + 1e-6 * (1 + other.fun)


def test_slices_change_nothing():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(SLICE + 7, 3)) / 100
    must = np.column_stack([np.arange(SLICE + 5), np.arange(1, SLICE + 6)])
    clues = Clues(len(vectors), must=must)
    found = spectral_weights(vectors, clues, 2.0)
    lines = np.cumsum(np.vstack([vectors**2, np.sqrt(2) * vectors[must[:, 0]] * vectors[must[:, 1]]]), axis=1)
    wanted = np.append(np.ones(len(vectors)), np.full(len(must), np.sqrt(2)))
    beta = found.weights
    steps = np.append(beta[:-1] - beta[1:], beta[-1])
    slope = lines.T @ (lines @ steps - wanted)  # the conditions of a minimum over steps of at least 0
    assert (slope >= -1e-6 * np.abs(lines.T @ wanted).max()).all()
    assert np.isclose(steps @ slope, 0, atol=1e-6 * len(wanted))


def test_without_links_it_is_ordinary_spectral_clustering():
    X = make_pattern("two_spirals", random_state=0)[0]
    model = SpectralKernelKMeans(2, random_state=0).fit(X)
    points = embed(neighbor_affinity(X, 10, "local"), 2)
    assert np.allclose(model.embedding_, points / np.sqrt(2))
    assert ari(KMeans(2, n_init=5, random_state=0).fit(points).labels_, model.labels_) == 1
    assert np.isclose(model.kernel_loss_, loss(points, np.full(2, 0.5), Clues(len(X)), 1))


@pytest.mark.parametrize(
    ("given", "trust"),
    [
        ({"labels": [0] + 59 * [-1]}, 10.0),
        ({"apart": [0, 1] + 58 * [-1]}, 10.0),
        ({"cannot": [(0, 40)]}, 0.0),
        ({"must": [(0, 40)]}, 10.0),
        ({"cannot": [(0, 40)], "cannot_weight": 0.0}, 10.0),
    ],
)
def test_what_keeps_no_rows_apart_changes_nothing(given, trust):
    X = np.random.default_rng(0).normal(size=(60, 3))
    plain, told = (
        SpectralKernelKMeans(3, trust=trust, random_state=0).fit(X, clues=clues) for clues in (None, Clues(60, **given))
    )
    np.testing.assert_array_equal(told.embedding_, plain.embedding_)
    np.testing.assert_array_equal(told.labels_, plain.labels_)


@pytest.mark.parametrize(
    "given",
    [
        {"labels": [0, 1]},
        {"cannot": [(0, 1)]},
        {"apart": [3, 3]},
    ],
)
def test_what_keeps_rows_apart(given):
    assert has_cannot_links(Clues(2, **given))
    assert not has_cannot_links(Clues(2))


def test_rows_of_the_library_have_length_one():
    X, y = make_pattern("crescent_full_moon", random_state=0)
    clues = Clues.sample(y, pairs=30, random_state=0)
    model = SpectralKernelKMeans(2, random_state=0).fit(X, clues=clues)
    assert np.allclose(np.linalg.norm(model.embedding_, axis=1), 1)
    assert len(model.eigenvalues_) == len(model.eigenvector_weights_) == 20
    found = leading(neighbor_affinity(X, 10, "local"), 20)
    vectors = found.vectors / np.sqrt(found.degrees)[:, None]
    assert np.isclose(model.kernel_loss_, loss(vectors, model.eigenvector_weights_, clues, 10.0))
    assert ari(y, model.labels_) == 1


@pytest.mark.needs_data
def test_links_help_on_ionosphere():
    data = load("ionosphere", standardize=True)
    scores = [
        [
            ari(data.y, SpectralKernelKMeans(2, random_state=0).fit(data.X, clues=clues).labels_)
            for clues in (None, Clues.sample(data.y, pairs=100, random_state=s))
        ]
        for s in range(3)
    ]
    without, told = np.mean(scores, axis=0)
    assert told > without + 0.2


def test_labels_are_links():
    X, y = make_pattern("half_kernel", random_state=0)
    shown = np.where(np.arange(len(y)) % 25 == 0, y, -1)
    by_labels = SpectralKernelKMeans(2, random_state=0).fit(X, clues=shown)
    must, _, cannot, _ = Clues.from_labels(shown).pairs(expand=True)
    by_pairs = SpectralKernelKMeans(2, random_state=0).fit(X, clues=Clues(len(y), must=must, cannot=cannot))
    assert np.allclose(by_labels.eigenvector_weights_, by_pairs.eigenvector_weights_)


@pytest.mark.parametrize("affinity", ["local", "nearest_neighbors", "rbf"])
def test_odd_input(affinity):
    model = SpectralKernelKMeans(2, affinity=affinity, random_state=0)
    clues = Clues(4, must=[(0, 1)], cannot=[(0, 3)])
    if affinity != "nearest_neighbors":  # four rows are all neighbors of each other
        assert model.fit([[0.0], [1], [8], [9]], clues=clues).labels_.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    for rows in (np.ones((4, 2)), [[0.0, 3], [0, 3], [1, 3], [1, 3]]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert np.isfinite(model.fit(rows, clues=clues).embedding_).all()
    assert SpectralKernelKMeans(1, affinity=affinity).fit([[2.0]]).labels_ == [0]


def test_precomputed_graphs():
    d2 = ((TOY8[:, None] - TOY8) ** 2).sum(axis=2)
    W = np.exp(-0.1 * d2)
    for given_graph in (W, csr_array(W)):
        model = published().set_params(affinity="precomputed").fit(given_graph, clues=CLUES)
        assert np.allclose(model.eigenvector_weights_, [3.4829727564, 2.4047475856, 0.8960445518, 0.8960445518])
