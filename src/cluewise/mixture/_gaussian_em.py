"""EM for Gaussian mixtures with linked rows, shared by EquivalenceGMM and PenalizedGMM.

Rows that are certainly together are one node, and links join nodes. The E-step infers the clusters of the nodes; all
other rows are independent. The M-step is that of any Gaussian mixture.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Problem
from cluewise.clues import Clues
from cluewise.core import assign, centers, lloyd, loop
from cluewise.core.probability import gaussians
from cluewise.core.probability.gaussians import Gaussians
from cluewise.core.rows import Rows
from cluewise.core.views import Nodes, contract, list_rows
from cluewise.mixture import _inference as inference
from cluewise.mixture._base import MixtureClusterer, first_centers, first_labels

__all__ = [
    "CONSTRAINTS",
    "State",
    "TiedRows",
    "describe",
    "expect",
    "labels_of",
    "link_nodes",
    "log_joint",
    "solve",
    "step",
]


class TiedRows(NamedTuple):
    """The rows with clues, gathered into nodes."""

    rows: Ints  # (t,) sorted by node
    starts: Ints  # (m,) where each node begins among them
    sizes: Ints  # (m,)
    draws: Floats  # (m,) number of draws from the cluster weights that a node counts for
    how: inference.Plan
    constant: float  # log of the factors that do not depend on the labels
    nodes: Nodes  # rows that are certainly together, for the start


class State(NamedTuple):
    """What the next step needs."""

    weights: Floats  # (k,) of the clusters
    gaussians: Gaussians
    tied: TiedRows
    bound: float  # log-likelihood per row before the M-step
    nodes: inference.Posterior | None  # of the last E-step, where approximate methods resume


class Expectation(NamedTuple):
    """Result of an E-step."""

    members: Floats  # (k, n)
    counts: Floats  # (k,) expected number of draws of each cluster
    bound: float  # log-likelihood of all rows
    nodes: inference.Posterior


def _joint(state: State, rows: Rows) -> tuple[Floats, Floats]:
    """Log of weight times density: (k, n) of single rows, (m, k) of nodes."""
    tied, log_weights = state.tied, np.log(state.weights)
    joint = np.empty((len(log_weights), rows.n))
    gaussians.log_densities(rows, state.gaussians, joint)
    unary = tied.draws[:, None] * log_weights
    if len(tied.rows):
        densities = joint[:, tied.rows]
        if rows.weight is not None:
            densities *= rows.weights(tied.rows)
        unary += np.add.reduceat(densities, tied.starts, axis=1).T
    joint += log_weights[:, None]
    return joint, unary


def expect(state: State, rows: Rows, rng: np.random.Generator) -> Expectation:
    """E-step: memberships given the data (erratum E20) and the clues, and the log-likelihood."""
    tied, (joint, unary) = state.tied, _joint(state, rows)
    # All rows as if they were free; the tied ones are then replaced by the posterior of their node.
    free = gaussians.normalize(joint)
    free[tied.rows] = 0.0
    found = inference.infer(tied.how, unary, rng, state.nodes)
    joint[:, tied.rows] = 0.0
    if rows.weight is None:
        bound, counts = float(free.sum()), joint.sum(axis=1)
    else:
        bound, counts = float(free @ rows.weight), joint @ rows.weight.astype(np.float64)
    counts += tied.draws @ found.marginals
    joint[:, tied.rows] = np.repeat(found.marginals, tied.sizes, axis=0).T
    return Expectation(joint, counts, bound + found.value + tied.constant, found)


def step(
    state: State, *, rows: Rows, kind: str, reg_covar: float, tol: float, rng: np.random.Generator
) -> tuple[State, loop.Info]:
    """One E-step and one M-step; the objective is that of the E-step, as in scikit-learn."""
    found = expect(state, rows, rng)
    bound = found.bound / rows.mass
    fitted = gaussians.estimate(rows, found.members, kind, reg_covar)
    new = State(_shares(found.counts), fitted, state.tied, bound, found.nodes)
    # A log-likelihood has no natural zero, so `tol` is an absolute difference; zero moved rows end the loop.
    moved = 0 if abs(bound - state.bound) < tol else rows.n
    return new, loop.Info(-bound, moved)


def _shares(counts: Floats) -> Floats:
    counts = counts + gaussians.TRACE
    return counts / counts.sum()


CONSTRAINTS: dict[str, list[Any]] = MixtureClusterer._parameter_constraints | {
    "covariance_type": [StrOptions(set(gaussians.KINDS))],
    "inference": [StrOptions(set(inference.METHODS))],
    "exact_size": [Interval(Integral, 1, None, closed="left")],
    "reg_covar": [Interval(Real, 0, None, closed="left")],
}
"""Constraints on the parameters of both mixtures."""


def link_nodes(
    model: Any, problem: Problem, certain: Clues, ends: Ints, weights: Floats, *, constant: float, one_draw: bool
) -> TiedRows:
    """Components of the must-links of ``certain`` that have several rows or a link, joined by ``ends``."""
    rows = problem.rows
    used = np.bincount(certain.components, minlength=certain.n_components) > 1
    used[ends.ravel()] = True
    number = np.cumsum(used) - 1
    tied, starts = list_rows(certain, used)
    sizes = np.diff(starts, append=len(tied))
    draws = np.ones(len(sizes))
    if not one_draw and len(sizes):
        draws = np.add.reduceat(np.ones(len(tied)) if rows.weight is None else rows.weights(tied), starts)
    net = inference.Couplings(len(sizes), number[ends], weights)
    how = inference.plan(net, problem.k, model.inference, model.exact_size)
    return TiedRows(tied, starts, sizes, draws.astype(np.float64), how, constant, contract(rows, certain))


def solve(model: Any, problem: Problem) -> loop.Result[State]:
    """EM from one start, with the parameters of a mixture."""
    rows, tied = problem.rows, problem.shared
    members = first_members(problem, model.init)
    counts = members.sum(axis=1) if rows.weight is None else members @ rows.weight.astype(np.float64)
    if len(tied.rows):
        of_rows = members[:, tied.rows]
        of_nodes = np.add.reduceat(of_rows, tied.starts, axis=1) / tied.sizes
        if rows.weight is not None:
            of_rows = of_rows * rows.weights(tied.rows)
        counts += of_nodes @ tied.draws - of_rows.sum(axis=1)
    kind, reg_covar = model.covariance_type, model.reg_covar
    first = gaussians.estimate(rows, members, kind, reg_covar)
    state = State(_shares(counts), first, tied, -np.inf, None)
    move = partial(step, rows=rows, kind=kind, reg_covar=reg_covar, tol=model.tol, rng=problem.rng)
    return loop.run(move, state, problem.limits._replace(tol=0.0))  # the step applies the tolerance itself


def first_members(problem: Problem, init: Any) -> Floats:
    """(k, n) initial memberships: as given, or by the first labels."""
    rows, k = problem.rows, problem.k
    if not isinstance(init, str) and not callable(init):
        shape = np.shape(init)
        if shape == (rows.n, k) and shape != (k, rows.d):
            members = np.array(init, dtype=np.float64).T.copy()
            if not (np.isfinite(members).all() and (members >= 0).all() and np.allclose(members.sum(axis=0), 1)):
                raise ValueError("init has memberships that are negative or rows that do not sum to 1.")
            return members
    members = np.zeros((k, rows.n))
    members[first_node_labels(problem, init), np.arange(rows.n)] = 1
    return members


def first_node_labels(problem: Problem, init: Any) -> Ints:
    """Initial labels; rows that are certainly together move as one, at their mean."""
    rows, nodes = problem.rows, problem.shared.nodes
    if not len(nodes.tied):
        return first_labels(problem, init)
    state = lloyd.State(assign.no_labels(rows.n), first_centers(problem, init))
    move = partial(_lloyd_step, rows=rows, nodes=nodes, free=nodes.free, total=problem.total)
    steps = 300 if isinstance(init, str) and init == "k-means" else 1
    return loop.run(move, state, loop.Limits(steps, 1e-4)).state.labels


def describe(problem: Problem, state: State) -> Attributes:
    """Attributes of both mixtures, beside the objective."""
    rows = problem.rows
    fitted = state.gaussians._replace(means=state.gaussians.means + rows.shift)
    assert state.nodes is not None
    used = state.nodes.method[state.tied.how.sizes > 1]
    return {
        "weights_": state.weights.astype(rows.dtype),
        "means_": fitted.means.astype(rows.dtype),
        "covariances_": state.gaussians.covariances.astype(rows.dtype),
        "inference_": dict(sorted(Counter(used.tolist()).items())),
        "_mixture": (state.weights, fitted),
    }


def log_joint(mixture: tuple[Floats, Gaussians], rows: Rows, block: Any) -> Floats:
    """(k, rows) log of weight times density of each cluster."""
    weights, fitted = mixture
    out = np.empty((len(weights), len(rows.dense(block))))
    gaussians.block_log_densities(rows, fitted._replace(means=fitted.means - rows.shift), block, out)
    return out + np.log(weights)[:, None]


class Labels(NamedTuple):
    """A state as the base class expects it."""

    labels: Ints


def labels_of(state: State, rows: Rows) -> Labels:
    """The most likely cluster of every free row, and the most likely joint labels of the nodes."""
    tied, (joint, unary) = state.tied, _joint(state, rows)
    labels = joint.argmax(axis=0).astype(np.int32)
    if len(tied.rows):
        assert state.nodes is not None
        labels[tied.rows] = np.repeat(inference.decode(tied.how, unary, state.nodes.marginals), tied.sizes)
    return Labels(labels)


def _lloyd_step(
    state: lloyd.State, *, rows: Rows, nodes: Nodes, free: Any, total: float
) -> tuple[lloyd.State, loop.Info]:
    """Nearest centers for free rows and for nodes, then means."""
    labels, of_node = state.labels.copy(), assign.no_labels(nodes.rows.n)
    tally = assign.nearest(rows, state.centers, labels, free).tally
    tally = tally.plus(assign.nearest(nodes.rows, state.centers, of_node).tally)
    labels[nodes.tied] = of_node[nodes.of_tied]
    tally, _ = centers.refill(rows, tally, state.centers, labels, free)
    moved = int(np.count_nonzero(labels != state.labels))
    return lloyd.State(labels, centers.means(tally, state.centers)), loop.Info(centers.within(total, tally), moved)
