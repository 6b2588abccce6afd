"""What makes the clusters of a fit, for the summary and the report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._typing import Ints
from cluewise.cli._show import say

if TYPE_CHECKING:
    from cluewise.cli._files import Data
    from cluewise.explain import Description

__all__ = ["describe_clusters", "one_line", "tell"]

_TOLD = 10  # clusters that the text describes, the largest ones
_DIFFERENCES = 3  # of each
_LONGEST = 240  # letters of a line


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


def tell(found: Description, names: dict[str, str]) -> None:
    """Print a line or two about each cluster; ``names`` are by id."""
    largest = sorted(found, key=lambda profile: -profile.size)[:_TOLD]
    for profile in sorted(largest, key=lambda profile: profile.cluster):
        name = names.get(str(profile.cluster), "")
        said = "; ".join(map(str, profile.differences[:_DIFFERENCES])) or "like the rest"
        say(one_line(f"Cluster {profile.cluster} {name} ({profile.name}): {said}"))
        if profile.rule is not None:
            say(one_line(f"  rule: {profile.rule}"))
    if len(found) > _TOLD:
        say(f"… and {len(found) - _TOLD} smaller clusters (--report FILE describes all).")


def one_line(words: str) -> str:
    """Words from a table without line breaks and characters that steer a terminal, and not too long."""
    margin = words[: len(words) - len(words.lstrip(" "))]
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(words.split()))
    return margin + (line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")
