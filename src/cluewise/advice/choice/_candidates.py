"""Candidates of a search: estimators, their parameters, numbers of clusters, each with clues and without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from cluewise._typing import Ints
from cluewise.advice.choice._trials import Trial
from cluewise.clues import Clues

__all__ = ["candidates", "least_clusters", "likely_counts", "named", "wished"]


def named(estimators: Any) -> dict[str, Any]:
    """Estimators by name: one, a list (named after their classes) or a mapping."""
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
                f"estimators holds a Pipeline as {name!r}, which does not hand on clues; make the search the last step "
                "of a Pipeline instead."
            )
        if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
            raise TypeError(f"estimators holds {estimator!r} as {name!r}, which is not an instance of an estimator.")
    return found


def _grids(estimators: Mapping[str, Any], single: bool, param_grid: Any) -> dict[str, list[dict[str, Any]]]:
    """Parameters to try for each estimator."""
    if param_grid is None:
        return {name: [{}] for name in estimators}
    from sklearn.model_selection import ParameterGrid  # slow to import

    if not len(param_grid):
        raise ValueError(f"param_grid is {param_grid!r}, so that there is nothing to try; leave it out.")
    if single:
        return {name: list(ParameterGrid(param_grid)) for name in estimators}
    if not isinstance(param_grid, Mapping) or not set(param_grid) <= set(estimators):
        raise ValueError(
            f"param_grid for several estimators maps their names ({', '.join(estimators)}) to grids, "
            f"but it is {param_grid!r}."
        )
    return {name: list(ParameterGrid(param_grid[name])) if name in param_grid else [{}] for name in estimators}


def candidates(
    estimators: Any, param_grid: Any, counts: Sequence[int] | None, *, told: bool, without: bool, demands: str = ""
) -> Iterator[Trial]:
    """Trials that have not run yet; ``counts`` are numbers of clusters to try, None = those of the estimators.

    ``told``: there are clues to be told; ``without``: whether candidates also run without them; ``demands``: which of
    them those are told all the same, in words. All estimators come with the first number of clusters before any comes
    with the second, so that a search cut short has seen each.
    """
    everyone = named(estimators)
    single = not isinstance(estimators, (Mapping, list, tuple))
    grids = _grids(everyone, single, param_grid)
    for place, count in enumerate([None] if counts is None else counts):
        for name, estimator in everyone.items():
            where = counter(estimator)
            takes = has_fit_parameter(estimator, "clues")
            for parameters in grids[name]:
                free = {} if count is None or where is None or where in parameters else {where: count}
                if place > 0 and not free:
                    continue  # the same as with the first number
                chosen = parameters | free
                made = clone(estimator).set_params(**{key: clone(v, safe=False) for key, v in chosen.items()})
                k = made.get_params()[where] if where is not None else None
                for clues in (True, False):
                    # Where nothing can be told, "with clues" and "without" would be the same candidate twice.
                    if (clues and told and takes) or (not clues and (without or not takes or not told)):
                        heard = demands if takes and not clues else ""
                        yield Trial(name, chosen, k, clues, demands=heard, estimator=made)


def wished(demands: Clues) -> str:
    """Demands in words; empty where there are none."""
    names = {"sizes": "bounds on sizes", "avoid": "what to avoid"}
    found = [words for kind, words in names.items() if kind in demands.kinds]
    found += ["hard links and groups"] if demands.kinds - set(names) else []
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def counter(estimator: Any) -> str | None:
    """Name of the parameter that says how many clusters: its own, or that of a step inside."""
    names = estimator.get_params()
    nested = [name for name in names if name.endswith("__n_clusters")]
    return "n_clusters" if "n_clusters" in names else nested[0] if len(nested) == 1 else None


def least_clusters(clues: Clues) -> int:
    """A number of clusters that the clues need: classes seen, or rows that are known to be all apart; at least 2."""
    classes = len(np.unique(clues.labels[clues.labels >= 0]))
    # A row per component; groups that keep apart hold at most one row of each.
    crowd = [_most_apart(group.codes, clues.components) for group in clues.apart]
    return max(2, classes, _clique(clues), *crowd)


def _most_apart(codes: Ints, component: Ints) -> int:
    """The largest number of components in one group."""
    rows = np.flatnonzero(codes >= 0)
    pairs = np.unique(np.column_stack([codes[rows], component[rows]]), axis=0)
    return int(np.bincount(pairs[:, 0], minlength=1).max())


def _clique(clues: Clues) -> int:
    """Size of a clique of cannot-links between components, grown greedily from the best linked one."""
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


def likely_counts(n_clusters: Any, clues: Clues) -> list[int] | None:
    """Numbers of clusters to try: those that were asked for, or from what the clues need to about twice that."""
    if n_clusters is None:
        return None
    if isinstance(n_clusters, str):  # "auto"
        least = min(least_clusters(clues), clues.n)
        return list(range(least, min(max(2 * least, least + 8), max(least, clues.n // 2)) + 1))
    asked: Iterable[Any] = [n_clusters] if isinstance(n_clusters, (int, np.integer)) else n_clusters
    found = sorted(set(asked))
    if not found or found[0] < 1 or any(k != int(k) for k in found):
        raise ValueError(f"n_clusters={n_clusters!r} needs at least one number, and whole numbers of at least 1.")
    return [int(k) for k in found]
