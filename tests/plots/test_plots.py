"""Pictures show what there is: where the points are, which clues are broken, how much is left out."""

from __future__ import annotations

import builtins
import re
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

from cluewise import Clues, PCKMeans, plots
from cluewise._extras import install
from cluewise.exceptions import ClueError
from cluewise.plots import view
from cluewise.plots._compare import match_colors
from cluewise.plots._map import LIMIT, select_lines
from cluewise.plots.style import BROKEN, INK, get_style, point_size

X = np.array([[0.0, 0.1], [1.0, 0.0], [4.0, 4.0], [5.0, 4.5], [4.5, 5.0]])
LABELS = np.array([0, 0, 1, 1, 1])


def points(ax):
    """Coordinates by color of everything scattered, rims and crosses left out."""
    found = {}
    for item in ax.collections:
        if isinstance(item, PathCollection) and item.get_zorder() == 2:
            found[to_hex(item.get_facecolor()[0])] = np.asarray(item.get_offsets())
    return found


def segments(ax):
    """Lines by (color, dashed)."""
    found = {}
    for item in ax.collections:
        if isinstance(item, LineCollection) and len(item.get_segments()):
            dashed = item.get_linestyle()[0][1] is not None
            found[to_hex(item.get_edgecolor()[0]), dashed] = [s.tolist() for s in item.get_segments()]
    return found


def rims(ax):
    return {
        to_hex(item.get_edgecolor()[0]): np.asarray(item.get_offsets()).tolist()
        for item in ax.collections
        if isinstance(item, PathCollection) and item.get_zorder() == 5
    }


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_two_columns_are_the_axes_and_colors_the_clusters():
    ax = plots.map(X, LABELS, title="Five")
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("column 0", "column 1", "Five")
    drawn = points(ax)
    assert drawn[get_style(0)[0].lower()].tolist() == X[:2].tolist()
    assert drawn[get_style(1)[0].lower()].tolist() == X[2:].tolist()
    assert words(ax) == ["cluster 0 (2 rows)", "cluster 1 (3 rows)"]
    assert segments(ax) == {}


def test_links_are_solid_or_dashed_and_red_when_broken():
    clues = Clues(5, must=[(0, 1), (1, 2)], cannot=[(0, 4), (2, 3)])
    ax = plots.map(X, LABELS, clues=clues)
    at = X.tolist()
    assert segments(ax) == {
        (INK, False): [[at[0], at[1]]],
        (BROKEN, False): [[at[1], at[2]]],
        (INK, True): [[at[0], at[4]]],
        (BROKEN, True): [[at[2], at[3]]],
    }
    assert words(ax)[2:] == ["must-link (2)", "cannot-link (2)", "broken (2)"]


def test_known_labels_have_a_rim_and_strays_a_red_one():
    clues = Clues(5, labels=["a", -1, "b", "b", "a"])
    ax = plots.map(X, LABELS, clues=clues)
    assert rims(ax)[BROKEN] == [X[4].tolist()]
    assert X[2].tolist() in rims(ax)[INK]
    assert words(ax)[2:] == ["label known", "label broken (1)"]


def test_rows_in_the_wrong_cluster_get_a_cross():
    ax = plots.map(X, LABELS, truth=[7, 7, 8, 8, 7])
    (crosses,) = [item for item in ax.collections if item.get_zorder() == 6]
    assert np.asarray(crosses.get_offsets()).tolist() == [X[4].tolist()]
    assert words(ax)[-1] == "wrong cluster (1)"


def test_noise_is_gray_and_keeps_no_must_link():
    labels = np.array([-1, -1, 0, 0, 0])
    ax = plots.map(X, labels, clues=Clues(5, must=[(0, 1)], cannot=[(0, 1)]))
    assert words(ax)[0] == "noise (2 rows)"
    assert segments(ax) == {
        (BROKEN, False): [[X[0].tolist(), X[1].tolist()]],
        (INK, True): [[X[0].tolist(), X[1].tolist()]],
    }


def test_groups_are_drawn_as_chains():
    clues = Clues(5, together=[0, 0, 1, 1, 1], apart=[0, -1, 0, 0, -1])
    must, cannot = select_lines(clues, LABELS)
    assert must.pairs.tolist() == [[0, 1], [2, 3], [3, 4]]
    assert cannot.pairs.tolist() == [[0, 2], [2, 3]]
    assert cannot.broken.tolist() == [False, True]


def test_many_links_are_cut_down_but_never_the_broken_ones():
    n = 1000
    labels = np.zeros(n, dtype=int)
    labels[:10] = 1
    clues = Clues(n, must=[(i, i + 1) for i in range(n - 1)])
    must, _ = select_lines(clues, labels)
    assert (len(must.pairs), must.total, must.failed) == (LIMIT, n - 1, 1)
    assert must.broken.sum() == 1
    assert must.words == f"{LIMIT} of {n - 1} drawn"
    data = np.random.default_rng(0).normal(size=(n, 2))
    assert f"must-link ({LIMIT} of {n - 1} drawn)" in words(plots.map(data, labels, clues=clues))


def test_links_puts_the_clues_in_front():
    clues = Clues(5, must=[(0, 1)])
    ax = plots.links(X, LABELS, clues, title="Clues")
    faint = [item.get_alpha() for item in ax.collections if item.get_zorder() == 2]
    (line,) = [item for item in ax.collections if isinstance(item, LineCollection) and len(item.get_segments())]
    assert max(faint) < 0.5 < line.get_alpha()
    assert line.get_zorder() > 2
    assert ax.get_title(loc="left") == "Clues"


@pytest.mark.parametrize("shape", [(40, 3), (40, 7), (5, 30)], ids=str)
def test_more_columns_are_seen_along_principal_components(shape):
    data = np.random.default_rng(1).normal(size=shape) * np.arange(1, shape[1] + 1)
    xy, shares = view.project(data)
    oracle = PCA(2).fit(data)
    expected = oracle.transform(data)
    signs = np.sign((xy * expected).sum(axis=0))
    np.testing.assert_allclose(xy, expected * signs, atol=1e-9)
    np.testing.assert_allclose(shares, oracle.explained_variance_ratio_, atol=1e-12)
    np.testing.assert_allclose(view.project(csr_array(data))[0], xy, atol=1e-9)


def test_large_data_takes_the_iterative_way(monkeypatch):
    data = np.random.default_rng(1).normal(size=(60, 20)) * np.r_[9, 6, np.ones(18)]
    exact, shares = view.project(data)
    monkeypatch.setattr(view, "_SMALL", 5)
    for form in (data, csr_array(data)):
        xy, again = view.project(form)
        np.testing.assert_allclose(xy, exact, atol=1e-5)
        np.testing.assert_allclose(again, shares, atol=1e-7)


def test_the_sign_of_components_is_fixed():
    data = np.random.default_rng(1).normal(size=(30, 4))
    np.testing.assert_allclose(view.project(data)[0], -view.project(-data)[0], atol=1e-9)


def test_axes_name_the_share_of_the_variance():
    data = np.column_stack([np.arange(10.0), np.zeros(10), np.zeros(10)])
    ax = plots.map(data, np.zeros(10, dtype=int))
    assert ax.get_xlabel() == "first principal component (100 % of the variance)"
    assert ax.get_ylabel() == "second principal component (0 % of the variance)"


@pytest.mark.parametrize("data", [np.ones((4, 3)), np.ones((1, 4)), np.ones((2, 5))], ids=str)
def test_rows_that_are_all_the_same_can_be_drawn(data):
    plots.map(data, np.zeros(len(data), dtype=int)).figure.canvas.draw()


def test_columns_can_be_chosen_by_number_or_name():
    data = np.arange(12.0).reshape(4, 3)
    ax = plots.map(data, [0, 0, 1, 1], columns=(2, 0))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column 2", "column 0")
    assert points(ax)[get_style(0)[0].lower()].tolist() == data[:2, [2, 0]].tolist()
    frame = pd.DataFrame(data, columns=["a", "b", "c"])
    ax = plots.map(frame, [0, 0, 1, 1], columns=("c", "b"))
    assert ax.get_xlabel() == "c"
    assert points(ax)[get_style(1)[0].lower()].tolist() == data[2:, [2, 1]].tolist()


def test_one_column_is_spread_out():
    ax = plots.map([[1.0], [2.0], [3.0]], [0, 0, 1])
    drawn = np.concatenate(list(points(ax).values()))
    assert sorted(drawn[:, 0]) == [1, 2, 3]
    assert len(set(drawn[:, 1])) == 3


def test_sparse_columns(monkeypatch):
    ax = plots.map(csr_array(X), LABELS)
    assert points(ax)[get_style(0)[0].lower()].tolist() == X[:2].tolist()


def test_of_too_many_rows_some_are_drawn_and_the_title_says_so(monkeypatch):
    monkeypatch.setattr(view, "DRAWN", 50)
    n = 3000
    data = np.random.default_rng(0).normal(size=(n, 2))
    clues = Clues(n, must=[(5, 2999)])
    ax = plots.map(data, np.zeros(n, dtype=int), clues=clues, title="Many")
    drawn = points(ax)[get_style(0)[0].lower()]
    assert 50 <= len(drawn) <= 52
    assert ax.get_title(loc="left") == f"Many ({len(drawn)} of 3,000 rows drawn)"
    assert segments(ax)[INK, False] == [[data[5].tolist(), data[2999].tolist()]]
    assert plots.map(data, np.zeros(n, dtype=int)).get_title(loc="left") == "50 of 3,000 rows drawn"


def test_many_clusters_have_looks_of_their_own_and_no_long_legend():
    assert len({get_style(c) for c in range(60)}) == 60
    ax = plots.map(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40))
    assert words(ax) == []


def test_points_shrink_with_their_number():
    sizes = [point_size(n) for n in (1, 100, 10_000, 1_000_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] > 0


def test_given_axes_are_used():
    ax = Figure().add_subplot()
    assert plots.map(X, LABELS, ax=ax) is ax
    assert plots.links(X, LABELS, Clues(5), ax=ax) is ax
    assert plots.trace(PCKMeans(2, random_state=0).fit(X), ax=ax) is ax


def test_compare_shows_matching_clusters_in_one_color():
    figure = plots.compare(X, [1, 1, 0, 0, 1], LABELS, Clues(5, must=[(3, 4)]), truth=LABELS, titles=("old", "new"))
    left, right = figure.axes
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["old", "new"]
    assert points(left)[get_style(0)[0].lower()].tolist() == X[[0, 1, 4]].tolist()
    assert points(right)[get_style(0)[0].lower()].tolist() == X[[0, 1]].tolist()
    assert (BROKEN, False) in segments(left)
    assert (BROKEN, False) not in segments(right)
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["cluster 0", "cluster 1", "must-link (1)", "broken", "wrong cluster"]


def test_recolored_keeps_the_clustering():
    labels = np.array([2, 2, 0, 0, 1, -1])
    reference = np.array([0, 0, 1, 1, 1, 0])
    new = match_colors(labels, reference)
    assert new[:4].tolist() == [0, 0, 1, 1]
    assert new[4] not in (0, 1)
    assert new[5] == -1
    with pytest.raises(ValueError, match="before has 6 labels, but after has 2"):
        match_colors(labels, reference[:2])


def test_trace_draws_the_objective():
    model = PCKMeans(3, init="random", n_init=1, random_state=0).fit(np.random.default_rng(0).normal(size=(50, 2)))
    ax = plots.trace(model)
    (line,) = ax.get_lines()
    assert line.get_ydata().tolist() == model.trace_.tolist()
    assert line.get_xdata().tolist() == list(range(1, len(model.trace_) + 1))
    assert ax.get_title(loc="left") == "PCKMeans"
    with pytest.raises(ValueError, match="this PCKMeans has no trace; fit it first"):
        plots.trace(PCKMeans())


def test_pictures_are_saved_without_pyplot(tmp_path):
    before = "matplotlib.pyplot" in sys.modules
    clues = Clues(5, labels=[0, -1, 1, -1, -1], must=[(0, 1)], cannot=[(0, 2)])
    plots.map(X, LABELS, clues=clues).figure.savefig(tmp_path / "map.png")
    plots.compare(X, LABELS, LABELS, clues).savefig(tmp_path / "compare.png")
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in tmp_path.iterdir())
    assert ("matplotlib.pyplot" in sys.modules) is before


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: plots.map(X, [0, 1]), ValueError, "X has 5 rows, but there are 2 labels."),
        (lambda: plots.map(X, [0.5] * 5), ValueError, "labels must be integers"),
        (lambda: plots.map(X, LABELS, clues=Clues(3)), ClueError, "the clues are about 3 rows"),
        (lambda: plots.map(X[0], LABELS), ValueError, r"X must have rows and columns; it has shape \(2,\)"),
        (lambda: plots.map(X, LABELS, columns=[0]), ValueError, "columns must name two columns; it names 1"),
        (lambda: plots.map(X, LABELS, columns=["a", 0]), ValueError, "X has no column 'a'"),
        (lambda: plots.map(X, LABELS, columns=[0, 2]), ValueError, "X has no column 2"),
        (lambda: plots.map([[np.nan, 1]], [0]), ValueError, "X has nan or infinity in row 0"),
        (lambda: plots.map(X, LABELS, truth=[0, 1]), ValueError, "2 rows"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=re.escape(install("plot"))):
        plots.map(X, LABELS)
