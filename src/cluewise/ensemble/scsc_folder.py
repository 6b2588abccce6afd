"""The folder of an `SCSC`: its partitions, weights and votes, and the clues that it was given."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._typing import Array
from cluewise.clues import Clues
from cluewise.ensemble._aligned import Ensemble
from cluewise.ensemble._election import Election
from cluewise.ensemble._reports import ReportLog, Reports
from cluewise.ensemble._sequence import State
from cluewise.ensemble._votes import Standing
from cluewise.tables.folders import Folder, StateError

if TYPE_CHECKING:
    from cluewise.ensemble._scsc import SCSC

__all__ = ["DamagedWeights", "Reports", "load", "load_log", "load_unlearned", "save"]

_PARAMETERS = ("n_clusters", "n_partitions", "update_rule", "memory", "trust", "inertia", "hard")


class DamagedWeights(StateError):
    """What was learned from clues cannot be read, but the partitions can.

    Examples
    --------
    >>> from cluewise.ensemble.scsc_folder import DamagedWeights
    >>> from cluewise.tables.folders import StateError
    >>> issubclass(DamagedWeights, StateError)
    True
    """


def _open(path: str | Path) -> Folder:
    return Folder(
        path,
        format="cluewise SCSC",
        version=2,
        kinds=("partitions", "weights", "votes", "groups"),
        fields=("parameters", "extra", "seen", "dtype", "n_features_in"),
        unchecked=1,
    )


def save(model: SCSC, path: str | Path, extra: dict[str, Any] | None = None) -> None:
    """Write a model, and ``extra`` in the same step; None keeps the extra that is there."""
    folder = _open(path)
    with folder.save() as (old, new):
        partitions = _save_partitions(model._election, folder, old.get("partitions"))
        if extra is None:
            extra = old.get("extra", {})
            if extra and partitions != old["partitions"]:
                raise StateError(
                    f"'{folder.path}' holds another model and the clues that it was given; choose another folder."
                )
        groups = None
        if model._log.groups is not None:
            groups = folder.new_name("groups", "json")
            model._log.groups.write(folder.path / groups)
        new |= {
            "parameters": {name: _plain(getattr(model, name)) for name in _PARAMETERS},
            "n_features_in": getattr(model, "n_features_in_", None),
            "dtype": model._election.dtype.name,
            "n": model._log.n,
            "seen": model._state.seen,
            "partitions": partitions,
            "weights": folder.write_arrays("weights", _weights(model)),
            "votes": _save_votes(model._election, folder, old.get("votes")),
            "groups": groups,
            "extra": extra,
        }


def load(path: str | Path) -> tuple[SCSC, dict[str, Any]]:
    """Read the model of a folder, and the extra that was saved with it."""
    folder = _open(path)
    index = folder.read_index()
    model, labels = _read_partitions(folder, index)
    log, kept = _read_log(folder, index)
    standing = _read_votes(folder, index)
    with folder.naming(index, "weights", DamagedWeights):
        state = State(kept["gamma"], kept["violated"], kept.get("loss"), float(index["seen"]))
        ensemble = Ensemble(labels, kept["clusters"], kept["spelled"])
        election = Election(ensemble, state.gamma, hard=model.hard, dtype=index["dtype"], standing=standing)
        election.base = kept["base"]
        election.partitions_file = index["partitions"]
        election.votes_file = None if standing is None else index["votes"]
        model._publish(log, state, election, kept["trace"].tolist())
    return model, index["extra"]


def load_unlearned(path: str | Path) -> tuple[SCSC, dict[str, Any], float]:
    """Read the model of a folder as it was before any clues, its extra, and the weight of the links that it had."""
    folder = _open(path)
    index = folder.read_index()
    model, labels = _read_partitions(folder, index)
    with folder.naming(index, "partitions"):
        model._begin(labels, labels.shape[1], np.dtype(index["dtype"]))
        model._election.partitions_file = index["partitions"]
    return model, index["extra"], float(index["seen"])


def load_log(path: str | Path) -> tuple[ReportLog, dict[str, Any]]:
    """Read the clues that a model was given, even if its partitions are damaged, and its extra."""
    folder = _open(path)
    index = folder.read_index()
    return _read_log(folder, index)[0], index["extra"]


def _read_partitions(folder: Folder, index: dict[str, Any]) -> tuple[SCSC, Array]:
    from cluewise.ensemble._scsc import SCSC

    with folder.naming(index, "partitions"):
        model = SCSC(**index["parameters"])
        model._validate_params()
        labels: Any = np.load(folder.find_file(index, "partitions"), mmap_mode="r", allow_pickle=False)
        if index["n_features_in"] is not None:
            model.n_features_in_ = index["n_features_in"]
    return model, labels


def _read_votes(folder: Folder, index: dict[str, Any]) -> Standing | None:
    """The outcome of the last vote; damaged votes are counted again, since they only save time."""
    if index["votes"] is not None:
        with suppress(StateError), folder.naming(index, "votes"):
            votes = folder.read_arrays(index, "votes")
            return Standing(votes["gamma"], votes["winner"], votes["lead"])
    return None


def _read_log(folder: Folder, index: dict[str, Any]) -> tuple[ReportLog, dict[str, Array]]:
    with folder.naming(index, "partitions"):
        # Version 1 did not say how many rows there are.
        n = index["n"] if "n" in index else np.load(folder.path / index["partitions"], mmap_mode="r").shape[1]
    with folder.naming(index, "weights", DamagedWeights):
        kept = folder.read_arrays(index, "weights")
        reports = Reports(*(kept[name] for name in Reports._fields))._replace(source=kept["source"].astype(object))
    groups = None
    if index["groups"] is not None:
        with folder.naming(index, "groups", DamagedWeights):
            groups = Clues.read(folder.find_file(index, "groups"), n=n)
    return ReportLog.restore(n, reports, groups), kept


def _weights(model: SCSC) -> dict[str, Array]:
    """Everything small: weights, sums over links, links, tables of names."""
    state, election = model._state, model._election
    arrays: dict[str, Array] = {
        "gamma": state.gamma,
        "violated": state.violated,
        "base": election.base,
        "trace": model.trace_,
        "clusters": election.ensemble.clusters,
        "spelled": election.ensemble.codes,
        **model._log.reports._asdict(),
    }
    arrays["source"] = np.array(model._log.reports.source.tolist(), dtype=str)
    return arrays if state.loss is None else arrays | {"loss": state.loss}


def _save_partitions(election: Election, folder: Folder, known: str | None) -> str:
    """Write the labels of the partitions, unless the folder has them; they are large and never change."""
    if known is None or election.partitions_file != known:
        election.partitions_file = known = folder.write_array("partitions", election.ensemble.labels)
    return known


def _save_votes(election: Election, folder: Folder, known: str | None) -> str | None:
    """Write who won and by how much, so that the next session need not count all rows again."""
    standing = election.standing
    if standing is None:
        return None
    if known is None or election.votes_file != known:
        votes = {"gamma": standing.gamma, "winner": standing.winner, "lead": standing.lead}
        election.votes_file = known = folder.write_arrays("votes", votes)
    return known


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
