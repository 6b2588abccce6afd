"""Super-instances: small k-means clusters with one representative row, split and merged by answers (COBRAS)."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.active._dialog import Answer, Question
from cluewise.active._known import Known
from cluewise.active._second_look import LEARNED, count_voices, error_rate_of, list_verdicts
from cluewise.active._state import State
from cluewise.active._strategy import Scene, Strategy, StrategyCard
from cluewise.centroid import PCKMeans
from cluewise.clues import Clues

__all__ = ["SuperInstances"]

DEEPEST = 7
"""Maximum splitting level: a super-instance is split into at most 2⁷ others at once."""

COARSE, SWEEPS = 16, 10
"""With more parts, k-means starts from random rows and stops after so many iterations; they need not be optimal."""

LISTED = 100
"""Maximum number of pairs of clusters, the closest first, that a batch is chosen from."""

TOLERATED = 0.003
"""Share of all pairs of rows that one answer may be expected to get wrong before it is asked for again."""

MOST = 15
"""Maximum number of answers to one question."""

Pair: TypeAlias = tuple[int, int]
Parts: TypeAlias = dict[tuple[bytes, int], list[Ints]]
"""By a set of rows and a number: the parts that k-means makes of it."""
Talk: TypeAlias = Generator[list[tuple[Pair, str]], bool | None, None]
"""Yields the pairs that may be asked now, the best first, and receives the answer to the first."""


class Procedure:
    """The state of the procedure: a function of data, seed, clues, and answers in order."""

    def __init__(self, X: Floats, given: Clues, seed: int, made: Parts | None = None) -> None:
        self.X = X
        self.seed = seed
        self._made = {} if made is None else made
        self.known = Known(given)
        self.learned = 0
        self.wanted: list[tuple[Pair, str]] = []
        self._members: list[Ints] = [np.arange(len(X))]
        self._row: list[int] = [self._medoid(self._members[0])]
        self._clusters: list[list[int]] = [[0]]
        self._complete: list[list[int]] = []  # clusters after the last complete round
        self._split: set[int] = set()  # super-instances that were split, or cannot be because their rows are equal
        self._talk = self._rounds()
        self._advance(next(self._talk, []))

    def learn(self, answer: Answer) -> None:
        """Add one answer and continue up to the next open question."""
        self.known.learn(answer)
        self.learned += 1
        self._advance(self.wanted)

    def risks(self, answers: Iterable[Answer], error_rate: float) -> list[Question]:
        """Questions to ask again, because a wrong answer would move too many pairs of rows; the worst first."""
        lead = float(np.log(1 / error_rate - 1))
        voices = count_voices(answers)
        odds = {pair: lead * (yes - no) for pair, (no, yes) in voices.items() if no + yes < MOST}
        size = {self._row[s]: float(len(self._members[s])) for cluster in self._clusters for s in cluster}
        risk = {one.pair: one.doubt * one.stake for one in list_verdicts(odds, size)}
        least = TOLERATED * len(self.X) ** 2 / 2
        pairs = sorted((pair for pair in risk if risk[pair] > least), key=lambda pair: -risk[pair])
        return [Question("pair", pair, "much depends on the answer, which may have been wrong.") for pair in pairs]

    def labels(self) -> Ints:
        """Clusters after the last complete round, or as they are in the first one."""
        labels = np.empty(len(self.X), dtype=np.int64)
        clusters = self._complete or self._clusters
        for number, cluster in enumerate(sorted(clusters, key=lambda c: min(int(self._members[s][0]) for s in c))):
            for s in cluster:
                labels[self._members[s]] = number
        return labels

    def _advance(self, wanted: list[tuple[Pair, str]]) -> None:
        try:
            while wanted and not self.known.open(Question("pair", wanted[0][0])):
                wanted = self._talk.send(self.known.same(*wanted[0][0]))
        except StopIteration:
            wanted = []
        self.wanted = wanted

    def _rounds(self) -> Talk:
        """Split the largest super-instance and merge clusters, until nothing is left to split."""
        while left := [s for s, rows in enumerate(self._members) if len(rows) > 1 and s not in self._split]:
            largest = max(left, key=lambda s: len(self._members[s]))
            level = yield from self._level(self._members[largest])
            parts = self._parts(self._members[largest], 2**level)
            self._split.add(largest)
            if len(parts) == 1:
                continue
            rest = [[s for s in cluster if s != largest] for cluster in self._clusters]
            new = range(len(self._row), len(self._row) + len(parts))
            self._clusters = [cluster for cluster in rest if cluster] + [[s] for s in new]
            self._members += parts
            self._row += [self._medoid(part) for part in parts]
            yield from self._merge()
            self._complete = [list(cluster) for cluster in self._clusters]

    def _level(self, rows: Ints) -> Generator[list[tuple[Pair, str]], bool | None, int]:
        """The number of times a half is halved again until two medoids belong together; at least 1."""
        for level in range(DEEPEST):
            halves = self._parts(rows, 2)
            why = f"each stands for one half of a group of {len(rows)} rows, and the halves may not belong together."
            if len(halves) == 1 or (yield [((self._medoid(halves[0]), self._medoid(halves[1])), why)]) is not False:
                return max(level, 1)
            rows = min(halves, key=lambda half: (len(half) == 1, len(half)))  # a single row cannot be halved
            if len(rows) == 1:
                return level + 1
        return DEEPEST

    def _merge(self) -> Talk:
        """Ask about the closest two clusters that are not known to be apart, and merge them after a yes."""
        in_vain: set[Pair] = set()
        while pairs := self._closest(in_vain):
            a, b, pair = pairs[0]
            same = self.known.same(*pair)
            if same is None:
                used: set[int] = set()
                wanted = []
                for one, other, rows in pairs:
                    if not used & {one, other}:
                        wanted.append((rows, "the closest rows of two clusters that may be one."))
                        used |= {one, other}
                same = yield wanted
            if same:
                self._clusters[a] += self._clusters.pop(b)
            elif same is None:
                in_vain.add(pair)

    def _closest(self, in_vain: set[Pair]) -> list[tuple[int, int, Pair]]:
        """Pairs of clusters not known to be apart, with their closest representatives, the closest clusters first."""
        rows = np.array(self._row)[np.concatenate([np.array(cluster) for cluster in self._clusters])]
        counts = np.array([len(cluster) for cluster in self._clusters])
        start = np.cumsum(counts) - counts
        x = self.X[rows].astype(np.float64)
        x -= x.mean(axis=0)  # far from the origin, squares would lose digits
        squares = np.einsum("ij,ij->i", x, x)
        far = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * (x @ x.T), 0.0))
        mean = np.add.reduceat(np.add.reduceat(far, start, axis=0), start, axis=1) / np.outer(counts, counts)
        one, other = np.triu_indices(len(counts), 1)
        order = np.argsort(mean[one, other], kind="stable")
        found: list[tuple[int, int, Pair]] = []
        # Two lists of numbers, not a list of pairs: thousands of small lists would trigger the garbage collector.
        for a, b in zip(one[order].tolist(), other[order].tolist()):
            if self.known.same(int(rows[start[a]]), int(rows[start[b]])) is False:
                continue
            between = far[start[a] : start[a] + counts[a], start[b] : start[b] + counts[b]]
            i, j = np.unravel_index(int(between.argmin()), between.shape)
            pair = int(rows[start[a] + i]), int(rows[start[b] + j])
            if pair not in in_vain:
                found.append((a, b, pair))
            if len(found) == LISTED:
                break
        return found

    def _parts(self, rows: Ints, k: int) -> list[Ints]:
        """A set of rows in at most k parts by k-means; the same set always gives the same parts."""
        key = rows.tobytes(), k
        if key not in self._made:
            self._made[key] = self._make_parts(rows, k)
        return self._made[key]

    def _make_parts(self, rows: Ints, k: int) -> list[Ints]:
        rng = np.random.default_rng([self.seed, int(rows[0]), len(rows), k])
        if len(rows) <= k:
            return [rows[i : i + 1] for i in range(len(rows))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows make fewer parts than k
            quick: dict[str, Any] = {"init": "random", "max_iter": SWEEPS} if k > COARSE else {}
            model = PCKMeans(k, n_init=1, random_state=int(rng.integers(2**31)), **quick).fit(self.X[rows])
        parts = [rows[model.labels_ == h] for h in range(k)]
        return [part for part in parts if len(part)]

    def _medoid(self, rows: Ints) -> int:
        x = self.X[rows]
        apart = x - x.mean(axis=0)
        return int(rows[np.einsum("ij,ij->i", apart, apart).argmin()])


class SuperInstances(Strategy):
    r"""Split super-instances and merge them into clusters, as the answers say.

    A super-instance is a set of rows that is represented by its medoid. At first, all rows are one. Each round splits
    the largest one, as finely as a few questions say, and then asks which clusters of super-instances belong together,
    the closest first. The number of clusters need not be known, and clusters may have any shape. It has a clustering of
    its own (`clustering`). This is the published procedure; `PairsAtStake` makes more of the same kind of questions.

    Parameters
    ----------
    error_rate : float or "learned", default=0.0
        Probability that an answer is wrong. If it is above 0, an answer is asked for again while three in a thousand of
        all pairs of rows or more are expected to be wrong because of it, and the majority counts. "learned": 0.1 at
        first, then as answers to the same question disagree. 0 is the published procedure.

    See Also
    --------
    PairsAtStake : Super-instances of a tree, split and merged in the order of what is at stake.

    Notes
    -----
    A round takes the largest super-instance :math:`S`. Its splitting level :math:`\ell` is found on a copy: 2-means
    halves it, and somebody is asked about the two medoids; after each "no" the smaller half is halved in turn, until
    somebody says yes. With :math:`\ell` the number of "no" answers, at least 1, k-means splits :math:`S` into
    :math:`2^\ell` super-instances, each a cluster for now. Then the closest two clusters, by the mean distance

    .. math:: D(A, B) = \frac{1}{|A||B|} \sum_{a \in A} \sum_{b \in B} \lVert x_a - x_b \rVert

    of their representatives, that are not known to be apart are taken, their closest representatives are asked about
    unless the answer follows from others, and they are merged after a yes; until all clusters are known apart.

    ============== ==========================
    symbol         in the code
    ============== ==========================
    :math:`S`      ``_members[largest]``
    :math:`\ell`   ``level``
    ============== ==========================

    *Deviations.* The clustering is that of the last complete round; inside the first round, where the paper has only
    one cluster of all rows to return, it is what has been merged so far. "Don't know" counts as no merge and ends the
    search for the level, which stops at 7. Given clues and all answers count, whatever they were given for. After a
    batch of questions the procedure goes on with the first of them; the answers to the others are known when it comes
    to them. That k-means makes :math:`2^\ell` parts, and that of two halves the smaller is halved next (the larger
    where the smaller is a single row), is our reading of the paper. Into more than 16 parts k-means begins with rows
    drawn at random and ends after 10 sweeps. When no super-instance is left to split, pairs drawn at random fill the
    budget.

    References
    ----------
    .. [VanCraenendonck2018] Van Craenendonck, T., Dumančić, S., Van Wolputte, E., & Blockeel, H. (2018). COBRAS:
       Interactive clustering with pairwise queries. Intelligent Data Analysis XVII, LNCS 11191, 353-366.

    Examples
    --------
    >>> from cluewise.active import SimulatedOracle, SuperInstances, interview
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]], [0, 0, 0, 1, 1, 1]
    >>> strategy = SuperInstances()
    >>> state = interview(strategy, X, SimulatedOracle(y), budget=6, random_state=0)
    >>> strategy.clustering(state, X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="VanCraenendonck2018",
        title="super-instances",
        asks=frozenset({"pair"}),
        cost="k-means on one super-instance",
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "error_rate": [Interval(Real, 0, 0.5, closed="left"), StrOptions({LEARNED})],
    }

    def __init__(self, *, error_rate: float | str = 0.0) -> None:
        self.error_rate = error_rate

    def clustering(self, state: State, X: Any) -> Ints:
        """The clusters of super-instances after the last complete round; those of the first round while it lasts.

        Parameters
        ----------
        {state}
        {X_same}

        Returns
        -------
        ndarray of shape (n,)
            Cluster of each row, from 0.
        """
        return self._procedure(self._scene(state, X)).labels()

    def _prepare(self, X: Any, state: State) -> Parts:
        """Parts by k-means as they are made, so that an answer to an old question costs none of them again."""
        return {}

    def _procedure(self, scene: Scene) -> Procedure:
        at: Procedure | None = scene.memo.get("procedure")
        if at is None:
            at = scene.memo["procedure"] = Procedure(scene.X, scene.firm, scene.state.seed, scene.ready)
        for answer in scene.answers[at.learned :]:
            at.learn(answer)
        return at

    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        at = self._procedure(scene)
        wanted = [Question("pair", pair, why) for pair, why in at.wanted]
        rate = error_rate_of(self.error_rate, scene.state.answers)
        again = at.risks(scene.state.answers, rate) if rate else []
        return [*again, *(question for question in wanted if scene.known.open(question))][:size]
