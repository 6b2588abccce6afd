"""The weighted vote of an ensemble: who wins each row, by how much, and which rows a change of weights can turn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.threads import map_blocks
from cluewise.ensemble._aligned import Aligned
from cluewise.ensemble._ballot import Ballot, rounding
from cluewise.kernels import consensus

__all__ = ["Standing", "count", "recount", "soft"]

TILE = 2048
"""Rows counted at once: their votes stay in the fastest cache."""

BLOCK = 8 * TILE
"""Rows between two looks at Ctrl-C."""

MANY = 32
"""Up to this many clusters it is faster to compare a label with each of them than to look up where its vote goes."""

PICKED = 2 * TILE
"""Rows whose labels are fetched from all over at once."""

CROWDED = 1.5
"""Rows that are counted for one that has to be, rather than looking for it."""

OFTEN = 0.4
"""Above this share of rows in doubt counting all of them is faster than looking for them."""

FRONT = 0.125
"""Share of the rows, those with the smallest leads, whose labels are kept side by side for the next count."""

LESS = 1e-6
"""Share of a lead that is not promised, because single precision rounds it."""


class Front(NamedTuple):
    """Labels of the rows that changes of the weights turn first, copied side by side."""

    rows: Ints  # (f,) ascending
    labels: Array  # (m, f)


class Pile(NamedTuple):
    """Rows to count again, and where their labels stand."""

    labels: Array  # (m, …)
    places: Ints  # columns
    rows: Ints  # that these columns are


class Standing(NamedTuple):
    """The outcome of a vote."""

    gamma: Floats  # (m,) the weights
    winner: Array  # (n,) unsigned
    lead: Floats  # (n,) float32: the winner leads by at least this much
    front: Front | None = None


def count(ensemble: Aligned, gamma: Floats) -> Standing:
    """The vote on all rows; equal to the first largest sum of weights in double precision, row by row."""
    n = ensemble.n
    winner, lead = np.empty(n, dtype=ensemble.dtype), np.empty(n, dtype=np.float32)
    ballot = Ballot.of(ensemble, gamma)

    def work(start: int) -> None:
        block = slice(start, start + BLOCK)
        _settle(ensemble.labels, ballot, start, winner[block], lead[block])

    for _ in map_blocks(work, range(0, n, BLOCK)):
        continue
    return Standing(gamma.copy(), winner, lead)


def recount(ensemble: Aligned, before: Standing, gamma: Floats) -> tuple[Standing, Ints]:
    """The vote with new weights, and the rows whose winner changed; only rows that can turn are counted again."""
    if np.array_equal(gamma, before.gamma):
        return before, np.empty(0, dtype=np.int64)
    alpha, drift = _drift(before.gamma, gamma)
    n = ensemble.n
    lead, listed = np.empty(n, dtype=np.float32), np.empty(n + 1, dtype=np.int64)
    doubtful = listed[: consensus.sift(before.lead, drift, alpha, lead, listed)]
    if len(doubtful) > OFTEN * n:
        new = count(ensemble, gamma)
        return new, np.flatnonzero(new.winner != before.winner)
    del listed
    winner, ballot = before.winner.copy(), Ballot.of(ensemble, gamma)
    front, piles = _front(ensemble, before, doubtful, drift)
    for labels, places, rows in piles:
        _settle_some(labels, ballot, places, rows, winner, lead)
    changed = doubtful[winner[doubtful] != before.winner[doubtful]]
    return Standing(gamma.copy(), winner, lead, front), changed


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
    if r > MANY:
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
    best = votes.argmax(axis=1)
    winner[places] = best
    top = np.take_along_axis(votes, best[:, None], axis=1)[:, 0]
    np.put_along_axis(votes, best[:, None], 0.0, axis=1)
    lead[places] = _lowered((top - votes.max(axis=1) - rounding(len(ballot.weights))).astype(np.float32))


def _settle_some(labels: Array, ballot: Ballot, places: Ints, rows: Ints, winner: Array, lead: Floats) -> None:
    """The same for columns anywhere in ``labels``, which are first laid side by side."""
    near = ballot.packed()

    def work(start: int) -> None:
        part = slice(start, start + PICKED)
        some = places[part]
        first = int(some[0])
        span = int(some[-1]) - first + 1
        if span <= CROWDED * len(some):  # the rows between them cost less than fetching these one by one
            won, ahead = np.empty(span, dtype=winner.dtype), np.empty(span, dtype=np.float32)
            _settle(labels, ballot, first, won, ahead)
            won, ahead = won[some - first], ahead[some - first]
        else:
            won, ahead = np.empty(len(some), dtype=winner.dtype), np.empty(len(some), dtype=np.float32)
            packed = np.empty((len(ballot.active), len(some)), dtype=labels.dtype)
            consensus.pick(labels, ballot.active, some, packed)
            _settle(packed, near, 0, won, ahead)
        winner[rows[part]], lead[rows[part]] = won, ahead

    for _ in map_blocks(work, range(0, len(places), PICKED)):
        continue


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


def _front(ensemble: Aligned, before: Standing, doubtful: Ints, drift: float) -> tuple[Front | None, list[Pile]]:
    """Where the labels of the doubtful rows are taken from, and what is kept for the next time.

    The front stays as it is while most doubtful rows stand in it; otherwise there is a new one, of rows with up to
    twice the lead that counts now.
    """
    front = before.front
    if front is not None:
        piles, missing = _piles(ensemble, front, doubtful)
        if missing <= 0.1 * len(doubtful):
            return front, piles
    limit = FRONT * ensemble.n
    if not 0 < len(doubtful) <= limit:
        return front, [Pile(ensemble.labels, doubtful, doubtful)]
    rows: Ints = np.flatnonzero(before.lead <= 2 * drift)
    if len(rows) > limit:
        rows = doubtful.copy()
    front = Front(rows, np.empty((len(ensemble.labels), len(rows)), dtype=ensemble.labels.dtype))
    every = np.arange(len(front.labels))

    def work(start: int) -> None:
        some = slice(start, start + PICKED)
        consensus.pick(ensemble.labels, every, rows[some], front.labels[:, some])

    for _ in map_blocks(work, range(0, len(rows), PICKED)):
        continue
    return front, _piles(ensemble, front, doubtful)[0]


def _piles(ensemble: Aligned, front: Front, doubtful: Ints) -> tuple[list[Pile], int]:
    """The doubtful rows that stand in the front and the others; how many others there are."""
    doubted = np.zeros(ensemble.n, dtype=bool)
    doubted[doubtful] = True
    places = np.flatnonzero(doubted[front.rows])
    rows = front.rows[places]
    doubted[rows] = False
    out = np.flatnonzero(doubted)
    piles = [Pile(front.labels, places, rows), Pile(ensemble.labels, out, out)]
    return [pile for pile in piles if len(pile.places)], len(out)
