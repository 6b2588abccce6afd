"""Objectives, evaluated from labels and centers alone: separate from the code that lowers them."""

from __future__ import annotations

from cluewise._typing import Floats, Ints
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks

__all__ = ["distortion"]


def distortion(rows: Rows, centers: Floats, labels: Ints) -> float:
    """Σ w‖x − center of its cluster‖², in difference form and double precision."""

    def work(block: slice) -> float:
        squared = rows.to_own(rows.take(block), centers, labels[block])
        return float(squared.sum() if rows.weight is None else squared @ rows.weights(block))

    return sum(map_blocks(work, rows.blocks(len(centers))))
