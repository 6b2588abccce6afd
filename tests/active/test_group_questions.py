"""GroupQuestions: seats in the tree, votes of rows in piles, and questions where most is at stake."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from cluewise import Clues
from cluewise.active import Answer, GroupQuestions, PairsAtStake, Question, SimulatedOracle, interview
from cluewise.active._group_questions.board import Board
from cluewise.active._group_questions.seats import Seats
from cluewise.active._group_questions.votes import Ballot, ballots_of, count_misplaced, find_clusters, weigh
from cluewise.active._pairs_at_stake.stakes import Odds
from cluewise.active._pairs_at_stake.ward_groups import WardGroups
from cluewise.metrics import ari

X, Y = make_blobs([60, 50, 40, 30], n_features=4, cluster_std=1.5, center_box=(-6, 6), random_state=1)
LINE = np.array([[0.0], [1.0], [2.5], [10.0], [11.0], [12.5]])


def sorted_by(y, rows):
    """The right answer to a group."""
    return SimulatedOracle(y)([Question("group", rows)])[0]


# --- seats


def test_a_row_stands_for_the_largest_part_without_another():
    seats = Seats(WardGroups(LINE, 0), np.array([4, 0, 3]))
    assert seats.spread(seats.rows).tolist() == [0, 0, 0, 3, 4, 4] or seats.rows.tolist() == [0, 3, 4]
    found = dict(zip(seats.rows.tolist(), seats.size.tolist()))
    assert found[0] == 3.0
    assert sum(found.values()) == 6.0


@pytest.mark.parametrize("small", [12_000, 20])
def test_every_row_has_a_seat(small):
    """Whatever was asked about; also if the leaves of the tree are small clusters."""
    groups = WardGroups(X, 0, exact=small, small=20)
    rng = np.random.default_rng(0)
    for count in (1, 2, 7, 90):
        rows = rng.choice(len(X), count, replace=False)
        seats = Seats(groups, rows)
        of = seats.spread(np.arange(count))
        assert (of[seats.rows] == np.arange(count)).all()
        if small > len(X):
            assert (np.bincount(of) == seats.size).all()
        for half in seats.halves:
            inside = groups.rows(half.node)
            assert not set(inside.tolist()) & set(rows.tolist())
            assert (of[inside] == half.seat).all()


def test_neighbors_are_the_closest_seats():
    seats = Seats(WardGroups(X, 0), np.arange(0, 180, 9))
    near = seats.neighbors(seats.mean, itself=True).toarray()
    far = ((seats.mean[:, None] - seats.mean) ** 2).sum(axis=2) + np.diag(np.full(20, np.inf))
    for i in range(20):
        assert set(np.flatnonzero(near[i])) == set(np.argsort(far[i])[:8])
        assert near[i].argmax() == far[i].argmin()
    assert near.sum(axis=1) == pytest.approx(1.0)
    assert Seats(WardGroups(X, 0), np.array([3])).neighbors(X[:2], itself=True).nnz == 0


# --- votes


def test_answers_are_piles():
    answers = [
        Answer(Question("group", (1, 2, 3)), [[1, 2], [3]]),
        Answer(Question("pair", (1, 2)), True),
        Answer(Question("pair", (1, 2)), False),
        Answer(Question("which", (5, 6, 7)), 6),
        Answer(Question("which", (5, 6, 7)), False),
        Answer(Question("group", (1, 2, 3)), None),
        Answer(Question("label", (1,)), "a"),
        Answer(Question("label", (2,)), "b"),
        Answer(Question("label", (4,)), "a"),
        Answer(Question("pair", (1, 2)), True, Answer.INFERRED),
    ]
    assert [ballot.piles for ballot in ballots_of(answers)] == [
        ((1, 2), (3,)), ((1, 2),), ((1,), (2,)), ((5, 6),), ((5,), (7,)),
        ((5,), (6,)), ((5,), (7,)), ((1,),), ((2,), (1,)), ((1, 4), (2,)),
    ]  # fmt: skip


def test_a_row_has_one_vote_for_each_pile():
    """Three piles, one in five rows misplaced: log(0.8 · 2/0.2) = log 8."""
    found = weigh([Ballot(((0, 1, 2), (3,), (4, 5)))], {row: row for row in range(6)}, {"": 0.2}).toarray() / np.log(8)
    assert found[0] == pytest.approx([0, 1 / 2, 1 / 2, -1 / 3, -1 / 3, -1 / 3])
    assert found[3] == pytest.approx([-1 / 3, -1 / 3, -1 / 3, 0, -1 / 2, -1 / 2])
    assert (found == found.T).all()
    assert weigh([Ballot(((0, 1),))], {0: 0, 1: 0}, {"": 0.1}).nnz == 0  # two rows that certainly belong together


def within(weights, labels):
    return weights[np.equal.outer(labels, labels)].sum() / 2


def test_clusters_of_votes_are_the_best_ones(sweep):
    """Against all partitions of six vertices: nearly always the best, and never improved by a single move."""
    rng = np.random.default_rng(0)
    best = 0
    cases = sweep(15, 100)
    for _ in range(cases):
        half = np.triu(rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.7), 1)
        weights = half + half.T
        found = find_clusters(sparse.csr_array(weights))
        top = max(within(weights, np.array(z)) for z in product(range(6), repeat=6) if z[0] == 0)
        best += within(weights, found) > top - 1e-9
        for v, c in product(range(6), range(7)):
            moved = found.copy()
            moved[v] = c
            assert within(weights, moved) <= within(weights, found) + 1e-9
    assert best >= 0.8 * cases
    assert find_clusters(sparse.csr_array((0, 0))).tolist() == []


def test_who_is_not_with_its_cluster_is_misplaced():
    cluster = {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 2}
    right = Ballot(((0, 1, 2), (3, 4), (5,)), "ann")
    assert count_misplaced([right] * 3, cluster) == {"ann": (0, 18)}
    wrong = Ballot(((0, 1), (2, 3, 4), (5,)), "bob")
    assert count_misplaced([right, right, wrong], cluster) == {"ann": (0, 12), "bob": (1, 6)}
    assert count_misplaced([right, right], cluster) == {"ann": (0, 0)}  # nobody was sorted often enough


def test_each_source_has_its_own_error_rate():
    rng = np.random.default_rng(0)
    rows = rng.choice(len(X), 24, replace=False)
    questions = [Question("group", rng.choice(rows, 8, replace=False)) for _ in range(60)]
    good, bad = (SimulatedOracle(Y, error_rate=error, random_state=1)(questions) for error in (0.02, 0.3))
    answers = [replace(a, who="good") for a in good] + [replace(a, who="bad") for a in bad]
    rates = Board(WardGroups(X, 0), ballots_of(answers), Clues(len(X)), {}).rates
    assert rates == pytest.approx({"good": 0.02, "bad": 0.3}, abs=0.05)
    given = Board(WardGroups(X, 0), ballots_of(answers), Clues(len(X)), {"good": 0.0}).rates
    assert given["good"] == 0.0
    assert given["bad"] == pytest.approx(0.3, abs=0.05)
    with pytest.raises(ValueError, match=r"the error rate of 'ann' is 0\.7"):
        GroupQuestions(error_rate={"ann": 0.7}).start(X, budget=1)


def test_the_error_rate_is_learned():
    rng = np.random.default_rng(0)
    groups, rows = WardGroups(X, 0), rng.choice(len(X), 24, replace=False)
    for error in (0.0, 0.1, 0.25):
        oracle = SimulatedOracle(Y, error_rate=error, random_state=1)
        answers = oracle([Question("group", rng.choice(rows, 8, replace=False)) for _ in range(80)])
        board = Board(groups, ballots_of(answers), Clues(len(X)), {})
        assert board.error_rate == pytest.approx(error, abs=0.04)


def test_many_answers_at_once_are_learned_as_one_after_another():
    rng = np.random.default_rng(0)
    far, yes = rng.normal(size=20), rng.random(20) < 0.5
    one, many = Odds(0.0, 1.0), Odds(0.0, 1.0)
    for f, same in zip(far, yes):
        one.learn(float(f), bool(same), 0.1)
    many.learn_all(far, yes, 0.1)
    at = np.linspace(-3, 3, 9)
    assert many.yes(at) == pytest.approx(one.yes(at))


# --- questions and clusters


def test_few_calls_find_the_clusters():
    for kind, budget in (("group", 12), ("which", 40)):
        strategy = GroupQuestions(questions=kind)
        state = interview(strategy, X, SimulatedOracle(Y), budget=budget, random_state=0)
        assert {answer.question.kind for answer in state.answers} == {kind}
        assert ari(Y, strategy.clustering(state, X)) > 0.9


def test_wrong_answers_are_outvoted():
    """One in five rows in a wrong pile; pairs with as many calls, believed to the letter, do far worse."""
    found = []
    for strategy in (GroupQuestions(4), PairsAtStake()):
        oracle = SimulatedOracle(Y, error_rate=0.2, random_state=0)
        state = interview(strategy, X, oracle, budget=40, random_state=0)
        found.append(ari(Y, strategy.clustering(state, X)))
    assert found[0] > 0.85
    assert found[1] < 0.6


def test_questions_have_the_size_that_is_asked_for():
    for size in (2, 5, 12):
        strategy = GroupQuestions(size=size)
        state = strategy.start(X, budget=4, random_state=0)
        for _ in range(3):
            (question,) = strategy.ask(state, X)
            assert len(question.rows) == size
            state = strategy.tell(state, SimulatedOracle(Y)([question]))
    with pytest.raises(ValueError, match="'size' parameter of GroupQuestions"):
        GroupQuestions(size=13).start(X, budget=1)


def test_a_row_in_a_wrong_pile_has_one_vote_to_be_there():
    """One in ten is wrong: whatever the size of the pile, the odds become nine times as high."""
    strategy = GroupQuestions(error_rate=0.1)
    state = interview(strategy, X, SimulatedOracle(Y), budget=6, random_state=0).allowed(9)
    board = strategy._board(strategy._scene(state, X))
    row, *others = [*board.seats.rows[Y[board.seats.rows] == 0][:1], *board.seats.rows[Y[board.seats.rows] == 1][:3]]
    seat, seats = board.seats.rows.tolist().index(row), board.seats.rows.tolist()
    own, other = board.cluster[seat], board.cluster[seats.index(others[0])]
    later = strategy.tell(state, Answer(Question("group", (row, *others)), [[row, *others]]))
    after = strategy._board(strategy._scene(later, X))
    assert (after.cluster == board.cluster).all()
    odds = [one.likely[seat, other] / one.likely[seat, own] for one in (board, after)]
    assert odds[1] / odds[0] == pytest.approx(9.0)


def test_given_clues_hold_in_the_clusters():
    rng = np.random.default_rng(1)
    clues = Clues.sample(Y, pairs=30, random_state=rng) | Clues(
        len(X), labels=np.where(np.arange(len(X)) % 20 == 0, Y, -1)
    )
    strategy = GroupQuestions(error_rate=0.1)
    oracle = SimulatedOracle(Y, error_rate=0.2, random_state=0)
    state = interview(strategy, X, oracle, clues=clues, budget=15, random_state=0)
    labels = strategy.clustering(state, X)
    for pairs, same in ((clues.must, True), (clues.cannot, False)):
        assert all((labels[i] == labels[j]) == same for i, j in pairs)
    given = np.flatnonzero(clues.labels >= 0)
    assert all((labels[i] == labels[j]) == (Y[i] == Y[j]) for i, j in combinations(given, 2))


def test_what_nobody_could_sort_is_not_shown_again_at_once():
    strategy = GroupQuestions()
    state = interview(strategy, X, SimulatedOracle(Y), budget=3, random_state=0).allowed(20)
    seen = []
    for _ in range(4):
        (question,) = strategy.ask(state, X)
        seen.append(question.key)
        state = strategy.tell(state, Answer(question, None))
    assert len(set(seen)) == 4


def test_several_questions_at_once_show_other_rows():
    strategy = GroupQuestions(4)
    state = interview(strategy, X, SimulatedOracle(Y), budget=4, random_state=0).allowed(20)
    questions = strategy.ask(state, X, size=3)
    assert len({question.key for question in questions}) == 3
    assert questions[0] == strategy.ask(state, X)[0]
    assert questions[0].score >= questions[1].score
    board = strategy._board(strategy._scene(state, X))
    new = [set(question.rows) - set(board.seats.rows.tolist()) for question in questions]
    assert not new[0] & new[1]


def test_without_a_number_small_clusters_remain_and_with_one_they_join():
    clusters = []
    for k in (None, 2):
        strategy = GroupQuestions(k)
        state = interview(strategy, X, SimulatedOracle(Y), budget=12, random_state=0)
        clusters.append(len(set(strategy.clustering(state, X).tolist())))
    assert clusters[0] >= 4
    assert clusters[1] == 2


def test_without_answers_the_clusters_are_those_of_cluewise():
    from cluewise import Cluewise

    strategy = GroupQuestions(4)
    state = strategy.start(X, budget=4, random_state=0)
    plain = Cluewise(4, random_state=state.seed).fit(X).labels_
    assert ari(plain, strategy.clustering(state, X)) == 1.0


def test_clusters_that_groups_contradict_are_corrected():
    strategy = GroupQuestions(4)
    state = interview(strategy, X, SimulatedOracle(Y), budget=20, random_state=0)
    assert strategy.correct(state, X, Y) is None  # nothing to correct
    assert ari(Y, strategy.correct(state, X, np.roll(Y, 7), 4)) > 0.9
    few = replace(state, answers=state.answers[:3])
    assert strategy.correct(few, X, np.roll(Y, 7)) is None
