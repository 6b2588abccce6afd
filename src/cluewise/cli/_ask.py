"""``cluewise ask``: questions about the rows of a file, answered at the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _options as opt
from cluewise.cli._interrupt import INTERRUPTED

if TYPE_CHECKING:
    from cluewise.active import Project, Question
    from cluewise.cli._files import Data

__all__ = ["ask"]

DEFAULT_BUDGET = 50

Strategy = Annotated[
    str | None,
    typer.Option("--strategy", metavar="NAME", help="How to choose questions; by default CluewiseQuestions."),
]
Kind = Annotated[
    str | None,
    typer.Option(
        "--questions",
        metavar="KIND",
        help="pair (do these two belong together), which (of these rows does it belong to) or label (its class).",
    ),
]
Budget = Annotated[
    int | None,
    typer.Option("--budget", metavar="N", min=0, help="Number of questions; 50 in a new project."),
]
ProjectFile = Annotated[
    Path | None,
    typer.Option("--project", metavar="FILE", help="Where answers are kept; by default DATA.cluewise."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of the random numbers; 0 in a new project."),
]
Who = Annotated[str, typer.Option("--who", metavar="NAME", help="Who answers; kept with each answer.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="The clues, for --clues of fit; by default DATA-clues.csv.",
        rich_help_panel="Output",
    ),
]
Result = Annotated[
    Path | None,
    typer.Option(
        "--result",
        metavar="FILE",
        help="Rows with the clusters by all answers so far (CluewiseQuestions, PairsAtStake, SuperInstances).",
        rich_help_panel="Output",
    ),
]


def ask(
    data: opt.DataFile,
    budget: Budget = None,
    strategy: Strategy = None,
    questions: Kind = None,
    clusters: opt.Clusters = None,
    project: ProjectFile = None,
    who: Who = "",
    seed: Seed = None,
    clues: opt.ClueFile = None,
    id_column: opt.IdColumn = None,
    columns: opt.Columns = None,
    ignore: opt.Ignore = None,
    kinds: opt.As = None,
    sheet: opt.Sheet = None,
    label_column: opt.LabelColumn = None,
    raw: opt.Raw = False,
    explain: opt.Explain = False,
    out: Out = None,
    result: Result = None,
    raw_cells: opt.RawCells = False,
) -> None:
    """Ask questions whose answers improve the clusters, and keep every answer.

    Shows rows side by side. Answer y (they belong together), n (they do not), ? (don't know), u (undo) or q (quit).
    Each answer is saved before the next question; run the command again to continue.

    Example: cluewise ask wine.csv -k 3 --budget 30
    """
    from cluewise import tables
    from cluewise.cli import _project
    from cluewise.cli._columns import show_plan
    from cluewise.cli._files import add_columns, open_outputs, stem_of

    _project.check_who(who)
    target = data.with_name(f"{stem_of(data)}-clues.csv") if out is None else out
    place = data.with_suffix(".cluewise") if project is None else project
    options = {
        "strategy": strategy,
        "questions": questions,
        "clues": None if clues is None else str(clues),
        "id": id_column,
        "columns": columns,
        "ignore": ignore,
        "as": kinds,
        "sheet": sheet,
        "label_column": label_column,
        "raw": raw,
        "clusters": clusters,
        "seed": seed,
    }
    begun = _project.is_begun(place)
    read = (data, clues, place, *(_project.clues_of(place) if begun else ()))
    targets = {"--out": target, "--result": result}
    _project.check_targets(targets, read)
    if begun:
        talk, opened, rows = _project.go_on(place, data, options, budget)
    else:
        talk, opened, rows = _project.begin(place, data, options, DEFAULT_BUDGET if budget is None else budget)
    with talk:
        if explain:
            show_plan(rows, opened.table.notes)
        if result is not None and not hasattr(talk.strategy, "clustering"):
            raise ValueError(f"{type(talk.strategy).__name__} finds no clusters itself; leave --result out.")
        try:
            _converse(talk, opened, who)
        except KeyboardInterrupt:
            count = talk.state.asked
            saved = "1 answer is" if count == 1 else f"{count} answers are"
            typer.echo(f"\ncluewise: stopped; {saved} saved in {place}.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        with open_outputs(targets, read) as asides:
            with tables.writing(target):
                talk.state.clues.write(asides["--out"], ids=opened.ids, raw_cells=raw_cells)
            if result is not None:
                found = add_columns(opened.table, {"cluster": talk.clustering()})
                with tables.writing(result):
                    tables.write(asides["--result"], found, raw_cells=raw_cells)
        _goodbye(talk, data, place, target, result)


QUIT, UNDO, NONSENSE = object(), object(), object()  # none can be typed as the name of a class


def _converse(talk: Project, opened: Data, who: str) -> None:
    """Ask until the budget is spent, nothing is left to ask, or the person quits."""
    from cluewise.active import Answer
    from cluewise.cli import _rows, _show

    spread = _rows.spreads(opened)
    while questions := talk.ask():
        question = questions[0]
        _pose(question, talk, opened, spread)
        before = ""
        while True:
            typed = _typed(question)
            said = QUIT if typed is None else _meant(typed, before, question, talk)
            if said is QUIT:
                return
            if said is UNDO:
                back = talk.undo(of=who or None, who=who)  # without a name, the last answer of anybody
                whose = f" of {who}" if who else ""
                _show.say(
                    f"There is nothing{whose} to take back."
                    if back is None
                    else f"Taken back: {_rows.words(back, opened)}"
                )
                break
            if said is not NONSENSE:
                talk.tell(Answer(question, said, who=who))
                break
            before = typed or ""


def _pose(question: Question, talk: Project, opened: Data, spread: dict[str, float]) -> None:
    from cluewise.cli import _rows, _show

    state = talk.state
    names = [opened.name(row) for row in question.rows]
    _show.say(f"\nQuestion {state.asked + 1} of {state.budget}. {_rows.sentence(question, opened)}")
    if question.why:
        _show.say(f"(Why: {question.why})")
    titles = names if question.kind == "pair" else [names[0], *(f"[{i}] {n}" for i, n in enumerate(names[1:], 1))]
    _rows.show_rows(opened, question.rows, titles, spread)


KEYS = {
    "pair": "y = yes, n = no, ? = don't know, u = undo, q = quit",
    "label": "the class, ? = don't know, u = undo, q = quit (=u or =q for a class of that name)",
    "which": "a number, n = none of them, ? = don't know, u = undo, q = quit",
}


def _typed(question: Question) -> str | None:
    """The line that is typed; None at the end of the input."""
    from cluewise.cli import _show

    _show.say(f"{KEYS[question.kind]} > ", end="")
    # A process that was started without an input has no sys.stdin at all.
    line = "" if sys.stdin is None or sys.stdin.closed else sys.stdin.readline()
    if not line:
        _show.say()
        return None
    return line.strip()


def _meant(typed: str, before: str, question: Question, talk: Project) -> Any:
    """What a line means: a value for the answer, `UNDO`, `QUIT`, or `NONSENSE`; ``before`` was typed just before it."""
    from cluewise.cli import _show

    word = typed.lower()
    if word in ("q", "quit"):
        return QUIT
    if word in ("u", "undo"):
        return UNDO
    if word in ("?", "don't know"):
        return None
    value = _class_of(typed, talk) if question.kind == "label" else _value(question, word)
    if value is NONSENSE:
        _show.say(f"{typed!r} is not an answer to this question.")
    elif question.kind == "label" and word in ("y", "yes", "n", "no") and typed != before and not _met(value, talk):
        _show.say(f"Is {typed!r} the name of a class? Type it again to say so.")
        return NONSENSE
    return value


def _met(value: Any, talk: Project) -> bool:
    return value in talk.state.clues.classes_.tolist()


def _class_of(typed: str, talk: Project) -> Any:
    """The class of a name; where classes are whole numbers so far, a whole number is one as well."""
    name = typed.removeprefix("=")
    known = {str(value): value for value in talk.state.clues.classes_.tolist()}
    if name in known:
        return known[name]
    whole = known and all(isinstance(value, int) for value in known.values())
    if whole and name.isdecimal():
        return int(name)
    return name if name and name.isprintable() else NONSENSE


def _value(question: Question, word: str) -> Any:
    if word in ("n", "no"):
        return False
    if question.kind == "pair":
        return True if word in ("y", "yes") else NONSENSE
    others = question.rows[1:]
    return others[int(word) - 1] if word.isdecimal() and 0 < int(word) <= len(others) else NONSENSE


def _goodbye(talk: Project, data: Path, place: Path, target: Path, result: Path | None) -> None:
    from cluewise.cli import _project, _show

    state = talk.state
    counts = {"yes": 0, "no": 0, "don't know": 0, "label": 0}
    for answer in state.answers:
        if not answer.inferred:
            kind, value = answer.question.kind, answer.value
            name = "don't know" if value is None else "label" if kind == "label" else "no" if value is False else "yes"
            counts[name] += 1
    words = {name: "labels" if name == "label" and count != 1 else name for name, count in counts.items()}
    said = ", ".join(f"{count} {words[name]}" for name, count in counts.items() if count) or "no answers yet"
    _show.say(f"\n{state.asked} of {state.budget} questions answered ({said}).")
    found = "" if result is None else f" Clusters: {result}."
    _show.say(f"Answers: {place}. Clues: {target}.{found}")
    if state.clues.kinds:
        _show.say(f"Next: {_project.next_command(talk, data, target)}")
    if result is None and hasattr(talk.strategy, "clustering"):
        _show.say("Or add --result FILE to get the clusters by these answers.")
