"""The ground: what is known about the rows before any clue.

Rows become grains, grains a neighbor graph. Three kinds of features describe a row to the likelihood of the clues:
leading eigenvectors of the graph, which follow clusters of any shape; similarities to landmarks, which follow local
differences; and the columns themselves, which say in which direction clusters differ. The eigenvectors are those of
grains; where rows are more than grains, they walk along the graph of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD

from cluewise._typing import Floats, Ints
from cluewise.core.chunks import Chunks
from cluewise.core.graphs.affinity import neighbor_affinity
from cluewise.core.graphs.laplacian import degrees, normalized
from cluewise.core.graphs.neighbors import nearest_rows
from cluewise.core.threads import map_blocks
from cluewise.front._references import References, average, choose_references, has_numbers
from cluewise.front._signature import Signature, sign_chunks
from cluewise.kernels.likelihood import softmax
from cluewise.kernels.neighbors import blend
from cluewise.sketch import Grains

__all__ = ["VIEWS", "Ground", "Place", "Scores", "Use", "find_affinity"]

CROWD, GRAINS = 100_000, 1500
"""Rows beyond which there are this many grains; before, `Grains` decides."""

COLUMNS = 100
"""Columns beyond which the rows are projected to as many principal components."""

SAMPLE = 10_000
"""Rows from which principal components are learned."""

NEIGHBORS, BLENDED = 10, 3
"""Neighbors of a grain in the graph; grains that a row blends where each row has a grain of its own."""

EIGENVECTORS, LANDMARKS = 150, 100

STAY = 0.98
"""Eigenvectors count as in a random walk that goes on with this probability at each step."""

VIEWS = {"mixed": (10.0, 5.0, 3.0), "linear": (1.0, 1.5, 13.5)}
"""Mean squared length of the three kinds of features; the clues choose a view."""

ENERGY = 0.995
"""Share of the squared length of the features that is kept."""

BLOCK = 2048
"""Rows whose features are made at once."""

FEW = 0.1
"""Share of the rows up to which they are looked up alone."""


Use = Callable[[slice, Floats], None]
"""What is done with the probabilities of some rows; those of all rows at once would need much memory."""


class Place(NamedTuple):
    """Where rows are: the grain of each, its nearest references, and their shares in it."""

    grain: Ints  # (n,)
    near: Ints  # (n, q)
    share: Floats  # (n, q), perhaps in half precision

    def take(self, rows: Ints | slice) -> Place:
        """The same of some rows."""
        return Place(self.grain[rows], self.near[rows], self.share[rows])

    def blend(self, rows: slice, values: Floats) -> Floats:
        """Mean of the values of the nearest references of some rows; ``values`` has a line for each reference."""
        return np.einsum("ij,ijc->ic", self.share[rows].astype(np.float32, copy=False), values[self.near[rows]])


class Scores(NamedTuple):
    """What gives rows their probabilities, which is small: one number for each cluster instead of many features."""

    by_reference: Floats  # (references, k), whose means are the probabilities themselves if there is nothing else
    similar: Floats | None = None  # (landmarks, k)
    columns: Floats | None = None  # (d, k)

    @property
    def k(self) -> int:
        """Number of clusters."""
        return self.by_reference.shape[1]


class Ground:
    """Grains of the rows, the graph of the grains, and features."""

    def __init__(self, X: Any, weight: Floats | None, rng: np.random.Generator, tied: Ints | None = None) -> None:
        """Look at rows, or at rows in chunks; of these, those with clues (``tied``) and references are kept.

        ``kept`` has their numbers, and ``rows`` are the kept rows, projected.
        """
        seed = int(rng.integers(2**31))
        self._projection = _learn_projection(X, rng, seed)
        chunks = self._project_chunks(X) if isinstance(X, Chunks) else None
        rows = self.project(X) if chunks is None else np.empty((0, 0))
        n = len(rows) if chunks is None else chunks.n
        self._grains = Grains(GRAINS if n > CROWD else "auto", random_state=seed)
        if chunks is None:
            self._grains.fit(rows, sample_weight=weight)
        else:
            self._grains._fit_chunks(chunks)
            self._grains.n_features_in_ = chunks.d
        # In an order that does not depend on that of the rows, nor on their position and direction.
        centers = self._grains.centers_.astype(np.float64)
        order = np.argsort(((centers - np.average(centers, axis=0, weights=self._grains.sizes_)) ** 2).sum(axis=1))
        self._number = np.argsort(order).astype(np.int32)
        self.centers = centers[order]
        self.sizes = self._grains.sizes_[order]
        self.m = len(self.centers)
        # Equal rows are one grain, and need no references.
        within = n > self.m and bool(self._grains.scatter_.any())
        chosen = choose_references(n, weight, rng) if within or chunks is not None else np.arange(0)
        self.kept: Ints | None = None
        if chunks is None:
            self.grain: Ints = self._number[self._grains.labels_]
            del self._grains.labels_
        else:
            self.kept = _unite(chosen, tied, self._grains._first_rows, n)
            chosen = np.searchsorted(self.kept, chosen)
            rows = chunks.take(self.kept)
            self.grain = self._number[self._grains.transform(rows)]
            del self._grains.labels_, self._grains._first_rows  # the former refers to all chunks
        self.rows: Floats = rows
        self._listed = self._list_neighbors()
        self._make_graph()
        count = min(EIGENVECTORS, self.m)
        along = self.vectors[:, :count] * np.sqrt((1 - STAY) / (1 - STAY * self.values[:count]))
        self._references = References(rows, self.grain, self.centers, along, chosen, chunks) if within else None
        self._place: Place | None = None
        self._prepare_features(along, rng)

    def _get_saved_state(self) -> dict[str, Any]:
        """What a saved model needs to predict: no graph, and of single rows only the references."""
        kept = vars(self).keys() - {
            "_place",
            "affinity",
            "degree",
            "features",
            "grain",
            "rows",
            "values",
            "vectors",
        }
        return {name: vars(self)[name] for name in sorted(kept)}

    def keep(self, numbers: Ints, chunks: Chunks) -> None:
        """Keep more rows of the chunks in memory."""
        assert self.kept is not None
        more = np.setdiff1d(numbers, self.kept)
        if not len(more):
            return
        rows = self.take(chunks, more)
        kept, order = np.unique(np.concatenate([self.kept, more]), return_index=True)
        place = Place(*(np.concatenate(both)[order] for both in zip(self.place, self.locate(rows))))
        found = {"kept": kept, "grain": place.grain, "rows": np.concatenate([self.rows, rows])[order]}
        # At once: Ctrl-C leaves all of it or nothing.
        self.__dict__.update(found, _place=place)

    def take(self, chunks: Chunks, numbers: Ints) -> Floats:
        """Some rows of the chunks, projected."""
        return self.project(chunks.take(numbers)).astype(chunks.dtype, copy=False)

    def sign(self, chunks: Chunks) -> Signature:
        """The signature of rows in chunks, in one pass."""
        return sign_chunks(self._project_chunks(chunks))

    def complete(self, rows: Floats, kept: Ints | None = None) -> Ground:
        """What a saved ground lacks, made again from the same rows, projected before; ``kept`` are their numbers."""
        whole = copy(self)
        whole.rows, whole.kept = rows, kept
        whole._make_graph()
        whole._place = self.locate(rows)
        whole.grain = whole._place.grain
        whole.features = self._find_features()
        return whole

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse what would lead compiled loops out of the arrays."""
        (m, d), listed, references = state["centers"].shape, state["_listed"], state["_references"]
        if not (
            len(listed) == m
            and listed.shape[1] > 0
            and has_numbers(listed, m)
            and has_numbers(state["_number"], m)
            and state["_grains"].n_features_in_ == d
            and (references is None or references._centers.shape == (m, d))
        ):
            raise ValueError("its grains are not in its arrays")
        self.kept = None  # which models of older versions do not know
        self.__dict__.update(state)

    def project(self, X: Any) -> Floats:
        """The rows with few columns: as they are, or projected to principal components."""
        if self._projection is not None:
            return self._projection.transform(X)
        return X if isinstance(X, np.ndarray) else X.toarray()

    def _project_chunks(self, chunks: Chunks) -> Chunks:
        if self._projection is None:
            return chunks
        return chunks.derive(_project, self._projection, dtype=chunks.dtype, width=len(self._projection.components_))

    def make_light(self) -> Ground:
        """A copy with what `locate` and `predict` need, to be sent elsewhere: no features of references."""
        light, features = Ground.__new__(Ground), ("_along", "_bases")
        state = {name: value for name, value in self._get_saved_state().items() if name not in features}
        references = None if self._references is None else self._references.make_light()
        light.__setstate__(state | {"kept": None, "_references": references})
        return light

    def locate(self, rows: Floats) -> Place:
        """Find the grains of new rows, projected before."""
        return self._find_place(rows, self._number[self._grains.transform(rows)])

    @property
    def place(self) -> Place:
        """Where the rows are. It is found when it is needed, after the choice, which needs much memory itself."""
        if self._place is None:
            if self._references is None:
                self._place = self._find_place(self.rows, self.grain)
            else:
                self._place = Place(self.grain, *self._references.find_all(self.rows, self.grain))
        return self._place

    def look_up(self, numbers: Ints) -> Place:
        """Where some of the rows are; if they are few, the others are not looked for."""
        if self._place is None and len(numbers) < FEW * len(self.grain):
            return self._find_place(self.rows[numbers], self.grain[numbers])
        return self.place.take(numbers)

    @property
    def reference_grain(self) -> Ints:
        """The grain of each reference; grains are their own references if there are no others."""
        return np.arange(self.m) if self._references is None else self._references.grain

    def _find_place(self, rows: Floats, grain: Ints) -> Place:
        if self._references is not None:
            return Place(grain, *self._references.find(rows, grain))
        keep = min(BLENDED, self.m)
        near, share = np.empty((len(rows), keep), dtype=np.int32), np.empty((len(rows), keep), dtype=np.float32)

        def work(block: slice) -> None:
            blend(rows[block], grain[block], self.centers, self._listed, near[block], share[block])

        _visit(work, len(rows))
        return Place(grain, near, share)

    def _make_graph(self) -> None:
        """The graph of the grains, and its eigenvectors, the smoothest first."""
        self.affinity: csr_array = find_affinity(self.centers)
        self.degree = degrees(self.affinity.toarray())
        self.values, self.vectors = self._find_vectors(EIGENVECTORS)

    def lead(self, count: int) -> Floats:
        """Leading eigenvectors, as columns."""
        if count > self.vectors.shape[1]:  # of very many clusters
            self.vectors = self._find_vectors(count)[1]
        return self.vectors[:, :count]

    def _find_vectors(self, count: int) -> tuple[Floats, Floats]:
        """All eigenvalues, falling, and leading eigenvectors."""
        # Its transpose is how LAPACK wants a symmetric matrix, so that it can work in place.
        values, vectors = eigh(normalized(self.affinity.toarray().T, self.degree), overwrite_a=True)
        return np.clip(values[::-1], -1.0, 1.0), np.ascontiguousarray(vectors[:, : -count - 1 : -1])

    def _list_neighbors(self) -> Ints:
        """Each grain followed by its neighbors: where the nearest grains of its rows are looked for."""
        others = nearest_rows(self.centers, NEIGHBORS).rows
        return np.column_stack([np.arange(self.m, dtype=np.int32), others])

    # --- features ---------------------------------------------------------------------------------------------

    def _prepare_features(self, along: Floats, rng: np.random.Generator) -> None:
        """Features of the grains, and how to make those of any row."""
        self._along = along if self._references is None else self._references.features
        mass = self.sizes / self.sizes.sum()
        drawn = rng.choice(self.m, min(LANDMARKS, int(np.count_nonzero(mass))), replace=False, p=mass)
        self._landmarks = self.centers[np.sort(drawn)]
        self._mean = mass @ self.centers
        squared = self._square(self.centers)
        typical = float(np.median(squared))
        self._gamma = 1.0 / typical if typical > 0 else 1.0
        self._level = mass @ np.exp(-self._gamma * squared)
        parts = self._grain_parts()
        lengths = [float(mass @ (part**2).sum(axis=1)) for part in parts]
        units = [1 / np.sqrt(length) if length > 0 else 0.0 for length in lengths]
        whole = np.hstack([*parts, np.ones((self.m, 1))])
        width = [part.shape[1] for part in parts]
        self._bases = {}
        for view, squares in VIEWS.items():
            scale = np.repeat([*np.multiply(np.sqrt(squares), units), 1.0], [*width, 1])
            self._bases[view] = scale[:, None] * _find_basis(whole * scale, mass)
        self.features = self._find_features()

    def _grain_parts(self) -> tuple[Floats, Floats, Floats]:
        """The three kinds of features of the grains."""
        along = self._along if self._references is None else self._references.of_grains()
        return along, *self._parts(self.centers)

    def _find_features(self) -> dict[str, Floats]:
        """Features of the grains, in each view."""
        whole = np.hstack([*self._grain_parts(), np.ones((self.m, 1))])
        return {view: whole @ basis for view, basis in self._bases.items()}

    def describe(self, rows: Floats, place: Place, view: str) -> Floats:
        """Features of some rows."""
        basis = self._bases[view]
        own = average(place.near, place.share, self._along)
        return np.hstack([own, *self._parts(rows), np.ones((len(rows), 1))]) @ basis

    def _parts(self, rows: Floats) -> tuple[Floats, Floats]:
        rows = rows.astype(np.float64, copy=False)
        return np.exp(-self._gamma * self._square(rows)) - self._level, rows - self._mean

    def _square(self, rows: Floats) -> Floats:
        """Squared distances to the landmarks."""
        near, marks = rows - self._mean, self._landmarks - self._mean
        squared: Floats = near @ marks.T
        squared *= -2
        squared += (near**2).sum(axis=1)[:, None] + (marks**2).sum(axis=1)
        return np.maximum(squared, 0.0, out=squared)

    def score(self, view: str, weights: Floats) -> Scores:
        """What `predict` needs; ``weights`` has a line for each feature of the view."""
        whole = self._bases[view] @ weights
        along, similar, columns, constant = np.split(
            whole, np.cumsum([self._along.shape[1], len(self._landmarks), self.centers.shape[1]])
        )
        by_reference = np.empty((len(self._along), weights.shape[1]), dtype=np.float32)

        def look(block: slice) -> None:
            by_reference[block] = self._along[block] @ along + constant

        _visit(look, len(by_reference))
        return Scores(by_reference, similar, columns)

    def predict(self, rows: Floats, place: Place, scores: Scores, use: Use) -> None:
        """Probability of every cluster for each row, for some rows after the others."""
        by_reference, similar, columns = scores
        if similar is None or columns is None:
            _visit(lambda block: use(block, place.blend(block, by_reference)), len(rows))
            return

        def work(block: slice) -> None:
            near, far = self._parts(rows[block])
            found = near @ similar + far @ columns
            found += place.blend(block, by_reference)
            softmax(found)
            use(block, found.astype(np.float32))

        _visit(work, len(rows))


def find_affinity(points: Floats) -> csr_array:
    """The graph of nearest neighbors, for grains or for points that stand for them."""
    return neighbor_affinity(points, min(NEIGHBORS, len(points) - 1))


def _project(chunk: Floats, projection: Any) -> Floats:
    if not len(chunk):  # which scikit-learn would refuse
        return np.empty((0, len(projection.components_)), dtype=chunk.dtype)
    return projection.transform(chunk).astype(chunk.dtype, copy=False)


def _unite(chosen: Ints, tied: Ints | None, first: Ints, n: int) -> Ints:
    """Rows that are kept: references, rows with clues, and one of each grain that has any."""
    every = [chosen, first[first < n]]
    return np.unique(np.concatenate(every if tied is None else [*every, tied]))


def _visit(work: Callable[[slice], None], n: int) -> None:
    """Do the work on every block of rows."""
    for _ in map_blocks(work, [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]):
        pass


def _learn_projection(X: Any, rng: np.random.Generator, seed: int) -> Any:
    """Principal components of rows with many columns; None if rows stay as they are."""
    n, d = X.shape
    if d <= COLUMNS:
        return None
    drawn = np.arange(n) if n <= SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False))
    some = X.take(drawn) if isinstance(X, Chunks) else X if n <= SAMPLE else X[drawn]
    # Without centering, as rows may be sparse; if the mean is large, it takes one component.
    with np.errstate(divide="ignore", invalid="ignore"):  # shares of the variance of equal rows, which has none
        return TruncatedSVD(COLUMNS, random_state=seed).fit(some)


def _find_basis(whole: Floats, mass: Floats) -> Floats:
    """Orthonormal directions that keep most of the squared length of features: rotations change no penalized fit."""
    values, vectors = eigh((whole * mass[:, None]).T @ whole)
    kept = np.cumsum(values[::-1]) <= ENERGY * values.sum()
    return np.ascontiguousarray(vectors[:, ::-1][:, : int(kept.sum()) + 1])
