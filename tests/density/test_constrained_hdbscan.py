"""Constrained HDBSCAN: worked by hand, by brute force over all choices, and HDBSCAN without clues."""

from itertools import chain, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_moons

from cluewise import Clues
from cluewise.checks import sample_clues
from cluewise.datasets import load
from cluewise.density import _condensed_tree as condensed_tree
from cluewise.density._condensed_tree import Tree, best_clusters, core_distances, kept_links, rows_below, spanning_tree
from cluewise.density._dbscan import ConstrainedDBSCAN
from cluewise.density._hdbscan import ConstrainedHDBSCAN
from cluewise.exceptions import ClueError
from cluewise.metrics import ari, broken

LINE = np.array([0, 1, 2, 3, 10, 11, 12, 13, 50, 51, 52, 53.0])[:, None]
KINDS = ("labels", "must", "cannot", "together", "apart")
seeds = st.integers(0, 2**16)


def tree_of(X, min_cluster_size, min_samples=1):
    core = core_distances(X, min_samples)
    return condensed_tree.condense(*spanning_tree(X, core), min_cluster_size)


def renumbered(labels):
    """Clusters by their first row, noise −1."""
    number = {}
    return [-1 if h < 0 else number.setdefault(h, len(number)) for h in labels.tolist()]


def rows_of(tree):
    """Rows of each cluster, those of the clusters below it included."""
    inside = [set(np.flatnonzero(tree.home == c)) for c in range(tree.size)]
    for c, above in enumerate(tree.parent[:-1]):
        inside[above] |= inside[c]
    return inside


def choices(tree, root):
    """All sets with one cluster on each way from a leaf to the root."""
    children = [np.flatnonzero(tree.parent == c).tolist() for c in range(tree.size)]

    def below(c):
        parts = product(*(below(child) for child in children[c])) if children[c] else ()
        deeper = [list(chain(*part)) for part in parts]
        may = c != tree.size - 1 or root
        return ([[c]] if may else []) + deeper + ([[]] if not may and not children[c] else [])

    return below(tree.size - 1)


# --- the tree ----------------------------------------------------------------------------------------------


def by_rows(tree, values):
    """Values of clusters by first row and number of rows: (0, 4), (4, 4) and (8, 4) are the groups of LINE."""
    return {(min(rows), len(rows)): value for rows, value in zip(rows_of(tree), values)}


def test_tree_by_hand():
    """Three groups of four at distances 7 and 37; inside a group all lengths are 1."""
    tree = tree_of(LINE, 3)
    number = by_rows(tree, range(5))
    assert {key: tree.parent[c] for key, c in number.items()} == {
        (0, 4): number[0, 8],
        (4, 4): number[0, 8],
        (8, 4): number[0, 12],
        (0, 8): number[0, 12],
        (0, 12): -1,
    }
    births = {(0, 4): 1 / 7, (4, 4): 1 / 7, (8, 4): 1 / 37, (0, 8): 1 / 37, (0, 12): 0}
    assert by_rows(tree, tree.birth) == pytest.approx(births)
    np.testing.assert_allclose(tree.leaves, 1.0)
    masses = {(0, 4): 24 / 7, (4, 4): 24 / 7, (8, 4): 4 * 36 / 37, (0, 8): 8 * (1 / 7 - 1 / 37), (0, 12): 12 / 37}
    assert by_rows(tree, tree.stability()) == pytest.approx(masses)


def test_links_by_hand():
    """A must-link inside the first group, one between the first two; a cannot-link inside, one between."""
    tree = tree_of(LINE, 3)
    links = Clues(12, must=[(0, 1), (0, 4)], cannot=[(2, 3), (3, 8)], must_weight=[1, 4], cannot_weight=[2, 6]).pairs()
    kept, noise = kept_links(tree, links)
    # First group: 1 inside, 3 for the half of (3, 8). With the second: the must-link of weight 4 as well. Root: no 3.
    assert by_rows(tree, kept) == {(0, 4): 1 + 3, (4, 4): 0, (8, 4): 3, (0, 8): 1 + 4 + 3, (0, 12): 5}
    assert by_rows(tree, noise) == {(0, 4): 5, (4, 4): 0, (8, 4): 3, (0, 8): 0, (0, 12): 0}


def test_ends_of_noise_rows():
    """Row 12 lies alone between the groups: as noise it keeps its half of a cannot-link, and no must-link."""
    tree = tree_of(np.vstack([LINE, [[30.0]]]), 3)
    links = Clues(13, must=[(0, 12)], cannot=[(4, 12)], cannot_weight=[2]).pairs()
    kept, noise = kept_links(tree, links)
    # 30 joins the first eight rows at 17, before the last four at 20: it leaves that cluster, and no smaller one.
    assert by_rows(tree, kept) == {(0, 4): 0, (4, 4): 1, (8, 4): 0, (0, 9): 1, (0, 13): 1}
    assert by_rows(tree, noise) == {(0, 4): 0, (4, 4): 1, (8, 4): 0, (0, 9): 1, (0, 13): 0}


@given(seeds, st.integers(2, 40), st.integers(1, 3), st.integers(1, 6))
def test_spanning_tree_is_as_light_as_scipys(seed, n, d, min_samples):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    core = np.sqrt(core_distances(X, min_samples))
    distance = squareform(pdist(X))
    np.testing.assert_allclose(core, np.sort(distance, axis=1)[:, min(min_samples, n) - 1], atol=1e-12)
    reach = np.maximum(np.maximum(distance, core[:, None]), core[None, :])
    edges, lengths = spanning_tree(X, core**2)
    np.testing.assert_allclose(lengths, reach[edges[:, 0], edges[:, 1]])
    np.testing.assert_allclose(lengths, np.sort(minimum_spanning_tree(reach * ~np.eye(n, dtype=bool)).data))
    assert len(np.unique(edges)) == n


@given(seeds, st.integers(3, 30), st.integers(2, 5), st.booleans())
def test_clusters_are_the_components_at_their_density(seed, n, least, grid):
    """Every cluster is a component of single linkage just below its birth, and only those of enough rows are there."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(n, 2)).astype(float) if grid else rng.normal(size=(n, 2))
    tree = tree_of(X, least)
    found = {frozenset(rows) for rows in rows_of(tree)}
    merges = linkage(pdist(X), "single")
    heights = np.unique(merges[:, 2])
    parts = set()
    for height in np.append(heights, np.inf):  # components right at a height: those joined at most there
        labels = fcluster(merges, height * (1 + 1e-12) if np.isfinite(height) else height, "distance")
        parts |= {frozenset(np.flatnonzero(labels == h)) for h in np.unique(labels)}
    assert all(any(rows == part for part in parts) for rows in found)
    assert all(len(rows) >= least for rows in found)
    meeting = squareform(cophenet(merges))
    for c, rows in enumerate(rows_of(tree)):
        outside = [i for i in range(n) if i not in rows]
        if outside:
            np.testing.assert_allclose(1 / tree.birth[c], max(meeting[np.ix_(sorted(rows), outside)].min(), 1e-300))


def test_meeting_is_the_smallest_common_cluster():
    tree = tree_of(LINE, 3)
    first, second = np.array([0, 0, 4, 8]), np.array([1, 7, 9, 8])
    rows = rows_of(tree)
    found = [(min(rows[c]), len(rows[c])) for c in tree.meeting(first, second)]
    assert found == [(0, 4), (0, 8), (0, 12), (8, 4)]
    nobody = Tree(np.empty(0, int), np.empty(0), np.full(3, -1), np.zeros(3))
    assert nobody.meeting(np.array([0]), np.array([2])).tolist() == [-1]


# --- the choice ---------------------------------------------------------------------------------------------


@given(seeds, st.integers(4, 30), st.sampled_from([0.0, 0.3, 1.0]), st.booleans(), st.integers(1, 3))
def test_no_other_choice_is_better(seed, n, trust, root, min_samples):
    """J counted from the labels of every choice of clusters, by the words of the docstring."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    clues = sample_clues(rng.integers(2, size=n), [k for k in KINDS if rng.random() < 0.6], rng, noise=0.3)
    model = ConstrainedHDBSCAN(2, min_samples=min_samples, trust=trust, allow_single_cluster=root)
    model.fit(X, clues=clues)
    tree = tree_of(X, 2, min_samples)
    stability, inside = tree.stability(), rows_of(tree)
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    total = must_weight.sum() + cannot_weight.sum()
    options = choices(tree, root)
    most = max(sum(stability[c] for c in chosen) for chosen in options)
    trust = trust if total > 0 else 0.0

    def worth(labels, mass):
        own = np.where(labels < 0, -1 - np.arange(n), labels)  # noise rows are each alone
        kept = must_weight @ (own[must[:, 0]] == own[must[:, 1]]) if len(must) else 0.0
        kept += cannot_weight @ (own[cannot[:, 0]] != own[cannot[:, 1]]) if len(cannot) else 0.0
        return (1 - trust) * (mass / most if most > 0 else 0.0) + trust * (kept / total if total > 0 else 0.0), mass

    def labels_of(chosen):
        labels = np.full(n, -1)
        for c in chosen:
            labels[sorted(inside[c])] = c
        if tree.size - 1 in chosen:
            labels[~tree.core] = -1
        return labels

    found = worth(model.labels_, model.stability_.sum())
    assert -model.objective_ == pytest.approx(found[0], abs=1e-9)
    all_worths = [worth(labels_of(chosen), sum(stability[c] for c in chosen)) for chosen in options]
    best = max(value for value, _ in all_worths)
    assert found[0] == pytest.approx(best, abs=1e-9)
    assert found[1] >= max(mass for value, mass in all_worths if value >= best - 1e-10) - 1e-9
    assert any((renumbered(labels_of(c)) == np.array(renumbered(model.labels_))).all() for c in options)


def test_equal_values_are_decided_by_stability_then_for_the_larger_cluster():
    tree = Tree(np.array([2, 2, 4, 4, -1]), np.zeros(5), np.array([0, 1, 3]), np.zeros(3))
    none = np.zeros(5)
    tie = np.array([1.0, 1.0, 3.0, 1.0, 9.0])
    assert np.flatnonzero(best_clusters(tree, none, none, tie, False)[0]).tolist() == [2, 3]
    assert np.flatnonzero(best_clusters(tree, none, none, none, False)[0]).tolist() == [2, 3]
    assert np.flatnonzero(best_clusters(tree, none, none, np.array([2, 2, 3, 1, 9.0]), False)[0]).tolist() == [0, 1, 3]
    assert np.flatnonzero(best_clusters(tree, none, none, tie, True)[0]).tolist() == [4]
    assert rows_below(tree, np.array([False, False, True, True, False])).tolist() == [2, 2, 3]


def test_links_join_and_part_clusters():
    plain = ConstrainedHDBSCAN(3, min_samples=1).fit(LINE)
    assert renumbered(plain.labels_) == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    np.testing.assert_allclose(np.sort(plain.stability_), [24 / 7, 24 / 7, 4 * 36 / 37])
    assert (np.diff(plain.stability_) <= 1e-9).all()
    assert plain.objective_ == pytest.approx(-1)
    joined = ConstrainedHDBSCAN(3, min_samples=1).fit(LINE, clues=Clues(12, must=[(0, 7)]))
    assert renumbered(joined.labels_) == [0] * 8 + [1] * 4
    assert joined.objective_ == pytest.approx(-1)
    # One of two links is kept whatever is chosen, and the groups alone are more stable.
    torn = ConstrainedHDBSCAN(3, min_samples=1).fit(LINE, clues=Clues(12, must=[(0, 7)], cannot=[(1, 4)]))
    assert torn.labels_.tolist() == plain.labels_.tolist()
    assert torn.broken_ == Clues(12, must=[(0, 7)])
    assert torn.objective_ == pytest.approx(-0.5)


def test_trust_weighs_clues_against_stability():
    """Joining the first two groups keeps the one link and costs most of their stability."""
    clues = Clues(12, must=[(0, 7)])
    lost = 48 / 7 - 8 * (1 / 7 - 1 / 37)
    most = 48 / 7 + 4 * 36 / 37
    even = (lost / most) / (1 + lost / most)
    for trust, joins in ((even - 0.01, False), (even + 0.01, True), (0.0, False)):
        model = ConstrainedHDBSCAN(3, min_samples=1, trust=trust).fit(LINE, clues=clues)
        assert (model.n_clusters_ == 2) == joins
    assert model.objective_ == pytest.approx(-1)


def test_noise_keeps_cannot_links_and_breaks_must_links():
    X = np.vstack([LINE, [[30.0]], [[-20.0]]])
    clues = Clues(14, must=[(12, 13)], cannot=[(0, 13)])
    model = ConstrainedHDBSCAN(3, min_samples=1).fit(X, clues=clues)
    assert renumbered(model.labels_) == [0] * 4 + [1] * 4 + [2] * 4 + [-1, -1]
    assert model.broken_ == Clues(14, must=[(12, 13)]) == broken(model.labels_, clues)
    assert model.objective_ == pytest.approx(-0.5)


# --- without clues ------------------------------------------------------------------------------------------


@given(seeds, st.integers(10, 150), st.integers(1, 4), st.integers(2, 9), st.booleans())
def test_without_clues_it_is_hdbscan(seed, n, d, size, mixed):
    """With ``min_samples=1`` no two distances are equal, and nothing is left to chance."""
    X, _ = make_blobs(n, d, centers=3, random_state=seed)
    theirs = HDBSCAN(min_cluster_size=size, min_samples=1, copy=True).fit(X)
    ours = ConstrainedHDBSCAN(size, min_samples=1, trust=0.5 if mixed else 1.0).fit(X)
    assert renumbered(ours.labels_) == renumbered(theirs.labels_)


@given(seeds, st.integers(10, 120), st.integers(1, 3), st.integers(2, 9), st.integers(1, 3))
def test_a_single_cluster_is_that_of_hdbscan(seed, n, d, size, groups):
    """Where the root is chosen, the rows that leave it before the others are noise."""
    X, _ = make_blobs(n, d, centers=groups, random_state=seed)
    theirs = HDBSCAN(min_cluster_size=size, min_samples=1, allow_single_cluster=True, copy=True).fit(X)
    ours = ConstrainedHDBSCAN(size, min_samples=1, allow_single_cluster=True).fit(X)
    assert renumbered(ours.labels_) == renumbered(theirs.labels_)


def test_a_single_cluster_has_noise():
    """One group and two rows far from it: what is left of the root when the last rows leave it is the cluster."""
    X = np.array([0, 1, 2, 3, 4, 40, 90.0])[:, None]
    model = ConstrainedHDBSCAN(3, min_samples=1, allow_single_cluster=True)
    assert model.fit(X).labels_.tolist() == [0, 0, 0, 0, 0, -1, -1]
    clues = Clues(7, must=[(0, 1), (0, 6)], cannot=[(2, 5), (3, 4)])
    assert model.fit(X, clues=clues).labels_.tolist() == [0, 0, 0, 0, 0, -1, -1]
    assert model.objective_ == pytest.approx(-0.5)  # (0, 1) and (2, 5) hold
    assert model.broken_ == Clues(7, must=[(0, 6)], cannot=[(3, 4)])


def test_more_samples_than_rows():
    with pytest.raises(ValueError, match=r"min_samples=8 is larger than the number of rows, n_samples=7\."):
        ConstrainedHDBSCAN(3, min_samples=8).fit(LINE[:7])
    assert (ConstrainedHDBSCAN(3, min_samples=7).fit(LINE[:7]).labels_ >= -1).all()


@pytest.mark.parametrize("seed", range(6))
def test_it_differs_from_scikit_learn_only_about_rows_between_clusters(seed):
    """Rows that scikit-learn gives to one of two clusters that they join at once are noise here."""
    X, _ = make_blobs(300, 2, centers=5, random_state=seed)
    theirs = HDBSCAN(min_cluster_size=10, copy=True).fit(X).labels_
    ours = ConstrainedHDBSCAN(10).fit(X).labels_
    inside = ours >= 0
    assert renumbered(ours[inside]) == renumbered(theirs[inside])
    assert np.count_nonzero((theirs >= 0) & ~inside) <= 2


@given(seeds)
def test_order_of_rows_has_no_say(seed):
    rng = np.random.default_rng(seed)
    X, rows = make_blobs(80, 2, centers=4, cluster_std=2, random_state=seed)[0], rng.permutation(80)
    a, b = ConstrainedHDBSCAN(4).fit(X), ConstrainedHDBSCAN(4).fit(X[rows])
    np.testing.assert_array_equal(a.labels_[rows], b.labels_)


# --- odd input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 5, 12])
@pytest.mark.parametrize("single", [False, True])
def test_equal_rows(n, single):
    clues = Clues(n, cannot=[(0, n - 1)][: n - 1])
    model = ConstrainedHDBSCAN(4, allow_single_cluster=single).fit(np.ones((n, 2)), clues=clues)
    assert set(model.labels_) == ({0} if single and n >= 4 else {-1})
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.stability_).all()


def test_groups_of_equal_rows():
    """Infinite densities would make sums without meaning; the groups are found, links between them heard."""
    X = np.repeat([[0.0], [1.0], [9.0]], 6, axis=0).astype(np.float32)
    assert renumbered(ConstrainedHDBSCAN(4).fit(X).labels_) == [0] * 6 + [1] * 6 + [2] * 6
    joined = ConstrainedHDBSCAN(4).fit(X, clues=Clues(18, must=[(0, 7)]))
    assert renumbered(joined.labels_) == [0] * 12 + [1] * 6


def test_fewer_rows_than_a_cluster_needs():
    model = ConstrainedHDBSCAN(8).fit(LINE[:5], clues=Clues(5, cannot=[(0, 1)], must=[(2, 3)]))
    assert (model.labels_ == -1).all()
    assert model.n_clusters_ == 0
    assert model.objective_ == pytest.approx(-0.5)


@pytest.mark.parametrize("model", [ConstrainedHDBSCAN(2), ConstrainedDBSCAN()], ids=repr)
def test_a_failed_fit_leaves_nothing(model):
    model.fit(np.arange(9.0)[:, None])
    with pytest.raises(ClueError):
        model.fit(np.arange(9.0)[:, None], clues=Clues(8))
    assert not hasattr(model, "labels_")


def test_infinite_weights_are_refused():
    with pytest.raises(ClueError, match="infinite"):
        ConstrainedHDBSCAN().fit(LINE, clues=Clues(12, must=[(0, 1)], must_weight=np.inf))


@pytest.mark.parametrize("params", [{"min_cluster_size": 1}, {"min_samples": 0}, {"trust": 1.5}])
def test_parameters_are_checked(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        ConstrainedHDBSCAN(**params).fit(LINE)


def test_spanning_in_slices_changes_nothing(monkeypatch):
    X = make_moons(200, noise=0.1, random_state=0)[0]
    whole = ConstrainedHDBSCAN().fit(X).labels_
    monkeypatch.setattr(condensed_tree, "SLICE", 1)
    np.testing.assert_array_equal(ConstrainedHDBSCAN().fit(X).labels_, whole)


# --- how good it is -----------------------------------------------------------------------------------------

PATTERNS = ["clusterincluster", "corners", "crescentfullmoon", "gaussians", "halfkernel", "twospirals"]


@pytest.mark.needs_data
@pytest.mark.parametrize("name", PATTERNS)
def test_one_percent_of_the_pairs_finds_the_patterns(name):
    data = load(f"synth_{name}")
    clues = Clues.sample(data.y, pairs=0.01, random_state=0)
    assert ari(data.y, ConstrainedHDBSCAN(5).fit(data.X, clues=clues).labels_) >= 0.95


def test_golden_number():
    """Twenty links choose the moons out of the tree; alone it falls into pieces."""
    X, y = make_moons(300, noise=0.09, random_state=0)
    clues = Clues.sample(y, pairs=20, random_state=0)
    plain, with_clues = ConstrainedHDBSCAN().fit(X), ConstrainedHDBSCAN().fit(X, clues=clues)
    assert (plain.n_clusters_, with_clues.n_clusters_) == (11, 2)
    assert ari(y, with_clues.labels_) == pytest.approx(0.935418, abs=1e-6)
