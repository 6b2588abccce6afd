"""What is there, counted in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cluewise.clues._record import Record

__all__ = ["inventory", "plural"]


def inventory(clues: Record) -> str:
    """Numbers of clues by kind, in words."""
    parts = []
    labelled = int((clues.labels >= 0).sum())
    if labelled:
        classes = len(np.unique(clues.labels[clues.labels >= 0]))
        parts.append(f"{plural(labelled, 'label')} in {plural(classes, 'class', 'classes')}")
    for kind, links in (("must", clues.must), ("cannot", clues.cannot)):
        if len(links):
            parts.append(plural(len(links), f"{kind}-link"))
    for kind, columns in (("together", clues.together), ("apart", clues.apart)):
        if columns:
            parts.append(plural(sum(len(g.weights) for g in columns), f"{kind} group"))
    if clues.partitions:
        parts.append(plural(len(clues.partitions), "partial partition"))
    if clues.sizes is not None:
        parts.append("size bounds")
    if clues.avoid:
        parts.append(plural(len(clues.avoid), "clustering") + " to avoid")
    weights = np.concatenate(
        [clues.must_weight, clues.cannot_weight, *(g.weights for g in (*clues.together, *clues.apart))]
    )
    if len(np.unique(weights)) > 1:
        parts.append(f"weights {weights.min():g} to {weights.max():g}")
    return f"{plural(clues.n, 'row')}: {', '.join(parts) or 'no clues'}"


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
