"""Which clues conflict with which: clues in the way of each other on the map, and clues to look at first."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues, Conflict
from cluewise.metrics.segments import Segments, overlap_blocks

__all__ = ["Clash", "Repairs", "clashes", "repairs"]

_LOOKED_AT = 200  # contradictions whose chains are followed together
_CHAINS = 400  # that are followed in all
_ROWS = 50_000  # beyond, fewer chains are followed, because each takes longer
_FEWEST = 20

_Link = tuple[str, int, int]  # kind and rows


@dataclass(frozen=True)
class Clash:
    """A must-link and a cannot-link that pull and push in the same place.

    Attributes
    ----------
    must, cannot : (int, int)
        Rows of the two links.
    must_source, cannot_source : str
        Where they come from; what labels and groups say is called so.
    overlap : float
        How much of each lies alongside the other, between 0 and 1, less the farther they are from each other.

    Examples
    --------
    >>> from cluewise.advice import Clash
    >>> print(Clash((0, 4), (1, 5), "given", "ann.csv:7", 0.8))
    must-link 0 – 4 (given) against cannot-link 1 – 5 (ann.csv:7)
    """

    must: tuple[int, int]
    cannot: tuple[int, int]
    must_source: str
    cannot_source: str
    overlap: float

    def __str__(self) -> str:
        must, cannot = (f"{a} – {b}" for a, b in (self.must, self.cannot))
        return f"must-link {must} ({self.must_source}) against cannot-link {cannot} ({self.cannot_source})"


def clashes(found: Segments, clues: Clues, most: int) -> tuple[Clash, ...]:
    """The must-links and cannot-links that are most in the way of each other.

    By the product of the shares of both lengths that overlap, over 1 plus the distance between the middles in units of
    the mean length: a projection alone would not see that two segments lie side by side.
    """
    if not len(found.must) or not len(found.cannot):
        return ()
    long, far = _lengths(found.must), _lengths(found.cannot)
    middle = found.cannot.mean(axis=1) - found.middle
    best: list[tuple[float, int, int]] = []
    for start, on, back in overlap_blocks(found):
        here = slice(start, start + len(on))
        share = on * back / np.maximum(np.outer(long[here], far), 1e-300)
        ends = found.must[here].mean(axis=1) - found.middle
        squared = (ends**2).sum(axis=1)[:, None] + (middle**2).sum(axis=1) - 2 * ends @ middle.T
        mean = (long[here][:, None] + far) / 2
        share /= 1 + np.sqrt(np.maximum(squared, 0)) / np.maximum(mean, 1e-300)
        top = np.argsort(-share, axis=None, kind="stable")[:most]
        best += [(float(share.flat[p]), -start - int(p) // len(far), -(int(p) % len(far))) for p in top]
        best = heapq.nlargest(most, best)
    must, cannot = _sources(clues, "must"), _sources(clues, "cannot")
    return tuple(
        _clash(found.must_rows[-i], found.cannot_rows[-j], must, cannot, value) for value, i, j in best if value > 0
    )


def _lengths(ends: Floats) -> Floats:
    lengths: Floats = np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum(axis=1))
    return lengths


def _sources(clues: Clues, kind: str) -> dict[tuple[int, int], str]:
    pairs, sources = getattr(clues, kind), getattr(clues, f"{kind}_source")
    return {(int(a), int(b)): str(source) for (a, b), source in zip(pairs, sources)}


def _clash(must: Ints, cannot: Ints, musts: dict[Any, str], cannots: dict[Any, str], value: float) -> Clash:
    first, second = (int(must[0]), int(must[1])), (int(cannot[0]), int(cannot[1]))
    otherwise = "from labels or groups"
    return Clash(first, second, musts.get(first, otherwise), cannots.get(second, otherwise), value)


class Repairs(NamedTuple):
    """Links to look at first, their rows, and how many contradictions are left without them."""

    words: tuple[str, ...]
    rows: tuple[tuple[int, int], ...]
    left: int


def repairs(clues: Clues) -> Repairs:
    """Links without which nothing, or less, contradicts itself, as far as links can tell.

    Chains of contradictions are followed, 200 at a time. Greedily the link that most of them share is taken, by its
    weight, until each has lost one; then again with what is left. It ends when nothing is left, when labels and groups
    alone contradict each other, or when 400 chains, fewer on many rows, have been followed.
    """
    found: list[tuple[str, int, int]] = []
    words: list[str] = []
    chains = int(min(_CHAINS, max(_FEWEST, _CHAINS * _ROWS / max(1, clues.n))))
    while clues.contradictions and chains > 0:
        # Those with a cannot-link first: they can be repaired for certain.
        order = sorted(clues.contradictions, key=lambda c: c.kind != "cannot")[: min(chains, _LOOKED_AT)]
        chains -= len(order)
        sets = [links for links in map(_links_in, order) if links]
        if not sets:
            break
        weight = {kind: _sources_weights(clues, kind) for kind in ("must", "cannot")}
        taken = _hitting(sets, {link: weight[link[0]][link[1:]][0] for links in sets for link in links})
        found += taken
        words += [f"{kind}-link {a} – {b} ({weight[kind][a, b][1]})" for kind, a, b in taken]
        clues = _less(clues, taken)
    return Repairs(tuple(words), tuple((a, b) for _, a, b in found), len(clues.contradictions))


def _hitting(sets: list[set[_Link]], weight: Mapping[_Link, float]) -> list[_Link]:
    """Links such that every set holds one of them, greedily."""
    taken = []
    while sets:
        votes = Counter(link for links in sets for link in links)
        # Among links in equally many chains, the cannot-link: without it the rows are as the others say.
        best = max(votes, key=lambda v: (votes[v] / weight[v], v[0] == "cannot", -v[1], -v[2]))
        taken.append(best)
        sets = [links for links in sets if best not in links]
    return taken


def _links_in(conflict: Conflict) -> set[_Link]:
    steps = {("must", min(a, b), max(a, b)) for a, b, why in conflict.chain if why.startswith("must-link")}
    if conflict.kind == "cannot":
        steps.add(("cannot", min(conflict.first, conflict.second), max(conflict.first, conflict.second)))
    return steps


def _sources_weights(clues: Clues, kind: str) -> dict[tuple[int, int], tuple[float, str]]:
    weights = getattr(clues, f"{kind}_weight")
    named = _sources(clues, kind)
    return {pair: (max(float(weight), 1e-300), source) for (pair, source), weight in zip(named.items(), weights)}


def _less(clues: Clues, links: Sequence[_Link]) -> Clues:
    keep = {}
    for kind in ("must", "cannot"):
        pairs = getattr(clues, kind).astype(np.int64)
        out = np.array([a * clues.n + b for own, a, b in links if own == kind], dtype=np.int64)
        keep[kind] = ~np.isin(pairs[:, 0] * clues.n + pairs[:, 1], out)
    every = [[np.ones(len(g.weights), dtype=bool) for g in groups] for groups in (clues.together, clues.apart)]
    return clues.subset(
        must=keep["must"], cannot=keep["cannot"], labels=clues.labels >= 0, together=every[0], apart=every[1]
    )
