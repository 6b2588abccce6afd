"""Constrained DBSCAN: the specification's numbers, an obvious version of it, and DBSCAN without clues."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_moons

from cluewise import Clues
from cluewise.checks import sample_clues
from cluewise.datasets import load
from cluewise.density import _growing as density
from cluewise.density._dbscan import ConstrainedDBSCAN
from cluewise.exceptions import Contradiction, SoftClueWarning, UnusedClueWarning
from cluewise.metrics import ari, broken

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
KINDS = ("labels", "must", "cannot", "together", "apart")


def fitted(X, clues=None, **params):
    return ConstrainedDBSCAN(**params).fit(X, clues=clues)


def obvious(X, clues, eps, min_samples, order=None):
    """10.6 of the specification, said with sets: labels and core rows."""
    n = len(X)
    order = range(n) if order is None else list(order)
    near = [[t for t in order if ((X[s] - X[t]) ** 2).sum() <= eps**2] for s in range(n)]
    core = [len(row) >= min_samples for row in near]
    must, _, cannot, _ = clues.pairs(expand=True)
    closure = [{i} for i in range(n)]
    for i, j in must.tolist():
        whole = closure[i] | closure[j]
        for k in whole:
            closure[k] = whole
    foes = {frozenset(pair) for pair in cannot.tolist()}
    labels, cluster = [-1] * n, -1
    for x in order:
        if labels[x] >= 0 or not core[x]:
            continue
        cluster += 1
        inside, queue = [], []

        def add(row, inside=inside, queue=queue, cluster=cluster):
            if any(frozenset((i, j)) in foes for i in closure[row] for j in inside):
                return
            for i in order:
                if i in closure[row]:
                    labels[i] = cluster
                    inside.append(i)
                    queue.append(i)

        add(x)
        while queue:
            s = queue.pop(0)
            for t in near[s] if core[s] else ():
                if labels[t] < 0:
                    add(t)
    return labels, np.flatnonzero(core).tolist()


# --- the specification ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("eps", "links", "expected"),
    [
        (2.2, {}, [0, 0, 0, 0, 0, 0, 0, 0]),
        (2.2, {"cannot": [(3, 7)]}, [0, 0, 0, 0, 1, 1, 1, 1]),
        (2.2, {"must": [(3, 7)], "cannot": [(0, 3)]}, [0, 0, 0, 1, 1, 1, 1, 1]),
        (1.6, {}, [0, 0, 0, 0, 1, 1, 1, 0]),
        (1.6, {"must": [(3, 7)], "cannot": [(1, 3)]}, [0, 0, 0, 1, 2, 2, 2, 1]),
    ],
)
def test_worked_examples(eps, links, expected):
    model = fitted(A8, Clues(8, **links), eps=eps, min_samples=3)
    assert model.labels_.tolist() == expected
    assert model.core_sample_indices_.tolist() == (list(range(8)) if eps == 2.2 else list(range(7)))
    assert not model.broken_.kinds


@pytest.mark.needs_data
def test_worked_examples_are_those_of_the_specification(spec_folder):
    import json

    example = json.loads((spec_folder / "survey-worked-examples.json").read_text())["examples"]["constrained_dbscan"]
    clues = Clues(8, must=[(3, 7)], cannot=[(0, 3)])
    assert fitted(A8, clues, eps=2.2, min_samples=example["minPts"]).labels_.tolist() == example["eps_2_2_ML37_CL03"]
    clues = Clues(8, must=[(3, 7)], cannot=[(1, 3)])
    assert fitted(A8, clues, eps=1.6, min_samples=example["minPts"]).labels_.tolist() == example["eps_1_6_ML37_CL13"]


def test_a_closure_does_not_bring_in_what_the_cluster_excludes():
    """Erratum E49: row 2 is near and free, but must be with row 5, which row 0 excludes."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [30.0], [31.0], [32.0]])
    clues = Clues(7, must=[(2, 5)], cannot=[(0, 5)])
    model = fitted(X, clues, eps=1.0, min_samples=2)
    assert model.labels_.tolist() == [0, 0, 1, 1, 1, 1, 1]


def test_a_closure_enters_as_a_whole_and_grows_from_all_its_rows():
    """Erratum E48: must-linked rows are queued themselves, and bring their neighborhoods."""
    X = np.array([[0.0], [1.0], [2.0], [30.0], [31.0], [32.0]])
    assert fitted(X, eps=1.0, min_samples=2).labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert fitted(X, Clues(6, must=[(2, 4)]), eps=1.0, min_samples=2).labels_.tolist() == [0] * 6


@given(st.integers(0, 2**16), st.integers(1, 24), st.booleans())
def test_an_obvious_version_agrees(seed, n, given_order):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, 2)).astype(float)
    clues = sample_clues(rng.integers(3, size=n), [k for k in KINDS if rng.random() < 0.6], rng)
    order = rng.permutation(n) if given_order else "index"
    params = {"eps": float(rng.choice([1.0, 1.5, 2.3])), "min_samples": int(rng.integers(1, 5))}
    model = fitted(X, clues, **params, order=order, strays="noise")
    labels, core = obvious(X, clues, **params, order=order if given_order else None)
    assert model.labels_.tolist() == labels
    assert model.core_sample_indices_.tolist() == core


# --- without clues ----------------------------------------------------------------------------------------


@given(st.integers(0, 2**16), st.integers(1, 80), st.integers(1, 10), st.integers(1, 7), st.booleans())
def test_without_clues_it_is_dbscan(seed, n, d, min_samples, grid):
    """The same labels, border rows and numbers included; on a grid many rows are exactly ``eps`` apart."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, d)).astype(float) if grid else rng.normal(size=(n, d))
    eps = float(rng.choice([0.5, 1.0, 1.5, 2.0]))
    theirs = DBSCAN(eps=eps, min_samples=min_samples).fit(X)
    for clues in (None, Clues(n), np.full(n, -1)):
        ours = fitted(X, clues, eps=eps, min_samples=min_samples)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)


@pytest.mark.parametrize("sparse", [False, True])
def test_given_distances_are_used(sparse):
    X = np.random.default_rng(0).normal(size=(120, 2))
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    if sparse:
        distances = csr_array(np.where(distances < 0.8, distances, 0))
    clues = Clues(120, cannot=[(0, 1)], must=[(2, 3)])
    expected = fitted(X, clues, eps=0.3)
    np.testing.assert_array_equal(fitted(distances, clues, eps=0.3, metric="precomputed").labels_, expected.labels_)


def test_weights_are_those_of_dbscan():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(200, 2)), rng.uniform(0.1, 3, size=200)
    theirs = DBSCAN(eps=0.3, min_samples=6).fit(X, sample_weight=weight)
    ours = ConstrainedDBSCAN(eps=0.3, min_samples=6).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.objective_ == pytest.approx(weight[ours.labels_ < 0].sum())


def test_a_component_is_dense_by_the_weights_of_its_rows():
    X, clues = [[0.0], [10.0], [20.0], [30.0]], Clues(4, must=[(0, 1), (2, 3)])
    model = ConstrainedDBSCAN(eps=1.0, min_samples=5, dense_components=True)
    assert model.fit(X, clues=clues, sample_weight=[3.0, 2.0, 2.0, 2.0]).core_sample_indices_.tolist() == [0, 1]


def test_a_row_without_weight_is_no_core_row():
    """Row 1 lies between two pairs; it would join them, but it is as if it were not there."""
    X = np.array([[0.0], [1.0], [2.0]])
    model = ConstrainedDBSCAN(eps=1.0, min_samples=1).fit(X, sample_weight=[1, 0, 1])
    assert model.core_sample_indices_.tolist() == [0, 2]
    assert model.labels_.tolist() == [0, 0, 1]


# --- clues --------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**16), st.integers(2, 40), st.sampled_from(["index", "density"]), st.booleans())
def test_every_clue_holds_and_noise_is_never_told_to_be_somewhere(seed, n, order, dense):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(3, size=n)
    clues = sample_clues(y, KINDS, rng)
    model = fitted(X, clues, eps=0.5, min_samples=3, order=order, dense_components=dense)
    assert model.broken_ == broken(model.labels_, clues)
    assert not model.broken_.kinds
    must, _, cannot, _ = clues.pairs(expand=True)
    labels = model.labels_
    assert (labels[must[:, 0]] == labels[must[:, 1]]).all()
    assert (labels[must.ravel()] >= 0).all()
    assert (labels[clues.labels >= 0] >= 0).all()
    both = labels[cannot]
    assert ((both[:, 0] != both[:, 1]) | (both[:, 0] == -1)).all()
    assert set(labels) - {-1} == set(range(model.n_clusters_))
    assert model.objective_ == np.count_nonzero(labels < 0) == model.trace_[-1]


@given(st.integers(0, 2**16), st.integers(2, 30))
def test_strays_are_noise_where_asked_for(seed, n):
    """A component lies in one cluster or is noise; making clusters of strays changes nothing else."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    clues = sample_clues(rng.integers(2, size=n), KINDS, rng)
    paper, ours = (fitted(X, clues, eps=0.5, min_samples=3, strays=s).labels_ for s in ("noise", "cluster"))
    for c in range(clues.n_components):
        assert len(set(paper[clues.components == c])) == 1
    kept = paper >= 0
    np.testing.assert_array_equal(ours[kept], paper[kept])


def test_strays_are_numbered_by_their_first_row_and_broken_names_them_otherwise():
    X = 10.0 * np.arange(6)[:, None]
    clues = Clues(6, must=[(2, 5), (1, 4)])
    assert fitted(X, clues).labels_.tolist() == [-1, 0, 1, -1, 0, 1]
    backwards = fitted(X, clues, order=np.arange(6)[::-1]).labels_
    assert backwards.tolist() == [-1, 1, 0, -1, 1, 0]
    model = fitted(X, clues, strays="noise")
    assert (model.labels_ == -1).all()
    assert model.broken_ == clues
    assert model.n_clusters_ == 0
    assert model.objective_ == 6


def test_dense_components_start_clusters():
    """Three must-linked rows far from each other; row 3 is next to one of them."""
    X = np.array([[0.0], [10.0], [20.0], [20.5], [40.0]])
    clues = Clues(5, must=[(0, 1), (1, 2)])
    assert fitted(X, clues, min_samples=3).labels_.tolist() == [0, 0, 0, -1, -1]
    model = fitted(X, clues, min_samples=3, dense_components=True)
    assert model.labels_.tolist() == [0, 0, 0, 0, -1]
    assert model.core_sample_indices_.tolist() == [0, 1, 2]


def test_apart_groups_and_labels_are_cannot_links():
    X = np.zeros((6, 1))
    assert fitted(X, Clues(6, apart=[0, 0, 0, -1, -1, -1])).labels_.tolist() == [0, 1, 2, 0, 0, 0]
    assert fitted(X, [0, 1, -1, 0, -1, -1]).labels_.tolist() == [0, 1, 0, 0, 0, 0]


def test_order_decides_who_gets_a_blocked_region():
    """Rows 0 and 4 exclude each other; those between them go with whoever comes first."""
    X = np.arange(5.0)[:, None]
    clues = Clues(5, cannot=[(0, 4)])
    assert fitted(X, clues, eps=1.0, min_samples=2).labels_.tolist() == [0, 0, 0, 0, 1]
    backwards = fitted(X, clues, eps=1.0, min_samples=2, order=[4, 3, 2, 1, 0]).labels_
    assert backwards.tolist() == [1, 0, 0, 0, 0]
    by_density = fitted(X, clues, eps=1.0, min_samples=2, order="density").labels_
    assert by_density.tolist() == [0, 0, 0, 0, 1]  # rows 1, 2 and 3 first, from 1 on: its neighbor 0 before 4


def test_contradictions_raise_before_any_work():
    with pytest.raises(Contradiction, match="rows 0 and 2 must be apart"):
        fitted(A8, Clues(8, must=[(0, 1), (1, 2)], cannot=[(0, 2)]))


def test_weights_of_clues_and_other_kinds_are_remarked_upon():
    with pytest.warns(SoftClueWarning, match="weights"):
        fitted(A8, Clues(8, must=[(0, 1), (2, 3)], must_weight=[1, 2]))
    with pytest.warns(UnusedClueWarning, match="sizes"):
        fitted(A8, Clues(8, sizes=(1, 3)))


# --- odd input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[3.0]] * 7, np.zeros((4, 9)), np.ones((3, 2), dtype=np.float32)])
@pytest.mark.parametrize("eps", [0, 0.5])
def test_one_row_equal_rows_and_radius_zero(X, eps):
    n = len(X)
    model = fitted(X, eps=eps, min_samples=3)
    assert model.labels_.tolist() == ([0] * n if n >= 3 else [-1] * n)
    assert model.labels_.dtype == np.int32


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"eps": -1}, "eps"),
        ({"min_samples": 0}, "min_samples"),
        ({"metric": "cosine"}, "metric"),
        ({"order": [0, 0, 1, 2, 3, 4, 5, 6]}, "permutation of the 8 row numbers"),
        ({"order": np.arange(8.0)}, "'index', 'density' or a permutation of the 8 row numbers, as whole numbers"),
        ({"order": [True, False]}, "'index', 'density' or a permutation of the 8 row numbers"),
        ({"order": "random"}, "order"),
        ({"strays": "drop"}, "strays"),
        ({"metric": "precomputed"}, r"square matrix of distances; X has shape \(8, 2\)"),
    ],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(ValueError, match=message):
        fitted(A8, **params)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ((0, 1, 0.5), "row 0, column 1 differs from its mirror image"),
        ((2, 1, -1.0), "negative"),
        ((2, 2, 1.0), "row 2, column 2 is the distance of a row from itself"),
    ],
)
def test_invalid_distance_matrices_are_refused(kind, entry, words):
    distances = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    assert fitted(kind(distances), eps=1, min_samples=2, metric="precomputed").n_clusters_ == 1
    distances[entry[:2]] = entry[2]
    with pytest.raises(ValueError, match=words):
        fitted(kind(distances), eps=1, metric="precomputed")
    with pytest.raises(ValueError, match="square"):
        fitted(kind(distances[:3]), eps=1, metric="precomputed")


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_too_much_memory_is_refused(kind, metric):
    X = kind(np.ones((300, 300)) - np.eye(300))
    with pytest.raises(MemoryError, match=r"pairs of rows within eps=30 need .* more than memory_limit=1e-05 GiB"):
        fitted(X, eps=30, metric=metric, memory_limit=1e-5)
    assert fitted(X, eps=30, metric=metric).n_clusters_ == 1


def test_growing_in_slices_changes_nothing(monkeypatch):
    X = make_moons(300, noise=0.1, random_state=0)[0]
    clues = sample_clues(make_moons(300, noise=0.1, random_state=0)[1], KINDS, np.random.default_rng(0))
    whole = fitted(X, clues, eps=0.2).labels_
    monkeypatch.setattr(density, "SLICE", 10)
    np.testing.assert_array_equal(fitted(X, clues, eps=0.2).labels_, whole)


def test_a_callback_sees_the_fit():
    seen = []

    class Watcher:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            seen.append((context.task_name, getattr(context, "objective", None)))

        def teardown(self, estimator, context): ...

    ConstrainedDBSCAN(0.1).set_callbacks(Watcher()).fit(A8)
    assert seen == [("iteration", 8.0), ("start", None), ("fit", None)]


# --- how good it is -----------------------------------------------------------------------------------------

PATTERNS = ["clusterincluster", "corners", "crescentfullmoon", "gaussians", "halfkernel", "twospirals"]


def rule(X):
    """A radius too small for DBSCAN: nine rows in ten have three others within it."""
    from scipy.spatial import cKDTree

    return float(np.quantile(cKDTree(X).query(X, k=4)[0][:, -1], 0.9))


@pytest.mark.needs_data
@pytest.mark.parametrize("name", PATTERNS)
def test_one_percent_of_the_pairs_finds_the_patterns(name):
    data = load(f"synth_{name}")
    clues = Clues.sample(data.y, pairs=0.01, random_state=0)
    model = fitted(data.X, clues, eps=rule(data.X), min_samples=4)
    assert ari(data.y, model.labels_) >= 0.95


def test_golden_number_and_what_clues_cannot_mend():
    """Labels join a moon that was cut in two; at a radius that joins both moons they part few rows."""
    X, y = make_moons(200, noise=0.1, random_state=1)
    known = np.where(np.arange(200) % 10 == 0, y, -1)
    plain, with_clues = fitted(X, eps=0.2), fitted(X, known, eps=0.2)
    assert (plain.n_clusters_, with_clues.n_clusters_) == (3, 2)
    assert ari(y, with_clues.labels_) == pytest.approx(0.990050, abs=1e-6)
    assert ari(y, fitted(X, known, eps=0.25).labels_) == pytest.approx(0.004224, abs=1e-6)
