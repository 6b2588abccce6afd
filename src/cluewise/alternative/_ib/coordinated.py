"""The coordinated conditional information bottleneck: other clusters, of one meaning in all groups [Gondek2004]_."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats
from cluewise.alternative._ib.annealing import critical
from cluewise.alternative._ib.base import Bottleneck
from cluewise.alternative._ib.joint import Joint
from cluewise.alternative._ib.steps import Pull, State
from cluewise.alternative._warning import warn
from cluewise.base import Attributes, Card, Problem
from cluewise.core import loop
from cluewise.core.loop import Progress

__all__ = ["CoordinatedConditionalIB"]

DOUBLINGS = 6
"""How often coordination is doubled to reach the information that is asked for."""


class CoordinatedConditionalIB(Bottleneck):
    r"""Cluster rows of counts in another way than is known, with clusters that mean the same everywhere.

    Use it for counts or shares with a clustering that is known or uninteresting (``clues.avoid``): documents by style
    where topics are known, pictures by shape where colors are known. Its clusters cut across the known groups, and each
    has one profile in all of them. `CondEns` has the same aim, takes any clusterer and is quicker.

    Parameters
    ----------
    {n_clusters}
    coordination : float or "auto", default="auto"
        What :math:`I(C;Y)` counts against :math:`I(C;Y|Z)`. Little leaves clusters of different groups unrelated, much
        brings back what is to be avoided where that dominates; "auto" is about half of what would bring it back.
    least_information : float, default=None
        How much clusters must tell about columns, :math:`I(C;Y)` in nats: ``coordination`` is doubled, up to six times,
        until they do.
    prior : {"uniform", "mass"}, default="uniform"
        What a row counts: all the same, or as much as its sum. ``sample_weight`` multiplies it.
    temperature : float, default=0.001
        Where annealing ends, as a share of the temperature at which the first clusters split. Memberships are all but
        hard there.
    cooling : float, default=0.8
        Factor from one temperature to the next.
    {n_init 5}
    max_iter : int, default=100
        Most iterations at each temperature.
    tol : float, default=1e-3
        Stop when no membership changes by more than this (at least 1e-5). Temperatures above the last one are also left
        when the objective changes by at most a millionth of its value.
    {random_state}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Most likely cluster of each row.
    variation_ : ndarray of shape (n_avoided,)
        Variation of information between ``labels_`` and each clustering to avoid, in nats, over the rows it covers.
    coordination_ : float
        The coordination that was used; 0 if it is "auto" and no known group holds rows that differ.
    memberships_ : ndarray of shape (n, n_clusters)
        Probability of each cluster for each row, at the last temperature.
    weights_ : ndarray of shape (n_clusters,)
        Share of each cluster.
    profiles_ : ndarray of shape (n_clusters, d)
        Probability of each column in each cluster.
    conditional_information_ : float
        What clusters tell about columns when the groups are known, :math:`I(C;Y|Z)`, in nats.
    information_ : float
        What clusters tell about columns, :math:`I(C;Y)`, in nats.
    compression_ : float
        What clusters tell about rows, :math:`I(C;X)`, in nats.
    temperature_ : float
        The last temperature.
    {n_clusters_}
    objective_ : float
        :math:`-F` at the last temperature; see Notes.
    trace_ : ndarray
        The objective after each iteration, temperature by temperature. It falls at each temperature, not between them.
    n_iter_ : int
        Number of iterations, all temperatures together.
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster over the next, in nats.
    broken_ : Clues
        Empty: a clustering to avoid is never broken, only resembled.

    See Also
    --------
    ConditionalIB : Without coordination.
    CondEns : The same aim for points.

    Notes
    -----
    With Z the cell of a row in the product of all clusterings to avoid, :math:`I(C;Y|Z) - \rho I(C;X)` is maximized
    where :math:`I(C;Y) \ge I_{\min}`, by the Lagrangian

    .. math:: F(q) = I(C;Y|Z) + \lambda I(C;Y) - \rho I(C;X)

    .. math:: q(c|x) \propto p(c) \exp \Big( \tfrac{\lambda}{\rho} \sum_y p(y|x) \log p(y|c)
        + \tfrac{1}{\rho} \sum_z p(z|x) \sum_y p(y|x) \log p(y|c,z) \Big)

    ===================== =============================
    paper                 code
    ===================== =============================
    :math:`Z`             ``clues.avoid``
    :math:`\lambda`       ``coordination``
    :math:`I_{\min}`      ``least_information``
    :math:`\rho`          ``temperature_``
    ===================== =============================

    *Deviations.* Those of `ConditionalIB`. "auto" is half the ratio of the temperatures at which `ConditionalIB` and
    `InformationBottleneck` split first: at twice that, :math:`\lambda I(C;Y)` alone splits clusters as early as
    :math:`I(C;Y|Z)` does. With ``least_information`` the multiplier is the first that reaches it, of this one and its
    doubles. A share of what `InformationBottleneck` reaches is no good default for that: where the known clustering
    dominates, no other one tells so much, and the constraint brings the known one back.

    References
    ----------
    .. [Gondek2004] D. Gondek and T. Hofmann, "Non-redundant data clustering", 4th IEEE International Conference on Data
       Mining, 2004.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.alternative import CoordinatedConditionalIB
    >>> X = [[9, 1, 5, 1], [9, 2, 1, 5], [1, 9, 5, 1], [2, 9, 1, 5]]  # two topics, two styles
    >>> known = Clues(4, avoid=[0, 0, 1, 1])
    >>> model = CoordinatedConditionalIB(2, random_state=0).fit(X, clues=known)
    >>> model.labels_[0] == model.labels_[2] != model.labels_[1] == model.labels_[3]
    np.True_
    >>> model.variation_.round(3)  # the largest that two halves can have
    array([1.386])
    """

    card = Card(
        paper="Gondek2004",
        title="Coordinated conditional information bottleneck",
        accepts=frozenset({"avoid"}),
        descends=False,
        invariant=frozenset({"scale"}),
        predicts=False,
        plain="",
        means=False,
        equation="Eq. 53 to 56 of the survey by Truong and Battiti (2013)",
        cost="O(nnz k), and tables of k by d by groups",
        aliases=("CCIB", "Coordinated conditional information bottleneck"),
    )
    _parameter_constraints = Bottleneck._parameter_constraints | {
        "coordination": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "least_information": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        coordination: float | str = "auto",
        least_information: float | None = None,
        prior: str = "uniform",
        temperature: float = 1e-3,
        cooling: float = 0.8,
        n_init: int = 5,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_clusters,
            prior=prior,
            temperature=temperature,
            cooling=cooling,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )
        self.coordination = coordination
        self.least_information = least_information

    def _pull(self, joint: Joint, problem: Problem, drawn: Floats) -> Pull:
        if problem.shared is not None:  # what `_best_start` has come to
            return Pull(lam=problem.shared, mu=1.0)
        if not isinstance(self.coordination, str):
            return Pull(lam=float(self.coordination), mu=1.0)
        known, other = critical(joint, Pull(1.0, 0.0), drawn), critical(joint, Pull(0.0, 1.0), drawn)
        return Pull(lam=0.5 * other / known if known > 0 else 0.5, mu=1.0)

    def _best_start(self, problem: Problem, progress: Progress) -> loop.Result[State]:
        best = super()._best_start(problem, progress)
        least = self.least_information
        if least is None:
            return best
        lam = best.state.pull.lam
        for _ in range(DOUBLINGS):
            if best.state.told[1] >= least:
                return best
            lam = 2 * lam if lam > 0 else 0.5
            again = problem._replace(shared=self._prepare(problem._replace(shared=lam)))
            found = super()._best_start(again, progress)
            best = found if found.state.told[1] > best.state.told[1] else best
        if best.state.told[1] < least:
            warn(
                f"no coordination up to {lam:g} makes clusters tell least_information={least:g} nats about columns; "
                f"the most was {best.state.told[1]:g}.",
                ConvergenceWarning,
            )
        return best

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {"coordination_": state.pull.lam}
