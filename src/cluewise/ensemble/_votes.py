"""The weighted vote of an ensemble: the winner of each row, its lead, and the rows that new weights can turn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.threads import map_blocks
from cluewise.ensemble._aligned import Ensemble
from cluewise.ensemble._near import SHARES, NearRows
from cluewise.kernels import consensus

__all__ = ["BLOCK", "Ballot", "Standing", "count", "recount", "sum_votes"]

LARGEST = 65535
"""Whole votes that 16 bits can hold; more partitions than that cannot vote by them."""

TILE = 2048
"""Rows counted at once, so few that their votes stay in the fastest cache."""

BLOCK = 32 * TILE
"""Rows counted between two checks for Ctrl-C."""

MANY = 32
"""Up to this many clusters, comparing a label with each of them is faster than looking up where its vote goes."""

CROWDED = 2.0
"""Rows in doubt that lie this close, on average, are counted with those between them instead of being copied."""

OFTEN = 0.4
"""Above this share of rows in doubt, counting all rows is faster than selecting those."""

ASTRAY = 0.12
"""The same for rows in doubt whose labels `NearRows` does not hold: they are scattered over the matrix."""

SAMPLE = 2048
"""Number of rows from which the distribution of leads is estimated."""

LESS = 1e-6
"""Share by which leads are lowered, so that rounding to single precision never makes a bound too large."""


def rounding(m: int) -> float:
    """A bound on the rounding error of a sum of m weights that add up to one."""
    return 1e-12 + 1e-15 * m


class Ballot(NamedTuple):
    """The weights as the kernels need them: exact, and as whole votes that differ from them by a known slack."""

    active: Ints  # partitions with a positive weight
    codes: Array  # (s, r) their label of each cluster
    clusters: Array  # (s, w) the cluster of each of their labels
    weights: Floats  # (s,)
    shares: Array  # (s,) uint16
    unit: float  # weight of one vote
    slack: float  # how far a difference of whole votes can be from the exact one

    @classmethod
    def of(cls, ensemble: Ensemble, gamma: Floats) -> Ballot:
        """The ballot of the partitions with a positive weight."""
        active = np.flatnonzero(gamma > 0)
        weights = gamma[active]
        # The largest weight becomes a whole number of votes, so that equal weights are exact. Of 16 scales the one with
        # the least rounding is taken: the smaller the slack, the fewer rows have to be counted exactly.
        most = np.floor((LARGEST - len(active)) / weights.sum() * weights.max())
        scales = np.maximum(most - np.arange(16), 1) / weights.max()
        shares = np.rint(np.outer(scales, weights))
        misses = np.abs(shares / scales[:, None] - weights).sum(axis=1)
        best = int(misses.argmin())
        return cls(
            active,
            ensemble.codes[active],
            ensemble.clusters[active],
            weights,
            shares[best].astype(np.uint16),
            1 / scales[best],
            misses[best] + rounding(len(active)),
        )

    def among(self, kept: Ints) -> Ballot:
        """The same ballot for a matrix that holds only the partitions ``kept``, which include the active ones."""
        return self._replace(active=np.searchsorted(kept, self.active))


class Standing(NamedTuple):
    """The outcome of a vote."""

    gamma: Floats  # (m,) the weights
    winner: Array  # (n,) unsigned
    lead: Floats  # (n,) float32: the winner leads by at least this much
    near: NearRows | None = None


def count(ensemble: Ensemble, gamma: Floats) -> Standing:
    """Count the votes on all rows; winners are those of sums in double precision, the first of equal ones."""
    n = ensemble.n
    winner, lead = np.empty(n, dtype=ensemble.dtype), np.empty(n, dtype=np.float32)
    ballot = Ballot.of(ensemble, gamma)
    near = NearRows(ensemble.labels, ballot.active, _estimate_bounds(ensemble, ballot), BLOCK)

    def work(number: int) -> None:
        start = number * BLOCK
        block = slice(start, start + BLOCK)
        _settle(ensemble.labels, ballot, start, winner[block], lead[block])
        near.keep(number, lead[block])

    for _ in map_blocks(work, range(-(-n // BLOCK))):
        continue
    return Standing(gamma.copy(), winner, lead, near)


def recount(ensemble: Ensemble, before: Standing, gamma: Floats) -> tuple[Standing, Ints]:
    """Count again with new weights, and list the rows whose winner changed; only rows in doubt are counted."""
    if np.array_equal(gamma, before.gamma):
        return before, np.empty(0, dtype=np.int64)
    alpha, drift = _drift(before.gamma, gamma)
    n = ensemble.n
    lead, listed = np.empty(n, dtype=np.float32), np.empty(n + 1, dtype=np.int64)
    doubtful = listed[: consensus.sift(before.lead, drift, alpha, lead, listed)]
    ballot, near = Ballot.of(ensemble, gamma), before.near
    if near is not None and not near.holds(ballot.active):
        near = None
    astray = len(doubtful) - (0 if near is None else np.count_nonzero(near.kept[doubtful]))
    if len(doubtful) > OFTEN * n or astray > ASTRAY * n:
        new = count(ensemble, gamma)
        return new, np.flatnonzero(new.winner != before.winner)
    winner = before.winner.copy()
    edges = np.searchsorted(doubtful, np.arange(0, n + BLOCK, BLOCK))
    at_hand = None if near is None else ballot.among(near.active)

    def work(block: int) -> None:
        rows = doubtful[edges[block] : edges[block + 1]]
        if near is None or at_hand is None:
            _settle_some(ensemble.labels, ballot, rows, rows, winner, lead)
            return
        start = block * BLOCK
        in_doubt = np.zeros(BLOCK, dtype=bool)
        in_doubt[rows - start] = True
        for labels, first, inside in near.shells(block):
            places = np.flatnonzero(in_doubt[inside - start])
            _settle_some(labels, at_hand, first + places, inside[places], winner, lead)
        far = rows[~near.kept[rows]]
        _settle_some(ensemble.labels, ballot, far, far, winner, lead)

    for _ in map_blocks(work, np.flatnonzero(np.diff(edges)).tolist()):
        continue
    changed = doubtful[winner[doubtful] != before.winner[doubtful]]
    return Standing(gamma.copy(), winner, lead, near), changed


def _estimate_bounds(ensemble: Ensemble, ballot: Ballot) -> Floats:
    """Estimate the leads that the shares of rows in `SHARES` stay below, from a sample."""
    rows = np.arange(0, ensemble.n, max(ensemble.n // SAMPLE, 1))
    winner, lead = np.empty(len(rows), dtype=ensemble.dtype), np.empty(len(rows), dtype=np.float32)
    packed = np.empty((len(ballot.active), len(rows)), dtype=ensemble.labels.dtype)
    consensus.pick(ensemble.labels, ballot.active, rows, packed, 0)
    _settle(packed, ballot.among(ballot.active), 0, winner, lead)
    return np.quantile(lead, SHARES)


def sum_votes(ensemble: Ensemble, gamma: Floats, rows: Ints) -> Floats:
    """Rows of F = Σ γ_k P_k: the weight that votes for each cluster."""
    votes = np.zeros((len(rows), ensemble.r))
    ballot = Ballot.of(ensemble, gamma)

    def work(start: int) -> None:
        block = slice(start, start + TILE)
        consensus.add_votes(ensemble.labels, ballot.active, ballot.clusters, ballot.weights, rows[block], votes[block])

    for _ in map_blocks(work, range(0, len(rows), TILE)):
        continue
    return votes


def _settle(labels: Array, ballot: Ballot, start: int, winner: Array, lead: Floats) -> None:
    """Find winner and lead of consecutive columns of ``labels``: by whole votes, and exactly where these are close."""
    n, r = len(winner), ballot.codes.shape[1]
    if r > MANY or len(ballot.active) > LARGEST:  # there is not even one whole vote for each partition
        _settle_exactly(labels, ballot, start + np.arange(n), np.arange(n), winner, lead)
        return
    board = np.empty((r + 2, min(TILE, n)), dtype=np.uint16)
    unit, slack = np.float32(ballot.unit * (1 - LESS)), np.float32(ballot.slack * 1.00001)
    for t in range(0, n, TILE):
        tile = slice(t, t + TILE)
        consensus.quick_vote(
            labels,
            ballot.active,
            ballot.codes,
            ballot.shares,
            start + t,
            unit,
            slack,
            board,
            winner[tile],
            lead[tile],
        )
    close = np.flatnonzero(lead <= 0)
    if len(close):
        _settle_exactly(labels, ballot, start + close, close, winner, lead)


def _settle_exactly(labels: Array, ballot: Ballot, columns: Ints, places: Ints, winner: Array, lead: Floats) -> None:
    votes = np.zeros((len(columns), ballot.codes.shape[1]))
    consensus.add_votes(labels, ballot.active, ballot.clusters, ballot.weights, columns, votes)
    best, every = votes.argmax(axis=1), np.arange(len(votes))
    winner[places] = best
    top = votes[every, best]
    votes[every, best] = 0.0
    lead[places] = _lower((top - votes.max(axis=1) - rounding(len(ballot.weights))).astype(np.float32))


def _settle_some(labels: Array, ballot: Ballot, places: Ints, rows: Ints, winner: Array, lead: Floats) -> None:
    """Find winner and lead of scattered columns of ``labels``, which are copied side by side first."""
    if not len(places):
        return
    first = int(places[0])
    span = int(places[-1]) - first + 1
    if span <= CROWDED * len(places):  # counting those between them costs less than copying these
        won, ahead = np.empty(span, dtype=winner.dtype), np.empty(span, dtype=np.float32)
        _settle(labels, ballot, first, won, ahead)
        won, ahead = won[places - first], ahead[places - first]
    else:
        won, ahead = np.empty(len(places), dtype=winner.dtype), np.empty(len(places), dtype=np.float32)
        packed = np.empty((len(ballot.active), len(places)), dtype=labels.dtype)
        consensus.pick(labels, ballot.active, places, packed, 0)
        _settle(packed, ballot.among(ballot.active), 0, won, ahead)
    winner[rows], lead[rows] = won, ahead


def _drift(old: Floats, new: Floats) -> tuple[float, float]:
    """A scale alpha, and how much lead a row can lose when the weights change: min ‖new − alpha · old‖₁ / alpha.

    The winners of alpha · old are those of old, so the change is measured from the alpha that is nearest to new. A
    partition moves the difference of two clusters by at most its own change. With b = 1 / alpha the bound is
    Σ |b · new_k − old_k|, which is smallest at the median of old_k / new_k under the weights new_k.
    """
    active = np.flatnonzero(new > 0)
    ratio = old[active] / new[active]
    order = np.argsort(ratio, kind="stable")
    place = int(np.searchsorted(np.cumsum(new[active][order]), 0.5 * new.sum()))
    b = float(ratio[order[min(place, len(order) - 1)]])
    if b <= 0:
        return 1.0, 2.0  # most of the weight is on partitions that had none: every row is in doubt
    return 1 / b, float(np.abs(b * new - old).sum()) + rounding(len(new)) * (1 + b)


def _lower(lead: Any) -> Floats:
    """Lower leads a little, in place; see `LESS`."""
    lead -= np.abs(lead) * np.float32(LESS)
    return np.maximum(lead, 0, out=lead)
