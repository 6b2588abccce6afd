"""``cluewise fit --auto --method A,B``: a search among methods and numbers of clusters by held-out clues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluewise.cli import _show
from cluewise.cli._progress import SearchBar

if TYPE_CHECKING:
    from cluewise._typing import Floats
    from cluewise.advice import Suggestion
    from cluewise.clues import Clues

__all__ = ["as_data", "choose", "probe", "show"]

_ALL = "all"  # in place of names
_SECONDS = 60.0  # for the search


def probe(methods: str, penalty: str | None) -> Any:
    """An estimator that says how they take the columns; refuses options that leave nothing to choose."""
    if penalty is not None:
        raise ValueError("--auto chooses by itself; leave --penalty out.")
    from cluewise.catalogue import get

    return get((_names(methods) or ["PCKMeans"])[0])()


def choose(
    X: Floats,
    clues: Clues,
    clusters: int | None,
    methods: str,
    seed: int,
    time_limit: float | None,
    *,
    quiet: bool,
) -> Suggestion:
    """The suggestion for these rows; its best method is fitted."""
    from cluewise.advice import suggest
    from cluewise.cli._method import check_seconds
    from cluewise.metrics import broken

    if clusters is not None and clusters < 1:
        raise ValueError(f"-k is {clusters}; there must be at least 1 cluster.")
    found = suggest(
        X,
        clues,
        clusters,
        methods=_names(methods),
        time_limit=_SECONDS if time_limit is None else check_seconds(time_limit),
        random_state=seed,
        callbacks=[] if quiet or not _show.is_watched() else [SearchBar()],
    )
    if not found.best_trial.clues:  # it knows nothing of them, but its report should
        found.best.broken_ = broken(found.best.labels_, clues.only(clues.kinds & found.best.card.accepts))
    return found


def _names(methods: str) -> list[str] | None:
    """Names of the methods to choose from; None for all."""
    from cluewise.catalogue import get

    return None if methods == _ALL else [get(name.strip()).__name__ for name in methods.split(",")]


def as_data(found: Suggestion) -> dict[str, Any]:
    """The suggestion for other programs."""
    rows = [dict(zip(found.columns, line)) for line in zip(*found.columns.values())]
    rivals = {t.name: {"clusters": t.n_clusters, "score": t.score, "error": t.error} for t, _ in found.rivals}
    return {
        "methods": rows,
        "not_tried": dict(found.left_out),
        "rivals": rivals,
        "searched": found.n_searched,
        "uses_clues": found.best_trial.clues,
        "verdict": found.verdict,
    }


def show(found: Suggestion) -> None:
    """The suggestion for people: a short table and a sentence."""
    lines = [(t, found.reasons[t.name]) for t in found.methods] + found.rivals
    _show.table(
        ["method", "clusters", "score", "±", "seconds", "why"],
        [[t.name, str(t.n_clusters), f"{t.score:.3f}", f"{t.error:.3f}", f"{t.seconds:.3g}", why] for t, why in lines],
    )
    _show.say(f"{found.verdict}\n")
