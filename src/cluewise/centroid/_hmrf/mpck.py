"""MPCK-Means: k-means that learns a metric and pays by distance for every broken link [Bilenko2004]_."""

from __future__ import annotations

from typing import Any

from cluewise._sklearn import StrOptions
from cluewise.base import Card
from cluewise.centroid._hmrf.hmrf import HMRFKMeans

__all__ = ["MPCKMeans"]


class MPCKMeans(HMRFKMeans):
    r"""K-means that learns which columns matter, from its clusters and from soft links, while it clusters.

    Use it when links may be wrong, columns are of unequal worth, and a hundred links or more are known; with few, it is
    about as good as `PCKMeans`. One diagonal metric is the safe choice, one per cluster suits clusters of different
    shape, a full metric wants many more rows than columns.

    Parameters
    ----------
    {n_clusters}
    metric : {"diagonal", "full"}, default="diagonal"
        What is learned: weights of the columns, or a full matrix, which wants many more rows than columns.
    per_cluster : bool, default=False
        Whether each cluster has a metric of its own.
    penalty : float or "auto", default="auto"
        Factor of the weights of links. "auto" chooses one for must-links and one for cannot-links, such that the
        average link, if broken, costs what a link weighs that is right nine times out of ten. The paper uses 1.
    prior_rows : float, default=1.0
        So many imaginary rows, spread like all rows, support each metric. The paper has none.
    profile : {"library", "published"}, default="library"
        "published": as in `HMRFKMeans`.
    {init_neighborhoods}
    {order}
    {n_init 5}
    {max_iter 300}
    {tol}
    {random_state}

    Attributes
    ----------
    {labels_}
    {cluster_centers_}
    metric_ : ndarray of shape (d,), (d, d), (n_clusters, d) or (n_clusters, d, d)
        Weights of the columns, or matrices.
    {n_clusters_}
    objective_ : float
        The objective below.
    penalty_ : ndarray of shape (2,)
        The factors that were used for must-links and for cannot-links.
    {trace_}
    {n_iter_}
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: what the row would cost in the best other cluster minus what it costs in its own,
        links aside; negative where only the clues keep a row in its cluster.
    {broken_}
    {broken_cost_}

    Notes
    -----
    .. math:: J = \sum_i s_i \big( \lVert x_i - \mu_{y_i} \rVert^2_{A_{y_i}} - \log \det A_{y_i} \big)
        + \sum_{ML,\, y_i \ne y_j} w_{ij} \tfrac12 \big( \lVert \Delta \rVert^2_{A_{y_i}}
        + \lVert \Delta \rVert^2_{A_{y_j}} \big)
        + \sum_{CL,\, y_i = y_j = h} \bar w_{ij} \big( \langle A_h, R \rangle - \lVert \Delta \rVert^2_{A_h} \big)
        - \log P(A), \quad \Delta = x_i - x_j

    Labels, means and :math:`A_h = n_h S_h^{-1}` lower it in turn; :math:`S_h` is the scatter of the cluster plus what
    broken links add. R holds the squared edges of the box around all rows (diagonal metric) or the squared diameter.

    =========================== ===========================================
    paper                       code
    =========================== ===========================================
    :math:`\mu_h`               ``cluster_centers_[h]``
    :math:`A_h`                 ``metric_``
    :math:`w_{ij}, \bar w_{ij}` ``penalty_`` times the weights of the links
    :math:`P(A)`                ``prior_rows``
    :math:`s_i`                 ``sample_weight``
    =========================== ===========================================

    *Deviations.* Those of `HMRFKMeans`: above all, R stays fixed, so that no step raises the objective.

    References
    ----------
    .. [Bilenko2004] M. Bilenko, S. Basu and R. J. Mooney, "Integrating constraints and metric learning in
       semi-supervised clustering", ICML 2004.

    Examples
    --------
    >>> from cluewise import Clues, MPCKMeans
    >>> X = [[0, 0], [0.1, 9], [0.2, 4], [0, 6], [1, 1], [1.1, 8], [0.9, 5], [1, 3]]
    >>> clues = Clues(8, must=[(0, 1), (4, 5)], cannot=[(0, 4), (1, 5)])
    >>> model = MPCKMeans(2, random_state=0).fit(X, clues=clues)
    >>> model.labels_
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    >>> model.metric_[0] > 100 * model.metric_[1]
    np.True_
    """

    card = Card(
        paper="Bilenko2004",
        title="K-means with links that cost by distance in a learned metric",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        invariant=frozenset({"shift", "scale"}),
        plain="",
        equation="MPCK-Means, Eq. (24)-(28) of the survey",
        memory="pairs",
        cost="O(nkd + pairs (d + k)); labels and groups make up to n² pairs",
        aliases=("MPCK-Means", "MPKM", "Metric Pairwise Constrained K-Means"),
    )
    _parameter_constraints = {
        name: rule
        for name, rule in HMRFKMeans._parameter_constraints.items()
        if name not in ("distortion", "link_cost", "use_clues")
    } | {"metric": [StrOptions({"diagonal", "full"})]}
    distortion, link_cost, use_clues = "sqeuclidean", "distance", "everywhere"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "diagonal",
        per_cluster: bool = False,
        penalty: float | str = "auto",
        prior_rows: float = 1.0,
        profile: str = "library",
        init: Any = "neighborhoods",
        order: Any = "index",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.per_cluster = per_cluster
        self.penalty = penalty
        self.prior_rows = prior_rows
        self.profile = profile
        self.init = init
        self.order = order
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
