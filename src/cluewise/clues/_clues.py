"""`Clues`: everything that is known about n rows before they are clustered."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._lazy import lazy
from cluewise._typing import Array, ArrayLike, Ints
from cluewise.clues import _closure
from cluewise.clues._groups import code_list, codes_of, columns_of, compact, expand
from cluewise.clues._pairs import Pairs
from cluewise.clues._record import Record
from cluewise.clues.check import FEW, count, size_bounds, source_list
from cluewise.clues.links import GIVEN, Links
from cluewise.exceptions import ClueError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Clues"]


class Clues(Record):
    """What is known about ``n`` rows: labels, links, groups, sizes, clusterings to avoid.

    Immutable and cheap to slice; scikit-learn's cross-validation slices it together with ``X``.

    Parameters
    ----------
    n : int
        Number of rows.
    labels : array-like of shape (n,), optional
        Partial labels, any hashable values; -1, None, "" and nan mean unknown.
    must, cannot : array-like of shape (m, 2), optional
        Pairs of rows that belong together, or apart. A must-link of a row to itself is left out.
    together, apart : array-like of shape (n,) or (n, T), a list of columns, or `Groups`, optional
        Group columns. All rows of a ``together`` group belong together; no two rows of an ``apart`` group do.
    partitions : array-like of shape (n,) or (n, T), or a list of columns, optional
        Partial partitions, each with its own classes; -1 = unknown.
    sizes : (lower, upper) or array-like of shape (k, 2), optional
        Bounds on cluster sizes, for all clusters or for each; None or inf leaves a side open.
    avoid : array-like of shape (n,) or (n, T), or a list of columns, optional
        Known clusterings that the result should differ from.
    must_weight, cannot_weight, together_weight, apart_weight : float or array-like, optional
        How much a clue counts (default 1; inf = hard), one number or one per link or group.
    confidence, must_confidence, cannot_confidence : float or array-like, optional
        Probability in (0.5, 1] that a clue is right; stored as weight 2c - 1.
    size_unit : {"points", "weight"}, default="points"
        Whether ``sizes`` counts rows or sums ``sample_weight``.
    source : str, default="given"
        Where the clues come from.
    must_source, cannot_source, label_source : array-like of str, optional
        Where each single clue comes from.

    Attributes
    ----------
    n, shape : int, (n, n)
        Number of rows; scikit-learn slices clues as if they were a matrix of pairs.
    kinds : frozenset of str
        Kinds of clues that are present.
    labels, classes_, label_source : ndarrays
        Code of each row's class (-1 = unknown), the classes that the codes stand for, and the source of each
        label or None.
    must, cannot : ndarrays of shape (m, 2)
        Links, each once, first row < second row, sorted.
    must_weight, must_confidence, must_source, cannot_weight, cannot_confidence, cannot_source : ndarrays
        One entry per link; the confidence is nan where none was given.
    together, apart : tuples of Groups
        Group columns.
    partitions : tuple of ndarrays
        Partial partitions, stored compactly; `partition_codes` gives one of them with -1 = missing.
    sizes, size_unit : ndarray or None, str
        Lower and upper bounds, and what they count.
    avoid : tuple of ndarrays
        Clusterings to avoid, as codes.
    components, n_components : ndarray of shape (n,), int
        What must-links, ``together`` groups and equal labels join, numbered by smallest member.
    graph, cliques : Graph, Cliques
        What must be apart, between components: cannot-links; ``apart`` groups and label classes.
    contradictions : tuple of Conflict
        Rows that must be together and apart, each with the chain that proves it.
    tied, free : ndarrays
        Rows that some clue mentions, and the others.

    Notes
    -----
    The same pair may be given more than once. Reports of one source count once, reports of different sources
    add their weights.

    Examples
    --------
    >>> from cluewise import Clues
    >>> clues = Clues(6, labels=[0, 0, 1, -1, -1, -1], must=[(2, 3)], cannot=[(3, 4)])
    >>> clues
    Clues(6 rows: 3 labels in 2 classes, 1 must-link, 1 cannot-link)
    >>> clues.components
    array([0, 0, 1, 1, 2, 3], dtype=int32)
    >>> print(clues.explain(k=2))
    6 rows: 3 labels in 2 classes, 1 must-link, 1 cannot-link.
    5 of 6 rows are tied by a clue (83 %), 1 is free.
    Must-links and labels join the rows into 4 components, the largest of 2 rows.
    No contradictions.
    The clues can be satisfied with 2 clusters.
    """

    def __init__(
        self,
        n: int,
        *,
        labels: Any = None,
        must: ArrayLike | None = None,
        cannot: ArrayLike | None = None,
        together: Any = None,
        apart: Any = None,
        partitions: Any = None,
        sizes: Any = None,
        avoid: Any = None,
        must_weight: ArrayLike | None = None,
        cannot_weight: ArrayLike | None = None,
        together_weight: ArrayLike | None = None,
        apart_weight: ArrayLike | None = None,
        confidence: float | None = None,
        must_confidence: ArrayLike | None = None,
        cannot_confidence: ArrayLike | None = None,
        size_unit: str = "points",
        source: str = GIVEN,
        must_source: Sequence[str] | Array | None = None,
        cannot_source: Sequence[str] | Array | None = None,
        label_source: Sequence[str] | Array | None = None,
    ) -> None:
        n = count(n)
        if not isinstance(source, str):
            raise ClueError(f"source is a text that says where the clues come from; it is {source!r}.")
        if confidence is not None and not (isinstance(confidence, Real) and 0.5 < confidence <= 1):
            raise ClueError(f"confidence is {confidence}; a confidence is above 0.5 and at most 1.")
        sure = {"must": must_confidence, "cannot": cannot_confidence}
        sure = {kind: confidence if value is None else value for kind, value in sure.items()}
        codes: Ints = np.full(n, -1, np.int32)
        classes = np.empty(0, object)
        if labels is not None:
            codes, classes = codes_of("labels", n, labels)
        if label_source is None and source != GIVEN and labels is not None:
            label_source = [source] * n
        self._set(
            n=n,
            labels=codes,
            classes_=classes,
            label_source=None if label_source is None else source_list(label_source, n),
            _must=Links.build(
                "must", n, must, must_weight, sure["must"], source if must_source is None else must_source
            ),
            _cannot=Links.build(
                "cannot",
                n,
                cannot,
                cannot_weight,
                sure["cannot"],
                source if cannot_source is None else cannot_source,
            ),
            together=columns_of("together", n, together, together_weight, confidence, source),
            apart=columns_of("apart", n, apart, apart_weight, confidence, source),
            partitions=tuple(compact(c) for c in code_list("partition", n, partitions)),
            sizes=size_bounds(sizes),
            size_unit=size_unit,
            avoid=tuple(code_list("avoid", n, avoid)),
        )
        if size_unit not in ("points", "weight"):
            raise ClueError(f"size_unit is {size_unit!r}; it must be 'points' or 'weight'.")

    # --- building -----------------------------------------------------------------------------------------

    @classmethod
    def from_labels(cls, y: Any, *, source: str = GIVEN) -> Clues:
        """Clues from partial labels, -1, None, "" or nan = unknown.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues.from_labels(["red", "", "blue", "red"])
        Clues(4 rows: 3 labels in 2 classes)
        """
        if not hasattr(y, "__len__"):
            raise ClueError(f"labels needs one value per row; it is {y!r}.")
        return cls(len(y), labels=y, source=source)

    @classmethod
    def from_pairs(cls, n: int, must: ArrayLike | None = None, cannot: ArrayLike | None = None) -> Clues:
        """Clues from pairs of row numbers.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues.from_pairs(4, must=[(0, 1)], cannot=[(1, 2), (0, 3)])
        Clues(4 rows: 1 must-link, 2 cannot-links)
        """
        return cls(n, must=must, cannot=cannot)

    @classmethod
    def from_scores(
        cls, n: int, pairs: ArrayLike, probability: ArrayLike, *, bound: float = 1e-6, source: str = GIVEN
    ) -> Clues:
        """Clues from scored pairs: each has a probability that its two rows belong together.

        The weight is the log-odds, log(p / (1 - p)): a must-link if p is above 0.5, a cannot-link of weight
        log((1 - p) / p) if it is below; p = 0.5 says nothing. So weights of independent reports add up as evidence
        does. This is not ``confidence``, which stores 2c - 1: that is on the scale of the other weights, where a link
        that was given without a weight has 1.

        Parameters
        ----------
        n : int
            Number of rows.
        pairs : array-like of shape (m, 2)
            Pairs of row numbers. A pair that is listed twice counts once, with its largest weight.
        probability : array-like of shape (m,)
            Probability that the two rows belong together, from 0 to 1.
        bound : float, default=1e-6
            Probabilities closer to 0 or 1 than this count as this: no score makes a link hard, because a score of
            1.0 is mostly a rounded one. For what is certain, add links of infinite weight.
        source : str, default="given"
            Where the scores come from.

        Returns
        -------
        Clues
            One link for each pair whose probability is not 0.5.

        See Also
        --------
        cluewise.CorrelationClusterer : Groups that fit scored pairs best.

        Examples
        --------
        Scores of a record-linkage tool; records of one source are about different people, so each source is a group
        of rows that are ``apart``:

        >>> import numpy as np
        >>> from cluewise import Clues
        >>> scores = Clues.from_scores(4, [(0, 1), (1, 2), (0, 3)], [0.95, 0.2, 0.5])
        >>> scores
        Clues(4 rows: 1 must-link, 1 cannot-link, weights 1.38629 to 2.94444)
        >>> scores | Clues(4, apart=["shop", "bank", "shop", "bank"], apart_weight=np.inf)
        Clues(4 rows: 1 must-link, 1 cannot-link, 2 apart groups, weights 1.38629 to inf)
        """
        from cluewise.clues import _scores

        return cls(n, **_scores.links_of(count(n), pairs, probability, bound), source=source)

    @classmethod
    def from_matrix(cls, E: Any) -> Clues:
        """Clues from a symmetric matrix, dense or sparse: w > 0 must-link of weight w, w < 0 cannot-link.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues.from_matrix([[0, 1, 0], [1, 0, -1], [0, -1, 0]])
        Clues(3 rows: 1 must-link, 1 cannot-link)
        """
        from cluewise.clues import _matrix

        return cls(**_matrix.clues_of(E))

    @classmethod
    def from_distance(cls, X: ArrayLike, *, delta: float | None = None, epsilon: float | None = None) -> Clues:
        """Clues that a minimum separation (delta) or a maximum neighbor distance (epsilon) entails.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows, whose Euclidean distances count.
        delta : float, optional
            Rows of different clusters are at least this far apart. So rows closer than that belong together;
            the clue is a ``together`` group for every chain of such rows.
        epsilon : float, optional
            In a cluster of two or more rows each has another within this distance. Only a part of that can
            be said by clues: a row that has no other row within ``epsilon`` is alone in its cluster, a
            cannot-link to all other rows. More than a million such links are refused.

        Returns
        -------
        Clues
            What follows from the distances.

        See Also
        --------
        cluewise.clues.check_epsilon : Rows of a clustering that break the epsilon constraint.
        cluewise.clues.repair_epsilon : Move those rows.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues.from_distance([[0.0], [0.5], [5.0]], delta=1.0).components
        array([0, 0, 1], dtype=int32)
        >>> Clues.from_distance([[0.0], [0.5], [5.0]], epsilon=1.0)
        Clues(3 rows: 2 cannot-links)
        """
        from cluewise.clues import _distance

        return cls(**_distance.clues_of(X, delta=delta, epsilon=epsilon))

    @classmethod
    def sample(
        cls,
        y_true: ArrayLike,
        *,
        labels: float = 0,
        pairs: float = 0,
        noise: float = 0.0,
        label_noise: float = 0.0,
        among: float = 1.0,
        confidence: tuple[float, float] | None = None,
        exclude: Clues | None = None,
        profile: str = "clean",
        random_state: Any = None,
    ) -> Clues:
        """Draw clues from known labels, for tests and experiments.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The true class of every row.
        labels : int or float, default=0
            How many rows get a label: a count, or a share between 0 and 1.
        pairs : int or float, default=0
            How many pairs: a count, or a share (between 0 and 1) of all pairs, drawn without replacement.
        noise : float, default=0.0
            Share of the pairs that are reported wrong (in profile "ordered": each with this probability).
        label_noise : float, default=0.0
            Share of the labels redrawn uniformly from all classes.
        among : float, default=1.0
            Draw pairs only among this share (or count) of the rows.
        confidence : (low, high), optional
            Give each pair a confidence c drawn uniformly from this range; it is right with probability c.
        exclude : Clues, optional
            Pairs that must not be drawn again.
        profile : {"clean", "ordered"}, default="clean"
            "clean" draws unordered pairs; "ordered" draws ordered pairs as the TVClust paper did.
        random_state : int, Generator or None
            Seed.

        Returns
        -------
        Clues
            The drawn clues.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues.sample([0, 0, 0, 1, 1, 1], labels=2, pairs=5, random_state=0)
        Clues(6 rows: 2 labels in 1 class, 2 must-links, 3 cannot-links)
        """
        from cluewise.clues import _sampling

        return cls(
            **_sampling.draw(
                y_true,
                labels=labels,
                pairs=pairs,
                noise=noise,
                label_noise=label_noise,
                among=among,
                confidence=confidence,
                exclude=None if exclude is None else np.concatenate([exclude.must, exclude.cannot]),
                profile=profile,
                random_state=random_state,
            )
        )

    @classmethod
    def read(cls, path: str | Path, *, ids: Any = None, n: int | None = None) -> Clues:
        """Read clues from CSV, Parquet or JSON; ``ids`` are the names of the rows, if they have any.

        Of very many rows, ``ids`` can be a dict from the names in the file to row numbers; then ``n`` is needed.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from cluewise import Clues
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.csv"
        >>> _ = path.write_text("a,b,kind" + chr(10) + "ann,bob,must" + chr(10) + "bob,eve,cannot" + chr(10))
        >>> Clues.read(path, ids=["ann", "bob", "eve"])
        Clues(3 rows: 1 must-link, 1 cannot-link)
        """
        from cluewise.clues import files

        return cls(**files.read(path, ids=ids, n=n))

    def write(self, path: str | Path, *, ids: Any = None, raw_cells: bool = False) -> None:
        """Write the clues to CSV, Parquet or JSON, one clue per line, so that `read` gives them back.

        Names that a spreadsheet would run as a formula get an apostrophe in front in CSV, which `read` takes away
        again; ``raw_cells=True`` writes them as they are.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from cluewise import Clues
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.json"
        >>> clues = Clues(3, must=[(0, 2)])
        >>> clues.write(path)
        >>> Clues.read(path) == clues
        True
        """
        from cluewise.clues import files

        files.write(self, path, ids=ids, raw_cells=raw_cells)

    # --- what follows from it -----------------------------------------------------------------------------

    @lazy
    def components(self) -> Ints:
        """Component of every row under must-links, together groups and equal labels.

        Numbered by smallest member.
        """
        return _closure.join_rows(self.n, self._must, self.together, self.labels)

    @lazy
    def n_components(self) -> int:
        """Number of components, single rows included."""
        return int(self.components.max(initial=-1)) + 1

    @lazy
    def graph(self) -> _closure.Graph:
        """Cannot-links between components."""
        return _closure.lift_links(self._cannot, self.components, self.n_components)

    @lazy
    def cliques(self) -> _closure.Cliques:
        """Apart groups and label classes as sets of components that exclude each other."""
        return _closure.lift_cliques(self.apart, self.labels, self.components)

    @lazy
    def contradictions(self) -> tuple[_closure.Conflict, ...]:
        """Rows that must be together and apart, each with the chain that proves it."""
        return _closure.find_conflicts(self)

    @lazy
    def tied(self) -> Ints:
        """Rows that a label, link, group or partition mentions."""
        if self.kinds <= {"must", "cannot", "sizes", "avoid"} and len(self.must) + len(self.cannot) < self.n // FEW:
            rows = np.unique(np.concatenate([self.must, self.cannot]))
            rows.flags.writeable = False
            return rows
        mask = self.labels >= 0
        mask[self.must.ravel()] = True
        mask[self.cannot.ravel()] = True
        for group in (*self.together, *self.apart):
            mask |= np.append(group.sizes > 1, False)[group.codes]
        for partition in self.partitions:
            mask |= expand(partition) >= 0
        rows = np.flatnonzero(mask)
        rows.flags.writeable = False
        return rows

    @property
    def free(self) -> Ints:
        """Rows that no clue mentions."""
        mask = np.ones(self.n, dtype=bool)
        mask[self.tied] = False
        return np.flatnonzero(mask)

    def feasible(self, k: int) -> bool | None:
        """Whether ``k`` clusters can satisfy every clue as a hard one; None when a short search cannot tell.

        Examples
        --------
        >>> from cluewise import Clues
        >>> triangle = Clues(3, cannot=[(0, 1), (1, 2), (0, 2)])
        >>> triangle.feasible(2), triangle.feasible(3)
        (False, True)
        """
        from cluewise.clues import diagnosis

        return diagnosis.feasible(self, k)

    def require(self, k: int) -> None:
        """Raise `Contradiction` or `Infeasible`, with a witness, unless ``k`` clusters may do.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues(3, cannot=[(0, 1), (1, 2)]).require(2)
        """
        from cluewise.clues import diagnosis

        diagnosis.require(self, k)

    def explain(self, k: int | None = None) -> str:
        """A short diagnosis to read: what is there, whether it contradicts itself, whether ``k`` clusters do.

        Examples
        --------
        >>> from cluewise import Clues
        >>> print(Clues(3, cannot=[(0, 1), (1, 2), (0, 2)]).explain(k=2))
        3 rows: 3 cannot-links.
        3 of 3 rows are tied by a clue (100 %), none is free.
        No contradictions.
        Not satisfiable with 2 clusters: rows 0, 1 and 2 must all be apart, which needs 3 clusters,
        but there are only 2.
        """
        from cluewise.clues import diagnosis

        return diagnosis.explain(self, k)

    def pairs(self, *, expand: bool = False, limit: int = 10**7) -> Pairs:
        """Links as (must, must_weight, cannot, cannot_weight); ``expand`` adds those of labels and groups.

        Labels and groups that make more than ``limit`` links are refused.

        Examples
        --------
        >>> from cluewise import Clues
        >>> must, _, cannot, _ = Clues(3, labels=[0, 0, 1]).pairs(expand=True)
        >>> must.tolist(), cannot.tolist()
        ([[0, 1]], [[0, 2], [1, 2]])
        """
        from cluewise.clues import _expansion

        must, cannot = _expansion.expand(self, limit) if expand else (self._must, self._cannot)
        return Pairs(must.pairs, must.weight, cannot.pairs, cannot.weight)

    def closed(self, *, limit: int = 10**6) -> Clues:
        """The same clues with everything that follows from them: entailed must-links, cannot-links and labels.

        Methods that price each link separately use clues better when what follows is written out. An entailed link
        weighs as much as the weakest link of the components that it joins or parts; its source is "entailed". Rows
        that must be together and apart entail nothing more.

        Parameters
        ----------
        limit : int, default=1_000_000
            More entailed links than this are refused.

        Returns
        -------
        Clues
            The given clues and the entailed ones.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues(4, must=[(0, 1), (1, 2)], cannot=[(2, 3)]).closed().cannot.tolist()
        [[0, 3], [1, 3], [2, 3]]
        """
        from cluewise.clues import _expansion

        return self | type(self)(self.n, **_expansion.entail(self, limit), source=_expansion.ENTAILED)

    def to_matrix(self) -> csr_array:
        """Links as a symmetric sparse matrix: +weight must-links, -weight cannot-links, 0 unknown.

        Examples
        --------
        >>> from cluewise import Clues
        >>> Clues(3, must=[(0, 1)], cannot=[(1, 2)]).to_matrix().toarray()
        array([[ 0.,  1.,  0.],
               [ 1.,  0., -1.],
               [ 0., -1.,  0.]])
        """
        return self.pairs().to_matrix(self.n)
