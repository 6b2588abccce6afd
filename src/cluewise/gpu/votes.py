"""Labels of many partitions on a device: which clusters they share, and the weighted vote on each row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from cluewise._typing import Array, Floats, Ints
from cluewise.gpu import fused
from cluewise.gpu.arrays import as_numpy, join, one_thread
from cluewise.gpu.rows import BLOCK_BYTES, DeviceRows

__all__ = [
    "as_partitions",
    "count_pairs",
    "count_used",
    "find_winners",
    "label_columns",
    "list_changed",
    "pick",
    "translate",
    "vote",
]

KEPT = (torch.uint8, torch.int16, torch.int32, torch.int64)
"""Types of labels that are not copied."""


def as_partitions(given: Any) -> torch.Tensor:
    """Labels of several partitions, one per line, checked."""
    labels = given.detach() if isinstance(given, torch.Tensor) else torch.from_dlpack(given)
    if labels.ndim != 2 or not labels.numel():
        raise ValueError(f"expected partitions as an array of shape (m, n), but the shape is {tuple(labels.shape)}.")
    if labels.dtype.is_floating_point or labels.dtype.is_complex or labels.dtype == torch.bool:
        raise ValueError(f"expected labels of partitions as integers from 0, but they are {labels.dtype}.")
    labels = labels if labels.dtype in KEPT else labels.to(torch.int32)
    if labels.dtype != torch.uint8 and int(labels.min()) < 0:
        k, i = (int(at) for at in (labels < 0).nonzero()[0])
        raise ValueError(f"partition {k} has no label for row {i} ({int(labels[k, i])}); every row needs one in each.")
    return labels


def label_columns(x: torch.Tensor, columns: list[Ints], centers: list[Floats]) -> torch.Tensor:
    """Labels of the rows in partitions that look at some columns, by the nearest centers, which are transposed."""
    most = max(own.shape[1] for own in centers)
    kind = torch.uint8 if most <= 2**8 else torch.int32
    labels = torch.empty((len(centers), len(x)), dtype=kind, device=x.device)
    with one_thread(x):
        for line, used, own in zip(labels, columns, centers):
            rows, near = DeviceRows.near(x[:, _load(used.astype(np.int64), x)], own.T)
            line[:] = rows.find_nearest(near)
    return labels


def count_used(labels: torch.Tensor) -> Ints:
    """Number of labels of each partition, those without rows among them."""
    return as_numpy(labels.amax(dim=1)).astype(np.int64) + 1


def count_pairs(labels: torch.Tensor, reference: int, r: int, width: int) -> Iterator[Ints]:
    """Contingency table of the reference and each partition in turn."""
    first = labels[reference].long() * width
    for own in labels:
        yield as_numpy((first + own).bincount(minlength=r * width)).reshape(r, width)


def translate(labels: torch.Tensor, clusters: Array) -> torch.Tensor:
    """The cluster of each label of each partition."""
    own = torch.empty_like(labels)
    for k, line in enumerate(_load(clusters.astype(np.int64), labels)):
        own[k] = line[labels[k].long()].to(labels.dtype)
    return own


def pick(labels: torch.Tensor, rows: Ints) -> Array:
    """Labels of some rows in all partitions, in the memory of this process."""
    return as_numpy(labels[:, _load(np.asarray(rows, dtype=np.int64), labels)])


def vote(labels: torch.Tensor, clusters: Array, gamma: Floats, r: int, rows: Any = None) -> Iterator[torch.Tensor]:
    """The weight that votes for each cluster, in double precision, for blocks of all rows or of some."""
    active = np.flatnonzero(gamma > 0)
    tables = _load(clusters[active].astype(np.int64), labels)
    which = None if rows is None else _load(np.asarray(rows, dtype=np.int64), labels)
    n = labels.shape[1] if which is None else len(which)
    size = max(BLOCK_BYTES[labels.device.type] // (8 * (r + 4)), 64)
    for start in range(0, n, size):
        block = slice(start, min(start + size, n))
        votes = torch.zeros((block.stop - start, r), dtype=torch.float64, device=labels.device)
        for table, k in zip(tables, active.tolist()):
            own = labels[k, block] if which is None else labels[k, which[block]]
            # One vote for each row, so that nothing is added to the same place twice.
            votes.scatter_add_(1, table[own.long()][:, None], votes.new_full((len(own), 1), float(gamma[k])))
        yield votes


def find_winners(labels: torch.Tensor, clusters: Array, gamma: Floats, r: int) -> torch.Tensor:
    """The cluster with most votes of each row, the lowest on ties."""
    if fused.counts(labels, r):
        return fused.find_winners(labels, clusters, gamma, r)
    return join([votes.argmax(dim=1).int() for votes in vote(labels, clusters, gamma, r)])


def list_changed(new: torch.Tensor, old: torch.Tensor) -> Ints:
    """Rows whose labels differ."""
    return as_numpy((new != old).nonzero()[:, 0])


def _load(values: Array, like: torch.Tensor) -> torch.Tensor:
    return torch.tensor(values, device=like.device)
