"""Each kind of column: what it is recognized as, and what it becomes."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import cluewise as cw
from cluewise._extras import install
from cluewise.exceptions import ColumnWarning
from cluewise.rows.balance import standardize
from cluewise.tables import Table, TableError
from rows import messy

EXPECTED = {
    "numbers": "number", "decimal_commas": "number", "thousands": "number", "money": "number", "weights": "number",
    "huge": "number", "endless": "number", "mixed": "number", "halves": "category", "cities": "category",
    "sizes": "ordered", "ages": "ordered", "truth": "category", "codes": "left out", "streets": "category",
    "dates": "date", "german_dates": "date", "stamps": "date", "clocks": "date", "notes": "text", "long_notes": "text",
    "vectors": "vector", "ids": "left out", "counts": "left out", "constant": "left out", "nothing": "left out",
    "flags": "category", "formulas": "category",
}  # fmt: skip


_everything = parametrize_with_checks([cw.Rows()])
# The check with array API dispatch skips itself.
CHECKS = [case for case in _everything.args[1] if "array_api" not in str(getattr(case, "values", case))]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", messy.KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("gaps", [False, True])
def test_kinds_are_recognized_and_have_one_unit(kind, gaps):
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=60)
    cells = messy.gaps(rng, kind(rng, y)) if gaps else kind(rng, y)
    rows = cw.Rows()
    X = rows.fit_transform({"z": rng.normal(size=60), "c": cells})
    plan = rows.plan_[1]
    expected = EXPECTED[kind.__name__]
    if gaps and kind is messy.counts:
        expected = "number"  # not every row has one
    if gaps and kind is messy.constant:
        expected = "category"  # this value or none
    assert plan.kind == expected
    assert_allclose(X.var(axis=0).sum(), 1 + (expected != "left out"))
    assert X.shape[1] == 1 + plan.width == len(rows.get_feature_names_out())
    assert np.isfinite(X).all()


def test_numbers_are_standardized_as_before():
    X = np.random.default_rng(0).normal(size=(200, 5)) * [1, 10, 100, 1e-9, 1e9] + 7
    assert_allclose(cw.Rows().fit_transform(X), standardize(X), rtol=1e-12, atol=1e-12)
    assert (cw.Rows(balance=False).fit_transform(X) == X).all()


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,5", "2,25", "1.000,75"], [1.5, 2.25, 1000.75]),
        (["1,234", "5,678,901", "12"], [1234, 5678901, 12]),
        (["1.234.567", "2,5", "3"], [1234567, 2.5, 3]),
        (["$1,200.50", "$3", "$0.5"], [1200.5, 3, 0.5]),
        (["12 kg", "7.5 kg", "3"], [12, 7.5, 3]),
        (["10 %", "20%", "5 %"], [10, 20, 5]),
        (["1'000", "2 500", "3"], [1000, 2500, 3]),
        (["1e3", "-2E-1", ".5"], [1000, -0.2, 0.5]),
        (["00", "07", "12"], [0, 7, 12]),
    ],
)
def test_numbers_as_people_write_them(cells, values):
    rows = cw.Rows(balance=False)
    assert rows.fit_transform({"x": cells})[:, 0].tolist() == values
    assert rows.plan_[0].kind == "number"


@pytest.mark.parametrize("cells", [["192.168.1.1", "10.0.0.1"], ["75001", "01234"], ["1a", "2b"], ["1_000", "2"]])
def test_what_only_looks_like_numbers(cells):
    rows = cw.Rows().fit({"x": cells * 3})
    assert rows.plan_[0].kind == "category"


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["2024-01-31", "2024-02-01"], ["2024-01-31", "2024-02-01"]),
        (["31.1.2024", "1.2.2024"], ["2024-01-31", "2024-02-01"]),
        (["1/31/2024", "2/1/2024"], ["2024-01-31", "2024-02-01"]),
        (["3/4/2024", "5/6/2024"], ["2024-04-03", "2024-06-05"]),  # nothing says that months come first
        (["31-01-24", "01-02-99"], ["2024-01-31", "1999-02-01"]),
        (["Jan 31, 2024", "1 February 2024"], ["2024-01-31", "2024-02-01"]),
        (["2024-01-31T23:00:00Z", "2024-02-01 01:00+02:00"], ["2024-01-31", "2024-02-01"]),
        (["2024/01/31", "2024/2/1 3:15 pm"], ["2024-01-31", "2024-02-01"]),
    ],
)
def test_dates_as_people_write_them(cells, days):
    rows = cw.Rows()
    X = rows.fit_transform({"day": cells})
    assert rows.plan_[0].kind == "date"
    assert rows.inverse(X)["day"] == days


def test_heavy_tails():
    rng = np.random.default_rng(0)
    table = {"spend": rng.lognormal(0, 3, 500), "change": rng.standard_cauchy(500), "age": rng.normal(size=500)}
    rows = cw.Rows()
    X = rows.fit_transform(table)
    assert ["heavy" in plan.how for plan in rows.plan_] == [True, True, False]
    assert np.abs(X).max() < 12
    assert_allclose(rows.inverse(X)["spend"], table["spend"])
    order = np.argsort(table["change"])
    assert (np.diff(X[order, 1]) >= 0).all()


def test_missing_values_that_mean_something_get_a_column():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    income = np.where(x > 0.5, np.nan, rng.normal(size=300))
    by_chance = np.where(rng.random(300) < 0.3, np.nan, rng.normal(size=300))
    rows = cw.Rows().fit({"x": x, "income": income, "other": by_chance})
    assert rows.get_feature_names_out().tolist() == ["x", "income", "income missing", "other"]
    assert "related" in rows.plan_[1].notes[0]


def test_text_by_words_and_levels_by_spelling():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    rows = cw.Rows()
    X = rows.fit_transform(
        {
            "note": messy.notes(rng, y),
            "title": [f"{w} {i % 30}" for i, w in zip(range(90), ["engineer", "nurse", "pilot"] * 30)],
        }
    )
    assert [plan.kind for plan in rows.plan_] == ["text", "category"]
    for name in ("note", "title"):
        part = X[:, [f.startswith(name) for f in rows.get_feature_names_out()]]
        near = ((part[:, None] - part) ** 2).sum(axis=2)
        same = y[:, None] == y
        assert near[same].mean() < 0.5 * near[~same].mean()
    center = X[y == 1].mean(axis=0)
    assert set(rows.inverse(center)["note"][0].split()) & set(messy.TEXTS[1].replace(",", "").split())


def test_embeddings_take_the_place_of_words():
    seen = []

    def embed(texts):
        seen.append(texts)
        return [[len(text), text.count("a")] for text in texts]

    rows = cw.Rows(embed={"note": embed})
    X = rows.fit_transform({"note": ["aa", "b", "aa", None]})
    assert seen == [["aa", "b"]]  # each text once
    assert_allclose(X.var(axis=0).sum(), 1)
    assert rows.plan_[0].kind == "vector"
    again = cw.Rows.from_state(*rows.to_state(), embed={"note": embed})
    assert_allclose(again.transform({"note": ["b"]}), X[1:2])
    with pytest.raises(ValueError, match=r"embed of column 'note' returned an array of shape \(2,\) for 2 texts"):
        cw.Rows(embed={"note": lambda texts: [1, 2]}).fit({"note": ["a", "b"]})


def test_pictures(tmp_path):
    from PIL import Image

    for i in range(6):
        Image.new("RGB", (40, 30), (250, 10, 10) if i % 2 else (10, 10, 250 - i)).save(tmp_path / f"{i}.png")
    paths = [f"{i}.png" for i in range(6)]
    rows = cw.Rows(folder=str(tmp_path))
    X = rows.fit_transform({"photo": [*paths, "none.png"]})
    assert rows.plan_[0].kind == "image"
    assert "'none.png') counts as missing: not pictures that can be read" in rows.plan_[0].notes[0]
    assert np.ptp(X[:6][::2, 0]) < 0.1 < abs(X[0, 0] - X[1, 0])
    lost = cw.Rows(folder=str(tmp_path / "elsewhere")).fit({"photo": paths, "x": range(6)})
    assert lost.plan_[0].how.startswith("none of its pictures can be read in the folder")


def test_pictures_need_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    table = {"photo": ["a.png", "b.png"], "x": [1, 2]}
    assert cw.Rows().fit(table).plan_[0].how == f"pictures need Pillow: {install('image')}"
    with pytest.raises(ImportError, match=re.escape(install("image"))):
        cw.Rows(kinds={"photo": "image"}).fit(table)


def test_kinds_and_weights_are_the_users():
    table = {
        "zip": [75001, 75002, 75001, 9000],
        "size": ["L", "S", "M", "S"],
        "row": [1, 2, 3, 4],
        "year": [2020, 2021, 2022, 2023],
    }
    rows = cw.Rows(
        kinds={"zip": "category", "size": ["S", "M", "L"], "row": "ignore", "year": "date"},
        weights={"zip": 3, "size": 0.5},
    )
    X = rows.fit_transform(table)
    assert [plan.kind for plan in rows.plan_] == ["category", "ordered", "left out", "date"]
    names = rows.get_feature_names_out().tolist()
    assert names[:4] == ["zip=75001", "zip=75002", "zip=9000", "size"]
    assert_allclose([X[:, :3].var(axis=0).sum(), X[:, 3].var(), X[:, 4:].var(axis=0).sum()], [3, 0.5, 1])
    assert rows.inverse(X)["size"] == table["size"]
    assert rows.inverse(X)["zip"] == ["75001", "75002", "75001", "9000"]


def test_every_kind_of_table_gives_the_same():
    columns = {
        "age": [30.0, None, 50.0, 41.0],
        "city": ["Rome", "Oslo", None, "Rome"],
        "day": pd.to_datetime(["2024-01-01", "2024-03-01", None, "2024-02-03"]),
        "ok": [True, False, True, True],
    }
    frame = pd.DataFrame(columns)
    expected = cw.Rows().fit_transform(frame)
    listed = {key: list(values) for key, values in columns.items()}
    dates = {**columns, "day": ["2024-01-01", "2024-03-01", "", "2024-02-03"], "age": ["30", "NA", "50", "41"]}
    day = [None if pd.isna(value) else value.to_pydatetime() for value in columns["day"]]
    other = pl.DataFrame({**columns, "day": day})
    for table in (other, other.lazy(), listed, dates, Table(dates), frame.to_numpy()):
        assert_allclose(cw.Rows().fit_transform(table), expected)


def test_declared_orders_are_kept():
    levels = ["cold", "fine", "hot"]
    for column in (
        pd.Categorical(["hot", "cold", "fine"], levels, ordered=True),
        pl.Series(["hot", "cold", "fine"], dtype=pl.Enum(levels)),
    ):
        frame = (pd if isinstance(column, pd.Categorical) else pl).DataFrame({"t": column})
        rows = cw.Rows(balance=False)
        assert rows.fit_transform(frame)[:, 0].tolist() == [2, 0, 1]


def test_lists_of_numbers():
    frame = pl.DataFrame({"v": [[1.0, 2.0], [3.0, 4.0], None, [5.0]]})
    rows = cw.Rows(balance=False)
    assert rows.fit_transform(frame).tolist() == [[1, 2], [3, 4], [2, 3], [2, 3]]


def test_a_pipeline():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    frame = pl.DataFrame({"x": messy.numbers(rng, y), "size": messy.sizes(rng, y), "note": messy.notes(rng, y)})
    model = make_pipeline(cw.Rows(), cw.PCKMeans(3, random_state=0)).fit(frame)
    assert cw.metrics.ari(y, model.predict(frame)) > 0.9
    assert cw.Rows().set_output(transform="pandas").fit_transform(frame).shape[0] == 60


def test_next_month(recwarn):
    rows = cw.Rows().fit({"age": [20, 30, 40], "city": ["Rome", "Oslo", "Rome"], "plan": ["a", "b", "b"]})
    X = rows.transform({"city": ["Rome", "Bern"], "age": ["35", "old"], "new": [1, 2]})
    assert [str(w.message) for w in recwarn if w.category is ColumnWarning] == [
        "the table has no column 'plan', which the fit used; every row gets the average there.",
        "column 'new' of the table was not there in the fit and not used.",
        "1 cell of column 'age' of the table (row 1: 'old') counts as missing: not finite numbers.",
        "1 cell of column 'city' of the table (row 1: 'Bern') counts as missing: levels that were not there in fit.",
    ]
    assert_allclose(X[1], 0, atol=1e-12)  # the average
    with pytest.raises(TableError, match="has none of the columns 'age', 'city', 'plan' that were fitted"):
        rows.transform({"x": [1]})
    with pytest.raises(ValueError, match="X has 2 features, but Rows is expecting 3 features"):
        rows.transform([[1, 2]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": {"agge": "number"}}, "the table has no column 'agge', which kinds names; did you mean 'age'?"),
        ({"kinds": {"age": "integer"}}, "'integer' is not a kind of column ('age'); the kinds are number,"),
        (
            {"kinds": {"city": "number"}},
            "column 'city' of the table cannot be a column of kind number: it holds no number.",
        ),
        ({"kinds": {"city": "date"}}, "cannot be a column of kind date: it holds no date."),
        ({"weights": {"age": -1}}, "the weight of column 'age' is -1; it must be a number of at least 0."),
        ({"n_components": 0}, "n_components is 0; it must be at least 1."),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError) as caught:
        cw.Rows(**options).fit({"age": [20, 30, 40], "city": ["Rome", "Oslo", "Rome"]})
    assert message in str(caught.value)


def test_bad_states():
    state, arrays = cw.Rows().fit([[1.0], [2.0]]).to_state()
    for change in (
        {"columns": [{}]},
        {"parameters": {"evil": 1}},
        {"version": 99},
        {"columns": [{**state["columns"][0], "encoder": "Evil"}]},
        {"columns": [{**state["columns"][0], "values": {}}]},
    ):
        with pytest.raises(ValueError):
            cw.Rows.from_state(json.loads(json.dumps({**state, **change})), arrays)


def test_odd_types_of_frames():
    import datetime as dt

    hours = [dt.timedelta(hours=i) for i in range(4)]
    for table in (pl.DataFrame({"a": hours}), pd.DataFrame({"a": hours}), {"a": hours}):
        assert cw.Rows(balance=False).fit_transform(table)[:, 0].tolist() == [0, 3600, 7200, 10800]
    with pytest.raises(TableError, match="'a' 2 times"):
        cw.Rows().fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]))
    rows = cw.Rows().fit({"a": [f"今天天气很好{i}" for i in range(30)]})
    assert rows.plan_[0].kind == "text"


def test_distances_are_gowers():
    rng = np.random.default_rng(0)
    age, city = rng.normal(40, 10, 30), rng.choice(["Rome", "Oslo", "Bonn"], 30)
    rows = cw.Rows(weights={"city": 3.0})
    found = rows.distances(rows.fit_transform({"age": age, "city": city}))
    gower = (np.abs(age[:, None] - age) / np.ptp(age) + 3 * (city[:, None] != city)) / 4
    assert_allclose(found, gower, atol=1e-12)
    assert_allclose(cw.Rows().fit({"x": [1, 2, 3]}).distances([[5.0], [5.0]]), 0)
    with pytest.raises(ValueError, match=r"X has 3 columns; encoded rows have 4"):
        rows.distances(np.zeros((2, 3)))
