"""Approximate kernel k-means, with centers in the span of a few rows [Chitta2011]_."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Clusterer, Problem, checked_data
from cluewise.core import assign, lloyd, loop, seeding
from cluewise.core.lloyd import State
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import one_blas_thread
from cluewise.ensemble._landmarks import (
    NAMES,
    Kernel,
    KernelRows,
    draw_rows,
    estimate_gamma,
    make_landmarks,
    sum_kernel,
)

__all__ = ["ApproxKernelKMeans"]


class Shared(NamedTuple):
    """What all starts share."""

    chosen: Any  # the landmarks as rows of X
    landmarks: Any
    rows: KernelRows  # all rows in the space of the kernel
    starts: Rows  # the landmarks in that space, from which starts are drawn
    total: float  # sum of the squared lengths of the rows in that space
    gamma: float


class ApproxKernelKMeans(Clusterer):
    r"""K-means in the space of a kernel, for clusters that are not spherical.

    Use it if the clusters are not linearly separable: rings, bananas, texts, histograms. Kernel k-means needs all pairs
    of rows; here centers are combinations of a few hundred rows, the landmarks, and time and memory grow linearly with
    the number of rows, as in k-means. It uses no clues, but `KCC` can combine partitions made with it.

    Parameters
    ----------
    {n_clusters}
    kernel : {"rbf", "polynomial", "linear", "cosine"} or callable, default="rbf"
        The kernel: :math:`e^{-\gamma \lVert x - y \rVert^2}`, :math:`(\gamma\, x \cdot y + c_0)^{degree}`,
        :math:`x \cdot y`, the cosine of the angle, or a function of two matrices that returns one number per
        pair of their rows.
    gamma : float or "auto", default="auto"
        The :math:`\gamma` of "rbf" and "polynomial". "auto": one over the median squared distance between different
        landmarks, and one over the number of columns. That suits compact clusters; bent ones, such as rings, need an
        "rbf" about ten times as narrow, and the result depends on it.
    degree : int, default=3
        Degree of "polynomial".
    coef0 : float, default=1.0
        The :math:`c_0` of "polynomial".
    landmarks : int or array-like of shape (m, d), default=500
        Number of rows to draw as landmarks (all if there are fewer), in proportion to their weights, or the landmarks
        themselves.
    init : {"k-means++", "random"}, array-like of shape (k, d) or callable, default="k-means++"
        Initialization: landmarks chosen by k-means++ or at random, or given centers.
    {n_init 10}
        Given centers make one start.
    {max_iter_relative_tol_random_state 300}

    Attributes
    ----------
    {labels_}
    landmarks_ : {ndarray, sparse matrix} of shape (m, d)
        The landmarks.
    coefficients_ : ndarray of shape (n_clusters, m)
        Centers as combinations of the landmarks.
    gamma_ : float
        The value used for ``gamma``.
    {n_clusters_}
    objective_ : float
        Sum of squared distances to the centers in the space of the kernel.
    {iterations_}
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: half the squared distance to the best other center minus that to its own.
    broken_ : Clues
        Always empty, since no clues are used.

    Notes
    -----
    With :math:`K_B` the kernel of all rows with the landmarks and :math:`\hat K` its rows at the landmarks, centers
    :math:`c_k = \sum_j \alpha_{kj}\, \phi(l_j)` minimize

    .. math:: J = \sum_i w_i \lVert \phi(x_i) - c_{z_i} \rVert^2
        = \sum_i w_i \left(k(x_i, x_i) - 2 (K_B)_i \alpha_{z_i}^T + \alpha_{z_i} \hat K \alpha_{z_i}^T\right)

    whose best :math:`\alpha` for given clusters is :math:`\hat U K_B \hat K^{-1}`, the rows of :math:`\hat U` being the
    shares of the rows in the clusters. This is k-means on the coordinates :math:`K_B \hat K^{-1/2}`, and is computed as
    such. With all rows as landmarks it is kernel k-means, with the linear kernel and as many independent landmarks as
    columns k-means.

    ================================ =====================================
    paper                            code
    ================================ =====================================
    :math:`\hat x_j`, :math:`m`      ``landmarks_``, ``landmarks``
    :math:`\kappa`                   ``kernel``
    :math:`\alpha`                   ``coefficients_``
    ================================ =====================================

    *Deviations.* Directions in which landmarks differ only by rounding are dropped (eigenvalues of :math:`\hat K` below
    :math:`10^{-12}` of the largest). There are ten starts by k-means++ among the landmarks instead of random labels. An
    empty cluster takes the row farthest from its center. If the kernel values exceed 256 MiB, they are recomputed in
    every iteration.

    References
    ----------
    .. [Chitta2011] R. Chitta, R. Jin, T. C. Havens and A. K. Jain, "Approximate kernel k-means: solution to large scale
       kernel clustering", KDD 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from cluewise import ApproxKernelKMeans
    >>> from cluewise.metrics import ari
    >>> X, y = make_circles(400, factor=0.3, noise=0.03, random_state=0)
    >>> model = ApproxKernelKMeans(2, gamma=5, landmarks=100, random_state=0).fit(X)
    >>> ari(y, model.labels_)
    1.0
    """

    card = Card(
        paper="Chitta2011",
        title="Kernel k-means with landmarks",
        accepts=frozenset(),
        invariant=frozenset({"shift", "scale"}),
        plain="",
        means=False,
        equation="kernel k-means with centers in the span of sampled rows",
        cost="O(nm(d + k))",
        aliases=("aKKm",),
    )
    _parameter_constraints = Clusterer._parameter_constraints | {
        "kernel": [StrOptions(set(NAMES)), callable],
        "gamma": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "landmarks": [Interval(Integral, 1, None, closed="left"), "array-like", "sparse matrix"],
    }

    coefficients_: Floats
    landmarks_: Any
    gamma_: float
    margin_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "auto",
        degree: int = 3,
        coef0: float = 1.0,
        landmarks: Any = 500,
        init: Any = "k-means++",
        n_init: int | str = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.landmarks = landmarks
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _prepare(self, problem: Problem) -> Shared:
        rows = problem.rows
        chosen, weight = self._choose_landmarks(problem)
        # Only "rbf" depends on differences alone; near the origin these lose the fewest digits.
        origin = rows.shift if self.kernel == "rbf" else np.zeros_like(rows.shift)
        kernel = Kernel(self.kernel, self._choose_gamma(chosen, origin, weight), int(self.degree), float(self.coef0))
        landmarks = make_landmarks(chosen, origin, kernel)
        near = landmarks.of(chosen) @ landmarks.root
        return Shared(
            chosen,
            landmarks,
            KernelRows(rows, landmarks),
            Rows(near, weight, np.zeros(near.shape[1])),
            sum_kernel(rows, landmarks),
            kernel.gamma,
        )

    def _choose_landmarks(self, problem: Problem) -> tuple[Any, Floats | None]:
        """The landmarks, and the weight of each as a start."""
        rows = problem.rows
        if isinstance(self.landmarks, Integral):
            drawn = draw_rows(rows, int(self.landmarks), problem.rng)
            chosen, weight = rows.X[drawn], None if rows.weight is None else rows.weight[drawn]
        else:
            chosen, weight = checked_data(self, self.landmarks, reset=False), None
            if hasattr(rows.X, "toarray") != hasattr(chosen, "toarray"):
                chosen = chosen.toarray() if hasattr(chosen, "toarray") else type(rows.X)(chosen)
        if chosen.shape[0] < problem.k:
            raise ValueError(f"there are {chosen.shape[0]} landmarks, fewer than n_clusters={problem.k}.")
        return chosen, weight

    def _choose_gamma(self, chosen: Any, origin: Floats, weight: Floats | None) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        return estimate_gamma(chosen, origin, weight) if self.kernel == "rbf" else 1 / chosen.shape[1]

    def _solve(self, problem: Problem) -> loop.Result[State]:
        shared: Shared = problem.shared
        k, rng = problem.k, problem.rng
        given = seeding.given_centers(self.init, ("k-means++", "random"), problem.rows, k, rng)
        if given is not None:
            start: Floats = shared.landmarks.of(given + problem.rows.shift) @ shared.landmarks.root
        else:
            start = seeding.fill(self.init, shared.starts, np.empty((0, shared.starts.d)), k, rng)
        move = partial(lloyd.step, rows=shared.rows, total=shared.total)
        # The smallest directions that are kept carry rounding errors into the objective.
        slack = 1e-8 * (1.0 + abs(shared.total))
        return loop.run(move, State(assign.no_labels(shared.rows.n), start), problem.limits, slack)

    def _settle(self, problem: Problem, best: loop.Result[State], *, stopping: bool = False) -> loop.Result[State]:
        (labels, at, _), shared = best.state, problem.shared
        labels = labels.copy()
        (sums, mass), moved = assign.nearest(shared.rows, at, labels)
        if not moved:
            return best
        distances = shared.total - 2 * float((sums * at).sum()) + float(mass @ np.einsum("hj,hj->h", at, at))
        return best.settle(best.state._replace(labels=labels), distances)

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        shared: Shared = problem.shared
        return super()._state_attributes(problem, state, trace) | {
            "gamma_": shared.gamma,
            "landmarks_": shared.chosen,
            "coefficients_": state.centers @ shared.landmarks.root.T,
            "_landmarks": shared.landmarks,
            "_centers": state.centers,
        }

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        lead = assign.lead(problem.shared.rows, result.state.centers, result.state.labels)
        return super()._attributes(problem, result) | {"margin_": lead.astype(problem.rows.dtype)}

    def predict(self, X: Any) -> Ints:
        """Assign new rows to the nearest center in the space of the kernel.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        check_is_fitted(self)
        rows = KernelRows(rows_of(checked_data(self, X, reset=False)), self._landmarks, keep=False)
        labels = assign.no_labels(rows.n)
        with one_blas_thread():
            assign.nearest(rows, self._centers, labels)
        return labels
