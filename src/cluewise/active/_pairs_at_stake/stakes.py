"""Super-instances as nodes of Ward's tree, what is known about them, and what each question puts at stake."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.active._dialog import Answer, Question
from cluewise.active._known import Known
from cluewise.active._pairs_at_stake.ward_groups import WardGroups
from cluewise.active._second_look import Verdict, list_verdicts
from cluewise.clues import Clues

__all__ = ["Odds", "Table", "measure_odds", "place_tied", "smallest_square"]

TOP = 30
"""Number of top merges of the tree whose distances give the prior of the middle of the odds."""

LEAST_SPREAD = 0.3
"""Minimum standard deviation of that prior, in logarithms."""

TINY = 1e-12
"""Floor of squared distances, as a share of the variance."""

MOST = 500
"""Maximum number of super-instances beyond the number of answers; given labels could split without end."""

MOST_VOICES = 15
"""Maximum number of answers to one question."""

UNSURE = 0.02
"""Minimum probability of a "yes" or "no" that a distance alone may give."""

STEEPNESS = 4.0
"""Prior median of the slope: at twice the distance, the odds are 16 times smaller."""

WIDEST, STEEPER = 3.0, 1.5
"""Half widths of the grid: of the middle in units of its spread, of the logarithm of the slope."""

POINTS, BEYOND = 512, 8.0
"""Points at which the curves are computed, and how far these reach beyond the middles; others are interpolated."""


class Odds:
    """The probability of a "yes" at the logarithm f of a distance, averaged over the posterior of slope and middle.

    p(yes | f) = 1 / (1 + exp(−a (θ − f))). A priori the middle θ is normal, and log a is normal around log `STEEPNESS`
    with a standard deviation of ½. Both are on a grid, so that learning an answer is one addition of logarithms.
    """

    def __init__(self, middle: float, spread: float) -> None:
        theta = middle + spread * np.linspace(-WIDEST, WIDEST, 41)
        slope = STEEPNESS * np.exp(np.linspace(-STEEPER, STEEPER, 9))
        self._theta = np.repeat(theta, len(slope))
        self._slope = np.tile(slope, len(theta))
        self._log = -0.5 * ((self._theta - middle) / spread) ** 2 - 2.0 * np.log(self._slope / STEEPNESS) ** 2
        self._at = np.linspace(theta[0] - BEYOND, theta[-1] + BEYOND, POINTS)
        self._curves = 1.0 / (1.0 + np.exp(-self._slope * (self._theta - self._at[:, None])))

    def learn(self, f: float, yes: bool, error_rate: float = 0.0) -> None:
        """Update the posterior with one answer, which is wrong with some probability."""
        z = self._slope * (self._theta - f)
        right = -np.logaddexp(0.0, -z if yes else z)
        if error_rate:
            right = np.log(error_rate + (1.0 - 2.0 * error_rate) * np.exp(right))
        self._log += right

    def learn_all(self, f: Floats, yes: Bools, error_rate: float) -> None:
        """Update the posterior with many answers at once, as `learn` does."""
        z = self._slope * (self._theta - f[:, None])
        right = -np.logaddexp(0.0, np.where(yes[:, None], -z, z))
        self._log += np.log(error_rate + (1.0 - 2.0 * error_rate) * np.exp(right)).sum(axis=0)

    def yes(self, f: Floats) -> Floats:
        """The probability of a "yes" at each f."""
        weight = np.exp(self._log - self._log.max())
        return np.interp(f, self._at, self._curves @ (weight / weight.sum()))


class Table:
    """Super-instances, their representatives, and what is known: a function of clues and answers in order.

    All matrices are (m, m) over super-instances; the diagonal is about the two halves of one.
    """

    def __init__(self, groups: WardGroups, given: Clues, error_rate: float = 0.0) -> None:
        self.groups = groups
        self.error_rate = error_rate
        self.voices: dict[tuple[int, int], tuple[int, int]] = {}
        self._before: dict[tuple[int, int], float] = {}  # log-odds of a yes before the first answer
        self.known = Known(given)
        self.learned = 0
        self._preferred: Bools = given.labels >= 0
        self._floor = smallest_square(groups)
        self._odds = measure_odds(groups, self._floor)
        self.node: Ints = np.array([groups.root])
        self.row: list[int] = [groups.medoid(groups.root, self._preferred)]
        self.cluster: Ints = np.zeros(1, dtype=np.int64)
        self._apart = np.zeros((1, 1), dtype=bool)
        self._in_vain = np.zeros((1, 1), dtype=bool)
        self._far: Floats = np.array([[self._halves(groups.root)]])  # logarithms of distances
        self._medoids: dict[int, int] = {}
        self._unseen = {0}  # super-instances whose halves may be known apart by now
        self._advance()

    def learn(self, answer: Answer) -> None:
        """Add one answer and everything that follows from it."""
        if self.error_rate:
            answer = self._judge(answer)
        self.known.learn(answer)
        self.learned += 1
        self._apply(answer)
        self._unseen = set(range(len(self.node)))
        self._advance()

    def _judge(self, answer: Answer) -> Answer:
        """What is likely after an answer: if it is surprising, it may take a second one to believe it."""
        if answer.question.kind != "pair":
            return answer
        pair = min(answer.question.rows), max(answer.question.rows)
        if pair not in self._before:
            self._before[pair] = self._expect(*answer.question.rows)
        return replace(answer, value=self._weigh(pair) > 0) if pair in self.voices else answer

    def _expect(self, first: int, second: int) -> float:
        """Log-odds of a yes about two rows, by the distance of their super-instances."""
        place = {row: i for i, row in enumerate(self.row)}
        known = [place[row] for row in (first, second) if row in place]
        if len(known) == 1:  # about the halves of one, as a rule
            i = known[0]
            known = [i, i] if self.node[i] >= self.groups.n_leaves and {first, second} == {*self.pair(i, i)} else []
        if len(known) < 2:
            return 0.0
        yes = float(np.clip(self._odds.yes(self._far[known[0], known[1]]), UNSURE, 1.0 - UNSURE))
        return float(np.log(yes / (1.0 - yes)))

    def _weigh(self, pair: tuple[int, int]) -> float:
        """Log-odds of a yes after the votes for no and yes."""
        no, yes = self.voices[pair]
        return self._before.get(pair, 0.0) + float(np.log(1 / self.error_rate - 1)) * (yes - no)

    def best(self) -> tuple[int, int, float] | None:
        """The two super-instances (or one, twice) with the highest value, and that value; None without a question."""
        values = self.values()
        i, j = (int(a) for a in np.unravel_index(int(values.argmax()), values.shape))
        return (i, j, float(values[i, j])) if values[i, j] >= 0 else None

    def values(self) -> Floats:
        """Expected number of pairs of rows that an answer about i and j changes; −1 where there is nothing to ask."""
        size = self.groups.size[self.node]
        whole = np.bincount(self.cluster, weights=size)[self.cluster]
        live = ~(self._apart | self._in_vain | (self.cluster[:, None] == self.cluster))
        i, j = np.nonzero(np.triu(live, 1))  # each pair once
        value = np.full(live.shape, -1.0)
        value[i, j] = whole[i] * whole[j] * self._odds.yes(self._far[i, j])
        split = np.flatnonzero(self._splits())
        a, b = self.groups.parts[self.node[split] - self.groups.n_leaves].T
        value[split, split] = (
            self.groups.size[a] * self.groups.size[b] * (1.0 - self._odds.yes(self._far[split, split]))
        )
        return value

    def pair(self, i: int, j: int) -> tuple[int, int]:
        """The representatives of i and j, or of the two halves of i."""
        if i != j:
            return self.row[i], self.row[j]
        half = self._other(i)[1]
        if half not in self._medoids:
            self._medoids[half] = self.groups.medoid(half, self._preferred)
        return self.row[i], self._medoids[half]

    def verdicts(self) -> list[Verdict]:
        """What was said about two super-instances, how likely that is wrong, and what depends on it."""
        size = {row: float(self.groups.size[v]) for row, v in zip(self.row, self.node.tolist())}
        odds = {pair: self._weigh(pair) for pair in self.voices}
        found = list_verdicts(odds, size)
        return [verdict for verdict in found if sum(self.voices[verdict.pair]) < MOST_VOICES]

    def labels(self, clues: Clues, most: int | None = None) -> Ints:
        """Cluster of each row; rows with clues are placed as the clues say, in at most so many clusters."""
        labels = np.empty(len(self.groups.X), dtype=np.int64)
        own = self.cluster if most is None else self._join_small(most)
        for node, cluster in zip(self.node.tolist(), own.tolist()):
            labels[self.groups.rows(node)] = cluster
        return place_tied(labels, clues, self.known, dict(zip(self.row, own.tolist())))

    def _join_small(self, most: int) -> Ints:
        """The clusters, of which at most so many remain: small ones join the closest of the large ones."""
        size = np.bincount(self.cluster, weights=self.groups.size[self.node])
        large = np.argsort(-size, kind="stable")[:most]
        kept = np.isin(self.cluster, large)
        cluster = self.cluster.copy()
        for c in np.setdiff1d(self.cluster, large).tolist():
            mine = self.cluster == c
            nearest = self._far[np.ix_(mine, kept)].min(axis=0).argmin()
            cluster[mine] = self.cluster[kept][nearest]
        return cluster

    def _splits(self) -> Bools:
        if len(self.node) >= MOST + self.learned:
            return np.zeros(len(self.node), dtype=bool)
        return np.asarray(self.node >= self.groups.n_leaves)

    def _other(self, i: int) -> tuple[int, int]:
        """The half of i that its row is in, and the other."""
        a, b = self.groups.parts[self.node[i] - self.groups.n_leaves].tolist()
        return (a, b) if self.groups.holds(a, self.row[i]) else (b, a)

    def _apply(self, answer: Answer) -> None:
        """Apply an answer to super-instances, whether or not the question was the best one."""
        place = {row: i for i, row in enumerate(self.row)}
        for first, second, same in answer.links():
            i, j = place.get(first), place.get(second)
            if i is not None and j is not None and self._unsettled(i, j):
                self._odds.learn(float(self._far[i, j]), same, self.error_rate)
        spoken_of = {self.known.root(row) for row in answer.question.rows}
        clusters = np.unique(self.cluster, return_index=True)[1].tolist()
        for i in [i for i in clusters if self.known.root(self.row[i]) in spoken_of]:
            for j in clusters:
                said = self.known.same(self.row[i], self.row[j])
                if said is not None and self._unsettled(i, j):
                    self._settle(i, j, said)

    def _unsettled(self, i: int, j: int) -> bool:
        return bool(self.cluster[i] != self.cluster[j] and not self._apart[i, j])

    def _advance(self) -> None:
        """Split and merge what is known or was asked in vain, until the best question is open."""
        while (found := self._overdue() or self.best()) is not None:
            i, j, _ = found
            pair = self.pair(i, j)
            if self.known.open(Question("pair", pair)):
                return
            same = self.known.same(*pair)
            if same is not None:
                self._odds.learn(float(self._far[i, j]), same, self.error_rate)
            if i == j:
                j = self._split(i, pair[1])
            self._settle(i, j, same)

    def _overdue(self) -> tuple[int, int, float] | None:
        """A super-instance whose halves are known apart: it must be split, however little is at stake."""
        splits = self._splits()
        while self._unseen:
            i = min(self._unseen)
            self._unseen.remove(i)
            if splits[i] and self.known.same(*self.pair(i, i)) is False:
                return i, i, 0.0
        return None

    def _split(self, i: int, row: int) -> int:
        """Split super-instance i in two, unrelated for now; the other half becomes the last one."""
        m = len(self.node)
        keeps, leaves = self._other(i)
        self.node = np.append(self.node, leaves)
        self.node[i] = keeps
        self.row.append(row)
        self.cluster = np.append(self.cluster, self.cluster.max() + 1)
        self._apart = np.pad(self._apart, (0, 1))
        self._in_vain = np.pad(self._in_vain, (0, 1))
        self._far = np.pad(self._far, (0, 1))
        for one in (i, m):
            f = 0.5 * np.log(np.maximum(self.groups.squared(int(self.node[one]), self.node), self._floor))
            self._far[one] = self._far[:, one] = f
            self._far[one, one] = self._halves(int(self.node[one]))
        for other in np.unique(self.cluster[:m], return_index=True)[1].tolist():
            said = self.known.same(row, self.row[other])
            if said is not None and self._unsettled(m, other):
                self._settle(other, m, said)
        self._unseen |= {i, m}
        return m

    def _settle(self, i: int, j: int, same: bool | None) -> None:
        if same is None:
            self._in_vain[i, j] = self._in_vain[j, i] = True
            return
        mine, its = self.cluster == self.cluster[i], self.cluster == self.cluster[j]
        if same:
            self.cluster[its] = self.cluster[i]
            mine |= its
            enemies: Bools = self._apart[mine].any(axis=0)
            self._apart[mine] = enemies
            self._apart[:, mine] = enemies[:, None]
        else:
            self._apart[np.ix_(mine, its)] = True
            self._apart[np.ix_(its, mine)] = True

    def _halves(self, v: int) -> float:
        """Logarithm of the distance between the two parts of a group."""
        return _log_halves(self.groups, v, self._floor) if v >= self.groups.n_leaves else 0.0


def smallest_square(groups: WardGroups) -> float:
    """Floor of squared distances."""
    variance = float(groups.squared(groups.root, np.arange(groups.n_leaves)).mean())
    return TINY * variance if variance > 0 else 1.0


def measure_odds(groups: WardGroups, floor: float) -> Odds:
    """The odds before the first answer, as the highest unions of the tree suggest."""
    highest = range(max(groups.n_leaves, groups.root + 1 - TOP), groups.root + 1)
    top = np.array([_log_halves(groups, v, floor) for v in highest])
    return Odds(float(np.median(top)), max(float(top.std()), LEAST_SPREAD)) if len(top) else Odds(0.0, 1.0)


def _log_halves(groups: WardGroups, v: int, floor: float) -> float:
    a, b = groups.parts[v - groups.n_leaves].tolist()
    return float(0.5 * np.log(max(groups.squared(a, np.array([b]))[0], floor)))


def place_tied(labels: Ints, clues: Clues, known: Known, own: dict[int, int]) -> Ints:
    """The clusters, with rows that have clues where the clues say; ``own`` is the cluster of each representative."""
    together: dict[int, list[int]] = {}
    for row in clues.tied.tolist():
        together.setdefault(known.root(row), []).append(row)
    home = {known.root(row): cluster for row, cluster in own.items()}
    component = clues.components
    seat = {int(component[row]): cluster for row, cluster in own.items()}
    founded: dict[int, list[int]] = {}
    cliques = _cliques(clues)
    for root, rows in sorted(together.items(), key=lambda one: (-len(one[1]), one[1])):
        cluster = home.get(root)
        if cluster is None:
            # None of its rows represents a super-instance: it joins the cluster of most of its rows, unless that
            # holds something it is apart from; then others that had to leave that cluster, or a new one.
            taken = {seat[c] for c in _enemies(clues, cliques, int(component[rows[0]])) if c in seat}
            found, counts = np.unique(labels[rows], return_counts=True)
            here = found[np.argsort(-counts, kind="stable")].tolist()
            beside = founded.setdefault(here[0], [])
            cluster = next((c for c in (*here, *beside) if c not in taken), None)
            if cluster is None:
                cluster = int(labels.max()) + 1
                beside.append(cluster)
            seat[int(component[rows[0]])] = cluster
        labels[rows] = cluster
    return labels


def _cliques(clues: Clues) -> dict[int, list[int]]:
    """The cliques of each component: sets of components that are apart from each other."""
    found: dict[int, list[int]] = {}
    indptr, members = clues.cliques.indptr, clues.cliques.members
    for q in range(len(indptr) - 1):
        for c in members[indptr[q] : indptr[q + 1]].tolist():
            found.setdefault(c, []).append(q)
    return found


def _enemies(clues: Clues, cliques: dict[int, list[int]], c: int) -> set[int]:
    """Components known to be apart from one."""
    graph, sets = clues.graph, clues.cliques
    found = set(graph.indices[graph.indptr[c] : graph.indptr[c + 1]].tolist())
    for q in cliques.get(c, ()):
        found.update(sets.members[sets.indptr[q] : sets.indptr[q + 1]].tolist())
    return found - {c}
