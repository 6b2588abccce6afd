"""Pictures of descriptions show the numbers of the descriptions."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.metrics import confusion_matrix, silhouette_samples

import cluewise as cw
from cluewise import Clues, plots
from cluewise.plots import _silhouettes
from cluewise.plots.style import BROKEN, INK, get_style

TABLE = {
    "spend": [40.0, 44.0, 48.0, None, 10.0, 11.0, 12.0, 13.0],
    "city": ["Rome", "Rome", "Rome", "Rome", "Rome", "Oslo", "Oslo", ""],
    "day": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2020-01-01", "2020-01-02", "2020-01-03", ""],
    "note": [
        "my order is late",
        "the order is late",
        "an order came late",
        "late again my order",
        *["all is fine now"] * 4,
    ],
    "fax": ["1", "2", "3", "3", "", "", "", ""],
    "word": ["x"] * 8,
}
LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def titles(axes):
    return [ax.get_title(loc="left") for ax in axes]


def test_profiles_show_medians_quartiles_and_shares():
    axes = dict(zip(titles(found := plots.profiles(LABELS, TABLE)), found))
    assert {"spend", "day", "fax: empty"} <= set(axes)
    assert any(name.startswith("note: “") for name in axes)
    lines = axes["spend"].lines
    middle = {to_hex(line.get_color()): line.get_xdata()[0] for line in lines if line.get_marker() == "o"}
    assert middle == {get_style(0)[0].lower(): 44.0, get_style(1)[0].lower(): 12.0}
    assert [bar.get_width() for bar in axes["fax: empty"].patches] == [0.0, 100.0]
    assert [text.get_text() for text in axes["fax: empty"].texts] == ["0 %", "100 %"]
    assert len(axes["day"].lines) == 6
    level = plots.profiles(LABELS, {"city": TABLE["city"]})[0]
    assert titles([level]) == ["city: Rome"]
    assert [bar.get_width() for bar in level.patches] == [100.0, pytest.approx(100 / 3)]  # of the cells that are known
    axes["spend"].figure.canvas.draw()


def test_profiles_take_axes_and_heavy_tails_get_a_logarithm():
    figure = Figure()
    given = figure.subplots(1, 2)
    assert plots.profiles(LABELS, TABLE, ax=given) == list(given)
    assert len(plots.profiles(LABELS, TABLE, n=3)) == 3
    heavy = {"x": np.r_[np.ones(300), np.geomspace(1, 1e6, 100)]}
    assert plots.profiles(np.repeat([0, 1], [300, 100]), heavy)[0].get_xscale() == "log"
    with pytest.raises(ValueError, match="no column distinguishes a cluster"):
        plots.profiles([0, 1, 0, 1], {"x": [1, 1, 2, 2]})


def test_clusters_without_a_number_have_no_range():
    (ax,) = plots.profiles([0, 0, 1, 1, 2, 2], {"x": [1.0, 2.0, 8.0, 9.0, None, None]}, n=1)
    ax.figure.canvas.draw()


def test_silhouettes_are_those_of_scikit_learn():
    X = np.array([[0.0], [1.0], [2.0], [6.0], [9.0], [10.0], [50.0]])
    labels = np.array([0, 0, 0, 0, 1, 1, -1])
    clues = Clues(7, must=[(0, 1), (3, 4)])
    ax = plots.silhouettes(X, labels, clues=clues, title="Seven")
    width = silhouette_samples(X[:6], labels[:6])
    assert [bar.get_width() for bar in ax.patches] == [
        *sorted(width[:4], reverse=True),
        *sorted(width[4:], reverse=True),
    ]
    dots = {to_hex(item.get_facecolor()[0]): [] for item in ax.collections if len(item.get_offsets())}
    for item in ax.collections:
        for x, _ in np.asarray(item.get_offsets()).tolist():
            dots[to_hex(item.get_facecolor()[0])].append(x)
    assert sorted(dots[INK]) == sorted(width[:2])
    assert sorted(dots[BROKEN]) == sorted(width[3:5])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["tied by a clue", "clue broken"]
    assert titles([ax]) == ["Seven"]
    assert plots.silhouettes(X, labels).get_legend() is None


def test_silhouettes_of_many_rows_are_a_sample(monkeypatch):
    monkeypatch.setattr(_silhouettes, "DRAWN", 20)
    X = np.random.default_rng(0).normal(size=(90, 2))
    ax = plots.silhouettes(X, (X[:, 0] > 0).astype(int))
    assert len(ax.patches) == 20
    assert "(20 of 90 rows drawn)" in ax.get_title(loc="left")


def test_silhouettes_need_two_clusters():
    with pytest.raises(ValueError, match="no silhouettes of 1 clusters in 2 rows"):
        plots.silhouettes([[0.0], [1.0]], [0, 0])
    with pytest.raises(ValueError, match="X has 2 rows, but there are 3 labels"):
        plots.silhouettes([[0.0], [1.0]], [0, 0, 1])


def test_confusion_counts_and_orders():
    truth, labels = np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.array([2, 2, 1, 1, 1, 0, 0, -1])
    ax = plots.confusion(np.array(["a", "b", "c"])[truth], labels)
    order = [text.get_text() for text in ax.get_xticklabels()]
    assert order == ["2", "1", "0", "noise"]
    table = confusion_matrix(truth, np.array([2, 1, 0, 3])[labels])[:3]
    shown = {(int(t.get_position()[1]), int(t.get_position()[0])): int(t.get_text()) for t in ax.texts}
    assert shown == {place: count for place, count in np.ndenumerate(table) if count}
    assert titles([ax]) == ["75 % of 8 rows match"]
    partial = plots.confusion(Clues(4, labels=["x", -1, "y", -1]), [0, 0, 1, 1])
    assert titles([partial]) == ["100 % of 2 rows match"]
    with pytest.raises(ValueError, match="truth has 2 rows, but there are 1 labels"):
        plots.confusion([0, 1], [0])
    with pytest.raises(ValueError, match="no known classes"):
        plots.confusion(Clues(2), [0, 1])


def test_stability_shows_every_resample():
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = cw.stability(cw.PCKMeans(2, random_state=0).fit(X), X, n_resamples=7, random_state=0)
    ax = plots.stability(found)
    assert [len(item.get_offsets()) for item in ax.collections] == [7, 7]
    assert titles([ax]) == ["7 resamples"]
    words = [text.get_text() for text in ax.texts]
    assert words == [*(f"{back} of 7" for back in found.recovered), "back in"]
