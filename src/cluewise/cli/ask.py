"""``cluewise ask``: questions about the rows of a file, answered at the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _options as opt

if TYPE_CHECKING:
    from cluewise.active import Project, Question
    from cluewise.cli._data import Data

__all__ = ["ask"]

INTERRUPTED = 130
USUAL = 50  # questions, unless somebody says

Strategy = Annotated[
    str | None,
    typer.Option("--strategy", metavar="NAME", help="How questions are chosen; by default ExploreMinMax."),
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
    typer.Option("--budget", metavar="N", min=0, help="How many questions; 50 in a new project."),
]
ProjectFile = Annotated[
    Path | None,
    typer.Option("--project", metavar="FILE", help="Where answers are kept; by default DATA.cluewise."),
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


def ask(
    data: opt.DataFile,
    budget: Budget = None,
    strategy: Strategy = None,
    questions: Kind = None,
    clusters: opt.Clusters = None,
    project: ProjectFile = None,
    who: Who = "",
    seed: opt.Seed = 0,
    clues: opt.ClueFile = None,
    id_column: opt.IdColumn = None,
    columns: opt.Columns = None,
    ignore: opt.Ignore = None,
    label_column: opt.LabelColumn = None,
    raw: opt.Raw = False,
    out: Out = None,
) -> None:
    """Ask questions whose answers help to cluster, and keep every answer.

    Shows rows side by side. Answer y (they belong together), n (they do not), ? (don't know), u (undo) or q (quit).
    Each answer is saved before the next question; started again, the command goes on where it was.

    Example: cluewise ask wine.csv -k 3 --budget 30
    """
    from cluewise.cli import _asking, _outputs

    target = data.with_name(f"{data.stem}-clues.csv") if out is None else out
    _outputs.table_format(target)
    place = data.with_suffix(".cluewise") if project is None else project
    options = {
        "strategy": strategy,
        "questions": questions,
        "clues": None if clues is None else str(clues),
        "id": id_column,
        "columns": columns,
        "ignore": ignore,
        "label_column": label_column,
        "raw": raw,
    }
    if _asking.is_begun(place):
        talk, opened = _asking.go_on(place, data, options, budget, clusters)
    else:
        talk, opened = _asking.begin(place, data, options, USUAL if budget is None else budget, seed, clusters)
    with talk:
        try:
            _converse(talk, opened, who)
        except KeyboardInterrupt:
            typer.echo(f"\ncluewise: stopped; {talk.state.asked} answers are saved in {place}.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        with _outputs.reserved({"--out": target}, (data, clues)) as files:
            talk.state.clues.write(files["--out"], ids=opened.ids)
        _goodbye(talk, data, place, target)


def _converse(talk: Project, opened: Data, who: str) -> None:
    """Ask until the budget is spent, nothing is left to ask, or somebody has had enough."""
    from cluewise.active import Answer
    from cluewise.cli import _show

    while questions := talk.ask():
        question = questions[0]
        _pose(question, talk, opened)
        while True:
            said = _listen(question, talk)
            if said == "quit":
                return
            if said == "undo":
                back = talk.undo(who=who)
                _show.say("There is nothing to take back." if back is None else f"Taken back: {_words(back, opened)}")
                break
            if said is not NONSENSE:
                talk.tell(Answer(question, said, who=who))
                break


def _pose(question: Question, talk: Project, opened: Data) -> None:
    from cluewise.cli import _rows, _show

    state = talk.state
    names = [opened.name(row) for row in question.rows]
    _show.say(f"\nQuestion {state.asked + 1} of {state.budget}. {_sentence(question, opened)}")
    if question.why:
        _show.say(f"(Why: {question.why})")
    titles = names if question.kind == "pair" else [names[0], *(f"[{i}] {n}" for i, n in enumerate(names[1:], 1))]
    _rows.show_rows(opened, question.rows, titles)


def _sentence(question: Question, opened: Data) -> str:
    names = [opened.name(row) for row in question.rows]
    if question.kind == "pair":
        return f"Do {names[0]} and {names[1]} belong together?"
    if question.kind == "label":
        return f"Which class is {names[0]} of?"
    return f"Where does {names[0]} belong?"


KEYS = {
    "pair": "y = yes, n = no, ? = don't know, u = undo, q = quit",
    "label": "the class, ? = don't know, u = undo, q = quit (=u or =q for a class of that name)",
    "which": "a number, n = none of them, ? = don't know, u = undo, q = quit",
}
NONSENSE = object()


def _listen(question: Question, talk: Project) -> Any:
    """What somebody types: a value for the answer, "undo", "quit", or `NONSENSE`."""
    from cluewise.cli import _show

    sys.stdout.write(f"{KEYS[question.kind]} > ")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:  # the end of the input
        _show.say()
        return "quit"
    typed = line.strip()
    word = typed.lower()
    if word in ("q", "quit"):
        return "quit"
    if word in ("u", "undo"):
        return "undo"
    if word in ("?", "don't know"):
        return None
    value = _class_of(typed, talk) if question.kind == "label" else _value(question, word)
    if value is NONSENSE:
        _show.say(f"'{typed}' is no answer to this.")
    return value


def _class_of(typed: str, talk: Project) -> Any:
    """The class of a name; where classes are whole numbers so far, a whole number is one as well."""
    name = typed.removeprefix("=")
    known = {str(value): value for value in talk.state.clues.classes_.tolist()}
    if name in known:
        return known[name]
    whole = known and all(isinstance(value, int) for value in known.values())
    return int(name) if whole and name.isdecimal() else name or NONSENSE


def _value(question: Question, word: str) -> Any:
    if word in ("n", "no"):
        return False
    if question.kind == "pair":
        return True if word in ("y", "yes") else NONSENSE
    others = question.rows[1:]
    return others[int(word) - 1] if word.isdecimal() and 0 < int(word) <= len(others) else NONSENSE


def _words(answer: Any, opened: Data) -> str:
    question, value = answer.question, answer.value
    said = {True: "yes", False: "no", None: "don't know"}.get(value, value) if question.kind != "label" else value
    if question.kind == "which" and value not in (None, False):
        said = opened.name(value)
    return f"{_sentence(question, opened)} {said}"


def _goodbye(talk: Project, data: Path, place: Path, target: Path) -> None:
    from cluewise.cli import _asking, _show

    state = talk.state
    counts = {"yes": 0, "no": 0, "don't know": 0, "classes": 0}
    for entry in talk.store.standing():
        kind, value = entry.question["kind"], entry.answer
        name = "don't know" if value is None else "classes" if kind == "label" else "no" if value is False else "yes"
        counts[name] += 1
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing said yet"
    _show.say(f"\n{state.asked} of {state.budget} questions answered ({said}).")
    _show.say(f"Answers: {place}. Clues: {target}.")
    k = state.parameters.get("n_clusters")
    if state.clues.kinds:
        _show.say(f"Next: cluewise fit {data}{_asking.said_again(talk)} --clues {target} -k {k or 'K'}")
