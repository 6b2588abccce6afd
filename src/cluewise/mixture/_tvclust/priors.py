"""Conjugate priors of mixtures, and the posteriors given the rows of a cluster.

A *base* computes the sufficient statistics of weighted rows, the posterior given these statistics, and the likelihood
of rows in three forms: marginal (parameters integrated out), predictive (one more row) and expected (under the
posterior, for variational inference). All are vectorized over T clusters and take rows as a float64 matrix; the
multinomial base also takes CSR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import digamma, gammaln, multigammaln

from cluewise._typing import Floats, Ints
from cluewise.core.threads import map_blocks

__all__ = ["Base", "DirichletMultinomial", "Dirichlets", "Moments", "NormalInverseWishart", "NormalWisharts"]

ROWS = 2048
"""Rows per block, so that a block with its scores fits in the cache."""

ROOT_UNSEEN = 1e-7
"""Rows whose membership is below the square of this do not change the scatter of a cluster."""

FLAT = 1e-6
"""Minimum standard deviation of a column, as a share of the largest one: a constant column has no scale."""


class Moments(NamedTuple):
    """Weighted sufficient statistics of real rows in T clusters."""

    mass: Floats  # (T,) N_t
    mean: Floats  # (T, d), the prior mean where the mass is 0
    scatter: Floats  # (T, d, d) around the mean, not normalized


class NormalWisharts(NamedTuple):
    """T posteriors over a mean and a precision: Λ ~ Wishart(scatter⁻¹, degrees), μ ~ N(mean, (strength Λ)⁻¹)."""

    mean: Floats  # (T, d)
    strength: Floats  # (T,) κ
    degrees: Floats  # (T,) ν
    root: Floats  # (T, d, d) lower Cholesky factor of the scatter Ψ = W⁻¹
    log_det: Floats  # (T,) ln|Ψ|


class Dirichlets(NamedTuple):
    """T posteriors over the word probabilities of a cluster."""

    counts: Floats  # (T, V)


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + ROWS, n)) for start in range(0, n, ROWS)]


@dataclass(frozen=True, eq=False)
class NormalInverseWishart:
    """Clusters are Gaussians with any covariance: Σ ~ IW(scatter, degrees), μ | Σ ~ N(mean, Σ / strength).

    Parameters
    ----------
    mean : array of shape (d,)
        Where cluster means are expected, m₀.
    strength : float
        Weight of ``mean`` in rows, κ₀ (β₀ in texts on variational inference).
    scatter : array of shape (d, d)
        Ψ₀ = W₀⁻¹; covariances are expected at ``scatter / (degrees - d - 1)``.
    degrees : float
        Degrees of freedom ν₀, above d − 1.
    blur : array of shape (d,) or None
        Variance of the measurement error of each column; None for exact data. With a blur no cluster becomes narrower
        than that, however many equal rows it has. Only `statistics` and `expected_log_density` use it, that is,
        variational inference.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import NormalInverseWishart, TVClust
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [4.0, 5.0], [4.1, 5.2]])
    >>> wide = NormalInverseWishart.from_data(X, spread=0.8)
    >>> TVClust(2, base=wide, random_state=0).fit(X).labels_.shape
    (4,)
    """

    mean: Floats
    strength: float
    scatter: Floats
    degrees: float
    blur: Floats | None = None

    def __post_init__(self) -> None:
        d = len(self.mean)
        if self.scatter.shape != (d, d):
            raise ValueError(f"the prior scatter must have shape ({d}, {d}); got {self.scatter.shape}.")
        if not self.strength > 0:
            raise ValueError(f"the prior strength must be positive; got {self.strength}.")
        if not self.degrees > d - 1:
            raise ValueError(f"the prior degrees must be above d - 1 = {d - 1}; got {self.degrees}.")
        try:
            np.linalg.cholesky(self.scatter)
        except np.linalg.LinAlgError:
            raise ValueError("the prior scatter is not positive definite.") from None

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        strength: float = 0.1,
        degrees: float | None = None,
        spread: float = 0.5,
        resolution: float = 0.0,
    ) -> Self:
        """A prior on the scale of the data: on standardized columns m₀ = 0, Ψ₀ = (ν₀ − d − 1) · spread² · I.

        ``spread`` is the expected standard deviation within a cluster and ``resolution`` that of the blur, both as
        shares of that of the whole column; the prior has no correlations. By default κ₀ = 0.1 and ν₀ = 2d + 2, which
        gives the prior the weight of 2d rows. The standard deviation of constant columns is taken as a millionth of the
        largest one (1 if all are constant), so that results are defined and do not depend on units.
        """
        d = X.shape[1]
        deviation = X.std(axis=0, dtype=np.float64)
        widest = deviation.max(initial=0.0)
        deviation = np.maximum(deviation, FLAT * widest if widest > 0 else 1.0)
        nu = 2.0 * d + 2 if degrees is None else float(degrees)
        center = X.mean(axis=0, dtype=np.float64)
        blur = (resolution * deviation) ** 2 if resolution else None
        scatter = max(nu - d - 1, 1.0) * np.diag((spread * deviation) ** 2)
        return cls(center, float(strength), scatter, nu, blur)

    def statistics(self, X: Floats, weight: Floats) -> Moments:
        """Moments of the rows, row i counting ``weight[i, t]`` times in cluster t."""
        mass = weight.sum(axis=0)
        sums = np.zeros((len(mass), X.shape[1]))
        for part in map_blocks(lambda block: weight[block].T @ (X[block] - self.mean), _blocks(len(X))):
            sums += part
        mean = self.mean + sums / np.where(mass > 0, mass, 1.0)[:, None]
        scatter = self._scatter(X, weight, mean)
        if self.blur is not None:
            scatter += mass[:, None, None] * np.diag(self.blur)
        return Moments(mass, mean, scatter)

    def _scatter(self, X: Floats, weight: Floats, mean: Floats) -> Floats:
        def work(block: slice) -> Floats:
            x, root = X[block], np.sqrt(weight[block].T)
            out = np.empty((len(mean), *self.scatter.shape))
            for t, center in enumerate(mean):
                mine = np.flatnonzero(root[t] > ROOT_UNSEEN)
                few = 4 * len(mine) < len(x)  # otherwise selecting rows costs more than it saves
                moved = x[mine] - center if few else x - center
                moved *= (root[t][mine] if few else root[t])[:, None]
                out[t] = moved.T @ moved
            return out

        scatter = np.zeros((len(mean), *self.scatter.shape))
        for part in map_blocks(work, _blocks(len(X))):
            scatter += part
        return scatter

    def merge(self, moments: Moments, first: Ints, second: Ints) -> Moments:
        """Moments of the mergers of clusters ``first[p]`` and ``second[p]``."""
        one, two = moments.mass[first], moments.mass[second]
        mass = one + two
        share = two / np.where(mass > 0, mass, 1.0)
        away = moments.mean[second] - moments.mean[first]
        between = (one * share)[:, None, None] * away[:, :, None] * away[:, None, :]
        mean = moments.mean[first] + share[:, None] * away
        return Moments(mass, mean, moments.scatter[first] + moments.scatter[second] + between)

    def posterior(self, moments: Moments) -> NormalWisharts:
        """Posterior: κ = κ₀ + N, ν = ν₀ + N, m = (κ₀m₀ + N x̄)/κ, Ψ = Ψ₀ + S + (κ₀N/κ)(x̄ − m₀)(x̄ − m₀)ᵀ."""
        mass = moments.mass
        strength = self.strength + mass
        away = moments.mean - self.mean
        mean = self.mean + (mass / strength)[:, None] * away
        pull = (self.strength * mass / strength)[:, None, None]
        root = np.linalg.cholesky(self.scatter + moments.scatter + pull * away[:, :, None] * away[:, None, :])
        log_det = 2 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return NormalWisharts(mean, strength, self.degrees + mass, root, log_det)

    def prior(self) -> NormalWisharts:
        """The prior itself, as the posterior of one cluster without rows."""
        d = len(self.mean)
        return self.posterior(Moments(np.zeros(1), self.mean[None], np.zeros((1, d, d))))

    def means(self, posterior: NormalWisharts) -> Floats:
        """(T, d) expected means of clusters."""
        return posterior.mean

    def squared(self, X: Floats, posterior: NormalWisharts) -> Floats:
        """(n, T) array of (x − m)ᵀ Ψ⁻¹ (x − m)."""
        out = np.empty((len(X), len(posterior.mean)))
        d = X.shape[1]
        inverse = [solve_triangular(root, np.eye(d), lower=True) for root in posterior.root]

        def work(block: slice) -> None:
            for t, (mean, lower) in enumerate(zip(posterior.mean, inverse, strict=True)):
                whitened = (X[block] - mean) @ lower.T
                out[block, t] = np.einsum("ij,ij->i", whitened, whitened)

        for _ in map_blocks(work, _blocks(len(X))):
            continue
        return out

    def expected_log_density(self, X: Floats, posterior: NormalWisharts) -> Floats:
        """(n, T) array of ⟨ln N(x | μ, Λ⁻¹)⟩ = ½[⟨ln|Λ|⟩ − d/κ − ν (x−m)ᵀΨ⁻¹(x−m) − d ln 2π]."""
        d = X.shape[1]
        scores = self.squared(X, posterior)
        scores *= -0.5 * posterior.degrees
        level = self.log_precision(posterior) - d / posterior.strength - d * np.log(2 * np.pi)
        if self.blur is not None:
            whitened = np.array(
                [solve_triangular(root, np.diag(np.sqrt(self.blur)), lower=True) for root in posterior.root]
            )
            level -= posterior.degrees * np.einsum("tij,tij->t", whitened, whitened)  # ν tr(Ψ⁻¹ diag(blur))
        scores += 0.5 * level
        return scores

    def log_precision(self, posterior: NormalWisharts) -> Floats:
        """(T,) ⟨ln|Λ|⟩ = Σ_j ψ((ν + 1 − j)/2) + d ln 2 − ln|Ψ|."""
        d = len(self.mean)
        halves = 0.5 * (posterior.degrees[:, None] - np.arange(d))
        return digamma(halves).sum(axis=1) + d * np.log(2.0) - posterior.log_det

    def divergence(self, posterior: NormalWisharts) -> Floats:
        """(T,) KL(posterior ‖ prior), "prior θ" and "−ln q(θ)" of the bound with the opposite sign."""
        d, prior = len(self.mean), self.prior()
        kappa, nu = posterior.strength, posterior.degrees
        log_precision = self.log_precision(posterior)
        trace = np.empty(len(nu))
        away = np.empty(len(nu))
        for t, root in enumerate(posterior.root):
            whitened = solve_triangular(root, prior.root[0], lower=True)
            trace[t] = np.einsum("ij,ij->", whitened, whitened)  # tr(Ψ₀ Ψ⁻¹)
            shift = solve_triangular(root, posterior.mean[t] - self.mean, lower=True)
            away[t] = shift @ shift
        of_mean = 0.5 * (d * (np.log(kappa / self.strength) + self.strength / kappa - 1) + self.strength * nu * away)
        of_precision = _log_wishart(posterior.log_det, nu, d) - _log_wishart(prior.log_det[0], self.degrees, d)
        of_precision += 0.5 * (nu - self.degrees) * log_precision + 0.5 * nu * (trace - d)
        return of_mean + of_precision

    def log_marginal(self, moments: Moments) -> Floats:
        """(T,) log-likelihood of all rows of each cluster, parameters integrated out; weights count as copies."""
        d, prior, posterior = len(self.mean), self.prior(), self.posterior(moments)
        nu, kappa = posterior.degrees, posterior.strength
        value = multigammaln(0.5 * nu, d) - multigammaln(0.5 * self.degrees, d) - 0.5 * moments.mass * d * np.log(np.pi)
        value += 0.5 * self.degrees * prior.log_det - 0.5 * nu * posterior.log_det
        return value + 0.5 * d * np.log(self.strength / kappa)

    def log_predictive(self, X: Floats, posterior: NormalWisharts) -> Floats:
        """(n, T) Student-t density of one more row: ν − d + 1 degrees, location m, scale Ψ(κ+1)/(κ(ν−d+1))."""
        d = X.shape[1]
        kappa, degrees = posterior.strength, posterior.degrees - d + 1
        log_det = posterior.log_det + d * np.log((kappa + 1) / (kappa * degrees))
        value = np.log1p(self.squared(X, posterior) * (kappa / (kappa + 1)))
        value *= -0.5 * (degrees + d)
        value += gammaln(0.5 * (degrees + d)) - gammaln(0.5 * degrees) - 0.5 * (d * np.log(degrees * np.pi) + log_det)
        return value


def _log_wishart(log_det_scatter: Any, degrees: Any, d: int) -> Any:
    """Log normalizer: ln C(W, ν) = (ν/2) ln|Ψ| − (νd/2) ln 2 − ln Γ_d(ν/2), with Ψ = W⁻¹."""
    return 0.5 * degrees * (log_det_scatter - d * np.log(2.0)) - multigammaln(0.5 * np.asarray(degrees), d)


@dataclass(frozen=True, eq=False)
class DirichletMultinomial:
    """Clusters are distributions over V words: φ ~ Dirichlet(counts); a row is a vector of counts.

    The multinomial coefficient of a row is the same in every cluster and left out everywhere.

    Parameters
    ----------
    counts : array of shape (V,)
        Pseudo-counts of the words, β > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import DirichletMultinomial
    >>> DirichletMultinomial.from_data(np.array([[3, 0, 1], [0, 2, 2]])).counts
    array([0.5, 0.5, 0.5])
    """

    counts: Floats

    def __post_init__(self) -> None:
        if self.counts.ndim != 1 or not (self.counts > 0).all() or not np.isfinite(self.counts).all():
            raise ValueError("the prior counts must be positive and finite, one per column.")

    @classmethod
    def from_data(cls, X: Any, *, strength: float = 0.5) -> Self:
        """Strength β for every word (Jeffreys' ½ by default); it does not depend on the counts in X."""
        return cls(np.full(X.shape[1], float(strength)))

    def statistics(self, X: Any, weight: Floats) -> Floats:
        """(T, V) words of each kind in each cluster."""
        return np.asarray((X.T @ weight).T)

    def merge(self, words: Floats, first: Ints, second: Ints) -> Floats:
        """Words of the mergers of clusters ``first[p]`` and ``second[p]``."""
        return words[first] + words[second]

    def posterior(self, words: Floats) -> Dirichlets:
        """Posterior: β + words."""
        return Dirichlets(self.counts + words)

    def prior(self) -> Dirichlets:
        """The prior itself, as the posterior of one cluster without rows."""
        return Dirichlets(self.counts[None])

    def means(self, posterior: Dirichlets) -> Floats:
        """(T, V) expected probabilities of words."""
        return posterior.counts / posterior.counts.sum(axis=1, keepdims=True)

    def expected_log_density(self, X: Any, posterior: Dirichlets) -> Floats:
        """(n, T) array of Σ_j x_j (ψ(b_tj) − ψ(Σ_l b_tl))."""
        counts = posterior.counts
        return np.asarray(X @ (digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))).T)

    def divergence(self, posterior: Dirichlets) -> Floats:
        """(T,) KL(posterior ‖ prior)."""
        counts, total = posterior.counts, posterior.counts.sum(axis=1)
        value = gammaln(total) - gammaln(self.counts.sum()) + (gammaln(self.counts) - gammaln(counts)).sum(axis=1)
        return value + ((counts - self.counts) * (digamma(counts) - digamma(total)[:, None])).sum(axis=1)

    def log_marginal(self, words: Floats) -> Floats:
        """(T,) log-likelihood of all rows of each cluster, φ integrated out."""
        total = self.counts.sum()
        value = gammaln(total) - gammaln(total + words.sum(axis=1))
        return value + (gammaln(self.counts + words) - gammaln(self.counts)).sum(axis=1)

    def log_predictive(self, X: Any, posterior: Dirichlets) -> Floats:
        """(n, T) ln Γ(A) − ln Γ(A + N) + Σ_j [ln Γ(a_j + x_j) − ln Γ(a_j)] of one more row."""
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        out = np.empty((len(dense), len(posterior.counts)))
        length = dense.sum(axis=1)
        for t, counts in enumerate(posterior.counts):
            total = counts.sum()
            out[:, t] = (
                gammaln(total) - gammaln(total + length) + (gammaln(counts + dense) - gammaln(counts)).sum(axis=1)
            )
        return out


Base = NormalInverseWishart | DirichletMultinomial
"""Either base; both offer the same methods."""
