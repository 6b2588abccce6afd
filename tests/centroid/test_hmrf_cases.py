"""PKMeans, MKMeans and MPCKMeans are HMRFKMeans with some parameters fixed."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.datasets import load_iris

from cluewise import Clues
from cluewise.centroid._hmrf.cases import MKMeans, PKMeans
from cluewise.centroid._hmrf.hmrf import HMRFKMeans
from cluewise.centroid._hmrf.mpck import MPCKMeans
from strategies import PAIR_KINDS, cases

NAMED = {
    PKMeans: {"metric": None},
    MPCKMeans: {},
    MKMeans: {"use_clues": "metric", "init": "k-means++", "max_iter": 100},
}


@pytest.mark.parametrize("cls", NAMED)
@given(case=cases(PAIR_KINDS, noise=0.3))
@settings(max_examples=8)
@pytest.mark.filterwarnings("ignore:only . of . clusters")
def test_named_cases(cls, case):
    named = cls(case.k, random_state=0).fit(case.X, clues=case.clues)
    family = HMRFKMeans(case.k, random_state=0, **NAMED[cls]).fit(case.X, clues=case.clues)
    np.testing.assert_array_equal(named.labels_, family.labels_)
    np.testing.assert_array_equal(named.trace_, family.trace_)


@pytest.mark.parametrize("cls", NAMED)
def test_fixed_parameters_are_not_exposed(cls):
    exposed = set(cls().get_params())
    assert not exposed & {"distortion", "link_cost", "use_clues"}
    assert exposed == set(cls._parameter_constraints)
    assert ("metric" in exposed) == (cls is not PKMeans)
    with pytest.raises(TypeError):
        cls(distortion="cosine")
    assert clone(cls(4)).get_params() == cls(4).get_params()


@pytest.mark.parametrize("cls", [MKMeans, MPCKMeans])
def test_there_is_always_a_metric(cls):
    with pytest.raises(ValueError, match="'metric' parameter"):
        cls(2, metric=None).fit(np.eye(4))


def test_pkmeans_prices_links_by_distance():
    """A broken must-link costs its squared distance; a broken cannot-link what is missing to the squared diameter."""
    X = np.array([[0.0], [1], [9], [10]])
    model = PKMeans(2, penalty=0.001, init=[[0.5], [9.5]]).fit(X, clues=Clues(4, must=[(1, 2)], cannot=[(2, 3)]))
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.broken_cost_ == pytest.approx(0.001 * (64 + (100 - 1)))
    assert model.objective_ == pytest.approx(1 + model.broken_cost_)
    assert not hasattr(model, "metric_")


def test_mkmeans_moves_no_row_for_a_link():
    """In every iteration each row is where it is nearest in the metric of the moment."""
    X, y = load_iris(return_X_y=True)
    clues = Clues.sample(y, pairs=100, random_state=0)
    model = MKMeans(3, penalty=1.0, random_state=0).fit(X, clues=clues)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.margin_.min() >= -1e-9
    assert model.broken_.kinds
    free = MKMeans(3, random_state=0).fit(X)
    assert not np.allclose(free.metric_, model.metric_)


def test_the_average_broken_link_costs_what_it_should():
    """penalty="auto": 2·log 9 times the variance inside clusters per effective dimension, for either kind of link."""
    X, y = load_iris(return_X_y=True)
    X = X[:, 2:]
    clues = Clues.sample(y, pairs=60, random_state=0)
    start = np.array([X[y == h].mean(axis=0) for h in range(3)])
    model = PKMeans(3, init=start).fit(X, clues=clues)
    labels = ((X[:, None] - start) ** 2).sum(axis=2).argmin(axis=1)
    off = X - np.array([X[labels == h].mean(axis=0) for h in range(3)])[labels]
    covariance = off.T @ off / len(X)
    price = 2 * np.log(9) * (covariance**2).sum() / np.trace(covariance)
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    must, cannot = (squared[pairs[:, 0], pairs[:, 1]] for pairs in (clues.must, clues.cannot))
    np.testing.assert_allclose(model.penalty_, [price / must.mean(), price / (squared.max() - cannot).mean()])


def test_a_learned_metric_beats_none_on_iris():
    """A hundred pairs, ten draws: the means that the benchmarks report differ by more than a tenth."""
    from cluewise.metrics import ari

    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = {cls: [] for cls in (PKMeans, MPCKMeans)}
    for seed in range(10):
        clues = Clues.sample(y, pairs=100, random_state=seed)
        for cls, found in scores.items():
            found.append(ari(y, cls(3, random_state=seed).fit(X, clues=clues).labels_))
    assert np.mean(scores[MPCKMeans]) > np.mean(scores[PKMeans]) + 0.05
