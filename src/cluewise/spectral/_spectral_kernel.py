"""SpectralKernelKMeans: k-means with a spectral kernel that is learned from links [Li2009]_."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Card
from cluewise.clues import Clues
from cluewise.core.graphs.laplacian import leading
from cluewise.spectral._base import Embedding, SpectralClusterer

__all__ = ["SpectralKernelKMeans"]

SLICE = 10_000
"""Number of rows or links in one block."""


class SpectralWeights(NamedTuple):
    """Weights of the eigenvectors."""

    weights: Floats  # (m,) decreasing, at least 0
    loss: float  # the objective that they minimize


def has_cannot_links(clues: Clues) -> bool:
    """Whether any cannot-link has a weight. Must-links alone say nothing: a constant kernel satisfies them."""
    return bool(clues.pairs(expand=True).cannot_weight.any())


def spectral_weights(vectors: Floats, clues: Clues, trust: float) -> SpectralWeights:
    """Decreasing weights β ≥ 0 for which F diag(β) Fᵀ is 1 on the diagonal and at must-links and 0 at cannot-links.

    With β_l = c_l + c_(l+1) + …, c ≥ 0, each entry of the kernel is linear in c: non-negative least squares. The system
    has one equation per row and per link. It is built in blocks of which only the triangular factor is kept.
    """
    m = vectors.shape[1]
    factor = np.empty((0, m + 1))
    for first, second, target, weight in _targets(len(vectors), clues, trust):
        lines = np.empty((len(first), m + 1))
        np.cumsum(vectors[first] * vectors[second], axis=1, out=lines[:, :m])
        lines[:, m] = target
        lines *= np.sqrt(weight)[:, None]
        factor = np.asarray(np.linalg.qr(np.vstack([factor, lines]), mode="r"))
    # Entries of eigenvectors get smaller with more rows; the tolerances of the solver assume numbers near 1.
    scale = float(np.abs(factor[:, :m]).max())
    steps, root = nnls(factor[:, :m] / scale, factor[:, m], maxiter=max(100, 30 * m))
    return SpectralWeights(np.cumsum(steps[::-1])[::-1] / scale, float(root) ** 2)


def _targets(n: int, clues: Clues, trust: float) -> Iterator[tuple[Ints, Ints, float, Floats]]:
    """Entries of the kernel in blocks: their two rows, their target value, and weights."""
    for start in range(0, n, SLICE):
        here = np.arange(start, min(start + SLICE, n))
        yield here, here, 1.0, np.ones(len(here))
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    for pairs, weights, target in ((must, must_weight, 1.0), (cannot, cannot_weight, 0.0)):
        for start in range(0, len(pairs), SLICE):
            some = pairs[start : start + SLICE]
            yield some[:, 0], some[:, 1], target, trust * weights[start : start + SLICE]


class SpectralKernelKMeans(SpectralClusterer):
    r"""K-means on the eigenvectors of a graph, each weighted by how well it agrees with the links.

    Use it when clusters follow a graph of neighbors, links are few, and it is not clear how many eigenvectors of the
    graph are informative. Links only determine the weights of about twenty eigenvectors: a few dozen links are enough,
    wrong ones do little harm, and many more do not help much. If links should act on single rows, use a method that
    propagates them. Labels and groups act as the links they imply.

    Parameters
    ----------
    {n_clusters}
    n_components : int, default=20
        Number of eigenvectors that are weighted.
    trust : float, default=10.0
        Weight of the squared error at a link of weight 1, relative to that of a row (published: 1).
    {affinity}
    profile : {"library", "published"}, default="library"
        "published" does not divide eigenvectors by degrees or rows by their length, with or without links.
    {embedded_k_means}

    Attributes
    ----------
    {labels_by_size_}
    eigenvalues_ : ndarray of shape (m,)
        Smallest eigenvalues of the normalized Laplacian.
    eigenvector_weights_ : ndarray of shape (m,)
        Weights of their eigenvectors, in decreasing order.
    kernel_loss_ : float
        Sum of squared errors of the learned kernel.
    embedding_ : ndarray of shape (n, r)
        Rows in the space of the kernel, without eigenvectors of weight 0.
    {n_clusters_}
    {embedded_k_means_}

    Notes
    -----
    With F the eigenvectors of the smallest eigenvalues of :math:`I - D^{-1/2} W D^{-1/2}`, the kernel
    :math:`K = F \operatorname{diag}(\beta) F^T` minimizes

    .. math:: \sum_i (k_{ii} - 1)^2
        + \text{trust} \Big( \sum_{ML} w_{ij} (k_{ij} - 1)^2 + \sum_{CL} w_{ij} k_{ij}^2 \Big)

    over :math:`\beta_1 \ge \dots \ge \beta_m \ge 0`, a least-squares problem with non-negative unknowns
    :math:`c_l = \beta_l - \beta_{l+1}`. Then k-means on the rows of :math:`F \operatorname{diag}(\sqrt\beta)`.

    ============================ ==============================
    paper                        code
    ============================ ==============================
    :math:`\beta`                ``eigenvector_weights_``
    :math:`m`                    ``n_components``
    ============================ ==============================

    *Deviations.* The method follows a description of the paper, not the paper itself, whose weights of the three sums
    may differ. In the library's profile eigenvectors are divided by the square roots of the degrees, as in ordinary
    spectral clustering, and the rows of the embedding by their length, so that the diagonal is 1. Without this, rows
    with many neighbors lie far from the others, whatever their cluster. Without cannot-links (including those that
    labels imply) this is ordinary spectral clustering, with equal weights: must-links alone are satisfied best by a
    constant kernel, for which all rows are the same.

    References
    ----------
    .. [Li2009] Z. Li and J. Liu, "Constrained clustering by spectral kernel learning", ICCV 2009.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.spectral import SpectralKernelKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]]
    >>> clues = Clues(8, must=[(2, 3)], cannot=[(3, 5)])
    >>> model = SpectralKernelKMeans(
    ...     3, n_components=4, trust=1, affinity="rbf", gamma=0.1, profile="published", random_state=0
    ... ).fit(X, clues=clues)
    >>> model.eigenvector_weights_.round(3)
    array([3.483, 2.405, 0.896, 0.896])
    """

    card = Card(
        paper="Li2009",
        title="Spectral clustering with a kernel learned from links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        predicts=False,
        sparse=False,
        weights=False,
        plain="",
        means=False,
        equation="spectral kernel learning, a quadratic program in the weights",
        memory="pairs",
        cost="O(n log n + (n + pairs)m²); labels and groups make up to n² pairs",
        aliases=("CCSKL",),
    )
    _parameter_constraints = SpectralClusterer._parameter_constraints | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "trust": [Interval(Real, 0, None, closed="left")],
        "profile": [StrOptions({"library", "published"})],
    }

    eigenvalues_: Floats
    eigenvector_weights_: Floats
    kernel_loss_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int = 20,
        trust: float = 10.0,
        affinity: str = "local",
        n_neighbors: int = 10,
        gamma: float | None = None,
        profile: str = "library",
        n_init: int | str = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.trust = trust
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.profile = profile
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _embed(self, affinity: Any, clues: Clues) -> Embedding:
        published, known = self.profile == "published", self.trust > 0 and has_cannot_links(clues)
        found = leading(affinity, self.n_components if known or published else self.n_clusters)
        vectors = found.vectors if published else found.vectors / np.sqrt(found.degrees)[:, None]
        if known or published:
            weights, loss = spectral_weights(vectors, clues, self.trust)
        else:  # ordinary spectral clustering, with equal weights
            flat = float(found.degrees.sum()) / vectors.shape[1]
            weights = np.full(vectors.shape[1], flat)
            loss = float(((flat * (vectors**2).sum(axis=1) - 1) ** 2).sum())
        used = weights > 1e-12 * weights.max()  # less is rounding
        points = vectors[:, used] * np.sqrt(weights[used])
        if known and not published:
            length = np.linalg.norm(points, axis=1, keepdims=True)
            points = points / np.where(length > 0, length, 1.0)
        results = {"eigenvalues_": 1 - found.values, "eigenvector_weights_": weights, "kernel_loss_": loss}
        return Embedding(points, results)
