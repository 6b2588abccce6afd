"""``cluewise list``: the methods and the clues they use."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cluewise.cli import _options as opt

__all__ = ["methods"]

Accepts = Annotated[
    str | None,
    typer.Option(
        "--accepts", metavar="A,B", help="Only methods that use all these kinds of clues, such as must,cannot."
    ),
]
Hard = Annotated[
    bool | None,
    typer.Option("--hard/--soft", help="Only methods that keep every clue, or only those that may break some."),
]

Strategies = Annotated[bool, typer.Option("--strategies", help="List the strategies of `cluewise ask` instead.")]


def methods(
    accepts: Accepts = None, hard: Hard = None, strategies: Strategies = False, json: opt.AsJson = False
) -> None:
    """List the methods and the clues they use.

    Examples: cluewise list --accepts must,cannot --hard; cluewise list --strategies
    """
    if strategies:
        if accepts is not None or hard is not None:
            raise ValueError("--accepts, --hard and --soft choose among methods; use them without --strategies.")
        _list_strategies(json)
        return
    from cluewise.workspace.names import split_names

    kinds = split_names(accepts)
    if kinds:
        _check_kinds(kinds)
    if json:
        _list_as_json(kinds, hard)
    else:
        _list_methods(kinds, hard)


def _list_methods(kinds: list[str], hard: bool | None) -> None:
    from cluewise.cli import _cards, _show

    found = {
        name: card
        for name, card in _cards.read_cards().items()
        if card.accepts.issuperset(kinds) and (hard is None or card.hard == hard)
    }
    if not found:
        _show.say("No method matches.")
        return
    _show.table(
        ["method", "what it is", "clues it uses", "hard", "time"],
        [
            [name, card.title, ", ".join(sorted(card.accepts)), "yes" if card.hard else "no", card.cost]
            for name, card in found.items()
        ],
    )


def _list_as_json(kinds: list[str], hard: bool | None) -> None:
    """The whole cards."""
    from cluewise.cli import _cards, _show

    cards = {name: method.card for name, method in _cards.load_methods().items()}
    found = [
        {"name": name, **asdict(card), "accepts": sorted(card.accepts)}
        for name, card in cards.items()
        if card.accepts.issuperset(kinds) and (hard is None or card.hard == hard)
    ]
    _show.say(_show.as_json(found))


def _list_strategies(json: bool) -> None:
    from cluewise.active import strategies
    from cluewise.cli import _show

    cards = {strategy.__name__: strategy.card for strategy in strategies()}
    if json:
        plain = [{"name": name, **asdict(card), "asks": sorted(card.asks)} for name, card in cards.items()]
        _show.say(_show.as_json(plain))
        return
    _show.table(
        ["strategy", "what it asks about", "questions", "time of the next question"],
        [[name, card.title, ", ".join(sorted(card.asks)), card.cost] for name, card in cards.items()],
    )


def _check_kinds(kinds: list[str]) -> None:
    from cluewise.clues import KINDS

    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"--accepts: '{kind}' is not a kind of clue; the kinds are {', '.join(KINDS)}.")
