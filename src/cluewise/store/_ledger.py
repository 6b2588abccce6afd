"""Which answers stand, as the append-only list says: undoing is one more entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Ledger"]


@dataclass
class Ledger:
    """The answers of a project, and which of them stand.

    An entry that takes back an answer may itself be taken back, which is a redo. So every answer has a chain of later
    entries, each naming the one before, and stands when their number is even. An entry is named at most once: two
    processes cannot take back the same thing twice.
    """

    tip: dict[int, int] = field(default_factory=dict)  # answer: the last entry of its chain
    void: set[int] = field(default_factory=set)  # answers that do not stand
    undone: list[int] = field(default_factory=list)  # answers that a redo would restore, the next one last
    turns: list[tuple[int, int]] = field(default_factory=list)  # (entry, the answer that it turned)
    answer_of: dict[int, int] = field(default_factory=dict)  # entry: the answer that its chain is about

    @classmethod
    def read(cls, links: Iterable[tuple[int, int | None]]) -> Ledger:
        """From (id, id of what it takes back) in the order of the ids."""
        ledger = cls()
        for entry, back in links:
            ledger.add(entry, back)
        return ledger

    def add(self, entry: int, back: int | None) -> int:
        """Add an entry, and return the answer that it is about."""
        if back is None:
            self.answer_of[entry] = self.tip[entry] = entry
            self.undone.clear()  # as in every editor, a new entry ends what can be redone
            return entry
        answer = self.answer_of[entry] = self.answer_of[back]
        self.tip[answer] = entry
        self.turns.append((entry, answer))
        if answer in self.void:
            self.void.discard(answer)
            self.undone = [other for other in self.undone if other != answer]
        else:
            self.void.add(answer)
            self.undone.append(answer)
        return answer

    def forget(self, answers: Iterable[int]) -> None:
        """Let answers that were forgotten neither stand nor come back."""
        for answer in answers:
            self.tip.pop(answer, None)
            self.undone = [other for other in self.undone if other != answer]

    def same_since(self, upto: int) -> bool:
        """Whether the answers up to an entry stand or not as they did when that entry was the last."""
        turned = Counter(answer for entry, answer in self.turns if entry > upto and answer <= upto)
        return all(times % 2 == 0 for times in turned.values())
