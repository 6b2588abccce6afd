"""The background: what clues are compared with depends on where people look, and labels on the classes they know."""

import warnings

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from cluewise import Clues, Cluewise
from cluewise.front._background import Background
from cluewise.front._evidence import gather
from cluewise.metrics import ari

N, K = 120, 4
RNG = np.random.default_rng(0)
Y = np.repeat(np.arange(K), N // K)
X = np.array([(0, 0), (0, 5), (5, 0), (5, 5)])[Y] + RNG.normal(size=(N, 2))
CERTAIN = np.eye(K)[Y]


def lay(clues):
    """The background of clues about grains that are the rows."""
    known = gather(clues, K, np.arange(N))
    return Background(X, np.arange(N), Y, known, np.random.default_rng(0))


def draw(count, *, near=0, same=None, seed=0):
    """Right answers about random pairs, about pairs of near rows, or about pairs of one kind."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(N, size=(50 * count, 2))
    if near:
        order = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)
        pairs[:, 1] = order[pairs[:, 0], rng.integers(1, near + 1, size=len(pairs))]
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    said = Y[pairs[:, 0]] == Y[pairs[:, 1]]
    if same is not None:
        pairs, said = pairs[said == same], said[said == same]
    pairs, said = pairs[:count], said[:count]
    return Clues(N, must=pairs[said], cannot=pairs[~said])


def test_random_pairs_are_compared_with_random_pairs():
    together, apart, _ = lay(draw(200)).measure(CERTAIN)
    assert together == pytest.approx(1 / K, abs=0.05)
    assert together + apart == pytest.approx(1)


def test_random_must_links_are_no_habit():
    """They are nearer than random pairs, but no nearer than pairs within clusters."""
    together, _, _ = lay(draw(200, same=True)).measure(CERTAIN)
    assert together == pytest.approx(1 / K, abs=0.07)


def test_near_pairs_are_compared_with_near_pairs():
    assert lay(draw(200, near=3)).measure(CERTAIN)[0] > 0.8
    assert lay(draw(200, near=3, same=True)).measure(CERTAIN)[0] > 0.8


def test_a_fit_gains_nothing_by_knowing_nothing_about_other_rows():
    vague = np.full((N, K), 1 / K)
    background = lay(draw(200, same=True))
    large = np.eye(K)[np.where(Y < 3, 0, 3)]
    vague[:2], large[:2] = CERTAIN[:2], CERTAIN[:2]
    assert background.measure(vague)[0] >= 1 / K
    assert background.measure(large)[0] > 0.5


@pytest.mark.parametrize("named", [(0,), (1, 3), (0, 1, 2, 3)])
def test_labels_are_compared_with_the_rows_of_classes_that_have_any(named):
    labels = np.where(np.isin(Y, named) & (np.arange(N) % 5 == 0), Y, -1)
    known = Clues(N, labels=labels)
    background = Background(X, np.arange(N), Y, gather(known, K, np.arange(N)), np.random.default_rng(0))
    # Class c is cluster c of as many as have labels; the names of the others do not matter here.
    P = np.random.default_rng(1).dirichlet(np.ones(K), size=N)
    level = P[:, background.named].sum(axis=1).mean()
    assert len(background.named) == len(named)
    assert background.measure(P)[2] == pytest.approx(level)

    def charge(flat):
        return background.charge_labels(flat.reshape(N, K), 3.0, 0.1, np.zeros((N, K)))

    slope = np.zeros((N, K))
    value = background.charge_labels(P, 3.0, 0.1, slope)
    expected = 0.0 if len(named) == K else 3 * np.log(0.1 * len(named) / K + 0.9 * level)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(slope.ravel(), approx_fprime(P.ravel(), charge, 1e-7), atol=1e-5)


def test_without_links_or_with_a_single_row_there_is_a_background():
    alone = gather(Clues(1), 1, np.arange(1))
    one = Background(X[:1], np.arange(1), np.zeros(1, dtype=int), alone, np.random.default_rng(0))
    assert one.measure(np.ones((1, 1)))[0] == 1
    assert 0 < lay(Clues(N)).measure(CERTAIN)[0] < 1


# --- what users get


@pytest.mark.parametrize("same", [True, False])
def test_links_of_one_kind_are_believed(same):
    sides = np.where(Y < 2, 0, 1)  # clusters without clues are others
    rng = np.random.default_rng(1)
    pairs = rng.integers(N, size=(2000, 2))
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & ((sides[pairs[:, 0]] == sides[pairs[:, 1]]) == same)][:100]
    stretched = X * [1.0, 1.5]  # without clues the rows are divided by the second column
    known = Clues(N, **{"must" if same else "cannot": pairs})
    plain = Cluewise(2, random_state=0).fit(stretched)
    model = Cluewise(2, random_state=0).fit(stretched, clues=known)
    assert ari(sides, plain.labels_) < 0.5
    assert ari(sides, model.labels_) > 0.9


def test_labels_of_one_class_leave_the_others_as_they_are():
    labels = np.where((Y == 2) & (np.arange(N) % 3 == 0), 0, -1)
    model = Cluewise(K, random_state=0).fit(X, clues=labels)
    assert len(np.unique(model.labels_)) == K
    assert ari(Y, model.labels_) > 0.9


def test_a_person_who_is_often_wrong_does_not_spoil_what_another_says():
    rng = np.random.default_rng(3)
    sides = np.where(Y < 2, 0, 1)
    pairs = rng.integers(N, size=(400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    said = sides[pairs[:, 0]] == sides[pairs[:, 1]]
    guessed = said ^ (rng.random(len(said)) < 0.45)

    def report(some, answers, who):
        return Clues(N, must=some[answers], cannot=some[~answers], source=who)

    both = report(pairs[:60], said[:60], "ann") | report(pairs[60:], guessed[60:], "bob")
    model = Cluewise(2, random_state=0).fit(X * [1.0, 1.5], clues=both)
    assert ari(sides, model.labels_) > 0.9
    assert model.trust_["ann"]["all"] > model.trust_["bob"]["all"] + 0.15
    more = rng.integers(N, size=(20, 2))
    more = more[more[:, 0] != more[:, 1]]
    model.update(report(more, sides[more[:, 0]] != sides[more[:, 1]], "bob"))
    assert ari(sides, model.labels_) > 0.9


def test_who_states_confidences_is_not_rated():
    pairs = np.column_stack([np.arange(0, 40, 2), np.arange(1, 40, 2)])
    two = [
        Clues(N, must=some, must_confidence=np.full(10, 0.9), source=who)
        for some, who in zip((pairs[:10], pairs[10:]), "ab")
    ]
    with warnings.catch_warnings(action="error"):
        model = Cluewise(K, random_state=0).fit(X, clues=two[0] | two[1])
    assert set(model.trust_) == {"a", "b"}
