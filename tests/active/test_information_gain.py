"""InformationGain: the worked example of the specification, IG-KMEANS step by step, rounds, and data of other kinds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs

from cluewise import Clues
from cluewise.active import Answer, Question, SimulatedOracle, interview
from cluewise.active._information_gain import information_gain as module
from cluewise.active._information_gain.ig_kmeans import (
    State,
    chances,
    cluster,
    cosines,
    dependent,
    directions,
    gains,
    links_of,
    objective,
    spread,
    step,
    sums_of,
    unit_rows,
)
from cluewise.active._information_gain.information_gain import InformationGain
from cluewise.active._known import Known

# [ig_kmeans] of the specification.
X = np.array([[3, 0, 1], [2, 1, 0], [1, 2, 2], [0, 3, 1], [0, 2, 3], [1, 1, 3]], dtype=float)
LABELS = np.array([0, 0, 1, 1, 1, 1])
CENTERS = np.array([[2.5, 0.5, 0.5], [0.5, 2.0, 2.25]])
P_MUST = [0.714755, 0.682881, 0.630005, 0.778364, 0.785449, 0.636369]
GAIN = [0.597839, 0.624679, 0.658953, 0.528971, 0.519924, 0.655479]
P_DEPENDENT = [0.780928, 0.676725, 0.624606, 0.821264, 0.772665, 0.589065]
GAIN_DEPENDENT = [0.52573, 0.629314, 0.661764, 0.469472, 0.536037, 0.677197]


def turned(rows):
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def written_out(unit, centers, labels, must, cannot, rho):
    """Eq. 72, pair by pair."""
    psi = 1 - unit @ unit.T
    total = rho * sum(1 - unit[i] @ centers[labels[i]] for i in range(len(unit)))
    total += (1 - rho) * sum(psi[i, j] for i, j in must if labels[i] != labels[j])
    return total + (1 - rho) * sum(max(1 - psi[i, j], 0) for i, j in cannot if labels[i] == labels[j])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_gains_of_the_specification(kind):
    unit = unit_rows(kind(X), lifted=False)
    similar = cosines(unit, turned(CENTERS))
    np.testing.assert_allclose(chances(similar, LABELS), P_MUST, atol=2e-6)
    np.testing.assert_allclose(gains(chances(similar, LABELS)), GAIN, atol=2e-6)
    share = 0.8 * 3 / 6
    mixed = dependent(similar, unit, [np.array([0]), np.array([3])], share)
    np.testing.assert_allclose(chances(mixed, LABELS), P_DEPENDENT, atol=2e-6)
    np.testing.assert_allclose(gains(chances(mixed, LABELS)), GAIN_DEPENDENT, atol=2e-6)
    assert np.argmax(gains(chances(similar, LABELS))) == 2
    assert np.argmax(gains(chances(mixed, LABELS))) == 5


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_objective_of_the_specification(kind):
    unit = unit_rows(kind(X), lifted=False)
    links = links_of(unit, [(1, 2)], [(3, 4)], 0.5)
    assert objective(unit, turned(CENTERS), LABELS, links, 0.5) == pytest.approx(0.771836, abs=2e-6)


def test_no_earlier_row_leaves_the_similarity_as_it_is():
    unit = unit_rows(X, lifted=False)
    similar = cosines(unit, turned(CENTERS))
    none = np.empty(0, dtype=np.int64)
    np.testing.assert_array_equal(dependent(similar, unit, [none, none], 0.4), similar)
    only_first = dependent(similar, unit, [np.array([0]), none], 0.4)
    np.testing.assert_array_equal(only_first[:, 1], similar[:, 1])
    mixed = 0.6 * similar[:, 0] + 0.4 * unit @ unit[0]
    np.testing.assert_allclose(only_first[:, 0], [similar[0, 0], *mixed[1:]])  # nothing follows for the row itself


@given(st.integers(0, 10**6), st.integers(2, 4), st.floats(0.1, 0.9))
def test_a_step_sets_one_label_after_the_other_and_then_the_best_centers(seed, k, rho):
    rng = np.random.default_rng(seed)
    unit = unit_rows(rng.normal(size=(9, 3)), lifted=False)
    pairs = [tuple(int(i) for i in rng.choice(9, 2, replace=False)) for _ in range(6)]
    must, cannot = pairs[:3], pairs[3:]
    links = links_of(unit, must, cannot, rho)
    state = State(rng.integers(k, size=9), turned(rng.normal(size=(k, 3))))
    # ICM written out: rows without links first, which changes nothing for the others.
    labels = (unit @ state.centers.T).argmax(axis=1)
    tied = sorted({i for pair in pairs for i in pair})
    labels[tied] = state.labels[tied]
    for i in tied:
        costs = []
        for h in range(k):
            labels[i] = h
            costs.append(written_out(unit, state.centers, labels, must, cannot, rho))
        labels[i] = int(np.argmin(np.round(costs, 12)))
    new, info = step(state, unit=unit, links=links, rho=rho)
    assert new.labels.tolist() == labels.tolist()
    assert info.objective == pytest.approx(written_out(unit, new.centers, labels, must, cannot, rho), abs=1e-9)
    for h in set(labels.tolist()):
        best = np.linalg.norm(unit[labels == h].sum(axis=0))
        assert unit[labels == h].sum(axis=0) @ new.centers[h] == pytest.approx(best)
    before = written_out(unit, state.centers, state.labels, must, cannot, rho)
    assert info.objective <= before + 1e-9


def test_the_loop_ends_where_no_single_row_wants_to_move_and_may_find_the_optimum():
    unit = unit_rows(X, lifted=False)
    must, cannot = [(1, 2)], [(3, 4)]
    links = links_of(unit, must, cannot, 0.5)
    found = []
    for seed in range(20):
        start = spread(unit, np.empty((0, 3)), 2, np.random.default_rng(seed))
        state, value = cluster(unit, start, links, 0.5)
        assert value == pytest.approx(written_out(unit, state.centers, state.labels, must, cannot, 0.5))
        found.append(value)
        for i, h in product(range(6), range(2)):
            other = state.labels.copy()
            other[i] = h
            assert written_out(unit, state.centers, other, must, cannot, 0.5) >= value - 1e-9
    every = [np.array(labels) for labels in product(range(2), repeat=6)]
    best = min(written_out(unit, directions(sums_of(unit, y, 2), unit[:2]), y, must, cannot, 0.5) for y in every)
    assert min(found) == pytest.approx(best)


def test_a_cluster_without_rows_keeps_its_center():
    unit = unit_rows(X, lifted=False)
    centers = directions(sums_of(unit, np.zeros(6, dtype=int), len(CENTERS)), turned(CENTERS))
    np.testing.assert_array_equal(centers[1], turned(CENTERS)[1])
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1)


def test_seen_from_outside_angles_grow_with_distances():
    line = np.sort(np.random.default_rng(0).normal(size=(30, 1)), axis=0) * 1e3
    unit = unit_rows(line, lifted=True)
    alike = unit @ unit.T
    assert alike.min() >= -1e-12
    for i in range(30):  # on each side of a row
        assert (np.diff(alike[i, i:]) < 0).all()
        assert (np.diff(alike[i, : i + 1]) > 0).all()
    moved = unit_rows(line / 7 + 3, lifted=True)
    np.testing.assert_allclose(moved @ moved.T, alike, atol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_a_gain_is_between_zero_and_one_bit(seed, k):
    rng = np.random.default_rng(seed)
    similar = np.maximum(rng.normal(0.3, 0.5, size=(20, k)), 0)
    similar[0] = 0
    found = gains(chances(similar, rng.integers(k, size=20)))
    assert (found >= 0).all()
    assert (found <= np.log(2) + 1e-12).all()
    assert found[0] == 0
    if k == 1:
        assert (found == 0).all()
    assert gains(np.array([0.5]))[0] == pytest.approx(np.log(2))


# --- the strategy -----------------------------------------------------------------------------------------------------

BLOBS, TRUTH = make_blobs(60, centers=3, cluster_std=2.5, random_state=4)


@pytest.mark.parametrize("gain", ["dependent", "independent"])
def test_a_round_is_the_same_one_by_one_and_at_once(gain):
    """Answers inside a round change nothing but that what follows from them is left out."""
    one, oracle = InformationGain(3, gain=gain, n_rounds=4), SimulatedOracle(TRUTH)
    state = one.start(BLOBS, budget=24, random_state=0)
    while state.left:
        batch = one.ask(state, BLOBS, size=24)
        assert len(batch) == 6
        assert len({question.key for question in batch}) == 6
        later, single = state, []
        for _ in batch:
            single += one.ask(later, BLOBS)
            later = one.tell(later, oracle(single[-1:]))
        kept = [question for question in batch if question in single]
        assert single[: len(kept)] == kept
        assert len(kept) >= 5
        state = one.tell(state, oracle(batch))


def test_the_least_certain_row_is_compared_with_the_middle_of_its_cluster():
    one = InformationGain(3, gain="independent", candidates=None, n_rounds=1)
    state = one.start(BLOBS, budget=8, random_state=0)
    questions = one.ask(state, BLOBS, size=8)
    ready = one._kept[2].ready
    similar = cosines(ready.unit, ready.centers)
    labels = similar.argmax(axis=1)
    two = np.sort(similar, axis=1)[:, -2:]
    gain = gains(two[:, 1] / two.sum(axis=1))
    middle = [np.flatnonzero(labels == h)[np.argmax(similar[labels == h, h])] for h in range(3)]
    rows = [question for question in questions if "uncertain" in question.why]
    order = np.argsort(-gain)[: len(rows)]
    assert [question.rows[0] for question in rows] == order.tolist()
    assert [question.score for question in rows] == pytest.approx(gain[order].tolist())
    assert [question.rows[1] for question in rows] == [middle[h] for h in labels[order]]
    # Before the first row between two clusters: are they two?
    between = list(dict.fromkeys(frozenset(np.argsort(similar[i])[-2:].tolist()) for i in order))
    wanted = [{middle[h] for h in pair} for pair in between]
    assert [set(question.rows) for question in questions if "middles" in question.why] == wanted
    assert "middles" in questions[0].why


def test_rows_between_two_halves_of_one_class_are_not_between_two_classes():
    """The middle of the third cluster is the next one for rows of clusters that are known to be one."""
    line = np.concatenate([np.linspace(0, 1, 9), np.linspace(2, 3, 9), np.linspace(9, 10, 9)])[:, None]
    similar = -np.abs(line - [0.5, 2.5, 9.5])
    labels, rows, gain = np.repeat([0, 1, 2], 9), np.arange(27), np.zeros(27)
    clues = Clues(27, must=[(4, 13)])

    def asked_of(given, ranked):
        known = Known(given)
        middle = module._middles(rows, module._roots(known, given, []), labels, similar)
        return list(module._questions(rows, known, middle, labels, similar, gain, np.array(ranked)))

    asked = asked_of(clues, [8])
    assert [question.rows for question in asked] == [(4, 22), (8, 4)]
    asked = asked_of(Clues(27), [8, 4])
    assert [question.rows for question in asked] == [(4, 13), (8, 4)]
    # A row that others are known to be with is shown before the one nearest to the center.
    more = Clues(27, must=[(0, 1)], cannot=[(1, 9)])
    roots = module._roots(Known(more), more, [])
    assert module._middles(rows, roots, labels, similar) == {0: 1, 1: 13, 2: 22}


def test_what_rows_are_known_to_be_with():
    """Answers about pairs, about the class of a row, and about given classes, against one row after another."""
    rng = np.random.default_rng(0)
    given = Clues(40, must=[(0, 1), (1, 2), (8, 9)], labels=[-1] * 20 + [0, 0, 1, 1] + [-1] * 16)
    known, answers = Known(given), []
    for _ in range(30):
        i, j = rng.choice(40, 2, replace=False).tolist()
        kind = rng.random() < 0.7
        question = Question("pair", (i, j)) if kind else Question("label", (i,))
        answers.append(Answer(question, i % 4 == j % 4 if kind else i % 3))
        known.learn(answers[-1])
    roots = module._roots(known, given, answers)
    assert roots.tolist() == [known.root(row) for row in range(40)]
    assert len(set(roots.tolist())) < len(set(given.components.tolist()))


def test_without_weight_earlier_rows_do_not_matter():
    oracle = SimulatedOracle(TRUTH)
    asked = []
    for one in (InformationGain(3, gain="independent"), InformationGain(3, epsilon=0.0), InformationGain(3)):
        state = interview(one, BLOBS, oracle, budget=30, random_state=1)
        asked.append([answer.question.rows for answer in state.answers])
    assert asked[0] == asked[1]
    assert asked[0] != asked[2]


def test_sparse_rows_are_asked_about_as_dense_ones_are():
    words = np.random.default_rng(0).poisson(0.8, size=(40, 12)).astype(float)
    words[7] = 0  # an empty document
    truth = np.arange(40) % 3
    asked = []
    for data in (words, sparse.csr_array(words)):
        state = interview(
            InformationGain(3, similarity="cosine"), data, SimulatedOracle(truth), budget=20, random_state=0
        )
        asked.append([answer.question.rows for answer in state.answers])
    assert asked[0] == asked[1]
    assert 7 not in {rows[0] for rows in asked[0]}
    lifted = InformationGain(3, similarity="distance")
    assert lifted.ask(lifted.start(sparse.csr_array(words), budget=2, random_state=0), sparse.csr_array(words))


def test_a_row_told_apart_is_asked_about_again_and_others_are_not():
    one = InformationGain(3, candidates=None)
    state = interview(one, BLOBS, SimulatedOracle(TRUTH), budget=60, random_state=0)
    said = [answer for answer in state.answers if "uncertain" in answer.question.why]
    yes = [answer.question.rows[0] for answer in said if answer.value]
    assert len(yes) == len(set(yes))
    for row in yes:
        last = max(i for i, answer in enumerate(said) if answer.question.rows[0] == row)
        assert said[last].value
    assert len({answer.question.rows[0] for answer in said}) < len(said)


def test_one_cluster_and_one_row():
    one = InformationGain(1)
    state = interview(one, BLOBS, SimulatedOracle(TRUTH), budget=4, random_state=0)
    assert state.asked == 4
    assert {answer.question.score for answer in state.answers} == {0.0}
    assert not one.ask(one.start([[1.0]], budget=2), [[1.0]])
    same = np.ones((5, 2))
    assert interview(InformationGain(9), same, SimulatedOracle([0, 0, 1, 1, 2]), budget=4).asked == 4
    nothing = np.zeros((5, 2))
    state = interview(InformationGain(2, similarity="cosine"), nothing, SimulatedOracle([0, 0, 1, 1, 2]), budget=3)
    assert all("random" in answer.question.why for answer in state.answers)


def test_given_labels_are_links_and_a_start():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(80, 2)) * [0.5, 2.0] + np.repeat([[0, 0], [2.5, 0]], 40, axis=0)
    labels = np.where(np.arange(80) % 4 == 0, np.repeat([0, 1], 40), -1)
    one = InformationGain(2)
    scene = one._scene(one.start(data, labels, budget=10, random_state=0), data)
    must, cannot = module._pairs(scene.ready.place, scene.known, scene.state.given, [])
    assert must == [(start, start + 4 * t) for start in (0, 40) for t in range(1, 10)]
    assert cannot == [(0, 40)]
    found = one._clustered(scene.ready, scene.known, must, cannot, np.random.default_rng(0))
    links = links_of(scene.ready.unit, must, cannot, 0.5)
    value = objective(scene.ready.unit, found.centers, found.labels, links, 0.5)
    means = np.array([scene.ready.unit[labels == c].sum(axis=0) for c in (0, 1)])
    for start in (scene.ready.centers, turned(means)):
        assert value <= cluster(scene.ready.unit, start, links, 0.5)[1] + 1e-9


def test_given_links_and_answers_are_links_once():
    one = InformationGain(2)
    given = Clues(60, must=[(4, 0), (0, 9)], cannot=[(1, 2)])
    state = one.start(BLOBS, given, budget=10, random_state=0)
    answers = [Answer(Question("pair", (2, 1)), False), Answer(Question("which", (5, 6, 7)), 7)]
    scene = one._scene(one.tell(state, answers), BLOBS)
    must, cannot = module._pairs(scene.ready.place, scene.known, given, scene.answers)
    assert must == [(0, 4), (0, 9), (5, 7)]
    assert cannot == [(1, 2), (5, 6)]


def test_of_many_rows_a_sample_is_asked_about(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 20)
    one = InformationGain(3)
    state = one.start(BLOBS, Clues(60, must=[(3, 5)]), budget=8, random_state=0)
    later = one.tell(state, [Answer(question, True) for question in one.ask(state, BLOBS)])
    ready = one._kept[2].ready
    assert len(ready.rows) == len(ready.unit) == 20
    assert {3, 5} <= set(ready.rows.tolist())
    assert set(ready.rows[ready.place[ready.rows]].tolist()) == set(ready.rows.tolist())
    for question in one.ask(later, BLOBS, size=3):
        assert set(question.rows) <= set(ready.rows.tolist())


def test_one_conversation_pinned():
    state = interview(InformationGain(3), BLOBS, SimulatedOracle(TRUTH), budget=6, random_state=0)
    said = [(*answer.question.rows, answer.value) for answer in state.answers]
    assert said == [(5, 26, False), (33, 26, False), (52, 5, True), (5, 56, False), (56, 6, False), (12, 56, True)]
