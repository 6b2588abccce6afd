"""Which method, how many clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cluewise.clues import Clues

__all__ = ["build", "count_clusters"]

_LINKS = frozenset({"must", "cannot", "together", "apart"})


def _suited(clues: Clues) -> tuple[str, dict[str, Any]]:
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


def count_clusters(clues: Clues, asked: int | None) -> int:
    """The number of clusters that was asked for, or one per class."""
    if asked is not None:
        if asked < 1:
            raise ValueError(f"-k is {asked}; there must be at least 1 cluster.")
        return asked
    classes = len(np.unique(clues.labels[clues.labels >= 0]))
    if classes == 0:
        raise ValueError("say how many clusters you want with -k; there are no labels to tell.")
    return classes


def build(clues: Clues, name: str | None, asked: int | None, seed: int, penalty: str | None) -> Any:
    """The estimator that was named, or the one that suits the clues, with its parameters."""
    from cluewise import catalogue

    name, chosen = _suited(clues) if name is None else (name, {})
    method: type[Any] = catalogue.get(name)
    has = method().get_params()
    if "n_clusters" in has:
        chosen["n_clusters"] = count_clusters(clues, asked)
    elif asked is not None:
        raise ValueError(f"{method.__name__} finds the number of clusters itself; leave -k out.")
    if "random_state" in has:
        chosen["random_state"] = seed
    if penalty is not None:
        if "penalty" not in has:
            raise ValueError(f"{method.__name__} has no penalty; leave --penalty out, or use --method PCKMeans.")
        chosen["penalty"] = _price(penalty)
    return method(**chosen)


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
