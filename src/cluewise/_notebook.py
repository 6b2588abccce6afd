"""What a console and a notebook show of a report."""

from __future__ import annotations

from html import escape

__all__ = ["Report", "as_html"]


def as_html(text: str) -> str:
    """Text for a notebook, line by line as it is."""
    return f'<pre style="white-space: pre-wrap">{escape(text)}</pre>'


class Report:
    """Base of what is printed to be read: a console shows its first line, a notebook all of it."""

    def __repr__(self) -> str:
        first, *more = str(self).split("\n")
        return f"<{type(self).__name__}: {first}{' …' if more else ''}>"

    def _repr_html_(self) -> str:
        return as_html(str(self))
