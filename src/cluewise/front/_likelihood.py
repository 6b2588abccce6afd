"""Cluster probabilities that make the clues likely: softmax regression on the features of the ground.

The probabilities P = softmax(F A) maximize the log-likelihood of the clues (see `kernels.likelihood`), less a ridge
penalty on A, less a pull: a multiple of the cross-entropy between a start, a clustering of the grains, and P. The pull
says what rows without clues do; without it there are many solutions, as clusters may be permuted or merged.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from cluewise._typing import Floats, Ints
from cluewise.front._background import Background
from cluewise.front._evidence import Evidence
from cluewise.front._ground import Ground
from cluewise.kernels.likelihood import charge_clues, softmax

__all__ = ["Plan", "Regression", "soften"]

ANCHORS = 500
"""Most grains that are pulled to the start."""

SMOOTH = 0.1
"""Share of a start that is spread over all clusters: no start is taken as certain."""

JUDGED = 0.02
"""The same where a start is judged as it is."""

LAST = 150
"""Steps of the last fit."""

EASING = (0.1, 0.01)
"""Pulls through which the last fit comes to a weaker one."""

MEMORY = 8
"""Steps that L-BFGS remembers."""


class Plan(NamedTuple):
    """How a result is made: from which start, and how far the clues move it."""

    start: str
    view: str  # of the features; "" if the start is the result
    pull: float  # to the start
    error: float  # share of clues that are taken to be wrong
    ridge: float


def soften(labels: Ints, k: int, smooth: float = SMOOTH) -> Floats:
    """Probabilities of a start."""
    P = np.full((len(labels), k), smooth / k)
    P[np.arange(len(labels)), labels] += 1 - smooth
    return P


class Regression:
    """Fits to parts of the same evidence: features of the rows that it mentions are made once.

    ``clusters`` are clusters of the grains without clues.
    """

    def __init__(
        self, ground: Ground, rows: Floats, evidence: Evidence, clusters: Ints, k: int, rng: np.random.Generator
    ) -> None:
        mass = ground.sizes / ground.sizes.sum()
        count = min(ANCHORS, int(np.count_nonzero(mass)))
        self._anchors = np.sort(rng.choice(ground.m, count, replace=False, p=mass))
        self._rows = np.unique(np.concatenate([evidence.ends.ravel(), evidence.labeled]))
        self.k = k
        known = evidence.arrange(ground.grain)[0].renumber(ground.grain)
        self.background = Background(ground.centers, self._anchors, clusters[self._anchors], known, rng)
        self._grain = ground.grain[self._rows]
        place = ground.look_up(self._rows)
        self._features: dict[str, Floats] = {}
        for view, own in ground.features.items():
            tied = ground.describe(rows[self._rows], place, view)
            # Single precision is twice as fast, and the optimum need not be exact.
            self._features[view] = np.concatenate([own[self._anchors], tied]).astype(np.float32)

    def set_count(self, k: int) -> Regression:
        """The same for another number of clusters."""
        other = copy(self)
        other.k = k
        return other

    def fit(self, start: Ints, plan: Plan, evidence: Evidence, first: Floats | None, max_iter: int) -> Floats:
        """Weights of the features of a view, from first weights; ``start`` has a cluster for each grain."""
        F, k = self._features[plan.view], self.k
        pull = (plan.pull * soften(start[self._anchors], k)).astype(np.float32)
        anchors = np.arange(len(self._anchors))
        known = evidence.find_in(self._rows, len(anchors))
        slope = np.empty((len(F), k), dtype=np.float32)
        m, error = len(known.ends), known.find_errors(plan.error)
        weight, label_weight, pair_error, label_error = known.weights[:m], known.weights[m:], error[:m], error[m:]

        rate, wrong = float(label_weight.sum()), float(label_error.mean()) if m < known.total else 0.0

        def charge(flat: Floats) -> tuple[float, Floats]:
            weights = flat.reshape(F.shape[1], k)
            P = F @ weights.astype(np.float32)
            softmax(P)
            slope[:] = 0
            value = self.background.charge_labels(P[: len(anchors)], rate, wrong, slope[: len(anchors)])
            value += charge_clues(
                P, anchors, pull, known.ends, known.is_must, weight, pair_error, known.labeled, known.classes,
                label_weight, label_error, slope,
            )  # fmt: skip
            return value + plan.ridge / 2 * float(flat @ flat), (F.T @ slope + plan.ridge * weights).ravel()

        begin = np.zeros(F.shape[1] * k) if first is None else first.ravel()
        options = {"maxiter": max_iter, "maxcor": MEMORY, "ftol": 1e-5}
        found: Floats = minimize(charge, begin, jac=True, method="L-BFGS-B", options=options).x
        return found.reshape(F.shape[1], k)

    def finish(self, start: Ints, plan: Plan, evidence: Evidence) -> Floats:
        """Weights of the last fit. The pull is relaxed step by step, so that the start still decides between optima."""
        weights = None
        for pull in [pull for pull in EASING if pull > plan.pull]:
            weights = self.fit(start, plan._replace(pull=pull), evidence, weights, LAST // 3)
        return self.fit(start, plan, evidence, weights, LAST)

    def judge(
        self, plan: Plan, start: Ints, weights: Floats | None, evidence: Evidence, smooth: float = JUDGED
    ) -> Floats:
        """Probability that each pair, then each label, is right, by a fit (or by the start, without weights)."""
        P = self._predict(plan, start, weights, smooth, tied=True)
        known = evidence.find_in(self._rows)
        same = np.einsum("ij,ij->i", P[known.ends[:, 0]], P[known.ends[:, 1]])
        return np.concatenate([np.where(known.is_must, same, 1 - same), P[known.labeled, known.classes]])

    def expect(self, plan: Plan, start: Ints, weights: Floats | None) -> Floats:
        """Probabilities of the anchors, by a fit or by the start."""
        return self._predict(plan, start, weights, JUDGED, tied=False)

    def _predict(self, plan: Plan, start: Ints, weights: Floats | None, smooth: float, *, tied: bool) -> Floats:
        """Probabilities of the rows that clues mention, or of the anchors."""
        if weights is None:
            return soften(start[self._grain if tied else self._anchors], self.k, smooth)
        count = len(self._anchors)
        F = self._features[plan.view]
        P = (F[count:] if tied else F[:count]) @ weights
        softmax(P)
        return P
