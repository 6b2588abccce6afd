"""A method tried on some rows with clues and without, also with some clues held out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.metrics import ari, held_out, informativeness
from cluewise.metrics.segments import take_rows

__all__ = ["Tryout", "try_out"]

_ROWS = 2000  # more are not tried
_FOLDS = 10


class Tryout(NamedTuple):
    """What came out when a method was tried; nan where it could not be told.

    Attributes
    ----------
    rows : int
        How many rows were tried.
    informativeness : float
        Share of the clues that the results without clues break.
    gain : float
        Share of held-out clues kept with the others minus that kept without any, mean over the splits.
    error : float
        Standard error of that.
    splits : int
        How often clues were held out; each row with clues is once among those whose clues are.
    moved : float
        1 minus the adjusted Rand index of the clusterings with and without clues.
    strain : float
        Log of how much wider the clusters are with clues (sums of squares).
    trouble : str
        Why the method could not be fitted; empty when it could.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.advice import check
    >>> tried = check([0, -1, 1, -1], [[0.0], [1.0], [8.0], [9.0]], random_state=0).trial
    >>> tried.rows, tried.informativeness, tried.moved
    (4, 0.0, 0.0)
    """

    rows: int
    informativeness: float
    gain: float = np.nan
    error: float = np.nan
    splits: int = 0
    moved: float = np.nan
    strain: float = np.nan
    trouble: str = ""


def try_out(estimator: Any, X: Any, clues: Clues, rng: np.random.Generator) -> Tryout:
    """Fit some rows without clues, with all of them, and with parts of them; ``clues`` are those the method uses.

    Both fits of a pair start from one seed. A method that has a seed of its own is tried from that one alone, because
    that is what its user will get.
    """
    rows = _some_rows(clues, rng)
    points, known = take_rows(X, rows, clues.n), clues[rows]
    fixed = isinstance(estimator.get_params(deep=False).get("random_state"), (int, np.integer))
    memory: dict[int, Ints] = {}

    def labels_of(given: Clues | None, seed: int) -> Ints:
        model = clone(estimator)
        if not fixed and "random_state" in model.get_params(deep=False):
            model.set_params(random_state=seed)
        labels: Ints = model.fit(points, clues=given).labels_
        return labels

    def without(seed: int) -> Ints:
        seed = 0 if fixed else seed
        if seed not in memory:
            memory[seed] = labels_of(None, seed)
        return memory[seed]

    seeds = rng.integers(2**31, size=_FOLDS + 1).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a trial on other rows or clues warns of nothing that matters to the user
        try:
            plain = without(seeds[0])
        except ValueError as error:
            return Tryout(len(rows), np.nan, trouble=f"it cannot cluster these rows even without clues: {error}")
        try:
            told = labels_of(known, seeds[0])
        except ValueError as error:
            news = informativeness(plain, known)
            return Tryout(len(rows), news, trouble=f"it cannot cluster these rows with the clues: {error}")
        gains = []
        for mask, seed in zip(held_out.make_folds(known, _FOLDS, rng), seeds[1:]):
            try:
                part = labels_of(held_out.leave_out(known, mask), seed)
            except ValueError:  # some methods refuse some parts of the clues
                continue
            after = held_out.kept_shares(part, known, mask)
            before = held_out.kept_shares(without(seed), known, mask)
            gains.append(_mean(after, known, mask) - _mean(before, known, mask))
    return Tryout(
        rows=len(rows),
        informativeness=informativeness(np.array(list(memory.values())), known),
        gain=float(np.mean(gains)) if gains else np.nan,
        error=float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else np.nan,
        splits=len(gains),
        moved=1.0 - ari(told, plain),
        strain=_strain(points, plain, told),
    )


def _some_rows(clues: Clues, rng: np.random.Generator) -> Ints:
    """All rows, or as many as are tried: those of some clues, at most half of them, and others."""
    if clues.n <= _ROWS:
        return np.arange(clues.n)
    links = rng.permutation(np.concatenate([clues.must, clues.cannot]))[: _ROWS // 4]
    chosen = np.unique(links)
    room = _ROWS // 2 - len(chosen)
    others = np.setdiff1d(clues.tied, chosen)
    if room > 0 and len(others):
        chosen = np.union1d(chosen, rng.permutation(others)[:room])
    mask = np.ones(clues.n, dtype=bool)
    mask[chosen] = False
    rest = np.flatnonzero(mask)
    return np.union1d(chosen, rng.choice(rest, min(len(rest), _ROWS - len(chosen)), replace=False))


def _mean(shares: Mapping[str, float], clues: Clues, rows: Bools) -> float:
    """Mean over the clues about these rows, of whatever kind."""
    held = held_out.select_about(clues, rows)
    count: dict[str, int] = {
        "must": len(held.must),
        "cannot": len(held.cannot),
        "labels": int((held.labels >= 0).sum()),
        "together": sum(int((group.sizes > 1).sum()) for group in held.together),
        "apart": sum(int((group.sizes > 1).sum()) for group in held.apart),
        "partitions": sum(int((held.partition_codes(t) >= 0).sum()) for t in range(len(held.partitions))),
    }
    total = sum(count[kind] for kind in shares)
    return sum(share * count[kind] for kind, share in shares.items()) / total


def _strain(points: Floats, plain: Ints, told: Ints) -> float:
    """Log of the sum of squares within the clusters with clues over that without; at most a factor of 5 counts."""
    before, after = _within(points, plain), _within(points, told)
    if before <= 0 or after <= 0:
        return 0.0
    return float(np.clip(np.log(after / before), -np.log(5), np.log(5)))


def _within(points: Floats, labels: Ints) -> float:
    """Sum of squares around the means of the clusters; noise is alone and adds nothing."""
    inside = labels != UNASSIGNED
    kept, codes = points[inside], np.unique(labels[inside], return_inverse=True)[1]
    size = np.bincount(codes)
    means = np.column_stack([np.bincount(codes, weights=column) for column in kept.T]) / size[:, None]
    return float(((kept - means[codes]) ** 2).sum())
