"""Which method, how many clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cluewise.clues import Clues

__all__ = ["build", "choose", "count_clusters"]


def choose(clues: Clues, name: str | None) -> type[Any]:
    """The class that was named, or the one that suits the clues."""
    from cluewise import catalogue

    if name is not None:
        return catalogue.get(name)
    alone = {"labels": "ConstrainedKMeans", "partitions": "PartitionKMeans", "sizes": "SizedKMeans"}
    return catalogue.get(alone.get(next(iter(clues.kinds)), "PCKMeans") if len(clues.kinds) == 1 else "PCKMeans")


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


def build(method: type[Any], k: int, seed: int, penalty: str | None) -> Any:
    """The estimator with its parameters."""
    chosen: dict[str, Any] = {"n_clusters": k, "random_state": seed}
    if penalty is not None:
        if "penalty" not in method().get_params():
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
