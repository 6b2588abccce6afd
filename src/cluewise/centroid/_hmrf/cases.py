"""Two cases of HMRF-KMeans: links without a metric (PKM), and links for the metric alone (MKM) [Bilenko2004]_."""

from __future__ import annotations

from typing import Any

from cluewise._sklearn import StrOptions
from cluewise.base import Card
from cluewise.centroid._hmrf.hmrf import HMRFKMeans

__all__ = ["MKMeans", "PKMeans"]

_CHECKED = HMRFKMeans._parameter_constraints | {"metric": [StrOptions({"diagonal", "full"})]}


class PKMeans(HMRFKMeans):
    r"""K-means with soft links that cost by distance: far must-links and near cannot-links cost most when broken.

    Use it like `PCKMeans` when links between far rows are the ones to be believed most; where links cost alike,
    `PCKMeans` is the simpler choice. It learns no metric: `MPCKMeans` does.

    Parameters
    ----------
    {n_clusters}
    penalty : float or "auto", default="auto"
        Factor of the weights of links. "auto" chooses one for must-links and one for cannot-links, such that the
        average link, if broken, costs what a link weighs that is right nine times out of ten. The paper uses 1.
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
    .. math:: J = \sum_i s_i \lVert x_i - \mu_{y_i} \rVert^2
        + \sum_{ML,\, y_i \ne y_j} w_{ij} \lVert x_i - x_j \rVert^2
        + \sum_{CL,\, y_i = y_j} \bar w_{ij} \big( \rho^2 - \lVert x_i - x_j \rVert^2 \big)

    =========================== ===========================================
    paper                       code
    =========================== ===========================================
    :math:`\mu_h`               ``cluster_centers_[h]``
    :math:`w_{ij}, \bar w_{ij}` ``penalty_`` times the weights of the links
    :math:`\rho`                diameter of the rows, or a bound of it
    :math:`s_i`                 ``sample_weight``
    =========================== ===========================================

    *Deviations.* Those of `HMRFKMeans`. The diameter is exact for up to 2048 rows; beyond, it is bounded by distances
    from the mean.

    References
    ----------
    .. [Bilenko2004] M. Bilenko, S. Basu and R. J. Mooney, "Integrating constraints and metric learning in
       semi-supervised clustering", ICML 2004.

    Examples
    --------
    >>> from cluewise import Clues, PKMeans
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(0, 2)])
    >>> model = PKMeans(2, init=[X[0], X[4]]).fit(X, clues=clues)
    >>> model.labels_, model.broken_
    (array([0, 0, 0, 0, 1, 1, 1, 0], dtype=int32), Clues(8 rows: 1 cannot-link))
    """

    card = Card(
        paper="Bilenko2004",
        title="K-means with links that cost by distance",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        equation="PKM, Eq. (26) of the survey with A = I",
        memory="pairs",
        cost="O(nkd + pairs d); labels and groups make up to n² pairs",
        aliases=("PKM", "Pairwise K-Means"),
    )
    _parameter_constraints = {
        name: _CHECKED[name]
        for name in ("n_clusters", "penalty", "init", "order", "n_init", "max_iter", "tol", "random_state")
    }
    distortion, metric, per_cluster, prior_rows = "sqeuclidean", None, False, 0.0
    link_cost, use_clues, profile = "distance", "everywhere", "library"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        penalty: float | str = "auto",
        init: Any = "neighborhoods",
        order: Any = "index",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.init = init
        self.order = order
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state


class MKMeans(HMRFKMeans):
    r"""K-means with a metric learned from its clusters and from the links that they break; links move no row.

    Use it as a yardstick: it shows what the metric does alone. `MPCKMeans` uses the same links for the labels, too,
    and mostly does better.

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
    init : {"neighborhoods", "farthest-first", "k-means++", "random"}, array or callable, default="k-means++"
        Start, as in `PCKMeans`.
    {n_init 5}
    {max_iter 100}
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
        links aside.
    {broken_}
    {broken_cost_}

    Notes
    -----
    .. math:: J = \sum_i s_i \big( \lVert x_i - \mu_{y_i} \rVert^2_{A_{y_i}} - \log \det A_{y_i} \big)
        + \text{what broken links cost in } A \text{, as in MPCKMeans}

    ============= =======================
    paper         code
    ============= =======================
    :math:`\mu_h` ``cluster_centers_[h]``
    :math:`A_h`   ``metric_``
    :math:`s_i`   ``sample_weight``
    ============= =======================

    Labels lower the first sum alone, the metric lowers both: the objective may rise.

    *Deviations.* Those of `HMRFKMeans`. The start is by k-means++ instead of at perturbations of the mean.

    References
    ----------
    .. [Bilenko2004] M. Bilenko, S. Basu and R. J. Mooney, "Integrating constraints and metric learning in
       semi-supervised clustering", ICML 2004.

    Examples
    --------
    >>> from cluewise import Clues, MKMeans
    >>> X = [[0, 0], [0.1, 9], [0.2, 4], [0, 6], [1, 1], [1.1, 8], [0.9, 5], [1, 3]]
    >>> clues = Clues(8, must=[(0, 1), (4, 5)])
    >>> MKMeans(2, penalty=1, random_state=0).fit(X, clues=clues).labels_
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    >>> MKMeans(2, random_state=0).fit(X).labels_
    array([1, 0, 1, 0, 1, 0, 0, 1], dtype=int32)
    """

    card = Card(
        paper="Bilenko2004",
        title="K-means with a metric learned from broken links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        descends=False,
        invariant=frozenset({"shift", "scale"}),
        plain="",
        equation="MKM, Eq. (24)-(28) of the survey, links in the metric alone",
        memory="pairs",
        cost="O(nkd + pairs d); labels and groups make up to n² pairs",
        aliases=("MKM", "Metric K-Means"),
    )
    _parameter_constraints = {
        name: rule
        for name, rule in _CHECKED.items()
        if name not in ("distortion", "link_cost", "use_clues", "profile", "order")
    }
    distortion, order = "sqeuclidean", "index"
    link_cost, use_clues, profile = "distance", "metric", "library"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "diagonal",
        per_cluster: bool = False,
        penalty: float | str = "auto",
        prior_rows: float = 1.0,
        init: Any = "k-means++",
        n_init: int = 5,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.per_cluster = per_cluster
        self.penalty = penalty
        self.prior_rows = prior_rows
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
