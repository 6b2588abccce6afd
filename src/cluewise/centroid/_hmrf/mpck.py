"""MPCK-Means: k-means that learns a metric and charges broken links by distance [Bilenko2004]_."""

from __future__ import annotations

from typing import Any

from cluewise._sklearn import StrOptions
from cluewise.base import Card
from cluewise.centroid._hmrf.hmrf import HMRFKMeans

__all__ = ["MPCKMeans"]


class MPCKMeans(HMRFKMeans):
    r"""K-means that learns which columns matter, from its clusters and from soft links, while it clusters.

    Use it when links may be wrong, some columns matter more than others, and there are a hundred links or more; with
    fewer, it is about as good as `PCKMeans`. One diagonal metric is the safe choice, one metric per cluster suits
    clusters of different shapes.

    Parameters
    ----------
    {n_clusters}
    metric : {"diagonal", "full"}, default="diagonal"
        What to learn: weights of the columns, or a full matrix, which needs many more rows than columns.
    {per_cluster}
    {link_factor}
    {prior_rows}
    profile : {"library", "published"}, default="library"
        See `HMRFKMeans`.
    {init_neighborhoods}
    {order}
    {n_init 5}
    {max_iter_relative_tol_random_state 300}

    Attributes
    ----------
    {labels_}
    {cluster_centers_}
    {metric_}
    {n_clusters_}
    {objective_notes_}
    {inertia_metric_}
    {link_factors_}
    {iterations_}
    {margin_cost_}
    {broken_}
    {broken_cost_}

    Notes
    -----
    .. math:: J = \sum_i s_i \big( \lVert x_i - \mu_{y_i} \rVert^2_{A_{y_i}} - \log \det A_{y_i} \big)
        + \sum_{ML,\, y_i \ne y_j} w_{ij} \tfrac12 \big( \lVert \Delta \rVert^2_{A_{y_i}}
        + \lVert \Delta \rVert^2_{A_{y_j}} \big)
        + \sum_{CL,\, y_i = y_j = h} \bar w_{ij} \big( \langle A_h, R \rangle - \lVert \Delta \rVert^2_{A_h} \big)
        - \log P(A), \quad \Delta = x_i - x_j

    Labels, means and :math:`A_h = n_h S_h^{-1}` lower it in turn; :math:`S_h` is the scatter of the cluster plus that
    of its broken links. R holds the squared edges of the bounding box (diagonal metric) or the squared diameter.

    =========================== ===========================================
    paper                       code
    =========================== ===========================================
    :math:`\mu_h`               ``cluster_centers_[h]``
    :math:`A_h`                 ``metric_``
    :math:`w_{ij}, \bar w_{ij}` ``penalty_`` times the weights of the links
    :math:`P(A)`                ``prior_rows``
    :math:`s_i`                 ``sample_weight``
    =========================== ===========================================

    *Deviations.* Those of `HMRFKMeans`. Most importantly, R is fixed, so no step raises the objective.

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
        n_init: int | str = 5,
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
