"""Directives that ask the library itself.

``methods`` and ``distances`` list all methods, ``promises`` those of one family, ``laws`` the laws, ``commands`` the
command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from cluewise import Card


def cards(family: str, *, clusterers: bool) -> dict[str, Card]:
    """The cards of the clusterers of a family, or of its other methods, by name."""
    from cluewise.base import Clusterer

    module = import_module(f"cluewise.{family}")
    methods = {name: getattr(module, name) for name in module.__all__ if hasattr(getattr(module, name), "card")}
    return {name: cls.card for name, cls in methods.items() if issubclass(cls, Clusterer) == clusterers}


def all_cards(*, clusterers: bool) -> Iterator[tuple[str, str, Card]]:
    """Family, name and card of every clusterer, or of every learned distance."""
    from cluewise._homes import FAMILIES

    for family in FAMILIES:
        for name, card in cards(family, clusterers=clusterers).items():
            yield family, name, card


def methods() -> Iterator[list[str]]:
    """The table of all clusterers, its header first: what each is, and the clues that it uses."""
    from cluewise.clues import KINDS

    yield ["method", "what it is", *KINDS, "keeps every clue", "more"]
    for family, name, card in all_cards(clusterers=True):
        marks = [_mark(kind in card.accepts) for kind in KINDS]
        yield [_link(name), card.title, *marks, _mark(card.hard), f"[{family}]({family}.md)"]


def distances() -> Iterator[list[str]]:
    """The table of all learned distances, its header first."""
    yield ["distance", "what it is", "clues it uses", "more"]
    for family, name, card in all_cards(clusterers=False):
        yield [_link(name), card.title, _clues(card), f"[{family.replace('_', ' ')}]({family}.md)"]


PROMISES: dict[str, Callable[[Card], bool]] = {
    "keeps every clue": lambda card: card.hard,
    "class c is cluster c": lambda card: card.named,
    "entailed clues change nothing": lambda card: card.closes,
    "objective never rises": lambda card: card.descends,
    "K-means without clues": lambda card: card.plain == "k-means",
    "labels new rows": lambda card: card.predicts,
    "sparse X": lambda card: card.sparse,
    "sample weights": lambda card: card.weights,
}


def promises(family: str) -> Iterator[list[str]]:
    """What the clusterers of a family promise, the header first."""
    yield ["method", "clues it uses", *PROMISES, "labels do not depend on", "paper"]
    for name, card in cards(family, clusterers=True).items():
        marks = [_mark(holds(card)) for holds in PROMISES.values()]
        yield [_link(name), _clues(card), *marks, ", ".join(sorted(card.invariant)), _paper(card)]


def distance_promises(family: str) -> Iterator[list[str]]:
    """What the learned distances of a family promise, the header first."""
    yield ["distance", "clues it uses", "every clue alike", "entailed clues change nothing", "paper"]
    for name, card in cards(family, clusterers=False).items():
        alike = "yes" if card.hard else "no, by weight"
        yield [_link(name), _clues(card), alike, "yes" if card.closes else "no", _paper(card)]


def _link(name: str) -> str:
    return f"[`{name}`](#cluewise.{name})"


def _paper(card: Card) -> str:
    return f"[{card.paper}](#{card.paper.lower()})"


def _clues(card: Card) -> str:
    return ", ".join(sorted(card.accepts)) or "none"


def _mark(holds: bool) -> str:
    return "✓" if holds else ""


def laws() -> Iterator[list[str]]:
    """Every law with what it says, the header first."""
    from cluewise.checks._table import _LAWS

    yield ["law", "what it says"]
    for law, _ in _LAWS:
        words = " ".join((law.__doc__ or "").split("\n\n")[0].split())
        yield [f"`{law.__name__}`", words.replace("``", "`").replace("|", "&#124;")]


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
    if parameter.default not in (None, "") and not parameter.is_flag:
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


def table(rows: Iterable[list[str]]) -> Iterator[str]:
    """Rows of cells, the header first, in Markdown."""
    for number, cells in enumerate(rows):
        yield "| " + " | ".join(cells) + " |"
        if number == 0:
            yield "|---" * len(cells) + "|"


class _Table(_Generated):
    """A table of rows that a function gives, perhaps for the family that the directive names."""

    optional_arguments = 1
    rows: Callable[..., Iterator[list[str]]]

    def lines(self) -> Iterator[str]:
        """Markdown."""
        return table(type(self).rows(*self.arguments))


def _directive(rows: Callable[..., Iterator[list[str]]]) -> type[_Table]:
    return type(rows.__name__.title(), (_Table,), {"rows": staticmethod(rows)})


class Commands(_Generated):
    """All commands with their options."""

    def lines(self) -> Iterator[str]:
        """Markdown."""
        for usage, words, parameters in commands():
            yield from (f"**`{usage}`**", "")
            yield from re.sub(r"^Example: (.*)$", r"Example: `\1`", words, flags=re.MULTILINE).splitlines()
            if parameters:
                yield ""
                yield from table([["", ""], *([f"`{name}`", help_] for name, help_ in parameters)])
            yield ""


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the directives."""
    for rows in (methods, distances, promises, distance_promises, laws):
        app.add_directive(rows.__name__.replace("_", "-"), _directive(rows))
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
