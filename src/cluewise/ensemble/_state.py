"""A model on disk: a folder of arrays and one JSON file, which names the arrays that belong together.

Every save writes new files beside the old ones and then replaces ``state.json`` in one step; whatever happens before
that step, the folder still holds the earlier model, and whatever happens after it, the new one. ``state.json`` also
holds checksums, its own among them, so that a damaged file is named and never believed. No pickles.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from cluewise import tables
from cluewise._interrupts import deferred
from cluewise._typing import Array
from cluewise.clues import Clues
from cluewise.ensemble._aligned import Aligned
from cluewise.ensemble._reports import ReportLog, Reports
from cluewise.ensemble._sequence import State
from cluewise.ensemble._votes import Standing

if TYPE_CHECKING:
    from cluewise.ensemble._scsc import SCSC

__all__ = ["INDEX", "DamagedWeights", "StateError", "checksum", "load", "load_log", "load_unlearned", "save"]

INDEX = "state.json"
FORMAT = "cluewise SCSC"
VERSION = 2  # version 1 had no checksums
_OURS = re.compile(r"(partitions|weights|votes|groups|\.cluewise)-[0-9a-f]{16}\.(npy|npz|json)")
_FILES = ("partitions", "weights", "votes", "groups")
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


class DamagedWeights(StateError):
    """What was learned from clues cannot be read, but the partitions can.

    Examples
    --------
    >>> from cluewise.ensemble._state import DamagedWeights, StateError
    >>> issubclass(DamagedWeights, StateError)
    True
    """


def save(model: SCSC, path: str | Path, extra: dict[str, Any] | None = None) -> None:
    """Write a model; ``extra`` is kept with it, in the same step, and what was kept before stays if there is none."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    known = _index(folder) if (folder / INDEX).exists() else {}
    names: dict[str, Any] = {}
    try:
        names["partitions"] = _partitions(model, folder, known.get("partitions"))
        if extra is None:
            extra = known.get("extra", {})
            if extra and names["partitions"] != known["partitions"]:
                raise StateError(
                    f"'{folder}' holds another model and the clues that it was given; choose another folder."
                )
        names["weights"] = _arrays(folder, "weights", _weights(model))
        names["votes"] = _votes(model, folder, known.get("votes"))
        names["groups"] = None
        if model._log.groups is not None:
            names["groups"] = _fresh("groups", "json")
            model._log.groups.write(folder / names["groups"])
        sums = known.get("crc32", {})
        index = {
            "format": FORMAT,
            "version": VERSION,
            "parameters": {name: _plain(getattr(model, name)) for name in _PARAMETERS},
            "n_features_in": getattr(model, "n_features_in_", None),
            "dtype": np.dtype(model._dtype).name,
            "n": model._ensemble.n,
            "seen": model._state.seen,
            **names,
            "extra": extra,
            "crc32": {name: sums.get(name) or checksum(folder / name) for name in names.values() if name},
        }
        index["crc32"][INDEX] = _own(index)
        with tables.atomic(folder / INDEX) as aside:
            aside.write_text(json.dumps(index, indent=1, allow_nan=False), "utf-8")
    except BaseException as error:
        # A full disk needs the room. Ctrl-C may come when the new index is in its place, so that one is asked.
        with suppress(StateError):
            _sweep(folder, _index(folder) if (folder / INDEX).exists() else {})
        if isinstance(error, OSError) and error.strerror:
            raise tables.FileError(f"'{folder}' cannot be written: {error.strerror.lower()}.") from None
        raise
    _sweep(folder, index)  # nothing refers to the files of the earlier save any more


def _sweep(folder: Path, index: dict[str, Any]) -> None:
    """Remove the files that belong to no model, as far as that can be done."""
    for file in folder.iterdir():
        if _OURS.fullmatch(file.name) and file.name not in [index.get(kind) for kind in _FILES]:
            with suppress(OSError):
                file.unlink()


def load(path: str | Path) -> tuple[SCSC, dict[str, Any]]:
    """The model of a folder, and what was kept with it."""
    folder = Path(path)
    index = _index(folder)
    model, labels = _read_partitions(folder, index)
    log, kept = _read_log(folder, index)
    with _named(folder, index, "weights", DamagedWeights):
        model._state = State(kept["gamma"], kept["violated"], kept.get("loss"), float(index["seen"]))
        model._publish(kept["trace"].tolist())
        model._elect(Aligned(labels, kept["clusters"], kept["spelled"]), np.dtype(index["dtype"]))
        model._base = kept["base"]
        model._log = log
    if index["votes"] is not None:
        # Only a count of the votes: without it they are counted again.
        with suppress(StateError), _named(folder, index, "votes", StateError):
            stored = _read_arrays(folder, index, "votes")
            standing = Standing(stored["gamma"], stored["winner"], stored["lead"])
            model._labels = standing.winner.astype(np.int32)
            model._standing = standing
            model._stored = (index["votes"], id(standing))
    return model, index["extra"]


def load_unlearned(path: str | Path) -> tuple[SCSC, dict[str, Any], float]:
    """The model of a folder before it was given clues, what was kept with it, and the weight of the links it had."""
    folder = Path(path)
    index = _index(folder)
    model, labels = _read_partitions(folder, index)
    with _named(folder, index, "partitions", StateError):
        model._begin(labels, labels.shape[1], np.dtype(index["dtype"]))
    return model, index["extra"], float(index["seen"])


def load_log(path: str | Path) -> tuple[ReportLog, dict[str, Any]]:
    """The clues that the model of a folder was given, whether or not its partitions are whole."""
    folder = Path(path)
    index = _index(folder)
    return _read_log(folder, index)[0], index["extra"]


def _read_partitions(folder: Path, index: dict[str, Any]) -> tuple[SCSC, Array]:
    from cluewise.ensemble._scsc import SCSC

    with _named(folder, index, "partitions", StateError):
        model = SCSC(**index["parameters"])
        model._validate_params()
        _verify(folder, index, "partitions")
        labels: Any = np.load(folder / index["partitions"], mmap_mode="r", allow_pickle=False)
        if index["n_features_in"] is not None:
            model.n_features_in_ = index["n_features_in"]
    return model, labels


def _read_log(folder: Path, index: dict[str, Any]) -> tuple[ReportLog, dict[str, Array]]:
    with _named(folder, index, "partitions", StateError):
        # Version 1 did not say how many rows there are.
        n = index["n"] if "n" in index else np.load(folder / index["partitions"], mmap_mode="r").shape[1]
    with _named(folder, index, "weights", DamagedWeights):
        kept = _read_arrays(folder, index, "weights")
        reports = Reports(*(kept[name] for name in Reports._fields))._replace(source=kept["source"].astype(object))
    groups = None
    if index["groups"] is not None:
        with _named(folder, index, "groups", DamagedWeights):
            _verify(folder, index, "groups")
            groups = Clues.read(folder / index["groups"], n=n)
    return ReportLog.restore(n, reports, groups), kept


def _read_arrays(folder: Path, index: dict[str, Any], kind: str) -> dict[str, Array]:
    _verify(folder, index, kind)
    with np.load(folder / index[kind], allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _verify(folder: Path, index: dict[str, Any], kind: str) -> None:
    """Refuse a file that is not what was saved."""
    if index["version"] > 1 and checksum(folder / index[kind]) != index["crc32"][index[kind]]:
        raise ValueError("its checksum differs")


@contextmanager
def _named(folder: Path, index: dict[str, Any], kind: str, error: type[StateError]) -> Iterator[None]:
    """Whatever goes wrong with a file, as one sentence that names it."""
    try:
        yield
    except StateError:
        raise
    except FileNotFoundError:
        raise error(f"'{folder / index[kind]}' is missing; {_rescue(folder)}") from None
    # numpy and zipfile raise errors of many kinds for damaged files of version 1, which has no checksums.
    except Exception as problem:
        where = folder / str(index.get(kind, INDEX))
        raise error(f"'{where}' is damaged ({' '.join(str(problem).split())}); {_rescue(folder)}") from problem


def _rescue(folder: Path) -> str:
    return f"'cluewise rescue' saves the clues in '{folder}' that are whole."


def _index(folder: Path) -> Any:
    try:
        index = json.loads((folder / INDEX).read_text("utf-8"))
    except FileNotFoundError:
        raise StateError(f"'{folder}' holds no {INDEX}, so there is no model in it.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StateError(f"'{folder / INDEX}' cannot be read ({error}); {_rescue(folder)}") from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise StateError(f"'{folder / INDEX}' is not the {INDEX} of a model.")
    version = index.get("version")
    if version not in (1, VERSION):
        raise StateError(f"'{folder}' is of version {version}; this cluewise reads versions 1 to {VERSION}.")
    with _named(folder, {"index": INDEX}, "index", StateError):
        missing = {"parameters", "extra", "seen", "dtype", "n_features_in", *_FILES} - index.keys()
        if missing or (version > 1 and index["crc32"].pop(INDEX) != _own(index)):
            raise ValueError(f"it has no {sorted(missing)[0]}" if missing else "its checksum differs")
    return index


def _own(index: dict[str, Any]) -> int:
    """The checksum of everything in the index but itself."""
    return crc32(json.dumps(index, sort_keys=True).encode())


def checksum(path: Path) -> int:
    """The CRC-32 of a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.ensemble._state import checksum
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "file"
    >>> _ = path.write_text("123456789")
    >>> f"{checksum(path):x}"
    'cbf43926'
    """
    found = 0
    with path.open("rb") as stream:
        while block := stream.read(2**20):
            found = crc32(block, found)
    return found


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
        with deferred():  # zipfile cannot close an archive that was interrupted
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
