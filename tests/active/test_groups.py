"""Questions about groups: piles are links, a majority counts by pair, and every strategy takes the answers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from cluewise import active
from cluewise.active import Answer, Confirmed, FunctionOracle, Question, RandomPairs, SimulatedOracle, agreement
from cluewise.active._known import Known, resolve

X, Y = make_blobs([12, 10, 8], n_features=3, cluster_std=1.5, center_box=(-5, 5), random_state=3)
GROUP = Question("group", (3, 5, 8, 9))


def sort(value, who="", question=GROUP):
    return Answer(question, value, who=who)


def test_piles_are_chains_and_one_cannot_link_for_each_two():
    answer = sort([[8, 3, 5], (9,)])
    assert answer.value == ((8, 3, 5), (9,))
    assert list(answer.links()) == [(8, 3, True), (3, 5, True), (8, 9, False)]
    assert len(list(answer.entailed())) == 6
    assert list(sort([[3, 5]]).links()) == [(3, 5, True)]  # 8 and 9 are left open
    assert list(sort([[], [3]]).links()) == list(sort([]).links()) == list(sort(None).links()) == []
    assert Answer.from_json(json.loads(json.dumps(answer.to_json()))) == answer
    assert answer.to_json()["value"] == [[8, 3, 5], [9]]
    row_zero = Answer(Question("which", (4, 0, 9)), 0)
    assert list(row_zero.entailed()) == [(4, 0, True), (4, 9, False), (0, 9, False)]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([[3, 4]], r"row 4 is in a pile, but the question is about \[3, 5, 8, 9\]"),
        ([[3, 5], [5]], "row 5 is in two piles"),
        ([[3, 3]], "row 3 is in two piles, or twice in one"),
        ([3, 5], "a list of piles, each a list of rows"),
        (True, "a list of piles, each a list of rows, not True"),
        ("35", "a list of piles"),
    ],
)
def test_what_is_no_piles_is_refused(value, sentence):
    with pytest.raises(ValueError, match=sentence):
        sort(value)


@pytest.mark.parametrize("count", [1, 13])
def test_a_group_has_two_to_twelve_rows(count):
    with pytest.raises(ValueError, match=f"kind group about {count} rows makes no sense"):
        Question("group", range(count))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [({"seconds": -1}, "seconds=-1 is not how long"), ({"seconds": "3"}, "seconds='3'"), ({"nonce": 7}, "nonce=7")],
)
def test_seconds_and_nonce_are_checked(more, sentence):
    with pytest.raises(ValueError, match=sentence):
        Answer(GROUP, None, **more)


def test_the_majority_counts_by_pair():
    votes = [sort([[3, 5], [8, 9]], "ann"), sort([[3, 5, 8, 9]], "bob")]
    (found,) = resolve(votes)
    assert list(found.links()) == [(3, 5, True), (8, 9, True)]  # whether 3 and 8 belong together is a tie
    (found,) = resolve([*votes, sort([[3, 8, 5, 9]], "eve")])
    assert {together for *_, together in found.links()} == {True}
    assert len(list(found.links())) == 6
    same = [sort([[3, 5], [8]], "ann"), sort([[8], [5, 3]], "bob"), sort(None, "eve")]
    assert resolve(same) == same[:1]  # the order of piles means nothing


def test_a_majority_is_a_clue_of_all_who_were_asked():
    state = RandomPairs().start(X, budget=9, random_state=0)
    state = state.plus([sort([[3, 5], [8, 9]], "ann"), sort([[3, 5, 8, 9]], "bob")])
    assert state.clues.must_source.tolist() == ["answer 1 (ann, bob)"] * 2


def test_what_is_known_after_a_group():
    known = Known(RandomPairs().start(X, budget=9, random_state=0).given)
    known.learn(sort([[3, 5], [8]]))
    assert (known.same(3, 5), known.same(5, 8), known.same(3, 9)) == (True, False, None)
    assert not known.open(GROUP)
    assert not known.open(Question("group", (3, 5, 8)))  # it follows
    assert known.open(Question("group", (3, 5, 9)))
    known.learn(sort(None, question=Question("group", (0, 1, 2))))
    assert known.open(Question("pair", (0, 1)))  # whoever cannot sort three rows may still know two


@pytest.mark.parametrize("strategy", active.strategies(), ids=lambda strategy: strategy.__name__)
def test_every_strategy_takes_answers_about_groups(strategy):
    """Right, wrong, repeated and contradicting ones; then it goes on, and a new object asks the same."""
    names = strategy._get_param_names()
    one = strategy(**({"n_clusters": 3} if "n_clusters" in names else {}))
    rng = np.random.default_rng(0)
    oracle = SimulatedOracle(Y, error_rate=0.2, random_state=0)
    state = one.start(X, budget=40, random_state=0)
    groups = [Question("group", rng.choice(len(X), 6, replace=False)) for _ in range(6)]
    for round, group in enumerate([*groups, groups[0], groups[0], groups[1]]):
        state = one.tell(state, oracle([group, *one.ask(state, X)]))
        if round == 4:
            again = strategy(**one.get_params())
            assert again.ask(state, X) == one.ask(state, X)
    assert state.clues.n == len(X)
    if hasattr(one, "clustering"):
        assert len(one.clustering(state, X)) == len(X)


def test_confirmed_asks_a_group_twice():
    sure = Confirmed(RandomPairs(), error_rate=0.1)
    state = sure.start(X, budget=9, random_state=0)
    state = sure.tell(state, sort([[3, 5], [8]], "ann"))
    assert sure.ask(state, X)[0].key == GROUP.key
    state = sure.tell(state, sort([[8], [5, 3]], "bob"))
    assert sure.ask(state, X)[0].key != GROUP.key
    assert len(sure.clues(state).must) == 1


def test_oracles_sort():
    truth = ["a", "b", "a", "c", "b", "a"]
    group = Question("group", (5, 1, 0, 3, 4))
    assert SimulatedOracle(truth)([group])[0].value == ((5, 0), (1, 4), (3,))
    wrong = SimulatedOracle(truth, error_rate=1.0, random_state=0)
    for _ in range(20):
        (answer,) = wrong([group])
        assert sorted(row for pile in answer.value for row in pile) == [0, 1, 3, 4, 5]
        # Every row is in the pile of another class: there are three piles, and no class fills its own.
        assert len(answer.value) <= 3
    assert len(SimulatedOracle(["a", "a"], error_rate=1.0)([Question("group", (0, 1))])[0].value) == 2
    assert SimulatedOracle(truth, unknown_rate=1.0)([group])[0].value is None
    assert FunctionOracle(lambda question: [question.rows[:2]])([group])[0].value == ((5, 1),)


def test_each_row_of_a_group_is_misplaced_with_the_same_probability():
    """Two classes of four: a row is misplaced if it is in the pile with fewer of its class, up to 3 misplaced."""
    truth, rows = np.repeat([0, 1], 6), tuple(range(12))
    oracle = SimulatedOracle(truth, error_rate=0.1, random_state=0)
    count = np.zeros(12)
    for answer in oracle([Question("group", rows)] * 2000):
        for pile in answer.value:
            own = np.round(truth[list(pile)].mean())
            count[[row for row in pile if truth[row] != own]] += 1
    assert np.all(np.abs(count / 2000 - 0.1) < 0.03)  # 4 standard errors
    alone = SimulatedOracle([0, 0, 0], error_rate=1.0)([Question("group", (0, 1, 2))])[0]
    assert alone.value == ((0,), (1,), (2,))


def test_agreement():
    pair = Question("pair", (5, 3))
    said = [
        sort([[3, 5], [8]], "ann"),
        sort([[3], [5, 8], [9]], "bob"),
        Answer(pair, False, "eve"),
        Answer(pair, True, "eve"),  # she thought again
        Answer(Question("which", (8, 3, 9)), 9, "eve"),
        Answer(Question("label", (3,)), "x", "bob"),
        Answer(Question("label", (3,)), "x", "ann"),
        Answer(pair, True),
        Answer(pair, True, Answer.INFERRED),
        Answer(pair, None, "tom"),
    ]
    assert agreement(said) == [("ann", "bob", 4, 2), ("ann", "eve", 2, 2), ("bob", "eve", 4, 2)]
    assert agreement([]) == []
