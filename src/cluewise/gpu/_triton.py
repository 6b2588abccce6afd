"""Kernels in Triton for rows of half precision and for votes; `gpu.fused` calls them and says what they return.

Products of rows and centers are added up in single precision. No kernel adds to memory that another program adds to,
so results are the same in every run.
"""

# Triton reads the source of kernels, whose arguments have no types of Python.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["add_pieces", "add_rows", "count_exactly", "count_votes", "find_nearest", "scan_columns", "step"]


@triton.jit
def _score(
    x,
    numbers,
    stride,
    parts,
    which,
    m,
    D: tl.constexpr,
    PARTS: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Products of BM rows and BN centers, which are sums of parts in half precision."""
    FULL: tl.constexpr = D // BK
    columns = tl.arange(0, BK)
    scores = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, FULL, num_stages=STAGES):
        at = k * BK + columns
        rows = tl.load(x + numbers[:, None] * stride + at[None, :])
        for p in tl.static_range(PARTS):
            centers = tl.load(parts + (p * m + which)[None, :] * D + at[:, None])
            scores = tl.dot(rows, centers, scores)
    if D > FULL * BK:  # columns that are left: as few as a product may have, or rows would be multiplied by zeros
        if D - FULL * BK <= 16:
            scores = _score_rest(x, numbers, stride, parts, which, m, scores, FULL * BK, 16, D, PARTS)
        else:
            scores = _score_rest(x, numbers, stride, parts, which, m, scores, FULL * BK, BK, D, PARTS)
    return scores


@triton.jit
def _score_rest(
    x,
    numbers,
    stride,
    parts,
    which,
    m,
    scores,
    FIRST: tl.constexpr,
    WIDTH: tl.constexpr,
    D: tl.constexpr,
    PARTS: tl.constexpr,
):
    at = FIRST + tl.arange(0, WIDTH)
    rows = tl.load(x + numbers[:, None] * stride + at[None, :], mask=at[None, :] < D, other=0.0)
    for p in tl.static_range(PARTS):
        centers = tl.load(parts + (p * m + which)[None, :] * D + at[:, None], mask=at[:, None] < D, other=0.0)
        scores = tl.dot(rows, centers, scores)
    return scores


@triton.jit
def find_nearest(
    x,
    parts,
    half,
    labels,
    n,
    m,
    stride,
    D: tl.constexpr,
    PARTS: tl.constexpr,
    TILES: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Number of the nearest center of each row; ``half`` has half the squared length of each, and inf beyond m."""
    row = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    inside = tl.minimum(row, n - 1)
    best = tl.full((BM,), float("-inf"), tl.float32)
    label = tl.zeros((BM,), tl.int32)
    for t in range(TILES):
        which = t * BN + tl.arange(0, BN)
        scores = _score(x, inside, stride, parts, tl.minimum(which, m - 1), m, D, PARTS, BM, BN, BK, STAGES)
        scores -= tl.load(half + which)[None, :]
        top, at = tl.max(scores, axis=1, return_indices=True)
        better = top > best  # of equally near centers the first
        label = tl.where(better, t * BN + at, label)
        best = tl.where(better, top, best)
    tl.store(labels + row, label, mask=row < n)


@triton.jit
def step(
    x,
    parts,
    half,
    left_out,
    sums,
    n,
    m,
    stride,
    D: tl.constexpr,
    PARTS: tl.constexpr,
    K: tl.constexpr,
    BM: tl.constexpr,
    BK: tl.constexpr,
    WIDE: tl.constexpr,
    STAGES: tl.constexpr,
    SOME: tl.constexpr,
):
    """Sizes and sums of clusters, by the nearest center of each row: of every program, for up to 4·WIDE columns.

    The second time a tile of rows is read, it comes from the cache.
    """
    clusters = tl.arange(0, K)
    columns = tl.arange(0, WIDE)
    offset = tl.load(half + clusters)
    count = tl.zeros((K,), tl.float32)
    one = tl.zeros((WIDE, K), tl.float32)
    two = tl.zeros((WIDE, K), tl.float32)
    three = tl.zeros((WIDE, K), tl.float32)
    four = tl.zeros((WIDE, K), tl.float32)
    for tile in range(tl.program_id(0), tl.cdiv(n, BM), tl.num_programs(0)):
        row = tile * BM + tl.arange(0, BM).to(tl.int64)
        counts = row < n
        inside = tl.minimum(row, n - 1)
        which = tl.minimum(clusters, m - 1)
        scores = _score(x, inside, stride, parts, which, m, D, PARTS, BM, K, BK, STAGES) - offset[None, :]
        if SOME:
            counts = counts & (tl.load(left_out + inside) == 0)
        member = (tl.argmax(scores, axis=1)[:, None] == clusters[None, :]) & counts[:, None]
        count += tl.sum(member.to(tl.float32), axis=0)
        member = member.to(x.dtype.element_ty)
        first = x + inside[None, :] * stride + columns[:, None]
        one = tl.dot(tl.load(first, mask=columns[:, None] < D, other=0.0), member, one)
        if D > WIDE:
            two = tl.dot(tl.load(first + WIDE, mask=columns[:, None] < D - WIDE, other=0.0), member, two)
        if D > 2 * WIDE:
            three = tl.dot(tl.load(first + 2 * WIDE, mask=columns[:, None] < D - 2 * WIDE, other=0.0), member, three)
        if D > 3 * WIDE:
            four = tl.dot(tl.load(first + 3 * WIDE, mask=columns[:, None] < D - 3 * WIDE, other=0.0), member, four)
    own = sums + tl.program_id(0) * ((1 + 4 * WIDE) * K)
    tl.store(own + clusters, count)
    own = own + K + columns[:, None] * K + clusters[None, :]
    tl.store(own, one)
    tl.store(own + WIDE * K, two)
    tl.store(own + 2 * WIDE * K, three)
    tl.store(own + 3 * WIDE * K, four)


@triton.jit
def add_rows(
    x,
    points,
    order,
    first_row,
    first_piece,
    cluster_of,
    sums,
    squares,
    m,
    stride,
    D: tl.constexpr,
    MOST: tl.constexpr,
    BM: tl.constexpr,
    BK: tl.constexpr,
):
    """Sums of x − point and of its squares, for a piece of at most MOST rows of a cluster, which are given in order."""
    piece = tl.program_id(0)
    cluster = tl.load(cluster_of + piece)
    if cluster < m:
        at = tl.program_id(1) * BK + tl.arange(0, BK)
        point = tl.load(points + cluster * D + at, mask=at < D, other=0.0)
        begin = tl.load(first_row + cluster) + (piece - tl.load(first_piece + cluster)) * MOST
        end = tl.minimum(tl.load(first_row + cluster + 1), begin + MOST)
        total = tl.zeros((BM, BK), tl.float32)
        square = tl.zeros((BM, BK), tl.float32)
        for start in range(begin, end, BM):
            place = start + tl.arange(0, BM)
            row = tl.load(order + place, mask=place < end, other=0)
            known = (place < end)[:, None] & (at < D)[None, :]
            away = (
                tl.load(x + row[:, None] * stride + at[None, :], mask=known, other=0.0).to(tl.float32) - point[None, :]
            )
            away = tl.where(known, away, 0.0)
            total += away
            square += away * away
        tl.store(sums + piece.to(tl.int64) * D + at, tl.sum(total, axis=0), mask=at < D)
        tl.store(squares + piece * tl.num_programs(1) + tl.program_id(1), tl.sum(tl.sum(square, axis=1), axis=0))


@triton.jit
def add_pieces(sums, first_piece, total, D: tl.constexpr, BK: tl.constexpr):
    """Sums of the pieces of each cluster, in double precision."""
    cluster = tl.program_id(0)
    at = tl.program_id(1) * BK + tl.arange(0, BK)
    added = tl.zeros((BK,), tl.float64)
    for piece in range(tl.load(first_piece + cluster), tl.load(first_piece + cluster + 1)):
        added += tl.load(sums + tl.cast(piece, tl.int64) * D + at, mask=at < D, other=0.0).to(tl.float64)
    tl.store(total + cluster * D + at, added, mask=at < D)


@triton.jit
def scan_columns(x, pilot, total, squares, low, high, n, stride, D: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    """Sums of x − pilot and of its squares, and the ends of each column: of every program for its columns and rows."""
    at = tl.program_id(0) * BK + tl.arange(0, BK)
    known = (at < D)[None, :]
    middle = tl.load(pilot + at, mask=at < D, other=0.0)
    added = tl.zeros((BM, BK), tl.float32)
    square = tl.zeros((BM, BK), tl.float32)
    lowest = tl.full((BM, BK), float("inf"), tl.float32)
    highest = tl.full((BM, BK), float("-inf"), tl.float32)
    for tile in tl.range(tl.program_id(1), n // BM, tl.num_programs(1), num_stages=3):
        row = tile * BM + tl.arange(0, BM).to(tl.int64)
        value = tl.load(x + row[:, None] * stride + at[None, :], mask=known, other=0.0).to(tl.float32)
        away = value - middle[None, :]
        added += away
        square += away * away
        lowest = tl.minimum(lowest, value)
        highest = tl.maximum(highest, value)
    if tl.program_id(1) == (n // BM) % tl.num_programs(1):  # the rows that do not fill a tile
        row = (n // BM) * BM + tl.arange(0, BM).to(tl.int64)
        some = (row < n)[:, None] & known
        value = tl.load(x + row[:, None] * stride + at[None, :], mask=some, other=0.0).to(tl.float32)
        away = tl.where(some, value - middle[None, :], 0.0)
        added += away
        square += away * away
        lowest = tl.where(some, tl.minimum(lowest, value), lowest)
        highest = tl.where(some, tl.maximum(highest, value), highest)
    own = tl.program_id(1) * D + at
    tl.store(total + own, tl.sum(added.to(tl.float64), axis=0), mask=at < D)
    tl.store(squares + own, tl.sum(square.to(tl.float64), axis=0), mask=at < D)
    tl.store(low + own, tl.min(lowest, axis=0), mask=at < D)
    tl.store(high + own, tl.max(highest, axis=0), mask=at < D)


@triton.jit
def count_votes(
    labels,
    lines,
    table,
    winner,
    n,
    m,
    slack,
    WORDS: tl.constexpr,
    WIDTH: tl.constexpr,
    R: tl.constexpr,
    PER: tl.constexpr,
    BITS: tl.constexpr,
    B: tl.constexpr,
    TURNS: tl.constexpr,
):
    """Cluster with most votes of each row, less R if it leads by at most ``slack`` votes.

    A label adds one to four words of 64 bits, which count the votes of PER clusters each: the table has them by
    partition, word and label, with zeros for partitions beyond m.
    """
    row = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    zero = tl.zeros((B,), tl.int64)
    one, two, three, four = zero, zero, zero, zero
    for turn in range(tl.cdiv(m, TURNS)):
        for other in tl.static_range(TURNS):
            k = turn * TURNS + other
            line = tl.load(lines + k).to(tl.int64) * n
            own = table + k * (WORDS * WIDTH) + tl.load(labels + line + row, mask=row < n, other=0).to(tl.int32)
            one += tl.load(own)
            if WORDS > 1:
                two += tl.load(own + WIDTH)
            if WORDS > 2:
                three += tl.load(own + 2 * WIDTH)
            if WORDS > 3:
                four += tl.load(own + 3 * WIDTH)
    best = tl.full((B,), -1, tl.int32)
    second = best
    found = tl.zeros((B,), tl.int32)
    for cluster in tl.static_range(R):
        if cluster // PER == 0:
            word = one
        elif cluster // PER == 1:
            word = two
        elif cluster // PER == 2:
            word = three
        else:
            word = four
        votes = ((word >> ((cluster % PER) * BITS)) & ((1 << BITS) - 1)).to(tl.int32)
        ahead = votes > best
        second = tl.where(ahead, best, tl.maximum(second, votes))
        found = tl.where(ahead, cluster, found)
        best = tl.where(ahead, votes, best)
    tl.store(winner + row, tl.where(best - second > slack, found, found - R), mask=row < n)


@triton.jit
def count_exactly(
    labels, lines, clusters, gamma, rows, winner, count, n, m, WIDTH: tl.constexpr, R: tl.constexpr, B: tl.constexpr
):
    """The same for some rows, in double precision, in the order of the partitions."""
    place = tl.program_id(0) * B + tl.arange(0, B)
    row = tl.load(rows + place, mask=place < count, other=0)
    own = tl.arange(0, R)
    votes = tl.zeros((B, R), tl.float64)
    for k in range(m):
        label = tl.load(labels + tl.load(lines + k).to(tl.int64) * n + row).to(tl.int32)
        cluster = tl.load(clusters + k * WIDTH + label)
        votes += tl.where(cluster[:, None] == own[None, :], tl.load(gamma + k), 0.0)
    tl.store(winner + row, tl.argmax(votes, axis=1), mask=place < count)
