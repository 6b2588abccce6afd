"""Base of the three information bottlenecks: counts, annealing and attributes."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats
from cluewise.alternative._ib.annealing import Schedule, anneal, critical
from cluewise.alternative._ib.joint import Joint, joint_of, moderate, refuse_negative
from cluewise.alternative._ib.steps import Pull, State, begin, lead, minus_gain, reorder
from cluewise.alternative.avoid import covering, variation, warn, warn_of_gaps
from cluewise.base import Attributes, Clusterer, Problem
from cluewise.core import loop
from cluewise.exceptions import ClueWarning

__all__ = ["Bottleneck", "Setup"]


class Setup(NamedTuple):
    """What all starts have in common."""

    joint: Joint
    pull: Pull
    schedule: Schedule | None  # None: one cluster, because rows do not differ
    drawn: Floats  # (d,) a random function of columns


class Bottleneck(Clusterer):
    """Base of the bottlenecks; a subclass has a ``card`` and implements ``_pull``, the weights of its objective."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: rule for name, rule in Clusterer._parameter_constraints.items() if name != "init"
    } | {
        "prior": [StrOptions({"uniform", "mass"})],
        "temperature": [Interval(Real, 0, 1, closed="neither")],
        "cooling": [Interval(Real, 0, 1, closed="neither")],
    }

    _drawn_start = "random"

    memberships_: Floats
    profiles_: Floats
    weights_: Floats
    margin_: Floats
    information_: float
    conditional_information_: float
    compression_: float
    temperature_: float
    variation_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        prior: str = "uniform",
        temperature: float = 1e-3,
        cooling: float = 0.8,
        n_init: int | str = 5,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.prior = prior
        self.temperature = temperature
        self.cooling = cooling
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _pull(self, joint: Joint, problem: Problem, drawn: Floats) -> Pull:
        """Weights of the two kinds of information."""
        raise TypeError(f"{type(self).__name__} does not implement _pull.")

    def _n_starts(self, problem: Problem) -> int:
        return self._wanted_starts

    def _prepare(self, problem: Problem) -> Setup:
        rows = problem.rows
        refuse_negative(rows.X, type(self).__name__)
        known = covering(problem.clues)
        joint = joint_of(moderate(rows.X), rows.weight, known, problem.k, self.prior == "mass")
        drawn = problem.rng.normal(size=(rows.d,))
        pull = self._pull(joint, problem, drawn)
        if problem.shared is None:  # only once, not for each coordination that is tried
            warn_of_gaps(problem.clues)
            if known and critical(joint, Pull(0.0, 1.0), drawn) == 0:
                warn("no known group has rows that differ, so there is no other clustering to find.", ClueWarning)
        split = critical(joint, pull, drawn)
        schedule = None
        if split > 0:
            # A lower tolerance needs many more iterations and does not lower the objective.
            tol = max(self.tol, 1e-5)
            schedule = Schedule(1.05 * split, self.temperature * split, self.cooling, self.max_iter, tol)
        return Setup(joint, pull, schedule, drawn)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        setup: Setup = problem.shared
        if setup.schedule is None:
            even = np.full((setup.joint.n, problem.k), 1 / problem.k)
            # One cluster is stable at this temperature for any data.
            state = begin(setup.joint, setup.pull, setup.pull.lam + setup.pull.mu, even)
            problem.limits.watch(state, [minus_gain(state)])
            return loop.Result(state, [minus_gain(state)], True)
        found = anneal(setup.joint, problem.k, setup.pull, setup.schedule, problem.rng, problem.limits.watch)
        return found._replace(state=reorder(found.state, setup.drawn))

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        compression, information, conditional = state.information
        return super()._state_attributes(problem, state, trace) | {
            "memberships_": state.memberships,
            "weights_": state.shares,
            "profiles_": np.exp(state.about),
            "compression_": compression,
            "information_": information,
            "conditional_information_": conditional,
            "temperature_": state.rho,
        }

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        return super()._attributes(problem, result) | {
            "margin_": lead(result.state).astype(problem.rows.dtype),
            "variation_": variation(result.state.labels, problem.clues),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
