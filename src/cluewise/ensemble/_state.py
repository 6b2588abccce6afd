"""A model on disk: a folder of arrays and one JSON file, which names the arrays that belong together.

Every save writes new files beside the old ones and then replaces ``state.json`` in one step; whatever happens before
that step, the folder still holds the earlier model, and whatever happens after it, the new one. No pickles.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise import tables
from cluewise._typing import Array
from cluewise.clues import Clues
from cluewise.ensemble._aligned import Aligned
from cluewise.ensemble._sequence import State
from cluewise.ensemble._told import Reports, Told
from cluewise.ensemble._votes import Standing

if TYPE_CHECKING:
    from cluewise.ensemble._scsc import SCSC

__all__ = ["INDEX", "StateError", "load", "save"]

INDEX = "state.json"
FORMAT = "cluewise SCSC"
VERSION = 1
_OURS = re.compile(r"(partitions|weights|votes|groups|\.cluewise)-[0-9a-f]{16}\.(npy|npz|json)")
_PARAMETERS = ("n_clusters", "n_partitions", "update_rule", "memory", "trust", "inertia", "hard")


class StateError(ValueError):
    """A folder that holds no model, or not a whole one.

    Examples
    --------
    >>> from cluewise.ensemble._state import load
    >>> load("nowhere")
    Traceback (most recent call last):
    ...
    cluewise.ensemble._state.StateError: 'nowhere' holds no state.json, so there is no model in it.
    """


def save(model: SCSC, path: str | Path, extra: dict[str, Any] | None = None) -> None:
    """Write a model; ``extra`` is kept with it, in the same step, and what was kept before stays if there is none."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    known = _index(folder) if (folder / INDEX).exists() else {}
    names: dict[str, Any] = {"partitions": _partitions(model, folder, known.get("partitions"))}
    if extra is None:
        extra = known.get("extra", {})
        if extra and names["partitions"] != known["partitions"]:
            raise StateError(f"'{folder}' holds another model and the clues that it was given; choose another folder.")
    names["weights"] = _arrays(folder, "weights", _weights(model))
    names["votes"] = _votes(model, folder, known.get("votes"))
    names["groups"] = None
    if model._told.groups is not None:
        names["groups"] = _fresh("groups", "json")
        model._told.groups.write(folder / names["groups"])
    index = {
        "format": FORMAT,
        "version": VERSION,
        "parameters": {name: _plain(getattr(model, name)) for name in _PARAMETERS},
        "n_features_in": getattr(model, "n_features_in_", None),
        "dtype": np.dtype(model._dtype).name,
        "seen": model._state.seen,
        **names,
        "extra": extra,
    }
    with tables.atomic(folder / INDEX) as aside:
        aside.write_text(json.dumps(index, indent=1, allow_nan=False), "utf-8")
    # From here on nobody needs the files of the earlier save.
    for file in folder.iterdir():
        if _OURS.fullmatch(file.name) and file.name not in names.values():
            with suppress(OSError):
                file.unlink()


def load(path: str | Path) -> tuple[SCSC, dict[str, Any]]:
    """The model of a folder, and what was kept with it."""
    from cluewise.ensemble._scsc import SCSC

    folder = Path(path)
    index = _index(folder)
    try:
        model = SCSC(**index["parameters"])
        model._validate_params()
        partitions: Any = np.load(folder / index["partitions"], mmap_mode="r", allow_pickle=False)
        with np.load(folder / index["weights"], allow_pickle=False) as stored:
            kept = {name: stored[name] for name in stored.files}
        n = partitions.shape[1]
        groups = None if index["groups"] is None else Clues.read(folder / index["groups"], n=n)
        loss = kept.get("loss")
        model._state = State(kept["gamma"], kept["violated"], loss, float(index["seen"]))
        model._publish(kept["trace"].tolist())
        model._elect(Aligned(partitions, kept["clusters"], kept["spelled"]), np.dtype(index["dtype"]))
        model._base = kept["base"]
        reports = Reports(*(kept[name] for name in Reports._fields))._replace(source=kept["source"].astype(object))
        model._told = Told.again(n, reports, groups)
        if index["votes"] is not None:
            with np.load(folder / index["votes"], allow_pickle=False) as stored:
                model._standing = Standing(stored["gamma"], stored["winner"], stored["lead"])
            model._labels = model._standing.winner.astype(np.int32)
            model._stored = (index["votes"], id(model._standing))
        if index["n_features_in"] is not None:
            model.n_features_in_ = index["n_features_in"]
    except (KeyError, OSError, TypeError, ValueError) as error:
        raise StateError(f"the model in '{folder}' cannot be read: {error}") from error
    return model, index["extra"]


def _index(folder: Path) -> Any:
    try:
        index = json.loads((folder / INDEX).read_text("utf-8"))
    except FileNotFoundError:
        raise StateError(f"'{folder}' holds no {INDEX}, so there is no model in it.") from None
    except (OSError, ValueError) as error:
        raise StateError(f"'{folder / INDEX}' cannot be read: {error}") from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise StateError(f"'{folder / INDEX}' is not the {INDEX} of a model.")
    if index.get("version") != VERSION:
        raise StateError(f"'{folder}' is of version {index.get('version')}; this cluewise reads version {VERSION}.")
    return index


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
        **model._told.reports._asdict(),
    }
    arrays["source"] = np.array(model._told.reports.source.tolist(), dtype=str)
    return arrays if state.loss is None else arrays | {"loss": state.loss}


def _partitions(model: SCSC, folder: Path, known: str | None) -> str:
    """The labels of the partitions, written only if the folder does not hold them yet."""
    labels = model._ensemble.labels
    file = getattr(labels, "filename", None)
    if known is not None and (
        (file is not None and Path(file) == (folder / known).resolve()) or model.__dict__.get("_saved") == known
    ):
        return known
    name = _fresh("partitions", "npy")
    with (folder / name).open("wb") as stream:
        np.lib.format.write_array(stream, labels, allow_pickle=False)
        _sync(stream)
    model._saved = name
    return name


def _votes(model: SCSC, folder: Path, known: str | None) -> str | None:
    """Who won and by how much, so that the next session need not count all rows again."""
    standing = model._standing
    if standing is None:
        return None
    if known is not None and model.__dict__.get("_stored") == (known, id(standing)):
        return known
    name = _arrays(folder, "votes", {"gamma": standing.gamma, "winner": standing.winner, "lead": standing.lead})
    model._stored = (name, id(standing))
    return name


def _arrays(folder: Path, what: str, arrays: dict[str, Array]) -> str:
    name = _fresh(what, "npz")
    with (folder / name).open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]
        _sync(stream)
    return name


def _fresh(what: str, suffix: str) -> str:
    return f"{what}-{secrets.token_hex(8)}.{suffix}"


def _sync(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
