"""Questions and answers: what they say, what they refuse, and JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cluewise.active import Answer, FunctionOracle, Question, SimulatedOracle


@pytest.mark.parametrize(
    ("question", "value", "links"),
    [
        (Question("pair", (4, 7)), True, [(4, 7, True)]),
        (Question("pair", (4, 7)), False, [(4, 7, False)]),
        (Question("pair", (4, 7)), None, []),
        (Question("which", (4, 7, 9)), 9, [(4, 7, False), (4, 9, True)]),
        (Question("which", (4, 7, 9)), False, [(4, 7, False), (4, 9, False)]),
        (Question("which", (4, 0, 9)), 0, [(4, 0, True), (4, 9, False)]),
        (Question("which", (4, 7, 9)), None, []),
        (Question("label", (4,)), "red", []),
    ],
)
def test_what_an_answer_decides(question, value, links):
    answer = Answer(question, value, who="ann", when="today")
    assert list(answer.links()) == links
    assert Answer.from_json(json.loads(json.dumps(answer.to_json()))) == answer


def test_numbers_of_numpy_become_plain():
    answer = Answer(Question("label", (np.int64(3),)), np.int32(2))
    assert json.dumps(answer.to_json()) == '{"question": {"kind": "label", "rows": [3]}, "value": 2}'
    assert Answer(Question("pair", (0, 1)), np.bool_(True)).value is True
    row = Answer(Question("which", (0, 7, 9)), 7.0).value
    assert (row, type(row)) == (7, int)
    assert Answer(Question("label", (0,)), np.array("a")).value == "a"


@pytest.mark.parametrize(
    ("kind", "rows", "words"),
    [
        ("pairs", (0, 1), "not 'pairs'"),
        ("pair", (0,), "about 1 rows"),
        ("label", (0, 1), "about 2 rows"),
        ("which", (0,), "about 1 rows"),
        ("pair", (3, 3), "different row numbers"),
        ("pair", (-1, 3), "different row numbers"),
        ("pair", (1.7, 2), r"are row numbers, not \(1\.7, 2\)"),
        ("pair", "12", "are row numbers, not '12'"),
        ("pair", (True, 2), "are row numbers"),
        ("pair", (None, 2), "are row numbers"),
        ("label", 3, "are row numbers, not 3"),
    ],
)
def test_questions_that_make_no_sense(kind, rows, words):
    with pytest.raises(ValueError, match=words):
        Question(kind, rows)


@pytest.mark.parametrize(
    ("question", "value", "words"),
    [
        (Question("pair", (4, 7)), "yes", "about rows 4 and 7 is True, False or None, not 'yes'"),
        (Question("pair", (4, 7)), 1, "not 1"),
        (Question("label", (4,)), "", "label of row 4"),
        (Question("label", (4,)), True, "label of row 4"),
        (Question("label", (4,)), [1], "label of row 4"),
        (Question("label", (4,)), float("nan"), "label of row 4"),
        (Question("label", (4,)), np.float64("inf"), "label of row 4"),
        (Question("label", (4,)), np.array([1]), "an answer is one value, not an array"),
        (Question("which", (4, 7, 9)), np.array([7, 9]), "an answer is one value, not an array"),
        (Question("pair", (4, 7)), np.zeros((3, 3)), r"an answer is one value, not an array: [^\n]*$"),
        (Question("which", (4, 7, 9)), 8, r"one of \[7, 9\]"),
        (Question("which", (4, 7, 1)), True, r"one of \[7, 1\]"),
    ],
)
def test_answers_that_make_no_sense(question, value, words):
    with pytest.raises(ValueError, match=words):
        Answer(question, value)


def test_the_order_of_a_pair_and_of_choices_does_not_matter():
    assert Question("pair", (4, 7)).key == Question("pair", (7, 4)).key
    assert Question("which", (4, 7, 9)).key == Question("which", (4, 9, 7)).key
    assert Question("which", (4, 7)).key != Question("which", (7, 4)).key


def test_questions_in_words():
    assert str(Question("label", (3,))) == "Which class is row 3 of?"
    assert str(Question("which", (3, 5))) == "Row 3: does it belong to row 5?"


# --- oracles -----------------------------------------------------------------------------------------------------


def test_the_truth():
    oracle = SimulatedOracle([0, 1, 0, 2])
    questions = [
        Question("pair", (0, 2)),
        Question("pair", (0, 1)),
        Question("label", (3,)),
        Question("which", (0, 1, 2)),
        Question("which", (3, 0, 1)),
    ]
    assert [answer.value for answer in oracle(questions)] == [True, False, 2, 2, False]


def test_of_several_right_choices_the_first_is_the_answer():
    """Choices are of different classes as far as is known; where they are not, the no to the others is a mistake."""
    answer = SimulatedOracle([0, 1, 0, 0])([Question("which", (0, 1, 3, 2))])[0]
    assert answer.value == 3
    assert list(answer.links()) == [(0, 1, False), (0, 3, True), (0, 2, False)]


def test_a_liar_is_always_wrong():
    oracle = SimulatedOracle([0, 1, 0, 2], error_rate=1.0, random_state=0)
    for _ in range(20):
        pair, label, which, alone = oracle(
            [Question("pair", (0, 2)), Question("label", (3,)), Question("which", (0, 1, 2)), Question("which", (3, 0))]
        )
        assert pair.value is False
        assert label.value in (0, 1)
        assert which.value in (1, False)
        assert alone.value == 0


def test_error_and_unknown_rates_are_kept():
    oracle = SimulatedOracle([0, 0], error_rate=0.2, unknown_rate=0.3, random_state=0)
    values = [answer.value for answer in oracle([Question("pair", (0, 1))] * 4000)]
    # Three standard deviations of the counts.
    assert abs(values.count(None) / 4000 - 0.3) < 3 * (0.3 * 0.7 / 4000) ** 0.5
    assert abs(values.count(False) / 4000 - 0.7 * 0.2) < 3 * (0.14 * 0.86 / 4000) ** 0.5


def test_one_class_leaves_nothing_to_err_about():
    assert SimulatedOracle(["a", "a"], error_rate=1.0)([Question("label", (0,))])[0].value == "a"


def test_bad_oracles():
    with pytest.raises(ValueError, match=r"error_rate is 1\.5"):
        SimulatedOracle([0, 1], error_rate=1.5)
    with pytest.raises(ValueError, match="one class for each row"):
        SimulatedOracle([[0, 1]])


def test_a_function_answers_and_signs():
    answer = FunctionOracle(lambda question: None, who="ann")([Question("pair", (0, 1))])[0]
    assert (answer.value, answer.who) == (None, "ann")
    assert answer.when.startswith("20")
    assert answer.when.endswith("+00:00")
