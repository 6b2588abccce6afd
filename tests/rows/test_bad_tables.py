"""What can be wrong with a table: one sentence, and a fit all the same where a person could go on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cluewise import tables
from cluewise._extras import install
from cluewise.cli import main
from cluewise.tables import _limits
from rows.messy import write_book

FIT = ("-k", "2", "--method", "PCKMeans", "--report", "report.json")


@pytest.fixture
def fit(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(text, *words, name="data.csv", code=0):
        if text is not None:
            Path(name).write_text(text, "utf-8")
        with pytest.raises(SystemExit) as end:
            main(["fit", name, *FIT, *words])
        out, err = capsys.readouterr()
        assert (end.value.code or 0) == code, err
        assert "Traceback" not in err
        plan = json.loads(Path("report.json").read_text("utf-8"))["column_plan"] if not code else []
        return {column["name"]: column for column in plan}, out, err

    return call


def lines(header, rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def test_empty_cells_and_words_do_not_stop_a_fit(fit):
    plan, out, err = fit("age,city\n31,Rome\n,Oslo\n45,Rome\n38,Oslo\n")
    assert (plan["age"]["kind"], plan["city"]["kind"], err) == ("number", "category", "")
    assert plan["age"]["notes"] == ["1 missing (25 %): filled with the median."]
    assert "Columns: number: age; category: city (--explain-columns says more)." in out


def test_a_column_of_nothing(fit):
    plan, out, _ = fit("x,gone\n1,\n2,\n8,\n9,\n")
    assert (plan["gone"]["kind"], plan["gone"]["how"]) == ("left out", "it is empty")
    assert "left out: gone" in out


def test_only_text_without_a_usable_column(fit):
    plan, _, _ = fit("who,also\nann,x1\nbob,x2\ncyd,x3\n")  # better ids than nothing
    assert [column["kind"] for column in plan.values()] == ["category", "category"]
    _, _, err = fit("a,b\nx,\nx,\n", code=2)
    assert "data.csv has no column left to cluster by ('a': it is constant; 'b': it is empty)" in err
    assert err.count("\n") == 1


def test_a_hundred_thousand_levels():
    import cluewise as cw

    rng = np.random.default_rng(0)
    cells = [f"{w} {i}" for i, w in zip(range(100_000), rng.choice(["north", "south"], 100_000))] * 2
    rows = cw.Rows(n_components=5)
    X = rows.fit_transform({"area": cells, "x": range(200_000)})
    assert rows.plan_[0].kind == "category"
    assert X.shape == (200_000, 5)  # the other column counts the rows


def test_mixed_types_in_a_column(fit):
    plan, _, _ = fit(lines("x", [(i,) for i in range(30)]).replace("\n7\n", "\nseven\n"))
    assert plan["x"]["kind"] == "number"
    assert plan["x"]["notes"][0] == "1 cell (line 9: 'seven') counts as missing: not finite numbers."


def test_a_column_name_that_appears_twice(fit):
    plan, _, err = fit("x,x\n1,5\n2,6\n8,1\n9,2\n")
    assert err == ("cluewise: warning: data.csv line 1: column name 'x' appears twice; the second is called 'x_2'.\n")
    assert list(plan) == ["x", "x_2"]


def test_dates_that_do_not_exist(fit):
    plan, _, _ = fit(lines("day", [(f"2024-02-{d:02}",) for d in range(15, 31)]))
    assert plan["day"]["kind"] == "date"
    assert plan["day"]["notes"][0] == ("1 cell (line 17: '2024-02-30') counts as missing: not dates that exist.")


@pytest.mark.parametrize("count", [4, 60])
def test_the_largest_numbers(fit, count):
    plan, _, err = fit(
        lines("x,y", [("1e308" if i == 1 else "-1e308" if i == 2 else i % 7, i % 2) for i in range(count)])
    )
    assert plan["x"]["kind"] == "number"
    assert err == ""


def test_a_file_that_is_too_large(fit, monkeypatch):
    monkeypatch.setenv(_limits.VARIABLE, "5")
    _, _, err = fit("x\n1\n2\n8\n9\n", code=2)
    assert "takes more than" in err
    assert err.count("\n") == 1


def test_an_excel_file_with_several_sheets(fit, tmp_path):
    import datetime

    first = [
        ["city", "day", "x", None],
        ["Rome", datetime.datetime(2024, 1, 2), 1, None],
        ["Oslo", None, 2.5, None],
        ["Rome", datetime.datetime(2024, 3, 2), 9, None],
    ]
    write_book(tmp_path / "data.xlsx", {"Empty": [], "Q1": first, "Q2": [["a"], [1], [2]]})
    plan, _, err = fit(None, name="data.xlsx")
    assert err == "cluewise: warning: data.xlsx has 2 sheets; 'Q1' is used (--sheet chooses 'Q2').\n"
    assert {name: column["kind"] for name, column in plan.items()} == {"city": "category", "day": "date", "x": "number"}
    plan, _, err = fit(None, "--sheet", "Q2", name="data.xlsx")
    assert (list(plan), err) == (["a"], "")
    _, _, err = fit(None, "--sheet", "Q3", name="data.xlsx", code=2)
    assert err == "cluewise: data.xlsx has no sheet 'Q3'; it has 'Empty', 'Q1', 'Q2'.\n"
    _, _, err = fit("x\n1\n2\n", "--sheet", "Q1", code=2)
    assert err == "cluewise: data.csv has no sheets; leave 'Q1' out.\n"


def test_damaged_files_are_named(fit, tmp_path, monkeypatch):
    for name in ("a.xlsx", "a.csv.gz", "a.zip"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 not at all")
        _, _, err = fit(None, name=name, code=2)
        assert "is it cut off or damaged?" in err
        assert err.count("\n") == 1
    import zipfile

    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("readme.md", "no table")
    assert fit(None, name="b.zip", code=2)[2] == "cluewise: b.zip holds no table.\n"
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("a.csv", "x\n1\n2\n9\n")
        archive.writestr("b.csv", "y\n1\n2\n9\n")
    assert "c.zip holds 2 tables; 'a.csv' is used." in fit(None, name="c.zip")[2]
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    assert f"needs openpyxl: {install('io')}" in fit(None, name="a.xlsx", code=2)[2]


def test_a_small_file_that_unpacks_to_a_large_one(tmp_path, monkeypatch):
    import gzip

    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"x\n" + b"1\n" * 100_000))
    monkeypatch.setenv(_limits.VARIABLE, "10000")
    with pytest.raises(tables.TableError, match=r"bomb\.csv\.gz unpacked takes more than"):
        tables.read(tmp_path / "bomb.csv.gz")


def test_columns_as_the_user_says(fit):
    text = lines("zip,size,n,x", [(f"7500{i % 4}", "SML"[i % 3], i, i % 5) for i in range(30)])
    plan, out, _ = fit(text, "--as", "zip:category,size:S<M<L", "--explain-columns")
    assert [plan[name]["kind"] for name in plan] == ["category", "ordered", "left out", "number"]
    assert "ordered category (S < M < L)" in out
    plan, _, _ = fit(text, "--columns", "n,x")  # a column that is named is used
    assert [column["kind"] for column in plan.values()] == ["number", "number"]
    assert fit(text, "--as", "zap:category", code=2)[2] == (
        "cluewise: --as: 'zap' is not one of the columns of data.csv to cluster by.\n"
    )
    assert "--as 'zip' names no kind; write it as age:number." in fit(text, "--as", "zip", code=2)[2]
    assert "'zipcode' is not a kind of column ('zip')" in fit(text, "--as", "zip:zipcode", code=2)[2]


def test_how_a_file_is_written_is_said(fit):
    plan, out, _ = fit("\ufeffx;y\n1,5;2\n2,5;3\n9,25;8\n", "--explain-columns")
    assert plan["x"]["how"] == "number (decimal comma)"
    assert "Fields are separated by semicolons." in out


def test_raw_numbers_stay_as_they_are(fit):
    _, out, _ = fit("x,city\n1,Rome\n2,Oslo\n900,Rome\n", "--raw")
    assert "as they are" in out


def test_next_month_is_predicted_by_the_same_plan(fit, capsys):
    fit("age,city\n31,Rome\n,Oslo\n45,Rome\n38,Oslo\n90,Oslo\n", "--save", "model.cw")
    Path("next.csv").write_text("city,age,new\nBern,40,1\nRome,old,2\n", "utf-8")
    with pytest.raises(SystemExit) as end:
        main(["predict", "model.cw", "next.csv", "--quiet"])
    assert not end.value.code
    assert capsys.readouterr().err.splitlines() == [
        "cluewise: warning: next.csv has columns that the fit has not seen, which are not used: 'new'.",
        "cluewise: warning: 1 cell of column 'age' of next.csv (line 3: 'old') counts as missing: not finite numbers.",
        "cluewise: warning: 1 cell of column 'city' of next.csv (line 2: 'Bern') counts as missing: "
        "levels that were not there in fit.",
    ]
    Path("other.csv").write_text("x\n1\n", "utf-8")
    with pytest.raises(SystemExit) as end:
        main(["predict", "model.cw", "other.csv"])
    assert end.value.code == 2
    assert "has none of the columns that the model was fitted to" in capsys.readouterr().err
