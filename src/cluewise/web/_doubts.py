"""What is doubtful: clues that are probably wrong, contradictions, rows between clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.active import Answer
from cluewise.clues import Clues
from cluewise.web._fits import Fit, entry_of
from cluewise.workspace import items
from cluewise.workspace.data import Data

__all__ = [
    "channel",
    "clue_words",
    "contradictions_json",
    "diagnose",
    "link_doubts",
    "suspects_json",
    "touching",
    "unsure_json",
]

SUSPECTS, CONTRADICTIONS, UNSURE = 100, 20, 20
WRONG = 0.5
"""Doubt from which on a clue is suspected."""


def clue_words(kind: str, rows: tuple[int, ...], source: str, fit: Fit, data: Data) -> tuple[int | None, str]:
    """The entry that a clue comes from, and the clue as a sentence."""
    entry = entry_of(source, fit.state)
    said = None if entry is None else fit.said.get(entry)
    if isinstance(said, Answer):
        words = items.words(said, data)
        return entry, f"{words} ({said.who})" if said.who else words
    names = [data.name(row) for row in rows]
    if kind == "label":
        words = f"{names[0]} is of the class {fit.clues.classes_[fit.clues.labels[rows[0]]]}"
    else:
        words = f"{names[0]} and {names[1]} belong {'together' if kind == 'must' else 'apart'}"
    return entry, f"{words} ({said.shown if said is not None else source})"


def suspects_json(fit: Fit, data: Data) -> list[dict[str, Any]]:
    """Clues that are more likely wrong than right, the most doubtful first."""
    clues = fit.clues
    labeled = np.flatnonzero(clues.labels >= 0)
    every = [
        *(("must", tuple(pair), str(source)) for pair, source in zip(clues.must.tolist(), clues.must_source)),
        *(("cannot", tuple(pair), str(source)) for pair, source in zip(clues.cannot.tolist(), clues.cannot_source)),
        *(("label", (row,), _label_source(clues, row)) for row in labeled.tolist()),
    ]
    order = np.argsort(-np.nan_to_num(fit.doubted), kind="stable")[:SUSPECTS]
    found = []
    for at in order.tolist():
        if not fit.doubted[at] >= WRONG:
            break
        kind, rows, source = every[at]
        entry, words = clue_words(kind, rows, source, fit, data)
        right = float(1 - fit.doubted[at])
        found.append({"entry": entry, "words": words, "rows": list(rows), "right": right, "kind": kind})
    return found


def contradictions_json(fit: Fit, data: Data) -> list[dict[str, Any]]:
    """Answers that cannot all be right, each with the chain that proves it."""
    found = []
    for conflict in fit.clues.contradictions[:CONTRADICTIONS]:
        ends = (conflict.first, conflict.second)
        a, b = (data.name(row) for row in ends)
        entry, words = clue_words("cannot", ends, conflict.source, fit, data)
        if conflict.kind == "labels":
            words = f"{a} and {b} have different labels"
        steps = [{"entry": entry, "words": words, "rows": list(ends)}]
        for first, second, why in conflict.chain:
            entry, words = clue_words("must", (first, second), why.partition("(")[2].removesuffix(")"), fit, data)
            steps.append({"entry": entry, "words": words, "rows": [first, second]})
        found.append({"words": f"{a} and {b} belong apart, but other clues join them.", "steps": steps})
    return found


def unsure_json(fit: Fit, data: Data) -> list[dict[str, Any]]:
    """The rows that are least sure of their cluster; none where all are equally sure."""
    if not fit.revision or len(fit.ids) < 2:
        return []
    count = min(UNSURE, len(fit.margins))
    rows = np.argpartition(fit.margins, count - 1)[:count]
    rows = rows[np.argsort(fit.margins[rows], kind="stable")]
    rows = rows[fit.margins[rows] < np.median(fit.margins)].tolist()
    return [{"row": row, "name": data.name(row), "margin": float(fit.margins[row])} for row in rows]


def diagnose(fit: Fit, X: Floats | None, seed: int) -> str:
    """The doctor's report; without the rows it is about the clues alone, and quick."""
    from cluewise.advice import check

    k = len(fit.ids) if fit.revision and len(fit.ids) > 1 else None
    return str(check(fit.clues, X, n_clusters=k, random_state=seed))


def link_doubts(fit: Fit) -> Mapping[tuple[str, tuple[int, ...]], float]:
    """Doubt of each clue by its kind and rows."""
    found: dict[tuple[str, tuple[int, ...]], float] = {}
    for kind, pairs, doubt in (
        ("must", fit.clues.must, fit.must_doubt),
        ("cannot", fit.clues.cannot, fit.cannot_doubt),
    ):
        found |= {(kind, tuple(pair)): value for pair, value in zip(pairs.tolist(), doubt.tolist())}
    for row in np.flatnonzero(fit.clues.labels >= 0).tolist():
        found["label", (row,)] = float(fit.label_doubt[row])
    return found


def touching(row: int, fit: Fit, data: Data) -> list[dict[str, Any]]:
    """The clues about a row."""
    found, clues = [], fit.clues
    for kind, pairs, sources in (
        ("must", clues.must, clues.must_source),
        ("cannot", clues.cannot, clues.cannot_source),
    ):
        for at in np.flatnonzero((pairs == row).any(axis=1)).tolist():
            pair = tuple(pairs[at].tolist())
            entry, words = clue_words(kind, pair, str(sources[at]), fit, data)
            found.append({"entry": entry, "words": words, "broken": (*pair, kind == "must") in fit.broken_links})
    if clues.labels[row] >= 0:
        entry, words = clue_words("label", (row,), _label_source(clues, row), fit, data)
        found.append({"entry": entry, "words": words, "broken": row in fit.broken_labels})
    return found


def _label_source(clues: Clues, row: int) -> str:
    return "given" if clues.label_source is None else str(clues.label_source[row])


def channel(name: str, fit: Fit) -> tuple[Ints, list[str]]:
    """One value per row to color by, and what the values stand for; -1 stands for nothing."""
    clues = fit.clues
    if name == "known":
        return clues.labels.astype(np.int64), [str(one) for one in clues.classes_]
    if name == "confidence":
        return np.round(254 * np.clip(fit.margins, 0, 1)).astype(np.int64), []
    if name == "doubt":
        worst = np.where(clues.labels >= 0, np.nan_to_num(fit.label_doubt), -1.0)
        for pairs, doubt in ((clues.must, fit.must_doubt), (clues.cannot, fit.cannot_doubt)):
            for end in (0, 1):
                np.maximum.at(worst, pairs[:, end], doubt)
        return np.where(worst < 0, -1, np.round(254 * worst)).astype(np.int64), []
    legend: dict[str, int] = {}
    values = np.full(clues.n, -1, dtype=np.int64)
    people = {entry: said.who for entry, said in fit.said.items()}

    def code(source: str) -> int:
        entry = entry_of(source, fit.state)
        return legend.setdefault("given" if entry is None else people.get(entry) or "nobody", len(legend))

    for row in np.flatnonzero(clues.labels >= 0).tolist():
        values[row] = code(_label_source(clues, row))
    for pairs, sources in ((clues.must, clues.must_source), (clues.cannot, clues.cannot_source)):
        for pair, source in zip(pairs.tolist(), sources):
            values[pair] = code(str(source))
    return values, list(legend)
