"""Priced labels: K-means that pays a price for every label that it overrules, after [Basu2002]_."""

# A complete method to copy: save this file under another name, anywhere, and change it from top to bottom. Comments in
# square brackets are for you; delete them. [The first line of the file says what the method does and whose it is.]

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from cluewise.base import Attributes, Card, CentroidClusterer, Problem, class_clusters
from cluewise.core import assign, centers, loop, seeding
from cluewise.core.rows import Rows

__all__ = ["PricedLabels"]

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]


class State(NamedTuple):
    """What the next step needs. [It must have labels; a step returns a new one and never changes the old.]"""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows


def step(state: State, *, rows: Rows, classes: Ints, penalty: float, total: float) -> tuple[State, loop.Info]:
    """Assign each row to the cheapest cluster, then take means. [Name the equations of the paper here.]"""
    labels = state.labels.copy()

    def surcharge(block: Any, scores: Floats) -> None:
        # [Scores are half the squared distances, one line per cluster, so half the penalty is added to them.]
        known = classes[block]
        others = np.arange(len(scores))[:, None] != known
        scores += np.where(others & (known >= 0), penalty / 2, 0.0)

    found = assign.nearest(rows, state.centers, labels, surcharge=surcharge)
    # [An empty cluster takes a far row, but none that a clue speaks of.]
    tally, refilled = centers.refill(rows, found.tally, state.centers, labels, classes < 0)
    means = centers.means(tally, state.centers)
    # [The objective of the paper, after this iteration. The loop warns if it rises.]
    value = centers.within(total, tally) + penalty * overruled(rows, labels, classes)
    # [The loop stops when nothing moves. A method whose state can change while no label does counts those changes.]
    return State(labels, means), loop.Info(value, found.moved + refilled)


def overruled(rows: Rows, labels: Ints, classes: Ints) -> float:
    """Weight of the labeled rows that are not in the cluster of their class."""
    broken = (classes >= 0) & (labels != classes)
    return float(broken.sum() if rows.weight is None else rows.weight[broken].sum())


def first_centers(problem: Problem, init: Any, classes: Ints) -> Floats:
    """Means of the classes; ``init`` chooses the centers of clusters without a labeled row, or all of them."""
    # [An array or a callable is taken as it is: the laws start two fits alike by passing the same centers.]
    given = seeding.given_centers(init, ("k-means++", "random"), problem.rows, problem.k, problem.rng)
    if given is not None:
        return given
    means, mass = centers.group_means(problem.rows, classes, problem.k)
    seeded = mass > 0
    filled = seeding.fill(init, problem.rows, means[seeded], problem.k, problem.rng)
    means[~seeded] = filled[seeded.sum() :]
    return means


class PricedLabels(CentroidClusterer):
    r"""K-means in which overruling a label costs ``penalty``.

    Use it when a few labels may be wrong. Label class c becomes cluster c. [First what the method does to data and
    when to use it.]

    Parameters
    ----------
    {n_clusters}
    penalty : float, default=1.0
        What it costs to overrule a label, in squared distances.
    init : {"k-means++", "random"}, array-like of shape (k, d) or callable, default="k-means++"
        Start of the clusters without a labeled row.
    {n_init 5}
    {max_iter 300}
    {tol}
    {random_state}

    Attributes
    ----------
    {labels_}
    {cluster_centers_}
    {n_clusters_}
    {inertia_}
    objective_ : float
        Sum of squared distances to the centers, and the price of the labels that are overruled.
    {trace_}
    {n_iter_}
    {margin_}
    {broken_}

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2 + p \sum_{i \in S} w_i \, [y_i \ne c_i]

    ======================= =========================================
    paper                   code
    ======================= =========================================
    :math:`S`               rows with a label
    :math:`c_i`             ``classes[i]``, −1 for a row without label
    :math:`p`               ``penalty``
    :math:`\mu_h`           ``cluster_centers_[h]``
    ======================= =========================================

    *Deviations.* The paper starts from the labels and then forgets or keeps them; the price is between the two.
    [Each place where the code departs from the paper, and why.]

    References
    ----------
    .. [Basu2002] S. Basu, A. Banerjee and R. Mooney, "Semi-supervised clustering by seeding", ICML 2002.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0]]
    >>> for penalty in (1, 100):
    ...     print(PricedLabels(2, penalty=penalty).fit(X, clues=[0, -1, 1, -1, 1]).labels_)
    [0 0 0 1 1]
    [0 0 1 1 1]
    """

    # [What the method promises, and so which laws it must obey. Only what differs from the defaults, which are those of
    # a variant of K-means; the docstring of Card explains every field.]
    card = Card(
        paper="Basu2002",
        title="K-means with priced labels",
        accepts=frozenset({"labels"}),
        named=True,
        equation="between Seeded-KMeans and Constrained-KMeans, Figs. 1 and 2",
        aliases=("Priced Labels",),
    )
    # [What scikit-learn checks before fit; those of n_clusters, init and so on are inherited.]
    _parameter_constraints = CentroidClusterer._parameter_constraints | {
        "penalty": [Interval(Real, 0, None, closed="left")]
    }

    # [Parameters are stored as they are; nothing else happens here.]
    def __init__(
        self,
        n_clusters: int = 8,
        *,
        penalty: float = 1.0,
        init: Any = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # [What all starts share, made once: it comes back as problem.shared. Views of the clues belong here.]
    def _prepare(self, problem: Problem) -> Ints:
        known = problem.clues
        cluster = np.append(class_clusters(known, problem.k), np.int32(-1))  # of each class; the last: no label
        return cluster[known.labels]

    # [One run from one start. `fit` has checked rows, clues and parameters; it calls this once per start with another
    # problem.rng, keeps the result with the lowest objective, and alone writes attributes. What is estimated in the
    # first start and must be the same in all others, such as a price, is read from problem.first, the state in which
    # the first start ended.]
    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, classes = problem.rows, problem.shared
        start = State(assign.no_labels(rows.n), first_centers(problem, self.init, classes))
        move = partial(step, rows=rows, classes=classes, penalty=float(self.penalty), total=problem.total)
        # [`tol` stops the loop as in scikit-learn's k-means, by the centers of the state. Afterwards the base class
        # assigns the rows that no clue mentions to the final centers; `_find_free` says which they are.]
        # [The last argument is the rise of the objective that rounding may cause, in proportion to what is added up.]
        most = problem.total + self.penalty * rows.mass
        return loop.run(move, start, problem.limits, centers.rounding(rows, most))

    # [The published objective, computed once more from the result; a law compares it with the last entry of the
    # trace. Anything else that only this method publishes is added to the dict; what an interrupted fit should leave,
    # too, goes into `_state_attributes`.]
    def _evaluate(self, problem: Problem, state: State) -> Attributes:
        rows, classes = problem.rows, problem.shared
        distances = centers.distortion(rows, state.centers, state.labels)
        return {"inertia_": distances, "objective_": distances + self.penalty * overruled(rows, state.labels, classes)}
