"""What makes the clusters, as the page reads it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise.web._acts import is_spoken
from cluewise.web._fits import Fit
from cluewise.workspace.clusters import describe_clusters
from cluewise.workspace.data import Data

if TYPE_CHECKING:
    from cluewise.explain import Description

__all__ = ["cluster_json", "describe_fit", "profile_json"]


def describe_fit(fit: Fit, data: Data) -> Description | None:
    """Profiles of the clusters of a fit, under their ids."""
    ids = np.array(fit.ids)
    positions = np.where(fit.labels >= 0, np.searchsorted(ids, fit.labels), -1)
    shown = SimpleNamespace(labels_=positions, margin_=fit.margins)
    return describe_clusters(shown, data._replace(clues=fit.clues), ids)


def cluster_json(one: int, fit: Fit, names: dict[int, str], locked: set[int]) -> dict[str, Any]:
    """A cluster in the list."""
    return {
        "id": one,
        "size": fit.sizes[one],
        "name": names.get(one),
        "locked": one in locked,
        "confidence": fit.confidence[one],
    }


def profile_json(one: int, profiles: Description | None, fit: Fit, data: Data) -> dict[str, Any]:
    """What makes a cluster; empty until it is known. A class that labels name is its best name."""
    known = fit.classes.get(one)
    known = known if known is not None and is_spoken(known) else None
    found = next((profile for profile in profiles or () if profile.cluster == one), None)
    if found is None:
        return {
            "suggested": known or f"cluster {one}",
            "differences": [],
            "words": [],
            "rule": None,
            "typical": [],
            "borderline": [],
        }
    return {
        "suggested": known or found.name,
        "differences": [
            {"column": difference.column, "comparison": difference.comparison, "effect": difference.effect}
            for difference in found.differences
        ],
        "words": [{"column": column, "words": list(words)} for column, words in found.words.items() if words],
        "rule": None if found.rule is None else str(found.rule),
        "typical": [{"row": int(row), "name": data.name(int(row))} for row in found.typical],
        "borderline": [
            {"row": int(row), "name": data.name(int(row)), "near": int(near)}
            for row, near in zip(found.borderline, found.neighbors)
        ],
    }
