"""SpectralKernelKMeans: k-means in the space of a kernel that links have made from a graph [Li2009]_."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise.base import Card
from cluewise.clues import Clues
from cluewise.spectral._embedded import EmbeddedClusterer, Embedding
from cluewise.spectral._kernel import has_cannot_links, spectral_weights
from cluewise.spectral._laplacian import leading

__all__ = ["SpectralKernelKMeans"]


class SpectralKernelKMeans(EmbeddedClusterer):
    r"""K-means on the eigenvectors of a graph, each weighted by how well it agrees with the links.

    Use it when clusters follow a graph of near rows, links are few, and it is not clear how many eigenvectors of the
    graph say something about the clusters. Links choose weights of some twenty eigenvectors and nothing else: a few
    tens of them are enough, wrong ones do little harm, and many more do not help much further. Where links should
    have their way row by row, use a method that propagates them. Labels and groups act like the links that they stand
    for, and are written out.

    Parameters
    ----------
    {n_clusters}
    n_components : int, default=20
        Number of eigenvectors that are weighted.
    trust : float, default=10.0
        What the squared error at a link of weight 1 counts, compared with that of a row (published: 1).
    affinity : {"local", "nearest_neighbors", "rbf", "precomputed"}, default="local"
        Graph: "local", the nearest neighbors with weights :math:`e^{-d^2/st}`, s and t the distances of the two rows to
        the farthest of their neighbors; "nearest_neighbors", the same with equal weights; "rbf", all pairs of rows with
        weights :math:`e^{-\gamma d^2}`, for few rows; "precomputed", X itself, dense or sparse.
    n_neighbors : int, default=10
        Neighbors of each row in the first two.
    gamma : float or None, default=None
        The :math:`\gamma` of "rbf"; None is one over the median squared distance to the seventh neighbor.
    profile : {"library", "published"}, default="library"
        "published": eigenvectors as they are, no division by degrees or lengths, with or without links.
    n_init : int, default=10
        Number of starts of k-means; the lowest objective wins.
    {max_iter 300}
    {tol}
    {random_state}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row, the largest cluster first.
    eigenvalues_ : ndarray of shape (m,)
        Smallest eigenvalues of the normalized Laplacian.
    eigenvector_weights_ : ndarray of shape (m,)
        Weights of their eigenvectors, falling.
    kernel_loss_ : float
        Summed squared errors of the kernel that the weights make.
    embedding_ : ndarray of shape (n, r)
        Rows in the space of the kernel; eigenvectors of weight 0 are left out.
    {n_clusters_}
    objective_ : float
        Sum of squared distances to the means, in the embedding.
    trace_ : ndarray
        That sum after each iteration of k-means.
    n_iter_ : int
        Number of iterations of k-means.
    {broken_}

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

    *Deviations.* The method is rebuilt from a description, not from the paper itself; its weights of the three sums
    may differ. In the library's profile eigenvectors are divided by the roots of the degrees, as ordinary spectral
    clustering does, and the rows of the embedding by their length, so that the diagonal is 1 as it should; without
    this, rows of many neighbors lie far from the others, whatever their cluster. Without cannot-links (of labels, too)
    all eigenvectors that ordinary spectral clustering takes weigh the same, and it is that: must-links alone are kept
    best by a kernel of ones, in which all rows are the same.

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
    _parameter_constraints = EmbeddedClusterer._parameter_constraints | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "trust": [Interval(Real, 0, None, closed="left")],
        "profile": [StrOptions({"library", "published"})],
    }

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
        n_init: int = 10,
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
        else:  # nothing chooses between eigenvectors: those of ordinary spectral clustering, all alike
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
