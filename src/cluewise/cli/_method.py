"""Which method, how many clusters, and the columns as the method takes them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise.cli._cards import DEFAULT
from cluewise.clues import Clues

if TYPE_CHECKING:
    from cluewise.rows import Rows
    from cluewise.workspace.data import Data
    from cluewise.workspace.parts import InParts

__all__ = ["build", "check_seconds", "count_clusters", "prepare"]


def build(
    clues: Clues,
    name: str | None,
    clusters: int | None,
    seed: int,
    penalty: str | None,
    time_limit: float | None = None,
) -> Any:
    """The named estimator, or else the default, with its parameters."""
    from cluewise import catalogue

    method: type[Any] = catalogue.get(_choose(clues) if name is None else name)
    known = method().get_params()
    parameters: dict[str, Any] = {}
    if "n_clusters" in known:
        finds = method.__name__ == DEFAULT and clusters is None
        parameters["n_clusters"] = None if finds else count_clusters(clues, clusters)
    elif clusters is not None:
        raise ValueError(f"{method.__name__} finds the number of clusters itself; leave -k out.")
    if "random_state" in known:
        parameters["random_state"] = seed
    if penalty is not None:
        if "penalty" not in known:
            raise ValueError(f"{method.__name__} has no penalty; leave --penalty out, or use --method PCKMeans.")
        parameters["penalty"] = _price(penalty)
    if time_limit is not None:
        if "time_limit" not in known:
            raise ValueError(f"{method.__name__} has no time limit; leave --time-limit out.")
        parameters["time_limit"] = check_seconds(time_limit)
    return method(**parameters)


def _choose(clues: Clues) -> str:
    """The default method, or one that avoids known clusterings, if that is all there is to do."""
    return "CondEns" if clues.kinds == {"avoid"} else DEFAULT


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


def check_seconds(given: float) -> float:
    """Refuse a time limit that is none."""
    if not 0 < given < math.inf:
        raise ValueError(f"--time-limit is {given:g}; it must be a number of seconds above 0.")
    return given


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


def prepare(data: Data | InParts, model: Any, raw: bool) -> tuple[Any, Rows]:
    """The rows as the method takes them, and what each column became: numbers as they are where it takes counts."""
    from sklearn.utils import get_tags

    return data.encode(raw=raw or get_tags(model).input_tags.positive_only)
