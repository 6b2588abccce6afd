"""The weighted vote of an ensemble: who wins each row, by how much, and which rows a change of weights can turn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.threads import map_blocks
from cluewise.ensemble._aligned import Aligned
from cluewise.ensemble._ballot import LARGEST, Ballot, rounding
from cluewise.ensemble._near import SHARES, Near
from cluewise.kernels import consensus

__all__ = ["Standing", "count", "recount", "soft"]

TILE = 2048
"""Rows counted at once: their votes stay in the fastest cache."""

BLOCK = 32 * TILE
"""Rows between two looks at Ctrl-C."""

MANY = 32
"""Up to this many clusters it is faster to compare a label with each of them than to look up where its vote goes."""

CROWDED = 2.0
"""Rows that are counted for one that has to be, rather than looking for it."""

OFTEN = 0.4
"""Above this share of rows in doubt counting all of them is faster than looking for them."""

ASTRAY = 0.12
"""Above this share of doubtful rows whose labels are not at hand, too: they lie all over the matrix."""

SAMPLE = 2048
"""Rows that tell beforehand which leads are small."""

LESS = 1e-6
"""Share of a lead that is not promised, because single precision rounds it."""


class Standing(NamedTuple):
    """The outcome of a vote."""

    gamma: Floats  # (m,) the weights
    winner: Array  # (n,) unsigned
    lead: Floats  # (n,) float32: the winner leads by at least this much
    near: Near | None = None


def count(ensemble: Aligned, gamma: Floats) -> Standing:
    """The vote on all rows; equal to the first largest sum of weights in double precision, row by row."""
    n = ensemble.n
    winner, lead = np.empty(n, dtype=ensemble.dtype), np.empty(n, dtype=np.float32)
    ballot = Ballot.of(ensemble, gamma)
    near = Near(ensemble.labels, ballot.active, _bounds(ensemble, ballot), BLOCK)

    def work(number: int) -> None:
        start = number * BLOCK
        block = slice(start, start + BLOCK)
        _settle(ensemble.labels, ballot, start, winner[block], lead[block])
        near.keep(number, lead[block])

    for _ in map_blocks(work, range(-(-n // BLOCK))):
        continue
    return Standing(gamma.copy(), winner, lead, near)


def recount(ensemble: Aligned, before: Standing, gamma: Floats) -> tuple[Standing, Ints]:
    """The vote with new weights, and the rows whose winner changed; only rows that can turn are counted again."""
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
        doubted = np.zeros(BLOCK, dtype=bool)
        doubted[rows - start] = True
        for labels, first, inside in near.shells(block):
            places = np.flatnonzero(doubted[inside - start])
            _settle_some(labels, at_hand, first + places, inside[places], winner, lead)
        far = rows[~near.kept[rows]]
        _settle_some(ensemble.labels, ballot, far, far, winner, lead)

    for _ in map_blocks(work, np.flatnonzero(np.diff(edges)).tolist()):
        continue
    changed = doubtful[winner[doubtful] != before.winner[doubtful]]
    return Standing(gamma.copy(), winner, lead, near), changed


def _bounds(ensemble: Aligned, ballot: Ballot) -> Floats:
    """Leads that the given shares of the rows stay below; from a sample of them."""
    rows = np.arange(0, ensemble.n, max(ensemble.n // SAMPLE, 1))
    winner, lead = np.empty(len(rows), dtype=ensemble.dtype), np.empty(len(rows), dtype=np.float32)
    packed = np.empty((len(ballot.active), len(rows)), dtype=ensemble.labels.dtype)
    consensus.pick(ensemble.labels, ballot.active, rows, packed, 0)
    _settle(packed, ballot.among(ballot.active), 0, winner, lead)
    return np.quantile(lead, SHARES)


def soft(ensemble: Aligned, gamma: Floats, rows: Ints) -> Floats:
    """Rows of F = Σ γ_k P_k: how much weight votes for each cluster."""
    votes = np.zeros((len(rows), ensemble.r))
    ballot = Ballot.of(ensemble, gamma)

    def work(start: int) -> None:
        block = slice(start, start + TILE)
        consensus.add_votes(ensemble.labels, ballot.active, ballot.clusters, ballot.weights, rows[block], votes[block])

    for _ in map_blocks(work, range(0, len(rows), TILE)):
        continue
    return votes


def _settle(labels: Array, ballot: Ballot, start: int, winner: Array, lead: Floats) -> None:
    """Winner and lead of a run of columns of ``labels``: by whole votes, and exactly where these cannot tell."""
    n, r = len(winner), ballot.spelled.shape[1]
    if r > MANY or len(ballot.active) > LARGEST:  # not even one whole vote for each partition
        _settle_exactly(labels, ballot, start + np.arange(n), np.arange(n), winner, lead)
        return
    board = np.empty((r + 2, min(TILE, n)), dtype=np.uint16)
    # A little less than the votes say, so that rounding to single precision never promises too much.
    unit, slack = np.float32(ballot.unit * (1 - LESS)), np.float32(ballot.slack * 1.00001)
    for t in range(0, n, TILE):
        tile = slice(t, t + TILE)
        consensus.quick_vote(
            labels,
            ballot.active,
            ballot.spelled,
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
    votes = np.zeros((len(columns), ballot.spelled.shape[1]))
    consensus.add_votes(labels, ballot.active, ballot.clusters, ballot.weights, columns, votes)
    best, every = votes.argmax(axis=1), np.arange(len(votes))
    winner[places] = best
    top = votes[every, best]
    votes[every, best] = 0.0
    lead[places] = _lowered((top - votes.max(axis=1) - rounding(len(ballot.weights))).astype(np.float32))


def _settle_some(labels: Array, ballot: Ballot, places: Ints, rows: Ints, winner: Array, lead: Floats) -> None:
    """The same for columns anywhere in ``labels``, which are first laid side by side."""
    if not len(places):
        return
    first = int(places[0])
    span = int(places[-1]) - first + 1
    if span <= CROWDED * len(places):  # the columns between them cost less than fetching these one by one
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
    """Alpha, and how much lead a row may lose when the weights change: ‖new − alpha · old‖₁ / alpha at its least.

    One partition moves the difference of two clusters by at most its own change. With b = 1 / alpha the bound is
    Σ |b · new_k − old_k|, least at the median of old_k / new_k under the weights new_k.
    """
    active = np.flatnonzero(new > 0)
    ratio = old[active] / new[active]
    order = np.argsort(ratio, kind="stable")
    place = int(np.searchsorted(np.cumsum(new[active][order]), 0.5 * new.sum()))
    b = float(ratio[order[min(place, len(order) - 1)]])
    if b <= 0:
        return 1.0, 2.0  # most of the weight is on partitions that had none: nothing is certain
    return 1 / b, float(np.abs(b * new - old).sum()) + rounding(len(new)) * (1 + b)


def _lowered(lead: Any) -> Floats:
    """A little less, so that rounding to single precision never promises too much."""
    lead -= np.abs(lead) * np.float32(LESS)
    return np.maximum(lead, 0, out=lead)
