"""Starts shared by the methods that take labels, and by those that take links."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.base import CentroidClusterer, Problem, class_clusters
from cluewise.core import seeding

__all__ = ["LabelStart", "NeighborhoodStart"]


class LabelStart(CentroidClusterer):
    """Start of the methods that put label class c into cluster c: class means, then the rest."""

    _init_names = ("k-means++", "random", "perturbed")

    def _seeds(self, problem: Problem) -> Ints:
        """Cluster of every labelled row, −1 elsewhere."""
        clues = problem.clues
        cluster = np.append(class_clusters(clues, problem.k), np.int32(-1))
        return cluster[clues.labels]

    def _n_starts(self, problem: Problem) -> int:
        seeded = np.unique(self._seeds(problem))
        every = np.count_nonzero(seeded >= 0) == problem.k  # then there is nothing left to draw
        return 1 if every else super()._n_starts(problem)

    def _start(self, problem: Problem, seeds: Ints) -> Floats:
        """Step 1 of the algorithm: μ_h = mean of S_h; clusters without a seed as ``init`` says."""
        given = self._centers_from_init(problem)
        if given is not None:
            return given
        rows, k = problem.rows, problem.k
        means, mass = seeding.group_means(rows, seeds, k)
        seeded = mass > 0
        if self.init == "perturbed":
            rest = seeding.perturbed(rows, int((~seeded).sum()), problem.rng)
        else:
            rest = self._fill_centers(problem, means[seeded])[seeded.sum() :]
        start = means.copy()
        start[~seeded] = rest
        return start


class NeighborhoodStart(CentroidClusterer):
    """Start of the methods that take links: must-link components first, then k-means++ given these.

    The largest components may all be of one class, so later starts try components far from each other, then
    plain k-means++; the objective decides.
    """

    _init_names = ("neighborhoods", "farthest-first", "k-means++", "random")

    def _start(self, problem: Problem) -> Floats:
        given = self._centers_from_init(problem)
        if given is not None:
            return given
        rows, clues, k = problem.rows, problem.clues, problem.k
        first: Floats = np.empty((0, rows.d))
        names = {"neighborhoods": ("neighborhoods", "farthest-first"), "farthest-first": ("farthest-first",)}
        planned = names.get(self.init, ())[problem.start : problem.start + 1]
        if planned == ("neighborhoods",):
            first = seeding.neighborhoods(rows, clues, k)
        elif planned == ("farthest-first",):
            first = seeding.far_neighborhoods(rows, clues, k)
        return self._fill_centers(problem, first)
