"""Items as a language model sees them: text between marks, and images."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

__all__ = ["Item", "Reader", "marked"]

LONGEST = 4000
"""Letters of an item that are sent; a single text must not use up the budget."""

_IMAGE = re.compile(r"https?://\S+|data:image/[a-z.+-]+;base64,[A-Za-z0-9+/=]+")


class Item(NamedTuple):
    """What is sent of a row."""

    text: str
    images: tuple[str, ...] = ()


class Reader:
    """Turns rows into items; ``images`` names the columns that hold addresses of images."""

    def __init__(self, items: Sequence[Any] | Callable[[int], Any], images: Sequence[str] = ()) -> None:
        self.items, self.images = items, tuple(images)

    def __call__(self, row: int) -> Item:
        """The item of a row: a text as it is, a mapping as one line per column."""
        try:
            value = self.items(row) if callable(self.items) else self.items[row]
        except (IndexError, KeyError):
            raise ValueError(f"the question is about row {row}, but there is no item for it.") from None
        if not isinstance(value, Mapping):
            return Item(_clean(str(value)))
        shown = {name: cell for name, cell in value.items() if name not in self.images}
        lines = [f"{_line(name)}: {_line(cell)}" for name, cell in shown.items()]
        found = tuple(str(value[name]).strip() for name in self.images if value.get(name))
        for address in found:
            if not _IMAGE.fullmatch(address):
                raise ValueError(f"the image of row {row} has no address that begins with http, https or data:image.")
        return Item(_clean("\n".join(lines)), found)


def marked(items: Sequence[Item], names: Sequence[str]) -> list[Any]:
    """Items between marks, as texts and images of a message.

    The marks have a code that depends on all items, so that no item can hold the mark that ends it: its author would
    have to know the others.
    """
    code = blake2b(repr(items).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    parts: list[Any] = []
    for item, name in zip(items, names, strict=True):
        parts.append(f"<item {name}, code {code}>\n{item.text}\n")
        parts += [{"type": "image_url", "image_url": {"url": address}} for address in item.images]
        parts.append(f"</item {name}, code {code}>\n")
    return parts


def _line(cell: Any) -> str:
    """A cell on one line."""
    if isinstance(cell, float):
        cell = f"{cell:.6g}"
    return " ".join(str(cell).split())


def _clean(text: str) -> str:
    """Text without control characters, and not too long."""
    kept = "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)
    return kept if len(kept) <= LONGEST else f"{kept[:LONGEST]} […]"
