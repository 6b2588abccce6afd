"""Base clusterers, which the user gives: their number of clusters and their seed."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

__all__ = ["clone_with", "size_name"]

SIZES = ("n_clusters", "n_components")
"""What clusterers call their number of clusters."""

_INNER = tuple(f"__{name}" for name in SIZES)


def size_name(estimator: Any) -> str | None:
    """The parameter for the number of clusters; None when the estimator finds that number.

    A clusterer inside another estimator is refused: it is not known which of the inner parameters counts.
    """
    own = estimator.get_params(deep=False)
    name = next((name for name in SIZES if name in own), None)
    if name is not None:
        return name
    # In a pipeline only the last step clusters.
    start = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    inner = [name for name in estimator.get_params() if name.startswith(start) and name.endswith(_INNER)]
    if inner:
        raise ValueError(
            f"{type(estimator).__name__} has neither n_clusters nor n_components of its own, only {inner[0]}; "
            "give the clusterer itself, and rows that are transformed already."
        )
    return None


def clone_with(estimator: Any, k: int, seed: int) -> Any:
    """A clone with k clusters and a seed, where it has such parameters."""
    model, name = clone(estimator), size_name(estimator)
    seeds = [own for own in model.get_params() if own == "random_state" or own.endswith("__random_state")]
    return model.set_params(**({} if name is None else {name: k}), **dict.fromkeys(sorted(seeds), seed))
