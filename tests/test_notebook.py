"""What notebooks and consoles show: small, escaped, and the same as what is printed."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from sklearn.utils import estimator_html_repr

import cluewise as cw
from cluewise import catalogue
from cluewise.active import Answer, Question, reliability

EVIL = "<script>alert('row & <b>')</script>"


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def make_reports() -> list[object]:
    X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]])
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    clues = cw.Clues(8, must=[(0, 1), (4, 5)], cannot=[(0, 4), (1, 5)])
    model = cw.Cluewise(2, random_state=0).fit(X, clues=clues)
    method = cw.PCKMeans(2, random_state=0)
    found = cw.describe(y, {EVIL: [1, 2, 3, 4, 50, 60, 70, 80], "word": [EVIL] * 4 + ["x"] * 4})
    answers = [Answer(Question("pair", (i, i + 4)), False, who=who) for i in range(4) for who in (EVIL, "ann")]
    return [
        model.choice_,
        cw.check(clues),
        cw.compare(method, X, clues, n_splits=2, random_state=0),
        cw.suspects(model),
        found,
        found[0],
        cw.stability(method, X, n_resamples=2, clues=clues, random_state=0),
        reliability(answers),
        cw.Clues(3, must=[(0, 1), (1, 2)], cannot=[(0, 2)], source=EVIL).contradictions[0],
    ]


def test_a_notebook_shows_what_print_shows_and_runs_nothing():
    reports = make_reports()
    for report in reports:
        html = report._repr_html_()
        assert text_of(html) == str(report)
        assert set(re.findall(r"<(\w+)", html)) == {"pre"}
    assert sum(EVIL in str(report) for report in reports) >= 3


def test_a_console_shows_one_line():
    for report in make_reports():
        assert "\n" not in repr(report)
        assert type(report).__name__ in repr(report)
        assert len(repr(report)) < 300


def test_clues_are_listed_by_kind():
    clues = cw.Clues(6, labels=["<i>", "<i>", "b", None, None, None], must=[(2, 3)], sizes=(1, 5))
    html = clues._repr_html_()
    assert text_of(html) == "Clues about 6 rows3 labels in 2 classes1 must-linksize bounds"
    assert set(re.findall(r"<(\w+)", html)) == {"div", "ul", "li"}
    assert "<li>no clues</li>" in cw.Clues(3)._repr_html_()


def test_a_question_is_shown_with_its_reason():
    assert text_of(Question("pair", (4, 7))._repr_html_()) == "Do rows 4 and 7 belong together?"
    html = Question("label", (4,), why=EVIL)._repr_html_()
    assert text_of(html) == f"Which class is row 4 of?\n{EVIL}"
    assert "<script" not in html


@pytest.mark.parametrize("name", sorted(catalogue.clusterers()))
def test_estimators_have_scikit_learns_diagram(name):
    assert name in text_of(estimator_html_repr(catalogue.clusterers()[name]()))


def test_pipelines_of_ours_have_scikit_learns_diagram():
    shown = text_of(estimator_html_repr(cw.RCA().then(cw.PCKMeans(2))))
    assert "RCA" in shown
    assert "PCKMeans" in shown
