"""A project for the terminal: begun with options, continued without repeating them."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluewise.cli._files import TABLES, Data, check_suffix, open_data, open_outputs
from cluewise.cli._options import split_names

if TYPE_CHECKING:
    from cluewise.active import Project, State, Strategy
    from cluewise.rows import Rows

__all__ = [
    "DEFAULT", "begin", "check_targets", "check_who", "clues_of", "go_on", "is_begun", "next_command", "strategy_of",
]  # fmt: skip

OPTIONS = "options"
DEFAULT, OTHER_KINDS = "CluewiseQuestions", "CompositeQuestions"
"""The first survives wrong answers, and has clusters at any moment; the second asks questions of all kinds."""


def strategy_of(name: str, parameters: dict[str, Any]) -> Strategy:
    """The strategy of a name, however it is spelled, with its parameters."""
    from cluewise import active

    known = {cls.__name__.lower(): cls for cls in active.strategies()}
    found = known.get(name.lower().replace("-", "").replace("_", ""))
    if found is None:
        names = ", ".join(sorted(cls.__name__ for cls in known.values()))
        raise ValueError(f"there is no strategy '{name}'; the strategies are {names}.")
    accepted = found().get_params(deep=False)
    return found(**{key: value for key, value in parameters.items() if key in accepted})


def check_who(who: str) -> None:
    """Refuse a name that cannot be kept with an answer, or that means something else there."""
    from cluewise.active import Answer

    if who == Answer.INFERRED:
        raise ValueError(f"--who {Answer.INFERRED} is reserved for inferred answers; choose another name.")
    if not who.isprintable():
        raise ValueError(f"--who {who!r} is not the name of a person.")


class _Enough(Exception):
    """Ends a block whose outputs are not to be written."""


def check_targets(targets: Mapping[str, Path | None], read: Iterable[Path | None]) -> None:
    """Refuse files that could not be written at the end, before the first question."""
    for target in targets.values():
        check_suffix(target, TABLES)
    with suppress(_Enough), open_outputs(targets, read):
        raise _Enough


def is_begun(project: Path) -> bool:
    """Whether there is a conversation to go on with; in a file without one, a new conversation begins."""
    from cluewise.active import Project
    from cluewise.store import Store

    if not project.exists():
        return False
    with Store.open(project, create=True) as store:  # its maker may have been killed before the tables were there
        strange = bool(store.entries())
    begun = Project.begun(project)
    if strange and not begun:
        raise ValueError(f"'{project}' was not begun by cluewise ask; go on with it in Python.")
    return begun


def clues_of(project: Path) -> list[Path]:
    """The file of clues that a conversation was begun with, under each name that it may have now."""
    kept = _kept(project)
    return [Path(kept[name]) for name in ("clues", "clues_at") if kept.get(name)]


def begin(project: Path, data: Path, options: dict[str, Any], budget: int) -> tuple[Project, Data, Rows]:
    """A new project; the options that say how to read the data are kept in it."""
    from cluewise.active import Project

    opened = _opened(data, options)
    clusters, seed = options["clusters"], options["seed"] or 0
    asked = {"n_clusters": clusters, "questions": options["questions"]}
    given = {name: value for name, value in asked.items() if value is not None}
    usual = DEFAULT if options["questions"] in (None, "pair") else OTHER_KINDS
    strategy = strategy_of(options["strategy"] or usual, given)
    if usual == DEFAULT and options["strategy"] is None:
        given.pop("questions", None)  # it asks about pairs only
    for name in given.keys() - strategy.get_params(deep=False).keys():
        option = {"n_clusters": "-k", "questions": "--questions"}[name]
        raise ValueError(f"{type(strategy).__name__} does not use {option}; leave it out.")
    if clusters is not None and clusters > len(opened.table):
        raise ValueError(f"-k is {clusters}, but {data.name} has only {len(opened.table)} rows.")
    X, rows = opened.encode(raw=options["raw"])
    kept = {
        **options,
        "strategy": type(strategy).__name__,
        "seed": seed,
        "data": data.name,
        "clues_at": None if options["clues"] is None else str(Path(options["clues"]).resolve()),
    }
    try:
        begun = Project.begin(
            project,
            strategy,
            X,
            opened.clues,
            budget=budget,
            random_state=seed,
            settings={OPTIONS: kept},
        )
    except ValueError:
        if not is_begun(project):
            raise
        theirs, first = _kept(project), Project.peek(project)
        raise ValueError(
            f"somebody else has just begun '{project}', with {first.strategy}, --seed {theirs['seed']} and "
            f"--budget {first.budget}; start again to go on with it."
        ) from None
    return begun, opened, rows


def go_on(project: Path, data: Path, options: dict[str, Any], budget: int | None) -> tuple[Project, Data, Rows]:
    """Open a project that exists; options need not be repeated, but must not differ."""
    from cluewise.active import Project

    kept = _kept(project)
    beginning = Project.peek(project)
    for name, value in options.items():
        if value not in (None, False) or (name == "seed" and value is not None):
            _check_same(name, value, kept, beginning, project)
    opened = _opened(data, {**kept, "clues": None})
    X, rows = opened.encode(raw=kept["raw"])
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
    return begun, opened._replace(clues=beginning.given), rows


def _kept(project: Path) -> dict[str, Any]:
    from cluewise.store import Store

    with Store.open(project) as store:
        kept = dict(store.settings.get(OPTIONS) or {})
    if not kept:
        raise ValueError(f"'{project}' was not begun by cluewise ask; go on with it in Python.")
    return kept


def _check_same(name: str, value: Any, kept: dict[str, Any], beginning: State, project: Path) -> None:
    """Refuse an option that differs from the beginning; defaults may be given, and any spelling."""
    was = kept.get(name)
    if was is None:
        usual = {"n_clusters": None, "questions": "pair"} | beginning.parameters
        was = usual.get({"clusters": "n_clusters", "questions": "questions"}.get(name, ""))
    if was is not None and _plain(name, value) == _plain(name, was):
        return
    before = "without it" if was in (None, False) and name != "seed" else f"with {was}"
    raise ValueError(
        f"--{name.replace('_', '-')} is {value}, but '{project}' was begun {before}; "
        "leave it out, or begin another with --project."
    )


def _plain(name: str, value: Any) -> Any:
    """The value of an option in one spelling."""
    if name == "strategy":
        return type(strategy_of(value, {})).__name__
    if name == "clues":
        return Path(value)
    return split_names(value) if name in ("columns", "ignore") else value


def next_command(talk: Project, data: Path, target: Path) -> str:
    """The command that clusters by the answers; it reads the data as they were read here.

    Labels of a column are among the clues that were written, so that the column is left out.
    """
    kept = talk.store.settings[OPTIONS]
    ignore = split_names(kept["ignore"])
    if kept["label_column"] is not None and kept["label_column"] not in ignore:
        ignore.append(kept["label_column"])
    words = ["cluewise", "fit", str(data)]
    read = {name: kept.get(name) for name in ("id", "columns", "as", "sheet")} | {"ignore": _listed(ignore)}
    for name, value in read.items():
        words += [f"--{name}", value] if value else []
    words += [*(["--raw"] if kept["raw"] else []), "--clues", str(target)]
    words += ["-k", str(kept["clusters"])] if kept["clusters"] else []
    return shlex.join(words)


def _listed(names: list[str]) -> str:
    """What `split_names` takes apart again."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def _opened(data: Path, options: dict[str, Any]) -> Data:
    return open_data(
        data,
        None if options["clues"] is None else Path(options["clues"]),
        id_column=options["id"],
        columns=options["columns"],
        ignore=split_names(options["ignore"]),
        label_column=options["label_column"],
        kinds=options.get("as"),  # older projects have neither
        sheet=options.get("sheet"),
    )
