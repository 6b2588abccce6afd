"""The file of a model: a ZIP archive of JSON and arrays, with a checksum of everything."""

from __future__ import annotations

import io
import json
import os
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._interrupts import deferred
from cluewise._typing import Array
from cluewise._version import __version__
from cluewise.models._classes import UnknownClass
from cluewise.models._values import Decoder, Encoder
from cluewise.tables import FileError, atomic, read_bytes, writing

__all__ = ["Saved", "load", "read", "save", "write"]

FORMAT, VERSION = "cluewise model", 1
INDEX = "cluewise-model.json"
"""The first entry of the archive; by its name a file is recognized."""

DIGEST = 64
"""Letters of the checksum, which is the comment at the end of the archive: it covers all bytes before."""

_LOCAL_HEADER = 30  # bytes before the name of an entry
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal models make equal files


class Saved(NamedTuple):
    """A model, and what was saved with it.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.models import Saved
    >>> Saved(cw.PCKMeans(2), {"rows": None}).model.n_clusters
    2
    """

    model: Any
    sections: dict[str, Any]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model in one file, without pickles.

    Parameters
    ----------
    model : estimator
        A fitted clusterer of cluewise, or one that consists of such and of arrays: made by ``then``, or a
        `ClueSearchCV`.
    path : str or path
        The file, by custom with the suffix ``.cw``. An old file stays as it is until the new one is complete.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import cluewise as cw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.cw"
    >>> model = cw.PCKMeans(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> cw.save(model, path)
    >>> cw.load(path).predict([[0.5], [9.5]]).tolist() == model.predict([[0.5], [9.5]]).tolist()
    True
    """
    write(path, model, {})


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` has written.

    No code in the file is run and no class but those of a model is made. Most numbers in it are taken as they are,
    though: if somebody changed them on purpose, predictions may be wrong, and compiled code may read memory at a wrong
    place. Load only files from people whom you trust.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        A model with the same parameters and fitted attributes, which predicts as before, bit for bit. A `Cluewise` has
        only the rows that it predicts from, up to about 60,000, and no graph: ``resume(X)`` before an update.

    Examples
    --------
    >>> import cluewise as cw
    >>> cw.load("no-such-model.cw")
    Traceback (most recent call last):
    ...
    cluewise.tables._columns.FileError: there is no file 'no-such-model.cw'.
    """
    return read(path).model


def write(path: str | os.PathLike[str], model: Any, sections: Mapping[str, Any]) -> None:
    """Save a model, and with it named values such as how the columns of a table were prepared.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import cluewise as cw
    >>> from cluewise import models
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.cw"
    >>> model = cw.PCKMeans(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> models.write(path, model, {"rows": {"columns": ["x"]}})
    >>> models.read(path).sections
    {'rows': {'columns': ['x']}}
    """
    check_is_fitted(model)
    encoder = Encoder()
    try:
        tree = {
            "model": encoder.encode(model, type(model).__name__),
            "sections": {name: encoder.encode(value, name) for name, value in sections.items()},
        }
    except RecursionError:
        raise ValueError(
            f"{type(model).__name__} is nested too deeply, or holds itself, and cannot be saved."
        ) from None
    index = {"format": FORMAT, "version": VERSION, "cluewise": __version__, "arrays": len(encoder.arrays)} | tree
    with atomic(path) as aside, writing(path):
        with aside.open("wb") as stream, deferred():  # zipfile cannot close an archive that was interrupted
            _pack(stream, json.dumps(index, allow_nan=False).encode(), encoder.arrays)
        _seal(aside)


def read(path: str | os.PathLike[str]) -> Saved:
    """Read a model, and what was saved with it.

    Examples
    --------
    >>> from cluewise import models
    >>> models.read("no-such-model.cw")
    Traceback (most recent call last):
    ...
    cluewise.tables._columns.FileError: there is no file 'no-such-model.cw'.
    """
    data = read_bytes(path)
    _check_whole(data, path)
    with _naming(path):
        index, arrays = _unpack(data, path)
        decoder = Decoder(arrays)
        model = decoder.decode(index["model"])
        check_is_fitted(model)
        sections = {str(name): decoder.decode(value) for name, value in index["sections"].items()}
    version = index.get("cluewise")
    if version != __version__:
        warnings.warn(
            f"'{path}' was saved by cluewise {version} and is used by {__version__}; if it fails or predicts something "
            "else than before, fit the model again.",
            stacklevel=3,
        )
    return Saved(model, sections)


def _pack(stream: Any, index: bytes, arrays: list[Array]) -> None:
    # Nothing is compressed: then no small file can fill the memory.
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = b"0" * DIGEST
        archive.writestr(zipfile.ZipInfo(INDEX, _EPOCH), index)
        for number, array in enumerate(arrays):
            with archive.open(zipfile.ZipInfo(_name(number), _EPOCH), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _name(number: int) -> str:
    return f"arrays/{number}.npy"


def _seal(path: Path) -> None:
    """Write the checksum over the last bytes."""
    digest = sha256()
    with path.open("r+b") as stream:
        left = path.stat().st_size - DIGEST
        while left:
            block = stream.read(min(left, 2**20))
            digest.update(block)
            left -= len(block)
        stream.seek(-DIGEST, os.SEEK_END)
        stream.write(digest.hexdigest().encode())


def _check_whole(data: bytes, path: str | os.PathLike[str]) -> None:
    """Refuse what is not a model, or not as it was saved."""
    if not (data.startswith(b"PK\x03\x04") and data[_LOCAL_HEADER:].startswith(INDEX.encode())):
        raise FileError(f"'{path}' is not a saved model; `cluewise fit --save` and `cluewise.save` write them.")
    if sha256(memoryview(data)[:-DIGEST]).hexdigest().encode() != data[-DIGEST:]:
        raise FileError(f"'{path}' is damaged: it was cut off or changed after it was saved; save the model again.")


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever is wrong with the content of a file into one sentence that names it."""
    try:
        yield
    except (FileError, MemoryError):
        raise
    except UnknownClass as error:
        raise FileError(
            f"'{path}' holds a {error}, which is not a class that a model of cluewise consists of."
        ) from None
    # Files that other programs have made raise errors of many kinds.
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"'{path}' is not a model that cluewise has saved ({why}).") from error


def _unpack(data: bytes, path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Array]]:
    """The index and the arrays of an archive, each of which is bounded by the size of the file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 for entry in entries):
            raise ValueError("an entry is compressed or encrypted")
        if sum(entry.file_size for entry in entries) > len(data):
            raise ValueError("its entries are larger than the file")
        index = json.loads(archive.read(INDEX))
        if not isinstance(index, dict) or index.get("format") != FORMAT:
            raise ValueError(f"{INDEX} is not the index of a model")
        version = index["version"]
        if type(version) is not int or version < 1:
            raise ValueError(f"it is of version {version!r}")
        if version > VERSION:
            raise FileError(
                f"'{path}' is of version {version}, and this cluewise ({__version__}) reads models up to version "
                f"{VERSION}; upgrade cluewise."
            )
        names = [INDEX, *map(_name, range(len(entries) - 1))]
        if index["arrays"] != len(entries) - 1 or [entry.filename for entry in entries] != names:
            raise ValueError("it has other entries than its index says")
        return index, [_read_array(archive.read(name)) for name in names[1:]]


def _read_array(content: bytes) -> Array:
    """An array whose header is true to what follows; never one of objects, which would be pickled."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"an array is of version {version}")
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = header(stream)
    if dtype.hasobject:
        raise ValueError("an array holds objects")
    size = int(np.prod(shape, dtype=object))
    if not dtype.itemsize or min(shape, default=0) < 0 or size * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array has another size than its header says")
    flat = np.frombuffer(content, dtype, count=size, offset=stream.tell())
    return flat.reshape(shape, order="F" if by_columns else "C").copy(order="K")
