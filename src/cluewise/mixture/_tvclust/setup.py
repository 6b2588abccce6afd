"""Input of TVClust, prepared once for all starts: rows, reports and priors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats
from cluewise.clues import Clues
from cluewise.mixture._tvclust.gibbs import GibbsDraws
from cluewise.mixture._tvclust.moves import State
from cluewise.mixture._tvclust.priors import FLAT, ROWS, Base, DirichletMultinomial, NormalInverseWishart
from cluewise.mixture._tvclust.starts import Views
from cluewise.mixture._tvclust.variational import Model

__all__ = ["Axes", "Found", "Setup", "axes_of", "beta_of", "prior_of"]

ROUNDS = 10
"""Iterations of the power method for principal axes, which need not be exact."""


class Axes(NamedTuple):
    """Principal axes of standardized columns, for data that are too wide for a covariance."""

    center: Floats  # (d,)
    scale: Floats  # (d,)
    directions: Floats  # (d, m)

    def onto(self, X: Any) -> Floats:
        """(n, m) coordinates of rows."""
        return ((X - self.center) / self.scale) @ self.directions

    def back(self, points: Floats) -> Floats:
        """(k, d) rows with these coordinates."""
        return self.center + self.scale * (points @ self.directions.T)


def axes_of(X: Floats, most: int, rng: np.random.Generator) -> Axes | None:
    """At most ``most`` leading axes, and one per ten rows, by the power method; None if the data are not wide."""
    n, d = X.shape
    m = min(most, max(n // 10, 2))
    if d <= min(most, n // 2) or d <= m:
        return None
    center, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > FLAT * scale.max(initial=0.0), scale, 1.0)
    directions = np.linalg.qr(rng.normal(size=(d, m)))[0]
    for _ in range(ROUNDS):
        moved = np.zeros((d, m))
        for start in range(0, n, ROWS):
            x = (X[start : start + ROWS] - center) / scale
            moved += x.T @ (x @ directions)
        directions = np.linalg.qr(moved)[0]
    return Axes(center, scale, directions)


class Setup(NamedTuple):
    """What all starts have in common."""

    model: Model
    views: Views
    clues: Clues
    axes: Axes | None


def beta_of(given: Any, name: str) -> tuple[float, float]:
    """Two positive numbers."""
    try:
        right, wrong = (float(value) for value in given)
    except (TypeError, ValueError):
        right = wrong = np.nan
    if not (right > 0 and wrong > 0 and np.isfinite(right + wrong)):
        raise ValueError(f"{name} must be two positive numbers, times right and times wrong; got {given!r}.")
    return right, wrong


def prior_of(base: Any, X: Floats, *, resolution: float, published: bool) -> Base:
    """The prior of the clusters; data that it cannot model raise an error."""
    n, d = X.shape
    if base == "gaussian":
        if not published:
            return NormalInverseWishart.from_data(X, resolution=resolution)
        widening = float(np.sqrt(n / max(n - 1, 1)))  # the paper standardizes columns with n - 1
        return NormalInverseWishart.from_data(X, strength=1.0, degrees=d, spread=widening)
    if published:
        raise ValueError("profile='published' is only defined for base='gaussian'.")
    prior: Base = DirichletMultinomial.from_data(X) if isinstance(base, str) else base
    width = len(prior.mean) if isinstance(prior, NormalInverseWishart) else len(prior.counts)
    if width != d:
        raise ValueError(f"base is a prior for {width} columns, but X has {d}.")
    if isinstance(prior, DirichletMultinomial) and X.min() < 0:
        row, column = np.unravel_index(X.argmin(), X.shape)
        raise ValueError(f"a multinomial base needs counts, but X has {X[row, column]} in row {row}, column {column}.")
    return prior


class Found(NamedTuple):
    """A state and the setup, which is needed to publish it."""

    setup: Setup
    inner: State | GibbsDraws
