"""Rows as a torch tensor, or as an array of another library that offers DLPack: read in passes on their device.

To methods, such rows are `Chunks`. What runs on a chunk has a twin for tensors: the function of the same name, without
a leading underscore, in the module ``_on_device`` of its package. Twins return what their counterparts return, but
where this has an entry for each row, it is a tensor on the device of the rows.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from cluewise._extras import install
from cluewise._typing import Array, Floats, Ints
from cluewise.core.chunks import Chunks, Scan, _pick

__all__ = ["Tensors", "find_twin", "import_arrays", "read_tensor", "send"]

T = TypeVar("T")

SHARE = 2
"""Rows of a NumPy array are moved to a device as a whole if its free memory is so many times as large."""

logger = logging.getLogger("cluewise")


class Tensors(Chunks):
    """Rows on a device, as one chunk; or rows in the memory of this process, of which a chunk at a time is moved there.

    Parameters
    ----------
    array : array
        The rows, as they were given: results are of this kind.
    parts : list of torch.Tensor
        The same rows in chunks.
    device : torch.device
        Where to work.
    """

    keeps = True
    two_levels = False

    def __init__(self, array: Any, parts: list[Any], device: Any) -> None:
        from cluewise.gpu.arrays import give_back, numpy_type

        self.array = array
        self.sizes = np.array([len(part) for part in parts], dtype=np.int64)
        self.d = int(parts[0].shape[1])
        self.dtype = numpy_type(parts[0])
        self.found = None
        self.weight = None
        self._parts = parts
        self._device = device
        self._give_back = give_back(array)

    def reduce(
        self,
        function: Callable[..., T],
        combine: Callable[[Sequence[T]], T],
        *shared: Any,
        each: Sequence[tuple[Any, ...]] | None = None,
    ) -> T:
        """One pass: what the twin of ``function`` returns for every chunk, combined in their order."""
        return combine(list(self._pass(function, shared, each)))

    def take(self, rows: Ints) -> Array:
        """Some rows, by their numbers, in the given order, in the memory of this process."""
        wanted, place = np.unique(rows, return_inverse=True)
        pick = find_twin(_pick)
        return np.concatenate([pick(part, mine) for part, mine in zip(self._parts, self.split(wanted))])[place]

    def gather(self, rows: Ints) -> Any:
        """Some rows, ascending, on the device."""
        arrays = import_module("cluewise.gpu.arrays")
        return arrays.gather(self._parts, self.split(rows), self._device)

    def gather_kept(self, kept: Sequence[Any], rows: Ints) -> Any:
        """Entries of some rows, ascending, of what `keep` returned, on the device."""
        arrays = import_module("cluewise.gpu.arrays")
        return arrays.gather(kept, self.split(rows), self._device)

    def call(self, function: Callable[..., T], rows: Any, *arguments: Any) -> T:
        """What the twin of ``function`` returns for rows that were gathered, or that are in memory and are sent now."""
        from cluewise.gpu.arrays import as_shared, one_thread

        rows = as_shared(rows).to(self._device) if isinstance(rows, np.ndarray) else rows
        with one_thread(rows):
            return find_twin(function)(rows, *arguments)

    def keep(
        self, function: Callable[..., Array], *shared: Any, each: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        """What the twin of ``function`` returns for each chunk, where its rows are."""
        found = self._pass(function, shared, each)
        return [values.to(self._parts[number].device) for number, values in enumerate(found)]

    def weigh(self, weight: Any) -> Scan:
        """Say that rows of tensors have no weights."""
        raise ValueError("sample_weight is not used if X is a tensor; pass X as a NumPy array.")

    def map(
        self,
        function: Callable[..., Array],
        *shared: Any,
        dtype: Any,
        each: Sequence[tuple[Any, ...]] | None = None,
        width: int | None = None,
    ) -> Any:
        """What the twin of ``function`` returns, with an entry for each row, in the kind of the rows."""
        return self._give_back(_join(self.keep(function, *shared, each=each)))

    def derive(self, function: Callable[..., Array], *shared: Any, dtype: Any, width: int) -> Chunks:
        """The rows that the twin of ``function`` makes of these, where these are."""
        return Tensors(self.array, self.keep(function, *shared), self._device)

    def _pass(self, function: Any, shared: tuple[Any, ...], each: Sequence[tuple[Any, ...]] | None) -> Iterator[Any]:
        """What the twin of ``function`` returns for each chunk, on the device."""
        from cluewise.gpu.arrays import bring, one_thread

        twin = find_twin(function)
        for number, part in enumerate(bring(self._parts, self._device)):
            with one_thread(part):
                found = twin(part, *shared, *(() if each is None else each[number]))
            yield found


def read_tensor(X: Any) -> Tensors:
    """The rows of a tensor, or of an array that offers DLPack."""
    x = import_arrays(f"to cluster {_describe(X)}").as_rows(X)
    return Tensors(X, [x], x.device)


def send(X: Floats, device: str) -> Tensors | None:
    """Rows of a NumPy array, to be worked on elsewhere; None, after a warning, if there is no such device.

    Rows that fit are moved there once, others in each pass, chunk by chunk.
    """
    arrays = import_arrays(f"for device={device!r}")
    place = arrays.find_device(device)
    if place is None:
        warnings.warn(f"there is no device {device!r} here; rows are worked on by the processor.", stacklevel=4)
        return None
    rows, room = arrays.as_shared(X), arrays.find_room(place)
    if X.nbytes * SHARE <= room:
        return Tensors(X, [rows.to(place)], place)
    size = max(room // (2 * SHARE * X.itemsize * X.shape[1]), 1)
    parts = [rows[start : start + size] for start in range(0, len(X), size)]
    logger.info(
        "X takes %.3g GB, and the device %s has %.3g GB: each pass moves the rows there in %d parts.",
        *(X.nbytes / 1e9, device, room / 1e9, len(parts)),
    )
    return Tensors(X, parts, place)


def find_twin(function: Callable[..., Any]) -> Callable[..., Any]:
    """What does the work of ``function``, which takes a chunk, for tensors."""
    package = ".".join(function.__module__.split(".")[:2])
    return getattr(import_module(f"{package}._on_device"), function.__name__.lstrip("_"))


def import_arrays(what: str) -> Any:
    """The module `gpu.arrays`; without torch, an error names the extra, and ``what`` needs it."""
    try:
        return import_module("cluewise.gpu.arrays")
    except ImportError as error:
        raise ImportError(f"{what} you need torch: {install('torch')}") from error


def _describe(X: Any) -> str:
    return f"a {type(X).__module__.partition('.')[0]}.{type(X).__name__}"


def _join(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else import_module("cluewise.gpu.arrays").join(parts)
