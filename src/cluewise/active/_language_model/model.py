"""A language model that answers questions about rows."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cluewise._interrupts import deferred
from cluewise.active._dialog import KINDS, Answer, Question
from cluewise.active._language_model.costs import Estimate, Prices, limit_of, tokens_of
from cluewise.active._language_model.items import Reader
from cluewise.active._language_model.ledger import Ledger, Memory
from cluewise.active._language_model.line import Limits, Line
from cluewise.active._language_model.prompts import Call, Form, forms_of, key_of, messages, nonce_of
from cluewise.active._language_model.replies import Nonsense, agree, read
from cluewise.active._language_model.tally import Tally
from cluewise.active._language_model.transport import Outcome, address_of, http_send, outcome_of, secret
from cluewise.exceptions import ClueWarning

if TYPE_CHECKING:
    from cluewise.store import Store

__all__ = ["LanguageModel", "answer_of"]

BODY = {"max_tokens": 256}


class LanguageModel:
    """A language model as an oracle: any server that speaks ``POST {base}/v1/chat/completions``.

    Each question is asked twice, in two orders. Where the replies disagree, or are not in the form that was asked for,
    the answer is "don't know". With a ``store`` every reply is on disk before it is used, so that nothing is paid for
    twice: after a kill at most the calls that were in flight are sent again.

    Parameters
    ----------
    items : sequence or callable
        What the model is shown of each row, up to 4,000 letters: a text, or a mapping from columns to cells. A callable
        takes the number of a row.
    task : str
        What belongs together, in a sentence or two.
    model : str
        Name of the model, as the server knows it.
    budget : int
        Number of calls that may be sent, those of earlier sessions with the same store included. A question takes two.
    base : str, default="http://127.0.0.1:8080"
        Address of the server, http or https.
    key : str, optional
        Name of the environment variable that holds the key. The key itself is kept nowhere.
    examples : iterable of Answer, default=()
        Solved examples, which are shown to the model before each question of the same kind.
    classes : iterable of str or number, default=()
        The classes that the answer to a question about a label is chosen from.
    images : iterable of str, default=()
        Columns of the items that hold addresses of images, for models that see.
    prices : tuple of float, optional
        Prices of a million tokens sent and received.
    money : float, optional
        What all calls together may cost; needs ``prices``. Counted by the tokens that the server reports, or else by an
        estimate.
    store : cluewise.store.Store, optional
        Keeps calls and replies, such as ``project.store``; otherwise they are kept in memory.
    in_flight : int, default=4
        Number of calls that are under way at the same time.
    timeout : float, default=60.0
        Seconds until a call is given up.
    retries : int, default=5
        How often a call is sent again after a fault that may pass.
    pause : float, default=1.0
        Seconds before a call is sent again, doubled each time; more if the server asks for it.
    body : mapping, optional
        More fields of each request; by default ``{"max_tokens": 256}``.
    who : str, optional
        Name that is kept with the answers; by default that of the model.
    send : callable, optional
        Takes the body of a request and returns the JSON of the response, instead of a server.
    random_state : int, default=0
        Seed of the lengths of pauses.

    See Also
    --------
    SimulatedOracle : Answers from true classes.

    Notes
    -----
    The model is told that items are data and never instructions; whether it obeys is up to the model. Numbers change
    between the two orders, and the second question about a pair is asked the other way round. So an item that makes the
    model say "yes" or "[1]" to everything gets no answer; one that makes it misjudge what belongs together does.

    Examples
    --------
    A function stands in for the server here:

    >>> from cluewise.active import LanguageModel, Question
    >>> def send(body):
    ...     together = body["messages"][-1]["content"].count("color: red") != 1
    ...     same = "together" in body["messages"][-1]["content"]
    ...     return {"choices": [{"message": {"content": "yes" if together == same else "no"}}]}
    >>> items = [{"color": "red"}, {"color": "red"}, {"color": "blue"}]
    >>> model = LanguageModel(items, "Same color?", model="stand-in", budget=100, send=send)
    >>> print(model.estimate([Question("pair", (0, 1))]))
    2 calls, about 388 tokens sent and 6 received, the price is unknown
    >>> [answer.value for answer in model([Question("pair", (0, 1)), Question("pair", (0, 2))])]
    [True, False]
    >>> model.totals.calls, model.report()
    (4, [])
    """

    def __init__(
        self,
        items: Sequence[Any] | Callable[[int], Any],
        task: str,
        *,
        model: str,
        budget: int,
        base: str = "http://127.0.0.1:8080",
        key: str | None = None,
        examples: Iterable[Answer] = (),
        classes: Iterable[Any] = (),
        images: Iterable[str] = (),
        prices: tuple[float, float] | None = None,
        money: float | None = None,
        store: Store | None = None,
        in_flight: int = 4,
        timeout: float = 60.0,
        retries: int = 5,
        pause: float = 1.0,
        body: Mapping[str, Any] | None = None,
        who: str | None = None,
        send: Callable[[dict[str, Any]], Any] | None = None,
        random_state: int = 0,
    ) -> None:
        self.task, self.model, self.base, self.key = _text("task", task), _text("model", model), base, key
        self.who = model if who is None else who
        self.examples, self.classes = tuple(examples), _classes(classes)
        self.body = _fields(BODY if body is None else body)
        for name, value, least in (("budget", budget, 0), ("in_flight", in_flight, 1), ("retries", retries, 0)):
            if type(value) is not int or value < least:
                raise ValueError(f"{name} is {value!r}; it is a whole number, at least {least}.")
        for name, number in (("timeout", timeout), ("pause", pause)):
            if not number > 0:
                raise ValueError(f"{name} is {number!r}; it is a number of seconds above 0.")
        self.budget, self.in_flight = budget, in_flight
        self.prices = _prices(prices, money, self.body)
        address = address_of(base)
        if send is None:
            secret(key)  # a key that is not there is found now, not after the first question
        self._read = Reader(items, tuple(images))
        self._store = store
        self._ledger: Ledger = Memory() if store is None else store.calls
        self._tally = Tally()
        limits = Limits(budget, money, self.prices, retries, pause)
        self._line = Line(
            http_send(address, key, timeout) if send is None else _spoken(send), limits, self._tally, random_state
        )
        self._answered: Counter[Any] = Counter()
        self._last = 0  # entry of the store that was counted last

    def __call__(self, questions: Iterable[Question]) -> list[Answer]:
        """Answers to questions, in their order; those to which there is no reply have none, and may be asked again."""
        asked = list(questions)
        plans = [self._plan(question) for question in asked]
        replies = self._fetch({call.key: call for plan in plans for call in plan})
        answers = []
        for question, plan in zip(asked, plans):
            found = [(call.form, replies[call.key]) for call in plan]
            if all(reply is not None for _, reply in found):
                value = answer_of(question, found, self._tally)
                when = datetime.now(UTC).isoformat(timespec="seconds")
                answers.append(Answer(question, value, who=self.who, when=when, nonce=plan[0].request["nonce"]))
                if self._store is None:
                    self._answered[question.key] += 1
        if self.trouble:
            warnings.warn(self.trouble, ClueWarning, stacklevel=2)
        return answers

    @property
    def trouble(self) -> str:
        """Why nothing more is sent, in a sentence; empty as long as there is no reason."""
        return self._line.trouble

    @property
    def totals(self) -> Any:
        """Calls that were sent, replies, calls that a kill has cut off, and what all of them cost."""
        return self._ledger.totals()

    def report(self) -> list[str]:
        """What went wrong in this session, a sentence each."""
        return self._tally.sentences()

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """What the calls for some questions will probably cost; replies that are there cost nothing."""
        counts = [call.request["tokens"] for call in self._missing(questions)]
        total = sum(sent for sent, _ in counts), sum(received for _, received in counts)
        return Estimate(len(counts), *total, None if self.prices is None else self.prices.cost(total))

    def batch(self, questions: Iterable[Question]) -> list[dict[str, Any]]:
        """Requests for a batch file, one per line; the store remembers them until `read_batch` brings the replies.

        Parameters
        ----------
        questions : iterable of Question
            The questions.

        Returns
        -------
        list of dict
            Each has a ``custom_id``, ``method``, ``url`` and ``body``; requests that have a reply are left out.
        """
        if self._store is None:
            raise ValueError("a batch needs a store, which remembers what was asked.")
        new = self._missing(questions)
        before, limits = self.totals, self._line.limits
        if before.calls + len(new) > limits.calls:
            raise ValueError(
                f"a batch of {len(new)} calls exceeds the budget of {limits.calls}, of which {before.calls} are used."
            )
        if self.prices is not None and limits.money is not None:
            most = sum(self.prices.most(call.body) for call in new)
            if before.cost + most > limits.money:
                raise ValueError(f"a batch of {len(new)} calls may cost {most:.4g}, which exceeds the budget.")
        self._store.calls.export({call.key: {**call.request, "batch": True} for call in new})
        url = "/v1/chat/completions"
        return [{"custom_id": key, "method": "POST", "url": url, "body": body} for key, _, body, _ in new]

    def _missing(self, questions: Iterable[Question]) -> list[Call]:
        """The calls of questions that have no reply, each once."""
        calls = {call.key: call for question in questions for call in self._plan(question)}
        return [call for key, call in calls.items() if self._ledger.reply(key) is None]

    def _plan(self, question: Question) -> list[Call]:
        """The two calls of a question."""
        if question.kind == "label" and len(self.classes) < 2:
            raise ValueError("questions about labels need classes, at least two, that the model can choose from.")
        forms = forms_of(question, self.classes, self._again(question))
        bodies = [self._body(form) for form in forms]
        keys = [key_of(body, form) for body, form in zip(bodies, forms)]
        known = {"who": self.who, "nonce": nonce_of(keys)}
        requests = [{**form.to_json(), **known, "tokens": tokens_of(body, form)} for body, form in zip(bodies, forms)]
        return [Call(*parts) for parts in zip(keys, forms, bodies, requests)]

    def _body(self, form: Form) -> dict[str, Any]:
        said = messages(form, self._read, self.task, self.examples, self.classes)
        return {"model": self.model, "messages": said, **self.body}

    def _again(self, question: Question) -> int:
        """How often the model has answered a question: asked again, it is to answer again, not to repeat itself."""
        if self._store is not None:
            entries = self._store.answers().entries
            for id, entry in entries.items():
                if id > self._last and entry.who == self.who and entry.question["kind"] in KINDS:
                    self._answered[Question.from_json(entry.question).key] += 1
            self._last = max(entries, default=0)
        return self._answered[question.key]

    def _fetch(self, calls: Mapping[str, Call]) -> dict[str, Any]:
        """Replies by key, those that are stored and those that come."""
        found = {key: self._ledger.reply(key) for key in calls}
        self._line.stopped.clear()
        self._line.trouble = ""
        with ThreadPoolExecutor(self.in_flight) as pool:
            try:
                with deferred():  # the pool would not wait for a thread that it has started but does not know yet
                    coming = {
                        key: pool.submit(self._line.fetch, call, self._ledger)
                        for key, call in calls.items()
                        if found[key] is None
                    }
                found |= {key: reply.result() for key, reply in coming.items()}
            except BaseException:
                with deferred():  # replies to calls in flight are paid for, and stored
                    self._line.stop("")
                    pool.shutdown(cancel_futures=True)
                raise
        if self.trouble or not self.totals.replies:
            # One request may be too long, or not to the taste of a filter; here it is not about one of them.
            found = {key: None if reply and reply.get("fault") else reply for key, reply in found.items()}
        if coming and not any(found[key] for key in coming) and not self.trouble:
            self._line.trouble = self._tally.why_no_reply()
        return found

    def __repr__(self) -> str:
        return f"LanguageModel({self.model!r})"


def answer_of(question: Question, found: Sequence[tuple[Form, Any]], tally: Tally) -> Any:
    """The value of an answer by the replies in both orders."""
    values = []
    for form, reply in found:
        try:
            if reply.get("fault"):
                raise Nonsense("")  # counted when it came
            if reply["short"]:
                raise Nonsense("short")
            values.append(read(form, reply["text"]))
        except Nonsense as error:
            if str(error):
                tally.add(str(error))
    if len(values) < len(found):
        return None
    value = agree(question.kind, *values)
    if value is None:
        tally.add("unsure" if None in values else "apart")
    elif question.kind == "group" and sum(map(len, value)) < min(sum(map(len, piles)) for piles in values):
        tally.add("part")
    return value


def _spoken(send: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Outcome]:
    def speak(body: dict[str, Any]) -> Outcome:
        try:
            return outcome_of(send(body))
        except OSError:
            return Outcome("cut")

    return speak


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is a text, not {value!r}.")
    return value


def _classes(given: Iterable[Any]) -> tuple[Any, ...]:
    classes = tuple(given)
    names = [str(name) for name in classes]
    if len(set(names)) < len(names):
        raise ValueError(f"a class is named twice: {', '.join(names)}.")
    return classes


def _fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """More fields of a request; a stream, or several replies, could not be read."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(body)))
    except (TypeError, ValueError):
        raise ValueError("body holds fields of a request, which are JSON.") from None
    wrong = sorted({"messages", "model", "stream", "n"} & plain.keys())
    if wrong:
        raise ValueError(f"body must not hold {', '.join(wrong)}.")
    return plain


def _prices(prices: Any, money: float | None, body: dict[str, Any]) -> Prices | None:
    if prices is None:
        if money is not None:
            raise ValueError("a budget in money needs prices, those of a million tokens sent and received.")
        return None
    try:
        sent, received = (float(price) for price in prices)
    except (TypeError, ValueError):
        raise ValueError(f"prices are two numbers, for a million tokens sent and received, not {prices!r}.") from None
    if not (0 <= sent < float("inf") and 0 <= received < float("inf")):
        raise ValueError(f"prices are two numbers, for a million tokens sent and received, not {prices!r}.")
    if money is not None and not money >= 0:
        raise ValueError(f"money is {money!r}; it is what all calls may cost.")
    if limit_of(body) is None:
        raise ValueError("prices need max_tokens or max_completion_tokens in body, or a reply may cost anything.")
    return Prices(sent, received)
