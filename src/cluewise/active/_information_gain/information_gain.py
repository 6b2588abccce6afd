"""Ask about rows whose cluster is least certain, in rounds: information gain [Huang2007]_."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.active._dialog import Answer, Question
from cluewise.active._information_gain import ig_kmeans as ig
from cluewise.active._known import Known, resolve
from cluewise.active._placing import neighborhoods
from cluewise.active._state import State
from cluewise.active._strategy import Scene, Strategy, StrategyCard
from cluewise.clues import Clues
from cluewise.core.threads import one_blas_thread

__all__ = ["InformationGain"]

SAMPLE = 20_000
"""Maximum number of rows that are clustered and asked about; of more, a sample."""

STARTS = 5
"""Number of starts of the clustering without clues."""

SPARE = 10
"""Number of planned questions for each one of a round, because answers to some settle others."""

MEMBERS = 100
"""Maximum number of linked rows of a given neighborhood in the clustering, which visits them one by one."""

Pair = tuple[int, int]


class Ready(NamedTuple):
    """What depends on the data alone."""

    rows: Ints  # the rows that are asked about, sorted
    place: Ints  # (n,) their numbers among these, -1 for the others
    unit: Any  # their directions
    centers: Floats  # centers without clues


class InformationGain(Strategy):
    r"""Ask about rows between two clusters, and cluster again with the answers after each round.

    Use it when the number of clusters is known and k-means finds about the right clusters: the answers correct its
    errors between them. The budget is split into rounds. Each begins with a clustering by all answers so far; of some
    rows drawn at random, those whose cluster is least certain are compared with a row in the middle of their cluster.
    Within a round questions do not depend on answers, so that a round may be asked at once.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    gain : {"dependent", "independent"}, default="dependent"
        Whether rows that are similar to rows of earlier questions count as more certain.
    n_rounds : int, default=10
        Number of rounds.
    candidates : int or None, default=10
        Number of rows drawn in each round, for each of its questions; None: all rows.
    similarity : {"auto", "cosine", "distance"}, default="auto"
        "cosine" is for documents and other rows without negative numbers; negative cosines count as 0. "distance" is
        the cosine seen from a point outside of the data, which falls with the distance. "auto" is "cosine" for sparse
        X, and otherwise "distance".
    rho : float, default=0.5
        Weight of the rows in the objective of the clustering; that of the answers is ``1 - rho``.
    epsilon : float, default=1.0
        Weight of rows of earlier questions in the dependent gain.

    See Also
    --------
    Committee : Rows on which many clusterings disagree.

    Notes
    -----
    .. math::
        O = \rho \sum_i \psi(x_i, \mu_{y_i}) + (1 - \rho) \Big( \sum_{ML} \psi(x_i, x_j) [y_i \ne y_j]
        + \sum_{CL} (1 - \psi(x_i, x_j)) [y_i = y_j] \Big), \quad \psi = 1 - \cos

    .. math::
        G(x) = -p \log p - (1 - p) \log (1 - p), \quad p = \frac{s(x, \mu)}{s(x, \mu) + s(x, \mu')}

    ============================= =======================================
    survey, Eq. 72 to 87          code
    ============================= =======================================
    :math:`L, P = Q/L`            ``n_rounds``, questions of a round
    :math:`S`                     ``candidates`` times :math:`P`
    :math:`p(j_m | w(x, \mu))`    ``chances``
    :math:`s_d`                   ``dependent``
    :math:`\hat c_h`              rows of earlier questions in cluster h with :math:`p > 1/2`
    :math:`\epsilon Q / |X|`      ``share``, at most 1
    ============================= =======================================

    *Deviations.* Where the source only says "another document of the cluster" the second row is the one most similar
    to its center, of those that most rows of the cluster are known to be with. p takes it for granted that a row
    belongs to one of two clusters that differ: before the first row between two of them, their middles are compared. A
    row that was told apart from its cluster may be drawn again once the clustering has put it into another one; other
    rows are drawn once. The clustering starts from centers without clues and, once more, from rows known to be
    together; the lower objective counts. Labels and groups that are given act as links between neighborhoods and
    inside them, up to 100 rows of each. Beyond 20,000 rows a sample of this size is clustered and asked about.
    "distance" lets the method work on rows of any kind: relative to their mean, each gets one more column, the length
    of the longest, so that no cosine is negative and the row with the highest gain is about the one whose distances to
    two centers differ least.

    References
    ----------
    .. [Huang2007] R. Huang, W. Lam and Z. Zhang, "Active learning of constraints for semi-supervised text
       clustering", SIAM International Conference on Data Mining, 2007.

    Examples
    --------
    >>> from cluewise.active import InformationGain
    >>> X = [[0, 0], [1, 0.2], [0.1, 1.1], [2.7, 2.9], [6, 5], [5.2, 6.1], [6.3, 6]]
    >>> strategy = InformationGain(2, n_rounds=1)
    >>> state = strategy.start(X, budget=2, random_state=0)
    >>> [question.rows for question in strategy.ask(state, X, size=2)]
    [(2, 6), (3, 2)]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="Huang2007",
        title="rows between two clusters, in rounds",
        asks=frozenset({"pair"}),
        sparse=True,
        cost="O(min(n, 20000) d k) a round",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "gain": [StrOptions({"dependent", "independent"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "candidates": [Interval(Integral, 1, None, closed="left"), None],
        "similarity": [StrOptions({"auto", "cosine", "distance"})],
        "rho": [Interval(Real, 0, 1, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        gain: str = "dependent",
        n_rounds: int = 10,
        candidates: int | None = 10,
        similarity: str = "auto",
        rho: float = 0.5,
        epsilon: float = 1.0,
    ) -> None:
        self.n_clusters = n_clusters
        self.gain = gain
        self.n_rounds = n_rounds
        self.candidates = candidates
        self.similarity = similarity
        self.rho = rho
        self.epsilon = epsilon

    def _prepare(self, X: Any, state: State) -> Ready:
        lifted = self.similarity == "distance" or (self.similarity == "auto" and not sparse.issparse(X))
        rng = np.random.default_rng([state.seed, 0, 1])
        rows = _asked_about(X.shape[0], state.given, rng)
        place = np.full(X.shape[0], -1)
        place[rows] = np.arange(len(rows))
        with one_blas_thread():
            unit = ig.unit_rows(X[rows], lifted=lifted)
            k = min(self.n_clusters, len(rows))
            nothing = ig.links_of(unit, [], [], self.rho)
            starts = [ig.spread(unit, np.empty((0, unit.shape[1])), k, rng) for _ in range(STARTS)]
            found = [ig.cluster(unit, centers, nothing, self.rho) for centers in starts]
        return Ready(rows, place, unit, min(found, key=lambda one: one[1])[0].centers)

    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        said = [answer for answer in scene.state.answers if not answer.inferred]
        per = -(-scene.state.budget // self.n_rounds)
        number = len(said) // per
        if scene.memo.get("number") != number:
            with one_blas_thread():
                plan = self._round(scene, resolve(said[: number * per]), per, number)
            scene.memo.update(number=number, plan=plan)
        left = filter(scene.known.open, scene.memo["plan"])
        return list(islice(left, min(size, (number + 1) * per - len(said))))

    def _round(self, scene: Scene, answers: list[Answer], per: int, number: int) -> list[Question]:
        """The questions of a round, the best first, by what was known when it began; more than are needed."""
        ready: Ready = scene.ready
        known = Known(scene.firm)
        for answer in answers:
            known.learn(answer)
        must, cannot = _pairs(ready.place, known, scene.firm, answers)
        rng = np.random.default_rng([scene.state.seed, number, 2])
        found = self._clustered(ready, known, must, cannot, rng)
        similar = np.maximum(ig.cosines(ready.unit, found.centers), 0)
        chance = ig.chances(similar, found.labels)
        if self.gain == "dependent":
            asked = {row for answer in answers for row in answer.question.rows}
            earlier = np.array(sorted(i for i in ready.place[list(asked)].tolist() if i >= 0), dtype=np.int64)
            earlier = earlier[chance[earlier] > 0.5]
            share = min(1.0, self.epsilon * scene.state.budget / scene.n)
            members = [earlier[found.labels[earlier] == h] for h in range(len(found.centers))]
            chance = ig.chances(ig.dependent(similar, ready.unit, members, share), found.labels)
        gain = ig.gains(chance)
        done = [a.question.rows[0] for a in answers if a.value is not False]
        rows = np.setdiff1d(np.flatnonzero(~np.isnan(chance)), ready.place[done])
        drawn = rows if self.candidates is None else rng.permutation(rows)[: self.candidates * per]
        ranked = drawn[np.lexsort([drawn, -gain[drawn]])]
        middle = _middles(ready.rows, _roots(known, scene.firm, answers), found.labels, similar)
        questions = _questions(ready.rows, known, middle, found.labels, similar, gain, ranked)
        return list(islice(questions, SPARE * per))

    def _clustered(
        self, ready: Ready, known: Known, must: list[Pair], cannot: list[Pair], rng: np.random.Generator
    ) -> ig.State:
        """IG-KMEANS from centers without clues and from rows known to be together: the lower objective."""
        links = ig.links_of(ready.unit, must, cannot, self.rho)
        starts = [ready.centers]
        together: dict[int, set[int]] = {}
        for i, j in must:
            together.setdefault(known.root(int(ready.rows[i])), set()).update((i, j))
        if together:
            large = sorted(together.values(), key=lambda rows: (-len(rows), min(rows)))[: len(ready.centers)]
            sums = [np.asarray(ready.unit[sorted(rows)].sum(axis=0)).ravel() for rows in large]
            starts.append(ig.spread(ready.unit, np.array(sums), len(ready.centers), rng))
        found = [ig.cluster(ready.unit, centers, links, self.rho) for centers in starts]
        return min(found, key=lambda one: one[1])[0]


def _asked_about(n: int, given: Clues, rng: np.random.Generator) -> Ints:
    """All rows, or a sample of them in which rows with clues come first."""
    if n <= SAMPLE:
        return np.arange(n)
    tied = given.tied[: SAMPLE // 2]
    others = np.delete(np.arange(n), tied)
    drawn = rng.choice(others, SAMPLE - len(tied), replace=False, shuffle=False)
    return np.sort(np.concatenate([tied, drawn]))


def _pairs(place: Ints, known: Known, given: Clues, answers: list[Answer]) -> tuple[list[Pair], list[Pair]]:
    """Must-links and cannot-links between rows that are asked about: given ones, and those of answers."""
    must, cannot = given.must.tolist(), given.cannot.tolist()
    sets = [[row for row in members if place[row] >= 0] for members in neighborhoods(known, given, [], None).sets]
    must += [(members[0], row) for members in sets for row in members[1:MEMBERS]]
    cannot += combinations([members[0] for members in sets if members], 2)
    for answer in answers:
        for i, j, together in answer.links():
            (must if together else cannot).append((i, j))
    found = [place[np.array(pairs, dtype=np.int64).reshape(-1, 2)] for pairs in (must, cannot)]
    first, second = (sorted({(min(i, j), max(i, j)) for i, j in pairs.tolist() if min(i, j) >= 0}) for pairs in found)
    return first, second


def _questions(
    rows: Ints, known: Known, middle: dict[int, int], labels: Ints, similar: Floats, gain: Floats, ranked: Ints
) -> Iterator[Question]:
    """Each row and the middle of its cluster; before the first row between two clusters, the middles of both."""
    seen = set()
    for i in ranked.tolist():
        own = middle[int(labels[i])]
        near = [middle[h] for h in np.argsort(-similar[i], kind="stable").tolist() if h in middle]
        second = next((other for other in near if not known.same(own, other)), own)
        for first, other, why in (
            (own, second, "the middles of two clusters that have rows between them."),
            (int(rows[i]), own, "its cluster is uncertain; compared with a row in the middle of it."),
        ):
            question = Question("pair", (first, other), why, float(gain[i])) if first != other else None
            if question is not None and question.key not in seen and known.open(question):
                seen.add(question.key)
                yield question


def _roots(known: Known, given: Clues, answers: list[Answer]) -> Ints:
    """(n,) what each row is known to be with: its given component, but for those that answers have joined."""
    spoken_of = [row for answer in answers for row in answer.question.rows]
    spoken_of += np.flatnonzero(given.labels >= 0).tolist() if answers else []
    _, first = np.unique(given.components[spoken_of], return_index=True)
    root = np.arange(given.n_components)
    for row in [spoken_of[i] for i in first.tolist()]:
        root[given.components[row]] = known.root(row)
    return np.asarray(root[given.components])


def _middles(rows: Ints, roots: Ints, labels: Ints, similar: Floats) -> dict[int, int]:
    """The middle of each cluster: of the rows that most others are known to be with, the most similar to its center."""
    found = {}
    for h in np.unique(labels).tolist():
        members = np.flatnonzero(labels == h)
        members = members[np.argsort(-similar[members, h], kind="stable")]
        _, code, counts = np.unique(roots[rows[members]], return_inverse=True, return_counts=True)
        found[h] = int(rows[members[np.argmax(counts[code])]])
    return found
