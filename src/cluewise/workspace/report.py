"""The report of a fit: everything that is worth keeping, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from cluewise._typing import Ints
from cluewise._version import __version__
from cluewise.clues import Clues
from cluewise.metrics import broken, satisfaction
from cluewise.rows import Rows
from cluewise.workspace.data import Data

__all__ = ["KINDS", "count_clues", "in_words", "list_plan", "percent", "report"]

KINDS = {
    "labels": "labels",
    "must": "must-links",
    "cannot": "cannot-links",
    "together": "together groups",
    "apart": "apart groups",
    "partitions": "rows in partitions",
    "sizes": "cluster sizes",
}
_UNSURE = 5
_REPORTED = 100  # suspects


def report(model: Any, data: Data, *, seconds: float, seed: int, rows: Rows) -> dict[str, Any]:
    """Everything about a fit that is worth keeping."""
    labels, clues = model.labels_, data.clues
    failed, ignored = model.broken_, clues.kinds - model.card.accepts
    if ignored:  # the fit leaves these kinds out; the report says what became of them all the same
        failed = failed | broken(labels, clues.only(ignored))
    kept = satisfaction(labels, clues)
    if "labels" in kept:
        kept["labels"] = 1 - int((failed.labels >= 0).sum()) / int((clues.labels >= 0).sum())
    # One price for all links, one for must-links and one for cannot-links, or None.
    price = np.asarray(model.penalty_, dtype=float).tolist() if hasattr(model, "penalty_") else None
    found = np.unique(labels[labels >= 0])
    k = None if model.card.finds else model.n_clusters
    if k is None:
        k = int(labels.max()) + 1
    margin = model.margin_ if hasattr(model, "margin_") and k > 1 else np.empty(0)
    if (margin == margin[:1]).all():  # no row is less sure than others
        margin = margin[:0]
    variation: Any = []
    if clues.avoid:
        from cluewise.alternative.avoid import variation as information_apart

        variation = information_apart(labels, clues)
    harm = getattr(model, "harm_", np.nan)
    return {
        "cluewise": __version__,
        "method": type(model).__name__,
        "parameters": model.get_params(),
        "penalty": price,
        "data": data.table.name,
        "rows": len(labels),
        "columns": [plan.name for plan in rows.plan_ if plan.width],
        "column_plan": list_plan(rows),
        "notes": data.table.notes,
        "standardized": rows.balance,
        "clusters": len(found),
        "sizes": np.bincount(labels[labels >= 0], minlength=k),
        "noise": int((labels < 0).sum()),
        "classes": _classes(labels, clues, k),
        "objective": getattr(model, "objective_", None),
        "iterations": getattr(model, "n_iter_", None),
        "satisfaction": kept,
        "variation": variation,
        "broken": list(_broken(failed, data, price if isinstance(price, float) else None)),
        "choice": _choice(model.choice_) if hasattr(model, "choice_") else None,
        "trust": getattr(model, "trust_", {}),
        "harm": None if np.isnan(harm) else harm,
        "harm_unknown": model.choice_.harm_unknown if hasattr(model, "harm_") and np.isnan(harm) else None,
        "suspects": _suspects(model, data) if hasattr(model, "doubt_") else [],
        "unsure": [data.name(int(row)) for row in np.argsort(margin, kind="stable")[:_UNSURE]],
        "ids": np.arange(k),
        "names": {},
        "seconds": round(seconds, 4),
        "seed": seed,
    }


def _classes(labels: Any, clues: Clues, k: int) -> list[dict[str, int]]:
    """How often each known label occurs in each cluster."""
    found: list[dict[str, int]] = []
    for cluster in range(k):
        codes = clues.labels[(labels == cluster) & (clues.labels >= 0)]
        counts = np.bincount(codes, minlength=len(clues.classes_))
        order = np.argsort(-counts, kind="stable")
        found.append({str(clues.classes_[c]): int(counts[c]) for c in order if counts[c]})
    return found


def _broken(failed: Clues, data: Data, price: float | None) -> Iterator[dict[str, Any]]:
    for kind in ("must", "cannot"):
        pairs, weight = getattr(failed, kind), getattr(failed, f"{kind}_weight")
        for (a, b), w, source in zip(pairs.tolist(), weight.tolist(), getattr(failed, f"{kind}_source")):
            entry = {"kind": kind, "rows": [data.name(a), data.name(b)], "weight": w, "source": source}
            yield entry if price is None else entry | {"cost": price * w}
    yield from _labels(failed, np.flatnonzero(failed.labels >= 0), data)
    for kind in ("together", "apart"):
        for column in getattr(failed, kind):
            for name, w in zip(column.names, column.weights.tolist()):
                yield {"kind": kind, "group": str(name), "weight": w, "source": column.source}
    if failed.partitions:
        rows = sum(int((failed.partition_codes(t) >= 0).sum()) for t in range(len(failed.partitions)))
        yield {"kind": "partition", "count": rows}
    if failed.sizes is not None:
        yield {"kind": "size"}


def _labels(clues: Clues, rows: Ints, data: Data) -> list[dict[str, Any]]:
    return [
        {
            "kind": "label",
            "rows": [data.name(row)],
            "label": str(clues.classes_[clues.labels[row]]),
            "source": "given" if clues.label_source is None else clues.label_source[row],
        }
        for row in rows.tolist()
    ]


def _choice(choice: Any) -> dict[str, Any]:
    """What was compared, best first, what was taken, and why."""
    tried = sorted(choice.scores, key=choice.scores.__getitem__, reverse=True)
    return {
        "taken": choice.plan._asdict(),
        "reason": choice.reason,
        "gain": choice.gain,
        "gain_error": choice.gain_error,
        "tried": [
            plan._asdict() | {"score": choice.scores[plan], "score_error": choice.errors[plan]} for plan in tried
        ],
    }


def _suspects(model: Any, data: Data) -> list[dict[str, Any]]:
    """The clues that are more likely wrong than right, as `cluewise.suspects` finds them.

    That function is not called because its package loads all families.
    """
    clues = model.clues_
    entries = [
        {"kind": kind, "rows": [data.name(row) for row in pair], "source": str(source)}
        for kind in ("must", "cannot")
        for pair, source in zip(getattr(clues, kind).tolist(), getattr(clues, f"{kind}_source"))
    ]
    doubt = np.asarray(model.doubt_, dtype=np.float64)
    if hasattr(model, "label_doubt_"):
        rows = np.flatnonzero(clues.labels >= 0)
        entries += _labels(clues, rows, data)
        doubt = np.concatenate([doubt, model.label_doubt_[rows]])
    order = np.argsort(-doubt, kind="stable")
    return [entries[i] | {"doubt": float(doubt[i])} for i in order[doubt[order] >= 0.5][:_REPORTED].tolist()]


def count_clues(clues: Clues) -> dict[str, int]:
    """How many clues of each kind there are."""
    return {
        "labels": int((clues.labels >= 0).sum()),
        "must": len(clues.must),
        "cannot": len(clues.cannot),
        "together": sum(len(g.weights) for g in clues.together),
        "apart": sum(len(g.weights) for g in clues.apart),
    }


def in_words(entry: dict[str, Any]) -> str:
    """A clue of the report as text."""
    match entry["kind"]:
        case "must" | "cannot" as kind:
            what = f"{kind}-link {entry['rows'][0]} – {entry['rows'][1]}"
        case "label":
            what = f"label {entry['label']} of {entry['rows'][0]}"
        case "together" | "apart" as kind:
            what = f"{kind} group {entry['group']}"
        case "partition":
            return f"partition: {entry['count']} rows are not in the cluster of most rows of their part"
        case _:
            return "the bounds on cluster sizes"
    return f"{what} ({entry['source']})"


def list_plan(rows: Rows) -> list[dict[str, Any]]:
    """What became of each column."""
    return [asdict(plan) for plan in rows.plan_]


def percent(share: float) -> str:
    """A share as text."""
    return f"{100 * share:.1f} %"
