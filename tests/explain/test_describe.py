"""Descriptions tell what was planted, measure their rules on the rows, and do not depend on the order of anything."""

from __future__ import annotations

import json
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cluewise as cw
from cluewise import Clues, tables
from cluewise.explain import Condition, _members, _rule, _words
from cluewise.explain._description import choose_names
from cluewise.explain._difference import Difference, contrast, format_number
from cluewise.explain.columns import read_columns


def customers(n=300, seed=0):
    """Cluster 0 is young, 1 spends four times as much and complains, 2 is from Paris and joined late."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    words = np.array(["the", "order", "box", "came", "thanks", "please"])
    notes = [
        " ".join(words[rng.integers(0, 6, 5)]) + (" refund money" if c == 1 and rng.random() < 0.7 else "") for c in y
    ]
    table = {
        "customer": [f"c{i:04d}" for i in range(n)],
        "age": np.where(y == 0, rng.normal(24, 3, n), rng.normal(45, 6, n)).round(1).tolist(),
        "spend": (np.exp(rng.normal(3, 0.4, n)) * np.where(y == 1, 4, 1)).tolist(),
        "city": np.where(rng.random(n) < np.where(y == 2, 0.9, 0.2), "Paris", rng.choice(["Rome", "Oslo"], n)).tolist(),
        "joined": (np.datetime64("2020-01-01") + rng.integers(0, 300, n) + 600 * (y == 2)).astype(str).tolist(),
        "note": notes,
        "vip": (rng.random(n) < 0.5).tolist(),
        "fax": ["" if c == 0 or rng.random() < 0.1 else "yes" for c in y],
        "constant": [7] * n,
        "nothing": [None] * n,
    }
    for i in rng.choice(n, n // 10, replace=False):
        table["age"][i] = None
    return table, y


TABLE, Y = customers()
FOUND = cw.describe(Y, TABLE)


def told(profile):
    return {difference.column: difference for difference in profile.differences}


# --- what was planted -------------------------------------------------------------------------------------------


def test_planted_differences_come_first():
    young, rich, late = (told(FOUND[c]) for c in range(3))
    assert FOUND[0].differences[0].column in ("age", "fax")
    assert young["age"].effect < -0.9
    assert young["fax"].kind == "empty"
    assert young["fax"].inside == 1.0
    assert rich["spend"].inside / rich["spend"].outside == pytest.approx(4, rel=0.15)
    assert "× the rest" in str(rich["spend"])
    assert rich["note"].kind == "word"
    assert rich["note"].value in ("refund", "money")
    assert rich["note"].outside == 0
    assert set(FOUND[1].words["note"][:2]) == {"refund", "money"}
    assert (late["city"].kind, late["city"].value) == ("level", "Paris")
    assert late["joined"].kind == "date"
    assert late["joined"].inside > "2021-08"
    assert late["joined"].outside < "2021"
    assert not {"vip", "constant", "nothing", "customer"} & {c for p in FOUND for c in told(p)}
    assert FOUND.left_out == {
        "customer": "differs in every row", "constant": "is the same in all rows", "nothing": "is empty"
    }  # fmt: skip


def test_names_say_what_a_cluster_has():
    assert [profile.name for profile in FOUND][1].startswith("high spend")
    assert len({profile.name for profile in FOUND}) == 3


def test_numbers_are_those_of_the_rows():
    for profile in FOUND:
        inside = profile.cluster == Y
        assert (profile.size, profile.share) == (inside.sum(), inside.mean())
        for d in profile.differences:
            cells = pd.Series(TABLE[d.column], dtype=object)
            if d.kind == "median":
                cells = cells.astype(float)
                assert d.inside == cells[inside].median()
                assert d.outside == cells[~inside].median()
                a, b = cells[inside].dropna().to_numpy(), cells[~inside].dropna().to_numpy()
                assert d.effect == pytest.approx(np.sign(a[:, None] - b).mean())  # Cliff's delta by its definition
            elif d.kind == "level":
                hit = cells.eq(d.value)
                assert (d.inside, d.outside) == pytest.approx((hit[inside].mean(), hit[~inside].mean()))
                assert d.effect == pytest.approx(d.inside - d.outside)
            elif d.kind == "empty":
                hit = cells.eq("") | cells.isna()
                assert (d.inside, d.outside) == pytest.approx((hit[inside].mean(), hit[~inside].mean()))
            elif d.kind == "word":
                hit = cells.str.split().map(lambda words, value=d.value: value in words)
                assert (d.inside, d.outside) == pytest.approx((hit[inside].mean(), hit[~inside].mean()))
            else:
                days = cells.astype("datetime64[ns]")
                assert d.inside == days[inside].median().date().isoformat()
        effects = [abs(d.effect) for d in profile.differences]
        assert effects == sorted(effects, reverse=True)
        assert len(effects) <= 5
        assert effects[-1] >= 0.147


def fulfills(condition, cells):
    """Which cells fulfill a condition, cell by cell."""
    name, operator, value = condition
    found = []
    for cell in cells[name]:
        empty = cell is None or cell == "" or cell != cell
        if operator in ("is empty", "is not empty"):
            found.append(empty == (operator == "is empty"))
        elif operator in ("is", "is not"):
            cell = {True: "yes", False: "no"}.get(cell, cell)
            found.append((cell == value) == (operator == "is"))
        elif empty:
            found.append(False)
        else:
            if isinstance(value, str):
                cell, bound = datetime.fromisoformat(str(cell)), datetime.fromisoformat(value)
            else:
                bound = value
            found.append(cell < bound if operator == "<" else cell >= bound)
    return np.array(found)


def check_rule(profile, table, y):
    chosen = np.logical_and.reduce([fulfills(condition, table) for condition in profile.rule.conditions])
    inside = y == profile.cluster
    assert profile.rule.precision == (chosen & inside).sum() / chosen.sum()
    assert profile.rule.coverage == (chosen & inside).sum() / inside.sum()
    assert len(profile.rule.conditions) <= 3


def test_precision_and_coverage_are_those_of_the_rule():
    for profile in FOUND:
        check_rule(profile, TABLE, Y)
        assert profile.rule.precision > 0.8
        assert profile.rule.coverage > 0.8


@given(seed=st.integers(0, 10**6), rows=st.integers(4, 40))
def test_rules_are_measured_on_any_table(seed, rows):
    table, y = customers(rows, seed)
    for profile in cw.describe(y, table):
        if profile.rule is not None:
            check_rule(profile, table, y)


def test_rules_of_many_rows_are_grown_on_a_sample_and_measured_on_all(monkeypatch):
    monkeypatch.setattr(_rule, "ROWS", 100)
    monkeypatch.setattr("cluewise.explain._describe.ROWS", 100)
    found = cw.describe(Y, TABLE)
    assert "Rules were found on 100 rows for each cluster and measured on all 300." in str(found)
    for profile in found:
        check_rule(profile, TABLE, Y)
        assert profile.rule.precision > 0.7


def test_texts_and_distances_of_many_rows_are_sampled(monkeypatch):
    for module in (_words, _members):
        name = "TEXTS" if module is _words else "CELLS"
        monkeypatch.setattr(f"cluewise.explain._describe.{name}", 100)
        monkeypatch.setattr(module, name, 100)
    found = cw.describe(Y, TABLE)
    assert len(found.sampled) == 2
    assert found.sampled[1] == "Borderline rows come from a sample of at most 33 rows of each cluster."
    assert set(found[1].words["note"][:2]) == {"refund", "money"}
    assert all(len(profile.borderline) == 3 for profile in found)


def test_columns_of_large_tables_are_ranked_on_a_sample(monkeypatch):
    monkeypatch.setattr("cluewise.explain._describe.LARGE", 1400)
    found = cw.describe(Y, TABLE)
    assert found.sampled[0] == "Columns were ranked on 200 rows; what is told of them counts all 300."
    assert told(found[1])["spend"] == told(FOUND[1])["spend"]


def test_names_of_rows():
    found = cw.describe([0, 0, 1, 1], {"x": [1.0, 2.0, 7.0, 9.0]}, names=["ann", "ben", "cleo", "dan"])
    assert found[0].to_dict()["typical"] == ["ann", "ben"]
    with pytest.raises(ValueError, match="names has 1 entries, but the table has 2 rows"):
        cw.describe([0, 1], {"x": [1.0, 2.0]}, names=["ann"])


# --- rows -------------------------------------------------------------------------------------------------------


def test_typical_rows_are_medoids():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(6, 1, (30, 2))])
    y = np.repeat([0, 1], 30)
    Z = np.clip(X, *np.percentile(X, [1, 99], axis=0))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    for profile in cw.describe(y, X):
        rows = np.flatnonzero(y == profile.cluster)
        total = ((Z[rows][:, None] - Z[rows]) ** 2).sum(axis=(1, 2))  # to all rows of the cluster
        assert profile.typical == tuple(rows[np.argsort(total)[:3]])
        center = [Z[y == c].mean(axis=0) for c in range(2)]
        gap = ((Z - center[1 - profile.cluster]) ** 2).sum(axis=1) - ((Z - center[profile.cluster]) ** 2).sum(axis=1)
        assert profile.borderline == tuple(rows[np.argsort(gap[rows])[:3]])
        assert set(profile.neighbors) == {1 - profile.cluster}


def test_texts_alone_make_no_row_typical():
    table = {"note": [f"{word} order {i} came today" for word in ("refund", "thanks") for i in range(30)]}
    labels = np.repeat([0, 1], 30)
    for profile in cw.describe(labels, table):
        assert (profile.typical, profile.borderline) == ((), ())
        assert "typical" not in str(profile)


@pytest.mark.parametrize("form", ["€ {:,.2f}", "{:.2f} EUR", "{:,.0f}", "{:.1f}kg"])
def test_numbers_are_read_as_rows_reads_them(form):
    amounts = np.concatenate([np.linspace(10, 90, 20), np.linspace(1000, 9000, 20)])
    table = {"spend": [form.format(amount) for amount in amounts] + ["n/a"]}
    (column,) = read_columns(table, None).columns
    assert column.kind == "number"
    np.testing.assert_allclose(column.values[:-1], amounts, atol=0.51)
    assert np.isnan(column.values[-1])
    (plan,) = cw.Rows().fit(table).plan_
    assert plan.kind == "number"


def test_a_single_word_among_numbers_makes_a_category():
    (column,) = read_columns({"code": ["3kg", "4kg", "3kg", "unknown"]}, None).columns
    assert column.kind == "category"


def test_borderline_rows_follow_the_margin_of_the_model():
    wine = cw.datasets.load("wine", standardize=True)
    model = cw.PCKMeans(3, random_state=0).fit(wine.X)
    for profile in cw.describe(model, wine.X, n_rows=2):
        rows = np.flatnonzero(model.labels_ == profile.cluster)
        assert profile.borderline == tuple(rows[np.argsort(model.margin_[rows], kind="stable")[:2]])
        assert profile.cluster not in profile.neighbors


def test_rows_of_equal_margin_are_told_apart_by_distances():
    X = np.array([[0.0], [3.0], [1.0], [9.0], [7.0], [8.5]])
    model = cw.PCKMeans(2, random_state=0).fit(X)
    model.margin_ = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.5])
    found = cw.describe(model, X, n_rows=2)
    assert found[model.labels_[0]].borderline == (1, 2)
    assert found[model.labels_[3]].borderline == (5, 4)


# --- laws -------------------------------------------------------------------------------------------------------


def facts(description, names):
    """Everything about the clusters, with rows by name."""
    found = {}
    for p in description:
        entry = p.to_dict() | {"typical": [names[r] for r in p.typical]}
        entry["borderline"] = [(names[r], other) for r, other in zip(p.borderline, p.neighbors)]
        found[p.cluster] = entry
    return found


@given(seed=st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(seed):
    order = np.random.default_rng(seed).permutation(len(Y))
    table = {name: [cells[i] for i in order] for name, cells in TABLE.items()}
    assert facts(cw.describe(Y[order], table), order.tolist()) == facts(FOUND, range(len(Y)))


@given(names=st.permutations([0, 4, 9]))
def test_the_numbers_of_clusters_do_not_matter(names):
    other = cw.describe(np.array(names)[Y], TABLE)
    assert [p.cluster for p in other] == [0, 4, 9]
    for c, profile in enumerate(FOUND):
        before, after = profile.to_dict(), other[names[c]].to_dict()
        assert [names[entry.pop("neighbor")] for entry in before["borderline"]] == [
            entry.pop("neighbor") for entry in after["borderline"]
        ]
        assert before.pop("cluster") == c
        assert after.pop("cluster") == names[c]
        assert before == after


def test_all_kinds_of_tables_say_the_same():
    plain = str(FOUND)
    assert str(cw.describe(Y, pd.DataFrame(TABLE))) == plain
    assert str(cw.describe(Y, pl.DataFrame(TABLE))) == plain
    assert str(cw.describe(Y, tables.Table(TABLE))) == plain
    dates = pd.DataFrame(TABLE).assign(joined=pd.to_datetime(TABLE["joined"]))
    assert str(cw.describe(Y, dates)) == plain
    X = np.column_stack([np.array(TABLE[name], dtype=float) for name in ("age", "spend")])
    few = {name: TABLE[name] for name in ("age", "spend")}
    assert str(cw.describe(Y, X, columns=["age", "spend"])) == str(cw.describe(Y, few))
    assert str(cw.describe(Y, {**few, "z": [0] * 300}, columns=["age", "spend"])) == str(cw.describe(Y, few))


def test_it_is_data_for_json():
    data = json.loads(json.dumps(FOUND.to_dict(), allow_nan=False))
    assert [p["size"] for p in data["profiles"]] == np.bincount(Y).tolist()
    assert data["profiles"][0]["rule"]["text"] == str(FOUND[0].rule)
    assert data["profiles"][0]["typical"][0] == TABLE["customer"][FOUND[0].typical[0]]


# --- clues ------------------------------------------------------------------------------------------------------


def test_what_the_clues_changed():
    labels, without = np.array([0, 0, 1, 1, 1, 0]), np.array([1, 1, 1, 0, 0, 1])
    clues = Clues(6, must=[(2, 3), (0, 1)], cannot=[(1, 2), (3, 5)], labels=["a", -1, "b", "b", -1, -1])
    found = cw.describe(labels, {"x": [1, 2, 4, 8, 9, 0]}, clues=clues, without=without)
    changes = found.changes
    assert (changes.rows.tolist(), changes.before.tolist(), changes.after.tolist()) == ([2], [0], [1])
    assert changes.decided.must.tolist() == [[2, 3]]
    assert changes.decided.cannot.tolist() == [[1, 2]]
    assert np.flatnonzero(changes.decided.labels >= 0).tolist() == [2]
    assert "Because of the clues, 1 row changed cluster: 2 (0 → 1)." in str(found)
    assert "Clues that decided (kept, but broken without clues): 1 label in 1 class, 1 must-link" in str(found)
    data = found.to_dict()["changes"]
    assert data["decided"] == {"must": [[2, 3]], "cannot": [[1, 2]], "labels": [2]}
    same = cw.describe(labels, {"x": [1, 2, 4, 8, 9, 0]}, clues=clues, without=1 - labels)
    assert not len(same.changes.rows)
    assert "0 rows changed cluster." in str(same)


def test_the_clues_of_the_model_are_taken():
    X = [[0.0], [1.0], [4.0], [9.0], [10.0]]
    model = cw.Cluewise(2, hard=True, random_state=0).fit(X, clues=Clues(5, must=[(2, 3)]))
    found = cw.describe(model, X, without=[0, 0, 0, 1, 1])
    assert found.changes.decided.must.tolist() == [[2, 3]]


# --- odd input --------------------------------------------------------------------------------------------------


def test_noise_and_single_clusters():
    found = cw.describe([-1, 0, 0, 0], {"x": [9.0, 1.0, 2.0, 3.0]})
    assert (found.noise, len(found), found[0].size) == (1, 1, 3)
    assert found[0].borderline == ()
    assert "Noise: 1 row." in str(found)
    alone = cw.describe([0, 0, 0], {"x": [1.0, 2.0, 4.0]})[0]
    assert (alone.name, alone.differences, alone.rule) == ("no clear difference", (), None)
    assert "typical: 1" in str(alone)


def test_huge_and_infinite_numbers_and_marks_of_nothing():
    table = {"x": [1e308, -1e308, 1e308, np.inf, 0.0, 5.0], "y": ["1", "n/a", "3", "NA", "2", "-"]}
    found = cw.describe([0, 0, 0, 1, 1, 1], table)
    assert read_columns(table, None).columns[1].kind == "number"
    assert found[0].rule is not None
    assert read_columns(table, None).columns[0].missing.tolist() == [False, False, False, True, False, False]


def test_a_single_word_among_numbers_makes_a_category_and_many_levels_are_cut():
    rng = np.random.default_rng(0)
    zips = [f"0{code}" for code in rng.integers(1000, 9000, 9000)]
    columns = read_columns({"zip": zips, "plz": ["01067"] * 4500 + ["10115"] * 4500}, None)
    assert [column.kind for column in columns.columns] == ["category", "category"]
    assert len(columns.columns[0].levels) == 1001
    assert columns.columns[0].levels[-1] == "other"


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["2024-02-29", "2023-01-01", ""], "2024-02-29"),
        (["29.02.2024", "01.01.2023", ""], "2024-02-29"),
        (["2024/02/29", "2023/01/01", "?"], "2024-02-29"),
        (["2024-02-29T10:00:00+01:00", "2023-01-01 00:00", ""], "2024-02-29 09:00:00"),
    ],
)
def test_dates(cells, first):
    from cluewise.explain.columns import time_of

    column = read_columns({"day": cells}, None).columns[0]
    assert column.kind == "date"
    assert time_of(column.values[0]) == first
    assert np.isnan(column.values[2])


def test_dates_that_do_not_exist_are_words():
    assert read_columns({"day": ["2023-02-30", "2023-02-01", "2023-02-01"]}, None).columns[0].kind == "category"


def test_means_are_told_where_medians_agree():
    table = {"visits": [0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0, 1]}
    found = cw.describe([0] * 5 + [1] * 7, table)[0].differences[0]
    assert (found.kind, found.inside, found.outside) == ("mean", 2.2, 1 / 7)
    assert str(found) == "visits on average 15× the rest (2.2 against 0.143)"


def test_the_other_of_two_levels_is_named():
    table = {"vip": [True] * 9 + [False] * 30, "pet": ["cat"] * 9 + [""] * 30}
    found = cw.describe([0] * 9 + [1] * 30, table)
    assert str(found[0].rule.conditions[0]) in ("vip is yes", "pet is cat", "pet is not empty")
    plain = cw.describe([0] * 9 + [1] * 30, {"vip": table["vip"]})
    assert [str(profile.rule.conditions[0]) for profile in plain] == ["vip is yes", "vip is no"]


def test_names_grow_until_they_differ():
    same = [Difference("a", "median", None, 2.0, 1.0, 0.9), Difference("b", "median", None, 2.0, 1.0, 0.8)]
    more = Difference("city", "level", "Rome", 0.5, 0.1, 0.4)
    fewer = Difference("vip", "level", "yes", 0.1, 0.5, -0.4)
    assert choose_names([same, [*same, fewer, more], []]) == [
        "high a, high b",
        "high a, high b, Rome",
        "no clear difference",
    ]
    assert choose_names([same, same]) == ["high a, high b"] * 2


def test_a_level_called_other_is_a_level_like_others():
    found = cw.describe([0, 0, *[1] * 38], {"x": ["a", "a", *["other"] * 38]})
    assert found.left_out == {}
    assert found[0].name == "a"


def test_ids_texts_without_words_and_too_many_levels_say_nothing():
    rng = np.random.default_rng(0)
    table = {
        "ID": [f"k{i}" for i in range(9)],
        "note": [f"{chr(97 + i)} {chr(98 + i)} {chr(99 + i)}" for i in range(9)],
        "x": [1.0] * 5 + [9.0] * 4,
    }
    found = cw.describe([0] * 5 + [1] * 4, table)
    assert found.left_out == {"ID": "names the rows"}
    assert found[0].words == {"note": ()}
    assert found[0].row_name(3) == "k3"
    many = {"code": [f"k{rng.integers(10**9)}" for _ in range(20_000)] + ["same", "same"], "x": [1.0, 2.0] * 10_001}
    assert cw.describe([0, 1] * 10_001, many).left_out == {"code": "has too many levels"}


def test_negative_numbers_have_no_ratio():
    found = cw.describe([0, 0, 1, 1], {"celsius": [-3.0, -4.0, 12.0, 13.0]})
    assert str(found[0].differences[0]) == "celsius -3.5 against 12.5"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (4.1e-9, "4.1e-09"),
        (0.12345, "0.123"),
        (41.0, "41"),
        (41.25, "41.2"),
        (12345.6, "12346"),
        (-2.5, "-2.5"),
    ],
)
def test_numbers_are_short(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(9.8, "9.8"), (0.1 + 0.2, "0.30000000000000004"), (27.0, "27"), (1e-7, "1e-07"), (3e9, "3e+09"), (0.0, "0")],
)
def test_a_condition_writes_the_whole_number_and_no_digit_more(value, text):
    assert str(Condition("price", "≥", value)) == f"price ≥ {text}"


def test_a_contrast_with_an_empty_side_is_none():
    column = read_columns({"x": [1.0, None, 2.0, None]}, None).columns[0]
    found = contrast(column, np.array([0, 1, 0, 1]), 2)
    assert found.delta.tolist() == [0.0, 0.0]
    assert found.tell(1, np.array([0, 1, 0, 1])).kind == "empty"


cells = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.dates(), st.datetimes(), st.text(max_size=12),
    st.sampled_from(["n/a", "2024-02-30", "1e400", "three words here", "a b c d", "-"]),
)  # fmt: skip


@given(data=st.data(), rows=st.integers(1, 12))
def test_any_table_is_described_as_data(data, rows):
    kinds = [cells, st.floats(), st.datetimes() | st.none(), st.text(alphabet="ab c\n", max_size=9), st.booleans()]
    table = {
        f"c{j}": data.draw(st.lists(kind, min_size=rows, max_size=rows)) for j, kind in enumerate(kinds)
    }  # fmt: skip
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=rows, max_size=rows).filter(lambda y: max(y) >= 0))
    found = cw.describe(labels, table)
    assert sum(p.size for p in found) + found.noise == rows
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found)
    for profile in found:
        assert set(profile.typical) <= set(np.flatnonzero(np.array(labels) == profile.cluster).tolist())
        if profile.rule is not None:
            assert 0 < profile.rule.precision <= 1
            assert 0 < profile.rule.coverage <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], {"x": [1]}), "the table has 1 rows, but there are 2 labels."),
        (([-1, -1], {"x": [1, 2]}), "there are no clusters to describe"),
        (([0.5, 1], {"x": [1, 2]}), "labels must be integers"),
        ((cw.PCKMeans(2), {"x": [1, 2]}), "this PCKMeans has no clusters yet"),
        (([0, 1], [1, 2]), "the table has 1 dimensions"),
        (([0, 0, 1, 1], np.empty((4, 0))), "the table has no columns"),
        (([0, 1], {}), "the table has no columns"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        cw.describe(*arguments)


def test_bad_columns():
    with pytest.raises(ValueError, match="has no column 'z'"):
        cw.describe([0, 1], {"x": [1, 2]}, columns=["z"])
    with pytest.raises(ValueError, match="columns has 1 names, but the table has 2 columns"):
        cw.describe([0, 1], [[1, 2], [3, 4]], columns=["a"])
    with pytest.raises(ValueError, match="more than once"):
        cw.describe([0, 1], [[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(ValueError, match="more than once"):
        cw.describe([0, 1], {"a": [1, 2]}, columns=["a", "a"])
    for parameter in ("n_columns", "n_rows"):
        with pytest.raises(ValueError, match=f"{parameter}=-1 must be 0 or more"):
            cw.describe([0, 1], {"a": [1, 2]}, **{parameter: -1})
    with pytest.raises(ValueError, match="without has 1 entries, but there are 2 rows"):
        cw.describe([0, 1], {"x": [1, 2]}, without=[0])
    with pytest.raises(KeyError, match="there is no cluster 5"):
        FOUND[5]


def test_names_may_be_numbers_and_line_breaks_stay_out_of_the_text():
    assert "typical: 12" in str(cw.describe([0, 0, 1], {"x": [1, 2, 9]}, names=[12, 13, 14]))
    assert "typical: 12" in str(
        cw.describe([0, 0, 1], {"x": [1, 2, 9]}, names=pd.Series([12, 13, 14], index=[5, 6, 7]))
    )
    table = {"x\ny": [1, 2, 8, 9], "city": ["a\nb", "a\nb", "c", "c"], "same": [1, 1, 1, 1]}
    found = cw.describe([0, 0, 1, 1], table, names=["u\r\nv", "w", "y", "z"], without=[0, 1, 1, 1], clues=Clues(4))
    lines = str(found).splitlines()
    assert all(line.startswith(("Cluster ", "  ", "Because ", "Column ")) for line in lines)
    assert "u v" in str(found)
    assert found.to_dict()["profiles"][0]["typical"][0] in ("u\r\nv", "w")


def test_dates_on_one_day_are_told_with_the_time():
    day = {"x": [f"2020-01-01 {hour:02d}:00" for hour in (0, 0, 0, 15, 15, 15)]}
    first = cw.describe([0, 0, 0, 1, 1, 1], day)[0].differences[0]
    assert str(first) == "x 2020-01-01 00:00:00 against 2020-01-01 15:00:00"
    days = {"x": [f"2020-01-{day:02d}" for day in (5, 5, 5, 1, 2, 5, 5, 5)]}
    second = cw.describe([0, 0, 0, 1, 1, 1, 1, 1], days)[0].differences[0]
    assert str(second) == "x 2020-01-05 against 2020-01-03"  # means, as the medians agree


def test_none_is_a_word_and_what_is_missing_is_missing_in_the_encoding_too():
    table = {"allergy": ["none"] * 3 + ["nuts", "milk", None], "n": ["1", "2", "<NA>", "4", "#N/A", "null"]}
    allergy, n = read_columns(table, None).columns
    assert (allergy.levels, allergy.missing.tolist()) == (["milk", "none", "nuts"], [False] * 5 + [True])
    assert (n.kind, n.missing.tolist()) == ("number", [False, False, True, False, True, True])
    assert "allergy none 100 % against 0 %" in str(cw.describe([0, 0, 0, 1, 1, 1], table))
