"""Pieces: a few times as many small clusters as are wanted, put together as the clues say.

There are so few pieces that many clues speak about each pair of them, and wrong ones are outvoted.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from cluewise._typing import Floats, Ints
from cluewise.front._evidence import Evidence
from cluewise.front._ground import STAY, Ground
from cluewise.kernels.pieces import assign_pieces

__all__ = ["PER_CLUSTER", "embed_for_pieces", "join_pieces"]

PER_CLUSTER = 4
"""Pieces for each cluster."""

DIRECTIONS = 3
"""Eigenvectors for each cluster in which pieces are found."""

NEAR = 5.0
"""Votes that the graph has for putting a piece together with those next to it."""

STARTS, SWEEPS = 20, 50


def embed_for_pieces(ground: Ground, k: int) -> Floats:
    """Directions of the grains in the eigenvectors that matter, long walks first."""
    count = min(DIRECTIONS * k, ground.m)
    points = ground.lead(count) / np.sqrt(ground.degree)[:, None]
    points = points / np.sqrt(1 - STAY * ground.values[:count])
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(length > 0, length, 1.0)


def join_pieces(ground: Ground, piece: Ints, known: Evidence, start: Ints, k: int, rng: np.random.Generator) -> Ints:
    """Cluster of each grain; ``known`` is about grains, and ``start`` is a clustering of them.

    The best of several descents is taken, of which one begins at the start and the others at random. A descent that
    leaves clusters without pieces does not count, and if all do, the start is taken.
    """
    q = int(piece.max()) + 1
    member = csr_array((np.ones(ground.m), (piece, np.arange(ground.m))), shape=(q, ground.m))
    shared = ((member @ ground.affinity) @ member.T).toarray()
    edges = shared.sum(axis=1)
    scale = np.sqrt(np.where(edges > 0, edges, 1.0))
    pairs = NEAR * shared / scale / scale[:, None]
    ends = piece[known.ends]
    weight, label_weight = known.weigh_for_starts()
    signed = np.where(known.is_must, weight, -weight)
    np.add.at(pairs, (ends[:, 0], ends[:, 1]), signed)
    np.add.at(pairs, (ends[:, 1], ends[:, 0]), signed)
    votes = np.zeros((q, k))
    np.add.at(votes, (piece[known.labeled], known.classes), label_weight)
    mass = np.zeros((q, k))
    np.add.at(mass, (piece, start), ground.sizes)
    best, top, wanted = start, -np.inf, len(np.unique(start))
    for attempt in range(STARTS):
        labels = mass.argmax(axis=1) if attempt == 0 else rng.integers(k, size=q)
        gain = assign_pieces(pairs, votes, rng.permutation(q), SWEEPS, labels)
        if gain > top + 1e-9 and len(np.unique(labels)) >= wanted:
            best, top = labels[piece], gain
    return best
