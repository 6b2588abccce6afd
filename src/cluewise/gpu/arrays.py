"""Arrays of other libraries as torch tensors and back, without copies."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from cluewise._typing import Array

__all__ = [
    "SINGLE",
    "as_numpy",
    "as_rows",
    "as_shared",
    "find_device",
    "find_precision",
    "find_room",
    "gather",
    "give_back",
    "join",
    "numpy_type",
    "one_thread",
]

FLOATS = {
    torch.float64: torch.float64,
    torch.float32: torch.float32,
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
}
"""The precision in which floats are added up; whole numbers become float64."""

SINGLE = torch.float32

DEVICES = ("cpu", "cuda")
"""Where there is double precision, which sums need."""


def as_rows(X: Any) -> torch.Tensor:
    """X as a tensor of rows; an error says what it has to be."""
    x = X.detach() if isinstance(X, torch.Tensor) else torch.from_dlpack(X)
    if x.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; it has {x.ndim}.")
    if x.layout != torch.strided or x.dtype.is_complex or x.is_quantized:
        raise TypeError(f"X must be a dense tensor of real numbers; it is {x.dtype} with layout {x.layout}.")
    if x.device.type not in DEVICES:
        raise TypeError(f"X is on the device {x.device}; move it to the processor or to a CUDA device.")
    return x


def as_shared(X: Array) -> torch.Tensor:
    """The same rows as a tensor in the memory of this process, which nobody may change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about arrays that are not to be written, as maps of files
        return torch.from_numpy(X)


def find_device(name: str) -> torch.device | None:
    """A device by its name; None if it is not there."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"device={name!r} is not a device of torch, such as 'cuda' or 'cuda:1'.") from None
    if device.type not in DEVICES:
        raise ValueError(f"device={name!r} is not one of a kind that is used; these are {' and '.join(DEVICES)}.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        return None
    return device


def find_room(device: torch.device) -> int:
    """Free memory of a device, in bytes; the processor shares that of the rows."""
    return 2**62 if device.type == "cpu" else int(torch.cuda.mem_get_info(device)[0])


def gather(parts: list[torch.Tensor], rows: list[Array], device: torch.device) -> torch.Tensor:
    """Some rows of each part, on a device."""
    return join([part[torch.as_tensor(own, device=part.device)].to(device) for part, own in zip(parts, rows)])


def join(parts: list[torch.Tensor]) -> torch.Tensor:
    """One after the other."""
    return torch.cat(parts)


def find_precision(x: torch.Tensor) -> torch.dtype:
    """The precision in which rows are worked on: single for half precision, double for whole numbers."""
    return FLOATS.get(x.dtype, torch.float64)


def numpy_type(x: torch.Tensor) -> Any:
    """The same as a type of NumPy."""
    return np.dtype(np.float32 if find_precision(x) == torch.float32 else np.float64)


def as_numpy(x: torch.Tensor) -> Array:
    """A small result in the memory of this process."""
    return x.cpu().numpy()


def give_back(X: Any) -> Callable[[torch.Tensor], Any]:
    """What turns a tensor into an array of the kind of X."""
    if isinstance(X, torch.Tensor):
        return lambda found: found
    if isinstance(X, np.ndarray):
        return as_numpy
    if hasattr(X, "__array_namespace__"):
        return X.__array_namespace__().from_dlpack
    return sys.modules[type(X).__module__.partition(".")[0]].from_dlpack  # CuPy


@contextmanager
def one_thread(x: torch.Tensor) -> Iterator[None]:
    """Work on the processor with one thread: torch's threads wait for each other, for long if others work, too."""
    before = torch.get_num_threads()
    if x.device.type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
