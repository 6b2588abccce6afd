"""EM for Gaussians whose rows are linked: what EquivalenceGMM and PenalizedGMM have in common.

Rows that are together for certain are one node; links join nodes. The E-step infers the clusters of the nodes (all
other rows are independent), the M-step is that of any Gaussian mixture.
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
    "Labelled",
    "LinkedRows",
    "State",
    "describe",
    "expect",
    "labels_of",
    "link_nodes",
    "log_joint",
    "solve",
    "step",
]


class LinkedRows(NamedTuple):
    """The rows that clues speak of, gathered into nodes."""

    rows: Ints  # (t,) sorted by node
    starts: Ints  # (m,) where each node begins among them
    sizes: Ints  # (m,)
    draws: Floats  # (m,) how many draws from the weights of the clusters a node counts for
    how: inference.Plan
    constant: float  # log of the factors that no labeling changes
    nodes: Nodes  # rows that are together for certain, for the start


class State(NamedTuple):
    """What the next step needs."""

    weights: Floats  # (k,) of the clusters
    gaussians: Gaussians
    linked: LinkedRows
    bound: float  # log-likelihood per row before the M-step
    nodes: inference.Inferred | None  # what was believed about the nodes, from which approximations go on


class Expected(NamedTuple):
    """What an E-step finds."""

    members: Floats  # (k, n)
    counts: Floats  # (k,) expected draws from the weights of the clusters
    bound: float  # log-likelihood, all rows together
    nodes: inference.Inferred


def _joint(state: State, rows: Rows) -> tuple[Floats, Floats]:
    """Log of weight times density: (k, n) of single rows, (m, k) of nodes."""
    linked, log_weights = state.linked, np.log(state.weights)
    joint = np.empty((len(log_weights), rows.n))
    gaussians.log_densities(rows, state.gaussians, joint)
    unary = linked.draws[:, None] * log_weights
    if len(linked.rows):
        tied = joint[:, linked.rows]
        if rows.weight is not None:
            tied *= rows.weights(linked.rows)
        unary += np.add.reduceat(tied, linked.starts, axis=1).T
    joint += log_weights[:, None]
    return joint, unary


def expect(state: State, rows: Rows, rng: np.random.Generator) -> Expected:
    """Memberships given the data and the clues (E-step, with the data: erratum E20), and the log-likelihood."""
    linked, (joint, unary) = state.linked, _joint(state, rows)
    free = gaussians.normalize(joint)
    free[linked.rows] = 0.0
    found = inference.infer(linked.how, unary, rng, state.nodes)
    joint[:, linked.rows] = 0.0
    if rows.weight is None:
        bound, counts = float(free.sum()), joint.sum(axis=1)
    else:
        bound, counts = float(free @ rows.weight), joint @ rows.weight.astype(np.float64)
    counts += linked.draws @ found.marginals
    joint[:, linked.rows] = np.repeat(found.marginals, linked.sizes, axis=0).T
    return Expected(joint, counts, bound + found.value + linked.constant, found)


def step(
    state: State, *, rows: Rows, kind: str, reg_covar: float, tol: float, rng: np.random.Generator
) -> tuple[State, loop.Info]:
    """One E-step and one M-step; the objective is that of the E-step, as in scikit-learn."""
    found = expect(state, rows, rng)
    bound = found.bound / rows.mass
    new = State(
        _shares(found.counts),
        gaussians.estimate(rows, found.members, kind, reg_covar),
        state.linked,
        bound,
        found.nodes,
    )
    # A likelihood has no natural zero to be relative to: `tol` is a difference, and "nobody moves" ends the loop.
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
"""Parameters that both mixtures have."""


def link_nodes(
    model: Any, problem: Problem, certain: Clues, ends: Ints, weights: Floats, *, constant: float, one_draw: bool
) -> LinkedRows:
    """Nodes of the must-links of ``certain``, joined by ``ends`` (pairs of its components)."""
    rows = problem.rows
    wanted = np.bincount(certain.components, minlength=certain.n_components) > 1
    wanted[ends.ravel()] = True
    number = np.cumsum(wanted) - 1
    tied, starts = list_rows(certain, wanted)
    sizes = np.diff(starts, append=len(tied))
    draws = np.ones(len(sizes))
    if not one_draw and len(sizes):
        draws = np.add.reduceat(np.ones(len(tied)) if rows.weight is None else rows.weights(tied), starts)
    net = inference.Couplings(len(sizes), number[ends], weights)
    how = inference.plan(net, problem.k, model.inference, model.exact_size)
    return LinkedRows(tied, starts, sizes, draws.astype(np.float64), how, constant, contract(rows, certain))


def solve(model: Any, problem: Problem) -> loop.Result[State]:
    """EM from one start, with the parameters of a mixture."""
    rows, linked = problem.rows, problem.shared
    members = first_members(problem, model.init)
    counts = members.sum(axis=1) if rows.weight is None else members @ rows.weight.astype(np.float64)
    if len(linked.rows):
        tied = members[:, linked.rows]
        of_nodes = np.add.reduceat(tied, linked.starts, axis=1) / linked.sizes
        if rows.weight is not None:
            tied = tied * rows.weights(linked.rows)
        counts += of_nodes @ linked.draws - tied.sum(axis=1)
    kind, reg_covar = model.covariance_type, model.reg_covar
    first = gaussians.estimate(rows, members, kind, reg_covar)
    state = State(_shares(counts), first, linked, -np.inf, None)
    move = partial(step, rows=rows, kind=kind, reg_covar=reg_covar, tol=model.tol, rng=problem.rng)
    return loop.run(move, state, problem.limits._replace(tol=0.0))  # the step applies the tolerance itself


def first_members(problem: Problem, init: Any) -> Floats:
    """(k, n) memberships to start from: given ones, or those of the first labels."""
    rows, k = problem.rows, problem.k
    if not isinstance(init, str) and not callable(init):
        shape = np.shape(init)
        if shape == (rows.n, k) and shape != (k, rows.d):
            members = np.array(init, dtype=np.float64).T.copy()
            if not (np.isfinite(members).all() and (members >= 0).all() and np.allclose(members.sum(axis=0), 1)):
                raise ValueError("init holds memberships that are negative or do not sum to 1 in every row.")
            return members
    members = np.zeros((k, rows.n))
    members[first_node_labels(problem, init), np.arange(rows.n)] = 1
    return members


def first_node_labels(problem: Problem, init: Any) -> Ints:
    """As without clues, but rows that are together for certain move as one, at their mean."""
    rows, nodes = problem.rows, problem.shared.nodes
    if not len(nodes.tied):
        return first_labels(problem, init)
    state = lloyd.State(assign.nobody(rows.n), first_centers(problem, init))
    move = partial(_lloyd_step, rows=rows, nodes=nodes, free=nodes.free, total=problem.total)
    steps = 300 if isinstance(init, str) and init == "k-means" else 1
    return loop.run(move, state, loop.Limits(steps, 1e-4)).state.labels


def describe(problem: Problem, state: State) -> Attributes:
    """What the mixtures publish beside labels and objective."""
    rows = problem.rows
    fitted = state.gaussians._replace(means=state.gaussians.means + rows.shift)
    assert state.nodes is not None
    used = state.nodes.method[state.linked.how.sizes > 1]
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


class Labelled(NamedTuple):
    labels: Ints


def labels_of(state: State, rows: Rows) -> Ints:
    """The most likely cluster of every row, those of linked nodes together."""
    linked, (joint, unary) = state.linked, _joint(state, rows)
    labels = joint.argmax(axis=0).astype(np.int32)
    if len(linked.rows):
        assert state.nodes is not None
        labels[linked.rows] = np.repeat(inference.decode(linked.how, unary, state.nodes.marginals), linked.sizes)
    return labels


def _lloyd_step(
    state: lloyd.State, *, rows: Rows, nodes: Nodes, free: Any, total: float
) -> tuple[lloyd.State, loop.Info]:
    """Nearest centers for free rows and for nodes, then means."""
    labels, of_node = state.labels.copy(), assign.nobody(nodes.rows.n)
    tally = assign.nearest(rows, state.centers, labels, free).tally
    tally = tally.plus(assign.nearest(nodes.rows, state.centers, of_node).tally)
    labels[nodes.tied] = of_node[nodes.of_tied]
    tally, _ = centers.refill(rows, tally, state.centers, labels, free)
    moved = int(np.count_nonzero(labels != state.labels))
    return lloyd.State(labels, centers.means(tally, state.centers)), loop.Info(centers.within(total, tally), moved)
