"""The conditional information bottleneck: what clusters tell beside what is known already [Gondek2003]_."""

from __future__ import annotations

from cluewise._typing import Floats
from cluewise.alternative._ib.base import Bottleneck
from cluewise.alternative._ib.joint import Joint
from cluewise.alternative._ib.steps import Pull
from cluewise.base import Card, Problem

__all__ = ["ConditionalIB"]


class ConditionalIB(Bottleneck):
    r"""Cluster rows of counts by what is left to tell once some clusterings are known.

    Use it for counts or shares with a clustering that is known or uninteresting (``clues.avoid``), when each of its
    groups is to be cut up well and it matters less whether clusters mean the same in all of them:
    `CoordinatedConditionalIB` sees to that as well.

    Parameters
    ----------
    {n_clusters}
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
    CoordinatedConditionalIB : Clusters that mean the same in all groups.
    CondEns : The same aim for points.

    Notes
    -----
    With Z the cell of a row in the product of all clusterings to avoid, memberships :math:`q(c|x)` maximize

    .. math:: F(q) = I(C;Y|Z) - \rho I(C;X)

    by the equations of `InformationBottleneck` with the profile of a cluster taken inside each group,

    .. math:: p(y|c,z) \propto \sum_x p(x) p(z|x) q(c|x) p(y|x), \quad
        q(c|x) \propto p(c) \exp \Big( \tfrac{1}{\rho} \sum_z p(z|x) \sum_y p(y|x) \log p(y|c,z) \Big)

    As :math:`\rho` falls, F ceases to depend on which cluster of one group has the name of which cluster of another:
    the groups are not coordinated. Even where the same columns tell rows apart in all groups, expect clusters to
    mean the same in some starts and not in others, at the same objective.

    ===================== =============================
    paper                 code
    ===================== =============================
    :math:`Z`             ``clues.avoid``
    :math:`p(c|x)`        ``memberships_``
    :math:`\rho`          ``temperature_``
    ===================== =============================

    *Deviations.* Those of `InformationBottleneck`. Several clusterings to avoid are one, their product. Rows that one
    of them does not cover count for nothing and are only labeled, as if in any group that fits; where no row is in all
    of them, rows that the same ones cover make groups. Where no group holds rows that differ there is one cluster; a
    warning tells of both. A cluster without rows
    in a group looks there like the whole group. That of two clusterings which tell the same the one more like Z has the
    lower :math:`I(C;Y|Z)`, as a survey has it, holds only where :math:`I(C;Z|Y)` is the same, too, because
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
