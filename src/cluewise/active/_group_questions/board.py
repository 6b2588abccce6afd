"""What is believed after some answers: super-instances, their clusters, and what each question puts at stake."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import combinations

import numpy as np
from scipy import sparse

from cluewise._lazy import lazy
from cluewise._typing import Bools, Floats, Ints
from cluewise.active._group_questions.seats import Seats
from cluewise.active._group_questions.votes import Ballot, count_misplaced, find_clusters, weigh
from cluewise.active._known import Known
from cluewise.active._pairs_at_stake.stakes import Odds, measure_odds, place_tied, smallest_square
from cluewise.active._pairs_at_stake.ward_groups import WardGroups
from cluewise.clues import Clues

__all__ = ["Board"]

FIRM = 1e6
"""Weight of what was given, against votes."""

GEOMETRY = 4.0
"""Weight of all neighbors of a super-instance together; a vote of an answer of which 10 % are wrong is 2 to 4."""

AGAIN = 0.5
"""What another answer about a row is worth, as a share of the pairs of rows that change if it was misplaced."""

SUPPOSED, SEEN, WORST = 0.1, 30.0, 0.4
"""Error rate before rows were sorted often, as how many rows it counts, and its maximum."""

STRANGE, NONE = 0.02, 0.05
"""Probability, before any vote, of a cluster without neighbors, and of none of the clusters; not normalized."""

UNSURE = 0.002
"""Minimum probability that the halves of a super-instance belong together, or do not."""

SUREST = 30.0
"""Maximum of log-odds."""

MOST_TIED = 500
"""Maximum number of rows with given clues that are super-instances from the start."""


class Board:
    """Clusters of super-instances as answers and neighbors say; a function of answers and given clues.

    ``given`` are error rates of sources; others are learned. Matrices have a line for each seat and then one for each
    half, and a column for each cluster.
    """

    def __init__(self, groups: WardGroups, ballots: list[Ballot], firm: Clues, given: Mapping[str, float]) -> None:
        self.groups, self._firm, self._ballots = groups, firm, ballots
        self.known = Known(firm)
        asked = {row for piles, _ in ballots for pile in piles for row in pile}
        rows = np.array(sorted(asked.union(firm.tied[:MOST_TIED].tolist())), dtype=np.int64)
        self.seats = Seats(groups, rows)
        # Rows that certainly belong together are one vertex of the graph of votes.
        roots = [self.known.root(row) for row in self.seats.rows.tolist()]
        number = {root: v for v, root in enumerate(dict.fromkeys(roots))}
        self._vertex: Ints = np.array([number[root] for root in roots], dtype=np.int64)
        self.rates = {who: given.get(who, SUPPOSED) for _, who in ballots}
        self._decide(learned=self.rates.keys() - given.keys())

    def _decide(self, *, learned: Set[str]) -> None:
        """Find the clusters, and the error rates with them."""
        vertex = dict(zip(self.seats.rows.tolist(), self._vertex.tolist()))
        fixed = self._firm_weights() + GEOMETRY * self._closeness()
        for _ in range(3 if learned else 1):
            votes = weigh(self._ballots, vertex, self.rates)
            self._weights = sparse.csr_array(votes + fixed)
            found = find_clusters(self._weights)
            counts = count_misplaced(self._ballots, {row: int(found[v]) for row, v in vertex.items()})
            for who in learned:
                wrong, total = counts[who]
                self.rates[who] = min((SUPPOSED * SEEN + wrong) / (SEEN + total), WORST)
        self.cluster: Ints = found[self._vertex]
        self.n_clusters = int(found.max(initial=-1)) + 1

    @property
    def error_rate(self) -> float:
        """The mean error rate of all answers."""
        return float(np.mean([self.rates[who] for _, who in self._ballots])) if self._ballots else SUPPOSED

    def _firm_weights(self) -> sparse.csr_array:
        """Vertices that given clues keep apart."""
        m = int(self._vertex.max(initial=-1)) + 1
        if not self._firm.kinds:
            return sparse.csr_array((m, m))
        first = self.seats.rows[np.unique(self._vertex, return_index=True)[1]].tolist()
        apart = [pair for pair in combinations(range(m), 2) if self.known.same(first[pair[0]], first[pair[1]]) is False]
        i, j = np.array(apart, dtype=np.int64).reshape(-1, 2).T
        half = sparse.coo_array((np.full(len(i), -FIRM), (i, j)), shape=(m, m))
        return sparse.csr_array(half + half.T)

    def _closeness(self) -> sparse.csr_array:
        """Neighbors belong together, unless answers say otherwise; symmetric, over vertices."""
        near = self.seats.neighbors(self.seats.mean, itself=True)
        onto = _indicator(self._vertex, int(self._vertex.max(initial=-1)) + 1)
        between = sparse.csr_array(onto.T @ near @ onto)
        return sparse.csr_array(0.5 * (between + between.T))

    def labels(self, most: int | None) -> Ints:
        """Cluster of each row, at most so many; rows with given clues are placed as these say."""
        own = self.cluster if most is None else self._join_small(most)
        homes = dict(zip(self.seats.rows.tolist(), own.tolist()))
        return place_tied(self.seats.spread(own), self._firm, self.known, homes)

    def _join_small(self, most: int) -> Ints:
        """The clusters, of which at most so many remain: each small one joins the most likely of the large ones."""
        large = np.argsort(-self.mass, kind="stable")[:most]
        target = np.arange(self.n_clusters)
        for c in np.setdiff1d(target, large).tolist():
            target[c] = large[self.merging[c, large].argmax()]
        return target[self.cluster]

    # --- what is likely ------------------------------------------------------------------------------------------

    @lazy
    def mass(self) -> Floats:
        """Number of rows in each cluster."""
        return np.bincount(self.cluster, weights=self.seats.size, minlength=self.n_clusters).astype(np.float64)

    @lazy
    def _support(self) -> Floats:
        """What votes and neighbors say for each cluster, of each seat."""
        vertices = np.unique(self._vertex, return_index=True)[1]
        return np.asarray((self._weights @ _indicator(self.cluster[vertices], self.n_clusters)).toarray())[self._vertex]

    @lazy
    def _share(self) -> Floats:
        """Share of the neighbors in each cluster."""
        halves = self.groups.mean[[half.node for half in self.seats.halves]]
        near = [self.seats.neighbors(self.seats.mean, itself=True), self.seats.neighbors(halves, itself=False)]
        onto = _indicator(self.cluster, self.n_clusters)
        return np.concatenate([(weights @ onto).toarray() for weights in near])

    @lazy
    def merging(self) -> Floats:
        """Probability that a cluster is part of another one."""
        found = np.zeros((self.n_clusters, self.n_clusters))
        one_seat = np.zeros(len(self.cluster), dtype=bool)
        one_seat[np.unique(self._vertex, return_index=True)[1]] = True  # a vertex votes once
        for c in range(self.n_clusters):
            mine = self.cluster == c
            near = self._share[: len(mine)][mine].mean(axis=0)
            odds = _odds(np.log(near + STRANGE) + self._support[mine & one_seat].sum(axis=0))
            odds[c] = 0.0
            found[c] = odds / (NONE + odds.sum())
        return found

    @lazy
    def likely(self) -> Floats:
        """Probability that a seat or a half belongs to a cluster."""
        m, halves = len(self.cluster), self.seats.halves
        logs = np.log(self._share + STRANGE)
        logs[:m] += self._support
        if halves:
            ends = np.array([(half.node, half.beside) for half in halves]).T
            together = np.clip(self._tree_odds.yes(self._log_far(*self.groups.mean[ends])), UNSURE, 1.0 - UNSURE)
            own = self.cluster[[half.seat for half in halves]]
            logs[m + np.arange(len(halves)), own] += np.log(together / (1.0 - together))
        odds = _odds(logs)
        return np.asarray(odds / (NONE + odds.sum(axis=1, keepdims=True)))

    @lazy
    def _tree_odds(self) -> Odds:
        """How likely two parts of the tree belong together, by their distance; learned from what was compared."""
        odds = measure_odds(self.groups, smallest_square(self.groups))
        seat = {row: x for x, row in enumerate(self.seats.rows.tolist())}
        sorted_together = [[seat[row] for pile in piles for row in pile] for piles, _ in self._ballots]
        pairs = {(min(pair), max(pair)) for seats in sorted_together for pair in combinations(seats, 2)}
        if pairs:
            i, j = np.array(sorted(pairs)).T
            far = self._log_far(self.seats.mean[i], self.seats.mean[j])
            odds.learn_all(far, self.cluster[i] == self.cluster[j], self.error_rate)
        return odds

    def _log_far(self, a: Floats, b: Floats) -> Floats:
        return np.asarray(0.5 * np.log(np.maximum(((a - b) ** 2).sum(axis=1), smallest_square(self.groups))))

    # --- what is at stake ----------------------------------------------------------------------------------------

    @lazy
    def gains(self) -> Floats:
        """Expected number of pairs of rows that change if a seat or a half is compared with a cluster.

        Compared with its own, the pairs with all of it, if it does not belong there; with another one, the pairs with
        that, if it does.
        """
        m, halves = len(self.cluster), self.seats.halves
        own = np.concatenate([self.cluster, self.cluster[[half.seat for half in halves]]])
        size = np.concatenate([self.seats.size, self.groups.size[[half.node for half in halves]]])
        worth = size * np.where(np.arange(len(own)) < m, AGAIN, 1.0)
        found = worth[:, None] * self.mass * self.likely
        each = np.arange(len(own))
        found[each, own] = worth * (self.mass[own] - size) * (1.0 - self.likely[each, own])
        return np.maximum(found, 0.0)

    @lazy
    def merges(self) -> Floats:
        """Expected number of pairs of rows that change if two clusters are compared."""
        found = self.merging * self.mass[:, None] * self.mass
        return np.maximum(found, found.T)

    def anchors(self, avoided: Bools) -> Ints:
        """The seat that stands for each cluster: the one that belongs to it most certainly, of those not avoided."""
        sure = self._support[np.arange(len(self.cluster)), self.cluster]
        order = np.lexsort((-self.seats.size, -sure, avoided[self.seats.rows], self.cluster))
        return order[np.unique(self.cluster[order], return_index=True)[1]]


def _indicator(labels: Ints, count: int) -> sparse.csr_array:
    m = len(labels)
    return sparse.csr_array((np.ones(m), labels, np.arange(m + 1)), shape=(m, count))


def _odds(logs: Floats) -> Floats:
    return np.asarray(np.exp(np.clip(logs, -SUREST, SUREST)))
