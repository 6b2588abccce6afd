"""Numbers whose squares are none are refused in one sentence, the same everywhere, which names a way out that works."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

import cluewise as cw
from cluewise import Clues, COPKMeans, PCKMeans, SizedKMeans
from cluewise._squares import LARGEST, largest, negligible, require_squares
from cluewise.density import ConstrainedDBSCAN
from cluewise.exceptions import ClueError
from cluewise.metric_learning import RCA

KINDS = [np.asarray, np.asfortranarray, csr_array, csr_matrix]
X = np.random.default_rng(0).normal(size=(60, 4))


def divisor(error):
    """What the sentence says to divide by."""
    (found,) = re.findall(r"divide it by (\S+) first\.$", str(error.value))
    return float(found)


@pytest.mark.parametrize(
    ("size", "dtype", "sentence"),
    [
        (
            1e160,
            "float64",
            "X reaches 1e+160, and squares of numbers beyond 1e+60 may overflow float64; divide it by 1e+160 first.",
        ),
        (
            1e-200,
            "float64",
            "X stays within 1e-200 of zero, and squares of numbers below 1e-60 may vanish in float64; "
            "divide it by 1e-200 first.",
        ),
        (
            1e30,
            "float32",
            "X reaches 1e+30, and squares of numbers beyond 1e+12 may overflow float32; "
            "convert it to float64 or divide it by 1e+30 first.",
        ),
    ],
)
def test_the_sentence(size, dtype, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        require_squares(size, dtype, "X")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e70, 1e160, 1e307])
def test_what_the_sentence_says_helps(kind, scale):
    big = np.random.default_rng(1).integers(-9, 10, size=(40, 3)) * scale
    with pytest.raises(ValueError, match=r"^X (reaches|stays within)") as error:
        PCKMeans(2).fit(kind(big))
    smaller = kind(big / divisor(error))
    again = PCKMeans(2, random_state=0).fit(smaller)
    plain = PCKMeans(2, random_state=0).fit(kind(np.round(big / scale)))
    assert cw.metrics.ari(plain.labels_, again.labels_) == 1


def test_single_precision_has_limits_of_its_own_and_double_helps():
    big = (X * 1e30).astype(np.float32)
    with pytest.raises(ValueError, match="convert it to float64"):
        PCKMeans(2).fit(big)
    labels = PCKMeans(2, random_state=0).fit(big.astype(np.float64)).labels_
    assert cw.metrics.ari(labels, PCKMeans(2, random_state=0).fit(X.astype(np.float32)).labels_) == 1


@pytest.mark.parametrize("model", [COPKMeans(3), SizedKMeans(3)])
@pytest.mark.parametrize("scale", [1e60, 1e154, 1e160, 1e300])
def test_nothing_is_called_infeasible_for_its_scale(model, scale):
    with pytest.raises(ValueError, match=r"^X reaches"):
        model.fit(X * scale)


@pytest.mark.parametrize("model", [PCKMeans(3), RCA()])
def test_new_rows_may_lie_at_the_origin_but_not_beyond_all_squares(model):
    clues = Clues(60, must=[(0, 1), (2, 3)])
    model.fit(X, clues=clues)
    near = model.transform(np.full((1, 4), 1e-200))
    np.testing.assert_allclose(near, model.transform(np.zeros((1, 4))), atol=1e-100)
    with pytest.raises(ValueError, match=r"^X reaches"):
        model.transform(X * 1e70)


def test_zeros_have_no_scale():
    require_squares(0.0, "float64", "X")
    with pytest.warns(match="only 1 of 2 clusters"):
        assert PCKMeans(2).fit(np.zeros((9, 2))).n_clusters_ == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_limits_are_taken(dtype):
    limit = LARGEST[dtype]
    for size in (limit, 1 / limit):
        require_squares(size, dtype, "X")
    for size in (limit * 1.001, 0.999 / limit):
        with pytest.raises(ValueError, match=r"^X "):
            require_squares(size, dtype, "X")


def test_starts_are_checked_as_well():
    with pytest.raises(ValueError, match=r"^init reaches 1e\+200"):
        PCKMeans(2, init=[[1e200] * 4, [0.0] * 4]).fit(X)


@pytest.mark.parametrize("model", [PCKMeans(2), ConstrainedDBSCAN()])
@pytest.mark.parametrize("weight", [1e300, 1e-300])
def test_weights_of_rows(model, weight):
    with pytest.raises(ValueError, match=r"^sample_weight (reaches|stays within) 1e[+-]300"):
        model.fit(X, sample_weight=np.full(60, weight))
    mixed = np.ones(60)
    mixed[:5] = 1e-300  # as good as nothing beside the others
    zero = np.where(mixed == 1, 1.0, 0.0)
    if isinstance(model, PCKMeans):
        a, b = (model.set_params(random_state=0).fit(X, sample_weight=w).cluster_centers_ for w in (mixed, zero))
        np.testing.assert_allclose(a, b)


def test_weights_of_clues():
    heavy = Clues(60, must=[(0, 1)], must_weight=[1e300])
    with pytest.raises(ClueError, match=r"^a clue has weight 1e\+300; .* next to weights above 1e\+12"):
        PCKMeans(2).fit(X, clues=heavy)
    labels = COPKMeans(2, random_state=0).fit(X, clues=heavy).labels_  # takes every clue as hard
    assert labels[0] == labels[1]
    light = Clues(60, must=[(0, 1)], must_weight=[1e-300])
    PCKMeans(2).fit(X, clues=light)


LINKS = Clues(60, must=[(0, 1), (2, 3)], cannot=[(0, 2), (1, 3)])


@pytest.mark.parametrize(
    "entry",
    [
        lambda rows: cw.propagate(rows, LINKS, radius=1.0),
        lambda rows: cw.check(LINKS, rows),
        lambda rows: Clues.from_distance(rows, delta=1.0),
        lambda rows: Clues.from_distance(rows, epsilon=1.0),
        lambda rows: cw.metrics.coherence(rows, LINKS),
        lambda rows: cw.active.RandomPairs().start(rows, budget=3),
    ],
)
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_entries_beside_the_estimators(entry, scale):
    with pytest.raises(ValueError, match=r"^X (reaches|stays within) .* divide it by"):
        entry(X * scale)


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, lambda x: x[::-2, ::-1]])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 3), (70_000, 3), (3, 400_000)])
def test_largest_magnitude(kind, shape):
    values = np.random.default_rng(2).normal(size=shape)
    rows = kind(values)
    assert largest(rows) == np.abs(rows).max(initial=0.0)
    if rows.size:
        for bad in (np.nan, np.inf, -np.inf):
            copy = np.array(rows)
            copy[-1, -1] = bad
            np.testing.assert_equal(largest(copy), abs(bad))


def test_negligible_columns():
    assert negligible(np.array([0.0, 1e-130, 1e-110, 1.0]), np.float64).tolist() == [True, True, False, False]
    assert negligible(np.array([1e-26, 1e-22]), np.float32).tolist() == [True, False]


def test_any_radius_will_do():
    for rows in (X, np.hstack([X] * 5), csr_array(X)):
        assert ConstrainedDBSCAN(1e200).fit(rows).n_clusters_ == 1
