"""Arrays of other libraries as torch tensors and back, without copies."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
    "bring",
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
        return torch.from_numpy(X if min(X.strides) >= 0 else X.copy())


def find_device(name: str) -> torch.device | None:
    """A device by its name; None if it is not there."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"device={name!r} is not a device of torch, such as 'cuda' or 'cuda:1'.") from None
    if device.type not in DEVICES:
        raise ValueError(f"device={name!r} is not one of a kind that is used; these are {' and '.join(DEVICES)}.")
    if device.type == "cpu":
        return device
    if (device.index or 0) >= torch.cuda.device_count():
        return None
    return torch.device("cuda", torch.cuda.current_device() if device.index is None else device.index)


def find_room(device: torch.device) -> int:
    """Free memory of a device, in bytes; the processor shares that of the rows."""
    return 2**62 if device.type == "cpu" else int(torch.cuda.mem_get_info(device)[0])


def bring(parts: list[torch.Tensor], device: torch.device) -> Iterator[torch.Tensor]:
    """The parts on a device, one after the other; while one is worked on, a thread sends the next one there."""
    if all(part.device == device for part in parts):
        yield from parts
        return
    sender = _Sender(parts, device)
    with ThreadPoolExecutor(1) as thread:
        ahead = thread.submit(sender.send, 0)
        for number in range(len(parts)):
            part, sent = ahead.result()
            torch.cuda.current_stream(device).wait_event(sent)
            if number + 1 < len(parts):
                ahead = thread.submit(sender.send, number + 1)
            yield part


class _Sender:
    """Sends parts to a card by a stream of its own, from two buffers in memory that is not swapped."""

    def __init__(self, parts: list[torch.Tensor], device: torch.device) -> None:
        self._parts, self._device = parts, device
        self._stream, self._work = torch.cuda.Stream(device), torch.cuda.current_stream(device)
        largest = max(parts, key=len)
        self._buffers = [torch.empty_like(largest, pin_memory=True) for _ in range(2)]
        self._sent = [torch.cuda.Event() for _ in range(2)]

    def send(self, number: int) -> tuple[torch.Tensor, torch.cuda.Event]:
        part, sent = self._parts[number], self._sent[number % 2]
        sent.synchronize()  # the buffer may still be read
        buffer = self._buffers[number % 2][: len(part)]
        buffer.copy_(part)
        with torch.cuda.device(self._device), torch.cuda.stream(self._stream):
            found = buffer.to(self._device, non_blocking=True)
            sent.record(self._stream)
        found.record_stream(self._work)
        return found, sent


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
