"""Initial centers from labels and from links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.base import Problem, class_clusters
from cluewise.core import seeding
from cluewise.core.rows import Rows

__all__ = ["all_labelled", "label_centers", "labelled_rows", "neighborhood_centers"]

Fill = Callable[[Rows, Floats, int, np.random.Generator], Floats]


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
    centers, mass = seeding.group_means(rows, seeds, k)
    seeded = mass > 0
    if init == "perturbed":
        centers[~seeded] = seeding.perturbed(rows, int((~seeded).sum()), problem.rng)
    else:
        centers[~seeded] = seeding.fill(init, rows, centers[seeded], k, problem.rng)[seeded.sum() :]
    return centers


def neighborhood_centers(problem: Problem, init: Any, fill: Fill | None = None) -> Floats:
    """Centers given as ``init``, or means of must-link components and centers added by ``fill`` (default: ``init``).

    The largest components may all be of one class, so the second start tries components far from each other and later
    ones plain k-means++; the lowest objective decides.
    """
    names = ("neighborhoods", "farthest-first", "k-means++", "random")
    rows, clues, k = problem.rows, problem.clues, problem.k
    given = seeding.given_centers(init, names, rows, k, problem.rng)
    if given is not None:
        return given
    if fill is None:
        fill = seeding.random_rows if init == "random" else seeding.plus_plus
    first: Floats = np.empty((0, rows.d))
    if (init, problem.start) == ("neighborhoods", 0):
        first = seeding.neighborhoods(rows, clues, k)
    elif (init, problem.start) in {("neighborhoods", 1), ("farthest-first", 0)}:
        first = seeding.far_neighborhoods(rows, clues, k)
    return fill(rows, first, k, problem.rng)
