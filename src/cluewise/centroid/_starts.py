"""Initial centers from labels: label class c is cluster c."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.base import Problem, class_clusters
from cluewise.core import seeding
from cluewise.core.centers import group_means

__all__ = ["all_labelled", "label_centers", "labelled_rows"]


def labelled_rows(problem: Problem) -> Ints:
    """Cluster of every labeled row, −1 for the others: label class c is cluster c."""
    clues = problem.clues
    cluster = np.append(class_clusters(clues, problem.k), np.int32(-1))
    return cluster[clues.labels]


def all_labelled(seeds: Ints, k: int) -> bool:
    """Whether every cluster has a labeled row, so no center is drawn at random."""
    return len(np.unique(seeds[seeds >= 0])) == k


def label_centers(problem: Problem, init: Any, seeds: Ints) -> Floats:
    """Class means of the rows in ``seeds``; ``init`` chooses the centers of clusters without a labeled row."""
    rows, k = problem.rows, problem.k
    given = seeding.given_centers(init, ("k-means++", "random", "perturbed"), rows, k, problem.rng)
    if given is not None:
        return given
    centers, mass = group_means(rows, seeds, k)
    seeded = mass > 0
    if init == "perturbed":
        centers[~seeded] = seeding.perturbed(rows, int((~seeded).sum()), problem.rng)
    else:
        centers[~seeded] = seeding.fill(init, rows, centers[seeded], k, problem.rng)[seeded.sum() :]
    return centers
