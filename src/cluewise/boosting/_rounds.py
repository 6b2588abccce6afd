"""Steps of both boosting methods: pairs that a weak partition gets wrong have a larger weight in the next round.

`BoostCluster` keeps a kernel on the linked pairs only, and projects rows onto directions in which links that are
still broken would hold. `DistBoost` keeps a weight for each linked pair and one number for all other pairs of rows.
Each link is listed once; where a formula sums over ordered pairs, sums are doubled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, eigh, qr, solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks
from cluewise.core.views import PairGraph

__all__ = [
    "SignedPairs",
    "Weights",
    "agreement",
    "begin",
    "chance",
    "directions",
    "edge",
    "embedding",
    "frame",
    "losses",
    "mass_of",
    "mean_of",
    "pair_loss",
    "project",
    "rescale",
    "reweight",
    "row_weights",
    "same_cluster",
    "shares",
    "sign_pairs",
    "step_size",
    "strength",
    "weak_similarity",
    "whitening",
]

DENSE = 2000
"""Total number of clusters of all partitions up to which eigenvectors of the kernel use a dense solver."""

RIDGE = 1e-2
"""Added to the diagonal of the scatter matrix in the generalized projection, as a share of its mean."""

ROUNDING = 1e-9
"""Weights and edges of a partition up to this count as zero."""

CLIP = 1 - 1e-6
"""Largest edge of a weak distance: its weight would be infinite for 1."""


# ---- BoostCluster -------------------------------------------------------------------------------------------------


def shares(weight: Floats, exponent: Floats) -> tuple[Floats, float]:
    """Weights times exp(exponent), scaled to sum to 1, and the log of twice the unscaled sum; zeros if all are zero."""
    some = weight > 0
    if not some.any():
        return np.zeros(len(weight)), 0.0
    top = float(exponent[some].max())
    found = np.where(some, weight * np.exp(np.minimum(exponent - top, 0)), 0.0)
    total = float(found.sum())
    return found / total, top + float(np.log(2 * total))


def losses(links: PairGraph, kernel: Floats, mean: float) -> float:
    """Log of Eq. 38, (Σ S⁺e^−K)(Σ S⁻e^K); the mean of K over all pairs replaces a missing kind of links."""
    together = shares(links.must, -kernel)[1] if links.must.any() else -mean
    return together + (shares(links.cannot, kernel)[1] if links.cannot.any() else mean)


def mean_of(rows: Rows) -> Floats:
    """Mean of the rows relative to their shift, in double precision."""
    total = np.zeros(rows.d)
    for part in map_blocks(lambda block: rows.dense(block).sum(axis=0, dtype=np.float64), rows.blocks(1)):
        total += part
    return total / rows.n


def whitening(rows: Rows, mean: Floats) -> Floats:
    """(d, d) matrix R with R Rᵀ = (XᵀX/n + ridge)⁻¹ for centered X: the plain problem in X R is the generalized one."""

    def work(block: slice) -> Floats:
        x = rows.dense(block) - mean
        return x.T @ x

    scatter = sum(map_blocks(work, rows.blocks(rows.d)), np.zeros((rows.d, rows.d))) / rows.n
    ridge = RIDGE * np.trace(scatter) / rows.d
    scatter[np.diag_indices(rows.d)] += ridge if ridge > 0 else 1.0
    lower = cho_factor(scatter, lower=True)[0]
    return solve_triangular(lower, np.eye(rows.d), lower=True).T


def frame(tied: Floats, back: Floats | None = None) -> tuple[Floats, Floats | None]:
    """Linked rows in at most as many coordinates as rows, and the (d, r) axes of these; None for the original axes."""
    seen = tied if back is None else tied @ back
    if len(tied) >= tied.shape[1]:
        return seen, back
    axes = qr(seen.T, mode="economic")[0]
    return seen @ axes, axes if back is None else back @ axes


def directions(seen: Floats, ends: Ints, force: Floats, most: int | None) -> Floats:
    """(r, s) eigenvectors of Xᵀ T X times the roots of their eigenvalues, for up to ``most`` positive eigenvalues.

    ``force`` is p − q on the links; half of it is T_ij, the other half T_ji.
    """
    t = len(seen)
    half = csr_array((force, (ends[:, 0], ends[:, 1])), shape=(t, t))
    product = seen.T @ (half @ seen)
    values, vectors = eigh((product + product.T) / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    tiny = 1e-12 * max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
    kept = int(np.count_nonzero(values > tiny))
    kept = kept if most is None else min(kept, most)
    return vectors[:, :kept] * np.sqrt(values[:kept])


def project(rows: Rows, mean: Floats, onto: Floats) -> Floats:
    """Project the centered rows onto (d, s) directions."""
    out = np.empty((rows.n, onto.shape[1]))

    def work(block: slice) -> None:
        np.matmul(rows.dense(block) - mean, onto, out=out[block])

    for _ in map_blocks(work, rows.blocks(onto.shape[1])):
        continue
    return out


def rescale(table: Floats, scatter: float) -> Floats:
    """Scale a table in place such that its sum of squares is ``scatter``.

    Parameters of a clusterer that have a unit, such as a radius, then mean the same in a projection as in the data.
    """
    own = float(np.einsum("ij,ij->", table, table))
    if own > 0 and scatter > 0:
        table *= np.sqrt(scatter / own)
    return table


def same_cluster(links: PairGraph, labels: Ints) -> Bools:
    """Which links have both ends in the same cluster; each noise row (−1) is alone."""
    first, second = labels[links.rows[links.ends]].T
    return (first == second) & (first >= 0)


def agreement(links: PairGraph, labels: Ints) -> float:
    """P₁ − Q₁ with the given weights: the share of satisfied must-links minus that of broken cannot-links."""
    together = same_cluster(links, labels)
    p1, q1 = (weight[together].sum() / weight.sum() if weight.any() else chance(labels) for weight in links[2:4])
    return float(p1 - q1)


def chance(labels: Ints) -> float:
    """Share of all ordered pairs of rows that are in the same cluster; each noise row (−1) is alone."""
    counts = np.bincount(labels[labels >= 0]).astype(np.float64)
    noise = len(labels) - float(counts.sum())
    return (float(counts @ counts) + noise) / len(labels) ** 2


def step_size(links: PairGraph, p: Floats, q: Floats, together: Bools, at_random: float) -> float:
    """α = ½ log(P₁Q₀ / P₀Q₁), or 0 for a partition that does not help.

    Odds are bounded, so that a perfect partition has a finite weight. If one kind of links is missing, all pairs of
    rows replace it, with equal weights; the best step is then twice as long.
    """
    m, c = (int(np.count_nonzero(weight)) for weight in (links.must, links.cannot))
    p1 = float(p[together].sum()) if m else at_random
    q1 = float(q[together].sum()) if c else at_random
    # Summed directly: 1 − q1 would lose digits when it is small.
    q0 = float(q[~together].sum()) if c else 1 - at_random
    if p1 <= q1 or not q0:
        return 0.0
    p0 = float(p[~together].sum()) if m else 1 - at_random
    found = float(np.log(_odds(p1, p0, m)) + np.log(_odds(q0, q1, c))) / (2 if m and c else 1)
    return found if found > ROUNDING else 0.0


def _odds(good: float, bad: float, links: int) -> float:
    """Odds, at most 2·links + 1: the odds of good = 1, bad = 0 after adding half a link to both."""
    return good / bad if not links or good < (2 * links + 1) * bad else 2 * links + 1


def embedding(partitions: list[Ints], alphas: Floats, most: int) -> Floats:
    """Leading eigenvectors of K = Σ α_t [same cluster in t], times the roots of their eigenvalues.

    K is never computed: these are the left singular vectors of the one-hot encoded partitions, scaled by √α_t. The
    encoding of noise (−1) is zero.
    """
    n = len(partitions[0])
    codes, values, offset = [], [], 0
    for labels, alpha in zip(partitions, alphas, strict=True):
        codes.append(np.where(labels >= 0, labels, 0) + offset)
        values.append(np.where(labels >= 0, np.sqrt(alpha), 0.0))
        offset += int(labels.max(initial=0)) + 1
    row = np.tile(np.arange(n), len(partitions))
    one_hot = csr_array((np.concatenate(values), (row, np.concatenate(codes))), shape=(n, offset))
    if offset <= DENSE:
        squares, vectors = eigh((one_hot.T @ one_hot).toarray())
        squares, vectors = squares[::-1], vectors[:, ::-1]
    else:
        roots, right = svds(one_hot, k=min(most, min(one_hot.shape) - 1), v0=np.ones(min(one_hot.shape)))[1:]
        squares, vectors = roots[::-1] ** 2, right[::-1].T
    kept = max(min(int(np.count_nonzero(squares > 1e-12 * squares[0])), most), 1)
    return one_hot @ vectors[:, :kept]


# ---- DistBoost ----------------------------------------------------------------------------------------------------


class SignedPairs(NamedTuple):
    """The linked pairs with signs, +1 for together and −1 for apart; a pair may occur with both."""

    rows: Ints  # (t,) the linked rows
    ends: Ints  # (m, 2) positions among them
    sign: Floats  # (m,)
    others: Ints  # (t,) number of rows that each linked row has no link to, including itself
    n: int
    unknown: float  # number of ordered pairs without a link, including each row with itself


class Weights(NamedTuple):
    """Weights of ordered pairs; they sum to 1."""

    linked: Floats  # (m,) weight of each of the two ordered pairs
    other: float  # weight of every pair without a link


def sign_pairs(links: PairGraph, n: int) -> SignedPairs:
    """The linked pairs with signs; a pair with both kinds of links occurs twice."""
    must, cannot = np.flatnonzero(links.must), np.flatnonzero(links.cannot)
    which = np.concatenate([must, cannot])
    sign = np.repeat([1.0, -1.0], [len(must), len(cannot)])
    partners = np.bincount(links.ends.ravel(), minlength=len(links.rows))
    return SignedPairs(links.rows, links.ends[which], sign, n - partners, n, float(n) ** 2 - 2 * len(links.ends))


def begin(pairs: SignedPairs, weight: Floats) -> Weights:
    """Initial weights: equal, except that linked pairs are multiplied by the weights of their links."""
    total = 2 * float(weight.sum()) + pairs.unknown
    return Weights(weight / total, 1 / total)


def row_weights(pairs: SignedPairs, weights: Weights) -> Floats:
    """n·ω_i for every row, where ω_i = Σ_j W_ij; they sum to n."""
    omega = np.full(pairs.n, pairs.n * weights.other)
    mine = np.bincount(pairs.ends.ravel(), weights=np.repeat(weights.linked, 2), minlength=len(pairs.rows))
    omega[pairs.rows] = mine + pairs.others * weights.other
    return omega * pairs.n


def strength(posterior: Floats) -> tuple[Ints, Floats]:
    """The most likely cluster of each row and its probability, from (rows, k) memberships."""
    best = posterior.argmax(axis=1)
    return best.astype(np.int32), posterior[np.arange(len(best)), best]


def weak_similarity(first: tuple[Array, Array], second: tuple[Array, Array]) -> Floats:
    """Weak similarity of pairs: ± the product of both strengths, + where the clusters agree (erratum E28)."""
    return np.where(first[0] == second[0], 1.0, -1.0) * first[1] * second[1]


def edge(pairs: SignedPairs, weights: Weights, found: Floats) -> float:
    """Σ W_ij y_ij h_ij over the ordered linked pairs, including their labels y (erratum E26)."""
    return 2 * float((weights.linked * pairs.sign) @ found)


def pair_loss(pairs: SignedPairs, first: Floats, votes: Floats) -> float:
    """Mean of exp(−y Σ α h) over the linked pairs, with their initial weights; 1 without votes."""
    return float(first @ np.exp(-pairs.sign * votes))


def mass_of(weights: Weights) -> float:
    """Total weight of the ordered linked pairs: the largest possible edge."""
    return 2 * float(weights.linked.sum())


def reweight(pairs: SignedPairs, weights: Weights, found: Floats, alpha: float, decay: float) -> Weights:
    """W·exp(−α y h) for linked pairs, W·exp(−λα) for the others (erratum E27), scaled to sum to 1."""
    mine = weights.linked * np.exp(-alpha * pairs.sign * found)
    other = weights.other * float(np.exp(-decay * alpha))
    total = 2 * float(mine.sum()) + pairs.unknown * other
    return Weights(mine / total, other / total)
