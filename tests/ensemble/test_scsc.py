"""SCSC: the worked example through the public class, memory, repeated clues, labels on demand."""

import pickle
from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from cluewise import Clues
from cluewise.datasets import load
from cluewise.ensemble import _aligned, _near
from cluewise.ensemble import _weighting as weighting
from cluewise.ensemble._scsc import SCSC
from cluewise.exceptions import ClueError, UnusedClueWarning
from cluewise.metrics import broken

RAW = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1], [1, 1, 1, 0, 0, 0]])
FIRST = Clues(6, must=[(0, 1)], cannot=[(2, 3)])
SECOND = Clues(6, must=[(4, 5)], cannot=[(0, 5)])


def model(**parameters):
    return SCSC.from_partitions(RAW, **parameters)


def ensemble(seed, m=30, n=200, r=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(r, size=n)
    good = rng.uniform(0.4, 0.9, size=m)
    return rng, truth, np.where(rng.random((m, n)) < good[:, None], truth, rng.integers(r, size=(m, n)))


# --- the worked example ------------------------------------------------------------------------------------------


def test_exact_update_of_the_worked_example():
    """λ = 1 (at least one link): the minimum of Eq. (8), and its rounding."""
    found = model(update_rule="exact").update(FIRST)
    np.testing.assert_allclose(found.gamma_, [0.375, 0.125, 0.125, 0.375], atol=1e-10)
    assert found.objective_ == pytest.approx(2.125)
    assert found.trace_.tolist() == [found.objective_]
    assert found.labels_.tolist() == [0, 0, 0, 1, 1, 1]


def test_all_links_of_the_worked_example():
    found = model(update_rule="exact", memory="all").update(FIRST).update(SECOND)
    np.testing.assert_allclose(found.gamma_, [0.5, 0, 0, 0.5], atol=1e-7)
    assert found.n_iter_ == 2


def test_relaxed_update_of_the_worked_example():
    """C = 4/m = 1 here, so λ = 1 gives Proj(γ − e/2)."""
    found = model(update_rule="relaxed", inertia=1.0).update(FIRST)
    np.testing.assert_allclose(found.gamma_, [0.5, 0, 0, 0.5])
    softer = model(update_rule="relaxed", inertia=5.0).update(FIRST)  # Proj(γ − e/10)
    np.testing.assert_allclose(softer.gamma_, [0.3, 0.2, 0.2, 0.3])
    assert softer.objective_ == pytest.approx(0.4 + 5 * 4 * 0.05**2)
    trusted = model(update_rule="relaxed", inertia=5.0, trust=2.0).update(FIRST)
    np.testing.assert_allclose(trusted.gamma_, [0.35, 0.15, 0.15, 0.35])


def test_inertia_by_itself():
    """A violated link costs a fifth of 1/m; exact updates are held back by the links before, here two of them."""
    found = model(update_rule="relaxed").update(FIRST)
    np.testing.assert_allclose(found.gamma_, [0.275, 0.225, 0.225, 0.275])
    exact = model(update_rule="exact")
    exact._state = exact._state._replace(seen=2.0)
    given = model(update_rule="exact", inertia=2.0).update(FIRST)
    np.testing.assert_allclose(exact.update(FIRST).gamma_, given.gamma_)


@pytest.mark.parametrize("rule", ["exact", "relaxed"])
def test_all_memory_does_not_depend_on_the_order(rule):
    together = model(update_rule=rule, memory="all").update(FIRST | SECOND)
    apart = model(update_rule=rule, memory="all").update(SECOND).update(FIRST)
    np.testing.assert_allclose(together.gamma_, apart.gamma_, atol=1e-9)


def test_nothing_new_changes_nothing():
    found = model().update(FIRST)
    before = found.gamma_.copy()
    found.update(Clues(6))
    np.testing.assert_array_equal(found.gamma_, before)
    assert found.n_iter_ == 2
    assert not len(found.changed_)


def test_one_partition_keeps_all_weight():
    found = SCSC.from_partitions(RAW[:1]).update(Clues(6, cannot=[(0, 1)]))
    assert found.gamma_.tolist() == [1.0]
    assert found.broken_.cannot.tolist() == [[0, 1]]


# --- what counts -------------------------------------------------------------------------------------------------


def test_a_link_from_the_same_source_counts_once():
    once = model(inertia=50.0).update(FIRST)
    twice = model(inertia=50.0).update(FIRST).update(Clues(6, must=[(1, 0)], cannot=[(2, 3)]))
    np.testing.assert_array_equal(once.gamma_, twice.gamma_)
    other = Clues(6, must=[(0, 1)], cannot=[(2, 3)], source="ann")
    np.testing.assert_allclose(
        model(inertia=50.0).update(FIRST).update(other).gamma_,
        model(inertia=50.0).update(Clues(6, must=[(0, 1)], cannot=[(2, 3)], must_weight=2, cannot_weight=2)).gamma_,
    )
    assert twice.update(other).broken_.n == 6
    assert twice._log.clues() == FIRST | other


def test_of_a_repeated_link_the_larger_weight_counts():
    light, heavy = (Clues(6, cannot=[(2, 3)], cannot_weight=w) for w in (1.0, 3.0))
    found = model(inertia=50.0).update(light).update(heavy).update(light)
    np.testing.assert_allclose(found.gamma_, model(inertia=50.0).update(heavy).gamma_)
    assert found._log.clues() == heavy


def test_labels_and_groups_count_as_their_links():
    known = Clues(6, labels=[0, 0, -1, 1, -1, -1], together=[0, -1, 0, -1, -1, -1], apart=[-1, -1, -1, -1, 3, 3])
    must, must_weight, cannot, cannot_weight = known.pairs(expand=True)
    pairs = Clues(6, must=must, cannot=cannot, must_weight=must_weight, cannot_weight=cannot_weight)
    a, b = model(inertia=50.0).update(known), model(inertia=50.0).update(pairs)
    np.testing.assert_allclose(a.gamma_, b.gamma_)
    assert a.broken_ == broken(a.labels_, known)


def test_later_labels_add_the_links_to_earlier_ones():
    whole = model(inertia=50.0, memory="all").update(np.array([0, 0, 1, 1, -1, -1]))
    parts = model(inertia=50.0, memory="all").update(np.array([0, -1, 1, -1, -1, -1]))
    parts.update(np.array([-1, 0, -1, 1, -1, -1])).update(np.array([0, -1, -1, -1, -1, -1]))
    np.testing.assert_allclose(whole.gamma_, parts.gamma_)
    np.testing.assert_allclose(whole._state.violated, parts._state.violated)
    assert whole._state.seen == parts._state.seen == 6


def test_another_label_for_the_same_row_is_refused():
    found = model().update(np.array([0, -1, -1, -1, -1, -1]))
    with pytest.raises(ClueError, match="row 0 is labeled"):
        found.update(np.array([1, -1, -1, -1, -1, -1]))


def test_other_kinds_are_named():
    with pytest.warns(UnusedClueWarning, match="sizes"):
        model().update(Clues(6, sizes=(1, 5)))


def test_links_alone_take_the_short_way_with_the_same_checks():
    links = Clues(6, must=[(0, 1), (1, 2)], must_weight=[1.0, np.inf])
    with pytest.raises(ClueError, match="infinite"):
        model().update(links)
    with_labels = FIRST | Clues(6, labels=["x", None, None, None, None, None])  # one label says nothing about pairs
    np.testing.assert_array_equal(model().update(FIRST).gamma_, model().update(with_labels).gamma_)


def test_clues_about_other_rows_are_refused():
    with pytest.raises(ClueError, match="7 rows"):
        model().update(Clues(7))


def test_an_interrupted_update_changes_nothing(monkeypatch):
    found = model(inertia=50.0).update(FIRST)
    before = pickle.dumps((found.gamma_, found._log.clues(), found.trace_))
    heavier = Clues(6, must=[(0, 1), (1, 2)], must_weight=5.0)
    with monkeypatch.context() as patch:
        patch.setattr(weighting, "solve_relaxed", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            found.update(heavier)
    assert pickle.dumps((found.gamma_, found._log.clues(), found.trace_)) == before
    np.testing.assert_array_equal(
        found.update(heavier).gamma_, model(inertia=50.0).update(FIRST).update(heavier).gamma_
    )


# --- labels on demand --------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(st.integers(0, 2**16), st.sampled_from(["exact", "relaxed"]), st.sampled_from(["last", "all"]))
def test_labels_follow_the_weights(seed, rule, memory):
    rng, truth, labels = ensemble(seed)
    found = SCSC.from_partitions(labels, 3, update_rule=rule, memory=memory)
    known = Clues(200)
    before = found.labels_.copy()
    for tier in range(4):
        new = Clues.sample(truth, pairs=20, random_state=int(rng.integers(2**31)))
        known = known | new
        found.update(new)
        if tier != 1:  # two updates before the labels are read
            F = found.memberships()
            np.testing.assert_array_equal(found.labels_, F.argmax(axis=1))
            np.testing.assert_array_equal(found.changed_, np.flatnonzero(found.labels_ != before))
            before = found.labels_.copy()
            assert found.broken_ == broken(found.labels_, known)
        assert (found.gamma_ >= 0).all()
        assert abs(found.gamma_.sum() - 1) < 1e-12
    assert len(found.trace_) == found.n_iter_ == 4


def test_memberships_of_some_rows():
    found = model(inertia=1.0).update(FIRST)
    np.testing.assert_allclose(found.memberships([4, 0]), [[0, 1], [1, 0]])
    np.testing.assert_allclose(found.memberships(slice(2, 4)), [[1, 0], [0, 1]])
    equal = model()
    np.testing.assert_allclose(equal.memberships([1, 2]), [[0.75, 0.25], [0.75, 0.25]])
    np.testing.assert_allclose(equal.margin_, [1, 0.5, 0.5, 1, 0.5, 1])


def test_kmeans_on_memberships():
    found = model(hard="kmeans", inertia=50.0)
    assert found.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    found.update(FIRST)
    assert found.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert not len(found.changed_)
    assert (found.margin_ > 0).all()


def test_labels_can_be_written_to_without_harm():
    found = model()
    found.labels_[:] = 7
    found.update(FIRST)
    assert found.labels_.tolist() == [0, 0, 0, 1, 1, 1]


# --- fit ---------------------------------------------------------------------------------------------------------


def test_fit_applies_the_first_clues():
    X, y = load("iris").X, load("iris").y
    clues = Clues.sample(y, pairs=60, random_state=0)
    fitted = SCSC(3, n_partitions=50, random_state=0).fit(X, clues=clues)
    by_hand = SCSC(3, n_partitions=50, random_state=0).fit(X).update(clues)
    np.testing.assert_array_equal(fitted.gamma_, by_hand.gamma_)
    np.testing.assert_array_equal(fitted.labels_, by_hand.labels_)
    assert not len(fitted.changed_)
    assert fitted.n_iter_ == 1
    assert adjusted_rand_score(y, fitted.labels_) > 0.7


def test_golden_number():
    """Iris, 60 partitions, 100 pairs, seeds 1; without pairs the index is 0.64."""
    data = load("iris")
    clues = Clues.sample(data.y, pairs=100, random_state=1)
    fitted = SCSC(3, n_partitions=60, update_rule="relaxed", inertia=10.0, random_state=1).fit(data.X, clues=clues)
    assert fitted.n_clusters_ == 3
    assert (fitted.gamma_ > 0).sum() == 30
    assert adjusted_rand_score(data.y, fitted.labels_) == pytest.approx(0.885665, abs=1e-6)


def test_another_maker_of_partitions():
    X = np.arange(6.0)[:, None]
    seen = {}

    def maker(X, *, n_partitions, n_clusters, random_state):
        seen.update(n=len(X), m=n_partitions, k=n_clusters, rng=random_state)
        return RAW

    fitted = SCSC(2, n_partitions=4, partitioner=maker, random_state=0).fit(X, clues=FIRST)
    assert fitted.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert (seen["n"], seen["m"], seen["k"]) == (6, 4, 2)
    assert isinstance(seen["rng"], np.random.Generator)
    with pytest.raises(ValueError, match="the partitions are for 6 rows, but X has 5"):
        SCSC(2, partitioner=maker).fit(X[:5])


def test_more_clusters_than_rows_are_refused():
    with pytest.raises(ValueError, match="n_clusters=4 is larger"):
        SCSC(4).fit([[0.0], [1.0], [2.0]])


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="update_rule"):
        model(update_rule="guess")


def test_unfitted_has_no_labels():
    assert not hasattr(SCSC(), "labels_")
    assert not hasattr(SCSC(), "broken_")


def test_pickle_goes_on_where_it_was():
    found = model(inertia=50.0).update(FIRST)
    other = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(found.update(SECOND).gamma_, other.update(SECOND).gamma_)
    np.testing.assert_array_equal(found.labels_, other.labels_)
    np.testing.assert_array_equal(found.changed_, other.changed_)


@pytest.mark.parametrize("hard", ["rounding", "kmeans"])
def test_pickles_of_models_that_held_their_votes_themselves(hard):
    """Once the attributes of the election were attributes of the model, and the log counted its tellers."""
    found = model(hard=hard, inertia=50.0).update(FIRST)
    assert len(found.labels_) == 6
    found.update(SECOND)
    state = dict(found.__getstate__())
    log, election = copy(state["_log"]), state.pop("_election")
    for name in ("_numbers", "_reporter", "_codes", "_places"):
        delattr(log, name)
    state |= {f"_{name}": getattr(election, name) for name in ("ensemble", "dtype", "base", "standing")}
    state |= {name: getattr(election, name) for name in ("_labels", "_changed", "_counted")}
    old = SCSC.__new__(SCSC)
    old.__setstate__(state | {"_log": log})
    third = Clues(6, must=[(0, 1), (1, 2)])  # the first link is known
    for _ in range(2):
        for name in ("gamma_", "labels_", "changed_", "margin_", "trace_"):
            np.testing.assert_array_equal(getattr(old, name), getattr(found, name))
        old.update(third)
        found.update(third)


def test_old_pickles_find_their_classes():
    assert _aligned.Aligned is _aligned.Ensemble
    assert _near.Near is _near.NearRows


def test_reading_labels_does_not_change_a_copy():
    found = model(inertia=1.0)
    assert len(found.labels_) == 6
    before = copy(found)
    found.update(Clues(6, cannot=[(0, 1)], cannot_weight=9.0))  # only the third partition separates them
    kept = before.labels_.copy()
    assert len(found.changed_)
    np.testing.assert_array_equal(before.labels_, kept)
    assert not len(before.changed_)
    np.testing.assert_array_equal(before.gamma_, np.full(4, 0.25))


def test_too_many_pairs_are_refused_before_any_partition_is_made():
    def partitioner(X, **given):
        pytest.fail("partitions were made first")

    labels = np.zeros(6000, dtype=int)  # 18 million pairs
    with pytest.raises(ClueError, match="pairs"):
        SCSC(2, partitioner=partitioner).fit(np.zeros((6000, 1)), clues=labels)
