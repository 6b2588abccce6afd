"""The folder of an `SCSC`: its partitions, weights and votes, and the clues that it was given."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._typing import Array
from cluewise.clues import Clues
from cluewise.ensemble._aligned import Aligned
from cluewise.ensemble._reports import ReportLog, Reports
from cluewise.ensemble._sequence import State
from cluewise.ensemble._votes import Standing
from cluewise.tables.folders import INDEX, Folder, StateError

if TYPE_CHECKING:
    from cluewise.ensemble._scsc import SCSC

__all__ = ["DamagedWeights", "Reports", "load", "load_log", "load_unlearned", "refuse_model", "save"]

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


def refuse_model(path: str | Path) -> None:
    """Refuse a folder that holds a model already."""
    if (Path(path) / INDEX).exists():
        raise ValueError(f"'{path}' holds a model already.")


def save(model: SCSC, path: str | Path, extra: dict[str, Any] | None = None) -> None:
    """Write a model, and ``extra`` in the same step; None keeps the extra that is there."""
    folder = _open(path)
    with folder.save() as (old, new):
        partitions = _save_partitions(model, folder, old.get("partitions"))
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
            "dtype": np.dtype(model._dtype).name,
            "n": model._ensemble.n,
            "seen": model._state.seen,
            "partitions": partitions,
            "weights": folder.write_arrays("weights", _weights(model)),
            "votes": _save_votes(model, folder, old.get("votes")),
            "groups": groups,
            "extra": extra,
        }


def load(path: str | Path) -> tuple[SCSC, dict[str, Any]]:
    """The model of a folder, and the extra that was saved with it."""
    folder = _open(path)
    index = folder.read_index()
    model, labels = _read_partitions(folder, index)
    log, kept = _read_log(folder, index)
    with folder.naming(index, "weights", DamagedWeights):
        model._state = State(kept["gamma"], kept["violated"], kept.get("loss"), float(index["seen"]))
        model._publish(kept["trace"].tolist())
        model._elect(Aligned(labels, kept["clusters"], kept["spelled"]), np.dtype(index["dtype"]))
        model._base = kept["base"]
        model._log = log
    if index["votes"] is not None:
        # Votes only save time: if they are damaged, they are counted again.
        with suppress(StateError), folder.naming(index, "votes"):
            stored = folder.read_arrays(index, "votes")
            standing = Standing(stored["gamma"], stored["winner"], stored["lead"])
            model._labels = standing.winner.astype(np.int32)
            model._standing = standing
            model._stored = (index["votes"], id(standing))
    return model, index["extra"]


def load_unlearned(path: str | Path) -> tuple[SCSC, dict[str, Any], float]:
    """The model of a folder before it had any clues, its extra, and the weight of the links that it had."""
    folder = _open(path)
    index = folder.read_index()
    model, labels = _read_partitions(folder, index)
    with folder.naming(index, "partitions"):
        model._begin(labels, labels.shape[1], np.dtype(index["dtype"]))
    return model, index["extra"], float(index["seen"])


def load_log(path: str | Path) -> tuple[ReportLog, dict[str, Any]]:
    """The clues that the model of a folder was given, even if its partitions are damaged, and its extra."""
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
    state, ensemble = model._state, model._ensemble
    arrays: dict[str, Array] = {
        "gamma": state.gamma,
        "violated": state.violated,
        "base": model._base,
        "trace": model.trace_,
        "clusters": ensemble.clusters,
        "spelled": ensemble.spelled,
        **model._log.reports._asdict(),
    }
    arrays["source"] = np.array(model._log.reports.source.tolist(), dtype=str)
    return arrays if state.loss is None else arrays | {"loss": state.loss}


def _save_partitions(model: SCSC, folder: Folder, known: str | None) -> str:
    """Write the labels of the partitions, unless the folder has them; they are large and never change."""
    labels = model._ensemble.labels
    mapped = getattr(labels, "filename", None)
    if known is not None and (
        (mapped is not None and Path(mapped) == (folder.path / known).resolve())
        or model.__dict__.get("_saved") == known
    ):
        return known
    model._saved = folder.write_array("partitions", labels)
    return model._saved


def _save_votes(model: SCSC, folder: Folder, known: str | None) -> str | None:
    """Write who won and by how much, so that the next session need not count all rows again."""
    standing = model._standing
    if standing is None:
        return None
    if known is None or model.__dict__.get("_stored") != (known, id(standing)):
        votes = {"gamma": standing.gamma, "winner": standing.winner, "lead": standing.lead}
        known = folder.write_arrays("votes", votes)
        model._stored = (known, id(standing))
    return known


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
