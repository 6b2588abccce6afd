"""Comparing and merging two sets of clues, kind by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._typing import Array, Floats
from cluewise.clues._groups import Groups, codes_of, in_order
from cluewise.clues.links import GIVEN
from cluewise.exceptions import ClueError

if TYPE_CHECKING:
    from cluewise.clues._record import Record

__all__ = ["merge_columns", "merge_groups", "merge_labels", "merge_sizes", "same_arrays", "same_sources"]


def same_arrays(a: tuple[Array, ...], b: tuple[Array, ...]) -> bool:
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b))


def same_sources(a: Record, b: Record) -> bool:
    known = a.labels >= 0
    return bool(np.array_equal(_label_sources(a)[known], _label_sources(b)[known]))


def _label_sources(clues: Record) -> Array:
    if clues.label_source is None:
        return np.full(clues.n, GIVEN, dtype=object)
    return clues.label_source


def merge_labels(a: Record, b: Record) -> dict[str, Any]:
    # Classes without a labeled row (left by slicing) keep their place.
    both = np.concatenate([a.classes_, b.classes_])
    place, classes = codes_of("labels", len(both), both)
    codes_a, codes_b = place[: len(a.classes_)], place[len(a.classes_) :]
    mine, yours = (np.append(c, np.int32(-1))[x.labels] for c, x in ((codes_a, a), (codes_b, b)))
    odd = np.flatnonzero((mine >= 0) & (yours >= 0) & (mine != yours))
    if len(odd):
        row = odd[0]
        raise ClueError(
            f"row {row} is labeled {classes[mine[row]]!r} in one set of clues and {classes[yours[row]]!r} in the other."
        )
    source = None
    if a.label_source is not None or b.label_source is not None:
        source = np.where(mine >= 0, _label_sources(a), _label_sources(b))
    return {"labels": np.where(mine >= 0, mine, yours), "classes_": classes, "label_source": source}


def merge_groups(a: tuple[Groups, ...], b: tuple[Groups, ...]) -> tuple[Groups, ...]:
    return in_order([*a, *(g for g in b if g not in a)])


def merge_columns(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
    return a + tuple(y for y in b if not any(np.array_equal(x, y) for x in a))


def merge_sizes(a: Record, b: Record) -> tuple[Floats | None, str]:
    if a.sizes is None or b.sizes is None:
        return (b.sizes, b.size_unit) if a.sizes is None else (a.sizes, a.size_unit)
    if a.size_unit != b.size_unit:
        raise ClueError("one set of clues bounds the number of points, the other their weight.")
    shapes = {s.shape for s in (a.sizes, b.sizes) if s.ndim == 2}
    if len(shapes) > 1:
        raise ClueError("the two sets of clues bound different numbers of clusters.")
    x, y = np.broadcast_arrays(a.sizes, b.sizes)
    merged = np.stack([np.maximum(x[..., 0], y[..., 0]), np.minimum(x[..., 1], y[..., 1])], axis=-1)
    if (merged[..., 0] > merged[..., 1]).any():
        raise ClueError("the two sets of clues bound the sizes so that no size is left.")
    return merged, a.size_unit
