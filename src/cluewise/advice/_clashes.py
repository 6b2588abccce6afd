"""Which clues conflict: links that overlap in the data, and links to repair first."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cluewise._typing import Ints
from cluewise.clues import Clues, Conflict
from cluewise.metrics.segments import Segments, overlap_blocks

__all__ = ["Clash", "Repairs", "find_clashes", "find_repairs"]

_AT_ONCE = 200  # contradictions whose chains are followed at once
_CHAINS = 400  # chains followed in all
_ROWS = 50_000  # with more rows each chain takes longer, so fewer are followed
_FEWEST = 20

_KINDS = ("must", "cannot")
_Link = tuple[str, int, int]  # kind and rows


@dataclass(frozen=True)
class Clash:
    """A must-link and a cannot-link that pull and push in the same place.

    Attributes
    ----------
    must, cannot : (int, int)
        Rows of the two links.
    must_source, cannot_source : str
        Where they come from; "from labels or groups" if no link says it.
    overlap : float
        How much of each lies alongside the other, between 0 and 1; decreases with their distance.

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


def find_clashes(links: Segments, clues: Clues, most: int) -> tuple[Clash, ...]:
    """Find the must-links and cannot-links that overlap most."""
    if not len(links.must) or not len(links.cannot):
        return ()
    long, far = links.lengths
    middle = links.cannot.mean(axis=1) - links.middle
    best: list[tuple[float, int, int]] = []
    for start, on, back in overlap_blocks(links):
        here = slice(start, start + len(on))
        share = on * back / np.maximum(np.outer(long[here], far), 1e-300)
        # Projections overlap also where two segments are far apart side by side, so the distance between the middles,
        # in units of the mean length, reduces the overlap.
        ends = links.must[here].mean(axis=1) - links.middle
        squared = (ends**2).sum(axis=1)[:, None] + (middle**2).sum(axis=1) - 2 * ends @ middle.T
        mean = (long[here][:, None] + far) / 2
        share /= 1 + np.sqrt(np.maximum(squared, 0)) / np.maximum(mean, 1e-300)
        top = np.argsort(-share, axis=None, kind="stable")[:most]
        best += [(float(share.flat[p]), -start - int(p) // len(far), -(int(p) % len(far))) for p in top]
        best = heapq.nlargest(most, best)
    must, cannot = _sources(clues, "must"), _sources(clues, "cannot")
    otherwise = "from labels or groups"
    clashes = []
    for value, i, j in best:
        if value > 0:
            first, second = _pair(links.must_rows[-i]), _pair(links.cannot_rows[-j])
            clashes.append(Clash(first, second, must.get(first, otherwise), cannot.get(second, otherwise), value))
    return tuple(clashes)


def _pair(rows: Ints) -> tuple[int, int]:
    return int(rows[0]), int(rows[1])


def _sources(clues: Clues, kind: str) -> dict[tuple[int, int], str]:
    pairs, sources = getattr(clues, kind), getattr(clues, f"{kind}_source")
    return {_pair(rows): str(source) for rows, source in zip(pairs, sources)}


class Repairs(NamedTuple):
    """Links to repair first, their rows, and how many contradictions remain without them."""

    words: tuple[str, ...]
    rows: tuple[tuple[int, int], ...]
    left: int


def find_repairs(clues: Clues) -> Repairs:
    """Find links without which fewer clues, or none, contradict each other.

    Follows the chains of up to 200 contradictions at a time and removes, greedily, the link that most of them share in
    relation to its weight, until each chain has lost one; then continues with the contradictions that remain. Stops
    when none remain, when only labels and groups contradict each other, or after 400 chains (fewer if there are many
    rows).
    """
    found: list[_Link] = []
    words: list[str] = []
    chains = int(min(_CHAINS, max(_FEWEST, _CHAINS * _ROWS / max(1, clues.n))))
    while clues.contradictions and chains > 0:
        # Those with a cannot-link come first: removing it always repairs them.
        order = sorted(clues.contradictions, key=lambda c: c.kind != "cannot")[: min(chains, _AT_ONCE)]
        chains -= len(order)
        sets = [links for links in map(_list_links, order) if links]
        if not sets:
            break
        weight = {(kind, *pair): w for kind in _KINDS for pair, w in _weights(clues, kind)}
        source = {kind: _sources(clues, kind) for kind in _KINDS}
        chosen = _hit_all(sets, weight)
        found += chosen
        words += [f"{kind}-link {a} – {b} ({source[kind][a, b]})" for kind, a, b in chosen]
        clues = _remove(clues, chosen)
    return Repairs(tuple(words), tuple((a, b) for _, a, b in found), len(clues.contradictions))


def _hit_all(sets: list[set[_Link]], weight: Mapping[_Link, float]) -> list[_Link]:
    """Choose links, greedily, such that every set contains one of them."""
    chosen = []
    while sets:
        votes = Counter(link for links in sets for link in links)
        # Ties go to the cannot-link: without it, the rows are joined as the other links say.
        best = max(votes, key=lambda v: (votes[v] / weight[v], v[0] == "cannot", -v[1], -v[2]))
        chosen.append(best)
        sets = [links for links in sets if best not in links]
    return chosen


def _list_links(conflict: Conflict) -> set[_Link]:
    steps = {("must", min(a, b), max(a, b)) for a, b, why in conflict.chain if why.startswith("must-link")}
    if conflict.kind == "cannot":
        steps.add(("cannot", min(conflict.first, conflict.second), max(conflict.first, conflict.second)))
    return steps


def _weights(clues: Clues, kind: str) -> Iterator[tuple[tuple[int, int], float]]:
    for rows, weight in zip(getattr(clues, kind), getattr(clues, f"{kind}_weight")):
        yield _pair(rows), max(float(weight), 1e-300)


def _remove(clues: Clues, links: Sequence[_Link]) -> Clues:
    keep = {}
    for kind in _KINDS:
        pairs = getattr(clues, kind).astype(np.int64)
        out = np.array([a * clues.n + b for own, a, b in links if own == kind], dtype=np.int64)
        keep[kind] = ~np.isin(pairs[:, 0] * clues.n + pairs[:, 1], out)
    every = [[np.ones(len(g.weights), dtype=bool) for g in groups] for groups in (clues.together, clues.apart)]
    return clues.subset(
        must=keep["must"], cannot=keep["cannot"], labels=clues.labels >= 0, together=every[0], apart=every[1]
    )
