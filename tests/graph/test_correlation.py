"""CorrelationClusterer: best by brute force, hard clues hold, and wrong scores build no bridges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import cluewise as cw
from cluewise import Clues, CorrelationClusterer
from cluewise.core.views import broken_weight
from cluewise.exceptions import ClueError, Contradiction, UnusedClueWarning
from cluewise.graph import _search
from cluewise.graph._signed import build_signed, gain_of, hard_part
from cluewise.metrics import broken
from twins.correlation import _partitions


def signed(n, pairs, weight, **more):
    pairs, weight = np.reshape(pairs, (-1, 2)), np.asarray(weight, float)
    return Clues(
        n,
        must=pairs[weight > 0],
        must_weight=weight[weight > 0],
        cannot=pairs[weight < 0],
        cannot_weight=-weight[weight < 0],
        **more,
    )


def draw(seed, n, *, ties=False, share=0.6):
    """Random weights of all kinds, some of them infinite but without contradictions."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    pairs = np.argwhere(np.triu(rng.random((n, n)) < share, 1))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    weight = np.where(same, 1.0, -1.0) + (rng.integers(-2, 3, len(pairs)) if ties else 2 * rng.normal(size=len(pairs)))
    sure = rng.random(len(pairs)) < 0.1
    weight = np.where(sure, np.where(same, np.inf, -np.inf), weight)
    column = np.full(n, -1)
    for c in range(3):
        members = rng.permutation(np.flatnonzero(y == c))[:2]
        column[members] = np.arange(len(members))
    return signed(
        n,
        pairs,
        weight,
        labels=np.where(rng.random(n) < 0.2, y, -1),
        together=np.where(rng.random(n) < 0.3, rng.integers(3, size=n), -1),
        together_weight=0.5,
        apart=[column] if seed % 2 else [rng.integers(-1, 2, size=n)],
        apart_weight=np.inf if seed % 2 else 0.5,
    )


def fit(clues, max_exact=10, unscored=0.0, **params):
    return CorrelationClusterer(max_exact, unscored=unscored, **params).fit(None, clues=clues)


def cost_of(clues, labels, unscored=0.0):
    """The objective, pair by pair: rows that hard clues join are one."""
    mentioned = np.zeros((clues.n, clues.n), dtype=bool)
    must, _, cannot, _ = clues.pairs(expand=True)
    for i, j in [*must, *cannot]:
        mentioned[i, j] = mentioned[j, i] = True
    node = hard_part(clues).components
    silent = ~mentioned & (labels[:, None] == labels) & (node[:, None] != node)
    return broken_weight(clues, labels) + unscored * np.triu(silent, 1).sum()


def best_by_force(clues, unscored=0.0):
    def cost(parts):
        labels = np.empty(clues.n, np.int64)
        for h, part in enumerate(parts):
            labels[part] = h
        return cost_of(clues, labels, unscored)

    return min(map(cost, _partitions(list(range(clues.n)))))


def assert_hard_clues_hold(model, clues):
    bad = broken(model.labels_, clues)
    weights = [bad.must_weight, bad.cannot_weight, *(g.weights for g in (*bad.together, *bad.apart))]
    assert np.isfinite(np.concatenate(weights)).all()


def test_by_hand():
    """Two triangles and a bridge of 1.5; cutting it costs that, keeping it the two cannot-links that cost 3."""
    pairs = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3), (1, 4), (0, 5)]
    clues = signed(6, pairs, [1, 1, 1, 1, 1, 1, 1.5, -2, -1])
    for max_exact in (0, 10):
        model = fit(clues, max_exact)
        assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
        assert model.objective_ == 1.5
        assert model.broken_ == clues.subset(must=np.all(clues.must == (2, 3), axis=1))
    weaker = signed(6, pairs, [1, 1, 1, 1, 1, 1, 1.5, -0.25, -1])
    assert fit(weaker).labels_.tolist() == [0] * 6
    assert fit(weaker).objective_ == 1.25


@pytest.mark.parametrize("seed", range(40))
def test_best_by_brute_force(seed):
    clues = draw(seed, 7, ties=seed % 3 == 0)
    model = fit(clues)
    assert model.objective_ == pytest.approx(best_by_force(clues))
    assert model.objective_ == pytest.approx(broken_weight(clues, model.labels_))
    assert_hard_clues_hold(model, clues)


@pytest.mark.parametrize("unscored", [0.5, 3.0])
@pytest.mark.parametrize("seed", range(24))
def test_best_by_brute_force_with_a_price_for_pairs_that_nobody_mentions(seed, unscored):
    clues = draw(seed, 7, ties=seed % 3 == 0, share=0.4)
    rng = np.random.default_rng(seed)
    columns = rng.integers(-1, 3, size=(7, seed % 4))  # soft groups that overlap
    clues |= Clues(7, apart=columns, apart_weight=0.25)
    model = fit(clues, unscored=unscored)
    assert model.objective_ == pytest.approx(best_by_force(clues, unscored))
    assert model.objective_ == pytest.approx(cost_of(clues, model.labels_, unscored))
    assert_hard_clues_hold(model, clues)
    searched = fit(clues, 3, unscored=unscored)
    assert searched.objective_ == pytest.approx(cost_of(clues, searched.labels_, unscored))


def test_a_chain_does_not_grow_through_pairs_that_nobody_scored():
    chain = signed(6, [(i, i + 1) for i in range(5)], [2.0] * 5)
    assert fit(chain).n_clusters_ == 1
    model = CorrelationClusterer().fit(None, clues=chain)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert model.objective_ == 2 + 2 * 0.5


def test_search_is_seldom_worse_than_the_best():
    gaps = []
    for seed in range(60):
        clues = draw(seed, 9)
        best, found = fit(clues).objective_, fit(clues, 5)
        assert found.objective_ >= best - 1e-9
        assert_hard_clues_hold(found, clues)
        gaps.append((found.objective_ - best) / (1 + best))
    assert np.mean(np.array(gaps) < 1e-9) >= 0.85
    assert np.mean(gaps) < 0.02


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_exact", [0, 6])
def test_no_single_move_and_no_union_gains_anything(seed, max_exact):
    clues = draw(seed, 40, share=0.2)
    model = fit(clues, max_exact)
    assert_hard_clues_hold(model, clues)
    labels, k = model.labels_, model.n_clusters_
    component = Clues(40, must=clues.must[np.isinf(clues.must_weight)]).components
    for node in range(component.max() + 1):
        for h in range(k + 1):
            other = np.where(component == node, h, labels)
            assert broken_weight(clues, other) >= model.objective_ - 1e-6
    for a in range(k):
        for b in range(a):
            assert broken_weight(clues, np.where(labels == a, b, labels)) >= model.objective_ - 1e-6


@given(st.integers(0, 2**16), st.sampled_from([0, 4, 10]))
def test_trace_falls_to_the_cost_of_the_labels(seed, max_exact):
    clues = draw(seed, 25, share=0.3)
    model = fit(clues, max_exact)
    assert (np.diff(model.trace_) < 1e-9).all()
    assert model.n_iter_ == len(model.trace_)
    assert model.objective_ == pytest.approx(broken_weight(clues, model.labels_))
    assert model.broken_ == broken(model.labels_, clues)


def test_slices_change_nothing(monkeypatch):
    """A kernel that returns early, to let Ctrl-C through, is called again and goes on."""
    problems = [draw(seed, 60, share=0.15) for seed in range(4)]
    whole = [fit(clues, 5) for clues in problems]
    monkeypatch.setattr(_search, "WORK", 60)
    for clues, model in zip(problems, whole):
        again = fit(clues, 5)
        assert_array_equal(again.labels_, model.labels_)
        np.testing.assert_allclose(again.trace_, model.trace_)


def test_gain_is_what_the_objective_falls_by():
    clues = draw(3, 12)
    node = Clues(12, must=clues.must[np.isinf(clues.must_weight)]).components
    graph = build_signed(clues, node)
    rng = np.random.default_rng(0)
    apart = broken_weight(clues, node)
    for _ in range(20):
        of_node = rng.integers(graph.n, size=graph.n).astype(np.int32)
        cost, gain = broken_weight(clues, of_node[node]), gain_of(graph, of_node)
        assert (np.isinf(cost) and gain == -np.inf) or apart - gain == pytest.approx(cost)


# --- rows without links, rows without X -----------------------------------------------------------------------------


def test_rows_that_nothing_joins_are_alone():
    model = fit(Clues(4, cannot=[(0, 1)], apart=[0, 0, 1, 1]))
    assert model.labels_.tolist() == [0, 1, 2, 3]
    assert model.n_clusters_ == 4
    assert model.objective_ == 0
    assert not model.broken_.kinds
    assert CorrelationClusterer().fit([[0.0], [0.0]]).labels_.tolist() == [0, 1]


def test_rows_are_those_of_the_clues():
    scores = Clues.from_scores(3, [(0, 2)], [0.9])
    assert CorrelationClusterer().fit_predict(None, clues=scores).tolist() == [0, 1, 0]
    assert CorrelationClusterer().fit(clues=["a", None, "a"]).labels_.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"^CorrelationClusterer needs clues, or X for the number of rows\.$"):
        CorrelationClusterer().fit(None)
    with pytest.raises(ClueError, match="the clues are for 3 rows, but X has 2"):
        CorrelationClusterer().fit([[1.0], [2.0]], clues=scores)


def test_no_rows_at_all():
    model = fit(Clues(0))
    assert model.labels_.shape == (0,)
    assert model.n_clusters_ == 0
    assert model.objective_ == 0


def test_unused_clues_are_named():
    with pytest.warns(UnusedClueWarning, match="sizes"):
        fit(Clues(3, sizes=(1, 2)))


# --- hard clues -----------------------------------------------------------------------------------------------------


def test_one_record_per_source():
    """A chain of strong links through four records of two sources."""
    chain = signed(4, [(0, 1), (1, 2), (2, 3)], [3, 4, 3])
    assert fit(chain).labels_.tolist() == [0, 0, 0, 0]
    source = Clues(4, apart=["a", "b", "a", "b"], apart_weight=np.inf)
    for max_exact in (0, 10):
        assert fit(chain | source, max_exact).labels_.tolist() == ([0, 0, 1, 1] if max_exact else [0, 1, 1, 2])
    soft = Clues(4, apart=["a", "b", "a", "b"], apart_weight=1.0)
    assert fit(chain | soft).labels_.tolist() == [0, 0, 0, 0]
    assert fit(chain | soft).objective_ == 2


def test_large_sources_are_not_written_out():
    """Half a million pairs of one source each would not fit into the limit of written-out pairs."""
    n = 20_000
    scores = Clues.from_scores(n, np.arange(n).reshape(-1, 2), np.full(n // 2, 0.9))
    model = fit(scores | Clues(n, apart=np.arange(n) % 2, apart_weight=np.inf))
    assert model.n_clusters_ == n // 2
    model = fit(scores | Clues(n, apart=np.zeros(n), apart_weight=np.inf))
    assert model.n_clusters_ == n


def test_contradictions_are_told_by_a_chain():
    hard = {"must_weight": np.inf, "cannot_weight": np.inf}
    with pytest.raises(Contradiction, match="0 - 1 - 2"):
        fit(Clues(3, must=[(0, 1), (1, 2)], cannot=[(0, 2)], **hard))
    with pytest.raises(Contradiction, match="apart group"):
        fit(Clues(2, must=[(0, 1)], must_weight=np.inf, apart=[0, 0], apart_weight=np.inf))
    fit(Clues(3, must=[(0, 1), (1, 2)], cannot=[(0, 2)]))  # soft clues may contradict each other


def test_hard_must_links_are_kept_at_any_price():
    clues = signed(4, [(0, 1), (0, 2), (1, 2), (2, 3)], [np.inf, -50, -50, 1])
    assert fit(clues).labels_.tolist() == [0, 0, 1, 1]
    column = Clues(4, together=[0, -1, 0, -1], together_weight=np.inf)
    model = fit(clues | column)
    assert model.labels_.tolist() == [0, 0, 0, 0]
    assert model.objective_ == 100


# --- order, progress ------------------------------------------------------------------------------------------------


def test_order_decides_ties_and_numbers():
    tied = signed(3, [(0, 1), (1, 2), (0, 2)], [1, 1, -2])
    assert fit(tied, 0).labels_.tolist() == [0, 0, 1]
    assert fit(tied, 0, order=[2, 1, 0]).labels_.tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match="order is 'index' or a permutation of the 3 row numbers"):
        fit(tied, order=[0, 1, 1])


class Watcher:
    """Counts iterations, and stops or interrupts after some."""

    def __init__(self, stop=None, error=None):
        self.seen, self.stop, self.error = [], stop, error

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.task_name != "iteration":
            return False
        self.seen.append(context.objective)
        if self.error and len(self.seen) == self.stop:
            raise self.error
        return len(self.seen) == self.stop

    def teardown(self, estimator, context):
        pass


def test_callbacks_watch_and_stop():
    clues = draw(7, 90, share=0.1)
    whole = fit(clues, 3)
    assert whole.n_iter_ > 2
    watcher = Watcher()
    model = CorrelationClusterer(3, unscored=0).set_callbacks(watcher).fit(None, clues=clues)
    np.testing.assert_allclose(watcher.seen, whole.trace_)
    assert_array_equal(model.labels_, whole.labels_)
    model = CorrelationClusterer(3, unscored=0).set_callbacks(Watcher(stop=2)).fit(None, clues=clues)
    np.testing.assert_allclose(model.trace_, whole.trace_[:2])
    assert model.objective_ == pytest.approx(broken_weight(clues, model.labels_))


def test_interrupted():
    clues = draw(7, 90, share=0.1)
    model = CorrelationClusterer(3, unscored=0).set_callbacks(Watcher(2, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        model.fit(None, clues=clues)
    assert model.n_iter_ == 2
    assert model.objective_ == pytest.approx(broken_weight(clues, model.labels_))
    assert not hasattr(model, "broken_")


# --- records --------------------------------------------------------------------------------------------------------


def pairwise_f(truth, labels):
    def pairs(codes):
        size = np.unique(codes, return_counts=True)[1]
        return (size * (size - 1)).sum()

    return 2 * pairs(labels.astype(np.int64) * len(truth) + truth) / (pairs(labels) + pairs(truth))


def test_fewer_false_bridges_than_connected_components():
    """Pinned for these records; `experiments/entities.py` has the table."""
    records, other = (cw.datasets.make_entities(3000, n_sources=4, typos=0.15, random_state=s) for s in (0, 1))
    pairs = records.block()
    scores = Clues.from_scores(3000, pairs, records.score(pairs, other))
    plain = fit(scores)
    source = fit(scores | Clues(3000, apart=records.source, apart_weight=np.inf))
    ways = (Clues(3000, must=scores.must).components, plain.labels_, source.labels_)
    found = [pairwise_f(records.truth, labels) for labels in ways]
    assert found[0] + 0.05 < found[1] < found[2]
    assert len(np.unique(source.labels_ * 4 + records.source)) == 3000
