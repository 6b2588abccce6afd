"""Batch files that come back: lines of JSON, of which any may be missing, broken, repeated or somebody else's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from cluewise.active._dialog import Answer, Question
from cluewise.active._language_model.costs import Prices
from cluewise.active._language_model.model import answer_of
from cluewise.active._language_model.prompts import Form
from cluewise.active._language_model.tally import Tally
from cluewise.active._language_model.transport import Outcome, outcome_of

if TYPE_CHECKING:
    from cluewise.store import Call, Store

__all__ = ["Batch", "read_batch"]

LINE = 4_000_000
"""Bytes of a line; a reply of a few words needs less."""


class Batch(NamedTuple):
    """What was read from a batch file.

    Examples
    --------
    >>> from cluewise.active import Batch
    >>> print(Batch([], new=2, failed=1, known=0, unknown=0, broken=0, missing=3))
    2 new replies, 1 failed, 3 missing
    """

    answers: list[Answer]  # to all questions whose replies are there, those of earlier files included
    new: int
    failed: int  # lines that say that a request failed
    known: int  # replies that were there before, or twice in the file
    unknown: int  # lines about requests of another project
    broken: int  # lines that are not those of a batch
    missing: int  # requests that no file has answered yet

    def __str__(self) -> str:
        words = [f"{self.new} new repl{'y' if self.new == 1 else 'ies'}"]
        names = {"failed": "failed", "known": "known already", "unknown": "unknown", "broken": "not readable"}
        words += [f"{getattr(self, name)} {word}" for name, word in names.items() if getattr(self, name)]
        return ", ".join([*words, *([f"{self.missing} missing"] if self.missing else [])])


def read_batch(path: str | PathLike[str], store: Store, *, prices: tuple[float, float] | None = None) -> Batch:
    r"""Take in the replies to a batch of `LanguageModel.batch`; when this returns they are on disk.

    Parameters
    ----------
    path : str or path
        The file: lines of JSON with ``custom_id`` and ``response``, in any order.
    store : cluewise.store.Store
        The store of the model that made the batch.
    prices : tuple of float, optional
        Prices of a million tokens sent and received in batches, often half of the usual ones.

    Returns
    -------
    Batch
        The answers, for `Project.tell`, and how many lines were of which kind. To tell answers twice does no harm.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from cluewise.active import LanguageModel, Question, read_batch
    >>> from cluewise.store import Store
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> store = Store.open(folder / "fruit.cluewise", create=True)
    >>> model = LanguageModel(["pear", "apple"], "Same kind?", model="some", budget=10, store=store)
    >>> requests = model.batch([Question("pair", (0, 1))])  # goes to a server; this comes back:
    >>> lines = [
    ...     {"custom_id": one["custom_id"], "response": {"body": {"choices": [{"message": {"content": word}}]}}}
    ...     for one, word in zip(requests, ["yes", "no"])
    ... ]
    >>> _ = (folder / "back.jsonl").write_text("\n".join(map(json.dumps, lines)))
    >>> print(read_batch(folder / "back.jsonl", store), read_batch(folder / "back.jsonl", store).answers[0].value)
    2 new replies True
    >>> store.close()
    """
    waiting = {call.key: call for call in store.calls.exported()}
    before = {call.key for call in store.calls.every() if call.state == "replied"}
    costs = None if prices is None else Prices(*prices)
    counts = dict.fromkeys(("failed", "known", "unknown", "broken"), 0)
    found: dict[str, tuple[Any, float]] = {}
    for key, outcome in _lines(path):
        if key is None:
            counts["broken"] += 1
        elif key in found or key in before:
            counts["known"] += 1
        elif key not in waiting:
            counts["unknown"] += 1
        elif outcome.fault:
            counts["failed"] += 1
        else:
            tokens = outcome.tokens or tuple(waiting[key].request["tokens"])
            found[key] = outcome.reply, 0.0 if costs is None else costs.cost(tokens)
    store.calls.take_in(found)
    answers = list(_answers(store.calls.every()))
    return Batch(answers, new=len(found), **counts, missing=len(waiting.keys() - found.keys() - before))


def _lines(path: str | PathLike[str]) -> Iterator[tuple[str | None, Outcome]]:
    """The key and the outcome of each line; the key is None where the line makes no sense."""
    with open(path, "rb") as file:
        while line := file.readline(LINE):
            if not line.strip(b"\xef\xbb\xbf \t\r\n"):
                continue
            try:
                content = json.loads(line.decode("utf-8-sig"))
                key = content["custom_id"]
            except (ValueError, RecursionError, TypeError, KeyError):
                yield None, Outcome()
                continue
            yield (key, _outcome(content)) if isinstance(key, str) else (None, Outcome())


def _outcome(content: dict[str, Any]) -> Outcome:
    response = content.get("response")
    if content.get("error") or not isinstance(response, dict) or response.get("status_code", 200) != 200:
        return Outcome("refused")
    return outcome_of(response.get("body"))


def _answers(calls: Iterable[Call]) -> Iterator[Answer]:
    """The answers to questions of batches that have both replies."""
    plans: dict[str, dict[int, Call]] = {}
    for call in calls:
        if call.state == "replied":
            plans.setdefault(call.request["nonce"], {})[call.request["turn"]] = call
    for nonce, plan in plans.items():
        if len(plan) == 2 and any(call.request.get("batch") for call in plan.values()):
            forms = [Form.from_json(plan[turn].request) for turn in (0, 1)]
            question = Question(*Question(forms[0].kind, forms[0].rows).key)
            value = answer_of(question, [(form, plan[form.turn].reply) for form in forms], Tally())
            yield Answer(question, value, who=plan[0].request["who"], nonce=nonce)
