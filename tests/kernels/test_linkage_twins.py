"""Every kernel of `linkage` and `linkage_centers` builds the tree that its twin builds by looking at all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from cluewise import Clues
from cluewise.core.trees import linkage_means
from cluewise.core.trees.linkage import Merges, level, tree_of
from cluewise.kernels import linkage, linkage_centers
from twins import linkage as reference_linkage
from twins import linkage_centers as reference_linkage_centers


class Drawn:
    """Rows without ties, and pairs that must be apart."""

    def __init__(self, seed, m, links, d=3):
        rng = np.random.default_rng(seed)
        self.m = m
        self.X = rng.normal(size=(m, d))
        self.size = rng.integers(1, 5, size=m).astype(float)
        pairs = np.array([rng.choice(m, 2, replace=False) for _ in range(links)]).reshape(-1, 2).astype(int)
        self.clues = Clues(m, cannot=pairs, apart=np.where(np.arange(m) < 3, 0, -1) if seed % 2 else None)
        i, j = np.triu_indices(m, 1)
        self.table = pdist(self.X)
        apart = {tuple(pair) for pair in self.clues.pairs(expand=True)[2].tolist()}
        self.table[[pair in apart for pair in zip(i.tolist(), j.tolist())]] = np.inf

    def columns(self):
        means = linkage_means.means_of(self.X, self.clues)
        return means._replace(size=self.size.copy())


@st.composite
def draws(draw):
    m = draw(st.integers(3, 20))
    return Drawn(draw(st.integers(0, 2**16)), m, draw(st.integers(0, 2 * m)), draw(st.sampled_from([1, 2, 3, 6])))


def same_tree(found, m, ordered=False):
    """The same heights and the same partition at every level."""
    fast, plain = (tree_of(np.arange(m), merges, ordered=ordered) for merges in found)
    assert (fast.k_max, fast.k_min) == (plain.k_max, plain.k_min)
    np.testing.assert_allclose(fast.heights, plain.heights, rtol=1e-9)
    for k in range(fast.k_min, m + 1):
        assert (level(fast, k) == level(plain, k)).all()


def unions(m):
    return np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m)


def run(kernel, *arrays, at, out, tail, count):
    """Call until there is nothing left to do."""
    calls = 0
    while at[0] > 0:
        assert kernel(*arrays, at, *out, *tail) is None
        calls += 1
    u = at[count]
    return Merges(*(array[:u] for array in out)), calls


@pytest.mark.parametrize("rule", [0, 1, 2, 3])
@given(draws(), st.sampled_from([1, 50, 10**9]))
def test_chain_pairs(rule, case, budget):
    found = []
    for module in (linkage, reference_linkage):
        m = case.m
        table = case.table.copy()
        if rule == 3:
            i, j = np.triu_indices(m, 1)
            table = table**2 * case.size[i] * case.size[j] / (case.size[i] + case.size[j])
        state = table, case.size.copy(), np.arange(m), np.empty(m, np.int64)
        merges, calls = run(
            module.chain_pairs, *state, at=np.array([m, 0, 0]), out=unions(m), tail=(rule, budget), count=2
        )
        found.append(merges)
        assert calls == 1 or (budget < 10**9 and module is linkage)
    same_tree(found, case.m)


@given(draws(), st.sampled_from([1, 50, 10**9]))
def test_chain_means(case, budget):
    found = []
    for module in (linkage, reference_linkage):
        m, given_ = case.m, case.columns()
        state = (
            *given_[:2],
            np.arange(m),
            np.arange(m),
            *given_[2:],
            np.empty(m),
            np.empty(m, np.int64),
        )
        merges, _ = run(module.chain_means, *state, at=np.array([m, 0, 0]), out=unions(m), tail=(budget,), count=2)
        found.append(merges)
    same_tree(found, case.m)


@given(draws(), st.sampled_from([1, 50, 10**9]), st.sampled_from([0.0, 0.7, 1.5, np.inf]), st.sampled_from([1, 4]))
def test_closest_means(case, budget, reach, blocks):
    """Screened by the triangle inequality or not, in blocks of any size."""
    found = []
    for module in (linkage_centers, reference_linkage_centers):
        m, given_ = case.m, case.columns()
        columns = list(linkage_means._columns(given_, reach))
        columns[-3], columns[-2] = np.empty((2, -(-m // blocks)))
        merges, _ = run(
            module.closest_means,
            *columns,
            at=np.array([1, m, m, 0, 0, 0]),
            out=unions(m),
            tail=(reach, budget),
            count=3,
        )
        found.append(merges)
    same_tree(found, case.m, ordered=True)


def test_many_words_of_bits():
    """More than 64 clusters that exclude others: bits of a union move to every word."""
    rng = np.random.default_rng(0)
    m = 200
    case = Drawn(1, m, 0)
    case.clues = Clues(m, cannot=np.sort([rng.choice(m, 2, replace=False) for _ in range(400)], axis=1))
    found = []
    for module in (linkage, reference_linkage):
        given_ = case.columns()
        assert given_.bits.shape[1] > 2
        state = (*given_[:2], np.arange(m), np.arange(m), *given_[2:], np.empty(m), np.empty(m, np.int64))
        merges, _ = run(module.chain_means, *state, at=np.array([m, 0, 0]), out=unions(m), tail=(10**9,), count=2)
        found.append(merges)
    same_tree(found, m)
    assert tree_of(np.arange(m), found[0]).k_min > 2


def test_screening_saves_distances():
    """Two distant groups: centers of one are never compared with those of the other."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(256, 2)), rng.normal(size=(256, 2)) + np.array([0, 100])])
    computed = {}
    for reach in (5.0, np.inf):
        at = np.array([1, 512, 512, 0, 0, 0])
        columns = linkage_means._columns(linkage_means.means_of(X, Clues(512)), reach)
        run(linkage_centers.closest_means, *columns, at=at, out=unions(512), tail=(reach, 10**9), count=3)
        computed[reach] = at[5]
    assert computed[5.0] < 0.6 * computed[np.inf]
    assert computed[np.inf] == pytest.approx(512**2, rel=0.6)
