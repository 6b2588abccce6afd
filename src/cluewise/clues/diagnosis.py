"""Clues in words: what is there, whether it contradicts itself, whether k clusters can satisfy it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cluewise._typing import Ints
from cluewise.clues.words import in_words, inventory, plural
from cluewise.exact.feasibility import decide
from cluewise.exact.network import busy
from cluewise.exact.sizes import sizes_feasible
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
    """Raise, with a witness, when the clues contradict themselves or need more than ``k`` clusters."""
    if clues.contradictions:
        first, *others = clues.contradictions
        more = f" ({len(others)} more like this)" if others else ""
        raise Contradiction(f"{first}{more}.", clues.contradictions)
    _check_sizes(clues, k)
    names, net = busy(clues.graph, clues.cliques)  # the components that exclude others
    found = decide(net, k)
    if found.status == "infeasible":
        raise infeasible(clues, k, names[found.nodes], names[found.edges])


def infeasible(clues: Clues, k: int, nodes: Ints, edges: Ints) -> Infeasible:
    """The exception for components ``nodes`` that cannot be spread over ``k`` clusters, in terms of rows."""
    rows = np.sort(representatives(clues, nodes))
    witness = _conflicting(clues, nodes, edges)
    if len(nodes) == k + 1:  # so few can only be too many when they are a clique
        text = f"rows {in_words(rows)} must all be apart, which needs {len(rows)} clusters, but there are only {k}."
    else:
        text = (
            f"rows {in_words(rows)} cannot be spread over {k} clusters: "
            f"the clues keep too many of them apart ({inventory(witness).split(': ')[1]})."
        )
    return Infeasible(text, witness)


def _conflicting(clues: Clues, nodes: Ints, edges: Ints) -> Clues:
    """The cannot-links, groups and labels that involve two or more of these components."""
    inside = np.isin(clues.components, nodes)
    ends = np.sort(clues.components[clues.cannot], axis=1)
    wanted = set(map(tuple, np.sort(edges, axis=1).tolist()))
    cannot = np.array([pair in wanted for pair in map(tuple, ends.tolist())], dtype=bool)
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


def _check_sizes(clues: Clues, k: int) -> None:
    """Raise when the bounds on sizes alone, whatever the links say, leave no clustering."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ClueError(f"k is the number of clusters, a whole number above 0; it is {k!r}.")
    if clues.sizes is not None and clues.size_unit == "points":
        why = sizes_feasible(clues.sizes, k, clues.n, np.bincount(clues.components))
        if why is not None:
            raise Infeasible(f"{why}.")


def feasible(clues: Clues, k: int) -> bool | None:
    """True, False, or None when a short search cannot tell."""
    if clues.contradictions:
        return False
    try:
        _check_sizes(clues, k)
    except Infeasible:
        return False
    names, net = busy(clues.graph, clues.cliques)  # the components that exclude others
    found = decide(net, k)
    if found.colors is None:
        return False if found.status == "infeasible" else None
    if clues.sizes is None:
        return True
    if clues.size_unit == "weight":  # the weights are not known here
        return None
    return True if not len(names) or _sizes_hold(clues, k, names, found.colors) else None


def _sizes_hold(clues: Clues, k: int, names: Ints, colors: Ints) -> bool:
    """Whether this clustering of some components keeps the size bounds, free single rows moved as needed.

    Sizes and links are decided one at a time; only a clustering that satisfies both proves that they agree.
    """
    size = np.bincount(clues.components)
    movable = size == 1
    movable[names] = False
    clusters = np.zeros(len(size), dtype=np.int32)  # larger components without links could be anywhere
    clusters[names] = colors
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
        return f"A short search could not decide whether {plural(k, 'cluster')} can satisfy the clues."
    return f"The clues can be satisfied with {plural(k, 'cluster')}."
