"""A short rule for each cluster: a path in a shallow decision tree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.explain._difference import format_number
from cluewise.explain.columns import Column, time_of

__all__ = ["ROWS", "Condition", "Rule", "find_rule"]

ROWS = 20_000
"""Maximum number of rows that a tree is grown on; the rule is then measured on all rows."""

_DEPTH = 3
_LEVELS = 20  # levels of a category that a tree may ask for
_SLACK = 0.01  # a shorter rule may be so much worse


class Condition(NamedTuple):
    """One condition of a rule: an empty cell fulfills none of <, ≥ and is.

    Examples
    --------
    >>> from cluewise.explain import Condition
    >>> print(Condition("age", "<", 27.0))
    age < 27
    """

    column: str
    operator: str  # "<", "≥", "is", "is not", "is empty", "is not empty"
    value: Any = None

    def __str__(self) -> str:
        value = _write_all(self.value) if isinstance(self.value, float) else self.value
        return " ".join(str(part) for part in (self.column, self.operator, value) if part is not None)


def _write_all(number: float) -> str:
    """The number with as many digits as it needs: 16 of them would write 9.8 as 9.800000000000001."""
    texts = (format_number(number, digits) for digits in range(1, 18))
    return next(text for text in texts if float(text) == number)


@dataclass(frozen=True)
class Rule:
    """Conditions that describe a cluster; print it to read it.

    Attributes
    ----------
    conditions : tuple of Condition
        What a row has to fulfill.
    precision : float
        Share of the rows that fulfill them which are in the cluster.
    coverage : float
        Share of the rows of the cluster that fulfill them.

    Examples
    --------
    >>> import cluewise as cw
    >>> found = cw.describe([0, 0, 1, 1], {"spend": [40.0, 44.0, 10.0, 11.0]})
    >>> print(found[0].rule)
    spend ≥ 30: covers 100 %, precision 100 %
    """

    conditions: tuple[Condition, ...]
    precision: float
    coverage: float

    def __str__(self) -> str:
        words = " and ".join(map(str, self.conditions))
        return f"{words}: covers {100 * self.coverage:.0f} %, precision {100 * self.precision:.0f} %"


Path = list[tuple[int, float, bool]]  # feature, threshold, and whether a row is below it


class _Feature(NamedTuple):
    """A column of the tree."""

    column: Column
    level: int | None  # None: the number itself; -1: whether it is empty

    def values(self, rows: Ints) -> Floats:
        cells = self.column.values[rows]
        if self.level is None:
            return cells.astype(np.float64)
        empty = np.isnan(cells) if self.column.is_ordered else cells < 0
        return (empty if self.level < 0 else cells == self.level).astype(np.float64)

    def condition(self, threshold: float, below: bool) -> Condition:
        name = self.column.name
        if self.level is None:
            value: Any = time_of(threshold) if self.column.kind == "date" else threshold
            return Condition(name, "<" if below else "≥", value)
        if self.level < 0:
            return Condition(name, "is not empty" if below else "is empty")
        if below and len(self.column.levels) == 2 and not self.column.missing.any():
            return Condition(name, "is", self.column.levels[1 - self.level])
        return Condition(name, "is not" if below else "is", self.column.levels[self.level])

    def separate(self, low: float, high: float) -> float:
        """A number above ``low`` and at most ``high`` that is short to write."""
        if self.column.kind == "date":
            return float(np.floor(high)) if np.floor(high) > low else high
        middle = low / 2 + high / 2
        for digits in range(1, 17):
            for text in (f"{middle:.{digits}g}", f"{high:.{digits}g}"):
                if low < float(text) <= high:
                    return float(text)
        return high

    def holds(self, threshold: float, below: bool) -> Bools:
        values = self.values(np.arange(len(self.column.values)))
        return values < threshold if below else values >= threshold  # nan fulfills neither


def find_rule(columns: list[Column], inside: Bools, rng: np.random.Generator) -> Rule | None:
    """Find the path of a tree that describes the rows ``inside`` best, by the F-score; None if nothing does."""
    from sklearn.tree import DecisionTreeClassifier

    features = [feature for column in columns for feature in _list_features(column)]
    if not features or inside.all() or not inside.any():
        return None
    rows, weight = _sample(inside, rng)
    # Ranks instead of values: a tree is the same, and no value is too large for it.
    X, grids = np.empty((len(rows), len(features))), []
    for j, feature in enumerate(features):
        X[:, j], grid = _rank(feature.values(rows))
        grids.append(grid)
    holes = np.isnan(X)
    target = inside[rows]
    balanced = weight * np.where(target, 0.5 / inside.mean(), 0.5 / (1 - inside.mean()))
    filled = np.where(holes, [len(grid) // 2 for grid in grids], X)
    tree = DecisionTreeClassifier(max_depth=_DEPTH, random_state=0).fit(filled, target, sample_weight=balanced)
    scores: dict[int, tuple[float, Path]] = {0: (0.0, [])}  # the best of each length
    for path in _list_paths(tree.tree_):
        chosen = np.ones(len(rows), dtype=bool)
        for j, threshold, below in path:
            chosen &= X[:, j] <= threshold if below else X[:, j] > threshold  # nan fulfills neither
        hits = float(weight[chosen & target].sum())
        score = 2 * hits / float(weight[chosen].sum() + inside.sum())
        if score > scores.get(len(path), (0.0, []))[0]:
            scores[len(path)] = score, path
    best = max(score for score, _ in scores.values())
    path = next(path for _, (score, path) in sorted(scores.items()) if score >= best - _SLACK)
    return _measure(features, _tighten(path, grids, features), inside) if path else None


def _rank(values: Floats) -> tuple[Floats, Floats]:
    """The rank of each value among the different ones, which come along; nan stays."""
    held = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    grid, ranks[held] = np.unique(values[held], return_inverse=True)
    return ranks, grid


def _list_features(column: Column) -> list[_Feature]:
    found = [_Feature(column, None)] if column.is_ordered else []
    if column.kind == "category":
        counts = np.bincount(column.values[column.values >= 0].astype(np.int64), minlength=len(column.levels))
        found += [_Feature(column, int(level)) for level in np.argsort(-counts, kind="stable")[:_LEVELS]]
    return [*found, _Feature(column, -1)] if column.missing.any() else found


def _sample(inside: Bools, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Rows for a tree, and how many rows each stands for; of many rows, as many of the cluster as of the rest."""
    if len(inside) <= ROWS:
        return np.arange(len(inside)), np.ones(len(inside))
    parts = [np.flatnonzero(inside), np.flatnonzero(~inside)]
    drawn = [part if len(part) <= ROWS // 2 else rng.choice(part, ROWS // 2, replace=False) for part in parts]
    weight = [np.full(len(some), len(part) / len(some)) for some, part in zip(drawn, parts)]
    return np.concatenate(drawn), np.concatenate(weight)


def _list_paths(tree: Any) -> list[Path]:
    """Paths from the root to all nodes, also with some of their conditions left out."""
    paths: dict[tuple[tuple[int, float, bool], ...], None] = {}
    nodes: list[tuple[int, Path]] = [(0, [])]
    while nodes:
        node, path = nodes.pop()
        for length in range(1, len(path) + 1):
            paths |= dict.fromkeys(combinations(path, length))
        if tree.children_left[node] >= 0:
            step = int(tree.feature[node]), float(tree.threshold[node])
            nodes.append((tree.children_left[node], [*path, (*step, True)]))
            nodes.append((tree.children_right[node], [*path, (*step, False)]))
    return [list(path) for path in paths]


def _tighten(path: Path, grids: list[Floats], features: list[_Feature]) -> Path:
    """Keep the narrowest bounds of each feature, as values that are short to write."""
    bounds: dict[tuple[int, bool], float] = {}
    for j, threshold, below in path:
        known = bounds.get((j, below), threshold)
        bounds[j, below] = min(known, threshold) if below else max(known, threshold)
    found = []
    for (j, below), threshold in bounds.items():
        grid, at = grids[j], int(threshold)
        slack = len(grid) // 500  # a few of many rows may go to the other side for the sake of a short number
        low, high = grid[max(at - slack, 0)], grid[min(at + 1 + slack, len(grid) - 1)]
        found.append((j, features[j].separate(float(low), float(high)), below))
    return found


def _measure(features: list[_Feature], path: Path, inside: Bools) -> Rule | None:
    """Precision and coverage on all rows."""
    chosen = np.ones(len(inside), dtype=bool)
    for j, threshold, below in path:
        chosen &= features[j].holds(threshold, below)
    hits = int((chosen & inside).sum())
    if not hits:
        return None
    conditions = tuple(features[j].condition(threshold, below) for j, threshold, below in path)
    return Rule(conditions, hits / int(chosen.sum()), hits / int(inside.sum()))
