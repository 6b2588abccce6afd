"""Whether clues helped: held-out clues that nothing entails, and a fair comparison."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans

import cluewise as cw
from cluewise import Clues, clusterers, metrics
from cluewise.advice import Comparison, Outcome, compare
from cluewise.checks._examples import adapt_rows
from cluewise.checks._fits import copy_with
from cluewise.datasets import load
from cluewise.exceptions import ClueError, Contradiction, UnusedClueWarning
from cluewise.metrics import held_out
from strategies import LIGHT


@pytest.fixture(scope="module")
def iris():
    return load("iris", standardize=True)


@st.composite
def some_clues(draw):
    """Clues of all kinds that speak of rows; they may contradict each other."""
    n = draw(st.integers(4, 14))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    code = st.integers(-1, 2)
    column = st.lists(code, min_size=n, max_size=n)
    return Clues(
        n,
        labels=draw(column) if draw(st.booleans()) else None,
        must=draw(st.lists(pair, max_size=8)) or None,
        cannot=draw(st.lists(pair, max_size=8)) or None,
        together=draw(column) if draw(st.booleans()) else None,
        apart=draw(column) if draw(st.booleans()) else None,
        partitions=draw(column) if draw(st.booleans()) else None,
        sizes=(0, n),
    )


def entailed(kept: Clues, held: Clues) -> bool:
    """Whether the kept clues say anything about what the held-out ones say, by closure."""
    component = kept.components
    apart = {
        frozenset((a, int(b)))
        for a in range(kept.n_components)
        for b in kept.graph.indices[kept.graph.indptr[a] : kept.graph.indptr[a + 1]]
    }
    for q in range(len(kept.cliques.weights)):
        members = kept.cliques.members[kept.cliques.indptr[q] : kept.cliques.indptr[q + 1]].tolist()
        apart |= {frozenset((a, b)) for a in members for b in members if a != b}
    same = any(component[i] == component[j] for i, j in held.must)
    different = any(frozenset((int(component[i]), int(component[j]))) in apart for i, j in held.cannot)
    named = set(component[kept.labels >= 0].tolist())
    labelled = any(int(component[row]) in named for row in np.flatnonzero(held.labels >= 0))
    return same or different or labelled


@settings(max_examples=150, deadline=None)
@given(clues=some_clues(), seed=st.integers(0, 99), share=st.sampled_from([0.1, 0.2, 0.5]))
def test_nothing_that_is_kept_entails_what_is_held_out(clues, seed, share):
    for rows in held_out.draw_splits(clues, 3, share, np.random.default_rng(seed)):
        kept, held = held_out.leave_out(clues, rows), held_out.select_about(clues, rows)
        assert not entailed(kept, held)
        # Every link and label is in exactly one of the two, and both have some.
        for kind in ("must", "cannot"):
            assert len(getattr(kept, kind)) + len(getattr(held, kind)) == len(getattr(clues, kind))
        assert ((kept.labels >= 0) ^ (held.labels >= 0)).tolist() == (clues.labels >= 0).tolist()
        assert held.kinds
        assert kept.kinds - {"sizes"}
        assert kept.sizes is not None
        # No kept clue speaks of a row that is held out.
        assert not rows[kept.tied].any()


def test_about_the_share_that_was_asked_for_is_held_out(iris):
    clues = Clues.sample(iris.y, pairs=300, random_state=0)
    rng = np.random.default_rng(0)
    held = [held_out.select_about(clues, rows) for rows in held_out.draw_splits(clues, 20, 0.2, rng)]
    assert len(held) == 20
    shares = [(len(one.must) + len(one.cannot)) / 300 for one in held]
    assert min(shares) >= 0.2
    assert np.mean(shares) < 0.3


def test_rows_joined_by_must_links_are_held_out_together():
    chains = [(i, i + 1) for start in range(0, 60, 3) for i in (start, start + 1)]
    clues = Clues(60, must=chains)
    for rows in held_out.draw_splits(clues, 10, 0.2, np.random.default_rng(0)):
        assert (rows.reshape(20, 3).sum(axis=1) % 3 == 0).all()


def test_one_large_component_is_opened_row_by_row():
    clues = Clues(40, must=[(i, i + 1) for i in range(39)])
    masks = list(held_out.draw_splits(clues, 5, 0.2, np.random.default_rng(0)))
    assert len(masks) == 5
    assert all(0 < rows.sum() < 20 for rows in masks)


def test_a_single_clue_cannot_be_held_out():
    assert list(held_out.draw_splits(Clues(3, must=[(0, 1)]), 5, 0.2, np.random.default_rng(0))) == []
    assert list(held_out.draw_splits(Clues(3), 5, 0.2, np.random.default_rng(0))) == []


def test_held_out_labels_are_judged_by_the_matching_of_all_labels():
    clues = Clues(6, labels=[0, 0, 0, 1, 1, 1])
    labels = np.array([5, 5, 2, 2, 2, 2])
    rows = np.array([False, False, True, True, False, False])
    assert held_out.kept_shares(labels, clues, rows) == {"labels": 0.5}
    # A single row always finds a cluster of its own that suits it, but class 0 is cluster 5.
    rows = np.array([False, False, True, False, False, False])
    assert metrics.satisfaction(labels, held_out.select_about(clues, rows)) == {"labels": 1.0}
    assert held_out.kept_shares(labels, clues, rows) == {"labels": 0.0}


def test_good_clues_help_where_the_method_alone_is_lost():
    # K-means from a single start mixes up several digits.
    digits = load("digits")
    X, y = digits.X[:600], digits.y[:600]
    clues = Clues.sample(y, labels=0.2, pairs=400, random_state=0)
    result = compare(cw.PCKMeans(10, n_init=1), X, clues, truth=y, n_splits=4, random_state=0)
    assert result.helped is True
    assert result.with_clues.scores["ari"] > result.without.scores["ari"] + 0.05
    assert "Held-out clues are kept more often: the clues helped" in str(result)


def test_clues_that_lie_do_harm(iris):
    # Labels drawn at random drag centers to where nobody is.
    lies = np.where(np.arange(150) % 2, np.random.default_rng(0).permutation(iris.y), -1)
    clues = Clues.sample(iris.y, pairs=150, random_state=0)
    mixed = Clues.from_labels(lies) | clues
    result = compare(cw.PCKMeans(3), iris.X, mixed, truth=iris.y, n_splits=6, random_state=0)
    assert result.helped is not True
    assert result.with_clues.scores["ari"] < result.without.scores["ari"]


@pytest.mark.parametrize("name", [n for n, c in clusterers().items() if c.card.accepts & {"labels", "must", "cannot"}])
def test_every_clusterer_of_the_catalogue(iris, name):
    method = clusterers()[name]
    clues = Clues.sample(iris.y, labels=0.2, pairs=40, random_state=1).only(method.card.accepts)
    rows = adapt_rows(method(), iris.X)
    model = copy_with(method(3), **LIGHT)
    result = compare(model, rows, clues, truth=iris.y, n_splits=3, random_state=0)
    assert set(result.with_clues.satisfaction) == clues.kinds
    assert len(result.gains) == 3
    if method.card.hard:
        assert set(result.with_clues.satisfaction.values()) == {1.0}
    assert result.moved == 150 - round(150 * metrics.accuracy(result.without.labels, result.with_clues.labels))
    assert result.agreement == metrics.ari(result.without.labels, result.with_clues.labels)
    assert result.with_clues.objective == result.with_clues.model.objective_
    assert name in str(result)


@pytest.mark.parametrize("name", [n for n, c in clusterers().items() if not c.card.accepts & {"labels", "must"}])
def test_a_method_that_uses_none_of_the_clues_cannot_be_compared(iris, name):
    model = clusterers()[name](3)
    with (
        pytest.warns(UnusedClueWarning, match=name),
        pytest.raises(ClueError, match=f"no clues that {name} uses"),
    ):
        compare(model, adapt_rows(model, iris.X), Clues.sample(iris.y, labels=0.2, random_state=1))


class Own(ClusterMixin, BaseEstimator):
    """A clusterer of somebody who did not write a card."""

    def fit(self, X, y=None, *, clues=None):
        given = np.full(len(X), -1) if clues is None else clues.labels
        self.labels_ = np.where(given < 0, 0, given + 1)
        return self


def test_a_clusterer_without_a_card(iris):
    X, y = iris.X, iris.y
    labels = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    result = compare(Own(), X, labels, truth=y, random_state=0)
    assert result.clues == Clues.from_labels(labels)
    assert result.moved == 30
    assert result.with_clues.satisfaction == {"labels": 1.0}


def test_a_clusterer_that_takes_no_clues(iris):
    X, y = iris.X, iris.y
    clues = Clues.sample(y, pairs=60, random_state=0)
    for model in (KMeans(3, n_init=1), AgglomerativeClustering(3)):
        result = compare(model, X, clues, truth=y, n_splits=3, random_state=0)
        assert (result.moved, result.gain, result.helped) == (0, 0.0, None)
        assert result.with_clues.held_out == result.without.held_out
        assert str(result).endswith(f"{type(model).__name__} takes no clues, so both results are the same.")


def test_a_clusterer_without_labels_is_refused(iris):
    class Mute(Own):
        def fit(self, X, y=None, *, clues=None):
            return self

    with pytest.raises(TypeError, match="Mute has no labels_ after its fit"):
        compare(Mute(), iris.X, [0, 1] * 75)


def test_both_sides_are_the_fits_that_a_user_would_get(iris):
    clues = Clues.sample(iris.y, pairs=60, random_state=2)
    model = cw.PCKMeans(3, random_state=5)
    result = compare(model, iris.X, clues, n_splits=0)
    again = cw.PCKMeans(3, random_state=5)
    assert (result.with_clues.labels == again.fit(iris.X, clues=clues).labels_).all()
    assert (result.without.labels == again.fit(iris.X).labels_).all()
    assert result.with_clues.satisfaction == metrics.satisfaction(result.with_clues.labels, clues)
    assert not hasattr(model, "labels_")
    assert result.gains == ()
    assert (result.helped, result.with_clues.held_out) == (None, {})
    assert np.isnan(result.gain)
    assert np.isnan(result.gain_error)
    assert "is unknown" in str(result)


def test_seeds_decide_and_nothing_else(iris):
    clues = Clues.sample(iris.y, pairs=60, random_state=2)

    def once(seed):
        return compare(cw.PCKMeans(3, init="random", n_init=1), iris.X, clues, n_splits=4, random_state=seed).gains

    assert once(1) == once(1)
    assert len({once(seed) for seed in range(4)}) > 1


def test_kinds_that_the_method_does_not_use_are_left_out(iris):
    clues = Clues.sample(iris.y, labels=0.2, pairs=40, random_state=1)
    with pytest.warns(UnusedClueWarning, match="cannot, must") as seen:
        result = compare(cw.SeededKMeans(3), iris.X, clues, n_splits=2, random_state=0)
    assert len(seen) == 1
    assert result.clues.kinds == {"labels"}
    with (
        pytest.raises(ClueError, match="there are no clues that SeededKMeans uses"),
        pytest.warns(UnusedClueWarning),
    ):
        compare(cw.SeededKMeans(3), iris.X, clues.only(["must"]), random_state=0)


def test_arrays_of_labels_lists_and_weights_are_taken():
    X = [[0.0], [1.0], [8.0], [9.0]]
    result = compare(cw.PCKMeans(2), X, [0, -1, 1, -1], sample_weight=[1, 2, 1, 2], random_state=0)
    assert result.with_clues.model.cluster_centers_.ravel() == pytest.approx(
        [2 / 3, 26 / 3] if result.with_clues.labels[0] == 0 else [26 / 3, 2 / 3]
    )


@pytest.mark.parametrize("words", [{"n_splits": -1}, {"test_size": 0}, {"test_size": 1.0}])
def test_strange_splits_are_refused(words):
    with pytest.raises(ValueError, match="n_splits"):
        compare(cw.PCKMeans(2), [[0.0], [1.0]], [0, 1], **words)


def test_what_cannot_be_satisfied_is_not_compared():
    clues = Clues(3, must=[(0, 1)], cannot=[(0, 1)])
    with pytest.raises(Contradiction):
        compare(cw.COPKMeans(2), [[0.0], [1.0], [2.0]], clues)


def comparison(gains):
    """A comparison of which only the gains matter."""
    model = cw.PCKMeans(2, random_state=0).fit([[0.0], [1.0], [9.0]])
    side = Outcome(model, {"must": 1.0}, {"must": 0.5})
    return Comparison(Clues(3, must=[(0, 1)]), side, side, 1, 0.5, gains, test_size=0.2)


@pytest.mark.parametrize(
    ("gains", "helped", "words"),
    [
        ((0.1, 0.1, 0.2), True, "the clues helped (+13.3 ± 4.4 points in 3 splits)."),
        ((-0.1, -0.1, -0.2), False, "the clues did harm (-13.3 ± 4.4 points in 3 splits)."),
        ((0.1, -0.1), None, "no clear difference (held-out clues +0.0 ± 12.2 points in 2 splits)."),
        ((0.1, 0.0, 0.1), None, "no clear difference"),
        ((0.0, 0.0, 0.0), None, "no clear difference"),
        ((0.5,), None, "is unknown"),
    ],
)
def test_the_verdict_needs_more_than_twice_the_standard_error(gains, helped, words):
    result = comparison(gains)
    assert result.helped is helped
    assert words in str(result)


@pytest.mark.parametrize("n_splits", [0, 1])
def test_too_few_splits_are_the_reason_why_nothing_is_known(n_splits):
    clues = Clues(6, must=[(0, 1), (3, 4)], cannot=[(2, 5)])
    X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    result = cw.compare(cw.PCKMeans(2, random_state=0), X, clues, n_splits=n_splits, random_state=0)
    assert str(result).endswith("Whether the clues helped is unknown: it takes at least two splits.")


@pytest.mark.parametrize(
    ("model", "clues", "words"),
    [
        (cw.CondEns(2, random_state=0), Clues(6, avoid=[0, 0, 0, 1, 1, 1]), "clusterings to avoid"),
        (cw.SizedKMeans(2, random_state=0), Clues(6, sizes=(2, 4)), "bounds on sizes"),
    ],
)
def test_what_speaks_of_all_rows_cannot_be_held_out(model, clues, words):
    X = [[0.0, 0.0], [0.0, 4.0], [0.2, 0.1], [9.0, 0.0], [9.0, 4.0], [9.1, 4.1]]
    result = cw.compare(model, X, clues, random_state=0)
    assert result.helped is None
    assert str(result).endswith(f"Whether the clues helped is unknown: {words} cannot be held out.")


def test_splits_that_share_clues_count_for_less():
    """Nadeau and Bengio: variance times 1/n + held-out share over kept share."""
    gains = (0.1, 0.1, 0.2, 0.0)
    assert comparison(gains).gain_error == pytest.approx(np.std(gains, ddof=1) * np.sqrt(1 / 4 + 0.2 / 0.8))


def test_the_text_is_a_small_table():
    assert str(comparison((0.5, 0.5))).splitlines() == [
        "PCKMeans, 3 rows: 1 must-link.",
        "                               with clues     without",
        "must-links kept                   100.0 %     100.0 %",
        "must-links kept when held out      50.0 %      50.0 %",
        "1 of 3 rows change their cluster (ARI of the two clusterings 0.500).",
        "Held-out clues are kept more often: the clues helped (+50.0 ± 0.0 points in 2 splits).",
    ]
