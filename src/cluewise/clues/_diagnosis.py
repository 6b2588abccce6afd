"""Clues in words: what is there, whether it contradicts itself, whether k clusters can satisfy it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cluewise._typing import Ints
from cluewise.clues import _feasibility
from cluewise.clues._conflicts import in_words
from cluewise.clues._inventory import inventory, plural
from cluewise.exceptions import ClueError, Contradiction, Infeasible

if TYPE_CHECKING:
    from cluewise.clues._clues import Clues

__all__ = ["explain", "feasible", "infeasible", "representatives", "require"]


def representatives(clues: Clues, nodes: Ints) -> Ints:
    """One row of each component: the smallest."""
    first = np.full(clues.n_components, clues.n, dtype=np.int64)
    np.minimum.at(first, clues.components, np.arange(clues.n))
    return first[nodes]


def require(clues: Clues, k: int) -> None:
    """Raise, with a witness, when the clues contradict themselves or ask for more than ``k`` clusters."""
    if clues.contradictions:
        first, *others = clues.contradictions
        more = f" ({len(others)} more like this)" if others else ""
        raise Contradiction(f"{first}{more}.", clues.contradictions)
    found = _decide(clues, k)
    if found is not None and found.status == "infeasible":
        raise infeasible(clues, k, found.nodes, found.edges, found.reason)


def infeasible(clues: Clues, k: int, nodes: Ints | None, edges: Ints | None, reason: str) -> Infeasible:
    """The exception for components ``nodes`` that cannot be spread over ``k`` clusters, in terms of rows."""
    if nodes is None or not len(nodes):
        return Infeasible(f"{reason}.")
    rows = np.sort(representatives(clues, nodes))
    witness = _conflicting(clues, nodes, edges)
    if reason == "clique":
        text = f"rows {in_words(rows)} must all be apart, which needs {len(rows)} clusters, but there are only {k}."
    else:
        text = (
            f"rows {in_words(rows)} cannot be spread over {k} clusters: "
            f"the clues keep too many of them apart ({inventory(witness).split(': ')[1]})."
        )
    return Infeasible(text, witness)


def _conflicting(clues: Clues, nodes: Ints, edges: Ints | None) -> Clues:
    """The cannot-links, groups and labels that speak of two or more of these components."""
    inside = np.isin(clues.components, nodes)
    ends = clues.components[clues.cannot]
    cannot = inside[clues.cannot[:, 0]] & inside[clues.cannot[:, 1]] & (ends[:, 0] != ends[:, 1])
    if edges is not None:
        wanted = {(min(a, b), max(a, b)) for a, b in np.asarray(edges).tolist()}
        cannot &= np.array([(min(a, b), max(a, b)) in wanted for a, b in ends.tolist()], dtype=bool)
    apart = []
    for group in clues.apart:
        rows = np.flatnonzero((group.codes >= 0) & inside)
        apart.append(np.bincount(group.codes[rows], minlength=len(group.weights)) > 1)
    # Must-links, together groups and labels hold the components together, so they belong to the proof.
    return clues.subset(
        must=inside[clues.must[:, 0]] & inside[clues.must[:, 1]],
        cannot=cannot,
        labels=(clues.labels >= 0) & inside,
        together=[np.bincount(g.codes[(g.codes >= 0) & inside], minlength=len(g.weights)) > 0 for g in clues.together],
        apart=apart,
    )


def _decide(clues: Clues, k: int) -> _feasibility.Decision | None:
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ClueError(f"k is the number of clusters, a whole number above 0; it is {k!r}.")
    if clues.sizes is not None and clues.size_unit == "points":
        component_sizes = np.bincount(clues.components)
        why = _feasibility.sizes_feasible(clues.sizes, k, clues.n, component_sizes)
        if why is not None:
            return _feasibility.Decision("infeasible", None, None, None, why)
    if len(clues.graph.indices) == 0 and len(clues.cliques.members) == 0:
        return None
    return _feasibility.decide(clues.graph, clues.cliques, k)


def feasible(clues: Clues, k: int) -> bool | None:
    """True, False, or None when a short search cannot tell."""
    if clues.contradictions:
        return False
    found = _decide(clues, k)
    if found is not None and found.status != "feasible":
        return False if found.status == "infeasible" else None
    if clues.sizes is None:
        return True
    if clues.size_unit == "weight":  # the weights are not known here
        return None
    if found is None or found.colors is None:
        return True
    return True if _sizes_hold(clues, k, found.colors) else None


def _sizes_hold(clues: Clues, k: int, clusters: Ints) -> bool:
    """Whether this clustering of the components keeps the size bounds, free single rows moved as needed.

    Sizes and links are decided one at a time; only a clustering that satisfies both proves that they agree.
    """
    size = np.bincount(clues.components)
    linked = np.diff(clues.graph.indptr) > 0
    linked[clues.cliques.members] = True
    movable = ~linked & (size == 1)
    load = np.bincount(clusters[~movable], weights=size[~movable], minlength=k)
    lower, upper = np.broadcast_to(clues.sizes, (k, 2)).T  # type: ignore[arg-type]
    missing = np.maximum(lower - load, 0).sum()
    return bool((load <= upper).all() and missing <= movable.sum() <= (upper - load).sum())


def explain(clues: Clues, k: int | None) -> str:
    """A few lines that a person can act on."""
    lines = [inventory(clues) + "."]
    if clues._must.truisms:
        lines.append(f"Left out: {plural(clues._must.truisms, 'must-link')} of a row to itself.")
    if clues.n and clues.kinds:
        tied, free = len(clues.tied), clues.n - len(clues.tied)
        rest = "none is free" if free == 0 else f"{free} {'is' if free == 1 else 'are'} free"
        lines.append(f"{tied} of {clues.n} rows are tied by a clue ({tied / clues.n:.0%}), {rest}.".replace("%", " %"))
    if clues.n_components < clues.n:
        largest = int(np.bincount(clues.components).max())
        names = {"must": "must-links", "together": "together groups", "labels": "labels"}
        kinds = [names[kind] for kind in ("must", "together", "labels") if kind in clues.kinds]
        lines.append(
            f"{' and '.join(kinds).capitalize()} join the rows into {plural(clues.n_components, 'component')}, "
            f"the largest of {largest} rows."
        )
    if clues.contradictions:
        lines.append(f"{plural(len(clues.contradictions), 'contradiction')}:")
        lines += [f"  {conflict}." for conflict in clues.contradictions[:5]]
        if len(clues.contradictions) > 5:
            lines.append(f"  … and {len(clues.contradictions) - 5} more.")
        return "\n".join(lines)
    lines.append("No contradictions.")
    if k is not None:
        lines.append(_verdict(clues, k))
    return "\n".join(lines)


def _verdict(clues: Clues, k: int) -> str:
    try:
        require(clues, k)
    except Infeasible as error:
        return f"Not satisfiable with {plural(k, 'cluster')}: {error}"
    if feasible(clues, k) is None:
        return f"Whether {plural(k, 'cluster')} can satisfy the clues was not decided by a short search."
    return f"The clues can be satisfied with {plural(k, 'cluster')}."
