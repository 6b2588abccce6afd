"""The coordinated conditional information bottleneck: new clusters that mean the same in all groups [Gondek2004]_."""

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
from cluewise.alternative.avoid import warn
from cluewise.base import Attributes, Card, Problem
from cluewise.core import loop
from cluewise.core.loop import Progress

__all__ = ["CoordinatedConditionalIB"]

DOUBLINGS = 6
"""Maximum number of times that coordination is doubled to reach ``least_information``."""


class CoordinatedConditionalIB(Bottleneck):
    r"""Find an alternative to known clusterings of counts, with clusters that mean the same in all known groups.

    Use it for counts or shares with a clustering that is known or uninteresting (``clues.avoid``): documents by style
    if topics are known, pictures by shape if colors are known. Its clusters cut across the known groups and have the
    same profile in all of them. `CondEns` has the same purpose, works with any clusterer and is faster.

    Parameters
    ----------
    {n_clusters}
    coordination : float or "auto", default="auto"
        Weight of :math:`I(C;Y)` relative to :math:`I(C;Y|Z)`. With a small weight, clusters of different groups are
        unrelated; with a large one, a dominant clustering that should be avoided reappears. "auto" is about half the
        weight at which it reappears.
    least_information : float, default=None
        Minimum information of clusters about columns, :math:`I(C;Y)` in nats: ``coordination`` is doubled, up to six
        times, until it is reached.
    {annealing}

    Attributes
    ----------
    {bottleneck_}
    {avoided_}
    coordination_ : float
        The coordination that was used; 0 if it is "auto" and no known group has rows that differ.

    See Also
    --------
    ConditionalIB : Without coordination.
    CondEns : The same for points.

    Notes
    -----
    With Z the cell of a row in the product of all clusterings to avoid, :math:`I(C;Y|Z) - \rho I(C;X)` is maximized
    subject to :math:`I(C;Y) \ge I_{\min}`, by the Lagrangian

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
    `InformationBottleneck` first split: at twice that, :math:`\lambda I(C;Y)` alone splits clusters as early as
    :math:`I(C;Y|Z)` does. With ``least_information`` the multiplier is doubled until it is reached. A share of the
    information of `InformationBottleneck` would be a bad default for it: if the known clustering dominates, no other
    one has so much information, and the constraint would bring the known one back.

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

    coordination_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        coordination: float | str = "auto",
        least_information: float | None = None,
        prior: str = "uniform",
        temperature: float = 1e-3,
        cooling: float = 0.8,
        n_init: int | str = 5,
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
        if problem.shared is not None:  # set by `_best_start`
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
            if best.state.information[1] >= least:
                return best
            lam = 2 * lam if lam > 0 else 0.5
            again = problem._replace(shared=self._prepare(problem._replace(shared=lam)))
            found = super()._best_start(again, progress)
            best = found if found.state.information[1] > best.state.information[1] else best
        if best.state.information[1] < least:
            warn(
                f"no coordination up to {lam:g} reaches least_information={least:g} nats; "
                f"the highest was {best.state.information[1]:g}.",
                ConvergenceWarning,
            )
        return best

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {"coordination_": state.pull.lam}
