"""Squares that exceed all numbers are refused by name of the column."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from cluewise import Clues
from cluewise.core.squares import require_squares
from cluewise.density import ConstrainedDBSCAN, ConstrainedHDBSCAN
from cluewise.hierarchy import ConstrainedAgglomerative
from cluewise.margin import MaxMarginClusterer
from cluewise.spectral import E2CP, FlexibleSpectral, RelationalSpectral, SpectralKernelKMeans

KINDS = [np.asarray, csr_array, csr_matrix]


@pytest.mark.parametrize("kind", KINDS)
def test_the_widest_column_is_named(kind):
    X = np.array([[1.0, -2e160, 3e155], [1.0, 2e160, 0.0]])
    with pytest.raises(ValueError, match=r"column 1 of X, from -2e\+160 to 2e\+160, is too large to be squared"):
        require_squares(kind(X))
    require_squares(kind(X * 1e-10))


@pytest.mark.parametrize("kind", KINDS)
def test_far_from_the_origin_only_lengths_are_large(kind):
    X = np.array([[0.0, 1e160], [1.0, 1e160]])
    require_squares(kind(X))
    with pytest.raises(ValueError, match="column 1 of X"):
        require_squares(kind(X), from_origin=True)
    with pytest.raises(ValueError, match="column 1 of X"):  # whose mean is no number
        require_squares(kind(X * 1e148))


def test_single_precision_is_not_the_limit():
    require_squares(np.array([[3e38], [-3e38]], dtype=np.float32))


@pytest.mark.parametrize(
    "model",
    [
        ConstrainedAgglomerative(2),
        ConstrainedAgglomerative(2, linkage="centroid"),
        ConstrainedDBSCAN(1e155),
        ConstrainedHDBSCAN(2),
        *(
            method(2, affinity=affinity)
            for method in (E2CP, FlexibleSpectral, SpectralKernelKMeans)
            for affinity in ("local", "nearest_neighbors", "rbf")
        ),
        RelationalSpectral(2),
        RelationalSpectral(2, affinity="rbf"),
        MaxMarginClusterer(2),
    ],
    ids=repr,
)
@pytest.mark.parametrize("size", [1e154, 1e160, 1e308])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_methods_that_square_say_so(model, size):
    X = size * np.random.default_rng(0).uniform(-1, 1, size=(40, 3))
    with pytest.raises(ValueError, match=r"column \d of X, from .* scale the columns\."):
        model.fit(X, clues=Clues(40, must=[(0, 1)]))


def test_any_radius_will_do():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for rows in (X, np.hstack([X] * 5), csr_array(X)):
        assert ConstrainedDBSCAN(1e200).fit(rows).n_clusters_ == 1
