"""A sketch, then a clusterer: clues about rows reach the grains, and labels come back."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import cluewise as cw
from cluewise import Clues, Grains
from cluewise.exceptions import ClueError, Contradiction, Infeasible, UnusedClueWarning
from cluewise.metrics import ari
from cluewise.sketch import GrainsThen

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.arange(3000) % 3)
X = 5 * np.eye(3)[Y] + RNG.normal(size=(3000, 3))
CLUES = Clues.sample(Y, pairs=300, random_state=0)
GRAINS = Grains(60, random_state=0)
# Grains of these rows are 0: {0, 1}, 1: {2, 3}, 2: {4, 5}, 3: {6, 7}.
LINE = np.array([[0.0], [0.2], [5.0], [5.2], [10.0], [10.2], [15.0], [15.2]])


class Fixed(Grains):
    """Grains of two rows that follow each other."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        labels = (np.arange(X.shape[0]) // 2).astype(np.int32)
        weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight)
        self.sizes_ = np.bincount(labels, weights=weight)
        self.labels_, self._cells = labels, None
        sums = [np.bincount(labels, weights=weight * column) for column in np.asarray(X).T]
        self.centers_ = self.codebook_ = np.column_stack(sums) / self.sizes_[:, None]
        return self


def pck(k=2):
    return cw.PCKMeans(k, random_state=0)


def lifted(clues, clusterer=None, rows=LINE):
    return Fixed().then(pck() if clusterer is None else clusterer).fit(rows, clues=clues).part_clues_


def test_rows_get_the_cluster_of_their_grain():
    model = GRAINS.then(pck(3)).fit(X, clues=CLUES)
    assert_array_equal(model.parts_, model.grains_.labels_)
    assert_array_equal(model.labels_, model.clusterer_.labels_[model.parts_])
    assert_array_equal(model.margin_, model.clusterer_.margin_[model.parts_])
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.part_sizes_, np.bincount(model.parts_))
    assert model.n_clusters_ == 3
    assert ari(Y, model.labels_) > 0.95
    assert model.broken_ == cw.metrics.broken(model.labels_, CLUES)
    assert not hasattr(GRAINS, "centers_")  # copies are fitted


def test_grains_that_are_the_rows_change_nothing():
    rows, y = X[:200], Y[:200]
    clues = Clues.sample(y, pairs=60, labels=10, random_state=0)
    for method in (pck(3), cw.E2CP(3, random_state=0), cw.COPKMeans(3, random_state=0)):
        alone = clone(method).fit(rows, clues=clues)
        model = Grains().then(method).fit(rows, clues=clues)
        assert ari(alone.labels_, model.labels_) == 1
        assert model.broken_ == alone.broken_


def test_net_weights_by_hand():
    """Grains 0 and 1: must 1 + 2.5, cannot 1; grains 1 and 2: must 1, cannot 1; grains 2 and 3: cannot .4 + .2."""
    clues = Clues(
        8,
        must=[(0, 2), (1, 3), (2, 4), (6, 7)],
        must_weight=[1, 2.5, 1, 9],
        cannot=[(0, 3), (3, 5), (4, 6), (5, 7)],
        cannot_weight=[1, 1, 0.4, 0.2],
    )
    found = lifted(clues)
    assert found.n == 4
    assert found.must.tolist() == [[0, 1]]
    assert found.cannot.tolist() == [[2, 3]]
    assert_allclose(found.must_weight, [2.5])
    assert_allclose(found.cannot_weight, [0.6])


def test_net_weights_by_brute_force():
    rows = RNG.normal(size=(40, 2))
    pairs = np.array([(i, j) for i in range(40) for j in range(i + 1, 40) if i // 2 != j // 2])
    pairs, sign = RNG.permutation(pairs)[:300], RNG.choice([-1, 1], size=300)
    weight = RNG.integers(1, 4, size=300)
    net = np.zeros((20, 20))
    for (i, j), w in zip(pairs, sign * weight):
        net[i // 2, j // 2] += w
    clues = Clues(
        40, must=pairs[sign > 0], must_weight=weight[sign > 0], cannot=pairs[sign < 0], cannot_weight=weight[sign < 0]
    )
    assert_allclose(lifted(clues, rows=rows).to_matrix().toarray(), net + net.T)


def test_groups_are_lifted_like_their_pairs():
    rows = RNG.normal(size=(40, 2))
    for _ in range(5):
        together, apart = RNG.integers(-1, 6, size=40), RNG.permutation(np.append(np.arange(20), np.full(20, -1)) // 2)
        groups = Clues(40, together=together, together_weight=0.5, apart=apart)
        pairs = groups.pairs(expand=True)
        written = Clues(40, must=pairs.must, must_weight=0.5, cannot=pairs.cannot)
        assert lifted(groups, rows=rows) == lifted(written, rows=rows)


def test_large_groups_are_not_written_out():
    rows = np.arange(200.0)[:, None]
    column = np.repeat([0, -1], [100, 100])
    found = lifted(Clues(200, together=column, together_weight=0.5), rows=rows)
    assert not len(found.must)
    (group,) = found.together
    assert_array_equal(group.codes, np.repeat([0, -1], 50))
    assert group.weights.tolist() == [2.0]  # four links of weight ½ between two grains
    other = np.roll(column, 50)
    found = lifted(Clues(200, together=[column, other]), rows=rows)
    assert len(found.together) == 2  # they share grains
    found = lifted(Clues(200, together=np.arange(200) // 100), rows=rows)
    assert len(found.together) == 1


def test_labels_are_votes():
    labels = ["a", -1, "b", "b", "b", "a", -1, -1]
    found = lifted(Clues.from_labels(labels))
    assert [None if c < 0 else found.classes_[c] for c in found.labels] == ["a", "b", None, None]
    lost = lifted(Clues.from_labels(["a", "b", "c", "c", "a", "a", -1, -1]))
    assert list(lost.classes_) == ["a", "b", "c"]  # although "b" has won no grain
    assert lost.labels.tolist() == [-1, 2, 0, -1]


def test_named_classes_keep_their_cluster():
    model = Fixed().then(cw.SeededKMeans(3)).fit(LINE, clues=["a", "b", "c", "c", "a", "a", -1, -1])
    assert model.labels_[2] == 2
    assert model.labels_[4] == 0


def test_partitions_and_avoid_are_votes():
    sides = [0, 0, 1, 1, 1, 0, -1, -1]
    found = lifted(Clues(8, partitions=[sides]), cw.PartitionKMeans(2, random_state=0))
    assert found.partition_codes(0).tolist() == [0, 1, -1, -1]
    found = lifted(Clues(8, avoid=[0, 0, 1, 1, 1, 1, 0, 0]), cw.CondEns(2, random_state=0))
    assert found.avoid[0].tolist() == [0, 1, 1, 0]


def test_a_cannot_link_inside_a_grain_divides_it():
    model = GRAINS.then(pck(3))
    grain = model.fit(X).grains_.labels_
    mine = np.flatnonzero(grain == 7)
    i, j = mine[[0, -1]]
    model.refit(X, clues=Clues(3000, cannot=[(i, j)]))
    assert len(model.part_sizes_) == 61
    part = model.parts_
    assert part[i] != part[j]
    assert model.part_clues_.cannot.tolist() == [sorted([part[i], part[j]])]
    for p in (part[i], part[j]):
        assert_allclose(model.part_centers_[p], X[part == p].mean(axis=0))
        assert model.part_sizes_[p] == np.count_nonzero(part == p)
    assert set(part[mine]) == {part[i], part[j]}
    assert_array_equal(np.delete(part, mine), np.delete(grain, mine))
    assert_array_equal(np.delete(model.part_centers_, [7, 60], axis=0), np.delete(model.grains_.centers_, 7, axis=0))


def test_equal_rows_that_must_be_apart():
    rows = np.repeat([[0.0], [5.0]], 10, axis=0)
    model = Grains().then(pck()).fit(rows, clues=Clues(20, cannot=[(0, 1), (1, 2), (0, 2)]))
    assert len(set(model.parts_[[0, 1, 2]])) == 3
    assert model.part_sizes_.sum() == 20


def test_apart_groups_inside_a_grain_divide_it():
    rows = np.vstack([X[:100], X[:100] + 40])
    column = np.full(200, -1)
    column[:6] = 0
    model = Grains(4, random_state=0).then(pck()).fit(rows, clues=Clues(200, apart=column))
    for grain in range(4):
        mine = np.flatnonzero((model.grains_.labels_ == grain) & (column == 0))
        if len(model.part_sizes_) < 8:  # otherwise there were too many to keep them all apart
            assert len(set(model.parts_[mine])) == len(mine)
    assert len(model.part_sizes_) <= 8


def test_the_number_of_parts_is_bounded():
    clues = Clues(200, apart=np.zeros(200, dtype=int))
    model = Grains(5, random_state=0).then(pck()).fit(X[:200], clues=clues)
    assert len(model.part_sizes_) <= 10


HARD = [
    cw.COPKMeans(3, random_state=0),
    cw.PCCC(3, random_state=0),
    cw.ConstrainedAgglomerative(3),
    cw.EquivalenceGMM(3, random_state=0),
]


@pytest.mark.parametrize("method", HARD, ids=lambda method: type(method).__name__)
def test_hard_clues_hold_on_rows(method):
    rows, y = X[:400], RNG.integers(3, size=400)  # clues that contradict the data
    clues = Clues.sample(y, pairs=40, labels=9, random_state=1)
    model = Grains(20, random_state=0).then(method).fit(rows, clues=clues)
    assert not model.broken_.kinds
    assert len(model.part_sizes_) > 20
    assert_allclose(model.part_sizes_.sum(), 400)


def test_hard_groups_hold_on_rows():
    rows, y = X[:400], RNG.integers(3, size=400)
    together, apart = np.full(400, -1), np.full(400, -1)
    for c in range(3):
        together[np.flatnonzero(y == c)[:25]] = c
        apart[np.flatnonzero(y == c)[40:44]] = np.arange(4)
    clues = Clues(400, together=together, apart=apart)
    model = Grains(20, random_state=0).then(cw.COPKMeans(3, random_state=0)).fit(rows, clues=clues)
    assert not model.broken_.kinds


def test_infinite_weights_hold_while_others_may_break():
    rows, y = X[:400], RNG.integers(3, size=400)
    pairs = Clues.sample(y, pairs=60, random_state=1)
    sure = Clues(400, must=pairs.must[:5], cannot=pairs.cannot[:5], must_weight=np.inf, cannot_weight=np.inf)
    soft = Clues(400, must=pairs.must[5:], cannot=pairs.cannot[5:], must_weight=1e-3, cannot_weight=1e-3)
    for method in (cw.PCCC(3, hard="infinite", random_state=0), cw.PenalizedGMM(3, random_state=0)):
        model = Grains(20, random_state=0).then(method).fit(rows, clues=sure | soft)
        weights = np.concatenate([model.broken_.must_weight, model.broken_.cannot_weight])
        assert len(weights)
        assert np.isfinite(weights).all()
    with pytest.raises(ClueError, match="PCKMeans cannot mix hard and soft clues"):
        GRAINS.then(pck(3)).fit(rows, clues=sure)


def test_must_links_hold_where_the_method_joins():
    rows, y = X[:400], RNG.integers(3, size=400)
    clues = Clues.sample(y, pairs=60, random_state=1)
    model = Grains(20, random_state=0).then(cw.ClosurePCKMeans(3, random_state=0)).fit(rows, clues=clues)
    assert not len(model.broken_.must)


def test_impossible_hard_clues_are_named_by_their_rows():
    model = Grains(20, random_state=0).then(cw.COPKMeans(2, random_state=0))
    with pytest.raises(Contradiction, match="399"):
        model.fit(X[:400], clues=Clues(400, must=[(7, 399)], cannot=[(7, 399)]))
    with pytest.raises(Infeasible, match="rows 0, 398 and 399 must all be apart"):
        model.fit(X[:400], clues=Clues(400, cannot=[(0, 398), (398, 399), (0, 399)]))


def test_sizes_are_bounds_on_rows():
    rows = np.concatenate([RNG.normal(size=300), RNG.normal(size=100) + 6])[:, None]
    clues = Clues(400, sizes=(190, 210))
    model = Grains(40, random_state=0).then(cw.SizedKMeans(2, random_state=0)).fit(rows, clues=clues)
    assert not model.broken_.kinds
    assert np.bincount(model.labels_).min() >= 190
    with pytest.raises(ClueError, match="BalancedKMeans cannot bound the sizes of clusters of grains"):
        Grains(40, random_state=0).then(cw.BalancedKMeans(2, random_state=0)).fit(rows, clues=clues)
    with pytest.raises(ClueError, match="if rows have weights"):
        model.fit(rows, clues=clues, sample_weight=np.ones(400))
    weight = np.where(np.arange(400) < 300, 1.0, 2.0)
    bounded = Clues(400, sizes=(240, 260), size_unit="weight")
    model.fit(rows, clues=bounded, sample_weight=weight)
    assert np.bincount(model.labels_, weights=weight).min() >= 240
    with pytest.raises(Infeasible):
        model.fit(rows, clues=Clues(400, sizes=(300, 400)))


def test_refit_keeps_the_grains():
    model = GRAINS.then(pck(3)).fit(X)
    grains = model.grains_
    model.refit(X, clues=CLUES)
    assert model.grains_ is grains
    assert_array_equal(model.labels_, GRAINS.then(pck(3)).fit(X, clues=CLUES).labels_)
    with pytest.raises(ValueError, match="refit needs the 3000 rows"):
        model.refit(X[:10])


def test_weights_reach_grains_and_clusterer():
    weight = RNG.uniform(1, 3, size=3000)
    model = GRAINS.then(KMeans(3, n_init=1, random_state=0)).fit(X, sample_weight=weight)
    assert_allclose(model.part_sizes_.sum(), weight.sum())
    expected = KMeans(3, n_init=1, random_state=0).fit(model.part_centers_, sample_weight=model.part_sizes_)
    assert_array_equal(model.labels_, expected.labels_[model.parts_])


def test_sparse_rows():
    rows = np.where(np.abs(X) < 1, 0.0, X)
    dense, sparse = (GRAINS.then(pck(3)).fit(one, clues=CLUES) for one in (rows, csr_array(rows)))
    assert ari(dense.labels_, sparse.labels_) == 1
    assert_array_equal(sparse.predict(csr_array(rows)), sparse.labels_)


def test_unused_kinds_are_named_once():
    with pytest.warns(UnusedClueWarning, match="PCKMeans does not use clues of the kind sizes") as caught:
        GRAINS.then(pck(3)).fit(X, clues=CLUES | Clues(3000, sizes=(10, 2000)))
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UnusedClueWarning, match="KMeans does not use clues") as caught:
        model = GRAINS.then(KMeans(3, n_init=1, random_state=0)).fit(X, clues=CLUES)
    assert [warning.filename for warning in caught] == [__file__]
    assert len(model.part_sizes_) == 60
    assert model.broken_ == cw.metrics.broken(model.labels_, CLUES)
    with pytest.warns(UnusedClueWarning, match="GrainsThen ignores y"):
        GRAINS.then(pck(3)).fit(X, np.where(np.arange(3000) % 4, -1, Y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GRAINS.then(pck(3)).fit(X, clues=CLUES)


def test_other_clusterers():
    assert ari(Y, GRAINS.then(GaussianMixture(3, random_state=0)).fit(X).labels_) > 0.9  # keeps no labels
    assert -1 in GRAINS.then(DBSCAN(eps=0.3, min_samples=60)).fit(X).labels_  # noise stays noise
    with pytest.raises(TypeError, match=r"clusterer=StandardScaler\(\) has no fit_predict"):
        GRAINS.then(StandardScaler()).fit(X)


class Listener(ClusterMixin, BaseEstimator):
    """A clusterer of somebody else, which accepts clues and has no card."""

    def fit(self, X, y=None, clues=None):
        self.clues_, self.labels_ = clues, np.arange(len(X)) % 2
        return self

    def fit_predict(self, X, y=None, clues=None):
        return self.fit(X, y, clues).labels_


def test_a_clusterer_without_a_card_gets_every_kind():
    clues = CLUES | Clues(3000, must=[(0, 1)], must_weight=np.inf, sizes=(10, 2990), labels=np.where(Y == 0, 0, -1))
    model = GRAINS.then(Listener()).fit(X, clues=clues)
    found = model.clusterer_.clues_
    assert found is model.part_clues_
    assert found.kinds == {"must", "cannot", "together", "labels", "sizes"}
    assert np.isinf(found.together[0].weights).all()
    assert found.size_unit == "weight"


def test_a_second_fit_leaves_nothing_of_the_first():
    model = GRAINS.then(pck(3)).fit(X)
    model.set_params(clusterer=KMeans(3, n_init=1)).fit(X)
    assert not hasattr(model, "n_clusters_")
    assert not hasattr(model, "margin_")


def test_frames_parameters_and_pickle():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = GRAINS.then(pck(3)).fit(frame, clues=CLUES)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(frame), model.predict(frame))
    assert clone(model).get_params()["grains__n_grains"] == 60


def test_clues_about_other_rows_are_refused():
    with pytest.raises(ClueError, match="the clues are for 3000 rows, but X has 50"):
        GRAINS.then(pck(3)).fit(X[:50], clues=CLUES)


@pytest.mark.parametrize("name", sorted(cw.clusterers()))
def test_every_clusterer_of_the_catalogue_runs_on_grains(name):
    """Whatever clues a method accepts, in small numbers and with noise if it is not hard."""
    method = cw.clusterers()[name]
    card = method.card
    rows, y = np.abs(X[:600]), Y[:600]
    clues = Clues.sample(y, pairs=30, labels=9, noise=0 if card.hard or card.joins else 0.1, random_state=0)
    clues |= Clues(600, avoid=np.arange(600) % 2, partitions=[np.where(np.arange(600) % 5, -1, y)])
    model = Grains(50, random_state=0).then(method()).set_params(**_small(method()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, clues=clues.only(card.accepts - {"sizes"}))
    assert model.labels_.shape == (600,)
    assert model.predict(rows[:10]).shape == (10,)
    if card.hard:
        assert not model.broken_.kinds


def _small(method):
    wanted = {"n_clusters": 3, "random_state": 0, "n_init": 1, "max_iter": 10}
    return {f"clusterer__{name}": value for name, value in wanted.items() if name in method.get_params()}


WEIGHTS = {f"check_sample_weight_equivalence_on_{kind}_data": "another random start" for kind in ("dense", "sparse")}
_checks = parametrize_with_checks(
    [GrainsThen(Grains(20, random_state=0), cw.PCKMeans(2, random_state=0))],
    expected_failed_checks=lambda model: WEIGHTS,
)
CHECKS = [case for case in _checks.args[1] if "array_api" not in str(getattr(case, "values", case))]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- seeds ----------------------------------------------------------------------------------------------------------


def test_one_seed_for_both_steps():
    X = np.random.default_rng(0).normal(size=(3000, 3))
    chain = Grains(50).then(cw.PCKMeans(4, init="random", n_init=1), random_state=3)
    assert chain.get_params()["random_state"] == 3
    first, again = clone(chain).fit(X), clone(chain).fit(X)
    assert_array_equal(first.labels_, again.labels_)
    assert_array_equal(first.grains_.centers_, again.grains_.centers_)
    assert (first.grains_.centers_ != clone(chain).set_params(random_state=4).fit(X).grains_.centers_).any()
    assert (chain.grains.random_state, chain.clusterer.random_state) == (None, None)  # parameters stay as they are
    assert_array_equal(clone(first).fit(X).refit(X).labels_, first.labels_)


def test_without_it_each_step_has_its_own():
    X = np.random.default_rng(0).normal(size=(3000, 3))
    chain = Grains(50, random_state=1).then(cw.PCKMeans(4, random_state=2)).fit(X)
    assert (chain.grains_.random_state, chain.clusterer_.random_state) == (1, 2)
    assert_array_equal(chain.grains_.labels_, Grains(50, random_state=1).fit(X).labels_)
