"""How likely two groups of rows belong together, by how far apart they are: learned from answers as they come."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats

__all__ = ["Odds"]

STEEPNESS = 4.0
"""Slope that is expected before the first answer: twice as far apart, 16 times smaller odds."""

WIDEST, STEEPER = 3.0, 1.5
"""Half the width of the grid: of the middle in units of its spread, of the slope in units of its logarithm."""

POINTS, BEYOND = 512, 8.0
"""Points at which a curve is computed, and how far beyond the middles they reach; between them it is interpolated."""


class Odds:
    """The chance of a "yes" at the logarithm f of a distance, averaged over what slope and middle may be.

    p(yes | f) = 1 / (1 + exp(−a (θ − f))). The middle θ is normal around what is expected, log a around that of
    `STEEPNESS` with a deviation of ½; both live on a grid, so that an answer is one addition of logarithms.
    """

    def __init__(self, middle: float, spread: float) -> None:
        theta = middle + spread * np.linspace(-WIDEST, WIDEST, 41)
        slope = STEEPNESS * np.exp(np.linspace(-STEEPER, STEEPER, 9))
        self._theta = np.repeat(theta, len(slope))
        self._slope = np.tile(slope, len(theta))
        self._log = -0.5 * ((self._theta - middle) / spread) ** 2 - 2.0 * np.log(self._slope / STEEPNESS) ** 2
        self._at = np.linspace(theta[0] - BEYOND, theta[-1] + BEYOND, POINTS)
        self._curves = 1.0 / (1.0 + np.exp(-self._slope * (self._theta - self._at[:, None])))

    def learn(self, f: float, yes: bool) -> None:
        """Take in one answer: the posterior by Bayes' rule."""
        z = self._slope * (self._theta - f)
        self._log -= np.logaddexp(0.0, -z if yes else z)

    def yes(self, f: Floats) -> Floats:
        """The chance of a "yes" at each f."""
        weight = np.exp(self._log - self._log.max())
        return np.interp(f, self._at, self._curves @ (weight / weight.sum()))
