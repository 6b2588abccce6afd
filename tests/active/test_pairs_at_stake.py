"""Pairs at stake: the tree, the odds, the values of questions by their definition, and replay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, ward
from sklearn.metrics import adjusted_rand_score

from cluewise import Clues
from cluewise.active import Answer, FunctionOracle, Question, SimulatedOracle, State, interview
from cluewise.active._pairs_at_stake import stakes
from cluewise.active._pairs_at_stake.pairs_at_stake import PairsAtStake
from cluewise.active._pairs_at_stake.stakes import Odds, Table
from cluewise.active._pairs_at_stake.ward_groups import WardGroups
from cluewise.datasets import load

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
SIDES = np.array([0, 0, 0, 1, 1, 1])
BLOBS = np.random.default_rng(0).normal(size=(90, 3)) + np.repeat(np.eye(3) * 6, 30, axis=0)
KINDS = np.repeat([0, 1, 2], 30)


def table_of(x, clues=None) -> Table:
    return Table(WardGroups(np.asarray(x, dtype=float), 0), Clues(len(x)) if clues is None else clues)


def told(table: Table, pair: tuple[int, int], value: bool | None) -> None:
    table.learn(Answer(Question("pair", pair), value))


def next_pair(table: Table) -> tuple[int, int]:
    found = table.best()
    assert found is not None
    return table.pair(*found[:2])


# --- the tree -------------------------------------------------------------------------------------------------------


def test_groups_are_those_of_ward():
    groups = WardGroups(BLOBS, 0)
    cut = fcluster(ward(BLOBS), 3, "maxclust")
    top, second = groups.parts[-1].tolist()
    larger = top if top > second else second  # the group made last is parted first
    parts = [top + second - larger, *groups.parts[larger - groups.n_leaves].tolist()]
    assert sorted(sorted(groups.rows(v).tolist()) for v in parts) == sorted(
        np.flatnonzero(cut == c).tolist() for c in (1, 2, 3)
    )


@pytest.mark.parametrize("exact", [90, 10])
def test_groups_know_their_rows_sizes_and_means(exact):
    groups = WardGroups(BLOBS, 0, exact=exact, small=12)
    assert groups.n_leaves == 90 if exact == 90 else groups.n_leaves <= 12
    assert sorted(groups.rows(groups.root).tolist()) == list(range(90))
    for v in range(groups.root + 1):
        rows = groups.rows(v)
        assert len(rows) == groups.size[v]
        np.testing.assert_allclose(groups.mean[v], BLOBS[rows].mean(axis=0), atol=1e-12)
        assert [groups.holds(v, row) for row in range(90)] == np.isin(np.arange(90), rows).tolist()
        if v >= groups.n_leaves:
            a, b = groups.parts[v - groups.n_leaves].tolist()
            assert {*groups.rows(a).tolist(), *groups.rows(b).tolist()} == set(rows.tolist())


def test_the_medoid_is_closest_to_the_mean_and_preferred():
    groups = WardGroups(LINE, 0)
    nobody = np.zeros(6, dtype=bool)
    left, right = sorted(groups.parts[-1].tolist(), key=lambda v: int(groups.rows(v).min()))
    assert (groups.medoid(left, nobody), groups.medoid(right, nobody)) == (1, 4)
    assert groups.medoid(left, np.arange(6) == 2) == 2


# --- the odds -------------------------------------------------------------------------------------------------------


def test_odds_by_integration():
    """Posterior mean on a grid much finer than the one in use."""
    odds = Odds(1.0, 0.5)
    said = [(0.8, True), (1.6, False), (1.2, True)]
    for f, yes in said:
        odds.learn(f, yes)
    theta, log_a = np.meshgrid(np.linspace(-0.5, 2.5, 400), np.linspace(-1.5, 1.5, 400))
    a = 4.0 * np.exp(log_a)
    weight = np.exp(-0.5 * ((theta - 1.0) / 0.5) ** 2 - 0.5 * (log_a / 0.5) ** 2)
    for f, yes in said:
        weight = weight / (1 + np.exp((-1.0 if yes else 1.0) * a * (theta - f)))
    at = np.array([0.5, 1.0, 1.5, 2.0])
    expected = [float((weight / (1 + np.exp(-a * (theta - f)))).sum() / weight.sum()) for f in at]
    np.testing.assert_allclose(odds.yes(at), expected, atol=0.01)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(-3, 3), st.booleans()), max_size=30), st.floats(-3, 3), st.booleans())
def test_odds_fall_with_distance_and_follow_answers(said, f, yes):
    odds = Odds(0.0, 1.0)
    for at, value in said:
        odds.learn(at, value)
    curve = odds.yes(np.linspace(-4, 4, 50))
    assert (np.diff(curve) <= 1e-12).all()
    assert ((curve >= 0) & (curve <= 1)).all()
    before = odds.yes(np.array([f]))[0]
    odds.learn(f, yes)
    after = odds.yes(np.array([f]))[0]
    assert after >= before - 1e-9 if yes else after <= before + 1e-9


# --- questions ------------------------------------------------------------------------------------------------------


def test_the_line_by_hand():
    table = table_of(LINE)
    # All rows are one super-instance; the row closest to its mean 6 stands for the half it is in.
    assert (table.row, table.cluster.tolist()) == ([2], [0])
    # The other half is {3, 4, 5}; row 4 is its middle.
    assert next_pair(table) == (2, 4)
    told(table, (2, 4), False)
    assert table.cluster.tolist() == [0, 1]
    assert sorted(table.groups.rows(int(table.node[0])).tolist()) == [0, 1, 2]
    # Apart they stay; what is left to ask is inside the two.
    i, j, value = table.best()
    assert i == j
    assert 0 < value < 2  # of the pairs between 1 row and 2, some


def test_values_by_their_definition():
    table = table_of(BLOBS)
    rng = np.random.default_rng(0)
    for _ in range(25):
        i, j = next_pair(table)
        told(table, (i, j), bool(KINDS[i] == KINDS[j]) if rng.random() < 0.6 else None)
    values, groups = table.values(), table.groups
    nodes = table.node.tolist()
    seen_merge = False
    for i, v in enumerate(nodes):
        if v >= groups.n_leaves:
            a, b = groups.parts[v - groups.n_leaves].tolist()
            f = np.log(np.linalg.norm(BLOBS[groups.rows(a)].mean(0) - BLOBS[groups.rows(b)].mean(0)))
            expected = groups.size[a] * groups.size[b] * (1 - table._odds.yes(np.array([f]))[0])
            assert values[i, i] == pytest.approx(expected, rel=0.02, abs=0.02)
        for j in range(i + 1, len(nodes)):
            mine, its = table.cluster == table.cluster[i], table.cluster == table.cluster[j]
            pair = Question("pair", (table.row[i], table.row[j]))
            if table.cluster[i] == table.cluster[j] or table.known.same(*pair.rows) is not None:
                assert values[i, j] == -1
            elif table.known.open(pair):
                f = np.log(np.linalg.norm(BLOBS[groups.rows(v)].mean(0) - BLOBS[groups.rows(nodes[j])].mean(0)))
                sizes = groups.size[table.node]
                expected = sizes[mine].sum() * sizes[its].sum() * table._odds.yes(np.array([f]))[0]
                assert values[i, j] == pytest.approx(expected, rel=0.02, abs=0.02)
                seen_merge = True
    assert seen_merge


def test_clusters_are_what_is_known():
    """Two super-instances are in one cluster exactly when their rows are known to belong together."""
    rng = np.random.default_rng(1)
    y = rng.integers(4, size=60)
    table = table_of(rng.normal(size=(60, 2)))
    for _ in range(80):
        if table.best() is None:
            break
        i, j = next_pair(table)
        told(table, (i, j), bool(y[i] == y[j]))
        # An answer that nobody asked for.
        i, j = rng.choice(60, 2, replace=False).tolist()
        if table.known.same(i, j) is None:
            told(table, (i, j), bool(y[i] == y[j]))
    for a in range(len(table.row)):
        for b in range(a):
            if table.cluster[a] == table.cluster[b]:
                assert y[table.row[a]] == y[table.row[b]]
            if table._apart[a, b]:
                assert y[table.row[a]] != y[table.row[b]]


def test_dont_know_leaves_the_halves_apart_for_now():
    table = table_of(LINE)
    told(table, (2, 4), None)
    assert table.cluster.tolist()[:2] == [0, 1]
    assert table.known.same(2, 4) is None


def test_all_answers_lead_to_the_truth():
    y = np.random.default_rng(2).integers(3, size=25)
    x = np.random.default_rng(3).normal(size=(25, 2))
    strategy = PairsAtStake()
    state = interview(strategy, x, SimulatedOracle(y), budget=300, random_state=0)
    assert adjusted_rand_score(y, strategy.clustering(state, x)) == 1.0


def test_given_labels_are_used_for_nothing():
    strategy = PairsAtStake()
    labels = np.where(np.arange(90) % 3 == 0, KINDS, -1)
    state = strategy.start(BLOBS, Clues(90, labels=labels), budget=5, random_state=0)
    assert adjusted_rand_score(KINDS, strategy.clustering(state, BLOBS)) > 0.9
    full = strategy.start(BLOBS, Clues(90, labels=KINDS), budget=5, random_state=0)
    assert interview(strategy, BLOBS, FunctionOracle(lambda _: pytest.fail("asked")), state=full).asked == 0
    assert strategy.clustering(full, BLOBS).tolist() == KINDS.tolist()


def test_what_labels_decide_is_split_only_so_far(monkeypatch):
    monkeypatch.setattr(stakes, "MOST", 8)
    table = table_of(BLOBS, Clues(90, labels=KINDS))
    assert len(table.node) == 8
    told(table, (0, 1), True)
    assert len(table.node) == 9


def test_rows_that_somebody_spoke_of_are_where_they_belong():
    strategy = PairsAtStake()
    state = strategy.start(LINE, Clues(6, must=[(0, 5)]), budget=3, random_state=0)
    state = strategy.tell(state, [Answer(Question("pair", (2, 4)), False), Answer(Question("pair", (0, 4)), True)])
    labels = strategy.clustering(state, LINE)
    assert labels[0] == labels[5] == labels[4] != labels[2]


@pytest.mark.parametrize("size", [2, 5, 10])
@pytest.mark.parametrize("volunteered", [False, True])
def test_no_truthful_answer_is_broken(size, volunteered):
    """In a batch only one answer is to the best question; what nobody asked for counts as well."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = np.repeat(np.arange(4), 30)
        x = rng.normal(size=(120, 2)) * 1.5 + rng.uniform(-6, 6, size=(4, 2))[y]
        strategy, oracle = PairsAtStake(), SimulatedOracle(y)
        state = strategy.start(x, budget=60, random_state=seed)
        while state.left and (questions := strategy.ask(state, x, size=size)):
            if volunteered:
                pairs = rng.integers(120, size=(3, 2)).tolist()
                questions = [*questions, *(Question("pair", (i, j)) for i, j in pairs if i != j)]
            state = strategy.tell(state, oracle(questions[: state.left]))
        labels = strategy.clustering(state, x)
        for answer in state.answers:
            i, j = answer.question.rows
            assert (labels[i] == labels[j]) == answer.value


def test_no_given_clue_is_broken_and_rows_that_leave_stay_together():
    """Links and a set of rows apart from each other, about rows of three kinds that lie in one heap."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)
    pairs = rng.integers(90, size=(60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    apart = np.full(90, -1)
    apart[[5, 35, 65]] = 0
    clues = Clues(90, must=pairs[same], cannot=pairs[~same], apart=apart)
    strategy = PairsAtStake()
    labels = strategy.clustering(strategy.start(x, clues, budget=3, random_state=0), x)
    assert ((labels[pairs[:, 0]] == labels[pairs[:, 1]]) == same).all()
    assert len(set(labels[[5, 35, 65]])) == 3
    assert len(set(labels)) < 12


def test_an_answer_to_another_question_joins_whole_super_instances():
    table = table_of(BLOBS)
    while len(set(table.cluster.tolist())) < 3:
        i, j = next_pair(table)
        told(table, (i, j), bool(KINDS[i] == KINDS[j]))
    told(table, next_pair(table), None)  # what is split in vain may be one after all
    values = np.triu(table.values(), 1)
    values[table.best()[:2]] = -1
    i, j = np.argwhere(values > 0)[-1].tolist()
    told(table, table.pair(i, j), True)
    assert table.cluster[i] == table.cluster[j]


def test_rows_apart_from_all_around_them_are_a_cluster_of_their_own(monkeypatch):
    monkeypatch.setattr(stakes, "MOST", -9)  # nothing may be split
    strategy = PairsAtStake()
    state = strategy.start(LINE, budget=2, random_state=0)
    says = [((2, 4), False), ((4, 5), True)]
    state = strategy.tell(state, [Answer(Question("pair", pair), value) for pair, value in says])
    assert strategy.clustering(state, LINE).tolist() == [0, 0, 0, 0, 1, 1]


def test_batches_touch_different_clusters():
    strategy = PairsAtStake()
    state = strategy.start(BLOBS, budget=30, random_state=0)
    for size in (1, 1, 1, 3, 3, 3):
        questions = strategy.ask(state, BLOBS, size=size)
        assert 1 <= len(questions) <= size
        rows = [row for question in questions for row in question.rows]
        assert len(set(rows)) == len(rows)
        assert all(question.why.endswith(".") for question in questions)
        state = strategy.tell(state, SimulatedOracle(KINDS)(questions))
    assert len(questions) > 1


def test_another_object_after_json_goes_on_in_the_same_way():
    oracle = SimulatedOracle(KINDS, unknown_rate=0.3, error_rate=0.1, random_state=0)
    strategy = PairsAtStake()
    state = strategy.start(BLOBS, budget=60, random_state=1)
    while questions := strategy.ask(state, BLOBS, size=2):
        if state.asked % 5 == 0:
            assert PairsAtStake().ask(State.from_json(state.to_json()), BLOBS, size=2) == questions
        state = strategy.tell(state, oracle(questions))
    assert np.array_equal(PairsAtStake().clustering(state, BLOBS), strategy.clustering(state, BLOBS))


def test_one_row_and_equal_rows():
    strategy = PairsAtStake()
    one = strategy.start([[1.0]], budget=2, random_state=0)
    assert strategy.ask(one, [[1.0]]) == []
    assert strategy.clustering(one, [[1.0]]).tolist() == [0]
    x = np.zeros((5, 2))
    state = interview(strategy, x, SimulatedOracle([0, 0, 1, 1, 1]), budget=10, random_state=0)
    assert adjusted_rand_score([0, 0, 1, 1, 1], strategy.clustering(state, x)) == 1.0


@pytest.mark.needs_data
def test_digits():
    data = load("digits", standardize=True)
    strategy = PairsAtStake()
    scores = {}

    def watch(state):
        if state.asked in (50, 100, 200):
            scores[state.asked] = adjusted_rand_score(data.y, strategy.clustering(state, data.X))

    interview(strategy, data.X, SimulatedOracle(data.y), budget=200, watch=watch, random_state=0)
    assert scores[50] > 0.75
    assert scores[100] > 0.82
    assert scores[200] > 0.88
