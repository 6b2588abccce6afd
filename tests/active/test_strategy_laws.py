"""What holds for every strategy: budgets, JSON, entailment, batches, people who err or do not know."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from cluewise import Clues, active
from cluewise.active import Answer, Question, SimulatedOracle, State, Strategy, interview
from cluewise.active._known import Known
from cluewise.active._placing import PlacingStrategy

ALL = [
    value
    for value in map(active.__dict__.get, active.__all__)
    if isinstance(value, type) and issubclass(value, Strategy) and "strategy" not in value._get_param_names()
]
STRATEGIES = sorted((value for value in ALL if not value.__abstractmethods__), key=lambda value: value.__name__)
K = 3
X, Y = make_blobs([20, 15, 10], n_features=3, cluster_std=2.0, center_box=(-5, 5), random_state=3)


def made(strategy: type[Strategy]) -> Strategy:
    """The strategy with its defaults, for three clusters where it wants to know."""
    names = strategy._get_param_names()
    return strategy(**({"n_clusters": K} if "n_clusters" in names else {}))


every = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda value: value.__name__)


@every
@pytest.mark.parametrize("size", [1, 4])
def test_the_budget_is_spent_exactly(strategy, size):
    state = interview(made(strategy), X, SimulatedOracle(Y), budget=22, size=size, random_state=0)
    assert state.asked == 22
    assert state.left == 0


@every
def test_nothing_known_or_entailed_is_asked(strategy):
    one = made(strategy)
    if "error_rate" in one.get_params():
        one.set_params(error_rate=0.0)  # otherwise a doubtful answer is asked for again
    state = one.start(X, budget=40, random_state=1)
    oracle = SimulatedOracle(Y)
    known = Known(state.given)
    while questions := one.ask(state, X, size=3):
        assert len({question.key for question in questions}) == len(questions) <= 3
        assert all(known.open(question) for question in questions)
        before = len(state.answers)
        state = one.tell(state, oracle(questions))
        for answer in state.answers[before:]:
            known.learn(answer)
    assert not known.conflicts


@every
def test_a_conversation_goes_on_from_json_with_the_same_question(strategy):
    """Byte for byte: a new object that has only the text and the data asks what the old one asks."""
    one = made(strategy)
    state = one.start(X, Clues(len(X), must=[(0, 3)]), budget=25, random_state=2)
    oracle = SimulatedOracle(Y, unknown_rate=0.1, random_state=0)
    for step in range(25):
        asked = one.ask(state, X)
        if step % 6 == 0:
            text = state.to_json()
            again = State.from_json(text)
            assert again == state
            assert again.to_json() == text
            other = made(strategy)
            assert [q.to_json() for q in other.ask(again, X.copy())] == [q.to_json() for q in asked]
        state = one.tell(state, oracle(asked))


@every
def test_a_state_replays_exactly(strategy):
    """Whoever errs, repeats, sorts groups or does not know: a new object asks and clusters as the old one does."""
    one, rng = made(strategy), np.random.default_rng(5)
    oracle = SimulatedOracle(Y, error_rate=0.2, unknown_rate=0.1, random_state=5)
    state = one.start(X, Clues(len(X), must=[(0, 3)], cannot=[(0, 7)]), budget=30, random_state=3)
    for step in range(8):
        questions = one.ask(state, X, size=2)
        if step % 3 == 1:
            questions = [*questions, Question("group", rng.choice(len(X), 5, replace=False)), state.answers[0].question]
        state = one.tell(state, oracle(questions))
        if step in (2, 5, 7):
            text = state.to_json()
            other = made(strategy)
            replayed = State.from_json(text)
            assert other.ask(replayed, X.copy(), size=3) == one.ask(state, X, size=3)
            if step == 7 and hasattr(one, "clustering"):
                assert (other.clustering(replayed, X.copy()) == one.clustering(state, X)).all()


@every
def test_undo_leads_back_to_the_same_question(strategy):
    one = made(strategy)
    state = one.start(X, budget=12, random_state=0)
    oracle = SimulatedOracle(Y)
    for _ in range(8):
        questions = one.ask(state, X)
        later = one.tell(state, oracle(questions))
        assert later.undone() == state
        assert one.ask(later.undone(), X) == questions
        state = later


@every
def test_people_who_err_and_do_not_know_are_survived(strategy):
    oracle = SimulatedOracle(Y, error_rate=0.3, unknown_rate=0.2, random_state=4)
    given = Clues.sample(Y, pairs=10, noise=0.4, random_state=0)
    state = interview(made(strategy), X, oracle, budget=40, size=2, clues=given, random_state=0)
    assert state.asked == 40
    assert state.clues.n == len(X)


@every
def test_nobody_knows_anything(strategy):
    state = interview(made(strategy), X, SimulatedOracle(Y, unknown_rate=1.0), budget=30, random_state=0)
    assert state.asked == 30
    assert len({answer.question.key for answer in state.answers}) == 30
    assert not state.clues.kinds


@every
def test_given_clues_of_every_kind_are_knowledge(strategy):
    labels = np.where(np.arange(len(X)) % 4 == 0, Y, -1)
    first = [int(np.flatnonzero(c == Y)[0]) for c in range(K)]
    apart = ["g" if row in first else None for row in range(len(X))]
    clues = Clues(len(X), labels=labels, apart=apart, partitions=labels, sizes=(1, 40), avoid=Y % 2)
    one = made(strategy)
    known = Known(clues)
    state = one.start(X, clues, budget=15, random_state=0)
    while questions := one.ask(state, X):
        assert all(known.open(question) for question in questions)
        state = one.tell(state, SimulatedOracle(Y)(questions))
    assert state.asked == 15


@every
def test_everything_known_ends_the_conversation(strategy):
    one = made(strategy)
    state = one.start(X, Y, budget=5, random_state=0)
    assert one.ask(state, X) == []


@every
@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((1, 2)),
        np.array([[0.0, 1.0], [2.0, 1.0]]),
        np.ones((12, 2)),
        np.repeat([[0.0], [5.0], [9.0]], 5, axis=0),
        np.linspace(0, 1, 13, dtype=np.float32)[:, None],
    ],
    ids=["one row", "two rows", "equal rows", "duplicates", "single precision"],
)
def test_odd_data(strategy, rows):
    truth = np.arange(len(rows)) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of K-means about fewer distinct rows than clusters
        state = interview(made(strategy), rows, SimulatedOracle(truth), budget=9, random_state=0)
    known = Known(state.clues)
    exhausted = all(known.same(i, j) is not None for i in range(len(rows)) for j in range(i))
    assert state.asked == 9 or exhausted


@every
def test_no_budget_no_question(strategy):
    one = made(strategy)
    assert one.ask(one.start(X, budget=0), X) == []


@every
def test_same_seed_same_questions_other_data_refused(strategy):
    logs = [interview(made(strategy), X, SimulatedOracle(Y), budget=10, random_state=seed).answers for seed in (7, 7)]
    assert logs[0] == logs[1]
    one = made(strategy)
    state = one.start(X, budget=3, random_state=0)
    with pytest.raises(ValueError, match="not what this conversation is about"):
        one.ask(state, X + 1)


@every
def test_clone_pickle_and_repr(strategy):
    one = made(strategy)
    state = one.start(X, budget=3, random_state=0)
    first = one.ask(state, X)
    for other in (clone(one), pickle.loads(pickle.dumps(one))):
        assert other.ask(state, X) == first
    assert type(one).__name__ in repr(one)


@every
def test_the_data_are_left_alone_and_may_be_read_only(strategy):
    frozen = X.copy()
    frozen.flags.writeable = False
    interview(made(strategy), frozen, SimulatedOracle(Y), budget=6, random_state=0)
    assert (frozen == X).all()


@every
def test_questions_say_why(strategy):
    one = made(strategy)
    state = one.start(X, budget=12, random_state=0)
    while questions := one.ask(state, X):
        for question in questions:
            assert question.why.endswith(".")
            assert question.kind in one.card.asks | {"pair"}
        state = one.tell(state, SimulatedOracle(Y)(questions))


PLACING = [strategy for strategy in STRATEGIES if issubclass(strategy, PlacingStrategy)]
placing = pytest.mark.parametrize("strategy", PLACING, ids=lambda value: value.__name__)


def asking(strategy, kind):
    return made(strategy).set_params(questions=kind)


@placing
@pytest.mark.parametrize("unknown_rate", [0.0, 0.4])
def test_labels_make_neighborhoods(strategy, unknown_rate):
    """Every class that was named is a neighborhood, whoever was asked about first."""
    one = asking(strategy, "label")
    oracle = SimulatedOracle(Y, unknown_rate=unknown_rate, random_state=0)
    state = interview(one, X, oracle, budget=25, size=2, random_state=0)
    hoods = one._hoods(one._scene(state, X))
    named = {answer.value for answer in state.answers if answer.question.kind == "label"} - {None}
    assert len(hoods.sets) == len(named) == K
    assert {len({Y[row] for row in members}) for members in hoods.sets} == {1}


@placing
def test_nobody_who_cannot_tell_which_is_asked_again_and_again(strategy):
    class Unsure(SimulatedOracle):
        """Knows everything but one row."""

        def __call__(self, questions):
            return [
                Answer(answer.question, None if answer.question.rows[0] == self.row else answer.value)
                for answer in super().__call__(questions)
            ]

    one = asking(strategy, "which")
    state = one.start(X, budget=25, random_state=1)
    oracle = Unsure(Y)
    oracle.row = one.ask(state, X)[0].rows[0]
    state = interview(one, X, oracle, state=state)
    about = [answer.question.rows for answer in state.answers if answer.question.rows[0] == oracle.row]
    shown = [row for rows in about for row in rows[1:]]
    assert len(shown) == len(set(shown))


@every
def test_one_object_for_two_conversations_keeps_them_apart(strategy):
    one = made(strategy)
    other = Clues(len(X), labels=np.where(np.arange(len(X)) < 12, Y, -1))
    for clues, budget in ((None, 10), (other, 10), (None, 10), (None, 30)):
        state = one.start(X, clues, budget=budget, random_state=0)
        for _ in range(4):
            asked = one.ask(state, X)
            assert made(strategy).ask(state, X) == asked
            state = one.tell(state, SimulatedOracle(Y)(asked))


@every
def test_numbers_too_large_to_be_squared_are_refused(strategy):
    with pytest.raises(ValueError, match="X reaches"):
        made(strategy).start(X * 2.0**530, budget=3)


# --- what the base does --------------------------------------------------------------------------------------------


@pytest.fixture
def pairs():
    return active.RandomPairs()


def test_bad_calls(pairs):
    state = pairs.start(X, budget=2, random_state=0)
    with pytest.raises(ValueError, match="budget is -1"):
        pairs.start(X, budget=-1)
    with pytest.raises(ValueError, match="budget is True"):
        pairs.start(X, budget=True)
    with pytest.raises(ValueError, match="size=0"):
        pairs.ask(state, X, size=0)
    with pytest.raises(TypeError, match="is not an Answer"):
        pairs.tell(state, [True])
    with pytest.raises(ValueError, match="row 99, but there are 45 rows"):
        pairs.tell(state, Answer(Question("pair", (0, 99)), True))
    many = [Answer(Question("pair", (0, i)), True) for i in (1, 2, 3)]
    with pytest.raises(ValueError, match="3 answers were told, but only 2 questions"):
        pairs.tell(state, many)
    with pytest.raises(TypeError, match="a state comes from start"):
        pairs.ask({}, X)


def test_a_state_belongs_to_its_strategy(pairs):
    state = pairs.start(X, budget=2, random_state=0)
    stranger = State(
        "Other", {"n_clusters": 3}, *[getattr(state, f) for f in ("n", "fingerprint", "budget", "seed", "given")]
    )
    with pytest.raises(ValueError, match=r"started by Other\(n_clusters=3\), not by RandomPairs\(\)"):
        pairs.ask(stranger, X)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 99}', "{"])
def test_texts_that_are_no_state(text):
    with pytest.raises(ValueError, match="not the state of a conversation"):
        State.from_json(text)


def test_nothing_to_take_back(pairs):
    with pytest.raises(ValueError, match="no answer to take back"):
        pairs.start(X, budget=2).undone()


def test_who_answered_is_in_the_source(pairs):
    state = pairs.start(X, budget=3, random_state=0)
    state = pairs.tell(
        state,
        [
            Answer(Question("pair", (0, 1)), True, who="ann"),
            Answer(Question("pair", (0, 2)), False),
            Answer(Question("label", (4,)), "red", who="bob"),
        ],
    )
    assert state.clues.must_source.tolist() == ["answer 1 (ann)"]
    assert state.clues.cannot_source.tolist() == ["answer 2"]
    assert state.clues.label_source[4] == "answer 3 (bob)"


def test_a_contradiction_is_asked_again_and_the_majority_counts(pairs):
    state = pairs.start(X, budget=9, random_state=0)
    said = [((0, 1), True), ((1, 2), True), ((2, 0), False)]
    state = pairs.tell(state, [Answer(Question("pair", rows), value) for rows, value in said])
    for again in ((0, 2), (1, 2)):
        question = pairs.ask(state, X)[0]
        # The latest of those with the fewest voices; what was confirmed is not asked a third time before the others.
        assert question.key == ("pair", again)
        assert "contradict" in question.why
        state = pairs.tell(state, Answer(question, False))
    # Rows 1 and 2: one says yes, one no, so that nothing is known, and the contradiction is gone.
    assert state.clues.must.tolist() == [[0, 1]]
    assert state.clues.cannot.tolist() == [[0, 2]]
    assert "contradict" not in pairs.ask(state, X)[0].why


def test_a_contradiction_that_everybody_confirms_is_left_alone(pairs):
    state = pairs.start(X, budget=20, random_state=0)
    said = {("pair", (0, 1)): True, ("pair", (1, 2)): True, ("pair", (0, 2)): False}
    state = pairs.tell(state, [Answer(Question("pair", rows), value) for (_, rows), value in said.items()])
    for _ in range(6):
        question = pairs.ask(state, X)[0]
        state = pairs.tell(state, Answer(question, said[question.key]))
    assert pairs.ask(state, X)[0].key not in said
    assert len(state.clues.contradictions) == 1


def test_the_chain_of_a_contradiction_runs_through_labels_and_refusals(pairs):
    state = pairs.start(X, budget=20, random_state=0)
    answers = [
        Answer(Question("label", (0,)), "a"),
        Answer(Question("label", (1,)), "a"),
        Answer(Question("which", (2, 0, 5)), False),
        Answer(Question("pair", (1, 2)), True),
    ]
    state = pairs.tell(state, answers)
    keys = []
    while "contradict" in (question := pairs.ask(state, X)[0]).why:
        keys.append(question.key)
        state = pairs.tell(state, Answer(question, next(a.value for a in answers if a.question.key == question.key)))
    assert set(keys) == {answer.question.key for answer in answers}  # each of them was asked again


def test_what_was_inferred_falls_with_the_no_that_it_came_from():
    """Two neighborhoods, a row apart from one: it belongs to the other, until somebody corrects the "no"."""
    one = active.ExploreConsolidate(2)
    rows = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    state = one.start(rows, Clues(6, labels=[0, -1, -1, 1, -1, -1]), budget=9, random_state=0)
    state = one.tell(state, Answer(Question("pair", (1, 3)), False))
    assert state.answers[-1].who == "inferred"
    assert state.clues.must.tolist() == [[0, 1]]
    assert state.asked == 1
    state = one.tell(state, [Answer(Question("pair", (1, 3)), True)] * 2)
    assert state.clues.must.tolist() == [[1, 3]]
    assert not state.clues.contradictions
    assert one.ask(state, rows)[0].key != ("pair", (0, 1))
    with pytest.raises(ValueError, match="who='inferred' is reserved"):
        one.tell(state, Answer(Question("pair", (1, 2)), True, who="inferred"))


def test_a_state_that_lacks_something(pairs):
    with pytest.raises(ValueError, match="there is no answers, budget, fingerprint, given, n, parameters"):
        State.from_json('{"format": 1}')
    with pytest.raises(ValueError, match=r"size=2\.0"):
        pairs.ask(pairs.start(X, budget=3), X, size=2.0)


def test_interviews_need_a_beginning(pairs):
    oracle = SimulatedOracle(Y)
    with pytest.raises(ValueError, match="a budget for a new conversation or a state"):
        interview(pairs, X, oracle)
    state = interview(pairs, X, oracle, budget=6, random_state=0, watch=lambda state: state.asked == 4)
    assert state.asked == 4
    with pytest.raises(ValueError, match="belong to a new conversation"):
        interview(pairs, X, oracle, state=state, random_state=1)
    assert interview(pairs, X, oracle, state=state).asked == 6
    assert interview(pairs, X, lambda questions: [], budget=6).asked == 0


def test_a_state_of_an_earlier_version_goes_on():
    """The text is that of November 2026, with shorter reasons and another name; what it asks next was noted then."""
    head = '{"format": 1, "strategy": "ExploreConsolidate", "parameters": {"infer_last": true, "n_clusters": 3, '
    head += '"order": "random", "patience": 1.0, "questions": "pair"}, "n": 6, '
    head += '"fingerprint": "b78025275ce63a373ae2aaf43bc5d101", "budget": 6, "seed": 1826701615, '
    given = (
        '"given": {"a": ["*", "0", "1", "0"], "b": ["6", "1", "3", "a"], "kind": ["rows", "must", "cannot", "label"], '
    )
    given += '"source": ["", "given", "given", "given"]}, '
    said = [([5, 0], "false"), ([4, 0], "false"), ([4, 5], "false"), ([2, 0], "true")]
    answers = [
        f'{{"question": {{"kind": "pair", "rows": {rows}, "why": "far."}}, "value": {value}, "who": "ann"}}'
        for rows, value in said
    ]
    text = f'{head}{given}"answers": [{", ".join(answers)}]}}'
    state = State.from_json(text)
    assert state.to_json() == text
    data = [[0.0], [1.0], [4.6], [8.0], [9.0], [20.0]]
    assert [question.rows for question in active.ExploreConsolidate(3).ask(state, data)] == [(3, 4)]
