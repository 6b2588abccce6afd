"""A project and its data: begun with options, continued without repeating them."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from cluewise.workspace.data import Data, open_data
from cluewise.workspace.names import split_names

if TYPE_CHECKING:
    from cluewise._typing import Floats
    from cluewise.active import Project, State, Strategy
    from cluewise.rows import Rows

__all__ = [
    "DEFAULT", "Answered", "begin", "check_who", "clues_of", "go_on", "is_begun", "next_command", "open_with",
    "read_answered", "strategy_of",
]  # fmt: skip

OPTIONS = "options"
DEFAULT, OTHER_KINDS = "CluewiseQuestions", "CompositeQuestions"
"""The first survives wrong answers, and has clusters at any moment; the second asks questions of all kinds."""


_TEXT, _COUNT = (str, NoneType), (int, NoneType)
_OPTIONS: dict[str, Any] = {  # types that they have in a project
    **dict.fromkeys(("strategy", "data"), str),
    **dict.fromkeys(("questions", "clues", "id", "columns", "ignore", "as", "sheet", "label_column"), _TEXT),
    **dict.fromkeys(("data_at", "clues_at"), _TEXT),
    **dict.fromkeys(("clusters", "seed"), _COUNT),
    "raw": bool,
}
_NEEDED = _OPTIONS.keys() - {"as", "sheet", "data_at", "clues_at"}  # older projects have none of these
_STILL_THERE = "Its answers are still in it: put the old file back to go on, or use --project for a new one."


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

    opened = open_with(data, options)
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
        "data_at": str(data.resolve()),
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
        _check_same(name, value, kept, beginning, project, "leave it out, or begin another with --project")
    opened, X, rows = _read_again(data, kept, beginning, project)
    begun = Project.open(project, strategy_of(beginning.strategy, beginning.parameters), X)
    if budget is not None:
        begun.grow(budget)
    return begun, opened._replace(clues=beginning.given), rows


class Answered(NamedTuple):
    """The data of a project and all that is known about them, for whoever asks no more questions."""

    path: Path  # of the data
    data: Data  # its clues are the given ones and the answers
    options: dict[str, Any]  # that the project was begun with
    clusters: int | None


def read_answered(project: Path, data: Path | None, options: dict[str, Any]) -> Answered:
    """Read a project and its data; ``data`` where they have moved, ``options`` that must not differ."""
    from cluewise.active import Project
    from cluewise.store import Store

    if not is_begun(project):
        raise ValueError(f"there is no project '{project}'; begin one with cluewise ask.")
    kept = _kept(project)
    beginning = Project.peek(project)
    for name, value in options.items():
        _check_same(name, value, kept, beginning, project, "leave it out")
    path = _find_data(project, kept) if data is None else data
    opened, X, _ = _read_again(path, kept, beginning, project)
    with Store.open(project) as store:
        state = Project(store, strategy_of(beginning.strategy, beginning.parameters), X).state
    count = None if kept["clusters"] is None else state.count(kept["clusters"])
    return Answered(path, opened._replace(clues=state.clues), kept, count)


def _find_data(project: Path, kept: dict[str, Any]) -> Path:
    """The data beside the project, or where they were when it was begun."""
    places = [project.parent / kept["data"], *([Path(kept["data_at"])] if kept.get("data_at") else [])]
    for place in places:
        if place.exists():
            return place
    raise ValueError(f"'{project}' is about {kept['data']}, which is not there; name the file before --project.")


def _read_again(data: Path, kept: dict[str, Any], beginning: State, project: Path) -> tuple[Data, Floats, Rows]:
    """The data as they were read when the project was begun; refused if they have changed."""
    opened = open_with(data, {**kept, "clues": None})
    X, rows = opened.encode(raw=kept["raw"])
    if len(X) != beginning.n:
        raise ValueError(f"'{project}' is about {beginning.n} rows, but {data.name} has {len(X)}. {_STILL_THERE}")
    strategy = strategy_of(beginning.strategy, beginning.parameters)
    if strategy.start(X, budget=0, random_state=0).fingerprint != beginning.fingerprint:
        changed = f"{data.name} is not what it was when '{project}' was begun: its numbers differ."
        raise ValueError(f"{changed} {_STILL_THERE}")
    return opened, X, rows


def _kept(project: Path) -> dict[str, Any]:
    from cluewise.store import Store

    with Store.open(project) as store, store.settings.reading(OPTIONS):
        kept = dict(store.settings.get(OPTIONS) or {})
        for name in kept.keys() & _OPTIONS.keys():
            if not isinstance(kept[name], _OPTIONS[name]):
                raise TypeError(f"the option {name} is of another type")
        if kept and _NEEDED - kept.keys():
            raise KeyError(f"there is no option {min(_NEEDED - kept.keys())}")
    if not kept:
        raise ValueError(f"'{project}' was not begun by cluewise ask; go on with it in Python.")
    return kept


def _check_same(name: str, value: Any, kept: dict[str, Any], beginning: State, project: Path, advice: str) -> None:
    """Refuse an option that differs from the beginning; defaults may be given, and any spelling."""
    if value is None or value is False:
        return
    was = kept.get(name)
    if was is None:
        usual = {"n_clusters": None, "questions": "pair"} | beginning.parameters
        was = usual.get({"clusters": "n_clusters", "questions": "questions"}.get(name, ""))
    if was is not None and _plain(name, value) == _plain(name, was):
        return
    before = "without it" if was in (None, False) and name != "seed" else f"with {was}"
    raise ValueError(f"--{name.replace('_', '-')} is {value}, but '{project}' was begun {before}; {advice}.")


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


def open_with(data: Path, options: dict[str, Any]) -> Data:
    """Read data by the options of a command, named as they are kept in a project."""
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
