"""A language model that answers the questions of ``cluewise ask``: confirmation, conversation, batch files."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluewise import tables
from cluewise.cli import _files, _show
from cluewise.cli._model_options import Wish
from cluewise.cli._progress import show_status
from cluewise.clues.words import plural

if TYPE_CHECKING:
    from cluewise.active import LanguageModel, PersonLast, Project, Question
    from cluewise.workspace.data import Data

__all__ = ["check_answerers", "check_wish", "converse", "hand_out", "take_in"]

SAMPLE = 20  # questions by which the size of all is estimated
SPARE = 3  # calls for each question, of which two are needed, unless --calls says otherwise


def check_answerers(names: str | None, model: str | None) -> bool:
    """Whether a model and a person answer; refuses names that are none, or that do not go with --model."""
    if names is None:
        return False
    who = [name.strip() for name in names.split(",")]
    if who not in (["me"], ["llm"], ["llm", "me"]):
        raise ValueError(f"--answerers is {names!r}; it is me, llm, or llm,me.")
    if ("llm" in who) != (model is not None):
        raise ValueError(
            "--answerers llm needs a language model; name it with --model."
            if model is None
            else "--answerers me leaves the language model out; leave --model out, too."
        )
    return len(who) == 2


def check_wish(wish: Wish, export: Path | None, came: Path | None, html: Path | None) -> None:
    """Refuse options that make no sense together, before anything is read."""
    from cluewise.workspace import projects

    alone: dict[str, Any] = {
        "--task": wish.task,
        "--key": wish.key,
        "--show": wish.show,
        "--images": wish.images,
        "--calls": wish.calls,
    }
    alone |= {"--classes": wish.classes, "--money": wish.money, "--body": wish.body, "--export-batch": export}
    if came is None:
        alone |= {"--prices": wish.prices}
    if wish.model is None:
        for option, value in alone.items():
            if value is not None:
                raise ValueError(f"{option} is about a language model; name it with --model.")
        return
    if not wish.task:
        raise ValueError("--model needs --task, a sentence that says what belongs together.")
    if html is not None:
        raise ValueError("--html writes a page for a person; leave --model out.")
    projects.check_who(wish.who or wish.model)


def converse(talk: Project, data: Data, wish: Wish, person: Any = None, share: float = 0.0) -> bool:
    """Let the model answer until the budget is spent or nothing is left to ask; False if there was trouble.

    A ``person``, if there is one, gets a share of the questions; who quits ends the conversation.
    """
    from cluewise.active import PersonLast

    first = talk.ask()
    if not first:
        return True
    model = _model_of(talk, data, wish)
    _confirm(model, talk, data, wish, first[0])
    oracle: Any = model if person is None else PersonLast(model, person, share=share)
    watched = person is None and _show.is_watched()
    with show_status("the model answers") if watched else nullcontext() as status:
        while questions := talk.ask(size=max(1, wish.in_flight // 2)):
            before = talk.state.asked
            talk.tell(oracle(questions))
            if talk.state.asked == before or getattr(person, "gone", False):  # no reply, or nothing new
                break
            if status is not None:
                status.update(f"{talk.state.asked} of {talk.state.budget} questions answered")
    _tell(model)
    if person is not None:
        _compare(oracle)
    return not model.trouble


def _compare(both: PersonLast) -> None:
    """What each of the two did, and how often they agree."""
    for work in both.work():
        unknown = f", {work.unknown} unknown" if work.unknown else ""
        _show.say(f"- {work.who} answered {plural(work.calls, 'question')}{unknown}.")
    for first, second, count, alike in both.agreement():
        _show.say(f"- {first} and {second} agree about {alike} of {plural(count, 'pair')} that both decided.")


def hand_out(talk: Project, data: Data, wish: Wish, path: Path, count: int | None, read: Iterable[Path | None]) -> None:
    """Write the next questions as a batch file."""
    from cluewise.workspace.offline.questions import look_ahead
    from cluewise.workspace.projects import OPTIONS

    state = talk.state
    wanted = state.left if count is None else count
    if not wanted:
        raise ValueError(f"all {state.budget} questions are answered; say how many more with --budget.")
    X, _ = data.encode(raw=talk.store.settings[OPTIONS]["raw"])
    questions = look_ahead(talk.strategy, state, X, wanted)
    if not questions:
        raise ValueError("nothing is left to ask: the answer to every question follows from what is known.")
    model = _model_of(talk, data, wish, len(questions))
    estimate = model.estimate(questions)
    lines = [json.dumps(request, ensure_ascii=False) for request in model.batch(questions)]
    talk.grow(max(state.budget, state.asked + len(questions)))
    with _files.open_outputs({"--export-batch": path}, read) as asides, tables.writing(path):
        asides["--export-batch"].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    what = "1 question" if len(questions) == 1 else f"{len(questions)} questions"
    _show.say(f"Written: {path}, {what} to {wish.model} ({estimate}).")
    _show.say("Hand it to a batch service. What comes back is for --import-batch.")


def take_in(talk: Project, path: Path, wish: Wish) -> None:
    """Take in the replies of a batch service."""
    from cluewise.active import read_batch

    before = talk.state.asked
    found = read_batch(path, talk.store, prices=_prices(wish.prices))
    talk.tell(found.answers)
    new = talk.state.asked - before
    _show.say(f"Replies from {path}: {found}. {new} new answer{'' if new == 1 else 's'}.")


def _model_of(talk: Project, data: Data, wish: Wish, questions: int | None = None) -> LanguageModel:
    from cluewise.active import LanguageModel
    from cluewise.workspace.items import as_item
    from cluewise.workspace.names import split_names

    state = talk.state
    columns = _columns(data, wish)
    who = wish.who or str(wish.model)
    people = [answer for answer in state.answers if not answer.inferred and answer.who != who]
    left = state.left if questions is None else questions
    return LanguageModel(
        lambda row: as_item(data, row, columns),
        str(wish.task),
        model=str(wish.model),
        budget=talk.store.calls.totals().calls + SPARE * left if wish.calls is None else wish.calls,
        base=wish.base,
        key=wish.key,
        examples=[answer for answer in people if answer.value is not None][: wish.examples],
        classes=split_names(wish.classes) or state.clues.classes_.tolist(),
        images=split_names(wish.images),
        prices=_prices(wish.prices),
        money=wish.money,
        store=talk.store,
        in_flight=wish.in_flight,
        body=_body(wish.body),
        who=who,
    )


def _columns(data: Data, wish: Wish) -> list[str]:
    """The columns that the model is sent."""
    from cluewise.workspace.names import split_names

    asked = {"--show": split_names(wish.show), "--images": split_names(wish.images)}
    for option, names in asked.items():
        for name in names:
            if name not in data.table.columns:
                raise ValueError(f"{option}: {data.table.name} has no column '{name}'.")
    return list(dict.fromkeys([*(asked["--show"] or data.columns), *asked["--images"]]))


def _confirm(model: LanguageModel, talk: Project, data: Data, wish: Wish, first: Question) -> None:
    """Say what will be sent, where, and at what price; ends unless the answer is yes."""
    from cluewise.active import Question

    state, rng = talk.state, random.Random(0)
    n, size = len(data.table), len(first.rows)
    sample = [first, *(Question(first.kind, tuple(rng.sample(range(n), size))) for _ in range(SAMPLE - 1))]
    found = model.estimate(sample)
    times = 2 * state.left / max(found.calls, 1)
    cost = None if found.cost is None else found.cost * times
    whole = found._replace(
        calls=2 * state.left,
        tokens_in=round(found.tokens_in * times),
        tokens_out=round(found.tokens_out * times),
        cost=cost,
    )
    _show.say(f"{state.left} questions to {wish.model} at {wish.base}: {whole}.")
    _show.say(f"It is sent the rows in question, columns {', '.join(_columns(data, wish))}.")
    most = f"{model.budget} calls" + ("" if wish.money is None else f" and {wish.money:g}")
    used = model.totals
    _show.say(f"At most {most}; {used.calls} calls were sent before" + (f" ({used.cost:.4g})." if used.cost else "."))
    if wish.yes:
        return
    _show.say("Send? y = yes > ", end="")
    line = "" if sys.stdin is None or sys.stdin.closed else sys.stdin.readline()
    if line.strip().lower() not in ("y", "yes"):
        raise ValueError("nothing was sent; answer y, or add --yes.")


def _tell(model: LanguageModel) -> None:
    """What became of the calls."""
    totals = model.totals
    cost = f", cost about {totals.cost:.4g}" if model.prices is not None else ""
    lost = f", {totals.lost} cut off by a kill" if totals.lost else ""
    _show.say(f"\n{totals.calls} calls so far, {totals.replies} replies{lost}{cost}.")
    for sentence in model.report():
        _show.say(f"- {sentence}")


def _prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        sent, received = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--prices is {text!r}; it is two numbers, such as 0.15,0.6.") from None
    return sent, received


def _body(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError('--body is JSON such as {"max_completion_tokens": 2000}.')
    return found
