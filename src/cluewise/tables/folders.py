"""Folders of files that belong together, such as saved models: an index names the files and is replaced in one step.

Every save writes new files beside the old ones, then replaces ``state.json``. Before that step the folder holds the
earlier model, after it the new one, whatever happens. The index has a checksum of each file and one of itself, so that
damage is found and named. There are no pickles. Decision 0012 says what else was considered.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from cluewise._interrupts import deferred
from cluewise._typing import Array
from cluewise.tables._columns import FileError
from cluewise.tables._files import atomic

__all__ = ["INDEX", "Folder", "StateError", "checksum", "refuse_existing", "sync"]

INDEX = "state.json"


class StateError(ValueError):
    """A folder without a model, or with a damaged one.

    Examples
    --------
    >>> from cluewise import SCSC
    >>> SCSC.load("nowhere")
    Traceback (most recent call last):
    ...
    cluewise.tables.folders.StateError: 'nowhere' holds no state.json, so there is no model in it.
    """


class Folder:
    """A folder with an index and one file of each of some kinds.

    ``format`` and ``version`` say what the index describes, ``kinds`` which entries of it are names of files, and
    ``fields`` which other entries it must have. Versions up to ``unchecked`` have no checksums.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from cluewise.tables.folders import Folder
    >>> folder = Folder(tempfile.mkdtemp(), format="numbers", version=1, kinds=["x"], fields=["mean"])
    >>> with folder.save() as (old, new):
    ...     new["x"] = folder.write_arrays("x", {"x": np.arange(3)})
    ...     new["mean"] = 1.0
    >>> index = folder.read_index()
    >>> index["mean"], folder.read_arrays(index, "x")["x"].tolist()
    (1.0, [0, 1, 2])
    """

    def __init__(
        self,
        path: str | Path,
        *,
        format: str,
        version: int,
        kinds: Collection[str],
        fields: Collection[str],
        unchecked: int = 0,
    ) -> None:
        self.path = Path(path)
        self.format = format
        self.version = version
        self.kinds = kinds
        self.fields = fields
        self.unchecked = unchecked

    @contextmanager
    def save(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield the earlier index (or {}) and a new one to fill in; at the end the new one takes its place."""
        self.path.mkdir(parents=True, exist_ok=True)
        old = self._found()
        new: dict[str, Any] = {"format": self.format, "version": self.version}
        try:
            yield old, new
            sums = old.get("crc32", {})
            names = [new[kind] for kind in self.kinds if new[kind]]
            new["crc32"] = {name: sums.get(name) or checksum(self.path / name) for name in names}
            new["crc32"][INDEX] = _own_checksum(new)
            with atomic(self.path / INDEX) as aside:
                aside.write_text(json.dumps(new, indent=1, allow_nan=False), "utf-8")
        except BaseException as error:
            # A full disk needs the room. Ctrl-C may come after the index was replaced, so read which one is there.
            with suppress(StateError):
                self._sweep(self._found())
            if isinstance(error, OSError) and error.strerror:
                raise FileError(f"'{self.path}' cannot be written: {error.strerror.lower()}.") from None
            raise
        self._sweep(new)

    def read_index(self) -> dict[str, Any]:
        """The index, without its own checksum."""
        where = self.path / INDEX
        try:
            index = json.loads(where.read_text("utf-8"))
        except FileNotFoundError:
            raise StateError(f"'{self.path}' holds no {INDEX}, so there is no model in it.") from None
        except (OSError, ValueError, RecursionError) as error:
            raise StateError(f"'{where}' cannot be read ({error}); {self._advice}") from None
        if not isinstance(index, dict) or index.get("format") != self.format:
            raise StateError(f"'{where}' is not the {INDEX} of a model.")
        version = index.get("version")
        if version not in range(1, self.version + 1):
            raise StateError(
                f"'{self.path}' is of version {version}; this cluewise reads versions 1 to {self.version}."
            )
        with self.naming({"index": INDEX}, "index"):
            missing = {*self.fields, *self.kinds} - index.keys()
            if missing:
                raise ValueError(f"it has no {min(missing)}")
            if index["version"] > self.unchecked and index["crc32"].pop(INDEX) != _own_checksum(index):
                raise ValueError("its checksum differs")
        return index

    def _found(self) -> dict[str, Any]:
        return self.read_index() if (self.path / INDEX).exists() else {}

    def find_file(self, index: dict[str, Any], kind: str) -> Path:
        """The file of a kind, if it is what was saved."""
        path: Path = self.path / index[kind]
        if index["version"] > self.unchecked and checksum(path) != index["crc32"][index[kind]]:
            raise ValueError("its checksum differs")
        return path

    def read_arrays(self, index: dict[str, Any], kind: str) -> dict[str, Array]:
        """What `write_arrays` wrote."""
        with np.load(self.find_file(index, kind), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}

    def write_arrays(self, kind: str, arrays: Mapping[str, Array]) -> str:
        """Write arrays into a new file; its name."""
        name = self.new_name(kind, "npz")
        with (self.path / name).open("wb") as stream:
            with deferred():  # zipfile cannot close an archive that was interrupted
                np.savez(stream, **arrays)  # type: ignore[arg-type]
            sync(stream)
        return name

    def write_array(self, kind: str, array: Array) -> str:
        """Write one array into a new file that can be mapped into memory; its name."""
        name = self.new_name(kind, "npy")
        with (self.path / name).open("wb") as stream:
            np.lib.format.write_array(stream, array, allow_pickle=False)
            sync(stream)
        return name

    def new_name(self, kind: str, suffix: str) -> str:
        """A name that no file has."""
        return f"{kind}-{secrets.token_hex(8)}.{suffix}"

    @contextmanager
    def naming(self, index: dict[str, Any], kind: str, error: type[StateError] = StateError) -> Iterator[None]:
        """Turn whatever goes wrong with a file into one sentence that names it."""
        try:
            yield
        except StateError:
            raise
        except FileNotFoundError:
            raise error(f"'{self.path / index[kind]}' is missing; {self._advice}") from None
        # NumPy and zipfile raise errors of many kinds for a damaged file, and old versions have no checksums.
        except Exception as problem:
            where = self.path / str(index.get(kind, INDEX))
            raise error(f"'{where}' is damaged ({' '.join(str(problem).split())}); {self._advice}") from problem

    @property
    def _advice(self) -> str:
        return f"'cluewise rescue' saves the clues in '{self.path}' that are whole."

    def _sweep(self, index: dict[str, Any]) -> None:
        """Remove our files that the index does not name, as far as possible."""
        ours = re.compile(rf"({'|'.join(self.kinds)}|\.cluewise)-[0-9a-f]{{16}}\.(npy|npz|json)")
        for file in self.path.iterdir():
            if ours.fullmatch(file.name) and file.name not in [index.get(kind) for kind in self.kinds]:
                with suppress(OSError):
                    file.unlink()


def _own_checksum(index: dict[str, Any]) -> int:
    """The checksum of an index that does not hold its own yet."""
    return crc32(json.dumps(index, sort_keys=True).encode())


def checksum(path: Path) -> int:
    """The CRC-32 of a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.tables.folders import checksum
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


def sync(stream: Any) -> None:
    """Wait until the disk has everything that was written to an open file."""
    stream.flush()
    os.fsync(stream.fileno())


def refuse_existing(path: Path) -> None:
    """Refuse to write over a file."""
    if path.exists():
        raise FileError(f"'{path}' is there already; choose the name of a new file.")
