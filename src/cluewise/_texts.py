"""Texts that come from others: what cannot be written down, and what a terminal would obey."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["CONTROL", "HALF", "as_line", "mended", "short"]

HALF = re.compile("[\ud800-\udfff]")
"""Half a character (a lone surrogate): UTF-8 cannot hold it, and files and pages are UTF-8."""

CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys instead of showing it: escape sequences, other ends of lines, a change of direction."""

_LONGEST = 80  # letters of a cell in a message


def as_line(text: str) -> str:
    r"""A text in one line, whatever the cells hold that are in it.

    Examples
    --------
    >>> from cluewise._texts import as_line
    >>> as_line("row 'a\nb\x1b[2J'")
    "row 'a b\ufffd[2J'"
    """
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.splitlines()))


def short(cell: object) -> str:
    """A cell as messages quote it, not too long.

    Examples
    --------
    >>> from cluewise._texts import short
    >>> short("red"), len(short("red" * 100))
    ('red', 80)
    """
    text = str(cell)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def mended(text: str) -> Any:
    r"""The value in a JSON text; where it holds half a character, that is replaced.

    Examples
    --------
    >>> from cluewise._texts import mended
    >>> mended('{"label": "\\ud800!"}') == {"label": "\N{REPLACEMENT CHARACTER}!"}
    True
    """
    value = json.loads(text)
    if "\\ud" not in text and HALF.search(text) is None:  # as most texts
        return value
    whole = json.dumps(value, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
    return json.loads(whole.decode("utf-16-le", "replace"))
