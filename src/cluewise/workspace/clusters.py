"""What makes the clusters of a fit, under their permanent ids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._typing import Ints
from cluewise.workspace.data import Data

if TYPE_CHECKING:
    from cluewise.explain import Description

__all__ = ["describe_clusters"]


def describe_clusters(model: Any, data: Data, ids: Ints, without: Any = None) -> Description | None:
    """What makes the clusters, by the columns that were clustered; None if all rows are noise.

    Clusters have their ``ids`` instead of their numbers in ``labels_``.
    """
    if (np.asarray(model.labels_) < 0).all():
        return None
    from cluewise.explain import describe

    names = None if data.ids is None else [str(name) for name in data.ids]
    found = describe(model, data.table, columns=data.columns, names=names, clues=data.clues, without=without)
    return _renumber(found, ids)


def _renumber(found: Description, ids: Ints) -> Description:
    profiles = tuple(
        replace(profile, cluster=int(ids[profile.cluster]), neighbors=tuple(ids[list(profile.neighbors)].tolist()))
        for profile in found
    )
    changes = found.changes
    if changes is not None:
        # Without clues there may be more clusters; those that match none have ids that no cluster has.
        more = max(0, int(changes.before.max(initial=-1)) + 1 - len(ids))
        every = np.concatenate([ids, ids.max(initial=-1) + 1 + np.arange(more), [-1]])
        changes = replace(changes, before=every[changes.before], after=every[changes.after])
    return replace(found, profiles=profiles, changes=changes)
