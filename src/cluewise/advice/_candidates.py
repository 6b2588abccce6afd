"""Candidates of a search: estimators with parameters and numbers of clusters, each with clues and without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from cluewise._typing import Ints
from cluewise.advice._trials import Trial
from cluewise.clues import Clues

__all__ = [
    "choose_counts",
    "count_needed_clusters",
    "describe_demands",
    "find_count_parameter",
    "list_candidates",
    "name_estimators",
]


def name_estimators(estimators: Any) -> dict[str, Any]:
    """Estimators by name, from one, a list (named after their classes) or a mapping."""
    if isinstance(estimators, Mapping):
        found = {str(name): estimator for name, estimator in estimators.items()}
    else:
        listed = list(estimators) if isinstance(estimators, (list, tuple)) else [estimators]
        found = {}
        for estimator in listed:
            name = base = type(estimator).__name__
            number = 2
            while name in found:
                name, number = f"{base}-{number}", number + 1
            found[name] = estimator
    if not found:
        raise ValueError("estimators is empty; there is nothing to choose from.")
    for name, estimator in found.items():
        if hasattr(estimator, "steps"):  # a Pipeline, which is slow to import
            raise TypeError(
                f"estimators holds a Pipeline as {name!r}, which does not pass on clues; make the search the last step "
                "of a Pipeline instead."
            )
        if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
            raise TypeError(f"estimators holds {estimator!r} as {name!r}, which is not an instance of an estimator.")
    return found


def _list_grids(estimators: Mapping[str, Any], single: bool, param_grid: Any) -> dict[str, list[dict[str, Any]]]:
    """List the parameters to try for each estimator."""
    if param_grid is None:
        return {name: [{}] for name in estimators}
    from sklearn.model_selection import ParameterGrid  # slow to import

    if not len(param_grid):
        raise ValueError(f"param_grid is {param_grid!r}, so there is nothing to try; leave it out.")
    if single:
        return {name: list(ParameterGrid(param_grid)) for name in estimators}
    if not isinstance(param_grid, Mapping) or not set(param_grid) <= set(estimators):
        raise ValueError(
            f"param_grid for several estimators must map their names ({', '.join(estimators)}) to grids, "
            f"but it is {param_grid!r}."
        )
    return {name: list(ParameterGrid(param_grid[name])) if name in param_grid else [{}] for name in estimators}


def list_candidates(
    estimators: Any,
    param_grid: Any,
    counts: Sequence[int] | None,
    *,
    auto: bool = False,
    has_clues: bool,
    without: bool,
    demands: str = "",
) -> Iterator[Trial]:
    """List trials that have not run yet; ``counts`` are numbers of clusters to try, None = those of the estimators.

    ``auto``: estimators whose number is None find it themselves; ``has_clues``: there are clues; ``without``:
    candidates also run without them; ``demands``: the clues that even those must satisfy, in words.
    """
    names = name_estimators(estimators)
    single = not isinstance(estimators, (Mapping, list, tuple))
    grids = _list_grids(names, single, param_grid)
    # All estimators come with the first number of clusters before any with the second, so that a search that is
    # stopped early has tried each of them.
    for place, count in enumerate([None] if counts is None else counts):
        for name, estimator in names.items():
            where = find_count_parameter(estimator)
            takes = has_fit_parameter(estimator, "clues")
            finds = auto and where is not None and estimator.get_params()[where] is None
            for parameters in grids[name]:
                free = {} if count is None or where is None or finds or where in parameters else {where: count}
                if place > 0 and not free:
                    continue  # the same as with the first number
                chosen = parameters | free
                made = clone(estimator).set_params(**{key: clone(v, safe=False) for key, v in chosen.items()})
                k = made.get_params()[where] if where is not None else None
                for clues in (True, False):
                    # If there are no clues to use, "with clues" and "without" would be the same candidate twice.
                    uses_any = takes and has_clues
                    if uses_any if clues else without or not uses_any:
                        must = demands if takes and not clues else ""
                        yield Trial(name, chosen, k, clues, demands=must, estimator=made)


def describe_demands(demands: Clues) -> str:
    """Describe demands in words; empty if there are none."""
    names = {"sizes": "bounds on sizes", "avoid": "what to avoid"}
    found = [words for kind, words in names.items() if kind in demands.kinds]
    found += ["hard links and groups"] if demands.kinds - set(names) else []
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def find_count_parameter(estimator: Any) -> str | None:
    """Find the parameter for the number of clusters: of the estimator, or of a step inside."""
    names = estimator.get_params()
    nested = [name for name in names if name.endswith("__n_clusters")]
    return "n_clusters" if "n_clusters" in names else nested[0] if len(nested) == 1 else None


def count_needed_clusters(clues: Clues) -> int:
    """A lower bound of the number of clusters: classes with labels, or rows known to be all apart; at least 2."""
    classes = len(np.unique(clues.labels[clues.labels >= 0]))
    apart = [_count_components(group.codes, clues.components) for group in clues.apart]
    return max(2, classes, _grow_clique(clues), *apart)


def _count_components(codes: Ints, component: Ints) -> int:
    """The largest number of components in one group."""
    rows = np.flatnonzero(codes >= 0)
    pairs = np.unique(np.column_stack([codes[rows], component[rows]]), axis=0)
    return int(np.bincount(pairs[:, 0], minlength=1).max())


def _grow_clique(clues: Clues) -> int:
    """Size of a clique of cannot-links between components, grown greedily from the one with the most links."""
    graph = clues.graph
    degree = np.diff(graph.indptr)
    common: set[int] | None = None
    size = 0
    for node in np.argsort(-degree, kind="stable").tolist():
        if degree[node] < size:
            break
        if common is None or node in common:
            near = set(graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist()) - {node}
            common = near if common is None else common & near
            size += 1
    return size if common is not None else 0


def choose_counts(n_clusters: Any, clues: Clues) -> list[int] | None:
    """Numbers of clusters to try: those requested, or from the number that the clues need to about twice that."""
    if n_clusters is None:
        return None
    if isinstance(n_clusters, str):  # "auto"
        least = min(count_needed_clusters(clues), clues.n)
        return list(range(least, min(max(2 * least, least + 8), max(least, clues.n // 2)) + 1))
    requested: Iterable[Any] = [n_clusters] if isinstance(n_clusters, (int, np.integer)) else n_clusters
    counts = sorted(set(requested))
    if not counts or counts[0] < 1 or any(k != int(k) for k in counts):
        raise ValueError(f"n_clusters is {n_clusters!r}; it must hold one or more integers of at least 1.")
    return [int(k) for k in counts]
