"""Every link that follows from clues, written out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.exceptions import ClueError

if TYPE_CHECKING:
    from cluewise.clues._clues import Clues

__all__ = ["ENTAILED", "entailed"]

ENTAILED = "entailed"


def entailed(clues: Clues, limit: int) -> dict[str, Any]:
    """Arguments of the `Clues` that follow from others and are not among them: labels, must-links, cannot-links."""
    component, count = clues.components, clues.n_components
    labels = np.full(count, -1, dtype=np.int64)
    known = clues.labels >= 0
    labels[component[known]] = clues.labels[known]
    spread = np.where(known, -1, labels[component])
    tied = clues.tied
    order = tied[np.argsort(component[tied], kind="stable")]
    sizes = np.bincount(component[tied], minlength=count)
    start = np.concatenate([[0], np.cumsum(sizes)])
    weakest = _weakest(clues, component, count)
    several = np.flatnonzero((sizes > 1) & (labels < 0))
    apart = {pair: w for pair, w in _apart(clues) if labels[pair[0]] < 0 or labels[pair[1]] < 0}
    total = int((sizes[several] * (sizes[several] - 1) // 2).sum()) + sum(int(sizes[a] * sizes[b]) for a, b in apart)
    if total > limit:
        raise ClueError(f"{total} links follow from the clues, more than the limit of {limit}.")

    must: list[Ints] = []
    must_weight: list[Floats] = []
    for c in several.tolist():
        rows = order[start[c] : start[c + 1]]
        first, second = np.triu_indices(len(rows), 1)
        must.append(np.column_stack([rows[first], rows[second]]))
        must_weight.append(np.full(len(first), weakest[c]))
    cannot: list[Ints] = []
    cannot_weight: list[Floats] = []
    for (a, b), weight in apart.items():
        left, right = order[start[a] : start[a + 1]], order[start[b] : start[b + 1]]
        pairs = np.column_stack([np.repeat(left, len(right)), np.tile(right, len(left))])
        cannot.append(np.sort(pairs, axis=1))
        cannot_weight.append(np.full(len(pairs), min(weight, weakest[a], weakest[b])))
    new_must, w_must = _news(must, must_weight, clues.must, clues.together, clues.n)
    new_cannot, w_cannot = _news(cannot, cannot_weight, clues.cannot, clues.apart, clues.n)
    column = None
    if (spread >= 0).any():
        column = np.full(clues.n, None, dtype=object)
        column[spread >= 0] = clues.classes_[spread[spread >= 0]]
    return {"labels": column, "must": new_must, "must_weight": w_must, "cannot": new_cannot, "cannot_weight": w_cannot}


def _weakest(clues: Clues, component: Ints, count: int) -> Floats:
    """The smallest weight that holds each component together: a chain is as strong as its weakest link."""
    weakest = np.full(count, np.inf)
    np.minimum.at(weakest, component[clues.must[:, 0]], clues.must_weight)
    for group in clues.together:
        rows = np.flatnonzero(group.codes >= 0)
        np.minimum.at(weakest, component[rows], group.weights[group.codes[rows]])
    return np.where(np.isinf(weakest), 1.0, weakest)


def _apart(clues: Clues) -> Iterator[tuple[tuple[int, int], float]]:
    """Pairs of different components that are apart, each with the largest weight that says so."""
    component = clues.components
    found: dict[tuple[int, int], float] = {}

    def note(a: int, b: int, weight: float) -> None:
        if a != b:  # a contradiction entails everything, and so nothing
            key = (min(a, b), max(a, b))
            found[key] = max(found.get(key, 0.0), weight)

    for (i, j), weight in zip(clues.cannot.tolist(), clues.cannot_weight.tolist()):
        note(int(component[i]), int(component[j]), weight)
    for group in clues.apart:
        for g in range(len(group.weights)):
            members = np.unique(component[np.flatnonzero(group.codes == g)]).tolist()
            for place, a in enumerate(members):
                for b in members[place + 1 :]:
                    note(a, b, float(group.weights[g]))
    yield from found.items()


def _news(
    pairs: list[Ints], weights: list[Floats], given: Ints, groups: Any, n: int
) -> tuple[Ints | None, Floats | None]:
    """Pairs that are neither given nor in one group."""
    if not pairs:
        return None, None
    every, weight = np.concatenate(pairs), np.concatenate(weights)
    new = ~np.isin(every[:, 0] * n + every[:, 1], given[:, 0] * n + given[:, 1])
    for group in groups:
        codes = group.codes[every]
        new &= ~((codes[:, 0] == codes[:, 1]) & (codes[:, 0] >= 0))
    return (every[new], weight[new]) if new.any() else (None, None)
