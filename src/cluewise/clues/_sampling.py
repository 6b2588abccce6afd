"""Drawing clues from known labels: which rows and pairs, and how many of them are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Array, ArrayLike, Bools, Floats, Ints
from cluewise.clues._groups import codes_of
from cluewise.exceptions import ClueError

__all__ = ["draw", "from_rank", "rank_of"]

SAMPLED = "sampled"
"""Source of clues drawn from known labels."""

PROFILES = ("clean", "ordered")


def draw(
    y_true: ArrayLike,
    *,
    labels: float,
    pairs: float,
    noise: float,
    label_noise: float,
    among: float,
    confidence: tuple[float, float] | None,
    exclude: Ints | None,
    profile: str,
    random_state: Any,
) -> dict[str, Any]:
    """Keyword arguments for `Clues`; see `Clues.sample` for the meaning of each parameter."""
    truth, classes = _truth(y_true)
    n = len(truth)
    if profile not in PROFILES:
        raise ClueError(f"profile is {profile!r}; it must be 'clean' or 'ordered'.")
    if confidence is not None and noise:
        raise ClueError("give noise or confidence, not both: a confidence already implies how often a pair is wrong.")
    wrong_labels, wrong_pairs = _share("label_noise", label_noise), _share("noise", noise)
    sure = _range(confidence)
    rng = _generator(random_state)
    drawn: dict[str, Any] = {"n": n, "source": SAMPLED}

    m = _amount("labels", labels, n, n)
    if m:
        drawn["labels"] = _draw_labels(truth, classes, m, wrong_labels, rng)

    rows = np.arange(n)
    size = _amount("among", among, n, n)
    if size < n:
        rows = np.sort(rng.choice(n, size, replace=False, shuffle=False))
    ordered = profile == "ordered"
    squares = size**2 if ordered else size * (size - 1) // 2  # what a share is a share of
    m = _amount("pairs", pairs, squares, None)
    if m:
        ends = _draw_pairs(m, rows, n, exclude, ordered, rng)
        drawn |= _report(truth, ends, wrong_pairs, sure, ordered, rng)
    return drawn


# --- requested amounts -----------------------------------------------------------------------------------


def _truth(y_true: ArrayLike) -> tuple[Ints, Array]:
    try:
        n = len(y_true)  # type: ignore[arg-type]
    except TypeError:
        raise ClueError("y_true needs one class per row; it is a single value.") from None
    truth, classes = codes_of("y_true", n, y_true)
    unknown = np.flatnonzero(truth < 0)
    if len(unknown):
        raise ClueError(
            f"row {unknown[0]} of y_true has no class (-1, None, '' and nan mean unknown), "
            "but clues are drawn from true classes."
        )
    return truth, classes


def _amount(name: str, asked: float, whole: int, limit: int | None) -> int:
    """An int is a count, a float a share of ``whole``."""
    if isinstance(asked, (int, np.integer)) and not isinstance(asked, (bool, np.bool_)):
        count = int(asked)
        if count < 0:
            raise ClueError(f"{name} is {count}; it must be 0 or more.")
        if limit is not None and count > limit:
            raise ClueError(f"{name} asks for {count} rows, but there are only {limit}.")
        return count
    if not isinstance(asked, (float, np.floating)) or not 0 <= asked <= 1:
        raise ClueError(f"{name} is {asked!r}; it must be a count (int) or a share between 0 and 1 (float).")
    return round(float(asked) * whole)


def _share(name: str, value: Any) -> float:
    if isinstance(value, (int, float, np.number)) and 0 <= float(value) <= 1:
        return float(value)
    raise ClueError(f"{name} is {value!r}; it must be a share between 0 and 1.")


def _range(confidence: Any) -> tuple[float, float] | None:
    if confidence is None:
        return None
    try:
        low, high = (float(c) for c in confidence)
    except (TypeError, ValueError):
        raise ClueError(f"confidence is {confidence!r}; it must be a range (low, high).") from None
    if not (0.5 <= low <= high <= 1 and high > 0.5):
        raise ClueError(f"confidence is ({low:g}, {high:g}); it must lie between 0.5 and 1, low before high.")
    return low, high


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ClueError(f"random_state is {random_state!r}; it must be an int, a Generator or None.") from None


# --- labels -----------------------------------------------------------------------------------------------


def _draw_labels(truth: Ints, classes: Array, m: int, wrong: float, rng: np.random.Generator) -> Array:
    """Classes for ``m`` random rows; round(wrong * m) of them are redrawn from all classes."""
    rows = rng.choice(len(truth), m, replace=False)
    codes = truth[rows]
    redrawn = round(wrong * m)  # the rows came in random order, so the first ones are as good as any
    codes[:redrawn] = rng.integers(len(classes), size=redrawn)
    given = np.full(len(truth), None, dtype=object)
    given[rows] = classes[codes]
    return given


# --- pairs ------------------------------------------------------------------------------------------------


def rank_of(low: Ints, high: Ints) -> Ints:
    """Position of the pair low < high in the list (0,1), (0,2), (1,2), (0,3) and so on."""
    return high * (high - 1) // 2 + low


def from_rank(rank: Ints) -> tuple[Ints, Ints]:
    """Undo `rank_of`: the pair at each position, exact for all positions that fit into 60 bits."""
    high = ((1 + np.sqrt(1 + 8 * rank.astype(np.float64))) / 2).astype(np.int64)
    # The square root is rounded; one step up or down makes it exact.
    high -= high * (high - 1) // 2 > rank
    high += high * (high + 1) // 2 <= rank
    return rank - high * (high - 1) // 2, high


def _draw_pairs(m: int, rows: Ints, n: int, exclude: Ints | None, ordered: bool, rng: np.random.Generator) -> Ints:
    """``m`` different pairs of rows, none of them excluded, in random order."""
    size = len(rows)
    total = size * (size - 1) // (1 if ordered else 2)
    taken = np.empty(0, dtype=np.int64) if exclude is None else _excluded(exclude, rows, n, ordered)
    if m > total - len(taken):
        left = f", of which {len(taken)} are excluded" if len(taken) else ""
        kind = "ordered pairs" if ordered else "pairs"
        raise ClueError(f"pairs asks for {m} {kind}, but {size} rows have only {total}{left}.")
    rank = _distinct(total - len(taken), m, rng)
    # Ranks count the pairs that are not taken; each taken one before a pair moves it up by one.
    rank += np.searchsorted(taken - np.arange(len(taken)), rank, side="right")
    if ordered:
        first, second = rank // (size - 1), rank % (size - 1)
        second += second >= first
    else:
        first, second = from_rank(rank)
    return np.column_stack([rows[first], rows[second]])


def _excluded(exclude: Ints, rows: Ints, n: int, ordered: bool) -> Ints:
    """Ranks of the pairs that must not be drawn, sorted."""
    taken = np.asarray(exclude, dtype=np.int64).reshape(-1, 2)
    if taken.size and (taken.min() < 0 or taken.max() >= n):
        raise ClueError(f"exclude mentions row {taken.max()}, but y_true has only {n} rows.")
    place = np.full(n, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    taken = place[taken]
    taken = taken[(taken >= 0).all(axis=1) & (taken[:, 0] != taken[:, 1])]
    low, high = taken.min(axis=1), taken.max(axis=1)
    if not ordered:
        return np.unique(rank_of(low, high))
    steps = len(rows) - 1
    return np.unique(np.concatenate([low * steps + high - 1, high * steps + low]))


def _distinct(total: int, m: int, rng: np.random.Generator) -> Ints:
    """``m`` different numbers below ``total`` in random order, in memory proportional to ``m``."""
    if total <= max(4 * m, 10_000):
        return rng.permutation(total)[:m]
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < m:
        more = rng.integers(total, size=m + m // 4 + 8)
        drawn = np.concatenate([drawn, more])
        first = np.unique(drawn, return_index=True)[1]
        drawn = drawn[np.sort(first)]  # what was drawn before is drawn again for nothing
    return drawn[:m]


# --- what is said about them ------------------------------------------------------------------------------


def _report(
    truth: Ints,
    ends: Ints,
    wrong: float,
    sure: tuple[float, float] | None,
    ordered: bool,
    rng: np.random.Generator,
) -> dict[str, Any]:
    m = len(ends)
    certain: Floats | None = None
    if sure is not None:
        low, high = sure
        certain = high - (high - low) * rng.random(m)  # in (low, high], so never exactly one half
        flipped = rng.random(m) >= certain
    elif ordered:  # as published: each report is wrong by itself
        flipped = rng.random(m) < wrong
    else:
        flipped = np.zeros(m, dtype=bool)
        flipped[rng.choice(m, round(wrong * m), replace=False, shuffle=False)] = True
    same = (truth[ends[:, 0]] == truth[ends[:, 1]]) ^ flipped
    if ordered:
        last = _last_reports(ends)
        ends, same, certain = ends[last], same[last], None if certain is None else certain[last]
    return _split(ends, same, certain)


def _last_reports(ends: Ints) -> Ints:
    """Positions of the last report on every unordered pair."""
    rank = rank_of(ends.min(axis=1), ends.max(axis=1))
    return len(rank) - 1 - np.unique(rank[::-1], return_index=True)[1]


def _split(ends: Ints, same: Bools, certain: Floats | None) -> dict[str, Any]:
    links: dict[str, Any] = {"must": ends[same], "cannot": ends[~same]}
    if certain is not None:
        links |= {"must_confidence": certain[same], "cannot_confidence": certain[~same]}
    return links
