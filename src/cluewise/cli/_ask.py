"""``cluewise ask``: questions about the rows of a file, answered at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluewise.cli import _model_options as llm
from cluewise.cli import _options as opt
from cluewise.cli._interrupt import INTERRUPTED

if TYPE_CHECKING:
    from cluewise.active import Answer, Project, Question
    from cluewise.workspace.data import Data

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
    typer.Option(
        "--budget", metavar="N", min=0, help="Number of questions; 50 in a new project. With --html, those on the page."
    ),
]
ProjectFile = Annotated[
    Path | None,
    typer.Option("--project", metavar="FILE", help="Where answers are kept; by default DATA.cluewise."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of the random numbers; 0 in a new project."),
]
Page = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write the next questions as a page that works offline, for a person without Python; ask nothing here.",
        rich_help_panel="Output",
    ),
]
Answers = Annotated[
    list[Path] | None,
    typer.Option(
        "--answers",
        metavar="FILE",
        help="Take in the answers that a page of --html gave; may be repeated.",
        rich_help_panel="Data",
    ),
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
        help="Rows with the clusters by all answers so far (CluewiseQuestions, GroupQuestions, PairsAtStake, "
        "SuperInstances).",
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
    html: Page = None,
    answers: Answers = None,
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
    model: llm.Model = None,
    answerers: llm.Answerers = None,
    share: llm.Share = 0.1,
    task: llm.Task = None,
    base: llm.Base = "http://127.0.0.1:8080",
    key: llm.Key = None,
    show: llm.Show = None,
    images: llm.Images = None,
    classes: llm.Classes = None,
    examples: llm.Examples = 0,
    calls: llm.Calls = None,
    prices: llm.PriceList = None,
    money: llm.Money = None,
    in_flight: llm.InFlight = 4,
    body: llm.Body = None,
    yes: llm.Yes = False,
    export_batch: llm.Export = None,
    import_batch: llm.Import = None,
) -> None:
    """Ask questions whose answers improve the clusters, and keep every answer.

    Shows rows side by side. Answer y (they belong together), n (they do not), ? (don't know), u (undo) or q (quit).
    Each answer is saved before the next question; run the command again to continue.

    For a person without Python, --html writes a page with the questions, and --answers takes in what comes back.

    With --model a language model answers. What it may cost is shown first, and nothing is sent until you agree. With
    --answerers llm,me it answers first, and you get the questions that it does not know or on which much depends.

    Example: cluewise ask wine.csv -k 3 --budget 30
    """
    from cluewise import tables
    from cluewise.cli import _model, _show
    from cluewise.cli._columns import show_plan
    from cluewise.cli._files import check_outputs, check_suffix, check_targets, open_outputs
    from cluewise.cli._offline import check_page, hand_out, take_in
    from cluewise.workspace import projects
    from cluewise.workspace.data import add_columns, stem_of

    projects.check_who(who)
    both = _model.check_answerers(answerers, model)
    called = "" if both else who  # --who is the person if there is one
    wish = llm.Wish(
        model, task, base, key, show, images, classes, examples, calls, prices, money, in_flight, body, yes, called
    )
    _model.check_wish(wish, export_batch, import_batch, html)
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
    begun = projects.is_begun(place)
    returned = answers or []
    read = (data, clues, place, import_batch, *returned, *(projects.clues_of(place) if begun else ()))
    targets = {"--out": target, "--result": result}
    if export_batch is not None:
        check_suffix(export_batch, (".jsonl",))
        check_outputs({"--export-batch": export_batch}, read)
    elif html is None:
        check_targets(targets, read)
    else:
        check_page(html, out, result, read)
    if (returned or import_batch is not None) and not begun:
        raise ValueError(f"there is no project '{place}' that these answers could belong to.")
    total = DEFAULT_BUDGET if budget is None else budget
    if begun:
        talk, opened, rows = projects.go_on(
            place, data, options, budget if html is None and export_batch is None else None
        )
    else:
        talk, opened, rows = projects.begin(place, data, options, total)
    with talk:
        if explain:
            show_plan(rows, opened.table.notes)
        if returned:
            take_in(talk, returned, who)
        if import_batch is not None:
            _model.take_in(talk, import_batch, wish)
        if export_batch is not None:
            _model.hand_out(talk, opened, wish, export_batch, budget, read)
            return
        if html is not None:
            hand_out(talk, opened, rows, html, budget, who, read)
            return
        if result is not None and not hasattr(talk.strategy, "clustering"):
            raise ValueError(f"{type(talk.strategy).__name__} finds no clusters itself; leave --result out.")
        well = True
        try:
            if model is not None and import_batch is None:
                person = _Person(talk, opened, who or "me") if both else None
                well = _model.converse(talk, opened, wish, person, share)
            elif not returned and import_batch is None:
                _converse(talk, opened, who)
        except KeyboardInterrupt:
            count = talk.state.asked
            saved = "1 answer is" if count == 1 else f"{count} answers are"
            _show.warn(f"\ncluewise: stopped; {saved} saved in {place}.")
            raise typer.Exit(INTERRUPTED) from None
        with open_outputs(targets, read) as asides:
            with tables.writing(target):
                talk.state.clues.write(asides["--out"], ids=opened.ids, raw_cells=raw_cells)
            if result is not None:
                found = add_columns(opened.table, {"cluster": talk.clustering()})
                with tables.writing(result):
                    tables.write(asides["--result"], found, raw_cells=raw_cells)
        _goodbye(talk, data, place, target, result)
        if not well:
            raise typer.Exit(2)  # what went wrong was said as a warning


QUIT, UNDO, NONSENSE = object(), object(), object()  # none can be typed as the name of a class


def _converse(talk: Project, opened: Data, who: str) -> None:
    """Ask until the budget is spent, nothing is left to ask, or the person quits."""
    from cluewise.active import Answer
    from cluewise.workspace import items

    spread = items.spreads(opened)
    while questions := talk.ask():
        said = _hear(questions[0], talk, opened, spread, who)
        if said is QUIT:
            return
        if said is not UNDO:
            talk.tell(Answer(questions[0], said, who=who))


class _Person:
    """The person at the terminal as an oracle, beside another one; ``gone`` after they quit."""

    def __init__(self, talk: Project, opened: Data, who: str) -> None:
        from cluewise.workspace import items

        self._talk, self._opened, self._who = talk, opened, who
        self._spread = items.spreads(opened)
        self.gone = False

    def __call__(self, questions: Iterable[Question]) -> Iterator[Answer]:
        """Answers as they are typed; none after the person has quit."""
        from cluewise.active import Answer

        for question in questions:
            said = UNDO
            while said is UNDO and not self.gone:
                said = _hear(question, self._talk, self._opened, self._spread, self._who)
            self.gone = self.gone or said is QUIT
            if self.gone:
                return
            yield Answer(question, said, who=self._who)


def _hear(question: Question, talk: Project, opened: Data, spread: dict[str, float], who: str) -> Any:
    """What a person says to a question: a value, `QUIT`, or `UNDO` after their last answer was taken back."""
    from cluewise.cli import _show
    from cluewise.workspace import items

    _pose(question, talk, opened, spread)
    before = ""
    while True:
        typed = _typed(question)
        said = QUIT if typed is None else _meant(typed, before, question, talk)
        if said is UNDO:
            back = talk.undo(of=who or None, who=who)  # without a name, the last answer of anybody
            whose = f" of {who}" if who else ""
            nothing = f"There is nothing{whose} to take back."
            _show.say(nothing if back is None else f"Taken back: {items.words(back, opened)}")
        if said is not NONSENSE:
            return said
        before = typed or ""


def _pose(question: Question, talk: Project, opened: Data, spread: dict[str, float]) -> None:
    from cluewise.cli import _rows, _show
    from cluewise.workspace import items

    state = talk.state
    names = [opened.name(row) for row in question.rows]
    _show.say(f"\nQuestion {state.asked + 1} of {state.budget}. {items.sentence(question, opened)}")
    if question.why:
        _show.say(f"(Why: {question.why})")
    first = {"pair": len(names), "group": 0}.get(question.kind, 1)  # from which row on they have numbers
    titles = [*names[:first], *(f"[{i}] {name}" for i, name in enumerate(names[first:], 1))]
    _rows.show_rows(opened, question.rows, titles, spread)


KEYS = {
    "pair": "y = yes, n = no, ? = don't know, u = undo, q = quit",
    "label": "the class, ? = don't know, u = undo, q = quit (=u or =q for a class of that name)",
    "which": "a number, n = none of them, ? = don't know, u = undo, q = quit",
    "group": "piles such as 1 3 / 2 4 5, n = all apart, ? = don't know, u = undo, q = quit",
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
    from cluewise.workspace.items import class_of

    name = typed.removeprefix("=")
    return class_of(name, talk.state.clues) if name and name.isprintable() else NONSENSE


def _value(question: Question, word: str) -> Any:
    if question.kind == "group":
        return _piles(question.rows, word)
    if word in ("n", "no"):
        return False
    if question.kind == "pair":
        return True if word in ("y", "yes") else NONSENSE
    others = question.rows[1:]
    return others[int(word) - 1] if word.isdecimal() and 0 < int(word) <= len(others) else NONSENSE


def _piles(rows: tuple[int, ...], word: str) -> Any:
    """Piles of rows from their numbers, such as "1 3 / 2 4 5"."""
    if word in ("n", "no"):
        return [[row] for row in rows]
    piles = [pile.replace(",", " ").split() for pile in word.split("/")]
    numbers = [number for pile in piles for number in pile]
    wrong = [number for number in numbers if not number.isdecimal() or not 0 < int(number) <= len(rows)]
    if wrong or not numbers or len(set(map(int, numbers))) < len(numbers):
        return NONSENSE
    return [[rows[int(number) - 1] for number in pile] for pile in piles]


def _goodbye(talk: Project, data: Path, place: Path, target: Path, result: Path | None) -> None:
    from cluewise.cli import _show
    from cluewise.workspace import projects

    state = talk.state
    counts = {"yes": 0, "no": 0, "don't know": 0, "label": 0, "sorted": 0}
    for answer in state.answers:
        if not answer.inferred:
            kind, value = answer.question.kind, answer.value
            name = {"label": "label", "group": "sorted"}.get(kind, "no" if value is False else "yes")
            counts["don't know" if value is None else name] += 1
    words = {name: "labels" if name == "label" and count != 1 else name for name, count in counts.items()}
    said = ", ".join(f"{count} {words[name]}" for name, count in counts.items() if count) or "no answers yet"
    _show.say(f"\n{state.asked} of {state.budget} questions answered ({said}).")
    found = "" if result is None else f" Clusters: {result}."
    _show.say(f"Answers: {place}. Clues: {target}.{found}")
    if state.clues.kinds:
        _show.say(f"Next: {projects.next_command(talk, data, target)}")
    if result is None and hasattr(talk.strategy, "clustering"):
        _show.say("Or add --result FILE to get the clusters by these answers.")
