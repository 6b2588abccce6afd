"""Clues written out as links: labels and groups pair by pair, and everything else that follows from clues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.clues.links import Links
from cluewise.exceptions import ClueError

if TYPE_CHECKING:
    from cluewise.clues._clues import Clues
    from cluewise.clues._groups import Groups

__all__ = ["ENTAILED", "entail", "expand"]

ENTAILED = "entailed"
"""Source of clues that follow from others."""


# --- labels and groups as pairs ---------------------------------------------------------------------------


def expand(clues: Clues, limit: int) -> tuple[Links, Links]:
    """All must-links and cannot-links, those of labels and groups included; more than ``limit`` are refused."""
    must, cannot = clues._must, clues._cannot
    labelled = int((clues.labels >= 0).sum())
    total = len(must) + len(cannot) + labelled * (labelled - 1) // 2
    for group in (*clues.together, *clues.apart):
        total += int((group.sizes * (group.sizes - 1) // 2).sum())
    if total > limit:
        raise ClueError(
            f"written out as pairs, these labels and groups make {total} links, more than limit={limit}; "
            "use a method that takes them as they are."
        )
    for t, group in enumerate(clues.together):
        must = must.join(_links(*_pairs(group.codes), group.weights, f"together {t}"), clues.n)
    for t, group in enumerate(clues.apart):
        cannot = cannot.join(_links(*_pairs(group.codes), group.weights, f"apart {t}"), clues.n)
    if labelled:
        rows, code = _pairs(np.where(clues.labels >= 0, 0, -1))
        same = clues.labels[rows[:, 0]] == clues.labels[rows[:, 1]]
        must = must.join(_links(rows[same], code[same], np.ones(1), "labels"), clues.n)
        cannot = cannot.join(_links(rows[~same], code[~same], np.ones(1), "labels"), clues.n)
    return must, cannot


def _links(rows: Ints, group: Ints, weights: Floats, source: str) -> Links:
    # A source of its own, which no user has, so that weights of groups are added to those of links.
    return Links(rows, weights[group], None, f"\0{source}")


def _pairs(codes: Ints) -> tuple[Ints, Ints]:
    """All pairs of rows with one code, sorted by (first, second), and their code."""
    rows = np.flatnonzero(codes >= 0)
    order = np.argsort(codes[rows], kind="stable")
    rows = rows[order]
    code = codes[rows]
    end = np.searchsorted(code, code, side="right")
    partners = end - np.arange(len(rows)) - 1
    first = np.repeat(np.arange(len(rows)), partners)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(partners) - partners, partners)
    pairs = np.column_stack([rows[first], rows[second]]).astype(np.int64)
    position = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[position], code[first][position]


# --- what follows -----------------------------------------------------------------------------------------


def entail(clues: Clues, limit: int) -> dict[str, Any]:
    """Arguments of the `Clues` that follow from others and are not among them: labels, must-links, cannot-links."""
    component, count = clues.components, clues.n_components
    labels = np.full(count, -1, dtype=np.int64)
    known = clues.labels >= 0
    labels[component[known]] = clues.labels[known]
    tied = clues.tied
    order = tied[np.argsort(component[tied], kind="stable")]
    sizes = np.bincount(component[tied], minlength=count)
    start = np.concatenate([[0], np.cumsum(sizes)])
    weakest = _weakest(clues, component, count)
    # Components with a label need no links among them: the labels say it all.
    joined = (sizes > 1) & (labels < 0)
    apart = {pair: w for pair, w in _apart(clues).items() if labels[pair[0]] < 0 or labels[pair[1]] < 0}
    total = int((sizes[joined] * (sizes[joined] - 1) // 2).sum()) + sum(int(sizes[a] * sizes[b]) for a, b in apart)
    if total > limit:
        raise ClueError(f"{total} links follow from the clues, more than the limit of {limit}.")

    codes = np.full(clues.n, -1, dtype=np.int64)
    codes[tied] = np.where(joined[component[tied]], component[tied], -1)
    must, of_component = _pairs(codes)
    cannot: list[Ints] = [np.empty((0, 2), dtype=np.int64)]
    cannot_weight: list[Floats] = [np.empty(0)]
    for (a, b), weight in apart.items():
        left, right = order[start[a] : start[a + 1]], order[start[b] : start[b + 1]]
        pairs = np.column_stack([np.repeat(left, len(right)), np.tile(right, len(left))])
        cannot.append(np.sort(pairs, axis=1))
        cannot_weight.append(np.full(len(pairs), min(weight, weakest[a], weakest[b])))
    new_must, w_must = _news(must, weakest[of_component], clues.must, clues.together, clues.n)
    new_cannot, w_cannot = _news(
        np.concatenate(cannot), np.concatenate(cannot_weight), clues.cannot, clues.apart, clues.n
    )
    column = None
    spread = np.where(known, -1, labels[component])
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


def _apart(clues: Clues) -> dict[tuple[int, int], float]:
    """Pairs of different components that are apart, each with the largest weight that says so."""
    component = clues.components
    ends, weights = [component[clues.cannot]], [clues.cannot_weight]
    for group in clues.apart:
        pairs, code = _pairs(group.codes)
        ends.append(component[pairs])
        weights.append(group.weights[code])
    found: dict[tuple[int, int], float] = {}
    for (a, b), weight in zip(np.sort(np.concatenate(ends), axis=1).tolist(), np.concatenate(weights).tolist()):
        if a != b:  # a contradiction entails everything, and so nothing
            found[a, b] = max(found.get((a, b), 0.0), weight)
    return found


def _news(
    pairs: Ints, weights: Floats, given: Ints, groups: tuple[Groups, ...], n: int
) -> tuple[Array | None, Array | None]:
    """Pairs that are neither given nor in one group."""
    new = ~np.isin(pairs[:, 0] * n + pairs[:, 1], given[:, 0] * n + given[:, 1])
    for group in groups:
        codes = group.codes[pairs]
        new &= ~((codes[:, 0] == codes[:, 1]) & (codes[:, 0] >= 0))
    return (pairs[new], weights[new]) if new.any() else (None, None)
