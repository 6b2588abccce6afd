"""Bad input: one clear sentence that names the row, the clue or the parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cluewise import Clues
from cluewise.exceptions import ClueError

NAN, INF = float("nan"), float("inf")
SURE = "a confidence is above 0.5 and at most 1."
EACH = "needs one number or one per link (1);"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # links
        ({"must": [(0, 7)]}, "must-link 0 names row 7, but there are only 4 rows (0 to 3)."),
        ({"cannot": [(0, 1), (2, -1)]}, "cannot-link 1 names row -1, but there are only 4 rows (0 to 3)."),
        ({"cannot": [(3, 3)]}, "cannot-link 0 links row 3 to itself."),
        ({"must": [(0, 1, 2)]}, "must-links are pairs of row numbers, shape (m, 2); these have shape (1, 3)."),
        (
            {"must": [(0, 1, 2), (1, 2, 3)]},
            "must-links are pairs of row numbers, shape (m, 2); these have shape (2, 3); pass the transpose.",
        ),
        ({"must": [0, 1]}, "must-links are pairs of row numbers, shape (m, 2); these have shape (2,)."),
        ({"must": [(0, 1), (2,)]}, "must-links are pairs of row numbers; must-link 1 is not a pair."),
        ({"must": [(0, 1), 2]}, "must-links are pairs of row numbers; must-link 1 is not a pair."),
        ({"must": 3}, "must-links are pairs of row numbers; these are int."),
        ({"cannot": [("a", "b")]}, "cannot-links are pairs of row numbers; these hold <U1 values."),
        ({"cannot": [(0.5, 1)]}, "cannot-links are pairs of row numbers; these hold float64 values."),
        ({"cannot": [(NAN, 1)]}, "cannot-links are pairs of row numbers; these hold float64 values."),
        ({"cannot": [(INF, 1)]}, "cannot-links are pairs of row numbers; these hold float64 values."),
        ({"must": [(True, False)]}, "must-links are pairs of row numbers; these hold bool values."),
        # weights and confidences
        ({"must": [(0, 1), (1, 2)], "must_weight": [1, -2]}, "must-link 1 has weight -2.0; weights are 0 or more."),
        ({"cannot": [(0, 1)], "cannot_weight": NAN}, "cannot-link 0 has weight nan; weights are 0 or more."),
        ({"must": [(0, 1)], "must_weight": [1, 2]}, f"must_weight {EACH} it has shape (2,)."),
        ({"must": [(0, 1)], "must_weight": "x"}, f"must_weight {EACH} it is 'x'."),
        ({"cannot": [(0, 1)], "cannot_confidence": [0.5]}, f"cannot-link 0 has confidence 0.5; {SURE}"),
        ({"must": [(0, 1)], "must_confidence": 1.01}, f"must-link 0 has confidence 1.01; {SURE}"),
        ({"must": [(0, 1)], "must_confidence": [0.9, 0.9]}, f"must_confidence {EACH} it has shape (2,)."),
        ({"confidence": 0.4}, f"confidence is 0.4; {SURE}"),
        ({"confidence": NAN}, f"confidence is nan; {SURE}"),
        ({"confidence": [0.9]}, f"confidence is [0.9]; {SURE}"),
        # sources
        ({"must": [(0, 1)], "must_source": ["a", "b"]}, "2 sources were given for 1 must-links."),
        ({"labels": [0, 1, 2, 3], "label_source": ["a"]}, "label_source needs one entry per row (4); it has 1."),
        ({"source": 3}, "source is a text that says where the clues come from; it is 3."),
        # labels and groups
        ({"labels": [0, 1]}, "labels needs one value per row (4); it has shape (2,)."),
        ({"labels": "abcd"}, "labels needs one value per row (4); it has shape ()."),
        ({"labels": np.zeros((4, 2))}, "labels needs one value per row (4); it has shape (4, 2)."),
        ({"labels": [0.0, 1.0, INF, 0.0]}, "labels holds an infinite value in row 2."),
        ({"labels": [[0], [1], [2], [3]]}, "labels and group names must be hashable (text, numbers, tuples)."),
        ({"together": [0, 0, 1]}, "together needs one value per row (4); it has shape (3,)."),
        ({"apart": [[0, 0, 1, 1], [0, 0]]}, "apart needs one value per row (4); it has shape (2,)."),
        ({"apart": [0, 0, 1, 1], "apart_weight": [1, 2, 3]}, "apart_weight needs one number or one per group (2)."),
        ({"apart": [0, 0, 1, 1], "apart_weight": [1, -1]}, "apart_weight holds -1.0; weights are 0 or more."),
        ({"together": [0, 0, 1, 1], "together_weight": "x"}, "together_weight needs numbers; it is 'x'."),
        ({"partitions": [[0, 1, 0, 1], [0, 1]]}, "partition 1 needs one value per row (4); it has shape (2,)."),
        ({"avoid": [[0, 1, 0]]}, "avoid 0 needs one value per row (4); it has shape (3,)."),
        (
            {"together": np.zeros((2, 4))},
            "together needs one row for each of 4 rows; it has shape (2, 4): pass its transpose.",
        ),
        (
            {"partitions": np.zeros((3, 2))},
            "partition needs one row for each of 4 rows; it has shape (3, 2): "
            "pass a table of shape (n, T), or a list of columns.",
        ),
        (
            {"apart": [[0, 1], [0, 2], [1, 2], [1, 1]]},
            "apart lists a value per column for each row; pass a list of columns, or np.asarray(apart).",
        ),
        # sizes
        ({"sizes": (3, 1)}, "sizes needs 0 <= lower <= upper for every cluster."),
        ({"sizes": [(0, 1), (-1, 2)]}, "sizes needs 0 <= lower <= upper for every cluster."),
        ({"sizes": 5}, "sizes is (lower, upper) for all clusters, or one such pair per cluster."),
        ({"sizes": (1, 2, 3)}, "sizes is (lower, upper) for all clusters, or one such pair per cluster."),
        ({"sizes": [(1, 2), (3,)]}, "sizes is (lower, upper) for all clusters, or one such pair per cluster."),
        ({"sizes": ("a", "b")}, "sizes is (lower, upper) for all clusters, or one such pair per cluster."),
        ({"sizes": (1, 2), "size_unit": "kg"}, "size_unit is 'kg'; it must be 'points' or 'weight'."),
    ],
)  # fmt: skip
def test_bad_clues(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ClueError) as error:
        Clues(4, **arguments)
    assert str(error.value) == message


@pytest.mark.parametrize("n", [-1, 2.5, "3", None, True])
def test_bad_number_of_rows(n: Any) -> None:
    with pytest.raises(ClueError, match="n is the number of rows, a whole number; it is "):
        Clues(n)


def test_a_link_where_there_are_no_rows() -> None:
    with pytest.raises(ClueError, match="must-link 0 names row 0, but there are no rows"):
        Clues(0, must=[(0, 1)])


def test_links_that_cannot_even_be_listed() -> None:
    def links() -> Any:
        yield (0, 1)
        yield (1, 2, 3)

    with pytest.raises(ClueError, match="must-links are pairs of row numbers; these are generator"):
        Clues(4, must=links())


def test_one_label_for_nobody() -> None:
    with pytest.raises(ClueError, match="labels needs one value per row; it is 5"):
        Clues.from_labels(5)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), "a matrix of links is square; this one has shape (2, 3)."),
        ([1, 2], "a matrix of links is square; this one has shape (2,)."),
        ([[0, 1], [0, 0]], "a matrix of links is symmetric; entries (0, 1) and (1, 0) differ."),
        ([[0, 1], [-1, 0]], "a matrix of links is symmetric; entries (0, 1) and (1, 0) differ."),
        ([[0, NAN], [NAN, 0]], "entry (0, 1) of the matrix of links is nan."),
        ([[0, 0], [0, -1]], "cannot-link 0 links row 1 to itself."),
        ([["a", "b"], ["b", "a"]], "a matrix of links holds numbers: > 0 must-link, < 0 cannot-link."),
    ],
)
def test_bad_matrices(matrix: Any, message: str) -> None:
    with pytest.raises(ClueError) as error:
        Clues.from_matrix(matrix)
    assert str(error.value) == message
