"""Two cases of HMRF-KMeans: links without a metric (PKM), and links for the metric only (MKM) [Bilenko2004]_."""

from __future__ import annotations

from typing import Any

from cluewise._sklearn import StrOptions
from cluewise.base import Card
from cluewise.centroid._hmrf.hmrf import HMRFKMeans

__all__ = ["MKMeans", "PKMeans"]

_CHECKED = HMRFKMeans._parameter_constraints | {"metric": [StrOptions({"diagonal", "full"})]}


class PKMeans(HMRFKMeans):
    r"""K-means with soft links priced by distance: broken must-links between distant rows cost the most.

    Likewise, broken cannot-links between near rows cost the most. Use it instead of `PCKMeans`, in which all links of a
    weight cost the same, if such links are the most reliable. It does not learn a metric; `MPCKMeans` does.

    Parameters
    ----------
    {n_clusters}
    {link_factor}
    {init_neighborhoods}
    {order}
    {n_init 5}
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {labels_}
    {cluster_centers_}
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
    .. math:: J = \sum_i s_i \lVert x_i - \mu_{y_i} \rVert^2
        + \sum_{ML,\, y_i \ne y_j} w_{ij} \lVert x_i - x_j \rVert^2
        + \sum_{CL,\, y_i = y_j} \bar w_{ij} \big( \rho^2 - \lVert x_i - x_j \rVert^2 \big)

    =========================== ===========================================
    paper                       code
    =========================== ===========================================
    :math:`\mu_h`               ``cluster_centers_[h]``
    :math:`w_{ij}, \bar w_{ij}` ``penalty_`` times the weights of the links
    :math:`\rho`                diameter of the rows, or an upper bound
    :math:`s_i`                 ``sample_weight``
    =========================== ===========================================

    *Deviations.* Those of `HMRFKMeans`. The diameter is exact for up to 2048 rows; for more, it is an upper bound by
    distances from the mean.

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
        n_init: int | str = 5,
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
    r"""K-means with a metric that is learned from its clusters and the links they break; links do not affect labels.

    Use it as a baseline that isolates the effect of the metric. `MPCKMeans` also uses the links for the labels and is
    usually better.

    Parameters
    ----------
    {n_clusters}
    metric : {"diagonal", "full"}, default="diagonal"
        What to learn: weights of the columns, or a full matrix, which needs many more rows than columns.
    {per_cluster}
    {link_factor}
    {prior_rows}
    init : {"neighborhoods", "farthest-first", "k-means++", "random"}, array or callable, default="k-means++"
        Initialization, as in `PCKMeans`.
    {n_init 5}
    {max_iter_relative_tol_random_state 100}

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
        + \text{what broken links cost in } A \text{, as in MPCKMeans}

    ============= =======================
    paper         code
    ============= =======================
    :math:`\mu_h` ``cluster_centers_[h]``
    :math:`A_h`   ``metric_``
    :math:`s_i`   ``sample_weight``
    ============= =======================

    New labels lower only the first sum, a new metric lowers both, so the objective may rise.

    *Deviations.* Those of `HMRFKMeans`. Centers are initialized by k-means++ instead of perturbations of the mean.

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
        n_init: int | str = 5,
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
