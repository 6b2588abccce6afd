"""Links that spread along the graph: scikit-learn's spectral clustering of the affinity that the formula gives."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_moons

import cluewise as cw
from cluewise import Clues
from cluewise.core.graphs.affinity import neighbor_affinity
from cluewise.exceptions import ClueError
from cluewise.spectral import _spreading as spreading
from cluewise.spectral._e2cp import E2CP

PATTERNS = ["clusterincluster", "corners", "crescentfullmoon", "gaussians", "halfkernel", "twospirals"]


@pytest.fixture
def moons():
    return make_moons(200, noise=0.12, random_state=0)


def test_it_is_spectral_clustering_of_the_changed_affinity(moons):
    X, y = moons
    clues = Clues.sample(y, pairs=80, random_state=0)
    W = neighbor_affinity(X, 10).toarray()
    Z = clues.to_matrix().toarray()
    root = np.sqrt(W.sum(axis=1))
    G = np.linalg.inv(np.eye(200) - 0.8 * W / root / root[:, None])
    F = G @ Z @ G
    F /= np.abs(F).max()
    expected = np.where(F >= 0, 1 - (1 - F) * (1 - W), (1 + F) * W)
    np.fill_diagonal(expected, 0)
    model = E2CP(2, profile="published", random_state=0).fit(X, clues=clues)
    assert model.spread_ == 0.8
    np.testing.assert_allclose(model.affinity_matrix_, expected, atol=1e-10)
    theirs = SpectralClustering(2, affinity="precomputed", random_state=0).fit(expected)
    assert cw.metrics.ari(theirs.labels_, model.labels_) == 1
    assert cw.metrics.ari(y, model.labels_) > 0.9


def test_without_clues_it_is_scikit_learns(moons):
    X, _ = moons
    graph = neighbor_affinity(X, 10)
    theirs = SpectralClustering(3, affinity="precomputed", random_state=0).fit(graph.toarray())
    for model, given in (
        (E2CP(3, profile="published", random_state=0), X),
        (E2CP(3, profile="published", affinity="precomputed", random_state=0), graph),
        (E2CP(3, profile="published", affinity="precomputed", random_state=0), 5 * graph.toarray()),
    ):
        assert cw.metrics.ari(theirs.labels_, model.fit(given).labels_) == 1


def test_without_clues_rows_of_the_embedding_have_one_length(moons):
    X, _ = moons
    points, plain = (E2CP(3, profile=name, random_state=0).fit(X).embedding_ for name in ("library", "published"))
    np.testing.assert_allclose(points, plain / np.linalg.norm(plain, axis=1, keepdims=True))


@pytest.mark.parametrize("profile", ["library", "published"])
def test_labels_and_groups_are_their_links(moons, profile):
    X, y = moons
    shown = np.where(np.arange(200) % 10, -1, y)
    must, _, cannot, _ = Clues.from_labels(shown).pairs(expand=True)
    a = E2CP(2, profile=profile, random_state=0).fit(X, clues=shown)
    b = E2CP(2, profile=profile, random_state=0).fit(X, clues=Clues(200, must=must, cannot=cannot))
    np.testing.assert_array_equal(a.affinity_matrix_, b.affinity_matrix_)
    assert (a.labels_ == b.labels_).all()


@pytest.mark.parametrize("profile", ["library", "published"])
def test_links_act_where_they_are(profile):
    """A bridge between two blobs: a cannot-link across it weakens it, a must-link strengthens it."""
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [2.0, 0.5], [3.0, 0.5], [4, 0], [4, 1], [5, 0], [5, 1]])
    plain, cut, bound = (
        E2CP(2, n_neighbors=3, profile=profile, random_state=0).fit(X, clues=clues).affinity_matrix_
        for clues in (None, Clues(10, cannot=[(4, 5)]), Clues(10, must=[(4, 5)]))
    )
    before = plain.toarray() if issparse(plain) else plain
    assert 0 < before[4, 5] < 1
    if profile == "published":
        assert cut[4, 5] == pytest.approx(0, abs=1e-9)
        assert bound[4, 5] == pytest.approx(1)
    else:  # a single link does not have the last word
        assert 0 < cut[4, 5] < 0.4 * before[4, 5]
        assert 0.7 < bound[4, 5] < 1
    # Next to the link less changes, and far from it hardly anything does.
    change = np.abs(cut - before)
    assert change[4, 5] > change[3, 4] > change[0, 1]


@pytest.mark.parametrize("profile", ["library", "published"])
def test_spread_zero_is_the_links_alone(moons, profile):
    X, y = moons
    clues = Clues.sample(y, pairs=30, random_state=0)
    before = E2CP(2, random_state=0).fit(X).affinity_matrix_.toarray()
    after = E2CP(2, spread=0.0, profile=profile, random_state=0).fit(X, clues=clues).affinity_matrix_
    changed = np.argwhere(np.triu(~np.isclose(before, after)))
    told = {tuple(sorted(pair)) for pair in np.vstack([clues.must, clues.cannot]).tolist()}
    assert {tuple(pair) for pair in changed.tolist()} <= told
    if profile == "published":
        assert all(after[i, j] == pytest.approx(1) for i, j in clues.must)
        assert all(after[i, j] == pytest.approx(0) for i, j in clues.cannot)


def test_many_rows_stay_sparse(moons, monkeypatch):
    X, y = moons
    monkeypatch.setattr(spreading, "EXACT", 100)
    clues = Clues.sample(y, pairs=80, random_state=0)
    model = E2CP(2, random_state=0).fit(X, clues=clues)
    assert issparse(model.affinity_matrix_)
    assert model.affinity_matrix_.nnz < 200 * 100
    assert cw.metrics.ari(y, model.labels_) > 0.9


@pytest.mark.parametrize("few", [True, False])
def test_units_of_a_precomputed_affinity_do_not_matter(moons, few, monkeypatch):
    X, y = moons
    monkeypatch.setattr(spreading, "EXACT", 1500 if few else 20)
    W = neighbor_affinity(X, 10, "local")
    clues = Clues.sample(y, pairs=30, random_state=0)
    one, tiny, huge = (
        E2CP(2, affinity="precomputed", random_state=0).fit(unit * W, clues=clues).affinity_matrix_
        for unit in (1.0, 2.0**-20, 2.0**20)
    )
    assert abs(one - tiny).max() == abs(one - huge).max() == 0


def test_a_failed_fit_leaves_nothing(moons):
    model = E2CP(2, random_state=0).fit(moons[0])
    with pytest.raises(ClueError):
        model.fit(moons[0], clues=Clues(8))
    assert not hasattr(model, "labels_")


def test_weights_count(moons):
    X, _ = moons
    lie, truth = [(0, 1)], [(2, 3)]
    clues = Clues(200, must=truth + lie, must_weight=[1.0, 0.25])
    F = E2CP(2, spread=0.0, profile="published", random_state=0).fit(X, clues=clues).affinity_matrix_
    W = E2CP(2, random_state=0).fit(X).affinity_matrix_.toarray()
    assert F[2, 3] == pytest.approx(1)
    assert F[0, 1] == pytest.approx(1 - 0.75 * (1 - W[0, 1]))


def test_weights_count_in_any_unit(moons):
    X, y = moons
    clues = Clues.sample(y, pairs=40, random_state=0)
    weight = np.linspace(0.5, 2, 40)
    m = len(clues.must)
    one, other = (
        E2CP(2, random_state=0)
        .fit(
            X,
            clues=Clues(
                200,
                must=clues.must,
                cannot=clues.cannot,
                must_weight=unit * weight[:m],
                cannot_weight=unit * weight[m:],
            ),
        )
        .affinity_matrix_
        for unit in (1.0, 8.0)
    )
    np.testing.assert_allclose(one, other)


@pytest.mark.filterwarnings("ignore:only .* clusters have rows")
def test_degenerate_rows():
    def fit(X, k, clues=None):
        return E2CP(k, random_state=0).fit(X, clues=clues)

    assert fit([[1.0, 2.0]], 1).labels_.tolist() == [0]
    assert fit(np.ones((8, 2)), 2, Clues(8, must=[(0, 1)], cannot=[(0, 2)])).labels_.shape == (8,)
    assert len(set(fit([[0.0], [1.0], [5.0]], 3, Clues(3, cannot=[(0, 1)])).labels_)) == 3
    copies = np.repeat([[0.0, 0.0], [9.0, 9.0]], 30, axis=0)
    assert cw.metrics.ari(np.repeat([0, 1], 30), fit(copies, 2, Clues(60, must=[(0, 1)])).labels_) == 1


@pytest.mark.needs_data
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_with_one_percent_of_the_pairs(name):
    data = cw.datasets.load(f"synth_{name}")
    n, k = len(data.X), len(np.unique(data.y))
    clues = Clues.sample(data.y, pairs=n * (n - 1) // 200, random_state=0)
    model = E2CP(k, random_state=0).fit(data.X, clues=clues)
    assert cw.metrics.ari(data.y, model.labels_) >= 0.95


@pytest.mark.needs_data
def test_more_right_labels_never_destroy_it():
    """Published, F counts most where links are densest, and a few rows elsewhere become clusters."""
    data = cw.datasets.load("balance")
    found = {}
    for profile in ("library", "published"):
        for share in (0.2, 0.5, 0.9):
            clues = Clues.sample(data.y, labels=share, random_state=0)
            labels = E2CP(3, profile=profile, random_state=0).fit(data.X, clues=clues).labels_
            found[profile, share] = cw.metrics.ari(data.y, labels)
    assert found["published", 0.5] < 0.1
    assert 0.55 < found["library", 0.2] < found["library", 0.5] < found["library", 0.9]
    assert found["library", 0.9] > 0.85


def test_wrong_links_do_little_harm_to_a_good_graph():
    X, y = make_blobs(300, centers=5, random_state=3)
    plain = cw.metrics.ari(y, E2CP(5, random_state=0).fit(X).labels_)
    for seed in range(3):
        clues = Clues.sample(y, pairs=150, noise=0.2, random_state=seed)
        assert cw.metrics.ari(y, E2CP(5, random_state=0).fit(X, clues=clues).labels_) > plain - 0.02


def test_how_far_links_spread():
    y = np.arange(200) % 2
    X = make_blobs(200, random_state=0)[0]
    one, some, many = (
        E2CP(2, random_state=0).fit(X, clues=Clues.sample(y, random_state=0, **kind)).spread_
        for kind in ({"pairs": 1}, {"pairs": 100}, {"labels": 0.9})
    )
    assert (one, many) == (0.5, 0.5)
    assert some == pytest.approx(1 - 2 * np.sqrt(200 / 200**2))
    assert E2CP(2, spread=0.3, random_state=0).fit(X).spread_ == 0.3
