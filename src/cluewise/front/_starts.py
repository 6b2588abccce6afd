"""Starts: clusterings of the grains, with and without clues, from which the fit to the clues begins."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import cut_tree, ward
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from cluewise._typing import Floats, Ints
from cluewise.front._evidence import Evidence
from cluewise.front._ground import Ground

__all__ = ["INFORMED", "LABELED", "PLAIN", "Starts", "match"]

PLAIN = ("consensus", "k-means", "spectral", "Ward", "mixture")
"""Clusterings without clues."""

INFORMED = ("propagation, near", "propagation, far")
"""Clusterings of the graph after clues have propagated along it, as in E2CP."""

LABELED = ("label spreading", "nearest label")
"""Classifications, if most clues are labels."""

REACH = {"propagation, near": 0.8, "propagation, far": 0.9, "label spreading": 0.98}
"""Probability that a clue propagates one step further."""

LABELS = 4.0
"""Weight of all labels together, per labelled row, when they propagate as links."""

AGREED = 0.4
"""Share of the clusterings that have to join two grains for the consensus to do so."""

GRAPH = 0.2
"""What an edge of the graph counts in the consensus."""

CLEAR = 0.5
"""The plain result is the spectral one if its normalized cut is below this share of any other's, else the consensus."""

SMALL = 400
"""Grains up to which eigenvectors are found by a dense solver."""

DIRECTIONS = 10
"""Principal components for the mixture."""


class Starts:
    """Clusterings of the grains of a ground into k clusters; those without clues are made once."""

    def __init__(self, ground: Ground, k: int, seed: int) -> None:
        self._ground, self.k = ground, min(k, ground.m)
        self._seed = seed
        self._plain: dict[str, Ints] = {}

    def find(self, name: str, evidence: Evidence) -> Ints:
        """The start of this name; ``evidence`` is about rows."""
        if name in PLAIN:
            return match(self.plain(name), evidence, self._ground.place.grain, self.k)
        known = evidence.renumber(self._ground.place.grain)
        if name == "label spreading":
            return self._spread_labels(known)
        if name == "nearest label":
            return self._take_nearest(known)
        return match(self._propagate(known, REACH[name]), evidence, self._ground.place.grain, self.k)

    # --- without clues ----------------------------------------------------------------------------------------

    def plain(self, name: str) -> Ints:
        """A clustering without clues."""
        if name not in self._plain:
            make = {
                "k-means": self._run_kmeans,
                "spectral": self._run_spectral,
                "Ward": self._run_ward,
                "mixture": self._run_mixture,
                "consensus": self._find_consensus,
            }
            self._plain[name] = make[name]()
        return self._plain[name]

    @property
    def default(self) -> str:
        """The clustering without clues to use if nothing speaks for another."""
        others = min(self._cut(name) for name in ("k-means", "Ward", "mixture"))
        return "spectral" if self._cut("spectral") < CLEAR * others else "consensus"

    def _cut(self, name: str) -> float:
        """Normalized cut: mean share of the edges of a cluster that leave it."""
        labels, ground = self.plain(name), self._ground
        member = csr_array((np.ones(ground.m), (labels, np.arange(ground.m))), shape=(self.k, ground.m))
        inside = (member @ ground.affinity * member.toarray()).sum(axis=1)
        whole = member @ ground.degree
        return float(np.mean(1 - inside[whole > 0] / whole[whole > 0]))

    def _run_kmeans(self) -> Ints:
        return self._group(self._ground.centers, n_init=10, weight=self._ground.sizes)

    def _run_spectral(self) -> Ints:
        return self._embed(self._ground.vectors[:, : self.k], self._ground.degree, n_init=10)

    def _run_ward(self) -> Ints:
        if self._ground.m == 1:
            return np.zeros(1, dtype=np.int64)
        return cut_tree(ward(self._ground.centers), self.k)[:, 0].astype(np.int64)

    def _run_mixture(self) -> Ints:
        ground = self._ground
        moved = ground.centers - ground.centers.mean(axis=0)
        directions = eigh(moved.T @ moved)[1][:, ::-1][:, :DIRECTIONS]
        points = moved @ directions
        spread = float(points.var())
        if spread == 0:
            return np.zeros(ground.m, dtype=np.int64)
        kind = "full" if ground.m > 20 * self.k else "diag"
        mixture = GaussianMixture(
            self.k, covariance_type=kind, reg_covar=1e-2 * spread, n_init=2, random_state=self._seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return mixture.fit_predict(points)

    def _find_consensus(self) -> Ints:
        """Spectral clustering by how many of the other clusterings join two grains, and by the graph."""
        ground = self._ground
        others = [self.plain(name) for name in PLAIN if name != "consensus"]
        shared = sum((labels[:, None] == labels for labels in others), np.zeros((ground.m, ground.m))) / len(others)
        shared[shared < AGREED] = 0
        shared += GRAPH * ground.affinity / max(ground.affinity.max(initial=0.0), 1e-300)
        np.fill_diagonal(shared, 0)
        return self._cluster_graph(shared)

    # --- with clues -------------------------------------------------------------------------------------------

    def _propagate(self, known: Evidence, reach: float) -> Ints:
        """Links propagate along the graph and change its weights, which are then clustered."""
        ground = self._ground
        links = self._sum_links(known)
        if not links.nnz:
            return self.plain("spectral")
        tied = np.flatnonzero(np.diff(links.indptr))
        walk = self._walk(reach)[:, tied]
        F = (walk @ links[tied][:, tied]) @ walk.T
        F /= np.abs(F).max()
        W = ground.affinity
        changed = np.where(F >= 0, 1 - (1 - F) * (1 - W), (1 + F) * W)
        np.fill_diagonal(changed, 0)
        return self._cluster_graph(changed)

    def _sum_links(self, known: Evidence) -> csr_array:
        """Net weight of the links between grains."""
        m = self._ground.m
        first, second = known.ends.T
        signed = np.where(known.is_must, known.weight, -known.weight)
        links = coo_array((signed, (first, second)), shape=(m, m)).tocsr()
        links = links + links.T
        if len(known.labeled):
            votes = self._count_votes(known)
            seen = csr_array(votes.sum(axis=1)[:, None])
            share = csr_array(votes)
            links = links + LABELS / len(known.labeled) * (2 * (share @ share.T) - seen @ seen.T)
        links = csr_array(links)
        links.setdiag(0)
        links.eliminate_zeros()
        return links

    def _count_votes(self, known: Evidence) -> Floats:
        """Number of labels of each class on each grain."""
        votes = np.zeros((self._ground.m, self.k))
        np.add.at(votes, (known.labeled, known.classes), 1.0)
        return votes

    @cache  # noqa: B019 - as long as the starts live
    def _walk(self, reach: float) -> Floats:
        """(1 − a) (I − aN)⁻¹, where a random walk from each grain ends."""
        values, vectors = self._ground.values, self._ground.vectors
        return (vectors * ((1 - reach) / (1 - reach * values))) @ vectors.T

    def _spread_labels(self, known: Evidence) -> Ints:
        scores = self._walk(REACH["label spreading"]) @ self._count_votes(known)
        return scores.argmax(axis=1)

    def _take_nearest(self, known: Evidence) -> Ints:
        """Class of the nearest labelled grain; on the grain itself the majority."""
        votes = self._count_votes(known)
        seen = np.flatnonzero(votes.sum(axis=1))
        centers = self._ground.centers
        squared = (centers**2).sum(axis=1)[seen] - 2 * centers @ centers[seen].T
        return votes[seen].argmax(axis=1)[squared.argmin(axis=1)]

    # --- clustering ---------------------------------------------------------------------------------------------

    def _cluster_graph(self, affinity: Floats) -> Ints:
        degree = affinity.sum(axis=1)
        degree = np.where(degree > 0, degree, 1.0)
        root = 1 / np.sqrt(degree)
        N = affinity * root * root[:, None]
        m, k = len(N), self.k
        if m <= SMALL or k > m // 8:
            vectors = eigh(N, subset_by_index=[m - k, m - 1])[1]
        else:
            vectors = eigsh(N, k, which="LA", v0=np.sqrt(degree), tol=1e-4)[1]
        return self._embed(vectors, degree, n_init=3)

    def _embed(self, vectors: Floats, degree: Floats, n_init: int) -> Ints:
        points = vectors / np.sqrt(degree)[:, None]
        length = np.linalg.norm(points, axis=1, keepdims=True)
        return self._group(points / np.where(length > 0, length, 1.0), n_init, None)

    def _group(self, points: Floats, n_init: int, weight: Any) -> Ints:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters
            means = KMeans(self.k, n_init=n_init, random_state=self._seed).fit(points, sample_weight=weight)
        return means.labels_.astype(np.int64)


def match(start: Ints, evidence: Evidence, grain: Ints, k: int) -> Ints:
    """Number clusters of the grains such that as many labels as possible agree."""
    if not len(evidence.labeled):
        return start
    count = np.zeros((k, k))
    np.add.at(count, (start[grain[evidence.labeled]], evidence.classes), 1.0)
    old, new = linear_sum_assignment(count, maximize=True)
    number = np.empty(k, dtype=np.int64)
    number[old] = new
    return number[start]
