"""Constraint selection by committee: ask about the rows on which many clusterings disagree [Greene2007]_."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from cluewise._sklearn import Interval
from cluewise._typing import Array, Floats
from cluewise.active._committee.imputed import Imputed, Sums, agreements, certainty, imputed_clues
from cluewise.active._placing import Neighborhoods, PlacingStrategy
from cluewise.active._reach import reach_of
from cluewise.active._state import State
from cluewise.active._strategy import Scene, StrategyCard
from cluewise.clues import Clues
from cluewise.ensemble import partitions

__all__ = ["Committee"]

SAMPLE = 10_000
"""Maximum number of rows that one clustering learns from."""

MANY = 20
"""Maximum number of clusters of one clustering if the number of classes is unknown."""


class Committee(PlacingStrategy):
    r"""Ask about the rows on which many clusterings disagree.

    Many quick clusterings of random parts of the data vote on which rows belong together. Where they agree, no question
    is needed: these pairs are imputed, and groups of them provide a typical row of each class to begin with. Rows on
    which they disagree are between classes, and the least certain are asked about first. Use it when k-means finds a
    good part of the classes and errs at their boundaries.

    Parameters
    ----------
    n_clusters : int, optional
        Number of classes; unknown by default.
    n_partitions : int, default=100
        Number of clusterings in the committee.
    base_clusters : int or (low, high), optional
        Number of clusters of one clustering; each draws its own from a range. By default from two to three times
        ``n_clusters``, or if that is unknown from √n/2 to √n, at most 20. The paper has ``n_clusters``.
    sample : float, default=0.8
        Share of the rows that one clustering learns from, at most 10,000; it then labels all rows.
    must_share : float, default=0.95
        Least share of the committee that puts two rows together for an imputed must-link.
    cannot_share : float, default=0.05
        Largest share of the committee that puts two rows together for an imputed cannot-link; it is raised step by
        step, up to one half, while there are too few groups apart from each other.
    estimator : clusterer, optional
        Makes the clusterings instead of k-means; see `cluewise.ensemble.partitions`.
    {questions "pair"}
    {infer_last}

    See Also
    --------
    NeighborhoodUncertainty : Learns what belongs together from answers and a forest.
    ExploreConsolidate : Looks for rows of every class first.

    Notes
    -----
    With :math:`A_{ij}` the share of the clusterings that put rows i and j together, and sets :math:`C_t` of rows that
    are placed,

    .. math:: S_{it} = \frac{1}{|C_t|} \sum_{j \in C_t} A_{ij}, \qquad
        T_{it} = \frac{|C_t|}{\sum_s |C_s|} S_{it}, \qquad
        w'(i) = \frac{2 T_{ia}}{T_{ia} + T_{ib}} - 1,

    a and b the best and the second set of row i. The row with the lowest :math:`w'` is compared with the sets in
    decreasing order of :math:`S_{it}`.

    ============================ ===============================================
    paper                        code
    ============================ ===============================================
    :math:`\tau`                 ``n_partitions``
    :math:`\kappa_m, \kappa_c`   ``must_share``, ``cannot_share``
    :math:`r_t`                  first row of a neighborhood
    :math:`C_t`                  neighborhood, with the groups of its rows
    :math:`|C_t| S_{it}`         ``Sums.sums[t, i]`` / ``n_partitions``
    ============================ ===============================================

    *Deviations.* The clusterings have more clusters than there are classes: their groups are purer, and errors that
    k-means always makes are no longer shared by all. Representatives are first compared with each other, because an
    imputed cannot-link may be wrong, and because a clusterer learns from the answers what the committee only guessed.
    A row that is placed brings its whole imputed group. When all rows are in some group, the least certain rows that
    were not asked about come next; when the committee is certain of all of them, the row farthest from those asked
    about. Among equally uncertain rows, that of the largest group is asked about; a batch avoids rows that agree with
    those it has already. With more than 2000 rows, imputed groups are closed along the 10 nearest rows of each row and
    along rows with equal labels in all clusterings, not along all pairs. We do not know the numbers of the paper; the
    defaults are ours.

    References
    ----------
    .. [Greene2007] D. Greene and P. Cunningham, "Constraint selection by committee: an ensemble approach to
       identifying informative constraints for semi-supervised clustering", ECML 2007.

    Examples
    --------
    >>> from cluewise.active import Committee, SimulatedOracle, interview
    >>> X, y = [[0.0], [1.0], [2.0], [4.6], [7.0], [8.0], [9.0]], [0, 0, 0, 0, 1, 1, 1]
    >>> strategy = Committee(2, base_clusters=2)
    >>> state = interview(strategy, X, SimulatedOracle(y), budget=2, random_state=0)
    >>> [(answer.question.rows, answer.value) for answer in state.answers]
    [((4, 0), False), ((3, 4), False), ((3, 0), True)]
    >>> strategy.imputed(state, X).kinds == {"must", "cannot"}
    True
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="Greene2007",
        title="rows on which a committee of clusterings disagrees",
        asks=frozenset({"pair", "which", "label"}),
        cost="O(n τ); once O(n τ k d), and the nearest rows of all rows beyond 2000",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PlacingStrategy._parameter_constraints,
        "n_partitions": [Interval(Integral, 1, None, closed="left")],
        "base_clusters": [Interval(Integral, 1, None, closed="left"), tuple, list, None],
        "sample": [Interval(Real, 0, 1, closed="right")],
        "must_share": [Interval(Real, 0, 1, closed="right")],
        "cannot_share": [Interval(Real, 0, 1, closed="left")],
        "estimator": [None, object],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_partitions: int = 100,
        base_clusters: int | tuple[int, int] | None = None,
        sample: float = 0.8,
        must_share: float = 0.95,
        cannot_share: float = 0.05,
        estimator: Any = None,
        questions: str = "pair",
        infer_last: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_partitions = n_partitions
        self.base_clusters = base_clusters
        self.sample = sample
        self.must_share = must_share
        self.cannot_share = cannot_share
        self.estimator = estimator
        self.questions = questions
        self.infer_last = infer_last

    def _validate_params(self) -> None:
        super()._validate_params()
        given = self.base_clusters
        if isinstance(given, tuple | list) and not (
            len(given) == 2 and all(isinstance(one, Integral) for one in given) and 1 <= given[0] <= given[1]
        ):
            raise ValueError(f"base_clusters={given!r} is not a number of clusters or a range (low, high) of them.")

    def imputed(self, state: State, X: Any, *, weight: float = 0.01, limit: int = 100_000) -> Clues:
        """The pairs that the committee is certain about, as clues of low weight; nobody was asked about them.

        They are guesses: merge them with the answers (``state.clues | strategy.imputed(state, X)``) only for methods
        that may break clues, such as `PCKMeans`. ``state.clues`` never contains them. Do not expect much: they tell
        k-means what k-means has guessed. With ``base_clusters=n_clusters`` there are more must-links, and fewer of the
        cannot-links are wrong.

        Parameters
        ----------
        {state}
        {X_same}
        weight : float, default=0.01
            Weight of each pair; an answer has weight 1, and for each there may be thousands of guesses.
        limit : int, default=100_000
            Maximum number of pairs that are considered; of more, so many are drawn at random.

        Returns
        -------
        Clues
            Must-links and cannot-links, with the source "imputed".
        """
        bases = self._scene(state, X).ready.bases
        shares = (self.must_share, self.cannot_share)
        return imputed_clues(bases, shares, weight, limit, np.random.default_rng([state.seed, 2**31 + 1]))

    def _prepare(self, X: Any, state: State) -> Imputed:
        return Imputed(self._bases(X, state), X, (self.must_share, self.cannot_share), self.n_clusters)

    def _bases(self, X: Any, state: State) -> Array:
        """Algorithm 20 of the survey: clusterings of random parts of the rows, extended to all rows."""
        n, d = X.shape
        low, high = self._base_range(n)
        return partitions(
            X,
            n_partitions=self.n_partitions,
            n_clusters=(low, high),
            n_columns=d,
            n_rows=max(min(int(self.sample * n), SAMPLE), high),
            estimator=self.estimator,
            random_state=[state.seed, 2**31],
        )

    def _base_range(self, n: int) -> tuple[int, int]:
        """Fewest and most clusters of one clustering."""
        given, k = self.base_clusters, self.n_clusters
        if given is not None:
            low, high = (given, given) if isinstance(given, int | np.integer) else given
        elif k is not None:
            low, high = 2 * k, 3 * k
        else:
            high = max(2, min(int(n**0.5), MANY))
            low = -(-high // 2)
        return min(low, n), min(high, n)

    def _first(self, scene: Scene) -> int:
        first: int = scene.ready.representatives[0]
        return first

    def _sums(self, scene: Scene, hoods: Neighborhoods) -> Sums:
        """The sets C_t and what the committee says about each row and set."""
        imputed: Imputed = scene.ready
        claim = np.full(len(imputed.size), -1)
        for row, t in reversed(hoods.placed.items()):  # the row placed first decides
            claim[imputed.component[row]] = t
        home = claim[imputed.component]
        home[list(hoods.placed)] = list(hoods.placed.values())
        kept: Sums = scene.memo.setdefault("sums", Sums(scene.n))
        kept.move(imputed.bases, home, len(hoods.sets))
        return kept

    def _pick(self, scene: Scene, hoods: Neighborhoods, taken: set[int], rng: np.random.Generator) -> int | None:
        imputed: Imputed = scene.ready
        reach = reach_of(scene, hoods, taken)
        if self.n_clusters is None or len(hoods.sets) < self.n_clusters:
            for row in imputed.representatives:
                if reach.left[row]:
                    return row
        if not reach.left.any():
            return None
        kept = self._sums(scene, hoods)
        outside = reach.left & (kept.home < 0)
        left = np.flatnonzero(outside if outside.any() else reach.left)
        sure = certainty(kept.sums[:, left])
        if (sure >= 1).all():
            return reach.farthest()
        ahead = taken - hoods.asked
        near = [agreements(imputed.bases, row, left) for row in sorted(ahead)]
        score = sure + (np.max(near, axis=0) / len(imputed.bases) if near else 0)
        return int(left[np.lexsort([-imputed.size[imputed.component[left]], score])[0]])

    def _distances(self, scene: Scene, hoods: Neighborhoods, row: int) -> Floats:
        kept = self._sums(scene, hoods)
        sizes = np.bincount(kept.home[kept.home >= 0], minlength=len(hoods.sets))
        return np.asarray(-kept.sums[:, row] / sizes)

    def _reason(self, scene: Scene, hoods: Neighborhoods, row: int) -> tuple[str, float | None]:
        if row in scene.ready.representatives:
            return "a typical row of a group on which the committee agrees.", None
        sure = float(certainty(self._sums(scene, hoods).sums[:, [row]])[0])
        if sure >= 1:
            return "the committee is certain about all rows; this one is far from those asked about.", None
        return "a row on which the committee disagrees.", 1 - sure
