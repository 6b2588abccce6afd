"""Laws of the encoder: what must not matter does not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cluewise as cw
from rows import messy

TABLES = st.tuples(st.integers(0, 10**6), st.lists(st.sampled_from(messy.KINDS), min_size=1, max_size=4, unique=True))


def table(seed, kinds, n=40):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return {"z": rng.normal(size=n)} | {kind.__name__: messy.gaps(rng, kind(rng, y), 0.05) for kind in kinds}


@given(TABLES)
@settings(max_examples=15, deadline=None)
def test_permuted_rows_give_permuted_rows(drawn):
    columns = table(*drawn)
    order = np.random.default_rng(drawn[0]).permutation(40)
    first, second = cw.Rows(), cw.Rows()
    X = first.fit_transform(columns)
    permuted = second.fit_transform({name: [cells[i] for i in order] for name, cells in columns.items()})
    assert first.get_feature_names_out().tolist() == second.get_feature_names_out().tolist()
    # A direction of the SVD has no sign; distances do not depend on it.
    for A, B in ((X[order], permuted),):
        assert_allclose(_distances(A), _distances(B), rtol=1e-6, atol=1e-6)


@given(TABLES, st.sampled_from(["EUR", 1.5, None]))
@settings(max_examples=10, deadline=None)
def test_a_constant_column_changes_nothing(drawn, value):
    columns = table(*drawn)
    X = cw.Rows().fit_transform(columns)
    assert (cw.Rows().fit_transform({"constant": [value] * 40, **columns}) == X).all()


@pytest.mark.filterwarnings("ignore::cluewise.exceptions.ColumnWarning")
@given(TABLES)
@settings(max_examples=15, deadline=None)
def test_a_state_brings_the_encoder_back(drawn):
    columns = table(*drawn)
    rows = cw.Rows()
    X = rows.fit_transform(columns)
    state, arrays = rows.to_state()
    again = cw.Rows.from_state(json.loads(json.dumps(state, allow_nan=False)), arrays)
    assert_allclose(again.transform(columns), X, atol=1e-9)
    assert again.explain() == rows.explain()
    assert all(array.dtype.kind in "fi" for array in arrays.values())
    # One row at a time is the same as all at once.
    one = {name: cells[3:4] for name, cells in columns.items()}
    assert_allclose(again.transform(one), X[3:4], atol=1e-9)


@given(TABLES, st.floats(0.1, 10))
@settings(max_examples=10, deadline=None)
def test_every_column_has_its_weight(drawn, weight):
    columns = table(*drawn)
    rows = cw.Rows(weights={"z": weight})
    X = rows.fit_transform(columns)
    start = 0
    for plan in rows.plan_:
        found = X[:, start : start + plan.width].var(axis=0).sum()
        start += plan.width
        assert_allclose(found, weight if plan.name == "z" else plan.width > 0)


def _distances(X):
    return ((X[:, None] - X) ** 2).sum(axis=2)
