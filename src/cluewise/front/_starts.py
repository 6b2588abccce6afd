"""Starts: clusterings of the grains, with and without clues, from which the fit to the clues begins."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import cut_tree, ward
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csc_array, csr_array, eye_array
from scipy.sparse.linalg import eigsh, splu
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.core.graphs.laplacian import degrees, normalized
from cluewise.front._evidence import Evidence
from cluewise.front._ground import Ground, find_affinity
from cluewise.front._pieces import PER_CLUSTER, embed_for_pieces, join_pieces
from cluewise.front._stretch import stretch
from cluewise.metrics import ari
from cluewise.spectral import E2CP

__all__ = ["AGAIN", "INFORMED", "LABELED", "PLAIN", "PROPAGATION", "Starts", "match"]

PLAIN = ("consensus", "k-means", "spectral", "Ward", "mixture")
"""Clusterings without clues."""

PROPAGATION, AGAIN = "propagation", "second propagation"

INFORMED = (PROPAGATION, "pieces", AGAIN)
"""Clusterings of the graph after clues have propagated along it, as in E2CP; of pieces put together by clues; and of
another graph, of grains that are stretched in directions in which clusters of the first kind differ."""

LABELED = ("label spreading", "nearest label")
"""Classifications, if most clues are labels."""

REACH = 0.98
"""Probability that a label spreads one step further."""

RUNS, SETTLED = 3, 0.95
"""Runs of k-means, with ten starts each. If one of them agrees less with the best (adjusted Rand index), it is a matter
of luck what k-means finds."""

RESTARTS = 3
"""Starts of k-means in an embedding that depends on clues."""

AGREED = 0.4
"""Share of the clusterings that have to join two grains for the consensus to do so."""

GRAPH = 0.2
"""What an edge of the graph counts in the consensus."""

CLEAR, BETTER = 0.5, 0.95
"""Without clues the result is the spectral one if its normalized cut is below the first share of that of k-means; else
the consensus if it is below the second share and runs of k-means differ; else k-means."""

EVEN = 0.25
"""Share of an even size below which the smallest cluster is small: if it also is less than half as large as that of
k-means, a low cut only says that a few rows lie apart, and the clustering is not the default."""

SMALL = 400
"""Grains up to which eigenvectors are found by a dense solver."""

DIRECTIONS = 10
"""Principal components for the mixture."""


class Starts:
    """Clusterings of the grains of a ground into k clusters; those without clues are made once."""

    def __init__(self, ground: Ground, k: int, seed: int) -> None:
        self._ground, self.k = ground, k
        self._most = min(k, ground.m)  # clusters that can have grains
        self._seed = seed
        self._plain: dict[str, Ints] = {}
        self._is_settled = True  # whether runs of k-means agree
        self._pieces: Ints | None = None

    def find(self, name: str, evidence: Evidence, first: Ints | None = None) -> Ints:
        """The start of this name; ``evidence`` is about rows, and ``first`` are clusters by propagation, if known."""
        if name in PLAIN:
            return match(self.plain(name), evidence, self._ground.grain, self.k)
        known = evidence.renumber(self._ground.grain)
        if name == "label spreading":
            return self._spread_labels(known)
        if name == "nearest label":
            return self._take_nearest(known)
        if name == AGAIN:
            labels = self._propagate_again(known, self._propagate(known) if first is None else first)
        else:
            labels = self._propagate(known) if name == PROPAGATION else self._join_pieces(known, evidence)
        return match(_number(labels), evidence, self._ground.grain, self.k)

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
            self._plain[name] = _number(make[name]())
        return self._plain[name]

    @property
    def default(self) -> str:
        """The clustering without clues to use if nothing speaks for another."""
        usual = self._cut("k-means")
        if self._cut("spectral") < CLEAR * usual and self._is_even("spectral"):
            return "spectral"
        if not self._is_settled and self._cut("consensus") < BETTER * usual and self._is_even("consensus"):
            return "consensus"
        return "k-means"

    def _is_even(self, name: str) -> bool:
        """Whether the smallest cluster is no splinter of a few rows where k-means has none."""
        least, usual = (np.bincount(self.plain(one), self._ground.sizes, self.k).min() for one in (name, "k-means"))
        return bool(least >= min(EVEN * self._ground.sizes.sum() / self.k, usual / 2))

    def _cut(self, name: str) -> float:
        """Normalized cut: mean share of the edges of a cluster that leave it."""
        labels, ground = self.plain(name), self._ground
        member = csr_array((np.ones(ground.m), (labels, np.arange(ground.m))), shape=(self.k, ground.m))
        inside = (member @ ground.affinity * member.toarray()).sum(axis=1)
        whole = member @ ground.degree
        return float(np.mean(1 - inside[whole > 0] / whole[whole > 0]))

    def _run_kmeans(self) -> Ints:
        """The best of several runs, which also tell whether it matters where k-means starts."""
        ground = self._ground
        runs = [self._fit_means(ground.centers, 10, ground.sizes, self._most, self._seed + run) for run in range(RUNS)]
        best, *others = sorted(runs, key=lambda run: float(run.inertia_))
        self._is_settled = min(ari(best.labels_, other.labels_) for other in others) >= SETTLED
        return best.labels_.astype(np.int64)

    def _run_spectral(self) -> Ints:
        return self._embed(self._ground.lead(self._most), self._ground.degree, n_init=10)

    def _run_ward(self) -> Ints:
        if self._ground.m == 1:
            return np.zeros(1, dtype=np.int64)
        return cut_tree(ward(self._ground.centers), self._most)[:, 0].astype(np.int64)

    def _run_mixture(self) -> Ints:
        ground = self._ground
        moved = ground.centers - ground.centers.mean(axis=0)
        directions = eigh(moved.T @ moved)[1][:, ::-1][:, :DIRECTIONS]
        points = moved @ directions
        spread = float(points.var())
        if spread == 0:
            return np.zeros(ground.m, dtype=np.int64)
        kind = "full" if ground.m > 20 * self._most else "diag"
        mixture = GaussianMixture(
            self._most, covariance_type=kind, reg_covar=1e-2 * spread, n_init=2, random_state=self._seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return mixture.fit_predict(points)

    def _find_consensus(self) -> Ints:
        """Spectral clustering by how many of the other clusterings join two grains, and by the graph."""
        ground = self._ground
        others = [self.plain(name) for name in PLAIN if name != "consensus"]
        shared = np.zeros((ground.m, ground.m))
        for labels in others:
            shared += labels[:, None] == labels
        shared /= len(others)
        shared[shared < AGREED] = 0
        graph = ground.affinity.tocoo()
        shared[graph.row, graph.col] += GRAPH * graph.data / max(graph.data.max(initial=0.0), 1e-300)
        np.fill_diagonal(shared, 0)
        return self._cluster_graph(shared)

    # --- with clues -------------------------------------------------------------------------------------------

    def _propagate(self, known: Evidence) -> Ints:
        """E2CP on the graph of the grains."""
        lifted = self._lift(known)
        if not lifted.kinds:
            return self.plain("spectral")
        return self._fit_e2cp(self._ground.affinity, lifted).labels_.astype(np.int64)

    def _propagate_again(self, known: Evidence, first: Ints) -> Ints:
        """E2CP on the graph of grains that are farther apart where the first clusters differ."""
        ground, lifted = self._ground, self._lift(known)
        if not lifted.kinds:
            return first
        affinity = find_affinity(stretch(ground.centers, ground.sizes, first))
        return self._fit_e2cp(affinity, lifted).labels_.astype(np.int64)

    def _fit_e2cp(self, affinity: csr_array, lifted: Clues) -> E2CP:
        method = E2CP(self._most, affinity="precomputed", n_init=RESTARTS, random_state=self._seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about empty clusters
            return method.fit(affinity, clues=lifted)

    def embed(self, evidence: Evidence) -> Floats:
        """Grains after clues have propagated, with a column for each cluster: the first k are for k clusters."""
        lifted = self._lift(evidence.renumber(self._ground.grain))
        if not lifted.kinds:
            return self._ground.lead(self._most) / np.sqrt(self._ground.degree)[:, None]
        return self._fit_e2cp(self._ground.affinity, lifted).embedding_

    def group(self, points: Floats, evidence: Evidence) -> Ints:
        """Propagation from an embedding for at least as many clusters: far cheaper than to propagate anew."""
        labels = self._group(_scale_rows(points[:, : self._most]), RESTARTS, None)
        return match(_number(labels), evidence, self._ground.grain, self.k)

    def _join_pieces(self, known: Evidence, evidence: Evidence) -> Ints:
        """Pieces of clusters put together as the clues say; they are found once."""
        ground = self._ground
        if self._pieces is None:
            count = min(PER_CLUSTER * self.k, ground.m)
            self._pieces = self._group(embed_for_pieces(ground, self.k), RESTARTS, ground.sizes, count)
        start = match(self.plain("spectral"), evidence, ground.grain, self.k)
        return join_pieces(ground, self._pieces, known, start, self.k, np.random.default_rng(self._seed))

    def _lift(self, known: Evidence) -> Clues:
        """Links between grains by their net weight, and the most frequent label of each grain."""
        m = self._ground.m
        first, second = known.ends.T
        weight, _ = known.weigh_for_starts()
        signed = np.where(known.is_must, weight, -weight)
        links = (
            coo_array((signed, (np.minimum(first, second), np.maximum(first, second))), shape=(m, m)).tocsr().tocoo()
        )
        pairs = np.column_stack([links.row, links.col])
        pulls = (links.data > 0) & (links.row != links.col)
        parts = (links.data < 0) & (links.row != links.col)
        votes = self._count_votes(known)
        labels = np.where(votes.any(axis=1), votes.argmax(axis=1), -1) if len(known.labeled) else None
        return Clues(
            m,
            must=pairs[pulls],
            must_weight=links.data[pulls],
            cannot=pairs[parts],
            cannot_weight=-links.data[parts],
            labels=labels,
        )

    def _count_votes(self, known: Evidence) -> Floats:
        """Weight of the labels of each class on each grain."""
        votes = np.zeros((self._ground.m, self.k))
        np.add.at(votes, (known.labeled, known.classes), known.weigh_for_starts()[1])
        return votes

    def _spread_labels(self, known: Evidence) -> Ints:
        """The class whose labels a random walk from the grain meets most often."""
        ground = self._ground
        steps = csc_array(eye_array(ground.m) - REACH * normalized(ground.affinity, ground.degree))
        solve = splu(steps, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve
        return solve(self._count_votes(known)).argmax(axis=1)

    def _take_nearest(self, known: Evidence) -> Ints:
        """Class of the nearest labelled grain; on the grain itself the majority."""
        votes = self._count_votes(known)
        seen = np.flatnonzero(votes.sum(axis=1))
        centers = self._ground.centers
        squared = (centers**2).sum(axis=1)[seen] - 2 * centers @ centers[seen].T
        return votes[seen].argmax(axis=1)[squared.argmin(axis=1)]

    # --- clustering ---------------------------------------------------------------------------------------------

    def _cluster_graph(self, affinity: Floats) -> Ints:
        degree = degrees(affinity)
        N = normalized(affinity, degree)
        m, k = len(N), self._most
        if m <= SMALL or k > m // 8:
            vectors = eigh(N, subset_by_index=[m - k, m - 1])[1]
        else:
            vectors = eigsh(N, k, which="LA", v0=np.sqrt(degree), tol=1e-4)[1]
        return self._embed(vectors, degree, n_init=RESTARTS)

    def _embed(self, vectors: Floats, degree: Floats, n_init: int) -> Ints:
        return self._group(_scale_rows(vectors / np.sqrt(degree)[:, None]), n_init, None)

    def _group(self, points: Floats, n_init: int, weight: Any, count: int | None = None) -> Ints:
        return self._fit_means(points, n_init, weight, count or self._most, self._seed).labels_.astype(np.int64)

    def _fit_means(self, points: Floats, n_init: int, weight: Any, count: int, seed: int) -> KMeans:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters
            return KMeans(count, n_init=n_init, random_state=seed).fit(points, sample_weight=weight)


def _scale_rows(points: Floats) -> Floats:
    """The direction of each row."""
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(length > 0, length, 1.0)


def _number(labels: Ints) -> Ints:
    """Number clusters by where their grains are on average, in the order of the grains.

    So similar clusters get the same numbers, whoever found them, and from rows in chunks as from rows in memory.
    """
    _, first, own = np.unique(labels, return_index=True, return_inverse=True)
    middle = np.bincount(own, np.arange(len(own))) / np.bincount(own)
    return np.argsort(np.lexsort([first, middle]))[own]


def match(start: Ints, evidence: Evidence, grain: Ints, k: int) -> Ints:
    """Number clusters of the grains such that as many labels as possible agree."""
    if not len(evidence.labeled):
        return start
    count = np.zeros((k, k))
    np.add.at(count, (start[grain[evidence.labeled]], evidence.classes), evidence.weigh_for_starts()[1])
    old, new = linear_sum_assignment(count, maximize=True)
    number = np.empty(k, dtype=np.int64)
    number[old] = new
    return number[start]
