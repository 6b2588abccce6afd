"""Constrained 1-spectral clustering: the best cut by enumeration, links that hold, graphs of many rows."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons

import cluewise as cw
from cluewise import Clues
from cluewise.core.graphs.affinity import neighbor_affinity
from cluewise.exact.feasibility import Witness
from cluewise.exceptions import ClueError, Contradiction, Infeasible, SoftClueWarning
from cluewise.spectral import OneSpectral
from cluewise.spectral._one_spectral import moves

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])


def worked():
    """The affinity of the worked example."""
    weight = np.exp(-((A8[:, None] - A8) ** 2).sum(axis=2) / 2)
    np.fill_diagonal(weight, 0)
    return np.where(weight < 1e-6, 0, weight)


def balanced_cut(weight, labels, volume=None):
    """What each cluster cuts, divided by its volume."""
    volume = weight.sum(axis=1) if volume is None else volume
    found = 0.0
    for h in np.unique(labels):
        inside = labels == h
        found += weight[inside][:, ~inside].sum() / volume[inside].sum()
    return found


def holds(labels, clues):
    must, _, cannot, _ = clues.pairs()
    return (labels[must[:, 0]] == labels[must[:, 1]]).all() and (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()


@pytest.mark.parametrize(
    ("must", "cannot", "cut", "sides"),
    [
        ([], [], 0.064333, "00001110"),
        ([], [(0, 3)], 0.354981, "00011111"),
        ([(0, 7)], [(1, 3)], 0.535214, "00011110"),
        ([(2, 6)], [(4, 5)], 1.037905, "00010101"),
    ],
)
def test_worked_example(must, cannot, cut, sides):
    model = OneSpectral(2, affinity="precomputed", random_state=0)
    model.fit(worked(), clues=Clues(8, must=must or None, cannot=cannot or None))
    assert model.cut_ == model.objective_ == pytest.approx(cut, abs=2e-6)
    side = np.array([int(bit) for bit in sides])
    assert cw.metrics.ari(side, model.labels_) == 1
    assert model.trace_[-1] == model.objective_
    assert len(model.trace_) > 1


def draw(rng):
    """A connected graph of 7 to 10 vertices, and up to five links that two clusters can hold."""
    n = int(rng.integers(7, 11))
    weight = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    around = np.arange(n)
    weight[around, (around + 1) % n] += 0.05
    weight = weight + weight.T
    y = rng.permutation(around % 2)
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(i)])[: rng.integers(6)]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return weight, Clues(n, must=pairs[same], cannot=pairs[~same])


def test_the_optimum_by_enumeration(sweep):
    """Of 300 graphs the best cut of at least 95 %, and all links of all."""
    cases = sweep(12, 300)
    found = 0
    for case in range(cases):
        weight, clues = draw(np.random.default_rng(case))
        n = len(weight)
        sides = (np.array((0, *bits)) for bits in product((0, 1), repeat=n - 1) if any(bits))
        best = min(balanced_cut(weight, side) for side in sides if holds(side, clues))
        model = OneSpectral(2, affinity="precomputed", random_state=0).fit(weight, clues=clues)
        assert holds(model.labels_, clues)
        assert not model.broken_.kinds
        assert model.cut_ == pytest.approx(balanced_cut(weight, model.labels_))
        found += model.cut_ <= best + 1e-9
    assert found >= 0.95 * cases


def test_three_clusters_by_enumeration(sweep):
    """Splits are not exact, so that the best cut is not always found; all links are held, always."""
    cases, found = sweep(4, 60), 0
    for case in range(cases):
        rng = np.random.default_rng(case)
        weight, _ = draw(rng)
        weight, n = weight[:7, :7], 7
        y = rng.permutation(np.arange(n) % 3)
        clues = Clues.sample(y, pairs=int(rng.integers(5)), random_state=case)
        every = (np.array((0, *rest)) for rest in product(range(3), repeat=n - 1))
        best = min(balanced_cut(weight, one) for one in every if len(set(one)) == 3 and holds(one, clues))
        model = OneSpectral(3, affinity="precomputed", random_state=0).fit(weight, clues=clues)
        assert holds(model.labels_, clues)
        assert model.cut_ == pytest.approx(balanced_cut(weight, model.labels_))
        assert model.cut_ >= best - 1e-9
        found += model.cut_ <= best + 1e-9
    assert found >= 0.75 * cases


def test_ratio_cut():
    """Two rows with many edges and six with few: by volume they are even, by number they are not."""
    rng = np.random.default_rng(4)
    weight, _ = draw(rng)
    n = len(weight)
    weight[:2, :2] += np.array([[0, 9], [9, 0]])
    sides = [np.array((0, *bits)) for bits in product((0, 1), repeat=n - 1) if any(bits)]
    for balance, volume in (("normalized", None), ("ratio", np.ones(n))):
        model = OneSpectral(2, affinity="precomputed", balance=balance, random_state=0).fit(weight)
        best = min(sides, key=lambda side: balanced_cut(weight, side, volume))
        assert model.cut_ == pytest.approx(balanced_cut(weight, best, volume))
        assert cw.metrics.ari(best, model.labels_) == 1


def graphs():
    """Twenty graphs of neighbors, with a number of clusters each."""
    for seed in range(4):
        yield make_moons(200, noise=0.1 + 0.05 * seed, random_state=seed)[0], 2
        yield make_blobs(200, centers=3 + seed, cluster_std=2.0, random_state=seed)[0], 3 + seed
        yield make_circles(200, factor=0.5, noise=0.1, random_state=seed)[0], 2 + seed
        yield np.random.default_rng(seed).random((200, 2)), 2 + seed
        yield np.random.default_rng(seed).normal(size=(200, 5)), 3 + seed


def test_cuts_are_no_worse_than_those_of_spectral_clustering(sweep):
    cases = sweep(5, 20)
    better = 0
    for (X, k), _ in zip(graphs(), range(cases)):
        graph = neighbor_affinity(X, 10)
        ours = OneSpectral(k, affinity="precomputed", random_state=0).fit(graph)
        theirs = SpectralClustering(k, affinity="precomputed", random_state=0).fit(graph.toarray())
        better += ours.cut_ <= balanced_cut(graph.toarray(), theirs.labels_) * (1 + 1e-9)
    assert better >= 0.9 * cases


def test_many_clusters_hold_all_links_at_a_low_cut():
    """The digits: each cut is lower than that of the true classes, which hold the links, too."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    graph = neighbor_affinity(X, 10)
    for k in (3, 10):
        rows = np.flatnonzero(y < k)
        part = csr_array(graph[rows][:, rows])
        clues = Clues.sample(y[rows], pairs=100, random_state=0)
        model = OneSpectral(k, affinity="precomputed", n_init=2, random_state=0).fit(part, clues=clues)
        assert holds(model.labels_, clues)
        assert model.cut_ < balanced_cut(part.toarray(), y[rows])
        assert cw.metrics.ari(y[rows], model.labels_) > 0.65


def test_links_turn_the_cut():
    """Two parallel strands: the cheap cut goes across both, the links say along."""
    x = np.arange(20.0)
    X = np.vstack([np.column_stack([x, np.zeros(20)]), np.column_stack([x, np.full(20, 2.0)])])
    y = np.repeat([0, 1], 20)
    plain = OneSpectral(2, n_neighbors=4, random_state=0).fit(X)
    assert cw.metrics.ari(y, plain.labels_) < 0.1
    clues = Clues.sample(y, pairs=12, random_state=0)
    told = OneSpectral(2, n_neighbors=4, random_state=0).fit(X, clues=clues)
    assert cw.metrics.ari(y, told.labels_) == 1
    assert told.cut_ > plain.cut_


def test_sparse_and_dense_graphs_are_the_same():
    dense, sparse = (
        OneSpectral(2, affinity="precomputed", random_state=0).fit(kind(worked())) for kind in (np.asarray, csr_array)
    )
    assert (dense.labels_ == sparse.labels_).all()
    assert dense.objective_ == pytest.approx(sparse.objective_)


def test_pieces_and_rows_without_neighbors():
    weight = np.zeros((7, 7))
    for a, b in ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5)):
        weight[a, b] = weight[b, a] = 1
    model = OneSpectral(3, affinity="precomputed", random_state=0).fit(weight)
    assert model.labels_.tolist() == [1, 1, 1, 0, 0, 0, 2] or model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert model.cut_ == 0
    told = OneSpectral(2, affinity="precomputed", random_state=0).fit(weight, clues=Clues(7, cannot=[(0, 2), (3, 5)]))
    assert holds(told.labels_, Clues(7, cannot=[(0, 2), (3, 5)]))


def test_fewer_vertices_than_clusters():
    clues = Clues(8, together=[0, 0, 0, 0, 1, 1, 1, 1])
    with pytest.warns(Warning, match="only 2 of 3 clusters"):
        model = OneSpectral(3, affinity="precomputed", random_state=0).fit(worked(), clues=clues)
    assert model.labels_.tolist() == [1, 1, 1, 1, 0, 0, 0, 0], "equally large, that of the lower volume is first"
    one = OneSpectral(1, affinity="precomputed", random_state=0).fit(worked())
    assert one.objective_ == 0
    assert not one.labels_.any()


def test_what_cannot_hold_is_said_before_anything_is_cut():
    model = OneSpectral(2, affinity="precomputed", random_state=0)
    with pytest.raises(Contradiction, match="0 - 1 - 2"):
        model.fit(worked(), clues=Clues(8, must=[(0, 1), (1, 2)], cannot=[(0, 2)]))
    cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    with pytest.raises(Infeasible, match="rows 0, 1, 2, 3 and 4 cannot be spread over 2 clusters") as caught:
        model.fit(worked(), clues=Clues(8, cannot=cycle))
    assert len(caught.value.witness.cannot) == 5


def test_clues_that_may_break():
    """Of a triangle of cannot-links the lightest breaks; a contradiction is no error."""
    model = OneSpectral(2, affinity="precomputed", hard=False, random_state=0)
    clues = Clues(8, cannot=[(0, 1), (1, 2), (0, 2)], cannot_weight=[3.0, 1.0, 3.0])
    model.fit(worked(), clues=clues)
    assert model.broken_.cannot.tolist() == [[1, 2]]
    assert model.objective_ == pytest.approx(model.cut_ + model.link_price_)
    both = Clues(8, must=[(0, 1)], cannot=[(0, 1)], must_weight=2.0)
    assert model.fit(worked(), clues=both).broken_.kinds == {"cannot"}
    three = OneSpectral(3, affinity="precomputed", hard=False, random_state=0)
    every = [(i, j) for i in range(4) for j in range(i)]
    assert len(three.fit(worked(), clues=Clues(8, cannot=every)).broken_.cannot) == 1
    right = Clues(8, must=[(0, 7)], cannot=[(1, 3)])
    assert model.fit(worked(), clues=right).cut_ == pytest.approx(0.535214, abs=2e-6)
    assert not model.broken_.kinds
    with pytest.raises(ClueError, match="infinite weight"):
        model.fit(worked(), clues=Clues(8, must=[(0, 1)], must_weight=np.inf))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_must_links_that_may_break_between_rows_without_neighbors():
    weight = np.zeros((8, 8))
    weight[:6, :6] = worked()[:6, :6]
    model = OneSpectral(2, affinity="precomputed", hard=False, random_state=0)
    model.fit(weight, clues=Clues(8, must=[(6, 7)], cannot=[(0, 6)]))
    assert not model.broken_.kinds
    assert np.isfinite(model.trace_).all()


def test_weights_are_ignored_where_all_links_hold():
    clues = Clues(8, must=[(0, 7), (1, 2)], cannot=[(1, 3)], must_weight=[1.0, 7.0])
    with pytest.warns(SoftClueWarning, match="the weights, which differ, are ignored"):
        OneSpectral(2, affinity="precomputed", random_state=0).fit(worked(), clues=clues)


def test_a_search_that_ends_with_a_proof_names_the_rows(monkeypatch):
    """Where the first check of the clues was not sure, the exact solver is; its nodes are rows for the reader."""

    def prove(costs, net, **_):
        raise Infeasible("node 0", Witness(np.arange(4), np.array([(i, j) for j in range(4) for i in range(j)])))

    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    clues = Clues(30, cannot=[(2, 3), (2, 5), (2, 7), (3, 5), (3, 7), (5, 7)])
    monkeypatch.setattr(Clues, "require", lambda self, k: None)
    monkeypatch.setattr(moves, "cheapest", prove)
    with pytest.raises(Infeasible, match="rows 0, 1, 2 and 3 must all be apart"):
        OneSpectral(3, random_state=0, n_init=1).fit(X, clues=clues)


def test_memory_grows_with_the_edges(sweep):
    """70,000 rows with ten neighbors stay below 200 MB beyond the graph."""
    n = sweep(4_000, 70_000)
    X, y = make_blobs(n, centers=2, n_features=3, cluster_std=3.0, random_state=0)
    graph = neighbor_affinity(X, 10)
    clues = Clues.sample(y, pairs=50, random_state=0)
    tracemalloc.start()
    try:
        model = OneSpectral(2, affinity="precomputed", n_init=1, random_state=0).fit(graph, clues=clues)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert holds(model.labels_, clues)
    assert peak < 2_800 * n, f"{peak / n:.0f} bytes for each row"


def test_an_interrupted_fit_leaves_whole_clusters():
    class Press:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "iteration" and context.task_id == 1:
                raise KeyboardInterrupt

    rows = np.random.default_rng(3).exponential(size=(400, 3))
    clues = Clues(400, must=[(0, 9), (5, 80)], cannot=[(0, 5), (9, 200)])
    model = OneSpectral(6, n_init=1, random_state=0).fit(rows[:50])
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Press()).fit(rows, clues=clues)
    assert model.n_iter_ == 2
    assert np.bincount(model.labels_).shape == (6,)
    assert len(model.labels_) == 400
    whole = OneSpectral(6, n_init=1, random_state=0).fit(rows, clues=clues)
    assert whole.n_iter_ > 2
    assert whole.cut_ <= model.cut_


def test_pinned():
    X, y = make_moons(200, noise=0.15, random_state=0)
    model = OneSpectral(2, random_state=0).fit(X, clues=Clues.sample(y, pairs=40, random_state=0))
    assert model.cut_ == pytest.approx(0.033708, abs=1e-6)
    assert cw.metrics.ari(y, model.labels_) > 0.9
