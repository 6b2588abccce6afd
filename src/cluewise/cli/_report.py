"""What there is to say after a fit: as data for machines, and as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cluewise._version import __version__
from cluewise.cli import _show
from cluewise.cli._data import Data
from cluewise.clues import Clues
from cluewise.clues.words import plural
from cluewise.metrics import broken, satisfaction

__all__ = ["KINDS", "report", "summary"]

KINDS = {
    "labels": "labels",
    "must": "must-links",
    "cannot": "cannot-links",
    "together": "together groups",
    "apart": "apart groups",
    "partitions": "rows in partitions",
    "sizes": "cluster sizes",
}
_LISTED = 5  # broken clues, suspects and unsure rows that the text lists
_REPORTED = 100  # suspects in the report


def report(model: Any, data: Data, *, seconds: float, seed: int, scaled: bool) -> dict[str, Any]:
    """Everything about a fit that is worth keeping."""
    labels, clues = model.labels_, data.clues
    # The fit leaves out kinds that it does not use; what became of them is worth knowing all the same.
    failed = model.broken_ | broken(labels, clues.only(clues.kinds - model.card.accepts))
    kept = satisfaction(labels, clues)
    if "labels" in kept:
        kept["labels"] = 1 - int((failed.labels >= 0).sum()) / int((clues.labels >= 0).sum())
    # One price for all links, one for must-links and one for cannot-links, or None.
    price = np.asarray(model.penalty_, dtype=float).tolist() if hasattr(model, "penalty_") else None
    found = np.unique(labels[labels >= 0])
    k = len(found) if model.card.finds else model.n_clusters
    return {
        "cluewise": __version__,
        "method": type(model).__name__,
        "parameters": model.get_params(),
        "penalty": price,
        "data": data.table.name,
        "rows": len(labels),
        "columns": data.columns,
        "standardized": scaled,
        "clusters": len(found),
        "sizes": np.bincount(labels[labels >= 0], minlength=k),
        "noise": int((labels < 0).sum()),
        "classes": _classes(labels, clues, k),
        "objective": model.objective_,
        "iterations": model.n_iter_,
        "satisfaction": kept,
        "variation": _variation(labels, clues),
        "broken": list(_broken(failed, data, price if isinstance(price, float) else None)),
        "suspects": _suspects(model, data),
        "unsure": _unsure(model, data),
        "seconds": round(seconds, 4),
        "seed": seed,
    }


def _variation(labels: Any, clues: Clues) -> Any:
    """Variation of information between the result and each clustering to avoid."""
    if not clues.avoid:
        return []
    from cluewise.alternative._avoided import variation

    return variation(labels, clues)


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
    for row in np.flatnonzero(failed.labels >= 0).tolist():
        source = "given" if failed.label_source is None else failed.label_source[row]
        yield {
            "kind": "label",
            "rows": [data.name(row)],
            "label": str(failed.classes_[failed.labels[row]]),
            "source": source,
        }
    for kind in ("together", "apart"):
        for column in getattr(failed, kind):
            for name, w in zip(column.names, column.weights.tolist()):
                yield {"kind": kind, "group": str(name), "weight": w, "source": column.source}
    if failed.partitions:
        rows = sum(int((failed.partition_codes(t) >= 0).sum()) for t in range(len(failed.partitions)))
        yield {"kind": "partition", "count": rows}
    if failed.sizes is not None:
        yield {"kind": "size"}


def _suspects(model: Any, data: Data) -> list[dict[str, Any]]:
    """The clues that are more likely wrong than right, if the method judges its clues."""
    if not hasattr(model, "doubt_"):
        return []
    from cluewise.advice import suspects  # brings all families with it

    return [
        {"kind": s.kind, "rows": [data.name(row) for row in s.rows], "source": s.source, "doubt": s.doubt}
        for s in suspects(model, n=_REPORTED, above=0.5)
    ]


def _unsure(model: Any, data: Data) -> list[str]:
    """The rows whose cluster leads by least."""
    margin = getattr(model, "margin_", None)
    if margin is None or model.n_clusters < 2:
        return []
    return [data.name(int(row)) for row in np.argsort(margin, kind="stable")[:_LISTED]]


def summary(told: dict[str, Any], clues: Clues, *, raw: bool) -> None:
    """Print a report for people; ``raw`` where they asked for columns as they are."""
    how = "standardized" if told["standardized"] else "as they are"
    if not raw and not told["standardized"]:
        how += " (counts are not standardized)"
    _show.say(
        f"{told['method']}: {plural(told['rows'], 'row')} of {told['data']} in {plural(told['clusters'], 'cluster')}"
        f"{' and noise' if told['noise'] else ''}, by {plural(len(told['columns']), 'column')} {how}."
    )
    labelled = any(told["classes"])
    rows = []
    for cluster, (size, classes) in enumerate(zip(told["sizes"], told["classes"])):
        known = ", ".join(f"{name} {count}" for name, count in classes.items())
        rows.append([str(cluster), str(size), _show.percent(size / told["rows"]), *([known] if labelled else [])])
    if told["noise"]:
        share = _show.percent(told["noise"] / told["rows"])
        rows.append(["noise", str(told["noise"]), share, *([""] if labelled else [])])
    _show.table(["cluster", "rows", "share", *(["known labels"] if labelled else [])], rows)
    if told["satisfaction"]:
        kept = told["satisfaction"]
        given = _given(clues)
        _show.table(
            ["clues", "given", "kept"],
            [[KINDS[kind], str(given.get(kind, "")), _show.percent(share)] for kind, share in kept.items()],
        )
    if len(told["variation"]):
        apart = ", ".join(f"{nats:.3g}" for nats in told["variation"])
        which = "clustering" if len(told["variation"]) == 1 else "clusterings"
        _show.say(f"Variation of information with the {which} to avoid: {apart} nats (0: the same).")
    _list_broken(told["broken"])
    for entry in told["suspects"][:_LISTED]:
        from cluewise.advice import format_doubt  # loaded already: there are suspects

        _show.say(f"Probably wrong ({format_doubt(entry['doubt'])}): {_in_words(entry)}.")
    iterations = plural(told["iterations"], "iteration")
    _show.say(f"Objective {told['objective']:.6g} after {iterations} ({told['seconds']:.2f} s, seed {told['seed']}).")
    if told["unsure"]:
        _show.say(f"Least sure: {', '.join(told['unsure'])}.")


def _given(clues: Clues) -> dict[str, int]:
    return {
        "labels": int((clues.labels >= 0).sum()),
        "must": len(clues.must),
        "cannot": len(clues.cannot),
        "together": sum(len(g.weights) for g in clues.together),
        "apart": sum(len(g.weights) for g in clues.apart),
    }


def _list_broken(entries: list[dict[str, Any]]) -> None:
    if not entries:
        return
    _show.say(f"{len(entries)} {'clue is' if len(entries) == 1 else 'clues are'} broken:")
    dearest = sorted(entries, key=lambda entry: -entry.get("cost", 0.0))
    for entry in dearest[:_LISTED]:
        _show.say(f"  {_in_words(entry)}")
    if len(entries) > _LISTED:
        _show.say(f"  … and {len(entries) - _LISTED} more (--report FILE lists all).")


def _in_words(entry: dict[str, Any]) -> str:
    match entry["kind"]:
        case "must" | "cannot" as kind:
            what = f"{kind}-link {entry['rows'][0]} – {entry['rows'][1]}"
        case "label":
            what = f"label {entry['label']} of {entry['rows'][0]}"
        case "together" | "apart" as kind:
            what = f"{kind} group {entry['group']}"
        case "partition":
            return f"partition: {entry['count']} rows are not with most of their kind"
        case _:
            return "the bounds on cluster sizes"
    return f"{what} ({entry['source']})"
