"""Can clusters of the requested sizes hold the rows and the groups of rows that stay together?"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Floats, Ints

__all__ = ["sizes_feasible"]

STATES, GROUPS = 5_000, 64  # how far packing is tried in full


def sizes_feasible(sizes: Array, k: int, n: float, component_sizes: Array) -> str | None:
    """Why no clustering has these sizes (one sentence without full stop), or None when nothing rules it out.

    ``sizes`` is (lower, upper) for all clusters or one such row for each of the ``k`` clusters;
    ``component_sizes``, with sum ``n``, are whole numbers of points, or weights. Exact when all components are
    single points or few are not; otherwise (packing is NP-hard) None proves nothing.

    Examples
    --------
    >>> sizes_feasible([3, 4], 3, 8, [2, 1, 1, 1, 1, 1, 1])
    'the lower bounds on sizes add up to 9, but there are only 8 to share'
    >>> sizes_feasible([0, 4], 2, 8, [3, 3, 2]) is None
    False
    >>> sizes_feasible([0, 4], 3, 8, [3, 3, 2]) is None
    True
    """
    bounds = np.asarray(sizes, dtype=float)
    if bounds.ndim == 2 and len(bounds) != k:
        return f"sizes are given for {len(bounds)} clusters, but there are {k}"
    lower, upper = np.broadcast_to(bounds, (k, 2)).T
    parts = np.asarray(component_sizes)
    slack = 1e-9 * max(1.0, float(n))
    why = _sums(lower, upper, n, slack) or _groups(lower, upper, parts, slack)
    if why is None and np.issubdtype(parts.dtype, np.integer):
        why = _divisor(lower, upper, parts) or _packing(lower, upper, parts)
    return why


def _sums(lower: Floats, upper: Floats, n: float, slack: float) -> str | None:
    wrong = np.flatnonzero(lower > upper)
    if len(wrong):
        j = wrong[0]
        return f"cluster {j} has a lower bound on its size ({lower[j]:g}) above the upper bound ({upper[j]:g})"
    if lower.sum() > n + slack:
        return f"the lower bounds on sizes add up to {lower.sum():g}, but there are only {n:g} to share"
    if upper.sum() < n - slack:
        return f"the upper bounds on sizes add up to {upper.sum():g}, but there are {n:g} to place"
    return None


def _groups(lower: Floats, upper: Floats, parts: Array, slack: float) -> str | None:
    """Components against bounds, by counting."""
    if parts.max(initial=0) > upper.max(initial=0) + slack:
        return (
            f"a component of {parts.max():g} that must stay together is larger than "
            f"every upper bound on sizes ({upper.max(initial=0):g})"
        )
    needed = int((lower > slack).sum())
    if needed > len(parts):
        return f"{needed} clusters must not be empty, but there are only {len(parts)} components to place"
    value, count = np.unique(parts[parts > slack], return_counts=True)
    for size, larger in zip(value, count[::-1].cumsum()[::-1]):
        # The floor of ∞ stays ∞; a cluster holds at most upper/size components of that size or more.
        room = np.floor((upper + slack) / size).sum()
        if larger > room:
            return (
                f"{larger} components of {size:g} or more must stay together, "
                f"but the upper bounds on sizes leave room for {room:g} of them"
            )
    return None


def _packing(lower: Floats, upper: Floats, parts: Array) -> str | None:
    """Every way to place the components of several points, where these are few; single points fill up the rest."""
    large = np.sort(parts[parts > 1])[::-1]
    single = int((parts == 1).sum())
    if len(large) > GROUPS:
        return None
    same = bool((lower == lower[0]).all() and (upper == upper[0]).all())
    loads: set[tuple[int, ...]] = {(0,) * len(lower)}
    for size in large.tolist():
        loads = {
            tuple(sorted(new) if same else new)
            for load in loads
            for j in range(len(load))
            if load[j] + size <= upper[j]
            for new in [(*load[:j], load[j] + size, *load[j + 1 :])]
        }
        if len(loads) > STATES:
            return None
    if any(_fills(np.array(load), lower, upper, single) for load in loads):
        return None
    return "the components that must stay together cannot be packed into clusters within the bounds on sizes"


def _fills(load: Ints, lower: Floats, upper: Floats, single: int) -> bool:
    return bool(np.maximum(lower - load, 0).sum() <= single <= (upper - load).sum())


def _divisor(lower: Floats, upper: Floats, parts: Ints) -> str | None:
    """Sizes of clusters are multiples of what divides all components."""
    d = int(np.gcd.reduce(parts))
    if d and ((np.floor(upper / d) * d).sum() < parts.sum() or (np.ceil(lower / d) * d).sum() > parts.sum()):
        return f"all components have a multiple of {d} points, and no such sizes add up within the bounds"
    return None
