"""The conditional information bottleneck: clusters that add information to a known clustering [Gondek2003]_."""

from __future__ import annotations

from cluewise._typing import Floats
from cluewise.alternative._ib.base import Bottleneck
from cluewise.alternative._ib.joint import Joint
from cluewise.alternative._ib.steps import Pull
from cluewise.base import Card, Problem

__all__ = ["ConditionalIB"]


class ConditionalIB(Bottleneck):
    r"""Cluster rows of counts by the information that known clusterings do not have.

    Use it for counts or shares with a clustering that is known or uninteresting (``clues.avoid``), when you want a good
    clustering within each of its groups and clusters need not mean the same in all groups. `CoordinatedConditionalIB`
    ensures the latter as well.

    Parameters
    ----------
    {n_clusters}
    {annealing}

    Attributes
    ----------
    {bottleneck_}
    {avoided_}

    See Also
    --------
    CoordinatedConditionalIB : Clusters that mean the same in all groups.
    CondEns : The same for points.

    Notes
    -----
    With Z the cell of a row in the product of all clusterings to avoid, memberships :math:`q(c|x)` maximize

    .. math:: F(q) = I(C;Y|Z) - \rho I(C;X)

    by the equations of `InformationBottleneck` with a profile of each cluster in each group,

    .. math:: p(y|c,z) \propto \sum_x p(x) p(z|x) q(c|x) p(y|x), \quad
        q(c|x) \propto p(c) \exp \Big( \tfrac{1}{\rho} \sum_z p(z|x) \sum_y p(y|x) \log p(y|c,z) \Big)

    As :math:`\rho` falls, F no longer depends on which cluster of one group is identified with which cluster of
    another: the groups are not coordinated. Even if rows differ in the same columns in all groups, clusters may mean
    the same in some starts and not in others, at the same objective.

    ===================== =============================
    paper                 code
    ===================== =============================
    :math:`Z`             ``clues.avoid``
    :math:`p(c|x)`        ``memberships_``
    :math:`\rho`          ``temperature_``
    ===================== =============================

    *Deviations.* Those of `InformationBottleneck`. Several clusterings to avoid are replaced by their product. Rows
    that one of them does not cover have no weight and are only labeled, as if in any group that fits. If no row is
    covered by all of them, rows that are covered by the same ones form groups. If no group has rows that differ, there
    is one cluster. Both cases give a warning. A cluster without rows in a group has the profile of the whole group
    there. According to a survey, of two clusterings with the same information the one more similar to Z has the lower
    :math:`I(C;Y|Z)`; this holds only if :math:`I(C;Z|Y)` is equal, too, because
    :math:`I(C;Y|Z) = I(C;Y) - I(C;Z) + I(C;Z|Y)`.

    References
    ----------
    .. [Gondek2003] D. Gondek and T. Hofmann, "Conditional information bottleneck clustering", 3rd IEEE International
       Conference on Data Mining, Workshop on Clustering Large Data Sets, 2003.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.alternative import ConditionalIB
    >>> X = [[9, 1, 5, 1], [9, 2, 1, 5], [1, 9, 5, 1], [2, 9, 1, 5]]  # two topics, two styles
    >>> known = Clues(4, avoid=[0, 0, 1, 1])
    >>> model = ConditionalIB(2, random_state=0).fit(X, clues=known)
    >>> model.labels_[0] != model.labels_[1], model.labels_[2] != model.labels_[3]
    (np.True_, np.True_)
    """

    card = Card(
        paper="Gondek2003",
        title="Conditional information bottleneck",
        accepts=frozenset({"avoid"}),
        descends=False,
        invariant=frozenset({"scale"}),
        predicts=False,
        plain="",
        means=False,
        equation="Eq. 50 to 52 of the survey by Truong and Battiti (2013)",
        cost="O(nnz k), and tables of k by d by groups",
        aliases=("CIB", "Conditional information bottleneck"),
    )

    def _pull(self, joint: Joint, problem: Problem, drawn: Floats) -> Pull:
        return Pull(lam=0.0, mu=1.0)
