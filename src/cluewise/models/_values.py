"""Values as JSON and arrays, and back: whatever a fitted estimator holds, without pickles.

Text, whole numbers, finite numbers, booleans, None and lists are themselves in JSON. Everything else is an object with
one key, its kind, such as ``{"array": 3}`` for the fourth array of the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from cluewise._elsewhere import is_elsewhere
from cluewise._typing import Array
from cluewise.models._classes import UnknownClass, find_class, name_class

__all__ = ["Decoder", "Encoder"]

_BITS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_SPARSE = frozenset(f"{form}_{what}" for form in ("csr", "csc", "coo") for what in ("array", "matrix"))
_PLAIN = frozenset({bool, int, str, type(None)})  # the same in JSON
_LEFT_OUT = frozenset({"_skl_callbacks"})  # of a session, not of a model


class Encoder:
    """Turns values into JSON, and collects the arrays in them."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._numbers: dict[int, int] = {}  # of arrays, by their identity: a shared array is stored once

    def encode(self, value: Any, where: str) -> Any:
        """The value as JSON; ``where`` names it in errors."""
        if type(value) in _PLAIN:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return self._encode_all(value, where)
        for encode in (
            self._encode_array,
            self._encode_collection,
            self._encode_sparse,
            self._encode_random,
            self._encode_type,
        ):
            found = encode(value, where)
            if found is not None:
                return found
        return self._encode_object(value, where)

    def _encode_all(self, values: Sequence[Any], where: str) -> list[Any]:
        if all(type(value) in _PLAIN for value in values):  # quickly: there may be a name for each row
            return list(values)
        return [self.encode(value, f"{where}[{i}]") for i, value in enumerate(values)]

    def _encode_array(self, value: Any, where: str) -> Any:
        if isinstance(value, np.generic) and value.dtype.names is None:
            array = np.asarray(value)  # whose type is that of its bytes even if it is an empty text
            return {"scalar": array.dtype.str, "bytes": array.tobytes().hex()}
        if type(value) not in (np.ndarray, np.memmap):
            return None
        if value.dtype == object:
            return {"objects": self._encode_all(value.ravel().tolist(), where), "shape": list(value.shape)}
        return {"array": self._add(value)}

    def _add(self, array: Array) -> int:
        number = self._numbers.setdefault(id(array), len(self.arrays))
        if number == len(self.arrays):
            self.arrays.append(array)  # which also keeps its identity from being used again
        return number

    def _encode_collection(self, value: Any, where: str) -> Any:
        if type(value) is tuple:
            return {"tuple": self._encode_all(value, where)}
        if type(value) in (set, frozenset):
            return {type(value).__name__: self._encode_all(sorted(value, key=repr), where)}
        if type(value) is range:
            return {"range": [value.start, value.stop, value.step]}
        if type(value) is dict:
            return {"dict": [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        return None

    def _encode_sparse(self, value: Any, where: str) -> Any:
        if not (sparse.issparse(value) and type(value).__name__ in _SPARSE):
            return None
        places = value.coords if value.format == "coo" else (value.indices, value.indptr)
        parts = [self._add(part) for part in (value.data, *places)]
        return {"sparse": type(value).__name__, "shape": list(value.shape), "parts": parts}

    def _encode_random(self, value: Any, where: str) -> Any:
        if isinstance(value, np.random.Generator):
            return {"generator": self.encode(value.bit_generator.state, where)}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(value.get_state(legacy=False), where)}
        return None

    def _encode_type(self, value: Any, where: str) -> Any:
        if isinstance(value, np.dtype) and not value.hasobject and np.dtype(value.str) == value:  # not structured
            return {"dtype": value.str}
        if isinstance(value, type) and issubclass(value, np.number):
            return {"number": value.__name__}
        return None

    def _encode_object(self, value: Any, where: str) -> Any:
        cls = type(value)
        try:
            name = name_class(cls)
        except UnknownClass:
            what = f"the function {value!r}" if callable(value) else f"a {cls.__module__}.{cls.__qualname__}"
            raise ValueError(f"{where} is {what}, which a saved model cannot hold.") from None
        if isinstance(value, tuple):  # a NamedTuple
            return {"object": name, "fields": self._encode_all(value, where)}
        get = getattr(value, "_get_saved_state", value.__getstate__)
        state = get()
        if isinstance(state, dict):
            # An attribute of a dask array is a recipe, which refers to the array; one of a tensor is on a device.
            state = {key: part for key, part in state.items() if key not in _LEFT_OUT and not is_elsewhere(part)}
            return {"object": name, "state": {key: self.encode(v, f"{where}.{key}") for key, v in state.items()}}
        if state is None:
            return {"object": name, "state": {}}
        raise ValueError(f"{where} is a {name}, whose state a saved model cannot hold.")


class Decoder:
    """Turns JSON back into values; raises a ValueError, TypeError, KeyError or IndexError where it is not ours."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = arrays
        self._kinds: dict[str, Callable[[dict[str, Any]], Any]] = {
            "float": lambda found: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[found["float"]],
            "scalar": self._decode_scalar,
            "array": lambda found: self._get(found["array"]),
            "objects": self._decode_objects,
            "tuple": lambda found: tuple(self._decode_all(found["tuple"])),
            "set": lambda found: set(self._decode_all(found["set"])),
            "frozenset": lambda found: frozenset(self._decode_all(found["frozenset"])),
            "range": lambda found: range(*found["range"]),
            "dict": lambda found: {self.decode(key): self.decode(value) for key, value in found["dict"]},
            "sparse": self._decode_sparse,
            "generator": self._decode_generator,
            "random_state": self._decode_random_state,
            "dtype": lambda found: self._decode_dtype(found["dtype"]),
            "number": self._decode_number,
            "object": self._decode_object,
        }

    def decode(self, found: Any) -> Any:
        """The value that was encoded."""
        if isinstance(found, list):
            return self._decode_all(found)
        if not isinstance(found, dict):
            return found
        kind = next(iter(found), "")
        if kind not in self._kinds:
            raise ValueError(f"'{kind}' is not a kind of value")
        return self._kinds[kind](found)

    def _decode_all(self, found: list[Any]) -> list[Any]:
        return [self.decode(value) for value in found]

    def _get(self, number: int) -> Array:
        if type(number) is not int or not 0 <= number < len(self._arrays):
            raise ValueError(f"there is no array {number!r}")
        return self._arrays[number]

    def _decode_scalar(self, found: dict[str, Any]) -> Any:
        (value,) = np.frombuffer(bytes.fromhex(found["bytes"]), self._decode_dtype(found["scalar"]))
        return value

    def _decode_objects(self, found: dict[str, Any]) -> Array:
        items = self._decode_all(found["objects"])
        if math.prod(found["shape"]) != len(items):
            raise ValueError("an array has another shape than its items")
        out = np.empty(len(items), dtype=object)
        out[:] = items
        return out.reshape(found["shape"])

    def _decode_sparse(self, found: dict[str, Any]) -> Any:
        kind = found["sparse"]
        if kind not in _SPARSE:
            raise ValueError(f"'{kind}' is not a kind of sparse matrix")
        # Of the kind that was stored, so that no array is made whose length is a number in the file.
        data, *places = map(self._get, found["parts"])
        if kind.startswith("coo"):  # whose places are checked when it is made
            return getattr(sparse, kind)((data, tuple(places)), shape=tuple(found["shape"]))
        indices, starts = places
        out = getattr(sparse, kind)((data, indices, starts), shape=tuple(found["shape"]))
        out.check_format(full_check=True)
        return out

    def _decode_generator(self, found: dict[str, Any]) -> np.random.Generator:
        return np.random.Generator(self._decode_bits(self.decode(found["generator"])))

    def _decode_random_state(self, found: dict[str, Any]) -> np.random.RandomState:
        state = self.decode(found["random_state"])
        out = np.random.RandomState(self._decode_bits(state))
        out.set_state(state)
        return out

    def _decode_bits(self, state: Any) -> Any:
        if state["bit_generator"] not in _BITS:
            raise ValueError(f"'{state['bit_generator']}' is not a bit generator")
        bits = getattr(np.random, state["bit_generator"])()
        bits.state = {key: value for key, value in state.items() if key not in ("has_gauss", "gauss")}
        return bits

    def _decode_dtype(self, name: Any) -> np.dtype[Any]:
        dtype = np.dtype(str(name))
        if dtype.hasobject:
            raise ValueError("an array of objects")
        return dtype

    def _decode_number(self, found: dict[str, Any]) -> Any:
        cls = getattr(np, str(found["number"]))
        if not (isinstance(cls, type) and issubclass(cls, np.number)):
            raise ValueError(f"'{found['number']}' is not a type of numbers")
        return cls

    def _decode_object(self, found: dict[str, Any]) -> Any:
        cls: Any = find_class(str(found["object"]))
        if issubclass(cls, tuple):
            return cls(*self._decode_all(found["fields"]))  # newer fields have defaults
        state = {key: self.decode(value) for key, value in found["state"].items()}
        for key in state:
            if not key.isidentifier() or key.startswith("__") or callable(getattr(cls, key, None)):
                raise ValueError(f"'{key}' is not an attribute of {cls.__name__}")
        out = cls.__new__(cls)
        if hasattr(out, "__setstate__"):
            out.__setstate__(state)
        else:
            out.__dict__.update(state)
        return out
