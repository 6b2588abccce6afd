"""Pictures of doubtful clues: bars as long as the doubt, lines as red as the doubt."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from cluewise import Clues, PCKMeans, plots
from cluewise.plots import view
from cluewise.plots.style import BROKEN, GRAY

X = np.array([[0.0, 0.1], [1.0, 0.0], [4.0, 4.0], [5.0, 4.5], [4.5, 5.0]])
CLUES = Clues(5, must=[(0, 1), (1, 2)], cannot=[(0, 4), (2, 3)])


@pytest.fixture
def model():
    labels, doubt = np.array([0, 0, 1, 1, 1]), np.array([0.05, 0.9, 0.2, 0.6])
    return SimpleNamespace(labels_=labels, clues_=CLUES, doubt_=doubt)


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_bars_are_as_long_as_the_doubt_the_worst_on_top(model):
    ax = plots.suspects(model)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([90, 60, 20, 5])
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [BROKEN, BROKEN, GRAY, GRAY]
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "must-link 1 – 2 (given)",
        "cannot-link 2 – 3 (given)",
        "cannot-link 0 – 4 (given)",
        "must-link 0 – 1 (given)",
    ]
    assert ax.yaxis_inverted()
    assert ax.get_title(loc="left") == "About 1.8 of 4 clues are wrong"
    assert words(ax) == ["kept by the result", "broken by the result"]


def test_no_bar_is_said_to_be_certain(model):
    model.doubt_ = np.array([0.0, 1.0, 0.999, 0.5])
    assert [text.get_text() for text in plots.suspects(model).texts] == [
        "over 99 %",
        "over 99 %",
        "50.0 %",
        "under 1 %",
    ]
    assert words(plots.suspects(model, X))[2:] == [
        "must-link (under 1 % to over 99 % wrong)",
        "cannot-link (50.0 % to over 99 % wrong)",
    ]


def test_rows_may_have_names_and_the_picture_a_title_and_a_place(model):
    place = Figure().add_subplot()
    ax = plots.suspects(model, n=1, names=["ant", "bee", "cat", "dog", "eel"], ax=place, title="Who lied?")
    assert ax is place
    assert [text.get_text() for text in ax.get_yticklabels()] == ["must-link bee – cat (given)"]
    assert ax.get_title(loc="left") == "Who lied?"
    assert words(ax) == ["broken by the result"]
    with pytest.raises(ValueError, match="names has 2 names, but there are 5 rows"):
        plots.suspects(model, names=["a", "b"])


def test_lines_on_the_map_are_redder_the_more_doubtful(model):
    ax = plots.suspects(model, X, n=3)
    lines = [item for item in ax.collections if isinstance(item, LineCollection) and len(item.get_segments())]
    must, cannot = lines
    assert [s.tolist() for s in must.get_segments()] == [X[[1, 2]].tolist()]
    assert [s.tolist() for s in cannot.get_segments()] == [X[[2, 3]].tolist(), X[[0, 4]].tolist()]
    assert {to_hex(color) for item in lines for color in item.get_edgecolor()} == {BROKEN}
    assert cannot.get_edgecolor()[0, 3] > cannot.get_edgecolor()[1, 3]
    assert must.get_linestyle()[0][1] is None
    assert cannot.get_linestyle()[0][1] is not None
    assert words(ax)[2:] == ["must-link (90.0 % wrong)", "cannot-link (20.0 % to 60.0 % wrong)"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column 0", "column 1")
    ax.figure.canvas.draw()  # a different alpha for every line is only looked at here


def test_one_kind_alone_on_the_map(model):
    ax = plots.suspects(model, X, n=1, columns=[1, 0], ax=Figure().add_subplot())
    assert words(ax)[2:] == ["must-link (90.0 % wrong)"]
    assert ax.get_xlabel() == "column 1"


def test_suspects_are_drawn_when_rows_are_left_out(model, monkeypatch):
    monkeypatch.setattr(view, "DRAWN", 2)
    ax = plots.suspects(model, X, n=1)
    (lines,) = [item for item in ax.collections if isinstance(item, LineCollection) and len(item.get_segments())]
    assert lines.get_segments()[0].tolist() == X[[1, 2]].tolist()


def test_nothing_to_draw_is_said(model):
    with pytest.raises(ValueError, match="PCKMeans does not judge"):
        plots.suspects(PCKMeans(2).fit(X))
    model.clues_, model.doubt_ = Clues(5), np.empty(0)
    with pytest.raises(ValueError, match="there are no suspects to draw: SimpleNamespace had no links to judge"):
        plots.suspects(model)


def test_pictures_can_be_saved(model, tmp_path):
    for number, data in enumerate((None, X)):
        plots.suspects(model, data).figure.savefig(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").stat().st_size > 5000
