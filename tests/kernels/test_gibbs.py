"""Every kernel of the Gibbs sampler does what its plain twin does; rank-one updates stay accurate."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import gammaln

from cluewise.clues import Clues
from cluewise.kernels import cholesky, gibbs, gibbs_counts, gibbs_normal
from cluewise.mixture._tvclust.gibbs_clusters import CountClusters, NormalClusters
from cluewise.mixture._tvclust.pair_evidence import gather_evidence
from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart
from twins import cholesky as reference_cholesky
from twins import gibbs as reference_gibbs
from twins import gibbs_counts as reference_gibbs_counts
from twins import gibbs_normal as reference_gibbs_normal

CHOLESKY = (cholesky, reference_cholesky)
SHARED = (gibbs, reference_gibbs)
NORMAL = (gibbs_normal, reference_gibbs_normal)
COUNTS = (gibbs_counts, reference_gibbs_counts)

seeds = st.integers(0, 2**16)


def same(found, twin):
    """Equal integers, close floats, in everything that two calls have written or returned."""
    for a, b in zip(found, twin, strict=True):
        if np.asarray(a).dtype.kind == "f":
            scale = np.abs(b).max(initial=1.0)
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-10 * scale)
        else:
            np.testing.assert_array_equal(a, b)


def factor_of(rng, d):
    """An upper factor, with rubbish below the diagonal that nobody may read."""
    x = rng.normal(size=(d + 2, d))
    return np.linalg.cholesky(x.T @ x + 0.1 * np.eye(d)).T + np.tril(np.full((d, d), 7.0), -1)


@given(seeds, st.integers(1, 8))
def test_rank_one_changes(seed, d):
    rng = np.random.default_rng(seed)
    upper, vector = factor_of(rng, d), rng.normal(size=d)
    found = []
    for module in CHOLESKY:
        up, v, w = upper.copy(), vector.copy(), vector.copy()
        squared = module.solve(up, w)
        module.update(up, v)
        down = up.copy()
        assert module.downdate(down, vector.copy())
        np.testing.assert_allclose(np.triu(down), np.triu(upper), rtol=1e-7, atol=1e-9)
        found.append((np.triu(up), np.triu(down), squared, w))
    same(*found)


@given(seeds, st.integers(1, 6))
def test_what_is_not_there_cannot_be_taken_away(seed, d):
    rng = np.random.default_rng(seed)
    upper = factor_of(rng, d)
    vector = rng.normal(size=d)
    for module in CHOLESKY:
        scaled = vector.copy()
        length = np.sqrt(module.solve(upper.copy(), scaled))
        assert not module.downdate(upper.copy(), vector * 1.001 / length)
        assert module.downdate(upper.copy(), vector * 0.999 / length)


def test_many_updates_lose_little():
    """Ten thousand rows come and go; the relative error of the determinant stays near rounding."""
    rng = np.random.default_rng(0)
    d = 6
    start = factor_of(rng, d)
    upper = start.copy()
    for _ in range(10_000):
        vector = rng.normal(size=d)
        cholesky.update(upper, vector.copy())
        assert cholesky.downdate(upper, vector.copy())
    np.testing.assert_allclose(np.triu(upper), np.triu(start), rtol=1e-9, atol=1e-10)


def links_of(rng, n, count):
    """Random reports, some of them about the same pair, with random pulls."""
    ends = np.sort(rng.integers(n, size=(count, 2)), axis=1)
    ends = ends[ends[:, 0] != ends[:, 1]]
    kind = rng.random(len(ends)) < 0.5
    pairs = gather_evidence(Clues(n, must=ends[kind], cannot=ends[~kind]))
    return pairs.indptr, pairs.neighbor, pairs.report, rng.normal(size=len(pairs)), np.zeros(len(pairs))


@given(seeds, st.integers(1, 12), st.integers(0, 20))
def test_draw(seed, n, count):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 4, size=n).astype(np.int32)
    links = links_of(rng, n, count)
    score = np.append(np.where(rng.random(4) < 0.4, -np.inf, 5 * rng.normal(size=4)), rng.normal())
    score[labels[labels >= 0]] = 0.0  # a cluster that has rows is possible
    uniform = rng.choice([0.0, rng.random(), 1 - 1e-16])
    found = []
    for module in SHARED:
        mine, out = deepcopy(links), score.copy()
        chosen = module.draw(int(rng.integers(1)), float(uniform), labels, *mine, out)
        found.append((chosen, out, mine[-1]))
    same(*found)
    assert found[0][1][found[0][0]] > 0


def test_draw_follows_the_scores():
    """Equal steps through the unit interval meet each cluster as often as its probability says."""
    none = np.zeros(2, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    labels = np.zeros(1, np.int32)
    share = np.array([0.2, 0.0, 0.5, 0.3])
    with np.errstate(divide="ignore"):
        chosen = [gibbs.draw(0, u, labels, *none, np.log(share) - 800) for u in (np.arange(1000) + 0.5) / 1000]
    np.testing.assert_allclose(np.bincount(chosen) / 1000, share, atol=2e-3)


@given(seeds, st.integers(1, 12), st.integers(0, 20), st.integers(-1, 1))
def test_choose_side(seed, n, count, wanted):
    rng = np.random.default_rng(seed)
    side = rng.integers(-1, 2, size=n).astype(np.int8)
    links = links_of(rng, n, count)[:4]
    score, uniform = 5 * rng.normal(size=3), float(rng.random())
    found = [module.choose_side(0, wanted, uniform, side, *links, score.copy()) for module in SHARED]
    same(*found)
    assert wanted in (-1, found[0][0])


@pytest.mark.parametrize("module", SHARED)
@pytest.mark.parametrize(
    ("counts", "own", "expected"),
    [
        ([2, 0, 1], -1, (1, 2)),
        ([2, 0, 1], 2, (2, 1)),
        ([2, 0, 1], 0, (1, 2)),
        ([1, 1], -1, (-1, 2)),
        ([1, 1], 1, (1, 1)),
        ([0, 0], -1, (0, 0)),
    ],
)
def test_vacancy(module, counts, own, expected):
    assert module.vacancy(np.array(counts), own) == expected


@given(seeds, st.integers(1, 12), st.integers(0, 15), st.integers(1, 5))
def test_visit_given(seed, n, count, limit):
    rng = np.random.default_rng(seed)
    slots = 5
    labels = rng.integers(-1, limit, size=n).astype(np.int32)
    counts = np.bincount(labels[labels >= 0], minlength=slots)
    rows, links = rng.permutation(n), links_of(rng, n, count)
    known, fresh, uniforms = rng.normal(size=(n, slots)), rng.normal(size=n), rng.random(n)
    start = int(rng.integers(n))
    found = []
    for module in SHARED:
        mine, new, left = deepcopy(links), labels.copy(), counts.copy()
        stop = module.visit_given(known, fresh, rows, start, uniforms, new, left, *mine, limit)
        found.append((stop, new, left, mine[-1]))
        np.testing.assert_array_equal(left, np.bincount(new[new >= 0], minlength=slots))
    same(*found)


@given(seeds, st.integers(1, 12), st.integers(1, 4), st.integers(0, 15), st.sampled_from([1, 2, 3, 99]))
def test_visit_normal(seed, n, d, count, limit):
    """Near and far rows, some in no cluster; with room, or too little of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 1e4], size=(n, 1))
    base = NormalInverseWishart(rng.normal(size=d), 0.3, np.eye(d) + 0.2, d + 1.0)
    labels = rng.integers(-1, min(3, limit), size=n).astype(np.int32)
    clusters = NormalClusters(X, base, 1.5, limit)
    fixed = clusters.prior, float(base.degrees), clusters.height, clusters.fresh
    rows, uniforms, links = rng.permutation(n), rng.random(n), links_of(rng, n, count)
    start, slots = int(rng.integers(n)), int(rng.integers(3, 6))
    found = []
    for module in NORMAL:
        tables = np.zeros(slots, np.int64), np.zeros((slots, d)), np.zeros((slots, d, d)), np.zeros(slots)
        mine, new = deepcopy(links), labels.copy()
        module.gather_normal(clusters.X, new, clusters.prior, *tables)
        gathered = [np.triu(a) if a.ndim == 3 else a.copy() for a in tables]
        stop = module.visit_normal(clusters.X, rows, start, uniforms, new, *fixed, *tables, *mine, limit)
        used = tables[0] > 0
        after = [np.triu(a[used]) if a.ndim == 3 else a[used] for a in tables]
        found.append((stop, new, mine[-1], *gathered, *after))
    same(*found)


def test_a_row_that_made_its_cluster_wide_can_leave_it():
    """Two near rows and one at a distance of 10⁹: nothing is left of the digits, so the cluster is gathered anew."""
    X = np.array([[0.0, 0.0], [1.0, 0.5], [1e9, 1e9]])
    base = NormalInverseWishart(np.zeros(2), 1.0, np.eye(2), 4.0)
    none = np.zeros(4, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    for uniform in (0.0, 1 - 1e-12):  # it stays, or opens a cluster
        found = []
        for module in NORMAL:
            clusters = NormalClusters(X, base, 1e-9 if uniform == 0 else 1e9, 3)
            labels = np.zeros(3, np.int32)
            tables = np.zeros(4, np.int64), np.zeros((4, 2)), np.zeros((4, 2, 2)), np.zeros(4)
            module.gather_normal(clusters.X, labels, clusters.prior, *tables)
            fixed = clusters.prior, 4.0, clusters.height, clusters.fresh
            rows, numbers = np.array([2]), np.array([uniform])
            module.visit_normal(clusters.X, rows, 0, numbers, labels, *fixed, *tables, *none, 3)
            used = tables[0] > 0
            found.append((labels, tables[0], tables[3][used]))
        same(*found)
        np.testing.assert_array_equal(found[0][0], [0, 0, 0] if uniform == 0 else [0, 0, 1])
        if uniform:
            left = NormalClusters(X[:2], base, 1.0, 3)
            left.gather(np.zeros(2, np.int32))
            assert found[0][2][0] == pytest.approx(left.half_log_det[0], rel=1e-12)


@given(seeds, st.integers(1, 12), st.integers(1, 5), st.integers(0, 15), st.sampled_from([1, 2, 3, 99]))
def test_visit_counts(seed, n, width, count, limit):
    """Whole and broken counts, small and large, rows without any."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.choice([0.2, 3.0, 200.0]), size=(n, width)) * rng.choice([1.0, 0.3])
    base = DirichletMultinomial(rng.choice([1e-3, 0.5, 2.0], size=width))
    labels = rng.integers(-1, min(3, limit), size=n).astype(np.int32)
    clusters = CountClusters(X, base, 1.5, limit)
    rows, uniforms, links = rng.permutation(n), rng.random(n), links_of(rng, n, count)
    start, slots = int(rng.integers(n)), int(rng.integers(3, 6))
    member = csr_array((labels[None, :] == np.arange(slots)[:, None]).astype(float))
    before = member.sum(axis=1).astype(np.int64), member @ X, member @ clusters.lengths
    found = []
    for module in COUNTS:
        tables, mine, new = deepcopy(before), deepcopy(links), labels.copy()
        fixed = clusters.prior, float(clusters.prior.sum()), clusters.fresh
        stop = module.visit_counts(
            clusters.cells, clusters.lengths, rows, start, uniforms, new, *fixed, *tables, *mine, limit
        )
        found.append((stop, new, mine[-1], *(a[tables[0] > 0] for a in tables)))
    same(*found)


@given(
    seeds, st.integers(2, 12), st.integers(1, 4), st.integers(0, 15), st.booleans(), st.sampled_from([NORMAL, COUNTS])
)
def test_split(seed, n, d, count, forced, modules):
    """Drawn or given sides: twins agree, and the gain is the log joint of two clusters less that of one."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    ends, rows = order[:2], order[2 : int(rng.integers(2, n + 1))]
    wanted = (rng.integers(2, size=len(rows)) if forced else np.full(len(rows), -1)).astype(np.int8)
    uniforms, links = rng.random(len(rows)), links_of(rng, n, count)[:4]
    if modules is NORMAL:
        clusters = NormalClusters(
            rng.normal(size=(n, d)), NormalInverseWishart(rng.normal(size=d), 0.3, np.eye(d) + 0.2, d + 1.0), 1.5, n
        )
        data, fixed = (clusters.X,), (clusters.prior, float(clusters.base.degrees), clusters.height, clusters.fresh)
    else:
        X = rng.poisson(3.0, size=(n, d)).astype(float)
        clusters = CountClusters(X, DirichletMultinomial(np.full(d, 0.5)), 1.5, n)
        data, fixed = (clusters.cells, clusters.lengths), (clusters.prior, float(clusters.prior.sum()), clusters.fresh)
    found = []
    for module, name in zip(modules, ["split_normal" if modules is NORMAL else "split_counts"] * 2):
        side = np.full(n, -1, np.int8)
        found.append((side, *getattr(module, name)(*data, ends, rows, wanted, uniforms, side, *fixed, *links)))
    same(*found)
    side, _, gain = found[0]
    assert (np.flatnonzero(side >= 0) == np.sort([*ends, *rows])).all()
    value = []
    indptr, neighbor, report, pull = links
    for labels in (side.astype(np.int32), np.where(side >= 0, 0, -1).astype(np.int32)):
        clusters.gather(labels)
        size = clusters.counts[clusters.counts > 0]
        first = np.repeat(np.arange(n), np.diff(indptr))
        near = (labels[first] >= 0) & (labels[first] == labels[neighbor])
        value.append(clusters.log_evidence() + (np.log(1.5) + gammaln(size)).sum() + pull[report][near].sum() / 2)
    assert gain == pytest.approx(value[0] - value[1], abs=1e-8)


@pytest.mark.parametrize("limit", [3, 9])
def test_full_tables_stop_the_visits_unless_no_cluster_may_be_opened(limit):
    """Three slots, three clusters of two rows: nobody can open a fourth."""
    labels, rows, uniforms = np.array([0, 0, 1, 1, 2, 2], np.int32), np.arange(6), np.full(6, 0.5)
    none = np.zeros(7, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    X = np.repeat([[0.0, 9.0], [9.0, 0.0], [4.0, 4.0]], 2, axis=0)
    normal = NormalClusters(X, NormalInverseWishart(np.zeros(2), 0.1, np.eye(2), 4.0), 1.0, limit)
    counts = CountClusters(X, DirichletMultinomial(np.full(2, 0.5)), 1.0, limit)
    for module in NORMAL:
        tables = np.zeros(3, np.int64), np.zeros((3, 2)), np.zeros((3, 2, 2)), np.zeros(3)
        module.gather_normal(normal.X, labels, normal.prior, *tables)
        fixed = normal.prior, 4.0, normal.height, normal.fresh
        stop = module.visit_normal(normal.X, rows, 0, uniforms, labels.copy(), *fixed, *tables, *none, limit)
        assert stop == (6 if limit == 3 else 0)
    for module in COUNTS:
        tables = np.full(3, 2), np.array([[0.0, 18.0], [18.0, 0.0], [8.0, 8.0]]), np.array([18.0, 18.0, 16.0])
        fixed = counts.prior, 1.0, counts.fresh
        given_rows = counts.cells, counts.lengths, rows, 0, uniforms, labels.copy()
        assert module.visit_counts(*given_rows, *fixed, *tables, *none, limit) == (6 if limit == 3 else 0)
