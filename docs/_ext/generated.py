"""Directives that ask the library itself: ``laws`` lists the laws, ``commands`` the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def laws() -> Iterator[tuple[str, str]]:
    """Every law with what it says."""
    from cluewise.checks._table import _LAWS

    for law, _ in _LAWS:
        yield law.__name__, " ".join((law.__doc__ or "").split("\n\n")[0].split())


def commands() -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Every command: how it is called, what it does, and its arguments and options."""
    import typer

    from cluewise.cli._app import app

    for name, command in sorted(typer.main.get_command(app).commands.items()):
        shown = [_parameter(p) for p in command.params]
        operands = " ".join(word for word, _ in shown if not word.startswith("-"))
        yield f"cluewise {name} {operands}".strip(), command.help or "", shown


def _parameter(parameter: Any) -> tuple[str, str]:
    words = parameter.help or ""
    if parameter.param_type_name == "argument":
        return parameter.metavar or parameter.name.upper(), words
    names = ", ".join(sorted([*parameter.opts, *parameter.secondary_opts], key=len, reverse=True))
    value = "" if parameter.is_flag else f" {parameter.metavar}"
    if parameter.default is not None and not parameter.is_flag:
        words += f" Default: {parameter.default}."
    return names + value, words


class _Generated(SphinxDirective):
    def lines(self) -> Iterator[str]:
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Let Sphinx read the lines as if they stood on the page."""
        box = nodes.container()
        self.state.nested_parse(StringList(list(self.lines()), "generated"), self.content_offset, box)
        return box.children


class Laws(_Generated):
    """A table of the laws."""

    def lines(self) -> Iterator[str]:
        """Markdown."""
        yield from ("| law | what it says |", "|---|---|")
        for name, words in laws():
            yield f"| `{name}` | {words.replace('``', '`').replace('|', '&#124;')} |"


class Commands(_Generated):
    """All commands with their options."""

    def lines(self) -> Iterator[str]:
        """Markdown."""
        for usage, words, parameters in commands():
            yield from (f"**`{usage}`**", "")
            yield from re.sub(r"^Example: (.*)$", r"Example: `\1`", words, flags=re.MULTILINE).splitlines()
            if parameters:
                yield from ("", "| | |", "|---|---|")
                yield from (f"| `{name}` | {help_} |" for name, help_ in parameters)
            yield ""


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the directives."""
    app.add_directive("laws", Laws)
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
