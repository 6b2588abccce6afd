"""Boosting: pairs that a weak partition gets wrong weigh more in the next round; the steps of both boosting methods.

`BoostCluster` keeps a kernel on the linked pairs only and shows a clusterer the directions in which links that are
still wrong come right. `DistBoost` keeps a weight for each linked pair and one number for all other pairs of rows.
Every link is listed once here; sums over both orders of a pair are doubled where a formula asks for them.
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
    "paired",
    "projected",
    "reweighted",
    "row_weights",
    "same_cluster",
    "shares",
    "sign_pairs",
    "step_size",
    "strength",
    "whitening",
]

DENSE = 2000
"""Clusters of all partitions together up to which the eigenvectors of the kernel come from a dense matrix."""

RIDGE = 1e-2
"""What is added to the scatter matrix of the generalized projection, as a share of the mean variance of a column."""

ROUNDING = 1e-9
"""A weight or an edge of a partition that is as good as none."""

CLIP = 1 - 1e-6
"""Largest edge of a weak distance; 1 would make its weight infinite."""


# ---- BoostCluster -------------------------------------------------------------------------------------------------


def shares(weight: Floats, exponent: Floats) -> tuple[Floats, float]:
    """Weights times exp(exponent), scaled to a sum of 1, and the log of twice that sum; zeros without any weight."""
    some = weight > 0
    if not some.any():
        return np.zeros(len(weight)), 0.0
    top = float(exponent[some].max())
    found = np.where(some, weight * np.exp(np.minimum(exponent - top, 0)), 0.0)
    total = float(found.sum())
    return found / total, top + float(np.log(2 * total))


def losses(links: PairGraph, kernel: Floats, mean: float) -> float:
    """Log of Eq. 38, (Σ S⁺e^−K)(Σ S⁻e^K); for a kind of links that is missing its mean over all pairs stands in."""
    together = shares(links.must, -kernel)[1] if links.must.any() else -mean
    return together + (shares(links.cannot, kernel)[1] if links.cannot.any() else mean)


def mean_of(rows: Rows) -> Floats:
    """Mean of the rows relative to their shift, in double precision."""
    total = np.zeros(rows.d)
    for part in map_blocks(lambda block: rows.dense(block).sum(axis=0, dtype=np.float64), rows.blocks(1)):
        total += part
    return total / rows.n


def whitening(rows: Rows, mean: Floats) -> Floats:
    """(d, d) matrix R with R Rᵀ = (XᵀX/n + ridge)⁻¹ for centered X: the generalized problem is plain in X R."""

    def work(block: slice) -> Floats:
        x = rows.dense(block) - mean
        return x.T @ x

    scatter = sum(map_blocks(work, rows.blocks(rows.d)), np.zeros((rows.d, rows.d))) / rows.n
    ridge = RIDGE * np.trace(scatter) / rows.d
    scatter[np.diag_indices(rows.d)] += ridge if ridge > 0 else 1.0
    lower = cho_factor(scatter, lower=True)[0]
    return solve_triangular(lower, np.eye(rows.d), lower=True).T


def frame(tied: Floats, back: Floats | None = None) -> tuple[Floats, Floats | None]:
    """Linked rows in at most as many coordinates as there are rows, and the axes (d, r) of these; None: as they are."""
    seen = tied if back is None else tied @ back
    if len(tied) >= tied.shape[1]:
        return seen, back
    axes = qr(seen.T, mode="economic")[0]
    return seen @ axes, axes if back is None else back @ axes


def directions(seen: Floats, ends: Ints, force: Floats, most: int | None) -> Floats:
    """(r, s) eigenvectors of Xᵀ T X times the roots of their eigenvalues, the largest ``most`` positive ones.

    ``force`` is p − q on the links; one half of it is T_ij, the other T_ji.
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


def projected(rows: Rows, mean: Floats, onto: Floats) -> Floats:
    """The centered rows in given directions (d, s)."""
    out = np.empty((rows.n, onto.shape[1]))

    def work(block: slice) -> None:
        np.matmul(rows.dense(block) - mean, onto, out=out[block])

    for _ in map_blocks(work, rows.blocks(onto.shape[1])):
        continue
    return out


def rescaled(table: Floats, scatter: float) -> Floats:
    """The table times a number that gives it this summed square, in place.

    So parameters of a clusterer that have a unit, such as a radius, mean in a projection what they mean in the data.
    """
    own = float(np.einsum("ij,ij->", table, table))
    if own > 0 and scatter > 0:
        table *= np.sqrt(scatter / own)
    return table


def same_cluster(links: PairGraph, labels: Ints) -> Bools:
    """Which links have both ends in one cluster; rows of noise (−1) are each alone."""
    first, second = labels[links.rows[links.ends]].T
    return (first == second) & (first >= 0)


def agreement(links: PairGraph, labels: Ints) -> float:
    """P₁ − Q₁ of the links as given: the share of must-links that hold less that of cannot-links that do not."""
    together = same_cluster(links, labels)
    p1, q1 = (weight[together].sum() / weight.sum() if weight.any() else chance(labels) for weight in links[2:4])
    return float(p1 - q1)


def chance(labels: Ints) -> float:
    """Share of all ordered pairs of rows that are in one cluster; a row of noise (−1) is alone."""
    counts = np.bincount(labels[labels >= 0]).astype(np.float64)
    noise = len(labels) - float(counts.sum())
    return (float(counts @ counts) + noise) / len(labels) ** 2


def step_size(links: PairGraph, p: Floats, q: Floats, together: Bools, at_random: float) -> float:
    """α = ½ log(P₁Q₀ / P₀Q₁), or 0 for a partition that is of no use.

    Odds are bounded, so that a partition without fault has a finite weight. Where one kind of links is missing all
    pairs of rows stand in, with equal weights, and the step that lowers the loss most is twice as long.
    """
    m, c = (int(np.count_nonzero(weight)) for weight in (links.must, links.cannot))
    p1 = float(p[together].sum()) if m else at_random
    q1 = float(q[together].sum()) if c else at_random
    # The sum over links that are apart, instead of 1 minus the others: no digits are lost when it is small.
    q0 = float(q[~together].sum()) if c else 1 - at_random
    if p1 <= q1 or not q0:
        return 0.0
    p0 = float(p[~together].sum()) if m else 1 - at_random
    found = float(np.log(_odds(p1, p0, m)) + np.log(_odds(q0, q1, c))) / (2 if m and c else 1)
    return found if found > ROUNDING else 0.0


def _odds(good: float, bad: float, links: int) -> float:
    """At most 2·links + 1, which is what half a link more on either side makes of good = 1, bad = 0."""
    return good / bad if not links or good < (2 * links + 1) * bad else 2 * links + 1


def embedding(partitions: list[Ints], alphas: Floats, most: int) -> Floats:
    """Leading eigenvectors of K = Σ α_t [same cluster in t], times the roots of their eigenvalues; K is never made.

    They are the left singular vectors of the one-hot rows of all partitions, scaled by √α_t; noise (−1) has none.
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
    """The linked pairs with +1 for together and −1 for apart; a pair may be in it with both."""

    rows: Ints  # (t,) the linked rows
    ends: Ints  # (m, 2) places among them
    sign: Floats  # (m,)
    others: Ints  # (t,) how many rows each linked row has no link to, itself included
    n: int
    unknown: float  # ordered pairs of all rows without a link, each row with itself included


class Weights(NamedTuple):
    """Weights of ordered pairs, which sum to 1."""

    linked: Floats  # (m,) each stands for two ordered pairs
    other: float  # of every pair without a link


def sign_pairs(links: PairGraph, n: int) -> SignedPairs:
    """Pairs with a sign; one that is linked both ways makes two of them."""
    must, cannot = np.flatnonzero(links.must), np.flatnonzero(links.cannot)
    which = np.concatenate([must, cannot])
    sign = np.repeat([1.0, -1.0], [len(must), len(cannot)])
    partners = np.bincount(links.ends.ravel(), minlength=len(links.rows))
    return SignedPairs(links.rows, links.ends[which], sign, n - partners, n, float(n) ** 2 - 2 * len(links.ends))


def begin(pairs: SignedPairs, weight: Floats) -> Weights:
    """First weights: 1/n² each, but for the weights of links, scaled to a sum of 1."""
    total = 2 * float(weight.sum()) + pairs.unknown
    return Weights(weight / total, 1 / total)


def row_weights(pairs: SignedPairs, weights: Weights) -> Floats:
    """n·ω_i for every row, where ω_i = Σ_j W_ij; they sum to n."""
    omega = np.full(pairs.n, pairs.n * weights.other)
    mine = np.bincount(pairs.ends.ravel(), weights=np.repeat(weights.linked, 2), minlength=len(pairs.rows))
    omega[pairs.rows] = mine + pairs.others * weights.other
    return omega * pairs.n


def strength(posterior: Floats) -> tuple[Ints, Floats]:
    """The likeliest cluster of each row and how likely it is, from (rows, k) memberships."""
    best = posterior.argmax(axis=1)
    return best.astype(np.int32), posterior[np.arange(len(best)), best]


def paired(first: tuple[Array, Array], second: tuple[Array, Array]) -> Floats:
    """Weak similarity of pairs: ± the product of both strengths, + where the clusters agree (erratum E28)."""
    return np.where(first[0] == second[0], 1.0, -1.0) * first[1] * second[1]


def edge(pairs: SignedPairs, weights: Weights, found: Floats) -> float:
    """Σ W_ij y_ij h_ij over the linked pairs, both ways: with their labels y (erratum E26)."""
    return 2 * float((weights.linked * pairs.sign) @ found)


def pair_loss(pairs: SignedPairs, first: Floats, votes: Floats) -> float:
    """Mean of exp(−y Σ α h) over the linked pairs with their first weights, which sum to 1: 1 without votes."""
    return float(first @ np.exp(-pairs.sign * votes))


def mass_of(weights: Weights) -> float:
    """Weight of all linked pairs together, both ways: the largest edge that there can be."""
    return 2 * float(weights.linked.sum())


def reweighted(pairs: SignedPairs, weights: Weights, found: Floats, alpha: float, decay: float) -> Weights:
    """W·exp(−α y h) for linked pairs, W·exp(−λα) for the others (erratum E27), scaled to a sum of 1."""
    mine = weights.linked * np.exp(-alpha * pairs.sign * found)
    other = weights.other * float(np.exp(-decay * alpha))
    total = 2 * float(mine.sum()) + pairs.unknown * other
    return Weights(mine / total, other / total)
