"""A project for the terminal: begun with options, gone on with without repeating them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluewise.cli._data import Data, names_in, open_data, scaled

if TYPE_CHECKING:
    from cluewise.active import Project, Strategy

__all__ = ["DEFAULT", "begin", "go_on", "is_begun", "said_again", "strategy_of"]

OPTIONS = "options"
DEFAULT = "ExploreMinMax"
"""Needs no number of clusters, and answers at once."""


def strategy_of(name: str, parameters: dict[str, Any]) -> Strategy:
    """The strategy of a name, however it is spelled, with its parameters."""
    from cluewise import active

    known = {cls.__name__.lower(): cls for cls in active.strategies()}
    found = known.get(name.lower().replace("-", "").replace("_", ""))
    if found is None:
        names = ", ".join(sorted(cls.__name__ for cls in known.values()))
        raise ValueError(f"there is no strategy '{name}'; there are {names}.")
    accepted = found().get_params(deep=False)
    return found(**{key: value for key, value in parameters.items() if key in accepted})


def is_begun(project: Path) -> bool:
    """Whether there is a file to go on with."""
    return project.exists()


def begin(
    project: Path, data: Path, options: dict[str, Any], budget: int, seed: int, clusters: int | None
) -> tuple[Project, Data]:
    """A new project; the options that say how to read the data are kept in it."""
    from cluewise.active import Project

    opened = _opened(data, options)
    asked = {"n_clusters": clusters, "questions": options["questions"]}
    given = {name: value for name, value in asked.items() if value is not None}
    strategy = strategy_of(options["strategy"] or DEFAULT, given)
    for name in given.keys() - strategy.get_params(deep=False).keys():
        option = {"n_clusters": "-k", "questions": "--questions"}[name]
        raise ValueError(f"{type(strategy).__name__} has no use for {option}; leave it out.")
    X = _features(opened, options)
    begun = Project.begin(project, strategy, X, opened.clues, budget=budget, random_state=seed)
    begun.store.settings[OPTIONS] = {**options, "data": data.name, "clusters": clusters}
    return begun, opened


def go_on(
    project: Path, data: Path, options: dict[str, Any], budget: int | None, clusters: int | None
) -> tuple[Project, Data]:
    """A project that was begun; options need not be said again, but must not say anything else."""
    from cluewise.active import Project
    from cluewise.store import Store

    with Store.open(project) as store:
        kept = dict(store.settings.get(OPTIONS) or {})
    if not kept:
        raise ValueError(f"'{project}' was not begun by cluewise ask; go on with it in Python.")
    for name, value in {**options, "clusters": clusters}.items():
        if value not in (None, False) and value != kept.get(name):
            was = kept.get(name)
            before = "without it" if was in (None, False) else f"with {was}"
            raise ValueError(
                f"--{name.replace('_', '-')} is {value}, but '{project}' was begun {before}; "
                "leave it out, or begin another with --project."
            )
    beginning = Project.peek(project)
    opened = _opened(data, {**kept, "clues": None, "label_column": kept["label_column"]})
    X = _features(opened, kept)
    if len(X) != beginning.n:
        raise ValueError(f"'{project}' is about {beginning.n} rows, but {data.name} has {len(X)}.")
    try:
        begun = Project.open(project, strategy_of(beginning.strategy, beginning.parameters), X)
    except ValueError as error:
        if "not what this conversation is about" not in str(error):
            raise
        raise ValueError(f"{data.name} is not what it was when '{project}' was begun: its numbers differ.") from None
    if budget is not None:
        begun.grow(budget)
    return begun, opened._replace(clues=beginning.given)


def said_again(talk: Project) -> str:
    """The options that another command needs to read the data in the same way."""
    kept = talk.store.settings[OPTIONS]
    words = [f"--{name} {shlex.quote(kept[name])}" for name in ("id", "columns", "ignore") if kept[name]]
    return "".join(f" {word}" for word in [*words, *(["--raw"] if kept["raw"] else [])])


def _opened(data: Path, options: dict[str, Any]) -> Data:
    return open_data(
        data,
        None if options["clues"] is None else Path(options["clues"]),
        id_column=options["id"],
        columns=options["columns"],
        ignore=names_in(options["ignore"]),
        label_column=options["label_column"],
    )


def _features(opened: Data, options: dict[str, Any]) -> Any:
    return opened.X if options["raw"] else scaled(opened.X)
