"""Which method, how many clusters, and the columns as the method takes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cluewise._typing import Floats
from cluewise.clues import Clues

__all__ = ["build", "count_clusters", "prepare", "standardize"]

_LINKS = frozenset({"must", "cannot", "together", "apart"})


def build(clues: Clues, name: str | None, clusters: int | None, seed: int, penalty: str | None) -> Any:
    """The named estimator, or else one that suits the clues, with its parameters."""
    from cluewise import catalogue

    name, parameters = _choose(clues) if name is None else (name, {})
    method: type[Any] = catalogue.get(name)
    known = method().get_params()
    if "n_clusters" in known:
        parameters["n_clusters"] = count_clusters(clues, clusters)
    elif clusters is not None:
        raise ValueError(f"{method.__name__} finds the number of clusters itself; leave -k out.")
    if "random_state" in known:
        parameters["random_state"] = seed
    if penalty is not None:
        if "penalty" not in known:
            raise ValueError(f"{method.__name__} has no penalty; leave --penalty out, or use --method PCKMeans.")
        parameters["penalty"] = _price(penalty)
    return method(**parameters)


def _choose(clues: Clues) -> tuple[str, dict[str, Any]]:
    """The method that suits the clues, and its parameters: links may be wrong, labels and sizes hold."""
    kinds = clues.kinds - {"avoid"}
    if not kinds and clues.avoid:
        return "CondEns", {}
    if kinds <= _LINKS:
        return "PCKMeans", {}
    if "partitions" in kinds and kinds <= {"labels", "partitions"}:
        return "PartitionKMeans", {}
    if len(kinds) == 1:
        return {"labels": "ConstrainedKMeans", "sizes": "SizedKMeans"}[next(iter(kinds))], {}
    return "PCCC", {"hard": "infinite"}


def count_clusters(clues: Clues, given: int | None) -> int:
    """The given number of clusters, or else one per class."""
    if given is not None:
        if given < 1:
            raise ValueError(f"-k is {given}; there must be at least 1 cluster.")
        return given
    classes = len(np.unique(clues.labels[clues.labels >= 0]))
    if classes == 0:
        raise ValueError("give the number of clusters with -k; there are no labels to take it from.")
    return classes


def _price(given: str) -> float | str:
    if given == "auto":
        return given
    try:
        price = float(given)
    except ValueError:
        price = math.nan
    if not 0 <= price < math.inf:
        raise ValueError(f"--penalty is '{given}'; it must be a number of at least 0, or auto.")
    return price


def prepare(X: Floats, model: Any, raw: bool) -> tuple[Floats, bool]:
    """The columns as the method takes them, and whether they are standardized: not where it takes counts."""
    from sklearn.utils import get_tags

    if raw or get_tags(model).input_tags.positive_only:
        return X, False
    return standardize(X), True


def standardize(X: Floats) -> Floats:
    """Every column with mean 0 and variance 1; constant columns become 0.

    The same numbers as scikit-learn's ``StandardScaler``, whose package takes longer to import than most fits.
    """
    n, eps = len(X), np.finfo(np.float64).eps
    mean = X.sum(axis=0) / n
    centered = X - mean
    # The second term corrects the variance for the rounding of the mean.
    variance = ((centered**2).sum(axis=0) - centered.sum(axis=0) ** 2 / n) / n
    # Within the rounding error of the variance, a column is constant.
    constant = variance <= n * eps * variance + (n * mean * eps) ** 2
    standardized: Floats = centered / np.sqrt(np.where(constant, 1.0, variance))
    return standardized
