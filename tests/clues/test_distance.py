"""Delta and epsilon constraints: what distances entail, and checking and repairing a clustering."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform

from cluewise import Clues
from cluewise.clues import _neighbors, check_epsilon, repair_epsilon
from cluewise.exceptions import ClueError

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])


@st.composite
def grids(draw: st.DrawFn, least: int = 1) -> Any:
    """Points on a small grid: ties, duplicates and distances of exactly the radius are common."""
    d = draw(st.sampled_from([1, 2, 3, 25]))  # 25 columns are compared without a tree
    n = draw(st.integers(least, 12))
    points = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=n, max_size=n))
    X = np.zeros((n, d))
    X[:, : min(d, 2)] = np.array(points, dtype=float)[:, : min(d, 2)]
    return X


@pytest.fixture(params=["as it is", "small blocks and crowds"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers whether work is cut into pieces or not."""
    if request.param != "as it is":
        monkeypatch.setattr(_neighbors, "BLOCK", 7)
        monkeypatch.setattr(_neighbors, "CROWD", 2)


def close_components(X: Any, delta: float) -> list[int]:
    """Components of rows closer than delta, by brute force."""
    near = cdist(X, X) < delta
    np.fill_diagonal(near, True)
    reach = np.linalg.matrix_power(near.astype(int), len(X)) > 0
    first = [int(np.argmax(row)) for row in reach]
    numbers = {f: c for c, f in enumerate(sorted(set(first)))}
    return [numbers[f] for f in first]


def breaks_epsilon(X: Any, labels: Any, epsilon: float) -> list[int]:
    """The definition, row by row."""
    broken = []
    for i, label in enumerate(labels):
        others = [j for j, other in enumerate(labels) if other == label and j != i]
        if label != -1 and others and min(np.linalg.norm(X[i] - X[j]) for j in others) > epsilon:
            broken.append(i)
    return broken


# --- worked example ---------------------------------------------------------------------------------------


def test_worked_example_of_the_survey(spec_folder: Path) -> None:
    text = (spec_folder / "survey-worked-examples.json").read_text("utf-8")
    example = json.loads(text)["examples"]["delta_epsilon"]
    clues = Clues.from_distance(A8, delta=example["delta"])
    assert clues.components.tolist() == example["components"]
    assert clues.n_components == example["n_components"]
    alone = Clues.from_distance(A8, epsilon=example["epsilon"]).cannot
    rows, times = np.unique(alone, return_counts=True)
    assert rows[times == 7].tolist() == example["forced_singletons"]


def test_delta_and_epsilon_example() -> None:
    clues = Clues.from_distance(A8, delta=1.3, epsilon=1.3)
    assert clues.components.tolist() == [0, 0, 0, 1, 2, 2, 2, 3]
    assert clues.together[0].codes.tolist() == [0, 0, 0, -1, 1, 1, 1, -1]
    assert clues.together[0].names.tolist() == [0, 1]
    assert clues.together[0].source == "delta=1.3"
    # Rows 3 and 7 have nobody within epsilon, so they are apart from all others.
    expected = sorted({tuple(sorted((i, j))) for i in (3, 7) for j in range(8) if i != j})
    assert [tuple(pair) for pair in clues.cannot.tolist()] == expected
    assert set(clues.cannot_source) == {"epsilon=1.3"}
    assert clues.contradictions == ()


# --- delta ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blocks")
def test_delta_components_are_those_of_the_radius_graph() -> None:
    @given(grids(), st.sampled_from([0, 0.5, 1.0, np.sqrt(2), 1.5, 2.0, 5.0, 100.0]))
    def check(X: Any, delta: float) -> None:
        clues = Clues.from_distance(X, delta=delta)
        assert clues.components.tolist() == close_components(X, delta)
        assert clues.kinds <= {"together"}

    check()


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(
    ("d", "deltas"), [(2, [0.1, 0.5, 1.0, 4.0, 30.0]), (10, [1.0, 2.0, 4.0]), (40, [5.0, 6.0, 9.0])]
)
def test_delta_equals_the_single_linkage_cut(d: int, deltas: list[float]) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, d)) + center for center in (0, 3, 40)])
    tree = linkage(X, "single")
    before = np.arange(len(X))
    for delta in deltas:
        component = Clues.from_distance(X, delta=delta).components
        cut = fcluster(tree, np.nextafter(delta, 0), "distance")  # strictly closer
        assert len({*zip(component, cut)}) == len(set(component)) == len(set(cut))
        # Larger delta: unions of what was there.
        assert len({*zip(before, component)}) == len(set(before))
        before = component
        # Rows of different components are at least delta apart.
        across = component[:, None] != component[None, :]
        assert squareform(pdist(X))[across].min(initial=np.inf) >= delta


def test_delta_is_strict() -> None:
    X = [[0.0], [1.0], [1.5]]
    assert Clues.from_distance(X, delta=1.0).components.tolist() == [0, 1, 1]
    assert Clues.from_distance(X, delta=1.0 + 1e-12).components.tolist() == [0, 0, 0]
    assert Clues.from_distance([[0.0], [0.0]], delta=0).components.tolist() == [0, 1]


def test_many_close_rows_need_neither_memory_nor_patience() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(7000, 2)) + center for center in (0, 30, 60)])
    Clues.from_distance(X[:100], delta=1.0)  # compile first
    tracemalloc.start()
    clues = Clues.from_distance(X, delta=5.0)  # some 10⁸ pairs are closer than this
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert clues.n_components == 3
    assert peak < 200e6


def test_many_rows_in_one_place() -> None:
    X = np.zeros((20_000, 2))
    X[-1] = 1
    assert Clues.from_distance(X, delta=0.5).n_components == 2
    assert Clues.from_distance(X, epsilon=0.5).cannot.tolist() == [[i, 19_999] for i in range(19_999)]


def test_frames_and_few_rows() -> None:
    frame = pd.DataFrame({"a": [0, 1, 9], "b": [0, 0, 0]})
    assert Clues.from_distance(frame, delta=2).components.tolist() == [0, 0, 1]
    assert Clues.from_distance(np.empty((0, 2)), delta=1, epsilon=1) == Clues(0)
    assert Clues.from_distance([[1.0, 2.0]], delta=1, epsilon=1) == Clues(1)


# --- epsilon ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("blocks")
def test_rows_without_neighbors_are_apart_from_everybody() -> None:
    @given(grids(), st.sampled_from([0.0, 1.0, np.sqrt(2), 2.0, 9.0]))
    def check(X: Any, epsilon: float) -> None:
        distance = cdist(X, X)
        np.fill_diagonal(distance, np.inf)
        alone = np.flatnonzero(distance.min(axis=1) > epsilon) if len(X) > 1 else []
        expected = {tuple(sorted((int(i), j))) for i in alone for j in range(len(X)) if i != j}
        clues = Clues.from_distance(X, epsilon=epsilon)
        assert {tuple(pair) for pair in clues.cannot.tolist()} == expected

    check()


def test_too_many_lonely_rows() -> None:
    X = np.arange(2000.0)[:, None]
    with pytest.raises(ClueError) as error:
        Clues.from_distance(X, epsilon=0.5)
    assert str(error.value) == (
        "2000 rows have no other within epsilon=0.5, which makes more than 1000000 cannot-links; "
        "use cluewise.clues.check_epsilon and repair_epsilon on the result instead."
    )
    assert len(Clues.from_distance(X[:1000], epsilon=0.5).cannot) == 1000 * 999 // 2


def test_delta_above_epsilon_may_contradict_it() -> None:
    clues = Clues.from_distance([[0.0], [1.0]], delta=2.0, epsilon=0.5)
    assert str(clues.contradictions[0]) == (
        "rows 0 and 1 must be apart (cannot-link, epsilon=0.5), but the together group joins them: 0 - 1"
    )


@pytest.mark.usefixtures("blocks")
def test_checking_and_repairing() -> None:
    @given(grids(), st.data(), st.sampled_from([0.0, 1.0, np.sqrt(2), 2.0, 9.0]))
    def check(X: Any, data: st.DataObject, epsilon: float) -> None:
        labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=len(X), max_size=len(X))))
        before = labels.copy()
        broken = check_epsilon(X, labels, epsilon)
        assert broken.tolist() == breaks_epsilon(X, labels, epsilon)
        repaired = repair_epsilon(X, labels, epsilon)
        assert labels.tolist() == before.tolist()
        assert breaks_epsilon(X, repaired, epsilon) == []
        assert set(np.flatnonzero(repaired != labels)) <= set(broken.tolist())  # nobody else moves
        assert ((repaired == -1) == (labels == -1)).all()
        for i in np.flatnonzero(repaired != labels):
            # It joined a nearest row, or nobody is near.
            distance = np.linalg.norm(X - X[i], axis=1)
            distance[(labels == -1) | (np.arange(len(X)) == i)] = np.inf
            if distance.min() > epsilon:
                assert (repaired == repaired[i]).sum() == 1
            else:
                assert repaired[i] == repaired[np.argmin(distance)]  # of several the first
        assert repair_epsilon(X, repaired, epsilon).tolist() == repaired.tolist()

    check()


def test_merging_clusters_of_several_rows_keeps_epsilon() -> None:
    labels = np.array([0, 0, 0, 1, 2, 2, 2, 3])
    assert check_epsilon(A8, labels, 1.3).tolist() == []
    assert check_epsilon(A8, np.where(labels == 2, 0, labels), 1.3).tolist() == []
    assert check_epsilon(A8, np.where(labels == 3, 0, labels), 1.3).tolist() == [7]


def test_repair_joins_the_nearest_or_stays_alone() -> None:
    labels = np.array([0, 1, 0, 1, 2, 2, 2, 1])
    assert check_epsilon(A8, labels, 1.3).tolist() == [1, 3, 7]
    assert repair_epsilon(A8, labels, 1.3).tolist() == [0, 0, 0, 3, 2, 2, 2, 4]


def test_no_labels_no_breaks() -> None:
    assert check_epsilon(A8, np.full(8, -1), 1.0).tolist() == []
    assert repair_epsilon(A8, np.full(8, -1), 1.0).tolist() == [-1] * 8
    assert check_epsilon(np.empty((0, 2)), np.empty(0, int), 1.0).shape == (0,)


# --- bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0, 1.0], [2.0, float("nan")]], "X holds nan in row 1, column 1."),
        ([[0.0, 1.0], [float("inf"), 1.0]], "X holds inf in row 1, column 0."),
        ([0.0, 1.0], "X must be a table, one row per point; it has shape (2,)."),
        ([[], []], "X must be a table, one row per point; it has shape (2, 0)."),
        ([["a"], ["b"]], "X must be a table of numbers, one row per point (not sparse)."),
        ([[0.0], [0.0, 1.0]], "X must be a table of numbers, one row per point (not sparse)."),
        (csr_array(np.eye(3)), "X must be a table of numbers, one row per point (not sparse)."),
    ],
)
def test_bad_tables(X: Any, message: str) -> None:
    for call in (
        lambda: Clues.from_distance(X, delta=1.0),
        lambda: Clues.from_distance(X, epsilon=1.0),
        lambda: check_epsilon(X, [0, 0], 1.0),
        lambda: repair_epsilon(X, [0, 0], 1.0),
    ):
        with pytest.raises(ClueError) as error:
            call()
        assert str(error.value) == message


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), "1"])
def test_bad_distances(value: Any) -> None:
    with pytest.raises(ClueError, match=r"delta is .*; it must be a distance, 0 or more"):
        Clues.from_distance(A8, delta=value)
    with pytest.raises(ClueError, match=r"epsilon is .*; it must be a distance, 0 or more"):
        Clues.from_distance(A8, epsilon=value)
    with pytest.raises(ClueError, match=r"epsilon is .*; it must be a distance, 0 or more"):
        check_epsilon(A8, np.zeros(8, int), value)


def test_neither_delta_nor_epsilon() -> None:
    with pytest.raises(ClueError, match="give delta, epsilon or both"):
        Clues.from_distance(A8)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "labels needs one whole number per row (8); it has shape (2,) and holds int64."),
        (["a"] * 8, "labels needs one whole number per row (8); it has shape (8,) and holds <U1."),
        ([0, 0, 0, -2, 0, 0, 0, 0], "row 3 has label -2; labels are 0 or more, or -1 for noise."),
    ],
)
def test_bad_labels(labels: Any, message: str) -> None:
    with pytest.raises(ClueError) as error:
        check_epsilon(A8, labels, 1.0)
    assert str(error.value) == message
