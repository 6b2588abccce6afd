"""What makes the clusters of a fit, for the summary and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise.cli._show import say

if TYPE_CHECKING:
    from cluewise.cli._files import Data
    from cluewise.explain import Description

__all__ = ["describe_clusters", "one_line", "tell"]

_TOLD = 10  # clusters that the text describes, the largest ones
_DIFFERENCES = 3  # of each
_LONGEST = 240  # letters of a line


def describe_clusters(model: Any, data: Data, without: Any = None) -> Description | None:
    """What makes the clusters, by the columns that were clustered; None if all rows are noise."""
    if (np.asarray(model.labels_) < 0).all():
        return None
    from cluewise.explain import describe

    names = None if data.ids is None else [str(name) for name in data.ids]
    return describe(model, data.table, columns=data.columns, names=names, clues=data.clues, without=without)


def tell(found: Description) -> None:
    """Print a line or two about each cluster."""
    largest = sorted(found, key=lambda profile: -profile.size)[:_TOLD]
    for profile in sorted(largest, key=lambda profile: profile.cluster):
        said = "; ".join(map(str, profile.differences[:_DIFFERENCES])) or "like the rest"
        say(one_line(f"Cluster {profile.cluster} ({profile.name}): {said}"))
        if profile.rule is not None:
            say(one_line(f"  rule: {profile.rule}"))
    if len(found) > _TOLD:
        say(f"… and {len(found) - _TOLD} smaller clusters (--report FILE describes all).")


def one_line(words: str) -> str:
    """Words from a table without line breaks and characters that steer a terminal, and not too long."""
    margin = words[: len(words) - len(words.lstrip(" "))]
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(words.split()))
    return margin + (line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")
