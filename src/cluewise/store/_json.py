"""Values as JSON text that reads back as the same value, or an error that says why it would not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

__all__ = ["checksum", "moment_text", "person", "text_of"]


def checksum(*values: Any) -> str:
    """The checksum stored beside values; damaged values may be of any type."""
    return f"{crc32(json.dumps(values, default=repr).encode()):08x}"


def text_of(value: Any, what: str) -> str:
    """A value as JSON text; ``what`` names it in errors."""
    wrong = _wrong_key(value)
    if wrong is not None:
        raise ValueError(f"the {what} has the key {wrong!r}, but keys in JSON are text.")
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the {what} cannot be written as JSON: {error}.") from None


def _wrong_key(value: Any) -> Any:
    """A key that JSON would silently turn into text, or None; without recursion, as a state may be deep."""
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict | list | tuple):
            if id(item) in seen:
                continue
            seen.add(id(item))
        if isinstance(item, dict):
            for key in item:
                if not isinstance(key, str):
                    return key if key is not None else "None"
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)
    return None


def moment_text(when: datetime | None) -> str:
    """A moment as text in UTC; now by default."""
    if when is None:
        when = datetime.now(UTC)
    elif not isinstance(when, datetime) or when.tzinfo is None:
        raise ValueError(f"when={when!r} is not a datetime with a time zone.")
    return when.astimezone(UTC).isoformat(timespec="microseconds")


def person(who: str) -> str:
    """The name of a person; refused if it cannot be stored."""
    if not isinstance(who, str) or not who.isprintable():  # surrogates and control characters are not printable
        raise ValueError(f"who={who!r} is not the name of a person.")
    return who
