"""A small project of a user: what type checkers say about it is checked by `make check`, and by `make dist`.

`make check` runs mypy on it beside the library, `make dist` runs mypy and pyright on it beside the installed wheel.
`test_types.py` runs it, so that the types are also those of the values.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import cluewise as cw
from cluewise.active import Answer, Question, RandomPairs, SimulatedOracle
from cluewise.advice import Comparison, Diagnosis
from cluewise.explain import Description
from cluewise.front import Choice

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]


def main() -> list[tuple[object, type]]:
    """Use what most users use; return values with the types that they ought to have."""
    X, y = cw.datasets.make_pattern("two_spirals", n_samples=60, random_state=0)
    clues = assert_type(cw.Clues.sample(y, pairs=20, random_state=0), cw.Clues)
    both = assert_type(clues[:30] | clues[:30], cw.Clues)
    must = assert_type(both.must, Ints)
    components = assert_type(clues.components, Ints)
    words = assert_type(clues.explain(k=2), str)

    first = assert_type(cw.Cluewise(2, random_state=0).fit(X, clues=clues), cw.Cluewise)
    labels = assert_type(first.labels_, Ints)
    doubt = assert_type(first.doubt_, Floats)
    choice = assert_type(first.choice_, Choice)
    broken = assert_type(first.broken_, cw.Clues)
    assert_type(first.fit_predict(X), Ints)
    assert_type(first.predict(X), Ints)

    model = assert_type(cw.PCKMeans(2, random_state=0).fit(X, clues=clues), cw.PCKMeans)
    centers = assert_type(model.cluster_centers_, Floats)
    trace = assert_type(model.trace_, Floats)
    n_iter = assert_type(model.n_iter_, int)
    columns = assert_type(model.n_features_in_, int)
    cost = assert_type(model.broken_cost_, float)
    card = assert_type(model.card, cw.Card)

    metric = assert_type(cw.RCA().fit(X, clues=clues.only(["must"])), cw.RCA)
    rows = assert_type(metric.transform(X), Floats)

    found = assert_type(cw.describe(labels, X), Description)
    compared = assert_type(cw.compare(model, X, clues, n_splits=2, random_state=0), Comparison)
    report = assert_type(cw.check(clues), Diagnosis)

    strategy = RandomPairs()
    state = strategy.start(X, budget=1, random_state=0)
    questions = assert_type(strategy.ask(state, X), list[Question])
    answers = assert_type(SimulatedOracle(y)(questions), list[Answer])
    told = assert_type(strategy.tell(state, answers).clues, cw.Clues)

    arrays = (must, components, labels, doubt, centers, trace, rows)
    return [
        *((array, np.ndarray) for array in arrays),
        (words, str),
        (choice, Choice),
        (broken, cw.Clues),
        (told, cw.Clues),
        (n_iter, int),
        (columns, int),
        (cost, float),
        (card, cw.Card),
        (found, Description),
        (compared, Comparison),
        (report, Diagnosis),
    ]
