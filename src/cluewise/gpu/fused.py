"""Passes over rows of half precision on a card, and votes, by kernels in Triton that read memory once or twice.

Each has a plain counterpart in `gpu.rows` or `gpu.votes`, which serves all other tensors and returns the same. Triton
comes with torch for cards; without it, the counterparts serve these rows, too.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import torch

from cluewise._typing import Array, Floats, Ints

__all__ = ["Added", "add_up", "counts", "find_nearest", "find_winners", "knows", "scan", "serves", "step", "steps"]

KINDS: tuple[str, ...] = ("cuda",)
"""Kinds of devices that Triton compiles for."""

HALVES = (torch.bfloat16, torch.float16)

ROOM = 227 * 2**10
"""Shared memory of the cards that blocks were made for (H100, H200), in bytes; cards with less use plain torch."""

THIN = 16
"""Products need this many columns, and centers."""

WIDE, CLUSTERS = 1024, 16
"""Columns and clusters up to which a step of k-means reads rows once."""

PIECE = 1024
"""Rows of a cluster that one program adds up."""

SHARES = 4
"""Programs for each multiprocessor of a card that share the rows of a step."""

SCANS = 264
"""Programs that share the rows of a scan."""

PER, WORDS = 5, 4
"""Clusters whose votes share a word of 64 bits, and words for a row."""

EXACT = 2.0**-40
"""Relative rounding error of centers that were moved and moved back."""

TURNS = 20
"""Partitions whose labels are read together."""


def serves(x: torch.Tensor) -> bool:
    """Whether these kernels work on rows."""
    fits = len(x) > 0 and x.shape[1] >= THIN and x.stride(1) == 1
    return fits and x.dtype in HALVES and _compiles(x.device) and _room(x.device) >= ROOM


def _compiles(device: torch.device) -> bool:
    return device.type in KINDS and _has_triton()


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


def _room(device: torch.device) -> int:
    """Shared memory that a program may have, in bytes."""
    if device.type != "cuda":
        return ROOM
    return int(getattr(torch.cuda.get_device_properties(device), "shared_memory_per_block_optin", 0))


def find_nearest(x: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """Number of the nearest center of each row, the lowest on ties.

    Centers are in double precision, on the device or, where they are prepared sooner if they are few, on the processor.
    """
    from cluewise.gpu import _triton

    labels = torch.empty(len(x), dtype=torch.int32, device=x.device)
    few = len(centers) <= 64
    many = {"BM": 128, "BN": 256, "num_warps": 8}
    parts = _divide(x, centers)
    if few:
        shape = {"BM": 64, "BN": max(THIN, _power(len(centers))), "num_warps": 4}
    else:
        shape = many if len(parts) == 1 else many | {"BN": 128}
    half = _offsets(x, parts, shape["BN"])
    _triton.find_nearest[(_tiles(len(x), shape["BM"]),)](
        x,
        parts.to(x.device),
        half,
        labels,
        len(x),
        len(centers),
        x.stride(0),
        D=x.shape[1],
        PARTS=len(parts),
        TILES=len(half) // shape["BN"],
        BK=64,
        STAGES=3,
        **shape,
    )
    return labels


def knows(x: torch.Tensor, centers: torch.Tensor) -> bool:
    """Whether these kernels find the nearest of such centers, which the precision of the rows must be able to hold."""
    return serves(x) and (x.dtype == torch.bfloat16 or bool(centers.abs().max() <= torch.finfo(x.dtype).max))


def steps(x: torch.Tensor, centers: torch.Tensor) -> bool:
    """Whether `step` works for rows and centers."""
    return x.shape[1] <= WIDE and len(centers) <= CLUSTERS and knows(x, centers)


def step(x: torch.Tensor, centers: torch.Tensor, left_out: torch.Tensor | None) -> torch.Tensor:
    """(k, 1 + d) sizes and sums of the clusters, with each row at its nearest center; rows in a mask are left out."""
    from cluewise.gpu import _triton

    parts, programs = _divide(x, centers), SHARES * _processors(x)
    sums = torch.empty((programs, 1 + WIDE, CLUSTERS), dtype=torch.float32, device=x.device)
    _triton.step[(programs,)](
        x,
        parts.to(x.device),
        _offsets(x, parts, CLUSTERS),
        x if left_out is None else left_out,
        sums,
        len(x),
        len(centers),
        x.stride(0),
        D=x.shape[1],
        PARTS=len(parts),
        K=CLUSTERS,
        BM=128,
        BK=64,
        WIDE=WIDE // 4,
        STAGES=5,
        SOME=left_out is not None,
        num_warps=8,
    )
    return sums[:, : 1 + x.shape[1], : len(centers)].sum(dim=0, dtype=torch.float64).T


class Added(NamedTuple):
    """What rows add to their clusters, in double precision."""

    sums: torch.Tensor  # (k, d) relative to the points
    mass: torch.Tensor  # (k,)
    squares: torch.Tensor  # (k,) summed squared distances to the points


def add_up(x: torch.Tensor, labels: torch.Tensor, points: torch.Tensor, which: torch.Tensor | None = None) -> Added:
    """Sums of the rows of each cluster (or of ``which`` of them, by number) relative to its point.

    Labels beyond the points are left out.
    """
    from cluewise.gpu import _triton

    labels = labels if which is None else labels[which]
    n, d, k = len(labels), x.shape[1], len(points)
    # Short numbers are sorted in half the time.
    order = torch.argsort(labels.to(torch.int16) if k < 2**15 else labels, stable=True)
    order = order if which is None else which[order]
    mass = labels.bincount(minlength=k + 1)[:k]
    zero = mass.new_zeros(1)
    first_row = torch.cat([zero, mass.cumsum(0)])
    first_piece = torch.cat([zero, ((mass + PIECE - 1) // PIECE).cumsum(0)])
    pieces = n // PIECE + k  # at most
    cluster_of = torch.searchsorted(first_piece[1:], torch.arange(pieces, device=x.device), right=True)
    width = min(_power(d), WIDE)
    blocks = _tiles(d, width)
    sums = torch.zeros((pieces, d), dtype=torch.float32, device=x.device)
    squares = torch.zeros((pieces, blocks), dtype=torch.float32, device=x.device)
    near = points.float()
    _triton.add_rows[(pieces, blocks)](
        x,
        near,
        order,
        first_row,
        first_piece,
        cluster_of,
        sums,
        squares,
        k,
        x.stride(0),
        D=d,
        MOST=PIECE,
        BM=8,
        BK=width,
        num_warps=4,
    )
    total = torch.empty((k, d), dtype=torch.float64, device=x.device)
    _triton.add_pieces[(k, blocks)](sums, first_piece, total, D=d, BK=width)
    within = torch.cat([zero.double(), squares.sum(dim=1, dtype=torch.float64).cumsum(0)])[first_piece]
    # The kernel knows the points in single precision.
    moved = near.double() - points
    held = mass.double()
    within = within.diff() + 2 * (total * moved).sum(dim=1) + held * (moved * moved).sum(dim=1)
    return Added(total + held[:, None] * moved, held, within)


def scan(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mean, summed squares around it, and ends of each column; if a number is not finite, neither is a mean."""
    from cluewise.gpu import _triton

    n, d = x.shape
    pilot = x[:: n // 4096 + 1].float().mean(dim=0)
    wide = torch.empty((2, SCANS, d), dtype=torch.float64, device=x.device)
    ends = torch.empty((2, SCANS, d), dtype=torch.float32, device=x.device)
    block = min(_power(d), 128)
    _triton.scan_columns[(_tiles(d, block), SCANS)](
        x, pilot, wide[0], wide[1], ends[0], ends[1], n, x.stride(0), D=d, BM=16, BK=block, num_warps=4
    )
    total, squares = wide.sum(dim=1)
    away = total / n
    return pilot.double() + away, squares - total * away, ends[0].amin(dim=0).double(), ends[1].amax(dim=0).double()


def counts(labels: torch.Tensor, r: int) -> bool:
    """Whether `find_winners` works for labels of partitions with so many clusters."""
    return _compiles(labels.device) and r <= PER * WORDS and labels.is_contiguous() and labels.shape[1] > 0


def find_winners(labels: torch.Tensor, clusters: Array, gamma: Floats, r: int) -> torch.Tensor:
    """The cluster with most votes of each row, the lowest on ties, as if votes were counted in double precision.

    Votes are first counted as whole numbers. Rows whose winner leads by no more than that may be wrong are counted
    once more.
    """
    from cluewise.gpu import _triton

    active = np.flatnonzero(gamma > 0)
    n, m, width = labels.shape[1], len(active), clusters.shape[1]
    if not m:
        return torch.zeros(n, dtype=torch.int32, device=labels.device)
    words = max(_tiles(r, PER), 1)
    per = _tiles(r, words)
    bits = min(64 // per, 30)
    votes, slack = _round(gamma[active], 2**bits - 1)
    padded = _tiles(m, TURNS) * TURNS
    table = np.zeros((padded, words, width), dtype=np.int64)
    lines, own, weight = np.zeros(padded, dtype=np.int64), np.zeros((padded, width), dtype=np.int64), np.zeros(padded)
    lines[:m], own[:m], weight[:m] = active, clusters[active], gamma[active]
    line, label = np.ogrid[:m, :width]
    table[line, own[:m] // per, label] = (votes[:, None] << (own[:m] % per * bits).astype(np.uint64)).view(np.int64)
    device = labels.device
    where = torch.tensor(lines, device=device)
    winner = torch.empty(n, dtype=torch.int32, device=device)
    block = 512
    _triton.count_votes[(_tiles(n, block),)](
        labels,
        where,
        torch.tensor(table, device=device),
        winner,
        n,
        padded,
        slack,
        WORDS=words,
        WIDTH=width,
        R=r,
        PER=per,
        BITS=bits,
        B=block,
        TURNS=TURNS,
        num_warps=4,
    )
    rows = (winner < 0).nonzero()[:, 0]
    if len(rows):
        _triton.count_exactly[(_tiles(len(rows), 64),)](
            labels,
            where,
            torch.tensor(own, device=device),
            torch.tensor(weight, device=device),
            rows,
            winner,
            len(rows),
            n,
            padded,
            WIDTH=width,
            R=max(_power(r), 2),
            B=64,
            TURNS=TURNS,
            num_warps=4,
        )
    return winner


def _round(gamma: Floats, most: int) -> tuple[Ints, int]:
    """Weights as whole numbers that sum to ``most`` at most, and how many votes a lead may be wrong by.

    Of several scales the one with the smallest error is taken: equal weights, for example, have none.
    """
    largest, least = most / gamma.sum(), gamma.min()
    scales = np.append(largest * np.linspace(0.5, 1.0, 33), max(np.floor(largest * least), 1.0) / least)
    rounded = np.rint(scales[:, None] * gamma)
    wrong = np.abs(scales[:, None] * gamma - rounded).sum(axis=1)
    best = int(np.where(rounded.sum(axis=1) <= most, wrong / scales, np.inf).argmin())
    return rounded[best].astype(np.uint64), int(np.ceil(wrong[best] + 1e-6))


def _divide(x: torch.Tensor, whole: torch.Tensor) -> torch.Tensor:
    """(parts, m, d) centers as sums of parts in the precision of the rows: one if they have it themselves, else two."""
    first = whole.to(x.dtype)
    rest = whole - first.double()
    if rest.abs().max() <= EXACT * whole.abs().max():
        return first[None]
    return torch.stack([first, rest.to(x.dtype)])


def _offsets(x: torch.Tensor, parts: torch.Tensor, block: int) -> torch.Tensor:
    """Half the squared length of each center, and inf up to a multiple of the block, on the device of the rows."""
    seen = parts.double().sum(dim=0)
    half = torch.full((_tiles(len(seen), block) * block,), float("inf"), dtype=torch.float32, device=parts.device)
    half[: len(seen)] = 0.5 * (seen * seen).sum(dim=1)
    return half.to(x.device)


def _processors(x: torch.Tensor) -> int:
    """Multiprocessors of a card."""
    return torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 4


def _tiles(n: int, size: int) -> int:
    return -(-n // size)


def _power(n: int) -> int:
    """The next power of two."""
    return 1 << (n - 1).bit_length()
