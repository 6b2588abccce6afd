"""Utilities of candidate questions: plain functions from a `View` to one number per candidate, larger is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import entr
from scipy.stats import rankdata

from cluewise._lazy import lazy
from cluewise._typing import Array, Bools, Floats, Ints

__all__ = [
    "PHRASES",
    "UTILITIES",
    "Utility",
    "View",
    "agreement",
    "arms",
    "chances",
    "check_weights",
    "rank",
    "qualified_name",
    "evaluate",
]


@dataclass(frozen=True)
class View:
    """What a utility sees: the candidates for the next question, and what is known about them.

    Rows are numbered within the view. A candidate compares a row with another one, which most often stands for a
    neighborhood: rows that are known to belong together.
    """

    X: Floats  # (p, d) rows
    pairs: Ints  # (m, 2) candidates: a row, and the one it would be compared with
    placing: Bools  # (m,) whether the other one stands for a neighborhood
    together: Floats  # (m,) probability of a yes
    chances: Floats  # (p, s + 1) probability that a row belongs to each neighborhood, and last that it is of a new kind
    committee: Array  # (c, p) partitions made from X alone
    density: Floats  # (p,) density around each row
    asked: Ints  # rows that have a place, or were asked about
    must: Ints  # (·, 2) pairs that somebody said yes to
    cannot: Ints  # (·, 2) pairs that somebody said no to
    clustering: Callable[[], Ints]  # makes the current clustering

    @lazy
    def labels(self) -> Ints:
        """(p,) the current clustering; made when a utility asks for it."""
        return self.clustering()


Utility = Callable[[View], Floats]


def distance(view: View) -> Floats:
    """Squared distance of the row to the nearest one that was asked about: diversity (10.3 of the specification)."""
    if not len(view.asked):
        return np.zeros(len(view.pairs))
    X, near = view.X, view.X[view.asked]
    squared = (X**2).sum(axis=1)[:, None] - 2 * X @ near.T + (near**2).sum(axis=1)
    return np.maximum(squared.min(axis=1), 0)[view.pairs[:, 0]]


def uncertainty(view: View) -> Floats:
    """Entropy of where the row belongs (10.5)."""
    return np.asarray(entr(view.chances).sum(axis=1)[view.pairs[:, 0]])


def density(view: View) -> Floats:
    """Density around the row: what is learned about it holds for many (10.4)."""
    return view.density[view.pairs[:, 0]]


def disagreement(view: View) -> Floats:
    """Entropy of the committee's vote on the pair (10.8)."""
    return _binary(agreement(view.committee, view.pairs))


def informativeness(view: View) -> Floats:
    """Probability that the answer contradicts the current clustering (11.1)."""
    same = view.labels[view.pairs[:, 0]] == view.labels[view.pairs[:, 1]]
    return np.where(same, 1 - view.together, view.together)


def coherence(view: View) -> Floats:
    """Share of opposite answers whose segments do not overlap that of the pair, as it is likely answered (11.2)."""
    share = np.ones(len(view.pairs))
    for yes, others in ((True, view.cannot), (False, view.must)):
        mine = np.flatnonzero((view.together >= 0.5) == yes)
        if len(mine) and len(others):
            a, b = view.X[view.pairs[mine]], view.X[others]
            clash = (_overlap(a, b) > 1e-12) | (_overlap(b, a) > 1e-12).T
            share[mine] = 1 - clash.mean(axis=1)
    return share


def cost(view: View) -> Floats:
    """Entropy of the answer, divided by how many questions it takes to place the row, on average (12.2)."""
    falling = -np.sort(-view.chances[:, :-1], axis=1)
    count = falling.shape[1]
    # After a no to all others, no further question is needed: the row is of a new class.
    questions = falling @ np.arange(1, count + 1) + count * view.chances[:, -1]
    return _binary(view.together) / np.maximum(questions, 1)[view.pairs[:, 0]]


UTILITIES: dict[str, Utility] = {
    "distance": distance,
    "uncertainty": uncertainty,
    "density": density,
    "disagreement": disagreement,
    "informativeness": informativeness,
    "coherence": coherence,
    "cost": cost,
}

PHRASES = {
    "distance": "far from all that were asked about",
    "uncertainty": "that may belong to several neighborhoods",
    "density": "that stands for many others",
    "disagreement": "about which a committee disagrees",
    "informativeness": "that the clustering may have put into the wrong place",
    "coherence": "that fits in with the answers so far",
    "cost": "that can be placed with few questions",
}
"""What a utility prefers, in words for people."""


def check_weights(weights: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse weights of unknown utilities, and numbers that are not weights."""
    for name, one in own.items():
        if not callable(one):
            raise TypeError(f"the utility {name!r} is a function of a view, not {one!r}.")
    for name, weight in weights.items():
        if name not in UTILITIES and name not in own:
            raise ValueError(f"there is no utility {name!r}; there are {', '.join([*UTILITIES, *own])}.")
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
            raise ValueError(f"the weight of {name!r} is {weight!r}; it is a number, at least 0.")
    if not sum(weights.values()) > 0:
        raise ValueError("one of the weights is above 0.")


def evaluate(name: str, utility: Utility, view: View) -> Floats:
    """The values of a utility; refused unless they are one number per candidate."""
    values = np.asarray(utility(view))
    if values.shape != (len(view.pairs),) or not np.issubdtype(values.dtype, np.number) or np.isnan(values).any():
        wrong = "nan" if values.shape == (len(view.pairs),) else f"an array of shape {values.shape}"
        raise ValueError(
            f"the utility {name!r} gave {wrong}; it gives a number for each candidate, here {len(view.pairs)}."
        )
    return values


def qualified_name(utility: Any) -> str:
    """The name of a utility, which is the same in another process."""
    if isinstance(utility, partial):
        named = [f"{name}={value!r}" for name, value in utility.keywords.items()]
        return f"partial({', '.join([qualified_name(utility.func), *map(repr, utility.args), *named])})"
    home = utility if hasattr(utility, "__qualname__") else type(utility)
    return f"{home.__module__}.{home.__qualname__}"


def rank(values: Floats) -> Floats:
    """Ranks of numbers, scaled to [0, 1]; equal numbers share a rank. One number alone has rank 1."""
    if len(values) < 2:
        return np.ones(len(values))
    return np.asarray((rankdata(values) - 1) / (len(values) - 1))


def agreement(committee: Array, pairs: Ints) -> Floats:
    """Share of the partitions that put the rows of each pair together."""
    return np.asarray((committee[:, pairs[:, 0]] == committee[:, pairs[:, 1]]).mean(axis=0))


def chances(committee: Array, sets: list[Ints], blind: float, more: bool) -> Floats:
    """(p, s + 1) probability that each row belongs to each set, and last that it is of a new class.

    The committee votes like a kernel: a member of a set counts as often as it is put together with the row, and
    ``blind`` more is spread over all sets, and over the new kind if there may be ``more`` of them.
    """
    mass = np.zeros((committee.shape[1], len(sets) + 1))
    members = np.concatenate(sets)
    of = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    for labels in committee:
        size = int(labels.max()) + 1
        votes = np.bincount(labels[members].astype(np.intp) * len(sets) + of, minlength=size * len(sets))
        mass[:, :-1] += votes.reshape(size, -1)[labels]
    mass /= len(committee)
    mass[:, : len(sets) + more] += blind / (len(sets) + more)
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def arms(rewards: Sequence[float], count: int, more: int, rate: float, rng: np.random.Generator) -> list[int]:
    """What EXP3 draws of ``count`` arms for each question that had a reward in [0, 1], and for ``more`` to come."""
    drawn: list[int] = []
    gain = np.zeros(count)
    for t in range(len(rewards) + more):
        likely = np.exp(rate / count * (gain - gain.max()))
        p = (1 - rate) * likely / likely.sum() + rate / count
        drawn.append(int(rng.choice(count, p=p)))
        if t < len(rewards):
            gain[drawn[-1]] += rewards[t] / p[drawn[-1]]
    return drawn


def _binary(p: Floats) -> Floats:
    return np.asarray(entr(p) + entr(1 - p))


def _overlap(a: Floats, b: Floats) -> Floats:
    """(len(a), len(b)) lengths of the overlap of each segment of a, projected on each of b, with that one."""
    along = b[:, 1] - b[:, 0]
    length = np.sqrt((along**2).sum(axis=1))
    unit = along / np.where(length > 0, length, 1)[:, None]
    start = np.einsum("qj,qj->q", b[:, 0], unit)
    first, second = a[:, 0] @ unit.T - start, a[:, 1] @ unit.T - start
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.asarray(np.maximum(np.minimum(high, length) - np.maximum(low, 0), 0))
