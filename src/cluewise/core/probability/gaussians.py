"""Gaussians: log densities and their estimates from memberships, for the four kinds of covariance.

Everything is done in blocks of rows and one cluster at a time, in double precision: beside the memberships nothing of
the size of X is made. Estimates are those of scikit-learn's ``GaussianMixture``, but squares are summed around the
means, so that no variance comes out negative. Means are relative to the shift of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from cluewise._typing import Floats
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks

__all__ = ["KINDS", "Gaussians", "block_log_densities", "estimate", "log_densities", "normalize", "prepared"]

KINDS = ("full", "tied", "diag", "spherical")

TRACE = 10 * float(np.finfo(np.float64).eps)
"""Mass of an empty cluster."""


class Gaussians(NamedTuple):
    """k Gaussians with what scoring rows needs."""

    kind: str
    means: Floats  # (k, d) relative to the shift
    covariances: Floats  # (k, d, d), (d, d), (k, d) or (k,)
    factors: Floats  # of the same shape: F Fᵀ is the precision
    log_dets: Floats  # (k,) of the factors

    def factor(self, h: int) -> Any:
        """Of one cluster: a matrix, a row or a number."""
        return self.factors if self.kind == "tied" else self.factors[h]


def prepared(kind: str, means: Floats, covariances: Floats) -> Gaussians:
    """Gaussians of given moments, ready to score rows."""
    if not np.isfinite(covariances).all():
        raise ValueError("the covariance of a cluster is too large for floating point; scale the columns of X.")
    d = means.shape[1]
    if kind in ("diag", "spherical"):
        if not (covariances > 0).all():
            raise _collapsed(int(np.argwhere(~(covariances > 0))[0, 0]))
        factors = 1 / np.sqrt(covariances)
        log_dets = np.log(factors).sum(axis=1) if kind == "diag" else d * np.log(factors)
        return Gaussians(kind, means, covariances, factors, log_dets)
    stack = covariances.reshape(-1, d, d)
    factors = np.empty_like(stack)
    for h, covariance in enumerate(stack):
        try:
            lower = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            raise _collapsed(h) from None
        factors[h] = solve_triangular(lower, np.eye(d), lower=True).T
    log_dets = np.log(np.einsum("hjj->hj", factors)).sum(axis=1)
    return Gaussians(
        kind, means, covariances, factors.reshape(covariances.shape), np.broadcast_to(log_dets, len(means))
    )


def _collapsed(h: int) -> ValueError:
    return ValueError(
        f"the covariance of cluster {h} is singular: its rows are too few or do not vary; "
        "raise reg_covar, lower n_clusters, scale X or choose a simpler covariance_type."
    )


def log_densities(rows: Rows, gaussians: Gaussians, out: Floats) -> None:
    """Log density of every row under every Gaussian, into ``out`` (k, n)."""

    def work(block: slice) -> None:
        block_log_densities(rows, gaussians, block, out[:, block])

    for _ in map_blocks(work, rows.blocks(len(gaussians.means))):
        continue


def block_log_densities(rows: Rows, gaussians: Gaussians, block: Any, out: Floats) -> None:
    """The same for one block of rows, (k, rows)."""
    x = rows.dense(block).astype(np.float64, copy=False)
    for h, mean in enumerate(gaussians.means):
        factor = gaussians.factor(h)
        if gaussians.kind in ("full", "tied"):
            y = x @ factor
            y -= mean @ factor
        else:
            y = x - mean
            y *= factor
        np.einsum("ij,ij->i", y, y, out=out[h])
    out *= -0.5
    out += (gaussians.log_dets - 0.5 * rows.d * np.log(2 * np.pi))[:, None]


def normalize(joint: Floats) -> Floats:
    """Turn (k, rows) logs into memberships that sum to 1, in place; returns the log of what they summed to."""
    top = joint.max(axis=0)
    joint -= top
    np.exp(joint, out=joint)
    total = joint.sum(axis=0)
    joint /= total
    return top + np.log(total, out=total)


def estimate(rows: Rows, members: Floats, kind: str, reg_covar: float) -> Gaussians:
    """The Gaussians that explain the rows best, given memberships (k, n), and ``reg_covar`` on the diagonal."""
    k, d = len(members), rows.d
    mass, sums = np.zeros(k), np.zeros((k, d))
    for some_mass, some_sums in map_blocks(lambda block: _moments(rows, members, block), rows.blocks(k)):
        mass += some_mass
        sums += some_sums
    # As in scikit-learn every cluster has a trace of mass, here at the mean of all rows: so an empty one has a place
    # that does not depend on where the origin is.
    sums += TRACE * sums.sum(axis=0) / mass.sum()
    mass += TRACE
    means = sums / mass[:, None]
    square = kind in ("full", "tied")
    covariances = np.zeros((k, d, d) if kind == "full" else (d, d) if kind == "tied" else (k, d))
    for h, part in _scatters(rows, members, means, square):
        if kind == "tied":
            covariances += part
        else:
            covariances[h] += part
    covariances /= mass.sum() if kind == "tied" else mass.reshape((k,) + (1,) * (covariances.ndim - 1))
    if square:
        covariances.reshape(-1, d * d)[:, :: d + 1] += reg_covar
    else:
        covariances += reg_covar
    return prepared(kind, means, covariances.mean(axis=1) if kind == "spherical" else covariances)


def _moments(rows: Rows, members: Floats, block: slice) -> tuple[Floats, Floats]:
    weighted = _weighted(rows, members[:, block], block)
    return weighted.sum(axis=1), weighted @ rows.dense(block).astype(np.float64, copy=False)


def _weighted(rows: Rows, members: Floats, block: slice) -> Floats:
    return members if rows.weight is None else members * rows.weights(block)


def _scatters(rows: Rows, members: Floats, means: Floats, square: bool) -> Iterator[tuple[int, Floats]]:
    """Σ r (x − mean)(x − mean)ᵀ of each cluster, or its diagonal, a block of rows at a time, in a fixed order."""

    def work(task: tuple[int, slice]) -> tuple[int, Floats]:
        h, block = task
        x = rows.dense(block).astype(np.float64, copy=False) - means[h]
        weight = _weighted(rows, members[h, block], block)
        if not square:
            x *= x
            return h, weight @ x
        x *= np.sqrt(weight)[:, None]
        return h, x.T @ x

    blocks = rows.blocks(1)
    yield from map_blocks(work, [(h, block) for h in range(len(means)) for block in blocks], 1)
